"""infer-shapes operator by operator.

1. Every operator that the onnx package has a schema for has a row in the table (pcc --list-ops).
2. The operator examples of the onnx package (inputs and outputs as arrays): what pcc infers for a result
   must be the type and shape of the array, or say less; but nothing less than onnx's own inference,
   strict and with data propagation.  Each example is run as it is, and again with small inputs that
   hold axes, shapes and sizes as constants; the file says nothing about results.
Needs the Python packages onnx and numpy (else 77)."""
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
except ImportError:
    print("skipped: the Python packages onnx and numpy are not installed")
    sys.exit(77)

from shape_text import ELEMS, PCC, declared, inferred, weaker, wrong

warnings.simplefilter("ignore")
failed = []
ONLY = os.environ.get("PCC_ONLY", "")

# What onnx's inference says and an operator's own text does not: not taken over.
NOT_TAKEN = {}


# --- 1. the table ---

def check_table():
    out = subprocess.run([PCC, "--list-ops"], capture_output=True, text=True, check=True).stdout
    rows = {tuple(line.split()) for line in out.splitlines()}
    for s in onnx.defs.get_all_schemas_with_history():
        if (s.domain or "ai.onnx", s.name) not in rows:
            failed.append(f"no row for {s.domain or 'ai.onnx'} {s.name}")
    print(f"table: {len(rows)} rows")


# --- 2. examples ---

def as_array(value):
    return np.asarray(value) if isinstance(value, np.generic) else value


def probe(case, constants):
    """The example's model without a word on results; with constants: small inputs become constants."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    inputs, outputs = case.data_sets[0]
    for info, value in zip(graph.input, inputs):
        value = as_array(value)
        small = isinstance(value, np.ndarray) and value.size <= 64
        if constants and small and (value.dtype in (np.int64, np.int32, np.bool_) or info.name == "scales"):
            graph.initializer.append(numpy_helper.from_array(value, info.name))
    fixed = {i.name for i in graph.initializer}
    kept = [i for i in graph.input if i.name not in fixed]
    del graph.input[:]
    graph.input.extend(kept)
    del graph.value_info[:]
    want = {}
    for info, value in zip(graph.output, outputs):
        value = as_array(value)
        if isinstance(value, np.ndarray):
            want[info.name] = (ELEMS[info.type.tensor_type.elem_type], list(value.shape))
        info.ClearField("type")
    return model, want


def theirs(model):
    try:
        done = onnx.shape_inference.infer_shapes(model, check_type=False, strict_mode=True, data_prop=True)
    except Exception:  # operators or types that onnx does not know
        return {}
    return declared(list(done.graph.value_info) + list(done.graph.output))


def check_example(case, constants, folder, count):
    model, want = probe(case, constants)
    path = os.path.join(folder, "op.onnx")
    onnx.save(model, path)
    got, log = inferred(path)
    title = case.name + (" (constants)" if constants else "")
    if got is None:
        if "NUL" not in log:
            failed.append(f"{title}: {log.strip()}")
        return
    for name, t in want.items():
        count["results"] += 1
        mine = got.get(name, (None, None))
        if mine[0] is not None and mine[1] is not None and "?" not in mine[1]:
            count["known"] += 1
        elif constants:
            count["open"].add(case.model.graph.node[-1].op_type)
        if wrong(mine, t):
            failed.append(f"{title}: '{name}' is {t}, inferred {mine}")
    for name, t in theirs(model).items():
        mine = got.get(name, (None, None))
        if name in got and (wrong(mine, t) or weaker(mine, t)) and not wrong(t_text(t), want.get(name, t)):
            failed.append(f"{title}: onnx knows '{name}' as {t}, inferred {mine}")


def t_text(t):
    """A declared type in the form of an inferred one."""
    return t[0], None if t[1] is None else [str(d) for d in t[1]]


def check_examples(folder):
    try:
        from onnx.backend.test.case.node import collect_testcases
        cases = collect_testcases(None)
    except Exception as e:  # the examples are not part of every onnx package
        print(f"operator examples not available: {e}")
        return
    count = {"results": 0, "known": 0, "open": set()}
    for case in cases:
        if case.kind != "node" or case.model is None or not case.data_sets or ONLY not in case.name:
            continue
        for constants in (False, True):
            check_example(case, constants, folder, count)
    print(f"examples: {count['known']} of {count['results']} results known")
    print("  open although operands are constants: " + " ".join(sorted(count["open"])))


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_table()
        check_examples(folder)
    for line in failed:
        print("FAILED", line)
    return 1 if failed else 0


sys.exit(main())
