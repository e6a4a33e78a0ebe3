/* Orders the graphs of a module by their nesting depth (graphs_outer_first() of module.h): finds each depth by
 * following the owners, then sorts by counting.  O(graphs). */
#include "ir/model/module.h"

gid *graphs_outer_first(const struct module *m, struct arena *a)
{
    uint32_t *depth = arena_array(a, m->ngraph, sizeof *depth);
    uint32_t *row = arena_array(a, m->ngraph, sizeof *row);
    uint32_t *all = arena_array(a, m->ngraph, sizeof *all);
    /* depth[g]: number of graphs around g; the loops stop at a known depth, and after ngraph steps if owners form a
     * cycle, which the verifier has yet to find */
    for (gid g = 1; g < m->ngraph; g++) {
        gid top = g;
        uint32_t above = 0;
        while (m->graph[top].owner != 0 && depth[top] == 0 && above < m->ngraph) {
            top = m->node[m->graph[top].owner].graph;
            above++;
        }
        uint32_t d = depth[top] + above;
        for (gid k = g; k != top && depth[k] == 0; k = m->node[m->graph[k].owner].graph)
            depth[k] = d--;
        all[g] = g;
        row[g] = depth[g] < m->ngraph ? depth[g] : 0; /* larger: owners form a cycle */
    }
    struct csr by_depth = csr_build(a, m->ngraph, m->ngraph - 1, row + 1, all + 1);
    return by_depth.to;
}
