/* Memory of devices that run whole parts: what is there at one time (memory model LIVE). */
#ifndef PCC_IR_EXEC_LIVE_MEMORY_H
#define PCC_IR_EXEC_LIVE_MEMORY_H

#include "ir/exec/exec_runs.h"

/* Sets the memory of each device in v->load, which has the sum of all bytes in `used` before: `used` becomes the peak
 * of the schedule of ask->parts with rhythm y (schedule.h), for as many samples as there can be at one time; `sum` the
 * sum; `lasting` and `one_sample` what `used` is made of.  Without a schedule, as where devices take turns with a part,
 * a device needs what lasts, what one sample has at once, and, if y repeats, once more all that its parts read and all
 * that leaves them, for the samples before and after.  O(parts + tensors, and checking the schedule). */
void live_memory_count(const struct rhythm_ask *ask, struct rhythm *y, struct verdict *v,
                       struct arena *a);

/* Returns the largest number of samples on their way at once, fewer than the scene allows, for which devices have room
 * under plan p; 0: none, or samples do not follow each other.  O(log samples) verdicts. */
uint32_t live_memory_samples(const struct scene *s, const struct plan *p, struct arena *a);

#endif
