#!/usr/bin/env python3
"""What dp-place says when no plan fits the memory, against all contiguous plans of small workloads.

usage: test_infeasible.py   (environment: PCC)

Random workloads of up to 7 nodes with colours, memories that are tight, with and without CPUs: the least memory of an
accelerator with which a contiguous plan exists is found here by trying all chains of down-sets.  "they need N" must
be it, "nothing below N" and "the smallest found needs N" must hold, a plan must be found where one fits, and "proven"
must be said where a class or a sum is too large.  The message names a node of the class that is too large and what it
needs; numbers of bytes are exact.  On a workload of 300 nodes with one large class this takes no search: some
hundredths of a second of CPU.

Exit: 0 pass, 1 fail.
"""
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
CASES = 40 if SANITIZED else 300
FAILED = []


def fail(text):
    FAILED.append(text)
    print(f"FAILED: {text}")


def workload(rng):
    n = rng.randint(2, 7)
    nodes = [{"id": i + 1, "name": f"n{i + 1}", "supportedOnFpga": True, "cpuLatency": rng.randint(1, 9),
              "fpgaLatency": rng.randint(1, 9), "size": rng.randint(0, 12)} for i in range(n)]
    if rng.random() < 0.5:
        for node in rng.sample(nodes, min(n, rng.randint(2, 3))):
            node["colorClass"] = 1
    edges = [{"sourceId": a + 1, "destId": b + 1, "cost": 0.5}
             for a in range(n) for b in range(a + 1, n) if rng.random() < 0.35]
    total = sum(node["size"] for node in nodes)
    k = rng.randint(1, 3)
    return {"maxSizePerFPGA": max(1, int(total / k * rng.choice([0.3, 0.7, 1, 1.2, 1.5]))), "maxFPGAs": k,
            "maxCPUs": rng.choice([0, 0, 0, 1]), "nodes": nodes, "edges": edges}


def least_memory(w):
    """The least bytes of an accelerator with which a contiguous plan exists; None: there is none."""
    n, color = len(w["nodes"]), {}
    preds, mates, size = [0] * n, [1 << i for i in range(n)], [node["size"] for node in w["nodes"]]
    for i, node in enumerate(w["nodes"]):
        if "colorClass" in node:
            color.setdefault(node["colorClass"], []).append(i)
    for e in w["edges"]:
        preds[e["destId"] - 1] |= 1 << (e["sourceId"] - 1)
    for group in color.values():
        for i in group:
            mates[i] = sum(1 << j for j in group)
    def members(s):
        return [i for i in range(n) if s >> i & 1]
    ideals = [s for s in range(1 << n) if all(preds[i] & ~s == 0 for i in members(s))]
    best = {(0, w["maxFPGAs"], w["maxCPUs"]): 0}
    for old in ideals:
        for new in ideals:
            part = new & ~old
            if old & ~new or not part or any(mates[i] & ~part for i in members(part)):
                continue
            for (s, acc, cpu), most in list(best.items()):
                if s != old:
                    continue
                for key, need in (((new, acc - 1, cpu), max(most, sum(size[i] for i in members(part)))),
                                  ((new, acc, cpu - 1), most)):
                    if key[1] >= 0 and key[2] >= 0:
                        best[key] = min(best.get(key, need), need)
    full = [v for (s, _, _), v in best.items() if s == (1 << n) - 1]
    return min(full) if full else None


def run(w, tmp, planner="dp-place"):
    path = Path(tmp) / "w.json"
    path.write_text(json.dumps(w))
    r = subprocess.run([PCC, str(path), "-p", planner, "-q"], capture_output=True, text=True)
    return r.returncode, r.stderr + r.stdout


def number(pattern, text):
    m = re.search(pattern + r" ([\d.]+) (B|KiB|MiB)(?: \((\d+) bytes\))?", text)
    return m and int(m[3] or float(m[1]) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[m[2]])


