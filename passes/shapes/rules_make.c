/* Shape inference: rules of operators that repeat or pad, make shapes and values, or reduce.  A rule gives its results
 * types and, where the elements of operands are followed (infer_values.c), elements, too.  O(operands * rank) for each
 * node, and O(elements) where elements are followed. */
#include "passes/shapes/infer.h"

#include <assert.h>

/* --- repeating --- */

/* Sets the dimensions of *s to the elements of v; if they are not known, sets only the rank, to their number. */
static void read_listed_shape(struct infer *f, vid v, struct shape *s)
{
    assert(v < f->m->nval);
    struct shape list;
    const struct nums *x = nums_of(f, v);
    int64_t n = -1;
    if (x != NULL)
        n = x->n;
    else if (shape_of(f, v, &list) && list.rank == 1)
        n = list.d[0].value;
    s->rank = n >= 0 && n <= SHAPE_RANK ? (int)n : -1;
    for (int i = 0; i < s->rank; i++)
        s->d[i] = x != NULL ? num_dim(x->at[i]) : dim_unknown();
}

/* Rule for Expand: the result is operand 0, broadcast to the shape that operand 1 lists. */
void rule_expand(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), want = {0};
    const struct nums *x = nums_of(f, node_in(f->m, n, 0));
    (void)arg;
    read_listed_shape(f, node_in(f->m, n, 1), &want);
    shape_broadcast(f, &in, &want);
    if (x != NULL && in.rank <= 1) {
        int64_t k = in.rank == 1 ? in.d[0].value : in.rank == 0 ? 1 : -1;
        if (k > 0 && k <= SHAPE_VALUES && (x->n == 1 || x->n == k)) {
            struct nums *r = nums_new(f, (uint32_t)k);
            for (uint32_t i = 0; i < r->n; i++)
                r->at[i] = x->at[x->n == 1 ? 0 : i];
            nums_set(f, n, 0, r);
        }
    }
    shape_set(f, n, 0, &in);
}

/* Rule for Tile: each axis is repeated as often as the element of operand 1 for it says. */
void rule_tile(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    const struct nums *times = nums_of(f, node_in(f->m, n, 1));
    (void)arg;
    /* before opset 6 Tile repeats along one axis, which operand 2 gives */
    for (int i = 0; i < s.rank; i++) {
        bool known = f->opset >= 6 && times != NULL && times->n == (uint32_t)s.rank;
        s.d[i] = known ? dim_mul(f->m, s.d[i], num_dim(times->at[i])) : dim_unknown();
    }
    shape_set(f, n, 0, &s);
}

/* Rule for Pad: the pads at the start and the end of each axis (all axes, or those that are listed) are added to its
 * size. */
void rule_pad(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    int64_t axes[SHAPE_RANK];
    (void)arg;
    const struct nums *pads = nums_attr_or_input(f, n, f->opset < 2 ? "paddings" : "pads", 1);
    int k = attr_or_input(f, n, "axes", 3, axes, SHAPE_RANK);
    if (k == -1) {
        k = s.rank;
        for (int i = 0; i < k; i++)
            axes[i] = i;
    }
    bool known = k >= 0 && pads != NULL && pads->n == 2 * (uint32_t)k;
    for (int i = 0; i < s.rank && !known; i++)
        s.d[i] = dim_unknown();
    for (int i = 0; i < k && known && s.rank >= 0; i++) {
        int axis = axis_of(axes[i], s.rank);
        if (axis >= 0)
            s.d[axis] = num_dim(
                num_add(f, num_add(f, num_of_dim(s.d[axis]), pads->at[i]), pads->at[k + i]));
        else
            s.rank = -1;
    }
    shape_set(f, n, 0, &s);
}

/* --- making shapes and values --- */

/* Rule for Shape: the result has dimensions start .. end - 1 of operand 0 as its elements; attributes start and end
 * are counted from the end if negative. */
