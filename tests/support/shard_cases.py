"""Small models of one node for test_shard.py, all of whose axes 2 and 4 devices can share, unless a rule is about other
sizes: each operator that shard cuts, in each version of it from opset 7 on."""

import numpy as np
import onnx
from batch_cases import BOOL, FLOAT, INT, MS, Case, Const, ints, w, x

LAST = 23  # the newest opset of the sweep
OLD = 21  # that of operators of which ONNX Runtime has no newer version


def versions(op, first, last):
    """The opsets from first to last in which the operator changed, and the first one."""
    found = {first}
    for opset in range(first, last + 1):
        try:
            found.add(max(first, onnx.defs.get_schema(op, opset).since_version))
        except onnx.defs.SchemaError:
            continue
    return sorted(found)


def each(op, *operands, first=7, last=LAST, **more):
    """A case for each version of an operator."""
    for opset in versions(op, first, last):
        yield Case(op, *operands, opset=opset, **more)


def positive(*shape):
    return x(*shape, values=lambda s: np.random.default_rng(7).uniform(0.5, 2, s))


def integers(*shape, most=200, kind=np.uint8):
    return x(*shape, dtype=kind, most=most)


def elementwise():
    for op, first in (
        [(op, 7) for op in "Abs Acos Asin Atan Ceil Cos Elu Exp Floor HardSigmoid Identity LeakyRelu Log Neg "
         "Reciprocal Relu Selu Sigmoid Sin Softplus Softsign Sqrt Tan Tanh".split()]
        + [(op, 9) for op in "Acosh Asinh Atanh Cosh Erf Sign Sinh Shrink IsNaN".split()]
        + [("IsInf", 10), ("ThresholdedRelu", 10), ("Round", 11), ("Celu", 12), ("HardSwish", 14), ("Mish", 18),
           ("Gelu", 20)]
    ):
        yield from each(op, positive(8, 1, 4), first=first)
    yield from each("Not", x(8, 4, dtype=BOOL))
    yield from each("BitwiseNot", x(8, 4, dtype=INT), first=18)
    yield from each("Clip", x(8, 4), last=10, min=-0.5, max=0.5)
    yield from each("Clip", x(8, 4), Const(-0.5, FLOAT), Const(0.5, FLOAT), first=11)
    yield from each("Cast", x(4, 8), to=onnx.TensorProto.INT32)
    yield from each("CastLike", x(4, 8), Const(1, np.float64), first=15)
    yield from each("Dropout", x(8, 4), last=11)
    yield from each("Dropout", x(8, 4), Const(0.5, FLOAT), Const(False), first=12, outs=2)


def broadcasting():
    pairs = [((8, 4), (8, 4)), ((8, 1, 4), (4, 1)), ((1, 8), (4, 4, 1)), ((8, 4), ()), ((1, 1), (8, 4))]
    for op in "Add Sub Mul Div Pow Max Min Mean Sum".split():
        for a, b in pairs:
            yield from each(op, positive(*a), positive(*b), first=8 if op in ("Max", "Min", "Mean", "Sum") else 7)
        yield from each(op, positive(8, 4), Const(np.full((8, 1), 2), FLOAT), first=8)
    for a, b in pairs[:3]:
        for op, first in (("Equal", 7), ("Greater", 9), ("Less", 9), ("GreaterOrEqual", 12), ("LessOrEqual", 12)):
            yield from each(op, x(*a, dtype=np.int32, most=3), x(*b, dtype=np.int32, most=3), first=first)
        for op in ("And", "Or", "Xor"):
            yield from each(op, x(*a, dtype=BOOL), x(*b, dtype=BOOL))
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            yield from each(op, x(*a, dtype=np.int32, most=9), x(*b, dtype=np.int32, most=9), first=18)
        yield from each("BitShift", x(*a, dtype=np.uint64, most=9), x(*b, dtype=np.uint64, most=3), first=11,
                        direction="LEFT")
        yield from each("Mod", positive(*a), positive(*b), first=10, fmod=1)
        yield from each("Where", x(*a, dtype=BOOL), x(*b), x(), first=9)
    yield from each("PRelu", x(8, 4, 4), w(4, 1))
    yield from each("PRelu", x(8, 4), x(8, 1))


