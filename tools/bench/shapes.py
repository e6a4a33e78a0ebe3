#!/usr/bin/env python3
"""Shapes of graphs that are easy to make slow: one node that many read, many nodes that one reads, two layers with all
edges between them, a ladder, a comb, a star of stars, a chain, many short chains, with 3,000, 30,000 and 300,000 edges,
over four accelerators and a CPU; and two of them where nothing takes any time.  Exit code 0: the CPU time grows with
the edges by an exponent of at most 1.2 from 30,000 to 300,000, but for what a planner may spend on the search of any
graph.

    shapes.py [PLANNER[@OBJECTIVE] ...]     default: dp-place; e.g. portfolio-place@makespan
    shapes.py lists                         all list planners; the time of a run without a planner is taken off"""
import json
import math
import random
import sys
import tempfile

from common import PCC, Run, table, verdict

SIZES = (3_000, 30_000, 300_000)
LISTS = ("dfs-place", "order-place", "celeritas-place", "heft-place", "m-topo-place", "m-etf-place", "m-sct-place")
# CPU seconds below these count as these when an exponent is worked out.  SEARCH: for planners that search, which may
# take so long on any graph; LEAST: for list planners, which do not search, but whose data outgrow the caches within
# that time
SEARCH, LEAST = 2.0, 0.5


# Each of these functions returns (number of nodes, edges as (from, to)) of a graph of about e edges.

def fan(e):
    """One node that all others read."""
    return e + 1, [(0, i) for i in range(1, e + 1)]


def mirror(e):
    """One node that reads all others."""
    return e + 1, [(i, e) for i in range(e)]


def layers(e):
    """Two layers with all edges between them."""
    n = math.isqrt(e)
    return 2 * n, [(i, n + j) for i in range(n) for j in range(n)]


def ladder(e):
    """Two chains a and b; node i + 1 of b also reads node i of a."""
    n = e // 3
    return 2 * n + 2, [x for i in range(n) for x in ((2 * i, 2 * i + 2), (2 * i + 1, 2 * i + 3), (2 * i, 2 * i + 3))]


def comb(e):
    """A chain, of which each node but the last has one more reader."""
    n = e // 2
    return 2 * n + 1, [x for i in range(n) for x in ((i, i + 1), (i, n + 1 + i))]


def stars(e):
    """A star of stars."""
    n = math.isqrt(e)
    return 1 + n + n * n, [x for i in range(n) for x in [(0, 1 + i)] + [(1 + i, 1 + n + i * n + j) for j in range(n)]]


def chain(e):
    return e + 1, [(i, i + 1) for i in range(e)]


def chains(e):
    """Many chains of three nodes."""
    n = e // 2
    return 3 * n, [x for i in range(n) for x in ((3 * i, 3 * i + 1), (3 * i + 1, 3 * i + 2))]


# name: function for its nodes and edges, factor of all times and transfers
SHAPES = {**{shape.__name__: (shape, 1) for shape in (fan, mirror, layers, ladder, comb, stars, chain, chains)},
          "layers_of_nothing": (layers, 0), "chains_of_nothing": (chains, 0)}


def workload(shape, edges, path):
    """Writes a workload of the shape of this name with about `edges` edges and random times and sizes."""
    draw = random.Random(edges)
    graph, factor = SHAPES[shape]
    nodes, pairs = graph(edges)
    net = [factor * draw.randrange(1, 10) for _ in range(nodes)]
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"maxSizePerFPGA": 1e9, "maxFPGAs": 4, "maxCPUs": 1,
                   "nodes": [{"id": i, "supportedOnFpga": 1, "cpuLatency": factor * draw.randrange(10, 1000),
                              "fpgaLatency": factor * draw.randrange(1, 100), "size": draw.randrange(1000)}
                             for i in range(nodes)],
                   "edges": [{"sourceId": a, "destId": b, "cost": net[a]} for a, b in pairs]}, f)


def spend(path, planner):
    """Runs pcc on a workload with the planner "NAME" or "NAME@OBJECTIVE". Returns (CPU seconds, for a list planner less
    those of a run without a planner; MiB of memory; SEARCH or LEAST)."""
    name, _, objective = planner.partition("@")
    if name in LISTS:
        goal = ["--objective=makespan"]
        run = Run([PCC, path, "-p", name + "{best-effort=true}", "-q", *goal]).need()
        return run.cpu - Run([PCC, path, "-p", "contract", "-q", *goal]).need().cpu, run.mib, LEAST
    run = Run([PCC, path, "-p", name, "-q", *([f"--objective={objective}"] if objective else [])]).need()
    return run.cpu, run.mib, SEARCH


def main():
    if "--help" in sys.argv:
        print(__doc__)
        return 0
    rows, ok = [], True
    planners = sys.argv[1:] or ["dp-place"]
    with tempfile.TemporaryDirectory() as tmp:
        for planner in LISTS if planners == ["lists"] else planners:
            for shape in SHAPES:
                spent = []
                for n in SIZES:
                    workload(shape, n, f"{tmp}/w.json")
                    cpu, mib, least = spend(f"{tmp}/w.json", planner)
                    spent.append(cpu)
                # from 30,000 to 300,000 edges, ten times as many
                power = math.log10(max(spent[2], least) / max(spent[1], least))
                good = power <= 1.2
                ok = ok and good
                print(planner, shape, *(f"{s:.2f}" for s in spent), f"{power:.2f}", flush=True)
                rows.append([planner, shape, *(f"{s:.2f}" for s in spent), f"{power:.2f}", f"{mib:.0f}",
                             "" if good else "slow"])
    table(["planner", "shape", *(f"{n:,} s" for n in SIZES), "exponent", "MiB", ""], rows)
    return verdict(ok, "time grows with the edges by an exponent of at most 1.2")


if __name__ == "__main__":
    sys.exit(main())
