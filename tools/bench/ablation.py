#!/usr/bin/env python3
"""What does each method of dp-place bring?  Leaves them out one by one and counts what gets worse.

usage: ablation.py [--seed N] [--graphs N] [--only REGEX] [--without NAME]... [--jobs N] [--cases]

Methods are the rows of METHODS.  A program without one is made from a copy of its file in which the function returns
at once: that copy is compiled as the build does it and linked before the library.  So pcc itself has no switch.

Cases: the exported models (PCC_SHARED) and those of pcc-gen over 3 and 8 a100, and --graphs (100) random graphs drawn
with --seed (a fresh one, which is printed).  --only: cases that the regular expression finds; --without: these methods
alone; --cases: prints each case that a method changes.

Columns: plans that take longer without the method (+) or less (-), proofs that are lost or won, cases whose gap gets
wider or narrower by more than 0.1 %, CPU seconds of all cases, and the sum and the largest of the cases' gaps, in
percent, that is left.  A method pays if more plans get worse than better without it, else if more proofs are lost than
won, else if gaps are wider, else if it saves a tenth of the time.  Exit code 0: each method pays."""
import argparse
import concurrent.futures
import json
import math
import random
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from common import PCC, PCC_GEN, ROOT, SHARED, Run, facts_of, help_or_go, table, verdict

AT = "passes/contiguous/"
RACE = AT + "dp_race.c"
# name of a method: its functions, which return at once where it is switched off: (file, function, value returned then)
METHODS = {
    "exact search": [(RACE, "run_main", "")],
    "probes": [(RACE, "run_probe", "")],
    "orders": [(RACE, "try_orders", "")],
    "cut orders": [(RACE, "try_cut_orders", "")],
    "neighbourhoods": [(RACE, "try_near", "")],
    "path bounds": [(RACE, "try_path", "")],
    "bounds": [(RACE, "try_bounds", "")],
    "smaller graphs": [(RACE, "try_smaller", "")],
    "climb": [(RACE, "try_climb", "")],
    "maximal loads": [(AT + "dp_maximal.c", "maximal_could_be_larger", "false"),
                      (AT + "dp_maximal.c", "maximal_find_larger", "")],
    "search from the end": [(AT + "ideal_both_ends.c", "next_end", "0")],
}
# Arguments of pcc-gen: each text makes one model.
GENERATED = ("gpt", "gpt --layers 24 --kv", "bert", "llama --layers 8", "llama --layers 4 --kv", "moe --layers 2",
             "unet", "unet --layers 4 --levels 4", "dlrm", "train", "train --layers 8", "encoder-decoder",
             "encoder-decoder --layers 2", "detector --classes 20", "detector --levels 3 --classes 80",
             "resnet --depth 152", "inception", "inception --blocks 30", "star --nodes 1000", "ladder --nodes 1000",
             "dense", "random-layers --nodes 200", "random-layers --nodes 2000 --width 4")
DEVICES = (3, 8)
WIDER = 0.1  # a gap, in percent, is wider than another if it is larger by more than this


def left_out(text, name, value):
    """The text of a C file in which the function `name` returns `value` at once. Ends the script if `text` does not
    define the function."""
    head = rf"^((?:static )?\w[^;{{}}=]*\b{name}\([^;{{}}]*\)\n{{\n)"
    changed, n = re.subn(head, rf"\1    if (1)\n        return {value};\n", text, flags=re.M)
    if n != 1:
        sys.exit(f"{name} is defined {n} times: mend METHODS")
    return changed


def program_without(method, folder):
    """Builds a pcc without the method: compiles changed copies of the method's sources, and links them in front of the
    objects of the build. Returns its path."""
    build, at = Path(PCC).resolve().parent, Path(folder) / method.replace(" ", "-")
    at.mkdir()
    compiles = {c["file"]: c for c in json.loads((build / "compile_commands.json").read_text())}
    objects, texts = [], {}
    for file, name, value in METHODS[method]:
        texts[file] = left_out(texts.get(file) or (ROOT / file).read_text(), name, value)
    for file, text in texts.items():
        copy, made = at / Path(file).name, at / (Path(file).stem + ".o")
        copy.write_text(text)
        words = shlex.split(compiles[str(ROOT / file)]["command"])
        words[words.index("-o") + 1] = str(made)
        words[words.index(str(ROOT / file))] = str(copy)
        subprocess.run([*words, "-w"], cwd=build, check=True)
        objects.append(str(made))
    link = subprocess.run(["ninja", "-t", "commands", "pcc"], cwd=build, stdout=subprocess.PIPE, text=True, check=True)
    # the last command links pcc; CMake writes it as ": && COMMAND && :"
    words = shlex.split(link.stdout.splitlines()[-1].removeprefix(": && ").removesuffix(" && :"))
    words[words.index("-o") + 1] = str(at / "pcc")
    subprocess.run([*words[:1], *objects, *words[1:]], cwd=build, check=True)
    return at / "pcc"


def random_graph(seed, path):
    """Writes a random workload to `path`: each node reads some of the nodes shortly before it; there are a few devices,
    in half of the cases with little memory."""
    draw = random.Random(seed)
    n, reach, devices = draw.randrange(20, 400), draw.randrange(2, 30), draw.randrange(2, 9)
    scale = 10 ** draw.uniform(-2, 1)  # factor of the transfers' costs
    nodes = [{"id": i, "supportedOnFpga": 1, "fpgaLatency": draw.lognormvariate(3, 1), "size": draw.randrange(1, 1000),
              "cpuLatency": draw.lognormvariate(5, 1)} for i in range(n)]
    cost = [scale * draw.lognormvariate(2, 1) for _ in range(n)]
    edges = {(draw.randrange(max(0, i - reach), i), i)
             for i in range(1, n) for _ in range(draw.choice((1, 1, 1, 2, 3)))}
    memory = sum(x["size"] for x in nodes) / devices * draw.choice((1.2, 1.5, 100, 100))
    path.write_text(json.dumps({"maxSizePerFPGA": memory, "maxFPGAs": devices, "maxCPUs": draw.randrange(2),
                                "nodes": nodes, "edges": [{"sourceId": a, "destId": b, "cost": cost[a]}
                                                          for a, b in sorted(edges)]}))


