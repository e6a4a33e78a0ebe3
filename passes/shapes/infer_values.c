/* Shape inference: follows the elements of small integer tensors.
 *
 * Exporters compute shapes with ordinary operators (Shape, Gather, Concat, ...), so the result of a Reshape is known
 * only if the elements are followed through these operators.  An element is a number, an expression of dimensions, or
 * unknown; tensors of more than 64 elements are not followed.  Some exporters compute shapes in floats, which are
 * followed as long as they hold integers that a float represents exactly.  Constants are read when they are needed.
 * O(elements) per operator. */
#include "passes/shapes/infer.h"

#include <assert.h>

static const struct nums no_nums = {0}; /* for values of which nothing is known */

struct num num_int(int64_t v)
{
    return (struct num){.v = v, .kind = NUM_INT};
}

struct num num_of_dim(struct dim d)
{
    if (d.sym != 0)
        return (struct num){.sym = d.sym, .kind = NUM_SYM};
    return d.value >= 0 ? num_int(d.value) : (struct num){.kind = NUM_UNKNOWN};
}

struct dim num_dim(struct num x)
{
    if (x.kind == NUM_SYM)
        return (struct dim){-1, x.sym};
    return x.kind == NUM_INT ? dim_num(x.v) : dim_unknown();
}

/* Whether x is a known number below 0, other than INT64_MIN, which cannot be negated. */
static bool is_negative(struct num x)
{
    return x.kind == NUM_INT && x.v < 0 && x.v != INT64_MIN;
}

/* Returns -x; is_negative() holds for x. */
static struct num negate(struct num x)
{
    return num_int(-x.v);
}

struct num num_add(struct infer *f, struct num a, struct num b)
{
    int64_t v;
    if (a.kind == NUM_INT && b.kind == NUM_INT)
        return __builtin_add_overflow(a.v, b.v, &v) ? (struct num){0} : num_int(v);
    if (is_negative(b))
        return num_of_dim(dim_sub(f->m, num_dim(a), num_dim(negate(b))));
    if (is_negative(a))
        return num_of_dim(dim_sub(f->m, num_dim(b), num_dim(negate(a))));
    return num_of_dim(dim_add(f->m, num_dim(a), num_dim(b)));
}

struct num num_sub(struct infer *f, struct num a, struct num b)
{
    int64_t v;
    if (a.kind == NUM_INT && b.kind == NUM_INT)
        return __builtin_sub_overflow(a.v, b.v, &v) ? (struct num){0} : num_int(v);
    if (is_negative(b))
        return num_of_dim(dim_add(f->m, num_dim(a), num_dim(negate(b))));
    return num_of_dim(dim_sub(f->m, num_dim(a), num_dim(b)));
}

struct num num_mul(struct infer *f, struct num a, struct num b)
{
    int64_t v;
    if (a.kind == NUM_INT && b.kind == NUM_INT)
        return __builtin_mul_overflow(a.v, b.v, &v) ? (struct num){0} : num_int(v);
    if (is_negative(a) || is_negative(b)) {
        struct num x = is_negative(a) ? b : a, c = negate(is_negative(a) ? a : b);
        struct dim p = dim_mul(f->m, num_dim(x), num_dim(c));
        return dim_known(p) ? num_of_dim(dim_sub(f->m, dim_num(0), p)) : (struct num){0};
    }
    return num_of_dim(dim_mul(f->m, num_dim(a), num_dim(b)));
}

/* Returns a / b.  ONNX rounds integers towards zero, dim_div() rounds down, so the quotient of expressions is known
 * only if neither can be negative. */
static struct num num_div(struct infer *f, struct num a, struct num b)
{
    if (a.kind == NUM_INT && b.kind == NUM_INT)
        return b.v == 0 || (b.v == -1 && a.v == INT64_MIN) ? (struct num){0} : num_int(a.v / b.v);
    struct dim da = num_dim(a), db = num_dim(b);
    if (!dim_known(da) || !dim_known(db) || !dim_nonneg(f->m, da) || !dim_nonneg(f->m, db))
        return (struct num){0};
    return num_of_dim(dim_div(f->m, da, db));
}

/* Returns the number 1 for true, 0 for false. */
static struct num num_bool(bool v)
{
    return num_int(v ? 1 : 0);
}

