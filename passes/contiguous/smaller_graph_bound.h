/* Lower bounds for graphs that have too many ideals to search: searches of the graph without some vertices. */
#ifndef PCC_PASSES_CONTIGUOUS_SMALLER_GRAPH_BOUND_H
#define PCC_PASSES_CONTIGUOUS_SMALLER_GRAPH_BOUND_H

#include "passes/contiguous/ideal_search.h"

/* The problem of a graph that has lost some vertices, and what these weigh. */
struct smaller_problem {
    struct problem *c;
    int64_t floating; /* weight of the lost vertices in potential 0 */
    uint32_t lost;
};

/* c without the vertices v with out[v] != 0; pinned vertices must stay.  Any plan of c with loads of at most L is,
 * without the lost vertices, a plan that dp_refute(r.c, L, r.floating) looks for: if that finds none, c has none.
 * Lives in a; c is NULL on an error.  O((V + E) * 64 + pins). */
struct smaller_problem problem_relax(const struct problem *c, const uint8_t *out, struct arena *a,
                                     struct diag *d);

/* What a search says that found no plan of a value below `value` of the graph of c without `lost` of its vertices. */
struct bound search_bound(const struct problem *c, int64_t value, uint32_t lost);

/* c->lower, or more, as far as searches of at most `steps` steps in all prove it; `upper` is the value of a plan. */
struct bound dp_bound(const struct problem *c, int64_t upper, uint64_t steps, struct clock *clock,
                      struct arena *scratch, struct diag *d);

/* `upper`, the value of a plan, as a bound, if the search of a smaller graph proves that no plan takes less; else
 * c->lower.  Some ten searches, each guided by the one before, take at most most->max_steps steps in all (0: none).
 * c must not be detailed. */
struct bound dp_climb(const struct problem *c, int64_t upper, const struct dp_limits *most,
                      struct arena *scratch, struct diag *d);

#endif
