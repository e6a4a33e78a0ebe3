"""pcc-run: a split runs as its schedule says, and every bad input ends with its reason.

With the stub engine, whose outputs are hashes of their inputs: lists, turns and the manifest's order give the same
outputs, each of its own sample; memory as planned; errors, Ctrl-C, runs that stand still.  Extra `ort`: with ONNX
Runtime (else 77) the bits of run_split.py, also with states, and shapes that are not the manifest's."""
# extras: ort
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
import commands
from checks import check, finish
from commands import good, run

PCC = os.environ.get("PCC", "pcc")
GEN = os.environ.get("PCC_GEN") or Path(PCC).parent / "pcc-gen"
RUN = os.environ.get("PCC_RUN") or Path(PCC).parent / "pcc-run"
SOURCE = Path(__file__).resolve().parents[2]
FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
MODEL, SPLIT = HERE / "gpt.onnx", HERE / "split"
STUB = "--engine=stub"


def refused(r, rc, *words):
    commands.refused(r, rc, *words)
    made = [p.name for p in HERE.rglob("*.part")] + [p.name for p in HERE.iterdir() if p.name.startswith("none")]
    check(not made, f"{r.args} left {made}")
    return r


def outputs(folder):
    """The bytes of the outputs of each sample, in order: sample0.npz, sample1.npz, ..., and no others."""
    files = sorted(folder.iterdir(), key=lambda p: int(re.fullmatch(r"sample(\d+)\.npz", p.name)[1]))
    check([p.name for p in files] == [f"sample{k}.npz" for k in range(len(files))], f"{folder}: {files}")
    return [p.read_bytes() for p in files]


def outputs_of(split, *args, engine=STUB):
    folder = HERE / "out"
    shutil.rmtree(folder, ignore_errors=True)
    good(run(RUN, split, engine, f"--output={folder}", "-q", *args))
    return outputs(folder)


def changed(name, file, change, of=SPLIT):
    """A copy of a split whose file, JSON, was changed."""
    folder = HERE / name
    shutil.copytree(of, folder, symlinks=True)
    content = json.loads((folder / file).read_text())
    change(content)
    (folder / file).write_text(json.dumps(content))
    return folder


def make():
    good(run(GEN, "gpt", "--layers", 2, "--width", 16, "--heads", 2, "--vocab", 32, "-o", MODEL))
    good(run(PCC, MODEL, "-d", "4xcpu", "-q", "--dim=batch=1,sequence=32", "--pictures=none", "-o", SPLIT))


def orders():
    """Whatever the order and the times, a sample has the same outputs, and no two samples have the same."""
    trace = HERE / "run.trace.json"
    want = outputs_of(SPLIT, "--order=model", "--samples=60")
    check(len(set(want)) == 60, "each sample has outputs of its own")
    for args in ((f"{STUB}:random=200us,seed=1", f"-o{trace}"), (f"{STUB}:random=200us,seed=2", "--in-flight=1"),
                 (f"{STUB}:random=200us,seed=3", "--in-flight=2"), (f"{STUB}:random=200us,seed=4", "--in-flight=60")):
        check(outputs_of(SPLIT, "--samples=60", *args[1:], engine=args[0]) == want, f"{args}: other outputs")
    schedule = json.loads((SPLIT / "schedule.json").read_text())
    table = json.loads(trace.read_text())
    bars = [e for e in table["traceEvents"] if e["ph"] == "X"]
    real = [e for e in bars if e["cat"] == "measured"]
    check({(e["name"], e["args"]["sample"]) for e in real} ==
          {(f"part{p}.onnx", k) for p in range(4) for k in range(60)} and len(bars) == 2 * len(real) == 480,
          f"{len(bars)} bars, {len(real)} measured")
    most = {d["name"]: d["most_bytes"] for d in table["otherData"]["devices"]}
    check(most == {d["name"]: d["peak_bytes"] for d in schedule["devices"]}, f"the peaks of the schedule: {most}")
    manifest = json.loads((SPLIT / "manifest.json").read_text())
    check([p["nodes"] for p in table["otherData"]["parts"]] == list(manifest["nodes"].values()) and
          all(p["time"] > 0 for p in table["otherData"]["parts"]), "the parts of the trace")
    csv = good(run(PCC, MODEL, "--dim=sequence=8", f"--costs={trace}", "-q", "--emit=csv")).stdout.splitlines()
    ps = {line.split(",")[0]: int(line.split(",")[-1]) for line in csv[1:]}
    check(all(p["time"] == sum(ps[n] for n in p["nodes"]) for p in table["otherData"]["parts"]), "sums by --costs")
    planned = [e for e in bars if e["cat"] == "planned" and e["name"] == "part1.onnx"]
    check(all(abs(e["dur"] - manifest["parts"][1]["compute_s"] * 1e6) < 0.002 for e in planned), f"{planned[:2]}")
    alone = json.loads((HERE / "split" / "schedule.json").read_text())["devices"][0]["compute"]
    computed = [(e["ts"], e["args"]["sample"]) for e in real if e["name"] == "part0.onnx"]
    check([k for _, k in sorted(computed)] == list(range(60)) and alone, "a list runs samples in their order")


