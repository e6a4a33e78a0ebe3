#!/usr/bin/env python3
"""Functions are opened while a default run plans; what is written has the calls that no cut divides.

usage: test_open_functions.py   (environment: PCC, PCC_SOURCE, PCC_SHARED)

1. A model of calls takes as long as the one that onnx.inliner makes of it, and less than with calls whole;
   calls that no cut divides are the user's own nodes in the parts and in the whole model.
2. Random models with functions in functions, Ifs, Shapes, constants, inputs that nobody needs: ONNX Runtime
   computes the same bits with the parts as with the whole; plans are judged the same when they are read
   back, as a folder, as JSON, from an annotated model, from the model itself, with calls open or whole.
3. Functions that take little stay together; how much that is.
4. Names of calls in --pin, blocks, --costs, --compare.
5. Warnings: whole-call with its reasons, whole-body with its rule.
6. Ten thousand calls.

Exit: 0 pass, 1 fail, 77 skip (no ONNX Runtime, no pcc).
"""
# extras: shared
import json
import os
import random
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from sanitized import SANITIZED

from with_ort import FAILED, PCC, SKIP, check, verified_once  # first: it skips the test without ONNX Runtime
import numpy as np
import onnx
import onnx.inliner
from onnx import TensorProto, helper, numpy_helper
import test_functions as made
from test_functions import call, function, info, model, node, pcc, save

ANY_SHAPE = "anneal-place{starts=1:moves=20000}"  # pins leave little to search
MODELS = int(os.environ.get("PCC_MODELS", "8" if SANITIZED else "24"))
WIDE = 512
ON_TWO = ["-d", "2xa100", "--dim", "b=1"]


def plan_of(path, *options):
    """The plan as JSON says it, exactly, and what was said on stderr."""
    done = pcc(path, *options, "--emit", "json")
    return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr


def value(path, *options):
    plan, said = plan_of(path, *options)
    return plan["objective"]["value_s"] if plan else said[-300:]


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def verify(path, folder, what):
    code, said = verified_once(path, folder, "--quiet")
    return check(code == 0, f"{what}: {said[-400:]}")


def split(path, folder, *options):
    done = pcc(path, *options, "--pictures", "none", "-o", folder)
    if done.returncode == 0:
        verify(path, folder, f"{path.name} {options}")
        found = manifest(folder)
        loads = [d["load_s"] for d in found["devices"]]
        check(max(loads) == found["objective"]["value_s"],
              f"{path.name} {options}: {found['objective']}, loads {loads}")
    return done


# ---------------------------------------------------------------- models


def layers(count, length=4, shape=False, names=lambda i: "Block", width=WIDE):
    """Calls in a row, each of `length` MatMuls with one weight; shape: the result takes the input's shape."""
    functions, nodes = {}, []
    for i in range(count):
        inner, at = [], "x"
        for k in range(length):
            inner += [node("MatMul", [at, "w"], [f"m{k}"], name=f"mm{k}"),
                      node("Relu", [f"m{k}"], [f"r{k}"], name=f"relu{k}")]
            at = f"r{k}"
        if shape:
            inner += [node("Shape", ["x"], ["s"], name="shape"), node("Reshape", [at, "s"], ["z"], name="reshape")]
            at = "z"
        inner.append(node("Add", [at, "x"], ["y"], name="add"))
        functions[names(i)] = function(names(i), ["x", "w"], ["y"], inner)
        nodes.append(call(names(i), [f"h{i}" if i else "x", "w"], [f"h{i + 1}" if i < count - 1 else "y"],
                          name=f"/h.{i}/Block"))
    rng = np.random.default_rng(1)
    weight = numpy_helper.from_array((rng.standard_normal((width, width)) / 30).astype(np.float32), "w")
    return model(nodes, [info("x", made.FLOAT, ["b", width])], [info("y", made.FLOAT, ["b", width])],
                 functions.values(), [weight])


def bare(m):
    """Nodes without the metadata that a plan adds, functions."""
    m = onnx.ModelProto.FromString(m.SerializeToString())
    for n in m.graph.node:
        del n.metadata_props[:]
    return [n.SerializeToString() for n in m.graph.node], [f.SerializeToString() for f in m.functions]


# ---------------------------------------------------------------- 1. opened


