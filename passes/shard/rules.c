/* The table of rules for sharding, a row for each operator, and the options that follow from it (shard.h).
 *
 * An option is found from one state of one tensor.  The first states are the plain cuts of every axis of known size
 * (the last piece may be smaller).  For each state of a value, the rules of its producer and of its readers are asked
 * which states the node's other operands and results then have; new states among these are taken in turn, until there
 * are no new ones.  So cuts with several blocks are found where they are needed: a Split of q, k and v whose results
 * are cut by heads asks for the operand with three blocks.  O(values * axes * states * readers). */
#include "passes/shard/shard.h"

#include "ir/base/csr.h"
#include "ir/base/numbers.h"
#include "ir/model/dim.h"

#include <string.h>

enum {
    /* pieces may be unequal if what the last piece lacks is at most 1 / UNEVEN of all positions */
    UNEVEN = 4
};

/* The table, sorted by operator (bytewise).  arg of rule_shard_each(): the number of operands that are broadcast, 0:
 * all; other operands are whole.  For arg of other rules see their comments. */
static const struct shard_row onnx_rows[] = {
    {"Abs", rule_shard_each, 1},
    {"Acos", rule_shard_each, 1},
    {"Acosh", rule_shard_each, 1},
    {"Add", rule_shard_each, 0},
    {"And", rule_shard_each, 0},
    {"ArgMax", rule_shard_arg, 0},
    {"ArgMin", rule_shard_arg, 0},
    {"Asin", rule_shard_each, 1},
    {"Asinh", rule_shard_each, 1},
    {"Atan", rule_shard_each, 1},
    {"Atanh", rule_shard_each, 1},
    {"Attention", rule_shard_attention, SHARD_HEADS_ONNX},
    {"AveragePool", rule_shard_channels, 0},
    {"BatchNormalization", rule_shard_channels, 1},
    {"BitShift", rule_shard_each, 0},
    {"BitwiseAnd", rule_shard_each, 0},
    {"BitwiseNot", rule_shard_each, 1},
    {"BitwiseOr", rule_shard_each, 0},
    {"BitwiseXor", rule_shard_each, 0},
    {"Cast", rule_shard_each, 1},
    {"CastLike", rule_shard_each, 1},
    {"Ceil", rule_shard_each, 1},
    {"Celu", rule_shard_each, 1},
    {"Clip", rule_shard_each, 1},
    {"Col2Im", rule_shard_axes, SHARD_AXES_FIRST},
    {"Concat", rule_shard_concat, 0},
    {"Conv", rule_shard_convolve, SHARD_CONV_PLAIN},
    {"ConvInteger", rule_shard_convolve, SHARD_CONV_INTEGER},
    {"ConvTranspose", rule_shard_convolve, SHARD_CONV_TURNED},
    {"Cos", rule_shard_each, 1},
    {"Cosh", rule_shard_each, 1},
    {"CumProd", rule_shard_apart, SHARD_APART_OPERAND},
    {"CumSum", rule_shard_apart, SHARD_APART_OPERAND},
    {"DeformConv", rule_shard_axes, SHARD_AXES_DEFORM},
    {"DepthToSpace", rule_shard_depth, 0},
    {"DequantizeLinear", rule_shard_quantize, 0},
    {"Div", rule_shard_each, 0},
    {"Dropout", rule_shard_each, 1},
    {"Einsum", rule_shard_einsum, 0},
    {"Elu", rule_shard_each, 1},
    {"Equal", rule_shard_each, 0},
    {"Erf", rule_shard_each, 1},
    {"Exp", rule_shard_each, 1},
    {"Expand", rule_shard_expand, 0},
    {"Flatten", rule_shard_reshape, 0},
    {"Floor", rule_shard_each, 1},
    {"GRU", rule_shard_axes, SHARD_AXES_GATES},
    {"Gather", rule_shard_gather, 0},
    {"GatherElements", rule_shard_gather_elements, 0},
    {"GatherND", rule_shard_gather_nd, 0},
    {"Gelu", rule_shard_each, 1},
    {"Gemm", rule_shard_gemm, 0},
    {"GlobalAveragePool", rule_shard_channels, 0},
    {"GlobalLpPool", rule_shard_channels, 0},
    {"GlobalMaxPool", rule_shard_channels, 0},
    {"Greater", rule_shard_each, 0},
    {"GreaterOrEqual", rule_shard_each, 0},
    {"GridSample", rule_shard_axes, SHARD_AXES_GRID},
    {"GroupNormalization", rule_shard_group_norm, 0},
    {"HardSigmoid", rule_shard_each, 1},
    {"HardSwish", rule_shard_each, 1},
    {"Hardmax", rule_shard_along, 0},
    {"Identity", rule_shard_each, 1},
    {"InstanceNormalization", rule_shard_axes, SHARD_AXES_INSTANCE},
    {"IsInf", rule_shard_each, 1},
    {"IsNaN", rule_shard_each, 1},
    {"LRN", rule_shard_axes, SHARD_AXES_ACROSS},
    {"LSTM", rule_shard_axes, SHARD_AXES_GATES_CELL},
    {"LayerNormalization", rule_shard_norm, 0},
    {"LeakyRelu", rule_shard_each, 1},
    {"Less", rule_shard_each, 0},
    {"LessOrEqual", rule_shard_each, 0},
    {"Log", rule_shard_each, 1},
    {"LogSoftmax", rule_shard_along, 0},
    {"LpNormalization", rule_shard_apart, SHARD_APART_LAST},
    {"LpPool", rule_shard_channels, 0},
    {"MatMul", rule_shard_matmul, 0},
    {"MatMulInteger", rule_shard_product, SHARD_PRODUCT_INTEGER},
    {"Max", rule_shard_each, 0},
    {"MaxPool", rule_shard_channels, 0},
    {"MaxRoiPool", rule_shard_axes, SHARD_AXES_REGION_POOL},
    {"Mean", rule_shard_each, 0},
    {"MeanVarianceNormalization", rule_shard_apart, SHARD_APART_LIST},
    {"Min", rule_shard_each, 0},
    {"Mish", rule_shard_each, 1},
    {"Mod", rule_shard_each, 0},
    {"Mul", rule_shard_each, 0},
    {"Neg", rule_shard_each, 1},
    {"Not", rule_shard_each, 1},
    {"OneHot", rule_shard_one_hot, 0},
    {"Or", rule_shard_each, 0},
    {"PRelu", rule_shard_each, 0},
    {"Pad", rule_shard_pad, 0},
    {"Pow", rule_shard_each, 0},
    {"QLinearConv", rule_shard_convolve, SHARD_CONV_QLINEAR},
    {"QLinearMatMul", rule_shard_product, SHARD_PRODUCT_QLINEAR},
    {"QuantizeLinear", rule_shard_quantize, 0},
    {"RMSNormalization", rule_shard_norm, 0},
    {"RNN", rule_shard_axes, SHARD_AXES_GATES},
    {"Reciprocal", rule_shard_each, 1},
    {"ReduceL1", rule_shard_reduce, 0},
    {"ReduceL2", rule_shard_reduce, 0},
    {"ReduceLogSum", rule_shard_reduce, 0},
    {"ReduceLogSumExp", rule_shard_reduce, 0},
    {"ReduceMax", rule_shard_reduce, 0},
    {"ReduceMean", rule_shard_reduce, 0},
    {"ReduceMin", rule_shard_reduce, 0},
    {"ReduceProd", rule_shard_reduce, 0},
    {"ReduceSum", rule_shard_reduce, 0},
    {"ReduceSumSquare", rule_shard_reduce, 0},
    {"Relu", rule_shard_each, 1},
    {"Reshape", rule_shard_reshape, 0},
    {"Resize", rule_shard_resize, 2},
    {"ReverseSequence", rule_shard_reverse, 0},
    {"RoiAlign", rule_shard_axes, SHARD_AXES_REGIONS},
    {"RotaryEmbedding", rule_shard_attention, SHARD_HEADS_ROTARY},
    {"Round", rule_shard_each, 1},
    {"Scatter", rule_shard_scatter_elements, 0},
    {"ScatterElements", rule_shard_scatter_elements, 0},
    {"ScatterND", rule_shard_scatter_nd, 0},
    {"Selu", rule_shard_each, 1},
    {"Shrink", rule_shard_each, 1},
    {"Sigmoid", rule_shard_each, 1},
    {"Sign", rule_shard_each, 1},
    {"SimplifiedLayerNormalization", rule_shard_norm, 0},
    {"Sin", rule_shard_each, 1},
    {"Sinh", rule_shard_each, 1},
    {"Slice", rule_shard_slice, 0},
    {"Softmax", rule_shard_along, 0},
    {"Softplus", rule_shard_each, 1},
    {"Softsign", rule_shard_each, 1},
    {"SpaceToDepth", rule_shard_depth, 1},
    {"Split", rule_shard_split, 0},
    {"Sqrt", rule_shard_each, 1},
    {"Squeeze", rule_shard_reshape, 0},
    {"Sub", rule_shard_each, 0},
    {"Sum", rule_shard_each, 0},
    {"Swish", rule_shard_each, 1},
    {"Tan", rule_shard_each, 1},
    {"Tanh", rule_shard_each, 1},
    {"TensorScatter", rule_shard_axes, SHARD_AXES_CACHE},
    {"ThresholdedRelu", rule_shard_each, 1},
    {"Tile", rule_shard_tile, 0},
    {"TopK", rule_shard_apart, SHARD_APART_LAST},
    {"Transpose", rule_shard_transpose, 0},
    {"Trilu", rule_shard_apart, SHARD_APART_ROWS},
    {"Unsqueeze", rule_shard_reshape, 0},
    {"Upsample", rule_shard_resize, 1},
    {"Where", rule_shard_each, 0},
    {"Xor", rule_shard_each, 0},
};

