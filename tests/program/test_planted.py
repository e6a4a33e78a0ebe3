"""Verification can fail: errors planted in the split folders of named models are each caught.

Models: three that pcc-gen makes, and real exports of PCC_SHARED.  Each is split
over two devices and verified (with two inputs, some output must change); then every plant below
goes into a fresh copy of the folder, and tools/verify_split.py must exit with 1, for the reason
that is named.  Some plants also forge the manifest, so that nothing but the comparison of the
outputs can catch them.  A control keeps the test honest: a folder that is read and written without
a change must still pass.  pcc-verify must have the same exit code, and name the first value that differs, which is
looked for here in another way: for plants that outputs show (of real exports for one of them), for all with PCC_ALL=1.
With sanitizers only pcc-verify judges, by its exit code.  Needs onnx and ONNX Runtime (else 77)."""
# extras: shared
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from sanitized import SANITIZED
from with_ort import GEN, PCC, verified  # first: it skips the test without ONNX Runtime
import numpy
import onnx
import onnxruntime
from onnx import TensorProto, numpy_helper

VERIFY = os.environ.get("PCC_VERIFY") or Path(PCC).parent / "pcc-verify"
GENERATED = {
    "gpt": ["gpt", "--kv", "--layers", "2", "--width", "32", "--heads", "2", "--vocab", "64"],
    "resnet": ["resnet", "--depth", "18", "--size", "32", "--width", "8", "--classes", "10"],
    "inception": ["inception", "--blocks", "2", "--size", "32", "--width", "8", "--classes", "10"],
}
EXPORTED = ["bert_base_ts", "resnet18_ts", "gpt2_kv_dyn", "vit_b16_dyn"]
# Single input and output, of one shape and type: they can be bypassed.
BYPASSABLE = {"Relu", "Gelu", "Erf", "Tanh", "Sigmoid", "Softmax", "Neg", "Sqrt",
              "LayerNormalization", "Identity"}
FLOATS = {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE}


class Folder:
    """A split folder of which one part is about to be changed."""

    def __init__(self, path):
        self.path = path
        self.manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
        self.files = [p["file"] for p in self.manifest["parts"]]
        self.model = {f: onnx.load(path / f, load_external_data=False) for f in self.files}
        self.whole = onnx.load(path / self.manifest["model"]["file"], load_external_data=False)

    def save(self, file):
        onnx.save(self.model[file], self.path / file)

    def save_manifest(self):
        (self.path / "manifest.json").write_text(json.dumps(self.manifest), encoding="utf-8")

    def bytes_of(self, tensor):
        if tensor.data_location != TensorProto.EXTERNAL:
            return numpy_helper.to_array(tensor).tobytes()
        at = {e.key: e.value for e in tensor.external_data}
        with open(self.path / at["location"], "rb") as f:
            f.seek(int(at.get("offset", 0)))
            return f.read(int(at["length"]))


def reaching(folder):
    """Names of the values from which an output of the whole can be reached."""
    alive = {o.name for o in folder.whole.graph.output}
    for node in reversed(folder.whole.graph.node):
        if alive & set(node.output):
            alive |= set(node.input)
            for a in node.attribute:  # captures of bodies: all names that are mentioned
                for g in [a.g, *a.graphs]:
                    alive |= {i for n in g.node for i in n.input}
    return alive


def replace_input(graph, old, new):
    for node in graph.node:
        for i, name in enumerate(node.input):
            if name == old:
                node.input[i] = new


# ---- plants: each changes the folder and returns the text that the verifier must print, or None if
# ---- the model has no place for it


def nothing_changed(f):
    for file in f.files:
        f.save(file)
    f.save_manifest()
    return "equal:"


def swap_weights(f, part):
    """Two different weights of equal type and shape, as large as possible, change places."""
    alive, groups = reaching(f), {}
    for t in f.model[f.files[part]].graph.initializer:
        if t.data_type in FLOATS and t.name in alive and len(t.dims) > 0:
            groups.setdefault((t.data_type, tuple(t.dims)), []).append(t)
    for group in sorted(groups.values(), key=lambda g: -len(f.bytes_of(g[0]))):
        first = group[0]
        other = next((t for t in group if f.bytes_of(t) != f.bytes_of(first)), None)
        if other is None:
            continue
        a, b = TensorProto.FromString(first.SerializeToString()), \
            TensorProto.FromString(other.SerializeToString())
        first.CopyFrom(b)
        first.name = a.name
        other.CopyFrom(a)
        other.name = b.name
        f.save(f.files[part])
        return "DIFFERENT: output"
    return None


def swap_in_first(f):
    return swap_weights(f, 0)


def swap_in_last(f):
    return swap_weights(f, -1)


