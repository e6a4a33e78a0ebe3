#!/usr/bin/env python3
"""Splits models over 2, 3 and 4 devices, verifies every split in ONNX Runtime, and checks the balance.

usage: splits.py [--quick] [NAME ...]       (default: pcc-gen's models, exported/tiny, gpt2_past)

Each split is verified with the default link and with `--link 1TB/s,0us`.  With the fast link a model with
at least 8 x D placed nodes must have at least D parts, each with at least 1/(4D) of the compute time,
unless the proven optimum uses fewer or one node alone prevents it (then the node is named)."""
import csv
import json
import sys
import tempfile
from pathlib import Path

from common import PCC, PCC_GEN, ROOT, SHARED, Run, help_or_go, table, verdict

GENERATED = {
    "gpt": ["gpt", "--layers", 4, "--width", 64, "--heads", 4, "--vocab", 500],
    "gpt_kv": ["gpt", "--layers", 4, "--width", 64, "--heads", 4, "--vocab", 500, "--kv"],
    "resnet": ["resnet", "--depth", 50, "--width", 8, "--size", 64],
    "inception": ["inception", "--width", 8, "--size", 75],
}
DIMS = {"gpt2_past": ["--dim", "seq_len=4"]}  # its table of positions has 8 rows
VERIFY = [sys.executable, ROOT / "tools/verify_split.py"]


def models(tmp):
    """Yields (name, path, options of verify_split.py for inputs) of the generated and the stored models; the former are
    written to `tmp`."""
    for name, args in GENERATED.items():
        path = tmp / f"{name}.onnx"
        Run([PCC_GEN, *args, "-o", path]).need()
        yield name, path, []
    tiny = sorted((SHARED / "models/exported/tiny").glob("*.onnx"))
    for path in [*tiny, SHARED / "models/gpt2_past.onnx"]:
        data = path.with_suffix(".inputs") / "test_data_set_0"
        if path.exists():
            yield path.stem, path, ["--inputs", data] if data.exists() else []


def compute_shares(manifest):
    """The computing time of each part, and of all, in s."""
    parts = [p["compute_s"] for p in manifest["parts"]]
    return parts, sum(parts)


def largest_node(model, tmp):
    """Returns (name of the node with the largest time, its share of the time of all nodes)."""
    out = tmp / "costs.csv"
    Run([PCC, model, "-p", "cost", "-q", "-o", out]).need()
    rows = [(int(r["ps_a100"] or 0), r["name"]) for r in csv.DictReader(out.open())]
    total = sum(t for t, _ in rows) or 1
    t, name = max(rows)
    return name, t / total


def balanced(manifest, model, devices, tmp):
    """Checks the balance of a split by fuse,dp-place: returns what is wrong ('': nothing, or it is excused), and the
    remark for the table."""
    parts, total = compute_shares(manifest)
    placed = sum(p["nodes"] for p in manifest["parts"])
    if placed < 8 * devices:
        return "", "small"
    used = {p["device"] for p in manifest["parts"]}
    if len(parts) >= devices and all(t >= total / (4 * devices) for t in parts):
        return "", "balanced"
    if manifest["objective"]["status"] == "optimal" and len(used) < devices:
        return "", f"optimum uses {len(used)}"
    name, share = largest_node(model, tmp)
    if share > 0.75 / devices or manifest["objective"]["status"] == "optimal":  # 3/4 of what a device has on average
        return "", f"{name} takes {100 * share:.0f} %"
    shares = ", ".join(f"{100 * t / total:.0f}" for t in parts)
    return f"{len(parts)} parts with {shares} % of the time", "UNBALANCED"


def split_once(name, model, data, devices, link, tmp):
    """Splits a model and verifies the split. Returns (manifest, ""), or (None, why there is none)."""
    out = tmp / f"{name}.split"
    args = [*DIMS.get(name, []), *(["--link", link] if link else [])]
    run = Run([PCC, model, "-d", f"{devices}xa100", *args, "-p", "fuse,dp-place", "-q", "-o", out])
    if run.rc:
        return None, run.out.strip().splitlines()[-1]
    check = Run([*VERIFY, model, out, *data])
    if check.rc:
        return None, check.out.strip().splitlines()[-1]
    return json.loads((out / "manifest.json").read_text()), ""


def main():
    help_or_go()
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    rows, bad = [], []
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        for name, model, data in models(tmp):
            if names and name not in names:
                continue
            for devices in (2,) if "--quick" in sys.argv else (2, 3, 4):
                for link in ("", "1TB/s,0us"):
                    manifest, error = split_once(name, model, data, devices, link, tmp)
                    remark = ""
                    if manifest and link:
                        error, remark = balanced(manifest, model, devices, tmp)
                    if error:
                        bad.append(f"{name} on {devices}: {error}")
                        print(bad[-1], flush=True)
                    rows.append([name, devices, link or "25GB/s,10us", len(manifest["parts"]) if manifest else "-",
                                 manifest["objective"]["status"] if manifest else "-", remark or error[:70]])
    table(["model", "devices", "link", "parts", "status", "remark"], rows)
    verdict(not bad, f"{len(rows)} splits, {len(bad)} wrong")


if __name__ == "__main__":
    sys.exit(main())
