/* Decomposed normalisations and activations: operators that runtimes put together again. */
#ifndef PCC_PASSES_COARSEN_NORM_GROUPS_H
#define PCC_PASSES_COARSEN_NORM_GROUPS_H

#include "passes/coarsen/reasons.h"
#include "passes/passes.h"

/* Joins the vertices of the base level (WHY_NORM) that make up a LayerNormalization, RMSNorm, Softmax,
 * Gelu (Erf or Tanh) or a group normalisation around InstanceNormalization.  Casts, QuantizeLinear and
 * DequantizeLinear may lie in between and join.  Returns the number of such chains.
 * O(nodes + operands). */
uint32_t norms_join(const struct ctx *x, struct classes *c);

#endif
