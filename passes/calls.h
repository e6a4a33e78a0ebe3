/* What happens inside calls of the model's functions, for passes that only look. */
#ifndef PCC_PASSES_CALLS_H
#define PCC_PASSES_CALLS_H

#include "passes/inliner.h"

/* m with its calls replaced (each with its own copy of the function, so that shapes and values can differ
 * from call to call), in a; recursive calls, and those that inlining would refuse for what they pass,
 * stay.  NULL if m has no calls, or if the result would have more than CALLS_MOST nodes: then calls are
 * only boxes.  O(the result). */
enum { CALLS_MOST = 500000 };
struct inlined *calls_expand(const struct module *m, struct arena *a);

/* Types that were made for e->m become types of m, with the same numbers. */
void calls_adopt_types(struct module *m, const struct inlined *e);

/* Empty costs of m for that many classes, in a. */
struct costs *costs_new(const struct module *m, struct arena *a, uint32_t nclass);
/* The costs of m from those of e->m: a call takes what the nodes that replaced it take. */
struct costs *calls_fold(const struct module *m, const struct inlined *e, const struct costs *c,
                         struct arena *a);

#endif
