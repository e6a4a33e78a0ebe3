/* Whether a planner knows all that a problem asks for. */
#ifndef PCC_PASSES_PLANNER_H
#define PCC_PASSES_PLANNER_H

#include "passes/passes.h"

/* FEATURE_*: what plans of x have to reckon with.  x->levels.base must be there, and after contract has run. */
uint32_t features_wanted(const struct ctx *x);
/* Whether p plans for an execution model. */
bool planner_aims_at(const struct planner *p, const struct exec_kind *goal);
/* The planner that runs when p is asked for: p, or p's stand-in. */
const struct planner *planner_for(const struct planner *p, const struct exec_model *m);
/* 0, or -1 and a single error: names the requests that p does not support, and the planners of the table (NULL: of
 * all) that support all requests. */
int planner_check(const struct planner *p, const struct ctx *x, const struct planner *const *table);

#endif
