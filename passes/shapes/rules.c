/* Shape inference: the table of all operators, and the rules of operators that work element by element.
 *
 * A row has the operator, its rule, and the rule's parameter `arg`, which tells operators that share a rule apart
 * (infer.h).  Rows are sorted by operator (bytewise) and found by bisection, once for each distinct operator of a
 * model.  A call of a rule is O(operands * rank). */
#include "passes/shapes/infer_shapes.h"
#include "passes/shapes/infer.h"

#include <assert.h>
#include <string.h>

static const struct shape_rule onnx_rule[] = {
    {"Abs", rule_same, NUM_ABS},
    {"Acos", rule_same, 0},
    {"Acosh", rule_same, 0},
    {"Add", rule_broadcast, NUM_ADD},
    {"Affine", rule_same, 0},
    {"AffineGrid", rule_affine_grid, 0},
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
    {"Bernoulli", rule_fixed_elem, FIXED_DTYPE},
    {"BitCast", rule_fixed_elem, FIXED_BITS},
    {"BitShift", rule_broadcast, NUM_NONE},
    {"BitwiseAnd", rule_broadcast, NUM_NONE},
    {"BitwiseNot", rule_same, 0},
    {"BitwiseOr", rule_broadcast, NUM_NONE},
    {"BitwiseXor", rule_broadcast, NUM_NONE},
    {"BlackmanWindow", rule_window, 0},
    {"Cast", rule_fixed_elem, FIXED_TO},
    {"CastLike", rule_fixed_elem, FIXED_LIKE_1},
    {"CausalConvWithState", rule_causal_conv, 0},
    {"Ceil", rule_same, NUM_COPY},
    {"Celu", rule_same, 0},
    {"CenterCropPad", rule_center_crop_pad, 0},
    {"Clip", rule_same, 0},
    {"Col2Im", rule_col2im, 0},
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
    {"Crop", rule_crop, 0},
    {"CumProd", rule_same, 0},
    {"CumSum", rule_same, 0},
    {"DFT", rule_dft, 0},
    {"DeformConv", rule_conv, 0},
    {"DepthToSpace", rule_depth_space, 1},
    {"DequantizeLinear", rule_fixed_elem, FIXED_DEQUANTIZE},
    {"Det", rule_det, 0},
    {"DisentangledAttention_TRT", rule_same, 0},
    {"Div", rule_broadcast, NUM_DIV},
    {"Dropout", rule_dropout, MASK_BOOL},
    {"DynamicQuantizeLinear", rule_fixed_elem, FIXED_DYNAMIC},
    {"DynamicSlice", rule_slice, 0},
    {"EfficientNMS_TRT", rule_nms, NMS_TENSORRT},
    {"Einsum", rule_einsum, 0},
    {"Elu", rule_same, 0},
    {"Equal", rule_broadcast, NUM_EQ | RULE_BOOL},
    {"Erf", rule_same, 0},
    {"Exp", rule_same, 0},
    {"Expand", rule_expand, 0},
    {"EyeLike", rule_fixed_elem, FIXED_DTYPE},
    {"Flatten", rule_flatten, 0},
    {"Floor", rule_same, NUM_COPY},
    {"GRU", rule_rnn, 2},
    {"GRUUnit", rule_same, 0},
    {"Gather", rule_gather, 0},
    {"GatherElements", rule_gather_elements, 0},
    {"GatherND", rule_gather_nd, 0},
    {"Gelu", rule_same, 0},
    {"Gemm", rule_gemm, 1},
    {"GivenTensorFill", rule_tensor_fill, 0},
    {"GlobalAveragePool", rule_global_pool, 0},
    {"GlobalLpPool", rule_global_pool, 0},
    {"GlobalMaxPool", rule_global_pool, 0},
    {"Greater", rule_broadcast, NUM_GT | RULE_BOOL},
    {"GreaterOrEqual", rule_broadcast, NUM_GE | RULE_BOOL},
    {"GridSample", rule_grid_sample, 0},
    {"GroupNormalization", rule_same, 0},
    {"HammingWindow", rule_window, 0},
    {"HannWindow", rule_window, 0},
    {"HardSigmoid", rule_same, 0},
    {"HardSwish", rule_same, 0},
    {"Hardmax", rule_same, 0},
    {"Identity", rule_same, NUM_COPY},
    {"If", rule_if, 0},
    {"ImageDecoder", rule_image_decoder, 0},
    {"ImageScaler", rule_same, 0},
    {"InstanceNormalization", rule_same, 0},
    {"IsInf", rule_fixed_elem, FIXED_BOOL},
    {"IsNaN", rule_fixed_elem, FIXED_BOOL},
    {"LRN", rule_same, 0},
    {"LSTM", rule_rnn, 3},
    {"LayerNormalization", rule_norm, 1},
    {"LeakyRelu", rule_same, 0},
    {"Less", rule_broadcast, NUM_LT | RULE_BOOL},
    {"LessOrEqual", rule_broadcast, NUM_LE | RULE_BOOL},
    {"LinearAttention", rule_linear_attention, 0},
    {"Log", rule_same, 0},
    {"LogSoftmax", rule_same, 0},
    {"Loop", rule_loop, 0},
    {"LpNormalization", rule_same, 0},
    {"LpPool", rule_pool, 0},
    {"MatMul", rule_matmul, MATMUL_PLAIN},
    {"MatMulInteger", rule_matmul, MATMUL_INTEGER},
    {"Max", rule_broadcast, NUM_MAX},
    {"MaxPool", rule_pool, WINDOW_INDICES},
    {"MaxRoiPool", rule_regions, REGION_POOL},
    {"MaxUnpool", rule_max_unpool, 0},
    {"Mean", rule_broadcast, NUM_NONE},
    {"MeanVarianceNormalization", rule_same, 0},
    {"MelWeightMatrix", rule_mel, 0},
    {"MemcpyFromHost", rule_same, 0},
    {"MemcpyToHost", rule_same, 0},
    {"Min", rule_broadcast, NUM_MIN},
    {"Mish", rule_same, 0},
    {"Mod", rule_broadcast, NUM_MOD},
    {"Mul", rule_broadcast, NUM_MUL},
    {"MultilevelCropAndResize_TRT", rule_pyramid, 0},
    {"Multinomial", rule_multinomial, 0},
    {"Neg", rule_same, NUM_NEG},
    {"NegativeLogLikelihoodLoss", rule_loss, 0},
    {"NonMaxSuppression", rule_nms, 0},
    {"NonZero", rule_nonzero, 0},
    {"Not", rule_same, NUM_NOT},
    {"OneHot", rule_onehot, 0},
    {"Optional", rule_optional, 0},
    {"OptionalGetElement", rule_optional, 1},
    {"OptionalHasElement", rule_optional, 2},
    {"Or", rule_broadcast, NUM_OR | RULE_BOOL},
    {"PRelu", rule_same, 0},
    {"Pad", rule_pad, 0},
    {"ParametricSoftplus", rule_same, 0},
    {"Pow", rule_broadcast, NUM_NONE},
    {"PyramidROIAlign_TRT", rule_pyramid, 0},
    {"QLinearConv", rule_qlinear_conv, 0},
    {"QLinearMatMul", rule_matmul, MATMUL_QLINEAR},
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
    {"RegexFullMatch", rule_fixed_elem, FIXED_BOOL},
    {"Relu", rule_same, 0},
    {"Reshape", rule_reshape, 0},
    {"Resize", rule_resize, 0},
    {"ReverseSequence", rule_same, 0},
    {"RoiAlign", rule_regions, REGION_ALIGN},
    {"RotaryEmbedding", rule_same, 0},
    {"Round", rule_same, NUM_COPY},
    {"STFT", rule_stft, 0},
    {"Scale", rule_same, 0},
    {"ScaledTanh", rule_same, 0},
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
    {"StringConcat", rule_broadcast, NUM_NONE},
    {"StringNormalizer", rule_string_normalizer, 0},
    {"StringSplit", rule_string_split, 1},
    {"Sub", rule_broadcast, NUM_SUB},
    {"Sum", rule_broadcast, NUM_NONE},
    {"SwiGLU", rule_same, 0},
    {"Swish", rule_same, 0},
    {"Tan", rule_same, 0},
    {"Tanh", rule_same, 0},
    {"TensorScatter", rule_same, 0},
    {"TfIdfVectorizer", rule_tfidf, 0},
    {"ThresholdedRelu", rule_same, 0},
    {"Tile", rule_tile, 0},
    {"TopK", rule_topk, 0},
    {"Transpose", rule_transpose, 0},
    {"Trilu", rule_same, 0},
    {"Unique", rule_unique, 0},
    {"Unsqueeze", rule_unsqueeze, 0},
    {"Upsample", rule_resize, 1},
    {"Where", rule_where, 0},
    {"Xor", rule_broadcast, NUM_NONE | RULE_BOOL},
};

