#!/usr/bin/env python3
"""100,000 nodes: import, shapes, costs and fuse of a generated GPT, a star and a ladder, beside the
same at 10,000 nodes.  Exit code 0: each under 2 CPU seconds, and at most 15 times the time of a tenth."""
import re
import sys
import tempfile

from common import PCC, PCC_GEN, Run, help_or_go, table, verdict

GPT_NODES = 32  # per layer (pcc-gen gpt --help)


def generate(kind, nodes, path):
    """Writes a model of about this number of nodes."""
    if kind == "gpt":
        Run([PCC_GEN, "gpt", "-o", path, "--layers", max(1, nodes // GPT_NODES), "--width", 64,
             "--heads", 4, "--vocab", 100, "--no-weights"]).need()
    else:
        Run([PCC_GEN, kind, "-o", path, "--nodes", nodes]).need()


def best(model, n=3):
    """Runs pcc `n` times on a model. Returns the run with the least CPU time."""
    runs = [Run([PCC, model, "-p", "fuse", "-q"]).need() for _ in range(n)]
    return min(runs, key=lambda r: r.cpu)


def main():
    help_or_go()
    rows, ok = [], True
    with tempfile.TemporaryDirectory() as tmp:
        for kind in ("gpt", "star", "ladder"):
            small, large = (f"{tmp}/{kind}{n}.onnx" for n in (10_000, 100_000))
            generate(kind, 10_000, small)
            generate(kind, 100_000, large)
            less, run = best(small), best(large)
            nodes = int(re.search(r"nodes +(\d+)", Run([PCC, large]).need().out).group(1))
            ratio = run.cpu / less.cpu
            ok = ok and run.cpu < 2 and ratio <= 15
            rows.append([kind, nodes, f"{less.cpu:.3f}", f"{run.cpu:.3f}", f"{ratio:.1f}", f"{run.mib:.0f}"])
    table(["graph", "nodes", "10k s", "100k s", "ratio", "MiB"], rows)
    verdict(ok, "100,000 nodes under 2 s, ratio to 10,000 at most 15")


if __name__ == "__main__":
    sys.exit(main())