/* Returns the result of comparison op of a and b.  An expression is compared only with an equal one, or with a negative
 * number if it cannot be negative; else the result is unknown. */
static struct num num_compare(struct infer *f, enum num_op op, struct num a, struct num b)
{
    if (a.kind == NUM_INT && b.kind == NUM_INT) {
        int c = a.v < b.v ? -1 : a.v > b.v;
        return num_bool(op == NUM_EQ   ? c == 0
                        : op == NUM_LT ? c < 0
                        : op == NUM_GT ? c > 0
                        : op == NUM_LE ? c <= 0
                                       : c >= 0);
    }
    if (a.kind == NUM_SYM && b.kind == NUM_SYM && a.sym == b.sym)
        return num_bool(op == NUM_EQ || op == NUM_LE || op == NUM_GE);
    if (a.kind == NUM_SYM && is_negative(b) && dim_nonneg(f->m, num_dim(a)))
        return num_bool(op == NUM_GT || op == NUM_GE);
    if (b.kind == NUM_SYM && is_negative(a) && dim_nonneg(f->m, num_dim(b)))
        return num_bool(op == NUM_LT || op == NUM_LE);
    return (struct num){0};
}

/* Returns the result of op on elements a and b (b is not used if op has one operand); unknown if it is not certain. */
static struct num num_apply(struct infer *f, enum num_op op, struct num a, struct num b)
{
    bool ints = a.kind == NUM_INT && b.kind == NUM_INT;
    switch (op) {
    case NUM_ADD:
        return num_add(f, a, b);
    case NUM_SUB:
        return num_sub(f, a, b);
    case NUM_MUL:
        return num_mul(f, a, b);
    case NUM_DIV:
        return num_div(f, a, b);
    case NUM_MOD: /* the result has the sign of b; a % -1 may overflow in C */
        if (!ints || b.v == 0 || b.v == -1)
            return (struct num){0};
        return num_int(a.v % b.v != 0 && (a.v < 0) != (b.v < 0) ? a.v % b.v + b.v : a.v % b.v);
    case NUM_MIN:
        return ints ? num_int(smaller(a.v, b.v))
                    : num_of_dim(dim_min(f->m, num_dim(a), num_dim(b)));
    case NUM_MAX:
        return ints ? num_int(larger(a.v, b.v)) : (struct num){0};
    case NUM_AND:
        return ints ? num_bool(a.v != 0 && b.v != 0) : (struct num){0};
    case NUM_OR:
        return ints ? num_bool(a.v != 0 || b.v != 0) : (struct num){0};
    case NUM_NEG:
        return num_sub(f, num_int(0), a);
    case NUM_NOT:
        return a.kind == NUM_INT ? num_bool(a.v == 0) : (struct num){0};
    case NUM_ABS:
        return a.kind == NUM_INT && a.v != INT64_MIN               ? num_int(a.v < 0 ? -a.v : a.v)
               : a.kind == NUM_SYM && dim_nonneg(f->m, num_dim(a)) ? a
                                                                   : (struct num){0};
    case NUM_COPY:
        return a;
    default:
        return num_compare(f, op, a, b);
    }
}

struct dim value_dim(struct infer *f, nid n, uint32_t i, uint32_t j)
{
    const struct nums *x = nums_of(f, node_in(f->m, n, i));
    return x != NULL && j < x->n ? num_dim(x->at[j]) : dim_unknown();
}

struct nums *nums_new(struct infer *f, uint32_t n)
{
    assert(n <= SHAPE_VALUES);
    struct nums *x = arena_alloc(f->mem, sizeof *x + n * sizeof x->at[0]);
    x->n = n;
    return x;
}

enum { FLOAT_EXACT = 1 << 24 }; /* all integers up to this are exact as f32 */

/* Whether elements are float or double. */
static bool is_float(enum elem e)
{
    return e == ELEM_F32 || e == ELEM_F64;
}

bool elem_followed(enum elem e)
{
    return elem_is_integer(e) || is_float(e);
}

/* Returns v as a number; unknown if v is no integer, or too large to be exact. */
static struct num num_of_float(double v)
{
    bool exact = v >= -FLOAT_EXACT && v <= FLOAT_EXACT && v == (double)(int64_t)v;
    return exact ? num_int((int64_t)v) : (struct num){0};
}

