#!/usr/bin/env python3
"""Split folders end to end: whatever pcc writes computes what the whole model computes.

usage: test_split.py   (environment: PCC, PCC_GEN, PCC_SOURCE, PCC_SHARED; PCC_ALL=1: all of it)

1. Small models made for the odd cases (outputs that are inputs or initializers, repeated definitions,
   external data, functions, bodies with captures, ...), generated ones, and those of real exporters
   are split by planners over 2, 3 and 4 devices and by random plans; tools/verify_split.py judges.
2. The files of a split: where weights lie, what travels along, annotations, equal bytes twice.
3. Forced failures: nothing is left behind, nothing is overwritten.
4. `pcc split/ -o whole.onnx` after each split: the nodes, weights, inputs and outputs of the whole model, and its
   outputs (support/recomposed.py); folders that are not what their manifest says are refused.

Exit: 0 pass, 1 fail, 77 skip (no ONNX Runtime, no pcc).
"""
# extras: random shared
import hashlib
import itertools
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
import recomposed
from sanitized import SANITIZED

from with_ort import FAILED, GEN, PCC, SKIP, check, verified_once  # first: it skips the test without ONNX Runtime
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RANDOM = extras.BUILT / "unit_split"  # splits by random plans
FAST = ["--link", "1TB/s,0us"]
UNSEEN = ["--pictures=none"]  # `dot` would take as long as pcc
WORKERS = 2  # ctest may run other tests beside this one
RNG = np.random.default_rng(3)


def run(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)


def split(model, folder, *options, **more):
    return run(PCC, model, "-p", "dp-place", "-o", folder, "--quiet", *options, **more)


def verify(model, folder, what, inputs=None):
    whole = put_together(folder, what)
    code, said = verified_once(model, folder, "--quiet", *(["--inputs", inputs] if inputs else []),
                               *(["--whole", whole] if whole else []))
    check(code == 0, f"{what}: {said[-300:]}")
    for left in folder.parent.glob(f"{folder.name}.onnx*"):
        left.unlink()
    lists = run(PCC, folder, "--check-schedule")
    check(lists.returncode == 0, f"{what}: {lists.stderr[-300:]}")


def put_together(folder, what):
    """The path of the model that the folder's parts make, without the whole one there where no output needs it."""
    whole, annotated, hidden = folder.parent / f"{folder.name}.onnx", folder / "model.onnx", folder / "hidden"
    weights = any(o["from"] == "weights" for o in manifest_of(folder)["outputs"])
    if not manifest_of(folder)["parts"]:
        r = run(PCC, folder, "-o", whole)
        check(r.returncode == 1 and "it has no parts" in r.stderr, f"{what}: {r.stderr[-300:]}")
        return None
    annotated.rename(hidden)
    links = ["--allow-links"] if manifest_of(folder)["weights"]["mode"] == "link" else []
    r = run(PCC, folder, "-o", whole, "--quiet", *links)
    hidden.rename(annotated)
    if weights and check(r.returncode == 1 and "needs model.onnx" in r.stderr, f"{what}: {r.stderr[-300:]}"):
        r = run(PCC, folder, "-o", whole, "--quiet")
    if not check(r.returncode == 0, f"{what}: put together: {r.stderr[-300:]}"):
        return None
    wrong = recomposed.complaints(folder, whole) if not SANITIZED else ()  # the bytes are those of other builds
    check(not wrong, f"{what}: put together: {wrong[:3]}")
    return whole


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_text())


def load(path):
    return onnx.load(str(path), load_external_data=False)


# ---------------------------------------------------------------- odd models


def weight(name, *shape):
    return numpy_helper.from_array(RNG.standard_normal(shape).astype(np.float32), name)


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs, outputs, inits=(), ir=9, opset=17, functions=(), domains=(), **more):
    graph = helper.make_graph(nodes, "odd", inputs, outputs, list(inits), **more)
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, ir_version=ir, opset_imports=opsets, functions=list(functions),
                             producer_name="odd", doc_string="kept")


def chain(first, last, n, prefix="c", op="MatMul", extra="w"):
    """n nodes from value `first` to value `last`; they carry the time."""
    names = [first] + [f"{prefix}{i}" for i in range(n - 1)] + [last]
    return [helper.make_node(op, [a, extra], [b], name=f"{prefix}/{i}")
            for i, (a, b) in enumerate(zip(names, names[1:]))]


def odd_outputs():
    """An input, an initializer, a constant and shape arithmetic as outputs."""
    nodes = chain("x", "y", 6) + [
        helper.make_node("Shape", ["y"], ["s"]), helper.make_node("Add", ["s", "s"], ["s2"]),
        helper.make_node("Constant", [], ["c"], value=weight("", 2, 2)),
        helper.make_node("Shape", ["x"], ["sx"])]
    outputs = [info(n, [16, 16]) for n in ("x", "w", "y")] + [info("c", [2, 2])]
    outputs += [info(n, [2], TensorProto.INT64) for n in ("s", "s2", "sx")]
    return model_of(nodes, [info("x", [16, 16])], outputs, [weight("w", 16, 16)])


