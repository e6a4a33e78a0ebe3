/* Writes re-computation that a plan promises into the model: the stages that the plan lets recompute. */
#ifndef PCC_PASSES_RECOMPUTE_REMAKE_PLAN_H
#define PCC_PASSES_RECOMPUTE_REMAKE_PLAN_H

#include "ir/plan/parts.h"
#include "ir/plan/plan.h"
#include "passes/passes.h"

/* A model in which nodes of recomputing stages are made again, and the plan for it. */
struct remade_plan {
    struct module m;
    struct scene scene; /* of m */
    struct plan plan;
    struct verdict
        verdict; /* the figures of the plan as it was made, with the nodes of m counted */
    struct parts *parts;
    uint32_t copies; /* number of nodes made again; 0: nothing else here is set */
};

/* Whether the stages of an ONNX training graph are to recompute; only then is there something to write. */
bool remake_wanted(const struct scene *s, const struct stages *stages);
/* Makes *out of a plan with stages, p->stages: in each stage with recompute its backward nodes read results of its
 * forward nodes that are made again from the values that the stage receives.  figures: the plan's verdict.  Returns 0;
 * or -1 and reports an error.  Memory is taken from x->use.mem and the module's; x and the plan do not change. */
int remake_plan(struct ctx *x, const struct staged_plan *p, const struct verdict *figures,
                struct remade_plan *out);

#endif
