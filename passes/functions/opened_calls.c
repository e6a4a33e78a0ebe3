/* Finds facts about the nodes inside calls of functions, without changing the model.
 *
 * Shapes and costs inside a call depend on its operands.  So facts are found in another module, in which each call
 * is replaced by a copy of its function.  Values of the model have the same numbers in that module, and each new
 * node knows the call that it came from (inlined_module.origin), so results are carried back to the model by index. */
#include "passes/functions/opened_calls.h"

#include "ir/base/units.h"

#include <assert.h>

enum { ENTRIES_PER_NODE = 32 }; /* array entries (values, operands, ...) allowed per allowed node */

bool calls_few(const struct module *m, const struct functions *f, uint64_t *nodes)
{
    uint64_t entries;
    functions_total(m, f, nodes, &entries);
    return *nodes <= CALLS_MOST && entries <= (uint64_t)CALLS_MOST * ENTRIES_PER_NODE;
}

struct inlined_module *calls_expand(const struct module *m, bool names, struct arena *a)
{
    struct inlined_module *e;
    struct diag quiet = diag_silent();
    uint64_t nodes;
    if (!module_calls_anywhere(m))
        return NULL;
    struct functions *f = functions_study(m, a);
    if (!calls_few(m, f, &nodes))
        return NULL;
    struct inline_how how = {.functions = f, .names = names};
    e = arena_alloc(a, sizeof *e);
    if (inline_calls(m, &how, a, a, &quiet, e) == 0)
        return e;
    /* names take too much memory; without new names inline_calls() cannot fail */
    how.names = false;
    inline_calls(m, &how, a, a, &quiet, e);
    return e;
}

void calls_adopt_types(struct module *m, const struct inlined_module *e)
{
    assert(e->m.ntype >= m->ntype && e->m.ndim >= m->ndim);
    module_add_dims(m, e->m.dim + m->ndim, e->m.ndim - m->ndim);
    for (uint32_t t = m->ntype; t < e->m.ntype; t++)
        module_add_type(m, e->m.type[t]);
}

void costs_add(struct costs *out, nid to, const struct costs *c, nid n, bool runs)
{
    assert(out->nclass == c->nclass);
    out->flops[to] = sat_add(out->flops[to], c->flops[n]);
    out->traffic[to] = sat_add(out->traffic[to], c->traffic[n]);
    if (!runs)
        return;
    out->own[to] = sat_add(out->own[to], c->own[n]);
    for (uint32_t k = 0; k < c->nclass; k++) {
        int64_t *t = &out->time[k][to], *overhead = &out->overhead[k][to];
        bool never = *t == COST_NEVER || c->time[k][n] == COST_NEVER;
        int64_t sum = never ? COST_NEVER : sat_add(*t, c->time[k][n]);
        *t = !never && sum == COST_NEVER ? COST_NEVER - 1 : sum; /* a large sum is not "never" */
        *overhead = never ? 0 : sat_add(*overhead, costs_overhead(c, k, n));
    }
}

struct costs *calls_fold(const struct module *m, const struct inlined_module *e,
                         const struct costs *c, const struct place *p, struct arena *a)
{
    struct costs *out = costs_new(m, a, c->nclass);
    costs_add_overhead(out, m, a);
    for (vid v = 0; v < m->nval; v++) {
        out->bytes[v] = c->bytes[v];
        out->elems[v] = c->elems[v];
        out->xfer[v] = c->xfer[v];
    }
    for (nid n = 1; n < e->m.nnode; n++) {
        /* the costs of an owner of bodies include those of the bodies' nodes */
        if (e->m.node[n].graph >= e->ngraph0)
            continue;
        bool copied = e->m.node[n].graph == 1 && p->kind[n] != PLACE_NODE;
        costs_add(out, e->origin[n], c, n, e->within[n] == 0 || !copied);
    }
    /* nodes inside calls may compute large constants, whose bytes the call needs */
    for (uint32_t w = 0; w < p->nweight; w++) {
        nid n = e->m.value[p->weight[w]].def;
        if (n != 0 && e->within[n] != 0)
            out->own[e->origin[n]] = sat_add(out->own[e->origin[n]], p->weight_bytes[w]);
    }
    return out;
}
