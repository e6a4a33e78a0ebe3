/* One door for every plan: what it comes to on its devices, whether it can be carried out, and whether that is what
 * its planner claims.  Whoever takes, shows or compares a plan asks here. */
#ifndef PCC_IR_EXEC_EVALUATE_H
#define PCC_IR_EXEC_EVALUATE_H

#include "ir/exec/iteration/iteration_verdict.h"
#include "ir/exec/latency/latency_verdict.h"
#include "ir/exec/makespan/step_verdict.h"

struct evaluation {
    int64_t value;    /* ps of the scene's objective, what plans are compared by */
    struct verdict v; /* loads, memory, and what the plan violates */
    nid misplaced;    /* the first node that is not on the device it is pinned to; 0: none */
    /* what is violated first, "node 'a' cannot run on acc0"; NULL: nothing */
    const char *why_not;
    const struct step_run *step;         /* of a makespan, if it could run; else NULL */
    const struct iteration_run *trained; /* the same of an iteration time */
    const struct latency_run *latency;   /* and of a latency */
};

enum finding {
    FOUND_AS_CLAIMED,
    FOUND_BROKEN,      /* it cannot be carried out: why_not */
    FOUND_OTHER_VALUE, /* than claimed */
    FOUND_OTHER_BOUND  /* above the value, or, of a plan that is claimed to be optimal, below it */
};

/* Recomputes all of a plan (dev and copies of it, for a makespan dev and rank, for a latency dev and
 * slot) from the module, under the objective of
 * the scene's model.  Lives in a.  O(nodes + pins + D), for a makespan and its logarithm. */
struct evaluation evaluate(const struct scene *s, const struct plan *p, struct arena *a);
/* Whether the plan can be carried out: each node on a device that runs it and that it is pinned to, nodes together
 * that must be, and no device over its memory, unless over_memory is taken. */
bool evaluation_holds(const struct evaluation *e, bool over_memory);
/* The one rule by which a plan is accepted: it holds (over memory only with that status), takes what it claims, and
 * its bound is at most that, or just that where it is claimed to be optimal. */
enum finding evaluation_confirms(const struct evaluation *e, const struct claim *c);

#endif
