/* Computes operators (compute.h): those of shapes and constants, and those that only move elements.
 *
 * Elements are moved by a walk over two tensors with a step along each dimension of each tensor (struct box).
 * Transpose takes the steps of its operand in another order, Slice begins at a later element and takes larger steps,
 * Expand takes steps of 0, and Concat walks once over each operand and its part of the result.  O(elements of the
 * result). */
#include "ir/model/compute_state.h"

#include <string.h>

/* ---- shapes ------------------------------------------------------------------------------------- */

/* Returns an axis, which counts from the end if it is negative, as a number from 0 to rank; axes outside this range
 * are clamped to it. */
static uint32_t clamp_axis(int64_t axis, uint32_t rank)
{
    if (axis < 0)
        axis += rank;
    if (axis < 0)
        return 0;
    return axis < (int64_t)rank ? (uint32_t)axis : rank;
}

/* Computes Shape: the sizes of the operand's dimensions from `start` to `end`; unknown sizes are unknown elements. */
bool compute_shape(struct computation *c, int arg)
{
    const struct known *x = take_operand(c, 0);
    (void)arg;
    if (x == NULL)
        return false;
    uint32_t from = clamp_axis(take_int(c, "start", 0), x->rank);
    uint32_t to = clamp_axis(take_int(c, "end", x->rank), x->rank);
    const int64_t n = to > from ? to - from : 0;
    struct known *y = compute_make(c, 0, ELEM_I64, 1, &n);
    for (int64_t i = 0; y != NULL && i < n; i++)
        put_number(c, y, i, x->dim[from + i] >= 0, (union number){.i = x->dim[from + i]});
    return y != NULL;
}

/* Computes Size: the number of elements of the operand. */
bool compute_size(struct computation *c, int arg)
{
    const struct known *x = take_operand(c, 0);
    struct known *y = x != NULL && x->n >= 0 ? compute_make(c, 0, ELEM_I64, 0, NULL) : NULL;
    (void)arg;
    if (y != NULL)
        put_number(c, y, 0, /*good=*/true, (union number){.i = x->n});
    return y != NULL;
}

/* Computes Identity: the operand unchanged. */
bool compute_identity(struct computation *c, int arg)
{
    const struct known *x = take_elements(c, 0);
    (void)arg;
    return x != NULL && make_reshaped(c, x, x->rank, x->dim);
}

/* Writes to dim[] the sizes that Reshape's operand `shape` gives for x: 0 means x's size (unless allowzero is set),
 * -1 the one size that follows from the others.  Returns false if the shape is not possible. */
static bool resolve_shape(struct computation *c, const struct known *x, struct list shape,
                          int64_t *dim)
{
    const bool zero = take_int(c, "allowzero", 0) != 0;
    uint32_t open = UINT32_MAX; /* the entry that is -1; UINT32_MAX: none */
    for (uint32_t i = 0; i < shape.n; i++) {
        dim[i] = shape.at[i];
        if (dim[i] == 0 && !zero) {
            if (i >= x->rank)
                return false;
            dim[i] = x->dim[i];
        }
        if (dim[i] < -1 || (dim[i] == -1 && open != UINT32_MAX))
            return false;
        if (dim[i] == -1)
            open = i;
    }
    if (open == UINT32_MAX)
        return true;
    dim[open] = 1;
    int64_t rest = shape_elems(dim, shape.n);
    if (rest <= 0 || x->n % rest != 0)
        return false;
    dim[open] = x->n / rest;
    return true;
}

/* Computes Reshape: the same elements in the shape that attribute or operand 1 gives. */
bool compute_reshape(struct computation *c, int arg)
{
    int64_t dim[COMPUTE_RANK];
    const struct known *x = take_elements(c, 0);
    struct list shape = take_either(c, "shape", 1, 5);
    (void)arg;
    return x != NULL && shape.given && shape.n <= COMPUTE_RANK && resolve_shape(c, x, shape, dim) &&
           make_reshaped(c, x, shape.n, dim);
}

