#!/usr/bin/env python3
"""Does a split folder compute what the whole model computes?

    verify_split.py MODEL SPLIT [--inputs DIR] [--seed N] [--sensitive] [--whole FILE] [--tolerance T] [--quiet]

A split is trusted when somebody else's runtime says so.  This program knows nothing of pcc but the
folder's contract: it reads SPLIT/manifest.json and does what it says.

1. manifest.json and schedule.json obey their schemas (backends/split/*.schema.json); the manifest agrees with
   itself and with the part files:
   parts in a legal order, every tensor where and of the type it is said to be, every node in exactly one part, weights
   in the files that are named and nowhere else.
2. Every part passes onnx's checker if the whole model does ("unchecked" parts excepted).
3. ONNX Runtime (CPU, optimisations off, one thread) runs the whole, the annotated whole of the
   folder (with --whole: FILE in its place, which was put together from the parts), and the parts in
   their order over one table of tensors by name.  Every output must be equal bit by bit, of the same
   type and shape.

Two exceptions.  Where devices add up floats (a folder with sharding.tolerance), the sums are in another order than the
model's: floats of outputs of the annotated whole and of the parts may differ from the model's by that share of the
largest absolute value, or by --tolerance; the parts must still give the bits of the annotated whole.  And ONNX
Runtime's CPU provider computes chains of float16 operators in float32 and leaves out casts that would round between
them, so a cut at a float16 tensor adds a rounding; and so does one at a tensor that was cast from float16, since its
cast must stay.  Outputs may differ by 1e-2 of the reference's largest absolute value if they are computed from a
float16 or bfloat16 tensor that crosses, or from one of which a tensor that crosses is a cast; both may be transposed,
sliced or otherwise moved.

Inputs come from a folder of input_K.pb files, or are random, in the sizes that the manifest says: normal floats,
integers of {0, 1}.

--sensitive runs a second random input as well and demands that some output changes, so that equality cannot be had from
a model that ignores its inputs.  Outputs that depend on operators that are random themselves (RandomNormal without a
seed, Dropout in training) are not compared.  Models that mix bfloat16 or float8 outputs with string or sequence
values cannot be compared, since ONNX Runtime's Python interface gives no way to.

Exit: 0 equal, 1 different or a bad folder, 3 nothing can be compared: the whole model does not run, or all its outputs
are random, 77 no ONNX Runtime.
"""
import argparse
import collections
import ctypes
import functools
import gc
import json
import math
import re
import sys
from pathlib import Path

try:
    import jsonschema
    import ml_dtypes
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import numpy_helper
except ImportError as missing:
    if __name__ != "__main__":
        raise
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        sys.exit(0)
    print(f"skipped: {missing.name} is not installed for {sys.executable}: nothing was verified; "
          f"run: {sys.executable} -m pip install jsonschema ml_dtypes numpy onnx onnxruntime")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = next((d for d in [ROOT / "backends/split"] if d.is_dir()), ROOT)  # ROOT: where pcc is installed
TOLERANCE = 1e-2
SHOWN = 6  # tensors and symbols named in one line of the report

NUMPY_TYPES = {
    "float": np.float32, "double": np.float64, "float16": np.float16,
    "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "bool": np.bool_, "string": np.object_, "complex64": np.complex64,
    "complex128": np.complex128,
}
# Types that numpy lacks: they travel through OrtValue as integers of the same width.
EXOTIC_TYPES = {
    "bfloat16": (ml_dtypes.bfloat16, np.uint16, onnx.TensorProto.BFLOAT16),
    "float8e4m3fn": (ml_dtypes.float8_e4m3fn, np.uint8, onnx.TensorProto.FLOAT8E4M3FN),
    "float8e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, np.uint8, onnx.TensorProto.FLOAT8E4M3FNUZ),
    "float8e5m2": (ml_dtypes.float8_e5m2, np.uint8, onnx.TensorProto.FLOAT8E5M2),
    "float8e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, np.uint8, onnx.TensorProto.FLOAT8E5M2FNUZ),
}


# By ONNX's number of an element type, its word and numpy's.
ELEMENTS = {number: (name.lower(), None) for name, number in onnx.TensorProto.DataType.items()}
ELEMENTS.update({onnx.TensorProto.DataType.Value(name): words for name, words in {
    "FLOAT": ("float", "float32"), "DOUBLE": ("double", "float64"), "STRING": ("string", "object")}.items()})
ELEMENTS.update({number: (word, word) for number, (word, _) in ELEMENTS.items()
                 if word in NUMPY_TYPES and word not in ("float", "double", "string")})


# Characters that a terminal obeys or that do not show where they stand, and halves of surrogate pairs.
HIDDEN = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def printable(text):
    """Text from a file as it may be printed, on one line: HIDDEN characters as \\xNN or \\uNNNN."""
    return HIDDEN.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 0x80 else f"\\u{ord(m[0]):04x}", str(text))


class Said(Exception):
    """A reason to end, one line that may be printed."""

    def __init__(self, text):
        super().__init__(printable(text))


class Bad(Said):
    """The folder is wrong or does not run."""


class Different(Said):
    """An output of the parts is not the whole model's."""


class CannotRun(Said):
    """The whole model does not run here, so nothing can be compared."""


class AllRandom(Said):
    """Each output depends on a random operator, so nothing can be compared."""


def require(condition, message):
    """Raises Bad with the message unless the condition holds."""
    if not condition:
        raise Bad(message)


# ---------------------------------------------------------------- manifest


def no_duplicates(pairs):
    """For json.loads(): the object with these pairs of key and value. Raises Bad if a key occurs twice."""
    counts = collections.Counter(key for key, _ in pairs)
    twice = [key for key, n in counts.items() if n > 1]
    require(not twice, f"key {twice[:1]} occurs twice in one object")
    return dict(pairs)


def not_a_number(text):
    """For json.loads(): refuses NaN and Infinity, which JSON does not have. Raises Bad."""
    raise Bad(f"{text} is not a JSON number")


