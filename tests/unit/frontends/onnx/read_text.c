/* parse(print(m)) equals m for the module of every ONNX file among the shared models: bodies,
 * captures, repeated names, external data and odd names as exporters write them. */
#include "frontends/frontends.h"
#include "ir/base/strings.h"
#include "tests/support/extras.h"
#include "tests/support/module_equal.h"
#include "tools/lib/exec/kinds.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 1024 };

/* nftw has no argument for its callback. */
static char *path[MOST];
static int paths;

static int collect(const char *file, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)at;
    if (kind == FTW_F && str_ends(file, ".onnx") && paths < MOST)
        path[paths++] = strdup(file);
    return 0;
}

static char *print(struct module *m, size_t *n)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, n);

    assert_non_null(f);
    module_print(f, &(struct scene){.m = m}, NULL);
    assert_int_equal(fclose(f), 0);
    return text;
}

/* Whether the file can be read at all. */
static bool round_trip(const char *file)
{
    struct diag d = diag_silent();
    struct module *m = onnx_read(file, &(struct onnx_options){.allow_links = true}, NULL, &d);
    struct text_module back;
    size_t n = 0, n2 = 0;

    if (m == NULL)
        return false;
    if (module_verify(m, &d) != 0)
        fail_msg("%s: does not verify", file);
    char *text = print(m, &n);
    if (module_parse(&back, &(struct named_text){file, text, n, exec_kinds}, NULL, &d) != 0)
        fail_msg("%s: its text does not parse", file);
    if (!module_equal(m, NULL, back.scene.m, NULL))
        fail_msg("%s: its text is another module", file);
    char *again = print(back.scene.m, &n2);
    if (n != n2 || memcmp(text, again, n) != 0)
        fail_msg("%s: printed again, it is another text", file);
    free(text);
    free(again);
    arena_free(m->mem);
    arena_free(back.scene.m->mem);
    return true;
}

static void test_models(void **state)
{
    int read = 0;

    (void)state;
    for (int i = 0; i < paths; i++)
        read += round_trip(path[i]);
    assert_true(read >= paths - 2); /* those that test_roundtrip.py knows */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
    char folder[4096];

    if (!has_shared())
        return extra_skipped("no folder ../shared");
    snprintf(folder, sizeof folder, "%s/models", getenv("PCC_SHARED"));
    if (nftw(folder, collect, 16, FTW_PHYS) != 0 || paths == 0)
        return extra_skipped("no models in ../shared");
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < paths; i++)
        free(path[i]);
    return rc;
}
