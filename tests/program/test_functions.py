#!/usr/bin/env python3
"""Functions of a model: replaced by their nodes, looked into, carried along.

usage: test_functions.py   (environment: PCC, PCC_SOURCE, PCC_SHARED)

1. Models with functions made for the odd cases, and random ones: after inline-functions ONNX Runtime
   computes the same bits as before, and as after onnx.inliner; splits through the middle of functions are
   bit-equal; a call costs what its nodes cost.
2. Functions that stay travel with the parts that need them, with everything that they call.
3. Tensors of functions and of training_info in files: the same rules as for others.
4. Hostile ones: recursion, exponential growth, names without end, arities that do not fit.
5. The table of opset changes is that of the onnx package.

Exit: 0 pass, 1 fail, 77 skip (no ONNX Runtime, no pcc).
"""
# extras: shared
import csv
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from sanitized import SANITIZED

from with_ort import FAILED, PCC, SKIP, SOURCE, check, verified_once  # first: it skips the test without ONNX Runtime
import numpy as np
import onnx
import onnx.defs
import onnx.inliner
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
node, info, opset = helper.make_node, helper.make_tensor_value_info, helper.make_opsetid
OPSETS = [opset("", 17), opset("my", 1)]


def pcc(*args, **more):
    return subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, errors="replace", **more)


def function(name, ins, outs, nodes, attributes=(), defaults=(), opsets=OPSETS, overload=None):
    f = helper.make_function("my", name, ins, outs, nodes, opsets, list(attributes), list(defaults))
    if overload:
        f.overload = overload
    return f


def call(called, ins, outs, overload=None, **attributes):
    n = node(called, ins, outs, domain="my", **attributes)
    if overload:
        n.overload = overload
    return n


def ref(n, **attributes):
    """Attributes of n that stand for those of the function: kind and name."""
    for name, (kind, source) in attributes.items():
        a = n.attribute.add()
        a.name, a.type, a.ref_attr_name = name, kind, source
    return n


def model(nodes, ins, outs, functions, inits=(), ir=10, opsets=OPSETS):
    graph = helper.make_graph(nodes, "g", ins, outs, list(inits))
    return helper.make_model(graph, opset_imports=list(opsets), functions=list(functions), ir_version=ir)


def vec(name, shape=(2, 4), kind=FLOAT):
    return info(name, kind, shape)


def save(path, m):
    path.write_bytes(m.SerializeToString())
    return path


def body(name, nodes, outs, ins=()):
    return helper.make_graph(nodes, name, list(ins), [info(o, FLOAT, None) for o in outs])


def weight(name, *shape):
    rng = np.random.default_rng(len(name) + sum(map(ord, name)))
    return numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)


# ---------------------------------------------------------------- models


def dense():
    """Attributes by reference and by default, an omitted input, an unnamed result."""
    leaky = ref(node("LeakyRelu", ["s"], ["y"]), alpha=(onnx.AttributeProto.FLOAT, "slope"))
    soft = ref(node("Softmax", ["y"], ["z"]), axis=(onnx.AttributeProto.INT, "axis"))
    f = function("Dense", ["x", "w", "b"], ["z", "m"],
                 [node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["s"]), leaky, soft],
                 ["axis"], [helper.make_attribute("slope", 0.25)])
    nodes = [call("Dense", ["x", "w", "b"], ["h", "m1"], axis=1, name="first"),
             call("Dense", ["h", "w", "b"], ["y", "m2"], axis=0, slope=0.5)]
    return model(nodes, [vec("x")], [vec("y"), vec("m2")], [f], [weight("w", 4, 4), weight("b", 4)])


def clip():
    """Optional inputs: left out at the end, and in the middle as an empty name."""
    f = function("Bound", ["x", "low", "high"], ["y"], [node("Clip", ["x", "low", "high"], ["y"], name="clip")])
    nodes = [call("Bound", ["x", "", "one"], ["a"], name="no_low"), call("Bound", ["a", "zero"], ["b"],
                                                                         name="no_high"),
             call("Bound", ["b"], ["y"], name="neither")]
    consts = [numpy_helper.from_array(np.array(v, np.float32), k) for k, v in (("zero", 0), ("one", 1))]
    return model(nodes, [vec("x")], [vec("y")], [f], consts)


