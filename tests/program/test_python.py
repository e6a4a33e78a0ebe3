"""The Python package of tools/python plans, splits and runs what the program does.

Its declarations are those of pcc.h, its version is the program's. Plans of a path, of bytes and of an onnx.ModelProto
are the program's plan; a folder that it writes has the program's bytes; settings come through as Python has them. Parts
over three CPU devices give 200 samples in order, equal to the whole model's. Errors are exceptions of their kind with
what was said, warnings are Python's; what a progress function raises, and Ctrl-C, come out of the call. Threads have
handles of their own. A session stands in place of ONNX Runtime's, with one line changed; its cache serves two
processes at once, sees models and weights that change, keeps within its limit, and does without where it cannot be
used. Importing loads neither numpy nor the library; the README's example runs. Needs the shared library beside PCC,
not sanitized, onnx and ONNX Runtime (else 77)."""
import copy
import builtins
import filecmp
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import typing
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from sanitized import SANITIZED
from with_ort import GEN, PCC, SOURCE, check  # first: it skips the test without ONNX Runtime
from checks import finish
import numpy as np
import onnx
import onnxruntime as ort

LIBRARY = Path(PCC).resolve().parent / "libpcc.so"
os.environ["PCC_LIBRARY"] = str(LIBRARY)
sys.path.insert(0, str(SOURCE / "tools/python"))
import pcc
import pcc._settings
from pcc import _cache, _library, _session, _words, run_split

QUIET = {"warnings": "no-guessed-dim"}


def run(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)


def raises(kind, text, what, *args, **more):
    try:
        check(False, f"no {kind.__name__} '{text}', but {what(*args, **more)!r}")
    except kind as e:
        check(text in str(e) and type(e) is kind, f"wanted {kind.__name__} '{text}', got {type(e).__name__} '{e}'")
        return e
    return None


# ---------------------------------------------------------------- the library's face


def declarations():
    """Calls and fields of pcc.h, in order and by kind, are those that ctypes is told."""
    header = re.sub(r"/\*.*?\*/", "", (SOURCE / "tools/lib/pcc.h").read_text(), flags=re.S)
    calls = {name: kind.strip() for kind, name in re.findall(r"^PCC_API ([^;(]*?)(pcc_\w+)\(", header, re.M)}
    check(set(calls) == set(_library._CALLS), f"calls of pcc.h {sorted(calls)}")
    kinds = {"const char *": "c_char_p", "struct pcc *": "c_void_p", "void": "NoneType", "enum pcc_status": "c_int",
             "const struct pcc_verdict *": "LP_Verdict"}
    for name, (result, arguments) in _library._CALLS.items():
        found = result.__name__ if result else "NoneType"
        check(kinds[calls[name]] == found, f"{name} returns {calls[name]}, not {found}")
        inside = re.search(rf"\b{name}\(([^)]*)\)", header)[1]
        n = 0 if inside == "void" else inside.count(",") + 1
        check(n == len(arguments), f"{name} takes {n}, not {len(arguments)}")
    short = {"c_char_p": "const char *", "c_long": "int64_t", "c_longlong": "int64_t", "c_uint": "uint32_t",
             "c_int": "int32_t", "LP__Device": "const struct pcc_device *", "LP__Node": "const struct pcc_node *"}
    for struct, mine in (("pcc_verdict", _library.Verdict), ("pcc_device", _library._Device),
                         ("pcc_node", _library._Node), ("pcc_progress", _library._Progress)):
        body = re.search(rf"struct {struct} \{{(.*?)\n\}};", header, re.S)[1]
        fields = []
        for kind, names in re.findall(r"((?:const )?(?:struct )?\w+(?:\s*\*)?)\s*([\w*,\s]+);", body):
            fields += [(re.sub(r"\s*\*", " *", kind), n.strip(" *\n")) for n in names.split(",")]
        ours = [(short[k.__name__], n.rstrip("_")) for n, k in mine._fields_]
        check(fields == ours, f"struct {struct}: pcc.h has {fields}, ctypes {ours}")
    check(run(PCC, "--version").stdout.startswith(f"pcc {pcc.__version__}\n"), "another version than the program's")


def page():
    """The calls in the table of the README are there."""
    text = (SOURCE / "tools/python/README.md").read_text()
    for row in re.findall(r"^\| (`(?:Plan|Split|Session|pcc)\W.*?) \|", text, re.M):
        of = pcc
        for owner, name in re.findall(r"`(?:(Plan|Split|pcc)\.)?(\w+)\(", row):
            of = {"pcc": pcc, "": of}.get(owner) or getattr(pcc, owner)
            check(any(hasattr(x, name) for x in (of, pcc, builtins)), f"README: {of.__name__} has no {name}()")


