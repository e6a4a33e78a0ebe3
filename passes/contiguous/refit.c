/* Plans that fit what devices need at one time (refit.h).
 *
 * All plans of a small model are judged.  For larger models there are searches near good plans: a planner counts what a
 * device needs at one time only as far as it follows from the set of the device's nodes, so its plan may need more than
 * the judge allows, but a plan that fits is near.  Cuts are moved until the judge's count fits, and then until no move
 * makes the plan quicker.  That is tried from several plans: the planner's own one, the best plan that interval DP
 * finds, then the best one with less memory, by what the plan before lacked, and so on, until a plan fits as it is, or
 * a plan that fits takes hardly longer than the first plan, which does not fit.  Where devices stand in groups, which
 * interval DP does not know, the planner itself runs again instead.
 *
 * Cost: at most MOST_LOOKS looks at nodes, or ROUNDS times interval DP with 1 / STEPS_PART of its usual steps (or
 * the planner), and shift_cuts(). */
#include "passes/contiguous/refit.h"

#include "passes/contiguous/interval_dp.h"
#include "passes/contiguous/shift_cuts.h"
#include "passes/problem/memory_need.h"
#include "ir/base/units.h"
#include "ir/exec/evaluate.h"

#include <string.h>

/* A plan takes hardly longer than another one if it takes at most 1 / NEAR longer. */
enum { ROUNDS = 8, ORDERS = 60, STEPS_PART = 4, NEAR = 100 };
enum { MOST_LOOKS = 400000 }; /* most looks at nodes while all plans of a small model are judged */

bool find_lacks(struct ctx *x, int64_t *lacks, const char **why)
{
    const struct cluster *c = x->scene.cluster;
    struct arena_mark mark = arena_mark(x->use.scratch);
    struct evaluation e = plan_evaluate(&x->scene, x->results.plan, x->use.scratch);
    int64_t most[CLUSTER_CLASSES];
    bool any = !e.v.fits && memory_lacking(c, &e.v, most);
    for (uint32_t k = 0; any && k < c->ncls; k++)
        lacks[k] = sat_add(lacks[k], most[k]);
    if (any)
        *why = arena_strdup(x->use.mem, e.v.why_not, strlen(e.v.why_not));
    arena_release(x->use.scratch, mark);
    return any;
}

int run_with_less(struct ctx *x, const int64_t *lacks, const struct planner_again *p,
                  const struct clock *clock)
{
    struct cluster *all = x->scene.cluster, *less = arena_alloc(x->use.mem, sizeof *less);
    struct diag *told = x->use.diag, *quiet = arena_alloc(x->use.mem, sizeof *quiet);
    const struct settings *asked = x->settings;
    struct settings own = *ctx_settings(x);
    *less = *all;
    *quiet = diag_silent();
    for (uint32_t k = 0; k < less->ncls; k++)
        if (lacks[k])
            less->cls[k].memory = larger(less->cls[k].memory - lacks[k], 0);
    if (own.time_limit > 0) /* the rest of the time, in ps */
        own.time_limit = larger(clock_left(clock), 1) * 1000;
    x->scene.cluster = less;
    x->use.diag = quiet;
    x->settings = &own;
    int rc = p->run(x, p->options);
    x->settings = asked;
    x->use.diag = told;
    x->scene.cluster = all;
    return rc;
}

/* Returns whether the plan of x is surely one of the plans that bounds of this scope are about. */
static bool is_within(struct ctx *x, enum plan_scope scope)
{
    struct arena_mark mark = arena_mark(x->use.scratch);
    struct evaluation e = plan_evaluate(&x->scene, x->results.plan, x->use.scratch);
    bool contiguous = e.v.contiguous;
    arena_release(x->use.scratch, mark);
    if (scope == SCOPE_CONTIGUOUS || scope == SCOPE_CONTIGUOUS_LAYERS)
        return contiguous;
    return scope == SCOPE_ALL || scope == SCOPE_LAYERS;
}

void keep_bounds(struct ctx *x, const struct claim *first)
{
    struct claim *c = &x->results.plan->claim;
    int64_t value = c->value, less = c->value_less_parts;
    bool within = is_within(x, first->scope);
    *c = *first;
    c->value = value;
    c->value_less_parts = less;
    c->offer = NULL;
    if (!within) { /* what is left is the bound of all plans */
        c->scope = SCOPE_ALL;
        c->bound = c->bound_all;
        c->proof = NULL;
    }
    c->status = c->bound >= value ? PLAN_OPTIMAL : PLAN_FEASIBLE;
    c->argument =
        "a plan that fits as it runs; the bound is that of a search that counted less memory";
}

/* Returns the number of plans for the vertices of g; 0: looking at them takes more than MOST_LOOKS. */
static uint32_t count_plans(const struct ctx *x, const struct wdag *g)
{
    uint64_t all = 1, most = MOST_LOOKS / (x->levels.base->n + 1);
    for (uint32_t v = 0; v < g->n && all <= most; v++)
        all *= x->scene.cluster->ndev;
    return all <= most ? (uint32_t)all : 0;
}

