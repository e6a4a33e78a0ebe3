#!/usr/bin/env python3
"""Clusters of several levels of links: --levels, "levels" of a cluster file, clusters by name.

1. The same cluster said in four ways gives the same plans.
2. What transfers and AllReduces take on three levels, with latencies, is worked out here once more, and read from
   traces of plans that are drawn.
3. Planners that know no levels refuse; so does what makes no sense.
4. The formula notices planted changes of its own figures."""
# once: sanitized
import json
import os
import random
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish

PCC = os.environ.get("PCC", "pcc")
SECOND = 10**12


def pcc(*args, code=0):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=600, check=False)
    check(r.returncode == code, f"pcc {args}: exit {r.returncode}, expected {code}: {r.stderr[-300:]}")
    return r.stdout, r.stderr


def profile(path, layers):
    lines = [f"node{i} -- Linear({i}) -- forward_compute_time={f}, backward_compute_time={b}, activation_size={a}, "
             f"parameter_size={p}" for i, (f, b, a, p) in enumerate(layers)]
    path.write_text("\n".join(lines + [f"\tnode{i} -- node{i + 1}" for i in range(len(layers) - 1)]) + "\n")
    return path


def drawn(rng, path, n):
    return profile(path, [(rng.randint(1, 9), rng.randint(2, 18), rng.randint(1, 90) * 10**5,
                           rng.randint(1, 40) * 10**6) for _ in range(n)])


GOAL = ["-q", "--objective=iteration-time", "--slices=any"]


def plan_of(*args):
    plan = json.loads(pcc(*args, *GOAL, "--emit=json")[0])
    return plan["objective"]["value_s"], plan["training"]["stages"], [d["nodes"] for d in plan["devices"]]


def four_ways(tmp, rng):
    model, file = drawn(rng, tmp / "m.txt", 9), tmp / "a.json"
    file.write_text(json.dumps({
        "classes": [{"preset": "v100", "count": 16, "memory": "16GB"}],
        "levels": [{"size": 8, "link": {"bandwidth": "25GB/s"}},
                   {"size": 2, "link": {"bandwidth": "1GB/s"}, "allreduce": "3GB/s"}]}))
    ways = [["-d", "dapple-a"], ["-d", file],
            ["-d", "16xv100:16GB", "--levels", "8:25GB/s,0us/2:1GB/s,0us,3GB/s"],
            ["-d", "16xv100:16GB", "--group", "8:25GB/s,0us", "--link", "1GB/s,0us", "--allreduce", "3GB/s"]]
    flat = [["-d", "dapple-c"], ["-d", "16xv100:16GB", "--levels", "16:1GB/s,0us"],
            ["-d", "16xv100:16GB", "--link", "1GB/s,0us"]]
    for same in (ways, flat):
        for planner in ("dapple-place", "pipedream-hier-place"):
            found = [plan_of(model, *way, "--micro-batches=6", "-p", planner) for way in same]
            check(all(f == found[0] for f in found), f"{planner}: {[f[0] for f in found]}")
    one = plan_of(model, "-d", "dapple-b", "--micro-batches=6", "-p", "dapple-place")
    check(one != plan_of(model, "-d", "dapple-c", "--micro-batches=6", "-p", "dapple-place"), "dapple-b is dapple-c")
    for more in ("8:25GB/s,0us/2:1GB/s,0us,3GB/s/1:7GB/s,0us", "8:25GB/s,0us/1:5GB/s,0us/2:1GB/s,0us,3GB/s"):
        for planner in ("dapple-place", "pipedream-hier-place"):
            three = plan_of(model, "-d", "16xv100:16GB", "--levels", more, "--micro-batches=6", "-p", planner)
            check(three == plan_of(model, *ways[0], "--micro-batches=6", "-p", planner), f"{planner}: {more}")


# ---- three levels, worked out

