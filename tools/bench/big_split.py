#!/usr/bin/env python3
"""A dense model of 1.85 GB with its weights inline: time and memory of reading it, and the speed of the
split beside `cp --reflink=never` of the same file (source warm, fresh destinations, sync between
runs, alternating, medians of five).  Exit code 0: import <= 50 ms of CPU, split >= 0.5 x cp, < 100 MB resident.
Needs 6 GB of free disk in the folder given (default: a temporary one)."""
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from common import PCC, PCC_GEN, Run, help_or_go, table, verdict

RUNS = 5


def main():
    help_or_go()
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as tmp:
        tmp = Path(tmp)
        if shutil.disk_usage(tmp).free < 6 << 30:
            print("skipped: less than 6 GB of free disk")
            return 77
        model = tmp / "dense.onnx"
        Run([PCC_GEN, "dense", "-o", model, "--layers", 12, "--width", 6208]).need()
        size = model.stat().st_size
        reading = min((Run([PCC, model]).need() for _ in range(3)), key=lambda r: r.cpu)
        copy, split, mib = [], [], 0
        for _ in range(RUNS):
            for kind in ("cp", "split"):
                shutil.rmtree(tmp / "out", ignore_errors=True)
                subprocess.run(["sync"], check=True)
                if kind == "cp":
                    (tmp / "out").mkdir()
                    run = Run(["cp", "--reflink=never", model, tmp / "out/copy.onnx"]).need()
                    copy.append(run.wall)
                else:
                    run = Run([PCC, model, "-d", "2xa100", "--link", "1TB/s,0us", "-p", "fuse,dp-place",
                               "-o", tmp / "out", "-q"]).need()
                    split.append(run.wall)
                    mib = max(mib, run.mib)
        c, s = statistics.median(copy), statistics.median(split)
        table(["what", "seconds", "MiB resident"],
              [[f"read and sum up {size / 1e9:.2f} GB", f"{reading.cpu:.3f}", f"{reading.mib:.0f}"],
               ["cp --reflink=never", f"{c:.2f}", "-"], ["pcc split", f"{s:.2f}", f"{mib:.0f}"]])
        ok = reading.cpu <= 0.05 and s <= 2 * c and max(mib, reading.mib) < 100
        verdict(ok, f"split at {c / s:.2f} x the speed of cp")


if __name__ == "__main__":
    sys.exit(main())
