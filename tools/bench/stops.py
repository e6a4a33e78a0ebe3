#!/usr/bin/env python3
"""How soon pcc ends after Ctrl-C and at --time-limit: while it reads, plans, draws and writes.

usage: stops.py [--only REGEX] [--moments 8] [--most 0.5] [--list]

Each line of CASES runs once whole, for 20 s at most. Then it runs again and again, and Ctrl-C comes at moments spread
evenly over the CPU time that it took. A reaction is the CPU time from Ctrl-C to the end of the program; so it hardly
depends on what else the machine does, and of several threads all count. Last it runs with a time limit of a quarter of
that CPU time; reading and writing come on top, so the row shows what the whole takes beyond the limit, as CPU time,
less what it takes with a limit of 1 ps.

--only      cases whose text the regular expression finds
--moments   Ctrl-Cs for each case
--most      seconds that a reaction may take
Ends with 1 if a reaction takes longer, or a run ends with another exit code than 0, 1, 3 or 130.

PCC, PCC_GEN, PCC_SHARED: the programs and the material (common.py); cases of material that is not there are skipped."""
import argparse
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from common import PCC, PCC_GEN, SHARED, help_or_go, table, verdict

TICK = os.sysconf("SC_CLK_TCK")
WHOLE = 20  # CPU seconds that a whole run may take
REAL = SHARED / "models/exported/real"
FIVE = "8xa100,8xv100,8xh100,8xt4,8xcpu"
EIGHT = "4xa100,4xv100,4xh100,4xt4,4xa10,4xl4,4xa30,4xcpu"
THOUSAND = "1000xa100"
MIXED = "250xa100,250xv100,250xh100,250xt4"
# Inputs by pcc-gen: name, arguments.
INPUTS = {
    "gpt12.onnx": "gpt --layers 12 --width 768 --heads 12 --no-weights",
    "gpt96.onnx": "gpt --layers 96 --width 1024 --heads 16 --no-weights",
    "train.onnx": "train --layers 24 --no-weights",
    "layers.json": "random-layers --nodes 20000",
    "ladder.onnx": "ladder --nodes 300000",
    "star.onnx": "star --nodes 20000",
}
# The folder of inputs is IN, that of outputs is OUT, the exported models REAL.
CASES = """
IN/gpt12.onnx -d FIVE -o OUT/x.json
IN/gpt12.onnx -d EIGHT -o OUT/x.json
IN/gpt12.onnx -d THOUSAND -o OUT/x.json
IN/gpt12.onnx -d MIXED -o OUT/x.json
IN/gpt96.onnx -d EIGHT -o OUT/x.json
IN/gpt96.onnx -d THOUSAND -o OUT/x.json
IN/gpt96.onnx -d MIXED -o OUT/x.json
IN/gpt96.onnx -d 8xa100 -o OUT/x.json
IN/gpt96.onnx -d 8xa100 -p fuse,anneal-place -o OUT/x.json
IN/gpt96.onnx -d 8xa100 --overlap=max -o OUT/x.json
IN/gpt96.onnx -d 8xa100 --replicate -o OUT/x.json
IN/gpt96.onnx -d 64xa100 --replicate -o OUT/x.json
IN/gpt96.onnx -d 8xa100 --objective=makespan -o OUT/x.json
IN/gpt96.onnx -d THOUSAND --objective=makespan -o OUT/x.json
IN/gpt96.onnx -d MIXED --objective=makespan -o OUT/x.json
IN/gpt96.onnx -d EIGHT --objective=latency -o OUT/x.json
IN/gpt96.onnx -d MIXED --objective=latency -o OUT/x.json
IN/gpt96.onnx -d 8xa100 -p shard,auto-place -o OUT/x.json
IN/gpt96.onnx -d 8xa100 -p fuse,auto-place -o OUT/split
IN/gpt96.onnx -d 8xa100 -p fuse,auto-place -o OUT/x.html
IN/gpt96.onnx -d 8xa100 -p fuse,auto-place -o OUT/x.svg
IN/gpt96.onnx -d THOUSAND -p dp-place -o OUT/split
IN/train.onnx -d 8xa100 --objective=iteration-time -o OUT/x.json
IN/train.onnx -d 256xa100 --objective=iteration-time --micro-batches=64 --slices=any -o OUT/x.json
IN/train.onnx -d THOUSAND --objective=iteration-time --micro-batches=8 --slices=any -o OUT/x.json
IN/train.onnx -d EIGHT -o OUT/x.json
IN/layers.json -o OUT/x.json
IN/layers.json -p anneal-place -o OUT/x.json
IN/layers.json --objective=makespan -o OUT/x.json
IN/layers.json --objective=latency -o OUT/x.json
IN/layers.json --io=free -o OUT/x.svg
IN/ladder.onnx -d 8xa100 -o OUT/x.json
IN/ladder.onnx -d THOUSAND -o OUT/x.json
IN/ladder.onnx -d 8xa100 --objective=makespan -o OUT/x.json
IN/ladder.onnx -d 8xa100 -p dp-place -o OUT/x.pir
IN/star.onnx -d EIGHT -o OUT/x.json
IN/star.onnx -d 64xa100 -o OUT/x.json
IN/star.onnx -d 8xa100 --objective=latency -o OUT/x.json
REAL/convnext_tiny_dyn.onnx -d FIVE -o OUT/x.json
REAL/convnext_tiny_dyn.onnx -d EIGHT -o OUT/x.json
REAL/convnext_tiny_dyn.onnx -d THOUSAND -o OUT/x.json
REAL/resnet152_dyn.onnx -d EIGHT -o OUT/x.json
REAL/resnet152_dyn.onnx -d MIXED -o OUT/x.json
REAL/mixtral_dyn.onnx -d EIGHT -o OUT/x.json
REAL/mixtral_dyn.onnx -d MIXED -o OUT/x.json
REAL/train_gpt_grad_dyn.onnx -d THOUSAND -o OUT/x.json
"""


