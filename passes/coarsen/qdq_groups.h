/* Quantised models: QuantizeLinear and DequantizeLinear stay with the operators they belong to. */
#ifndef PCC_PASSES_COARSEN_QDQ_GROUPS_H
#define PCC_PASSES_COARSEN_QDQ_GROUPS_H

#include "passes/coarsen/reasons.h"
#include "passes/passes.h"

/* Joins vertices of the base level (WHY_QDQ):
 *  - a QuantizeLinear and the producer of its operand,
 *  - a DequantizeLinear and those of its readers that come first (several, if none of them can come
 *    before another), or with `all` each of its readers.
 * What crosses a cut is then the quantised tensor, and runtimes find DequantizeLinear, operator and
 * QuantizeLinear in one part.  Without `all` this never makes a cycle.  Returns how many of the two
 * operators have joined; follows[vertex] becomes 1 for them.  O(V + E). */
uint32_t qdq_join(const struct ctx *x, bool all, struct classes *c, uint8_t *follows);

#endif
