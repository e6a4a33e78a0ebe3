"""infer-shapes against shapes that others computed.

1. The operator examples of the onnx package (inputs and outputs as arrays): every dimension that
   pcc infers for a result must be that of the array.  Small integer inputs are made constants, so
   that axes, shapes and sizes are known; results go through an Identity, so that the file does not
   tell them.
2. Real models with everything but inputs and outputs removed: what pcc infers must agree with what
   the file said (where that is a number) and with onnx's own inference with data propagation.
   Nothing that the file says may be reported as a conflict.
Prints the share that is known.  Needs the Python packages onnx and numpy (else 77)."""
import glob
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
except ImportError:
    print("skipped: the Python packages onnx and numpy are not installed")
    sys.exit(77)

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
SHARED = os.environ.get("PCC_SHARED", "")
failed = []


# --- reading the textual IR: just names and types of the main graph ---

def split_top(text, separator):
    """Parts of text between separators that are outside quotes and brackets."""
    parts, depth, quoted, start, i = [], 0, False, 0, 0
    while i < len(text):
        c = text[i]
        if quoted:
            i += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith(separator, i):
            parts.append(text[start:i])
            i += len(separator)
            start = i
            continue
        i += 1
    return parts + [text[start:]]


def name_of(text):
    text = text.strip()
    if text.startswith('%"'):
        return re.sub(r"\\x(..)", lambda m: chr(int(m[1], 16)),
                      text[2:-1].replace('\\"', '"').replace("\\\\", "\\"))
    return text[1:]


def shape_of(text):
    """[dims as text], or None for an unknown rank."""
    m = re.match(r"\s*\w+\[(.*)\]", text)
    if m is None or m[1] == "*":
        return None
    return [d.strip() for d in split_top(m[1], ",")] if m[1] else []


def inferred(path):
    """name -> dims of the results in the main graph; and what went to stderr."""
    out = subprocess.run([PCC, path, "-p", "infer-shapes", "--emit", "ir"], capture_output=True,
                         text=True)
    if out.returncode != 0:
        return None, out.stderr
    shapes, main = {}, False
    for line in out.stdout.split("\n"):
        if line.startswith("graph @"):
            main = line.startswith("graph @main")
        if not main or not line.startswith(("  %", "  _")) or " = " not in line:
            continue
        results, rest = split_top(line, " = ")[:2]
        names = [name_of(r) for r in split_top(results, ",")]
        types = split_top(rest, " : ")
        types = split_top(split_top(types[1], " name=")[0], ",") if len(types) > 1 else []
        for name, t in zip(names, types + [""] * len(names)):
            shapes[name] = shape_of(t)
    return shapes, out.stderr


# --- 1. operators ---

def operator_cases():
    try:
        from onnx.backend.test.case.node import collect_testcases
        return collect_testcases(None)
    except Exception as e:  # the examples are not part of every onnx package
        print(f"operator examples not available: {e}")
        return []


