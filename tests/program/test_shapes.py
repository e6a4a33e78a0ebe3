"""infer-shapes on whole models, against shapes that others computed.

Every second model of the shared folder (with sanitizers every fourth, with PCC_ALL each) and some that pcc-gen makes,
with everything said about inner values removed, so that all must be inferred:
1. what pcc infers agrees with what the file said (where that is a number) and says no less than onnx's
   own inference, strict and with data propagation; a file is never told that it is wrong;
2. models with data for their inputs are run by ONNX Runtime with all values of the main graph as
   results, under two bindings of the names of their dimensions: expressions have the value of the array's
   dimension, and element types are alike.
A file that pcc refuses must be refused by onnx or ONNX Runtime, too.
Prints the share that is known.  Needs the Python packages onnx and numpy (else 77); without onnxruntime
the second part is left out."""
# extras: shared
import csv
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from sanitized import SANITIZED

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
except ImportError:
    print("skipped: the Python packages onnx and numpy are not installed")
    sys.exit(77)
try:
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
except ImportError:
    print("skipped: onnxruntime is not installed")
    sys.exit(77)

from shape_text import ELEMS, PCC, all_infos, declared, inferred, value_of, weaker, wrong

PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
ONLY = os.environ.get("PCC_ONLY", "")
failed = []

# Shapes that the file or onnx gives and that the operators do not: model, value.
THEIRS_IS_WRONG = {}

# Models whose sizes are not all planned with: dimensions that have no name, and so no binding; sequences
# that loops make, whose length is not followed.
UNPLANNED = {"sklearn_rf_pipeline.onnx", "sklearn_rf_pipeline_zipmap.onnx", "dlrm_dyn.onnx",
             "sequence_script_ts.onnx"}

BITS = {"i4": 4, "u4": 4, "i2": 2, "u2": 2, "f4e2m1": 4}


# --- 1. onnx, and the file itself ---

def onnx_knows(model):
    try:
        done = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except Exception:  # operators or types that onnx does not know
        return {}
    return declared(all_infos(done.graph))


def compare(name, got, want, source, as_much):
    for value, t in want.items():
        if value not in got or (name, value) in THEIRS_IS_WRONG:
            continue
        if wrong(got[value], t) or (as_much and weaker(got[value], t)):
            failed.append(f"{name}: '{value}' is {t} {source}, inferred {got[value]}")


def refused_by_others(path):
    """The reason why onnx or ONNX Runtime refuses a file; None: both take it."""
    try:
        onnx.checker.check_model(path)
        if ort is not None:
            ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    except Exception as e:
        return str(e).split("\n")[0]
    return None


def external_files(path, model):
    """The files with the model's data that are there."""
    names = {e.value for t in model.graph.initializer for e in t.external_data if e.key == "location"}
    return sorted(f for f in (os.path.join(os.path.dirname(path), n) for n in names) if os.path.isfile(f))


# --- 2. ONNX Runtime ---

def input_data(path, model):
    """Arrays from the folder beside the model, in the order of its inputs; None: no such folder."""
    folder = path[:-5] + ".inputs/test_data_set_0"
    fixed = {i.name for i in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in fixed]
    arrays = []
    for k in range(len(inputs)):
        t = onnx.TensorProto()
        file = os.path.join(folder, f"input_{k}.pb")
        if not os.path.exists(file):
            return None
        with open(file, "rb") as f:
            t.ParseFromString(f.read())
        arrays.append((inputs[k], numpy_helper.to_array(t)))
    return arrays


def bound(arrays):
    """The names of the inputs' dimensions, as the arrays bind them."""
    binding = {}
    for info, array in arrays:
        for d, size in zip(info.type.tensor_type.shape.dim, array.shape):
            if d.dim_param:
                binding[d.dim_param] = size
    return binding


def made_up(model):
    """Arrays for inputs of which the file says everything; None: it does not."""
    fixed = {i.name for i in model.graph.initializer}
    arrays = []
    for info in model.graph.input:
        t = info.type.tensor_type
        if info.name in fixed:
            continue
        dims = [d.dim_value if d.HasField("dim_value") else 2 for d in t.shape.dim]
        if info.type.WhichOneof("value") != "tensor_type" or not t.HasField("shape") or np.prod(dims) > 1 << 22:
            return None
        dtype = onnx.helper.tensor_dtype_to_np_dtype(t.elem_type)
        arrays.append((info, np.ones(dims, dtype) if dtype != object else np.full(dims, "a", dtype)))
    return arrays


