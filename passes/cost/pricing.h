/* Computes times of nodes with other sizes than they have in the module: the times that the pass named cost would give
 * to pieces of a node. */
#ifndef PCC_PASSES_COST_PRICING_H
#define PCC_PASSES_COST_PRICING_H

#include "passes/passes.h"

struct pricing;

/* Returns the state for pricing nodes of the scene's module, whose costs must be there, in x->use.scratch.
 * O(nodes + operands). */
struct pricing *pricing_begin(struct ctx *x);
/* Returns the type of v with numbers for all names of dimensions, an index in module.type. */
uint32_t pricing_type(const struct pricing *p, vid v);
/* Returns the ps that node n takes on class cls if its operands have the types in[] and its results the types out[]
 * (indices in module.type, numbers for all dimensions; 0: its own type).  If the same value is two operands with
 * different types, it counts as two values. */
int64_t pricing_time(struct pricing *p, nid n, uint32_t cls, const uint32_t *in,
                     const uint32_t *out);
/* If the costs say that node n takes 0 ps on class cls because the kernel of a product adds its bias, returns the ps
 * that n takes as a kernel of its own; else returns 0: the costs are right. */
int64_t pricing_apart(const struct pricing *p, nid n, uint32_t cls);
/* Returns the ps on class cls of a node that only moves data; bytes: read and written ones together. */
int64_t pricing_move(const struct pricing *p, uint32_t cls, int64_t bytes);

#endif