def drop_node(f):
    """A node is simply gone."""
    graph = f.model[f.files[-1]].graph
    at = len(graph.node) // 2
    while graph.node[at].name not in f.manifest["nodes"][f.files[-1]]:
        at += 1
    del graph.node[at]
    f.save(f.files[-1])
    return "error: "


def bypassable(f, part, tensors):
    """The first node of the part that can be left out with its reader reading its input."""
    for node in f.model[f.files[part]].graph.node:
        if node.op_type in BYPASSABLE and node.output[0] not in tensors:
            return node
    return None


def drop_node_forged(f):
    """A node is left out, its readers read its input, and the manifest knows of no such node."""
    tensors = {t["name"] for t in [*f.manifest["tensors"], *f.manifest["outputs"]]}
    for part in (1, 0):
        file, graph = f.files[part], f.model[f.files[part]].graph
        node = bypassable(f, part, tensors)
        if node is None:
            continue
        replace_input(graph, node.output[0], node.input[0])
        f.manifest["nodes"][file].remove(node.name)
        f.manifest.setdefault("dropped", []).append(node.name)
        f.manifest["parts"][part]["nodes"] -= 1
        for i, info in enumerate(graph.value_info):
            if info.name == node.output[0]:
                del graph.value_info[i]
                break
        graph.node.remove(node)
        f.save(file)
        f.save_manifest()
        return "DIFFERENT: output"
    return None


def crossing(f):
    """A tensor from one part to another, and the index of a part that reads it."""
    t = next(t for t in f.manifest["tensors"] if t["to"])
    return t["name"], f.files.index(t["to"][0])


def rename_in_reader(f):
    name, part = crossing(f)
    graph = f.model[f.files[part]].graph
    replace_input(graph, name, "renamed")
    for v in graph.input:
        if v.name == name:
            v.name = "renamed"
    f.save(f.files[part])
    return "error: "


def rename_in_reader_and_manifest(f):
    name, part = crossing(f)
    rename_in_reader(f)
    inputs = f.manifest["parts"][part]["inputs"]
    inputs[inputs.index(name)] = "renamed"
    f.save_manifest()
    return "needs 'renamed', which no earlier part makes"


def rename_in_maker(f):
    name, _ = crossing(f)
    maker = f.files.index(next(t["from"] for t in f.manifest["tensors"] if t["name"] == name))
    graph = f.model[f.files[maker]].graph
    for v in graph.output:
        if v.name == name:
            v.name = "renamed"
    for node in graph.node:
        for i, out in enumerate(node.output):
            if out == name:
                node.output[i] = "renamed"
    replace_input(graph, name, "renamed")
    f.save(f.files[maker])
    return "error: "


def wrong_offset(f):
    """A weight is read from 4 KiB before its place in weights.data."""
    graph = f.model[f.files[-1]].graph
    alive = reaching(f)
    for t in sorted(graph.initializer, key=lambda t: t.name):
        if t.data_location == TensorProto.EXTERNAL and t.data_type in FLOATS and t.name in alive:
            entry = next((e for e in t.external_data if e.key == "offset"), None)
            if entry is None or int(entry.value) < 4096:
                continue
            entry.value = str(int(entry.value) - 4096)
            f.save(f.files[-1])
            return "DIFFERENT: output"
    return None


PLANTS = [swap_in_first, swap_in_last, drop_node, drop_node_forged, rename_in_reader,
          rename_in_reader_and_manifest, rename_in_maker, wrong_offset]
# These must find a place in every model; either swap may lack one, not both.
ALWAYS = {"drop_node", "rename_in_reader", "rename_in_reader_and_manifest", "rename_in_maker"}


# ---- the first value that differs


def session_of(model):
    o = onnxruntime.SessionOptions()
    o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, o, ["CPUExecutionProvider"])


def all_values(path, feed):
    """Everything that the nodes of a model make, by name."""
    model = onnx.load(path)
    there = {o.name for o in model.graph.output}
    made = [o for n in model.graph.node for o in n.output if o]
    model.graph.output.extend(onnx.ValueInfoProto(name=o) for o in made if o not in there)
    session = session_of(model.SerializeToString())
    return dict(zip(made, session.run(made, {i.name: feed[i.name] for i in session.get_inputs()})))


def first_difference(whole, split, feed):
    """The name of the first value of the model that a part has otherwise."""
    table, parts = dict(feed), []
    for part in Folder(split).manifest["parts"]:
        parts.append(all_values(split / part["file"], table))
        table.update(parts[-1])
    return next((name for name, value in whole.items()
                 if any(name in p and p[name].tobytes() != value.tobytes() for p in parts)), None)


def sample(model, split, inputs):
    """Inputs of the model: those that are given, or random ones; and all that the model makes of them."""
    import verify_split  # here, so that verified() has imported it before
    infos = session_of(str(model)).get_inputs()
    feed = verify_split.read_inputs(infos, inputs) if inputs else \
        verify_split.random_inputs(infos, verify_split.sizes_of(Folder(split).manifest), 0)
    return feed, all_values(model, feed)