def only_constants():
    nodes = [helper.make_node("Constant", [], ["c"], value=weight("", 40, 40)),
             helper.make_node("Neg", ["c"], ["d"])]
    return model_of(nodes, [info("x", [2])], [info("d", [40, 40]), info("x", [2])])


def nothing_to_do():
    return model_of([], [info("x", [2])], [info("x", [2]), info("w", [20, 20])], [weight("w", 20, 20)])


def typed_fields():
    """Payloads outside raw_data, strings, an old annotation, nodes without names, unused ones."""
    f = helper.make_tensor("w", TensorProto.FLOAT, [20, 20], RNG.standard_normal(400))
    h = helper.make_tensor("h", TensorProto.FLOAT16, [20, 40], RNG.standard_normal(800))
    i = helper.make_tensor("i", TensorProto.INT64, [300], RNG.integers(0, 20, 300))
    j = helper.make_tensor("j", TensorProto.INT8, [2000], RNG.integers(-9, 9, 2000))
    nodes = chain("x", "y", 4) + [
        helper.make_node("Cast", ["h"], ["hf"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["y", "hf"], ["z"]), helper.make_node("Gather", ["z", "i"], ["g"], axis=0),
        helper.make_node("Cast", ["j"], ["jf"], to=TensorProto.FLOAT),
        helper.make_node("Slice", ["jf", "b", "e"], ["js"]), helper.make_node("Add", ["g", "js"], ["out"]),
        helper.make_node("Neg", ["out"], ["unused"]), helper.make_node("Identity", ["text"], ["t"])]
    for n in nodes[2:]:
        n.name = ""
    nodes[1].metadata_props.add(key="layer_ann", value="old")
    nodes[1].metadata_props.add(key="mine", value="stays")
    inits = [f, h, i, j, numpy_helper.from_array(np.array([0]), "b"),
             numpy_helper.from_array(np.array([40]), "e"),
             helper.make_tensor("text", TensorProto.STRING, [300], [b"long string"] * 300)]
    return model_of(nodes, [info("x", [20, 20])],
                    [info("out", [300, 40]), info("t", [300], TensorProto.STRING)], inits)


def repeated_definitions():
    """Out of order, and c defined twice: the last one of the file wins."""
    nodes = chain("x", "m", 3) + [
        helper.make_node("Constant", [], ["c"], value=weight("", 16), name="loser"),
        helper.make_node("Add", ["m", "c"], ["a"]), helper.make_node("Mul", ["a", "late"], ["y"]),
        helper.make_node("Constant", [], ["c"], value=weight("", 16), name="winner"),
        helper.make_node("Exp", ["m"], ["late"])]
    return model_of(nodes, [info("x", [16, 16])], [info("y", [16, 16])], [weight("w", 16, 16)])


def partly_lost():
    """One of two results of a node is defined again later; ONNX Runtime refuses the whole."""
    nodes = chain("x", "m", 3) + [
        helper.make_node("Split", ["m"], ["p", "q"], axis=0, name="half"),
        helper.make_node("Neg", ["p"], ["q"], name="winner"), helper.make_node("Add", ["p", "q"], ["y"])]
    return model_of(nodes, [info("x", [16, 16])], [info("y", [8, 16])], [weight("w", 16, 16)], opset=11)


def old_inputs():
    """IR 3: every initializer is an input, too."""
    return model_of(chain("x", "y", 8), [info("x", [16, 16]), info("w", [16, 16])],
                    [info("y", [16, 16])], [weight("w", 16, 16)], ir=3, opset=8)


def functions_and_bodies(typed=True):
    """Functions that call functions, called below an If whose branches capture everything.
    Only the file can tell what type a function returns."""
    f1 = helper.make_function("my", "Inner", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])],
                              [helper.make_opsetid("", 17)])
    f2 = helper.make_function("my", "Outer", ["a"], ["b"],
                              [helper.make_node("Inner", ["a"], ["t"], domain="my"),
                               helper.make_node("Exp", ["t"], ["b"])],
                              [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)])
    then = helper.make_graph([helper.make_node("Outer", ["m"], ["n"], domain="my"),
                              helper.make_node("MatMul", ["n", "w2"], ["th"])], "then", [],
                             [info("th", [16, 16])])
    inner = helper.make_graph([helper.make_node("Add", ["m", "k"], ["ei"])], "inner", [],
                              [info("ei", [16, 16])], [weight("k", 16, 16)])
    other = helper.make_graph([helper.make_node("If", ["p"], ["el"], then_branch=inner,
                                                else_branch=inner)], "else", [], [info("el", [16, 16])])
    nodes = chain("x", "m", 4) + [helper.make_node("ReduceSum", ["m"], ["r"], keepdims=0),
                                  helper.make_node("Greater", ["r", "zero"], ["p"]),
                                  helper.make_node("If", ["p"], ["i"], then_branch=then, else_branch=other),
                                  helper.make_node("Inner", ["i"], ["j"], domain="my")] + chain("j", "y", 4, "d")
    return model_of(nodes, [info("x", [16, 16])], [info("y", [16, 16])],
                    [weight("w", 16, 16), weight("w2", 16, 16), numpy_helper.from_array(np.float32(0), "zero")],
                    functions=[f1, f2], domains=["my"],
                    value_info=[info(n, [16, 16]) for n in ("i", "j")] if typed else ())


