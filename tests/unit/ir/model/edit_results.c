/* edit_results(): values that a node made before and does not make any more leave the module if nothing reads them;
 * if something does, module_verify() says so. */
#include "ir/model/edit.h"
#include "ir/text/text.h"
#include "tests/support/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The module below, and its values by the order in which they stand there. */
struct world {
    struct sink sink;
    struct diag d;
    struct module *m;
    nid split;
    vid a, b;
};

static void read_module(struct world *w)
{
    static const char text[] = "ir_version 10\nopset ai.onnx 18\n"
                               "graph {\n"
                               "in %x : f32[4]\n"
                               "%a, %b = Split(%x) {num_outputs=2}\n"
                               "%y = Add(%a, %b)\n"
                               "out %y\n"
                               "}\n";
    const struct named_text named = {"results", text, strlen(text), NULL};
    struct text_module t;
    w->d = diag_of(&w->sink);
    if (module_parse(&t, &named, NULL, &w->d))
        fail_msg("%s", w->sink.last[0]);
    w->m = t.scene.m;
    w->split = w->m->graph[1].first;
    w->a = node_out(w->m, w->split, 0);
    w->b = node_out(w->m, w->split, 1);
}

/* Ends the edit and checks the module: words of the first complaint; NULL: there is none. */
static void end(struct world *w, struct edit *e, const char *words)
{
    edit_end(e);
    int rc = module_verify(w->m, &w->d);
    if (words)
        assert_non_null(strstr(w->sink.last[0], words));
    else if (rc)
        fail_msg("%s", w->sink.last[0]);
    assert_int_equal(rc != 0, words != NULL);
    arena_free(w->m->mem);
}

static void test_replaced(void **state)
{
    (void)state;
    struct world w;
    read_module(&w);
    struct edit *e = edit_begin(w.m, w.m->mem);
    vid made[] = {w.b, edit_value(e, 1, "c", w.a)}, a = w.a, c = made[1];
    edit_results(e, w.split, made, 2);
    edit_replace(e, a, c);
    assert_int_equal(w.m->value[w.b].outno, 0);
    struct module *m = w.m;
    assert_int_equal(m->value[a].def, 0);
    end(&w, e, NULL);
}

static void test_still_read(void **state)
{
    (void)state;
    struct world w;
    read_module(&w);
    struct edit *e = edit_begin(w.m, w.m->mem);
    edit_results(e, w.split, &w.b, 1);
    end(&w, e, "'a' has no definition");
}

/* Values that nothing reads, made by no node, are lost. */
static void test_unused(void **state)
{
    (void)state;
    struct world w;
    read_module(&w);
    struct edit *e = edit_begin(w.m, w.m->mem);
    vid unused = edit_value(e, 1, "unused", w.a), none[] = {0, 0};
    nid n = edit_after(e, w.split, "Split");
    vid c = edit_result(e, n, "c", w.a), d = edit_result(e, n, "d", w.b);
    edit_replace(e, w.a, c);
    edit_replace(e, w.b, d);
    edit_results(e, w.split, none, 2);
    vid x = node_in(w.m, w.split, 0);
    edit_operands(e, n, &x, 1);
    edit_drop(e, w.split);
    struct module *m = w.m;
    const vid gone[] = {unused, w.a, w.b};
    edit_end(e);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        assert_true(m->value[gone[i]].flags & VALUE_LOST);
    if (module_verify(m, &w.d))
        fail_msg("%s", w.sink.last[0]);
    arena_free(m->mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replaced),
                                       cmocka_unit_test(test_still_read),
                                       cmocka_unit_test(test_unused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