@functools.lru_cache(maxsize=8)
def schema_error(name, text):
    """The main way in which a JSON text disobeys name.schema.json, in words; None: it obeys.  Results are kept, since
    a folder that is verified again has the same text."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(json.loads(text)))
    return error and f"{error.json_path}: {error.message[:200]}"


def read_json(folder, name):
    """Reads name.json of the folder and checks it against name.schema.json; returns its content."""
    path = folder / f"{name}.json"
    require(path.is_file(), f"{path} does not exist")
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text, object_pairs_hook=no_duplicates, parse_constant=not_a_number)
    except (OSError, ValueError, RecursionError) as e:
        raise Bad(f"{path.name}: {e}") from e
    error = schema_error(name, text)
    require(not error, f"{path.name}: {error}")
    return found


def read_manifest(folder):
    """Reads manifest.json and checks it by its schema, and schedule.json, if there is one. Raises Bad."""
    manifest = read_json(folder, "manifest")
    if manifest.get("schedule"):
        read_json(folder, "schedule")
    return manifest


def inside(folder, name):
    """The path of the file `name`, which files of the folder name. Raises Bad if it lies outside of the folder, also if
    a link leads there."""
    path = folder / name
    require(path.resolve().is_relative_to(folder.resolve()), f"'{name}' lies outside of the folder")
    return path


def check_order(manifest):
    """Checks that each part's inputs are model inputs or outputs of earlier parts, and that each tensor has one origin;
    returns {tensor: its origin}."""
    kept = kept_in_pieces(manifest)
    given = [i["name"] for i in manifest["inputs"]]
    origin = {name: "input" for name in given}
    require(len(origin) == len(given), "an input is listed twice")
    for state in kept:
        require(origin.pop(state["in"], None), f"sharding: state '{state['in']}' is no input")
        origin.update((piece["in"], "input") for piece in state["pieces"])
    for part in manifest["parts"]:
        for name in part["inputs"]:
            require(name in origin, f"{part['file']} needs '{name}', which no earlier part makes")
        for name in part["outputs"]:
            require(name not in origin,
                    f"{part['file']} makes '{name}', which comes from {origin.get(name)} already")
            origin[name] = part["file"]
    for state in kept:
        for piece in state["pieces"]:
            require(piece["out"] in origin, f"sharding: no part makes '{piece['out']}'")
        origin[state["out"]] = "pieces"
    for output in manifest["outputs"]:
        name, source = output["name"], output["from"]
        require(source == "weights" or origin.get(name) == source,
                f"output '{name}' is said to come from {source}, but not found there")
    return origin


def check_tensors(manifest, origin):
    """Checks that the list "tensors" of crossing tensors agrees with the inputs and outputs of the parts. origin: as
    check_order() returns it. Raises Bad."""
    readers = collections.defaultdict(set)
    for part in manifest["parts"]:
        for name in part["inputs"]:
            readers[name].add(part["file"])
    listed = set()
    for tensor in manifest["tensors"]:
        name = tensor["name"]
        require(name not in listed, f"tensor '{name}' is listed twice")
        listed.add(name)
        require(origin.get(name) == tensor["from"],
                f"tensor '{name}': from {tensor['from']}, but {origin.get(name)} makes it")
        require(set(tensor["to"]) == readers[name],
                f"tensor '{name}': to {sorted(tensor['to'])}, but {sorted(readers[name])} read it")
    for name in readers:
        require(name in listed or origin[name] == "input",
                f"tensor '{name}' crosses from {origin[name]} but is not listed")


def check_devices(manifest, folder):
    """Checks that parts and devices are listed once and name each other, and that the files of the parts and of the
    whole model exist. Raises Bad."""
    files = [p["file"] for p in manifest["parts"]]
    require(len(set(files)) == len(files), "a part is listed twice")
    names = [d["name"] for d in manifest["devices"]]
    require(len(set(names)) == len(names), "a device is listed twice")
    for device in manifest["devices"]:
        own = sorted(p["file"] for p in manifest["parts"] if p["device"] == device["name"])
        require(sorted(device["parts"]) == own,
                f"device {device['name']} lists parts {sorted(device['parts'])}, parts say {own}")
    for part in manifest["parts"]:
        require(part["device"] in names, f"{part['file']}: no device '{part['device']}'")
    for name in files + [manifest["model"]["file"]]:
        require(inside(folder, name).is_file(), f"{name} does not exist")


def check_objective(manifest):
    """Checks that the plan's value and bound are as its status says: equal if it is optimal; else the bound is no
    larger. Raises Bad."""
    goal = manifest["objective"]
    if goal["status"] == "optimal":
        require(math.isclose(goal["value_s"], goal["bound_s"], rel_tol=1e-9),
                f"status is optimal, but the value {goal['value_s']} s is not the bound "
                f"{goal['bound_s']} s")
    elif goal["status"] == "feasible":
        require(goal["bound_s"] <= goal["value_s"] * (1 + 1e-9),
                f"the bound {goal['bound_s']} s is above the value {goal['value_s']} s")


def strings_in(value):
    """Every string in a JSON value, keys included."""
    found, stack = set(), [value]
    while stack:
        v = stack.pop()
        if isinstance(v, str):
            found.add(v)
        elif isinstance(v, dict):
            stack += [*v.keys(), *v.values()]
        elif isinstance(v, list):
            stack += v
    return found


def check_nodes(manifest, whole, graphs):
    """Checks that no node is in two parts unless it is a copy, that each node of the model is in a part or dropped, and
    that the part files have the nodes that the manifest lists. whole: graph of the model; graphs: {file: graph of the
    part}. Raises Bad."""
    copies = strings_in(manifest.get("copies", {}).get("nodes", []))
    files = [p["file"] for p in manifest["parts"]]
    require(set(manifest["nodes"]) == set(files), "nodes: its keys are not the parts")
    original = collections.Counter(n.name for n in whole.node)
    listed = collections.Counter(n for names in manifest["nodes"].values() for n in names)
    for name, times in listed.items():
        require(times <= max(1, original[name]) or name in copies,
                f"node '{name}' is listed {times} times and is no copy")
    held = set()
    for file, names in manifest["nodes"].items():
        there = {n.name for n in graphs[file].node}
        lost = [n for n in names if n not in there]
        require(not lost, f"{file}: node '{next(iter(lost), None)}' is listed but not in the file")
        foreign = {n for n in there - set(names) - copies - {""} if listed[n]}
        require(not foreign, f"{file}: holds node {sorted(foreign)[:1]} of another part")
        held |= there
    dropped = strings_in(manifest.get("dropped", []))
    lost = [n.name for n in whole.node if n.name and n.name not in held | dropped]
    require(not lost, f"node '{next(iter(lost), None)}' of the model is in no part")


def type_words(proto):
    """ONNX's word for a type, "seq(tensor(float))", and numpy's word for an array of this type, each None if there is
    none."""
    before, after = "", ""
    while proto.WhichOneof("value") in ("sequence_type", "optional_type", "map_type"):
        kind = proto.WhichOneof("value")
        inner = getattr(proto, kind)
        before += {"sequence_type": "seq(", "optional_type": "optional(", "map_type": "map("}[kind]
        if kind == "map_type":
            before += ELEMENTS[inner.key_type][0] + ","
        proto, after = inner.value_type if kind == "map_type" else inner.elem_type, after + ")"
    kind = proto.WhichOneof("value")
    if kind not in ("tensor_type", "sparse_tensor_type") or not getattr(proto, kind).elem_type:
        return None, None
    word, numpy_word = ELEMENTS[getattr(proto, kind).elem_type]
    tensor = kind == "tensor_type"
    return (f"{before}{'tensor' if tensor else 'sparse_tensor'}({word}){after}",
            numpy_word if tensor and not after else None)


def ir_words(word):
    """The word of pcc's textual IR, "seq<f32>", for ONNX's word for a type, "seq(tensor(float))"."""
    elements = {"float": "f32", "double": "f64", "string": "str", "bool": "bool"}
    short = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}

    def element(m):
        """pcc's word for the element type that m has found: "f32" for "float"."""
        return elements.get(m[0]) or re.sub(r"^[a-z]+", lambda k: short[k[0]], m[0])

    word = re.sub(r"(?<!sparse_)tensor\((\w+)\)", r"\1", word)
    for long, outer in (("sparse_tensor(", "sparse<"), ("seq(", "seq<"), ("optional(", "opt<"), ("map(", "map<")):
        word = word.replace(long, outer)
    return re.sub(r"\b(float|double|string|bool|bfloat|u?int|complex)(\d\w*)?\b", element, word.replace(")", ">"))


