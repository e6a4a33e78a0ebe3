/* Tensors of steps: rows along an axis, sums of gradients (step.h).  O(bytes). */
#include "tools/run/step.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"
#include "ir/model/module.h"

#include <math.h>
#include <string.h>

/* A tensor of plain numbers. */
struct view {
    struct engine_shape shape;
    int64_t size[ENGINE_AXES];
    unsigned char *data;
    int64_t elems, bytes;
};

/* Writes type, sizes and address of the tensor v to *to.  Returns 0; or -1 with the reason in *err, if v has no plain
 * numbers. */
static int look(struct engine *e, const struct engine_value *v, struct view *to,
                struct engine_error *err)
{
    *to = (struct view){.bytes = -1};
    if (e->face->value_shape(e, v, &to->shape, to->size) == 0) {
        to->shape.size = to->size;
        to->elems = shape_elems(to->size, (uint32_t)to->shape.rank);
        to->bytes = to->elems < 0 ? -1 : elem_bytes((enum elem)to->shape.elem, to->elems);
        to->data = e->face->value_data(e, (struct engine_value *)v);
    }
    if (to->bytes >= 0 && (to->data || to->bytes == 0))
        return 0;
    snprintf(err->line, sizeof err->line, "it is no tensor of plain numbers");
    return -1;
}

int64_t tensor_bytes(struct engine *e, const struct engine_value *v)
{
    struct view x;
    struct engine_error err;
    return look(e, v, &x, &err) ? 0 : x.bytes;
}

/* Returns the float whose 16 bits are `bits`: a sign, `exponent` bits of exponent, `mantissa` bits of mantissa. */
static double small_float(unsigned bits, int exponent, int mantissa)
{
    int top = (1 << exponent) - 1, e = (int)(bits >> mantissa) & top;
    double m = (double)(bits & ((1U << mantissa) - 1)), sign = bits >> 15 ? -1 : 1;
    if (e == top)
        return m > 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * ldexp(e ? m + (double)(1 << mantissa) : m, (e ? e : 1) - (top >> 1) - mantissa);
}

/* Returns element i of a tensor of floats; NaN, if the tensor has another type. */
static double element_of(const struct view *x, int64_t i)
{
    float f;
    uint16_t bits;
    double d = (double)NAN;
    if (x->shape.elem == ELEM_F64) {
        memcpy(&d, x->data + i * (int64_t)sizeof d, sizeof d);
    } else if (x->shape.elem == ELEM_F32) {
        memcpy(&f, x->data + i * (int64_t)sizeof f, sizeof f);
        d = (double)f;
    } else if (x->shape.elem == ELEM_F16 || x->shape.elem == ELEM_BF16) {
        memcpy(&bits, x->data + i * (int64_t)sizeof bits, sizeof bits);
        d = x->shape.elem == ELEM_F16 ? small_float(bits, 5, 10) : small_float(bits, 8, 7);
    }
    return d;
}

double first_element(struct engine *e, struct engine_value *v)
{
    struct view x;
    struct engine_error err;
    return look(e, v, &x, &err) || x.elems < 1 ? (double)NAN : element_of(&x, 0);
}

