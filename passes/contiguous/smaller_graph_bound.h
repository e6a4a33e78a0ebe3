/* Lower bounds for graphs that have too many ideals to search. */
#ifndef PCC_PASSES_CONTIGUOUS_SMALLER_GRAPH_BOUND_H
#define PCC_PASSES_CONTIGUOUS_SMALLER_GRAPH_BOUND_H

#include "passes/contiguous/ideal_search.h"

/* A graph that has lost some vertices, and what they weigh. */
struct relaxed {
    struct problem *c;
    int64_t floating; /* weight of the lost vertices in potential 0 */
    uint32_t lost;
};

/* c without the vertices of out[v] != 0 (those with a pin must stay): any plan of c whose loads
 * are at most L is, restricted to what is left, one that dp_refute(r.c, L, r.floating) is asked
 * for.  Lives in a; c is NULL on an error.  O((V + E) * 64 + pins). */
struct relaxed relax(const struct problem *c, const uint8_t *out, struct arena *a, struct diag *d);

/* Raises c->lower (and says why in c->lower_why) as far as searches of at most `steps` steps in all
 * prove it; `upper` is the value of a plan. */
void dp_bound(struct problem *c, int64_t upper, uint64_t steps, struct clock *clock,
              struct arena *scratch, struct diag *d);

/* mobility[vertex]: the length of the longest path, which is returned, less that of the longest path through the
 * vertex.  Each vertex counts a little, so that paths of vertices that take no time have a length, too.  O(V + E). */
int64_t bound_mobilities(const struct problem *c, int64_t *mobility, struct arena *a);
/* The weight from which a vertex stays in, if plans take `upper`. */
int64_t bound_heavy(int64_t upper);
/* Marks what is taken out: mobilities above `above`, but for heavy and pinned vertices; returns how many stay. */
uint32_t bound_choose(const struct problem *c, const int64_t *mobility, int64_t above,
                      int64_t heavy, uint8_t *out);

#endif
