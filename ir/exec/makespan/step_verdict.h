/* The verdict on a plan whose value is the makespan: the time of a step, in which one sample passes through the plan
 * alone, node by node (single_step.h). */
#ifndef PCC_IR_EXEC_STEP_VERDICT_H
#define PCC_IR_EXEC_STEP_VERDICT_H

#include "ir/exec/makespan/single_step.h"
#include "ir/exec/step_bound.h"
#include "ir/plan/plan.h"

/* The run of a step. */
struct step_run {
    struct task_graph g; /* made by single_step(), with g.lasting and g.memory */
    struct timeline t;
};

/* Runs the step of a plan whose nodes are on devices that can run them.  weights[dev]: bytes in memory all the time;
 * in a profile the bytes of the device's nodes (costs.own) are added to them.  Lives in a.  O((nodes + pins) log
 * (nodes + pins)). */
struct step_run step_run_plan(const struct scene *s, const struct plan *p, const int64_t *weights,
                              struct arena *a);

/* Returns the makespan of the plan's parts, ps: each part starts when all values that it reads are there.  Memory is
 * taken from a and freed. */
int64_t step_of_parts(const struct scene *s, const struct plan *p, const struct parts *parts,
                      struct arena *a);

/* Cuts a plan into parts and sets *value to step_of_parts() of them.  AUTO: as few parts as possible, unless parts that
 * are cut at transfers save at least 5 % of the makespan, as auto-place demands of a plan that is not contiguous, and 5
 * % more each time that the number of parts is doubled beyond twice the fewest.  TRANSFERS: as few as possible where
 * parts that are cut at transfers could not follow each other.  *fine: whether parts are cut at transfers.  The parts
 * live in a. */
struct parts *step_parts(const struct scene *s, const struct plan *p, enum parts_cut how,
                         int64_t *value, bool *fine, struct arena *a);

/* Returns the verdict on a plan.  value: the makespan.  load[dev]: compute and load are the time of its nodes,
 * transfer that of its hops, used its bytes by the memory model.  run: a struct step_run.  If the orders of devices
 * wait for each other, or a node cannot run on its device, the plan is not runnable and its value is INT64_MAX.
 * Lives in a. */
struct verdict step_verdict(const struct scene *s, const struct plan *p, struct arena *a);

/* Does the same as step_verdict(), but with DISPATCH_PLAN a device does not wait for the next node of the plan's order:
 * of its ready nodes it takes the one that comes first in that order.  So no order leads to a deadlock; and the order
 * in which nodes start here is one that devices can keep.  Other dispatches, and CONTENTION_BAECHI, run as in
 * step_verdict(). */
struct verdict step_verdict_ready(const struct scene *s, const struct plan *p, struct arena *a);

/* Returns a lower bound on the makespan of all plans of the scene (step_bound.h); its texts live in a. */
struct exec_bound makespan_bound(const struct scene *s, struct arena *a);

#endif
