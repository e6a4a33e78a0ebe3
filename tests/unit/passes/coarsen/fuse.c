/* Optimal operation fusion against all ways to cut an order into clusters (fuse.h): least transfers, ties to the
 * shorter last cluster, ranges, memory, pins and classes; orders of every kind.  On larger graphs the tree against the
 * scan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "passes/coarsen/fuse.h"
#include "tests/support/instances.h"

enum { GRAPHS = 3000, LARGE = 600, LARGE_GRAPHS = SANITIZED ? 200 : 2000 };

/* Whether the vertices at positions y .. x - 1 may be one cluster. */
static bool may_be_one(const struct wdag *g, const uint32_t *order, const struct fuse_limits *l,
                       uint32_t y, uint32_t x)
{
    int64_t bytes = 0;
    int32_t pin = -1;
    uint32_t classes = UINT32_MAX;
    if (x - y == 1)
        return true;
    for (uint32_t i = y; i < x; i++) {
        uint32_t v = order[i], can = 0;
        bytes += g->size[v];
        for (uint32_t k = g->shared_of.at[v]; k < g->shared_of.at[v + 1]; k++)
            bytes += g->shared_size[g->shared_of.to[k]];
        for (uint32_t k = 0; k < g->ncls; k++)
            can |= g->time[k][v] != COST_NEVER ? 1U << k : 0;
        classes &= can;
        if (g->pin[v] >= 0 && pin >= 0 && g->pin[v] != pin)
            return false;
        pin = g->pin[v] >= 0 ? g->pin[v] : pin;
    }
    return (int64_t)(x - y) <= l->range && classes && (!l->mem || bytes <= l->mem);
}

/* What leaves the cluster y .. x - 1 for later positions. */
static int64_t leaves(const struct wdag *g, const uint32_t *at, const struct fuse_limits *l,
                      uint32_t y, uint32_t x)
{
    int64_t sum = 0;
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t out = 0, src = g->net_src[e];
        if (src == UINT32_MAX || at[src] < y || at[src] >= x)
            continue;
        for (uint32_t i = g->net_pin.at[e]; i < g->net_pin.at[e + 1]; i++)
            out += at[g->net_pin.to[i]] >= x;
        sum += g->net_cost[l->cls][e] * (l->per_edge ? out : out > 0);
    }
    return sum;
}

static void check(const struct wdag *g, const uint32_t *order, struct fuse_limits *l,
                  struct arena *a)
{
    uint32_t at[MAX_N], from[MAX_N + 1] = {0}, group[MAX_N], n = g->n;
    int64_t best[MAX_N + 1] = {0}, cut;
    for (uint32_t i = 0; i < n; i++)
        at[order[i]] = i;
    for (uint32_t x = 1; x <= n; x++) {
        best[x] = INT64_MAX;
        for (uint32_t y = x; y-- > 0;)
            if (may_be_one(g, order, l, y, x) && best[y] + leaves(g, at, l, y, x) < best[x]) {
                best[x] = best[y] + leaves(g, at, l, y, x);
                from[x] = y;
            }
    }
    for (l->form = FUSE_USUAL; l->form <= FUSE_TREE; l->form++) {
        uint32_t count = fuse_partition(g, order, l, a, group, &cut), want = 0;
        assert_int_equal(cut, best[n]);
        for (uint32_t x = n; x; x = from[x], want++)
            for (uint32_t y = from[x]; y < x; y++)
                assert_int_equal(group[order[y]], group[order[x - 1]]);
        assert_int_equal(count, want);
    }
}

static void against_all_cuts(void **state)
{
    (void)state;
    uint64_t rng = 51;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct instance t;
        make_instance(&t, i + 1);
        struct fuse_limits l = {.cls = random_below(&rng, t.g.ncls),
                                .range = 1 + random_below(&rng, MAX_N),
                                .mem = random_below(&rng, 2) ? 0 : 5 + random_below(&rng, 40),
                                .per_edge = random_below(&rng, 2)};
        for (enum fuse_order o = FUSE_CPD; o <= FUSE_FIFO; o++) {
            const uint32_t *order = fuse_order(&t.g, o, l.cls, t.a);
            for (uint32_t p = 0; p < t.g.n; p++) /* an order of the graph */
                for (uint32_t k = t.g.succ.at[order[p]]; k < t.g.succ.at[order[p] + 1]; k++)
                    for (uint32_t q = 0; q < p; q++)
                        assert_int_not_equal(order[q], t.g.succ.to[k]);
            check(&t.g, order, &l, t.a);
        }
        arena_free(t.a);
    }
}

