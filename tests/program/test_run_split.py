"""run_split.py, which pcc puts into a split folder, computes what the whole model computes.

Run as a program of its own (python -I: nothing of this tree is on its way), and as a module: one sample, many in a
pipeline of threads (in order, never more on their way than asked, each as the whole model has it), states fed back as
by hand, inputs from and outputs to files. Strings, sequences, outputs that are inputs or weights. What is wrong is said
in one line with its place: a part with another weight, an input that lacks or has another type, a provider that is not
there, a sample in the middle that no part can take: what came before comes out, nothing after, and no thread stays.
Needs onnx and ONNX Runtime (else 77)."""
# extras: shared
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from with_ort import GEN, PCC, SOURCE, check  # first: it skips the test without ONNX Runtime
from checks import finish
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(SOURCE / "tools/python/pcc"))
import run_split

F32, I64, STR = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
info, node = helper.make_tensor_value_info, helper.make_node


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def split(model, out, devices=3, *more):
    r = run(PCC, model, "-p", "dp-place", "-d", f"{devices}xa100", "--link", "1TB/s,0us", "-q", "-Wno-guessed-dim",
            "--pictures=none", "-o", out, *more)
    check(r.returncode == 0, f"{model.name}: {r.stderr}")
    return out


def raises(text, what, *args, **more):
    try:
        r = what(*args, **more)
        check(False, f"no error '{text}', but {r}")
    except run_split.SplitError as e:
        check(text in str(e) and "\n" not in str(e), f"wanted '{text}', got '{e}'")


def whole(model):
    session = ort.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return lambda sample: dict(zip(names, session.run(names, sample)))


def near(a, b):
    return set(a) == set(b) and all(np.allclose(a[n], b[n], rtol=1e-4, atol=1e-5) for n in a)


# ---------------------------------------------------------------- as a program


def alone(*args, program=None, good=True, said=""):
    r = run(sys.executable, "-I", program, *args)
    text = (r.stdout if good else r.stderr).strip()
    lines = text.splitlines()
    check((r.returncode == 0) == good and said in text and (len(lines) == 1 or good and max(map(len, lines)) <= 80),
          f"{args}: exit {r.returncode}: {r.stdout[-500:]}{r.stderr[-500:]}")


def as_program(temp, model, folder):
    program = folder / "run_split.py"
    check(program.read_bytes() == (SOURCE / "tools/python/pcc/run_split.py").read_bytes(), "not the package's runner")
    alone(program=program, said="1 sample, first after")
    alone("--verify", model, program=program, said="equal: 5 outputs, bit by bit, optimisations off, on random inputs, "
                                                           "seed 0")
    rng = np.random.default_rng(1)
    past = {n: rng.standard_normal((1, 2, 3, 16)).astype(np.float32)
            for n in (f"past_key_values.{k}.{w}" for k in (0, 1) for w in ("key", "value"))}
    np.savez(temp / "a.npz", input_ids=rng.integers(0, 64, (1, 4)), **past)
    alone(temp / "a.npz", "--pipeline", 3, "--samples", 4, "--output", temp / "o", program=program, said="4 samples")
    want = whole(model)(run_split.read_sample(temp / "a.npz"))
    for k in range(4):
        check(near(run_split.read_sample(temp / f"o/sample{k}.npz"), want), f"sample{k}.npz")
    alone(temp / "a.npz", "--verify", model, program=program, said=f"optimisations off, on {temp / 'a.npz'}")
    alone("--provider", "acc7=CPUExecutionProvider", program=program, good=False, said="expected one of acc0, acc1")
    alone("--provider", "a100=NoProvider", program=program, good=False, said="this ONNX Runtime has")
    alone("--provider", "a100", program=program, good=False, said="expected DEVICE=PROVIDER")
    alone("--folder", temp, program=program, good=False, said="expected the folder of a split")
    alone(temp / "none.npz", program=program, good=False, said="none.npz")
    alone("--provider", "a100=CPUExecutionProvider", "--provider", "acc1=CPUExecutionProvider", program=program,
          said="\nacc1 on CPUExecutionProvider\n")


