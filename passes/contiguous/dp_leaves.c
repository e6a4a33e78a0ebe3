/* Runs the race on a graph without its idle leaves (dp_leaves.h).
 *
 * Where devices take turns with a stage (placement paper, H.2), each of them holds the stage's weights and has to keep
 * them equal; so a vertex that takes no time but has weights cannot be merged into its only neighbour (contract): at
 * another stage, with fewer copies, it might cost less.  Such vertices make the ideals many: GNMT's training graph has
 * 3,079,928 with them and 17,914 without.
 *
 * An idle leaf takes no time on any device and has a single neighbour, not counting other idle leaves.  Without them
 * every plan is a plan of the smaller graph whose loads are no larger (smaller_graph_bound.h), so a lower bound for
 * the smaller graph is one for the whole graph.  The best plan of the smaller graph becomes one of the whole graph
 * when each leaf is put where it costs least, beside its neighbour or on another device; its value is higher only by
 * the exchange of the leaves' weights, or by transfers between a leaf and its neighbour. */
#include "passes/contiguous/dp_leaves.h"

#include "passes/contiguous/smaller_graph_bound.h"
#include "passes/problem/device_loads.h"

#include <inttypes.h>
#include <string.h>

enum {
    /* the smaller graph is searched only if it has at most this number of ideals */
    MOST_IDEALS = 100000,
    /* on more devices, which would not have a bit each in a word, leaves stay beside their neighbours */
    MOST_DEVICES = 64
};

/* The idle leaves of a graph. */
struct leaves {
    uint8_t *out; /* [vertex] 1: the vertex is an idle leaf */
    /* [vertex] for an idle leaf, the one neighbour that it had left when it was taken away; that neighbour may become
     * a leaf later */
    uint32_t *beside;
    /* [n] the leaves, in the order in which they were taken away: if the neighbour of a leaf becomes a leaf, too, the
     * neighbour stands behind it */
    uint32_t *list, n;
};

/* Returns whether v takes no time on any device, transfers with the host included, and may be on any. */
static bool is_idle(const struct wdag *g, uint32_t v)
{
    for (uint32_t k = 0; k < g->ncls; k++)
        if (g->time[k][v] != 0)
            return false;
    for_row (e, g->net_of, v)
        if (g->net_host[e])
            return false;
    return g->pin[v] < 0 && !wdag_has_apart(g, v);
}

/* Returns a neighbour of v that has not been taken away as a leaf; v itself if there is none. */
static uint32_t neighbour(const struct wdag *g, const struct leaves *l, uint32_t v)
{
    for_row (w, g->succ, v)
        if (!l->out[w])
            return w;
    for_row (u, g->pred, v)
        if (!l->out[u])
            return u;
    return v;
}

/* Returns the idle leaves of g.  Takes leaves away one by one; each time the leaf's neighbour loses an edge, and may
 * become a leaf itself.  O(V + E) in all. */
static struct leaves find_leaves(const struct wdag *g, struct arena *a)
{
    uint32_t *degree = arena_array(a, (size_t)g->n + 1, sizeof *degree), ready = 0;
    uint32_t *queue = arena_array(a, (size_t)g->n + 1, sizeof *queue);
    struct leaves l = {.out = arena_alloc(a, (size_t)g->n + 1)};
    l.beside = arena_array(a, (size_t)g->n + 1, sizeof *l.beside);
    l.list = arena_array(a, (size_t)g->n + 1, sizeof *l.list);
    for (uint32_t v = 0; v < g->n; v++) {
        degree[v] = g->succ.at[v + 1] - g->succ.at[v] + g->pred.at[v + 1] - g->pred.at[v];
        if (degree[v] == 1)
            queue[ready++] = v;
    }
    for (uint32_t i = 0; i < ready; i++) {
        uint32_t v = queue[i], w = neighbour(g, &l, v);
        if (w == v || degree[v] != 1 || !is_idle(g, v))
            continue;
        l.out[v] = 1;
        l.beside[v] = w;
        l.list[l.n++] = v;
        if (--degree[w] == 1)
            queue[ready++] = w;
    }
    return l;
}

/* Sets from[dev], for at most MOST_DEVICES devices, to the bits of the devices from which values come to dev; vertices
 * without a device do not count.  O(V + E). */
static void find_sources(const struct wdag *g, const int32_t *dev, uint64_t *from)
{
    for (uint32_t v = 0; v < g->n; v++)
        for_row (w, g->succ, v)
            if (dev[v] >= 0 && dev[w] >= 0 && dev[v] != dev[w])
                from[dev[w]] |= UINT64_C(1) << dev[v];
}

/* Returns whether the devices can work one after the other: no values go round in a circle from device to device.
 * from: as in find_sources().  O(ndev^2). */
static bool is_chain(const uint64_t *from, uint32_t ndev)
{
    /* takes away devices to which no values come from the devices left, until there is no such device */
    uint64_t left = ndev < 64 ? (UINT64_C(1) << ndev) - 1 : UINT64_MAX;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t d = 0; d < ndev; d++)
            if (left >> d & 1 && !(from[d] & left)) {
                left &= ~(UINT64_C(1) << d);
                more = true;
            }
    }
    return !left;
}

/* Puts leaf v where the plan's value stays lowest: beside its only neighbour that has a device, or on another device
 * if the devices then still form a chain (is_chain).  from: as in find_sources(), kept up to date. */
