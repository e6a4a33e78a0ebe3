/* Rules for sharding by which devices have terms of a tensor (shard.h): where terms are made, what keeps them terms,
 * and what adds them up.
 *
 * Terms come from products whose inner axis is cut, and from sums along a cut axis.  The results of an operator are in
 * terms if an operand is and the operator is linear in it without a constant part: what is added to terms is added by
 * the first device alone.  No other operator takes terms.  An Add of terms and a whole tensor can become a Sum that
 * adds up the terms as well. O(operands * rank) each.
 *
 * M. Shoeybi et al., Megatron-LM (2019): the second product of a layer by rows, with one sum behind it. */
#include "passes/shard/shard.h"

#include "ir/model/dim.h"

#include <string.h>

static shard_rule inner_matmul, inner_gemm, inner_conv, sum_axis, linear, add_terms, add_first,
    absorb;

/* inner_conv(): whether the axis of input channels in the weights is 1 (NORMAL) or 0 (TRANSPOSED) */
enum { NORMAL, TRANSPOSED };
enum { SUM, MEAN };        /* sum_axis(): whether the operator takes the sum or the mean */
enum { ANY_TYPE, FLOATS }; /* linear(): the element types for which the operator is linear */

/* The table, sorted by operator (bytewise); each row of an operator is one more option. */
static const struct shard_row rows[] = {
    {"Add", absorb, 0},
    {"Add", add_first, 0},
    {"Add", add_terms, 0},
    {"AveragePool", linear, FLOATS},
    {"Conv", inner_conv, NORMAL},
    {"ConvInteger", inner_conv, NORMAL},
    {"ConvTranspose", inner_conv, TRANSPOSED},
    {"Div", linear, FLOATS},
    {"Expand", linear, ANY_TYPE},
    {"Flatten", linear, ANY_TYPE},
    {"Gather", linear, ANY_TYPE},
    {"Gemm", inner_gemm, 0},
    {"GlobalAveragePool", linear, FLOATS},
    {"Identity", linear, ANY_TYPE},
    {"MatMul", inner_matmul, 0},
    {"MatMulInteger", inner_matmul, 0},
    {"Mul", linear, ANY_TYPE},
    {"Neg", linear, ANY_TYPE},
    {"ReduceL1", sum_axis, SUM},
    {"ReduceMean", linear, FLOATS},
    {"ReduceMean", sum_axis, MEAN},
    {"ReduceSum", linear, ANY_TYPE},
    {"ReduceSum", sum_axis, SUM},
    {"ReduceSumSquare", sum_axis, SUM},
    {"Reshape", linear, ANY_TYPE},
    {"Slice", linear, ANY_TYPE},
    {"Split", linear, ANY_TYPE},
    {"Squeeze", linear, ANY_TYPE},
    {"Sub", add_first, 1},
    {"Sum", absorb, 0},
    {"Sum", add_first, 0},
    {"Transpose", linear, ANY_TYPE},
    {"Unsqueeze", linear, ANY_TYPE},
};

const struct shard_row *shard_sum_rows(const struct module *m, nid n, uint32_t *count)
{
    const uint32_t all = sizeof rows / sizeof *rows;
    uint32_t low = 0, high = all;
    *count = 0;
    if (m->node[n].domain != 0 || (m->node[n].flags & NODE_CALL) != 0)
        return NULL;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (strcmp(rows[mid].op, node_op(m, n)) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    while (low + *count < all && strcmp(rows[low + *count].op, node_op(m, n)) == 0)
        ++*count;
    return *count > 0 ? &rows[low] : NULL;
}

/* Whether node n rounds floats to steps: a difference in the last bits of its operand may become a difference of a
 * whole step. */
static bool rounds_to_steps(const struct module *m, nid n)
{
    static const char *const ops[] = {"QuantizeLinear", "DynamicQuantizeLinear",
                                      "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"};
    /* the operator is of ONNX, or of com.microsoft */
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(node_op(m, n), ops[i]) == 0)
            return true;
    return false;
}

