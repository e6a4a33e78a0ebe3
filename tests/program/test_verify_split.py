#!/usr/bin/env python3
"""The verifier is trusted after it has caught planted errors.

Cuts a small model into two parts by hand, with a manifest, and demands that tools/verify_split.py
calls it equal; then plants one error after the other and demands that each is caught, at the place
where it lies.  Needs no pcc.  Exit: 0 all as expected, 1 not, 77 onnx or ONNX Runtime is missing.
"""
# once: plain
import copy
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from with_ort import SOURCE, verified  # first: it skips the test without ONNX Runtime
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

VERIFY = SOURCE / "tools/verify_split.py"
F32, F16, I64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64


def info(name, elem=F32, shape=("batch", 4)):
    return helper.make_tensor_value_info(name, elem, shape)


def weight(name, seed, dtype=np.float32, rows=4):
    return numpy_helper.from_array(
        np.random.default_rng(seed).standard_normal((rows, 4)).astype(dtype), name)


def model(nodes, inputs, outputs, weights, elem=F32):
    inputs, outputs = ([v if not isinstance(v, str) else info(v, elem) for v in side] for side in (inputs, outputs))
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def nodes_of(names):
    """x -m1-> a -r-> b | b -m2-> c, b + c -s-> y; z is a second output, out of the first part."""
    every = {
        "m1": helper.make_node("MatMul", ["x", "w1"], ["a"], name="m1"),
        "r": helper.make_node("Tanh", ["a"], ["b"], name="r"),
        "z": helper.make_node("Neg", ["b"], ["z"], name="z"),
        "m2": helper.make_node("MatMul", ["b", "w2"], ["c"], name="m2"),
        "m3": helper.make_node("MatMul", ["c", "w3"], ["d"], name="m3"),
        "s": helper.make_node("Add", ["d", "b"], ["y"], name="s"),
    }
    return [copy.deepcopy(every[n]) for n in names]


FIRST, SECOND = ["m1", "r", "z"], ["m2", "m3", "s"]


def part_entry(k, nodes, inputs, outputs):
    return {"file": f"part{k}.onnx", "device": f"acc{k}", "nodes": len(nodes), "inputs": inputs,
            "outputs": outputs, "compute_s": 1e-6, "weights_bytes": 64}


def device_entry(k):
    return {"name": f"acc{k}", "class": "a100", "index": k, "memory_bytes": None, "used_bytes": 128,
            "load_s": 1e-6, "compute_s": 1e-6, "transfer_s": 0.0, "parts": [f"part{k}.onnx"]}


def manifest_of(elem):
    return {
        "pcc_manifest": 1,
        "model": {"file": "model.onnx", "source": "whole.onnx", "nodes": 6, "ir_version": 8},
        "objective": {"name": "time-per-sample", "value_s": 1e-6, "bound_s": 1e-6, "gap": 0.0,
                      "status": "optimal", "argument": "by hand", "scope": "all", "bound_all_s": 1e-6},
        "devices": [device_entry(0), device_entry(1)],
        "inputs": [{"name": "x", "type": elem, "shape": ["batch", 4]}],
        "outputs": [{"name": "y", "from": "part1.onnx"}, {"name": "z", "from": "part0.onnx"}],
        "parts": [part_entry(0, FIRST, ["x"], ["z", "b"]), part_entry(1, SECOND, ["b"], ["y"])],
        "tensors": [{"name": "b", "type": elem, "shape": ["batch", 4], "bytes": 48,
                     "from": "part0.onnx", "to": ["part1.onnx"]}],
        "nodes": {"part0.onnx": FIRST, "part1.onnx": SECOND},
        "dims": {"batch": 3},
    }


WORDS = {F32: ("f32", "tensor(float)", "float32"), F16: ("f16", "tensor(float16)", "float16"),
         I64: ("i64", "tensor(int64)", "int64")}


def value_row(v):
    shape = [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim]
    return {**dict(zip(("type", "onnx_type", "numpy_type"), WORDS[v.type.tensor_type.elem_type])), "shape": shape}


