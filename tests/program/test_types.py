"""Types of values behind operators that pcc does not know, and what follows from them.

1. A model with such an operator is spread over devices as well as one with a known operator in its place; only
   the operator's own results may keep it beside their readers, and only where no reader says their type.
2. Values that a part could not declare (no type, no element type, a container of such) do not cross.
3. For every version of every operator with a schema: what one operand of known type says of the others.
   In random and generated models, some of whose operators go to a foreign domain, every element type is right,
   and none is missing that follows from the schemas of the Python packages (asked here on their own).
4. The table of what schemas say (tools/type_table.py) is that of the pinned packages, where they are installed.
Needs ONNX Runtime, onnx and numpy (else 77)."""
# once: sanitized
import json
import random
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from with_ort import FAILED, GEN, PCC, SOURCE, check, verified_once  # first: it skips the test without ONNX Runtime
import numpy as np
import onnx
import onnx.defs
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as ort

from shape_text import ELEMS, inferred

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
node, info, opset = helper.make_node, helper.make_tensor_value_info, helper.make_opsetid


def pcc(*args):
    return subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, errors="replace")


def weight(name, *shape):
    return numpy_helper.from_array(np.random.default_rng(len(name)).standard_normal(shape).astype(np.float32), name)


def model(nodes, ins, outs, weights=(), version=17, infos=()):
    graph = helper.make_graph(nodes, "g", ins, outs, list(weights), value_info=list(infos))
    return helper.make_model(graph, opset_imports=[opset("", version), opset("my", 1)], ir_version=8)


# ---- 1. planning

def chain(op, domain, length=12):
    """The operator, then MatMul and Tanh again and again."""
    nodes, weights, last = [node("Tanh", ["x"], ["a"]), node(op, ["a"], ["f"], domain=domain)], [], "f"
    for i in range(length):
        weights.append(weight(f"w{i}", 8, 8))
        nodes += [node("MatMul", [last, f"w{i}"], [f"m{i}"]), node("Tanh", [f"m{i}"], [f"t{i}"])]
        last = f"t{i}"
    return model(nodes, [info("x", FLOAT, [2, 8])], [info(last, FLOAT, [2, 8])], weights)


def value(folder):
    return json.loads((folder / "manifest.json").read_text())["objective"]["value_s"]


def test_chain(work):
    times = {}
    for op, domain in (("Foo", "my"), ("Relu", "")):
        path, out = work / f"chain_{op}.onnx", work / f"chain_{op}"
        onnx.save(chain(op, domain), path)
        r = pcc(path, "-d", "2xa100", "--link", "25GB/s,0us", "-p", "dp-place", "-o", out)
        check(r.returncode == 0 and "must stay together" not in r.stderr, f"chain {op}: {r.stderr}")
        times[op] = value(out)
    check(times["Foo"] <= 1.001 * times["Relu"], f"a foreign operator first: {times}")
    got, _ = inferred(str(work / "chain_Foo.onnx"))
    check(all(elem == "f32" for elem, _ in got.values()), f"a foreign operator first: {got}")


def old_operators():
    """Operators that only ONNX Runtime knows, before and between convolutions; nothing is said of inner values."""
    nodes = [node("ImageScaler", ["x"], ["a"], scale=0.5, bias=[0.0, 1.0, 2.0]), node("Conv", ["a", "w0"], ["b"]),
             node("Crop", ["b"], ["c"], border=[1, 0, 2, 1]),
             node("ParametricSoftplus", ["c"], ["d"], alpha=1.0, beta=1.0),
             node("Conv", ["d", "w1"], ["e"]), node("ScaledTanh", ["e"], ["f"], alpha=1.0, beta=2.0),
             node("DynamicSlice", ["f", "starts", "ends"], ["g"]), node("Affine", ["g"], ["h"], alpha=2.0, beta=1.0),
             node("Conv", ["h", "w2"], ["i"]), node("Scale", ["i"], ["y"], scale=2.0)]
    constants = [numpy_helper.from_array(np.array([0, 0, 1, 1]), "starts"),
                 numpy_helper.from_array(np.array([9, 9, -1, 9]), "ends")]
    weights = [weight("w0", 4, 3, 3, 3), weight("w1", 4, 4, 3, 3), weight("w2", 4, 4, 3, 3)]
    return model(nodes, [info("x", FLOAT, [1, 3, 20, 20])], [onnx.ValueInfoProto(name="y")], weights + constants, 9)


def test_old_operators(work):
    path, out = work / "old.onnx", work / "old"
    onnx.save(old_operators(), path)
    for devices, planner in (("2xa100", "auto-place"), ("4xa100", "dp-place")):
        r = pcc(path, "-d", devices, "--link", "25GB/s,0us", "-p", planner, "-o", out)
        if not check(r.returncode == 0 and "not known" not in r.stderr, f"old operators: {r.stderr}"):
            continue
        code, said = verified_once(path, out, "--quiet")
        check(code == 0, f"old operators, {devices}: {said[-300:]}")


