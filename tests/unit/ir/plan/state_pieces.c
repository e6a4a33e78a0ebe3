/* state_pieces(): rows of states become rows of their pieces; what does not fit is refused. */
#include "ir/plan/state_pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Returns the manifest of a state of two pieces with these values of its members. */
static json_t *manifest(struct arena *a, const char *ways, const char *run, const char *sizes)
{
    const char *text = arena_fmt(
        a,
        "{\"inputs\": [{\"name\": \"x\", \"bytes\": 4}, {\"name\": \"p\", \"bytes\": 96, "
        "\"sizes\": %s}], \"outputs\": [{\"name\": \"q\", \"bytes\": 96, \"from\": \"pieces\"}], "
        "\"states\": [{\"in\": \"p\", \"out\": \"q\"}, {\"in\": \"x\", \"out\": \"y\"}], "
        "\"values\": {\"p@0\": {\"shape\": [1, 2, \"t\"]}}, "
        "\"parts\": [{\"file\": \"a\", \"outputs\": [\"q@0\"]}, "
        "{\"file\": \"b\", \"outputs\": [\"q@1\"]}], "
        "\"sharding\": {\"ways\": %s, \"states\": [{\"in\": \"p\", \"out\": \"q\", \"axis\": 1, "
        "\"run\": %s, \"pieces\": [{\"in\": \"p@0\", \"out\": \"q@0\"}, "
        "{\"in\": \"p@1\", \"out\": \"q@1\"}]}]}}",
        sizes, ways, run);
    json_t *root = json_read(a, text, strlen(text), NULL);
    assert_non_null(root);
    return root;
}

/* Returns a list of the manifest as text. */
static const char *list(const json_t *root, const char *key, struct arena *a)
{
    char *text = json_dumps(json_object_get(root, key), JSON_COMPACT | JSON_SORT_KEYS);
    const char *own = arena_fmt(a, "%s", text);
    free(text);
    return own;
}

static void test_rows(void **state)
{
    (void)state;
    struct arena *a = arena_new(NULL);
    struct diag d = diag_silent();
    json_t *root = manifest(a, "2", "1", "[1,4,3]");
    assert_int_equal(state_pieces(root, "m", a, &d), 0);
    assert_string_equal(list(root, "inputs", a),
                        "[{\"bytes\":4,\"name\":\"x\"},"
                        "{\"bytes\":48,\"name\":\"p@0\",\"shape\":[1,2,\"t\"],\"sizes\":[1,2,3]},"
                        "{\"bytes\":48,\"name\":\"p@1\",\"shape\":null,\"sizes\":[1,2,3]}]");
    assert_string_equal(list(root, "outputs", a),
                        "[{\"bytes\":48,\"from\":\"a\",\"name\":\"q@0\",\"shape\":null},"
                        "{\"bytes\":48,\"from\":\"b\",\"name\":\"q@1\",\"shape\":null}]");
    assert_string_equal(list(root, "states", a),
                        "[{\"in\":\"p@0\",\"out\":\"q@0\"},{\"in\":\"p@1\",\"out\":\"q@1\"},"
                        "{\"in\":\"x\",\"out\":\"y\"}]");
    assert_string_equal(list(json_object_get(root, "whole"), "states", a),
                        "[{\"in\":\"p\",\"out\":\"q\"},{\"in\":\"x\",\"out\":\"y\"}]");
    json_object_del(root, "sharding");                   /* "whole" is then one that the file has */
    assert_int_equal(state_pieces(root, "m", a, &d), 0); /* a model without pieces */
    assert_null(json_object_get(root, "whole"));
    arena_free(a);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[][3] = {
        {"3", "1", "[1,4,3]"},  /* fewer pieces than ways */
        {"1", "1", "[1,4,3]"},  /* no device shares anything */
        {"2", "0", "[1,4,3]"},  /* no run */
        {"2", "1", "[1,5,3]"},  /* sizes that two devices do not divide */
        {"2", "1", "[1,-4,3]"}, /* no size */
        {"2", "1", "[4]"},      /* no such axis */
        {"65", "1", "[1,4,3]"}, /* more ways than there can be */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena *a = arena_new(NULL);
        struct diag d = diag_silent();
        json_t *root = manifest(a, bad[i][0], bad[i][1], bad[i][2]);
        assert_int_equal(state_pieces(root, "m", a, &d), -1);
        arena_free(a);
    }
}

/* A part that makes a piece must have a file; others are no matter of pieces. */
static void test_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct arena *a = arena_new(NULL);
        struct diag d = diag_silent();
        json_t *root = manifest(a, "2", "1", "[1,4,3]");
        json_t *part = json_array_get(json_object_get(root, "parts"), 0);
        json_object_del(part, "file");
        if (i == 1)
            json_object_del(part, "outputs");
        assert_int_equal(state_pieces(root, "m", a, &d), i == 0 ? -1 : 0);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
