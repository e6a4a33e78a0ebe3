/* Keeps the loads of a plan of any shape up to date while vertices move (device_loads.h).
 *
 * Source: the placement paper, 5.2: the loads of contiguous splits, for sets of any shape.  Let a vertex move from
 * device a to b, and let one of its nets have n pins.  If h of them are on a before the move, a pays for the net before
 * if h < n, and after the move if h > 1.  If h of them are on b after the move, b pays before if h > 1, and after if h
 * < n.  No other device's load changes.  Cost: O(nets of the vertex) for a move. */
#include "passes/problem/device_loads.h"

#include <assert.h>
#include <string.h>

/* Picks the nets that cost something when they are cut, and fills the tables of nets.  A net of one vertex and the host
 * is left out unless the problem is detailed, since it is part of the vertex's time. */
static void choose_nets(struct loads *l, struct arena *a)
{
    const struct wdag *g = l->c->g;
    uint32_t *chosen = arena_array(a, (size_t)g->nnet + 1, sizeof *chosen);
    for (uint32_t e = 0; e < g->nnet; e++) {
        bool costs = false;
        for (uint32_t k = 0; k < l->c->nkind; k++)
            costs = costs || l->c->cls[l->c->kind[k].cls].cost[e] > 0;
        if (costs && (l->c->detailed || g->net_pin.at[e + 1] - g->net_pin.at[e] > 1))
            chosen[l->nnet++] = e;
    }
    l->pins = arena_array(a, (size_t)l->nnet + 1, sizeof *l->pins);
    l->cost = arena_array(a, (size_t)l->c->nkind + 1, sizeof *l->cost);
    for (uint32_t k = 0; k < l->c->nkind; k++)
        l->cost[k] = arena_array(a, (size_t)l->nnet + 1, sizeof **l->cost);
    /* pairs of a net and a vertex that is a pin of it */
    struct pairs pin = pairs_new(a, g->net_pin.at[g->nnet]);
    for (uint32_t i = 0; i < l->nnet; i++) {
        uint32_t e = chosen[i];
        l->pins[i] = g->net_pin.at[e + 1] - g->net_pin.at[e] + g->net_host[e];
        for (uint32_t k = 0; k < l->c->nkind; k++)
            l->cost[k][i] = l->c->cls[l->c->kind[k].cls].cost[e];
        for_row (v, g->net_pin, e)
            pairs_add(&pin, i, v);
    }
    l->pin = pairs_rows(&pin, l->nnet);
    l->net_of = pairs_rows_back(&pin, g->n);
    if (!l->c->detailed)
        return;
    l->src = arena_array(a, (size_t)l->nnet + 1, sizeof *l->src);
    l->net_back = arena_alloc(a, (size_t)l->nnet + 1);
    for (uint32_t i = 0; i < l->nnet; i++) {
        l->src[i] = g->net_src[chosen[i]];
        l->net_back[i] = g->net_back && g->net_back[chosen[i]];
    }
}

/* Makes the arrays that each plan has of its own (loads_twin shares the others); no vertex has a device yet. */
static void make_plan(struct loads *l, struct arena *a)
{
    const struct wdag *g = l->c->g;
    l->dev = arena_array(a, (size_t)g->n + 1, sizeof *l->dev);
    memset(l->dev, 0xff, g->n * sizeof *l->dev); /* sets all bits: NOWHERE */
    l->held = arena_array(a, (size_t)l->nnet * l->ndev + 1, sizeof *l->held);
    bool replicate = l->c->detailed && l->c->scene->model.replicate;
    if (l->c->limited || l->c->values || replicate)
        l->users = arena_array(a, (size_t)g->nshared * l->ndev + 1, sizeof *l->users);
    l->load = arena_array(a, (size_t)l->ndev + 1, sizeof *l->load);
    l->back = arena_array(a, (size_t)l->ndev + 1, sizeof *l->back);
    l->bytes = arena_array(a, (size_t)l->ndev + 1, sizeof *l->bytes);
    if (l->c->detailed)
        l->parts = arena_array(a, (size_t)l->ndev + 1, sizeof *l->parts);
    if (replicate)
        l->copies = arena_array(a, (size_t)l->ndev + 1, sizeof *l->copies);
    for (uint32_t d = 0; l->copies && d < l->ndev; d++)
        l->copies[d] = 1;
}

