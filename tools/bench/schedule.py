#!/usr/bin/env python3
"""List schedules of the placement paper's operator graphs, beside values that Celeritas' and Baechi's rules have there.

usage: schedule.py FOLDER [--colors yes|no|both]   (environment: PCC)

FOLDER has the workloads of the placement paper. Each is planned for its accelerators alone, with 1.3 times the
memory that an equal share needs, one hop between devices, ports, all bytes of a device's nodes counted (memory
model sum). Clusters span 50 nodes and an eighth of a device's memory, edges are counted one by one; the better
one of the dispatch orders fifo and level is shown, as the published values have it. ms; "over" where a device
lacks memory.

Columns: m-TOPO, m-ETF, Order-Place and Celeritas with the value of the rules by an independent program in brackets
(with colours; Celeritas there is Adjusting alone, here never above Order-Place), m-SCT, HEFT, everything on one device
whatever its memory, the portfolio (by its own order), its bound, seconds of the portfolio run."""
import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

PCC = os.environ.get("PCC", "pcc")
KNOWN = {"op_bert12_training": (5043, 5536, 2615, 2558), "op_bert12_inference": (1874, 1952, 717, 717),
         "op_bert6_training": (1578, 1606, 588, 588), "op_bert3_training": (1164, 1181, 508, 508),
         "op_resnet50_inference": (1697, 1746, 484, 532), "op_resnet50_training": (3391, 3461, 1702, 1702),
         "op_bert6_inference": (513, 551, 275, 275)}


def prepare(source, target, colors):
    """The workload without CPUs; bytes of a device."""
    d = json.loads(source.read_text())
    total = sum(n["size"] for n in d["nodes"])
    d["maxCPUs"] = 0
    d["maxSizePerFPGA"] = 1.3 * total / d["maxFPGAs"]
    for n in d["nodes"] if not colors else ():
        n.pop("colorClass", None)
    target.write_text(json.dumps(d))
    return int(d["maxSizePerFPGA"])


def run(model, planner, dispatch, out):
    """(ms, fits, bound ms); None and the message where there is no plan."""
    r = subprocess.run([PCC, model, "--io=free", "--objective=makespan", "--network=direct", "--memory-model=sum",
                        f"--dispatch={dispatch}", "-p", planner, "-q", "-o", out], capture_output=True, text=True)
    if r.returncode:
        return None, False, None
    o = json.loads(out.read_text())["objective"]
    return o["value_s"] * 1e3, o["status"] != "over-memory", o["bound_s"] * 1e3


def best(model, planner, out):
    found = [x for x in (run(model, planner, d, out) for d in ("fifo", "level")) if x[0] is not None]
    if not found:
        return "-"
    ms, fits, _ = min(found)
    return f"{ms:.0f}" + ("" if fits else " over")


def row(source, colors, tmp):
    model, out = tmp / source.name, tmp / "out.json"
    cap = prepare(source, model, colors)
    how = f"range=50:mem={cap // 8}B:cut=edge:best-effort=true"
    known = KNOWN[source.stem] if colors else None
    cells = []
    for i, planner in enumerate(("m-topo-place{best-effort=true}", "m-etf-place{best-effort=true}",
                                 f"order-place{{{how}}}", f"celeritas-place{{{how}:contention=none}}")):
        cells.append(best(model, planner, out) + (f" ({known[i]})" if known else ""))
    cells += [best(model, f"{p}-place{{best-effort=true}}", out) for p in ("m-sct", "heft")]
    d = json.loads(model.read_text())
    cells.append(f"{sum(n['fpgaLatency'] for n in d['nodes']):.0f}")
    start = time.monotonic()
    ms, fits, bound = run(model, "portfolio-place{best-effort=true}", "plan", out)
    cells += [f"{ms:.0f}" + ("" if fits else " over"), f"{bound:.0f}", f"{time.monotonic() - start:.1f}"]
    print(f"{source.stem:22} {'yes' if colors else 'no':6} " + " ".join(f"{c:>14}" for c in cells), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folder", type=Path)
    p.add_argument("--colors", choices=("yes", "no", "both"), default="both")
    args = p.parse_args()
    names = ("m-TOPO", "m-ETF", "Order-Place", "Celeritas", "m-SCT", "HEFT", "one device", "portfolio", "bound",
             "seconds")
    print(f"{'graph':22} {'colour':6} " + " ".join(f"{n:>14}" for n in names))
    with tempfile.TemporaryDirectory() as tmp:
        for colors in (True, False):
            if args.colors in ("both", "yes" if colors else "no"):
                for name in KNOWN:
                    row(args.folder / f"{name}.json", colors, Path(tmp))


if __name__ == "__main__":
    main()
