/* Computes what it costs to add up gradients and to update parameters once an iteration, where updates have parts of
 * their own (update_pass.h). */
#ifndef PCC_IR_EXEC_ITERATION_UPDATE_COST_H
#define PCC_IR_EXEC_ITERATION_UPDATE_COST_H

#include "ir/dag/scene.h"
#include "ir/plan/stages.h"

/* Times of nodes that are added to the times of their passes.  Each device of a stage takes them in full, whatever its
 * slice of a micro-batch is.  own NULL: updates are within the backward passes, and there are no such times. */
struct update_cost {
    const uint8_t *own; /* [node] 1: the node runs once, in an update, and in no backward pass */
    /* [node] ps, in each backward pass, of adding the gradients that it makes to their sums */
    const int64_t *each;
    /* [node] ps once an iteration: of a node of an update its time; of a node that makes gradients, dividing their
     * sums */
    const int64_t *once;
    /* why updates are within the passes though the user wants them apart, in words for users; NULL: no reason */
    const char *why;
    bool joint; /* no stage updates before all have their gradients (struct update_pass) */
    /* [value] the node that makes the gradient of this parameter; 0: the value is no parameter with a gradient */
    const nid *maker;
    const uint8_t *counts; /* [value] 1: it tells how many samples there are (struct update_pass) */
};

/* Finds these costs, in a, for the devices of the stages.  stages, stage_of: as parameters of update_pass_find();
 * stage_of NULL: there are no stages yet.  O(nodes + operands) and finding the update. */
struct update_cost update_cost_find(const struct scene *s, const struct stages *stages,
                                    const int32_t *stage_of, struct arena *a);

#endif
