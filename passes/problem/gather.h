/* Plans that take the same time with fewer devices, fewer parts and less that crosses. */
#ifndef PCC_PASSES_PROBLEM_GATHER_H
#define PCC_PASSES_PROBLEM_GATHER_H

#include "passes/problem/device_loads.h"

/* Moves single vertices of a plan of any shape so that the sum of all loads falls, while no load gets above the
 * largest one (passes apart: of each pass) and memory suffices.  At most TIDY_SWEEPS sweeps over the vertices, and
 * TIDY_VERTICES looks at a vertex in all, each O(devices * nets of the vertex). */
void loads_tidy(struct loads *l);
enum { TIDY_SWEEPS = 50, TIDY_VERTICES = 4000000 };

/* The same for *best, a contiguous plan of c, which stays contiguous; before that, two devices next to each other in
 * the chain become one where one of them can do the work of both within the largest load.  The value stays or falls.
 * O(stages * V) more; does nothing if c is too large (device_loads.h). */
void tidy_problem(const struct problem *c, struct problem_plan *best, struct arena *scratch);

/* What no device may exceed when vertices of l move: the largest loads of all. */
struct tidy_limits {
    int64_t load, back;
    const uint32_t *stage; /* [device] its place in the chain; NULL: plans of any shape */
};
struct tidy_limits tidy_limits(const struct loads *l);

/* Whether a net of vertex v touches device d. */
bool tidy_near(const struct loads *l, uint32_t v, uint32_t d);

#endif
