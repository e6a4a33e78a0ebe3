/* Makes the claim of a planner about its plan: status, bound, and the scope (the set of plans that both are about). */
#ifndef PCC_PASSES_PROBLEM_CLAIM_H
#define PCC_PASSES_PROBLEM_CLAIM_H

#include "passes/problem/problem.h"

/* Returns the level whose vertices contiguous plans place: x->levels.contiguous, or before contract has run the base
 * level. */
struct wdag *contiguous_level(const struct ctx *x);
/* any_shape_level() returns the level of plans of any shape (levels.any_shape); mandatory_level() the level of all
 * plans that the user could have (levels.mandatory).  Before contract has run, both are the base level. */
struct wdag *any_shape_level(const struct ctx *x);
struct wdag *mandatory_level(const struct ctx *x);

/* Returns a number of ps that the cost of running parts adds at least to the value of every plan of level g; 0: no such
 * number is known, or the loads of the problem contain that cost already (problem.start). */
int64_t claim_start(const struct ctx *x, const struct wdag *g);
/* Returns the value, ps, of the plan dev[node]: where parts cost nothing p->value, which the planner's problem gave;
 * else the judge's value, since problems may leave out the cost of parts. */
int64_t claim_value(struct ctx *x, const struct problem_plan *p, const int32_t *dev);

/* Returns the scope of a proof.  contiguous: about contiguous plans of x->levels.contiguous; else about plans of any
 * shape of x->levels.any_shape.  fused: about the plans of a fused graph made of that level. */
enum plan_scope claim_scope(const struct ctx *x, bool contiguous, bool fused);
/* Returns words for the plans that a planner looks for, for messages that there is none: `kind` ("plan", "contiguous
 * plan", "convex plan"), followed by words such as "that keeps groups together" if only such plans are in the scope. */
const char *claim_plans(const struct ctx *x, const char *kind);

/* Returns what a bounding method may use: `work` arcs, the clock, and the module and arenas of x. */
struct bound_means bounding_of(struct ctx *x, uint64_t work, struct clock *clock);

/* Returns the value for claim.bound_all if bounds_all() (bounds/bounds.h) found the bound `all`: all.value; -1 if
 * some calls were left unopened, since `all` does not hold for plans that cut such a call. */
int64_t claim_bound_all(const struct ctx *x, struct bound all);

/* Fills scope, bounds, proof and status (optimal or feasible) of results.plan, whose value must be set.  `within` is a
 * bound of the plans of `scope`, `all` (from bounds_all) a bound of all plans that keep unopened calls whole; neither
 * counts what parts cost.  The plan gets the larger bound and its scope, of equal bounds `all`.  Returns why the chosen
 * bound holds. */
const char *claim_make(struct ctx *x, enum plan_scope scope, struct bound within, struct bound all);

/* To be called after claim_make(), if the value of p is no more than the chosen bound before the cost of parts is added
 * to both.  Returns the words to follow "no plan takes less" in the argument: "" if this holds with the cost of parts,
 * too, else " without what parts cost". */
const char *claim_less_parts(const struct plan *p);

/* Fills scope, bounds, proof and status of results.plan by the bound that the execution model of scene `by` knows
 * without a search (exec_runs.bound), and returns that bound. */
struct bound claim_run(struct ctx *x, const struct scene *by);

#endif
