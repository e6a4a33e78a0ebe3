/* Functions of struct exec_shows (backends.h) for the latency.  r->verdict->run must be the struct latency_run of the
 * plan. */
#ifndef PCC_TOOLS_LIB_EXEC_LATENCY_LATENCY_SHOWN_H
#define PCC_TOOLS_LIB_EXEC_LATENCY_LATENCY_SHOWN_H

#include "backends/timeline/chart.h"
#include "ir/exec/latency/latency_verdict.h"

/* exec_shows.report: prints the tables of plan_print_tables(), the settings, the latency with an unlimited number of
 * CPUs if that is another figure, the critical chain from time 0 to the end, and the latency of the parts.
 * O(subgraphs), beside running the plan's parts. */
void latency_report(FILE *f, const struct result *r, struct arena *a);
/* exec_shows.shape: returns "contiguous subgraphs" if each accelerator runs one subgraph (or the plan has slots),
 * else text on how many accelerators are cut into how many subgraphs.  Lives in a.  O(subgraphs). */
const char *latency_shape(const struct result *r, struct arena *a);
/* exec_shows.chart: fills *c, which lives in a and points into r, with a bar for each subgraph of an accelerator and
 * each node of a host.  Arrows lead along the critical chain.  samples and most are not used.  Returns 0.  O(n log
 * n) for n bars. */
int chart_of_latency(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                     struct arena *a);
/* exec_shows.cut: makes a part of each subgraph of an accelerator, and parts of the nodes of hosts, which it puts on
 * the CPUs that have run them (r->plan becomes a copy). */
void latency_cut(struct result *r, enum parts_cut how, struct arena *a);

#endif
