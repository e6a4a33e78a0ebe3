"""The rewriting passes on whole models: drop-identity and fold-constants change nothing of what a model computes.

Models of pcc-gen, small ones with bodies and outputs of every kind, and with --extra=shared those of PCC_SHARED go
through each pass, and through both.  ONNX Runtime, optimisations off, makes equal bits of the original and of the
result, at two sizes of symbolic dimensions where the model runs with them; a second run changes nothing; onnx's
checker accepts what it accepted before.  Prints how many nodes there were and are.  PCC_ALL=1: all models; else
every third shared one. PCC_ONLY=TEXT: models with that in their name."""
# extras: shared
import gc
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from with_ort import GEN, PCC  # first: it skips the test without ONNX Runtime
from checks import check, complain, finish
from sanitized import SANITIZED
import numpy as np
import onnx
import onnxruntime as ort
import verify_split as v
from same_results import ask_sizes
from onnx import TensorProto, helper, numpy_helper

ALL, ONLY = os.environ.get("PCC_ALL"), os.environ.get("PCC_ONLY", "")
PIPELINES = ["drop-identity", "fold-constants", "fold-constants,drop-identity"]
TRAINING = "recompute"  # of training graphs
IDLE = {"drop-identity": "every node does something", "fold-constants": "no node can be computed",
        "recompute": "0 nodes are made again"}
GENERATED = {
    "gpt": ["gpt", "--layers", 2, "--width", 32, "--heads", 2, "--vocab", 64],
    "gpt_kv": ["gpt", "--layers", 2, "--width", 32, "--heads", 2, "--vocab", 64, "--kv"],
    "gpt_seq": ["gpt", "--layers", 1, "--width", 32, "--heads", 2, "--vocab", 64, "--seq", 7],
    "bert": ["bert", "--layers", 1, "--width", 32, "--heads", 2, "--vocab", 64],
    "llama_kv": ["llama", "--layers", 1, "--width", 32, "--heads", 4, "--kv-heads", 2, "--vocab", 64, "--kv"],
    "moe": ["moe", "--layers", 1, "--width", 32, "--heads", 4, "--kv-heads", 2, "--vocab", 64],
    "unet": ["unet", "--width", 8, "--layers", 1],
    "dlrm": ["dlrm", "--tables", 3],
    "train": ["train", "--layers", 1, "--width", 16, "--heads", 2, "--vocab", 32],
    "encoder_decoder": ["encoder-decoder", "--layers", 1, "--width", 32, "--heads", 2, "--vocab", 64],
    "detector": ["detector", "--classes", 3, "--width", 8, "--layers", 1],
    "resnet": ["resnet", "--depth", 18, "--size", 32, "--width", 8, "--classes", 10],
    "inception": ["inception", "--blocks", 1, "--size", 32, "--width", 8, "--classes", 10],
}
REFUSED = {"icm-31000000518082.onnx", "test_arbitrary_external_file.onnx"}  # no models: test_roundtrip.py


# ---- small models

def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def ints(name, *values, shape=None):
    array = np.array(values, np.int64)
    return numpy_helper.from_array(array if shape is None else array.reshape(shape), name)


def model_of(nodes, inputs, outputs, inits=(), opset=17, ir=9):
    graph = helper.make_graph(nodes, "small", inputs, outputs, list(inits))
    return helper.make_model(graph, ir_version=ir, opset_imports=[helper.make_opsetid("", opset)])


def node(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs.split(), outputs.split(), **attrs)


def constant_outputs():
    """Outputs of the model that are constant stay what their nodes make; what reads them is folded."""
    nodes = [node("Add", "a b", "sum"), node("Mul", "sum sum", "square"), node("Identity", "square", "copy"),
             node("Cast", "square", "scale", to=TensorProto.FLOAT), node("Mul", "x scale", "y")]
    return model_of(nodes, [info("x", ["n"])],
                    [info("y", ["n"]), info("sum", [1], TensorProto.INT64), info("copy", [1], TensorProto.INT64)],
                    [ints("a", 3), ints("b", 4)])


