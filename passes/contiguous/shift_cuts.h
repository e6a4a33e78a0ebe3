/* Moves the cuts of a contiguous plan until what its devices need at one time fits. */
#ifndef PCC_PASSES_CONTIGUOUS_SHIFT_CUTS_H
#define PCC_PASSES_CONTIGUOUS_SHIFT_CUTS_H

#include "passes/passes.h"

/* Starts from the contiguous plan of x, whose devices need more at one time than they have.  Looks, among plans that
 * cut the same order of vertices elsewhere, for a plan that fits, and then for one that takes less; the judge counts
 * time and memory.  Returns whether it found a plan that fits; this is then the plan of x, and its claim has a value,
 * but no bound.  Does nothing if the plan has slots, stages or copies.  The deadline of the clock ends this only once a
 * plan fits.  At most SHIFT_LOOKS looks at nodes (shift_cuts.c). */
bool shift_cuts(struct ctx *x, struct clock *clock);

#endif
