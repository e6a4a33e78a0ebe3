#!/usr/bin/env python3
"""How far pcc's times of whole models are from measured ones.

usage: whole_models.py FOLDER

FOLDER/models.csv: device, model, mode (inf: forward; train: a training iteration), sequence, batch, variant (empty: one
GPU, operator by operator; others as named there), whole_ms.  The models are made by pcc-gen at their published sizes;
their times are those of one device that runs all operators.  Left out by name: rows of a model that pcc-gen cannot
make, of a device that pcc has no class for, and of fused kernels; of training all but gpt2_large, which `pcc-gen train`
makes.

Prints a line for each row; of forward rows the median and largest error, and the largest ratio of two classes' median
ratios; of training rows those of one GPU, data parallel and pipelined ones.  Ends with 1 where a figure is beyond its
limit (LIMITS)."""
import csv
import io
import json
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import PCC, PCC_GEN, Run, help_or_go, table, verdict

GPT = ["gpt", "--layers=36", "--width=1280", "--heads=20", "--vocab=50257"]
MODELS = {
    "gpt2_large": [*GPT, "--activation=tanh"],
    "bert_large": ["bert", "--layers=24", "--width=1024", "--heads=16", "--vocab=30522", "--mlm",
                   "--activation=gelu"],
    "opt_13": ["gpt", "--layers=24", "--width=2048", "--heads=32", "--vocab=50272", "--activation=relu"],
    "gpt3_xl": ["gpt", "--layers=24", "--width=2048", "--heads=24", "--vocab=50257", "--activation=tanh"],
}
TRAIN = {"gpt2_large": ["train", *GPT[1:], "--seq=1024"]}
# Largest median error, largest error, largest ratio between classes.
LIMITS = {"forward": (0.07, 0.20, 1.1)}


def class_of(device):
    """The name that pcc has for a device; None: it has no class."""
    run = Run([PCC, f"--list-devices=1x{device}"])
    return None if run.rc else json.loads(run.out)["classes"][0]["name"]


def time_of(path, name, row):
    """ms of all operators on one device."""
    out = Run([PCC, path, "-q", "-d", f"1x{name}:unbounded", "-p", "one-place", f"--dim=batch={row['batch']}",
               f"--dim=sequence={row['sequence']}", "--emit=csv"]).need().out
    return sum(int(r[f"ps_{name}"]) for r in csv.DictReader(io.StringIO(out))) / 1e9


def why_not(row, name):
    """Why a row cannot be compared; None: it can."""
    if row["model"] not in MODELS:
        return "pcc-gen makes no such model"
    if name is None:
        return "no class of this name"
    if row["variant"] == "fusion":
        return "kernels fused by a compiler: pcc has times of operators"
    return None


def main():
    help_or_go()
    if len(sys.argv) != 2:
        sys.exit("usage: whole_models.py FOLDER")
    with open(Path(sys.argv[1]) / "models.csv", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    names = {d: class_of(d) for d in {r["device"] for r in rows}}
    lines, ratios = [], defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        made = {}
        for r in rows:
            why = why_not(r, names[r["device"]])
            if not why and r["mode"] != "inf":
                why = "training"
            measured = float(r["whole_ms"])
            line = [r["device"], r["model"], r["mode"], r["sequence"], r["batch"], r["variant"], f"{measured:.1f}"]
            if why:
                lines.append([*line, "", f"cannot be: {why}"])
                continue
            if r["model"] not in made:
                made[r["model"]] = Path(folder) / f"{r['model']}.onnx"
                Run([PCC_GEN, *MODELS[r["model"]], "--no-weights", "-o", made[r["model"]]]).need()
            own = time_of(made[r["model"]], names[r["device"]], r)
            ratios[r["device"]].append(own / measured)
            lines.append([*line, f"{own:.1f}", f"{own / measured:.3f}"])
    table(["class", "model", "mode", "sequence", "batch", "variant", "measured ms", "pcc ms", "ratio"], lines)
    errors = [abs(x - 1) for v in ratios.values() for x in v]
    each = {d: statistics.median(v) for d, v in ratios.items()}
    apart = max(each.values()) / min(each.values())
    print("median ratio: " + ", ".join(f"{d} {m:.3f}" for d, m in sorted(each.items())))
    limit, middle, most = LIMITS["forward"], statistics.median(errors), max(errors)
    verdict(middle <= limit[0] and most <= limit[1] and apart <= limit[2],
            f"forward, {len(errors)} rows: error {100 * middle:.1f} % in the median (at most {100 * limit[0]:.0f}), "
            f"{100 * most:.1f} % at most ({100 * limit[1]:.0f}), between classes {apart:.2f} times ({limit[2]})")


if __name__ == "__main__":
    main()