def shapes_agree(proto, said):
    """Whether the shape of ONNX's type `proto` and the shape `said` of the manifest agree in all dimensions that both
    know."""
    kind = proto.WhichOneof("value")
    known = kind in ("tensor_type", "sparse_tensor_type") and getattr(proto, kind).HasField("shape")
    if not known or said is None:
        return not isinstance(said, list) or kind in ("tensor_type", "sparse_tensor_type")
    dims = getattr(proto, kind).shape.dim
    return len(dims) == len(said) and all(not d.HasField("dim_value") or not isinstance(s, int) or d.dim_value == s
                                          for d, s in zip(dims, said))


def check_values(manifest, graphs):
    """Checks that `values` has exactly the inputs and outputs of the parts, with the types that the part files give."""
    values = manifest["values"]
    names = {n for part in manifest["parts"] for side in ("inputs", "outputs") for n in part[side]}
    names |= {v["name"] for side in ("inputs", "outputs") for v in manifest[side]}
    names |= {piece["in"] for state in kept_in_pieces(manifest) for piece in state["pieces"]}
    require(set(values) == names, f"values: lacks {sorted(names - set(values))[:3]}, has "
            f"{sorted(set(values) - names)[:3]}, which go into and come out of nothing")
    for row in [*manifest["inputs"], *manifest["outputs"], *manifest["tensors"]]:
        for key in ("type", "shape"):
            require(row[key] == values[row["name"]][key],
                    f"tensor '{row['name']}': {key} {row[key]}, but values has {values[row['name']][key]}")
    for file, graph in graphs.items():
        for info in [*graph.input, *graph.output]:
            said = values.get(info.name)
            word, numpy_word = type_words(info.type)
            if said is None or word is None:
                continue
            require((said["onnx_type"], said["numpy_type"]) == (word, numpy_word),
                    f"values: '{info.name}' is {said['onnx_type']} ({said['numpy_type']}), but {word} ({numpy_word}) "
                    f"in {file}")
            require(said["type"] == ir_words(word),
                    f"values: '{info.name}' is {said['type']}, but {word} in {file}")
            require(shapes_agree(info.type, said["shape"]), f"values: '{info.name}' has another shape in {file} than "
                    f"{said['shape']}")


def check_interfaces(manifest, graphs):
    """Checks that inputs and outputs of the part files are those of the manifest."""
    for part in manifest["parts"]:
        graph = graphs[part["file"]]
        weights = {t.name for t in graph.initializer}
        weights |= {t.values.name for t in graph.sparse_initializer}
        inputs = {v.name for v in graph.input} - weights
        outputs = {v.name for v in graph.output}
        for what, said, found in (("inputs", part["inputs"], inputs),
                                  ("outputs", part["outputs"], outputs)):
            require(set(said) == found, f"{part['file']}: {what} in the manifest but not in the file "
                    f"{sorted(set(said) - found)[:3]}, the other way round "
                    f"{sorted(found - set(said))[:3]}")


def load_graph(path):
    """Reads the graph of a model, without external weights. Raises Bad."""
    try:
        return onnx.load(str(path), load_external_data=False).graph
    except Exception as e:
        raise Bad(f"{path.name} cannot be read: {first_line(e)}") from e


def locations(graph, functions=()):
    """The files with external data of tensors of a graph, of its bodies and of these functions, as the model names
    them."""
    found, stack = set(), [graph, *functions]
    while stack:
        g = stack.pop()
        tensors = list(getattr(g, "initializer", []))
        sparse = list(getattr(g, "sparse_initializer", []))
        for node in g.node:
            for a in node.attribute:
                tensors += [a.t] * a.HasField("t") + list(a.tensors)
                sparse += [a.sparse_tensor] * a.HasField("sparse_tensor") + list(a.sparse_tensors)
                stack += [a.g] * a.HasField("g") + list(a.graphs)
        for t in tensors + [half for s in sparse for half in (s.values, s.indices)]:
            if t.data_location == onnx.TensorProto.EXTERNAL:
                found.update(e.value for e in t.external_data if e.key == "location")
    return found


