/* Joins backward nodes of a training graph with the forward nodes that they are named after. */
#ifndef PCC_PASSES_COARSEN_MIRROR_GROUPS_H
#define PCC_PASSES_COARSEN_MIRROR_GROUPS_H

#include "passes/coarsen/reasons.h"
#include "passes/passes.h"

/* Joins in c, for WHY_MIRROR, each vertex of the base level that has a backward node with the vertex of its forward
 * twin (mirror_groups.c).  Returns the number of such backward nodes; 0 for models that are no training graphs in ONNX.
 * O(nodes and their names). */
uint32_t mirror_join(const struct ctx *x, struct classes *c);

#endif
