/* Prints the report's lines about sharding. */
#ifndef PCC_BACKENDS_REPORT_SHARDING_H
#define PCC_BACKENDS_REPORT_SHARDING_H

#include "backends/backends.h"

/* Prints how many nodes are in pieces, which tensors are exchanged, the time in lock step with its bounds, the memory,
 * and the axes that could not be cut; nothing if the model is not sharded.  Takes memory from a. */
void report_sharding(FILE *f, const struct result *r, struct arena *a);

#endif
