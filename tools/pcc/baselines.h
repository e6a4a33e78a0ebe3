/* --baselines: compares the run's plan with plans that simple planners make for the same model and cluster. */
#ifndef PCC_TOOLS_BASELINES_H
#define PCC_TOOLS_BASELINES_H

#include "backends/backends.h"
#include "passes/passes.h"

/* Runs simple planners on the contracted graph of x and prints a table with the plan of r and theirs, all by the
 * judge's figures: value, value divided by that of r, whether the plan fits the memory and is contiguous, number of
 * parts, seconds of the planner.  The row of a planner without a plan has the reason.  x keeps its plan and levels.
 * Returns 0; or reports an error and returns -1, if no planner has run before or the judge contradicts a planner's
 * claim. */
int baselines_print(FILE *f, struct ctx *x, const struct result *r);

#endif
