/* Whether a planner knows all that a problem asks for. */
#ifndef PCC_PASSES_PLANNER_H
#define PCC_PASSES_PLANNER_H

#include "passes/passes.h"

/* FEATURE_*: what plans of x have to reckon with.  x->levels.base must be there, and after contract has run. */
uint32_t features_wanted(const struct ctx *x);
/* Whether p plans for an execution model. */
bool planner_aims_at(const struct planner *p, const struct exec_kind *goal);
/* Who makes the plan where p is asked for it: p, or who is run in its place. */
const struct planner *planner_for(const struct planner *p, const struct exec_model *m);
/* 0, or -1 and the one error that refuses: what p does not know, and which planners of the table (NULL: of all)
 * know all that is wanted. */
int planner_check(const struct planner *p, const struct ctx *x, const struct planner *const *table);

#endif
