/* Computes the longest paths of a level, and the sums of its times and of its transfers (level_table.h).
 *
 * Source: Celeritas (arXiv 2208.00184), Eq 1 to 3.  CCR is the summed cost of all edges between vertices, divided by
 * the summed time of the vertices.  The paper counts each edge between two nodes.  In a plan, however, a tensor that
 * several nodes of a vertex read is moved to the vertex once; the table has both sums.  O(V + pins). */
#include "ir/dag/level_table.h"

#include "ir/base/units.h"

/* Adds to w->edges the number of pairs of a vertex of g and another vertex that reads the first one's results, and to
 * w->once the cost of each net, by the links of class cls, times the number of vertices that read the net. seen:
 * [vertex] scratch, all 0. */
static void add_edges(struct level_weight *w, const struct wdag *g, uint32_t cls, uint32_t *seen)
{
    for (uint32_t v = 0; v < g->n; v++)
        for_row (e, g->net_of, v) {
            if (g->net_src[e] != v)
                continue;
            for_row (reader, g->net_pin, e) {
                if (reader == v)
                    continue;
                w->once = sat_add(w->once, g->net_cost[cls][e]);
                w->edges += seen[reader] != v + 1;
                seen[reader] = v + 1;
            }
        }
}

/* Returns the sum, ps, of the costs of the base-level edges whose two ends are in different vertices of a coarser
 * level, by the links of class cls. vertex_of[vertex of base]: the vertex of the coarser level that it was merged
 * into. */
static int64_t sum_transfers(const struct wdag *base, const uint32_t *vertex_of, uint32_t cls)
{
    int64_t sum = 0;
    for (uint32_t e = 0; e < base->nnet; e++) {
        uint32_t src = base->net_src[e];
        if (src == UINT32_MAX)
            continue;
        for_row (pin, base->net_pin, e)
            if (vertex_of[pin] != vertex_of[src])
                sum = sat_add(sum, base->net_cost[cls][e]);
    }
    return sum;
}

/* Returns the table's row for level g: its sums of times and of transfers, by the times and links of class cls. */
static struct level_weight sum_level(const struct wdag *g, const struct wdag *base, uint32_t cls,
                                     struct arena *a)
{
    struct arena *scratch = arena_new(a);
    struct level_weight w = {.maker = g->maker, .vertices = g->n};
    for (uint32_t v = 0; v < g->n; v++)
        w.compute = sat_add(w.compute, cpd_time(g, cls, v));
    add_edges(&w, g, cls, arena_array(scratch, (size_t)g->n + 1, sizeof(uint32_t)));
    w.transfer = sum_transfers(base, wdag_flatten(g, scratch), cls);
    arena_free(scratch);
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
    uint32_t row = t->nweight;
    for (const struct wdag *g = top; g; g = g->finer)
        t->weight[--row] = sum_level(g, base, cls, a);
    t->members = csr_build(a, top->n, base->n, wdag_flatten(top, a), NULL);
    return t;
}
