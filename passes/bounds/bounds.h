/* Lower bounds on the time per sample of every plan, contiguous or not, with arguments that a reader can check with a
 * calculator. */
#ifndef PCC_PASSES_BOUNDS_BOUNDS_H
#define PCC_PASSES_BOUNDS_BOUNDS_H

#include "passes/bounds/reduction.h"
#include "passes/problem/claim.h"

/* Amounts of work for bounds_best(), in looks at arcs of flow networks.  BOUNDS_WORK takes a second or two for a graph
 * of 10,000 vertices; BOUNDS_MOST_WORK takes some seconds, which is worth it for graphs of hundreds of vertices. */
#define BOUNDS_WORK UINT64_C(100000000)
#define BOUNDS_MOST_WORK UINT64_C(1500000000)
/* work for a plan that is proven best already, where the bound only tells what plans of any shape could take */
#define BOUNDS_PROVEN_WORK (BOUNDS_WORK / 100)

/* Returns the best bound for c that average loads, the pigeonhole principle, reductions, weights, hubs and trees give:
 * at least c->lower and at most `upper`, the value of a plan in ps.  Returns c->lower if c is detailed or upper is
 * LOAD_INF (no plan is known).  If upper is above c->lower, tries at least one threshold, even if with->work is 0.
 * Writes the work spent on thresholds, without that spent on hubs, trees and weights, to *spent unless it is NULL. */
struct bound bounds_best(const struct problem *c, int64_t upper, const struct bound_means *with,
                         uint64_t *spent);

/* Returns the best bound, without the cost of parts, that bounds_best finds with `work` for all plans that the user
 * could have (mandatory_level, claim.h).  upper: claim.value_less_parts of some plan; must_fit: whether only plans that
 * fit the memories of the devices count.  The bound's value is -1 if there are too many kinds of devices.  Its text
 * lives in x->use.mem. */
struct bound bounds_all(struct ctx *x, int64_t upper, bool must_fit, uint64_t work,
                        struct clock *clock);

#endif
