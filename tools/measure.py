#!/usr/bin/env python3
"""Measures the nodes of a model, or of the parts of a split, in ONNX Runtime on the CPU: a table for --costs and
--profile-at.  It calls pcc-profile --segments=0, with the library of this Python's package onnxruntime.

    measure.py MODEL|SPLIT --dim NAME=N... -o FILE.csv [--discard 5] [--steps 50] [--threads 1]

Optimisations are off, so that nodes keep their names.  The first runs are discarded; a node's time is its least one of
the others, at least 100 ns, since the profiler's clock ticks in microseconds.  A node's memory is the bytes of its
results and of its workspace, as far as ONNX Runtime tells them.  Denormals are zeros, and inputs are random (integers 0
or 1).  A split folder's parts run one after the other over one table of tensors, as its manifest says.

Sizes that --dim does not give are those that pcc plans for (a folder's manifest has them).  The table's first rows say
at which sizes it was measured, and on what: pcc refuses it for other sizes (passes/cost/costs.md).  pcc-profile is
$PCC_PROFILE, else the program of that name beside $PCC, in the build folder beside this program, or on the PATH.
Exit: 0, or 1 with a reason; 77 without ONNX Runtime."""
import argparse
import csv
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RUNTIME = "onnxruntime"


def library():
    """ONNX Runtime's library: $PCC_ONNXRUNTIME, else that of this Python's package; None: there is none."""
    if os.environ.get("PCC_ONNXRUNTIME"):
        return os.environ["PCC_ONNXRUNTIME"]
    found = importlib.util.find_spec(RUNTIME)
    folders = found.submodule_search_locations or [] if found else []
    return next((str(f) for d in folders for f in sorted(Path(d).glob("capi/libonnxruntime.so.*"))), None)


def profile():
    """The program pcc-profile; None: it is not there."""
    beside = [Path(os.environ["PCC"]).with_name("pcc-profile")] if os.environ.get("PCC") else []
    beside.append(Path(__file__).resolve().parents[1] / "build/release/pcc-profile")
    return os.environ.get("PCC_PROFILE") or next((str(p) for p in beside if p.is_file()), shutil.which("pcc-profile"))


def binding(text):
    """For argparse: a value of --dim, NAME=N, as it is."""
    name, _, size = text.rpartition("=")
    if not name or not size.isdigit() or not size.isascii():
        raise argparse.ArgumentTypeError(f"'{text}': expected NAME=N with N >= 0")
    return text


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", type=Path, help="a model (.onnx) or a split folder")
    p.add_argument("--dim", type=binding, action="append", default=[], metavar="NAME=N", help="size of a dimension")
    p.add_argument("-o", "--output", type=Path, required=True, help="the table, CSV")
    p.add_argument("--discard", type=int, default=5, help="runs that do not count (5)")
    p.add_argument("--steps", type=int, default=50, help="runs that count (50)")
    p.add_argument("--threads", type=int, default=1, help="of an operator (1)")
    args = p.parse_args(argv)
    if args.steps < 1 or args.discard < 0:
        p.error("expected at least one run that counts, and none below 0 that do not")
    runtime, program = library(), profile()
    if not runtime:
        print(f"skipped: {RUNTIME} is not installed for {sys.executable}: nothing was measured; "
              f"run: {sys.executable} -m pip install {RUNTIME}")
        return 77
    if not program:
        print("error: pcc-profile is not there: build it, or set PCC_PROFILE", file=sys.stderr)
        return 1
    if args.output.is_dir() or not args.output.absolute().parent.is_dir():
        print(f"error: {args.output}: expected the name of a file in a folder that exists", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix=".measure-", dir=args.output.absolute().parent) as folder:
        table = Path(folder) / "table.csv"
        r = subprocess.run([program, args.model, "--segments=0", "-o", table, f"--onnxruntime={runtime}", "-q",
                            f"--discard={args.discard}", f"--steps={args.steps}", f"--threads={args.threads}",
                            *(f"--dim={d}" for d in args.dim)], stderr=subprocess.PIPE, text=True, errors="replace",
                           check=False)
        print(r.stderr.replace("pcc-profile: ", ""), end="", file=sys.stderr)
        if r.returncode:
            return r.returncode
        with table.open(encoding="utf-8", newline="") as f:
            rows = [row for row in list(csv.reader(f))[1:] if not row[0].startswith("#")]
        table.replace(args.output)
    print(f"{args.output}: {len(rows)} nodes, {args.discard} runs discarded, the least of {args.steps}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
