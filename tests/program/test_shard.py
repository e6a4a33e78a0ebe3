"""shard against ONNX Runtime: what is computed in pieces is computed with the same bits.

1. Single operators (shard_cases.py), in one model for each opset, with a choice drawn at random (shard{draw=SEED}), in
   2 or 4 ways: the rewritten model gives the bits of the original.  With PCC_ALL=1 each option of each node in 2 and 4
   ways (shard{number=K}), also of batch_cases.py; then each operator of the table of rules must have been cut.
2. Models that pcc-gen makes: cut by the best choice and by random ones, split, and the parts verified.
3. Small models whose pieces have sizes, or places, of their own.
Needs onnx, numpy, onnxruntime (else 77)."""

# extras: none
import collections
import json
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
import numpy as np
import onnx
import onnxruntime as ort
import shard_cases

warnings.simplefilter("ignore")
ALL = os.environ.get("PCC_ALL") == "1"
# only single operators, and only these, with all options: for tools/bench/shard_errors.py
ONLY = set(os.environ.get("PCC_OPERATORS", "").split())
# (seed, ways)
DRAWS = [(s, 2 + 2 * (s % 2)) for s in range(1, 25 if ALL else 3)]
BATCH = 8
# operators that ONNX Runtime computes with other kernels for other shapes: they may round in another way
ROUNDS = {"Acos", "Asin", "Atan", "Conv", "Cos", "Einsum", "Elu", "Exp", "FusedConv", "Gemm", "Log", "LogSoftmax",
          "MatMul", "Mish", "ReduceMean", "ReduceSum", "Sin", "Softmax", "Softplus", "Tan", "Tanh"}


