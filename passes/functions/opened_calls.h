/* What happens inside calls of the model's functions, for passes that only look. */
#ifndef PCC_PASSES_FUNCTIONS_OPENED_CALLS_H
#define PCC_PASSES_FUNCTIONS_OPENED_CALLS_H

#include "passes/functions/inliner.h"

/* m with its calls replaced (each with its own copy of the function, so that shapes and values can differ
 * from call to call), in a; recursive calls, and those that inlining would refuse for what they pass,
 * stay.  NULL if m has no calls, or if the result would have more than CALLS_MOST nodes: then calls are
 * only boxes.  O(the result). */
enum { CALLS_MOST = 500000 };
/* names: what is in a call is named call/inner, if that does not take too much memory. */
struct inlined_module *calls_expand(const struct module *m, bool names, struct arena *a);
/* Whether f allows so many nodes; *nodes: how many. */
bool calls_few(const struct module *m, const struct functions *f, uint64_t *nodes);

/* Types that were made for e->m become types of m, with the same numbers. */
void calls_adopt_types(struct module *m, const struct inlined_module *e);

/* Costs of m, all zero, for nclass classes, in a. */
struct costs *costs_new(const struct module *m, struct arena *a, uint32_t nclass);
/* Adds the operations and traffic of node n in c to node `to` in out, and, if `runs`, its time and memory, too. */
void costs_add(struct costs *out, nid to, const struct costs *c, nid n, bool runs);
/* The costs of m from those of e->m, whose nodes are placed as p says: a call takes the time and the memory
 * of those nodes in its place that need a device, and does the work of all; copies take no time, as
 * outside of calls. */
struct costs *calls_fold(const struct module *m, const struct inlined_module *e,
                         const struct costs *c, const struct place *p, struct arena *a);

#endif
