#!/usr/bin/env python3
"""What two devices gain over one when a split is run, beside what the machine gives to two programs at once.

usage: gain.py [--quick] [--turns N] [--samples N] [MODEL ...]

For each model of pcc-gen, on devices that are one processor each: pcc-profile --rounds makes a split over two, pcc one
over one.  Then turns (11), in each of which these run one after the other, so that all meet the same machine:

  one     pcc-run on one device
  two     pcc-run on two
  apart   two runs of "one" at once, each on a processor of its own, which is all that the machine has to give
  model   pcc-run --order=model on two

A column is a median over turns of a ratio within a turn.  gain: one / two; machine: 2 one / apart; of it: gain /
machine; of promise: two by the manifest's time per sample, which was written before any of these runs; then how much
longer the manifest's order takes.  Ends with 1 if the gain is below 1.7, and below 0.95 of the machine's where that is
below 1.8; or if the manifest's order is more than 3 % shorter than the planned one.  Skipped (77) with fewer than two
processors.  --quick: 2 turns of one model, for seeing that the script works.  (run_speed.py: run_split.py beside
pcc-run.)"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from common import PCC, PCC_GEN, Run, help_or_go, table
from truth import PROFILE, RUN, ms_each, promised, sizes

MODELS = {  # arguments of pcc-gen, batch, sequence
    "gpt": (["gpt", "--layers=12", "--width=256", "--heads=8", "--vocab=2000"], 1, 64),
    "resnet": (["resnet", "--depth=50", "--width=32", "--size=96"], 1, 0),
    "inception": (["inception", "--width=16", "--size=128"], 1, 0),
}
GAIN, MACHINE, SHARE, ORDER = 1.7, 1.8, 0.95, 0.97  # the limits


def run(folder, samples, *args):
    """Runs the split in the folder with these arguments of pcc-run. Returns ms per sample."""
    return ms_each(Run([RUN, folder, f"--samples={samples}", "-q", *args]).need().out)


def apart(folder, samples, cores):
    """Runs the split in the folder twice at the same time, on the first two of these processors; the mean of the times
    per sample, ms."""
    runs = [subprocess.Popen([RUN, folder, f"--samples={samples}", "-q", f"--cores=cpu0={core}"],
                             stdout=subprocess.PIPE, text=True) for core in cores[:2]]
    return statistics.mean(ms_each(r.communicate()[0]) for r in runs)


def measure(name, turns, samples, tmp):
    """Makes the splits of a model and runs them in turns. Returns the medians over turns of four ratios: gain and
    machine as in good(), the measured time over the promised one, and order as in good()."""
    args, batch, sequence = MODELS[name]
    model, one, two = tmp / f"{name}.onnx", tmp / f"{name}-one", tmp / f"{name}-two"
    dims, cores = sizes(batch, sequence), sorted(os.sched_getaffinity(0))
    Run([PCC_GEN, *args, "-o", model]).need()
    Run([PCC, model, *dims, "-d", "1xcpu", "--pictures=none", "-q", "-o", one]).need()
    Run([PROFILE, model, *dims, "--rounds=2", "--segments=4", "-q", "-o", two, "--", "-d", "2xcpu",
         "--pictures=none"]).need()
    rows = []  # (gain, machine, of promise, order) of each turn
    for _ in range(turns):
        single, both = run(one, samples), run(two, samples)
        rows.append([single / both, 2 * single / apart(one, samples, cores), both / (1000 * promised(two)),
                     run(two, samples, "--order=model") / both])
    return [statistics.median(column) for column in zip(*rows)]


def good(gain, machine, order):
    """Whether the gain of a second device is enough and the planned order takes no longer than the model's (ORDER).
    `gain`: times faster than one device; `machine`: times faster than one that two independent runs are on this
    machine; `order`: times faster than with --order=model. The gain must reach GAIN; where `machine` is less than
    MACHINE, SHARE of `machine` will do, too."""
    enough = gain >= GAIN or machine < MACHINE and gain >= SHARE * machine
    return enough and order >= ORDER


def main():
    help_or_go()
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--turns", type=int)
    parser.add_argument("--samples", type=int)
    parser.add_argument("model", nargs="*", choices=[*MODELS, []])  # []: argparse checks the default, too
    args = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: this needs two processors")
        return 77
    turns, samples = args.turns or (2 if args.quick else 11), args.samples or (20 if args.quick else 100)
    rows, bad = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.model or (["inception"] if args.quick else list(MODELS)):
            gain, machine, promise, order = measure(name, turns, samples, Path(folder))
            rows.append([name, *(f"{x:.2f}" for x in (gain, machine, gain / machine, promise, order))])
            print("so far:", *rows[-1], file=sys.stderr, flush=True)
            if not good(gain, machine, order):
                bad.append(name)
    table(["model", "gain", "machine", "of it", "of promise", "model's order"], rows)
    if bad:
        print("FAILED: " + ", ".join(bad))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
