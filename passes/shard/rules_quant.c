/* Rules for sharding of operators with scales and zero points (shard.h): quantised tensors, and products of several
 * kinds of matrices, which may have a scale for each row or column.  Sums of integers are not divided over devices
 * here. O(operands * rank) each. */
#include "passes/shard/shard.h"

#include "ir/model/dim.h"

#include <string.h>

/* Whether operand i is omitted, or has one element. */
static bool is_single(const struct shard_ask *q, uint32_t i)
{
    struct shape k;
    if (node_in(q->s->m, q->n, i) == 0)
        return true;
    if (!shard_in_shape(q, i, &k))
        return false;
    for (int j = 0; j < k.rank; j++)
        if (!shard_is_one(k.d[j]))
            return false;
    return true;
}

/* ---- to and from integers ----------------------------------------------------------------------- */

/* Sets the state of operand i of QuantizeLinear or DequantizeLinear, a scale or zero point, if the tensor of shape
 * *x is cut along axis `cut`.  axis: the axis whose positions, or blocks of positions, each have a scale of their
 * own.  Returns false if the operand cannot be cut so. */
static bool cut_scale(struct shard_ask *q, uint32_t i, const struct shape *x, int cut, int axis)
{
    struct shape k;
    int64_t block = node_attr_int(q->s->m, q->n, "block_size", 0);
    if (is_single(q, i))
        return true;
    if (!shard_in_shape(q, i, &k) || (k.rank != 1 && k.rank != x->rank))
        return false;
    if (block == 0) { /* one scale for each position of the axis */
        if (cut == axis)
            shard_set_in(q, i, 0);
        return k.rank == 1;
    }
    if (k.rank != x->rank || (cut == axis && q->given.run % block != 0))
        return false;
    q->in[i] = (struct shard_state){(uint8_t)cut, q->given.run / (cut == axis ? block : 1)};
    return true;
}

/* Rule for QuantizeLinear and DequantizeLinear: any axis can be cut; scale and zero point are cut with the axis for
 * whose positions they are. */
bool rule_shard_quantize(struct shard_ask *q, const struct shard_row *r)
{
    struct shape x;
    (void)r;
    if ((!q->result && q->at != 0) || !shard_in_shape(q, 0, &x))
        return false;
    int axis = axis_of(node_attr_int(q->s->m, q->n, "axis", 1), x.rank);
    shard_set_in(q, 0, q->given.axis);
    shard_set_out(q, 0, q->given.axis);
    return (axis >= 0 || is_single(q, 1)) && cut_scale(q, 1, &x, q->given.axis, axis) &&
           cut_scale(q, 2, &x, q->given.axis, axis);
}

/* Rule for operators on quantised tensors.  QLinearAdd and QLinearMul (r->arg == 0): operands 0 and 3 are broadcast,
 * and any axis can be cut.  QLinearConcat (r->arg == 2): operands 2, 5, 8, ... are joined, and any axis can be cut.
 * All other operands are scales and zero points, which stay whole. */
bool rule_shard_qlinear(struct shard_ask *q, const struct shard_row *r)
{
    struct shape out, k;
    const uint32_t first = (uint32_t)r->arg, n = first == 0 ? 4 : q->s->m->node[q->n].nformal;
    if (!shard_out_shape(q, 0, &out) || (!q->result && (q->at < first || (q->at - first) % 3 != 0 ||
                                                        !shard_in_shape(q, q->at, &k))))
        return false;
    /* operands are broadcast, so axes are aligned at the last one.  axis: the cut axis of the result; here: the same
     * axis in operand i */
    int axis = q->result ? q->given.axis : q->given.axis + out.rank - k.rank;
    for (uint32_t i = first; i < n; i += 3) {
        if (!shard_in_shape(q, i, &k))
            return false;
        int here = axis - (out.rank - k.rank);
        if (first == 0 && (here < 0 || shard_is_one(k.d[here])))
            continue;
        if (here < 0 || (first == 0 && !dim_same(k.d[here], out.d[axis])))
            return false;
        shard_set_in(q, i, here);
    }
    shard_set_out(q, 0, axis);
    return true;
}

/* ---- products ----------------------------------------------------------------------------------- */

/* [enum shard_product] A character for each operand of a product of matrices.  a: the first matrix; A: the first
 * matrix, if all its elements decide one scale, so that it stays whole; b: the second matrix; r: an operand with an
 * entry for each row of the result; c: one with an entry for each column; '-': one that is for all. */
static const char *const product_text[] = {
    [SHARD_PRODUCT_INTEGER] = "abrc",   [SHARD_PRODUCT_QLINEAR] = "arrbcc--",
    [SHARD_PRODUCT_FLOAT] = "abrcrcc",  [SHARD_PRODUCT_DYNAMIC] = "Abccc",
    [SHARD_PRODUCT_GEMM] = "A--bccc--", [SHARD_PRODUCT_FUSED] = "ab",
};

