/* Levels: merging, contracting edges (Celeritas, Theorem 1), longest paths, joining cycles, counting ideals, CPD-TOPO
 * and the interval partition, each against brute force on small random graphs, and a hand-computed example of
 * Celeritas' fusion. */
#include "ir/dag/critical_order.h"
#include "passes/coarsen/fuse.h"
#include "tests/support/graphs.h"
#include "tests/support/sanitized.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 400, CONTRACTIONS = SANITIZED ? 2000 : 10000 };

static const int64_t golden_time[] = {4, 1, 4, 6, 1, 1, 6, 2, 2, 1};
static const int64_t golden_size[] = {3, 3, 3, 1, 1, 2, 2, 3, 3, 1};
static const struct test_edge golden_edge[] = {{0, 4, 3}, {1, 2, 3}, {1, 3, 1}, {1, 4, 4},
                                               {2, 3, 1}, {2, 5, 4}, {3, 7, 4}, {4, 6, 4},
                                               {5, 6, 1}, {6, 8, 3}, {7, 9, 3}, {8, 9, 2}};

/* The golden example, vertices renamed as merging numbered them; name[] leads back. */
static struct wdag *golden(struct arena *a, const uint32_t **name)
{
    struct wdag *g = graph_of_edges(a, 10, golden_time, golden_size, 12, golden_edge);
    uint32_t *back = arena_array(a, 10, sizeof *back);
    for (uint32_t v = 0; v < 10; v++)
        back[g->map[v]] = v;
    *name = back;
    return g;
}

static void test_golden_levels(void **state)
{
    static const int64_t level[] = {26, 28, 28, 25, 26, 28, 28, 25, 28, 28};
    static const uint32_t order[] = {1, 2, 5, 3, 7, 0, 4, 6, 8, 9};
    struct arena *a = arena_new(NULL);
    const uint32_t *name;
    struct wdag *g = golden(a, &name);
    const int64_t *l = cpd_levels(g, 0, a);
    const uint32_t *o = cpd_topo(g, 0, a);
    (void)state;
    for (uint32_t v = 0; v < 10; v++) {
        assert_int_equal(l[v], level[name[v]]);
        assert_int_equal(name[o[v]], order[v]);
    }
    arena_free(a);
}

static void check_clusters(int64_t range, int64_t mem, uint32_t want, int64_t cut, const char *text)
{
    struct arena *a = arena_new(NULL);
    const uint32_t *name;
    struct wdag *g = golden(a, &name);
    struct fuse_limits limits = {0, range, mem, true, FUSE_USUAL};
    uint32_t group[10];
    int64_t got;
    assert_int_equal(fuse_partition(g, cpd_topo(g, 0, a), &limits, a, group, &got), want);
    assert_int_equal(got, cut);
    for (uint32_t u = 0; u < 10; u++) /* text[u]: the cluster of node u as a letter */
        for (uint32_t v = 0; v < 10; v++)
            assert_int_equal(group[g->map[u]] == group[g->map[v]], text[u] == text[v]);
    arena_free(a);
}

static void test_golden_clusters(void **state)
{
    (void)state;
    check_clusters(3, 6, 5, 16, "DABCDBDCEE");
    check_clusters(3, 8, 4, 13, "DAACDADCEE");
    check_clusters(10, 0, 1, 0, "AAAAAAAAAA");
}

/* Least cut over all 2^(n-1) interval partitions. */
static int64_t brute_cut(const struct wdag *g, const uint32_t *order, const struct fuse_limits *l)
{
    int64_t best = INT64_MAX;
    for (uint32_t cuts = 0; cuts < 1u << (g->n - 1); cuts++) {
        uint32_t group[16], k = 0;
        int64_t cost = 0, bytes = 0;
        uint32_t members = 0;
        bool ok = true;
        for (uint32_t x = 0; x < g->n; x++) {
            if (x && (cuts >> (x - 1) & 1)) {
                k++;
                bytes = members = 0;
            }
            group[order[x]] = k;
            bytes += g->size[order[x]];
            members++;
            ok = ok && members <= l->range && (members < 2 || !l->mem || bytes <= l->mem);
        }
        for (uint32_t e = 0; ok && e < g->nnet; e++) {
            uint32_t away = 0, src = g->net_src[e];
            for (uint32_t i = g->net_pin.at[e]; i < g->net_pin.at[e + 1]; i++)
                away += group[g->net_pin.to[i]] != group[src];
            cost += g->net_cost[0][e] * (l->per_edge ? away : away > 0);
        }
        if (ok && cost < best)
            best = cost;
    }
    return best;
}