def hints(temp):
    """Random inputs of sizes that the model does not take: what to do is said."""
    rows = [("o", 0), ("l", 1), ("w", range(9)), ("y", [1])]
    nodes = [node("Shape", ["x"], ["s"], start=1), node("Squeeze", ["s"], ["n"]), node("Range", ["o", "n", "l"], ["k"]),
             node("GatherElements", ["w", "k"], ["p0"])]
    nodes += [node("Add", [f"p{k}", "y"], [f"p{k + 1}"]) for k in range(9)]
    graph = helper.make_graph(nodes, "nine", [info("x", I64, [1, "sequence"])], [info("p9", I64, ["sequence"])],
                              [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in rows])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), temp / "p.onnx")
    r = run(sys.executable, "-I", split(temp / "p.onnx", temp / "large", 2, "--dim=sequence=128") / "run_split.py")
    said = r.stderr.splitlines()
    check(r.returncode == 1 and len(said) == 3 and said[1].endswith("planned for: sequence=128") and "--dim" in said[2],
          f"sizes that do not suit: {r.stdout} {r.stderr}")
    r = run(sys.executable, "-I", split(temp / "p.onnx", temp / "guessed", 2) / "run_split.py")
    check(r.returncode == 0 and "output p9 [9]" in r.stdout, f"guessed sizes: {r.stderr}")


def sums(temp):
    """An input whose length is a sum of others: its size is in the manifest, random inputs have it."""
    nodes = [node("Concat", ["p", "x"], ["c"], axis=1), node("Mul", ["c", "mask"], ["y0"])]
    nodes += [node("Exp", [f"y{k}"], [f"y{k + 1}"]) for k in range(6)]
    ins = [info("x", F32, ["batch", "sequence"]), info("p", F32, ["batch", "past"]),
           info("mask", F32, ["batch", "past + sequence"])]
    graph = helper.make_graph(nodes, "sums", ins, [info("y6", F32, ["batch", "past + sequence"])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), temp / "s.onnx")
    runner = run_split.Runner(split(temp / "s.onnx", temp / "sums", 2, "--dim=sequence=8,past=4"))
    check(runner.manifest["dims"] == {"sequence": 8, "past": 4, "batch": 1, "past + sequence": 12},
          f"sizes of sums: {runner.manifest['dims']}")
    check(runner.random_sample()["mask"].shape == (1, 12), "a sum's size in random inputs")
    folder = split(temp / "s.onnx", temp / "first", 2, "--dim=sequence=8,past=0")  # the first step: an empty cache
    sizes = {i["name"]: i["sizes"] for i in run_split.Runner(folder).manifest["inputs"]}
    check(sizes == {"x": [1, 8], "p": [1, 0], "mask": [1, 8]}, f"sizes of the first step: {sizes}")
    check(run_split.verify(folder, temp / "s.onnx") == 1, "the first step is not equal")


def printed_line(temp, model):
    """The command that pcc prints works as it stands, in the user's folder, whatever the names."""
    odd = temp / "it's a \"model\" $x.onnx"
    odd.write_bytes(model.read_bytes())
    r = subprocess.run([PCC, odd.name, "-d", "2xa100", "-Wno-guessed-dim", "--pictures=none", "-o", "the split/"],
                       capture_output=True, text=True, cwd=temp)
    found = re.search(r"^run it: (.*)\nto compare with the whole model, add (--verify .*)$",
                      r.stdout, re.M)
    if not check(found, f"the last lines are {r.stdout.splitlines()[-2:]} {r.stderr}"):
        return
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
    for command, said in ((found[1], "1 sample"), (f"{found[1]} {found[2]}", "equal: 5 outputs")):
        r = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=temp,
                           env={**os.environ, "PATH": path})
        check(r.returncode == 0 and said in r.stdout, f"{command}: {r.stdout} {r.stderr}")


# ---------------------------------------------------------------- many samples


def counted(samples, taken):
    for k, s in enumerate(samples):
        taken.append(k)
        yield s


def in_order(model, folder):
    runner, reference = run_split.Runner(folder), whole(model)
    samples = [runner.random_sample(k) for k in range(12)]
    for s in samples:
        s["input_ids"] = np.random.default_rng(len(s)).integers(0, 64, s["input_ids"].shape)
    want = [reference(s) for s in samples]
    check(not near(want[0], want[1]), "samples do not matter")
    for in_flight in (1, 2, 5, 40):
        taken, n = [], 0
        for got in runner.stream(counted(samples, taken), in_flight=in_flight):
            check(near(got, want[n]), f"{in_flight} in flight: sample {n}")
            check(len(taken) - n <= in_flight, f"{len(taken)} taken after {n} of {in_flight} in flight")
            n += 1
        check(n == len(samples), f"{n} samples came out")
    stream = runner.stream(iter(samples), in_flight=4)
    next(stream)
    stream.close()
    check(near(runner.run(samples[3]), want[3]), "run")
    check(threading.active_count() == 1, f"threads that stay: {threading.enumerate()}")


