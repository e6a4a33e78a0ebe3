/* Computes the number of operations of nodes from shapes (flops.h); O(rank) each.
 *
 * A multiply-add counts as two operations; adding a bias is not counted.  Matrix products take 2 M N K, convolutions 2
 * * (elements of the result) * (weights per output channel), recurrent layers 2 * steps * batch * (elements of W and
 * R), attention its matrix products and five operations per score for the softmax; mixtures of experts a multiply-add
 * for each token and each weight of the experts that the token goes to; Fourier transforms 5 n log2 n; poolings one
 * operation per element of each window, reductions one or two per element read, normalisations and softmax a fixed
 * number per element.  An operator without a rule takes one operation per element of its first result. */
#include "passes/cost/flops.h"

#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "passes/shapes/infer_bodies.h"

#include <stdlib.h>
#include <string.h>

/* How the operations of a node are counted, and what flop_row.arg means for each rule. */
enum flop_rule {
    FREE,           /* takes no time: node_is_free() */
    GATHER,         /* one operation per element of the result; reads as many bytes as it writes */
    PER_OUT,        /* arg operations per element of result 0 */
    PER_IN,         /* arg operations per element of operand 0 */
    WINDOW,         /* pooling */
    CONV,           /* arg: number of the operand with the weights */
    CONV_TRANSPOSE, /* arg: number of the operand with the weights */
    MATMUL, /* a matrix product, which sums over the last axis of operand 0, with transA the last but one */
    MATMULS, /* arg matrix products with operand 0 for each result */
    RECURRENT,
    EINSUM,
    ATTENTION, /* attention of ai.onnx; the operator of other domains counts as MS_ATTENTION */
    /* attention together with the projection of its input; arg: number of the operand with the cache; 255: there is no
     * cache */
    MS_ATTENTION,
    MULTI_HEAD,       /* arg: number of the operand with the cache of keys */
    PACKED_ATTENTION, /* arg: number of the operand with the positions of the tokens */
    LINEAR_ATTENTION,
    /* arg: how many operands lie from the weights of one layer to those of the next layer */
    EXPERTS,
    FOURIER
};

/* Flags.  INTEGER_MATH: computes in the type of operand 0, although scales are floats.  NORM: normalises the elements
 * of its axis (attribute `axis`) and of all later axes together, and reads them twice: for mean or variance, then for
 * the result.  SOFTMAX: normalises the elements of its axis alone (before opset 13 of all later axes, too), and reads
 * them three times: for their maximum, for the sum, for the result. */
enum { INTEGER_MATH = 1, NORM = 2, SOFTMAX = 4 };

struct flop_row {
    const char *op; /* operator */
    uint8_t rule, arg, flags;
};

/* The operators and how their operations are counted, sorted by name.  A row is for the operators of this name in all
 * domains, which do similar work (but see ATTENTION). */
