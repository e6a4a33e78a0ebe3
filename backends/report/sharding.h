/* The report's lines about sharding. */
#ifndef PCC_BACKENDS_REPORT_SHARDING_H
#define PCC_BACKENDS_REPORT_SHARDING_H

#include "backends/backends.h"

/* Prints how many nodes are in pieces, what is exchanged, and the bounds; nothing if the model is not sharded. */
void report_sharding(FILE *f, const struct result *r, struct arena *a);

#endif
