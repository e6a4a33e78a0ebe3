/* Shape inference: rules of operators that rearrange, join, cut and pick elements.
 * Axes, pads, sizes of pieces and similar lists are attributes in old opsets and operands in new ones; attr_or_input()
 * takes the one that is there.  A rule gives its results types and, where the elements of operands are followed
 * (infer_values.c), elements, too.  O(operands * rank) for each node, and O(elements) where elements are followed. */
#include "passes/shapes/infer.h"

#include <assert.h>
#include <string.h>

/* --- new axes, other axes --- */

/* Writes to *out the dimension that `want`, entry i of a Reshape's target, stands for, given an
 * operand of shape *in: an entry 0 is dimension i of the operand or, if allow_zero, the number 0.
 * Returns -1 if the entry is -1 (to be computed from the number of elements), else 0. */
static int target_dim(struct num want, const struct shape *in, int i, bool allow_zero,
                      struct dim *out)
{
    *out = num_dim(want);
    if (want.kind != NUM_INT)
        return 0;
    if (want.v == 0 && !allow_zero)
        *out = in->rank > i ? in->d[i] : dim_unknown();
    return want.v == -1 ? -1 : 0;
}

/* Returns dimension `hole` of *out, the one with which *out has as many elements as *in: the product of in's dimensions
 * divided by the product of out's other dimensions.  Equal dimensions are cancelled first. */
static struct dim fitting_dim(struct infer *f, const struct shape *in, const struct shape *out,
                              int hole)
{
    struct dim total = dim_num(1), rest = dim_num(1);
    bool used[SHAPE_RANK] = {false};
    if (in->rank < 0)
        return dim_unknown();
    for (int o = 0; o < out->rank; o++) {
        int i = 0;
        while (o != hole && i < in->rank && (used[i] || !dim_same(in->d[i], out->d[o])))
            i++;
        if (o != hole && i < in->rank)
            used[i] = true;
        else if (o != hole)
            rest = dim_mul(f->m, rest, out->d[o]);
    }
    for (int i = 0; i < in->rank; i++) {
        if (!used[i])
            total = dim_mul(f->m, total, in->d[i]);
    }
    if (total.value >= 0 && rest.value > 0 && total.value % rest.value != 0)
        return dim_unknown();
    return dim_div(f->m, total, rest);
}

/* Rule for Reshape: operand 1, or an attribute in old opsets, lists the target shape; elements keep their order. */
void rule_reshape(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), target, out = {.rank = 0};
    const struct nums *want = nums_of(f, node_in(f->m, n, 1));
    const struct attr *old = node_attr(f->m, n, "shape");
    bool allow_zero = node_attr_int(f->m, n, "allowzero", 0) != 0;
    (void)arg;
    out.elem = in.elem;
    if (want == NULL && old != NULL && old->kind == ATTR_INTS && old->u.list.n <= SHAPE_RANK) {
        struct nums *x = nums_new(f, old->u.list.n);
        for (uint32_t i = 0; i < x->n; i++)
            x->at[i] = num_int(f->m->ints[old->u.list.at + i]);
        want = x;
    }
    nums_set(f, n, 0, nums_of(f, node_in(f->m, n, 0)));
    /* the target's elements are not known, but perhaps their number, the rank */
    if (want == NULL) {
        bool known = shape_in(f, n, 1, &target) && target.rank == 1 && target.d[0].value >= 0 &&
                     target.d[0].value <= SHAPE_RANK;
        out.rank = known ? (int)target.d[0].value : -1;
        for (int i = 0; i < out.rank; i++)
            out.d[i] = dim_unknown();
        shape_set(f, n, 0, &out);
        return;
    }
    int hole = -1;
    out.rank = want->n <= SHAPE_RANK ? (int)want->n : -1;
    for (int i = 0; i < out.rank; i++)
        hole = target_dim(want->at[i], &in, i, allow_zero, &out.d[i]) < 0 ? i : hole;
    if (hole >= 0)
        out.d[hole] = fitting_dim(f, &in, &out, hole);
    shape_set(f, n, 0, &out);
}

