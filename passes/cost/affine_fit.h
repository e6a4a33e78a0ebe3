/* Straight lines through measurements: what a quantity that was measured at a few sizes is at another one. */
#ifndef PCC_PASSES_COST_AFFINE_FIT_H
#define PCC_PASSES_COST_AFFINE_FIT_H

#include <stdbool.h>
#include <stdint.h>

enum { FIT_POINTS = 32 };                   /* points at most */
#define FIT_SIZE_MAX (INT64_C(1) << 24)     /* sizes are in 1..FIT_SIZE_MAX */
#define FIT_QUANTITY_MAX (INT64_C(1) << 60) /* measured quantities in 0..FIT_QUANTITY_MAX */

/* The line of least squares through n points at given sizes, seen at one size: there it is
 * sum(weight[i] * y[i]) / whole, and it rises if sum(lean[i] * y[i]) is positive. */
struct affine_fit {
    uint32_t n;
    int64_t weight[FIT_POINTS], lean[FIT_POINTS], whole;
};

/* For points at sizes x[0 .. n), n in 1..FIT_POINTS, seen at size `at`.  False: there are no two different sizes among
 * them, so there is no such line. */
bool affine_fit_at(struct affine_fit *f, const int64_t *x, uint32_t n, int64_t at);
/* The line's value for y[0 .. n): exact until it is rounded to the nearest integer, a half upwards, and brought into
 * 0..FIT_QUANTITY_MAX. */
int64_t affine_fit_nearest(const struct affine_fit *f, const int64_t *y);
/* The same rounded up, and unless the line falls not below the largest y: for what has to suffice. */
int64_t affine_fit_enough(const struct affine_fit *f, const int64_t *y);

#endif
