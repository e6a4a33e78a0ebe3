"""split-batch against ONNX Runtime.

1. Single operators (batch_cases.py): every row of the table of rules, with the batch at several axes, in several
opsets,
   beside broadcast operands: what is taken computes the same for two sizes of the batch in 2 and 4 ways; what mixes
   samples is refused, naming the node.  Every operator of the table has a case.
2. Models that pcc-gen makes, and those of PCC_SHARED (extra `shared`; PCC_ALL=1: in 4 ways, too): 1e-5 of the largest
   value of the original.  How many are equal bit by bit, and which models are refused and why, is printed.
3. The operator examples of the onnx package, each with a batch planted at every axis of its operands: whatever
   split-batch takes computes the same (PCC_ALL=1: all, else a sample).
4. Errors, options, and what is written: names, shared weights, one share of the samples for each copy, plans of two
   devices whose parts compute the same bits.
Needs onnx, numpy, onnxruntime (else 77)."""

# extras: shared
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from sanitized import SANITIZED
from with_ort import GEN, PCC, SOURCE, check, verified_once
import batch_cases
import checks
import extras
import operator_examples
import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")
ALL = os.environ.get("PCC_ALL") == "1"
SEED = int(os.environ.get("PCC_SEED", "5"))
FEWER = 4 if SANITIZED else 1  # with sanitizers nothing is run: models and splits are those of other builds
F = onnx.TensorProto.FLOAT
LARGEST = 1e-5  # of the largest value of the original


def run(*args):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True)
    return r.returncode, r.stderr


def split(path, out, ways, *more, batch=""):
    option = f":batch={batch}" if batch else ""
    return run(path, "-q", "-p", f"split-batch{{ways={ways}{option}}}", "-o", out, *more)


def session(path):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def outputs(path, inputs, by=True):
    """What the model computes, in ONNX Runtime or by the reference of the onnx package ("onnx"); None: it is not
    run."""
    try:
        if by == "onnx":
            return ReferenceEvaluator(str(path)).run(None, inputs)
        s = session(path)
        names = {i.name for i in s.get_inputs()}
        return s.run(None, {k: v for k, v in inputs.items() if k in names})
    except Exception as why:  # of many types, without a common base
        outputs.why = str(why)[:300]
        return None


def differ(want, got):
    """None if all are within LARGEST; else what differs.  The second result: whether all bits are equal."""
    same = True
    for a, b in zip(want, got):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{b.dtype} {b.shape}, expected {a.dtype} {a.shape}", False
        if a.dtype.kind not in "fc":
            if not np.array_equal(a, b):
                return "integers differ", False
            continue
        same = same and a.tobytes() == b.tobytes()
        wide = np.longdouble if a.dtype.kind == "f" else np.clongdouble
        a, b = a.astype(wide), b.astype(wide)
        if not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return "infinite in other places", False
        finite = np.isfinite(a)
        most = np.abs(a[finite]).max(initial=0)
        far = np.abs(a[finite] - b[finite]).max(initial=0)
        if far > LARGEST * most:
            return f"off by {float(far):.3g}, the largest value is {float(most):.3g}", False
    return None, same


# ---- 1. single operators


def table():
    """(domain, operator) -> whether it is refused, of the table of rules."""
    text = (SOURCE / "passes/rewrite/batch_rules.c").read_text()
    rows = {}
    for name, domain in (("onnx", ""), ("ml", batch_cases.ML), ("ms", batch_cases.MS)):
        body = re.search(rf"{name}_rule\[\] = {{(.*?)^}};", text, re.S | re.M)[1]
        for op, rule in re.findall(r'\{"(\w+)",\s*(\w+),', body):
            rows[domain, op] = rule == "refuse"
    return rows


def refusal(code, said, pattern, node="node"):
    return code == 1 and re.search(pattern or ".", said) and f"split-batch: node '{node}'" in said


