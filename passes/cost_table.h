/* Times from outside: what --costs=FILE[:CLASS,...] brings.  The forms are described in costs.md. */
#ifndef PCC_PASSES_COST_TABLE_H
#define PCC_PASSES_COST_TABLE_H

#include "passes/passes.h"

struct cost_table;

/* Reads x->cost_files in order (later ones win) for x->m and x->cluster; NULL after an error.  Lives
 * in the scratch arena.  Names and classes that are not there: one warning a file. */
struct cost_table *cost_table_read(struct ctx *x);
/* Time of node n on class k: the node's own, else that of its operator type; -1: none. */
int64_t cost_table_time(const struct cost_table *t, nid n, uint32_t k);

#endif
