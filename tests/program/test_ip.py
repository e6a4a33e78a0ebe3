#!/usr/bin/env python3
"""Integer programs that pcc writes, solved by HiGHS: the same optimum as pcc's own.

Small random workloads, each of a shape in turn, as .lp and .mps; both must be read as the same program, which must
have pcc's value, or no solution where pcc says that nothing fits. Then tools/bench/mps.py over three workloads of the
placement paper (by itself it takes all, and longer). Then what a user sees: names, limits, errors. Exit: 0 pass, 1
fail, 77 skip (no pcc, no highspy)."""
# extras: shared programs
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
ROOT = Path(__file__).resolve().parents[2]
SHAPES = ("none", "convex", "chain")
RANDOM = 10 if SANITIZED else 60
HANGS = 600 # seconds of the clock after which a run is taken to hang
UNIT = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}


def pcc(*args):
    return subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=HANGS)


def workload(rng, most=8):
    """A random one in the paper's format; memory is short for every other."""
    n, short = rng.randint(3, most), rng.random() < 0.5
    nodes = [{"id": v, "name": rng.choice([f"n{v}", f"layer.{v}/add", f"{v}e", "x"]), "supportedOnFpga": True,
              "cpuLatency": rng.randint(1, 60), "fpgaLatency": rng.randint(1, 12), "isBackwardNode": False,
              "size": rng.randint(0, 9)} for v in range(n)]
    for v, node in enumerate(nodes):
        if node["name"] == "x":
            node["name"] = f"x{'y' * 70}{v}"
        if rng.random() < 0.15:
            node["colorClass"] = 1
    edges = []
    for u in range(n):
        cost = rng.randint(0, 4)
        edges += [{"sourceId": u, "destId": v, "cost": cost} for v in range(u + 1, n) if rng.random() < 0.35]
    total = sum(x["size"] for x in nodes)
    k = rng.randint(1, 3)
    return {"maxSizePerFPGA": max(1, total * 2 // (3 * k)) if short else total + 1, "maxFPGAs": k,
            "maxCPUs": rng.randint(0, 2), "nodes": nodes, "edges": edges}


def load(path):
    import highspy
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("threads", 1)
    h.setOptionValue("mip_rel_gap", 1e-9)
    good = check(h.readModel(str(path)) != highspy.HighsStatus.kError, f"HiGHS cannot read {path.read_text()}")
    return h if good else None


def program_of(path):
    """The columns and the rows that HiGHS reads, by their names."""
    import highspy
    h = load(path)
    if h is None:
        return None
    lp, rows = h.getLp(), {}
    columns = {n: (cost, lo, hi, whole) for n, cost, lo, hi, whole in zip(
        lp.col_names_, lp.col_cost_, lp.col_lower_, lp.col_upper_, map(str, lp.integrality_))}
    for name, lo, hi in zip(lp.row_names_, lp.row_lower_, lp.row_upper_):
        rows[name] = [lo, hi, {}]
    m, row_names = lp.a_matrix_, list(lp.row_names_)
    assert m.format_ == highspy.MatrixFormat.kColwise
    for j, name in enumerate(lp.col_names_):
        for at in range(m.start_[j], m.start_[j + 1]):
            rows[row_names[m.index_[at]]][2][name] = m.value_[at]
    return columns, rows


def highs(path):
    """The optimum in ps; None: there is no solution."""
    import highspy
    h = load(path)
    if h is None:
        return None
    h.run()
    if h.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return None
    check(h.getModelStatus() == highspy.HighsModelStatus.kOptimal, f"HiGHS: {h.getModelStatus()}")
    unit = UNIT[re.search(r"T in (\w+)", path.read_text())[1]]
    return h.getInfo().objective_function_value * unit


def best_of(folder, what):
    """The best of the models in a folder, each there as .lp and .mps."""
    files = sorted(folder.glob("m*.mps"))
    check(files and len(files) == len(list(folder.glob("m*.lp"))), f"{what}: not as many .mps as .lp")
    for path in files:
        same = program_of(path) == program_of(path.with_suffix(".lp"))
        check(same, f"{what}: {path.name}: another program as .lp")
    return min((v for v in map(highs, files) if v is not None), default=None)


def random_workloads(tmp):
    rng, fit = random.Random(7), 0
    for i in range(RANDOM):
        folder = Path(tmp) / f"{i}"
        folder.mkdir()
        path, shape = folder / "w.json", SHAPES[i % 3]
        path.write_text(json.dumps(workload(rng)))
        options = f"contiguous={shape}:solver={'auto' if i % 2 else 'lp_solve'}"
        r = pcc(path, "-q", "-p", f"contract{{trivial=false}},ip-place{{{options}}}", "-o", folder / "plan.json")
        for kind in ("lp", "mps"):
            pcc(path, "-q", "-p", f"contract{{trivial=false}},ip-place{{{options}:solve=false:write="
                                  f"{folder}/m.{kind}}}")
        mine = round(json.loads((folder / "plan.json").read_text())["maxLoad"] * 1e9) if r.returncode == 0 else None
        check(r.returncode in (0, 3), f"workload {i}: {r.stderr}")
        other = best_of(folder, f"workload {i} ({shape})")
        good = mine == other if None in (mine, other) else abs(mine - other) <= 1e-6 * max(1, mine)
        check(good, f"workload {i} ({shape}): pcc {mine}, HiGHS {other}: {r.stderr}")
        fit += mine is not None
    check(RANDOM / 2 < fit < RANDOM, f"{fit} of {RANDOM} workloads have a plan")


def published(tmp):
    """Two workloads of the placement paper that HiGHS solves, one that it does not in a second."""
    workloads = extras.shared("workloads/throughput")
    for name, seconds in (("op_bert3_inference", HANGS), ("op_bert3_training", HANGS), ("layer_bert24_training", 1)):
        r = subprocess.run([sys.executable, ROOT / "tools/bench/mps.py", "--seconds", str(seconds), "--own", "1", name],
                           capture_output=True, text=True, timeout=4 * HANGS)
        check(r.returncode == 0 and f"| {name} " in r.stdout and (seconds == 1 or "| yes " in r.stdout),
              f"mps.py: {r.stdout[-1500:]}{r.stderr[-1500:]}")
    for name, want in [("layer_bert24_inference", 17.7899), ("layer_gnmt_inference", 32.9107),
                       ("op_bert6_inference", 29.5795)]:
        out = Path(tmp) / "chain.pir"
        pcc(workloads / f"{name}.json", "-q", "--time-limit", f"{HANGS}s", "-o", out,
            "-p", "ip-place{contiguous=chain:solver=lp_solve}")
        said = re.search(r"^plan .*value=([\d.]+)ms bound=([\d.]+)ms", out.read_text(), re.M)
        check(said and abs(float(said[1]) - want) < 6e-5 and float(said[2]) > want * (1 - 3e-6) - 5e-5,
              f"{name}: a chain takes {said and said[0]}, want {want}")


def small(tmp):
    """A workload that can be checked by hand: memory for two of three nodes on two accelerators.  c takes least on
    the CPU; only a program knows that one must be there (the cheap bounds do not look at memory)."""
    path = Path(tmp) / "small.json"
    nodes = [{"id": i, "name": name, "supportedOnFpga": True, "cpuLatency": slow, "fpgaLatency": t, "size": size,
              "isBackwardNode": False} for i, (name, t, slow, size) in enumerate(
                  [("a a", 5, 50, 5), ("b", 6, 40, 5), ("c", 4, 30, 1)])]
    path.write_text(json.dumps({"maxSizePerFPGA": 5, "maxFPGAs": 2, "maxCPUs": 1, "nodes": nodes,
                                "edges": [{"sourceId": 0, "destId": 1, "cost": 1}]}))
    return path


def for_users(tmp):
    path = small(tmp)
    lp = Path(tmp) / "s.lp"
    r = pcc(path, "-p", f"ip-place{{write={lp}}}", "--explain-bound")
    text = lp.read_text()
    check(r.returncode == 0 and "time per sample 30.00 ms\nbound 30.00 ms" in r.stdout, f"small: {r.stdout}{r.stderr}")
    check("write=model.mps" in r.stdout, f"--explain-bound says not how to check: {r.stdout}")
    for name in ("x_a_a_acc0", "load_acc1", "memory_acc0", "net_a_a_"):
        check(name in text, f"no {name} in\n{text}")
    for options, code, said in [
            ("limit=29ms", 0, "no plan is within the limit"), ("gap=0", 1, "expected a share"),
            ("solve=false", 1, "expected write=FILE"),
            (f"write={tmp}/x.txt", 1, "ends in .lp or .mps"),
            ("write=/nowhere/x.lp", 1, "cannot create a file beside it"),
            ("contiguous=chain", 0, "time per sample"), ("solver=auto", 0, "time per sample")]:
        r = pcc(path, "-p", f"ip-place{{{options}}}")
        check(r.returncode == code and said in r.stdout + r.stderr, f"{options}: {r.returncode} {r.stdout}{r.stderr}")
    big = json.loads(path.read_text())
    big["maxCPUs"] = 0
    path.write_text(json.dumps(big))
    for shape in SHAPES:
        r = pcc(path, "-p", f"ip-place{{contiguous={shape}}}")
        check(r.returncode == 3 and "need 6 B per device" in r.stderr, f"{shape}, no room: {r.returncode} {r.stderr}")


NAMES = ['a "b"', "a b", "a\nb\nEnd", "\u00e9\u202e", "x" * 10000, "x" * 10000, "same", "same", "free", "inf",
         "e12", "st", "End", "T", "MARKER", "'MARKER'", "RHS", "-1", "3x", "", "\\ comment", "\x7f\x01"]


def command_lines(path):
    """Optima by the programs of CBC and lp_solve."""
    found = []
    for command in ["cbc", path, "solve", "quit"], ["lp_solve", "-fmps", path, "-S3"]:
        if extras.extra() and (path.suffix == ".mps" or command[0] == "cbc"):
            r = subprocess.run(command, capture_output=True, text=True, timeout=120)
            said = re.search(r"objective(?: value|[^:]*):\s*([-\d.e+]+)", r.stdout, re.I)
            found.append((command[0], said and float(said[1])))
    return found


def names(tmp):
    """Names that mean something in a model file, or nothing anywhere: all read the same in every file."""
    path = Path(tmp) / "names.json"
    nodes = [{"id": i, "name": name, "supportedOnFpga": True, "cpuLatency": 50, "fpgaLatency": 3 + i % 5, "size": 1,
              "isBackwardNode": False} for i, name in enumerate(NAMES)]
    edges = [{"sourceId": i, "destId": j, "cost": 1} for i in range(len(NAMES)) for j in (i + 1, i + 2)
             if j < len(NAMES)]
    path.write_text(json.dumps({"maxSizePerFPGA": 99, "maxFPGAs": 2, "maxCPUs": 0, "nodes": nodes, "edges": edges}))
    for shape in SHAPES:
        seen = {}
        for kind in ("lp", "mps"):
            model = Path(tmp) / f"names.{kind}"
            r = pcc(path, "-q", "-p", f"contract{{trivial=false}},ip-place{{contiguous={shape}:solve=false:"
                                      f"write={model}}}")
            if not check(r.returncode == 0, f"names, {shape}: {r.stderr}"):
                continue
            lines = model.read_text(encoding="ascii").splitlines()
            check(max(map(len, lines)) < 500, f"names, {shape}.{kind}: a line of {max(map(len, lines))} characters")
            seen[f"HiGHS {kind}"] = (highs(model) or 0) / UNIT["ms"]
            seen.update({f"{program} {kind}": value for program, value in command_lines(model)})
        good = None not in seen.values() and len({round(v, 4) for v in seen.values()}) == 1
        check(good and len(seen) >= 2, f"names, {shape}: {seen}")


def stops(tmp):
    """A time limit, and Ctrl-C once the solver has begun: the best plan so far, and nothing printed by the solver."""
    path = Path(tmp) / "many.json"
    many = workload(random.Random(11), 100)
    many.update(maxFPGAs=4, maxCPUs=1, maxSizePerFPGA=1000)
    for node in many["nodes"]:
        node.pop("colorClass", None)
    path.write_text(json.dumps(many))
    for k, solver in enumerate(("lp_solve", "auto")):
        for limit in (["--time-limit", "1s"], []):
            model = Path(tmp) / f"many{k}{len(limit)}.lp" # is written before the solver begins
            start = time.monotonic()
            steps = f"ip-place{{solver={solver}:moves=1000:write={model}}}"
            p = subprocess.Popen([PCC, path, *limit, "-p", steps], text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
            while not limit and not model.exists() and p.poll() is None and time.monotonic() - start < HANGS:
                time.sleep(0.01)
            if not limit:
                p.send_signal(2)
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            out, err = p.communicate(timeout=HANGS)
            spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            said = "time limit reached" if limit else "interrupted"
            # 60 s of the clock is what it takes if nobody says; of the CPU, since others may be busy with it
            text = re.sub(r"\n  +", " ", out)
            check(p.returncode == 0 and "time per sample" in out and "feasible" in out and said in text and spent < 50,
                  f"{solver} {limit}: exit {p.returncode} after {spent:.1f} s: {out[-300:]}{err[-300:]}")


def main():
    try:
        import highspy # noqa: F401
    except ImportError:
        print("skipped: no highspy in this Python")
        return 77
    if not shutil.which(PCC):
        print("skipped: no pcc")
        return 77
    with tempfile.TemporaryDirectory() as tmp:
        if extras.extra() == "programs":
            for program in ("cbc", "lp_solve"):
                extras.need(shutil.which(program), f"no program {program}")
        always = (for_users, names, random_workloads, stops)
        for test in {"shared": (published,), "programs": (names,)}.get(extras.extra(), always):
            test(tmp)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
