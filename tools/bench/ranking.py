#!/usr/bin/env python3
"""Does pcc rank operators as a CPU does?  Node times measured by ONNX Runtime's profiler against those of
pcc's class `cpu`, over the nodes that take more than 20 us: Spearman's correlation for each model.

usage: ranking.py [-d CLASS] [--runs N] [--batch N] [--worst N] [--all | model.onnx ...]

Measured: optimisations off, so that nodes keep the names of the file; one thread; denormals as zeros, since
those of a masked softmax take four times as long for what the values are, not for what the node is; three
runs to warm up, then the least of 20 runs for each node, since whatever else the machine does only adds.
`repeats` is the correlation of the even runs with the odd ones: no model of costs can reach much more.
`unknown`: measured nodes above 20 us of which pcc knows no node by that name; they are left out.

Without models: three CNNs and three transformers of published sizes, of the exported models in PCC_SHARED
(batch 1, sequences of 128; their weights are not there and read as zeros).  Ends with 1 if one of them is
below 0.8.  --all: every exported CNN and transformer that runs with such inputs; -d: a class of a cluster
file instead, which has to be its only one."""
import argparse
import csv
import io
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy
import onnxruntime

from common import PCC, Run, need_shared, table, verdict

TARGET, ABOVE_US, WARM = 0.8, 20, 3
SIX = ["resnet18_ts", "resnet50_dyn", "inception_v3_dyn", "bert_base_dyn", "gpt2_kv_dyn", "vit_b16_ts"]
OTHERS = ["squeezenet_ts", "googlenet_ts", "densenet121_ts", "convnext_tiny_dyn", "efficientnet_b0_dyn", "bert_base_ts",
          "t5_small_encoder_dyn", "vit_b16_dyn", "swin_tiny_ts", "whisper_base_encoder_dyn"]


def exported(name, folder):
    """Copies an exported model of published size to the folder, and makes its file of weights as a hole of the right
    size, which reads as zeros. Returns the path of the copy."""
    index = csv.DictReader(need_shared("models/exported/INDEX.tsv").read_text().splitlines(), delimiter="\t")
    size = next(int(r["weights_file_bytes"]) for r in index if (r["name"], r["kind"]) == (name, "real"))
    model = Path(folder) / f"{name}.onnx"
    shutil.copyfile(need_shared(f"models/exported/real/{name}.onnx"), model)
    with open(model.with_suffix(".weights"), "wb") as f:
        f.truncate(size)
    return model


def ask_sizes(model, dims):
    """What pcc says of the sizes of a model's inputs: an object with "dims" and "inputs", as a manifest has them."""
    said = [f"--dim={name}={size}" for name, size in dims.items()]
    r = subprocess.run([PCC, str(model), "--emit=sizes", "-q", "-Wno-guessed-dim", *said],
                       capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stderr.strip())
    return json.loads(r.stdout)


def names_of(said):
    """{name: size} of the "dims" in `said` (see ask_sizes()) that --dim can set: no expressions of names, as shapes
    have them, and no names in quotes or with a comma."""
    other = {d for i in said["inputs"] for d in i["shape"] or [] if isinstance(d, str) and set(d) & set("+-*/%(,' ")}
    return {d: n for d, n in said.get("dims", {}).items() if d not in other and "," not in d}


def feeds_of(session, model, batch):
    """Feeds (random floats, else ones) of the sizes that pcc plans for, with `batch` where pcc guesses 1, and these
    sizes as --dim options."""
    guessed = ask_sizes(model, {})
    said = ask_sizes(model, {name: batch for name, size in guessed["dims"].items() if size == 1})
    sizes = {i["name"]: i["sizes"] for i in said["inputs"]}
    rng = numpy.random.default_rng(1)
    feeds = {}
    for i in session.get_inputs():
        shape, elem = sizes[i.name], i.type.removeprefix("tensor(").removesuffix(")")
        kind = {"float": "float32", "double": "float64"}.get(elem, elem)
        if kind.startswith("float"):
            feeds[i.name] = rng.standard_normal(shape).astype(kind)
        else:
            feeds[i.name] = numpy.ones(shape, kind)
    return feeds, [f"--dim={name}={size}" for name, size in names_of(said).items()]


