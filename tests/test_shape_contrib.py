"""infer-shapes on operators of com.microsoft (and of ai.onnx.ml): small models of one node each are run by
ONNX Runtime, and what pcc infers must be the types and shapes of its arrays.

The cases are the operators that ONNX Runtime's transformer optimizer and quantizer write, as far as
the CPU has a kernel; the others are named.  Everything is known here, so that pcc must know all but what
depends on the elements (OPEN).  Each model is run twice: with its inputs as they are, and with a name
in place of each size of a first axis, where pcc must not claim a wrong number.
Needs the Python packages onnx, numpy and onnxruntime (else 77)."""
import os
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import helper, numpy_helper
except ImportError:
    print("skipped: the Python packages onnx, numpy and onnxruntime are not installed")
    sys.exit(77)

from shape_text import ELEMS, inferred

ort.set_default_logger_severity(4)
rng = np.random.default_rng(7)
failed, skipped = [], []
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
    yield "ReduceSumInteger", [u(B, S, D)], dict(axes=[1], keepdims=0), 1
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
    yield "Rfft", [f(2, 8)], dict(normalized=0, onesided=1, signal_ndim=1), 1
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


# Results whose shape depends on elements.
OPEN = {"Unique", "Tokenizer"}


def said(name):
    """A result: the fourth one's type is given, as ONNX Runtime cannot infer it."""
    if name != "y3":
        return onnx.ValueInfoProto(name=name)
    return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)


def model_of(op, operands, attributes, results, symbolic):
    attributes = dict(attributes)
    domain = {".": "", "!": "ai.onnx.ml"}.get(op[0], MS)
    op = op.lstrip(".!")
    kept = attributes.pop("_results", range(results))
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
    graph = helper.make_graph([node], "g", infos, [said(o) for o in outputs if o], constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1), helper.make_opsetid("ai.onnx.ml", 2)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), data


def check(op, operands, attributes, results, folder, count):
    model, data = model_of(op, operands, attributes, results, False)
    path = os.path.join(folder, "op.onnx")
    title = f"{op} {[None if x is None else np.shape(x) for x in operands]} {attributes}"
    onnx.save(model, path)
    got, log = inferred(path)
    if got is None:
        failed.append(f"{title}: {log.strip()}")
        return
    try:
        session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        arrays = dict(zip([o.name for o in session.get_outputs()], session.run(None, data)))
    except Exception as e:
        skipped.append(f"{op} ({str(e).split(chr(10))[0][:int(os.environ.get('PCC_WIDTH', 90))]})")
        return
    onnx.save(model_of(op, operands, attributes, results, True)[0], path)
    named, _ = inferred(path)
    for name, array in arrays.items():
        elem = "str" if array.dtype.kind in "OU" else ELEMS[helper.np_dtype_to_tensor_dtype(array.dtype)]
        dims = [str(d) for d in array.shape]
        count["results"] += 1
        open_dims = op in OPEN and got[name][1] is not None and len(got[name][1]) == len(dims) and all(
            g in ("?", d) for g, d in zip(got[name][1], dims))
        if got[name][0] != elem or (got[name][1] != dims and not open_dims):
            failed.append(f"{title}: '{name}' is {elem} {dims}, inferred {got[name]}")
        loose = named[name][1]
        if loose is not None and (len(loose) != len(dims) or any(
                d.isdigit() and d != e for d, e in zip(loose, dims))):
            failed.append(f"{title}: '{name}' is {elem} {dims}, inferred {named[name]} with names")


def main():
    count = {"results": 0}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases():
            if ONLY in case[0]:
                check(*case, folder, count)
    print(f"{count['results']} results; not run: " + "; ".join(skipped))
    if count["results"] < 60 and not ONLY:
        failed.append("too few were run")
    for line in failed:
        print("FAILED", line)
    return 1 if failed else 0


sys.exit(main())
