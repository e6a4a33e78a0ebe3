/* The words of explain.c: problems of a few vertices whose numbers are worked out by hand, each kind of bound and each
 * step of a reduction whole. */
#include "passes/bounds/explain.h"
#include "passes/bounds/crossing_bound.h"
#include "tests/support/graphs.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

enum { US = 1000000 };

struct fixture {
    struct arena *a;
    struct cluster cluster;
    struct scene scene;
    struct wdag *g;
};

static struct problem *make(struct fixture *f)
{
    struct diag d = {0};
    f->scene = (struct scene){.cluster = &f->cluster};
    struct problem *c = problem_build(f->g, &f->scene, -1, f->a, &d);
    assert_non_null(c);
    return c;
}

/* Four vertices in a row, 10, 7, 10 and 1 us, 2 us from each to the next, for three devices. */
static struct problem *row(struct fixture *f)
{
    static const int64_t time[] = {10 * US, 7 * US, 10 * US, US}, size[] = {1, 1, 1, 1};
    static const struct test_edge edge[] = {{0, 1, 2 * US}, {1, 2, 2 * US}, {2, 3, 2 * US}};
    f->cluster =
        (struct cluster){.ncls = 1, .ndev = 3, .cls[0] = {.name = "acc", .count = 3, .memory = -1}};
    f->g = graph_of_edges(f->a, 4, time, size, 3, edge);
    return make(f);
}

static void check_lower(struct problem *c, struct problem_lower by, int64_t value, const char *text)
{
    c->lower = (struct bound){.value = value, .by = by};
    assert_string_equal(explain_problem(c, NULL, c->mem), text);
}

static void bounds(void **state)
{
    struct fixture f = {.a = arena_new(NULL)};
    struct problem *c = row(&f);
    (void)state;
    /* 28 us of nodes and three transfers, each paid by two devices in some plans and by none in others */
    check_lower(c, (struct problem_lower){.by = LOWER_AVERAGE}, 9333334,
                "average load: what all nodes take is shared by all devices\n"
                "nodes, each where it counts least: 0.028 ms\n"
                "devices with loads of at most T hold at most 3 * 1 times T\n"
                "0.028 ms / (3) = 0.009333334 ms: no plan takes less\n");
    check_lower(c, (struct problem_lower){.by = LOWER_HOLES}, 10 * US,
                "longest node: vertex 0 takes 0.01 ms where it is fastest: no plan takes less\n");
    check_lower(c, (struct problem_lower){.by = LOWER_HOLES, .at = 1}, 8 * US,
                "pigeonhole: of these 4 on 3 devices, 2 are on one device\n"
                "  vertex 0 takes 0.01 ms at least\n"
                "  vertex 2 takes 0.01 ms at least\n"
                "  vertex 1 takes 0.007 ms at least\n"
                "  vertex 3 takes 0.001 ms at least\n"
                "the 2 shortest of them: 0.007 ms + 0.001 ms = 0.008 ms: no plan takes less\n");
    check_lower(
        c, (struct problem_lower){.by = LOWER_SEARCH}, 12 * US,
        "search: no contiguous plan has loads below 0.012 ms; to see it again, run the same planner with the "
        "same --max-states\n");
    check_lower(
        c, (struct problem_lower){.by = LOWER_SEARCH, .at = 2}, 12 * US,
        "search: 2 of 4 vertices, those with most freedom, were taken out with their transfers and count where "
        "there is room; no contiguous plan of the others has loads below 0.012 ms; to see it again, run "
        "dp-place with the same --max-states\n");
    check_lower(
        c, (struct problem_lower){.by = LOWER_FLAT}, 1234567891 * (int64_t)10,
        "search: no contiguous plan with inner links everywhere has loads below 12.34567891 ms; to see it "
        "again, run the same planner with the same --max-states\n");
    c->lower.proof = "as it was said\n";
    assert_string_equal(explain_problem(c, NULL, f.a), "as it was said\n");
    arena_free(f.a);
}

/* Vertex 1 alone, 7 us and 2 to send, of which the next device pays 2, too, takes least of what can be on its device;
 * of the ancestors of vertex 2 all: nothing crosses, and 27 us count 1/64. */
