/* Names that are near enough to be offered (ir/base/nearest.h): changes of one character, swaps of neighbours among
 * them, as many as the length of the word allows. */
#include "ir/base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *word, const char *name, bool offered)
{
    struct nearest t = nearest_to(word, strlen(word));
    nearest_try(&t, name);
    if ((t.best != NULL) != offered)
        fail_msg("'%s' for '%s': %s, expected the opposite", name, word,
                 t.best ? "offered" : "not offered");
}

static void test_distance(void **state)
{
    char longest[65], other[65];
    (void)state;
    check("a", "b", false); /* of one character nothing would be left */
    check("ab", "ac", true);
    check("ab", "ba", true);
    check("ab", "cd", false);
    check("ab", "xa", false); /* half a swap is none */
    check("ab", "bx", false);
    check("abcd", "abce", true);
    check("abcd", "abef", false); /* two of four */
    check("abcd", "badc", false);
    check("abcde", "abcfg", true);
    check("abcde", "badce", true);
    check("abcde", "abfgh", false);
    check("abcdefgh", "bcdefghi", true);
    check("abcdefgh", "cdefghij", false);
    memset(longest, 'x', 64);
    longest[64] = 0;
    memcpy(other, longest, sizeof other);
    check(longest, other, false); /* too long to be compared */
    longest[63] = other[62] = other[63] = 0;
    check(longest, other, true);
}

/* The nearest, of equally near ones the first. */
static void test_best(void **state)
{
    struct arena *a = arena_new(NULL);
    struct nearest t = nearest_to("place", 5);
    (void)state;
    assert_string_equal(nearest_hint(&t, a), "");
    nearest_try(&t, "plaque");
    assert_string_equal(nearest_hint(&t, a), "; did you mean 'plaque'?");
    nearest_try(&t, "plane");
    nearest_try(&t, "plate");
    nearest_try(&t, "plaques");
    assert_string_equal(nearest_hint(&t, a), "; did you mean 'plane'?");
    t = nearest_to("au", 2);
    nearest_try(&t, "autumn-leaf");
    assert_null(t.best);
    nearest_try(&t, "au-place"); /* its first word */
    assert_string_equal(t.best, "au-place");
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distance),
                                       cmocka_unit_test(test_best)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
