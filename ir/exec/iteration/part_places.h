/* Parts of a plan of stages: where in an iteration they run. */
#ifndef PCC_IR_EXEC_ITERATION_PART_PLACES_H
#define PCC_IR_EXEC_ITERATION_PART_PLACES_H

#include "ir/exec/exec_runs.h"

/* Which stage each part of a plan of stages is of, and where in the iteration it runs.  BACKWARD: the part reads a
 * result of a later stage, or of another BACKWARD part.  BOTH: a part of the last stage with nodes of the backward
 * pass and others, which runs where the backward pass does.  WEIGHT: gradients of weights in a zero-bubble schedule, W
 * (weight_pass.h). */
enum part_pass { PART_FORWARD, PART_BACKWARD, PART_BOTH, PART_WEIGHT };
struct part_places {
    uint32_t *stage; /* [part] */
    uint8_t *pass;   /* [part] enum part_pass */
};
/* false: nodes of a part are of several stages, or of none.  Lives in a.  O(nodes + uses). */
bool part_places_find(struct part_places *p, const struct staged_plan *of,
                      const struct parts *parts, const struct sample_work *w, struct arena *a);

/* The rhythm of an iteration that has run: the work of all micro-batches, and the times of all parts.  Impossible
 * where devices take turns, where there are too many instances, or where parts cannot follow the order of the
 * iteration.  of->places must be set.  Lives in a.  O(micro-batches * (parts + uses) log). */
struct rhythm rhythm_of_iteration(const struct rhythm_ask *of, struct arena *a);

#endif
