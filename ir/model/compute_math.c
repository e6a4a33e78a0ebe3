/* Computing operators (compute.h): element-wise operators, reductions of integers, and ranges.
 *
 * Numbers are computed in the widest type of their form (union number).  f32 is computed in double and rounded to f32
 * afterwards: for a sum, product, quotient or root of f32 numbers this gives the f32 nearest to the exact result,
 * since a double has more than twice as many digits.  An element of the result stays unknown if it does not fit its
 * type, is not finite, or comes from a division by zero; so does Min or Max of 0 and -0, for which runtimes return
 * either one.  O(elements of operands and results). */
#include "ir/model/compute_state.h"

#include <math.h>
#include <string.h>

/* ---- numbers ------------------------------------------------------------------------------------ */

enum form form_of(enum elem e)
{
    if (e == ELEM_BOOL)
        return FORM_BOOL;
    if (e == ELEM_F32 || e == ELEM_F64)
        return FORM_FLOAT;
    if (!elem_is_integer(e) || elem_bits(e) % 8 != 0)
        return FORM_NONE;
    return e == ELEM_U8 || e == ELEM_U16 || e == ELEM_U32 || e == ELEM_U64 ? FORM_UNSIGNED
                                                                           : FORM_SIGNED;
}

bool get_number(const struct known *k, int64_t i, union number *x)
{
    const uint32_t size = size_of(k->elem);
    const unsigned char *p = k->data + i * size;
    float f;
    if (!is_known(k, i))
        return false;
    switch (form_of(k->elem)) {
    case FORM_FLOAT:
        if (size == sizeof f) {
            memcpy(&f, p, sizeof f);
            x->d = (double)f;
        } else {
            memcpy(&x->d, p, sizeof x->d);
        }
        return !isnan(x->d);
    case FORM_NONE:
        return false;
    default:
        x->u = 0;
        /* the bytes are little-endian; a negative number gets ones in the bits above its own */
        for (uint32_t b = size; b-- > 0;)
            x->u = x->u << 8 | p[b];
        if (form_of(k->elem) == FORM_SIGNED && size < 8 && x->u >> (8 * size - 1) != 0)
            x->u |= ~UINT64_C(0) << (8 * size);
        return k->elem != ELEM_BOOL || x->u <= 1;
    }
}

/* Rounds the number *x to the nearest one of float type e; leaves integers as they are.  Returns false if the number
 * does not fit type e, or is NaN. */
static bool round_to_type(enum elem e, union number *x)
{
    const uint32_t bits = elem_bits(e);
    switch (form_of(e)) {
    case FORM_SIGNED:
        return bits == 64 ||
               (x->i >= -(INT64_C(1) << (bits - 1)) && x->i < INT64_C(1) << (bits - 1));
    case FORM_UNSIGNED:
        return bits == 64 || x->u >> bits == 0;
    case FORM_FLOAT:
        /* From this number on, finite numbers would round to infinity. */
        if (e == ELEM_F32 && fabs(x->d) >= 0x1.ffffffp127)
            return isinf(x->d);
        if (e == ELEM_F32)
            x->d = (double)(float)x->d;
        return !isnan(x->d);
    default:
        return e == ELEM_BOOL && x->u <= 1;
    }
}

void put_bits(struct computation *c, struct known *k, int64_t i, bool good, uint64_t bits)
{
    unsigned char *p = k->data + i * size_of(k->elem);
    if (!good && k->mask == NULL) {
        k->mask = arena_alloc(c->a, (size_t)k->n + 1);
        memset(k->mask, 1, (size_t)k->n);
    }
    if (k->mask != NULL)
        k->mask[i] = good;
    for (uint32_t b = 0; b < size_of(k->elem) && good; b++)
        p[b] = (unsigned char)(bits >> (8 * b));
}