def measure(model, folder, args):
    """Measures a model's nodes in ONNX Runtime, without optimisations. Returns ({node: [us of each run after WARM]},
    options --dim for pcc). folder: for the profile."""
    o = onnxruntime.SessionOptions()
    o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.intra_op_num_threads = o.inter_op_num_threads = 1
    o.add_session_config_entry("session.set_denormal_as_zero", "1")
    o.enable_profiling, o.log_severity_level = True, 3
    o.profile_file_prefix = str(Path(folder) / "profile")
    session = onnxruntime.InferenceSession(str(model), o, providers=["CPUExecutionProvider"])
    feeds, dims = feeds_of(session, model, args.batch)
    for _ in range(WARM + args.runs):
        session.run(None, feeds)
    us = defaultdict(list)
    for e in json.loads(Path(session.end_profiling()).read_text()):
        if e.get("cat") == "Node" and e["name"].endswith("_kernel_time"):
            us[e["name"].removesuffix("_kernel_time")].append(e["dur"])
    return {n: t[WARM:] for n, t in us.items()}, dims


def costs(model, device, dims):
    """{node: (operator, us)} by pcc's class `device`; 0 us for a node without a time."""
    run = Run([PCC, model, "-d", device, "--emit", "csv", "-q", *dims]).need()
    rows = csv.DictReader(io.StringIO(run.out[run.out.index("name,op,"):]))
    column = next(c for c in rows.fieldnames if c.startswith("ps_"))
    return {r["name"]: (r["op"], int(r[column] or 0) / 1e6) for r in rows}


def ranks(values):
    """Ranks from 0; equal values share the mean."""
    values = numpy.asarray(values, float)
    _, which, count = numpy.unique(values, return_inverse=True, return_counts=True)
    last = numpy.cumsum(count)
    return (last - (count + 1) / 2)[which]


def spearman(a, b):
    """Spearman's correlation of two lists; NaN for fewer than three values."""
    return float(numpy.corrcoef(ranks(a), ranks(b))[0, 1]) if len(a) > 2 else float("nan")


def show_worst(name, rows, count):
    """Prints the `count` nodes of a model whose ranks by predicted and by measured time differ most. rows: [(operator,
    predicted us, measured us, node)]."""
    predicted, measured = ranks([r[1] for r in rows]), ranks([r[2] for r in rows])
    for i in numpy.argsort(-abs(predicted - measured))[:count]:
        operator, pcc_us, us, node = rows[i]
        print(f"  {name}: {node} ({operator}): pcc {pcc_us:.1f} us, rank {predicted[i]:.0f}; "
              f"measured {us:.0f} us, rank {measured[i]:.0f} of {len(rows)}")


def compare(model, folder, args):
    """Compares the predicted times of a model's nodes with the measured ones. Prints the nodes that --worst asks for.
    Returns (the row of the table, Spearman's correlation)."""
    runs, dims = measure(model, folder, args)
    ours = costs(model, args.device, dims)
    slow = [n for n, us in runs.items() if min(us) > ABOVE_US]
    known = [n for n in slow if n in ours]
    rows = [(*ours[n], min(runs[n]), n) for n in known]  # see show_worst()
    rho = spearman([r[1] for r in rows], [r[2] for r in rows])
    repeats = spearman([min(runs[n][::2]) for n in known], [min(runs[n][1::2]) for n in known])
    show_worst(model.stem, rows, args.worst)
    return [model.stem, len(ours), len(known), len(slow) - len(known), f"{repeats:.3f}", f"{rho:.3f}"], rho


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-d", "--device", default="cpu", help="the class to compare: a preset or a cluster file")
    p.add_argument("--runs", type=int, default=20, help="measured runs of each model (20)")
    p.add_argument("--batch", type=int, default=1, help="size of symbolic batches (1)")
    p.add_argument("--worst", type=int, default=0, help="show the nodes with the largest difference of ranks")
    p.add_argument("--all", action="store_true", help="every exported CNN and transformer")
    p.add_argument("models", nargs="*", type=Path)
    args = p.parse_args()
    found = {}
    for name in args.models or (SIX + OTHERS if args.all else SIX):
        with tempfile.TemporaryDirectory() as folder:
            found[name] = compare(name if args.models else exported(name, folder), folder, args)
    table(["model", "nodes", f"above {ABOVE_US} us", "unknown", "repeats", "Spearman"],
          [row for row, _ in found.values()])
    judged = args.models or SIX
    low = min(found[name][1] for name in judged)
    verdict(all(found[name][1] >= TARGET for name in judged),
            f"the lowest correlation of {len(judged)} models is {low:.3f}, wanted {TARGET}")


if __name__ == "__main__":
    sys.exit(main())