/* Computes Flatten: a matrix whose rows join the dimensions before `axis`, and whose columns join the rest. */
bool compute_flatten(struct computation *c, int arg)
{
    const struct known *x = take_elements(c, 0);
    int64_t axis = take_int(c, "axis", 1);
    (void)arg;
    if (x == NULL || axis < -(int64_t)x->rank || axis > (int64_t)x->rank)
        return false;
    uint32_t at = clamp_axis(axis, x->rank);
    const int64_t dim[] = {shape_elems(x->dim, at), shape_elems(x->dim + at, x->rank - at)};
    return make_reshaped(c, x, 2, dim);
}

/* Computes Squeeze: removes the dimensions in `axes`, which must have size 1; without `axes` all dimensions of size 1.
 * An empty list of axes is not computed. */
bool compute_squeeze(struct computation *c, int arg)
{
    int64_t dim[COMPUTE_RANK];
    uint32_t rank = 0;
    const struct known *x = take_elements(c, 0);
    struct list axes = take_either(c, "axes", 1, 13);
    (void)arg;
    if (x == NULL || (axes.given && axes.n == 0))
        return false;
    uint32_t set = take_axes(c, axes, x->rank);
    for (uint32_t i = 0; i < x->rank; i++) {
        bool goes = axes.given ? (set >> i & 1) != 0 : x->dim[i] == 1;
        if (goes && x->dim[i] != 1)
            c->failed = true;
        if (!goes)
            dim[rank++] = x->dim[i];
    }
    return make_reshaped(c, x, rank, dim);
}

/* Computes Unsqueeze: inserts dimensions of size 1 at the positions `axes` of the result. */
bool compute_unsqueeze(struct computation *c, int arg)
{
    int64_t dim[COMPUTE_RANK];
    uint32_t from = 0;
    const struct known *x = take_elements(c, 0);
    struct list axes = take_either(c, "axes", 1, 13);
    (void)arg;
    if (x == NULL || !axes.given || axes.n > COMPUTE_RANK - x->rank)
        return false;
    uint32_t rank = x->rank + axes.n, set = take_axes(c, axes, rank);
    for (uint32_t i = 0; i < rank && !c->failed; i++)
        dim[i] = (set >> i & 1) != 0 ? 1 : x->dim[from++];
    return make_reshaped(c, x, rank, dim);
}

/* ---- walks -------------------------------------------------------------------------------------- */

/* Computes Transpose: dimension i of the result is dimension perm[i] of the operand; without `perm` the order is
 * reversed. */
bool compute_transpose(struct computation *c, int arg)
{
    int64_t step[COMPUTE_RANK];
    struct box b = {0};
    const struct known *x = take_elements(c, 0);
    struct list perm = take_ints(c, "perm");
    (void)arg;
    if (x == NULL || (perm.given && perm.n != x->rank))
        return false;
    if (x->rank == 0)
        return make_reshaped(c, x, 0, NULL);
    /* perm must name each dimension once; unlike other axes, those of perm do not count from the end */
    take_axes(c, perm, x->rank);
    for (uint32_t i = 0; i < perm.n; i++)
        if (perm.at[i] < 0)
            c->failed = true;
    for (uint32_t i = 0; i < x->rank && !c->failed; i++)
        b.dim[i] = x->dim[perm.given ? perm.at[i] : x->rank - 1 - i];
    struct known *y = compute_make(c, 0, x->elem, x->rank, b.dim);
    if (y == NULL || y->n == 0)
        return y != NULL;
    b.rank = x->rank;
    set_steps(x->dim, x->rank, step);
    set_steps(b.dim, b.rank, b.to.step);
    for (uint32_t i = 0; i < b.rank; i++)
        b.from.step[i] = step[perm.given ? perm.at[i] : x->rank - 1 - i];
    copy_box(y, x, &b);
    return true;
}

/* Computes Expand: broadcasts operand 0 to the shape that its own shape and the shape in operand 1 broadcast to. */
bool compute_expand(struct computation *c, int arg)
{
    int64_t dim[COMPUTE_RANK];
    struct known *x = take_elements(c, 0);
    struct list shape = take_list(c, 1);
    (void)arg;
    if (x == NULL || !shape.given || shape.n > COMPUTE_RANK)
        return false;
    uint32_t rank = shape.n;
    if (rank > 0)
        memcpy(dim, shape.at, rank * sizeof *dim);
    broadcast_shape(c, x, &rank, dim);
    const struct known *y = c->failed ? NULL : broadcast_to(c, x, rank, dim);
    return y != NULL && make_reshaped(c, y, rank, dim);
}