static const struct shard_row ms_rows[] = {
    {"Attention", rule_shard_attention, SHARD_HEADS_PACKED},
    {"BiasGelu", rule_shard_each, 0},
    {"DequantizeLinear", rule_shard_quantize, 0},
    {"DynamicQuantizeMatMul", rule_shard_product, SHARD_PRODUCT_DYNAMIC},
    {"EmbedLayerNormalization", rule_shard_axes, SHARD_AXES_EMBED},
    {"FastGelu", rule_shard_each, 0},
    {"FusedConv", rule_shard_convolve, SHARD_CONV_FUSED},
    {"FusedGemm", rule_shard_gemm, 0},
    {"FusedMatMul", rule_shard_product, SHARD_PRODUCT_FUSED},
    {"Gelu", rule_shard_each, 1},
    {"GroupQueryAttention", rule_shard_attention, SHARD_HEADS_GROUPED},
    {"MatMulIntegerToFloat", rule_shard_product, SHARD_PRODUCT_FLOAT},
    {"MatMulNBits", rule_shard_packed, 0},
    {"MultiHeadAttention", rule_shard_attention, SHARD_HEADS_MULTI},
    {"NhwcMaxPool", rule_shard_axes, SHARD_AXES_ENDS},
    {"QAttention", rule_shard_attention, SHARD_HEADS_QUANTISED},
    {"QGemm", rule_shard_product, SHARD_PRODUCT_GEMM},
    {"QLinearAdd", rule_shard_qlinear, 0},
    {"QLinearAveragePool", rule_shard_axes, SHARD_AXES_CHANNELS},
    {"QLinearConcat", rule_shard_qlinear, 2},
    {"QLinearGlobalAveragePool", rule_shard_axes, SHARD_AXES_CHANNELS},
    {"QLinearLeakyRelu", rule_shard_each, 1},
    {"QLinearMul", rule_shard_qlinear, 0},
    {"QLinearSigmoid", rule_shard_each, 1},
    {"QuantizeLinear", rule_shard_quantize, 0},
    {"QuickGelu", rule_shard_each, 1},
    {"RotaryEmbedding", rule_shard_attention, SHARD_HEADS_ROTARY_MS},
    {"SkipLayerNormalization", rule_shard_skip_norm, 0},
    {"SkipSimplifiedLayerNormalization", rule_shard_skip_norm, 0},
};