def many():
    """Many samples through four threads with random delays."""
    said = good(run(RUN, SPLIT, f"{STUB}:random=20us,seed=5", "--samples=1000")).stdout
    check("1000 samples, first after" in said and " a second\n" in said and "% busy" in said and
          all(f"part{k}.onnx on cpu{k}: " in said for k in range(4)) and "none copied" in said, said)


def turns():
    """Replicas of a part take samples in turn; outputs come in order all the same."""
    folder = HERE / "turns"
    good(run(PCC, MODEL, "-d", "3xcpu", "-q", "--dim=batch=1,sequence=32", "--replicate", "--pictures=none", "-o",
             folder))
    check(json.loads((folder / "manifest.json").read_text())["replication"] == "turns", "the plan has replicas")
    trace = HERE / "turns.trace.json"
    want = outputs_of(folder, "--order=model", "--samples=30")
    got = outputs_of(folder, "--samples=30", f"-o{trace}", engine=f"{STUB}:random=500us")
    check(got == want, "outputs in order")
    lanes = {e["args"]["sample"]: e["tid"] for e in json.loads(trace.read_text())["traceEvents"]
             if e["ph"] == "X" and e["cat"] == "measured"}
    check([lanes[k] for k in range(30)] == [2, 4, 6] * 10, f"each in its turn: {lanes}")
    said = good(run(RUN, folder, STUB)).stderr
    check("note: there is no schedule (devices take turns with a part)" in said, said)


def states():
    """States go from sample to sample, also where lists begin a sample before the state of the one before is there."""
    model, folder = HERE / "kv.onnx", HERE / "states"
    good(run(GEN, "gpt", "--kv", "--layers", 2, "--width", 16, "--heads", 2, "--vocab", 32, "-o", model))
    good(run(PCC, model, "-d", "3xcpu", "-q", "-p", "anneal-place", "--part-cost=0", "--pictures=none",
             "--dim=batch=1,sequence=2,past_sequence=3", "-o", folder))
    want = outputs_of(folder, "--state", "--samples=9", "--order=model")
    check(outputs_of(folder, "--state", "--samples=9", engine=f"{STUB}:random=100us") == want, "states in order")
    check(len(set(want)) == 9 and want != outputs_of(folder, "--samples=9"), "states change outputs")
    said = good(run(RUN, folder, STUB, "--state", "--samples=3")).stderr
    check("each list runs one sample after the other" in said, said)
    late = HERE / "late"  # on one device, a state of the first layer comes of the last one
    good(run(PCC, model, "-d", "2xcpu", "-q", "-p", "anneal-place", "--part-cost=0", "--pictures=none", "-o", late,
             "--dim=batch=1,sequence=2,past_sequence=3", "--state", "past_key_values.0.key=present.1.key",
             "--pin=/Shape_1=cpu0", "--pin=/h.0/attn/Concat=cpu0"))
    check(outputs_of(late, "--state", "--samples=9") == outputs_of(late, "--state", "--samples=9", "--order=model"),
          "a state that comes late")


def files():
    """Inputs of files, and what is wrong with them: what came before is written."""
    paths = []
    for k in range(8):
        paths.append(HERE / f"in{k}.npz")
        np.savez(paths[-1], input_ids=np.full((1, 32), k, np.int64))
    got = outputs_of(SPLIT, *paths)
    check(len(set(got)) == 8 and outputs_of(SPLIT, *paths, "--samples=10") == got + got[:2], "files, again and again")
    batch = HERE / "batch.npz"
    np.savez(batch, input_ids=np.zeros((2, 32), np.int64))
    single, other, none = HERE / "single.npz", HERE / "other.npz", HERE / "empty.npz"
    np.savez(single, input_ids=np.zeros((1, 32), np.float32))
    np.savez(other, input_ids=np.zeros((1, 32), np.int64), more=np.zeros(1))
    np.savez(none)
    for file, words in ((batch, ["expected [1,32], found [2,32]"]), (single, ["expected i64, found f32"]),
                        (other, ["'more' is no input"]), (none, ["'input_ids' is missing"]),
                        (HERE / "nowhere.npz", ["nowhere.npz"])):
        folder = HERE / "before"
        shutil.rmtree(folder, ignore_errors=True)
        refused(run(RUN, SPLIT, *paths[:7], file, STUB, f"--output={folder}"), 1, "sample 7: ", file.name, *words)
        check(outputs(folder) == got[:7], f"{file.name}: what came before is written")
    refused(run(RUN, SPLIT, batch, STUB), 1, "sample 0: ", "expected [1,32], found [2,32]")


