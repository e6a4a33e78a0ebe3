/* How far the times by DAPPLE's formula are from the times of iterations that are run. */
#ifndef PCC_PASSES_REPLICAS_FORMULA_ERRORS_H
#define PCC_PASSES_REPLICAS_FORMULA_ERRORS_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* The errors of all plans that were run. */
struct formula_errors {
    struct arena *a;
    double *error; /* [plan] |formula's time - time of the run| / time of the run */
    uint32_t n, cap;
    /* number of plans in which each stage has one device, so that no gradients are exchanged by an AllReduce */
    uint32_t alone;
    /* number of plans among `alone` for which the formula's time is above the time of the run */
    uint32_t alone_above;
};

/* Adds a plan that was run: `said` is the formula's time, `took` the time of the run, both in ps; alone: each stage is
 * on one device.  O(1). */
void formula_errors_add(struct formula_errors *e, int64_t said, int64_t took, bool alone);
/* Returns a summary, in e->a: "against 64 plans that were run: median error 1.20 %, largest 8.00 %; ...".  Sorts
 * e->error.  O(n log n). */
const char *formula_errors_tell(struct formula_errors *e);

#endif
