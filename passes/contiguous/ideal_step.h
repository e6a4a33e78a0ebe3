/* Steps of the exact search: a vertex is taken into S, or left out. */
#ifndef PCC_PASSES_CONTIGUOUS_IDEAL_STEP_H
#define PCC_PASSES_CONTIGUOUS_IDEAL_STEP_H

#include "passes/contiguous/ideal_state.h"

/* What S does to net e. */
void step_look(struct search *s, uint32_t e);
static inline struct net *step_net(struct search *s, uint32_t e)
{
    if (s->net[e].stamp != s->stamp)
        step_look(s, e);
    return &s->net[e];
}

/* Adds v, whose predecessors are in, to S, and what it enables to the list; false (and nothing
 * done) if that cannot lead anywhere.  step_untake undoes it, but for search.end. */
bool step_take(struct search *s, uint32_t v);
void step_untake(struct search *s, uint32_t v);
/* Leaves v and all above it out; false (and nothing done) if too little is then within reach.  step_unskip
 * undoes it; before: what search.reach was. */
bool step_skip(struct search *s, uint32_t v, int64_t before[PROBLEM_POTS]);
void step_unskip(struct search *s, uint32_t v, const int64_t before[PROBLEM_POTS]);

#endif