def overloads():
    """Two functions of one name, and calls inside of functions."""
    a = function("F", ["x"], ["y"], [node("Relu", ["x"], ["y"])], overload="a")
    b = function("F", ["x"], ["y"], [node("Neg", ["x"], ["t"]), call("F", ["t"], ["y"], "a", name="in")],
                 overload="b")
    nodes = [call("F", ["x"], ["p"], "b", name="b/1"), call("F", ["p"], ["q"], "a", name="a"),
             node("Add", ["x", "q"], ["y"], name="b/1/in")]
    return model(nodes, [vec("x")], [vec("y")], [a, b])


def branches():
    """A function with an If whose branches capture its inputs and call others; called in branches, too."""
    half = function("Half", ["x"], ["y"], [node("Constant", [], ["k"], value_float=0.5), node("Mul", ["x", "k"],
                                                                                              ["y"])])
    then = body("then", [call("Half", ["x"], ["t"], name="h")], ["t"])
    other = body("other", [node("Add", ["x", "z"], ["t"])], ["t"])
    pick = function("Pick", ["x", "z", "c"], ["y"],
                    [node("Abs", ["x"], ["u"]), node("If", ["c"], ["t"], then_branch=then, else_branch=other,
                                                     name="if"),
                     node("Add", ["t", "u"], ["y"])])
    yes = body("yes", [call("Pick", ["x", "v", "c"], ["r"], name="inner")], ["r"])
    no = body("no", [node("Neg", ["v"], ["r"])], ["r"])
    nodes = [call("Pick", ["x", "x", "c"], ["v"], name="outer"),
             node("If", ["c"], ["y"], then_branch=yes, else_branch=no, name="top")]
    return model(nodes, [vec("x"), info("c", BOOL, [])], [vec("y")], [half, pick])


def loops():
    """A Loop in a function with a weight inside its body; the trip count is an input."""
    step = helper.make_graph([node("Add", ["acc", "w"], ["t"]), node("Mul", ["t", "by"], ["next"]),
                              node("Identity", ["go"], ["on"])], "step",
                             [info("i", INT64, []), info("go", BOOL, []), info("acc", FLOAT, [2, 4])],
                             [info("on", BOOL, []), info("next", FLOAT, [2, 4])], [weight("w", 2, 4)])
    f = function("Repeat", ["n", "x", "by"], ["y"],
                 [node("Loop", ["n", "", "x"], ["y"], body=step, name="loop")])
    nodes = [call("Repeat", ["n", "x", "by"], ["a"], name="l0"), call("Repeat", ["n", "a", "by"], ["y"], name="l1")]
    return model(nodes, [vec("x")], [vec("y")], [f],
                 [numpy_helper.from_array(np.array(3), "n"), weight("by", 4)])


def shared_output():
    """One result under two names."""
    f = function("Two", ["x"], ["y", "z"], [node("Relu", ["x"], ["y"]), node("Neg", ["y"], ["z"])])
    g = function("Three", ["x"], ["a", "b", "y"], [call("Two", ["x"], ["a", "b"]), node("Add", ["a", "b"], ["y"])])
    return model([call("Three", ["x"], ["p", "q", "r"], name="t"), node("Sum", ["p", "q", "r"], ["y"])], [vec("x")],
                 [vec("y")], [f, g])


def newer_opset():
    """Functions of another opset whose operators did not change since."""
    f = function("Same", ["x"], ["y"], [node("Add", ["x", "x"], ["t"]), node("Tanh", ["t"], ["y"])],
                 opsets=[opset("", 15)])
    return model([call("Same", ["x"], ["y"], name="s")], [vec("x")], [vec("y")], [f])


def stays():
    """A function of an opset in which one of its operators was another."""
    f = function("Old", ["x"], ["y"], [node("Relu", ["x"], ["r"]), node("ReduceSum", ["r"], ["y"], axes=[1],
                                                                        keepdims=1)],
                 opsets=[opset("", 11)])
    g = function("New", ["x"], ["y"], [node("Neg", ["x"], ["t"]), call("Old", ["t"], ["y"], name="old")])
    return model([call("New", ["x"], ["y"], name="n")], [vec("x")], [vec("y", (2, 1))], [f, g])


UNARY, BINARY = ["Relu", "Neg", "Tanh", "Sigmoid", "Abs"], ["Add", "Sub", "Mul", "Max"]


