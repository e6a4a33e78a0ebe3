/* Shows the nodes inside calls of the model's functions to passes that need facts about them, such as shapes and
 * costs, without changing the model. */
#ifndef PCC_PASSES_FUNCTIONS_OPENED_CALLS_H
#define PCC_PASSES_FUNCTIONS_OPENED_CALLS_H

#include "passes/functions/inliner.h"

enum { CALLS_MOST = 500000 }; /* nodes: larger modules are not made */
/* Returns a copy of m with its calls replaced, in a.  Each call has its own copy of the function, so shapes and
 * values can differ from call to call.  Recursive calls, and calls that call_obstacle() (inliner.h) refuses, stay.
 * names: nodes inside a call are named call/inner, if that does not take too much memory.  Returns NULL if m has no
 * calls, or if the copy would have more than CALLS_MOST nodes.  O(size of the copy). */
struct inlined_module *calls_expand(const struct module *m, bool names, struct arena *a);
/* Whether m would have at most CALLS_MOST nodes if all calls that f allows were replaced; writes the number of nodes
 * to *nodes. */
bool calls_few(const struct module *m, const struct functions *f, uint64_t *nodes);

/* Appends the types and dimensions that were added to e->m, but not to m, to m, where they get the same indices. */
void calls_adopt_types(struct module *m, const struct inlined_module *e);

/* Adds the operations and traffic of node n in c to node `to` in out, and, if `runs`, its time and memory, too. */
void costs_add(struct costs *out, nid to, const struct costs *c, nid n, bool runs);
/* Returns the costs of m, in a, made of the costs c of e->m, whose placement is p.  A call gets the operations and
 * traffic of all nodes in its place, but the time and memory only of nodes that need a device: copies take no time
 * inside calls, as outside. */
struct costs *calls_fold(const struct module *m, const struct inlined_module *e,
                         const struct costs *c, const struct place *p, struct arena *a);

#endif
