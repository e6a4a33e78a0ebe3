/* Nets over vertices that are left out: no device pays more than it did, whatever the plan, and paths and
 * branches that are left out still cost what they must. */
#include "tests/support/instances.h"
#include "tests/support/graphs.h"

#include "ir/dag/wdag_bridge.h"
#include "ir/text/text.h"
#include "passes/passes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { GRAPHS = 3000, PLANS = 20, SCALE = 64 * 5 };

/* Transfers of the vertices of c, what g is without some (itself: map NULL), on device d. */
static int64_t paid(const struct wdag *c, const uint32_t *map, uint32_t n, const uint32_t *dev,
                    uint32_t d)
{
    uint8_t member[32] = {0};
    int64_t compute, transfer, size;
    for (uint32_t v = 0; v < n; v++)
        if (dev[v] == d && (!map || map[v] != UINT32_MAX))
            member[map ? map[v] : v] = 1;
    wdag_load(c, member, 0, &compute, &transfer, &size);
    return transfer;
}

static void test_any_plan(void **state)
{
    struct instance *t = malloc(sizeof *t);
    int64_t whole = 0, bridged = 0, plain = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        uint64_t rng = seed;
        uint8_t out[MAX_N + 1] = {0};
        uint32_t dev[MAX_N + 1], share = 2 + random_below(&rng, 3);
        make_instance(t, seed);
        for (uint32_t k = 0; k < t->g.ncls; k++)
            for (uint32_t v = 0; v < t->g.n; v++)
                t->g.time[k][v] = 1;
        for (uint32_t k = 0; k < t->g.ncls; k++)
            for (uint32_t e = 0; e < t->g.nnet; e++)
                t->g.net_cost[k][e] *= SCALE;
        for (uint32_t v = 0; v < t->g.n; v++)
            out[v] = random_below(&rng, share) != 0;
        const struct wdag *x = wdag_without(wdag_bridge_nets(&t->g, out, t->a), out, 64, t->a);
        const struct wdag *y = wdag_without(&t->g, out, 64, t->a);
        for (uint32_t i = 0; i < PLANS; i++) {
            for (uint32_t v = 0; v < t->g.n; v++)
                dev[v] = random_below(&rng, 3);
            for (uint32_t d = 0; d < 3; d++) {
                int64_t most = paid(&t->g, NULL, t->g.n, dev, d);
                int64_t now = paid(x, x->map, t->g.n, dev, d);
                if (now > most)
                    fail_msg("seed %llu: device %u pays %lld without some vertices, %lld with them",
                             (unsigned long long)seed, d, (long long)now, (long long)most);
                whole += most;
                bridged += now;
                plain += paid(y, y->map, t->g.n, dev, d);
            }
        }
        arena_free(t->a);
    }
    printf("of all transfers %.1f %% stay, %.1f %% with bridges\n",
           100.0 * (double)plain / (double)whole, 100.0 * (double)bridged / (double)whole);
    assert_true(bridged > plain + plain / 100);
    free(t);
}

/* A path of which only the ends stay: they pay what the cheapest net between them costs. */
static void test_chain(void **state)
{
    struct arena *a = arena_new(NULL);
    (void)state;
    int64_t time[] = {1, 1, 1, 1}, size[] = {0, 0, 0, 0};
    struct test_edge edge[] = {{0, 1, 640}, {1, 2, 320}, {2, 3, 960}};
    struct wdag *g = graph_of_edges(a, 4, time, size, 3, edge);
    const uint8_t out[] = {0, 1, 1, 0};
    uint32_t dev[] = {0, 0, 1, 1};
    const struct wdag *x = wdag_without(wdag_bridge_nets(g, out, a), out, 64, a);
    assert_int_equal(paid(x, x->map, 4, dev, 0), 320);
    assert_int_equal(paid(x, x->map, 4, dev, 1), 320);
    arena_free(a);
}

/* Many branches between two vertices add up, to what the net that they read costs. */
static void test_branches(void **state)
{
    enum { BRANCHES = 8, N = BRANCHES + 2 };
    struct arena *a = arena_new(NULL);
    int64_t time[N], size[N] = {0};
    struct test_edge edge[2 * BRANCHES];
    uint8_t out[N] = {0};
    uint32_t dev[N] = {0};
    (void)state;
    for (uint32_t v = 0; v < N; v++)
        time[v] = 1;
    for (uint32_t i = 0; i < BRANCHES; i++) {
        edge[i] = (struct test_edge){0, i + 1, 6400};
        edge[BRANCHES + i] = (struct test_edge){i + 1, N - 1, 600};
        out[i + 1] = 1;
    }
    struct wdag *g = graph_of_edges(a, N, time, size, 2 * BRANCHES, edge);
    const struct wdag *x = wdag_without(wdag_bridge_nets(g, out, a), out, 64, a);
    dev[N - 1] = 1;
    assert_int_equal(paid(x, x->map, N, dev, 1), BRANCHES * 600);
    arena_free(a);
}

/* The same where the branches read one net: what they make comes from other parts of it each. */
static void test_one_net(void **state)
{
    static const char text[] =
        "cluster io_free\nclass acc x2\ngraph {\n"
        "  %a = profile:op() : ? !bytes=1B !xfer=6400ps !time=[1ps]\n"
        "  %b = profile:op(%a) : ? !bytes=1B !xfer=600ps !time=[1ps]\n"
        "  %c = profile:op(%a) : ? !bytes=1B !xfer=600ps !time=[1ps]\n"
        "  %d = profile:op(%a) : ? !bytes=1B !xfer=600ps !time=[1ps]\n"
        "  %e = profile:op(%a) : ? !bytes=1B !xfer=600ps !time=[1ps]\n"
        "  %z = profile:op(%b, %c, %d, %e) : ? !bytes=1B !xfer=0ps !time=[1ps]\n}\n";
    const uint8_t out[] = {0, 1, 1, 1, 1, 0};
    uint32_t dev[] = {0, 0, 0, 0, 0, 1};
    struct text_module t;
    struct diag d = {0};
    (void)state;
    assert_int_equal(
        module_parse(&t, &(struct named_text){"one net", text, strlen(text), NULL}, NULL, &d), 0);
    struct ctx x = {.use.mem = arena_new(NULL),
                    .use.scratch = arena_new(NULL),
                    .use.diag = &d,
                    .scene = t.scene};
    assert_int_equal(ctx_base(&x), 0);
    struct wdag *g = x.levels.base;
    assert_int_equal(g->n, 6);
    const struct wdag *without =
        wdag_without(wdag_bridge_nets(g, out, x.use.mem), out, 64, x.use.mem);
    assert_int_equal(paid(without, without->map, 6, dev, 1), 4 * 600);
    arena_free(x.use.mem);
    arena_free(x.use.scratch);
    arena_free(t.scene.m->mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_plan), cmocka_unit_test(test_chain),
        cmocka_unit_test(test_branches), cmocka_unit_test(test_one_net)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