def try_case(case, folder, ways, seen):
    path, out = folder / "case.onnx", folder / "out.onnx"
    for size in case.sizes:
        path.write_bytes(case.model(size).SerializeToString())
        ops = {(n.domain, n.op_type) for n in onnx.load(path).graph.node}
        out.unlink(missing_ok=True)
        code, said = split(path, out, ways, batch="" if case.static else "b")
        if case.good is not True:
            named = re.search(r"node '(\w+)'", said) if case.nodes is not None else None
            good = refusal(code, said, case.good, named[1] if named else "node")
            check(good and not out.exists(), f"{case}: expected /{case.good}/, got {code} {said}")
            seen.update((op, False) for op in ops)
            return
        if not check(code == 0, f"{case}: {code} {said}"):
            return
        seen.update((op, True) for op in ops)
        if SANITIZED:
            continue
        inputs = case.inputs({"b": size, "s": 3, "n": 1}, np.random.default_rng(size))
        want, got = outputs(path, inputs, case.run), outputs(out, inputs, case.run)
        if check(want is not None and got is not None, f"{case}: not run: {getattr(outputs, 'why', '')}"):
            wrong, _ = differ(want, got)
            check(wrong is None, f"{case}: {ways} ways, batch {size}: {wrong}")


def single_operators(folder):
    seen, cases = set(), list(batch_cases.all_cases())
    for k, case in enumerate(cases):
        if k % FEWER:
            continue
        for ways in case.ways if ALL else case.ways[k % len(case.ways) :][:1]:
            try_case(case, folder, ways, seen)
    for op, refuses in table().items() if FEWER == 1 else ():
        check((op, not refuses) in seen, f"{op}: no case")
    print(f"{len(cases)} cases of {len(table())} operators")


# ---- 2. models

# What pcc-gen makes: options, and the reason and node of a refusal.  Static ones have the batch as a number.
GENERATED = {
    "gpt": ("--layers 2 --width 32 --heads 4 --vocab 60", None),
    "gpt --kv": ("--layers 2 --width 32 --heads 4 --vocab 60", None),
    "bert": ("--layers 2 --width 32 --heads 4 --vocab 60", None),
    "llama": ("--layers 1 --width 64 --heads 4 --kv-heads 2 --vocab 60", None),
    "llama --kv": ("--layers 1 --width 64 --heads 4 --kv-heads 2 --vocab 60", None),
    "moe": ("--layers 1 --width 32 --heads 4 --vocab 60", None),
    "unet": ("--layers 1 --width 16", None),
    "dlrm": ("--layers 2 --tables 3 --width 8", None),
    "encoder-decoder": ("--layers 1 --width 32 --heads 4 --vocab 60", None),
    "resnet": ("--width 8", None),
    "inception": ("--blocks 2 --width 8", None),
    "dense": ("--layers 2 --width 16", None),
    "train": ("--layers 1 --width 16 --heads 2 --vocab 30", r"ReduceSum\): it reduces all axes"),
    "detector": ("--layers 1 --levels 2 --classes 2", "2 ways do not divide the batch of 1"),
}


def batch_of(model):
    """The batch as split-batch finds it: a name or a number, None."""
    firsts = [i.type.tensor_type.shape.dim[0] for i in callers(model) if i.type.tensor_type.shape.dim]
    names = {d.dim_param for d in firsts if d.dim_param}
    numbers = {d.dim_value for d in firsts if not d.dim_param} - {1} or {1}
    return next(iter(names or numbers)) if firsts and len(names or numbers) == 1 else None


def callers(model):
    """The inputs that are no initializers."""
    weights = {t.name for t in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in weights]


def is_batch(dim, batch):
    return dim.dim_param == batch if isinstance(batch, str) else dim.dim_value == batch


def drawn(model, batch, size, rng):
    """Random inputs: small sizes for all names, small numbers for integers."""
    inputs = {}
    for i in callers(model):
        kind = helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
        dims = i.type.tensor_type.shape.dim
        shape = [size if is_batch(d, batch) else d.dim_value or SIZES.get(d.dim_param, 5) for d in dims]
        if kind.kind == "f":
            inputs[i.name] = rng.standard_normal(shape).astype(kind)
        else:
            inputs[i.name] = rng.integers(1 if "mask" in i.name else 0, 2, shape).astype(kind)
    return inputs


SIZES = {"total_sequence": 10, "total_sequence_length": 10}


