/* Clusters: presets against the figures of the design, shorthand, JSON, what is refused. */
#include "ir/cluster/presets.h"
#include "ir/ir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Values on their way: by bytes, of few elements, with a time from a profile. */
static const struct moved_value kb = {1000, -1, false}, at_host = {1000, -1, true},
                                timed = {1000, 10001, false};

static void keep(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    (void)level;
    snprintf(user, 1000, "%s", line);
}

static int parse_in(struct arena *a, struct cluster *c, const char *text, char *said)
{
    struct diag d = {.emit = keep, .user = said};

    said[0] = '\0';
    int r = cluster_parse(c, a, text, &d);
    assert_true((r == 0) == (d.errors == 0) && d.errors <= 1);
    return r;
}

/* What c points to is gone afterwards. */
static int parse(struct cluster *c, const char *text, char *said)
{
    struct arena *a = arena_new(NULL);
    int r = parse_in(a, c, text, said);

    arena_free(a);
    return r;
}

static void presets(void **state)
{
    struct cluster c;
    char said[1000];
    (void)state;

    assert_int_equal(parse(&c, "a100,npu,cpu", said), 0);
    assert_true(c.ncls == 3 && c.ndev == 3);
    const struct device_class *k = &c.cls[0];
    assert_true(!k->host && k->memory == INT64_C(85899345920));
    assert_true(cluster_peak(k, ELEM_F64) == INT64_C(9700000000000));
    assert_true(cluster_peak(k, ELEM_F32) == INT64_C(19500000000000));
    assert_true(cluster_peak(k, ELEM_F16) == INT64_C(312000000000000));
    assert_true(cluster_peak(k, ELEM_BF16) == INT64_C(312000000000000));
    assert_true(cluster_peak(k, ELEM_I8) == INT64_C(624000000000000));
    assert_true(cluster_peak(k, ELEM_U8) == INT64_C(624000000000000));
    assert_true(cluster_peak(k, ELEM_I16) == INT64_C(19500000000000));
    assert_true(cluster_peak(k, ELEM_NONE) == INT64_C(19500000000000));
    assert_true(k->bandwidth == INT64_C(2039000000000) && k->overhead == 5000000);
    assert_true(k->link_bandwidth == INT64_C(25000000000) && k->link_latency == 10000000);
    k = &c.cls[1];
    assert_true(!k->host && k->memory == INT64_C(17179869184) && k->overhead == 10000000);
    assert_true(cluster_peak(k, ELEM_I8) == INT64_C(48000000000000));
    assert_true(cluster_peak(k, ELEM_F16) == INT64_C(24000000000000));
    assert_true(cluster_peak(k, ELEM_F32) == INT64_C(3000000000000));
    assert_true(cluster_peak(k, ELEM_F64) == INT64_C(3000000000000));
    assert_true(k->bandwidth == INT64_C(136000000000));
    k = &c.cls[2];
    assert_true(k->host && k->memory == -1 && k->overhead == 1000000);
    assert_true(cluster_peak(k, ELEM_F32) == INT64_C(5000000000000));
    assert_true(cluster_peak(k, ELEM_F64) == INT64_C(2500000000000));
    assert_true(cluster_peak(k, ELEM_U8) == INT64_C(10000000000000));
    assert_true(k->bandwidth == INT64_C(204800000000));

    assert_int_equal(parse(&c, "v100,h100,h200", said), 0);
    k = &c.cls[0];
    assert_true(k->memory == INT64_C(34359738368) && k->bandwidth == INT64_C(900000000000));
    assert_true(cluster_peak(k, ELEM_F64) == INT64_C(7800000000000));
    assert_true(cluster_peak(k, ELEM_F32) == INT64_C(15700000000000));
    assert_true(cluster_peak(k, ELEM_F16) == INT64_C(125000000000000));
    assert_true(cluster_peak(k, ELEM_BF16) == INT64_C(15700000000000));
    assert_true(cluster_peak(k, ELEM_I8) == INT64_C(15700000000000));
    for (int i = 1; i < 3; i++) {
        k = &c.cls[i];
        assert_true(!k->host && k->overhead == 5000000 && k->link_latency == 10000000);
        assert_true(cluster_peak(k, ELEM_F64) == INT64_C(34000000000000));
        assert_true(cluster_peak(k, ELEM_F32) == INT64_C(67000000000000));
        assert_true(cluster_peak(k, ELEM_F16) == INT64_C(989500000000000));
        assert_true(cluster_peak(k, ELEM_BF16) == INT64_C(989500000000000));
        assert_true(cluster_peak(k, ELEM_F8E4M3FN) == INT64_C(1979000000000000));
        assert_true(cluster_peak(k, ELEM_F8E5M2) == INT64_C(1979000000000000));
        assert_true(cluster_peak(k, ELEM_U8) == INT64_C(1979000000000000));
    }
    assert_true(c.cls[1].memory == INT64_C(85899345920) &&
                c.cls[2].memory == INT64_C(151397597184));
    assert_true(c.cls[1].bandwidth == INT64_C(3350000000000));
    assert_true(c.cls[2].bandwidth == INT64_C(4800000000000));

    struct cluster same, two;
    cluster_default(&two);
    assert_int_equal(parse(&same, "2xa100", said), 0);
    assert_true(same.ndev == 2 && two.ndev == 2 && two.ncls == 1 && two.cls[0].count == 2);
    assert_memory_equal(two.cls[0].peak, same.cls[0].peak, sizeof two.cls[0].peak);
}

/* Other names, and processors by cores. */
static void preset_names(void **state)
{
    struct arena *a = arena_new(NULL);
    struct cluster c, same;
    char said[1000];
    (void)state;
    assert_int_equal(parse_in(a, &c, "2x4090:20GiB,IGPU,xeon56,EPYC48,xeon57,xeon", said), 0);
    assert_string_equal(c.cls[0].name, "rtx4090");
    assert_true(c.cls[0].count == 2 && c.cls[0].memory == INT64_C(20) << 30);
    assert_string_equal(c.cls[1].name, "iris-xe");
    assert_string_equal(c.cls[2].name, "xeon56");
    assert_string_equal(c.cls[3].name, "epyc48");
    assert_string_equal(c.cls[5].name, "xeon");
    assert_memory_equal(c.cls[2].peak, c.cls[5].peak, sizeof c.cls[2].peak);
    assert_true(c.cls[2].host && c.cls[2].peak[ELEM_F32] == INT64_C(7168000000000));
    assert_true(c.cls[3].peak[ELEM_F32] == INT64_C(3686500000000));
    /* bandwidth is that of the sockets */
    assert_true(c.cls[2].bandwidth == INT64_C(307200000000) &&
                c.cls[3].bandwidth == INT64_C(460800000000));
    assert_true(c.cls[4].bandwidth == 2 * c.cls[2].bandwidth);
    assert_int_equal(parse_in(a, &same, "rtx4090", said), 0);
    assert_memory_equal(c.cls[0].peak, same.cls[0].peak, sizeof same.cls[0].peak);
    assert_int_equal(parse_in(a, &c, "gh200,h100", said), 0);
    assert_true(c.cls[0].link_bandwidth == INT64_C(450000000000) &&
                c.cls[1].link_bandwidth == INT64_C(25000000000));
    /* no name stands for two */
    for (uint32_t i = 0; preset_also(i); i++) {
        struct device_class k, found;
        assert_true(preset_at(i, &k));
        assert_true(preset_of(k.name, strlen(k.name), a, &found) && !strcmp(found.name, k.name));
        const char *also = *preset_also(i) ? preset_also(i) : k.name;
        assert_true(preset_of(also, strlen(also), a, &found) && !strcmp(found.name, k.name));
        assert_true(k.host || k.memory > 0);
        assert_true(k.bandwidth > 0 && k.peak[ELEM_F32] > 0);
    }
    arena_free(a);
}

