/* Idle slots of devices against a list of busy intervals that is searched moment by moment (slots.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "passes/list/slots.h"
#include "tests/support/graphs.h"

enum { RUNS = 300, TAKEN = 40, LATEST = 2000 };

/* Busy from 0 to 3 and from 5 to 9. */
static void by_hand(void **state)
{
    (void)state;
    struct arena *a = arena_new(NULL);
    struct slots *s = slots_new(1, a);
    slots_take(s, 0, 3);
    slots_take(s, 5, 4);
    assert_int_equal(slots_find(s, 2, 2), 3);
    assert_int_equal(slots_find(s, 2, 3), 9);
    assert_int_equal(slots_find(s, 4, 1), 4);
    assert_int_equal(slots_find(s, 10, 5), 10);
    assert_int_equal(slots_find(s, 6, 0), 6);
    arena_free(a);
}

static void like_a_calendar(void **state)
{
    (void)state;
    uint64_t rng = 41;
    for (uint32_t run = 0; run < RUNS; run++) {
        struct arena *a = arena_new(NULL);
        struct slots *s = slots_new(1, a);
        bool busy[LATEST] = {false};
        for (uint32_t i = 0; i < TAKEN; i++) {
            uint32_t ready = test_below(&rng, 200), length = test_below(&rng, 9);
            uint32_t start = ready;
            for (uint32_t t = start; t < start + length; t++)
                if (busy[t])
                    start = t + 1;
            assert_int_equal(slots_find(s, ready, length), start);
            slots_take(s, start, length);
            for (uint32_t t = start; t < start + length; t++)
                busy[t] = true;
        }
        arena_free(a);
    }
}

/* More slots than are remembered: what is found is free all the same. */
static void forgotten(void **state)
{
    (void)state;
    struct arena *a = arena_new(NULL);
    struct slots *s = slots_new(1, a);
    for (int64_t i = 0; i < 4 * SLOTS; i++)
        slots_take(s, 10 * i, 5);
    assert_int_equal(slots_find(s, 0, 5), 10 * (4 * SLOTS - 1 - SLOTS) + 5);
    for (int64_t i = 0; i < 4 * SLOTS; i++) {
        int64_t start = slots_find(s, 0, 1 + i % 5);
        assert_true(start % 10 >= 5 || start >= 10 * (4 * SLOTS - 1) + 5);
        slots_take(s, start, 1 + i % 5);
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(like_a_calendar),
                                       cmocka_unit_test(forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
