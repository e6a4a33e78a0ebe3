/* Least squares in integers, against the definition: no other line has smaller squares, so the residuals and their
 * products with the sizes add up to 0; noise-free lines come back exactly.  (test_costs.py has Python's fractions.) */
#include "passes/cost/affine_fit.h"

#include "ir/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct points {
    uint32_t n;
    int64_t x[FIT_POINTS], y[FIT_POINTS];
};

/* A number in 0..most whose number of bits is random, too. */
static int64_t draw(uint64_t *r, int64_t most)
{
    int64_t v = (int64_t)(random_bits(r) >> 1 >> random_below(r, 62));
    return v % (most + 1);
}

/* Sizes of which at least two differ; some occur twice. */
static void draw_sizes(struct points *p, uint64_t *r)
{
    p->n = 2 + random_below(r, FIT_POINTS - 1);
    for (uint32_t i = 0; i < p->n; i++)
        p->x[i] = i > 0 && random_below(r, 4) == 0 ? p->x[i - 1] : 1 + draw(r, FIT_SIZE_MAX - 1);
    if (p->x[p->n - 1] == p->x[0])
        p->x[p->n - 1] = p->x[0] % FIT_SIZE_MAX + 1;
}

static int64_t largest(const struct points *p)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < p->n; i++)
        most = p->y[i] > most ? p->y[i] : most;
    return most;
}

static void noise_free(void **state)
{
    uint64_t r = 1;
    uint32_t steep = 0, falling = 0, clamped = 0;
    (void)state;
    for (int round = 0; round < 50000; round++) {
        struct points p;
        struct affine_fit f;
        draw_sizes(&p, &r);
        int64_t at = 1 + draw(&r, FIT_SIZE_MAX - 1), top = 0;
        for (uint32_t i = 0; i < p.n; i++)
            top = p.x[i] > top ? p.x[i] : top;
        bool falls = random_below(&r, 4) == 0;
        int64_t beta = draw(&r, FIT_QUANTITY_MAX / (2 * FIT_SIZE_MAX));
        int64_t alpha = draw(&r, FIT_QUANTITY_MAX / 2) + (falls ? beta * top : 0);
        beta = falls ? -beta : beta;
        for (uint32_t i = 0; i < p.n; i++)
            p.y[i] = alpha + beta * p.x[i];
        int64_t want = alpha + beta * at, cover = want;
        want = want < 0 ? 0 : want;
        cover = beta >= 0 && largest(&p) > want ? largest(&p) : want;
        assert_true(affine_fit_at(&f, p.x, p.n, at));
        assert_int_equal(affine_fit_nearest(&f, p.y), want);
        assert_int_equal(affine_fit_enough(&f, p.y), cover);
        steep += beta > INT64_C(1) << 30;
        falling += beta < 0;
        clamped += beta < 0 && want == 0;
    }
    assert_true(steep > 1000 && falling > 1000 && clamped > 100);
}

/* The line that a fit describes: its value at b is (at0 + slope * b) / whole, whole > 0. */
struct line {
    __int128 at0, slope, whole;
};

/* From the values at 1 and 2, before they are rounded. */
static struct line line_of(const struct points *p)
{
    struct affine_fit one, two;
    struct line l = {0};
    assert_true(affine_fit_at(&one, p->x, p->n, 1) && affine_fit_at(&two, p->x, p->n, 2));
    assert_int_equal(one.whole, two.whole);
    for (uint32_t i = 0; i < p->n; i++) {
        l.at0 += (__int128)(2 * one.weight[i] - two.weight[i]) * p->y[i];
        l.slope += (__int128)(two.weight[i] - one.weight[i]) * p->y[i];
    }
    l.whole = one.whole;
    return l;
}

static bool nearest_to(__int128 num, __int128 whole, int64_t v)
{
    return 2 * v * whole - whole <= 2 * num && 2 * num < 2 * v * whole + whole;
}

