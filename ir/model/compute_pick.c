/* Computes operators (compute.h) that select elements by index or by condition.  O(elements of operands and
 * results). */
#include "ir/model/compute_state.h"

#include <math.h>
#include <string.h>

/* Writes to *at element i of a tensor of indices into n entries, as a number from 0 on; negative indices count from
 * the end.  Returns false if the element is unknown or out of range. */
static bool get_index(const struct known *index, int64_t i, int64_t n, int64_t *at)
{
    union number x = {0};
    if (!get_number(index, i, &x))
        return false;
    *at = x.i < 0 ? x.i + n : x.i;
    return *at >= 0 && *at < n;
}

/* Computes Gather: the slices of operand 0 along `axis` at the indices in operand 1; the dimensions of the indices
 * replace the axis. */
bool compute_gather(struct computation *c, int arg)
{
    int64_t dim[2 * COMPUTE_RANK];
    const struct known *x = take_elements(c, 0), *index = take_elements(c, 1);
    (void)arg;
    if (x == NULL || index == NULL || x->rank == 0 || index->mask != NULL ||
        (index->elem != ELEM_I64 && index->elem != ELEM_I32))
        return false;
    const uint32_t axis = take_axis(c, take_int(c, "axis", 0), x->rank);
    const uint32_t rank = x->rank - 1 + index->rank;
    memcpy(dim, x->dim, axis * sizeof *dim);
    memcpy(dim + axis, index->dim, index->rank * sizeof *dim);
    memcpy(dim + axis + index->rank, x->dim + axis + 1, (x->rank - axis - 1) * sizeof *dim);
    struct known *y = compute_make(c, 0, x->elem, rank, dim);
    if (y == NULL)
        return false;
    /* an index takes n adjacent elements from each row of x, a row being the elements that agree in all dimensions
     * before the axis; if these rows are empty, the indices are only checked */
    const int64_t rows = shape_elems(dim, axis), n = y->n == 0 ? 0 : y->n / rows / index->n;
    for (int64_t i = 0; i < index->n; i++) {
        int64_t at;
        if (!get_index(index, i, x->dim[axis], &at))
            return false;
        struct box b = rows_box(rows, n, n * index->n, n * x->dim[axis]);
        b.to.at = i * n;
        b.from.at = at * n;
        if (n > 0)
            copy_box(y, x, &b);
    }
    return true;
}

/* Returns the number of the first element of x in the slice that row i of a ScatterND's indices names.  A row has
 * `depth` indices, one for each of the first dimensions of x; neighbours along dimension k are step[k] elements
 * apart.  -1: an index is unknown or out of range. */
static int64_t scatter_at(const struct known *x, const int64_t *step, const struct known *index,
                          int64_t i, uint32_t depth)
{
    int64_t from = 0, at;
    for (uint32_t k = 0; k < depth; k++) {
        if (!get_index(index, i * depth + k, x->dim[k], &at))
            return -1;
        from += at * step[k];
    }
    return from;
}

/* Whether the updates of a ScatterND have the type and shape that follow from x and the indices, whose last dimension
 * has size `depth`. */
static bool fits_updates(const struct known *x, const struct known *index,
                         const struct known *update, uint32_t depth)
{
    const uint32_t lead = index->rank - 1, rank = lead + x->rank - depth;
    return update->elem == x->elem && update->rank == rank &&
           memcmp(update->dim, index->dim, lead * sizeof *x->dim) == 0 &&
           memcmp(update->dim + lead, x->dim + depth, (rank - lead) * sizeof *x->dim) == 0;
}

/* Computes ScatterND: a copy of operand 0 in which the slices that the indices in operand 1 name are replaced by
 * slices of operand 2.  If two rows of indices name the same slice, the result depends on their order and is not
 * computed. */
bool compute_scatter_nd(struct computation *c, int arg)
{
    int64_t step[COMPUTE_RANK];
    const struct known *x = take_elements(c, 0);
    const struct known *index = take_elements(c, 1);
    const struct known *update = take_elements(c, 2);
    const struct attr *reduction = take_attr(c, "reduction", ATTR_STRING);
    (void)arg;
    if (c->failed || x->rank == 0 || x->n == 0 || index->rank == 0 || index->elem != ELEM_I64 ||
        (reduction != NULL && strcmp(module_str(c->m, reduction->u.s), "none") != 0))
        return false;
    const int64_t last = index->dim[index->rank - 1];
    if (last < 1 || last > (int64_t)x->rank || !fits_updates(x, index, update, (uint32_t)last))
        return false;
    const uint32_t depth = (uint32_t)last;
    const int64_t n = shape_elems(x->dim + depth, x->rank - depth);
    struct known *y = compute_make(c, 0, x->elem, x->rank, x->dim);
    if (y == NULL)
        return false;
    bool *written = arena_array(c->a, (size_t)(x->n / n) + 1, sizeof *written);
    struct box whole = rows_box(/*rows=*/1, x->n, /*to=*/0, /*from=*/0);
    struct box one = rows_box(/*rows=*/1, n, /*to=*/0, /*from=*/0);
    set_steps(x->dim, x->rank, step);
    copy_box(y, x, &whole);
    for (int64_t i = 0; i < index->n / depth; i++) {
        one.to.at = scatter_at(x, step, index, i, depth);
        one.from.at = i * n;
        if (one.to.at < 0 || written[one.to.at / n])
            return false;
        written[one.to.at / n] = true;
        copy_box(y, update, &one);
    }
    return true;
}

/* Computes Where: the element of operand 1 or 2 as the bool in operand 0 says.  Runtimes add the chosen element to 0,
 * which may change -0 and NaN, so these stay unknown. */
bool compute_where(struct computation *c, int arg)
{
    int64_t dim[COMPUTE_RANK];
    uint32_t rank = 0;
    struct known *in[3];
    (void)arg;
    for (uint32_t i = 0; i < 3; i++) {
        in[i] = take_elements(c, i);
        if (in[i] == NULL)
            return false;
        broadcast_shape(c, in[i], &rank, dim);
    }
    if (c->failed || in[0]->elem != ELEM_BOOL || in[1]->elem != in[2]->elem)
        return false;
    for (uint32_t i = 0; i < 3; i++) {
        in[i] = broadcast_to(c, in[i], rank, dim);
        if (in[i] == NULL)
            return false;
    }
    struct known *y = compute_make(c, 0, in[1]->elem, rank, dim);
    const uint32_t size = y != NULL ? size_of(y->elem) : 0;
    for (int64_t i = 0; y != NULL && i < y->n; i++) {
        union number which = {0}, one;
        enum form f;
        bool good = get_number(in[0], i, &which);
        const struct known *x = in[which.u != 0 ? 1 : 2];
        uint64_t bits = 0;
        good =
            good && get_any(x, i, &f, &one) && (f != FORM_FLOAT || one.d != 0 || !signbit(one.d));
        if (good)
            memcpy(&bits, x->data + i * size, size);
        put_bits(c, y, i, good, bits);
    }
    return y != NULL;
}
