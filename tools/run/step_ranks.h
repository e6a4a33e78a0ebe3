/* Steps with a process for each device: what step_ranks.c and the other files of step.h have together. */
#ifndef PCC_TOOLS_RUN_STEP_RANKS_H
#define PCC_TOOLS_RUN_STEP_RANKS_H

#include "tools/run/step.h"

struct runner;

/* Gives each rank its device.  Returns 0, or an exit code after an error. */
int step_ranks_open(struct stepper *s, struct runner *r);
/* Called by all ranks when sessions are open.  Returns 0, or -1 and an error. */
int step_ranks_ready(struct stepper *s);
/* Gives up messages of a failed iteration. */
void step_ranks_close(struct stepper *s);

/* Whether messages of a failed iteration are under way, whose tensors must stay. */
bool step_is_broken(const struct stepper *s);
/* Returns what begins an error of this process, as ranks_speaker() does. */
const char *step_speaker(const struct stepper *s);
/* Whether a device's lists are followed in this process; ndev: the host's. */
bool step_here(const struct stepper *s, uint32_t dev);
/* An iteration begins: the host receives what is returned.  Under the lock, as the next four. */
void step_ranks_begin(struct stepper *s);
/* Begins to send a tensor to another rank, unless that has begun.  Returns whether it has left. */
bool step_send(struct stepper *s, uint32_t tensor, uint32_t place);
/* Begins to receive a tensor of another rank. */
void step_receive(struct stepper *s, uint32_t tensor, uint32_t place);
/* Makes the sums that device dev has for part p of `whole` equal to those of the part's other devices; the lock is
 * given up meanwhile. */
void step_reduce(struct stepper *s, uint32_t p, uint32_t dev);
/* Looks after messages until none is under way, and, with lists, all lists here are at their end, or the iteration has
 * failed; the lock is given up meanwhile. */
void step_look_after(struct stepper *s, bool lists);

/* The next are called by all ranks at the same time.  Returns the exit code that all have agreed on; rc: of this one.
 */
int step_agree(struct stepper *s, int rc);
/* Called between two agreements, when no message is under way: looks for one that came and that nothing receives, such
 * as one that came twice, which the next step would take for its own.  step: 0, 1, ...  Returns 0, or -1 and an error.
 */
int step_strays(struct stepper *s, int64_t step);
/* Returns whether rank 0 has got Ctrl-C. */
bool step_stops(struct stepper *s);
/* Rank 0 gets the losses of all micro-batches, and what devices held.  Returns 0, or an exit code after an error, such
 * as that of step_strays(). */
int step_gather(struct stepper *s, int64_t step);
/* Rank 0 gives parameters that have values to the ranks whose parts read them.  Returns 0, or an exit code. */
int step_give_parameters(struct stepper *s);

/* ---- step_lists.c, for these */
/* Returns the device whose list a lane is. */
uint32_t step_lane_device(const struct stepper *s, uint32_t lane);
/* Moves the lists of transfers as far as they go; under the lock. */
void step_move(struct stepper *s);
/* Returns words for where the lists of this process stand, in a; under the lock. */
const char *step_where(const struct stepper *s, struct arena *a);

#endif
