"""Small models for test_split_batch.py: one operator (or some around it) whose operands have the batch, "b", at some
axis, and whether split-batch takes it."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT, BOOL = np.float32, np.int64, np.bool_
MS, ML = "com.microsoft", "ai.onnx.ml"


class In:
    """An input of the model: its shape ("b": the batch, other names: sizes of callers), its type, and its values:
    random ones up to `most`, or what `values(shape)` gives."""

    def __init__(self, *shape, dtype=FLOAT, most=2, values=None):
        self.shape, self.dtype, self.most, self.values = shape, np.dtype(dtype), most, values

    def draw(self, sizes, rng):
        shape = [d if isinstance(d, int) else sizes[d] for d in self.shape]
        if self.values is not None:
            return np.asarray(self.values(shape), self.dtype)
        if self.dtype.kind == "f":
            return rng.standard_normal(shape).astype(self.dtype)
        if self.dtype.kind == "b":
            return rng.integers(0, 2, shape).astype(bool)
        return rng.integers(0, self.most, shape).astype(self.dtype)


class Const:
    """An initializer."""

    def __init__(self, array, dtype=None):
        self.array = np.asarray(array, dtype)


def w(*shape, seed=1):
    return Const(np.random.default_rng(seed + 7 * len(shape)).standard_normal(shape).astype(np.float32))


def ints(*values):
    return Const(values, INT)


def x(*shape, **more):
    return In(*shape, **more)


class Case:
    """A model of one node, or those that `nodes` makes.  good: it is taken; else a pattern of the reason.  static:
    sizes of the batch are numbers in the file.  sizes: of the batch; ways: those to try.  run: ONNX Runtime can run
    it, or "onnx": only the reference of the onnx package can."""

    def __init__(
        self,
        op,
        *operands,
        good=True,
        opset=20,
        domain="",
        outs=1,
        used=None,
        static=False,
        nodes=None,
        also="",
        sizes=(4, 8),
        ways=(2, 4),
        run=True,
        more=None,
        **attrs,
    ):
        self.op, self.operands, self.good, self.opset, self.domain = op, operands, good, opset, domain
        self.outs, self.used, self.static, self.nodes, self.also = outs, used, static, nodes, also
        self.sizes, self.ways, self.run, self.attrs = (4,) if static else sizes, ways, run, {**attrs, **(more or {})}

    def __str__(self):
        shapes = [getattr(o, "shape", None) or (o.array.shape if isinstance(o, Const) else "-") for o in self.operands]
        return f"{self.op} opset {self.opset} {shapes} {self.attrs} {'static ' if self.static else ''}{self.also}"

    def model(self, batch):
        graph = onnx.GraphProto(name="g")
        names = []
        for i, o in enumerate(self.operands):
            names.append("" if o is None else f"x{i}")
            if isinstance(o, Const):
                graph.initializer.append(numpy_helper.from_array(o.array, f"x{i}"))
            elif o is not None:
                shape = [batch if d == "b" and self.static else d for d in o.shape]
                kind = helper.np_dtype_to_tensor_dtype(o.dtype)
                graph.input.append(helper.make_tensor_value_info(f"x{i}", kind, shape))
        used = self.used if self.used is not None else range(self.outs)
        if self.nodes is not None:
            made = self.nodes(names)
            graph.node.extend(made)
        else:
            outs = [f"y{k}" if k in used else "" for k in range(self.outs)]
            graph.node.append(helper.make_node(self.op, names, outs, name="node", domain=self.domain, **self.attrs))
        for k in used:
            graph.output.add(name=f"y{k}")
        imports = [helper.make_opsetid("", self.opset), helper.make_opsetid(MS, 1), helper.make_opsetid(ML, 3)]
        m = helper.make_model(graph, opset_imports=imports)
        m.ir_version = 10
        return m

    def inputs(self, sizes, rng):
        return {f"x{i}": o.draw(sizes, rng) for i, o in enumerate(self.operands) if isinstance(o, In)}


def chain(*steps):
    """Nodes from (operator, operands, result or results, attributes): the one called "node" is the last."""

    def make(_):
        made = []
        for k, (op, operands, result, attrs) in enumerate(steps):
            result = [result] if isinstance(result, str) else result
            made.append(
                helper.make_node(op, operands, result, name="node" if k == len(steps) - 1 else f"n{k}", **attrs)
            )
        return made

    return make


def elementwise():
    for op in (
        "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish Identity "
        "LeakyRelu Log Mish Neg Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan "
        "Tanh ThresholdedRelu Gelu IsNaN IsInf"
    ).split():
        yield Case(op, x("b", 3))
    yield Case("Swish", x("b", 3), opset=24)
    yield Case("BitCast", x("b", 3), opset=26, run="onnx", to=TensorProto.INT32)
    yield Case("Clip", x(2, "b"), w(), w(seed=5))
    yield Case("Not", x("b", 3, dtype=BOOL))
    yield Case("BitwiseNot", x("b", 3, dtype=INT))
    yield Case("Cast", x("b", 3), to=TensorProto.INT32)
    yield Case("CastLike", x("b", 3), Const(1, np.float64))
    yield Case("CastLike", x("b", 3), x("b", dtype=np.int32))
    yield Case("Dropout", x("b", 3), outs=2)
    yield Case("Dropout", x("b", 3), w(), Const(False))
    yield Case("Dropout", x("b", 3), opset=10)
    yield Case("Dropout", x("b", 3), Const(0.5, FLOAT), Const(True), good="random")
    yield Case("Dropout", x("b", 3), Const(0.5, FLOAT), x(dtype=BOOL), good="random")


def broadcasting():
    for op in "Add Sub Mul Div Max Min Mean Sum Pow Mod".split():
        more = {"fmod": 1} if op == "Mod" else {}
        yield Case(op, x("b", 3), x("b", 3), **more)
        yield Case(op, x("b", 2, 3), w(3), **more)
        yield Case(op, x(2, "b", 1), x("b", 3), **more)
        yield Case(op, w(1, 3), x("b", 1), **more)
        yield Case(op, x("b", 3), x("b"), good="different axes", **more)
    for op in "Equal Greater GreaterOrEqual Less LessOrEqual BitShift BitwiseAnd BitwiseOr BitwiseXor".split():
        kind = np.uint64 if op == "BitShift" else np.int32
        more = {"direction": "LEFT"} if op == "BitShift" else {}
        yield Case(op, x("b", 3, dtype=kind), x("b", 3, dtype=kind), **more)
        yield Case(op, Const([1, 0, 2], kind), x("b", 3, dtype=kind), **more)
    for op in "And Or Xor".split():
        yield Case(op, x("b", 3, dtype=BOOL), x("b", 1, dtype=BOOL))
    yield Case("Where", x("b", 1, dtype=BOOL), w(3), x("b", 3))
    yield Case("Where", x("b", dtype=BOOL), x(3, "b"), Const(0, FLOAT))
    yield Case("PRelu", x("b", 3, 2), w(3, 1))
    yield Case("PRelu", x("b", 3, 2), x("b", 1, 1))
    yield Case("Add", x("b", 3), w(4, 3), static=True)  # a constant with a row for each sample
    yield Case("Add", x("b", 3), w(3, 3), static=True, good="no size at axis")
    yield Case(
        "Add",
        x("b", 3),
        w(4, 3),
        static=True,
        also="of a computed constant",
        nodes=chain(("Neg", ["x1"], "n", {}), ("Add", ["x0", "n"], "y0", {})),
    )
    yield Case(
        "Add",
        x("b", 3),
        x(8, 3),
        sizes=(8,),
        also="of another input's rows",
        nodes=chain(("Neg", ["x1"], "n", {}), ("Add", ["x0", "n"], "y0", {})),
    )
    yield Case(
        "Add",
        x("b", 3),
        w(8, 3),
        sizes=(8,),
        opset=9,
        also="of a computed constant, opset 9",
        nodes=chain(("Neg", ["x1"], "n", {}), ("Add", ["x0", "n"], "y0", {})),
    )
    yield Case("Add", x("b", 3), x("n", 3), good="no size at axis")
    yield Case("Add", x("b", 3), x("n"))
    yield Case("Sum", x("b", 3), w(3), x("b", 1))


def along():
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for opset in (11, 13):
            yield Case(op, x("b", 3, 4), opset=opset, axis=2)
            yield Case(op, x(3, "b", 4), opset=opset, axis=-1)
            yield Case(op, x(3, "b", 4), opset=opset, axis=1, good="along the axis")
            yield Case(op, x("b", 3), opset=opset)
        yield Case(op, x(3, 4, "b"), opset=13, axis=1)
        yield Case(op, x(3, 4, "b"), opset=11, axis=1, good="along the axis")
        yield Case(op, x(3, "b"), opset=13, good="along the axis")
    yield Case("LpNormalization", x("b", 3))
    yield Case("LpNormalization", x(3, "b"), axis=0)
    yield Case("LpNormalization", x("b", 3), axis=0, good="along the axis")
    yield Case("LayerNormalization", x("b", 3, 4), w(4), w(4), outs=3)
    yield Case("LayerNormalization", x(3, "b", 4), w(4))
    yield Case("LayerNormalization", x("b", 3, 4), w(3, 4), axis=1)
    yield Case("LayerNormalization", x(3, "b", 4), w(4), axis=1, good="along the axis")
    yield Case("LayerNormalization", x("b", 4), w(2, 4), good="has the axis of the batch")
    yield Case("RMSNormalization", x("b", 3, 4), w(4), opset=23)
    yield Case("RMSNormalization", x("b", 3, 4), w(3, 4), opset=23, axis=0, good="has the axis|along the axis")
    yield Case("SimplifiedLayerNormalization", x("b", 3, 4), w(4))
    yield Case("SimplifiedLayerNormalization", x(3, "b"), x("b"), good="has the axis|along the axis")
    yield Case("MeanVarianceNormalization", x("b", 3, 4), axes=[1, 2])
    yield Case("MeanVarianceNormalization", x("b", 3, 4, 2), good="along the axis")
    for op in ("CumSum", "CumProd"):
        opset = 20 if op == "CumSum" else 26
        more = {} if op == "CumSum" else {"run": "onnx"}
        yield Case(op, x("b", 3), Const(1, INT), opset=opset, **more)
        yield Case(op, x(3, "b"), Const(0, INT), opset=opset, reverse=1, **more)
        yield Case(op, x(3, "b"), Const(-1, INT), opset=opset, good="along the axis")
        yield Case(op, x(3, "b"), x(dtype=INT), opset=opset, good="not known")
    yield Case("TopK", x("b", 5), ints(2), outs=2)
    yield Case("TopK", x(5, "b"), ints(2), outs=2, axis=0)
    yield Case("TopK", x("b", 5), ints(2), outs=2, axis=0, good="along the axis")
    for op in ("ArgMax", "ArgMin"):
        yield Case(op, x("b", 3), axis=1)
        yield Case(op, x(3, "b"), axis=0, keepdims=0)
        yield Case(op, x(3, "b", 2), axis=-1, keepdims=0)
        yield Case(op, x("b", 3), good="along the axis")
    yield Case("CenterCropPad", x("b", 3, 4), ints(5, 2), axes=[1, 2])
    yield Case("CenterCropPad", x("b", 3), ints(2, 2), axes=[0, 1], good="along the axis")
    yield Case("CenterCropPad", x("b", 3), ints(2, 2), good="not known")
    yield Case("Trilu", x("b", 3, 3))
    yield Case("Trilu", x(2, "b", 3, 3), Const(1, INT), upper=0)
    yield Case("Trilu", x(3, "b", 3), good="along the axis")
    yield Case("Det", x("b", 3, 3))
    yield Case("Det", x(2, 3, "b"), good="along the axis")
    yield Case("DFT", x("b", 4, 1), opset=17, axis=1)
    yield Case("DFT", x(4, "b", 1), None, Const(0, INT))
    yield Case("DFT", x("b", 4, 1), None, Const(0, INT), good="along the axis")
    yield Case("ReverseSequence", x(5, "b", 2), x("b", dtype=INT, values=lambda s: np.arange(s[0]) % 5 + 1))
    yield Case(
        "ReverseSequence",
        x("b", 5),
        x("b", dtype=INT, values=lambda s: np.arange(s[0]) % 5 + 1),
        batch_axis=0,
        time_axis=1,
    )
    yield Case("ReverseSequence", x(5, 2, "b"), ints(3, 5))
    yield Case("ReverseSequence", x("b", 3), ints(3, 2, 4), good="along the axis")


def reductions():
    for op in (
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
        "ReduceSumSquare"
    ).split():
        values = {"values": lambda s: np.random.default_rng(3).uniform(0.5, 2, s)}
        yield Case(op, x("b", 3, 4, **values), ints(1, 2), opset=18)
        yield Case(op, x(3, "b", 4, **values), ints(0, -1), opset=18, keepdims=0)
        yield Case(op, x(3, 4, "b", **values), ints(1), opset=18, keepdims=0)
        yield Case(op, x("b", 3, **values), ints(-2), opset=18, good="reduces the axis")
        yield Case(op, x("b", 3, **values), opset=18, good="reduces all")
        yield Case(op, x("b", 3, **values), opset=18, noop_with_empty_axes=1)
        yield Case(op, x("b", 3, **values), x(1, dtype=INT), opset=18, good="not known")
        yield Case(op, x(3, "b", **values), opset=11, axes=[0], keepdims=0)
        yield Case(op, x(3, "b", **values), opset=11, axes=[1], good="reduces the axis")


def moves():
    for perm, good in (([0, 2, 1], True), ([2, 1, 0], True), ([1, 2, 0], True)):
        for shape in (("b", 3, 4), (3, "b", 4), (3, 4, "b")):
            yield Case("Transpose", x(*shape), perm=perm, good=good)
    yield Case("Transpose", x("b", 3, 4))
    for shape, target, good in [
        (("b", 3, 4), [0, -1], True),
        (("b", 3, 4), [-1, 12], True),
        (("b", 3, 4), [-1, 4], True),
        (("b", 3, 4), [0, 4, 3], True),
        (("b", 6), [-1, 2, 3], True),
        (("b", 6), [-1, 4], "divides"),
        ((3, "b", 4), [3, -1], True),
        ((3, "b", 4), [-1, 4], "axis of the batch"),
        ((3, "b", 4), [3, -1, 2], True),
        ((3, "b", 4), [0, 0, 2, 2], True),
        ((1, "b", 4), [-1, 4], True),
        (("b", 4), [1, -1, 4], True),
        (("b", 4), [-1], True),
        ((4, "b"), [-1], "axis of the batch"),
        (("b", 4, 2), [4, -1], True),
        (("b", 4, 2), [3, -1, 4], "axis of the batch|merges"),
        (("b", "s", 4), [0, -1, 2, 2], True),
        (("b", "s", 4), [-1, 4], True),
        (("s", "b", 4), [-1, 4], "axis of the batch"),
        (("s", "b", 4), [0, -1, 2], True),
        (("b", "s", 4), [-1, 2], True),
    ]:
        yield Case("Reshape", x(*shape), ints(*target), good=good)
    yield Case("Reshape", x("b", 3, 4), x(2, dtype=INT), good="not known")
    yield Case("Reshape", x("b", 4, 2), ints(2, -1, 4), ways=(2,), also="blocks of samples")
    for shape, target, good in [
        ((4, 6), [4, 2, 3], True),
        ((4, 6), [8, 3], True),
        ((4, 6), [2, 12], True),
        ((4, 6), [1, 4, 6], True),
        ((4, 6), [6, 4], True),
        ((4, 6), [3, 8], "axis of the batch"),
        ((4, 6), [1, 1, 24], True),
        ((4, 6), [0, 6], True),
        ((4, 6), [-1], True),
    ]:
        ways = (2, 4) if good is not True or target[0] not in (2, 6) else (2,)
        yield Case("Reshape", In("b", *shape[1:]), ints(*target), good=good, static=True, ways=ways)
    yield Case("Flatten", x("b", 3, 4))
    yield Case("Flatten", x("b", 3, 4), axis=2)
    yield Case("Flatten", x("b", 3, 4), axis=0)
    yield Case("Flatten", x(1, "b", 4), axis=-1)
    yield Case("Flatten", x(3, "b", 4), axis=1)
    yield Case("Flatten", x(3, "b", 4), axis=2, good="merges")
    yield Case("Flatten", x(3, "b"), axis=0, good="merges")
    for opset in (11, 13):

        def axes(*a, opset=opset):
            return ((), {"axes": list(a)}) if opset < 13 else ((ints(*a),), {})

        for op, shape, a, good in [
            ("Squeeze", ("b", 1, 3, 1), (1, -1), True),
            ("Squeeze", (1, 3, "b", 1), (0,), True),
            ("Squeeze", (1, "b"), (1,), "drops the axis"),
            ("Unsqueeze", ("b", 3), (0, 2), True),
            ("Unsqueeze", (3, "b"), (1, -1), True),
            ("Unsqueeze", (3, "b"), (0, 1, 3), True),
        ]:
            extra, attrs = axes(*a)
            yield Case(op, x(*shape), *extra, opset=opset, good=good, **attrs)
    yield Case("Squeeze", x("b", 1, 3), good="list its axes")
    yield Case("Concat", x("b", 3), x("b", 2), axis=1)
    yield Case("Concat", x(3, "b"), x(2, "b"), axis=-2)
    yield Case("Concat", x("b", 3), x("b", 3), axis=0, good="joins along")
    yield Case("Concat", x("b", 3), w(4, 2), axis=1, static=True)
    yield Case("Concat", x("b", 3), w(1, 2), axis=1, good="no size at axis", static=True)
    yield Case("Concat", x("b", 3, 3), x(3, "b", 3), axis=2, good="different axes")
    yield Case("Split", x("b", 6), outs=3, axis=1, num_outputs=3)
    yield Case("Split", x("b", 6), ints(2, 4), outs=2, axis=-1)
    yield Case("Split", x(6, "b"), outs=2, opset=11, split=[2, 4])
    yield Case("Split", x("b", 6), outs=2, good="splits the axis", num_outputs=2)
    for starts, ends, taxes, good in [
        ((1,), (2,), (1,), True),
        ((0,), (2**63 - 1,), (0,), True),
        ((0, -2), (2**31 - 1, 9), (0, 1), True),
        ((1,), (2**63 - 1,), (0,), "picks samples"),
        ((0,), (2,), (-2,), "picks samples"),
    ]:
        yield Case("Slice", x("b", 4), ints(*starts), ints(*ends), ints(*taxes), good=good)
    yield Case("Slice", x("b", 4), ints(3), ints(0), ints(1), ints(-1))
    yield Case("Slice", x("b", 4), ints(-1), ints(-9), ints(0), ints(-1), good="picks samples")
    yield Case("Slice", x("b", 4), x(1, dtype=INT), x(1, dtype=INT, values=lambda s: [3]), ints(1))
    yield Case("Slice", x("b", 4), ints(0), ints(1), x(1, dtype=INT), good="not known")
    yield Case("Slice", x(4, "b"), opset=9, starts=[1], ends=[3])
    yield Case("Slice", x("b", 4), opset=9, starts=[1], ends=[3], good="picks samples")
    yield Case("Slice", x("b", 4), opset=9, starts=[1], ends=[3], axes=[1])
    yield from indices()
    yield from sizes_of_results()


def indices():
    ids = {"dtype": INT, "most": 3}
    yield Case("Gather", w(3, 5), x("b", 2, **ids))
    yield Case("Gather", w(5, 3), x(2, "b", **ids), axis=1)
    yield Case("Gather", x("b", 3, 4), ints(0, 2), axis=1)
    yield Case("Gather", x("b", 3, 4), Const(2, INT), axis=1)
    yield Case("Gather", x(3, 4, "b"), Const([[0, 2], [1, 1]], INT), axis=1)
    yield Case("Gather", x(3, "b"), x(2, 2, **ids))
    yield Case("Gather", x("b", 3), ints(0, 1), good="picks samples")
    yield Case("Gather", x("b", 3), x("b", **ids), axis=1, good="depends on the batch")
    yield Case("GatherElements", x("b", 3), x("b", 3, **ids), axis=1)
    yield Case("GatherElements", x(3, "b"), x(3, "b", **ids))
    yield Case("GatherElements", w(3, 2), x("b", 2, **ids))
    yield Case("GatherElements", x("b", 3), x("b", 3, **ids), good="picks samples")
    yield Case("GatherElements", x("b", 3), Const([[0, 1]], INT), axis=1, good="does not depend")
    yield Case("GatherND", w(3, 3, 2), x("b", 2, **ids))
    yield Case("GatherND", x("b", 3, 2), x("b", 4, 1, **ids), batch_dims=1)
    yield Case("GatherND", x(3, 3, "b"), Const([[0, 1], [2, 2], [1, 0]], INT))
    yield Case("GatherND", x(3, "b", 2), Const([[0], [2]], INT))
    yield Case("GatherND", x("b", 3), Const([[0], [1]], INT), good="picks samples")
    yield Case("GatherND", w(3, 3), x(2, "b", **ids), good="components|not known")
    for op, opset in (("ScatterElements", 18), ("Scatter", 9)):
        yield Case(
            op, x("b", 3), x("b", 2, dtype=INT, values=lambda s: [[0, 2]] * s[0]), x("b", 2), opset=opset, axis=1
        )
        yield Case(
            op,
            x("b", 3),
            x("b", 3, dtype=INT, values=lambda s: np.arange(s[0])[:, None].repeat(3, 1)),
            x("b", 3),
            opset=opset,
            good="moves samples",
        )
    yield Case("ScatterElements", x(3, "b"), x(2, "b", dtype=INT, values=lambda s: [[0] * s[1], [2] * s[1]]), x(2, "b"))
    yield Case("ScatterND", x(3, "b"), Const([[0], [2]], INT), x(2, "b"))
    yield Case("ScatterND", x(3, 3, "b", 2), Const([[0, 1], [2, 0]], INT), x(2, "b", 2))
    yield Case("ScatterND", x("b", 3), Const([[0], [2]], INT), w(2, 3), good="picks samples|does not depend")
    yield Case("OneHot", x("b", 2, **ids), Const(3, INT), Const([0, 1], FLOAT))
    yield Case("OneHot", x(2, "b", **ids), Const(3, INT), Const([0, 1], FLOAT), axis=1)
    yield Case("OneHot", x(2, "b", **ids), Const(3, INT), Const([0, 1], FLOAT), axis=0)
    number = [
        ("Shape", ["x0"], "s", {"start": 0, "end": 1}),
        ("Squeeze", ["s"], "n", {}),
        ("Range", ["zero", "n", "one"], "r", {}),
    ]

    def numbers(*steps):
        def make(names):
            consts = [
                helper.make_node("Constant", [], [k], value=numpy_helper.from_array(np.asarray(v, INT)), name=f"c_{k}")
                for k, v in (
                    ("zero", 0),
                    ("one", 1),
                    ("last", [-1]),
                    ("three", 3),
                    ("two", 2),
                    ("column", [[0, 1, 2]]),
                    ("flat", [-1]),
                    ("first", [1]),
                    ("wide", [[0, 1, 2, 3]]),
                    ("three1", [3]),
                )
            ]
            return consts + chain(*number, *steps)(names)

        return make

    yield Case("Range", x("b", 3), good="numbers the samples|numbered", nodes=numbers(("Identity", ["r"], "y0", {})))
    yield Case(
        "Range",
        x("b", 3),
        good="numbers the samples|numbered",
        nodes=numbers(
            ("Cast", ["r"], "f", {"to": 1}),
            ("Unsqueeze", ["f", "last"], "u", {}),
            ("Add", ["x0", "u"], "a", {}),
            ("Relu", ["a"], "y0", {}),
        ),
    )
    yield Case(
        "Range",
        x("b", 3),
        x("b", 1, dtype=INT, most=3),
        also="x[range(b), i]",
        nodes=numbers(
            ("Unsqueeze", ["r", "last"], "u", {}),
            ("Concat", ["u", "x1"], "i", {"axis": -1}),
            ("GatherND", ["x0", "i"], "y0", {}),
        ),
    )
    yield Case("Range", x("b", 3), also="x[range(b)]", nodes=numbers(("Gather", ["x0", "r"], "y0", {})))
    yield Case(
        "Range",
        x("b", 3),
        good="picks samples|numbers",
        also="x of 3 at range(b)",
        nodes=numbers(("Gather", ["x0", "r"], "y0", {"axis": 1})),
    )
    yield Case(
        "Range",
        x("b", 3),
        x("b", 1, dtype=INT, most=3),
        good="numbers|picks",
        also="range(b) as second index",
        nodes=numbers(
            ("Unsqueeze", ["r", "last"], "u", {}),
            ("Concat", ["x1", "u"], "i", {"axis": -1}),
            ("GatherND", ["x0", "i"], "y0", {}),
        ),
    )
    flat = (("Reshape", ["x0", "flat"], "d", {}), ("Unsqueeze", ["r", "last"], "u", {}))
    yield Case(
        "Range",
        x("b", 3),
        also="flat indices",
        nodes=numbers(
            *flat, ("Mul", ["u", "three"], "m", {}), ("Add", ["m", "column"], "i", {}), ("Gather", ["d", "i"], "y0", {})
        ),
    )
    yield Case(
        "Range",
        x("b", 3),
        good="picks|numbers",
        also="flat indices of too narrow rows",
        nodes=numbers(
            *flat, ("Mul", ["u", "two"], "m", {}), ("Add", ["m", "column"], "i", {}), ("Gather", ["d", "i"], "y0", {})
        ),
    )
    yield Case(
        "Range",
        x("b", 3),
        good="picks|numbers",
        also="flat indices beyond their row",
        nodes=numbers(
            *flat,
            ("Mul", ["u", "three"], "m", {}),
            ("Add", ["m", "wide"], "i", {}),
            ("Clip", ["i"], "j", {}),
            ("Gather", ["d", "j"], "y0", {}),
        ),
    )
    yield Case(
        "Range",
        x("b", 3),
        good="picks|numbers",
        also="flat indices of the next row",
        nodes=numbers(
            *flat, ("Mul", ["u", "three"], "m", {}), ("Add", ["m", "wide"], "i", {}), ("Gather", ["d", "i"], "y0", {})
        ),
    )
    yield Case(
        "Range",
        x("b", 6),
        x("b", 1, dtype=INT, most=3),
        good="more or fewer",
        also="x of 2b rows at [range(b), i]",
        nodes=numbers(
            ("Concat", ["last", "three1"], "t", {"axis": 0}),
            ("Reshape", ["x0", "t"], "d", {}),
            ("Unsqueeze", ["r", "last"], "u", {}),
            ("Concat", ["u", "x1"], "i", {"axis": -1}),
            ("GatherND", ["d", "i"], "y0", {}),
        ),
    )
    yield Case(
        "Range",
        x("b", 3),
        x("b", 1, dtype=INT, most=3),
        x("b"),
        also="ScatterND at [range(b), i]",
        nodes=numbers(
            ("Unsqueeze", ["r", "last"], "u", {}),
            ("Concat", ["u", "x1"], "i", {"axis": -1}),
            ("ScatterND", ["x0", "i", "x2"], "y0", {}),
        ),
    )


def sizes_of_results():
    def after_shape(*steps, consts=()):
        def make(names):
            made = [
                helper.make_node("Constant", [], [k], value=numpy_helper.from_array(np.asarray(v, INT)), name=f"c_{k}")
                for k, v in consts
            ]
            return made + chain(("Shape", ["x0"], "s", {}), *steps)(names)

        return make

    two = (
        ("i0", 0),
        ("i1", 1),
        ("a0", [0]),
        ("one", [1]),
        ("two", [2]),
        ("minus", [-1]),
        ("six", [6]),
        ("big", [2**40]),
    )
    split = (("Gather", ["s", "a0"], "b", {}), ("Gather", ["s", "one"], "w", {}))
    for target, steps, good in [
        (
            "reshape to (b, w/2, 2)",
            (
                ("Div", ["w", "two"], "h", {}),
                ("Concat", ["b", "h", "two"], "t", {"axis": 0}),
                ("Reshape", ["x0", "t"], "y0", {}),
            ),
            True,
        ),
        (
            "reshape to (b*w, 1)",
            (
                ("Mul", ["b", "w"], "h", {}),
                ("Concat", ["h", "one"], "t", {"axis": 0}),
                ("Reshape", ["x0", "t"], "y0", {}),
            ),
            True,
        ),
        (
            "reshape to (b*w/2, 2)",
            (
                ("Mul", ["b", "w"], "h", {}),
                ("Div", ["h", "two"], "k", {}),
                ("Concat", ["k", "two"], "t", {"axis": 0}),
                ("Reshape", ["x0", "t"], "y0", {}),
            ),
            True,
        ),
        ("reshape to (w, b)", (("Concat", ["w", "b"], "t", {"axis": 0}), ("Reshape", ["x0", "t"], "y0", {})), "merges"),
        (
            "reshape to (b/2, -1)",
            (
                ("Div", ["b", "two"], "h", {}),
                ("Concat", ["h", "minus"], "t", {"axis": 0}),
                ("Reshape", ["x0", "t"], "y0", {}),
            ),
            "not in proportion",
        ),
        (
            "reshape to (b+0...)",
            (
                ("Sub", ["b", "one"], "h", {}),
                ("Add", ["h", "one"], "k", {}),
                ("Concat", ["k", "minus"], "t", {"axis": 0}),
                ("Reshape", ["x0", "t"], "y0", {}),
            ),
            "not in proportion",
        ),
        (
            "reshape to (max(b, 1), -1)",
            (
                ("Max", ["b", "one"], "h", {}),
                ("Concat", ["h", "minus"], "t", {"axis": 0}),
                ("Reshape", ["x0", "t"], "y0", {}),
            ),
            True,
        ),
        (
            "reshape to (max(-b, 1), -1)",
            (
                ("Mul", ["b", "minus"], "h", {}),
                ("Max", ["h", "one"], "k", {}),
                ("Concat", ["k", "minus"], "t", {"axis": 0}),
                ("Reshape", ["x0", "t"], "y0", {}),
            ),
            "not in proportion",
        ),
        (
            "reshape to (2b - b, -1)",
            (
                ("Mul", ["b", "two"], "h", {}),
                ("Sub", ["h", "b"], "k", {}),
                ("Concat", ["k", "minus"], "t", {"axis": 0}),
                ("Reshape", ["x0", "t"], "y0", {}),
            ),
            True,
        ),
        (
            "reshape to where(b == -1, 1, b)",
            (
                ("Equal", ["b", "minus"], "e", {}),
                ("Where", ["e", "one", "b"], "k", {}),
                ("Concat", ["k", "minus"], "t", {"axis": 0}),
                ("Reshape", ["x0", "t"], "y0", {}),
            ),
            True,
        ),
        (
            "reshape to where(b == 1, 1, b)",
            (
                ("Equal", ["b", "one"], "e", {}),
                ("Where", ["e", "one", "b"], "k", {}),
                ("Concat", ["k", "minus"], "t", {"axis": 0}),
                ("Reshape", ["x0", "t"], "y0", {}),
            ),
            "not in proportion",
        ),
        (
            "constant of (b*b)",
            (("Mul", ["b", "b"], "t", {}), ("ConstantOfShape", ["t"], "y0", {})),
            "not in proportion",
        ),
        (
            "expand to (2b/b, b, w)",
            (
                ("Mul", ["b", "two"], "h", {}),
                ("Div", ["h", "b"], "k", {}),
                ("Concat", ["k", "b", "w"], "t", {"axis": 0}),
                ("Expand", ["x0", "t"], "y0", {}),
            ),
            True,
        ),
        (
            "expand a constant to (b, 2)",
            (("Concat", ["b", "two"], "t", {"axis": 0}), ("Expand", ["one", "t"], "y0", {})),
            True,
        ),
        (
            "expand a constant to (b, b)",
            (("Concat", ["b", "b"], "t", {"axis": 0}), ("Expand", ["one", "t"], "y0", {})),
            "several axes",
        ),
        ("constant of (w, b)", (("Concat", ["w", "b"], "t", {"axis": 0}), ("ConstantOfShape", ["t"], "y0", {})), True),
        (
            "constant of (b, b)",
            (("Concat", ["b", "b"], "t", {"axis": 0}), ("ConstantOfShape", ["t"], "y0", {})),
            "several axes",
        ),
        (
            "tile to (b, 2)",
            (
                ("Concat", ["b", "two"], "t", {"axis": 0}),
                ("Unsqueeze", ["six", "i0"], "u", {}),
                ("Tile", ["u", "t"], "y0", {}),
            ),
            True,
        ),
        (
            "resize to (b, 2w)",
            (
                ("Mul", ["w", "two"], "h", {}),
                ("Concat", ["b", "h"], "t", {"axis": 0}),
                ("Resize", ["x0", "", "", "t"], "y0", {}),
            ),
            True,
        ),
        (
            "resize to (2b, w)",
            (
                ("Mul", ["b", "two"], "h", {}),
                ("Concat", ["h", "w"], "t", {"axis": 0}),
                ("Resize", ["x0", "", "", "t"], "y0", {}),
            ),
            "resize the axis",
        ),
        ("slice up to w - 1", (("Sub", ["w", "one"], "k", {}), ("Slice", ["x0", "a0", "k", "one"], "y0", {})), True),
        ("slice up to b", (("Slice", ["x0", "a0", "b", "one"], "y0", {}),), "size of the batch"),
        (
            "product of all sizes",
            (
                ("ReduceProd", ["s"], "p", {"keepdims": 1}),
                ("Concat", ["p", "one"], "t", {"axis": 0}),
                ("Reshape", ["x0", "t"], "y0", {}),
            ),
            True,
        ),
        (
            "its size",
            (("Size", ["x0"], "p", {}), ("Unsqueeze", ["p", "a0"], "q", {}), ("Reshape", ["x0", "q"], "y0", {})),
            True,
        ),
        (
            "multiplied by b",
            (("Cast", ["b"], "f", {"to": 1}), ("Mul", ["x0", "f"], "y0", {})),
            "size of the batch|depends",
        ),
        ("divided by w", (("Cast", ["w"], "f", {"to": 1}), ("Div", ["x0", "f"], "y0", {})), True),
        ("the batch as output", (("Identity", ["b"], "y0", {}),), "holds a size"),
        ("the rank as output", (("Shape", ["s"], "y0", {}),), True),
        (
            "sliced sizes",
            (
                ("Slice", ["s", "minus", "big"], "t", {}),
                ("Concat", ["minus", "t"], "u", {"axis": 0}),
                ("Reshape", ["x0", "u"], "y0", {}),
            ),
            True,
        ),
        (
            "sizes from the end",
            (
                ("Slice", ["s", "minus", "minus9", "a0", "minus"], "t", {}),
                ("Gather", ["t", "one"], "q", {}),
                ("Concat", ["q", "minus"], "u", {"axis": 0}),
                ("Reshape", ["x0", "u"], "y0", {}),
            ),
            True,
        ),
    ]:
        yield Case(
            steps[-1][0],
            x("b", 6),
            good=good,
            also=target,
            nodes=after_shape(*split, *steps, consts=(*two, ("minus9", [-9]))),
        )
    yield Case(
        "Shape",
        x("b", 6),
        used=[0],
        also="start and end",
        nodes=chain(
            ("Shape", ["x0"], "w", {"start": -1}), ("Cast", ["w"], "f", {"to": 1}), ("Mul", ["x0", "f"], "y0", {})
        ),
    )
    yield Case("Expand", x("b", 1, 3), ints(2, 1))
    yield Case("Expand", x("b", 1), ints(2, 1, 5))
    yield Case("Expand", x("b", 1), ints(4, 5), static=True)
    yield Case("Expand", x("b", 1), x(2, dtype=INT, values=lambda s: [1, 3]), good="no known size")
    yield Case("Tile", x("b", 3), ints(1, 2))
    yield Case("Tile", x("b", 3), ints(2, 1), good="repeats samples")
    yield Case("Pad", x("b", 3), ints(0, 1, 0, 2))
    yield Case("Pad", x(3, "b"), ints(1, 0, 0, 0), Const(1.5, FLOAT))
    yield Case("Pad", x("b", 3), ints(1, 0, 0, 0), good="pad the axis")
    yield Case("Pad", x("b", 3, 4), ints(1, 1), None, ints(2))
    yield Case("Pad", x("b", 3, 4), ints(0, 0, 1, 1), None, ints(2, 0), good="pad the axis")
    yield Case("Pad", x("b", 3), opset=10, pads=[0, 1, 0, 0], mode="reflect")
    yield Case("Pad", x("b", 3), x(4, dtype=INT, values=lambda s: [0, 1, 0, 1]), good="pad the axis")
    # pads of another axis are a size of the batch; there are as many pads as samples
    pads = (("Shape", ["x0"], "b", {"end": 1}), ("Concat", ["x1", "b"], "p", {"axis": 0}))
    yield Case("Pad", x("b", 3), ints(0, 0, 0), nodes=chain(*pads, ("Pad", ["x0", "p"], "y0", {})), good="holds a size")
    pads = In("b", dtype=INT, values=lambda s: [0] * s[0])
    yield Case("Pad", x("b", 3, 4), pads, None, ints(1, 2), static=True, good="depends on the batch")
    # lists that are known, and shorter or different in copies
    of_batch, ones = ("Shape", ["x0"], "b", {"end": 1}), {"value": helper.make_tensor("", TensorProto.INT64, [1], [1])}
    for steps, why in (
        ((("ReduceSum", ["x0", "b"], "y0", {}),), "axes that it reduces"),
        ((("Squeeze", ["x0", "b"], "y0", {}),), "axes that it drops"),
        ((("Unsqueeze", ["x0", "b"], "y0", {}),), "axes that it adds"),
        (
            (("ConstantOfShape", ["b"], "i", ones), ("Shape", ["x0"], "s", {}), ("Gather", ["s", "i"], "y0", {})),
            "not in proportion",
        ),
        (
            (("ConstantOfShape", ["b"], "i", ones), ("Concat", ["b", "i"], "t", {"axis": 0}))
            + (("ConstantOfShape", ["t"], "y0", {}),),
            "not in proportion",
        ),
    ):
        yield Case(steps[-1][0], x("b", 1, 1, 1, 1), nodes=chain(of_batch, *steps), static=True, good=why)
    scales = Const([1, 1, 2, 1.5], FLOAT)
    yield Case("Resize", x("b", 2, 4, 4), None, scales)
    yield Case("Resize", x("b", 2, 4, 4), scales, opset=10)
    yield Case("Resize", x("b", 2, 4, 4), None, None, ints(4, 2, 6, 8), static=True)
    yield Case("Resize", x("b", 2, 4, 4), None, None, ints(6, 8), axes=[2, 3], mode="linear")
    yield Case("Resize", x("b", 2, 4, 4), None, Const([2, 1, 1, 1], FLOAT), good="resize the axis")
    yield Case("Upsample", x("b", 2, 4, 4), Const([1, 1, 2, 2], FLOAT), opset=9)
    yield Case("Upsample", x("b", 2, 4, 4), opset=8, scales=[1.0, 1.0, 2.0, 2.0])
    yield Case("Upsample", x("b", 2, 4, 4), Const([2, 1, 1, 1], FLOAT), opset=9, good="resize the axis")
    yield Case("AffineGrid", x("b", 2, 3), Const([4, 3, 5, 6], INT), static=True)
    yield Case("AffineGrid", x("b", 2, 3), x(4, dtype=INT), good="no known size")


def products():
    for a, b, good in [
        (x("b", 3), w(3, 4), True),
        (x("b", 2, 3), w(3, 4), True),
        (x(2, "b", 3), w(3, 4), True),
        (x("b", 2, 3), x("b", 3, 4), True),
        (x("b", 1, 2, 3), x("b", 5, 3, 4), True),
        (x("b", 2, 3), w(1, 3, 4), True),
        (w(2, 3), x("b", 3, 4), True),
        (w(2, 3), x(3, "b"), True),
        (x("b", 2, 3), w(3), True),
        (w(3), x("b", 3, 4), True),
        (x("b", 3), w(3), True),
        (w(3), x(3, "b"), True),
        (w(5, 2, 3), x("b", 5, 3, 4), True),
        (x(5, "b", 3), w(5, 3, 4), True),
        (x(2, "b"), x("b", 3), "sums over"),
        (x("b"), x("b"), "sums over"),
        (x("b", 3), x(3, "b"), "different axes"),
        (x("b", 2, 3), x(3, "b"), "different axes"),
        (x("b", 2, 3), x("n", 3, 4), "no size at axis"),
    ]:
        yield Case("MatMul", a, b, good=good)
    yield Case("MatMul", x("b", 2, 3), w(4, 3, 4), static=True)
    yield Case("Gemm", x("b", 3), w(3, 4), w(4))
    yield Case("Gemm", x("b", 3), w(4, 3), transB=1)
    yield Case("Gemm", x(3, "b"), w(3, 4), w(1), transA=1)
    yield Case("Gemm", x("b", 3), w(3, 4), x("b", 4))
    yield Case("Gemm", x("b", 3), w(3, 4), w(4, 1), static=True)
    yield Case("Gemm", w(2, 3), x(3, "b"), w(2, 1))
    yield Case("Gemm", w(2, 3), x("b", 3), x("b"), transB=1)
    yield Case("Gemm", x(2, "b"), x("b", 3), good="sums over")
    yield Case("Gemm", x("b", 3), w(3, 4), x(4), alpha=0.5, beta=2.0)
    i8 = {"dtype": np.uint8, "most": 200}
    yield Case("MatMulInteger", x("b", 3, **i8), Const(np.arange(12).reshape(3, 4), np.uint8), Const(3, np.uint8))
    yield Case(
        "MatMulInteger",
        x("b", 3, **i8),
        Const(np.arange(12).reshape(3, 4), np.uint8),
        Const(3, np.uint8),
        Const([1, 2, 3, 4], np.uint8),
    )
    yield Case(
        "MatMulInteger",
        x("b", 3, **i8),
        Const(np.arange(12).reshape(3, 4), np.uint8),
        x("b", **i8),
        good="single samples|depends",
    )
    q = (Const(0.1, FLOAT), Const(3, np.uint8))
    yield Case("QLinearMatMul", x("b", 3, **i8), *q, Const(np.arange(12).reshape(3, 4), np.uint8), *q, *q)
    yield Case(
        "QLinearMatMul",
        x("b", 3, **i8),
        *q,
        Const(np.arange(12).reshape(3, 4), np.uint8),
        *q,
        Const([0.1] * 4, FLOAT),
        Const([3] * 4, np.uint8),
        good="single samples",
    )
    for equation, operands, good in [
        ("bij,bjk->bik", (x("b", 2, 3), x("b", 3, 4)), True),
        ("bi,ij->bj", (x("b", 3), w(3, 4)), True),
        ("ij,bj->ib", (w(2, 3), x("b", 3)), True),
        ("bi, bi -> b", (x("b", 3), x("b", 3)), True),
        ("bi,bi->i", (x("b", 3), x("b", 3)), "sums over"),
        ("bi,ci->bc", (x("b", 3), x("b", 3)), "different axes"),
        ("...i,ij->...j", (x("b", 3), w(3, 4)), "'...'"),
        ("bi,bj->bij", (x("b", 3), w(3, 2)), "no size"),
        ("ibj->jbi", (x(2, "b", 3),), True),
    ]:
        yield Case("Einsum", *operands, equation=equation, good=good)
    yield Case("Einsum", x("b", 3), w(4, 2), equation="bi,bj->bij", static=True)


def vision():
    yield Case("Conv", x("b", 3, 6, 6), w(4, 3, 3, 3), w(4), pads=[1, 1, 1, 1])
    yield Case("Conv", x("b", 4, 6), w(4, 1, 3), group=4)
    yield Case("Conv", w(1, 3, 6), x("b", 3, 3), good="does not depend|depends on")
    yield Case("Conv", x(1, 3, "b"), w(4, 3, 3), good="at axis 2, not 0")
    yield Case("ConvTranspose", x("b", 3, 4, 4), w(3, 2, 3, 3), w(2))
    u8 = Const(np.arange(36).reshape(2, 2, 3, 3) % 7, np.uint8)
    yield Case("ConvInteger", x("b", 2, 5, 5, dtype=np.uint8, most=9), u8, Const(1, np.uint8))
    q = (Const(0.1, FLOAT), Const(3, np.uint8))
    yield Case("QLinearConv", x("b", 2, 5, 5, dtype=np.uint8, most=99), *q, u8, *q, *q)
    yield Case(
        "DeformConv", x("b", 1, 3, 3), w(1, 1, 2, 2), x("b", 8, 2, 2), w(1), x("b", 4, 2, 2), kernel_shape=[2, 2]
    )
    for op in ("AveragePool", "LpPool"):
        yield Case(op, x("b", 2, 6, 6), kernel_shape=[2, 2])
    yield Case("MaxPool", x("b", 2, 6, 6), kernel_shape=[2, 2], strides=[2, 2])
    yield Case("MaxPool", x("b", 2, 6, 6), kernel_shape=[2, 2], outs=2, good="of all samples together")
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield Case(op, x("b", 2, 6, 6))
    stats = (w(3), w(3), w(3), Const([1, 2, 3], FLOAT))
    yield Case("BatchNormalization", x("b", 3, 4), *stats)
    yield Case("BatchNormalization", x("b", 3, 4), *stats, opset=9)
    yield Case("BatchNormalization", x("b", 3, 4), *stats, training_mode=1, outs=3, used=[0], good="all samples")
    yield Case("InstanceNormalization", x("b", 3, 4, 4), w(3), w(3))
    yield Case("GroupNormalization", x("b", 4, 5), w(4), w(4), num_groups=2, opset=21)
    yield Case("LRN", x("b", 5, 3, 3), size=3)
    yield Case("DepthToSpace", x("b", 8, 2, 2), blocksize=2)
    yield Case("SpaceToDepth", x("b", 2, 4, 4), blocksize=2)
    yield Case("GridSample", x("b", 2, 4, 4), x("b", 3, 3, 2))
    yield Case("Col2Im", x("b", 5, 5), ints(5, 5), ints(1, 5))
    yield Case("STFT", x("b", 16, 1), Const(4, INT), None, Const(8, INT))
    roi = (x("b", 2, 6, 6), w(3, 4), Const([0, 1, 1], INT))
    yield Case("RoiAlign", *roi, good="name samples")
    yield Case("MaxRoiPool", x("b", 2, 6, 6), w(3, 5), pooled_shape=[2, 2], good="name samples")
    yield Case(
        "MaxUnpool",
        x("b", 1, 2, 2),
        x("b", 1, 2, 2, dtype=INT),
        kernel_shape=[2, 2],
        strides=[2, 2],
        good="count through",
    )
    yield Case("NonMaxSuppression", x("b", 6, 4), x("b", 1, 6), good="name samples")


def quantised():
    scale, zero = Const(0.1, FLOAT), Const(3, np.uint8)
    many, zeros = Const([0.1, 0.2, 0.3], FLOAT), Const([1, 2, 3], np.uint8)
    u8 = {"dtype": np.uint8, "most": 200}
    yield Case("QuantizeLinear", x("b", 3), scale, zero)
    yield Case("QuantizeLinear", x("b", 3), many, zeros)
    yield Case("QuantizeLinear", x(3, "b"), many, zeros, axis=0)
    yield Case(
        "QuantizeLinear",
        x("b", 3),
        Const([0.1] * 4, FLOAT),
        Const([1] * 4, np.uint8),
        axis=0,
        static=True,
        good="single samples",
    )
    yield Case("DequantizeLinear", x("b", 3, **u8), scale, zero)
    yield Case("DequantizeLinear", x("b", 3, **u8), many, zeros, axis=-1)
    yield Case("DequantizeLinear", x("b", 3, **u8), x("b"), x("b", **u8), axis=0, good="single samples|depends")
    yield Case("DynamicQuantizeLinear", x("b", 3), outs=3, good="all samples")


def sequences():
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        outs = 3 if op == "LSTM" else 2
        weights = (w(1, 2 * gates, 3), w(1, 2 * gates, 2), w(1, 4 * gates))
        yield Case(op, x(5, "b", 3), *weights, outs=outs, hidden_size=2)
        more = (x("b", dtype=np.int32, values=lambda s: np.arange(s[0]) % 5 + 1), x(1, "b", 2))
        yield Case(op, x(5, "b", 3), *weights, *more, outs=outs, hidden_size=2)
        yield Case(op, x(5, "b", 3), *weights, None, w(1, 4, 2), outs=outs, hidden_size=2, sizes=(4,))
        yield Case(op, x("b", 2, 3), *weights, outs=outs, hidden_size=2, good="at axis 0, not 1")
        yield Case(op, x("b", 5, 3), *weights, outs=outs, hidden_size=2, layout=1, run="onnx")
    yield Case(
        "LSTM",
        x(5, "b", 3),
        w(1, 8, 3),
        w(1, 8, 2),
        w(1, 16),
        None,
        x(1, "b", 2),
        x(1, "b", 2),
        w(1, 6),
        outs=3,
        hidden_size=2,
    )


def attention():
    q, k, v = x("b", 5, 8), x("b", 7, 8), x("b", 7, 8)
    heads = {"q_num_heads": 2, "kv_num_heads": 2, "opset": 23}
    yield Case("Attention", q, k, v, **heads)
    yield Case("Attention", q, k, v, w(5, 7), **heads)
    yield Case("Attention", q, k, v, w(1, 1, 5, 7), **heads)
    yield Case("Attention", q, k, v, x("b", 1, 5, 7), **heads)
    yield Case(
        "Attention",
        x("b", 2, 5, 4),
        x("b", 2, 7, 4),
        x("b", 2, 7, 4),
        None,
        x("b", 2, 3, 4),
        x("b", 2, 3, 4),
        outs=3,
        opset=23,
    )
    yield Case("Attention", q, k, v, x(1, "b", 5, 7), **heads, good="at axis 1, not 0")
    yield Case("Attention", q, w(1, 7, 8), v, **heads, good="no size at axis")
    yield Case("RotaryEmbedding", x("b", 2, 5, 4), w(9, 2), w(9, 2), x("b", 5, dtype=INT, most=9), opset=23)
    yield Case("RotaryEmbedding", x("b", 5, 8), x("b", 5, 2), x("b", 5, 2), opset=23, num_heads=2)

    yield Case(
        "TensorScatter",
        x("b", 2, 6, 4),
        x("b", 2, 2, 4),
        x("b", dtype=INT, values=lambda s: np.arange(s[0]) % 4),
        opset=24,
    )


def contrib():
    ms = {"domain": MS}
    yield Case("Attention", x("b", 5, 8), w(8, 24), w(24), num_heads=2, **ms)
    mask = x("b", 5, dtype=np.int32, values=lambda s: np.tril(np.ones(s)) + np.eye(*s))
    yield Case("Attention", x("b", 5, 8), w(8, 24), w(24), mask, num_heads=2, **ms)
    length = x("b", dtype=np.int32, values=lambda s: np.arange(s[0]) % 5 + 1)
    yield Case("Attention", x("b", 5, 8), w(8, 24), w(24), length, num_heads=2, **ms)
    yield Case("Attention", x("b", 5, 8), w(8, 24), w(24), None, x(2, "b", 2, 3, 4), outs=2, num_heads=2, **ms)
    yield Case(
        "Attention", x("b", 5, 8), w(8, 24), w(24), x("n", dtype=np.int32), num_heads=2, **ms, good="no size at axis"
    )
    yield Case("BiasGelu", x("b", 4, 8), w(8), **ms)
    yield Case("FastGelu", x("b", 4, 8), w(8), **ms)
    yield Case("FastGelu", x("b", 4, 8), **ms)
    yield Case("Gelu", x("b", 8), **ms)
    yield Case("QuickGelu", x("b", 8), **ms)
    yield Case(
        "DynamicQuantizeMatMul",
        x("b", 4),
        Const(np.ones((4, 3)), np.uint8),
        Const(0.1, FLOAT),
        **ms,
        good="all samples",
    )
    yield Case(
        "DynamicQuantizeLSTM",
        x(5, "b", 3),
        Const(np.ones((1, 3, 8)), np.uint8),
        Const(np.ones((1, 2, 8)), np.uint8),
        None,
        None,
        None,
        None,
        None,
        w(1),
        Const([1], np.uint8),
        w(1),
        Const([1], np.uint8),
        hidden_size=2,
        **ms,
        good="all samples",
    )
    ids = {"dtype": np.int32, "most": 4}
    tables = (w(4, 8), w(6, 8), w(4, 8, seed=9), w(8), w(8))
    yield Case("EmbedLayerNormalization", x("b", 5, **ids), x("b", 5, **ids), *tables, mask, outs=2, **ms)
    yield Case(
        "EmbedLayerNormalization",
        x("b", 5, **ids),
        None,
        tables[0],
        tables[1],
        None,
        w(8),
        w(8),
        None,
        Const([[0, 1, 2, 3, 4]], np.int32),
        outs=2,
        **ms,
    )
    yield Case("FusedConv", x("b", 3, 6, 6), w(4, 3, 3, 3), w(4), x("b", 4, 4, 4), activation="Relu", **ms)
    yield Case("FusedGemm", x("b", 3), w(3, 4), w(4), activation="Relu", **ms)
    yield Case("FusedMatMul", x("b", 3, 2), x("b", 3, 4), transA=1, alpha=0.5, **ms)
    yield Case("FusedMatMul", x("b", 2, 3), w(4, 3), transB=1, **ms)
    yield Case("FusedMatMul", x(3, "b"), w(3, 4), transA=1, **ms)
    yield Case("FusedMatMul", x("b", 2), x("b", 3), transA=1, **ms, good="sums over")
    cache = {"num_heads": 4, "kv_num_heads": 2}
    past = (x("b", 2, 8, 8), x("b", 2, 8, 8))
    seqlens = x("b", dtype=np.int32, values=lambda s: np.full(s, 5))
    yield Case(
        "GroupQueryAttention",
        x("b", 1, 32),
        x("b", 1, 16),
        x("b", 1, 16),
        *past,
        seqlens,
        Const([6], np.int32),
        outs=3,
        **cache,
        **ms,
    )
    yield Case(
        "GroupQueryAttention",
        x("b", 1, 32),
        x("b", 1, 16),
        x("b", 1, 16),
        *past,
        seqlens,
        x("b", dtype=np.int32, values=lambda s: np.full(s, 6)),
        outs=3,
        **cache,
        **ms,
        good="depends on the batch",
    )
    for b in (Const(np.arange(12).reshape(3, 4), np.uint8),):
        yield Case(
            "MatMulIntegerToFloat",
            x("b", 3, dtype=np.uint8, most=99),
            b,
            Const([0.1], FLOAT),
            Const([0.2] * 4, FLOAT),
            Const([1], np.uint8),
            Const([1, 2, 3, 4], np.uint8),
            w(4),
            **ms,
        )
    yield Case(
        "MatMulNBits",
        x("b", 2, 32),
        Const(np.arange(64).reshape(4, 1, 16), np.uint8),
        w(4),
        K=32,
        N=4,
        bits=4,
        block_size=32,
        **ms,
    )
    yield Case(
        "MatMulNBits",
        x(2, 32, "b"),
        Const(np.arange(64).reshape(4, 1, 16), np.uint8),
        w(4),
        K=32,
        N=4,
        bits=4,
        block_size=32,
        **ms,
        good="along the axis",
    )
    qkv = (x("b", 5, 8), x("b", 7, 8), x("b", 7, 8))
    yield Case("MultiHeadAttention", *qkv, num_heads=2, **ms)
    yield Case(
        "MultiHeadAttention",
        *qkv,
        w(24),
        x("b", dtype=np.int32, values=lambda s: np.arange(s[0]) % 7 + 1),
        num_heads=2,
        **ms,
    )
    yield Case("MultiHeadAttention", *qkv, None, None, w(1, 2, 5, 7), num_heads=2, **ms)
    yield Case(
        "MultiHeadAttention", *qkv, None, None, None, x("b", 2, 3, 4), x("b", 2, 3, 4), outs=3, num_heads=2, **ms
    )
    u8 = {"dtype": np.uint8, "most": 200}
    q = (Const(0.1, FLOAT), Const(3, np.uint8))
    yield Case("NhwcMaxPool", x("b", 4, 4, 2, **u8), kernel_shape=[2, 2], **ms)
    for op in ("QLinearAdd", "QLinearMul"):
        yield Case(op, x("b", 3, **u8), *q, x("b", 1, **u8), *q, *q, **ms)
        yield Case(op, x("b", 3, **u8), *q, Const([1, 2, 3], np.uint8), *q, *q, **ms)
        yield Case(op, x("b", 3, **u8), x(), q[1], x("b", 3, **u8), *q, *q, **ms)
    yield Case("QLinearSigmoid", x("b", 3, **u8), *q, *q, **ms)
    yield Case("QLinearLeakyRelu", x("b", 3, **u8), *q, *q, **ms)
    yield Case("QLinearAveragePool", x("b", 2, 4, 4, **u8), *q, *q, kernel_shape=[2, 2], **ms)
    yield Case("QLinearGlobalAveragePool", x("b", 2, 4, 4, **u8), *q, *q, **ms)
    yield Case("QLinearConcat", *q, x("b", 3, **u8), *q, x("b", 2, **u8), *q, axis=1, **ms)
    yield Case("QLinearConcat", *q, x("b", 3, **u8), *q, x("b", 3, **u8), *q, axis=0, **ms, good="joins along")
    yield Case(
        "QLinearSoftmax",
        x("b", 3, **u8),
        *q,
        Const(1 / 256, FLOAT),
        Const(0, np.uint8),
        axis=-1,
        more={"opset": 13},
        **ms,
    )
    yield Case(
        "QLinearSoftmax",
        x("b", 3, **u8),
        *q,
        Const(1 / 256, FLOAT),
        Const(0, np.uint8),
        axis=0,
        more={"opset": 13},
        **ms,
        good="along the axis",
    )
    yield Case("RotaryEmbedding", x("b", 5, 8), x("b", 5, dtype=INT, most=9), w(9, 2), w(9, 2), num_heads=2, **ms)
    yield Case("RotaryEmbedding", x("b", 2, 5, 4), ints(3), w(9, 2), w(9, 2), **ms)
    for op in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"):
        more = (w(8),) if op == "SkipLayerNormalization" else ()
        yield Case(op, x("b", 5, 8), x("b", 5, 8), w(8), *more, w(8, seed=4), outs=4, used=[0, 3], **ms)
        yield Case(op, x("b", 5, 8), w(1, 5, 8), w(8), *more, **ms)
        yield Case(op, x(5, "b", 8), x(5, "b", 8), w(8), **ms)


def machine_learning():
    ml = {"domain": ML}
    yield Case("ArrayFeatureExtractor", x("b", 5), ints(0, 3), **ml)
    yield Case("ArrayFeatureExtractor", x("b"), ints(0, 3), **ml, good="along the axis")
    yield Case("Binarizer", x("b", 5), threshold=0.2, **ml)
    yield Case("CategoryMapper", x("b", 5, dtype=INT), cats_int64s=[0, 1], cats_strings=["a", "b"], **ml)
    yield Case("FeatureVectorizer", x("b", 2), x("b", 3), inputdimensions=[2, 3], **ml)
    yield Case("FeatureVectorizer", x("b"), x("b"), inputdimensions=[2, 3], **ml, good="depends on the batch")
    yield Case("Imputer", x("b", 2), imputed_value_floats=[1.0, 2.0], replaced_value_float=float("nan"), **ml)
    yield Case("LabelEncoder", x("b", 2, dtype=INT), keys_int64s=[0, 1], values_floats=[2.5, 3.5], **ml)
    two = {"coefficients": [0.5, -1.0, 2.0, 1.0], "intercepts": [0.1, 0.2]}
    yield Case("LinearClassifier", x("b", 2), outs=2, classlabels_ints=[3, 4], post_transform="SOFTMAX", **two, **ml)
    yield Case("LinearRegressor", x("b", 2), targets=2, **two, **ml)
    yield Case("LinearRegressor", x("b"), targets=2, **two, **ml, good="along the axis")
    yield Case("Normalizer", x("b", 3), norm="L1", **ml)  # ONNX Runtime's L2 loses signs where it works in place
    yield Case("OneHotEncoder", x("b", 2, dtype=INT), cats_int64s=[0, 1], **ml)
    yield Case("Scaler", x("b", 2), offset=[0.5, 1.0], scale=[2.0, 3.0], **ml)
    svm = {"kernel_type": "LINEAR", "kernel_params": [0.1, 0.0, 3.0], "rho": [0.2]}
    yield Case(
        "SVMRegressor",
        x("b", 2),
        n_supports=2,
        support_vectors=[1.0, 2.0, 0.5, -1.0],
        coefficients=[0.7, -0.3],
        **svm,
        **ml,
    )
    yield Case(
        "SVMClassifier",
        x("b", 2),
        outs=2,
        vectors_per_class=[1, 1],
        support_vectors=[1.0, 2.0, 0.5, -1.0],
        coefficients=[0.7, -0.3],
        classlabels_ints=[0, 1],
        **svm,
        **ml,
    )
    tree = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_values": [0.1, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "nodes_hitrates": [1.0, 1.0, 1.0],
        "nodes_missing_value_tracks_true": [0, 0, 0],
    }
    yield Case(
        "TreeEnsembleRegressor",
        x("b", 2),
        n_targets=1,
        target_treeids=[0, 0],
        target_nodeids=[1, 2],
        target_ids=[0, 0],
        target_weights=[1.5, -2.0],
        **tree,
        **ml,
    )
    yield Case(
        "TreeEnsembleClassifier",
        x("b", 2),
        outs=2,
        class_treeids=[0, 0],
        class_nodeids=[1, 2],
        class_ids=[0, 1],
        class_weights=[1.0, 1.0],
        classlabels_int64s=[5, 6],
        **tree,
        **ml,
    )


def refusals():
    for op, operands, more in [
        ("NonZero", (x("b", 3),), {}),
        ("Unique", (x("b"),), {}),
        ("Compress", (x("b", 3), x("b", dtype=BOOL)), {"axis": 0}),
        ("Bernoulli", (x("b", 3),), {}),
        ("RandomNormalLike", (x("b", 3),), {}),
        ("RandomUniformLike", (x("b", 3),), {}),
        ("RandomNormal", (), {"shape": [2, 3]}),
        ("RandomUniform", (), {"shape": [2, 3]}),
        ("Multinomial", (x("b", 3),), {}),
        ("SoftmaxCrossEntropyLoss", (x("b", 3), x("b", dtype=INT)), {}),
        ("NegativeLogLikelihoodLoss", (x("b", 3), x("b", dtype=INT)), {}),
        ("EyeLike", (x("b", 3),), {}),
        ("SequenceConstruct", (x("b", 3),), {}),
    ]:
        yield Case(
            op,
            *(operands or (x("b"),))[: len(operands) or 1],
            good="",
            also="refused",
            nodes=None if operands else chain((op, [], "r", more), ("Add", ["r", "x0"], "y0", {})),
            **more,
        )


def all_cases():
    for group in (
        elementwise,
        broadcasting,
        along,
        reductions,
        moves,
        products,
        vision,
        quantised,
        sequences,
        attention,
        contrib,
        machine_learning,
        refusals,
    ):
        yield from group()