def check_data_file(part, found, folder):
    """Checks that a part with a data file of its own refers to no other file, and that the file has the bytes that the
    manifest gives."""
    own = {part["data"]} if "data" in part else set()
    require(found == own, f"{part['file']}: its data is said to be {sorted(own)}, it refers to {sorted(found)}")
    for name in own:
        size = inside(folder, name).stat().st_size if (folder / name).is_file() else 0
        require(size == part["data_bytes"], f"{name}: {part['data_bytes']} bytes are said, it has {size}")


def check_weights(manifest, folder):
    """Checks that the models refer to the files of weights that the manifest lists and to no others: parts to none if
    all weights are inline, and each part to its own file if each has one."""
    weights = manifest.get("weights")
    if not weights:
        return
    used = set()
    for part in [manifest["model"], *manifest["parts"]]:
        file = part["file"]
        model = onnx.load(str(folder / file), load_external_data=False)
        found = locations(model.graph, model.functions)
        require(not found or weights["mode"] != "inline" or part is manifest["model"],
                f"{file}: weights are inline, but some lie in {sorted(found)[:1]}")
        if part is not manifest["model"] and (weights["mode"] == "parts" or "data" in part):
            check_data_file(part, found, folder)
        used |= found
    require(used == set(weights["files"]),
            f"weights are said to lie in {sorted(weights['files'])}, the models refer to {sorted(used)}")
    for file in used:
        require(inside(folder, file).is_file(), f"{file} does not exist")


def check_manifest(manifest, folder):
    """Makes all checks that need no run; returns the graphs of the parts."""
    check_devices(manifest, folder)
    check_objective(manifest)
    check_tensors(manifest, check_order(manifest))
    graphs = {p["file"]: load_graph(folder / p["file"]) for p in manifest["parts"]}
    whole = load_graph(folder / manifest["model"]["file"])
    check_interfaces(manifest, graphs)
    check_values(manifest, graphs)
    check_nodes(manifest, whole, graphs)
    check_weights(manifest, folder)
    return graphs


# ---------------------------------------------------------------- checker


def checker_says(path):
    """None if onnx's checker accepts the file, else its reason."""
    try:
        onnx.checker.check_model(str(path))
        return None
    except Exception as e:
        return first_line(e)


def check_parts(manifest, model, folder, say):
    """Checks that onnx's checker accepts each part, if it accepts the whole model; parts with unknown ranks or with
    hard links are excused. say: prints what was checked. Raises Bad."""
    reason = checker_says(model)
    if reason:
        say(f"checker: not demanded of the parts, it refuses the whole: {reason}")
        return
    passed, excused = 0, []
    for part in manifest["parts"]:
        if part.get("unchecked"):
            excused.append(f"{part['file']} (unknown rank)")
            continue
        reason = checker_says(folder / part["file"])
        if reason and "hard link" in reason.lower():
            excused.append(f"{part['file']} (hard-linked weights)")
            continue
        require(not reason, f"{part['file']}: onnx's checker: {reason}")
        passed += 1
    say(f"checker: the whole and {passed} parts pass"
        + (", not demanded of " + ", ".join(excused) if excused else ""))


# ---------------------------------------------------------------- inputs


def kept_in_pieces(manifest):
    """The rows of the manifest about states of which each device keeps a piece. Raises Bad if the number of pieces is
    not the number of devices."""
    sharding = manifest.get("sharding", {"states": []})
    for state in sharding["states"]:
        require(len(state["pieces"]) == sharding["ways"],
                f"sharding: state '{state['in']}' has not as many pieces as ways")
    return sharding["states"]


def pieces_of(manifest):
    """{input or output of the model that parts have in pieces: (axis, run, names of the pieces)}."""
    return {s[side]: (s["axis"], s["run"], [p[side] for p in s["pieces"]])
            for s in kept_in_pieces(manifest) for side in ("in", "out")}


def cut_pieces(table, pieces):
    """Returns the table of values by name, with the pieces of each whole value beside it. pieces: pieces_of()."""
    more = {}
    for name, (axis, run, names) in pieces.items():
        if name in table:
            at = np.arange(table[name].shape[axis]) // run % len(names)
            more |= {piece: np.compress(at == i, table[name], axis) for i, piece in enumerate(names)}
    return table | more


def join_pieces(table, pieces):
    """Returns the table of values by name, with whole values in place of their pieces. pieces: pieces_of()."""
    table = dict(table)
    for name, (axis, run, names) in pieces.items():
        if names[0] not in table:
            continue
        ways = len(names)
        parts = [table.pop(piece) for piece in names]
        whole = np.empty([n * ways if a == axis else n for a, n in enumerate(parts[0].shape)], parts[0].dtype)
        at = np.arange(whole.shape[axis]) // run % ways
        for i, part in enumerate(parts):
            whole[(slice(None),) * axis + (at == i,)] = part
        table[name] = whole
    return table


def sizes_of(manifest):
    """{input: its sizes} that the plan was made for: "sizes", or in older folders symbols of its shape by "dims"."""
    dims = manifest.get("dims", {})
    found = {}
    for entry in manifest["inputs"]:
        shape = entry["shape"] or []
        found[entry["name"]] = entry.get("sizes") or [d if isinstance(d, int) else dims.get(d) for d in shape]
    return found


def random_tensor(kind, shape, rng, integers):
    """A random array of ONNX's element type `kind`: normal floats; integers and bools 0 or 1, or integers all of the
    value `integers`; strings "s0" and "s1". Raises CannotRun for other types."""
    if kind in EXOTIC_TYPES:
        return rng.standard_normal(shape).astype(EXOTIC_TYPES[kind][0])
    if kind not in NUMPY_TYPES:
        raise CannotRun(f"no way to make an input of type {kind}")
    dtype = np.dtype(NUMPY_TYPES[kind])
    if dtype == object:
        return np.array([f"s{i}" for i in rng.integers(0, 2, math.prod(shape))],
                        dtype=object).reshape(shape)
    if dtype.kind in "fc":
        return np.asarray(rng.standard_normal(shape)).astype(dtype)
    if integers is not None and dtype.kind in "iu":
        return np.full(shape, integers, dtype)
    return np.asarray(rng.integers(0, 2, shape)).astype(dtype)