static void devices(void **state)
{
    static const char *const name[] = {"acc0", "acc1", "cpu0", "cpu1", "cpu2", "acc2", "cpu3"};
    static const uint32_t cls[] = {0, 0, 1, 1, 1, 2, 3};
    struct arena *a = arena_new(NULL);
    struct cluster c;
    char said[1000];
    (void)state;

    assert_int_equal(parse(&c, "2xa100:40GiB,3xcpu:64GiB,npu,1xcpu:unbounded", said), 0);
    assert_int_equal(c.ndev, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(cluster_class(&c, i), cls[i]);
        assert_string_equal(cluster_device_name(&c, a, i), name[i]);
        assert_int_equal(cluster_device(&c, name[i]), i);
    }
    assert_string_equal(cluster_devices(&c, a), "acc0 to acc2 and cpu0 to cpu3");
    assert_int_equal(cluster_device(&c, "acc3"), -1);
    assert_int_equal(cluster_device(&c, "acc01"), -1);
    assert_int_equal(cluster_device(&c, ""), -1);
    assert_true(c.cls[0].memory == INT64_C(40) << 30 && c.cls[1].memory == INT64_C(64) << 30);
    assert_true(c.cls[3].memory == -1);

    assert_true(cluster_transfer(&c, 0, false, kb) == 10000000 + 40000);
    assert_true(cluster_transfer(&c, 0, false, (struct moved_value){1, -1, true}) == 40);
    assert_true(cluster_transfer(&c, 1, false, kb) == 0);
    assert_true(cluster_transfer(&c, 0, false, (struct moved_value){INT64_MAX, -1, false}) ==
                INT64_MAX);
    struct diag d = {.emit = keep, .user = said};
    assert_int_equal(cluster_set_link(&c, "12.5GB/s,2us", &d), 0);
    assert_true(cluster_transfer(&c, 2, false, kb) == 2000000 + 80000);
    assert_true(cluster_transfer(&c, 1, false, kb) == 0);
    static const char *const bad[] = {
        "", ",", "25GB/s", "10us,25GB/s", "0B/s,1us", "1GB/s,", "1GB/s,1us,", "1GB/s,-1us", NULL};
    for (int i = 0; bad[i] != NULL; i++) {
        assert_int_equal(cluster_set_link(&c, bad[i], &d), -1);
        assert_non_null(strstr(said, "expected "));
    }
    assert_true(cluster_transfer(&c, 2, false, kb) == 2000000 + 80000);
    arena_free(a);
}

/* What a value takes from each end to each: not moved, over the link of class a, of its groups, of class b; over links
 * of two devices, of which AB leads from class a to b, BA the other way. */
enum way { NO, A, IN_A, B, AB, BA, A12, WAYS };

static void check_routes(const struct cluster *c, const uint32_t *end, const enum way (*want)[9],
                         const int64_t (*time)[3])
{
    const struct moved_value value[] = {kb, at_host, timed};
    for (uint32_t i = 0; i < 9; i++)
        for (uint32_t k = 0; k < 9; k++)
            for (uint32_t v = 0; v < 3; v++)
                if (cluster_route(c, end[i], end[k], value[v]) != time[want[i][k]][v])
                    fail_msg("value %u from %u to %u: %lld", v, end[i], end[k],
                             (long long)cluster_route(c, end[i], end[k], value[v]));
}

static int add_link(struct cluster *c, struct arena *a, const char *from, const char *to,
                    struct device_link l)
{
    const char *name[] = {from, to};
    return cluster_add_link(c, a, l, name) ? -1 : 0;
}

static void routes(void **state)
{
    /* devices 0 to 3 are of class a, in groups of two, 4 and 5 of class b, 6 and 7 CPUs */
    static const uint32_t end[9] = {0, 1, 2, 3, 4, 5, 6, 7, CLUSTER_HOST};
    static const enum way want[9][9] = {
        {NO, IN_A, A, A, A, A, A, A, A}, {IN_A, NO, A, A, A, A, A, A, A},
        {A, A, NO, IN_A, A, A, A, A, A}, {A, A, IN_A, NO, A, A, A, A, A},
        {B, B, B, B, NO, B, B, B, B},    {B, B, B, B, B, NO, B, B, B},
        {A, A, A, A, B, B, NO, NO, NO},  {A, A, A, A, B, B, NO, NO, NO},
        {A, A, A, A, B, B, NO, NO, NO}};
    static const int64_t time[WAYS][3] = {
        [A] = {3000000, 1000000, 10001}, [IN_A] = {1250000, 250000, 2501},
        [B] = {3500000, 500000, 10001},  [AB] = {1125000, 125000, 1251},
        [BA] = {1125000, 125000, 2501},  [A12] = {12000000, 10000000, 100010}};
    char said[1000];
    struct arena *a = arena_new(NULL);
    struct cluster c;
    struct diag d = {.emit = keep, .user = said};
    (void)state;
    assert_int_equal(parse_in(a, &c, "4xa100,2xa100,2xcpu", said), 0);
    assert_int_equal(cluster_set_groups(&c, "2:4GB/s,1us", &d), 0);
    assert_int_equal(cluster_set_link(&c, "1GB/s,2us", &d), 0);
    c.cls[1].group = 0;
    c.cls[1].link_bandwidth = INT64_C(2000000000);
    c.cls[1].link_latency = 3000000;
    check_routes(&c, end, want, time);
    /* acc0 and acc4: 8GB/s, 1us both ways; acc0 to acc1, of one group: a slower one, one way; acc1 to acc2 and back */
    assert_int_equal(add_link(&c, a, "acc0", "acc4",
                              (struct device_link){.bandwidth = 8000000000, .latency = 1000000}),
                     0);
    assert_int_equal(
        add_link(&c, a, "acc0", "acc1",
                 (struct device_link){.bandwidth = 100000000, .latency = 2000000, .oneway = true}),
        0);
    assert_int_equal(
        add_link(&c, a, "acc1", "acc2",
                 (struct device_link){.bandwidth = 100000000, .latency = 2000000, .oneway = true}),
        0);
    assert_int_equal(
        add_link(&c, a, "acc2", "acc1",
                 (struct device_link){.bandwidth = 8000000000, .latency = 1000000, .oneway = true}),
        0);
    static const enum way linked[9][9] = {
        {NO, A12, A, A, AB, A, A, A, A},  {IN_A, NO, A12, A, A, A, A, A, A},
        {A, AB, NO, IN_A, A, A, A, A, A}, {A, A, IN_A, NO, A, A, A, A, A},
        {BA, B, B, B, NO, B, B, B, B},    {B, B, B, B, B, NO, B, B, B},
        {A, A, A, A, B, B, NO, NO, NO},   {A, A, A, A, B, B, NO, NO, NO},
        {A, A, A, A, B, B, NO, NO, NO}};
    check_routes(&c, end, linked, time);
    for (uint32_t v = 0; v < 2; v++) /* a class whose own rate nobody said */
        c.cls[v].link_bandwidth = 0;
    assert_int_equal(cluster_route(&c, 0, 4, timed), 10001);
    arena_free(a);
}