def default_input():
    """An initializer that is an input, too, is no constant; one that is none is."""
    nodes = [node("Add", "d c", "e"), node("Add", "c c", "f"), node("Mul", "e f", "g"), node("Add", "x g", "y")]
    weights = [numpy_helper.from_array(np.full(3, k, np.float32), n) for n, k in (("c", 2), ("d", 5))]
    return model_of(nodes, [info("x", [3]), info("d", [3])], [info("y", [3])], weights)


def bodies():
    """Constants in branches and loops, from inside and outside; a branch that is a constant."""
    then = helper.make_graph([node("Add", "two two", "four"), node("Cast", "four", "t", to=TensorProto.FLOAT)],
                             "then", [], [info("t", [1])])
    other = helper.make_graph([node("Shape", "x", "s"), node("Gather", "s one", "width", axis=0),
                               node("Cast", "width", "wide", to=TensorProto.FLOAT), node("Add", "wide inner", "e")],
                              "else", [], [info("e", [1])],
                              [numpy_helper.from_array(np.array([1.5], np.float32), "inner")])
    body = helper.make_graph([node("Identity", "go", "again"), node("Add", "two two", "k"),
                              node("Cast", "k", "kf", to=TensorProto.FLOAT), node("Add", "state kf", "next")],
                             "body", [info("i", [], TensorProto.INT64), info("go", [], TensorProto.BOOL),
                                      info("state", ["n", 6])],
                             [info("again", [], TensorProto.BOOL), info("next", ["n", 6])])
    nodes = [node("ReduceSum", "x", "r", keepdims=0), node("Less", "r zero", "p"),
             helper.make_node("If", ["p"], ["chosen"], then_branch=then, else_branch=other),
             helper.make_node("Loop", ["times", "", "x"], ["z"], body=body), node("Add", "z chosen", "y")]
    weights = [ints("two", 2), ints("one", 1), ints("times", 3, shape=[]),
               numpy_helper.from_array(np.float32(0), "zero")]
    return model_of(nodes, [info("x", ["n", 6])], [info("y", ["n", 6])], weights)


def shapes_in_part():
    """A batch that is a symbol, and known sizes beside it; parts of a Split; several results."""
    nodes = [node("Shape", "x", "s"), node("Gather", "s last", "w", axis=0), node("Div", "w four", "head"),
             node("Gather", "s first", "batch", axis=0), node("Concat", "batch minus head", "to", axis=0),
             node("Reshape", "x to", "r"), node("Shape", "r", "rs"), node("Split", "rs", "p q", axis=0),
             node("Squeeze", "q", "q0"), node("Cast", "head", "hf", to=TensorProto.FLOAT),
             node("Sqrt", "hf", "root"), node("Div", "r root", "y")]
    nodes[7] = helper.make_node("Split", ["ws"], ["p", "q"], axis=0)
    nodes.insert(7, node("Concat", "w head", "ws", axis=0))
    nodes += [node("Add", "p q", "pq"), node("Cast", "pq", "pf", to=TensorProto.FLOAT), node("Add", "y pf", "z")]
    return model_of(nodes, [info("x", ["b", 64])], [info("z", None)],
                    [ints("last", 1), ints("first", 0), ints("four", 4), ints("minus", -1)], opset=13)


def identities():
    """Everything that drop-identity knows, before an output, an input and a weight."""
    nodes = [node("Identity", "x", "a"), node("Dropout", "a", "b"), node("Cast", "b", "c", to=TensorProto.FLOAT),
             node("Transpose", "c", "d", perm=[1, 0]), node("Transpose", "d", "e", perm=[1, 0]),
             node("Reshape", "e shape", "f"), node("Neg", "f", "g"), node("Identity", "g", "y"),
             node("Identity", "x", "same"), node("Identity", "w", "weight")]
    return model_of(nodes, [info("x", ["n", 4])], [info("y", ["n", 4]), info("same", ["n", 4]), info("weight", [2])],
                    [ints("shape", 0, 4), numpy_helper.from_array(np.ones(2, np.float32), "w")])


