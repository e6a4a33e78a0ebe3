/* Finds lower bounds for plans of any shape by what the devices of some nodes must hold or receive. */
#ifndef PCC_PASSES_BOUNDS_HUB_BOUND_H
#define PCC_PASSES_BOUNDS_HUB_BOUND_H

#include "ir/base/keyed.h"
#include "passes/problem/problem.h"

/* Returns a lower bound, ps, on the value of all plans of c, with its proof, by cuts around vertices with many or dear
 * transfers; it may be below c->lower.  c must not be detailed.  Looks at no more than with->work arcs, about; writes
 * their number to *spent. */
struct bound hub_bound(const struct problem *c, const struct bound_means *with, uint64_t *spent);
/* a net is dear if one more payment of it is 1 / HUB_DEAR of all weights */
enum { HUB_DEAR = 400 };
/* Returns the dearest net of three vertices or more, of several the first; UINT32_MAX if no net is dear. */
uint32_t hub_dear_net(const struct problem *c);
/* Returns, in a, all vertices in the order in which they are tried as hubs, the dearest first: key is -(the cost, in
 * ps, of all nets of the vertex but its two dearest).  A vertex within a chain has only two nets, so its key is 0.
 * O(pins + V log V). */
struct keyed *hub_order(const struct problem *c, struct arena *a);
/* Returns the least work, in arcs, with which hub_bound() is worth a call: with less it finds few flows, or none. */
uint64_t hub_least_work(const struct problem *c);

#endif