SIZES = (2, 3, 2)
LEVELS = [(12 * 10**9, 3 * 10**6, None), (3 * 10**9, 7 * 10**6, 5 * 10**9), (10**9, 20 * 10**6, None)]
TEXT = "2:12GB/s,3us/3:3GB/s,7us,5GB/s/2:1GB/s,20us"


def level_of(devices):
    """The level whose links join them: 0 within a server."""
    per = 1
    for level, size in enumerate(SIZES):
        per *= size
        if len({d // per for d in devices}) == 1:
            return level
    raise AssertionError


def up(x):
    return -(-x.numerator // x.denominator)


def move(a, b, size, levels=LEVELS):
    rate, latency, reduce = levels[level_of(a + b)]
    if level_of(b) > 0:  # several servers take it
        return up(Fraction(size * SECOND, reduce or rate)) + latency
    away = sum(d // SIZES[0] != b[0] // SIZES[0] for d in a)
    if away:
        return up(Fraction(size * SECOND * away, rate * len(a))) + latency
    return up(Fraction(size * SECOND, levels[0][0])) + levels[0][1]


def reduce_all(devices, size, levels=LEVELS):
    n, (rate, latency, reduce) = len(devices), levels[level_of(devices)]
    if n < 2:
        return 0
    over = n * (n // 2) if level_of(devices) == 0 and not reduce else n
    return up(Fraction(2 * (n - 1) * size * SECOND, over * (reduce or rate))) + 2 * (n - 1) * latency


def times(args):
    """Picoseconds by (category, stage) of the transfers and AllReduces of a plan."""
    trace, found = json.loads(pcc(*args, *GOAL, "--emit", "trace")[0], parse_float=Fraction), {}
    for e in trace["traceEvents"]:
        if e["ph"] == "X" and e["cat"] in ("transfer", "allreduce"):
            key = e["name"][0] if e["cat"] == "transfer" else "AR", e["args"]["stage"]
            found.setdefault(key, set()).add(Fraction(e["dur"]) * 10**6)
    return found


def three(tmp, rng):
    sizes = [(rng.randint(1, 900) * 1003, rng.randint(1, 40) * 10**6 + 7) for _ in range(6)]
    model = profile(tmp / "three.txt", [(3, 5, *s) for s in sizes])
    args = [model, "-d", "12xv100", "--levels", TEXT, "--micro-batches=2"]
    base, seen, noticed = json.loads(pcc(*args, *GOAL, "-p", "dapple-place", "--emit=json")[0]), set(), [0] * 3
    nodes = [n for d in base["devices"] for n in d["nodes"]]
    for k in range(25):
        plan, at = json.loads(json.dumps(base)), sorted(rng.sample(range(1, 6), 2))
        devices = rng.sample(range(12), 12) if k % 3 == 0 else list(range(12))
        cuts = sorted(rng.sample(range(1, 12), 2))
        stages = [sorted(s) for s in (devices[:cuts[0]], devices[cuts[0]:cuts[1]], devices[cuts[1]:])]
        plan["training"]["stages"] = [{"devices": [f"acc{d}" for d in s], "ahead": 3 - i, "recompute": False}
                                      for i, s in enumerate(stages)]
        first, last = [0, *at], [*at, 6]
        for d in plan["devices"]:
            d["nodes"] = []
        for i, s in enumerate(stages):
            mine = [f"node{n}" for n in range(first[i], last[i])]
            plan["devices"][s[0]]["nodes"] = [n for n in nodes if any(m in n for m in mine)]
        (tmp / "given.json").write_text(json.dumps(plan))
        found = times([*args, "-p", f"plan{{from={tmp / 'given.json'}:effort=0}}"])

        def wanted(levels, stages=stages, last=last, first=first):
            want = {}
            for i, s in enumerate(stages):
                params = sum(p for _, p in sizes[first[i]:last[i]])
                if len(s) > 1:
                    want["AR", i] = {reduce_all(s, params, levels)}
                if i < 2:
                    size = sizes[last[i] - 1][0]
                    want["F", i] = {move(s, stages[i + 1], size, levels)}
                    want["B", i] = want["F", i]
            return want

        check(found == wanted(LEVELS), f"{stages}: {found}, {wanted(LEVELS)}")
        seen |= {level_of(s) for s in stages} | {10 + level_of(a + b) for a, b in zip(stages, stages[1:])}
        for i, (rate, late, own) in enumerate(LEVELS):
            noticed[i] += found != wanted([*LEVELS[:i], (rate * 2, late, own), *LEVELS[i + 1:]])
    check({0, 1, 2, 12} <= seen, f"levels that were seen: {seen}")
    check(min(noticed) > 2, f"another rate of a level is noticed {noticed} times")
    text = pcc(*args, *GOAL, "-p", "dapple-place", "--emit=ir")[0]
    (tmp / "three.pir").write_text(text)
    check('levels="2:12000000000B/s,3000000ps/3:' in text, text[:400])
    check(pcc(tmp / "three.pir", "-q", "--emit=ir")[0] == text, "levels in textual IR")


def refused(tmp):
    model = tmp / "three.txt"
    for args, code, text in [
            (["-d", "12xv100", "--levels", TEXT, "-p", "dp-place"], 1, "more than two levels of links"),
            (["-d", "12xv100", "--levels", TEXT, "-p", "heft-place", "--objective=makespan"], 1, "two levels of links"),
            (["-d", "16xv100", "--levels", TEXT], 2, "they hold 12 devices, and there are 16 accelerators"),
            (["-d", "12xv100", "--levels", TEXT, "--link", "1GB/s,0us"], 2,
             "--levels tells of all links: --link does not"),
            (["-d", "dapple-a", "--group", "4:1GB/s,0us"], 2, "dapple-a tells of all links: --group does not apply"),
            (["-d", "dapple-a", "--allreduce", "2GB/s"], 2, "dapple-a tells of all links: --allreduce does not"),
            (["-d", "6xv100,6xa100", "--levels", TEXT], 2, "several classes"),
            (["-d", "12xv100", "--levels", "12"], 2, "expected sizes and links"),
            (["-d", "12xv100", "--levels", "12:1GB/s,0us,0GB/s"], 2, "expected sizes and links"),
            (["-d", "16xv100", "--levels", "/".join(["2:1GB/s,0us"] * 5)], 2, "expected sizes and links"),
            (["-d", "12xv100", "--levels", "0:1GB/s,0us"], 2, "expected sizes and links"),
            (["-d", "12xv100", "--levels", "12:1GB/s,0us/"], 2, "expected sizes and links")]:
        r = subprocess.run([PCC, model, *args, "-q", "--emit=json"], capture_output=True, text=True, timeout=600,
                           check=False)
        check(r.returncode == code and text in r.stderr, f"{args}: exit {r.returncode}, {r.stderr}")
    _, err = pcc(tmp / "three.pir", "-q", "--group", "2:1GB/s,0us", "--emit=json", code=2)
    check("three.pir tells of all links: --group does not apply" in err, err)
    for levels, text in [([], "1 to 4 levels"), ([{"size": 8}], "expected an object such as"), ("8", "1 to 4 levels"),
                         ([{"size": 8, "link": {"bandwidth": "1GB/s"}}], "they hold 8 devices"),
                         ([{"size": 8, "link": {"bandwidth": "1GB/s", "rate": 1}}], "rate"),
                         ([{"size": 8, "link": {}}], "needs a"),
                         ([{"size": 0, "link": {"bandwidth": "1GB/s"}}], "size")]:
        (tmp / "c.json").write_text(json.dumps({"classes": [{"preset": "v100", "count": 12}], "levels": levels}))
        _, err = pcc(model, "-d", tmp / "c.json", "-q", "--emit=json", code=1)
        check("levels" in err and text in err, f"{levels}: {err}")


def main():
    rng = random.Random(3)
    with tempfile.TemporaryDirectory() as folder:
        four_ways(Path(folder), rng)
        three(Path(folder), rng)
        refused(Path(folder))
    return finish()


sys.exit(main())
