/* Steps of the exact search: a vertex is taken into S (the set of the next device), or left out. */
#ifndef PCC_PASSES_CONTIGUOUS_IDEAL_STEP_H
#define PCC_PASSES_CONTIGUOUS_IDEAL_STEP_H

#include "passes/contiguous/ideal_state.h"

/* Works out s->now.net[e] for the present start and kind; step_net does so only if that has not been done. */
void step_look(struct search *s, uint32_t e);
static inline struct net *step_net(struct search *s, uint32_t e)
{
    if (s->now.net[e].stamp != s->now.stamp)
        step_look(s, e);
    return &s->now.net[e];
}

/* Adds v, whose predecessors are in I' + S, to S, and the vertices that then have all predecessors in to the list;
 * false (and nothing changed) if no plan within the limits can come of it.  step_untake undoes it, but for
 * search.end. */
bool step_take(struct search *s, uint32_t v);
void step_untake(struct search *s, uint32_t v);
/* Leaves v and its descendants out of S; false (and nothing changed) if I' + S then cannot get large enough
 * (search.low).  step_unskip undoes it; before: gets what search.reach was. */
bool step_skip(struct search *s, uint32_t v, int64_t before[PROBLEM_POTS]);
void step_unskip(struct search *s, uint32_t v, const int64_t before[PROBLEM_POTS]);

#endif
