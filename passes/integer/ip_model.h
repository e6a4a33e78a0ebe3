/* Integer programs for placement: a problem (problem.h) as a model for solvers (mip.h).
 *
 * The model knows devices as slots, numbered in the order that ip_ask.slot gives.  Times are in the unit (ps, ns,
 * us, ms or s) in which the limit, or the least value known, lies in 1..1000; bytes in their greatest common divisor
 * times a power of 1024. */
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
    int64_t unit;  /* ps in one unit of the model's value */
    int64_t bytes; /* bytes in one unit of the model's memory; 0: the model has no memory */
};

/* Makes the model.  Stages of c must not have copies.  Lives in a; -1 and an error, which names
 * `planner`, if it has more than MIP_MOST_TERMS terms.  O(terms). */
int ip_model_build(struct ip_model *m, const struct problem *c, const struct ip_ask *ask,
                   const char *planner, struct arena *a, struct diag *d);

/* A number of ps, >= 1, that every load of every plan of c is a multiple of: the greatest common divisor of all
 * times and costs.  (A reduction of c may have a larger one.) O(kinds * (V + nets)). */
int64_t ip_grain(const struct problem *c);

/* Writes dev[vertex] from x, a solution of m->mip.  False: some vertex has no device, or two. */
bool ip_model_decode(const struct ip_model *m, const double *x, int32_t *dev);

/* ps in units of the model. */
double ip_model_value(const struct ip_model *m, int64_t value);
/* Memory of the model in bytes. */
double ip_model_bytes(const struct ip_model *m, double memory);

#endif