def compiled(model, split, given, code):
    """What is wrong with what pcc-verify says of a folder, of which verify_split.py has this exit code; or None."""
    feed, whole = given
    numpy.savez(split / "sample.npz", **feed)
    r = subprocess.run([VERIFY, model, split, split / "sample.npz"], capture_output=True, text=True)
    said = f"pcc-verify: exit code {r.returncode} instead of {code}: {r.stdout}{r.stderr}"
    if r.returncode != code:
        return said
    if "DIFFERENT" in r.stdout and not SANITIZED:  # with sanitizers what is said is what other builds say
        first = first_difference(whole, split, feed)
        return None if f"\nfirst value that differs: '{first}', of node" in r.stdout else f"{said}: it is '{first}'"
    return None


# ---- running


def verify(model, split, inputs, *more):
    return verified(model, split, "--quiet", *more, *(["--inputs", inputs] if inputs else []))


def symbolic_sizes(model, inputs):
    """--dim options that make random inputs as large as the given ones."""
    if not inputs:
        return []
    found = {}
    for k, info in enumerate(onnx.load(model, load_external_data=False).graph.input):
        path = inputs / f"input_{k}.pb"
        if not path.exists():
            break
        given = onnx.load_tensor(path).dims
        for d, size in zip(info.type.tensor_type.shape.dim, given):
            if d.dim_param.isidentifier() and size > 0:
                found.setdefault(d.dim_param, size)
    return [a for k, v in found.items() for a in ("--dim", f"{k}={v}")]


def plant(plant_one, model, split, inputs, given, temp):
    """(what is wrong or None, whether there was a place for it)"""
    copy = Path(tempfile.mkdtemp(dir=temp))
    shutil.copytree(split, copy, dirs_exist_ok=True)
    text = plant_one(Folder(copy))
    if text is None:
        shutil.rmtree(copy)
        return None, False
    want = 0 if plant_one is nothing_changed else 1
    code, said = verify(model, copy, inputs) if not SANITIZED else (want, text)  # of the folder that other builds write
    few = plant_one is swap_in_last or not extras.extra() and text.startswith("DIFFERENT")
    asked = few or os.environ.get("PCC_ALL")
    also = compiled(model, copy, given, code) if asked else None
    shutil.rmtree(copy)
    wrong = None
    if code != want or text not in said:
        wrong = f"exit code {code} instead of {want}, or no '{text}' in: {said}"
    return wrong or also, True


def try_model(name, model, inputs, temp):
    """Lines that say what is wrong, and the number of plants that were caught."""
    split = temp / (name + ".split")
    command = [PCC, str(model), "-p", "fuse,dp-place", "-d", "2xa100", "--link", "1TB/s,0us", "-q",
               "-o", str(split), *symbolic_sizes(model, inputs)]
    r = subprocess.run(command, capture_output=True, text=True)
    if r.returncode != 0:
        return [f"{name}: pcc: exit code {r.returncode}: {r.stderr.strip()}"], 0
    if len(Folder(split).files) < 2:
        return [f"{name}: one part only"], 0
    code, said = verify(model, split, inputs, "--sensitive") if not SANITIZED else (0, "on 2 inputs")
    if code != 0 or "on 2 inputs" not in said:
        return [f"{name}: the split itself: exit code {code}: {said}"], 0
    wrong, planted, given = [], set(), sample(model, split, inputs)
    for one in [nothing_changed, *PLANTS]:
        why, had_place = plant(one, model, split, inputs, given, temp)
        if why:
            wrong.append(f"{name}: {one.__name__}: {why}")
        elif had_place and one is not nothing_changed:
            planted.add(one.__name__)
        elif one.__name__ in ALWAYS:
            wrong.append(f"{name}: {one.__name__}: no place for it")
    if not wrong and not planted & {"swap_in_first", "swap_in_last"}:
        wrong.append(f"{name}: no two weights to swap")
    return wrong, len(planted)


def main():
    with tempfile.TemporaryDirectory() as folder:
        temp, models = Path(folder), []
        for name, options in GENERATED.items() if not extras.extra() else ():
            model = temp / (name + ".onnx")
            subprocess.run([GEN, *options, "-o", str(model)], check=True)
            models.append((name, model, None))
        for name in EXPORTED if extras.extra() else ():
            model = extras.shared(f"models/exported/tiny/{name}.onnx")
            inputs = model.parent / (name + ".inputs") / "test_data_set_0"
            models.append((name, model, inputs if inputs.is_dir() else None))
        results = [try_model(*m, temp) for m in models]
    wrong = [line for lines, _ in results for line in lines]
    print("\n".join(wrong) or f"{len(models)} models, {sum(n for _, n in results)} planted errors, "
          "each caught")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