def grown(arrays):
    """The same for sizes that are larger by one; one that was the sum of two others stays it."""
    old = bound(arrays)
    new = {name: size + 1 for name, size in old.items()}
    for a in old:
        for b in old:
            for c in old:
                if len({a, b, c}) == 3 and old[b] + old[c] == old[a] and "total" in a and a not in (b, c):
                    new[a] = new[b] + new[c]
    out = []
    for info, array in arrays:
        dims = [new.get(d.dim_param, size) for d, size in zip(info.type.tensor_type.shape.dim, array.shape)]
        out.append((info, np.resize(array, dims) if array.size else np.zeros(dims, array.dtype)))
    return out


def session_of(model, path, scratch):
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    there = {o.name for o in whole.graph.output}
    for node in whole.graph.node:
        for name in node.output:
            if name and name not in there:
                whole.graph.output.append(onnx.ValueInfoProto(name=name))
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    if external_files(path, model):  # ONNX Runtime wants the data beside the model, and no links
        folder = tempfile.mkdtemp(dir=scratch)
        for file in external_files(path, model):
            shutil.copy(file, folder)
        onnx.save(whole, os.path.join(folder, os.path.basename(path)))
        return ort.InferenceSession(os.path.join(folder, os.path.basename(path)), options,
                                    providers=["CPUExecutionProvider"])
    return ort.InferenceSession(whole.SerializeToString(), options, providers=["CPUExecutionProvider"])


def elem_of(array):
    return ELEMS[onnx.helper.np_dtype_to_tensor_dtype(array.dtype)]


def compare_arrays(name, got, arrays, binding, count):
    for value, array in arrays.items():
        if not isinstance(array, np.ndarray) or value not in got:
            continue
        elem, dims = got[value]
        count["values"] += 1
        bad = elem is not None and elem != elem_of(array)
        numbers = None if dims is None else [value_of(d, binding) for d in dims]
        bad = bad or (dims is not None and (len(dims) != array.ndim or any(
            d is not None and d != s for d, s in zip(numbers, array.shape))))
        count["proven"] += numbers is not None and None not in numbers
        if bad:
            failed.append(f"{name}: '{value}' is {elem_of(array)} {array.shape} with {binding}, "
                          f"inferred {elem} {dims}")


def sizes_under(path, binding):
    """node -> bytes of its results that pcc plans with."""
    dims = [f"--dim={name}={size}" for name, size in binding.items() if size > 0]
    out = subprocess.run([PCC, path, "-q", "--emit", "csv", *dims], capture_output=True, text=True)
    return {row["name"]: int(row["result_bytes"]) for row in csv.DictReader(out.stdout.splitlines())}