def recorded(model, folder, batch, size):
    """Inputs that come with a model, repeated along the batch, each sample shifted along the axis behind it."""
    inputs = {}
    for k, i in enumerate(model.graph.input):
        path = folder / f"input_{k}.pb"
        if not path.exists():
            continue
        a = numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))
        axes = [n for n, d in enumerate(i.type.tensor_type.shape.dim) if is_batch(d, batch)]
        if axes and isinstance(batch, str):
            n, behind = axes[0], axes[0] + 1
            rows = np.split(a, a.shape[n], n)
            shifted = [
                np.roll(rows[s % len(rows)], s // len(rows), behind if behind < a.ndim else None) for s in range(size)
            ]
            a = np.concatenate(shifted, n)
        inputs[i.name] = a
    return inputs


class Tally:
    """What became of the models."""

    def __init__(self):
        self.equal, self.near, self.refused, self.not_run = [], [], [], []

    def print(self):
        print(f"{len(self.equal)} splits equal bit by bit: {' '.join(self.equal)}")
        print(f"{len(self.near)} within {LARGEST}: {' '.join(self.near)}")
        print(f"{len(self.not_run)} not run by ONNX Runtime: {' '.join(self.not_run)}")
        for name, why in self.refused:
            print(f"refused: {name}: {why}")


def valid(path):
    try:
        onnx.checker.check_model(str(path))
    except onnx.checker.ValidationError:
        return False
    return True


def try_model(path, name, folder, tally, sizes_of, ways_of=(2, 4), pattern=None):
    """Splits a model, and compares what it computes at two sizes of the batch."""
    model = onnx.load(path, load_external_data=False)
    batch = batch_of(model)
    for ways in ways_of:
        out = path.parent / f"{path.stem}.split.onnx" if path.parent == folder else folder / "out.onnx"
        code, said = split(path, out, ways)
        if code != 0:
            named = re.search(r"split-batch: (node '([^']+)'|no common batch|\d+ ways do not|state|input|axis)", said)
            check(
                code == 1 and named is not None and (pattern is None or re.search(pattern, said)),
                f"{name}: {code} {said}",
            )
            if named is not None and named[2] is not None:
                known = {n.name for n in model.graph.node} | {
                    f"{n.op_type}_{k}" for k, n in enumerate(model.graph.node)
                }
                check(named[2] in known, f"{name}: there is no node {named[2]}")
            tally.refused.append((name, re.sub(r"^.*?split-batch: ", "", said.strip().split("\n")[0])))
            return
        check(pattern is None, f"{name}: expected /{pattern}/")
        check(SANITIZED or valid(out) or not valid(path), f"{name}: the split does not pass onnx's checker")
        for size in () if SANITIZED else (ways, 2 * ways) if isinstance(batch, str) else (batch,):
            inputs = sizes_of(model, batch, size)
            want = outputs(path, inputs)
            if want is None:
                tally.not_run.append(name)
                continue
            got = outputs(out, inputs)
            if check(
                got is not None,
                f"{name}: {ways} ways, batch {size}: the split is not run: {getattr(outputs, 'why', '')}",
            ):
                wrong, same = differ(want, got)
                check(wrong is None, f"{name}: {ways} ways, batch {size}: {wrong}")
                (tally.equal if same else tally.near).append(f"{name}/{ways}/{size}")


def generated(folder):
    tally = Tally()
    for shape, (options, pattern) in GENERATED.items():
        path = folder / f"{shape.replace(' ', '')}.onnx"
        more = "" if shape in ("unet", "resnet", "inception", "detector", "dlrm", "dense") else ""
        r = subprocess.run(
            [GEN, *shape.split(), "-o", str(path), *options.split(), *more.split()], capture_output=True, text=True
        )
        if check(r.returncode == 0, f"pcc-gen {shape}: {r.stderr}"):
            rng = np.random.default_rng(len(shape))
            try_model(
                path,
                shape,
                folder,
                tally,
                lambda m, b, s, rng=rng: drawn(m, b, s, rng),
                (2, 4) if ALL else (2,),
                pattern,
            )
    tally.print()


def shared_models():
    tally, models = Tally(), extras.shared("models")
    with tempfile.TemporaryDirectory() as tmp:
        found = sorted(models.glob("*.onnx")) + sorted(models.glob("exported/tiny/*.onnx"))
        for path in found[::FEWER]:
            if path.name in ("icm-31000000518082.onnx", "test_arbitrary_external_file.onnx"):
                continue  # which nobody reads
            data = path.parent / f"{path.stem}.inputs/test_data_set_0"
            rng = np.random.default_rng(1)

            def sizes_of(model, batch, size, data=data, rng=rng):
                return recorded(model, data, batch, size) if data.exists() else drawn(model, batch, size, rng)

            try_model(path, path.stem, Path(tmp), tally, sizes_of, (2, 4) if ALL else (2,))
    tally.print()
    return checks.finish()


# ---- 3. the operator examples of the onnx package


def planted(example, choice, axis):
    """The example's model with the batch as `axis` of the operands in `choice`, whose sizes are doubled; small integers
    are constants.  None: there is no such axis, or too large a tensor."""
    model = onnx.ModelProto()
    model.CopyFrom(example.model)
    arrays = [np.asarray(a) if isinstance(a, (np.generic, np.ndarray)) else None for a in example.data_sets[0][0]]
    if any(a is None or a.size > 100_000 or a.dtype.kind in "OSU" for a in arrays):
        return None, None
    inputs, fixed = {}, []
    for k, (info, a) in enumerate(zip(model.graph.input, arrays)):
        if k in choice:
            if axis >= min(a.ndim, len(info.type.tensor_type.shape.dim)):
                return None, None
            info.type.tensor_type.shape.dim[axis].dim_param = "batch"
            inputs[info.name] = np.concatenate([a, np.flip(a, axis)], axis)
        elif a.size <= 64 and (a.dtype.kind in "iub" or info.name == "scales"):
            fixed.append(info)
            model.graph.initializer.append(numpy_helper.from_array(a, info.name))
        else:
            inputs[info.name] = a
    for info in fixed:
        model.graph.input.remove(info)
    for out in model.graph.output:
        if out.type.HasField("tensor_type"):
            out.type.tensor_type.ClearField("shape")
    return model, inputs


def choices(example):
    """Which operands have the batch together: each alone, and those of one size at an axis."""
    shapes = [np.asarray(a).shape if isinstance(a, (np.generic, np.ndarray)) else () for a in example.data_sets[0][0]]
    found = set()
    for k, shape in enumerate(shapes):
        for axis, size in enumerate(shape):
            found.add(((k,), axis))
            found.add((tuple(i for i, t in enumerate(shapes) if axis < len(t) and t[axis] == size), axis))
    return sorted(found)


def examples(folder):
    taken = refused = 0
    for n, example in enumerate(operator_examples.examples()):
        if example.model is None or not example.data_sets or (not ALL and n % (13 * FEWER) != SEED % 13):
            continue
        for choice, axis in choices(example):
            model, inputs = planted(example, choice, axis)
            if model is None:
                continue
            path, out = folder / "example.onnx", folder / "out.onnx"
            path.write_bytes(model.SerializeToString())
            code, said = split(path, out, 2, batch="batch")
            if code != 0:
                check(code == 1 and "split-batch" in said, f"{example.name} {choice} {axis}: {code} {said}")
                refused += 1
                continue
            if SANITIZED:
                taken += 1
                continue
            want = outputs(path, inputs)
            if want is None or any(isinstance(v, (list, dict)) or v is None for v in want):
                continue
            got = outputs(out, inputs)
            if check(got is not None, f"{example.name} {choice} {axis}: not run: {getattr(outputs, 'why', '')}"):
                wrong, _ = differ(want, got)
                check(wrong is None, f"{example.name} {choice} {axis}: {wrong}")
                taken += 1
    print(f"examples: {taken} compute the same, {refused} refused")


# ---- 4. what is written, and what is not


def small(nodes, inputs, outs, inits=(), opset=20, **more):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(n, k, s) for n, k, s in inputs],
        [helper.make_tensor_value_info(o, F, None) for o in outs],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in inits],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("f", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, **more)


