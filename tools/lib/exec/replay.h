/* Samples that follow each other through the parts of a plan, whatever it was made for. */
#ifndef PCC_TOOLS_LIB_EXEC_REPLAY_H
#define PCC_TOOLS_LIB_EXEC_REPLAY_H

#include "backends/backends.h"
#include "ir/exec/sample/rounds.h"

enum {
    REPLAY_MOST = 1 << 24
}; /* tasks times samples, or micro-batches, of a line on the terminal */

/* Whether a plan can be replayed: -1 and an error if its stages have copies. */
int replay_check(const struct result *r);
/* replay_run for a result with a verdict and so many samples, 0: a few.  -1 and an error where that is
 * more than `most` tasks * samples, where times do not fit, and for a plan with copies of a stage. */
int replay_result(struct replay *out, const struct result *r, int64_t samples, uint32_t most,
                  struct arena *a);
/* The line that exec_shows.replay prints: the time of each, beside the plan's time per sample. */
int replay_rounds(FILE *f, const struct result *r, int64_t samples, struct arena *a);

#endif
