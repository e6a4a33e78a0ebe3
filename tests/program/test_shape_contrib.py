"""infer-shapes on operators of com.microsoft, of ai.onnx.ml, and on old ones of ai.onnx that only ONNX Runtime
knows: small models of one node each are run by ONNX Runtime, and what pcc infers must be the types and shapes
of its arrays.

Every operator of com.microsoft in the installed ONNX Runtime, and of ai.onnx that onnx does not know, has a
case here or a reason why not (NO_CASE).
Everything is known in the models, so that pcc must know all but what depends on the elements (OPEN).  Each
model is there twice: with its inputs as they are, and with a name in place of each size of a first axis,
where pcc must not claim a wrong number.
What ONNX Runtime cannot run here (there is no kernel for the CPU) is compared with what its own
shape inference says: it refuses a session whose declared types differ from that, and tells how.
Needs the Python packages onnx, numpy and onnxruntime (else 77)."""
# once: sanitized
import os
import re
import sys
from pathlib import Path

try:
    import ml_dtypes
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import helper, numpy_helper
except ImportError:
    print("skipped: the Python packages onnx, numpy and onnxruntime are not installed")
    sys.exit(77)

from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from shape_text import ELEMS, PCC, inferred_all

ort.set_default_logger_severity(4)
rng = np.random.default_rng(7)
failed, skipped, wrong_there = [], {}, set()
count = {"results": 0, "inferred": 0, "documented": 0}
ONLY = os.environ.get("PCC_ONLY", "")
B, S, D, H, P = 2, 3, 16, 4, 5  # batch, sequence, width, heads, past


def f(*dims):
    return rng.standard_normal(dims).astype(np.float32)


def u(*dims):
    return rng.integers(100, 150, dims).astype(np.uint8)


def i8(*dims):
    return rng.integers(-9, 9, dims).astype(np.int8)


def i32(*values):
    return np.array(values, np.int32)


def i64(*values):
    return np.array(values, np.int64)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


SC, ZP = scalar(0.02), scalar(128, np.uint8)
MS = "com.microsoft"
QKV = f(D, 3 * D)
CONV8 = [u(1, 2, 6, 6), SC, ZP, u(4, 2, 3, 3), SC, ZP, SC, ZP]
SVM = dict(kernel_type="LINEAR", kernel_params=[0.0, 0.0, 3.0], post_transform="NONE")


