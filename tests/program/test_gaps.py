#!/usr/bin/env python3
"""dp-place on wide graphs of pcc-gen: the bound that it prints is within 3 % of its plan.

Models with many small branches, over four devices, with the limits of steps that everybody gets: no time decides.
--max-states bounds the steps, so a figure is the same on every machine.  With all of it taken away
(--max-states=1) the gap must be larger, or the test says nothing.

A path of nodes that was made by lining up 24 devices of six kinds, each with as much work as it does in the time of a
sample: dpl-place finds a plan of that time, on this very order, though there are 15,625 ways to choose how many devices
of each kind are used.

And tools/bench/ablation.py finds each function of a method of dp-place that it leaves out, and says which it does not.

Environment: PCC, PCC_GEN, PCC_SOURCE.  Exit: 0 pass, 1 fail, 77 skip.
"""
import json
import os
import random
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


def lined_up(seed, path):
    """Writes a path of nodes as textual IR that devices of six kinds can share without a rest; the best time in us."""
    rng = random.Random(seed)
    speeds = [6, 5, 4, 3, 2, 1]
    devices, nodes = speeds * 4, []
    rng.shuffle(devices)
    for speed in devices:
        left = 20 * speed
        while left:
            nodes.append(min(left, rng.randint(3, 17)))
            left -= nodes[-1]
    lines = [f"class c{s} x4 link=1GB/s,0us" for s in speeds] + ["graph {"]
    for v, work in enumerate(nodes):
        times = ", ".join(f"{60 // s * work}us" for s in speeds)
        lines.append(f"  %n{v} = profile:op({f'%n{v - 1}' if v else ''}) : !xfer=0us !time=[{times}]")
    path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")
    return 60 * 20


def mixed(folder):
    """How many complaints there are about plans for devices of many kinds."""
    failed, model, out = 0, folder / "line.pir", folder / "plan.json"
    for seed in range(1, 3 if SANITIZED else 6):
        best = lined_up(seed, model)
        subprocess.run([PCC, model, "-p", "dpl-place{order=number:starts=1}", "-q", "-o", out], check=True)
        found = json.loads(out.read_text())["objective"]["value_s"] * 1e6
        if abs(found - best) > 1e-6:
            print(f"FAILED: seed {seed}: {found} us, {best} us with each device at work all the time")
            failed += 1
    return failed


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
        failed += mixed(folder)
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
