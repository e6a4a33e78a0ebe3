/* Finds lower bounds for plans of any shape: if no device holds most of the model, much must be sent between devices
 * where all nodes are connected with each other by many short ways. */
#ifndef PCC_PASSES_BOUNDS_TREE_BOUND_H
#define PCC_PASSES_BOUNDS_TREE_BOUND_H

#include "passes/problem/problem.h"

/* Returns a lower bound, ps, on the value of all plans of c, by trees of transfers that lead to all vertices; at most
 * `upper`, the value of a plan, and maybe below c->lower.  The proof, in with->mem, is NULL if the bound is not above
 * `known`, a bound known before; the search stops early if it cannot come above `known`.  c must not be detailed.
 * Looks at about with->work pins of nets at most; writes the number of pins looked at to *spent. */
struct bound tree_bound(const struct problem *c, int64_t known, int64_t upper,
                        const struct bound_means *with, uint64_t *spent);

#endif
