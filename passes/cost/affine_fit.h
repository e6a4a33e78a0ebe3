/* Predicts a quantity at one size from its values at other sizes, by the straight line of least squares through
 * these. */
#ifndef PCC_PASSES_COST_AFFINE_FIT_H
#define PCC_PASSES_COST_AFFINE_FIT_H

#include <stdbool.h>
#include <stdint.h>

enum { FIT_POINTS = 32 };                   /* most points of a line */
#define FIT_SIZE_MAX (INT64_C(1) << 24)     /* sizes are in 1..FIT_SIZE_MAX */
#define FIT_QUANTITY_MAX (INT64_C(1) << 60) /* quantities are in 0..FIT_QUANTITY_MAX */

/* Factors for the line through n points (x[i], y[i]), which serve for all y[] while x[] and the size `at` stay the
 * same.  Its value at `at` is sum(weight[i] * y[i]) / whole; its slope has the sign of sum(slope[i] * y[i]). */
struct affine_fit {
    uint32_t n;
    int64_t weight[FIT_POINTS], slope[FIT_POINTS], whole;
};

/* Writes to *f the factors for points at the sizes x[n], n in 1..FIT_POINTS, and the size `at`.  Returns false if all
 * sizes are equal: then there is no line. */
bool affine_fit_at(struct affine_fit *f, const int64_t *x, uint32_t n, int64_t at);
/* Returns the line's value for the quantities y[f->n]: computed exactly, then rounded to the nearest integer, a half
 * upwards, and limited to 0..FIT_QUANTITY_MAX. */
int64_t affine_fit_nearest(const struct affine_fit *f, const int64_t *y);
/* Returns the line's value rounded up, at least the largest y[] unless the line falls, at most FIT_QUANTITY_MAX: for
 * memory, of which there must be enough. */
int64_t affine_fit_enough(const struct affine_fit *f, const int64_t *y);

#endif
