/* Compares values (same.h).  Tensors are equal if types, shapes and bytes are: NaNs with their bits, and 0 is not -0.
 * For the figures of a difference floats are compared as doubles, complex ones by their halves, integers as integers.
 * Elements of sequences and maps are compared one after the other, up to the first that differs.  O(bytes). */
#include "tools/run/same.h"

#include "ir/base/numbers.h"
#include "ir/model/module.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the float of 16 bits with these bits. */
static double of_half(uint16_t bits)
{
    int e = bits >> 10 & 31, f = bits & 1023;
    double v;
    if (e == 31)
        v = f ? (double)NAN : (double)INFINITY;
    else if (e == 0) /* a number without the leading 1 */
        v = ldexp(f, -24);
    else
        v = ldexp(1024 + f, e - 25);
    return bits >> 15 ? -v : v;
}

/* Whether number_at() knows how to read elements of a type. */
static bool is_number(enum elem elem)
{
    return elem == ELEM_F32 || elem == ELEM_F64 || elem == ELEM_F16 || elem == ELEM_BF16 ||
           elem == ELEM_C64 || elem == ELEM_C128 || (elem_is_integer(elem) && elem_bits(elem) >= 8);
}

/* Whether a type is one of signed integers. */
static bool is_signed(enum elem elem)
{
    return elem == ELEM_I8 || elem == ELEM_I16 || elem == ELEM_I32 || elem == ELEM_I64;
}

/* Returns element i of a tensor of integers; of a signed type, the bits of its value as an int64_t. */
static uint64_t integer_at(const unsigned char *data, enum elem elem, int64_t i)
{
    size_t bytes = elem_bits(elem) / 8;
    uint64_t v = 0, top = UINT64_C(1) << (8 * bytes - 1);
    memcpy(&v, data + (int64_t)bytes * i, bytes); /* little endian */
    return is_signed(elem) && v & top ? v | ~(top | (top - 1)) : v;
}

/* Returns element i of a tensor as a double; i counts each complex number as two elements. */
static double number_at(const unsigned char *data, enum elem elem, int64_t i)
{
    float f;
    double d;
    uint16_t half;
    uint32_t word;
    switch (elem) {
    case ELEM_F32:
    case ELEM_C64:
        memcpy(&f, data + 4 * i, sizeof f);
        return (double)f;
    case ELEM_F64:
    case ELEM_C128:
        memcpy(&d, data + 8 * i, sizeof d);
        return d;
    case ELEM_F16:
        memcpy(&half, data + 2 * i, sizeof half);
        return of_half(half);
    case ELEM_BF16:
        memcpy(&half, data + 2 * i, sizeof half);
        word = (uint32_t)half << 16;
        memcpy(&f, &word, sizeof f);
        return (double)f;
    default:
        return is_signed(elem) ? (double)(int64_t)integer_at(data, elem, i)
                               : (double)integer_at(data, elem, i);
    }
}

/* Returns the distance of elements i of two tensors; of integers it is computed exactly, then rounded to a double. */
static double apart(const unsigned char *a, const unsigned char *b, enum elem elem, int64_t i)
{
    if (!elem_is_integer(elem))
        return fabs(number_at(a, elem, i) - number_at(b, elem, i));
    uint64_t x = integer_at(a, elem, i), y = integer_at(b, elem, i);
    bool less = is_signed(elem) ? (int64_t)x < (int64_t)y : x < y;
    return (double)(less ? y - x : x - y);
}

/* Returns type and sizes as text, "f32[1,16]", in to[n]. */
static const char *tensor_text(char *to, size_t n, const struct engine_shape *s)
{
    size_t at = (size_t)snprintf(to, n, "%s[", elem_name((enum elem)s->elem));
    for (size_t k = 0; k < s->rank && at < n; k++)
        at += (size_t)snprintf(to + at, n - at, "%s%" PRId64, k ? "," : "", s->size[k]);
    if (at < n)
        snprintf(to + at, n - at, "]");
    return to;
}

/* Compares n elements of two tensors, whose bytes differ: sets the figures of *out, but not `bits`, and its text, with
 * the number of unequal elements.  NaNs are equal to each other here, whatever their bits. */
static void count_unequal(const unsigned char *a, const unsigned char *b, enum elem elem, int64_t n,
                          struct difference *out)
{
    int64_t unequal = 0;
    bool odd = false; /* an infinity or NaN where the other tensor has something else */
    int64_t halves = elem == ELEM_C64 || elem == ELEM_C128 ? 2 : 1;
    for (int64_t i = 0; i < n * halves; i++) {
        double x = number_at(a, elem, i), y = number_at(b, elem, i);
        bool finite = isfinite(x) && isfinite(y);
        double by = apart(a, b, elem, i);
        bool same = finite ? by == 0 : x == y || (isnan(x) && isnan(y));
        unequal += !same;
        if (finite && by > out->worst)
            out->worst = by;
        if (finite && fabs(x) > out->largest)
            out->largest = fabs(x);
        odd |= !finite && !same;
    }
    out->floats = !odd && !elem_is_integer(elem);
    if (out->worst > 0)
        out->share = out->largest > 0 ? out->worst / out->largest : (double)INFINITY;
    out->near = !odd && out->worst <= SAME_TOLERANCE * out->largest;
    if (unequal == 0)
        snprintf(out->text, sizeof out->text,
                 "equal numbers with other bits, such as 0 and -0, or other NaNs");
    else
        snprintf(out->text, sizeof out->text,
                 "%" PRId64 " of %" PRId64 " elements differ, by at most %.3g of %.3g%s", unequal,
                 n * halves, out->worst, out->largest, odd ? "; infinities or NaNs differ" : "");
}

