#!/usr/bin/env python3
"""hier-place on the placement paper's workloads, whose accelerators are put into groups.

usage: test_hier.py   (environment: PCC, PCC_SHARED)

1. The loads of the plan, recomputed here from the file: a device pays for a node whose successors are
   not all with it, at the group's share if they are all in its group.
2. The value lies between the optimum of a flat cluster with all transfers at that share and, no plan
   of these using the CPU, the optimum without groups; a share of 1 gives the latter.
3. Graphs of up to 300 ideals are solved to the end; no run takes long.
4. GNMT's training graph with copies of stages: dp-place proves what a dynamic program over all ideals, written apart
   from pcc, finds; with groups whose link is the outer one hier-place is within a thousandth of it, and not below.
5. The recomputation notices a wrong share and a wrong group (the check can fail).

Exit: 0 pass, 1 fail, 77 skip (no workloads or no pcc).
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from sanitized import SANITIZED

SCALE = 1000  # of the transfers: as they are in the files, links hardly matter
EXACT = ["layer_bert24_inference", "layer_bert24_training", "layer_resnet50_inference",
         "layer_resnet50_training", "op_resnet50_inference", "op_resnet50_training"]
WIDE = ["layer_gnmt_inference", "layer_inceptionv3_inference", "op_bert12_training"]
LONGEST = 300  # seconds of a run: a guard against hanging


def loads(workload, split, group, share):
    """Load of every accelerator in ms, transfers scaled."""
    node = {n["id"]: n for n in workload["nodes"]}
    succ, cost = {}, {}
    for e in workload["edges"]:
        succ.setdefault(e["sourceId"], set()).add(e["destId"])
        cost[e["sourceId"]] = e["cost"] * SCALE
    home = {i: d for d, f in enumerate(split["fpgas"]) for i in f["nodes"]}
    home.update({i: -1 - d for d, c in enumerate(split["cpus"]) for i in c["nodes"]})
    result = [sum(node[i]["fpgaLatency"] for i in f["nodes"]) for f in split["fpgas"]]
    for u, to in succ.items():
        at = {home[v] for v in {u, *to}}
        inner = min(at) >= 0 and len({d // group for d in at}) == 1
        for d in at:
            if d >= 0 and len(at) > 1:
                result[d] += cost[u] * (share if inner else 1)
    return result


def run(pcc, path, out, scale, *args):
    """(split, what pcc says, seconds)."""
    start = time.monotonic()
    done = subprocess.run([pcc, path, "--transfer-scale", str(scale), *args, "-o", out],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise ValueError(f"pcc {' '.join(args)}: exit {done.returncode}: {done.stdout.strip()}")
    with open(out, encoding="utf-8") as f:
        return json.load(f), done.stdout, time.monotonic() - start


def check(pcc, folder, name, tmp):
    """Problems with one workload, as a list; prints a line for each way to group."""
    path, out = os.path.join(folder, name + ".json"), os.path.join(tmp, name + ".json")
    with open(path, encoding="utf-8") as f:
        workload = json.load(f)
    problems = []
    flat = run(pcc, path, out, SCALE, "-p", "dp-place")[0]["maxLoad"]
    for group, share in ((3, 0.25), (2, 0.1), (6, 1))[::1 + SANITIZED]:
        split, said, seconds = run(pcc, path, out, SCALE, "-p", "hier-place", "--group",
                                   f"{group}:{share}")
        least = run(pcc, path, out, SCALE * share, "-p", "dp-place")[0]["maxLoad"]
        value, mine = split["maxLoad"], loads(workload, split, group, share)
        claimed = [d["load"] for d in split["fpgas"]]
        if any(abs(a - b) > 1e-6 for a, b in zip(mine, claimed)) or \
                abs(max(claimed + [c["load"] for c in split["cpus"]]) - value) > 1e-6:
            problems.append(f"{group}:{share}: loads {claimed} of {value}, recomputed {mine}")
        if not least - 1e-6 <= value <= flat + 1e-6:
            problems.append(f"{group}:{share}: {value}, expected {least} to {flat}")
        if name in EXACT and (share == 1 and abs(value - flat) > 1e-6 or "optimal" not in said):
            problems.append(f"{group}:{share}: not the optimum: {said}")
        if seconds > LONGEST:
            problems.append(f"{group}:{share}: {seconds:.1f} s")
        print(f"{name:28} {group}:{share:<5} {value:12.6f} ms of {least:.6f} to {flat:.6f}, "
              f"{seconds:.2f} s", flush=True)
    return problems


def check_turns(pcc, folder, tmp):
    """Problems with copies of stages of GNMT's training graph, as a list."""
    path, out = os.path.join(folder, "layer_gnmt_training.json"), os.path.join(tmp, "turns.json")
    problems = []
    for least, how in ((104.494621, ["-p", "dp-place"]), (87.588333, ["-p", "dp-place", "--overlap=max"]),
                       (104.494621, ["-p", "hier-place", "--group=2:1"])):
        split, said, _ = run(pcc, path, out, 1, *how, "--replicate", "--sync=25GB/s")
        exact = "dp-place" in how
        if not least - 1e-6 <= split["maxLoad"] <= least * (1 if exact else 1.001) + 1e-6:
            problems.append(f"copies, {how}: {split['maxLoad']}, expected {least}")
        if exact and "optimal among contiguous plans" not in said:
            problems.append(f"copies, {how}: not proven: {said}")
    return problems


def proves_itself():
    """The recomputation must notice which share and which group."""
    nodes = [{"id": i, "fpgaLatency": 1.0} for i in range(4)]
    edges = [{"sourceId": i, "destId": i + 1, "cost": 1.0} for i in range(3)]
    workload = {"nodes": nodes, "edges": edges}
    split = {"cpus": [], "fpgas": [{"nodes": [i]} for i in range(4)]}
    say = [loads(workload, split, g, s) for g, s in ((2, 0.5), (2, 0.25), (4, 0.5), (1, 0.5))]
    right = say[0] == [1 + SCALE / 2, 1 + SCALE * 1.5, 1 + SCALE * 1.5, 1 + SCALE / 2]
    return right and all(say[0] != s for s in say[1:])


def main():
    """Runs everything; the exit code."""
    pcc, folder = os.environ.get("PCC", "pcc"), str(extras.shared("workloads/throughput"))
    extras.need(os.path.exists(pcc), "no pcc")
    if not proves_itself():
        print("the check does not notice planted changes")
        return 1
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name in sys.argv[1:] or (EXACT + WIDE)[SANITIZED::1 + SANITIZED]:
            try:
                problems = check(pcc, folder, name, tmp)
            except ValueError as e:
                problems = [str(e)]
            for p in problems:
                print(f"{name}: {p}")
            failed += bool(problems)
        for p in [] if SANITIZED else check_turns(pcc, folder, tmp):
            print(p)
            failed += 1
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
