/* Optimal operation fusion against all ways to cut an order into clusters (fuse.h): least transfers, ties to the
 * shorter last cluster, ranges, memory, pins and classes; orders of every kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "passes/coarsen/fuse.h"
#include "tests/support/instances.h"

enum { GRAPHS = 3000 };

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

static void check(const struct wdag *g, const uint32_t *order, const struct fuse_limits *l,
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
    uint32_t count = fuse_partition(g, order, l, a, group, &cut), want = 0;
    assert_int_equal(cut, best[n]);
    for (uint32_t x = n; x; x = from[x], want++)
        for (uint32_t y = from[x]; y < x; y++)
            assert_int_equal(group[order[y]], group[order[x - 1]]);
    assert_int_equal(count, want);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_all_cuts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
