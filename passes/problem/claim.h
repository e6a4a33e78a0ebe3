/* Claims of a planner about its plan: status, bound, and the scope of plans that both are about. */
#ifndef PCC_PASSES_PROBLEM_CLAIM_H
#define PCC_PASSES_PROBLEM_CLAIM_H

#include "passes/problem/problem.h"

/* The level that contiguous plans refer to, after the mandatory steps (x->levels.contiguous). */
struct wdag *contiguous_level(const struct ctx *x);
/* The level of plans of any shape, and the one of all plans of the user's own problem (levels.any_shape, must; the base
 * level before contract has run). */
struct wdag *any_shape_level(const struct ctx *x);
struct wdag *mandatory_level(const struct ctx *x);

/* What the cost of running parts adds at least to the value of every plan of level g, ps; 0 where that is not sure,
 * or where the problem's own loads count it (problem.start). */
int64_t claim_start(const struct ctx *x, const struct wdag *g);
/* The value of the plan dev[node], ps: p->value, which the planner's problem gave it, or the judge's where parts
 * cost something, which that problem does not know. */
int64_t claim_value(struct ctx *x, const struct problem_plan *p, const int32_t *dev);

/* The scope of a proof about x->levels.contiguous (contiguous) or x->levels.any_shape, or about a fused graph made of
 * that level. */
enum plan_scope claim_scope(const struct ctx *x, bool contiguous, bool fused);

/* The means of bounding methods: `work` arcs, the clock, and arenas of x. */
struct bound_means bounding_of(struct ctx *x, uint64_t work, struct clock *clock);

/* plan.bound_all from `all`, what bounds_all found: -1 where calls are whole that could be open, since a plan that
 * cuts them is no plan of these nodes. */
int64_t claim_bound_all(const struct ctx *x, struct bound all);

/* Fills scope, bounds, proof and status (optimal or feasible) of results.plan, whose value must be there: `within` is a
 * bound of the plans of `scope`, `all` (bounds_all) one of all plans (where calls are whole that could be open: of
 * those that keep them whole), both without what parts cost.  The plan gets the larger bound with its scope; of equal
 * ones the one for all plans.  Returns why it holds. */
const char *claim_make(struct ctx *x, enum plan_scope scope, struct bound within, struct bound all);

/* The same by the bound that the execution model of `by` knows without a search (exec_runs.bound), which is
 * returned. */
struct bound claim_run(struct ctx *x, const struct scene *by);

#endif
