/* Finds closures: a closure is a set of vertices with the least load that a device can have if it must hold some given
 * vertices and must not hold others.
 *
 * If a device of kind k holds the set S, its load is time(S) plus the cost of each net that has pins both in S and
 * elsewhere (problem.h).  The least load over all S with the given vertices is a minimum cut.  In every plan the device
 * that holds the given vertices has this load or more. */
#ifndef PCC_PASSES_BOUNDS_LEAST_LOAD_H
#define PCC_PASSES_BOUNDS_LEAST_LOAD_H

#include "ir/base/max_flow.h"
#include "passes/problem/problem.h"

/* A flow network that finds closures for devices of kind k. */
struct closure {
    const struct problem *c;
    uint32_t k;
    struct flow f;
    /* number of arcs that do not depend on the question; the arcs added for the last question come after these */
    uint32_t base;
    int64_t *room;        /* [arc < base] capacity of the arc without any flow */
    int64_t *saved;       /* [arc] capacity that the flow of the last closure_of() left */
    int64_t value, limit; /* ps: result and limit of the last call of closure_of() */
    /* [vertex] time on the kind, ps; COST_NEVER: the vertex may not be on the kind */
    int64_t *time;
    /* [vertex] ps: the vertex's time plus the cost of all its nets of two vertices or more */
    int64_t *alone;
    /* [vertex] 1: it is in the set S with the least load, of the last answer that was exact */
    uint8_t *side;
    bool exact; /* the last answer is the least load itself, and is at most `limit` */
};

/* Returns the network for kind k of c, in a; c must not be detailed.  may[vertex]: bit i: the vertex may be on kind i;
 * NULL: each vertex may be on k unless its time there is COST_NEVER.  O(V + pins). */
struct closure *closure_new(const struct problem *c, uint32_t k, const uint32_t *may,
                            struct arena *a);
/* Forbids vertex v on the kind from now on. */
void closure_deny(struct closure *q, uint32_t v);
/* Returns the least load, ps, of a device of the kind that holds the n vertices in[]; limit + 1 if this load is above
 * limit.  Lowers *work by the arcs looked at; if *work runs out, the result is only a lower bound, and q->exact is
 * false. */
int64_t closure_of(struct closure *q, const uint32_t *in, uint32_t n, int64_t limit,
                   uint64_t *work);
/* Returns, like closure_of(), the least load of a device that holds the vertices of the last call of closure_of(), but
 * not v.  v must not be one of these vertices. */
int64_t closure_without(struct closure *q, uint32_t v, uint64_t *work);
/* Returns the load, ps, of a device of the kind that holds v alone; COST_NEVER if v may not be there. */
int64_t closure_alone(const struct closure *q, uint32_t v);

#endif
