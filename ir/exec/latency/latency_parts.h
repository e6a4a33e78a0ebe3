/* Splits a plan whose objective is the latency (latency.h) into parts. */
#ifndef PCC_IR_EXEC_LATENCY_PARTS_H
#define PCC_IR_EXEC_LATENCY_PARTS_H

#include "ir/exec/exec_runs.h"
#include "ir/exec/latency/latency_verdict.h"
#include "ir/plan/parts.h"

/* Returns the parts of the plan that r has run: one for each subgraph of an accelerator.  Nodes of hosts that ran one
 * after the other on a CPU share a part if that delays no other part, else each is a part.  Parts are numbered in the
 * order in which they start.  Writes the latency of the parts, ps, to *value, and to *slot an array, [part] the slot
 * of its subgraph, 0 for a host.  All live in a.  O((nodes + pins) log (nodes + pins)). */
struct parts *latency_parts(const struct scene *s, const struct latency_run *r, int64_t *value,
                            uint32_t **slot, struct arena *a);

/* Returns the order of these parts (struct rhythm of schedule.h): each device runs its parts by number, and the
 * results of a part have left its device when it ends.  start, end and sent are positions in that order instead of
 * times.  Lives in a.  O(parts + tensors). */
struct rhythm rhythm_of_latency(const struct rhythm_ask *of, struct arena *a);

#endif