static const struct flop_row table[] = {
    {"ArgMax", PER_IN, 1, 0},
    {"ArgMin", PER_IN, 1, 0},
    {"Attention", ATTENTION, 0, 0},
    {"AttnLSTM", RECURRENT, 0, 0},
    {"AveragePool", WINDOW, 0, 0},
    {"BatchNormalization", PER_OUT, 2, 0},
    {"BiasGelu", PER_OUT, 2, 0},
    {"BiasSoftmax", PER_OUT, 6, SOFTMAX},
    {"BitCast", FREE, 0, 0},
    {"CDist", MATMUL, 1, 0},
    {"CausalConvWithState", CONV, 1, 0},
    {"Constant", FREE, 0, 0},
    {"Conv", CONV, 1, 0},
    {"ConvInteger", CONV, 1, INTEGER_MATH},
    {"ConvTranspose", CONV_TRANSPOSE, 1, 0},
    {"ConvTransposeWithDynamicPads", CONV_TRANSPOSE, 1, 0},
    {"DFT", FOURIER, 0, 0},
    {"DecoderMaskedMultiHeadAttention", MULTI_HEAD, 5, 0},
    {"DecoderMaskedSelfAttention", MS_ATTENTION, 4, 0},
    {"DeformConv", CONV, 1, 0},
    {"DynamicQuantizeLSTM", RECURRENT, 0, 0},
    {"DynamicQuantizeMatMul", MATMUL, 1, 0},
    {"Einsum", EINSUM, 0, 0},
    {"EmbedLayerNormalization", PER_OUT, 10, NORM},
    {"Flatten", FREE, 0, 0},
    {"FlexAttention", ATTENTION, 0, 0},
    {"FusedConv", CONV, 1, 0},
    {"FusedGemm", MATMUL, 1, 0},
    {"FusedMatMul", MATMUL, 1, 0},
    {"FusedMatMulActivation", MATMUL, 1, 0},
    {"GRU", RECURRENT, 0, 0},
    {"Gather", GATHER, 0, 0},
    {"GatherBlockQuantized", GATHER, 0, 0},
    {"GatherElements", GATHER, 0, 0},
    {"GatherND", GATHER, 0, 0},
    {"Gemm", MATMUL, 1, 0},
    {"GemmFastGelu", MATMUL, 1, 0},
    {"GemmFloat8", MATMUL, 1, 0},
    {"GlobalAveragePool", PER_IN, 1, 0},
    {"GlobalLpPool", PER_IN, 2, 0},
    {"GlobalMaxPool", PER_IN, 1, 0},
    {"GridSample", PER_OUT, 8, 0},
    {"GroupNorm", PER_OUT, 8, 0},
    {"GroupNormalization", PER_OUT, 8, 0},
    {"GroupQueryAttention", MULTI_HEAD, 3, 0},
    {"Hardmax", PER_OUT, 2, 0},
    {"Identity", FREE, 0, 0},
    {"InstanceNormalization", PER_OUT, 8, 0},
    {"Irfft", FOURIER, 0, 0},
    {"LSTM", RECURRENT, 0, 0},
    {"LayerNormalization", PER_OUT, 8, NORM},
    {"LinearAttention", LINEAR_ATTENTION, 0, 0},
    {"LogSoftmax", PER_OUT, 5, SOFTMAX},
    {"LongformerAttention", MS_ATTENTION, 255, 0},
    {"LpPool", WINDOW, 0, 0},
    {"MatMul", MATMUL, 1, 0},
    {"MatMulBlockQuantizedFp4Weight", MATMUL, 1, 0},
    {"MatMulBlockQuantizedFp8Weight", MATMUL, 1, 0},
    {"MatMulBnb4", MATMUL, 1, 0},
    {"MatMulFpQ4", MATMUL, 1, 0},
    {"MatMulInteger", MATMUL, 1, INTEGER_MATH},
    {"MatMulInteger16", MATMUL, 1, INTEGER_MATH},
    {"MatMulIntegerToFloat", MATMUL, 1, INTEGER_MATH},
    {"MatMulNBits", MATMUL, 1, 0},
    {"MatMulNBitsMlp", MATMULS, 2, 0},
    {"MatMulNBitsQkv", MATMULS, 1, 0},
    {"MaxPool", WINDOW, 0, 0},
    {"MaxpoolWithMask", WINDOW, 0, 0},
    {"MoE", EXPERTS, 2, 0},
    {"MultiHeadAttention", MULTI_HEAD, 6, 0},
    {"NhwcConv", CONV, 1, 0},
    {"NhwcFusedConv", CONV, 1, 0},
    {"NhwcMaxPool", WINDOW, 0, 0},
    {"PackedAttention", PACKED_ATTENTION, 3, 0},
    {"PackedMultiHeadAttention", PACKED_ATTENTION, 4, 0},
    {"QAttention", MS_ATTENTION, 8, INTEGER_MATH},
    {"QEmbedLayerNormalization", PER_OUT, 10, NORM},
    {"QGemm", MATMUL, 3, INTEGER_MATH},
    {"QLinearAdd", PER_OUT, 1, INTEGER_MATH},
    {"QLinearAveragePool", WINDOW, 0, INTEGER_MATH},
    {"QLinearConv", CONV, 3, INTEGER_MATH},
    {"QLinearGlobalAveragePool", PER_IN, 1, INTEGER_MATH},
    {"QLinearMatMul", MATMUL, 3, INTEGER_MATH},
    {"QLinearMul", PER_OUT, 1, INTEGER_MATH},
    {"QLinearReduceMean", PER_IN, 1, INTEGER_MATH},
    {"QLinearSoftmax", PER_OUT, 5, INTEGER_MATH | SOFTMAX},
    {"QMoE", EXPERTS, 3, 0},
    {"QOrderedMatMul", MATMUL, 2, INTEGER_MATH},
    {"RMSNormalization", PER_OUT, 5, NORM},
    {"RNN", RECURRENT, 0, 0},
    {"ReduceL1", PER_IN, 1, 0},
    {"ReduceL2", PER_IN, 2, 0},
    {"ReduceLogSum", PER_IN, 1, 0},
    {"ReduceLogSumExp", PER_IN, 2, 0},
    {"ReduceMax", PER_IN, 1, 0},
    {"ReduceMean", PER_IN, 1, 0},
    {"ReduceMin", PER_IN, 1, 0},
    {"ReduceProd", PER_IN, 1, 0},
    {"ReduceSum", PER_IN, 1, 0},
    {"ReduceSumSquare", PER_IN, 2, 0},
    {"Reshape", FREE, 0, 0},
    {"Rfft", FOURIER, 0, 0},
    {"STFT", FOURIER, 0, 0},
    {"Shape", FREE, 0, 0},
    {"SimplifiedLayerNormalization", PER_OUT, 5, NORM},
    {"Size", FREE, 0, 0},
    {"SkipGroupNorm", PER_OUT, 9, 0},
    {"SkipLayerNormalization", PER_OUT, 9, NORM},
    {"SkipSimplifiedLayerNormalization", PER_OUT, 6, NORM},
    {"Slice", GATHER, 0, 0},
    {"Softmax", PER_OUT, 5, SOFTMAX},
    {"SparseAttention", MULTI_HEAD, 3, 0},
    {"Squeeze", FREE, 0, 0},
    {"SwiGLU", PER_OUT, 5, 0},
    {"TorchEmbedding", GATHER, 0, 0},
    {"TransposeMatMul", MATMUL, 1, 0},
    {"Unsqueeze", FREE, 0, 0},
    {"VarlenCausalConvWithState", CONV, 1, 0},
};

