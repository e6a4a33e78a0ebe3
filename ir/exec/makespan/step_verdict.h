/* The verdict on a plan for one sample alone, node by node: the makespan. */
#ifndef PCC_IR_EXEC_STEP_VERDICT_H
#define PCC_IR_EXEC_STEP_VERDICT_H

#include "ir/exec/makespan/single_step.h"
#include "ir/exec/step_bound.h"
#include "ir/plan/plan.h"

/* The run of a step. */
struct step_run {
    struct task_graph g; /* made by single_step, with what lasts and the devices' memory */
    struct timeline t;
};

/* Runs the step of a plan whose nodes are where they can run.  weights[dev]: bytes that are there all the time; in a
 * profile, whose bytes all last, what it says of nodes comes on top.
 * Lives in a.  O((nodes + pins) log (nodes + pins)). */
struct step_run step_run_plan(const struct scene *s, const struct plan *p, const int64_t *weights,
                              struct arena *a);

/* The makespan of the plan's parts, ps: each starts when all that it reads is there.  Takes what it needs in a and
 * gives it back. */
int64_t step_of_parts(const struct scene *s, const struct plan *p, const struct parts *parts,
                      struct arena *a);

/* The verdict of a makespan: value, the end of all; of each device compute and load, the time of its nodes; transfer,
 * that of its hops; used, by the memory model; run, a struct step_run.  Orders that wait for each other, as well as
 * nodes that cannot run, make it not runnable, with INT64_MAX for value.  Lives in a. */
struct verdict step_verdict(const struct scene *s, const struct plan *p, struct arena *a);

/* The same where a device does not wait for the next one of the plan's order: of its nodes that are ready it takes the
 * first (nodes dispatched otherwise, and channels booked ahead, go on as the scene's model has them).  So no order is
 * stuck, and the order in which nodes start here is one that can be kept. */
struct verdict step_verdict_ready(const struct scene *s, const struct plan *p, struct arena *a);

/* The bound of a makespan: step_bound.h. */
struct exec_bound makespan_bound(const struct scene *s, struct arena *a);

#endif