/* Compares two tensors of plain numbers: types and sizes, then bytes, then elements.  Writes *out.  Returns false if
 * one of the values is no such tensor. */
static bool compare_numbers(struct engine *e, struct engine_value *a, struct engine_value *b,
                            struct difference *out)
{
    int64_t size[2][ENGINE_AXES];
    char text[2][80];
    struct engine_shape s[2];
    if (e->face->value_shape(e, a, &s[0], size[0]) || e->face->value_shape(e, b, &s[1], size[1]))
        return false;
    if (s[0].elem != s[1].elem || s[0].rank != s[1].rank ||
        memcmp(size[0], size[1], s[0].rank * sizeof size[0][0]) != 0) {
        snprintf(out->text, sizeof out->text, "%s instead of %s",
                 tensor_text(text[1], sizeof text[1], &s[1]),
                 tensor_text(text[0], sizeof text[0], &s[0]));
        return true;
    }
    enum elem elem = (enum elem)s[0].elem;
    int64_t n = shape_elems(size[0], (uint32_t)s[0].rank), bytes = n < 0 ? -1 : elem_bytes(elem, n);
    const unsigned char *x = bytes > 0 ? e->face->value_data(e, a) : NULL;
    const unsigned char *y = bytes > 0 ? e->face->value_data(e, b) : NULL;
    if (bytes == 0 || (x && y && !memcmp(x, y, (size_t)bytes)))
        out->bits = out->near = true;
    else if (!x || !y)
        snprintf(out->text, sizeof out->text, "its data cannot be reached");
    else if (is_number(elem))
        count_unequal(x, y, elem, n, out);
    else
        snprintf(out->text, sizeof out->text, "elements of type %s differ", elem_name(elem));
    return true;
}

/* Compares two tensors of strings.  Writes *out.  Returns false if one of the values is no such tensor. */
static bool compare_texts(struct engine *e, struct engine_value *a, struct engine_value *b,
                          struct difference *out)
{
    size_t n[2] = {0};
    unsigned char *x = e->face->value_texts(e, a, NULL, &n[0]);
    unsigned char *y = x ? e->face->value_texts(e, b, NULL, &n[1]) : NULL;
    bool both = x && y;
    if (both && n[0] == n[1] && !memcmp(x, y, n[0]))
        out->bits = out->near = true;
    else if (both)
        snprintf(out->text, sizeof out->text, "strings differ");
    free(x);
    free(y);
    return both;
}

/* most depth of values within values; a sequence of maps has tensors at depth 2 */
enum { DEPTH = 3 };

static void compare_at(struct engine *e, struct engine_value *a, struct engine_value *b, int depth,
                       struct difference *out);

/* Compares element i of two sequences or maps, pair[], and adds the result to *out: `bits`, `near` and `floats` stay
 * true only if they are true of all elements so far; the figures are the largest so far; the text is the first one. */
static void compare_item(struct engine *e, struct engine_value *const pair[2], size_t i, int depth,
                         struct difference *out)
{
    struct difference one = {0};
    struct engine_value *a = e->face->value_item(e, pair[0], i);
    struct engine_value *b = a ? e->face->value_item(e, pair[1], i) : NULL;
    if (b)
        compare_at(e, a, b, depth, &one);
    else
        snprintf(one.text, sizeof one.text, "element %zu cannot be reached", i);
    out->bits &= one.bits;
    out->near &= one.near;
    out->floats &= one.bits || one.floats;
    out->share = one.share > out->share ? one.share : out->share;
    out->worst = one.worst > out->worst ? one.worst : out->worst;
    out->largest = one.largest > out->largest ? one.largest : out->largest;
    if (!*out->text)
        memcpy(out->text, one.text, sizeof out->text);
    e->face->value_free(e, a);
    e->face->value_free(e, b);
}

/* Compares two values, which lie in `depth` sequences or maps, and writes *out, which was zero. */
static void compare_at(struct engine *e, struct engine_value *a, struct engine_value *b, int depth,
                       struct difference *out)
{
    size_t n[2];
    if (compare_numbers(e, a, b, out) || compare_texts(e, a, b, out))
        return;
    if (depth == DEPTH || e->face->value_count(e, a, &n[0], NULL) ||
        e->face->value_count(e, b, &n[1], NULL)) {
        snprintf(out->text, sizeof out->text, "values of different kinds, or of an unknown one");
    } else if (n[0] != n[1]) {
        snprintf(out->text, sizeof out->text, "%zu elements instead of %zu", n[1], n[0]);
    } else {
        out->bits = out->near = out->floats = true;
        for (size_t i = 0; i < n[0]; i++)
            compare_item(e, (struct engine_value *const[]){a, b}, i, depth + 1, out);
    }
}

void same_compare(struct engine *e, struct engine_value *reference, struct engine_value *found,
                  struct difference *out)
{
    *out = (struct difference){0};
    if (reference && found)
        compare_at(e, reference, found, 0, out);
    else if (reference || found)
        snprintf(out->text, sizeof out->text, "only one of them is there");
    else
        out->bits = out->near = true;
}
