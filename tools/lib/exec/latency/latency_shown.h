/* Reports of the latency of one sample by subgraphs; the verdict of the result must have run the latency. */
#ifndef PCC_TOOLS_LIB_EXEC_LATENCY_LATENCY_SHOWN_H
#define PCC_TOOLS_LIB_EXEC_LATENCY_LATENCY_SHOWN_H

#include "backends/timeline/chart.h"
#include "ir/exec/latency/latency_verdict.h"

/* The usual tables; what the latency rests on; what it would be with CPUs without end, if that is another figure; the
 * critical chain, subgraph by subgraph, from time 0 on; the latency of the parts.  O(subgraphs), and the runs. */
void latency_report(FILE *f, const struct result *r, struct arena *a);
/* The shape of the plan as it runs: "contiguous subgraphs", or into how many an accelerator's nodes had to be cut.
 * Lives in a.  O(subgraphs). */
const char *latency_shape(const struct result *r, struct arena *a);
/* The subgraphs, and the nodes of hosts.  Arrows lead along the critical chain.  Lives in a and as long as r.
 * O(n log n) for n of them. */
int chart_of_latency(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                     struct arena *a);
/* exec_shows.cut: a part for each subgraph, and hosts' nodes where they ran. */
void latency_cut(struct result *r, bool fine, struct arena *a);

#endif
