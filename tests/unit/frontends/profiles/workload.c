/* Workloads of the placement paper: fractions of bytes and of milliseconds become whole bytes and picoseconds, what
 * nodes need rounded up, what a device has rounded down; what is refused, and in which words. */
#include "frontends/frontends.h"
#include "tests/support/kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct workload_edges plain = {.scale = 1};

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
    struct named_text t = {"w.json", text, strlen(text), NULL};
    assert_int_equal(workload_parse(&s, &t, &plain, NULL, &d), 0);
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

/* Each cost of a node's edges is a result of its own, whose elements nobody knows. */
static void test_results(void **state)
{
    static const char text[] =
        "{\"maxFPGAs\": 1, \"maxCPUs\": 0, \"maxSizePerFPGA\": 9, \"nodes\": [{\"id\": 0, \"fpgaLatency\": 1, "
        "\"cpuLatency\": 1, \"supportedOnFpga\": 1, \"size\": 0}, {\"id\": 1, \"fpgaLatency\": 1, \"cpuLatency\": 1, "
        "\"supportedOnFpga\": 1, \"size\": 0}, {\"id\": 2, \"fpgaLatency\": 1, \"cpuLatency\": 1, "
        "\"supportedOnFpga\": 1, \"size\": 0}], \"edges\": [{\"sourceId\": 0, \"destId\": 1, \"cost\": 2}, "
        "{\"sourceId\": 0, \"destId\": 2, \"cost\": 3}, {\"sourceId\": 1, \"destId\": 2, \"cost\": 5}]}";
    struct scene s = {0};
    struct diag d = {0};
    struct named_text w = {"w.json", text, strlen(text), NULL};
    int64_t seen[6] = {0};
    uint32_t results = 0;
    (void)state;
    assert_int_equal(workload_parse(&s, &w, &plain, NULL, &d), 0);
    const struct module *m = s.m;
    for (vid v = 1; v < m->nval; v++) {
        if (!m->value[v].def)
            continue;
        int64_t ms = m->cost->xfer[v] / 1000000000;
        assert_in_range(ms, 0, 5);
        assert_int_equal(m->cost->elems[v], -1);
        seen[ms]++;
        results++;
    }
    assert_true(results >= 3 && seen[2] == 1 && seen[3] == 1 && seen[5] == 1);
    arena_free(m->mem);
}

/* The devices, the nodes and the edges of a workload; what is said of it, "" if it is taken. */
struct refused {
    const char *devices, *nodes, *edges, *want;
};

#define DEVICES "\"maxFPGAs\": 1, \"maxCPUs\": 1, \"maxSizePerFPGA\": 9"
#define NODE(id, more) "{\"id\": " id ", \"fpgaLatency\": 1, \"cpuLatency\": 1" more "}"
#define EDGE(from, to, cost) "{\"sourceId\": " from ", \"destId\": " to ", \"cost\": " cost "}"

static void said_of(const char *text, char *error)
{
    struct scene s;
    struct diag d = {.emit = keep_error, .user = error};
    struct named_text t = {"w.json", text, strlen(text), NULL};
    error[0] = '\0';
    if (workload_parse(&s, &t, &plain, NULL, &d) == 0) {
        assert_int_equal(module_verify(s.m, &d), 0);
        arena_free(s.m->mem);
    } else {
        assert_int_equal(d.errors, 1);
        assert_null(s.m);
    }
}

