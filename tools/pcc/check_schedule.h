/* --check-schedule: whether the execution plan of a split folder holds. */
#ifndef PCC_TOOLS_CHECK_SCHEDULE_H
#define PCC_TOOLS_CHECK_SCHEDULE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

#include <stdio.h>

/* Reads manifest.json and schedule.json of the folder, checks them, and prints what holds to f: for so many samples in
 * flight (0: as the file says, and that its figures are right).  0, or -1 and an error. */
int check_schedule(const char *folder, uint32_t samples, FILE *f, struct arena *a, struct diag *d);

#endif