/* Rule for Flatten: the result is a matrix whose number of rows is the product of the axes before attribute `axis`,
 * and whose number of columns is the product of the other axes. */
void rule_flatten(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out = {.rank = 2};
    (void)arg;
    int64_t axis = node_attr_int(f->m, n, "axis", 1);
    axis = axis < 0 ? axis + in.rank : axis;
    out.elem = in.elem;
    out.d[0] = out.d[1] = dim_unknown();
    if (in.rank >= 0 && axis >= 0 && axis <= in.rank) {
        out.d[0] = dim_product(f->m, in.d, 0, (int)axis);
        out.d[1] = dim_product(f->m, in.d, (int)axis, in.rank);
    }
    shape_set(f, n, 0, &out);
}

/* Sets the elements of result 0 to those of operand 0, a matrix of shape *in, transposed. */
static void transpose_values(struct infer *f, nid n, const struct shape *in)
{
    const struct nums *x = nums_of(f, node_in(f->m, n, 0));
    int64_t rows = in->d[0].value, cols = in->d[1].value;
    if (x == NULL || rows < 1 || cols < 1 || rows > SHAPE_VALUES || cols > SHAPE_VALUES ||
        rows * cols != x->n)
        return;
    struct nums *r = nums_new(f, x->n);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < cols; k++)
            r->at[k * rows + i] = x->at[i * cols + k];
    }
    nums_set(f, n, 0, r);
}

/* Rule for Transpose: axis i of the result is axis perm[i] of the operand; without perm the axes are reversed. */
void rule_transpose(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out = shape_unknown(in.elem);
    int64_t perm[SHAPE_RANK];
    (void)arg;
    int k = attr_ints(f, n, "perm", perm, SHAPE_RANK);
    if (in.rank < 0 && k > 0) {
        out.rank = k;
        for (int i = 0; i < k; i++)
            out.d[i] = dim_unknown();
    } else if (in.rank >= 0 && (k < 0 || k == in.rank)) {
        out.rank = in.rank;
        for (int i = 0; i < in.rank; i++) {
            int from = k < 0 ? in.rank - 1 - i : axis_of(perm[i], in.rank);
            out.d[i] = from >= 0 ? in.d[from] : dim_unknown();
        }
    }
    if (in.rank == 1)
        nums_set(f, n, 0, nums_of(f, node_in(f->m, n, 0)));
    else if (in.rank == 2 && (k < 0 || (k == 2 && perm[0] == 1 && perm[1] == 0)))
        transpose_values(f, n, &in);
    shape_set(f, n, 0, &out);
}

/* Rule for Squeeze: drops the listed axes; without a list, all axes of size 1. */
void rule_squeeze(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out = shape_unknown(in.elem);
    int64_t axes[SHAPE_RANK];
    bool drop[SHAPE_RANK] = {false};
    (void)arg;
    int k = attr_or_input(f, n, "axes", 1, axes, SHAPE_RANK);
    bool known = in.rank >= 0 && k != -2;
    for (int i = 0; i < k && known; i++) {
        int axis = axis_of(axes[i], in.rank);
        known = axis >= 0;
        if (known)
            drop[axis] = true;
    }
    for (int i = 0; i < in.rank && k == -1; i++) { /* without axes: every dimension that is 1 */
        drop[i] = in.d[i].value == 1;
        known = known && in.d[i].value >= 0;
    }
    if (known) {
        out.rank = 0;
        for (int i = 0; i < in.rank; i++) {
            if (!drop[i])
                out.d[out.rank++] = in.d[i];
        }
    }
    nums_set(f, n, 0, nums_of(f, node_in(f->m, n, 0)));
    shape_set(f, n, 0, &out);
}

