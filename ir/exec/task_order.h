/* Ranks of tasks, which decide the order on lanes: for generators of task graphs. */
#ifndef PCC_IR_EXEC_TASK_ORDER_H
#define PCC_IR_EXEC_TASK_ORDER_H

#include "ir/exec/tasks.h"

/* Ranks the first n tasks by the longest way from their start to the end of all, the longest first; ties by
 * number.  The waits of g are set; all counts are 1.  Tasks on a circle of waits, and all tasks before them, get ranks
 * without meaning.  O(tasks log tasks + waits). */
void rank_by_level(struct task_graph *g, uint32_t n, struct arena *a);

/* The lists of all lanes: the first n tasks, whose counts are 1, each on its first lane, by rank; equal ones by
 * number.  Lives in a.  O(lanes + n log n). */
void list_by_rank(struct task_graph *g, uint32_t n, struct arena *a);

#endif
