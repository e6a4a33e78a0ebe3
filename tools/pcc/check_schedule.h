/* --check-schedule: checks the schedule (ir/plan/schedule.h) in a split folder. */
#ifndef PCC_TOOLS_CHECK_SCHEDULE_H
#define PCC_TOOLS_CHECK_SCHEDULE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

#include <stdio.h>

/* Reads manifest.json and schedule.json of a split folder, checks that the schedule works for `samples` samples in
 * flight and prints to f what was proved.  samples == 0: takes the number in the file, and checks the file's
 * figures, too.  Returns 0; or reports an error and returns -1. */
int check_schedule(const char *folder, uint32_t samples, FILE *f, struct arena *a, struct diag *d);

#endif
