/* What dpl-place and dp-place have in common: from levels of the context to its plan. */
#ifndef PCC_PASSES_PLACE_RUN_H
#define PCC_PASSES_PLACE_RUN_H

#include "passes/chain.h"
#include "passes/interval_dp.h"

/* The level that plans refer to: after the mandatory steps. */
struct wdag *whole_level(const struct ctx *x);
/* The clock of a planner that starts now. */
struct chain_clock planner_clock(const struct ctx *x);
/* An empty plan for g. */
struct chain_plan no_plan(struct ctx *x, const struct wdag *g);

/* Leaves best, a plan for the vertices of level g, in x->plan. */
void leave_plan(struct ctx *x, const char *planner, const struct wdag *g,
                const struct chain_plan *best);

/* Says why there is no plan: memory (with the smallest memory per device that would do; proven, if
 * `exact` and the search is short), or something else; works until the clock of dpl is out.
 * PASS_INFEASIBLE. */
int report_infeasible(struct ctx *x, const struct wdag *g, bool exact,
                      const struct interval_run *dpl);

#endif