def compared(model, folder, what, inputs, ways=2, runs=True, passes=""):
    """The split of a small model, which computes the same."""
    path, out = folder / "small.onnx", folder / "small.split.onnx"
    path.write_bytes(model.SerializeToString())
    code, said = run(path, "-q", "-p", f"{passes}split-batch{{ways={ways}}}", "-o", out)
    if not check(code == 0, f"{what}: {code} {said}"):
        return None
    if runs and not SANITIZED:
        want, got = outputs(path, inputs), outputs(out, inputs)
        if check(want is not None and got is not None, f"{what}: {getattr(outputs, 'why', '')}"):
            wrong, _ = differ(want, got)
            check(wrong is None, f"{what}: {wrong}")
    return onnx.load(out)


X = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)


def names_and_weights(folder):
    weight = np.ones((3, 3), np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="first"),
        helper.make_node("Neg", ["w"], ["v"], name="of weights"),
        helper.make_node("MatMul", ["h", "v"], ["y"], name="second"),
        helper.make_node("Abs", ["h"], ["h@1"], name="first@0"),
        helper.make_node("Identity", ["v"], ["z"], name="weights out"),
    ]
    m = compared(small(nodes, [("x", F, ["n", 3])], ["y", "h@1", "z", "x"], [("w", weight)]), folder, "names", {"x": X})
    if m is None:
        return
    made = [n.name for n in m.graph.node]
    check(
        {"first@1", "first@0_1", "second@0", "second@1", "first@0@0", "first@0@1", "of weights", "x.split", "y.join"}
        <= set(made)
        and len(made) == len(set(made))
        and "second" not in made,
        f"names: {made}",
    )
    check(
        [i.name for i in m.graph.input] == ["x"] and [o.name for o in m.graph.output] == ["y", "h@1", "z", "x"],
        "inputs, outputs",
    )
    check([t.name for t in m.graph.initializer if t.data_type == F] == ["w"], "the weight is there once")
    check(sum(n.op_type == "Neg" for n in m.graph.node) == 1, "what stands on weights alone is computed once")
    for n in m.graph.node:
        ways = {name[-1] for name in n.input if re.search("@[01]$", name) and name != "h@1"}
        check(n.op_type == "Concat" or len(ways) < 2, f"{n.name} reads {list(n.input)}")


