/* Finds layers that a contiguous plan could only keep whole together with other layers. */
#ifndef PCC_PASSES_COARSEN_LAYER_CYCLES_H
#define PCC_PASSES_COARSEN_LAYER_CYCLES_H

#include "ir/base/union_find.h"
#include "passes/passes.h"

/* Takes classes out of layers that they close cycles through (head of layer_cycles.c).  layer[vertex of the base
 * level]: its layer, 0: none; becomes 0 for each vertex of such a class.  c: the classes that must share a device.
 * order: the pairs of vertices whose order contiguous plans follow; NULL: the edges.  Adds a note about these classes,
 * and one if layers were not looked at. */
void layers_open_cycles(struct ctx *x, struct classes *c, const struct pairs *order,
                        uint32_t *layer);

#endif
