#!/usr/bin/env python3
"""The real models (published dimensions), and models of that kind from pcc-gen, over 4xa100:80GiB by dp-place: proven
optimum of the whole graph or the gap, and what it takes.

usage: real.py [--fuse] [--generated]      --fuse: fuse,dp-place; --generated: only models of pcc-gen

Exit code 0: at least 30 of the 36 real models proven, one at most that does not fit, all others within 3 % of the
bound; import, shapes and costs of each within 0.1 s, planning within 2 s (CPU seconds: pcc has one thread) and 200 MiB.
Models of pcc-gen, by fuse,dp-place: planning within 3 s, and within 3 %, too, but for those with
a limit of their own: no bound yet contains what many small branches must send when they are spread over
devices, which counts where they take as much as the rest."""
import sys
import tempfile
from pathlib import Path

from common import PCC, PCC_GEN, Run, help_or_go, need_shared, plan, table, verdict

CLUSTER = "4xa100:80GiB"
HEADER = ["model", "ms/sample", "status", "gap %", "cost s", "plan s", "MiB", "argument"]
BIG = "--size 1024 --width 256 --layers 6"
# options, the largest gap
GENERATED = [*((f"encoder-decoder --layers {n}", 3) for n in (1, 3, 12, 24, 48)), ("encoder-decoder --layers 6", 4),
             *((f"detector {BIG} --classes {n}", 3) for n in (20, 90)), (f"detector {BIG} --classes 400", 10),
             ("detector --size 512 --width 128 --layers 6 --classes 30", 3),
             ("detector --classes 20", 12), ("detector --classes 80", 20),
             ("detector --size 128 --width 32 --classes 90", 13)]


def row(name, model, passes, tmp):
    """Plans a model by these passes. Returns the cells of its row, the gap in percent (None: no plan fits), whether the
    plan is proven optimal, and two runs: of the costs alone, and of planning."""
    cost = Run([PCC, model, "-p", "cost", "-q"]).need()
    p, run = plan(model, "-d", CLUSTER, "-p", passes, tmp=tmp)
    spent = [f"{cost.cpu:.3f}", f"{run.cpu:.2f}", f"{run.mib:.0f}"]
    if not p:
        return [name, "-", "no plan fits", "-", *spent, run.out.strip()[-60:]], None, False, cost, run
    o = p["objective"]
    gap = 100 * (1 - (o["bound_s"] or 0) / o["value_s"])
    return [name, f"{o['value_s'] * 1e3:.4f}", o["status"], f"{gap:.2f}", *spent,
            o["argument"][:70]], gap, o["status"] == "optimal", cost, run


def real(passes, tmp):
    """Plans the exported models by these passes and prints the rows. Returns whether all are within the limits."""
    folder = need_shared("models/exported/real")
    rows = [row(m.stem, m, passes, tmp) for m in sorted(folder.glob("*.onnx"))]
    table(HEADER, [r[0] for r in rows])
    proven, misfits = sum(optimal for _, _, optimal, _, _ in rows), sum(gap is None for _, gap, _, _, _ in rows)
    good = all((gap is None or gap <= 3) and cost.cpu <= 0.1 and run.cpu <= 2 and run.mib <= 200
               for _, gap, _, cost, run in rows)
    print(f"{proven} of {len(rows)} proven optimal, {misfits} do not fit")
    return good and proven >= 30 and misfits <= 1


def generated(passes, tmp):
    """Plans the generated models by these passes and prints the rows. Returns whether all are within the limits."""
    rows, good = [], True
    for options, most in GENERATED:
        model = Path(tmp) / "model.onnx"
        Run([PCC_GEN, *options.split(), "--no-weights", "-o", model]).need()
        cells, gap, _, _, run = row(options, model, passes, tmp)
        rows.append([*cells, most])
        good = good and gap is not None and gap <= most and run.cpu <= 3 and run.mib <= 200
    table([*HEADER, "at most %"], rows)
    return good


def main():
    help_or_go()
    passes = "fuse,dp-place" if "--fuse" in sys.argv else "dp-place"
    with tempfile.TemporaryDirectory() as tmp:
        good = "--generated" in sys.argv or real(passes, tmp)
        print()
        good = generated("fuse,dp-place", tmp) and good
    verdict(good, "gaps of at most 3 % or what is said; costs within 0.1 s, plans within 2 s (pcc-gen's: 3 s) "
                  "and 200 MiB")


if __name__ == "__main__":
    sys.exit(main())
