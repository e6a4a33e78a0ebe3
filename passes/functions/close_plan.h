/* A plan that was made with calls open, in terms of the model that it was made for. */
#ifndef PCC_PASSES_FUNCTIONS_CLOSE_PLAN_H
#define PCC_PASSES_FUNCTIONS_CLOSE_PLAN_H

#include "ir/plan/parts.h"
#include "ir/plan/plan.h"
#include "passes/functions/opened.h"

/* A module in which calls that no cut divides are nodes again, and the plan, its parts and figures for that module. */
struct closed_plan {
    struct module m;
    struct scene scene; /* of m */
    struct plan plan;
    struct verdict verdict;
    struct parts *parts;
    /* closed: outermost calls that are nodes again; open: calls still open */
    uint32_t closed, open;
    const char *first_open; /* name of an open call */
};

/* Makes that of x->results.plan, whose parts and figures (of x->m) are given; false: x->m has to do.  Lives in
 * x->use.mem and x->m->mem; x does not change. */
bool close_plan(struct ctx *x, const struct parts *parts, const struct verdict *was,
                struct closed_plan *out);

#endif
