/* Makes integer programs for placement: a model for solvers (mip.h) from a problem (problem.h).
 *
 * The model numbers the devices in the order that ip_ask.slot gives, and calls them slots.  Times are in the unit (ps,
 * ns, us, ms or s) in which the limit, or without a limit the problem's lower bound, lies in 1..1000.  Bytes are in a
 * unit that is their greatest common divisor times a power of 1024. */
#ifndef PCC_PASSES_INTEGER_IP_MODEL_H
#define PCC_PASSES_INTEGER_IP_MODEL_H

#include "passes/integer/mip.h"

enum ip_shape {
    IP_ANY, /* any sets of vertices */
    /* each device's set of vertices is convex: no path of ip_paths leaves it and comes back */
    IP_CONVEX,
    IP_CHAIN /* the devices, in the order of the slots, take differences of a chain of ideals */
};

/* The graph whose paths count for IP_CONVEX.  It may be finer than the problem's graph: a colocation class is one
 * vertex of the problem, but a path that comes to one node of the class cannot go on from another one. */
struct ip_paths {
    const struct wdag *g;   /* NULL: the problem's graph */
    const uint32_t *merged; /* [vertex of g] the vertex of the problem; NULL: the same one */
};

struct ip_ask {
    enum ip_shape shape;
    struct ip_paths paths;
    int64_t limit; /* ps: plans of a larger value are left out of the model; LOAD_INF: no limit */
    int64_t lower; /* ps: a lower bound of all plans */
    /* true: minimise the largest memory that a device needs; times and limits of memory do not count */
    bool memory;
    /* IP_CHAIN: [slot] the slot's device, in the order of the chain; NULL: slot number = device number */
    const uint32_t *slot;
    /* [vertex] name of the vertex, for names of columns; NULL: columns are named by numbers of vertices */
    const char *const *name;
    /* [vertex] kinds of devices that may hold the vertex, a bit each (bounds/reduction.h); NULL: all kinds */
    const uint32_t *may;
};

struct ip_model {
    const struct problem *c;
    struct ip_ask ask;
    struct mip *mip;
    uint32_t ndev;
    uint32_t *slot; /* [slot] the slot's device */
    uint8_t *kind;  /* [slot] kind of the device */
    /* [vertex * ndev + slot] column that is 1 if the vertex is in this slot (IP_CHAIN: in this slot or an earlier one);
     * MIP_ZERO or MIP_ONE: a constant */
    uint32_t *col;
    uint32_t top;  /* the column that is minimised: T, the value, or M, the memory */
    int64_t unit;  /* ps in one unit of the model's value */
    int64_t bytes; /* bytes in one unit of the model's memory; 0: the model has no memory */
};

/* Makes the model.  Stages of c must not have copies.  Lives in a.  Returns 0, or -1 and reports an error, which names
 * `planner`, if the model has more than MIP_MOST_TERMS terms.  O(terms). */
int ip_model_build(struct ip_model *m, const struct problem *c, const struct ip_ask *ask,
                   const char *planner, struct arena *a, struct diag *d);

/* Returns the greatest common divisor, ps, of all times and costs of c, >= 1: so every load of every plan of c is a
 * multiple of this time.  O(kinds * (V + nets)). */
int64_t ip_grain(const struct problem *c);

/* Writes dev[vertex] from x[col], a solution of m->mip.  Returns false if some vertex has no device, or two. */
bool ip_model_decode(const struct ip_model *m, const double *x, int32_t *dev);

/* Converts `value` ps to the model's unit of time. */
double ip_model_value(const struct ip_model *m, int64_t value);
/* Converts the model's figure `memory` to bytes. */
double ip_model_bytes(const struct ip_model *m, double memory);

#endif