def failing():
    """The first error ends the run; the samples before it have their outputs."""
    want = outputs_of(SPLIT, "--samples=38")
    for part, k, more in ((1, 37, ",random=100us"), (0, 37, ""), (3, 0, ",delay=1ms"), (2, 1, ",random=300us")):
        folder = HERE / f"failed{part}.{k}"
        engine = f"{STUB}:fail=part{part}.onnx@{k}{more}"
        refused(run(RUN, SPLIT, engine, "--samples=60", f"--output={folder}"), 1,
                f"part{part}.onnx (cpu{part}), sample {k}: the stub was told to fail")
        check(outputs(folder) == want[:k], f"outputs 0 to {k - 1}")
    trace = HERE / "failed.trace.json"  # without the part that had no run beside the first
    refused(run(RUN, SPLIT, f"{STUB}:fail=part3.onnx@1", "--samples=5", "-o", trace), 1, "sample 1")
    good(run(PCC, MODEL, "--dim=sequence=8", f"--costs={trace}", "-q", "--emit=csv"))
    with open("/dev/full", "w", encoding="utf-8") as full:
        r = subprocess.run([RUN, SPLIT, STUB], stdout=full, stderr=subprocess.PIPE, text=True)
    check(r.returncode == 1 and "error: stdout: No space left" in r.stderr, r.stderr)


