/* Finds out and reports why there is no contiguous plan. */
#ifndef PCC_PASSES_CONTIGUOUS_INFEASIBLE_H
#define PCC_PASSES_CONTIGUOUS_INFEASIBLE_H

#include "passes/contiguous/interval_dp.h"

/* Reports why there is no contiguous plan for level g, and whether that is proven.  The reason is memory (the message
 * says what needs too much, and the smallest memory per device that would do), or another one.  exact: uses the exact
 * search besides interval DP over `orders`.  Searches end with the clock of `orders`.  Returns PASS_INFEASIBLE.
 * Exception: where devices need memory only for what they hold at one time (exec_live_parts()), the search may meet a
 * plan that fits after all; makes it the plan of x, without the name of a planner and without a bound, and returns
 * 0. */
int report_infeasible(struct ctx *x, const struct wdag *g, bool exact,
                      const struct interval_how *orders);
/* Reports why no plan of any shape was found, as report_infeasible() does for contiguous plans, where devices need
 * memory only for what they hold at one time (exec_live_parts()).  The bound in the message holds for plans of any
 * shape; the smallest memory found is that of a contiguous plan.  g: the level of contiguous plans. */
int report_none_fits(struct ctx *x, const struct wdag *g, const struct interval_how *orders);

#endif
