#!/usr/bin/env python3
"""Nothing that pcc says of its own is wider than 80 columns: help, the manual page, summaries, tables of plans.

Lines of stdout of runs with each objective, of models whose names are as long as exporters make them, are measured;
only a single word that has no room (a name from a file, a quoted setting) may stand out, alone on its line.
Bars are in proportion and full at 100 % only; colours come where they are wanted; sizes have one style.  The
check of columns is shown a planted line first."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish  # noqa: E402
from sanitized import SANITIZED  # noqa: E402

PCC, GEN = os.environ.get("PCC", "pcc"), os.environ.get("PCC_GEN", "pcc-gen")
COLUMNS = 80
SOON = ["--time-limit=50ms"] if SANITIZED else []  # of searches that take seconds


def run(*args, code=0, **more):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=300, check=False, **more)
    check(r.returncode == code, f"{args}: exit {r.returncode}: {r.stderr[-500:]}")
    return r


def wide(text):
    """Lines beyond the columns that could have been broken."""
    return [s for s in text.split("\n") if len(s) > COLUMNS and len(s.split()) > 1]


def narrow(text, what):
    check(text and not wide(text), f"{what}: {wide(text)[:3]}")


def helps():
    for words in (["--help"], ["--help=training"], ["--help=all"], ["--list-passes"]):
        narrow(run(*words).stdout, words)
    for line in run("--list-passes").stdout.splitlines():
        if not line.startswith(" "):
            narrow(run("--help-pass=" + line.split()[0]).stdout, line)
    brief, whole = run("--help").stdout, run("--help=all").stdout
    options = re.findall(r"^  (?:-\w, |    )--([a-z-]+)", brief, re.M)
    check(len(options) == 10 and "--help=all shows all" in brief and "--help=training" in brief,
          f"--help shows {options}")
    check(len(brief.splitlines()) < 40 and run("-h").stdout == brief, "-h and --help are one, and short")
    check(run("--help=fuse").stdout == run("--help-pass=fuse").stdout, "--help=PASS is --help-pass=PASS")
    training = run("--help=training").stdout
    check("--micro-batches=N" in training and "--devices" not in training, f"--help=training: {training}")
    groups = re.findall(r"^([A-Z][a-z ]+):$", whole, re.M)
    check(groups == ["Input", "Devices", "Costs", "Planning", "Training", "Output", "Looking inside",
                     "Comparing with published figures"], f"groups: {groups}")
    every = re.findall(r"^  (?:-\w, |    )--([a-z0-9-]+)", whole, re.M)
    twice = sorted(name for name in set(every) if every.count(name) > 1)
    check(twice == ["contention", "memory-model"] and set(options) < set(every), f"in two groups, or in none: {twice}")
    usual, comparing = whole.split("\nComparing with published figures:\n")
    for name, words in (("contention", "half|rx|baechi"), ("memory-model", "paper")):
        check(f"--{name}={words}\n" in comparing and words not in usual, f"--{name}={words} is not for comparing alone")
    for name in ("pieces", "cpus", "order-report", "allreduce-lane", "slices"):
        check(f"--{name}=" in comparing and f"--{name}=" not in usual, f"--{name} is not for comparing alone")


def manual():
    page = run("--help-man").stdout
    for words in (".SH EXAMPLES", ".SH SEE ALSO", ".SS Devices"):
        check(words in page, f"the manual page lacks {words}")
    if not shutil.which("groff"):
        print("not measured: the manual page (no groff)")
        return
    text = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", "-rLL=80n"], input=page, capture_output=True,
                          text=True, check=True).stdout
    check("EXAMPLES" in text and len(text) > 5000, "the manual page is empty")
    narrow(text, "the manual page")


def tables(tmp):
    model, train = tmp / "m.onnx", tmp / "a_profile_of_a_training_run.json"
    subprocess.run([GEN, "gpt", "--layers", "3", "--width", "64", "--heads", "4", "--vocab", "100", "-o", model],
                   check=True)
    nodes = [{"id": i, "name": f"a/rather/long/name/of/a/layer/{i}", "supportedOnFpga": 1, "cpuLatency": 9 + i,
              "fpgaLatency": 1 + i % 3, "isBackwardNode": 0, "size": 10 ** (3 * (i % 5))} for i in range(12)]
    edges = [{"sourceId": i, "destId": j, "cost": 0.01 * (1 + i)} for i in range(12)
             for j in range(i + 1, min(12, i + 3))]
    train.write_text(json.dumps({"maxSizePerFPGA": 10 ** 13, "maxFPGAs": 3, "maxCPUs": 1, "nodes": nodes,
                                 "edges": edges}))
    plain = ["-Wno-guessed-dim"]
    for args in ([model], [model, "-o", tmp / "split"], [model, "-d", "12xa100,2xcpu", "-p", "dp-place"],
                 [model, "-d", "3xa100:900MiB", "--objective=makespan", "--network=direct", *SOON],
                 [model, "-d", "3xa100,1xcpu", "--objective=latency", *SOON], [model, "-p", "levels"],
                 [model, "-d", "2xa100", "-p", "dp-place", "--replay=100", "--baselines", "--order-report=host"],
                 [model, "-p", "auto-place", "--link=1GB/s,1ms", "--reserve=10%", "--efficiency=0.5"],
                 [train], [train, "-p", "auto-place"], [train, "-p", "auto-place", "--judge=makespan"],
                 [train, "-p", "anneal-place"]):
        narrow(run(*args, *plain).stdout, args)
    print_bars(run(model, *plain, "-d", "12xa100,2xcpu", "-p", "dp-place").stdout)
    print_bars(run(train, "-p", "dp-place").stdout)
    said = run(train, "-d", "2xa100", "-p", "auto-place", code=2).stderr
    check("brings its own devices" in said, said)
    narrow(run(tmp / "split", "--check-schedule").stdout, "--check-schedule")
    said = " ".join(run(train).stdout.split())
    check(said.endswith(": a workload of 12 nodes with times (-p auto-place plans it)"), f"of a workload: {said}")
    small = json.loads(train.read_text())
    small["maxSizePerFPGA"], small["maxCPUs"] = 10 ** 6, 0
    train.write_text(json.dumps(small))
    said = run(train, "-p", "dp-place", code=3).stderr
    check(re.search(r"[\d.]+ GiB( \(\d+ bytes\))?", said) and not re.search(r"\d(B|[KMGT]iB)\b", said),
          f"units: {said}")


def print_bars(text):
    """Of each row of the table of devices, the bar and the number behind it."""
    rows = re.findall(r"^(?:acc|cpu)\d+ .* ([#.]+) +(\d+) %$", text, re.M)
    check(rows, f"no bars in {text[:500]}")
    for bar, share in rows:
        full, share = bar.count("#") / len(bar), int(share)
        check("#" not in bar.lstrip("#") and (full == 1) == (share == 100)
              and full * 100 <= share + 1 and share < (full + 1 / len(bar)) * 100 + 1, f"{bar} for {share} %")


def colours(tmp):
    model = tmp / "m.onnx"
    plan = [model, "-d", "2xa100", "-p", "dp-place"]
    bare = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    r = run(*plan, env=bare)
    check("\033" not in r.stdout + r.stderr, "colours where nobody looks")
    r = run(*plan, "--color=always", env={**bare, "NO_COLOR": "1"})
    check("\033[1;32moptimal\033[0m" in r.stdout and "\033[1;33mwarning\033[0m: " in r.stderr, f"always: {r.stderr}")
    check("\033[1;31merror\033[0m: " in run("--color=always", "--nope", code=2).stderr, "no red error")
    check("expected auto, always or never" in run(*plan, "--color=red", code=2).stderr, "--color=red")
    if not shutil.which("script"):
        print("not tried: a terminal (no script)")
        return
    command = " ".join(map(str, [PCC, *plan]))
    for env, colored in ((bare, True), ({**bare, "NO_COLOR": "1"}, False), ({**bare, "TERM": "dumb"}, False)):
        r = subprocess.run(["script", "-qec", command, "/dev/null"], capture_output=True, text=True, env=env,
                           check=True)
        check(("\033[1;32moptimal" in r.stdout) == colored, f"on a terminal: {env.get('NO_COLOR')} {env.get('TERM')}")
    r = subprocess.run(["script", "-qec", command + " --color=never", "/dev/null"], capture_output=True, text=True,
                       env=bare, check=True)
    check("\033[1;" not in r.stdout, "--color=never on a terminal")
    for words in ("-d 2xa100 --link=" + "9" * 30, "-o " + "a/" * 9 + "x.xyz"):
        command = " ".join(map(str, [PCC, model, "--color=never", words]))
        r = subprocess.run(["script", "-qec", command, "/dev/null"], capture_output=True, text=True, env=bare,
                           check=False)
        said, plain = r.stdout.replace("\r", ""), run(*command.split()[1:], code=2).stderr
        check(said.startswith("pcc: error: ") and len(plain) > COLUMNS, f"{words}: {said} {plain}")
        narrow(said, words)
        check(said.split() == plain.split() and plain.count("\n") == 1, f"a message to a file: {plain}")


check(wide("x\n" + "four words and more " * 5) and not wide("x" * 90), "a planted wide line is not seen")
helps()
manual()
with tempfile.TemporaryDirectory() as folder:
    tables(Path(folder))
    colours(Path(folder))
sys.exit(finish())