void put_number(struct computation *c, struct known *k, int64_t i, bool good, union number x)
{
    good = good && round_to_type(k->elem, &x);
    if (good && k->elem == ELEM_F32) {
        const float f = (float)x.d;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        x.u = bits;
    }
    put_bits(c, k, i, good, x.u); /* x.u: also the bits of a signed integer or an f64 */
}

/* ---- two numbers -------------------------------------------------------------------------------- */

/* Writes to *r the result of a binary operation on signed integers.  Returns false if it is undefined or overflows,
 * or if op is another kind of operation. */
static bool apply_signed(enum math op, int64_t a, int64_t b, int64_t *r)
{
    switch (op) {
    case MATH_ADD:
        return !__builtin_add_overflow(a, b, r);
    case MATH_SUB:
        return !__builtin_sub_overflow(a, b, r);
    case MATH_MUL:
        return !__builtin_mul_overflow(a, b, r);
    case MATH_DIV:
        if (b == -1) /* INT64_MIN / -1 overflows */
            return !__builtin_sub_overflow(0, a, r);
        *r = b == 0 ? 0 : a / b;
        return b != 0;
    case MATH_MOD:                          /* the result has the sign of the divisor */
        *r = b == 0 || b == -1 ? 0 : a % b; /* INT64_MIN % -1 is undefined in C */
        if (*r != 0 && (*r < 0) != (b < 0))
            *r += b;
        return b != 0;
    case MATH_MIN:
        *r = a < b ? a : b;
        return true;
    case MATH_MAX:
        *r = a > b ? a : b;
        return true;
    default:
        return false;
    }
}

/* Writes to *r the result of a binary operation on unsigned integers.  Returns false if it is undefined or overflows,
 * or if op is another kind of operation. */
static bool apply_unsigned(enum math op, uint64_t a, uint64_t b, uint64_t *r)
{
    switch (op) {
    case MATH_ADD:
        return !__builtin_add_overflow(a, b, r);
    case MATH_SUB:
        return !__builtin_sub_overflow(a, b, r);
    case MATH_MUL:
        return !__builtin_mul_overflow(a, b, r);
    case MATH_DIV:
        *r = b == 0 ? 0 : a / b;
        return b != 0;
    case MATH_MOD:
        *r = b == 0 ? 0 : a % b;
        return b != 0;
    case MATH_MIN:
        *r = a < b ? a : b;
        return true;
    case MATH_MAX:
        *r = a > b ? a : b;
        return true;
    default:
        return false;
    }
}

/* Writes to *r the result of a binary operation on floats.  Returns false if it is not finite or not the same in all
 * runtimes, or if op is another kind of operation. */
static bool apply_floats(enum math op, double a, double b, double *r)
{
    switch (op) {
    case MATH_ADD:
        *r = a + b;
        break;
    case MATH_SUB:
        *r = a - b;
        break;
    case MATH_MUL:
        *r = a * b;
        break;
    case MATH_DIV:
        *r = a / b;
        break;
    case MATH_MOD: /* attribute fmod=1: the result has the sign of the dividend */
        *r = fmod(a, b);
        break;
    case MATH_MIN:
    case MATH_MAX:
        *r = (op == MATH_MIN ? a < b : a > b) ? a : b;
        return a != b || signbit(a) == signbit(b);
    default:
        return false;
    }
    return isfinite(*r);
}

/* Writes the number x of type e to *i if it is an integer that both the type and a double represent exactly: at most
 * 2^24 (f32) or 2^53 (other types) in size, and not -0.  Returns false if not. */
static bool is_whole(enum elem e, union number x, int64_t *i)
{
    const enum form f = form_of(e);
    const int64_t most = INT64_C(1) << (e == ELEM_F32 ? 24 : 53);
    if (f == FORM_FLOAT) {
        if (!(fabs(x.d) <= (double)most) || x.d != trunc(x.d) || (x.d == 0 && signbit(x.d)))
            return false;
        *i = (int64_t)x.d;
        return true;
    }
    if (f == FORM_UNSIGNED && x.u > (uint64_t)most)
        return false;
    *i = x.i;
    return *i <= most && *i >= -most;
}

