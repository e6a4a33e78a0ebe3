/* A model as a chain of layers, for planners of pipelines: sums over layers, and what goes from each to the next. */
#ifndef PCC_PASSES_STAGES_LAYER_CHAIN_H
#define PCC_PASSES_STAGES_LAYER_CHAIN_H

#include <stdint.h>

/* All for one micro-batch.  Entry i of a sum is over the layers before layer i, so that layers [i, j) have sum[j] -
 * sum[i]; n + 1 entries each. */
struct layer_chain {
    uint32_t n;
    const int64_t *forward, *backward; /* ps */
    const int64_t *parameter;          /* bytes of weights, as many of their gradients */
    const int64_t *stored;             /* bytes that forward leaves for backward */
    const int64_t *cut; /* bytes from the layers before layer i to the others; no sum */
};

#endif
