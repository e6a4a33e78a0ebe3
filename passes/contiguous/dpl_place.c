/* dpl-place: interval DP over many topological orders ("DPL" of the placement paper, 5.1.2).
 *
 * The search itself is in interval_dp.c.  It runs on the top level and, if that is a coarser level, also on the whole
 * graph; the better plan stays.  Then bounds.c gives a lower bound, which says how far from optimal the plan is at
 * most.  Cost: one run of interval DP for each of `starts` orders, and the work of the bounds. */
#include "passes/bounds/bounds.h"
#include "passes/problem/placing.h"
#include "passes/contiguous/infeasible.h"

/* pass.run: leaves the best plan that interval DP finds.  Returns 0, PASS_INFEASIBLE after an error, or -1 and an
 * error. */
static int dpl_run(struct ctx *x, const void *options)
{
    struct planner_input p;
    if (placing_start(x, options, &p))
        return -1;
    placing_leave_time(p.problem, &p.clock);
    struct wdag *whole = p.whole, *level = p.level;
    struct problem *c = p.problem;
    struct problem_plan best = no_plan(x, level), wide = no_plan(x, whole);
    struct interval_found found = interval_search(p.top, &p.orders, &best, x->use.scratch);
    if (level != whole) {
        wide.value = best.value; /* only better plans of the whole graph count */
        found = interval_search(c, &p.orders, &wide, x->use.scratch);
        if (found.better) {
            best = wide;
            level = whole;
        }
    }
    if (best.value == LOAD_INF)
        return report_infeasible(x, whole, /*exact=*/false, &p.orders);
    leave_plan(x, "dpl-place", level, &best);
    struct bound all = bounds_all(x, best.value, /*must_fit=*/true, BOUNDS_WORK, &p.clock);
    struct bound in = all;
    const struct bound_means with = bounding_of(x, BOUNDS_WORK, &p.clock);
    /* `all` is about mandatory_level(): plans of a coarser level may have a higher bound */
    if (best.value > all.value && whole != mandatory_level(x))
        in = bounds_best(c, best.value, &with, NULL);
    const char *why = claim_make(x, claim_scope(x, /*contiguous=*/true, /*fused=*/false), in, all);
    if (x->results.plan->claim.status == PLAN_OPTIMAL) {
        x->results.plan->claim.argument = arena_fmt(x->use.mem, "no plan%s takes less: %s",
                                                    plan_among(x->results.plan->claim.scope), why);
    } else {
        x->results.plan->claim.argument =
            arena_fmt(x->use.mem, "best of %u topological orders%s%s", found.tried,
                      p.clock.why ? ", " : "", p.clock.why ? p.clock.why : "");
    }
    return 0;
}

const struct planner planner_dpl_place = {
    .pass = {"dpl-place", "contiguous split by interval DP over many topological orders",
             place_opts + PLACE_OPTS_EXACT, sizeof(struct place_options),
             .needs = NEED_COST | NEED_CONTRACT, .run = dpl_run},
    .fit = FIT_CONTIGUOUS,
    .objectives = {"time-per-sample"},
    .features = FEATURE_PINS | FEATURE_PART_COST | FEATURE_OVERLAP | FEATURE_GPIPE |
                FEATURE_COPIES | FEATURE_CUTS};