static void test_partition_is_optimal(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct arena *a = arena_new(NULL);
        struct wdag *g =
            random_graph(a, &seed, 2 + test_below(&seed, 9), 15 + test_below(&seed, 40));
        struct fuse_limits l = {0, 1 + test_below(&seed, 6), test_below(&seed, 12), round % 2,
                                FUSE_USUAL};
        const uint32_t *order = fuse_order(g, (enum fuse_order)(round % 3), 0, a);
        uint32_t group[64];
        struct diag d = {0};
        int64_t cut;
        uint32_t n = fuse_partition(g, order, &l, a, group, &cut);
        assert_int_equal(cut, brute_cut(g, order, &l));
        const struct wdag *level = wdag_merge(g, group, n, "fuse", a, &d);
        assert_non_null(level); /* acyclic: Theorem B */
        for (uint32_t u = 0; u < g->n; u++)
            for (uint32_t k = g->succ.at[u]; k < g->succ.at[u + 1]; k++) {
                assert_true(group[u] >= group[g->succ.to[k]]); /* the last cluster has number 0 */
                assert_true(level->map[u] <= level->map[g->succ.to[k]]);
            }
        arena_free(a);
    }
}

static void test_merge_keeps_totals(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct arena *a = arena_new(NULL);
        struct wdag *g = random_graph(a, &seed, 2 + test_below(&seed, 14), 25);
        uint32_t group[64], n = 1 + test_below(&seed, g->n);
        struct diag d = {0};
        for (uint32_t v = 0; v < g->n; v++)
            group[v] = v < n ? v : test_below(&seed, n);
        n = wdag_join_cycles(g, NULL, group, n);
        struct wdag *c = wdag_merge(g, group, n, "test", a, &d);
        assert_non_null(c);
        uint8_t fine[64] = {0}, coarse[64] = {0};
        for (uint32_t v = 0; v < c->n; v++)
            coarse[v] = (uint8_t)test_below(&seed, 2);
        for (uint32_t v = 0; v < g->n; v++)
            fine[v] = coarse[c->map[v]];
        int64_t f[3], k[3];
        wdag_load(g, fine, 0, &f[0], &f[1], &f[2]);
        wdag_load(c, coarse, 0, &k[0], &k[1], &k[2]);
        assert_memory_equal(f, k, sizeof f); /* a set costs the same at both levels */
        for (uint32_t v = 0; v < c->n; v++)
            for (uint32_t i = c->succ.at[v]; i < c->succ.at[v + 1]; i++)
                assert_true(c->succ.to[i] > v);
        arena_free(a);
    }
}

/* Random groups are taken apart where they must be, and nowhere else; merged levels know their apart vertices. */
static void test_apart(void **state)
{
    struct diag d = diag_silent();
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct arena *a = arena_new(NULL);
        uint64_t rng = seed;
        struct wdag *g = random_graph(a, &rng, 4 + test_below(&rng, 8), 25);
        uint32_t *group = arena_array(a, g->n, sizeof *group), *new = arena_array(a, g->n, 4);
        struct pairs p = pairs_new(a, 8);
        for (uint32_t v = 0; v < g->n; v++) /* intervals: merging them makes no cycle */
            group[v] = new[v] = v ? group[v - 1] + test_below(&rng, 2) : 0;
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t u = test_below(&rng, g->n), w = test_below(&rng, g->n);
            if (u == w)
                continue;
            pairs_add(&p, u, w);
            pairs_add(&p, w, u);
        }
        wdag_set_apart(g, &p);
        uint32_t n = wdag_keep_apart(g, new, group[g->n - 1] + 1, a);
        bool whole = true;
        for (uint32_t u = 0; u < g->n; u++)
            for (uint32_t w = 0; w < u; w++) {
                bool broken = false;
                for (uint32_t i = 0; i < p.n; i++)
                    broken |= group[p.from[i]] == group[u] && group[p.to[i]] == group[u];
                assert_int_equal(new[u] == new[w], group[u] == group[w] && !broken);
                whole = whole && !broken;
            }
        struct wdag *bad = wdag_merge(g, group, group[g->n - 1] + 1, "test", a, &d);
        assert_int_equal(bad != NULL, whole);
        struct wdag *c = wdag_merge(g, new, n, "test", a, &d);
        assert_non_null(c);
        for (uint32_t i = 0; i < p.n; i++)
            assert_true(csr_has(&c->apart, c->map[p.from[i]], c->map[p.to[i]]));
        arena_free(a);
    }
}

static void test_ideals(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct arena *a = arena_new(NULL);
        struct wdag *g =
            random_graph(a, &seed, 1 + test_below(&seed, 12), 5 + test_below(&seed, 50));
        uint64_t count = 0;
        for (uint32_t set = 0; set < 1u << g->n; set++) {
            bool down = true;
            for (uint32_t v = 0; v < g->n && down; v++)
                for (uint32_t i = g->pred.at[v]; (set >> v & 1) && i < g->pred.at[v + 1]; i++)
                    down = down && (set >> g->pred.to[i] & 1);
            count += down;
        }
        assert_int_equal(wdag_ideals(g, 1u << 20), count);
        assert_int_equal(wdag_ideals(g, count), count);
        assert_int_equal(wdag_ideals(g, count - 1), count);
        if (count > 2)
            assert_int_equal(wdag_ideals(g, 1), 2);
        arena_free(a);
    }
}