/* A graph of up to LARGE vertices, with nets that reach near or far. */
static struct wdag draw_large(uint64_t *rng, struct arena *a)
{
    struct wdag g = {.mem = a, .n = 1 + random_below(rng, LARGE), .ncls = 1};
    uint32_t nets = random_below(rng, 2 * g.n), most = 1 + random_below(rng, 4);
    uint32_t reach = 1 + random_below(rng, random_below(rng, 2) ? 10 : g.n);
    uint32_t dear = 1 + random_below(rng, 9), pins = random_below(rng, 3) ? 0 : 40;
    g.time = arena_array(a, 1, sizeof *g.time);
    g.time[0] = arena_array(a, g.n, sizeof **g.time);
    g.size = arena_array(a, g.n, sizeof *g.size);
    g.pin = arena_array(a, g.n, sizeof *g.pin);
    g.net_cost = arena_array(a, 1, sizeof *g.net_cost);
    g.net_cost[0] = arena_array(a, (size_t)nets + 1, sizeof **g.net_cost);
    g.net_src = arena_array(a, (size_t)nets + 1, sizeof *g.net_src);
    g.net_pin.at = arena_array(a, (size_t)nets + 1, sizeof *g.net_pin.at);
    g.net_pin.to = arena_array(a, (size_t)nets * (most + 1) + 1, sizeof *g.net_pin.to);
    g.shared_of.at = arena_array(a, (size_t)g.n + 1, sizeof *g.shared_of.at);
    for (uint32_t v = 0; v < g.n; v++) {
        g.size[v] = random_below(rng, 10);
        g.pin[v] = pins && random_below(rng, pins) == 0 ? (int32_t)random_below(rng, 3) : -1;
    }
    for (uint32_t e = 0; e < nets; e++) {
        uint32_t at = g.net_pin.at[e], src = random_below(rng, g.n), v = src, k = 0;
        for (g.net_pin.to[at + k++] = v; k <= most && (v += 1 + random_below(rng, reach)) < g.n;)
            g.net_pin.to[at + k++] = v;
        g.net_pin.at[e + 1] = at + k;
        g.net_src[e] = random_below(rng, 20) ? src : UINT32_MAX;
        g.net_cost[0][e] = random_below(rng, dear);
    }
    g.nnet = nets;
    g.net_of = csr_transpose(a, &g.net_pin, nets, g.n);
    return g;
}

/* The tree and the scan find the same cuts. */
static void tree_is_scan(void **state)
{
    (void)state;
    uint64_t rng = 4711;
    for (uint32_t i = 0; i < LARGE_GRAPHS; i++) {
        struct arena *a = arena_new(NULL);
        struct wdag g = draw_large(&rng, a);
        uint32_t group[FUSE_TREE + 1][LARGE], count[FUSE_TREE + 1], order[LARGE];
        int64_t cut[FUSE_TREE + 1];
        struct fuse_limits l = {.range =
                                    1 + random_below(&rng, random_below(&rng, 2) ? 250 : LARGE),
                                .mem = random_below(&rng, 2) ? 0 : random_below(&rng, 3000),
                                .per_edge = random_below(&rng, 2)};
        for (uint32_t v = 0; v < g.n; v++)
            order[v] = v;
        for (l.form = FUSE_USUAL; l.form <= FUSE_TREE; l.form++)
            count[l.form] = fuse_partition(&g, order, &l, a, group[l.form], &cut[l.form]);
        for (enum fuse_form f = FUSE_SCAN; f <= FUSE_TREE; f++) {
            assert_int_equal(cut[f], cut[FUSE_USUAL]);
            assert_int_equal(count[f], count[FUSE_USUAL]);
            assert_memory_equal(group[f], group[FUSE_USUAL], g.n * sizeof **group);
        }
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_all_cuts),
                                       cmocka_unit_test(tree_is_scan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
