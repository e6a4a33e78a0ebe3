"""fold-constants operator by operator: what pcc computes has the very bits that ONNX Runtime gives.

1. Each operator that is computed, under each version of its operator set, for the types that its schema takes: random
   small constants, empty ones, scalars, axes counted from the end, broadcasting; about one in eight is wrong on
   purpose (an index out of range, a shape that does not fit).  What the pass makes of all of them, in one model, is
   compared with ONNX Runtime on the CPU, optimisations off; where that has no kernel, with the reference evaluator of
   onnx.  What these refuse must not be folded; and each operator is folded often.
2. Random chains of shape arithmetic from a Shape with symbolic dimensions: what is folded is what ONNX Runtime
   computes at two sizes.
PCC_ALL=1: ten times as many cases.  PCC_ONLY=Op: only that operator.  Needs onnx, numpy, ml_dtypes, onnxruntime."""
import functools
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from with_ort import PCC, check  # first: it skips the test without ONNX Runtime
from checks import complain, finish
from sanitized import SANITIZED
import numpy as np
import ml_dtypes
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

ort.set_default_logger_severity(4)
ONLY = os.environ.get("PCC_ONLY", "")
TIMES = 10 if os.environ.get("PCC_ALL") else 1 if SANITIZED else 3
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float32, np.float64]
SMALL = [np.float16, ml_dtypes.bfloat16]
NUMBERS = SIGNED + UNSIGNED + FLOATS
ALL = NUMBERS + SMALL + [np.bool_]
INDEX = [np.int64, np.int32]
TOGETHER = 64  # cases that ONNX Runtime is asked about at once


class Case:
    """One node: its operands (None: omitted), its attributes, how many results."""

    def __init__(self, op, opset, operands, results=1, **attrs):
        self.op, self.opset, self.operands, self.results, self.attrs = op, opset, operands, results, attrs
        self.wrong = False  # on purpose

    def node(self, prefix):
        names = ["" if v is None else f"{prefix}/{k}" for k, v in enumerate(self.operands)]
        node = helper.make_node(self.op, names, [f"{prefix}/r{k}" for k in range(self.results)])
        kinds = VERSIONS[self.op][self.opset].attributes
        node.attribute.extend(helper.make_attribute(k, v, attr_type=kinds[k].type) for k, v in self.attrs.items())
        return node

    def constants(self, prefix):
        return [tensor(v, f"{prefix}/{k}") for k, v in enumerate(self.operands) if v is not None]

    def __str__(self):
        shown = ", ".join("_" if v is None else f"{v.dtype}{list(v.shape)}" + (f" {v.tolist()}" if v.size < 9 else "")
                          for v in self.operands)
        return f"{self.op}-{self.opset}({shown}) {self.attrs}"


def tensor(array, name):
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor(name, kind, array.shape, np.ascontiguousarray(array).tobytes(), raw=True)


# ---- what there is to choose from

VERSIONS = {}
for schema in onnx.defs.get_all_schemas_with_history():
    if schema.domain == "":
        VERSIONS.setdefault(schema.name, {})[schema.since_version] = schema


@functools.cache
def word(dtype):
    return "tensor(" + onnx.TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(np.dtype(dtype))).lower() + ")"


@functools.cache
def types_of(op, opset, operand=0):
    """The types that the operand of that version may have, among all."""
    schema = VERSIONS[op][opset]
    return [t for t in ALL if word(t) in schema.inputs[operand].types]


def has_operand(op, opset, name):
    return any(i.name == name for i in VERSIONS[op][opset].inputs)