void rule_shape(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0);
    (void)arg;
    struct shape out = shape_vector(ELEM_I64, dim_unknown());
    if (in.rank >= 0) {
        int64_t from = node_attr_int(f->m, n, "start", 0),
                to = node_attr_int(f->m, n, "end", in.rank);
        from = from < 0 ? from + in.rank : from;
        to = to < 0 ? to + in.rank : to;
        from = from < 0 ? 0 : smaller(from, in.rank);
        to = to < 0 ? 0 : smaller(to, in.rank);
        out.d[0] = dim_num(to > from ? to - from : 0);
        struct nums *x = nums_new(f, (uint32_t)out.d[0].value);
        for (uint32_t i = 0; i < x->n; i++)
            x->at[i] = num_of_dim(in.d[from + i]);
        nums_set(f, n, 0, x);
    }
    shape_set(f, n, 0, &out);
}

/* Rule for Size: the result is the number of elements of operand 0. */
void rule_size(struct infer *f, nid n, int arg)
{
    struct shape in, out = shape_scalar(ELEM_I64);
    (void)arg;
    if (shape_in(f, n, 0, &in) && in.rank >= 0) {
        struct nums *x = nums_new(f, 1);
        x->at[0] = num_of_dim(dim_product(f->m, in.d, 0, in.rank));
        nums_set(f, n, 0, x);
    }
    shape_set(f, n, 0, &out);
}

/* Rule for Constant: the value is in one of several attributes, as a tensor, a number or string, or a list. */
void rule_constant(struct infer *f, nid n, int arg)
{
    static const struct {
        const char *name;
        uint8_t kind, elem;
    } form[] = {{"value_float", ATTR_FLOAT, ELEM_F32},   {"value_floats", ATTR_FLOATS, ELEM_F32},
                {"value_int", ATTR_INT, ELEM_I64},       {"value_ints", ATTR_INTS, ELEM_I64},
                {"value_string", ATTR_STRING, ELEM_STR}, {"value_strings", ATTR_STRINGS, ELEM_STR}};
    const struct attr *a = node_attr(f->m, n, "value");
    struct shape s;
    (void)arg;
    if (a != NULL && a->kind == ATTR_TENSOR) {
        const struct tensor *t = &f->m->tensor[a->u.t];
        s = shape_unknown(t->elem);
        s.rank = t->rank <= SHAPE_RANK ? (int)t->rank : -1;
        for (int i = 0; i < s.rank; i++)
            s.d[i] = dim_num(f->m->ints[t->dim + (uint32_t)i]);
        shape_set(f, n, 0, &s);
        return;
    }
    /* form[k]: the attribute is a single element if k is even, a list if k is odd */
    for (size_t k = 0; k < sizeof form / sizeof form[0]; k++) {
        a = node_attr(f->m, n, form[k].name);
        if (a == NULL || a->kind != form[k].kind)
            continue;
        s = k % 2 == 0 ? shape_scalar(form[k].elem)
                       : shape_vector(form[k].elem, dim_num(a->u.list.n));
        shape_set(f, n, 0, &s);
        return;
    }
}

/* Rule for ConstantOfShape: operand 0 lists the shape; the attribute gives the value of all elements (0 as f32 by
 * default). */
void rule_constant_of_shape(struct infer *f, nid n, int arg)
{
    const struct attr *a = node_attr(f->m, n, "value");
    struct shape s = shape_unknown(ELEM_F32);
    int64_t fill = 0;
    bool known = a == NULL;
    (void)arg;
    if (a != NULL && a->kind == ATTR_TENSOR) {
        s.elem = f->m->tensor[a->u.t].elem;
        known = elem_is_integer(s.elem) && tensor_small_ints(f, a->u.t, &fill, 1) == 1;
    }
    read_listed_shape(f, node_in(f->m, n, 0), &s);
    if (known && elem_is_integer(s.elem) && s.rank <= 1 && s.rank >= 0) {
        int64_t k = s.rank == 0 ? 1 : s.d[0].value;
        if (k > 0 && k <= SHAPE_VALUES) {
            struct nums *x = nums_new(f, (uint32_t)k);
            for (uint32_t i = 0; i < x->n; i++)
                x->at[i] = num_int(fill);
            nums_set(f, n, 0, x);
        }
    }
    shape_set(f, n, 0, &s);
}

/* Rule for Range: the result is a vector of the numbers from operand 0 up to, but without, operand 1, in steps of
 * operand 2. */
