/* Memory of a part, measured in a process of its own. */
#ifndef PCC_TOOLS_RUN_PART_MEMORY_H
#define PCC_TOOLS_RUN_PART_MEMORY_H

#include "tools/run/measure.h"

/* The argument by which a program calls itself for one part; a file with the request follows. */
#define PART_MEMORY_CALL "--memory-of-part"

/* Measures part k, whose inputs are in m's table, into *out.  Returns 0; 1: its inputs are no plain tensors, or the
 * process cannot be started: nothing is known; -1 after an error: the part fails. */
int part_memory(const struct measuring *m, uint32_t k, struct part_bytes *out);
/* The other side: loads the part of a request, runs it once, and prints what it took.  Returns the exit code. */
int part_memory_answer(const char *request);

#endif
