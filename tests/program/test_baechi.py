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
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish
from list_graphs import NEVER, Fused, Graph, Room, compare, expand, kahn, plan_of
from sanitized import SANITIZED

GRAPHS = 30 if SANITIZED else 1000 if os.environ.get("PCC_ALL") else 500
SMALL = 15 if SANITIZED else 60
PLANS = 50
FILE = Path(__file__).resolve().parents[1] / "support/baechi_plans.json"


def m_topo(g):
    room, at, order = Room(g), 0, kahn(g)  # a group counts as a node: so published values come out
    cap = sum(g.size) // sum(not g.is_cpu(d) for d in range(len(g.classes))) + max(room.need(v) for v in order)
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
        arrived = [self.end[u] + self.g.move(u, v, self.room.home[u], d) for u in self.g.pred[v]]
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
            before = [u for u in g.pred[v] if u in left and longest[u] + g.far(u, v) > 0]
            u = max(before, key=lambda u: (longest[u] + g.far(u, v), -u), default=None)
            longest[v] = time[v] + (longest[u] + g.far(u, v) if before else 0)
            path[v] = [*path[u], v] if before else [v]
        chain = path[max(left, key=lambda v: (longest[v], -v))]
        for u, v in zip(chain, chain[1:]):
            favourite[u] = v
        left -= set(chain)
    return favourite


def optimum(g):
    """The least makespan of all placements and orders, transfers free."""
    best = [sum(max(t) for t in g.time) + sum(g.far(u, v) for u, v in g.values)]

    def go(end, dev, free):
        if len(end) == g.n:
            best[0] = min(best[0], max(end.values()))
            return
        for v in range(g.n):
            if v in end or any(u not in end for u in g.pred[v]):
                continue
            for d in range(len(g.classes)):
                start = max([free[d], *(end[u] + g.move(u, v, dev[u], d) for u in g.pred[v])])
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
    for i in range(GRAPHS):
        g, how = drawn(rng, 120 if i % 100 == 49 else 14)
        fused += how[1] and Fused(g).n < g.n
        for planner in PLANNERS:
            expected, lacks = by_rules(g, planner, how)
            lacking += lacks > 0
            if not compare(g.text(), path, planner, expected, how):
                return
    check(lacking > GRAPHS // 20, f"only {lacking} plans lack room")
    check(fused > GRAPHS // 20, f"only {fused} graphs are fused")


def long_chain():
    """300 nodes in a row that stay where they are, since their values take long, and 20 that only the other class runs:
    these wait while what that class has noted of the row becomes void."""
    g = Graph(random.Random(4), 1, ndev=2)
    g.n, g.network, g.kinds, g.counts, g.classes = 320, "direct", ["acc", "other"], [2, 1], [0, 0, 1]
    g.pred = [[v - 1] if 0 < v < 300 else [v - 300] if v else [] for v in range(g.n)]
    g.succ = [[v for v in range(g.n) if u in g.pred[v]] for u in range(g.n)]
    g.xfer, g.size, g.memory = [100000] * g.n, [0] * g.n, [1, 1]
    g.values = {(u, v): [100000] for v in range(g.n) for u in g.pred[v]}
    g.time = [[1, 1] if v < 300 else [NEVER, 1] for v in range(g.n)]
    g.colour, g.group, g.members = [None] * g.n, [[v] for v in range(g.n)], [[v] for v in range(g.n)]
    return g


def kept_waiting(path):
    g = long_chain()
    for planner in ("m-etf-place", "m-sct-place"):
        compare(g.text(), path, planner, by_rules(g, planner, (False, False))[0], (False, False))


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
        kept_waiting(path)
        never_below(path)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
