#!/usr/bin/env python3
"""portfolio-place, the default for makespans, beside what it starts from and beside other planners.

usage: portfolio.py FOLDER       improvement on the operator graphs of the placement paper
       portfolio.py exported     the real models of the shared material

FOLDER: the seven operator graphs of the workloads there, with colours and without, prepared as `pcc-bench schedule`
does: accelerators alone, 1.3 times the memory that an equal share needs, one hop between devices, ports, memory
model sum; four times the usual effort.  ms: the best list schedule (or one device), the best plan of any planner
that is tried (what improving starts from), the improved plan, the bound, CPU seconds.
Ends with 1 if an improved plan is above what it starts from, fewer than 6 are at least 5 % below it, or a run takes
more than 10 s of CPU.

exported: each real model over 4 devices that hold a third of what one device needs for it, default options; ms of
portfolio-place, dp-place, METIS and Scotch, all judged as makespans ("-": no plan that fits), of one device whatever
its memory, and the bound.
Ends with 1 if portfolio-place has no plan where another one has, a larger makespan, or takes more than 5 s of CPU.

PCC, PCC_GEN, PCC_SHARED: the programs and the material (common.py)."""
import json
import re
import sys
import tempfile
from pathlib import Path

from common import PCC, Run, help_or_go, need_shared, table, verdict
from schedule import prepared

GRAPHS = ("op_bert12_training", "op_bert12_inference", "op_bert6_training", "op_bert3_training",
          "op_resnet50_inference", "op_resnet50_training", "op_bert6_inference")
LISTS = ("one device", "celeritas-place", "heft-place", "m-topo-place", "m-etf-place", "m-sct-place")
PASSES = "open-functions,fuse,"
BELOW, LEAST, CPU, CPU_EXPORTED = 0.95, 6, 10, 5
UNITS = {"ps": 1e-9, "ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}
BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def reached(text):
    """Parses the table of plans in pcc's report: {kind of plan: (ms, whether it fits into memory)}."""
    rows = text.split("what each kind of plan reached:")[1]
    found = re.findall(r"^  (\S+(?: device)?) +([\d.]+) (ps|ns|us|ms|s)\b(.*)$", rows, re.M)
    return {kind: (float(n) * UNITS[unit], "over a device" not in rest) for kind, n, unit, rest in found}


def improvement(folder):
    """Compares what portfolio-place finds for the graphs of the paper with what it starts from. Prints the rows, and a
    line for each that fails. Returns (whether all holds, a summary)."""
    rows, wrong, clear = [], [], 0 # clear: graphs whose improved plan is 5 % below what it starts from
    with tempfile.TemporaryDirectory() as tmp:
        for colors in (True, False):
            for name in GRAPHS:
                model = Path(tmp) / f"{name}.json"
                prepared(folder / f"{name}.json", model, colors)
                run = Run([PCC, model, "--io=free", "--objective=makespan", "--network=direct", "--memory-model=sum",
                           "-p", "portfolio-place{effort=4}"]).need()
                kinds = reached(run.out)
                last = kinds.pop("improved")[0]
                start = min(ms for ms, fits in kinds.values() if fits)
                lists = min((ms for k, (ms, fits) in kinds.items() if fits and k in LISTS), default=0)
                bound = re.search(r"bound ([\d.]+) (ps|ns|us|ms|s),", run.out)
                clear += last <= BELOW * start
                label = f"{name} {'colours' if colors else 'no colours'}"
                if last > start or run.cpu > CPU:
                    wrong.append(f"{label}: {start} to {last} ms, {run.cpu:.1f} s")
                rows.append([label, f"{lists:.4g}", f"{start:.4g}", f"{last:.4g}", f"{100 * (last / start - 1):.1f}",
                             f"{float(bound[1]) * UNITS[bound[2]]:.4g}", f"{run.cpu:.1f}"])
    table(["graph", "lists", "start", "improved", "%", "bound", "cpu s"], rows)
    for w in wrong:
        print(w)
    return not wrong and clear >= LEAST, f"{clear} of {len(rows)} at least 5 % below what they start from"


def need_of(model):
    """Bytes and makespan (ms) of the whole model on one device, whatever its memory."""
    text = Run([PCC, model, "-d", "4xa100", "-p", "one-place{best-effort=true}", "--judge=makespan"]).need().out
    n, unit = re.search(r"^acc0 .* ([\d.]+) (B|KiB|MiB|GiB|TiB) of", text, re.M).groups()
    value, time = re.search(r"^makespan ([\d.]+) (ps|ns|us|ms|s)$", text, re.M).groups()
    return int(float(n) * BYTES[unit]), float(value) * UNITS[time]


def makespan(model, cluster, planner, tmp):
    """Plans a model: the makespan of the plan and its bound, in ms (None: no plan), and the run of pcc that planned.
    Plans of planners for another objective are judged by a second run."""
    plan, judged = Path(tmp) / "plan.json", Path(tmp) / "judged.json"
    own = planner == "portfolio-place" # which plans for the makespan
    goal = ["--objective=makespan"]
    run = Run([PCC, model, "-d", cluster, *(goal if own else []), "-p", PASSES + planner, "-q", "-o", plan])
    if run.rc:
        return None, None, run
    if not own:
        again = Run([PCC, model, "-d", cluster, *goal, "-p", f"plan{{from={plan}}}", "-q", "-o", judged])
        if again.rc:
            return None, None, run
    o = json.loads((plan if own else judged).read_text())["objective"]
    return o["value_s"] * 1e3, o["bound_s"] * 1e3, run


def exported():
    """Compares portfolio-place with the other planners for the exported models. Prints the rows, and a line for each
    that fails. Returns (whether all holds, a summary)."""
    rows, wrong = [], []
    planners = ("portfolio-place", "dp-place", "metis-place", "scotch-place")
    with tempfile.TemporaryDirectory() as tmp:
        for model in sorted(need_shared("models/exported/real").glob("*.onnx")):
            need, one = need_of(model)
            found = [makespan(model, f"4xa100:{need // 3}B", p, tmp) for p in planners]
            ms = [f[0] for f in found]
            own, bound, run = found[0]
            others = [m for m in ms[1:] if m is not None]
            if run.cpu > CPU_EXPORTED or (others and (own is None or own > min(others))):
                wrong.append(f"{model.stem}: {ms}, {run.cpu:.1f} s")
            rows.append([model.stem, *("-" if m is None else f"{m:.5g}" for m in ms), f"{one:.5g}",
                         "-" if own is None else f"{bound:.5g}", f"{run.cpu:.1f}",
                         run.out.strip().split("\n")[-1][-70:] if own is None else ""])
    table(["model", *planners, "one device", "bound", "cpu s", ""], rows)
    for w in wrong:
        print(w)
    return not wrong, f"{sum(r[1] != '-' for r in rows)} of {len(rows)} have a plan"


def main():
    help_or_go()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    verdict(*(exported() if sys.argv[1] == "exported" else improvement(Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