def as_inlined(work, name, m):
    """Not worse than what another inliner makes of the model, and each opened call is divided."""
    path, folder = save(work / f"{name}.onnx", m), work / name
    other = save(work / f"{name}.theirs.onnx", onnx.inliner.inline_local_functions(m))
    done = split(path, folder, *ON_TWO)
    if not check(done.returncode == 0, f"{name}: {done.stderr[-300:]}"):
        return None
    found, theirs = manifest(folder), value(other, *ON_TWO, "-q", "-p", "fuse,auto-place")
    check(abs(found["objective"]["value_s"] - theirs) < 1e-12, f"{name}: {found['objective']}, inlined {theirs}")
    check(found["calls"] == "opened", f"{name}: calls are {found.get('calls')}")
    part_of = {n: p for p, nodes in found["nodes"].items() for n in nodes}
    divided = 0
    for n in m.graph.node:
        parts = {p for k, p in part_of.items() if k.startswith(n.name + "/")}
        check((n.name in part_of) == (not parts), f"{name}: call {n.name} is there and opened, or neither")
        check(len(parts) != 1, f"{name}: call {n.name} is opened, but all of it is in {parts}")
        divided += bool(parts)
    whole = onnx.load(folder / "model.onnx", load_external_data=False)
    nodes, functions = bare(whole)
    mine, own = bare(m)
    kept = [n for n, k in zip(mine, m.graph.node) if k.name in part_of]
    check([n for n in nodes if n in mine] == kept, f"{name}: calls in model.onnx are not those of the model")
    check(functions == own, f"{name}: other functions in model.onnx")
    check(divided > 0 or nodes == mine, f"{name}: no call is divided, but model.onnx has other nodes")
    return divided


def opened(work):
    one = as_inlined(work, "one", layers(1))
    check(one == 1, f"one call that takes all: {one} divided")
    least, whole = value(work / "one.onnx", *ON_TWO, "-q", "-p", "open-functions,dp-place"), \
        value(work / "one.onnx", *ON_TWO, "-q", "-p", "dp-place")
    check(least < 0.8 * whole, f"one call that takes all: {least} opened, {whole} whole")
    check(as_inlined(work, "three", layers(3)) == 1, "of three calls the one in the middle is divided")
    for shape in (False, True):
        # the cut is between calls; a Shape of what crosses does not make it go through one
        check(as_inlined(work, f"four{shape}", layers(4, shape=shape)) == 0, f"four calls, shape {shape}")
    many = as_inlined(work, "many", layers(48, names=lambda i: f"Block{i}"))
    check(many is not None, "48 functions of two percent each")
    check("48 calls are opened" in pcc(work / "many.onnx", *ON_TWO, "-v", "-p", "open-functions,cost").stderr, "many")
    quiet = pcc(save(work / "none.onnx", onnx.inliner.inline_local_functions(layers(1))), *ON_TWO, "-o", work / "none")
    check("functions" not in quiet.stderr, f"a model without functions: {quiet.stderr}")
    check("calls" not in manifest(work / "none"), "calls in the manifest of a model without functions")
    foreign = layers(1, 6)  # a domain that only the function imports
    for n in foreign.functions[0].node:
        if n.op_type == "Relu":
            n.op_type, n.domain = "Gelu", "com.microsoft"
    foreign.functions[0].opset_import.append(made.opset("com.microsoft", 1))
    check(as_inlined(work, "foreign", foreign) == 1, "a call with foreign operators is divided")
    scattered = split(work / "fourTrue.onnx", work / "scattered", *ON_TWO, "--part-cost", "1us",
                      *(o for i in range(4) for o in ("--pin", f"^/h.{i}/Block$=acc{i % 2}")),
                      "-v", "-p", f"open-functions,{ANY_SHAPE}")
    check("4 are written as such, none is open" in scattered.stderr, f"parts that cost: {scattered.stderr}")
    grouped = split(work / "three.onnx", work / "grouped", "-d", "4xa100", "--group", "2:300GB/s,2us", "--dim", "b=1")
    check(grouped.returncode == 0 and manifest(work / "grouped")["calls"] == "opened", f"grouped: {grouped.stderr}")
    judged(work / "three.onnx", "--objective=latency", "--pin", "^/h.0/Block=acc0", "--pin", "^/h.2/Block=acc1")


