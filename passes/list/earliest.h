/* Earliest task first: a list scheduler that goes through time and gives each device, as soon as the device is
 * free, a vertex that can start there now (Baechi's m-ETF; with favourite children m-SCT). */
#ifndef PCC_PASSES_LIST_EARLIEST_H
#define PCC_PASSES_LIST_EARLIEST_H

#include "passes/list/list.h"

#define NO_FAVOURITE UINT32_MAX /* in earliest.favourite: the vertex has no favourite child */

/* Input and output of earliest_place. */
struct earliest {
    const struct edges *edge;
    /* [vertex] the vertex's position in a topological order; of several vertices that could start, the one of least
     * rank goes first */
    const uint32_t *rank;
    /* [vertex] the vertex's favourite child (favourites.h) or NO_FAVOURITE; NULL: no favourites (m-ETF) */
    const uint32_t *favourite;
    int64_t *start; /* [vertex] output: ps at which the vertex starts; NULL: not wanted */
};

/* Puts all vertices of r's level on devices; r must be empty except for pinned vertices.  Writes the vertices to
 * order[] in the order of their starts.  If the placement's clock runs out, placement_fill places the remaining
 * vertices, in order of ranks.  Cost without favourites: O(V log V + (V + E) * (classes + makers of a vertex's
 * inputs) + V * devices), with little free memory O(devices * (V log V + E)).  With favourites, a device that waits
 * for a favourite checks up to 64 vertices on all devices each time, unless some busy device has enough memory for
 * every vertex. */
void earliest_place(struct placement *r, const struct earliest *request, uint32_t *order,
                    struct arena *a);

#endif