/* Writes to *r the power a^b; a and *r have type e, b has type eb.  Returns false unless a is an integer, b is a
 * natural number, and the result is exact in the double that runtimes compute with. */
static bool power(enum elem e, union number a, enum elem eb, union number b, union number *r)
{
    int64_t base, times, p = 1, back;
    if (!is_whole(e, a, &base) || !is_whole(eb, b, &times) || times < 0)
        return false;
    if (base >= -1 && base <= 1) { /* `times` may be large, so the power is not multiplied out */
        p = times == 0 || base == 1 || (base == -1 && times % 2 == 0) ? 1 : base;
    } else {
        if (times > 53) /* a double may not hold the power, which is above 2^53 */
            return false;
        for (int64_t k = 0; k < times; k++)
            if (__builtin_mul_overflow(p, base, &p))
                return false;
    }
    *r = form_of(e) == FORM_FLOAT ? (union number){.d = (double)p} : (union number){.i = p};
    return (form_of(e) != FORM_UNSIGNED || p >= 0) && is_whole(e, *r, &back);
}

/* Returns -1, 0 or 1 if a is less than, equal to or greater than b; both have form f. */
static int compare_numbers(enum form f, union number a, union number b)
{
    return f == FORM_SIGNED  ? (a.i > b.i) - (a.i < b.i)
           : f == FORM_FLOAT ? (a.d > b.d) - (a.d < b.d)
                             : (a.u > b.u) - (a.u < b.u);
}

/* Returns the result of the operation AND, OR or XOR on a and b, or of NOT on a. */
static bool apply_bools(enum math op, bool a, bool b)
{
    return op == MATH_AND ? a && b : op == MATH_OR ? a || b : op == MATH_XOR ? a != b : !a;
}

/* Writes to *r the result of a binary operation on two numbers of type e: a bool for comparisons and logic, else a
 * number of form form_of(e).  Returns false if pcc does not compute it. */
static bool apply_to_two(enum math op, enum elem e, union number a, union number b, union number *r)
{
    const enum form f = form_of(e);
    if (op >= MATH_EQUAL && op < MATH_AND) {
        int way = compare_numbers(f, a, b);
        r->u = op == MATH_EQUAL        ? way == 0
               : op == MATH_LESS       ? way < 0
               : op == MATH_GREATER    ? way > 0
               : op == MATH_LESS_EQUAL ? way <= 0
                                       : way >= 0;
        return true;
    }
    if (op >= MATH_AND && op <= MATH_NOT) {
        r->u = apply_bools(op, a.u != 0, b.u != 0);
        return true;
    }
    return f == FORM_SIGNED     ? apply_signed(op, a.i, b.i, &r->i)
           : f == FORM_UNSIGNED ? apply_unsigned(op, a.u, b.u, &r->u)
           : f == FORM_FLOAT    ? apply_floats(op, a.d, b.d, &r->d)
                                : false;
}

/* Writes to *r the result of a unary operation on a number of type e.  Returns false if pcc does not compute it. */
static bool apply_to_one(enum math op, enum elem e, union number a, union number *r)
{
    const bool real = form_of(e) == FORM_FLOAT, natural = form_of(e) == FORM_UNSIGNED;
    *r = a;
    switch (op) {
    case MATH_NEG:
        if (!real)
            return !__builtin_sub_overflow(0, a.i, &r->i);
        r->d = -a.d;
        return true;
    case MATH_ABS:
        if (!real)
            return natural || a.i >= 0 || !__builtin_sub_overflow(0, a.i, &r->i);
        r->d = fabs(a.d);
        return true;
    case MATH_SIGN:
        if (real)
            r->d = (a.d > 0) - (a.d < 0);
        else
            r->i = natural ? a.u != 0 : (a.i > 0) - (a.i < 0);
        return true;
    case MATH_FLOOR:
        r->d = floor(a.d);
        break;
    case MATH_CEIL:
        r->d = ceil(a.d);
        break;
    case MATH_ROUND: /* ties to even, the mode in which C programs start */
        r->d = nearbyint(a.d);
        break;
    case MATH_SQRT:
        r->d = sqrt(a.d);
        break;
    case MATH_RECIPROCAL:
        r->d = 1 / a.d;
        break;
    default:
        return false;
    }
    return isfinite(r->d);
}

