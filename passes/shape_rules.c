/* Shape inference: the table of operators, and the rules of those that work element by element.
 *
 * One row per operator: name, rule, and what tells operators that share a rule apart.  Rows are
 * sorted by name (bytewise) and found by bisection, once per distinct operator of a model. */
#include "passes/shapes.h"

#include <string.h>

/* Flags in the argument of rule_broadcast, above enum num_op. */
enum { NUM_MASK = 31, RULE_BOOL = 32, RULE_QLINEAR = 64 };

/* Where rule_fixed_elem takes the element type of the result from. */
enum {
    FIXED_NONE,
    FIXED_BOOL,
    FIXED_TO,
    FIXED_LIKE_1,
    FIXED_QUANTIZE,
    FIXED_DYNAMIC,
    FIXED_DTYPE,
    FIXED_FLOAT
};

/* Kinds of rule_first_outputs, above the element types. */
enum { FIRST_SKIP = 100, ROWS_CLASSIFIER, ROWS_ONE_HOT, ROWS_TARGETS };

static const struct shape_rule onnx_rule[] = {
    {"Abs", rule_same, NUM_ABS},
    {"Acos", rule_same, 0},
    {"Acosh", rule_same, 0},
    {"Add", rule_broadcast, NUM_ADD},
    {"And", rule_broadcast, NUM_AND | RULE_BOOL},
    {"ArgMax", rule_arg_reduce, 0},
    {"ArgMin", rule_arg_reduce, 0},
    {"Asin", rule_same, 0},
    {"Asinh", rule_same, 0},
    {"Atan", rule_same, 0},
    {"Atanh", rule_same, 0},
    {"Attention", rule_attention, 0},
    {"AveragePool", rule_pool, 0},
    {"BatchNormalization", rule_norm, 2},
    {"Bernoulli", rule_same, 0},
    {"BitShift", rule_broadcast, NUM_NONE},
    {"BitwiseAnd", rule_broadcast, NUM_NONE},
    {"BitwiseNot", rule_same, 0},
    {"BitwiseOr", rule_broadcast, NUM_NONE},
    {"BitwiseXor", rule_broadcast, NUM_NONE},
    {"Cast", rule_fixed_elem, FIXED_TO},
    {"CastLike", rule_fixed_elem, FIXED_LIKE_1},
    {"Ceil", rule_same, 0},
    {"Celu", rule_same, 0},
    {"Clip", rule_same, 0},
    {"Compress", rule_compress, 0},
    {"Concat", rule_concat, 1},
    {"ConcatFromSequence", rule_concat_from_sequence, 0},
    {"Constant", rule_constant, 0},
    {"ConstantOfShape", rule_constant_of_shape, 0},
    {"Conv", rule_conv, 0},
    {"ConvInteger", rule_conv, ELEM_I32},
    {"ConvTranspose", rule_conv_transpose, 0},
    {"Cos", rule_same, 0},
    {"Cosh", rule_same, 0},
    {"CumProd", rule_same, 0},
    {"CumSum", rule_same, 0},
    {"DepthToSpace", rule_depth_space, 1},
    {"DequantizeLinear", rule_fixed_elem, FIXED_LIKE_1},
    {"Div", rule_broadcast, NUM_DIV},
    {"Dropout", rule_first_outputs, ELEM_BOOL},
    {"DynamicQuantizeLinear", rule_fixed_elem, FIXED_DYNAMIC},
    {"Einsum", rule_einsum, 0},
    {"Elu", rule_same, 0},
    {"Equal", rule_broadcast, NUM_EQ | RULE_BOOL},
    {"Erf", rule_same, 0},
    {"Exp", rule_same, 0},
    {"Expand", rule_expand, 0},
    {"EyeLike", rule_fixed_elem, FIXED_DTYPE},
    {"Flatten", rule_flatten, 0},
    {"Floor", rule_same, 0},
    {"GRU", rule_rnn, 2},
    {"Gather", rule_gather, 0},
    {"GatherElements", rule_gather_elements, 0},
    {"GatherND", rule_gather_nd, 0},
    {"Gelu", rule_same, 0},
    {"Gemm", rule_gemm, 1},
    {"GlobalAveragePool", rule_global_pool, 0},
    {"GlobalLpPool", rule_global_pool, 0},
    {"GlobalMaxPool", rule_global_pool, 0},
    {"Greater", rule_broadcast, NUM_GT | RULE_BOOL},
    {"GreaterOrEqual", rule_broadcast, NUM_GE | RULE_BOOL},
    {"GroupNormalization", rule_same, 0},
    {"HardSigmoid", rule_same, 0},
    {"HardSwish", rule_same, 0},
    {"Hardmax", rule_same, 0},
    {"Identity", rule_same, NUM_COPY},
    {"If", rule_if, 0},
    {"InstanceNormalization", rule_same, 0},
    {"IsInf", rule_fixed_elem, FIXED_BOOL},
    {"IsNaN", rule_fixed_elem, FIXED_BOOL},
    {"LRN", rule_same, 0},
    {"LSTM", rule_rnn, 3},
    {"LayerNormalization", rule_norm, 1},
    {"LeakyRelu", rule_same, 0},
    {"Less", rule_broadcast, NUM_LT | RULE_BOOL},
    {"LessOrEqual", rule_broadcast, NUM_LE | RULE_BOOL},
    {"Log", rule_same, 0},
    {"LogSoftmax", rule_same, 0},
    {"Loop", rule_loop, 0},
    {"LpNormalization", rule_same, 0},
    {"LpPool", rule_pool, 0},
    {"MatMul", rule_matmul, 0},
    {"MatMulInteger", rule_matmul, 1},
    {"Max", rule_broadcast, NUM_MAX},
    {"MaxPool", rule_pool, 1},
    {"Mean", rule_broadcast, NUM_NONE},
    {"MeanVarianceNormalization", rule_same, 0},
    {"Min", rule_broadcast, NUM_MIN},
    {"Mish", rule_same, 0},
    {"Mod", rule_broadcast, NUM_MOD},
    {"Mul", rule_broadcast, NUM_MUL},
    {"Neg", rule_same, NUM_NEG},
    {"NegativeLogLikelihoodLoss", rule_loss, 0},
    {"NonZero", rule_nonzero, 0},
    {"Not", rule_same, NUM_NOT},
    {"OneHot", rule_onehot, 0},
    {"Optional", rule_optional, 0},
    {"OptionalGetElement", rule_optional, 1},
    {"OptionalHasElement", rule_optional, 2},
    {"Or", rule_broadcast, NUM_OR | RULE_BOOL},
    {"PRelu", rule_broadcast, NUM_NONE},
    {"Pad", rule_pad, 0},
    {"Pow", rule_broadcast, NUM_NONE},
    {"QLinearConv", rule_qlinear_conv, 0},
    {"QLinearMatMul", rule_matmul, 2},
    {"QuantizeLinear", rule_fixed_elem, FIXED_QUANTIZE},
    {"RMSNormalization", rule_same, 0},
    {"RNN", rule_rnn, 2},
    {"RandomNormal", rule_random, ELEM_F32},
    {"RandomNormalLike", rule_fixed_elem, FIXED_DTYPE},
    {"RandomUniform", rule_random, ELEM_F32},
    {"RandomUniformLike", rule_fixed_elem, FIXED_DTYPE},
    {"Range", rule_range, 0},
    {"Reciprocal", rule_same, 0},
    {"ReduceL1", rule_reduce, NUM_NONE},
    {"ReduceL2", rule_reduce, NUM_NONE},
    {"ReduceLogSum", rule_reduce, NUM_NONE},
    {"ReduceLogSumExp", rule_reduce, NUM_NONE},
    {"ReduceMax", rule_reduce, NUM_MAX},
    {"ReduceMean", rule_reduce, NUM_NONE},
    {"ReduceMin", rule_reduce, NUM_MIN},
    {"ReduceProd", rule_reduce, NUM_MUL},
    {"ReduceSum", rule_reduce, NUM_ADD},
    {"ReduceSumSquare", rule_reduce, NUM_NONE},
    {"Relu", rule_same, 0},
    {"Reshape", rule_reshape, 0},
    {"Resize", rule_resize, 0},
    {"ReverseSequence", rule_same, 0},
    {"RotaryEmbedding", rule_same, 0},
    {"Round", rule_same, 0},
    {"Scan", rule_scan, 0},
    {"Scatter", rule_same, 0},
    {"ScatterElements", rule_same, 0},
    {"ScatterND", rule_same, 0},
    {"Selu", rule_same, 0},
    {"SequenceAt", rule_sequence, SEQ_AT},
    {"SequenceConstruct", rule_sequence, SEQ_CONSTRUCT},
    {"SequenceEmpty", rule_sequence, SEQ_EMPTY},
    {"SequenceErase", rule_sequence, SEQ_ERASE},
    {"SequenceInsert", rule_sequence, SEQ_INSERT},
    {"SequenceLength", rule_sequence, SEQ_LENGTH},
    {"SequenceMap", rule_sequence_map, 0},
    {"Shape", rule_shape, 0},
    {"Shrink", rule_same, 0},
    {"Sigmoid", rule_same, 0},
    {"Sign", rule_same, 0},
    {"SimplifiedLayerNormalization", rule_same, 0},
    {"Sin", rule_same, 0},
    {"Sinh", rule_same, 0},
    {"Size", rule_size, 0},
    {"Slice", rule_slice, 0},
    {"Softmax", rule_same, 0},
    {"SoftmaxCrossEntropyLoss", rule_loss, 0},
    {"Softplus", rule_same, 0},
    {"Softsign", rule_same, 0},
    {"SpaceToDepth", rule_depth_space, 0},
    {"Split", rule_split, 0},
    {"SplitToSequence", rule_sequence, SEQ_SPLIT},
    {"Sqrt", rule_same, 0},
    {"Squeeze", rule_squeeze, 0},
    {"Sub", rule_broadcast, NUM_SUB},
    {"Sum", rule_broadcast, NUM_NONE},
    {"Swish", rule_same, 0},
    {"Tan", rule_same, 0},
    {"Tanh", rule_same, 0},
    {"TensorScatter", rule_same, 0},
    {"ThresholdedRelu", rule_same, 0},
    {"Tile", rule_tile, 0},
    {"TopK", rule_topk, 0},
    {"Transpose", rule_transpose, 0},
    {"Trilu", rule_same, 0},
    {"Unsqueeze", rule_unsqueeze, 0},
    {"Upsample", rule_resize, 1},
    {"Where", rule_where, 0},
    {"Xor", rule_broadcast, NUM_NONE | RULE_BOOL},
};