def judged(path, *options):
    """A plan that is shown by the time per sample: the table says so, files say what it was made for."""
    by = [*ON_TWO, *options, "--judge=time-per-sample"]
    made, shown = (json.loads(pcc(path, *o, "-q", "--emit", "json").stdout) for o in ([*ON_TWO, *options], by))
    check(shown["objective"] == made["objective"], f"{shown['objective']}, made for {made['objective']}")
    check(shown["judged"]["name"] == "time-per-sample", f"judged: {shown.get('judged')}")
    check(shown["judged"]["value_s"] < made["objective"]["value_s"], f"judged: {shown['judged']}")
    table = pcc(path, *by).stdout
    check("\ntime per sample " in table and "why: made by latency-place for a latency" in table, table)


def stays_open(work):
    """Calls that are no nodes again although all of them is in one part: others would take more then."""
    shape = function("Sizes", ["x"], ["s", "y"], [node("Shape", ["x"], ["s"], name="shape"),
                                                  node("Neg", ["x"], ["y"], name="neg")])
    fill = numpy_helper.from_array(np.ones((16, 32), np.float32))
    constant = function("Mask", ["x"], ["m", "y"], [node("Constant", [], ["m"], value=fill, name="mask"),
                                                    node("Add", ["x", "m"], ["y"], name="add")])
    dead = function("Dead", ["x", "z"], ["y"], [node("Neg", ["x"], ["y"], name="neg"),
                                                node("Neg", ["z"], ["d"], name="dead")])
    clean = function("Clean", ["x"], ["y"], [node("Relu", ["x"], ["t"], name="relu"),
                                             node("Tanh", ["t"], ["y"], name="tanh")])
    cases = [  # what the first call gives away is read by copies, is itself a copy; what it is given is not needed
        ("sizes", shape, [call("Sizes", ["a"], ["s", "b"], name="first"),
                          node("Identity", ["s"], ["s2"], name="copied"),
                          node("Reshape", ["b", "s2"], ["c"], name="use")]),
        ("mask", constant, [call("Mask", ["a"], ["m", "b"], name="first"), node("Mul", ["b", "m"], ["c"], name="use")]),
        ("dead", dead, [call("Dead", ["a", "x"], ["b"], name="first"), node("Neg", ["b"], ["c"], name="use")])]
    for name, f, middle in cases:
        nodes = [call("Clean", ["x"], ["a"], name="before"), *middle, call("Clean", ["c"], ["y"], name="after")]
        m = model(nodes, [made.vec("x", (16, 32))], [made.vec("y", (16, 32))], [f, clean])
        path = save(work / f"{name}.onnx", m)
        on = [o for n, d in (("before", 0), ("first", 1), ("use", 1), ("after", 0)) for o in ("--pin", f"^{n}$=acc{d}")]
        done = split(path, work / name, "-d", "2xnpu", "--link", "1GB/s,1us", *on, "-p", f"open-functions,{ANY_SHAPE}")
        if not check(done.returncode == 0, f"{name}: {done.stderr}"):
            continue
        there = {n for nodes in manifest(work / name)["nodes"].values() for n in nodes}
        check({"before", "after"} <= there and "first" not in there, f"{name}: nodes {sorted(there)}")
        read_back(path, work / name, ["-d", "2xnpu", "--link", "1GB/s,1us"], name)
    bodies(work)
    alone = save(work / "constant.onnx", model([call("Mask", ["x"], ["m", "y"])], [made.vec("x", (16, 32))],
                                               [made.vec("y", (16, 32))], [constant]))
    held = [made.on_one(alone, p) for p in ("one-place", "open-functions,one-place", "inline-functions,one-place")]
    check(held[0] == held[1] == held[2] and held[0][1] == 2 * 2048, f"seconds, bytes of a call with a constant: {held}")