static const struct shape_rule ml_rule[] = {
    {"ArrayFeatureExtractor", rule_array_features, 0},
    {"Binarizer", rule_same, 0},
    {"CastMap", rule_cast_map, 0},
    {"CategoryMapper", rule_label_encoder, 0},
    {"DictVectorizer", rule_dict_vectorizer, 0},
    {"FeatureVectorizer", rule_feature_vectorizer, 0},
    {"Imputer", rule_same, 0},
    {"LabelEncoder", rule_label_encoder, 0},
    {"LinearClassifier", rule_classifier, CLASSIFY_LINEAR},
    {"LinearRegressor", rule_regressor, TARGETS_LINEAR},
    {"Normalizer", rule_fixed_elem, FIXED_FLOAT},
    {"OneHotEncoder", rule_one_hot_encoder, 0},
    {"SVMClassifier", rule_classifier, CLASSIFY_SVM},
    {"SVMRegressor", rule_regressor, TARGETS_ONE},
    {"Scaler", rule_fixed_elem, FIXED_FLOAT},
    {"TreeEnsemble", rule_regressor, TARGETS_ENSEMBLE},
    {"TreeEnsembleClassifier", rule_classifier, CLASSIFY_TREE},
    {"TreeEnsembleRegressor", rule_regressor, TARGETS_TREE},
    {"ZipMap", rule_zip_map, 0},
};

