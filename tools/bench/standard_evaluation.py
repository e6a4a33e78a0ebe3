#!/usr/bin/env python3
"""How near do small batches predict a larger one?  tools/measure.py takes batches of 1, 2, 4 and 8 of generated models,
and pcc --profile-check compares what the first three predict with the fourth, node by node.

usage: standard_evaluation.py [--steps N] [--keep FOLDER]

Memory has to be exact, as shapes are affine in the batch, and so is what ONNX Runtime works in on one thread.  The
mean deviation of times is to be at most 25 %; a model that misses it where the cores were not idle is named and left
out: the share of a run's time that its thread was not running, printed as `away`, is above 2 %.  Also printed: the
deviation weighted by time (of all nodes' times together), and two measurements of the batch of 8 against each other:
what no prediction can be better than.

Ends with 1 if memory is not exact, a time deviation is above 25 % on idle cores, or no model's times could be
judged."""
import argparse
import csv
import io
import re
import resource
import sys
import tempfile
import time
from pathlib import Path

from common import PCC, PCC_GEN, ROOT, Run, help_or_go, table, verdict

sys.path.insert(0, str(ROOT / "tools"))

WANTED, AWAY = 25.0, 0.02  # most mean deviation, %; most share of the time without a core on idle cores
BATCHES, TARGET = (1, 2, 4), 8
MODELS = {
    "gpt": ["gpt", "--layers", "2", "--width", "256", "--heads", "4", "--vocab", "1000"],
    "bert": ["bert", "--layers", "2", "--width", "256", "--heads", "4", "--vocab", "1000"],
    "resnet": ["resnet", "--width", "16"],
}
DIMS = {"gpt": ["--dim", "sequence=128"], "bert": ["--dim", "sequence=128"]}


def measured(model, batch, out, args, name):
    """Measures a model with this batch and writes the table of its nodes to `out`. Returns the share of the time in
    which the measuring process had no core."""
    import measure
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    code = measure.main([str(model), "--dim", f"batch={batch}", *DIMS.get(name, []), "-o", str(out),
                         "--steps", str(args.steps)])
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if code:
        sys.exit(f"{model} cannot be measured")
    return max(0.0, 1 - (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / wall)


def times(path):
    """{node: ps} of a table that measured() wrote."""
    return {r["name"]: int(r["time"]) for r in csv.DictReader(path.read_text().splitlines())}


def deviations(a, b):
    """The mean relative deviation of the times a from b, in percent; and the sum of all deviations over the sum of all
    times, in percent."""
    off = {n: abs(a[n] - b[n]) for n in b if n in a}
    return (100 * sum(off[n] / b[n] for n in off) / len(off), 100 * sum(off.values()) / sum(b[n] for n in off))


def evaluate(name, folder, args):
    """Evaluates a model: a row of the table, the mean deviation of times in percent, whether memory is exact, and the
    largest share of the time in which the measuring thread had no core."""
    model = folder / f"{name}.onnx"
    Run([PCC_GEN, *MODELS[name], "-o", model]).need()
    files = {b: folder / f"{name}.b{b}.csv" for b in (*BATCHES, TARGET)}
    away = [measured(model, b, f, args, name) for b, f in files.items()]
    again = folder / f"{name}.again.csv"
    away.append(measured(model, TARGET, again, args, name))
    run = Run([PCC, model, "-d", "cpu", "--emit", "csv", f"--dim=batch={TARGET}", *DIMS.get(name, []),
               *(f"--profile-at={b}={files[b]}" for b in BATCHES), f"--profile-check={TARGET}={files[TARGET]}"]).need()
    said = dict(re.findall(rf"note: \S+: batch {TARGET}, (time|memory)(?: on cpu)?: (.*)", run.out))
    mean = float(said["time"].split()[2])
    exact = "mean deviation 0.00 %" in said["memory"] and "100.0 % within 0 %" in said["memory"]
    rows = csv.DictReader(io.StringIO(run.out[run.out.index("name,op,"):]))
    predicted = {r["name"]: int(r["ps_cpu"]) for r in rows if (r["ps_cpu"] or "").isdigit()}
    _, of_all = deviations(predicted, times(files[TARGET]))
    repeats, _ = deviations(times(again), times(files[TARGET]))
    within = re.findall(r"([\d.]+ %) within", said["time"])
    row = [name, len(predicted), f"{mean:.2f} %", *within, f"{of_all:.2f} %", f"{repeats:.2f} %",
           "exact" if exact else said["memory"], f"{100 * max(away):.1f} %"]
    return row, mean, exact, max(away)


def judged(models, missed, busy):
    """Whether some model's times are judged, and no model misses them on idle cores. Numbers: models: of all
    models; missed: of models whose times deviate too much; busy: of missed models whose cores were not idle."""
    return busy < models and missed == busy


def main():
    help_or_go()
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=50)
    p.add_argument("--keep", type=Path)
    args = p.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        for name in MODELS:
            found[name] = evaluate(name, folder, args)
    table(["model", "nodes", "time", "0 %", "20 %", "30 %", "of all time", "repeats", "memory", "away"],
          [row for row, *_ in found.values()])
    missed = {name: away for name, (_, mean, _, away) in found.items() if mean > WANTED}
    busy = [name for name, away in missed.items() if away > AWAY]
    for name in busy:
        print(f"skipped: {name}'s times: the cores were not idle")
    inexact = [name for name, (_, _, exact, _) in found.items() if not exact]
    verdict(judged(len(found), len(missed), len(busy)) and not inexact,
            f"memory exact on {len(found) - len(inexact)} of {len(found)} models, times within {WANTED:.0f} % on "
            f"{len(found) - len(missed)}, {len(busy)} left out"
            + (": no times could be judged" if len(busy) == len(found) else ""))


if __name__ == "__main__":
    main()
