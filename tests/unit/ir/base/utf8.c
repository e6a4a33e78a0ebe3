/* UTF-8 (ir/base/utf8.h) against the table of well-formed byte sequences of the Unicode Standard (table 3-7), and every
 * character there and back. */
#include "ir/base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* First bytes, second bytes, length. */
static const struct {
    unsigned char first, last, low, high;
    size_t n;
} table[] = {{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
             {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
             {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

static bool is_tail(unsigned char c)
{
    return c >= 0x80 && c <= 0xbf;
}

static size_t length(const unsigned char *s, size_t n)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (s[0] >= table[i].first && s[0] <= table[i].last)
            return n >= table[i].n &&
                           (table[i].n < 2 || (s[1] >= table[i].low && s[1] <= table[i].high)) &&
                           (table[i].n < 3 || is_tail(s[2])) && (table[i].n < 4 || is_tail(s[3]))
                       ? table[i].n
                       : 0;
    return 0;
}

static void test_sequences(void **state)
{
    static const unsigned char later[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
    uint32_t code;
    (void)state;
    for (unsigned two = 0; two < 1 << 16; two++)
        for (unsigned more = 0; more < 36; more++)
            for (size_t n = 1; n <= 4; n++) {
                unsigned char s[4] = {(unsigned char)(two >> 8), (unsigned char)two,
                                      later[more % 6], later[more / 6]};
                size_t want = length(s, n), got = utf8_decode((const char *)s, n, &code);
                if (got != want)
                    fail_msg("%02x %02x %02x %02x of %zu: %zu, expected %zu", s[0], s[1], s[2],
                             s[3], n, got, want);
            }
}

static size_t encode(uint32_t c, char *out)
{
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(lead[n] | c);
    return n;
}

static void test_characters(void **state)
{
    char s[4];
    uint32_t code = 0;
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        size_t n = encode(c, s), got = utf8_decode(s, n, &code);
        bool surrogate = c >= 0xd800 && c <= 0xdfff;
        if (got != (surrogate ? 0 : n) || (got && code != c))
            fail_msg("U+%04X: length %zu, code U+%04X", c, got, code);
    }
}

/* Where the first byte is that is none: also behind runs of ASCII, and cut off at the end. */
static void test_good(void **state)
{
    char s[64];
    (void)state;
    for (size_t at = 0; at < 40; at++) {
        memset(s, 'a', sizeof s);
        assert_int_equal(utf8_good(s, at), at);
        s[at] = (char)0xff;
        assert_int_equal(utf8_good(s, sizeof s), at);
        memcpy(s + at, "\u20ac", 3);
        assert_int_equal(utf8_good(s, sizeof s), sizeof s);
        assert_int_equal(utf8_good(s, at + 3), at + 3);
        assert_int_equal(utf8_good(s, at + 2), at);
        assert_int_equal(utf8_good(s, at + 1), at);
    }
}

static void check_shown(const char *text, const char *want)
{
    struct arena *a = arena_new(NULL);
    char *out = NULL, plain[64];
    size_t n = 0;
    FILE *f = open_memstream(&out, &n);
    assert_string_equal(utf8_text(a, text), want);
    utf8_plain(plain, text);
    assert_string_equal(plain, want);
    utf8_put(f, text);
    fclose(f);
    assert_string_equal(out, want);
    assert_int_equal(utf8_harmless(text), !strcmp(text, want));
    free(out);
    arena_free(a);
}

static void test_shown(void **state)
{
    (void)state;
    check_shown("", "");
    check_shown("plain, caf\u00e9 \u20ac \U0001f600", "plain, caf\u00e9 \u20ac \U0001f600");
    check_shown("\x1b[2J", "\\x1b[2J");
    check_shown("a\x7f\nb", "a\\x7f\\x0ab");
    check_shown("\xc2\x9b", "\\u009b");
    check_shown("\u202eabc", "\\u202eabc");
    check_shown("\u061cabc", "\\u061cabc");
    check_shown("\U0001fffe", "\\U01fffe");
    check_shown("\xff\xc3(", "\\xff\\xc3(");
    check_shown("cut \xe2\x82", "cut \\xe2\\x82");
    for (uint32_t c = 0; c < 0xa0; c++)
        assert_int_equal(utf8_shown(c), c >= 0x20 && c < 0x7f);
}

/* Every character comes back from its escape; what only looks like one stays. */
static void test_unescaped(void **state)
{
    static const char *const same[] = {"",          "\\",    "a\\",     "\\x", "\\x1",
                                       "\\x1g",     "\\u12", "\\u123g", "\\n", "\\U11000",
                                       "\\U110000", "\\x00", "\\xAB",   "\\\\"};
    struct arena *a = arena_new(NULL);
    (void)state;
    for (uint32_t c = 1; c < 0x110000; c++) {
        if (c >= 0xd800 && c < 0xe000)
            continue;
        char text[8], plain[40];
        struct arena_mark mark = arena_mark(a);
        text[encode(c, text)] = 0;
        utf8_plain(plain, text);
        assert_string_equal(utf8_unescaped(a, plain), text);
        arena_release(a, mark);
    }
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_string_equal(utf8_unescaped(a, same[i]), same[i]);
    assert_string_equal(utf8_unescaped(a, "a\\x5cx1b\\x1b\\u202e."), "a\\x1b\x1b\xe2\x80\xae.");
    arena_free(a);
}

static void test_stray(void **state)
{
    (void)state;
    assert_null(utf8_stray("a=b, \xc3\xa4\xe4\xb8\xad"));
    assert_string_equal(utf8_stray("a\xef\xbc\x9d\xe2\x80\x8b"), "U+FF1D (fullwidth equals sign)");
    assert_string_equal(utf8_stray("a\xe2\x80\x8b\xef\xbc\x9d"), "U+200B (zero width space)");
    assert_string_equal(utf8_stray("\xef\xbb\xbf"), "U+FEFF (byte order mark)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequences), cmocka_unit_test(test_characters),
        cmocka_unit_test(test_good),      cmocka_unit_test(test_shown),
        cmocka_unit_test(test_unescaped), cmocka_unit_test(test_stray)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
