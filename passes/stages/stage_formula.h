/* DAPPLE's formula for the time of an iteration, without running it. */
#ifndef PCC_PASSES_STAGES_STAGE_FORMULA_H
#define PCC_PASSES_STAGES_STAGE_FORMULA_H

#include <stdbool.h>
#include <stdint.h>

#define FORMULA_MOST                                                                               \
    (INT64_C(1) << 50) /* ps that each figure of a stage has at most, so that sums are no concern */

/* Stages of computing and of moving in turn: 2 * stages - 1 of them, even ones compute; ps for a micro-batch. */
struct formula_stage {
    int64_t forward, backward;
    int64_t reduce; /* once an iteration */
};

struct formula {
    uint32_t pivot;
    int64_t warm_up, steady, ending, latency; /* ps */
};

/* The latency of so many micro-batches through n stages.  literal: by the formula as printed, which leaves out the
 * pivot's own last backward pass and counts too much behind it.  O(n). */
struct formula stage_formula(const struct formula_stage *s, uint32_t n, uint32_t micro_batches,
                             bool literal);

#endif
