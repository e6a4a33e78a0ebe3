/* Topological orders with minimum cuts among their prefixes, for interval DP. */
#ifndef PCC_PASSES_CONTIGUOUS_CUT_ORDER_H
#define PCC_PASSES_CONTIGUOUS_CUT_ORDER_H

#include "passes/problem/problem.h"

struct cut_orders {
    uint64_t seed;
    uint32_t tried; /* orders so far; 0 at first */
    uint64_t looks; /* looks at arcs and vertices so far */
};

/* Makes another topological order of c with each call.  Lives in a, which is also used as scratch.  O(V) for each of
 * at most CUT_ORDER_CUTS cuts, and a small flow. */
uint32_t *cut_order_next(const struct problem *c, struct cut_orders *o, struct arena *a);
enum { CUT_ORDER_CUTS = 512 };

#endif
