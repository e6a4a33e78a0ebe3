/* Fitting a class of devices to measured nodes (fit.h).
 *
 * By the roofline a node is limited by the peak if it has more operations for each byte than the class computes while
 * it moves a byte, else by the bandwidth.  In the order of operations per byte, the nodes before some place are limited
 * by the bandwidth, and all others by the peak.  For a given place the times of nodes are linear in three terms: the
 * overhead, the time of an operation and the time of a byte.  The terms are fitted by least squares of the relative
 * errors; none may be below 0, so all subsets of the terms are tried.  The fit is repeated with weights that are small
 * for nodes with large errors, until about the sum of the errors is least, not the sum of their squares: a few nodes
 * that the roofline does not describe then count little (iteratively reweighted least squares).  PLACES places are
 * tried.  The fit at the best place has a place of its own (own_place()): the fit is repeated there until the place
 * stays.  O(n log n + PLACES * ROUNDS * n). */
#include "tools/run/fit.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACES = 32, /* steps between the places that are tried */
    ROUNDS = 12, /* fits at a place with changed weights */
    MOVES = 8    /* fits at own places, at most */
};
enum { OVERHEAD, OPERATION, BYTE, TERMS }; /* the times that are fitted, ps */

/* The nodes in order of operations per byte. */
struct points {
    const struct fit_node *node; /* [n] */
    uint32_t n;
};

/* Returns -1, 0 or 1: a is below, equal to or above b. */
static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Compares the operations per byte of two nodes, then all their fields, so that the fit does not depend on the order of
 * the input. */
static int by_intensity(const void *pa, const void *pb)
{
    const struct fit_node *a = pa, *b = pb;
    __int128 x = (__int128)a->flops * b->bytes, y = (__int128)b->flops * a->bytes;
    if (x != y)
        return x < y ? -1 : 1;
    if (a->flops != b->flops)
        return compare(a->flops, b->flops);
    if (a->bytes != b->bytes)
        return compare(a->bytes, b->bytes);
    return compare(a->ps, b->ps);
}

/* Solves the `count` normal equations of the terms in set[] by elimination, into x[TERMS].  Returns false if they have
 * no single solution, or a negative one. */
static bool solve(double normal[TERMS][TERMS + 1], const int *set, int count, double *x)
{
    double m[TERMS][TERMS + 1];
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < count; k++)
            m[i][k] = normal[set[i]][set[k]];
        m[i][count] = normal[set[i]][TERMS];
    }
    for (int i = 0; i < count; i++) {
        double own = m[i][i];
        /* what is left of the term is rounding: it is a combination of the terms before it */
        if (!(own > 1e-9 * normal[set[i]][set[i]]))
            return false;
        for (int k = 0; k < count; k++) { /* takes term i out of the other equations */
            double factor = m[k][i];
            for (int c = i; c <= count && k != i; c++)
                m[k][c] -= m[i][c] * factor / own;
        }
    }
    memset(x, 0, TERMS * sizeof *x);
    for (int i = 0; i < count; i++) {
        x[set[i]] = m[i][count] / m[i][i];
        if (!(x[set[i]] >= 0))
            return false;
    }
    return true;
}

/* Returns the time of node `at` in the order, by the times x, where nodes from `place` on are limited by the peak. */
static double time_of(const struct points *p, uint32_t at, uint32_t place, const double *x)
{
    const struct fit_node *v = &p->node[at];
    return x[OVERHEAD] +
           (at < place ? x[BYTE] * (double)v->bytes : x[OPERATION] * (double)v->flops);
}

/* Returns the relative error of time_of() the node `at`. */
static double error_of(const struct points *p, uint32_t at, uint32_t place, const double *x)
{
    return fabs(time_of(p, at, place, x) / (double)p->node[at].ps - 1);
}

/* Sets x to the times with the least sum of weighted squares of relative errors.  `last`: the times of the round
 * before; the weight of a node is 1 / error, where error, its error by these times, is taken as at least a thousandth.
 * NULL: all weights are 1.
 *
 * normal[r][c] are the normal equations for all terms, with the right side in column TERMS.  Terms below 0 are not
 * allowed, so all subsets of the terms are solved, and the best solution without a negative term is taken. */
static void fit_squares(const struct points *p, uint32_t place, const double *last, double *x)
{
    /* the number of terms of a subset, then its terms */
    static const int sets[][TERMS + 1] = {
        {1, BYTE},
        {1, OPERATION},
        {1, OVERHEAD},
        {2, BYTE, OPERATION},
        {2, OVERHEAD, BYTE},
        {2, OVERHEAD, OPERATION},
        {3, OVERHEAD, BYTE, OPERATION},
    };
    double normal[TERMS][TERMS + 1] = {{0}}, least = HUGE_VAL, all = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct fit_node *v = &p->node[i];
        double t = (double)v->ps, w = last ? 1 / fmax(error_of(p, i, place, last), 1e-3) : 1;
        double row[TERMS + 1] = {1 / t, i < place ? 0 : (double)v->flops / t,
                                 i < place ? (double)v->bytes / t : 0, 1};
        for (int r = 0; r < TERMS; r++)
            for (int c = 0; c <= TERMS; c++)
                normal[r][c] += w * row[r] * row[c];
        all += w;
    }
    memset(x, 0, TERMS * sizeof *x);
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        double y[TERMS], squares = all;
        if (!solve(normal, sets[s] + 1, sets[s][0], y))
            continue;
        /* the sum becomes |A y - 1|^2, which is so simple since y solves the normal equations */
        for (int r = 0; r < TERMS; r++)
            squares -= y[r] * normal[r][TERMS];
        if (squares < least - 1e-12 * all) {
            least = squares;
            memcpy(x, y, sizeof y);
        }
    }
}

