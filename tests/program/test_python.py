"""The Python package of tools/python plans, splits and runs what the program does.

Its declarations are those of pcc.h, its version is the program's. Plans of a path, of bytes and of an onnx.ModelProto
are the program's plan; a folder that it writes has the program's bytes; settings come through as Python has them. Parts
over three CPU devices give 200 samples in order, equal to the whole model's. Errors are exceptions of their kind with
what was said, warnings are Python's; what a progress function raises, and Ctrl-C, come out of the call. Threads have
handles of their own. Importing loads neither numpy nor the library; the README's example runs. Needs the shared library
beside PCC, not sanitized, onnx and ONNX Runtime (else 77)."""
import filecmp
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
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
from pcc import _library

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
    raises(pcc.BadUse, "no such picture", split.show, "nothing")
    raises(pcc.BadUse, "expected table, summary", plan.text, "nothing")
    plan.close()
    raises(pcc.BadUse, "the plan is closed", plan.text)
    pcc.Split(temp / "want").verify(whole)


def settings(model):
    a = pcc.plan(model, "2xa100", pin={".*lm_head.*": "acc1"}, keep_blocks=True, reserve="10%", part_cost=None, **QUIET)
    b = pcc.plan(model, "2xa100", **QUIET)
    check(next(n.device for n in a.nodes if "lm_head/MatMul" in n.name) == "acc1", "pin")
    check(a.value >= b.value and "reserved" in str(a), "keep_blocks, reserve")
    check(pcc.plan(model, "2xa100", pipeline="dp-place", **QUIET).planner == "dp-place", "pipeline")


def errors(temp, model):
    e = raises(pcc.NoPlan, "no plan fits the memory", pcc.plan, model, "1xa100:64KiB", **QUIET)
    said = e.diagnostics if e else ()
    check(any(d.level == "error" and d.text == str(e) for d in said), f"diagnostics {said}")
    raises(pcc.BadInput, "none.onnx: cannot open", pcc.plan, "none.onnx")
    raises(pcc.BadInput, "model.onnx: ", pcc.plan, b"no model")
    raises(pcc.BadInput, "mine.onnx: ", pcc.plan, b"no model", name="mine.onnx")
    raises(pcc.BadUse, "did you mean '2xa100'", pcc.plan, model, "2xa1000")
    raises(pcc.BadUse, "did you mean 'devices'", pcc.plan, model, devics="2xa100")
    raises(pcc.BadUse, "not int", pcc.plan, 3)
    raises(pcc.BadUse, "NUL", pcc.plan, model, dim="a\0=1")
    raises(pcc.BadUse, "the pipeline has no planner", pcc.plan, model, pipeline="fuse", **QUIET)
    raises(pcc.BadInput, "expected the folder of a split", pcc.Split, temp / "nowhere")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        plan = pcc.plan(model, "2xa100")
    check([w.category for w in said] == [pcc.PccWarning] and "[guessed-dim]" in str(said[0].message), f"said {said}")
    check([d.name for d in plan.diagnostics if d.level == "warning"] == ["guessed-dim"], f"{plan.diagnostics}")
    raises(pcc.BadInput, "-Werror: 1 warning", pcc.plan, model, "2xa100", warnings="error=guessed-dim")


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
    raises(pcc.RunError, "is not given", split.run, {})
    raises(pcc.RunError, "is not given", lambda: list(split.stream([samples[0], {}])))
    raises(pcc.RunError, "this ONNX Runtime has", pcc.Split(split.folder, {"a100": "NoProvider"}).run, samples[0])
    raises(pcc.BadUse, "expected {device: provider}", pcc.Split, split.folder, "CUDAExecutionProvider")
    raises(pcc.RunError, "a dict of arrays by name", split.run, samples[0]["input_ids"])
    raises(pcc.RunError, "expected a list of samples", split.stream, samples[0])
    raises(pcc.RunError, "expected one of acc0", pcc.Split(split.folder, {"acc9": ("X", 0)}).run, samples[0])


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
        imports()
        same_plans(temp, model)
        settings(model)
        errors(temp, model)
        places(temp, model)
        stops(model)
        side_by_side(model)
        stream(temp, model)
        example(temp, model)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
