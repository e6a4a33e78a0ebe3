/* The cost table: times and memory of nodes from the files that the user gives by --costs=FILE[:CLASS,...] and
 * --profile-at=B=FILE[:CLASS,...].  costs.md describes the form of the files. */
#ifndef PCC_PASSES_COST_MEASURED_H
#define PCC_PASSES_COST_MEASURED_H

#include "passes/passes.h"

struct cost_table;

/* Whether the user gave --costs or --profile-at. */
bool cost_table_wanted(const struct ctx *x);
/* Reads the files of --costs and --profile-at for the nodes of m and the classes of the scene's cluster; if several
 * files of --costs give a cost, the last file counts.  m: the scene's module, or a copy with function calls replaced by
 * their nodes; the files may then name the calls, too.  Returns the table, in the scratch arena, or NULL after
 * reporting an error.  Gives a warning for each file that names nodes, operators or classes that do not exist. */
struct cost_table *cost_table_read(struct ctx *x, const struct module *m);
/* Like cost_table_read(), but reports nothing; NULL: there are no files, or an error in one. */
struct cost_table *cost_table_peek(const struct ctx *x, const struct module *m);
/* Compares predictions with the measurements in the files of --profile-check, and reports the deviations as notes.
 * Returns 0, or -1 and reports an error. */
int cost_table_check(const struct cost_table *t, struct ctx *x);
/* Scales the times of the scene's module, which has costs, so that they agree with the traces of runs among the
 * files of --costs.  Returns 0, or -1 and reports an error. */
int cost_table_scale(const struct cost_table *t, struct ctx *x);

/* Returns the time, ps, of node n of m on class k: from --costs, the node's own or else that of its operator type; else
 * the prediction from --profile-at; -1: none of these. */
int64_t cost_table_time(const struct cost_table *t, nid n, uint32_t k);
/* Returns cost_table_time() for node n of the scene's module, such as a call that is replaced in m. */
int64_t cost_table_call(const struct cost_table *t, nid n, uint32_t k);
/* Return the bytes that node n takes beside weights, its results included, from --costs or else --profile-at; -1:
 * neither has them.  The first is for a node of m, the second for a node of the scene's module. */
int64_t cost_table_memory(const struct cost_table *t, nid n);
int64_t cost_table_call_memory(const struct cost_table *t, nid n);

#endif
