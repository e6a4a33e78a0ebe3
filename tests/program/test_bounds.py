#!/usr/bin/env python3
"""The arguments of --explain-bound, checked line by line from the input alone.

usage: test_bounds.py   (environment: PCC, PCC_SHARED)

Small random workloads (their best plan of any shape found here by trying all) and, where they are, the
placement paper's.  Each printed step must follow from the ones before it: where a vertex cannot be, the least
load of a device around it is recomputed (over all sets for small graphs, by a maximum flow for others), and the
loads of named sets; what is joined must have no way to be apart; sums of times and transfers, prices,
pigeonholes and the conclusion are recomputed, and the bound must not exceed the best plan.  Texts with one
number changed must be refused (the check can fail).  What one device can hold at most is a program for HiGHS where
there are too many sets to try.

Exit: 0 pass, 1 fail, 77 skip (no pcc).
"""
# extras: shared
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import deque
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from sanitized import SANITIZED

try:
    import highspy
except ImportError:
    print("skipped: highspy is not installed")
    sys.exit(77)

PCC = os.environ.get("PCC", "pcc")
ONE = 1 << 20
BOUNDLESS = 1 << 61
SMALL = 12      # vertices for which all sets are tried
FLOWS = 12      # least loads recomputed for a larger graph
TIME = r"(\d+(?:\.\d+)?) ms"


class Refuted(Exception):
    """An argument does not hold."""


def need(good, text):
    if not good:
        raise Refuted(text)


def ps(text):
    whole, _, part = text.partition(".")
    return int(whole) * 10 ** 9 + int(part.ljust(9, "0")) if part else int(whole) * 10 ** 9


def ms(x):
    return round(x * 10 ** 9)


# ---- the problem, from the workload --------------------------------------------------------------

class Problem:
    """Vertices (colours, with cycles joined) with times by kind of device, and nets."""

    def __init__(self, workload):
        nodes = workload["nodes"]
        self.kinds = [(name, n) for name, n in (("acc", workload["maxFPGAs"]), ("cpu", workload["maxCPUs"])) if n]
        group = classes(workload)
        order = {}
        for n in nodes:
            order.setdefault(group[n["id"]], len(order))
        self.n = len(order)
        self.name = [set() for _ in range(self.n)]
        self.nodes = [0] * self.n
        self.time = [[0] * self.n for _ in self.kinds]
        for n in nodes:
            v = order[group[n["id"]]]
            self.name[v].add(n["name"])
            self.nodes[v] += 1
            for k, (kind, _) in enumerate(self.kinds):
                self.time[k][v] += ms(n["fpgaLatency"] if kind == "acc" else n["cpuLatency"])
        pins, cost = {}, {}
        for e in workload["edges"]:
            u, v = order[group[e["sourceId"]]], order[group[e["destId"]]]
            pins.setdefault(e["sourceId"], {u}).add(v)
            cost[e["sourceId"]] = ms(e["cost"])
        self.nets = [(frozenset(p), cost[u]) for u, p in pins.items() if len(p) > 1]
        self.nets_of = [[] for _ in range(self.n)]
        for e, (p, _) in enumerate(self.nets):
            for v in p:
                self.nets_of[v].append(e)

    def kind(self, text):
        """The kind that "acc0..acc2" means."""
        for k, (name, n) in enumerate(self.kinds):
            if text == (f"{name}0..{name}{n - 1}" if n > 1 else f"{name}0"):
                return k
        raise Refuted(f"no such devices: {text}")

    def free(self, k):
        return self.kinds[k][0] == "cpu"

    def transfers(self, k, s):
        touched = {e for v in s for e in self.nets_of[v]}
        return 0 if self.free(k) else sum(self.nets[e][1] for e in touched if not self.nets[e][0] <= s)

    def load(self, k, s):
        return sum(self.time[k][v] for v in s) + self.transfers(k, s)


def classes(workload):
    """Node -> class: colours, then cycles among the classes."""
    ids = [n["id"] for n in workload["nodes"]]
    of = {n["id"]: ("c", n["colorClass"]) if n.get("colorClass") is not None else ("n", n["id"])
          for n in workload["nodes"]}
    while True:
        succ = {}
        for e in workload["edges"]:
            a, b = of[e["sourceId"]], of[e["destId"]]
            if a != b:
                succ.setdefault(a, set()).add(b)
        comp = components(set(of.values()), succ)
        if len(set(comp.values())) == len(comp):
            return of
        of = {i: comp[of[i]] for i in ids}


