/* cut_tensor() and cut_tensor_join(): each position of an axis is in the piece that its run says, in tensors of any
 * shape. */
#include "tools/run/cut_tensors.h"

#include "ir/model/module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 64 };

/* A tensor of the engine below. */
struct engine_value {
    struct engine_shape shape;
    int64_t size[RANKS];
    unsigned char data[1024];
};

static int values; /* that are there */

static struct engine_value *value_new(struct engine *e, const struct engine_shape *shape,
                                      struct engine_error *err)
{
    struct engine_value *v = calloc(1, sizeof *v);
    (void)e, (void)err;
    v->shape = *shape;
    memcpy(v->size, shape->size, shape->rank * sizeof *v->size);
    v->shape.size = v->size;
    values++;
    return v;
}

static int value_shape(struct engine *e, const struct engine_value *v, struct engine_shape *s,
                       int64_t *size)
{
    (void)e;
    *s = v->shape;
    memcpy(size, v->size, sizeof v->size);
    return v->shape.elem == 0 ? -1 : 0;
}

static void *value_data(struct engine *e, struct engine_value *v)
{
    (void)e;
    return v->data;
}

static void value_free(struct engine *e, struct engine_value *v)
{
    (void)e;
    values -= v != NULL;
    free(v);
}

static const struct engine_face face = {.value_new = value_new,
                                        .value_shape = value_shape,
                                        .value_data = value_data,
                                        .value_free = value_free};
static struct engine engine = {.face = &face, .library = "fake"};

/* Returns a tensor of bytes [2, size, 3], each element another one. */
static struct engine_value *tensor(int64_t size)
{
    const int64_t sizes[] = {2, size, 3};
    struct engine_value *v = value_new(&engine, &(struct engine_shape){ELEM_U8, 3, sizes}, NULL);
    for (int64_t i = 0; i < 6 * size; i++)
        v->data[i] = (unsigned char)i;
    return v;
}

static void test_pieces(void **state)
{
    (void)state;
    struct engine_error err;
    for (uint32_t ways = 2; ways <= 4; ways++)
        for (int64_t run = 1; run <= 3; run++)
            for (int64_t blocks = 0; blocks <= 3; blocks++) {
                const struct split_cut c = {.ways = ways, .axis = 1, .run = run};
                int64_t size = run * ways * blocks;
                struct engine_value *whole = tensor(size), *piece[4], *again;
                int64_t next[4] = {0};
                for (uint32_t i = 0; i < ways; i++) {
                    assert_non_null(piece[i] = cut_tensor(&engine, &c, whole, i, &err));
                    assert_int_equal(piece[i]->size[1], run * blocks);
                }
                for (int64_t k = 0; k < 6 * size; k++) { /* element by element, by the rule */
                    uint32_t of = (uint32_t)(k / 3 % size / run) % ways;
                    assert_int_equal(piece[of]->data[next[of]++], whole->data[k]);
                }
                assert_non_null(again = cut_tensor_join(&engine, &c, piece, &err));
                assert_int_equal(again->size[1], size);
                assert_memory_equal(again->data, whole->data, sizeof whole->data);
                for (uint32_t i = 0; i < ways; i++)
                    value_free(&engine, piece[i]);
                value_free(&engine, whole);
                value_free(&engine, again);
            }
    assert_int_equal(values, 0);
}

/* Values of an engine without a library are bytes: they are cut in stretches, whatever the axis is. */
static void test_bytes(void **state)
{
    (void)state;
    struct engine stub = {.face = &face, .library = ""};
    struct engine_error err;
    const struct split_cut c = {.ways = 2, .axis = 2, .run = 7};
    const int64_t bytes = 6;
    struct engine_value *v = value_new(&stub, &(struct engine_shape){ELEM_U8, 1, &bytes}, NULL);
    memcpy(v->data, "abcdef", 6);
    struct engine_value *piece[2] = {cut_tensor(&stub, &c, v, 0, &err),
                                     cut_tensor(&stub, &c, v, 1, &err)};
    assert_memory_equal(piece[0]->data, "abc", 3);
    assert_memory_equal(piece[1]->data, "def", 3);
    struct engine_value *again = cut_tensor_join(&stub, &c, piece, &err);
    assert_int_equal(again->size[0], 6);
    assert_memory_equal(again->data, "abcdef", 6);
    value_free(&stub, v);
    value_free(&stub, piece[0]);
    value_free(&stub, piece[1]);
    value_free(&stub, again);
    assert_int_equal(values, 0);
}

/* A manifest may say any run: of nothing it has whole ones. */
static void test_huge_run(void **state)
{
    (void)state;
    struct engine_error err;
    const struct split_cut c = {.ways = 4, .axis = 1, .run = INT64_C(1) << 62};
    struct engine_value *v = tensor(0), *piece[4];
    for (uint32_t i = 0; i < 4; i++) {
        assert_non_null(piece[i] = cut_tensor(&engine, &c, v, i, &err));
        assert_int_equal(piece[i]->size[1], 0);
    }
    struct engine_value *again = cut_tensor_join(&engine, &c, piece, &err);
    assert_int_equal(again->size[1], 0);
    for (uint32_t i = 0; i < 4; i++)
        value_free(&engine, piece[i]);
    value_free(&engine, v);
    value_free(&engine, again);
    assert_int_equal(values, 0);
}

static void test_refused(void **state)
{
    (void)state;
    struct engine_error err;
    struct split_cut c = {.ways = 2, .axis = 1, .run = 2};
    struct engine_value *v = tensor(6), *other = tensor(4), *piece[2] = {v, other};
    assert_null(cut_tensor(&engine, &c, v, 0, &err)); /* 6 is no multiple of 4 */
    assert_string_equal(err.line,
                        "its axis 1 has the size 6: expected a multiple of 4, for 2 devices");
    assert_null(cut_tensor_join(&engine, &c, piece, &err));
    assert_string_equal(err.line, "its pieces have different sizes");
    c.axis = 3;
    assert_null(cut_tensor(&engine, &c, v, 0, &err));
    assert_string_equal(err.line, "it has 3 axes: expected an axis 3");
    piece[1] = NULL;
    c.axis = 1;
    assert_null(cut_tensor_join(&engine, &c, piece, &err));
    v->shape.elem = 0;
    assert_null(cut_tensor(&engine, &c, v, 0, &err));
    assert_string_equal(err.line, "it is no tensor of plain numbers");
    value_free(&engine, v);
    value_free(&engine, other);
    assert_int_equal(values, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces), cmocka_unit_test(test_bytes),
                                       cmocka_unit_test(test_huge_run),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