static void put_leaf(struct loads *l, uint32_t v, uint32_t beside, uint64_t *from)
{
    uint32_t home = (uint32_t)l->dev[beside], best = home;
    bool makes = v < beside; /* the value goes from v to the neighbour: numbers are topological */
    loads_move(l, v, (int32_t)home);
    int64_t least = loads_over(l) ? LOAD_INF : loads_value(l);
    for (uint32_t d = 0; d < l->ndev && l->ndev <= MOST_DEVICES; d++) {
        if (!loads_allows(l, v, d) || d == home)
            continue;
        loads_move(l, v, (int32_t)d);
        if (loads_value(l) >= least || loads_over(l) != 0)
            continue;
        uint32_t source = makes ? d : home, target = makes ? home : d;
        uint64_t before = from[target];
        from[target] |= UINT64_C(1) << source;
        if (is_chain(from, l->ndev)) {
            least = loads_value(l);
            best = d;
        }
        from[target] = before;
    }
    loads_move(l, v, (int32_t)best);
    uint32_t source = makes ? best : home, target = makes ? home : best;
    if (best != home)
        from[target] |= UINT64_C(1) << source;
}

/* Returns a plan of c: vertices that are no leaves are on the devices of `small`, a plan of the graph without leaves;
 * put_leaf() then puts each leaf, the last one taken away first.  The value is LOAD_INF if the plan does not fit the
 * memory, or if the tables for its loads would be too large.  When the time is over, leaves stay beside their
 * neighbours.  O(V + E + leaves * devices^3). */
static struct problem_plan put_leaves(const struct dp_race *r, const struct leaves *l,
                                      const struct problem_plan *small)
{
    const struct wdag *g = r->c->g;
    struct problem_plan p = {.value = LOAD_INF, .copies = small->copies};
    struct loads loads;
    p.dev = arena_array(r->mem, (size_t)g->n + 1, sizeof *p.dev);
    if (loads_new(&loads, r->c, "dp-place", r->scratch, r->diag))
        return p;
    loads_share(&loads, p.copies);
    for (uint32_t v = 0, i = 0; v < g->n; v++)
        if (!l->out[v])
            loads_move(&loads, v, small->dev[i++]);
    uint64_t from[MOST_DEVICES] = {0};
    if (loads.ndev <= MOST_DEVICES)
        find_sources(g, loads.dev, from);
    for (uint32_t i = l->n; i-- > 0;)
        if (clock_out(r->clock))
            loads_move(&loads, l->list[i], loads.dev[l->beside[l->list[i]]]);
        else
            put_leaf(&loads, l->list[i], l->beside[l->list[i]], from);
    memcpy(p.dev, loads.dev, g->n * sizeof *p.dev);
    if (loads_over(&loads) == 0)
        p.value = loads_value(&loads);
    return p;
}

/* Returns the bound for r->c, with its proof in words, that the race on `small`, the problem of the graph without
 * leaves, has proven.  ideals: number of ideals of that graph. */
static struct bound bound_of(const struct dp_race *r, const struct leaves *l,
                             const struct problem *small, uint64_t ideals)
{
    return (struct bound){
        .value = small->lower.value,
        .why = "the graph without leaves that take no time",
        .proof = arena_fmt(
            r->mem,
            "%u nodes take no time and hang on one other node; without them, so that copies need not "
            "keep their weights equal, the model has %" PRIu64
            " ideals, and no plan of it takes less (%s)\n",
            l->n, ideals, small->lower.why)};
}

void dp_without_leaves(const struct dp_race *r, struct problem_plan *best)
{
    const struct exec_model *e = &r->c->scene->model;
    /* If stages have no copies, contract has merged such leaves.  Duplex links add up transfers in and out separately,
     * and without a leaf one could turn into the other (as in contract).  The smaller graph does not know which
     * vertices are to be apart. */
    if (!e->replicate || e->overlap == OVERLAP_DUPLEX || r->c->g->n == 0 || r->c->g->apart.at)
        return;
    struct arena *a = arena_new(r->scratch);
    struct leaves l = find_leaves(r->c->g, a);
    struct smaller_problem small = {.c = NULL};
    if (l.n && l.n < r->c->g->n)
        small = problem_relax(r->c, l.out, a, r->diag);
    /* a vertex may have no pass left without its leaves: parts of both passes are charged only if r->c charges them */
    if (small.c)
        small.c->start = smaller(small.c->start, r->c->start);
    /* without leaves, or without a smaller problem, there is nothing to search: as if there were too many ideals */
    uint64_t ideals = small.c ? wdag_ideals(small.c->g, MOST_IDEALS) : MOST_IDEALS + 1;
    if (ideals <= MOST_IDEALS) {
        struct dp_race own = *r;
        struct problem_plan found = {.value = LOAD_INF};
        own.c = small.c;
        own.m = NULL; /* the vertices have other numbers */
        found.dev = arena_array(r->mem, (size_t)small.c->g->n + 1, sizeof *found.dev);
        found.copies = arena_array(r->mem, (size_t)r->c->cluster->ndev + 1, sizeof *found.copies);
        dp_race(&own, &found);
        problem_raise(r->c, bound_of(r, &l, small.c, ideals));
        if (found.value < LOAD_INF) {
            struct problem_plan p = put_leaves(r, &l, &found);
            *best = p.value < best->value ? p : *best;
        }
    }
    arena_free(a);
}
