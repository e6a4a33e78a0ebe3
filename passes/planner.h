/* Tells whether a planner supports all features of a request, and which planner runs for a request. */
#ifndef PCC_PASSES_PLANNER_H
#define PCC_PASSES_PLANNER_H

#include "passes/passes.h"

/* Returns FEATURE_* bits: the features that the settings, cluster and model of x use.  x->levels.base must exist. */
uint32_t features_wanted(const struct ctx *x);
/* Whether p supports the objective `goal`. */
bool planner_aims_at(const struct planner *p, const struct exec_kind *goal);
/* Returns the planner that runs if the user names p and the objective is m's: p, or exec_plans.instead if p does not
 * support the objective and p.leaves is true. */
const struct planner *planner_for(const struct planner *p, const struct exec_model *m);
/* Checks that p supports the objective and all features of x.  Returns 0; or -1 and reports an error that names the
 * features that p lacks and the planners that support all of them.  table: the planners that may be named, ends with
 * NULL; NULL: all planners. */
int planner_check(const struct planner *p, const struct ctx *x, const struct planner *const *table);

#endif
