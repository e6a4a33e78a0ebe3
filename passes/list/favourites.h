/* Favourite children: for each vertex at most one reader that had better be on its device, each reader that of at most
 * one (Hanen and Munier; Baechi's m-SCT). */
#ifndef PCC_PASSES_LIST_FAVOURITES_H
#define PCC_PASSES_LIST_FAVOURITES_H

#include "ir/base/clock.h"
#include "passes/list/earliest.h"

enum { PEEL_STEPS = 32000000 }; /* the usual number of steps: about 0.1 s */

/* [vertex] its favourite child or NO_FAVOURITE, by linear clustering.  time[vertex], cost[entry of g->pred]: ps.  Lives
 * in a.  O(E log E + V + E + steps): paths are peeled off until so many vertices and edges have been looked at. */
uint32_t *favourites_find(const struct wdag *g, const int64_t *time, const int64_t *cost,
                          int64_t steps, struct arena *a);

enum { FAVOURITES_LP_EDGES = 2000 }; /* that the linear program may have */

/* The same by the linear program that Baechi rounds; *bound: ps, no choice has a shorter longest path, but for the
 * solver's tolerance.  NULL: lp_solve is not built in, or has no answer until the clock is out. */
uint32_t *favourites_by_lp(const struct wdag *g, const int64_t *time, const int64_t *cost,
                           struct clock *clock, struct arena *a, double *bound);

#endif