class Split:
    """A whole model and its hand-made split; changed in memory, then written and verified."""

    link = None  # a part whose file lies beside the folder, which has a link to it

    def describe(self):
        """`values`, and types and shapes of the outputs, as the parts have them."""
        rows = {v.name: value_row(v) for p in self.part for v in [*p.graph.input, *p.graph.output]}
        self.manifest["values"] = rows
        for row in self.manifest["outputs"]:
            row.update({key: rows[row["name"]][key] for key in ("type", "shape")})

    def write(self, root):
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        onnx.save(self.whole, root / "whole.onnx")
        onnx.save(self.annotated, root / "model.onnx")
        for k, p in enumerate(self.part):
            onnx.save(p, root / f"part{k}.onnx")
        if self.link:
            (root / self.link).replace(root.parent / self.link)
            (root / self.link).symlink_to(root.parent / self.link)
        (root / "manifest.json").write_text(json.dumps(self.manifest))

    def verify(self, root, *options):
        self.write(root)
        return verified(root / "whole.onnx", root, *options)


class Folder(Split):
    def __init__(self, half=False):
        elem, dtype = (F16, np.float16) if half else (F32, np.float32)
        w1, w2, w3 = (weight(f"w{k}", k, dtype) for k in (1, 2, 3))
        self.whole = model(nodes_of(FIRST + SECOND), ["x"], ["y", "z"], [w1, w2, w3], elem)
        self.annotated = copy.deepcopy(self.whole)
        self.part = [model(nodes_of(FIRST), ["x"], ["z", "b"], [w1], elem),
                     model(nodes_of(SECOND), ["b"], ["y"], [w2, w3], elem)]
        self.manifest = manifest_of("f16" if half else "f32")
        self.describe()


class Halves(Split):
    """Two parts with tensors of float16 and float32; typed: {name: type} of inputs, crossing tensors and outputs."""

    def __init__(self, parts, typed, inputs, crossing, outputs, weights=()):
        self.whole = model(sum(parts, []), *self.infos(typed, inputs, [o for _, o in outputs]), weights)
        self.annotated = copy.deepcopy(self.whole)
        made = [[o for k, o in outputs if k == part] for part in (0, 1)]
        made[0] += [c for c in crossing if c not in made[0]]
        self.part = [model(parts[0], *self.infos(typed, inputs, made[0]), []),
                     model(parts[1], *self.infos(typed, crossing, made[1]), weights)]
        names = [[n.name for n in nodes] for nodes in parts]
        row = {n: {"name": n, "type": WORDS[typed[n]][0], "shape": ["batch", 4]} for n in typed}
        self.manifest = manifest_of("f32")
        self.manifest.update(
            inputs=[row[n] for n in inputs], outputs=[{"name": o, "from": f"part{k}.onnx"} for k, o in outputs],
            parts=[part_entry(0, names[0], inputs, made[0]), part_entry(1, names[1], crossing, made[1])],
            tensors=[{**self.manifest["tensors"][0], **row[n]} for n in crossing],
            nodes={"part0.onnx": names[0], "part1.onnx": names[1]})
        self.describe()

    @staticmethod
    def infos(typed, inputs, outputs):
        return [info(n, typed[n]) for n in inputs], [info(n, typed[n]) for n in outputs]


def node(op, inputs, output, **more):
    return helper.make_node(op, inputs.split(), [output], name=output, **more)


def cast_crosses(foreign=False):
    """x -Mul-> h (float16) -Cast-> c, which crosses in float32; then -Cast-> k (float16) -Cast-> e, e * w -> y.
    Beside it, all in float32: v -Neg-> n crosses, n w2 -> exact.  With `foreign` onnx cannot tell what type h has."""
    first = [node("QuickGelu", "x", "h", domain="com.microsoft") if foreign else node("Mul", "x x", "h"),
             node("Cast", "h", "c", to=F32), node("Neg", "v", "n")]
    second = [node("Cast", "c", "k", to=F16), node("Cast", "k", "e", to=F32), node("Mul", "e w", "y"),
              node("MatMul", "n w2", "exact")]
    return Halves([first, second], {"x": F16, **dict.fromkeys(["v", "c", "n", "y", "exact"], F32)}, ["x", "v"],
                  ["c", "n"], [(1, "y"), (1, "exact")], [weight("w", 1, rows=1), weight("w2", 2)])


