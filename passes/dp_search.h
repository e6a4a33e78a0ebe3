/* The exact search over chains of ideals. */
#ifndef PCC_PASSES_DP_SEARCH_H
#define PCC_PASSES_DP_SEARCH_H

#include "passes/chain.h"

struct dp_search {
    uint64_t max_states; /* ideals kept; steps are bounded by 8 times this, */
    uint64_t max_steps;  /* and by this, if it is not 0 */
    struct chain_clock *clock;
    bool progress; /* a line on stderr after 2 s */
    /* out */
    uint64_t states, steps;
    uint32_t passed; /* vertices of the ideal that was extended last */
    bool complete;   /* nothing better than *best exists */
    const char *why; /* if not complete */
};

/* Improves *best (value CHAIN_INF: none yet) to the optimum; only strictly better plans are taken.
 * True if it improved. */
bool dp_search(const struct chain *c, struct dp_search *s, struct chain_plan *best,
               struct arena *scratch);

/* Whether no chain of c exists whose loads are at most `limit` and leave room for vertices that
 * are not in its graph, of weight `floating` in potential 0, on any devices in any order.  False
 * also if the search did not end.  What bounds a plan are sums: with w the weights of potential
 * 0,
 *   sum over devices of (scaled load - w(S)) <= sum over devices of cap(limit) - w(V) - floating,
 * and each term is >= 0, so that partial plans are judged by this sum instead of their largest
 * load. */
bool dp_refute(const struct chain *c, int64_t limit, int64_t floating, struct dp_search *s,
               struct arena *scratch);

#endif