class Draw:
    """Random arrays, shapes and axes."""

    def __init__(self, seed):
        self.r = np.random.default_rng(seed)

    def below(self, n):
        return int(self.r.integers(n))

    def one_in(self, n):
        return self.below(n) == 0

    def pick(self, things):
        return things[self.below(len(things))]

    def shape(self, least=0, most=4):
        return [int(d) for d in self.r.choice([0, 1, 1, 2, 3, 4], self.r.integers(least, most + 1),
                                              p=[.06, .2, .14, .3, .2, .1])]

    def array(self, dtype, shape, wide=True):
        dtype = np.dtype(dtype)
        if dtype == np.bool_:
            return self.r.integers(0, 2, shape).astype(bool)
        if dtype.kind in "iu":
            low = -9 if dtype.kind == "i" else 0
            a = np.asarray(self.r.integers(low, 10, shape)).astype(dtype)
            if wide and self.one_in(4):  # also the whole range
                info = np.iinfo(dtype)
                a = np.asarray(self.r.integers(info.min, info.max, shape, dtype=dtype, endpoint=True))
            return a
        a = np.asarray(self.r.integers(-8, 9, shape) / 2.0)
        if wide and self.one_in(2):
            a = np.asarray(self.r.standard_normal(shape) * np.exp2(self.r.integers(-12, 13, shape)))
        if wide and self.one_in(6) and a.size:
            a = np.array(a)
            a.flat[self.below(a.size)] = self.pick([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 0.5, -0.5, 65504, 1e30])
        with np.errstate(over="ignore"):
            return a.astype(dtype)

    def like(self, shape):
        """A shape that broadcasts with that one."""
        other = [1 if self.one_in(4) else d for d in shape[self.below(len(shape) + 1):]]
        return [self.pick([1, 2]) for _ in range(self.below(2))] + other if len(other) == len(shape) else other

    def axis(self, rank, bad=False):
        return rank + self.below(3) if bad else self.below(2 * rank) - rank

    def axes(self, rank, least=1):
        chosen = self.r.permutation(rank)[:self.r.integers(least, rank + 1)]
        return [int(a) - (rank if self.one_in(2) else 0) for a in chosen]


def vector(values, dtype=np.int64):
    return np.array(values, dtype).reshape(-1)


# ---- cases by operator: each takes a Draw, the operator, its version, and whether the case is to be wrong

def spread_pair(d, op, opset, types=None, operands=2):
    dtype = d.pick(types or [t for t in types_of(op, opset) if t in NUMBERS])
    shape = d.shape(0, 3)
    old = opset < (8 if op in ("Min", "Max") else 7)
    return [d.array(dtype, shape if k == 0 or old else d.like(shape)) for k in range(operands)]


def arithmetic(d, op, opset, bad):
    a, b = spread_pair(d, op, opset)
    if op == "Div" and b.dtype.kind in "iu":  # a division by zero would end this process
        b = np.where((b == 0) | (b.astype(np.int64) == -1), b.dtype.type(3), b)
    if bad:
        b = np.zeros([5] + list(a.shape), a.dtype) if opset < 7 else np.ones([7] + [6] * a.ndim, a.dtype)
    if bad and a.size == 1:
        a = np.ones([5, 5], a.dtype)
    return Case(op, opset, [a, b])


def modulo(d, op, opset, bad):
    a, b = spread_pair(d, op, opset)
    if b.dtype.kind in "iu":
        b = np.where((b == 0) | (b.astype(np.int64) == -1), b.dtype.type(3), b)
    return Case(op, opset, [a, b], fmod=int(a.dtype.kind == "f" or d.one_in(8)))


def extremes(d, op, opset, bad):
    return Case(op, opset, spread_pair(d, op, opset, operands=1 + d.below(3)))


def power(d, op, opset, bad):
    a = d.array(d.pick([t for t in types_of(op, opset) if t in NUMBERS]), d.shape(0, 2))
    same = opset < 12
    b = d.array(a.dtype if same else d.pick([t for t in types_of(op, opset, 1) if t in NUMBERS]),
                a.shape if opset < 7 else d.like(list(a.shape)), wide=False)
    return Case(op, opset, [a, np.abs(b) if d.one_in(2) else b])


def comparison(d, op, opset, bad):
    types = [t for t in types_of(op, opset) if t in NUMBERS + [np.bool_]]
    return Case(op, opset, spread_pair(d, op, opset, types))


