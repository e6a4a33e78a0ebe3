"""heft-place against the rules of Topcuoglu, Hariri and Wu (2002) written once more: on random graphs with groups, two
classes of devices and little memory it leaves the same devices in the same order, with free transfers and with ports.

The rules, beside those of the paper: means are rounded down; a device must have room for a node with its group; where
none has, the one with the least bytes takes it. What takes no time fits anywhere. A port is booked in the order of the
nodes, and for one node in the order in which what it reads ends. Nodes run by their starts."""
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish
from list_graphs import NEVER, Graph, Room, compare, expand
from sanitized import SANITIZED

GRAPHS = 30 if SANITIZED else 300


def upward(g):
    rank = [0] * g.n
    for v in reversed(range(g.n)):
        able = [d for d in range(len(g.classes)) if g.time[v][g.classes[d]] is not NEVER]
        mean = sum(g.time[v][g.classes[d]] for d in able) // len(able)
        rank[v] = mean + max((g.far(v, u) + rank[u] for u in g.succ[v]), default=0)
    return sorted(range(g.n), key=lambda v: (-rank[v], v))


def slot(busy, ready, time):
    """The first moment from which a device is idle for so long; busy: (start, end)."""
    if not time:
        return ready
    for start in sorted([ready, *(end for _, end in busy if end > ready)]):
        if all(end <= start or begin >= start + time for begin, end in busy if begin < end):
            return start
    return ready


class Heft:
    def __init__(self, g, ports):
        self.g, self.ports, self.room = g, ports, Room(g)
        self.devs = range(len(g.classes))
        self.busy = [[] for _ in self.devs]
        self.out, self.into = [0 for _ in self.devs], [0 for _ in self.devs]
        self.end, self.start = {}, {}

    def arrive(self, v, d):
        """When all that v reads is on d, and the ports by then."""
        out, into, ready = list(self.out), self.into[d], 0
        for u in sorted(self.g.pred[v], key=lambda u: (self.end[u], u)):
            home, at = self.room.home[u], self.end[u]
            if home != d and self.ports:
                at = max(at, out[home], into)
                out[home] = into = at + self.g.move(u, v, home, d)
            ready = max(ready, at + self.g.move(u, v, home, d))
        return ready, out, into

    def run(self):
        order = upward(self.g)
        for v in order:
            best = None
            for d in self.devs:
                time = self.g.time[v][self.g.classes[d]]
                if time is not NEVER and self.room.fits(v, d):
                    start = slot(self.busy[d], self.arrive(v, d)[0], time)
                    best = min(best or (start + time, d, start), (start + time, d, start))
            if best is None:
                self.room.put_least(v)
            else:
                self.room.put(v, best[1])
            d = self.room.home[v]
            ready, self.out, self.into[d] = self.arrive(v, d)
            time = self.g.time[v][self.g.classes[d]]
            self.start[v] = slot(self.busy[d], ready, time)
            self.end[v] = self.start[v] + time
            self.busy[d].append((self.start[v], self.end[v]))
        place = {v: i for i, v in enumerate(order)}
        return sorted(order, key=lambda v: (self.start[v], place[v]))


def main():
    rng, done, inserted, lacking = random.Random(7), 0, 0, 0
    with tempfile.TemporaryDirectory() as tmp:
        while done < GRAPHS:
            g = Graph(rng, 14)
            if not g.possible():
                continue
            done += 1
            for ports in (False, True):
                h = Heft(g, ports)
                order = h.run()
                plan = expand(g, [(v, h.room.home[v]) for v in order])
                planner = f"heft-place{{contention={'port' if ports else 'none'}}}"
                # with ports transfers run in another order; what takes no time waits for what it was put into
                instant = any(0 in times for times in g.time)
                end = None if ports or instant else max(h.end.values())
                if not compare(g.text(), Path(tmp) / "graph.pir", planner, (plan, end, True), (False, False)):
                    return finish()
                inserted += any(b[1:] and b[-1] != max(b) for b in h.busy)
                lacking += h.room.lacking > 0
    check(inserted > GRAPHS // 4, f"only {inserted} plans use idle slots")
    check(lacking > GRAPHS // 20, f"only {lacking} plans lack room")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
