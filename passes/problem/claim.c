/* Makes claims: what a planner may say about its plan (claim.h).
 *
 * Every claim names the plans that it compares with (its scope).  A search over contiguous plans proves something about
 * contiguous plans; a search of a fused graph, about plans of that graph; a search of a level where contract keeps
 * groups together, about plans that keep them together; only a bound on the level of the mandatory colocation classes
 * (mandatory_level) is about all plans that the user could have (bounds_all).  Cost: O(V + pins), and running the plan
 * where parts cost something. */
#include "passes/problem/claim.h"

#include "ir/exec/evaluate.h"
#include "ir/exec/exec_runs.h"
#include "ir/base/units.h"

#include <assert.h>

struct wdag *contiguous_level(const struct ctx *x)
{
    return x->levels.contiguous ? x->levels.contiguous : x->levels.base;
}

struct wdag *any_shape_level(const struct ctx *x)
{
    return x->levels.any_shape ? x->levels.any_shape : x->levels.base;
}

struct wdag *mandatory_level(const struct ctx *x)
{
    return x->levels.mandatory ? x->levels.mandatory : x->levels.base;
}

/* Returns for how many of the two passes it is sure that the device with the largest load in the pass runs a part in
 * it.  A device without nodes of a pass has a load in that pass only if it sends or receives a tensor of the pass.  So
 * a pass is sure if all pins of its nets are vertices with nodes of the pass.  Passes are bits: 1 forward, 2 backward.
 * g has passes (g->back). */
static uint32_t sure_passes(const struct wdag *g)
{
    uint32_t used = 0, sure = 3;
    for (uint32_t v = 0; v < g->n; v++)
        used |= g->pass[v];
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t pass = g->net_back[e] ? 2 : 1;
        for_row (pin, g->net_pin, e)
            sure &= g->pass[pin] & pass ? 3 : ~pass;
    }
    sure &= used;
    return (sure & 1) + (sure >> 1); /* the number of bits set */
}

int64_t claim_start(const struct ctx *x, const struct wdag *g)
{
    const struct exec_model *e = &x->scene.model;
    bool pass_loads = exec_apart(e) && g->back;
    /* transfers that overlap computing may hide the cost of parts, and copies share it */
    if (e->overlap != OVERLAP_SUM || e->replicate || !g->n)
        return 0;
    return e->part_cost ? sat_mul(e->part_cost, pass_loads ? sure_passes(g) : wdag_passes(g)) : 0;
}

int64_t claim_value(struct ctx *x, const struct problem_plan *p, const int32_t *dev)
{
    if (!x->scene.model.part_cost)
        return p->value;
    const struct plan plan = {.dev = (int32_t *)dev, .copies = p->copies};
    /* only the time is asked for, so the judge need not find out what devices need at one time */
    struct scene timed = x->scene;
    timed.model.memory = MEMORY_SUM;
    return plan_evaluate(&timed, &plan, x->use.scratch).value;
}

/* Whether some calls of functions are single nodes of the base level although they could be opened.  If so, a proof
 * about all plans of the base level is only about plans that keep each such call on one device. */
static bool has_whole_calls(const struct ctx *x)
{
    for (uint32_t v = 0; !x->results.looked_inside && v < x->levels.base->n; v++)
        if (x->scene.m->node[x->levels.base->node[v]].callee != 0)
            return true;
    return false;
}

enum plan_scope claim_scope(const struct ctx *x, bool contiguous, bool fused)
{
    if (fused)
        return contiguous ? SCOPE_CONTIGUOUS_FUSED : SCOPE_FUSED;
    if (mandatory_level(x) != any_shape_level(x) || has_whole_calls(x))
        return contiguous ? SCOPE_CONTIGUOUS_LAYERS : SCOPE_LAYERS;
    return contiguous ? SCOPE_CONTIGUOUS : SCOPE_ALL;
}

const char *claim_plans(const struct ctx *x, const char *kind)
{
    enum plan_scope scope = claim_scope(x, /*contiguous=*/false, /*fused=*/false);
    return scope == SCOPE_ALL ? kind : arena_fmt(x->use.mem, "%s%s", kind, plan_among(scope));
}

struct bound_means bounding_of(struct ctx *x, uint64_t work, struct clock *clock)
{
    return (struct bound_means){.work = work,
                                .clock = clock,
                                .m = x->scene.m,
                                .mem = x->use.mem,
                                .scratch = x->use.scratch};
}

int64_t claim_bound_all(const struct ctx *x, struct bound all)
{
    return has_whole_calls(x) ? -1 : all.value;
}

const char *claim_make(struct ctx *x, enum plan_scope scope, struct bound within, struct bound all)
{
    assert(x->results.plan && x->results.plan->claim.value >= 0);
    struct plan *p = x->results.plan;
    bool contiguous = scope == SCOPE_CONTIGUOUS || scope == SCOPE_CONTIGUOUS_LAYERS ||
                      scope == SCOPE_CONTIGUOUS_FUSED;
    /* what parts cost at least is added to both bounds; below 0: there is no bound */
    int64_t start_all = claim_start(x, mandatory_level(x));
    int64_t start_within = claim_start(x, contiguous ? contiguous_level(x) : any_shape_level(x));
    all.value += all.value < 0 ? 0 : start_all;
    within.value += within.value < 0 ? 0 : start_within;
    const struct bound *chosen = all.value >= within.value ? &all : &within;
    int64_t start = chosen == &all ? start_all : start_within;
    char text[UNIT_TEXT];
    p->claim.scope = chosen != &all ? scope : has_whole_calls(x) ? SCOPE_LAYERS : SCOPE_ALL;
    p->claim.bound = chosen->value;
    p->claim.bound_all = p->claim.scope == SCOPE_ALL ? p->claim.bound : claim_bound_all(x, all);
    assert(p->claim.bound_all <= p->claim.bound);
    p->claim.proof = chosen->proof;
    if (start && p->claim.proof)
        p->claim.proof =
            arena_fmt(x->use.mem, "%sand each device in use runs parts for %s at least\n",
                      p->claim.proof, time_short(text, start));
    p->claim.status = p->claim.bound >= p->claim.value ? PLAN_OPTIMAL : PLAN_FEASIBLE;
    return chosen->why;
}

const char *claim_less_parts(const struct plan *p)
{
    return p->claim.status == PLAN_OPTIMAL ? "" : " without what parts cost";
}

struct bound claim_run(struct ctx *x, const struct scene *by)
{
    struct claim *c = &x->results.plan->claim;
    struct exec_bound b = exec_kind(&by->model)->runs->bound(by, x->use.mem);
    c->scope = has_whole_calls(x) ? SCOPE_LAYERS : SCOPE_ALL;
    c->bound = b.value;
    c->bound_all = c->scope == SCOPE_ALL ? c->bound : -1;
    c->status = c->bound >= c->value ? PLAN_OPTIMAL : PLAN_FEASIBLE;
    c->proof = b.proof;
    return (struct bound){.value = b.value, .why = b.why};
}
