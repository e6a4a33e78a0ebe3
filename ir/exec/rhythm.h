/* How a plan's parts follow each other, for the lists of schedule.h: round by round, or in one step. */
#ifndef PCC_IR_EXEC_RHYTHM_H
#define PCC_IR_EXEC_RHYTHM_H

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

#endif
