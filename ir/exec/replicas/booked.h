/* Channels that are booked ahead of time, as Baechi's own simulator does: to compare with what it says. */
#ifndef PCC_IR_EXEC_REPLICAS_BOOKED_H
#define PCC_IR_EXEC_REPLICAS_BOOKED_H

#include "ir/exec/tasks.h"

/* Gives all tasks of a step (single_step.h) the times at which that simulator starts them, as releases and as the
 * lists of their lanes; the first n tasks are nodes, whose ranks break ties; waits are there, all counts are 1.  The
 * event core, which holds no channels then, starts them just so.  Lives in a.  O((tasks + waits) log tasks). */
void book_ahead(struct task_graph *g, uint32_t n, struct arena *a);

#endif
