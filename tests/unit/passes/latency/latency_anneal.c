/* latency_fill: a block that no accelerator has room for does not make an accelerator forget the blocks that it has. */
#include "passes/latency/latency_anneal.h"
#include "tools/lib/handle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* a and c need 70 B each, with x; both on one accelerator 130 B.  b fits on none. */
static const char text[] = "pcc 1\n"
                           "cluster memory_model=live\n"
                           "class acc x2 memory=100B link=1TB/s,1ps\n"
                           "class cpu x1 host\n"
                           "graph {\n"
                           "  in %x : i8[10] !bytes=10B\n"
                           "  %a = profile:op(%x) : ? !bytes=60B !own=60B !time=[1ps,9ps]\n"
                           "  %b = profile:op(%x) : ? !bytes=5B !own=300B !time=[1ps,9ps]\n"
                           "  %c = profile:op(%x) : ? !bytes=60B !own=60B !time=[1ps,9ps]\n"
                           "  out %a\n"
                           "  out %b\n"
                           "  out %c\n"
                           "}\n";

static void test_filled(void **state)
{
    struct pcc *p = pcc_new();
    (void)state;
    assert_int_equal(pcc_set(p, "objective", "latency"), PCC_OK);
    if (pcc_open_memory(p, "fill.pir", text, sizeof text - 1) != PCC_OK)
        fail_msg("%s", pcc_error(p));
    struct ctx *x = &p->x;
    x->scene.model.objective = (uint32_t)exec_objective(&x->scene.model, "latency");
    assert_int_equal(ctx_base(x), 0);
    struct problem *c =
        problem_build(x->levels.base, &x->scene, MEMORY_UNCHANGED, x->use.mem, x->use.diag);
    assert_true(c && c->values);
    struct latency_graph *g = latency_graph_build(c, x->levels.base, 1, x->use.mem);
    struct latency_quotient *quotient = latency_quotient_new(g, x->use.mem);
    struct latency_plan plan = latency_no_plan(g, x->use.mem);
    latency_fill(g, NULL, &plan, quotient, x->use.mem);
    assert_true(latency_fits(g, plan.sub, quotient));
    assert_true(plan.value < LOAD_INF);
    assert_int_equal(plan.sub[0], 0);
    assert_int_equal(plan.sub[1], ON_HOST);
    assert_int_equal(plan.sub[2], 1);
    pcc_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_filled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