static const struct shape_rule ml_rule[] = {
    {"Binarizer", rule_same, 0},
    {"Imputer", rule_same, 0},
    {"LinearClassifier", rule_first_outputs, ROWS_CLASSIFIER},
    {"LinearRegressor", rule_first_outputs, ROWS_TARGETS},
    {"Normalizer", rule_fixed_elem, FIXED_FLOAT},
    {"OneHotEncoder", rule_first_outputs, ROWS_ONE_HOT},
    {"SVMClassifier", rule_first_outputs, ROWS_CLASSIFIER},
    {"Scaler", rule_fixed_elem, FIXED_FLOAT},
    {"TreeEnsembleClassifier", rule_first_outputs, ROWS_CLASSIFIER},
    {"TreeEnsembleRegressor", rule_first_outputs, ROWS_TARGETS},
    {"ZipMap", rule_zip_map, 0},
};

static const struct shape_rule ms_rule[] = {
    {"Attention", rule_ms_attention, 0},
    {"BiasAdd", rule_same, 0},
    {"BiasDropout", rule_first_outputs, ELEM_BOOL},
    {"BiasGelu", rule_same, 0},
    {"BiasSoftmax", rule_same, 0},
    {"BitmaskDropout", rule_first_outputs, ELEM_BOOL},
    {"ConcatTraining", rule_concat, 1},
    {"DequantizeLinear", rule_fixed_elem, FIXED_LIKE_1},
    {"DynamicQuantizeMatMul", rule_matmul, 4},
    {"EmbedLayerNormalization", rule_embed_layer_norm, 0},
    {"FastGelu", rule_same, 0},
    {"FastGeluGrad", rule_same, 0},
    {"FusedConv", rule_conv, 0},
    {"FusedGemm", rule_gemm, 1},
    {"FusedMatMul", rule_matmul, 0},
    {"Gelu", rule_same, 0},
    {"GeluGrad", rule_same, 0},
    {"GroupNorm", rule_same, 0},
    {"GroupQueryAttention", rule_multi_head, 1},
    {"LogSoftmaxGrad", rule_same, 0},
    {"MatMulIntegerToFloat", rule_matmul, 3},
    {"MatMulNBits", rule_matmul_nbits, 0},
    {"MultiHeadAttention", rule_multi_head, 0},
    {"QAttention", rule_ms_attention, 0},
    {"QGemm", rule_gemm, 3},
    {"QLinearAdd", rule_broadcast, RULE_QLINEAR},
    {"QLinearAveragePool", rule_pool, 0},
    {"QLinearConcat", rule_concat, 3},
    {"QLinearGlobalAveragePool", rule_global_pool, 0},
    {"QLinearLeakyRelu", rule_fixed_elem, FIXED_NONE},
    {"QLinearMul", rule_broadcast, RULE_QLINEAR},
    {"QLinearSigmoid", rule_fixed_elem, FIXED_NONE},
    {"QLinearSoftmax", rule_fixed_elem, FIXED_NONE},
    {"QuantizeLinear", rule_fixed_elem, FIXED_QUANTIZE},
    {"QuickGelu", rule_same, 0},
    {"ReluGrad", rule_same, 0},
    {"RotaryEmbedding", rule_same, 0},
    {"SigmoidGrad", rule_same, 0},
    {"SkipLayerNormalization", rule_first_outputs, FIRST_SKIP},
    {"SkipSimplifiedLayerNormalization", rule_first_outputs, FIRST_SKIP},
    {"SoftmaxGrad", rule_same, 0},
    {"SoftmaxGrad_13", rule_same, 0},
    {"TanhGrad", rule_same, 0},
    {"TransposeMatMul", rule_matmul, 0},
};

