/* Interval DP over topological orders ("DPL" of the placement paper), started many times. */
#ifndef PCC_PASSES_CONTIGUOUS_INTERVAL_DP_H
#define PCC_PASSES_CONTIGUOUS_INTERVAL_DP_H

#include "passes/problem/problem.h"

struct interval_run {
    uint32_t starts; /* orders to try */
    uint64_t seed;   /* 0: the first order of all has its ties by number */
    uint32_t order;  /* INTERVAL_MIXED: several kinds in turn; else 1 + an enum topo_kind */
    uint64_t budget; /* steps of the inner loop in all; 0: INTERVAL_BUDGET */
    struct clock *clock;
    uint32_t tried; /* out: orders tried */
    uint64_t state; /* of the generator of seeds */
    uint64_t spent; /* steps, making orders included */
};
enum { INTERVAL_BUDGET = 150000000, INTERVAL_MIXED = 0 };

/* Improves *best (value LOAD_INF at first; only strictly better plans are taken) over r->starts
 * orders.  Graphs of more than some thousand vertices are cut at sampled positions, then near the
 * best cuts.  True if it improved. */
bool interval_search(const struct problem *c, struct interval_run *r, struct problem_plan *best,
                     struct arena *scratch);

/* The same in parts: interval_begin, then an order with each interval_next, of which the first few are worth
 * most; true if the plan improved.  It does not look at r->starts, and does nothing once the budget is spent:
 * interval_over tells of both. */
void interval_begin(struct interval_run *r);
bool interval_over(const struct interval_run *r);
bool interval_next(const struct problem *c, struct interval_run *r, struct problem_plan *best,
                   struct arena *scratch);

/* The order with the vertices of each device of a contiguous plan together: its cuts are there, and others near
 * them.  O(V + E). */
uint32_t *interval_gather(const struct problem *c, const uint32_t *order, const int32_t *dev,
                          struct arena *a);

/* One given order, cuts before order[p] where cut[p] != 0 (NULL: anywhere): exact for these. */
bool interval_order(const struct problem *c, const uint32_t *order, const uint8_t *cut,
                    struct clock *clock, struct problem_plan *best, struct arena *scratch);

#endif
