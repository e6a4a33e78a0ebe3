/* Demands of operators that broadcast, multiply matrices, or rearrange, join, cut and pick elements (demands.h).
 * O(operands * rank) for each node; Einsum O(length of its equation). */
#include "passes/shapes/demands.h"

#include <string.h>

/* --- broadcasts --- */

/* Notes that *s is broadcast with the shapes before it; *all: their common shape.  Puts into *all what is now known of
 * the common shape: of two dimensions, the one that is surely not 1. */
static void match_next(struct demands *k, struct shape *all, const struct shape *s)
{
    if (s->rank < 0)
        return;
    demand_match(k, all, s);
    if (all->rank < s->rank) { /* *all gets the axes that only *s has, in front */
        int had = all->rank < 0 ? 0 : all->rank, more = s->rank - had;
        memmove(&all->d[more], &all->d[0], (size_t)had * sizeof all->d[0]);
        memcpy(&all->d[0], &s->d[0], (size_t)more * sizeof all->d[0]);
        all->rank = s->rank;
    }
    for (int i = 1; i <= s->rank; i++) {
        struct dim *d = &all->d[all->rank - i];
        if (!dim_known(*d) || d->value == 1)
            *d = s->d[s->rank - i];
    }
}

/* Returns the common shape of no shapes, for match_next(). */
static struct shape match_begin(void)
{
    return shape_unknown(ELEM_NONE);
}

/* Notes that all operands are broadcast.  arg: 0; RULE_QLINEAR: a scale and a zero point follow each of the two. */
void demand_broadcast(struct demands *k, nid n, int arg)
{
    struct shape all = match_begin(), s;
    uint32_t step = arg == RULE_QLINEAR ? 3 : 1, end = k->f->m->node[n].nformal;
    end = arg == RULE_QLINEAR ? smaller_u32(end, 6) : end;
    for (uint32_t i = 0; i < end; i += step) {
        shape_in(k->f, n, i, &s);
        match_next(k, &all, &s);
    }
}

/* Notes that the condition and both choices are broadcast.  arg is for reach_larger(), and not used here. */
void demand_where(struct demands *k, nid n, int arg)
{
    (void)arg;
    demand_broadcast(k, n, 0);
}

/* Notes that operand 0 is broadcast with the shape that operand 1 lists. */
void demand_expand(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0), want = match_begin();
    const struct nums *x = nums_of(k->f, node_in(k->f->m, n, 1));
    (void)arg;
    if (x == NULL || x->n > SHAPE_RANK)
        return;
    want.rank = (int)x->n;
    for (int i = 0; i < want.rank; i++)
        want.d[i] = num_dim(x->at[i]);
    demand_match(k, &in, &want);
}

/* --- products --- */

/* Notes that inner dimensions are equal, and that the axes before the matrices are broadcast.  arg: MATMUL_*. */
void demand_matmul(struct demands *k, nid n, int arg)
{
    struct shape a = operand_shape(k->f, n, 0),
                 b = operand_shape(k->f, n, arg == MATMUL_QLINEAR ? 3 : 1);
    const struct module *m = k->f->m;
    if (node_attr_int(m, n, "transA", 0) != 0)
        shape_swap_last(&a);
    if (node_attr_int(m, n, "transB", 0) != 0)
        shape_swap_last(&b);
    if (a.rank < 1 || b.rank < 1 || node_attr_int(m, n, "transBatchA", 0) != 0 ||
        node_attr_int(m, n, "transBatchB", 0) != 0)
        return;
    demand_same(k, &a, -1, &b, b.rank > 1 ? -2 : -1);
    a.rank = a.rank > 2 ? a.rank - 2 : 0;
    b.rank = b.rank > 2 ? b.rank - 2 : 0;
    demand_match(k, &a, &b);
}

/* Notes that the inner dimensions of the two matrices are equal, and that the summand is broadcast.  arg: number of
 * the operand with the second matrix; the summand is the next operand, or operand 6 of QGemm (arg 3). */