void rule_range(struct infer *f, nid n, int arg)
{
    const struct nums *a = nums_of(f, node_in(f->m, n, 0)), *b = nums_of(f, node_in(f->m, n, 1)),
                      *c = nums_of(f, node_in(f->m, n, 2));
    struct shape s = shape_vector(elem_in(f, n, 0), dim_unknown());
    (void)arg;
    if (a != NULL && b != NULL && c != NULL && c->at[0].kind == NUM_INT && c->at[0].v != 0) {
        int64_t step = c->at[0].v;
        struct num span = num_sub(f, b->at[0], a->at[0]);
        if (span.kind == NUM_INT) {
            /* span / step, rounded up; 0 if the steps lead away from the end */
            __int128 k = span.v == 0 || (span.v < 0) != (step < 0)
                             ? 0
                             : ((__int128)span.v + step + (step > 0 ? -1 : 1)) / step;
            s.d[0] = k < INT64_MAX ? dim_num((int64_t)k) : dim_unknown();
        } else if (step == 1 && dim_nonneg(f->m, num_dim(span))) {
            s.d[0] = num_dim(span);
        }
        if (s.d[0].value > 0 && s.d[0].value <= SHAPE_VALUES && a->at[0].kind == NUM_INT) {
            struct nums *x = nums_new(f, (uint32_t)s.d[0].value);
            for (uint32_t i = 0; i < x->n; i++)
                x->at[i] = num_add(f, a->at[0], num_int((int64_t)i * step));
            nums_set(f, n, 0, x);
        }
    }
    shape_set(f, n, 0, &s);
}

/* Sets the elements of result 0 of Where n: element i is that of x if element i of the condition c is not 0, else that
 * of y; it stays unknown if the condition is.  Lists of one element stand for any number of equal elements. */
static void choose_elements(struct infer *f, nid n, const struct nums *c, const struct nums *x,
                            const struct nums *y)
{
    uint32_t k = larger_u32(larger_u32(c->n, x->n), y->n);
    bool fits = (c->n == 1 || c->n == k) && (x->n == 1 || x->n == k) && (y->n == 1 || y->n == k);
    struct nums *r = nums_new(f, fits ? k : 0);
    for (uint32_t i = 0; i < r->n; i++) {
        struct num which = c->at[c->n == 1 ? 0 : i];
        if (which.kind == NUM_INT)
            r->at[i] = which.v != 0 ? x->at[x->n == 1 ? 0 : i] : y->at[y->n == 1 ? 0 : i];
    }
    nums_set(f, n, 0, r);
}

/* Rule for Where: operands 0 (the condition), 1 and 2 are broadcast.  Where the elements of all three are followed
 * (scalars and vectors), so are those of the result.  arg 1: QLinearWhere, where a scale and a zero point follow
 * operands 1 and 4, which are broadcast with the condition. */
void rule_where(struct infer *f, nid n, int arg)
{
    struct shape c, x, y;
    const struct nums *nc = nums_of(f, node_in(f->m, n, 0)), *nx = nums_of(f, node_in(f->m, n, 1)),
                      *ny = nums_of(f, node_in(f->m, n, 2));
    shape_in(f, n, 0, &c);
    shape_in(f, n, 1, &x);
    shape_in(f, n, arg == 1 ? 4 : 2, &y);
    enum elem e = x.elem != 0 ? x.elem : y.elem;
    if (arg == 0 && nc != NULL && nx != NULL && ny != NULL && c.rank <= 1 && x.rank <= 1 &&
        y.rank <= 1)
        choose_elements(f, n, nc, nx, ny);
    shape_broadcast(f, &c, &x);
    shape_broadcast(f, &c, &y);
    c.elem = (uint8_t)e;
    shape_set(f, n, 0, &c);
}

/* --- reducing --- */

/* Sets the element of result 0 to the sum, product, minimum or maximum of the elements of operand 0, if this is a
 * vector and its elements are followed.  arg: enum num_op. */
