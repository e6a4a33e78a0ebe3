/* The processors that a program may use. */
#ifndef PCC_TOOLS_RUN_CORES_H
#define PCC_TOOLS_RUN_CORES_H

#include "ir/base/diag.h"

#include <sched.h>
#include <stdint.h>

/* Pins this process to a list of processors, "0-3" or "0,2".  Returns 0, or -1 and an error: no such list, a processor
 * twice, or one that this process does not have. */
int cores_use(const char *list, struct diag *d);
/* Reads a list of processors into *want, without pinning.  Returns 0, or -1 and the errors of cores_use(). */
int cores_read(const char *list, cpu_set_t *want, struct diag *d);
/* Returns the number of processors in a list that cores_use() has accepted; 0 for NULL. */
int64_t cores_count(const char *list);
/* Pins this thread, and threads that it makes from now on, to group number k = 0, 1, ... of a list that cores_use() has
 * accepted: its processors k * n to (k + 1) * n - 1, in the order of the list.  If the list has no such group, or n is
 * 0, pins to the whole list. */
void cores_take(const char *list, uint32_t k, uint32_t n);

#endif
