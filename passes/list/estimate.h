/* Running estimate of a list scheduler while vertices are placed one by one: ends of vertices, free times of
 * devices and of ports. */
#ifndef PCC_PASSES_LIST_ESTIMATE_H
#define PCC_PASSES_LIST_ESTIMATE_H

#include "passes/list/list.h"
#include "passes/list/slots.h"

#include "ir/base/keyed.h"

struct estimate {
    const struct wdag *g;
    struct edges edge;
    bool
        ports; /* transfers wait for each other at the ports of both devices; else they disturb nobody */
    struct slots *slots; /* [dev] */
    int64_t *end;        /* [vertex] ps */
    int32_t *dev;        /* [vertex] */
    int64_t *out, *in;   /* [dev] ps: when its ports are free */
    int64_t *kept;       /* [dev] scratch */
    struct keyed *pred;  /* of the vertex at hand: entries of g->pred, by when they end */
    uint32_t npred;
};

/* Nothing is placed yet.  Lives in a.  O(classes * (edges + pins)). */
struct estimate estimate_new(const struct scene *s, const struct wdag *g, bool ports,
                             struct arena *a);
/* Turns to vertex v, whose predecessors are placed. */
void estimate_turn(struct estimate *e, uint32_t v);
/* When the vertex at hand, which takes `time` there, could start on device d.  O(its predecessors + SLOTS). */
int64_t estimate_start(struct estimate *e, uint32_t d, int64_t time);
/* Places the vertex at hand, v, as estimate_start has said. */
void estimate_take(struct estimate *e, uint32_t v, uint32_t d, int64_t start, int64_t time);

#endif