def states(model, folder):
    """Three steps, each with one more token, beside a loop that feeds the cache back by hand."""
    runner, reference = run_split.Runner(folder), whole(model)
    check(len(runner.states) == 4, f"states {runner.states}")
    start = {i: np.zeros((1, 2, 0, 16), np.float32) for i, _ in runner.states}
    tokens = [np.array([[k + 1]]) for k in range(6)]
    want, kept = [], start
    for t in tokens:
        want.append(reference({"input_ids": t, **kept}))
        kept = {i: want[-1][o] for i, o in runner.states}
    samples = [{"input_ids": tokens[0], **start}] + [{"input_ids": t} for t in tokens[1:]]
    for in_flight in (1, 2, 6):
        got = list(runner.stream(samples, in_flight=in_flight, state=True))
        check(len(got) == 6 and all(map(near, got, want)), f"states, {in_flight} in flight")
    again = samples[:2] + samples[:2]  # the third brings its state
    got = list(runner.stream(again, in_flight=3, state=True))
    check(near(got[2], want[0]) and near(got[3], want[1]), "a sample that brings its state")
    zeros = next(runner.stream([{"input_ids": np.ones((1, 128), np.int64)}], state=True))
    check(zeros["logits"].shape == (1, 128, 64) and zeros["present.0.key"].shape[2] == 256, "first state is not zeros")
    raises("input 'past_key_values.0.key' is not given", next, runner.stream(samples[1:]))