def logic(d, op, opset, bad):
    return Case(op, opset, spread_pair(d, op, opset, [np.bool_]))


def alone(d, op, opset, bad):
    types = [t for t in types_of(op, opset) if t in NUMBERS + [np.bool_]]
    a = d.array(d.pick(types), d.shape())
    return Case(op, opset, [np.abs(a) if op == "Sqrt" and d.one_in(2) else a])


def where(d, op, opset, bad):
    dtype, shape = d.pick(types_of(op, opset, 1)), d.shape(0, 3)
    c, a, b = d.array(np.bool_, d.like(shape)), d.array(dtype, shape), d.array(dtype, d.like(shape))
    return Case(op, opset, [c, a, np.ones([7] + [6] * 3 + shape, dtype) if bad and a.size > 1 else b])


def cast(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape(0, 3))
    to = d.pick([t for t in ALL if word(t) in VERSIONS[op][opset].outputs[0].types])
    if opset < 6:
        to = onnx.TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(np.dtype(to)))
        return Case(op, opset, [a], to=to)
    return Case(op, opset, [a], to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))


def cast_like(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape(0, 3))
    return Case(op, opset, [a, d.array(d.pick(types_of(op, opset, 1)), d.shape(0, 2))])


def same(d, op, opset, bad):
    return Case(op, opset, [d.array(d.pick(types_of(op, opset)), d.shape())])


def shape_of(d, op, opset, bad):
    attrs = {}
    if opset >= 15 and d.one_in(2):
        attrs = {"start": d.below(9) - 4} | ({"end": d.below(9) - 4} if d.one_in(2) else {})
    return Case(op, opset, [d.array(d.pick(types_of(op, opset)), d.shape())], **(attrs if op == "Shape" else {}))


def reshape(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape())
    sizes = [int(k) for k in d.r.permutation(list(a.shape) + [1] * d.below(3))]
    zero = opset >= 14 and d.one_in(3)
    for i in range(min(len(sizes), a.ndim)):
        if not zero and sizes[i] == a.shape[i] and d.one_in(3):
            sizes[i] = 0
    if sizes and a.size and d.one_in(2):
        i = d.below(len(sizes))
        sizes[i] = -1
    if bad:
        sizes = sizes + [7]
    attrs = {"allowzero": 1} if zero else {}
    if opset < 5:
        return Case(op, opset, [a], shape=sizes)
    return Case(op, opset, [a, vector(sizes)], **attrs)


def flatten(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape(1))
    axis = a.ndim + 1 + d.below(2) if bad else d.below(a.ndim + 1) if opset < 11 else d.below(2 * a.ndim + 1) - a.ndim
    return Case(op, opset, [a], **({} if axis == 1 else {"axis": axis}))


def squeeze(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape(1))
    ones = [i for i, n in enumerate(a.shape) if n == 1]
    if (not ones or d.one_in(3)) and not bad:
        return Case(op, opset, [a])
    axes = [i - (a.ndim if opset >= 11 and d.one_in(2) else 0) for i in ones if not d.one_in(3)] or ones[:1]
    return with_axes(op, opset, a, axes + [a.ndim + 2] if bad else axes)


def unsqueeze(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape(0, 3))
    rank = a.ndim + 1 + d.below(3)
    axes = [int(i) for i in d.r.permutation(rank)[:rank - a.ndim]]
    axes = [i - (rank if opset >= 11 and d.one_in(2) else 0) for i in axes]
    return with_axes(op, opset, a, axes + axes[:1] if bad else axes)


def with_axes(op, opset, a, axes, dtype=np.int64, **attrs):
    if has_operand(op, opset, "axes"):
        return Case(op, opset, [a, vector(axes, dtype)], **attrs)
    return Case(op, opset, [a], axes=axes, **attrs)