/* Sets the state of operand i, which has an entry for each row (letter r) or column (letter c) of the result: a vector,
 * or a stack of vectors whose axes are those of the result or of size 1.  behind: the axis of the result that is cut,
 * counted from the last one.  Returns false if the operand's shape is not known. */
static bool cut_vector(struct shard_ask *q, uint32_t i, int behind, char letter)
{
    struct shape k;
    if (is_single(q, i))
        return true;
    if (!shard_in_shape(q, i, &k))
        return false;
    if (k.rank == 1) {
        if (behind == (letter == 'r' ? 1 : 0))
            shard_set_in(q, i, 0);
        return true;
    }
    int axis = k.rank - 1 - behind;
    if (axis >= 0 && !shard_is_one(k.d[axis]))
        shard_set_in(q, i, axis);
    return true;
}

/* Sets the state of operand i, a stack of matrices: cut along the axis that is `behind` axes before the last one, if
 * it has that axis in full.  y: shape of the result.  Returns false if the operand has another size there. */
static bool cut_matrices(struct shard_ask *q, uint32_t i, int behind, const struct shape *y)
{
    struct shape k;
    if (!shard_in_shape(q, i, &k))
        return false;
    int axis = k.rank - 1 - behind;
    if (axis < 0 || shard_is_one(k.d[axis]))
        return true;
    if (!dim_same(k.d[axis], y->d[y->rank - 1 - behind]))
        return false;
    shard_set_in(q, i, axis);
    return true;
}

/* Rule for products of matrices that are quantised or fused with other operators: the rows of the first matrix, the
 * columns of the second one, or an axis of the stacks of matrices can be cut.  r->arg: enum shard_product. */
bool rule_shard_product(struct shard_ask *q, const struct shard_row *r)
{
    const char *text = product_text[r->arg];
    const struct module *m = q->s->m;
    uint32_t ia = (uint32_t)strcspn(text, "aA"), ib = (uint32_t)strcspn(text, "b"),
             n = m->node[q->n].nformal;
    bool turn_a = node_attr_int(m, q->n, "transA", 0) != 0,
         turn_b = node_attr_int(m, q->n, "transB", 0) != 0;
    struct shape a, b, y;
    if (!shard_in_shape(q, ia, &a) || !shard_in_shape(q, ib, &b) || !shard_out_shape(q, 0, &y) ||
        a.rank < 2 || b.rank < 2 || n > strlen(text) || node_attr_int(m, q->n, "transBatchA", 0) ||
        node_attr_int(m, q->n, "transBatchB", 0) || (!q->result && q->at != ia && q->at != ib))
        return false;
    const struct shape *given = q->result ? &y : q->at == ia ? &a : &b;
    /* the given axis of the result, counted from the last one */
    int behind = given->rank - 1 - q->given.axis;
    if (behind < 2 && !q->result && (q->at == ia ? turn_a : turn_b))
        behind = 1 - behind;
    /* the axis is summed over */
    if (behind < 2 && !q->result && behind != (q->at == ia ? 1 : 0))
        return false;
    if (behind == 0)
        shard_set_in(q, ib, turn_b ? b.rank - 2 : b.rank - 1);
    else if (text[ia] == 'A')
        return false;
    else if (behind == 1)
        shard_set_in(q, ia, turn_a ? a.rank - 1 : a.rank - 2);
    else if (!cut_matrices(q, ia, behind, &y) || !cut_matrices(q, ib, behind, &y))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if ((text[i] == 'r' || text[i] == 'c') && !cut_vector(q, i, behind, text[i]))
            return false;
    shard_set_out(q, 0, y.rank - 1 - behind);
    return true;
}

/* Rule for MatMulNBits: the columns can be cut, which are the rows of the packed matrix, of its scales and of its
 * zero points; and the axes of the first operand before its last one. */
bool rule_shard_packed(struct shard_ask *q, const struct shard_row *r)
{
    struct shape a, y, k;
    const struct module *m = q->s->m;
    int64_t columns = node_attr_int(m, q->n, "N", 0), ways = q->s->ways;
    (void)r;
    if (!shard_in_shape(q, 0, &a) || !shard_out_shape(q, 0, &y) || (!q->result && q->at != 0) ||
        a.rank != y.rank)
        return false;
    int cut = q->given.axis;
    shard_set_out(q, 0, cut);
    if (cut < y.rank - 1) {
        shard_set_in(q, 0, cut);
        return true;
    }
    if (!q->result || columns <= 0 || columns % ways != 0 || q->given.run != columns / ways)
        return false;
    for (uint32_t i = 1; i < m->node[q->n].nformal; i++) {
        /* operand 4 has an index for each position of the axis that is summed over, so it stays whole */
        if (node_in(m, q->n, i) == 0 || i == 4)
            continue;
        if (!shard_in_shape(q, i, &k) || k.rank < 1 || k.d[0].value % ways != 0)
            return false;
        q->in[i] = (struct shard_state){0, k.d[0].value / ways};
    }
    q->change[0] = (struct shard_change){.kind = SHARD_ATTR, .attr = "N"};
    return true;
}
