/* Makes problems for planners, and plans of their results (placing.h).  O(kinds * (V + pins)) for the problems, O(V +
 * nodes) for a plan. */
#include "passes/problem/placing.h"

#include "ir/base/units.h"
#include "ir/dag/topo_order.h"
#include "ir/exec/evaluate.h"
#include "ir/exec/live_memory.h"

#include <assert.h>

/* where a plan may not fit, making it fit gets 1 / FIT_SHARE of a time limit */
enum { FIT_SHARE = 4 };

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
    /* one problem serves for both levels, unless a pass such as fuse has made the top level */
    p->top = p->problem;
    if (p->problem && p->level != p->whole)
        p->top = problem_build(p->level, &x->scene, MEMORY_UNCHANGED, x->use.scratch, x->use.diag);
    return p->problem && p->top ? 0 : -1;
}

void placing_leave_time(const struct problem *c, struct clock *clock)
{
    int64_t left = clock_left(clock);
    if (clock->deadline && c->values)
        clock_limit(clock, left - left / FIT_SHARE);
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

/* Returns the largest load of a device under the plan dev[vertex], ps, by the figures of level g: times of vertices and
 * costs of cut nets, without what parts cost. */
static int64_t largest_load(const struct ctx *x, const struct wdag *g, const int32_t *dev)
{
    const struct cluster *c = x->scene.cluster;
    struct arena *a = x->use.scratch;
    int64_t most = 0, *load = arena_array(a, (size_t)c->ndev + 1, sizeof *load);
    uint32_t *cls = arena_array(a, (size_t)c->ndev + 1, sizeof *cls);
    uint32_t *seen = arena_array(a, (size_t)c->ndev + 1, sizeof *seen);
    for (uint32_t d = 0; d < c->ndev; d++)
        cls[d] = cluster_class(c, d);
    for (uint32_t v = 0; v < g->n; v++)
        load[dev[v]] = sat_add(load[dev[v]], g->time[cls[dev[v]]][v]);
    for (uint32_t e = 0; e < g->nnet; e++) {
        bool cut = g->net_host[e];
        for_row (v, g->net_pin, e)
            cut = cut || dev[v] != dev[g->net_pin.to[g->net_pin.at[e]]];
        for_row (v, g->net_pin, e) {
            int32_t d = dev[v];
            if (cut && seen[d] != e + 1) /* the first pin of net e on device d */
                load[d] = sat_add(load[d], g->net_cost[cls[d]][e]);
            seen[d] = e + 1;
        }
    }
    for (uint32_t d = 0; d < c->ndev; d++)
        most = larger(load[d], most);
    return most;
}

/* Returns the value, ps, for the claim of the plan.  Where parts cost something, only the judge counts their cost.  The
 * value is then the largest load by level g plus the cost of parts by the judge, and not the judge's value: so if g and
 * the judge count a load differently, the judge's check of the claim shows it. */
static int64_t value_to_claim(struct ctx *x, const struct wdag *g, const struct problem_plan *best,
                              const int32_t *node_dev)
{
    const struct exec_model *e = &x->scene.model;
    int64_t judged = claim_value(x, best, node_dev);
    bool sums = e->overlap == OVERLAP_SUM && !e->replicate && !cluster_grouped(x->scene.cluster) &&
                !(exec_apart(e) && x->scene.m->backward);
    if (!e->part_cost || !sums)
        return judged;
    struct scene bare = x->scene;
    bare.model.part_cost = 0;
    int64_t without = load_verdict(&bare, node_dev, NULL, x->use.scratch).value;
    return judged - without + largest_load(x, g, best->dev);
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
    p->claim.value = value_to_claim(x, g, best, p->dev);
    p->claim.value_less_parts = best->value;
    p->claim.bound = p->claim.bound_all = -1;
    p->claim.status = PLAN_FEASIBLE;
}

void leave_judged(struct ctx *x, const char *planner, const struct wdag *g, int32_t *dev)
{
    const struct plan plan = {.dev = plan_project(g, dev, x->scene.m->nnode, x->use.scratch)};
    int64_t value = plan_evaluate(&x->scene, &plan, x->use.scratch).value;
    const struct problem_plan made = {.value = value, .dev = dev};
    leave_plan(x, planner, g, &made);
    x->results.plan->claim.value = value;
    x->results.plan->claim.value_less_parts = value - claim_start(x, g);
}

const char *placing_fewer_samples(struct ctx *x, const struct plan *p)
{
    uint32_t n = live_memory_samples(&x->scene, p, x->use.scratch);
    return n ? arena_fmt(x->use.mem, "; with --in-flight=%u it does", n) : "";
}
