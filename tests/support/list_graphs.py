"""Random graphs with devices for list planners, and what of them tests ask: groups, co-placed or not, nodes fused
within them, what transfers take, room on devices; and the plan that pcc makes of one."""
import os
import re
import subprocess

from checks import check

PCC = os.environ.get("PCC", "pcc")
NEVER = None


class Graph:
    """Nodes 0..n-1 in an order in which they can run; each makes one value that takes xfer[v] over a link. Between two
    accelerators there is one link or two, over the host, or a share of that in a group; between CPUs none."""

    def __init__(self, rng, most, ndev=None):
        self.n = rng.randint(1, most)
        wide = rng.choice([4, 4, 50])
        large = most > 50
        self.kinds = ["acc"] if ndev else ["acc", *rng.choice([[], [], [], ["other"], ["cpu"], ["other", "cpu"]])]
        self.counts = [ndev or rng.randint(1, 8 if large else 4), *(rng.randint(1, 2) for _ in self.kinds[1:])]
        self.classes = [k for k, count in enumerate(self.counts) for _ in range(count)]
        self.network = rng.choice(["direct", "direct", "host"])
        self.inner = None  # millionths of a link's time, in groups of two of the first class
        if self.network == "direct" and self.counts[0] % 2 == 0 and rng.random() < 0.5 and not ndev:
            self.inner = rng.choice([1, 300000, 1000000])
        dense = rng.choice([1, 3]) / most if large else rng.choice([0.1, 0.25, 0.5])
        self.pred = [[u for u in range(v) if rng.random() < dense] for v in range(self.n)]
        self.succ = [[v for v in range(self.n) if u in self.pred[v]] for u in range(self.n)]
        self.xfer = [rng.randint(0, wide) for _ in range(self.n)]
        self.size = [rng.randint(0, wide) for _ in range(self.n)]
        self.time = [[rng.randint(0, wide) for _ in self.counts] for _ in range(self.n)]
        for times in self.time:
            if len(times) > 1 and rng.random() < 0.3:
                times[rng.randrange(len(times))] = NEVER
        colour = [rng.choice([None, None, 1, 2]) if ndev is None else None for _ in range(self.n)]
        self.group = [[u for u in range(self.n) if u == v or (colour[v] and colour[u] == colour[v])]
                      for v in range(self.n)]
        self.colour = colour
        self.values = {(u, v): [self.xfer[u]] for v in range(self.n) for u in self.pred[v]}
        self.members = [[v] for v in range(self.n)]
        total = sum(self.size)
        self.memory = [rng.randint(total // len(self.classes), max(1, total)) for _ in self.counts]

    def is_cpu(self, d):
        return self.kinds[self.classes[d]] == "cpu"

    def name(self, d):
        accelerators = sum(not self.is_cpu(e) for e in range(len(self.classes)))
        return f"cpu{d - accelerators}" if self.is_cpu(d) else f"acc{d}"

    def move(self, u, v, a, b):
        """What the values of u that v reads take from device a to b."""
        if a == b:
            return 0
        hops = [self.is_cpu(a), self.is_cpu(b)].count(False)
        if self.network == "direct":
            hops = min(hops, 1)
        near = self.inner is not None and self.classes[a] == self.classes[b] == 0 and a // 2 == b // 2
        return hops * sum(min(x, -(-x * self.inner // 1000000)) if near else x for x in self.values[u, v])

    def far(self, u, v):
        """The same between accelerators of no common group."""
        return (2 if self.network == "host" else 1) * sum(self.values[u, v])

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
            group = f" group=2 inner_share={self.inner}" if k == 0 and self.inner is not None else ""
            link = " host" if self.kinds[k] == "cpu" else ""
            lines.append(f"class {self.kinds[k]} x{count}{link} memory={self.memory[k]}B link=1TB/s,0ps{group}")
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
        self.kinds, self.network, self.inner = g.kinds, g.network, g.inner
        self.members = [sorted(s) for s in order]
        read = {}
        for (u, v), values in g.values.items():
            if at[u] != at[v]:
                read.setdefault((at[u], at[v]), {})[u] = values
        self.values = {edge: [x for values in by.values() for x in values] for edge, by in read.items()}
        self.pred = [sorted(u for u, v in self.values if v == w) for w in range(self.n)]
        self.succ = [sorted(v for u, v in self.values if u == w) for w in range(self.n)]
        self.size = [sum(g.size[v] for v in s) for s in self.members]
        self.time = [[NEVER if any(g.time[v][k] is NEVER for v in s) else sum(g.time[v][k] for v in s)
                      for k in range(len(g.counts))] for s in self.members]
        self.group = [sorted({at[u] for u in g.group[s[0]]}) for s in self.members]

    runs, is_cpu, name, move, far = Graph.runs, Graph.is_cpu, Graph.name, Graph.move, Graph.far

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


def plan_of(path, planner, coplace=False, fuse=False):
    """(node, device) in order, and the value."""
    name, _, options = planner.rstrip("}").partition("{")
    asked = ":".join([name + "{best-effort=true", *options.split(":")]).rstrip(":")
    passes = "contract{trivial=false:pins=true:coplace=%s},%s%s}" % (
        "true" if coplace else "false", asked, ":fuse=true" if fuse else "")
    r = subprocess.run([PCC, path, "-q", "--memory-model=sum", "-p", passes, "--emit", "ir"], capture_output=True,
                       text=True, timeout=60, check=False)
    if not check(r.returncode == 0, f"{planner}: exit {r.returncode}: {r.stderr[:300]}\n{path.read_text()[:3000]}"):
        return [], 0
    plan = r.stdout[r.stdout.index("\nplan "):]
    value = re.search(r" value=([0-9.]+)(ps|ns|s)", plan)
    return re.findall(r'^  "v(\d+)" = (\w+)$', plan, re.M), round(float(value[1]) * (1000 if value[2] == "ns" else 1))


def expand(g, plan):
    """(node, device) in order: those of each vertex one after the other."""
    return [(str(u), g.name(d)) for v, d in plan for u in g.members[v]]


def compare(text, path, planner, expected, how):
    """how: whether nodes were co-placed and fused. expected: the plan, when it ends (None: not said), whether a device
    may have waited for no reason."""
    want, end, idle = expected
    path.write_text(text)
    got, value = plan_of(path, planner, *how)
    good = check(got == want, f"{planner} {how} leaves {got}, not {want}, for\n{text[:3000]}")
    if good and end is not None and value is not None:
        check(value == end or (idle and value < end), f"{planner} {how} takes {value}, not {end}, for\n{text[:3000]}")
    return good
