/* Making a plan's makespan smaller by changes along its critical chain. */
#ifndef PCC_PASSES_PORTFOLIO_IMPROVE_H
#define PCC_PASSES_PORTFOLIO_IMPROVE_H

#include "ir/base/clock.h"
#include "passes/list/list.h"

struct improver;

/* Makes an improver of plans of x; placement: for the groups. Lives in a. O(classes * (edges + pins)). */
struct improver *improver_new(struct ctx *x, const struct placement *placement, struct clock *clock,
                              struct arena *a);
/* One round: *best becomes a better plan, in its own arrays, or stays; one that lacks no more memory is looked for.
 * work: nodes that all runs together may have.  later: the share, in millionths, by which plans on the way may end
 * later than those that they are made of, at first.  Returns how many plans were run. */
uint32_t improve_plan(struct improver *s, struct list_schedule *best, int64_t work, uint32_t later);

#endif