def interrupted():
    """Ctrl-C: what has begun comes to its end, and is reported."""
    folder = HERE / "ended"
    p = subprocess.Popen([RUN, SPLIT, HERE / "in0.npz", f"{STUB}:delay=2ms", "--samples=1000000", f"--output={folder}"],
                         text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (folder / "sample3.npz").exists() and p.poll() is None:
        time.sleep(0.01)
    p.send_signal(signal.SIGINT)
    said, notes = p.communicate(timeout=300)
    n = len(outputs(folder))
    check(p.returncode == 130 and f"ended by Ctrl-C after {n} samples" in notes and f"{n} samples, first" in said,
          f"{p.returncode}, {n} outputs: {said} {notes}")


def lists():
    """Lists that the checker refuses, before the first sample; --no-check runs them until they stand still."""
    def free_early(s):
        compute = s["devices"][1]["compute"]
        at = next(k for k, i in enumerate(compute) if "compute" in i)
        free = next(i for i in compute[at:] if "free" in i and i["sample"] == compute[at]["sample"])
        compute.remove(free)
        compute.insert(at, free)

    def no_room(s):
        s["devices"][0]["recv"][0]["queue"] = 0

    def circle(s):
        compute = s["devices"][1]["compute"]
        part = next(i for i in compute if "compute" in i)
        room = next(i for i in compute if "alloc" in i)
        compute.remove(room)
        compute.insert(compute.index(part) + 1, {**room, "sample": part["sample"]})

    def lacking(s):
        s["devices"][2]["compute"] = [i for i in s["devices"][2]["compute"] if "free" not in i]

    def small(s):
        s["devices"][3]["peak_bytes"] -= 1

    for k, (change, refusal, *stands) in enumerate((
            (free_early, "frees", "cpu1 computes 'part1.onnx' of sample 0"),
            (no_room, "has room for 0 tensors at once", "cpu0 makes room for 'input_ids' of sample 0",
             "host sends 'input_ids' of sample 0 to cpu0"),
            (circle, "before it makes room for", "cpu1 computes 'part1.onnx' of sample 0"),
            (lacking, "never frees"), (small, "cpu3"))):
        folder = changed(f"lists{k}", "schedule.json", change)
        out = HERE / f"none{k}"
        refused(run(RUN, folder, STUB, "--samples=5", f"--output={out}"), 1, "schedule.json", refusal)
        if stands:
            refused(run(RUN, folder, STUB, "--samples=5", "--no-check", "--stall=100ms"), 1,
                    "nothing has moved for 100.0 ms; the lists stand at: ", *stands)
        elif change is small:
            good(run(RUN, folder, STUB, "--samples=5", "--no-check"))


def long_part():
    said = good(run(RUN, SPLIT, f"{STUB}:delay=300ms", "--stall=50ms", "--samples=1")).stderr
    check(re.search(r"note: part(\d)\.onnx \(cpu\1\), sample 0: it has been running for", said), said)
    said = good(run(RUN, SPLIT, f"{STUB}:delay=20ms", "--stall=0", "--samples=1")).stderr
    check("running for" not in said, said)


def in_flight():
    """More samples than the file is proven for: proven anew, or refused with the largest number."""
    trace = HERE / "one.trace.json"
    outputs_of(SPLIT, "--in-flight=1", "--samples=9", f"-o{trace}")
    least = {d["name"]: d["most_bytes"] for d in json.loads(trace.read_text())["otherData"]["devices"]}
    lists = json.loads((SPLIT / "schedule.json").read_text())
    larger = next(d for d in lists["devices"] if d["peak_bytes"] > least[d["name"]])

    def cap(m):
        next(d for d in m["devices"] if d["name"] == larger["name"])["memory_bytes"] = larger["peak_bytes"] - 1

    def one(s):
        s["in_flight"] = 1
        for d in s["devices"]:
            d["peak_bytes"] = least[d["name"]]

    folder = changed("tighter", "schedule.json", one, changed("tight", "manifest.json", cap))
    found = refused(run(RUN, folder, STUB, "--in-flight=50", "--samples=5"), 1, "--in-flight=50", larger["name"])
    most = int(re.search(r"at most (\d+) fit", found.stderr)[1])
    check(1 <= most < lists["in_flight"], f"{most} fit")
    want = outputs_of(SPLIT, "--samples=20")
    check(outputs_of(folder, f"--in-flight={most}", "--samples=20") == want == outputs_of(folder, "--samples=20"),
          "the outputs of fewer samples at once")
    refused(run(RUN, folder, STUB, f"--in-flight={most + 1}"), 1, f"at most {most} fit")
    said = good(run(RUN, SPLIT, STUB, "--in-flight=100", "--samples=3")).stderr
    check("cpu0: at most " in said and "with 100 samples in flight" in said, said)


def bad_folders():
    for k, (file, change, words) in enumerate((
            ("manifest.json", lambda m: m.update(pcc_manifest=2), ["manifest.json", "\"pcc_manifest\": 1"]),
            ("manifest.json", lambda m: m["parts"][1].update(file="nowhere.onnx"), ["nowhere.onnx", "does not exist"]),
            ("manifest.json", lambda m: m["parts"][1].update(device="gpu7"), ["part1.onnx", "gpu7"]),
            ("manifest.json", lambda m: m["weights"].update(files=["lost.data"]), ["lost.data", "weights.files"]),
            ("manifest.json", lambda m: m["parts"][0].update(data="weights.data", data_bytes=1),
             ["weights.data", "expected a file of 1 bytes", "parts[0].data_bytes"]),
            ("manifest.json", lambda m: m.update(schedule="lost.json"), ["lost.json"]),
            ("manifest.json", lambda m: m.update(schedule="../x"), ["schedule: expected a file of the folder"]),
            ("manifest.json", lambda m: m["outputs"][0].update(name="lost"), ["outputs"]),
            ("schedule.json", lambda s: s.update(pcc_schedule=3), ["schedule.json"]))):
        refused(run(RUN, changed(f"bad{k}", file, change), STUB), 1, *words)
    refused(run(RUN, HERE / "nowhere", STUB), 1, "nowhere", "expected the folder of a split")
    refused(run(RUN, MODEL, STUB), 1, "gpt.onnx", "expected the folder of a split")
    empty = HERE / "empty"
    empty.mkdir()
    refused(run(RUN, empty, STUB), 1, "manifest.json")
    refused(run(RUN, SPLIT, STUB, "--state"), 1, "--state: the model keeps no state")
    folder = HERE / "full"  # no file may have a byte: a disk that is full after the first look at it
    full = ("import os, resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); "
            "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); os.execv(sys.argv[1], sys.argv[1:])")
    refused(run(sys.executable, "-c", full, RUN, SPLIT, STUB, "--samples=5", f"--output={folder}"), 1, "sample 0: ",
            "sample0.npz")
    check(not list(folder.iterdir()), "no half file")
    blocked = HERE / "blocked"
    blocked.write_text("")
    refused(run(RUN, SPLIT, STUB, f"--output={blocked}/out"), 1, "blocked")
    refused(run(RUN, SPLIT, STUB, f"-o{HERE}/lost/run.trace.json"), 1, "run.trace.json")


def usage():
    for args, words in (
            ((), ["expected the folder"]), ((SPLIT, "--in-flight=0"), ["--in-flight '0'"]),
            ((SPLIT, "--samples=0"), ["--samples '0'"]), ((SPLIT, "--order=best"), ["lists", "model"]),
            ((SPLIT, "--cores=gpu3=0"), ["no device 'gpu3'"]), ((SPLIT, "--cores=0"), ["DEVICE=LIST"]),
            ((SPLIT, "--cores=cpu0=0,cpu0=0"), ["'cpu0' comes twice"]), ((SPLIT, "--cores=cpu0=9999"), ["such as 0-3"]),
            ((SPLIT, "--cores=cpu0=0", "--cores=cpu0=0"), ["'cpu0' comes twice"]), ((SPLIT, "--", "x"), ["behind --"]),
            ((SPLIT, "--order=model", "--in-flight=2"), ["--in-flight has no effect"]),
            ((SPLIT, "--output="), ["--output"]), ((SPLIT, "--stal=3s"), ["did you mean '--stall'"])):
        refused(run(RUN, *args, STUB) if args[-1:] != ("x",) else run(RUN, STUB, *args), 2, *words)
    here = min(os.sched_getaffinity(0))
    said = good(run(RUN, SPLIT, STUB, f"--cores=cpu0={here},cpu1={here}", "-q")).stderr
    check("warning: --cores: cpu1 shares processors" in said, said)
    check("shares" not in good(run(RUN, SPLIT, STUB, "--cores=any")).stderr, "any processors")
    one = run("taskset", "-c", here, RUN, SPLIT, STUB)
    check("fewer processors than devices" in good(one).stderr, one.stderr)


def help_texts():
    said = good(run(RUN, "--help")).stdout
    options = re.findall(r"(--[a-z-]+)", said)
    man = good(run(RUN, "--help-man")).stdout.replace("\\-", "-")
    check(said.startswith("usage: pcc-run SPLIT") and "--stall" in options and all(o in man for o in options), said)
    check(good(run(RUN, "--version")).stdout.startswith("pcc-run "), "version")
    check("in-flight" in good(run(RUN, "--help-completion=bash")).stdout, "completion")


def sequences():
    """Sequences and maps, of files of ONNX's form; what is another kind of value is refused."""
    from onnx import MapProto, TensorProto as T, helper as h, numpy_helper as nh, save

    def model(name, nodes, given, shape):
        x, y, z = (h.make_tensor_value_info(n, T.FLOAT, size) for n, size in (("x", [2]), ("y", shape), ("z", [2])))
        graph = h.make_graph(nodes, "g", [h.make_value_info("s", given), x], [y, z])
        imports = [h.make_opsetid("", 18), h.make_opsetid("ai.onnx.ml", 3)]
        save(h.make_model(graph, opset_imports=imports, ir_version=8), HERE / f"{name}.onnx")
        good(run(PCC, HERE / f"{name}.onnx", "-d", "2xcpu", "-q", "--pictures=none", "-Wno-guessed-dim", "-o",
                 HERE / name))
        (HERE / f"{name}_in").mkdir()
        (HERE / f"{name}_in/input_1.pb").write_bytes(nh.from_array(np.float32([1, 2])).SerializeToString())

    def made(name, value):
        (HERE / f"{name}_in/input_0.pb").write_bytes(value if isinstance(value, bytes) else value.SerializeToString())
        return run(RUN, HERE / name, HERE / f"{name}_in", f"--output={HERE / 'out'}")
    rows = [np.array([[1, 2]], np.float32), np.array([[3, 4], [5, 6]], np.float32)]
    neg = h.make_node("Neg", ["x"], ["z"])
    floats = h.make_sequence_type_proto(h.make_tensor_type_proto(T.FLOAT, [None, 2]))
    model("seq", [h.make_node("ConcatFromSequence", ["s"], ["y"], axis=0), neg], floats, [None, 2])
    good(made("seq", nh.from_list(rows)))
    with np.load(HERE / "out/sample0.npz") as got:
        check(got["y"].tolist() == [[1, 2], [3, 4], [5, 6]] and got["z"].tolist() == [-1, -2], f"sequence: {got['y']}")
    verify = [Path(PCC).parent / "pcc-verify", HERE / "seq.onnx", HERE / "seq", HERE / "seq_in"]
    check("2 outputs" in good(run(*verify)).stdout, f"pcc-verify: {run(*verify).stdout}")
    refused(run(RUN, HERE / "seq"), 1, "input 's'", "give a folder of input_0.pb, input_1.pb, ...")
    for value, said in ((nh.from_list([rows[0].astype(int)]), "expected seq<f32>, found seq<i64>"),
                        (nh.from_list([]), "an empty sequence"), (b"\x1a\x7f", "expected a sequence in ONNX's form"),
                        (b"\x10\x03", "expected a sequence of tensors"),
                        (b"\x1a\x03abc", "expected a tensor in ONNX's form")):
        refused(made("seq", value), 1, "input_0.pb" if "found" not in said else "seq_in", said)
    to = h.make_node("DictVectorizer", ["s"], ["y"], domain="ai.onnx.ml", string_vocabulary=["a", "b", "c"])
    model("map", [to, neg], h.make_map_type_proto(T.STRING, h.make_tensor_type_proto(T.FLOAT, [])), [1, 3])
    rows = list(np.float32([[3], [1]]))
    one = MapProto(key_type=T.STRING, string_keys=[b"c", b"a"], values=nh.from_list(rows))
    good(made("map", one))
    with np.load(HERE / "out/sample0.npz") as got:
        check(got["y"].ravel().tolist() == [1, 0, 3], f"map: {got['y']}")
    good(made("map", one.SerializeToString() + MapProto(values=one.values).SerializeToString()))  # values twice
    one.string_keys.append(b"b")
    refused(made("map", one), 1, "expected a map in ONNX's form, with a value for each key")
    refused(made("map", nh.from_dict({1: np.float32(3)})), 1, "expected map<str,f32>, found map<i64,f32>")


def by_cuda(library):
    """What a runtime with CUDA's provider is asked for (support/fake_cuda.c); all runs on the CPU, with its outputs."""
    fake = f"--onnxruntime={extras.BUILT / 'libfake-cuda.so'}"
    os.environ["PCC_FAKE_OF"] = str(library)

    def sized(m):
        m["devices"][1].update(memory_bytes=1 << 30, reserved_bytes=1 << 20, gpu=5)
        m["devices"][2].update({"class": "t4", "precision": "tf32"})
    folder = changed("gpus", "manifest.json", sized)
    want = outputs_of(folder, "--samples=3", engine="--optimise=none")
    said = good(run(RUN, folder, fake, "--samples=3", "--optimise=none", "--provider=cpu1=cuda", "--provider=t4=cuda:0",
                    f"--output={HERE / 'by_cuda'}")).stderr
    heard = sorted(line for line in said.splitlines() if line.startswith("fake: "))
    options = "arena_extend_strategy=kSameAsRequested do_copy_in_default_stream=1"
    check(heard[:2] == [f"fake: cuda device_id=0 {options} use_tf32=1",
                        f"fake: cuda device_id=5 {options} use_tf32=0 gpu_mem_limit={(1 << 30) - (1 << 20)}"]
          and len(heard) == 4 and re.fullmatch("fake: memory CudaPinned 0 [05] -1", heard[2])
          and heard[3] == "fake: pinned memory is used", f"heard {heard}")
    check(outputs(HERE / "by_cuda") == want, "other outputs")
    for args, words in ((["--provider=cpu1=dml"], "expected DEVICE=cuda or DEVICE=cuda:N"),
                        (["--provider=cpu9=cuda"], "no such device or class"),
                        (["--provider=cpu0=cuda"], "cpu0 is no GPU in the plan: say which it is, cpu0=cuda:0"),
                        (["--provider=cpu1=cuda,cpu1=cuda:2"], "'cpu1' comes twice"),
                        (["--provider=cpu1=cuda", "--memory"], "--memory has no effect with --provider")):
        refused(run(RUN, folder, fake, *args), 2, words)
    refused(run(RUN, folder, "--provider=cpu1=cuda"), 1, "part1.onnx (cpu1, GPU 5 by CUDA): cannot be loaded: ",
            "onnxruntime-gpu has it")


def words():
    """Strings in a .npz, and a sample that is one file of ONNX's form."""
    from onnx import TensorProto as T, helper as h, numpy_helper, save
    said = ["", "ä€ two", "𝄞", "longer than others"]
    graph = h.make_graph([h.make_node("Gather", ["said", "at"], ["word"]), h.make_node("Neg", ["at"], ["y"])], "g",
                         [h.make_tensor_value_info("at", T.INT64, [2, 3])],
                         [h.make_tensor_value_info("word", T.STRING, [2, 3]),
                          h.make_tensor_value_info("y", T.INT64, [2, 3])],
                         [h.make_tensor("said", T.STRING, [4], [w.encode() for w in said])])
    save(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8), HERE / "words.onnx")
    good(run(PCC, HERE / "words.onnx", "-d", "1xcpu", "-q", "--pictures=none", "-o", HERE / "words"))
    at = np.array([[0, 1, 2], [3, 3, 1]])
    (HERE / "at.pb").write_bytes(numpy_helper.from_array(at).SerializeToString())
    outputs_of(HERE / "words", HERE / "at.pb", engine="--verbose")
    with np.load(HERE / "out/sample0.npz") as got:
        check(got["word"].tolist() == np.array(said)[at].tolist() and got["y"].tolist() == (-at).tolist(),
              f"strings: {got['word']}")
    (HERE / "at.pb").write_bytes(b"no tensor")
    refused(run(RUN, HERE / "words", HERE / "at.pb"), 1, "expected a tensor in ONNX's form")
    far = numpy_helper.from_array(at)
    far.ClearField("raw_data")
    far.data_location = T.EXTERNAL
    for key, value in (("location", "nowhere.bin"), ("offset", "0"), ("length", str(at.nbytes))):
        far.external_data.add(key=key, value=value)
    (HERE / "at.pb").write_bytes(far.SerializeToString())
    refused(run(RUN, HERE / "words", HERE / "at.pb"), 1, "at.pb: the elements of its tensor cannot be read")
    graph.initializer[0].string_data[3] = b"\xff\xfe"
    save(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8), HERE / "bytes.onnx")
    good(run(PCC, HERE / "bytes.onnx", "-d", "1xcpu", "-q", "--pictures=none", "-o", HERE / "bytes"))
    np.savez(HERE / "at.npz", at=at)
    refused(run(RUN, HERE / "bytes", HERE / "at.npz", f"--output={HERE / 'never'}"), 1, "its strings are not UTF-8")
    check(not list((HERE / "never").iterdir()), "no half file")
    back = h.make_graph([h.make_node("Identity", ["s"], ["t"])], "g", [h.make_tensor_value_info("s", T.STRING, [4])],
                        [h.make_tensor_value_info("t", T.STRING, [4])])
    save(h.make_model(back, opset_imports=[h.make_opsetid("", 18)], ir_version=8), HERE / "back.onnx")
    good(run(PCC, HERE / "back.onnx", "-d", "1xcpu", "-q", "--pictures=none", "-o", HERE / "back"))
    for given in (np.array(said), np.array([w.encode() for w in said])): # of 4 bytes a character, and UTF-8
        np.savez(HERE / "said.npz", s=given)
        outputs_of(HERE / "back", HERE / "said.npz", engine="--verbose")
        with np.load(HERE / "out/sample0.npz") as got:
            check(got["t"].tolist() == said, f"strings back: {got['t']}")
    for bad, why in ((["a\0b"] * 4, "expected strings in UTF-8, without NUL"), ([b"\xff"] * 4, "in UTF-8"),
                     (np.array(said, ">U20"), "expected plain numbers, the lowest byte first, or strings"),
                     (["\ud800"] * 4, "in UTF-8"), (said[:3], "expected [4], found [3]")):
        np.savez(HERE / "bad.npz", s=np.array(bad))
        refused(run(RUN, HERE / "back", HERE / "bad.npz"), 1, why)


