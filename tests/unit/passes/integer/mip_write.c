/* Integer programs as files, to the byte: every kind of bound, row and number, names that are not legal. */
#include "passes/integer/mip.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct mip *small_program(struct arena *a)
{
    struct mip *m = mip_new(a);
    m->title = "all kinds";
    uint32_t switched = mip_col(m, "switched", 0, 1, 2, true);
    uint32_t free_one = mip_col(m, "free", -MIP_INF, MIP_INF, 0.1, false);
    uint32_t up_to_ = mip_col(m, "up to%", -MIP_INF, 4, 0, false);
    uint32_t fixed = mip_col(m, "e3", 2.5, 2.5, -1, false);
    uint32_t many = mip_col(m, "many", 0, MIP_INF, 1, true);
    uint32_t again = mip_col(m, "many", 0.1 + 0.2, MIP_INF, 1, false);
    mip_col(m, "unused", 0, MIP_INF, 0, false);
    mip_row(m, "least", 3, MIP_INF);
    mip_term(m, switched, 1);
    mip_term(m, free_one, -1);
    mip_term(m, up_to_, 1.5);
    mip_row(m, "no terms", 0, MIP_INF);
    mip_row(m, "most", -MIP_INF, 7);
    mip_term(m, fixed, 1);
    mip_term(m, many, 2);
    mip_term(m, many, 1);
    mip_row(m, "equal", 0, 0);
    mip_term(m, again, 1);
    mip_term(m, many, -4);
    mip_finish(m);
    return m;
}

/* Written to a file of that name, the program is this text. */
static void is_written(const struct mip *m, struct arena *a, const char *name, const char *wanted)
{
    char folder[] = "/tmp/pcc-mip-XXXXXX", text[2048] = {0};
    struct diag d = diag_silent();
    assert_non_null(mkdtemp(folder));
    const char *path = arena_fmt(a, "%s/%s", folder, name);
    assert_int_equal(mip_write(m, path, &d), 0);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    unlink(path);
    rmdir(folder);
    assert_string_equal(text, wanted);
}

static void test_lp(void **state)
{
    struct arena *a = arena_new(NULL);
    (void)state;
    is_written(small_program(a), a, "all.lp",
               "\\ all kinds\n"
               "Minimize\n"
               " obj: + 2 switched + 0.1 c1_free - c3_e3 + many + c5_many_1\n"
               "Subject To\n"
               " least: + switched - c1_free + 1.5 up_to_ >= 3\n"
               " most: + c3_e3 + 3 many <= 7\n"
               " equal: + c5_many_1 - 4 many = 0\n"
               "Bounds\n"
               " 0 <= switched <= 1\n"
               " c1_free free\n"
               " -inf <= up_to_ <= 4\n"
               " c3_e3 = 2.5\n"
               " 0.30000000000000004 <= c5_many_1 <= +inf\n"
               "General\n"
               " switched\n"
               " many\n"
               "End\n");
    arena_free(a);
}

static void test_mps(void **state)
{
    struct arena *a = arena_new(NULL);
    (void)state;
    is_written(small_program(a), a, "all.mps",
               "* all kinds\n"
               "NAME pcc\n"
               "ROWS\n"
               " N obj\n"
               " G least\n"
               " L most\n"
               " E equal\n"
               "COLUMNS\n"
               " MARKER0 'MARKER' 'INTORG'\n"
               " switched obj 2\n"
               " switched least 1\n"
               " MARKER1 'MARKER' 'INTEND'\n"
               " c1_free obj 0.1\n"
               " c1_free least -1\n"
               " up_to_ least 1.5\n"
               " c3_e3 obj -1\n"
               " c3_e3 most 1\n"
               " MARKER2 'MARKER' 'INTORG'\n"
               " many obj 1\n"
               " many most 3\n"
               " many equal -4\n"
               " MARKER3 'MARKER' 'INTEND'\n"
               " c5_many_1 obj 1\n"
               " c5_many_1 equal 1\n"
               " unused obj 0\n"
               "RHS\n"
               " RHS least 3\n"
               " RHS most 7\n"
               "BOUNDS\n"
               " UP BND switched 1\n"
               " FR BND c1_free\n"
               " MI BND up_to_\n"
               " UP BND up_to_ 4\n"
               " FX BND c3_e3 2.5\n"
               " PL BND many\n"
               " LO BND c5_many_1 0.30000000000000004\n"
               "ENDATA\n");
    arena_free(a);
}

/* Names of 100 bytes stay, longer ones are cut and numbered; a file of another kind is refused. */
static void test_names(void **state)
{
    struct arena *a = arena_new(NULL);
    struct mip *m = mip_new(a);
    struct diag d = diag_silent();
    char name[102];
    (void)state;
    memset(name, 'x', sizeof name);
    name[101] = 0;
    m->title = "long";
    mip_col(m, name + 1, 0, MIP_INF, 1, false);
    mip_col(m, name, 0, MIP_INF, 2, false);
    mip_finish(m);
    const char *wanted = arena_fmt(a,
                                   "\\ long\nMinimize\n obj: + %s + 2 c1_%.60s\n"
                                   "Subject To\nBounds\nGeneral\nEnd\n",
                                   name + 1, name);
    is_written(m, a, "long.lp", wanted);
    assert_int_equal(mip_write(m, "long.txt", &d), -1);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lp),
        cmocka_unit_test(test_mps),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
