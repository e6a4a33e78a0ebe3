/* Searches for plans of any shape by many runs of simulated annealing (anneal_run.h). */
#ifndef PCC_PASSES_ANY_SHAPE_ANNEAL_ROUNDS_H
#define PCC_PASSES_ANY_SHAPE_ANNEAL_ROUNDS_H

#include "passes/problem/problem.h"

/* The settings of a search. */
struct anneal {
    const char *planner; /* for errors */
    /* number of moves of a vertex to try; 0: until the clock's deadline or, if there is none, as many moves as the size
     * of the graph asks for, divided by `share`, but at most `most` */
    uint64_t moves;
    uint32_t share; /* divides the moves that the size of the graph asks for; 0: as 1 */
    uint64_t most;  /* limit of the moves that the size of the graph asks for; 0: no limit */
    /* ps: a plan that takes no more than this, or than the problem's lower bound c->lower, ends the search */
    int64_t enough;
    /* ps: the caller has no use for a plan that takes longer than this, so the search ends when rounds bring the
     * best plan no nearer to the goal; 0: no goal */
    int64_t goal;
    uint64_t seed; /* seed of all random choices */
    /* the contiguous problem whose topological orders are cut for first plans; up[vertex of c]: the vertex of that
     * problem with the same nodes; up NULL: orders of c itself are cut */
    const struct problem *cut;
    const uint32_t *up;
    uint32_t chains; /* number of runs in a round, at most 64; the plan depends on it */
    /* number of threads that do these runs; 0: one for each core.  The plan does not depend on it */
    uint32_t threads;
    /* the clock's listener is not told the progress, since the values of these plans are not those of plans for the
     * user's problem */
    bool silent;
    /* Returns the time per sample of the plan dev[], ps, with the cost of its parts; value: the largest load of the
     * plan, ps.  NULL: parts cost nothing. */
    int64_t (*price)(void *user, const struct problem *c, int64_t value, const int32_t *dev,
                     const uint32_t *copies);
    /* ps, with `price`: the cost of one part.  The number of parts is unknown while a run goes on, but grows with
     * the number of cut nets.  Half of the runs therefore add to each cut net the surcharge, or a half, a quarter or
     * an eighth of it, as if each part had one, two, four or eight cut nets */
    int64_t surcharge;
    /* Called after each round with the number of moves tried so far; returns true to end the search.  May be NULL. */
    bool (*after_round)(void *user, uint64_t done, const struct problem_plan *best);
    void *user;          /* passed to `price` and `after_round` */
    struct clock *clock; /* not NULL */
};

/* The result of a search. */
struct anneal_found {
    /* 1: *best was improved; 0: it was not; -1 and an error: c is too large (device_loads.h) */
    int rc;
    uint64_t done; /* number of moves tried */
};

/* Searches for plans of c of any shape by annealing, and writes the best plan found to *best, a plan of c (value
 * LOAD_INF: no plan is known yet), if it is better. */
struct anneal_found anneal_search(const struct problem *c, const struct anneal *o,
                                  struct problem_plan *best, struct arena *scratch, struct diag *d);

#endif