def components(vertices, succ):
    """Strongly connected components (Kosaraju)."""
    seen, out, pred = set(), [], {}
    for a, bs in succ.items():
        for b in bs:
            pred.setdefault(b, set()).add(a)
    for root in sorted(vertices, key=str):
        stack = [(root, None)]
        while stack:
            v, it = stack.pop()
            if it is None:
                if v in seen:
                    continue
                seen.add(v)
                it = iter(succ.get(v, ()))
            for w in it:
                if w not in seen:
                    stack += [(v, it), (w, None)]
                    break
            else:
                out.append(v)
    comp = {}
    for root in reversed(out):
        stack = [root]
        while stack:
            v = stack.pop()
            if v not in comp:
                comp[v] = root
                stack += [w for w in pred.get(v, ()) if w not in comp]
    return comp


def least_load(p, k, may, inside, without):
    """Least load of a device of kind k that holds all of `inside`, none of `without`, and what may be there."""
    allowed = [v for v in range(p.n) if may[v] >> k & 1 and v not in without]
    if not inside <= set(allowed):
        return BOUNDLESS
    if p.free(k):
        return sum(p.time[k][v] for v in inside)
    rest = [v for v in allowed if v not in inside]
    if len(allowed) <= SMALL:
        return min(p.load(k, inside | set(s)) for n in range(len(rest) + 1)
                   for s in itertools.combinations(rest, n))
    return least_by_flow(p, k, set(allowed), inside)


def least_by_flow(p, k, allowed, inside):
    """The same by augmenting paths: v -> sink at its time, net in -> out at its cost."""
    cap = {}

    def arc(a, b, c):
        cap.setdefault(a, {})[b] = cap.get(a, {}).get(b, 0) + c
        cap.setdefault(b, {}).setdefault(a, 0)
    for v in range(p.n):
        arc(v, "t", p.time[k][v] if v in allowed else BOUNDLESS)
    for v in inside:
        arc("s", v, BOUNDLESS)
    for e, (pins, cost) in enumerate(p.nets):
        arc(("in", e), ("out", e), cost)
        for v in pins:
            arc(v, ("in", e), BOUNDLESS)
            arc(("out", e), v, BOUNDLESS)
    total = 0
    while True:
        back, queue = {"s": None}, deque("s")
        while queue and "t" not in back:
            a = queue.popleft()
            for b, c in cap[a].items():
                if c and b not in back:
                    back[b] = a
                    queue.append(b)
        if "t" not in back:
            return total
        path, b = [], "t"
        while back[b] is not None:
            path.append((back[b], b))
            b = back[b]
        least = min(cap[a][b] for a, b in path)
        for a, b in path:
            cap[a][b] -= least
            cap[b][a] += least
        total += least


# ---- the argument --------------------------------------------------------------------------------