def imports():
    code = "import sys, pcc; print(*[m for m in ('numpy', 'onnxruntime', 'onnx') if m in sys.modules]," \
           " len(pcc._library._loaded))"
    r = run(sys.executable, "-c", code, env={**os.environ, "PYTHONPATH": str(SOURCE / "tools/python")})
    check(r.stdout.strip() == "0", f"import loads {r.stdout} {r.stderr}")
    env = {**os.environ, "PYTHONPATH": str(SOURCE / "tools/python"), "PCC_LIBRARY": "/no/such/library"}
    r = run(sys.executable, "-c", "import pcc; pcc.plan('x.onnx')", env=env)
    check("PccError: the library /no/such/library cannot be loaded" in r.stderr, r.stderr[-300:])
    r = run(sys.executable, "-m", "pcc", "--version", env={**env, "PCC_LIBRARY": str(LIBRARY)})
    check(r.returncode in (0, 70), f"python -m pcc: {r.returncode} {r.stderr}")


def no_program(temp):
    """The command of a package without its program says so, though the PATH has a program of this name: itself."""
    shutil.copytree(SOURCE / "tools/python/pcc", temp / "lib/a/b/pcc", ignore=shutil.ignore_patterns("__pycache__"))
    (temp / "bin").mkdir()
    (temp / "bin/pcc").write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(temp / 'lib/a/b')!r})\n"
                                  "from pcc._program import pcc\npcc()\n")
    (temp / "bin/pcc").chmod(0o755)
    r = run(temp / "bin/pcc", "--version", env={**os.environ, "PATH": str(temp / "bin")}, timeout=300)
    check(r.returncode == 70 and "this package has no program" in r.stderr, f"no program: {r.returncode} {r.stderr}")


# ---------------------------------------------------------------- plans and splits


def same_plans(temp, model):
    link = "1TB/s,0us"
    r = run(PCC, model, "-d", "3xa100", "--link", link, "--dim", "sequence=8", "--dim", "past_sequence=4", "--dim",
            "batch=1", "-q", "-o", temp / "want")
    check(r.returncode == 0, r.stderr)
    want = filecmp.dircmp(temp / "want", temp / "want").left_list
    whole = onnx.load(model)
    dims = {"sequence": 8, "past_sequence": 4, "batch": 1}
    for k, (source, more) in enumerate(((model, {}), (model.read_bytes(), {"name": "gpt.onnx"}),
                                        (whole, {"name": str(temp / "gpt.onnx")}), (str(model), {}))):
        split = pcc.split(source, temp / f"got{k}", "3xa100", link=link, dim=dims, **more)
        different = [n for n in want if (temp / "want" / n).read_bytes() != (temp / f"got{k}" / n).read_bytes()]
        check(want and not (set(different) - ({"model.onnx"} if source is whole else set())), f"{k}: {different}")
    plan = split.plan
    check((split.folder, len(split.parts)) == (temp / "got3", 3) and plan.part_count == 3, f"{split}, {plan!r}")
    check(plan.to_dict()["objective"]["value_s"] == plan.value and plan.status in str(plan), f"{plan!r}")
    check(plan.gap == 0 and plan.bound == plan.value and "optimal" == plan.status, f"{plan!r}")
    columns = plan.to_columns()
    listed = {n for names in split.manifest["nodes"].values() for n in names}
    check({n for n, part in zip(columns["name"], columns["part"]) if part is not None} == listed, "to_columns")
    check(plan.to_columns("devices")["name"] == ["acc0", "acc1", "acc2"] and plan.devices[0].used > 0, "devices")
    check(plan.show()._repr_svg_().lstrip().startswith("<"), "show")
    one_view(temp, plan)
    check(plan._repr_svg_() == plan.show().svg and split._repr_svg_() == split.show().svg, "what a notebook shows")
    (split.folder / "plan.svg").unlink()
    check(split._repr_svg_() is None, "a notebook shows the text where there is no picture")
    raises(pcc.BadUse, "no such picture", split.show, "nothing")
    raises(pcc.BadUse, "expected table, summary", plan.text, "nothing")
    plan.close()
    raises(pcc.BadUse, "text: the plan is closed", plan.text)
    check(plan._repr_svg_() is None, "a closed plan's picture")
    pcc.Split(temp / "want").verify(whole)


