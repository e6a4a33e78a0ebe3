/* Computes start times by the rules of Baechi's own simulator, which books channels ahead of time, so that figures can
 * be compared with Baechi's. */
#ifndef PCC_IR_EXEC_REPLICAS_BOOKED_H
#define PCC_IR_EXEC_REPLICAS_BOOKED_H

#include "ir/exec/tasks.h"

/* Sets task.release of all tasks of a step (makespan/single_step.h) to the times at which that simulator starts them,
 * task.rank to the order in which it books them, and makes g->list by these ranks, in a.  The event core then starts
 * each task at its release time.  The first n tasks must be the nodes, whose ranks decide which of two nodes that
 * become ready at the same time is taken first; g must have its waits, and all counts must be 1.  O((tasks + waits)
 * log tasks). */
void book_ahead(struct task_graph *g, uint32_t n, struct arena *a);

#endif
