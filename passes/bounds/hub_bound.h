/* Finds lower bounds for plans of any shape: a node with many transfers (a hub) either has all its neighbours on its
 * device, or its device pays for transfers. */
#ifndef PCC_PASSES_BOUNDS_HUB_BOUND_H
#define PCC_PASSES_BOUNDS_HUB_BOUND_H

#include "ir/base/keyed.h"
#include "passes/problem/problem.h"

/* Returns a lower bound, ps, on the value of all plans of c, with its proof in with->mem, by minimum cuts around
 * vertices with many or dear transfers; the bound may be below c->lower.  c must not be detailed.  Looks at about
 * with->work arcs at most; writes the number of arcs looked at to *spent. */
struct bound hub_bound(const struct problem *c, const struct bound_means *with, uint64_t *spent);
/* a net is dear if it costs more than 1 / HUB_DEAR of the sum of all weights */
enum { HUB_DEAR = 400 };
/* Returns the dear net of three vertices or more that costs most, the first of several; UINT32_MAX if there is none. */
uint32_t hub_dear_net(const struct problem *c);
/* Returns, in a, all vertices in the order in which they are tried as hubs, the dearest first: item is the vertex, key
 * minus the cost, in ps, of all its nets but the two dearest.  A vertex within a chain has only two nets, so its key is
 * 0.  O(pins + V log V). */
struct keyed *hub_order(const struct problem *c, struct arena *a);
/* Returns the least work, in arcs, with which a call of hub_bound() is worth while: with less it finds few flows, or
 * none. */
uint64_t hub_least_work(const struct problem *c);

#endif
