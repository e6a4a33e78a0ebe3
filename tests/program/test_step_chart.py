#!/usr/bin/env python3
"""One sample alone, node by node: its chart and its trace.

usage: test_step_chart.py   (environment: PCC, PCC_GEN)

1. Random workloads planned by dp-place and judged by makespan, in every network and contention.  The trace is read
   as JSON with exact numbers: each node runs once, on the device that the plan gives it, what it reads is there before,
   a lane does one thing at a time, all ends with the makespan, the critical chain leads without a gap from 0 to the
   end and is the one that the terminal shows, and no counter is below 0.
2. The chart of the same: well-formed, in the picture, all lanes and peaks named as in the trace, no text over another.
3. 36,332 nodes give a small file; 12 devices with their ports have labels that can be read; names cannot break the
   picture; --curves where it has no effect.
4. Planted errors in traces and charts are noticed.

Exit: 0 pass, 1 fail."""
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
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
GEN = os.environ.get("PCC_GEN", str(Path(PCC).parent / "pcc-gen"))
RED = "#b3261e"  # the critical chain's
SVG = "{http://www.w3.org/2000/svg}"
WAYS = [("host", c) for c in ("port", "none", "link", "half", "rx")] + \
       [("direct", c) for c in ("port", "none", "link", "half", "rx", "blocking")]
FAILED = []


def check(ok, what):
    if not ok:
        print(f"FAILED: {what}", flush=True)
        FAILED.append(what)
    return ok


def pcc(*args, code=0):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, timeout=600)
    err = r.stderr.decode("utf-8", "replace")
    check(r.returncode == code, f"pcc {args}: exit {r.returncode}, expected {code}: {err[-300:]}")
    return r.stdout.decode("utf-8", "replace"), err


# ---- traces

def of_kind(trace, ph):
    return [e for e in trace["traceEvents"] if e["ph"] == ph]


def lanes(trace):
    return {e["tid"]: e["args"]["name"].split(" (")[0] for e in of_kind(trace, "M") if e["name"] == "thread_name"}


def chain(trace):
    """The events with arrows, of a transfer on two lanes one; in the order of the file, which is that of time."""
    found = []
    for e in of_kind(trace, "X"):
        if "bind_id" in e and not (found and found[-1]["name"] == e["name"] and found[-1]["ts"] == e["ts"]):
            found.append(e)
    return found


def busy_problems(trace, contention):
    names, spans = lanes(trace), {}
    for e in of_kind(trace, "X"):
        spans.setdefault(names[e["tid"]], []).append((e["ts"], e["ts"] + e["dur"]))
    for lane, s in spans.items():
        s.sort()
        shared = contention == "none" or (contention == "rx" and lane.endswith(" out"))
        if any(a[1] > b[0] for a, b in zip(s, s[1:])) and not (shared and " " in lane):
            yield f"{lane} does two things at once"


def order_problems(trace, graph, home):
    """Nodes on their devices, each after what it reads, with the transfer in between."""
    names, at = lanes(trace), {}
    moved = [e for e in of_kind(trace, "X") if e["cat"] == "transfer"]
    for e in of_kind(trace, "X"):
        if e["cat"] != "transfer":
            if e["name"] in at:
                yield f"{e['name']} runs twice"
            at[e["name"]] = e
            if names[e["tid"]] != home[e["name"]]:
                yield f"{e['name']} is on {names[e['tid']]}"
    name = {n["id"]: n["name"] for n in graph["nodes"]}
    if set(at) != set(name.values()):
        yield "not all nodes run"
        return
    for edge in graph["edges"]:
        a, b = at[name[edge["sourceId"]]], at[name[edge["destId"]]]
        end, there, here = a["ts"] + a["dur"], home[a["name"]], home[b["name"]]
        if there != here and not (there + here).startswith("cpu0cpu"):
            came = [e["ts"] + e["dur"] for e in moved if e["args"]["to"] == (here if "acc" in here else "host") and
                    e["ts"] >= end and e["ts"] + e["dur"] <= b["ts"]]
            if not came:
                yield f"nothing comes from {a['name']} to {b['name']} in time"
        elif end > b["ts"]:
            yield f"{b['name']} starts before {a['name']} ends"


