/* Cells for the boxes of a graph (html/grid.h): shapes that are known, and random graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "backends/html/grid.h"
#include "ir/base/random.h"

enum { CASES = 80, MOST = 60 };

/* The place of a cell along the graph, as if it were not broken into bands. */
static uint32_t along(const struct grid *g, const struct grid_cell *c)
{
    uint32_t high = g->rows / (g->bands ? g->bands : 1);
    return c->row / high * g->columns + c->column;
}

/* A pipeline is a staircase; an iteration of training goes down and up. */
static void test_stairs(void **state)
{
    (void)state;
    struct arena *a = arena_new(NULL);
    const struct grid_arrow arrow[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}, {1, 3}};
    const uint32_t lane[] = {0, 1, 2, 1, 0};
    struct grid g = grid_of(arrow, 6, lane, 5, 3, a);
    assert_true(g.by_lane);
    assert_int_equal(g.columns, 5);
    assert_int_equal(g.rows, 3);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(g.cell[i].column, i);
        assert_int_equal(g.cell[i].row, lane[i]);
    }
    arena_free(a);
}

/* Independent parts of several devices stand in a column, independent parts of one device in a row. */
static void test_beside(void **state)
{
    (void)state;
    struct arena *a = arena_new(NULL);
    const uint32_t lane[] = {0, 0, 1};
    struct grid g = grid_of(NULL, 0, lane, 3, 2, a);
    assert_int_equal(g.columns, 2);
    assert_int_equal(g.cell[1].column, 1);
    assert_int_equal(g.cell[2].column, 0);
    g = grid_of(NULL, 0, lane, 0, 1, a);
    assert_int_equal(g.columns, 0);
    arena_free(a);
}

/* A long chain over many devices is broken into as many bands as columns. */
static void test_bands(void **state)
{
    (void)state;
    enum { N = 400 };
    struct arena *a = arena_new(NULL);
    struct grid_arrow arrow[N - 1];
    uint32_t lane[N];
    for (uint32_t i = 0; i < N; i++) {
        lane[i] = i;
        if (i)
            arrow[i - 1] = (struct grid_arrow){i - 1, i};
    }
    struct grid g = grid_of(arrow, N - 1, lane, N, N, a);
    assert_false(g.by_lane);
    assert_int_equal(g.columns, 20);
    assert_int_equal(g.rows, 20);
    assert_int_equal(g.cell[N - 1].row, 19);
    assert_int_equal(g.cell[N - 1].column, 19);
    arena_free(a);
}

/* No two boxes have the same cell; arrows that do not lead back go to the right; lanes stay rows. */
static void test_random(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int t = 0; t < CASES; t++) {
        struct arena *a = arena_new(NULL);
        uint32_t n = 1 + random_below(&random, MOST), lanes = 1 + random_below(&random, 24);
        uint32_t narrow = random_below(&random, 3 * n), lane[MOST];
        struct grid_arrow arrow[3 * MOST];
        for (uint32_t i = 0; i < n; i++)
            lane[i] = random_below(&random, lanes);
        for (uint32_t i = 0; i < narrow; i++)
            arrow[i] = (struct grid_arrow){random_below(&random, n), random_below(&random, n)};
        struct grid g = grid_of(arrow, narrow, lane, n, lanes, a);
        for (uint32_t i = 0; i < n; i++) {
            assert_true(g.cell[i].column < g.columns && g.cell[i].row < g.rows);
            assert_true(!g.by_lane || g.cell[i].row % lanes == lane[i]);
            for (uint32_t k = 0; k < i; k++)
                assert_true(g.cell[i].column != g.cell[k].column || g.cell[i].row != g.cell[k].row);
        }
        for (uint32_t i = 0; i < narrow; i++)
            if (arrow[i].from < arrow[i].to)
                assert_true(along(&g, &g.cell[arrow[i].from]) < along(&g, &g.cell[arrow[i].to]));
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stairs), cmocka_unit_test(test_beside),
                                       cmocka_unit_test(test_bands), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
