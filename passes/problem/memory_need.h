/* How much memory devices need at least, without any search. */
#ifndef PCC_PASSES_PROBLEM_MEMORY_NEED_H
#define PCC_PASSES_PROBLEM_MEMORY_NEED_H

#include "passes/problem/problem.h"

struct memory_need {
    /* bytes: no plan fits unless each device with a limit has that many; 0: the memory that there is may do */
    int64_t least;
    /* the vertex that needs them; UINT32_MAX: all vertices that only `kinds` may hold, together */
    uint32_t vertex;
    uint32_t kinds;   /* kinds of devices that may hold the vertices, a bit each */
    int64_t bytes;    /* what the vertex (or the vertices together) needs */
    int64_t room;     /* bytes of the largest of these devices, or of all of them together */
    uint32_t nowhere; /* a vertex that no device may run; UINT32_MAX: none */
};

/* Compares each vertex with the largest device that may hold it, and, for each set of kinds, all vertices that only
 * these kinds may hold with all their devices together.  Holds for plans of any shape.  O(kinds * (V + shared) *
 * distinct sets of kinds). */
struct memory_need memory_need(const struct problem *c);

/* The smallest memory that devices with a limit must be raised to for the plan dev[vertex] to fit; 0 if it fits
 * already.  O(V + shared + devices). */
int64_t memory_of_plan(const struct problem *c, const int32_t *dev, struct arena *scratch);

/* The least memory of each device such that all together hold `bytes`, larger devices staying as they are; 0: some
 * device has no limit. */
int64_t average_memory(const struct cluster *c, int64_t bytes);

/* Reports that no plan of a shape ("contiguous plan") fits: `need` bytes per device were found to do (0: none were),
 * `none` are proven not to (-1: nothing is proven); why: the end of the message.  Returns PASS_INFEASIBLE. */
int report_memory(struct ctx *x, const char *shape, int64_t need, int64_t none, const char *why);

#endif
