#!/usr/bin/env python3
"""The replay of a plan: its time per sample, its trace, its chart.

usage: test_replay.py   (environment: PCC, PCC_GEN, PCC_SHARED)

1. Random workloads of inference and training, a generated training graph: N samples through the plan
   that dp-place finds (also in GPipe's order and with overlapping transfers).  The time per sample is at
   least the plan's value and at most value * (1 + levels / N); value and loads come from the split that
   pcc writes.  The trace is read as JSON, with exact numbers: no lane does two things at once, every
   task is there once for every sample, its end is the end of the replay, what a lane does for a sample
   is the load of its device, nothing starts before its inputs are there, arrows begin and end once.
2. The chart is well-formed XML with a bar for every event, all bars within the picture, numbers and
   bracket where they belong; names cannot break it; it stays small.
3. The sixteen workloads of the placement paper, where they are there, with N = 200: planned by dp-place, and
   these plans with a third of the nodes moved at random, which are not contiguous (the paper's virtual devices).
4. Wrong uses are refused.  Planted errors in a trace are noticed.

Exit: 0 pass, 1 fail."""
# extras: shared
import copy
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
GEN = os.environ.get("PCC_GEN", str(Path(PCC).parent / "pcc-gen"))
SVG = "{http://www.w3.org/2000/svg}"


def pcc(*args, code=0):
    """stdout and stderr of a run, bytes that are no UTF-8 kept."""
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, timeout=600)
    err = r.stderr.decode("utf-8", "replace")
    check(r.returncode == code, f"pcc {args}: exit {r.returncode}, expected {code}: {err[-300:]}")
    return r.stdout.decode("utf-8", "replace"), err


def line_of(text):
    """(samples, end in ps, levels) of the line of --replay."""
    m = re.search(r"^replay of (\d+) samples?: .* above the plan's .*\n  \(ends at ([\d.]+)([a-z]+); "
                  r"(\d+) levels?\)$", text, re.M)
    if not check(m, f"no line of a replay in {text[-300:]!r}"):
        return 1, 0, 1
    unit = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}[m[3]]
    return int(m[1]), Decimal(m[2]) * unit, int(m[4])


def within(n, end, levels, value):
    """Never below the plan's value, and above it by at most levels / N."""
    return n * value <= end <= (n + levels) * value


def bounded(what, n, end, levels, value):
    check(within(n, end, levels, value),
          f"{what}: {n} samples end at {end} ps, value {value} ps, {levels} levels")


# ---- traces

def lanes_and_events(trace):
    names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    return names, [e for e in trace["traceEvents"] if e["ph"] == "X"]


def bars_of(trace):
    """How many bars take time: the slices of one receive, compute and send.  Where a lane does all for a device."""
    return len({(e["tid"], e["cat"], *e["args"].items()) for e in lanes_and_events(trace)[1] if e["dur"] > 0})


def trace_problems(trace, samples, end):
    """What is wrong with a trace of that many samples that ends at `end` ps."""
    names, events = lanes_and_events(trace)
    wrong, seen, arrows = [], {}, {}
    if len(set(names.values())) != len(names):
        wrong.append("lanes of equal names")
    busy = {}
    for e in events:
        busy.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
        task = (e["tid"], e["args"]["part"], re.sub(r" \d+", "", e["name"]))
        seen.setdefault(task, []).append(e["args"]["sample"])
        if "bind_id" in e:
            arrows.setdefault(e["bind_id"], []).append((e.get("flow_in"), e.get("flow_out")))
        if e["tid"] not in names or e["pid"] != 1 or e["dur"] < 0:
            wrong.append(f"odd event {e}")
    for tid, spans in busy.items():
        spans.sort()
        if any(a[1] > b[0] for a, b in zip(spans, spans[1:])):
            wrong.append(f"{names[tid]} does two things at once")
    for task, had in seen.items():
        if sorted(had) != list(range(1, samples + 1)):
            wrong.append(f"{task} is not there once for each sample")
    if max(e["ts"] + e["dur"] for e in events) * 10**6 != end:
        wrong.append("does not end with the replay")
    for flow in arrows.values():
        middle = [(True, True)] * (len(flow) - 2)
        if flow != [(None, True), *middle, (True, None)]:
            wrong.append("an arrow does not begin and end once")
    return wrong


