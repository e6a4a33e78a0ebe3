/* Makes the integer program for one sample that passes through a plan alone, by subgraphs: appendix A of the placement
 * paper, Figures 5 and 6.
 *
 * A unit is a node, or several nodes that must be in one part; a host runs a unit in one go.  A place, where a unit can
 * be, is a slot of an accelerator, or a class of hosts.  A subgraph is what a slot runs in one go; in training graphs a
 * slot has one subgraph for each pass.  CPUs are unlimited.  Units of time and memory are chosen as in ip_model.h. */
#ifndef PCC_PASSES_INTEGER_SUBGRAPH_MODEL_H
#define PCC_PASSES_INTEGER_SUBGRAPH_MODEL_H

#include "passes/integer/mip.h"

struct subgraph_ask {
    uint32_t slots; /* number of slots of each accelerator */
    int64_t limit;  /* ps: plans that take longer are left out of the model; LOAD_INF: no limit */
    int64_t lower;  /* ps: a lower bound of all plans */
    /* [unit] number of its class: units of one class must share a device */
    const uint32_t *together;
    uint32_t nclass;         /* number of classes; each has a unit */
    const char *const *name; /* [unit] the unit's name, for names of columns */
};

/* A slot of accelerator `dev` (0, 1, ...), or the class of hosts whose first device `dev` is. */
struct subgraph_place {
    uint32_t dev, slot; /* slot: for an accelerator, the number of the slot on it: 0, 1, ... */
    uint32_t cls;       /* the class of the device */
    bool host;          /* the place is a class of hosts */
    uint32_t kind;      /* for an accelerator, its kind in the problem */
};

struct subgraph_model {
    const struct problem *c; /* the problem whose vertices are the units */
    struct subgraph_ask ask;
    struct mip *mip;
    /* number of places; the first nslot of them are slots, device by device */
    uint32_t nplace, nslot;
    struct subgraph_place *place;
    /* [unit * nplace + place] the column that is 1 if the unit is at the place; or MIP_ZERO, MIP_ONE */
    uint32_t *col;
    int64_t unit; /* ps in one unit of the model's value */
    bool ordered; /* the model has rows against cycles of subgraphs that take no time */
};

/* Makes the model for the units of c->g.  Lives in a.  Returns 0, or -1 and reports an error if the model has more than
 * MIP_MOST_TERMS terms.  O(terms). */
int subgraph_model_build(struct subgraph_model *m, const struct problem *c,
                         const struct subgraph_ask *ask, struct arena *a, struct diag *d);

/* Writes dev[unit] and slot[unit] (1, 2, ...; 0: on a host) from x[col], a solution of m->mip.  Returns false if some
 * unit has no place, or two. */
bool subgraph_model_decode(const struct subgraph_model *m, const double *x, int32_t *dev,
                           uint32_t *slot);

#endif
