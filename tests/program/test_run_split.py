"""run_split.py, which pcc puts into a split folder, computes what the whole model computes.

Run as a program of its own (python -I: nothing of this tree is on its way), and as a module: one sample, many in a
pipeline of threads (in order, never more on their way than asked, each as the whole model has it), states fed back as
by hand, inputs from and outputs to files. Strings, sequences, outputs that are inputs or weights. What is wrong is said
in one line with its place: a part with another weight, an input that lacks or has another type, a provider that is not
there, a sample in the middle that no part can take: what came before comes out, nothing after, and no thread stays.
Times hold parts alone, by a clock that moves by what is done; a run tells how far it is, and ends at Ctrl-C with its
figures. Providers get the options asked for, in an ONNX Runtime that only looks as if it had them. Needs onnx and ONNX
Runtime (else 77)."""
# extras: shared
import contextlib
import io
import json
import os
import re
import shutil
import signal
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


def alone(*args, program, said=""):
    """The program in a process of its own, which does what it should."""
    r = run(sys.executable, "-I", program, *args)
    lines = r.stdout.splitlines()
    check(r.returncode == 0 and said in r.stdout and max(map(len, lines)) <= 80,
          f"{args}: exit {r.returncode}: {r.stdout[-500:]}{r.stderr[-500:]}")


