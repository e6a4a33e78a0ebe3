/* Which backward nodes make gradients of weights: W of a zero-bubble schedule. */
#ifndef PCC_IR_PLAN_WEIGHT_PASS_H
#define PCC_IR_PLAN_WEIGHT_PASS_H

#include "ir/plan/plan.h"

/* Whether the scene's schedule runs them apart, by the nodes of its model: a graph, of whose stages each knows its own
 * nodes.  In a profile a layer has one backward node, of which --weight-gradient-share tells. */
bool weight_pass_apart(const struct scene *s);
/* [node] 1: a backward node on which no value that leaves its stage depends, stage_of[node].  All that waits for it is
 * such a node, too: gradients of weights, and what updates these.  Lives in a.  O(nodes + pins). */
uint8_t *weight_pass_nodes(const struct scene *s, const int32_t *stage_of, struct arena *a);

#endif
