/* Finds lower bounds for contiguous plans on many devices of several kinds by how far each device gets along a path. */
#ifndef PCC_PASSES_BOUNDS_EXTENT_BOUND_H
#define PCC_PASSES_BOUNDS_EXTENT_BOUND_H

#include "passes/problem/problem.h"

/* The state of a search for a bound, defined in extent_bound.c. */
struct extents;

/* Returns a search for bounds of the contiguous plans of c with values of at most `upper` ps; NULL if c is detailed or
 * has no vertices, or if times are too large to be added up.  Lives in a, which must not be released to a mark made
 * before.  O(V + pins + EXTENT_PAIRS) memory. */
struct extents *extents_new(const struct problem *c, int64_t upper, struct arena *a);
enum {
    /* pairs of path vertices, for all kinds together, that are looked at, about */
    EXTENT_PAIRS = 1 << 20
};

/* Continues the search until it has done about with->work units of work since this call.  Returns the best bound found
 * so far, at most `upper`, or the lower bound of c if that is higher.  upper: ps, at most that of extents_new.  Writes
 * the work of this call to *spent. */
struct bound extents_bound(struct extents *r, int64_t upper, const struct bound_means *with,
                           uint64_t *spent);

#endif
