#!/usr/bin/env python3
"""The integer programs of the sixteen workloads of the placement paper, exported and solved by HiGHS.

usage: mps.py [--seconds N] [--own N] [--shape none|convex|chain] [workload ...]

For each workload: pcc's plan and bound (ip-place by lp_solve; shape none: the plan of anneal-place, if it is better),
the model that ip-place{solve=false:write=FILE.mps} writes, and what HiGHS makes of it in N seconds of the clock
(60; pcc has those of --own, 10). Exit code 1: HiGHS finds a better plan than one that pcc calls the best, or a plan
below pcc's bound, or proves that there is none as good as pcc's. Needs highspy in the Python that runs it
(tools/setup.sh puts it into build/venv)."""
import argparse
import re
import sys
import tempfile
from pathlib import Path

from common import PCC, Run, help_or_go, need_shared, table, verdict

TOLERANCE = 2e-6
UNIT = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}


def solve(files, seconds):
    """Solves the models in the files, each within the seconds, of which the best counts. Returns its value (ps; None:
    no plan was found), the least bound (ps; None: all models have no solution), and whether all runs ended."""
    import highspy
    value, bound, ended = None, None, True
    for path in files:
        unit = UNIT[re.search(r"T in (\w+)", path.read_text()[:500])[1]]  # of the objective, as the head says
        h = highspy.Highs()
        h.setOptionValue("output_flag", False)
        h.setOptionValue("threads", 1)
        h.setOptionValue("time_limit", float(seconds))
        h.setOptionValue("mip_rel_gap", 1e-9)
        if h.readModel(str(path)) == highspy.HighsStatus.kError: # a warning: coefficients below 1e-9 are dropped
            sys.exit(f"HiGHS cannot read {path}")
        h.run()
        info, status = h.getInfo(), h.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            continue
        ended = ended and status == highspy.HighsModelStatus.kOptimal
        found = info.objective_function_value
        if abs(found) < 1e20:  # else infinite: no plan
            value = found * unit if value is None else min(value, found * unit)
        low = max(info.mip_dual_bound, 0) * unit
        bound = low if bound is None else min(bound, low)
    return value, bound, ended


def plan(workload, passes, seconds, tmp):
    """Plans a workload in at most `seconds` of the clock. Returns value and bound in ps by the textual IR, and the CPU
    seconds."""
    out = Path(tmp) / "plan.pir"
    run = Run([PCC, workload, "-p", passes, "-q", "--time-limit", f"{seconds}s", "-o", out]).need()
    said = next(s for s in out.read_text().splitlines() if s.startswith("plan "))
    found = {k: picoseconds(v) for k, v in re.findall(r"(time|value|bound)=(\S+)", said)}
    return found.get("time", found.get("value")), found["bound"], run.cpu


def picoseconds(text):
    """A time as pcc prints it, such as "1.25ms", in ps; digits below a ps are cut."""
    number, unit = re.fullmatch(r"([\d.]+)([munp]?s)", text).groups()
    whole, _, rest = number.partition(".")
    return int(whole) * UNIT[unit] + (int(rest) * UNIT[unit] // 10 ** len(rest) if rest else 0)


def contradiction(value, bound, best, high, low, ended):
    """Returns in words how the figures of pcc (value of its plan of this shape, its bound, its best value of any shape)
    contradict the figures of HiGHS (high: value, low: bound, ended: it proved them); None: they agree."""
    if high is not None and high < bound * (1 - TOLERANCE):
        return f"HiGHS finds {high:.0f} ps, pcc's bound is {bound}"
    if low is not None and low > best * (1 + TOLERANCE):
        return f"HiGHS proves {low:.0f} ps, pcc has {best}"
    if ended and high is not None and bound >= value * (1 - TOLERANCE) and abs(high - value) > value * TOLERANCE:
        return f"HiGHS finds {high:.0f} ps, pcc claims {value}"
    return None


def measure(workload, shape, seconds, own, tmp):
    """Compares pcc's figures for a workload (within `own` seconds) with those of HiGHS (within `seconds`). Returns a
    row of the table, and a list: of the contradiction in words, or empty."""
    passes = f"ip-place{{contiguous={shape}:solver=lp_solve"
    value, bound, cpu = plan(workload, passes + "}", own, tmp)
    best = min(value, plan(workload, "anneal-place", own, tmp)[0]) if shape == "none" else value
    for old in Path(tmp).glob("model*.mps"):  # ip-place writes one or several
        old.unlink()
    Run([PCC, workload, "-q", "-p", f"{passes}:solve=false:write={tmp}/model.mps}}"]).need()
    high, low, ended = solve(sorted(Path(tmp).glob("model*.mps")), seconds)
    row = [workload.stem, *(f"{x / 1e9:.4f}" for x in (value, bound, best)), f"{cpu:.1f}",
           "" if high is None else f"{high / 1e9:.4f}", f"{(low or 0) / 1e9:.4f}", "yes" if ended else ""]
    wrong = contradiction(value, bound, best, high, low, ended)
    return row, [f"{workload.stem}: {wrong}"] if wrong else []


def main():
    help_or_go()
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--own", type=int, default=10)
    parser.add_argument("--shape", default="none", choices=["none", "convex", "chain"])
    parser.add_argument("workload", nargs="*")
    o = parser.parse_args()
    rows, wrong = [], []
    files = sorted(need_shared("workloads/throughput").glob("*.json"))
    with tempfile.TemporaryDirectory() as tmp:
        for f in files:
            if not o.workload or f.stem in o.workload:
                row, bad = measure(f, o.shape, o.seconds, o.own, tmp)
                rows.append(row)
                wrong += bad
                print(f"{f.stem} {' '.join(row[1:])}", file=sys.stderr, flush=True)
    table(["workload", "ip-place ms", "bound", "best known", "cpu s", "HiGHS ms", "bound", "ended"], rows)
    verdict(not wrong, "; ".join(wrong) or "pcc and HiGHS agree")


if __name__ == "__main__":
    main()
