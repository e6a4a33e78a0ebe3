/* Critical paths of a level and the weight of its transfers (level_table.h).
 *
 * Source: Celeritas (arXiv 2208.00184), Eq 1 to 3.  CCR is what all edges between vertices cost, over what
 * the vertices take.  The paper counts the edges between nodes, one by one; a tensor that several nodes of a vertex
 * read is moved there once, though, and so levels have it: both are kept.  O(V + pins). */
#include "ir/dag/level_table.h"

#include "ir/base/units.h"

/* Adds the edges between the vertices of g to the row of the level. */
static void weigh_edges(struct level_weight *w, const struct wdag *g, uint32_t cls, uint32_t *seen)
{
    for (uint32_t v = 0; v < g->n; v++)
        for_row (e, g->net_of, v)
            for (uint32_t p = g->net_pin.at[e]; g->net_src[e] == v && p < g->net_pin.at[e + 1]; p++)
                if (g->net_pin.to[p] != v) {
                    w->once = sat_add(w->once, g->net_cost[cls][e]);
                    w->edges += seen[g->net_pin.to[p]] != v + 1;
                    seen[g->net_pin.to[p]] = v + 1;
                }
}

/* Cost of the base level's edges between different vertices of a coarser level; at[base vertex]: its vertex of the
 * coarser level. */
static int64_t weigh_transfers(const struct wdag *base, const uint32_t *at, uint32_t cls)
{
    int64_t sum = 0;
    for (uint32_t e = 0; e < base->nnet; e++)
        for_row (pin, base->net_pin, e)
            if (base->net_src[e] != UINT32_MAX && at[pin] != at[base->net_src[e]])
                sum = sat_add(sum, base->net_cost[cls][e]);
    return sum;
}

static struct level_weight weigh(const struct wdag *g, const struct wdag *base, uint32_t cls,
                                 struct arena *a)
{
    struct arena *own = arena_new(a);
    struct level_weight w = {.maker = g->maker, .vertices = g->n};
    for (uint32_t v = 0; v < g->n; v++)
        w.compute = sat_add(w.compute, cpd_time(g, cls, v));
    weigh_edges(&w, g, cls, arena_array(own, (size_t)g->n + 1, sizeof(uint32_t)));
    w.transfer = weigh_transfers(base, wdag_flatten(g, own), cls);
    arena_free(own);
    return w;
}

struct level_table *level_table_make(const struct wdag *top, const struct module *m, uint32_t cls,
                                     struct arena *a)
{
    struct level_table *t = arena_alloc(a, sizeof *t);
    const struct wdag *base = top;
    *t = (struct level_table){.m = m, .top = top, .nweight = 1};
    for (; base->finer; base = base->finer)
        t->nweight++;
    t->path = cpd_paths(top, cls, a);
    t->critical = cpd_critical(top, cls, &t->path, a, &t->ncritical);
    t->weight = arena_array(a, t->nweight, sizeof *t->weight);
    uint32_t at = t->nweight;
    for (const struct wdag *g = top; g; g = g->finer)
        t->weight[--at] = weigh(g, base, cls, a);
    t->members = csr_build(a, top->n, base->n, wdag_flatten(top, a), NULL);
    return t;
}