class Reader:
    """What is known while the lines of an argument are read."""

    def __init__(self, problem):
        self.p = problem
        self.group = [{v} for v in range(problem.n)]  # shared by its members
        self.may = [(1 << len(problem.kinds)) - 1] * problem.n
        self.below = None
        self.flows = 0
        self.seen = set()

    def vertex(self, text):
        m = re.fullmatch(r"'(.*?)'(?: \((\d+) nodes\))?(?: and the (\d+) with it)?", text)
        need(m, f"not a vertex: {text}")
        at = [v for v in range(self.p.n) if m[1] in self.p.name[v] and self.p.nodes[v] == int(m[2] or 1)]
        need(len(at) == 1, f"{len(at)} vertices are {text}")
        return at[0]

    def least(self, k, inside, without, said):
        """What is said must not be more than the least load, nor less than the threshold."""
        need(said >= self.below, f"{said} is below the threshold {self.below}")
        self.flows += 1
        if self.p.n <= SMALL or self.flows <= FLOWS or self.p.free(k):
            least = least_load(self.p, k, self.may, inside, without)
            need(least >= said, f"a device could have a load of {least}, not {said}")

    def deny(self, line):
        m = re.fullmatch(r"(.*) not on (\S+): (?:beside (.*), which is there, )?" + TIME + r" at least"
                         r"(?:, " + TIME + r" \+ transfers " + TIME + r" of \{(.*)\})?", line)
        need(m, f"not understood: {line}")
        v, k, inside, load = self.vertex(m[1]), self.p.kind(m[2]), set(), ps(m[4])
        inside |= self.group[v]
        if m[3]:
            w = self.vertex(m[3])
            need(self.may[w] == 1 << k and self.p.kinds[k][1] == 1, f"{m[3]} is not there anyway")
            inside |= self.group[w]
        self.least(k, inside, set(), load)
        if m[7]:
            need(ps(m[5]) + ps(m[6]) == load, f"{m[5]} + {m[6]} is not {m[4]}")
            if "... and" not in m[7]:
                s = set().union(*(self.group[self.vertex(t)]
                                  for t in re.findall(r"'.*?'(?: \(\d+ nodes\))?(?=, '|$)", m[7])))
                need(inside <= s, f"{m[1]} is not in its set")
                need(sum(self.p.time[k][u] for u in s) == ps(m[5]), f"the set does not take {m[5]}")
                need(self.p.transfers(k, s) == ps(m[6]), f"the set does not transfer {m[6]}")
                self.seen.add("set")
        for u in self.group[v]:
            self.may[u] &= ~(1 << k)
        self.seen.add("deny")

    def kinds(self, text):
        return set() if text == "nowhere" else {self.p.kind(t) for t in text.split(", ")}

    def join(self, line):
        first, *rest = line.split("; ")
        m = re.fullmatch(r"(.*) with (.*): apart, on (.*) and on (.*)", first)
        need(m, f"not understood: {line}")
        a, b = self.vertex(m[1]), self.vertex(m[2])
        apart = {a: self.kinds(m[3]), b: self.kinds(m[4])}
        gone = set()
        for text in rest:
            t = re.fullmatch(r"(.*) without (.*) loads (\S+) with " + TIME + " at least", text)
            need(t, f"not understood: {text}")
            x, y, k = self.vertex(t[1]), self.vertex(t[2]), self.p.kind(t[3])
            need({x, y} == {a, b}, f"about others: {text}")
            self.least(k, set(self.group[x]), set(self.group[y]), ps(t[4]))
            gone.add((x, k))
        for x in (a, b):
            for k in range(len(self.p.kinds)):
                need(not self.may[x] >> k & 1 or k in apart[x] or (x, k) in gone,
                     f"{min(self.p.name[x])} could be on {self.p.kinds[k][0]}")
        for i in apart[a]:
            for j in apart[b]:
                need(i == j and self.p.kinds[i][1] == 1, "there is a way to be apart")
        both = self.group[a] | self.group[b]
        may = self.may[a] & self.may[b]
        for v in both:
            self.group[v] = both
            self.may[v] = may
        self.seen.add("join" if rest else "join on one device")

    def step(self, line):
        m = re.fullmatch(r"(.*): no device is left", line)
        if m:
            need(self.may[self.vertex(m[1])] == 0, f"some device is left: {line}")
            self.seen.add("none")
        elif " not on " in line:
            self.deny(line)
        else:
            self.join(line)


def groups(r):
    return [r.group[v] for v in range(r.p.n) if min(r.group[v]) == v]


def share(text):
    whole, _, of = text.partition("/")
    need(not of or int(of) == ONE, f"not a price: {text}")
    return int(whole) if of else int(whole) * ONE


