/* Better plans near a given one. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_NEAR_H
#define PCC_PASSES_CONTIGUOUS_DP_NEAR_H

#include "passes/problem/problem.h"

struct near_run {
    uint64_t seed;
    uint32_t tried; /* neighbourhoods so far; 0 at first */
    uint32_t width; /* vertices that are free on each side of a cut; 0 at first */
    /* ps: only plans that are better than the best by more than this are sought; 0 at first */
    int64_t better;
    uint64_t spent; /* steps */
};

/* Searches one neighbourhood of *best, a contiguous plan of c, for at most about `steps` steps. True if the plan
 * improved. */
bool near_next(const struct problem *c, struct near_run *r, uint64_t steps,
               struct problem_plan *best, struct arena *scratch, struct diag *d);

#endif
