/* Lower bounds for graphs that have too many ideals to search. */
#ifndef PCC_PASSES_DP_BOUND_H
#define PCC_PASSES_DP_BOUND_H

#include "passes/dp_search.h"

/* A graph that has lost some vertices, and what they weigh. */
struct relaxed {
    struct chain *c;
    int64_t floating; /* weight of the lost vertices in potential 0 */
    uint32_t lost;
};

/* c without the vertices of out[v] != 0 (those with a pin must stay): any plan of c whose loads
 * are at most L is, restricted to what is left, one that dp_refute(r.c, L, r.floating) is asked
 * for.  Lives in a; c is NULL on an error.  O((V + E) * 64 + pins). */
struct relaxed relax(const struct chain *c, const uint8_t *out, struct arena *a, struct diag *d);

/* Raises c->lower (and says why in c->lower_why) as far as searches of at most `steps` steps in all
 * prove it; `upper` is the value of a plan. */
void dp_bound(struct chain *c, int64_t upper, uint64_t steps, struct chain_clock *clock,
              struct arena *scratch, struct diag *d);

#endif
