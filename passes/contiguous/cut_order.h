/* Topological orders that have minimum cuts among their prefixes, for interval DP (interval_dp.h). */
#ifndef PCC_PASSES_CONTIGUOUS_CUT_ORDER_H
#define PCC_PASSES_CONTIGUOUS_CUT_ORDER_H

#include "passes/problem/problem.h"

/* A series of orders, made one by one by cut_order_next().  The caller sets the seed; all other fields are 0 at
 * first. */
struct cut_orders {
    uint64_t seed;  /* seed of the random choices */
    uint32_t tried; /* number of orders made so far */
    uint64_t looks; /* number of arcs and vertices looked at so far: the work done */
};

/* Returns the next order of the series o, position -> vertex: a topological order of c's graph.  Lives in a, which is
 * also used for temporary data.  Each call makes at most about CUT_ORDER_CUTS minimum cuts; each costs O(V + E) and a
 * maximum flow in a small network. */
uint32_t *cut_order_next(const struct problem *c, struct cut_orders *o, struct arena *a);
enum { CUT_ORDER_CUTS = 512 };

#endif
