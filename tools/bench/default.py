#!/usr/bin/env python3
"""The plan that pcc makes of itself (open-functions,fuse,auto-place) for the real models: CPU seconds, parts, tensors
that cross.

usage: default.py [--all-shapes] [DEVICES ...]       (default: 2xa100 4xa100)

Exit code 0: for each cluster at most 2 s of CPU on 30 of the 36 models of models/exported/real, and at most 5 s on
each; with --all-shapes, which plans with auto-place{gain=0}, at most 10 s on each.  A model that does not fit
counts."""
import json
import sys
import tempfile
from pathlib import Path

from common import PCC, Run, help_or_go, need_shared, table, verdict


def row(model, devices, planner, tmp):
    """Plans a model with this planner. Returns the cells of its row, with figures from pcc's report and from the plan,
    and the CPU seconds of pcc."""
    out = Path(tmp) / "plan.json"
    out.unlink(missing_ok=True)
    run = Run([PCC, model, "-d", devices, "-p", f"open-functions,fuse,{planner}", "-o", out])
    if run.rc == 3:
        return [model.stem, "-", "no plan fits", "-", "-", "-", f"{run.cpu:.2f}", ""], run.cpu
    run.need()
    goal = json.loads(out.read_text())["objective"]
    lines = run.out.splitlines()
    # lines such as "acc0 a100 1 ... 99 %" (the third word: parts), "2 tensors cross", "a plan of any shape ..."
    parts = sum(int(x.split()[2]) for x in lines if x.startswith(("acc", "cpu")) and "%" in x)
    crosses = next((x.split()[0] for x in lines if " tensor" in x and " cross" in x), "-")
    offer = next((x for x in lines if "of any shape" in x and not x.startswith("time")), "")
    gap = 100 * (1 - (goal["bound_s"] or 0) / goal["value_s"]) if goal["value_s"] else 0
    return [model.stem, f"{goal['value_s'] * 1e3:.4f}", f"{goal['status']} ({goal['scope']})", f"{gap:.2f}", parts,
            crosses, f"{run.cpu:.2f}", offer[:60]], run.cpu


def main():
    help_or_go()
    folder = need_shared("models/exported/real")
    all_shapes = "--all-shapes" in sys.argv
    planner, most = ("auto-place{gain=0}", 10) if all_shapes else ("auto-place", 5)
    good = True
    with tempfile.TemporaryDirectory() as tmp:
        for devices in [a for a in sys.argv[1:] if not a.startswith("-")] or ["2xa100", "4xa100"]:
            rows = [row(m, devices, planner, tmp) for m in sorted(folder.glob("*.onnx"))]
            print(f"\n{devices}, {planner}")
            table(["model", "ms/sample", "status", "gap %", "parts", "tensors", "CPU s", "other shapes"],
                  [r for r, _ in rows])
            fast = sum(cpu <= 2 for _, cpu in rows)
            print(f"{fast} of {len(rows)} within 2 s, the slowest {max(cpu for _, cpu in rows):.2f} s")
            good = good and all(cpu <= most for _, cpu in rows) and (all_shapes or fast >= len(rows) * 30 // 36)
    verdict(good, f"CPU within {most} s each" + ("" if all_shapes else ", within 2 s on 30 of 36"))


if __name__ == "__main__":
    sys.exit(main())