static const struct shape_rule ms_rule[] = {
    {"Attention", rule_ms_attention, 0},
    {"AttnLSTM", rule_rnn, 3},
    {"BeamSearch", rule_search, 0},
    {"BiasAdd", rule_same, 0},
    {"BiasDropout", rule_dropout, MASK_BOOL},
    {"BiasFastGeluGrad_dX", rule_same, 0},
    {"BiasGelu", rule_same, 0},
    {"BiasGeluGrad_dX", rule_same, 0},
    {"BiasSoftmax", rule_same, 0},
    {"BiasSplitGelu", rule_split_half, 0},
    {"BifurcationDetector", rule_bifurcation, 0},
    {"BitmaskBiasDropout", rule_dropout, MASK_BITS},
    {"BitmaskDropout", rule_dropout, MASK_BITS},
    {"BranchwiseRMSNorm", rule_same, 0},
    {"BroadcastGradientArgs", rule_unknown_vectors, 0},
    {"CDist", rule_cdist, 0},
    {"CausalConvWithState", rule_causal_conv, 0},
    {"ComplexMul", rule_broadcast, NUM_NONE},
    {"ComplexMulConj", rule_broadcast, NUM_NONE},
    {"ConcatTraining", rule_concat, 1},
    {"ConvTransposeWithDynamicPads", rule_conv_transpose, 1},
    {"CropAndResize", rule_regions, REGION_CROP},
    {"DecoderAttention", rule_decoder_attention, 0},
    {"DecoderMaskedMultiHeadAttention", rule_multi_head, 1},
    {"DecoderMaskedSelfAttention", rule_ms_attention, 0},
    {"DequantizeBFP", rule_listed, 1 | LISTED_DTYPE},
    {"DequantizeLinear", rule_fixed_elem, FIXED_DEQUANTIZE},
    {"DequantizeWithOrder", rule_fixed_elem, FIXED_TO},
    {"DropoutGrad", rule_same, 0},
    {"DynamicQuantizeLSTM", rule_rnn, 3},
    {"DynamicQuantizeMatMul", rule_matmul, MATMUL_PLAIN},
    {"DynamicSparseAttention", rule_group_query, 1},
    {"DynamicTimeWarping", rule_time_warping, 0},
    {"EmbedLayerNormalization", rule_embed_layer_norm, 0},
    {"EngramGate", rule_skip, 1},
    {"ExpandDims", rule_unsqueeze, 0},
    {"FastGelu", rule_same, 0},
    {"FastGeluGrad", rule_same, 0},
    {"FusedConv", rule_conv, 0},
    {"FusedGemm", rule_gemm, 1},
    {"FusedMatMul", rule_matmul, MATMUL_PLAIN},
    {"FusedMatMulActivation", rule_matmul, MATMUL_PLAIN},
    {"GatedAdd", rule_same, 0},
    {"GatedDeltaNet", rule_gated_delta, 0},
    {"GatedRMSNorm", rule_same, 0},
    {"GatedRelativePositionBias", rule_position_bias, 1},
    {"GatherBlockQuantized", rule_gather_blocks, 0},
    {"GatherND", rule_gather_nd, 0},
    {"Gelu", rule_same, 0},
    {"GeluGrad", rule_same, 0},
    {"GemmFastGelu", rule_matmul, MATMUL_PLAIN},
    {"GemmFloat8", rule_gemm, 1},
    {"GemmaRotaryEmbedding", rule_each, 1},
    {"GreedySearch", rule_search, 1},
    {"GridSample", rule_grid_sample, 0},
    {"GroupNorm", rule_same, 0},
    {"GroupQueryAttention", rule_group_query, 0},
    {"HyperConnectionPostMix", rule_same, 0},
    {"HyperConnectionPreMix", rule_pre_mix, 0},
    {"Inverse", rule_same, 0},
    {"Irfft", rule_rfft, 1},
    {"IsAllFinite", rule_scalar, ELEM_BOOL},
    {"LayerNormalizationGrad", rule_norm_grad, 0},
    {"LeakyReluGrad", rule_same, 0},
    {"LinearAttention", rule_linear_attention, 0},
    {"LinearAttentionGate", rule_skip, 1},
    {"LogSoftmaxGrad", rule_same, 0},
    {"LongformerAttention", rule_same, 0},
    {"MRotaryEmbedding", rule_same, 0},
    {"MatMulBlockQuantizedFp4Weight", rule_rows, 0},
    {"MatMulBlockQuantizedFp8Weight", rule_rows, 0},
    {"MatMulBnb4", rule_matmul_nbits, 1},
    {"MatMulFpQ4", rule_matmul_fpq4, 0},
    {"MatMulInteger16", rule_matmul, MATMUL_INTEGER},
    {"MatMulIntegerToFloat", rule_matmul, MATMUL_TO_FLOAT},
    {"MatMulNBits", rule_matmul_nbits, 1},
    {"MatMulNBitsMlp", rule_matmul_nbits, 1},
    {"MatMulNBitsQkv", rule_matmul_nbits, 3},
    {"MaxpoolWithMask", rule_pool, 0},
    {"MoE", rule_same, 0},
    {"MulInteger", rule_mul_integer, 0},
    {"MultiHeadAttention", rule_multi_head, 0},
    {"MurmurHash3", rule_fixed_elem, FIXED_HASH},
    {"NGramHashMapping", rule_ngram_hash, 0},
    {"NGramRepeatBlock", rule_like, 1},
    {"NhwcConv", rule_conv, WINDOW_LAST},
    {"NhwcFusedConv", rule_conv, WINDOW_LAST},
    {"NhwcMaxPool", rule_pool, WINDOW_LAST},
    {"PackedAttention", rule_packed_attention, 1},
    {"PackedMultiHeadAttention", rule_packed_attention, 2},
    {"PackedSparseAttentionIndexer", rule_packed_indexer, 0},
    {"Pad", rule_pad, 0},
    {"PagedAttention", rule_group_query, 1},
    {"QAttention", rule_ms_attention, 1},
    {"QEmbedLayerNormalization", rule_embed_layer_norm, 1},
    {"QGemm", rule_gemm, 3},
    {"QLinearAdd", rule_broadcast, RULE_QLINEAR},
    {"QLinearAveragePool", rule_pool, WINDOW_MAYBE_LAST},
    {"QLinearConcat", rule_concat, 3},
    {"QLinearConv", rule_qlinear_conv, WINDOW_MAYBE_LAST},
    {"QLinearGlobalAveragePool", rule_global_pool, WINDOW_MAYBE_LAST},
    {"QLinearLeakyRelu", rule_fixed_elem, FIXED_NONE},
    {"QLinearMul", rule_broadcast, RULE_QLINEAR},
    {"QLinearReduceMean", rule_reduce, NUM_NONE | REDUCE_ATTR},
    {"QLinearSigmoid", rule_fixed_elem, FIXED_NONE},
    {"QLinearSoftmax", rule_fixed_elem, FIXED_NONE},
    {"QLinearWhere", rule_where, 1},
    {"QMoE", rule_same, 0},
    {"QOrderedAttention", rule_packed_attention, 7},
    {"QOrderedGelu", rule_same, 0},
    {"QOrderedLayerNormalization", rule_same, 0},
    {"QOrderedLongformerAttention", rule_same, 0},
    {"QOrderedMatMul", rule_matmul, MATMUL_ORDERED},
    {"QuantizeBFP", rule_bfp, 0},
    {"QuantizeLinear", rule_fixed_elem, FIXED_QUANTIZE},
    {"QuantizeWithOrder", rule_like, ELEM_I8 << LIKE_ELEM},
    {"QuickGelu", rule_same, 0},
    {"QuickGeluGrad", rule_same, 0},
    {"Range", rule_range, 0},
    {"ReduceSumInteger", rule_reduce, NUM_NONE | REDUCE_ATTR | REDUCE_WIDE},
    {"RelativePositionBias", rule_position_bias, 0},
    {"ReluGrad", rule_same, 0},
    {"RemovePadding", rule_padding, 0},
    {"RestorePadding", rule_padding, 1},
    {"Rfft", rule_rfft, 0},
    {"RotaryEmbedding", rule_same, 0},
    {"SampleOp", rule_same, 0},
    {"Sampling", rule_search, 1},
    {"ScaledSiLU", rule_same, 0},
    {"SigmoidGrad", rule_same, 0},
    {"SimplifiedLayerNormalizationGrad", rule_norm_grad, 0},
    {"SkipGroupNorm", rule_skip, 1},
    {"SkipLayerNormalization", rule_skip, 3},
    {"SkipSimplifiedLayerNormalization", rule_skip, 3},
    {"SliceGrad", rule_listed, 1},
    {"SoftmaxCrossEntropyLossInternal", rule_loss, 0},
    {"SoftmaxCrossEntropyLossInternalGrad", rule_loss, 1},
    {"SoftmaxGrad", rule_same, 0},
    {"SoftmaxGrad_13", rule_same, 0},
    {"SparseAttention", rule_group_query, 1},
    {"SparseAttentionIndexer", rule_indexer, 0},
    {"SparsePagedAttention", rule_group_query, 1},
    {"SparseToDenseMatMul", rule_matmul, MATMUL_SPARSE},
    {"SplitTraining", rule_split, 0},
    {"TanhGrad", rule_same, 0},
    {"Tokenizer", rule_string_split, 0},
    {"TorchEmbedding", rule_embedding, 0},
    {"TransposeMatMul", rule_matmul, MATMUL_PLAIN},
    {"Trilu", rule_same, 0},
    {"UnfoldTensor", rule_unfold, 0},
    {"Unique", rule_unique, 1},
    {"VarlenCausalConvWithState", rule_varlen_conv, 0},
    {"VarlenNGramHashMapping", rule_ngram_hash, 1},
    {"WhisperBeamSearch", rule_search, 2},
    {"WordConvEmbedding", rule_rows, ELEM_F32},
    {"YieldOp", rule_each, 0},
};