static void cut(void **state)
{
    struct fixture f = {.a = arena_new(NULL)};
    struct problem *c = row(&f);
    (void)state;
    check_lower(
        c, (struct problem_lower){.by = LOWER_CUT, .at = 1, .m = CUT_UNIT}, 10250000,
        "contiguous plans: what must cross the end of the device of vertex 1\n"
        "nodes and transfers that somebody pays: 0.028 ms\n"
        "what crosses that end, twice, and 64/64 of what is on that device of vertex 1's descendants: at least "
        "0.013 ms (a minimum cut)\n"
        "devices with loads of at most T hold at most 3 + 64/64 * 1 times T\n"
        "(0.028 ms + 0.013 ms) / (3 + 64/64 * 1) = 0.01025 ms: no contiguous plan takes less\n");
    check_lower(
        c, (struct problem_lower){.by = LOWER_CUT, .at = 2, .m = 1, .up = true}, 9425000,
        "contiguous plans: what must cross the end of the device of vertex 2\n"
        "nodes and transfers that somebody pays: 0.028 ms\n"
        "what crosses that end, twice, and 1/64 of what is on that device of vertex 2's ancestors: at least "
        "0.000421875 ms (a minimum cut)\n"
        "devices with loads of at most T hold at most 3 + 1/64 * 1 times T\n"
        "(0.028 ms + 0.000421875 ms) / (3 + 1/64 * 1) = 0.009425 ms: no contiguous plan takes less\n");
    arena_free(f.a);
}

/* Devices that a vertex is pinned to are kinds of their own; the others of the class are named one by one. */
static void kinds(void **state)
{
    struct fixture f = {.a = arena_new(NULL)};
    (void)state;
    for (int32_t pin = -1; pin < 3; pin++) {
        static const char *const others[] = {"acc0..acc2", "acc1,acc2", "acc0,acc2", "acc0,acc1"};
        static const char *const own[] = {"", "acc0", "acc1", "acc2"};
        row(&f);
        f.g->pin[1] = pin;
        struct problem *c = make(&f);
        struct explain e = explain_new(c, NULL, f.a);
        bool seen[2] = {false, false};
        assert_int_equal(c->nkind, pin < 0 ? 1 : 2);
        for (uint32_t k = 0; k < c->nkind; k++) {
            bool alone = c->kind[k].dev >= 0;
            assert_string_equal(explain_kind(&e, k), alone ? own[pin + 1] : others[pin + 1]);
            seen[alone] = true;
        }
        assert_true(seen[0] && seen[1] == (pin >= 0));
    }
    arena_free(f.a);
}

static void times(void **state)
{
    struct fixture f = {.a = arena_new(NULL)};
    struct explain e = explain_new(row(&f), NULL, f.a);
    (void)state;
    assert_string_equal(explain_time(&e, 0), "0 ms");
    assert_string_equal(explain_time(&e, 1), "0.000000001 ms");
    assert_string_equal(explain_time(&e, 999999999), "0.999999999 ms");
    assert_string_equal(explain_time(&e, 1000000000), "1 ms");
    assert_string_equal(explain_time(&e, INT64_C(25100000000)), "25.1 ms");
    arena_free(f.a);
}

/* Up to 24 names, then how many more. */
static void sets(void **state)
{
    struct fixture f = {.a = arena_new(NULL)};
    struct problem *c = row(&f);
    uint32_t v[26];
    (void)state;
    for (uint32_t i = 0; i < 26; i++)
        v[i] = i % 4;
    struct explain e = explain_new(c, NULL, f.a);
    assert_string_equal(explain_text(&e), "");
    explain_set(&e, v, 2);
    assert_string_equal(explain_text(&e), "{vertex 0, vertex 1}");
    explain_set(&e, v, 24);
    assert_null(strstr(explain_text(&e), "more"));
    e = explain_new(c, NULL, f.a);
    explain_set(&e, v, 25);
    assert_non_null(strstr(explain_text(&e), "vertex 3, ... and 1 more}"));
    arena_free(f.a);
}

/* Prices of two kinds, one of them not a whole number. */
static void prices(void **state)
{
    struct fixture f = {.a = arena_new(NULL)};
    (void)state;
    row(&f);
    f.g->pin[1] = 0;
    struct problem *c = make(&f);
    bool own_first = c->kind[0].dev >= 0;
    int64_t price[2] = {1 << SCALE_BITS, 1 << SCALE_BITS};
    price[own_first ? 0 : 1] = 1 << (SCALE_BITS - 1);
    struct explain e = explain_new(c, NULL, f.a);
    explain_prices(&e, price, 20 * US, 5 * US, 10 * US);
    assert_string_equal(
        explain_text(&e),
        own_first
            ? "let a ms count as 524288/1048576 on acc0, 1 on acc1,acc2 (each product rounded "
              "down to a ps)\n"
              "nodes, each where it counts least: 0.02 ms\n"
              "transfers that somebody pays in every plan: 0.005 ms\n"
              "devices with loads of at most T hold at most 1 * 524288/1048576 + 2 * 1 times T\n"
              "0.025 ms / (2621440/1048576) = 0.01 ms: no plan takes less\n"
            : "let a ms count as 1 on acc1,acc2, 524288/1048576 on acc0 (each product rounded "
              "down to a ps)\n"
              "nodes, each where it counts least: 0.02 ms\n"
              "transfers that somebody pays in every plan: 0.005 ms\n"
              "devices with loads of at most T hold at most 2 * 1 + 1 * 524288/1048576 times T\n"
              "0.025 ms / (2621440/1048576) = 0.01 ms: no plan takes less\n");
    arena_free(f.a);
}

