/* How much memory devices need at least, without any search. */
#ifndef PCC_PASSES_PROBLEM_MEMORY_NEED_H
#define PCC_PASSES_PROBLEM_MEMORY_NEED_H

#include "passes/problem/problem.h"

struct memory_need {
    /* bytes: no plan fits unless each bounded device has so many; 0: what they have may do */
    int64_t least;
    uint32_t vertex;  /* that needs them; UINT32_MAX: the vertices that only `kinds` may have */
    uint32_t kinds;   /* of devices that may have it, or them, a bit each */
    int64_t bytes;    /* that it needs, or they need together */
    int64_t room;     /* bytes of the largest of these devices, or of all of them together */
    uint32_t nowhere; /* a vertex that no device may run; UINT32_MAX: none */
};

/* Looks at each vertex and the largest device that may have it, and at the vertices that only some kinds may have
 * and all that these hold.  Plans of any shape of c's graph.  O(kinds * (V + shared) * distinct sets of kinds). */
struct memory_need memory_need(const struct problem *c);

/* The smallest memory of bounded devices with which a plan fits them, dev[vertex]: 0 if it fits what they have.
 * O(V + shared + devices). */
int64_t memory_of_plan(const struct problem *c, const int32_t *dev, struct arena *scratch);

#endif
