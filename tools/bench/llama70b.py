#!/usr/bin/env python3
"""A Llama of 70 billion parameters without its weights, with cache, over 8 h100: plan, picture, manifest and the
parts, which refer to the weights where they will be.  Exit code 0: within 5 CPU seconds and 200 MB."""
import json
import sys
import tempfile
from pathlib import Path

from common import PCC, PCC_GEN, Run, help_or_go, table, verdict

SIZE = ["--layers", 80, "--width", 8192, "--heads", 64, "--kv-heads", 8, "--ffn", 28672, "--vocab", 128256]


def main():
    help_or_go()
    with tempfile.TemporaryDirectory() as tmp:
        tmp = Path(tmp)
        Run([PCC_GEN, "llama", *SIZE, "--kv", "--no-weights", "-o", tmp / "l70.onnx"]).need()
        run = Run([PCC, tmp / "l70.onnx", "-d", "8xh100", "-p", "fuse,dp-place", "--weights=original", "-q", "-o",
                   tmp]).need()
        found = json.loads((tmp / "manifest.json").read_text())
        parts, goal = found["parts"], found["objective"]
        there = all((tmp / name).stat().st_size for name in ["plan.svg", "blocks.svg"] + [
            p["file"] for p in parts])
    weights = sum(p["weights_bytes"] for p in parts)
    gap, megabytes = 100 * (1 - goal["bound_s"] / goal["value_s"]), run.mib * 2**20 / 1e6
    table(["parts", "weights GB", "ms/sample", "gap %", "CPU s", "wall s", "MB"],
          [[len(parts), f"{weights / 1e9:.0f}", f"{goal['value_s'] * 1e3:.2f}", f"{gap:.2f}", f"{run.cpu:.2f}",
            f"{run.wall:.2f}", f"{megabytes:.0f}"]])
    ok = there and len(parts) == 8 and weights >= 280e9 and run.cpu <= 5 and megabytes <= 200
    verdict(ok, "8 parts of 70 billion parameters, with picture and manifest, within 5 s and 200 MB")


if __name__ == "__main__":
    sys.exit(main())