def odd_graphs(folder):
    """Outputs that do not depend on the batch, nodes that stay, names that stand for several things."""
    less = small(
        [helper.make_node("Relu", ["x"], ["y"], name="r"), helper.make_node("Neg", ["s"], ["z"], name="n")],
        [("x", F, ["n", 3]), ("s", F, [])],
        ["y", "z", "y"],
    )
    less.graph.output.pop()
    compared(less, folder, "an output without the batch", {"x": X, "s": np.asarray(2, np.float32)})
    branch = [
        helper.make_graph(
            [helper.make_node(op, ["t"], ["o"], name=op)], op, [], [helper.make_tensor_value_info("o", F, None)]
        )
        for op in ("Neg", "Exp")
    ]
    cond = [
        helper.make_node("Abs", ["s"], ["t"], name="a"),
        helper.make_node("Cast", ["t"], ["c"], to=9, name="k"),
        helper.make_node("If", ["c"], ["u"], then_branch=branch[0], else_branch=branch[1], name="if"),
        helper.make_node("Mul", ["x", "u"], ["y"], name="m"),
        helper.make_node("Add", ["x", "t"], ["z"], name="p"),
    ]
    m = compared(
        small(cond, [("x", F, ["n", 3]), ("s", F, [])], ["y", "z", "t"]),
        folder,
        "an If beside the batch",
        {"x": X, "s": np.asarray(2, np.float32)},
    )
    check(
        m is None or sum(n.op_type == "If" for n in m.graph.node) == 1, "an If that does not depend on the batch stays"
    )
    unknown = [
        helper.make_node("Odd", ["s"], ["u"], name="odd", domain="f"),
        helper.make_node("Mul", ["x", "u"], ["y"], name="m"),
    ]
    odd = small(unknown, [("x", F, ["n", 3]), ("s", F, [])], ["y"])
    odd.graph.value_info.append(helper.make_tensor_value_info("u", F, []))
    m = compared(odd, folder, "an unknown operator beside it", {}, runs=False)
    check(m is None or [n.name for n in m.graph.node if n.op_type == "Odd"] == ["odd"], "an unknown operator stays")
    dead = [helper.make_node("NonZero", ["x"], ["u"], name="dead"), helper.make_node("Relu", ["x"], ["y"], name="r")]
    m = compared(small(dead, [("x", F, ["n", 3])], ["y"]), folder, "a node that nothing needs", {"x": X})
    check(m is None or all(n.op_type != "NonZero" for n in m.graph.node), "what nothing needs goes")
    twice = helper.make_function(
        "f", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 20)]
    )
    call = small(
        [helper.make_node("Twice", ["x"], ["y"], domain="f", name="call")],
        [("x", F, ["n", 3])],
        ["y"],
        functions=[twice],
    )
    compared(call, folder, "a call that was opened", {"x": X}, passes="inline-functions,")
    path = folder / "call.onnx"
    path.write_bytes(call.SerializeToString())
    code, said = split(path, folder / "no.onnx", 2)
    check(refusal(code, said, "inline-functions first", "call"), f"a call: {code} {said}")
    sizes = [
        helper.make_node("Shape", ["x"], ["s"], name="shape"),
        helper.make_node("Unsqueeze", ["s", "axis"], ["rows"], name="rows"),
        helper.make_node("Gather", ["rows", "first"], ["all"], axis=0, name="node"),
        helper.make_node("Expand", ["one", "all"], ["y"], name="e"),
    ]
    inits = [("axis", [0]), ("first", 0), ("one", np.ones((1, 1), np.float32))]
    flat = helper.make_node("Flatten", ["x"], ["y"], axis=-5, name="node")
    for nodes, names, more, why in (
        (sizes, [3, "n"], inits, "not in proportion"),  # a row of sizes, not the first size
        ([flat], ["n", 3], [], "its axis is not known"),
    ):
        path.write_bytes(small(nodes, [("x", F, names)], ["y"], more).SerializeToString())
        code, said = split(path, folder / "no.onnx", 2, batch="n")
        check(refusal(code, said, why), f"{nodes[-1].op_type}: {code} {said}")