const struct shape_rule *shape_rules(enum rule_domain domain, uint32_t *n)
{
    switch (domain) {
    case RULE_ML:
        *n = sizeof ml_rule / sizeof ml_rule[0];
        return ml_rule;
    case RULE_MS:
        *n = sizeof ms_rule / sizeof ms_rule[0];
        return ms_rule;
    default:
        *n = sizeof onnx_rule / sizeof onnx_rule[0];
        return onnx_rule;
    }
}

/* Result 0 is like operand 0.  arg: enum num_op for the elements of a followed operand. */
void rule_same(struct infer *f, nid n, int arg)
{
    vid in = node_in(f->m, n, 0);
    uint8_t kind = f->m->type[in != 0 ? f->type[in] : 0].kind;
    if (kind == TYPE_SEQ || kind == TYPE_OPT) { /* Identity */
        container_set(f, n, 0, f->type[in]);
        return;
    }
    shape_set_like(f, n, 0, node_in(f->m, n, 0), ELEM_NONE);
    if (arg != NUM_NONE)
        values_elementwise(f, n, (enum num_op)arg);
}

void rule_broadcast(struct infer *f, nid n, int arg)
{
    struct shape acc, s;
    uint32_t step = (arg & RULE_QLINEAR) != 0 ? 3 : 1, k = f->m->node[n].nformal;
    vid a = node_in(f->m, n, 0), b = node_in(f->m, n, 1), out = node_out(f->m, n, 0);
    enum elem e = (arg & RULE_BOOL) != 0 ? ELEM_BOOL : ELEM_NONE;
    k = step == 3 && k > 6 ? 6 : k;
    if (f->opset < 7 || (k == 2 && a != 0 && b != 0 && f->type[a] == f->type[b])) {
        /* Before opset 7 the second operand was made to fit the first. */
        shape_set_like(f, n, 0, a, e);
    } else if (out != 0 && shape_of(f, a, &acc)) {
        for (uint32_t i = step; i < k; i += step) {
            shape_in(f, n, i, &s);
            shape_broadcast(f, &acc, &s);
            acc.elem = acc.elem != 0 ? acc.elem : s.elem;
        }
        acc.elem = e != ELEM_NONE ? (uint8_t)e : acc.elem;
        shape_set(f, n, 0, &acc);
    }
    if (step == 1)
        values_elementwise(f, n, (enum num_op)(arg & NUM_MASK));
}