static void reduce_values(struct infer *f, nid n, int arg)
{
    assert(arg >= NUM_NONE && arg <= NUM_COPY);
    const struct nums *x = nums_of(f, node_in(f->m, n, 0));
    struct shape s;
    if (x == NULL || arg == NUM_NONE || !shape_in(f, n, 0, &s) || s.rank != 1)
        return;
    struct nums *r = nums_new(f, 1);
    r->at[0] = x->at[0];
    for (uint32_t i = 1; i < x->n; i++) {
        struct num a = r->at[0], b = x->at[i];
        if (arg == NUM_MUL)
            r->at[0] = num_mul(f, a, b);
        else if (arg == NUM_ADD)
            r->at[0] = num_add(f, a, b);
        else if (a.kind == NUM_INT && b.kind == NUM_INT)
            r->at[0] = num_int((a.v > b.v) == (arg == NUM_MAX) ? a.v : b.v);
        else
            r->at[0] = (struct num){0};
        if (elem_is_float(s.elem))
            r->at[0] = num_as_float(r->at[0]);
    }
    nums_set(f, n, 0, r);
}

/* Rule for ReduceSum and similar operators.  Without axes all axes are reduced, or with noop_with_empty_axes none.
 * arg: enum num_op, by which the elements of a vector are followed, and flags REDUCE_*. */
void rule_reduce(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out;
    int64_t axes[SHAPE_RANK];
    bool over[SHAPE_RANK] = {false}; /* [axis] true: the axis is reduced */
    bool keep = node_attr_int(f->m, n, "keepdims", 1) != 0;
    int k = (arg & REDUCE_ATTR) != 0 ? attr_ints(f, n, "axes", axes, SHAPE_RANK)
                                     : attr_or_input(f, n, "axes", 1, axes, SHAPE_RANK);
    if ((arg & REDUCE_WIDE) != 0)
        in.elem = ELEM_NONE; /* the result has 32 bits, but may be integers or floats */
    if (k <= 0 && k != -2 && node_attr_int(f->m, n, "noop_with_empty_axes", 0) != 0) {
        shape_set_like(f, n, 0, node_in(f->m, n, 0), ELEM_NONE);
        return;
    }
    out = shape_unknown(in.elem);
    if (in.rank >= 0 && k == -2) { /* the axes are not known */
        out.rank = keep ? in.rank : -1;
        for (int i = 0; i < out.rank; i++)
            out.d[i] = in.d[i].value == 1 ? in.d[i] : dim_unknown();
    } else if (in.rank >= 0) {
        bool known = true;
        for (int i = 0; i < (k <= 0 ? in.rank : k); i++) {
            int axis = k <= 0 ? i : axis_of(axes[i], in.rank);
            if (axis >= 0)
                over[axis] = true;
            else
                known = false;
        }
        out.rank = known ? 0 : -1;
        for (int i = 0; i < in.rank && known; i++) {
            if (!over[i] || keep)
                out.d[out.rank++] = over[i] ? dim_num(1) : in.d[i];
        }
        if (known && over[0])
            reduce_values(f, n, arg & NUM_MASK);
    } else if (k == -1 && !keep) { /* all axes of an operand of unknown rank */
        out.rank = 0;
    }
    shape_set(f, n, 0, &out);
}

/* Rule for ArgMax and ArgMin: the result has an index for each position along the other axes; the reduced axis is
 * dropped, or has size 1 with keepdims. */
void rule_arg_reduce(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out = shape_unknown(ELEM_I64);
    (void)arg;
    bool keep = node_attr_int(f->m, n, "keepdims", 1) != 0;
    int axis = axis_of(node_attr_int(f->m, n, "axis", 0), in.rank);
    if (axis >= 0) {
        out.rank = 0;
        for (int i = 0; i < in.rank; i++) {
            if (i != axis || keep)
                out.d[out.rank++] = i == axis ? dim_num(1) : in.d[i];
        }
    }
    shape_set(f, n, 0, &out);
}

/* Rule for TopK: the results are k elements along an axis, and their indices; k is an attribute or operand 1. */
void rule_topk(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    (void)arg;
    const struct attr *a = node_attr(f->m, n, "k");
    const struct nums *k = nums_of(f, node_in(f->m, n, 1));
    int axis = axis_of(node_attr_int(f->m, n, "axis", -1), s.rank);
    if (axis >= 0)
        s.d[axis] = a != NULL && a->kind == ATTR_INT ? dim_num(a->u.i)
                    : k != NULL                      ? num_dim(k->at[0])
                                                     : dim_unknown();
    shape_set(f, n, 0, &s);
    s.elem = ELEM_I64;
    shape_set(f, n, 1, &s);
}