/* Computes Tile: repeats the operand times[i] times along each dimension i. */
bool compute_tile(struct computation *c, int arg)
{
    int64_t dim[COMPUTE_RANK], step[COMPUTE_RANK], own[COMPUTE_RANK];
    struct box b = {0};
    const struct known *x = take_elements(c, 0);
    struct list times = take_list(c, 1);
    (void)arg;
    /* before opset 6 Tile has other operands */
    if (x == NULL || !times.given || times.n != x->rank || c->opset < 6)
        return false;
    if (x->rank == 0)
        return make_reshaped(c, x, 0, NULL);
    for (uint32_t i = 0; i < x->rank; i++)
        if (times.at[i] < 0 || __builtin_mul_overflow(x->dim[i], times.at[i], &dim[i]))
            return false;
    struct known *y = compute_make(c, 0, x->elem, x->rank, dim);
    if (y == NULL || y->n == 0)
        return y != NULL;
    b.rank = 2 * x->rank;
    set_steps(x->dim, x->rank, own);
    set_steps(dim, x->rank, step);
    /* each dimension becomes two: the copies along it, and the elements of a copy */
    for (uint32_t i = 0; i < x->rank; i++) {
        b.dim[2 * i] = times.at[i];
        b.to.step[2 * i] = step[i] * x->dim[i];
        b.dim[2 * i + 1] = x->dim[i];
        b.to.step[2 * i + 1] = step[i];
        b.from.step[2 * i + 1] = own[i];
    }
    copy_box(y, x, &b);
    return true;
}

/* Returns the number of elements that a Slice takes along a dimension of size dim: every step-th element from *start to
 * before `end`. Sets *start to the first of these elements. A start or end that is negative counts from the end of the
 * dimension; both are clamped to the dimension. */
static int64_t slice_count(int64_t dim, int64_t *start, int64_t end, int64_t step)
{
    const int64_t lowest = step > 0 ? 0 : -1, last = step > 0 ? dim : dim - 1;
    if (dim == 0)
        return 0;
    if (*start < 0)
        *start += dim;
    if (end < 0)
        end += dim;
    *start = *start < 0 ? 0 : *start > last ? last : *start;
    end = end < lowest ? lowest : end > last ? last : end;
    uint64_t size = step > 0 ? (uint64_t)step : -(uint64_t)step;
    int64_t way = step > 0 ? end - *start : *start - end;
    return way <= 0 ? 0 : (int64_t)((uint64_t)(way - 1) / size) + 1;
}

/* Computes Slice: every step-th element from `starts` to `ends` along each of the `axes`. */
bool compute_slice(struct computation *c, int arg)
{
    int64_t own[COMPUTE_RANK], dim[COMPUTE_RANK];
    struct box b = {0};
    const bool old = c->opset < 10;
    const struct known *x = take_elements(c, 0);
    struct list from = take_either(c, "starts", 1, 10);
    struct list to = take_either(c, "ends", 2, 10);
    struct list axes = take_either(c, "axes", 3, 10);
    struct list steps = old ? (struct list){0} : take_list(c, 4);
    (void)arg;
    if (x == NULL || c->failed || !from.given || to.n != from.n ||
        (axes.given && axes.n != from.n) || (steps.given && steps.n != from.n) || from.n > x->rank)
        return false;
    take_axes(c, axes, x->rank);
    memcpy(dim, x->dim, x->rank * sizeof *dim);
    /* own[axis]: elements between neighbours along the axis in x; b.from visits the chosen ones.  A tensor without
     * elements has no use for steps, and they could overflow. */
    set_steps(dim, x->n > 0 ? x->rank : 0, own);
    memcpy(b.from.step, own, x->n > 0 ? x->rank * sizeof *own : 0);
    for (uint32_t i = 0; i < from.n && !c->failed; i++) {
        uint32_t axis = axes.given ? take_axis(c, axes.at[i], x->rank) : i;
        int64_t start = from.at[i], step = steps.given ? steps.at[i] : 1;
        /* INT64_MAX and INT32_MAX mean "to the last element", which is not defined for a negative step */
        bool far = to.at[i] == INT64_MAX || to.at[i] == INT32_MAX;
        if (step == 0 || (step < 0 && far))
            return false;
        dim[axis] = slice_count(x->dim[axis], &start, to.at[i], step);
        if (x->n == 0 || dim[axis] == 0)
            continue;
        b.from.at += start * own[axis];
        /* two elements or more: |step| is less than the axis' size, so the product does not overflow */
        b.from.step[axis] = dim[axis] > 1 ? step * own[axis] : 0;
    }
    struct known *y = compute_make(c, 0, x->elem, x->rank, dim);
    if (y == NULL || y->n == 0)
        return y != NULL;
    if (x->rank == 0)
        return make_reshaped(c, x, 0, NULL);
    b.rank = x->rank;
    memcpy(b.dim, dim, b.rank * sizeof *dim);
    set_steps(dim, b.rank, b.to.step);
    copy_box(y, x, &b);
    return true;
}