def along():
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for axis in (1, 2):
            yield from each(op, x(4, 8, 4), axis=axis)
        yield from each(op, x(4, 8, 4), first=11, axis=-2)
        yield from each(op, x(4, 8, 4))
    yield from each("LpNormalization", x(4, 8, 4), axis=1)
    yield from each("LayerNormalization", x(4, 8, 16), w(16), w(16), first=17, outs=3)
    yield from each("LayerNormalization", x(4, 8, 16), w(8, 16), first=17, axis=-2)
    yield from each("RMSNormalization", x(4, 8, 16), w(16), first=23)
    yield from each("MeanVarianceNormalization", x(4, 8, 4, 2), first=9)
    yield from each("MeanVarianceNormalization", x(4, 8, 4), first=9, axes=[1, -1])
    for axis in (0, -1):
        yield from each("CumSum", x(8, 4), Const(axis, INT), first=11)
        yield from each("ArgMax", x(8, 4, 8), last=10, axis=axis % 3, keepdims=0)
        yield from each("ArgMin", x(8, 4, 8), first=11, axis=axis)
        yield from each("ArgMax", x(8, 4, 8), first=11, axis=axis, keepdims=0)
    yield from each("ArgMax", x(8, 4, 8), axis=1, keepdims=0)
    yield from each("TopK", x(8, 4), last=9, outs=2, k=2)
    yield from each("TopK", x(8, 4, 8), ints(2), first=10, outs=2, axis=1)
    yield from each("TopK", x(8, 4, 8), ints(4), first=11, outs=2, axis=-1, largest=0)
    yield from each("Trilu", x(4, 8, 4, 4), Const(1, INT), first=14, upper=0)
    for axes in ((0,), (1,), (0, 2), (-1,)):
        for keep in (0, 1):
            for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                       "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"):
                new = 13 if op == "ReduceSum" else 18
                if axes[0] >= 0:
                    yield from each(op, positive(8, 4, 8), last=new - 1, axes=list(axes), keepdims=keep)
                yield from each(op, positive(8, 4, 8), ints(*axes), first=new, keepdims=keep)
    yield from each("ReverseSequence", x(4, 8, 4), Const([1, 2, 3, 4] * 2, INT), first=10)
    yield from each("ReverseSequence", x(8, 4, 4), Const([1, 2, 3, 4] * 2, INT), first=10, batch_axis=0, time_axis=1)