def untyped_functions():
    return functions_and_bodies(typed=False)


def annotated_quantization():
    nodes = chain("x", "m", 4) + [helper.make_node("Relu", ["m"], ["n"])] + chain("n", "y", 4, "d")
    model = model_of(nodes, [info("x", [16, 16])], [info("y", [16, 16])],
                     [weight("w", 16, 16), weight("m_scale", 1), weight("n_scale", 300)],
                     value_info=[info("m", [16, 16])])
    for v in ("m", "n"):
        note = model.graph.quantization_annotation.add(tensor_name=v)
        note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value=v + "_scale")
    return model


def unknown_rank():
    """The shape at the cut depends on data: nothing is known but the type."""
    nodes = chain("x", "m", 3) + [helper.make_node("Reshape", ["m", "target"], ["r"]),
                                  helper.make_node("Exp", ["r"], ["e"]),
                                  helper.make_node("Reshape", ["e", "back"], ["b"])] + chain("b", "y", 3, "d")
    return model_of(nodes, [info("x", [16, 16]), info("target", ["k"], TensorProto.INT64)],
                    [info("y", [16, 16])],
                    [weight("w", 16, 16), numpy_helper.from_array(np.array([16, 16]), "back")])


ODD = [odd_outputs, only_constants, nothing_to_do, typed_fields, repeated_definitions, old_inputs,
       functions_and_bodies, untyped_functions, annotated_quantization]


def external_everywhere(folder):
    """External data in initializers small and large, in a body and in a Constant."""
    body = helper.make_graph([helper.make_node("Add", ["m", "k"], ["o"])], "body", [],
                             [info("o", [32, 32])], [weight("k", 32, 32)])
    nodes = chain("x", "m", 4) + [
        helper.make_node("Constant", [], ["c"], value=weight("c", 32, 32)),
        helper.make_node("If", ["p"], ["i"], then_branch=body, else_branch=body),
        helper.make_node("Add", ["i", "c"], ["j"]), helper.make_node("Add", ["j", "small"], ["q"])]
    nodes += chain("q", "y", 4, "d")
    model = model_of(nodes, [info("x", [32, 32]), info("p", [], TensorProto.BOOL)], [info("y", [32, 32])],
                     [weight("w", 32, 32), weight("small", 32)])
    ifs = [n for n in model.graph.node if n.op_type == "If"]
    tensors = list(model.graph.initializer)
    tensors += [a.t for n in model.graph.node if n.op_type == "Constant" for a in n.attribute]
    tensors += [t for n in ifs for a in n.attribute for t in a.g.initializer]
    data = bytearray()
    for t in tensors:
        raw = t.raw_data
        data += b"\0" * (-len(data) % 64)
        t.ClearField("raw_data")
        t.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "side.bin"), ("offset", len(data)), ("length", len(raw))):
            t.external_data.add(key=key, value=str(value))
        data += raw
    (folder / "side.bin").write_bytes(data)
    path = folder / "external.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def external_sparse(folder):
    """A sparse initializer whose values and indices lie in a file."""
    values = numpy_helper.from_array(np.arange(1, 301, dtype=np.float32), "s")
    indices = numpy_helper.from_array(np.arange(300), "s_at")
    (folder / "sparse.bin").write_bytes(values.raw_data + indices.raw_data)
    for t, at in ((values, 0), (indices, 1200)):
        t.ClearField("raw_data")
        t.data_location = TensorProto.EXTERNAL
        t.external_data.add(key="location", value="sparse.bin")
        t.external_data.add(key="offset", value=str(at))
    nodes = chain("x", "m", 4) + [helper.make_node("MatMul", ["s", "m"], ["y"])]
    model = model_of(nodes, [info("x", [16, 16])], [info("y", [32, 16])], [weight("w", 16, 16)])
    model.graph.sparse_initializer.append(onnx.SparseTensorProto(dims=[32, 16], values=values, indices=indices))
    path = folder / "external_sparse.onnx"
    path.write_bytes(model.SerializeToString())
    return path


# ---------------------------------------------------------------- models


def odd_models(folder):
    paths = []
    for make in ODD:
        path = folder / f"{make.__name__}.onnx"
        path.write_bytes(make().SerializeToString())
        paths.append(path)
    return paths + [external_everywhere(folder), external_sparse(folder)]


