/* Orders the tasks of a task graph (tasks.h): gives them ranks, and makes the lists of lanes from these. */
#ifndef PCC_IR_EXEC_TASK_ORDER_H
#define PCC_IR_EXEC_TASK_ORDER_H

#include "ir/exec/tasks.h"

/* Sets the ranks of the first n tasks by the longest path of waits from the start of the task to the end of all
 * tasks: the task with the longest path gets rank 0; ties by number.  g must have its waits, and all counts must
 * be 1.  Tasks on a cycle of waits, and tasks that such tasks wait for, get ranks without meaning.  O(tasks log
 * tasks + waits). */
void rank_by_level(struct task_graph *g, uint32_t n, struct arena *a);

/* Makes g->list, in a: the list of a lane has the tasks k < n whose lane[0] is the lane, by rank, ties by number.
 * All counts must be 1, so that items are tasks.  O(lanes + n log n). */
void list_by_rank(struct task_graph *g, uint32_t n, struct arena *a);

#endif
