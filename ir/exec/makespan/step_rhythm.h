/* The times of a plan's parts when one sample passes through it alone, in a step (single_step.h). */
#ifndef PCC_IR_EXEC_MAKESPAN_STEP_RHYTHM_H
#define PCC_IR_EXEC_MAKESPAN_STEP_RHYTHM_H

#include "ir/exec/exec_runs.h"

/* Runs the parts on the event core and returns the times (ps) at which each part starts and ends, and at which each
 * tensor has left its device (struct rhythm of schedule.h).  Lives in a.  O((nodes + pins) log (nodes + pins)). */
struct rhythm rhythm_of_step(const struct rhythm_ask *of, struct arena *a);

#endif