/* ---- element by element ------------------------------------------------------------------------- */

/* Whether pcc computes the operation for operands of element type e. */
static bool is_operand_type(struct computation *c, enum math op, enum elem e)
{
    const enum form f = form_of(e);
    if (op >= MATH_AND && op <= MATH_NOT)
        return f == FORM_BOOL;
    if (f == FORM_BOOL)
        return op == MATH_EQUAL;
    if (op == MATH_NEG)
        return f == FORM_FLOAT || f == FORM_SIGNED;
    if (op >= MATH_FLOOR)
        return f == FORM_FLOAT;
    return f != FORM_NONE && (op != MATH_MOD || (f == FORM_FLOAT) == (take_int(c, "fmod", 0) != 0));
}

static bool is_same_shape(const struct known *x, const struct known *y)
{
    return x->rank == y->rank && memcmp(x->dim, y->dim, x->rank * sizeof *x->dim) == 0;
}

/* Returns the result of a binary operation on the tensors x and y, which are broadcast: result 0 of the computation
 * if `last`, else an intermediate one.  NULL: it cannot be computed. */
static struct known *combine_two(struct computation *c, enum math op, struct known *x,
                                 struct known *y, bool last)
{
    int64_t dim[COMPUTE_RANK];
    uint32_t rank = 0;
    const int64_t broadcasts_since = op == MATH_MIN || op == MATH_MAX ? 8 : 7; /* opset */
    const enum elem elem = op >= MATH_EQUAL ? ELEM_BOOL : x->elem;
    if (c->opset < broadcasts_since && !is_same_shape(x, y))
        return NULL;
    broadcast_shape(c, x, &rank, dim);
    broadcast_shape(c, y, &rank, dim);
    if (c->failed)
        return NULL;
    x = broadcast_to(c, x, rank, dim);
    y = broadcast_to(c, y, rank, dim);
    if (x == NULL || y == NULL)
        return NULL;
    struct known *r =
        last ? compute_make(c, 0, elem, rank, dim) : make_intermediate(c, elem, rank, dim);
    for (int64_t i = 0; r != NULL && i < r->n; i++) {
        union number a, b, made = {0};
        bool good = get_number(x, i, &a) && get_number(y, i, &b) &&
                    (op == MATH_POW ? power(x->elem, a, y->elem, b, &made)
                                    : apply_to_two(op, x->elem, a, b, &made));
        put_number(c, r, i, good, made);
    }
    return r;
}

/* Computes result 0 of an operator with one operand. */
static bool compute_unary(struct computation *c, enum math op)
{
    const struct known *x = take_elements(c, 0);
    if (x == NULL || !is_operand_type(c, op, x->elem))
        return false;
    struct known *r = compute_make(c, 0, x->elem, x->rank, x->dim);
    for (int64_t i = 0; r != NULL && i < r->n; i++) {
        union number a = {0}, made = {0};
        bool good = get_number(x, i, &a);
        if (good && op == MATH_NOT)
            made.u = a.u == 0;
        else
            good = good && apply_to_one(op, x->elem, a, &made);
        put_number(c, r, i, good, made);
    }
    return r != NULL;
}

