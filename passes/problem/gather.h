/* Plans that take the same time with fewer devices, fewer parts and less that crosses. */
#ifndef PCC_PASSES_PROBLEM_GATHER_H
#define PCC_PASSES_PROBLEM_GATHER_H

#include "passes/problem/device_loads.h"

/* Moves single vertices of a plan of any shape so that the sum of all loads falls, while no load gets above the largest
 * load before (with passes apart: in each pass) and memory suffices.  At most TIDY_SWEEPS sweeps over the vertices, and
 * about TIDY_VERTICES looks at a vertex in all, each O(devices * nets of the vertex). */
void loads_tidy(struct loads *l);
enum { TIDY_SWEEPS = 50, TIDY_VERTICES = 4000000 };

/* Does the same for *best, a contiguous plan of c, which stays contiguous.  First joins devices that are neighbours in
 * the chain, where one of them can do the work of both within the largest load.  The value stays or falls.  O(stages *
 * V) more.  Does nothing if c is too large (loads_check), if stages may be copied, or if parts of passes cost
 * something. */
void tidy_problem(const struct problem *c, struct problem_plan *best, struct arena *scratch);

/* What must hold for every device when vertices of l move. */
struct tidy_limits {
    int64_t load, back;    /* ps: at most these, as loads.load and loads.back */
    const uint32_t *stage; /* [device] its place in the chain; NULL: plans of any shape */
};
/* Returns the largest loads of l's devices as limits, for plans of any shape. */
struct tidy_limits tidy_limits(const struct loads *l);

/* Whether a net of vertex v has a pin on device d. */
bool tidy_near(const struct loads *l, uint32_t v, uint32_t d);

#endif
