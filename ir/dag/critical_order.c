/* Computes longest paths, and CPD-TOPO: a depth-first topological order that follows critical paths (critical_order.h).
 *
 * With w_i the time of vertex i and c_ij the cost of the edge from i to j:
 * tlevel(i) = max over predecessors j of tlevel(j) + w_j + c_ji, in a sweep forward;
 * blevel(i) = w_i + max over successors j of c_ij + blevel(j), in a sweep backward; L(i) = tlevel(i) + blevel(i).
 * CPD-TOPO keeps ready vertices on a stack: first all sources, then, for each vertex that is taken, the successors that
 * become ready; vertices pushed together are sorted so that the one with the largest L is taken first.
 * O(E + V log V + pins). */
#include "ir/dag/critical_order.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"

#include <assert.h>

int64_t cpd_time(const struct wdag *g, uint32_t cls, uint32_t v)
{
    int64_t t = g->time[cls][v];
    for (uint32_t k = 0; t == COST_NEVER && k < g->ncls; k++)
        t = g->time[k][v];
    return t == COST_NEVER ? 0 : t;
}

/* Writes cost[w] for each successor w of v: the summed cost, on class cls, of the nets from v to w. Other entries of
 * cost[] have no meaning. */
static void edge_costs(const struct wdag *g, uint32_t cls, uint32_t v, int64_t *cost)
{
    for_row (w, g->succ, v)
        cost[w] = 0;
    for_row (e, g->net_of, v) {
        if (g->net_src[e] != v)
            continue;
        for_row (w, g->net_pin, e)
            cost[w] = sat_add(cost[w], g->net_cost[cls][e]);
    }
}

struct cpd_paths cpd_paths(const struct wdag *g, uint32_t cls, struct arena *a)
{
    assert(cls < g->ncls);
    struct cpd_paths p = {arena_array(a, (size_t)g->n + 1, sizeof *p.tlevel),
                          arena_array(a, (size_t)g->n + 1, sizeof *p.blevel), 0};
    int64_t *cost = arena_array(a, (size_t)g->n + 1, sizeof *cost);
    /* numbers of vertices are a topological order: tlevel from the first vertex on, blevel from the last one on */
    for (uint32_t v = 0; v < g->n; v++) {
        int64_t end = sat_add(p.tlevel[v], cpd_time(g, cls, v));
        edge_costs(g, cls, v, cost);
        for_row (s, g->succ, v)
            p.tlevel[s] = larger(sat_add(end, cost[s]), p.tlevel[s]);
    }
    for (uint32_t v = g->n; v-- > 0;) {
        int64_t rest = 0; /* the longest path behind v, with v's edge to its first vertex */
        edge_costs(g, cls, v, cost);
        for_row (s, g->succ, v)
            rest = larger(sat_add(cost[s], p.blevel[s]), rest);
        p.blevel[v] = sat_add(cpd_time(g, cls, v), rest);
        p.longest = larger(p.blevel[v], p.longest);
    }
    return p;
}

int64_t *cpd_levels(const struct wdag *g, uint32_t cls, struct arena *a)
{
    struct cpd_paths p = cpd_paths(g, cls, a);
    for (uint32_t v = 0; v < g->n; v++)
        p.tlevel[v] = sat_add(p.tlevel[v], p.blevel[v]);
    return p.tlevel;
}

/* Returns the first source at which a longest path begins; UINT32_MAX: the graph is empty. */
static uint32_t find_start(const struct wdag *g, const struct cpd_paths *p)
{
    for (uint32_t v = 0; v < g->n; v++)
        if (g->pred.at[v] == g->pred.at[v + 1] && p->blevel[v] == p->longest)
            return v;
    return UINT32_MAX;
}

uint32_t *cpd_critical(const struct wdag *g, uint32_t cls, const struct cpd_paths *p,
                       struct arena *a, uint32_t *n)
{
    uint32_t *path = arena_array(a, (size_t)g->n + 1, sizeof *path), v = find_start(g, p), next;
    int64_t *cost = arena_array(a, (size_t)g->n + 1, sizeof *cost);
    for (*n = 0; v != UINT32_MAX; v = next) {
        /* ps of the path behind v: the next vertex is the first successor that has a path of this length */
        int64_t rest = p->blevel[v] - cpd_time(g, cls, v);
        path[(*n)++] = v;
        edge_costs(g, cls, v, cost);
        next = UINT32_MAX;
        for (uint32_t k = g->succ.at[v]; k < g->succ.at[v + 1] && next == UINT32_MAX; k++)
            if (sat_add(cost[g->succ.to[k]], p->blevel[g->succ.to[k]]) == rest)
                next = g->succ.to[k];
    }
    return path;
}

uint32_t *cpd_topo(const struct wdag *g, uint32_t cls, struct arena *a)
{
    const int64_t *level = cpd_levels(g, cls, a);
    uint32_t *order = arena_array(a, (size_t)g->n + 1, sizeof *order), n = 0;
    uint32_t *missing = csr_sizes(&g->pred, g->n, a);
    uint32_t *stack = arena_array(a, (size_t)g->n + 1, sizeof *stack), depth = 0, nready = 0;
    /* key: minus the level, so that sorting puts the largest level first */
    struct keyed *ready = arena_array(a, (size_t)g->n + 1, sizeof *ready);
    for (uint32_t v = 0; v < g->n; v++)
        if (!missing[v])
            ready[nready++] = (struct keyed){-level[v], v};
    for (;;) {
        keyed_sort(ready, nready);
        while (nready)
            stack[depth++] = ready[--nready].item;
        if (!depth) {
            assert(n == g->n);
            return order;
        }
        uint32_t v = stack[--depth];
        order[n++] = v;
        for_row (w, g->succ, v)
            if (--missing[w] == 0)
                ready[nready++] = (struct keyed){-level[w], w};
    }
}
