/* Tidies finished plans (gather.h).
 *
 * Planners lower the largest load only; on the other devices they may leave vertices scattered, which cost transfers
 * and parts.  Sweeps over the vertices, forwards and backwards in turn, move each vertex to a device where one of its
 * nets has a pin, such that the sum of the two devices' loads falls most.  In a contiguous plan a vertex may go only to
 * the stages from its latest predecessor's to its first successor's.  Cost: at most TIDY_SWEEPS sweeps, O(devices *
 * nets of a vertex) for each vertex. */
#include "passes/problem/gather.h"

#include <assert.h>
#include <string.h>

struct tidy_limits tidy_limits(const struct loads *l)
{
    struct tidy_limits m = {0};
    for (uint32_t d = 0; d < l->ndev; d++) {
        m.load = larger(l->load[d], m.load);
        m.back = larger(l->back[d], m.back);
    }
    return m;
}

/* Whether the plan stays a chain if v moves to device d: the stage of d is not before the stage of a predecessor of
 * v, nor behind the stage of a successor. */
static bool keeps_order(const struct loads *l, const struct tidy_limits *m, uint32_t v, uint32_t d)
{
    const struct wdag *g = l->c->g;
    if (!m->stage)
        return true;
    for_row (u, g->pred, v)
        if (m->stage[l->dev[u]] > m->stage[d])
            return false;
    for_row (w, g->succ, v)
        if (m->stage[l->dev[w]] < m->stage[d])
            return false;
    return true;
}

bool tidy_near(const struct loads *l, uint32_t v, uint32_t d)
{
    for_row (e, l->net_of, v)
        if (l->held[(size_t)e * l->ndev + d] > 0)
            return true;
    return false;
}

/* Whether device d may hold v beside the vertices that it has. */
static bool may_hold(const struct loads *l, uint32_t v, uint32_t d)
{
    const struct wdag *g = l->c->g;
    if (wdag_has_apart(g, v))
        for_row (w, g->apart, v)
            if (l->dev[w] == (int32_t)d)
                return false;
    return loads_allows(l, v, d);
}

/* Moves v to the device near it (tidy_near) that makes the sum of all loads fall most, within the limits *m and the
 * device's memory; returns false if no such device lets the sum fall. */
static bool gather_vertex(struct loads *l, uint32_t v, const struct tidy_limits *m)
{
    uint32_t from = (uint32_t)l->dev[v], best = from;
    int64_t least = 0; /* least change of the sum so far: negative once a better device is found */
    for (uint32_t d = 0; d < l->ndev; d++) {
        if (d == from || !tidy_near(l, v, d) || !may_hold(l, v, d) || !keeps_order(l, m, v, d))
            continue;
        struct loads_change x = loads_peek(l, v, d);
        int64_t sum = x.load[0] + x.load[1] + x.back[0] + x.back[1];
        if (sum >= least || l->load[d] + x.load[1] > m->load ||
            l->load[from] + x.load[0] > m->load || l->back[d] + x.back[1] > m->back ||
            l->back[from] + x.back[0] > m->back ||
            (l->users && l->bytes[d] + x.bytes[1] > l->c->kind[l->kind[d]].memory))
            continue;
        best = d;
        least = sum;
    }
    loads_move(l, v, (int32_t)best);
    return best != from;
}

/* Sweeps over the vertices until no vertex moves, or the limits of work are reached. */
static void sweep(struct loads *l, const struct tidy_limits *m)
{
    uint32_t n = l->c->g->n;
    bool moved = true;
    /* number of sweeps; + 2: at least one in each direction */
    uint32_t most = TIDY_VERTICES / (n + 1) + 2;
    most = smaller_u32(most, TIDY_SWEEPS);
    for (uint32_t k = 0; k < most && moved; k++) {
        moved = false;
        for (uint32_t i = 0; i < n; i++)
            moved = gather_vertex(l, k % 2 ? n - 1 - i : i, m) || moved;
    }
}

