#!/usr/bin/env python3
"""Graphs where every node is near every other and transfers are dear: butterflies, and values that four of as many
nodes read, drawn at random.  What anneal-place finds, and its gap, on two and four devices.

usage: expanders.py [--large]      --large: 5,000 values, too (a minute for each row)

Exit code 0: gaps of butterflies of at most 10 %, others at most as in RANDOM (passes/bounds/tree_bound.c says why not
less)."""
import json
import random
import sys
import tempfile
from pathlib import Path

from common import PCC, Run, facts_of, help_or_go, table, verdict

RANDOM = {(2, .5): 12, (2, 1): 21, (4, .5): 20, (4, 1): 31} # devices, ms of a transfer (a node: 1 ms): percent
DEGREE = 4


def butterfly(levels):
    """Number of nodes, and edges: levels of 2^levels rows; a node of level l + 1 reads the nodes of level l in its own
    row and in the row whose number differs in bit l."""
    n = 1 << levels
    return n * (levels + 1), [(k * n + i, (k + 1) * n + j) for k in range(levels) for i in range(n)
                              for j in (i, i ^ 1 << k)]


def bipartite(n, seed):
    """Number of nodes, and edges: n nodes whose values are each read by DEGREE of n others, which read as many (fewer
    where draws meet)."""
    rng, edges = random.Random(seed), set()
    for _ in range(DEGREE):
        order = list(range(n))
        rng.shuffle(order)
        edges |= {(u, n + i) for i, u in enumerate(order)}
    return 2 * n, sorted(edges)


def row(name, graph, devices, cost, most, path):
    """Places a graph (number of nodes, edges) of equal nodes; each edge costs `cost`, and the workload is written to
    `path`. Returns the cells of its row, and whether the plan is proven to be within `most` % of the optimum."""
    n, edges = graph
    nodes = [{"id": v, "supportedOnFpga": 1, "cpuLatency": 1, "fpgaLatency": 1, "isBackwardNode": 0, "size": 1}
             for v in range(n)]
    path.write_text(json.dumps({"maxSizePerFPGA": 10 * n, "maxFPGAs": devices, "maxCPUs": 0, "nodes": nodes,
                                "edges": [{"sourceId": u, "destId": v, "cost": cost} for u, v in edges]}))
    run = Run([PCC, path, "-p", "anneal-place", "-q", "--emit", "ir"]).need()
    _, value, bound = facts_of(run.out)
    gap = 100 * (1 - bound / value)
    return [name, devices, cost, f"{value:.1f}", f"{bound:.1f}", f"{gap:.1f}", most, f"{run.cpu:.1f}"], gap <= most


def main():
    help_or_go()
    sizes = [500, 5000] if "--large" in sys.argv[1:] else [500]
    rows = []
    with tempfile.TemporaryDirectory() as tmp:
        for devices, cost in RANDOM:
            for levels in (5, 7):
                rows.append(row(f"butterfly {1 << levels}", butterfly(levels), devices, cost, 10, Path(tmp) / "w.json"))
            for n in sizes:
                rows.append(row(f"bipartite {n}", bipartite(n, 1), devices, cost, RANDOM[devices, cost],
                                Path(tmp) / "w.json"))
    table(["graph", "devices", "transfer ms", "ms", "bound", "gap %", "at most", "cpu s"], [r for r, _ in rows])
    verdict(all(good for _, good in rows), f"{len(rows)} gaps")


if __name__ == "__main__":
    main()
