/* Two values are equal bit by bit, or within rounding, or it is said how they differ: all types, infinities and NaNs,
 * shapes, lists in lists.  The engine here has values that are only a type, sizes and bytes, or a list of others. */
#include "tools/run/same.h"

#include "ir/model/module.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct engine_value {
    int elem;
    int64_t size;
    const void *data;
    struct engine_value *item; /* [nitem] of a list; NULL: a tensor */
    size_t nitem;
};

static int shape(struct engine *e, const struct engine_value *v, struct engine_shape *s,
                 int64_t *size)
{
    (void)e;
    size[0] = v->size;
    *s = (struct engine_shape){v->elem, 1, size};
    return v->item ? -1 : 0;
}

static void *data(struct engine *e, struct engine_value *v)
{
    (void)e;
    return (void *)v->data;
}

static unsigned char *texts(struct engine *e, const struct engine_value *v, size_t *rank, size_t *n)
{
    assert_null(rank);
    (void)e, (void)v, (void)n;
    return NULL;
}

static int count(struct engine *e, const struct engine_value *v, size_t *n, bool *map)
{
    (void)e;
    *n = v->nitem;
    if (map)
        *map = false;
    return v->item ? 0 : -1;
}

static struct engine_value *item(struct engine *e, const struct engine_value *v, size_t i)
{
    (void)e;
    return &v->item[i];
}

static void free_value(struct engine *e, struct engine_value *v)
{
    (void)e, (void)v;
}

static const struct engine_face face = {.value_shape = shape,
                                        .value_data = data,
                                        .value_texts = texts,
                                        .value_count = count,
                                        .value_item = item,
                                        .value_free = free_value};

/* Compares two tensors of n elements. */
static struct difference compared(enum elem elem, int64_t n, const void *a, const void *b)
{
    struct engine e = {&face, "", ""};
    struct engine_value x = {(int)elem, n, a, NULL, 0}, y = {(int)elem, n, b, NULL, 0};
    struct difference d;
    same_compare(&e, &x, &y, &d);
    return d;
}

static void test_floats(void **state)
{
    (void)state;
    const float a[] = {1, -100, NAN, INFINITY}, b[] = {1.5F, -100, NAN, INFINITY};
    struct difference d = compared(ELEM_F32, 4, a, b);
    assert_true(!d.bits && d.near && d.worst == 0.5 && d.largest == 100);
    assert_string_equal(d.text, "1 of 4 elements differ, by at most 0.5 of 100");
    d = compared(ELEM_F32, 4, a, a);
    assert_true(d.bits && d.near && !*d.text);
    d = compared(ELEM_F32, 2, a, (const float[]){2.5F, -100});
    assert_true(!d.near && d.worst == 1.5);
    for (int k = 0; k < 3; k++) { /* an infinity or a NaN is near to nothing else */
        const float odd[] = {-INFINITY, NAN, 3};
        d = compared(ELEM_F32, 1, (const float[]){INFINITY}, &odd[k]);
        assert_true(!d.bits && !d.near && strstr(d.text, "infinities or NaNs differ"));
    }
    d = compared(ELEM_F32, 1, (const float[]){0}, (const float[]){-0.0F});
    assert_true(!d.bits && d.near && strstr(d.text, "equal numbers with other bits"));
    const uint32_t nan[] = {0x7fc00000, 0x7fc00001};
    d = compared(ELEM_F32, 1, &nan[0], &nan[1]);
    assert_true(!d.bits && d.near && strstr(d.text, "other NaNs"));
    assert_true(compared(ELEM_F32, 0, a, b).bits);
}

