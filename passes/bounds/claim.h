/* What a planner may say about its plan: status, bound, and which plans these are about. */
#ifndef PCC_PASSES_BOUNDS_CLAIM_H
#define PCC_PASSES_BOUNDS_CLAIM_H

#include "passes/bounds/bounds.h"

/* The level that contiguous plans refer to, after the mandatory steps (x->levels.whole). */
struct wdag *whole_level(const struct ctx *x);
/* The level of plans of any shape, and the one of all plans of the user's own problem (x->levels.any, x->levels.must; the base
 * level before contract has run). */
struct wdag *any_level(const struct ctx *x);
struct wdag *must_level(const struct ctx *x);

/* What parts add at least to the value of every plan of level g, ps; 0 where that is not sure, or the problem counts
 * it itself (problem.h, start). */
int64_t claim_start(const struct ctx *x, const struct wdag *g);
/* What a plan takes, dev[node], whose value is that of its planner's problem: the judge's word where parts cost
 * something. */
int64_t claim_value(struct ctx *x, const struct problem_plan *p, const int32_t *dev);

/* The scope of what is known about x->levels.whole (contiguous) or x->levels.any, or about a fused graph made of it. */
enum plan_scope claim_scope(const struct ctx *x, bool contiguous, bool fused);

/* The best bound for all plans of the user's own problem that some work finds (bounds_best), without what parts
 * cost; `upper` is plan.bare of some plan.  Value -1: nothing is known, since there are too many kinds of
 * devices.  fits: false if the plan need not fit the memory.  Text lives in x->use.mem. */
struct bound claim_all(struct ctx *x, int64_t upper, bool fits, uint64_t work, struct clock *clock);

/* bound_all of a plan from what claim_all found, with what parts cost: -1 where calls are whole that could be open. */
int64_t claim_bound_all(const struct ctx *x, struct bound all);

/* Fills scope, bounds, proof and status (optimal or feasible) of x->results.plan, whose value must be there: `within` holds
 * in `scope`, `all` for all plans (for those that keep calls whole, where these could be open), both without what
 * parts cost; the larger bound is said, of equal ones the one for all.  Returns why it holds. */
const char *claim(struct ctx *x, enum plan_scope scope, struct bound within, struct bound all);

#endif