def busy_per_sample(trace, samples):
    """ps that each lane works for a sample, by its name."""
    names, events = lanes_and_events(trace)
    sums = dict.fromkeys(names.values(), 0)
    for e in events:
        sums[names[e["tid"]]] += e["dur"] * 10**6
    return {re.sub(r" \(.*", "", name): Decimal(total) / samples for name, total in sums.items()}


def data_problems(trace, workload, split):
    """Edges between devices whose forward nodes run before their inputs are there.  Only where a device
    has one task in a pass, so that the task of a node is known."""
    names, events = lanes_and_events(trace)
    device = {n: f"acc{k}" for k, d in enumerate(split["fpgas"]) for n in d["nodes"]}
    device.update({n: f"cpu{k}" for k, d in enumerate(split["cpus"]) for n in d["nodes"]})
    back = {n["id"]: bool(n.get("isBackwardNode")) for n in workload["nodes"]}
    tasks, at = {}, {}
    for e in events:
        key = (names[e["tid"]].split()[0], e["cat"] == "backward", e["args"]["sample"])
        old = tasks.setdefault((key, e["args"]["part"]), (e["ts"], e["ts"]))
        tasks[key, e["args"]["part"]] = (min(old[0], e["ts"]), max(old[1], e["ts"] + e["dur"]))
    for (key, _), span in tasks.items():
        at.setdefault(key, []).append(span)
    bad, known = [], 0
    for edge in workload["edges"]:
        a, b = edge["sourceId"], edge["destId"]
        for s in range(1, 4):
            x, y = (at.get((device[n], back[n], s), []) for n in (a, b))
            if device[a] != device[b] and len(x) == 1 and len(y) == 1:
                known += 1
                if x[0][1] > y[0][0]:
                    bad.append(f"{b} starts before {a} ends")
    return bad, known


# ---- charts

def chart_problems(text, samples, names, bars=None):
    """What is wrong with a chart; bars: how many it must have, None: any."""
    root = xml.fromstring(text)
    texts = [t.text or "" for t in root.iter(SVG + "text")]
    width, height = float(root.get("width")), float(root.get("height"))
    wrong = [f"no row {n}" for n in names if n not in texts]
    groups = [g for g in root.iter(SVG + "g")
              if re.match(r"sample |\d+ bars", g.findtext(SVG + "title") or "")]
    if bars is not None and len(groups) != bars:
        wrong.append(f"{len(groups)} bars, {bars} expected")
    if not groups and bars != 0:
        wrong.append("no bars")
    for r in root.iter(SVG + "rect"):
        if r.get("width") != "100%" and (float(r.get("x")) < 0 or float(r.get("y")) < 0 or
                                         float(r.get("x")) + float(r.get("width")) > width + 0.1 or
                                         float(r.get("y")) + float(r.get("height")) > height + 0.1):
            wrong.append("a bar leaves the picture")
    if f"{samples} sample" not in texts[0] or "per sample" not in texts[1]:
        wrong.append(f"odd title {texts[:2]}")
    return wrong


# ---- workloads

def workload(rng, nodes, training, devices, skip=4):
    """A graph whose edges lead over at most `skip` nodes; training: with a mirrored backward pass."""
    n, edges = [], []
    for i in range(nodes):
        n.append({"id": i, "name": f"n{i}", "supportedOnFpga": 1, "isBackwardNode": 0, "size": 1,
                  "cpuLatency": rng.randint(50, 900), "fpgaLatency": rng.randint(1, 99) / 7})
        for j in range(max(0, i - skip), i):
            if j == i - 1 or rng.random() < 0.2:
                edges.append({"sourceId": j, "destId": i, "cost": 0})
    if training:
        for i in range(nodes):
            n[i]["colorClass"] = i
            n.append(dict(n[i], id=nodes + i, name=f"g{i}", isBackwardNode=1,
                          fpgaLatency=rng.randint(1, 99) / 3))
        edges += [{"sourceId": nodes + e["destId"], "destId": nodes + e["sourceId"], "cost": 0}
                  for e in edges] + [{"sourceId": i, "destId": nodes + i, "cost": 0}
                                     for i in range(nodes)]
    cost = [rng.randint(0, 30) / 4 for _ in n]
    for e in edges:
        e["cost"] = cost[e["sourceId"]]
    return {"maxSizePerFPGA": len(n), "maxFPGAs": devices, "maxCPUs": 1, "nodes": n, "edges": edges}


