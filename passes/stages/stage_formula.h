/* Computes the time of an iteration by DAPPLE's formula, without running it. */
#ifndef PCC_PASSES_STAGES_STAGE_FORMULA_H
#define PCC_PASSES_STAGES_STAGE_FORMULA_H

#include <stdbool.h>
#include <stdint.h>

/* The most ps that each field of a formula_stage may have, so that sums do not overflow. */
#define FORMULA_MOST (INT64_C(1) << 50)

/* One element of a row in which stages that compute and links between them take turns: elements 0, 2, 4, ... are
 * stages, elements 1, 3, ... links; there are 2 * stages - 1 elements.  All in ps. */
struct formula_stage {
    int64_t forward, backward; /* for one micro-batch; of a link: to the next stage, and back */
    int64_t reduce;            /* ps of the AllReduce, once an iteration; 0 for a link */
};

/* The time of an iteration, in ps: latency is the sum of the three phases.  pivot: index of the element that no other
 * element holds up (stage_formula.c). */
struct formula {
    uint32_t pivot;
    int64_t warm_up, steady, ending, latency;
};

/* Returns the time of an iteration of `micro_batches` micro-batches through the n elements s[], by DAPPLE's formula.
 * literal: by the formula as printed in the paper, which leaves out the pivot's own last backward pass and subtracts
 * too much for elements behind the pivot.  O(n). */
struct formula stage_formula(const struct formula_stage *s, uint32_t n, uint32_t micro_batches,
                             bool literal);

#endif