/* Rule for Unsqueeze: inserts axes of size 1 at the listed positions of the result. */
void rule_unsqueeze(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out = shape_unknown(in.elem);
    int64_t axes[SHAPE_RANK];
    bool is_new[SHAPE_RANK] = {false};
    (void)arg;
    int k = attr_or_input(f, n, "axes", 1, axes, SHAPE_RANK), rank = in.rank + k;
    bool known = in.rank >= 0 && k >= 0 && rank <= SHAPE_RANK;
    for (int i = 0; i < k && known; i++) {
        int axis = axis_of(axes[i], rank);
        known = axis >= 0 && !is_new[axis];
        if (known)
            is_new[axis] = true;
    }
    if (known) {
        out.rank = rank;
        for (int i = 0, from = 0; i < rank; i++)
            out.d[i] = is_new[i] ? dim_num(1) : in.d[from++];
    }
    nums_set(f, n, 0, nums_of(f, node_in(f->m, n, 0)));
    shape_set(f, n, 0, &out);
}

/* --- joining and cutting --- */

/* Sets the elements of result 0 to those of all operands, one operand after the other, if all are short vectors. */
static void concat_values(struct infer *f, nid n)
{
    struct shape s;
    uint64_t total = 0;
    bool some = false;
    for (uint32_t i = 0; i < f->m->node[n].nformal; i++) {
        if (!shape_in(f, n, i, &s) || s.rank != 1 || s.d[0].value < 0 ||
            !(s.elem == ELEM_NONE || elem_followed((enum elem)s.elem)))
            return;
        total += (uint64_t)s.d[0].value;
        if (total > SHAPE_VALUES)
            return;
        some = some || nums_of(f, node_in(f->m, n, i)) != NULL;
    }
    if (!some)
        return;
    struct nums *r = nums_new(f, (uint32_t)total);
    uint32_t at = 0;
    for (uint32_t i = 0; i < f->m->node[n].nformal; i++) {
        const struct nums *x = nums_of(f, node_in(f->m, n, i));
        shape_in(f, n, i, &s);
        for (uint32_t k = 0; k < (uint32_t)s.d[0].value; k++, at++) {
            if (x != NULL && x->n == (uint32_t)s.d[0].value)
                r->at[at] = x->at[k];
        }
    }
    nums_set(f, n, 0, r);
}

/* Rule for Concat.  arg: number of operands for each piece: 1; 3 for QLinearConcat, where a scale and a zero point
 * follow each piece, and the scale and the zero point of the result come first. */
void rule_concat(struct infer *f, nid n, int arg)
{
    struct shape out, s;
    uint32_t step = (uint32_t)arg, i = step == 3 ? 2 : 0;
    shape_in(f, n, i, &out); /* shape of the first piece; the loop below adds the other pieces */
    int64_t along = node_attr_int(f->m, n, "axis", f->opset < 4 ? 1 : 0);
    int axis = axis_of(along, out.rank);
    for (i += step; i < f->m->node[n].nformal; i += step) {
        shape_in(f, n, i, &s);
        if (out.rank < 0 && s.rank >= 0) { /* all pieces have the rank of this one */
            out.rank = s.rank;
            axis = axis_of(along, out.rank);
            for (int k = 0; k < out.rank; k++)
                out.d[k] = k == axis ? dim_unknown() : s.d[k];
            continue;
        }
        /* nothing is known of this piece, or the pieces do not fit together */
        if (out.rank != s.rank || axis < 0) {
            if (s.rank < 0 && axis >= 0)
                out.d[axis] = dim_unknown();
            continue;
        }
        for (int k = 0; k < out.rank; k++) {
            if (k == axis)
                out.d[k] = dim_add(f->m, out.d[k], s.d[k]);
            else if (out.d[k].value < 0 && (s.d[k].value >= 0 || !dim_known(out.d[k])))
                out.d[k] = s.d[k];
        }
    }
    if (axis < 0)
        out.rank = -1;
    if (step == 1)
        concat_values(f, n);
    shape_set(f, n, 0, &out);
    if (f->m->node[n].out.n > 1) { /* ConcatTraining: result 1 lists the sizes of the operands */
        out = shape_vector(ELEM_I64, dim_num(f->m->node[n].nformal));
        shape_set(f, n, 1, &out);
    }
}