def random_body(rng, ins, count, functions, prefix):
    """Nodes over values of one shape; now and then a call or an If."""
    values, nodes = list(ins), []
    for i in range(count):
        out, kind = f"{prefix}{i}", rng.random()
        if functions and kind < 0.4:
            name, k, r = rng.choice(functions)
            outs = [f"{out}_{j}" for j in range(r)]
            nodes.append(call(name, [rng.choice(values) for _ in range(k)], outs, name=f"{prefix}call{i}"))
            values += outs
            continue
        if kind < 0.5:
            a, b = rng.choice(values), rng.choice(values)
            branch = [body(f"{out}{s}", [node(rng.choice(BINARY), [a, b], [f"{out}{s}"])],
                           [f"{out}{s}"]) for s in "te"]
            nodes.append(node("Constant", [], [f"{out}c"],
                              value=numpy_helper.from_array(np.array(rng.random() < 0.5))))
            nodes.append(node("If", [f"{out}c"], [out], then_branch=branch[0], else_branch=branch[1]))
        elif kind < 0.7:
            nodes.append(node(rng.choice(UNARY), [rng.choice(values)], [out]))
        else:
            nodes.append(node(rng.choice(BINARY), [rng.choice(values), rng.choice(values)], [out]))
        values.append(out)
    return nodes, values


def random_model(seed):
    rng = random.Random(seed)
    known, functions = [], []
    for f in range(rng.randint(1, 4)):
        ins = [f"in{i}" for i in range(rng.randint(1, 3))]
        nodes, values = random_body(rng, ins, rng.randint(1, 5), known, "v")
        made = values[len(ins):]
        outs = rng.sample(made, rng.randint(1, min(2, len(made))))
        functions.append(function(f"F{f}", ins, outs, nodes))
        known.append((f"F{f}", len(ins), len(outs)))
    nodes, values = random_body(rng, ["x", "z"], rng.randint(3, 8), known, "n")
    nodes.append(node("Sum", values, ["y"]))
    return model(nodes, [vec("x"), vec("z")], [vec("y")], functions)


NOT_ORT = ["overloads"]     # ONNX Runtime does not find functions by overload
NOT_INLINER = ["dense"]     # onnx.inliner forgets the defaults of attributes
ODD = [dense, clip, overloads, branches, loops, shared_output, newer_opset]


# ---------------------------------------------------------------- 1. inlined


def outputs(path_or_bytes, feeds):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    source = path_or_bytes if isinstance(path_or_bytes, bytes) else str(path_or_bytes)
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"]).run(None, feeds)


def feeds_of(m, seed):
    rng = np.random.default_rng(seed)
    feeds = {}
    for i in m.graph.input:
        shape = [d.dim_value for d in i.type.tensor_type.shape.dim]
        x = rng.standard_normal(shape)
        feeds[i.name] = np.asarray(x > 0 if i.type.tensor_type.elem_type == BOOL else x.astype(np.float32))
    return feeds


def same(a, b):
    return len(a) == len(b) and all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b))


def check_names(m, what):
    names = [n.name for n in m.graph.node if n.name]
    check(len(set(names)) == len(names), f"{what}: node names repeat")


def inlined(work, name, m):
    path, out = save(work / f"{name}.onnx", m), work / f"{name}.inlined.onnx"
    done = pcc(path, "-p", "inline-functions,infer-shapes", "--verify-each", "-q", "-o", out)
    if not check(done.returncode == 0, f"{name}: inline-functions: {done.stderr.strip()[-300:]}"):
        return
    if SANITIZED:  # the bytes are those of other builds
        return
    result = onnx.load(out)
    called = any(n.domain == "my" for n in m.graph.node)
    check(not (called and result.functions), f"{name}: {len(result.functions)} functions are left")
    check_names(result, name)
    try:
        onnx.checker.check_model(result, full_check=True)
    except Exception as wrong:  # noqa: BLE001
        check(False, f"{name}: the checker: {str(wrong)[:300]}")
    theirs = onnx.inliner.inline_local_functions(m) if name not in NOT_INLINER else None
    for seed in range(2):
        feeds = feeds_of(m, seed)
        before = outputs(path if name not in NOT_ORT else theirs.SerializeToString(), feeds)
        check(same(before, outputs(out, feeds)), f"{name}: other results after inline-functions")
        if theirs:
            check(same(before, outputs(theirs.SerializeToString(), feeds)), f"{name}: onnx.inliner disagrees")


