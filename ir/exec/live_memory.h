/* Counts the bytes that are in a device's memory at one time, for devices that run whole parts (memory model LIVE). */
#ifndef PCC_IR_EXEC_LIVE_MEMORY_H
#define PCC_IR_EXEC_LIVE_MEMORY_H

#include "ir/exec/exec_runs.h"

/* Counts the memory of each device in v->load.  Before the call `used` is the sum of all bytes; the call moves this sum
 * to `sum`, sets `used` to the peak of the schedule (schedule.h) of ask->parts with rhythm y, for as many samples as
 * there can be at one time, and sets `lasting` and `one_sample`.  Without a schedule, as where devices take turns with
 * a part, `used` becomes the lasting bytes, plus what one sample has at once, plus, if y repeats, once more all that
 * the device's parts read and all that leaves them, for the samples before and after.  O(parts + tensors, and checking
 * the schedule). */
void live_memory_count(const struct rhythm_ask *ask, struct rhythm *y, struct verdict *v,
                       struct arena *a);

/* Returns the largest number of samples on their way at once, fewer than the scene allows, for which devices have room
 * under plan p; 0: there is no such number, or samples do not follow each other.  O(log samples) verdicts. */
uint32_t live_memory_samples(const struct scene *s, const struct plan *p, struct arena *a);

#endif
