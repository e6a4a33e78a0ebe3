#!/usr/bin/env python3
"""Huge graphs: what dp-place reaches, beside the naive cut, and what it takes.

usage: huge.py [--most N] [--seed N] [--only PATTERN] [--pass STEPS]

A row for random layers of 8 nodes (pcc-gen random-layers) of 1,000, 10,000, 100,000, 300,000 and 1,000,000 nodes,
and for other shapes of --most (1,000,000) nodes at most: one chain, one layer of a tenth of them between two nodes,
trees towards and away from the root, layers of 100, and components of ten.  8 accelerators and a CPU.

  naive     cut by node number into 8 pieces of equal work, transfers included
  gap       (value - bound) / value
  cpu s     of a whole run; s read, MiB read: of one that only reads the workload
  B/node    peak memory beyond that of reading

Ends with 1 if a plan is worse than the naive cut, a gap of random layers is above 1 % (2 % above 300,000 nodes), or a
run takes more beyond reading than 20 s of CPU or, from 1,000,000 nodes, 1000 bytes a node.  --pass: another planner,
auto-place say."""
import argparse
import fnmatch
import functools
import random
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # tests run this script: its imports leave nothing in the source
from common import PCC, PCC_GEN, Run, cpu_limit, facts_of, table, verdict  # noqa: E402

DEVICES, CPU, BYTES = 8, cpu_limit(20), 1000


# Edges (from, to) of graphs of n nodes, numbered from 0; `rng` draws them.

def chain(n, _):
    return [(i, i + 1) for i in range(n - 1)]


def wide(n, _):
    """One layer, with a node before all and a node behind all."""
    return [(0, i) for i in range(1, n - 1)] + [(i, n - 1) for i in range(1, n - 1)]


def tree_in(n, rng):
    """Each node but the last, the root, has one reader, shortly behind it."""
    return [(i, min(n - 1, i + 1 + rng.randrange(1 + min(n, 1000)))) for i in range(n - 1)]


def tree_out(n, rng):
    """Each node but the first, the root, reads one node, shortly before it."""
    return [(rng.randrange(max(0, i - 1000), i), i) for i in range(1, n)]


def components(n, rng):
    """Trees of ten nodes: each but the first of ten reads one of the nodes before it."""
    return [(i - 1 - rng.randrange(i % 10), i) for i in range(n) if i % 10]


# name: it has --most nodes divided by this, function for its edges
SHAPES = {"chain": (1, chain), "wide": (10, wide), "tree in": (1, tree_in), "tree out": (1, tree_out),
          "components": (1, components)}


def write(path, n, edges, rng):
    """Writes a workload of n nodes and these edges, with times and transfers as those of random layers."""
    us = [rng.randrange(1, 1001) for _ in range(n)]
    cost = [rng.randrange(301) for _ in range(n)]
    nodes = (f'{{"id":{i + 1},"cpuLatency":{t / 100},"fpgaLatency":{t / 1000}}}' for i, t in enumerate(us))
    arcs = (f'{{"sourceId":{u + 1},"destId":{v + 1},"cost":{cost[u] / 1000}}}'
            for u, v in edges)
    head = f'"maxSizePerFPGA":{n},"maxFPGAs":{DEVICES},"maxCPUs":1'
    path.write_text(f'{{{head},"nodes":[{",".join(nodes)}],"edges":[{",".join(arcs)}]}}')


def naive(path):
    """The number of nodes, and the largest load, ms, of the cut by node number (1 .. n) into pieces of equal work."""
    text = path.read_text()
    us = [round(float(t) * 1000) for t in re.findall(r'"fpgaLatency":([\d.]+)', text)]
    total, done, device, load = sum(us), 0, [], [0] * DEVICES
    for t in us: # a node goes to the piece that holds the middle of its work
        device.append(min(DEVICES - 1, (2 * done + t) * DEVICES // (2 * total)))
        done += t
        load[device[-1]] += t
    readers, cost = {}, {} # of nodes that other devices read
    for u, v, c in re.findall(r'"sourceId":(\d+),"destId":(\d+),"cost":([\d.]+)', text):
        if device[int(u) - 1] != device[int(v) - 1]:
            cost[u] = round(float(c) * 1000)
            readers.setdefault(u, set()).add(device[int(v) - 1])
    for u, devices in readers.items(): # the device that sends and each that receives pay
        for d in {device[int(u) - 1], *devices}:
            load[d] += cost[u]
    return len(us), max(load) / 1000


def measure(name, path, steps, tmp):
    """Plans a model and returns a row of the table, and the list of limits that it breaks."""
    out = Path(tmp) / "plan.pir"
    read = Run([PCC, path, "-q"]).need()
    run = Run([PCC, path, "-p", steps, "-q", "-o", out]).need()
    with open(out, encoding="utf-8") as f:
        _, ms, bound = facts_of(next(line for line in f if line.startswith("plan ")))
    (nodes, cut), wrong = naive(path), []
    gap, more = 100 * (ms - bound) / ms, (run.mib - read.mib) * 2 ** 20 / nodes
    if ms > cut * (1 + 1e-9):
        wrong.append(f"{ms} ms, the naive cut takes {cut}")
    if name == "random layers" and gap > (1 if nodes <= 300000 else 2):
        wrong.append(f"gap of {gap:.2f} %")
    if run.cpu - read.cpu > CPU:
        wrong.append(f"{run.cpu - read.cpu:.1f} s beyond reading")
    if nodes >= 1000000 and more > BYTES:
        wrong.append(f"{more:.0f} bytes a node beyond reading")
    row = [name, nodes, f"{ms:.6g}", f"{cut:.6g}", f"{bound:.6g}", f"{gap:.3f}", f"{run.cpu:.2f}", f"{read.cpu:.2f}",
           f"{run.mib:.0f}", f"{read.mib:.0f}", f"{more:.0f}"]
    return row, [f"{name}, {nodes} nodes: {w}" for w in wrong]


def graphs(args, folder):
    """Yields (name, function) of each graph. The function writes the graph to a file, the same for all, and returns its
    path."""
    path = folder / "graph.json"

    def layers(n, width):
        """Writes random layers."""
        Run([PCC_GEN, "random-layers", "--nodes", n, "--width", width, "--devices", DEVICES, "--seed", args.seed,
             "-o", path]).need()
        return path

    for n in (1000, 10000, 100000, 300000, 1000000):
        if n <= args.most:
            yield "random layers", functools.partial(layers, n, 8)
    yield "layers of 100", functools.partial(layers, args.most, 100)

    def shape(divisor, edges):
        """Writes a graph of SHAPES, which says `divisor` and `edges`."""
        n, rng = args.most // divisor, random.Random(args.seed)
        write(path, n, edges(n, rng), rng)
        return path

    for name, (divisor, edges) in SHAPES.items():
        yield name, functools.partial(shape, divisor, edges)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=1000000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="*", help="names of graphs, as a pattern")
    parser.add_argument("--pass", dest="steps", default="dp-place")
    args = parser.parse_args()
    rows, wrong = [], []
    with tempfile.TemporaryDirectory() as tmp:
        for name, make in graphs(args, Path(tmp)):
            if fnmatch.fnmatch(name, args.only):
                row, bad = measure(name, make(), args.steps, tmp)
                rows.append(row)
                wrong += bad
    table(["graph", "nodes", "ms", "naive", "bound", "gap %", "cpu s", "s read", "MiB", "MiB read", "B/node"], rows)
    for line in wrong:
        print(f"FAILED: {line}")
    verdict(not wrong, f"{len(rows)} graphs, {len(wrong)} complaints")


if __name__ == "__main__":
    main()