/* --group, and what a value of 1000 bytes then costs within a group. */
/* GPUs have numbers among those of their maker; classes of the user's own count with the first maker. */
static void gpus_of_makers(void **state)
{
    const char *const class[] = {"gaudi2", "mine", "mi250", "npu",  NULL,
                                 "A100",   "4090", "mi300", "mine", "m1-max"};
    const int32_t want[] = {0, 0, 1, -1, -1, 0, 1, 2, 3, 1};
    int32_t number[10];
    (void)state;
    gpus_number(class, 10, number);
    assert_memory_equal(number, want, sizeof want);
    gpus_number(class + 1, 1, number); /* no maker is known */
    assert_int_equal(number[0], 0);
    assert_true(preset_is_other_gpu("mi300", NVIDIA) && preset_is_other_gpu("m1", NVIDIA));
    assert_false(preset_is_other_gpu("a100", NVIDIA) || preset_is_other_gpu("mine", NVIDIA));
    assert_false(preset_is_other_gpu("npu", NVIDIA));
}

static void groups(void **state)
{
    static const char *const bad[] = {
        "",           "4",   "4:",        ":0.5",      "0:0.5",  "4:1.5", "-2:1",
        "4:25GB/s",   "4:0", "4:25GB/s,", "2:0.5,1us", "1025:1", "x:1",   "99999999999999999999:1",
        "4:0B/s,1us", NULL};
    char said[1000];
    struct cluster c;
    struct diag d = {.emit = keep, .user = said};
    (void)state;
    assert_int_equal(parse(&c, "4xa100,2xcpu", said), 0);
    assert_int_equal(cluster_set_link(&c, "1GB/s,2us", &d), 0);
    for (int i = 0; bad[i] != NULL; i++) {
        assert_int_equal(cluster_set_groups(&c, bad[i], &d), -1);
        assert_non_null(strstr(said, "expected a number of devices"));
    }
    assert_int_equal(cluster_set_groups(&c, "3:0.5", &d), -1);
    assert_non_null(strstr(said, "class a100 has 4 devices, expected a multiple of 3"));
    assert_false(cluster_grouped(&c));
    assert_int_equal(cluster_transfer(&c, 0, true, kb), 3000000);
    assert_int_equal(cluster_set_groups(&c, "2:4GB/s,1us", &d), 0);
    assert_true(cluster_grouped(&c) && cluster_group(&c, 3) == 2 && cluster_group(&c, 5) == 5);
    assert_int_equal(cluster_transfer(&c, 0, true, kb), 1250000);
    assert_int_equal(cluster_transfer(&c, 0, true, at_host), 250000);
    assert_int_equal(cluster_transfer(&c, 0, true, timed), 2501); /* by the rates */
    assert_int_equal(cluster_transfer(&c, 1, true, kb), 0);
    c.cls[0].inner_share = 100000;
    assert_int_equal(cluster_transfer(&c, 0, true, kb), 1250000);
    assert_int_equal(cluster_transfer(&c, 0, true, timed), 1001);
    assert_int_equal(cluster_set_groups(&c, "4:0.25", &d), 0);
    assert_int_equal(cluster_transfer(&c, 0, true, kb), 750000);
    assert_int_equal(cluster_set_groups(&c, "4:4GB/s,9us", &d), 0); /* the outer link is better */
    assert_int_equal(cluster_transfer(&c, 0, true, kb), 3000000);
    assert_int_equal(cluster_set_groups(&c, "1:0.25", &d), 0);
    assert_false(cluster_grouped(&c));
}

/* --reserve: of what there was before, by share or size; printed rates and sizes are the stated ones. */
static void reserves(void **state)
{
    static const char *const bad[] = {"",    "x",    "-1",        "10GiB%", "110%",
                                      "1.5", "10 %", "2GiB,1GiB", NULL},
                             *const all[] = {"100%", "1", "4GiB", "1TiB", NULL};
    const int64_t gib = INT64_C(1) << 30;
    char said[1000];
    struct cluster c;
    struct diag d = {.emit = keep, .user = said};
    (void)state;
    assert_int_equal(parse(&c, "2xa100:40GiB,1xcpu:64GiB,1xv100:unbounded,1xnpu:4GiB", said), 0);
    for (int i = 0; bad[i] != NULL; i++) {
        assert_int_equal(cluster_set_reserve(&c, bad[i], &d), -1);
        assert_non_null(strstr(said, "expected a share such as 10% or a size such as 2GiB"));
    }
    for (int i = 0; all[i] != NULL; i++) {
        assert_int_equal(cluster_set_reserve(&c, all[i], &d), -1);
        assert_non_null(strstr(said, "leaves nothing of the"));
    }
    assert_int_equal(parse(&c, "2xa100:40GiB,1xcpu:64GiB,1xv100:unbounded,1xnpu:4GiB", said), 0);
    assert_int_equal(cluster_set_reserve(&c, "2GiB", &d), 0);
    assert_true(c.cls[0].memory == 38 * gib && c.cls[0].reserve == 2 * gib);
    assert_true(c.cls[1].memory == 64 * gib && c.cls[1].reserve == 0);
    assert_true(c.cls[2].memory == -1 && c.cls[2].reserve == 0);
    assert_true(c.cls[3].memory == 2 * gib && c.cls[3].reserve == 2 * gib);
    assert_int_equal(cluster_set_reserve(&c, "12345", &d), 0);
    assert_true(c.cls[0].memory == 40 * gib - 12345 && c.cls[3].reserve == 12345);
    assert_int_equal(cluster_set_reserve(&c, "0.25", &d), 0); /* of all, not of what is left */
    assert_true(c.cls[0].memory == 30 * gib && c.cls[3].reserve == gib);
    assert_int_equal(cluster_set_reserve(&c, "0%", &d), 0);
    assert_true(c.cls[0].memory == 40 * gib && c.cls[0].reserve == 0);
    assert_int_equal(cluster_set_reserve(&c, "0", &d), 0);
}

#define CLASS_EXPECTED                                                                             \
    ", expected COUNTxCLASS[:MEMORY] such as 2xa100, with a class of --list-devices, or a file "   \
    "that ends in .json"