def moved_crosses(chosen=False):
    """h crosses transposed, in float16, or `chosen` by a condition; its sibling c, a cast of h, is an output of the
    first part."""
    move = [node("Constant", "", "no", value=numpy_helper.from_array(np.array(False))), node("Where", "no x h", "t")] \
        if chosen else [node("Transpose", "h", "t", perm=[0, 1])]
    first = [node("Mul", "x x", "h"), node("Cast", "h", "c", to=F32), *move]
    return Halves([first, [node("Add", "t t", "y")]], {"x": F16, "c": F32, "t": F16, "y": F16}, ["x"], ["t"],
                  [(0, "c"), (1, "y")])


def shares_indices():
    """g crosses, numbers of x (float16) by the indices `ids`; f, of float32 by the same indices, crosses, f w2 ->
    exact; and z is a cast of the input x times a constant.  y alone may be off by rounding."""
    first = [node("GatherElements", "x ids", "g", axis=1), node("GatherElements", "v ids", "f", axis=1),
             node("Cast", "x", "p", to=F32), node("Constant", "", "k", value_float=3.0), node("Mul", "p k", "z")]
    return Halves([first, [node("Mul", "g g", "y"), node("MatMul", "f w2", "exact")]],
                  {"x": F16, "ids": I64, "g": F16, "y": F16, **dict.fromkeys(["v", "f", "exact", "z"], F32)},
                  ["x", "v", "ids"], ["g", "f"], [(1, "y"), (1, "exact"), (0, "z")], [weight("w2", 2)])


# ---------------------------------------------------------------- planted errors


def swap_equal_shaped_weights(f):
    a, b = f.part[1].graph.initializer
    a.name, b.name = b.name, a.name


def change_one_bit(f):
    w = f.part[0].graph.initializer[0]
    w.raw_data = bytes([w.raw_data[0] ^ 1]) + w.raw_data[1:]


def drop_node(f):
    del f.part[1].graph.node[1]
    f.part[1].graph.node[1].input[0] = "c"


def drop_node_everywhere(f):
    drop_node(f)
    f.manifest["nodes"]["part1.onnx"] = ["m2", "s"]


def rename_crossing_tensor(f):
    graph = f.part[1].graph
    graph.input[0].name = graph.node[0].input[0] = graph.node[2].input[1] = "b2"


def swap_outputs(f):
    f.manifest["outputs"].reverse()


def wrong_order(f):
    f.manifest["parts"].reverse()


def unlisted_crossing(f):
    f.manifest["tensors"] = []


def wrong_reader(f):
    f.manifest["tensors"][0]["to"] = ["part0.onnx"]


def node_twice(f):
    f.manifest["nodes"]["part1.onnx"] = SECOND + ["r"]


def missing_part(f):
    f.manifest["parts"][1]["file"] = "part7.onnx"
    f.manifest["devices"][1]["parts"] = ["part7.onnx"]


def part_of_nobody(f):
    f.manifest["devices"][1]["parts"] = []


def number_as_text(f):
    f.manifest["parts"][0]["nodes"] = "3"


def optimal_above_bound(f):
    f.manifest["objective"]["bound_s"] = 5e-7


def annotated_model_differs(f):
    f.annotated.graph.node[1].op_type = "Sigmoid"


def other_operator(f):
    f.part[1].graph.node[2].op_type = "Sub"


def swapped_inputs_of_a_node(f):
    node = f.part[1].graph.node[0]
    node.input[0], node.input[1] = node.input[1], node.input[0]


