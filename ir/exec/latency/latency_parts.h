/* The parts of a plan that is made for a latency. */
#ifndef PCC_IR_EXEC_LATENCY_PARTS_H
#define PCC_IR_EXEC_LATENCY_PARTS_H

#include "ir/exec/exec_runs.h"
#include "ir/exec/latency/latency_verdict.h"
#include "ir/plan/parts.h"

/* One part for each subgraph of an accelerator.  Nodes of hosts that ran one after the other share a part if that
 * delays no other part, else each is a part.  Parts are numbered by their starts.  *value: the latency of the parts,
 * ps; *slot: [part] the slot of its subgraph, 0: of a host.  All live in a.  O((nodes + pins) log (nodes + pins)). */
struct parts *latency_parts(const struct scene *s, const struct latency_run *r, int64_t *value,
                            uint32_t **slot, struct arena *a);

/* The rhythm of these parts: each device runs its parts by number, and the results of a part have left when the part
 * ends.  start, end and sent are places in that order, no times.  Lives in a.  O(parts + tensors). */
struct rhythm rhythm_of_latency(const struct rhythm_ask *of, struct arena *a);

#endif