int loads_check(const struct problem *c, const char *planner, struct diag *d)
{
    uint64_t rows = (uint64_t)c->g->nnet + c->g->nshared;
    if (rows * c->cluster->ndev > LOADS_MOST)
        return diag_error(d,
                          "%s: %llu tensors on %u devices are too many for one table: fuse the "
                          "graph first (-p fuse,%s)",
                          planner, (unsigned long long)rows, c->cluster->ndev, planner);
    return 0;
}

int loads_new(struct loads *l, const struct problem *c, const char *planner, struct arena *a,
              struct diag *d)
{
    if (loads_check(c, planner, d))
        return -1;
    *l = (struct loads){.c = c, .ndev = c->cluster->ndev};
    l->kind = arena_alloc(a, (size_t)l->ndev + 1);
    for (uint32_t dev = 0; dev < l->ndev; dev++)
        l->kind[dev] = (uint8_t)problem_kind_of(c, dev);
    choose_nets(l, a);
    make_plan(l, a);
    return 0;
}

void loads_share(struct loads *l, const uint32_t *copies)
{
    for (uint32_t d = 0; l->copies && d < l->ndev;) {
        assert(!l->parts[d].vertices && l->load[d] == 0);
        uint32_t n = larger_u32(copies[d], 1);
        l->copies[d++] = n;
        for (; n > 1; n--)
            l->copies[d++] = 0;
        assert(d <= l->ndev); /* devices that share a stage must have successive numbers */
    }
}

void loads_twin(struct loads *twin, const struct loads *l, struct arena *a)
{
    assert(l->c && l->pins);
    *twin = *l;
    make_plan(twin, a);
}

/* Adds the bytes of v on device d (by = 1), or takes them off (by = -1).  A shared item counts from its first user on
 * the device to its last. */
static void move_bytes(struct loads *l, uint32_t v, uint32_t d, int by)
{
    const struct wdag *g = l->c->g;
    l->bytes[d] += by * g->size[v];
    for_row (s, g->shared_of, v) {
        uint32_t *users = &l->users[(size_t)s * l->ndev + d];
        uint32_t before = *users;
        assert(by > 0 || before > 0);
        *users = by > 0 ? before + 1 : before - 1;
        if (before == 0 || *users == 0) {
            l->bytes[d] += by * g->shared_size[s];
            if (l->parts)
                l->parts[d].params += by * g->shared_size[s];
        }
    }
}

/* Takes v off device d (by = -1), or puts v on it (by = 1), in a detailed problem: updates parts, held and bytes of d,
 * and works out its loads anew. */
static void move_parts(struct loads *l, uint32_t v, uint32_t d, int by)
{
    uint32_t k = l->kind[d];
    const struct problem_kind *kind = &l->c->kind[k];
    struct problem_parts *p = &l->parts[d];
    int64_t back = kind->back ? kind->back[v] : 0, load[2];
    p->t[0][PART_COMPUTE] += by * (kind->time[v] - back);
    p->t[1][PART_COMPUTE] += by * back;
    problem_count_vertex(l->c, p, v, by);
    p->params += l->c->g->param ? by * l->c->g->param[v] : 0;
    for_row (e, l->net_of, v) {
        uint32_t *held = &l->held[(size_t)e * l->ndev + d], src = l->src[e];
        /* before, after: whether d holds the vertex that makes the value, before and after the move: if so, d sends the
         * value, else d receives it */
        bool other = src != UINT32_MAX && src != v && l->dev[src] == (int32_t)d;
        bool before = src == v ? by < 0 : other, after = src == v ? by > 0 : other;
        int64_t *t = p->t[l->net_back[e]];
        if (*held > 0 && *held < l->pins[e])
            t[before ? PART_OUT : PART_IN] -= l->cost[k][e];
        assert(by > 0 ? *held < l->pins[e] : *held > 0);
        *held = by > 0 ? *held + 1 : *held - 1;
        if (*held > 0 && *held < l->pins[e])
            t[after ? PART_OUT : PART_IN] += l->cost[k][e];
    }
    if (l->users)
        move_bytes(l, v, d, by);
    problem_loads(l->c, k, p, l->copies ? l->copies[d] : 1, load);
    l->load[d] = load[0];
    l->back[d] = load[1];
}

/* Takes v off device d in a problem that is not detailed: updates held, load and bytes of d. */
static void take_off(struct loads *l, uint32_t v, uint32_t d)
{
    uint32_t k = l->kind[d];
    int64_t load = l->load[d] - l->c->kind[k].time[v];
    for_row (e, l->net_of, v) {
        uint32_t h = l->held[(size_t)e * l->ndev + d]--;
        /* whether d pays for e: it has some of the pins, but not all */
        bool before = h < l->pins[e], after = h > 1;
        load += ((int)after - (int)before) * l->cost[k][e];
    }
    l->load[d] = load;
    if (l->users)
        move_bytes(l, v, d, /*by=*/-1);
}