static void shorthand_refused(void **state)
{
    static const char *const bad[][2] = {
        {"", "cluster '': unknown class ''" CLASS_EXPECTED},
        {"2xh300",
         "cluster '2xh300': unknown class 'h300'; did you mean '2xh100'? (see --list-devices)"},
        {"2a100",
         "cluster '2a100': unknown class '2a100'; did you mean '2xa100'? (see --list-devices)"},
        {"a100x2",
         "cluster 'a100x2': unknown class 'a100x2'; did you mean '2xa100'? (see --list-devices)"},
        {"a100x9999", "cluster 'a100x9999': unknown class 'a100x9999'" CLASS_EXPECTED},
        {"2", "cluster '2': unknown class '2'" CLASS_EXPECTED},
        {"4gpu", "cluster '4gpu': unknown class '4gpu'" CLASS_EXPECTED},
        {"2x4091",
         "cluster '2x4091': unknown class '4091'; did you mean '2x4090'? (see --list-devices)"},
        {"arc",
         "cluster 'arc': unknown class 'arc'; did you mean 'arc-a770'? (see --list-devices)"},
        {"2xeon64",
         "cluster '2xeon64': unknown class 'eon64'; did you mean '2xxeon'? (see --list-devices)"},
        {"xeon0",
         "cluster 'xeon0': unknown class 'xeon0'; did you mean 'xeon'? (see --list-devices)"},
        {"xeon1025",
         "cluster 'xeon1025': unknown class 'xeon1025'; did you mean 'xeon'? (see --list-devices)"},
        {"epyc96x2", "cluster 'epyc96x2': unknown class 'epyc96x2'" CLASS_EXPECTED},
        {"2xa100:80",
         "cluster '2xa100:80': memory '80', expected a size with a unit, such as 80GiB"},
        {"a100:1.0",
         "cluster 'a100:1.0': memory '1.0', expected a size with a unit, such as 80GiB"},
        {"2x", "cluster '2x': unknown class ''" CLASS_EXPECTED},
        {"x", "cluster 'x': unknown class 'x'" CLASS_EXPECTED},
        {"0xa100", "cluster '0xa100': '0' devices of a class, expected 1 to 1024"},
        {"1025xa100", "cluster '1025xa100': '1025' devices of a class, expected 1 to 1024"},
        {"99999999999999999999999xa100",
         "cluster '99999999999999999999999xa100': '99999999999999999999999' devices of a class, expected 1 to 1024"},
        {"1000xa100,25xcpu", "cluster '1000xa100,25xcpu': 1025 devices in all, expected 1 to 1024"},
        {"-1xa100", "cluster '-1xa100': unknown class '-1xa100'" CLASS_EXPECTED},
        {"a100:", "cluster 'a100:': memory '', expected a size above 0 such as 40GiB"},
        {"a100:0", "cluster 'a100:0': memory '0', expected a size above 0 such as 40GiB"},
        {"a100:-1", "cluster 'a100:-1': memory '-1', expected a size above 0 such as 40GiB"},
        {"a100:1e9", "cluster 'a100:1e9': memory '1e9', expected a size above 0 such as 40GiB"},
        {"a100,", "cluster 'a100,': unknown class ''" CLASS_EXPECTED},
        {"a100,,cpu", "cluster 'a100,,cpu': unknown class ''" CLASS_EXPECTED},
        {"a100,a100,a100,a100,a100,a100,a100,a100,a100",
         "cluster 'a100,a100,a100,a100,a100,a100,a100,a100,a100': more than 8 classes of devices"},
        {"not-there.json", "not-there.json: cannot open: No such file or directory"},
        {"1024xa100", ""},
        {"1000xa100,24xcpu", ""},
        {"1xa100:1B", ""},
        {"a100:unbounded", ""},
        {"a100,a100,a100,a100,a100,a100,a100,a100", ""},
    };
    struct cluster c;
    char said[1000];
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (parse(&c, bad[i][0], said) != (*bad[i][1] ? -1 : 0) || strcmp(said, bad[i][1]) != 0)
            fail_msg("'%s': '%s', not '%s'", bad[i][0], said, bad[i][1]);
    }
}

/* Parses the text as a file. */
static int parse_json_in(struct arena *a, struct cluster *c, const char *json, char *said)
{
    char path[] = "/tmp/unit_cluster_XXXXXX.json";
    int fd = mkstemps(path, 5);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, json, strlen(json)), strlen(json));
    close(fd);
    int r = parse_in(a, c, path, said);
    unlink(path);
    assert_true(r == 0 || strncmp(said, path, strlen(path)) == 0);
    return r;
}

/* Whether it is refused in these words, which come after the name of the file; "": taken. */
static void check_json(const char *json, const char *want)
{
    struct arena *a = arena_new(NULL);
    struct cluster c;
    char said[1000];
    int r = parse_json_in(a, &c, json, said);
    const char *words = strstr(said, ".json:");

    words = words ? words + strlen(".json:") + (words[strlen(".json:")] == ' ') : "";
    if (r != (*want ? -1 : 0) || strcmp(words, want) != 0)
        fail_msg("'%s': '%s', not '%s'", json, words, want);
    arena_free(a);
}

/* What c points to is gone afterwards. */
static int parse_json(struct cluster *c, const char *json, char *said)
{
    struct arena *a = arena_new(NULL);
    int r = parse_json_in(a, c, json, said);

    arena_free(a);
    return r;
}

#define OWN "\"bandwidth\":\"1GB/s\",\"peak\":{\"f32\":\"1T\"}"

