/* Shape inference: what happens before and after visits of the bodies of If, Loop and Scan. */
#ifndef PCC_PASSES_SHAPES_INFER_BODIES_H
#define PCC_PASSES_SHAPES_INFER_BODIES_H

#include "passes/shapes/infer.h"

/* Sets the types of the inputs of body g of node n, before a visit of the body. */
void enter_body(struct infer *f, nid n, gid g);
/* Returns, after a visit of the bodies of n, whether they must be visited again, since a carried value changed. */
bool leave_bodies(struct infer *f, nid n);
/* Whether Loop n certainly does not stop before its trip count: its condition is true at the start and stays so. */
bool loop_goes_on(struct infer *f, nid n);

#endif
