/* Errors of DAPPLE's formula against iterations that are run (formula_errors.h).
 *
 * Source: DAPPLE (arXiv 2007.01045), formula (2).  The formula leaves out the bubbles within a pipeline.  So, for
 * plans without an exchange of gradients at the end, it is a lower bound on the time of the run, provided that the run
 * has one channel for transfers there and back, as the formula has, and runs no forward pass twice. */
#include "passes/replicas/formula_errors.h"

#include <assert.h>
#include <stdlib.h>

void formula_errors_add(struct formula_errors *e, int64_t said, int64_t took, bool alone)
{
    assert(said >= 0 && took >= 0);
    e->error = vec_grow(e->a, e->error, &e->cap, e->n + 1, sizeof *e->error);
    e->error[e->n++] = took > 0 ? (double)llabs(said - took) / (double)took : 0;
    e->alone += alone;
    e->alone_above += alone && said > took;
}

/* Compares two doubles, for qsort(). */
static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

const char *formula_errors_tell(struct formula_errors *e)
{
    if (!e->n)
        return "no plan was run";
    qsort(e->error, e->n, sizeof *e->error, by_size);
    return arena_fmt(e->a,
                     "against %u plans that were run: median error %.2f %%, largest %.2f %%; of %u "
                     "without AllReduce it is above %u",
                     e->n, 100 * e->error[e->n / 2], 100 * e->error[e->n - 1], e->alone,
                     e->alone_above);
}