static void test_refused(void **state)
{
    static const struct refused t[] = {
        {"\"maxFPGAs\": 1024, \"maxCPUs\": 0, \"maxSizePerFPGA\": 0", "", "", ""},
        {"\"maxFPGAs\": 1000, \"maxCPUs\": 24, \"maxSizePerFPGA\": 3.9e18", "", "", ""},
        {"\"maxFPGAs\": 1000, \"maxCPUs\": 25, \"maxSizePerFPGA\": 1", "", "",
         "maxFPGAs + maxCPUs: expected 1 to 1024 devices"},
        {"\"maxFPGAs\": 0, \"maxCPUs\": 0, \"maxSizePerFPGA\": 1", "", "",
         "maxFPGAs + maxCPUs: expected 1 to 1024 devices"},
        {"\"maxFPGAs\": 1025, \"maxCPUs\": 0, \"maxSizePerFPGA\": 1", "", "",
         "maxFPGAs: expected an integer from 0 to 1024"},
        {"\"maxFPGAs\": 1, \"maxCPUs\": -1, \"maxSizePerFPGA\": 1", "", "",
         "maxCPUs: expected an integer from 0 to 1024"},
        {"\"maxFPGAs\": 1, \"maxCPUs\": 1.0, \"maxSizePerFPGA\": 1", "", "",
         "maxCPUs: expected an integer from 0 to 1024"},
        {"\"maxFPGAs\": 1, \"maxCPUs\": 1, \"maxSizePerFPGA\": -1", "", "",
         "maxSizePerFPGA: expected a number from 0 to 4e+18"},
        {"\"maxFPGAs\": 1, \"maxCPUs\": 1, \"maxSizePerFPGA\": 4e18", "", "",
         "maxSizePerFPGA: expected a number from 0 to 4e+18"},
        {"\"maxFPGAs\": 1, \"maxCPUs\": 1", "", "",
         "not a workload: expected 'maxFPGAs', 'maxSizePerFPGA', 'maxCPUs'"},
        {"\"maxFPGAs\": 1, \"maxSizePerFPGA\": 1", "", "",
         "not a workload: expected 'maxFPGAs', 'maxSizePerFPGA', 'maxCPUs'"},
        {"\"maxCPUs\": 1, \"maxSizePerFPGA\": 1", "", "",
         "not a workload: expected 'maxFPGAs', 'maxSizePerFPGA', 'maxCPUs'"},
        {DEVICES, "7", "", "nodes[0]: expected an object"},
        {DEVICES, NODE("1", "") ",{}", "",
         "nodes[1].id: expected an integer from -9007199254740992 to 9007199254740992"},
        {DEVICES, NODE("9007199254740992", "") "," NODE("-9007199254740992", ""), "", ""},
        {DEVICES, NODE("9007199254740993", ""), "",
         "nodes[0].id: expected an integer from -9007199254740992 to 9007199254740992"},
        {DEVICES, NODE("-9007199254740993", ""), "",
         "nodes[0].id: expected an integer from -9007199254740992 to 9007199254740992"},
        {DEVICES, NODE("1", "") "," NODE("1", ""), "",
         "nodes 'node1' and 'node1' have the same id 1"},
        {DEVICES, "{\"id\": 1, \"name\": \"\"}", "",
         "node 'node1', cpuLatency: expected a number from 0 to 4e+09"},
        {DEVICES, "{\"id\": 1, \"name\": \"n\", \"cpuLatency\": 1}", "",
         "node 'n', fpgaLatency: expected a number from 0 to 4e+09"},
        {DEVICES, "{\"id\": 1, \"supportedOnFpga\": 0, \"cpuLatency\": 1}", "", ""},
        {DEVICES, "{\"id\": 1, \"supportedOnFpga\": 2, \"cpuLatency\": 1}", "",
         "node 'node1', supportedOnFpga: expected true or false"},
        {DEVICES, NODE("1", ", \"isBackwardNode\": \"no\""), "",
         "node 'node1', isBackwardNode: expected true or false"},
        {DEVICES, NODE("1", ", \"isBackwardNode\": null, \"colorClass\": null"), "", ""},
        {DEVICES, NODE("1", ", \"size\": -1"), "",
         "node 'node1', size: expected a number from 0 to 4e+18"},
        {DEVICES, NODE("1", ", \"weightSize\": true"), "",
         "node 'node1', weightSize: expected a number from 0 to 4e+18"},
        {DEVICES, NODE("1", ", \"colorClass\": 9007199254740992"), "", ""},
        {DEVICES, NODE("1", ", \"colorClass\": 9007199254740993"), "",
         "node 'node1', colorClass: expected an integer from 0 to 9007199254740992"},
        {DEVICES, NODE("1", ", \"layerId\": -1"), "",
         "node 'node1', layerId: expected an integer from 0 to 9007199254740992"},
        {DEVICES, NODE("1", "") "," NODE("2", ""), EDGE("1", "2", "3.999e9"), ""},
        {DEVICES, NODE("1", "") "," NODE("2", ""), EDGE("1", "2", "4e9"),
         "edges[0].cost: expected a number from 0 to 4e+09"},
        {DEVICES, NODE("1", "") "," NODE("2", ""), EDGE("1", "2", "0") ",{\"sourceId\": 1}",
         "edges[1].destId: expected an integer"},
        {DEVICES, NODE("1", "") "," NODE("2", ""), "7", "edges[0].sourceId: expected an integer"},
        {DEVICES, NODE("1", "") "," NODE("2", ""), EDGE("1", "3", "0"),
         "edges[0].destId: there is no node of id 3"},
        {DEVICES, NODE("1", "") "," NODE("2", ""), EDGE("0", "2", "0"),
         "edges[0].sourceId: there is no node of id 0"},
        {DEVICES, NODE("1", "") "," NODE("2", ", \"isBackwardNode\": 1"), EDGE("2", "1", "0"),
         "an edge leads from backward node 'node2' to forward node 'node1'"},
        {DEVICES, NODE("1", "") "," NODE("2", "") "," NODE("3", ""),
         EDGE("1", "2", "0") "," EDGE("2", "3", "0") "," EDGE("3", "2", "0"),
         "node 'node2' is on a cycle"},
        {DEVICES, NODE("1", ""), EDGE("1", "1", "0"), "node 'node1' is on a cycle"},
    };
    char text[2000], error[KEPT], want[KEPT];
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        snprintf(text, sizeof text, "{%s, \"nodes\": [%s], \"edges\": [%s]}", t[i].devices,
                 t[i].nodes, t[i].edges);
        snprintf(want, sizeof want, "%s%s", *t[i].want ? "w.json: " : "", t[i].want);
        said_of(text, error);
        if (strcmp(error, want) != 0) {
            print_error("%s:\ngot:  %s\nwant: %s\n", text, error, want);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void test_no_workload(void **state)
{
    static const char *const t[][2] = {
        {"", "w.json: the file is empty"},
        {"[]", "w.json: not a workload: expected an object"},
        {"{" DEVICES "}", "w.json: not a workload: it has no list 'nodes'"},
        {"{" DEVICES ", \"nodes\": {}}", "w.json: not a workload: it has no list 'nodes'"},
        {"{" DEVICES ", \"nodes\": []}", "w.json: not a workload: it has no list 'edges'"},
        {"{\n  ]", "w.json:2:3: not JSON: string or '}' expected near ']'"},
        {"{\"a\": 1,\n\"a\": 2}", "w.json:2:3: not JSON: duplicate object key near '\"a\"'"},
    };
    char error[KEPT];
    struct scene s;
    struct diag d = {.emit = keep_error, .user = error};
    struct named_text large = {"w.json", "", (size_t)INT32_MAX + 1, NULL};

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        said_of(t[i][0], error);
        assert_string_equal(error, t[i][1]);
    }
    assert_int_equal(workload_parse(&s, &large, &plain, NULL, &d), -1);
    assert_string_equal(error, "w.json: a workload of more than 2 GiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes), cmocka_unit_test(test_results),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_no_workload)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
