/* The kinds of tasks in a step.  A step is one sample that passes through a plan alone, node by node
 * (makespan/single_step.h). */
#ifndef PCC_IR_EXEC_STEP_KIND_H
#define PCC_IR_EXEC_STEP_KIND_H

/* COMPUTE: a node runs.  MOVE: a value goes from one device to another.  OUT: a value goes from a device to the host.
 * IN: a value goes from the host to a device. */
enum step_kind { STEP_COMPUTE, STEP_MOVE, STEP_OUT, STEP_IN };

#endif
