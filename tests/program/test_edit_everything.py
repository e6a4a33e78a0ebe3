"""What a pass makes by ir/model/edit.h is written as it was meant: an AllReduce of another domain with a new weight,
a node with an attribute of each of the 14 kinds, weights of every type, bodies, a call, slices of weights.

pcc-editing's pass make-everything (tests/editing/everything.c) makes it; here the same is written down with
onnx.helper. The file that pcc writes passes onnx's checker and is, message by message, what is written down here; so
is what comes of it through pcc again, through textual IR, and, its weights, in the parts of a split with each
--weights.  What ONNX Runtime knows runs and gives the bytes of the slices.  Edits that leave no module are refused
by name, and nothing is written. """

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from with_ort import PCC, verified_once  # first: it skips the test without ONNX Runtime
import numpy as np
import onnx
import onnxruntime as ort
from checks import check, finish
from onnx import AttributeProto, TensorProto, helper, numpy_helper

EDITING = str(extras.BUILT / "pcc-editing")
F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
SMALL, LARGE = 8, 2048
FAST = ("--link=1TB/s,0us",)  # so that plans have several parts
RNG = np.random.default_rng(1)
W = RNG.standard_normal((16, 32)).astype(np.float32)
E = RNG.standard_normal((32, 48)).astype(np.float32)
info, node = helper.make_tensor_value_info, helper.make_node


def run(program, *args):
    return subprocess.run([program, *map(str, args)], capture_output=True, text=True, errors="replace")


def base(folder):
    """x -> MatMul W -> h -> MatMul E -> logits; W in the model's file, E beside it; a function that nobody calls."""
    (folder / "e.bin").write_bytes(bytes(64) + E.tobytes())
    e = TensorProto(name="E", dims=E.shape, data_type=F, data_location=TensorProto.EXTERNAL)
    for key, value in ("location", "e.bin"), ("offset", "64"), ("length", str(E.nbytes)):
        e.external_data.add(key=key, value=value)
    twice = helper.make_function(
        "fn", "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 20)]
    )
    graph = helper.make_graph(
        [node("MatMul", ["x", "W"], ["h"], name="first"), node("MatMul", ["h", "E"], ["logits"], name="second")],
        "g",
        [info("x", F, ["n", 16])],
        [info("logits", F, ["n", 48])],
        [numpy_helper.from_array(W, "W"), e],
        value_info=[info("h", F, ["n", 32])],
    )
    m = helper.make_model(
        graph,
        functions=[twice],
        ir_version=8,
        opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("fn", 1)],
    )
    (folder / "base.onnx").write_bytes(m.SerializeToString())


# ---- what is meant -----------------------------------------------------------------------------------


