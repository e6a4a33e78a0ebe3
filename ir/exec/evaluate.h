/* One door for every plan: what it comes to on its devices, whether it can be carried out, and whether that is what
 * its planner claims.  Whoever takes, shows or compares a plan asks here. */
#ifndef PCC_IR_EXEC_EVALUATE_H
#define PCC_IR_EXEC_EVALUATE_H

#include "ir/plan/plan.h"

struct evaluation {
    int64_t value;    /* ps of the scene's objective, what plans are compared by */
    struct verdict v; /* loads, memory, what the plan violates, and what ran */
    nid misplaced;    /* the first node that is not on the device it is pinned to; 0: none */
    /* what is violated first, "node 'a' cannot run on acc0"; NULL: nothing */
    const char *why_not;
};

enum finding {
    FOUND_AS_CLAIMED,
    FOUND_BROKEN,      /* it cannot be carried out: why_not */
    FOUND_OTHER_VALUE, /* than claimed */
    FOUND_OTHER_BOUND  /* above the value, or, of a plan that is claimed to be optimal, below it */
};

/* Recomputes all of a plan from the module, under the execution model of the scene, which says what of struct plan
 * counts beside dev.  Lives in a.  O(nodes + pins + D) for the closed form, else as the model says. */
struct evaluation evaluate(const struct scene *s, const struct plan *p, struct arena *a);
/* Whether the plan can be carried out: each node on a device that runs it and that it is pinned to, nodes together
 * that must be, and no device over its memory, unless over_memory is taken. */
bool evaluation_holds(const struct evaluation *e, bool over_memory);
/* The one rule by which a plan is accepted: it holds (over memory only with that status), takes what it claims, and
 * its bound is at most that, or just that where it is claimed to be optimal. */
enum finding evaluation_confirms(const struct evaluation *e, const struct claim *c);

#endif