/* Returns the size of piece i, from 0, when a dimension is split into k equal pieces (the last may be smaller). */
static struct dim piece_size(struct dim whole, uint32_t i, uint32_t k)
{
    assert(i < k);
    if (k == 1)
        return whole;
    if (whole.value < 0 || whole.value > INT64_MAX / 2)
        return dim_unknown();
    int64_t each = (whole.value + k - 1) / k, left = whole.value - each * (int64_t)i;
    return dim_num(left < 0 ? 0 : smaller(left, each));
}

/* Rule for Split: the results are pieces along an axis; the sizes of pieces are listed, or equal. */
void rule_split(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0);
    int64_t size[SHAPE_VALUES];
    uint32_t pieces = f->m->node[n].out.n;
    (void)arg;
    int axis = axis_of(node_attr_int(f->m, n, "axis", 0), in.rank);
    int k = attr_or_input(f, n, "split", 1, size, SHAPE_VALUES);
    int64_t declared = node_attr_int(f->m, n, "num_outputs", pieces);
    if (declared > pieces && declared <= UINT32_MAX) /* a node may leave out results at the end */
        pieces = (uint32_t)declared;
    for (uint32_t i = 0; i < f->m->node[n].out.n; i++) {
        struct shape s = in;
        if (axis < 0) {
            s.rank = -1;
        } else if (k >= 0) {
            s.d[axis] = i < (uint32_t)k ? dim_num(size[i]) : dim_unknown();
        } else {
            s.d[axis] = k == -1 ? piece_size(in.d[axis], i, pieces) : dim_unknown();
        }
        shape_set(f, n, i, &s);
    }
}

/* --- Slice --- */

/* Whether d is certainly at least 1, taking every name to be at least 1. */
static bool dim_positive(const struct module *m, struct dim d)
{
    return d.sym == 0 ? d.value >= 1
                      : dim_nonneg(m, d) && strchr(module_str(m, d.sym), '/') == NULL &&
                            strchr(module_str(m, d.sym), '(') == NULL;
}

/* Returns x, a start or end of a Slice along a dimension d with a positive step, as a position in [0, d]; unknown if
 * the position is not certain. */
static struct dim slice_position(struct infer *f, struct num x, struct dim d)
{
    if (x.kind == NUM_INT && d.value >= 0) {
        int64_t v = x.v < 0 ? (x.v < -d.value ? 0 : x.v + d.value) : x.v;
        return dim_num(smaller(v, d.value));
    }
    if (x.kind == NUM_INT) { /* d has names, or is unknown */
        /* exporters write numbers from INT32_MAX on for "up to the end" */
        if (x.v == 0 || x.v >= INT32_MAX)
            return x.v == 0 ? dim_num(0) : d;
        if (x.v == 1 && dim_positive(f->m, d))
            return dim_num(1);
        if (x.v == -1 && dim_positive(f->m, d))
            return dim_sub(f->m, d, dim_num(1));
        return dim_unknown();
    }
    if (x.kind != NUM_SYM || !dim_known(d))
        return dim_unknown();
    struct dim p = num_dim(x);
    if (dim_nonneg(f->m, p)) {
        bool inside = dim_nonneg(f->m, dim_sub(f->m, d, p));
        f->hides = f->hides || !inside;
        return inside || f->pure ? p : dim_min(f->m, d, p);
    }
    /* p counts from the end of the dimension; back: the distance from there */
    struct dim back = dim_sub(f->m, dim_num(0), p);
    struct dim at = dim_sub(f->m, d, back);
    f->hides = f->hides || (dim_nonneg(f->m, back) && !dim_nonneg(f->m, at));
    return dim_nonneg(f->m, back) && (f->pure || dim_nonneg(f->m, at)) ? at : dim_unknown();
}

/* Returns the number of positions that a Slice with a negative step takes of a dimension of size d:
 * from `start` down to, but without, `end`.  Negative values of these two count from the end. */