static bool fits(int64_t v, enum elem e)
{
    bool is_signed = e == ELEM_I64 || e == ELEM_I32 || e == ELEM_I16 || e == ELEM_I8 ||
                     e == ELEM_I4 || e == ELEM_I2;
    uint32_t bits = elem_bits(e);
    if (bits >= 64)
        return is_signed || v >= 0;
    int64_t above = INT64_C(1) << (is_signed ? bits - 1 : bits);
    return v < above && v >= (is_signed ? -above : 0);
}

/* Numbers that the type cannot hold would wrap around: they count as unknown. */
static void cast_values(struct infer *f, nid n, enum elem to)
{
    const struct nums *x = nums_of(f, node_in(f->m, n, 0));
    if (x == NULL || !elem_is_integer(to))
        return;
    struct nums *r = nums_new(f, x->n);
    for (uint32_t i = 0; i < x->n; i++) {
        struct num k = x->at[i];
        if (to == ELEM_BOOL)
            r->at[i] = k.kind == NUM_INT ? num_int(k.v != 0) : (struct num){0};
        else
            r->at[i] = k.kind != NUM_INT || fits(k.v, to) ? k : (struct num){0};
    }
    nums_set(f, n, 0, r);
}

void rule_fixed_elem(struct infer *f, nid n, int arg)
{
    enum elem e = ELEM_NONE;
    int64_t to;
    switch (arg) {
    case FIXED_BOOL:
        e = ELEM_BOOL;
        break;
    case FIXED_FLOAT:
        e = ELEM_F32;
        break;
    case FIXED_LIKE_1:
        e = elem_in(f, n, 1);
        break;
    case FIXED_QUANTIZE:
        to = node_attr_int(f->m, n, "output_dtype", 0);
        e = elem_in(f, n, 2) != 0 ? elem_in(f, n, 2) : ELEM_U8;
        e = to > 0 && to < ELEM_COUNT && node_in(f->m, n, 2) == 0 ? (enum elem)to : e;
        break;
    case FIXED_DYNAMIC:
        e = ELEM_U8;
        break;
    case FIXED_TO:
    case FIXED_DTYPE:
        to = node_attr_int(f->m, n, arg == FIXED_TO ? "to" : "dtype", 0);
        e = to > 0 && to < ELEM_COUNT ? (enum elem)to : ELEM_NONE;
        break;
    default:
        break;
    }
    shape_set_like(f, n, 0, node_in(f->m, n, 0), e);
    if (arg == FIXED_TO || (arg == FIXED_LIKE_1 && node_is(f->m, n, "CastLike")))
        cast_values(f, n, e);
    if (arg == FIXED_DYNAMIC) {
        struct shape scale = shape_scalar(ELEM_F32), zero = shape_scalar(ELEM_U8);
        shape_set(f, n, 1, &scale);
        shape_set(f, n, 2, &zero);
    }
}