static const struct shape_rule training_rule[] = {
    {"Adagrad", rule_optimizer, 3},
    {"Adam", rule_optimizer, 4},
    {"Gradient", rule_each, 0},
    {"Momentum", rule_optimizer, 3},
};

static const struct shape_rule preview_rule[] = {
    {"FlexAttention", rule_flex_attention, 0},
};

static const struct shape_rule aten_rule[] = {
    {"ATen", rule_aten, 0},
};

static const struct shape_rule nchwc_rule[] = {
    {"AveragePool", rule_pool, 0},
    {"Conv", rule_conv, 0},
    {"GlobalAveragePool", rule_global_pool, 0},
    {"GlobalMaxPool", rule_global_pool, 0},
    {"MaxPool", rule_pool, 0},
    {"ReorderInput", rule_reorder, 0},
    {"ReorderOutput", rule_reorder, 1},
    {"Upsample", rule_reorder, 2},
};

const struct rule_domain rule_domain[RULE_DOMAINS] = {
    {"ai.onnx", onnx_rule, sizeof onnx_rule / sizeof onnx_rule[0]},
    {"ai.onnx.ml", ml_rule, sizeof ml_rule / sizeof ml_rule[0]},
    {"com.microsoft", ms_rule, sizeof ms_rule / sizeof ms_rule[0]},
    {"ai.onnx.preview.training", training_rule, sizeof training_rule / sizeof training_rule[0]},
    {"ai.onnx.preview", preview_rule, sizeof preview_rule / sizeof preview_rule[0]},
    {"org.pytorch.aten", aten_rule, sizeof aten_rule / sizeof aten_rule[0]},
    {"com.microsoft.nchwc", nchwc_rule, sizeof nchwc_rule / sizeof nchwc_rule[0]},
};

