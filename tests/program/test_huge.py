#!/usr/bin/env python3
"""Large graphs: random layers of pcc-gen are what they claim, and the plans for 10,000 nodes of them are good.

The workload: times, transfers and readers as --help says, equal seeds give equal bytes, a larger one begins with the
smaller.  dp-place and auto-place on it, and dp-place on trees and components as large: never worse than the cut by
node number (worked out by tools/bench/huge.py), and random layers within 1 % of the bound, 1,000 nodes of them, too.

Environment: PCC, PCC_GEN, PCC_SOURCE.  Exit: 0 pass, 1 fail, 77 skip."""
import json
import os
import random
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ.get("PCC_SOURCE", Path(__file__).resolve().parents[2]))
os.environ.setdefault("PCC", str(SOURCE / "build/release/pcc"))
os.environ.setdefault("PCC_GEN", str(Path(os.environ["PCC"]).parent / "pcc-gen"))
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "tools/bench"), str(SOURCE / "tests/support")]
import huge  # noqa: E402
from checks import check, finish  # noqa: E402
from common import PCC_GEN, Run  # noqa: E402
from sanitized import SANITIZED  # noqa: E402

NODES, WIDTH, GAP = 3000 if SANITIZED else 10000, 8, 1
CUT = "dp-place{max-states=1000}" if SANITIZED else "dp-place"


def generate(path, nodes, seed, *more):
    Run([PCC_GEN, "random-layers", "--nodes", nodes, "--seed", seed, "-o", path, *more]).need()
    return path


def check_layers(folder):
    """What --help says of random-layers, with another width too."""
    for width in (1, WIDTH, 30):
        workload = json.loads(generate(folder / "w.json", 1000, 3, "--width", width, "--devices", 5).read_text())
        nodes, edges = workload["nodes"], workload["edges"]
        check([n["id"] for n in nodes] == list(range(1, 1001)), f"width {width}: ids")
        check(workload["maxFPGAs"] == 5 and workload["maxCPUs"] == 1, f"width {width}: devices")
        check(all(0.001 <= n["fpgaLatency"] <= 1 for n in nodes), f"width {width}: times")
        check(all(abs(n["cpuLatency"] / n["fpgaLatency"] - 10) < 1e-9 for n in nodes), f"width {width}: CPU times")
        check(all((e["destId"] - 1) // width - (e["sourceId"] - 1) // width == 1 for e in edges),
              f"width {width}: layers")
        check(all(0 <= e["cost"] <= 0.3 for e in edges), f"width {width}: transfers")
        cost, reads = {}, [0] * 1001
        for e in edges:
            check(cost.setdefault(e["sourceId"], e["cost"]) == e["cost"], f"width {width}: two costs of a node")
            reads[e["destId"]] += 1
        check(not any(reads[1:width + 1]), f"width {width}: the first layer reads something")
        check(set(reads[width + 1:]) == ({1} if width == 1 else {1, 2}), f"width {width}: {set(reads)} nodes read")
        check(len({(e["sourceId"], e["destId"]) for e in edges}) == len(edges), f"width {width}: an edge twice")
        spread = [max(x) - min(x) for x in ([n["fpgaLatency"] for n in nodes], list(cost.values()))]
        check(spread[0] > 0.9 and spread[1] > 0.27, f"width {width}: times and transfers spread over {spread}")
    one, again, other, larger = (generate(folder / f"{i}.json", n, seed) for i, (n, seed) in
                                 enumerate([(1000, 1), (1000, 1), (1000, 2), (1200, 1)]))
    check(one.read_bytes() == again.read_bytes(), "equal seeds, other bytes")
    check(one.read_bytes() != other.read_bytes(), "other seeds, equal bytes")
    small, large = (json.loads(p.read_text()) for p in (one, larger))
    for key in ("nodes", "edges"):
        check(large[key][:len(small[key])] == small[key], f"a larger graph has other {key}")
    run = Run([PCC_GEN, "random-layers", "--no-weights", "-o", one])
    check(run.rc == 2 and "no option" in run.out, f"--no-weights: {run.rc}, {run.out}")
    run = Run([PCC_GEN, "random-layers", "-o", folder / "none" / "w.json"])
    check(run.rc == 1 and run.out.count("\n") == 1, f"a folder that is not there: {run.rc}, {run.out}")


def check_plan(name, path, steps, tmp):
    row, bad = huge.measure(name, path, steps, tmp)
    for line in bad:
        check("beyond reading" in line, f"{steps}: {line}")  # that is for a release build
    close = float(row[5]) <= GAP or not name.startswith("random") or SANITIZED  # which search less
    check(close, f"{steps}, {name}: gap of {row[5]} %")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        check_layers(folder)
        for seed, steps in ((1, CUT), (2, CUT), (3, "auto-place"))[SANITIZED:2 + (not SANITIZED)]:
            path = generate(folder / "w.json", NODES, seed)
            check_plan(f"random layers, seed {seed}", path, steps, tmp)
        check_plan("random layers, fewer", generate(folder / "w.json", 1000, 4), CUT, tmp)
        for name in ("tree in", "components")[SANITIZED:]:
            rng = random.Random(1)
            huge.write(folder / "w.json", NODES, huge.SHAPES[name][1](NODES, rng), rng)
            check_plan(name, folder / "w.json", CUT, tmp)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