/* Whether a path leads from u to v that is not their edge: by trying the vertices between them. */
static bool has_other_path(const struct wdag *g, uint32_t u, uint32_t v)
{
    uint8_t from_u[64] = {0};
    from_u[u] = 1;
    for (uint32_t w = u + 1; w <= v; w++)
        for (uint32_t i = g->pred.at[w]; i < g->pred.at[w + 1]; i++)
            if (from_u[g->pred.to[i]] && (w != v || g->pred.to[i] != u))
                from_u[w] = 1;
    return from_u[v];
}

/* Celeritas, Theorem 1: what merging the ends of an edge leaves is acyclic exactly if no other path joins them; two
 * vertices without an edge may be merged exactly if no path does. */
static void test_contract_edge(void **state)
{
    uint64_t seed = 29;
    uint32_t cyclic = 0, edges = 0;
    (void)state;
    for (int round = 0; round < CONTRACTIONS; round++) {
        struct arena *a = arena_new(NULL);
        struct wdag *g =
            random_graph(a, &seed, 2 + test_below(&seed, 14), 10 + test_below(&seed, 70));
        uint32_t group[64], u = test_below(&seed, g->n - 1),
                            v = u + 1 + test_below(&seed, g->n - 1 - u);
        bool edge = g->succ.at[u] < g->succ.at[u + 1];
        if (edge)
            v = g->succ.to[g->succ.at[u] + test_below(&seed, g->succ.at[u + 1] - g->succ.at[u])];
        for (uint32_t w = 0; w < g->n; w++)
            group[w] = w == v ? u : w - (w > v);
        struct diag d = diag_silent();
        bool acyclic = wdag_merge(g, group, g->n - 1, "contract", a, &d) != NULL;
        assert_int_equal(acyclic, !has_other_path(g, u, v));
        cyclic += !acyclic;
        edges += edge;
        arena_free(a);
    }
    assert_true(cyclic > CONTRACTIONS / 10 && cyclic < CONTRACTIONS * 9 / 10);
    assert_true(edges > CONTRACTIONS / 2 && edges < CONTRACTIONS);
}

/* The longest path from v on, by trying all. */
static int64_t walk(const struct wdag *g, uint32_t v)
{
    int64_t most = 0;
    for (uint32_t e = 0; e < g->nnet; e++)
        for (uint32_t p = g->net_pin.at[e]; g->net_src[e] == v && p < g->net_pin.at[e + 1]; p++) {
            uint32_t s = g->net_pin.to[p];
            int64_t way = s == v ? 0 : g->net_cost[0][e] + walk(g, s);
            most = way > most ? way : most;
        }
    return g->time[0][v] + most;
}

/* The longest path up to v, without v, by trying all. */
static int64_t walk_back(const struct wdag *g, uint32_t v)
{
    int64_t most = 0;
    for (uint32_t e = 0; e < g->nnet; e++)
        for (uint32_t p = g->net_pin.at[e]; g->net_src[e] != v && p < g->net_pin.at[e + 1]; p++) {
            uint32_t u = g->net_src[e];
            int64_t way = g->time[0][u] + g->net_cost[0][e];
            if (g->net_pin.to[p] == v && way + walk_back(g, u) > most)
                most = way + walk_back(g, u);
        }
    return most;
}

static void test_longest_paths(void **state)
{
    uint64_t seed = 31;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct arena *a = arena_new(NULL);
        struct wdag *g =
            random_graph(a, &seed, 1 + test_below(&seed, 10), 10 + test_below(&seed, 40));
        struct cpd_paths p = cpd_paths(g, 0, a);
        uint32_t n, *path = cpd_critical(g, 0, &p, a, &n);
        uint32_t follows = 0;
        int64_t longest = 0, along = 0;
        for (uint32_t v = 0; v < g->n; v++) {
            assert_int_equal(p.blevel[v], walk(g, v));
            longest = p.blevel[v] > longest ? p.blevel[v] : longest;
            assert_true(p.tlevel[v] + p.blevel[v] <= p.longest);
            assert_int_equal(p.tlevel[v], walk_back(g, v));
        }
        assert_int_equal(p.longest, longest);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(p.tlevel[path[i]], along);
            assert_int_equal(along + p.blevel[path[i]], longest);
            if (i + 1 < n)
                along = p.tlevel[path[i + 1]];
            for (uint32_t k = g->succ.at[path[i]]; i + 1 < n && k < g->succ.at[path[i] + 1]; k++)
                follows += g->succ.to[k] == path[i + 1];
        }
        assert_int_equal(follows, n - 1);
        assert_int_equal(g->pred.at[path[0]], g->pred.at[path[0] + 1]);
        assert_int_equal(g->succ.at[path[n - 1]], g->succ.at[path[n - 1] + 1]);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden_levels),
                                       cmocka_unit_test(test_golden_clusters),
                                       cmocka_unit_test(test_contract_edge),
                                       cmocka_unit_test(test_longest_paths),
                                       cmocka_unit_test(test_partition_is_optimal),
                                       cmocka_unit_test(test_merge_keeps_totals),
                                       cmocka_unit_test(test_apart),
                                       cmocka_unit_test(test_ideals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
