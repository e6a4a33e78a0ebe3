/* A plan that was made to fit keeps the bounds of an earlier claim only if the claim is about such plans (refit.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "passes/contiguous/refit.h"
#include "passes/problem/placing.h"

#include <string.h>

/* A path of three nodes on two devices. */
static const char text[] = "class acc x2 link=1TB/s,0ps\ngraph {\n"
                           "  %a = profile:op() : ? !bytes=1B !xfer=0ps !time=5ps\n"
                           "  %b = profile:op(%a) : ? !bytes=1B !xfer=0ps !time=9ps\n"
                           "  %c = profile:op(%b) : ? !bytes=1B !xfer=0ps !time=4ps\n"
                           "  out %c\n}\n";

/* Returns the claim that the plan with these devices of a, b and c, of value 9, gets from a claim of this scope, with
 * bound 10, and bound 8 for all plans. */
static struct claim kept(const int32_t *dev, enum plan_scope scope)
{
    struct text_module t = {0};
    struct diag d = {0};
    struct settings set = {0};
    struct arena *mem = arena_new(NULL), *scratch = arena_new(NULL);
    assert_int_equal(
        module_parse(&t, &(struct named_text){"refit", text, strlen(text), NULL}, NULL, &d), 0);
    struct ctx x = {
        .use = {.mem = mem, .scratch = scratch, .diag = &d}, .scene = t.scene, .settings = &set};
    assert_int_equal(ctx_base(&x), 0);
    struct plan plan = {.dev = arena_array(mem, t.scene.m->nnode, sizeof *plan.dev),
                        .claim = {.value = 9, .bound = -1, .bound_all = -1}};
    memcpy(plan.dev + t.scene.m->nnode - 3, dev, 3 * sizeof *dev);
    x.results.plan = &plan;
    keep_bounds(&x, &(struct claim){.value = 7,
                                    .scope = scope,
                                    .bound = 10,
                                    .bound_all = 8,
                                    .status = PLAN_OPTIMAL,
                                    .proof = "a proof"});
    arena_free(mem);
    arena_free(scratch);
    arena_free(t.scene.m->mem);
    return plan.claim;
}

/* Bounds of contiguous plans and of fused graphs are not those of a plan that comes back to a device. */
static void test_others(void **state)
{
    const int32_t back[] = {0, 1, 0};
    const enum plan_scope scope[] = {SCOPE_CONTIGUOUS, SCOPE_CONTIGUOUS_LAYERS, SCOPE_FUSED,
                                     SCOPE_CONTIGUOUS_FUSED};
    (void)state;
    for (uint32_t i = 0; i < sizeof scope / sizeof *scope; i++) {
        struct claim c = kept(back, scope[i]);
        assert_int_equal(c.scope, SCOPE_ALL);
        assert_int_equal(c.bound, 8);
        assert_int_equal(c.value, 9);
        assert_int_equal(c.status, PLAN_FEASIBLE);
        assert_null(c.proof);
    }
}

/* A contiguous plan keeps the bound of contiguous plans, any plan that of all. */
static void test_same(void **state)
{
    const int32_t row[] = {0, 1, 1}, back[] = {0, 1, 0};
    (void)state;
    struct claim c = kept(row, SCOPE_CONTIGUOUS);
    assert_int_equal(c.scope, SCOPE_CONTIGUOUS);
    assert_int_equal(c.bound, 10);
    assert_string_equal(c.proof, "a proof");
    c = kept(back, SCOPE_ALL);
    assert_int_equal(c.scope, SCOPE_ALL);
    assert_int_equal(c.bound, 10);
}

/* A quarter of the time is left where a plan may not fit; nothing is changed elsewhere. */
static void test_time_left(void **state)
{
    (void)state;
    struct set_values values = {0};
    const struct problem doubtful = {.values = &values}, sure = {0};
    const int64_t hour = INT64_C(3600) * 1000000000;
    struct clock c = {0};
    placing_leave_time(&doubtful, &c);
    assert_int_equal(c.deadline, 0);
    clock_limit(&c, hour);
    const int64_t deadline = c.deadline;
    placing_leave_time(&sure, &c);
    assert_int_equal(c.deadline, deadline);
    placing_leave_time(&doubtful, &c);
    int64_t taken = deadline - c.deadline;
    assert_true(taken > hour / 5 && taken <= hour / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_others), cmocka_unit_test(test_same),
                                       cmocka_unit_test(test_time_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
