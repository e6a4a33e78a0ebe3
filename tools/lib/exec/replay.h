/* Replays a plan: runs samples one after the other through its parts, also if the plan was made for another
 * objective. */
#ifndef PCC_TOOLS_LIB_EXEC_REPLAY_H
#define PCC_TOOLS_LIB_EXEC_REPLAY_H

#include "backends/backends.h"
#include "ir/exec/sample/rounds.h"

/* Largest replay for a line on the terminal: number of tasks times number of samples or micro-batches. */
enum { REPLAY_MOST = 1 << 24 };

/* Checks that the plan of r can be replayed.  Returns 0; or, if a stage has copies, reports an error and returns
 * -1. */
int replay_check(const struct result *r);
/* Replays the plan of r, which has a verdict, by replay_run() (ir/exec/sample/rounds.h) into *out, with memory of a.
 * samples: how many; 0: a few.  Returns 0; or reports an error and returns -1, if tasks times samples are more than
 * `most`, if times would overflow, or if a stage has copies. */
int replay_result(struct replay *out, const struct result *r, int64_t samples, uint32_t most,
                  struct arena *a);
/* A function for exec_shows.replay (backends.h): replays the plan and prints the time for each sample, beside the
 * plan's time per sample. */
int replay_rounds(FILE *f, const struct result *r, int64_t samples, struct arena *a);

#endif