def used(pid):
    """CPU seconds of a running process and the children it has waited for; None once it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    # utime, stime, cutime, cstime
    return None if fields[0] == "Z" else sum(map(int, fields[11:15])) / TICK


def run(command, folder, moment=None):
    """Runs a command and sends it Ctrl-C once it has used `moment` seconds of CPU (None: never). Returns its exit code,
    its CPU seconds, and those after Ctrl-C (None: it had ended before)."""
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    sent = None
    while moment is not None and sent is None:
        now = used(p.pid)
        if now is None:
            break
        if now >= moment:
            sent = now
            p.send_signal(signal.SIGINT)
        else:
            time.sleep(0.005)
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)  # else Popen would wait for the process again
    cpu = usage.ru_utime + usage.ru_stime
    return p.returncode, cpu, None if sent is None else cpu - sent


def measure(words, folder, args):
    """Runs a case again and again. Returns the cells of its row but the first, and whether it is within the limits.
    words: pcc and its arguments; folder: to run in."""
    codes, reactions = set(), []  # exit codes; (CPU seconds from Ctrl-C to the end, the moment of Ctrl-C)

    def once(moment, *more):
        """Runs the case with Ctrl-C at this moment (see run()) and notes the code and the reaction. Returns CPU
        seconds."""
        code, cpu, reaction = run([*words, "-q", *more], folder, moment)
        codes.add(code)
        if reaction is not None:
            reactions.append((reaction, moment))
        return cpu

    whole = once(WHOLE)
    for k in range(args.moments):
        once(min(whole, WHOLE) * (k + 0.5) / args.moments)
    worst, at = max(reactions, default=(0, 0))
    least, limit = once(None, "--time-limit", "1ps"), whole / 4
    over = once(None, "--time-limit", f"{limit:.3f}s") - limit - least
    good = worst <= args.most and over <= args.most and codes <= {0, 1, 3, 130}
    return [f"{whole:.2f}", f"{worst:.2f}", f"{at:.2f}", f"{least:.2f}", f"{max(0, over):.2f}",
            ",".join(map(str, sorted(codes)))], good


def main():
    help_or_go()
    ap = argparse.ArgumentParser()
    ap.add_argument("--only", default="")
    ap.add_argument("--moments", type=int, default=8)
    ap.add_argument("--most", type=float, default=0.5)
    ap.add_argument("--list", action="store_true")
    args = ap.parse_args()
    lines = [s for s in CASES.split("\n") if s and re.search(args.only, s)]
    if args.list:
        print("\n".join(lines))
        return
    rows, bad = [], []
    with tempfile.TemporaryDirectory() as tmp:
        for line in lines:
            names = {"FIVE": FIVE, "EIGHT": EIGHT, "THOUSAND": THOUSAND, "MIXED": MIXED}
            words = [names.get(w, w).replace("IN/", f"{tmp}/").replace("OUT/", f"{tmp}/").replace("REAL", str(REAL))
                     for w in line.split()]
            model = Path(words[0])
            if not model.exists() and model.name in INPUTS:
                subprocess.run([PCC_GEN, *INPUTS[model.name].split(), "-o", model], check=True)
            if not model.exists():
                print(f"skipped: {line}: {model} is not there")
                continue
            row, good = measure([PCC, *words], tmp, args)
            print(line, *row, "" if good else "TOO LATE", flush=True)
            rows.append([line, *row])
            bad += [] if good else [line]
    table(["case", "CPU s", "Ctrl-C", "at", "1ps", "limit +", "exits"], rows)
    verdict(not bad, f"{len(rows) - len(bad)} of {len(rows)} end within {args.most} s")


if __name__ == "__main__":
    main()
