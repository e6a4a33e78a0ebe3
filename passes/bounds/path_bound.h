/* Finds lower bounds for contiguous plans by what each device can hold of the graph if it holds an interval of one of
 * its paths. */
#ifndef PCC_PASSES_BOUNDS_PATH_BOUND_H
#define PCC_PASSES_BOUNDS_PATH_BOUND_H

#include "passes/problem/problem.h"

/* The state of a search for a bound, defined in path_bound.c. */
struct holder;

/* Returns a search for bounds of the contiguous plans of c with values of at most `upper` ps.  Returns NULL if c is
 * detailed or has no vertices, if its devices are too many or of too many kinds, or if some of them are hosts, for
 * which potential 0 has no scale.  Lives in a, which must not be released to a mark made before.  O(V + pins)
 * memory. */
struct holder *holder_new(const struct problem *c, int64_t upper, struct arena *a);
/* As holder_new(), but the search distinguishes which devices hold some hubs, and which devices pay for a dear net
 * (hub_bound.h): its bounds are higher, and take longer.  Returns NULL also if c has no hub. */
struct holder *holder_new_apart(const struct problem *c, int64_t upper, struct arena *a);

/* Whether the search has come to its end: more work would bring no higher bound. */
bool holder_done(const struct holder *h);

/* Continues the search until this call has done about with->work units of work.  Returns the best bound found so far,
 * or the lower bound of c if that is higher.  upper: ps, at most that of holder_new.  Writes the work of this call to
 * *spent. */
struct bound holder_bound(struct holder *h, int64_t upper, const struct bound_means *with,
                          uint64_t *spent);

#endif
