/* rows_join() and rows_cut(): rows come back in their order; slices that do not fit together are refused. */
#include "tools/run/step.h"

#include "ir/model/module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A tensor of the engine below, with exactly as many bytes as it needs. */
struct engine_value {
    struct engine_shape shape;
    int64_t size[ENGINE_AXES];
    unsigned char *data;
};

static int values; /* that are there */

static struct engine_value *value_new(struct engine *e, const struct engine_shape *shape,
                                      struct engine_error *err)
{
    struct engine_value *v = calloc(1, sizeof *v);
    int64_t elems = shape_elems(shape->size, (uint32_t)shape->rank);
    (void)e, (void)err;
    v->shape = *shape;
    if (shape->rank)
        memcpy(v->size, shape->size, shape->rank * sizeof *v->size);
    v->shape.size = v->size;
    v->data = calloc(1, (size_t)elem_bytes((enum elem)shape->elem, elems) + (elems == 0));
    values++;
    return v;
}

static int value_shape(struct engine *e, const struct engine_value *v, struct engine_shape *s,
                       int64_t *size)
{
    (void)e;
    *s = v->shape;
    memcpy(size, v->size, sizeof v->size);
    return 0;
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
    if (v)
        free(v->data);
    free(v);
}

static const struct engine_face face = {.value_new = value_new,
                                        .value_shape = value_shape,
                                        .value_data = value_data,
                                        .value_free = value_free};
static struct engine engine = {.face = &face, .library = "fake"};

/* Returns a tensor of this type and shape, whose bytes are first, first + 1, ... */
static struct engine_value *tensor(enum elem elem, size_t rank, const int64_t *size, int first)
{
    struct engine_value *v =
        value_new(&engine, &(struct engine_shape){(int)elem, rank, size}, NULL);
    int64_t bytes = elem_bytes(elem, shape_elems(size, (uint32_t)rank));
    for (int64_t i = 0; i < bytes; i++)
        v->data[i] = (unsigned char)(first + i);
    return v;
}

/* Joins two tensors along an axis, and checks that this is refused, or the result. */
static void join(struct engine_value *a, struct engine_value *b, int32_t axis, const char *want,
                 int64_t size)
{
    struct engine_error err = {""};
    struct engine_value *const both[] = {a, b};
    struct engine_value *to = rows_join(&engine, both, 2, axis, &err);
    if (want) {
        assert_non_null(to);
        assert_memory_equal(to->data, want, strlen(want));
        assert_int_equal(to->size[axis], size);
    } else {
        assert_null(to);
        assert_string_equal(err.line, "its slices have different types or sizes");
    }
    value_free(&engine, to);
    value_free(&engine, a);
    value_free(&engine, b);
    assert_int_equal(values, 0);
}

static void test_joined(void **state)
{
    (void)state;
    join(tensor(ELEM_U8, 2, (const int64_t[]){2, 1}, 'a'),
         tensor(ELEM_U8, 2, (const int64_t[]){2, 3}, 'A'), 1, "aABCbDEF", 4);
    join(tensor(ELEM_U8, 2, (const int64_t[]){2, 2}, 'a'),
         tensor(ELEM_U8, 2, (const int64_t[]){1, 2}, 'A'), 0, "abcdAB", 3);
    join(tensor(ELEM_U8, 2, (const int64_t[]){0, 2}, 'a'),
         tensor(ELEM_U8, 2, (const int64_t[]){1, 2}, 'A'), 0, "AB", 1);
}

/* Copying rows as if sizes were equal would write behind the result. */
static void test_refused(void **state)
{
    (void)state;
    join(tensor(ELEM_U8, 2, (const int64_t[]){2, 1}, 'a'),
         tensor(ELEM_U8, 2, (const int64_t[]){2, 900}, 'a'), 0, NULL, 0);
    join(tensor(ELEM_U8, 2, (const int64_t[]){1, 2}, 'a'),
         tensor(ELEM_U8, 2, (const int64_t[]){900, 2}, 'a'), 1, NULL, 0);
    join(tensor(ELEM_U8, 1, (const int64_t[]){2}, 'a'),
         tensor(ELEM_U8, 2, (const int64_t[]){2, 900}, 'a'), 0, NULL, 0);
    join(tensor(ELEM_U8, 1, (const int64_t[]){900}, 'a'),
         tensor(ELEM_F64, 1, (const int64_t[]){900}, 'a'), 0, NULL, 0);
    join(tensor(ELEM_F64, 0, NULL, 'a'), tensor(ELEM_F64, 0, NULL, 'a'), 0, NULL, 0);
    join(tensor(ELEM_U4, 1, (const int64_t[]){3}, 'a'),
         tensor(ELEM_U4, 1, (const int64_t[]){3}, 'a'), 0, NULL, 0);
}

/* A tensor whose elements are not whole bytes is copied as a whole, and not cut. */
static void test_half_bytes(void **state)
{
    (void)state;
    struct engine_error err = {""};
    struct engine_value *v = tensor(ELEM_U4, 2, (const int64_t[]){3, 5}, 'a');
    struct engine_value *copy = rows_join(&engine, &v, 1, 1, &err);
    assert_memory_equal(copy->data, "abcdefgh", 8);
    assert_null(rows_cut(&engine, v, 0, (const int64_t[]){0, 1, 3}, &err));
    assert_string_equal(err.line, "rows of type u4, not whole bytes, cannot be cut");
    value_free(&engine, v);
    value_free(&engine, copy);
    assert_int_equal(values, 0);
}

static void test_cut(void **state)
{
    (void)state;
    struct engine_error err = {""};
    struct engine_value *v = tensor(ELEM_U8, 2, (const int64_t[]){2, 6}, 'a');
    struct engine_value *cut = rows_cut(&engine, v, 1, (const int64_t[]){1, 2, 3}, &err);
    assert_int_equal(cut->size[1], 4);
    assert_memory_equal(cut->data, "cdefijkl", 8);
    assert_null(rows_cut(&engine, v, 1, (const int64_t[]){1, 2, 4}, &err));
    assert_string_equal(err.line, "6 rows cannot be cut into 4 equal parts");
    value_free(&engine, v);
    value_free(&engine, cut);
    assert_int_equal(values, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joined), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_half_bytes), cmocka_unit_test(test_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
