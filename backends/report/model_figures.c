/* Computes the figures of a model for its summaries (model_figures.h): one pass over values, one over nodes. */
#include "backends/report/model_figures.h"

#include "ir/base/units.h"

#include <assert.h>

struct model_figures model_figures(const struct module *m)
{
    assert(m->ngraph > 1 && m->cost);
    const struct graph *g = &m->graph[1];
    struct model_figures f = {0};
    for (vid v = 1; v < m->nval; v++) {
        if (m->value[v].flags & VALUE_INIT) {
            int64_t n = tensor_elems(m, m->value[v].tensor);
            f.params = sat_add(f.params, larger(n, 0));
            f.weight = sat_add(f.weight, m->cost->bytes[v]);
        } else if (m->value[v].def && m->value[v].graph == 1 && m->value[v].name) {
            f.results++;
            f.with_shape += m->cost->elems[v] >= 0;
        }
    }
    for (nid n = g->first; n < g->first + g->count && m->cost->flops; n++)
        f.flops = sat_add(f.flops, m->cost->flops[n]);
    return f;
}