/* Rule for OneHot: the result has a new axis, whose size is the element of operand 1. */
void rule_onehot(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out;
    const struct nums *depth = nums_of(f, node_in(f->m, n, 1));
    (void)arg;
    out = shape_unknown(elem_in(f, n, 2));
    if (in.rank >= 0 && in.rank < SHAPE_RANK) {
        int axis = axis_of(node_attr_int(f->m, n, "axis", -1), in.rank + 1);
        out.rank = axis >= 0 ? in.rank + 1 : -1;
        for (int i = 0, from = 0; i < out.rank; i++)
            out.d[i] =
                i == axis ? (depth != NULL ? num_dim(depth->at[0]) : dim_unknown()) : in.d[from++];
    }
    shape_set(f, n, 0, &out);
}

/* Rule for NonZero: the result has the shape (rank of operand 0, number of elements that are not 0); the number
 * depends on the data. */
void rule_nonzero(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out = {.elem = ELEM_I64, .rank = 2};
    (void)arg;
    out.d[0] = in.rank >= 0 ? dim_num(in.rank) : dim_unknown();
    out.d[1] = dim_unknown();
    shape_set(f, n, 0, &out);
}

/* Rule for Compress: the result keeps some entries of an axis or, if there is no axis, some of all elements in a
 * row; how many depends on the data. */
void rule_compress(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    const struct attr *a = node_attr(f->m, n, "axis");
    (void)arg;
    int axis = a != NULL && a->kind == ATTR_INT ? axis_of(a->u.i, s.rank) : -1;
    if (a == NULL)
        s.rank = 1;
    else if (axis < 0)
        s.rank = -1;
    if (s.rank > 0)
        s.d[a == NULL ? 0 : axis] = dim_unknown();
    shape_set(f, n, 0, &s);
}

/* Rule for RandomNormal and RandomUniform: shape and element type are attributes.  arg: the element type if the
 * attribute is absent. */
void rule_random(struct infer *f, nid n, int arg)
{
    int64_t d[SHAPE_RANK], e = node_attr_int(f->m, n, "dtype", arg);
    struct shape s = shape_unknown(e > 0 && e < ELEM_COUNT ? (enum elem)e : ELEM_F32);
    s.rank = attr_ints(f, n, "shape", d, SHAPE_RANK);
    for (int i = 0; i < s.rank; i++)
        s.d[i] = dim_num(d[i]);
    shape_set(f, n, 0, &s);
}

/* Rule for Unique.  The results are: the distinct elements; for each of them the index where it occurs first; for
 * each element of operand 0 its index among the distinct elements; and for each distinct element how often it
 * occurs.  With an axis, slices along it count as elements.  arg 1: Unique of com.microsoft, which has no axis and
 * not the second result. */
void rule_unique(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out = shape_vector((enum elem)in.elem, dim_unknown()),
                 numbers = shape_vector(ELEM_I64, dim_unknown()),
                 some = shape_vector(ELEM_I64, dim_unknown());
    const struct attr *a = arg == 0 ? node_attr(f->m, n, "axis") : NULL;
    int axis = a != NULL && a->kind == ATTR_INT ? axis_of(a->u.i, in.rank) : -1;
    if (a == NULL && in.rank >= 0) {
        numbers.d[0] = dim_product(f->m, in.d, 0, in.rank);
    } else if (a != NULL) {
        numbers.d[0] = axis >= 0 ? in.d[axis] : dim_unknown();
        out = in;
        out.rank = axis >= 0 ? in.rank : -1;
        if (axis >= 0)
            out.d[axis] = dim_unknown();
    }
    shape_set(f, n, 0, &out);
    shape_set(f, n, 1, arg == 1 ? &numbers : &some);
    shape_set(f, n, 2, arg == 1 ? &some : &numbers);
    shape_set(f, n, 3, &some);
}

/* Rule for Multinomial: the result has the shape (batch, samples); the number of samples is an attribute. */
void rule_multinomial(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out = {.rank = 2};
    int64_t e = node_attr_int(f->m, n, "dtype", ELEM_I32);
    (void)arg;
    out.elem = e > 0 && e < ELEM_COUNT ? (uint8_t)e : ELEM_NONE;
    out.d[0] = shape_dim(&in, 0);
    out.d[1] = dim_num(node_attr_int(f->m, n, "sample_size", 1));
    shape_set(f, n, 0, &out);
}

