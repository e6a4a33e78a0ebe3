/* The checker of execution plans (schedule.h): what holds of them for every timing. */
#ifndef PCC_IR_PLAN_SCHEDULE_CHECK_H
#define PCC_IR_PLAN_SCHEDULE_CHECK_H

#include "ir/plan/schedule.h"
#include "ir/plan/work.h"

/* Works out what s needs for s->in_flight samples: fills in s->queue and s->peak.  NULL, or why s is no execution plan
 * of w (lives in a):
 *  - a part that does not stand exactly once, on its device; parts of a device out of their order;
 *  - a tensor without exactly one SEND, RECV, ALLOC and FREE where there must be one; a SEND or RECV out of order; room
 *    that is made too late or freed too early;
 *  - instructions that wait for each other in a circle, which is told.
 * Memory is compared by schedule_fits().  Numbers of the lists may be any.  O(D^2 + samples * instructions + waits). */
const char *schedule_prove(const struct sample_work *w, struct schedule *s, struct arena *a);
/* NULL, or why s is none of w, or needs more than its queue and peak say (more is fine), or its peak more than there
 * is.  Lives in a. */
const char *schedule_check(const struct sample_work *w, const struct schedule *s, struct arena *a);
/* NULL, or which device has less memory than s->peak. */
const char *schedule_fits(const struct sample_work *w, const struct schedule *s, struct arena *a);

#endif