def moves():
    for perm in ([0, 2, 1], [2, 0, 1], None):
        yield from each("Transpose", x(4, 8, 16), **({"perm": perm} if perm else {}))
    for shape, to in (((4, 8, 16), (4, 8, 4, 4)), ((4, 8, 16), (32, 16)), ((4, 8, 16), (0, -1)), ((32, 16), (4, 8, -1)),
                      ((4, 1, 16), (4, 16)), ((4, 8, 16), (-1,)), ((8, 16), (1, 8, 1, 16)), ((4, 8, 16), (4, 128)),
                      ((16, 16), (16, 4, 4)), ((8, 12), (8, 3, 4))):
        yield from each("Reshape", x(*shape), ints(*to))
    for axis in (0, 1, 2, 3):
        yield from each("Flatten", x(4, 8, 16), axis=axis)
    yield from each("Flatten", x(4, 8, 16), first=11, axis=-1)
    yield from each("Squeeze", x(8, 1, 4, 1), last=12, axes=[1, 3])
    yield from each("Squeeze", x(8, 1, 4, 1), ints(1, -1), first=13)
    yield from each("Unsqueeze", x(8, 4), last=12, axes=[0, 2])
    yield from each("Unsqueeze", x(8, 4), ints(0, -1), first=13)
    yield from each("Concat", x(4, 8), x(4, 8), axis=0)
    yield from each("Concat", x(4, 8), x(4, 16), axis=1)
    yield from each("Concat", x(4, 8), w(4, 8), first=11, axis=-1)
    yield from each("Split", x(8, 24), last=12, outs=3, axis=1)
    yield from each("Split", x(8, 24), last=12, outs=2, axis=1, split=[8, 16])
    yield from each("Split", x(8, 24), ints(8, 16), first=13, outs=2, axis=-1)
    yield from each("Split", x(8, 24), first=18, outs=3, axis=1, num_outputs=3)
    far = 2**63 - 1
    for first, last, axis in ((0, 8, 1), (8, far, 1), (8, 16, -1), (-8, far, 1), (-16, -8, 1), (0, far, 0), (3, 11, 1),
                              (-(2**62), 8, 1)):
        yield from each("Slice", x(8, 24), ints(first), ints(last), ints(axis), first=10)
        if axis >= 0:
            yield from each("Slice", x(8, 24), last=9, starts=[first], ends=[last], axes=[axis])
    yield from each("Slice", x(8, 24), ints(0, 8), ints(8, 16), first=10)
    yield from each("Slice", x(8, 24), ints(0), ints(16), ints(1), ints(2), first=10)
    yield from each("Slice", x(8, 24), last=9, starts=[0, 8], ends=[8, 16])
    yield from each("Expand", x(8, 1), ints(8, 4), first=8)
    yield from each("Expand", x(8, 1), ints(4, 1, 4), first=8)
    yield from each("Expand", x(4), ints(8, 1), first=8)
    yield from each("Tile", x(8, 4), ints(1, 3))
    yield from each("Tile", x(8, 1), ints(2, 8))
    for mode in ("constant", "reflect", "edge"):
        yield from each("Pad", x(8, 4, 4), last=10, pads=[0, 0, 1, 0, 0, 2], mode=mode)
        yield from each("Pad", x(8, 4, 4), ints(0, 1, 0, 0, 0, 0), first=11, mode=mode)
    yield from each("Pad", x(8, 4, 4), ints(1, 1), None, ints(-1), first=18)
    yield Case("Pad", x(8, 4, 4), ints(0, 4, 0, 0, 0, 0))  # twice as long: a run of the operand fits the result
    scales = Const([1, 1, 2, 1.5], FLOAT)
    for mode in ("nearest", "linear"):
        yield from each("Upsample", x(4, 8, 4, 4), last=8, scales=[1.0, 1.0, 2.0, 2.0], mode=mode)
        yield Case("Upsample", x(4, 8, 4, 4), scales, opset=9, mode=mode)
        yield Case("Resize", x(4, 8, 4, 4), scales, opset=10, mode=mode)
        yield from each("Resize", x(4, 8, 4, 4), Const([], FLOAT), scales, first=11, mode=mode)
        yield from each("Resize", x(4, 8, 4, 4), Const([], FLOAT), Const([], FLOAT), ints(4, 8, 6, 8), first=11,
                        mode=mode)
    yield from each("Resize", x(4, 8, 4, 4), None, None, ints(6, 8), first=18, axes=[2, -1], mode="cubic")
    yield from each("DepthToSpace", x(4, 32, 2, 2), first=11, blocksize=2)
    yield from each("DepthToSpace", x(4, 32, 2, 2), first=11, blocksize=2, mode="CRD")
    yield from each("SpaceToDepth", x(4, 8, 4, 4), blocksize=2)


