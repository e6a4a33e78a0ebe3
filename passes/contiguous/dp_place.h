/* dp-place: the search for the best contiguous plan, with a proof. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_PLACE_H
#define PCC_PASSES_CONTIGUOUS_DP_PLACE_H

#include "passes/problem/placing.h"

/* Searches for the best contiguous plan and writes it to x->results.plan with its claim (value, bound, status and
 * argument).  Raises p->problem->lower to the best lower bound of contiguous plans found, and sets p->all.  Returns
 * false, without a diagnostic, if no plan was found. */
bool dp_place(struct ctx *x, struct planner_input *p, const struct place_options *o);

extern const struct planner planner_dp_place;

#endif