/* A plan is coded as a number whose digit v, to the base of the number of devices, is the device of vertex v. */
bool look_at_all(struct ctx *x, bool chain, struct clock *clock)
{
    const struct wdag *g = chain ? contiguous_level(x) : any_shape_level(x);
    uint32_t ndev = x->scene.cluster->ndev, all = count_plans(x, g), best = 0;
    int32_t *dev = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *dev);
    int64_t value = INT64_MAX;
    for (uint32_t code = 0; code < all && !clock_out(clock); code++) {
        struct arena_mark mark = arena_mark(x->use.scratch);
        for (uint32_t v = 0, rest = code; v < g->n; v++, rest /= ndev)
            dev[v] = (int32_t)(rest % ndev);
        const struct plan plan = {.dev = plan_project(g, dev, x->scene.m->nnode, x->use.scratch)};
        struct evaluation e = plan_evaluate(&x->scene, &plan, x->use.scratch);
        if (e.value < value && evaluation_holds(&e, /*over_memory=*/false) &&
            (!chain || e.v.contiguous)) {
            value = e.value;
            best = code;
        }
        arena_release(x->use.scratch, mark);
    }
    if (value == INT64_MAX)
        return false;
    for (uint32_t v = 0, rest = best; v < g->n; v++, rest /= ndev)
        dev[v] = (int32_t)(rest % ndev);
    leave_judged(x, x->results.plan->planner, g, dev);
    return true;
}

/* Finds, by interval DP, the best plan that cuts one of ORDERS orders, and makes x have this plan, with a value but
 * without a bound.  options: a struct clock.  For run_with_less().  Returns 0, PASS_INFEASIBLE if there is no such
 * plan, or -1. */
static int cut_orders(struct ctx *x, const void *options)
{
    const struct place_options o = {.starts = ORDERS, .seed = 1};
    struct clock clock = *(const struct clock *)options;
    const char *planner = x->results.plan->planner;
    struct planner_input p;
    if (placing_start(x, &o, &p))
        return -1;
    struct problem_plan best = no_plan(x, p.whole);
    p.orders.clock = &clock;
    p.orders.budget = INTERVAL_BUDGET / STEPS_PART;
    p.orders.phase = NULL;
    if (!interval_search(p.problem, &p.orders, &best, x->use.scratch).better)
        return PASS_INFEASIBLE;
    leave_plan(x, planner, p.whole, &best);
    return 0;
}

/* Sets *found to the plan of x if that takes less than *found, or if *found is NULL. */
static void keep_better(const struct ctx *x, struct plan **found)
{
    struct plan *p = x->results.plan;
    if (!*found || p->claim.value < (*found)->claim.value)
        *found = p;
}

/* Offers to *found (keep_better) the plan of x, if it fits, and the plan that shift_cuts() makes of it, if it makes one
 * that fits.  Adds to lacks[class] what the plan of x lacks.  Returns whether the plan of x fits; x has the same plan
 * afterwards. */
static bool try_plan(struct ctx *x, int64_t *lacks, struct plan **found, struct clock *clock)
{
    struct plan *p = x->results.plan;
    const char *why;
    bool fits = !find_lacks(x, lacks, &why);
    if (fits)
        keep_better(x, found);
    if (shift_cuts(x, clock))
        keep_better(x, found);
    x->results.plan = p;
    return fits;
}

bool fit_contiguous(struct ctx *x, const struct planner_again *again, struct clock *clock)
{
    const struct planner_again orders = {cut_orders, clock};
    struct plan *first = x->results.plan, *found = NULL;
    /* [class] bytes by which memories are lowered: in the next round, and in the last round that found a plan.  In the
     * first round orders are cut with all memory; a planner has had all memory before, and gets less. */
    int64_t lacks[CLUSTER_CLASSES] = {0}, was[CLUSTER_CLASSES] = {0};
    int64_t near = sat_add(first->claim.value, first->claim.value / NEAR);
    if (look_at_all(x, /*chain=*/true, clock)) {
        keep_bounds(x, &first->claim);
        return true;
    }
    bool fits = try_plan(x, again ? lacks : (int64_t[CLUSTER_CLASSES]){0}, &found, clock);
    for (uint32_t i = 0; i < ROUNDS && !fits && !clock_out(clock); i++) {
        if (found && found->claim.value <= near)
            break;
        if (run_with_less(x, lacks, again ? again : &orders, clock) == 0) {
            memcpy(was, lacks, sizeof was);
            fits = try_plan(x, lacks, &found, clock);
        } else { /* no plan: half of what was taken away since the last plan */
            for (uint32_t k = 0; k < CLUSTER_CLASSES; k++)
                lacks[k] = was[k] + (lacks[k] - was[k]) / 2;
            if (memcmp(lacks, was, sizeof was) == 0)
                break; /* the next round would be one that was made already */
        }
        x->results.plan = first;
    }
    x->results.plan = found ? found : first;
    if (found)
        keep_bounds(x, &first->claim);
    return found != NULL;
}
