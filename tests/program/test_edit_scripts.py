"""Random edits that change nothing of what a model computes leave a module, and ONNX Runtime finds equal bits.

pcc-editing's pass edit-script (tests/editing/script.c) draws edits by a seed: Identity nodes, copies joined by
Where, nodes dropped and added again, weights from slices, new names, nodes moved into and out of bodies; it verifies
the module after each.  The models are small ones of pcc-gen and those of PCC_SHARED.  A sample of seeds; with
PCC_ALL=1 2,000 scripts, of which some hundreds are run."""

# extras: shared
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from sanitized import SANITIZED
from same_results import Runs  # first: it skips the test without ONNX Runtime
from checks import check, finish
from with_ort import GEN, PCC

EDITING = str(extras.BUILT / "pcc-editing")
ALL = os.environ.get("PCC_ALL") == "1"
GENERATED = {
    "gpt": ["--layers", 2, "--width", 32, "--heads", 2, "--vocab", 64],
    "bert": ["--layers", 1, "--width", 32, "--heads", 2, "--vocab", 64],
    "llama": ["--layers", 1, "--width", 32, "--heads", 4, "--kv-heads", 2, "--vocab", 64, "--kv"],
    "moe": ["--layers", 1, "--width", 32, "--heads", 4, "--kv-heads", 2, "--vocab", 64],
    "unet": ["--width", 8, "--layers", 1],
    "dlrm": ["--tables", 3],
    "train": ["--layers", 1, "--width", 16, "--heads", 2, "--vocab", 32],
    "encoder-decoder": ["--layers", 1, "--width", 32, "--heads", 2, "--vocab", 64],
    "detector": ["--classes", 3, "--width", 8, "--layers", 1],
    "resnet": ["--depth", 18, "--size", 32, "--width", 8, "--classes", 10],
    "inception": ["--blocks", 1, "--size", 32, "--width", 8, "--classes", 10],
}
REFUSED = {"icm-31000000518082.onnx", "test_arbitrary_external_file.onnx"}  # test_roundtrip.py: no models
LARGEST = 4 << 20  # bytes of a model of PCC_SHARED


def edit(model, seed, *out):
    return subprocess.run(
        [EDITING, str(model), "-q", "-p", f"edit-script{{seed={seed}}}", *out],
        capture_output=True,
        text=True,
        errors="replace",
    )


def generated(folder):
    for shape, options in GENERATED.items():
        path = folder / f"{shape}.onnx"
        r = subprocess.run([GEN, shape, "-o", path, *map(str, options)], capture_output=True, text=True)
        check(r.returncode == 0, f"pcc-gen {shape}: {r.stderr}")
        yield path, None


def copied(folder):
    """The shared models, one after the other, each with the files beside it."""
    for path in sorted(extras.shared("models").rglob("*.onnx")):
        if path.name in REFUSED or path.stat().st_size > LARGEST or path.parent.name == "real":
            continue  # of these the weights are missing, and tiny/ has them small
        for f in path.parent.iterdir():
            if f.suffix in (".bin", ".data") and not (folder / f.name).exists():
                shutil.copy(f, folder / f.name)
        shutil.copy(path, folder / path.name)
        yield folder / path.name, path.with_suffix(".inputs")


def main():
    scripts = runs = 0
    shared = bool(extras.extra())
    seeds, most = ((20, 10) if shared else (100, 30)) if ALL else (4, 2) if shared else (12, 4)
    if SANITIZED:
        seeds, most = (seeds + 1) // 2, 0  # the results are those of other builds
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        for path, inputs in (copied if shared else generated)(folder):
            whole = Runs(path, inputs) if most else None
            if whole and whole.why_not:
                print(f"{path.name} is not run: {whole.why_not[:150]}")
            for seed in range(seeds):
                run = seed < most and not whole.why_not
                r = edit(path, seed, *(["-o", str(folder / "edited.onnx")] if run else []))
                scripts += 1
                if check(r.returncode == 0, f"{path.name}, seed {seed}: {r.stderr.strip()[-400:]}") and run:
                    wrong = whole.difference(folder / "edited.onnx")
                    runs += 1
                    check(not wrong, f"{path.name}, seed {seed}: {wrong}")
            path.unlink()
    print(f"{scripts} scripts, {runs} of them run")
    return finish()


sys.exit(main())
