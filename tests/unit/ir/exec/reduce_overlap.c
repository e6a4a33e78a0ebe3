/* AllReduces beside the backward pass: by hand, and never outside of what is possible. */
#include "ir/base/random.h"
#include "ir/exec/iteration/reduce_overlap.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MOST = 8, SECOND = 1000000000 }; /* in units of 1000 ps */

static const struct servers servers = {
    .n = 1, .ndev = 2, .size = {2}, .inner = 1000, .outer = 1000, .outer_reduce = 1000};
static const struct device_set both = {{2}};

/* One link of 1000 bytes/s: a ring of two takes a second for 1000 bytes. */
static void test_by_hand(void **state)
{
    const int64_t s = (int64_t)SECOND * 1000;
    struct reduce_part p[] = {{1 * s, 1000}, {2 * s, 3000}, {5 * s, 1000}};
    const struct reduce_parts parts = {p, 3};
    (void)state;
    /* 1 to 2, 2 to 5, 5 to 6 */
    assert_true(reduce_exposed(&servers, &both, &parts, 5 * s, 5 * s) == 1 * s);
    /* in half the time: 0.5 to 1.5, 1.5 to 4.5, 4.5 to 5.5 */
    assert_true(reduce_exposed(&servers, &both, &parts, 5 * s / 2, 5 * s) == 3 * s);
    p[2].bytes = 0;
    assert_true(reduce_exposed(&servers, &both, &parts, 5 * s, 5 * s) == 0);
}

/* At least what the last gradients take; at most all of them. */
static void test_between(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        struct reduce_part p[MOST];
        struct reduce_parts parts = {p, 1 + random_below(&seed, MOST)};
        int64_t ready = 0, all = 0;
        for (uint32_t k = 0; k < parts.n; k++) {
            ready += (int64_t)random_below(&seed, 1000) * SECOND;
            p[k] = (struct reduce_part){ready, random_below(&seed, 2000)};
            all += servers_reduce(&servers, &both, p[k].bytes);
        }
        int64_t exposed = reduce_exposed(&servers, &both, &parts, ready, ready);
        assert_true(exposed >= servers_reduce(&servers, &both, p[parts.n - 1].bytes));
        assert_true(exposed <= all);
        assert_true(exposed >= all - ready);
    }
}

/* Where a ring has latencies, what waits goes together, and all at the end where that is sooner. */
static void test_latency(void **state)
{
    const struct servers far = {.n = 1,
                                .ndev = 2,
                                .size = {2},
                                .inner = 1000,
                                .outer = 1000,
                                .inner_latency = 1000 * (int64_t)SECOND};
    const int64_t s = (int64_t)SECOND * 1000;
    struct reduce_part p[] = {{1 * s, 1000}, {2 * s, 1000}, {3 * s, 1000}, {4 * s, 1000}};
    const struct reduce_parts parts = {p, 4};
    (void)state;
    /* 1 to 4: the first; 4 to 9: three of them, with two latencies once */
    assert_true(reduce_exposed(&far, &both, &parts, 4 * s, 4 * s) == 5 * s);
    p[0] = (struct reduce_part){10 * s - 1, 1000};
    p[1] = p[2] = p[3] = (struct reduce_part){10 * s, 1000};
    /* the first would end 3 s after the others are there, these 5 s later; all together take 6 */
    assert_true(reduce_exposed(&far, &both, &parts, 10 * s, 10 * s) == 6 * s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
