"""infer-shapes operator by operator.

1. Every operator that the onnx package has a schema for has a row in the table (pcc --list-ops).
2. The operator examples of the onnx package (inputs and outputs as arrays): what pcc infers for a result
   must be the type and shape of the array, or say less; but nothing less than onnx's own inference,
   strict and with data propagation.  Each example is run as it is, and again with small inputs that
   hold axes, shapes and sizes as constants; the file says nothing about results.  A third time, with
   constants and a name for each size: expressions must have the value of the size.
Needs the Python packages onnx and numpy (else 77)."""
import os
import subprocess
import sys
import warnings
from pathlib import Path

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
except ImportError:
    print("skipped: the Python packages onnx and numpy are not installed")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import operator_examples
from sanitized import SANITIZED
from shape_text import ELEMS, PCC, declared, inferred_all, value_of, weaker, wrong

warnings.simplefilter("ignore")
failed = []
ONLY = os.environ.get("PCC_ONLY", "")

# Operators of examples where something stays open although their operands are constants: sizes that
# depend on elements, floats that are no integers, sequences.
OPEN = {"Cast", "Compress", "If", "ImageDecoder", "Loop", "NonMaxSuppression", "NonZero", "OneHot",
        "OptionalGetElement", "OptionalHasElement", "Range", "StringNormalizer", "StringSplit", "Unique"}


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


HISTORY = {}
for schema in onnx.defs.get_all_schemas_with_history():
    HISTORY.setdefault((schema.domain, schema.name), {})[schema.since_version] = schema


def older(model):
    """The same node under each older version of its operator: operands that are attributes there are made
    attributes.  Yields those that the checker accepts."""
    node = model.graph.node[0]
    if len(model.graph.node) != 1 or node.domain or node.op_type == "Scan":  # version 8 has a batch axis
        return
    versions = sorted(HISTORY.get((node.domain, node.op_type), {}))
    current = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    newest = max((v for v in versions if v <= current), default=0)
    names = [i.name for i in HISTORY[node.domain, node.op_type][newest].inputs] if newest else []
    for version in versions:
        if version >= newest:
            break
        m = onnx.ModelProto()
        m.CopyFrom(model)
        try:
            to_attributes(m, names, HISTORY[node.domain, node.op_type][version])
        except (TypeError, ValueError):  # a list where a number is wanted
            continue
        for o in m.opset_import:
            if o.domain in ("", "ai.onnx"):
                o.version = version
        try:
            for info in m.graph.output:  # the checker wants a type
                info.type.tensor_type.elem_type = 1
                info.type.tensor_type.shape.SetInParent()
            onnx.checker.check_model(m)
        except Exception:
            continue
        for info in m.graph.output:
            info.ClearField("type")
        yield version, m


def to_attributes(m, names, schema):
    node = m.graph.node[0]
    kept = {i.name for i in schema.inputs}
    constants = {i.name: i for i in m.graph.initializer}
    inputs = list(node.input)
    for i, name in enumerate(names):
        if name in schema.attributes and name not in kept and i < len(inputs) and inputs[i] in constants:
            value = numpy_helper.to_array(constants[inputs[i]])
            kind = schema.attributes[name].type
            scalar = kind in (onnx.AttributeProto.INT, onnx.AttributeProto.FLOAT)
            value = value.item() if scalar and value.size == 1 else value.tolist()
            node.attribute.append(onnx.helper.make_attribute(name, value, attr_type=kind))
            inputs[i] = ""
    while inputs and inputs[-1] == "":
        inputs.pop()
    del node.input[:]
    node.input.extend(inputs)


def theirs(model):
    try:
        done = onnx.shape_inference.infer_shapes(model, check_type=False, strict_mode=True, data_prop=True)
    except Exception:  # operators or types that onnx does not know
        return {}
    return declared(list(done.graph.value_info) + list(done.graph.output))


def jobs_of(case, count):
    """(title, model, who compares what pcc infers) of an example: as it is, with constants, with names for
    sizes, and under older versions of its operator."""
    for constants in (False, True):
        model, want = probe(case, constants)
        title = case.name + (" (constants)" if constants else "")
        yield title, model, types_checker(case, want, constants, count)
    model_named, binding = named(model)
    yield case.name + " (names)", model_named, names_checker(want, binding, count)
    for version, old in older(model):
        count["old"] += 1
        yield f"{case.name} (version {version})", old, types_checker(case, want, False, count)


def named(model):
    """Names for all sizes of the inputs but 0 and 1, alike for what is alike; and their values."""
    m, binding = onnx.ModelProto(), {}
    m.CopyFrom(model)
    for info in m.graph.input:
        for d in info.type.tensor_type.shape.dim:
            if d.dim_value > 1:
                binding[f"d{d.dim_value}"] = d.dim_value
                d.dim_param = f"d{d.dim_value}"
    return m, binding


def names_checker(want, binding, count):
    def compare(title, model, got):
        for name, (elem, dims) in want.items():
            mine = got.get(name, (None, None))
            if mine[1] is None:
                continue
            numbers = [value_of(d, binding) for d in mine[1]]
            count["named"] += None not in numbers
            if len(numbers) != len(dims) or any(a is not None and a != b for a, b in zip(numbers, dims)):
                failed.append(f"{title}: '{name}' is {dims}, inferred {mine[1]}")
    return compare


def types_checker(case, want, constants, count):
    def compare(title, model, got):
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
    return compare


def t_text(t):
    """A declared type in the form of an inferred one."""
    return t[0], None if t[1] is None else [str(d) for d in t[1]]


def check_examples():
    try:
        cases = operator_examples.examples()
    except Exception as e:  # the examples are not part of every onnx package
        print(f"operator examples not available: {e}")
        return
    count = {"results": 0, "known": 0, "open": set(), "old": 0, "named": 0}
    jobs = [job for case in cases
            if case.kind == "node" and case.model is not None and case.data_sets and ONLY in case.name
            for job in jobs_of(case, count)]
    for (title, model, compare), (got, log) in zip(jobs, inferred_all([model for _, model, _ in jobs])):
        if got is None and "NUL" not in log:
            failed.append(f"{title}: {log.strip()}")
        elif got is not None and not SANITIZED:  # what is inferred is what other builds infer
            compare(title, model, got)
    print(f"examples: {count['known']} of {count['results']} results known, {count['old']} of older versions, "
          f"{count['named']} results known with names")
    for op in sorted(count["open"] - OPEN):
        failed.append(f"{op}: something is not known although its operands are constants")


def main():
    check_table()
    check_examples()
    for line in failed:
        print("FAILED", line)
    return 1 if failed else 0


sys.exit(main())
