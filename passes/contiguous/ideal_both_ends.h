/* The exact search from both ends: a search (ideal_search.h) of the graph and one of the reversed graph take turns. */
#ifndef PCC_PASSES_CONTIGUOUS_IDEAL_BOTH_ENDS_H
#define PCC_PASSES_CONTIGUOUS_IDEAL_BOTH_ENDS_H

#include "passes/contiguous/ideal_search.h"

struct both;

/* Makes a search for the best plan of c among the plans whose loads are at most `limit` ps; c must have vertices.
 * floor: as search_ask.floor.  max_states, max_bytes: limits of the search from each end.  The search has arenas of its
 * own, until both_free(). */
struct both *both_new(const struct problem *c, int64_t limit, int64_t floor, uint64_t max_states,
                      size_t max_bytes);
void both_free(struct both *b);

/* Goes on for about `steps` steps.  Returns SEARCH_DONE: no plan is better than the one found; SEARCH_FULL: both ends
 * reached their limits of states or bytes; SEARCH_GOING: there is more to do. */
enum search_end both_go(struct both *b, uint64_t steps);
/* Returns which limit has been reached, after SEARCH_FULL. */
const char *both_why_full(const struct both *b);
/* Lowers the limit to `limit` ps: only plans within it are sought from now on. */
void both_tighten(struct both *b, int64_t limit);
/* Returns the present limit, ps: the lower one of both ends (search_limit). */
int64_t both_limit(const struct both *b);

/* Copies the best plan found to *best if it takes less than *best; returns whether it did. */
bool both_take(const struct both *b, struct problem_plan *best);

/* Return the number of steps done, and the number of ideals kept, at both ends together. */
uint64_t both_steps(const struct both *b);
uint64_t both_states(const struct both *b);
/* Returns search_passed() of the end that has got further. */
uint32_t both_passed(const struct both *b);

/* Runs the search from both ends in one go, as dp_search() does from one end; ignores l->max_steps. */
struct dp_found dp_both(const struct problem *c, const struct dp_limits *l,
                        struct problem_plan *best);

#endif
