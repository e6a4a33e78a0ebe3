/* The exact search, prepared by searches of smaller graphs. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_LADDER_H
#define PCC_PASSES_CONTIGUOUS_DP_LADDER_H

#include "passes/contiguous/ideal_search.h"

/* Graphs that have lost vertices, from those that keep few to the whole. */
struct rungs;

/* c must not be detailed and have a vertex; upper: about the value of a plan.  Lives in a; rungs are made when
 * they are needed. */
struct rungs *rungs_new(const struct problem *c, int64_t upper, struct arena *a, struct diag *d);
/* Their number, the whole graph included; vertices lost in rung i. */
uint32_t rungs_count(const struct rungs *r);
uint32_t rungs_lost(const struct rungs *r, uint32_t i);
/* The graph of rung i, made if it is new, and the weight of what is not in it; NULL: it cannot be made. */
const struct problem *rungs_graph(struct rungs *r, uint32_t i, int64_t *floating);

/* The search for plans whose loads are at most a limit on one rung after the other, each guided by the one
 * before. */
struct ladder;

/* backward: the whole is searched from the far end.  max_bytes: for each of two searches.  Has arenas of its
 * own, until ladder_free. */
struct ladder *ladder_new(struct rungs *r, int64_t limit, int64_t floor, bool backward,
                          uint64_t max_states, size_t max_bytes);
void ladder_free(struct ladder *l);

/* Goes on for about so many steps.  DONE: there is no better plan; FULL: it does not get through. */
enum search_end ladder_go(struct ladder *l, uint64_t steps);

/* Asks for loads of at most `limit` from now on. */
void ladder_tighten(struct ladder *l, int64_t limit);
int64_t ladder_limit(const struct ladder *l);

/* Writes the best plan found to *best if that takes more. */
bool ladder_take(const struct ladder *l, struct problem_plan *best);

uint64_t ladder_steps(const struct ladder *l);
/* The rung that it is on, of rungs_count; and how far it is there, of 1000. */
uint32_t ladder_rung(const struct ladder *l);
uint32_t ladder_passed(const struct ladder *l);
/* Ideals of the search under way. */
uint64_t ladder_states(const struct ladder *l);

#endif
