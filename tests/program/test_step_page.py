#!/usr/bin/env python3
"""Makespans and memory, reckoned once more from ir/exec/makespan/step.md alone, where a published way is followed.

usage: test_step_page.py   (environment: PCC)

Random graphs with random plans, over three accelerators and a CPU: the makespan under --contention=baechi, and the
bytes of each device by --memory-model=sum and paper, with --optimizer's copies of the weights.

Exit: 0 pass, 1 fail."""
import heapq
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
DEVICES = ("acc0", "acc1", "acc2", "cpu0")
CASES = 20 if SANITIZED else 80


def is_host(device):
    return device == "cpu0"


class Case:
    """values: [maker or None, kB, whether it is an output of the model]; bytes of weights; the latency of links, us;
    nodes; the device of each."""

    def __init__(self, r):
        n, self.training, self.free = r.randint(1, 10), r.random() < 0.5, r.random() < 0.3
        first_back = r.randint(0, n) if self.training else n
        self.late = r.choice((0, 1, 3))
        self.value = [[None, r.randint(0, 9), False] for _ in range(r.randint(1, 2))]
        self.weight = [4 * r.randint(1, 9) for _ in range(r.randint(0, 3))]
        self.node = [self.draw(r, v, v >= first_back) for v in range(n)]
        self.training = any(x["back"] for x in self.node)
        read = {x for node in self.node for x in node["ins"]}
        for x, value in enumerate(self.value):
            value[2] = value[0] is not None and (x not in read or r.random() < 0.2)
        self.dev = [r.choice(DEVICES if r.random() < 0.8 else DEVICES[:2]) for _ in range(n)]

    def draw(self, r, v, back):
        known = range(len(self.value))
        ins = r.sample(known, min(len(known), r.choice((1, 1, 1, 2, 3))))
        weights = r.sample(range(len(self.weight)), min(len(self.weight), r.choice((0, 0, 1, 2))))
        small = len(ins) == 1 and not weights and r.random() < 0.7
        outs = []
        for _ in range(1 if small else r.choice((1, 1, 2))):
            outs.append(len(self.value))
            self.value.append([v, r.randint(0, 9), False])
        made = sum(self.value[x][1] for x in outs)
        return {"op": r.choice(("Relu", "Identity", "Sin")) if small else "Concat", "ins": ins, "weights": weights,
                "outs": outs, "back": back, "us": r.choice((0, 1, 2, 5, 9)),
                "own": max(0, made + r.choice((0, 0, 3, -1)))}

    def text(self):
        size = lambda x: f"f32[1] !bytes={self.value[x][1]}kB !elems=1k"
        out = ["cluster" + " io_free" * self.free, f"class acc x3 link=1GB/s,{self.late}us"]
        out += ["class cpu host", "costs 2", "graph {"]
        out += [f"  in %v{x} : {size(x)}" for x, value in enumerate(self.value) if value[0] is None]
        out += [f"  init %w{i} : f32[{w // 4}] = [{', '.join('1' * (w // 4))}] !bytes={w}B"
                for i, w in enumerate(self.weight)]
        for v, n in enumerate(self.node):
            reads = ", ".join([f"%v{x}" for x in n["ins"]] + [f"%w{i}" for i in n["weights"]])
            made, sizes = ", ".join(f"%v{x}" for x in n["outs"]), ", ".join(map(size, n["outs"]))
            out.append(f"  {made} = {n['op']}({reads})" + " {axis=0}" * (n["op"] == "Concat") + f" : {sizes} "
                       f'name="n{v}" !time=[{n["us"]}us,{2 * n["us"]}us] !own={n["own"]}kB' + " !backward" * n["back"])
        gone = [f"%v{x}" for x, value in enumerate(self.value) if value[2]]
        return "\n".join([*out, f"  out {', '.join(gone)}" if gone else "", "}"]) + "\n"

    def plan(self):
        each = [{"name": d, "nodes": [f"n{v}" for v, at in enumerate(self.dev) if at == d]} for d in DEVICES]
        return {"pcc_plan": 1, "planner": "p", "ordered": True, "devices": each,
                "objective": {"name": "makespan", "value_s": 1, "status": "heuristic"}}


