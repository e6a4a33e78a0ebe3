/* How near DAPPLE's formula comes to the iterations that are run. */
#ifndef PCC_PASSES_REPLICAS_FORMULA_ERRORS_H
#define PCC_PASSES_REPLICAS_FORMULA_ERRORS_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct formula_errors {
    struct arena *a;
    double *error; /* of each plan, in shares of the time that it took */
    uint32_t n, cap;
    uint32_t alone; /* plans of stages of one device each: without AllReduces */
    /* plans among these for which the formula's time is above the time of the run */
    uint32_t alone_above;
};

/* Adds a plan that was run: `said` is the formula's time, `took` the run's, ps; alone: each stage is on one device.
 * O(1). */
void formula_errors_add(struct formula_errors *e, int64_t said, int64_t took, bool alone);
/* "against 64 plans that were run: median error 1.2 %, largest 8 %; ..."; sorts.  In e->a. */
const char *formula_errors_tell(struct formula_errors *e);

#endif
