/* Simulated annealing for contiguous plans of small latency. */
#ifndef PCC_PASSES_LATENCY_LATENCY_ANNEAL_H
#define PCC_PASSES_LATENCY_LATENCY_ANNEAL_H

#include "passes/latency/latency_graph.h"

/* A plan that the judge values (latency_judge.value) counts as this many moves more, since valuing takes about as long
 * as these moves. */
enum { JUDGED_MOVES = 24 };

/* The settings of annealing, and how far it is. */
struct latency_anneal {
    uint64_t seed;  /* seed of the random choices */
    uint64_t moves; /* number of moves to try */
    uint64_t done;  /* the caller sets this to 0; latency_anneal() adds the moves that it tries */
    int64_t enough; /* ps: annealing ends at a plan whose latency is at most this */
    struct clock *clock;
};

/* Fills the accelerators one after the other with p's blocks in a topological order, in which the block that became
 * ready last comes next; blocks that do not fit go to the hosts.  Writes the plan to *plan; its value is LOAD_INF if
 * the result is no plan.  rng: state of random numbers by which the order varies; NULL: the order is that of
 * greedy-place.  O(V log V + E + pins + shared items). */
void latency_fill(const struct latency_graph *p, uint64_t *rng, struct latency_plan *plan,
                  struct latency_quotient *quotient, struct arena *scratch);

/* Replaces *best by a better plan that fits the memory, if it finds one; the value of *best may be LOAD_INF at first.
 * The result depends only on seed, moves and *best, unless the clock ends the work.  Even if the clock has run out
 * already, one start is tried if there is no plan yet. */
void latency_anneal(const struct latency_graph *p, struct latency_anneal *how,
                    struct latency_plan *best, struct arena *scratch);

#endif
