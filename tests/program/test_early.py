#!/usr/bin/env python3
"""What would make writing fail is found before anything is planned, for every kind of -o.

Each run must end with exit 1 and one error that says the words, leave everything as it was, and end
before any pass ran (--time-passes shows none).  A control writes each kind.  Needs nothing but pcc.

Exit: 0 pass, 1 fail."""
# extras: dot far
# once: sanitized
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish

PCC = os.environ.get("PCC", "pcc")
GEN = os.environ.get("PCC_GEN", "pcc-gen")
GPT = ["gpt", "--layers", "2", "--width", "32", "--heads", "2", "--vocab", "64"]
FILES = ["x.onnx", "x.pir", "x.csv", "x.json", "x.dot", "x.svg", "x.pdf", "x.png", "x.gantt.svg", "x.trace.json",
         "x.levels.csv", "x.html", "x.explorer.json"]
KINDS = ["x", *FILES]
PASS = re.compile(r"^ +[\d.]+ ms  [a-z-]+$", re.MULTILINE)  # a line of --time-passes
WORKLOAD = ('{"maxSizePerFPGA": 9, "maxFPGAs": 2, "maxCPUs": 0, "nodes": [{"id": 1, "cpuLatency": 9, "fpgaLatency": 1},'
            ' {"id": 2, "cpuLatency": 9, "fpgaLatency": 2}], "edges": [{"sourceId": 1, "destId": 2, "cost": 0.1}]}')


def pcc(model, out, *options, **more):
    return subprocess.run([PCC, str(model), "-q", "-p", "dp-place", "--time-passes", "-o", str(out),
                           *map(str, options)], capture_output=True, text=True, **more)


def generate(path, *options):
    subprocess.run([GEN, *GPT, *options, "-o", str(path)], check=True)
    return path


def state_of(area):
    return sorted((str(p.relative_to(area)), p.is_symlink(), p.is_file() and p.read_bytes()) for p in area.rglob("*"))


def refuse(area, words, model, out, *options, **more):
    before = state_of(area)
    r = pcc(model, out, *options, **more)
    what = f"-o {Path(out).name[:40]} {' '.join(map(str, options))}: {words}"
    errors = [line for line in r.stderr.splitlines() if line.startswith("pcc: error: ")]
    check(r.returncode == 1, f"{what}: exit {r.returncode}")
    check(len(errors) == 1 and words in errors[0], f"{what}: {r.stderr.strip()[-300:]}")
    check(not PASS.search(r.stderr), f"{what}: passes ran before: {PASS.findall(r.stderr)}")
    check(state_of(area) == before, f"{what}: files changed")


# ---------------------------------------------------------------- places


def control(area, model):
    """The words of --time-passes are known, and each kind can be written; a second time on top of the first."""
    drawn = ["x.svg", "x.pdf", "x.png"]
    for name in drawn if extras.extra() else [k for k in KINDS if k not in drawn]:
        for _ in range(2):
            r = pcc(model, area / name)
            check(r.returncode == 0 and PASS.search(r.stderr) and (area / name).exists(), f"{name}: {r.stderr}")
        shutil.rmtree(area / name) if name == "x" else (area / name).unlink()
    check(not list(area.iterdir()), f"left: {list(area.iterdir())}")


def places(area, model):
    (area / "file").write_text("mine")
    for name in KINDS:
        refuse(area, "there is no folder", model, area / "no" / name)
        refuse(area, "Not a directory", model, area / "file" / name)
        refuse(area, "File name too long", model, area / (300 * "y" + name))
    for name in FILES:
        (area / name).mkdir()
        refuse(area, "is there already and is not a regular file", model, area / name)
        (area / name).rmdir()
    refuse(area, "is there already and is not a folder", model, area / "file")
    (area / "full").mkdir()
    (area / "full/notes.txt").write_text("mine")
    refuse(area, "is not empty (it has 'notes.txt')", model, area / "full")
    (area / "loop").symlink_to("loop")
    refuse(area, "Too many levels of symbolic links", model, area / "loop")
    refuse(area, "is the current folder", model, ".", cwd=area)


def inputs(area, model):
    """What cannot be written for such an input."""
    (area / "w.json").write_text(WORKLOAD)
    refuse(area, "it has no operators, only times and sizes", area / "w.json", area / "x")
    refuse(area, "it has no operators, only times and sizes", area / "w.json", area / "x.onnx")


# ---------------------------------------------------------------- weights


def weights(area, gone):
    """gone: a model whose file of weights is not there, in a folder of its own."""
    for mode in ("shared", "inline", "original", "link"):
        refuse(area, "needs the file", gone, area / "x", f"--weights={mode}")
    r = pcc(gone, gone.parent, "--weights=original")
    check(r.returncode == 0, f"missing weights, beside the model: {r.stderr}")


def sources(work, area):
    """Files of the source that the parts cannot refer to."""
    (area / "own").mkdir()
    model = generate(area / "own" / "part3.onnx")
    refuse(area, "the name of a file of a split", model, area / "own", "--weights=original")
    model.rename(work / "real.onnx")
    model = area / "own" / "m.onnx"
    model.symlink_to(work / "real.onnx")
    refuse(area, "is a symbolic link", model, area / "own", "--weights=original")


def another_disk(work, model):
    with extras.another_disk(work) as far:
        refuse(Path(far), "lies on another file system", model, Path(far) / "x", "--weights=link")


def main():
    with tempfile.TemporaryDirectory(prefix="pcc-early-") as name:
        work = Path(name)
        model = generate(work / "m.onnx")
        (work / "gone").mkdir()
        gone = generate(work / "gone/m.onnx", "--no-weights")
        (work / "sources").mkdir()
        extras.need(extras.extra() != "dot" or shutil.which("dot"), "no program dot")
        if extras.extra() == "far":
            another_disk(work, model)
        for test, *more in {"far": [], "dot": [(control, model)]}.get(extras.extra(), [
                (control, model), (places, model), (inputs, model), (weights, gone)]):
            (work / test.__name__).mkdir()
            test(work / test.__name__, *more)
        if not extras.extra():
            sources(work, work / "sources")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
