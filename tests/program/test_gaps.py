#!/usr/bin/env python3
"""dp-place on wide graphs of pcc-gen: the bound that it prints is within 3 % of its plan.

Models with many small branches, over four devices, with the limits of steps that everybody gets: no time decides.
--max-states bounds the steps, so a figure is the same on every machine.  With all of it taken away
(--max-states=1) the gap must be larger, or the test says nothing.

And tools/bench/ablation.py finds each function of a method of dp-place that it leaves out, and says which it does not.

Environment: PCC, PCC_GEN, PCC_SOURCE.  Exit: 0 pass, 1 fail, 77 skip.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from sanitized import SANITIZED

SOURCE = Path(os.environ.get("PCC_SOURCE", Path(__file__).resolve().parents[2]))
PCC = os.environ.get("PCC", str(SOURCE / "build/release/pcc"))
GEN = os.environ.get("PCC_GEN", str(Path(PCC).parent / "pcc-gen"))
MODELS = ["detector --size 512 --width 128 --layers 6 --classes 30",
          "encoder-decoder --layers 12",
          "unet --layers 3 --levels 4 --width 128"]
MOST = 3.0  # percent


def gap(model, folder, *more):
    out = folder / "plan.json"
    r = subprocess.run([PCC, model, "-d", "4xa100:80GiB", "-p", "fuse,dp-place", "-q", "-o", out, *more],
                       capture_output=True, text=True)
    if r.returncode != 0:
        sys.exit(f"FAILED: pcc ends with {r.returncode}: {r.stderr.strip()[:300]}")
    goal = json.loads(out.read_text())["objective"]
    if not 0 < goal["bound_s"] <= goal["value_s"]:
        sys.exit(f"FAILED: a bound of {goal['bound_s']} for a plan of {goal['value_s']}")
    return 100 * (1 - goal["bound_s"] / goal["value_s"])


def methods():
    """How many complaints there are about the table of ablation.py."""
    sys.path.insert(0, str(SOURCE / "tools/bench"))
    import ablation
    failed = 0
    for places in [*ablation.METHODS.values(), [(ablation.RACE, "no_such_function", "")]]:
        for file, name, value in places:
            text = (SOURCE / file).read_text(encoding="utf-8")
            try:
                found = ablation.left_out(text, name, value).count(f"\n    if (1)\n        return {value};\n") == 1
            except SystemExit as e:
                found = False
                print(e)
            if found != (name != "no_such_function"):
                print(f"FAILED: ablation.py, {file}: {name}")
                failed += 1
    return failed


def main():
    for program in (PCC, GEN):
        if not Path(program).exists():
            print(f"skipped: no program {program}")
            return 77
    failed = methods()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        model = folder / "model.onnx"
        for options in MODELS[:1] if SANITIZED else MODELS:
            subprocess.run([GEN, *options.split(), "--no-weights", "-o", model], check=True)
            found, without = gap(model, folder), gap(model, folder, "--max-states=1")
            print(f"{options}: gap {found:.2f} %, without steps {without:.2f} %")
            if found > MOST or without <= MOST:
                print(f"FAILED: expected at most {MOST} %, and more without steps")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
