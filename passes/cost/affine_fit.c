/* Lines of least squares in integer arithmetic (affine_fit.h).
 *
 * Of n points (x, y) with X = sum x, D = n sum x^2 - X^2, the line of least squares has at size b the value
 *
 *     sum over i of (D + (n b - X) (n x[i] - X)) y[i] / (n D),     slope: the sign of sum (n x[i] - X) y[i].
 *
 * The factors of y[i] depend only on the sizes and b, so they are computed once for all quantities measured at the same
 * sizes.  Only the division rounds.  Points may have equal sizes; each counts.
 *
 * Ranges: n <= 2^5, x and b <= 2^24, y <= 2^60; so n x <= 2^29, D <= 2^56 (at most (n x)^2 / 4, with half of the points
 * at each end), a factor is below 2^59, n D <= 2^61, a sum of products below 2^124.  O(n). */
#include "passes/cost/affine_fit.h"

#include "ir/base/numbers.h"

#include <assert.h>

bool affine_fit_at(struct affine_fit *f, const int64_t *x, uint32_t n, int64_t at)
{
    int64_t sum = 0, squares = 0;
    assert(n >= 1 && n <= FIT_POINTS && at >= 1 && at <= FIT_SIZE_MAX);
    for (uint32_t i = 0; i < n; i++) {
        assert(x[i] >= 1 && x[i] <= FIT_SIZE_MAX);
        sum += x[i];
        squares += x[i] * x[i];
    }
    int64_t spread = (int64_t)n * squares - sum * sum;
    f->n = n;
    f->whole = n * spread;
    for (uint32_t i = 0; i < n; i++) {
        f->slope[i] = n * x[i] - sum;
        f->weight[i] = spread + (n * at - sum) * f->slope[i];
    }
    return spread > 0;
}

/* Returns the sum of factor[i] * y[i], i < n. */
static __int128 weighted_sum(const int64_t *factor, const int64_t *y, uint32_t n)
{
    __int128 sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        assert(y[i] >= 0 && y[i] <= FIT_QUANTITY_MAX);
        sum += (__int128)factor[i] * y[i];
    }
    return sum;
}

/* Returns v, limited to 0..FIT_QUANTITY_MAX. */
static int64_t into_range(__int128 v)
{
    return v < 0 ? 0 : v > FIT_QUANTITY_MAX ? FIT_QUANTITY_MAX : (int64_t)v;
}

int64_t affine_fit_nearest(const struct affine_fit *f, const int64_t *y)
{
    __int128 sum = weighted_sum(f->weight, y, f->n), whole = f->whole;
    return sum <= 0 ? 0 : into_range((2 * sum + whole) / (2 * whole));
}

int64_t affine_fit_enough(const struct affine_fit *f, const int64_t *y)
{
    __int128 sum = weighted_sum(f->weight, y, f->n), whole = f->whole;
    int64_t v = sum <= 0 ? 0 : into_range((sum + whole - 1) / whole);
    bool falls = weighted_sum(f->slope, y, f->n) < 0;
    for (uint32_t i = 0; !falls && i < f->n; i++)
        v = larger(y[i], v);
    return v;
}