def chain_problems(trace, end, shown):
    at, names = 0, [e["name"] for e in chain(trace)]
    for e in chain(trace):
        if e["ts"] != at:
            yield f"a gap in the critical chain before {e['name']}"
        at = e["ts"] + e["dur"]
    if at * 10**6 != end:
        yield f"the critical chain ends at {at}, all at {end}"
    if shown is not None and [n for n in names if n in shown] != shown:
        yield f"the terminal shows another critical chain: {shown}, {names}"
    last = max(e["ts"] + e["dur"] for e in of_kind(trace, "X"))
    if last * 10**6 != end:
        yield "does not end with the makespan"


def counter_problems(trace, devices):
    curves = {}
    for e in of_kind(trace, "C"):
        curves.setdefault(e["name"], []).append((e["ts"], e["args"]["bytes"]))
    if list(curves) != [f"{d} memory" for d in devices]:
        yield f"counters {list(curves)}"
    for name, points in curves.items():
        if points[0][0] != 0 or points != sorted(points, key=lambda p: p[0]) or min(p[1] for p in points) < 0:
            yield f"odd counter {name}"


def peaks(trace):
    most = {}
    for e in of_kind(trace, "C"):
        most[e["name"]] = max(most.get(e["name"], 0), e["args"]["bytes"])
    return most


def trace_problems(trace, run):
    return [*busy_problems(trace, run["contention"]), *order_problems(trace, run["graph"], run["home"]),
            *chain_problems(trace, run["end"], run["shown"]), *counter_problems(trace, run["devices"])]


# ---- charts

def short(n):
    """Bytes as the program says them, in four digits."""
    k = 0
    while n >= 1024 and k < 4:
        n, k = Decimal(n) / 1024, k + 1
    return f"{n:.{4 - len(str(int(n)))}f} {'KMGT'[k - 1]}iB" if k else f"{n} B"


def transfer_text(event):
    args = event["args"]
    size = f", {short(args['bytes'])}" if args["bytes"] else ""
    return f"{args['value']}{size}, {args['from']} to {args['to']}"


def boxes(root):
    """(left, right, baseline, text) of all labels, of about the size that a viewer gives them."""
    for t in root.iter(SVG + "text"):
        kind, x, y = t.get("class"), float(t.get("x")), float(t.get("y"))
        width = len(t.text or "") * {"t": 9.5, "m": 4.6}.get(kind, 6.2)
        left = x - width / 2 if kind in ("a", "l", "m", "v") else x
        yield left, left + width, y, t.text or ""


def turn_problems(root):
    """Where the chain goes from row to row, a line from the line under one bar to that under another, both
    included."""
    under = [(float(r.get("y")), float(r.get("y")) + float(r.get("height"))) for r in root.iter(SVG + "rect")
             if r.get("class") == "c"]
    turns = [re.fullmatch(r"M[\d.]+ ([\d.]+) V([\d.]+)", path.get("d")) for g in root.iter(SVG + "g")
             if g.get("stroke") == RED for path in g.iter(SVG + "path")]
    for t in turns:
        if not t or not any(abs(float(t[1]) - y) < 0.11 for y, _ in under) or \
                not any(abs(float(t[2]) - y) < 0.11 for _, y in under):
            yield f"a turn of the chain that joins nothing: {t and t[0]}"


