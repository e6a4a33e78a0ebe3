/* Evaluates any plan: its value and memory on its devices, whether the plan can be carried out, and whether its
 * planner's claim is true.  All code that accepts, shows or compares plans calls plan_evaluate(). */
#ifndef PCC_IR_EXEC_EVALUATE_H
#define PCC_IR_EXEC_EVALUATE_H

#include "ir/plan/plan.h"

/* What plan_evaluate() finds out about a plan. */
struct evaluation {
    int64_t value; /* ps: the time that the scene's objective measures; plans are compared by it */
    struct verdict v; /* loads, memory, the first violated rule, and the run */
    nid misplaced;    /* the first node that is not on the device it is pinned to; 0: none */
    /* the first edge of place.ruled that the plan cuts against the user's wish, or does not cut against it; NULL:
     * none */
    const struct ruled_edge *miscut;
    /* the violated rule in words, such as "node 'a' cannot run on acc0": that of the node `misplaced` if there is one,
     * else that of the edge `miscut`, else v.why_not; NULL: the plan breaks no rule */
    const char *why_not;
};

/* The result of comparing a plan's evaluation with its claim. */
enum finding {
    FOUND_AS_CLAIMED,
    FOUND_BROKEN, /* the plan cannot be carried out; why_not of the evaluation has the reason */
    FOUND_OTHER_VALUE, /* the plan's value is not the claimed value */
    /* the claimed bound is above the value, or below it though the claim says "optimal" */
    FOUND_OTHER_BOUND
};

/* Returns all figures of a plan, recomputed from the module under the scene's execution model.  The execution model
 * decides which fields of struct plan are read beside dev.  The result lives in a.  O(nodes + pins + devices) for
 * load_verdict(); the verdict functions of other execution models say what they take. */
struct evaluation plan_evaluate(const struct scene *s, const struct plan *p, struct arena *a);
/* Whether the plan can be carried out: each node is on a device that can run it and on the device it is pinned to,
 * edges are cut, or not cut, as the user wants, colocated nodes are together, and no device is over its memory, unless
 * over_memory allows that. */
bool evaluation_holds(const struct evaluation *e, bool over_memory);
/* Compares a plan's evaluation with its claim; only plans that are FOUND_AS_CLAIMED may be accepted.  Such a plan can
 * be carried out (over memory only if the claim's status is PLAN_OVER_MEMORY) and has the claimed value; the claimed
 * bound is at most this value, or equal to it if the claim says "optimal". */
enum finding evaluation_confirms(const struct evaluation *e, const struct claim *c);

#endif
