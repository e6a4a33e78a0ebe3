/* DAPPLE's formula on stages worked out by hand, and beside an iteration that is run. */
#include "ir/base/random.h"
#include "ir/exec/events.h"
#include "ir/exec/iteration/iteration.h"
#include "passes/stages/stage_formula.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MOST = 13 };

static struct formula formula_of(uint32_t n, const int64_t *forward, const int64_t *backward,
                                 const int64_t *reduce, uint32_t micro_batches)
{
    struct formula_stage s[MOST];
    for (uint32_t i = 0; i < n; i++)
        s[i] = (struct formula_stage){forward[i], backward[i], reduce ? reduce[i] : 0};
    return stage_formula(s, n, micro_batches, false);
}

#define LIST(...) ((const int64_t[]){__VA_ARGS__})

static void expect(struct formula f, uint32_t pivot, const int64_t *part)
{
    assert_int_equal(f.pivot, pivot);
    assert_int_equal(f.warm_up, part[0]);
    assert_int_equal(f.steady, part[1]);
    assert_int_equal(f.ending, part[2]);
    assert_int_equal(f.latency, part[3]);
}

static void test_vectors(void **state)
{
    (void)state;
    expect(formula_of(2, LIST(1, 1), LIST(2, 2), NULL, 4), 1, LIST(2, 9, 4, 15));
    expect(formula_of(3, LIST(1, 2, 1), LIST(2, 4, 2), NULL, 4), 1, LIST(3, 18, 6, 27));
    expect(formula_of(2, LIST(1, 1), LIST(2, 2), LIST(0, 5), 3), 1, LIST(2, 6, 7, 15));
    expect(formula_of(3, LIST(2, 2, 2), LIST(4, 2, 4), NULL, 6), 2, LIST(6, 30, 10, 46));
    expect(formula_of(3, LIST(1, 3, 1), LIST(2, 3, 2), LIST(1, 0, 2), 8), 1, LIST(4, 42, 6, 52));
    expect(formula_of(1, LIST(1), LIST(2), LIST(3), 4), 0, LIST(1, 9, 5, 15));
    /* in halves */
    expect(formula_of(5, LIST(2, 1, 6, 1, 2), LIST(4, 1, 12, 1, 4), LIST(6, 0, 2, 0, 18), 8), 2,
           LIST(9, 126, 23, 158));
}

/* As printed: too little where the last stage alone has an AllReduce, or there is one stage. */
static void test_literal(void **state)
{
    const struct formula_stage one = {1, 2, 3}, two[] = {{1, 2, 0}, {1, 2, 5}};
    (void)state;
    assert_int_equal(stage_formula(&one, 1, 4, true).latency, 11);
    assert_int_equal(stage_formula(two, 2, 3, true).latency, 12);
}

/* Without AllReduce it is never above what runs. */
static void test_against_run(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (uint32_t i = 0; i < 500; i++) {
        uint32_t n = 2 + random_below(&seed, 5), m = 1 + random_below(&seed, 20);
        struct stage_work w[MOST] = {{0}};
        struct formula_stage f[MOST];
        for (uint32_t s = 0; s < n; s++) {
            w[s].forward = 1 + random_below(&seed, 20);
            w[s].backward = 1 + random_below(&seed, 20);
            w[s].ahead = iteration_ahead_b(n, s, UINT32_MAX);
            f[s] = (struct formula_stage){w[s].forward, w[s].backward, 0};
        }
        const struct iteration x = {
            .order = ITERATION_1F1B, .nstage = n, .nplace = n, .micro_batches = m, .stage = w};
        struct arena *a = arena_new(NULL);
        struct task_graph g = iteration_tasks(&x, NULL, NULL, a);
        assert_true(stage_formula(f, n, m, false).latency <= events_run(&g, NULL, a).end);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_literal),
        cmocka_unit_test(test_against_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