static void kernels_refused(void **state)
{
    static const char *const bad[][2] = {
        {"{\"classes\":[{"
         "\"preset\":\"a100\","
         "\"kernels\":1}]}",
         "classes[0]: \"kernels\": expected an object such as {\"units\": 108, \"product\": \"0.92\"}"},
        {"{\"classes\":[{"
         "\"preset\":\"a100\","
         "\"kernels\":{\"unit\":1}}]}",
         "classes[0]: \"kernels\": unknown key \"unit\", expected units, tile, prologue, product, "
         "batched, convolution, stream, row, burst or warm"},
        {"{\"classes\":[{"
         "\"preset\":\"a100\","
         "\"kernels\":{\"stream\":\"0.5\"}}]}",
         "classes[0]: \"kernels\": \"stream\" needs \"units\", the number of multiprocessors"},
        {"{\"classes\":[{"
         "\"preset\":\"a100\","
         "\"kernels\":{\"units\":8,\"stream\":\"1.5\"}}]}",
         "classes[0]: \"kernels\": \"stream\" is \"1.5\", expected an integer or a text such as \"0.86\", "
         "above 0"},
        {"{\"classes\":[{"
         "\"preset\":\"a100\","
         "\"kernels\":{\"units\":8,\"tile\":96}}]}",
         "classes[0]: \"kernels\": \"tile\" is the edge of a square, 64 or 128"},
        {"{\"classes\":[{"
         "\"preset\":\"a100\","
         "\"kernels\":{\"units\":8,\"tile\":256}}]}",
         "classes[0]: \"kernels\": \"tile\" is 256, expected 64 to 128, such as 128"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_json(bad[i][0], bad[i][1]);
}

/* What kernels reach: of a preset; of a file that says some of it; nothing where a file has peaks of its own. */
static void kernels_accepted(void **state)
{
    struct cluster c;
    char said[1000];
    (void)state;
    assert_int_equal(parse_json(&c,
                                "{\"classes\":[{\"preset\":\"l4\"},"
                                "{\"preset\":\"l4\",\"name\":\"a\",\"bandwidth\":\"1GB/s\"},"
                                "{\"preset\":\"l4\",\"name\":\"b\",\"kernels\":{}},"
                                "{\"name\":\"c\"," OWN
                                ",\"kernels\":{\"units\":7,\"stream\":\"50%\","
                                "\"burst\":\"2ms\",\"warm\":\"0.5\"}}]}",
                                said),
                     0);
    assert_true(c.cls[0].kernel[KERNEL_UNITS] == 58 && c.cls[0].kernel[KERNEL_PRODUCT] < 1000000);
    for (int k = 0; k < KERNEL_FACTS; k++)
        assert_true(c.cls[1].kernel[k] == 0 && c.cls[2].kernel[k] == 0);
    const int64_t want[KERNEL_FACTS] = {7,       128,    0,          1000000,    1000000,
                                        1000000, 500000, 1000000000, 2000000000, 500000};
    assert_memory_equal(c.cls[3].kernel, want, sizeof want);
}

/* A class that was measured has its own rates; another the median of its generation's measured classes, or of all; t4
 * and l4 stand for no other. */
static void kernels_estimated(void **state)
{
    struct device_class one, two, mid;
    int64_t kernel[KERNEL_FACTS];
    (void)state;
    assert_true(preset_of("a100-40g-pcie", 13, NULL, &one) &&
                preset_of("a100-80g-pcie", 13, NULL, &two) && preset_of("a10", 3, NULL, &mid));
    assert_int_equal(mid.kernel[KERNEL_UNITS], 72);
    for (int k = KERNEL_TILE; k < KERNEL_FACTS; k++)
        assert_int_equal(mid.kernel[k], (one.kernel[k] + two.kernel[k]) / 2);
    assert_true(preset_of("l4", 2, NULL, &one) && preset_of("l40", 3, NULL, &two) &&
                preset_of("b200", 4, NULL, &mid));
    assert_true(one.kernel[KERNEL_PRODUCT] < 500000 && two.kernel[KERNEL_PRODUCT] > 700000);
    assert_int_equal(two.kernel[KERNEL_PRODUCT], mid.kernel[KERNEL_PRODUCT]);
    assert_int_equal(kernel_rates("h100", HOPPER, 132, kernel), KERNELS_MEASURED);
    assert_int_equal(kernel_rates("h200", HOPPER, 132, kernel), KERNELS_ESTIMATED);
    assert_int_equal(kernel_rates("cpu", NO_GENERATION, 0, kernel), KERNELS_UNKNOWN);
    assert_int_equal(kernel[KERNEL_UNITS], 0);
}

static void json_accepted(void **state)
{
    struct cluster c;
    char said[1000];
    (void)state;

    assert_int_equal(
        parse_json(&c,
                   "{\"classes\":[{\"name\":\"big\",\"count\":2,\"memory\":\"1.5GiB\",\"peak\":"
                   "{\"f32\":\"19.5T\",\"i8\":7},\"bandwidth\":\"2039GB/s\",\"overhead\":\"5us\","
                   "\"link\":{\"bandwidth\":1000,\"latency\":\"0ps\"}},"
                   "{\"preset\":\"a100\",\"name\":\"small\",\"memory\":1024},"
                   "{\"preset\":\"cpu\",\"peak\":{\"f64\":\"1T\"}},"
                   "{\"name\":\"h\",\"host\":true,\"memory\":\"unbounded\"," OWN "}]}",
                   said),
        0);
    assert_true(c.ncls == 4 && c.ndev == 5);
    const struct device_class *k = c.cls;
    assert_true(k[0].count == 2 && k[0].memory == INT64_C(3) << 29 && !k[0].host);
    assert_true(k[0].peak[ELEM_F32] == INT64_C(19500000000000) && k[0].peak[ELEM_I8] == 7);
    assert_true(k[0].bandwidth == INT64_C(2039000000000) && k[0].overhead == 5000000);
    assert_true(k[0].link_bandwidth == 1000 && k[0].link_latency == 0);
    assert_true(k[1].memory == 1024 && k[1].link_latency == 10000000 && k[1].count == 1);
    assert_true(k[2].host && k[2].peak[ELEM_F64] == INT64_C(1000000000000));
    assert_true(k[2].peak[ELEM_F32] == INT64_C(5000000000000));
    assert_true(k[3].host && k[3].memory == -1 && k[3].overhead == 0);
    assert_true(k[0].group == 0 && !cluster_grouped(&c) && cluster_group(&c, 1) == 1);
    assert_int_equal(
        parse_json(
            &c,
            "{\"classes\":[{\"preset\":\"a100\",\"count\":3},{\"preset\":\"v100\",\"count\":6,"
            "\"group\":3,\"inner_link\":{\"bandwidth\":\"300GB/s\"},\"inner_share\":"
            "\"0.25\"},{\"preset\":\"h100\",\"count\":2,\"group\":2,\"inner_share\":1}]}",
            said),
        0);
    assert_true(c.cls[1].group == 3 && c.cls[1].inner_bandwidth == INT64_C(300000000000));
    assert_true(c.cls[1].inner_latency == 0 && c.cls[1].inner_share == 250000);
    assert_true(c.cls[2].group == 2 && c.cls[2].inner_share == 1 && cluster_grouped(&c));
    static const uint32_t first[] = {0, 1, 2, 3, 3, 3, 6, 6, 6, 9, 9};
    for (uint32_t dev = 0; dev < c.ndev; dev++)
        assert_int_equal(cluster_group(&c, dev), first[dev]);
    assert_int_equal(parse_json(&c, "{\"classes\":[{\"name\":\"n\"," OWN "}]}", said), 0);
    assert_true(c.cls[0].link_bandwidth == INT64_C(25000000000) && c.cls[0].memory == -1);
}

#define KEY_WORDS                                                                                  \
    "name, preset, host, count, memory, peak, bandwidth, overhead, kernels, link, precision, "     \
    "group, inner_link, inner_share, supported, unsupported or note"

static void json_refused(void **state)
{
#define A100 "\"preset\":\"a100\","
    static const char *const bad[][2] = {
        {"{\"classes\":[{" A100 "\"count\":1024}]}", ""},
        {"{\"classes\":[{" A100 "\"count\":1000},{" A100 "\"count\":24}]}", ""},
        {"{\"classes\":[{" A100 "\"group\":1,\"inner_share\":1000000}]}", ""},
        {"{\"classes\":[{" A100 "\"precision\":\"tf32\"}]}", ""},
        {"{\"classes\":[{" A100 "\"precision\":8}]}",
         "classes[0]: \"precision\": expected f32, tf32, f16, bf16 or i8"},
        {"{\"classes\":[{\"preset\":\"v100\",\"precision\":\"tf32\"}]}",
         "classes[0]: \"precision\": needs a \"peak\" for tf32"},
        {"{\"classes\":[{\"preset\":\"v100\",\"precision\":\"tf32\",\"peak\":{\"tf32\":\"1T\"}}]}",
         ""},
        {"{\"classes\":[{" A100 "\"overhead\":0,\"memory\":1,\"bandwidth\":1}]}", ""},
        {"{\"classes\":[{" A100 "\"group\":2,\"count\":4,\"inner_share\":1}]}", ""},
        {"{\"classes\":[{" A100 "\"count\":8}],\"levels\":1}",
         "\"levels\": expected a list of 1 to 4 levels"},
        {"{\"classes\":[{" A100 "\"count\":8}],\"levels\":[1]}",
         "levels[0]: expected an object such as {\"size\": 8, \"link\": {\"bandwidth\": \"25GB/s\"}}"},
        {"{\"classes\":[{" A100
         "\"count\":8}],\"levels\":[{\"size\":8,\"link\":{\"bandwidth\":1}}]}",
         ""},
        {"{\"classes\":[{" A100
         "\"count\":8}],\"levels\":[{\"size\":1024,\"link\":{\"bandwidth\":1}}]}",
         "\"levels\": they hold 1024 devices, and there are 8 accelerators"},
        {"{\"classes\":[{" A100
         "\"count\":8}],\"levels\":[{\"size\":1025,\"link\":{\"bandwidth\":1}}]}",
         "levels[0]: \"size\": expected 1 to 1024"},
        {"{\"classes\":[{" A100 "\"count\":8}],\"levels\":[{\"link\":{\"bandwidth\":1}}]}",
         "levels[0]: \"size\": expected 1 to 1024"},
        {"{\"classes\":[{" A100 "\"count\":8}],\"levels\":[{\"size\":8,\"link\":{}}]}",
         "levels[0]: \"link\": needs a \"bandwidth\""},
        {"{\"classes\":[{" A100 "\"count\":8}],\"levels\":[{\"size\":8,\"link\":{\"rate\":1}}]}",
         "levels[0]: \"link\": unknown key \"rate\", expected bandwidth or latency"},
        {"", "1:0: '[' or '{' expected near end of file"},
        {"{\"classes\":[{]}", "1:14: string or '}' expected near ']'"},
        {"[]", "expected an object with \"classes\""},
        {"{}", "\"classes\": expected a list of at least one class"},
        {"{\"classes\":[]}", "\"classes\": expected a list of at least one class"},
        {"{\"classes\":[7]}", "classes[0]: expected an object"},
        {"{\"classes\":[],\"clases\":1}",
         "unknown key \"clases\", expected classes, links or levels"},
        {"{\"classes\":[],\"links\":[]}", "\"classes\": expected a list of at least one class"},
        {"{\"classes\":[],\"link\":[]}", "unknown key \"link\", expected classes, links or levels"},
        {"{\"classes\":[],\"topology\":[]}",
         "unknown key \"topology\", expected classes, links or levels; links between devices are "
         "\"links\" beside \"classes\""},
        {"{\"classes\":[{" A100 "\"links\":1}]}",
         "classes[0]: unknown key \"links\", expected " KEY_WORDS
         "; links between devices are \"links\" beside \"classes\""},
        {"{\"classes\":[{" A100 "\"mem\":1}]}",
         "classes[0]: unknown key \"mem\", expected " KEY_WORDS},
        {"{\"classes\":[{" A100 "\"count\":1,\"count\":2}]}",
         "1:46: duplicate object key near '\"count\"'"},
        {"{\"classes\":[{\"preset\":\"h300\"}]}",
         "classes[0]: \"preset\": unknown class 'h300'; did you mean 'h100'? (see --list-devices)"},
        {"{\"classes\":[{\"preset\":1}]}",
         "classes[0]: \"preset\": unknown class '' (see --list-devices)"},
        {"{\"classes\":[{" A100 "\"note\":1}]}", "classes[0]: \"note\": expected a text"},
        {"{\"classes\":[{" OWN "}]}",
         "classes[0]: \"name\": expected 1 to 64 letters, digits, '_', '-', '.'"},
        {"{\"classes\":[{" A100 "\"name\":\"a b\"}]}",
         "classes[0]: \"name\": expected 1 to 64 letters, digits, '_', '-', '.'"},
        {"{\"classes\":[{" A100 "\"name\":\"\"}]}",
         "classes[0]: \"name\": expected 1 to 64 letters, digits, '_', '-', '.'"},
        {"{\"classes\":[{" A100 "\"host\":1}]}", "classes[0]: \"host\": expected true or false"},
        {"{\"classes\":[{" A100 "\"count\":0}]}",
         "classes[0]: \"count\" is 0, expected an integer or a text such as \"2\", above 0"},
        {"{\"classes\":[{" A100 "\"count\":1025}]}",
         "classes[0]: \"count\" is 1025, expected 1 to 1024"},
        {"{\"classes\":[{" A100 "\"count\":1000},{" A100 "\"count\":25}]}",
         "classes[1]: 1025 devices in all, expected 1 to 1024"},
        {"{\"classes\":[{" A100 "\"memory\":0}]}",
         "classes[0]: \"memory\" is 0, expected an integer or a text such as \"80GiB\", above 0"},
        {"{\"classes\":[{" A100 "\"memory\":-1}]}",
         "classes[0]: \"memory\" is -1, expected an integer or a text such as \"80GiB\", above 0"},
        {"{\"classes\":[{" A100 "\"memory\":1.5}]}",
         "classes[0]: \"memory\" is 1.5, expected an integer or a text such as \"80GiB\", above 0"},
        {"{\"classes\":[{" A100 "\"memory\":null}]}",
         "classes[0]: \"memory\" is null, expected an integer or a text such as \"80GiB\", above 0"},
        {"{\"classes\":[{" A100 "\"memory\":\"8 GiB\"}]}",
         "classes[0]: \"memory\" is \"8 GiB\", expected an integer or a text such as \"80GiB\", above 0"},
        {"{\"classes\":[{" A100 "\"bandwidth\":0}]}",
         "classes[0]: \"bandwidth\" is 0, expected an integer or a text such as \"2039GB/s\", above 0"},
        {"{\"classes\":[{" A100 "\"bandwidth\":\"1GB\"}]}",
         "classes[0]: \"bandwidth\" is \"1GB\", expected an integer or a text such as \"2039GB/s\", above 0"},
        {"{\"classes\":[{" A100 "\"overhead\":-1}]}",
         "classes[0]: \"overhead\" is -1, expected an integer or a text such as \"5us\", not negative"},
        {"{\"classes\":[{" A100 "\"peak\":1}]}",
         "classes[0]: \"peak\": expected an object such as {\"f32\": \"19.5T\"}"},
        {"{\"classes\":[{" A100 "\"peak\":{\"float\":1}}]}",
         "classes[0]: \"peak\": unknown element type \"float\", expected f32, f16, i8, ..."},
        {"{\"classes\":[{" A100 "\"peak\":{\"f32\":0}}]}",
         "classes[0]: \"peak\": \"f32\" is 0, expected an integer or a text such as \"19.5T\", above 0"},
        {"{\"classes\":[{" A100 "\"link\":1}]}",
         "classes[0]: \"link\": expected an object such as {\"bandwidth\": \"25GB/s\", \"latency\": \"10us\"}"},
        {"{\"classes\":[{" A100 "\"link\":{\"latenci\":1}}]}",
         "classes[0]: \"link\": unknown key \"latenci\", expected bandwidth or latency"},
        {"{\"classes\":[{" A100 "\"link\":{\"bandwidth\":0}}]}",
         "classes[0]: \"link\": \"bandwidth\" is 0, expected an integer or a text such as \"25GB/s\", above 0"},
        {"{\"classes\":[{\"preset\":\"cpu\",\"link\":{}}]}",
         "classes[0]: \"link\": a host class has no link to the host"},
        {"{\"classes\":[{\"preset\":\"cpu\",\"group\":1,\"inner_share\":\"1\"}]}",
         "classes[0]: \"group\": a host class pays for no link"},
        {"{\"classes\":[{" A100 "\"group\":0}]}",
         "classes[0]: \"group\" is 0, expected an integer or a text such as \"4\", above 0"},
        {"{\"classes\":[{" A100 "\"group\":1}]}",
         "classes[0]: \"group\" goes with \"inner_link\" or \"inner_share\": expected both, or neither"},
        {"{\"classes\":[{" A100 "\"inner_share\":\"0.5\"}]}",
         "classes[0]: \"group\" goes with \"inner_link\" or \"inner_share\": expected both, or neither"},
        {"{\"classes\":[{" A100 "\"group\":2,\"inner_share\":\"0.5\"}]}",
         "classes[0]: \"group\" is 2, expected a divisor of the 1 devices"},
        {"{\"classes\":[{" A100 "\"group\":1,\"inner_share\":\"1.5\"}]}",
         "classes[0]: \"inner_share\" is \"1.5\", expected an integer or a text such as \"0.25\", above 0"},
        {"{\"classes\":[{" A100 "\"group\":1,\"inner_share\":1000001}]}",
         "classes[0]: \"inner_share\": expected a share in 0.000001..1"},
        {"{\"classes\":[{" A100 "\"group\":1,\"inner_link\":3}]}",
         "classes[0]: \"inner_link\": expected an object such as {\"bandwidth\": \"300GB/s\", "
         "\"latency\": \"2us\"}"},
        {"{\"classes\":[{" A100 "\"group\":1,\"inner_link\":{}}]}",
         "classes[0]: \"inner_link\": needs a \"bandwidth\""},
        {"{\"classes\":[{" A100 "\"group\":1,\"inner_link\":{\"rate\":1}}]}",
         "classes[0]: \"inner_link\": unknown key \"rate\", expected bandwidth or latency"},
        {"{\"classes\":[{" A100 "\"supported\":\"Relu\"}]}",
         "classes[0]: \"supported\": expected a list of operator types such as [\"Conv\"]"},
        {"{\"classes\":[{" A100 "\"unsupported\":[1]}]}",
         "classes[0]: \"unsupported\": expected a list of operator types such as [\"Conv\"]"},
        {"{\"classes\":[{" A100 "\"unsupported\":[\"Relu\"],\"supported\":[\"Relu\"]}]}",
         "classes[0]: \"supported\" and \"unsupported\": expected one of them"},
        {"{\"classes\":[{\"name\":\"n\",\"peak\":{\"f32\":1}}]}",
         "classes[0]: needs a \"bandwidth\" or a \"preset\""},
        {"{\"classes\":[{\"name\":\"n\",\"bandwidth\":1}]}",
         "classes[0]: needs a \"peak\" for f32, which stands for types without one, or a \"preset\""},
    };
    char name[100], text[1000];
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_json(bad[i][0], bad[i][1]);
    memset(name, 'n', sizeof name);
    for (int n = 64; n <= 65; n++) {
        snprintf(text, sizeof text, "{\"classes\":[{" A100 "\"name\":\"%.*s\"}]}", n, name);
        check_json(text, n == 64 ? ""
                                 : "classes[0]: \"name\": expected 1 to 64 letters, digits, '_', "
                                   "'-', '.'");
    }
}

#define LINK(more) "{\"from\":\"acc0\",\"to\":\"acc2\"" more "}"

static void links_refused(void **state)
{
    /* acc0 to acc2, cpu0 */
    static const char *const bad[][2] = {
        {"1", "\"links\": expected a list of links between devices"},
        {"[1]",
         "links[0]: expected an object such as {\"from\": \"acc0\", \"to\": \"acc1\", \"bandwidth\": \"300GB/s\", "
         "\"latency\": \"2us\"}"},
        {"[{}]", "links[0]: \"from\": expected the name of a device such as \"acc0\""},
        {"[{\"from\":\"acc0\"}]",
         "links[0]: \"to\": expected the name of a device such as \"acc0\""},
        {"[{\"from\":0,\"to\":1}]",
         "links[0]: \"from\": expected the name of a device such as \"acc0\""},
        {"[" LINK("") "]", "links[0]: needs a \"bandwidth\""},
        {"[" LINK(",\"bandwidth\":0") "]",
         "links[0]: \"bandwidth\" is 0, expected an integer or a text such as \"300GB/s\", above 0"},
        {"[" LINK(",\"bandwidth\":\"2us\"") "]",
         "links[0]: \"bandwidth\" is \"2us\", expected an integer or a text such as \"300GB/s\", above 0"},
        {"[" LINK(",\"bandwidth\":1,\"latency\":-1") "]",
         "links[0]: \"latency\" is -1, expected an integer or a text such as \"2us\", not negative"},
        {"[" LINK(",\"bandwidth\":1,\"latency\":1.5") "]",
         "links[0]: \"latency\" is 1.5, expected an integer or a text such as \"2us\", not negative"},
        {"[" LINK(",\"bandwidth\":1,\"oneway\":1") "]",
         "links[0]: \"oneway\": expected true or false"},
        {"[" LINK(",\"rate\":1") "]",
         "links[0]: unknown key \"rate\", expected from, to, bandwidth, latency or oneway"},
        {"[{\"from\":\"acc0\",\"to\":\"acc3\",\"bandwidth\":1}]",
         "links[0]: 'acc3' is no accelerator, expected one of acc0 to acc2"},
        {"[{\"from\":\"cpu0\",\"to\":\"acc2\",\"bandwidth\":1}]",
         "links[0]: 'cpu0' is no accelerator, expected one of acc0 to acc2"},
        {"[{\"from\":\"acc1\",\"to\":\"acc1\",\"bandwidth\":1}]",
         "links[0]: a link from acc1 to itself, expected two devices"},
        {"[" LINK(",\"bandwidth\":1") "," LINK(",\"bandwidth\":1") "]",
         "links[1]: acc0 and acc2 have a link already, expected one each way at most"},
        {"[" LINK(",\"bandwidth\":1,\"oneway\":true") ",{\"from\":\"acc2\",\"to\":\"acc0\","
                                                      "\"bandwidth\":1}]",
         "links[1]: acc2 and acc0 have a link already, expected one each way at most"},
    };
    struct cluster c;
    char said[1000], text[1000];
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text,
                 "{\"classes\":[{\"preset\":\"a100\",\"count\":3},{\"preset\":\"cpu\"}],"
                 "\"links\":%s}",
                 bad[i][0]);
        check_json(text, bad[i][1]);
    }
    assert_int_equal(parse_json(&c,
                                "{\"classes\":[{" A100
                                "\"count\":1}],\"links\":[" LINK(",\"bandwidth\":1") "]}",
                                said),
                     -1);
    assert_non_null(
        strstr(said, "'acc2' is no accelerator, and a link needs two, but there is one"));
}

