/* Favourite children: chains along edges; the longest path that linear clustering leaves is never below the bound of
 * the linear program, nor is the one that rounding the program leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "passes/integer/mip.h"
#include "passes/list/favourites.h"
#include "tests/support/graphs.h"

enum { GRAPHS = 200, MOST = 50 };

struct drawn {
    struct wdag g;
    int64_t time[MOST], cost[MOST * MOST];
};

static void draw(struct drawn *d, uint64_t *rng, struct arena *a)
{
    uint32_t row[MOST * MOST], to[MOST * MOST], n = 0, dense = 3 + test_below(rng, 20);
    *d = (struct drawn){.g.n = 1 + test_below(rng, MOST)};
    for (uint32_t v = 0; v < d->g.n; v++) {
        d->time[v] = test_below(rng, 20);
        for (uint32_t u = 0; u < v; u++)
            if (test_below(rng, 100) < dense) {
                d->cost[n] = test_below(rng, 60);
                row[n] = v;
                to[n++] = u;
            }
    }
    d->g.pred = csr_build(a, d->g.n, n, row, to);
    d->g.succ = csr_transpose(a, &d->g.pred, d->g.n, d->g.n);
}

/* The longest path where transfers to favourites take nothing; checks that each is a reader's only one. */
static int64_t longest(const struct drawn *d, const uint32_t *favourite)
{
    int64_t end[MOST] = {0}, most = 0;
    uint32_t taken = 0, edges = 0;
    for (uint32_t v = 0; v < d->g.n; v++) {
        uint32_t parents = 0;
        taken += favourite[v] != NO_FAVOURITE;
        for (uint32_t k = d->g.pred.at[v]; k < d->g.pred.at[v + 1]; k++) {
            uint32_t u = d->g.pred.to[k];
            bool free = favourite[u] == v;
            int64_t t = end[u] + (free ? 0 : d->cost[k]);
            end[v] = t > end[v] ? t : end[v];
            parents += free;
        }
        assert_true(parents <= 1);
        edges += parents;
        end[v] += d->time[v];
        most = end[v] > most ? end[v] : most;
    }
    assert_int_equal(taken, edges); /* favourites are readers */
    return most;
}

static void above_the_program(void **state)
{
    (void)state;
    uint64_t rng = 47;
    double ratio[2] = {0};
    uint32_t counted = 0;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct arena *a = arena_new(NULL);
        struct clock clock = {0};
        struct drawn d;
        double bound = 0;
        draw(&d, &rng, a);
        int64_t clustered = longest(&d, favourites_find(&d.g, d.time, d.cost, PEEL_STEPS, a));
        if (mip_lpsolve.attempts) {
            uint32_t *rounded = favourites_by_lp(&d.g, d.time, d.cost, &clock, a, &bound);
            assert_non_null(rounded);
            int64_t program = longest(&d, rounded);
            assert_true((double)clustered >= bound - 1e-4);
            assert_true((double)program >= bound - 1e-4);
            if (bound > 1) {
                ratio[0] += (double)clustered / bound;
                ratio[1] += (double)program / bound;
                counted++;
            }
        }
        arena_free(a);
    }
    if (counted)
        print_message("of the bound: linear clustering %.3f, rounding %.3f\n", ratio[0] / counted,
                      ratio[1] / counted);
}

/* Two diamonds by hand: the longest path becomes a chain, then the longest of what is left. */
static void by_hand(void **state)
{
    (void)state;
    struct arena *a = arena_new(NULL);
    uint32_t row[] = {1, 2, 3, 3, 4, 5}, to[] = {0, 0, 1, 2, 2, 4};
    int64_t time[] = {1, 1, 1, 1, 1, 1}, cost[] = {5, 1, 5, 1, 9, 1};
    struct wdag g = {.n = 6, .pred = csr_build(a, 6, 6, row, to)};
    g.succ = csr_transpose(a, &g.pred, 6, 6);
    const uint32_t *f = favourites_find(&g, time, cost, PEEL_STEPS, a);
    /* 0-2-4-5 takes 1+1+1+9+1+1+1 = 15, 0-1-3 13; then 1-3 is left */
    assert_int_equal(f[0], 2);
    assert_int_equal(f[2], 4);
    assert_int_equal(f[4], 5);
    assert_int_equal(f[1], 3);
    assert_int_equal(f[3], NO_FAVOURITE);
    assert_int_equal(f[5], NO_FAVOURITE);
    f = favourites_find(&g, time, cost, 0, a); /* no paths: 2-4, then 0-1 and 1-3, then 4-5 */
    assert_int_equal(f[0], 1);
    assert_int_equal(f[1], 3);
    assert_int_equal(f[2], 4);
    assert_int_equal(f[4], 5);
    assert_int_equal(f[3], NO_FAVOURITE);
    arena_free(a);
}

/* However early the peeling ends, favourites are readers, one for each vertex and one vertex for each. */
static void early_ends(void **state)
{
    (void)state;
    uint64_t rng = 48;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct arena *a = arena_new(NULL);
        struct drawn d;
        draw(&d, &rng, a);
        int64_t some = longest(&d, favourites_find(&d.g, d.time, d.cost, i, a));
        uint32_t nobody[MOST];
        memset(nobody, 0xff, sizeof nobody);
        assert_true(some <= longest(&d, nobody));
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(early_ends),
                                       cmocka_unit_test(above_the_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