def one_view(temp, plan):
    """A picture that is shown changes none that is written later, also if it cannot be shown."""
    for path in (temp / "a.dot", temp / "b.dot"):
        plan.write(path)
        plan.show("nodes")
        raises(pcc.BadInput, "view 'no': expected devices, blocks, nodes or shards", plan.show, "no")
    check((temp / "a.dot").read_bytes() == (temp / "b.dot").read_bytes(), "show() changes what write() draws")
    with plan._handle.setting("view", "nodes"):
        plan.write(temp / "nodes.dot")
        plan.show("devices")
        plan.write(temp / "b.dot")
    check((temp / "nodes.dot").read_bytes() == (temp / "b.dot").read_bytes(), "show() loses the view that was set")


def kept(temp, model):
    """Plans and splits go through pickle and copy, and are closed by `with`."""
    with pcc.split(model, temp / "kept", ["2xa100", "1xcpu"], pipeline="dp-place", pictures="none", **QUIET) as split:
        plan, sample = split.plan, split.random_sample()
        got = pickle.loads(pickle.dumps(plan))
        for name in ("value", "bound", "bound_all", "gap", "status", "scope", "argument", "proof", "planner",
                     "objective", "devices", "nodes", "part_count", "diagnostics"):
            check(getattr(got, name) == getattr(plan, name), f"pickle: {name}")
        check(str(got) == str(plan) and got.to_dict() == plan.to_dict() and got._repr_svg_() is None, "pickle: texts")
        for call, args in ((got.write, ["x.json"]), (got.show, []), (got.show, ["blocks"]), (got.text, ["ir"])):
            raises(pcc.BadUse, "the plan comes from a pickle, which holds no model: plan again", call, *args)
        check(pickle.loads(pickle.dumps(got)).nodes == plan.nodes, "a pickle of what comes from one")
        check(copy.copy(plan) is plan and copy.deepcopy([plan])[0] is plan, "copies of a plan")
        want = split.run(sample)
        copies = [copy.copy(split), copy.deepcopy(split), pickle.loads(pickle.dumps(split))]
        check([c.plan.value for c in copies] == [plan.value] * 3 and copies[0].plan is plan, "plans of copies")
        copies[0].close()
        check(len(plan.text()) > 100, "a copy closes the plan of another")
        said = raises(pcc.NoPlan, "no plan", pcc.plan, model, "1xa100:64KiB", memory_model="sum", **QUIET)
        error = pickle.loads(pickle.dumps(said))
        check(type(error) is pcc.NoPlan and error.diagnostics[-1].level == "note", f"an error in a pickle: {error!r}")
    raises(pcc.BadUse, "the split is closed", split.run, sample)
    raises(pcc.BadUse, "the plan is closed", plan.text)
    check(pickle.loads(pickle.dumps(plan)).nodes == plan.nodes, "a closed plan in a pickle")
    check(all(np.array_equal(copies[2].run(**sample)[n], want[n]) for n in want), "a split from a pickle, by arguments")
    named = {**sample, "input_ids": sample["input_ids"] * 0}
    got = copies[2].run(named, input_ids=sample["input_ids"])
    check(all(np.array_equal(got[n], want[n]) for n in want), "arguments beside a dict")
    session = ort.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    check(copies[2].input_names == [i.name for i in session.get_inputs()], f"input_names {copies[2].input_names}")
    check(copies[2].output_names == [o.name for o in session.get_outputs()], f"output_names {copies[2].output_names}")
    raises(pcc.RunError, "no input 'inputs' in the model", copies[2].run, inputs=sample)
    raises(pcc.RunError, "a dict of arrays by name", copies[2].run, sample["input_ids"], **sample)
    with pcc.plan(model, pipeline=["fuse", "dp-place"], **QUIET) as plan:
        own = plan.split(temp / "own")
        own.close()
        check(plan.planner == "dp-place" and len(plan.text()) > 100, "a split closes a plan that is not its own")
    raises(pcc.BadUse, "write: the plan is closed", plan.write, temp / "x.json")


def settings(model):
    a = pcc.plan(model, "2xa100", pin={".*lm_head.*": "acc1"}, keep_blocks=True, reserve="10%", part_cost=None, **QUIET)
    b = pcc.plan(model, "2xa100", **QUIET)
    check(next(n.device for n in a.nodes if "lm_head/MatMul" in n.name) == "acc1", "pin")
    check(a.value >= b.value and "reserved" in str(a), "keep_blocks, reserve")
    check(pcc.plan(model, "2xa100", pipeline="dp-place", **QUIET).planner == "dp-place", "pipeline")
    names = [d.name for d in pcc.plan(model, ["2xa100", "1xcpu"], pipeline="dp-place", **QUIET).devices]
    check(names == ["acc0", "acc1", "cpu0"], f"a list of devices: {names}")
    lists = {"pin": ["wte=acc0", {"lm_head": "acc0"}], "dim": [{"batch": 2}, "sequence=4,past_sequence=2"],
             "pictures": ["svg", "dot"], "link": ["1GB/s,1us"]}
    both = pcc.plan(model, ("1xa100",), pipeline="dp-place", **lists)
    check(both.diagnostics == () and [d.name for d in both.devices] == ["acc0"], f"lists: {both.diagnostics}")


