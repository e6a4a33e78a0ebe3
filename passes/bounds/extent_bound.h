/* Finds lower bounds for contiguous plans on many devices of several kinds: if each device can hold only a short piece
 * of a long path, the devices do not reach the end of the path. */
#ifndef PCC_PASSES_BOUNDS_EXTENT_BOUND_H
#define PCC_PASSES_BOUNDS_EXTENT_BOUND_H

#include "passes/problem/problem.h"

/* The state of a search for a bound, defined in extent_bound.c. */
struct extents;

/* Returns a search for bounds of the contiguous plans of c with values of at most `upper` ps; NULL if c is detailed or
 * has no vertices, or if times are too large to be added up.  Lives in a, which later calls of extents_bound() use,
 * too: a must not be released to an earlier mark before the search is over.  O(V + pins + EXTENT_PAIRS) memory. */
struct extents *extents_new(const struct problem *c, int64_t upper, struct arena *a);
enum {
    /* number of pairs of path vertices (ends of intervals) that are looked at, for all kinds together, about */
    EXTENT_PAIRS = 1 << 20
};

/* Continues the search until this call has looked at about with->work arcs.  Returns the best bound found by all calls
 * so far, with its proof in with->mem, or c->lower if that is higher.  upper: ps, at most that of extents_new();
 * larger bounds are not tried.  Writes the number of arcs looked at to *spent. */
struct bound extents_bound(struct extents *r, int64_t upper, const struct bound_means *with,
                           uint64_t *spent);

#endif