void loads_tidy(struct loads *l)
{
    struct tidy_limits m = tidy_limits(l);
    sweep(l, &m);
    assert(loads_value(l) <= m.load + m.back);
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* Writes the devices in use to order[stage], in an order in which no edge leads back, and stage[device].  Returns the
 * number of these devices; 0: there is no such order. */
static uint32_t find_stages(const struct loads *l, uint32_t *order, uint32_t *stage,
                            struct arena *a)
{
    const struct wdag *g = l->c->g;
    uint32_t n = 0, ndev = l->ndev;
    /* used[device]: 1: the device is in use; 2: it has its stage already.  edge[d * ndev + e]: 1: edges lead from
     * vertices on device d to vertices on device e */
    uint8_t *used = arena_alloc(a, (size_t)ndev + 1),
            *edge = arena_alloc(a, (size_t)ndev * ndev + 1);
    for (uint32_t v = 0; v < g->n; v++) {
        assert(l->dev[v] >= 0 && (uint32_t)l->dev[v] < ndev);
        used[l->dev[v]] = 1;
        for_row (w, g->succ, v)
            if (l->dev[v] != l->dev[w])
                edge[(size_t)l->dev[v] * ndev + (uint32_t)l->dev[w]] = 1;
    }
    uint32_t count = 0;
    for (uint32_t d = 0; d < ndev; d++)
        count += used[d];
    for (bool moved = true; moved && n < count;) {
        moved = false;
        for (uint32_t d = 0; d < ndev; d++) {
            bool is_next = used[d] == 1;
            for (uint32_t e = 0; is_next && e < ndev; e++)
                is_next = used[e] != 1 || e == d || !edge[(size_t)e * ndev + d];
            if (!is_next)
                continue;
            used[d] = 2;
            stage[d] = n;
            order[n++] = d;
            moved = true;
        }
    }
    return n == count ? n : 0;
}

/* The vertices of each device as linked lists; UINT32_MAX ends a list. */
struct lists {
    uint32_t *head, *tail; /* [device] the first and the last vertex of its list */
    uint32_t *next;        /* [vertex] the next vertex in the list of its device */
};

/* Returns the lists of vertices on each device, ascending, in a. */
static struct lists lists_of(const struct loads *l, struct arena *a)
{
    uint32_t n = l->c->g->n;
    struct lists x = {.head = arena_array(a, (size_t)l->ndev + 1, sizeof *x.head),
                      .tail = arena_array(a, (size_t)l->ndev + 1, sizeof *x.tail),
                      .next = arena_array(a, (size_t)n + 1, sizeof *x.next)};
    memset(x.head, 0xff, l->ndev * sizeof *x.head);
    for (uint32_t v = n; v-- > 0;) {
        uint32_t d = (uint32_t)l->dev[v];
        x.tail[d] = x.head[d] == UINT32_MAX ? v : x.tail[d];
        x.next[v] = x.head[d];
        x.head[d] = v;
    }
    return x;
}

/* Moves all vertices of device `from` to `to` if loads and memory allow it, and joins their lists in *x; else changes
 * nothing and returns false. */
static bool join_devices(struct loads *l, const struct tidy_limits *m, struct lists *x,
                         uint32_t from, uint32_t to)
{
    assert(from != to);
    int64_t time = 0, room = m->load + m->back;
    for (uint32_t v = x->head[from]; v != UINT32_MAX; v = x->next[v]) {
        /* if v cannot run on `to`, its time COST_NEVER makes the sum exceed `room` */
        time = sat_add(time, l->c->kind[l->kind[to]].time[v]);
        if (time > room || !may_hold(l, v, to))
            return false;
    }
    for (uint32_t v = x->head[from]; v != UINT32_MAX; v = x->next[v])
        loads_move(l, v, (int32_t)to);
    if (l->load[to] <= m->load && l->back[to] <= m->back && !loads_excess(l, to)) {
        x->next[x->tail[to]] = x->head[from];
        x->tail[to] = x->tail[from];
        x->head[from] = UINT32_MAX;
        return true;
    }
    for (uint32_t v = x->head[from]; v != UINT32_MAX; v = x->next[v])
        loads_move(l, v, (int32_t)from);
    return false;
}

/* Joins neighbouring stages of the chain order[0 .. n) where loads and memory allow it (join_devices).  Leaves the
 * devices of the remaining stages in order[], and returns their number. */
static uint32_t join_stages(struct loads *l, const struct tidy_limits *m, uint32_t *order,
                            uint32_t n, struct arena *a)
{
    struct lists x = lists_of(l, a);
    uint32_t kept = n ? 1 : 0;
    for (uint32_t s = 1; s < n; s++) {
        uint32_t u = order[kept - 1], v = order[s];
        if (join_devices(l, m, &x, v, u))
            continue;
        if (join_devices(l, m, &x, u, v))
            order[kept - 1] = v;
        else
            order[kept++] = v;
    }
    return kept;
}

/* Gives the stages new devices of the same kinds, the lowest numbers first, in the order of the chain; writes the new
 * stage[device]. */
static void rename_devices(struct loads *l, const uint32_t *order, uint32_t n, uint32_t *stage,
                           struct arena *a)
{
    uint32_t next[PROBLEM_KINDS] = {0}, *name = arena_array(a, (size_t)l->ndev + 1, sizeof *name);
    int32_t *dev = arena_array(a, (size_t)l->c->g->n + 1, sizeof *dev);
    for (uint32_t s = 0; s < n; s++) {
        uint32_t k = l->kind[order[s]];
        while (l->kind[next[k]] != k)
            next[k]++;
        assert(next[k] < l->ndev);
        name[order[s]] = next[k]++;
        stage[name[order[s]]] = s;
    }
    for (uint32_t v = 0; v < l->c->g->n; v++)
        dev[v] = (int32_t)name[l->dev[v]];
    loads_set(l, dev);
}

void tidy_problem(const struct problem *c, struct problem_plan *best, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct diag quiet = diag_silent();
    struct loads l;
    /* whether a device that gets its first node of another pass would run one more part, whose cost the loads leave
     * out */
    bool passes_cost = c->scene->model.part_cost && c->g->pass && wdag_passes(c->g) == 1;
    if (c->scene->model.replicate || passes_cost ||
        loads_new(&l, c, /*planner=*/"", scratch, &quiet)) {
        arena_release(scratch, mark);
        return;
    }
    loads_set(&l, best->dev);
    uint32_t *order = arena_array(scratch, (size_t)l.ndev + 1, sizeof *order);
    uint32_t *stage = arena_array(scratch, (size_t)l.ndev + 1, sizeof *stage);
    uint32_t n = find_stages(&l, order, stage, scratch);
    /* a plan with another value than that of the loads is left alone: its planner counts something that the loads do
     * not */
    if (n && loads_value(&l) == best->value) {
        struct tidy_limits m = tidy_limits(&l);
        n = join_stages(&l, &m, order, n, scratch);
        rename_devices(&l, order, n, stage, scratch);
        m.stage = stage;
        sweep(&l, &m);
        assert(loads_value(&l) <= best->value);
        best->value = loads_value(&l);
        memcpy(best->dev, l.dev, c->g->n * sizeof *best->dev);
    }
    arena_release(scratch, mark);
}