def transpose(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape())
    if a.ndim == 0 or d.one_in(4):
        return Case(op, opset, [a])
    perm = [int(i) for i in d.r.permutation(a.ndim)]
    return Case(op, opset, [a], perm=perm[:-1] + perm[:1] if bad else perm)


def expand(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape(0, 3))
    sizes = [d.pick([1, 2]) for _ in range(d.below(2))]
    sizes += [d.pick([1, 3]) if n == 1 else d.pick([n, 1]) for n in a.shape]
    return Case(op, opset, [a, vector(sizes + [7] if bad else sizes)])


def tile(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape(0, 3))
    return Case(op, opset, [a, vector([d.below(4) for _ in range(a.ndim + bad)])])


def slice_(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape(1))
    axes = d.axes(a.ndim)
    if opset < 10:
        axes = [i % a.ndim for i in axes]
    ends = [-2**63, 2**63 - 1, 2**31 - 1, -1, 0]
    start = [d.pick(ends) if d.one_in(8) else d.below(12) - 6 for _ in axes]
    stop = [d.pick(ends) if d.one_in(4) else d.below(12) - 6 for _ in axes]
    steps = [d.pick([1, 1, 2, -1, -2, 3, 7, -2**40]) for _ in axes]
    axes = [a.ndim + 1] * len(axes) if bad else axes
    if opset < 10:
        return Case(op, opset, [a], starts=start, ends=stop, axes=axes)
    if d.one_in(4):
        dtype = np.int32
        start, stop, steps = ([int(np.clip(v, -2**31, 2**31 - 1)) for v in k] for k in (start, stop, steps))
    else:
        dtype = np.int64
    operands = [a, vector(start, dtype), vector(stop, dtype)]
    if d.one_in(5) and not bad:
        return Case(op, opset, operands)
    return Case(op, opset, operands + [vector(axes, dtype)] + ([vector(steps, dtype)] if d.one_in(2) else []))


def concat(d, op, opset, bad):
    shape, dtype = d.shape(1, 3), d.pick(types_of(op, opset))
    axis = d.axis(len(shape), bad)
    if opset < 11 and axis < 0:
        axis += len(shape)
    parts = []
    for _ in range(1 + d.below(4)):
        own = list(shape)
        if not bad:
            own[axis] = d.below(4)
        parts.append(d.array(dtype, own))
    return Case(op, opset, parts, axis=axis)


def split(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape(1, 3))
    axis = d.axis(a.ndim)
    if opset < 11:
        axis %= a.ndim
    n, parts = a.shape[axis], 1 + d.below(3)
    if d.one_in(2):
        sizes = np.diff(np.sort(np.concatenate([[0], d.r.integers(0, n + 1, parts - 1), [n]]))).tolist()
        if bad:
            sizes[0] += 1
        if has_operand(op, opset, "split") and opset != 1:
            return Case(op, opset, [a, vector(sizes)], parts, axis=axis)
        return Case(op, opset, [a], parts, axis=axis, split=sizes)
    return Case(op, opset, [a], parts, axis=axis, **({"num_outputs": parts} if opset >= 18 else {}))


def gather(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape(1, 3))
    axis = d.axis(a.ndim)
    n = a.shape[axis]
    low = -n if opset >= 11 else 0
    shape = d.shape(0, 2)
    index = d.r.integers(low, n, shape) if n else np.zeros(shape if 0 in shape else [0], int)
    if bad and index.size:
        index = index + n
    return Case(op, opset, [a, np.asarray(index).astype(d.pick(INDEX))], axis=axis)


def scatter_nd(d, op, opset, bad):
    a = d.array(d.pick(types_of(op, opset)), d.shape(1, 3))
    depth = 1 + d.below(a.ndim)
    places = np.array(list(np.ndindex(*a.shape[:depth])), np.int64).reshape(-1, depth)
    index = places[d.r.permutation(len(places))[:d.below(len(places) + 1)]]
    if len(index) and d.one_in(2):
        index = index - np.array(a.shape[:depth]) * d.r.integers(0, 2, index.shape)
    if bad and len(index):
        index = index + a.shape[0]
    if index.size and len(index) % 2 == 0 and d.one_in(2):
        index = index.reshape(2, -1, depth)
    return Case(op, opset, [a, index, d.array(a.dtype, list(index.shape[:-1]) + list(a.shape[depth:]))])


