/* Closures: the least load of a device that must hold some vertices and must not hold others.
 *
 * If a device of kind k holds the set S, its load is time(S) plus the cost of each net that has pins both in S and
 * elsewhere (problem.h).  The least load over all S with the given vertices is a minimum cut.  It is a lower bound for
 * the load of the device that holds these vertices, whatever the rest of the plan is. */
#ifndef PCC_PASSES_BOUNDS_LEAST_LOAD_H
#define PCC_PASSES_BOUNDS_LEAST_LOAD_H

#include "ir/base/max_flow.h"
#include "passes/problem/problem.h"

/* A network that answers questions about devices of kind k. */
struct closure {
    const struct problem *c;
    uint32_t k;
    struct flow f;
    /* number of arcs of the network itself; arcs added for the last question come after these */
    uint32_t base;
    int64_t *room;        /* [arc < base] capacity */
    int64_t *saved;       /* [arc] capacity that the flow of the last closure_of left */
    int64_t value, limit; /* ps: result and limit of the last closure_of */
    int64_t *time;        /* [vertex] ps; COST_NEVER: the vertex may not be on the kind */
    /* [vertex] ps: the vertex's time plus the cost of all its nets of two vertices or more */
    int64_t *alone;
    uint8_t *side; /* [vertex] 1: in the set S of the last answer that was exact */
    bool exact;    /* the last answer is the least load itself, and is at most `limit` */
};

/* Returns the network for kind k of c, in a; c must not be detailed.  may[vertex]: a mask of the kinds on which the
 * vertex may be; NULL: each vertex may be on k if its time allows it.  O(V + pins). */
struct closure *closure_new(const struct problem *c, uint32_t k, const uint32_t *may,
                            struct arena *a);
/* Forbids vertex v on the kind from now on. */
void closure_deny(struct closure *q, uint32_t v);
/* Returns the least load, ps, of a device of the kind that holds the n vertices in[]; limit + 1 if that is more than
 * limit.  Lowers *work by the arcs looked at; if *work runs out, the result is only a lower bound, and q->exact is
 * false. */
int64_t closure_of(struct closure *q, const uint32_t *in, uint32_t n, int64_t limit,
                   uint64_t *work);
/* Returns, like closure_of, the least load of a device that holds the vertices of the last closure_of, but not v.
 * v must not be one of these vertices. */
int64_t closure_without(struct closure *q, uint32_t v, uint64_t *work);
/* Returns the load, ps, of a device of the kind that holds v alone; COST_NEVER if v may not be there. */
int64_t closure_alone(const struct closure *q, uint32_t v);

#endif
