/* Computes how much memory devices need at least, without any search. */
#ifndef PCC_PASSES_PROBLEM_MEMORY_NEED_H
#define PCC_PASSES_PROBLEM_MEMORY_NEED_H

#include "passes/problem/problem.h"

struct memory_need {
    /* bytes: no plan fits unless each device with a limit has `least` bytes or more; 0: the present memory may
     * suffice */
    int64_t least;
    /* the vertex whose bytes are the reason for `least`; UINT32_MAX: the reason is the bytes of all vertices that only
     * `kinds` may hold */
    uint32_t vertex;
    uint32_t kinds; /* bit k: devices of kind k may hold the vertex, or the vertices */
    int64_t bytes;  /* bytes of the vertex, or of all vertices that the need is about */
    /* present memory, in bytes, of the largest device of `kinds`; if `vertex` is UINT32_MAX, of all devices of `kinds`
     * together */
    int64_t room;
    uint32_t nowhere; /* a vertex that no device may run; UINT32_MAX: there is none */
};

/* Compares the bytes of each vertex with the memory of the largest device that may hold it; and for each set of kinds,
 * the bytes of all vertices that only these kinds may hold with the memory of all devices of these kinds together.
 * Holds for plans of any shape.  O(kinds * (V + shared) * distinct sets of kinds). */
struct memory_need memory_need(const struct problem *c);

/* Returns the smallest memory, bytes, to which devices with a limit must be raised so that the plan dev[vertex] fits; 0
 * if it fits already.  O(V + shared + devices). */
int64_t memory_of_plan(const struct problem *c, const int32_t *dev, struct arena *scratch);

/* Sets each[class] to the most bytes that a device of the class lacks by verdict v.  Hosts that share their memory each
 * lack an equal part, rounded up, of what they lack together.  Returns the bytes that all devices lack together. */
int64_t memory_lacking(const struct cluster *c, const struct verdict *v, int64_t *each);

/* Returns the least memory, in bytes, such that all devices together have room for `bytes` if each smaller device is
 * raised to it; 0: some device has no limit. */
int64_t average_memory(const struct cluster *c, int64_t bytes);

/* Returns bytes that suffice for every plan of level g on each device. */
int64_t memory_that_suffices(const struct ctx *x, const struct wdag *g);

/* Reports that no plan of a shape ("contiguous plan") fits.  need: bytes per device with which a plan was found, 0: no
 * plan was found; none: bytes per device that are proven not to suffice, -1: nothing is proven; why: the end of the
 * message.  Returns PASS_INFEASIBLE. */
int report_memory(struct ctx *x, const char *shape, int64_t need, int64_t none, const char *why);

#endif