def generated_models(folder):
    plans = {"gpt": ["gpt", "--layers", 3, "--width", 32, "--heads", 2, "--vocab", 64],
             "gpt_kv": ["gpt", "--layers", 3, "--width", 32, "--heads", 2, "--vocab", 64, "--kv", "--external"],
             "resnet": ["resnet", "--depth", 18, "--width", 8, "--size", 64, "--classes", 10],
             "inception": ["inception", "--blocks", 3, "--width", 8, "--size", 32, "--classes", 10]}
    paths = []
    for name, options in plans.items():
        path = folder / f"{name}.onnx"
        r = run(GEN, *options, "-o", path)
        if check(r.returncode == 0, f"pcc-gen {name}: {r.stderr.strip()}"):
            paths.append(path)
    return paths


def shared_models():
    tiny = extras.shared("models/exported/tiny")
    for path in sorted(tiny.glob("*.onnx")):
        inputs = tiny / f"{path.stem}.inputs"
        yield path, inputs if (inputs / "test_data_set_0/input_0.pb").is_file() else None


# ---------------------------------------------------------------- 1. parts and whole


def judge(r, path, folder, what, inputs, at_random=False):
    """Of plans at random a refusal that names a value without a type is right, too: no runtime would load the part.
    Planners know of such values."""
    if at_random and r.returncode == 1 and "its type is not known" in r.stderr:
        print(f"note: {what}: a value without a type would cross")
    elif check(r.returncode == 0, f"{what}: {r.stderr.strip()[-300:]}"):
        verify(path, folder, what, inputs)


def try_planned(path, folder, devices, inputs=None, pictures=()):
    r = split(path, folder, "-d", f"{devices}xa100", *FAST, *pictures)
    judge(r, path, folder, f"{path.stem} over {devices}", inputs)


def try_random(path, folder, devices, seed, stay, inputs=None):
    r = run(RANDOM, path, folder, devices, seed, stay, "undrawn")
    judge(r, path, folder, f"{path.stem} at random over {devices}, seed {seed}, stay {stay}", inputs, True)


EVERYTHING = bool(os.environ.get("PCC_ALL"))


# (function, its arguments but for the folder): each model in turn over 2, 3 or 4 devices, planned, and over
# another number at random.


def planned_trials(own):
    for k, path in enumerate(own):
        for devices in (2, 3, 4):
            if EVERYTHING or devices == 2 + k % 3:
                yield try_planned, path, devices


def random_trials(own):
    for k, path in enumerate(own):
        for devices in (2, 3, 4):
            if EVERYTHING or devices != 2 + k % 3:
                yield try_random, path, devices, devices, 1 if devices == 3 else 6


def shared_trials():
    each = 4 if SANITIZED else 1
    for k, (path, inputs) in itertools.islice(enumerate(shared_models()), 0, None, each):
        for devices in (2, 3, 4):
            if EVERYTHING or devices == 2 + k % 3:
                yield try_planned, path, devices, inputs, UNSEEN
            if EVERYTHING or devices == 2 + (k + 1) % 3:
                yield try_random, path, devices, k, 12, inputs


def try_some(folder, jobs):
    """Trials of one model, which is then run once, in a process of the pool; what failed."""
    FAILED.clear()
    for function, path, *more in jobs:
        function(path, folder, *more)
        shutil.rmtree(folder, ignore_errors=True)
    return FAILED


def test_equality(work, trials):
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("fork")) as pool:
        jobs = [pool.submit(try_some, work / f"s{k}", list(of_one))
                for k, (_, of_one) in enumerate(itertools.groupby(trials, lambda trial: trial[1]))]
        for job in jobs:
            FAILED.extend(job.result())


