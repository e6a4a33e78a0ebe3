/* One run of simulated annealing over plans of any shape. */
#ifndef PCC_PASSES_ANY_SHAPE_ANNEAL_RUN_H
#define PCC_PASSES_ANY_SHAPE_ANNEAL_RUN_H

#include "passes/problem/device_loads.h"

/* What all runs share. */
struct anneal_tables {
    uint32_t *wait; /* [ANNEAL_WAITS] -ln u of evenly spread u, in 1/2^16 */
    /* energies are ps << up >> down: fine enough, and no sum over devices overflows */
    uint32_t up, down;
    int64_t **dear; /* [kind][net] ps, as loads.cost, with what cut nets take more; NULL: nothing */
    /* [ANNEAL_TAUS] ps: around the mean cost of the nets, spread evenly by logarithm */
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
    bool dear;      /* cut nets take more (anneal_tables.dear); then value is LOAD_INF at first */
    bool warm;      /* starts from a good plan: at a lower temperature */
    int32_t *dev;   /* [vertex] where it starts; the best plan found if `better` */
    /* [device] as in struct plan, the same for all its plans; NULL if nothing is replicated */
    uint32_t *copies;
    int64_t value; /* ps: of the best plan known; of the one found if `better` */
    bool better;
    uint64_t done; /* moves tried */
};

/* Where runs work; one for each thread. */
struct anneal_room;
struct anneal_room *anneal_room_new(const struct loads *l, const struct anneal_tables *t,
                                    struct arena *a);

/* Improves on r->value.  The same for the same r whatever the room did before, unless the clock runs
 * out. */
void anneal_run(struct anneal_room *m, struct anneal_run *r, struct clock *clock);

#endif
