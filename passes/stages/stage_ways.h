/* Ways through the states of a model.  The stages of a plan, one after the other, are such a way (stage_ways.c).  So a
 * time that no way can do without is a lower bound for all plans, and the best ways are proposals for plans. */
#ifndef PCC_PASSES_STAGES_STAGE_WAYS_H
#define PCC_PASSES_STAGES_STAGE_WAYS_H

#include "passes/stages/train.h"

struct stage_ways;

/* Input of the search. */
struct stage_ways_of {
    const struct train *t;
    /* [n] settings that plans may have; they differ in schedule, size and number of micro-batches only */
    const struct training *model;
    uint32_t n;
    uint32_t states; /* the most states of the model (stage_states.h) that are used; 0: 400 */
};

/* Prepares the search.  Returns NULL if none is possible: with PipeDream's schedule, or if there are too many states
 * and devices.  The data live in a.  O(states^2 * devices) for each of the settings. */
struct stage_ways *stage_ways_find(const struct stage_ways_of *of, struct arena *a);
/* Returns the states of the search: those of all layers if stage_ways_whole(), else those of the heaviest path through
 * the model. */
const struct stage_states *stage_ways_states(const struct stage_ways *w);
bool stage_ways_whole(const struct stage_ways *w);
/* Returns the bytes that cross the cut at a state. */
int64_t stage_ways_cut(const struct stage_ways *w, uint32_t state);
/* Returns the number of stages between two states, on each number of devices: the steps of stage_ways_turn(). */
int64_t stage_ways_pieces(const struct stage_ways *w);
/* Returns whether the settings number `choice` are searched; they are not if other settings allow all of their ways.
 */
bool stage_ways_searched(const struct stage_ways *w, uint32_t choice);
/* Returns whether no plan under the settings number `choice`, which are searched, takes `most` ps or less.  Nothing is
 * said of plans with several stages on each device (rounds_bound.h).  O(states^2 * devices^2). */
bool stage_ways_refute(struct stage_ways *w, uint32_t choice, int64_t most);

/* Looks for ways that may take `most` ps or less under the settings number `choice`, which are searched.  Of these ways
 * sets *plan to the one on which a micro-batch gets to the end and back soonest, an AllReduce included (`around` in
 * stage_ways.c).  Returns false if there is no such way, or the states are not those of all layers.  The plan lives in
 * the scratch arena of t. */
bool stage_ways_plan(struct stage_ways *w, uint32_t choice, int64_t most,
                     struct stage_layout *plan);

/* Input of stage_ways_turn(): plans with several stages on each of `places` places. */
struct stage_turn {
    uint32_t places, most_devices; /* number of places; the most devices that one has */
    double time;                   /* ps: no stage takes longer for all micro-batches */
    /* turn: weight of a ps of a micro-batch's way through all stages and back; price: weight of a ps for which a device
     * is busy */
    double turn, price;
};
/* Returns the least, over all ways, of a micro-batch's way and the time for which devices are busy, weighted as *q
 * says.  A device is busy with all micro-batches of its stages and with their AllReduces, except the part of an
 * AllReduce that rounds_bound.h hides behind backward passes.  Settings number `choice` need not be searched; but they
 * must have interleaved stages.  O(states^2 * devices). */
double stage_ways_turn(const struct stage_ways *w, uint32_t choice, const struct stage_turn *q);

/* Returns whether n devices can share a micro-batch in slices that the settings allow. */
bool can_share_micro_batch(const struct training *m, uint32_t n);
/* Returns the part, in ps, of an AllReduce of `reduce` ps that overlapping cannot hide.  b: ps of the last backward
 * pass of its stage; f: ps of the first forward pass of the next iteration. */
int64_t least_exposed(const struct training *m, int64_t reduce, int64_t f, int64_t b);

#endif