def verify(path, folder, what):
    code, said = verified_once(path, folder, "--quiet")
    check(code == 0, f"{what}: {said[-400:]}")


def split_inside(work, name, seed):
    """Nodes of the inlined model pinned at random: parts end inside of functions."""
    rng, path = random.Random(seed), work / f"{name}.onnx"
    m = onnx.load(work / f"{name}.inlined.onnx")
    pins = work / f"{name}.pins"
    chosen = [n.name for n in m.graph.node if n.op_type != "Constant" and rng.random() < 0.5]
    pins.write_text("".join(f"^{re.escape(n)}$=acc{rng.randrange(2)}\n" for n in chosen))
    for options in (["--pin", f"@{pins}"], []):
        folder = work / f"{name}.split{len(options)}"
        done = pcc(path, "-d", "2xnpu", "-q", "-p", "inline-functions,fuse,dp-place", "-o", folder, "--pictures=none",
                   *options)
        if done.returncode == 3:
            continue  # pins that no contiguous plan obeys
        if check(done.returncode == 0, f"{name}: split: {done.stderr.strip()[-300:]}"):
            whole = path if name not in NOT_ORT else work / f"{name}.inlined.onnx"
            verify(whole, folder, f"{name} split inside")


def table(path, *options):
    done = pcc(path, "-q", *options, "--emit", "csv")
    check(done.returncode == 0, f"{path.name} {options}: {done.stderr.strip()[-300:]}")
    return {r["name"]: r for r in csv.DictReader(io.StringIO(done.stdout))}


def on_one(path, passes):
    """Computing of the whole model on one device, where copies take no time, and all bytes: what is there at once
    differs between a call, whose body is one step, and its nodes."""
    done = pcc(path, "-q", "-d", "1xa100", "-p", passes, "--memory-model=sum", "--emit", "json")
    check(done.returncode == 0, f"{path.name} {passes}: {done.stderr.strip()[-300:]}")
    device = json.loads(done.stdout)["devices"][0]
    return device["compute_s"], device["used_bytes"]


def costs(work, name, m):
    """A call does the work of the nodes that replace it, and takes the time and memory of those that run."""
    whole, parts = table(work / f"{name}.onnx"), table(work / f"{name}.onnx", "-p", "inline-functions,cost")
    named = {n.name or None for n in m.graph.node}
    for row in whole.values():
        if row["name"] in parts or row["name"] not in named:
            continue
        inner = [r for k, r in parts.items() if k.startswith(row["name"] + "/") and k not in named]
        for column in ("flops", "traffic_bytes"):
            total = sum(int(r[column]) for r in inner)
            check(int(row[column]) == total, f"{name}: {row['name']}: {column} is {row[column]}, its nodes {total}")
    alone, opened = (on_one(work / f"{name}.onnx", p) for p in ("one-place", "inline-functions,one-place"))
    check(alone == opened, f"{name}: seconds and bytes {alone}, opened {opened}")


def shapes(work, name, m):
    """What is known of the values of the main graph does not depend on whether calls are replaced."""
    found = []
    values = [o for n in m.graph.node for o in n.output if o]
    for passes in ("infer-shapes", "inline-functions,infer-shapes"):
        text = pcc(work / f"{name}.onnx", "-q", "-p", passes, "--emit", "ir").stdout.rsplit("graph @main", 1)[1]
        types = {}
        for line in text.splitlines():
            made = re.match(r"  (%.*?) = .*?\)(?: \{[^}]*\})? : (.*?)(?: name=.*| !.*)?$", line)
            if made:
                types.update(zip(re.findall(r"%\"?([^,\"]+)", made[1]), re.findall(r"\w+\[[^]]*\]|\?", made[2])))
        found.append({v: types.get(v) for v in values})
    check(found[0] == found[1] and None not in found[0].values(), f"{name}: types {found}")