def replanned():
    """Two devices promise to halve the time of one, so samples go on there: each has the outputs that it had before."""
    one, out = HERE / "one", HERE / "switched"
    good(run(PCC, MODEL, "-d", "1xcpu", "-q", "--dim=sequence=8", "--pictures=none", "-o", one))
    want = outputs_of(one, "--samples=8", "--seed=3", "--optimise=none", engine="--verbose")
    r = good(run(RUN, one, "--samples=8", "--seed=3", "--optimise=none", f"--output={out}", "--replan=1", "--", "-d",
                 "2xcpu", "--pictures=none", "--part-cost=0"))
    check("samples 0 to 3, " in r.stdout and "samples 4 to 7, planned again:" in r.stdout, r.stdout + r.stderr)
    check(outputs(out) == want and len(want) == 8, "other outputs behind a switch")
    new, old = HERE / "one-replanned", f"no plan was measured to be faster than {one}"
    check(new.is_dir() != (old in r.stderr), r.stderr)
    if new.is_dir():
        check(len(json.loads((new / "manifest.json").read_text())["parts"]) == 2, "the split that is left")
        good(run(RUN, new, "--samples=2"))


def replanned_states():
    """States go on from split to split: outputs are those of one split, from random samples and from files that bring
    states once."""
    model, one, out = HERE / "moved.onnx", HERE / "moved", HERE / "moved-out"
    good(run(GEN, "gpt", "--kv", "--layers", 2, "--width", 16, "--heads", 2, "--vocab", 32, "-o", model))
    good(run(PCC, model, "-d", "1xcpu", "-q", "--dim=batch=1,sequence=2,past_sequence=3", "--pictures=none", "-o", one))
    want = outputs_of(one, "--samples=9", "--seed=3", "--optimise=none", "--state", engine="--verbose")
    many = ("--samples=9", "--seed=3", "--optimise=none", "--state", f"--output={out}", "--replan=2", "--")
    for args, words in ((("-d", "2xcpu"), "samples 3 to 5, planned again:"),
                        (("-d", "2xcpu", "--state=past_key_values.0.key=present.1.key"), "keeps other states")):
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(HERE / "moved-replanned", ignore_errors=True)
        r = good(run(RUN, one, *many, *args, "--pictures=none", "--part-cost=0"))
        check(words in r.stdout + r.stderr, f"{args}: {r.stdout}{r.stderr}")
        check(outputs(out) == want and len(want) == 9, f"{args}: other outputs behind a switch")