def test_unknown_rank(work):
    path = work / "unknown_rank.onnx"
    path.write_bytes(unknown_rank().SerializeToString())
    for k, value in enumerate((RNG.standard_normal((16, 16)).astype(np.float32), np.array([4, 64]))):
        (work / f"input_{k}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
    try_random(path, work / "s", 3, 1, 1, work)
    check(any(p.get("unchecked") for p in manifest_of(work / "s")["parts"]), "unknown rank: not flagged")


# ---------------------------------------------------------------- 2. what is in the files


def external_of(tensor):
    return {e.key: e.value for e in tensor.external_data}


def check_weights(model, folder, what):
    where = {}
    for file in sorted(folder.glob("*.onnx")):
        for t in load(file).graph.initializer:
            if t.data_location != TensorProto.EXTERNAL:
                size = len(t.raw_data) or 8 * len(t.int64_data)
                check(size < 1024 or t.data_type == TensorProto.STRING, f"{what}: {t.name} is inline in {file.name}")
                continue
            e = external_of(t)
            offset, length = int(e["offset"]), int(e["length"])
            check(e["location"] == "weights.data" and offset % 4096 == 0 and length >= 1024,
                  f"{what}: {t.name} lies at {e} in {file.name}")
            check(where.setdefault(t.name, (offset, length)) == (offset, length), f"{what}: {t.name} lies twice")
    data = (folder / "weights.data").read_bytes()
    for t in onnx.load(str(model)).graph.initializer:
        if t.name in where:
            at, n = where[t.name]
            check(data[at:at + n] == numpy_helper.to_array(t).tobytes(), f"{what}: the bytes of {t.name} differ")
    ends = sorted((at, at + n) for at, n in where.values())
    check(all(a[1] <= b[0] for a, b in zip(ends, ends[1:])), f"{what}: weights overlap")
    check(where and ends[-1][1] <= len(data), f"{what}: weights.data is too short")


def in_ps(text):
    """A time as pcc writes it exactly, "5.5912us", in ps."""
    number = text.rstrip("munps")
    return round(float(number) * {"ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}[text[len(number):]])


def check_annotations(model, folder, what):
    manifest, whole = manifest_of(folder), load(folder / "model.onnx")
    device = {p["file"]: p["device"] for p in manifest["parts"]}
    placed = {n: f for f, names in manifest["nodes"].items() for n in names}
    check(whole.ir_version == load(model).ir_version, f"{what}: the IR version changed")
    for node in whole.graph.node:
        props = [(p.key, p.value) for p in node.metadata_props]
        said = dict(props)
        check(len(said) == len(props), f"{what}: {node.name} has a key twice")
        if node.name in placed and node.name:
            file = placed[node.name]
            check(said.get("layer_ann") == said.get("pcc.device") == device[file] and said.get("pcc.part") == file,
                  f"{what}: {node.name} says {said}")
    for part in manifest["parts"]:
        placed, time = set(manifest["nodes"][part["file"]]), 0
        for node in load(folder / part["file"]).graph.node:
            said = dict((p.key, p.value) for p in node.metadata_props)
            check(len(said) == len(node.metadata_props) and said["pcc.device"] == part["device"]
                  and said["pcc.part"] == part["file"] and "layer_ann" not in said, f"{what}: {node.name} says {said}")
            time += in_ps(said["pcc.time"]) if node.name in placed else 0
        check(time == round(part["compute_s"] * 1e12), f"{what}: nodes of {part['file']} take {time} ps")


def test_files(work, own):
    by_name = {p.stem: p for p in own}
    for name in ("gpt", "gpt_kv", "resnet", "typed_fields", "external"):
        path, folder = by_name[name], work / "f"
        check(split(path, folder, "-d", "3xa100", *FAST).returncode == 0, f"{name}: cannot be split")
        check_weights(path, folder, name)
        check_annotations(path, folder, name)
        source = load(path)
        for file in manifest_of(folder)["nodes"]:
            part = load(folder / file)
            check(list(part.opset_import) == list(source.opset_import) and part.ir_version == source.ir_version
                  and part.producer_name == source.producer_name and part.graph.name, f"{name}: {file}: header")
    if split(by_name["typed_fields"], work / "f", "-d", "1xa100").returncode == 0:
        part, manifest = load(work / "f/part0.onnx"), manifest_of(work / "f")
        names = [n.name for n in part.graph.node]
        check(all(names) and len(set(names)) == len(names), f"typed_fields: names {names}")
        check(set(manifest["nodes"]["part0.onnx"]) <= set(names), "typed_fields: names differ from the manifest")
        check(len(manifest["dropped"]) == 1, f"typed_fields: dropped {manifest['dropped']}")
        old = [dict((p.key, p.value) for p in n.metadata_props) for n in load(work / "f/model.onnx").graph.node]
        time = {"pcc.time": old[1]["pcc.time"]}
        check(old[1] == {"mine": "stays", "layer_ann": "acc0", "pcc.device": "acc0", "pcc.part": "part0.onnx", **time},
              f"typed_fields: metadata {old[1]}")


def test_carried(work, own):
    """What travels along with the nodes."""
    by_name = {p.stem: p for p in own}
    run(RANDOM, by_name["annotated_quantization"], work / "f", 2, 1, 4)
    notes = {file: [q.tensor_name for q in load(work / "f" / file).graph.quantization_annotation]
             for file in manifest_of(work / "f")["nodes"]}
    check(sorted(set(sum(notes.values(), []))) == ["m", "n"], f"quantization annotations: {notes}")
    run(RANDOM, by_name["functions_and_bodies"], work / "f", 2, 1, 1)
    for file in manifest_of(work / "f")["nodes"]:
        part = load(work / "f" / file)
        calls = {n.op_type for n in part.graph.node if n.domain == "my"}
        bodies = any(n.op_type == "If" for n in part.graph.node)
        want = {"Inner", "Outer"} if bodies else calls
        check({f.name for f in part.functions} == want, f"functions of {file}: {[f.name for f in part.functions]}")


def test_partly_lost(work):
    path, folder = work / "partly_lost.onnx", work / "f"
    path.write_bytes(partly_lost().SerializeToString())
    check(split(path, folder, "-d", "1xa100").returncode == 0, "partly_lost: cannot be split")
    made = [o for n in load(folder / "part0.onnx").graph.node for o in n.output]
    check(len(made) == len(set(made)) and made.count("q") == 1, f"partly_lost: results {made}")
    x = np.ones((16, 16), np.float32)
    session = onnxruntime.InferenceSession(str(folder / "part0.onnx"), providers=["CPUExecutionProvider"])
    check(not np.any(session.run(None, {"x": x})[0]), "partly_lost: the first definition won")


def test_input_scale(work):
    """A quantization annotation may name an input, of which a part has no initializer."""
    path, folder = work / "input_scale.onnx", work / "f"
    model = model_of([helper.make_node("Mul", ["x", "s"], ["m"]), helper.make_node("Relu", ["m"], ["y"])],
                     [info("x", [16, 16]), info("s", [1])], [info("y", [16, 16])], [])
    note = model.graph.quantization_annotation.add(tensor_name="m")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    path.write_bytes(model.SerializeToString())
    r = split(path, folder, "-d", "1xa100")
    if check(r.returncode == 0, f"input_scale: exit {r.returncode}: {r.stderr}"):
        notes = [q.tensor_name for q in load(folder / "part0.onnx").graph.quantization_annotation]
        check(notes == ["m"], f"input_scale: annotations of {notes}")


def test_crowded(work):
    """More parts than a person can look at: the pictures show devices."""
    path, folder = work / "long.onnx", work / "f"
    r = run(GEN, "gpt", "--layers", 20, "--width", 32, "--heads", 2, "--vocab", 64, "-o", path)
    if not check(r.returncode == 0, f"pcc-gen: {r.stderr.strip()}"):
        return
    r = run(RANDOM, path, folder, 8, 1, 1)
    check(r.returncode == 0, f"long: {r.stderr}")
    plan, blocks = ((folder / name).read_text() for name in ("plan.dot", "blocks.dot"))
    check(plan.count("id=part") == 8 == blocks.count("subgraph cluster_part"), "long: not 8 frames")
    check(8 <= blocks.count("id=block") <= 150, f"long: {blocks.count('id=block')} blocks")
    check((shutil.which("dot") is not None) == (folder / "blocks.svg").exists(), "long: no picture, or no dot")
    manifest = manifest_of(folder)
    digits = len(str(len(manifest["parts"]) - 1))
    check([p["file"] for p in manifest["parts"]] ==
          [f"part{i:0{digits}}.onnx" for i in range(len(manifest["parts"]))], "long: names of parts")


def digest(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


def test_twice(work, own):
    path = next(p for p in own if p.stem == "gpt")
    for name in ("a", "b"):
        split(path, work / name, "-d", "3xa100", *FAST)
    check(digest(work / "a") == digest(work / "b"), "two runs give different bytes")


# ---------------------------------------------------------------- 3. failures


def state_of(folder):
    return sorted((str(p.relative_to(folder)), p.is_file() and p.read_bytes()) for p in folder.rglob("*"))


def refuse(what, area, target, words, model, *options, **more):
    """The run fails with one error that says `words`, and leaves area as it was."""
    before = state_of(area)
    r = split(model, target, "-d", "2xa100", *options, **more)
    lines = [line for line in r.stderr.splitlines() if "error" in line]
    check(r.returncode == 1, f"{what}: exit code {r.returncode}")
    check(len(lines) == 1 and words in lines[0], f"{what}: {r.stderr.strip()[-300:]}")
    check(state_of(area) == before, f"{what}: files changed: {[n for n, _ in state_of(area)]}")


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))


def test_failures(work, own):
    gpt = next(p for p in own if p.stem == "gpt")
    area = work / "area"
    area.mkdir()
    (area / "file").write_text("mine")
    (area / "full").mkdir()
    (area / "full/notes.txt").write_text("mine")
    refuse("a file as target", area, area / "file", "not a folder", gpt)
    refuse("a foreign folder", area, area / "full", "notes.txt", gpt)
    refuse("no parent", area, area / "no/split", "there is no folder", gpt)
    refuse("disk full", area, area / "new", "File too large", gpt, preexec_fn=small_files)

    missing = work / "missing.onnx"
    run(GEN, "gpt", "--layers", 2, "--width", 32, "--heads", 2, "--vocab", 64, "--no-weights", "-o", missing)
    refuse("missing weights", area, area / "new", "missing.weights", missing)

    check(split(gpt, area / "split", "-d", "4xa100", *FAST).returncode == 0, "a first split")
    parts = len(manifest_of(area / "split")["parts"])
    refuse("disk full on top of a split", area, area / "split", "File too large", gpt, preexec_fn=small_files)
    refuse("missing weights on top of a split", area, area / "split", "missing.weights", missing)
    (area / "split/part99.onnx").write_text("mine")
    refuse("a foreign part", area, area / "split", "part99.onnx", gpt)
    (area / "split/part99.onnx").unlink()
    check(split(gpt, area / "split", "-d", "1xa100").returncode == 0, "replacing a split")
    check(parts > 1 and not (area / "split/part1.onnx").exists(), "files of the old split are left")
    (area / "empty").mkdir()
    check(split(gpt, area / "empty/", "-d", "1xa100").returncode == 0, "an empty folder is taken")
    check(split(area / "empty/model.onnx", area / "empty", "-d", "2xa100", *FAST).returncode == 0,
          "a model inside the folder that is replaced")
    verify(gpt, area / "empty", "a model inside the folder that is replaced")
    check(sorted(p.name for p in area.iterdir()) == ["empty", "file", "full", "split"],
          f"left behind: {[p.name for p in area.iterdir()]}")


# ---------------------------------------------------------------- 4. put together


def changed_part(folder, k, change):
    part = load(folder / f"part{k}.onnx")
    change(part)
    (folder / f"part{k}.onnx").write_bytes(part.SerializeToString())


def changed_manifest(folder, change):
    said = manifest_of(folder)
    change(said)
    (folder / "manifest.json").write_text(json.dumps(said))


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def first_shared(folder):
    """A weight in part2.data that a part before it has, too, and the place of a byte of it."""
    shared = manifest_of(folder)["copies"]["weights"]
    t = next(t for t in load(folder / "part2.onnx").graph.initializer if t.external_data and t.name in shared)
    return t.name, int(external_of(t)["offset"]) + 5


def test_unread(work):
    """Inputs that no part reads are described by the manifest, and outputs that are inputs by their input."""
    f32, area = TensorProto.FLOAT, work / "unread"
    kinds = [helper.make_tensor_type_proto(f32, ["n", 3, None]), helper.make_tensor_type_proto(TensorProto.INT64, []),
             helper.make_tensor_type_proto(TensorProto.BFLOAT16, None)]
    kinds += [helper.make_sequence_type_proto(helper.make_tensor_type_proto(f32, None)),
              helper.make_optional_type_proto(helper.make_sequence_type_proto(kinds[2])),
              helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.STRING, None)),
              helper.make_sparse_tensor_type_proto(f32, [2, "k"])]
    unread = [helper.make_value_info(f"unread{k}", kind) for k, kind in enumerate(kinds)]
    model = model_of(chain("x", "y", 4), [*unread, info("x", [2, 2])], [info("y", [2, 2]), unread[0]],
                     [weight("w", 2, 2)], ir=10, opset=21)
    (work / "unread.onnx").write_bytes(model.SerializeToString())
    r = split(work / "unread.onnx", area, "-d", "2xa100", "--dim", "n=2", "--dim", "k=2", *FAST, *UNSEEN)
    check(r.returncode == 0, r.stderr)
    whole = put_together(area, "unread inputs")
    for side in ("input", "output"):
        want, got = (list(getattr(m.graph, side)) for m in (model, load(whole)))
        check(want == got, f"unread inputs: {side}s {[(a, b) for a, b in zip(want, got) if a != b][:1]}")


