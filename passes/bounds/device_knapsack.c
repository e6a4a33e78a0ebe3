/* What one device can hold (device_knapsack.h): a knapsack whose load counts transfers, by branch and bound.
 *
 * Bound: for a multiplier m >= 0, all sets S with load(S) <= L have
 *   w(S)  <=  m L + max over all S of (w(S) - m load(S)),
 * and the maximum is a minimum cut: source -> v with w - m time if that is positive, v -> sink with the
 * rest, nets as in least_load.c (Picard, Management Science 22 (1976)).  The right side is the bound as a function
 * of m.  Each cut's set S gives a line w(S) + m (L - load(S)) below that function; it rises if S is within the limit
 * and falls if not.  So only multipliers at which all lines so far are at most the target can give a bound that low:
 * the range of m shrinks with each cut (Kelley's method in one dimension).  When the range is empty no m gives such
 * a bound: the search branches on a vertex, which is first required in the set, then forbidden.
 *
 * Branching: on the heaviest vertex that is in one, but not in the other, of the last set above the limit and the
 * last set within it; an explicit stack.
 * Cost: some tens of minimum cuts for each partial set.
 *
 * Integers: weights * 2^16 and m * times stay below 2^61. */
#include "passes/bounds/device_knapsack.h"

#include <assert.h>
#include <string.h>

enum { MU_BITS = 14, MU_MOST = 24, CUTS = 30, ROOT_CUTS = 24 };

enum { FREE, IN, OUT };

static int64_t in_units(const struct device_knapsack *h, int64_t ps)
{
    return ps >> h->down << h->up;
}

static uint32_t source(const struct device_knapsack *h)
{
    return h->f.nnode - 2;
}

static uint32_t sink(const struct device_knapsack *h)
{
    return h->f.nnode - 1;
}

static uint32_t count_pins(const struct wdag *g, uint32_t e)
{
    return g->net_pin.at[e + 1] - g->net_pin.at[e];
}

static bool is_edge(const struct wdag *g, uint32_t e)
{
    return count_pins(g, e) == 2 && !g->net_host[e];
}

/* ---- the network ----------------------------------------------------------------------------- */

static void choose_units(struct device_knapsack *h, const struct reduction *r)
{
    const struct wdag *g = h->c->g;
    for (uint32_t v = 0; v < g->n; v++)
        if (r->may[v] >> h->k & 1)
            h->all = sat_add(h->all, h->c->kind[h->k].time[v]);
    for (uint32_t e = 0; e < g->nnet; e++)
        if (count_pins(g, e) > 1)
            h->all = sat_add(h->all, h->c->cls[h->c->kind[h->k].cls].cost[e]);
    while (h->all >> h->down >> KNAPSACK_BITS)
        h->down++;
    while (h->all && h->down == 0 && h->all << h->up << 1 >> KNAPSACK_BITS == 0)
        h->up++;
}

/* The arcs, in the order in which set_rooms gives them capacities. */
static void add_arcs(struct device_knapsack *h)
{
    const struct wdag *g = h->c->g;
    uint32_t hub = g->n;
    for (uint32_t v = 0; v < g->n; v++) {
        flow_arc(&h->f, source(h), v, 0);
        flow_arc(&h->f, v, sink(h), 0);
    }
    for (uint32_t i = 0; i < h->nnet; i++) {
        uint32_t e = h->net[i];
        const uint32_t *pin = g->net_pin.to + g->net_pin.at[e];
        if (is_edge(g, e)) {
            flow_arc(&h->f, pin[0], pin[1], 0);
            continue;
        }
        uint32_t in = hub++, out = g->net_host[e] ? sink(h) : hub++;
        flow_arc(&h->f, in, out, 0);
        for (uint32_t j = 0; j < count_pins(g, e); j++) {
            flow_arc(&h->f, pin[j], in, 0);
            if (!g->net_host[e])
                flow_arc(&h->f, out, pin[j], 0);
        }
    }
    assert(hub <= source(h));
}

