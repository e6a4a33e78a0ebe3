/* The replay of a result that is written. */
#ifndef PCC_BACKENDS_TIMELINE_REPLAY_RESULT_H
#define PCC_BACKENDS_TIMELINE_REPLAY_RESULT_H

#include "backends/backends.h"
#include "ir/exec/rounds.h"

/* replay_run for a result with a verdict and so many samples, 0: a few.  -1 and an error where that is
 * more than `most` tasks * samples, where times do not fit, and for a plan with copies of a stage. */
int replay_result(struct replay *out, const struct result *r, int64_t samples, uint32_t most,
                  struct arena *a);

#endif