/* [rows, labels] of a classifier and the like: operand 0 is [rows, features]. */
static void rows(struct infer *f, nid n, int arg)
{
    struct shape in, out = {.elem = ELEM_F32, .rank = 2};
    shape_in(f, n, 0, &in);
    struct dim count = in.rank == 2 ? in.d[0] : in.rank == 1 ? dim_num(1) : dim_unknown();
    static const char *const list[] = {"classlabels_int64s", "classlabels_strings",
                                       "classlabels_ints"};
    out.d[0] = count;
    out.d[1] = dim_unknown();
    if (arg == ROWS_TARGETS) {
        const char *name = node_is(f->m, n, "LinearRegressor") ? "targets" : "n_targets";
        out.d[1] = dim_num(node_attr_int(f->m, n, name, arg == ROWS_TARGETS ? 1 : -1));
        shape_set(f, n, 0, &out);
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        const struct attr *a = node_attr(f->m, n, list[i]);
        if (a == NULL || (a->kind != ATTR_INTS && a->kind != ATTR_STRINGS) || a->u.list.n == 0)
            continue;
        struct shape label = shape_vector(a->kind == ATTR_INTS ? ELEM_I64 : ELEM_STR, count);
        shape_set(f, n, 0, &label);
        out.d[1] = dim_num(a->u.list.n);
    }
    shape_set(f, n, 1, &out);
}

static void one_hot(struct infer *f, nid n)
{
    struct shape s;
    const struct attr *a = node_attr(f->m, n, "cats_int64s");
    shape_in(f, n, 0, &s);
    if (a == NULL || a->u.list.n == 0)
        a = node_attr(f->m, n, "cats_strings");
    s.elem = ELEM_F32;
    if (s.rank >= 0 && s.rank < SHAPE_RANK)
        s.d[s.rank++] = a != NULL ? dim_num(a->u.list.n) : dim_unknown();
    else
        s.rank = -1;
    shape_set(f, n, 0, &s);
}

/* Result 0 is like operand 0, others follow from it; arg: the element type of a second one like it. */
void rule_first_outputs(struct infer *f, nid n, int arg)
{
    if (arg == ROWS_ONE_HOT) {
        one_hot(f, n);
    } else if (arg > FIRST_SKIP) {
        rows(f, n, arg);
    } else {
        shape_set_like(f, n, 0, node_in(f->m, n, 0), ELEM_NONE);
        if (arg == FIRST_SKIP) /* the sum that was normalised */
            shape_set_like(f, n, 3, node_in(f->m, n, 0), ELEM_NONE);
        else /* before opset 10 the mask of a Dropout had the type of its data */
            shape_set_like(f, n, 1, node_in(f->m, n, 0),
                           node_is(f->m, n, "Dropout") && f->opset < 10 ? ELEM_NONE
                                                                        : (enum elem)arg);
    }
}
