#!/usr/bin/env python3
"""More memory, more devices, more steps or more time never give a worse plan.

usage: monotone.py [--graphs 40] [--seed 1] [--only PLANNER] [--step memory|devices|states|time] [--keep FOLDER]

Random graphs of 6 to 14 nodes and of 40 to 80, and the layer profiles of the shared material: a planner plans each
again and again, each time with more: memory of each device (by 12, 25, 50 and 100 per cent, then no limit), devices of
a class (one more each time), --max-states (10, 100, ... 1,000,000), --time-limit (10 ms, 50 ms, 250 ms, 1.25 s; this
alone depends on the machine). A plan that takes longer than an earlier one with less is worse; so is none where an
earlier one was found. Planners: PLANNERS. Prints for each worse plan its command and that of the better plan. Exit code
1 if a planner that must be exact (PLANNERS) made a worse plan by a step other than time.

auto-place takes a contiguous plan unless another one saves 5 per cent of it, so with more memory it may go from a
scattered plan to a contiguous one that takes longer; it is tried with gain=0.

PCC, PCC_SHARED (environment): the program and the folder of the shared material (common.py); profiles that are not
there are skipped."""
import argparse
import random
import sys
import tempfile
from pathlib import Path

from common import SHARED, help_or_go, plan, table, verdict

# Name: its text for -p, more options, whether it must be exact.
PLANNERS = {
    "dp-place": ("dp-place", [], True),
    "fused": ("fuse,dp-place", [], True),
    "dpl-place": ("dpl-place", [], False),
    "overlap": ("dp-place", ["--overlap=max"], True),
    "copies": ("dp-place", ["--replicate"], True),
    "anneal-place": ("anneal-place", [], False),
    "auto-place": ("auto-place{gain=0}", [], True),
    "contiguous": ("auto-place{contiguous=true}", [], True),
    "makespan": ("portfolio-place", ["--objective=makespan"], False),
    "pipeline-place": ("pipeline-place", ["--objective=iteration-time", "--micro-batches=8", "--slices=any"], True),
    "latency-place": ("latency-place", ["--objective=latency"], True),
}
MEMORY = (100, 112, 125, 150, 200, None)  # per cent
STATES = (10, 100, 1000, 10000, 100000, 1000000)
LIMITS = ("10ms", "50ms", "250ms", "1250ms")


class Graph:
    """A random graph of n nodes, and one or two classes of devices.  Of each node: pred, the nodes that it reads; time
    and slow, us on a device of the first and of the second class; xfer, us of its transfer; size, bytes.  devices,
    other: numbers of devices of both classes; memory: bytes of each."""

    def __init__(self, rng, large):
        """Draws a graph. large: of 40 to 80 nodes, else of 6 to 14."""
        self.n = rng.randint(40, 80) if large else rng.randint(6, 14)
        dense = 2.0 / self.n if large else rng.choice((0.15, 0.3, 0.5))
        self.pred = [[u for u in range(max(0, v - 12), v) if rng.random() < dense] for v in range(self.n)]
        self.time = [rng.randint(1, 60) for _ in range(self.n)]
        self.slow = [t * rng.randint(2, 6) for t in self.time]
        self.xfer = [rng.choice((0, 1, 3, 8, 20)) for _ in range(self.n)]
        self.size = [rng.randint(0, 50) for _ in range(self.n)]
        self.devices = rng.randint(2, 4)
        self.other = rng.choice((0, 0, 1, 2))
        # a little more than an even share, and than the largest node
        share = sum(self.size) / (self.devices + self.other)
        self.memory = max(max(self.size), int(share * rng.choice((1.02, 1.1, 1.3)))) + 1

    def text(self, per_cent=100, more=0):
        """The graph as textual IR, with `per_cent` of the memory (None: without limit) and `more` devices of the first
        class."""
        memory = "" if per_cent is None else f" memory={self.memory * per_cent // 100}B"
        lines = [f"class acc x{self.devices + more}{memory} link=1GB/s,1us"]
        lines += [f"class other x{self.other}{memory} link=1GB/s,1us"] if self.other else []
        lines.append("graph {")
        for v in range(self.n):
            times = f"[{self.time[v]}us, {self.slow[v]}us]" if self.other else f"{self.time[v]}us"
            reads = ", ".join(f"%n{u}" for u in self.pred[v])
            lines.append(f"  %n{v} = profile:op({reads}) : !xfer={self.xfer[v]}us !time={times} !own={self.size[v]}B")
        return "\n".join([*lines, "}", ""])


