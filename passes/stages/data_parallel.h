/* Finds the best plan of a single stage on all devices (data parallelism). */
#ifndef PCC_PASSES_STAGES_DATA_PARALLEL_H
#define PCC_PASSES_STAGES_DATA_PARALLEL_H

#include "passes/stages/train.h"

/* Returns the best plan of one stage on all devices, in as few micro-batches as memory allows, or in the user's; leaves
 * the settings of that plan in the scene.  Lives in t's scratch arena.  O(divisors of the batch) runs. */
struct stage_layout data_parallel_best(struct train *t);

#endif
