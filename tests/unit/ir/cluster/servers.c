/* Devices in servers: which ones each policy gives, by the vectors of the published planner, and what moving takes. */
#include "ir/cluster/servers.h"

#include "ir/base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The devices of a set, each as its number; a server's are given out from its first free one on. */
static char *devices(const struct servers *s, const char *occupied, enum assign_policy policy,
                     uint32_t need, char *text)
{
    struct device_set used = {{0}}, got;
    uint32_t d = 0;
    for (uint32_t v = 0; v < s->n; v++)
        for (uint32_t i = 0; i < s->size[v]; i++)
            used.of[v] = (uint16_t)(used.of[v] + (occupied[d++] == '1'));
    if (!servers_assign(s, &used, policy, need, &got))
        return memcpy(text, "none", 5);
    char *t = text;
    d = 0;
    for (uint32_t v = 0; v < s->n; v++)
        for (uint32_t i = 0; i < s->size[v]; i++, d++)
            if (occupied[d] == '0' && got.of[v]) {
                *t++ = (char)('a' + d);
                got.of[v]--;
            }
    *t = 0;
    return text;
}

static void test_policies(void **state)
{
    static const struct {
        uint32_t servers, size;
        const char *occupied;
        uint32_t need;
        const char *want[ASSIGN_POLICIES];
    } row[] = {
        {2, 4, "00000000", 4, {"abcd", "none", "abef"}},
        {2, 4, "00000000", 6, {"abcdef", "none", "abcefg"}},
        {2, 4, "10000000", 3, {"efg", "bcd", "bce"}},
        {2, 4, "10000000", 4, {"efgh", "none", "bcef"}},
        {2, 4, "10000000", 6, {"none", "none", "bcdefg"}},
        {3, 4, "110010000000", 6, {"none", "none", "cdfgij"}},
        {3, 8, "111100001100000000000000", 6, {"qrstuv", "efghkl", "efklqr"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct servers s = {.n = row[i].servers};
        char text[64];
        for (uint32_t v = 0; v < s.n; v++)
            s.size[v] = (uint16_t)row[i].size;
        for (uint32_t p = 0; p < ASSIGN_POLICIES; p++)
            assert_string_equal(devices(&s, row[i].occupied, p, row[i].need, text), row[i].want[p]);
    }
}

static void test_moving(void **state)
{
    const struct servers s = {
        .n = 2, .ndev = 8, .size = {4, 4}, .inner = 4000, .outer = 1000, .outer_reduce = 3000};
    const struct device_set one = {{1}}, three = {{3}}, four = {{4}}, both = {{2, 2}},
                            other = {{0, 2}};
    const int64_t second = 1000000000000;
    (void)state;
    assert_int_equal(servers_reduce(&s, &one, 6000), 0);
    assert_int_equal(servers_reduce(&s, &three, 6000), 2 * second); /* 8000 bytes, one link */
    assert_int_equal(servers_reduce(&s, &four, 16000), 3 * second); /* 24000 bytes, two links */
    assert_int_equal(servers_reduce(&s, &both, 6000), 3 * second);
    assert_int_equal(servers_move(&s, &one, &three, 8000), 2 * second);
    assert_int_equal(servers_move(&s, &one, &other, 8000), 8 * second);
    assert_int_equal(servers_move(&s, &both, &other, 8000), 4 * second); /* half of it */
    assert_int_equal(servers_move(&s, &one, &both, 9000), 3 * second);
    struct servers own = s; /* what a server reduces by where that is given */
    own.inner_reduce = 2000;
    assert_int_equal(servers_reduce(&own, &three, 6000), 4 * second);
    assert_int_equal(servers_reduce(&own, &both, 6000), 3 * second);
    /* sums that need more than 64 bits */
    assert_true(servers_move(&s, &one, &three, INT64_C(1) << 58) == INT64_MAX);
}

/* Servers of 2, 3 of them joined, 2 of these; latencies in ps. */
static void test_levels(void **state)
{
    const struct servers s = {.n = 6,
                              .ndev = 12,
                              .size = {2, 2, 2, 2, 2, 2},
                              .inner = 4000,
                              .outer = 1000,
                              .outer_reduce = 2000,
                              .inner_latency = 1,
                              .outer_latency = 20,
                              .unit = 3,
                              .nabove = 1,
                              .above = {{6, 500, 250, 300}}};
    const struct device_set inner = {{2}}, near = {{1, 0, 1}}, far = {{0, 0, 1, 1}}, first = {{1}},
                            third = {{0, 0, 2}}, fourth = {{0, 0, 0, 2}};
    const int64_t second = 1000000000000;
    (void)state;
    assert_int_equal(servers_reduce(&s, &inner, 4000), second + 2);
    assert_int_equal(servers_reduce(&s, &near, 4000), 2 * second + 40);
    assert_int_equal(servers_reduce(&s, &far, 4000), 16 * second + 600);
    assert_int_equal(servers_move(&s, &first, &inner, 4000), second + 1);
    assert_int_equal(servers_move(&s, &first, &third, 4000), 4 * second + 20);
    assert_int_equal(servers_move(&s, &first, &fourth, 4000), 8 * second + 300);
    assert_int_equal(servers_move(&s, &first, &near, 4000), 2 * second + 20);
    assert_int_equal(servers_move(&s, &fourth, &near, 4000), 16 * second + 300);
    assert_int_equal(servers_move(&s, &first, &fourth, 0), 0);
    assert_int_equal(servers_reduce(&s, &far, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_moving),
        cmocka_unit_test(test_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
