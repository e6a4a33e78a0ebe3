/* What a planner may say about its plan: status, bound, and which plans these are about. */
#ifndef PCC_PASSES_CLAIM_H
#define PCC_PASSES_CLAIM_H

#include "passes/bounds.h"

/* The level of plans of any shape, and the one of all plans of the user's own problem (x->any, x->must; the base
 * level before contract has run). */
struct wdag *any_level(const struct ctx *x);
struct wdag *must_level(const struct ctx *x);

/* The scope of what is known about x->whole (contiguous) or x->any, or about a fused graph made of it. */
enum plan_scope claim_scope(const struct ctx *x, bool contiguous, bool fused);

/* The best bound for all plans of the user's own problem that some work finds (bounds_best); `upper` is the value
 * of a plan.  Value -1: nothing is known, since there are too many kinds of devices.  fits: false if the plan
 * need not fit the memory.  Text lives in x->mem. */
struct bound claim_all(struct ctx *x, int64_t upper, bool fits, uint64_t work, struct chain_clock *clock);

/* bound_all of a plan from what claim_all found: -1 where calls are whole that could be open. */
int64_t claim_bound_all(const struct ctx *x, struct bound all);

/* Fills scope, bounds, proof and status (optimal or feasible) of x->plan, whose value must be there: `within` holds
 * in `scope`, `all` for all plans (for those that keep calls whole, where these could be open); the larger bound is
 * said, of equal ones the one for all.  Returns why it holds. */
const char *claim(struct ctx *x, enum plan_scope scope, struct bound within, struct bound all);

#endif
