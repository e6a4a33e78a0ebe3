/* Parts of a plan of stages: where in an iteration they run. */
#ifndef PCC_IR_EXEC_ITERATION_PART_PLACES_H
#define PCC_IR_EXEC_ITERATION_PART_PLACES_H

#include "ir/exec/exec_runs.h"

/* Which stage each part of a plan of stages is of, and where in the iteration it runs.  BACKWARD: it reads what a
 * later stage makes, or what such a part does.  BOTH: a part of the last stage with nodes of the backward pass and
 * others, which runs where the backward pass does.  WEIGHT: what is W of a zero-bubble schedule (weight_pass.h). */
enum part_pass { PART_FORWARD, PART_BACKWARD, PART_BOTH, PART_WEIGHT };
struct part_places {
    uint32_t *stage; /* [part] */
    uint8_t *pass;   /* [part] enum part_pass */
};
/* false: nodes of a part are of several stages, or of none.  Lives in a.  O(nodes + uses). */
bool part_places_find(struct part_places *p, const struct staged_plan *of,
                      const struct parts *parts, const struct sample_work *w, struct arena *a);

/* An iteration as it ran, with the work of its micro-batches and the times of its parts.  It cannot be listed where
 * devices take turns, where it is too long, and where parts cannot follow its order.  of->places is there.  Lives in
 * a.  O(micro-batches * (parts + uses) log). */
struct rhythm rhythm_of_iteration(const struct rhythm_ask *of, struct arena *a);

#endif