def replan():
    """Usage, plans that fail, and plans that promise too little: what runs goes on."""
    many, behind = ("--samples=9", "--replan=2"), ("--", "-d", "2xcpu")
    for args, word in (((*many,), "arguments of pcc behind --"), ((*behind,), "behind -- without --replan"),
                       (("--samples=5", "--replan=2", *behind), "at least 6 samples"),
                       ((*many, "-o", "x.json", *behind), "--trace has no effect"),
                       (("--costs=x",), "--costs has no effect"), ((*many, *behind, "--costs=x"), "the rounds measure"),
                       ((*many, *behind, "-o", "x"), "--output behind --"),
                       ((*many, *behind, "--dim=sequence=8"), "the sizes are those of the split"),
                       ((*many, "--", "--part-cost=0"), "expected --devices"),
                       ((*many, *behind, "--for=triton"), "--for behind --"),
                       (("-o", SPLIT / "schedule.json"), "schedule.json is read and would be written")):
        refused(run(RUN, SPLIT, STUB, *args), 2, word)
    slow, out = f"{STUB}:delay=2ms", HERE / "out"
    want = outputs_of(SPLIT, "--samples=9")
    for args, rc, words in ((("-d", "4xcpu"), 0, ["samples 0 to 2, "]), (("-d", "1xcpu:1KiB"), 1, ["samples 0 to 2, "]),
                            (("-d", "strange"), 1, [])):
        shutil.rmtree(out)
        r = run(RUN, SPLIT, slow, *many, f"--output={out}", "--", *args, "--pictures=none")
        check(r.returncode == rc and all(w in r.stdout for w in words), f"{args}: {r.returncode} {r.stdout} {r.stderr}")
        check(rc == 0 or not words or "planning again failed: the best split so far goes on" in r.stderr, r.stderr)
        if args[1] == "1xcpu:1KiB":
            check(outputs(out) == want and "no plan fits" in r.stderr, f"{args}: {r.stderr}")


