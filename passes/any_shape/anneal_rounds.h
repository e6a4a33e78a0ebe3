/* Plans of any shape by simulated annealing, in many runs. */
#ifndef PCC_PASSES_ANY_SHAPE_ANNEAL_ROUNDS_H
#define PCC_PASSES_ANY_SHAPE_ANNEAL_ROUNDS_H

#include "passes/problem/problem.h"

struct anneal {
    const char *planner; /* for errors */
    /* with moves 0: upper limit of the number of moves that annealing chooses; 0: no limit */
    uint64_t most;
    /* moves of a vertex to try; 0: until the clock's deadline or, without one, as many as the size of the graph asks
     * for, divided by `share` */
    uint64_t moves;
    uint32_t share; /* 0: as 1 */
    /* ps: a plan that takes no more than this ends the search; 0: c->lower */
    int64_t enough;
    /* ps: a plan that takes more than this is of no use, so the search ends when rounds bring it no nearer; 0: none */
    int64_t goal;
    uint64_t seed;
    /* the contiguous problem whose orders are cut for first plans, and [vertex of c] its vertex there; up NULL: c */
    const struct problem *cut;
    const uint32_t *up;
    uint32_t chains; /* runs in a round: the plan depends on it */
    uint32_t
        threads; /* that do these runs; 0: one for each core.  The plan does not depend on it */
    bool untold; /* the clock's listener is not told: the values are none of plans */
    /* What a plan takes, where parts cost something; `value`: by its loads alone.  NULL: that is all.  If it is not
     * NULL half of the runs count `dear` ps more for each net that is cut, since more cut nets mean more parts. */
    int64_t (*price)(void *user, const struct problem *c, int64_t value, const int32_t *dev,
                     const uint32_t *copies);
    int64_t dear;
    /* Called after each round, if it is not NULL, with the moves tried so far; true ends the search. */
    bool (*after_round)(void *user, uint64_t done, const struct problem_plan *best);
    void *user;
    struct clock *clock; /* not NULL */
};

struct anneal_found {
    int rc; /* 1: *best was improved; 0: not; -1 and an error: c is too large (device_loads.h) */
    uint64_t done; /* moves tried */
};

/* Improves *best (value LOAD_INF: none known yet), which is of c: only better plans are taken. */
struct anneal_found anneal_search(const struct problem *c, const struct anneal *o,
                                  struct problem_plan *best, struct arena *scratch, struct diag *d);

#endif
