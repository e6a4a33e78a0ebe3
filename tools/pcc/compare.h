/* --compare: another plan of the same model beside the run's. */
#ifndef PCC_TOOLS_COMPARE_H
#define PCC_TOOLS_COMPARE_H

#include "backends/backends.h"
#include "passes/passes.h"

/* Judges the plan of file `from` (plan_read.h) and prints a table of two rows: the run's plan r, and that
 * one.  A plan that does not hold is shown all the same, with the reason as a warning.  0 or -1. */
int compare_print(FILE *f, struct ctx *x, const struct result *r, const char *from);

#endif
