/* The heap against sorting: pushes and pops in a random mix, with many equal keys and ties. */
#include "ir/base/heap.h"
#include "tests/support/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 200, STEPS = 300 };

static int by_order(const void *a, const void *b)
{
    const struct heap_entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static void as_sorting(void **state)
{
    (void)state;
    uint64_t rng = 5;
    for (int round = 0; round < ROUNDS; round++) {
        struct arena *a = arena_new(NULL);
        struct heap h = {.a = a};
        struct heap_entry in[STEPS], x;
        uint32_t n = 0, most = 1 + test_below(&rng, 9);
        for (int i = 0; i < STEPS; i++) {
            if (n && test_below(&rng, 3) == 0) {
                qsort(in, n, sizeof *in, by_order);
                x = heap_pop(&h);
                assert_int_equal(by_order(&x, &in[0]), 0);
                in[0] = in[--n];
            } else {
                x = (struct heap_entry){(int64_t)test_below(&rng, most) - 4, test_below(&rng, 3),
                                        test_below(&rng, 1000)};
                heap_push(&h, x.key, x.tie, x.item);
                in[n++] = x;
            }
        }
        qsort(in, n, sizeof *in, by_order);
        for (uint32_t i = 0; i < n; i++) {
            x = heap_pop(&h);
            assert_int_equal(by_order(&x, &in[i]), 0);
        }
        assert_int_equal(h.n, 0);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_sorting)};
    return cmocka_run_group_tests_name("unit_heap", tests, NULL, NULL);
}