static const struct {
    const char *domain;
    const struct shard_row *row;
    size_t n;
} domains[] = {{"", onnx_rows, sizeof onnx_rows / sizeof *onnx_rows},
               {"com.microsoft", ms_rows, sizeof ms_rows / sizeof *ms_rows}};

/* Whether n draws random numbers: it is a Dropout that trains, or may train. */
static bool draws(const struct module *m, nid n)
{
    vid mode = node_in(m, n, 2);
    int64_t trains = 1;
    if (mode == 0 || !node_is(m, n, "Dropout"))
        return false;
    tid t = shard_weight(m, mode);
    return t == 0 || tensor_ints(m, t, &trains, 1) != 1 || trains != 0;
}

const struct shard_row *shard_row_of(const struct module *m, nid n)
{
    size_t d = 0, low = 0;
    if ((m->node[n].flags & NODE_CALL) != 0)
        return NULL;
    while (strcmp(domains[d].domain, module_str(m, m->node[n].domain)) != 0)
        if (++d == sizeof domains / sizeof *domains)
            return NULL;
    /* the rows of a domain are in the order of operators' names */
    for (size_t high = domains[d].n; low < high;) {
        size_t mid = (low + high) / 2;
        int c = strcmp(node_op(m, n), domains[d].row[mid].op);
        if (c == 0)
            return draws(m, n) ? NULL : &domains[d].row[mid];
        if (c < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

/* ---- states ------------------------------------------------------------------------------------- */

bool shard_same(struct shard_state a, struct shard_state b)
{
    return a.run == b.run && (a.run == 0 || a.axis == b.axis);
}

tid shard_weight(const struct module *m, vid v)
{
    const struct value *p = &m->value[v];
    /* also if the tensor is the default of an input: the parts have no inputs with a default */
    if ((p->flags & VALUE_INIT) != 0)
        return p->tensor;
    if (p->def == 0 || !node_is(m, p->def, "Constant"))
        return 0;
    const struct attr *a = node_attr(m, p->def, "value");
    return a != NULL && a->kind == ATTR_TENSOR ? a->u.t : 0;
}

bool shard_is_constant(const struct shard *s, vid v)
{
    nid n = s->m->value[v].def;
    return n == 0 ? (s->m->value[v].flags & VALUE_INIT) != 0 : s->kind[n] == SHARD_CONSTANT;
}

/* Whether c divides d for all values of the names in d. */
static bool divides(struct module *m, int64_t c, struct dim d)
{
    if (d.sym == 0)
        return d.value > 0 && d.value % c == 0;
    return dim_same(dim_mul(m, dim_div(m, d, dim_num(c)), dim_num(c)), d);
}

int64_t shard_blocks(const struct shard *s, vid v, struct shard_state st)
{
    struct shape k;
    if (!shape_of(s->f, v, &k) || st.axis >= k.rank || k.d[st.axis].sym != 0)
        return -1;
    return (k.d[st.axis].value - 1) / (st.run * s->ways) + 1;
}

bool shard_cuts_unevenly(uint32_t ways, struct dim size, int64_t run)
{
    const int64_t most = run * ways;
    return size.sym == 0 && size.value < most && size.value > most - run &&
           most - size.value <= size.value / UNEVEN;
}

bool shard_is_uneven(const struct shard *s, vid v, struct shard_state st)
{
    struct shape k;
    return shard_is_cut(st) && shape_of(s->f, v, &k) && st.axis < k.rank && k.d[st.axis].sym == 0 &&
           k.d[st.axis].value % (st.run * s->ways) != 0;
}

/* Whether the pieces of a value of shape *k that have several blocks can be joined and cut by Reshapes around a
 * node: at most one number of their shapes may depend on names, since a Reshape can work out one number.  The axes
 * before the cut one may have names: their sizes are copied. */
static bool can_reshape(const struct shape *k, struct shard_state st)
{
    uint32_t named = k->d[st.axis].sym != 0;
    for (int i = st.axis + 1; i < k->rank; i++) {
        named += k->d[i].sym != 0;
        /* a Reshape would take a size of 0 for "copy the size" */
        if (k->d[i].value == 0)
            return false;
    }
    return named <= 1;
}

bool shard_can_cut(const struct shard *s, vid v, struct shard_state st)
{
    struct shape k;
    if (shard_is_terms(st))
        return shard_can_sum(s, v);
    /* the axis exists, and its size is a whole number of rounds of runs, or one round whose last run is shorter */
    if (st.run <= 0 || st.run > INT64_MAX / s->ways || !shape_of(s->f, v, &k) ||
        st.axis >= k.rank ||
        (!divides(s->m, st.run * s->ways, k.d[st.axis]) &&
         !shard_cuts_unevenly(s->ways, k.d[st.axis], st.run)))
        return false;
    for (int i = 0; i < k.rank; i++)
        if (!dim_known(k.d[i]))
            return false;
    /* pieces of weights are ranges of whole bytes */
    if (elem_bits((enum elem)k.elem) < 8 || k.elem == ELEM_STR)
        return false;
    tid t = shard_weight(s->m, v);
    if (t != 0 && !tensor_has_bytes(&s->m->tensor[t]))
        return false;
    return shard_blocks(s, v, st) == 1 || can_reshape(&k, st);
}

void shard_piece(const struct shard *s, vid v, struct shard_state st, uint32_t i, struct shape *out)
{
    shape_of(s->f, v, out);
    if (shard_is_uneven(s, v, st))
        out->d[st.axis] = dim_num(smaller(st.run, out->d[st.axis].value - st.run * i));
    else if (shard_is_cut(st) && st.axis < out->rank)
        out->d[st.axis] = dim_div(s->m, out->d[st.axis], dim_num(s->ways));
}

int shard_bit(const struct shard *s, vid v, struct shard_state st)
{
    int bit = 1;
    if (st.run == 0)
        return 0;
    for (uint32_t i = s->first_item[v]; i != 0; i = s->item[i].next, bit++)
        if (shard_same(s->item[i].s, st))
            return bit;
    return -1;
}

struct shard_state shard_state_of(const struct shard *s, vid v, uint32_t bit)
{
    uint32_t i = s->first_item[v];
    if (bit == 0)
        return (struct shard_state){0};
    while (--bit > 0)
        i = s->item[i].next;
    return s->item[i].s;
}

/* Adds state st to the states of v, unless it is there.  Returns false, and sets s->capped, if v has too many cuts
 * already; there is always room for terms. */
static bool add_item(struct shard *s, vid v, struct shard_state st)
{
    uint32_t *last = &s->first_item[v], n = 0;
    for (; *last != 0; last = &s->item[*last].next, n++)
        if (shard_same(s->item[*last].s, st))
            return true;
    if (n >= SHARD_STATES && !shard_is_terms(st)) {
        s->capped = true;
        return false;
    }
    uint32_t id = s->nitem++;
    *last = id; /* stored before vec_grow() moves the array that `last` may point into */
    s->item = vec_grow(s->a, s->item, &s->capitem, s->nitem, sizeof *s->item);
    s->item[id] = (struct shard_item){.v = v, .s = st};
    return true;
}

/* ---- options ------------------------------------------------------------------------------------ */

bool shard_in_shape(const struct shard_ask *q, uint32_t i, struct shape *out)
{
    return node_in(q->s->m, q->n, i) != 0 && shape_in(q->s->f, q->n, i, out) && out->rank >= 0;
}

bool shard_out_shape(const struct shard_ask *q, uint32_t i, struct shape *out)
{
    vid v = node_out(q->s->m, q->n, i);
    return v != 0 && shape_of(q->s->f, v, out) && out->rank >= 0;
}

void shard_set_in(struct shard_ask *q, uint32_t i, int axis)
{
    q->in[i] = (struct shard_state){(uint8_t)axis, q->given.run};
}

void shard_set_out(struct shard_ask *q, uint32_t i, int axis)
{
    q->out[i] = (struct shard_state){(uint8_t)axis, q->given.run};
}

void shard_set_all_out(struct shard_ask *q, int axis)
{
    for (uint32_t i = 0; i < q->s->m->node[q->n].out.n; i++)
        if (node_out(q->s->m, q->n, i) != 0)
            shard_set_out(q, i, axis);
}

/* Whether the answer has a change that divides a number by the number of devices: then it is right for equal pieces
 * only. */
static bool divides_sizes(const struct shard_ask *q)
{
    for (uint32_t c = 0; c < SHARD_CHANGES; c++) {
        int kind = (int)q->change[c].kind;
        if (kind != SHARD_NOTHING && kind != SHARD_FIRST && kind != SHARD_PASS &&
            kind != SHARD_ABSORB)
            return true;
    }
    return false;
}

/* Whether the answer is an option: a result is cut, or an operand or result is in terms; all tensors can be cut as the
 * answer says; operands in terms are made in terms by some option; the state that was asked about is the given one; and
 * if pieces are unequal, nothing is divided by the number of devices. */
static bool is_valid(const struct shard_ask *q)
{
    const struct shard *s = q->s;
    const struct node *k = &s->m->node[q->n];
    struct shard_state asked = q->result ? q->out[q->at] : q->in[q->at];
    bool cuts = false, uneven = false;
    for (uint32_t i = 0; i < k->nformal; i++) {
        vid v = node_in(s->m, q->n, i);
        uneven = uneven || shard_is_uneven(s, v, q->in[i]);
        bool is_terms = shard_is_terms(q->in[i]);
        if (is_terms ? shard_bit(s, v, q->in[i]) < 0
                     : q->in[i].run != 0 && !shard_can_cut(s, v, q->in[i]))
            return false;
        cuts = cuts || is_terms;
    }
    for (uint32_t i = 0; i < k->out.n; i++) {
        if (q->out[i].run != 0 && !shard_can_cut(s, node_out(s->m, q->n, i), q->out[i]))
            return false;
        cuts = cuts || q->out[i].run != 0;
        uneven = uneven || shard_is_uneven(s, node_out(s->m, q->n, i), q->out[i]);
    }
    return cuts && shard_same(asked, q->given) && (!uneven || !divides_sizes(q));
}

/* Whether option o has the same states as the answer. */
static bool is_known(const struct shard_ask *q, const struct shard_option *o)
{
    const struct node *k = &q->s->m->node[q->n];
    for (uint32_t i = 0; i < k->nformal; i++)
        if (!shard_same(o->in[i], q->in[i]))
            return false;
    for (uint32_t i = 0; i < k->out.n; i++)
        if (!shard_same(o->out[i], q->out[i]))
            return false;
    return true;
}

/* Adds the states of the answer to the states of the node's operands and results.  Returns false if a value has too
 * many. */
static bool add_items(const struct shard_ask *q)
{
    struct shard *s = q->s;
    const struct node *k = &s->m->node[q->n];
    for (uint32_t i = 0; i < k->nformal; i++)
        if (q->in[i].run != 0 && !add_item(s, node_in(s->m, q->n, i), q->in[i]))
            return false;
    for (uint32_t i = 0; i < k->out.n; i++)
        if (q->out[i].run != 0 && !add_item(s, node_out(s->m, q->n, i), q->out[i]))
            return false;
    return true;
}

/* Adds the answer to the options of the node, and the answer's states to those of the node's operands and results.
 * Does nothing if the node has that option already.  If there are too many options or states, only sets s->capped. */
static void add_option(struct shard_ask *q)
{
    struct shard *s = q->s;
    const struct node *k = &s->m->node[q->n];
    uint32_t *last = &s->first_opt[q->n], count = 0;
    for (; *last != 0; last = &s->opt[*last].next, count++)
        if (is_known(q, &s->opt[*last]))
            return;
    s->capped = s->capped || count == SHARD_OPTIONS;
    if (count == SHARD_OPTIONS || !add_items(q))
        return;
    uint32_t id = s->nopt++;
    *last = id; /* stored before vec_grow() moves the array that `last` may point into */
    s->opt = vec_grow(s->a, s->opt, &s->capopt, s->nopt, sizeof *s->opt);
    struct shard_option *o = &s->opt[id];
    *o = (struct shard_option){.node = q->n};
    o->in = arena_array(s->a, k->nformal + k->out.n + 1, sizeof *o->in);
    o->out = o->in + k->nformal;
    memcpy(o->in, q->in, k->nformal * sizeof *o->in);
    memcpy(o->out, q->out, k->out.n * sizeof *o->out);
    memcpy(o->change, q->change, sizeof o->change);
}

/* Asks rule r of node q->n: which states do its tensors have if its operand or result number `at` has state st?  Adds
 * the answer to the options if it is valid (is_valid). */
static void ask_row(struct shard_ask *q, const struct shard_row *r, bool result, uint32_t at,
                    struct shard_state st)
{
    const struct node *k = &q->s->m->node[q->n];
    memset(q->in, 0, k->nformal * sizeof *q->in);
    memset(q->out, 0, k->out.n * sizeof *q->out);
    memset(q->change, 0, sizeof q->change);
    q->result = result;
    q->at = at;
    q->given = st;
    infer_at(q->s->f, q->n); /* the rule must know the opset of the node */
    if (r->rule(q, r) && is_valid(q))
        add_option(q);
}

/* Asks all rules of node q->n about state st of its operand or result number `at`, and adds the answers to the
 * options.  Rules about terms (rules_sums.c) are asked about operands only. */
static void ask(struct shard_ask *q, bool result, uint32_t at, struct shard_state st)
{
    const struct shard *s = q->s;
    const struct node *k = &s->m->node[q->n];
    const struct shard_row *r = shard_row_of(s->m, q->n);
    uint32_t count = 0;
    if (k->nformal > SHARD_OPERANDS || k->out.n > SHARD_OPERANDS)
        return;
    if (r != NULL && !shard_is_terms(st))
        ask_row(q, r, result, at, st);
    if (s->sums == SHARDING_SUMS_NONE || s->kind[q->n] != SHARD_NODE || result)
        return;
    r = shard_sum_rows(s->m, q->n, &count);
    for (uint32_t i = 0; i < count; i++)
        ask_row(q, &r[i], result, at, st);
}

/* Asks the rules of node n about state st of value v, for each operand and result that is v.  Does so only if devices
 * share n, or if n computes a constant. */
static void ask_node(struct shard_ask *q, nid n, vid v, struct shard_state st)
{
    const struct module *m = q->s->m;
    q->n = n;
    const bool shared = q->s->kind[n] == SHARD_NODE && !shard_is_copied(q->s, n);
    if (m->node[n].graph != 1 || (!shared && q->s->kind[n] != SHARD_CONSTANT))
        return;
    for (uint32_t i = 0; i < m->node[n].nformal; i++)
        if (node_in(m, n, i) == v)
            ask(q, /*result=*/false, i, st);
    if (m->value[v].def == n)
        ask(q, /*result=*/true, m->value[v].outno, st);
}

void shard_find_options(struct shard *s)
{
    struct shard_ask *q = arena_alloc(s->a, sizeof *q);
    struct csr users = module_users(s->m, s->a);
    q->s = s;
    /* begins with the plain cuts of all axes */
    for (vid v = 1; v < s->m->nval; v++) {
        struct shape k;
        if (s->m->value[v].graph != 1 || !shape_of(s->f, v, &k))
            continue;
        for (int i = 0; i < k.rank; i++) {
            struct shard_state st = {(uint8_t)i, (k.d[i].value - 1) / s->ways + 1};
            if (k.d[i].sym == 0 && k.d[i].value > 0 && shard_can_cut(s, v, st))
                add_item(s, v, st);
        }
    }
    /* asks about each state; answers add further states behind it */
    for (uint32_t i = 1; i < s->nitem; i++) {
        const struct shard_item it = s->item[i];
        if (s->m->value[it.v].def != 0)
            ask_node(q, s->m->value[it.v].def, it.v, it.s);
        for_row (n, users, it.v)
            ask_node(q, n, it.v, it.s);
    }
}

void shard_take_number(const struct shard *s, uint32_t number, uint32_t *option)
{
    for (nid n = 1; n < s->m->nnode; n++) {
        uint32_t count = 0, left;
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
            count += !s->opt[o].gone;
        option[n] = 0;
        if (count == 0 || s->kind[n] != SHARD_NODE)
            continue;
        left = number % count;
        for (uint32_t o = s->first_opt[n]; option[n] == 0; o = s->opt[o].next)
            if (!s->opt[o].gone && left-- == 0)
                option[n] = o;
    }
}
