/* Kinds of the tasks of a step (ir/exec/makespan/single_step.h). */
#ifndef PCC_IR_EXEC_STEP_KIND_H
#define PCC_IR_EXEC_STEP_KIND_H

/* COMPUTE: a node runs; MOVE: a value goes from device to device; OUT, IN: to and from the host. */
enum step_kind { STEP_COMPUTE, STEP_MOVE, STEP_OUT, STEP_IN };

#endif
