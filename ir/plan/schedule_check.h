/* Checks schedules (schedule.h): proves that the lists can be executed to the end, however long instructions take. */
#ifndef PCC_IR_PLAN_SCHEDULE_CHECK_H
#define PCC_IR_PLAN_SCHEDULE_CHECK_H

#include "ir/plan/schedule.h"
#include "ir/plan/work.h"

/* Checks s as a schedule of w and computes s->queue and s->peak for s->in_flight samples.  Returns NULL, or the first
 * error as text, in a:
 *  - a part is not computed exactly once, on its device, or the parts of a device are out of order;
 *  - a tensor has not exactly one SEND, RECV, ALLOC and FREE where it needs one, a SEND or RECV is out of order, or
 *    memory is allocated too late or freed too early;
 *  - instructions wait for each other in a circle: the text lists them.
 * s->queue and s->peak must have room; after an error they mean nothing.  Does not compare s->peak with the memory of
 * devices: see schedule_fits().  The lists may come from an untrusted file: instructions may have any numbers.  O(D^2 +
 * samples * instructions + waits). */
const char *schedule_prove(const struct sample_work *w, struct schedule *s, struct arena *a);
/* Checks a schedule that came with queue and peak, without changing it: by schedule_prove(), then that its queue and
 * peak are at least the computed ones, then by schedule_fits().  Returns NULL, or the first error as text, in a. */
const char *schedule_check(const struct sample_work *w, const struct schedule *s, struct arena *a);
/* Compares s->peak with the memory of each device.  Returns NULL, or text, in a, on the first device that has too
 * little memory. */
const char *schedule_fits(const struct sample_work *w, const struct schedule *s, struct arena *a);
/* Returns words for an instruction of device dev: "acc0 computes 'part1.onnx' of sample 2".  Lives in a. */
const char *instruction_text(const struct sample_work *w, const struct instruction *i, uint32_t dev,
                             int64_t sample, struct arena *a);

#endif
