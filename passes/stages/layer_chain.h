/* A model as a chain of layers, for planners of pipelines: times and bytes of all layers before a layer. */
#ifndef PCC_PASSES_STAGES_LAYER_CHAIN_H
#define PCC_PASSES_STAGES_LAYER_CHAIN_H

#include <stdint.h>

/* Times and bytes of n layers for one micro-batch; each array has n + 1 entries.  All arrays but `cut` are sums: entry
 * i is the sum over the layers before layer i, so that layers i .. j - 1 together have entry[j] - entry[i]. */
struct layer_chain {
    uint32_t n;
    const int64_t *forward, *backward; /* ps of the forward and the backward pass */
    const int64_t *parameter;          /* bytes of weights; their gradients have the same bytes */
    const int64_t *stored;             /* bytes that the forward pass keeps for the backward pass */
    /* ps of forward and backward that each device takes whole, however small its slice is; NULL: 0 everywhere */
    const int64_t *forward_overhead, *backward_overhead;
    /* [i] bytes of the values that layers before layer i make, and that layer i or later ones read */
    const int64_t *cut;
};

/* Returns the ps of forward (or backward) that the layers from .. to - 1 take each device whole. */
static inline int64_t chain_overhead(const int64_t *overhead, uint32_t from, uint32_t to)
{
    return overhead ? overhead[to] - overhead[from] : 0;
}

#endif
