/* Rules for sharding of elementwise operators, of normalisations and reductions, of products of matrices and of
 * poolings (shard.h): which axes can be cut without adding up over devices.  O(operands * rank) each. */
#include "passes/shard/shard.h"

#include "ir/model/dim.h"

#include <string.h>

/* ---- element by element ------------------------------------------------------------------------- */

/* Rule for elementwise operators: any axis of the result can be cut; the operands that have the axis in full are cut
 * likewise.  r->arg: the number of operands that are broadcast, 0: all; other operands stay whole. */
bool rule_shard_each(struct shard_ask *q, const struct shard_row *r)
{
    struct shape out, k;
    uint32_t n = q->s->m->node[q->n].nformal;
    n = r->arg != 0 && n > (uint32_t)r->arg ? (uint32_t)r->arg : n;
    if (!shard_out_shape(q, 0, &out) ||
        (!q->result && (q->at >= n || !shard_in_shape(q, q->at, &k))))
        return false;
    /* operands are broadcast, so axes are aligned at the last one.  axis: the cut axis of the result; here: the same
     * axis in operand i */
    int axis = q->result ? q->given.axis : q->given.axis + out.rank - k.rank;
    for (uint32_t i = 0; i < n; i++) {
        if (!shard_in_shape(q, i, &k))
            return false;
        int here = axis - (out.rank - k.rank);
        if (here < 0 || shard_is_one(k.d[here]))
            continue;
        if (!dim_same(k.d[here], out.d[axis]))
            return false;
        shard_set_in(q, i, here);
    }
    shard_set_all_out(q, axis);
    return true;
}

/* ---- along some axes ---------------------------------------------------------------------------- */

/* Rule for Softmax and similar operators: all axes can be cut but the one along which elements are normalised;
 * before opset 13 only the axes before it. */
bool rule_shard_along(struct shard_ask *q, const struct shard_row *r)
{
    struct shape k;
    bool flat = q->s->f->opset < 13;
    (void)r;
    if (!shard_out_shape(q, 0, &k))
        return false;
    int axis = axis_of(node_attr_int(q->s->m, q->n, "axis", flat ? 1 : -1), k.rank),
        cut = q->given.axis;
    if (axis < 0 || (flat ? cut >= axis : cut == axis) || (!q->result && q->at != 0))
        return false;
    shard_set_in(q, 0, cut);
    shard_set_all_out(q, cut);
    return true;
}

/* Rule for LayerNormalization and RMSNormalization: the axes before attribute `axis` can be cut, if scale and bias
 * do not have these axes. */
bool rule_shard_norm(struct shard_ask *q, const struct shard_row *r)
{
    struct shape k, t;
    const uint32_t n = q->s->m->node[q->n].nformal;
    (void)r;
    if (!shard_out_shape(q, 0, &k) || (!q->result && q->at != 0))
        return false;
    int axis = axis_of(node_attr_int(q->s->m, q->n, "axis", -1), k.rank), cut = q->given.axis;
    if (axis < 0 || cut >= axis)
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (node_in(q->s->m, q->n, i) != 0 && (!shard_in_shape(q, i, &t) || t.rank > k.rank - axis))
            return false;
    shard_set_in(q, 0, cut);
    shard_set_all_out(q, cut);
    return true;
}

bool shard_reduced_axes(const struct shard_ask *q, int rank, uint32_t *axes)
{
    int64_t list[SHAPE_RANK];
    int n = attr_or_input(q->s->f, q->n, "axes", 1, list, SHAPE_RANK);
    *axes = 0;
    if (n == -2) /* the list is not known */
        return false;
    if (n <= 0) { /* no list, or an empty list: all axes; with noop_with_empty_axes no axis */
        if (node_attr_int(q->s->m, q->n, "noop_with_empty_axes", 0) == 0)
            *axes = (UINT32_C(1) << rank) - 1;
        return true;
    }
    for (int i = 0; i < n; i++) {
        int axis = axis_of(list[i], rank);
        if (axis < 0)
            return false;
        *axes |= UINT32_C(1) << axis;
    }
    return true;
}

/* Rule for reductions: the axes that are not reduced can be cut. */
bool rule_shard_reduce(struct shard_ask *q, const struct shard_row *r)
{
    struct shape k;
    uint32_t axes;
    (void)r;
    if (!shard_in_shape(q, 0, &k) || (!q->result && q->at != 0) ||
        !shard_reduced_axes(q, k.rank, &axes))
        return false;
    bool keeps = node_attr_int(q->s->m, q->n, "keepdims", 1) != 0;
    int to = 0;
    for (int from = 0; from < k.rank; from++) {
        bool gone = (axes >> from & 1) != 0;
        if (!gone && (q->result ? to == q->given.axis : from == q->given.axis)) {
            shard_set_in(q, 0, from);
            shard_set_out(q, 0, to);
            return true;
        }
        to += !gone || keeps;
    }
    return false;
}

