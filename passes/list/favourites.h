/* Favourite children: for each vertex at most one reader that had better be on its device, each reader that of at most
 * one (Hanen and Munier; Baechi's m-SCT). */
#ifndef PCC_PASSES_LIST_FAVOURITES_H
#define PCC_PASSES_LIST_FAVOURITES_H

#include "passes/list/earliest.h"

/* [vertex] its favourite child or NO_FAVOURITE, by linear clustering.  time[vertex], cost[entry of g->pred]: ps.  Lives
 * in a.  O(E log E), and paths are peeled off while that takes less than a fixed number of steps. */
uint32_t *favourites_find(const struct wdag *g, const int64_t *time, const int64_t *cost,
                          struct arena *a);

#endif