def slices(w):
    """The slices that the pass makes of a weight, by suffix."""
    rows, cols = w.shape
    block = w[:, cols // 4 : 3 * cols // 4]
    return {
        "top": w[: rows // 2],
        "block": block,
        "even": w[::2],
        "mixed": w[:, [cols - 2, cols - 1, 1, 0, 1, 2]],
        "inner": block[[rows - 1, 1, 2]],
        "none": w[:0],
    }


def weights():
    """The weights of every type, in the order of their numbers; float6 is newer than pcc."""
    for name, number in sorted(TensorProto.DataType.items(), key=lambda x: x[1]):
        bits = {
            "FLOAT": 32,
            "DOUBLE": 64,
            "BOOL": 8,
            "COMPLEX64": 64,
            "COMPLEX128": 128,
            "BFLOAT16": 16,
            "STRING": 0,
            "UNDEFINED": 0,
        }.get(name)
        digits = "".join(c if c.isdigit() else " " for c in name).split()
        bits = bits if bits is not None else int(digits[0])
        short = name.lower().replace("bfloat", "bf").replace("uint", "u").replace("int", "i").replace("float", "f")
        short = {"double": "f64", "complex64": "c64", "complex128": "c128", "f": "f32"}.get(short, short)
        if bits and bits != 6:
            for n in SMALL, LARGE:
                i = np.arange(n * bits // 8)
                data = (i % 2 if number == BOOL else i * 37 + number).astype(np.uint8).tobytes()
                yield TensorProto(name=f"{short}_{n}", dims=[n], data_type=number, raw_data=data)
    yield TensorProto(
        name="str_4", dims=[2, 2], data_type=TensorProto.STRING, string_data=[b"first", b"", b"a\0b", b"\xff\xfe"]
    )


def raw(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def sparse(name=""):
    return helper.make_sparse_tensor(raw(name, np.full(2, 0.5, np.float32)), raw("", np.array([1, 4])), [6])


def body(name, nodes, outputs, inputs=(), inits=()):
    return helper.make_graph(nodes, name, list(inputs), outputs, list(inits))


def kinds():
    """The node with an attribute of each kind."""
    f16 = helper.make_tensor_type_proto(TensorProto.FLOAT16, [3, "n", None])
    seq = helper.make_sequence_type_proto(f16)
    negative = [
        body(name, [node("Neg", ["h"], [value], name=unit)], [info(value, F, ["n", 32])])
        for name, value, unit in (
            ("g", "negative", "Neg"),
            ("graphs", "negative_1", "Neg_1"),
            ("graphs", "negative_2", "Neg_2"),
        )
    ]
    n = node(
        "Kinds",
        ["h", "", "h"],
        ["kinds"],
        domain="test.kinds",
        name="kinds",
        f=0.1,
        i=-(2**63),
        s=b"a\0b\xff",
        t=raw("", np.int32(7)),
        g=negative[0],
        floats=[1.5, -0.0],
        ints=[1, -2, 3],
        strings=[b"p", b"", b"\0"],
        tensors=[raw("", np.int32(7)), TensorProto(dims=[0, 3], data_type=TensorProto.UINT8, raw_data=b"")],
        graphs=negative[1:],
        sparse_tensor=sparse(),
        sparse_tensors=[sparse(), sparse()],
        tp=helper.make_optional_type_proto(f16),
        type_protos=[helper.make_map_type_proto(TensorProto.STRING, seq), helper.make_tensor_type_proto(I64, None)],
    )
    n.doc_string = "all \"kinds\"\nof attributes"
    for key, value in ("author", "a pass"), ("layer", "7"):
        n.metadata_props.add(key=key, value=value)
    return n


def choice(value, result, named):
    """If(yes) { Relu(value) } else { value * half }."""
    shape = info("", F, ["n", 32])
    yes, positive, half, halved, number = named

    def out(name):
        shape.name = name
        return shape

    return node(
        "If",
        [yes],
        [result],
        name="If" + number,
        then_branch=body("then_branch", [node("Relu", [value], [positive], name="Relu" + number)], [out(positive)]),
        else_branch=body(
            "else_branch",
            [node("Mul", [value, half], [halved], name="Mul" + number)],
            [out(halved)],
            inits=[raw(half, np.float32(0.5))],
        ),
    )


def loop():
    inner = choice("v", "inner", ("yes_1", "positive_1", "half_1", "halved_1", "_1"))
    shape = info("v", F, ["n", 32])
    nodes = [
        node("ReduceSum", ["large", "axes"], ["row"], name="ReduceSum"),
        node("Identity", ["more"], ["go_on"], name="Identity_13"),
        inner,
        node("Add", ["inner", "row"], ["added"], name="Add"),
    ]
    large = (np.arange(512, dtype=np.float32) / np.float32(7)).reshape(16, 32)
    return node(
        "Loop",
        ["times", "", "h"],
        ["looped"],
        name="Loop",
        body=body(
            "body",
            nodes,
            [info("go_on", BOOL, []), info("added", F, ["n", 32])],
            [info("i", I64, []), info("more", BOOL, []), shape],
            [raw("large", large), raw("axes", np.array([0])), raw("yes_1", np.bool_(True))],
        ),
    )


def meant():
    """The whole model as the pass means it, all weights inside."""
    w = list(weights())
    made = [s for of in (("W", W), ("E", E)) for s in ((f"{of[0]}_{k}", a) for k, a in slices(of[1]).items())]
    nodes = [
        node("MatMul", ["x", "W"], ["h"], name="first"),
        node("MatMul", ["h", "E"], ["logits_2"], name="second"),
        node(
            "AllReduce", ["logits_2", "new_weight"], ["reduced"], domain="com.microsoft", name="AllReduce", group_size=2
        ),
        node("Identity", ["reduced"], ["logits"], name="Identity"),
        kinds(),
        node("Use", [t.name for t in w] + ["h"], ["used"], domain="test.kinds", name="Use"),
        choice("h", "chosen", ("yes", "positive", "half", "halved", "")),
        loop(),
        node("Twice", ["h"], ["twice"], domain="fn", name="Twice"),
    ]
    nodes += [node("Identity", [name], [name + "_out"], name=f"Identity_{i + 1}") for i, (name, _) in enumerate(made)]
    nodes.append(node("Use", ["sparse_6"], ["scattered"], domain="test.kinds", name="Use_1"))
    outputs = [info("logits", F, ["n", 48])] + [
        info(n, F, ["n", 32]) for n in ("kinds", "used", "chosen", "looped", "twice")
    ]
    outputs += [info(name + "_out", F, a.shape) for name, a in made] + [info("scattered", F, ["n", 32])]
    inits = [
        raw("W", W),
        raw("E", E),
        raw("new_weight", np.ones((2, 2), np.float32)),
        *w,
        raw("yes", np.bool_(True)),
        raw("times", np.int64(3)),
        *(raw(n, a) for n, a in made),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [info("x", F, ["n", 16])],
        outputs,
        inits,
        value_info=[info("h", F, ["n", 32]), info("reduced", F, ["n", 48])],
    )
    graph.sparse_initializer.append(sparse("sparse_6"))
    return graph


# ---- comparing ---------------------------------------------------------------------------------------


def plain(message):
    """The message with attributes by name."""
    m = type(message)()
    m.CopyFrom(message)

    def walk(x):
        for field, value in list(x.ListFields()):
            if field.type != field.TYPE_MESSAGE:
                continue
            for y in value if field.is_repeated else [value]:
                walk(y)
            if field.message_type.full_name == AttributeProto.DESCRIPTOR.full_name:
                value.sort(key=lambda a: a.name)

    walk(m)
    return m


def differences(a, b, place=""):
    """Where two messages of one type differ, in words."""
    if a == b:
        return []
    found = []
    for field in a.DESCRIPTOR.fields:
        x, y = getattr(a, field.name), getattr(b, field.name)
        at = f"{place}.{field.name}"
        if field.is_repeated and field.type == field.TYPE_MESSAGE:
            found += [f"{at}: {len(x)} and {len(y)}"] if len(x) != len(y) else []
            for i, (p, q) in enumerate(zip(x, y)):
                found += differences(p, q, f"{at}[{i}]")
        elif a.HasField(field.name) != b.HasField(field.name) if field.has_presence else False:
            found.append(f"{at}: only one has it")
        elif field.type == field.TYPE_MESSAGE and field.has_presence:
            found += differences(x, y, at) if a.HasField(field.name) else []
        elif repr(x) != repr(y):
            found.append(f"{at}: {str(x)[:80]} and {str(y)[:80]}")
    return found


def load(path):
    """A model with its weights inside."""
    m = onnx.load(path, load_external_data=False)
    for t in m.graph.initializer:
        if t.data_location == TensorProto.EXTERNAL:
            at = {e.key: e.value for e in t.external_data}
            start = int(at["offset"])
            t.raw_data = (path.parent / at["location"]).read_bytes()[start : start + int(at["length"])]
        t.ClearField("data_location")
        del t.external_data[:]
    return m


def same(path, what):
    """The model of the file is what is meant; of a text also with the types of values that can be inferred."""
    got, want = plain(load(path).graph), plain(meant())
    if "made.pir" in what:
        for g in got, got.node[7].attribute[0].g:
            more = [i for i in g.value_info if i.name in ("logits_2", "inner")]
            check(len(more) == 1, f"{what}: {[i.name for i in g.value_info]}")
            g.value_info.remove(more[0])
    found = differences(got, want)
    check(not found, f"{what}: {found[:5]}")


def check_file(path):
    """The file says what is meant; where its weights lie; it passes the checker."""
    same(path, "written")
    m = onnx.load(path, load_external_data=False)
    check(m.ir_version == 13, f"IR version {m.ir_version}, 13 brought the newest type that is in it")
    imports = [(o.domain, o.version) for o in m.opset_import]
    check(imports == [("", 20), ("fn", 1), ("com.microsoft", 1), ("test.kinds", 3)], f"imports {imports}")
    for t in m.graph.initializer:
        inside = len(t.raw_data) if t.data_location == TensorProto.DEFAULT else None
        kept = t.name in ("W", "E")  # where they were
        check(kept or (inside is None) == (np.prod(t.dims) * bits(t) >= 8 * 1024), f"'{t.name}': inside {inside}")
        where = {e.key: e.value for e in t.external_data}.get("location")
        check(inside is not None or where == ("e.bin" if t.name == "E" else path.name + ".data"), f"{t.name}: {where}")
    onnx.checker.check_model(str(path), full_check=True)
    r = run(EDITING, path.parent / "base.onnx", "-q", "-p", f"make-everything,compare-module{{with={path}}}")
    check(r.returncode == 0, f"read again: {r.stderr}")


def bits(t):
    return (
        0
        if t.data_type == TensorProto.STRING
        else {"FLOAT": 32, "DOUBLE": 64, "BOOL": 8, "COMPLEX64": 64, "COMPLEX128": 128, "BFLOAT16": 16}.get(
            n := TensorProto.DataType.Name(t.data_type)
        )
        or int("".join(c if c.isdigit() else " " for c in n).split()[0])
    )


def check_round_trips(folder, written):
    """Through pcc again; through textual IR, printed twice alike."""
    for source, target in (
        (written, "again.onnx"),
        ("made.pir", "back.onnx"),
        ("made.pir", "made2.pir"),
        ("again.onnx", "again.pir"),
        ("again.pir", "again2.onnx"),
        ("again.pir", "again2.pir"),
    ):
        if source == "made.pir" and target == "back.onnx":
            r = run(EDITING, folder / "base.onnx", "-q", "-p", "make-everything", *FAST, "-o", folder / "made.pir")
            check(r.returncode == 0, r.stderr)
        r = run(PCC, folder / source, "-q", "-o", folder / target)
        if not check(r.returncode == 0, f"{source} -> {target}: {r.stderr}"):
            continue
        if target.endswith(".onnx"):
            same(folder / target, f"{source} -> {target}")
    for a, b in ("made.pir", "made2.pir"), ("again.pir", "again2.pir"):
        check((folder / a).read_bytes() == (folder / b).read_bytes(), f"{a} and {b} are two texts")


def check_splits(folder, written):
    """Each part holds the bytes of its weights, wherever they lie; all parts together all weights."""
    want = {t.name: (list(t.dims), t.data_type, t.raw_data, list(t.string_data)) for t in meant().initializer}
    for source, passes in (("base.onnx", "make-everything,dp-place"), (written, "dp-place"), ("made.pir", "dp-place")):
        for mode in "shared", "parts", "inline", "original", "link":
            out = folder / f"{mode}-{source}"
            r = run(
                EDITING,
                folder / source,
                "-q",
                "-p",
                passes,
                f"--weights={mode}",
                "--allow-links",
                "-o",
                f"{out}/",
                *(FAST if source != "made.pir" else ()),
            )
            if not check(r.returncode == 0, f"{source}, {mode}: {r.stderr}"):
                continue
            parts = sorted(out.glob("part*.onnx"))
            check(len(parts) > 1, f"{out.name}: {len(parts)} parts")
            seen = set()
            for part in [*parts, out / "model.onnx"]:
                for t in load(part).graph.initializer:
                    seen.add(t.name)
                    got = (list(t.dims), t.data_type, t.raw_data, list(t.string_data))
                    check(got == want[t.name], f"{out.name}: {part.name}: '{t.name}' has other bytes")
            check(seen == set(want), f"{out.name}: {set(want) ^ seen}")


def check_runs(folder):
    """What ONNX Runtime knows of it runs, whole and split, and slices are what numpy says."""
    path = folder / "run.onnx"
    r = run(EDITING, folder / "base.onnx", "-q", "-p", "make-everything{run=true}", "-o", path)
    if not check(r.returncode == 0, r.stderr):
        return
    onnx.checker.check_model(str(path), full_check=True)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    x = RNG.standard_normal((3, 16)).astype(np.float32)
    got = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"x": x})))
    for name, w in ("W", W), ("E", E):
        for suffix, array in slices(w).items():
            check(np.array_equal(got[f"{name}_{suffix}_out"], array), f"{name}_{suffix}")
    h = x @ W
    row = (np.arange(512, dtype=np.float32) / 7).reshape(16, 32).sum(0)
    v = h
    for _ in range(3):
        v = np.maximum(v, 0) + row
    for name, array in ("twice", 2 * h), ("chosen", np.maximum(h, 0)), ("looped", v), ("logits", h @ E):
        check(np.allclose(got[name], array, rtol=1e-4, atol=1e-4), name)
    r = run(PCC, path, "-q", *FAST, "-o", f"{folder}/run-split/")
    check(r.returncode == 0, r.stderr)
    code, said = verified_once(path, folder / "run-split")
    check(code == 0, said)


