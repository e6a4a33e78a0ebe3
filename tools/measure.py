#!/usr/bin/env python3
"""Measures the nodes of a model, or of the parts of a split, in ONNX Runtime on the CPU: a table for --costs and
--profile-at.

    measure.py MODEL|SPLIT --dim NAME=N... -o FILE.csv [--discard 5] [--steps 50] [--threads 1]

Optimisations are off, so that nodes keep their names.  The first runs are discarded; a node's time is the mean over the
others of what the profiler gives, at least 100 ns, since its clock ticks in microseconds.  Its memory is what its
results take and what it works in meanwhile, as far as ONNX Runtime tells (session.collect_node_memory_stats_to_file).
Denormals are zeros, and inputs are random (integers 0 or 1).  A split folder's parts run one after the other over one
table of tensors, as its manifest says; nodes that are in several parts are averaged.

Sizes that --dim does not give are the manifest's, else 1 for a batch and 4 for others.  Exit: 0, or 1 with a reason; 77
without ONNX Runtime."""
import argparse
import collections
import csv
import json
import sys
import tempfile
from pathlib import Path

try:
    import onnx
    import onnxruntime as ort

    from verify_split import Dims, first_line, random_inputs, run_session
    MISSING = None
except ImportError as missing:
    MISSING = missing.name

FLOOR_PS = 100_000
SUFFIX = "_kernel_time"


class Node:
    """Measured time and memory of one node."""

    def __init__(self):
        self.us, self.results, self.works = [], 0, 0

    def row(self, name):
        ps = round(1_000_000 * sum(self.us) / len(self.us))
        return name, max(ps, FLOOR_PS), self.results + self.works


def options(threads):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.intra_op_num_threads, o.inter_op_num_threads, o.log_severity_level = threads, 1, 4
    o.add_session_config_entry("session.set_denormal_as_zero", "1")
    return o


def open_model(path, o):
    return ort.InferenceSession(str(path), o, providers=["CPUExecutionProvider"])


def runtime_names(path):
    """{ONNX Runtime's name of a node without a name: pcc's}: operator and place, Constants counted by pcc only."""
    names, index = {}, 0
    for place, node in enumerate(onnx.load(str(path), load_external_data=False).graph.node):
        if not node.name:
            names[f"{node.op_type}_{index}"] = f"{node.op_type}_{place}"
        index += node.op_type != "Constant"
    return names


def working_memory(path, values, folder, threads):
    """{node: bytes beside its results while it runs}; names come with a hash behind the last underscore."""
    file = folder / "memory.csv"
    o = options(threads)
    o.add_session_config_entry("session.collect_node_memory_stats_to_file", str(file))
    session = open_model(path, o)
    run_session(session, values)
    del session
    found = collections.Counter()
    if file.is_file():
        for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
            name = row["#name"].rsplit("_", 1)[0]
            found[name] = max(found[name], int(row["total_temp_allocations"]))
    return found


def events_of(profile):
    """{node: its events in order of time}"""
    found = collections.defaultdict(list)
    for e in sorted(json.loads(Path(profile).read_text()), key=lambda e: e["ts"]):
        if e.get("cat") == "Node" and e["name"].endswith(SUFFIX):
            found[e["name"].removesuffix(SUFFIX)].append(e)
    return found


def measure_model(path, values, args, into):
    """Runs one file; adds to the nodes `into`, and returns its outputs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        o = options(args.threads)
        o.enable_profiling, o.profile_file_prefix = True, str(folder / "profile")
        session = open_model(path, o)
        for _ in range(args.discard + args.steps):
            made = run_session(session, values)
        found = events_of(session.end_profiling())
        works = working_memory(path, values, folder, args.threads)
    names = runtime_names(path)
    for node, events in found.items():
        kept = events[len(events) * args.discard // (args.discard + args.steps):]
        to = into[names.get(node, node)]
        to.us += [e["dur"] for e in kept]
        to.results = max([to.results, *(int(e["args"].get("output_size", 0)) for e in kept)])
        to.works = max(to.works, works[node])
    return made


def measure_split(folder, args, into):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    whole = open_model(folder / manifest["model"]["file"], options(1))
    infos = whole.get_inputs()
    table = random_inputs(infos, dims_of(infos, manifest.get("dims", {}) | args.dims), 0, 2)
    del whole
    for part in manifest["parts"]:
        made = measure_model(folder / part["file"], {n: table[n] for n in part["inputs"]}, args, into)
        table.update({n: made[n] for n in part["outputs"]})


def dims_of(infos, bound):
    dims = Dims(bound, infos)
    dims.add_up(infos)
    return dims


def binding(text):
    name, _, size = text.rpartition("=")
    if not name or not size.isdigit() or int(size) < 1:
        raise argparse.ArgumentTypeError(f"'{text}': expected NAME=N with N >= 1")
    return name, int(size)


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", type=Path, help="a model (.onnx) or a split folder")
    p.add_argument("--dim", type=binding, action="append", default=[], metavar="NAME=N", help="size of a dimension")
    p.add_argument("-o", "--output", type=Path, required=True, help="the table, CSV")
    p.add_argument("--discard", type=int, default=5, help="runs that do not count (5)")
    p.add_argument("--steps", type=int, default=50, help="runs that are averaged (50)")
    p.add_argument("--threads", type=int, default=1, help="of an operator (1)")
    args = p.parse_args(argv)
    args.dims = dict(args.dim)
    if MISSING:
        print(f"skipped: {MISSING} is not installed for {sys.executable}: nothing was measured; "
              f"run: {sys.executable} -m pip install jsonschema ml_dtypes numpy onnx onnxruntime")
        return 77
    if args.steps < 1 or args.discard < 0:
        p.error("expected at least one run that counts, and none below 0 that do not")
    nodes = collections.defaultdict(Node)
    try:
        if args.model.is_dir():
            measure_split(args.model, args, nodes)
        else:
            infos = open_model(args.model, options(1)).get_inputs()
            measure_model(args.model, random_inputs(infos, dims_of(infos, args.dims), 0, 2), args, nodes)
    except Exception as e:  # ONNX Runtime has errors of its own
        print(f"error: {args.model} cannot be measured: {first_line(e)}", file=sys.stderr)
        return 1
    with open(args.output, "w", newline="", encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows([("name", "time", "memory"),
                                                      *(n.row(name) for name, n in nodes.items())])
    print(f"{args.output}: {len(nodes)} nodes, {args.discard} runs discarded, {args.steps} averaged")
    return 0


if __name__ == "__main__":
    sys.exit(main())
