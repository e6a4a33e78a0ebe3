/* A plan with stages as it is written to a split folder: cut into parts, with a list for each device
 * (ir/plan/schedule.h), and with copies of the nodes that recomputing stages run again. */
#ifndef PCC_IR_EXEC_ITERATION_WRITTEN_PLAN_H
#define PCC_IR_EXEC_ITERATION_WRITTEN_PLAN_H

#include "ir/plan/parts.h"
#include "ir/plan/plan.h"

/* A model in which nodes of recomputing stages are made again (ir/dag/remake.h), and the plan for it. */
struct written_plan {
    struct module m;
    struct scene scene; /* of m */
    struct plan plan;
    struct parts *parts;
    uint32_t copies; /* number of nodes made again; 0: nothing else here is set */
};

/* Whether any stage recomputes and the model is an ONNX training graph: only then does a folder have nodes that the
 * plan's model does not have, and written_plan_make() has something to make. */
bool written_plan_wanted(const struct scene *s, const struct stages *stages);
/* Makes *w of a plan with stages, p->stages: in each stage with recompute, copies of forward nodes make the stage's
 * forward results again from the values that the stage receives, and backward nodes read the new results.  Memory is
 * taken from a; the module and the plan do not change.  O(nodes + operands), expected, and making the parts. */
void written_plan_make(const struct staged_plan *p, struct arena *a, struct written_plan *w);
/* Returns an array, in a: [device] the most bytes that it holds at once by the lists of the plan.  run: the struct
 * iteration_run whose order the lists follow.  NULL: the model is no ONNX graph, or no lists can be made.  O(nodes +
 * pins) and making parts and lists. */
const int64_t *written_plan_peaks(const struct staged_plan *p, const void *run, struct arena *a);

#endif
