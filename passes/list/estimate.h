/* Estimates times for a list scheduler that places vertices one by one: when placed vertices end, and when devices and
 * their ports are free.  Calls for each vertex: estimate_turn, estimate_start for some devices, estimate_take. */
#ifndef PCC_PASSES_LIST_ESTIMATE_H
#define PCC_PASSES_LIST_ESTIMATE_H

#include "passes/list/list.h"
#include "passes/list/slots.h"

#include "ir/base/keyed.h"

/* The state of the estimate. */
struct estimate {
    const struct wdag *g;
    struct edges edge;
    /* true: a transfer waits until the ports of both devices are free; false: transfers do not disturb each other */
    bool ports;
    struct slots *slots; /* [dev] the device's free times */
    int64_t *end;        /* [vertex] ps: end of the vertex, if it is placed */
    int32_t *dev;        /* [vertex] device of the vertex, if it is placed */
    /* [dev] ps from which the device's port for sending, and for receiving, is free */
    int64_t *out, *in;
    int64_t *kept; /* [dev] work space of estimate_start */
    /* [npred] the edges into the present vertex.  item: number of the edge (list.h); key: ps when the predecessor ends.
     * If `ports`, sorted by key */
    struct keyed *pred;
    uint32_t npred;
};

/* Returns an estimate in which no vertex is placed.  Lives in a.  O(classes * (edges + pins)). */
struct estimate estimate_new(const struct scene *s, const struct wdag *g, bool ports,
                             struct arena *a);
/* Makes v the present vertex; all its predecessors must be placed. */
void estimate_turn(struct estimate *e, uint32_t v);
/* Returns the ps at which the present vertex could start on device d, where it takes `time` ps.  O(its predecessors +
 * SLOTS). */
int64_t estimate_start(struct estimate *e, uint32_t d, int64_t time);
/* Places v, the present vertex, on d for `time` ps from `start` on, which estimate_start must have returned for d. */
void estimate_take(struct estimate *e, uint32_t v, uint32_t d, int64_t start, int64_t time);

#endif