/* ---- parts of an axis --------------------------------------------------------------------------- */

/* Adds the size of x along the axis to dim[axis].  Returns false if x cannot be concatenated with `first` along the
 * axis, or the sum overflows. */
static bool add_to_axis(const struct known *x, const struct known *first, uint32_t axis,
                        int64_t *dim)
{
    bool fit = x->elem == first->elem && x->rank == first->rank;
    for (uint32_t i = 0; i < first->rank && fit; i++)
        fit = i == axis || x->dim[i] == first->dim[i];
    return fit && !__builtin_add_overflow(dim[axis], x->dim[axis], &dim[axis]);
}

/* Computes Concat: the operands one after the other along `axis`. */
bool compute_concat(struct computation *c, int arg)
{
    int64_t dim[COMPUTE_RANK], at = 0;
    const struct known *first = take_elements(c, 0);
    (void)arg;
    if (first == NULL || first->rank == 0 ||
        (c->opset >= 4 && take_attr(c, "axis", ATTR_INT) == NULL))
        return false;
    uint32_t axis = take_axis(c, take_int(c, "axis", 1), first->rank);
    memcpy(dim, first->dim, first->rank * sizeof *dim);
    dim[axis] = 0;
    for (uint32_t i = 0; i < c->nin && !c->failed; i++) {
        const struct known *x = i == 0 ? first : take_elements(c, i);
        c->failed = x == NULL || !add_to_axis(x, first, axis, dim);
    }
    struct known *y = c->failed ? NULL : compute_make(c, 0, first->elem, first->rank, dim);
    if (y == NULL || y->n == 0)
        return y != NULL;
    /* a row: the elements that agree in all dimensions before the axis; n: elements of an operand in each row */
    const int64_t rows = shape_elems(dim, axis), row = y->n / rows;
    for (uint32_t i = 0; i < c->nin; i++) {
        const int64_t n = c->in[i]->n / rows;
        struct box b = rows_box(rows, n, row, n);
        b.to.at = at;
        copy_box(y, c->in[i], &b);
        at += n;
    }
    return true;
}

/* Returns the size of part i if a dimension of size dim is split into c->nout parts: sizes[i] if sizes are given,
 * else equal parts (from opset 18 on, the last part may be smaller).  -1: the dimension cannot be split like this. */
static int64_t part_size(struct computation *c, struct list sizes, int64_t dim, uint32_t i)
{
    const int64_t parts = c->nout;
    if (sizes.given)
        return i < sizes.n ? sizes.at[i] : -1;
    if (c->opset >= 18) {
        int64_t most = dim / parts + (dim % parts != 0), before;
        if (take_int(c, "num_outputs", parts) != parts || __builtin_mul_overflow(most, i, &before))
            return -1;
        if (before >= dim)
            return -1; /* a part would be empty */
        return dim - before < most ? dim - before : most;
    }
    return dim % parts == 0 ? dim / parts : -1;
}

