/* Reading and shape inference end when the listener wants it: one error, and no module. */
#include "ir/ir.h"
#include "ir/base/clock.h"
#include "passes/shapes/infer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 5000 };

struct said {
    char line[256];
    uint32_t n;
};

static void hear(void *user, enum diag_level level, enum warning w, const char *line)
{
    struct said *s = user;
    (void)level;
    (void)w;
    snprintf(s->line, sizeof s->line, "%s", line);
    s->n++;
}

/* A chain of NODES nodes. */
static char *chain(size_t *n)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, n);
    fputs("graph {\n  in %x : f32[4]\n", f);
    for (int i = 0; i < NODES; i++)
        fprintf(f, i ? "  %%v%d = Neg(%%v%d)\n" : "  %%v%d = Neg(%%x)\n", i, i - 1);
    fprintf(f, "  out %%v%d\n}\n", NODES - 1);
    fclose(f);
    return text;
}

static void test_stopped(void **state)
{
    signal_flag stop = 1;
    struct listener listener = {.stop = &stop};
    struct clock clock = {.listener = &listener}, again = clock;
    struct said said = {.n = 0};
    struct diag d = {.emit = hear, .user = &said, .clock = &clock};
    struct arena *a = arena_new(NULL);
    struct text_module t = {0};
    size_t n;
    char *text = chain(&n);
    (void)state;
    assert_int_not_equal(module_parse(&t, &(struct named_text){"chain", text, n, NULL}, a, &d), 0);
    assert_string_equal(said.line, "interrupted while the model was read");
    assert_int_equal(said.n, 1);
    d.clock = NULL;
    assert_int_equal(module_parse(&t, &(struct named_text){"chain", text, n, NULL}, a, &d), 0);
    d.clock = &again;
    infer_types(t.scene.m, a, &d, NULL);
    assert_int_equal(said.n, 2);
    assert_string_equal(said.line, "interrupted while the model was read");
    assert_int_equal(d.errors, 2);
    stop = 0;
    d.clock = &(struct clock){.listener = &listener};
    infer_types(t.scene.m, a, &d, NULL);
    assert_int_equal(said.n, 2);
    arena_free(a);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stopped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
