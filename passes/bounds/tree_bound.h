/* Finds lower bounds for plans of any shape by what must go from device to device if no device holds most of the
 * model. */
#ifndef PCC_PASSES_BOUNDS_TREE_BOUND_H
#define PCC_PASSES_BOUNDS_TREE_BOUND_H

#include "passes/problem/problem.h"

/* Returns a lower bound, ps, on the value of all plans of c, with its proof, by trees of transfers that lead to all
 * vertices; at most `upper`, the value of a plan, and maybe below c->lower.  Stops early where it is far from being
 * above `known`, a bound known before.  c must not be detailed.  Looks at no more than with->work pins of nets, about;
 * writes their number to *spent. */
struct bound tree_bound(const struct problem *c, int64_t known, int64_t upper,
                        const struct bound_means *with, uint64_t *spent);

#endif
