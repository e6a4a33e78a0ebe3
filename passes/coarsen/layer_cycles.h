/* Finds layers that a contiguous plan could keep whole only if it put them on one device with other layers. */
#ifndef PCC_PASSES_COARSEN_LAYER_CYCLES_H
#define PCC_PASSES_COARSEN_LAYER_CYCLES_H

#include "ir/base/union_find.h"
#include "passes/passes.h"

/* Takes each class out of its layers if a path leads from it through another layer back into them (head of
 * layer_cycles.c): sets layer[vertex of the base level], the vertex's layer or 0 for none, to 0 for the vertices of
 * such classes.  c: the classes of vertices that must share a device.  order: the pairs of vertices whose order
 * contiguous plans follow; NULL: the edges.  Adds a note about the classes taken out, and one if layers were not
 * looked at. */
void layers_open_cycles(struct ctx *x, struct classes *c, const struct pairs *order,
                        uint32_t *layer);

#endif
