#!/usr/bin/env python3
"""How far pcc's times of whole models are from measured ones.

usage: whole_models.py FOLDER

FOLDER/models.csv: device, model, mode (inf: forward; train: a training iteration), sequence, batch, variant (empty: one
GPU, operator by operator; others as named there), whole_ms.  The models are made by pcc-gen at their published sizes;
their times are those of one device that runs all operators.  Left out by name: rows of a model that pcc-gen cannot
make, of a device that pcc has no class for, and of fused kernels; of training all but gpt2_large, which `pcc-gen train`
makes.

Prints a line for each row; of forward rows the median and largest error, and the largest ratio of two classes' median
ratios; of training rows the median error on one GPU, data parallel and pipelined.  Ends with 1 where a figure is beyond
its limit (LIMITS)."""
import csv
import io
import json
import re
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import PCC, PCC_GEN, Run, help_or_go, in_ms, table, verdict

GPT = ["gpt", "--layers=36", "--width=1280", "--heads=20", "--vocab=50257"]
MODELS = {
    "gpt2_large": [*GPT, "--activation=tanh"],
    "bert_large": ["bert", "--layers=24", "--width=1024", "--heads=16", "--vocab=30522", "--mlm",
                   "--activation=gelu"],
    "opt_13": ["gpt", "--layers=24", "--width=2048", "--heads=32", "--vocab=50272", "--activation=relu"],
    "gpt3_xl": ["gpt", "--layers=24", "--width=2048", "--heads=24", "--vocab=50257", "--activation=tanh"],
}
TRAIN = {"gpt2_large": ["train", *GPT[1:]]}
# Planners for the variants that were measured on four GPUs; all other rows are of one GPU.  pp4_1: one micro-batch runs
# through four stages one after the other, so its time is the makespan of a plan of four equal parts.
FOUR = {"dp4": ["-p", "data-parallel-place", "--objective=iteration-time", "--micro-batches=1"],
        "pp4_1": ["-p", "dp-place", "--judge=makespan", "--time-limit=5s"]}
# For each kind of rows the limits of: the median error, the largest error, the largest ratio of two classes' medians;
# None: not judged.
LIMITS = {"forward": (0.07, 0.20, 1.1), "training, one GPU": (0.15, None, None), "training, dp4": (0.20, None, None),
          "training, pp4_1": (0.20, None, None)}


def class_of(device):
    """The name that pcc has for a device; None: it has no class."""
    run = Run([PCC, f"--list-devices=1x{device}"])
    return None if run.rc else json.loads(run.out)["classes"][0]["name"]


def time_of(path, name, row):
    """ms that pcc gives all operators of a model on one device of class `name`, at the sizes of a row of models.csv."""
    out = Run([PCC, path, "-q", "-d", f"1x{name}:unbounded", "-p", "one-place", f"--dim=batch={row['batch']}",
               f"--dim=sequence={row['sequence']}", "--emit=csv"]).need().out
    return sum(int(r[f"ps_{name}"]) for r in csv.DictReader(io.StringIO(out))) / 1e9


def time_on_four(path, name, row):
    """ms of a plan of the row's variant for four GPUs of a server with NVLink."""
    out = Run([PCC, path, "-d", f"4x{name}:unbounded", "--link=nvlink3", *FOUR[row["variant"]],
               f"--dim=batch={row['batch']}", f"--dim=sequence={row['sequence']}"]).need().out
    value, unit = re.search(r"^(?:makespan|iteration time) ([\d.]+) (\w+)$", out, re.M).groups()
    return in_ms(value + unit)


def why_not(row, name):
    """Why a row of measurements cannot be compared with pcc, in words; None: it can. name: of the device's class in
    pcc, None without one."""
    if row["model"] not in (MODELS if row["mode"] == "inf" else TRAIN):
        return "pcc-gen makes no such model" if row["mode"] == "inf" else "pcc-gen train makes no such model"
    if name is None:
        return "no class of this name"
    if row["variant"] == "fusion":
        return "kernels fused by a compiler: pcc has times of operators"
    if row["variant"] not in ("", *FOUR):
        return "pcc splits no operator over devices"
    return None


def what_of(row):
    """The key of LIMITS for a row."""
    return "forward" if row["mode"] == "inf" else f"training, {row['variant'] or 'one GPU'}"


def judge(what, ratios):
    """Whether the rows of a kind are within LIMITS, and their figures in words.  ratios: {class: [pcc's time over the
    measured one]}."""
    median_limit, error_limit, spread_limit = LIMITS[what]
    errors = [abs(x - 1) for v in ratios.values() for x in v]
    medians = [statistics.median(v) for v in ratios.values()]
    median, spread = statistics.median(errors), max(medians) / min(medians)
    said = [f"{100 * median:.1f} % in the median (at most {100 * median_limit:.0f} %)"]
    ok = median <= median_limit
    if error_limit:
        said += [f"{100 * max(errors):.1f} % at most ({100 * error_limit:.0f} %)",
                 f"between classes {spread:.2f} times ({spread_limit})"]
        ok = ok and max(errors) <= error_limit and spread <= spread_limit
    return ok, f"{what}, {len(errors)} rows: error " + ", ".join(said)


def main():
    help_or_go()
    if len(sys.argv) != 2:
        sys.exit("usage: whole_models.py FOLDER")
    with open(Path(sys.argv[1]) / "models.csv", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    names = {d: class_of(d) for d in {r["device"] for r in rows}}
    lines, ratios, made = [], {what: defaultdict(list) for what in LIMITS}, {}
    with tempfile.TemporaryDirectory() as folder:
        for r in rows:
            why, name, measured = why_not(r, names[r["device"]]), names[r["device"]], float(r["whole_ms"])
            line = [r[c] for c in ("device", "model", "mode", "sequence", "batch", "variant")] + [f"{measured:.1f}"]
            if why:
                lines.append([*line, "", f"cannot be: {why}"])
                continue
            key = r["mode"], r["model"]
            if key not in made:
                made[key] = Path(folder) / f"{r['model']}-{r['mode']}.onnx"
                options = (MODELS if r["mode"] == "inf" else TRAIN)[r["model"]]
                Run([PCC_GEN, *options, "--no-weights", "-o", made[key]]).need()
            own = time_on_four(made[key], name, r) if r["variant"] else time_of(made[key], name, r)
            ratios[what_of(r)][r["device"]].append(own / measured)
            lines.append([*line, f"{own:.1f}", f"{own / measured:.3f}"])
    table(["class", "model", "mode", "sequence", "batch", "variant", "measured ms", "pcc ms", "ratio"], lines)
    print("forward, median ratio: " + ", ".join(f"{d} {statistics.median(v):.3f}"
                                                for d, v in sorted(ratios["forward"].items())))
    judged = [judge(what, by) for what, by in ratios.items() if by]
    verdict(all(ok for ok, _ in judged), "\n".join(text for _, text in judged))


if __name__ == "__main__":
    main()
