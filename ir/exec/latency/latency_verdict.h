/* The verdict on a plan whose value is the latency: the time of one sample by subgraphs (latency.h). */
#ifndef PCC_IR_EXEC_LATENCY_VERDICT_H
#define PCC_IR_EXEC_LATENCY_VERDICT_H

#include "ir/exec/exec_runs.h"
#include "ir/exec/latency/latency.h"

/* Returns the verdict on a plan.  value: the latency.  load[dev]: compute, transfer and load are times of its
 * subgraphs.  run: a struct latency_run.  The CPUs of a class count as one device: they share their memory (`hosts` has
 * what they need), nodes that must be together may be on any of them, and with CPUS_LIST the run, not the plan, says on
 * which CPU a node is.  If subgraphs wait for each other, the plan is not runnable, its value is INT64_MAX, and why_not
 * names the cycle.  Lives in a. */
struct verdict latency_verdict(const struct scene *s, const struct plan *p, struct arena *a);
/* Returns a lower bound on the latency of all plans of the scene (step_bound.h): only the longest path counts if
 * devices may run several subgraphs or nodes at once.  Its texts live in a. */
struct exec_bound latency_bound(const struct scene *s, struct arena *a);

/* Returns an array: [subgraph] the device that ran it.  That is its own device, but for a node of a host with CPUS_LIST
 * the first CPU of the class that was free.  The run must be done.  Lives in a.  O(subgraphs log subgraphs + hosts'
 * nodes * CPUs). */
uint32_t *latency_devices(const struct scene *s, const struct latency_run *r, struct arena *a);
/* Returns an array: [node] the device that ran it, by latency_devices(); -1: not placed.  Lives in a. */
int32_t *latency_nodes_ran(const struct scene *s, const struct latency_run *r, struct arena *a);

/* Returns the name of a subgraph, in a: "subgraph 2 of acc0 ('a' and 3 more)", "node 'b' on a host", "nodes
 * 'b' and 2 more on a host". */
const char *subgraph_text(const struct scene *s, const struct subgraphs *k, uint32_t sub,
                          struct arena *a);

#endif
