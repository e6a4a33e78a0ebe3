/* Finds the heaviest set that one device can hold (device_knapsack.h): a knapsack problem in which the load of a set
 * counts its transfers, too, solved by branch and bound.
 *
 * Bound: let L be the limit of loads.  For every multiplier m >= 0, all sets S with load(S) <= L have
 *   w(S)  <=  m L + max over all S of (w(S) - m load(S)),
 * and the maximum is found by a minimum cut: if w(v) - m time(v) is positive, it is the capacity of an arc source ->
 * v; if it is negative, its absolute value is the capacity of an arc v -> sink; nets are as in least_load.c (Picard,
 * Management Science 22 (1976)).  The right side is a bound that depends on m.  The set S of each cut gives a straight
 * line in m, w(S) + m (L - load(S)), which is nowhere above the bound; the line rises if the load of S is below L, and
 * falls if it is above L.  A search asks whether some set within the limit weighs more than `target`; no set does if a
 * bound is at most `target`.  Such a bound is possible only for a multiplier at which all lines are at most `target`:
 * the range of such m shrinks with each cut (Kelley's method in one dimension).  When the range is empty, the search
 * branches on a vertex, which is first required in the set, then forbidden.
 *
 * Branching: two sets are kept, the last one found with a load above the limit, and the last one within it; the search
 * branches on the heaviest vertex that is in only one of the two.  The branch is kept on an explicit stack.  Cost:
 * some tens of minimum cuts for each choice of fixed vertices (partial set).
 *
 * No overflow: mu is m in units of 2^-MU_BITS.  The sum of all weights * 2^MU_BITS, and the sum of all times and
 * transfers, in units, * the largest mu, stay below 2^61. */
#include "passes/bounds/device_knapsack.h"

#include <assert.h>
#include <string.h>

enum {
    MU_BITS = 14,  /* multipliers mu are in units of 2^-MU_BITS */
    MU_MOST = 24,  /* the largest multiplier mu, in these units, is 2^MU_MOST */
    CUTS = 30,     /* number of cuts with weights for a partial set, at most */
    ROOT_CUTS = 24 /* number of cuts of device_knapsack_most, at most */
};

enum { FREE, IN, OUT }; /* values of fix[vertex] */

/* Returns the time ps in units, rounded down. */
static int64_t in_units(const struct device_knapsack *h, int64_t ps)
{
    return ps >> h->down << h->up;
}

/* Returns the node of the flow network from which flow comes. */
static uint32_t source(const struct device_knapsack *h)
{
    return h->f.nnode - 2;
}

/* Returns the node of the flow network to which flow goes. */
static uint32_t sink(const struct device_knapsack *h)
{
    return h->f.nnode - 1;
}

/* Returns the number of pins of net e. */
static uint32_t count_pins(const struct wdag *g, uint32_t e)
{
    return g->net_pin.at[e + 1] - g->net_pin.at[e];
}

/* Returns whether net e has two vertices and no host, so that two opposite arcs can stand for it. */
static bool is_edge(const struct wdag *g, uint32_t e)
{
    return count_pins(g, e) == 2 && !g->net_host[e];
}

/* ---- the network ----------------------------------------------------------------------------- */

/* Sets h->all, the sum of all times and transfers, and the shifts that make it about 2^KNAPSACK_BITS units. */
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
    if (h->all == 0 || h->down > 0)
        return;
    while (h->all << (h->up + 1) >> KNAPSACK_BITS == 0)
        h->up++;
}

/* Adds all arcs, without capacities, in the order in which set_capacities() visits them: for each vertex one arc from
 * the source and one to the sink; for each net one arc whose capacity will be the cost of the net, and unbounded arcs
 * between the net's nodes and its pins. */
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
    choose_units(h, r); /* before times and costs, which are counted in these units */
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
    /* nodes: vertices, up to two for a net, source and sink; arcs: as add_arcs() adds them, at most */
    h->f = flow_new(g->n + 2 * h->nnet + 2, 2 * g->n + h->nnet + 2 * pins, a);
    add_arcs(h);
    return h;
}

/* Sets the capacities of all arcs for the multiplier mu (in 2^-MU_BITS); weighs = false: all weights count as 0.  The
 * gain of a vertex is its weight less mu times its time; the gain of a set also loses mu times its transfers.  Returns
 * the sum of the positive gains of vertices: this sum less the minimum cut is the largest gain of a set. */
static int64_t set_capacities(struct device_knapsack *h, int64_t mu, bool weighs)
{
    const struct wdag *g = h->c->g;
    /* arcs in the order of add_arcs(); each has two capacities: room[0], and room[1] of the opposite arc */
    int64_t *room = h->f.room, fed = 0;
    memset(room, 0, h->f.narc * sizeof *room);
    /* a vertex has two arcs: room[0] from the source, room[2] to the sink */
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
        if (is_edge(g, e)) { /* an arc and its reverse */
            room[1] = room[0];
            room += 2;
            continue;
        }
        room += 2;
        /* arcs between the pins and the net's nodes */
        uint32_t arcs = count_pins(g, e) * (g->net_host[e] ? 1 : 2);
        for (uint32_t j = 0; j < arcs; j++, room += 2)
            room[0] = FLOW_INF;
    }
    return fed;
}

/* Sets h->set to the vertices on the source's side of the minimum cut, h->sum to its weight, h->load to its load. */
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

/* Makes the minimum cut for the multiplier mu (weighs: as for set_capacities).  Writes the bound on the weights of sets
 * within the limit, times 2^MU_BITS, to h->value, and the set with the largest gain to h->set, with its weight and load
 * to h->sum and h->load.  Returns false if the work ran out. */