def part_the_checker_refuses(f):
    f.part[1].graph.node[2].attribute.append(helper.make_attribute("nonsense", 1))


def integers_instead_of_floats(f):
    f.part[1].graph.input[0].type.tensor_type.elem_type = I64


def lies_in(f, mode, said, found):
    """A weight of the first part lies in file `found`; the manifest has its own opinion."""
    w = f.part[0].graph.initializer[0]
    w.ClearField("raw_data")
    w.data_location = TensorProto.EXTERNAL
    w.external_data.add(key="location", value=found)
    f.manifest["weights"] = {"mode": mode, "files": said}


def weights_not_inline(f):
    lies_in(f, "inline", [], "other.bin")


def weights_in_an_unnamed_file(f):
    lies_in(f, "original", ["source0.data"], "other.bin")


def weights_file_that_is_not_there(f):
    lies_in(f, "original", ["other.bin"], "other.bin")


def weights_named_in_vain(f):
    f.manifest["weights"] = {"mode": "shared", "files": ["weights.data"]}


def data_of_another_part(f):
    lies_in(f, "parts", ["part1.data"], "part1.data")
    f.manifest["parts"][0] |= {"data": "part0.data", "data_bytes": 4}


def data_of_another_size(f):
    lies_in(f, "parts", ["part0.data"], "part0.data")
    f.manifest["parts"][0] |= {"data": "part0.data", "data_bytes": 4}


def data_without_its_size(f):
    lies_in(f, "parts", ["part0.data"], "part0.data")
    f.manifest["parts"][0]["data"] = "part0.data"


def weights_of_an_unknown_mode(f):
    f.manifest["weights"] = {"mode": "elsewhere", "files": []}


def weights_outside_the_folder(f):
    f.manifest["weights"] = {"mode": "original", "files": ["../host.onnx"]}


def value_missing(f):
    del f.manifest["values"]["b"]


def value_of_nobody(f):
    f.manifest["values"]["w1"] = f.manifest["values"]["b"]


def value_of_another_type(f):
    f.manifest["values"]["y"].update(onnx_type="tensor(double)", numpy_type="float64")


def value_of_another_word(f):
    f.manifest["values"]["b"]["type"] = f.manifest["tensors"][0]["type"] = "f64"


def value_of_another_shape(f):
    f.manifest["values"]["y"]["shape"] = f.manifest["outputs"][0]["shape"] = ["batch", 5]


def output_of_another_shape(f):
    f.manifest["outputs"][0]["shape"] = ["batch", 5]


def value_without_a_word_of_numpy(f):
    f.manifest["values"]["b"]["numpy_type"] = None


def no_assignment_and_no_reason(f):
    f.manifest["ort_layer_assignment"] = None


def name_with_escapes(f):
    f.manifest["parts"][1]["inputs"][0] = "b\x1b[31m\u202e"


def part_outside_the_folder(f):
    f.manifest["parts"][1]["file"] = "../part1.onnx"


def part_that_is_a_link(f):
    f.link = "part1.onnx"


