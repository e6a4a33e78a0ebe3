/* The table of writers: names, suffixes, options (backends.h, ir/base/options.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "backends/backends.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every option of every writer has a default that fits, and what opt_get says of it is read as the same. */
static void test_defaults(void **state)
{
    struct arena *a = arena_new(NULL);
    (void)state;
    for (const struct writer *const *w = writer_table; *w; w++) {
        void *opts = writer_opts_new(*w, a), *again = arena_alloc(a, (*w)->optsize + 1);
        for (const struct writer_opt *const *o = (*w)->opts; o && *o; o++) {
            assert_true((*o)->opt.off < (*w)->optsize && *(*o)->opt.help);
            assert_true(opt_set(&(*o)->opt, again, opt_get(&(*o)->opt, opts, a)));
        }
        assert_memory_equal(opts, again, (*w)->optsize);
    }
    arena_free(a);
}

/* Names and suffixes are each one writer's, exactly one is for folders, and an option of two writers is the same. */
static void test_unique(void **state)
{
    uint32_t folders = 0;
    (void)state;
    for (const struct writer *const *w = writer_table; *w; w++) {
        assert_ptr_equal(writer_named((*w)->name, strlen((*w)->name)), *w);
        assert_true((*w)->write && !((*w)->to_stdout && !(*w)->suffix));
        folders += !(*w)->suffix;
        if ((*w)->suffix) {
            char path[64];
            snprintf(path, sizeof path, "a.b/x%s", (*w)->suffix);
            assert_ptr_equal(writer_of(path), *w);
        }
        for (const struct writer_opt *const *o = (*w)->opts; o && *o; o++)
            for (const struct writer *const *v = writer_table; *v; v++) {
                const struct writer_opt *other = writer_opt(*v, (*o)->opt.name);
                assert_true(!other || (other->opt.kind == (*o)->opt.kind &&
                                       other->opt.names == (*o)->opt.names));
            }
    }
    assert_int_equal(folders, 1);
}

static void expect_writer(const char *path, const char *name)
{
    assert_string_equal(writer_of(path)->name, name);
}

static void test_suffixes(void **state)
{
    (void)state;
    expect_writer("x.svg", "svg");
    expect_writer("x.gantt.svg", "gantt"); /* the longest */
    expect_writer("gantt.svg", "svg");
    expect_writer("x.trace.json", "trace");
    expect_writer("x.explorer.json", "explorer");
    expect_writer("x.html", "html");
    expect_writer("x.json", "json");
    expect_writer("x.svg/", "split");
    expect_writer("x.jpg", "split"); /* writer_check_name refuses it before */
    assert_null(writer_named("gant", 4));
    assert_null(writer_named("gantt", 4));
}

static void keep(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)level;
    (void)w;
    snprintf(user, 256, "%s", line);
}

static void test_names(void **state)
{
    char said[256] = "";
    struct diag d = {.emit = keep, .user = said};
    struct arena *a = arena_new(NULL);
    (void)state;
    assert_int_equal(writer_check_name("split", a, &d), 0);
    assert_int_equal(writer_check_name("v1.2", a, &d), 0);
    assert_int_equal(writer_check_name("x.gantt.svg", a, &d), 0);
    assert_int_equal(writer_check_name("a.xyz/", a, &d), 0);
    assert_int_equal(writer_check_name("a.xyz/x", a, &d), 0);
    assert_int_equal(writer_check_name(".cache", a, &d), 0);
    assert_int_equal(writer_check_name("m.split", a, &d), 0);
    assert_int_equal(writer_check_name("m.shared", a, &d), 0);
    assert_int_equal(writer_check_name("run.old", a, &d), 0);
    assert_int_equal(writer_check_name("x.", a, &d), 0);
    assert_int_equal(d.errors, 0);
    assert_int_equal(writer_check_name("x.SVG", a, &d), -1);
    assert_non_null(
        strstr(said, "pcc writes no .SVG; did you mean '.svg'? (a file ends in one of ."));
    assert_int_equal(writer_check_name("x.onxx", a, &d), -1);
    assert_non_null(strstr(said, "did you mean '.onnx'?"));
    assert_int_equal(writer_check_name("m.safetensors", a, &d), -1);
    assert_int_equal(writer_check_name("a.b/plan.xyz", a, &d), -1);
    assert_non_null(strstr(said, "no .xyz (a file ends in one of .onnx"));
    char made[] = "/tmp/writers.XXXXXX", folder[sizeof made + sizeof "/x.xyz"];
    assert_non_null(mkdtemp(made));
    snprintf(folder, sizeof folder, "%s/x.xyz", made);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(writer_check_name(folder, a, &d), 0); /* it is there */
    rmdir(folder);
    rmdir(made);
    assert_int_equal(writer_check_name("x.gantt.pdf", a, &d), -1);
    assert_non_null(strstr(said, ".gantt.svg"));
    arena_free(a);
}

/* Why an option has no effect: its writers' suffixes where it does not say itself. */
static void test_unused(void **state)
{
    struct arena *a = arena_new(NULL);
    const struct writer_opt *view = writer_opt(writer_named("png", 3), "view");
    (void)state;
    assert_string_equal(writer_opt_unused(view, a), "no .dot, .svg, .pdf or .png is written");
    assert_string_equal(writer_opt_unused(writer_opt(writer_of("folder"), "pictures"), a),
                        "these pictures go into the folder of a split (-o)");
    assert_null(writer_opt(writer_named("csv", 3), "view"));
    arena_free(a);
}

struct some {
    int64_t set, choice;
};

static void test_sets(void **state)
{
    static const char *const names[] = {"svg", "pdf", "png", NULL};
    const struct opt o = {.kind = OPT_SET, .off = offsetof(struct some, set), .names = names};
    struct arena *a = arena_new(NULL);
    struct some s = {0, 7};
    (void)state;
    assert_true(opt_set(&o, &s, "png,svg") && s.set == 5 && s.choice == 7);
    assert_string_equal(opt_get(&o, &s, a), "svg,png");
    assert_true(opt_set(&o, &s, "none") && s.set == 0);
    assert_string_equal(opt_get(&o, &s, a), "none");
    assert_false(opt_set(&o, &s, ""));
    assert_false(opt_set(&o, &s, "svg,"));
    assert_false(opt_set(&o, &s, "svg,none"));
    assert_false(opt_set(&o, &s, "sv"));
    assert_string_equal(opt_names(&o, ", ", " or ", a), "svg, pdf or png");
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_unique),
        cmocka_unit_test(test_suffixes), cmocka_unit_test(test_names),
        cmocka_unit_test(test_unused),   cmocka_unit_test(test_sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
