/* Blocks: runs of a part's nodes that a picture shows as one box. */
#ifndef PCC_BACKENDS_BLOCKS_H
#define PCC_BACKENDS_BLOCKS_H

#include "backends/backends.h"

struct block {
    const char *label; /* common scope of its names, or its first operator */
    const char *kinds; /* "MatMul 3, Add 2" */
    uint32_t part, nodes;
    int64_t time;      /* ps on its device */
};

struct blocks {
    struct block *block;
    uint32_t n;
    uint32_t *of; /* [node] block + 1; 0: not placed */
};

/* At most `most` blocks per part.  A block is a run of the part's nodes in order (so the blocks of a
 * part make no cycle) that share a scope of their names, as deep a scope as `most` allows; runs of
 * equal length where names have no scopes.  O(nodes * depth). */
struct blocks blocks_build(const struct result *r, uint32_t most, struct arena *a);

#endif
