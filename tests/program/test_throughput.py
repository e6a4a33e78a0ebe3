#!/usr/bin/env python3
"""The sixteen workloads of the placement paper: published optimum, ideals, proof.

usage: test_throughput.py [workload ...]

Every value below was published (placement paper, Table 1) and measured again with the paper's own
program to the digits given.  Checked for each file: the optimum to all printed digits, "optimal"
said, the number of ideals, the split's own loads recomputed here from the workload.  Time and memory
are tools/bench/pcc-bench's.  Exit: 0 pass, 1 fail, 77 skip (no workloads, no pcc).
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from sanitized import SANITIZED


# name: time per sample in ms as printed by the paper's program, ideals
PUBLISHED = {
    "op_bert3_inference": ("27.9186", 1428),
    "op_bert6_inference": ("29.5795", 1923),
    "op_bert12_inference": ("147.478", 2906),
    "op_resnet50_inference": ("124.349", 241),
    "op_bert3_training": ("65.3031", 2774),
    "op_bert6_training": ("72.8650", 3776),
    "op_bert12_training": ("437.998", 2938),
    "op_resnet50_training": ("255.194", 258),
    "layer_bert24_inference": ("17.7899", 30),
    "layer_resnet50_inference": ("33.7747", 242),
    "layer_inceptionv3_inference": ("51.5519", 36596),
    "layer_gnmt_inference": ("32.9107", 17914),
    "layer_bert24_training": ("41.7458", 30),
    "layer_resnet50_training": ("78.6318", 242),
    "layer_inceptionv3_training": ("122.762", 36596),
    "layer_gnmt_training": ("107.004", 17914),
}


def as_printed(value, text):
    """value with as many digits after the point as text."""
    return f"{value:.{len(text.split('.')[1])}f}"


def loads(workload, split):
    """Load of every device by the rules of the paper; checks that every node is there once."""
    cost, succ, node = {}, {}, {}
    for n in workload["nodes"]:
        node[n["id"]] = n
    for e in workload["edges"]:
        cost.setdefault(e["sourceId"], e["cost"])
        succ.setdefault(e["sourceId"], []).append(e["destId"])
    listed = sorted(i for d in split["cpus"] + split["fpgas"] for i in d["nodes"])
    if listed != sorted(node):
        raise ValueError("the split does not list every node once")
    result = [sum(node[i]["cpuLatency"] for i in d["nodes"]) for d in split["cpus"]]
    for d in split["fpgas"]:
        mine = set(d["nodes"])
        load = sum(node[i]["fpgaLatency"] for i in mine)
        if sum(node[i].get("size", 0) for i in mine) > workload["maxSizePerFPGA"]:
            raise ValueError("a device is over its memory")
        for u, to in succ.items():
            pins = {u, *to}
            if pins & mine and pins - mine:
                load += cost[u]
        result.append(load)
    return result


def run(pcc, *args):
    """What a run of pcc says."""
    done = subprocess.run([pcc, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise ValueError(f"pcc {' '.join(args)}: exit {done.returncode}: {done.stdout.strip()}")
    return done.stdout


def check(pcc, folder, name, tmp):
    """Problems with one workload, as a list; prints a line."""
    tps, ideals = PUBLISHED[name]
    path = os.path.join(folder, name + ".json")
    out = os.path.join(tmp, name + ".json")
    text = run(pcc, path, "-p", "dp-place", "-o", out)
    with open(path, encoding="utf-8") as f:
        workload = json.load(f)
    with open(out, encoding="utf-8") as f:
        split = json.load(f)
    problems = []
    mine = loads(workload, split)
    claimed = [d["load"] for d in split["cpus"] + split["fpgas"]]
    if as_printed(split["maxLoad"], tps) != tps:
        problems.append(f"max load {split['maxLoad']}, published {tps}")
    if len(claimed) != workload["maxCPUs"] + workload["maxFPGAs"]:
        problems.append("not every device is listed")
    differ = any(abs(a - b) > 1e-6 for a, b in zip(mine, claimed))
    if differ or abs(max(mine) - split["maxLoad"]) > 1e-6:
        problems.append(f"loads {claimed}, recomputed {mine}")
    if "optimal" not in text:
        problems.append("not said to be optimal")
    counted = run(pcc, path, "-p", "dp-place{count-ideals=true}", "-o", out)
    if f"{ideals} ideals" not in counted:
        problems.append(f"{ideals} ideals expected")
    print(f"{name:28} {split['maxLoad']:12.6f} ms  " + ("ok" if not problems else "; ".join(problems)))
    return problems


def proves_itself(folder):
    """The recomputation must notice a node that is moved and a net that is dropped."""
    path = os.path.join(folder, "layer_bert24_inference.json")
    with open(path, encoding="utf-8") as f:
        workload = json.load(f)
    ids = [n["id"] for n in workload["nodes"]]
    split = {"cpus": [{"nodes": ids[:1]}], "fpgas": [{"nodes": ids[1:9]}, {"nodes": ids[9:]}]}
    moved = {"cpus": split["cpus"], "fpgas": [{"nodes": ids[1:10]}, {"nodes": ids[10:]}]}
    # a net that the split cuts and that costs something
    left = set(ids[1:9])
    source = next(e["sourceId"] for e in workload["edges"]
                  if e["cost"] > 0 and (e["sourceId"] in left) != (e["destId"] in left))
    dropped = dict(workload, edges=[e for e in workload["edges"] if e["sourceId"] != source])
    return loads(workload, split) != loads(workload, moved) and \
        loads(workload, split) != loads(dropped, split)


def main():
    """Runs everything; the exit code."""
    pcc, folder = os.environ.get("PCC", "pcc"), str(extras.shared("workloads/throughput"))
    extras.need(os.path.exists(pcc), "no pcc")
    if not proves_itself(folder):
        print("the check does not notice planted changes")
        return 1
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name in sys.argv[1:] or list(PUBLISHED)[::1 + 2 * SANITIZED]:
            try:
                failed += bool(check(pcc, folder, name, tmp))
            except ValueError as e:
                print(f"{name}: {e}")
                failed += 1
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
