/* The search for a plan that fits (passes/any_shape/fit_search.c): items of 3 bytes on devices of 10, which hold three
 * each, though the bytes of one more than that are less than all memory; so only the search can tell, and it ends where
 * its clock or its steps do. */
#include "passes/any_shape/fit_search.h"
#include "tests/support/graphs.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { DEVICES = 4, EACH = 3, MANY = 1000000 };

static enum fit search(uint32_t items, uint64_t work, struct clock *clock)
{
    int64_t time[16] = {0}, size[16];
    int32_t dev[16];
    uint32_t held[DEVICES] = {0};
    struct diag d = {0};
    struct arena *a = arena_new(NULL);
    struct cluster c = {.ncls = 1, .ndev = DEVICES};
    c.cls[0] = (struct device_class){.name = "acc", .count = DEVICES, .memory = 3 * EACH + 1};
    for (uint32_t v = 0; v < items; v++)
        size[v] = 3;
    const struct wdag *g = graph_of_edges(a, items, time, size, 0, NULL);
    const struct problem *p = problem_build(g, &(struct scene){.cluster = &c}, -1, a, &d);
    enum fit found = fit_search(p, work, clock, dev, a);
    for (uint32_t v = 0; v < items && found == FIT_FOUND; v++)
        assert_true(++held[dev[v]] <= EACH);
    arena_free(a);
    return found;
}

static void test_ends(void **state)
{
    signal_flag stop = 1;
    struct listener listener = {.stop = &stop};
    struct clock clock = {.listener = &listener}, later = {0};
    (void)state;
    assert_int_equal(search(DEVICES * EACH, MANY, NULL), FIT_FOUND);
    assert_int_equal(search(DEVICES * EACH + 1, MANY, NULL), FIT_NONE);
    assert_int_equal(search(DEVICES * EACH + 1, MANY, &later), FIT_NONE);
    assert_int_equal(search(DEVICES * EACH + 1, 100, NULL), FIT_UNKNOWN);
    assert_int_equal(search(DEVICES * EACH + 1, MANY, &clock), FIT_UNKNOWN);
    assert_string_equal(clock.why, "interrupted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