static struct dim slice_backwards(int64_t start, int64_t end, int64_t step, int64_t d)
{
    assert(step < 0 && d >= 0);
    /* both become positions; an end before the beginning is position -1, while a start is never before 0 */
    start = start < 0 ? (start < -d ? 0 : start + d) : start;
    start = smaller(start, d - 1);
    end = end < 0 ? (end < -d ? -1 : end + d) : end;
    end = smaller(end, d - 1);
    int64_t span = start - end, by = step == INT64_MIN ? INT64_MAX : -step;
    return dim_num(span <= 0 ? 0 : (span - 1) / by + 1);
}

/* Returns the size of dimension d after a Slice with these start, end and step (not 0); unknown if it is not
 * certain. */
static struct dim slice_dim(struct infer *f, struct dim d, struct num start, struct num end,
                            int64_t step)
{
    if (step < 0) {
        bool ints = start.kind == NUM_INT && end.kind == NUM_INT;
        /* these ends mean "to the last position", which is not defined for a negative step */
        bool far = ints && (end.v == INT32_MAX || end.v == INT64_MAX);
        if (ints && !far && d.value >= 0)
            return slice_backwards(start.v, end.v, step, d.value);
        /* whether the Slice reverses the whole axis */
        bool whole =
            ints && step == -1 && (start.v == -1 || start.v >= INT32_MAX) && end.v <= -INT32_MAX;
        return whole ? d : dim_unknown();
    }
    struct dim s = slice_position(f, start, d), e = slice_position(f, end, d);
    if (!dim_known(s) || !dim_known(e))
        return dim_unknown();
    struct dim span;
    if (s.value >= 0 && e.value >= 0) {
        span = dim_num(e.value > s.value ? e.value - s.value : 0);
    } else {
        span = dim_sub(f->m, e, s);
        /* whether the rest is d - 1, which is not negative, since d is at least 1 */
        bool rest = s.value == 1 && dim_same(e, d);
        /* whether end - start is certainly not negative; else the size is known in pure mode only (infer.pure) */
        bool sure = dim_nonneg(f->m, span) || rest || (s.value == 0 && s.sym == 0);
        f->hides = f->hides || !sure;
        if (!sure && !f->pure)
            return dim_unknown();
    }
    return step == 1 ? span : dim_div(f->m, dim_shift(f->m, span, step - 1), dim_num(step));
}

/* Which elements a Slice takes. */
struct slice_spec {
    const struct nums *start, *end; /* [naxes] positions; NULL: not known */
    int naxes;
    int64_t axis[SHAPE_RANK], step[SHAPE_RANK]; /* [naxes] step 0: not known */
};

/* Reads what Slice n does into *x: its starts and ends (NULL: not known), axes and steps.  Returns
 * false if the axes are not known, or if there are more or fewer starts or ends than axes. */
static bool slice_spec(struct infer *f, nid n, struct slice_spec *x)
{
    struct shape s;
    x->start = nums_attr_or_input(f, n, "starts", 1);
    x->end = nums_attr_or_input(f, n, "ends", 2);
    int count = x->start != NULL ? (int)x->start->n : x->end != NULL ? (int)x->end->n : -1;
    if (count < 0 && shape_in(f, n, 1, &s) && s.rank == 1 && s.d[0].value <= SHAPE_RANK)
        count = (int)s.d[0].value;
    x->naxes = attr_or_input(f, n, "axes", 3, x->axis, SHAPE_RANK);
    if (x->naxes == -1) {
        x->naxes = count;
        for (int i = 0; i < count && i < SHAPE_RANK; i++)
            x->axis[i] = i;
    }
    if (x->naxes < 0 || x->naxes > SHAPE_RANK)
        return false;
    int k = f->opset < 10 ? -1 : attr_or_input(f, n, "steps", 4, x->step, SHAPE_RANK);
    for (int i = 0; i < x->naxes; i++) /* k == -1: there is no list of steps */
        x->step[i] = k == -1 ? 1 : k == x->naxes ? x->step[i] : 0;
    return (x->start == NULL || (int)x->start->n == x->naxes) &&
           (x->end == NULL || (int)x->end->n == x->naxes);
}

/* Sets the elements of result 0 for a Slice of a vector, or of the rows of a matrix (which exporters use to reverse
 * a list of pads). */
