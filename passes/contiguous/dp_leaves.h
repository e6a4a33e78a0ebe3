/* Plans and bounds for stages with copies from the graph without its idle leaves. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_LEAVES_H
#define PCC_PASSES_CONTIGUOUS_DP_LEAVES_H

#include "passes/contiguous/dp_race.h"

/* Runs the searches of dp_race.h on the graph of r->c without its idle leaves: vertices that take no time on any device
 * and have a single neighbour, other idle leaves not counted (dp_leaves.c).  Raises the bound of r->c to what the
 * searches prove.  Puts the leaves back into the plan that the searches find; if this plan is better than *best, writes
 * it to *best: its arrays are in r->mem, and the old arrays of *best stay as they are.  Does nothing if stages have no
 * copies, if there are no idle leaves or too many ideals, if the user wants some nodes apart, or if transfers in and
 * out overlap.  O(V + E + pins), and the race. */
void dp_without_leaves(const struct dp_race *r, struct problem_plan *best);

#endif