def one(name, path, split_path, options, samples, graph=None):
    """A run with options, its trace, chart and line against each other and against the split."""
    args = [path, *options, "-q"]
    _, err = pcc(*args, "--replay", samples, "-o", split_path, "--emit", "ir")
    n, end, levels = line_of(err)
    split = json.loads(Path(split_path).read_text(encoding="utf-8"), parse_float=Decimal)
    bounded(name, n, end, levels, split["maxLoad"] * 10**9)
    text, _ = pcc(*args, "--replay", samples, "--emit", "trace")
    trace = json.loads(text, parse_float=Decimal)
    for problem in trace_problems(trace, samples, end):
        check(False, f"{name}: {problem}")
    loads = {f"acc{k}": d["load"] * 10**9 for k, d in enumerate(split["fpgas"])}
    loads.update({f"cpu{k}": d["load"] * 10**9 for k, d in enumerate(split["cpus"])})
    busy = busy_per_sample(trace, samples)
    for d, load in loads.items():
        most = max(t for lane, t in busy.items() if lane.split()[0] == d)
        check(abs(most - load) <= 1, f"{name}: {d} works {most} ps a sample, its load is {load}")
    known = 0
    if graph and "--overlap" not in options:
        bad, known = data_problems(trace, graph, split)
        check(not bad, f"{name}: {bad[:3]}")
    svg, _ = pcc(*args, "--emit", "gantt")
    for problem in chart_problems(svg, "", busy):
        check(False, f"{name}: chart: {problem}")
    return trace, end, known


def random_workloads(tmp):
    rng, known = random.Random(3), 0
    for i in range(12):
        training = i % 2 == 1
        g = workload(rng, rng.randint(3, 14), training, rng.randint(1, 4))
        path, split = tmp / f"w{i}.json", tmp / f"s{i}.json"
        path.write_text(json.dumps(g))
        planner = "contract{training},dp-place" if training else "dp-place"
        known += one(f"random {i}", path, split, ["-p", planner], 20, g)[2]
        again = ["-p", f"plan{{from={split}:effort=0}}"]
        other = tmp / "other.json"
        for more in [["--overlap", "max"], ["--overlap", "duplex"], ["--schedule", "gpipe"]]:
            one(f"random {i} {more}", path, other, again + more, 7)
    for i in range(6):  # plans that are made to be of any form
        g = workload(rng, rng.randint(8, 14), i % 2 == 1, rng.randint(2, 4))
        path, split = tmp / f"a{i}.json", tmp / f"as{i}.json"
        path.write_text(json.dumps(g))
        planner = ("contract{training}," if i % 2 else "") + "anneal-place{starts=1:moves=30000}"
        one(f"annealed {i}", path, split, ["-p", planner], 20, g)
    check(known > 100, f"only {known} data dependences were looked at")


def generated(tmp):
    """ONNX: a training graph, and the default number of samples."""
    model = tmp / "train.onnx"
    subprocess.run([GEN, "train", "--layers", "3", "--width", "64", "-o", model], check=True)
    args = [model, "-d", "3xa100", "-q", "-p"]
    _, err = pcc(*args, "contract{training},dp-place", "--replay", 50, "-o", tmp / "t.json", "--emit", "ir")
    args.append(f"contract{{training}},plan{{from={tmp / 't.json'}:effort=0}}")
    n, end, levels = line_of(err)
    value = json.loads((tmp / "t.json").read_text(), parse_float=Decimal)["objective"]["value_s"]
    bounded("train.onnx", n, end, levels, Decimal(value).quantize(Decimal("1e-12")) * 10**12)
    trace = json.loads(pcc(*args, "--replay", 50, "--emit", "trace")[0], parse_float=Decimal)
    check(not trace_problems(trace, 50, end), f"train.onnx: {trace_problems(trace, 50, end)}")
    passes = {e["cat"] for e in lanes_and_events(trace)[1]}
    check(passes == {"forward", "backward"}, f"train.onnx: passes {passes}")
    names = {re.sub(r"\d+", "N", e["name"]) for e in lanes_and_events(trace)[1]}
    check(names <= {f"part N {p}{w}" for p in passes for w in ("", " receive", " compute", " send")}
          and any(n.endswith("receive") for n in names), f"train.onnx: slices {names}")
    traffic(args, trace, 50)
    few = json.loads(pcc(*args, "--emit", "trace")[0])
    count = max(e["args"]["sample"] for e in lanes_and_events(few)[1])
    check(5 <= count <= 64, f"{count} samples by default")
    svg, _ = pcc(*args, "--emit", "gantt")
    check("1F1B" in svg and "one period" in svg and ">forward<" in svg, "train.onnx: chart's words")
    for problem in chart_problems(svg, count, ["acc0", "acc1", "acc2"]):
        check(False, f"train.onnx: chart: {problem}")