class Booked:
    """Channels booked ahead: nodes are taken by the time at which they are ready, and all hops of a taken node are
    booked at once, behind all that is booked.  Ties by the place in the plan, device by device."""

    def __init__(self, c):
        self.c, self.end, self.free, self.channel, self.heap = c, 0, {}, {}, []
        self.rank = {v: i for i, v in enumerate(sorted(range(len(c.node)), key=lambda v: (c.dev[v], v)))}
        self.ready = [0] * len(c.node)
        here = lambda x, v: c.value[x][0] is None and (c.free or is_host(c.dev[v]))
        self.left = [sum(not here(x, v) for x in n["ins"]) for v, n in enumerate(c.node)]

    def push(self, v):
        heapq.heappush(self.heap, (self.ready[v], self.rank[v], v))

    def arrive(self, x, device, now):
        for v, n in enumerate(self.c.node):
            if x in n["ins"] and self.c.dev[v] == device:
                self.ready[v], self.left[v] = max(self.ready[v], now), self.left[v] - 1
                if not self.left[v]:
                    self.push(v)

    def hop(self, x, sender, receiver, start):
        time = self.c.value[x][1] + self.c.late
        for d in (sender, receiver):
            if not is_host(d):
                start = max(start, self.channel.get(d, 0))
                self.channel[d] = start + time
        self.end = max(self.end, start + time)
        return start + time

    def readers(self, x):
        return list(dict.fromkeys(self.c.dev[v] for v, n in enumerate(self.c.node) if x in n["ins"]))

    def makespan(self):
        c = self.c
        for v in range(len(c.node)):
            if not self.left[v]:
                self.push(v)
        for x, value in enumerate(c.value):
            for d in self.readers(x) if value[0] is None and not c.free else ():
                if not is_host(d):
                    self.arrive(x, d, self.hop(x, "cpu0", d, 0))
        while self.heap:
            ready, _, v = heapq.heappop(self.heap)
            d = c.dev[v]
            end = max(ready, self.free.get(d, 0)) + c.node[v]["us"] * (1 + is_host(d))
            self.free[d], self.end = end, max(self.end, end)
            for x in c.node[v]["outs"]:
                to = self.readers(x)
                for r in to:
                    self.arrive(x, r, end if r == d else self.hop(x, d, r, end))
                if c.value[x][2] and not c.free and "cpu0" not in [*to, d]:
                    self.hop(x, d, "cpu0", end)
        check(not any(self.left), "nodes wait for ever")
        return self.end


def needs(c, d, model, copies):
    """Bytes of device d."""
    mine = [v for v, at in enumerate(c.dev) if at == d]
    weights = sum(c.weight[w] for w in {w for v in mine for w in c.node[v]["weights"]})
    stays = weights * (1 + copies * c.training)
    if model == "sum":
        return stays + sum(1000 * c.node[v]["own"] for v in mine)
    runs, reads = 0, set()
    for v in mine:
        n, x = c.node[v], c.node[v]["ins"][0]
        made = sum(c.value[y][1] for y in n["outs"])
        beside, maker = max(0, n["own"] - made), c.value[x][0]
        if (n["op"] in ("Relu", "Identity") and maker is not None and c.dev[maker] == d and not c.value[x][2]
                and sum(x in m["ins"] for m in c.node) == 1):
            made = 0  # it writes over its operand
        stays += 1000 * made * (c.training and not n["back"])
        runs = max(runs, beside + made)
        reads |= {x for x in n["ins"] if (not c.free if c.value[x][0] is None else c.dev[c.value[x][0]] != d)}
    return stays + weights * c.training + 1000 * (runs + sum(c.value[x][1] for x in reads))


def one_case(seed, tmp):
    r = random.Random(seed)
    c, model, copies = Case(r), ("sum", "paper")[seed % 2], r.choice((0, 1, 2))
    (tmp / "g.pir").write_text(c.text())
    (tmp / "plan.json").write_text(json.dumps(c.plan()))
    done = subprocess.run([PCC, tmp / "g.pir", "-p", f"plan{{from={tmp / 'plan.json'}}}", "--objective=makespan",
                           "--network=direct", "--contention=baechi", f"--memory-model={model}",
                           f"--optimizer={copies}", "-q", "--emit=json"], capture_output=True, text=True, check=False)
    if not check(done.returncode == 0, f"seed {seed}: exit {done.returncode}: {done.stderr}"):
        return
    said = json.loads(done.stdout)
    us, mine = said["objective"]["value_s"] * 1e6, Booked(c).makespan()
    check(abs(us - mine) < 1e-7, f"seed {seed}: pcc says {us} us, the page {mine}\n{c.text()}{c.dev}")
    for d in said["devices"]:
        want = needs(c, d["name"], model, copies)
        check(d["used_bytes"] == want, f"seed {seed}, {model}: {d['name']} needs {want} B, pcc says {d['used_bytes']}")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for seed in range(CASES):
            one_case(seed, Path(tmp))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