def random_map(key_type, rng):
    """A map of two entries with random floats; its keys are strings or integers."""
    keys = ["s0", "s1"] if key_type == "string" else [0, 1]
    return {key: float(rng.standard_normal()) for key in keys}


def random_value(type_text, shape, rng, integers):
    """A random value of a type as ONNX Runtime writes it: tensor(float), seq(tensor(int64)), optional(...). shape: of
    its tensors; rng, integers: as for random_tensor(). Raises CannotRun."""
    outer, _, inner = type_text.partition("(")
    inner = inner[:-1]
    if outer == "tensor":
        return random_tensor(inner, shape, rng, integers)
    if outer == "seq":
        return [random_value(inner, shape, rng, integers) for _ in range(2)]
    if outer == "optional":
        return random_value(inner, shape, rng, integers)
    if outer == "map" and inner.endswith(",tensor(float)"):
        return random_map(inner.split(",")[0], rng)
    raise CannotRun(f"no way to make an input of type {type_text}")


def random_inputs(infos, sizes, seed, integers=None):
    """Random values by name for all inputs. infos: ONNX Runtime's inputs; sizes: {name: [size of each dimension]};
    integers: as for random_tensor(). Raises CannotRun."""
    rng = np.random.default_rng(seed)
    values = {}
    for i in infos:
        shape = sizes.get(i.name, [])
        if None in shape:
            raise CannotRun(f"input '{i.name}': nothing says how large it is ({i.shape}): give --inputs")
        values[i.name] = random_value(i.type, shape, rng, integers)
    return values


def read_value(path, type_text):
    """The value in one input_K.pb, whose message depends on the type."""
    data = path.read_bytes()
    if type_text.startswith("seq("):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if type_text.startswith("optional("):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    if type_text.startswith("map("):
        return numpy_helper.to_dict(onnx.MapProto.FromString(data))
    array = numpy_helper.to_array(onnx.TensorProto.FromString(data))
    if array.dtype.kind in "SU":
        return array.astype(object)
    if array.dtype == object:
        text = [v.decode() if isinstance(v, bytes) else v for v in array.reshape(-1)]
        return np.array(text, dtype=object).reshape(array.shape)
    return array


def read_inputs(infos, folder):
    """Reads the values of all inputs, by name, from files input_K.pb of the folder, or of test_data_set_0 in it. infos:
    ONNX Runtime's inputs. Raises Bad."""
    if (folder / "test_data_set_0").is_dir():
        folder = folder / "test_data_set_0"
    values = {}
    for k, info in enumerate(infos):
        path = folder / f"input_{k}.pb"
        if not path.is_file() and info.type.startswith("optional("):
            values[info.name] = None
            continue
        require(path.is_file(), f"{path} does not exist (for input '{info.name}')")
        try:
            values[info.name] = read_value(path, info.type)
        except Exception as e:
            raise Bad(f"{path.name} is not a {info.type}: {first_line(e)}") from e
    return values


# ---------------------------------------------------------------- running


def first_line(error):
    """The first line of an error's text, at most 300 characters; its class if it has no text."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def open_session(path):
    """A session of a model on the CPU, one thread, without optimisations, so that bits can be compared."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.use_deterministic_compute = True
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def exotic(type_text):
    """The row of EXOTIC_TYPES for a type as ONNX Runtime writes it, tensor(bfloat16); None: numpy has the type."""
    return EXOTIC_TYPES.get(type_text.removeprefix("tensor(").removesuffix(")"))


def to_ort(value, row):
    """An array as ONNX Runtime's OrtValue. row: exotic() of its type."""
    if row:
        raw = np.ascontiguousarray(value).view(row[1])
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(raw, row[2])
    return ort.OrtValue.ortvalue_from_numpy(value)


def from_ort(value):
    """An OrtValue as an array."""
    row = exotic(value.data_type())
    if not row:
        return value.numpy()
    raw = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return np.frombuffer(raw, row[0]).reshape(value.shape())


def run_session(session, table):
    """Runs a session on inputs that are taken from the table by name. Returns all outputs by name."""
    names = [o.name for o in session.get_outputs()]
    through_ort = any(exotic(o.type) for o in session.get_outputs())
    feed = {}
    for info in session.get_inputs():
        row, value = exotic(info.type), table[info.name]
        feed[info.name] = to_ort(value, row) if row or through_ort else value
    if through_ort:
        values = [from_ort(v) for v in session.run_with_ort_values(names, feed)]
    else:
        values = session.run(names, feed)
    return dict(zip(names, values))


def run_whole(session, sets):
    """The outputs of a session by name, for each set of inputs."""
    return [run_session(session, inputs) for inputs in sets]


def run_parts(manifest, folder, sets):
    """Runs the parts, in order, on a table of tensors by name for each set of inputs; returns the outputs of each
    set."""
    tables = [dict(inputs) for inputs in sets]
    for part in manifest["parts"]:
        try:
            session = open_session(folder / part["file"])
            made = [run_session(session, {n: t[n] for n in part["inputs"]}) for t in tables]
        except Exception as e:
            raise Bad(f"{part['file']} does not run: {type(e).__name__}: {first_line(e)}") from e
        for table, values in zip(tables, made):
            table.update({name: values[name] for name in part["outputs"]})
        del session
    tables = [join_pieces(table, pieces_of(manifest)) for table in tables]
    return [{o["name"]: read_output(o, table, folder / manifest["model"]["file"])
             for o in manifest["outputs"]} for table in tables]


def with_bytes(tensor, folder):
    """Returns a tensor with its bytes inside: of external data, the bytes are read here, since onnx refuses files with
    several names."""
    if tensor.data_location != onnx.TensorProto.EXTERNAL:
        return tensor
    where = {e.key: e.value for e in tensor.external_data}
    with open(folder / where["location"], "rb") as f:
        f.seek(int(where.get("offset", 0)))
        data = f.read(int(where["length"]) if "length" in where else -1)
    return onnx.TensorProto(name=tensor.name, dims=tensor.dims, data_type=tensor.data_type, raw_data=data)