def inside(*args, code=0, said="", lines=None):
    """The same in this process. Returns what it printed; of an error, one line in all."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        got = run_split.main([str(a) for a in args])
    text = err.getvalue() if code else out.getvalue()
    check(got == code and said in text and (code in (0, 130) or text.count("\n") == (lines or 1)),
          f"{args}: exit {got}, not {code} with '{said}': {out.getvalue()[-500:]}{err.getvalue()[-500:]}")
    return out.getvalue()


def as_program(temp, model, folder):
    program = folder / "run_split.py"
    check(program.read_bytes() == (SOURCE / "tools/python/pcc/run_split.py").read_bytes(), "not the package's runner")
    alone(program=program, said="1 sample, first after")
    alone("--verify", model, program=program, said="equal: 5 outputs, bit by bit, optimisations off, on random inputs, "
                                                   "seed 0")
    rng = np.random.default_rng(1)
    past = {n: rng.standard_normal((1, 2, 3, 16)).astype(np.float32)
            for n in (f"past_key_values.{k}.{w}" for k in (0, 1) for w in ("key", "value"))}
    sample = {"input_ids": rng.integers(0, 64, (1, 4)), **past}
    np.savez(temp / "a.npz", **sample)
    inside(temp / "a.npz", "--folder", folder, "--pipeline", 3, "--samples", 4, "--output", temp / "o",
           said="4 samples")
    want = whole(model)(run_split.read_sample(temp / "a.npz"))
    for k in range(4):
        check(near(run_split.read_sample(temp / f"o/sample{k}.npz"), want), f"sample{k}.npz")
    inside(temp / "a.npz", "--folder", folder, "--verify", model, said=f"optimisations off, on {temp / 'a.npz'}")
    test_data(temp, folder, sample, want)
    inside("--folder", temp, code=1, said="expected the folder of a split")
    inside(temp / "none.npz", "--folder", folder, code=1, said="none.npz: No such file")
    inside("--folder", folder, "--output", temp / "a.npz", code=1, said=f"error: {temp / 'a.npz'}: File exists\n")
    check(len(run_split.Runner(folder).parts) == 3, "three parts")
    rows = inside("--folder", folder, "--provider", "a100=CPUExecutionProvider", "--provider", "acc1=cpu").splitlines()
    table = [r.split() for r in rows[2:6]]
    check(table[0] == ["part", "on", "takes", "planned"] and [r[:3] for r in table[1:]] ==
          [[f"part{k}.onnx", f"acc{k}", "CPUExecutionProvider"] for k in range(3)], f"where parts ran: {rows}")


def test_data(temp, folder, sample, want):
    """Files input_K.pb of ONNX test data: a folder, files by their numbers or by the names in them, several samples."""
    (temp / "set").mkdir()
    for k, (name, value) in enumerate(sample.items()):  # the name in a file comes before its number, as with 3 and 4
        proto = numpy_helper.from_array(value, name if k > 2 else "")
        (temp / f"set/input_{k if k < 3 else 7 - k}.pb").write_bytes(proto.SerializeToString())
    paths = [temp / f"set/input_{k}.pb" for k in range(len(sample))]
    check(run_split.sample_files([*paths, temp / "a.npz", temp / "set", *paths[:1]])
          == [paths, [temp / "a.npz"], paths, paths[:1]], "samples of files")
    inside(*paths, temp / "set", "--folder", folder, "--output", temp / "pb", said="2 samples")
    check(all(near(run_split.read_sample(temp / f"pb/sample{k}.npz"), want) for k in range(2)), "outputs of test data")
    inside(paths[1], "--folder", folder, code=1, said="input 'input_ids' is not given")
    inside(temp, "--folder", folder, code=1, said="expected files input_0.pb, input_1.pb, ... in this folder")
    odd_file = temp / "input_7.pb"
    odd_file.write_bytes(numpy_helper.from_array(np.zeros(1), "z").SerializeToString())
    inside(odd_file, "--folder", folder, code=1, said="expected input_0.pb to input_4.pb")
    (temp / "input_0.pb").write_bytes(b"no tensor")
    inside(temp / "input_0.pb", "--folder", folder, code=1, said="expected tensor(int64) for input 'input_ids'")
    manifest = {"inputs": [{"name": "q"}], "values": {"q": {"onnx_type": "seq(tensor(float))"}}}
    arrays = [np.ones((2, 3), np.float32), np.zeros(1, np.float32)]
    (temp / "input_0.pb").write_bytes(numpy_helper.from_list(arrays, "q").SerializeToString())
    got = run_split.read_sample([temp / "input_0.pb"], manifest)["q"]
    check(all(map(np.array_equal, got, arrays)) and len(got) == 2, f"a sequence: {got}")


def files(temp):
    """Outputs are kept whole or not at all, whatever they are called."""
    run_split.write_outputs(temp / "w.npz", {"file": np.arange(3), "/a/b": np.array(["x", "yz"], object)})
    got = run_split.read_sample(temp / "w.npz")
    check(list(got["file"]) == [0, 1, 2] and list(got["/a/b"]) == ["x", "yz"], f"files: {got}")
    before = {p.name for p in temp.iterdir()}
    raises("output 'q' is no tensor", run_split.write_outputs, temp / "v.npz", {"a": np.arange(3), "q": [1]})
    check({p.name for p in temp.iterdir()} == before, "a half-written file is left")


class Time:
    """A clock that moves by what is done: making or reading inputs takes 1000 s, a part one, writing outputs 100."""

    def __init__(self, monkey):
        self.now, self.monotonic = 0.0, run_split.time.monotonic
        for owner, name, seconds in ((run_split.Runner, "random_sample", 1000), (run_split, "read_sample", 1000),
                                     (run_split.Part, "run", 1), (run_split, "write_outputs", 100)):
            monkey(owner, name, self.slower(getattr(owner, name), seconds))
        monkey(run_split, "time", self)

    def perf_counter(self):
        return self.now

    def slower(self, what, seconds):
        def call(*args, **more):
            self.now += seconds
            return what(*args, **more)
        return call


@contextlib.contextmanager
def patched():
    before = []

    def monkey(owner, name, value):
        before.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    try:
        yield monkey
    finally:
        for owner, name, value in reversed(before):
            setattr(owner, name, value)


def few_random(temp, folder):
    """A long run takes its random inputs again; where outputs are kept, each sample has its own."""
    for more, want in ((), 2), (("--output", temp / "f"), 5):
        seeds = []
        with patched() as monkey:
            make = run_split.Runner.random_sample
            monkey(run_split, "MOST_RANDOM", 2)
            monkey(run_split.Runner, "random_sample", lambda r, k, *s: (seeds.append(k), make(r, k, *s))[1])
            inside("--folder", folder, "--samples", 5, *more)
        check(seeds == list(range(want)), f"random inputs {more}: {seeds}")


def times(temp, folder):
    """The figures hold neither the making nor the reading of inputs; each part's time stands beside the planned one."""
    with patched() as monkey:
        Time(monkey)
        rows = inside("--folder", folder, "--samples", 4).splitlines()
        check(rows[0] == "4 samples, first after 3 s, then 3 s each", f"random inputs: {rows[0]}")
        manifest = run_split.read_manifest(folder)
        check(rows[1] == f"planned time-per-sample: {run_split._time(manifest['objective']['value_s'])}", rows[1])
        want = [["1", "s", *run_split._time(p["compute_s"]).split()] for p in manifest["parts"]]
        check([r.split()[3:] for r in rows[3:6]] == want and len(want) == 3, f"the table: {rows[2:6]}")
        rows = inside(temp / "a.npz", temp / "a.npz", "--folder", folder, "--output", temp / "t").splitlines()
        check(rows[:2] == ["2 samples, first after 3 s, then 103 s each", "with the writing of outputs"], f"{rows[:2]}")
        monkey(run_split, "AHEAD", 1)
        rows = inside(*[temp / "a.npz"] * 3, "--folder", folder).splitlines()
        check(rows[:2] == ["3 samples, first after 3 s, then 1003 s each", "with the reading of files"], f"{rows[:2]}")
        rows = inside("--folder", folder, "--samples", 3).splitlines()
        check(rows[0] == "3 samples, first after 3 s, then 3 s each", f"beyond the limit random inputs repeat: {rows}")
        monkey(run_split, "SHOWN", 1)
        rows = [r.split() for r in inside("--folder", folder).splitlines()]
        check(rows[3][0] == "part0.onnx" and rows[4][:4] == ["2", "more", "2", "s"], f"many parts: {rows}")
    check([run_split._time(t) for t in (None, 0.0, 1.23456e-6, 9.9999e-4, 0.0123456, 12)]
          == ["-", "0 us", "1.235 us", "1000 us", "12.35 ms", "12 s"], "times as text")