def constant_of_shape(d, op, opset, bad):
    sizes = vector(d.shape())
    if bad:
        sizes = np.concatenate([sizes, [-2]]).astype(np.int64)
    types = [t for t in ALL if word(t) in VERSIONS[op][opset].outputs[0].types]
    if d.one_in(4):
        return Case(op, opset, [sizes])
    return Case(op, opset, [sizes], value=tensor(d.array(d.pick(types), [1]), "value"))


def range_(d, op, opset, bad):
    dtype = np.dtype(d.pick([np.int16, np.int32, np.int64] + FLOATS))
    start, limit = (d.array(dtype, [], wide=dtype.kind == "f") for _ in range(2))
    delta = d.pick([1, 2, 3, -1, -2] + ([0.1, 2.5] if dtype.kind == "f" else []))
    if np.isfinite(start) and np.isfinite(limit) and abs(float(limit) - float(start)) > 5000 * abs(delta):
        limit = start + dtype.type(2)
    return Case(op, opset, [np.asarray(start), np.asarray(limit), np.array(0 if bad else delta, dtype)])


def reduce_(d, op, opset, bad):
    a = d.array(d.pick([t for t in types_of(op, opset) if t in SIGNED + UNSIGNED]), d.shape())
    attrs = {"keepdims": d.below(2)} if d.one_in(2) else {}
    if has_operand(op, opset, "axes") and d.one_in(3):
        attrs["noop_with_empty_axes"] = d.below(2)
    if d.one_in(3) or a.ndim == 0:
        return Case(op, opset, [a], **attrs)
    axes = d.axes(a.ndim)
    if opset < 11:
        axes = [i % a.ndim for i in axes]
    return with_axes(op, opset, a, axes + [a.ndim] if bad else axes, **attrs)


KINDS = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div"), arithmetic), "Mod": modulo, "Min": extremes, "Max": extremes,
    "Pow": power, **dict.fromkeys(("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"), comparison),
    **dict.fromkeys(("And", "Or", "Xor"), logic),
    **dict.fromkeys(("Not", "Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Sqrt", "Reciprocal"), alone),
    "Where": where, "Cast": cast, "CastLike": cast_like, "Identity": same, "Shape": shape_of, "Size": shape_of,
    "Reshape": reshape, "Flatten": flatten, "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Transpose": transpose,
    "Expand": expand, "Tile": tile, "Slice": slice_, "Concat": concat, "Split": split, "Gather": gather,
    "ScatterND": scatter_nd,
    "ConstantOfShape": constant_of_shape, "Range": range_,
    **dict.fromkeys(("ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin"), reduce_)}


# ---- who else computes it

