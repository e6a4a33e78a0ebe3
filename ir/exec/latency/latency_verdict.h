/* The verdict on a plan for one sample by subgraphs: the latency. */
#ifndef PCC_IR_EXEC_LATENCY_VERDICT_H
#define PCC_IR_EXEC_LATENCY_VERDICT_H

#include "ir/exec/exec_runs.h"
#include "ir/exec/latency/latency.h"

/* The verdict of a latency: value, the end of all; of each device compute, transfer and load, the time of its
 * subgraphs.  Hosts of a class are one place: they share their memory (used: of the first of them), nodes that must be
 * together may be on any of them, and which CPU a node is on is what the run says (CPUS_LIST), not the plan.
 * run: a struct latency_run.  Subgraphs that wait for each other make it not runnable, with INT64_MAX for value and the
 * circle in why_not.  Lives in a. */
struct verdict latency_verdict(const struct scene *s, const struct plan *p, struct arena *a);
/* The bound of a latency: step_bound.h, by the path alone where devices may do several things at once. */
struct exec_bound latency_bound(const struct scene *s, struct arena *a);

/* [subgraph] the device that ran it: its own; of a host, where there is a list of CPUs, the first that was free.  Of a
 * run that is done; lives in a.  O(subgraphs log subgraphs + hosts' nodes * CPUs). */
uint32_t *latency_devices(const struct scene *s, const struct latency_run *r, struct arena *a);
/* The plan's devices, hosts' nodes where they ran.  Lives in a. */
int32_t *latency_nodes_ran(const struct scene *s, const struct latency_run *r, struct arena *a);

/* "subgraph 2 of acc0 ('a' and 3 more)", "node 'b' on a host"; lives in a. */
const char *subgraph_text(const struct scene *s, const struct subgraphs *k, uint32_t sub,
                          struct arena *a);

#endif