void list_shape_rules(FILE *out)
{
    for (int k = 0; k < RULE_DOMAINS; k++) {
        for (uint32_t i = 0; i < rule_domain[k].n; i++)
            fprintf(out, "%s %s\n", rule_domain[k].name, rule_domain[k].rule[i].op);
    }
}

/* Rule: result 0 has the shape and element type of operand 0.  arg: enum num_op, which gives the elements of the
 * result. */
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

/* Rule for operators whose result 0 has the shape of an operand.  arg: the number of the operand, in the bits below
 * LIKE_ELEM, and in the bits from there on the element type of the result (0: that of the operand). */
void rule_like(struct infer *f, nid n, int arg)
{
    uint32_t from = (uint32_t)arg & ((1U << LIKE_ELEM) - 1);
    shape_set_like(f, n, 0, node_in(f->m, n, from), (enum elem)(arg >> LIKE_ELEM));
}

/* Rule: result i has the shape and element type of operand arg + i. */
void rule_each(struct infer *f, nid n, int arg)
{
    for (uint32_t i = 0; i < f->m->node[n].out.n; i++)
        shape_set_like(f, n, i, node_in(f->m, n, (uint32_t)arg + i), ELEM_NONE);
}

/* Rule for optimizers.  Operands: learning rate, step, and then `arg` lists of k tensors each: the weights, their
 * gradients, and one or two states of the method.  Results: the new weights, then the new states. */
