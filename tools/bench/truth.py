#!/usr/bin/env python3
"""How near the promised time of a split is to what pcc-run measures, and whether promises rank plans as runs do.

usage: truth.py [--quick] [--plans N] [--samples N] [MODEL ...]

For each model of pcc-gen, number of devices (processors of this machine, 2 and 3) and batch: pcc-profile --rounds plans
until the promise holds, and measures --side-by-side what copies of the slowest part reach at once; then pcc-run runs
the split in a process of its own, three times, of which the median counts.  The error is that of
promise / factor against the measured time per sample: nothing is fitted to the run that is compared.  40 runs in all.

Then N plans (20) of the first model at its first size on two devices, made from times that were multiplied by random
factors: Spearman's correlation between what they promise by the measured times and what they take, and how far the plan
that promises least is from the one that takes least.

Ends with 1 if the median error is above 3 %, the 95th percentile above 10 %, the correlation below 0.95, or the chosen
plan more than 2 % slower than the best.  --quick: 2 runs and 4 plans, to see that the script works.  What else runs on
the machine counts: have it idle, with as many processors as devices.  PCC_PROFILE, PCC_RUN name the programs (default:
beside pcc)."""
import argparse
import json
import math
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path

from common import PCC, PCC_GEN, Run, help_or_go, in_ms, table

PROFILE = os.environ.get("PCC_PROFILE", str(Path(PCC).parent / "pcc-profile"))
RUN = os.environ.get("PCC_RUN", str(Path(PCC).parent / "pcc-run"))
LANGUAGE = [(1, 64), (1, 128), (4, 64), (8, 32)]  # batch, sequence
MODELS = {
    "gpt": (["gpt", "--layers=12", "--width=256", "--heads=8", "--vocab=2000"], LANGUAGE),
    "bert": (["bert", "--layers=8", "--width=256", "--heads=8", "--vocab=2000"], LANGUAGE),
    "resnet": (["resnet", "--depth=50", "--width=32", "--size=96"], [(1, 0), (2, 0), (4, 0), (8, 0)]),
    "inception": (["inception", "--width=16", "--size=128"], [(1, 0), (2, 0), (4, 0), (8, 0)]),
    "moe": (["moe", "--layers=4", "--width=128", "--heads=8", "--kv-heads=4", "--ffn=256", "--experts=4",
             "--vocab=1000"], LANGUAGE),
}
# limits: median error, %; its 95th percentile, %; correlation; how much slower the chosen plan is than the best one, %
MEDIAN, P95, RANKED, CHOSEN = 3, 10, 0.95, 2


def sizes(batch, sequence):
    """Options for these dimensions; sequence 0: the model has none."""
    return [f"--dim=batch={batch}"] + ([f"--dim=sequence={sequence}"] if sequence else [])


def promised(folder):
    """Seconds per sample that the manifest of a split promises."""
    return json.loads((folder / "manifest.json").read_text())["objective"]["value_s"]


def ms_each(out):
    """Milliseconds per sample, as pcc-run's output states them ("..., then 1.5 ms each ...")."""
    return in_ms("".join(out.split(", then ")[1].split(" each")[0].split()))


def taken(folder, samples, turns=3):
    """Seconds per sample of a split: the median of several runs, each in a process of its own."""
    return statistics.median(ms_each(Run([RUN, folder, f"--samples={samples}", "-q"]).need().out) / 1000
                             for _ in range(turns))


def one(model, devices, dims, samples, tmp):
    """Makes the split that pcc-profile --rounds leaves, and runs it. Returns (promised seconds of a sample;
    the manifest's factor, the speed of work beside other work over its speed alone; measured seconds of a sample)."""
    folder = tmp / "split"
    Run(["rm", "-rf", folder]).need()
    Run([PROFILE, model, *dims, "--rounds=2", "--side-by-side", f"--segments={2 * devices}", "-q", "-o", folder, "--",
         "-d", f"{devices}xcpu", "--pictures=none"]).need()
    side = json.loads((folder / "manifest.json").read_text()).get("measured", {}).get("side_by_side", {})
    return promised(folder), side.get("factor", 1), taken(folder, samples)


