#!/usr/bin/env python3
"""Are times that pcc-profile gives nodes, summed over a part, what the part takes?

usage: profiles.py [--cuts N] [--segments N] [NAME ...]       (default: 10 cuts of each model of pcc-gen below)
       profiles.py --rounds [NAME ...]
       profiles.py --memory [NAME ...]

Each model's order is cut at random into 2 and into 3 parts, in turn.  For each cut the model is measured in pieces
(pcc-profile MODEL) and the parts themselves (pcc-profile SPLIT --costs), in turn and twice each, since a machine is not
equally fast all the time; means are compared.  Printed, for each model: what measuring the pieces takes once, the
error of a part's time (median, parts within 10 %), and of the slowest part of a cut.  Two measurements of the same
parts (`again`) differ by what the machine adds.  Ends with 1 if the median error of all parts is above 4 %, 8 of 10
are not within 10 %, or the median error of slowest parts is above 3 %; where something else runs, that may be so.

With --rounds each model is split over 2 and over 3 CPUs by pcc-profile --rounds=3.  Printed: how far the slowest device
was from what was promised in each round.  Ends with 1 if that is more than 5 % in more than one of ten after one round
of measuring, or if a split is left that was measured slower than the first one.

With --memory each model is split over 1 and over 2 CPUs, and each part is loaded and run in a process of its own.
Printed: what the plan has for the part, and what the process held more than with the runtime alone, less 10 MiB that a
session takes for itself.

Needs ONNX Runtime (else 77)."""
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import PCC, PCC_GEN, help_or_go, table

MIB = 1 << 20
SESSION = 10 * MIB  # what a session takes for itself
PROFILE = Path(PCC).with_name("pcc-profile")
MODELS = {
    "gpt": (["gpt", "--layers", 6, "--width", 256, "--heads", 8, "--vocab", 5000], []),
    "bert": (["bert", "--layers", 4, "--width", 256, "--heads", 4, "--vocab", 5000], []),
    "resnet": (["resnet", "--depth", 50, "--width", 24, "--size", 128], []),
    "inception": (["inception", "--width", 24, "--size", 139], []),
    "moe": (["moe", "--layers", 2, "--width", 256, "--heads", 4, "--kv-heads", 2, "--vocab", 5000], ["sequence=32"]),
    "llama": (["llama", "--layers", 4, "--width", 256, "--heads", 8, "--kv-heads", 4, "--ffn", 688, "--vocab", 5000,
               "--kv"], ["sequence=64"]),
}


def run(*command):
    """Runs a command. Returns the finished process, with what it printed."""
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def need(r):
    """Ends the program if a run failed: with 77 if ONNX Runtime is missing, else 1."""
    if r.returncode:
        print(r.stderr.strip())
        sys.exit(77 if "ONNX Runtime is not found" in r.stderr else 1)


def cut(model, dims, names, parts, folder):
    """Splits a model at random places of its order (names) into `folder`. Returns whether pcc allows these cuts."""
    at = [0, *sorted(random.sample(range(1, len(names)), parts - 1)), len(names)]
    plan = {"pcc_plan": 1, "devices": [{"name": f"cpu{k}", "nodes": names[at[k]:at[k + 1]]} for k in range(parts)]}
    path = folder.with_suffix(".json")
    path.write_text(json.dumps(plan))
    r = run(PCC, model, "-d", f"{parts}xcpu", "-q", "-Wno-guessed-dim", *dims, "--pictures=none", "-p",
            f"plan{{from={path}}}", "-o", folder)
    return r.returncode == 0


def parts_of(split, costs, out):
    """Measured times of a split's parts with these costs. The measurement is written to `out`."""
    need(run(PROFILE, split, f"--costs={costs}", "-o", out, "-q"))
    return [p["time"] for p in json.loads(out.read_text())["parts"]]


def node_times(model, dims, segments, out):
    """{name: measured time} of a model's nodes. The measurement is written to `out`."""
    need(run(PROFILE, model, *dims, f"--segments={segments}", "-q", "-o", out))
    return {n["name"]: n["time"] for n in json.loads(out.read_text())["nodes"]}


def one_model(name, cuts, segments, tmp):
    """Measures nodes of a model and the parts of `cuts` random splits, in turn and twice for each split. Returns
    (relative errors of parts, of the slowest part of each split, relative differences of the two measurements, seconds
    for measuring the pieces once, ps of all nodes in the last measurement)."""
    args, sizes = MODELS[name]
    dims = [f"--dim={d}" for d in sizes]
    model, costs = tmp / f"{name}.onnx", tmp / f"{name}.json"
    need(run(PCC_GEN, *args, "-o", model))
    began = time.perf_counter()
    times = node_times(model, dims, segments, costs)
    took = time.perf_counter() - began
    errors, slowest, again = [], [], []
    for k in range(20 * cuts):  # enough tries, where many cuts are not allowed
        split = tmp / f"{name}{k}"
        if not cut(model, dims, list(times), 2 + k % 2, split):
            continue
        held = json.loads((split / "manifest.json").read_text())["nodes"]
        said, found = [], []  # times of the parts by those of their nodes, and measured: of both measurements
        for _ in range(2):
            times = node_times(model, dims, segments, costs)
            said.append([sum(times[n] for n in nodes) for nodes in held.values()])
            found.append(parts_of(split, costs, tmp / "parts.json"))
        promised, measured = ([sum(t) / 2 for t in zip(*both)] for both in (said, found))
        errors += [abs(s / m - 1) for s, m in zip(promised, measured)]
        slowest.append(abs(max(promised) / max(measured) - 1))
        again += [abs(a / b - 1) for a, b in zip(*found)]
        if len(slowest) == cuts:
            break
    return errors, slowest, again, took, sum(times.values())


