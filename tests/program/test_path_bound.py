#!/usr/bin/env python3
"""The argument "what devices can hold along a path" of --explain-bound, checked from the workload alone.

usage: test_path_bound.py   (environment: PCC, PCC_GEN)

Random layers of pcc-gen.  The path must be one; each interval's "so nodes at most" must follow from its line, and
the most that all devices hold be what a dynamic program over the printed intervals gives, less than all nodes
take.  For some intervals the line itself is recomputed as a linear program by HiGHS: no set that a device may
have with that interval gives more, and one gives as much.  Texts with one time changed must be refused.

Exit: 0 pass, 1 fail, 77 skip (no pcc or highspy)."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from sanitized import SANITIZED

try:
    import highspy
except ImportError:
    print("skipped: highspy is not installed")
    sys.exit(77)

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", str(Path(PCC).parent / "pcc-gen"))
ONE, SCALE, SAMPLE = 1024, 1 << 20, 12
TIME = r"(-?\d+(?:\.\d+)?) ms"


class Refuted(Exception):
    """An argument does not hold."""


def need(good, text):
    if not good:
        raise Refuted(text)


def ps(text):
    whole, _, part = text.lstrip("-").partition(".")
    return (-1 if text[0] == "-" else 1) * (int(whole) * 10 ** 9 + int(part.ljust(9, "0") or 0))


class Graph:
    """Nodes 0 .. n - 1 in an order that edges follow, as pcc-gen numbers them."""

    def __init__(self, path):
        w = json.loads(path.read_text())
        self.n = len(w["nodes"])
        self.acc = [round(x["fpgaLatency"] * 10 ** 9) for x in w["nodes"]]
        self.cpu = [round(x["cpuLatency"] * 10 ** 9) for x in w["nodes"]]
        self.pred, self.reads, self.cost = [[] for _ in range(self.n)], {}, {}
        for e in w["edges"]:
            u, v = e["sourceId"] - 1, e["destId"] - 1
            self.pred[v].append(u)
            self.reads.setdefault(u, set()).add(v)
            self.cost[u] = round(e["cost"] * 10 ** 9)

    def along(self, path):
        """(lo, hi) of each node: the last path node that leads to it, the first that it leads to."""
        lo, hi = [0] * self.n, [len(path) + 1] * self.n
        for k, v in enumerate(path, 1):
            lo[v] = hi[v] = k
        for v in range(self.n):
            lo[v] = max([lo[v], *(lo[u] for u in self.pred[v])])
        for v in reversed(range(self.n)):
            hi[v] = min([hi[v], *(hi[u] for u in self.reads.get(v, ()))])
        need([lo[v] for v in path] == list(range(1, len(path) + 1)), "the path is none")
        return lo, hi


def most_less_transfers(g, w, lo, hi, i, j, m):
    """The largest m / ONE of the nodes less the transfers, ps, over the sets of an accelerator with that interval."""
    h = highspy.Highs()
    h.silent()
    inside = [h.addVariable(lb=float(lo[v] > i and hi[v] <= j), ub=float(not (hi[v] <= i or lo[v] > j)))
              for v in range(g.n)]
    goal = sum(w[v] / 10 ** 9 * m / ONE * inside[v] for v in range(g.n))
    for u, readers in g.reads.items():
        top, low = h.addVariable(lb=0, ub=1), h.addVariable(lb=0, ub=1)
        for v in {u, *readers}:
            h.addConstr(top >= inside[v])
            h.addConstr(low <= inside[v])
        goal = goal - g.cost[u] / 10 ** 9 * (top - low)
        for v in readers:
            if i < hi[u] and hi[v] <= j and lo[v] <= j:  # not behind: if v is before, so is u
                h.addConstr(inside[u] <= inside[v])
            if lo[u] > i and lo[v] <= j:  # not before: if u is behind, so is v
                h.addConstr(inside[v] <= inside[u])
    h.maximize(goal)
    return round(h.getObjectiveValue() * 10 ** 9)


def check(g, text, devices, sample):
    """Raises Refuted if the argument does not hold."""
    lines = text.splitlines()
    at = next(k for k, x in enumerate(lines) if x.startswith("suppose that a plan takes less than"))
    limit = ps(re.match(r"suppose that a plan takes less than " + TIME + "; path: ", lines[at])[1]) - 1
    path = [int(x) - 1 for x in re.findall(r"\d+ 'node(\d+)'", lines[at])]
    lo, hi = g.along(path)
    kinds = {}
    for x in lines[at + 2:at + 4]:
        name, scale, cap = re.fullmatch(r"(\S+): a ms counts as (\d+)/1048576, so nodes and transfers at most "
                                        + TIME, x).groups()
        kinds[name] = (int(scale), ps(cap))
        need(ps(cap) == limit * int(scale) >> 20, f"{cap} is not {scale}/{SCALE} of {limit}")
    (acc, (one, acc_cap)), (_, (scale, cpu_cap)) = kinds.items()
    need(one == SCALE and acc == f"acc0..acc{devices - 1}", "accelerators count fully")
    w = [min(a, c * scale >> 20) for a, c in zip(g.acc, g.cpu)]
    rows, held = [], {}
    for x in lines[at + 5:-1]:
        r = re.fullmatch(r"  (\S+), (?:between (\d+) and (\d+)|(\d+) to (\d+)): (?:nothing|(-?\d+)/1024 of the nodes) "
                         r"less the transfers is at most " + TIME + r", so (?:there is no such device|nodes at most "
                         + TIME + ")", x)
        need(r and r[1] == acc, f"not understood: {x}")
        i, j = (int(r[2]), int(r[2])) if r[2] else (int(r[4]) - 1, int(r[5]))
        m, gain = int(r[6] or 0), ps(r[7])
        value = (acc_cap + gain) * ONE // (ONE + m) if acc_cap + gain >= 0 else -1
        need(value == (ps(r[8]) if r[8] else -1), f"does not follow: {x}")
        held[i, j] = value
        rows.append((i, j, m, gain))
    end = re.fullmatch(r"however the devices share the path, they hold at most " + TIME + " of " + TIME
                       + ": no contiguous plan takes less than " + TIME, lines[-1])
    need(end and ps(end[2]) == sum(w) and ps(end[3]) == limit + 1, "the conclusion is about something else")
    most = most_held(w, lo, hi, len(path), held, devices, acc_cap, cpu_cap)
    need(most == ps(end[1]) and most < sum(w), f"devices hold {most}")
    for i, j, m, gain in random.Random(1).sample(rows, min(sample, len(rows))):
        least = most_less_transfers(g, w, lo, hi, i, j, m)
        need(least <= gain + 1000, f"{i} to {j}: {least} is more than {gain}")  # what HiGHS rounds
        need(least >= gain - 1000, f"{i} to {j}: only {least}, not {gain}: not a minimum cut")


def most_held(w, lo, hi, size, held, devices, acc_cap, cpu_cap):
    """The most that `devices` accelerators and a CPU hold, intervals that are not named as much as their load."""
    between = {(i, j): sum(x for x, a, b in zip(w, lo, hi) if a > i and b <= j)
               for i in range(size + 1) for j in range(i, size + 1)}
    best = {(0, 0): [0] + [-1] * size}
    for a in range(devices + 1):
        for c in range(2):
            row = best.setdefault((a, c), [-1] * (size + 1))
            for before, cap, named in ((a - 1, c), acc_cap, held), ((a, c - 1), cpu_cap, {}):
                for (i, j), forced in between.items():
                    value, more = best.get(before, [-1] * (size + 1))[i], named.get((i, j), cap)
                    if value >= 0 and more >= 0 and forced <= cap:
                        row[j] = max(row[j], value + more)
    return best[devices, 1][size]


def refused(g, text, devices, sample):
    try:
        check(g, text, devices, sample)
    except (Refuted, TypeError):
        return True
    return False


def main():
    rng, tried, kept = random.Random(1), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed, devices in ((1, 4), (2, 3))[:1 if SANITIZED else 2]:
            path = Path(folder) / "w.json"
            subprocess.run([PCC_GEN, "random-layers", "--nodes", "200", "--devices", str(devices), "--seed", str(seed),
                            "-o", path], check=True)
            out = subprocess.run([PCC, path, "-p", "dp-place", "-q", "--explain-bound"], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
            g, text = Graph(path), out[out.index("contiguous plans: what devices"):].rstrip("\n")
            check(g, text, devices, SAMPLE)
            times = list(re.finditer(r"\d(?= ms)", text))
            for t in rng.sample(times, 30):
                changed = text[:t.start()] + str((int(t[0]) + 1) % 10) + text[t.end():]
                tried += 1
                kept += not refused(g, changed, devices, 0)
    print(f"{tried - kept} of {tried} changed texts refused")
    return 1 if kept else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refuted as error:
        print(f"FAIL: {error}")
        sys.exit(1)
