/* The best contiguous plan. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_PLACE_H
#define PCC_PASSES_CONTIGUOUS_DP_PLACE_H

#include "passes/problem/placing.h"

/* Leaves the best contiguous plan found in results.plan, with status, bound (of contiguous plans; p->problem->lower is
 * raised to it) and argument.  False, without a diagnostic, if none was found. */
bool dp_place(struct ctx *x, struct planner_input *p, const struct place_options *o);

extern const struct planner planner_dp_place;

#endif
