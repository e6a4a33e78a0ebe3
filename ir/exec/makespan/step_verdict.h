/* What a plan comes to if one sample runs through it alone, as the judge's verdict. */
#ifndef PCC_IR_EXEC_STEP_VERDICT_H
#define PCC_IR_EXEC_STEP_VERDICT_H

#include "ir/exec/makespan/single_step.h"
#include "ir/plan/plan.h"

/* A step that has run. */
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
 * that of its hops; used, by the memory model.  *run: the step, which lives in a; NULL: nothing has run, since a node
 * cannot.  Orders that wait for each other, as well as nodes that cannot run, make it not runnable, with INT64_MAX
 * for value. */
struct verdict step_verdict(const struct scene *s, const struct plan *p, struct step_run **run,
                            struct arena *a);

/* The same where a device does not wait for the next one of the plan's order: of its nodes that are ready it takes the
 * first (nodes dispatched otherwise, and channels booked ahead, go on as the scene's model has them).  So no order is
 * stuck, and the order in which nodes start here is one that can be kept. */
struct verdict step_verdict_ready(const struct scene *s, const struct plan *p,
                                  struct step_run **run, struct arena *a);

/* No plan of the scene's nodes ends earlier, ps. */
struct step_bound {
    int64_t
        path; /* of the longest way through the nodes, each on the fastest device, without transfers */
    int64_t work; /* all of that, shared by all devices */
};
/* O(nodes + operands). */
struct step_bound step_bound(const struct scene *s, struct arena *a);
/* The larger one. */
int64_t step_bound_value(const struct step_bound *b);

#endif
