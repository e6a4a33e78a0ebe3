/* The exact search, prepared by searches of smaller graphs. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_LADDER_H
#define PCC_PASSES_CONTIGUOUS_DP_LADDER_H

#include "passes/contiguous/ideal_search.h"

/* The rungs of a ladder: a graph without some of its vertices, from the one that keeps fewest to the whole. */
struct rungs;

/* The rungs of c, which must not be detailed and must have vertices; upper: about the value of a plan.  Lives in a;
 * the graph of a rung is made when it is first asked for. */
struct rungs *rungs_new(const struct problem *c, int64_t upper, struct arena *a, struct diag *d);
/* Number of rungs, the whole graph, which is the last, included; number of vertices lost in rung i. */
uint32_t rungs_count(const struct rungs *r);
uint32_t rungs_lost(const struct rungs *r, uint32_t i);
/* The problem of rung i's graph; *floating: the weight of the vertices that it has lost, in potential 0.  NULL: it
 * cannot be made. */
const struct problem *rungs_graph(struct rungs *r, uint32_t i, int64_t *floating);

/* A search for plans whose loads are at most a limit, on one rung after the other, each pruned by what the one
 * before knows (dp_guide.c). */
struct ladder;

/* backward: the whole graph is searched from its last vertices.  max_bytes: for each of two searches.  Has arenas of
 * its own, until ladder_free. */
struct ladder *ladder_new(struct rungs *r, int64_t limit, int64_t floor, bool backward,
                          uint64_t max_states, size_t max_bytes);
void ladder_free(struct ladder *l);

/* Goes on for about `steps` steps.  DONE: no better plan than the one found exists; FULL: a search reached its
 * limits of states or bytes. */
enum search_end ladder_go(struct ladder *l, uint64_t steps);

/* Seeks only plans whose loads are at most `limit` from now on. */
void ladder_tighten(struct ladder *l, int64_t limit);
int64_t ladder_limit(const struct ladder *l);

/* Copies the best plan found to *best if that takes more; true if it did. */
bool ladder_take(const struct ladder *l, struct problem_plan *best);

uint64_t ladder_steps(const struct ladder *l);
/* The rung that it is on, and how far it is there, in thousandths. */
uint32_t ladder_rung(const struct ladder *l);
uint32_t ladder_passed(const struct ladder *l);
/* Ideals kept by the search of the present rung. */
uint64_t ladder_states(const struct ladder *l);

#endif