# ---- 2. what must not cross

def foreign(op, ins, outs):
    return node(op, ins, outs, domain="my")


def untyped():
    """name -> (model, values that no part could declare)."""
    x, y = info("x", FLOAT, [4]), info("y", FLOAT, [4])
    ends = [node("Exp", ["x"], ["a"]), foreign("Foo", ["a"], ["f"])], [foreign("Foo", ["h"], ["i"]), node("Exp", ["i"],
                                                                                                    ["y"])]
    bare = info("f", FLOAT, [4])
    bare.type.tensor_type.ClearField("elem_type")
    yield "plain", model(ends[0] + [foreign("Foo", ["f"], ["h"])] + ends[1], [x], [y]), ["f", "h"]
    yield "no element type", model(ends[0] + [foreign("Foo", ["f"], ["h"])] + ends[1], [x], [y], infos=[bare]), \
        ["f", "h"]
    yield "sequence", model(ends[0] + [node("SequenceConstruct", ["f", "f"], ["s"]), foreign("Foo", ["s"], ["h"])]
                            + ends[1], [x], [y]), ["f", "s", "h"]
    yield "optional", model(ends[0] + [node("Optional", ["f"], ["o"]), foreign("Foo", ["o"], ["h"])] + ends[1],
                            [x], [y]), ["f", "o", "h"]


def test_untyped(work):
    for name, m, values in untyped():
        path, out = work / "untyped.onnx", work / "untyped"
        onnx.save(m, path)
        for planner in ("auto-place", "dp-place"):
            r = pcc(path, "-d", "2xa100", "-p", planner, "-o", out)
            if not check(r.returncode == 0, f"untyped, {name}, {planner}: {r.stderr}"):
                continue
            crossing = [t["name"] for t in json.loads((out / "manifest.json").read_text())["tensors"]]
            check(not set(crossing) & set(values), f"untyped, {name}, {planner}: {crossing} cross")
            check(len(list(out.glob("part*.onnx"))) == 2, f"untyped, {name}, {planner}: not spread")
        text = work / "untyped.pir"
        pcc(path, "-q", "-o", text)
        check(pcc(text, "--emit", "ir").returncode == 0, f"untyped, {name}: its text is not read back")


# ---- 3. against the schemas

HISTORY = {}
for s in [*ort.get_all_operator_schema(), *onnx.defs.get_all_schemas_with_history()]:
    HISTORY.setdefault((s.domain, s.name), {})[s.since_version] = s


def schema_of(n, version):
    """(letters of operands, of results, allowed types) as the schema has them; lists at full length."""
    versions = HISTORY.get((n.domain, n.op_type), {})
    since = max((v for v in versions if v <= version), default=None)
    if since is None:
        return None
    s = versions[since]
    allowed = {t.type_param_str: list(t.allowed_type_strs) for t in s.type_constraints}

    def letters(formals, actual, side):
        found = []
        for i, _ in enumerate(actual):
            p = formals[min(i, len(formals) - 1)]
            mixed = not (p.is_homogeneous if hasattr(p, "is_homogeneous") else p.isHomogeneous)
            kind = getattr(p, "type_str", None) or p.typeStr
            found.append(f"#{side}{i}" if mixed else kind)
        return found
    return letters(s.inputs, n.input, "in"), letters(s.outputs, n.output, "out"), allowed


ONNX_TYPES = {"tensor(float)": "f32", "tensor(double)": "f64", "tensor(int64)": "i64", "tensor(int32)": "i32",
              "tensor(bool)": "bool", "tensor(uint8)": "u8", "tensor(int8)": "i8", "tensor(string)": "str",
              "tensor(float16)": "f16"}


def closure(m, known, version=None):
    """known, name -> element type, with all that follows from schemas; again and again until nothing does."""
    known = dict(known)
    version = version or next(o.version for o in m.opset_import if o.domain in ("", "ai.onnx"))
    while True:
        before = len(known)
        for n in m.graph.node:
            found = schema_of(n, version)
            if found is None:
                continue
            ins, outs, allowed = found
            pairs = [(k, v) for k, v in zip(ins + outs, [*n.input, *n.output]) if v]
            types = {k: known[v] for k, v in pairs if v in known}
            for k, v in pairs:
                options = allowed.get(k, [k])
                if k in types:
                    known.setdefault(v, types[k])
                elif len(options) == 1 and options[0] in ONNX_TYPES:
                    known.setdefault(v, ONNX_TYPES[options[0]])
        if len(known) == before:
            return known


