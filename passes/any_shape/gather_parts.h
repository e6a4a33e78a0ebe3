/* Plans of any shape that take the same time in fewer parts, with fewer tensors between them. */
#ifndef PCC_PASSES_ANY_SHAPE_GATHER_PARTS_H
#define PCC_PASSES_ANY_SHAPE_GATHER_PARTS_H

#include "passes/any_shape/any_search.h"

/* Changes s->best, a plan of any shape: moves all nodes of a part to a device with a neighbouring part, wherever that
 * leaves fewer parts, or as many with fewer tensors between them, and the plan takes no longer.  Tries small parts
 * first; stops after about TIDY_WORK looks at nodes and pins, or TIDY_LATE ns after the planner's clock is out. */
void tidy_parts(struct any_search *s);
#define TIDY_WORK UINT64_C(20000000)
#define TIDY_LATE INT64_C(100000000)

#endif
