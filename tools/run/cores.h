/* The processors that a program may use. */
#ifndef PCC_TOOLS_RUN_CORES_H
#define PCC_TOOLS_RUN_CORES_H

#include "ir/base/diag.h"

#include <sched.h>
#include <stdint.h>

/* Pins this process to a list of processors, "0-3" or "0,2".  Returns 0, or -1 and an error: no such list, a processor
 * twice, or one that this process does not have. */
int cores_use(const char *list, struct diag *d);
/* Reads such a list into *want, without pinning.  Returns 0, or -1 and the same errors. */
int cores_read(const char *list, cpu_set_t *want, struct diag *d);
/* Returns how many processors a list that cores_use() takes has; 0 for NULL. */
int64_t cores_count(const char *list);
/* Has this thread, and threads that it makes, run on group k of n processors of a list that cores_use() has taken; on
 * all of the list if it has no such group. */
void cores_take(const char *list, uint32_t k, uint32_t n);

#endif