def read_prices(r, lines):
    """The lines from "let a ms count as", if there is one, to the conclusion; the bound."""
    p, price = r.p, {k: ONE for k in range(len(r.p.kinds))}
    if lines[0].startswith("let a ms count as"):
        text = lines.pop(0).removeprefix("let a ms count as ").removesuffix(" (each product rounded down to a ps)")
        price = {p.kind(t.split(" on ")[1]): share(t.split(" on ")[0]) for t in text.split(", ")}
        need(len(price) == len(p.kinds), "a kind has no price")
        r.seen.add("prices")
    m = re.fullmatch("nodes, each where it counts least: " + TIME, lines.pop(0))
    need(m, "no sum of nodes")
    vertices = 0
    for g in groups(r):
        may = r.may[min(g)]
        vertices += min((price[k] * sum(p.time[k][v] for v in g) // ONE for k in price if may >> k & 1), default=0)
    need(vertices == ps(m[1]), f"the nodes count {vertices}")
    nets, m = 0, re.fullmatch("transfers that somebody pays in every plan: " + TIME, lines[0])
    if m:
        lines.pop(0)
        nets, mine = ps(m[1]), sum(transfer_price(r, price, pins) * c // ONE for pins, c in p.nets)
        need(mine <= nets <= mine + len(p.nets), f"the transfers count {mine}")
        r.seen.add("transfers")
    m = re.fullmatch("devices with loads of at most T hold at most (.*) times T", lines.pop(0))
    need(m, "no sum of devices")
    terms = [t.split(" * ") for t in m[1].split(" + ")]
    need([(int(n), share(x)) for n, x in terms] == [(p.kinds[k][1], price[k]) for k in sorted(price)],
         f"the devices hold something else than {m[1]}")
    m = re.fullmatch(TIME + r" / \((.*)\) = " + TIME + ": no plan takes less", lines.pop(0))
    need(m, "no conclusion")
    held = sum(p.kinds[k][1] * price[k] for k in price)
    need(ps(m[1]) == vertices + nets and share(m[2]) == held, "other numbers in the conclusion")
    bound = -(-(vertices + nets) * ONE // held)
    need(bound == ps(m[3]), f"the bound is {bound}")
    return bound


def transfer_price(r, price, pins):
    """What a transfer counts at least, for each ps: the pins that cannot be together pay."""
    masks = [r.may[v] for v in sorted({min(r.group[v]) for v in pins})]
    both = -1
    for m in masks:
        both &= m
    if len(masks) < 2 or both:
        return 0
    taken, total = 0, 0
    for m in masks:
        if not m & taken:
            total += min(0 if r.p.free(k) else price[k] for k in price if m >> k & 1)
            taken |= m
    return total


def read_holes(r, lines):
    """A pigeonhole of a kernel; the bound."""
    p = r.p
    m = re.fullmatch(f"pigeonhole: these (\\d+) do not fit devices with loads below {TIME}:", lines.pop(0))
    need(m, "no pigeonhole")
    count, bound, who = int(m[1]), ps(m[2]), []
    while lines[0].startswith("  "):
        line = lines.pop(0)
        m = re.match(r"  ('.*?'(?: \(\d+ nodes\))?) takes ", line)
        v = r.vertex(m[1])
        times = re.findall(TIME + r" on (\S+)", line[m.end():])
        need({p.kind(d): ps(t) for t, d in times} ==
             {k: sum(p.time[k][u] for u in r.group[v]) for k in range(len(p.kinds)) if r.may[v] >> k & 1},
             f"other times: {line}")
        who.append(min(r.group[v]))
    need(len(set(who)) == count, "not as many as is said")
    total = 0
    for k, (_, devices) in enumerate(p.kinds):
        m = re.match(r"(\S+): at most (\d+) each, ", lines.pop(0))
        need(m and p.kind(m[1]) == k, "no line for a kind")
        times = sorted(sum(p.time[k][u] for u in r.group[v]) for v in who if r.may[v] >> k & 1)
        more = times[:int(m[2]) + 1]
        need(len(more) <= int(m[2]) or sum(more) >= bound, f"{m[1]} could hold more than {m[2]}")
        total += int(m[2]) * devices
    m = re.fullmatch(rf"together at most (.*) = (\d+) of (\d+): no plan takes less than {TIME}", lines.pop(0))
    need(m and int(m[2]) == total and total < count == int(m[3]) and ps(m[4]) == bound, "another conclusion")
    r.seen.add("pigeonhole")
    return bound


def filled(items, room):
    """What (weight, time) weighs at most that takes `room`, fractions allowed."""
    total = 0
    for w, t in sorted(items, key=lambda x: -x[0] / (x[1] or 1e-9)):
        part = min(t, room)
        total += w * part // t if t else w
        room -= part
    return total


def heaviest_by_solver(p, k, groups_here, weight, bound):
    """The most that a set of these groups weighs whose load on kind k is below bound, by HiGHS."""
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("mip_rel_gap", 1e-9)
    scale = 1000 / max(1, sum(weight.values()))
    whole = highspy.HighsVarType.kInteger
    x, load = {}, highspy.highs_linear_expression()
    for g in groups_here:
        var = h.addVariable(0, 1, -weight.get(min(g), 0) * scale, whole)
        x.update((v, var) for v in g)
        load += sum(p.time[k][v] for v in g) / 1e9 * var
    for pins, cost in p.nets if not p.free(k) else []:
        if cost == 0 or not any(v in x for v in pins):
            continue
        hi, lo = h.addVariable(0, 1), h.addVariable(0, 1)
        for v in pins:
            if v in x:
                h.addConstr(hi - x[v] >= 0)
                h.addConstr(x[v] - lo >= 0)
            else: # elsewhere in any case
                h.addConstr(lo <= 0)
        load += cost / 1e9 * hi - cost / 1e9 * lo
    h.addConstr(load <= bound / 1e9 * (1 - 1e-9))
    h.minimize()
    need(h.getModelStatus() == highspy.HighsModelStatus.kOptimal, "HiGHS did not end")
    return -h.getInfo().objective_function_value / scale * (1 - 1e-6) # to its tolerance


def read_weights(r, lines):
    """Points that are too many for the devices; the bound."""
    p = r.p
    bound, weight = ps(re.fullmatch(f"nodes .* loads below {TIME} cannot collect all:", lines.pop(0))[1]), {}
    while lines[0].startswith("  "):
        m = re.fullmatch(r"  (.*) has (\d+)", lines.pop(0))
        weight[min(r.group[r.vertex(m[1])])] = int(m[2])
    all_of, most = groups(r), []
    for j in range(len(p.kinds)):
        line = lines.pop(0)
        m = re.match(r"(\S+): (no set .* has more than|at most) (\d+)", line)
        need(m and p.kind(m[1]) == j, f"no line for a kind: {line}")
        most.append(int(m[3]))
        here = [g for g in all_of if r.may[min(g)] >> j & 1]
        if len(here) <= SMALL:
            heaviest = max(sum(weight.get(min(g), 0) for g in s) for n in range(len(here) + 1)
                           for s in itertools.combinations(here, n) if p.load(j, set().union(*s)) < bound)
        elif m[2] == "at most":
            items = [(weight.get(min(g), 0), sum(p.time[j][v] for v in g)) for g in here]
            heaviest = filled([x for x in items if x[1] < bound], bound - 1)
        else:
            heaviest = heaviest_by_solver(p, j, here, weight, bound)
        need(heaviest <= most[j], f"a set weighs {heaviest}")
    m = re.fullmatch(rf"together at most (.*) = (\d+) of (\d+): no plan takes less than {TIME}", lines.pop(0))
    need(m and m[1] == " + ".join(f"{p.kinds[j][1]} * {x}" for j, x in enumerate(most)), "another sum")
    need(sum(p.kinds[j][1] * x for j, x in enumerate(most)) == int(m[2]) < int(m[3]), "not too much")
    need((int(m[3]), ps(m[4])) == (sum(weight.values()), bound), "another conclusion")
    r.seen.add("weights")
    return bound


def read_plain_holes(r, lines):
    """The pigeonhole that needs no threshold; the bound."""
    p = r.p
    m = re.fullmatch("longest node: (.*) takes " + TIME + " where it is fastest: no plan takes less", lines[0])
    if m:
        lines.pop(0)
        need(min(t[r.vertex(m[1])] for t in p.time) == ps(m[2]), "it takes something else")
        r.seen.add("longest")
        return ps(m[2])
    m = re.fullmatch(r"pigeonhole: of these (\d+) on (\d+) devices, (\d+) are on one device", lines.pop(0))
    need(m, "no pigeonhole")
    count, devices, most = int(m[1]), int(m[2]), int(m[3])
    need(devices == sum(n for _, n in p.kinds) and count > devices * (most - 1), "they need not be")
    who = []
    while lines[0].startswith("  "):
        m = re.fullmatch("  (.*) takes " + TIME + " at least", lines.pop(0))
        who.append(r.vertex(m[1]))
        need(min(t[who[-1]] for t in p.time) == ps(m[2]), f"{m[1]} takes something else")
    need(len(set(who)) == count, "not as many as is said")
    bound = sum(sorted(min(t[v] for t in p.time) for v in who)[:most])
    need(lines.pop(0).endswith(f"= {text_of(bound)} ms: no plan takes less"), "another sum")
    r.seen.add("plain pigeonhole")
    return bound


def up(x, y):
    return -(-x // y)


def read_trees(r, lines):
    """Trees of transfers; the bound.  What devices pay is tried for all sets of small graphs, else for some."""
    p = r.p
    m = re.fullmatch(r"trees of transfers, (\d+) in all, lead .* a multiple of (\d+) ps: " + TIME, lines.pop(0))
    need(m, "no trees")
    times, unit, mass = int(m[1]), int(m[2]), ps(m[3])
    m = re.fullmatch(f"the one that carries most .*, of (.*), takes {TIME} and carries (\\d+) times {unit} ps: "
                     rf"(\d+)/{ONE} of what {times} trees bring", lines.pop(0))
    need(m, "no fullest transfer")
    v, cost, phi = r.vertex(m[1]), ps(m[2]), int(m[4])
    need(any(abs(cost - c) <= 1 for pins, c in p.nets if v in pins), f"no transfer of {m[1]} takes {cost}")
    need(phi == cost * times * ONE // unit // int(m[3]), f"that is not {phi}")
    acc = [k for k in range(len(p.kinds)) if not p.free(k)]
    need(len(acc) == 1, "weights are those on the only accelerators")
    joined = reached(p, max(range(p.n), key=lambda v: p.time[acc[0]][v]))
    weight = [p.time[acc[0]][v] // unit * unit if v in joined else 0 for v in range(p.n)]
    need(sum(weight) == mass, f"nodes take {sum(weight)}, not {mass}")
    rng = random.Random(mass)
    for s in range(1 << p.n) if p.n <= SMALL else [rng.getrandbits(p.n) for _ in range(200)]:
        held = {v for v in range(p.n) if s >> v & 1}
        x = sum(weight[v] for v in held)
        need(p.transfers(acc[0], held) * ONE >= phi * min(x, mass - x), f"{held} does not pay that")
    m = re.fullmatch(rf"so a device that holds x of these {TIME}, half at most, pays transfers of {phi}/{ONE} of x; "
                     rf"one that holds more, of {phi}/{ONE} of what it does not hold",
                     lines.pop(0))
    need(m and ps(m[1]) == mass, "it pays something else")
    m = re.fullmatch(f"beside that all devices together have loads of {TIME}", lines.pop(0))
    need(m and ps(m[1]) == sum(p.time[acc[0]]) - mass, "not what is left")
    rest, n = ps(m[1]), p.kinds[acc[0]][1]
    need(lines.pop(0) == f"devices with loads of at most T hold at most {n} * 1 times T", "they hold something else")
    hosts, stay = 0, phi
    if len(p.kinds) > 1:
        m = re.fullmatch(rf"CPUs hold at most (\S+) times T, .* (\d+)/{ONE} is left for the others", lines.pop(0))
        need(m, "no line for CPUs")
        k = 1 - acc[0]
        hosts = p.kinds[k][1] * max(up(w * ONE, t) for w, t in zip(p.time[acc[0]], p.time[k]) if w)
        stay = int(m[2])
        need(share(m[1]) == hosts and stay <= phi, f"they hold {hosts}")
    m = re.fullmatch(f"so no plan takes less than {TIME}: if no device holds more than half, or if one does",
                     lines.pop(0))
    need(m, "no conclusion")
    large = min(mass, mass * (ONE + phi) // (2 * ONE))
    held = n * ONE + up(hosts * (ONE + phi), ONE)
    even = up((mass * (ONE + phi) // ONE + rest) * ONE, held)
    both = (mass * (ONE + phi + stay) // ONE + rest) * (ONE + phi)
    small = up(both // ONE * ONE, (held * (ONE + phi) + 2 * stay * ONE) // ONE + 1)
    need(ps(m[1]) <= min(large, max(even, small)), f"the bound is {min(large, max(even, small))}")
    r.seen.add("trees")
    return ps(m[1])


def reached(p, v):
    """The vertices that transfers which take time join with v."""
    seen, todo = {v}, [v]
    while todo:
        for e in p.nets_of[todo.pop()]:
            new = p.nets[e][0] - seen if p.nets[e][1] else set()
            seen |= new
            todo += new
    return seen


def text_of(x):
    return f"{x // 10 ** 9}.{x % 10 ** 9:09}".rstrip("0").rstrip(".")


def read_argument(problem, text):
    """(bound in ps or None for a search, kinds of arguments); Refuted if it does not hold.

    A search is about contiguous plans only, and says so; everything else holds for plans of any shape."""
    r, lines = Reader(problem), text.splitlines()
    m = lines and re.fullmatch(r"why no plan( among contiguous plans)? takes less than [\d.]+ \ws:", lines.pop(0))
    need(m and lines, "no argument")
    if lines[0].startswith("search:"):
        need(m[1], "a search for contiguous plans as an argument about all")
        return None, {"search"}
    need(not m[1], "an argument about all plans that is said to be about contiguous ones")
    m = re.fullmatch("suppose that a plan takes less than " + TIME + "; then, step by step,", lines[0])
    if m:
        lines.pop(0)
        r.below = ps(m[1])
        while lines[0].startswith("  "):
            r.step(lines.pop(0)[2:])
    m = re.fullmatch("so no plan takes less than " + TIME, lines[0])
    if m:
        lines.pop(0)
        need("none" in r.seen and ps(m[1]) == r.below, "nothing contradicts it")
        bound = r.below
    elif lines[0].startswith("pigeonhole: these"):
        bound = read_holes(r, lines)
    elif lines[0].startswith("nodes have points"):
        bound = read_weights(r, lines)
    elif lines[0].startswith("trees of transfers"):
        bound = read_trees(r, lines)
    elif lines[0].startswith(("pigeonhole", "longest")):
        bound = read_plain_holes(r, lines)
    else:
        if lines[0].startswith("average load"):
            lines.pop(0)
        bound = read_prices(r, lines)
        r.seen.add("average")
        if r.below and bound > r.below:
            need(lines and lines.pop(0) == f"that is not less than supposed: no plan takes less than "
                 f"{text_of(r.below)} ms", "another conclusion")
            bound = r.below
    need(not lines, f"more lines: {lines[:1]}")
    need(r.below is None or bound <= r.below, "the bound is above the threshold")
    return bound, r.seen


# ---- runs ----------------------------------------------------------------------------------------

def random_workload(seed):
    rng = random.Random(seed)
    n, dear = rng.randint(4, 7), rng.choice((2, 10, 40))
    nodes = [{"id": i, "name": f"n{i}", "supportedOnFpga": 1, "isBackwardNode": 0, "size": 1,
              "fpgaLatency": rng.randint(1, 4000) / 1000, "cpuLatency": rng.randint(1, 30000) / 1000}
             for i in range(n)]
    edges = []
    for i in range(n):
        cost = rng.randint(0, 1000 * dear) / 1000
        edges += [{"sourceId": i, "destId": j, "cost": cost} for j in range(i + 1, n) if rng.random() < 0.4]
    return {"maxSizePerFPGA": 1000, "maxFPGAs": rng.randint(1, 3), "maxCPUs": rng.choice((0, 1, 1, 2)),
            "nodes": nodes, "edges": edges}


def best_plan(p):
    """(value, device names) of the best plan of any shape."""
    devices = [(k, f"{name}{i}") for k, (name, n) in enumerate(p.kinds) for i in range(n)]
    best = None
    for plan in itertools.product(range(len(devices)), repeat=p.n):
        value = max(p.load(devices[d][0], {v for v in range(p.n) if plan[v] == d}) for d in set(plan))
        if best is None or value < best[0]:
            best = value, [devices[d][1] for d in plan]
    return best


def explain(path, tmp, *args):
    """(what is said, the bound as in the textual IR)."""
    done = subprocess.run([PCC, path, *args, "-q", "--explain-bound", "-o", tmp / "out.pir"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    if done.returncode:
        raise ValueError(f"{path.name} {' '.join(map(str, args))}: exit {done.returncode}: {done.stderr[:300]}")
    m = re.search(r"bound=(\S+)", (tmp / "out.pir").read_text())
    return done.stdout, m[1]


def exact(text):
    """ps of "12.5us"."""
    m = re.fullmatch(r"(\d+)(?:\.(\d+))?(ps|ns|us|ms|s)", text)
    scale = {"ps": 1, "ns": 10 ** 3, "us": 10 ** 6, "ms": 10 ** 9, "s": 10 ** 12}[m[3]]
    return int(m[1]) * scale + (int(m[2]) * scale // 10 ** len(m[2]) if m[2] else 0)


def changed(text, rng):
    """The text with one number of its argument made a tenth larger."""
    at = [m for m in re.finditer(r"\d+(?:\.\d+)?(?= ms)", text) if m.start() > text.index("\n") and float(m[0])]
    m = rng.choice(at)
    return text[:m.start()] + text_of(ps(m[0]) * 11 // 10 + 1) + text[m.end():]


def check(problem, text, bound, value, what, seen, rng):
    """Reads an argument, then changed ones; returns how many of these were refused, of how many."""
    said, kinds = read_argument(problem, text)
    seen |= kinds
    need(said is None or said == exact(bound), f"the plan says {bound}")
    need(exact(bound) <= value, f"{bound} is more than the best plan's {value}")
    refused = tried = 0
    for _ in range(3 if said is not None and problem.n <= SMALL else 0):
        tried += 1
        try:
            read_argument(problem, changed(text, rng))
        except Refuted:
            refused += 1
    return refused, tried


def small(tmp, seen):
    refused = tried = equal = 0
    rng = random.Random(1)
    for seed in range(1, 61):
        w = random_workload(seed)
        path, plan = tmp / "w.json", tmp / "plan.txt"
        path.write_text(json.dumps(w))
        p = Problem(w)
        value, devices = best_plan(p)
        plan.write_text("".join(f"^n{v}$={d}\n" for v, d in enumerate(devices)))
        for args in ["-p", f"plan{{from={plan}}}"], ["-p", "dpl-place"], ["-p", "greedy-place"], ["-p", "dp-place"]:
            text, bound = explain(path, tmp, *args)
            best = value if "plan" in args[1] else BOUNDLESS
            try:
                a, b = check(p, text, bound, best, args, seen, rng)
            except Refuted as e:
                raise Refuted(f"workload {seed}, {args[1]}: {e}\n{text}") from e
            refused, tried = refused + a, tried + b
            equal += args[1].startswith("plan") and exact(bound) == value
    print(f"small workloads: {equal} of 60 bounds are the optimum, {refused} of {tried} changed texts refused")
    need(equal >= 15, "the bounds say too little")
    need(refused * 20 >= tried * 19, "changed texts are believed")


def shared(tmp, seen):
    cases = [(f"{name}_inference", "dpl-place") for name in ("op_bert3", "op_resnet50", "layer_resnet50")]
    moves = 300000 if SANITIZED else 3000000
    cases += [(f"layer_gnmt_{kind}", f"auto-place{{gain=0:moves={moves}}}") for kind in ("inference", "training")]
    for name, planner in cases[::1 + SANITIZED]:
        path = extras.shared(f"workloads/throughput/{name}.json")
        text, bound = explain(path, tmp, "-p", f"contract{{trivial=false}},{planner}")
        try:
            check(Problem(json.loads(path.read_text())), text, bound, BOUNDLESS, name, seen, None)
        except Refuted as e:
            raise Refuted(f"{name}: {e}\n{text}") from e
        print(f"{name}: {bound} holds")


def main():
    seen = set()
    try:
        subprocess.run([PCC, "--version"], stdout=subprocess.DEVNULL, check=True)
    except OSError:
        print("skipped: no pcc")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        try:
            if extras.extra():
                shared(Path(folder), seen)
                return 0
            small(Path(folder), seen)
            missing = {"deny", "set", "join", "none", "average", "prices", "pigeonhole", "longest",
                       "search", "trees", "weights"} - seen
            need(not missing, f"no argument of these sorts was seen: {sorted(missing)}")
        except (Refuted, ValueError) as e:
            print(f"FAIL: {e}")
            return 1
    print("arguments seen:", ", ".join(sorted(seen)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