void rule_optimizer(struct infer *f, nid n, int arg)
{
    if (f->m->node[n].nformal <= 2)
        return;
    uint32_t k = (f->m->node[n].nformal - 2) / (uint32_t)arg;
    /* result i has the type of weight i; from i = k on, that of a state: all states stand behind the k gradients */
    for (uint32_t i = 0; i < f->m->node[n].out.n; i++)
        shape_set_like(f, n, i, node_in(f->m, n, 2 + i + (i < k ? 0 : k)), ELEM_NONE);
}

/* Rule: result 0 is a scalar of element type arg. */
void rule_scalar(struct infer *f, nid n, int arg)
{
    struct shape s = shape_scalar((enum elem)arg);
    shape_set(f, n, 0, &s);
}

/* Sets the result of PyTorch's operator embedding_backward(gradient, indices, rows, ...), the gradient of a table
 * that has as many rows as operand 2 says. */
static void embedding_backward(struct infer *f, nid n)
{
    struct shape in = operand_shape(f, n, 0), out = {.rank = 2};
    out.elem = in.elem;
    out.d[0] = value_dim(f, n, 2, 0);
    out.d[1] = shape_dim(&in, -1);
    shape_set(f, n, 0, &out);
}

/* Rule for ATen, whose attribute names an operator of PyTorch.  Only the embedding and its gradient are known:
 * exporters leave these in models. */
