/* The exact search from the end that is the shorter way. */
#ifndef PCC_PASSES_DP_BOTH_H
#define PCC_PASSES_DP_BOTH_H

#include "passes/dp_search.h"

/* dp_search (max_steps is ignored; steps are those of all attempts). */
bool dp_both(const struct chain *c, struct dp_search *s, struct chain_plan *best,
             struct arena *scratch);

#endif