/* With noise, sizes and quantities small enough for products of three to fit. */
static void normal_equations(void **state)
{
    uint64_t r = 2;
    uint32_t rounded = 0, floored = 0;
    (void)state;
    for (int round = 0; round < 50000; round++) {
        struct points p;
        struct affine_fit f;
        draw_sizes(&p, &r);
        for (uint32_t i = 0; i < p.n; i++) {
            p.x[i] = 1 + p.x[i] % 1000;
            p.y[i] = draw(&r, INT64_C(1) << 40);
        }
        int64_t at = 1 + draw(&r, 100000);
        if (!affine_fit_at(&f, p.x, p.n, at))
            continue;
        struct line l = line_of(&p);
        __int128 sum = 0, moment = 0, value = l.at0 + l.slope * at;
        for (uint32_t i = 0; i < p.n; i++) {
            __int128 residual = p.y[i] * l.whole - (l.at0 + l.slope * p.x[i]);
            sum += residual;
            moment += residual * p.x[i];
        }
        assert_true(sum == 0 && moment == 0);
        int64_t got = affine_fit_nearest(&f, p.y), enough = affine_fit_enough(&f, p.y);
        assert_true(value > 0 ? nearest_to(value, l.whole, got) : got == 0);
        int64_t up = value > 0 ? (int64_t)(value / l.whole + (value % l.whole != 0)) : 0;
        assert_int_equal(enough, l.slope >= 0 && largest(&p) > up ? largest(&p) : up);
        rounded += value > 0 && value % l.whole != 0;
        floored += value < 0;
    }
    assert_true(rounded > 1000 && floored > 1000);
}

static void two_of_one_size(void **state)
{
    struct affine_fit f;
    const int64_t x[] = {4, 4, 8}, y[] = {10, 30, 50}, mean[] = {20, 20, 50};
    (void)state;
    assert_true(affine_fit_at(&f, x, 3, 16));
    assert_int_equal(affine_fit_nearest(&f, y), 110); /* 20 at 4, 50 at 8 */
    assert_int_equal(affine_fit_nearest(&f, mean), 110);
    assert_true(affine_fit_at(&f, x, 3, 1));
    assert_int_equal(affine_fit_nearest(&f, y), 0); /* -2.5 */
    assert_int_equal(affine_fit_enough(&f, y), 50); /* measured once */
    assert_false(affine_fit_at(&f, x, 1, 16));
    assert_false(affine_fit_at(&f, x, 2, 16));
}

/* 1/2 goes up; a line that falls needs no more than it says. */
static void rounding(void **state)
{
    struct affine_fit f;
    const int64_t x[] = {2, 4}, half[] = {0, 1}, third[] = {0, 2}, down[] = {9, 4};
    (void)state;
    assert_true(affine_fit_at(&f, x, 2, 3));
    assert_int_equal(affine_fit_nearest(&f, half), 1);
    assert_int_equal(affine_fit_enough(&f, half), 1);
    assert_int_equal(affine_fit_enough(&f, third), 2);
    assert_true(affine_fit_at(&f, x, 2, 5));
    assert_int_equal(affine_fit_nearest(&f, down), 2); /* 1.5 */
    assert_int_equal(affine_fit_enough(&f, down), 2);
    const int64_t three[] = {1, 2, 3}, noisy[] = {0, 1, 0};
    assert_true(affine_fit_at(&f, three, 3, 2));
    assert_int_equal(affine_fit_nearest(&f, noisy), 0); /* 1/3 */
    assert_int_equal(affine_fit_enough(&f, noisy), 1);
}

/* The ends of the range: sums stay within 128 bits, results within FIT_QUANTITY_MAX. */
static void extremes(void **state)
{
    struct points p = {.n = FIT_POINTS};
    struct affine_fit f;
    (void)state;
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t i = 0; i < p.n; i++) {
            bool far = i % 2 == half;
            p.x[i] = far ? FIT_SIZE_MAX : 1;
            p.y[i] = far ? FIT_QUANTITY_MAX : 0;
        }
        assert_true(affine_fit_at(&f, p.x, p.n, FIT_SIZE_MAX));
        assert_int_equal(affine_fit_nearest(&f, p.y), FIT_QUANTITY_MAX);
        assert_int_equal(affine_fit_enough(&f, p.y), FIT_QUANTITY_MAX);
        assert_true(affine_fit_at(&f, p.x, p.n, 1));
        assert_int_equal(affine_fit_nearest(&f, p.y), 0);
    }
    p = (struct points){.n = 2, .x = {1, 2}, .y = {0, FIT_QUANTITY_MAX}};
    assert_true(affine_fit_at(&f, p.x, 2, FIT_SIZE_MAX));
    assert_int_equal(affine_fit_nearest(&f, p.y), FIT_QUANTITY_MAX);
    p.y[0] = FIT_QUANTITY_MAX, p.y[1] = 0;
    assert_int_equal(affine_fit_nearest(&f, p.y), 0);
    assert_int_equal(affine_fit_enough(&f, p.y), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_free),      cmocka_unit_test(normal_equations),
        cmocka_unit_test(two_of_one_size), cmocka_unit_test(rounding),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
