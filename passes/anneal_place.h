/* Annealing on a coarse level, then on the whole graph. */
#ifndef PCC_PASSES_ANNEAL_PLACE_H
#define PCC_PASSES_ANNEAL_PLACE_H

#include "passes/anneal.h"
#include "passes/place_run.h"

/* Improves best, a plan of `any`, the problem of plans of any shape (value CHAIN_INF: none is known yet; it stays
 * if none is found), with the settings of s, which counts the moves.  If p->level is coarser, half of the work
 * goes to that level first.  0, or -1 and an error if the graph is too large (loads.h). */
int anneal_place(struct ctx *x, struct placing *p, const struct chain *any, struct anneal *s,
                 struct chain_plan *best);

/* Devices of the vertices of level g under a plan of the nodes that keeps each vertex together. */
void any_lift(const struct ctx *x, const struct wdag *g, const int32_t *node_dev, int32_t *dev);

/* Lets annealing of `any` start from orders of `whole`, the contiguous problem of the same nodes. */
void any_starts(const struct ctx *x, const struct chain *any, const struct chain *whole,
                struct anneal *s);

#endif
