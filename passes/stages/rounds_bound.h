/* Finds a lower bound for plans with several stages on each device (--schedule=interleaved), for stage_bound.c. */
#ifndef PCC_PASSES_STAGES_ROUNDS_BOUND_H
#define PCC_PASSES_STAGES_ROUNDS_BOUND_H

#include "passes/stages/stage_ways.h"

struct rounds; /* what all questions have in common (rounds_bound.c) */

/* Input of the bound. */
struct rounds_of {
    const struct train *t;
    const struct training *m;     /* settings with an interleaved schedule */
    const struct stage_states *s; /* states of all layers; NULL: there are too many */
    /* [state] the least ps to move a micro-batch's values out of the state.  move: to a stage on any devices;
     * move_one: to a stage on a single device */
    const int64_t *move, *move_one;
    /* ways: ways through these states, or through those of the heaviest path; NULL: none.  choice: which of the
     * settings of `ways` m is */
    const struct stage_ways *ways;
    uint32_t choice;
};

/* Returns the data that rounds_refutes() needs.  The data live in a, and so must everything that *of points to.
 * O(layers * devices + states log states). */
struct rounds *rounds_set_up(const struct rounds_of *of, struct arena *a);
/* Returns whether it is proved that no plan with two or more stages on each device takes `most` ps or less.  O(states *
 * layers), and for each number of places O(devices^3 + devices * layers log layers), with at most 32 devices. */
bool rounds_refutes(const struct rounds *r, int64_t most);

#endif
