/* Runs a planner, and runs it again with less memory if its plan needs more at one time than the devices have. */
#ifndef PCC_PASSES_RUN_AND_FIT_H
#define PCC_PASSES_RUN_AND_FIT_H

#include "passes/passes.h"

/* Runs p with its options.  Where devices need memory for what they hold at one time (exec_live_parts()) and the plan
 * does not fit, runs p again with less memory for the devices' lasting bytes, a few times; the plan then keeps the
 * bounds of the first run, which hold for all memory that the devices have.  Returns what p returns; or PASS_INFEASIBLE
 * and reports an error if no run finds a plan that fits. */
int run_and_fit(const struct planner *p, const void *opts, struct ctx *x);

#endif
