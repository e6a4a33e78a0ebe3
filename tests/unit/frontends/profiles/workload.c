/* Workloads of the placement paper: fractions of bytes and of milliseconds become whole bytes and picoseconds, what
 * nodes need rounded up, what a device has rounded down. */
#include "frontends/frontends.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A node of that size on a device of that much memory. */
static void check(const char *size, const char *memory, int64_t bytes, int64_t most)
{
    char text[600];
    struct scene s = {0};
    struct diag d = {0};
    snprintf(text, sizeof text,
             "{\"maxFPGAs\": 1, \"maxCPUs\": 1, \"maxSizePerFPGA\": %s, \"edges\": [], \"nodes\": "
             "[{\"id\": 7, \"supportedOnFpga\": 1, \"fpgaLatency\": 0.0000000015, \"cpuLatency\": "
             "2.5, \"isBackwardNode\": 0, \"size\": %s}]}",
             memory, size);
    struct workload_text t = {"w.json", text, strlen(text)};
    assert_int_equal(workload_parse(&s, &t, 1, NULL, &d), 0);
    assert_int_equal(s.m->cost->own[1], bytes);
    assert_int_equal(s.cluster->cls[0].memory, most);
    assert_int_equal(s.m->cost->time[0][1], 2); /* to nearest */
    assert_int_equal(s.m->cost->time[1][1], INT64_C(2500000000));
    arena_free(s.m->mem);
}

static void test_bytes(void **state)
{
    (void)state;
    check("0", "0", 0, 0);
    check("1", "1", 1, 1);
    check("4096", "4096.0", 4096, 4096);
    check("0.25", "0.75", 1, 0);
    check("4096.25", "4096.75", 4097, 4096);
    check("4096.75", "4096.25", 4097, 4096);
    check("1e15", "1e15", INT64_C(1000000000000000), INT64_C(1000000000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