def rounds_of(name, devices, tmp):
    """Per cent that the slowest device took more than promised, in each round; whether the split that is left was
    measured no slower than the first one."""
    args, sizes = MODELS[name]
    model = tmp / f"{name}.onnx"
    need(run(PCC_GEN, *args, "-o", model))
    r = run(PROFILE, model, "--rounds=3", f"--segments={2 * devices}", "-q", "-o", tmp / f"{name}{devices}",
            *(f"--dim={d}" for d in sizes), "--", "-d", f"{devices}xcpu", "--pictures=none")
    need(r)
    # a line for each round: its number, the promised and the measured time, the difference, and "kept" for one
    lines = re.findall(r"^\d+ +[\d.]+ \S+ +([\d.]+) (\S+) +([+-][\d.]+) %(.*)$", r.stdout, re.M)
    times = [float(measured) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit] for measured, unit, _, _ in lines]
    kept = next(k for k, (*_, remark) in enumerate(lines) if "kept" in remark)
    return [float(off) for _, _, off, _ in lines], times[kept] <= times[0]


def all_rounds(names):
    """The command: compares measured times of parts with those predicted in each round, prints the rows, and returns
    the exit code."""
    rows, after, good = [], [], True
    with tempfile.TemporaryDirectory() as tmp:
        for name in names:
            for devices in (2, 3):
                off, no_slower = rounds_of(name, devices, Path(tmp))
                good = good and no_slower
                after.append(abs(off[min(1, len(off) - 1)]))  # the second round, if there is one
                rows.append((name, devices, *(f"{o:+.1f} %" for o in off), *[""] * (3 - len(off))))
    table(("model", "devices", "round 1", "round 2", "round 3"), rows)
    good = good and sum(a > 5 for a in after) <= len(after) / 10
    near = sum(a <= 5 for a in after)
    print(f"after one round: median {statistics.median(after):.1f} %, {near} of {len(after)} within 5 %")
    return 0 if good else 1


def all_memory(names):
    """The command: compares the measured memory of parts with the predicted memory, prints the rows, and returns the
    exit code."""
    rows, ratios = [], []
    with tempfile.TemporaryDirectory() as tmp:
        for name in names:
            args, sizes = MODELS[name]
            model, out = Path(tmp) / f"{name}.onnx", Path(tmp) / "parts.json"
            need(run(PCC_GEN, *args, "-o", model))
            for devices in (1, 2):
                split = Path(tmp) / f"{name}{devices}"
                need(run(PCC, model, "-d", f"{devices}xcpu", "-q", "-Wno-guessed-dim", *(f"--dim={d}" for d in sizes),
                         "--pictures=none", "-o", split))
                need(run(PROFILE, split, "--steps=1", "--discard=0", "-q", "-o", out))
                planned = [p["live_peak_bytes"] for p in json.loads((split / "manifest.json").read_text())["parts"]]
                for part, bytes_ in zip(json.loads(out.read_text())["parts"], planned):
                    held = part["sample_bytes"] - part["start_bytes"] - SESSION
                    ratios.append(held / bytes_)
                    rows.append((name, devices, part["file"], *(f"{b / MIB:.1f} MiB" for b in (bytes_, held)),
                                 f"{held / bytes_:.2f}"))
    table(("model", "devices", "part", "planned", "held", "ratio"), rows)
    print(f"held over planned: median {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}")
    return 0


def main():
    help_or_go()
    if "--memory" in sys.argv:
        return all_memory([a for a in sys.argv[1:] if a != "--memory"] or MODELS)
    if "--rounds" in sys.argv:
        return all_rounds([a for a in sys.argv[1:] if a != "--rounds"] or MODELS)
    args, values = sys.argv[1:], {"--cuts": 10, "--segments": 4}
    for word in values:
        if word in args:
            at = args.index(word)
            values[word] = int(args[at + 1])
            del args[at:at + 2]
    random.seed(1)
    rows, every = [], ([], [], [])  # every: errors of all parts, of all slowest parts, differences of all again
    with tempfile.TemporaryDirectory() as tmp:
        for name in args or MODELS:
            errors, slowest, again, took, whole = one_model(name, values["--cuts"], values["--segments"], Path(tmp))
            for all_of, own in zip(every, (errors, slowest, again)):
                all_of += own
            rows.append((name, f"{whole / 1e9:.2f} ms", f"{took:.1f} s", *figures(errors, slowest, again)))
    rows.append(("all", "", "", *figures(*every)))
    table(("model", "a run", "pieces", "parts", "median", "within 10 %", "slowest", "again"), rows)
    good = (statistics.median(every[0]) <= 0.04 and statistics.median(every[1]) <= 0.03 and
            sum(e <= 0.1 for e in every[0]) >= 0.8 * len(every[0]))
    print("as claimed" if good else "not as claimed: does something else run on this machine?")
    return 0 if good else 1


def figures(errors, slowest, again):
    """The cells of a row for relative errors of predicted times: of all parts (`errors`), of the slowest part of each
    cut (`slowest`), and of a second measurement (`again`). They are the number of parts, their median error, the share
    of parts within 10 %, and the medians of the two others."""
    return (str(len(errors)), f"{100 * statistics.median(errors):.1f} %",
            f"{100 * sum(e <= 0.1 for e in errors) / len(errors):.0f} %", f"{100 * statistics.median(slowest):.1f} %",
            f"{100 * statistics.median(again):.1f} %")


if __name__ == "__main__":
    sys.exit(main())
