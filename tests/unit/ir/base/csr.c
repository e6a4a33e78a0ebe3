/* Compressed rows: topological orders against their definition, on random graphs with and without circles; pairs. */
#include "ir/base/csr.h"
#include "tests/support/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 300, MOST = 12 };

/* A random graph: with `circles` any edges, else only from smaller to larger places of a random order. */
static struct csr random_rows(uint64_t *rng, uint32_t n, bool circles, struct arena *a)
{
    struct pairs edge = {.a = a};
    uint32_t place[MOST];
    for (uint32_t v = 0; v < n; v++)
        place[v] = (v * 7 + 3) % MOST;
    for (uint32_t i = 0, m = test_below(rng, 2 * n + 1); i < m; i++) {
        uint32_t u = test_below(rng, n), v = test_below(rng, n);
        if (circles || place[u] < place[v])
            pairs_add(&edge, u, v);
    }
    return pairs_rows(&edge, n);
}

/* Whether row v is the entry of no row that is not in order. */
static bool is_ready(const struct csr *c, uint32_t n, const uint8_t *in, uint32_t v)
{
    for (uint32_t u = 0; u < n; u++)
        for_row (w, *c, u)
            if (w == v && !in[u])
                return false;
    return true;
}

/* The rows one by one: each was ready, and with keys no ready one had a smaller (key, number). */
static void check_order(const struct csr *c, uint32_t n, const uint32_t *key, const uint32_t *order,
                        uint32_t done)
{
    uint8_t in[MOST] = {0};
    for (uint32_t i = 0; i < done; i++) {
        uint32_t v = order[i];
        assert_true(v < n && !in[v] && is_ready(c, n, in, v));
        for (uint32_t w = 0; key && w < n; w++)
            if (!in[w] && is_ready(c, n, in, w))
                assert_true(key[v] < key[w] || (key[v] == key[w] && v <= w));
        in[v] = 1;
    }
    for (uint32_t v = 0; v < n; v++)
        assert_true(in[v] || !is_ready(c, n, in, v));
}

static void orders(void **state)
{
    (void)state;
    uint64_t rng = 11;
    uint32_t whole = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct arena *a = arena_new(NULL);
        uint32_t n = 1 + test_below(&rng, MOST), order[MOST], key[MOST];
        struct csr c = random_rows(&rng, n, round % 2, a);
        for (uint32_t v = 0; v < n; v++)
            key[v] = test_below(&rng, 4);
        uint32_t done = csr_topo(&c, n, NULL, order, a);
        check_order(&c, n, NULL, order, done);
        assert_int_equal(csr_topo(&c, n, key, order, a), done);
        check_order(&c, n, key, order, done);
        assert_true(round % 2 || done == n);
        whole += done == n;
        arena_free(a);
    }
    assert_true(whole > ROUNDS / 2 && whole < ROUNDS); /* circles were met */
}

/* Without keys what became ready first is next. */
static void first_in_first_out(void **state)
{
    (void)state;
    struct arena *a = arena_new(NULL);
    struct pairs edge = pairs_new(a, 0);
    static const uint32_t from[] = {3, 3, 1, 4}, to[] = {4, 0, 2, 5}, want[] = {1, 3, 2, 4, 0, 5};
    for (int i = 0; i < 4; i++)
        pairs_add(&edge, from[i], to[i]);
    struct csr c = pairs_rows(&edge, 6), back = pairs_rows_back(&edge, 6);
    uint32_t order[6], *size = csr_sizes(&c, 6, a);
    assert_int_equal(csr_topo(&c, 6, NULL, order, a), 6);
    assert_memory_equal(order, want, sizeof want);
    assert_int_equal(size[3], 2);
    assert_int_equal(size[5], 0);
    assert_true(csr_has(&back, 5, 4) && csr_has(&back, 0, 3) && !csr_has(&back, 3, 3));
    assert_int_equal(csr_topo(&c, 0, NULL, order, a), 0);
    arena_free(a);
}

/* Rows of numbers: entry i of the list is i. */
static void numbered(void **state)
{
    (void)state;
    struct arena *a = arena_new(NULL);
    static const uint32_t row[] = {2, 0, 2, 1}, want[] = {1, 3, 0, 2};
    struct csr c = csr_build(a, 3, 4, row, NULL);
    assert_memory_equal(c.to, want, sizeof want);
    assert_int_equal(c.at[2], 2);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders), cmocka_unit_test(first_in_first_out), cmocka_unit_test(numbered)};
    return cmocka_run_group_tests_name("unit_csr", tests, NULL, NULL);
}