def read_output(output, table, whole):
    """The value of an output (a row of the manifest): from the table, or, of a weight, from the initializers of the
    model in the file `whole`. Raises Bad."""
    if output["from"] != "weights":
        return table[output["name"]]
    for tensor in load_graph(whole).initializer:
        if tensor.name == output["name"]:
            return numpy_helper.to_array(with_bytes(tensor, whole.parent))
    raise Bad(f"output '{output['name']}' is no initializer of {whole.name}")


# ---------------------------------------------------------------- comparing


def names_read(node):
    """The names that a node and the nodes of its bodies read, also names that the bodies define themselves."""
    found, stack = set(), [node]
    while stack:
        n = stack.pop()
        found.update(n.input)
        for a in n.attribute:
            for body in [a.g] * a.HasField("g") + list(a.graphs):
                stack += body.node
                found.update(o.name for o in body.output)
    return found


HALF = (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)
# Operators that leave the numbers as they are.
MOVING = {"Cast", "CastLike", "Identity", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Slice", "Split",
          "Concat", "Gather", "GatherElements", "GatherND", "Expand", "Tile", "Pad", "DepthToSpace", "SpaceToDepth",
          "ReverseSequence", "Compress", "Where", "ScatterElements", "ScatterND"}


def is_half(type_text):
    """Whether a type of the manifest, such as "seq<f16>", has 16-bit floats; None: false."""
    return re.search(r"\b(b?f16)\b", type_text or "") is not None


def half_values(path):
    """Names of the float16 and bfloat16 tensors of a part, as far as onnx can tell; where it cannot (operators of other
    domains), results that are computed from such a tensor count as such tensors."""
    model = onnx.load(str(path), load_external_data=False)
    weights = [(t.name, t.data_type, list(t.dims)) for t in model.graph.initializer]
    del model.graph.initializer[:]
    named = {v.name for v in model.graph.input}
    model.graph.input.extend(onnx.helper.make_tensor_value_info(*w) for w in weights if w[0] not in named)
    try:
        model = onnx.shape_inference.infer_shapes(model)
    except Exception:  # onnx has no common class for its errors
        pass
    graph = model.graph
    kind = {v.name: v.type.tensor_type.elem_type for v in [*graph.input, *graph.value_info, *graph.output]}
    for node in graph.node:
        half = next((kind[i] for i in node.input if kind.get(i) in HALF), 0)
        to = next((a.i for a in node.attribute if a.name == "to"), 0) if node.op_type == "Cast" else half
        for name in node.output:
            kind[name] = kind.get(name) or to
    return {name for name, elem in kind.items() if elem in HALF}


def moved_operands(node):
    """Operands whose numbers a node of MOVING has in its results; the others are indices, sizes, conditions."""
    first, *more = node.input or [""]
    moved = {"Concat": [first, *more], "Where": more}.get(node.op_type, [first])
    if node.op_type in ("Pad", "ScatterElements", "ScatterND"):
        moved += more[1:2]  # the value that is padded with, the updates
    return set(moved) - {""}


def moved_from(name, maker):
    """The set of the tensor `name` and of all tensors in its part from which casts and moves alone have made it. maker:
    {tensor: the node of the part that makes it}."""
    found, stack = {name}, [name]
    while stack:
        node = maker.get(stack.pop())
        if node is not None and node.op_type in MOVING:
            new = moved_operands(node) - found
            stack += new
            found |= new
    return found


def half_crossings(manifest, graphs, folder):
    """The tensors that cross in float16, or as casts or moved copies of float16 tensors, together with the computed
    tensors of which they are copies; inputs, initializers and constants do not count, as they are exact."""
    found = set()
    for part in manifest["parts"]:
        nodes = graphs[part["file"]].node
        mine = {t["name"]: t["type"] for t in manifest["tensors"] if t["to"] and t["from"] == part["file"]}
        maker = {o: n for n in nodes for o in n.output}
        chains = {name: moved_from(name, maker) for name in mine}
        unsure = any(len(c) > 1 for c in chains.values())  # a tensor that crosses is a copy: of what type was it?
        half = half_values(folder / part["file"]) if unsure else set()
        half |= {name for name, kind in mine.items() if is_half(kind)}
        for node in nodes:
            if node.op_type in MOVING and moved_operands(node) & half:
                half.update(node.output)
        computed = {name for name, node in maker.items() if node.op_type != "Constant"} & half
        found.update(*({name} | (chain & computed) for name, chain in chains.items() if name in half))
    return found


def rounded_values(manifest, graphs, folder):
    """Returns two sets of names: the tensors at which a cut may round (half_crossings()), and the results that depend
    on them, found node by node through the parts."""
    crossing = half_crossings(manifest, graphs, folder)
    reached = set()
    for part in manifest["parts"] if crossing else []:
        for node in graphs[part["file"]].node:
            if names_read(node) & (reached | crossing):
                reached.update(node.output)
    return crossing, reached - {""}


RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}


def false_values(graph):
    """Names of the main graph's values that are a constant false."""
    tensors = [(t.name, t) for t in graph.initializer if t.name not in {i.name for i in graph.input}]
    tensors += [(n.output[0], a.t) for n in graph.node if n.op_type == "Constant" for a in n.attribute
                if a.name == "value"]
    return {name for name, t in tensors if t.data_type == onnx.TensorProto.BOOL and len(t.dims) == 0
            and not numpy_helper.to_array(t)}


def is_random(node, functions, false):
    """Whether the results of a node differ from session to session: it is random, or has a random node in a body, or
    calls a function with one. functions: {(domain, name): function}; false: false_values()."""
    stack, called = [node], set()
    while stack:
        n = stack.pop()
        name = n.domain, n.op_type
        seeded = any(a.name == "seed" for a in n.attribute)
        training = n.op_type == "Dropout" and len(n.input) > 2 and n.input[2] and n.input[2] not in false
        if not seeded and n.domain in ("", "ai.onnx") and (n.op_type in RANDOM or training):
            return True
        if name in functions and name not in called:
            called.add(name)
            stack += functions[name].node
        for a in n.attribute:
            for body in [a.g] * a.HasField("g") + list(a.graphs):
                stack += body.node
    return False


