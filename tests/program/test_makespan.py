#!/usr/bin/env python3
"""Splits by makespan: what a user gets who asks for it.

usage: test_makespan.py   (environment: PCC, PCC_GEN)

1. --objective=makespan without a pipeline plans and writes a folder; the manifest says what its value rests on, lists
   each node once in the order of its device, and that order can be run.
2. With --cut=transfers the parts take what the nodes take, and give the outputs of the whole model in ONNX Runtime.
3. plan{from=FOLDER} has the same value without being told anything; another network is a note.
4. The makespan is never above that of everything on one device, nor above dp-place's plan judged by it.
5. A plan on a thousand devices is judged in the same CPU time whichever way round its devices stand.

Exit: 0 pass, 1 fail; without ONNX Runtime the outputs are not compared."""
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from checks import check, finish
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
GEN = os.environ.get("PCC_GEN", str(Path(PCC).parent / "pcc-gen"))
ROOT = Path(__file__).parents[2]
MODELS = (("gpt", "--layers", "2", "--width", "64", "--heads", "2", "--vocab", "100"), ("inception", "--blocks", "3"),
          ("moe", "--layers", "2", "--width", "64", "--heads", "4", "--vocab", "100"))
DEVICES = "3xa100:4GiB,1xcpu"


def pcc(*args):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=300)
    check(r.returncode == 0, f"pcc {args}: exit {r.returncode}: {r.stderr[-300:]}")
    return r


def value(manifest):
    return manifest["objective"]["value_s"]


def one(name, model, tmp):
    split, fine = tmp / f"{name}.split", tmp / f"{name}-fine"
    pcc(model, "-d", DEVICES, "--objective=makespan", "--network=direct", "--pictures=none", "-o", split)
    m = json.loads((split / "manifest.json").read_text())
    o = m["objective"]
    check((o["name"], o["network"], o["contention"], o["dispatch"], o["memory_model"]) ==
          ("makespan", "direct", "port", "plan", "live"), f"{name}: {o}")
    check(o["bound_s"] <= o["value_s"] <= o["parts_value_s"] + 1e-15, f"{name}: {o}")
    ordered = [n for nodes in m["order"].values() for n in nodes]
    parts = [n for nodes in m["nodes"].values() for n in nodes]
    check(sorted(ordered) == sorted(set(ordered)) and set(parts) >= set(ordered), f"{name}: the order of its nodes")
    pcc(model, "-d", DEVICES, "-p", f"plan{{from={split}:effort=0}}", "--cut=transfers", "--part-cost=0",
        "--pictures=none", "-o", fine)
    f = json.loads((fine / "manifest.json").read_text())
    check(value(f) == value(m) == f["objective"]["parts_value_s"], f"{name}: {f['objective']}")
    if not SANITIZED:  # the parts are those of other builds
        r = subprocess.run([sys.executable, ROOT / "tools/verify_split.py", model, fine], capture_output=True,
                           text=True)
        check(r.returncode in (0, 77), f"{name}: {r.stdout[-300:]} {r.stderr[-300:]}")
    again = pcc(model, "-d", DEVICES, "-p", f"plan{{from={split}:effort=0}}", "--emit", "json", "-q")
    check(value(json.loads(again.stdout)) == value(m), f"{name}: the plan that was written has another value")
    host = pcc(model, "-d", DEVICES, "-p", f"plan{{from={split}:effort=0}}", "--network=host", "--emit", "json")
    check("it was made for network direct, and is judged by host" in host.stderr, f"{name}: {host.stderr[-300:]}")
    for planner in ("one-place{best-effort=true}", "dp-place"):
        other = pcc(model, "-d", DEVICES, "-p", planner, "--judge=makespan", "--network=direct", "--emit", "json", "-q")
        other = json.loads(other.stdout)
        check(other["objective"]["name"] == "time-per-sample" and other["judged"]["name"] == "makespan",
              f"{name}: {planner}: the plan keeps its own objective, and has what it was judged by")
        check(value(m) <= other["judged"]["value_s"], f"{name}: {planner} takes less")


def spent(*args):
    """CPU seconds of a run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    pcc(*args)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def many_devices(tmp):
    """Then: cubic in the devices, ten times as long backwards.  The least of up to five runs each counts, since other
    programs slow one down."""
    n, chain, took = 400 if SANITIZED else 1024, tmp / "chain.pir", {1: 1e9, -1: float("inf")}
    chain.write_text("graph {\n  in %v : f32[4]\n" + "".join(
        f"  %{k} = Neg(%{k - 1 if k else 'v'}) name=\"n{k}\"\n" for k in range(n)) + f"  out %{n - 1}\n}}\n")
    for way in 5 * (1, -1):
        if way == 1 and took[-1] < 3 * took[1] + 0.05:
            break
        plan = tmp / f"plan{way}.txt"
        plan.write_text("".join(f"^n{k}$=acc{range(n)[::way][k]}\n" for k in range(n)))
        took[way] = min(took[way], spent(chain, "-d", f"{n}xa100", "-p", f"plan{{from={plan}:effort=0}}", "-q", "-o",
                                         tmp / "many.json"))
    check(took[-1] < 3 * took[1] + 0.05, f"CPU seconds forwards and backwards: {took}")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for shape in MODELS[:1] if SANITIZED else MODELS:
            model = Path(tmp) / f"{shape[0]}.onnx"
            subprocess.run([GEN, *shape, "-o", model], check=True)
            one(shape[0], model, Path(tmp))
        many_devices(Path(tmp))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
