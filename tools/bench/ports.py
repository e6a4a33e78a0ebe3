"""The makespan of a placement where transfers wait for the ways out and in of devices (ports), and each device takes
the ready node with the longest way to the end: worked out apart from pcc, to tell why list schedules of other programs
take another time than its own (`pcc-bench schedule`)."""
import heapq
import json
import types


def in_kahns_order(d):
    """A workload's nodes in Kahn's order, and {(place of the maker, place of the reader): ps} of its edges."""
    nodes = {n["id"]: n for n in d["nodes"]}
    succ, missing = {v: [] for v in nodes}, dict.fromkeys(nodes, 0)
    for e in d["edges"]:
        succ[e["sourceId"]].append(e["destId"])
        missing[e["destId"]] += 1
    row = [v for v in nodes if not missing[v]]
    for v in row:
        for s in sorted(succ[v]):
            missing[s] -= 1
            if not missing[s]:
                row.append(s)
    at = {v: i for i, v in enumerate(row)}
    edges = {(at[e["sourceId"]], at[e["destId"]]): round(e["cost"] * 1e9) for e in d["edges"]}
    return [nodes[v] for v in row], edges


def graph_of(path):
    """Returns the graph of a workload, with nodes in Kahn's order: their names, ps, predecessors and successors; ps of
    edges; number of devices."""
    d = json.loads(path.read_text(encoding="utf-8"))
    row, edges = in_kahns_order(d)
    g = types.SimpleNamespace(n=len(row), edges=edges, devices=d["maxFPGAs"], names=[n["name"] for n in row],
                              time=[round(n["fpgaLatency"] * 1e9) for n in row],
                              succ=[[] for _ in row], pred=[[] for _ in row])
    for a, b in sorted(edges):
        g.succ[a].append(b)
        g.pred[b].append(a)
    return g


def levels_of(g, home, placed):
    """[node] its level: ps from its beginning to the end of the longest path behind it. home, placed: as for
    run_with_ports()."""
    level = list(g.time)
    for v in reversed(range(g.n)):
        for s in g.succ[v]:
            transfer = 0 if placed and home[s] == home[v] else g.edges[v, s]
            level[v] = max(level[v], g.time[v] + transfer + level[s])
    return level


def run_with_ports(g, home, placed):
    """ms that a run takes in which each device sends at most one value at a time, and receives at most one. Of the
    nodes that are ready on a device, the one with the highest level runs first. home: [node] its device. placed: only
    edges between devices count in the levels, else all edges."""
    level, missing = levels_of(g, home, placed), [len(p) for p in g.pred]
    ready = [[] for _ in range(g.devices)]  # [device] a heap of (- level, node)
    # [device] it runs a node; sends; receives
    busy, out, into = [False] * g.devices, [False] * g.devices, [False] * g.devices
    now = 0
    ends = []  # a heap of (time, 0: the node v on d ends, 1: the transfer of v to d ends, v, d)
    requests = []  # transfers that wait: (v, d), in the order in which they began to wait

    def arrive(v, d):
        """Counts that the value v is on device d, where nodes that lack nothing more become ready."""
        for s in g.succ[v]:
            if home[s] == d:
                missing[s] -= 1
                if not missing[s]:
                    heapq.heappush(ready[d], (-level[s], s))

    for v in range(g.n):
        if not missing[v]:
            heapq.heappush(ready[home[v]], (-level[v], v))
    while True:
        while ends and ends[0][0] == now:
            _, kind, v, d = heapq.heappop(ends)
            if kind:
                out[home[v]] = into[d] = False
            else:
                busy[d] = False
                requests += [(v, to) for to in sorted({home[s] for s in g.succ[v]} - {d})]
            arrive(v, d)
        for v, d in list(requests):
            if not out[home[v]] and not into[d]:
                requests.remove((v, d))
                out[home[v]] = into[d] = True
                # edges to one device may differ: the value goes there once
                heapq.heappush(ends, (now + max(g.edges[v, s] for s in g.succ[v]), 1, v, d))
        for d in range(g.devices):
            if ready[d] and not busy[d]:
                v = heapq.heappop(ready[d])[1]
                busy[d] = True
                heapq.heappush(ends, (now + g.time[v], 0, v, d))
        if not ends:
            return now / 1e9
        now = ends[0][0]