def replan_on():
    """More devices than before; a new split that cannot run; what is known to fail fails before the first run."""
    one, out, slow = HERE / "alone", HERE / "out", f"{STUB}:delay=1ms"
    good(run(PCC, MODEL, "-d", "1xcpu", "-q", "--dim=sequence=8", "--pictures=none", "-o", one))
    r = run(RUN, one, slow, "--samples=8", "--replan=3", "--", "-d", "8xcpu", "--part-cost=0", "--pictures=none")
    check(good(r).stdout.count("planned again:") >= 1, r.stdout + r.stderr)
    shutil.rmtree(out, ignore_errors=True)
    r = good(run(RUN, one, slow, "--samples=8", "--replan=1", f"--cores=cpu0={min(os.sched_getaffinity(0))}",
                 f"--output={out}", "--", "-d", "2xa100", "--pictures=none"))
    check(len(outputs(out)) == 8 and "the new split failed: the best one so far goes on" in r.stderr, r.stderr)
    args = ("--samples=4", "--replan=1", "--", "-d", "2xcpu")
    refused(run(RUN, one, STUB, "--costs=nothing.json", *args), 1, "nothing.json")
    taken = HERE / "alone-replanned"
    shutil.rmtree(taken, ignore_errors=True)
    taken.mkdir()
    (taken / "letter.txt").write_text("keep me")
    r = run(RUN, one, STUB, *args)
    refused(r, 1, "letter.txt")
    check(not r.stdout, r.stdout)
    (one / "model.onnx").unlink()
    refused(run(RUN, one, STUB, *args), 1, "model.onnx")