def bodies(work):
    """Functions with bodies, in functions: the one that is divided is open, those around it are not."""
    def branch(name, op):
        return made.body(name, [node(op, ["x"], [name])], [name])
    pick = function("Pick", ["x", "c"], ["y"], [
        node("If", ["c"], ["t"], then_branch=branch("t1", "Neg"), else_branch=branch("e1", "Abs"), name="if"),
        node("Relu", ["t"], ["y"], name="relu")])
    both = function("Both", ["x", "c"], ["y"], [
        call("Pick", ["x", "c"], ["t"], name="p"), node("Tanh", ["t"], ["u"], name="tanh"),
        call("Pick", ["u", "c"], ["y"], name="q")])
    nodes = [call("Both", ["x" if i == 0 else f"h{i}", "c"], ["y" if i == 3 else f"h{i + 1}"], name=f"b{i}")
             for i in range(4)]
    m = model(nodes, [made.vec("x", (16, 32)), info("c", made.BOOL, [])], [made.vec("y", (16, 32))], [pick, both])
    path = save(work / "bodies.onnx", m)
    pins = {"b0": 0, "b1/p": 0, "b1/tanh": 1, "b1/q/if": 1, "b1/q/relu": 0, "b2": 0, "b3": 1}
    on = [o for n, d in pins.items() for o in ("--pin", f"^{n}$=acc{d}")]
    done = split(path, work / "bodies", "-d", "2xnpu", *on, "-p", f"open-functions,{ANY_SHAPE}")
    if check(done.returncode == 0, f"bodies: {done.stderr}"):
        there = {n for nodes in manifest(work / "bodies")["nodes"].values() for n in nodes}
        check(there == set(pins), f"bodies: nodes {sorted(there)}")
    m = made.branches()  # a call in the body of an If of the model stays one
    done = split(save(work / "branches.onnx", m), work / "branches", "-d", "2xnpu", "--pin", "^outer/if$=acc1",
                 "--pin", "^outer/Abs=acc0")
    if check(done.returncode == 0, f"branches: {done.stderr}"):
        whole, own = bare(onnx.load(work / "branches/model.onnx"))[0], bare(m)[0]
        check(own[1] in whole and own[0] not in whole, "branches: the call is not open, or the If is another")
        read_back(path, work / "bodies", ["-d", "2xnpu"], "bodies")


def exported(work):
    """What exporters make of whole networks."""
    for name, options in (("minigpt_functions_ts", ["--dim", "batch=1", "--dim", "sequence=8"]),
                          ("nested_region_functions_dyn", [])):
        path, folder = extras.shared(f"models/exported/tiny/{name}.onnx"), work / name
        done = split(path, folder, "-d", "2xnpu", "--link", "1TB/s,0us", *options, "-q")
        if check(done.returncode == 0 and "whole-" not in done.stderr, f"{name}: {done.stderr}"):
            kinds = {n.op_type for p in manifest(folder)["parts"] for n in onnx.load(folder / p["file"]).graph.node}
            check(kinds & {"FBlock", "repeated_subgraph0"}, f"{name}: no call is left: {kinds}")
            read_back(path, folder, ["-d", "2xnpu", "--link", "1TB/s,0us", *options], name)


# ---------------------------------------------------------------- 2. random models


def read_back(path, folder, options, what):
    """The plan of the folder is judged the same, wherever it is read from."""
    want, plan = manifest(folder)["objective"]["value_s"], folder.with_suffix(".plan.json")
    again = pcc(path, *options, "-q", "-p", f"plan{{from={folder}:effort=0}}", "-o", plan)
    check(again.returncode == 0, f"{what}: read back: {again.stderr[-300:]}")
    on = {p["file"]: p["device"] for p in manifest(folder)["parts"]}
    here = {(n, on[p]) for p, nodes in manifest(folder)["nodes"].items() for n in nodes}
    there = {(n, d["name"]) for d in json.loads(plan.read_text())["devices"] for n in d["nodes"]}
    check(here == there, f"{what}: the folder and the plan differ: {sorted(here ^ there)[:4]}")
    for source, m in ((folder, path), (plan, path), (folder / "model.onnx", path), ("self", folder / "model.onnx")):
        found = value(m, *options, "-q", "-p", f"plan{{from={source}:effort=0}}")
        check(found == want, f"{what}: {want} s, read from {source}: {found}")
    text = pcc(path, *options, "-q", "-p", f"plan{{from={folder}:effort=0}}", "--emit", "ir").stdout
    closed = folder.with_suffix(".pir")
    closed.write_text(text)  # reading verifies the module
    check(pcc(closed, "-q", "-p", "dp-place").returncode in (0, 3), f"{what}: the module with calls closed is broken")


def shaped(m, rng):
    """Some results of functions are reshaped to the shape of an input."""
    for f in m.functions:
        out = f.output[0]
        last = next(n for n in f.node if out in n.output)
        if rng.random() < 0.5 or last.op_type == "If":
            continue
        for n in f.node:
            for graph in [n, *(a.g for a in n.attribute if a.HasField("g"))]:
                for k in graph.node if hasattr(graph, "node") else [n]:
                    k.input[:] = [f"pre_{out}" if i == out else i for i in k.input]
        last.output[:] = [f"pre_{out}" if o == out else o for o in last.output]
        f.node.extend([node("Shape", [f.input[0]], ["shp"], name="shp"),
                       node("Reshape", [f"pre_{out}", "shp"], [out], name="rsh")])
    return m