static void slice_values(struct infer *f, nid n, const struct slice_spec *x)
{
    const struct nums *in = nums_of(f, node_in(f->m, n, 0));
    struct shape s;
    if (in == NULL || !shape_in(f, n, 0, &s) || s.rank < 1 || s.rank > 2 || x->naxes != 1 ||
        x->start == NULL || x->end == NULL || x->start->at[0].kind != NUM_INT ||
        x->end->at[0].kind != NUM_INT || x->step[0] == 0 || axis_of(x->axis[0], s.rank) != 0)
        return;
    /* row: number of elements in a row; d: number of rows */
    int64_t row = s.rank == 2 ? s.d[1].value : 1, d = s.d[0].value;
    int64_t step = x->step[0], first = x->start->at[0].v;
    if (row < 1 || row > SHAPE_VALUES || d < 1 || d > SHAPE_VALUES || d * row != in->n)
        return;
    struct dim count = slice_dim(f, dim_num(d), x->start->at[0], x->end->at[0], step);
    if (count.value <= 0)
        return;
    first = first < 0 ? (first < -d ? 0 : first + d) : first;
    first = smaller(first, d - 1);
    struct nums *r = nums_new(f, (uint32_t)(count.value * row));
    for (int64_t i = 0; i < count.value; i++) {
        for (int64_t k = 0; k < row; k++)
            r->at[i * row + k] = in->at[(first + i * step) * row + k];
    }
    nums_set(f, n, 0, r);
}

/* Rule for Slice: takes positions start .. end - 1, in steps, of some axes.  start, end, axes and steps are operands
 * 1 to 4, or attributes in old opsets. */
void rule_slice(struct infer *f, nid n, int arg)
{
    struct shape s;
    struct slice_spec x = {0};
    (void)arg;
    if (!shape_in(f, n, 0, &s))
        return;
    if (slice_spec(f, n, &x)) {
        for (int i = 0; i < x.naxes && s.rank >= 0; i++) {
            int axis = axis_of(x.axis[i], s.rank);
            struct num none = {0};
            if (axis < 0)
                s.rank = -1;
            else
                s.d[axis] = x.step[i] == 0
                                ? dim_unknown()
                                : slice_dim(f, s.d[axis], x.start != NULL ? x.start->at[i] : none,
                                            x.end != NULL ? x.end->at[i] : none, x.step[i]);
        }
        slice_values(f, n, &x);
    } else {
        for (int i = 0; i < s.rank; i++)
            s.d[i] = dim_unknown();
    }
    shape_set(f, n, 0, &s);
}

/* --- Gather and friends --- */

/* Sets the elements of result 0 for a Gather from a vector, at one index or a vector of indices; an
 * element whose index is unknown or out of range stays unknown.  in, index: shapes of operands 0
 * and 1. */
static void gather_values(struct infer *f, nid n, const struct shape *in, const struct shape *index)
{
    const struct nums *x = nums_of(f, node_in(f->m, n, 0));
    const struct nums *i = nums_of(f, node_in(f->m, n, 1));
    if (x == NULL || i == NULL || in->rank != 1 || index->rank > 1)
        return;
    struct nums *r = nums_new(f, i->n);
    for (uint32_t k = 0; k < i->n; k++) {
        int64_t at = i->at[k].kind == NUM_INT ? i->at[k].v : INT64_MIN;
        at = at < 0 && at != INT64_MIN ? at + x->n : at;
        if (at >= 0 && at < x->n)
            r->at[k] = x->at[at];
    }
    nums_set(f, n, 0, r);
}

/* Writes to *out the dimensions of shape *in with `axis` replaced by the dimensions of *index; if that is not possible
 * (axis -1: out of range), *out is not changed. */
