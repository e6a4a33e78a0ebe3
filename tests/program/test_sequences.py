#!/usr/bin/env python3
"""Sequences, optional values and maps: their inferred types hold for what ONNX Runtime computes, and they
cross a cut.

usage: test_sequences.py   (environment: PCC, PCC_SOURCE, PCC_SHARED)

Every value of every model is made an output of the whole and compared with the type in the textual IR: a
dimension that is said must be the one of every element.  What pcc should know is stated beside the model.

Exit: 0 pass, 1 fail, 77 skip (no ONNX Runtime, no pcc).
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from with_ort import FAILED, PCC, SKIP, check, verified_once  # first: it skips the test without ONNX Runtime
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
node, info = helper.make_node, helper.make_tensor_value_info


def pcc(*args):
    return subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, errors="replace")


def ints(name, *values):
    return numpy_helper.from_array(np.array(values if len(values) != 1 else values[0], np.int64), name)


def sequence(name, shape=None):
    return helper.make_tensor_sequence_value_info(name, FLOAT, shape)


def construct():
    return [node("Relu", ["x"], ["r"]), node("SequenceConstruct", ["x", "r"], ["s"]),
            node("SequenceConstruct", ["x", "z"], ["mixed"]), node("SequenceAt", ["s", "one"], ["e"]),
            node("SequenceAt", ["mixed", "one"], ["u"]), node("SequenceLength", ["s"], ["n"]),
            node("ConcatFromSequence", ["mixed"], ["cat"], axis=0),
            node("ConcatFromSequence", ["s"], ["stack"], axis=1, new_axis=1),
            node("SequenceErase", ["s", "one"], ["less"]), node("ConcatFromSequence", ["less"], ["open"], axis=-1),
            node("SequenceInsert", ["s", "z"], ["more"]), node("Identity", ["s"], ["id"]),
            node("Sum", ["e", "r"], ["y"])], {
        "s": "seq(f32[2,6])", "mixed": "seq(f32[?,6])", "e": "f32[2,6]", "u": "f32[?,6]", "cat": "f32[5,6]",
        "stack": "f32[2,2,6]", "less": "seq(f32[2,6])", "open": "f32[2,?]", "more": "seq(f32[?,6])",
        "id": "seq(f32[2,6])", "n": "i64[]"}


def splits():
    return [node("SplitToSequence", ["x", "two"], ["a"], axis=1), node("SplitToSequence", ["x", "four"], ["b"],
                                                                       axis=1),
            node("SplitToSequence", ["x", "lengths"], ["c"], axis=1), node("SplitToSequence", ["x", "even"], ["d"],
                                                                           axis=-1),
            node("SplitToSequence", ["x"], ["rows"], axis=0), node("SplitToSequence", ["x"], ["flat"], axis=0,
                                                                   keepdims=0),
            node("SequenceAt", ["flat", "one"], ["row"]), node("SequenceAt", ["d", "one"], ["y"])], {
        "a": "seq(f32[2,2])", "b": "seq(f32[2,?])", "c": "seq(f32[2,?])", "d": "seq(f32[2,3])",
        "rows": "seq(f32[1,6])", "flat": "seq(f32[6])", "row": "f32[6]"}


def grown():
    """A Loop that appends to a sequence elements of another shape than the first."""
    step = helper.make_graph([node("SequenceInsert", ["acc", "z"], ["next"]), node("Identity", ["go"], ["on"])],
                             "step",
                             [info("i", INT64, []), info("go", BOOL, []), onnx.ValueInfoProto(name="acc")],
                             [info("on", BOOL, []), onnx.ValueInfoProto(name="next")])
    return [node("SequenceEmpty", [], ["none"]), node("SequenceInsert", ["none", "x"], ["first"]),
            node("SequenceConstruct", ["x", "x"], ["same"]),
            node("Loop", ["three", "", "same"], ["all"], body=step), node("ConcatFromSequence", ["all"], ["cat"],
                                                                          axis=0),
            node("Loop", ["nothing", "", "same"], ["kept"], body=step),
            node("SequenceAt", ["first", "nothing"], ["y"])], {
        "all": "seq(f32[*])", "kept": "seq(f32[*])", "none": "seq(f32[*])", "first": "seq(f32[2,6])",
        "same": "seq(f32[2,6])", "y": "f32[2,6]"}


def chosen():
    """Sequences out of the branches of an If."""
    then = helper.make_graph([node("SequenceConstruct", ["x", "x"], ["t"])], "then", [], [sequence("t")])
    other = helper.make_graph([node("SequenceConstruct", ["x", "z"], ["o"])], "other", [], [sequence("o")])
    return [node("If", ["yes"], ["s"], then_branch=then, else_branch=other), node("SequenceAt", ["s", "nothing"],
                                                                                  ["y"])], {
        "s": "seq(f32[?,6])", "y": "f32[?,6]"}


def mapped():
    """SequenceMap: a body for every element, with a tensor beside it."""
    inner = helper.make_graph([node("Add", ["e", "k"], ["t"]), node("Transpose", ["t"], ["o"])], "inner",
                              [info("e", FLOAT, None), info("k", FLOAT, None)], [info("o", FLOAT, None)])
    return [node("SequenceConstruct", ["x", "x"], ["s"]), node("SequenceMap", ["s", "x"], ["m"], body=inner),
            node("SequenceAt", ["m", "one"], ["y"])], {"m": "seq(f32[6,2])", "y": "f32[6,2]"}


def optional():
    return [node("SequenceConstruct", ["x", "z"], ["s"]), node("Optional", ["x"], ["o"]), node("Optional", ["s"],
                                                                                               ["os"]),
            node("OptionalHasElement", ["o"], ["has"]), node("OptionalGetElement", ["o"], ["g"]),
            node("OptionalGetElement", ["os"], ["gs"]), node("SequenceAt", ["gs", "one"], ["u"]),
            node("Relu", ["g"], ["y"])], {
        "o": "opt(f32[2,6])", "os": "opt(seq(f32[?,6]))", "has": "bool[]", "g": "f32[2,6]", "gs": "seq(f32[?,6])",
        "u": "f32[?,6]"}


MODELS = [construct, splits, grown, chosen, mapped, optional]
CONSTANTS = [ints("nothing", 0), ints("one", 1), ints("two", 2), ints("three", 3), ints("four", 4),
             ints("lengths", 1, 5), ints("even", 3, 3), numpy_helper.from_array(np.array(True), "yes")]


def model(nodes, outputs):
    used = {i for n in nodes for i in n.input} | {"nothing", "yes"}
    graph = helper.make_graph(nodes, "g", [info("x", FLOAT, [2, 6]), info("z", FLOAT, [3, 6])], outputs,
                              [c for c in CONSTANTS if c.name in used])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def types_of(path):
    text = pcc(path, "-q", "-p", "infer-shapes", "--emit", "ir").stdout.split("\n}", 1)[0]
    found = {}
    for line in text.splitlines():
        made = re.match(r"  %(\w+) = .* : ((?:\w+\()*\w+\[[^]]*\]\)*)", line)
        if made:
            found[made[1]] = made[2]
    return found


def holds(text, value):
    """Is value of the type that pcc printed?"""
    outer = re.match(r"(seq|opt)\((.*)\)$", text)
    if outer:
        return all(holds(outer[2], v) for v in value) if outer[1] == "seq" else value is None or holds(outer[2],
                                                                                                       value)
    dims = re.search(r"\[(.*)\]", text)[1]
    if dims == "*":
        return True
    dims = dims.split(",") if dims else []
    shape = np.asarray(value).shape
    return len(dims) == len(shape) and all(d in ("?", str(k)) for d, k in zip(dims, shape))


def value_info(name, text):
    if text.startswith("seq("):
        return helper.make_tensor_sequence_value_info(name, FLOAT, None)
    return info(name, {"i64": INT64, "bool": BOOL}.get(text.split("[")[0], FLOAT), None)


def run_types(work, make):
    nodes, known = make()
    name = make.__name__
    path = work / f"{name}.onnx"
    path.write_bytes(model(nodes, [info("y", FLOAT, None)]).SerializeToString())
    found = types_of(path)
    for v, text in known.items():
        check(found.get(v) == text, f"{name}: {v} is {found.get(v)}, expected {text}")
    shown = {v: t for v, t in found.items() if not t.startswith("opt") and t.startswith(("seq(f32", "f32", "i64[]",
                                                                                         "bool"))}
    whole = model(nodes, [value_info(v, t) for v, t in shown.items()])
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(whole.SerializeToString(), options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(1)
    feeds = {"x": rng.standard_normal((2, 6)).astype(np.float32), "z": rng.standard_normal((3, 6)).astype(np.float32)}
    for (v, text), value in zip(shown.items(), session.run(None, feeds)):
        check(holds(text, value), f"{name}: {v} is said to be {text}")
    cut(work, name, path, [o for n in nodes for o in n.output if found.get(o, "").startswith(("seq", "opt"))])


def cut(work, name, path, values):
    """Each node that makes such a value on one device, everything else on the other."""
    m = onnx.load(path)
    for n in m.graph.node:
        n.name = f"{n.op_type}_{n.output[0]}"
    path.write_bytes(m.SerializeToString())
    makers = [n.name for n in m.graph.node if set(n.output) & set(values)]
    others = [n.name for n in m.graph.node if not set(n.output) & set(values)]
    pins = work / f"{name}.pins"
    pins.write_text("".join(f"^{n}$=acc0\n" for n in makers) + "".join(f"^{n}$=acc1\n" for n in others))
    folder = work / f"{name}.split"
    plan = work / f"{name}.plan"
    plan.write_text("".join(f"^{n}$=acc{int(n in others)}\n" for n in makers + others))
    done = pcc(path, "-d", "2xnpu", "-q", "-p", f"plan{{from={plan}}}", "-o", folder)
    if not check(done.returncode == 0, f"{name}: split: {done.stderr.strip()[-300:]}"):
        return
    crossing = re.findall(r'"type": "(seq|opt)', (folder / "manifest.json").read_text())
    check(crossing, f"{name}: no sequence crosses")
    code, said = verified_once(path, folder, "--quiet")
    check(code == 0, f"{name}: {said[-300:]}")


def main():
    if not Path(PCC).exists():
        print("skipped: no pcc")
        return SKIP
    with tempfile.TemporaryDirectory(prefix="pcc-sequences-") as tmp:
        for make in MODELS:
            run_types(Path(tmp), make)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