def devices():
    """The classes that the program lists, and those of a description."""
    listed = re.findall(r"^([\w-]+) .*/s  \w+(?:, or .*)?$", run(PCC, "--list-devices").stdout, re.M)
    check([c.name for c in pcc.devices()] == [n for n in listed if n != "device"], f"devices: {pcc.devices()}")
    a100, cpu = pcc.devices(["2xa100:40GiB", "1xcpu"])
    check((a100.name, a100.count, a100.memory, a100.host) == ("a100", 2, 40 << 30, False), f"{a100}")
    check((cpu.name, cpu.count, cpu.memory, cpu.host) == ("cpu", 1, None, True), f"{cpu}")
    known = next(c for c in pcc.devices() if c.name == "a100")
    check(known.operations["f16"] == 312 * 10**12 and known.operations == a100.operations, f"rates {known}")
    raises(pcc.BadUse, "did you mean '2xa100'? (see pcc.devices())", pcc.devices, "2xa1000")
    raises(pcc.BadInput, "none.json", pcc.devices, Path("none.json"))


def typed():
    """What type checkers know of settings is what the library takes."""
    r = run(sys.executable, SOURCE / "tools/python/settings.py", "-")
    check(r.stdout == (SOURCE / "tools/python/pcc/_settings.py").read_text(encoding="utf-8"),
          "tools/python/pcc/_settings.py is not of this library: run build/venv/bin/python tools/python/settings.py")
    hints = typing.get_type_hints(pcc._settings.Settings)
    listed = {_words.python_name(n) for n in _library.library_settings()}
    check(set(hints) == listed - {"devices"}, f"settings {set(hints) ^ listed}")
    check("objectve" not in hints and "makespan" in str(hints["objective"]) and bool in hints["keep_blocks"].__args__,
          f"types: {hints['objective']} {hints['keep_blocks']}")
    check(all(pcc.plan.__annotations__["settings"] == "Unpack[Settings]" == call.__annotations__["settings"]
              for call in (pcc.plan, pcc.split)), "plan() and split() do not name the settings")
    for line in re.findall(r"^ {2,}(?:-\w, )?--([\w-]+)", run(PCC, "--help=all").stdout, re.M):
        known = line in _library.library_settings()
        handle = _library.Handle()
        try:
            handle.set(line, "x" if line != "warnings" else "error")
            check(known, f"--{line} is a setting that is not listed")
        except pcc.BadUse:
            check(not known, f"--{line} is listed, but no setting")


# Messages of the library, and what users of the package read.
WORDS = {
    "--dim past=4: no dimension has this name": 'dim={"past": 4}: no dimension has this name',
    "--state a/b:0=c:0: the model has no input": 'state={"a/b:0": "c:0"}: the model has no input',
    "say --dim batch=N, or": 'say dim={"batch": N}, or',
    "--pin 'a=acc9': there is no device": "pin 'a=acc9': there is no device",
    "; set with -d, --link, --dim": "; set with devices, link, dim",
    "-d detect: none (see --list-devices): x": 'devices="detect": none (see pcc.devices()): x',
    "--judge=latency or (--reserve)": 'judge="latency" or (reserve)',
    "--micro-batches=6 would do": "micro_batches=6 would do",
    "a --around=NODE:2 shows": 'a around="NODE:2" shows',
    "-p: unknown pass 'x' (see --list-passes)": "pipeline: unknown pass 'x' (see pcc --list-passes)",
    "(-p fuse,dp-place) -p 'auto-place{gain=0}'": '(pipeline="fuse,dp-place") pipeline="auto-place{gain=0}"',
    "begin -p with a pass, in -p": "begin pipeline with a pass, in pipeline",
    "-Werror: 1 warning": 'warnings="error": 1 warning',
    "(-o x.dot --view=nodes), -o the model's folder": '(write("x.dot") view="nodes"), out the model\'s folder',
    "solver: pcc ... -p 'ip-place'": "solver: pcc ... -p 'ip-place'",
    "pcc --help=all": "pcc --help=all",
    "--for=triton: each part": 'for_="triton": each part',
    "'x --dim y -p dp-place': a--dim, /--dim/x-d": "'x --dim y -p dp-place': a--dim, /--dim/x-d",
}


