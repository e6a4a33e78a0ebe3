/* The bytes that the vertices of a level need on a device, as far as these are known before vertices are placed. */
#ifndef PCC_PASSES_LIST_NEEDS_H
#define PCC_PASSES_LIST_NEEDS_H

#include "ir/ir.h"

/* A device needs the sum of `stays` of its vertices, and the largest `runs`. */
struct needs {
    /* [vertex] bytes that it needs during the whole step, without the weights of a model in ONNX */
    const int64_t *stays;
    const int64_t *runs; /* [vertex] further bytes while the vertex runs; NULL: 0 for all */
};

/* Returns the bytes under the memory model of s (enum memory_model); level: the base level, or one that merges its
 * vertices.  SUM and LIVE: all bytes of a vertex stay.  But for a vertex of several fused nodes in ONNX, LIVE counts
 * only the results that leave the vertex, and the most that one of its nodes needs beside its results.  PAPER: by the
 * table of Baechi-PyTorch's paper (ir/exec/replicas/paper_memory.h), without copies of values from other devices, and
 * as if no node wrote its result over an operand; of fused nodes only results that leave the vertex count.  Lives in a.
 * O(nodes + pins). */
struct needs needs_of(const struct scene *s, const struct wdag *level, struct arena *a);

#endif
