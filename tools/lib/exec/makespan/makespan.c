/* The execution model of the makespan: the time in which one sample alone passes through a plan, node by node
 * (ir/exec/makespan/step.md). */
#include "ir/exec/makespan/step_rhythm.h"
#include "passes/passes.h"
#include "tools/lib/exec/makespan/step_shown.h"
#include "tools/lib/exec/replay.h"

const struct exec_kind exec_makespan = {
    .name = "makespan",
    .text = "makespan",
    .unit = "of makespan",
    .feed = FEED_ALONE,
    .about = ABOUT_STEP,
    .runs = &(const struct exec_runs){.verdict = step_verdict,
                                      .bound = makespan_bound,
                                      .rhythm = rhythm_of_step},
    .shows = &(const struct exec_shows){.cut = step_cut,
                                        .gain = plan_print_gain,
                                        .report = step_report,
                                        .shape = plan_shape,
                                        .replay = replay_rounds,
                                        .chart = chart_of_step},
    .plans = &(const struct exec_plans){.pipeline = "open-functions,fuse,portfolio-place",
                                        .useless = FEATURE_LEVELS}};
