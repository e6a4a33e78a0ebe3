/* Plans whose loads are at most a limit: exact searches side by side. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_DECIDE_H
#define PCC_PASSES_CONTIGUOUS_DP_DECIDE_H

#include "passes/contiguous/dp_ladder.h"

struct decide;

/* Searches for the best plan of c, which has a vertex, whose loads are at most `limit`; floor: of search_ask.
 * r: of c; NULL: without a ladder.  max_states, max_bytes: for each of four searches.
 * Has arenas of its own, until decide_free. */
struct decide *decide_new(const struct problem *c, struct rungs *r, int64_t limit, int64_t floor,
                          uint64_t max_states, size_t max_bytes);
void decide_free(struct decide *d);
/* What it asks for by now, and its floor. */
int64_t decide_limit(const struct decide *d);
int64_t decide_floor(const struct decide *d);

/* Goes on for about so many steps.  DONE: there is no better plan; FULL: it does not get through. */
enum search_end decide_go(struct decide *d, uint64_t steps);
/* Asks for loads of at most `limit` from now on. */
void decide_tighten(struct decide *d, int64_t limit);

/* Writes the best plan found to *best if that takes more. */
bool decide_take(const struct decide *d, struct problem_plan *best);

/* DONE: the vertices that the graph had lost which said so. */
uint32_t decide_lost(const struct decide *d);
uint64_t decide_steps(const struct decide *d);
/* Ideals of the search that was done, or of the largest one. */
uint64_t decide_states(const struct decide *d);
/* How far it is, of 1000. */
uint32_t decide_passed(const struct decide *d);

#endif
