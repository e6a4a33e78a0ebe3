/* --baselines: plans of simple planners for the same model and cluster, as a table. */
#ifndef PCC_TOOLS_BASELINES_H
#define PCC_TOOLS_BASELINES_H

#include "backends/backends.h"
#include "passes/passes.h"

/* Runs the baselines of passes/ on the whole graph of x and prints a row for the plan of r and one for each of
 * them, all judged: time per sample, that over the plan's, whether it fits the memory, is contiguous, how many
 * parts it has, seconds.  A baseline that gives no plan is a line that says why.  x keeps its plan and
 * levels.  0, or -1 if there is no whole graph (no planner ran) or a baseline's claim is not the judge's. */
int baselines_print(FILE *f, struct ctx *x, const struct result *r);

#endif
