#!/usr/bin/env python3
"""Plans the real models (published dimensions) over 4 devices: proven optimum of the whole unfused
graph, and how long it takes.  Exit code 0: at least 25 of 36 proven, each of them within 1 s."""
import sys
import tempfile

from common import need_shared, plan, table, verdict


def main():
    folder = need_shared("models/exported/real")
    rows, proven = [], 0
    with tempfile.TemporaryDirectory() as tmp:
        for model in sorted(folder.glob("*.onnx")):
            p, run = plan(model, "-d", "4xa100", "-p", "dp-place", tmp=tmp)
            if not p:
                rows.append([model.stem, "-", "no plan fits", "-", f"{run.wall:.2f}", f"{run.mib:.0f}",
                             run.out.strip().splitlines()[-1][-60:]])
                continue
            o = p["objective"]
            optimal = o["status"] == "optimal"
            proven += optimal and run.wall <= 1
            gap = "-" if o["bound_s"] is None else f"{100 * (1 - o['bound_s'] / o['value_s']):.2f}"
            rows.append([model.stem, f"{o['value_s'] * 1e3:.4f}", o["status"], gap, f"{run.wall:.2f}",
                         f"{run.mib:.0f}", o["argument"][:60]])
    table(["model", "ms/sample", "status", "gap %", "wall s", "MiB", "argument"], rows)
    verdict(proven >= 25, f"{proven} of {len(rows)} proven optimal within 1 s")


if __name__ == "__main__":
    sys.exit(main())
