/* The one door: each reason for which a plan is not taken, and none where there is none (evaluate.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ir/exec/evaluate.h"
#include "passes/passes.h"

#include <string.h>

/* Two accelerators of 10 kB: a takes 5 us, b 7 us and cannot run on the CPU, what crosses costs nothing. */
static const char text[] =
    "class acc x2 memory=10kB\nclass cpu host\ngraph {\n"
    "  %a = profile:op() : ? !bytes=1B !own=6kB !xfer=0ps !time=5us\n"
    "  %b = profile:op(%a) : ? !bytes=1B !own=6kB !xfer=0ps !time=[7us,never]\n"
    "  out %b\n}\n";

struct world {
    struct ctx x;
    struct settings set;
    struct diag d;
    struct text_module t;
    nid a, b;
    int32_t *dev;
    struct plan plan;
};

static void enter(struct world *w, const struct pin *pins, uint32_t npins)
{
    memset(w, 0, sizeof *w);
    assert_int_equal(module_parse(&w->t, &(struct named_text){"evaluate", text, strlen(text), NULL},
                                  NULL, &w->d),
                     0);
    w->set = (struct settings){.pins = pins, .npins = npins};
    w->x = (struct ctx){.use = {.mem = arena_new(NULL), .scratch = arena_new(NULL), .diag = &w->d},
                        .scene = w->t.scene,
                        .settings = &w->set};
    assert_int_equal(ctx_base(&w->x), 0);
    w->b = w->t.scene.m->nnode - 1;
    w->a = w->b - 1;
    w->dev = arena_array(w->x.use.mem, w->t.scene.m->nnode, sizeof *w->dev);
    w->dev[w->b] = 1;
    w->plan = (struct plan){.dev = w->dev,
                            .claim.value = 7 * PS_PER_S / 1000000,
                            .claim.bound = -1,
                            .claim.bound_all = -1,
                            .claim.status = PLAN_HEURISTIC};
}

static void leave(struct world *w)
{
    arena_free(w->x.use.mem);
    arena_free(w->x.use.scratch);
    arena_free(w->t.scene.m->mem);
}

/* What is found of w->plan; *why is what plan_evaluate() says. */
static enum finding find(struct world *w, const char **why)
{
    struct evaluation e = plan_evaluate(&w->x.scene, &w->plan, w->x.use.mem);
    *why = e.why_not;
    assert_int_equal(e.value, e.v.value);
    return evaluation_confirms(&e, &w->plan.claim);
}

static void test_claims(void **state)
{
    struct world w;
    const char *why;
    const int64_t us = PS_PER_S / 1000000;
    (void)state;
    enter(&w, NULL, 0);
    assert_int_equal(find(&w, &why), FOUND_AS_CLAIMED);
    assert_null(why);
    w.plan.claim.bound = 6 * us;
    assert_int_equal(find(&w, &why), FOUND_AS_CLAIMED);
    w.plan.claim.status = PLAN_OPTIMAL;
    assert_int_equal(find(&w, &why), FOUND_OTHER_BOUND);
    w.plan.claim.bound = 7 * us;
    assert_int_equal(find(&w, &why), FOUND_AS_CLAIMED);
    w.plan.claim.bound = 7 * us + 1;
    w.plan.claim.status = PLAN_FEASIBLE;
    assert_int_equal(find(&w, &why), FOUND_OTHER_BOUND);
    w.plan.claim.bound = w.plan.claim.value = 7 * us + 1;
    assert_int_equal(find(&w, &why), FOUND_OTHER_VALUE);
    leave(&w);
}

static void test_broken(void **state)
{
    struct world w;
    const char *why;
    (void)state;
    enter(&w, NULL, 0);
    w.dev[w.b] = 2;
    assert_int_equal(find(&w, &why), FOUND_BROKEN);
    assert_string_equal(why, "node 'b' cannot run on cpu0");
    w.dev[w.b] = -1;
    assert_int_equal(find(&w, &why), FOUND_BROKEN);
    assert_string_equal(why, "node 'b' has no device");
    leave(&w);
}

/* Over memory: only for a plan that says so. */
static void test_memory(void **state)
{
    struct world w;
    const char *why;
    (void)state;
    enter(&w, NULL, 0);
    w.dev[w.b] = 0;
    w.plan.claim.value = 12 * PS_PER_S / 1000000;
    assert_int_equal(find(&w, &why), FOUND_BROKEN);
    assert_non_null(strstr(why, "acc0 needs 11.72 KiB and has 9.766 KiB"));
    w.plan.claim.status = PLAN_OVER_MEMORY;
    assert_int_equal(find(&w, &why), FOUND_AS_CLAIMED);
    struct evaluation e = plan_evaluate(&w.x.scene, &w.plan, w.x.use.mem);
    assert_true(evaluation_holds(&e, true) && !evaluation_holds(&e, false));
    leave(&w);
}

static void test_pins(void **state)
{
    const struct pin pins[] = {{"^b$", "acc1"}};
    struct world w;
    const char *why;
    (void)state;
    enter(&w, pins, 1);
    assert_int_equal(find(&w, &why), FOUND_AS_CLAIMED);
    w.dev[w.a] = 1;
    w.dev[w.b] = 0;
    assert_int_equal(find(&w, &why), FOUND_BROKEN);
    assert_string_equal(why, "node 'b' is not on the device that it is pinned to");
    struct evaluation e = plan_evaluate(&w.x.scene, &w.plan, w.x.use.mem);
    assert_int_equal(e.misplaced, w.b);
    assert_false(evaluation_holds(&e, true));
    leave(&w);
}

/* Edges that the user wants cut, or whole. */
static void test_cuts(void **state)
{
    struct world w;
    const char *why;
    (void)state;
    enter(&w, NULL, 0);
    struct ruled_edge e = {w.a, w.b, "^a", .cut = true};
    w.x.scene.place->ruled = &e;
    w.x.scene.place->nruled = 1;
    assert_int_equal(find(&w, &why), FOUND_AS_CLAIMED);
    e.cut = false;
    assert_int_equal(find(&w, &why), FOUND_BROKEN);
    assert_string_equal(why, "nodes 'a' and 'b' are on two devices, against --no-cut=^a");
    w.dev[w.b] = w.dev[w.a];
    e.cut = true;
    assert_int_equal(find(&w, &why), FOUND_BROKEN);
    assert_string_equal(why, "nodes 'a' and 'b' are on one device, against --cut-at=^a");
    leave(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_claims), cmocka_unit_test(test_broken),
                                       cmocka_unit_test(test_memory), cmocka_unit_test(test_pins),
                                       cmocka_unit_test(test_cuts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
