/* Runs every plan of stages of a small model on few devices. */
#ifndef PCC_PASSES_STAGES_EVERY_PLAN_H
#define PCC_PASSES_STAGES_EVERY_PLAN_H

#include "passes/stages/train.h"

struct every_plan; /* the search, and what is known of the model (every_plan.c) */

/* Returns the data that the functions below need, in a; NULL if the model has too many states.  O(states^2 *
 * stages). */
struct every_plan *every_plan_find(struct train *t, struct arena *a);

/* Returns the number of plans under a schedule: with each stage on devices of its own or, if interleaved, also with
 * several stages on each place.  Plans that only differ in which of several equal servers they use are counted
 * apart. */
double every_plan_count(const struct every_plan *e, enum training_schedule schedule);

/* Runs all plans, under the settings of the scene, that may take less time than *best; if the fastest one does,
 * writes it to *best, in t's scratch arena.  best->n 0: there is no plan yet.  Returns the number of plans that were
 * run.  Ends early when t's clock is out. */
uint32_t every_plan_run(struct every_plan *e, struct stage_layout *best);

#endif
