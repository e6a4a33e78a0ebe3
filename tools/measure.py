#!/usr/bin/env python3
"""Measures the nodes of a model, or of the parts of a split, in ONNX Runtime on the CPU: a table for --costs and
--profile-at.

    measure.py MODEL|SPLIT --dim NAME=N... -o FILE.csv [--discard 5] [--steps 50] [--threads 1]

Optimisations are off, so that nodes keep their names.  The first runs are discarded; a node's time is the mean over the
others of what the profiler gives, at least 100 ns, since its clock ticks in microseconds.  Its memory is what its
results take and what it works in meanwhile, as far as ONNX Runtime tells (session.collect_node_memory_stats_to_file).
Denormals are zeros, and inputs are random (integers 0 or 1).  A split folder's parts run one after the other over one
table of tensors, as its manifest says; nodes that are in several parts are averaged.

Sizes that --dim does not give are those that pcc plans for (pcc MODEL --emit=sizes; a folder's manifest has them).  The
table's first rows say at which sizes it was measured, and on what: pcc refuses it for other sizes
(passes/cost/costs.md).  pcc is $PCC, else that of the build folder beside this program, else the one on the PATH.
Exit: 0, or 1 with a reason; 77 without ONNX Runtime."""
import argparse
import collections
import csv
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import onnx
    import onnxruntime as ort

    from verify_split import first_line, inside, random_inputs, read_manifest, run_session, printable, sizes_of
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


def pcc():
    beside = Path(__file__).resolve().parents[1] / "build/release/pcc"
    found = os.environ.get("PCC") or (str(beside) if beside.is_file() else shutil.which("pcc"))
    if not found:
        raise RuntimeError("pcc, which says the sizes of its inputs, is not there: build it, or set PCC")
    return found


def ask_sizes(model, dims):
    """What pcc says of the sizes of a model's inputs: an object with "dims" and "inputs", as a manifest has them."""
    said = [f"--dim={name}={size}" for name, size in dims.items()]
    r = subprocess.run([pcc(), str(model), "--emit=sizes", "-q", "-Wno-guessed-dim", *said],
                       capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr.strip().removeprefix("pcc: "))
    return json.loads(r.stdout)


def names_of(said):
    """Of "dims", those that are names, not expressions of names as shapes have them, nor names in quotes; names with a
    comma are left out, since --dim cannot say them."""
    texts = {d for i in said["inputs"] for d in i["shape"] or [] if isinstance(d, str) and set(d) & set("+-*/%(,' ")}
    return {d: n for d, n in said.get("dims", {}).items() if d not in texts and "," not in d}


def measure_whole(model, args, into):
    said = ask_sizes(model, args.dims)
    infos = open_model(model, options(1)).get_inputs()
    measure_model(model, random_inputs(infos, sizes_of(said), 0), args, into)
    return names_of(said)


def measure_split(folder, args, into):
    said = manifest = read_manifest(folder)
    whole = inside(folder, manifest["model"]["file"])
    if any(manifest.get("dims", {}).get(name) != size for name, size in args.dims.items()):
        said = ask_sizes(whole, names_of(manifest) | args.dims)
    session = open_model(whole, options(1))
    table = random_inputs(session.get_inputs(), sizes_of(said), 0)
    del session
    for part in manifest["parts"]:
        made = measure_model(inside(folder, part["file"]), {n: table[n] for n in part["inputs"]}, args, into)
        table.update({n: made[n] for n in part["outputs"]})
    return names_of(said)


def machine():
    """The processor's name, as far as the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def facts(dims, args):
    """Rows that say how the table came about: no node has such a name, and they take no time (costs.md)."""
    said = [f"dim {name}={size}" for name, size in dims.items()]
    said += [f"threads {args.threads}", "optimisations off", f"runtime onnxruntime {ort.__version__}",
             f"machine {machine()}"]
    return [("#" + text, 0, None) for text in ("pcc_measured 1", *said)]


def binding(text):
    name, _, size = text.rpartition("=")
    if not name or not size.isdigit() or not size.isascii():
        raise argparse.ArgumentTypeError(f"'{text}': expected NAME=N with N >= 0")
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
        dims = (measure_split if args.model.is_dir() else measure_whole)(args.model, args, nodes)
    except Exception as e:  # ONNX Runtime has errors of its own
        print(printable(f"error: {args.model} cannot be measured: {first_line(e)}"), file=sys.stderr)
        return 1
    with open(args.output, "w", newline="", encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows([("name", "time", "memory"), *facts(dims, args),
                                                      *(n.row(name) for name, n in nodes.items())])
    print(f"{args.output}: {len(nodes)} nodes, {args.discard} runs discarded, {args.steps} averaged")
    return 0


if __name__ == "__main__":
    sys.exit(main())
