/* A plan with stages as a split folder has it: with the nodes that recomputing stages run again, in parts, with the
 * lists of its devices (ir/plan/schedule.h). */
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

/* Whether the stages of an ONNX training graph are to recompute; only then is there something to write. */
bool written_plan_wanted(const struct scene *s, const struct stages *stages);
/* Makes *w of a plan with stages, p->stages: in each stage with recompute its backward nodes read results of its
 * forward nodes that are made again from the values that the stage receives.  Memory is taken from a; the module and
 * the plan do not change.  O(nodes + operands), expected, and making the parts. */
void written_plan_make(const struct staged_plan *p, struct arena *a, struct written_plan *w);
/* Returns the most bytes that each device has at once by the lists of the plan, [device] in a.  run: the iteration that
 * the lists follow.  NULL: the model is no ONNX graph, or there are no lists.  O(nodes + pins) and making parts and
 * lists. */
const int64_t *written_plan_peaks(const struct staged_plan *p, const void *run, struct arena *a);

#endif
