/* What adding gradients up and updating once cost in an iteration whose updates have parts of their own. */
#ifndef PCC_IR_EXEC_ITERATION_UPDATE_COST_H
#define PCC_IR_EXEC_ITERATION_UPDATE_COST_H

#include "ir/dag/scene.h"
#include "ir/plan/stages.h"

/* Costs of nodes beside those of their passes.  All of them each device of a stage takes whole, whatever its slice of a
 * micro-batch is.  own NULL: updates are within the backward passes, and there are no such costs. */
struct update_cost {
    const uint8_t *own;  /* [node] 1: the node runs once, in an update, and in no backward pass */
    const int64_t *each; /* [node] ps of adding up what it makes, in each backward pass */
    const int64_t *once; /* [node] ps once an iteration: of a node of an update; of dividing sums */
    const char *why;  /* why updates are within though they are wanted apart, for people; or NULL */
    bool joint;       /* no stage updates before all have their gradients (struct update_pass) */
    const nid *maker; /* [value] of a parameter: the node that makes its gradient; 0: of others */
};

/* Finds these costs on the devices that stages stand on, in a.  stages, stage_of: as of update_pass_find(); stage_of
 * NULL: before there are stages.  O(nodes + operands) and finding the update. */
struct update_cost update_cost_find(const struct scene *s, const struct stages *stages,
                                    const int32_t *stage_of, struct arena *a);

#endif
