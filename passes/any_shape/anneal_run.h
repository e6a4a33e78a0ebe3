/* Does one run of simulated annealing over plans of any shape. */
#ifndef PCC_PASSES_ANY_SHAPE_ANNEAL_RUN_H
#define PCC_PASSES_ANY_SHAPE_ANNEAL_RUN_H

#include "passes/problem/device_loads.h"

/* Tables that all runs share and do not change. */
struct anneal_tables {
    /* [ANNEAL_WAITS] -ln u, in 1 / 2^16, for u evenly spread over (0, 1): the values of exponential random numbers of
     * mean 1 */
    uint32_t *wait;
    /* t ps are the energy t << up >> down: shifts such that the unit of energy is small enough and no sum over devices
     * overflows */
    uint32_t up, down;
    /* ps: the largest surcharge of a run (anneal_run.surcharge); 0: no run has one */
    int64_t surcharge;
    /* [ANNEAL_TAUS] ps: scales, of which a clump draws one: a net of cost c then bonds its vertices with probability
     * 1 - exp(-c / tau).  From a twentieth of the mean cost of the nets to twenty times it, evenly by logarithm */
    int64_t *tau;
};
enum { ANNEAL_WAITS = 4096, ANNEAL_TAUS = 64 }; /* lengths of the tables wait and tau */
/* Makes *t, in a.  surcharge: the most ps that a run adds to the cost of each cut net; 0: runs add
 * nothing. */
void anneal_tables_make(struct anneal_tables *t, const struct loads *l, int64_t surcharge,
                        struct arena *a);

/* A run.  The caller sets all fields but `better` and `done`. */
struct anneal_run {
    uint64_t seed;
    uint64_t moves; /* number of moves of a vertex to try */
    /* ps that each cut net costs more in this run, at most anneal_tables.surcharge; 0: nets have their own costs.
     * If there is a surcharge, set `value` to LOAD_INF, since values with and without a surcharge cannot be
     * compared */
    int64_t surcharge;
    bool warm; /* the run starts from a good plan, so at a lower temperature */
    /* [vertex] the plan where it starts; afterwards, if `better`, the best plan found */
    int32_t *dev;
    /* [device] as in struct plan, fixed for the run; NULL if stages are not copied */
    uint32_t *copies;
    /* ps: value of the best plan known before the run; afterwards, if `better`, value of the plan found */
    int64_t value;
    bool better;   /* a plan below `value` was found */
    uint64_t done; /* number of moves tried */
};

/* The working memory of a run; each thread has one. */
struct anneal_walker;
/* Returns the working memory for runs with the problem of l and the tables t, in a; it has loads of its own. */
struct anneal_walker *anneal_walker_new(const struct loads *l, const struct anneal_tables *t,
                                        struct arena *a);

/* Does run r: looks for a plan that takes less than r->value.  The result depends on r alone, not on earlier runs
 * with m, unless the clock ends the run. */
void anneal_run(struct anneal_walker *m, struct anneal_run *r, struct clock *clock);

#endif