def all_cases(args, folder):
    """Makes the models of all cases. Returns a list of (name, path of the model, options of pcc) of the cases that
    --only chooses."""
    found = []
    for model in sorted((SHARED / "models/exported/real").glob("*.onnx")):
        found += [(f"{model.stem} over {d}", model, ["-d", f"{d}xa100:80GiB"]) for d in DEVICES]
    for options in GENERATED:
        kind = options.split()[0]
        is_workload = kind == "random-layers"  # its file says what devices there are: 8 accelerators
        model = folder / (options.replace(" ", "").replace("--", "_") + (".json" if is_workload else ".onnx"))
        weights = [] if kind in ("star", "ladder", "random-layers") else ["--no-weights"]
        Run([PCC_GEN, *options.split(), *weights, "-o", model]).need()
        found += [(f"{options} over {d}", model, [] if is_workload else ["-d", f"{d}xa100:80GiB"])
                  for d in ((8,) if is_workload else DEVICES)]
    for i in range(args.graphs):
        model = folder / f"random{i}.json"
        random_graph(args.seed * 1000003 + i, model)  # factor: two values of --seed share no graph
        found.append((f"random graph {args.seed}/{i}", model, []))
    return [case for case in found if re.search(args.only, case[0])]


def ask(program, case):
    """(value and bound in ms, status, CPU seconds) of dp-place. Without a plan value and bound are None, and the status
    is "proven" if pcc has proven that none fits, else empty."""
    run = Run([program, case[1], *case[2], "-p", "dp-place", "-q", "--emit", "ir"])
    if run.rc == 3:
        return None, None, "proven" if "(proven)" in run.out or "plan exists" in run.out else "", run.cpu
    status, value, bound = facts_of(run.need().out)
    return value, bound, status, run.cpu


def gap(answer):
    """How far an answer (value, bound, status, CPU seconds) may be from the optimum, in % of its value; 0 if the value
    is proven, or if there is none."""
    value, bound, status, _ = answer
    return 0 if status in ("optimal", "proven") or value is None else 100 * (1 - (bound or 0) / value)


def proven(answer):
    """Whether the status of an answer says that its value is optimal, or that there is no plan."""
    return answer[2] in ("optimal", "proven")


def compared(cases, full, less):
    """Compares the answers `less`, without a method, with `full`: [(worse, better)] numbers of cases by plan, proof and
    gap, and a line for each case that differs."""
    counts, lines = [[0, 0], [0, 0], [0, 0]], []
    for case, a, b in zip(cases, full, less):
        x, y = (math.inf if r[0] is None else r[0] for r in (a, b))  # any plan is better than none
        changes = ((y > x * (1 + 1e-9), y < x * (1 - 1e-9)), (proven(a) > proven(b), proven(a) < proven(b)),
                   (gap(b) > gap(a) + WIDER, gap(b) < gap(a) - WIDER))
        for count, change in zip(counts, changes):
            count[0] += change[0]
            count[1] += change[1]
        if any(any(c) for c in changes):
            lines.append(f"  {case[0]}: {a[0]} ms, gap {gap(a):.2f} %, {a[3]:.2f} s; "
                         f"without {b[0]} ms, gap {gap(b):.2f} %, {b[3]:.2f} s")
    return counts, lines


def pays(counts, cpu, cpu_less):
    """Whether a method is worth having. `counts`: pairs (cases that get worse without the method, cases that get
    better), the most important pair first. The first pair of unlike counts decides. If all are equal, the method must
    save CPU time: the cases take `cpu` s with it, and without it (`cpu_less`) over 10 % more."""
    for worse, better in counts:
        if worse != better:
            return worse > better
    return cpu_less > 1.1 * cpu


def main():
    help_or_go()
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 1 << 31))
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("--without", action="append", choices=METHODS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cases", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        folder, rows, bad = Path(tmp), [], []
        cases = all_cases(args, folder)

        def answers(program):
            """What a build of pcc answers to each case."""
            return list(pool.map(lambda case: ask(program, case), cases))

        def summed(found):
            """The cells of a row that sum up the answers to all cases."""
            gaps = [gap(a) for a in found]
            return [f"{sum(a[3] for a in found):.1f}", f"{sum(gaps):.2f}", f"{max(gaps, default=0):.2f}"]

        full = answers(PCC)
        print(f"seed {args.seed}: {len(cases)} cases, {sum(map(proven, full))} proven", flush=True)
        rows.append(["(all methods)", "", "", "", *summed(full), ""])
        for method in args.without or METHODS:
            less = answers(program_without(method, folder))
            counts, lines = compared(cases, full, less)
            good = pays(counts, sum(a[3] for a in full), sum(a[3] for a in less))
            bad += [] if good else [method]
            rows.append([method, *(f"+{worse} -{better}" for worse, better in counts), *summed(less),
                         "" if good else "no"])
            if args.cases:
                print(f"without {method}:", *lines, sep="\n", flush=True)
    table(["without", "plans worse", "proofs lost", "gaps wider", "cpu s", "gaps, sum", "largest", "pays"], rows)
    verdict(not bad, "each method pays" + (f": {', '.join(bad)} do not" if bad else ""))


if __name__ == "__main__":
    sys.exit(main())
