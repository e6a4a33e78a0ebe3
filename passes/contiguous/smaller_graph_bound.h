/* Finds lower bounds for graphs that have too many ideals to search, by searches of the graph without some vertices. */
#ifndef PCC_PASSES_CONTIGUOUS_SMALLER_GRAPH_BOUND_H
#define PCC_PASSES_CONTIGUOUS_SMALLER_GRAPH_BOUND_H

#include "passes/contiguous/ideal_search.h"

/* The problem of a graph without some of its vertices, and the weight of the lost vertices. */
struct smaller_problem {
    struct problem *c;
    int64_t floating; /* weight of the lost vertices in potential 0 */
    uint32_t lost;    /* number of lost vertices */
};

/* Returns the problem of c's graph without the vertices v with out[v] != 0; pinned vertices must stay.  With r the
 * result: a plan of c with loads of at most L, without the lost vertices, is a plan that dp_refute(r.c, L, r.floating)
 * looks for.  So if dp_refute() proves that there is none, c has no such plan.  Lives in a; r.c is NULL on an error.
 * O((V + E) * 64 + pins). */
struct smaller_problem problem_relax(const struct problem *c, const uint8_t *out, struct arena *a,
                                     struct diag *d);

/* Returns `value` as a bound of c, proven by a search that found no plan below it in the graph without `lost`
 * vertices. */
struct bound search_bound(const struct problem *c, int64_t value, uint32_t lost);

/* Returns the best lower bound of c that searches of smaller graphs prove in at most `steps` steps, at least
 * c->lower; `upper` is the value of a plan. */
struct bound dp_bound(const struct problem *c, int64_t upper, uint64_t steps, struct clock *clock,
                      struct arena *scratch, struct diag *d);

/* Returns `upper`, the value of a plan, as a bound if a search of a smaller graph proves that no plan takes less;
 * else c->lower.  About ten searches, each guided by the one before, take at most most->max_steps steps in all, and
 * each keeps at most most->max_states ideals.  c must not be detailed. */
struct bound dp_climb(const struct problem *c, int64_t upper, const struct dp_limits *most,
                      struct arena *scratch, struct diag *d);

#endif
