/* Regular expressions (passes/functions/patterns.c): what is refused is refused for what it costs, not for what only
 * looks like it inside a bracket. */
#include "passes/functions/patterns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *text, const char *name, const char *refused)
{
    char why[PATTERN_WHY] = "";
    struct arena *a = arena_new(NULL);
    const struct regex *re = pattern_compile(text, a, why);
    if (!re != (refused != NULL) || (refused && !strstr(why, refused)))
        fail_msg("'%s': %s, expected %s", text, why, refused ? refused : "an expression");
    if (re && !pattern_matches(re, name, a))
        fail_msg("'%s' does not match '%s'", text, name);
    arena_free(a);
}

/* Between brackets parentheses and repeats are characters; "]" is one where it comes first. */
static void test_brackets(void **state)
{
    char text[100], open[60];
    (void)state;
    memset(open, '(', 55);
    open[55] = 0;
    snprintf(text, sizeof text, "x%s", open);
    check(text, "", "more than 50 groups");
    snprintf(text, sizeof text, "^[%s]x", open);
    check(text, "(x", NULL);
    snprintf(text, sizeof text, "^[]%s]x", open);
    check(text, "]x", NULL);
    snprintf(text, sizeof text, "^[^]%s]x", open);
    check(text, "yx", NULL);
    snprintf(text, sizeof text, "^[[:alpha:]%s]x", open);
    check(text, "yx", NULL);
    snprintf(text, sizeof text, "^[]a]x%s", open);
    check(text, "", "more than 50 groups");
}

static void test_limits(void **state)
{
    (void)state;
    check("((a*)*)*", "", NULL);
    check("(((a*)*)*)*", "", "3 repeats");
    check("a{1999}", "", "2000 characters");
    check("a{0,600}b{0,600}c{0,600}", "", NULL);
    check("a{0,600}b{0,600}c{0,900}", "", "2000 characters");
    check("(a)\\1", "", "refers back");
    check("a\\(b", "a(b", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_brackets),
                                       cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