def words():
    """Messages have settings as keywords; nothing else in them changes."""
    for text, want in WORDS.items():
        check(_library.words(text) == want, f"'{text}' is '{_library.words(text)}'")
    literals = set()
    for path in (p for f in ("ir", "passes", "frontends", "backends", "tools/lib") for p in (SOURCE / f).rglob("*.c")):
        text = re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8"))
        literals |= set(re.findall(r'"((?:[^"\\\n]|\\.)*(?<![\w\'-])--[a-z](?:[^"\\\n]|\\.)*)"', text))
    check(len(literals) > 60, f"{len(literals)} messages with options")
    for text in literals:
        left = [n for n in re.findall(r"(?<![\w'/-])--([a-z][a-z-]*)", _library.words(text))
                if n in _library.library_settings()]
        check(not left, f"a message says --{left}: {text}")


def errors(temp, model):
    e = raises(pcc.NoPlan, "no plan fits the memory", pcc.plan, model, "1xa100:64KiB", **QUIET)
    said = e.diagnostics if e else ()
    check(any(d.level == "error" and d.text == str(e) for d in said), f"diagnostics {said}")
    raises(pcc.BadInput, "none.onnx: cannot open", pcc.plan, "none.onnx")
    raises(pcc.BadInput, "model.onnx: ", pcc.plan, b"no model")
    raises(pcc.BadInput, "mine.onnx: ", pcc.plan, b"no model", name="mine.onnx")
    raises(pcc.BadUse, "did you mean '2xa100'", pcc.plan, model, "2xa1000")
    raises(pcc.BadUse, "did you mean 'devices'", pcc.plan, model, devics="2xa100")
    raises(pcc.BadUse, "there is no setting 'objectve'; did you mean 'objective'?", pcc.plan, model, objectve="x")
    raises(pcc.BadUse, "objective 'x': expected time-per-sample, makespan", pcc.plan, model, objective="x")
    raises(pcc.BadUse, "dim 'batch=-1': expected NAME=N", pcc.plan, model, dim={"batch": -1})
    raises(pcc.BadUse, "devices: expected a value, found an empty list", pcc.plan, model, [])
    raises(pcc.BadUse, "link: expected one value, found 2: ['1GB/s', '1us']", pcc.plan, model, link=["1GB/s", "1us"])
    raises(pcc.BadUse, "pipeline: unknown pass 'fuze'", pcc.plan, model, pipeline=["fuze", "dp-place"])
    raises(pcc.BadUse, "not int", pcc.plan, 3)
    raises(pcc.BadUse, "NUL", pcc.plan, model, dim="a\0=1")
    raises(pcc.BadUse, "the pipeline has no planner", pcc.plan, model, pipeline="fuse", **QUIET)
    raises(pcc.BadInput, "expected the folder of a split", pcc.Split, temp / "nowhere")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        plan = pcc.plan(model, "2xa100")
    check([w.category for w in said] == [pcc.PccWarning] and "[guessed-dim]" in str(said[0].message), f"said {said}")
    check([d.name for d in plan.diagnostics if d.level == "warning"] == ["guessed-dim"], f"{plan.diagnostics}")
    raises(pcc.BadInput, 'warnings="error": 1 warning', pcc.plan, model, "2xa100", warnings="error=guessed-dim")


def places(temp, model):
    """A warning points at the line that called the package, each line once, whichever call it is."""
    (temp / "places.py").write_text(f"import pcc\nfor _ in range(2):\n    p = pcc.plan({str(model)!r})\n"
                                    f"    pcc.split({str(model)!r}, {str(temp / 'placed')!r})\n"
                                    "    p.text('json')\n")
    r = run(sys.executable, temp / "places.py", env={**os.environ, "PYTHONPATH": str(SOURCE / "tools/python")})
    found = re.findall(r"^(.*): PccWarning: .*guessed-dim\]$", r.stderr, re.M)
    check(found == [f"{temp / 'places.py'}:3", f"{temp / 'places.py'}:4"], f"warnings: {r.returncode} {r.stderr}")


def stops(model):
    """A search that would take minutes ends when it is told to, with a plan; or with what was raised."""
    long = {"pipeline": "anneal-place{moves=100000000000}", "time_limit": "100s", **QUIET}
    seen = []

    def enough(at):
        seen.append(at)
        return at.best is not None

    check(pcc.plan(model, "3xa100", progress=enough, **long).part_count >= 1, "stopped")
    check(seen and seen[-1].best > 0 and seen[-1].at == "anneal-place", f"progress {seen[-1:]}")
    raises(ZeroDivisionError, "division", pcc.plan, model, "3xa100", progress=lambda at: 1 / 0, **long)

    def no_parts(at):
        return 1 / 0 if at.phase == "writing parts" else at.best is not None

    with tempfile.TemporaryDirectory() as temp:
        out = Path(temp) / "out"
        raises(ZeroDivisionError, "division", pcc.split, model, out, "3xa100", progress=no_parts, **QUIET)
        check(not list(Path(temp).iterdir()), "half a split is left")
    for _ in range(3):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        raises(KeyboardInterrupt, "", pcc.plan, model, "3xa100", **long)
    check(signal.getsignal(signal.SIGINT) is signal.default_int_handler, "Ctrl-C is no longer Python's")


