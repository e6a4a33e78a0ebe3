"""Latency of a split of a workload: one sample alone, as the placement paper (section 7, q = 1) defines it.

Each accelerator fetches all that it needs, works, and then sends all that others need; a set of nodes that is
not contiguous runs in pieces, by the number of times that a path has come back into it.  Nodes on CPUs run when
their operands are there.  Written apart from pcc, to check its plans by what was published."""


def latency(workload, split):
    """ms for one sample, as the paper counts it. split: the accelerators' sets of node ids; all other nodes are on
    CPUs. An accelerator runs its nodes in pieces: a piece receives all that it needs, computes, and then sends its
    results; pieces do not wait for their accelerator."""
    node = {n["id"]: n for n in workload["nodes"]}
    succ, pred, cost = {v: set() for v in node}, {v: set() for v in node}, {}
    for e in workload["edges"]:
        u, v = e["sourceId"], e["destId"]
        succ[u].add(v)
        pred[v].add(u)
        cost[u] = e["cost"]
    piece = piece_of_each(topological(succ, pred), pred, split)
    pieces = {} # piece: its nodes
    for v, p in piece.items():
        pieces.setdefault(p, set()).add(v)
    after = {p: {piece[w] for v in s for w in succ[v]} - {p} for p, s in pieces.items()}
    before = {p: {piece[u] for v in s for u in pred[v]} - {p} for p, s in pieces.items()}
    end = {}
    for p in topological(after, before): # when each piece ends, in an order in which pieces can run
        s = pieces[p]
        outside = {u for v in s for u in pred[v]} - s
        end[p] = max([0] + [end[piece[u]] for u in outside])
        if p[0] == "cpu":
            end[p] += node[p[1]]["cpuLatency"]
        else:
            end[p] += sum(cost[u] for u in outside) + sum(node[v]["fpgaLatency"] for v in s)
            end[p] += sum(cost[v] for v in s if succ[v] - s)
    return max(end.values(), default=0)


def piece_of_each(order, pred, split):
    """{node: its piece}; a piece is (number of the accelerator, level) or, for each node of a CPU, ("cpu", node).
    order: all nodes, each behind those that it reads (pred)."""
    piece = {v: ("cpu", v) for v in order}
    for number, members in enumerate(split):
        level = {} # node: the most times that a path to it has come to the accelerator from elsewhere
        for v in order:
            if v in members:
                level[v] = max([1] + [level[u] + (u not in members) for u in pred[v]])
                piece[v] = (number, level[v])
            else:
                level[v] = max([0] + [level[u] for u in pred[v]])
    return piece


def topological(succ, pred):
    """The keys of `succ` in an order in which each comes behind its predecessors. Raises ValueError if there is
    none."""
    wait = {v: len(p) for v, p in pred.items()}
    ready = [v for v, n in wait.items() if n == 0]
    for v in ready:
        for w in succ[v]:
            wait[w] -= 1
            if wait[w] == 0:
                ready.append(w)
    if len(ready) != len(succ):
        raise ValueError("the split's pieces wait for each other in a circle")
    return ready
