#!/usr/bin/env python3
"""An iteration of training, pass by pass: its chart and its trace.

1. Two equal layers on two devices (by hand): each bar where it is to be, in three schedules.
2. Random profiles planned by dapple-place, in every schedule and both kinds of links: each device does its passes in
   the order of its schedule, which is made up here once more, with what it waits for done before; lanes do one thing at
   a time; the critical chain leads without a gap from 0 to the end; memory is what the passes leave behind.
3. The chart names the lanes and peaks; thousands of micro-batches give a small file; --replay draws and times fewer.
4. Planted errors in traces are noticed."""
# once: sanitized
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
from checks import check, finish

PCC = os.environ.get("PCC", "pcc")
SVG = "{http://www.w3.org/2000/svg}"
SCHEDULES = ("dapple", "gpipe", "zb-h1", "interleaved", "pipedream")


def pcc(*args, code=0):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=600, check=False)
    check(r.returncode == code, f"pcc {args}: exit {r.returncode}, expected {code}: {r.stderr[-300:]}")
    return r.stdout, r.stderr


def profile(layers):
    """Text of a chain of (forward ms, backward ms, activation bytes, parameter bytes)."""
    lines = [f"node{i} -- Linear({i}) -- forward_compute_time={f}, backward_compute_time={b}, activation_size={a}, "
             f"parameter_size={p}" for i, (f, b, a, p) in enumerate(layers)]
    return "\n".join(lines + [f"\tnode{i} -- node{i + 1}" for i in range(len(layers) - 1)]) + "\n"


def of_kind(trace, ph):
    return [e for e in trace["traceEvents"] if e["ph"] == ph]


def lane_names(trace):
    return {e["tid"]: re.sub(r" \([^()]*\)$", "", e["args"]["name"]) for e in of_kind(trace, "M")
            if e["name"] == "thread_name"}


def end_of(e):
    return e["ts"] + e["dur"]


# ---- what is to be seen


def order(schedule, stages, k, mine, ahead):
    """Names of what a device of stage k does with its micro-batches."""
    if schedule == "gpipe":
        return [f"F{m}" for m in mine] + [f"B{m}" for m in reversed(mine)]
    lag, out = (k if schedule == "zb-h1" else None), [f"F{m}" for m in mine[:ahead]]
    for i, m in enumerate(mine):
        out.append(f"B{m}")
        out += [f"W{mine[i - lag]}"] if lag is not None and i >= lag else []
        out += [f"F{mine[i + ahead]}"] if i + ahead < len(mine) else []
    return out + ([f"W{m}" for m in mine if f"W{m}" not in out] if lag is not None else [])


def places_of(training):
    return len({tuple(s["devices"]) for s in training["stages"]})


def label(letter, micro_batch, stage, training):
    """What a bar is called: with its stage where devices have several."""
    return f"{letter}{micro_batch}" + (f".{stage}" if places_of(training) < len(training["stages"]) else "")


