/* Lower bounds for plans of any shape: what the devices of some nodes must hold or receive. */
#ifndef PCC_PASSES_BOUNDS_HUB_BOUND_H
#define PCC_PASSES_BOUNDS_HUB_BOUND_H

#include "passes/problem/problem.h"

/* Returns a lower bound, ps, on the value of all plans of c, with its proof, by cuts around vertices with many or dear
 * transfers; it may be below c->lower.  c must not be detailed.  Looks at no more than with->work arcs, about; writes
 * their number to *spent. */
struct bound hub_bound(const struct problem *c, const struct bound_means *with, uint64_t *spent);
/* Returns the least work, in arcs, with which hub_bound() is worth a call: with less it finds few flows, or none. */
uint64_t hub_least_work(const struct problem *c);

#endif
