/* The execution model of the time per sample: many samples go through the parts one after the other, and in each
 * round every device works on another sample (placement paper, 5.2).  A transfer counts as load of its device, over
 * the device's own link, so links between two devices (FEATURE_ROUTES) are of no use. */
#include "ir/exec/sample/rounds_rhythm.h"
#include "ir/exec/sample/sample_memory.h"
#include "passes/passes.h"
#include "tools/lib/exec/replay.h"
#include "tools/lib/exec/sample/rounds_shown.h"

const struct exec_kind exec_sample = {
    EXEC_USUAL,
    .feed = FEED_STEADY,
    .about = ABOUT_ROUNDS,
    .runs = &(const struct exec_runs){.verdict = sample_verdict, .rhythm = rhythm_of_rounds},
    .shows = &(const struct exec_shows){.gain = plan_print_gain,
                                        .report = plan_print_tables,
                                        .shape = plan_shape,
                                        .replay = replay_rounds,
                                        .chart = chart_of_rounds},
    .plans = &(const struct exec_plans){.pipeline = "open-functions,fuse,auto-place",
                                        .grouped = "open-functions,fuse,hier-place",
                                        .useless = FEATURE_ROUTES | FEATURE_LEVELS},
};