void demand_gemm(struct demands *k, nid n, int arg)
{
    struct shape a = operand_shape(k->f, n, 0), b = operand_shape(k->f, n, (uint32_t)arg),
                 c = operand_shape(k->f, n, arg == 3 ? 6 : 2), out = {.rank = 2};
    if (node_attr_int(k->f->m, n, "transA", 0) != 0)
        shape_swap_last(&a);
    if (node_attr_int(k->f->m, n, "transB", 0) != 0)
        shape_swap_last(&b);
    if (a.rank != 2 || b.rank != 2)
        return;
    demand_same(k, &a, 1, &b, 0);
    out.d[0] = a.d[0];
    out.d[1] = b.d[1];
    demand_match(k, &c, &out);
}

/* Notes that the last dimension of operand 0, a matrix that is multiplied with a packed one, has
 * the size in attribute K or, if attribute transB is 0, in attribute N. */
void demand_rows(struct demands *k, nid n, int arg)
{
    struct shape a = operand_shape(k->f, n, 0);
    (void)arg;
    bool plain = node_attr_int(k->f->m, n, "transB", 1) != 0;
    demand(k, DEMAND_EQUAL, shape_dim(&a, -1),
           dim_num(node_attr_int(k->f->m, n, plain ? "K" : "N", -1)));
}

/* Notes that dimensions with the same letter are broadcast.  Equations with an ellipsis are passed over. */
void demand_einsum(struct demands *k, nid n, int arg)
{
    /* [letter] the first known dimension that has the letter, or an unknown one; {0, 0}: none yet */
    struct dim of[128] = {{0, 0}};
    const char *c = node_attr_str(k->f->m, n, "equation", "");
    struct shape s;
    (void)arg;
    if (strchr(c, '.') != NULL)
        return;
    for (uint32_t i = 0; i < k->f->m->node[n].nformal; i++, c += *c == ',') {
        int at = 0;
        shape_in(k->f, n, i, &s);
        for (; *c != 0 && *c != ',' && *c != '-'; c++) {
            if (*c <= ' ' || *c > '~')
                continue;
            struct dim d = at < s.rank ? s.d[at] : dim_unknown(), *first = &of[(unsigned char)*c];
            at++;
            if (first->value != 0 || first->sym != 0)
                demand(k, DEMAND_MATCH, *first, d);
            if ((first->value == 0 && first->sym == 0) || !dim_known(*first))
                *first = d;
        }
    }
}

/* --- joining, cutting, rearranging --- */

/* Notes that dimensions along axes that are not joined are equal.  arg: number of operands for each piece
 * (rule_concat()). */
void demand_concat(struct demands *k, nid n, int arg)
{
    struct shape first = shape_unknown(ELEM_NONE), s;
    uint32_t step = (uint32_t)arg;
    int64_t along = node_attr_int(k->f->m, n, "axis", k->f->opset < 4 ? 1 : 0);
    for (uint32_t i = step == 3 ? 2 : 0; i < k->f->m->node[n].nformal; i += step) {
        shape_in(k->f, n, i, &s);
        int axis = axis_of(along, s.rank);
        for (int d = 0; d < s.rank && s.rank == first.rank; d++) {
            if (d != axis)
                demand(k, DEMAND_EQUAL, first.d[d], s.d[d]);
        }
        first = first.rank < 0 ? s : first;
    }
}

/* Notes that the operand has as many elements as the result. */
void demand_reshape(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0), out;
    bool used[SHAPE_RANK] = {false};
    struct dim total = dim_num(1), rest = dim_num(1);
    (void)arg;
    if (!shape_of(k->f, node_out(k->f->m, n, 0), &out) || in.rank < 0 || out.rank < 0)
        return;
    /* drops sizes that both have; total and rest are the products of the others */
    for (int o = 0; o < out.rank; o++) {
        int i = 0;
        while (i < in.rank && (used[i] || !dim_same(in.d[i], out.d[o])))
            i++;
        if (i < in.rank)
            used[i] = true;
        else
            rest = dim_mul(k->f->m, rest, out.d[o]);
    }
    for (int i = 0; i < in.rank; i++) {
        if (!used[i])
            total = dim_mul(k->f->m, total, in.d[i]);
    }
    demand(k, DEMAND_EQUAL, total, rest);
}

