/* Makes a plan's makespan smaller by changes along its critical chain. */
#ifndef PCC_PASSES_PORTFOLIO_IMPROVE_H
#define PCC_PASSES_PORTFOLIO_IMPROVE_H

#include "ir/base/clock.h"
#include "passes/list/list.h"

struct improver;

/* Returns an improver of plans for x.  placement: a placement of the base level, which tells which vertices must share
 * a device.  clock: ends the work when it is out.  Lives in a.  O(classes * (edges + pins)). */
struct improver *improver_new(struct ctx *x, const struct placement *placement, struct clock *clock,
                              struct arena *a);
/* Does one round of changes that begins with *best.  If a better plan is found that lacks no more memory than *best,
 * writes it into the arrays of *best.  work: about how many nodes all runs together may run.  later: the share, in
 * millionths, by which a changed plan may take longer than the one before and still be kept; it falls to 0 during the
 * round.  Returns the number of plans that were run. */
uint32_t improve_plan(struct improver *s, struct list_schedule *best, int64_t work, uint32_t later);

#endif
