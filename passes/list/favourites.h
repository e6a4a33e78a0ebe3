/* Finds favourite children: for each vertex at most one of its readers, which should run on the same device as the
 * vertex, so that the transfer between the two is avoided.  A reader is the favourite of at most one vertex (Hanen and
 * Munier; Baechi's m-SCT). */
#ifndef PCC_PASSES_LIST_FAVOURITES_H
#define PCC_PASSES_LIST_FAVOURITES_H

#include "ir/base/clock.h"
#include "passes/list/earliest.h"

enum { PEEL_STEPS = 32000000 }; /* the usual number of steps: about 0.1 s */

/* Returns an array: [vertex] its favourite child or NO_FAVOURITE, by linear clustering.  time: [vertex] ps; cost:
 * [index in g->pred.to] ps of the transfer along the edge; steps: the search for longest paths ends when this many
 * vertices and edges have been visited.  Lives in a.  O(E log E + V + E + steps). */
uint32_t *favourites_find(const struct wdag *g, const int64_t *time, const int64_t *cost,
                          int64_t steps, struct arena *a);

enum { FAVOURITES_LP_EDGES = 2000 }; /* the most edges for favourites_by_lp */

/* Returns favourites found by rounding Baechi's linear program.  Writes to *bound a lower bound, ps, on the longest
 * path whatever favourites are chosen, up to the solver's tolerance.  Returns NULL if lp_solve is not built in, or
 * found no answer before the clock ran out. */
uint32_t *favourites_by_lp(const struct wdag *g, const int64_t *time, const int64_t *cost,
                           struct clock *clock, struct arena *a, double *bound);

#endif
