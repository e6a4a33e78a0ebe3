/* The backward pass of ONNX training graphs. */
#ifndef PCC_PASSES_COARSEN_BACKWARD_H
#define PCC_PASSES_COARSEN_BACKWARD_H

#include "passes/passes.h"

/* Fills backward and color of the module m = x->scene.m if m is an ONNX training graph with forward nodes, unless
 * one of the two arrays is set already; marks the base and the top level accordingly (wdag_mark_backward), and adds
 * a note.  The readers, the gradient and the update of a parameter get one colour.  x->scene.place and the levels
 * must be set. */
void training_mark(struct ctx *x);

/* Whether the module is a training graph: its nodes' backward is set, or training_nodes.h finds backward nodes in
 * it.  place: what of the module is placed.  Changes nothing. */
bool training_is(const struct ctx *x, struct place *place);

#endif