def part_one(work):
    for make in ODD:
        name, m = make.__name__, make()
        inlined(work, name, m)
        split_inside(work, name, 1)
        shapes(work, name, m)
        if make is not overloads:
            costs(work, name, m)
    for seed in range(int(os.environ.get("PCC_MODELS", "4" if SANITIZED else "25"))):
        name, m = f"random{seed}", random_model(seed)
        inlined(work, name, m)
        costs(work, name, m)
        shapes(work, name, m)
        if seed % 3 == 0:
            split_inside(work, name, seed)
    out = work / "stays.out.onnx"  # neither ONNX Runtime nor the checker takes this one
    done = pcc(save(work / "stays.onnx", stays()), "-p", "inline-functions", "--verify-each", "-o", out)
    if check("'my:Old' stays: its Relu is of opset ai.onnx 11" in done.stderr, f"stays: {done.stderr}"):
        m = onnx.load(out)
        check([f.name for f in m.functions] == ["Old"], "stays: functions")
        check([(n.op_type, n.name) for n in m.graph.node] == [("Neg", "n/Neg_0"), ("Old", "n/old")], "stays: nodes")
    text = pcc(work / "loops.onnx", "-q", "-p", "cost", "--emit", "ir").stdout
    check("!flops=48" in text, "loops: three passes of 2 x 8 operations are not 48")


def exported(work):
    """What exporters made of whole networks: nothing inside a call is unknown, and it can be split."""
    for name, inputs in (("minigpt_functions_ts", True), ("nested_region_functions_dyn", False)):
        path, folder = extras.shared(f"models/exported/tiny/{name}.onnx"), work / name
        done = pcc(path, "-p", "inline-functions,fuse,dp-place", "-d", "2xnpu", "--link", "1TB/s,0us", "-o", folder)
        check(done.returncode == 0 and "are not known" not in done.stderr, f"{name}: {done.stderr[-300:]}")
        check("now 1321 nodes with 0 calls" in done.stderr or not inputs, f"{name}: {done.stderr[-300:]}")
        more = ["--inputs", str(path.with_suffix(".inputs"))] if inputs else []
        code, said = verified_once(path, folder, "--quiet", *more)
        check(code == 0, f"{name}: {said[-300:]}")
        kept = sum(int(r["flops"]) for r in table(path).values())
        opened = sum(int(r["flops"]) for r in table(path, "-p", "inline-functions,cost").values())
        check(kept == opened > 0, f"{name}: {kept} operations in calls, {opened} in their nodes")


# ---------------------------------------------------------------- 2. travelling


def travel(work):
    """Parts have the functions that they call, directly, in functions, in bodies; and no others."""
    m = overloads()
    m.functions.append(function("Unused", ["x"], ["y"], [node("Neg", ["x"], ["y"])]))
    m.functions[0].metadata_props.add(key="who", value="me")
    path, folder = save(work / "travel.onnx", m), work / "travel"
    done = pcc(path, "-d", "2xnpu", "--pin", "^b/1$=acc0", "--pin", "^a$=acc1", "--pin", "^b/1/in$=acc1",
               "-p", "dp-place", "-o", folder, "-q")
    if check(done.returncode == 0, f"travel: {done.stderr}"):
        found = [[(f.name, f.overload) for f in onnx.load(folder / f"part{i}.onnx").functions] for i in range(2)]
        check(found == [[("F", "a"), ("F", "b")], [("F", "a")]], f"travel: {found}")
        first = onnx.load(folder / "part0.onnx").functions[0]
        check([e.value for e in first.metadata_props] == ["me"], "travel: metadata of a function is gone")
    path, folder = save(work / "travel2.onnx", branches()), work / "travel2"
    done = pcc(path, "-d", "2xnpu", "--pin", "^outer$=acc0", "--pin", "^top$=acc1", "-p", "dp-place", "-o", folder,
               "-q")
    if check(done.returncode == 0, f"travel2: {done.stderr}"):
        for i in range(2):
            names = [f.name for f in onnx.load(folder / f"part{i}.onnx").functions]
            check(names == ["Half", "Pick"], f"travel2: part {i} has {names}")
        verify(path, folder, "travel2")


# ---------------------------------------------------------------- 3. files


def outside(value, location, **more):
    value.ClearField("raw_data")
    value.data_location = TensorProto.EXTERNAL
    value.external_data.add(key="location", value=location)
    for k, v in more.items():
        value.external_data.add(key=k, value=str(v))
    return value