def ranks(values):
    """The rank of each value; equal ones share the mean of theirs."""
    order = sorted(values)
    return [order.index(v) + (order.count(v) - 1) / 2 for v in values]


def spearman(x, y):
    """Spearman's correlation of two lists; 0 if one of them is constant."""
    x, y = ranks(x), ranks(y)
    mx, my = statistics.mean(x), statistics.mean(y)
    across = sum((a - mx) * (b - my) for a, b in zip(x, y))
    return across / (math.sqrt(sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y)) or 1)


def many(model, dims, plans, samples, tmp):
    """[(promise, measured)] of plans made from times that are off by random factors; the first has the times as
    measured."""
    costs, off, plan, folder = (tmp / name for name in ("costs.json", "off.json", "plan.json", "ranked"))
    Run([PROFILE, model, *dims, "-q", "-o", costs]).need()
    known, rng, found = json.loads(costs.read_text()), random.Random(1), []
    for k in range(plans):  # times are the more off, the larger k is
        nodes = [{**n, "time": int(n["time"] * math.exp(rng.gauss(0, 0.3 * k / 4)))} for n in known["nodes"]]
        off.write_text(json.dumps({**known, "nodes": nodes}))
        Run(["rm", "-rf", folder]).need()
        Run([PCC, model, *dims, "-d", "2xcpu", "--costs", off, "-p", "dp-place", "-q", "-o", plan]).need()
        Run([PCC, model, *dims, "-d", "2xcpu", "--costs", costs, "-p", f"plan{{from={plan}}}", "--pictures=none", "-q",
             "-o", folder]).need()
        found.append((promised(folder), taken(folder, samples)))
        print("so far: a plan of", *(f"{1e3 * t:.3f}" for t in found[-1]), file=sys.stderr, flush=True)
    return found


def main():
    help_or_go()
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--plans", type=int)
    parser.add_argument("--samples", type=int)
    parser.add_argument("model", nargs="*", choices=[*MODELS, []])  # []: argparse checks the default, too
    args = parser.parse_args()
    chosen = args.model or (["gpt"] if args.quick else list(MODELS))
    plans, samples = args.plans or (4 if args.quick else 20), args.samples or (30 if args.quick else 200)
    rows, errors = [], []
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        for name in chosen:
            model = tmp / f"{name}.onnx"
            Run([PCC_GEN, *MODELS[name][0], "-o", model]).need()
            for batch, sequence in MODELS[name][1][:1 if args.quick else None]:
                for devices in (2, 3):
                    promise, factor, took = one(model, devices, sizes(batch, sequence), samples, tmp)
                    errors.append(100 * abs(promise / factor / took - 1))
                    rows.append([name, devices, batch, f"{1e3 * promise:.3f}", f"{factor:.3f}", f"{1e3 * took:.3f}",
                                 f"{took * factor / promise:.3f}"])
                    print("so far:", *rows[-1], file=sys.stderr, flush=True)
        first = chosen[0]
        ranked = many(tmp / f"{first}.onnx", sizes(*MODELS[first][1][0]), plans, samples, tmp)
    table(["model", "devices", "batch", "promised, ms", "side by side", "measured, ms", "of promise / factor"], rows)
    errors.sort()
    median, p95 = statistics.median(errors), errors[min(len(errors) - 1, math.ceil(0.95 * len(errors)) - 1)]
    related = spearman([p for p, _ in ranked], [t for _, t in ranked])
    _, took = min(ranked)  # the plan that promises least
    behind = 100 * (took / min(t for _, t in ranked) - 1)
    good = median <= MEDIAN and p95 <= P95 and related >= RANKED and behind <= CHOSEN
    print(f"{len(errors)} runs: error {median:.1f} % in the median (at most {MEDIAN} %), {p95:.1f} % at the 95th "
          f"percentile ({P95} %)")
    print(f"{len(ranked)} plans of {first}: Spearman {related:.2f} (at least {RANKED}), the plan that promises least "
          f"takes {behind:.1f} % more than the best (at most {CHOSEN} %)")
    if not good:
        print("FAILED")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