def test_shared_code(work):
    """Parts whose copies of a constant or a function differ are refused; where the bytes lie does not count."""
    area, folder, whole = work / "shared", work / "shared" / "split", work / "shared" / "whole.onnx"
    area.mkdir()
    table = numpy_helper.from_array(RNG.standard_normal((20, 20)).astype(np.float32), "table")
    body = [helper.make_node("Constant", [], ["k"], value=table), helper.make_node("MatMul", ["p", "k"], ["r"])]
    function = helper.make_function("own", "F", ["p"], ["r"], body, [helper.make_opsetid("", 17)])
    nodes = [helper.make_node("Constant", [], ["c"], name="copied", value=table)]
    for k in range(3):
        nodes += [helper.make_node("MatMul", [f"v{k}", "c"], [f"m{k}"], name=f"m{k}"),
                  helper.make_node("F", [f"m{k}"], [f"v{k + 1}"], name=f"f{k}", domain="own")]
    model = model_of(nodes, [info("v0", [4, 20])], [info("v3", [4, 20])], [], functions=[function], domains=["own"])
    (area / "m.onnx").write_bytes(model.SerializeToString())
    r = split(area / "m.onnx", folder, "-d", "3xa100", "--cut-at=f", *FAST, *UNSEEN, "--weights=parts")
    check(r.returncode == 0 and "copied" in manifest_of(folder)["copies"]["nodes"], f"shared code: {r.stderr}")
    put_together(folder, "shared code")
    kept = (folder / "part1.onnx").read_bytes()
    constant = lambda nodes: next(n for n in nodes if n.op_type == "Constant").attribute[0]
    changes = {
        "function 'F'": [lambda p: p.functions[0].node[1].input.reverse(),
                         lambda p: p.functions[0].attribute.append("more"),
                         lambda p: constant(p.functions[0].node).t.dims.append(1),
                         lambda p: setattr(p.functions[0].opset_import[0], "version", 16)],
        "node 'copied'": [lambda p: setattr(constant(p.graph.node), "doc_string", "other"),
                          lambda p: setattr(constant(p.graph.node).t, "raw_data", bytes(1600)) or
                          constant(p.graph.node).t.ClearField("data_location")]}
    for said, planted in changes.items():
        for change in planted:
            changed_part(folder, 1, change)
            r = run(PCC, folder, "-o", whole)
            check(r.returncode == 1 and f"{said} is not the one" in r.stderr and not whole.exists(),
                  f"{said}: {r.stderr}")
            (folder / "part1.onnx").write_bytes(kept)


