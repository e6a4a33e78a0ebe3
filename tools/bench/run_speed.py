#!/usr/bin/env python3
"""Whether pcc-run is faster than run_split.py on a split of small parts (docs/run.md).

usage: run_speed.py [--width N] [--pairs N] [--samples N] [--least RATIO] [--pcc PROGRAM]

A generated GPT of 4 layers and that width (64) is split over two CPU devices; pcc-run and run_split.py --pipeline run
the same samples in turn, each as many at once as pcc-run has, on any processors.  Printed: of each the least and the
median time per sample over the pairs, and the processor time of a sample.  Exit 1: the least time of run_split.py is
below RATIO (1.2) times that of pcc-run.  Run it with an environment that has onnxruntime, on a machine that is idle."""
import argparse
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PCC = Path(__file__).resolve().parents[2] / "build/release/pcc"
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6}


def timed(command, samples):
    """Runs a command. Returns seconds per sample: as the program prints them, and of processor time. Ends the script if
    the command fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if r.returncode:
        sys.exit(f"{command[0]}: {r.stderr}")
    value, unit = re.search(r"then ([\d.]+) (\w+) each", r.stdout).groups()
    spent = sum(getattr(after, k) - getattr(before, k) for k in ("ru_utime", "ru_stime"))
    return float(value) * UNITS[unit], spent / samples


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--pairs", type=int, default=11)
    p.add_argument("--samples", type=int, default=1000)
    p.add_argument("--least", type=float, default=1.2)
    p.add_argument("--pcc", type=Path, default=PCC)
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as name:
        model, folder = Path(name) / "gpt.onnx", Path(name) / "split"
        subprocess.run([args.pcc.parent / "pcc-gen", "gpt", "--layers", "4", "--width", str(args.width), "--heads", "4",
                        "--vocab", "500", "-o", model], check=True)
        subprocess.run([args.pcc, model, "-q", "-d", "2xcpu", "--link", "10GB/s,5us", "--pictures=none",
                        "-Wno-guessed-dim", "--dim", "sequence=32", "-o", folder], check=True)
        programs = {"pcc-run": [args.pcc.parent / "pcc-run", folder, f"--samples={args.samples}", "--cores=any",
                                "--in-flight=4"],
                    "run_split.py": [sys.executable, folder / "run_split.py", "--pipeline", "4", "--threads", "1",
                                     "--samples", args.samples]}
        found = {n: [] for n in programs}
        for _ in range(args.pairs):
            for n, command in programs.items():
                found[n].append(timed(command, args.samples))
    least = {}
    for n, rows in found.items():
        least[n] = min(took for took, _ in rows)
        middle, cpu = statistics.median(took for took, _ in rows), min(spent for _, spent in rows)
        print(f"{n:13} {1e6 * least[n]:7.1f} us at least, {1e6 * middle:7.1f} us (median), "
              f"{1e6 * cpu:7.1f} us of processors a sample")
    ratio = least["run_split.py"] / least["pcc-run"]
    print(f"pcc-run is {ratio:.2f} times as fast, expected {args.least:.2f} at least")
    return 0 if ratio >= args.least else 1


if __name__ == "__main__":
    sys.exit(main())
