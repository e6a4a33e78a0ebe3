/* The backward pass of ONNX training graphs. */
#ifndef PCC_PASSES_COARSEN_BACKWARD_H
#define PCC_PASSES_COARSEN_BACKWARD_H

#include "passes/passes.h"

/* Fills m->backward and m->color (a parameter's readers, gradient and update share one) if x->m is a
 * training graph that does not say so itself; x->place must be there. */
void training_mark(struct ctx *x);

#endif
