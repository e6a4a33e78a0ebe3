/* What an iteration of training rests on, for people. */
#ifndef PCC_BACKENDS_REPORT_ITERATION_REPORT_H
#define PCC_BACKENDS_REPORT_ITERATION_REPORT_H

#include "backends/backends.h"

#include <stdio.h>

/* The first line: how much shorter it is than on one device that had room for all. */
void iteration_print_gain(FILE *f, const struct result *r);
/* Batches and schedule, and a line for each stage. */
void iteration_print(FILE *f, const struct result *r, struct arena *a);

#endif