def side_by_side(model):
    alone, found = [pcc.plan(model, f"{k + 1}xa100", **QUIET).to_dict() for k in range(3)], {}

    def work(k):
        found[k] = pcc.plan(model, f"{k % 3 + 1}xa100", **QUIET).to_dict()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(len(found) == 6 and all(found[k] == alone[k % 3] for k in found), "in threads: other plans than alone")


# ---------------------------------------------------------------- running


def stream(temp, model):
    split = pcc.split(model, temp / "stream", devices="3xa100", link="1TB/s,0us", pictures="none",
                      dim={"sequence": 4, "past_sequence": 2}, **QUIET)
    check(len({p["device"] for p in split.manifest["parts"]}) == 3, "parts on three devices")
    whole = ort.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    names = [o.name for o in whole.get_outputs()]
    samples = [split.random_sample(k) for k in range(200)]
    n = 0
    for k, got in enumerate(split.stream(samples)):
        want = whole.run(names, samples[k])
        n += all(np.allclose(w, got[name], rtol=1e-4, atol=1e-5) for name, w in zip(names, want))
    check((k, n) == (199, 200), f"{n} of {k + 1} samples are the whole model's")
    check(split.verify(model) == len(names) == split.verify(onnx.load(model)), "verify")
    check(split.recompose(temp / "back.onnx") == temp / "back.onnx" and split.verify(temp / "back.onnx") == len(names),
          "the model that is put together again")
    raises(pcc.BadInput, "lies in the split", split.recompose, split.folder / "back.onnx")
    raises(pcc.BadUse, "ends in .onnx", split.recompose, temp / "back")
    raises(pcc.BadInput, "gone: make it first", split.recompose, temp / "gone/back.onnx")
    raises(pcc.RunError, "is not given", split.run, {})
    raises(pcc.RunError, "is not given", lambda: list(split.stream([samples[0], {}])))
    raises(pcc.RunError, "this ONNX Runtime has", pcc.Split(split.folder, {"a100": "NoProvider"}).run, samples[0])
    raises(pcc.BadUse, "expected {device: provider}", pcc.Split, split.folder, "CUDAExecutionProvider")
    raises(pcc.RunError, "a dict of arrays by name", split.run, samples[0]["input_ids"])
    raises(pcc.RunError, "expected a list of samples", split.stream, samples[0])
    raises(pcc.RunError, "expected one of acc0", pcc.Split(split.folder, {"acc9": ("X", 0)}).run, samples[0])


# A script as ONNX Runtime's pages have it; one line of it changes.
SCRIPT = """
session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
name = session.get_inputs()[0].name
kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
feed = {i.name: np.ones([d if isinstance(d, int) else 2 for d in i.shape], kinds[i.type])
        for i in session.get_inputs()}
label = session.get_outputs()[0].name
first = session.run([label], feed)[0]
outputs = session.run(None, feed, ort.RunOptions())
found = (name, [o.name for o in session.get_outputs()], first, outputs, session.get_providers())
"""


def as_there(path, **more):
    """What the script finds with ONNX Runtime, and with the line changed."""
    found = []
    for line in ("ort.InferenceSession(path,", "pcc.Session(path, **more,"):
        scope = {"ort": ort, "np": np, "pcc": pcc, "path": str(path), "more": more}
        exec(SCRIPT.replace("ort.InferenceSession(path,", line), scope)  # pylint: disable=exec-used
        found.append(scope["found"])
    want, got = found
    check(want[:2] + want[4:] == got[:2] + got[4:], f"with the line changed {got[:2]}, {got[4:]}, else {want[:2]}")
    return all(np.allclose(w, g, rtol=1e-4, atol=1e-5) for w, g in zip([want[2], *want[3]], [got[2], *got[3]]))


