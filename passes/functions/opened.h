/* Calls that stand open while a run plans: planners see the nodes inside, and what is written has the call
 * again wherever no cut divides it. */
#ifndef PCC_PASSES_FUNCTIONS_OPENED_H
#define PCC_PASSES_FUNCTIONS_OPENED_H

#include "ir/plan/parts.h"
#include "passes/functions/inliner.h"

/* What x->results.opened points to while calls of x->m stand open. */
struct open_calls {
    struct module from; /* the model with these calls as nodes */
    const struct functions *functions;
    struct site *site; /* [nsite] the open calls, from 1; their nodes are in x->m's main graph */
    uint32_t nsite;
    uint32_t *within; /* [node of x->m] the innermost site that it is in; 0: none */
};

/* Opens the calls of x->m's main graph that `how` says (names and main_only are set here): x->m and
 * x->results.opened change if there are any.  Lives in x->m->mem, as
 * how.functions must.  The number of calls; -1: their names would take too much memory, and nothing changed.
 * O(the result). */
int64_t opened_make(struct ctx *x, struct inline_how how);

/* [site] 1: the call can be a node again without making the plan take more time or memory: all its placed nodes are
 * in one part, that part has all values that the call is given, and its results are neither made nor read by copies.
 * A Shape of a value that the call is given does not count: while planning it stays with the value's producer, but
 * the call has that value, too.  p, parts: the places and parts of x->m.  Lives in a.  O(nodes + operands + depth of
 * calls * uses of their results). */
uint8_t *opened_closable(const struct ctx *x, const struct place *p, const struct parts *parts,
                         struct arena *a);

/* x->m with calls as nodes again. */
struct closed_module {
    struct module m;           /* with types and costs */
    struct open_calls *opened; /* the calls that are open in m; NULL: none */
    nid *node;                 /* [node of m] the same node in x->m; 0: a call that was closed */
    uint32_t *site; /* [node of m] the site of x->results.opened that this call was; 0: none */
};

/* Closes the calls with shut[site] != 0, which must be closable (opened_closable), and all inside of them, into
 * *out.  x is not changed.  Lives in x->m->mem.  O(nodes + operands). */
void opened_close(struct ctx *x, const struct place *p, const uint8_t *shut,
                  struct closed_module *out);

#endif