def value_of(model, planner, more, folder):
    """Seconds of the planner's plan, or infinity if none fits; the command, as words. more: options beside the
    planner's own."""
    text, options, _ = PLANNERS[planner]
    found, run = plan(model, "-p", text, *options, *more, tmp=folder)
    return (found["objective"]["value_s"] if found else float("inf")), run.args


def steps_of(kind, graph, path):
    """Yields (model, options) of one kind of step, each with more than the one before. The models are written to files
    whose names begin with `path`."""
    for k, x in enumerate({"memory": MEMORY, "devices": range(5), "states": STATES, "time": LIMITS}[kind]):
        model = path.with_name(f"{path.stem}{k}.pir")
        model.write_text(graph.text(per_cent=x if kind == "memory" else 112, more=x if kind == "devices" else 0),
                         encoding="utf-8")
        yield model, {"states": [f"--max-states={x}"], "time": [f"--time-limit={x}"]}.get(kind, [])


def profile_steps(kind, path):
    """Yields (the profile, options) of one kind of step, each with more than the one before, for a layer profile on
    GPUs of 2 GB and more."""
    for x in {"memory": MEMORY, "devices": (2, 3, 4, 6, 8, 16), "states": STATES, "time": LIMITS}[kind]:
        memory = "" if kind == "memory" and x is None else f":{20 * (x if kind == 'memory' else 112)}MB"
        how = {"states": [f"--max-states={x}"], "time": [f"--time-limit={x}"]}.get(kind, [])
        yield path, ["-d", f"{x if kind == 'devices' else 4}xv100{memory}", "--link=3GB/s,1us", *how]


def walk(planner, steps, folder):
    """Plans all steps. Returns (number of steps after the first plan, complaints about those whose plan is worse than
    the best before, the largest excess of such a plan in per cent)."""
    best, by, worse, excess, n = float("inf"), None, [], 0.0, 0  # by: the command of the best plan
    for model, more in steps:
        value, command = value_of(model, planner, more, folder)
        n += best < float("inf")
        if value > best:
            excess = max(excess, 100 * (value / best - 1))
            worse.append(f"{value} after {best}: {' '.join(map(str, command))}; before: {' '.join(map(str, by))}")
        else:
            best, by = value, command
    return n, worse, excess


def all_walks(planner, kind, args, folder):
    """Yields the steps of one kind for each graph, every fourth of them large, and for each profile that is tried with
    this planner."""
    for k in range(args.graphs if planner != "pipeline-place" else 0):
        rng = random.Random(args.seed * 1000003 + k)  # factor: two values of --seed share no graph
        yield steps_of(kind, Graph(rng, large=k % 4 == 3), folder / f"g{k}_")
    if planner in ("pipeline-place", "dp-place", "auto-place"):
        for path in sorted((SHARED / "profiles/pipedream").glob("*.txt")):
            yield profile_steps(kind, path)


def main():
    help_or_go()
    ap = argparse.ArgumentParser()
    ap.add_argument("--graphs", type=int, default=40)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--only", choices=PLANNERS)
    ap.add_argument("--step", choices=("memory", "devices", "states", "time"))
    ap.add_argument("--keep", help="a folder for the graphs")
    args = ap.parse_args()
    rows, bad = [], 0
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(args.keep or tmp)
        for planner in [args.only] if args.only else PLANNERS:
            for kind in [args.step] if args.step else ("memory", "devices", "states", "time"):
                compared, worse, most = 0, [], 0.0
                for steps in all_walks(planner, kind, args, folder):
                    n, complaints, excess = walk(planner, steps, folder)
                    compared, worse, most = compared + n, worse + complaints, max(most, excess)
                for complaint in worse:
                    print(f"{planner}, {kind}: {complaint}", flush=True)
                rows.append([planner, kind, compared, len(worse), f"{most:.2f}"])
                bad += len(worse) if PLANNERS[planner][2] and kind != "time" else 0
                print(*rows[-1], flush=True)
    table(["planner", "more", "steps", "worse", "by at most %"], rows)
    verdict(not bad, "no plan of an exact planner is worse with more" if not bad else f"{bad} plans are worse")


if __name__ == "__main__":
    sys.exit(main())
