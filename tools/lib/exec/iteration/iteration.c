/* The execution model of the iteration time: from the start of a training iteration until all its micro-batches are
 * done and the weights are equal again on all devices of each stage (ir/exec/iteration/iteration.md).  PipeDream's
 * schedule has no end: its iteration time is that of the steady state. */
#include "ir/exec/iteration/part_places.h"
#include "passes/passes.h"
#include "tools/lib/exec/iteration/iteration_shown.h"

const struct exec_kind exec_iteration = {
    .name = "iteration-time",
    .text = "iteration time",
    .unit = "per iteration",
    .feed = FEED_MICRO_BATCHES,
    .about = ABOUT_ITERATION,
    .runs = &(const struct exec_runs){.verdict = iteration_verdict,
                                      .bound = iteration_bound,
                                      .rhythm = rhythm_of_iteration},
    .shows = &(const struct exec_shows){.gain = iteration_gain,
                                        .report = iteration_report,
                                        .replay = iteration_replay,
                                        .chart = chart_of_iteration,
                                        .json = iteration_manifest},
    .plans = &(const struct exec_plans){.pipeline = "open-functions,pipeline-place",
                                        .instead = "pipeline-place"}};