def compare_sizes(name, bare, nodes, arrays, binding, count):
    """The sizes to plan with, where they do not depend on what is in the arrays."""
    if any(size == 0 for size in binding.values()) or name in UNPLANNED:
        return
    sizes, defined = sizes_under(bare, binding), {}
    for node in nodes:
        for o in node.output:
            defined[o] = defined.get(o, 0) + 1
    for node in nodes:
        if any(defined[o] > 1 for o in node.output):  # the last definition counts
            continue
        got = [arrays.get(o) for o in node.output if o]
        if node.name not in sizes or not all(isinstance(a, np.ndarray) and a.dtype != object for a in got):
            continue
        count["sizes"] += 1
        want = sum((a.size * BITS.get(elem_of(a), 8 * a.itemsize) + 7) // 8 for a in got)
        if sizes[node.name] != want:
            failed.append(f"{name}: '{node.name}' ({node.op_type}) makes {want} bytes with {binding}, "
                          f"planned {sizes[node.name]}")


def run_both(name, path, bare, model, got, count):
    if ort is None:
        return ""
    try:
        arrays = input_data(path, model) or made_up(model)
        session = session_of(model, path, os.path.dirname(bare)) if arrays is not None else None
    except Exception as e:
        return ", not run: " + str(e).split("\n")[0][:80]
    if session is None:
        return ", not run: no data"
    runs = 0
    for data in (arrays, grown(arrays)) if bound(arrays) else (arrays,):
        try:
            results = session.run(None, {info.name: a for info, a in data})
        except Exception as e:
            return f", run {runs} times: " + str(e).split("\n")[0][:120]
        runs += 1
        arrays = dict(zip([o.name for o in session.get_outputs()], results))
        compare_arrays(name, got, arrays, bound(data), count)
        compare_sizes(name, bare, model.graph.node, arrays, bound(data), count)
    return f", run {runs} times"


# --- all ---

def operators(graph_nodes, found):
    """Operators of nodes and of their bodies."""
    for node in graph_nodes:
        found.add((node.domain or "ai.onnx", node.op_type))
        for a in node.attribute:
            for g in [a.g, *a.graphs]:
                operators(g.node, found)


def check_rows(name, model, rows):
    """Each operator that a model uses has a row in the table."""
    found, calls = set(), {(f.domain or "ai.onnx", f.name) for f in model.functions}
    operators(model.graph.node, found)
    for f in model.functions:
        operators(f.node, found)
    for op in sorted(found - calls - rows):
        failed.append(f"{name}: no row for {' '.join(op)}")


def forget(graph):
    """Nothing is said about inner values any more, here and in bodies."""
    del graph.value_info[:]
    for node in graph.node:
        for a in node.attribute:
            for g in [a.g] if a.HasField("g") else a.graphs:
                forget(g)


def check_model(path, folder, rows, count):
    name = os.path.basename(path)
    got, log = inferred(path, bodies=True)
    if got is None:
        reason = refused_by_others(path)
        print(f"{name}: refused: {log.strip()[:100]}; others: {reason}")
        if reason is None:
            failed.append(f"{name}: only pcc refuses it: {log.strip()}")
        return
    if "keeping the file's" in log:
        failed.append(f"{name}: conflicts reported: {log.strip()}")
    model = onnx.load(path, load_external_data=False)
    check_rows(name, model, rows)
    said = declared(all_infos(model.graph))
    oracle = onnx_knows(model)
    outputs = [onnx.ValueInfoProto(name=o.name) for o in model.graph.output]
    forget(model.graph)
    del model.graph.output[:]
    model.graph.output.extend(outputs)
    bare = os.path.join(folder, name)
    onnx.save(model, bare)
    for file in external_files(path, model):
        if os.path.getsize(file) < 1 << 20:
            shutil.copy(file, folder)
    alone, log = inferred(bare, bodies=True)
    if alone is None:
        failed.append(f"{name}: without value_info: {log.strip()}")
        return
    compare(name, got, oracle, "by onnx", True)
    compare(name, alone, said, "in the file", False)
    compare(name, alone, onnx_knows(model), "by onnx, without value_info", True)
    known = sum(t[1] is not None and "?" not in t[1] for t in alone.values())
    ran = run_both(name, path, bare, model, alone, count) if "/real/" not in path else ""
    print(f"{name}: {known} of {len(alone)} results known without value_info{ran}", flush=True)
    count["known"] += known
    count["results"] += len(alone)


def shared_models():
    folder = extras.shared("models")
    found = sorted(glob.glob(f"{folder}/*.onnx")) + sorted(glob.glob(f"{folder}/exported/*/*.onnx"))
    every = 1 if ONLY or os.environ.get("PCC_ALL") else 4 if SANITIZED else 2
    return [f for f in found[::every] if ONLY in f]


def models(folder):
    found = []
    for i, args in enumerate((["gpt", "--layers", "2", "--width", "64", "--heads", "4", "--vocab", "50"],
                              ["gpt", "--layers", "2", "--width", "64", "--heads", "4", "--vocab",
                               "50", "--kv"],
                              ["resnet", "--depth", "18", "--width", "8", "--size", "64"],
                              ["inception", "--blocks", "2", "--width", "8", "--size", "64"])):
        path = os.path.join(folder, f"{args[0]}{i}.onnx")
        if subprocess.run([PCC_GEN, *args, "-o", path], capture_output=True).returncode == 0:
            found.append(path)
    return [f for f in found if os.path.exists(f) and ONLY in f]


def main():
    count = {"known": 0, "results": 0, "values": 0, "proven": 0, "sizes": 0}
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "bare"))
        out = subprocess.run([PCC, "--list-ops"], capture_output=True, text=True, check=True).stdout
        rows = {tuple(line.split()) for line in out.splitlines()}
        for path in shared_models() if extras.extra() else models(folder):
            check_model(path, os.path.join(folder, "bare"), rows, count)
    total = count["results"]
    if total:
        print(f"models: {count['known']} of {total} results known ({100 * count['known'] / total:.1f} %)")
        print(f"run: {count['proven']} of {count['values']} arrays have every size that was inferred; "
              f"{count['sizes']} nodes have the size that is planned with")
        if count["known"] < 0.9 * total:
            failed.append("models: too little is known")
    for line in failed:
        print("FAILED", line)
    return 1 if failed else 0


sys.exit(main())
