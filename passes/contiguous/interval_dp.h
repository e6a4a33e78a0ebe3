/* Interval DP: the best way to cut a topological order into stages ("DPL" of the placement paper), for many orders. */
#ifndef PCC_PASSES_CONTIGUOUS_INTERVAL_DP_H
#define PCC_PASSES_CONTIGUOUS_INTERVAL_DP_H

#include "passes/problem/placing.h"

struct interval_found {
    bool better;    /* *best was improved */
    uint32_t tried; /* orders */
    uint64_t spent; /* steps done, the making of orders included */
};

/* Improves *best (value LOAD_INF at first; only strictly better plans are taken) over how->starts
 * orders.  Graphs of more than some thousand vertices are cut at sampled positions, then near the
 * best cuts. */
struct interval_found interval_search(const struct problem *c, const struct interval_how *how,
                                      struct problem_plan *best, struct arena *scratch);

/* The same one order at a time: interval_begin once, then each interval_next tries one order, the best ones first,
 * and returns true if the plan improved.  interval_next does nothing once the budget is spent, but does not look at
 * how->starts; interval_over says whether either is used up. */
struct interval_run {
    const struct interval_how *how;
    uint64_t state; /* of the random numbers that seed the orders */
    struct interval_found found;
};
struct interval_run interval_begin(const struct interval_how *how);
bool interval_over(const struct interval_run *r);
bool interval_next(const struct problem *c, struct interval_run *r, struct problem_plan *best,
                   struct arena *scratch);

/* `order` rearranged so that the vertices of each device of the contiguous plan dev[] stand together: the plan is
 * then one way to cut it, and others near that are too.  O(V + E). */
uint32_t *interval_gather(const struct problem *c, const uint32_t *order, const int32_t *dev,
                          struct arena *a);

/* Improves *best by the best plan that cuts `order` only before positions p with cut[p] != 0 (NULL: anywhere). */
struct interval_found interval_order(const struct problem *c, const uint32_t *order,
                                     const uint8_t *cut, struct clock *clock,
                                     struct problem_plan *best, struct arena *scratch);

#endif