def with_constant(value, default=None):
    constant = node("Constant", [], ["k"], value=value)
    defaults = []
    if default is not None:
        constant = ref(node("Constant", [], ["k"]), value=(onnx.AttributeProto.TENSOR, "t"))
        defaults = [helper.make_attribute("t", default)]
    f = function("K", ["x"], ["y"], [constant, node("Add", ["x", "k"], ["y"])], [], defaults)
    return model([call("K", ["x"], ["h"], name="k0"), call("K", ["h"], ["y"], name="k1")], [vec("x", (16, 32))],
                 [vec("y", (16, 32))], [f])


def with_training(value):
    m = model([node("Relu", ["x"], ["y"])], [vec("x")], [vec("y")], [])
    t = m.training_info.add()
    t.algorithm.CopyFrom(helper.make_graph([node("Constant", [], ["k"], value=value, name="c")], "a", [], []))
    return m


def files(work):
    value, inside = weight("k", 16, 32), with_constant(weight("k", 16, 32))
    raw = value.raw_data
    (work / "k.bin").write_bytes(b"x" * 8 + raw)
    feeds = feeds_of(inside, 0)
    want = outputs(inside.SerializeToString(), feeds)
    for name, m in (("file_constant", with_constant(outside(weight("k", 16, 32), "k.bin", offset=8))),
                    ("file_default", with_constant(None, outside(weight("k", 16, 32), "k.bin", offset=8)))):
        path = save(work / f"{name}.onnx", m)
        for passes in ("dp-place", "inline-functions,dp-place"):
            folder = work / f"{name}.{len(passes)}"
            done = pcc(path, "-d", "2xnpu", "--pin", "k0=acc0", "--pin", "k1=acc1", "-p", passes, "-o", folder, "-q")
            if not check(done.returncode == 0, f"{name} {passes}: {done.stderr}"):
                continue
            x = outputs(folder / "part0.onnx", feeds)[0]
            last = onnx.load(folder / "part1.onnx").graph.input[0].name
            check(same(want, outputs(folder / "part1.onnx", {last: x})), f"{name} {passes}: other results")
            check((folder / "weights.data").stat().st_size == len(raw),
                  f"{name} {passes}: the constant is not there once")
    path = save(work / "file_training.onnx", with_training(outside(weight("k", 16, 32), "k.bin", offset=8)))
    done = pcc(path, "-p", "dp-place", "-o", work / "file_training", "-q")
    if check(done.returncode == 0, f"file_training: {done.stderr}"):
        t = onnx.load(work / "file_training/model.onnx",
                      load_external_data=False).training_info[0].algorithm.node[0].attribute[0].t
        entries = {e.key: e.value for e in t.external_data}
        check(entries["location"] == "weights.data", f"file_training: {entries}")
        data = (work / "file_training/weights.data").read_bytes()
        check(data[int(entries["offset"]):][:len(raw)] == raw, "file_training: other bytes")
    beside_training(work)
    refused(work)
    sparse(work)


def beside_training(work):
    """Weights of the model that lie in a file, too."""
    w = weight("w", 2, 4)
    (work / "w.bin").write_bytes(w.raw_data)
    m = with_training(outside(weight("k", 16, 32), "k.bin", offset=8))
    m.graph.node[0].CopyFrom(node("Add", ["x", "w"], ["y"]))
    m.graph.initializer.append(outside(weight("w", 2, 4), "w.bin"))
    feeds = {"x": np.arange(8, dtype=np.float32).reshape(2, 4)}
    done = pcc(save(work / "both.onnx", m), "-d", "1xnpu", "-p", "dp-place", "-o", work / "both", "-q")
    if check(done.returncode == 0, f"both: {done.stderr}"):
        want = feeds["x"] + np.frombuffer(w.raw_data, np.float32).reshape(2, 4)
        check(same([want], outputs(work / "both/part0.onnx", feeds)), "both: other results")