def half():
    """float16 and bfloat16 constants that move, and a cast between."""
    w = helper.make_tensor("w", TensorProto.FLOAT16, [2, 3], np.arange(6, dtype=np.float16).tobytes(), raw=True)
    nodes = [node("Transpose", "w", "wt"), node("Cast", "k", "kh", to=TensorProto.FLOAT16), node("Mul", "wt kh", "m"),
             node("MatMul", "x m", "y"), node("Cast", "k", "kb", to=TensorProto.BFLOAT16),
             node("Unsqueeze", "kb axes", "u"), node("Cast", "u", "uf", to=TensorProto.FLOAT),
             node("Add", "uf uf", "z")]
    return model_of(nodes, [info("x", ["n", 3], TensorProto.FLOAT16)],
                    [info("y", ["n", 2], TensorProto.FLOAT16), info("z", None)],
                    [w, numpy_helper.from_array(np.array([0.3], np.float32), "k"), ints("axes", 0)])


def shapes_later():
    """Shape inference does not follow ScatterND: what y's shape is shows when that is folded."""
    nodes = [node("ScatterND", "zeros places sizes", "to"), node("Reshape", "x to", "y0"), node("Shape", "y0", "s"),
             node("Gather", "s two", "w", axis=0), node("ScatterND", "zeros places twice", "to2")]
    nodes[4:4] = [node("Concat", "w w", "twice", axis=0)]
    nodes += [node("Reshape", "y0 to2", "y1"), node("Shape", "y1", "s1"), node("Cast", "s1", "f", to=TensorProto.FLOAT),
              node("Gather", "f two", "g", axis=0), node("Mul", "y1 g", "y")]
    return model_of(nodes, [info("x", [8, 64])], [info("y", None)],
                    [ints("zeros", 0, 0, 0), ints("places", 1, 2, shape=[2, 1]), ints("sizes", 8, 8), ints("two", 2)],
                    opset=13)


SMALL = [constant_outputs, default_input, bodies, shapes_in_part, shapes_later, identities, half]


# ---- runs

