/* Plans of any shape that take the same time in fewer parts, with fewer tensors between them. */
#ifndef PCC_PASSES_ANY_SHAPE_GATHER_PARTS_H
#define PCC_PASSES_ANY_SHAPE_GATHER_PARTS_H

#include "passes/any_shape/any_search.h"

/* Moves the nodes of single parts of s->best, a plan of any shape, to devices beside them, as long as there are
 * fewer parts after that, or as many and fewer tensors between them, and the plan takes no longer.  Small parts
 * come first; ends after TIDY_WORK nodes and pins looked at. */
void tidy_parts(struct any_search *s);
#define TIDY_WORK UINT64_C(20000000)

#endif