/* Notes that d must be a multiple of `by`, which is at least 1. */
static void demand_multiple(struct demands *k, struct dim d, int64_t by)
{
    if (by > 1 && d.sym != 0)
        demand(k, DEMAND_EQUAL, d, dim_mul(k->f->m, dim_div(k->f->m, d, dim_num(by)), dim_num(by)));
}

/* Notes that the sizes of the pieces add up to the size of the operand or, if the pieces are equal, that the size is
 * a multiple of their number. */
void demand_split(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0);
    int64_t size[SHAPE_VALUES], sum = 0; /* sum: -1 (unknown) if a size is out of range */
    (void)arg;
    int axis = axis_of(node_attr_int(k->f->m, n, "axis", 0), in.rank);
    int pieces = attr_or_input(k->f, n, "split", 1, size, SHAPE_VALUES);
    if (axis < 0)
        return;
    for (int i = 0; i < pieces; i++)
        sum = sum < 0 || size[i] < 0 || size[i] > INT32_MAX ? -1 : sum + size[i];
    if (pieces >= 0)
        demand(k, DEMAND_EQUAL, in.d[axis], dim_num(sum));
    else if (pieces == -1 &&
             node_attr(k->f->m, n, "num_outputs") == NULL) /* with it the last may be smaller */
        demand_multiple(k, in.d[axis], k->f->m->node[n].out.n);
}

/* Notes that the dimensions that Squeeze drops are 1. */
void demand_squeeze(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0);
    int64_t axes[SHAPE_RANK];
    (void)arg;
    int count = attr_or_input(k->f, n, "axes", 1, axes, SHAPE_RANK);
    for (int i = 0; i < count; i++)
        demand(k, DEMAND_EQUAL, shape_dim(&in, axis_of(axes[i], in.rank)), dim_num(1));
}

/* Notes that starts and ends with names in them are within the axis that is cut.  A Slice with other positions would
 * take fewer elements without an error, but the nodes that read its result would seldom run. */
void demand_slice(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0);
    const struct nums *place[] = {nums_attr_or_input(k->f, n, "starts", 1),
                                  nums_attr_or_input(k->f, n, "ends", 2)};
    int64_t axis[SHAPE_RANK];
    (void)arg;
    int count = attr_or_input(k->f, n, "axes", 3, axis, SHAPE_RANK);
    for (int p = 0; p < 2 && count > -2; p++) {
        for (uint32_t i = 0;
             place[p] != NULL && i < place[p]->n && (count < 0 || i < (uint32_t)count); i++) {
            /* a negative position counts from the end: then -at must be within the axis */
            struct dim at = num_dim(place[p]->at[i]),
                       back = at.sym != 0 ? dim_sub(k->f->m, dim_num(0), at) : at;
            int which = axis_of(count < 0 ? (int64_t)i : axis[i], in.rank);
            if (at.sym != 0 && which >= 0)
                demand(k, DEMAND_MOST, dim_nonneg(k->f->m, at) ? at : back, in.d[which]);
        }
    }
}

/* Notes that channels can be divided into blocks of pixels (arg 0), or the sides of an image into such blocks (arg
 * 1). */
void demand_blocks(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0);
    int64_t size = node_attr_int(k->f->m, n, "blocksize", 1);
    if (in.rank != 4 || size < 1 || size > INT16_MAX)
        return;
    if (arg == 0)
        demand_multiple(k, in.d[1], size * size);
    for (int i = 2; i < 4 && arg == 1; i++)
        demand_multiple(k, in.d[i], size);
}

/* --- picking by index --- */