static void links_accepted(void **state)
{
    struct arena *a = arena_new(NULL);
    struct cluster c;
    char said[1000];
    (void)state;
    assert_int_equal(
        parse_json_in(a, &c,
                      "{\"links\":[{\"from\":\"acc0\",\"to\":\"acc2\",\"oneway\":false,"
                      "\"bandwidth\":\"300GB/s\",\"latency\":\"2us\"},{\"from\":\"acc2\","
                      "\"to\":\"acc1\",\"bandwidth\":7,\"oneway\":true}],\"classes\":["
                      "{\"preset\":\"cpu\"},{\"preset\":\"a100\",\"count\":3}]}",
                      said),
        0);
    assert_int_equal(c.nlink, 2);
    const struct device_link *l = c.link;
    assert_true(l[0].from == 1 && l[0].to == 3 && !l[0].oneway && l[0].latency == 2000000 &&
                l[0].bandwidth == INT64_C(300000000000));
    assert_true(l[1].from == 3 && l[1].to == 2 && l[1].oneway && l[1].latency == 0 &&
                l[1].bandwidth == 7);
    assert_int_equal(
        parse_json_in(a, &c, "{\"classes\":[{\"preset\":\"a100\"}],\"links\":[]}", said), 0);
    assert_true(c.nlink == 0 && c.link_of == NULL);
    arena_free(a);
}