/* Puts v on device d in a problem that is not detailed: updates held, load and bytes of d. */
static void put_on(struct loads *l, uint32_t v, uint32_t d)
{
    uint32_t k = l->kind[d];
    int64_t load = l->load[d] + l->c->kind[k].time[v];
    for_row (e, l->net_of, v) {
        uint32_t h = ++l->held[(size_t)e * l->ndev + d];
        /* whether d pays for e: it has some of the pins, but not all */
        bool after = h < l->pins[e], before = h > 1;
        load += ((int)after - (int)before) * l->cost[k][e];
    }
    l->load[d] = load;
    if (l->users)
        move_bytes(l, v, d, /*by=*/1);
}

void loads_move(struct loads *l, uint32_t v, int32_t to)
{
    assert(v < l->c->g->n && to >= NOWHERE && to < (int32_t)l->ndev);
    int32_t from = l->dev[v];
    if (from == to)
        return;
    if (l->parts) {
        if (from != NOWHERE)
            move_parts(l, v, (uint32_t)from, /*by=*/-1);
        if (to != NOWHERE)
            move_parts(l, v, (uint32_t)to, /*by=*/1);
    } else {
        if (from != NOWHERE)
            take_off(l, v, (uint32_t)from);
        if (to != NOWHERE)
            put_on(l, v, (uint32_t)to);
    }
    l->dev[v] = to;
}

/* Returns what changes if v moves to device b, and w (UINT32_MAX: nothing) to v's device, in a detailed problem: makes
 * the moves, takes them back, and compares the loads. */
static struct loads_change try_moves(struct loads *l, uint32_t v, uint32_t w, uint32_t b)
{
    assert(l->dev[v] != NOWHERE && b < l->ndev && l->dev[v] != (int32_t)b);
    const uint32_t a = (uint32_t)l->dev[v], dev[2] = {a, b};
    struct loads_change x;
    for (int i = 0; i < 2; i++) {
        x.load[i] = -l->load[dev[i]];
        x.back[i] = -l->back[dev[i]];
        x.bytes[i] = -l->bytes[dev[i]];
    }
    loads_move(l, v, (int32_t)b);
    if (w != UINT32_MAX)
        loads_move(l, w, (int32_t)a);
    for (int i = 0; i < 2; i++) {
        x.load[i] += l->load[dev[i]];
        x.back[i] += l->back[dev[i]];
        x.bytes[i] += l->bytes[dev[i]];
    }
    loads_move(l, v, (int32_t)a);
    if (w != UINT32_MAX)
        loads_move(l, w, (int32_t)b);
    return x;
}

/* Returns the bytes of v itself plus those of its shared items with exactly `users` users on device d. */
static int64_t bytes_alone(const struct loads *l, uint32_t v, uint32_t d, uint32_t users)
{
    const struct wdag *g = l->c->g;
    int64_t bytes = g->size[v];
    for_row (s, g->shared_of, v)
        bytes += l->users[(size_t)s * l->ndev + d] == users ? g->shared_size[s] : 0;
    return bytes;
}

struct loads_change loads_peek(struct loads *l, uint32_t v, uint32_t to)
{
    if (l->parts)
        return try_moves(l, v, UINT32_MAX, to);
    uint32_t from = (uint32_t)l->dev[v], kf = l->kind[from], kt = l->kind[to];
    struct loads_change x = {0};
    int64_t leaves = -l->c->kind[kf].time[v], enters = l->c->kind[kt].time[v];
    for_row (e, l->net_of, v) {
        uint32_t pins = l->pins[e];
        const uint32_t *held = &l->held[(size_t)e * l->ndev];
        /* numbers of pins on the two devices while v is there */
        uint32_t held_from = held[from], held_to = held[to] + 1;
        leaves += ((int)(held_from > 1) - (int)(held_from < pins)) * l->cost[kf][e];
        enters += ((int)(held_to < pins) - (int)(held_to > 1)) * l->cost[kt][e];
    }
    x.load[0] = leaves;
    x.load[1] = enters;
    if (l->users) {
        x.bytes[0] = -bytes_alone(l, v, from, 1);
        x.bytes[1] = bytes_alone(l, v, to, 0);
    }
    return x;
}

/* Sets bytes[0] and bytes[1] to what swapping v (on device a) and w (on device b) adds to the bytes of a and of b.
 * Shared items that both vertices need stay where they are.  l->users must not be NULL.  In the loop s is the next
 * shared item of v, t that of w; UINT32_MAX: there is no further one. */
