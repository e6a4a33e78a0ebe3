/* Plans that take the same time with fewer devices, fewer parts and less that crosses. */
#ifndef PCC_PASSES_TIDY_H
#define PCC_PASSES_TIDY_H

#include "passes/any_search.h"
#include "passes/loads.h"

/* Moves single vertices of a plan of any shape so that the sum of all loads falls, while no load gets above the
 * largest one (passes apart: of each pass) and memory suffices.  O(devices * nets of a vertex) for each look at a
 * vertex; TIDY_SWEEPS looks at each, fewer where that is more than TIDY_VERTICES. */
void tidy(struct loads *l);
enum { TIDY_SWEEPS = 50, TIDY_VERTICES = 4000000 };

/* The same for a contiguous plan of c, which stays contiguous; before that, neighbours in the chain become one
 * where one device can do the work of both in that time.  *best keeps its value or gets a smaller one.  O(stages
 * * V) more; nothing if c is too large (loads.h). */
void tidy_chain(const struct chain *c, struct chain_plan *best, struct arena *scratch);

/* Moves the nodes of single parts of s->best, a plan of any shape, to devices beside them, as long as there are
 * fewer parts after that, or as many and fewer tensors between them, and the plan takes no longer.  Small parts
 * come first; ends after TIDY_WORK nodes and pins looked at. */
void tidy_parts(struct any_search *s);
#define TIDY_WORK UINT64_C(20000000)

#endif