void compare_add(struct engine *e, const struct engine_value *one, const struct engine_value *two,
                 struct comparison *c)
{
    struct view x, y;
    struct engine_error err;
    if (look(e, one, &x, &err) || look(e, two, &y, &err) || x.elems != y.elems)
        return;
    for (int64_t i = 0; i < x.elems; i++) {
        double a = element_of(&x, i), b = element_of(&y, i);
        c->both += a * b;
        c->one += a * a;
        c->largest = fmax(c->largest, fabs(a));
        c->off[0] = fmax(c->off[0], fabs(b - a));
        c->off[1] = fmax(c->off[1], fabs(b - 2 * a));
    }
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Splits the sizes of a tensor at an axis: the tensor is *outer stretches of size[axis] * *inner bytes.  Returns the
 * axis; 0 for the stub's tensors, which have one axis, of bytes. */
static uint32_t split_at(const struct view *x, int32_t axis, int64_t *outer, int64_t *inner)
{
    uint32_t at = axis >= 0 && (size_t)axis < x->shape.rank ? (uint32_t)axis : 0;
    *outer = 1;
    for (uint32_t k = 0; k < at; k++)
        *outer *= x->size[k];
    int64_t row = *outer * (x->shape.rank ? x->size[at] : 1);
    *inner = row ? x->bytes / row : 0;
    return at;
}

struct engine_value *rows_cut(struct engine *e, const struct engine_value *v, int32_t axis,
                              const int64_t from_rows_of[3], struct engine_error *err)
{
    struct view x, y;
    int64_t outer, inner, from = from_rows_of[0], rows = from_rows_of[1], of = from_rows_of[2];
    if (look(e, v, &x, err))
        return NULL;
    uint32_t at = split_at(&x, axis, &outer, &inner);
    int64_t all = x.shape.rank ? x.size[at] : 0;
    if (elem_bits((enum elem)x.shape.elem) < 8) {
        snprintf(err->line, sizeof err->line, "rows of type %s, not whole bytes, cannot be cut",
                 elem_name((enum elem)x.shape.elem));
        return NULL;
    }
    if (!x.shape.rank || all % of) {
        snprintf(err->line, sizeof err->line, "%lld rows cannot be cut into %lld equal parts",
                 (long long)all, (long long)of);
        return NULL;
    }
    from *= all / of; /* from and rows counted equal stretches; from here on they count rows */
    rows *= all / of;
    x.size[at] = rows;
    struct engine_value *to = e->face->value_new(e, &x.shape, err);
    if (!to || look(e, to, &y, err)) {
        e->face->value_free(e, to);
        return NULL;
    }
    for (int64_t k = 0; k < outer && rows > 0 && inner > 0; k++)
        memcpy(y.data + k * rows * inner, x.data + (k * all + from) * inner,
               (size_t)(rows * inner));
    return to;
}

/* Returns the number of rows of a tensor along the axis `at`; 1 for a scalar. */
static int64_t rows_of(const struct view *x, uint32_t at)
{
    return x->shape.rank ? x->size[at] : 1;
}

/* Checks that tensor x can stand behind the tensor `first` along the axis `at`: both have that axis, the same type,
 * whose elements are whole bytes, and the same sizes along all other axes.  Returns 0, or -1 with the reason in
 * *err. */
static int check_joins(const struct view *first, const struct view *x, uint32_t at,
                       struct engine_error *err)
{
    bool same = x->shape.rank > 0 && x->shape.elem == first->shape.elem &&
                x->shape.rank == first->shape.rank && elem_bits((enum elem)x->shape.elem) >= 8;
    for (uint32_t k = 0; same && k < x->shape.rank; k++)
        same = k == at || x->size[k] == first->size[k];
    if (same)
        return 0;
    snprintf(err->line, sizeof err->line, "its slices have different types or sizes");
    return -1;
}

/* Copies the n tensors v[] behind each other into each stretch of *to, which joins them along the axis.  Returns 0, or
 * -1 with the reason in *err. */
static int copy_rows(struct engine *e, struct engine_value *const *v, uint32_t n, int32_t axis,
                     const struct view *to, struct engine_error *err)
{
    struct view x;
    int64_t outer, inner, before = 0; /* bytes of the tensors before v[i] in a stretch of *to */
    for (uint32_t i = 0; i < n; i++) {
        if (look(e, v[i], &x, err))
            return -1;
        split_at(&x, axis, &outer, &inner);
        int64_t whole = to->bytes / larger(1, outer), own = x.bytes / larger(1, outer);
        for (int64_t k = 0; k < outer && own > 0; k++)
            memcpy(to->data + k * whole + before, x.data + k * own, (size_t)own);
        before += own;
    }
    return 0;
}

struct engine_value *rows_join(struct engine *e, struct engine_value *const *v, uint32_t n,
                               int32_t axis, struct engine_error *err)
{
    struct view first, x, y;
    int64_t outer, inner, rows = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) { /* counts the rows of all */
        if (look(e, v[i], &x, err))
            return NULL;
        if (i == 0) {
            first = x;
            first.shape.size = first.size; /* points into the copy `first`, not into x */
            axis = n > 1 ? axis : 0;       /* one tensor is copied as a whole */
            at = split_at(&x, axis, &outer, &inner);
        } else if (check_joins(&first, &x, at, err)) {
            return NULL;
        }
        rows = sat_add(rows, rows_of(&x, at));
    }
    first.size[at] = rows;
    struct engine_value *to = e->face->value_new(e, &first.shape, err);
    if (to && look(e, to, &y, err) == 0 && copy_rows(e, v, n, axis, &y, err) == 0)
        return to;
    e->face->value_free(e, to);
    return NULL;
}

/* ---- sums ------------------------------------------------------------------------------------- */

/* Number of elements that are checked, and then added while they are in the cache; the compiler makes vector code of
 * loops over STRETCH elements. */
enum { STRETCH = 2048 };

/* Whether some of x[STRETCH] are not finite. */
static bool are_odd_floats(const float *x)
{
    uint32_t odd = 0, bits;
    for (int i = 0; i < STRETCH; i++) {
        memcpy(&bits, x + i, sizeof bits);
        odd |= (bits & 0x7f800000) == 0x7f800000;
    }
    return odd;
}

/* Whether some of x[STRETCH] are not finite. */
static bool are_odd_doubles(const double *x)
{
    uint64_t odd = 0, bits;
    for (int i = 0; i < STRETCH; i++) {
        memcpy(&bits, x + i, sizeof bits);
        odd |= (bits & 0x7ff0000000000000) == 0x7ff0000000000000;
    }
    return odd;
}

