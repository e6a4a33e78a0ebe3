"""shard against ONNX Runtime: pieces give the bits of the model, sums over devices are within their tolerance.

1. Single operators (shard_cases.py), in one model for each opset, with a choice drawn at random (shard{draw=SEED}), in
   2 or 4 ways: the rewritten model gives the bits of the original.  With PCC_ALL=1 each option of each node in 2 and 4
   ways (shard{number=K}), also of batch_cases.py; then each operator of the table of rules must have been cut, and
   results are counted by opset.  With PCC_OPSETS=21,22,23 beside it all operators in each of these opsets.
2. Models that pcc-gen makes: cut by the best choice and by random ones, split, and the parts verified.
3. Small models whose pieces have sizes, or places, of their own.
4. Sums over devices: what makes terms, keeps them and adds them up, in all opsets; tolerances; Megatron-LM's layout.
Needs onnx, numpy, onnxruntime (else 77)."""

# extras: none
# once: sanitized
import collections
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from with_ort import GEN, PCC, SOURCE, check, verified
sys.path.append(str(SOURCE / "tools/python/pcc"))
import batch_cases
import checks
import run_split
import numpy as np
import onnx
import onnxruntime as ort
import shard_cases

warnings.simplefilter("ignore")
ALL = os.environ.get("PCC_ALL") == "1"
# only single operators, and only these, with all options: for tools/bench/shard_errors.py
ONLY = set(os.environ.get("PCC_OPERATORS", "").split())
# in each of these opsets, all cases in their newest version up to it ("21,22,23"); else each version once
OPSETS = [int(k) for k in os.environ.get("PCC_OPSETS", "").split(",") if k]
# only these checks, for the same
CHECKS = os.environ.get("PCC_CHECKS", "").split()
# (seed, ways, sums) for models
MODEL_DRAWS = [(s, 2 + 2 * (s // 2 % 2), "none" if s % 2 else "any") for s in range(1, 41 if ALL else 3)]
# (opset, [(seed, ways, sums)]) of sums over devices
SAMPLE = [(7, [(1, 2, "any")]), (13, [(2, 4, "any"), (3, 2, "integers")]), (20, [(4, 2, "any"), (5, 4, "none")])]
SUMS = SAMPLE if not (ALL or CHECKS) else SAMPLE + [
    (k, [(s, 2 + 2 * (s % 2), "any") for s in range(1, 25)]) for k in (range(7, 24) if ALL else (7, 20))]
BATCH = 8
# operators that ONNX Runtime 1.31 does not have
TOO_NEW = {"CumProd"}
# operators that ONNX Runtime computes with other kernels for other shapes: they may round in another way
ROUNDS = {"Acos", "Asin", "Atan", "Conv", "Cos", "Einsum", "Elu", "Exp", "FusedConv", "Gemm", "GroupNormalization",
          "Log", "LogSoftmax", "MatMul", "Mish", "ReduceMean", "ReduceSum", "Sin", "Softmax", "Softplus", "Tan", "Tanh"}


def session(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(model if isinstance(model, bytes) else str(model), options,
                                providers=["CPUExecutionProvider"])


def sharded(path, out, ways, options):
    """pcc's run that writes a model, or a folder, for that many devices."""
    return subprocess.run([PCC, path, "-q", "-d", f"{ways}xa100", "-p", f"shard{{ways={ways}:{options}}}", "-o", out],
                          capture_output=True, text=True)


def renamed(model, prefix):
    """The graph of a model with a prefix before all names of values and nodes."""
    g = model.graph
    for v in (*g.input, *g.output, *g.initializer, *g.value_info):
        v.name = prefix + v.name
    for n in g.node:
        n.name = prefix + n.name
        for names in (n.input, n.output):
            for i, name in enumerate(names):
                names[i] = name and prefix + name
    return g


def merged(cases, proven):
    """One model of all these cases that ONNX Runtime runs, sizes of the batch as numbers; its inputs; and case by
    prefix of names.  proven: ONNX Runtime runs all of them."""
    rng = np.random.default_rng(4)
    whole, inputs, case_of = None, {}, {}
    for k, c in enumerate(cases):
        if any(n.name for n in c.model("b").graph.node if n.attribute and any(a.HasField("g") for a in n.attribute)):
            continue
        m, prefix = c.model("b"), f"c{k}_"
        for i in m.graph.input:
            for d in i.type.tensor_type.shape.dim:
                if d.dim_param:
                    d.dim_value = BATCH
        fed = c.inputs(collections.defaultdict(lambda: BATCH), rng)
        try:
            if not proven:
                session(m.SerializeToString()).run(None, fed)
        except Exception:  # of many types: the case is about other sizes, or not for ONNX Runtime
            continue
        inputs |= {prefix + name: v for name, v in fed.items()}
        case_of[prefix] = c
        g = renamed(m, prefix)
        if whole is None:
            whole = m
            continue
        for a in ("node", "input", "output", "initializer"):
            getattr(whole.graph, a).extend(getattr(g, a))
    return whole, inputs, case_of


def same(a, b, op):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.tobytes() == b.tobytes():
        return True
    return op in ROUNDS and a.dtype.kind == "f" and np.allclose(a, b, 1e-5, 1e-5 * np.nanmax(np.abs(a)), equal_nan=True)


def table():
    """The operators of the table of rules."""
    return set(re.findall(r'^    {"(\w+)", ', (SOURCE / "passes/shard/rules.c").read_text(), re.MULTILINE))


def groups():
    """Cases to be computed together: opset, cases, whether ONNX Runtime is known to run all of them."""
    known = table()
    found = collections.defaultdict(list)
    for proven, module in ((True, shard_cases), *([(False, batch_cases)] if ALL else [])):
        for c in module.all_cases():
            if c.run is True and c.good is True and c.op in (ONLY or known) and c.nodes is None:
                found[c.opset, proven].append(c)
    return [((k, False), newest(found, k)) for k in OPSETS] or sorted(found.items())


def newest(found, opset):
    """The cases of operators of ONNX in their newest version up to an opset, as cases of that opset; all others."""
    best = {}
    for (k, _), cases in sorted(found.items()):
        best |= {re.sub(r" opset \d+", "", str(c)): c for c in cases if k <= opset or c.domain}
    made = [copy.copy(c) for c in best.values()]
    for c in made:
        c.opset = opset
    return made


def check_operators(folder):
    cut, ran, results = collections.Counter(), set(), collections.Counter()
    for at, ((opset, proven), cases) in enumerate(groups()):
        model, inputs, case_of = merged(cases, proven)
        ran |= {c.op for c in case_of.values()}
        path, out = folder / f"ops{opset}.onnx", folder / "out.onnx"
        onnx.save(model, path)
        s = session(path)
        names = [o.name for o in s.get_outputs()]
        want = dict(zip(names, s.run(None, inputs)))
        # a choice at random; all of them: option 1, 2, ... of each node
        draws = ([(f"number={k}", ways) for k in range(1, 17) for ways in (2, 4)] if ALL or ONLY
                 else [(f"draw={at + 1}", 2 + 2 * (at % 2))])
        for draw, ways in draws:
            what = f"opset {opset}, {ways} ways, {draw}"
            r = sharded(path, out, ways, draw)
            if not check(r.returncode == 0, f"{what}: {r.stderr[-300:]}"):
                continue
            made = onnx.load(out)
            cut.update({case_of[n.name.split("_")[0] + "_"].op for n in made.graph.node if ".gather" in n.name})
            try:
                got = dict(zip(names, session(out).run(names, inputs)))
            except Exception as why:
                check(False, f"{what}: {str(why)[:400]}")
                continue
            results[opset] += len(names)
            for name in names:
                case = case_of[name.split("_")[0] + "_"]
                check(same(want[name], got[name], case.op), f"{case} ({name}), {what}: other results")
    if ALL and not ONLY:
        check(OPSETS or table() - ran <= TOO_NEW, f"no case of {sorted(table() - ran)}")
        check(set(cut) == ran, f"never cut: {sorted(ran - set(cut))}")
        print("results compared:", ", ".join(f"opset {k}: {n}" for k, n in sorted(results.items())))
    return cut


# What pcc-gen makes; whether its results are the same bits
GENERATED = {
    "gpt": ("--layers 2 --width 64 --heads 4 --vocab 60", True),
    "bert": ("--layers 2 --width 64 --heads 4 --vocab 60", True),
    "moe": ("--layers 1 --width 64 --heads 4 --vocab 60", True),
    "encoder-decoder": ("--layers 1 --width 32 --heads 4 --vocab 60", True),
    "resnet": ("--width 8", False),
    "inception": ("--blocks 2 --width 8", False),
    "unet": ("--layers 1 --width 16", False),
}


def drawn(s):
    """Inputs for a session: names of dimensions are 2, 3, ... in the order in which they come."""
    rng, sizes, fed = np.random.default_rng(1), {}, {}
    for i in s.get_inputs():
        shape = [d if isinstance(d, int) else sizes.setdefault(d, 2 + len(sizes)) for d in i.shape]
        fed[i.name] = (rng.standard_normal(shape).astype(np.float32) if i.type == "tensor(float)"
                       else rng.integers(0, 2, shape))
    return fed


def check_models(folder):
    for name, (options, exact) in GENERATED.items():
        if name in ("inception", "unet") and not ALL:
            continue
        path, out = folder / f"{name}.onnx", folder / "out.onnx"
        subprocess.run([GEN, name, "-o", path, *options.split()], check=True)
        s = session(path)
        fed = drawn(s)
        want = s.run(None, fed)
        for seed, ways, sums in MODEL_DRAWS:
            what = f"{name}, {ways} ways, seed {seed}, sums={sums}"
            r = sharded(path, out, ways, f"draw={seed}:sums={sums}")
            if not check(r.returncode == 0, f"{what}: {r.stderr[-300:]}"):
                continue
            try:
                got = session(out).run(None, fed)
            except Exception as why:
                check(False, f"{what}: {str(why)[:400]}")
                continue
            for a, b in zip(want, got):
                check(same(a, b, "" if exact and sums == "none" else "Conv"),
                          f"{what}: off by {np.abs(a - b).max()}, the largest value is {np.abs(a).max()}")


def odd_models():
    """Models whose pieces have sizes, or places, of their own: name, model, inputs."""
    from onnx import TensorProto, helper, numpy_helper

    def model(nodes, inputs, outputs, weights=(), functions=()):
        """Inputs and outputs: name -> sizes."""
        many = [[helper.make_tensor_value_info(k, TensorProto.FLOAT, v) for k, v in list_.items()]
                for list_ in (inputs, outputs)]
        held = [numpy_helper.from_array(v, k) for k, v in dict(weights).items()]
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
        return helper.make_model(helper.make_graph(nodes, "g", *many, held), opset_imports=opsets, functions=functions,
                                 ir_version=9)

    rng, node = np.random.default_rng(2), helper.make_node
    x, w = rng.standard_normal((4, 8), np.float32), rng.standard_normal((8, 12), np.float32)
    product = node("MatMul", ["x", "w"], ["a"])
    yield "a piece of size 1 and Squeeze", model(
        [product, node("Squeeze", ["a"], ["b"]), node("Relu", ["b"], ["y"])], {"x": [1, 4, 8]}, {"y": [4, 12]},
        {"w": w}), {"x": x[None]}
    yield "Expand to sizes that are 1", model(
        [product, node("Shape", ["z"], ["s"]), node("Expand", ["a", "s"], ["y"])],
        {"x": [4, 8], "z": ["m", "k"]}, {"y": [4, 12]}, {"w": w}), {"x": x, "z": x[:1, :1]}
    made = [node("Expand", ["one", "to"], ["c0"]), node("Mul", ["c0", "w"], ["c1"]),
            node("Concat", ["w", "w"], ["v"], axis=1), node("Slice", ["v", "from", "end", "axis"], ["c2"]),
            node("Reshape", ["c2", "flat"], ["f"]), node("Add", ["f", "f"], ["g"]),
            node("Reshape", ["g", "to"], ["c3"]), node("Split", ["v"], ["c4", "c5"], axis=1)]
    yield "constants that several nodes compute", model(
        made + [node("MatMul", ["x", f"c{k}"], [f"y{k}"]) for k in range(6)], {"x": [4, 8]},
        {f"y{k}": [4, 12] for k in range(6)},
        {"w": w, "one": np.ones(1, np.float32), "to": np.array([8, 12]), "flat": np.array([96]),
         "from": np.array([12]), "end": np.array([24]), "axis": np.array([1])}), {"x": x}
    past, present = "past_key_values.0.key", "present.0.key"
    yield "sizes of what is computed once", model(
        [product, node("Relu", [past], ["r"]), node("Shape", ["r"], ["s"]), node("Cast", ["s"], ["f"], to=1),
         node("Gather", ["f", "one"], ["n"]), node("Add", ["a", "n"], ["y"]),
         node("Concat", [past, "new"], [present], axis=1)], {"x": [4, 8], past: ["B", "P"], "new": ["B", "T"]},
        {"y": [4, 12], present: ["B", "P+T"]}, {"w": w, "one": np.array(1)}), {"x": x, past: x, "new": x}
    info = helper.make_tensor_value_info
    bodies = [helper.make_graph(nodes, name, ins, [info(o, TensorProto.FLOAT, None) for o in outs])
              for name, nodes, ins, outs in (
                  ("then", [node("Mul", ["a", "r"], ["t"])], [], ["t"]),
                  ("else", [node("Sub", ["a", "r"], ["e"])], [], ["e"]),
                  ("scan", [node("Add", ["s", "i"], ["s2"]), node("MatMul", ["s2", "k"], ["o"])],
                   [info(n, TensorProto.FLOAT, [12]) for n in ("s", "i")], ["s2", "o"]))]
    yield "values that bodies capture", model(
        [product, node("Relu", ["a"], ["r"]), node("MatMul", ["z", "w"], ["k"]),
         node("If", ["yes"], ["c"], then_branch=bodies[0], else_branch=bodies[1]),
         node("Scan", ["zero", "c"], ["f", "g"], body=bodies[2], num_scan_inputs=1), node("Neg", ["g"], ["y"])],
        {"x": [4, 8], "z": [12, 8]}, {"y": [4, 12]},
        {"w": w, "yes": np.array(False), "zero": np.zeros(12, np.float32)},), {
            "x": x, "z": rng.standard_normal((12, 8), np.float32)}
    twice = helper.make_function("own", "Twice", ["p"], ["q"], [node("Add", ["p", "p"], ["q"])],
                                 [helper.make_opsetid("", 17)])
    yield "a function", model([product, node("Twice", ["a"], ["y"], domain="own")], {"x": [4, 8]}, {"y": [4, 12]},
                              {"w": w}, [twice]), {"x": x}


def check_odd(folder):
    path, out = folder / "odd.onnx", folder / "out.onnx"
    for what, model, fed in odd_models():
        onnx.save(model, path)
        want = session(path).run(None, fed)
        for ways, seed in ((4, 6), (4, 10), (2, 1)):
            r = sharded(path, out, ways, f"draw={seed}:sums=any")
            if not check(r.returncode == 0, f"{what}, {ways} ways, seed {seed}: {r.stderr[-300:]}"):
                continue
            try:
                got = session(out).run(None, fed)
            except Exception as why:
                check(False, f"{what}, {ways} ways, seed {seed}: {str(why)[:400]}")
                continue
            check(all(same(a, b, "MatMul") for a, b in zip(want, got)),
                  f"{what}, {ways} ways, seed {seed}: other results")


def sums_model(opset, elem=np.float32):
    """A model of products, convolutions and reductions, each followed by what keeps terms or adds them up; its inputs.
    Sizes are multiples of 4, so that all can be cut by 2 and 4."""
    from onnx import helper, numpy_helper

    rng, node = np.random.default_rng(3), helper.make_node
    nodes, held, fed, made = [], {}, {}, []

    def weight(name, value):
        held[name] = value
        return name

    def values(*shape):
        return rng.standard_normal(shape).astype(elem)

    def put(op, ins, n=1, **attrs):
        outs = [f"v{len(made)}_{k}" for k in range(n)]
        made.append(op)
        nodes.append(node(op, ins, outs, name=f"n{len(made)}_{op}", **attrs))
        return outs[0] if n == 1 else outs

    def axes(op, x, list_, **attrs):
        if opset >= (18 if op not in ("ReduceSum", "Squeeze", "Unsqueeze") else 13):
            return put(op, [x, weight(f"axes{len(held)}", np.array(list_, np.int64))], **attrs)
        return put(op, [x], axes=list_, **attrs)

    outputs = []
    x, y = (fed.setdefault(k, values(3, 4, 8)) is not None and k for k in "xy")
    for i in range(6):  # products, each with another way on
        p = put("MatMul", [x, weight(f"w{i}", values(8, 12))])
        q = put("MatMul", [y, f"w{i}"])
        bias, one = weight(f"b{i}", values(12)), weight(f"o{i}", values(1))
        outputs += {
            0: lambda: [put("Add", [put("Add", [p, bias]), q]), put("Sub", [put("Neg", [p]), bias])],
            1: lambda: [put("Add", [q, put("Mul", [one, put("Add", [bias, p])])]),
                        put("Sum", [bias] * (opset >= 8) + [p, q])],
            2: lambda: [put("Relu", [put("Transpose", [p], perm=[2, 0, 1])]), put("Div", [p, bias]),
                        put("Mul", [q, q]), put("Add", [p, p])],
            3: lambda: [put("Reshape", [p, weight("flat", np.array([12, 12], np.int64))]),
                        axes("Unsqueeze", put("Identity", [q]), [0])],
            4: lambda: put("Split", [p], 3, axis=2, **({"num_outputs": 3} if opset >= 18 else {})) + [
                put("Gather", [p, weight("which", np.array([2, 0], np.int64))], axis=1)],
            5: lambda: [axes("ReduceSum", p, [1], keepdims=0), axes("ReduceMean", q, [0, 2]),
                        put("Expand", [p, weight("to", np.array([2, 3, 4, 12], np.int64))]) if opset >= 8 else
                        put("Mul", [bias, p])]}[i]() + ([put("Erf", [p])] if opset >= 9 else [])
    g, c = weight("g", values(12, 8)), weight("c", values(1, 12))
    a = put("Reshape", [x, weight("rows", np.array([12, 8], np.int64))])
    outputs += [put("Gemm", [a, g, c], transB=1, alpha=0.5, beta=2.0),
                put("Add", [put("Gemm", [put("Transpose", [a], perm=[1, 0]), g, "b0"], transA=1, transB=1), "b1"])]
    image = put("Reshape", [x, weight("image", np.array([1, 8, 3, 4], np.int64))])
    conv = put("Conv", [image, weight("k", values(4, 8, 3, 3)), weight("kb", values(4))], pads=[1, 1, 1, 1])
    outputs += [put("Relu", [put("GlobalAveragePool", [conv])]), put("AveragePool", [conv], kernel_shape=[2, 2]),
                put("ConvTranspose", [image, weight("t", values(8, 4, 2, 2)), "kb"])]
    for op in ("ReduceSum", "ReduceMean", "ReduceL1", "ReduceSumSquare"):
        outputs += [axes(op, x, [2]), axes(op, y, [-2, 2], keepdims=0)]
    odd = put("Relu", [put("MatMul", [x, weight("w13", values(8, 13))])])  # pieces of 7 and 6, of 4, 4, 4 and 1
    last = put("Add", [put("MatMul", [odd, weight("v13", values(13, 9))]), weight("b9", values(9))])
    outputs += [last, put("Tanh", [last]), put("Shape", [odd]), put("Size", [odd]), axes("ReduceSum", odd, [2]),
                axes("ReduceMean", odd, [2]), put("Transpose", [odd], perm=[2, 0, 1]),
                put("Neg", [put("Reshape", [odd, weight("keep", np.array([12, 13], np.int64))])]),
                put("Exp", [put("Reshape", [odd, weight("zeros", np.array([0, -1, 13], np.int64))])])]
    if opset >= 10:
        fed["u"] = rng.integers(0, 200, (4, 8)).astype(np.uint8)
        w = weight("wi", rng.integers(0, 200, (8, 4)).astype(np.uint8))
        zeros = [weight("z1", np.uint8(3)), weight("z2", np.uint8(100))]
        whole = put("MatMulInteger", ["u", w, *zeros])
        outputs += [put("Add", [whole, weight("bi", np.arange(4, dtype=np.int32))]), put("Neg", [whole])]
        pixels = put("Reshape", ["u", weight("pix", np.array([1, 8, 2, 2], np.int64))])
        outputs += [put("ConvInteger", [pixels, weight("ki", rng.integers(0, 9, (4, 8, 1, 1)).astype(np.uint8)), "z1"])]
    inputs = [helper.make_tensor_value_info(k, onnx.helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
              for k, v in fed.items()]
    outs = [onnx.ValueInfoProto(name=o) for o in outputs]
    graph = helper.make_graph(nodes, "sums", inputs, outs, [numpy_helper.from_array(np.asarray(v), k)
                                                          for k, v in held.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)
    return onnx.shape_inference.infer_shapes(model), fed


def check_sums(folder):
    """What makes terms, keeps them and adds them up, by choices drawn at random; sums of integers alone are exact."""
    path, out = folder / "sums.onnx", folder / "out.onnx"
    summed = collections.Counter()
    for opset, draws in SUMS:
        model, fed = sums_model(opset)
        onnx.save(model, path)
        want = session(path).run(None, fed)
        names = [o.name for o in model.graph.output]
        for seed, ways, sums in draws:
            what = f"sums={sums}, opset {opset}, {ways} ways, seed {seed}"
            r = sharded(path, out, ways, f"draw={seed}:sums={sums}")
            if not check(r.returncode == 0, f"{what}: {r.stderr[-300:]}"):
                continue
            made = onnx.load(out)
            summed.update(n.name.split("@")[0] for n in made.graph.node if ".sum" in n.name or n.op_type == "Sum")
            check_order(made, what)
            try:
                got = session(out).run(names, fed)
            except Exception as why:
                check(False, f"{what}: {str(why)[:400]}")
                continue
            for name, a, b in zip(names, want, got):
                good = np.array_equal(a, b) if a.dtype.kind in "iu" else a.shape == b.shape and np.allclose(
                    a, b, 0, 1e-5 * np.abs(a).max())
                check(good, f"{what}: {name} is off")
    return summed


def check_order(made, what):
    """All devices add up terms in the same order, so that what is whole is the same bits on all of them."""
    lists = collections.defaultdict(list)
    for n in made.graph.node:
        if n.op_type == "Sum":
            lists[re.sub("@[0-9]+", "", n.name)].append(list(n.input))
    for name, each in lists.items():
        terms = set.intersection(*map(set, each))
        check(len({tuple(v for v in k if v in terms) for k in each}) == 1, f"{what}: {name} adds up {each}")


def check_quantised(folder):
    """Floats that are rounded to steps later are not added up over devices, whatever is between."""
    from onnx import TensorProto, helper, numpy_helper

    node, info, rng = helper.make_node, helper.make_tensor_value_info, np.random.default_rng(3)
    held = {"w": rng.standard_normal((8, 12), np.float32), "s": np.float32(0.1), "z": np.uint8(3),
            "b": np.ones((12, 4), np.uint8)}
    nodes = [made for k in "abc" for made in (node("MatMul", ["x", "w"], [k]), node("Relu", [k], [f"r{k}"]))]
    nodes += [node("QuantizeLinear", ["ra", "s", "z"], ["q"]),
              node("DynamicQuantizeMatMul", ["rb", "b", "s", "z"], ["r"], domain="com.microsoft")]
    outputs = [info("q", TensorProto.UINT8, [4, 12]), *(info(n, TensorProto.FLOAT, None) for n in ("r", "rc"))]
    graph = helper.make_graph(nodes, "g", [info("x", TensorProto.FLOAT, [4, 8])], outputs,
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in held.items()])
    path, out, summed = folder / "steps.onnx", folder / "out.onnx", set()
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), path)
    for seed in range(1, 6):
        r = sharded(path, out, 2, f"draw={seed}:sums=any")
        if check(r.returncode == 0, r.stderr[-300:]):
            summed |= {n.name.split("@")[0] for n in onnx.load(out).graph.node if ".sum" in n.name}
    check(summed == {"c"}, f"added up: {summed}")


def check_random(folder):
    """Random numbers are drawn on one device, and sent."""
    from onnx import helper

    node, info = helper.make_node, helper.make_tensor_value_info
    w = onnx.numpy_helper.from_array(np.random.default_rng(3).standard_normal((8, 12)).astype(np.float32), "w")
    many = [onnx.numpy_helper.from_array(np.array(v), k) for k, v in (("ratio", np.float32(0.5)), ("yes", True))]
    nodes = [node("MatMul", ["x", "w"], ["a"])]
    for k, (op, more) in enumerate((("RandomNormalLike", []), ("Bernoulli", []), ("Dropout", ["ratio", "yes"]))):
        nodes += [node(op, ["a", *more], [f"r{k}"]), node("Relu", [f"r{k}"], [f"s{k}"]),
                  node("Add", ["a", f"s{k}"], [f"y{k}"])]
    outputs = [info(f"y{k}", 1, [4, 12]) for k in range(3)]
    graph = helper.make_graph(nodes, "g", [info("x", 1, [4, 8])], outputs, [w, *many])
    path, out = folder / "random.onnx", folder / "out.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    r = sharded(path, out, 2, "draw=1")
    if check(r.returncode == 0, r.stderr[-300:]):
        made = collections.Counter(n.op_type for n in onnx.load(out).graph.node)
        found = {op: made[op] for op in ("RandomNormalLike", "Bernoulli", "Dropout", "MatMul")}
        check(list(found.values()) == [1, 1, 1, 2], f"nodes: {found}")


def check_tolerance(folder):
    """What is added up in another order is within the manifest's tolerance, which the verifiers take and name; bits,
    which --tolerance=0 demands, differ.  Parts have the bits of the rewritten model."""
    path, out = folder / "tiny.onnx", folder / "tiny"
    subprocess.run([GEN, "gpt", "-o", path, *"--layers 1 --width 64 --heads 4 --vocab 60".split()], check=True)
    r = sharded(path, out, 2, "draw=3:sums=any")
    if not check(r.returncode == 0, r.stderr[-300:]):
        return
    sharding = json.loads((out / "manifest.json").read_text())["sharding"]
    check((sharding["sums"], sharding["tolerance"]) == ("any", 1e-5), f"{sharding}")
    code, said = verified(path, out)
    check(code == 0 and "tolerance: 1e-05 of the largest value of an output, the manifest's" in said
          and "0 bit-equal, 1 within 1e-05 of the largest value" in said, said)
    code, said = verified(path, out, "--quiet", "--tolerance=0")
    check(code == 1 and "DIFFERENT: output 'logits'" in said, said)
    verify_split = sys.modules["verify_split"]
    check(verify_split.difference(np.array([100, 2]), np.array([101, 2]), floats=0.1) is not None
          and verify_split.difference([np.float32([100, 2])], [np.float32([101, 2])], floats=0.1) is None,
          "verify_split.py: a tolerance is that of floats")
    for options, ok, words in ([], True, "within 1e-05 of the largest, since devices add up floats"), (
            ["--tolerance=0"], False, "elements differ"):
        r = subprocess.run([sys.executable, out / "run_split.py", "--verify", path, *options], capture_output=True,
                           text=True)
        check((r.returncode == 0) == ok and words in r.stdout + r.stderr, f"run_split.py {options}: {r.returncode} "
              f"{r.stdout} {r.stderr}")
    verify = Path(PCC).with_name("pcc-verify")
    if verify.exists():
        for options, code, words in (
                ([], 0, "1 within 1e-05 of the largest value"), (["--tolerance=0"], 1, "DIFFERENT"),
                (["--tolerance=2"], 2, "expected a number from 0 to 1")):
            r = subprocess.run([verify, path, out, *options], capture_output=True, text=True)
            check(r.returncode == code and words in r.stdout + r.stderr and "not the source" not in r.stderr,
                  f"pcc-verify {options}: {r.returncode} {r.stderr}")


# Layers of Megatron-LM's four models: width, heads
MEGATRON = (1536, 16), (1920, 20), (2304, 24), (3072, 32)


def check_megatron(folder):
    """Two devices share a layer as Megatron-LM's do: q, k, v and the first product of the MLP by columns, the products
    behind them by rows, and one sum behind each; nothing else is exchanged but the logits."""
    path = folder / "megatron.onnx"
    for width, heads in MEGATRON:
        subprocess.run([GEN, "gpt", "-o", path, "--no-weights", "--layers", "1", "--width", str(width), "--heads",
                        str(heads), "--vocab", "16384"], check=True)
        os.truncate(os.open(path.with_suffix(".weights"), os.O_CREAT | os.O_WRONLY), 1 << 30)  # no bytes are read
        r = subprocess.run([PCC, path, "-q", "-d", "2xa100", "--group=2:nvlink3", "--dim", "sequence=1024", "-p",
                            "shard{ways=2:sums=any}", "--emit", "ir"], capture_output=True, text=True)
        cut = {n: (axis, int(run)) for n, axis, run in re.findall(
            r'init %"h.0.([\w.]+).weight@(\d)\.(\d+)\.0"', r.stdout)}
        check(cut == {"attn.qkv": ("1", width // 2), "attn.proj": ("0", width // 2), "mlp.fc": ("1", 2 * width),
                      "mlp.proj": ("0", 2 * width)}, f"width {width}: weights are cut {cut} {r.stderr[-300:]}")
        made = re.findall(r'%"?(\S+?)(?:@0)?"? = (Sum|Concat|Slice|Split)\(', r.stdout)
        made = [(name, op) for name, op in made if "@1" not in name and "attn/Split" not in name]
        check(made == [("/h.0/Add_output_0", "Sum"), ("/h.0/Add_1_output_0", "Sum"), ("logits", "Concat")],
              f"width {width}: exchanges are {made}")


def check_more_choices(folder):
    """Sums over devices are more choices: they take no longer than without, also where the search cannot see all of
    them (experts, whose results are added up one by one, in 16 ways), which the report says."""
    path, took = folder / "moe.onnx", {}
    subprocess.run([GEN, "moe", "-o", path, "--no-weights", "--kv", *"--layers 1 --width 2048 --heads 8 --kv-heads 2 "
                    "--ffn 4096".split()], check=True)
    for sums in ("none", "any"):
        r = subprocess.run([PCC, path, "-d", "16xa100", "--link=63GB/s,5us", "--part-cost=0", "--precision=tf32",
                            *(f"--dim={d}=64" for d in ("sequence", "past_sequence")), "-p",
                            f"shard{{ways=16:sums={sums}}}"], capture_output=True, text=True)
        found = re.search(r"in lock step ([\d.]+) ms, feasible", r.stdout)
        check(found is not None, f"experts, sums={sums}: {r.stdout[-900:]} {r.stderr[-300:]}")
        took[sums] = float(found[1]) if found else 0
    check(took["any"] <= took["none"], f"experts in 16 ways, ms: {took}")


def check_training(folder):
    path = folder / "train.onnx"
    subprocess.run([GEN, "train", "-o", path, *"--layers 1 --width 32 --heads 2 --vocab 30".split()], check=True)
    r = subprocess.run([PCC, path, "-q", "-d", "2xa100", "-p", "shard{ways=2}"], capture_output=True, text=True)
    check(r.returncode == 1 and "this is a training graph" in r.stderr, f"a training graph: {r.stderr[-300:]}")


def check_pictures(folder):
    """Pieces are folded by layer, on each device; in the model before, layers that are alike are drawn once."""
    for view, said in (("blocks", "2 x {"), ("shards", "2 layers like this")):
        r = subprocess.run([PCC, folder / "gpt.onnx", "-q", "-d", "2xa100", "-p", "shard{ways=2}", "--emit", "dot",
                            f"--view={view}"], capture_output=True, text=True)
        check(r.returncode == 0 and said in r.stdout, f"--view={view}: {r.returncode} {r.stderr}")


def check_weights(folder):
    """A matrix of which there are pieces is not written as a whole, too; weights of old models, which are inputs at the
    same time, are cut in the file, not when the model runs."""
    from onnx import TensorProto, helper, numpy_helper

    path, size = folder / "external.onnx", []
    subprocess.run([GEN, "gpt", "-o", path, "--external", *"--layers 1 --width 64 --heads 4 --vocab 60".split()],
                   check=True)
    for k, planner in enumerate(("one-place", "shard{ways=2:number=1}")):
        out = folder / f"weights{k}"
        subprocess.run([PCC, path, "-q", "-d", "2xa100", "-p", planner, "--dim=batch=1", "--dim=sequence=8",
                        "--pictures=none", "-o", out], check=True)
        size.append((out / "weights.data").stat().st_size)
    check(size[1] < 1.5 * size[0], f"bytes of weights.data, whole and in pieces: {size}")

    w = np.random.default_rng(3).standard_normal((8, 16)).astype(np.float32)
    x, held, y = (helper.make_tensor_value_info(k, TensorProto.FLOAT, v)
                  for k, v in (("x", [4, 8]), ("w", [8, 16]), ("y", [4, 16])))
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], name="n")], "g", [x, held], [y],
                              [numpy_helper.from_array(w, "w")])
    out = folder / "old_out.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=3), folder / "old.onnx")
    subprocess.run([PCC, folder / "old.onnx", "-q", "-d2xa100", "-p", "shard{ways=2:number=2}", "-o", out], check=True)
    names = [i.name for i in onnx.load(out).graph.initializer]
    check({"w@1.8.0", "w@1.8.1"} <= set(names), f"initializers: {names}")

    w = np.random.default_rng(3).standard_normal((512, 8)).astype(np.float32)
    rows = helper.make_graph([helper.make_node("Gemm", ["x", "w"], ["y"], name="n", transB=1)], "g", [x],
                             [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 512])],
                             [numpy_helper.from_array(w, "w")])
    path, out = folder / "rows.onnx", folder / "rows"
    onnx.save(helper.make_model(rows, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path,
              save_as_external_data=True, location="rows.bin", size_threshold=0)
    subprocess.run([PCC, path, "-q", "-d2xa100", "-p", "shard{ways=2:number=2}", "--weights=original", "-o",
                    out], check=True)
    parts = [t for f in out.glob("part*.onnx") for t in onnx.load(f, load_external_data=False).graph.initializer]
    check(not (out / "weights.data").exists() and {t.name for t in parts} == {"w@0.256.0", "w@0.256.1"},
          f"rows of a matrix are not referred to: {[t.name for t in parts]}")
    code, said = verified(path, out, "--quiet")
    check(code == 0 and "bit-equal" in said, said)


def check_devices(folder):
    path = folder / "dense.onnx"
    subprocess.run([GEN, "dense", "-o", path, "--layers", "1", "--width", "64"], check=True)
    r = subprocess.run([PCC, path, "-v", "-d", "67xa100", "-p", "shard"], capture_output=True, text=True)
    check(r.returncode == 0 and "no number from 2 to 64 divides 67" in r.stderr, f"67 devices: {r.stderr[-300:]}")
    views = "--tables 2 --rows 50 --width 7 --ffn 15 --features 5".split()  # a Reshape to 9 positions takes no time
    subprocess.run([GEN, "dlrm", "-o", path, *views], check=True)
    r = subprocess.run([PCC, path, "-d", "4xa100", "-p", "shard{ways=4}"], capture_output=True, text=True)
    check(r.returncode == 0 and "axis of 3 is whole" in r.stdout and "axis of 9" not in r.stdout,
          f"axes that do not divide: {r.returncode} {r.stdout} {r.stderr}")


def check_states(folder):
    """A model whose caches each device has a piece of: the parts, fed with pieces, give the bits of the whole."""
    path, out = folder / "llama.onnx", folder / "split"
    size = "--layers 1 --width 256 --heads 8 --kv-heads 4 --vocab 61"  # uneven pieces
    subprocess.run([GEN, "llama", "--kv", "-o", path, *size.split()], check=True)
    r = subprocess.run([PCC, path, "-q", "-d", "2xa100", "--part-cost=0", "-p", "shard{ways=2:draw=3}", "-o", out],
                       capture_output=True, text=True)
    if not check(r.returncode == 0, r.stderr[-300:]):
        return
    manifest = json.loads((out / "manifest.json").read_text())
    kept = {s["in"]: (s["axis"], s["run"]) for s in manifest["sharding"]["states"]}
    check(kept == {f"past_key_values.0.{k}": (1, 2) for k in ("key", "value")}, f"states in pieces: {kept}")
    names = ["input_ids", *kept]
    check([i["name"] for i in manifest["inputs"]] == names, f"inputs: {manifest['inputs']}")
    check([o["from"] for o in manifest["outputs"]][1:] == ["pieces"] * 2, f"outputs: {manifest['outputs']}")
    check([s["in"] for s in manifest["states"]] == names[1:], f"states: {manifest['states']}")
    first = manifest["sharding"]["states"][0]["pieces"]
    check(first[1] == {"in": "past_key_values.0.key@1", "out": "present.0.key@1"}, f"pieces: {first}")
    check_weight_pieces(path, out, manifest["sharding"]["weights"])
    check(manifest["sharding"]["groups"] == [["acc0", "acc1"]], f"groups: {manifest['sharding']['groups']}")
    code, said = verified(path, out, "--quiet")
    check(code == 0 and "bit-equal" in said, said)
    check_whole_tensors(path, out, folder, manifest)
    check_exports(out)
    broken = json.loads(json.dumps(manifest))
    del broken["sharding"]["states"][0]["run"]
    (out / "manifest.json").write_text(json.dumps(broken))
    code, said = verified(path, out, "--quiet")
    check(code == 1 and "run" in said, f"a state without a run: {said}")
    verify = Path(PCC).with_name("pcc-verify")
    if verify.exists():
        r = subprocess.run([verify, path, out], capture_output=True, text=True)
        check(r.returncode == 1 and 'expected in each "in", "out", "axis", "run"' in r.stderr, f"{verify}: {r.stderr}")
        manifest["sharding"]["tolerance"] = 1e300
        (out / "manifest.json").write_text(json.dumps(manifest))
        r = subprocess.run([verify, path, out], capture_output=True, text=True)
        check(r.returncode == 1 and "tolerance: expected a number from 0 to 1" in r.stderr, f"{verify}: {r.stderr}")


def check_weight_pieces(path, out, rows):
    """What the manifest says of pieces of weights: their elements."""
    whole, made = onnx.load(path), onnx.load(out / "model.onnx")
    old = {t.name: onnx.numpy_helper.to_array(t) for t in whole.graph.initializer}
    new = {t.name: onnx.numpy_helper.to_array(t) for t in made.graph.initializer}
    for w in rows:
        at = np.arange(old[w["name"]].shape[w["axis"]]) // w["run"] % len(w["pieces"])
        for k, piece in enumerate(w["pieces"]):
            want = np.compress(at == k, old[w["name"]], w["axis"])
            check(piece is None or np.array_equal(new[piece], want), f"{piece} is not that piece of {w['name']}")
            flat = old[w["name"]].reshape(-1)
            begin = flat.size // old[w["name"]].shape[w["axis"]] * w["run"] * k
            one = np.array_equal(flat[begin:begin + want.size], want.reshape(-1))
            check(one == w["contiguous"], f"{w['name']}: contiguous is {w['contiguous']}")
    check(any(old[w["name"]].shape[w["axis"]] % 2 for w in rows), "no weight in uneven pieces")
    check(any(w["contiguous"] for w in rows) and not all(w["contiguous"] for w in rows), "pieces of one kind alone")


def check_whole_tensors(path, out, folder, manifest):
    """Programs that run parts take and give whole tensors, and keep states from sample to sample."""
    program = Path(PCC).with_name("pcc-run")
    sizes = {i["name"]: i["sizes"] for i in manifest["inputs"]}
    rng, samples = np.random.default_rng(3), []
    for k in range(3):
        fed = {"input_ids": rng.integers(0, 60, sizes["input_ids"])}
        if k == 0:
            fed |= {n: rng.standard_normal(s, np.float32) for n, s in sizes.items() if n != "input_ids"}
        np.savez(folder / f"in{k}.npz", **fed)
        samples.append(str(folder / f"in{k}.npz"))
    whole, kept, want = session(path), {}, []
    for name in samples:
        with np.load(name) as arrays:
            kept |= dict(arrays)
        got = dict(zip([o.name for o in whole.get_outputs()], whole.run(None, kept)))
        kept = {s["in"]: got[s["out"]] for s in manifest["states"]}
        want.append(got)
    runner, fed = run_split.Runner(out, exact=True), [run_split.read_sample(name) for name in samples]
    runs = {f"run_split.py, {n} in flight": list(runner.stream(fed, in_flight=n, state=True)) for n in (1, 3)}
    if program.exists():
        place = folder / "c"
        r = subprocess.run([program, out, f"--output={place}", "--state", *samples], capture_output=True, text=True)
        check(r.returncode == 0, f"pcc-run: {r.stderr[-300:]}")
        runs["pcc-run"] = [run_split.read_sample(place / f"sample{k}.npz") for k in range(3 * (r.returncode == 0))]
    for what, found in runs.items():
        for k, got in enumerate(found):
            check(list(got) == list(want[k]), f"{what}: outputs {list(got)}")
            check(all(got[n].shape == v.shape and np.allclose(got[n], v, 1e-3, 1e-4) for n, v in want[k].items()),
                  f"{what}: sample {k} differs from the whole model")
    if program.exists():
        r = subprocess.run([program, out, "--samples=4", "--replan=1", "--", "-d", "2xa100"], capture_output=True,
                           text=True)
        check(r.returncode == 1 and "plan the model itself again" in r.stderr, f"--replan: {r.stderr}")
    check(run_split.verify(out, path) == 3, "run_split.py --verify: three outputs")
    verify = program.with_name("pcc-verify")
    if verify.exists():
        r = subprocess.run([verify, path, out], capture_output=True, text=True)
        check(r.returncode == 0 and "3 outputs of the parts and of the whole model" in r.stdout, f"{verify}: {r}")


def check_exports(out):
    """What cannot have pieces says so; what shows them says that."""
    for engine, code, said in (("genai", 1, "devices keep 'past_key_values.0.key' in pieces"),
                               ("mpi", 0, ""), ("tensorrt", 0, "give and take 'past_key_values.0.key@0'")):
        r = subprocess.run([PCC, out, f"--for={engine}"], capture_output=True, text=True)
        check(r.returncode == code and said in r.stderr, f"--for={engine}: {r.returncode} {r.stderr}")
    r = subprocess.run([PCC, out, "-o", out.with_name("joined.onnx")], capture_output=True, text=True)
    check(r.returncode == 0 and "states are in pieces" in r.stderr, f"put together: {r.stderr}")


def check_ways_said(folder):
    """Devices share nodes where their number is said, though a device alone would take less: its memory may not do."""
    path = folder / "cached.onnx"
    subprocess.run([GEN, "gpt", "--kv", "--layers=4", "--width=64", "--heads=4", "--vocab=500", "-o", path], check=True)
    for devices in ("2xa100", "2xa100:2500KiB"):
        r = subprocess.run([PCC, path, "-d", devices, "-p", "shard{ways=2}"], capture_output=True, text=True)
        check(r.returncode == 0 and re.search(r"over 2 devices: [1-9]\d* nodes in pieces", r.stdout),
              f"shared by {devices}: {r.returncode} {r.stderr[-300:]} {r.stdout[-300:]}")


def check_specs(folder):
    """The choice as sharding specs of IR version 11, which come back as the same choice."""
    path, said, again = folder / "llama.onnx", folder / "said.onnx", folder / "again.onnx"
    common = ["-q", "-d", "4xa100", "--part-cost=0", "--annotate=ir11"]
    for how in ("shard{ways=2:draw=3}", "shard{ways=4:draw=2}"):
        for command in ([path, "-p", how, "--pin", "mlp/act=acc1", "-o", said],
                        [said, "-p", "shard{from=self}", "-o", again]):
            r = subprocess.run([PCC, *command, *common], capture_output=True, text=True)
            check(r.returncode == 0, f"{how}: {r.stderr[-300:]}")
        check(again.read_bytes() == said.read_bytes(), f"{how}: the specs come back as another choice")
    onnx.checker.check_model(str(said))
    model = onnx.load(said, load_external_data=False)
    specs = [s for n in model.graph.node for c in n.device_configurations for s in c.sharding_spec]
    check(model.ir_version == 11 and any(len(s.sharded_dim) for s in specs)
          and any(s.index_to_device_group_map for s in specs), "specs of cut and of whole tensors")
    sizes = {t.name: t.dims for t in model.graph.initializer}
    said_sizes = [(s.tensor_name, d.axis, d.simple_sharding[0].dim_value) for s in specs for d in s.sharded_dim
                  if s.tensor_name in sizes and len(d.simple_sharding) == 1]
    check(any(size == 61 for _, _, size in said_sizes) and all(sizes[n][k] == size for n, k, size in said_sizes),
          f"sizes of axes in specs: {said_sizes}")
    check([n.name for n in model.graph.node] == [n.name for n in onnx.load(path, load_external_data=False).graph.node],
          "the nodes are those of the model before")
    s = next(s for s in specs if s.sharded_dim and s.tensor_name not in sizes)
    # pieces on groups of two devices each, and on fewer devices than there are pieces
    for devices, groups in (([-1, -2, -3, -4], 4), ([0, 1, 2], 0)):
        s.device[:] = devices
        del s.index_to_device_group_map[:]
        for k in range(groups):
            s.index_to_device_group_map.add(key=-1 - k).value.extend([k, (k + 1) % 4])
        onnx.save(model, again)
        r = subprocess.run([PCC, again, "-d", "4xa100", "-p", "shard{from=self}"], capture_output=True, text=True)
        check(r.returncode == 1 and f"'{s.tensor_name}' is '?'" in r.stderr, f"groups of devices: {r.stderr}")
    model = onnx.load(said, load_external_data=False)
    model.configuration[0].device[1] = "GPU 1"
    onnx.save(model, again)
    r = subprocess.run([PCC, again, "-d", "4xa100", "-p", "shard{from=self}"], capture_output=True, text=True)
    check(r.returncode == 1 and " is '?'" in r.stderr, f"a device whose name has a blank: {r.stderr}")


def main():
    with tempfile.TemporaryDirectory() as name:
        for what in CHECKS:
            globals()[f"check_{what}"](Path(name))
        if CHECKS:
            return checks.finish()
        cut = check_operators(Path(name))
        if ONLY:
            return checks.finish()
        check_models(Path(name))
        check_odd(Path(name))
        summed = check_sums(Path(name))
        check_quantised(Path(name))
        check_random(Path(name))
        check_tolerance(Path(name))
        check_megatron(Path(name))
        check_more_choices(Path(name))
        check_training(Path(name))
        check_weights(Path(name))
        check_devices(Path(name))
        check_pictures(Path(name))
        check_states(Path(name))
        check_specs(Path(name))
        check_ways_said(Path(name))
        print("cut:", ", ".join(f"{op} {n}" for op, n in sorted(cut.items())))
        print("added up:", ", ".join(sorted(summed)))
    return checks.finish()


sys.exit(main())