/* Computes an element-wise operator; operators with several operands (Min, Max) combine them from the left. */
bool compute_elementwise(struct computation *c, int arg)
{
    const enum math op = (enum math)arg;
    if (op >= MATH_NOT)
        return compute_unary(c, op);
    struct known *x = take_elements(c, 0);
    if (x == NULL || !is_operand_type(c, op, x->elem))
        return false;
    for (uint32_t i = 1; i < c->nin && x != NULL; i++) {
        struct known *y = take_elements(c, i);
        if (y == NULL || !is_operand_type(c, op, y->elem) || (op != MATH_POW && y->elem != x->elem))
            return false;
        x = combine_two(c, op, x, y, i + 1 == c->nin);
    }
    return c->nin > 1 ? x != NULL : make_reshaped(c, x, x->rank, x->dim);
}

/* ---- reductions --------------------------------------------------------------------------------- */

/* Returns a transposed copy of x, or x itself if it is a scalar.  The dimensions that stay come first, and their
 * number is written to *kept; the dimensions in `set` (bit i: dimension i), which are reduced, come last.  NULL: the
 * copy would be too large. */
static struct known *move_reduced_last(struct computation *c, struct known *x, uint32_t set,
                                       uint32_t *kept)
{
    int64_t step[COMPUTE_RANK];
    struct box b = {.rank = x->rank};
    uint32_t at = 0;
    set_steps(x->dim, x->rank, step);
    for (uint32_t reduced = 0; reduced < 2; reduced++) {
        for (uint32_t i = 0; i < x->rank; i++)
            if ((set >> i & 1) == reduced) {
                b.from.step[at] = step[i];
                b.dim[at++] = x->dim[i];
            }
        if (reduced == 0)
            *kept = at;
    }
    struct known *y = make_intermediate(c, x->elem, x->rank, b.dim);
    if (y == NULL || b.rank == 0)
        return y != NULL ? x : NULL;
    set_steps(b.dim, b.rank, b.to.step);
    copy_box(y, x, &b);
    return y;
}

/* Computes element i of result 0 from n elements of x, which are integers: elements i * n to i * n
 * + n - 1.  Runtimes add and multiply in double, in any order; a sum or product is exact only if
 * the sum or product of the absolute values, `sizes`, is at most 2^53.  If it is larger, element i
 * stays unknown.  Min and Max are always exact. */
static void reduce_one(struct computation *c, enum math op, const struct known *x, int64_t n,
                       int64_t i)
{
    union number all = {0}, sizes = {0}, a = {0}, size = {0};
    bool good = true;
    for (int64_t k = 0; k < n && good; k++) {
        good = get_number(x, i * n + k, &a) && apply_to_one(MATH_ABS, x->elem, a, &size);
        if (k == 0) {
            all = a;
            sizes = size;
        } else {
            good = good && apply_to_two(op, x->elem, all, a, &all) &&
                   apply_to_two(op, x->elem, sizes, size, &sizes);
        }
        good = good && (op == MATH_MIN || op == MATH_MAX || sizes.u <= UINT64_C(1) << 53);
    }
    put_number(c, &c->out[0], i, good, all);
}

bool compute_reduce(struct computation *c, int arg)
{
    int64_t dim[COMPUTE_RANK];
    uint32_t rank = 0, kept = 0;
    const enum math op = (enum math)arg;
    struct known *x = take_elements(c, 0);
    /* axes are operand 1 from opset 13 on for ReduceSum, from opset 18 on for the others; before, an attribute */
    struct list axes = take_either(c, "axes", 1, op == MATH_ADD ? 13 : 18);
    /* Runtimes differ in the result for no elements. */
    if (x == NULL || x->n == 0 ||
        (form_of(x->elem) != FORM_SIGNED && form_of(x->elem) != FORM_UNSIGNED))
        return false;
    if (axes.n == 0 && take_int(c, "noop_with_empty_axes", 0) != 0)
        return make_reshaped(c, x, x->rank, x->dim);
    /* set: bit i: axis i is reduced */
    uint32_t set = axes.n > 0 ? take_axes(c, axes, x->rank) : (UINT32_C(1) << x->rank) - 1;
    const bool keep = take_int(c, "keepdims", 1) != 0;
    for (uint32_t i = 0; i < x->rank; i++)
        if ((set >> i & 1) == 0 || keep)
            dim[rank++] = (set >> i & 1) == 0 ? x->dim[i] : 1;
    struct known *y = c->failed ? NULL : move_reduced_last(c, x, set, &kept);
    struct known *r = y != NULL ? compute_make(c, 0, x->elem, rank, dim) : NULL;
    if (r == NULL)
        return false;
    const int64_t n = shape_elems(y->dim + kept, y->rank - kept);
    for (int64_t i = 0; i < r->n; i++)
        reduce_one(c, op, y, n, i);
    return true;
}

