/* Inside shape inference: bodies of If, Loop and Scan. */
#ifndef PCC_PASSES_SHAPES_INFER_BODIES_H
#define PCC_PASSES_SHAPES_INFER_BODIES_H

#include "passes/shapes/infer.h"

/* Sets the types of the inputs of body g of node n. */
void enter_body(struct infer *f, nid n, gid g);
/* After the bodies of n have been visited: true if they must be visited again. */
bool leave_bodies(struct infer *f, nid n);
/* Loop n never stops before its trip count: its condition is true from the start, and stays so. */
bool loop_goes_on(struct infer *f, nid n);

#endif