def interleaved(training, place, count):
    """Names of what a device does that takes `places` micro-batches through each of its stages in turn."""
    places = places_of(training)
    each = len(training["stages"]) // places

    def name(letter, n):
        of = n % (places * each) // places
        stage = (of if letter == "F" else each - 1 - of) * places + place
        return label(letter, n // (places * each) * places + n % places, stage, training)

    first = min(2 * (places - place - 1) + (each - 1) * places, count * each) if count > places else count * each
    out = [name("F", n) for n in range(first)]
    for n in range(count * each):
        out += [name("F", n + first)] if n + first < count * each else []
        out.append(name("B", n))
    return out


def device_lanes(trace, training):
    """Lane -> (its first stage, micro-batches of it), by its name."""
    found, turns, count = {}, training["replication"] == "turns", training["micro_batches"]
    for tid, name in lane_names(trace).items():
        m = re.match(r"stages? (\d+)[\d, ]*: (.*)", name)
        if m:
            devices = training["stages"][int(m[1])]["devices"]
            place = devices.index(m[2]) if turns and len(devices) > 1 else 0
            found[tid] = int(m[1]), list(range(count))[place::len(devices) if turns else 1]
    return found


def problems(trace, training, end):
    yield from order_problems(trace, training)
    yield from chain_problems(trace, end)
    yield from memory_problems(trace, training)


def order_problems(trace, training):
    stages, lanes, at = len(training["stages"]), device_lanes(trace, training), {}
    bars = of_kind(trace, "X")
    for tid in lane_names(trace):
        mine = sorted((e for e in bars if e["tid"] == tid), key=lambda e: (e["ts"], end_of(e)))
        if any(end_of(a) > b["ts"] for a, b in zip(mine, mine[1:])):
            yield f"lane {tid} does two things at once"
        if tid in lanes:
            k, batches = lanes[tid]
            ahead = training["stages"][k]["ahead"]
            wanted = order(training["schedule"], stages, k, batches, ahead)
            if training["schedule"] == "interleaved":
                wanted = interleaved(training, k, len(batches))
            if [e["name"] for e in mine] != wanted:
                yield f"another order at stage {k}: {[e['name'] for e in mine]}"
    if {k for k, _ in lanes.values()} != set(range(places_of(training))):
        yield "stages without a lane"
    for e in bars:
        if e["cat"] != "allreduce":
            at[e["cat"], e["name"], e["args"]["stage"]] = e

    def after(e, *first):
        sources = [at[f] for f in first if f in at][:1]
        return all(end_of(s) <= e["ts"] for s in sources)

    for (cat, name, k), e in at.items():
        i = e["args"]["micro_batch"]

        def of(kind, letter, stage, i=i):
            return kind, label(letter, i, stage, training), stage

        came = {"forward": [of("transfer", "F", k - 1), of("forward", "F", k - 1)],
                "backward": [of("transfer", "B", k), of("backward", "B", k + 1)],
                "weight": [of("backward", "B", k)],
                "transfer": [of("forward", "F", k) if name[0] == "F" else of("backward", "B", k + 1)]}[cat]
        if not after(e, *came) or (cat == "backward" and not after(e, of("forward", "F", k))):
            yield f"{cat} {name} of stage {k} is too early"
    for e in bars:
        done = [end_of(x) for (cat, _, k), x in at.items() if k == e["args"]["stage"] and cat in ("backward", "weight")]
        if e["cat"] == "allreduce" and e["ts"] < max(done):
            yield "an AllReduce before the last backward pass"


def chain_problems(trace, end):
    at = 0
    for e in of_kind(trace, "X"):
        if "bind_id" in e:
            if e["ts"] != at:
                yield f"a gap in the critical chain before {e['name']}"
            at = end_of(e)
    last = max(end_of(e) for e in of_kind(trace, "X"))
    if at != last or (end is not None and at * 10**6 != end):
        yield f"the critical chain ends at {at}, all at {last}, the plan says {end} ps"


def memory_problems(trace, training):
    """Every micro-batch holds as much from its forward pass to its last backward one."""
    curves, lanes = {}, device_lanes(trace, training)
    for e in of_kind(trace, "C"):
        curves.setdefault(e["name"], []).append((e["ts"], e["args"]["bytes"]))
    if list(curves) != [f"{n} memory" for t, n in lane_names(trace).items() if t in lanes]:
        yield f"counters {list(curves)}"
        return
    last = "W" if training["schedule"] == "zb-h1" else "B"
    for tid, (k, _) in lanes.items():
        mine = {e["name"]: e for e in of_kind(trace, "X") if e["tid"] == tid}
        spans = [(e["ts"], end_of(mine[last + n[1:]]), e["args"]["stage"]) for n, e in mine.items() if n[0] == "F"]
        points = curves[f"{lane_names(trace)[tid]} memory"]
        base, stages = points[-1][1], list(dict.fromkeys(s for _, _, s in sorted(spans)))
        held = [[sum(a <= t < b for a, b, s in spans if s == of) for of in stages] for t, _ in points]
        each = []  # bytes of a micro-batch at each stage: what it adds when it is there first
        for of in range(len(stages)):
            at = next(i for i, h in enumerate(held) if h[of])
            each.append((points[at][1] - base - sum(h * b for h, b in zip(held[at], each))) // held[at][of])
        for (t, p), h in zip(points, held):
            if p - base != sum(n * b for n, b in zip(h, each)) and not training["stages"][k]["recompute"]:
                yield f"stage {k} holds {p - base} bytes beside {base} at {t}, {h} micro-batches of {each}"
        if points[0][0] != 0 or points != sorted(points, key=lambda p: p[0]):
            yield "odd points"


# ---- runs


def read(args):
    """The trace of a plan, its "training", and the time of its iteration, ps; None: that of a steady state."""
    plan = json.loads(pcc(*args, "-q", "--emit", "json")[0], parse_float=Decimal)
    trace = json.loads(pcc(*args, "-q", "--emit", "trace")[0], parse_float=Decimal)
    value = plan["objective"]["value_s"] * 10**12
    return trace, plan["training"], None if plan["training"]["schedule"] == "pipedream" else value


def by_hand(tmp):
    """Each stage 1 ms forward and 2 ms backward, four micro-batches."""
    path, given = tmp / "two.txt", tmp / "two.json"
    path.write_text(profile([(1, 2, 1000, 0)] * 2))
    args = [path, "-d", "2xv100", "--link", "1000TB/s,0us", "--objective=iteration-time", "--micro-batches=4"]
    plan = json.loads(pcc(*args, "-q", "-p", "dapple-place", "--emit=json")[0])
    nodes = sorted(n for d in plan["devices"] for n in d["nodes"])
    plan["training"]["stages"] = [{"devices": [f"acc{k}"], "ahead": 2 - k, "recompute": False} for k in range(2)]
    for k, d in enumerate(plan["devices"]):
        d["nodes"] = [n for n in nodes if f"node{k}" in n]
    given.write_text(json.dumps(plan))
    wanted = {
        "dapple": ("F0 0,F1 1,B0 4,F2 6,B1 7,F3 9,B2 10,B3 13", "F0 1,B0 2,F1 4,B1 5,F2 7,B2 8,F3 10,B3 11"),
        "gpipe": ("F0 0,F1 1,F2 2,F3 3,B3 7,B2 9,B1 11,B0 13", "F0 1,F1 2,F2 3,F3 4,B3 5,B2 7,B1 9,B0 11"),
        "zb-h1": ("F0 0,F1 1,B0 3,W0 4,F2 5,B1 6,W1 7,F3 8,B2 9,W2 10,B3 11,W3 12",
                  "F0 1,B0 2,F1 3,B1 4,W0 5,F2 6,B2 7,W1 8,F3 9,B3 10,W2 11,W3 12")}
    for schedule, lists in wanted.items():
        trace = read([*args, f"--schedule={schedule}", "-p", f"plan{{from={given}}}"])[0]
        for k in range(2):
            seen = ",".join(f"{e['name']} {round(e['ts'] / 1000)}" for e in of_kind(trace, "X")
                            if e["cat"] in ("forward", "backward", "weight") and e["args"]["stage"] == k)
            check(seen == lists[k], f"{schedule}: stage {k}: {seen}")


def drawn(tmp, rng):
    """Random profiles; the last good trace of each schedule."""
    kept = {}
    for i in range(4):
        path = tmp / f"p{i}.txt"
        path.write_text(profile([(rng.randint(1, 9), rng.randint(2, 18), rng.randint(1, 9) * 10**rng.randint(5, 7),
                                  rng.randint(1, 40) * 10**6) for _ in range(rng.randint(4, 9))]))
        for schedule in SCHEDULES:
            duplex, lane = rng.choice(("full", "half")), rng.choice(("shared", "own"))
            count = rng.choice((4, 8)) if schedule == "interleaved" else rng.randint(1, 12)
            args = [path, "-d", "8xv100", "--group", "4:25GB/s,0us", "--link", "1GB/s,0us", f"--duplex={duplex}",
                    f"--allreduce-lane={lane}", "--objective=iteration-time", "--slices=any", f"--schedule={schedule}",
                    f"--micro-batches={count}", "-p", "dapple-place"]
            args += ["--stages-per-device=2"] if schedule == "interleaved" else []
            trace, training, end = read(args)
            wrong = list(problems(trace, training, end))
            check(not wrong, f"{args}: {wrong[:3]}")
            if len(training["stages"]) > 1 and training["micro_batches"] > 3:
                kept[schedule] = trace, training, end
            svg = pcc(*args, "-q", "--curves", "--emit", "gantt")[0]
            texts = [t.text for t in xml.fromstring(svg).iter(SVG + "text")]
            names = {*lane_names(trace).values(), *(e["name"] for e in of_kind(trace, "C"))}
            check(names <= set(texts), f"{args}: not in the chart: {names - set(texts)}")
            peaks = {}
            for e in of_kind(trace, "C"):
                peaks[e["name"]] = max(peaks.get(e["name"], 0), e["args"]["bytes"])
            ys = [[float(y) for y in re.findall(r"V([\d.]+)", path)]
                  for path in re.findall(r'd="(M[^"]*)" class="m"', svg)]
            highs, most = [max(y) - min(y) for y in ys], max(peaks.values())
            same = all(abs(high / max(highs) - peak / most) < 0.01 for high, peak in zip(highs, peaks.values()))
            check(len(highs) == len(peaks) and same, f"{args}: heights {highs} for memory {peaks}")
            check('class="c"' in svg and "critical chain" in texts, f"{args}: no critical chain")
    return kept


def many(tmp):
    path = tmp / "p0.txt"
    args = [path, "-q", "-d", "4xv100", "--link", "1GB/s,0us", "--objective=iteration-time", "--slices=any", "-p",
            "dapple-place"]
    few, much = [*args, "--micro-batches=7"], [*args, "--micro-batches=5000"]
    svg = pcc(*much, "--emit", "gantt", "--curves")[0]
    check("5000 micro-batches" in svg and "too narrow" in svg and len(svg) < 1e6, f"5000: {len(svg)} bytes")
    out, _ = pcc(*few, "--replay=7")
    check(re.match(r"replay of 7 micro-batches: an iteration takes .*\n  \(the plan's 7: ", out), out)
    trace = json.loads(pcc(*few, "--replay=3", "--emit", "trace")[0])
    check({e["args"]["micro_batch"] for e in of_kind(trace, "X") if e["cat"] == "forward"} == {0, 1, 2}, "--replay=3")
    svg = pcc(*few, "--replay=3", "--emit", "gantt")[0]
    check("3 micro-batches through" in svg and "(the plan's iteration has 7)" in svg, "the title of --replay=3")
    _, err = pcc(*few, "--replay=900000000", "--emit", "trace", code=1)
    check("too large to be shown: expected a --replay of at most" in err, err)


def proves_itself(kept):
    """The checks notice planted errors."""
    def plant(what, change):
        noticed = 0
        for trace, training, end in kept.values():
            bad, also = copy.deepcopy(trace), copy.deepcopy(training)
            change(bad, of_kind(bad, "X"), also)
            noticed += any(problems(bad, also, end))
        check(noticed == len(kept), f"a planted error is not noticed: {what} ({noticed} of {len(kept)})")

    check(len(kept) >= 4 and "interleaved" in kept, f"plans of several stages in {list(kept)} only")
    plant("a longer warm-up", lambda t, e, x: x["stages"][0].update(ahead=x["stages"][0]["ahead"] + 1)
          if x["schedule"] not in ("gpipe", "interleaved") else e[0].update(name="F1"))
    plant("all at once", lambda t, e, x: [b.update(ts=0) for b in e])
    plant("later by a picosecond", lambda t, e, x: e[0].update(ts=Decimal("1e-6")))
    plant("a bar is gone", lambda t, e, x: t["traceEvents"].remove(e[0]))
    plant("no arrow", lambda t, e, x: [b.pop("bind_id", 0) for b in e[:3]])
    plant("a byte less", lambda t, e, x: of_kind(t, "C")[-1]["args"].update(bytes=1))


def main():
    rng = random.Random(15)
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        by_hand(tmp)
        kept = drawn(tmp, rng)
        many(tmp)
        proves_itself(kept)
    return finish()


sys.exit(main())
