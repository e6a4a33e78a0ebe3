/* CPD-TOPO: a depth-first topological order that follows critical paths (see critical_order.h).
 *
 * tlevel(i) = max over predecessors j of tlevel(j) + w_j + c_ji; blevel(i) = w_i + max over successors
 * of c_ij + blevel(j); L = tlevel + blevel, two sweeps.  The queue is used at its head only: it starts
 * with the sources by falling L; each popped vertex pushes the successors that become ready by rising
 * L, so that the largest stands at the head.  O(E + V log V + pins). */
#include "ir/dag/critical_order.h"

#include "ir/base/units.h"

#include <assert.h>
#include <stdlib.h>

static int64_t vertex_time(const struct wdag *g, uint32_t cls, uint32_t v)
{
    int64_t t = g->time[cls][v];
    for (uint32_t k = 0; t == COST_NEVER && k < g->ncls; k++)
        t = g->time[k][v];
    return t == COST_NEVER ? 0 : t;
}

/* tlevel in a sweep forwards, blevel in one backwards; the cost of an edge is that of the nets of its source that
 * the reader reads. */
int64_t *cpd_levels(const struct wdag *g, uint32_t cls, struct arena *a)
{
    assert(cls < g->ncls);
    int64_t *top = arena_array(a, (size_t)g->n + 1, sizeof *top);
    int64_t *level = arena_array(a, (size_t)g->n + 1, sizeof *level);
    int64_t *cost =
        arena_array(a, (size_t)g->n + 1, sizeof *cost); /* of the edge to each successor */
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < g->n; i++) {
            uint32_t v = pass ? g->n - 1 - i : i;
            int64_t w = vertex_time(g, cls, v), behind = 0;
            for (uint32_t k = g->succ.at[v]; k < g->succ.at[v + 1]; k++)
                cost[g->succ.to[k]] = 0;
            for (uint32_t k = g->net_of.at[v]; k < g->net_of.at[v + 1]; k++) {
                uint32_t e = g->net_of.to[k];
                for (uint32_t p = g->net_pin.at[e]; g->net_src[e] == v && p < g->net_pin.at[e + 1];
                     p++)
                    cost[g->net_pin.to[p]] = sat_add(cost[g->net_pin.to[p]], g->net_cost[cls][e]);
            }
            for (uint32_t k = g->succ.at[v]; k < g->succ.at[v + 1]; k++) {
                uint32_t s = g->succ.to[k];
                int64_t ahead = sat_add(sat_add(top[v], w), cost[s]);
                if (!pass && ahead > top[s])
                    top[s] = ahead;
                if (pass && sat_add(cost[s], level[s]) > behind)
                    behind = sat_add(cost[s], level[s]);
            }
            if (pass)
                level[v] = sat_add(w, behind);
        }
    }
    for (uint32_t v = 0; v < g->n; v++)
        level[v] = sat_add(level[v], top[v]);
    return level;
}

struct ready {
    int64_t level;
    uint32_t v;
};

/* For qsort: by rising level, then falling index, the order in which successors are pushed. */
static int by_push(const void *a, const void *b)
{
    const struct ready *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return x->v > y->v ? -1 : x->v < y->v;
}

uint32_t *cpd_topo(const struct wdag *g, uint32_t cls, struct arena *a)
{
    const int64_t *level = cpd_levels(g, cls, a);
    uint32_t *order = arena_array(a, (size_t)g->n + 1, sizeof *order), n = 0;
    uint32_t *missing = arena_array(a, (size_t)g->n + 1, sizeof *missing);
    uint32_t *stack = arena_array(a, (size_t)g->n + 1, sizeof *stack), depth = 0, nready = 0;
    struct ready *ready = arena_array(a, (size_t)g->n + 1, sizeof *ready);
    for (uint32_t v = 0; v < g->n; v++)
        if ((missing[v] = g->pred.at[v + 1] - g->pred.at[v]) == 0)
            ready[nready++] = (struct ready){level[v], v};
    for (;;) {
        qsort(ready, nready, sizeof *ready, by_push);
        for (uint32_t i = 0; i < nready; i++)
            stack[depth++] = ready[i].v;
        if (!depth) {
            assert(n == g->n);
            return order;
        }
        uint32_t v = stack[--depth];
        order[n++] = v;
        nready = 0;
        for (uint32_t i = g->succ.at[v]; i < g->succ.at[v + 1]; i++)
            if (--missing[g->succ.to[i]] == 0)
                ready[nready++] = (struct ready){level[g->succ.to[i]], g->succ.to[i]};
    }
}