/* Each step that a reduction can have, and no more than EXPLAIN_STEPS of them. */
static void steps(void **state)
{
    struct fixture f = {.a = arena_new(NULL)};
    (void)state;
    row(&f);
    f.g->pin[1] = 1;
    struct problem *c = make(&f);
    uint32_t set[] = {0, 1}, own = c->kind[0].dev >= 0 ? 0 : 1, rest = 1 - own;
    int64_t with[2] = {0, 0}, none[2] = {0, 0};
    with[rest] = 21 * US;
    struct reduction_step step[] = {
        {.what = REDUCTION_DENY,
         .a = 0,
         .na = 1,
         .k = own,
         .with = UINT32_MAX,
         .load = 30 * US,
         .nset = 1,
         .set = set},
        {.what = REDUCTION_DENY,
         .a = 2,
         .na = 2,
         .k = rest,
         .with = UINT32_MAX,
         .load = 24 * US,
         .nset = 1,
         .set = set,
         .time = 20 * US,
         .transfer = 4 * US},
        {.what = REDUCTION_DENY,
         .a = 2,
         .na = 3,
         .k = own,
         .with = 1,
         .load = 27 * US,
         .nset = 2,
         .set = set,
         .time = 27 * US},
        {.what = REDUCTION_SIZE, .a = 3, .na = 1, .k = own},
        {.what = REDUCTION_JOIN,
         .a = 0,
         .na = 1,
         .b = 2,
         .nb = 4,
         .ab = 1U << rest,
         .ba = 3,
         .load_ab = none,
         .load_ba = with},
        {.what = REDUCTION_JOIN, .a = 0, .na = 1, .b = 2, .nb = 1, .ba = 1U << own},
        {.what = REDUCTION_NONE, .a = 3, .na = 1},
    };
    struct reduction r = {.c = c, .below = 20 * US, .step = step, .nstep = 7};
    struct explain e = explain_new(c, NULL, f.a);
    explain_reduction(&e, &r);
    const char *both = own == 0 ? "acc1, acc0,acc2" : "acc0,acc2, acc1";
    assert_string_equal(
        explain_text(&e),
        arena_fmt(
            f.a,
            "suppose that a plan takes less than 0.02 ms; then, step by step,\n"
            "  vertex 0 not on acc1: 0.03 ms at least\n"
            "  vertex 2 and the 1 with it not on acc0,acc2: 0.024 ms at least, 0.02 ms + transfers 0.004 ms of "
            "{vertex 0}\n"
            "  vertex 2 and the 2 with it not on acc1: beside vertex 1, which is there, 0.027 ms at least, "
            "0.027 ms + transfers 0 ms of {vertex 0, vertex 1}\n"
            "  vertex 3 not on acc1: it needs more memory\n"
            "  vertex 0 with vertex 2 and the 3 with it: apart, on acc0,acc2 and on %s; vertex 2 without vertex 0 "
            "loads acc0,acc2 with 0.021 ms at least\n"
            "  vertex 0 with vertex 2: apart, on nowhere and on acc1\n"
            "  vertex 3: no device is left\n",
            both));
    r.step = arena_array(f.a, EXPLAIN_STEPS + 2, sizeof *r.step);
    for (uint32_t i = 0; i < EXPLAIN_STEPS + 2; i++)
        r.step[i] = step[3];
    for (uint32_t more = 0; more <= 2; more++) {
        e = explain_new(c, NULL, f.a);
        r.nstep = EXPLAIN_STEPS + more;
        explain_reduction(&e, &r);
        const char *end = more == 0   ? "memory\n"
                          : more == 1 ? "  and 1 more steps of this sort\n"
                                      : "  and 2 more steps of this sort\n";
        assert_string_equal(explain_text(&e) + e.n - strlen(end), end);
    }
    r.nstep = 0;
    e = explain_new(c, NULL, f.a);
    explain_reduction(&e, &r);
    assert_string_equal(explain_text(&e), "");
    arena_free(f.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds), cmocka_unit_test(cut),  cmocka_unit_test(kinds),
        cmocka_unit_test(times),  cmocka_unit_test(sets), cmocka_unit_test(prices),
        cmocka_unit_test(steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