SIDE = 24


def mixed_body(rng, ins, count, functions, prefix):
    """Nodes over matrices (f), shapes (s) and weights (w): what is copied, and what is not."""
    values, nodes = list(ins), []

    def pick(kind):
        some = [v for v, k in values if k == kind]
        return rng.choice(some) if some else None

    for i in range(count):
        out, name, r = f"{prefix}{i}", f"{prefix}{i}n", rng.random()
        f, s, w = pick("f"), pick("s"), pick("w")
        if functions and r < 0.45:
            called, takes, gives = rng.choice(functions)
            args = [pick(k) for k in takes]
            if None not in args:
                outs = [f"{out}_{j}" for j in range(len(gives))]
                nodes.append(call(called, args, outs, name=name))
                values += zip(outs, gives)
        elif r < 0.55 and f and w:
            nodes.append(node("MatMul", [f, w], [out], name=name))
            values.append((out, "f"))
        elif r < 0.62 and f:
            nodes.append(node("Shape", [f], [out], name=name))
            values.append((out, "s"))
        elif r < 0.68 and f and s:
            nodes.append(node("Reshape", [f, s], [out], name=name))
            values.append((out, "f"))
        elif r < 0.73 and s:
            nodes.append(node("Identity", [s], [out], name=name))
            values.append((out, "s"))
        elif r < 0.78 and s:
            fill = numpy_helper.from_array(np.array([0.5], np.float32))
            nodes.append(node("ConstantOfShape", [s], [out], name=name, value=fill))
            values.append((out, "f"))
        elif r < 0.84 and w:
            nodes.append(node("Transpose", [w], [out], name=name))
            values.append((out, "w"))
        elif r < 0.88:
            data = np.random.default_rng(rng.randrange(99)).standard_normal((SIDE, SIDE)).astype(np.float32) / 5
            nodes.append(node("Constant", [], [out], name=name, value=numpy_helper.from_array(data)))
            values.append((out, "w"))
        elif f:
            nodes.append(node(*rng.choice([("Relu", [f]), ("Neg", [f]), ("Add", [f, pick("f")])]), [out], name=name))
            values.append((out, "f"))
    return nodes, values


def mixed_model(seed):
    rng, functions, known = random.Random(seed), [], []
    for i in range(rng.randint(1, 5)):
        takes = [rng.choice("ffws") for _ in range(rng.randint(1, 3))]
        ins = [(f"in{k}", kind) for k, kind in enumerate(takes)]
        nodes, values = mixed_body(rng, ins, rng.randint(1, 6), known, "v")
        read = {i for n in nodes for i in n.input}
        kept, can = [(n, k) for n, k in ins if n in read], values[len(ins):]
        if can and kept:  # ONNX Runtime wants inputs, each of them read, none returned as it is
            outs = rng.sample(can, rng.randint(1, min(3, len(can))))
            functions.append(function(f"F{i}", [n for n, _ in kept], [n for n, _ in outs], nodes))
            known.append((f"F{i}", [k for _, k in kept], [k for _, k in outs]))
    ins = [("x", "f"), ("z", "f"), ("w", "w"), ("w2", "w"), ("dims", "s")]
    nodes, values = mixed_body(rng, ins, rng.randint(4, 12), known, "n")
    nodes.append(node("Sum", [v for v, k in values if k == "f"], ["y"], name="sum"))
    outs = [info("y", made.FLOAT, ["b", SIDE])]
    for kind, type_, shape in (("s", made.INT64, [2]), ("w", made.FLOAT, [SIDE, SIDE])):
        some = [v for v, k in values[len(ins):] if k == kind]
        if some and rng.random() < 0.4:
            outs.append(info(rng.choice(some), type_, shape))
    draw = np.random.default_rng(seed)
    inits = [numpy_helper.from_array(draw.standard_normal((SIDE, SIDE)).astype(np.float32) / 5, n) for n in ("w", "w2")]
    inits.append(numpy_helper.from_array(np.array([1, SIDE]), "dims"))
    return model(nodes, [info(n, made.FLOAT, [rng.choice(["b", 1]), SIDE]) for n in "xz"], outs, functions, inits)


