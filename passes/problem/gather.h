/* Tidies finished plans: they take no longer afterwards, but may use fewer devices, have fewer parts and need fewer
 * transfers. */
#ifndef PCC_PASSES_PROBLEM_GATHER_H
#define PCC_PASSES_PROBLEM_GATHER_H

#include "passes/problem/device_loads.h"

/* Moves single vertices of a plan of any shape so that the sum of all loads falls, while no load rises above the
 * largest load that there was (with passes apart: in each pass) and memory suffices.  At most TIDY_SWEEPS sweeps over
 * the vertices, and about TIDY_VERTICES looks at a vertex in all, each O(devices * nets of the vertex). */
void loads_tidy(struct loads *l);
enum { TIDY_SWEEPS = 50, TIDY_VERTICES = 4000000 };

/* Does the same for *best, a contiguous plan of c, and keeps it contiguous.  Before that, joins devices that are
 * neighbours in the chain, where one of them can do the work of both within the largest load.  The value does not rise.
 * Takes O(stages * V) more time.  Does nothing if c is too large (loads_check), if stages may be copied, or if parts of
 * passes cost something. */
void tidy_problem(const struct problem *c, struct problem_plan *best, struct arena *scratch);

/* What must hold for every device when vertices of l move. */
struct tidy_limits {
    int64_t load, back;    /* ps: the most that loads.load and loads.back of a device may be */
    const uint32_t *stage; /* [device] its place in the chain; NULL: plans of any shape */
};
/* Returns the largest loads of l's devices as limits, for plans of any shape. */
struct tidy_limits tidy_limits(const struct loads *l);

/* Whether a net of vertex v has a pin on device d. */
bool tidy_near(const struct loads *l, uint32_t v, uint32_t d);

#endif
