/* Lower bounds for contiguous plans: what devices can hold of a graph along one of its paths. */
#ifndef PCC_PASSES_BOUNDS_PATH_BOUND_H
#define PCC_PASSES_BOUNDS_PATH_BOUND_H

#include "passes/problem/problem.h"

struct holder;

/* A search for bounds of the contiguous plans of c with values of at most `upper`.  NULL: c is detailed, has no
 * vertices, or its devices are of too many kinds.  Lives in a, which must not be released to a mark older than it.
 * O(V + pins) memory. */
struct holder *holder_new(const struct problem *c, int64_t upper, struct arena *a);

/* Raises c->lower, of the c of h, with its reason and its argument, which names the nodes of m (NULL: vertices
 * have numbers) and lives in mem.  upper: at most that of holder_new, more than c->lower.  Looks at about `work`
 * arcs, and goes on from there the next time; returns how many it looked at. */
uint64_t holder_raise(struct holder *h, struct problem *c, int64_t upper, uint64_t work,
                      struct clock *clock, const struct module *m, struct arena *mem);

#endif