void shard_find_quantised(struct shard *s)
{
    const struct module *m = s->m;
    const struct graph *g = &m->graph[1];
    s->quantised = arena_alloc(s->a, m->nval);
    for (nid n = g->first + g->count; n-- > g->first;) {
        bool steps = rounds_to_steps(m, n);
        for (uint32_t i = 0; i < m->node[n].out.n; i++)
            steps = steps || s->quantised[node_out(m, n, i)] != 0;
        for (uint32_t i = 0; i < m->node[n].in.n && steps && !node_tells_sizes(m, n); i++)
            s->quantised[node_in(m, n, i)] = 1;
        s->quantised[0] = 0; /* value 0 stands for omitted operands and results */
    }
}

bool shard_can_sum(const struct shard *s, vid v)
{
    struct shape k;
    if (v == 0 || !shape_of(s->f, v, &k) || k.rank < 0 || shard_is_constant(s, v))
        return false;
    if (k.elem == ELEM_I32 || k.elem == ELEM_I64 || k.elem == ELEM_U32 || k.elem == ELEM_U64)
        return s->sums != SHARDING_SUMS_NONE;
    return s->sums == SHARDING_SUMS_ANY && s->quantised[v] == 0 &&
           (k.elem == ELEM_F32 || k.elem == ELEM_F64 || k.elem == ELEM_F16 || k.elem == ELEM_BF16);
}

bool shard_adds_pairs(const struct shard *s, enum elem e)
{
    return elem_is_integer(e) || s->f->opset < 8;
}

static const struct shard_state terms = {.run = SHARD_TERMS};

/* terms_in() and terms_out() set the state of operand i, or of result i, to terms. */
static void terms_in(struct shard_ask *q, uint32_t i)
{
    q->in[i] = terms;
}
static void terms_out(struct shard_ask *q, uint32_t i)
{
    q->out[i] = terms;
}

/* ---- terms are made ----------------------------------------------------------------------------- */

/* Notes that only the first device has operand i, such as a bias.  Does nothing if the operand is omitted. */
static void only_first(struct shard_ask *q, uint32_t i)
{
    if (node_in(q->s->m, q->n, i) != 0)
        q->change[0] = (struct shard_change){.kind = SHARD_FIRST, .operand = i};
}

/* Rule for MatMul and MatMulInteger: if the columns of the first matrix and the rows of the second one are cut, the
 * results are terms. */
static bool inner_matmul(struct shard_ask *q, const struct shard_row *r)
{
    struct shape a, b;
    (void)r;
    if (!shard_is_cut(q->given) || q->at > 1 || !shard_in_shape(q, 0, &a) ||
        !shard_in_shape(q, 1, &b) || a.rank < 1 || b.rank < 1)
        return false;
    int columns = a.rank - 1, rows_axis = b.rank == 1 ? 0 : b.rank - 2;
    if (!dim_same(a.d[columns], b.d[rows_axis]))
        return false;
    shard_set_in(q, 0, columns);
    shard_set_in(q, 1, rows_axis);
    terms_out(q, 0);
    return true;
}

/* Rule for Gemm: if the columns of the first matrix and the rows of the second one are cut, the results are terms; the
 * first device alone adds the bias. */
static bool inner_gemm(struct shard_ask *q, const struct shard_row *r)
{
    (void)r;
    if (!shard_is_cut(q->given) || q->at > 1)
        return false;
    shard_set_in(q, 0, node_attr_int(q->s->m, q->n, "transA", 0) != 0 ? 0 : 1);
    shard_set_in(q, 1, node_attr_int(q->s->m, q->n, "transB", 0) != 0 ? 1 : 0);
    only_first(q, 2);
    terms_out(q, 0);
    return true;
}

/* Rule for convolutions without groups: if the input channels of images and kernels are cut, the results are terms; the
 * first device alone adds the bias. */
static bool inner_conv(struct shard_ask *q, const struct shard_row *r)
{
    if (!shard_is_cut(q->given) || q->at > 1 || node_attr_int(q->s->m, q->n, "group", 1) != 1)
        return false;
    shard_set_in(q, 0, 1);
    shard_set_in(q, 1, r->arg == TRANSPOSED ? 0 : 1);
    if (!node_is(q->s->m, q->n, "ConvInteger")) /* operand 2 of ConvInteger is a zero point */
        only_first(q, 2);
    terms_out(q, 0);
    return true;
}