def session_of(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def model_of(cases):
    """Cases of one operator set, each apart from the others, as what makes the outputs of `outputs_of`.  Arrays of
    bfloat16 come as float32, which keeps every bit."""
    nodes, constants, outputs = [], [], []
    for k, case in enumerate(cases):
        nodes.append(case.node(f"c{k}"))
        outputs += outputs_of(case, k)
        constants += case.constants(f"c{k}")
        if makes_bfloat(case):
            nodes += [helper.make_node("Cast", [o], [o + "/wide"], to=onnx.TensorProto.FLOAT) for o in nodes[-1].output]
    graph = helper.make_graph(nodes, "cases", [], [onnx.ValueInfoProto(name=o) for o in outputs], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", cases[0].opset)], ir_version=9)


def outputs_of(case, k):
    """The outputs of case k of a model."""
    return [f"c{k}/r{i}" + ("/wide" if makes_bfloat(case) else "") for i in range(case.results)]


def makes_bfloat(case):
    if case.op == "Cast":
        return case.attrs["to"] == onnx.TensorProto.BFLOAT16
    if case.op == "ConstantOfShape":
        return "value" in case.attrs and case.attrs["value"].data_type == onnx.TensorProto.BFLOAT16
    last = case.operands[-1 if case.op in ("CastLike", "Where") else 0]
    return last.dtype == ml_dtypes.bfloat16 and case.op not in ("Shape", "Size")


def told_by_others(cases):
    """For each of some cases of one operator set the results as arrays, or None: refused; and by whom.  A model of all
    of them says what each alone would; if it is refused, halves are asked."""
    try:
        results = iter(session_of(model_of(cases)).run(None, {}))
        return [([next(results) for _ in range(case.results)], "ONNX Runtime") for case in cases]
    except Exception as error:
        text = str(error)
    if len(cases) > 1:
        half = len(cases) // 2
        return told_by_others(cases[:half]) + told_by_others(cases[half:])
    # versions before 7 are not its business, nor are those that it does not know yet
    if "NOT_IMPLEMENTED" not in text and cases[0].opset >= 7 and "guarantees" not in text:
        return [(None, text.split("\n")[0])]
    return [told_by_reference(cases[0])]


def told_by_reference(case):
    try:
        with np.errstate(all="ignore"):
            return [np.asarray(a) for a in ReferenceEvaluator(model_of([case])).run(None, {})], "the reference"
    except Exception:
        return None, None


def kernel_of(case):
    """By what ONNX Runtime may find a kernel or lack one, within one operator set."""
    return (case.op, *(v is not None and (v.dtype.name, v.ndim) for v in case.operands),
            str(sorted((k, str(v)) for k, v in case.attrs.items())))


def told_together(cases):
    """The same for many cases of one operator set.  Those that are wrong on purpose are asked alone; of the others the
    first of each kernel tells whether there is one."""
    told, kinds = {}, {}

    def ask(those, many):
        for at in range(0, len(those), many):
            some = those[at:at + many]
            told.update(zip(some, told_by_others([cases[i] for i in some])))

    for i, case in enumerate(cases):
        if not case.wrong:
            kinds.setdefault(kernel_of(case), []).append(i)
    ask([i for i, case in enumerate(cases) if case.wrong], 1)
    ask([those[0] for those in kinds.values()], TOGETHER)
    ask([i for those in kinds.values() if told[those[0]][1] not in (None, "the reference") for i in those[1:]],
        TOGETHER)
    told.update((i, told_by_reference(cases[i])) for those in kinds.values() for i in those if i not in told)
    return told


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# ---- what pcc makes of it

def folded(model, folder, name="cases"):
    """name -> array of the initializers after fold-constants, for bfloat16 as float32; None: a node still makes it."""
    path, out = Path(folder, f"{name}.onnx"), Path(folder, f"{name}_folded.onnx")
    onnx.save(model, path)
    r = subprocess.run([PCC, path, "-q", "-p", "fold-constants", "-o", out], capture_output=True, text=True)
    if not check(r.returncode == 0, f"{name}: {r.stderr[-500:]}"):
        return {}
    done = onnx.load(out)
    arrays = {t.name: numpy_helper.to_array(t) for t in done.graph.initializer}
    left = {name: None for node in done.graph.node for name in node.output}
    return left | {k: a.astype(np.float32) if a.dtype == ml_dtypes.bfloat16 else a for k, a in arrays.items()}


def model_of_all(cases, opset):
    nodes = [helper.make_node("Neg", ["x"], ["y"])] + [c.node(f"c{i}") for i, c in enumerate(cases)]
    graph = helper.make_graph(nodes, "cases", [helper.make_tensor_value_info("x", 1, [2])],
                              [helper.make_tensor_value_info("y", 1, [2])],
                              [t for i, c in enumerate(cases) for t in c.constants(f"c{i}")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def compare(case, got, told, count):
    """got: the results that pcc computed, as many as it did; told: those of others."""
    want, who = told
    count[case.op, "cases"] += 1
    if want is None and who is None:
        count[case.op, "nobody"] += 1
        return
    if want is None:
        count[case.op, "wrong"] += 1
        if got:
            complain(f"{case}: computed, but: {who[:200]}")
        return
    count[case.op, who] += 1
    count[case.op, case.operands[0].dtype.name, "told"] += 1
    if not got:
        return
    count[case.op, "folded"] += 1
    count[case.op, case.operands[0].dtype.name, "folded"] += 1
    if len(got) != len(want) or not all(same_bits(a, b) for a, b in zip(got, want)):
        complain(f"{case}: {[(a.dtype.name, a.tolist()) for a in got]}, {who}: "
                 f"{[(a.dtype.name, a.tolist()) for a in want]}"[:900])


def check_operators(folder):
    count, by_opset = Counter(), {}
    for op, make in KINDS.items():
        for opset in VERSIONS[op] if ONLY in ("", op) else ():
            d = Draw([opset, *op.encode()])
            versions = max(1, sum(v >= 7 for v in VERSIONS[op]))
            for k in range(TIMES * (160 // versions if opset >= 7 else 8)):
                case = make(d, op, opset, k % 8 == 7)
                case.wrong = k % 8 == 7
                by_opset.setdefault(opset, []).append(case)
    for opset, cases in sorted(by_opset.items()):
        made = folded(model_of_all(cases, opset), folder)
        told = told_together(cases) if not SANITIZED else {}  # the results are those of other builds
        for i, case in enumerate(cases if told else ()):
            results = [made.get(f"c{i}/r{k}") for k in range(case.results)]
            compare(case, [a for a in results if a is not None], told[i], count)
    if SANITIZED:
        return
    for op in KINDS if not ONLY else [ONLY]:
        c = {k: count[op, k] for k in ("cases", "ONNX Runtime", "the reference", "nobody", "wrong", "folded")}
        print(f"{op}: " + ", ".join(f"{k} {v}" for k, v in c.items()))
        check(c["folded"] >= (c["ONNX Runtime"] + c["the reference"]) * OFTEN.get(op, 0.6), f"{op}: seldom folded: {c}")
        for t in (np.dtype(t).name for t in ALL):
            check(count[op, t, "told"] < 8 or count[op, t, "folded"] > 0, f"{op}: never folded with {t}")


# ---- shapes that are known in part

class Chain:
    """Random shape arithmetic from the shape of an input with two symbolic dimensions."""

    def __init__(self, seed):
        self.d, self.name = Draw([seed, 7]), f"chain{seed}/"
        self.nodes, self.constants, self.vectors, self.scalars = [], [], {}, []
        self.vectors[self.add("Shape", "x")] = 4

    def add(self, op, *operands, **attrs):
        name = f"{self.name}v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(operands), [name], **attrs))
        return name

    def constant(self, values, dtype=np.int64):
        name = f"{self.name}k{len(self.constants)}"
        self.constants.append(tensor(np.array(values, dtype), name))
        return name

    def vector(self):
        name = self.d.pick(list(self.vectors))
        return name, self.vectors[name]

    def scalar(self):
        if not self.scalars or self.d.one_in(3):
            name, n = self.vector()
            self.scalars.append(self.add("Gather", name, self.constant(self.d.below(2 * n) - n)))
        return self.d.pick(self.scalars)

    def step(self):
        d, (v, n) = self.d, self.vector()
        what = d.below(13)
        if what == 0:
            chosen = [d.below(n) for _ in range(1 + d.below(4))]
            self.vectors[self.add("Gather", v, self.constant(chosen), axis=0)] = len(chosen)
        elif what == 1 and n > 1:
            at = d.below(n - 1)
            self.vectors[self.add("Slice", v, self.constant([at]), self.constant([n]))] = n - at
        elif what == 2:
            w, m = self.vector()
            k = self.add("Unsqueeze", self.scalar(), self.constant([0]))
            if n + m < 20:
                self.vectors[self.add("Concat", v, k, w, axis=0)] = n + m + 1
        elif what < 6:
            op = d.pick(["Add", "Sub", "Mul", "Max", "Min"])
            other = d.pick([v, self.scalar(), self.constant(d.below(9)), self.constant([d.below(5) for _ in range(n)])])
            self.vectors[self.add(op, *d.pick([(v, other), (other, v)]))] = n
        elif what == 6:
            self.vectors[self.add(d.pick(["Div", "Mod"]), v, self.constant(d.pick([2, 3, 8])))] = n
        elif what == 7:
            to = d.pick([onnx.TensorProto.INT32, onnx.TensorProto.FLOAT])
            self.vectors[self.add("Cast", self.add("Cast", v, to=to), to=onnx.TensorProto.INT64)] = n
        elif what == 8:
            which = self.add(d.pick(["Equal", "Less", "GreaterOrEqual"]), v, self.constant(8))
            self.vectors[self.add("Where", which, self.constant([-1] * n), v)] = n
        elif what == 9:
            self.scalars.append(self.add(d.pick(["ReduceProd", "ReduceSum", "ReduceMax"]), v, keepdims=0))
        elif what == 10:
            self.vectors[self.add("Reshape", self.add("Expand", v, self.constant([2, 1])), self.constant([-1]))] = 2 * n
        elif what == 11:
            self.scalars.append(self.add("Squeeze", self.add("Slice", v, self.constant([n - 1]), self.constant([n]))))
        else:
            self.scalars.append(self.add(d.pick(["Add", "Mul"]), self.scalar(), self.scalar()))
        self.vectors = {k: m for k, m in self.vectors.items() if m < 30}


SIZES = {"b": (2, 5, 64, 1), "s": (3, 7, 1, 1000)}


def model_of_chains(chains, outputs):
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["b", 8, "s", 64])
    nodes = [n for c in chains for n in c.nodes] + [helper.make_node("Neg", ["x"], ["y"])]
    graph = helper.make_graph(nodes, "chains", [x], [onnx.ValueInfoProto(name=o) for o in outputs],
                              [k for c in chains for k in c.constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def chain_of(seed):
    c = Chain(seed)
    for _ in range(25):
        c.step()
    for name, n in c.vectors.items():  # each element by itself
        for k in range(n):
            c.add("Gather", name, c.constant(k))
    return c


def check_some_chains(seeds, folder, count):
    """Chains of one model, which have nothing but its input in common."""
    chains = [chain_of(seed) for seed in seeds]
    names = [n.output[0] for c in chains for n in c.nodes]
    got = folded(model_of_chains(chains, ["y"]), folder, "chain")
    if SANITIZED:
        return
    session = session_of(model_of_chains(chains, names))
    runs = [dict(zip(names, session.run(None, {"x": np.zeros((b, 8, s, 64), np.float32)})))
            for b, s in zip(*SIZES.values())]
    for name in names:
        same = all(same_bits(runs[0][name], r[name]) for r in runs)
        left = name in got and got[name] is None  # what only folded nodes read is not there any more
        count["same"] += same
        count["known"] += same and not left
        for want in runs:
            if got.get(name) is not None and not same_bits(got[name], want[name]):
                complain(f"{name} is {want[name]}, computed {got[name]}")


def check_chains(folder):
    count = Counter()
    for first in range(0, 60 * TIMES, 10):
        check_some_chains(range(first, first + 10), folder, count)
    print(f"chains: {count['known']} values are known, {count['same']} are the same for all sizes")
    check(SANITIZED or count["known"] > 0.75 * count["same"], "too little is known of shapes with symbols")


# Operators of which fewer cases are computed: numbers that overflow or are not exact.
OFTEN = {"Pow": 0.25, "Sqrt": 0.5, "Range": 0.4}


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_operators(folder)
        if not ONLY:
            check_chains(folder)
    return finish()


sys.exit(main())