void rule_aten(struct infer *f, nid n, int arg)
{
    const char *op = node_attr_str(f->m, n, "operator", "");
    if (strcmp(op, "embedding") == 0)
        rule_embedding(f, n, arg);
    else if (strcmp(op, "embedding_backward") == 0 || strcmp(op, "embedding_dense_backward") == 0)
        embedding_backward(f, n);
}

/* Rule for operators whose operands are broadcast to one shape.  arg: enum num_op, by which elements are followed, and
 * flags RULE_*.  With RULE_QLINEAR the operands are 0 and 3, and elements are not followed. */
void rule_broadcast(struct infer *f, nid n, int arg)
{
    struct shape acc, s;
    uint32_t step = (arg & RULE_QLINEAR) != 0 ? 3 : 1, k = f->m->node[n].nformal;
    vid a = node_in(f->m, n, 0), b = node_in(f->m, n, 1), out = node_out(f->m, n, 0);
    enum elem e = (arg & RULE_BOOL) != 0 ? ELEM_BOOL : ELEM_NONE;
    k = step == 3 && k > 6 ? 6 : k; /* operands 6 and 7: scale and zero point of the result */
    if (f->opset < 7 || (k == 2 && a != 0 && b != 0 && f->type[a] == f->type[b])) {
        /* before opset 7 the result always has the shape of the first operand; later, too, if both operands have one
         * type */
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

/* Whether elements of type e can hold the integer v exactly. */
static bool fits(int64_t v, enum elem e)
{
    assert(elem_followed(e));
    if (!elem_is_integer(e)) /* floats hold integers up to 2^24 exactly */
        return v <= (1 << 24) && v >= -(1 << 24);
    bool is_signed = e == ELEM_I64 || e == ELEM_I32 || e == ELEM_I16 || e == ELEM_I8 ||
                     e == ELEM_I4 || e == ELEM_I2;
    uint32_t bits = elem_bits(e);
    if (bits >= 64)
        return is_signed || v >= 0;
    int64_t above = INT64_C(1) << (is_signed ? bits - 1 : bits);
    return v < above && v >= (is_signed ? -above : 0);
}

/* Sets the elements of result 0 to those of operand 0, cast to type `to`; numbers that it cannot hold become
 * unknown. */
static void cast_values(struct infer *f, nid n, enum elem to)
{
    const struct nums *x = nums_of(f, node_in(f->m, n, 0));
    if (x == NULL || !elem_followed(to))
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

/* Returns the element type of a name such as "FLOAT", the form of Cast's attribute in opset 1. */
static enum elem elem_spelled(const char *s)
{
    static const char *const name[] = {
        "",       "FLOAT", "UINT8",   "INT8",   "UINT16", "INT16",  "INT32",     "INT64",
        "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64", "COMPLEX64", "COMPLEX128"};
    for (int i = 1; i < (int)(sizeof name / sizeof name[0]); i++) {
        if (strcmp(s, name[i]) == 0)
            return (enum elem)i;
    }
    return ELEM_NONE;
}

/* Returns the element type in attribute `name`; ELEM_NONE: absent, or no element type. */
static enum elem attr_elem(const struct infer *f, nid n, const char *name)
{
    int64_t e = node_attr_int(f->m, n, name, 0);
    const struct attr *a = node_attr(f->m, n, name);
    if (a != NULL && a->kind == ATTR_STRING) /* in opset 1 the attribute spells the type's name */
        return elem_spelled(module_str(f->m, a->u.s));
    return e > 0 && e < ELEM_COUNT ? (enum elem)e : ELEM_NONE;
}

/* Returns the element type of result 0; arg, one of FIXED_*, says where to find it.  ELEM_NONE: the type of operand 0,
 * or not known. */
static enum elem fixed_elem(const struct infer *f, nid n, int arg)
{
    enum elem e;
    switch (arg) {
    case FIXED_BOOL:
        return ELEM_BOOL;
    case FIXED_FLOAT:
        return ELEM_F32;
    case FIXED_LIKE_1:
        return elem_in(f, n, 1);
    case FIXED_DEQUANTIZE:
        e = attr_elem(f, n, "output_dtype");
        return e != ELEM_NONE ? e : elem_in(f, n, 1);
    case FIXED_QUANTIZE:
        if (node_in(f->m, n, 2) != 0)
            return elem_in(f, n, 2);
        e = attr_elem(f, n, "output_dtype");
        return e != ELEM_NONE ? e : ELEM_U8;
    case FIXED_DYNAMIC:
        return ELEM_U8;
    case FIXED_TO:
    case FIXED_BITS:
        return attr_elem(f, n, "to");
    case FIXED_DTYPE:
        return attr_elem(f, n, "dtype");
    case FIXED_HASH:
        return node_attr_int(f->m, n, "positive", 1) != 0 ? ELEM_U32 : ELEM_I32;
    default:
        return ELEM_NONE;
    }
}

/* Rule: result 0 has the shape of operand 0 and an element type of its own.  arg: one of FIXED_*, which says where
 * the element type comes from. */
void rule_fixed_elem(struct infer *f, nid n, int arg)
{
    enum elem e = fixed_elem(f, n, arg);
    bool from_operand = arg == FIXED_NONE || arg == FIXED_DTYPE;
    struct shape s;
    if (e != ELEM_NONE || from_operand) {
        shape_set_like(f, n, 0, node_in(f->m, n, 0), e);
    } else if (shape_in(f, n, 0, &s)) { /* the type is not known yet */
        s.elem = ELEM_NONE;
        shape_set(f, n, 0, &s);
    }
    if (arg == FIXED_TO || (arg == FIXED_LIKE_1 && node_is(f->m, n, "CastLike")))
        cast_values(f, n, e);
    if (arg == FIXED_DYNAMIC) {
        struct shape scale = shape_scalar(ELEM_F32), zero = shape_scalar(ELEM_U8);
        shape_set(f, n, 1, &scale);
        shape_set(f, n, 2, &zero);
    }
}

/* Rule for Dropout.  Result 1 is the mask.  arg: MASK_BOOL: it has the shape of operand 0 (before opset 10 also its
 * element type); MASK_BITS: a vector of u32, each for 32 elements. */
void rule_dropout(struct infer *f, nid n, int arg)
{
    struct shape s;
    bool old = node_is(f->m, n, "Dropout") && f->opset < 10;
    shape_set_like(f, n, 0, node_in(f->m, n, 0), ELEM_NONE);
    if (arg == MASK_BOOL) {
        shape_set_like(f, n, 1, node_in(f->m, n, 0), old ? ELEM_NONE : ELEM_BOOL);
        return;
    }
    shape_in(f, n, 0, &s);
    struct dim elems = s.rank >= 0 ? dim_product(f->m, s.d, 0, s.rank) : dim_unknown();
    s = shape_vector(ELEM_U32, dim_div(f->m, dim_shift(f->m, elems, 31), dim_num(32)));
    shape_set(f, n, 1, &s);
}

/* Rule for SkipLayerNormalization and similar operators: results 0 and `arg` have the shape of operand 0.  If arg is 3,
 * results 1 and 2 are statistics over the last axis. */
void rule_skip(struct infer *f, nid n, int arg)
{
    struct shape s;
    shape_set_like(f, n, 0, node_in(f->m, n, 0), ELEM_NONE);
    shape_set_like(f, n, (uint32_t)arg, node_in(f->m, n, 0), ELEM_NONE);
    shape_in(f, n, 0, &s);
    s.elem = ELEM_F32;
    if (s.rank > 0)
        s.d[s.rank - 1] = dim_num(1);
    for (uint32_t i = 1; arg == 3 && i < 3; i++)
        shape_set(f, n, i, &s);
}
