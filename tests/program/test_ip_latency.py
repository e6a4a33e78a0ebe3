#!/usr/bin/env python3
"""ip-place{objective=latency}: the integer program of appendix A of the placement paper.

1. Small random graphs (two classes of accelerators, memory limits, colours, inputs and outputs, training, one or two
   subgraphs for each accelerator): the program, as HiGHS solves it from the file, has the value of the best of all
   plans, tried one by one here; so have ip-place, and latency-place where no nodes must be together and hosts have
   room.  With the CPUs that there are: no claim is above the best plan as it runs, and "optimal" is said just where
   that takes no longer.
2. Planted in every third program: without transfers in, order of slots or rows of memory HiGHS finds less in some.
3. What a user sees: the three nodes of appendix A.1, names in the file, limits, errors.

Exit: 0 pass, 1 fail, 77 skip (no pcc, no highspy)."""
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish
from sanitized import SANITIZED
from test_ip import load
from test_latency import Case, recursive, simulated

PCC = os.environ.get("PCC", "pcc")
CASES = 400 if os.environ.get("PCC_ALL") else 40 if SANITIZED else 100
MOST = 1500 # plans of a graph
PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}


# ---- random graphs -------------------------------------------------------------------------------

def random_graph(seed):
    """A Case (test_latency.py) without a plan; further .q, .memory (of each class, bytes or None), .own[v], .color[v].
    """
    c, r = Case(), random.Random(seed)
    c.hosts, c.q = 2, 1 + (seed % 3 == 2)
    c.count = r.choice(([1, 1], [2, 1], [1, 2], [2, 2])) + [r.choice((1, 2, 8))]
    c.part_cost, c.pieces, c.slotted = r.choice((0, 0, 2)), "exclusive", True
    places = (c.count[0] + c.count[1]) * c.q + 1
    n = 1
    while places ** (n + 1) <= MOST and n < 9:
        n += 1
    if r.random() < .4: # fewer places, more nodes
        c.count, n = ([1, 0] if c.q == 2 else [1, 1]) + c.count[2:], 6 if c.q == 1 else 6
    training = seed % 5 == 4
    zero = .4 if seed % 4 == 0 else .05
    c.node, c.value = [], []

    def new_value(of):
        us = 0 if r.random() < zero else r.randint(1, 4)
        c.value.append({"of": of, "host": of is None, "xfer": [us] * c.hosts})
        return len(c.value) - 1

    if r.random() < .4:
        new_value(None)
    for v in range(n):
        known = range(len(c.value))
        ins = set(r.sample(known, min(len(known), r.choice((0, 1, 1, 2, 2)))))
        times = [0 if r.random() < zero else r.randint(1, 6) for _ in range(c.hosts)]
        times.append(r.randint(1, 14) if r.random() < .95 else 0)
        c.node.append({"ins": ins, "outs": [new_value(v) for _ in range(r.choice((1, 1, 2)))],
                       "back": training and v >= n // 2, "times": times})
    for x, value in enumerate(c.value):
        if value["of"] is None:
            value["host"] = any(x in node["ins"] for node in c.node)
        else:
            value["host"] = r.random() < .3
    c.own = [r.randint(0, 9) for _ in range(n)]
    c.memory = [r.choice((None, sum(c.own) * 2 // 3, sum(c.own) // 2)) for _ in range(c.hosts)] + [None]
    if r.random() < .15:
        c.memory = [m or sum(c.own) // 2 for m in c.memory[:2]] + [sum(c.own) // (r.choice((2, 4, 20)) * c.count[2])]
    c.color = list(range(n))
    if training:
        c.color = [v if v < n // 2 or r.random() < .3 else n - 1 - v for v in range(n)]
    elif seed % 2:
        c.color = [r.randint(0, v) if r.random() < .2 else v for v in range(n)]
    c.free = [v for v in range(n) if c.color[v] == v]
    return c


def text(c):
    lines = [f"cluster part_cost={c.part_cost}us efficiency=1000000"] if c.part_cost else []
    for k, count in enumerate(c.count):
        if count:
            memory = "" if c.memory[k] is None else f" memory={c.memory[k]}B"
            lines.append(f"class {'abc'[k]} x{count}{' host' if k == 2 else ''}{memory}")
    facts = lambda x: f"? !xfer={c.value[x]['xfer'][0]}us"
    lines.append("graph {")
    lines += [f"  in %v{x} : {facts(x)}" for x, value in enumerate(c.value) if value["of"] is None and value["host"]]
    for v, n in enumerate(c.node):
        times = ",".join(f"{t}us" for k, t in enumerate(n["times"]) if c.count[k])
        lines.append(f"  {', '.join(f'%v{x}' for x in n['outs'])} = profile:op("
                     f"{', '.join(f'%v{x}' for x in sorted(n['ins']))}) : {', '.join(map(facts, n['outs']))} "
                     f"name=\"n{v}\" !time=[{times}] !own={c.own[v]}B"
                     + (f" !color={c.color[v] + 1}" if c.color.count(c.color[v]) > 1 else "")
                     + (" !backward" if n["back"] else ""))
    gone = [x for x, value in enumerate(c.value) if value["of"] is not None and value["host"]]
    lines += [f"  out {', '.join(f'%v{x}' for x in gone)}"] if gone else []
    return "\n".join(lines + ["}"]) + "\n"


# ---- all plans -----------------------------------------------------------------------------------

def fits(c, dev):
    """Whether each node is on a device that there is and that it is pinned to (c.pin), and no memory is exceeded."""
    pin = getattr(c, "pin", {})
    if any(not c.count[d[0]] or pin.get(v, d) != d for v, d in enumerate(dev)):
        return False
    for k, count in enumerate(c.count):
        rooms = [[(k, i)] for i in range(count)] if k < c.hosts else [[(k, i) for i in range(count)]]
        for room in rooms:
            held = sum(c.own[v] for v in range(len(dev)) if dev[v] in room)
            if c.memory[k] is not None and held > c.memory[k] * len(room):
                return False
    return True


def plans(c):
    """All (dev, slot) that fit, with nodes of a colour on one device."""
    n, host = len(c.node), (c.hosts, 0)
    devices = [(k, i) for k in range(c.hosts) for i in range(c.count[k])] + [host]
    for choice in itertools.product(devices, repeat=len(c.free)):
        of = dict(zip(c.free, choice))
        root = lambda v: v if c.color[v] == v else root(c.color[v])
        dev = [of[root(v)] for v in range(n)]
        if not fits(c, dev):
            continue
        on = [v for v in range(n) if dev[v] != host]
        for slots in itertools.product(range(1, c.q + 1), repeat=len(on)):
            slot = [0] * n
            for v, s in zip(on, slots):
                slot[v] = s
            yield dev, slot


def quick(c, dev, slot):
    """What a plan takes with unlimited CPUs; None: a circle."""
    n, host = len(c.node), (c.hosts, 0)
    key = [(v,) if dev[v] == host else (dev[v], c.node[v]["back"], -slot[v] if c.node[v]["back"] else slot[v])
           for v in range(n)]
    time, before = {}, {}
    for v in range(n):
        first = key[v] not in time
        time[key[v]] = time.get(key[v], 0) + c.node[v]["times"][dev[v][0]]
        if first and len(key[v]) > 1:
            time[key[v]] += c.part_cost
        before.setdefault(key[v], set())
    for x, value in enumerate(c.value):
        made = None if value["of"] is None else key[value["of"]]
        read = {key[v] for v in c.readers[x]} - {made}
        for k in read:
            if made is not None:
                before[k].add(made)
            if len(k) > 1:
                time[k] += value["xfer"][0]
        if made is not None and len(made) > 1 and (read or value["host"]):
            time[made] += value["xfer"][0]
    chains = sorted(k for k in time if len(k) > 1)
    for a, b in zip(chains, chains[1:]):
        if a[0] == b[0]:
            before[b].add(a)
    end, todo = {}, set(time)
    while todo:
        known = [k for k in todo if all(b in end for b in before[k])]
        if not known:
            return None
        for k in known:
            end[k] = time[k] + max((end[b] for b in before[k]), default=0)
        todo.difference_update(known)
    return max(end.values())


def best_plans(c, seed):
    """Least values with unlimited CPUs and with those that there are (None if there are too many plans for that)."""
    readers = [[v for v, n in enumerate(c.node) if x in n["ins"]] for x in range(len(c.value))]
    found, count = {}, 0
    c.readers = readers
    for dev, slot in plans(c):
        value = quick(c, dev, slot)
        count += 1
        if value is not None:
            found.setdefault(value, []).append((list(dev), slot))
    if not found:
        return None, None, count
    least, listed = min(found), None
    del c.readers # the method of Case again
    c.cpus = "list"
    for value in sorted(found):
        if listed is not None and value >= listed:
            break
        for c.dev, c.slot in found[value]:
            ran = simulated(c)
            listed = ran if listed is None else min(ran, listed)
    c.dev, c.slot = found[least][0]
    check(recursive(c) == least, f"case {seed}: the two rules differ: {recursive(c)}, {least}")
    return least, listed, count


# ---- one graph -----------------------------------------------------------------------------------

def pcc(*args):
    return subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=300)


def free_rows(h, prefix):
    rows = [i for i, name in enumerate(h.getLp().row_names_) if name.startswith(prefix)]
    for i in rows:
        h.changeRowBounds(i, -h.inf, h.inf)
    return rows


def no_transfers_in(h):
    lp = h.getLp()
    finish = [i for i, name in enumerate(lp.row_names_) if name.startswith("finish_")]
    coming = [j for j, name in enumerate(lp.col_names_) if name.startswith("in_")]
    for i in finish:
        for j in coming:
            h.changeCoeff(i, j, 0.)
    return coming


# each changes a program of HiGHS; what it returns is empty if there is nothing to change
PLANTED = {"no transfers in": no_transfers_in, "no order of slots": lambda h: free_rows(h, "order_"),
           "no memory": lambda h: free_rows(h, "memory_")}
caught = dict.fromkeys(PLANTED, 0)


def highs(path, planted=None):
    """The optimum in ps; None: there is no solution.  Without presolve: with it HiGHS 1.15 calls some of these
    infeasible although it finds solutions of theirs."""
    import highspy
    h = load(path)
    if h is None:
        return None
    if planted and not PLANTED[planted](h):
        return None
    h.setOptionValue("presolve", "off")
    h.setOptionValue("mip_feasibility_tolerance", 1e-9)
    h.run()
    if h.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return None
    check(h.getModelStatus() == highspy.HighsModelStatus.kOptimal, f"HiGHS: {h.getModelStatus()}")
    return h.getInfo().objective_function_value * PS[re.search(r"T in (\w+)", path.read_text()[:300])[1]]


def us(said):
    number, unit = re.fullmatch(r"([\d.]+)([munp]?s)", said).groups()
    return float(number) * PS[unit] / PS["us"]


def head(run):
    """Words of the plan's line in textual IR; NULL: there is none."""
    line = next((x for x in run.stdout.splitlines() if x.startswith("plan ")), None)
    return line and dict(re.findall(r"(\w+)=(\S+)", line))


def one_case(seed, tmp):
    c = random_graph(seed)
    path, model = tmp / "case.pir", tmp / f"case.{'lp' if seed % 2 else 'mps'}"
    path.write_text(text(c))
    model.unlink(missing_ok=True)
    least, listed, count = best_plans(c, seed)
    what = f"case {seed}: q={c.q}"
    options = f"objective=latency:q={c.q}:moves=200:solver={'auto' if seed % 4 == 1 else 'lp_solve'}:write={model}"
    run = pcc(path, "--cpus=unbounded", "-q", "-p", f"ip-place{{{options}}}", "--emit", "ir")
    training = any(n["back"] for n in c.node)
    other = pcc(path, "--cpus=unbounded", "-q", "-p", f"latency-place{{q={c.q}:moves=1000:max-states=20000}}",
                "--emit", "ir")
    run_listed = pcc(path, "-q", "-p", f"ip-place{{{options.split(':write')[0]}}}", "--emit", "ir")
    solved = highs(model) if model.exists() and not SANITIZED else None  # the programs are those of other builds
    if least is None:
        check(run.returncode == run_listed.returncode == 3 and solved is None,
              f"{what}: no plan: {run.stderr} {solved}")
        return "none"
    if not check(run.returncode == 0 and run_listed.returncode == 0 and other.returncode in (0, 3),
                 f"{what}: {run.stderr}{run_listed.stderr}{other.stderr}"):
        return "failed"
    said, near, ran = head(run), head(other), head(run_listed)
    together = len(c.free) < len(c.node)
    same = solved is not None and abs(solved / PS["us"] - least) <= 1e-6 * max(1, least)
    bad = "" if same or SANITIZED else path.read_text()
    check(not bad, f"{what}: HiGHS {solved}, all {count} plans {least} us\n{bad}")
    value, bound = us(said["value"]), us(said["bound"])
    for planted in PLANTED if seed % 3 == 2 and not SANITIZED else ():
        other = highs(model, planted)
        caught[planted] += other is not None and other / PS["us"] < least - 1e-6
    if training: # plans without slots may take less
        check(value <= least, f"{what}: ip-place {value}, all plans {least}")
    else:
        check(value == bound == least and said["status"] == "optimal", f"{what}: ip-place {said}, all plans {least}")
    if near and not training:
        more = together or c.memory[2] is not None # it counts neither all of these plans nor the memory of hosts
        check(us(near["value"]) >= least if more else us(near["value"]) == least,
              f"{what}: latency-place {near}, all plans {least}")
    value, bound = us(ran["value"]), us(ran["bound"])
    check(bound <= listed and (training or value >= listed), f"{what}: list {ran}, all plans {listed}")
    check(training or (ran["status"] == "optimal") == (value == max(bound, least)),
          f"{what}: list {ran}, unlimited {least}, list {listed}")
    return "training" if training else "colours" if together else "listed" if listed > least else f"q={c.q}"


def random_graphs(tmp):
    kinds = {}
    for seed in range(CASES):
        kind = one_case(seed, tmp)
        kinds[kind] = kinds.get(kind, 0) + 1
    print(kinds, caught)
    for planted, count in caught.items():
        check(count or SANITIZED, f"planted in {CASES // 3} programs: {planted}: HiGHS finds nothing less")
    for kind in ("none", "training", "colours", "listed", "q=1", "q=2"):
        check(kinds.get(kind, 0) > 0, f"no graph of the kind {kind}: {kinds}")


# ---- for users -----------------------------------------------------------------------------------

def three_nodes(tmp):
    """Appendix A.1: what one accelerator does in two goes."""
    path, model = tmp / "three.json", tmp / "three.lp"
    nodes = [{"id": i, "name": "abc"[i], "supportedOnFpga": 1, "cpuLatency": slow, "fpgaLatency": t, "size": 0,
              "isBackwardNode": 0} for i, (slow, t) in enumerate([(2, 1), (5, 2), (4, 1)])]
    path.write_text(json.dumps({"maxSizePerFPGA": 1, "maxFPGAs": 1, "maxCPUs": 4, "nodes": nodes,
                                "edges": [{"sourceId": 0, "destId": 2, "cost": 0}]}))
    for q, least in ((1, 4), (2, 3)):
        run = pcc(path, "-q", "-p", f"ip-place{{objective=latency:q={q}:write={model}}}", "--emit", "ir")
        said = head(run)
        check(said["status"] == "optimal" and us(said["value"]) == least * 1000, f"q={q}: {said}, expected {least} ms")
        check(abs(highs(model) / PS["ms"] - least) < 1e-6, f"q={q}: HiGHS {highs(model)}")
    for name in ("x_a_acc0_1", "start_a_", "finish_acc0_2", "done_c_acc0_2", "order_acc0_2", "gap_a_", "L_b"):
        check(name in model.read_text(), f"no {name} in\n{model.read_text()}")
    run = pcc(path, "-p", "ip-place{q=2}", "--objective=latency", "--explain-bound")
    check("ip-place{objective=latency:q=2:limit=2.999999999ms:solve=false:write=model.mps}" in run.stdout,
          f"--explain-bound says not how to check: {run.stdout}")
    run = pcc(path, "-q", "-p", f"ip-place{{objective=latency:q=2:limit=2.99ms:solve=false:write={model}}}")
    check(run.returncode == 0 and highs(model) is None, f"below the optimum there is a solution: {run.stderr}")
    for options, extra, code, text in [
            ("objective=latency:limit=3ms:moves=0", [], 0, "latency 4.000 ms"),
            ("objective=latency:solve=false", [], 1, "expected write=FILE"),
            ("objective=latency:contiguous=chain", [], 1, "subgraphs are contiguous in any case"),
            ("q=2", [], 1, "q=2 is for objective=latency alone"),
            ("objective=latency", ["--objective=time-per-sample"], 1, "leave one out"),
            ("objective=latency", ["--objective=makespan"], 1, "ip-place knows no makespan")]:
        run = pcc(path, "-p", f"ip-place{{{options}}}", *extra)
        check(run.returncode == code and text in run.stdout + run.stderr,
              f"{options} {extra}: {run.returncode} {run.stdout}{run.stderr}")


def main():
    try:
        import highspy # noqa: F401
    except ImportError:
        print("skipped: no highspy in this Python")
        return 77
    if not shutil.which(PCC):
        print("skipped: no pcc")
        return 77
    with tempfile.TemporaryDirectory() as name:
        three_nodes(Path(name))
        random_graphs(Path(name))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
