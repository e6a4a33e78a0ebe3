/* The integer program of one sample alone by subgraphs: appendix A of the placement paper, Figures 5 and 6.
 *
 * A unit is what hosts run in one go: a node, or nodes that must be in one part.  A place is a slot of an accelerator,
 * or a class of hosts; a subgraph is what a slot runs in one go, in training graphs one for each pass.  CPUs are
 * unlimited.  Units of time and memory are those of ip_model.h. */
#ifndef PCC_PASSES_INTEGER_SUBGRAPH_MODEL_H
#define PCC_PASSES_INTEGER_SUBGRAPH_MODEL_H

#include "passes/integer/mip.h"

struct subgraph_ask {
    uint32_t slots;           /* of each accelerator */
    int64_t limit;            /* ps: no plan that takes longer is of interest; LOAD_INF: none */
    int64_t lower;            /* ps: known to be no more than what any plan takes */
    const uint32_t *together; /* [unit] class of the unit: units of one class share a device */
    uint32_t nclass;          /* of them; each has a unit */
    const char *const *name;  /* [unit] for names of columns */
};

/* A slot of accelerator `dev` (0, 1, ...), or the class of hosts whose first device `dev` is. */
struct subgraph_place {
    uint32_t dev, slot, cls;
    bool host;
    uint32_t kind; /* of an accelerator */
};

struct subgraph_model {
    const struct problem *c; /* of the units */
    struct subgraph_ask ask;
    struct mip *mip;
    uint32_t nplace, nslot; /* slots have the first places, device by device */
    struct subgraph_place *place;
    uint32_t *col; /* [unit * nplace + place] the unit is there */
    int64_t unit;  /* ps in one unit of the model's value */
    bool ordered;  /* the model has rows against cycles of subgraphs that take no time */
};

/* Makes the model for the units of c->g.  Lives in a; -1 and an error if it has more than MIP_MOST_TERMS terms.
 * O(terms). */
int subgraph_model_build(struct subgraph_model *m, const struct problem *c,
                         const struct subgraph_ask *ask, struct arena *a, struct diag *d);

/* Writes dev[unit] and slot[unit] (1, 2, ...; of hosts 0) from x, a solution of m->mip.  False: some unit has no
 * place, or two. */
bool subgraph_model_decode(const struct subgraph_model *m, const double *x, int32_t *dev,
                           uint32_t *slot);

#endif
