/* Functions on plans (plan.h): words for status and scope, stages and slots, and plan_project(). */
#include "ir/plan/plan.h"

#include <assert.h>
#include <string.h>

const char *plan_status_name(enum plan_status s)
{
    assert(s >= PLAN_NONE && s <= PLAN_INFEASIBLE);
    static const char *const name[] = {"none",      "optimal",     "feasible",
                                       "heuristic", "over-memory", "infeasible"};
    return name[s];
}

const char *plan_scope_name(enum plan_scope s)
{
    assert(s >= SCOPE_ALL && s < SCOPES);
    static const char *const word[] = {"all",   "contiguous",      "layers", "contiguous-layers",
                                       "fused", "contiguous-fused"};
    return word[s];
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

const int32_t *plan_stage_of(const struct staged_plan *p, struct arena *a)
{
    const struct scene *s = p->scene;
    const struct stages *st = p->stages;
    const struct graph *g = &s->m->graph[1];
    if (p->plan->stage_of)
        return p->plan->stage_of;
    /* the nodes of a stage are all on its first device; 0xff: -1, no stage */
    int32_t *of = arena_array(a, s->m->nnode, sizeof *of);
    int32_t *of_dev = arena_array(a, (size_t)s->cluster->ndev + 1, sizeof *of_dev);
    memset(of, 0xff, s->m->nnode * sizeof *of);
    memset(of_dev, 0xff, s->cluster->ndev * sizeof *of_dev);
    for (uint32_t k = 0; k < st->n; k++)
        of_dev[st->device.to[st->device.at[k]]] = (int32_t)k;
    for (nid n = g->first; n < g->first + g->count; n++)
        if (s->place->kind[n] == PLACE_NODE && p->plan->dev[n] >= 0)
            of[n] = of_dev[p->plan->dev[n]];
    return of;
}

uint32_t *plan_slots(const struct scene *s, const struct plan *p, struct arena *a)
{
    const struct graph *g = &s->m->graph[1];
    uint32_t *most = arena_array(a, (size_t)s->cluster->ndev + 1, sizeof *most);
    for (nid n = g->first; p->slot && n < g->first + g->count; n++)
        if (p->dev[n] >= 0 && p->slot[n] > most[p->dev[n]])
            most[p->dev[n]] = p->slot[n];
    return most;
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
    memset(node, 0xff, nnode * sizeof *node); /* -1: not placed */
    assert(top->node);
    for (uint32_t v = 0; v < top->n; v++) {
        assert(top->node[v] < nnode);
        node[top->node[v]] = dev[v];
    }
    return node;
}