/* Every pair both ways, one way each: as many links as there can be. */
static void links_all(void **state)
{
    struct arena *a = arena_new(NULL);
    struct cluster c;
    char said[1000];
    (void)state;
    assert_int_equal(parse_in(a, &c, "300xa100", said), 0);
    for (uint32_t i = 0; i < c.ndev; i++)
        for (uint32_t k = 0; k < c.ndev; k++) {
            struct device_link l = {.oneway = true, .latency = i, .bandwidth = PS_PER_S};
            const char *name[] = {cluster_device_name(&c, a, i), cluster_device_name(&c, a, k)};
            assert_true((cluster_add_link(&c, a, l, name) != NULL) == (i == k));
        }
    assert_int_equal(c.nlink, 300 * 299);
    for (uint32_t i = 0; i < c.ndev; i++)
        for (uint32_t k = 0; k < c.ndev; k++)
            assert_int_equal(cluster_route(&c, i, k, kb), i == k ? 0 : 1000 + i);
    arena_free(a);
}

/* Whether both clusters are equal, down to each figure. */
static void check_same(const struct cluster *x, const struct cluster *y)
{
    assert_true(x->ncls == y->ncls && x->ndev == y->ndev && x->nlink == y->nlink &&
                x->nlevel == y->nlevel);
    for (uint32_t i = 0; i < x->ncls; i++) {
        struct device_class k = x->cls[i], l = y->cls[i];
        assert_string_equal(k.name, l.name);
        assert_true((k.note != NULL) == (l.note != NULL) && (!k.note || !strcmp(k.note, l.note)));
        assert_true(k.nops == l.nops && k.ops_only == l.ops_only);
        for (uint32_t o = 0; o < k.nops; o++)
            assert_string_equal(k.ops[o], l.ops[o]);
        k.name = k.note = l.name = l.note = NULL;
        k.ops = l.ops = NULL;
        assert_memory_equal(&k, &l, sizeof k);
    }
    for (uint32_t i = 0; i < x->nlink; i++)
        assert_memory_equal(&x->link[i], &y->link[i], sizeof x->link[i]);
    assert_memory_equal(x->level, y->level, sizeof x->level);
}