enum { ROWS = sizeof table / sizeof table[0] };

/* Returns flops.reads for all values of m. */
static uint8_t *count_reads(const struct module *m, struct arena *a)
{
    uint8_t *reads = arena_array(a, m->nval, 1);
    for (nid n = 1; n < m->nnode; n++)
        for (uint32_t i = 0; i < m->node[n].in.n; i++) {
            vid v = m->arg[m->node[n].in.at + i];
            if (reads[v] < 2)
                reads[v]++;
        }
    for (gid g = 1; g < m->ngraph; g++)
        for (uint32_t i = 0; i < m->graph[g].out.n; i++) {
            vid v = m->arg[m->graph[g].out.at + i];
            if (reads[v] < 2)
                reads[v]++;
        }
    return reads;
}

struct flops *flops_new(struct module *m, uint32_t *type, const int64_t *elems, struct arena *a)
{
    struct flops *x = arena_alloc(a, sizeof *x);
    sid max = 0;
    int64_t version = module_opset(m, 0);
    x->f = (struct infer){.m = m, .mem = a, .bound = true, .type = type};
    x->f.opset = version < 0 ? INT64_MAX : version;
    x->f.data = arena_array(a, m->nval, sizeof *x->f.data);
    x->elems = elems;
    x->reads = count_reads(m, a);
    for (nid n = 1; n < m->nnode; n++)
        max = larger_u32(m->node[n].op, max);
    x->row = arena_array(a, (size_t)max + 1, 1);
    return x;
}

/* Returns 2 + the row of an operator; 1: there is none. */
static uint8_t find_row(const char *op)
{
    const struct flop_row *row = bsearch(&op, table, ROWS, sizeof *row, str_order);
    return row ? (uint8_t)(row - table + 2) : 1;
}

/* Returns the row of node n's operator; NULL: there is none, or n is a call of a function. */
static const struct flop_row *row_of(struct flops *x, nid n)
{
    const struct node *k = &x->f.m->node[n];
    /* *row: 0: not looked up yet; 1: there is no row; else 2 + the row's index */
    uint8_t *row = &x->row[k->op];
    if ((k->flags & NODE_CALL) != 0)
        return NULL;
    if (*row == 0)
        *row = find_row(module_str(x->f.m, k->op));
    return *row == 1 ? NULL : &table[*row - 2];
}

bool node_is_free(struct flops *x, nid n)
{
    const struct flop_row *r = row_of(x, n);
    return r != NULL && r->rule == FREE;
}

