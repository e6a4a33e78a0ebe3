/* One run of simulated annealing over plans of any shape. */
#ifndef PCC_PASSES_ANY_SHAPE_ANNEAL_RUN_H
#define PCC_PASSES_ANY_SHAPE_ANNEAL_RUN_H

#include "passes/problem/device_loads.h"

/* What all runs share. */
struct anneal_tables {
    /* [ANNEAL_WAITS] -ln u for u evenly spread over (0, 1), in 1 / 2^16: random waits */
    uint32_t *wait;
    /* an energy is ps << up >> down: shifts such that it is fine enough and no sum over devices overflows */
    uint32_t up, down;
    /* [kind][net] ps: loads.cost plus what a cut net counts more in `dear` runs; NULL: nothing */
    int64_t **dear;
    /* [ANNEAL_TAUS] ps: scales for bonds, from a twentieth of the mean cost of the nets to twenty times it, evenly
     * by logarithm */
    int64_t *tau;
};
enum { ANNEAL_WAITS = 4096, ANNEAL_TAUS = 64 };
/* dear: ps that some runs add to each net. */
void anneal_tables_make(struct anneal_tables *t, const struct loads *l, int64_t dear,
                        struct arena *a);

/* A run.  dev and value belong to the caller. */
struct anneal_run {
    uint64_t seed;
    uint64_t moves; /* of one vertex, to try */
    bool dear;      /* cut nets count more (anneal_tables.dear); set value to LOAD_INF then */
    bool warm;      /* it starts from a good plan, so at a lower temperature */
    int32_t *dev;   /* [vertex] where it starts; the best plan found if `better` */
    /* [device] as in struct plan, fixed for the run; NULL if stages are not copied */
    uint32_t *copies;
    int64_t value; /* ps: of the best plan known; of the one found if `better` */
    bool better;
    uint64_t done; /* moves tried */
};

/* The working memory of a run; one for each thread. */
struct anneal_walker;
struct anneal_walker *anneal_walker_new(const struct loads *l, const struct anneal_tables *t,
                                        struct arena *a);

/* Looks for a plan better than r->value.  The result depends on r alone, not on earlier runs in m, unless the clock
 * runs out. */
void anneal_run(struct anneal_walker *m, struct anneal_run *r, struct clock *clock);

#endif
