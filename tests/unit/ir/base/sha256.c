/* ir/base/sha256.h: the standard's examples, bytes in pieces of any size. */
#include "ir/base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Compares the hash of n bytes, taken in pieces of `piece`, with what is expected. */
static void check(const char *bytes, size_t n, size_t piece, const char *expected)
{
    struct sha256 s;
    char text[SHA256_TEXT];
    sha256_begin(&s);
    for (size_t at = 0; at < n; at += piece)
        sha256_add(&s, bytes + at, n - at < piece ? n - at : piece);
    sha256_end(&s, text);
    assert_string_equal(text, expected);
}

static void test_examples(void **state)
{
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    (void)state;
    check("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 3, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (size_t piece = 1; piece <= sizeof two; piece++)
        check(two, sizeof two - 1, piece,
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_long(void **state)
{
    enum { N = 1000000 };
    char *bytes = malloc(N);
    (void)state;
    assert_non_null(bytes);
    memset(bytes, 'a', N);
    for (size_t piece = 1; piece < N; piece = piece * 61 + 2)
        check(bytes, N, piece, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples),
                                       cmocka_unit_test(test_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
