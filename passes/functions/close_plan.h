/* Translates a plan that was made with open calls (opened.h) to a model in which calls are nodes again. */
#ifndef PCC_PASSES_FUNCTIONS_CLOSE_PLAN_H
#define PCC_PASSES_FUNCTIONS_CLOSE_PLAN_H

#include "ir/plan/parts.h"
#include "ir/plan/plan.h"
#include "passes/functions/opened.h"

/* A module in which each call whose nodes are all in one part is a node again, with the plan, its parts and its
 * figures for that module. */
struct closed_plan {
    struct module m;
    struct scene scene;     /* the scene of m */
    struct plan plan;       /* the plan, for the nodes of m */
    struct verdict verdict; /* figures of the plan */
    struct parts *parts;    /* the parts of the plan, as sets of nodes of m */
    /* closed: number of outermost calls that are nodes again; open: number of calls that are still open */
    uint32_t closed, open;
    const char *first_open; /* name of the first open call; "": no call is open */
};

/* Writes the translated plan x->results.plan to *out.  parts, figures: the plan's parts and its verdict, for
 * x->scene.m.  Returns false if no call can be closed, if the translated plan would be worse, or after an error: then
 * the plan is to be written for x->scene.m, with open calls.  Memory is taken from x->use.mem and x->scene.m->mem; x
 * does not change. */
bool close_plan(struct ctx *x, const struct parts *parts, const struct verdict *figures,
                struct closed_plan *out);

#endif
