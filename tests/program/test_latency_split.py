#!/usr/bin/env python3
"""Split folders of plans that are made for a latency: parts are subgraphs.

usage: test_latency_split.py   (environment: PCC, PCC_GEN)

Plans by hand over two accelerators with two slots each and two CPUs, of models that pcc-gen makes:
1. each slot is a part that says so, and holds just its nodes; hosts' nodes are in as many parts as delay nothing;
2. the manifest has the plan's latency, and that of the parts: no less, and at most 5 % more;
3. plan{from=FOLDER} has the same value and the same slots, without being told anything; plan{from=model.onnx} and
   plan{from=self} of the annotated model in it, too, if told that it is a latency;
4. the parts compute what the whole model does (ONNX Runtime; else that is left out);
5. schedule.json holds, its peaks are the memory of the plan, and the chart and trace of one sample show each subgraph
   once.

Exit: 0 pass, 1 fail."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from checks import check, finish
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
GEN = os.environ.get("PCC_GEN", str(Path(PCC).parent / "pcc-gen"))
MODELS = (("gpt", "--layers", "2", "--width", "64", "--heads", "2", "--vocab", "100"), ("inception",))
DEVICES = "2xa100:4GiB,2xcpu"
# stretches of the model, in order
STRETCHES = (("acc0", 1), ("cpu0", 0), ("acc1", 1), ("acc0", 2), ("acc1", 2))


def pcc(*args, rc=0):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=300)
    check(r.returncode == rc, f"pcc {args}: exit {r.returncode}: {r.stderr[-400:]}")
    return r


def by_hand(model, path):
    """A plan JSON; the stretches."""
    whole = json.loads(pcc(model, "-d", "1xa100:40GiB", "-p", "one-place", "-q", "--emit", "json").stdout)
    nodes = whole["devices"][0]["nodes"]
    step = -(-len(nodes) // len(STRETCHES))
    cut = [nodes[i:i + step] for i in range(0, len(nodes), step)]
    devices = {}
    for (name, slot), stretch in zip(STRETCHES, cut):
        d = devices.setdefault(name, {"name": name, "nodes": [], "slots": []})
        d["nodes"] += stretch
        if slot:
            d["slots"].append(stretch)
    path.write_text(json.dumps({"pcc_plan": 1, "objective": {"name": "latency"}, "devices": list(devices.values())}))
    return cut


def one(name, model, tmp):
    plan, split = tmp / "plan.json", tmp / f"{name}.split"
    cut = by_hand(model, plan)
    pcc(model, "-d", DEVICES, "-p", f"plan{{from={plan}}}", "--pictures=none", "-q", "-o", split)
    m = json.loads((split / "manifest.json").read_text())
    o = m["objective"]
    check((o["name"], o["cpus"], o["pieces"]) == ("latency", "list", "exclusive"), f"{name}: {o}")
    check(o["bound_s"] <= o["value_s"] <= o["parts_value_s"] <= 1.05 * o["value_s"], f"{name}: {o}")
    slots = {(p["device"], p.get("slot", 0)): p["file"] for p in m["parts"] if p["device"].startswith("acc")}
    check(len(slots) == 4 == sum(p["device"].startswith("acc") for p in m["parts"]), f"{name}: {slots}")
    for place, stretch in zip(STRETCHES, cut):
        if place[1]:
            check(sorted(m["nodes"][slots[place]]) == sorted(stretch), f"{name}: nodes of {place}")
    hosts = [p for p in m["parts"] if p["device"].startswith("cpu")]
    check(sum(p["nodes"] for p in hosts) == len(cut[1]) > len(hosts) > 0, f"{name}: {len(hosts)} parts of hosts")
    for d in m["devices"]:  # each CPU's bytes are those of its own parts, some of which may hold the same weight
        own = [p["lasting_bytes"] for p in m["parts"] if p["device"] == d["name"]]
        check(max(own, default=0) <= d["weights_bytes"] <= sum(own) and d["used_bytes"] >= d["weights_bytes"] and
              (d["used_bytes"] > 0) == bool(own), f"{name}: {d} of parts with {own}")
    again = json.loads(pcc(model, "-d", DEVICES, "-p", f"plan{{from={split}}}", "-q", "--emit", "json").stdout)
    check(again["objective"]["value_s"] == o["value_s"], f"{name}: {again['objective']}")
    peaks = [d["peak_bytes"] for d in json.loads((split / "schedule.json").read_text())["devices"]]
    check([d["used_bytes"] for d in again["devices"]] == peaks, f"{name}: memory of the plan, and {peaks}")
    told = {d["name"]: d.get("slots") for d in again["devices"]}
    check([len(s) for s in told["acc0"]] == [len(cut[0]), len(cut[3])], f"{name}: {told['acc0']}")
    for source, noted in ((model, split / "model.onnx"), (split / "model.onnx", "self")):
        args = ("-d", DEVICES, "--objective=latency", "-p", f"plan{{from={noted}}}", "-q", "--emit", "json")
        again = json.loads(pcc(source, *args).stdout)
        check(again["objective"]["value_s"] == o["value_s"] and
              {d["name"]: d.get("slots") for d in again["devices"]} == told, f"{name}: {noted}: {again['objective']}")
    if not SANITIZED:  # the parts are those of other builds
        r = subprocess.run([sys.executable, ROOT / "tools/verify_split.py", model, split], capture_output=True,
                           text=True)
        check(r.returncode in (0, 77), f"{name}: {r.stdout[-300:]} {r.stderr[-300:]}")
    pcc(split, "--check-schedule")
    trace = tmp / "x.trace.json"
    pcc(model, "-d", DEVICES, "-p", f"plan{{from={plan}}}", "-q", "-o", trace)
    events = json.loads(trace.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    shown = [e["name"] for e in events if e["name"].startswith("subgraph ")]
    check({x[:len("subgraph 1")] for x in shown} == {"subgraph 1", "subgraph 2"}, f"{name}: {shown}")
    chart = tmp / "x.gantt.svg"
    pcc(model, "-d", DEVICES, "-p", f"plan{{from={plan}}}", "-q", "-o", chart)
    check("one sample on 4 devices, latency" in chart.read_text(), f"{name}: the chart's title")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        for kind, *options in MODELS:
            model = tmp / f"{kind}.onnx"
            subprocess.run([GEN, kind, *options, "-o", model], check=True, capture_output=True)
            one(kind, model, tmp)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
