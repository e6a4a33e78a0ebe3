/* Plans: their words, and from the vertices of a level down to nodes (plan.h).  O(vertices of all levels + nodes). */
#include "ir/plan/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *plan_status_name(enum plan_status s)
{
    assert(s >= PLAN_NONE && s <= PLAN_INFEASIBLE);
    static const char *const name[] = {"none",      "optimal",     "feasible",
                                       "heuristic", "over-memory", "infeasible"};
    return name[s];
}

const char *plan_scope_word(enum plan_scope s)
{
    assert(s >= SCOPE_ALL && s < SCOPES);
    static const char *const word[] = {"all",   "contiguous",      "layers", "contiguous-layers",
                                       "fused", "contiguous-fused"};
    return word[s];
}

const char *plan_scope_name(enum plan_scope s)
{
    assert(s >= SCOPE_ALL && s < SCOPES);
    static const char *const name[] = {"all", "contiguous", "layers", "layers", "fused", "fused"};
    return name[s];
}

const char *plan_among(enum plan_scope s)
{
    assert(s >= SCOPE_ALL && s < SCOPES);
    static const char *const words[] = {
        "",
        " among contiguous plans",
        " among plans that keep groups of nodes together",
        " among contiguous plans that keep groups of nodes together",
        " among plans of the fused graph",
        " among contiguous plans of the fused graph"};
    return words[s];
}

struct ranked {
    uint32_t rank;
    nid node;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

const nid *plan_order(const struct plan *p, const struct module *m, struct arena *a, uint32_t *n)
{
    struct arena *own = arena_new(a);
    struct ranked *r = arena_array(own, m->nnode, sizeof *r);
    *n = 0;
    for (nid k = 1; k < m->nnode; k++)
        if (p->dev[k] >= 0)
            r[(*n)++] = (struct ranked){p->rank ? p->rank[k] : 0, k};
    if (p->rank)
        qsort(r, *n, sizeof *r, by_rank);
    nid *order = arena_array(a, (size_t)*n + 1, sizeof *order);
    for (uint32_t i = 0; i < *n; i++)
        order[i] = r[i].node;
    arena_free(own);
    return order;
}

int32_t *plan_project(const struct wdag *top, const int32_t *vertex_dev, uint32_t nnode,
                      struct arena *a)
{
    const int32_t *dev = vertex_dev;
    for (; top->finer; top = top->finer) {
        assert(top->map);
        int32_t *below = arena_array(a, (size_t)top->finer->n + 1, sizeof *below);
        for (uint32_t v = 0; v < top->finer->n; v++)
            below[v] = dev[top->map[v]];
        dev = below;
    }
    int32_t *node = arena_array(a, nnode, sizeof *node);
    memset(node, 0xff, nnode * sizeof *node);
    assert(top->node);
    for (uint32_t v = 0; v < top->n; v++) {
        assert(top->node[v] < nnode);
        node[top->node[v]] = dev[v];
    }
    return node;
}
