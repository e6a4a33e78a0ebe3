/* The planner latency-place as a function, for other planners that start from its plan. */
#ifndef PCC_PASSES_LATENCY_LATENCY_PLACE_H
#define PCC_PASSES_LATENCY_LATENCY_PLACE_H

#include "passes/passes.h"

struct latency_options {
    int64_t q;          /* most subgraphs that an accelerator may run, one after the other */
    int64_t max_states; /* most partial plans that a search may keep; 0: no search */
    int64_t moves;      /* moves of annealing if no search ends; 0: the usual number */
    int64_t seed;       /* seed of the random choices */
};

/* Makes a plan, x->results.plan.  options: a struct latency_options.  Returns 0; -1 after reporting an error; or
 * PASS_INFEASIBLE. */
int latency_place(struct ctx *x, const void *options);

#endif
