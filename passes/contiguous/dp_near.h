/* Better plans near a given one. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_NEAR_H
#define PCC_PASSES_CONTIGUOUS_DP_NEAR_H

#include "passes/problem/problem.h"

struct near_run {
    uint64_t seed;
    uint32_t tried; /* neighbourhoods so far; 0 at first */
    uint32_t width; /* vertices that are free on each side of a cut; 0 at first */
    int64_t better; /* so much better than the best plan is sought at once; 0 at first */
    uint64_t spent; /* steps */
};

/* Searches one neighbourhood of *best, which is a plan for the vertices of c, in at most about so many steps.
 * True if the plan improved. */
bool near_next(const struct problem *c, struct near_run *r, uint64_t steps,
               struct problem_plan *best, struct arena *scratch, struct diag *d);

#endif