def progress(folder):
    """What is being done is shown while it lasts: on a terminal by a line that is gone at the end, in a log by some."""
    for tty in (True, False):
        said = io.StringIO()
        said.isatty = lambda tty=tty: tty
        with patched() as monkey, contextlib.redirect_stderr(said):
            for name in ("FIRST", "EACH", "LOGGED"):
                monkey(run_split._Progress, name, 0.001)
            with run_split._Progress() as p:
                p.tell("opening part0.onnx")
                deadline = run_split.time.monotonic() + 300
                while said.getvalue().count("opening part0.onnx (0 s)") < 2 and run_split.time.monotonic() < deadline:
                    threading.Event().wait(0.002)
        text = said.getvalue()
        check(text.count("part0.onnx (") > 1 and (text.endswith("\r\x1b[K") if tty else text.endswith(" s)\n")
              and "\r" not in text), f"progress, terminal {tty}: {text[-200:]!r}")
    with patched() as monkey:
        seen = []
        monkey(run_split._Progress, "tell", lambda self, text: seen.append(text))
        inside("--folder", folder, "--samples", 2)
        check(seen[:3] == [f"opening part{k}.onnx, {k + 1} of 3" for k in range(3)] and "making inputs, 1 of 2" in seen
              and seen[-1].startswith("2 of 2 samples, "), f"progress: {seen}")