def probe(case):
    """The case's model with constants for small integer inputs and nothing said about results."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    inputs, outputs = case.data_sets[0]
    names = [i.name for i in graph.input]
    for name, value in zip(names, inputs):
        value = np.asarray(value) if isinstance(value, np.generic) else value
        small = isinstance(value, np.ndarray) and value.size <= 64
        if small and (value.dtype in (np.int64, np.int32) or name == "scales"):
            graph.initializer.append(numpy_helper.from_array(value, name))
    constants = {i.name for i in graph.initializer}
    kept = [i for i in graph.input if i.name not in constants]
    del graph.input[:]
    graph.input.extend(kept)
    del graph.value_info[:]
    want = {}
    for i, (info, value) in enumerate(zip(graph.output, outputs)):
        if not isinstance(value, np.ndarray):
            continue
        want[info.name] = list(value.shape)
        graph.node.append(helper.make_node("Identity", [info.name], [f"probe_{i}"]))
    keep = [helper.make_empty_tensor_value_info(f"probe_{i}") for i in range(len(graph.output))
            if graph.output[i].name in want]
    for k in keep:
        k.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        k.type.tensor_type.ClearField("shape")
    del graph.output[:]
    graph.output.extend(keep)
    return model, want


def check_operators(folder):
    total = known = 0
    weak = {}
    for case in operator_cases():
        if case.kind != "node" or case.model is None or not case.data_sets:
            continue
        try:
            model, want = probe(case)
        except Exception:  # inputs that are no arrays
            continue
        path = os.path.join(folder, "op.onnx")
        onnx.save(model, path)
        got, log = inferred(path)
        if got is None:
            if "NUL" not in log:
                failed.append(f"{case.name}: {log.strip()}")
            continue
        for name, shape in want.items():
            dims = got.get(name)
            total += 1
            if dims is None or "?" in dims:
                weak.setdefault(case.model.graph.node[-1].op_type, []).append(case.name)
            else:
                known += 1
            if dims is not None and (len(dims) != len(shape) or any(
                    d.isdigit() and int(d) != s for d, s in zip(dims, shape))):
                failed.append(f"{case.name}: {name} is {shape}, inferred {dims}")
    if total:
        print(f"operators: {known} of {total} results known ({100 * known / total:.1f} %)")
        print("  not or not fully: " + ", ".join(f"{k} {len(v)}" for k, v in sorted(weak.items())))
        if known < 0.6 * total:
            failed.append("operators: too little is known")


# --- 2. models ---

def declared(model):
    """name -> [number, text or None] of everything the file gives a shape."""
    shapes = {}
    for info in list(model.graph.value_info) + list(model.graph.output):
        tensor = info.type.tensor_type
        if info.type.WhichOneof("value") == "tensor_type" and tensor.HasField("shape"):
            shapes[info.name] = [d.dim_value if d.HasField("dim_value") else None
                                 for d in tensor.shape.dim]
    return shapes


def others(model):
    try:
        done = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except Exception:  # operators or types that onnx does not know
        return {}
    return declared(done)


def compare(name, got, want, source):
    for value, shape in want.items():
        dims = got.get(value)
        if dims is None:
            continue
        if len(dims) != len(shape) or any(s is not None and d.isdigit() and int(d) != s
                                          for d, s in zip(dims, shape)):
            failed.append(f"{name}: '{value}' is {shape} {source}, inferred {dims}")


def check_model(path, folder):
    name = os.path.basename(path)
    model = onnx.load(path, load_external_data=False)
    got, log = inferred(path)
    if got is None:
        failed.append(f"{name}: {log.strip()}")
        return 0, 0
    if "keeping the file's" in log:
        failed.append(f"{name}: conflicts reported: {log.strip()}")
    said = declared(model)
    oracle = others(model)
    del model.graph.value_info[:]
    bare = os.path.join(folder, name)
    onnx.save(model, bare)
    alone, _ = inferred(bare)
    compare(name, got, oracle, "by onnx")
    compare(name, alone, said, "in the file")
    compare(name, alone, oracle, "by onnx")
    known = sum(d is not None and "?" not in d for d in alone.values())
    print(f"{name}: {known} of {len(alone)} results known without value_info")
    return known, len(alone)


def models(folder):
    found = []
    if SHARED:
        found += sorted(glob.glob(os.path.join(SHARED, "models/exported/tiny/*.onnx")))
        found += [os.path.join(SHARED, "models", f) for f in ("gpt2_past.onnx", "gpt2_megatron.onnx")]
    for i, args in enumerate((["gpt", "--layers", "2", "--width", "64", "--heads", "4", "--vocab", "50"],
                              ["gpt", "--layers", "2", "--width", "64", "--heads", "4", "--vocab",
                               "50", "--kv"],
                              ["resnet", "--depth", "18", "--width", "8", "--size", "64"],
                              ["inception", "--blocks", "2", "--width", "8", "--size", "64"])):
        path = os.path.join(folder, f"{args[0]}{i}.onnx")
        if subprocess.run([PCC_GEN, *args, "-o", path], capture_output=True).returncode == 0:
            found.append(path)
    return [f for f in found if os.path.exists(f)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_operators(folder)
        os.mkdir(os.path.join(folder, "bare"))
        known = total = 0
        for path in models(folder):
            k, n = check_model(path, os.path.join(folder, "bare"))
            known, total = known + k, total + n
        if total:
            print(f"models: {known} of {total} results known ({100 * known / total:.1f} %)")
            if known < 0.9 * total:
                failed.append("models: too little is known")
    for line in failed:
        print("FAILED", line)
    return 1 if failed else 0


sys.exit(main())
