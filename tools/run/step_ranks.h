/* Steps with a process for each device: what step_ranks.c and the other files of step.h use of each other. */
#ifndef PCC_TOOLS_RUN_STEP_RANKS_H
#define PCC_TOOLS_RUN_STEP_RANKS_H

#include "tools/run/step.h"

struct runner;

/* Makes s->ranks of r, and gives each rank its device.  From then on *s->stop stays 0: step_stops() tells of Ctrl-C.
 * Returns 0, or an exit code after an error. */
int step_ranks_open(struct stepper *s, struct runner *r);
/* Called by all ranks when sessions are open: tells every rank which parameters the parts of each rank read, begins to
 * listen for failures of other ranks, starts the watch over --stall, and makes the groups of --sum=as-made.  Returns 0,
 * or -1 and an error. */
int step_ranks_ready(struct stepper *s);
/* Cancels what this rank still waits to receive: word of failures, and messages of a failed iteration. */
void step_ranks_close(struct stepper *s);

/* Whether an iteration has failed with several ranks: messages may still be under way, whose tensors must stay. */
bool step_is_broken(const struct stepper *s);
/* Returns the beginning of an error of this process, as ranks_speaker() does. */
const char *step_speaker(const struct stepper *s);
/* Whether a device's lists are followed in this process; ndev: the host's. */
bool step_here(const struct stepper *s, uint32_t dev);
/* Called when an iteration begins: forgets the messages of the last one, and begins to receive, in the host's process,
 * the tensors that the model returns.  Does nothing without ranks.  The caller of this function and of the next four
 * holds the lock. */
void step_ranks_begin(struct stepper *s);
/* Begins to send a tensor to another rank, unless it was begun before.  Returns whether the message has left. */
bool step_send(struct stepper *s, uint32_t tensor, uint32_t place);
/* Begins to receive a tensor of another rank. */
void step_receive(struct stepper *s, uint32_t tensor, uint32_t place);
/* Makes the sums that device dev has for part p of `whole` equal to those of the part's other devices; the lock is
 * given up meanwhile. */
void step_reduce(struct stepper *s, uint32_t p, uint32_t dev);
/* Looks after messages until none is under way and, if `lists`, all lists of this process are at their end; or until
 * the iteration has failed, and then has all other ranks told of it.  The lock is given up meanwhile. */
void step_look_after(struct stepper *s, bool lists);

/* All ranks call the functions from here to step_give_parameters() at the same time. */
/* Returns the exit code that all ranks agree on; without ranks, rc.  rc: 0; -1 or 1 after an error of this rank. */
int step_agree(struct stepper *s, int rc);
/* Called between two agreements, when no message is under way: looks for messages that came and that nothing receives.
 * A message that came twice is one; the next step would take it for its own.  Takes all of them, and reports the first.
 * step: 0, 1, ...  Returns 0, also without ranks; or -1 and an error. */
int step_strays(struct stepper *s, int64_t step);
/* Returns whether rank 0 has got Ctrl-C, or MPI fails. */
bool step_stops(struct stepper *s);
/* Brings to rank 0 the losses of all micro-batches, and the most bytes that each device held; calls step_strays().
 * Returns 0, or the exit code that all ranks agree on after an error of one. */
int step_gather(struct stepper *s, int64_t step);
/* Sends parameters that have values from rank 0 to the ranks whose parts read them.  Returns 0, or an exit code. */
int step_give_parameters(struct stepper *s);

/* ---- step_lists.c, for step_ranks.c */
/* Moves the lists of transfers as far as they go; under the lock. */
void step_move(struct stepper *s);
/* Returns words for where the lists of this process stand, in a; under the lock. */
const char *step_where(const struct stepper *s, struct arena *a);

#endif
