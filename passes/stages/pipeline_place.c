/* pipeline-place: chooses stages, devices, size of micro-batches, schedule, warm-up and recomputing of a training
 * iteration together (pipeline_search.c). */
#include "passes/stages/pipeline_search.h"

/* pass.run: leaves the plan of pipeline_search(); the planner has no options.  Returns 0, or -1 or PASS_INFEASIBLE
 * after an error. */
static int pipeline_place_run(struct ctx *x, const void *options)
{
    struct train t;
    (void)options;
    if (train_begin(&t, x, "pipeline-place"))
        return -1;
    return pipeline_search(&t, &(struct pipeline_search){.schedule = true, .size = true});
}

const struct planner planner_pipeline_place = {
    .pass = {"pipeline-place",
             "stages, micro-batches and schedule of training together: the default for an "
             "iteration time",
             .needs = NEED_COST | NEED_CONTRACT, .run = pipeline_place_run},
    .objectives = {"iteration-time"},
    .features = FEATURE_GROUPS | FEATURE_LEVELS | FEATURE_PART_COST};
