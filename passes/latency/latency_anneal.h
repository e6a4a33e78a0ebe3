/* Contiguous plans of a small latency, by simulated annealing. */
#ifndef PCC_PASSES_LATENCY_LATENCY_ANNEAL_H
#define PCC_PASSES_LATENCY_LATENCY_ANNEAL_H

#include "passes/latency/latency_graph.h"

struct latency_anneal {
    uint64_t seed;
    uint64_t moves; /* to try */
    uint64_t done;  /* moves tried so far */
    int64_t enough; /* ps: it ends at a plan that takes no more */
    struct clock *clock;
};

/* Fills accelerators one after the other along an order of p's blocks that puts off what became ready first; what does
 * not fit goes to the hosts.  rng: the order is a random one of this kind; NULL: that of greedy-place.  Writes a plan
 * to *plan, value LOAD_INF if some block finds no place.  O(V log V + E + pins + shared items). */
void latency_fill(const struct latency_graph *p, uint64_t *rng, struct latency_plan *plan,
                  struct latency_quotient *quotient, struct arena *scratch);

/* Improves *best, which may be no plan yet: only plans that fit are taken, and better ones.  The result depends on
 * seed, moves and *best alone, unless the clock runs out; if it has, and there is no plan yet, one start is made. */
void latency_anneal(const struct latency_graph *p, struct latency_anneal *how,
                    struct latency_plan *best, struct arena *scratch);

#endif