def traffic(args, trace, samples):
    """The bytes on links are those that one sample alone brings to devices, and none stay on a link."""
    step = json.loads(pcc(*args, "--judge=makespan", "--emit", "trace")[0])
    moved = {(e["args"]["value"], e["args"]["to"]): e["args"]["bytes"]
             for e in lanes_and_events(step)[1] if e["cat"] == "transfer"}
    want = sum(b for (_, to), b in moved.items() if to.startswith("acc"))
    found, left = {}, {}
    for e in trace["traceEvents"]:
        if e["ph"] == "C":
            found[e["name"]] = found.get(e["name"], 0) + e["args"]["bytes"]
            left[e["name"]] = e["args"]["bytes"]
    got = sum(b for n, b in found.items() if n.endswith(" receives"))
    check(want > 0 and got == samples * want, f"bytes on links: {got}, expected {samples} times {want}")
    check(not any(left.values()), f"bytes stay on a link: {left}")


def charts(tmp):
    """Bars, hostile names, size, files and lists of kinds."""
    rng = random.Random(5)
    evil = tmp / os.fsdecode(b"a<b>&\"']]>\xff\x01.json")
    evil.write_text(json.dumps(workload(rng, 9, False, 3)))
    args = [evil, "-p", "dp-place", "-q"]
    both, _ = pcc(*args, "--replay", 6, "--emit", "gantt,trace")
    svg, _ = pcc(*args, "--replay", 6, "--emit", "gantt")
    trace, _ = pcc(*args, "--replay", 6, "--emit", "trace")
    check(both == svg + trace, "--emit gantt,trace is not the one after the other")
    events = lanes_and_events(json.loads(trace))[1]
    wrong = chart_problems(svg, 6, ["acc0", "acc1", "acc2", "cpu0"], bars_of(json.loads(trace)))
    check(not wrong, f"chart: {wrong}")
    check("a<b>&\"']]>?.json" in xml.fromstring(svg).find(SVG + "text").text, "name in the chart")
    check("a<b>&\"']]>?.json" == json.loads(trace)["traceEvents"][0]["args"]["name"], "name in the trace")
    for suffix, text in ((".gantt.svg", svg), (".trace.json", trace)):
        out = tmp / f"x{suffix}"
        pcc(*args, "--replay", 6, "-o", out)
        check(out.read_text(encoding="utf-8") == text, f"-o x{suffix} differs from --emit")
    pcc(*args, "--replay", 6, "-o", tmp / "x.gantt.svg")

    # virtual devices: a chain that comes back twice has three rows in one lane, a contiguous plan one
    chain = workload(rng, 10, False, 2, skip=1)
    (tmp / "chain.json").write_text(json.dumps(chain))
    for homes, rows in (("0110011000", ["a", "b", "c", "a", "b"]), ("0001111111", [])):
        split = {"cpus": [{"nodes": []}], "fpgas": [{"nodes": [i for i in range(10) if homes[i] == d]} for d in "01"]}
        (tmp / "split.json").write_text(json.dumps(split))
        args = [tmp / "chain.json", "-p", f"plan{{from={tmp / 'split.json'}}}", "-q", "--replay", 7]
        svg, trace = pcc(*args, "--emit", "gantt")[0], json.loads(pcc(*args, "--emit", "trace")[0])
        names = [t.text for t in xml.fromstring(svg).iter(SVG + "text") if t.text in ("a", "b", "c", "d")]
        check(names == rows, f"rows of {homes}: {names}, expected {rows}")
        bars = bars_of(trace)
        wrong = chart_problems(svg, 7, ["acc0", "acc1"], bars)
        tops = {g.find(SVG + "rect").get("y") for g in xml.fromstring(svg).iter(SVG + "g")
                if (g.findtext(SVG + "title") or "").startswith("sample")}
        check(not wrong and len(tops) == max(2, len(rows)), f"rows of {homes}: {wrong}, {len(tops)} heights")

    # in training a part of the backward pass shares the row of the forward part that it undoes
    (tmp / "chain.json").write_text(json.dumps(workload(rng, 6, True, 2, skip=1)))
    split = {"cpus": [{"nodes": []}],
             "fpgas": [{"nodes": [i for i in range(12) if "010010"[i % 6] == d]} for d in "01"]}
    (tmp / "split.json").write_text(json.dumps(split))
    svg, _ = pcc(tmp / "chain.json", "-p", f"plan{{from={tmp / 'split.json'}}}", "-q", "--replay", 2, "--emit", "gantt")
    tops = [float(g.find(SVG + "rect").get("y")) for g in sorted(
        (g for g in xml.fromstring(svg).iter(SVG + "g") if (g.findtext(SVG + "title") or "").startswith("sample 1,")),
        key=lambda g: int(g.findtext(SVG + "title").split("part ")[1].split(",")[0]))]
    check(len(set(tops)) == 5 and tops == tops[::-1] and tops[:5:2] == sorted(tops[:5:2]) and tops[1] < tops[3],
          f"rows of training: {tops}")

    wide = workload(rng, 4000, False, 120, skip=1)  # a plan as bad as can be: thousands of parts
    (tmp / "wide.json").write_text(json.dumps(wide))
    split = {"cpus": [{"nodes": []}], "fpgas": [{"nodes": list(range(k, 4000, 120))} for k in range(120)]}
    (tmp / "split.json").write_text(json.dumps(split))
    args = [tmp / "wide.json", "-p", f"plan{{from={tmp / 'split.json'}}}", "-q", "--overlap", "duplex"]
    for more in ([], ["--replay", "40"]):
        svg, _ = pcc(*args, *more, "--emit", "gantt")
        wrong = chart_problems(svg, 40 if more else "", ["acc0", "acc119 out", "cpu0"])
        check(not wrong, f"wide {more}: {wrong[:3]}")
        check(len(svg) < 12e6, f"wide {more}: a picture of {len(svg)} bytes")
        check("too narrow" in svg, f"wide {more}: joined bars are not told")