def batches_that_do_not_divide(folder):
    """Sizes that the ways do not divide end in ONNX Runtime's Split; sizes that are not N times those of the first
    input, too."""
    for opset in (11, 13, 18, 20):
        nodes = [helper.make_node("Relu", ["x"], ["a"], name="r"), helper.make_node("Add", ["a", "z"], ["y"], name="s")]
        m = compared(
            small(nodes, [("x", F, ["n", 3]), ("z", F, ["n", 1])], ["y"], opset=opset),
            folder,
            f"opset {opset}",
            {"x": X, "z": X[:, :1]},
        )
        for x, z in () if SANITIZED else ((np.resize(X, (5, 3)), X[:1]), (X[:1], X[:1]), (X, X[:3, :1])):
            z = np.resize(z, (len(x), 1)) if len(z) == 1 else z
            got = outputs(folder / "small.split.onnx", {"x": x, "z": z})
            check(got is None and "split" in outputs.why.lower(), f"opset {opset}: {len(x)} samples in 2 ways: {got}")


def unchanged(folder):
    path, out, copy = (folder / f"{n}.onnx" for n in ("one", "out", "copy"))
    path.write_bytes(
        small(
            [helper.make_node("Compress", ["x", "x"], ["y"], name="nz")], [("x", F, ["n", 3])], ["y"]
        ).SerializeToString()
    )
    check(split(path, out, 1)[0] == 0 and run(path, "-q", "-o", copy)[0] == 0, "one way")
    check(out.read_bytes() == copy.read_bytes() == path.read_bytes(), "one way changes nothing")
    again = folder / "again.onnx"
    path.write_bytes(
        small([helper.make_node("Relu", ["x"], ["y"], name="r")], [("x", F, ["n", 3])], ["y"]).SerializeToString()
    )
    split(path, out, 3)
    split(path, again, 3)
    check(out.read_bytes() == again.read_bytes(), "the same bytes twice")