def check_breakage(folder):
    """Edits that leave no module: the verifier names the node, value or weight, the pipeline the pass."""
    for how, said in (
        ("circle", "'first' (node 1) reads value 'logits' of node 2"),
        ("drop", "'second' reads 'h', which no node makes"),
        ("beyond", "'piece': the ranges of its slice of tensor 1 'W' do not lie within the 16 of axis 0"),
        ("kind", "'second': attribute 'group_size' has neither kind nor value"),
        ("body", "'second' reads value 6 'inner' of graph 2"),
    ):
        for target in "bad.onnx", "bad.pir", "bad/":
            passes = f"break-module{{how={how}}}" + (",dp-place" if target == "bad/" else "")
            r = run(EDITING, folder / "base.onnx", "-p", passes, "-o", f"{folder}/{target}")
            check(
                r.returncode == 1 and said in r.stderr and "break-module: the module is broken" in r.stderr,
                f"{how} -> {target}: {r.returncode}: {r.stderr}",
            )
            check(not list(folder.glob("bad*")) and not list(folder.glob(".*")), f"{how}: something is written")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        base(folder)
        out = folder / "out.onnx"
        r = run(EDITING, folder / "base.onnx", "-q", "-p", "make-everything", "-o", out)
        if check(r.returncode == 0, r.stderr):
            check_file(out)
            check_round_trips(folder, out.name)
            check_breakage(folder)
            check_runs(folder)
            check_splits(folder, out.name)
    return finish()


sys.exit(main())
