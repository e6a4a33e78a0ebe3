/* Sizes that meet demands: each case is names with a size to try first, demands between them, and the sizes that must
 * come out; then random demands of which it is known that some sizes meet them. */
#include "ir/ir.h"
#include "passes/shapes/size_guess.h"
#include "tests/support/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

enum { USUAL = 128 };

/* A demand as text. */
struct wish {
    enum demand_kind kind;
    const char *a, *b;
};

/* Names in a text such as "batch=B1 rows=O128 given=G7": B, F, O, G: kind, then the size to try first. */
static struct sizes *sizes_read(struct module *m, const char *text)
{
    static const enum size_kind kinds[] = {
        ['B'] = SIZE_BATCH, ['F'] = SIZE_FIRST, ['O'] = SIZE_OTHER, ['G'] = SIZE_GIVEN};
    struct sizes *k = sizes_new(m, USUAL, m->mem);
    char name[32], kind;
    int used;
    long value;
    while (sscanf(text, " %31[^=]=%c%ld%n", name, &kind, &value, &used) == 3) {
        sizes_add(k, name, kinds[(unsigned char)kind], value);
        text += used;
    }
    return k;
}

/* Returns the place of the first of the wishes (up to one without text) that k's sizes do not meet; -1: none. */
static int meet_all(struct sizes *k, const struct wish *wish)
{
    struct demands all = {0};
    for (uint32_t i = 0; wish[i].a != NULL; i++) {
        all.at = vec_grow(k->mem, all.at, &all.cap, all.n + 1, sizeof *all.at);
        all.at[all.n++] = (struct demand){dim_parse(k->m, wish[i].a), dim_parse(k->m, wish[i].b),
                                          (uint8_t)wish[i].kind, 0};
    }
    const struct demand *bad = sizes_meet(k, &all);
    return bad == NULL ? -1 : (int)(bad - k->todo);
}

#define EQUAL(a, b) {DEMAND_EQUAL, a, b}
#define MATCH(a, b) {DEMAND_MATCH, a, b}
#define MOST(a, b) {DEMAND_MOST, a, b}

static void cases(void **state)
{
    static const struct {
        const char *names, *want; /* want: sizes as "rows=77" */
        int bad;                  /* place of the demand that stays unmet, -1: none */
        struct wish wish[4];
    } row[] = {
        {"rows=O128", "rows=77", -1, {MOST("rows", "77")}},
        {"p=O128 s=O128", "p=4 s=4", -1, {MOST("p + s", "8")}},
        {"p=O128 s=O128 t=O128", "p=128 s=128 t=256", -1, {EQUAL("p + s", "t")}},
        {"p=G0 s=O128 t=O128", "p=0 s=128 t=128", -1, {EQUAL("p + s", "t")}},
        /* what is given says what follows, in either direction */
        {"p=O128 s=O128 t=G100 q=G30", "p=70 s=30", -1, {EQUAL("p + s", "t"), EQUAL("s", "q")}},
        /* a table of 100 rows for all of them */
        {"p=O128 s=O128 t=O128", "p=50 s=50 t=100", -1, {EQUAL("p + s", "t"), MOST("t", "100")}},
        {"b=B1 n=O128", "b=1 n=1", -1, {EQUAL("b", "n")}},
        {"w=O128 h=O128", "w=512 h=128", -1, {MOST("400", "w")}},
        {"w=O128", "w=126", -1, {EQUAL("w", "3*(w//3)")}},
        {"w=O128", "w=112", -1, {EQUAL("w//10", "11")}}, /* the roundest of 110 .. 119 */
        {"w=F1", "w=128", -1, {MOST("100", "w")}},
        {"w=O128", "w=128", -1, {MATCH("w", "1")}},
        {"w=O128", "w=40", -1, {MATCH("w", "40")}},
        {"w=G5", "w=5", 0, {EQUAL("w", "6")}},
        /* s = -10 - r: the demand that this is not negative, the third one, cannot be met */
        {"p=O128 r=O128 s=O128", "r=128", 2, {EQUAL("p + s", "50"), EQUAL("p", "r + 60")}},
        /* two demands contradict each other: the first is met */
        {"w=O128", "w=64", 1, {EQUAL("w", "64"), MOST("w", "20")}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct diag d = diag_silent();
        struct module *m = module_new(NULL, &d);
        struct sizes *k = sizes_read(m, row[i].names);
        int bad = meet_all(k, row[i].wish);
        assert_int_equal(bad, row[i].bad);
        char name[32];
        int used;
        long value;
        for (const char *s = row[i].want; sscanf(s, " %31[^=]=%ld%n", name, &value, &used) == 2;
             s += used)
            if (sizes_of(k, name) != value)
                fail_msg("case %zu: %s is %lld, expected %ld", i, name,
                         (long long)sizes_of(k, name), value);
        assert_int_equal(sizes_of(k, "stranger"), USUAL);
        arena_free(m->mem);
    }
}

/* Names that are equal in pairs, or bounded by numbers: all can be met, and must be. */
static void chains(void **state)
{
    enum { NAMES = 12, ROUNDS = 200 };
    uint64_t seed = 7;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct diag d = diag_silent();
        struct module *m = module_new(NULL, &d);
        struct sizes *k = sizes_new(m, USUAL, m->mem);
        char text[2 * NAMES][2][16];
        struct wish wish[2 * NAMES + 1] = {{0}};
        uint32_t least = USUAL;
        for (int i = 0; i < NAMES; i++) {
            snprintf(text[i][0], sizeof text[i][0], "n%d", i);
            sizes_add(k, text[i][0], test_below(&seed, 2) ? SIZE_OTHER : SIZE_FIRST, USUAL);
        }
        for (int i = 1; i < NAMES; i++) { /* a tree of equal names */
            snprintf(text[i][1], sizeof text[i][1], "n%d", (int)test_below(&seed, (uint32_t)i));
            wish[i - 1] = (struct wish){DEMAND_EQUAL, text[i][0], text[i][1]};
        }
        for (int i = NAMES; i < 2 * NAMES; i++) {
            uint32_t most = 1 + (uint32_t)test_below(&seed, 300);
            least = most < least ? most : least;
            snprintf(text[i][0], sizeof text[i][0], "n%d", (int)test_below(&seed, NAMES));
            snprintf(text[i][1], sizeof text[i][1], "%u", most);
            wish[i - 1] = (struct wish){DEMAND_MOST, text[i][0], text[i][1]};
        }
        assert_int_equal(meet_all(k, wish), -1);
        for (int i = 0; i < NAMES; i++) {
            char name[16];
            snprintf(name, sizeof name, "n%d", i);
            assert_int_equal(sizes_of(k, name), least);
        }
        arena_free(m->mem);
    }
}

