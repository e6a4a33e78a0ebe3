/* Chooses the size of micro-batches and the schedule of training together with the stages. */
#ifndef PCC_PASSES_STAGES_PIPELINE_SEARCH_H
#define PCC_PASSES_STAGES_PIPELINE_SEARCH_H

#include "passes/stages/dapple_plans.h"

/* What is chosen, and how plans are searched for. */
struct pipeline_search {
    bool schedule;             /* choose the schedule, unless the user has set it */
    bool size;                 /* choose the size of micro-batches, unless the user has set it */
    struct dapple_rules rules; /* literal, beam, most and work of DAPPLE's search; 0: as usual */
};

/* Finds the best plan of all sizes and schedules, and makes it the result of t's planner, with notes on the best of
 * each size and schedule.  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
int pipeline_search(struct train *t, const struct pipeline_search *of);

#endif
