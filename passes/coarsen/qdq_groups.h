/* Quantised models: QuantizeLinear and DequantizeLinear stay with the operators whose values they convert. */
#ifndef PCC_PASSES_COARSEN_QDQ_GROUPS_H
#define PCC_PASSES_COARSEN_QDQ_GROUPS_H

#include "passes/coarsen/reasons.h"
#include "passes/passes.h"

/* Joins in c, for WHY_QDQ, vertices of the base level:
 *  - a QuantizeLinear and the producer of its operand,
 *  - a DequantizeLinear and its readers of least depth (head of qdq_groups.c), or with `all` all of its readers.
 * Then the quantised tensor crosses a cut, not the float one, and runtimes find DequantizeLinear, operator and
 * QuantizeLinear in one part.  Without `all` this never makes a cycle.  Sets follows[vertex] to 1 for each
 * QuantizeLinear and DequantizeLinear that has joined, and returns their number.  O(V + E). */
uint32_t qdq_join(const struct ctx *x, bool all, struct classes *c, uint8_t *follows);

#endif