# Operator, operands (None: left out; a list: constants), attributes, number of results.
def cases():
    # attention
    yield "Attention", [f(B, S, D), QKV, f(3 * D)], dict(num_heads=H), 1
    yield "Attention", [f(B, S, D), QKV, f(3 * D), None, f(2, B, H, P, D // H)], \
        dict(num_heads=H, unidirectional=1), 2
    yield "Attention", [f(B, S, D), f(D, 2 * D + 8), f(2 * D + 8)], dict(num_heads=H, qkv_hidden_sizes=[D, D, 8]), 1
    yield "Attention", [f(B, S, D), f(D, 2 * D + 8), f(2 * D + 8)], dict(num_heads=H, qkv_hidden_sizes=[D, D, 8]), 2
    yield "Attention", [f(B, S, D), QKV, f(3 * D)], dict(num_heads=H), 2
    yield "MultiHeadAttention", [f(B, S, D), f(B, P, D), f(B, P, 8)], dict(num_heads=H), 1
    yield "MultiHeadAttention", [f(B, S, D), f(B, S, D), f(B, S, D), None, None, None, f(B, H, P, D // H),
                                 f(B, H, P, D // H)], dict(num_heads=H), 3
    yield "MultiHeadAttention", [f(B, S, D), f(B, S, D), f(B, S, D)], dict(num_heads=H), 3
    yield "MultiHeadAttention", [f(B, S, D), f(B, P, D), f(B, P, D)], dict(num_heads=H), 4
    yield "MultiHeadAttention", [f(B, S, D), f(B, H, P, D // H), f(B, H, P, D // H)], dict(num_heads=H), 1
    yield "MultiHeadAttention", [f(B, S, H, 3, D // H)], dict(num_heads=H), 1
    yield "MultiHeadAttention", [f(B, S, D), f(B, P, H, 2, D // H)], dict(num_heads=H), 1
    yield "DecoderMaskedMultiHeadAttention", [f(B, 1, D), f(B, 1, D), f(B, 1, D), None, None, f(B, H, P, D // H),
                                              f(B, H, P, D // H)], dict(num_heads=H), 3
    yield "DecoderMaskedMultiHeadAttention", [f(B, 1, D), f(B, 1, D), f(B, 1, D), None, None, f(B, H, 8, D // H),
                                              f(B, H, 8, D // H), i32(P)], \
        dict(num_heads=H, past_present_share_buffer=1), 3
    kv = f(B, 2, P, 8)
    yield "GroupQueryAttention", [f(B, S, 32), f(B, S, 16), f(B, S, 16), None, None, i32(S - 1, S - 1), [i32(S)[0]]], \
        dict(num_heads=4, kv_num_heads=2), 3
    yield "GroupQueryAttention", [f(B, 1, 32), f(B, 1, 16), f(B, 1, 16), kv, kv, i32(P, P), [i32(P + 1)[0]]], \
        dict(num_heads=4, kv_num_heads=2), 3
    yield "GroupQueryAttention", [f(B, 1, 64), None, None, f(B, 2, 9, 8), f(B, 2, 9, 8), i32(P, P), [i32(P + 1)[0]]], \
        dict(num_heads=4, kv_num_heads=2), 3
    yield "SparseAttention", [f(1, S, 64), None, None, f(1, 2, 16, 8), f(1, 2, 16, 8), i32(0, 1).reshape(1, 2),
                              i32(0).reshape(1, 1), [i32(S)[0]], i32(S)], \
        dict(num_heads=4, kv_num_heads=2, sparse_block_size=16), 3
    yield "QAttention", [u(B, S, D), u(D, 3 * D), f(3 * D), SC, SC, None, ZP, ZP], dict(num_heads=H), 1
    yield "QAttention", [u(B, S, D), u(D, 3 * D), f(3 * D), SC, SC, None, ZP, ZP, f(2, B, H, P, D // H)], \
        dict(num_heads=H, unidirectional=1), 2
    yield "RotaryEmbedding", [f(B, S, D), i64(*range(S)).reshape(1, S).repeat(B, 0), f(9, 2), f(9, 2)], \
        dict(num_heads=H), 1
    yield "RotaryEmbedding", [f(B, H, S, 4), i64(0), f(9, 2), f(9, 2)], {}, 1
    yield "LinearAttention", [f(B, S, 16), f(B, S, 8), f(B, S, 12)], \
        dict(q_num_heads=4, kv_num_heads=2, update_rule="linear"), 2
    yield "CausalConvWithState", [f(B, 6, 9), f(6, 1, 4)], {}, 2
    yield "CausalConvWithState", [f(B, 6, 9), f(6, 1, 4), f(6), f(B, 6, 3)], {}, 2
    yield "GatedRelativePositionBias", [f(B, S, D), f(D), f(1, H, S, S), f(D // H, 8), f(8), f(1, H, 1, 1)], \
        dict(num_heads=H), 1
    yield "RelativePositionBias", [f(32, H), [i64(S)[0]], [i64(S)[0]]], dict(max_distance=128), 1
    yield "LongformerAttention", [f(1, 4, D), QKV, f(3 * D), f(1, 4), QKV, f(3 * D), i32(0, 0, 0, 0).reshape(1, 4)], \
        dict(num_heads=H, window=2), 1
    # layers
    ids = i32(1, 2, 3, 1, 2, 3).reshape(B, S)
    yield "EmbedLayerNormalization", [ids, ids % 2, f(9, D), f(7, D), f(2, D), f(D), f(D)], {}, 2
    yield "EmbedLayerNormalization", [ids, ids % 2, f(9, D), f(7, D), f(2, D), f(D), f(D), ids], {}, 3
    yield "EmbedLayerNormalization", [ids, None, f(9, D), f(7, D), None, f(D), f(D)], {}, 2
    yield "QEmbedLayerNormalization", [ids, ids % 2, u(9, D), u(7, D), u(2, D), u(D), u(D),
                                       ids] + [SC] * 5 + [ZP] * 5, {}, 2
    for op in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"):
        yield op, [f(B, S, D), f(B, S, D), f(D)], {}, 1
        yield op, [f(B, S, D), f(B, S, D), f(D)], dict(_results=[0, 3]), 4
        yield op, [f(B, S, D), f(S, D), f(D)], {}, 1
    yield ".SimplifiedLayerNormalization", [f(B, S, D), f(D)], dict(axis=-1), 1
    yield ".LayerNormalization", [f(B, S, D), f(D)], dict(axis=-1), 3
    for op in ("BiasGelu", "FastGelu"):
        yield op, [f(B, S, D), f(D)], {}, 1
    for op in ("Gelu", "QuickGelu", "FastGelu", "Inverse", "Trilu", "ScaledSiLU"):
        yield op, [f(B, S, S)], {}, 1
    yield "BiasAdd", [f(B, S, D), f(D), f(B, S, D)], {}, 1
    yield "BiasSplitGelu", [f(B, S, D), f(D)], {}, 1
    yield "BiasSoftmax", [f(B, S, D), f(1, S, D)], dict(axis=2, is_inner_broadcast=0), 1
    yield "BiasDropout", [f(B, S, D), f(D)], {}, 2
    yield "BitmaskDropout", [f(B, S, D)], {}, 2
    yield "GroupNorm", [f(B, 4, 4, 8), f(8), f(8)], dict(groups=2, activation=0), 1
    yield "SkipGroupNorm", [f(B, 4, 4, 8), f(8), f(8), f(B, 4, 4, 8)], dict(groups=2, activation=0), 2
    yield "MoE", [f(S, D), f(S, 2), f(2, 8, D), None, f(2, D, 8)], dict(k=1, activation_type="gelu"), 1
    yield "QMoE", [f(S, 32), f(S, 2), u(2, 32, 16), f(2, 32), None, u(2, 32, 16), f(2, 32)], \
        dict(k=1, activation_type="gelu", expert_weight_bits=4), 1
    # products
    yield "FusedMatMul", [f(B, S, 4), f(B, 5, 4)], dict(transB=1), 1
    yield "FusedMatMul", [f(S, B, 4), f(B, 4, 5)], dict(transBatchA=1), 1
    yield "FusedMatMul", [f(S, B, 4), f(5, B, 4)], dict(transBatchA=1, transBatchB=1, transB=1), 1
    yield "FusedMatMul", [f(4, B, S), f(B, 4, 5)], dict(transBatchA=1, transA=1), 1
    yield "TransposeMatMul", [f(B, 4, S), f(4, 5)], dict(transA=1), 1
    yield "FusedMatMulActivation", [f(B, S, 4), f(4, 5)], dict(activation="Relu"), 1
    yield "FusedGemm", [f(3, 4), f(5, 4), f(5)], dict(transB=1, activation="Relu"), 1
    yield "GemmFastGelu", [f(B, S, 4), f(4, 5)], {}, 1
    yield "MatMulNBits", [f(B, S, 32), u(8, 1, 16), f(8)], dict(K=32, N=8, bits=4, block_size=32), 1
    yield "MatMulBnb4", [f(B, S, 32), u(32 * 8 // 2), f(8)], dict(K=32, N=8, block_size=32, quant_type=1), 1
    yield "MatMulIntegerToFloat", [u(B, S, 4), u(4, 5), SC, SC, ZP, ZP], {}, 1
    yield "DynamicQuantizeMatMul", [f(B, S, 4), u(4, 5), SC, ZP], {}, 1
    yield "QGemm", [u(3, 4), SC, ZP, u(4, 5), SC, ZP, i32(1, 2, 3, 4, 5), SC, ZP], {}, 1
    yield "QGemm", [u(3, 4), SC, ZP, u(4, 5), SC, ZP], {}, 1
    yield "MatMulInteger16", [f(3, 4).astype(np.int16), f(4, 5).astype(np.int16)], {}, 1
    yield "DynamicQuantizeLSTM", [f(S, B, 4), i8(1, 4, 32), i8(1, 8, 32), None, None, None, None, None, f(1), i8(1),
                                  f(1), i8(1)], dict(hidden_size=8), 3
    yield "GatherBlockQuantized", [u(6, 16), i64(0, 1), f(6, 2), None], \
        dict(gather_axis=0, quantize_axis=1, block_size=16), 1
    yield "GatherBlockQuantized", [u(6, 16), i64(0, 1).reshape(2, 1), f(6, 1)], \
        dict(gather_axis=0, quantize_axis=1, block_size=16, bits=8), 1
    yield "CDist", [f(3, 4), f(5, 4)], dict(metric="euclidean"), 1
    # quantized
    yield "QLinearConv", CONV8, {}, 1
    yield "QLinearConv", [u(1, 6, 6, 2)] + CONV8[1:], dict(channels_last=1), 1
    yield ".QLinearConv", CONV8, dict(strides=[2, 2]), 1
    for op in ("QLinearAdd", "QLinearMul"):
        yield op, [u(B, 1, D), SC, ZP, u(S, 1), SC, ZP, SC, ZP], {}, 1
    yield "QLinearWhere", [rng.integers(0, 2, (S, 1)).astype(bool), u(B, 1, D), SC, ZP, u(S, 1), SC, ZP, SC, ZP], {}, 1
    yield "QLinearSigmoid", [u(B, D), SC, ZP, SC, ZP], {}, 1
    yield "QLinearLeakyRelu", [u(B, D), SC, ZP, SC, ZP], {}, 1
    yield "QLinearSoftmax", [u(B, D), SC, ZP, SC, ZP], dict(axis=1, opset=13), 1
    yield "QLinearConcat", [SC, ZP, u(B, S), SC, ZP, u(B, D), SC, ZP], dict(axis=1), 1
    yield "QLinearAveragePool", [u(1, 2, 7, 7), SC, ZP, SC, ZP], \
        dict(kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), 1
    yield "QLinearAveragePool", [u(1, 7, 7, 2), SC, ZP, SC, ZP], dict(kernel_shape=[3, 3], channels_last=1), 1
    yield "QLinearGlobalAveragePool", [u(1, 2, 7, 7), SC, ZP, SC, ZP], dict(channels_last=0), 1
    yield "QLinearGlobalAveragePool", [u(1, 7, 7, 2), SC, ZP, SC, ZP], dict(channels_last=1), 1
    yield "QLinearReduceMean", [u(B, S, D), SC, ZP, SC, ZP], dict(axes=[1], keepdims=0), 1
    yield "ReduceSumInteger", [u(B, S, D)], dict(axes=[1], keepdims=0, _want=[("none", [B, D])]), 1
    yield "QuantizeLinear", [f(B, S), SC, ZP], {}, 1
    yield "DequantizeLinear", [u(B, S), SC, ZP], {}, 1
    yield "QuantizeLinear", [f(B, S), SC, scalar(0, np.int16)], {}, 1
    # images
    yield "FusedConv", [f(1, 2, 6, 6), f(4, 2, 3, 3), f(4)], dict(activation="Relu", pads=[1, 1, 1, 1]), 1
    yield "NhwcMaxPool", [u(1, 6, 7, 2)], dict(kernel_shape=[3, 2]), 1
    yield "NhwcConv", [f(1, 6, 6, 2), f(4, 2, 3, 3), f(4)], dict(pads=[1, 1, 1, 1]), 1
    yield "NhwcFusedConv", [f(1, 6, 6, 2).astype(np.float16), f(4, 2, 3, 3).astype(np.float16)], \
        dict(activation="Relu"), 1
    yield "MaxpoolWithMask", [f(1, 1, 6, 6), i32(*[1] * 36).reshape(1, 1, 6, 6)], dict(kernel_shape=[3, 3]), 1
    yield "CropAndResize", [f(1, 3, 8, 8), np.array([[0, 0, 1, 1], [0, 0, .5, .5]], np.float32), i32(0, 0),
                            [i32(4, 5)]], {}, 1
    yield "GridSample", [f(1, 2, 5, 5), f(1, 3, 4, 2)], {}, 1
    yield "UnfoldTensor", [f(2, 9)], dict(dim=1, size=3, step=2), 1
    yield "Rfft", [f(2, 8)], dict(normalized=0, onesided=1, signal_ndim=1, _want=[("f32", [2, 5, 2])]), 1
    # others
    yield "ExpandDims", [f(2, 3), [i32(1)[0]]], {}, 1
    yield "Pad", [f(2, 3), [i64(1, 0, 0, 2)], scalar(0)], dict(mode="constant"), 1
    yield "Range", [[scalar(0, np.int32)], [scalar(7, np.int32)], [scalar(2, np.int32)]], {}, 1
    yield "Unique", [f(6)], {}, 3
    yield "MurmurHash3", [i32(1, 2, 3)], dict(positive=0), 1
    yield "MurmurHash3", [i32(1, 2, 3)], {}, 1
    yield "NGramRepeatBlock", [i64(1, 2, 3).reshape(1, 3), f(1, 9)], dict(ngram_size=2), 1
    yield "Tokenizer", [np.array([["a b", "c"]])], dict(mark=0, pad_value="#", separators=[" "], mincharnum=1), 1
    yield "GatherND", [f(3, 4, 5), i64(0, 1).reshape(1, 2)], {}, 1
    yield "IsAllFinite", [f(3), f(4)], {}, 1
    yield "TorchEmbedding", [f(9, 4), i64(1, 2, 3)], {}, 1
    # ai.onnx.ml
    x = f(5, 3)
    yield "!ArrayFeatureExtractor", [x, i64(0, 2)], {}, 1
    yield "!ArrayFeatureExtractor", [f(3), i64(0, 2)], {}, 1
    yield "!Binarizer", [x], dict(threshold=0.5), 1
    yield "!Scaler", [i64(1, 2, 3).reshape(1, 3)], dict(scale=[1.0] * 3, offset=[0.0] * 3), 1
    yield "!Normalizer", [x], dict(norm="L2"), 1
    yield "!Imputer", [x], dict(imputed_value_floats=[0.0], replaced_value_float=1.0), 1
    yield "!OneHotEncoder", [i64(1, 2, 1)], dict(cats_int64s=[1, 2]), 1
    yield "!OneHotEncoder", [i64(1, 2, 1, 2).reshape(2, 2)], dict(cats_int64s=[1, 2, 3]), 1
    yield "!LabelEncoder", [i64(1, 2)], dict(keys_int64s=[1, 2], values_strings=["a", "b"]), 1
    yield "!LabelEncoder", [i64(1, 2)], dict(keys_int64s=[1, 2], values_floats=[1.0, 2.0]), 1
    yield "!CategoryMapper", [np.array(["a", "b"])], dict(cats_strings=["a", "b"], cats_int64s=[1, 2]), 1
    yield "!FeatureVectorizer", [x, f(5, 2)], dict(inputdimensions=[3, 2]), 1
    yield "!LinearRegressor", [x], dict(coefficients=[1.0] * 6, intercepts=[0.0] * 2, targets=2), 1
    yield "!LinearClassifier", [x], dict(coefficients=[1.0] * 9, intercepts=[0.0] * 3, classlabels_ints=[1, 2, 3]), 2
    yield "!LinearClassifier", [x], dict(coefficients=[1.0] * 3, intercepts=[0.0], classlabels_ints=[0, 1]), 2
    yield "!LinearClassifier", [x], \
        dict(coefficients=[1.0] * 6, intercepts=[0.0] * 2, classlabels_strings=["a", "b"]), 2
    yield "!SVMRegressor", [x], dict(SVM, coefficients=[1.0] * 3, rho=[0.0], n_supports=0), 1
    yield "!SVMClassifier", [x], dict(SVM, coefficients=[1.0] * 12, rho=[0.0] * 6, support_vectors=[.1] * 12,
                                      vectors_per_class=[1] * 4, classlabels_ints=[0, 1, 2, 3]), 2
    yield "!SVMClassifier", [x], dict(SVM, coefficients=[1.0] * 2, rho=[0.0], support_vectors=[.1] * 6,
                                      vectors_per_class=[1, 1], classlabels_ints=[0, 1]), 2
    yield "!SVMClassifier", [x], dict(SVM, coefficients=[1.0] * 9, rho=[0.0] * 3, classlabels_ints=[0, 1, 2]), 2
    yield "!SVMClassifier", [x], dict(SVM, coefficients=[1.0] * 12, rho=[0.0] * 6, support_vectors=[.1] * 12,
                                      prob_a=[.1] * 6, prob_b=[.1] * 6,
                                      vectors_per_class=[1] * 4, classlabels_ints=[0, 1, 2, 3]), 2


def h(*dims):
    return f(*dims).astype(np.float16)


def body(inputs, outputs):
    """A graph for operators that wrap a model; no node in it fits, and none is ever run."""
    value = helper.make_tensor_value_info
    return helper.make_graph([helper.make_node("Identity", [inputs[0]], [o]) for o in outputs], "body",
                             [value(i, onnx.TensorProto.INT32, None) for i in inputs],
                             [value(o, onnx.TensorProto.INT32, None) for o in outputs])


# The same of operators of ai.onnx that only ONNX Runtime knows, and of com.microsoft's newer ones.
def more_cases():
    x = f(2, 3, 6, 7)
    yield ".Affine", [x], dict(alpha=2.0, beta=1.0, _opset=9), 1
    yield ".ImageScaler", [x], dict(scale=2.0, bias=[0.0, 1.0, 2.0], _opset=9), 1
    yield ".ParametricSoftplus", [x], dict(alpha=2.0, beta=1.0, _opset=9), 1
    yield ".Scale", [x], dict(scale=2.0, _opset=9), 1
    yield ".ScaledTanh", [x], dict(alpha=2.0, beta=1.0, _opset=9), 1
    yield ".Crop", [x], dict(border=[1, 2, 3, 1], _opset=9), 1
    yield ".Crop", [x], dict(border=[1, 2, 0, 0], scale=[3, 2], _opset=9), 1
    yield ".DynamicSlice", [x, [i64(0, 1)], [i64(1, 5)], [i64(0, 3)]], dict(_opset=9), 1
    yield ".DynamicSlice", [x, [i64(0, 1)], [i64(-1, 1000)]], dict(_opset=9), 1
    yield ".DynamicSlice", [x, i64(0, 1), i64(-1, 1000)], dict(_opset=9, _open=True), 1
    yield ".GRUUnit", [f(2, 5), f(2, 15), f(2), f(1)], dict(_opset=9, _want=[("f32", [2, 5])]), 1
    yield ".GivenTensorFill", [], dict(shape=[2, 3], values=[1.0] * 6, _opset=9, _want=[("none", [2, 3])]), 1
    yield ".GivenTensorFill", [[np.array([2, 3], np.float32)]], \
        dict(values=[1.0] * 6, input_as_shape=1, _opset=9, _want=[("f32", [2, 3])]), 1
    yield ".GivenTensorFill", [f(2, 3)], dict(values=[1.0] * 24, extra_shape=[4], _opset=9), 1
    yield ".DisentangledAttention_TRT", [f(2, 4, 4), f(2, 4, 4), f(2, 4, 4)], dict(factor=1.0, span=2, _opset=9), 1
    yield ".EfficientNMS_TRT", [f(2, 9, 4), f(2, 9, 3)], \
        dict(max_output_boxes=5, background_class=-1, box_coding=0, iou_threshold=0.5, plugin_version="1",
             score_activation=0, score_threshold=0.5, _opset=9), 4
    maps = [f(2, 3, 4 * k, 4 * k) for k in (4, 3, 2, 1)]
    yield ".MultilevelCropAndResize_TRT", [f(2, 5, 4), *maps], \
        dict(image_size=[3, 32, 32], pooled_size=7, plugin_version="1", _opset=9), 1
    yield ".PyramidROIAlign_TRT", [f(2, 5, 4), *maps], dict(pooled_size=7, plugin_version="1", _opset=9), 1
    for op in (".MemcpyToHost", ".MemcpyFromHost"):
        yield op, [x], dict(_opset=9), 1
    # numbers of words
    ids = i64(1, 2, 3, 4)
    yield "BifurcationDetector", [ids, i64(1, 2), [i64(0)[0]]], {}, 2
    yield "BifurcationDetector", [ids, i64(1, 2), [i64(0)[0]], i64(3, 4, 5, 6, 7)], {}, 2
    grams = dict(max_ngram_size=3, n_head_per_ngram=2, pad_id=0)
    yield "NGramHashMapping", [ids.reshape(2, 2), i64(3, 5, 7), i64(11, 13, 17, 19)], grams, 2
    yield "NGramHashMapping", [ids.reshape(2, 2).astype(np.int32), i32(3, 5, 7), i32(11, 13, 17, 19),
                               i32(1, 2, 3, 4).reshape(2, 2)], grams, 2
    yield "VarlenNGramHashMapping", [ids, i64(3, 5, 7), i64(11, 13, 17, 19), i32(0, 1, 4)], grams, 2
    yield "VarlenNGramHashMapping", [ids, i64(3, 5, 7), i64(11, 13, 17, 19), i32(0, 1, 4), None, None, None,
                                     i32(0, 0, 0, 1), i32(*[0] * 4).reshape(2, 2), i32(1, 2)], \
        dict(grams, state_update_capacity=2), 4
    words = np.arange(12, dtype=np.int32).reshape(3, 4)
    yield "WordConvEmbedding", [words, f(5, 1, 2, 6), f(5), f(20, 6)], \
        dict(embedding_size=5, conv_window_size=2, char_embedding_size=6), 1
    yield "WordConvEmbedding", [words, f(5, 1, 2, 6), f(5), f(20, 6)], {}, 1
    # attention
    yield "DynamicSparseAttention", [f(B, S, 32), f(B, S, 16), f(B, S, 16), f(B, 2, 9, 8), f(B, 2, 9, 8), None, None,
                                     i32(*[0] * 12).reshape(6, 2), i32(*[1] * 6), i32(4, 4), [i32(5)[0]]], \
        dict(num_heads=4, kv_num_heads=2), 3
    yield "DynamicSparseAttention", [f(B, S, 64), None, None, f(B, 2, 9, 8), f(B, 2, 9, 8), None, None,
                                     i32(*[0] * 12).reshape(6, 2), i32(*[1] * 6), i32(4, 4), [i32(5)[0]]], \
        dict(num_heads=4, kv_num_heads=2), 3
    paged = [h(9, 2, 16, 8), h(9, 2, 16, 8), i32(0, 3, 6), i32(4, 4), i32(1, 2).reshape(2, 1), None,
             i32(*[0] * 12).reshape(6, 2), i32(*[1] * 6)]
    yield "SparsePagedAttention", [h(6, 32), h(6, 16), h(6, 16), *paged], dict(num_heads=4, kv_num_heads=2), 3
    yield "SparsePagedAttention", [h(6, 64), None, None, *paged], dict(num_heads=4, kv_num_heads=2), 3
    weights = [f(8), f(8), f(32, 4), f(32, 4)]
    qsa = dict(policy_mode="qsa", compress_ratio=2, token_budget=4)
    csa = dict(policy_mode="csa", compress_ratio=2, index_topk=3)
    yield "SparseAttentionIndexer", [f(B, S, 32), f(B, S, 8), *weights, None, f(B, 9, 8)], qsa, 2
    yield "SparseAttentionIndexer", [f(B, S, 40), None, *weights, None, f(B, 9, 8)], qsa, 2
    yield "SparseAttentionIndexer", [f(B, S, 32), f(B, S, 8), *weights, None, f(B, 9, 8), None, None, None, None,
                                     i32(3)], qsa, 2
    for fresh, waiting in ((3, 3), (5, 0), (1, 1), (1, 0), (1, 2), (1, 3), (2, 3)):
        yield "SparseAttentionIndexer", [f(B, fresh, 32), f(B, fresh, 16), *weights, None, f(B, 9, 8),
                                         f(B, fresh, 16), f(2, 16), f(B, fresh, 4),
                                         i64(*[0] * B * fresh).reshape(B, fresh), None, f(2, B, waiting, 16)], csa, 3
    lengths = [i32(0, 2, 6), i32(3, 1)]
    yield "PackedSparseAttentionIndexer", [f(6, 32), f(6, 8), *weights, *lengths, None, None, None, None, f(B, 16, 8),
                                           f(B, 3, 8), None, i32(*[1] * 4).reshape(2, 2)], \
        dict(qsa, state_capacity=16, _results=[0, 1, 2, 3, 5]), 6
    yield "PackedSparseAttentionIndexer", [f(6, 32), f(6, 8), *weights, *lengths, None, None, None, None, f(B, 16, 8),
                                           f(B, 3, 8), None, i32(*[1] * 4).reshape(2, 2), i32(1, 1)], \
        dict(qsa, state_capacity=16, state_update_capacity=2, _results=[0, 1, 2, 3, 5, 6]), 7
    yield "PackedSparseAttentionIndexer", [f(6, 32), f(6, 16), *weights, *lengths, f(6, 16), f(2, 16), f(6, 4),
                                           i64(*range(6)), f(B, 16, 8), f(B, 3, 16), f(B, 3, 16),
                                           i32(*[1] * 4).reshape(2, 2)], dict(csa, state_capacity=16), 6
    state = f(B, 4, 6, 8)
    yield "GatedDeltaNet", [f(10, 2, 8), f(10, 2, 8), f(10, 4, 6), None, f(10, 4), f(10, 4), state], {}, 2
    yield "GatedDeltaNet", [h(B, 5, 2, 8), h(B, 5, 2, 8), h(B, 5, 4, 6), None, f(B, 5, 4), f(B, 5, 4), state], {}, 2
    yield "GatedDeltaNet", [f(10, 56), None, None, None, f(10, 4), f(10, 4), state], {}, 2
    yield "GatedDeltaNet", [f(10, 56), None, None, None, f(10, 4), f(10, 4), state, None, None, i32(1, 2)], \
        dict(state_update_capacity=3, _want=[("f32", [10, 4, 6]), ("f32", [2, 4, 6, 8]), ("f32", [2, 132])]), 3
    yield "GatedDeltaNet", [f(10, 2, 8), f(10, 2, 8), f(10, 4, 6), i32(0, 3, 10), f(10, 4), f(10, 4)], \
        dict(_want=[("f32", [10, 4, 6]), ("f32", [2, 4, 6, 8])]), 2
    yield "GatedDeltaNet", [f(10, 2, 8), f(10, 2, 8), f(10, 4, 6), None, f(10, 4), f(10, 4), state, None, None,
                            i32(1, 2)], dict(state_update_capacity=3), 3
    yield "LinearAttentionGate", [f(B, S, H), f(H), f(H)], {}, 1
    yield "LinearAttentionGate", [f(B, S, H), f(H), f(H), f(B, S, H)], {}, 2
    yield "VarlenCausalConvWithState", [f(10, 6), f(6, 1, 4), i32(0, 3, 10), None, f(2, 6, 3)], {}, 2
    yield "VarlenCausalConvWithState", [f(10, 6), f(6, 1, 4), i32(0, 3, 10), f(6), f(2, 6, 6), i32(1, 2)], \
        dict(state_update_capacity=2, dilation=2), 3
    yield "MRotaryEmbedding", [f(B, S, D), i64(*[0] * 18).reshape(3, B, S), f(9, 2), f(9, 2)], \
        dict(num_heads=H, mrope_section=[1, 1, 0]), 1
    yield "GemmaRotaryEmbedding", [f(B, S, 8), h(B, H, S, 8), h(B, H, S, 8), h(B, H, S, 8), h(B, H, S, 8)], {}, 2
    yield "PackedAttention", [f(6, D), QKV, f(3 * D), i32(*range(6)).reshape(2, 3), i32(0, 3, 6)], \
        dict(num_heads=H), 1
    yield "PackedMultiHeadAttention", [f(6, D), f(6, D), f(6, D), None, i32(*range(6)).reshape(2, 3), i32(0, 3, 6)], \
        dict(num_heads=H), 1
    yield "PackedMultiHeadAttention", [f(6, H, 3, D // H), None, None, None, i32(*range(6)).reshape(2, 3),
                                       i32(0, 3, 6)], dict(num_heads=H), 1
    yield "PagedAttention", [h(6, 32), h(6, 16), h(6, 16), h(9, 16, 2, 8), h(9, 16, 2, 8), i32(0, 3, 6), i32(4, 4),
                             i32(1, 2).reshape(2, 1)], dict(num_heads=4, kv_num_heads=2), 3
    yield "DecoderMaskedSelfAttention", [f(B, 1, D), QKV, f(3 * D), None, f(2, B, H, P, D // H), None, i32(2)], \
        dict(num_heads=H, past_present_share_buffer=1), 2
    yield "DecoderAttention", [f(S, B, D), f(P, B, D), f(D, D), f(D, 2 * D), f(3 * D), None, None, None] \
        + [[np.array([False])]] * 4, dict(num_heads=H), 3
    # layers
    yield "EngramGate", [f(B, S, H, D), f(B, S, H, D), f(B, S, D), f(H, D), f(H, D)], {}, 1
    yield "EngramGate", [f(B, S, H, D), f(B, S, H, D), f(B, S, D), f(H, D), f(H, D), f(H, D)], {}, 2
    yield "HyperConnectionPreMix", [f(B, S, H, D), f(B, S, H)], {}, 1
    yield "HyperConnectionPreMix", [f(B, S, H * D), f(B, S, H)], dict(num_branches=H), 1
    yield "HyperConnectionPostMix", [f(B, S, H, D), f(B, S, D), f(B, S, H), f(B, S, H, H)], {}, 1
    yield "BranchwiseRMSNorm", [f(B, S, H, D), f(H, D)], {}, 1
    yield "GatedAdd", [f(B, S, D), f(B, S, D), f(B, S, 1)], {}, 1
    yield "GatedRMSNorm", [f(B, S, D), f(D), f(B, S, D)], {}, 1
    yield "BitmaskBiasDropout", [f(B, S, D), f(D)], {}, 2
    yield "AttnLSTM", [f(S, B, 4), f(1, 32, 7), f(1, 32, 8), None, None, None, None, None, f(1, 8, 5), f(1, 6, 5),
                       f(1, 5), f(B, 9, 6), i32(9, 9), f(1, 14, 3)], dict(hidden_size=8), 3
    yield "RemovePadding", [f(B, S, D), i32(2, 3)], {}, 4
    yield "RestorePadding", [f(5, D), i32(*range(6)).reshape(2, 3)], {}, 1
    yield "SampleOp", [f(B, S)], {}, 1
    # products
    yield "MatMulBlockQuantizedFp4Weight", [h(B, S, 32), u(6, 16), u(6, 2), f()], {}, 1
    fp8 = f(6, 32).astype(ml_dtypes.float8_e4m3fn)
    yield "MatMulBlockQuantizedFp8Weight", [h(B, S, 32), fp8, f(6, 1)], {}, 1
    yield "MatMulFpQ4", [f(3, 32), u(160), [i64(32, 8)]], dict(blk_quant_type=0), 1
    yield "MatMulNBitsMlp", [h(B, S, 32), None, None, u(8, 1, 16), h(8, 1), None, u(8, 1, 16), h(8, 1), None], \
        dict(K=32, N=8, bits=4, block_size=32, activation="silu"), 1
    packed = [u(8, 1, 16), h(8, 1), None]
    yield "MatMulNBitsQkv", [h(B, S, 32), None, h(32), u(16, 1, 16), h(16, 1), None, *packed, *packed], \
        dict(K=32, Nq=16, Nkv=8, bits=4, block_size=32), 3
    yield "GemmFloat8", [fp8, f(5, 32).astype(ml_dtypes.float8_e4m3fn), None, f(1), f(1)], dict(transB=1, dtype=10), 1
    yield "MulInteger", [u(B, 1, D), ZP, u(S, 1), ZP], {}, 1
    yield "MulInteger", [i8(B, 1, D), scalar(0, np.int8), i8(S, 1), scalar(0, np.int8)], {}, 1
    order = dict(order_A=1, order_B=0, order_Y=1)
    yield "QOrderedMatMul", [i8(B, S, 32), SC, i8(32, 8), SC, SC], order, 1
    yield "QOrderedMatMul", [i8(B, S, 32), SC, i8(32, 8), SC, SC, f(8)], order, 1
    yield "QOrderedAttention", [i8(B, S, D), SC, SC, SC, SC, i8(D, D), i8(D, D), i8(D, D), SC, SC, SC, f(D), f(D), f(D),
                                SC, SC, SC], \
        dict(num_heads=H, order_input=1, order_weight=0, order_output=1, qkv_hidden_sizes=[D, D, D]), 1
    yield "QOrderedGelu", [i8(B, S, D), SC, SC], dict(order_X=1, order_Y=1), 1
    yield "QOrderedLayerNormalization", [i8(B, S, D), SC, f(D), f(D), SC], dict(order_X=1, order_Y=1), 1
    qkv = [i8(D, 3 * D), SC, f(3 * D), SC]
    yield "QOrderedLongformerAttention", [i8(B, S, D), SC, *qkv, SC, h(B, S), *qkv, i32(*[0] * 6).reshape(2, 3), SC], \
        dict(num_heads=H, window=1, order_input=1, order_weight=0, order_output=1, order_global_weight=0), 1
    yield "QuantizeWithOrder", [f(B, S), SC], dict(order_input=1, order_output=1), 1
    yield "DequantizeWithOrder", [i8(B, S), SC], dict(order_input=1, order_output=1, to=1), 1
    yield "QuantizeBFP", [f(B, S, D)], dict(bfp_type=1), 3
    yield "DequantizeBFP", [u(90), [i64(2, 3, 5)], i64(15, 5, 1)], dict(bfp_type=1, _want=[("f32", [2, 3, 5])]), 1
    yield "DequantizeBFP", [u(90), i64(2, 3, 5), i64(15, 5, 1)], \
        dict(bfp_type=1, dtype=10, _want=[("f16", ["?"] * 3)]), 1
    for op in ("ComplexMul", "ComplexMulConj"):
        yield op, [f(B, S, 2), f(1, S, 2)], dict(_want=[("f32", [B, S, 2])]), 1
    yield "Irfft", [f(2, 5, 2)], dict(normalized=0, onesided=1, signal_ndim=1, _want=[("f32", [2, 8])]), 1
    # images and sounds
    yield "ConvTransposeWithDynamicPads", [f(1, 2, 5, 5), f(2, 3, 3, 3), [i64(0, 1, 1, 0)]], dict(strides=[2, 2]), 1
    yield "ConvTransposeWithDynamicPads", [f(1, 2, 5, 5), f(2, 3, 3, 3), [i64(0, 0, 0, 0)]], \
        dict(strides=[2, 2], output_padding=[1, 0]), 1
    yield "ConvTransposeWithDynamicPads", [f(1, 2, 5, 5), f(2, 3, 3, 3), i64(0, 1, 1, 0)], \
        dict(strides=[2, 2], _open=True), 1
    yield "DynamicTimeWarping", [f(4, 6)], {}, 1
    # searches
    one = [i32(9), i32(1), i32(4), i32(2), f(1), f(1)]
    decoder = body(["input_ids"], ["logits"])
    search = dict(decoder=decoder, eos_token_id=0, pad_token_id=0)
    yield "BeamSearch", [words, [one[0]], one[1], [one[2]], [one[3]], one[4]], search, 2
    yield "GreedySearch", [words, [one[0]], one[1]], search, 1
    yield "Sampling", [words, [one[0]], one[1]], search, 1
    yield "WhisperBeamSearch", [f(3, 80, 30), [one[0]], one[1], [one[2]], [one[3]], one[4]], \
        dict(search, encoder=decoder, model_type=2), 2
    yield "WhisperBeamSearch", [f(3, 80, 30), [one[0]], one[1], [one[2]], [one[3]], one[4]], \
        dict(search, encoder=decoder, model_type=2, decoder_output_cross_qk=1, vocab_size=50), 5


# Results whose shape depends on elements.
OPEN = {"Unique", "Tokenizer", "BifurcationDetector", "DynamicTimeWarping"}
# Operators of ONNX Runtime without a case, and why.
NO_CASE = {"EPContext": "results of any shape and type: they are those of a model inside that only its engine reads",
           "Snpe": "the same", "SparseToDenseMatMul": "see check_sparse"}
# What ONNX Runtime says of a model that it cannot run, and what that means.
NOT_RUN = {"Could not find an implementation": "no kernel for the CPU",
           "Failed to find kernel": "no kernel for the CPU with this element type",
           "InsertedPrecisionFreeCast": "no kernel for the CPU with f16",
           "not implemented for CPU": "not implemented for the CPU",
           "past_present_share_buffer_ was false": "the kernel for the CPU wants past and present in one buffer",
           "past_key->DataRaw() == present_key": "the kernel for the CPU wants past and present in one buffer",
           "type inference failed": "no kernel for the CPU, and the type of a result is open",
           "index < data_.size() was false": "ONNX Runtime's inference fails without the operand",
           "subgraph_": "needs a whole decoder inside"}
# Results whose inferred shape in ONNX Runtime is not that of its kernels and documents.
WRONG_THERE = {("BeamSearch", "y1"): "(batch, sequences), inferred as a scalar",
               ("WhisperBeamSearch", "y1"): "(batch, sequences), inferred as a scalar",
               ("WhisperBeamSearch", "y3"): "five axes, inferred as six"}


def model_of(op, operands, attributes, results, symbolic):
    """The model of a case without a word on its results, and its inputs."""
    attributes = dict(attributes)
    domain = {".": "", "!": "ai.onnx.ml"}.get(op[0], MS)
    op = op.lstrip(".!")
    kept = attributes.pop("_results", range(results))
    version = attributes.pop("_opset", 17)
    for ours in ("_open", "_want"):
        attributes.pop(ours, None)
    inputs, infos, constants, data = [], [], [], {}
    for i, x in enumerate(operands):
        if x is None:
            inputs.append("")
            continue
        name = f"x{i}"
        inputs.append(name)
        if isinstance(x, list):
            constants.append(numpy_helper.from_array(np.asarray(x[0]), name))
            continue
        elem = onnx.TensorProto.STRING if x.dtype.kind == "U" else helper.np_dtype_to_tensor_dtype(x.dtype)
        dims = [f"n{i}" if symbolic and k == 0 else d for k, d in enumerate(x.shape)]
        infos.append(helper.make_tensor_value_info(name, elem, dims))
        data[name] = x.astype(object) if x.dtype.kind == "U" else x
    outputs = [f"y{i}" if i in kept else "" for i in range(results)]
    node = helper.make_node(op, inputs, outputs, domain=domain, name="node", **attributes)
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=o) for o in outputs if o], constants)
    opsets = [helper.make_opsetid("", version), helper.make_opsetid(MS, 1), helper.make_opsetid("ai.onnx.ml", 2)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), data


# ---- ONNX Runtime

def session(model):
    options = ort.SessionOptions()
    options.add_session_config_entry("session.strict_shape_type_inference", "1")
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(model, data):
    """name -> (element type, dims) of the arrays; and why there are none."""
    try:
        s = session(model)
        arrays = zip([o.name for o in s.get_outputs()], s.run(None, data))
    except Exception as e:
        return None, str(e).split("\n")[0]
    return {name: ("str" if a.dtype.kind in "OU" else ELEMS[helper.np_dtype_to_tensor_dtype(a.dtype)],
                   [str(d) for d in a.shape]) for name, a in arrays}, ""


def declare(model, result, elem, dims):
    for o in model.graph.output:
        if o.name == result:
            o.CopyFrom(helper.make_tensor_value_info(result, elem, dims))


def complaint(model, result, elem, dims):
    """What ONNX Runtime says when the result is declared so."""
    m = onnx.ModelProto.FromString(model.SerializeToString())
    declare(m, result, elem, dims)
    return run(m, {})[1]


def infers(model, result):
    """(element type, dims) that ONNX Runtime's shape inference has for the result, found by wrong declarations;
    None for what it does not know."""
    expected = {re.search(r"(?<=expected type \(tensor\()\w+|$", complaint(model, result, e, None))[0] for e in (1, 7)}
    name = "".join(expected)
    elem = ELEMS.index(TYPES.get(name, name)) if name else 0
    text = complaint(model, result, elem or 1, [1] * 15)
    said = re.search(r"inferred=(\d+) declared=15", text)
    if said is None:
        return ELEMS[elem] or None, None
    dims = []
    for i in range(int(said[1])):
        wrong = [None] * int(said[1])
        wrong[i] = 987654321
        d = re.search(r"Inferred=(\d+) Declared=987654321", complaint(model, result, elem or 1, wrong))
        dims.append(d[1] if d else None)
    return ELEMS[elem] or None, dims


# ONNX Runtime's names of element types.
TYPES = {"float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "string": "str",
         **{f"{sign}int{bits}": f"{'u' if sign else 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}}


# ---- comparing

def check_names(title, got, named):
    """With names for sizes nothing is claimed that is not so."""
    for name, (elem, dims) in got.items():
        loose = named[name][1]
        if named[name][0] != elem or (loose is not None and dims is not None and (len(loose) != len(dims) or any(
                d.isdigit() and d != e for d, e in zip(loose, dims)))):
            failed.append(f"{title}: '{name}' is {elem} {dims}, inferred {named[name]} with names")


def check_run(title, may_be_open, got, arrays):
    for name, (elem, dims) in arrays.items():
        count["results"] += 1
        open_dims = may_be_open and got[name][1] is not None and len(got[name][1]) == len(dims) and all(
            g in ("?", d) for g, d in zip(got[name][1], dims))
        if got[name][0] != elem or (got[name][1] != dims and not open_dims):
            failed.append(f"{title}: '{name}' is {elem} {dims}, inferred {got[name]}")


def check_documented(title, model, got, want):
    """The types that the operator's document gives, where ONNX Runtime infers less."""
    for o, (elem, dims) in zip(model.graph.output, want):
        count["documented"] += 1
        said, dims = infers(model, o.name), [str(d) for d in dims]
        fits = said[1] is None or len(said[1]) == len(dims) and all(d in (None, m) for d, m in zip(said[1], dims))
        if got[o.name] != (elem, dims) or said[0] not in (None, elem) or not fits:
            failed.append(f"{title}: '{o.name}' must be {elem} {dims}, inferred {got[o.name]}, ONNX Runtime: {said}")


def check_inferred(title, model, got, why):
    known = 0
    for o in model.graph.output:
        o.ClearField("type")
        elem, dims = infers(model, o.name)
        mine = got[o.name]
        op = model.graph.node[0].op_type
        if (op, o.name) in WRONG_THERE:
            wrong_there.add((op, o.name))
            if dims == mine[1]:
                failed.append(f"{title}: ONNX Runtime no longer infers '{o.name}' wrongly: {dims}")
            continue
        fits = dims is None or (mine[1] is not None and len(mine[1]) == len(dims) and all(
            d in (None, m) for d, m in zip(dims, mine[1])))
        known += dims is not None
        if elem not in (None, mine[0]) or not fits:
            failed.append(f"{title}: ONNX Runtime infers {elem} {dims} for '{o.name}', pcc {mine} ({why})")
    count["inferred"] += known
    if known == 0:
        failed.append(f"{title}: ONNX Runtime infers nothing ({why})")


def check_all(tests):
    models = [model_of(*case, symbolic)[0] for case in tests for symbolic in (False, True)]
    found = inferred_all(models)
    for i, case in enumerate(tests):
        op, operands, attributes, results = case
        title = f"{op} {[None if x is None else np.shape(x) for x in operands]} {attributes}"
        (got, log), (named, _) = found[2 * i:2 * i + 2]
        if got is None:
            failed.append(f"{title}: {log.strip()}")
            continue
        check_names(title, got, named)
        model, data = model_of(*case, False)
        arrays, why = run(model, data)
        open_type = re.search(r"output arg \((y\d)\) type inference failed", why)
        if open_type and got[open_type[1]][0] in ELEMS:  # it must be said; arrays of another type are refused
            declare(model, open_type[1], ELEMS.index(got[open_type[1]][0]), None)
            arrays, why = run(model, data)
        if arrays is not None:
            check_run(title, op in OPEN or "_open" in attributes, got, arrays)
            continue
        reason = next((reason for text, reason in NOT_RUN.items() if text in why), None)
        skipped.setdefault(reason, []).append(op)
        if reason is None:
            failed.append(f"{title}: not run: {why}")
        elif "_want" in attributes:
            check_documented(title, model, got, attributes["_want"])
        else:
            check_inferred(title, model, got, why)


def check_sparse():
    """SparseToDenseMatMul: (3, 4), or a square turned round (others ONNX Runtime's inference refuses), times (4, 5)."""
    whole = np.triu(np.arange(1, 17, dtype=np.float32).reshape(4, 4))
    for turned, dense in ((False, whole[:3]), (True, whole)):
        a, b = dense.T if turned else dense, f(4, 5)
        node = helper.make_node("SparseToDenseMatMul", ["a", "b"], ["y"], domain=MS, transA=int(turned))
        graph = helper.make_graph([node], "g", [helper.make_sparse_tensor_value_info("a", 1, a.shape),
                                                helper.make_tensor_value_info("b", 1, b.shape)],
                                  [onnx.ValueInfoProto(name="y")])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        sparse = ort.SparseTensor.sparse_coo_from_numpy(np.array(a.shape, np.int64), a[a != 0],
                                                        np.argwhere(a).astype(np.int64).ravel(),
                                                        ort.OrtDevice.make("cpu", 0))
        feeds = {"a": ort.OrtValue.ort_value_from_sparse_tensor(sparse), "b": ort.OrtValue.ortvalue_from_numpy(b)}
        array = session(model).run_with_ort_values(None, feeds)[0].numpy()
        got = inferred_all([model])[0][0]["y"]
        count["results"] += 1
        if not np.allclose(array, dense @ b) or got != ("f32", [str(d) for d in array.shape]):
            failed.append(f"SparseToDenseMatMul: {array.shape}, inferred {got}")


def check_complete(tests):
    """No operator is forgotten."""
    tested = {case[0].lstrip(".!") for case in tests}
    known = {s.name for s in onnx.defs.get_all_schemas_with_history() if not s.domain}
    there = {s.name for s in get_all_operator_schema() if s.domain == MS or not s.domain and s.name not in known}
    for op in sorted(there - tested - set(NO_CASE)):
        failed.append(f"{op}: no case, and no reason why not")
    for op in sorted(set(NO_CASE) & tested):
        failed.append(f"{op}: a case and a reason why not")


def main():
    tests = [case for case in [*cases(), *more_cases()] if ONLY in case[0]]
    check_all(tests)
    if not ONLY:
        check_complete(tests)
        check_sparse()
        failed.extend(f"{op}: '{name}' is not {why}" for (op, name), why in WRONG_THERE.items()
                      if (op, name) not in wrong_there)
    print(f"{count['results']} results run, {count['inferred']} as ONNX Runtime infers, "
          f"{count['documented']} as documented")
    for reason, ops in skipped.items():
        print(f"not run: {reason}: {' '.join(dict.fromkeys(ops))}")
    for line in failed:
        print("FAILED", line)
    return 1 if failed else 0


sys.exit(main())
