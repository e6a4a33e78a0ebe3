/* Evaluates any plan: its value and memory on its devices, whether the plan can be carried out, and whether its
 * planner's claim is true.  All code that accepts, shows or compares plans calls plan_evaluate(). */
#ifndef PCC_IR_EXEC_EVALUATE_H
#define PCC_IR_EXEC_EVALUATE_H

#include "ir/plan/plan.h"

struct evaluation {
    int64_t value;    /* ps of the scene's objective, what plans are compared by */
    struct verdict v; /* loads, memory, the first violated rule, and the run */
    nid misplaced;    /* the first node that is not on the device it is pinned to; 0: none */
    /* the first violated rule: "node 'a' cannot run on acc0"; NULL: none */
    const char *why_not;
};

enum finding {
    FOUND_AS_CLAIMED,
    FOUND_BROKEN,      /* it cannot be carried out: why_not */
    FOUND_OTHER_VALUE, /* than claimed */
    FOUND_OTHER_BOUND  /* above the value, or, of a plan that is claimed to be optimal, below it */
};

/* Recomputes all figures of a plan from the module, under the execution model of the scene; the model decides which
 * fields of struct plan beside dev are read.  Lives in a.  O(nodes + pins + D) for the closed form, else as the model
 * says. */
struct evaluation plan_evaluate(const struct scene *s, const struct plan *p, struct arena *a);
/* Whether the plan can be carried out: each node is on a device that can run it and on the device it is pinned to,
 * colocated nodes are together, and no device is over its memory, unless over_memory allows that. */
bool evaluation_holds(const struct evaluation *e, bool over_memory);
/* The only rule for accepting a plan: the plan holds (over memory only with that status), its value is the claimed
 * value, and the claimed bound is at most the value, or equal to the value if the plan is claimed to be optimal. */
enum finding evaluation_confirms(const struct evaluation *e, const struct claim *c);

#endif