def random_values(path):
    """Returns the names of a model's values that depend on a random operator, and the name of the first such operator,
    or None."""
    model = onnx.load(str(path), load_external_data=False)
    functions = {(f.domain, f.name): f for f in model.functions}
    false, reached, first = false_values(model.graph), set(), None
    for node in model.graph.node:
        own = is_random(node, functions, false)
        if own or names_read(node) & reached:
            reached.update(node.output)
        if own and first is None:
            first = node.name or node.op_type
    return reached - {""}, first


def without(outputs, left_out):
    """The outputs by name, for each set of inputs, except those with the names `left_out`."""
    return [{name: value for name, value in one.items() if name not in left_out} for one in outputs]


def near(ref, got, tolerance=TOLERANCE):
    """Returns how the array `got` differs from `ref`, in words; None: by no more than `tolerance` times the largest
    finite number of `ref`."""
    if ref.dtype == object or ref.dtype.kind in "SU":
        return "strings differ"
    wide = np.complex128 if ref.dtype.kind == "c" else np.float64
    a, b = ref.astype(wide), got.astype(wide)
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return "infinities or NaNs differ"
    limit = tolerance * float(np.max(np.abs(a[finite]), initial=0))
    worst = float(np.max(np.abs(a[finite] - b[finite]), initial=0))
    return None if worst <= limit else f"differs by {worst:.3g}, more than {limit:.3g}"


def array_difference(ref, got, floats, rounding):
    """Does the work of difference() for two arrays."""
    if ref.dtype != got.dtype or ref.shape != got.shape:
        return f"{got.dtype}{list(got.shape)} instead of {ref.dtype}{list(ref.shape)}"
    if ref.dtype == object or ref.dtype.kind in "SU":
        return None if np.array_equal(ref, got) else "strings differ"
    if ref.tobytes() == got.tobytes():
        return None
    tolerance = rounding if ref.dtype.kind in "iub" else max(floats, rounding)
    if tolerance:
        return near(ref, got, tolerance)
    unequal = ref.reshape(-1) != got.reshape(-1)
    return f"{np.count_nonzero(unequal)} of {ref.size} elements differ ({near(ref, got) or 'slightly'})"