/* Notes that elements of v are indices of an axis of size d. */
static void demand_index(struct demands *k, vid v, struct dim d)
{
    if (dim_known(d))
        demand(k, DEMAND_MOST, reach_of(k, v), d);
}

/* Notes that indices are in range.  arg 1: the axis is attribute gather_axis. */
void demand_gather(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0);
    const char *axis = arg == 1 ? "gather_axis" : "axis";
    demand_index(k, node_in(k->f->m, n, 1),
                 shape_dim(&in, axis_of(node_attr_int(k->f->m, n, axis, 0), in.rank)));
}

/* Notes the demands of a GatherElements or ScatterElements: indices are in range; along other axes there are at most as
 * many indices as elements; and operand 2, if there is one, has an element for each index. */
void demand_gather_elements(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0), index = operand_shape(k->f, n, 1),
                 update = operand_shape(k->f, n, 2);
    (void)arg;
    int axis = axis_of(node_attr_int(k->f->m, n, "axis", 0), in.rank);
    if (axis < 0 || in.rank != index.rank)
        return;
    demand_index(k, node_in(k->f->m, n, 1), in.d[axis]);
    for (int i = 0; i < in.rank; i++) {
        if (i != axis)
            demand(k, DEMAND_MOST, index.d[i], in.d[i]);
        if (update.rank == in.rank)
            demand_same(k, &index, i, &update, i);
    }
}

/* Notes that the last axis of v holds coordinates in the axes of *in from `first` on.  If v is made by a Concat,
 * each of the joined coordinates is looked at by itself. */
static void demand_coordinates(struct demands *k, vid v, const struct shape *in, int first)
{
    const struct module *m = k->f->m;
    struct shape s;
    nid n = v != 0 ? m->value[v].def : 0;
    if (!shape_of(k->f, v, &s) || s.rank < 1)
        return;
    if (s.d[s.rank - 1].value == 1)
        demand_index(k, v, shape_dim(in, first));
    else if (n != 0 && node_is(m, n, "Concat") && s.d[s.rank - 1].value == m->node[n].nformal &&
             axis_of(node_attr_int(m, n, "axis", 0), s.rank) == s.rank - 1)
        for (uint32_t i = 0; i < m->node[n].nformal && first + (int)i < in->rank; i++)
            demand_index(k, node_in(m, n, i), in->d[first + (int)i]);
}

/* Notes that indices are in range, and that the first batch_dims axes of the indices have the sizes
 * of the same axes of operand 0. */
void demand_gather_nd(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0), index = operand_shape(k->f, n, 1);
    int64_t batch = node_attr_int(k->f->m, n, "batch_dims", 0);
    (void)arg;
    if (in.rank < 1 || index.rank < 1 || batch < 0 || batch >= in.rank)
        return;
    demand_coordinates(k, node_in(k->f->m, n, 1), &in, (int)batch);
    for (int i = 0; i < batch && i < index.rank - 1; i++)
        demand_same(k, &in, i, &index, i);
}

/* Notes that indices are in range, and that operand 2 has a slice for each index. */
void demand_scatter_nd(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0), index = operand_shape(k->f, n, 1),
                 update = operand_shape(k->f, n, 2);
    (void)arg;
    if (in.rank < 1 || index.rank < 1 || update.rank < index.rank - 1)
        return;
    demand_coordinates(k, node_in(k->f->m, n, 1), &in, 0);
    for (int i = 0; i < index.rank - 1; i++)
        demand_same(k, &index, i, &update, i);
    for (int i = 1; i <= update.rank - (index.rank - 1) && i <= in.rank; i++)
        demand_same(k, &in, -i, &update, -i);
}

/* Notes that there are at least k elements along the axis. */
void demand_topk(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0);
    int64_t count;
    (void)arg;
    int axis = axis_of(node_attr_int(k->f->m, n, "axis", -1), in.rank);
    if (axis >= 0 && attr_or_input(k->f, n, "k", 1, &count, 1) == 1 && count > 0)
        demand(k, DEMAND_MOST, dim_num(count), in.d[axis]);
}
