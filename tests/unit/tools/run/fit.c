/* Fitting a class to times of nodes: what made the times is found, exactly without noise and nearly with it; outliers
 * count little; what no time tells slows no node; times that one figure explains need no other. */
#include "tools/run/fit.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"
#include "tests/support/random_module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { N = 300 };

/* Whether x is y within so many thousandths of y. */
static bool near(int64_t x, int64_t y, int64_t thousandths)
{
    return (x > y ? x - y : y - x) <= mul_div_ceil(y, thousandths, 1000);
}

/* Fills node[n] with random work whose times are those of *f, off by up to `noise` thousandths; kind: 1 elementwise, 2
 * products, 3 both. */
static void draw(struct fit_node *node, uint32_t n, const struct fitted *f, int kind, int64_t noise,
                 uint64_t seed)
{
    struct rng r = rng_seed(seed);
    for (uint32_t i = 0; i < n; i++) {
        int64_t bytes = 1000 + rng_below(&r, 1u << (10 + rng_below(&r, 16)));
        bool product = kind == 2 || (kind == 3 && rng_one_in(&r, 3));
        node[i] =
            (struct fit_node){product ? bytes * (50 + rng_below(&r, 2000)) : bytes / 4, bytes, 1};
        int64_t t = fit_time(f, &node[i]);
        node[i].ps = larger(t + mul_div_ceil(t, noise, 1000) -
                                mul_div_ceil(t, rng_below(&r, (uint32_t)(2 * noise + 1)), 1000),
                            1);
    }
}

/* Known classes, from a phone's core to a large GPU: exact times give them back within a thousandth, noisy ones of 20 %
 * within 12 %, and so do times of which a tenth are nonsense. */
static void known(void **state)
{
    static const struct fitted of[] = {
        {.overhead = 1000000, .peak = 50000000000, .bandwidth = 10000000000},
        {.overhead = 0, .peak = 2000000000, .bandwidth = 500000000},
        {.overhead = 5000000, .peak = 19500000000000, .bandwidth = 2039000000000}};
    (void)state;
    for (uint32_t i = 0; i < 15; i++) {
        struct arena *a = arena_new(NULL);
        struct fit_node node[N];
        struct fitted is = of[i % 3], f;
        bool noisy = i >= 3;
        draw(node, N, &is, 3, noisy ? 200 : 0, i);
        for (uint32_t k = 0; i >= 9 && k < N; k += 10)
            node[k].ps = node[k].ps * 20;
        assert_int_equal(fit_class(node, N, &f, a), 0);
        assert_true(f.peak_told && f.bandwidth_told);
        int64_t within = noisy ? 120 : 1;
        if (!near(f.peak, is.peak, within) || !near(f.bandwidth, is.bandwidth, within) ||
            !(near(f.overhead, is.overhead, within) || f.overhead < 300000))
            fail_msg("%u: overhead %lld, peak %lld, bandwidth %lld", i, (long long)f.overhead,
                     (long long)f.peak, (long long)f.bandwidth);
        arena_free(a);
    }
}

/* All nodes of one kind: the other rate is said to be untold, and slows no node. */
static void one_kind(void **state)
{
    const struct fitted is = {.overhead = 2000000, .peak = 1000000000000, .bandwidth = 20000000000};
    struct fit_node node[N];
    struct fitted f;
    (void)state;
    for (int kind = 1; kind <= 2; kind++) {
        struct arena *a = arena_new(NULL);
        draw(node, N, &is, kind, 0, 7);
        assert_int_equal(fit_class(node, N, &f, a), 0);
        assert_true(f.bandwidth_told == (kind == 1) && f.peak_told == (kind == 2));
        assert_true(near(kind == 1 ? f.bandwidth : f.peak, kind == 1 ? is.bandwidth : is.peak, 1));
        assert_true(near(f.overhead, is.overhead, 1));
        for (uint32_t i = 0; i < N; i++)
            assert_in_range(fit_error(&f, &node[i]), 0, 2);
        arena_free(a);
    }
}

/* One node, equal nodes, nodes that all take the same, nodes without work, nodes without bytes; any order. */
static void few(void **state)
{
    struct arena *a = arena_new(NULL);
    struct fitted f, g;
    struct fit_node one = {1000, 4000, 2000000}, none = {0, 0, 5}, pure = {1000, 0, 1000000};
    struct fit_node equal[] = {one, one, one},
                    even[] = {{10, 100, 5000}, {20, 5000, 5000}, {9000, 40, 5000}},
                    turned[] = {even[2], even[0], even[1]};
    (void)state;
    assert_int_equal(fit_class(&one, 1, &f, a), 0);
    assert_true(f.bandwidth_told && !f.peak_told && f.bandwidth == 2000000000);
    assert_int_equal(fit_error(&f, &one), 0);
    assert_int_equal(fit_class(equal, 3, &g, a), 0);
    assert_true(f.bandwidth == g.bandwidth && f.peak == g.peak && f.overhead == g.overhead);
    assert_int_equal(fit_class(even, 3, &f, a), 0);
    for (int i = 0; i < 3; i++)
        assert_in_range(fit_error(&f, &even[i]), 0, 2);
    assert_int_equal(fit_class(turned, 3, &g, a), 0);
    assert_true(f.bandwidth == g.bandwidth && f.peak == g.peak && f.overhead == g.overhead);
    assert_int_equal(fit_class(&none, 1, &f, a), -1);
    assert_int_equal(fit_class(&pure, 1, &f, a), 0);
    assert_in_range(fit_error(&f, &pure), 0, 2);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known),
        cmocka_unit_test(one_kind),
        cmocka_unit_test(few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