def difference(ref, got, floats=0, rounding=0):
    """Returns how the value `got` differs from `ref`, in words; None: they are equal, or within the tolerances.
    Compares sequences and maps element by element. floats, rounding: tolerances of floats, and of all numbers, as
    shares of a tensor's largest value."""
    if ref is None or got is None:
        return None if ref is got else "only one of them is empty"
    if isinstance(ref, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(ref) != len(got):
            return "sequences of different length"
        return next(filter(None, (difference(r, g, floats, rounding) for r, g in zip(ref, got))), None)
    if isinstance(ref, dict):
        if not isinstance(got, dict) or list(ref) != list(got):
            return "maps with different keys"
        return difference(list(ref.values()), list(got.values()), floats, rounding)
    if isinstance(got, (list, tuple, dict)):
        return "a sequence or map instead of a tensor"
    return array_difference(np.asarray(ref), np.asarray(got), floats, rounding)


def compare(reference, outputs, floats, rounded, who):
    """Compares outputs, by name for each set of inputs, with the reference's. Raises Different if an output is beyond
    its tolerance; returns the names of outputs that are within it, but not bit-equal. floats: tolerance of floats of
    all outputs; rounded: names of outputs that may be off by rounding; who: made the outputs, for the error."""
    inexact = set()
    for ref, got in zip(reference, outputs):
        for name, value in ref.items():
            wrong = difference(value, got[name])
            rounding = TOLERANCE if name in rounded else 0
            if wrong and (floats or rounding):
                inexact.add(name)
                wrong = difference(value, got[name], floats, rounding)
            if wrong:
                raise Different(f"output '{name}' of {who}: {wrong}")
    return inexact


# ---------------------------------------------------------------- the whole story


def some(items):
    """The first SHOWN items as text, with commas, and how many more there are; "none"."""
    items = list(items)
    more = f", and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return (", ".join(items[:SHOWN]) or "none") + more


def describe(value):
    """The type and size of a value in a few words."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return f"sequence of {len(value)}" if isinstance(value, list) else type(value).__name__


def input_attempts(args, manifest, infos):
    """Yields pairs (text, sets of inputs) to try one after the other: first the usual ones, then, as random integers
    may not suit the model (indices out of range, masks that leave nothing), sets in which all integers are 1, or all
    0."""
    given = [read_inputs(infos, Path(args.inputs))] if args.inputs else []
    seeds = [args.seed] if not given else []
    if args.sensitive:
        seeds.append(args.seed + 1)
    if not seeds:
        yield f"from {args.inputs}", given
        return
    sizes = sizes_of(manifest)
    for integers, said in ((None, "0 or 1"), (1, "1"), (0, "0")):
        sets = given + [random_inputs(infos, sizes, s, integers) for s in seeds]
        named = some(f"{k}={v}" for k, v in manifest.get("dims", {}).items())
        text = f"random, seed {args.seed}, integers {said}; symbolic dimensions: {named}"
        yield (f"from {args.inputs} and " if given else "") + text, sets


def demand_sensitivity(reference):
    """Raises Different if all outputs of the whole model are equal for the first two sets of inputs."""
    changed = [n for n in reference[0] if difference(reference[0][n], reference[1][n])]
    if not changed:
        raise Different("insensitive: no output of the whole changes with the inputs")


def report_plan(manifest, crossing, rounded, say):
    """Prints the parts, the tensors that cross, and which outputs may be off by rounding."""
    parts = some(f"{p['file']} ({p['device']}, {p['nodes']} nodes)" for p in manifest["parts"])
    say(f"parts, in this order: {parts}")
    say(f"crossing, {len(manifest['tensors'])} tensors: "
        + some(f"{t['name']} {t['type']} {t['from']} -> {'+'.join(t['to']) or 'output'}"
               for t in manifest["tensors"]))
    if crossing:
        say(f"float16 tensors cross, or casts of them ({some(sorted(crossing))}): "
            f"outputs within {TOLERANCE:g} of max|reference|: {some(sorted(rounded))}")


def run_reference(args, manifest, say):
    """Runs the whole model on the first inputs that suit it, and prints which these are: (names of its inputs and
    outputs, the sets of inputs, the outputs for each set).  Raises CannotRun."""
    model = Path(args.model)
    say(f"whole: {model.name}, ONNX Runtime {ort.__version__}, CPU, optimisations off, one thread")
    first = None
    try:
        session = open_session(model)
        infos = session.get_inputs()
        names = [v.name for v in infos], [v.name for v in session.get_outputs()]
        for text, sets in input_attempts(args, manifest, infos):
            try:
                outputs = run_whole(session, sets)
            except Exception as e:  # ONNX Runtime has no common class for its errors
                first = first or e
                continue
            say(f"inputs: {text}")
            say("  " + some(f"{k} {describe(v)}" for k, v in sets[0].items()))
            return names, sets, outputs
    except (Bad, CannotRun):
        raise
    except Exception as e:
        first = first or e
    raise CannotRun(f"{model.name}: {type(first).__name__}: {first_line(first)}")


def not_compared(manifest, model, names, say):
    """The outputs that cannot be compared, since they depend on random operators or are inputs. names: of the model's
    inputs and outputs. Raises AllRandom if there are no others, although some could be compared without such
    operators."""
    random, first = random_values(model)
    random &= set(names[1])
    given = {o["name"] for o in manifest["outputs"] if o["from"] == "input"}
    if random and random | given == set(names[1]):
        raise AllRandom(f"all outputs depend on random operators, such as '{first}'" + ", or are inputs" * bool(given))
    if random:
        say(f"not compared, since they depend on random operators such as '{first}': {some(sorted(random))}")
    if given:
        say(f"not compared, since they are inputs: {some(sorted(given))}")
    return random | given


def verify(args, say):
    """Makes all checks of the folder and compares the parts with the whole model. Returns the number of outputs that
    were compared, how many of them are not bit-equal, the number of sets of inputs, and the tolerance of floats. Raises
    Said."""
    model, folder = Path(args.model), Path(args.split)
    require(model.is_file(), f"{model} does not exist")
    manifest = read_manifest(folder)
    graphs = check_manifest(manifest, folder)
    say("manifest: obeys the schema, agrees with itself and the files")
    check_parts(manifest, model, folder, say)

    names, sets, reference = run_reference(args, manifest, say)
    for what, found in zip(("inputs", "outputs"), names):
        said = [v["name"] for v in manifest[what]]
        require(said == found, f"{what} in the manifest are {some(said)}, the model's {some(found)}")
    left_out = not_compared(manifest, model, names, say)
    reference = without(reference, left_out)
    if args.sensitive:
        demand_sensitivity(reference)
    gc.collect()

    crossing, reached = rounded_values(manifest, graphs, folder)
    pieces = pieces_of(manifest)
    reached |= {name for name, (_, _, parts) in pieces.items() if reached & set(parts)}
    rounded = reached & set(names[1])
    report_plan(manifest, crossing, rounded, say)
    sets = [cut_pieces(s, pieces) for s in sets]
    sums = manifest.get("sharding", {}).get("tolerance", 0) if args.tolerance is None else args.tolerance
    if sums:
        why = "the manifest's, since devices add up floats" if args.tolerance is None else "as --tolerance says"
        say(f"tolerance: {sums:g} of the largest value of an output, {why}")
    made = run_parts(manifest, folder, sets)
    inexact = compare(reference, made, sums, rounded, "the parts")
    annotated = args.whole or folder / manifest["model"]["file"]
    try:
        again = [join_pieces(t, pieces) for t in run_whole(open_session(Path(annotated)), sets)]
    except Exception as e:
        raise Bad(f"{Path(annotated).name} does not run: {type(e).__name__}: {first_line(e)}") from e
    require(all(set(a) == set(names[1]) for a in again), f"{Path(annotated).name} has other outputs than the model")
    compare(reference, again, sums, set(), Path(annotated).name)
    if sums:
        compare(without(again, left_out), made, 0, rounded, f"the parts, against {Path(annotated).name}")
    return len(reference[0]), len(inexact), len(sets), sums


def share(text):
    """For argparse: the value of --tolerance, a number from 0 to 1."""
    if not 0 <= float(text) <= 1:
        raise argparse.ArgumentTypeError(f"'{text}': expected a number from 0 to 1")
    return float(text)


def main(argv=None):
    p = argparse.ArgumentParser(description="Compares a split folder with the whole model.")
    p.add_argument("model", help="the whole model (.onnx)")
    p.add_argument("split", help="the folder with manifest.json")
    p.add_argument("--inputs", metavar="DIR", help="folder of input_K.pb (default: random inputs)")
    p.add_argument("--seed", type=int, default=0, help="of the random inputs")
    p.add_argument("--sensitive", action="store_true",
                   help="run a second random input; some output must change")
    p.add_argument("--whole", metavar="FILE",
                   help="a model that was put together from the parts: compared in place of the folder's whole model")
    p.add_argument("--tolerance", type=share, metavar="T",
                   help="share of an output's largest value by which its floats may differ (default: the manifest's "
                   "where devices add up floats, else 0)")
    p.add_argument("--quiet", action="store_true", help="the last line only")
    args = p.parse_args(argv)
    ort.set_default_logger_severity(4)

    def say(text):
        """Prints a line, unless --quiet."""
        if not args.quiet:
            print(printable(text), flush=True)

    try:
        outputs, inexact, inputs, sums = verify(args, say)
    except Bad as e:
        print(f"error: {e}")
        return 1
    except Different as e:
        print(f"DIFFERENT: {e}")
        return 1
    except CannotRun as e:
        print(f"cannot run the whole model: {e}")
        return 3
    except AllRandom as e:
        print(f"nothing to compare: {e}")
        return 3
    within = f"{sums:g} of the largest value" if sums else "rounding"
    how = f"{outputs - inexact} bit-equal, {inexact} within {within}" if inexact else "bit-equal"
    print(f"equal: {outputs} outputs of the parts and of the annotated whole, {how}"
          + (f", on {inputs} inputs" if inputs > 1 else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