def refusals(tmp):
    path = tmp / "w0.json"
    for args, code, text in [
            (["--replay", "0", "-p", "dp-place"], 2, "expected a number of samples"),
            (["--replay", "x", "-p", "dp-place"], 2, "expected a number of samples"),
            (["--replay", "9999999999", "-p", "dp-place"], 1, "too large"),
            (["--replay", "9999999", "-p", "dp-place", "--emit", "gantt"], 1, "too large"),
            (["--replay", "9999999", "-p", "dp-place", "-o", tmp / "y.trace.json"], 1, "too large"),
            (["--replay", "5"], 1, "give a planner"),
            (["--emit", "trace,", "-p", "dp-place"], 2, "expected ir, csv"),
            (["--emit", "gantt,svg", "-p", "dp-place"], 2, "--emit 'svg'")]:
        out, err = pcc(path, "-q", *args, code=code)
        check(text in err and out == "", f"{args}: {err!r}, {len(out)} bytes on stdout")
    check(not (tmp / "y.trace.json").exists(), "a refused trace left a file")
    slow = json.loads(path.read_text())
    for n in slow["nodes"]:
        n["cpuLatency"] = n["fpgaLatency"] = 2e7
    (tmp / "slow.json").write_text(json.dumps(slow))
    _, err = pcc(tmp / "slow.json", "-q", "-p", "dp-place", "--replay", "100000", code=1)
    check("longer than can be counted" in err, f"times out of range: {err!r}")


def moved(path, split_path, out):
    """A split with a third of its colours (nodes without: of its nodes) on accelerators at random."""
    rng = random.Random(path.stem)
    graph, split = json.loads(path.read_text()), json.loads(split_path.read_text())
    color = {n["id"]: n.get("colorClass", -1 - n["id"]) for n in graph["nodes"]}
    home = {color[n]: (kind, k) for kind in ("cpus", "fpgas") for k, d in enumerate(split[kind]) for n in d["nodes"]}
    for c in sorted(home):
        if rng.random() < 1 / 3:
            home[c] = ("fpgas", rng.randrange(len(split["fpgas"])))
    for kind in ("cpus", "fpgas"):
        for k, d in enumerate(split[kind]):
            d["nodes"] = [n for n in color if home[color[n]] == (kind, k)]
    out.write_text(json.dumps(split))