def swap_nodes(part):
    first = onnx.NodeProto()
    first.CopyFrom(part.graph.node[0])
    part.graph.node[0].CopyFrom(part.graph.node[1])
    part.graph.node[1].CopyFrom(first)


def test_planted(work, own):
    """Folders that are not what their manifest says, and places where no model may go: each is refused by name."""
    base, area = work / "base", work / "planted"
    split(next(p for p in own if p.stem == "gpt"), base, "-d", "3xa100", *FAST, *UNSEEN, "--weights=parts")
    name, at = first_shared(base)
    area.mkdir()
    folder, whole = area / "split", area / "whole.onnx"

    def attempt(words, change=lambda: None, to=whole, code=1, *options):
        shutil.copytree(base, folder)
        change()
        before = state_of(area)
        r = run(PCC, folder, "-o", to, *options)
        check(r.returncode == code and words in r.stderr, f"{words}: exit {r.returncode}, {r.stderr.strip()[-300:]}")
        check(state_of(area) == before, f"{words}: files changed")
        shutil.rmtree(folder)
    attempt('expected a manifest with "pcc_manifest": 1',
            lambda: changed_manifest(folder, lambda m: m.update(pcc_manifest=2)))
    attempt("part1.onnx: there is no such file", (folder / "part1.onnx").unlink)
    attempt("part1.data: there is no such file", (folder / "part1.data").unlink)
    attempt("part1.data", lambda: os.truncate(folder / "part1.data", 5000))
    attempt("it is not the part that", lambda: shutil.copyfile(folder / "part0.onnx", folder / "part1.onnx"))
    attempt("it is not the part that", lambda: changed_part(folder, 1, swap_nodes))
    attempt("it is not the part that", lambda: changed_manifest(folder, lambda m: m["nodes"]["part0.onnx"].pop()))
    attempt("lacks node 'more'", lambda: changed_manifest(folder, lambda m: m["nodes"]["part2.onnx"].append("more")))
    attempt("expected a list for part1.onnx", lambda: changed_manifest(folder, lambda m: m["nodes"].pop("part1.onnx")))
    attempt(f"weight '{name}' is not the one", lambda: flip(folder / "part2.data", at))
    attempt("other versions of ONNX", lambda: changed_part(
        folder, 1, lambda p: setattr(p.opset_import[0], "version", 14)))
    attempt("is not among its outputs", lambda: changed_part(folder, 0, lambda p: p.graph.output.pop()))
    attempt("but not in", lambda: changed_manifest(folder, lambda m: m["parts"][1]["inputs"].pop()))
    attempt("comes from 'part0.onnx'", lambda: changed_manifest(
        folder, lambda m: m["outputs"][0].update({"from": "part0.onnx"})))
    attempt("has no weight", lambda: changed_manifest(folder, lambda m: m["outputs"][0].update({"from": "weights"})))
    attempt("is listed twice", lambda: changed_manifest(folder, lambda m: m["inputs"].append(m["inputs"][0])))
    attempt("lies in the split", to=folder / "whole.onnx")
    attempt("lies in the split", (folder / "below").mkdir, folder / "below/whole.onnx")
    attempt("whole.onnx is a file of the split", lambda: os.link(folder / "part0.onnx", whole))
    whole.unlink()
    attempt("whole.onnx.data is a file of the split", lambda: os.symlink(folder / "part0.data", f"{whole}.data"))
    Path(f"{whole}.data").unlink()
    attempt("expected the name of a file", to="-.onnx", code=2)
    attempt("do not apply", lambda: None, whole, 2, "--for=web")
    attempt("do not apply", lambda: None, whole, 2, "-p", "cost")
    attempt("there is no folder", to=area / "no/whole.onnx")
    attempt("is a folder without manifest.json", (folder / "manifest.json").unlink)
    attempt("--devices has no effect", lambda: None, whole, 1, "-d", "2xa100", "-Werror")


def main():
    if not Path(PCC).is_file():
        print(f"skipped: {PCC} is not there")
        return SKIP
    with tempfile.TemporaryDirectory(prefix="pcc-split-") as name:
        work = Path(name)
        os.chmod(work, 0o755)
        extras.need(not extras.extra() or RANDOM.is_file(), "no cmocka")  # it belongs to the unit tests
        if extras.extra() == "shared":
            test_equality(work, shared_trials())
            return 1 if FAILED else 0
        own = odd_models(work) + generated_models(work)
        if extras.extra() == "random":
            test_equality(work, random_trials(own))  # forks: before any session here
            test_unknown_rank(work)
            test_carried(work, own)
            test_crowded(work)
        else:
            test_equality(work, planned_trials(own))
            test_failures(work, own)
            test_files(work, own)
            test_partly_lost(work)
            test_input_scale(work)
            test_twice(work, own)
            test_planted(work, own)
            test_unread(work)
            test_shared_code(work)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
