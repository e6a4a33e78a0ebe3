/* Steps of the exact search: a vertex is taken into S (the set of the next device, ideal_state.h) or skipped. */
#ifndef PCC_PASSES_CONTIGUOUS_IDEAL_STEP_H
#define PCC_PASSES_CONTIGUOUS_IDEAL_STEP_H

#include "passes/contiguous/ideal_state.h"

/* step_look() brings s->now.net[e] up to date for the present start and kind of device; step_net() calls step_look()
 * only if the net is out of date, and returns the net. */
void step_look(struct search *s, uint32_t e);
static inline struct net *step_net(struct search *s, uint32_t e)
{
    if (s->now.net[e].stamp != s->now.stamp)
        step_look(s, e);
    return &s->now.net[e];
}

/* Takes v, whose predecessors are in I' + S, into S, and appends to walk.list the successors of v whose predecessors
 * are now all in I' + S.  Returns false, and changes nothing, if no plan within the limits can come of that.
 * step_untake() undoes a successful step_take(); but its caller must restore walk.end. */
bool step_take(struct search *s, uint32_t v);
void step_untake(struct search *s, uint32_t v);
/* Leaves v and its descendants out of S.  Returns false, and changes nothing, if I' + S then cannot get the weight
 * that it needs (stage.live.low).  before[] gets the old stage.reach; step_unskip() undoes the step with it. */
bool step_skip(struct search *s, uint32_t v, int64_t before[PROBLEM_POTS]);
void step_unskip(struct search *s, uint32_t v, const int64_t before[PROBLEM_POTS]);

#endif
