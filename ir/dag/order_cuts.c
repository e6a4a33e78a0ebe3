/* Finds cheap positions to cut an order at (order_cuts.h): one sweep adds up the cost of the nets that cross each
 * position, a second one finds the cheapest position of each piece.  O(pins * classes). */
#include "ir/dag/order_cuts.h"

#include <assert.h>

/* Returns an array, in a: [p] ps: summed cost of the nets with pins before and behind position p of
 * the order, each net on the class where it costs most.  order: [position] vertex. */
static int64_t *crossing_costs(const struct wdag *g, const uint32_t *order, struct arena *a)
{
    /* at first cost[p] is the cost at position p less the cost at p - 1: a net between the positions first and last is
     * added at first + 1 and taken off at last + 1; then the differences are added up */
    int64_t *cost = arena_array(a, (size_t)g->n + 2, sizeof *cost);
    /* [vertex] position of the vertex in the order */
    uint32_t *pos = arena_array(a, (size_t)g->n + 1, sizeof *pos);
    for (uint32_t p = 0; p < g->n; p++) {
        assert(order[p] < g->n);
        pos[order[p]] = p;
    }
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t first = UINT32_MAX, last = 0;
        int64_t most = 0;
        for_row (pin, g->net_pin, e) {
            uint32_t p = pos[pin];
            first = smaller_u32(p, first);
            last = larger_u32(p, last);
        }
        for (uint32_t k = 0; k < g->ncls; k++)
            most = larger(g->net_cost[k][e], most);
        if (first < last) {
            cost[first + 1] += most;
            cost[last + 1] -= most;
        }
    }
    for (uint32_t p = 0; p < g->n; p++)
        cost[p + 1] += cost[p];
    assert(cost[g->n] == 0);
    return cost;
}

void cuts_sample(const struct wdag *g, const uint32_t *order, const int64_t *work, uint32_t count,
                 uint8_t *cut, struct arena *a)
{
    assert(count > 0);
    const int64_t *cost = crossing_costs(g, order, a);
    __int128 total = (__int128)work[g->n] + 1;
    uint32_t best = 0; /* cheapest position of the piece so far; 0: none yet */
    int64_t piece = 0; /* number of the piece of the last position */
    for (uint32_t p = 1; p < g->n; p++) {
        /* the piece of position p: count times the mean of its shares of the work and of the vertices, rounded down */
        int64_t number = (int64_t)((__int128)work[p] * count / (2 * total)) +
                         (int64_t)((uint64_t)p * count / (2 * (uint64_t)g->n));
        if (best && number != piece) {
            cut[best] = 1;
            best = 0;
        }
        piece = number;
        if (!best || cost[p] < cost[best])
            best = p;
    }
    if (best)
        cut[best] = 1;
}