/* A cluster, as a file, is the same cluster: each preset, and what files can hold. */
static void file_text(void **state)
{
    static const char *const files[] = {
        "{\"classes\":[{" A100
        "\"count\":8,\"group\":4,\"inner_link\":{\"bandwidth\":\"300GB/s\",\"latency\":\"2us\"},"
        "\"inner_share\":\"0.25\",\"unsupported\":[\"If\",\"Loop\"],\"memory\":12345678901,"
        "\"precision\":\"bf16\",\"note\":\"a \\\"b\\\" \\u00e4\"},"
        "{\"name\":\"x\",\"supported\":[\"Conv\"],\"peak\":{\"f32\":1,\"i8\":1001,\"f16\":\"7k\","
        "\"f64\":9223372036854775807},"
        "\"bandwidth\":1234567,\"overhead\":\"1ps\",\"link\":{\"bandwidth\":3,\"latency\":1}},{\"preset\":\"cpu\"}],"
        "\"links\":[{\"from\":\"acc0\",\"to\":\"acc1\",\"bandwidth\":7,\"oneway\":true},"
        "{\"from\":\"acc8\",\"to\":\"acc1\",\"bandwidth\":\"7GB/s\",\"latency\":\"3us\"}]}",
        "{\"classes\":[{\"preset\":\"v100\",\"count\":16}],"
        "\"levels\":[{\"size\":8,\"link\":{\"bandwidth\":\"25GB/s\"}},"
        "{\"size\":2,\"link\":{\"bandwidth\":\"1GB/s\",\"latency\":\"5us\"},\"allreduce\":\"3GB/s\"}]}"};
    struct arena *a = arena_new(NULL);
    struct cluster c, back;
    struct device_class k;
    char said[1000];
    (void)state;
    for (uint32_t i = 0; preset_at(i, &k); i++) {
        assert_int_equal(parse_in(a, &c, arena_fmt(a, "3x%s,xeon7", k.name), said), 0);
        assert_int_equal(parse_json_in(a, &back, cluster_file_text(&c, i % 2, a), said), 0);
        check_same(&c, &back);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(parse_json_in(a, &c, files[i / 2], said), 0);
        assert_int_equal(parse_json_in(a, &back, cluster_file_text(&c, i % 2, a), said), 0);
        check_same(&c, &back);
        assert_true((strchr(cluster_file_text(&c, true, a), '\n') == NULL));
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups),
        cmocka_unit_test(gpus_of_makers),
        cmocka_unit_test(routes),
        cmocka_unit_test(links_refused),
        cmocka_unit_test(links_all),
        cmocka_unit_test(links_accepted),
        cmocka_unit_test(reserves),
        cmocka_unit_test(presets),
        cmocka_unit_test(devices),
        cmocka_unit_test(json_refused),
        cmocka_unit_test(shorthand_refused),
        cmocka_unit_test(json_accepted),
        cmocka_unit_test(preset_names),
        cmocka_unit_test(file_text),
        cmocka_unit_test(kernels_accepted),
        cmocka_unit_test(kernels_estimated),
        cmocka_unit_test(kernels_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