struct device_knapsack *device_knapsack_new(const struct reduction *r, uint32_t k,
                                            const int64_t *weight, uint64_t *work, struct arena *a)
{
    assert(k < r->c->nkind && r->small);
    const struct wdag *g = r->small->g;
    struct device_knapsack *h = arena_alloc(a, sizeof *h);
    size_t n = (size_t)g->n + 1;
    uint32_t pins = 0;
    *h = (struct device_knapsack){.c = r->small, .k = k, .weight = weight, .work = work};
    choose_units(h, r);
    h->time = arena_array(a, n, sizeof *h->time);
    h->fix = arena_alloc(a, n);
    h->set = arena_alloc(a, n);
    h->over = arena_alloc(a, n);
    h->within = arena_alloc(a, n);
    h->best = arena_alloc(a, n);
    h->path = arena_array(a, n, sizeof *h->path);
    h->start = arena_array(a, n, sizeof *h->start);
    h->net = arena_array(a, (size_t)g->nnet + 1, sizeof *h->net);
    h->cost = arena_array(a, (size_t)g->nnet + 1, sizeof *h->cost);
    for (uint32_t v = 0; v < g->n; v++) {
        assert(weight[v] >= 0);
        bool here = r->may[v] >> k & 1;
        h->time[v] = here ? in_units(h, h->c->kind[k].time[v]) : 0;
        h->fix[v] = here ? FREE : OUT;
    }
    for (uint32_t e = 0; e < g->nnet; e++) {
        int64_t cost = in_units(h, h->c->cls[h->c->kind[k].cls].cost[e]);
        if (count_pins(g, e) < 2 || cost == 0)
            continue;
        h->net[h->nnet] = e;
        h->cost[h->nnet++] = cost;
        pins += count_pins(g, e);
    }
    h->f = flow_new(g->n + 2 * h->nnet + 2, 2 * g->n + h->nnet + 2 * pins, a);
    add_arcs(h);
    return h;
}

/* Sets the arcs' capacities for multiplier mu (weights count as 0 unless `weighs`); returns the sum of the positive
 * gains, which the maximum starts from and the cut is taken off. */
static int64_t set_rooms(struct device_knapsack *h, int64_t mu, bool weighs)
{
    const struct wdag *g = h->c->g;
    int64_t *room = h->f.room, fed = 0;
    memset(room, 0, h->f.narc * sizeof *room);
    for (uint32_t v = 0; v < g->n; v++, room += 4) {
        int64_t gain = (weighs ? h->weight[v] * (1 << MU_BITS) : 0) - mu * h->time[v];
        if (h->fix[v] == OUT) {
            room[2] = FLOW_INF;
            continue;
        }
        room[0] = h->fix[v] == IN ? FLOW_INF : larger(gain, 0);
        room[2] = gain < 0 ? -gain : 0;
        fed += larger(gain, 0);
    }
    for (uint32_t i = 0; i < h->nnet; i++) {
        uint32_t e = h->net[i];
        room[0] = mu * h->cost[i];
        if (is_edge(g, e)) { /* both ways */
            room[1] = room[0];
            room += 2;
            continue;
        }
        room += 2;
        for (uint32_t j = count_pins(g, e) * (g->net_host[e] ? 1 : 2); j-- > 0; room += 2)
            room[0] = FLOW_INF;
    }
    return fed;
}

/* Writes h->set, the vertices that the source still reaches after the flow, with its weight and load. */
static void find_set(struct device_knapsack *h)
{
    const struct wdag *g = h->c->g;
    struct flow *f = &h->f;
    struct arena_mark mark = arena_mark(f->mem);
    memcpy(h->set, flow_side(f, source(h)), g->n);
    arena_release(f->mem, mark);
    h->sum = h->load = 0;
    for (uint32_t v = 0; v < g->n; v++)
        if (h->set[v]) {
            h->sum += h->weight[v];
            h->load += h->time[v];
        }
    for (uint32_t i = 0; i < h->nnet; i++) {
        uint32_t e = h->net[i], in = 0;
        for_row (pin, g->net_pin, e)
            in += h->set[pin];
        if (in && (in < count_pins(g, e) || g->net_host[e]))
            h->load += h->cost[i];
    }
}

/* Writes the bound at mu, times 2^MU_BITS, to h->value, and its set to h->set; false: the work ran out. */
static bool make_cut(struct device_knapsack *h, int64_t mu, bool weighs)
{
    struct arena_mark mark = arena_mark(h->f.mem);
    int64_t fed = set_rooms(h, mu, weighs);
    uint64_t fixed = h->f.narc / 4 + 1;
    *h->work -= smaller_u64(fixed, *h->work);
    int64_t flow = *h->work ? flow_max(&h->f, source(h), sink(h), h->work) : 0;
    arena_release(h->f.mem, mark);
    if (*h->work == 0)
        return false;
    find_set(h);
    h->value = fed - flow + mu * h->limit;
    return true;
}

/* ---- the search ------------------------------------------------------------------------------ */

static void set_limit(struct device_knapsack *h, int64_t most)
{
    h->limit = in_units(h, smaller(most, h->all));
}

/* Shrinks the range of multipliers [*lo, *hi] to where the line of the last cut is at most the goal; at mu it is
 * above. */
static void narrow_range(const struct device_knapsack *h, int64_t goal, int64_t mu, int64_t *lo,
                         int64_t *hi)
{
    int64_t above = h->sum * (1 << MU_BITS) - goal, over = h->load - h->limit;
    if (over > 0) {
        int64_t least = above / over + (above % over > 0);
        *lo = least > mu ? least : mu + 1;
    } else {
        int64_t most = over < 0 ? above / over : 0;
        *hi = most < mu ? most : mu - 1;
    }
}