def errors(model, folder):
    runner = run_split.Runner(folder)
    good = runner.random_sample()
    raises("input 'input_ids' is not given: expected input_ids, past", runner.run,
           {n: v for n, v in good.items() if n != "input_ids"})
    raises("no input 'x' in the model", runner.run, {**good, "x": 1})
    raises("'input_ids': expected int64, found float32", runner.run, {**good, "input_ids": np.ones((1, 4), np.float32)})
    raises("'input_ids': expected shape ['batch', 'sequence'], found [4]", runner.run,
           {**good, "input_ids": np.arange(4)})
    raises("a sample is a dict of arrays by name (input_ids, past_", runner.run, good["input_ids"])
    raises("a sample is a dict of arrays by name", lambda: list(runner.stream([[good]])))
    raises("expected a list of samples", runner.stream, good)
    raises("expected a list of samples", runner.stream, good["input_ids"])
    raises("expected a list of samples", runner.stream, 3)
    raises("'input_ids': expected an array, found list", runner.run, {**good, "input_ids": [[1], [1, 2]]})
    raises("expected {device: provider}, such as", run_split.Runner, folder, "CPUExecutionProvider")
    raises("provider of 'acc0': expected its name, or (name, number)", run_split.Runner, folder, {"acc0": 1})
    raises("provider of 'acc0': expected its name, or (name, number)", run_split.Runner, folder,
           {"acc0": (run_split.CPU,)})
    far = {**good, "input_ids": np.full_like(good["input_ids"], 1000)}
    for in_flight in (1, 4):
        out = []
        samples = iter([good, good, far, *[good] * 50])
        raises("part0.onnx (acc0), sample 2: ", lambda: out.extend(runner.stream(samples, in_flight=in_flight)))
        check(len(out) <= 2 and len(list(samples)) > 40, f"{len(out)} came out after an error")
    raises("at least 1", runner.stream, [], in_flight=-1)

    def broken():
        yield good
        raise KeyError("mine")

    try:
        list(runner.stream(broken()))
        check(False, "an error of the caller's own is lost")
    except KeyError:
        pass
    check(threading.active_count() == 1, f"threads that stay: {threading.enumerate()}")
    part = folder / "part1.onnx"
    kept = part.read_bytes()
    changed = onnx.load(part, load_external_data=False)
    w = next(t for t in changed.graph.initializer if t.data_location != TensorProto.EXTERNAL and t.data_type == F32)
    w.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(w) + np.float32(1), w.name))
    onnx.save(changed, part)
    raises("' is not the whole model's: ", run_split.verify, folder, model)
    run_split.verify(folder, model, tolerance=1e9)
    part.write_bytes(b"no model")
    raises("part1.onnx (acc1): cannot be loaded", run_split.Runner, folder)
    part.write_bytes(kept)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["values"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    raises("of another version", run_split.Runner, folder)


# ---------------------------------------------------------------- odd values


def odd():
    """Strings and a sequence cross; an input and a weight come out."""
    w = numpy_helper.from_array(np.ones((4, 4), np.float32), "w")
    nodes = [node("Identity", ["s"], ["s1"], name="n0"), node("MatMul", ["x", "w"], ["a"], name="n1"),
             node("SequenceConstruct", ["a", "x"], ["q"], name="n2"),
             *[node("MatMul", [f"a{k}" if k else "a", "w"], [f"a{k + 1}"], name=f"m{k}") for k in range(4)],
             node("Identity", ["s1"], ["t"], name="n3"), node("SequenceAt", ["q", "i"], ["y"], name="n4"),
             node("Add", ["a4", "y"], ["z"], name="n5")]
    graph = helper.make_graph(nodes, "odd", [info("x", F32, ["n", 4]), info("s", STR, ["m"]), info("i", I64, [])],
                              [info("z", F32, ["n", 4]), info("t", STR, ["m"]), info("x", F32, ["n", 4]),
                               info("w", F32, [4, 4])], [w])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def no_parts():
    w = numpy_helper.from_array(np.ones((20, 20), np.float32), "w")
    graph = helper.make_graph([], "g", [info("x", F32, [2])], [info("x", F32, [2]), info("w", F32, [20, 20])], [w])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def odd_values(temp):
    onnx.save(odd(), temp / "odd.onnx")
    folder = split(temp / "odd.onnx", temp / "odd", 2, "--pin", "^(n0|n1|n2|m0)$=acc0", "--pin", "^(n3|n4|n5)$=acc1")
    runner = run_split.Runner(folder)
    crossing = {t["name"]: t["type"] for t in runner.manifest["tensors"]}
    check("str" in crossing.values() and "seq<f32>" in crossing.values(), f"what crosses: {crossing}")
    sample = {"x": np.ones((2, 4), np.float32), "s": np.array(["a", "bc"]), "i": np.array(1)}
    want = whole(temp / "odd.onnx")({**sample, "s": sample["s"].astype(object)})
    for got in [runner.run(sample), *runner.stream([sample] * 3)]:
        check(list(got) == ["z", "t", "x", "w"] and list(got["t"]) == ["a", "bc"], f"outputs {got}")
        check(all(np.array_equal(got[n], want[n]) for n in got), "odd values")
    run_split.verify(folder, temp / "odd.onnx", {**sample, "s": sample["s"].astype(object)})
    onnx.save(no_parts(), temp / "none.onnx")
    runner = run_split.Runner(split(temp / "none.onnx", temp / "none"))
    got = runner.run({"x": np.array([1, 2], np.float32)})
    check(list(got["x"]) == [1, 2] and got["w"].sum() == 400, f"without parts: {got}")


def exported(temp):
    for name in ("sequence_script_ts", "sklearn_rf_pipeline", "gpt2_kv_dyn", "while_dyn"):
        model = extras.shared(f"models/exported/tiny/{name}.onnx")
        session = ort.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        sample = {}
        for k, i in enumerate(session.get_inputs()):
            path = model.parent / f"{name}.inputs/test_data_set_0/input_{k}.pb"
            sample[i.name] = numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))
        sample = {n: v.astype(object) if v.dtype.kind in "SU" else v for n, v in sample.items()}
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            n = run_split.verify(split(model, temp / name), model, sample)
        check(n == len(session.get_outputs()), f"{name}: {n} outputs")


def main():
    ort.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as name:
        temp = Path(name)
        if extras.extra():
            exported(temp)
            return finish()
        model = temp / "gpt.onnx"
        check(run(GEN, "gpt", "--kv", "--layers", 2, "--width", 32, "--heads", 2, "--vocab", 64, "-o",
                  model).returncode == 0, "pcc-gen")
        folder = split(model, temp / "split")
        as_program(temp, model, folder)
        hints(temp)
        sums(temp)
        printed_line(temp, model)
        in_order(model, folder)
        states(model, folder)
        errors(model, folder)
        odd_values(temp)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