bool node_gathers(struct flops *x, nid n)
{
    const struct flop_row *r = row_of(x, n);
    return r != NULL && r->rule == GATHER;
}

/* Returns the dimension's size, 1 if it is unknown. */
static int64_t known_size(struct dim d)
{
    return d.value >= 0 ? d.value : 1;
}

/* Returns the size of an axis counted from the end (1: the last one); 1 if unknown or if there are fewer axes. */
static int64_t last_dim(const struct shape *s, int from_end)
{
    return s->rank >= from_end ? known_size(s->d[s->rank - from_end]) : 1;
}

/* Returns the number of elements of operand i of node n. */
static int64_t elems_in(const struct flops *x, nid n, uint32_t i)
{
    return x->elems[node_in(x->f.m, n, i)];
}

/* Returns the number of elements of the first result of node n that is not omitted; 0: all are. */
static int64_t elems_out(const struct flops *x, nid n)
{
    const struct node *k = &x->f.m->node[n];
    for (uint32_t i = 0; i < k->out.n; i++) {
        if (node_out(x->f.m, n, i) != 0)
            return x->elems[node_out(x->f.m, n, i)];
    }
    return 0;
}

/* Returns the number of weights per output channel, or per input channel of a transposed convolution.  weight: number
 * of the operand with the weights. */
static int64_t per_channel(const struct flops *x, nid n, uint32_t weight)
{
    struct shape w;
    shape_in(&x->f, n, weight, &w);
    int64_t channels = w.rank > 0 ? known_size(w.d[0]) : 1;
    return channels > 0 ? elems_in(x, n, weight) / channels : 0;
}

/* Returns the operations of a matrix product: 2 M N K for each matrix of the result. */
static int64_t matmul_flops(const struct flops *x, nid n)
{
    struct shape a;
    shape_in(&x->f, n, 0, &a);
    bool t = node_attr_int(x->f.m, n, "transA", 0) != 0 && a.rank > 1;
    bool first = t && node_attr_int(x->f.m, n, "transBatchA", 0) != 0;
    /* the product sums over the last axis of operand 0; with transA over the last but one; with transA and transBatchA
     * over the first one */
    return sat_mul(2, sat_mul(elems_out(x, n), last_dim(&a, first ? a.rank : t ? 2 : 1)));
}

/* Returns the number of elements of a shape's axes before the last two (of a stack of matrices: their number); 1 if
 * there are none. */
static int64_t leading(const struct shape *s)
{
    int64_t all = 1;
    for (int i = 0; i + 2 < s->rank; i++)
        all = sat_mul(all, known_size(s->d[i]));
    return all;
}

bool node_products(struct flops *x, nid n, struct products *p)
{
    const struct flop_row *r = row_of(x, n);
    int64_t out = elems_out(x, n), flops = 0;
    struct shape result, weights;
    *p = (struct products){1, 1, 1, 1, r != NULL && r->rule == CONV};
    if (r == NULL || out <= 0)
        return false;
    if (r->rule == MATMUL) {
        shape_of(&x->f, node_out(x->f.m, n, 0), &result);
        p->columns = larger(last_dim(&result, 1), 1);
        flops = matmul_flops(x, n);
        /* the second operand is a stack of matrices if its last two axes have the lengths of the sum and of the
         * columns, in any order.  Packed weights have other lengths; then the work counts as one product */
        shape_in(&x->f, n, r->arg, &weights);
        int64_t sum = flops / 2 / out, a = last_dim(&weights, 2), b = last_dim(&weights, 1);
        if ((a == sum && b == p->columns) || (b == sum && a == p->columns))
            p->count = smaller(larger(leading(&weights), 1), larger(out / p->columns, 1));
    } else if (r->rule == CONV) {
        shape_in(&x->f, n, r->arg, &weights);
        int64_t channels = weights.rank > 0 ? larger(known_size(weights.d[0]), 1) : 1;
        p->count = larger(smaller(node_attr_int(x->f.m, n, "group", 1), channels), 1);
        p->columns = channels / p->count;
        flops = sat_mul(2, sat_mul(out, per_channel(x, n, r->arg)));
    } else {
        return false;
    }
    p->rows = larger(out / p->columns / p->count, 1);
    p->sum = larger(flops / 2 / out, 1);
    return true;
}