/* Rule for reductions to sums or means along the axis that is cut: the results are terms.  Where it is a mean, each
 * device divides the mean of its piece by the number of pieces, which have equal sizes. */
static bool sum_axis(struct shard_ask *q, const struct shard_row *r)
{
    struct shape k;
    uint32_t axes;
    if (!shard_is_cut(q->given) || q->at != 0 || !shard_in_shape(q, 0, &k) ||
        !shard_reduced_axes(q, k.rank, &axes) || (axes >> q->given.axis & 1) == 0)
        return false;
    if (r->arg == MEAN) {
        if (elem_is_integer((enum elem)k.elem))
            return false;
        q->change[0] = (struct shard_change){.kind = SHARD_MEAN};
    }
    shard_set_in(q, 0, q->given.axis);
    terms_out(q, 0);
    return true;
}

/* ---- terms stay --------------------------------------------------------------------------------- */

/* Rule for operators that are linear in operand 0 (Mul: in each of its two operands): if that operand is in terms and
 * the others are whole, the results are terms. */
static bool linear(struct shard_ask *q, const struct shard_row *r)
{
    struct shape k;
    const struct node *n = &q->s->m->node[q->n];
    bool product = node_is(q->s->m, q->n, "Mul");
    if (!shard_is_terms(q->given) || q->at > (product ? 1 : 0) || !shard_in_shape(q, q->at, &k) ||
        (r->arg == FLOATS && elem_is_integer((enum elem)k.elem)))
        return false;
    /* if an operand were read twice, it would be needed whole, too, and terms would gain nothing */
    for (uint32_t i = 0; i < n->nformal; i++)
        if (i != q->at && node_in(q->s->m, q->n, i) == node_in(q->s->m, q->n, q->at))
            return false;
    terms_in(q, q->at);
    for (uint32_t i = 0; i < n->out.n; i++)
        if (node_out(q->s->m, q->n, i) != 0)
            terms_out(q, i);
    return true;
}

/* Rule for Add: if both operands are in terms, each device adds its own terms, and the result is in terms. */
static bool add_terms(struct shard_ask *q, const struct shard_row *r)
{
    (void)r;
    if (!shard_is_terms(q->given))
        return false;
    terms_in(q, 0);
    terms_in(q, 1);
    terms_out(q, 0);
    return true;
}

/* Whether a tensor of the shape of operand q->at can take the place of the result: the operand is in terms, no other
 * operand is the same value, and the result has its shape. */
static bool is_shape_of_result(const struct shard_ask *q)
{
    struct shape k, y;
    if (!shard_is_terms(q->given) || !shard_in_shape(q, q->at, &k) || !shard_out_shape(q, 0, &y) ||
        k.rank != y.rank)
        return false;
    for (uint32_t i = 0; i < q->s->m->node[q->n].nformal; i++)
        if (i != q->at && node_in(q->s->m, q->n, i) == node_in(q->s->m, q->n, q->at))
            return false;
    for (int i = 0; i < k.rank; i++)
        if (!dim_same(k.d[i], y.d[i]))
            return false;
    return true;
}

/* Rule for Add, Sum and Sub with an operand in terms and whole other operands: only the first device adds these to its
 * term; on each other device its term is the result.  r->arg == 1 (Sub): only operand 0 can be in terms. */
static bool add_first(struct shard_ask *q, const struct shard_row *r)
{
    if ((r->arg == 1 && q->at != 0) || !is_shape_of_result(q))
        return false;
    terms_in(q, q->at);
    terms_out(q, 0);
    q->change[0] = (struct shard_change){.kind = SHARD_PASS, .operand = q->at};
    return true;
}

/* ---- terms are added up ------------------------------------------------------------------------- */

/* Rule for Add and Sum with one operand in terms and whole other operands: each device adds up the terms of all devices
 * and the other operands; the result is whole. */
static bool absorb(struct shard_ask *q, const struct shard_row *r)
{
    (void)r;
    if (!is_shape_of_result(q))
        return false;
    terms_in(q, q->at);
    q->change[0] = (struct shard_change){.kind = SHARD_ABSORB, .operand = q->at};
    return true;
}
