#!/usr/bin/env python3
"""List planners under a time limit that ends them somewhere on their way.

usage: test_list_stop.py   (environment: PCC, PCC_GEN)

Whenever that is, there is a plan, which the judge confirms (else pcc ends with 4); what was cut short is said. The
limits are shares of the time that the planner takes here, so nothing hangs on how fast the machine is.

Exit: 0 pass, 1 fail."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish
from sanitized import SANITIZED

PCC, GEN = os.environ.get("PCC", "pcc"), os.environ.get("PCC_GEN", "pcc-gen")
LAYERS = 30 if SANITIZED else 150
CUT = "order-place", "celeritas-place", "heft-place", "m-etf-place", "m-sct-place"


def plan(model, planner, *args):
    """What is said of the plan, and the milliseconds that the planner took."""
    r = subprocess.run([PCC, model, "-d", "4xa100", "--objective=makespan", "--network=direct", "--time-passes",
                        "-p", planner + "{best-effort=true}", *args], capture_output=True, text=True, timeout=300,
                       check=False)
    said = re.search(r"^makespan .*(\n  .*|\n(no )?bound .*|\nshape: .*|\nwhy: .*)*", r.stdout + r.stderr, re.M)
    took = re.search(rf"([\d.]+) ms  {planner}", r.stderr)
    check(r.returncode == 0 and said and took, f"{planner} {args}: exit {r.returncode}: {r.stderr[-300:]}")
    return re.sub(r"\n +", " ", said[0]) if said else "", float(took[1]) if took else 1


with tempfile.TemporaryDirectory() as tmp:
    path = Path(tmp) / "gpt.onnx"
    subprocess.run([GEN, "gpt", "--layers", str(LAYERS), "--no-weights", "-o", path], check=True, timeout=300)
    for name in (*CUT, "dfs-place", "m-topo-place"):
        whole, ms = plan(path, name)
        check("time limit" not in whole, f"{name}: {whole}")
        for share in (0, 0.05, 0.1, 0.2, 0.4):
            text, _ = plan(path, name, "--time-limit", f"{max(1, int(ms * share * 1e9))}ps")
            check(share or name not in CUT or "time limit reached" in text, f"{name}: {text}")
sys.exit(finish())
