/* Lower bounds for graphs that have too many ideals to search: searches of the graph without some vertices. */
#ifndef PCC_PASSES_CONTIGUOUS_SMALLER_GRAPH_BOUND_H
#define PCC_PASSES_CONTIGUOUS_SMALLER_GRAPH_BOUND_H

#include "passes/contiguous/ideal_search.h"

/* The problem of a graph that has lost some vertices, and what these weigh. */
struct relaxed {
    struct problem *c;
    int64_t floating; /* weight of the lost vertices in potential 0 */
    uint32_t lost;
};

/* c without the vertices v with out[v] != 0; pinned vertices must stay.  Any plan of c with loads of at most L is,
 * without the lost vertices, a plan that dp_refute(r.c, L, r.floating) looks for: if that finds none, c has none.
 * Lives in a; c is NULL on an error.  O((V + E) * 64 + pins). */
struct relaxed relax(const struct problem *c, const uint8_t *out, struct arena *a, struct diag *d);

/* What a search says that found no plan of a value below `value` of the graph of c without `lost` of its vertices. */
struct bound search_bound(const struct problem *c, int64_t value, uint32_t lost);

/* c->lower, or more, as far as searches of at most `steps` steps in all prove it; `upper` is the value of a plan. */
struct bound dp_bound(const struct problem *c, int64_t upper, uint64_t steps, struct clock *clock,
                      struct arena *scratch, struct diag *d);

/* Writes mobility[vertex]: the length of the longest path of the graph, which is returned, less that of the longest
 * path through the vertex (large: the vertex can run at almost any time).  Each vertex counts a little, so that
 * paths of vertices that take no time have a length, too.  O(V + E). */
int64_t bound_mobilities(const struct problem *c, int64_t *mobility, struct arena *a);
/* The weight from which on a vertex is too heavy to be taken out, if plans take about `upper`. */
int64_t bound_heavy(int64_t upper);
/* Marks in out[] the vertices of a mobility above `above`, but not those that weigh `heavy` or more nor pinned ones;
 * returns how many stay. */
uint32_t bound_choose(const struct problem *c, const int64_t *mobility, int64_t above,
                      int64_t heavy, uint8_t *out);

#endif