def published(tmp):
    """The placement paper's workloads, each second (PCC_ALL: all; sanitizers: each fourth); how many were there."""
    each = 4 if SANITIZED else 1 if os.environ.get("PCC_ALL") else 2
    files = sorted(extras.shared("workloads/throughput").glob("*.json"))[::each]
    for path in files:
        split = tmp / path.name
        runs = [["-p", "dp-place", "-o", split]]
        if "training" in path.name:
            runs.append(["-p", f"plan{{from={split}:effort=0}}", "--schedule", "gpipe", "-o", tmp / "gpipe.json"])
        runs.append(["-p", f"plan{{from={tmp / 'moved.json'}:best-effort:effort=0}}", "-o", tmp / "again.json"])
        if "training" in path.name:
            runs.append([*runs[-1][:2], "--schedule", "gpipe", "-o", tmp / "gpipe.json"])
        for run in runs:
            if "moved" in run[1] and "again" in run[-1].name:
                moved(path, split, tmp / "moved.json")
            _, err = pcc(path, *run, "-q", "--replay", 200, "--emit", "trace")
            n, end, levels = line_of(err)
            value = json.loads(run[-1].read_text(), parse_float=Decimal)["maxLoad"] * 10**9
            bounded(path.name, n, end, levels, value)
            trace = json.loads(_, parse_float=Decimal)
            wrong = trace_problems(trace, 200, end)
            check(not wrong, f"{path.name}: {wrong}")
            way = ("moved " if "moved" in run[1] else "") + ("gpipe" if "--schedule" in run else "")
            check("moved" not in way or levels > 6, f"{path.name}: moved at random and {levels} levels")
            print(f"{path.stem:28} {way:11} {levels:3} levels, value "
                  f"{value / 10**9:10.4f} ms, replay {end / n / 10**9:10.4f} ms per sample, "
                  f"{100 * (end / n / value - 1):.3f} % above", flush=True)
    return len(files)


def proves_itself(tmp):
    """The checks notice planted errors."""
    g = workload(random.Random(9), 8, True, 3)
    (tmp / "p.json").write_text(json.dumps(g))
    plan = ["-p", "contract{training},dp-place"]
    trace, end, _ = one("planted", tmp / "p.json", tmp / "ps.json", plan, 9, g)
    split = json.loads((tmp / "ps.json").read_text())

    def plant(what, change):
        bad = copy.deepcopy(trace)
        change(bad, lanes_and_events(bad)[1])
        wrong = trace_problems(bad, 9, end) or data_problems(bad, g, split)[0]
        check(wrong, f"a planted error is not noticed: {what}")

    check(not trace_problems(trace, 9, end), "a good trace has problems")
    plant("an event is gone", lambda t, e: t["traceEvents"].remove(e[11]))
    plant("a sample twice", lambda t, e: e[10]["args"].update(sample=e[-1]["args"]["sample"]))
    plant("longer by a picosecond", lambda t, e: e[-1].update(dur=e[-1]["dur"] + Decimal("1e-6")))
    plant("all begin at once", lambda t, e: [x.update(ts=0) for x in e])
    plant("on another lane", lambda t, e: e[0].update(tid=e[0]["tid"] % 4 + 1))
    plant("an arrow without end", lambda t, e: e[0].pop("flow_out"))
    svg, _ = pcc(tmp / "p.json", *plan, "-q", "--emit", "gantt")
    check(chart_problems(svg.replace("<title>sample 1,", "<title>", 1), "", [], svg.count("<title>sample")),
          "a planted error in the chart is not noticed")
    check(within(10, 100, 3, 10) and within(10, 130, 3, 10), "times within bounds are refused")
    check(not within(10, 99, 3, 10) and not within(10, 131, 3, 10), "times out of bounds")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        for test in (published,) if extras.extra() else (random_workloads, generated, charts, refusals, proves_itself):
            test(tmp)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
