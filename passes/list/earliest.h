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

/* Puts all vertices of the room's level on devices, of a room that is empty but for pins; order[0..n) becomes the order
 * in which they start.  If the room's clock runs out, the rest of them, in order of ranks, by placement_fill.  Apart from
 * favourites O(V log V + (V + E) * (classes + makers of what a vertex reads) + V * devices), with little room
 * O(devices * (V log V + E)); a device that awaits a favourite asks up to 64 vertices at each turn, of all devices, if
 * none that is busy has room. */
void earliest_place(struct placement *r, const struct earliest *how, uint32_t *order,
                    struct arena *a);

#endif