def by_runtime():
    """The bits of run_split.py, with lists and without, with states and without."""
    make()
    r = run(RUN, SPLIT, "--verbose")
    extras.need("ONNX Runtime is not found" not in r.stderr, "no ONNX Runtime: pip install onnxruntime")
    library = re.search(r"onnxruntime [\d.]+, (\S+),", good(r).stderr)[1]
    sys.path.insert(0, str(SOURCE / "tools/python"))
    from pcc.run_split import Runner

    kv, kept = HERE / "kv.onnx", HERE / "kept"
    good(run(GEN, "gpt", "--kv", "--layers", 2, "--width", 16, "--heads", 2, "--vocab", 32, "-o", kv))
    good(run(PCC, kv, "-d", "2xcpu", "-q", "--dim=batch=1,sequence=2,past_sequence=3", "--pictures=none", "-o", kept))
    for folder, state, argses in ((SPLIT, False, [(), ("--order=model",)]),
                                  (kept, False, [()]), (kept, True, [("--state",), ("--state", "--order=model")])):
        runner = Runner(folder, exact=True)
        samples = [runner.random_sample(k, state) for k in range(4)]
        paths = [HERE / f"sample{k}.npz" for k in range(4)]
        for path, sample in zip(paths, samples):
            np.savez(path, **sample)
        want = list(runner.stream(samples, in_flight=1, state=state))
        for args in argses:
            outputs_of(folder, *paths, "--optimise=none", *args, engine="--verbose")
            for k in range(4):
                with np.load(HERE / f"out/sample{k}.npz") as got:
                    check(list(got.files) == list(want[k]) and
                          all(got[n].dtype == v.dtype and got[n].shape == v.shape and
                              got[n].tobytes() == v.tobytes() for n, v in want[k].items()),
                          f"{folder.name} {args}: sample {k} is not run_split.py's")

    np.savez(paths[0], **Runner(kept, exact=True).random_sample(0, False))
    outputs_of(kept, paths[0], "--state", "--samples=3", engine="--verbose")
    grown = [np.load(HERE / f"out/sample{k}.npz")["present.0.key"].shape[2] for k in range(3)]
    check(grown == [5, 7, 9], f"a file brings its states once: {grown}")
    words()
    sequences()
    by_cuda(library)
    replanned()
    replanned_states()
    from onnx import TensorProto as T, helper as h, save
    nothing = h.make_optional_type_proto(h.make_sequence_type_proto(h.make_tensor_type_proto(T.FLOAT, [2])))
    numbers = h.make_sequence_type_proto(h.make_tensor_type_proto(T.FLOAT, [2]))
    graph = h.make_graph([h.make_node("Optional", [], ["none"], type=numbers), h.make_node("Neg", ["x"], ["y"])], "g",
                         [h.make_tensor_value_info("x", T.FLOAT, [2])],
                         [h.make_value_info("none", nothing), h.make_tensor_value_info("y", T.FLOAT, [2])])
    save(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8), HERE / "optional.onnx")
    good(run(PCC, HERE / "optional.onnx", "-d", "1xcpu", "-q", "--pictures=none", "-o", HERE / "optional"))
    good(run(RUN, HERE / "optional", "--samples=3"))
    refused(run(RUN, HERE / "optional", f"--output={HERE / 'written'}"), 1, "sample 0: output 'none' is no tensor")
    check(not list((HERE / "written").iterdir()), "no half file")

    def other(m):
        m["values"]["logits"]["shape"][2] = 31

    def unknown(m):
        m["values"]["logits"]["shape"] = [None, 32, 31]

    refused(run(RUN, changed("shape", "manifest.json", other)), 1, "part3.onnx (cpu3), sample 0: ")
    refused(run(RUN, changed("rank", "manifest.json", unknown)), 1, "part3.onnx (cpu3), sample 0: ",
            "'logits' has another type or shape")
    said = good(run(RUN, kept, "--memory")).stderr
    check(all(f"cpu{d}: memory: planned " in said for d in range(2)) and "first sample" in said, said)

    def little(m):
        m["devices"][1]["memory_bytes"] = 200000

    refused(run(RUN, changed("little", "manifest.json", little, kept), "--memory", "-q"), 1, "cpu1: its parts hold",
            "planned", "--reserve")


if extras.extra() == "ort":
    by_runtime()
else:
    for step in (make, orders, many, turns, states, files, failing, interrupted, lists, long_part, in_flight,
                 bad_folders, usage, replan, replan_on, help_texts):
        step()
sys.exit(finish())