nid node_biases(struct flops *x, nid n)
{
    const struct module *m = x->f.m;
    struct shape s;
    if (!node_is(m, n, "Add") || m->node[n].nformal != 2)
        return 0;
    for (uint32_t i = 0; i < 2; i++) {
        vid made = node_in(m, n, i), other = node_in(m, n, 1 - i);
        nid from = m->value[made].def;
        const struct flop_row *r = from ? row_of(x, from) : NULL;
        if (r != NULL && r->rule == MATMUL && x->reads[made] == 1 &&
            (m->value[other].flags & VALUE_INIT) != 0 && shape_of(&x->f, made, &s))
            return x->elems[other] == last_dim(&s, 1) ? from : 0;
    }
    return 0;
}

/* Whether the softmax node n takes the elements of its axis and of all later axes together, as before opset 13. */
static bool softmax_is_flat(const struct flops *x, nid n)
{
    const char *op = node_op(x->f.m, n);
    if (strcmp(op, "BiasSoftmax") == 0)
        return true;
    if (strcmp(op, "QLinearSoftmax") == 0)
        return node_attr_int(x->f.m, n, "opset", 13) < 13;
    return x->f.opset < 13;
}

int64_t node_normal_row(struct flops *x, nid n, int *passes)
{
    const struct flop_row *r = row_of(x, n);
    /* the shape of the result: operand 0 of EmbedLayerNormalization is a list of words */
    struct shape s;
    int64_t row = 1;
    if (r == NULL || (r->flags & (NORM | SOFTMAX)) == 0 ||
        !shape_of(&x->f, node_out(x->f.m, n, 0), &s))
        return 0;
    bool softmax = (r->flags & SOFTMAX) != 0, flat = softmax && softmax_is_flat(x, n);
    *passes = softmax ? 3 : 2;
    int axis = axis_of(node_attr_int(x->f.m, n, "axis", flat ? 1 : -1), s.rank);
    if (axis < 0)
        return 0;
    for (int i = axis; i < (softmax && !flat ? axis + 1 : s.rank); i++)
        row = sat_mul(row, known_size(s.d[i]));
    return row;
}

/* Returns the operations of a node that computes each of its results by `products` matrix products with operand 0. */
static int64_t products_flops(const struct flops *x, nid n, int64_t products)
{
    struct shape a;
    int64_t out = 0;
    shape_in(&x->f, n, 0, &a);
    uint32_t results = products == 1 ? 3 : 2; /* the first results, which are made by products */
    for (uint32_t i = 0; i < results; i++) {
        vid v = node_out(x->f.m, n, i);
        out = sat_add(out, v != 0 && x->elems[v] > 0 ? x->elems[v] : 0);
    }
    return sat_mul(2 * products, sat_mul(out, last_dim(&a, 1)));
}

/* Returns the operations of a mixture of experts in which each token goes through k experts: a multiply-add for each
 * token and each weight of its experts.  The weights are operands 2, 2 + step and 2 + 2 * step. */
static int64_t expert_flops(const struct flops *x, nid n, uint32_t step)
{
    struct shape in, w;
    shape_in(&x->f, n, 0, &in);
    shape_in(&x->f, n, 2, &w);
    int64_t experts = w.rank > 0 ? known_size(w.d[0]) : 1, weights = 0, width = last_dim(&in, 1);
    for (uint32_t i = 0; i < 3; i++) {
        vid v = node_in(x->f.m, n, 2 + i * step);
        weights = sat_add(weights, v != 0 && x->elems[v] > 0 ? x->elems[v] : 0);
    }
    bool packed = w.elem == ELEM_U8; /* a byte may have several weights */
    int64_t bits = packed ? node_attr_int(x->f.m, n, "expert_weight_bits", 4) : 8;
    if (bits > 0 && bits < 8)
        weights = sat_mul(weights, 8 / bits);
    int64_t tokens = width > 0 ? elems_in(x, n, 0) / width : 0;
    int64_t used = sat_mul(node_attr_int(x->f.m, n, "k", 1), weights / (experts > 0 ? experts : 1));
    return sat_mul(2, sat_mul(tokens, used));
}

/* Returns the operations of Fourier transforms: 5 n log2 n for each transform of n complex points, where n is the size
 * of the last but one axis of the result, and a point has two elements. */