/* Rule for SliceGrad and DequantizeBFP: an operand lists the shape of the result.  arg: LISTED_* (infer.h). */
void rule_listed(struct infer *f, nid n, int arg)
{
    int64_t e = node_attr_int(f->m, n, "dtype", ELEM_F32);
    struct shape s = shape_unknown(elem_in(f, n, 0));
    if ((arg & LISTED_DTYPE) != 0)
        s.elem = e > 0 && e < ELEM_COUNT ? (uint8_t)e : ELEM_NONE;
    read_listed_shape(f, node_in(f->m, n, (uint32_t)(arg & LISTED_OPERAND)), &s);
    shape_set(f, n, 0, &s);
}

/* Rule for QuantizeBFP: the results are bytes, whose number is not known; the shape of operand 0; and its strides. */
void rule_bfp(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out = shape_vector(ELEM_U8, dim_unknown());
    (void)arg;
    shape_set(f, n, 0, &out);
    out = shape_vector(ELEM_I64, dim_num(in.rank));
    shape_set(f, n, 1, &out);
    shape_set(f, n, 2, &out);
}

/* Rule for GivenTensorFill.  Without operand 0, attribute shape gives the shape of the result.  Else the shape is
 * that of operand 0, or with input_as_shape the list in operand 0; the axes of extra_shape follow. */
void rule_tensor_fill(struct infer *f, nid n, int arg)
{
    int64_t d[SHAPE_RANK];
    struct shape s = {.rank = -1};
    (void)arg;
    if (node_in(f->m, n, 0) == 0)
        s.rank = attr_ints(f, n, "shape", d, SHAPE_RANK);
    for (int i = 0; i < s.rank; i++)
        s.d[i] = dim_num(d[i]);
    if (node_attr_int(f->m, n, "input_as_shape", 0) != 0)
        read_listed_shape(f, node_in(f->m, n, 0), &s);
    else if (node_in(f->m, n, 0) != 0)
        shape_in(f, n, 0, &s);
    int more = node_in(f->m, n, 0) != 0 ? attr_ints(f, n, "extra_shape", d, SHAPE_RANK) : 0;
    for (int i = 0; i < more && s.rank >= 0; i++) {
        if (s.rank == SHAPE_RANK)
            s.rank = -1;
        else
            s.d[s.rank++] = dim_num(d[i]);
    }
    s.elem = (uint8_t)elem_in(f, n, 0);
    shape_set(f, n, 0, &s);
}

/* Rule for DynamicTimeWarping: the result has the shape (2, length of the path): the rows and the columns that the
 * path goes through. */
void rule_time_warping(struct infer *f, nid n, int arg)
{
    struct shape s = {.elem = ELEM_I32, .rank = 2, .d = {dim_num(2), dim_unknown()}};
    (void)arg;
    shape_set(f, n, 0, &s);
}

/* Rule for BifurcationDetector: result 0 has the tokens so far and the predicted tokens that matched, whose number
 * depends on the data; result 1 has the index at which a match was found. */
void rule_bifurcation(struct infer *f, nid n, int arg)
{
    struct shape words = shape_vector(ELEM_I64, dim_unknown()), place = shape_scalar(ELEM_I64);
    (void)arg;
    shape_set(f, n, 0, &words);
    shape_set(f, n, 1, &place);
}

/* Rule for BiasSplitGelu: one half of the last axis gates the other, so the result has half as many elements there. */
void rule_split_half(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    (void)arg;
    if (s.rank > 0)
        s.d[s.rank - 1] = dim_div(f->m, s.d[s.rank - 1], dim_num(2));
    shape_set(f, n, 0, &s);
}

/* Rule for BroadcastGradientArgs: all results are vectors of i64 whose length depends on the data. */
void rule_unknown_vectors(struct infer *f, nid n, int arg)
{
    struct shape s = shape_vector(ELEM_I64, dim_unknown());
    (void)arg;
    for (uint32_t i = 0; i < f->m->node[n].out.n; i++)
        shape_set(f, n, i, &s);
}
