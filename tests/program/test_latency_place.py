#!/usr/bin/env python3
"""latency-place: plans, proofs and bounds.

usage: test_latency_place.py [--extra=shared]   (environment: PCC, PCC_SHARED)

1. Three nodes, edge 0 -> 2, one accelerator: 4 with one subgraph, 3 with two.
2. Memory that nothing fits: exit 3, with the memory that would do.
3. Ctrl-C and --time-limit end the work with a plan, and with the bound that was proven until then.
4. --extra=shared: the paper's inputs.  Value and bound of those that a search settles soon; all once more by
   tools/bench/latency.py from the split that is written; with all times multiplied by random factors and ids shuffled
   a search over half of the budget finds the same; two subgraphs for each accelerator are never worse;
   a training graph, no worse than greedily and with layers undivided.

Exit: 0 pass, 1 fail, 77 skip."""
# extras: shared
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools/bench")]
import extras
from checks import check, finish
from latency import latency as foreign
from perturbed import perturbed

PCC = os.environ.get("PCC", "pcc")
# ms, proven in little time
SOON = {"op_bert3": 408.4744, "op_bert6": 438.0625, "op_resnet50": 651.1208, "layer_bert24": 100.2185,
        "layer_resnet50": 1156.8813}


def plan(model, *options, code=0):
    """What a run says: (words of the plan's head in textual IR, the paper's split); its error with another code."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "split.json"
        run = subprocess.run([PCC, str(model), *options, "-o", str(out), "--emit", "ir"], capture_output=True,
                             text=True, check=False)
        check(run.returncode == code, f"{options}: exit {run.returncode}: {run.stderr[-500:]}")
        if run.returncode or code:
            return run.stderr
        head = next(x for x in run.stdout.splitlines() if x.startswith("plan "))
        return dict(re.findall(r"(\w+)=(\S+)", head)), json.loads(out.read_text())


def ms(text):
    """ms of "1.5ms", exactly: the unit's power of ten."""
    number, unit = re.fullmatch(r"([\d.]+)([a-z]+)", text).groups()
    return float(number) * {"ps": 1e-9, "ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[unit]


def workload(folder, nodes, edges, memory=1000):
    path = Path(folder) / "w.json"
    path.write_text(json.dumps({
        "maxSizePerFPGA": memory, "maxFPGAs": 1, "maxCPUs": 4,
        "nodes": [{"id": i, "supportedOnFpga": 1, "cpuLatency": c, "fpgaLatency": a, "isBackwardNode": 0, "size": s}
                  for i, (c, a, s) in enumerate(nodes)],
        "edges": [{"sourceId": u, "destId": v, "cost": c} for u, v, c in edges]}))
    return path


# ---- small ---------------------------------------------------------------------------------------------

def small(tmp):
    # appendix A.1: what one accelerator does in two goes
    path = workload(tmp, [(2, 1, 0), (5, 2, 0), (4, 1, 0)], [(0, 2, 0)])
    for q, least in ((1, 4), (2, 3)):
        said, split = plan(path, "-p", f"latency-place{{q={q}}}")
        check(said["status"] == "optimal" and ms(said["value"]) == least and split["q"] == q,
              f"q={q}: {said}, expected {least} ms")
    path = workload(tmp, [(2, 1, 50), (5, 2, 70), (4, 1, 0)], [(0, 2, 0)], memory=60)
    said, _ = plan(path, "-p", "latency-place")
    check(said["status"] == "optimal" and ms(said["value"]) == 5, f"70 bytes do not fit 60: {said}")
    text = json.loads(path.read_text())
    text["maxCPUs"] = 0
    path.write_text(json.dumps(text))
    check("120" in plan(path, "-p", "latency-place", code=3), "without CPUs: the memory that would do")
    asked = plan(path, "-p", "latency-place", "--objective=makespan", code=1)
    check("latency-place knows no makespan" in asked, asked)


def layers(tmp, n, width=4):
    """Layers of `width` nodes each, every node reading two of the layer before: too many ideals to search."""
    nodes = [(5 + i * 7 % 11, 1 + i * 5 % 3, 1) for i in range(n * width)]
    edges = [(i - width + (i + k) % width - i % width, i, (i - width + (i + k) % width - i % width) % 3)
             for i in range(width, n * width) for k in (0, 1)]
    return workload(tmp, nodes, edges, memory=n * width // 3)


def stopped(tmp):
    path = layers(tmp, 100)
    for args in (["--time-limit", "300ms"], None):
        with subprocess.Popen([PCC, path, "-p", "latency-place{moves=100000000000}", "--emit", "ir", *(args or [])],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            if not args:
                time.sleep(1)
                check(run.poll() is None, "over before it could be interrupted")
                run.send_signal(signal.SIGINT)
            start = time.monotonic()
            out, err = run.communicate(timeout=300)
        said = dict(re.findall(r"(\w+)=(\S+)", next((x for x in out.splitlines() if x.startswith("plan ")), "")))
        check(run.returncode == 0 and said.get("status") == "feasible", f"{args}: exit {run.returncode}: {err} {said}")
        check(0 < ms(said.get("bound", "0ms")) <= ms(said.get("value", "0ms")), f"{args}: {said}")
        check(time.monotonic() - start < 60, f"{args}: it went on")
    said, _ = plan(path, "-p", "latency-place", "--time-limit", "1ps")
    check("value" in said, f"no time at all: {said}")
    (Path(tmp) / "one").mkdir()
    said, _ = plan(workload(Path(tmp) / "one", [(2, 1, 0)], []), "-p", "latency-place")
    check(said["status"] == "optimal" and ms(said["value"]) == 1, f"one node: {said}")


# ---- the paper's inputs --------------------------------------------------------------------------------

def right(name, load, said, split):
    other = foreign(load, [set(d["nodes"]) for d in split["fpgas"]])
    check(abs(ms(said["value"]) - other) <= 1e-6, f"{name}: {said['value']}, not {other}")
    size = {n["id"]: n["size"] for n in load["nodes"]}
    check(all(sum(size[v] for v in d["nodes"]) <= load["maxSizePerFPGA"] for d in split["fpgas"]),
          f"{name}: over memory")


def paper(tmp):
    folder = extras.shared("workloads/latency")
    for name, least in SOON.items():
        path = folder / f"{name}_inference.json"
        load = json.loads(path.read_text())
        said, split = plan(path, "-p", "latency-place")
        check(said["status"] == "optimal" and abs(ms(said["value"]) - least) < 5e-5, f"{name}: {said}, not {least}")
        right(name, load, said, split)
        if name not in ("op_resnet50", "layer_resnet50"):
            continue
        quick, _ = plan(path, "-p", "latency-place{max-states=0:moves=2000:q=2}")
        check(ms(quick["bound"]) <= least, f"{name}: bound {quick['bound']} above the optimum")
        for seed in (1, 2):
            other = tmp / "other.json"
            load = perturbed(load, seed)
            other.write_text(json.dumps(load))
            said, split = plan(other, "-p", "latency-place")
            again, _ = plan(other, "-p", "latency-place{seed=7:max-states=1000000}")
            check(said["status"] == again["status"] == "optimal" and said["value"] == again["value"],
                  f"{name}, seed {seed}: {said} {again}")
            right(f"{name}, seed {seed}", load, said, split)


def training(tmp):
    """One sample of a training graph, each accelerator with room for about half of the model."""
    load = json.loads((extras.shared("workloads/throughput") / "op_bert3_training.json").read_text())
    load["maxSizePerFPGA"] = .55 * sum(n["size"] for n in load["nodes"])
    path = tmp / "training.json"
    path.write_text(json.dumps(load))
    said, split = plan(path, "-p", "latency-place{moves=20000}")
    run = subprocess.run([PCC, path, "-p", "greedy-place", "--judge=latency"], capture_output=True, text=True,
                         check=False)
    most = ms("".join(re.search(r"^latency ([\d.]+) (\w+)", run.stdout + run.stderr, re.M).groups()))
    check(ms(said["value"]) <= most * 1.001, f"training: {said['value']}, greedy {most} ms")
    at = {v: i for i, d in enumerate(split["fpgas"]) for v in d["nodes"]}
    for color in {n.get("colorClass") for n in load["nodes"]} - {None}:
        used = {at.get(n["id"]) for n in load["nodes"] if n.get("colorClass") == color}
        check(len(used) == 1, f"training: nodes of colour {color} on {used}")


def main():
    with tempfile.TemporaryDirectory() as name:
        if extras.extra() == "shared":
            paper(Path(name))
            training(Path(name))
        else:
            small(Path(name))
            stopped(Path(name))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
