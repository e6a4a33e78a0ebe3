/* rank_pack(), rank_unpack(): values of strings, sequences and maps come back as they were.  Other bytes make no value,
 * and no tensor that has more elements than there are bytes. */
#include "ir/base/random.h"
#include "ir/model/module.h"
#include "tools/run/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORD = sizeof(int64_t), ROOM = 1024, HOSTILE_TRIES = 20000 };

/* ---- an engine whose values are trees --------------------------------------------------------- */

struct engine_value {
    struct engine_shape shape;
    int64_t size[ENGINE_AXES], n; /* of a tensor: its elements; of others -1 */
    unsigned char *data;          /* of a tensor of numbers */
    char **text;                  /* [n] of a tensor of strings */
    struct engine_value **item;   /* [nitem] of a sequence or map; they are copies */
    size_t nitem;
    bool map;
};

static int64_t values, most; /* that are there; elements of the largest tensor that was asked for */

static void value_free(struct engine *e, struct engine_value *v)
{
    for (int64_t i = 0; v && v->text && i < v->n; i++)
        free(v->text[i]);
    for (size_t i = 0; v && i < v->nitem; i++)
        value_free(e, v->item[i]);
    if (!v)
        return;
    values--;
    free(v->text);
    free(v->item);
    free(v->data);
    free(v);
}

static struct engine_value *value_new(struct engine *e, const struct engine_shape *s,
                                      struct engine_error *err)
{
    (void)e, (void)err;
    struct engine_value *v = calloc(1, sizeof *v);
    memcpy(v->size, s->size, s->rank * sizeof *v->size);
    v->shape = *s;
    v->shape.size = v->size;
    v->n = shape_elems(s->size, (uint32_t)s->rank);
    most = v->n > most ? v->n : most;
    assert_in_range(v->n, 0, ROOM);
    if (s->elem == ELEM_STR)
        v->text = calloc((size_t)v->n + 1, sizeof *v->text);
    else
        v->data = calloc(1, (size_t)elem_bytes((enum elem)s->elem, v->n) + 1);
    values++;
    return v;
}

static int value_shape(struct engine *e, const struct engine_value *v, struct engine_shape *s,
                       int64_t *size)
{
    (void)e;
    if (!v->data)
        return -1;
    memcpy(size, v->size, sizeof v->size);
    *s = v->shape;
    s->size = size;
    return 0;
}

static void *value_data(struct engine *e, struct engine_value *v)
{
    (void)e;
    return v->data;
}

static int value_strings(struct engine *e, struct engine_value *v, const char *const *text,
                         size_t n, struct engine_error *err)
{
    (void)e, (void)err;
    assert_int_equal(v->n, n);
    for (size_t i = 0; i < n; i++)
        v->text[i] = strdup(text[i]);
    return 0;
}

static unsigned char *value_texts(struct engine *e, const struct engine_value *v, size_t *rank,
                                  size_t *n)
{
    (void)e;
    if (!v->text)
        return NULL;
    size_t head = v->shape.rank * WORD + (size_t)v->n * sizeof(size_t), at = 0;
    unsigned char *all = calloc(1, head + ROOM);
    memcpy(all, v->size, v->shape.rank * WORD);
    for (int64_t i = 0; i < v->n; i++) {
        memcpy(all + v->shape.rank * WORD + (size_t)i * sizeof at, &at, sizeof at);
        memcpy(all + head + at, v->text[i], strlen(v->text[i]));
        at += strlen(v->text[i]);
    }
    *rank = v->shape.rank;
    *n = head + at;
    return all;
}

static int value_count(struct engine *e, const struct engine_value *v, size_t *n, bool *map)
{
    (void)e;
    *n = v->nitem;
    *map = v->map;
    return v->item ? 0 : -1;
}

static struct engine_value *copy(const struct engine_value *v);

static struct engine_value *value_item(struct engine *e, const struct engine_value *v, size_t i)
{
    (void)e;
    return copy(v->item[i]);
}

static struct engine_value *value_join(struct engine *e, struct engine_value *const *item, size_t n,
                                       bool map, struct engine_error *err)
{
    (void)e, (void)err;
    struct engine_value *v = calloc(1, sizeof *v);
    *v = (struct engine_value){
        .n = -1, .item = calloc(n + 1, sizeof(void *)), .nitem = n, .map = map};
    for (size_t i = 0; i < n; i++)
        v->item[i] = copy(item[i]);
    values++;
    return v;
}

static const struct engine_face face = {.value_new = value_new,
                                        .value_shape = value_shape,
                                        .value_data = value_data,
                                        .value_strings = value_strings,
                                        .value_texts = value_texts,
                                        .value_count = value_count,
                                        .value_item = value_item,
                                        .value_join = value_join,
                                        .value_free = value_free};
static struct engine engine = {.face = &face, .library = "fake"};