static bool make_cut(struct device_knapsack *h, int64_t mu, bool weighs)
{
    struct arena_mark mark = arena_mark(h->f.mem);
    int64_t fed = set_capacities(h, mu, weighs);
    uint64_t fixed = h->f.narc / 4 + 1; /* setting the capacities counts as work, too */
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

/* Sets h->limit so that no set with a load of at most `most` ps is excluded (times in units are rounded down). */
static void set_limit(struct device_knapsack *h, int64_t most)
{
    h->limit = in_units(h, smaller(most, h->all));
}

/* Shrinks the range [*lo, *hi] to the multipliers at which the line of the last cut (head of this file) is at most
 * `goal`; lines and goal are in units of 2^-MU_BITS.  mu: the multiplier of the last cut, at which the line is above
 * the goal. */
static void narrow_range(const struct device_knapsack *h, int64_t goal, int64_t mu, int64_t *lo,
                         int64_t *hi)
{
    /* the line is sum - m * over; it meets the goal at m = above / over */
    int64_t above = h->sum * (1 << MU_BITS) - goal, over = h->load - h->limit;
    if (over > 0) { /* the line falls: m must be larger */
        int64_t least = above / over + (above % over > 0);
        *lo = larger(least, mu + 1);
    } else { /* the line rises, or stays above the goal: m must be smaller */
        int64_t most = over < 0 ? above / over : 0;
        *hi = smaller(most, mu - 1);
    }
}

/* Returns the vertex to branch on: the heaviest free vertex that is in only one of h->over and h->within, else the
 * heaviest free vertex; UINT32_MAX if no vertex is free. */
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

/* The results of look_at_sets() (LIGHT, HEAVY, OPEN, STOPPED: see there); TIRED: device_knapsack_search() has looked at
 * as many partial sets as it may. */
enum look { LIGHT, HEAVY, OPEN, TIRED, STOPPED };

/* Tries to decide by minimum cuts whether a set that h->fix allows has a load within the limit and a weight above
 * `target`.  Returns LIGHT if there is no such set, HEAVY if h->best is one, OPEN if neither is shown, STOPPED if the
 * work ran out.  *start: the multiplier to begin with; becomes the last multiplier whose cut left the question open. */
static enum look look_at_sets(struct device_knapsack *h, int64_t target, int64_t *start)
{
    int64_t goal = (target + 1) * (1 << MU_BITS) - 1, mu = *start;
    int64_t lo = 0, hi = INT64_C(1) << MU_MOST;
    h->has_over = h->has_within = false;
    for (uint32_t i = 0; i < CUTS && lo <= hi; i++) {
        if (!make_cut(h, mu, /*weighs=*/true))
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
        h->has_over = h->has_over || over;
        h->has_within = h->has_within || !over;
        narrow_range(h, goal, mu, &lo, &hi);
        *start = mu;
        /* the middle of the range; while all sets found are on one side of the limit: a little inside the end of the
         * range that was moved last */
        if (h->has_over && h->has_within)
            mu = lo + (hi - lo) / 2;
        else if (over)
            mu = smaller(lo + lo / 8, hi);
        else
            mu = larger(hi - hi / 8, lo);
    }
    if (h->has_within)
        return OPEN;
    /* without weights the set of the cut has the least load of all allowed sets: is even that above the limit? */
    if (!make_cut(h, 1, /*weighs=*/false))
        return STOPPED;
    return h->load > h->limit ? LIGHT : OPEN;
}

/* Returns the answer to the caller of a search whose last result was r, which must not be OPEN. */
static enum device_knapsack_answer answer_of(enum look r)
{
    switch (r) {
    case LIGHT:
        return KNAPSACK_NONE;
    case HEAVY:
        return KNAPSACK_FOUND;
    case TIRED:
        return KNAPSACK_TIRED;
    default:
        return KNAPSACK_UNKNOWN;
    }
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
        if (h->sets++ == sets)
            r = TIRED;
        else
            r = clock_out(clock) ? STOPPED : look_at_sets(h, target, &mu);
        if (r == OPEN) {
            uint32_t v = pick_vertex(h);
            if (v != UINT32_MAX) {
                h->fix[v] = IN;
                h->start[h->npath] = mu;
                h->path[h->npath++] = v;
                continue;
            }
            r = LIGHT; /* every vertex is fixed: the only set left is not heavy enough or above the limit */
        }
        if (r != LIGHT)
            break;
        /* no set here: go back to the last vertex that was required (IN), and forbid it */
        while (h->npath && h->fix[h->path[h->npath - 1]] == OUT)
            h->fix[h->path[--h->npath]] = FREE;
        if (h->npath == 0)
            break;
        h->fix[h->path[h->npath - 1]] = OUT;
        mu = h->start[h->npath - 1];
    }
    while (h->npath)
        h->fix[h->path[--h->npath]] = FREE;
    return answer_of(r);
}

int64_t device_knapsack_most(struct device_knapsack *h, int64_t most)
{
    int64_t lo = 0, hi = INT64_C(1) << MU_MOST, best = INT64_MAX;
    set_limit(h, most);
    for (uint32_t i = 0; i < ROOT_CUTS && lo <= hi; i++) {
        int64_t mu = lo + (hi - lo) / 2;
        if (!make_cut(h, mu, /*weighs=*/true))
            break;
        best = smaller(h->value, best);
        /* the bound falls as mu grows while the load of the cut's set is above the limit, then it rises */
        if (h->load > h->limit)
            lo = mu + 1;
        else
            hi = mu - 1;
    }
    return best == INT64_MAX ? best : best >> MU_BITS;
}
