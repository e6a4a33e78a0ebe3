/* Schedules: when each device does what.
 *
 * A plan without a schedule (NULL) leaves the order to whoever runs it: each device takes its parts as their inputs
 * come, in the order of the parts (parts.h). */
#ifndef PCC_IR_PLAN_SCHEDULE_H
#define PCC_IR_PLAN_SCHEDULE_H

struct schedule;

#endif
