/* Closures: the least load of a device that must hold some vertices and must not hold others.
 *
 * For every set S that may stand on a device of kind k, the load is time(S) + the cost of each net that S
 * touches and that has a pin elsewhere (problem.h).  The least load over all S that hold some vertices is one
 * minimum cut, so it bounds the device on which they are, whatever the rest of the plan is. */
#ifndef PCC_PASSES_BOUNDS_LEAST_LOAD_H
#define PCC_PASSES_BOUNDS_LEAST_LOAD_H

#include "ir/base/max_flow.h"
#include "passes/problem/problem.h"

struct closure {
    const struct problem *c;
    uint32_t k;
    struct flow f;
    /* number of arcs of the network itself; arcs of a single question come after these */
    uint32_t base;
    int64_t *room;  /* [arc] capacities of the network's own arcs */
    int64_t *saved; /* [arc] capacities left by the flow of the last closure_of */
    int64_t value, limit;
    int64_t *time;  /* [vertex] ps; COST_NEVER: not here */
    int64_t *alone; /* [vertex] ps: time and all its nets */
    /* of the last exact answer of at most `limit`: */
    uint8_t *side; /* [vertex] 1: in S */
    bool exact;
};

/* The network for kind k of c, which must not be `detailed`.  may[vertex] (NULL: all): bit k says whether
 * the vertex may be on that kind.  Lives in a.  O(V + pins). */
struct closure *closure_new(const struct problem *c, uint32_t k, const uint32_t *may,
                            struct arena *a);
/* The vertex may no longer be on the kind. */
void closure_deny(struct closure *q, uint32_t v);
/* The least load of a device of the kind that holds the n vertices `in`, ps; limit + 1 if it is more than limit.
 * When *work (arcs looked at) has run out it is only a lower bound, and q->exact is false. */
int64_t closure_of(struct closure *q, const uint32_t *in, uint32_t n, int64_t limit,
                   uint64_t *work);
/* The least load with the vertices of the last closure_of and without v, which is none of them. */
int64_t closure_without(struct closure *q, uint32_t v, uint64_t *work);
/* The load of v alone, ps; COST_NEVER: not here. */
int64_t closure_alone(const struct closure *q, uint32_t v);

#endif
