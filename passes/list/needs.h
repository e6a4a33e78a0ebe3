/* Memory that vertices of a level need on a device, as far as a planner can tell before placing. */
#ifndef PCC_PASSES_LIST_NEEDS_H
#define PCC_PASSES_LIST_NEEDS_H

#include "ir/ir.h"

struct needs {
    const int64_t *stays; /* [vertex] bytes for all of the step, weights of models apart */
    const int64_t
        *runs; /* [vertex] bytes while it runs, of which a device needs the most; NULL: none */
};

/* Under the memory model of s, for the base level or one that fuses its vertices.  SUM and LIVE: all bytes stay; but of
 * several nodes that are fused in a model, LIVE: those of results that leave, and the most that one needs beside.
 * PAPER: by its table (ir/exec/replicas/paper_memory.h), without copies of what is read from elsewhere and as if
 * nothing wrote over an operand; of fused nodes the results that leave.  Lives in a.  O(nodes + pins). */
struct needs needs_of(const struct scene *s, const struct wdag *level, struct arena *a);

#endif