/* ---- ranges ------------------------------------------------------------------------------------- */

/* Returns how many numbers Range(start, limit, delta) has for integers; -1: limit and start differ
 * by more than 2^50, or delta is 0. */
static int64_t count_integers(int64_t start, int64_t limit, int64_t delta)
{
    /* runtimes compute the length in double, which holds integers up to 2^53 exactly */
    const int64_t most = INT64_C(1) << 50;
    int64_t way;
    if (__builtin_sub_overflow(limit, start, &way) || way > most || way < -most || delta == 0)
        return -1;
    if (way == 0 || (way < 0) != (delta < 0))
        return 0;
    uint64_t size = delta > 0 ? (uint64_t)delta : -(uint64_t)delta;
    uint64_t far = (uint64_t)(way > 0 ? way : -way);
    return (int64_t)((far - 1) / size) + 1;
}

/* Returns how many numbers Range(start, limit, delta) has for floats (single: they are f32, else
 * f64); -1: there are more than 2^40, or the number is not finite, as for delta 0. */
static int64_t count_floats(bool single, double start, double limit, double delta)
{
    double way = single ? (double)(float)(limit - start) : limit - start, n = ceil(way / delta);
    return !isfinite(n) || n > 0x1p40 ? -1 : n <= 0 ? 0 : (int64_t)n;
}

/* Whether start and step of a range of floats of type e are integers.  Elements of other ranges are
 * rounded, and runtimes round at different steps. */
static bool has_integer_steps(enum elem e, union number start, union number delta)
{
    int64_t i;
    return is_whole(e, start, &i) && is_whole(e, delta, &i);
}

bool compute_range(struct computation *c, int arg)
{
    union number x[3] = {{0}};
    const struct known *first = NULL;
    (void)arg;
    /* x: start, limit and delta, scalars of one type */
    for (uint32_t i = 0; i < 3; i++) {
        const struct known *k = take_elements(c, i);
        if (i == 0)
            first = k;
        if (k == NULL || k->n != 1 || k->rank > 1 || k->elem != first->elem ||
            !get_number(k, 0, &x[i]))
            return false;
    }
    const bool single = first->elem == ELEM_F32, real = form_of(first->elem) == FORM_FLOAT;
    if (!real && form_of(first->elem) != FORM_SIGNED)
        return false;
    if (real && !has_integer_steps(first->elem, x[0], x[2]))
        return false;
    const int64_t n = real ? count_floats(single, x[0].d, x[1].d, x[2].d)
                           : count_integers(x[0].i, x[1].i, x[2].i);
    struct known *r = n >= 0 ? compute_make(c, 0, first->elem, 1, &n) : NULL;
    for (int64_t i = 0; r != NULL && i < n; i++) {
        int64_t whole;
        /* a float behind the largest that is_whole() accepts may be rounded: it stays unknown */
        put_number(c, r, i, !real || is_whole(first->elem, x[0], &whole), x[0]);
        if (real)
            x[0].d += x[2].d;
        else if (i + 1 < n) /* behind the last number the sum may overflow */
            x[0].i += x[2].i;
    }
    return r != NULL;
}