def sessions(temp, model):
    more = {"devices": "1xa100,2xh100", "link": "1TB/s,0us", "pictures": "none", "cache": temp / "kept", **QUIET}
    check(as_there(model, **more), "a session's outputs are not the whole model's")
    with pcc.Session(model, **more) as session, pcc.Session(session.split.folder) as there:
        check(len(session.split.parts) == 3 and session.split.folder.parent == temp / "kept", f"{session}")
        kinds = [(i.name, i.type, i.shape) for i in ort.InferenceSession(str(model)).get_inputs()]
        check([tuple(i) for i in session.get_inputs()] == kinds == [tuple(i) for i in there.get_inputs()], "inputs")
        place = _session._by_device(there.split.manifest, ["CUDAExecutionProvider"], None)
        numbers = [more["device_id"] for _, more in run_split._places(there.split.manifest["devices"], place).values()]
        check(numbers == [0, 1, 2], f"GPUs {numbers}")
        mixed = [{"name": f"acc{k}", "class": c, "index": 0, "gpu": 0} for k, c in enumerate(("a100", "mi300x"))]
        cuda, other, dml = (f"{p}ExecutionProvider" for p in ("CUDA", "MIGraphX", "Dml"))
        for said, want in (((cuda, other), [0, 0]), ((dml, dml), [0, 1])):  # DirectML counts GPUs of all makers
            got = run_split._places(mixed, dict(zip(("acc0", "acc1"), said)))
            check([more["device_id"] for _, more in got.values()] == want, f"numbers of {said}: {got}")
        raises(pcc.RunError, "no output 'x' in the model", session.run, ["x"], {})
        raises(pcc.RunError, "is not given", session.run, None, {})
        raises(pcc.BadUse, "it is split already", pcc.Session, session.split.folder, devices="2xa100")
        pair = "expected names, or pairs"
        for wrong, said in (("CUDAExecutionProvider", "expected {"), ([("cuda", {"device_id": 1})], "for 3 accel"),
                            ([("cuda",)], pair), ([5], pair), ([("cuda", 1)], pair), ([(1, {})], pair)):
            raises(pcc.BadUse, said, pcc.Session, session.split.folder, providers=wrong)
    for mode in ("link", "original"):
        raises(pcc.BadUse, "a session keeps its split apart", pcc.Session, model, weights=mode, **more)
    few = ort.SessionOptions()
    few.add_session_config_entry("session.load_model_format", "ORT")  # a model in another form: refused if it is heard
    raises(pcc.RunError, "cannot be loaded", pcc.Session, model, few, **more)
    raises(pcc.BadInput, "none.onnx", pcc.Session, temp / "none.onnx", **more)
    raises(pcc.NoPlan, "no plan fits", pcc.Session, model, **{**more, "devices": "1xa100:64KiB"})


def cache(temp, model):
    kept, path = temp / "cache", temp / "changes.onnx"
    more = {"devices": "2xa100", "pictures": "none", "cache": kept, **QUIET}
    path.write_bytes(model.read_bytes())

    def splits():
        return sorted(p.name for p in kept.iterdir() if p.is_dir())
    code = f"""import sys; sys.path.insert(0, {str(SOURCE / 'tools/python')!r}); import pcc
print(pcc.Session({str(path)!r}, devices="2xa100", pictures="none", cache={str(kept)!r},
                  warnings="no-guessed-dim").split.folder)"""
    two = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [p.communicate()[0].strip() for p in two]
    check(said[0] == said[1] == str(kept / splits()[0]) and len(splits()) == 1, f"two at once: {said}, {splits()}")
    made = (kept / splits()[0] / "manifest.json").stat().st_mtime_ns
    pcc.Session(path, **more).close()
    check((kept / splits()[0] / "manifest.json").stat().st_mtime_ns == made, "the split was made again")
    dead = kept / f".{splits()[0]}x.pcc-abcdef"  # of a killed process
    dead.mkdir()
    with pcc.Session(path, **more) as first, warnings.catch_warnings(record=True) as heard:
        check(not dead.exists(), "what a killed process left is kept")
        (kept / splits()[0] / "part1.onnx").unlink()
        warnings.simplefilter("always")
        with pcc.Session(path, **more) as second:
            check(second.split.folder != first.split.folder and "another session uses it" in str(heard[0].message),
                  f"a split in use without a part: {heard}")
    check(as_there(path, **more), "a split without a part is not made again")
    changed = onnx.load(model)
    for tensor in changed.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and np.prod(tensor.dims) > 1000:
            tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor) * 2, tensor.name))
    onnx.save(changed, path, save_as_external_data=True, location="changes.data")
    check(as_there(path, **more) and len(splits()) == 2, f"a model that changed: {splits()}")
    with open(temp / "changes.data", "r+b") as data:
        data.write(bytes(4096))
    os.utime(temp / "changes.data", ns=(1, 1))
    check(as_there(path, **more) and len(splits()) == 3, f"weights that changed: {splits()}")
    (temp / "other").mkdir()
    for name in ("changes.onnx", "changes.data"):
        shutil.copyfile(temp / name, temp / "other" / name)
    (temp / "other/changes.data").write_bytes(bytes((temp / "changes.data").stat().st_size))
    os.utime(temp / "other/changes.data", ns=(1, 1))
    check(_cache.key(temp / "other/changes.onnx", {}) != _cache.key(path, {}), "other weights of equal size and time")
    (temp / "list.txt").write_text("Conv\n")
    listed = {"support": f"{temp / 'list.txt'}:a100"}
    before = _cache.key(path, listed)
    (temp / "list.txt").write_text("Relu\n")
    check(_cache.key(path, listed) != before, "another list, FILE:CLASS")
    os.environ["PCC_CACHE_LIMIT"] = "1"
    with pcc.Session(model, **more) as first:
        check(splits() == [first.split.folder.name], f"beyond the limit: {splits()}")
        locks = sorted(p.stem for p in first.split.folder.parent.glob("*.lock"))
        check(locks == splits(), f"locks {locks} of splits {splits()}")
        pcc.Session(model, **{**more, "devices": "3xa100"}).close()
        check(len(splits()) == 2 and first.split.folder.is_dir(), f"a split in use went: {splits()}")
    del os.environ["PCC_CACHE_LIMIT"]
    without_cache(temp, model, more)


