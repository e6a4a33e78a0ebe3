/* The exact search over chains of ideals. */
#ifndef PCC_PASSES_DP_SEARCH_H
#define PCC_PASSES_DP_SEARCH_H

#include "passes/chain.h"

struct dp_search {
    uint64_t max_states; /* ideals kept; steps are bounded by 20 times this */
    struct chain_clock *clock;
    bool progress; /* a line on stderr after 2 s */
    /* out */
    uint64_t states, steps;
    bool complete;   /* nothing better than *best exists */
    const char *why; /* if not complete */
};

/* Improves *best (value CHAIN_INF: none yet) to the optimum; only strictly better plans are taken.
 * True if it improved. */
bool dp_search(const struct chain *c, struct dp_search *s, struct chain_plan *best,
               struct arena *scratch);

#endif
