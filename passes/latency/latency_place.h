/* latency-place, for planners that start from a plan of latency-place. */
#ifndef PCC_PASSES_LATENCY_LATENCY_PLACE_H
#define PCC_PASSES_LATENCY_LATENCY_PLACE_H

#include "passes/passes.h"

struct latency_options {
    int64_t q;          /* subgraphs that an accelerator may have */
    int64_t max_states; /* partial plans that a search may keep */
    int64_t moves;      /* moves of annealing; 0: the usual number */
    int64_t seed;
};

/* Leaves a plan as planners do: 0, -1, or PASS_INFEASIBLE.  options: struct latency_options. */
int latency_place(struct ctx *x, const void *options);

#endif