bool tensor_at_hand(struct infer *f, tid t)
{
    const struct tensor *x = &f->m->tensor[t];
    if (!tensor_has_bytes(x))
        return false;
    while (x->where == TENSOR_SLICE)
        x = &f->m->tensor[x->of[0]];
    bool missing = x->where == TENSOR_FILE && f->m->file[x->file].fd < 0;
    f->missing = missing && !f->missing ? t : f->missing;
    return !missing && !f->unreadable;
}

int tensor_small_ints(struct infer *f, tid t, int64_t *out, int max)
{
    assert(t > 0 && t < f->m->ntensor && max >= 0);
    int64_t n = tensor_elems(f->m, t);
    if (n < 0 || n > max || !tensor_at_hand(f, t))
        return -1;
    uint32_t errors = f->m->diag->errors;
    n = tensor_ints(f->m, t, out, (uint32_t)max);
    f->unreadable = f->m->diag->errors > errors;
    return (int)n;
}

/* Returns the elements of tensor t, which is of f32 or f64; nothing known (no_nums) if it has more than SHAPE_VALUES,
 * or cannot be read. */
static const struct nums *read_floats(struct infer *f, tid t)
{
    union {
        float f[SHAPE_VALUES];
        double d[SHAPE_VALUES];
    } buf;
    bool single = f->m->tensor[t].elem == ELEM_F32;
    int64_t n = tensor_elems(f->m, t);
    if (n <= 0 || n > SHAPE_VALUES || !tensor_at_hand(f, t))
        return &no_nums;
    f->unreadable =
        tensor_read(f->m, t, 0, &buf, (size_t)n * (single ? sizeof(float) : sizeof(double))) != 0;
    if (f->unreadable)
        return &no_nums;
    struct nums *x = nums_new(f, (uint32_t)n);
    for (int64_t i = 0; i < n; i++)
        x->at[i] = num_of_float(single ? (double)buf.f[i] : buf.d[i]);
    return x;
}

/* Returns the elements of tensor t if it is a small tensor of integers or floats; else, or if t is 0, nothing known
 * (no_nums). */
static const struct nums *read_tensor(struct infer *f, tid t)
{
    int64_t buf[SHAPE_VALUES];
    if (t != 0 && is_float((enum elem)f->m->tensor[t].elem))
        return read_floats(f, t);
    if (t == 0 || !elem_is_integer(f->m->tensor[t].elem))
        return &no_nums;
    int n = tensor_small_ints(f, t, buf, SHAPE_VALUES);
    if (n <= 0)
        return &no_nums;
    struct nums *x = nums_new(f, (uint32_t)n);
    for (int i = 0; i < n; i++)
        x->at[i] = num_int(buf[i]);
    return x;
}

/* Returns the elements of the result of Constant n if it is a small tensor of integers or floats; else nothing known
 * (no_nums). */
static const struct nums *read_constant(struct infer *f, nid n)
{
    const struct attr *a = node_attr(f->m, n, "value");
    int64_t buf[SHAPE_VALUES];
    if (a != NULL)
        return a->kind == ATTR_TENSOR ? read_tensor(f, a->u.t) : &no_nums;
    int k = attr_ints(f, n, "value_ints", buf, SHAPE_VALUES);
    if (k < 0)
        k = attr_ints(f, n, "value_int", buf, SHAPE_VALUES);
    if (k <= 0)
        return &no_nums;
    struct nums *x = nums_new(f, (uint32_t)k);
    for (int i = 0; i < k; i++)
        x->at[i] = num_int(buf[i]);
    return x;
}

const struct nums *nums_of(struct infer *f, vid v)
{
    assert(v < f->m->nval);
    if (v == 0)
        return NULL;
    if (f->data[v] == NULL) {
        const struct value *x = &f->m->value[v];
        /* before IR version 4 every initializer is also an input; from then on an initializer that is an input is
         * only a default */
        bool fixed = (x->flags & VALUE_INPUT) == 0 || f->m->ir_version < 4;
        if (x->tensor != 0 && fixed)
            f->data[v] = read_tensor(f, x->tensor);
        else if (x->def != 0 && node_is(f->m, x->def, "Constant"))
            f->data[v] = read_constant(f, x->def);
        else
            f->data[v] = &no_nums;
    }
    return f->data[v]->n > 0 ? f->data[v] : NULL;
}

