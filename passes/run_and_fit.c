/* Plans that fit what devices have at one time (run_and_fit.h).
 *
 * Planners count the bytes that last on a device, such as weights, exactly; what a device holds at one time they count
 * only as far as it follows from the set of its nodes; the judge counts all of it.  So a planner's bound holds for all
 * plans that fit, but its plan may need more than the judge allows, because values wait some rounds for their reader,
 * or because a device has several parts.  Then all plans of a small model are looked at.  For a larger model plans of
 * orders that are cut anew, and plans near these, are tried (contiguous/refit.h).  If none fits, or the planner plans
 * something else, it runs again, and the memory of each device that lacked some is lowered by what it lacked, until a
 * plan fits; where no plan does, the cuts of a contiguous plan are moved (contiguous/shift_cuts.h).  Cost: that of
 * refit.h, ROUNDS more runs of the planner, and SHIFT_LOOKS looks, at most. */
#include "passes/run_and_fit.h"

#include "ir/base/units.h"
#include "ir/exec/evaluate.h"
#include "ir/exec/exec_runs.h"
#include "passes/bounds/bounds.h"
#include "passes/contiguous/refit.h"
#include "passes/contiguous/shift_cuts.h"
#include "passes/problem/placing.h"

#include <string.h>

enum { ROUNDS = 8 }; /* most further runs of the planner */

/* Whether the bounds of a claim are about contiguous plans only. */
static bool is_contiguous(const struct claim *c)
{
    return c->scope == SCOPE_CONTIGUOUS || c->scope == SCOPE_CONTIGUOUS_LAYERS ||
           c->scope == SCOPE_CONTIGUOUS_FUSED;
}

/* Looks at all plans of a small level.  If p makes only contiguous plans, or the bounds of `first` are about these,
 * looks at contiguous plans; if none fits, and p makes plans of any shape, looks at these, too.  Otherwise looks at
 * plans of any shape at once.  Returns whether a plan fits. */
static bool look_at_small(const struct planner *p, struct ctx *x, const struct claim *first,
                          struct clock *clock)
{
    bool chain = p->fit == FIT_CONTIGUOUS || is_contiguous(first);
    return look_at_all(x, chain, clock) ||
           (chain && p->fit == FIT_ANY_SHAPE && look_at_all(x, /*chain=*/false, clock));
}

/* Runs p again, at most ROUNDS times, until its plan fits.  Each run has less memory than the one before, by what the
 * last plan lacked; after a run without a plan, the memory goes half the way back to the last run that had a plan.
 * Returns whether a plan fits.  *why: what the last plan lacked. */
static bool try_less(const struct planner_again *p, struct ctx *x, struct clock *clock,
                     const char **why)
{
    /* [class] bytes by which memories are lowered: in the next run, and in the last run that found a plan */
    int64_t lacks[CLUSTER_CLASSES] = {0}, was[CLUSTER_CLASSES] = {0};
    bool fits = !find_lacks(x, lacks, why);
    for (uint32_t i = 0; !fits && i < ROUNDS && !clock_out(clock); i++) {
        struct plan *last = x->results.plan;
        int rc = run_with_less(x, lacks, p, clock);
        /* p found no plan: tries the mean of the memories of this run and of the last run that had a plan */
        if (rc) {
            x->results.plan = last;
            for (uint32_t k = 0; k < CLUSTER_CLASSES; k++)
                lacks[k] = was[k] + (lacks[k] - was[k]) / 2;
            continue;
        }
        memcpy(was, lacks, sizeof was);
        fits = !find_lacks(x, lacks, why);
    }
    return fits;
}

/* Moves the cuts of the last plan of x, then those of the plan `first`, until one fits; returns whether one does. */
static bool shift_last(struct ctx *x, struct plan *first, struct clock *clock)
{
    struct plan *last = x->results.plan;
    if (last != first && shift_cuts(x, clock))
        return true;
    x->results.plan = first;
    bool fits = shift_cuts(x, clock);
    x->results.plan = fits ? x->results.plan : last;
    return fits;
}

/* Improves the plan of x, if it can, and gives the plan a claim with a bound.  Planner p has met this plan, which fits,
 * while it searched for the least sufficient memory, and has claimed nothing of it. */
static void finish_met(const struct planner *p, struct ctx *x, struct clock *clock)
{
    const struct exec_runs *runner = exec_kind(&x->scene.model)->runs;
    x->results.plan->planner = p->pass.name;
    if (p->fit != FIT_NOTHING && !look_at_all(x, /*chain=*/true, clock))
        shift_cuts(x, clock);
    struct claim *c = &x->results.plan->claim;
    struct bound all =
        runner->bound ? claim_run(x, &x->scene)
                      : bounds_all(x, c->value_less_parts, /*must_fit=*/true, BOUNDS_WORK, clock);
    const char *why = runner->bound ? all.why : claim_make(x, SCOPE_ALL, all, all);
    c->argument = arena_fmt(x->use.mem, "a plan that fits as it runs; bound: %s", why);
}

/* Makes a plan of p fit, where p makes contiguous plans or plans of any shape: by fit_contiguous() and, without groups
 * of devices, by try_less().  Other planners run again (try_less).  Returns whether a plan fits.  *why: what the last
 * plan lacked. */
static bool fit_plan(const struct planner *p, const void *opts, struct ctx *x, struct clock *clock,
                     const char **why)
{
    const struct planner_again again = {p->pass.run, opts};
    bool chain = p->fit == FIT_CONTIGUOUS || p->fit == FIT_ANY_SHAPE;
    if (chain && cluster_grouped(x->scene.cluster))
        return fit_contiguous(x, &again, clock);
    return (chain && fit_contiguous(x, /*again=*/NULL, clock)) || try_less(&again, x, clock, why);
}

int run_and_fit(const struct planner *p, const void *opts, struct ctx *x)
{
    const struct plan *before = x->results.plan;
    int64_t lacks[CLUSTER_CLASSES] = {0};
    struct clock clock = ctx_clock(x);
    const char *why = NULL;
    int rc = p->pass.run(x, opts);
    /* leaves alone: that there is no plan; the user's own plan; a plan whose memory all lasts, so that p counted it; a
     * plan of which p says that it needs too much */
    if (rc || p->given || x->results.plan == before || !exec_live_parts(&x->scene.model) ||
        x->results.plan->claim.status == PLAN_OVER_MEMORY)
        return rc;
    if (!x->results.plan->planner) /* the plan has no claim yet */
        finish_met(p, x, &clock);
    if (!find_lacks(x, lacks, &why))
        return 0;
    struct plan *made = x->results.plan;
    const struct claim first = made->claim;
    if (p->fit != FIT_NOTHING &&
        (look_at_small(p, x, &first, &clock) || fit_plan(p, opts, x, &clock, &why) ||
         shift_last(x, made, &clock))) {
        keep_bounds(x, &first);
        return 0;
    }
    diag_error(x->use.diag, "%s: no plan was found that fits the memory of the devices%s: %s%s",
               p->pass.name, p->fit == FIT_NOTHING ? "" : " (not proven)", why,
               placing_fewer_samples(x, x->results.plan));
    return PASS_INFEASIBLE;
}
