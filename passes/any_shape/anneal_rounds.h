/* Plans of any shape by simulated annealing, in many runs. */
#ifndef PCC_PASSES_ANY_SHAPE_ANNEAL_ROUNDS_H
#define PCC_PASSES_ANY_SHAPE_ANNEAL_ROUNDS_H

#include "passes/problem/problem.h"

struct anneal {
    const char *planner; /* for errors */
    uint64_t most;       /* with moves 0: at most so many; 0: no matter */
    /* of one vertex, to try; 0: until the clock's deadline or, without one, as many as the graph
       needs, by share */
    uint64_t moves;
    uint32_t share; /* 1 / share of them; 0: all */
    /* a plan that takes no more ends the search, ps; 0: the lower bound of the chain */
    int64_t enough;
    /* a plan that takes more is of no use: the search ends when it gets no nearer, ps; 0: none */
    int64_t goal;
    uint64_t seed;
    /* the contiguous problem whose orders are cut for starts, and the vertex of it that a */
    const struct problem *cut;
    const uint32_t *up; /* vertex of c is in; NULL: c itself */
    uint32_t chains;    /* runs that start from what is known then: the plan depends on it */
    /* that share out these; 0: as many as there are cores.  No plan depends on it */
    uint32_t threads;
    bool progress;
    /* What a plan takes (value of loads, and what parts cost); NULL: the value of its loads.  Half of the runs are
     * then made as if each net that is cut took `dear` ps more, since parts come with tensors between them. */
    int64_t (*price)(void *user, const struct problem *c, int64_t value, const int32_t *dev,
                     const uint32_t *copies);
    int64_t dear;
    /* Called after each round, if it is not NULL; true ends the search.  o->done and o->runs are up to date. */
    bool (*after_round)(void *user, struct anneal *o, const struct problem_plan *best);
    void *user;
    struct clock *clock; /* not NULL */
    uint64_t done;       /* out: moves tried */
    uint32_t runs;       /* out */
};

/* Improves *best (value LOAD_INF: none known yet), which is of c: only better plans are taken.  1 if it improved, 0 if
 * not, -1 and an error if c is too large (device_loads.h). */
int anneal_search(const struct problem *c, struct anneal *o, struct problem_plan *best,
                  struct arena *scratch, struct diag *d);

#endif
