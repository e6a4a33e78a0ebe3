/* Levels that keep the vertices of another one, renamed: subdivide, which adds vertices of results, and linearize,
 * which orders them.  All that a level has of a vertex must follow it. */
#include "passes/passes.h"
#include "passes/pipeline.h"
#include "tests/support/said.h"
#include "tests/support/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 12 };

/* Returns nodes whose two results cost differently to move, each read by the next node and the one behind that. */
static struct text_module make(struct said *said, struct diag *d)
{
    struct text_module t;
    memset(said, 0, sizeof *said);
    say(said, "ir_version 10\ncluster\nclass acc x2\ngraph {\n");
    for (int i = 0; i < NODES; i++) {
        say(said, "  %%v%d, %%w%d = profile:op(", i, i);
        if (i > 0)
            say(said, "%%v%d", i - 1);
        if (i > 1)
            say(said, ", %%w%d", i - 2);
        say(said, ") : ? !bytes=1B !xfer=1ps, ? !bytes=1B !xfer=2ps !time=[%dps] !own=%dB\n", 1 + i,
            40 + i);
    }
    say(said, "}\n");
    const struct named_text text = {"levels", said->text, said->len, NULL};
    if (module_parse(&t, &text, NULL, d))
        fail_msg("it does not parse:\n%s", said->text);
    return t;
}

/* Returns an array of n numbers from `first` on. */
static int64_t *numbers(struct arena *a, uint32_t n, int64_t first)
{
    int64_t *x = arena_array(a, (size_t)n + 1, sizeof *x);
    for (uint32_t v = 0; v < n; v++)
        x[v] = first + v;
    return x;
}

/* Fills what a level may have, and this one has not, of its vertices: each vertex something else. */
static void fill(struct wdag *g)
{
    struct pairs apart = pairs_new(g->mem, 2);
    g->param = numbers(g->mem, g->n, 100);
    g->runs = numbers(g->mem, g->n, 200);
    g->back = arena_array(g->mem, g->ncls, sizeof *g->back);
    for (uint32_t k = 0; k < g->ncls; k++)
        g->back[k] = numbers(g->mem, g->n, 300 + 100 * k);
    g->pass = arena_alloc(g->mem, (size_t)g->n + 1);
    for (uint32_t v = 0; v < g->n; v++) {
        g->pass[v] = (uint8_t)(1 + v);
        g->pin[v] = (int32_t)v;
    }
    pairs_add(&apart, 1, g->n - 1);
    pairs_add(&apart, g->n - 1, 1);
    wdag_set_apart(g, &apart);
}

/* Checks that all that a level has of the vertices of the finer level is what that has of them, and that its own
 * vertices, which are of no vertex there, have no bytes. */
static void check(const struct wdag *g)
{
    const struct wdag *f = g->finer;
    uint8_t *of = arena_alloc(g->mem, (size_t)g->n + 1);
    for (uint32_t v = 0; v < f->n; v++) {
        uint32_t u = g->map[v];
        of[u] = 1;
        assert_int_equal(g->size[u], f->size[v]);
        assert_int_equal(g->param[u], f->param[v]);
        assert_int_equal(g->runs[u], f->runs[v]);
        assert_int_equal(g->pass[u], f->pass[v]);
        assert_int_equal(g->pin[u], f->pin[v]);
        for (uint32_t k = 0; k < g->ncls; k++) {
            assert_int_equal(g->time[k][u], f->time[k][v]);
            assert_int_equal(g->back[k][u], f->back[k][v]);
        }
        assert_int_equal(wdag_has_apart(g, u), wdag_has_apart(f, v));
        for_row (w, f->apart, v)
            assert_int_equal(g->apart.to[g->apart.at[u]], g->map[w]);
    }
    for (uint32_t u = 0; u < g->n; u++)
        if (!of[u])
            assert_true(g->size[u] == 0 && g->param[u] == 0 && g->runs[u] == 0);
}

static void test_vertices(void **state)
{
    (void)state;
    struct said said;
    struct sink sink;
    struct diag d = diag_of(&sink);
    struct text_module t = make(&said, &d);
    struct ctx x = {.use.mem = arena_new(NULL),
                    .use.scratch = arena_new(NULL),
                    .use.diag = &d,
                    .scene = t.scene};
    assert_int_equal(ctx_base(&x), 0);
    fill(x.levels.base);
    /* the passes alone, without those that the runner adds between them */
    struct pipeline p = {0};
    assert_int_equal(pipeline_parse(&p, "subdivide,linearize{seed=3}", x.use.mem, &d), 0);
    for (uint32_t i = 0; i < p.n; i++) {
        assert_int_equal(p.step[i].pass->run(&x, p.step[i].opts), 0);
        check(x.levels.top);
    }
    assert_true(x.levels.top->n > 2 * NODES);
    arena_free(x.use.mem);
    arena_free(x.use.scratch);
    arena_free(t.scene.m->mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vertices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
