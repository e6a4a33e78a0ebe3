/* dpl-place: interval DP over many topological orders ("DPL" of the placement paper, 5.1.2).
 *
 * The search itself is in interval_dp.c.  It runs on the top level; on a fused one, also on the
 * whole graph, and the better plan stays.  O(starts) sweeps. */
#include "passes/place_run.h"

struct dpl_options {
    int64_t starts, seed;
};

static const struct opt dpl_opts[] = {{.kind = OPT_INT,
                                       .name = "starts",
                                       .off = offsetof(struct dpl_options, starts),
                                       .def = "60",
                                       .lo = "1",
                                       .hi = "1000000",
                                       .help = "topological orders to try"},
                                      {.kind = OPT_INT,
                                       .name = "seed",
                                       .off = offsetof(struct dpl_options, seed),
                                       .def = "1",
                                       .lo = "0",
                                       .hi = "1000000000",
                                       .help = "seed of the orders"},
                                      {0}};

static int dpl_run(struct ctx *x, const void *options)
{
    const struct dpl_options *o = options;
    if (ctx_base(x))
        return -1;
    struct wdag *whole = whole_level(x), *level = x->top;
    struct chain_clock clock = planner_clock(x);
    struct interval_run run = {
        .starts = (uint32_t)o->starts, .seed = (uint64_t)o->seed, .clock = &clock};
    struct chain *c = chain_build(whole, x->cluster, -1, x->scratch, x->diag), *top = c;
    if (c && level != whole)
        top = chain_build(level, x->cluster, -1, x->scratch, x->diag);
    if (!c || !top)
        return -1;
    struct chain_plan best = no_plan(x, level), wide = no_plan(x, whole);
    interval_search(top, &run, &best, x->scratch);
    if (level != whole) {
        wide.value = best.value;
        if (interval_search(c, &run, &wide, x->scratch)) {
            best = wide;
            level = whole;
        }
    }
    if (best.value == CHAIN_INF)
        return report_infeasible(x, whole, false, &run);
    leave_plan(x, "dpl-place", level, &best);
    x->plan->bound = c->lower;
    if (best.value <= c->lower) {
        x->plan->status = PLAN_OPTIMAL;
        x->plan->argument = arena_fmt(x->mem, "no plan is better than the %s", c->lower_why);
    } else {
        x->plan->argument = arena_fmt(x->mem, "best of %u topological orders%s%s", run.tried,
                                      clock.why ? ", " : "", clock.why ? clock.why : "");
    }
    return 0;
}

const struct pass pass_dpl_place = {
    .name = "dpl-place",
    .help = "contiguous split by interval DP over many topological orders",
    .opts = dpl_opts,
    .optsize = sizeof(struct dpl_options),
    .needs = NEED_COST | NEED_CONTRACT,
    .run = dpl_run};