static int64_t fourier_flops(const struct flops *x, nid n)
{
    struct shape out;
    int64_t depth = 1; /* log2 of the number of points, rounded up, at least 1 */
    shape_of(&x->f, node_out(x->f.m, n, 0), &out);
    while (depth < 62 && (INT64_C(1) << depth) < last_dim(&out, 2))
        depth++;
    return sat_mul(5 * depth, elems_out(x, n) / 2);
}

/* Returns the operations of a pooling: one for each element of the window (attribute kernel_shape), for each element of
 * the result. */
static int64_t window_flops(struct flops *x, nid n)
{
    int64_t k[SHAPE_RANK], size = 1;
    int rank = attr_ints(&x->f, n, "kernel_shape", k, SHAPE_RANK);
    for (int i = 0; i < rank; i++)
        size = sat_mul(size, k[i] > 0 ? k[i] : 1);
    return sat_mul(size, elems_out(x, n));
}

/* Returns the operations of a recurrent layer: a multiply-add for each step, sample and element of the weights W and R
 * (operands 1 and 2). */
static int64_t recurrent_flops(const struct flops *x, nid n)
{
    struct shape in;
    shape_in(&x->f, n, 0, &in);
    int64_t steps = sat_mul(last_dim(&in, 3), last_dim(&in, 2));
    return sat_mul(sat_mul(2, steps), sat_add(elems_in(x, n, 1), elems_in(x, n, 2)));
}

/* Returns the operations of an Einsum: for each combination of values of all letters one multiply-add for each operand
 * but the first; one operation if there is only one operand. */
static int64_t einsum_flops(struct flops *x, nid n)
{
    const char *s = node_attr_str(x->f.m, n, "equation", "");
    /* [letter, or '.' for the dots] the largest size of an axis with that letter; 0: no axis has it */
    int64_t size[128] = {0}, all = 1;
    struct shape in;
    uint32_t operands = x->f.m->node[n].nformal;
    for (uint32_t i = 0; i < operands; i++, s += *s == ',') {
        shape_in(&x->f, n, i, &in);
        int dots = in.rank; /* number of axes that the dots in this operand's letters stand for */
        for (const char *t = s; *t != 0 && *t != ',' && *t != '-'; t++)
            dots -= *t != ' ' && *t != '.';
        for (int k = 0; *s != 0 && *s != ',' && *s != '-'; s++) {
            int c = *s & 127;
            if (c == ' ')
                continue;
            /* the first of the three dots takes all axes that the dots stand for */
            if (c == '.') {
                int64_t d = 1;
                for (; dots > 0 && k < in.rank; dots--)
                    d = sat_mul(d, known_size(in.d[k++]));
                size[c] = larger(d, size[c]);
                continue;
            }
            int64_t d = k < in.rank ? known_size(in.d[k]) : 1;
            size[c] = larger(d, size[c]);
            k++;
        }
    }
    for (int c = 0; c < 128; c++)
        all = size[c] > 0 ? sat_mul(all, size[c]) : all;
    return operands < 2 ? all : sat_mul(all, 2 * (int64_t)(operands - 1));
}

/* Returns the operations of attention with batch * rows * columns scores for each head, one for each pair of a query
 * (row) and a key (column): products with queries and values of these widths, all heads together, and five operations
 * per score for the softmax. */
static int64_t score_flops(int64_t batch, int64_t rows, int64_t columns, int64_t query_width,
                           int64_t value_width, int64_t heads)
{
    int64_t each = sat_add(sat_mul(2, sat_add(query_width, value_width)), sat_mul(5, heads));
    return sat_mul(sat_mul(batch, rows), sat_mul(columns, each));
}

/* Returns the number of past keys in operand i, a cache of shape [..., number, size]; 0: there is none. */
static int64_t past_length(const struct flops *x, nid n, uint32_t i)
{
    struct shape past;
    shape_in(&x->f, n, i, &past);
    return past.rank >= 4 ? last_dim(&past, 2) : 0;
}

