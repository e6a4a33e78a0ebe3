/* Counts the bytes that are in a device's memory at one time while many samples follow each other (memory model
 * LIVE). */
#ifndef PCC_IR_EXEC_SAMPLE_SAMPLE_MEMORY_H
#define PCC_IR_EXEC_SAMPLE_SAMPLE_MEMORY_H

#include "ir/plan/plan.h"

/* Returns the verdict on a plan for the time per sample: that of load_verdict(); but if exec_live_parts(), load[].used
 * is `peak` of the schedule of the plan's parts (schedule.h), for as many samples as there can be at one time.  Devices
 * that take turns have no schedule; each needs its lasting bytes, what one sample has at once, and once more all that
 * its parts read and all that leaves them, for the samples before and after.  A plan whose nodes have no device keeps
 * the sum of all bytes.  O(nodes + pins, and checking the schedule). */
struct verdict sample_verdict(const struct scene *s, const struct plan *p, struct arena *a);

/* Returns a number of bytes that suffices on a device for every plan with one part on each device: the bytes of all
 * weights and state, and the bytes of each value times the number of samples that can be on their way at once through
 * all devices of the cluster.  Plans with more parts can need more, which sample_verdict() counts.  O(nodes +
 * values). */
int64_t sample_memory_most(const struct scene *s);

#endif
