/* How near DAPPLE's formula comes to the iterations that are run. */
#ifndef PCC_PASSES_STAGES_FORMULA_ERRORS_H
#define PCC_PASSES_STAGES_FORMULA_ERRORS_H

#include "passes/stages/dapple_search.h"
#include "passes/stages/train.h"

struct formula_errors {
    struct arena *a;
    double *error; /* of each plan, in shares of the time that it took */
    uint32_t n, cap;
    uint32_t alone;       /* plans of stages of one device each: without AllReduces */
    uint32_t alone_above; /* those of them that the formula says take longer than they do */
};

/* A plan that has been run, unless its stages are not one after the other in the chain.  O(layers + stages). */
void formula_errors_add(struct formula_errors *e, const struct layer_chain *c,
                        const struct dapple_rules *r, const struct trained *p);
/* "against 64 plans that were run: median error 1.2 %, largest 8 %; ..."; sorts.  In e->a. */
const char *formula_errors_tell(struct formula_errors *e);

#endif