static struct engine_value *copy(const struct engine_value *v)
{
    if (v->item)
        return value_join(&engine, v->item, v->nitem, v->map, NULL);
    struct engine_value *to = value_new(&engine, &v->shape, NULL);
    if (v->text)
        value_strings(&engine, to, (const char *const *)v->text, (size_t)v->n, NULL);
    else
        memcpy(to->data, v->data, (size_t)elem_bytes((enum elem)v->shape.elem, v->n));
    return to;
}

int64_t value_bytes(struct engine *e, const struct engine_value *v) /* as run_values.c has it */
{
    (void)e;
    return elem_bytes((enum elem)v->shape.elem, v->n);
}

/* ---- tests ------------------------------------------------------------------------------------ */

/* Returns a sequence of a map from strings to numbers, a tensor of strings without any, and a sequence of nothing. */
static struct engine_value *sample(void)
{
    const int64_t three[] = {3}, none[] = {2, 0};
    static const char *const text[] = {"a", "", "longer than a word"};
    struct engine_value *key = value_new(&engine, &(struct engine_shape){ELEM_STR, 1, three}, NULL);
    struct engine_value *number =
        value_new(&engine, &(struct engine_shape){ELEM_F32, 1, three}, NULL);
    value_strings(&engine, key, text, 3, NULL);
    memcpy(number->data, "0123456789a", 12);
    struct engine_value *const both[] = {key, number};
    struct engine_value *item[] = {
        value_join(&engine, both, 2, true, NULL),
        value_new(&engine, &(struct engine_shape){ELEM_STR, 2, none}, NULL),
        value_join(&engine, NULL, 0, false, NULL)};
    struct engine_value *all = value_join(&engine, item, 3, false, NULL);
    for (int i = 0; i < 3; i++)
        value_free(&engine, item[i]);
    value_free(&engine, key);
    value_free(&engine, number);
    return all;
}

/* Reads n bytes, which lie alone, so that no byte behind them is read without being seen.  Returns whether they are
 * a value's, whose bytes are then the same again. */
static bool reads(const unsigned char *bytes, size_t n)
{
    struct engine_error err = {""};
    unsigned char *alone = malloc(n + !n);
    int64_t again = 0;
    memcpy(alone, bytes, n);
    struct engine_value *v = rank_unpack(&engine, alone, (int64_t)n, &err);
    unsigned char *packed = v ? rank_pack(&engine, v, &again) : NULL;
    assert_true(v ? packed && again == (int64_t)n : *err.line != 0);
    value_free(&engine, v);
    free(packed);
    free(alone);
    assert_int_equal(values, 0);
    return v;
}

static void test_there_and_back(void **state)
{
    (void)state;
    struct engine_value *v = sample();
    int64_t n = 0, again = 0;
    struct engine_error err;
    unsigned char *packed = rank_pack(&engine, v, &n);
    struct engine_value *other = rank_unpack(&engine, packed, n, &err);
    assert_non_null(other);
    unsigned char *twice = rank_pack(&engine, other, &again);
    assert_int_equal(again, n);
    assert_memory_equal(twice, packed, (size_t)n);
    assert_string_equal(other->item[0]->item[0]->text[2], "longer than a word");
    value_free(&engine, v);
    value_free(&engine, other);
    for (size_t k = 0; k < (size_t)n; k++) /* cut short */
        assert_false(reads(packed, k));
    free(packed);
    free(twice);
}

/* Negative sizes, sizes beyond the bytes of the message, and large sizes of types without bytes. */
static void test_hostile(void **state)
{
    (void)state;
    static const int64_t odd[] = {
        -1, 0, 1, 2, 3, 4, 8, 65, INT64_MAX, INT64_MIN, 1LL << 40, 1LL << 33, 0x100000001LL};
    static const int64_t strings[] = {1, ELEM_STR, 1, 1LL << 40, 0},
                         nothing[] = {1, 0, 1, 1LL << 40, 0};
    struct engine_value *v = sample();
    int64_t n = 0;
    uint64_t seed = 5;
    unsigned char *packed = rank_pack(&engine, v, &n), *bad = malloc((size_t)n);
    value_free(&engine, v);
    assert_false(reads((const unsigned char *)strings, sizeof strings));
    assert_false(reads((const unsigned char *)nothing, sizeof nothing));
    for (int64_t at = 0; at < n / WORD; at++)
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
            memcpy(bad, packed, (size_t)n);
            memcpy(bad + at * WORD, &odd[i], WORD);
            reads(bad, (size_t)n);
        }
    for (int i = 0; i < HOSTILE_TRIES; i++) { /* several words at once */
        memcpy(bad, packed, (size_t)n);
        for (uint64_t k = 1 + random_bits(&seed) % 4; k-- > 0;) {
            uint64_t at = random_bits(&seed) % (uint64_t)(n / WORD);
            memcpy(bad + at * WORD, &odd[random_bits(&seed) % (sizeof odd / sizeof *odd)], WORD);
        }
        reads(bad, (size_t)n);
    }
    assert_in_range(most, 1, n);
    free(packed);
    free(bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back),
                                       cmocka_unit_test(test_hostile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
