/* The exact search from both ends. */
#ifndef PCC_PASSES_CONTIGUOUS_IDEAL_BOTH_ENDS_H
#define PCC_PASSES_CONTIGUOUS_IDEAL_BOTH_ENDS_H

#include "passes/contiguous/ideal_search.h"

struct both;

/* A search for the best plan of c, which must have vertices, whose loads are at most `limit`; floor: as in
 * search_ask; max_states, max_bytes: for each end.  Has arenas of its own, until both_free. */
struct both *both_new(const struct problem *c, int64_t limit, int64_t floor, uint64_t max_states,
                      size_t max_bytes);
void both_free(struct both *b);

/* Goes on for about `steps` steps.  DONE: no better plan than the one found exists; FULL: both ends reached their
 * limits of states or bytes. */
enum search_end both_go(struct both *b, uint64_t steps);
/* Seeks only plans whose loads are at most `limit` from now on. */
void both_tighten(struct both *b, int64_t limit);
int64_t both_limit(const struct both *b);

/* Copies the best plan found to *best if that takes more; true if it did. */
bool both_take(const struct both *b, struct problem_plan *best);

uint64_t both_steps(const struct both *b);
uint64_t both_states(const struct both *b);
/* Vertices passed, from the end that has passed most. */
uint32_t both_passed(const struct both *b);

/* In one go: dp_search (max_steps is ignored; steps are those of both ends). */
struct dp_found dp_both(const struct problem *c, const struct dp_limits *l,
                        struct problem_plan *best);

#endif
