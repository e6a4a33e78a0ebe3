#!/usr/bin/env python3
"""Plans the real models (published dimensions) over 4 devices: proven optimum of the whole unfused
graph or the gap, and what it takes.  Exit code 0: at least 30 of 36 proven, all others but one that
does not fit within 5 % of the bound; import, shapes and costs of each within 0.1 s, planning
within 2 s (CPU seconds: pcc has one thread) and 200 MiB."""
import sys
import tempfile

from common import PCC, Run, help_or_go, need_shared, plan, table, verdict


def main():
    help_or_go()
    folder = need_shared("models/exported/real")
    rows, proven, misfits, good = [], 0, 0, True
    with tempfile.TemporaryDirectory() as tmp:
        for model in sorted(folder.glob("*.onnx")):
            cost = Run([PCC, model, "-p", "cost", "-q"]).need()
            p, run = plan(model, "-d", "4xa100", "-p", "dp-place", tmp=tmp)
            good = good and cost.cpu <= 0.1 and run.cpu <= 2 and run.mib <= 200
            spent = [f"{cost.cpu:.3f}", f"{run.cpu:.2f}", f"{run.mib:.0f}"]
            if not p:
                misfits += 1
                rows.append([model.stem, "-", "no plan fits", "-", *spent,
                             run.out.strip().splitlines()[-1][-60:]])
                continue
            o = p["objective"]
            proven += o["status"] == "optimal"
            gap = 100 * (1 - (o["bound_s"] or 0) / o["value_s"])
            good = good and gap <= 5
            rows.append([model.stem, f"{o['value_s'] * 1e3:.4f}", o["status"], f"{gap:.2f}", *spent,
                         o["argument"][:70]])
    table(["model", "ms/sample", "status", "gap %", "cost s", "plan s", "MiB", "argument"], rows)
    verdict(good and proven >= 30 and misfits <= 1,
            f"{proven} of {len(rows)} proven optimal, the others within 5 %; costs within 0.1 s, "
            "plans within 2 s and 200 MiB")


if __name__ == "__main__":
    sys.exit(main())