def truth(m):
    """name -> element type of every value, by onnx."""
    done = onnx.shape_inference.infer_shapes(m, strict_mode=True, data_prop=True).graph
    found = {i.name: ELEMS[i.type.tensor_type.elem_type] for i in [*done.value_info, *done.output, *done.input]}
    return found | {i.name: ELEMS[i.data_type] for i in done.initializer}


def estranged(m, rng, share):
    """m, some of whose operators belong to a foreign domain; nothing is said of inner values."""
    m = onnx.ModelProto.FromString(m.SerializeToString())
    for n in m.graph.node:
        if rng.random() < share:
            n.domain, n.op_type = "my", n.op_type + "X"
    if not any(o.domain == "my" for o in m.opset_import):
        m.opset_import.append(opset("my", 1))
    del m.graph.value_info[:]
    for o in m.graph.output:
        o.ClearField("type")
    return m


def given(m, true):
    """What is known before any schema is asked: inputs, weights, and results whose type an attribute tells."""
    told = {"Cast", "Constant", "ConstantOfShape", "Shape"}
    return {v: true[v] for v in [i.name for i in m.graph.input] + [i.name for i in m.graph.initializer]
            + [o for n in m.graph.node if n.op_type in told and not n.domain for o in n.output]}


def random_model(rng):
    """Nodes over values of several element types, all of shape [4]."""
    values = {FLOAT: ["x"], TensorProto.FLOAT16: ["h"], INT64: ["i"], TensorProto.BOOL: ["b"],
              TensorProto.UINT8: []}
    nodes = []

    def some(kind):
        return rng.choice(values[kind])

    def add(op, ins, kind, **attributes):
        out = f"v{len(nodes)}"
        nodes.append(node(op, ins, [out], name=out, **attributes))
        values[kind].append(out)
    for _ in range(rng.randint(10, 60)):
        kind = rng.choice([FLOAT, FLOAT, TensorProto.FLOAT16, INT64])
        what = rng.randint(0, 8)
        if what == 0:
            to = rng.choice([FLOAT, TensorProto.FLOAT16, INT64])
            add("Cast", [some(kind)], to, to=to)
        elif what == 1:
            add("Less", [some(kind), some(kind)], TensorProto.BOOL)
        elif what == 2:
            add("Where", [some(TensorProto.BOOL), some(kind), some(kind)], kind)
        elif what == 3:
            add("Sum" if kind != INT64 else "Max", [some(kind) for _ in range(rng.randint(1, 4))], kind)
        elif what == 4:
            add("QuantizeLinear", [some(FLOAT), "scale"], TensorProto.UINT8)
            add("DequantizeLinear", [some(TensorProto.UINT8), "scale"], FLOAT)
        elif what == 5:
            other = rng.choice([FLOAT, TensorProto.FLOAT16, INT64])
            add("CastLike", [some(kind), some(other)], other)
        elif what == 6:
            add("And", [some(TensorProto.BOOL), some(TensorProto.BOOL)], TensorProto.BOOL)
        elif what == 7:
            add("Gather", [some(kind), "index"], kind)
        else:
            add(rng.choice(["Neg", "Abs"]), [some(kind)], kind)
    ins = [info("x", FLOAT, [4]), info("h", TensorProto.FLOAT16, [4]), info("i", INT64, [4]),
           info("b", TensorProto.BOOL, [4])]
    outs = [onnx.ValueInfoProto(name=v[-1]) for v in values.values() if v and v[-1][0] == "v"]
    return model(nodes, ins, outs, [numpy_helper.from_array(np.float32(1), "scale"),
                                    numpy_helper.from_array(np.array([0, 1, 2, 3]), "index")])


def compare(work, what, m, rng, share):
    """(known, values): pcc's element types of m with foreign operators, against the two ways of knowing."""
    path = work / "foreign.onnx"
    true = truth(m)
    m = estranged(m, rng, share)
    onnx.save(m, path)
    got, log = inferred(str(path))
    if not check(got is not None, f"{what}: {log}"):
        return 0, 0
    expected = closure(m, given(m, true))
    for name, (elem, _) in got.items():
        check(elem in (None, "none", true[name]), f"{what}: '{name}' is {true[name]}, inferred {elem}")
        check(elem == expected.get(name, elem), f"{what}: '{name}' must be {expected.get(name)}, inferred {elem}")
    return sum(e not in (None, "none") for e, _ in got.values()), len(got)


def arity(formals):
    """Operands or results to give: lists have three."""
    many = bool(formals) and "variadic" in str(formals[-1].option).lower()
    return len(formals) + 2 * many