/* Two elements of each type that are `worst` apart, the larger one, the first, being `largest`. */
static void test_types(void **state)
{
    (void)state;
    static const struct {
        enum elem elem;
        uint64_t a, b;
        double worst, largest;
    } rows[] = {
        {ELEM_F16, 0x4900, 0xc500, 15, 10},
        {ELEM_F16, 1, 0, 1.0 / (1 << 24), 1.0 / (1 << 24)},
        {ELEM_BF16, 0x4120, 0xc0a0, 15, 10},
        {ELEM_I8, 0x80, 0x7f, 255, 128},
        {ELEM_U8, 0x80, 0x7f, 1, 128},
        {ELEM_I16, 0xfffe, 1, 3, 2},
        {ELEM_U16, 0xfffe, 1, 65533, 65534},
        {ELEM_I32, 0xfffffffe, 1, 3, 2},
        {ELEM_U32, 0xfffffffe, 0xfffffffd, 1, 0xfffffffe},
        {ELEM_I64, ~UINT64_C(1), 1, 3, 2},
        {ELEM_U64, 1024, 1, 1023, 1024},
        {ELEM_BOOL, 1, 0, 1, 1},
        {ELEM_F64, 0x4024000000000000, 0xc014000000000000, 15, 10},
        {ELEM_C64, 0x4120000000000000, 0xc0a0000000000000, 15, 10},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct difference d = compared(rows[k].elem, 1, &rows[k].a, &rows[k].b);
        assert_true(!d.bits && d.near == (rows[k].worst <= 0.01 * rows[k].largest));
        assert_true(d.worst == rows[k].worst && d.largest == rows[k].largest);
        assert_true(compared(rows[k].elem, 1, &rows[k].b, &rows[k].b).bits);
    }
    for (int k = 0; k < 2; k++) { /* further apart than doubles can tell, and in between */
        const uint64_t x = UINT64_C(1) << (62 + k), y = x + (k ? 1 : 100);
        struct difference d = compared(k ? ELEM_U64 : ELEM_I64, 1, &x, &y);
        assert_true(!d.bits && d.near && d.worst == (k ? 1 : 100));
        assert_true(strstr(d.text, "1 of 1 elements differ"));
    }
    const int64_t least[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX};
    assert_true(compared(ELEM_I64, 1, &least[1], &least[0]).worst == 1);
    assert_true(compared(ELEM_I64, 1, &least[0], &least[2]).worst == 0x1p64);
    struct difference d = compared(ELEM_F8E5M2, 1, &rows[0].a, &rows[3].a);
    assert_true(!d.bits && !d.near && strstr(d.text, "elements of type f8e5m2 differ"));
}

static void test_kinds(void **state)
{
    (void)state;
    static const float one[] = {1, 2}, two[] = {1, 2.01F};
    struct engine e = {&face, "", ""};
    struct engine_value a = {ELEM_F32, 2, one, NULL, 0}, b = {ELEM_F32, 2, two, NULL, 0};
    struct engine_value wide = {ELEM_F32, 1, one, NULL, 0}, other = {ELEM_I32, 2, one, NULL, 0};
    struct engine_value inner[2][2] = {{a, a}, {a, b}};
    struct engine_value map[] = {{0, 0, NULL, inner[0], 2}, {0, 0, NULL, inner[1], 2}};
    struct engine_value list[] = {
        {0, 0, NULL, map, 1}, {0, 0, NULL, map + 1, 1}, {0, 0, NULL, map, 2}};
    const struct {
        struct engine_value *x, *y;
        bool bits, near;
        const char *text;
    } rows[] = {
        {&a, &wide, false, false, "f32[1] instead of f32[2]"},
        {&a, &other, false, false, "i32[2] instead of f32[2]"},
        {&a, &list[0], false, false, "values of different kinds"},
        {&list[0], &list[0], true, true, ""},
        {&list[0], &list[1], false, true, "1 of 2 elements differ"},
        {&list[0], &list[2], false, false, "2 elements instead of 1"},
        {&a, NULL, false, false, "only one of them is there"},
        {NULL, NULL, true, true, ""},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct difference d;
        same_compare(&e, rows[k].x, rows[k].y, &d);
        assert_true(d.bits == rows[k].bits && d.near == rows[k].near);
        assert_true(*rows[k].text ? strstr(d.text, rows[k].text) != NULL : !*d.text);
    }
}

/* A tolerance is that of floats: each tensor of a list is measured by its own largest value, and all else is equal. */
static void test_share(void **state)
{
    (void)state;
    static const float big[] = {1000, 0}, small[] = {0, 4}, off[] = {1, 4};
    static const int32_t one[] = {100, 2}, two[] = {101, 2};
    struct engine e = {&face, "", ""};
    struct engine_value x[] = {
        {ELEM_F32, 2, big, NULL, 0}, {ELEM_F32, 2, small, NULL, 0}, {ELEM_I32, 2, one, NULL, 0}};
    struct engine_value y[] = {x[0], {ELEM_F32, 2, off, NULL, 0}, {ELEM_I32, 2, two, NULL, 0}};
    struct engine_value floats[] = {{0, 0, NULL, x, 2}, {0, 0, NULL, y, 2}};
    struct engine_value mixed[] = {{0, 0, NULL, x, 3}, {0, 0, NULL, y, 3}};
    struct difference d;
    same_compare(&e, &floats[0], &floats[1], &d);
    assert_true(d.floats && !d.bits && d.share == 0.25);
    same_compare(&e, &mixed[0], &mixed[1], &d);
    assert_false(d.floats);
    same_compare(&e, &x[2], &y[2], &d);
    assert_false(d.floats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_floats), cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_kinds), cmocka_unit_test(test_share)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
