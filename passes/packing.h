/* Weights that devices cannot hold: lower bounds from what fits one device. */
#ifndef PCC_PASSES_PACKING_H
#define PCC_PASSES_PACKING_H

#include "passes/kernel.h"

/* Weights of the vertices of r->small, such that no device that pays for transfers (all of one kind, `k`)
 * with a load below `below` holds `most` or more, those that pay for none hold at most `free` in all, and
 * count * (most - 1) + free < total: so no plan takes less than `below`. */
struct packing {
    int64_t below, most, free, total;
    int64_t *weight;  /* [vertex of r->small] */
    uint32_t k;
    uint64_t sets;    /* partial sets that the search for `most` looked at */
};

/* Looks for the largest threshold in (lower, r->below] that such weights refute; p->below is 0 if there is none,
 * and for problems that this is not for (devices of several kinds pay, too many vertices).  Looks at no more than
 * *work arcs (lowered).  Lives in a. */
struct packing packing_bound(const struct kernel *r, int64_t lower, uint64_t *work,
                             struct chain_clock *clock, struct arena *a);

#endif
