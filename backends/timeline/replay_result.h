/* The replay of a result that is written. */
#ifndef PCC_BACKENDS_TIMELINE_REPLAY_RESULT_H
#define PCC_BACKENDS_TIMELINE_REPLAY_RESULT_H

#include "backends/backends.h"
#include "ir/exec/iteration/iteration_verdict.h"
#include "ir/exec/sample/rounds.h"

/* replay_run for a result with a verdict and so many samples, 0: a few.  -1 and an error where that is
 * more than `most` tasks * samples, where times do not fit, and for a plan with copies of a stage. */
int replay_result(struct replay *out, const struct result *r, int64_t samples, uint32_t most,
                  struct arena *a);
/* The iteration r->trained with so many micro-batches; 0: its own, or as many as `most` allows.  -1 and an error where
 * these make more than `most` tasks, or times do not fit. */
int replay_iteration(struct iteration_run *out, const struct result *r, int64_t micro_batches,
                     uint32_t most, struct arena *a);

#endif
