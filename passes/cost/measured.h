/* Times and memory from files: --costs=FILE[:CLASS,...], --profile-at=B=FILE[:CLASS,...].  The forms are described in
 * costs.md. */
#ifndef PCC_PASSES_COST_MEASURED_H
#define PCC_PASSES_COST_MEASURED_H

#include "passes/passes.h"

struct cost_table;

/* Whether x->settings names any of those files. */
bool cost_table_wanted(const struct ctx *x);
/* Reads the files that x->settings names, those of --costs in order (later ones win), for the nodes of m and for
 * x->cluster; NULL after an error.  m: x->m, or that with calls replaced; rows can then name these calls, too.  Lives
 * in the scratch arena.  Names and classes that are not there: one warning a file. */
struct cost_table *cost_table_read(struct ctx *x, const struct module *m);
/* The same, but silent about what is wrong with the files; NULL: no files, or an error. */
struct cost_table *cost_table_peek(const struct ctx *x, const struct module *m);
/* Reads the files of --profile-check and notes for each how near the predictions come to it.  0, or -1 and an error. */
int cost_table_check(const struct cost_table *t, struct ctx *x);

/* Time of node n of m on class k, ps: by --costs the node's own, else that of its operator type; else what is predicted
 * for it; -1: none. */
int64_t cost_table_time(const struct cost_table *t, nid n, uint32_t k);
/* The same for node n of x->m. */
int64_t cost_table_call(const struct cost_table *t, nid n, uint32_t k);
/* In the same order the bytes that node n of m takes beside weights, its results among them; -1: none. */
int64_t cost_table_memory(const struct cost_table *t, nid n);
int64_t cost_table_call_memory(const struct cost_table *t, nid n);

#endif