/* Fits the times for this place into x, and returns the sum of all relative errors. */
static double fit_place(const struct points *p, uint32_t place, double *x)
{
    double last[TERMS], sum = 0;
    fit_squares(p, place, NULL, x);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(last, x, sizeof last);
        fit_squares(p, place, last, x);
    }
    for (uint32_t i = 0; i < p->n; i++)
        sum += error_of(p, i, place, x);
    return sum;
}

/* Returns the place that follows from the times x: the first node whose operations take longer than its bytes. */
static uint32_t own_place(const struct points *p, const double *x)
{
    uint32_t at = 0;
    while (at < p->n &&
           x[OPERATION] * (double)p->node[at].flops <= x[BYTE] * (double)p->node[at].bytes)
        at++;
    return at;
}

/* Returns 10^12 / ps as a rate of at least 1 and at most INT64_MAX / 2; ps above 0. */
static int64_t rate_of(double ps)
{
    double rate = (double)PS_PER_S / ps;
    if (rate < 1)
        return 1;
    return rate >= 0x1p62 ? INT64_MAX / 2 : (int64_t)(rate + 0.5);
}

/* Returns the ps of an operation (if `bytes`: of a byte) to be written where the fit gives 0 for it, because no node's
 * time depends on it.  It is the largest time with which each node's operations take no longer than the node's bytes,
 * or no longer than a thousandth of the node's measured time if that is more.  If no node has operations (bytes),
 * returns the ps of a byte (an operation). */
static double untold(const struct points *p, const double *x, bool bytes)
{
    double most = HUGE_VAL;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct fit_node *v = &p->node[i];
        double mine = (double)(bytes ? v->bytes : v->flops);
        double other = bytes ? x[OPERATION] * (double)v->flops : x[BYTE] * (double)v->bytes;
        if (mine > 0)
            most = fmin(most, fmax(other, (double)v->ps / 1000) / mine);
    }
    return isfinite(most) ? most : x[bytes ? OPERATION : BYTE];
}

/* Fits the times of p into x: tries places and takes the best, of equally good places the last, so that nodes count as
 * limited by the bandwidth.  Then repeats the fit at the own_place() of its times until the place stays. */
static void fit_points(const struct points *p, double *x)
{
    double least = HUGE_VAL, y[TERMS];
    for (uint32_t i = PLACES + 1; i-- > 0;) {
        double sum = fit_place(p, (uint32_t)((uint64_t)p->n * i / PLACES), y);
        if (sum < least - 1e-9 * p->n) {
            least = sum;
            memcpy(x, y, sizeof y);
        }
    }
    for (int move = 0; move < MOVES; move++) {
        double sum = fit_place(p, own_place(p, x), y);
        if (!(sum < least))
            return;
        least = sum;
        memcpy(x, y, sizeof y);
    }
}

int fit_class(const struct fit_node *node, uint32_t n, struct fitted *out, struct arena *a)
{
    struct fit_node *sorted = arena_array(a, n, sizeof *sorted);
    const struct points p = {sorted, n};
    double x[TERMS];
    bool any = false;
    assert(n > 0);
    for (uint32_t i = 0; i < n; i++) {
        assert(node[i].ps > 0 && node[i].flops >= 0 && node[i].bytes >= 0);
        any = any || node[i].flops > 0 || node[i].bytes > 0;
        sorted[i] = node[i];
    }
    if (!any)
        return -1;
    qsort(sorted, n, sizeof *sorted, by_intensity);
    fit_points(&p, x);
    *out = (struct fitted){.overhead = (int64_t)(x[OVERHEAD] + 0.5),
                           .peak_told = x[OPERATION] > 0,
                           .bandwidth_told = x[BYTE] > 0};
    out->peak = rate_of(out->peak_told ? x[OPERATION] : untold(&p, x, false));
    out->bandwidth = rate_of(out->bandwidth_told ? x[BYTE] : untold(&p, x, true));
    return 0;
}

int64_t fit_time(const struct fitted *f, const struct fit_node *node)
{
    return sat_add(f->overhead, larger(mul_div_ceil(node->flops, PS_PER_S, f->peak),
                                       mul_div_ceil(node->bytes, PS_PER_S, f->bandwidth)));
}

int64_t fit_error(const struct fitted *f, const struct fit_node *node)
{
    int64_t t = fit_time(f, node), off = t > node->ps ? t - node->ps : node->ps - t;
    return mul_div_ceil(off, 1000, node->ps);
}
