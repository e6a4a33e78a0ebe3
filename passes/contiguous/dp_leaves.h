/* Plans and bounds for stages with copies from the graph without its idle leaves. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_LEAVES_H
#define PCC_PASSES_CONTIGUOUS_DP_LEAVES_H

#include "passes/contiguous/dp_race.h"

/* Improves *best, a plan of r->c, and raises the bound of r->c by a race on its graph without idle leaves
 * (dp_leaves.c). Does nothing where stages have no copies, where there are no idle leaves or too many ideals, or where
 * transfers in and out overlap.  O(V + E + pins), and the race. */
void dp_without_leaves(const struct dp_race *r, struct problem_plan *best);

#endif
