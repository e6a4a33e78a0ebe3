/* How planners begin and end (placing.h).  O(kinds * (V + pins)) for the problems, O(V + nodes) for a plan. */
#include "passes/problem/placing.h"

#include "ir/dag/topo_order.h"

#include <assert.h>

const struct opt place_opts[] = {
    {OPT_INT, "max-states", offsetof(struct place_options, max_states), "2000000", .lo = "0",
     .hi = "1000000000",
     .help =
         "ideals that a search may keep, and a quarter of the steps of all, before they give up"},
    {OPT_BOOL, "count-ideals", offsetof(struct place_options, count_ideals), "false",
     .help = "count all ideals of the graph, too"},
    {OPT_BOOL, "whole", offsetof(struct place_options, whole), "true",
     .help = "after a fused graph, search the whole graph, too"},
    /* the options of dpl-place begin here: row PLACE_OPTS_EXACT */
    {OPT_INT, "starts", offsetof(struct place_options, starts), "60", .lo = "1", .hi = "1000000",
     .help = "topological orders to try"},
    {OPT_INT, "seed", offsetof(struct place_options, seed), "1", .lo = "0", .hi = "1000000000",
     .help = "seed of the orders; 0: of one kind, the first by number"},
    {OPT_CHOICE, "order", offsetof(struct place_options, order), "mixed", .names = topo_names,
     .help = "kind of the topological orders; mixed: several in turn"},
    {0}};

int placing_start(struct ctx *x, const struct place_options *o, struct planner_input *p)
{
    assert(!cluster_grouped(x->scene.cluster));
    if (ctx_base(x))
        return -1;
    *p = (struct planner_input){
        .whole = contiguous_level(x), .level = x->levels.top, .clock = ctx_clock(x)};
    p->orders.starts = (uint32_t)o->starts;
    p->orders.seed = (uint64_t)o->seed;
    p->orders.order = (uint32_t)o->order;
    p->orders.clock = &p->clock;
    p->orders.phase = "trying orders";
    p->problem = problem_build(p->whole, &x->scene, MEMORY_UNCHANGED, x->use.scratch, x->use.diag);
    p->top = p->problem; /* of the same level, unless a pass such as fuse has made a coarser one */
    if (p->problem && p->level != p->whole)
        p->top = problem_build(p->level, &x->scene, MEMORY_UNCHANGED, x->use.scratch, x->use.diag);
    return p->problem && p->top ? 0 : -1;
}

struct problem_plan no_plan(struct ctx *x, const struct wdag *g)
{
    struct problem_plan p = {.value = LOAD_INF,
                             .dev = arena_array(x->use.mem, (size_t)g->n + 1, sizeof(int32_t))};
    if (x->scene.model.replicate)
        p.copies = arena_array(x->use.mem, (size_t)x->scene.cluster->ndev + 1, sizeof *p.copies);
    if (g->n == 0)
        p.value = 0;
    return p;
}

const char *first_node(const struct ctx *x, const struct wdag *g, uint32_t v)
{
    assert(v < g->n);
    const uint32_t *at = wdag_flatten(g, x->use.scratch);
    for (uint32_t u = 0; u < x->levels.base->n; u++)
        if (at[u] == v)
            return node_name(x->scene.m, x->levels.base->node[u]);
    return "";
}

void leave_plan(struct ctx *x, const char *planner, const struct wdag *g,
                const struct problem_plan *best)
{
    assert(best->value >= 0 && best->value < LOAD_INF);
    struct plan *p = x->results.plan = arena_alloc(x->use.mem, sizeof *p);
    p->planner = planner;
    p->dev = plan_project(g, best->dev, x->scene.m->nnode, x->use.mem);
    p->copies = best->copies;
    p->claim.objective = x->scene.model.objective;
    p->claim.value = claim_value(x, best, p->dev);
    p->claim.value_less_parts = best->value;
    p->claim.bound = p->claim.bound_all = -1;
    p->claim.status = PLAN_FEASIBLE;
}