static void swap_bytes(const struct loads *l, uint32_t v, uint32_t w, uint32_t a, uint32_t b,
                       int64_t bytes[2])
{
    const struct wdag *g = l->c->g;
    uint32_t i = g->shared_of.at[v], iend = g->shared_of.at[v + 1];
    uint32_t j = g->shared_of.at[w], jend = g->shared_of.at[w + 1];
    bytes[0] = g->size[w] - g->size[v];
    bytes[1] = -bytes[0];
    while (i < iend || j < jend) {
        uint32_t s = i < iend ? g->shared_of.to[i] : UINT32_MAX;
        uint32_t t = j < jend ? g->shared_of.to[j] : UINT32_MAX;
        const uint32_t *users = &l->users[(size_t)(smaller_u32(s, t)) * l->ndev];
        if (s < t) {
            bytes[0] -= users[a] == 1 ? g->shared_size[s] : 0;
            bytes[1] += users[b] == 0 ? g->shared_size[s] : 0;
        } else if (t < s) {
            bytes[0] += users[a] == 0 ? g->shared_size[t] : 0;
            bytes[1] -= users[b] == 1 ? g->shared_size[t] : 0;
        }
        i += s <= t;
        j += t <= s;
    }
}

struct loads_change loads_peek_swap(struct loads *l, uint32_t v, uint32_t w)
{
    if (l->parts)
        return try_moves(l, v, w, (uint32_t)l->dev[w]);
    uint32_t a = (uint32_t)l->dev[v], b = (uint32_t)l->dev[w], ka = l->kind[a], kb = l->kind[b];
    const int64_t *cost_a = l->cost[ka], *cost_b = l->cost[kb];
    uint32_t i = l->net_of.at[v], iend = l->net_of.at[v + 1];
    uint32_t j = l->net_of.at[w], jend = l->net_of.at[w + 1];
    struct loads_change x = {0};
    int64_t more_a = l->c->kind[ka].time[w] - l->c->kind[ka].time[v];
    int64_t more_b = l->c->kind[kb].time[v] - l->c->kind[kb].time[w];
    /* e, f: the next net of v, of w; UINT32_MAX: no more.  A net of both (e == f) keeps its numbers of pins on a and b,
     * so it changes nothing.  A net of v alone (e < f) loses a pin on a and gets one on b; a net of w alone loses one
     * on b and gets one on a. */
    while (i < iend || j < jend) {
        uint32_t e = i < iend ? l->net_of.to[i] : UINT32_MAX;
        uint32_t f = j < jend ? l->net_of.to[j] : UINT32_MAX;
        i += e <= f;
        j += f <= e;
        if (e == f)
            continue;
        uint32_t net = smaller_u32(e, f), pins = l->pins[net];
        const uint32_t *held = &l->held[(size_t)net * l->ndev];
        /* held_a, held_b: pins on a, or on b, if the vertex that moves is there; leave_a, leave_b: ps that the load of
         * a, or of b, changes by when that vertex leaves */
        uint32_t held_a = held[a] + (f < e), held_b = held[b] + (e < f);
        int64_t leave_a = ((int)(held_a > 1) - (int)(held_a < pins)) * cost_a[net];
        int64_t leave_b = ((int)(held_b > 1) - (int)(held_b < pins)) * cost_b[net];
        more_a += e < f ? leave_a : -leave_a;
        more_b += e < f ? -leave_b : leave_b;
    }
    x.load[0] = more_a;
    x.load[1] = more_b;
    if (l->users)
        swap_bytes(l, v, w, a, b, x.bytes);
    return x;
}

void loads_set(struct loads *l, const int32_t *dev)
{
    for (uint32_t v = 0; v < l->c->g->n; v++)
        loads_move(l, v, dev[v]);
}

int64_t loads_value(const struct loads *l)
{
    int64_t most = 0, back = 0;
    for (uint32_t d = 0; d < l->ndev; d++) {
        most = larger(l->load[d], most);
        back = larger(l->back[d], back);
    }
    return most + back;
}

int64_t loads_excess(const struct loads *l, uint32_t d)
{
    assert(d < l->ndev);
    int64_t memory = l->c->kind[l->kind[d]].memory;
    return l->bytes[d] > memory ? l->bytes[d] - memory : 0;
}

int64_t loads_over(const struct loads *l)
{
    int64_t sum = 0;
    for (uint32_t d = 0; d < l->ndev; d++)
        sum += loads_excess(l, d);
    return sum;
}
