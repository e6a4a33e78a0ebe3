/* The best plan whose loads are at most a limit, or the proof that there is none: two exact searches side by side. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_DECIDE_H
#define PCC_PASSES_CONTIGUOUS_DP_DECIDE_H

#include "passes/contiguous/dp_ladder.h"

struct decide;

/* A search for the best plan of c, which must have vertices, whose loads are at most `limit`; floor: as in
 * search_ask.  r: smaller graphs of c (dp_ladder.h), NULL: only the plain search.  max_states, max_bytes: for each
 * of four searches.  Has arenas of its own, until decide_free. */
struct decide *decide_new(const struct problem *c, struct rungs *r, int64_t limit, int64_t floor,
                          uint64_t max_states, size_t max_bytes);
void decide_free(struct decide *d);
/* Its present limit, and its floor. */
int64_t decide_limit(const struct decide *d);
int64_t decide_floor(const struct decide *d);

/* Goes on for about `steps` steps.  DONE: no better plan than the one found exists; FULL: both searches reached
 * their limits of states or bytes. */
enum search_end decide_go(struct decide *d, uint64_t steps);
/* Seeks only plans whose loads are at most `limit` from now on. */
void decide_tighten(struct decide *d, int64_t limit);

/* Copies the best plan found to *best if that takes more; true if it did. */
bool decide_take(const struct decide *d, struct problem_plan *best);

/* After DONE: how many vertices the graph had lost in which the search ended; 0: it was the whole graph. */
uint32_t decide_lost(const struct decide *d);
uint64_t decide_steps(const struct decide *d);
/* Ideals kept by the search that came to its end, else by the one that keeps more. */
uint64_t decide_states(const struct decide *d);
/* How far the search that has got further is, in thousandths. */
uint32_t decide_passed(const struct decide *d);

#endif
