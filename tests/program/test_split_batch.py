"""split-batch against ONNX Runtime.

1. Single operators (batch_cases.py): every row of the table of rules, with the batch at several axes, in several opsets,
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
from with_ort import GEN, PCC, SOURCE, check, verified
import batch_cases
import checks
import extras
import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")
ALL = os.environ.get("PCC_ALL") == "1"
SEED = int(os.environ.get("PCC_SEED", "5"))
FEWER = 4 if os.environ.get("PCC_SANITIZED") else 1
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
    """What the model computes, in ONNX Runtime or by the reference of the onnx package ("onnx"); None: it is not run."""
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
        inputs = case.inputs({"b": size, "s": 3, "n": 1}, np.random.default_rng(size))
        want, got = outputs(path, inputs, case.run), outputs(out, inputs, case.run)
        if check(want is not None and got is not None, f"{case}: not run: {getattr(outputs, 'why', '')}"):
            wrong, _ = differ(want, got)
            check(wrong is None, f"{case}: {ways} ways, batch {size}: {wrong}")


def single_operators(folder):
    seen, cases = set(), list(batch_cases.all_cases())
    for k, case in enumerate(cases):
        for ways in case.ways if ALL else case.ways[k % len(case.ways):][:1]:
            try_case(case, folder, ways, seen)
    for op, refuses in table().items():
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
            shifted = [np.roll(rows[s % len(rows)], s // len(rows), behind if behind < a.ndim else None)
                       for s in range(size)]
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


def try_model(path, name, folder, tally, sizes_of, ways_of=(2, 4), pattern=None):
    """Splits a model, and compares what it computes at two sizes of the batch."""
    model = onnx.load(path, load_external_data=False)
    batch = batch_of(model)
    for ways in ways_of:
        out = path.parent / f"{path.stem}.split.onnx" if path.parent == folder else folder / "out.onnx"
        code, said = split(path, out, ways)
        if code != 0:
            named = re.search(r"split-batch: (node '([^']+)'|no common batch|\d+ ways do not|state|input|axis)", said)
            check(code == 1 and named is not None and (pattern is None or re.search(pattern, said)), f"{name}: {code} {said}")
            if named is not None and named[2] is not None:
                known = {n.name for n in model.graph.node} | {f"{n.op_type}_{k}" for k, n in enumerate(model.graph.node)}
                check(named[2] in known, f"{name}: there is no node {named[2]}")
            tally.refused.append((name, re.sub(r"^.*?split-batch: ", "", said.strip().split("\n")[0])))
            return
        check(pattern is None, f"{name}: expected /{pattern}/")
        for size in (ways, 2 * ways) if isinstance(batch, str) else (batch,):
            inputs = sizes_of(model, batch, size)
            want = outputs(path, inputs)
            if want is None:
                tally.not_run.append(name)
                continue
            got = outputs(out, inputs)
            if check(got is not None, f"{name}: {ways} ways, batch {size}: the split is not run: {getattr(outputs, 'why', '')}"):
                wrong, same = differ(want, got)
                check(wrong is None, f"{name}: {ways} ways, batch {size}: {wrong}")
                (tally.equal if same else tally.near).append(f"{name}/{ways}/{size}")


def generated(folder):
    tally = Tally()
    for shape, (options, pattern) in GENERATED.items():
        path = folder / f"{shape.replace(' ', '')}.onnx"
        more = "" if shape in ("unet", "resnet", "inception", "detector", "dlrm", "dense") else ""
        r = subprocess.run([GEN, *shape.split(), "-o", str(path), *options.split(), *more.split()], capture_output=True, text=True)
        if check(r.returncode == 0, f"pcc-gen {shape}: {r.stderr}"):
            rng = np.random.default_rng(len(shape))
            try_model(path, shape, folder, tally, lambda m, b, s, rng=rng: drawn(m, b, s, rng), (2, 4) if ALL else (2,), pattern)
    tally.print()


def shared_models():
    tally, models = Tally(), extras.shared("models")
    with tempfile.TemporaryDirectory() as tmp:
        for path in sorted(models.glob("*.onnx")) + sorted(models.glob("exported/tiny/*.onnx")):
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
    from onnx.backend.test.loader import load_model_tests  # noqa: F401  (needs the examples)
    from onnx.backend.test.case.node import collect_testcases
    taken = refused = 0
    for n, example in enumerate(collect_testcases(None)):
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
            want = outputs(path, inputs)
            if want is None or any(isinstance(v, (list, dict)) or v is None for v in want):
                continue
            got = outputs(out, inputs)
            if check(got is not None, f"{example.name} {choice} {axis}: not run: {getattr(outputs, 'why', '')}"):
                wrong, _ = differ(want, got)
                check(wrong is None, f"{example.name} {choice} {axis}: {wrong}")
                taken += 1
    print(f"examples: {taken} compute the same, {refused} refused")


def main():
    if extras.extra() == "shared":
        return shared_models()
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        single_operators(folder)
        generated(folder)
        examples(folder)
    return checks.finish()


sys.exit(main())