static void gather_shape(const struct shape *in, const struct shape *index, int axis,
                         struct shape *out)
{
    assert(axis >= -1 && axis < SHAPE_RANK && in->rank <= SHAPE_RANK);
    if (axis < 0 || index->rank < 0 || in->rank - 1 + index->rank > SHAPE_RANK)
        return;
    out->rank = in->rank - 1 + index->rank;
    memcpy(&out->d[0], &in->d[0], (size_t)axis * sizeof in->d[0]);
    memcpy(&out->d[axis], &index->d[0], (size_t)index->rank * sizeof in->d[0]);
    memcpy(&out->d[axis + index->rank], &in->d[axis + 1],
           (size_t)(in->rank - 1 - axis) * sizeof in->d[0]);
}

/* Rule for Gather: picks the entries of an axis of operand 0 whose indices operand 1 lists. */
void rule_gather(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), index = operand_shape(f, n, 1),
                 out = shape_unknown(in.elem);
    (void)arg;
    gather_shape(&in, &index, axis_of(node_attr_int(f->m, n, "axis", 0), in.rank), &out);
    gather_values(f, n, &in, &index);
    shape_set(f, n, 0, &out);
}

/* Rule for GatherElements: the result has an element for each index in operand 1. */
void rule_gather_elements(struct infer *f, nid n, int arg)
{
    (void)arg;
    shape_set_like(f, n, 0, node_in(f->m, n, 1), elem_in(f, n, 0));
}

/* Rule for GatherND: the last axis of operand 1 holds coordinates of the elements or slices of operand 0 that make
 * the result. */
void rule_gather_nd(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), index = operand_shape(f, n, 1),
                 out = shape_unknown(in.elem);
    (void)arg;
    int64_t batch = node_attr_int(f->m, n, "batch_dims", 0);
    if (in.rank >= 0 && index.rank > 0 && index.d[index.rank - 1].value >= 0 && batch >= 0 &&
        batch <= SHAPE_RANK) {
        /* last: number of coordinates of an element or slice; from: the first axis of operand 0 that has no coordinate,
         * with which slices begin */
        int64_t last = index.d[index.rank - 1].value, from = last <= SHAPE_RANK ? batch + last : -1;
        if (from >= 0 && from <= in.rank && index.rank - 1 + in.rank - from <= SHAPE_RANK) {
            out.rank = index.rank - 1 + in.rank - (int)from;
            memcpy(&out.d[0], &index.d[0], (size_t)(index.rank - 1) * sizeof in.d[0]);
            memcpy(&out.d[index.rank - 1], &in.d[from],
                   (size_t)(in.rank - (int)from) * sizeof in.d[0]);
        }
    }
    shape_set(f, n, 0, &out);
}

/* Rule for GatherBlockQuantized of com.microsoft: a Gather from a quantized table.  If elements have fewer than 8
 * bits, several are packed in a byte along the last axis; the result has them unpacked. */
void rule_gather_blocks(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), index = operand_shape(f, n, 1), out;
    int64_t bits = node_attr_int(f->m, n, "bits", 4);
    (void)arg;
    out = shape_unknown(elem_in(f, n, 2));
    int axis = axis_of(node_attr_int(f->m, n, "gather_axis", 0), in.rank);
    if (in.elem == ELEM_U8 && in.rank > 0 && bits > 0 && bits < 8)
        in.d[in.rank - 1] = dim_mul(f->m, in.d[in.rank - 1], dim_num(8 / bits));
    gather_shape(&in, &index, axis, &out);
    shape_set(f, n, 0, &out);
}

/* Rule for Embedding: operand `arg` is a table, and the next operand lists rows of the table; these rows stand on a
 * new last axis of the result. */
void rule_embedding(struct infer *f, nid n, int arg)
{
    struct shape table = operand_shape(f, n, (uint32_t)arg),
                 out = operand_shape(f, n, (uint32_t)arg + 1);
    out.elem = table.elem;
    if (out.rank >= 0 && out.rank < SHAPE_RANK)
        out.d[out.rank++] = shape_dim(&table, 1);
    else
        out.rank = -1;
    shape_set(f, n, 0, &out);
}

/* Rule for Det: the result has a determinant for each matrix in the last two axes of the operand. */
void rule_det(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    (void)arg;
    s.rank = s.rank >= 2 ? s.rank - 2 : -1;
    shape_set(f, n, 0, &s);
}
