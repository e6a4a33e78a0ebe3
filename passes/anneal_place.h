/* Annealing on a coarse level, then on the whole graph. */
#ifndef PCC_PASSES_ANNEAL_PLACE_H
#define PCC_PASSES_ANNEAL_PLACE_H

#include "passes/anneal.h"
#include "passes/place_run.h"

/* Improves best, a plan of `whole`, the chain of p->whole (value CHAIN_INF: none is known yet; it stays if none
 * is found), with the settings of s, which counts the moves.  If p->level is coarser, half of the work goes to
 * that level first.  0, or -1 and an error if the graph is too large or the objective another one
 * (loads.h). */
int anneal_place(struct ctx *x, struct placing *p, const struct chain *whole, struct anneal *s,
                 struct chain_plan *best);

#endif
