/* How parts follow each other in one step. */
#ifndef PCC_IR_EXEC_MAKESPAN_STEP_RHYTHM_H
#define PCC_IR_EXEC_MAKESPAN_STEP_RHYTHM_H

#include "ir/exec/exec_runs.h"

/* With the times that parts and their transfers have on the event core (single_step.h).  Lives in a.
 * O((nodes + pins) log (nodes + pins)). */
struct rhythm rhythm_of_step(const struct rhythm_ask *of, struct arena *a);

#endif