def refused(work):
    """What is refused of an initializer is refused of them, with their names."""
    cases = [("../k.bin", {}, "goes up with '..'"), ("/etc/passwd", {}, "is absolute"),
             ("k.bin", {"offset": 1 << 40}, "which has"), ("k.bin", {"length": 3}, "expected 2048"),
             ("k.bin", {"sha": 3}, "unknown key 'sha'"), ("k.bin", {"offset": -1}, "expected a number")]
    for location, more, text in cases:
        for who, make in (("function 'K': node 'Constant_0': attribute 'value'", with_constant),
                          ("function 'K': node 'K': attribute 't'", lambda v: with_constant(None, v)),
                          ("training_info: node 'c': attribute 'value'", with_training)):
            path = save(work / "refused.onnx", make(outside(weight("k", 16, 32), location, **more)))
            done = pcc(path)
            check(done.returncode == 1 and text in done.stderr and who in done.stderr,
                  f"{location} {who}: {done.stderr}")
    path = save(work / "gone.onnx", with_constant(outside(weight("k", 16, 32), "gone.bin")))
    done = pcc(path, "-p", "dp-place", "-o", work / "gone")
    check(done.returncode == 1 and "gone.bin" in done.stderr and not (work / "gone").exists(), f"gone: {done.stderr}")


def sparse(work):
    """The values of a sparse constant in a function travel, too, byte for byte."""
    raw = (work / "k.bin").read_bytes()[8:]
    held = onnx.SparseTensorProto(dims=[16, 32], values=outside(weight("v", 512), "k.bin", offset=8),
                                  indices=numpy_helper.from_array(np.arange(512), "i"))
    f = function("S", ["x"], ["y"], [node("Constant", [], ["k"], sparse_value=held), node("Add", ["x", "k"], ["y"])])
    path = save(work / "sparse.onnx", model([call("S", ["x"], ["y"])], [vec("x", (16, 32))], [vec("y", (16, 32))], [f]))
    for mode in ("shared", "inline"):
        folder = work / f"sparse.{mode}"
        done = pcc(path, "-d", "1xnpu", "-p", "dp-place", "-o", folder, "-q", f"--weights={mode}")
        if not check(done.returncode == 0, f"sparse, {mode}: {done.stderr}"):
            continue
        for name in ("part0.onnx", "model.onnx"):
            m = onnx.load(folder / name, load_external_data=False)
            t = m.functions[0].node[0].attribute[0].sparse_tensor.values
            data, e = t.raw_data, {e.key: e.value for e in t.external_data}
            if e:
                data = (folder / e["location"]).read_bytes()[int(e["offset"]):][:int(e["length"])]
            check(data == raw and bool(e) == (mode == "shared"), f"sparse, {mode}: {name} has {len(data)} bytes, {e}")


# ---------------------------------------------------------------- 4. hostile


def tower(depth, width):
    """F0 .. Fn, each calling the one below `width` times."""
    functions = [function("F0", ["x"], ["y"], [node("Neg", ["x"], ["y"])])]
    for d in range(1, depth):
        nodes = [call(f"F{d - 1}", ["x" if i == 0 else f"t{i}"],
                      [f"t{i + 1}" if i < width - 1 else "y"]) for i in range(width)]
        functions.append(function(f"F{d}", ["x"], ["y"], nodes))
    return model([call(f"F{depth - 1}", ["x"], ["y"], name="top")], [vec("x")], [vec("y")], functions)


def cycle(length):
    functions = [function(f"F{i}", ["x"], ["y"], [call(f"F{(i + 1) % length}", ["x"], ["y"])]) for i in range(length)]
    return model([call("F0", ["x"], ["y"], name="top")], [vec("x")], [vec("y")], functions)


def long_names():
    m = tower(200, 1)
    for f in m.functions:
        f.node[0].name = "n" * 100000
    return m


def called(ins, outs):
    return model([call("F0", ins, outs)], [vec("x")], [vec("y")], tower(1, 1).functions)


def change(m, edit):
    edit(m)
    return m


def first(m):
    return m.functions[0]


