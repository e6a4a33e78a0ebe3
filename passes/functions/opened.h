/* Opens calls for planning: in the module, the nodes of the called functions stand in the place of the calls, so that
 * planners see them.  When a plan is written, a call whose nodes are all in one part is closed: it is a node again. */
#ifndef PCC_PASSES_FUNCTIONS_OPENED_H
#define PCC_PASSES_FUNCTIONS_OPENED_H

#include "ir/plan/parts.h"
#include "passes/functions/inliner.h"

/* The open calls of the module m = x->scene.m; x->results.opened points to it while calls are open. */
struct open_calls {
    struct module from;                /* the model before, with these calls as nodes */
    const struct functions *functions; /* facts about the functions of the model */
    struct site *site; /* [nsite] the open calls, from 1; their nodes are in m's main graph */
    uint32_t nsite;
    uint32_t *within; /* [node of m] the innermost site that contains the node; 0: no site does */
};

/* Opens the calls of the main graph of m = x->scene.m that `how` selects (its names and main_only are set here).
 * Changes m and x->results.opened if there are any.  Memory is taken from m->mem; how.functions must live as long.
 * Returns the number of open calls; -1: their names would take too much memory, nothing changed.
 * O(size of the new module). */
int64_t opened_make(struct ctx *x, struct inline_how how);

/* Returns an array, in a: [site] 1: the call can be a node again without making the plan take more time or memory.
 * Then all its placed nodes are in one part, of one training pass; the part has all values that the call is given; and
 * no copy makes or reads a result of the call.  A Shape of a value that the call is given may be in another part:
 * planners put it where the value is made, but the closed call has the value, too.  p, parts: the placement and the
 * parts of x->scene.m.  O(nodes + operands + depth of calls * uses of their results). */
uint8_t *opened_closable(const struct ctx *x, const struct place *p, const struct parts *parts,
                         struct arena *a);

/* A copy of x->scene.m in which some open calls are nodes again. */
struct closed_module {
    struct module m;           /* with types and costs */
    struct open_calls *opened; /* the calls that are still open in m; NULL: none */
    nid *node;                 /* [node of m] the same node of x->scene.m; 0: a closed call */
    /* [node of m] site in x->results.opened of a closed call; 0: the node is no closed call */
    uint32_t *site;
};

/* Writes to *out a copy of x->scene.m in which calls with closing[site] != 0, and all calls inside them, are closed.
 * opened_closable() must allow these calls; p: the placement of x->scene.m.  x is not changed; memory is taken from
 * x->scene.m->mem.  O(nodes + operands). */
void opened_close(struct ctx *x, const struct place *p, const uint8_t *closing,
                  struct closed_module *out);

#endif