/* The vertex to branch on: the heaviest free one that only one of h->over and h->within has, else the heaviest free
 * one; UINT32_MAX: none is free. */
static uint32_t pick_vertex(const struct device_knapsack *h)
{
    uint32_t at = UINT32_MAX, any = UINT32_MAX;
    for (uint32_t v = 0; v < h->c->g->n; v++) {
        if (h->fix[v] != FREE)
            continue;
        if (any == UINT32_MAX || h->weight[v] > h->weight[any])
            any = v;
        if ((h->has_over && h->over[v]) != (h->has_within && h->within[v]) &&
            (at == UINT32_MAX || h->weight[v] > h->weight[at]))
            at = v;
    }
    return at == UINT32_MAX ? any : at;
}

enum look { LIGHT, HEAVY, OPEN, TIRED, STOPPED };

/* Looks at the sets that h->fix allows.  LIGHT: all within the limit weigh at most `target`; HEAVY: h->best is one
 * that weighs more; OPEN: not decided; STOPPED: out of work.  *start: multiplier to begin with, and the last one
 * tried. */
static enum look look_at_sets(struct device_knapsack *h, int64_t target, int64_t *start)
{
    int64_t goal = (target + 1) * (1 << MU_BITS) - 1, mu = *start;
    int64_t lo = 0, hi = INT64_C(1) << MU_MOST;
    h->has_over = h->has_within = false;
    for (uint32_t i = 0; i < CUTS && lo <= hi; i++) {
        if (!make_cut(h, mu, true))
            return STOPPED;
        if (h->value <= goal)
            return LIGHT;
        bool over = h->load > h->limit;
        if (!over && h->sum > h->best_sum) {
            memcpy(h->best, h->set, h->c->g->n);
            h->best_sum = h->sum;
            h->best_load = h->load;
        }
        if (!over && h->sum > target)
            return HEAVY;
        memcpy(over ? h->over : h->within, h->set, h->c->g->n);
        *(over ? &h->has_over : &h->has_within) = true;
        narrow_range(h, goal, mu, &lo, &hi);
        *start = mu;
        if (h->has_over && h->has_within)
            mu = lo + (hi - lo) / 2;
        else if (over)
            mu = smaller(lo + lo / 8, hi);
        else
            mu = larger(hi - hi / 8, lo);
    }
    if (h->has_within)
        return OPEN;
    if (!make_cut(h, 1, false))
        return STOPPED;
    return h->load > h->limit ? LIGHT : OPEN; /* no set that is allowed has a smaller load */
}

enum device_knapsack_answer device_knapsack_search(struct device_knapsack *h, int64_t most,
                                                   int64_t target, uint64_t sets,
                                                   struct clock *clock)
{
    int64_t mu = 1 << MU_BITS;
    enum look r;
    set_limit(h, most);
    h->npath = 0;
    h->sets = 0;
    h->best_sum = h->best_load = -1;
    for (;;) {
        bool tired = h->sets++ == sets;
        r = tired ? TIRED : clock_out(clock) ? STOPPED : look_at_sets(h, target, &mu);
        if (r == OPEN) {
            uint32_t v = pick_vertex(h);
            if (v != UINT32_MAX) {
                h->fix[v] = IN;
                h->start[h->npath] = mu;
                h->path[h->npath++] = v;
                continue;
            }
            r = LIGHT; /* every vertex is fixed: one set, which does not do */
        }
        if (r != LIGHT)
            break;
        while (h->npath && h->fix[h->path[h->npath - 1]] == OUT)
            h->fix[h->path[--h->npath]] = FREE;
        if (h->npath == 0)
            break;
        h->fix[h->path[h->npath - 1]] = OUT;
        mu = h->start[h->npath - 1];
    }
    while (h->npath)
        h->fix[h->path[--h->npath]] = FREE;
    return r == LIGHT   ? KNAPSACK_NONE
           : r == HEAVY ? KNAPSACK_FOUND
           : r == TIRED ? KNAPSACK_TIRED
                        : KNAPSACK_UNKNOWN;
}

int64_t device_knapsack_most(struct device_knapsack *h, int64_t most)
{
    int64_t lo = 0, hi = INT64_C(1) << MU_MOST, best = INT64_MAX;
    set_limit(h, most);
    for (uint32_t i = 0; i < ROOT_CUTS && lo <= hi; i++) {
        int64_t mu = lo + (hi - lo) / 2;
        if (!make_cut(h, mu, true))
            break;
        best = smaller(h->value, best);
        if (h->load > h->limit)
            lo = mu + 1;
        else
            hi = mu - 1;
    }
    return best == INT64_MAX ? best : best >> MU_BITS;
}