def picks():
    ids = {"dtype": INT, "most": 4}
    for axis in (0, 1, 2):
        yield from each("Gather", x(4, 8, 8), x(4, 8, **ids), axis=axis)
        yield from each("GatherElements", x(8, 4, 8), x(8, 4, 8, **ids), first=11, axis=axis)
    yield from each("Gather", w(4, 8), x(8, **ids), first=11, axis=-2)
    yield from each("Gather", x(4, 8), Const(2, INT), axis=0)
    yield from each("GatherElements", x(4, 8), x(8, 8, **ids), first=11, axis=0)
    yield from each("GatherND", x(4, 4, 8), x(8, 4, 2, **ids), first=11)
    yield from each("GatherND", x(8, 4, 8), x(8, 4, 1, **ids), first=12, batch_dims=1)
    yield Case("Scatter", x(8, 4), x(8, 4, dtype=INT, values=lambda s: [[0, 2, 1, 3]] * s[0]), x(8, 4), opset=9, axis=1)
    yield from each("ScatterElements", x(4, 8), x(2, 8, dtype=INT, values=lambda s: [[0] * s[1], [2] * s[1]]), x(2, 8),
                    first=11)
    yield from each("ScatterND", x(4, 8, 4), Const([[0], [2]], INT), x(2, 8, 4), first=11)
    yield from each("ScatterND", x(4, 4, 8), Const([[0, 1], [2, 0]], INT), x(2, 8), first=11)
    yield from each("ScatterND", x(8, 8, 4), Const([[[k] for k in range(8)]], INT), x(1, 8, 8, 4), first=11)
    for axis in (0, 1, -1):
        yield from each("OneHot", x(8, 4, **ids), Const(4, INT), Const([0, 1], FLOAT), first=9, axis=axis)


def products():
    for a, b in (((8, 4), (4, 16)), ((8, 4, 4), (4, 8)), ((4, 8, 4), (4, 4, 8)), ((4, 1, 8, 4), (8, 4, 16)),
                 ((8, 4), (4, 4, 8)), ((1, 8, 4), (8, 4, 4))):
        yield from each("MatMul", x(*a), x(*b))
        yield from each("MatMulInteger", integers(*a), integers(*b), first=10)
        yield Case("FusedMatMul", x(*a), x(*b), domain=MS, alpha=0.5)
    yield from each("MatMul", x(8, 4), w(4, 16))
    for a, b in (((4,), (4, 16)), ((8, 4), (4,)), ((4,), (8, 4, 16)), ((4, 8, 4), (4,))):
        yield from each("MatMul", x(*a), x(*b), last=9)
    for ta in (0, 1):
        for tb in (0, 1):
            a, b = ((4, 8), (8, 4))[ta == 0], ((4, 16), (16, 4))[tb]
            for c in ((16,), (8, 16), (8, 1), (1, 16), (1,), ()):
                yield from each("Gemm", x(*a), x(*b), x(*c), transA=ta, transB=tb, alpha=0.5, beta=2.0)
            yield from each("Gemm", x(*a), x(*b), first=11, transA=ta, transB=tb)
            for sizes in ((a, b), ((8, 8), (8, 8))):
                yield Case("FusedMatMul", *(x(4, *k) for k in sizes), domain=MS, transA=ta, transB=tb)
            yield Case("FusedGemm", x(*a), x(*b), x(16), domain=MS, transA=ta, transB=tb, activation="Relu")
    for equation, shapes in (("bij,bjk->bik", ((4, 8, 4), (4, 4, 8))), ("bi,ij->bj", ((8, 4), (4, 16))),
                             ("ij,bj->ib", ((4, 8), (8, 8))), ("bhid, bhjd -> bhij", ((4, 4, 8, 4), (4, 4, 4, 4))),
                             ("bi,bi->b", ((8, 4), (8, 4))), ("ibj->jbi", ((4, 8, 8),)),
                             ("bi,bj->bij", ((8, 4), (1, 8)))):
        yield from each("Einsum", *(x(*s) for s in shapes), first=12, equation=equation)
    one, zero = Const(0.1, FLOAT), Const(3, np.uint8)
    for az, bz in ((zero, zero), (zero, Const(np.arange(8), np.uint8))):
        yield from each("MatMulInteger", integers(4, 4), integers(4, 8), az, bz, first=10)
    yield from each("QLinearMatMul", integers(8, 4), one, zero, integers(4, 16), one, zero, one, zero, first=10)
    yield from each("QLinearMatMul", integers(8, 4), one, zero, integers(4, 8), Const(np.arange(1, 9) / 10, FLOAT),
                    Const(np.arange(8), np.uint8), one, zero, first=10)
    yield Case("DynamicQuantizeMatMul", x(8, 4), Const(np.arange(64).reshape(4, 16), np.uint8), one, zero, w(16),
               domain=MS)
    yield Case("MatMulIntegerToFloat", integers(8, 4), Const(np.arange(64).reshape(4, 16), np.uint8), one,
               Const(np.arange(1, 17) / 10, FLOAT), zero, Const(np.arange(16), np.uint8), w(16), domain=MS)
    packed = Const(np.arange(8 * 2 * 16).reshape(8, 2, 16), np.uint8)
    yield Case("MatMulNBits", x(4, 8, 64), packed, w(16), domain=MS, K=64, N=8, bits=4, block_size=32)
    yield Case("MatMulNBits", x(8, 64), packed, w(16), Const(np.arange(8), np.uint8), None, w(8), domain=MS, K=64, N=8,
               bits=4, block_size=32)
    yield Case("QGemm", integers(8, 4), one, zero, Const(np.arange(64).reshape(4, 16), np.uint8), one, zero,
               Const(np.arange(16), np.int32), one, zero, domain=MS)