def states(folder):
    """Caches of each sample are cut and joined; state without samples is refused by its names."""
    past = [helper.make_node("Concat", ["past_0", "x"], ["present_0"], axis=1, name="c")]
    compared(
        small(past, [("x", F, ["n", 3]), ("past_0", F, ["n", "p"])], ["present_0"]),
        folder,
        "a cache",
        {"x": X, "past_0": X[:, :2]},
    )
    for nodes, dims in (
        (past, [4, "p"]),
        (
            [
                helper.make_node("Relu", ["x"], ["a"], name="r"),
                helper.make_node("Neg", ["past_0"], ["present_0"], name="c"),
            ],
            ["p"],
        ),
    ):
        path = folder / "state.onnx"
        outs = ["present_0"] if len(nodes) == 1 else ["a", "present_0"]
        path.write_bytes(small(nodes, [("x", F, ["n", 3]), ("past_0", F, dims)], outs).SerializeToString())
        code, said = split(path, folder / "no.onnx", 2, batch="n")
        check(code == 1 and "state 'past_0' -> 'present_0'" in said, f"state of {dims}: {code} {said}")
    path.write_bytes(
        small(
            [helper.make_node("Add", ["x", "h"], ["g"], name="a"), helper.make_node("Neg", ["h"], ["i"], name="b")],
            [("x", F, ["n", 3]), ("h", F, [3])],
            ["g", "i"],
        ).SerializeToString()
    )
    code, said = split(path, folder / "no.onnx", 2, "--state", "h=i", batch="n")
    check(code == 1 and "state 'h' -> 'i'" in said, f"--state: {code} {said}")
    check(split(path, folder / "yes.onnx", 2, batch="n")[0] == 0, "the same without state")


def plans(folder):
    """Each copy on its device, or what dp-place finds: the parts compute the same bits."""
    for shape, options in (("gpt", "--layers 2 --width 32 --heads 4 --vocab 60"), ("resnet", "--width 8 --size 32")):
        path, whole = folder / f"{shape}.onnx", folder / f"{shape}.two.onnx"
        subprocess.run([GEN, shape, "-o", str(path), *options.split()], check=True)
        check(split(path, whole, 2)[0] == 0, f"{shape}: split")
        for k, more in enumerate(([], ["--pin=.@0$=acc0", "--pin=.@1$=acc1"])):
            parts = folder / f"{shape}{k}"
            code, said = run(
                path,
                "-q",
                "-p",
                "split-batch{ways=2},dp-place",
                "-d",
                "2xa100",
                *more,
                "--dim",
                "batch=4",
                "-o",
                f"{parts}/",
            )
            if not check(code == 0, f"{shape}: {code} {said}"):
                continue
            for model in (path, whole):
                code, said = verified_once(model, parts)
                check(code == 0 and (SANITIZED or "bit-equal" in said), f"{shape} {model.name} {k}: {said}")


def static(folder):
    """The same models with the batch as a number: shapes in the file hold it, too."""
    tally = Tally()
    for shape in ("gpt", "bert", "unet", "resnet", "encoder-decoder") if ALL else ("gpt", "unet"):
        path = folder / f"{shape}.static.onnx"
        subprocess.run([GEN, shape, "-o", str(path), *GENERATED[shape][0].split()], check=True)
        m = onnx.load(path)
        for v in [*m.graph.input, *m.graph.output, *m.graph.value_info]:
            for d in v.type.tensor_type.shape.dim:
                if "batch" in d.dim_param:
                    d.dim_value = 4 if d.dim_param == "batch" else d.ClearField("dim_param") or 0
        onnx.save(m, path)
        rng = np.random.default_rng(3)
        try_model(path, f"{shape} (batch 4)", folder, tally, lambda m, b, s, rng=rng: drawn(m, b, s, rng), (2, 4))
    tally.print()


def main():
    if extras.extra() == "shared":
        return shared_models()
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        single_operators(folder)
        generated(folder)
        examples(folder)
        for part in (names_and_weights, odd_graphs, batches_that_do_not_divide, unchanged, states, plans, static):
            part(folder)
    return checks.finish()


sys.exit(main())
