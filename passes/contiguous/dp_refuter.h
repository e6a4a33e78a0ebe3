/* Lower bounds from searches of smaller graphs, some steps at a time. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_REFUTER_H
#define PCC_PASSES_CONTIGUOUS_DP_REFUTER_H

#include "passes/contiguous/dp_ladder.h"

struct refuter {
    struct rungs *rungs;
    uint64_t max_states; /* ideals that a search may keep */
    struct clock *clock;
    struct arena *scratch;
    uint32_t rung;    /* the rung whose turn it is; 0 at first */
    int64_t hopeless; /* the least value that this rung failed to prove; 0: it was not asked yet */
    uint64_t spent;   /* steps */
};

/* c->lower, or more, by searches of about `steps` steps in all; `upper`: the value of a plan. */
struct bound refuter_next(const struct problem *c, struct refuter *r, int64_t upper,
                          uint64_t steps);

#endif
