/* How a plan's parts follow each other, for the lists of schedule.h: round by round, or in one step. */
#ifndef PCC_IR_EXEC_RHYTHM_H
#define PCC_IR_EXEC_RHYTHM_H

#include "ir/exec/iteration/iteration_verdict.h"
#include "ir/plan/plan.h"
#include "ir/plan/schedule.h"
#include "ir/plan/work.h"

/* In rounds a part comes a round behind those that it reads of on other devices; where transfers overlap computing two,
 * so that a transfer has one for itself.  GPipe's backward pass is a phase of its own.  Lives in a.
 * O(parts + inputs). */
struct rhythm rhythm_of_rounds(const struct scene *s, const struct parts *parts,
                               const struct work *w, struct arena *a);
/* One step, with the times that its parts and their transfers have on the event core (single_step.h).  Lives in a.
 * O((nodes + pins) log (nodes + pins)). */
struct rhythm rhythm_of_step(const struct scene *s, const struct plan *p, const struct parts *parts,
                             const struct work *w, struct arena *a);

/* A sample alone by subgraphs (latency_parts.h), which are numbered by their starts: each device runs its parts by
 * number, and what a part makes has left when it ends.  start, end and sent are places in that order, no times.  Lives
 * in a.  O(parts + tensors). */
struct rhythm rhythm_of_latency(const struct work *w, struct arena *a);

/* Which stage each part of a plan of stages is of, and where in the iteration it runs.  BACKWARD: it reads what a
 * later stage makes, or what such a part does.  BOTH: a part of the last stage with nodes of the backward pass and
 * others, which runs where the backward pass does.  WEIGHT: what is W of a zero-bubble schedule (weight_pass.h). */
enum part_pass { PART_FORWARD, PART_BACKWARD, PART_BOTH, PART_WEIGHT };
struct part_places {
    uint32_t *stage; /* [part] */
    uint8_t *pass;   /* [part] enum part_pass */
};
/* false: nodes of a part are of several stages, or of none.  Lives in a.  O(nodes + uses). */
bool part_places_find(struct part_places *p, const struct planned *of, const struct parts *parts,
                      const struct work *w, struct arena *a);

/* An iteration as it ran: *all, the work of its micro-batches, and the times of its parts.  NULL in *all, and *why:
 * devices take turns, it is too long to be written, or parts cannot follow the iteration's order.  Lives in a.
 * O(micro-batches * (parts + uses) log). */
struct rhythm rhythm_of_iteration(const struct iteration_run *run, const struct part_places *places,
                                  const struct work *w, struct work **all, const char **why,
                                  struct arena *a);

#endif
