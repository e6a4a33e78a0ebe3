/* Bounds from smaller graphs, a few searches at a time. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_REFUTER_H
#define PCC_PASSES_CONTIGUOUS_DP_REFUTER_H

#include "passes/contiguous/dp_ladder.h"

struct refuter {
    struct rungs *rungs;
    uint64_t max_states; /* of a search */
    struct clock *clock;
    struct arena *scratch;
    uint32_t rung;    /* the one that it is on; 0 at first */
    int64_t hopeless; /* nothing from here on was proven on it; 0: not asked yet */
    uint64_t spent;   /* steps */
};

/* Raises c->lower (and says why) by searches of about so many steps in all; `upper`: the value of a plan.  True if
 * it was raised. */
bool refuter_next(struct problem *c, struct refuter *r, int64_t upper, uint64_t steps);

#endif
