/* The table of execution models: each row has what no other place asks for, and names passes that there are. */
#include "tools/lib/exec/kinds.h"

#include "backends/backends.h"
#include "ir/exec/exec_runs.h"
#include "passes/pipeline.h"
#include "passes/planner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_kinds(void **state)
{
    struct diag d = diag_silent();
    struct arena *a = arena_new(NULL);
    (void)state;
    assert_string_equal(exec_kinds[TIME_PER_SAMPLE]->name, "time-per-sample");
    for (uint32_t i = 0; exec_kinds[i]; i++) {
        const struct exec_kind *k = exec_kinds[i];
        struct pipeline p = {.kinds = exec_kinds}, grouped = p;
        assert_true(k->name && k->text && k->unit && k->runs && k->runs->rhythm && k->plans);
        assert_true(k->shows->gain && k->shows->report && k->shows->replay && k->shows->chart);
        assert_true(i == TIME_PER_SAMPLE || (k->runs->verdict && k->runs->bound));
        assert_int_equal(pipeline_parse(&p, k->plans->pipeline, a, &d), 0);
        assert_true(planner_aims_at(planner_of(exec_kinds, p.step[p.n - 1].pass), k));
        if (k->plans->grouped)
            assert_int_equal(pipeline_parse(&grouped, k->plans->grouped, a, &d), 0);
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(exec_kinds[j]->name, k->name);
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
