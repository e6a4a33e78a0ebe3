/* Finds the backward nodes that compute gradients of weights: the pass W of a zero-bubble schedule. */
#ifndef PCC_IR_PLAN_WEIGHT_PASS_H
#define PCC_IR_PLAN_WEIGHT_PASS_H

#include "ir/plan/plan.h"

/* Whether the scene's training schedule (ZB_H1) runs the pass W separately and the model has nodes of its own for it.
 * A profile has none: it has one backward node for each layer, of which --weight-gradient-share gives W's share. */
bool weight_pass_apart(const struct scene *s);
/* Returns an array, in a: [node] 1: a node of W, which is a backward node whose results only nodes of W of the same
 * stage read: it computes gradients of weights, or updates weights.  stage_of: [node] its stage.  O(nodes + pins). */
uint8_t *weight_pass_nodes(const struct scene *s, const int32_t *stage_of, struct arena *a);

#endif
