/* Earliest task first: a list scheduler that goes through time and gives each device, as soon as the device is
 * free, the vertex with the earliest possible start (Baechi's m-ETF; with favourite children m-SCT). */
#ifndef PCC_PASSES_LIST_EARLIEST_H
#define PCC_PASSES_LIST_EARLIEST_H

#include "passes/list/list.h"

#define NO_FAVOURITE UINT32_MAX

/* What is asked for: the time of each vertex's start is written to start, where that is not NULL. */
struct earliest {
    const struct edges *edge;
    const uint32_t *rank;      /* [vertex] its place in a topological order: ties go by it */
    const uint32_t *favourite; /* [vertex] its favourite child or NO_FAVOURITE; NULL: m-ETF */
    int64_t *start;            /* [vertex] ps */
};

/* Puts all vertices of r's level on devices; r is empty except for pinned vertices.  order[0..n) becomes the order of
 * starts.  If the placement's clock runs out, placement_fill places the remaining vertices, in order of ranks.  Cost
 * without favourites O(V log V + (V + E) * (classes + makers of a vertex's inputs) + V * devices), with little free
 * memory O(devices * (V log V + E)); a device that awaits a favourite asks up to 64 vertices at each turn, on all
 * devices, if no busy device has enough memory. */
void earliest_place(struct placement *r, const struct earliest *how, uint32_t *order,
                    struct arena *a);

#endif
