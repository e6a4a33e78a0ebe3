"""Baechi's placers against the rules written once more, the plain way.

usage: test_baechi.py [--write]

1. On random graphs with groups, several classes of devices and little memory, m-topo-place, m-etf-place and
   m-sct-place leave the same devices in the same order; on some of them with co-placement, and with fusion within
   groups. What they leave takes what the rules say, where no device waits for a reason of its own.
2. The plans of support/baechi_plans.json, which --write has the rules write anew, come out.
3. On small graphs no planner is below the best of all placements and orders (with ports: unit_list_optimum).

The rules, beside those of the paper: groups take their room with their first node; a device passes over for good what
it would take and has no room for; what all devices have passed over goes where the least is used; fusion takes all
edges that are the only ones to leave their begin, then all that are the only ones to enter their end, in turn."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish

PCC = os.environ.get("PCC", "pcc")
GRAPHS = 120 if os.environ.get("PCC_SANITIZED") else 1000
SMALL = 60
PLANS = 50
FILE = Path(__file__).resolve().parents[1] / "support/baechi_plans.json"
NEVER = None
NAMES = ["acc", "other"]


class Graph:
    """Nodes 0..n-1 in an order in which they can run; each makes one value that takes xfer[v] to another
    device, and as long again if it goes over the host."""

    def __init__(self, rng, most, ndev=None):
        self.n = rng.randint(1, most)
        wide = rng.choice([4, 4, 50])
        self.counts = [ndev or rng.randint(1, 4)] + ([rng.randint(1, 2)] if not ndev and rng.random() < 0.4 else [])
        self.classes = [k for k, count in enumerate(self.counts) for _ in range(count)]
        dense = rng.choice([0.1, 0.25, 0.5])
        self.pred = [[u for u in range(v) if rng.random() < dense] for v in range(self.n)]
        self.succ = [[v for v in range(self.n) if u in self.pred[v]] for u in range(self.n)]
        self.xfer = [rng.randint(0, wide) for _ in range(self.n)]
        self.size = [rng.randint(0, wide) for _ in range(self.n)]
        self.time = [[rng.randint(0, wide) for _ in self.counts] for _ in range(self.n)]
        for times in self.time:
            if len(times) > 1 and rng.random() < 0.3:
                times[rng.randint(0, 1)] = NEVER
        colour = [rng.choice([None, None, 1, 2]) if ndev is None else None for _ in range(self.n)]
        self.group = [[u for u in range(self.n) if u == v or (colour[v] and colour[u] == colour[v])]
                      for v in range(self.n)]
        self.colour = colour
        self.network, hops = rng.choice([("direct", 1), ("direct", 1), ("host", 2)])
        self.cost = {(u, v): hops * self.xfer[u] for v in range(self.n) for u in self.pred[v]}
        self.members = [[v] for v in range(self.n)]
        total = sum(self.size)
        self.memory = [rng.randint(total // len(self.classes), max(1, total)) for _ in self.counts]

    def coplace(self):
        """Each node with a single reader goes to the group of that one, until nothing changes."""
        group = [set(members) for members in self.group]
        changed = True
        while changed:
            changed = False
            for v in range(self.n):
                if len(self.succ[v]) == 1 and self.succ[v][0] not in group[v]:
                    both = group[v] | group[self.succ[v][0]]
                    for u in both:
                        group[u] = both
                    changed = True
        self.group = [sorted(members) for members in group]

    def possible(self):
        """Whether each group has a class that runs all of it."""
        return all(any(self.runs(v, k) for k in range(len(self.counts))) for v in range(self.n))

    def runs(self, v, k):
        return all(self.time[u][k] is not NEVER for u in self.group[v])

    def text(self):
        lines = [f"cluster io_free objective=makespan network={self.network} contention=none"]
        for k, count in enumerate(self.counts):
            lines.append(f"class {NAMES[k]} x{count} memory={self.memory[k]}B link=1TB/s,0ps")
        lines.append("graph {")
        for v in range(self.n):
            times = ",".join("never" if t is NEVER else f"{t}ps" for t in self.time[v])
            colour = f" !color={self.colour[v]}" if self.colour[v] else ""
            operands = ", ".join(f"%v{u}" for u in self.pred[v])
            lines.append(f"  %v{v} = profile:op({operands}) : ? !xfer={self.xfer[v]}ps !time=[{times}]"
                         f" !own={self.size[v]}B{colour}")
        return "\n".join([*lines, "}", ""])


class Fused:
    """A graph whose nodes are sets of nodes of g that are in one group."""

    def __init__(self, g):
        sets = self.find(g)
        order, done = [], set()
        while len(order) < len(sets):  # those first that hold the first node
            free = [s for s in sets if s not in order and all(u in done or u in s for v in s for u in g.pred[v])]
            order.append(min(free, key=min))
            done |= order[-1]
        at = {v: i for i, s in enumerate(order) for v in s}
        self.n, self.classes, self.counts, self.memory = len(order), g.classes, g.counts, g.memory
        self.members = [sorted(s) for s in order]
        self.cost = {}
        for (u, v), c in g.cost.items():
            if at[u] != at[v]:
                self.cost.setdefault((at[u], at[v]), {})[u] = c
        self.cost = {edge: sum(values.values()) for edge, values in self.cost.items()}
        self.pred = [sorted(u for u, v in self.cost if v == w) for w in range(self.n)]
        self.succ = [sorted(v for u, v in self.cost if u == w) for w in range(self.n)]
        self.size = [sum(g.size[v] for v in s) for s in self.members]
        self.time = [[NEVER if any(g.time[v][k] is NEVER for v in s) else sum(g.time[v][k] for v in s)
                      for k in range(len(g.counts))] for s in self.members]
        self.group = [sorted({at[u] for u in g.group[s[0]]}) for s in self.members]

    runs = Graph.runs

    @staticmethod
    def find(g):
        of = {v: frozenset([v]) for v in range(g.n)}
        while True:
            before = len(set(of.values()))
            for way in ("out", "in"):
                ends = {(of[u], of[v]) for v in range(g.n) for u in g.pred[v] if of[u] != of[v]}
                here, there = (0, 1) if way == "out" else (1, 0)
                pairs = [e for e in ends if sum(x[here] == e[here] for x in ends) == 1 and
                         min(e[there]) in g.group[min(e[here])]]
                for a, b in pairs:  # what they were before may have become part of more
                    both = of[min(a)] | of[min(b)]
                    for v in both:
                        of[v] = both
            if len(set(of.values())) == before:
                return set(of.values())


def kahn(g):
    missing = [len(p) for p in g.pred]
    queue = [v for v in range(g.n) if not missing[v]]
    for v in queue:
        for u in g.succ[v]:
            missing[u] -= 1
            if not missing[u]:
                queue.append(u)
    return queue


class Room:
    def __init__(self, g):
        self.g, self.used, self.home, self.lacking = g, [0] * len(g.classes), [None] * g.n, 0

    def need(self, v):
        return sum(self.g.size[u] for u in self.g.group[v])

    def fits(self, v, d, cap=None):
        if self.home[v] is not None:
            return self.home[v] == d
        limit = min(self.g.memory[self.g.classes[d]], self.g.memory[self.g.classes[d]] if cap is None else cap)
        return self.g.runs(v, self.g.classes[d]) and (not self.need(v) or self.used[d] + self.need(v) <= limit)

    def put(self, v, d):
        if self.home[v] is None:
            self.used[d] += self.need(v)
            for u in self.g.group[v]:
                self.home[u] = d

    def put_least(self, v):
        self.lacking += 1
        self.put(v, min((d for d in range(len(self.used)) if self.g.runs(v, self.g.classes[d])),
                        key=lambda d: (self.used[d], d)))


def m_topo(g):
    room, at, order = Room(g), 0, kahn(g)  # a group counts as a node: so published values come out
    cap = sum(g.size) // len(g.classes) + max(room.need(v) for v in order)
    for v in order:
        if room.home[v] is not None:
            continue
        while at < len(g.classes) and g.runs(v, g.classes[at]) and not room.fits(v, at, cap):
            at += 1
        for d in range(at, len(g.classes)):
            if room.fits(v, d, cap):
                room.put(v, d)
                break
            if d == at and g.runs(v, g.classes[d]):
                at += 1
        else:
            room.put_least(v)
    return [(v, room.home[v]) for v in order], room, None


class Etf:
    """m-ETF, time by time; with favourites (favourite[v] or None) m-SCT."""

    def __init__(self, g, favourite=None):
        self.g, self.favourite = g, favourite
        self.devs = range(len(g.classes))
        self.rank = {v: i for i, v in enumerate(kahn(g))}
        self.room, self.t = Room(g), 0
        self.free = [0 for _ in self.devs]
        self.last = [None for _ in self.devs]
        self.end, self.ready, self.passed, self.order = {}, set(), set(), []

    def est(self, v, d):
        arrived = [self.end[u] + (0 if self.room.home[u] == d else self.g.cost[u, v]) for u in self.g.pred[v]]
        return max([self.free[d], self.t, *arrived])

    def may(self, v, d):
        home = self.room.home[v]
        return self.g.runs(v, self.g.classes[d]) and (v, d) not in self.passed if home is None else home == d

    def allowed(self, v):
        return [d for d in self.devs if self.room.fits(v, d)]

    def plain(self, d):
        """The vertex that d proposes; False: something was put, begin anew."""
        while True:
            now = [v for v in self.ready if self.may(v, d) and self.est(v, d) <= self.t]
            if not now:
                return None
            v = min(now, key=lambda v: self.rank[v])
            if self.room.fits(v, d):
                return v
            self.passed.add((v, d))
            if not any(self.may(v, e) for e in self.devs):
                self.room.put_least(v)
                return False

    def propose(self, d):
        f = self.favourite[self.last[d]] if self.favourite and self.last[d] is not None else None
        if f is None or f not in self.ready or self.room.home[f] is not None or not self.room.fits(f, d):
            return self.plain(d)
        if self.est(f, d) > min(self.est(f, e) for e in self.allowed(f)):
            return self.plain(d)
        urgent = {v: max(self.est(v, e) for e in self.allowed(v)) for v in self.ready if self.room.fits(v, d)}
        first = min(urgent, key=lambda v: (urgent[v], self.rank[v]))
        if urgent[first] <= self.t:
            return first
        return f if self.est(f, d) <= self.t else None

    def finish(self):
        """Makes ready what has become so; whether there was anything."""
        now = {v for v in range(self.g.n) if v not in self.end and v not in self.ready and
               all(self.end.get(u, self.t + 1) <= self.t for u in self.g.pred[v])}
        self.ready |= now
        return bool(now)

    def take(self):
        """One proposal at most; whether anything happened."""
        proposals = []
        for d in self.devs:
            v = self.propose(d) if self.free[d] <= self.t else None
            if v is False:
                return True
            if v is not None:
                proposals.append((self.rank[v], d, v))
        if not proposals:
            return False
        _, d, v = min(proposals)
        self.ready.remove(v)
        self.room.put(v, d)
        self.last[d] = v
        self.end[v] = self.free[d] = self.t + (self.g.time[v][self.g.classes[d]] or 0)
        self.order.append(v)
        return True

    def run(self):
        while len(self.order) < self.g.n:
            while self.finish() or self.take():
                while self.take():
                    pass
            later = [self.free[d] for d in self.devs] + [self.est(v, d) for v in self.ready for d in self.devs]
            if len(self.order) < self.g.n:
                self.t = min(t for t in later if t > self.t)
        return [(v, self.room.home[v]) for v in self.order], self.room, max(self.end.values())


def favourites(g):
    """Linear clustering: the longest path becomes a chain of favourites and leaves, until no edges are left."""
    left, favourite = set(range(g.n)), [None] * g.n
    time = [next(t for t in times if t is not NEVER) for times in g.time]
    while any(u in left for v in left for u in g.pred[v]):
        longest, path = {}, {}
        for v in sorted(left):
            before = [u for u in g.pred[v] if u in left and longest[u] + g.cost[u, v] > 0]
            u = max(before, key=lambda u: (longest[u] + g.cost[u, v], -u), default=None)
            longest[v] = time[v] + (longest[u] + g.cost[u, v] if before else 0)
            path[v] = [*path[u], v] if before else [v]
        chain = path[max(left, key=lambda v: (longest[v], -v))]
        for u, v in zip(chain, chain[1:]):
            favourite[u] = v
        left -= set(chain)
    return favourite


def plan_of(path, planner, coplace=False, fuse=False):
    """(node, device) in order, and the value."""
    name, _, options = planner.rstrip("}").partition("{")
    asked = ":".join([name + "{best-effort=true", *options.split(":")]).rstrip(":")
    passes = "contract{trivial=false:coplace=%s},%s%s}" % (
        "true" if coplace else "false", asked, ":fuse=true" if fuse else "")
    r = subprocess.run([PCC, path, "-q", "--memory-model=sum", "-p", passes, "--emit", "ir"], capture_output=True,
                       text=True, timeout=60, check=False)
    if not check(r.returncode == 0, f"{planner}: exit {r.returncode}: {r.stderr[:300]}\n{path.read_text()}"):
        return [], 0
    plan = r.stdout[r.stdout.index("\nplan "):]
    value = re.search(r" value=(\d+)(ps|s)", plan)
    return re.findall(r'^  "v(\d+)" = (\w+)$', plan, re.M), int(value[1])


def expand(g, plan):
    """(node, device) in order: those of each vertex one after the other."""
    return [(str(u), f"acc{d}") for v, d in plan for u in g.members[v]]


def compare(text, path, planner, expected, how):
    """how: whether nodes were co-placed and fused. expected: the plan, when it ends (None: not said), whether a device
    may have waited for no reason."""
    want, end, idle = expected
    path.write_text(text)
    got, value = plan_of(path, planner, *how)
    good = check(got == want, f"{planner} {how} leaves {got}, not {want}, for\n{text}")
    if good and end is not None and value is not None:
        check(value == end or (idle and value < end), f"{planner} {how} takes {value}, not {end}, for\n{text}")
    return good


def optimum(g):
    """The least makespan of all placements and orders, transfers free."""
    best = [sum(max(t) for t in g.time) + sum(g.cost.values())]

    def go(end, dev, free):
        if len(end) == g.n:
            best[0] = min(best[0], max(end.values()))
            return
        for v in range(g.n):
            if v in end or any(u not in end for u in g.pred[v]):
                continue
            for d in range(len(g.classes)):
                start = max([free[d], *(end[u] + (0 if dev[u] == d else g.cost[u, v]) for u in g.pred[v])])
                finish = start + g.time[v][0]
                if finish < best[0]:
                    go({**end, v: finish}, {**dev, v: d}, [finish if e == d else f for e, f in enumerate(free)])
                if not any(free):
                    break

    go({}, {}, [0] * len(g.classes))
    return best[0]


PLANNERS = {"m-topo-place": m_topo, "m-etf-place": lambda g: Etf(g).run(),
            "m-sct-place": lambda g: Etf(g, favourites(g)).run()}


def drawn(rng, most):
    """A graph that can be placed, and whether its nodes are co-placed and fused."""
    while True:
        g, how = Graph(rng, most), rng.choice([(False, False)] * 3 + [(True, False), (True, True), (False, True)])
        if how[0]:
            g.coplace()
        if g.possible():
            return g, how


def by_rules(g, planner, how):
    """What compare() expects, and how often there was no room."""
    level = Fused(g) if how[1] else g
    plan, room, end = PLANNERS[planner](level)
    alone = all(len(s) == 1 for s in level.members)  # else values within leave before the vertex ends
    idle = not alone or room.lacking > 0 or "sct" in planner
    return (expand(level, plan), end, idle), room.lacking


def random_graphs(path):
    rng, lacking, fused = random.Random(1), 0, 0
    for _ in range(GRAPHS):
        g, how = drawn(rng, 14)
        fused += how[1] and Fused(g).n < g.n
        for planner in PLANNERS:
            expected, lacks = by_rules(g, planner, how)
            lacking += lacks > 0
            if not compare(g.text(), path, planner, expected, how):
                return
    check(lacking > GRAPHS // 20, f"only {lacking} plans lack room")
    check(fused > GRAPHS // 20, f"only {fused} graphs are fused")


def write_plans():
    rng, plans = random.Random(3), []
    for _ in range(PLANS):
        g, how = drawn(rng, 12)
        plans.append({"coplace": how[0], "fuse": how[1], "graph": g.text().splitlines(),
                      "plans": {p: dict(zip(("plan", "end", "idle"), by_rules(g, p, how)[0])) for p in PLANNERS}})
    FILE.write_text("[\n" + ",\n".join(json.dumps(p) for p in plans) + "\n]\n")


def kept_plans(path):
    kept = json.loads(FILE.read_text())
    check(len(kept) == PLANS, f"{len(kept)} graphs in {FILE.name}")
    for k in kept:
        for planner, p in k["plans"].items():
            expected = [tuple(pair) for pair in p["plan"]], p["end"], p["idle"]
            compare("\n".join([*k["graph"], ""]), path, planner, expected, (k["coplace"], k["fuse"]))


def never_below(path):
    rng, ratios = random.Random(2), {}
    for _ in range(SMALL):
        g = Graph(rng, 6, ndev=rng.choice([2, 2, 2, 3]))
        path.write_text(g.text())
        least = optimum(g)
        for planner in [*PLANNERS, "celeritas-place", "heft-place", "portfolio-place"]:
            value = plan_of(path, planner)[1]
            check(value is not None and value >= least, f"{planner} takes {value}, the best {least}, for\n{g.text()}")
            ratios.setdefault(planner, []).append((value or 0) / least if least else 1)
    for planner, r in ratios.items():
        print(f"{planner}: {sum(r) / len(r):.3f} of the best")


def main():
    if sys.argv[1:] == ["--write"]:
        return write_plans()
    with tempfile.TemporaryDirectory() as tmp:
        path = Path(tmp) / "graph.pir"
        random_graphs(path)
        kept_plans(path)
        never_below(path)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
