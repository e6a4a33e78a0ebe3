/* Fewer transfers at the same time per sample. */
#ifndef PCC_PASSES_TIDY_H
#define PCC_PASSES_TIDY_H

#include "passes/loads.h"

/* Moves vertices of l, a plan, one by one while the sum of all loads falls, no load comes above the largest one
 * and no device gets bytes that it has no room for.  Fewer tensors cross then, and fewer parts are needed.
 * O(sweeps * nets * devices), at most TIDY_SWEEPS sweeps. */
void tidy(struct loads *l);
enum { TIDY_SWEEPS = 50 };

#endif