def session(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(model if isinstance(model, bytes) else str(model), options,
                                providers=["CPUExecutionProvider"])


def renamed(model, prefix):
    """The graph of a model with a prefix before all names of values and nodes."""
    g = model.graph
    for v in (*g.input, *g.output, *g.initializer, *g.value_info):
        v.name = prefix + v.name
    for n in g.node:
        n.name = prefix + n.name
        for names in (n.input, n.output):
            for i, name in enumerate(names):
                names[i] = name and prefix + name
    return g


def merged(cases, proven):
    """One model of all these cases that ONNX Runtime runs, sizes of the batch as numbers; its inputs; and case by
    prefix of names.  proven: ONNX Runtime runs all of them."""
    rng = np.random.default_rng(4)
    whole, inputs, case_of = None, {}, {}
    for k, c in enumerate(cases):
        if any(n.name for n in c.model("b").graph.node if n.attribute and any(a.HasField("g") for a in n.attribute)):
            continue
        m, prefix = c.model("b"), f"c{k}_"
        for i in m.graph.input:
            for d in i.type.tensor_type.shape.dim:
                if d.dim_param:
                    d.dim_value = BATCH
        fed = c.inputs(collections.defaultdict(lambda: BATCH), rng)
        try:
            if not proven:
                session(m.SerializeToString()).run(None, fed)
        except Exception:  # of many types: the case is about other sizes, or not for ONNX Runtime
            continue
        inputs |= {prefix + name: v for name, v in fed.items()}
        case_of[prefix] = c
        g = renamed(m, prefix)
        if whole is None:
            whole = m
            continue
        for a in ("node", "input", "output", "initializer"):
            getattr(whole.graph, a).extend(getattr(g, a))
    return whole, inputs, case_of


def same(a, b, op):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.tobytes() == b.tobytes():
        return True
    return op in ROUNDS and a.dtype.kind == "f" and np.allclose(a, b, 1e-5, 1e-5 * np.nanmax(np.abs(a)), equal_nan=True)


def table():
    """The operators of the table of rules."""
    return set(re.findall(r'^    {"(\w+)", ', (SOURCE / "passes/shard/rules.c").read_text(), re.MULTILINE))


def groups():
    """Cases to be computed together: opset, cases, whether ONNX Runtime is known to run all of them."""
    known = table()
    found = collections.defaultdict(list)
    for proven, module in ((True, shard_cases), *([(False, batch_cases)] if ALL else [])):
        for c in module.all_cases():
            if c.run is True and c.good is True and c.op in (ONLY or known) and c.nodes is None:
                found[c.opset, proven].append(c)
    return sorted(found.items())


def check_operators(folder):
    cut = collections.Counter()
    for at, ((opset, proven), cases) in enumerate(groups()):
        model, inputs, case_of = merged(cases, proven)
        path, out = folder / f"ops{opset}.onnx", folder / "out.onnx"
        onnx.save(model, path)
        s = session(path)
        names = [o.name for o in s.get_outputs()]
        want = dict(zip(names, s.run(None, inputs)))
        # a choice at random; all of them: option 1, 2, ... of each node
        draws = ([(f"number={k}", ways) for k in range(1, 17) for ways in (2, 4)] if ALL or ONLY
                 else [(f"draw={at + 1}", 2 + 2 * (at % 2))])
        for draw, ways in draws:
            what = f"opset {opset}, {ways} ways, {draw}"
            r = subprocess.run([PCC, path, "-q", "-d", f"{ways}xa100", "-p", f"shard{{ways={ways}:{draw}}}", "-o", out],
                               capture_output=True, text=True)
            if not check(r.returncode == 0, f"{what}: {r.stderr[-300:]}"):
                continue
            made = onnx.load(out)
            cut.update({case_of[n.name.split("_")[0] + "_"].op for n in made.graph.node if ".gather" in n.name})
            try:
                got = dict(zip(names, session(out).run(names, inputs)))
            except Exception as why:
                check(False, f"{what}: {str(why)[:400]}")
                continue
            for name in names:
                case = case_of[name.split("_")[0] + "_"]
                check(same(want[name], got[name], case.op), f"{case} ({name}), {what}: other results")
    if ALL:
        check(set(cut) == table(), f"never cut: {sorted(table() - set(cut))}")
    return cut


# What pcc-gen makes; whether its results are the same bits
GENERATED = {
    "gpt": ("--layers 2 --width 64 --heads 4 --vocab 60", True),
    "bert": ("--layers 2 --width 64 --heads 4 --vocab 60", True),
    "moe": ("--layers 1 --width 64 --heads 4 --vocab 60", True),
    "encoder-decoder": ("--layers 1 --width 32 --heads 4 --vocab 60", True),
    "resnet": ("--width 8", False),
    "inception": ("--blocks 2 --width 8", False),
    "unet": ("--layers 1 --width 16", False),
}


def drawn(s):
    """Inputs for a session: names of dimensions are 2, 3, ... in the order in which they come."""
    rng, sizes, fed = np.random.default_rng(1), {}, {}
    for i in s.get_inputs():
        shape = [d if isinstance(d, int) else sizes.setdefault(d, 2 + len(sizes)) for d in i.shape]
        fed[i.name] = (rng.standard_normal(shape).astype(np.float32) if i.type == "tensor(float)"
                       else rng.integers(0, 2, shape))
    return fed


def check_models(folder):
    for name, (options, exact) in GENERATED.items():
        if name in ("inception", "unet") and not ALL:
            continue
        path, out = folder / f"{name}.onnx", folder / "out.onnx"
        subprocess.run([GEN, name, "-o", path, *options.split()], check=True)
        s = session(path)
        fed = drawn(s)
        want = s.run(None, fed)
        for seed, ways in DRAWS:
            what = f"{name}, {ways} ways, seed {seed}"
            r = subprocess.run([PCC, path, "-q", "-d", f"{ways}xa100", "-p", f"shard{{ways={ways}:draw={seed}}}", "-o",
                                out], capture_output=True, text=True)
            if not check(r.returncode == 0, f"{what}: {r.stderr[-300:]}"):
                continue
            try:
                got = session(out).run(None, fed)
            except Exception as why:
                check(False, f"{what}: {str(why)[:400]}")
                continue
            for a, b in zip(want, got):
                check(same(a, b, "" if exact else "Conv"),
                          f"{what}: off by {np.abs(a - b).max()}, the largest value is {np.abs(a).max()}")


def odd_models():
    """Models whose pieces have sizes, or places, of their own: name, model, inputs."""
    from onnx import TensorProto, helper, numpy_helper

    def model(nodes, inputs, outputs, weights=(), functions=()):
        """Inputs and outputs: name -> sizes."""
        many = [[helper.make_tensor_value_info(k, TensorProto.FLOAT, v) for k, v in list_.items()]
                for list_ in (inputs, outputs)]
        held = [numpy_helper.from_array(v, k) for k, v in dict(weights).items()]
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
        return helper.make_model(helper.make_graph(nodes, "g", *many, held), opset_imports=opsets, functions=functions,
                                 ir_version=9)

    rng, node = np.random.default_rng(2), helper.make_node
    x, w = rng.standard_normal((4, 8), np.float32), rng.standard_normal((8, 12), np.float32)
    product = node("MatMul", ["x", "w"], ["a"])
    yield "a piece of size 1 and Squeeze", model(
        [product, node("Squeeze", ["a"], ["b"]), node("Relu", ["b"], ["y"])], {"x": [1, 4, 8]}, {"y": [4, 12]},
        {"w": w}), {"x": x[None]}
    yield "Expand to sizes that are 1", model(
        [product, node("Shape", ["z"], ["s"]), node("Expand", ["a", "s"], ["y"])],
        {"x": [4, 8], "z": ["m", "k"]}, {"y": [4, 12]}, {"w": w}), {"x": x, "z": x[:1, :1]}
    past, present = "past_key_values.0.key", "present.0.key"
    yield "sizes of what is computed once", model(
        [product, node("Relu", [past], ["r"]), node("Shape", ["r"], ["s"]), node("Cast", ["s"], ["f"], to=1),
         node("Gather", ["f", "one"], ["n"]), node("Add", ["a", "n"], ["y"]),
         node("Concat", [past, "new"], [present], axis=1)], {"x": [4, 8], past: ["B", "P"], "new": ["B", "T"]},
        {"y": [4, 12], present: ["B", "P+T"]}, {"w": w, "one": np.array(1)}), {"x": x, past: x, "new": x}
    twice = helper.make_function("own", "Twice", ["p"], ["q"], [node("Add", ["p", "p"], ["q"])],
                                 [helper.make_opsetid("", 17)])
    yield "a function", model([product, node("Twice", ["a"], ["y"], domain="own")], {"x": [4, 8]}, {"y": [4, 12]},
                              {"w": w}, [twice]), {"x": x}


def check_odd(folder):
    path, out = folder / "odd.onnx", folder / "out.onnx"
    for what, model, fed in odd_models():
        onnx.save(model, path)
        want = session(path).run(None, fed)
        for ways, seed in ((4, 6), (4, 10), (2, 1)):
            r = subprocess.run([PCC, path, "-q", "-d", f"{ways}xa100", "-p", f"shard{{ways={ways}:draw={seed}}}", "-o",
                                out], capture_output=True, text=True)
            if not check(r.returncode == 0, f"{what}, {ways} ways, seed {seed}: {r.stderr[-300:]}"):
                continue
            try:
                got = session(out).run(None, fed)
            except Exception as why:
                check(False, f"{what}, {ways} ways, seed {seed}: {str(why)[:400]}")
                continue
            check(all(same(a, b, "MatMul") for a, b in zip(want, got)),
                  f"{what}, {ways} ways, seed {seed}: other results")


def check_training(folder):
    path = folder / "train.onnx"
    subprocess.run([GEN, "train", "-o", path, *"--layers 1 --width 32 --heads 2 --vocab 30".split()], check=True)
    r = subprocess.run([PCC, path, "-q", "-d", "2xa100", "-p", "shard{ways=2}"], capture_output=True, text=True)
    check(r.returncode == 1 and "this is a training graph" in r.stderr, f"a training graph: {r.stderr[-300:]}")


def check_weights(folder):
    """A matrix of which there are pieces is not written as a whole, too; weights of old models, which are inputs at the
    same time, are cut in the file, not when the model runs."""
    from onnx import TensorProto, helper, numpy_helper

    path, size = folder / "external.onnx", []
    subprocess.run([GEN, "gpt", "-o", path, "--external", *"--layers 1 --width 64 --heads 4 --vocab 60".split()],
                   check=True)
    for k, planner in enumerate(("one-place", "shard{ways=2:number=1}")):
        out = folder / f"weights{k}"
        subprocess.run([PCC, path, "-q", "-d", "2xa100", "-p", planner, "--dim=batch=1", "--dim=sequence=8",
                        "--pictures=none", "-o", out], check=True)
        size.append((out / "weights.data").stat().st_size)
    check(size[1] < 1.5 * size[0], f"bytes of weights.data, whole and in pieces: {size}")

    w = np.random.default_rng(3).standard_normal((8, 16)).astype(np.float32)
    x, held, y = (helper.make_tensor_value_info(k, TensorProto.FLOAT, v)
                  for k, v in (("x", [4, 8]), ("w", [8, 16]), ("y", [4, 16])))
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], name="n")], "g", [x, held], [y],
                              [numpy_helper.from_array(w, "w")])
    out = folder / "old_out.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=3), folder / "old.onnx")
    subprocess.run([PCC, folder / "old.onnx", "-q", "-d2xa100", "-p", "shard{ways=2:number=2}", "-o", out], check=True)
    names = [i.name for i in onnx.load(out).graph.initializer]
    check({"w@1.8.0", "w@1.8.1"} <= set(names), f"initializers: {names}")

    w = np.random.default_rng(3).standard_normal((512, 8)).astype(np.float32)
    rows = helper.make_graph([helper.make_node("Gemm", ["x", "w"], ["y"], name="n", transB=1)], "g", [x],
                             [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 512])],
                             [numpy_helper.from_array(w, "w")])
    path, out = folder / "rows.onnx", folder / "rows"
    onnx.save(helper.make_model(rows, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path,
              save_as_external_data=True, location="rows.bin", size_threshold=0)
    subprocess.run([PCC, path, "-q", "-d2xa100", "-p", "shard{ways=2:number=2}", "--weights=original", "-o",
                    out], check=True)
    parts = [t for f in out.glob("part*.onnx") for t in onnx.load(f, load_external_data=False).graph.initializer]
    check(not (out / "weights.data").exists() and {t.name for t in parts} == {"w@0.256.0", "w@0.256.1"},
          f"rows of a matrix are not referred to: {[t.name for t in parts]}")
    code, said = verified(path, out, "--quiet")
    check(code == 0 and "bit-equal" in said, said)


def check_devices(folder):
    path = folder / "dense.onnx"
    subprocess.run([GEN, "dense", "-o", path, "--layers", "1", "--width", "64"], check=True)
    r = subprocess.run([PCC, path, "-v", "-d", "67xa100", "-p", "shard"], capture_output=True, text=True)
    check(r.returncode == 0 and "no number from 2 to 64 divides 67" in r.stderr, f"67 devices: {r.stderr[-300:]}")


def check_states(folder):
    """A model whose caches each device has a piece of: the parts, fed with pieces, give the bits of the whole."""
    path, out = folder / "llama.onnx", folder / "split"
    size = "--layers 1 --width 256 --heads 4 --kv-heads 2 --vocab 60"
    subprocess.run([GEN, "llama", "--kv", "-o", path, *size.split()], check=True)
    r = subprocess.run([PCC, path, "-q", "-d", "2xa100", "--part-cost=0", "-p", "shard{ways=2:draw=3}", "-o", out],
                       capture_output=True, text=True)
    if not check(r.returncode == 0, r.stderr[-300:]):
        return
    manifest = json.loads((out / "manifest.json").read_text())
    kept = {s["in"]: (s["axis"], s["run"]) for s in manifest["sharding"]["states"]}
    check(kept == {f"past_key_values.0.{k}": (1, 1) for k in ("key", "value")}, f"states in pieces: {kept}")
    pair = {"in": "past_key_values.0.key@1", "out": "present.0.key@1"}
    check(pair in manifest["states"], f"{manifest['states']}")
    code, said = verified(path, out, "--quiet")
    check(code == 0 and "bit-equal" in said, said)
    verify = Path(PCC).with_name("pcc-verify")
    if verify.exists():
        r = subprocess.run([verify, path, folder / "split"], capture_output=True, text=True)
        check(r.returncode == 1 and "verify_split.py can" in r.stderr, f"pcc-verify: {r.returncode} {r.stderr}")
    del manifest["sharding"]["states"][0]["run"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    code, said = verified(path, out, "--quiet")
    check(code == 1 and "run" in said, f"a state without a run: {said}")


def main():
    with tempfile.TemporaryDirectory() as name:
        cut = check_operators(Path(name))
        if ONLY:
            return checks.finish()
        check_models(Path(name))
        check_odd(Path(name))
        check_training(Path(name))
        check_weights(Path(name))
        check_devices(Path(name))
        check_states(Path(name))
        print("cut:", ", ".join(f"{op} {n}" for op, n in sorted(cut.items())))
    return checks.finish()


sys.exit(main())