def check(w, text, rc, want):
    """What is wrong with the answer."""
    has = w["maxSizePerFPGA"]
    if want is not None and want <= has:
        return "a plan fits" if rc != 0 else None
    if rc != 3:
        return f"exit code {rc}, no plan fits"
    if want is None:
        return None if "was found" in text or "exists" in text else "no plan fits any memory"
    need, below, found = (number(p, text) for p in ("they need", "nothing below", "smallest found needs"))
    largest, total = max(n["size"] for n in w["nodes"]), sum(n["size"] for n in w["nodes"])
    easy = not w["maxCPUs"] and (largest > has or total > has * w["maxFPGAs"])
    if need is not None and need != want or below is not None and below > want or found is not None and found < want:
        return f"{want} bytes are needed"
    if need is None and found is None and below is None:
        return "it does not say what is needed"
    if easy and "(proven)" not in text:
        return "that is easily proven"
    if need is not None and "(proven)" not in text:
        return "it does not say that it is proven"
    return None


def small_workloads():
    rng, short, exact = random.Random(11), 0, 0
    with tempfile.TemporaryDirectory() as tmp:
        for i in range(CASES):
            w = workload(rng)
            rc, text = run(w, tmp)
            want = least_memory(w)
            wrong = check(w, text, rc, want)
            short += rc == 3
            exact += "they need" in text
            if wrong:
                fail(f"case {i}: {wrong}: {text.strip()}\n{json.dumps(w)}")
    if short < CASES / 5 or exact < short * 0.9:
        fail(f"{short} of {CASES} do not fit, {exact} of them with what they need exactly")
    print(f"{CASES} workloads, {short} do not fit, {exact} say what is needed exactly")


def large_class():
    """One class larger than a device in a graph with very many ideals."""
    rng = random.Random(3)
    nodes = [{"id": i, "name": f"n{i}", "supportedOnFpga": True, "cpuLatency": 3, "fpgaLatency": 1,
              "size": rng.randint(1, 9)} for i in range(1, 301)]
    for i in (100, 101):
        nodes[i - 1].update(colorClass=7, size=500)
    edges = [{"sourceId": i, "destId": j, "cost": 0.1} for i in range(1, 301)
             for j in range(i + 1, min(301, i + 30)) if rng.random() < 0.05]
    w = {"maxSizePerFPGA": 600, "maxFPGAs": 8, "maxCPUs": 0, "nodes": nodes, "edges": edges}
    with tempfile.TemporaryDirectory() as tmp:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        rc, text = run(w, tmp)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    m = re.search(r"'(n\d+)' and (\d+) more nodes? must share a device and need (\S+)", text)
    if rc != 3 or "(proven)" not in text or not m or (number("they need", text) or 0) < 1000:
        fail(f"a class of two nodes with 1000 bytes: exit {rc}: {text.strip()}")
    elif cpu > 20:  # a guard against hanging
        fail(f"a class that is too large took {cpu:.2f} s of CPU")
    print(f"a class that is too large: {cpu:.2f} s")


def hard_to_pack():
    """Nobody finds out whether it fits in so little room: the memory for which a plan was found is told to the byte,
    and with it one is found again."""
    rng = random.Random(1)
    nodes = [{"id": i, "cpuLatency": 9, "fpgaLatency": 1, "size": rng.randint(2**20, 2**21)} for i in range(1, 31)]
    third = -(-sum(n["size"] for n in nodes) // 3)
    w = {"maxSizePerFPGA": third, "maxFPGAs": 3, "maxCPUs": 0, "nodes": nodes, "edges": []}
    with tempfile.TemporaryDirectory() as tmp:
        rc, text = run(w, tmp, "anneal-place")
        found = number("one was found for", text) or 0
        if rc != 3 or found <= third:
            fail(f"30 nodes that are hard to pack: exit {rc}: {text.strip()}")
        rc, text = run(w | {"maxSizePerFPGA": found}, tmp, "anneal-place")
        if rc != 0:
            fail(f"30 nodes in {found} bytes: exit {rc}: {text.strip()}")


def main():
    small_workloads()
    hard_to_pack()
    large_class()
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