int ints_of(struct infer *f, vid v, int64_t *out, int max)
{
    assert(v < f->m->nval && max >= 0);
    struct shape s;
    const struct nums *x = nums_of(f, v);
    if (x == NULL) {
        /* an empty tensor: no elements, so all are known */
        return shape_of(f, v, &s) && s.rank == 1 && s.d[0].value == 0 ? 0 : -1;
    }
    if (x->n > (uint32_t)max)
        return -1;
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->at[i].kind != NUM_INT)
            return -1;
        out[i] = x->at[i].v;
    }
    return (int)x->n;
}

const struct nums *nums_attr_or_input(struct infer *f, nid n, const char *name, uint32_t i)
{
    int64_t v[SHAPE_RANK];
    int k = attr_ints(f, n, name, v, SHAPE_RANK);
    if (k < 0)
        return nums_of(f, node_in(f->m, n, i));
    struct nums *x = nums_new(f, (uint32_t)k);
    for (int j = 0; j < k; j++)
        x->at[j] = num_int(v[j]);
    return x;
}

void nums_set(struct infer *f, nid n, uint32_t i, const struct nums *x)
{
    vid v = node_out(f->m, n, i);
    if (v != 0 && x != NULL)
        f->data[v] = x;
}

struct num num_as_float(struct num x)
{
    bool large = x.kind == NUM_INT && (x.v > FLOAT_EXACT || x.v < -FLOAT_EXACT);
    return large ? (struct num){0} : x;
}

/* Returns x, the result of op on the integers a and b, if op on floats gives the same number; else unknown.  A quotient
 * must have no remainder, and all numbers must be exact as floats. */
static struct num float_result(struct infer *f, enum num_op op, struct num a, struct num b,
                               struct num x)
{
    /* for a division without a remainder, x * b is a again */
    struct num back = op == NUM_DIV ? num_mul(f, x, b) : a;
    if (back.kind != a.kind || back.v != a.v || back.sym != a.sym)
        return (struct num){0};
    return num_as_float(x);
}

void values_elementwise(struct infer *f, nid n, enum num_op op)
{
    assert(op <= NUM_COPY);
    vid va = node_in(f->m, n, 0), vb = node_in(f->m, n, 1);
    const struct nums *a = nums_of(f, va);
    bool unary = op >= NUM_NEG;
    /* excluded: Max and Min with more than two operands; Mod with fmod, whose result has the sign of the dividend */
    if (a == NULL || op == NUM_NONE || (!unary && f->m->node[n].nformal != 2) ||
        (op == NUM_MOD && node_attr_int(f->m, n, "fmod", 0) != 0))
        return;
    const struct nums *b = unary ? a : nums_of(f, vb);
    struct shape sa, sb;
    /* only scalars and vectors: element i meets element i, or the only element of the other operand */
    if (b == NULL || !shape_of(f, va, &sa) || (sa.rank > 1 && !unary))
        return;
    if (!unary && (!shape_of(f, vb, &sb) || sb.rank > 1 || sa.rank < 0 || sb.rank < 0))
        return;
    if (a->n != b->n && a->n != 1 && b->n != 1)
        return;
    struct nums *r = nums_new(f, larger_u32(a->n, b->n));
    for (uint32_t i = 0; i < r->n; i++) {
        struct num x = a->at[a->n == 1 ? 0 : i], y = b->at[b->n == 1 ? 0 : i];
        r->at[i] = num_apply(f, op, x, y);
        if (!elem_is_integer((enum elem)sa.elem))
            r->at[i] = float_result(f, op, x, y, r->at[i]);
    }
    nums_set(f, n, 0, r);
}

int attr_or_input(struct infer *f, nid n, const char *name, uint32_t i, int64_t *out, int max)
{
    assert(max >= 0);
    if (node_attr(f->m, n, name) != NULL) {
        int k = attr_ints(f, n, name, out, max);
        return k < 0 ? -2 : k;
    }
    vid v = node_in(f->m, n, i);
    if (v == 0)
        return -1;
    int k = ints_of(f, v, out, max);
    return k < 0 ? -2 : k;
}
