#!/usr/bin/env python3
"""The simple planners: local optima, seeds, pins, published values, and libraries in child processes.

usage: test_baselines.py

On random workloads, and those of PCC_SHARED: every plan's claim is what the loads recomputed here say, no move
of a colour class to another accelerator betters local-place's largest load, its plans are those of a plain
search from the same random plans, plans come out the same twice and
other seeds give others.  greedy-place's latencies and the other published values are tools/bench/pcc-bench's.
While metis-place and scotch-place work on a large graph, SIGTERM ends pcc at once, Ctrl-C and the time
limit end it with an error, and nothing stays behind.  Without these libraries, pcc must say so."""
# extras: shared scotch metis
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish

PCC = os.environ.get("PCC", "pcc")
SOURCE = Path(os.environ.get("PCC_SOURCE", Path(__file__).resolve().parents[2]))
PLANNERS = ["one-place", "greedy-place", "local-place", "scotch-place", "metis-place"]
SEEDED = ["local-place", "scotch-place", "metis-place"]
PARTITIONERS = {"scotch-place": "Scotch", "metis-place": "METIS"}
HANGS = 300  # seconds of the clock after which a run is taken to hang


def pcc(*args):
    return subprocess.run([PCC, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=HANGS, check=False)


def built(planner, model):
    """Whether pcc has the library; if not, that it says so well."""
    r = pcc(model, "-p", f"{planner}{{best-effort=true}}", "-q")
    if r.returncode == 0:
        return True
    name = PARTITIONERS.get(planner, "?")
    check(r.returncode == 1 and f"error: {planner}: this pcc was built without {name}: install its library" in
          r.stderr, f"{planner}: {r.stderr}")
    return False


def split_of(model, steps, *args):
    """The split that pcc writes for a workload, as text."""
    with tempfile.TemporaryDirectory() as tmp:
        out = Path(tmp) / "split.json"
        r = pcc(model, "-p", steps, "-q", "-o", out, *args)
        check(r.returncode == 0, f"{model.name}, {steps}: exit {r.returncode}: {r.stderr[:300]}")
        return out.read_text() if out.exists() else None


# ---- loads by the rules of the paper, written apart from pcc -----------------------------------------------

class Loads:
    """Classes of a workload on devices; moves are undone by moving back."""

    def __init__(self, workload, split):
        self.node = {n["id"]: n for n in workload["nodes"]}
        self.nets = {}
        for e in workload["edges"]:
            pins, _ = self.nets.setdefault(e["sourceId"], ({e["sourceId"]}, e["cost"]))
            pins.add(e["destId"])
        self.device, self.cpus = {}, set()
        for i, d in enumerate(split["fpgas"] + split["cpus"]):
            self.cpus |= {i} if i >= len(split["fpgas"]) else set()
            for v in d["nodes"]:
                check(v not in self.device, f"node {v} is there twice")
                self.device[v] = i
        check(set(self.device) == set(self.node), "nodes are missing")
        self.ndev = len(split["fpgas"] + split["cpus"])
        self.groups = {}
        for n in workload["nodes"]:
            self.groups.setdefault(n.get("colorClass", ("alone", n["id"])), []).append(n["id"])

    def all(self):
        load = [0] * self.ndev
        for v, d in self.device.items():
            load[d] += self.node[v]["cpuLatency" if d in self.cpus else "fpgaLatency"]
        for pins, cost in self.nets.values():
            touched = {self.device[v] for v in pins}
            if len(touched) > 1:
                for d in touched - self.cpus:
                    load[d] += cost
        return load

    def better_move(self):
        """(class, accelerator, largest load) of a move that makes the largest load smaller, or None."""
        before = max(self.all())
        for name, members in self.groups.items():
            home = self.device[members[0]]
            for d in set(range(self.ndev)) - self.cpus - {home}:
                self.device.update(dict.fromkeys(members, d))
                after = max(self.all())
                self.device.update(dict.fromkeys(members, home))
                if after < before - 1e-6:
                    return name, d, after
        return None


def random_workload(rng, n, accelerators, colored, reads=2):
    nodes = [{"id": i, "name": f"n{i}", "supportedOnFpga": 1, "isBackwardNode": 0, "size": rng.randint(1, 9),
              "cpuLatency": rng.randint(0, 90), "fpgaLatency": rng.randint(0, 9)} for i in range(n)]
    for i in range(0, n - 1, 7):
        if colored:  # with its neighbour, so that no cycle is made
            nodes[i]["colorClass"] = nodes[i + 1]["colorClass"] = i
    for i, node in enumerate(nodes):
        node.setdefault("colorClass", i)
    edges, cost = [], [rng.randint(0, 5) for _ in nodes]
    for i in range(1, n):
        near = rng.choices(range(max(0, i - 6), i), k=reads)
        hub = (i - 1) // 12 * 12  # is read by many
        for j in sorted({i - 1} if i % 7 == 1 else {*near, hub}):
            edges.append({"sourceId": j, "destId": i, "cost": cost[j]})
    return {"maxSizePerFPGA": 5.0 * n, "maxFPGAs": accelerators, "maxCPUs": 1, "nodes": nodes, "edges": edges}


def sound(model, planners):
    """Claims are true; local plans are local optima."""
    workload = json.loads(model.read_text())
    for planner in planners:
        text = split_of(model, f"contract{{trivial=false}},{planner}{{best-effort=true}}")
        check(text == split_of(model, f"contract{{trivial=false}},{planner}{{best-effort=true}}"),
              f"{model.name}, {planner}: another plan the second time")
        split = json.loads(text)
        loads = Loads(workload, split)
        check(abs(max(loads.all()) - split["maxLoad"]) < 1e-6,
              f"{model.name}, {planner}: {split['maxLoad']}, recomputed {max(loads.all())}")
        move = loads.better_move() if planner == "local-place" else None
        check(move is None, f"{model.name}: local-place misses the move {move} from {max(loads.all())}")


def draws(seed, below):
    """pcc's random numbers below a limit (splitmix64)."""
    whole = (1 << 64) - 1
    while True:
        seed = z = (seed + 0x9e3779b97f4a7c15) & whole
        z = ((z ^ z >> 30) * 0xbf58476d1ce4e5b9) & whole
        z = ((z ^ z >> 27) * 0x94d049bb133111eb) & whole
        yield ((z ^ z >> 31) >> 32) * below >> 32


def steepest(workload, order, accelerators, seed):
    """Local search as the paper has it, every load worked out anew: the device of each node."""
    at = dict(zip(order, draws(seed, accelerators)))
    devices = [{"nodes": [v for v in order if at[v] == d]} for d in range(accelerators)]
    loads = Loads(workload, {"fpgas": devices, "cpus": [{"nodes": []}]})
    best = max(loads.all())
    while True:
        found = None
        for v in order:
            home = loads.device[v]
            for d in set(range(accelerators)) - {home}:
                loads.device[v] = d
                after = max(loads.all())
                if after < best:
                    best, found = after, (v, d)
            loads.device[v] = home
        if not found:
            return loads.device
        loads.device[found[0]] = found[1]


def same_search(folder):
    """pcc's moves are those of a search without its tables: graphs in which some values are read by many."""
    model, out = folder / "hubs.json", folder / "hubs.pir"
    for seed in range(40):
        rng = random.Random(seed)
        k = rng.randint(2, 3)
        workload = random_workload(rng, 24, k, False, 2 + seed % 3)
        for e in workload["edges"]:
            e["cost"] = 9 + e["sourceId"] % 5 if e["sourceId"] % 12 == 0 else e["cost"] * (1 + seed % 3)
        model.write_text(json.dumps(workload))
        steps = f"contract{{trivial=false}},local-place{{restarts=1:seed={seed}:best-effort=true}}"
        pcc(model, "-p", steps, "-q", "-o", out)
        said = re.findall(r'^ +"n(\d+)" = acc(\d+)$', out.read_text(), re.M)
        order, got = [int(v) for v, _ in said], {int(v): int(d) for v, d in said}
        want = steepest(workload, order, k, seed)
        check(got == want, f"graph {seed}: local-place ends elsewhere than the plain search")


def proves_itself(folder):
    """A plan that is no local optimum must be noticed."""
    model = folder / "planted.json"
    workload = random_workload(random.Random(5), 40, 3, True)
    model.write_text(json.dumps(workload))
    split = json.loads(split_of(model, "contract{trivial=false},one-place{best-effort=true}"))
    check(Loads(workload, split).better_move() is not None, "everything on one device is no local optimum")


def random_graphs(folder, planners):
    for seed in range(12):
        rng = random.Random(seed)
        model = folder / f"random{seed}.json"
        model.write_text(json.dumps(random_workload(rng, rng.randint(20, 60), rng.randint(1, 5), seed % 2)))
        sound(model, planners)
    model.write_text(json.dumps(random_workload(random.Random(99), 120, 4, False)))
    for planner in set(SEEDED) & set(planners):
        few = "restarts=1:" if planner == "local-place" else ""
        plans = {split_of(model, f"{planner}{{{few}seed={s}:best-effort=true}}") for s in range(1, 6)}
        check(len(plans) > 1, f"{planner}: five seeds give one plan")
    for planner in set(planners) - {"one-place"}:
        split = json.loads(split_of(model, f"{planner}{{best-effort=true}}", "--pin", "^n7$=acc2"))
        check(7 in split["fpgas"][2]["nodes"], f"{planner}: the pin does not hold")


# ---- memory --------------------------------------------------------------------------------------------------

def over_memory(folder, planners):
    """A plan over memory is none, unless it is asked for."""
    model, out = folder / "short.json", folder / "short.pir"
    workload = random_workload(random.Random(3), 30, 2, False)
    workload["maxSizePerFPGA"], workload["maxCPUs"] = 20.0, 0
    model.write_text(json.dumps(workload))
    for planner in planners:
        r = pcc(model, "-p", planner, "-q", "-o", out)
        check(r.returncode == 3 and f"error: {planner}: acc" in r.stderr and "of memory and has 20 B" in r.stderr and
              not out.exists(), f"{planner} over memory: exit {r.returncode}: {r.stderr}")
        r = pcc(model, "-p", f"{planner}{{best-effort=true}}", "-q", "-o", out)
        check(r.returncode == 0 and "[-Wover-memory]" in r.stderr and 'status="over-memory"' in out.read_text(),
              f"{planner}, best effort: exit {r.returncode}: {r.stderr}")
        out.unlink(missing_ok=True)
    r = pcc(model, "-p", "pipedream-place", "-q")
    check(r.returncode == 3 and "no contiguous plan fits the memory" in r.stderr, f"pipedream-place: {r.stderr}")


# ---- children --------------------------------------------------------------------------------------------------

def children(pid):
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []


def interrupt(model, planner, sig):
    """Sends a signal when the child is there, which is held until pcc has ended: exit code, what pcc said, the
    children."""
    with subprocess.Popen([PCC, model, "-p", planner, "-q"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as p:
        found = []
        while p.poll() is None and not (found := children(p.pid)):
            time.sleep(0.001)
        for child in found:
            os.kill(int(child), signal.SIGSTOP)
        p.send_signal(sig)
        p.wait(timeout=HANGS)
        for child in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGCONT)
        return p.returncode, p.communicate(timeout=HANGS)[0], found


def lives(child):
    try:
        return Path(f"/proc/{child}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def signals(folder, planners):
    model, small = folder / "large.json", folder / "small.json"
    model.write_text(json.dumps(random_workload(random.Random(1), 20000, 8, False)))
    small.write_text(json.dumps(random_workload(random.Random(1), 2000, 8, False)))
    for planner in planners:
        rc, said, found = interrupt(model, planner, signal.SIGTERM)
        check(found, f"{planner}: no child was seen")
        check(rc == -signal.SIGTERM, f"{planner}, SIGTERM: {rc}: {said}")
        rc, said, more = interrupt(model, planner, signal.SIGINT)
        check(rc == 3 and f"{planner}: no plan was found: interrupted" in said, f"{planner}, Ctrl-C: {rc}: {said}")
        until = time.monotonic() + HANGS
        while (left := [c for c in found + more if lives(c)]) and time.monotonic() < until:
            time.sleep(0.01)
        check(not left, f"{planner}: children are left: {left}")
        r = pcc(small, "-p", planner, "-q", "--time-limit", "1ps")
        check(r.returncode == 3 and "no plan was found: time limit reached" in r.stderr, f"{planner}: {r.stderr}")
    # ends after the first move, of a million searches
    r = pcc(small, "-p", "contract{trivial=false},local-place{best-effort=true:restarts=1000000}", "--time-limit",
            "1ps", "-o", folder / "short.json")
    check(r.returncode == 0 and "the best of 1 random starts (the last one cut short)" in re.sub(r"\s+", " ", r.stdout),
          f"local-place does not end in time: {r.stdout[-500:]} {r.stderr}")


# ---- published values -----------------------------------------------------------------------------------------

def bench(*args):
    folder = extras.shared(f"workloads/{args[1]}")
    r = subprocess.run([sys.executable, SOURCE / "tools/bench/pcc-bench", args[0], folder, *args[2:]],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    check(r.returncode == 0, f"pcc-bench {args[0]}: {r.stdout[-2000:]}")


def published(folder):
    planners = [p for p in PLANNERS if p not in PARTITIONERS or built(p, folder / "planted.json")]
    for name in ("op_bert3_inference", "layer_gnmt_training"):
        sound(extras.shared(f"workloads/throughput/{name}.json"), planners)
    bench("greedy", "latency")
    bench("throughput", "throughput", "--planner=one", "--planner=local", "--planner=pipedream", "--planner=scotch")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        proves_itself(folder)
        library = f"{extras.extra()}-place"
        if extras.extra() == "shared":
            published(folder)
        elif extras.extra():
            extras.need(built(library, folder / "planted.json"), f"no {PARTITIONERS[library]} in this pcc")
            random_graphs(folder, [library])
            over_memory(folder, [library])
            signals(folder, [library])
        else:
            planners = [p for p in PLANNERS if p not in PARTITIONERS]
            for planner in PARTITIONERS:
                built(planner, folder / "planted.json")
            random_graphs(folder, planners)
            same_search(folder)
            over_memory(folder, planners)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