def random_models(work):
    counts = {"whole": 0, "divided": 0}
    for seed in range(2 * MODELS):
        rng = random.Random(seed)
        m = mixed_model(seed) if seed % 2 else shaped(made.random_model(seed), rng)
        path, folder = save(work / f"r{seed}.onnx", m), work / f"r{seed}"
        base = ["-d", rng.choice(["2xnpu", "3xnpu", "2xnpu,1xcpu"]),
                "--link", rng.choice(["1TB/s,0us", "100GB/s,1us", "10GB/s,5us"])]
        base += ["--io", "free"] if rng.random() < 0.3 else []
        calls = [n.name for n in m.graph.node if n.domain == "my"]
        pins = [f for _ in range(rng.randint(0, 2)) if calls
                for f in ("--pin", f"^{re.escape(rng.choice(calls))}$=acc{rng.randrange(2)}")]
        done = split(path, folder, *base, *pins)
        if done.returncode == 3 or "different devices" in done.stderr:
            continue  # pins that cannot be
        what = f"random {seed} {base + pins}"
        if not check(done.returncode == 0, f"{what}: {done.stderr[-300:]}"):
            continue
        part_of = {n: p for p, nodes in manifest(folder)["nodes"].items() for n in nodes}
        for name in calls:
            parts = {p for n, p in part_of.items() if n.startswith(name + "/")}
            counts["whole"] += name in part_of
            counts["divided"] += len(parts) > 1
            check(name not in part_of or not parts, f"{what}: {name} is whole and opened")
        read_back(path, folder, base, what)
        whole = work / f"r{seed}.whole.json"
        plan, said = plan_of(path, *base, "-q", "-p", "dp-place")
        if plan:
            whole.write_text(json.dumps(plan))
            check(plan.get("calls", "whole") == "whole", f"{what}: calls are {plan.get('calls')}")
            again = value(path, *base, "-q", "-p", f"plan{{from={whole}:effort=0}}")
            check(again == plan["objective"]["value_s"], f"{what}: whole {plan['objective']}, read back {again}")
    check(min(counts.values()) > MODELS // 4, f"the random models show little: {counts}")


# ---------------------------------------------------------------- 3. what stays together


def small(work):
    """A function of about four percent between two larger ones: the best cut goes through it."""
    m = layers(3, names=lambda i: f"Block{i}")
    length = {0: 10, 1: 2, 2: 10}
    for i, f in enumerate(m.functions):
        kept = layers(1, length[i]).functions[0]
        del f.node[:]
        f.node.extend(kept.node)
    for n in m.functions[1].node:  # small tensors inside: cuts are cheap there
        n.name = "t" + n.name
    path = save(work / "small.onnx", m)
    total = sum(int(r["ps_a100"]) for r in made.table(path, *ON_TWO).values())
    part = int(made.table(path, *ON_TWO)["/h.1/Block"]["ps_a100"]) * 100 / total
    free = ["-q", "--link", "1TB/s,0us", *ON_TWO]
    for most, stays in ((int(part) + 1, True), (int(part), False), (0, False)):
        folder = work / f"small{most}"
        passes = f"open-functions,contract{{calls={most}}},dp-place"
        done = split(path, folder, *free, "-p", passes)
        check(done.returncode == 0, f"small {most}: {done.stderr}")
        there = any("/h.1/Block" in nodes for nodes in manifest(folder)["nodes"].values())
        check(there == stays, f"a call of {part:.1f} % with calls={most}: whole {there}")
        scope = manifest(folder)["objective"]["scope"]
        check((scope.endswith("layers")) == stays or manifest(folder)["objective"]["bound_all_s"] ==
              manifest(folder)["objective"]["value_s"], f"small {most}: scope {scope}")
    # pins go before: nodes of one call on two devices
    done = split(path, work / "pinned", *free, "-p", "open-functions,contract{calls=50},dp-place", "--pin",
                 "^/h.1/Block/tmm0$=acc0", "--pin", "^/h.1/Block/tadd$=acc1")
    check(done.returncode == 0, f"two pins in a small call: {done.stderr}")


# ---------------------------------------------------------------- 4. names


def names(work):
    path, folder = work / "four.onnx", work / "pins"
    save(path, layers(4, shape=True))
    pins = ["--pin", "^/h.1/Block$=acc1", "--pin", "^/h.2/Block$=acc0"]
    done = split(path, folder, *ON_TWO, *pins, "-p", "open-functions,auto-place")
    if check(done.returncode == 0 and "unmatched" not in done.stderr, f"pins of calls: {done.stderr}"):
        device = {p["file"]: p["device"] for p in manifest(folder)["parts"]}
        on = {n: device[p] for p, nodes in manifest(folder)["nodes"].items() for n in nodes}
        check((on.get("/h.1/Block"), on.get("/h.2/Block")) == ("acc1", "acc0"), f"pins of calls: {on}")
    blocks = work / "blocks"
    blocks.write_text("^/h.[01]/Block$\n^/h.[23]/Block$\n")
    done = split(path, work / "blocks.split", *ON_TWO, "-p", f"open-functions,contract{{blocks={blocks}}},dp-place")
    found = sorted(sorted(n) for n in manifest(work / "blocks.split")["nodes"].values())
    check(found == [["/h.0/Block", "/h.1/Block"], ["/h.2/Block", "/h.3/Block"]], f"blocks of calls: {found}")
    lines = work / "lines"
    lines.write_text("^/h.[01]/=acc0\n^/h.[23]/=acc1\n")
    two = pcc(path, *ON_TWO, "-p", f"open-functions,plan{{from={lines}}}", "--compare", folder)
    check(two.returncode == 0 and two.stdout.count("acc") > 3, f"lines, compare: {two.stderr}")
    # measured times: of what is inside, whether calls are open or not; of a call, which then stays whole
    times = work / "times.csv"
    times.write_text("name,op,time\n,MatMul,77us\n/h.0/Block/relu0,,5ms\n")
    inside = [value(path, *ON_TWO, "-q", "-d", "1xa100", "--costs", times, "-p", p)
              for p in ("one-place", "open-functions,one-place", "inline-functions,one-place")]
    check(inside[0] == inside[1] == inside[2] > 5e-3 + 15 * 77e-6, f"--costs inside of calls: {inside}")
    times.write_text("op,time\nBlock,20us\n")
    done = split(path, work / "given", *ON_TWO, "--costs", times)
    check("whole-call" in done.stderr and "--costs gives its time" in done.stderr and "4 calls" in done.stderr,
          f"--costs of calls: {done.stderr}")
    check(manifest(work / "given")["calls"] == "whole", "--costs of calls: they are opened")


# ---------------------------------------------------------------- 5. warnings


def warned(path, *options):
    return [line for line in pcc(path, *options).stderr.splitlines() if "-Wwhole-" in line]


def branching(heavy, light):
    """An If whose branches take `heavy` MatMuls, and as many outside of it as `light`."""
    def graph(name):
        nodes, at = [], "x"
        for i in range(heavy):
            nodes.append(node("MatMul", [at, "w"], [f"{name}{i}"]))
            at = f"{name}{i}"
        return helper.make_graph(nodes, name, [], [info(at, made.FLOAT, [4, WIDE])])
    nodes, at = [node("If", ["c"], ["v"], then_branch=graph("t"), else_branch=graph("e"), name="choice")], "v"
    for i in range(light):
        nodes.append(node("MatMul", [at, "w"], [f"o{i}" if i < light - 1 else "y"]))
        at = f"o{i}"
    if not light:
        nodes[0].output[0] = "y"
    weight = numpy_helper.from_array(np.zeros((WIDE, WIDE), np.float32), "w")
    return model(nodes, [info("x", made.FLOAT, [4, WIDE]), info("c", made.BOOL, [])],
                 [info("y", made.FLOAT, [4, WIDE])], [], [weight])


def looping():
    body = helper.make_graph([node("MatMul", ["a", "w"], ["b"]), node("Identity", ["go"], ["on"])], "body",
                             [info("i", made.INT64, []), info("go", made.BOOL, []), info("a", made.FLOAT, [4, WIDE])],
                             [info("on", made.BOOL, []), info("b", made.FLOAT, [4, WIDE])])
    weight = numpy_helper.from_array(np.zeros((WIDE, WIDE), np.float32), "w")
    inits = [numpy_helper.from_array(np.array(9), "n"), weight]
    return model([node("Loop", ["n", "", "x"], ["y"], body=body, name="again")], [info("x", made.FLOAT, [4, WIDE])],
                 [info("y", made.FLOAT, [4, WIDE])], [], inits)


def stuck():
    """Calls that cannot be opened, with the reason."""
    yield "cycle", made.cycle(3), "its function calls itself", 1
    yield "stays", made.stays(), "written for another opset", 1
    yield "tower", made.tower(101, 2), "would be too many nodes", 1
    yield "deep", made.tower(300, 1), "nested too deep", 1


def warnings(work):
    path = save(work / "blocks.onnx", layers(4))
    lines = warned(path, *ON_TWO, "-p", "dp-place")
    check(len(lines) == 1 and "4 calls" in lines[0] and "100 %" in lines[0] and "'/h.0/Block' (my:Block) with 25 %" in
          lines[0] and "open-functions" in lines[0], f"whole calls: {lines}")
    for options in (["-o", work / "blocks.split"], ["-p", "open-functions,dp-place"],
                    ["-p", "inline-functions,dp-place"], ["-p", "dp-place", "-Wno-whole-call"],
                    ["-p", "dp-place", "-d", "1xa100"]):
        check(not warned(path, *ON_TWO, *options), f"{options} speaks of whole calls")
    check(pcc(path, *ON_TWO, "-p", "dp-place", "-Werror=whole-call", "-o", work / "no.json").returncode == 1,
          "-Werror=whole-call")
    plan, _ = plan_of(path, *ON_TWO, "-q", "-p", "dp-place")
    check(plan["objective"]["scope"].endswith("layers") and plan["objective"]["bound_all_s"] is None,
          f"a claim about whole calls: {plan['objective']}")
    # a call of less than five percent is not worth a word
    few = onnx.inliner.inline_selected_functions(layers(2, 40, names=lambda i: f"B{i}"), [("my", "B0")])
    for length, told in ((1, 0), (2, 1)):  # 3 of 84 nodes, 5 of 86
        del few.functions[0].node[:]
        few.functions[0].node.extend(layers(1, length).functions[0].node)
        lines = warned(save(work / "few.onnx", few), *ON_TWO, "-p", "dp-place")
        check(len(lines) == told, f"a call of {2 * length + 1} of about 85 nodes: {lines}")
    for name, m, why, count in stuck():
        lines = warned(save(work / f"{name}.onnx", m), "-d", "2xnpu", "-o", work / f"{name}.split")
        check(len(lines) == count and why in lines[0], f"{name}: {lines}")
    for heavy, light, told in ((9, 0, 1), (9, 8, 1), (8, 9, 0)):
        path = save(work / f"if{heavy}{light}.onnx", branching(heavy, light))
        lines = warned(path, *ON_TWO, "-p", "dp-place")
        share = f"{100 * heavy // (heavy + light)} %"
        check(len(lines) == told and all("'choice' (If)" in k and share in k and "branch" in k for k in lines),
              f"If of {heavy} and {light}: {lines}")
    check(not warned(work / "if90.onnx", "-d", "1xa100", "-p", "dp-place"), "an If on one device")
    check(not warned(work / "if90.onnx", *ON_TWO, "-p", "dp-place", "-Wno-whole-body"), "-Wno-whole-body")
    lines = warned(save(work / "loop.onnx", looping()), *ON_TWO, "-p", "dp-place")
    check(len(lines) == 1 and "'again' (Loop) takes 100 %" in lines[0] and "body" in lines[0], f"Loop: {lines}")
    helped = pcc("--help=all").stdout
    check("whole-call" in helped and "whole-body" in helped, "--help does not list the warnings")


# ---------------------------------------------------------------- 6. many


def many(work):
    """Linear work: quadratic in ten thousand calls would be minutes, this takes a second."""
    path = save(work / "many.onnx", layers(10000, 2, True, width=8))
    done = pcc(path, *ON_TWO, "-q", "-p", "open-functions,linearize,dp-place", "-o", work / "many.json", timeout=100)
    check(done.returncode == 0, f"10,000 calls: {done.stderr[-300:]}")
    nodes = [n for d in json.loads((work / "many.json").read_text())["devices"] for n in d["nodes"]]
    check(9990 <= len(nodes) <= 10100, f"10,000 calls: {len(nodes)} nodes")


def main():
    if not Path(PCC).exists():
        print("skipped: no pcc")
        return SKIP
    with tempfile.TemporaryDirectory(prefix="pcc-open-functions-") as tmp:
        work = Path(tmp)
        always = (opened, stays_open, random_models, small, names, warnings, many)
        for part in (exported,) if extras.extra() else always:
            part(work)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
