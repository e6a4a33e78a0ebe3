/* Finds the stage, the training pass and the times of each part of a plan with stages, in an iteration
 * (iteration.h). */
#ifndef PCC_IR_EXEC_ITERATION_PART_PLACES_H
#define PCC_IR_EXEC_ITERATION_PART_PLACES_H

#include "ir/exec/exec_runs.h"

/* The pass of a stage in which a part runs.  BACKWARD: the part reads a result of a later stage, or of a BACKWARD
 * part of its stage; in the last stage also a part with only backward nodes.  BOTH: a part of the last stage with
 * forward and backward nodes, which runs in the backward pass.  WEIGHT: a part that only computes gradients of
 * weights, which a zero-bubble schedule runs in a pass of its own (weight_pass.h).  UPDATE: a part that only makes
 * new parameters of gradients that were added up, once an iteration (update_pass.h).  FORWARD: all other parts. */
enum part_pass { PART_FORWARD, PART_BACKWARD, PART_BOTH, PART_WEIGHT, PART_UPDATE };
struct part_places {
    uint32_t *stage; /* [part] stage of the part */
    uint8_t *pass;   /* [part] enum part_pass */
};
/* Finds stage and pass of each part, in a; w is the work of the parts.  Returns false if nodes of a part belong to
 * several stages, or to none.  O(nodes + uses). */
bool part_places_find(struct part_places *p, const struct staged_plan *of,
                      const struct parts *parts, const struct sample_work *w, struct arena *a);

/* Returns the work of an iteration that has run (of->verdict->run) and the times of all its parts (struct rhythm of
 * schedule.h).  The work is that of all micro-batches; each device of a stage works on its slices of them.  The field
 * `work` is NULL, with the reason in why_not, if devices take turns, if slices are not known or are not whole samples,
 * if there are too many parts and tensors, or if parts cannot run in the order of the iteration.  of->places must be
 * set.  Lives in a.  O(micro-batches * (parts + uses) log). */
struct rhythm rhythm_of_iteration(const struct rhythm_ask *of, struct arena *a);

#endif
