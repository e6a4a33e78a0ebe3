/* What the terminal shows of a latency beside what it shows of any plan. */
#ifndef PCC_BACKENDS_REPORT_LATENCY_REPORT_H
#define PCC_BACKENDS_REPORT_LATENCY_REPORT_H

#include "backends/backends.h"

/* What the latency rests on; what it would be with CPUs without end, if that is another figure; the critical chain,
 * subgraph by subgraph, from time 0 on; the latency of the parts.  r->latency is there.  O(subgraphs), and the runs. */
void latency_print(FILE *f, const struct result *r, struct arena *a);

/* The shape of the plan as it runs, for people: "contiguous subgraphs", or into how many an accelerator's nodes had
 * to be cut.  r->latency is there.  Lives in a.  O(subgraphs). */
const char *latency_shape(const struct result *r, struct arena *a);

#endif
