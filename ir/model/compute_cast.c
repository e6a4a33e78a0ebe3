/* Computes the operators Cast and CastLike (compute.h).
 *
 * A number becomes the nearest number of a float type, its integer part in an integer type, and "is not 0" as a bool.
 * An element stays unknown if it is NaN or its value does not fit the other type.  Runtimes convert to f16 and bf16
 * through f32, which may round twice; numbers that f32 does not represent exactly stay unknown there.  O(elements). */
#include "ir/model/compute_state.h"

#include <math.h>
#include <string.h>

/* A float format of 16 bits. */
struct float16 {
    int digits, bias;  /* bits of the fraction; bias of the exponent */
    uint16_t infinity; /* bits of +infinity, which are also the mask of the exponent */
};

/* f16: IEEE half precision; bf16: the upper half of an f32. */
static const struct float16 f16 = {10, 15, 0x7c00}, bf16 = {7, 127, 0x7f80};

/* Returns the format of the 16-bit float type e; NULL: e is neither f16 nor bf16. */
static const struct float16 *float16_of(enum elem e)
{
    return e == ELEM_F16 ? &f16 : e == ELEM_BF16 ? &bf16 : NULL;
}

/* Returns the value of a 16-bit float given by its bits; may be infinite or NaN. */
static double float16_value(const struct float16 *s, uint16_t bits)
{
    const int exponent = (bits & 0x7fff) >> s->digits, digits = bits & ((1 << s->digits) - 1);
    const double sign = bits >> 15 ? -1 : 1;
    if ((bits & s->infinity) == s->infinity)
        return digits == 0 ? sign * (double)INFINITY : (double)NAN;
    return sign * (exponent == 0 ? ldexp(digits, 1 - s->bias - s->digits)
                                 : ldexp(digits | 1 << s->digits, exponent - s->bias - s->digits));
}

/* Writes to *bits the 16-bit float nearest to x, ties to even; infinity stays infinity.  Returns false if x is finite
 * but too large, NaN, or not exactly representable in f32. */
static bool round_to_float16(const struct float16 *s, double x, uint16_t *bits)
{
    const double size = fabs(x), least = ldexp(1, 1 - s->bias); /* least: smallest normal number */
    *bits = signbit(x) ? 0x8000 : 0;
    if (isinf(x)) {
        *bits |= s->infinity;
        return true;
    }
    if (size >= 0x1p128 || (double)(float)x != x)
        return false;
    const int exponent = size < least ? 1 - s->bias : ilogb(size);
    /* significand as an integer, from 0 to 2^(s->digits + 1); its carry goes into the exponent below */
    const int64_t digits = (int64_t)nearbyint(ldexp(size, s->digits - exponent));
    const int64_t whole = ((int64_t)(exponent + s->bias - 1) << s->digits) + digits;
    *bits |= (uint16_t)whole;
    return whole < s->infinity;
}

bool get_any(const struct known *k, int64_t i, enum form *f, union number *x)
{
    const struct float16 *s = float16_of(k->elem);
    uint16_t bits;
    *f = s != NULL ? FORM_FLOAT : form_of(k->elem);
    if (s == NULL)
        return get_number(k, i, x);
    memcpy(&bits, k->data + 2 * i, sizeof bits);
    x->d = float16_value(s, bits);
    return is_known(k, i) && !isnan(x->d);
}

/* Returns number x of form f as a double for element type `to`.  Integers are rounded once, to f64 or f32.  NaN: `to`
 * has 16 bits and the integer is so large that rounding it to f32 first may change it. */
static double to_float(enum form f, union number x, enum elem to)
{
    if (f == FORM_FLOAT)
        return x.d;
    if (to == ELEM_F64)
        return f == FORM_SIGNED ? (double)x.i : (double)x.u;
    const float r = f == FORM_SIGNED ? (float)x.i : (float)x.u;
    /* f32 has all integers up to 2^24 */
    const bool large = f == FORM_SIGNED ? x.i > 1 << 24 || x.i < -(1 << 24) : x.u > 1 << 24;
    return large && to != ELEM_F32 ? (double)NAN : (double)r;
}

/* Writes x, of form f, to *r in the integer form `to`.  Returns false if the value does not fit. */
static bool to_integer(enum form f, union number x, enum form to, union number *r)
{
    *r = x;
    if (f == FORM_FLOAT) {
        const double whole = trunc(x.d);
        const bool fits =
            to == FORM_SIGNED ? whole >= -0x1p63 && whole < 0x1p63 : whole >= 0 && whole < 0x1p64;
        if (fits && to == FORM_SIGNED)
            r->i = (int64_t)whole;
        else if (fits)
            r->u = (uint64_t)whole;
        return fits;
    }
    /* between signed and unsigned a number keeps its bits if it is from 0 to INT64_MAX: then the highest bit is 0 */
    return (f == FORM_SIGNED) == (to == FORM_SIGNED) || x.i >= 0;
}

/* Converts element i of k to the type of r and stores it as element i of r; if that is not possible, the element of r
 * is unknown. */
static void cast_one(struct computation *c, const struct known *k, struct known *r, int64_t i)
{
    const struct float16 *s = float16_of(r->elem);
    const enum form to = form_of(r->elem);
    union number x = {0}, made = {0};
    enum form f;
    uint16_t bits = 0;
    bool good = get_any(k, i, &f, &x);
    if (s != NULL) {
        double d = good ? to_float(f, x, r->elem) : (double)NAN;
        good = good && !isnan(d) && round_to_float16(s, d, &bits);
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

/* Whether pcc converts numbers of type e. */
static bool can_cast(enum elem e)
{
    return form_of(e) != FORM_NONE || float16_of(e) != NULL;
}

bool compute_cast(struct computation *c, int arg)
{
    /* of operand 1 (CastLike) only the type counts, so its elements need not be known */
    const struct known *x = take_elements(c, 0), *like = c->nin > 1 ? take_operand(c, 1) : NULL;
    (void)arg;
    if (x == NULL || c->failed)
        return false;
    const int64_t to = like != NULL ? (int64_t)like->elem : take_int(c, "to", 0);
    if (to == (int64_t)x->elem)
        return make_reshaped(c, x, x->rank, x->dim);
    if (to <= 0 || to >= ELEM_COUNT || !can_cast((enum elem)to) || !can_cast(x->elem))
        return false;
    struct known *r = compute_make(c, 0, (enum elem)to, x->rank, x->dim);
    for (int64_t i = 0; r != NULL && i < r->n; i++)
        cast_one(c, x, r, i);
    return r != NULL;
}