HOSTILE = [
    ("recursion", lambda: cycle(1), "calls itself"),
    ("long recursion", lambda: cycle(5000), "calls itself"),
    ("2^100 nodes", lambda: tower(101, 2), "would have more than"),
    ("3^13 nodes", lambda: tower(14, 3), "up to 3985807 nodes"),
    ("deep", lambda: tower(300, 1), "nested 300 deep cannot be inlined, expected at most 256"),
    ("long names", long_names, "take more than 256 MiB"),
    ("too many inputs", lambda: called(["x", "x"], ["y"]), None),
    ("too many results", lambda: called(["x"], ["y", "z"]), None),
    ("twice", lambda: change(tower(1, 1), lambda m: m.functions.append(first(m))), "is defined twice"),
    ("undefined", lambda: change(tower(1, 1), lambda m: first(m).node[0].input.__setitem__(0, "nix")),
     "which nothing defines"),
    ("no output", lambda: change(tower(1, 1), lambda m: first(m).output.append("nix")), "defined by nothing"),
    ("input twice", lambda: change(tower(1, 1), lambda m: first(m).input.append("x")), "is listed twice"),
    ("no opset", lambda: change(tower(1, 1), lambda m: first(m).ClearField("opset_import")), None),
    ("a million empty ones", None, None),
]


def empty_functions(path):
    """Functions of a few bytes each."""
    data = model([node("Relu", ["x"], ["y"])], [vec("x")], [vec("y")], []).SerializeToString()
    many = b"".join(b"\xca\x01" + bytes([len(f)]) + f for f in (b"\x0a\x04" + b"%04x" % i for i in range(65536)))
    path.write_bytes(data + many)


def hostile(work):
    path, out = work / "hostile.onnx", work / "hostile.out.onnx"
    for name, make, text in HOSTILE:
        if make:
            save(path, make())
        else:
            empty_functions(path)
        for options in (["-p", "inline-functions", "-o", out], [], ["-p", "dp-place", "--emit", "ir"]):
            limit = lambda: __import__("resource").setrlimit(__import__("resource").RLIMIT_AS,
                                                             (4 << 30,) * 2)  # noqa: E731
            done = pcc(path, *options, timeout=300, preexec_fn=None if "asan" in PCC else limit)
            check(done.returncode in (0, 1, 3), f"{name} {options}: exit {done.returncode}: {done.stderr[-300:]}")
            if options[:2] == ["-p", "inline-functions"] and text:
                check(done.returncode == 1 and text in done.stderr, f"{name}: {done.stderr[-300:]}")
            check(all(len(line) < 2000 or name == "long names" for line in done.stderr.splitlines()),
                  f"{name}: a long line")
    looked = pcc(save(path, tower(101, 2)))
    check("1 calls of functions cannot be looked into (more than 500000 nodes in all)" in looked.stderr,
          f"2^100: {looked.stderr}")
    for make, text in ((lambda: tower(3000, 1), "calls nested 3000 deep, at most 256 are opened"),
                       (lambda: tower(257, 1), "calls nested 257 deep, at most 256 are opened"),
                       (lambda: cycle(5000), "recursive"),
                       (lambda: called(["x", "x"], ["y"]), "what they give does not fit")):
        looked = pcc(save(path, make()))
        check(f"1 calls of functions cannot be looked into ({text})" in looked.stderr, f"{text}: {looked.stderr}")
    looked = pcc(save(path, tower(256, 1)))
    check("cannot be looked into" not in looked.stderr, f"256 deep: {looked.stderr}")


# ---------------------------------------------------------------- 5. the table


def history():
    rows = dict(re.findall(r'\{"(\w+)", \{([\d, ]+)\}\}', (SOURCE / "passes/functions/opset_history.c").read_text()))
    newest = int(re.search(r"OPSET_KNOWN = (\d+)", (SOURCE / "passes/functions/opset_history.h").read_text())[1])
    ours = {op: [int(v) for v in since.split(",")] for op, since in rows.items()}
    theirs = {}
    for s in onnx.defs.get_all_schemas_with_history():
        if s.domain == "" and s.since_version <= newest:
            theirs.setdefault(s.name, set()).add(s.since_version)
    known = min(newest, onnx.defs.onnx_opset_version())
    ours = {op: [v for v in since if v <= known] for op, since in ours.items()}
    wrong = {op for op in theirs if sorted(theirs[op]) != ours.get(op)}
    check(not wrong, f"opset_history.c: {sorted(wrong)}")
    check(list(rows) == sorted(rows), "opset_history.c: not sorted")


def main():
    if not Path(PCC).exists():
        print("skipped: no pcc")
        return SKIP
    with tempfile.TemporaryDirectory(prefix="pcc-functions-") as tmp:
        work = Path(tmp)
        if extras.extra():
            exported(work)
        else:
            history()
            part_one(work)
            travel(work)
            files(work)
            hostile(work)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