PLANTED = [
    (name_with_escapes, "part1.onnx needs 'b\\x1b[31m\\u202e'"),
    (part_outside_the_folder, "$.parts[1].file"),
    (part_that_is_a_link, "'part1.onnx' lies outside of the folder"),
    (swap_equal_shaped_weights, "DIFFERENT: output 'y'"),
    (change_one_bit, "DIFFERENT: output"),
    (drop_node, "'m3' is listed but not in the file"),
    (drop_node_everywhere, "'m3' of the model is in no part"),
    (rename_crossing_tensor, "part1.onnx: inputs"),
    (swap_outputs, "outputs in the manifest"),
    (wrong_order, "no earlier part makes"),
    (unlisted_crossing, "crosses from part0.onnx but is not listed"),
    (wrong_reader, "tensor 'b': to"),
    (node_twice, "'r' is listed 2 times"),
    (missing_part, "part7.onnx does not exist"),
    (part_of_nobody, "device acc1"),
    (number_as_text, "$.parts[0].nodes"),
    (optimal_above_bound, "status is optimal"),
    (annotated_model_differs, "of model.onnx"),
    (other_operator, "DIFFERENT: output 'y'"),
    (swapped_inputs_of_a_node, "error: part1.onnx"),
    (part_the_checker_refuses, "onnx's checker"),
    (integers_instead_of_floats, "but tensor(int64) (int64) in part1.onnx"),
    (weights_not_inline, "part0.onnx: weights are inline, but"),
    (weights_in_an_unnamed_file, "the models refer to ['other.bin']"),
    (weights_file_that_is_not_there, "other.bin does not exist"),
    (weights_named_in_vain, "are said to lie in ['weights.data']"),
    (data_of_another_part, "is said to be ['part0.data'], it refers to ['part1.data']"),
    (data_of_another_size, "part0.data: 4 bytes are said, it has 0"),
    (data_without_its_size, "'data_bytes' is a dependency of 'data'"),
    (weights_of_an_unknown_mode, "$.weights.mode"),
    (weights_outside_the_folder, "$.weights.files[0]"),
    (value_missing, "values: lacks ['b']"),
    (value_of_nobody, "has ['w1']"),
    (value_of_another_type, "'y' is tensor(double)"),
    (value_of_another_word, "'b' is f64, but tensor(float)"),
    (value_of_another_shape, "'y' has another shape"),
    (output_of_another_shape, "tensor 'y': shape"),
    (value_without_a_word_of_numpy, "'b' is tensor(float) (None)"),
    (no_assignment_and_no_reason, "'ort_layer_assignment_why' is a required property"),
]


# ---------------------------------------------------------------- what must be accepted


