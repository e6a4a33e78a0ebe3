#!/usr/bin/env python3
"""How long pictures take and how large they are: the three views of generated and real models as SVG, planned
before, and the view of blocks as PDF and PNG.  Exit code 0: each view of devices and blocks is there within
10 CPU seconds, those of Graphviz included, with at most 150 boxes (or as many as parts), and all nodes as
DOT within 10, too."""
import re
import sys
import tempfile
from pathlib import Path

from common import PCC, PCC_GEN, SHARED, Run, help_or_go, table, verdict

MODELS = {
    "gpt, 24 layers": ["gpt", "--layers", 24],
    "bert, 24 layers": ["bert", "--layers", 24],
    "llama, 32 layers": ["llama"],
    "unet": ["unet"],
    "inception": ["inception"],
    "train, 230 layers": ["train", "--layers", 230],
    "ladder, 40,000 nodes": ["ladder", "--nodes", 40000],
}
REAL = ["inception_v3_dyn", "bert_base_dyn", "train_gpt_grad_dyn", "unet_sd15like_dyn"]
DEVICES = [1, 4, 16]


def measure(name, model, devices, tmp):
    """Plans a model and draws the plan: all nodes as DOT, the view of devices as SVG, the view of blocks as SVG, PDF
    and PNG. Returns (whether all is within its limits, cells of the row); None if there is no plan."""
    plan = f"{tmp}/plan.pir"
    if Run([PCC, model, "-d", f"{devices}xa100", "-p", "fuse,dp-place", "-q", "-o", plan]).rc:
        return None
    dot = Run([PCC, plan, "-q", "--emit", "dot"]).need()
    nodes = Run([PCC, plan, "-q", "--view", "nodes", "-o", f"{tmp}/x.dot"]).need()
    runs = [Run([PCC, plan, "-q", "--view", "devices", "-o", f"{tmp}/x.svg"]).need()]
    runs += [Run([PCC, plan, "-q", "-o", f"{tmp}/x.{end}"]).need() for end in ("svg", "pdf", "png")]
    boxes = len(re.findall(r"\bid=block\d", dot.out))
    parts = dot.out.count("subgraph cluster_part")
    fewer = any("fewer boxes" in r.out for r in runs)
    text = Path(f"{tmp}/x.dot").read_text(encoding="utf-8")
    ok = all(r.cpu < 10 for r in [nodes, *runs[:2]]) and boxes <= max(150, parts)  # PDF and PNG have no limit
    return ok, [name, devices, len(re.findall(r"\bid=node\d", text)), boxes, dot.out.count(" -> "),
                f"{nodes.cpu:.2f}", *(f"{r.cpu:.2f}" for r in runs), "fewer boxes" if fewer else ""]


def main():
    help_or_go()
    rows, ok = [], True
    with tempfile.TemporaryDirectory() as tmp:
        models = []
        for i, (name, args) in enumerate(MODELS.items()):
            light = ["--no-weights"] if args[0] != "ladder" else []
            Run([PCC_GEN, *args, "-o", f"{tmp}/{i}.onnx", *light]).need()
            models.append((name, f"{tmp}/{i}.onnx"))
        real = [(n, SHARED / "models/exported/real" / f"{n}.onnx") for n in REAL]
        for name, model in models + [r for r in real if r[1].exists()]:
            for devices in DEVICES:
                found = measure(name, model, devices, tmp)
                if found:
                    ok = ok and found[0]
                    rows.append(found[1])
    table(["model", "devices", "nodes", "blocks", "arrows", "nodes.dot s", "devices s", "blocks svg s",
           "pdf s", "png s", "degraded"], rows)
    verdict(ok, "pictures within 10 s, at most 150 boxes")


if __name__ == "__main__":
    sys.exit(main())
