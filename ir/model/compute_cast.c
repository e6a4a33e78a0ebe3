/* Computing operators (compute.h): casts.
 *
 * A number becomes the nearest one of the other type (of floats), itself without its fraction (floats to integers), or
 * whether it is not 0 (bool).  What has no place in the other type, and NaN, stays unknown.  To f16 and bf16
 * runtimes go through f32, so only numbers that f32 knows exactly are followed there.  O(elements). */
#include "ir/model/compute_state.h"

#include <math.h>
#include <string.h>

/* A float of 16 bits. */
struct small {
    int digits, bias; /* digits behind the point; what is added to exponents */
    uint16_t infinity;
};

static const struct small f16 = {10, 15, 0x7c00}, bf16 = {7, 127, 0x7f80};

static const struct small *small_of(enum elem e)
{
    return e == ELEM_F16 ? &f16 : e == ELEM_BF16 ? &bf16 : NULL;
}

/* What 16 bits stand for; NaN: no number. */
static double read_small(const struct small *s, uint16_t bits)
{
    const int exponent = (bits & 0x7fff) >> s->digits, digits = bits & ((1 << s->digits) - 1);
    const double sign = bits >> 15 ? -1 : 1;
    if ((bits & s->infinity) == s->infinity)
        return digits == 0 ? sign * (double)INFINITY : (double)NAN;
    return sign * (exponent == 0 ? ldexp(digits, 1 - s->bias - s->digits)
                                 : ldexp(digits | 1 << s->digits, exponent - s->bias - s->digits));
}

/* The 16 bits that are nearest to x, ties to even; false: there are none, or x is not one of f32. */
static bool round_small(const struct small *s, double x, uint16_t *bits)
{
    const double far = fabs(x), least = ldexp(1, 1 - s->bias);
    *bits = signbit(x) ? 0x8000 : 0;
    if (isinf(x)) {
        *bits |= s->infinity;
        return true;
    }
    if (far >= 0x1p128 || (double)(float)x != x)
        return false;
    const int exponent = far < least ? 1 - s->bias : ilogb(far);
    const int64_t digits =
        (int64_t)nearbyint(ldexp(far, s->digits - exponent)); /* in 0..2^(digits + 1) */
    const int64_t whole = ((int64_t)(exponent + s->bias - 1) << s->digits) + digits;
    *bits |= (uint16_t)whole;
    return whole < s->infinity;
}

bool get_any(const struct known *k, int64_t i, enum form *f, union number *x)
{
    const struct small *s = small_of(k->elem);
    uint16_t bits;
    *f = s != NULL ? FORM_FLOAT : form_of(k->elem);
    if (s == NULL)
        return get_number(k, i, x);
    memcpy(&bits, k->data + 2 * i, sizeof bits);
    x->d = read_small(s, bits);
    return is_known(k, i) && !isnan(x->d);
}

/* The number as a float; to f32 by one rounding, to 16 bits only where that one changes nothing. */
static double to_float(enum form f, union number x, enum elem to)
{
    if (f == FORM_FLOAT)
        return x.d;
    if (to == ELEM_F64)
        return f == FORM_SIGNED ? (double)x.i : (double)x.u;
    const float r = f == FORM_SIGNED ? (float)x.i : (float)x.u;
    const bool large = f == FORM_SIGNED ? x.i > 1 << 24 || x.i < -(1 << 24) : x.u > 1 << 24;
    return large && to != ELEM_F32 ? (double)NAN : (double)r;
}

/* Converts x, of form f, to the integer form `to`; false: the value does not fit. */
static bool to_integer(enum form f, union number x, enum form to, union number *r)
{
    *r = x;
    if (f == FORM_FLOAT) {
        const double whole = trunc(x.d);
        if (to == FORM_SIGNED ? !(whole >= -0x1p63 && whole < 0x1p63)
                              : !(whole >= 0 && whole < 0x1p64))
            return false;
        if (to == FORM_SIGNED)
            r->i = (int64_t)whole;
        else
            r->u = (uint64_t)whole;
        return true;
    }
    return (f == FORM_SIGNED) == (to == FORM_SIGNED) || x.i >= 0;
}

static void cast_one(struct computation *c, const struct known *k, struct known *r, int64_t i)
{
    const struct small *s = small_of(r->elem);
    const enum form to = form_of(r->elem);
    union number x = {0}, made = {0};
    enum form f;
    uint16_t bits = 0;
    bool good = get_any(k, i, &f, &x);
    if (s != NULL) {
        double d = good ? to_float(f, x, r->elem) : (double)NAN;
        good = good && !isnan(d) && round_small(s, d, &bits);
        put_bits(c, r, i, good, bits);
        return;
    }
    if (good && to == FORM_BOOL)
        made.u = f == FORM_FLOAT ? x.d != 0 : x.u != 0;
    else if (good && to == FORM_FLOAT)
        made.d = to_float(f, x, r->elem);
    else
        good = good && to_integer(f, x, to, &made);
    put_number(c, r, i, good, made);
}

bool compute_cast(struct computation *c, int arg)
{
    const struct known *x = take_elements(c, 0), *like = c->nin > 1 ? compute_take(c, 1) : NULL;
    (void)arg;
    if (x == NULL || c->failed)
        return false;
    const int64_t to = like != NULL ? (int64_t)like->elem : take_int(c, "to", 0);
    if (to == (int64_t)x->elem)
        return make_reshaped(c, x, x->rank, x->dim);
    if (to <= 0 || to >= ELEM_COUNT ||
        (form_of((enum elem)to) == FORM_NONE && small_of((enum elem)to) == NULL) ||
        (form_of(x->elem) == FORM_NONE && small_of(x->elem) == NULL))
        return false;
    struct known *r = compute_make(c, 0, (enum elem)to, x->rank, x->dim);
    for (int64_t i = 0; r != NULL && i < r->n; i++)
        cast_one(c, x, r, i);
    return r != NULL;
}