/* ---- products ----------------------------------------------------------------------------------- */

/* Sets the state of operand i, a stack of matrices of shape *k: cut along the axis that is `behind` axes before the
 * last one (0: the last one); whole if it lacks that axis, or has size 1 there.  d: the size of the axis in the result.
 * Returns false if the operand has another size there. */
static bool cut_stack(struct shard_ask *q, uint32_t i, const struct shape *k, int behind,
                      struct dim d)
{
    int axis = k->rank - 1 - behind;
    if (axis < 0 || shard_is_one(k->d[axis]))
        return true;
    if (!dim_same(k->d[axis], d))
        return false;
    shard_set_in(q, i, axis);
    return true;
}

/* Rule for MatMul: the rows of the first matrix, the columns of the second one, or an axis of the stacks of matrices
 * can be cut.  An operand with one axis is a vector, which is summed over; the result then lacks an axis. */
bool rule_shard_matmul(struct shard_ask *q, const struct shard_row *r)
{
    struct shape a, b, y;
    (void)r;
    if (!shard_in_shape(q, 0, &a) || !shard_in_shape(q, 1, &b) || !shard_out_shape(q, 0, &y) ||
        a.rank < 1 || b.rank < 1)
        return false;
    const struct shape *given = q->result ? &y : q->at == 0 ? &a : &b;
    /* number of axes behind the given one, in a result that has both matrix axes */
    int behind = given->rank - 1 - q->given.axis;
    if (!q->result && given->rank == 1)
        return false;
    /* a result lacks the axis of columns if the second operand is a vector, the axis of rows if the first one is */
    behind += q->result && b.rank == 1;
    behind += q->result && a.rank == 1 && behind > 0;
    bool rows = behind == 1 && (q->result || q->at == 0),
         columns = behind == 0 && (q->result || q->at == 1);
    /* the axis of y that is cut, counted from the last axis */
    int at = behind - (b.rank == 1) - (a.rank == 1 && behind > 1);
    if (rows)
        shard_set_in(q, 0, a.rank - 2);
    else if (columns)
        shard_set_in(q, 1, b.rank - 1);
    /* the axis is summed over */
    else if (behind < 2)
        return false;
    else if (!cut_stack(q, 0, &a, behind, y.d[y.rank - 1 - at]) ||
             !cut_stack(q, 1, &b, behind, y.d[y.rank - 1 - at]))
        return false;
    shard_set_out(q, 0, y.rank - 1 - at);
    return true;
}

/* Rule for Gemm: the rows of the first matrix or the columns of the second one can be cut, and the bias with them. */
bool rule_shard_gemm(struct shard_ask *q, const struct shard_row *r)
{
    struct shape c, y;
    /* a: the axis of rows in the first matrix; b: the axis of columns in the second one */
    int a = node_attr_int(q->s->m, q->n, "transA", 0) != 0,
        b = node_attr_int(q->s->m, q->n, "transB", 0) == 0;
    (void)r;
    if (!shard_out_shape(q, 0, &y) || (!q->result && q->at > 1))
        return false;
    /* the axis of the result that is cut: the first matrix gives the rows, the second one the columns */
    int axis = q->result ? q->given.axis : q->at == 0 ? 0 : 1;
    /* the other axis of the matrix is summed over */
    if (!q->result && q->given.axis != (q->at == 0 ? a : b))
        return false;
    if (axis == 0)
        shard_set_in(q, 0, a);
    else
        shard_set_in(q, 1, b);
    if (node_in(q->s->m, q->n, 2) != 0 &&
        (!shard_in_shape(q, 2, &c) || !cut_stack(q, 2, &c, 1 - axis, y.d[axis])))
        return false;
    shard_set_out(q, 0, axis);
    return true;
}

/* Rule for operators on images that compute each channel by itself: the batch or the channels can be cut, if only the
 * first result is used and the node does not train.  r->arg == 1: all operands but the first one are vectors with an
 * entry for each channel. */
bool rule_shard_channels(struct shard_ask *q, const struct shard_row *r)
{
    const struct node *k = &q->s->m->node[q->n];
    bool vector = !q->result && q->at > 0;
    int axis = vector ? 1 : q->given.axis;
    /* a piece cannot make further results: they are positions in the whole tensor (MaxPool), or figures of training
     * (BatchNormalization) */
    for (uint32_t i = 1; i < k->out.n; i++)
        if (node_out(q->s->m, q->n, i) != 0)
            return false;
    if (axis > 1 || (vector && r->arg != 1) ||
        node_attr_int(q->s->m, q->n, "training_mode", 0) != 0)
        return false;
    shard_set_in(q, 0, axis);
    for (uint32_t i = 1; i < k->nformal && axis == 1 && r->arg == 1; i++)
        shard_set_in(q, i, 0);
    shard_set_out(q, 0, axis);
    return true;
}
