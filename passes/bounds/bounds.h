/* Lower bounds on the time per sample of every plan, contiguous or not, with arguments that can be
 * checked by hand. */
#ifndef PCC_PASSES_BOUNDS_BOUNDS_H
#define PCC_PASSES_BOUNDS_BOUNDS_H

#include "passes/bounds/reduction.h"
#include "passes/problem/claim.h"

/* Amounts of work, in arcs of flow networks looked at: a second or two for a graph of 10,000 vertices; */
#define BOUNDS_WORK UINT64_C(100000000)
/* some seconds, worth it for graphs of hundreds of vertices. */
#define BOUNDS_MOST_WORK UINT64_C(1500000000)

/* The best bound that averages, pigeonholes, reductions and weights give, at least c->lower and at most `upper`, the
 * value of a plan.  With upper = LOAD_INF (no plan is known) or a detailed c it is c->lower.  Tries one threshold at
 * least.  *spent (unless NULL): the work spent on thresholds. */
struct bound bounds_best(const struct problem *c, int64_t upper, const struct bound_means *with,
                         uint64_t *spent);

/* The best lower bound for all plans of the user's own problem that `work` finds (bounds_best), without the cost of
 * parts; `upper` is claim.value_less_parts of some plan.  Value -1: nothing is known, since there are too many kinds
 * of devices.  fits: whether plans must fit the memory.  Text lives in x->use.mem. */
struct bound bounds_all(struct ctx *x, int64_t upper, bool fits, uint64_t work,
                        struct clock *clock);

#endif
