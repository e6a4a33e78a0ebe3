#!/usr/bin/env python3
"""Does pcc rank operators as a CPU does?  Node times measured by ONNX Runtime's profiler (optimisations
off, one thread, median of the runs) against the times of pcc's class `cpu`, over the nodes that take more
than 20 us: Spearman's correlation of each model, and the operators that are ranked worst.

usage: ranking.py [--runs N] [--worst N] [model.onnx ...]   (without models: three CNNs and three
transformers, of pcc-gen and of the exported models in PCC_SHARED).  Ends with 1 if one is below 0.8."""
import argparse
import csv
import io
import json
import sys
import tempfile
from pathlib import Path

import numpy
import onnxruntime

from common import PCC, PCC_GEN, Run, need_shared, table, verdict

TARGET, ABOVE_US, SIZES = 0.8, 20, {"batch": 16, "sequence": 128, "past": 32}
GENERATED = {
    "resnet": ["resnet", "--blocks", "2,2,2,2", "--width", "64"],
    "inception": ["inception"],
    "gpt": ["gpt", "--layers", "4", "--width", "256", "--heads", "4", "--vocab", "4000"],
    "bert": ["bert", "--layers", "4", "--width", "256", "--heads", "4", "--vocab", "4000"],
}
EXPORTED = ["resnet50_dyn", "t5_small_encoder_dyn"]  # narrow: only a batch takes 20 us


def size_of(dim, position):
    """A number for a symbolic dimension: past lengths, then sequences, then batches."""
    if isinstance(dim, int):
        return dim
    name = str(dim).lower()
    for word in ("past", "seq", "len"):
        if word in name:
            return SIZES["past" if word == "past" else "sequence"]
    return SIZES["batch"] if position == 0 else SIZES["sequence"]


def feeds_of(session):
    """Feeds (random floats, else ones), and the symbolic dimensions they settle."""
    rng = numpy.random.default_rng(1)
    feeds, dims = {}, {}
    for i in session.get_inputs():
        shape = [size_of(d, at) for at, d in enumerate(i.shape)]
        kind = {"float": "float32", "double": "float64"}.get(i.type[7:-1], i.type[7:-1])
        if kind.startswith("float"):
            feeds[i.name] = rng.standard_normal(shape).astype(kind)
        else:
            feeds[i.name] = numpy.ones(shape, kind)
        dims |= {d: n for d, n in zip(i.shape, feeds[i.name].shape)
                 if isinstance(d, str) and d.isidentifier() and n > 0}
    return feeds, dims


def measure(model, folder, runs):
    """(profile file, --dim options)"""
    o = onnxruntime.SessionOptions()
    o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.intra_op_num_threads = o.inter_op_num_threads = 1
    o.enable_profiling, o.log_severity_level = True, 3
    o.profile_file_prefix = str(Path(folder) / "profile")
    session = onnxruntime.InferenceSession(str(model), o, providers=["CPUExecutionProvider"])
    feeds, dims = feeds_of(session)
    for _ in range(runs):
        session.run(None, feeds)
    options = [f"--dim={name}={n}" for name, n in sorted(dims.items())]
    return session.end_profiling(), options


def times(model, *options):
    """{node: (operator, us)} by pcc's class cpu."""
    run = Run([PCC, model, "-d", "cpu", "--emit", "csv", "-q", *options]).need()
    lines = run.out[run.out.index("name,op,"):]
    return {r["name"]: (r["op"], int(r["ps_cpu"] or 0) / 1e6) for r in csv.DictReader(io.StringIO(lines))}


def profiled(profile):
    """Names of the profile's nodes."""
    return {e["name"].removesuffix("_kernel_time") for e in json.loads(Path(profile).read_text())
            if e.get("cat") == "Node"}


def ranks(values):
    """Ranks from 0; equal values share the mean."""
    values = numpy.asarray(values, float)
    _, which, count = numpy.unique(values, return_inverse=True, return_counts=True)
    last = numpy.cumsum(count)
    return (last - (count + 1) / 2)[which]


def spearman(a, b):
    return float(numpy.corrcoef(ranks(a), ranks(b))[0, 1])


def compare(name, model, folder, args):
    profile, dims = measure(model, folder, args.runs)
    ours = times(model, *dims)
    theirs = times(model, *dims, f"--costs={profile}")
    seen = profiled(profile)
    rows = [(op, us, theirs[n][1], n) for n, (op, us) in ours.items()
            if theirs[n][1] > ABOVE_US and (n in seen or us != theirs[n][1])]
    rho = spearman([r[1] for r in rows], [r[2] for r in rows]) if len(rows) > 2 else float("nan")
    if args.worst:
        a, b = ranks([r[1] for r in rows]), ranks([r[2] for r in rows])
        for i in numpy.argsort(-abs(a - b))[:args.worst]:
            print(f"  {name}: {rows[i][3]} ({rows[i][0]}): pcc {rows[i][1]:.1f} us, rank {a[i]:.0f}; "
                  f"measured {rows[i][2]:.0f} us, rank {b[i]:.0f} of {len(rows)}")
    return [name, len(ours), len(rows), f"{rho:.3f}"], rho


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--runs", type=int, default=9)
    p.add_argument("--worst", type=int, default=0, help="show the nodes with the largest difference of ranks")
    p.add_argument("models", nargs="*")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = [(Path(m).stem, Path(m)) for m in args.models]
        if not models:
            for name, options in GENERATED.items():
                path = Path(folder) / f"{name}.onnx"
                Run([PCC_GEN, *options, "-o", path]).need()
                models.append((name, path))
            models += [(n, need_shared(f"models/exported/tiny/{n}.onnx")) for n in EXPORTED]
        found = [compare(name, model, folder, args) for name, model in models]
    table(["model", "nodes", f"above {ABOVE_US} us", "Spearman"], [row for row, _ in found])
    low = min((rho for _, rho in found), default=0)
    verdict(all(rho >= TARGET for _, rho in found), f"the lowest correlation is {low:.3f}, wanted {TARGET}")


if __name__ == "__main__":
    sys.exit(main())