def stops(temp, folder):
    """Ctrl-C ends a run with the figures so far and without a traceback; so does a reader that has enough."""
    with patched() as monkey:
        ran, part = [], run_split.Part.run
        monkey(run_split.Part, "run", lambda *a: part(*a) if ran.append(0) or len(ran) < 8 else
               signal.raise_signal(signal.SIGINT))
        said = inside("--folder", folder, "--samples", 9, code=130, said="stopped after 2 of 9 samples\n")
        check(said.startswith("2 samples, first after ") and "part2.onnx" in said, f"after Ctrl-C: {said}")
        ran[:] = [0] * 8
        said = inside("--folder", folder, code=130, said="stopped after 0 of 1 samples\n")
        check(not said, f"before the first sample: {said}")
    p = subprocess.Popen([sys.executable, "-I", folder / "run_split.py", temp / "a.npz", "--samples", "1000000",
                          "--pipeline", "3", "--output", temp / "k"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    deadline = run_split.time.monotonic() + 300
    while not (temp / "k/sample1.npz").exists() and run_split.time.monotonic() < deadline and p.poll() is None:
        threading.Event().wait(0.005)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate()
    kept = len(list((temp / "k").glob("*.npz")))
    found = re.fullmatch(r"stopped after (\d+) of 1000000 samples\n", err)
    check(p.returncode == 130 and found and int(found[1]) - kept in (0, 1) and "planned" in out,
          f"Ctrl-C: exit {p.returncode}, {kept} kept: {out} {err}")
    check(not list((temp / "k").glob(".*")), "a half-written file is left")
    started(temp, folder)
    read, write = os.pipe()
    os.close(read)
    r = subprocess.run([sys.executable, "-I", folder / "run_split.py"], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    check(r.returncode == -signal.SIGPIPE and not r.stderr, f"a closed pipe: {r.returncode} {r.stderr}")


def started(temp, folder):
    """Ctrl-C while modules are loaded ends the program without a word; a module that cannot be loaded is named."""
    for k, (text, code, said) in enumerate((
            ("import signal\ntry:\n signal.raise_signal(2)\nexcept KeyboardInterrupt as e:\n raise ImportError from e",
             -signal.SIGINT, ""),
            ("raise ImportError('libx.so: no such file\\nmore')", 1, "cannot import numpy: libx.so: no such file"),
            ("import none_such", 1, "error: none_such is not installed for this Python"))):
        (temp / f"path{k}").mkdir()
        (temp / f"path{k}/numpy.py").write_text(text)
        r = subprocess.run([sys.executable, "-S", folder / "run_split.py"], capture_output=True, text=True,
                           env={**os.environ, "PYTHONPATH": str(temp / f"path{k}")})
        check(r.returncode == code and said in r.stderr and r.stderr.count("\n") == bool(said) and not r.stdout,
              f"'{text}': exit {r.returncode}: {r.stderr}")


# ---------------------------------------------------------------- providers


LOG = b"""\x1b[0;93m2026 [W:onnxruntime:, c.cc:1 f] a warning\x1b[m
\x1b[1;31m2026 [E:onnxruntime:Default, d.cc:2 f] /a/d.cc:3 int k::f(h<int>) [OpenVINO] Device NPU is not available
\x1b[m
"""


class Session:
    """An ONNX Runtime with more providers than there are here: runs on the CPU, and notes what it was asked for."""

    asked = []

    def __init__(self, path, options, providers, **more):
        (name, said), *_ = [p if isinstance(p, tuple) else (p, {}) for p in providers]
        beside = [("CUDAExecutionProvider", {"device_id": said["device_id"]})] if name.startswith("Tensorrt") else []
        last = [*beside, "CPUExecutionProvider"] if name != "CPUExecutionProvider" else []
        self.asked.append((name, said, providers[1:] == last and more == {"enable_fallback": 0}))
        if "nope" in said:
            raise RuntimeError("/a/b.cc:12 void f(int (*)(), const g&) Invalid EP option: nope\nmore")
        self.left_out = said.get("device_type") == "NPU"
        if self.left_out:
            os.write(2, LOG)
        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.name = "CPUExecutionProvider" if self.left_out else name

    def get_providers(self):
        return [self.name, "CPUExecutionProvider"]

    def __getattr__(self, name):
        return getattr(self.session, name)


class Runtime:
    """The module onnxruntime, with that session."""

    InferenceSession, loud = Session, []

    def get_available_providers(self):
        names = ("Tensorrt", "CUDA", "Dml", "OpenVINO", "CoreML", "QNN", "WebGpu", "CPU")
        return [f"{name}ExecutionProvider" for name in names]

    def set_default_logger_severity(self, level):
        self.loud.append(level)

    def __getattr__(self, name):
        return getattr(ort, name)


def asked(folder, *providers, **more):
    """What sessions of the three parts are asked for, (provider, options) each."""
    Session.asked.clear()
    words = run_split.parse_providers(providers) if providers else more["said"]
    run_split.Runner(folder, words)
    check(all(good for _, _, good in Session.asked), f"other providers than CUDA and the CPU beside {Session.asked}")
    return [(name.replace("ExecutionProvider", ""), said) for name, said, _ in Session.asked]


def providers(folder):
    with patched() as monkey:
        monkey(run_split, "ort", Runtime())
        cpu = ("CPU", {})
        for short, name in (("cuda", "CUDA"), ("trt", "Tensorrt"), ("tensorrt", "Tensorrt"), ("DML", "Dml"),
                            ("CUDAExecutionProvider", "CUDA")):
            found = asked(folder, f"a100={short}")
            exact = {"use_tf32": "0"} if name == "CUDA" else {}
            check(found == [(name, {"device_id": str(k), **exact}) for k in range(3)], f"{short}: {found}")
        for short, name in (("openvino", "OpenVINO"), ("coreml", "CoreML"), ("qnn", "QNN"), ("webgpu", "WebGpu"),
                            ("cpu", "CPU"), ("OpenVINOExecutionProvider", "OpenVINO")):
            check(asked(folder, f"acc1={short}") == [cpu, (name, {}), cpu], f"{short}: {Session.asked}")
        check(asked(folder, "acc0=cuda:7", "acc2=cpu:3")
              == [("CUDA", {"device_id": "7", "use_tf32": "0"}), cpu, cpu], "numbers")
        check(asked(folder, "acc2=cuda:gpu_mem_limit=9,device_id=4", "acc0=cuda:gpu_mem_limit=9,use_tf32=1")
              == [("CUDA", {"gpu_mem_limit": "9", "device_id": "0", "use_tf32": "1"}), cpu,
                  ("CUDA", {"gpu_mem_limit": "9", "device_id": "4", "use_tf32": "0"})], f"options: {Session.asked}")
        check(asked(folder, 'acc0=openvino:device_type="HETERO:GPU,CPU",cache_dir=C:\\a=b,num_streams="2"')
              == [("OpenVINO", {"device_type": "HETERO:GPU,CPU", "cache_dir": "C:\\a=b", "num_streams": "2"}), cpu,
                  cpu], f"quotes: {Session.asked}")
        said = {"a100": "cuda", "acc1": ("openvino", {"device_type": "GPU.1", "num_streams": 2}),
                "acc2": ("DmlExecutionProvider", 1)}
        check(asked(folder, said=said) == [("CUDA", {"device_id": "0", "use_tf32": "0"}),
                                           ("OpenVINO", {"device_type": "GPU.1", "num_streams": "2"}),
                                           ("Dml", {"device_id": "1"})], f"in Python: {Session.asked}")
        runner = run_split.Runner(folder, {"acc1": ("cuda", {"device_id": 5})})
        check([p.memory for p in runner.parts] == [("cpu", 0), ("cuda", 5), ("cpu", 0)], "memory by the option")
        refused(folder)


def refused(folder):
    for word, said in (("acc0", "expected DEVICE=PROVIDER"), ("=cuda", "expected DEVICE=PROVIDER"),
                       ("acc0=:1", "expected DEVICE=PROVIDER"), ("acc0=cuda:", "option '': expected KEY=VALUE"),
                       ("acc0=cuda:x1", "option 'x1': expected KEY=VALUE"),
                       ("acc0=openvino:device_type", "option 'device_type': expected KEY=VALUE"),
                       ("acc0=openvino:device_type=GPU,n=", "option 'n': expected KEY=VALUE"),
                       ("acc0=openvino:a=1,,b=2", "option '': expected KEY=VALUE"),
                       ("acc0=openvino:a=1,a=2", "option 'a': is there twice"),
                       ('acc0=openvino:a="x,b=1', "option 'a': its quote has no end")):
        inside("--folder", folder, "--provider", word, code=2, said=f"error: --provider '{word}': {said}")
    inside("--folder", folder, "--provider", "acc7=cpu", code=1, said="expected one of acc0, acc1, acc2, a100")
    inside("--folder", folder, "--provider", "a100=no", code=1, said="'no' of 'a100': this ONNX Runtime has Ten")
    inside("--folder", folder, "--provider", "acc1=openvino:1", code=1, said="of 'acc1' has no device numbers")
    inside("--folder", folder, "--provider", "acc1=openvino:nope=1", code=1,
           said="error: part1.onnx (acc1) on OpenVINOExecutionProvider: cannot be loaded: Invalid EP option: nope\n")
    with tempfile.TemporaryFile() as log:  # of the first attempt: the runtime's own log
        stderr = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            inside("--folder", folder, "--provider", "acc1=openvino:device_type=NPU", code=1,
                   said="part1.onnx (acc1) on OpenVINOExecutionProvider: [OpenVINO] Device NPU is not available\n")
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
    check(Runtime.loud[-1] == 2, f"the log of the attempt that explains: {Runtime.loud}")
    check(run_split._bare("/a b") == "/a b" and run_split._bare("/a.cc:1 f(x") == "/a.cc:1 f(x", "other messages stay")


def hostile(temp, folder):
    """Manifests that are not as they should be: the file, the key and what was expected; no file of another folder is
    opened; names do nothing to a terminal."""
    bad, text = temp / "bad", (folder / "manifest.json").read_text(encoding="utf-8")
    shutil.copytree(folder, bad)
    (temp / "part0.onnx").write_bytes((folder / "part0.onnx").read_bytes())
    (bad / "link.onnx").symlink_to(temp / "part0.onnx")

    def pieces(*names, axis=1, whole="past"):
        row = {"in": whole, "out": "logits", "axis": axis, "run": 1, "pieces": [{"in": n, "out": n} for n in names]}
        return json.dumps({"states": [row]}).replace("past", json.loads(text)["states"][0]["in"])

    types = '"seq(' + "seq(" * 40 + 'tensor(float)' + ")" * 41 + '"'
    for where, value, said in (
            ("", "[" * 5000, "no JSON: "), ("['values']", "[]", "values: expected an object, found a list"),
            ("['parts'][0]", "{}", 'parts[0]: there is no "file"'), ("['inputs']", "null", "inputs: expected a list"),
            ("['parts'][0]['file']", '"../part0.onnx"', "parts[0].file: expected the name of a file in this folder"),
            ("['model']['file']", '"/etc/passwd"', "model.file: expected the name of a file in this folder"),
            ("['parts'][1]['file']", '"link.onnx"', "'link.onnx' is a link that leads out of the folder"),
            ("['parts'][0]['device']", '"b\\u001b[31m"', "a device of \"devices\", found 'b\\x1b[31m'"),
            ("['parts'][1]['inputs'][0]", '"n\\u202e\\ud800\\u0007"', "found 'n\\u202e\\ud800\\x07'"),
            ("['parts'][0]['outputs'][0]", '"input_ids"', "parts[0].outputs: a tensor is made twice"),
            ("['parts'][0]['compute_s']", "1e999", "expected seconds or null, found Infinity"),
            ("['values']['input_ids']['onnx_type']", types, "expected ONNX's word for a type"),
            ("['values']['input_ids']['numpy_type']", '"int65"', "expected a type of numpy or null"),
            ("['inputs'][0]['sizes']", "[4611686018427387904, 8]", "input 'input_ids' of sizes [461"),
            ("['inputs'][0]['sizes']", '["a"]', "inputs[0].sizes: expected a list of sizes or null, found a list"),
            ("['dims']", '{"n\\u009b": -1}', "dims.'n\\u009b': expected a number >= 0, found -1"),
            ("['states'][0]['in']", '"logits"', "states: expected an input, found 'logits'"),
            ("['sharding']", '{"tolerance": 2}', "sharding.tolerance: expected a number from 0 to 1, found 2"),
            ("['sharding']", pieces(axis=1 << 62), "states[0].axis: expected a number from 0 to 63, found 46"),
            ("['sharding']", pieces(), "': expected 2 to 64 pieces, found 0"),
            ("['sharding']", pieces("p", "p"), "sharding.states: 'p' is listed twice"),
            ("['sharding']", pieces("p", "q", whole="logits"), "sharding.states: expected an input, found 'logits'"),
            ("['outputs'][0]['name']", '"y"', "outputs: expected a tensor of")):
        manifest = json.loads(text)
        if where:
            exec(f"manifest{where} = json.loads(value)", {"manifest": manifest, "json": json, "value": value})
        (bad / "manifest.json").write_text(json.dumps(manifest) if where else value, encoding="utf-8")
        inside("--folder", bad, code=1, said=said)
    manifest = json.loads(text.replace('"acc0"', '"acc0\\u001b]0;x\\u0007"'))
    (bad / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    said = inside("--folder", bad, said="acc0\\x1b]0;x\\x07")
    check(not run_split.HIDDEN.search(said.replace("\n", "")), f"printed as it is: {said!r}")
    inside("--folder", folder, "--provider", "acc0=cpu", "--provider", "acc0=cuda", code=2,
           said="'acc0' has a provider already")
    for more in (("--provider", "acc0=cpu"), ("--samples", 2), ("--state",), ("--tolerance", 2)):
        r = run(sys.executable, folder / "run_split.py", "--verify", temp / "gpt.onnx", *more)
        said = "--tolerance 2: expected a number from 0 to 1" if more[0] == "--tolerance" else \
            f"{more[0]} has no place beside --verify"
        check(r.returncode == 2 and said in r.stderr, f"{more}: {r.stderr}")


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
    w = numpy_helper.from_array(np.ones((3, 4), np.float32), "w")  # elements of a sequence have sizes, too
    nodes = [node("SequenceAt", ["q", "i"], ["x"]), node("MatMul", ["x", "w"], ["y0"])]
    nodes += [node("Exp", [f"y{k}"], [f"y{k + 1}"]) for k in range(6)]
    ins = [helper.make_tensor_sequence_value_info("q", F32, ["n", 3]), info("i", I64, [])]
    graph = helper.make_graph(nodes, "elements", ins, [info("y6", F32, ["n", 4])], [w])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), temp / "q.onnx")
    folder = split(temp / "q.onnx", temp / "elements", 2, "--dim=n=5")
    shapes = [e.shape for e in run_split.Runner(folder).random_sample()["q"]]
    check(shapes == [(5, 3), (5, 3)], f"random elements of a sequence: {shapes}")


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
    for wrong in (1, (run_split.CPU,), (run_split.CPU, "1"), (run_split.CPU, True), (1, {}), ("cpu", 1, {})):
        raises("provider of 'acc0': expected its name, (name, number) or (name, options)", run_split.Runner, folder,
               {"acc0": wrong})
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
    check(run_split._difference(np.float32([1, 2]), np.float32([1, 2.01]), 0.01) is None
          and run_split._difference(np.array([100, 2]), np.array([101, 2]), 0.01), "a tolerance is that of floats")
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
        folder = split(model, temp / name)
        inside(model.parent / f"{name}.inputs/test_data_set_0", "--folder", folder, "--verify", model,
               said=f"equal: {len(session.get_outputs())} outputs")


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
        files(temp)
        times(temp, folder)
        few_random(temp, folder)
        progress(folder)
        stops(temp, folder)
        providers(folder)
        hostile(temp, folder)
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