def write_input(folder):
    folder.mkdir()
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    (folder / "input_0.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())


def copied_node(f):
    """A node in both parts is legal when the manifest calls it a copy."""
    scale = helper.make_node("Constant", [], ["k"], name="k", value_float=2.0)
    times = helper.make_node("Mul", ["b", "k"], ["b_k"], name="times")
    for m in (f.whole, f.annotated, f.part[0], f.part[1]):
        m.graph.node.insert(0, copy.deepcopy(scale))
    for m, at in ((f.whole, 3), (f.annotated, 3), (f.part[0], 3)):
        m.graph.node.insert(at, copy.deepcopy(times))
        m.graph.node[at + 1].input[0] = "b_k"
    f.part[1].graph.node[3].input[0] = "d"
    f.manifest["nodes"]["part0.onnx"] = FIRST + ["times", "k"]
    f.manifest["nodes"]["part1.onnx"] = SECOND + ["k"]
    f.manifest["copies"] = {"nodes": ["k"], "weights": []}


def return_input(f):
    """The model returns its input, too."""
    for m in (f.whole, f.annotated):
        m.graph.output.append(m.graph.input[0])
    f.manifest["outputs"].append({**f.manifest["inputs"][0], "from": "input"})


def exact_weights_off(f):
    w = f.part[1].graph.initializer[1]
    w.raw_data = bytes([w.raw_data[0] ^ 1]) + w.raw_data[1:]


def indexed_weights_off(f):
    w = numpy_helper.to_array(f.part[1].graph.initializer[0]) * np.float32(1.005)
    f.part[1].graph.initializer[0].CopyFrom(numpy_helper.from_array(w, "w2"))


def constant_off(f):
    f.part[0].graph.node[3].attribute[0].f = 3.01


def cast_weights_off(f, by=1.05):
    w = numpy_helper.to_array(f.part[1].graph.initializer[0]) * np.float32(by)
    f.part[1].graph.initializer[0].CopyFrom(numpy_helper.from_array(w, "w"))


def half_weights_off(f):
    w = numpy_helper.to_array(f.part[1].graph.initializer[0]) * np.float16(1.5)
    f.part[1].graph.initializer[0].CopyFrom(numpy_helper.from_array(w, "w2"))


def noise(node, seed=None):
    """A random node in the whole, the annotated whole and the first part; its result is added to all that follows."""
    def plant(f):
        for m in (f.whole, f.annotated, f.part[0]):
            m.graph.node.insert(1, copy.deepcopy(node))
            m.graph.node.insert(2, helper.make_node("Add", ["a", "noise"], ["a_noise"], name="add_noise"))
            m.graph.node[3].input[0] = "a_noise"
            if seed is not None:
                m.graph.node[1].attribute.append(helper.make_attribute("seed", seed))
        f.manifest["nodes"]["part0.onnx"] = FIRST + ["draw", "add_noise"]
    folder = Folder()
    plant(folder)
    return folder


DRAW = helper.make_node("RandomNormalLike", ["a"], ["noise"], name="draw")
DROP = [helper.make_node("Dropout", ["a", "", yes], ["noise"], name="draw") for yes in ("yes", "no")]


def with_dropout(training):
    folder = noise(DROP[0 if training else 1])
    for m in (folder.whole, folder.annotated, folder.part[0]):
        m.graph.initializer.append(numpy_helper.from_array(np.array(training), "yes" if training else "no"))
    return folder


def within(function, more=lambda folder: None):
    """The random node is in the bodies of an If, or in a function; `more` changes the folder."""
    draw = helper.make_node("RandomNormal", [], ["n"], shape=[1])
    body = helper.make_graph([draw], "body", [], [info("n", shape=[1])])
    call = helper.make_node("Draw", [], ["noise"], name="draw", domain="own") if function else \
        helper.make_node("If", ["yes"], ["noise"], name="draw", then_branch=body, else_branch=body)
    folder = noise(call)
    for m in (folder.whole, folder.annotated, folder.part[0]):
        m.graph.initializer.append(numpy_helper.from_array(np.array(True), "yes"))
        m.opset_import.append(helper.make_opsetid("own", 1))
        m.functions.append(helper.make_function("own", "Draw", [], ["n"], [draw], [helper.make_opsetid("", 17)]))
    more(folder)
    return folder


def half_random():
    """Output z alone is random."""
    folder = Folder()
    draw = helper.make_node("RandomUniformLike", ["b"], ["noise"], name="draw")
    for m in (folder.whole, folder.annotated, folder.part[0]):
        at = next(k for k, n in enumerate(m.graph.node) if n.name == "z")
        m.graph.node.insert(at, copy.deepcopy(draw))
        m.graph.node[at + 1].input[0] = "noise"
    folder.manifest["nodes"]["part0.onnx"] = FIRST + ["draw"]
    return folder


# (folder, exit code, text) of random operators, of verify_split.py and pcc-verify
RANDOM = [
    (lambda: noise(DRAW), 3, "nothing to compare: all outputs depend on random operators, such as 'draw'"),
    (lambda: noise(DRAW, seed=1.0), 0, "equal: 2 outputs"),
    (lambda: within(function=False, more=return_input), 3, "such as 'draw', or are inputs"),
    (lambda: within(function=True), 3, "'draw'"),
    (lambda: with_dropout(training=True), 3, "'draw'"),
    (lambda: with_dropout(training=False), 0, "equal: 2 outputs"),
    (half_random, 0, "equal: 1 outputs"),
]


def accepted(root):
    """(what, folder, options, exit code, text) of runs that are no planted errors."""
    inputs = root.parent / "inputs"
    write_input(inputs)
    copied, off = Folder(), Folder(half=True)
    copied_node(copied)
    half_weights_off(off)
    cast_off, exact_off = cast_crosses(), cast_crosses()
    cast_weights_off(cast_off)
    exact_weights_off(exact_off)
    indices_off, input_off = shares_indices(), shares_indices()
    indexed_weights_off(indices_off)
    constant_off(input_off)
    constant = Folder()
    for m in (constant.whole, constant.annotated, constant.part[0]):
        m.graph.node[0].op_type, m.graph.node[1].op_type = "Mul", "Cos"
        m.graph.initializer[0].CopyFrom(
            numpy_helper.from_array(np.zeros((1, 4), np.float32), "w1"))
    return_input(constant)
    broken = Folder()
    broken.whole.graph.node[0].op_type = "NoSuchOperator"
    heuristic = Folder()
    heuristic.manifest["objective"].update(status="heuristic", bound_s=None, gap=None, bound_all_s=None)
    heuristic.manifest["extra"] = {"more": "keys are welcome"}
    return [
        ("plain", Folder(), [], 0, "equal: 2 outputs"),
        ("quiet", Folder(), ["--quiet"], 0, "equal: 2 outputs"),
        ("given inputs", Folder(), ["--inputs", inputs], 0, "inputs: from"),
        ("two inputs", Folder(), ["--sensitive"], 0, "on 2 inputs"),
        ("a copied node", copied, [], 0, "equal: 2 outputs"),
        ("no bound known", heuristic, [], 0, "equal: 2 outputs"),
        ("float16", Folder(half=True), [], 0, "float16 tensors cross, or casts of them (b)"),
        ("float16, far off", off, [], 1, "DIFFERENT: output 'y'"),
        ("cast from float16", cast_crosses(), [], 0, "1 bit-equal, 1 within rounding"),
        ("cast from who knows what", cast_crosses(foreign=True), [], 0, "1 bit-equal, 1 within rounding"),
        ("a cast beside what moves and crosses", moved_crosses(), [], 0, "1 bit-equal, 1 within rounding"),
        ("cast from float16, off", cast_off, [], 1, "DIFFERENT: output 'y'"),
        ("beside a cast, a bit off", exact_off, [], 1, "DIFFERENT: output 'exact'"),
        ("a cast beside what is chosen and crosses", moved_crosses(chosen=True), [], 0, "max|reference|: c, y"),
        ("indices that two branches read", shares_indices(), [], 0, "equal: 3 outputs"),
        ("beside indices, a bit off", indices_off, [], 1, "DIFFERENT: output 'exact'"),
        ("beside what moves an input, a bit off", input_off, [], 1, "DIFFERENT: output 'z'"),
        ("ignores its input, but returns it", constant, ["--sensitive"], 1, "insensitive"),
        ("whole does not run", broken, [], 3, "cannot run the whole model"),
        *((f"random {k}", make(), [], code, text) for k, (make, code, text) in enumerate(RANDOM)),
        ("missing inputs", Folder(), ["--inputs", root.parent], 1, "input_0.pb does not exist"),
    ]


def says_what_lacks():
    """Without one of its packages it verifies nothing, and says so, with what to do."""
    hidden = f"import runpy, sys; sys.modules['ml_dtypes'] = None; runpy.run_path({str(VERIFY)!r}, run_name='__main__')"
    r = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True)
    said = f"skipped: ml_dtypes is not installed for {sys.executable}: nothing was verified; run: {sys.executable} -m"
    right = r.returncode == 77 and r.stdout.startswith(said)
    if not right:
        print(f"without ml_dtypes: {r.returncode}: {r.stdout}{r.stderr}")
    return right


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as temp:
        root = Path(temp) / "split"
        runs = accepted(root)
        for plant, text in PLANTED:
            folder = Folder()
            plant(folder)
            runs.append((plant.__name__, folder, [], 1, text))
        for what, folder, options, code, text in runs:
            found, said = folder.verify(root, *options)
            if found != code or text not in said:
                wrong += 1
                print(f"{what}: exit {found} instead of {code}, or no \"{text}\" in:\n{said}")
        program = subprocess.run([sys.executable, VERIFY, root / "whole.onnx", root, "--inputs", root.parent],
                                 capture_output=True, text=True)
        if program.returncode != found or program.stdout.strip() != said:
            wrong += 1
            print(f"as a program: exit {program.returncode} instead of {found}: {program.stdout}{program.stderr}")
    wrong += not says_what_lacks()
    print(f"{len(runs) - wrong} of {len(runs)} as expected, {len(PLANTED)} of them planted errors")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