def open_session(path):
    """Optimisations off, and no weights packed in advance: where a weight was computed by a node before, a MatMul would
    add in another order."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.use_deterministic_compute = True
    options.add_session_config_entry("session.disable_prepacking", "1")
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class Runs:
    """A model, the inputs that it runs on, and its outputs; `why_not`: it does not run, and why."""

    def __init__(self, path, inputs):
        self.sets, self.why_not = [], None
        try:
            session = open_session(path)
            infos = session.get_inputs()
        except Exception as e:  # ONNX Runtime has no common class for its errors
            self.why_not = v.first_line(e)
            return
        for make in self.inputs(path, infos, inputs):
            try:
                values = make()
                self.sets.append((values, v.run_session(session, values)))
            except Exception as e:
                self.why_not = self.why_not or v.first_line(e)
        self.why_not = None if self.sets else self.why_not

    def inputs(self, path, infos, folder):
        """Ways to make inputs: those of the folder, random ones, random ones of larger batches; tamer ones if these do
        not fit the model."""
        if folder and folder.is_dir():
            yield lambda: v.read_inputs(infos, folder)
        said = ask_sizes(path, {})
        larger = {name: 3 for name, size in said["dims"].items() if size == 1 and name.isidentifier()}
        for seed, dims in enumerate([{}, larger] if larger else [{}]):
            before = len(self.sets)
            for integers in (None, 1, 0):
                if len(self.sets) == before:
                    yield lambda: v.random_inputs(infos, v.sizes_of(ask_sizes(path, dims)), seed, integers)

    def difference(self, path):
        """What another model makes otherwise of the same inputs; None: nothing."""
        session = open_session(path)
        for values, outputs in self.sets:
            got = v.run_session(session, values)
            if list(got) != list(outputs):
                return f"outputs {list(got)}, not {list(outputs)}"
            for name, value in outputs.items():
                wrong = v.difference(value, got[name])
                if wrong:
                    return f"'{name}': {wrong}"
        gc.collect()
        return None


def rewrite(model, pipeline, out):
    """What pcc says of each pass; None: it failed."""
    r = subprocess.run([PCC, str(model), "-v", "-p", pipeline, "-o", str(out)], capture_output=True, text=True,
                       errors="replace")
    if r.returncode != 0:
        complain(f"{model.name} by {pipeline}: {r.stderr.strip()[-400:]}")
        return None
    return dict(re.findall(r"note: ([a-z-]+): (.*)", r.stderr))


def count_nodes(path):
    """Nodes of all graphs."""
    def nodes_of(graph):
        return len(graph.node) + sum(nodes_of(g) for n in graph.node for a in n.attribute
                                     for g in [*([a.g] if a.HasField("g") else []), *a.graphs])
    return nodes_of(onnx.load(str(path), load_external_data=False).graph)


def check_model(path, inputs, total):
    whole = Runs(path, inputs)
    accepted = v.checker_says(path) is None
    counts = [count_nodes(path)]
    for pipeline in PIPELINES + [TRAINING] * path.name.startswith("train"):
        out, again = path.with_name("out_" + path.name), path.with_name("again_" + path.name)
        if rewrite(path, pipeline, out) is None:
            continue
        counts.append(count_nodes(out))
        said = rewrite(out, pipeline, again)
        for name in pipeline.split(",") if said is not None else ():
            check(said.get(name) == IDLE[name], f"{path.name}: the second run of {pipeline}: {said}")
        reason = v.checker_says(out) if accepted else None
        check(not reason, f"{path.name} by {pipeline}: the checker says: {reason}")
        try:
            wrong = whole.difference(out) if not whole.why_not else None
        except Exception as e:
            wrong = f"does not run: {v.first_line(e)}"
        check(not wrong, f"{path.name} by {pipeline}: {wrong}")
        total["runs"] += len(whole.sets)
    total["models"] += 1
    print(f"{path.name}: " + " ".join(map(str, counts)) + " nodes"
          + (f", not run: {whole.why_not[:90]}" if whole.why_not else f", {len(whole.sets)} inputs"), flush=True)


def check_bounds(folder):
    """A small file that describes very many large constants: computing ends, and so does the memory."""
    many = 2000
    nodes = [node("ConstantOfShape", "size", f"c{i}") for i in range(many)]
    nodes += [node("Gather", f"c{i} one", f"g{i}", axis=0) for i in range(many)]
    nodes.append(helper.make_node("Sum", ["x"] + [f"g{i}" for i in range(many)], ["y"]))
    path = folder / "many.onnx"
    onnx.save(model_of(nodes, [info("x", [1])], [info("y", [1])], [ints("size", 1 << 18), ints("one", 1)]), path)
    r = subprocess.run([PCC, path, "-v", "-p", "fold-constants", "-o", folder / "less.onnx"], capture_output=True,
                       text=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # KiB
    check(r.returncode == 0 and "not all was looked at" in r.stderr, f"many constants: {r.stderr[-300:]}")
    check(SANITIZED or used < 1 << 20, f"many constants: {used} KiB")
    print(f"many constants: {used >> 10} MiB")


# ---- models

def made(folder):
    for make in SMALL:
        path = folder / f"{make.__name__}.onnx"
        onnx.save(make(), path)
        yield path, None
    for name, options in GENERATED.items():
        path = folder / f"{name}.onnx"
        r = subprocess.run([GEN, *map(str, options), "-o", path], capture_output=True, text=True)
        check(r.returncode == 0, f"pcc-gen {name}: {r.stderr}")
        yield path, None


def copied(folder):
    """The shared models, each with the files beside it."""
    found = [p for p in sorted(extras.shared("models").rglob("*.onnx"))
             if p.name not in REFUSED and p.parent.name != "real"]  # whose weights are missing; tiny/ has them
    for path in found[::1 if ALL or ONLY else 6 if SANITIZED else 3]:
        for f in path.parent.iterdir():
            if f.suffix in (".bin", ".data", ".weights") and not (folder / f.name).exists():
                shutil.copy(f, folder / f.name)
        shutil.copy(path, folder / path.name)
        yield folder / path.name, path.with_suffix(".inputs")


def main():
    total = {"models": 0, "runs": 0}
    print("nodes: as they are, after " + ", after ".join(PIPELINES))
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        if not extras.extra():
            check_bounds(folder)
        for path, inputs in (copied if extras.extra() else made)(folder):
            if ONLY in path.name:
                check_model(path, inputs, total)
            for left in folder.glob("*" + path.name + "*"):
                left.unlink()
    print(f"{total['models']} models, {total['runs']} comparisons")
    return finish()


sys.exit(main())