def without_cache(temp, model, more):
    """What is wrong with a cache is said, and the session runs; nothing of it is left."""
    def warned(text, **other):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            with pcc.Session(model, **{**more, **other}) as session:
                folder = session.split.folder
                session.run(None, session.split.random_sample())
        check(any(text in str(w.message) for w in heard) == bool(text) and not folder.exists(),
              f"expected '{text}', heard {[str(w.message) for w in heard]}")
    (temp / "open").mkdir()
    (temp / "open").chmod(0o777)
    warned("other users can write to it", cache=temp / "open")
    warned("Not a directory", cache=model / "cache")
    warned("", cache=False)
    if os.geteuid() == 0:
        (temp / "theirs").mkdir()
        os.chown(temp / "theirs", 12345, 12345)
        warned("belongs to another user", cache=temp / "theirs")
    full_disk(temp, model)


def full_disk(temp, model):
    """A cache on a file system of 16 KiB: that is said, the session runs, and nothing is left there."""
    (temp / "disk").mkdir()
    code = f"""import os, sys, warnings
sys.path.insert(0, {str(SOURCE / 'tools/python')!r})
import pcc
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    with pcc.Session({str(model)!r}, devices="2xa100", pictures="none", cache={str(temp / 'disk/kept')!r},
                     warnings="no-guessed-dim") as session:
        print(len(session.run(None, session.split.random_sample())), *(w.message for w in heard))
print([n for n in os.listdir({str(temp / 'disk/kept')!r}) if not n.endswith(".lock")])"""
    alone = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=16k none "$0" && exec "$@"', temp / "disk"]
    if not shutil.which("unshare") or run(*alone, "true").returncode:
        print("left out: no file system of its own for a full disk (unshare -rm)")
        return
    r = run(*alone, sys.executable, "-c", code)
    check(re.match(r"5 no split is kept for the next session: .* its file system has .*\n\[\]\n$", r.stdout),
          f"a full disk: {r.stdout} {r.stderr[-300:]}")


def example(temp, model):
    code = re.search(r"```python\n(.*?)```", (SOURCE / "tools/python/README.md").read_text(), re.S)[1]
    (temp / "example").mkdir()
    (temp / "example/model.onnx").write_bytes(model.read_bytes())
    r = run(sys.executable, "-W", "ignore", "-c", code, cwd=temp / "example",
            env={**os.environ, "PYTHONPATH": str(SOURCE / "tools/python")})
    lines = r.stdout.splitlines()
    check(r.returncode == 0 and "5 outputs are those of the whole model" in lines and "{'logits': (1, " in lines[-1],
          f"the example: {r.stdout[-300:]} {r.stderr[-300:]}")


def main():
    extras.need(not SANITIZED, "Python cannot load a sanitized library")
    extras.need(LIBRARY.exists(), f"no {LIBRARY.name} beside pcc")
    with tempfile.TemporaryDirectory() as name:
        temp = Path(name)
        model = temp / "gpt.onnx"
        run(GEN, "gpt", "--kv", "--layers", 2, "--width", 32, "--heads", 2, "--vocab", 64, "-o", model)
        declarations()
        page()
        imports()
        no_program(temp)
        same_plans(temp, model)
        kept(temp, model)
        settings(model)
        devices()
        typed()
        words()
        errors(temp, model)
        places(temp, model)
        stops(model)
        side_by_side(model)
        stream(temp, model)
        sessions(temp, model)
        cache(temp, model)
        example(temp, model)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
