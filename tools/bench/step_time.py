#!/usr/bin/env python3
"""Whether an iteration of training takes what its plan says (docs/training.md).

usage: step_time.py [--pcc PROGRAM] [--runs N] [--layers N] [--width N] [--micro-batches N]

A model is generated, measured node by node, planned for two processors with updates apart, its parts are measured as
they are, and the same plan is judged by that. Then it runs, N times (5): the median of the steps behind the first is to
be within 10 % of the manifest's iteration.time_s. Exit 1 if it is not; 77 if two processors are not free, as threads
that count beside each other for a while show."""
import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PCC = Path(__file__).resolve().parents[2] / "build/release/pcc"
# Counts for half a second of processor time, and prints the seconds of the clock that this took.
COUNT = """import time
b, c = time.time(), time.process_time()
while time.process_time() < c + 0.5:
    pass
print(time.time() - b)"""


def run(*command):
    """Runs a command and returns what it printed. Ends the program if the command fails."""
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if r.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {r.returncode}: {r.stderr[-500:]}")
    return r.stdout


def are_free():
    """Whether two processors are free: two processes that count beside each other take hardly longer than one."""
    took = []
    each = [threading.Thread(target=lambda: took.append(float(run(sys.executable, "-c", COUNT)))) for _ in range(2)]
    for t in each:
        t.start()
    for t in each:
        t.join()
    return max(took) < 0.5 * 1.05


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--pcc", type=Path, default=PCC)
    for name, default in (("runs", 5), ("layers", 12), ("width", 256), ("micro-batches", 8)):
        p.add_argument(f"--{name}", type=int, default=default)
    args = p.parse_args()
    if not are_free():
        print("skipped: two processors are not free")
        return 77
    with tempfile.TemporaryDirectory() as name:
        at = Path(name)
        model, dims = at / "train.onnx", "batch=2,sequence=64"
        program = {k: args.pcc.with_name(f"pcc-{k}") for k in ("gen", "profile", "run")}
        run(program["gen"], "train", "--layers", args.layers, "--width", args.width, "--heads", 8, "--vocab", 2000,
            "-o", model)
        run(program["profile"], model, "--dim", dims, "-o", at / "nodes.json")
        plan = [args.pcc, model, "-d", "2xcpu", "--objective=iteration-time", f"--micro-batches={args.micro_batches}",
                "--dim", dims, "--pictures=none", "-q"]
        run(*plan, "--costs", at / "nodes.json", "-o", at / "first")
        run(program["profile"], at / "first", "-o", at / "parts.json")
        run(*plan, "--costs", at / "parts.json", "-p", f"plan{{from={at / 'first'}}}", "-o", at / "split")
        says = 1e3 * json.loads((at / "split/manifest.json").read_text())["iteration"]["time_s"]
        wrong = 0
        for k in range(args.runs):
            out = run(program["run"], at / "split", "--steps=6", f"--seed={k}")
            steps = [float(n) * {"s": 1e3, "ms": 1, "us": 1e-3}[u]
                     for n, u in re.findall(r"^step \d+: .*?([\d.]+) (s|ms|us)$", out, re.M)]
            took = statistics.median(steps[1:])
            wrong += abs(took / says - 1) > 0.1
            print(f"run {k + 1}: {took:.1f} ms a step, planned {says:.1f} ms: {100 * (took / says - 1):+.1f} %",
                  flush=True)
            time.sleep(0.1)
    print(f"{wrong} of {args.runs} runs are off by more than 10 %")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