def seconds(text):
    number, unit = text.split()
    return float(number) * {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def bar_problems(root):
    """Each bar lies in the stripe of a lane; rows lie below each other, the bars of one side by side.  Several in one
    are as opaque as they are busy.  What a bar says of its time is so."""
    stripes, rows = [], {}
    for g in root.iter(SVG + "g"):
        r = g.find(SVG + "rect")
        if g.find(SVG + "title") is None or r is None:
            continue
        x, y, width, high = (float(r.get(k)) for k in ("x", "y", "width", "height"))
        if x == 0:
            stripes.append((y, y + high))
            continue
        rows.setdefault((y, y + high), []).append((x, x + width))
        said = re.search(r", ([\d.]+ \w+): ([\d.]+ \w+) to ([\d.]+ \w+)$", g.find(SVG + "title").text)
        took, begin, end = map(seconds, said.groups()) if said else (1, 0, 0)
        if abs(begin + took - end) > 1e-3 * end:
            yield f"times of a bar: {g.find(SVG + 'title').text}"
        if not 0 < float(r.get("fill-opacity", "1")) <= 1:
            yield f"a bar as opaque as {r.get('fill-opacity')}"
    for top, bottom in rows:
        if not any(a <= top and bottom <= b for a, b in stripes):
            yield f"a row from {top} to {bottom} outside all lanes"
    for above, below in zip(sorted(rows), sorted(rows)[1:]):
        if above[1] > below[0]:
            yield f"rows lie over each other: {above} {below}"
    for row, bars in rows.items():
        bars.sort()
        for a, b in zip(bars, bars[1:]):
            if a[1] - b[0] > 0.5:
                yield f"bars lie over each other at {row}: {a} {b}"


def chart_problems(svg, trace, curves):
    root = xml.fromstring(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    texts = [t.text for t in root.iter(SVG + "text")]
    wanted = [*lanes(trace).values(), *(peaks(trace) if curves else [])]
    wrong = [f"no text {n!r}" for n in wanted if n not in texts]
    notes = [t.split(" of ")[0] for t in texts if t.startswith("peak ")]
    if notes != [f"peak {short(p)}" for p in peaks(trace).values() if curves]:
        wrong.append(f"other peaks: {notes}")
    for r in root.iter(SVG + "rect"):
        if r.get("width") != "100%" and (float(r.get("x")) < 0 or float(r.get("y")) < 0 or
                                         float(r.get("x")) + float(r.get("width")) > width + 0.5 or
                                         float(r.get("y")) + float(r.get("height")) > height + 0.5):
            wrong.append("a bar leaves the picture")
    all_boxes = sorted(boxes(root), key=lambda b: b[2])
    for i, a in enumerate(all_boxes):
        if a[0] < 0 or a[1] > width:
            wrong.append(f"{a[3]!r} leaves the picture")
        for b in all_boxes[i + 1:]:
            if b[2] - a[2] >= 12:
                break
            if a[0] < b[1] and b[0] < a[1]:
                wrong.append(f"{a[3]!r} lies over {b[3]!r}")
    moved = {transfer_text(e) for e in of_kind(trace, "X") if e["cat"] == "transfer"}
    for title in root.iter(SVG + "title"):
        if " to acc" in (title.text or "") and not any(title.text.startswith(m) for m in moved):
            wrong.append(f"no such transfer: {title.text}")
    if not any(r.get("class") == "c" for r in root.iter(SVG + "rect")):
        wrong.append("no critical chain")
    return [*wrong, *turn_problems(root), *bar_problems(root)]


# ---- runs

def workload(rng, nodes, devices):
    n, edges = [], []
    for i in range(nodes):
        n.append({"id": i, "name": f"node {i}", "supportedOnFpga": 1, "isBackwardNode": 0, "size": rng.randint(1, 4000),
                  "cpuLatency": rng.randint(30, 200), "fpgaLatency": rng.randint(1, 99) / 7})
        cost = rng.randint(1, 30) / 4
        edges += [{"sourceId": j, "destId": i, "cost": 0} for j in range(max(0, i - 4), i)
                  if j == i - 1 and rng.random() < 0.7 or rng.random() < 0.2]
        n[-1]["out"] = cost
    for e in edges:
        e["cost"] = n[e["sourceId"]]["out"]
    return {"maxSizePerFPGA": 4000 * nodes, "maxFPGAs": devices, "maxCPUs": 1, "nodes": n, "edges": edges}


def shown_chain(out):
    """Names that begin and end the stretches of the chain on the terminal; None: some are left out."""
    lines = re.search(r"^critical chain, .*\n((?:  .*\n)+)", out, re.M)[1].splitlines()
    if any("more" in line for line in lines):
        return None
    names = []
    for line in lines:
        text = line.split(": ", 1)[1]
        m = re.match(r"\d+ nodes, (.*) to (.*)$", text)
        names += [m[1], m[2]] if m else [text.rsplit(", ", 1)[0] if re.search(r", [\d.]+ \w*B$", text) else text]
    return names


def one(tmp, i, rng):
    """A workload and its plan, in all ways; the last trace with what it is to be, and its chart."""
    graph = workload(rng, rng.randint(4, 16), rng.randint(2, 4))
    path, split = tmp / f"w{i}.json", tmp / f"s{i}.json"
    path.write_text(json.dumps(graph))
    plan = {"cpus": [{"nodes": []}], "fpgas": [{"nodes": []} for _ in range(graph["maxFPGAs"])]}
    for n in graph["nodes"]:
        (rng.choice(plan["fpgas"]) if rng.random() < 0.95 else plan["cpus"][0])["nodes"].append(n["id"])
    split.write_text(json.dumps(plan))
    name = {n["id"]: n["name"] for n in graph["nodes"]}
    home = {name[n]: f"acc{k}" for k, d in enumerate(plan["fpgas"]) for n in d["nodes"]}
    home.update({name[n]: "cpu0" for n in plan["cpus"][0]["nodes"]})
    devices = [f"acc{k}" for k in range(graph["maxFPGAs"])] + ["cpu0"]
    args = [path, "-p", f"plan{{from={split}:best-effort:effort=0}}", "--judge", "makespan"]
    for network, contention in WAYS:
        way = [*args, "--network", network, "--contention", contention]
        picture = tmp / "x.gantt.svg"
        out, _ = pcc(*way, "-o", tmp / "x.trace.json")
        value = re.search(r"^makespan ([\d.]+) (\w+)", out, re.M)
        pcc(*way, "-q", "--curves", "-o", picture)
        trace = json.loads((tmp / "x.trace.json").read_text(encoding="utf-8"), parse_float=Decimal)
        end = max(e["ts"] + e["dur"] for e in of_kind(trace, "X")) * 10**6
        unit = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}[value[2]]
        check(abs(end - Decimal(value[1]) * unit) <= end / 1000, f"{way}: ends at {end} ps, {value[0]}")
        run = {"contention": contention, "graph": graph, "home": home, "end": end, "shown": shown_chain(out),
               "devices": devices}
        problems = trace_problems(trace, run)
        check(not problems, f"{way}: {problems[:3]}")
        svg = picture.read_text(encoding="utf-8")
        problems = chart_problems(svg, trace, True)
        check(not problems, f"{way}: chart: {problems[:3]}")
    return trace, run, svg


def large(tmp):
    model = tmp / "gpt.onnx"
    subprocess.run([GEN, "gpt", "--layers", "1135", "--no-weights", "-o", model], check=True)
    args = [model, "-q", "-d", "8xa100", "-p", "greedy-place"]
    plan = json.loads(pcc(*args, "--emit", "json")[0])
    nodes = [n for d in plan["devices"] for n in d["nodes"]]
    for block in (37,) if SANITIZED else (37, 4541):  # turns among the devices
        for i, d in enumerate(plan["devices"]):
            d["nodes"] = [n for k, n in enumerate(nodes) if k // block % 8 == i]
        (tmp / "plan.json").write_text(json.dumps(plan))
        args[-1] = f"plan{{from={tmp / 'plan.json'}:best-effort:effort=0}}"
        svg, _ = pcc(*args, "--judge", "makespan", "--emit", "gantt", "--curves")
        root = xml.fromstring(svg)
        bars = sum(1 for _ in root.iter(SVG + "rect"))
        check(len(svg) < 2e6 and bars < 20000, f"36,332 nodes in turns of {block}: {len(svg)} bytes, {bars} bars")
        check(float(root.get("width")) <= 1440 and float(root.get("height")) <= 900, "36,332 nodes: a large picture")
        check("too narrow" in svg and "acc7 memory" in svg, "36,332 nodes: words")


def many_lanes(tmp):
    """Transfers with bytes, and a device for each block of nodes."""
    model = tmp / "gpt2.onnx"
    subprocess.run([GEN, "gpt", "--layers", "24", "--no-weights", "-o", model], check=True)
    (tmp / "plan.txt").write_text("".join(f".*h\\.{k}/.*=acc{k % 12}\n" for k in range(24)) + ".*=acc3\n")
    args = [model, "-q", "-d", "12xa100:1GiB", "-p", f"plan{{from={tmp / 'plan.txt'}:effort=0}}", "--judge", "makespan"]
    for contention in ("port", "link", "half", "none"):
        way = [*args, "--contention", contention]
        svg = pcc(*way, "--curves", "--emit", "gantt", "-o", tmp / "many.trace.json")[0]
        trace = json.loads((tmp / "many.trace.json").read_text(encoding="utf-8"))
        wrong = chart_problems(svg, trace, True)
        check(not wrong, f"12 devices, {contention}: {wrong[:3]}")
        check(re.search(r"<title>[^<]*, [\d.]+ KiB, acc\d+ to host[^<]*</title>", svg), "transfers with bytes")


def names_and_options(tmp):
    graph = workload(random.Random(4), 6, 2)
    for n in graph["nodes"]:
        n["name"] = f"a<b>&\"']]>\x01{n['id']}" + "/x" * 40
    path = tmp / os.fsdecode(b"<&\xff.json")
    path.write_text(json.dumps(graph))
    args = [path, "-q", "-p", "dp-place", "--judge", "makespan"]
    svg, _ = pcc(*args, "--emit", "gantt", "--curves")
    trace = json.loads(pcc(*args, "--emit", "trace")[0])
    check(not chart_problems(svg, trace, True), f"names: {chart_problems(svg, trace, True)[:2]}")
    plain, _ = pcc(*args, "--emit", "gantt")
    check(" memory" not in plain and not chart_problems(plain, trace, False), "without --curves")
    check(any("a<b>&\"']]>" in e["name"] for e in of_kind(trace, "X")), "names in the trace")
    for suffix, what in ((".gantt.svg", "gantt"), (".trace.json", "trace")):
        out = tmp / f"x{suffix}"
        pcc(*args, "-o", out)
        check(out.read_text(encoding="utf-8") == pcc(*args, "--emit", what)[0], f"-o x{suffix} differs from --emit")
    rounds = [path, "-q", "-p", "dp-place", "--emit", "gantt"]
    plain, curved = pcc(*rounds), pcc(*rounds, "--curves")
    check(plain[0] == curved[0] and "--curves has no effect: memory over time is that of one sample" in curved[1],
          f"--curves of rounds: {curved[1]!r}")
    _, err = pcc(path, "-q", "-p", "dp-place", "--judge", "makespan", "--curves", "--emit", "trace")
    check("--curves has no effect" in err, f"--curves of a trace: {err!r}")
    _, err = pcc(*args, "--curves=1", "--emit", "gantt", code=2)
    check("--curves takes no value" in err, f"--curves=1: {err!r}")


def proves_itself(trace, run, svg):
    """The checks notice planted errors."""
    def plant(what, change):
        bad = copy.deepcopy(trace)
        change(bad, of_kind(bad, "X"))
        check(trace_problems(bad, run), f"a planted error is not noticed: {what}")

    def first(events, **like):
        return next(e for e in events if all(e.get(k) == v for k, v in like.items()))

    def drop_transfers(t, _):
        t["traceEvents"] = [e for e in t["traceEvents"] if e.get("cat") != "transfer"]

    check(not trace_problems(trace, run), "a good trace has problems")
    plant("a node is gone", lambda t, e: t["traceEvents"].remove(first(e, cat="computing")))
    plant("a node twice", lambda t, e: t["traceEvents"].append(first(e, cat="computing")))
    plant("on another lane", lambda t, e: e[0].update(tid=e[0]["tid"] % 4 + 1))
    plant("all begin at once", lambda t, e: [x.update(ts=0) for x in e])
    plant("longer by a picosecond", lambda t, e: e[-1].update(dur=e[-1]["dur"] + Decimal("1e-6")))
    plant("no arrow", lambda t, e: [x.pop("bind_id", 0) for x in e[:4]])
    plant("no transfers", drop_transfers)
    plant("a counter below 0", lambda t, e: of_kind(t, "C")[-1]["args"].update(bytes=-1))
    plant("no counters", lambda t, e: [t["traceEvents"].remove(c) for c in of_kind(t, "C")])
    for what, old, new in (("a lane without a name", ">acc0<", ">acc9<"), ("another peak", ">peak ", ">peak 9"),
                           ("a label moved", 'x="14.0" y="48.0"', 'x="14.0" y="28.0"'),
                           ("no chain", 'class="c"', 'class="p"')):
        check(old in svg and chart_problems(svg.replace(old, new), trace, True), f"chart: not noticed: {what}")
    check(short(0) == "0 B" and short(1023) == "1023 B" and short(1536) == "1.500 KiB", "short")


def main():
    rng = random.Random(8)
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        for i in range(3 if SANITIZED else 8):
            trace, run, svg = one(tmp, i, rng)
        proves_itself(trace, run, svg)
        large(tmp)
        many_lanes(tmp)
        names_and_options(tmp)
    if FAILED:
        print(f"{len(FAILED)} failures")
        return 1
    print("ok")
    return 0


sys.exit(main())
