/* --compare: compares the run's plan with another plan of the same model. */
#ifndef PCC_TOOLS_COMPARE_H
#define PCC_TOOLS_COMPARE_H

#include "backends/backends.h"
#include "passes/passes.h"

/* Reads the plan in file `from` (plan_read.h), has the judge evaluate it, and prints a table with the run's plan r
 * and that plan.  If the other plan is invalid, warns with the reason and prints its row nevertheless.  Returns 0;
 * or reports an error and returns -1. */
int compare_print(FILE *f, struct ctx *x, const struct result *r, const char *from);

#endif