/* Returns the operations of Attention of ai.onnx: operands query, key, value, with three axes or (heads apart) four. */
static int64_t attention_flops(const struct flops *x, nid n)
{
    struct shape q, k, v;
    shape_in(&x->f, n, 0, &q);
    shape_in(&x->f, n, 1, &k);
    shape_in(&x->f, n, 2, &v);
    int64_t heads = q.rank == 4 ? known_size(q.d[1]) : node_attr_int(x->f.m, n, "q_num_heads", 1);
    int64_t kv = k.rank == 4 ? known_size(k.d[1]) : node_attr_int(x->f.m, n, "kv_num_heads", heads);
    int64_t columns = sat_add(last_dim(&k, 2), past_length(x, n, 4));
    int64_t query = q.rank == 4 ? sat_mul(heads, last_dim(&q, 1)) : last_dim(&q, 1);
    int64_t value = v.rank == 4 ? sat_mul(heads, last_dim(&v, 1))
                                : sat_mul(last_dim(&v, 1) / (kv > 0 ? kv : 1), heads);
    return score_flops(q.rank > 0 ? known_size(q.d[0]) : 1, last_dim(&q, 2), columns, query, value,
                       heads);
}

/* Returns the operations of an attention that projects its input (operand 0) by weights (operand 1) to query, key and
 * value.  past: number of the operand with the cache. */
static int64_t ms_attention_flops(struct flops *x, nid n, uint32_t past)
{
    struct shape in, w;
    shape_in(&x->f, n, 0, &in);
    shape_in(&x->f, n, 1, &w);
    int64_t batch = in.rank == 3 ? known_size(in.d[0]) : 1, rows = last_dim(&in, 2);
    int64_t width = last_dim(&w, 1) / 3, heads = node_attr_int(x->f.m, n, "num_heads", 1);
    int64_t columns = sat_add(rows, past_length(x, n, past));
    int64_t projection = sat_mul(sat_mul(2, sat_mul(batch, rows)), elems_in(x, n, 1));
    return sat_add(projection, score_flops(batch, rows, columns, width, width, heads));
}

/* Returns the operations of attention on the tokens of all sequences in one list.  places: number of the operand with
 * the tokens' positions, one row for each sequence: its width is the length that counts for all sequences. */
static int64_t packed_attention_flops(const struct flops *x, nid n, uint32_t places)
{
    struct shape q, w, place;
    shape_in(&x->f, n, 0, &q);
    shape_in(&x->f, n, 1, &w);
    shape_in(&x->f, n, places, &place);
    bool projects = places == 3; /* true: PackedAttention; false: PackedMultiHeadAttention */
    int64_t tokens = q.rank > 0 ? known_size(q.d[0]) : 1, out = elems_out(x, n);
    int64_t width = tokens > 0 ? out / tokens : 0;
    int64_t projection = projects ? sat_mul(2, sat_mul(tokens, elems_in(x, n, 1))) : 0;
    return sat_add(projection, score_flops(1, tokens, last_dim(&place, 1), width, width,
                                           node_attr_int(x->f.m, n, "num_heads", 1)));
}

/* Returns the operations of linear attention: a multiply-add per element of a head's state for each token that is added
 * to the state and for each query that reads it; with an update rule with a delta each token reads the state once
 * more. */
static int64_t linear_attention_flops(const struct flops *x, nid n)
{
    struct shape q, k, v;
    shape_in(&x->f, n, 0, &q);
    shape_in(&x->f, n, 1, &k);
    shape_in(&x->f, n, 2, &v);
    int64_t heads = node_attr_int(x->f.m, n, "q_num_heads", 1),
            kv = node_attr_int(x->f.m, n, "kv_num_heads", 1);
    const char *rule = node_attr_str(x->f.m, n, "update_rule", "gated_delta");
    kv = kv > 0 ? kv : 1;
    int64_t state = sat_mul(last_dim(&k, 1) / kv, last_dim(&v, 1) / kv);
    int64_t uses = sat_add(heads > 0 ? heads : 1, strstr(rule, "delta") != NULL ? 2 * kv : kv);
    int64_t tokens = sat_mul(q.rank > 0 ? known_size(q.d[0]) : 1, last_dim(&q, 2));
    return sat_mul(sat_mul(2, tokens), sat_mul(uses, state));
}

/* Returns the operations of attention whose query, key and value are projected already.  past: number of the operand
 * with the cache of keys; 3 is that of grouped queries (GroupQueryAttention). */
