/* Finds normalisations and activations that exporters write as several operators, and runtimes can fuse into one
 * again. */
#ifndef PCC_PASSES_COARSEN_NORM_GROUPS_H
#define PCC_PASSES_COARSEN_NORM_GROUPS_H

#include "passes/coarsen/reasons.h"
#include "passes/passes.h"

/* Joins in c, for WHY_NORM, the vertices of the base level that make up a LayerNormalization, RMSNorm, Softmax,
 * Gelu (Erf or Tanh) or a group normalisation around InstanceNormalization, with the Cast, QuantizeLinear and
 * DequantizeLinear between them.  Returns the number of normalisations and activations found.  O(nodes + operands). */
uint32_t norms_join(const struct ctx *x, struct classes *c);

#endif