def vision():
    for group, c, m in ((1, 4, 8), (1, 8, 8), (4, 8, 16), (4, 16, 8), (8, 8, 8), (2, 8, 8)):
        yield from each("Conv", x(4, c, 6, 6), w(m, c // group, 3, 3), w(m), group=group, pads=[1, 1, 1, 1])
        yield from each("ConvTranspose", x(4, c, 4, 4), w(c, m // group, 3, 3), w(m), group=group, strides=[2, 2])
        yield from each("ConvTranspose", x(4, c, 4), w(c, m // group, 3), group=group)
        yield Case("FusedConv", x(4, c, 6, 6), w(m, c // group, 3, 3), w(m), x(4, m, 4, 4), domain=MS, group=group,
                   activation="Relu")
    u8 = Const(np.arange(8 * 4 * 9).reshape(8, 4, 3, 3) % 7, np.uint8)
    one, zero = Const(0.1, FLOAT), Const(3, np.uint8)
    yield from each("ConvInteger", integers(4, 4, 5, 5), u8, zero, first=10)
    yield from each("QLinearConv", integers(4, 4, 5, 5), one, zero, u8, one, zero, one, zero, first=10)
    yield from each("QLinearConv", integers(4, 4, 5, 5), one, zero, u8, Const(np.arange(1, 9) / 10, FLOAT),
                    Const([0] * 8, np.uint8), one, zero, Const(np.arange(8), np.int32), first=10)
    for op in ("AveragePool", "MaxPool", "LpPool"):
        yield from each(op, x(4, 8, 6, 6), kernel_shape=[2, 2], strides=[2, 2])
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        yield from each(op, x(4, 8, 6, 6))
    yield from each("GlobalLpPool", x(4, 8, 6, 6), last=OLD)
    stats = (w(8), w(8), w(8), Const(np.arange(1, 9), FLOAT))
    yield from each("BatchNormalization", x(4, 8, 4), *stats)
    yield from each("InstanceNormalization", x(4, 8, 4, 4), w(8), w(8))
    yield Case("GroupNormalization", x(4, 16, 5), w(4), w(4), opset=18, num_groups=4)
    for groups in (2, 4):
        yield from each("GroupNormalization", x(4, 16, 5), w(16), w(16), first=21, num_groups=groups)
    yield from each("LRN", x(4, 8, 4, 4), size=3)
    yield from each("GridSample", x(4, 8, 4, 4), x(4, 8, 4, 2), first=16)
    yield from each("RoiAlign", x(4, 8, 6, 6), Const(np.tile([0, 0, 4, 4], (8, 1)), FLOAT), ints(*[0, 1] * 4), first=10,
                    last=OLD, output_height=2, output_width=2)
    yield from each("MaxRoiPool", x(4, 8, 6, 6), Const(np.tile([0, 0, 0, 4, 4], (8, 1)), FLOAT), last=OLD,
                    pooled_shape=[2, 2])
    yield from each("Col2Im", x(4, 5, 5), ints(5, 5), ints(1, 5), first=18)


def quantised():
    one, zero = Const(0.1, FLOAT), Const(3, np.uint8)
    many, zeros = Const(np.arange(1, 9) / 10, FLOAT), Const(np.arange(8), np.uint8)
    for op, data in (("QuantizeLinear", x(4, 8, 4)), ("DequantizeLinear", integers(4, 8, 4))):
        yield from each(op, data, one, zero, first=10)
        yield from each(op, data, many, zeros, first=13, axis=1)
        yield from each(op, data, many, zeros, first=13, axis=-2)
        yield from each(op, data, Const(np.ones((4, 2, 4)) / 10, FLOAT), Const(np.ones((4, 2, 4)), np.uint8), first=21,
                        axis=1, block_size=4)
    for op in ("QLinearAdd", "QLinearMul"):
        yield Case(op, integers(8, 4), one, zero, integers(8, 1), one, zero, one, zero, domain=MS)
        yield Case(op, integers(8, 4), one, zero, Const(np.arange(4), np.uint8), one, zero, one, zero, domain=MS)
    for op in ("QLinearSigmoid", "QLinearLeakyRelu"):
        yield Case(op, integers(8, 4), one, zero, one, zero, domain=MS)
    yield Case("QLinearAveragePool", integers(4, 8, 4, 4), one, zero, one, zero, kernel_shape=[2, 2], domain=MS)
    yield Case("QLinearAveragePool", integers(4, 4, 4, 8), one, zero, one, zero, kernel_shape=[2, 2], domain=MS,
               channels_last=1)
    yield Case("QLinearGlobalAveragePool", integers(4, 8, 4, 4), one, zero, one, zero, domain=MS)
    yield Case("QLinearConcat", one, zero, integers(4, 8), one, zero, integers(4, 16), one, zero, axis=1, domain=MS)


def sequences():
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        outs = 3 if op == "LSTM" else 2
        weights = (w(1, 2 * gates, 3), w(1, 2 * gates, 2), w(1, 4 * gates))
        more = (Const([1, 2, 3, 4] * 2, np.int32), x(1, 8, 2))
        yield from each(op, x(5, 8, 3), *weights, *more, outs=outs, hidden_size=2)


def attention():
    heads = {"q_num_heads": 8, "kv_num_heads": 4}
    grouped = (x(4, 4, 64), x(4, 8, 32), x(4, 8, 32))
    for mask in (None, w(4, 8), w(8, 4, 8), w(1, 8, 4, 8), w(4, 1, 4, 8)):
        yield from each("Attention", *grouped, mask, first=23, **heads)
    yield from each("Attention", x(4, 4, 64), x(4, 8, 8), x(4, 8, 8), first=23, q_num_heads=8, kv_num_heads=1)
    yield from each("Attention", x(4, 8, 4, 8), x(4, 4, 8, 8), x(4, 4, 8, 8), None, x(4, 4, 3, 8), x(4, 4, 3, 8),
                    first=23, outs=3, is_causal=1)
    yield from each("RotaryEmbedding", x(4, 8, 5, 8), w(9, 4), w(9, 4), x(4, 5, dtype=INT, most=9), first=23)
    yield from each("RotaryEmbedding", x(4, 5, 64), w(4, 5, 4), w(4, 5, 4), first=23, num_heads=8)
    ms = {"domain": MS}
    qkv = (x(4, 5, 64), x(4, 7, 64), x(4, 7, 64))
    yield Case("MultiHeadAttention", *qkv, num_heads=8, **ms)
    yield Case("MultiHeadAttention", *qkv, w(192), Const([7, 6, 5, 4], np.int32), num_heads=8, **ms)
    yield Case("MultiHeadAttention", *qkv, None, None, w(1, 8, 5, 7), num_heads=8, **ms)
    yield Case("MultiHeadAttention", *qkv, None, None, w(4, 1, 5, 7), num_heads=8, **ms)
    yield Case("MultiHeadAttention", *qkv, None, None, None, x(4, 8, 3, 8), x(4, 8, 3, 8), outs=3, num_heads=8, **ms)
    yield Case("Attention", x(4, 5, 16), w(16, 192), w(192), num_heads=8, **ms)
    yield Case("Attention", x(4, 5, 16), w(16, 192), w(192), Const([5, 4, 3, 2], np.int32), num_heads=8, **ms)
    yield Case("Attention", x(8, 5, 16), w(16, 192), w(192), None, x(2, 8, 8, 3, 8), outs=2, num_heads=8, **ms)
    yield Case("Attention", x(4, 5, 16), w(16, 192), w(192), None, None, w(1, 8, 5, 5), num_heads=8, **ms)
    past = (x(4, 4, 8, 8), x(4, 4, 8, 8))
    yield Case("GroupQueryAttention", x(4, 1, 64), x(4, 1, 32), x(4, 1, 32), *past, Const([5] * 4, np.int32),
               Const([6], np.int32), outs=3, num_heads=8, kv_num_heads=4, **ms)
    past = (x(4, 4, 8, 16), x(4, 4, 8, 16))
    yield Case("GroupQueryAttention", x(4, 1, 128), x(4, 1, 64), x(4, 1, 64), *past, Const([5] * 4, np.int32),
               Const([6], np.int32), w(16, 8), w(16, 8), outs=3, num_heads=8, kv_num_heads=4, do_rotary=1, **ms)
    yield Case("QAttention", integers(4, 5, 16), Const(np.arange(16 * 192).reshape(16, 192) % 99, np.uint8), w(192),
               Const(0.1, FLOAT), Const(0.1, FLOAT), None, Const(3, np.uint8), Const(3, np.uint8), num_heads=8, **ms)
    yield Case("RotaryEmbedding", x(4, 5, 64), x(4, 5, dtype=INT, most=9), w(9, 4), w(9, 4), num_heads=8, **ms)
    yield Case("RotaryEmbedding", x(4, 8, 5, 8), ints(3), w(9, 4), w(9, 4), **ms)
    yield Case("RotaryEmbedding", x(4, 5, 64), ints(3), w(9, 4), w(9, 4), **ms)


def fused():
    ms = {"domain": MS}
    yield Case("BiasGelu", x(4, 8), w(8), **ms)
    yield Case("FastGelu", x(4, 8), w(8), **ms)
    yield Case("FastGelu", x(4, 8), **ms)
    yield Case("Gelu", x(4, 8), **ms)
    yield Case("QuickGelu", x(4, 8), **ms)
    for op in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"):
        more = (w(16),) if op == "SkipLayerNormalization" else ()
        yield Case(op, x(4, 8, 16), x(4, 8, 16), w(16), *more, w(16, seed=4), outs=4, used=[0, 3], **ms)
        yield Case(op, x(4, 8, 16), w(1, 8, 16), w(16), *more, **ms)
        yield Case(op, x(4, 8, 16), w(8, 16), w(16), *more, **ms)
    yield Case("SimplifiedLayerNormalization", x(4, 8, 16), w(16))
    ids = {"dtype": np.int32, "most": 4}
    tables = (w(4, 8), w(6, 8), w(4, 8, seed=9), w(8), w(8))
    yield Case("EmbedLayerNormalization", x(4, 5, **ids), x(4, 5, **ids), *tables, Const(np.ones((4, 5)), np.int32),
               outs=2, **ms)
    yield Case("NhwcMaxPool", integers(4, 4, 4, 8), kernel_shape=[2, 2], **ms)


def all_cases():
    for group in (elementwise, broadcasting, along, moves, picks, products, vision, quantised, sequences, attention,
                  fused):
        yield from group()
