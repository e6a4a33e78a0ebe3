/* What the terminal shows of a makespan beside what it shows of any plan. */
#ifndef PCC_BACKENDS_REPORT_STEP_REPORT_H
#define PCC_BACKENDS_REPORT_STEP_REPORT_H

#include "backends/backends.h"

/* "network host, contention port, dispatch plan, memory live; 12 transfers, 3.2 MiB", and the critical chain by name:
 * what the end waited for, from time 0 on.  r->step is there.  O(tasks). */
void step_print(FILE *f, const struct result *r, struct arena *a);

#endif
