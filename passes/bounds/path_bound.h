/* Lower bounds for contiguous plans: what devices can hold of a graph along one of its paths. */
#ifndef PCC_PASSES_BOUNDS_PATH_BOUND_H
#define PCC_PASSES_BOUNDS_PATH_BOUND_H

#include "passes/problem/problem.h"

struct holder;

/* A search for bounds of the contiguous plans of c with values of at most `upper`.  NULL: c is detailed, has no
 * vertices, or its devices are of too many kinds.  Lives in a, which must not be released to a mark older than it.
 * O(V + pins) memory. */
struct holder *holder_new(const struct problem *c, int64_t upper, struct arena *a);

/* The best bound found so far, or the lower bound of c, if that is higher.  upper: at most that of holder_new.  Goes
 * on the next time from where it ended; *spent: the work done. */
struct bound holder_bound(struct holder *h, int64_t upper, const struct bound_means *with,
                          uint64_t *spent);

#endif
