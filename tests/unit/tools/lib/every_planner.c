/* Every planner, for every objective, on every kind of input, and several kinds of devices: a plan whose bound is not
 * above its value and whose textual IR can be read again, or a status with a reason.  No combination may end the
 * process (tools/lib/pcc.h). */
#include "tools/lib/pcc.h"

#include "passes/passes.h"
#include "tools/lib/exec/kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct input {
    const char *name; /* its ending tells the form */
    const char *text;
    const char *devices[3]; /* for the setting "devices", then NULL: the input brings its own */
};

static const struct input inputs[] = {
    {"workload.json",
     "{\"maxSizePerFPGA\": 100, \"maxFPGAs\": 2, \"maxCPUs\": 1, \"nodes\": ["
     "{\"id\": 0, \"name\": \"f\", \"supportedOnFpga\": 1, \"cpuLatency\": 1, \"fpgaLatency\": 1, "
     "\"isBackwardNode\": 0, \"colorClass\": 1, \"size\": 1},"
     "{\"id\": 1, \"name\": \"b\", \"supportedOnFpga\": 1, \"cpuLatency\": 1, \"fpgaLatency\": 1, "
     "\"isBackwardNode\": 1, \"colorClass\": 1, \"size\": 1}],"
     "\"edges\": [{\"sourceId\": 0, \"destId\": 1, \"cost\": 0.01}]}",
     {NULL}},
    {"inference.json",
     "{\"maxSizePerFPGA\": 2, \"maxFPGAs\": 3, \"maxCPUs\": 0, \"nodes\": ["
     "{\"id\": 0, \"name\": \"a\", \"supportedOnFpga\": 1, \"cpuLatency\": 5, \"fpgaLatency\": 1, "
     "\"isBackwardNode\": 0, \"colorClass\": null, \"size\": 1},"
     "{\"id\": 1, \"name\": \"b\", \"supportedOnFpga\": 0, \"cpuLatency\": 5, \"fpgaLatency\": 1, "
     "\"isBackwardNode\": 0, \"colorClass\": null, \"size\": 1}],"
     "\"edges\": [{\"sourceId\": 0, \"destId\": 1, \"cost\": 0.01}]}",
     {NULL}},
    {"no_link.pir",
     "pcc 1\nclass acc x2\ngraph {\n  %a = profile:op() : ? !xfer=1us !time=1ms !color=1\n"
     "  %b = profile:op(%a) : ? !xfer=1us !time=1ms !color=1 !backward\n}\n",
     {NULL}},
    {"empty.pir", "pcc 1\nclass acc x2 memory=1MiB link=1GB/s,1us\ngraph {\n}\n", {NULL}},
    {"hosts.pir",
     "pcc 1\nclass cpu x2 host\ngraph {\n  in %x : f32[8]\n  %a = Tanh(%x) : f32[8]\n"
     "  out %a\n}\n",
     {NULL}},
    {"profile-pbs-4.txt",
     "node1 -- a -- forward_compute_time=1, backward_compute_time=2, activation_size=8, "
     "parameter_size=8\n"
     "node2 -- b -- forward_compute_time=0, backward_compute_time=0, activation_size=0, "
     "parameter_size=8\n"
     "node3 -- c -- forward_compute_time=1, backward_compute_time=0, activation_size=8, "
     "parameter_size=0\n"
     "\tnode1 -- node2\n\tnode2 -- node3\n\tnode1 -- node3\n",
     {"2xv100,1xa100", "3xa100:10B", "2xcpu"}},
    {"model.pir",
     "pcc 1\ngraph {\n  in %x : f32[4, 64]\n  in %w : f32[64, 64]\n"
     "  %a = MatMul(%x, %w) : f32[4, 64] name=\"a\"\n  %b = Tanh(%a) : f32[4, 64] name=\"b\"\n"
     "  %c = Add(%a, %b) : f32[4, 64] name=\"c\"\n  out %c\n}\n",
     {"2xa100,1xt4,1xcpu", "1xcpu", "2xa100:1KiB"}},
};

/* Plans with one planner; the process must go on. */
static void plan_once(const struct input *in, const char *devices, const char *objective,
                      const char *planner)
{
    struct pcc *p = pcc_new();
    printf("%s -d %s --objective=%s -p %s\n", in->name, devices ? devices : "(own)", objective,
           planner);
    fflush(stdout);
    assert_int_equal(pcc_set(p, "objective", objective), PCC_OK);
    assert_int_equal(pcc_set(p, "time-limit", "1s"), PCC_OK);
    if (devices)
        assert_int_equal(pcc_set(p, "devices", devices), PCC_OK);
    if (pcc_open_memory(p, in->name, in->text, strlen(in->text)))
        fail_msg("%s", pcc_error(p));
    enum pcc_status s = pcc_plan(p, planner);
    if (s) {
        assert_true(s == PCC_BAD_INPUT || s == PCC_BAD_USE || s == PCC_NO_PLAN);
        assert_true(*pcc_error(p));
    } else {
        const struct pcc_verdict *v = pcc_verdict(p);
        assert_true(v->value >= 0 && v->bound <= v->value && v->bound_all <= v->value);
        static const char *const texts[] = {"table", "json", "ir", "gantt"};
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            if (!pcc_text(p, texts[i]))
                fail_msg("%s: %s", texts[i], pcc_error(p));
        struct pcc *again = pcc_new();
        const char *ir = pcc_text(p, "ir");
        if (pcc_open_memory(again, "again.pir", ir, strlen(ir)))
            fail_msg("%s\n%s", pcc_error(again), ir);
        if (!strcmp(planner, "one-place")) { /* a quick one */
            assert_int_equal(pcc_set(again, "objective", objective), PCC_OK);
            if (pcc_plan(again, planner))
                fail_msg("%s\n%s", pcc_error(again), ir);
            assert_int_equal(pcc_verdict(again)->value, v->value);
        }
        pcc_free(again);
    }
    pcc_free(p);
}

static void test_every_planner(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t d = 0; d < 3 && (d == 0 || inputs[i].devices[d]); d++)
            for (size_t k = 0; exec_kinds[k]; k++)
                for (uint32_t j = 0; planner_at(exec_kinds, j); j++)
                    if (!planner_at(exec_kinds, j)->given)
                        plan_once(&inputs[i], inputs[i].devices[d], exec_kinds[k]->name,
                                  planner_at(exec_kinds, j)->pass.name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_planner)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