/* Adds x[STRETCH] to a sum of floats. */
static void add_floats(float *restrict sum, const float *restrict x)
{
    for (int i = 0; i < STRETCH; i++)
        sum[i] += x[i];
}

/* Adds x[STRETCH] to a sum of doubles. */
static void add_doubles(double *restrict sum, const double *restrict x)
{
    for (int i = 0; i < STRETCH; i++)
        sum[i] += x[i];
}

/* Adds n bytes of the stub, which stand for numbers, to a sum; first: copies them to the sum. */
static void add_bytes(unsigned char *sum, const unsigned char *x, int64_t n, bool first)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] = (unsigned char)(first ? x[i] : sum[i] + x[i]);
}

/* Adds a stretch x of doubles (wide) or floats to a sum; first: copies x to the sum.  Returns whether an element of x
 * is not finite. */
static bool add_stretch(void *sum, const void *x, bool wide, bool first)
{
    bool odd = wide ? are_odd_doubles(x) : are_odd_floats(x);
    if (first) /* copied, not added to 0, so that -0 stays -0 */
        memcpy(sum, x, STRETCH * (wide ? sizeof(double) : sizeof(float)));
    else if (wide)
        add_doubles(sum, x);
    else
        add_floats(sum, x);
    return odd;
}

/* Adds the elements of x, f32 or f64, to those of `to`; first: copies them there.  Returns the index of the first
 * element of x that is not finite; x->elems if all are finite.  The last elements, fewer than STRETCH, are added in
 * buffers of a whole stretch, whose rest is 0. */
static int64_t add_elements(const struct view *to, const struct view *x, bool first)
{
    bool wide = x->shape.elem == ELEM_F64;
    size_t size = wide ? sizeof(double) : sizeof(float);
    int64_t bad = x->elems, whole = x->elems - x->elems % STRETCH;
    double sum[STRETCH] = {0}, rest[STRETCH] = {0}; /* buffers for the elements from `whole` on */
    for (int64_t at = 0; at < x->elems; at += STRETCH) {
        void *into = to->data + (size_t)at * size;
        const void *of = x->data + (size_t)at * size;
        size_t bytes = (size_t)(x->elems - whole) * size;
        if (at == whole) {
            memcpy(rest, of, bytes);
            memcpy(sum, into, bytes);
        }
        bool odd = add_stretch(at == whole ? sum : into, at == whole ? rest : of, wide, first);
        if (at == whole)
            memcpy(into, sum, bytes);
        for (int64_t i = at; odd && i < x->elems && bad == x->elems; i++)
            bad = isfinite(element_of(x, i)) ? bad : i;
    }
    return bad;
}

int sum_add(struct engine *e, struct engine_value **sum, const struct engine_value *v, bool first,
            struct engine_error *err)
{
    struct view to, x;
    if (look(e, v, &x, err) || (!*sum && !(*sum = e->face->value_new(e, &x.shape, err))) ||
        look(e, *sum, &to, err))
        return -1;
    int64_t bad = x.elems;
    bool floats = x.shape.elem == ELEM_F32 || x.shape.elem == ELEM_F64;
    if (to.bytes != x.bytes || to.shape.elem != x.shape.elem) {
        snprintf(err->line, sizeof err->line, "its size is not that of other micro-batches");
        return -1;
    }
    if (!floats && *e->library) {
        snprintf(err->line, sizeof err->line,
                 "gradients of type %s cannot be added, f32 and f64 can",
                 elem_name((enum elem)x.shape.elem));
        return -1;
    }
    if (floats)
        bad = add_elements(&to, &x, first);
    else
        add_bytes(to.data, x.data, x.bytes, first);
    if (bad == x.elems)
        return 0;
    snprintf(err->line, sizeof err->line, "element %lld is no finite number", (long long)bad);
    return -1;
}

int sum_reduce(struct engine *e, struct engine_value *const *sum, uint32_t n,
               struct engine_error *err)
{
    struct view to, x;
    struct engine_value *all = sum[0];
    for (uint32_t i = 1; i < n; i++)
        if (sum_add(e, &all, sum[i], /*first=*/false, err))
            return -1;
    if (look(e, all, &to, err))
        return -1;
    for (uint32_t i = 1; i < n; i++) {
        if (look(e, sum[i], &x, err))
            return -1;
        if (x.bytes > 0)
            memcpy(x.data, to.data, (size_t)x.bytes);
    }
    return 0;
}

int sum_divide(struct engine *e, struct engine_value *sum, uint32_t n, struct engine_error *err)
{
    struct view x;
    if (look(e, sum, &x, err))
        return -1;
    float f = 1.0F / (float)n, *to = (float *)(void *)x.data;
    double d = 1.0 / (double)n, *dto = (double *)(void *)x.data;
    for (int64_t i = 0; i < x.elems && x.shape.elem == ELEM_F32; i++)
        to[i] *= f;
    for (int64_t i = 0; i < x.elems && x.shape.elem == ELEM_F64; i++)
        dto[i] *= d;
    return 0;
}