/* Computes Split: parts of the operand along `axis`, one for each result. */
bool compute_split(struct computation *c, int arg)
{
    int64_t dim[COMPUTE_RANK], at = 0;
    const struct known *x = take_elements(c, 0);
    struct list sizes = c->opset < 13 ? take_ints(c, "split") : take_list(c, 1);
    (void)arg;
    if (x == NULL || x->rank == 0 || (sizes.given && sizes.n != c->nout) ||
        (c->opset < 13 && c->nin > 1))
        return false;
    uint32_t axis = take_axis(c, take_int(c, "axis", 0), x->rank);
    memcpy(dim, x->dim, x->rank * sizeof *dim);
    for (uint32_t i = 0; i < c->nout; i++) {
        dim[axis] = part_size(c, sizes, x->dim[axis], i);
        if (dim[axis] < 0 || dim[axis] > x->dim[axis] - at)
            return false;
        struct known *y = compute_make(c, i, x->elem, x->rank, dim);
        if (y == NULL)
            return false;
        if (y->n > 0) {
            /* n and row: elements of y and x that agree in all dimensions before the axis */
            const int64_t rows = shape_elems(dim, axis), n = y->n / rows, row = x->n / rows;
            struct box b = rows_box(rows, n, n, row);
            b.from.at = at * (row / x->dim[axis]);
            copy_box(y, x, &b);
        }
        at += dim[axis];
    }
    return at == x->dim[axis];
}

/* ---- constants ---------------------------------------------------------------------------------- */

/* Computes Constant: the tensor, number or list of numbers in its one attribute. */
bool compute_constant(struct computation *c, int arg)
{
    const struct attr *one = c->attr.n == 1 ? &c->m->attr[c->attr.at] : NULL;
    struct known x;
    (void)arg;
    if (one == NULL || one->ref != 0)
        return false;
    const char *name = module_str(c->m, one->name);
    if (one->kind == ATTR_TENSOR)
        return strcmp(name, "value") == 0 && take_tensor(c, one->u.t, &x) &&
               make_reshaped(c, &x, x.rank, x.dim);
    const char *want; /* the name that an attribute of this kind must have */
    const void *from; /* the numbers of the attribute */
    switch ((enum attr_kind)one->kind) {
    case ATTR_INT:
        want = "value_int";
        from = &one->u.i;
        break;
    case ATTR_INTS:
        want = "value_ints";
        from = c->m->ints + one->u.list.at;
        break;
    case ATTR_FLOAT:
        want = "value_float";
        from = &one->u.f;
        break;
    case ATTR_FLOATS:
        want = "value_floats";
        from = c->m->floats + one->u.list.at;
        break;
    default:
        return false;
    }
    if (strcmp(name, want) != 0)
        return false;
    bool list = one->kind == ATTR_INTS || one->kind == ATTR_FLOATS;
    bool integer = one->kind == ATTR_INT || one->kind == ATTR_INTS;
    const int64_t n = list ? one->u.list.n : 1;
    struct known *y = compute_make(c, 0, integer ? ELEM_I64 : ELEM_F32, list ? 1 : 0, &n);
    if (y != NULL && y->n > 0)
        memcpy(y->data, from, (size_t)y->n * size_of(y->elem));
    return y != NULL;
}

/* Computes ConstantOfShape: a tensor of the given shape, each element of which is `value` (default: f32 0). */
bool compute_constant_of_shape(struct computation *c, int arg)
{
    struct list shape = take_list(c, 0);
    const struct attr *value = take_attr(c, "value", ATTR_TENSOR);
    struct known one = {.elem = ELEM_F32, .n = 1, .data = (unsigned char[sizeof(float)]){0}};
    (void)arg;
    if (!shape.given || shape.n > COMPUTE_RANK || c->failed ||
        (value != NULL && (!take_tensor(c, value->u.t, &one) || one.n != 1)))
        return false;
    struct known *y = compute_make(c, 0, one.elem, shape.n, shape.at);
    const uint32_t size = size_of(one.elem);
    for (int64_t i = 0; y != NULL && i < y->n; i++)
        memcpy(y->data + i * size, one.data, size);
    return y != NULL;
}
