/* The execution model of the latency: the time in which one sample alone passes through a plan whose accelerators run
 * whole subgraphs (ir/exec/latency/latency.md).  A subgraph first gets all its inputs from the host's memory, then
 * computes, then gives its results to the host's memory: links between devices and overlap are of no use. */
#include "ir/exec/latency/latency_parts.h"
#include "passes/passes.h"
#include "tools/lib/exec/latency/latency_shown.h"
#include "tools/lib/exec/replay.h"

const struct exec_kind exec_latency = {
    .name = "latency",
    .text = "latency",
    .unit = "of latency",
    .paper = "totalLatency",
    .feed = FEED_ALONE,
    .subgraphs = true,
    .about = ABOUT_SUBGRAPHS,
    .runs = &(const struct exec_runs){.verdict = latency_verdict,
                                      .bound = latency_bound,
                                      .rhythm = rhythm_of_latency},
    .shows = &(const struct exec_shows){.cut = latency_cut,
                                        .gain = plan_print_gain,
                                        .report = latency_report,
                                        .shape = latency_shape,
                                        .replay = replay_rounds,
                                        .chart = chart_of_latency},
    .plans =
        &(const struct exec_plans){.pipeline = "open-functions,latency-place",
                                   .useless = FEATURE_GROUPS | FEATURE_ROUTES | FEATURE_LEVELS |
                                              FEATURE_OVERLAP | FEATURE_GPIPE}};