def one_by_one(domain, version):
    """Nodes of all operators that a domain has new in this version, each again and again: one operand is an input
    of the model of some type that is allowed, the others are results of a foreign operator."""
    nodes, ins = [], []
    for (_, op), versions in sorted((k, v) for k, v in HISTORY.items() if k[0] == domain):
        s = versions.get(version)
        if s is None or any("graph" in str(a.type).lower() for a in s.attributes.values()):
            continue
        allowed = {t.type_param_str: list(t.allowed_type_strs) for t in s.type_constraints}
        for i in range(arity(s.inputs)):
            p = s.inputs[min(i, len(s.inputs) - 1)]
            kind = getattr(p, "type_str", None) or p.typeStr
            types = [k for k in allowed.get(kind, [kind]) if k in ONNX_TYPES]
            for k in types[:1] + types[-1:]:
                at = len(nodes)
                values = [f"a{at}_{j}" for j in range(arity(s.inputs))]
                nodes.append(foreign("Foo", ["x"], values[:i] + values[i + 1:]))
                ins.append(info(values[i], ELEMS.index(ONNX_TYPES[k]), None))
                nodes.append(node(op, values, [f"r{at}_{j}" for j in range(arity(s.outputs))], domain=domain))
    outs = [onnx.ValueInfoProto(name=o) for n in nodes for o in n.output]
    opsets = [opset("", version if not domain else 17), opset("my", 1), opset(domain or "other", version)]
    graph = helper.make_graph(nodes, "g", [info("x", FLOAT, [4]), *ins], outs)
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def test_each_schema(work):
    known = 0
    for domain in ("", "ai.onnx.ml", "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"):
        for version in sorted({v for k, vs in HISTORY.items() if k[0] == domain for v in vs}):
            m, path = one_by_one(domain, version), work / "each.onnx"
            onnx.save(m, path)
            got, log = inferred(str(path))
            if not check(got is not None, f"{domain} {version}: {log}"):
                continue
            ops = {o: n.op_type for n in m.graph.node for o in n.output}
            readers = {i: n.op_type for n in m.graph.node for i in n.input}
            start = {i.name: ELEMS[i.type.tensor_type.elem_type] for i in m.graph.input}
            for name, elem in closure(m, start, version).items():
                if name in got:
                    known += 1
                    check(got[name][0] == elem, f"{domain} {version}: '{name}' of {ops[name]}, read by "
                                                f"{readers.get(name)}, must be {elem}, inferred {got[name][0]}")
    print(f"{known} operands and results of single operators")
    check(known > 2000, "too few operands are known")


def test_against_schemas(work):
    counts = []
    for seed in range(40):
        rng = random.Random(seed)
        counts.append(compare(work, f"random model {seed}", random_model(rng), rng, (0.1, 0.3, 0.6)[seed % 3]))
    for shape in ("gpt --layers 2 --width 32 --heads 2", "llama --layers 2 --width 32 --heads 2 --kv-heads 2", "resnet",
                  "unet --width 32"):
        path = work / "whole.onnx"
        r = subprocess.run([GEN, *shape.split(), "-o", path], capture_output=True, text=True)
        if check(r.returncode == 0, f"pcc-gen {shape}: {r.stderr}"):
            counts.append(compare(work, shape, onnx.load(path), random.Random(shape), 0.1))
    known, values = (sum(c[i] for c in counts) for i in (0, 1))
    print(f"{known} of {values} values behind and among foreign operators have an element type")
    check(known > values // 2 > 500, "too few values are known")


# ---- 4. the table

def test_table(work):
    pinned = dict(line.split("==") for line in (SOURCE / "tools/requirements.txt").read_text().split() if "==" in line)
    if any(metadata.version(name) != pinned[name] for name in ("onnx", "onnxruntime")):
        print("the table is not compared: onnx and onnxruntime are not those of tools/requirements.txt")
        return
    r = subprocess.run([sys.executable, SOURCE / "tools/type_table.py", "--check"], capture_output=True, text=True)
    check(r.returncode == 0, f"the table: {r.stdout}{r.stderr}")
    for folder in ("tools", "passes/shapes"):
        (work / folder).mkdir(parents=True)
    shutil.copy(SOURCE / "tools/type_table.py", work / "tools")
    text = (SOURCE / "passes/shapes/type_table.c").read_text()
    (work / "passes/shapes/type_table.c").write_text(text.replace('{"Where", 9, "bTT:T"}', '{"Where", 9, "bTU:T"}'))
    r = subprocess.run([sys.executable, work / "tools/type_table.py", "--check"], capture_output=True, text=True)
    check(r.returncode == 1, "a wrong row of the table is not noticed")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for test in (test_chain, test_old_operators, test_untyped, test_each_schema, test_against_schemas, test_table):
            test(Path(folder))
    print(f"{len(FAILED)} failures")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
