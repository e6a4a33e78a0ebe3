/* Integer programs for placement: a chain problem (problem.h) as a model for solvers (mip.h).
 *
 * Devices are slots of the model.  Times are in the unit (ps, ns, us, ms or s) in which the limit, or
 * the least value known, lies in 1..1000; bytes in their greatest common divisor times a power of 1024. */
#ifndef PCC_PASSES_INTEGER_IP_MODEL_H
#define PCC_PASSES_INTEGER_IP_MODEL_H

#include "passes/integer/mip.h"

enum ip_shape {
    IP_ANY,    /* any sets */
    IP_CONVEX, /* each device's set is convex: no path leaves it and comes back */
    IP_CHAIN   /* the devices, in the order of the slots, take differences of a chain of ideals */
};

struct ip_ask {
    enum ip_shape shape;
    int64_t limit; /* ps: no plan of a larger value is of interest; LOAD_INF: none */
    int64_t lower; /* ps: known to be no more than the value of any plan */
    /* minimise the largest memory instead: times, limits of memory do not count */
    bool memory;
    /* IP_CHAIN: [device] the order in which they stand; NULL: as numbered */
    const uint32_t *slot;
    const char *const *name; /* [vertex] for names of columns; NULL: numbers */
    /* [vertex] kinds that it may be on, a bit each (reduction.h); NULL: all */
    const uint32_t *may;
};

struct ip_model {
    const struct problem *c;
    struct ip_ask ask;
    struct mip *mip;
    uint32_t ndev;
    uint32_t *slot; /* [slot] device */
    uint8_t *kind;  /* [slot] kind of the device */
    /* [vertex * ndev + slot] IP_CHAIN: in this slot or an earlier one; else: in this slot */
    uint32_t *col;
    uint32_t top;  /* the column of the value, or of the memory */
    int64_t unit;  /* ps that 1 of the value stands for */
    int64_t bytes; /* bytes that 1 of the memory stands for; 0: the model knows no memory */
};

/* Makes the model.  c must not be `detailed` (overlap, copies).  Lives in a; -1 and an error, which names
 * `planner`, if it has more than MIP_MOST_TERMS terms.  O(terms). */
int ip_model_build(struct ip_model *m, const struct problem *c, const struct ip_ask *ask,
                   const char *planner, struct arena *a, struct diag *d);

/* Every load of every plan of c is a multiple of this many ps, >= 1.  (Those of a reduction may be of more.)
 * O(kinds * (V + nets)). */
int64_t ip_grain(const struct problem *c);

/* The devices that a solution x of m->mip gives: dev[vertex].  False: some vertex has none, or two. */
bool ip_model_decode(const struct ip_model *m, const double *x, int32_t *dev);

/* ps in units of the model. */
double ip_model_value(const struct ip_model *m, int64_t value);
/* Memory of the model in bytes. */
double ip_model_bytes(const struct ip_model *m, double memory);

#endif
