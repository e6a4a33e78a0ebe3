/* Interval DP: the best way to cut a topological order into stages ("DPL" of the placement paper), for many orders. */
#ifndef PCC_PASSES_CONTIGUOUS_INTERVAL_DP_H
#define PCC_PASSES_CONTIGUOUS_INTERVAL_DP_H

#include "passes/problem/placing.h"

/* What interval DP has found. */
struct interval_found {
    bool better;    /* *best was improved */
    uint32_t tried; /* number of orders tried */
    uint64_t spent; /* steps done, the making of orders included */
};

/* Searches for the best plan of c that cuts one of how->starts topological orders, and writes it to *best (value
 * LOAD_INF: no plan is known yet) if it is strictly better.  Ends early when steps or time are used up or *best meets
 * the bound of c.  Graphs of more than some thousand vertices are cut at sampled positions, then near the best cuts. */
struct interval_found interval_search(const struct problem *c, const struct interval_how *how,
                                      struct problem_plan *best, struct arena *scratch);

/* interval_search(), one order at a time.  After interval_begin() each call of interval_next() tries one order, the
 * most promising kinds of orders first, and returns whether *best improved; it does nothing once the steps of `how`
 * are used up, but ignores how->starts.  interval_over() returns whether the steps or how->starts are used up. */
struct interval_run {
    const struct interval_how *how;
    uint64_t state; /* state of the random numbers that seed the orders */
    struct interval_found found;
};
struct interval_run interval_begin(const struct interval_how *how);
bool interval_over(const struct interval_run *r);
bool interval_next(const struct problem *c, struct interval_run *r, struct problem_plan *best,
                   struct arena *scratch);

/* Returns `order` rearranged so that the vertices of each device of the contiguous plan dev[vertex] stand together:
 * the plan is then one way to cut the new order, and plans near it are others.  Lives in a.  O(V + E). */
uint32_t *interval_gather(const struct problem *c, const uint32_t *order, const int32_t *dev,
                          struct arena *a);

/* Searches for the best plan of c that cuts `order` only before positions p with cut[p] != 0 (cut NULL: anywhere), and
 * writes it to *best if it is strictly better.  Ends early after a share of INTERVAL_BUDGET steps. */
struct interval_found interval_order(const struct problem *c, const uint32_t *order,
                                     const uint8_t *cut, struct clock *clock,
                                     struct problem_plan *best, struct arena *scratch);

/* Like interval_order() with cuts allowed everywhere; but where many kinds of devices make many partial plans, a
 * position keeps only few of them: for first plans, which are improved anyway. */
struct interval_found interval_rough(const struct problem *c, const uint32_t *order,
                                     struct clock *clock, struct problem_plan *best,
                                     struct arena *scratch);

#endif
