/* The best contiguous plan. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_PLACE_H
#define PCC_PASSES_CONTIGUOUS_DP_PLACE_H

#include "passes/contiguous/placing.h"

/* Leaves it in x->results.plan, with status, bound (of contiguous plans; raises p->chain->lower to it) and argument.
 * False, and nothing said, if none was found. */
bool dp_place(struct ctx *x, struct placing *p, const struct place_options *o);

#endif