static int64_t multi_head_flops(const struct flops *x, nid n, uint32_t past)
{
    struct shape q, k;
    shape_in(&x->f, n, 0, &q);
    shape_in(&x->f, n, 1, &k);
    bool group = past == 3;
    int64_t heads = node_attr_int(x->f.m, n, "num_heads", 1), width = last_dim(&q, 1);
    if (group && node_in(x->f.m, n, 1) == 0) { /* query, key and value packed in one */
        int64_t kv = node_attr_int(x->f.m, n, "kv_num_heads", heads);
        int64_t all = sat_add(heads, sat_mul(2, kv));
        width = all > 0 && heads > 0 ? sat_mul(width / all, heads) : width;
    }
    int64_t columns = k.rank >= 3 ? last_dim(&k, 2) : last_dim(&q, 2);
    columns = sat_add(columns, past_length(x, n, past));
    return score_flops(q.rank == 3 ? known_size(q.d[0]) : 1, last_dim(&q, 2), columns, width, width,
                       heads);
}

int64_t flops_of(struct flops *x, nid n)
{
    const struct flop_row *r = row_of(x, n);
    if (r == NULL)
        return elems_out(x, n);
    switch ((enum flop_rule)r->rule) {
    case FREE:
        return 0;
    case PER_OUT:
        return sat_mul(r->arg, elems_out(x, n));
    case PER_IN:
        return sat_mul(r->arg, elems_in(x, n, 0));
    case WINDOW:
        return window_flops(x, n);
    case CONV:
        return sat_mul(2, sat_mul(elems_out(x, n), per_channel(x, n, r->arg)));
    case CONV_TRANSPOSE:
        return sat_mul(2, sat_mul(elems_in(x, n, 0), per_channel(x, n, r->arg)));
    case MATMUL:
        return matmul_flops(x, n);
    case RECURRENT:
        return recurrent_flops(x, n);
    case EINSUM:
        return einsum_flops(x, n);
    case ATTENTION:
        return x->f.m->node[n].domain == 0 ? attention_flops(x, n) : ms_attention_flops(x, n, 4);
    case MS_ATTENTION:
        return ms_attention_flops(x, n, r->arg);
    case MULTI_HEAD:
        return multi_head_flops(x, n, r->arg);
    case PACKED_ATTENTION:
        return packed_attention_flops(x, n, r->arg);
    case LINEAR_ATTENTION:
        return linear_attention_flops(x, n);
    case EXPERTS:
        return expert_flops(x, n, r->arg);
    case FOURIER:
        return fourier_flops(x, n);
    case MATMULS:
        return products_flops(x, n, r->arg);
    default: /* GATHER */
        return elems_out(x, n);
    }
}

enum elem compute_type(struct flops *x, nid n)
{
    const struct node *k = &x->f.m->node[n];
    const struct flop_row *r = row_of(x, n);
    struct shape s;
    if (r != NULL && (r->flags & INTEGER_MATH) != 0)
        return elem_in(&x->f, n, 0);
    for (uint32_t i = 0; i < k->nformal; i++) {
        if (shape_in(&x->f, n, i, &s) && elem_is_float((enum elem)s.elem))
            return (enum elem)s.elem;
    }
    for (uint32_t i = 0; i < k->out.n; i++) {
        if (shape_of(&x->f, node_out(x->f.m, n, i), &s) && elem_is_float((enum elem)s.elem))
            return (enum elem)s.elem;
    }
    return elem_in(&x->f, n, 0);
}

int64_t trip_count(struct flops *x, nid n)
{
    struct module *m = x->f.m;
    if (node_is(m, n, "Loop")) {
        int64_t trips;
        bool given = ints_of(&x->f, node_in(m, n, 0), &trips, 1) == 1;
        /* exporters write these trip counts for a loop that only its condition ends */
        if (given && (trips == INT32_MAX || trips == INT64_MAX))
            given = loop_goes_on(&x->f, n);
        return given && trips >= 0 ? trips : -1;
    }
    struct shape s;
    int64_t scans = node_attr_int(m, n, "num_scan_inputs", 0), axis = 0;
    uint32_t formal = m->node[n].nformal;
    if (scans < 1 || scans > formal || !shape_in(&x->f, n, formal - (uint32_t)scans, &s))
        return -1;
    const struct attr *a = node_attr(m, n, "scan_input_axes");
    if (a != NULL && a->kind == ATTR_INTS && a->u.list.n > 0)
        axis = m->ints[a->u.list.at];
    int k = axis_of(axis, s.rank);
    return k >= 0 ? s.d[k].value : -1;
}