/* A chain of equal names, demanded pair by pair from its end: each name takes the size of the name before it. */
static void long_chain(void **state)
{
    enum { NAMES = 1000 };
    struct diag d = diag_silent();
    struct module *m = module_new(NULL, &d);
    struct sizes *k = sizes_new(m, USUAL, m->mem);
    static char name[NAMES][16];
    static struct wish wish[NAMES];
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        snprintf(name[i], sizeof name[i], "n%d", i);
        sizes_add(k, name[i], i == 0 ? SIZE_GIVEN : SIZE_OTHER, i == 0 ? 5 : USUAL);
    }
    for (int i = 1; i < NAMES; i++)
        wish[NAMES - 1 - i] = (struct wish)EQUAL(name[i - 1], name[i]);
    assert_int_equal(meet_all(k, wish), -1);
    for (int i = NAMES; i-- > 0;)
        assert_int_equal(sizes_of(k, name[i]), 5);
    arena_free(m->mem);
}

/* Each of these demands is spoiled by the next one, which is met first: a demand more is met in each round.  What holds
 * in the end counts, also if it did not hold when it was looked at last. */
static void slow_chain(void **state)
{
    enum { ROUNDS = 8, MOST_NAMES = ROUNDS + 1 };
    (void)state;
    for (int names = ROUNDS; names <= MOST_NAMES; names++) {
        struct diag d = diag_silent();
        struct module *m = module_new(NULL, &d);
        struct sizes *k = sizes_new(m, USUAL, m->mem);
        char name[MOST_NAMES][16], next[MOST_NAMES][16];
        struct wish wish[MOST_NAMES + 1] = {{0}};
        for (int i = 0; i < names; i++) {
            snprintf(name[i], sizeof name[i], "n%d", i);
            snprintf(next[i], sizeof next[i], i + 1 < names ? "n%d+1" : "1", i + 1);
            sizes_add(k, name[i], SIZE_OTHER, USUAL);
            wish[i] = (struct wish)MOST(name[i], next[i]);
        }
        assert_int_equal(meet_all(k, wish), names == ROUNDS ? -1 : 0);
        arena_free(m->mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cases), cmocka_unit_test(chains),
                                       cmocka_unit_test(long_chain), cmocka_unit_test(slow_chain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
