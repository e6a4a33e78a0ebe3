#!/usr/bin/env python3
"""Training pipelines through the command line: profiles of layers, PipeDream's planner, plans with stages.

usage: test_pipelines.py   (environment: PCC)

1. A small profile, written here: its figures by hand, what of it is no layer; wrong profiles are refused with the line.
2. Plans of it: the iteration of the simplest one by hand; plans with stages come back through JSON and textual IR with
   the same value; sizes of batches that disagree, slices of less than a sample, and memory that is too small.
3. Data parallelism by hand: passes by memory, gradients exchanged after, beside and across.  The formula beside what
   runs.
4. Of pcc-bench pipelines what needs no profiles: cuts of equal layers by hand, round robin, idle shares, tables VI and
   VIII of DAPPLE's paper.
5. shared: the published figures of pcc-bench pipelines.

Exit: 0 pass, 1 fail."""
# extras: shared
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
SOURCE = Path(os.environ.get("PCC_SOURCE", Path(__file__).parents[2]))
TIMES = "forward_compute_time={}, backward_compute_time={}, activation_size={}, parameter_size={}"
# An input and a result that nothing reads are no layers; edges by a tab or blanks; a list of sizes; stages; commas and
# "=" in what a layer is.
SMALL = "\n".join([
    "node1 -- Input0 -- " + TIMES.format("7.000", "0.000", "0.0", "0.000"),
    "node2 -- Embedding(100, 8, sparse=False) -- " + TIMES.format("1.000", "2.000", "4000.0", "800.000")
    + " -- stage_id=0",
    "node3 -- LSTM(8, 8, bias=True) -- " + TIMES.format("2.500", "5.000", "[4000.0; 200; 1e2]", "1200")
    + " -- stage_id=1",
    "node4 -- __getitem__(0) -- " + TIMES.format("0.000", "0.000", "4000.0", "0.000"),
    "node5 -- __getitem__(1) -- " + TIMES.format("0.000", "0.000", "300.0", "0.000"),
    "node6 -- Linear(in_features=8, out_features=100) -- " + TIMES.format("0.500", "1.000", "50.0", "400.000")
    + " -- stage_id=1",
    "", "\tnode1 -- node2", "  node2 -- node3  ", "\tnode3 -- node4", "\tnode3 -- node5   ", "    node4 -- node6", ""])
TRAIN = ["--objective=iteration-time", "--link=1GB/s,0us"]
LAYER = "n1 -- a -- " + TIMES.format(1, 2, 3, 4) + "\n"
SECOND = "n2 -- b -- " + TIMES.format(1, 2, 3, 4) + "\n"


def pcc(*args, code=0):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=120, check=False)
    what = " ".join(map(str, args))
    check(r.returncode == code, f"pcc {what}: exit {r.returncode}, not {code}: {r.stderr[-400:]}")
    return r


def refused(words, *args, code=1):
    """The run ends with this code, and an error that has all the words."""
    r = pcc(*args, code=code)
    errors = [line for line in r.stderr.splitlines() if "error:" in line]
    check(len(errors) == 1 and all(w in errors[0] for w in words),
          f"pcc {' '.join(map(str, args))}: expected an error with {words}: {r.stderr[-400:]}")


# ---- the reader -------------------------------------------------------------------------------------------------

def small_profile(tmp):
    """What is read of the small profile: names, times, bytes; the same with tabs, line ends of Windows, no stages."""
    model = tmp / "small.txt"
    model.write_text(SMALL, encoding="utf-8")
    ir = pcc(model, "--emit", "ir").stdout
    nodes = [line.strip() for line in ir.splitlines() if "profile:layer" in line]
    wanted = [("%Embedding = profile:layer() :", "!bytes=4000B", "!time=1ms", "!params=800B"),
              ("%LSTM = profile:layer(%Embedding)", "!bytes=4300B", "!time=2.5ms", "!params=1200B"),
              ("%__getitem__.node4 = profile:layer(%LSTM)", "!bytes=4000B"),
              ("%Linear = profile:layer(%__getitem__.node4)", "!bytes=50B", "!time=500us", "!params=400B"),
              ("Linear/backward", "!bytes=4000B", "!time=1ms", "!backward"),
              ("__getitem__.node4/backward", "!bytes=4300B", "!backward"),
              ("LSTM/backward", "!bytes=4000B", "!time=5ms", "!backward"),
              ("Embedding/backward", "!time=2ms", "!backward")]
    check(len(nodes) == len(wanted), f"{len(nodes)} nodes, wanted {len(wanted)}")
    for line, words in zip(nodes, wanted):
        check(all(w in line for w in words), f"{words}: {line}")
    check("Input" not in ir and "node5" not in ir and "7ms" not in ir, "an input or an unread result is a layer")
    same = {"tabs": re.sub(r"^ +", "\t", SMALL, flags=re.M), "crlf": SMALL.replace("\n", "\r\n"),
            "stages": re.sub(r" -- stage_id=\d", "", SMALL),
            "edges": SMALL.replace("\tnode1 -- node2\n", "\tnode1 -- node2\n\tnode1 -- node2\n")}
    for name, text in same.items():
        other = tmp / f"{name}.txt"
        other.write_bytes(text.encode())
        again = pcc(other, "--emit", "ir").stdout
        check(again.splitlines()[2:] == ir.splitlines()[2:], f"{name}: another module")
    pcc(tmp / "small.txt", "--emit", "ir", "-o", tmp / "small.pir")
    back = pcc(tmp / "small.pir", "--emit", "ir").stdout
    check(back.splitlines()[2:] == ir.splitlines()[2:], "textual IR: another module")


def summary(tmp):
    """What pcc tells of a profile; branches: what is read over the cut counts, once."""
    said = pcc(tmp / "small.txt").stdout.splitlines()
    check(said[0].endswith("small.txt: a profile of 4 layers") and [re.sub(r"\s+", " ", line) for line in said[1:]] == [
        "forward 4.000 ms", "backward 8.000 ms", "parameters 2.344 KiB", "activations 12.06 KiB",
        "largest cut 4.199 KiB, from 'LSTM' to '__getitem__.node4'",
        "smallest cut 3.906 KiB, from 'Embedding' to 'LSTM'"], f"{said}")
    (tmp / "fork.txt").write_text(
        "".join(f"n{i} -- {'abcd'[i]} -- " + TIMES.format(1, 2, 1024 << i, 4) + "\n" for i in range(4))
        + "\tn0 -- n1\n\tn0 -- n2\n\tn0 -- n3\n\tn1 -- n3\n\tn2 -- n3\n", encoding="utf-8")
    said = pcc(tmp / "fork.txt").stdout
    check("7.000 KiB, from 'c' to 'd'" in said and "1.000 KiB, from 'a' to 'b'" in said, said)
    (tmp / "one.txt").write_text(LAYER, encoding="utf-8")
    check("cut" not in pcc(tmp / "one.txt").stdout, "a cut of one layer")


def wrong_profiles(tmp):
    """Each is refused; the error has the line and says what is wrong."""
    cases = {
        "text": (LAYER + "n2 -- b\n", (":2:", "expected a layer")),
        "figure": (LAYER + SECOND.replace("=1,", "=one,"), (":2:", "one", "number")),
        "negative": (LAYER + SECOND.replace("=1,", "=-1,"), (":2:", "-1", "number")),
        "nan": (LAYER + SECOND.replace("=1,", "=nan,"), (":2:", "nan")),
        "huge": (LAYER + SECOND.replace("=1,", "=1e30,"), (":2:", "1e30")),
        "list": (LAYER + SECOND.replace("size=3", "size=[3; 4"), (":2:", "']'")),
        "listed": (LAYER + SECOND.replace("size=3", "size=[3; x]"), (":2:", "list")),
        "pair": (LAYER + SECOND.replace("=1,", ","), (":2:", "NAME=NUMBER")),
        "missing": (LAYER + SECOND.replace("parameter_size=4", "stored_size=4"), (":2:", "n2", "parameter_size")),
        "twice": (LAYER + LAYER, (":2:", "n1", "line 1")),
        "edge": (LAYER + "\tn1\n", (":2:", "an edge")),
        "from": (LAYER + "\tn7 -- n1\n", (":2:", "n7", "line above")),
        "to": (LAYER + "\n\tn1 -- n7\n", (":3:", "n7", "line above")),
        "early": (LAYER + "\tn1 -- n2\n" + SECOND, (":2:", "n2")),
        "self": (LAYER + "\tn1 -- n1\n", (":1:", "n1", "cycle")),
        "cycle": (LAYER + SECOND + "\tn1 -- n2\n\tn2 -- n1\n", ("n1", "cycle")),
        "inputs": (LAYER.replace("-- a --", "-- Input0 --"), ("no layers",)),
    }
    for name, (text, words) in cases.items():
        path = tmp / f"wrong_{name}.txt"
        path.write_text(text, encoding="utf-8")
        refused((path.name, *words), path)


# ---- plans ------------------------------------------------------------------------------------------------------

def value_of(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))["objective"]["value_s"]


def one_stage(tmp):
    """All devices for one stage, by hand: 4 micro-batches of 12 ms on 4 devices, and 2400 bytes of gradients over
    1 GB/s: 2 * 3 / 4 of them."""
    pcc(tmp / "small.txt", "-d", "4xv100", *TRAIN, "--micro-batches=4", "-p", "dapple-place", "-q", "-o",
        tmp / "one.json")
    stages = json.loads((tmp / "one.json").read_text(encoding="utf-8"))["training"]["stages"]
    check(len(stages) == 1 and len(stages[0]["devices"]) == 4, f"{stages}")
    check(abs(value_of(tmp / "one.json") - 0.0120036) < 1e-12, f"{value_of(tmp / 'one.json')} s, wanted 0.0120036")


def stage_table(tmp):
    """What is said of a stage, by hand: three layers on two devices, each half of the time; a ring of two moves as many
    bytes as there are gradients, 12; these, as many weights, and half of 9 bytes of activations."""
    lines = [f"n{i} -- {'abc'[i]} -- " + TIMES.format(1, 2, 3, 4) for i in range(3)]
    (tmp / "three.txt").write_text("\n".join([*lines, "\tn0 -- n1", "\tn1 -- n2", ""]), encoding="utf-8")
    said = pcc(tmp / "three.txt", "-d", "2xv100", *TRAIN, "--micro-batches=8", "-p", "dapple-place").stdout.split()
    check("stage devices forward backward to next AllReduce ahead memory used of, layers 0 acc0 to acc1 1.500 ms "
          "3.000 ms 12.00 ns 1 29 B of 32.00 GiB, a to c" in " ".join(said), " ".join(said))


def two_stages(tmp):
    """Two devices each for Embedding and LSTM, and for the rest, one micro-batch, by hand: forward 1.75 ms, 4300 bytes
    to the next stage of another server, 0.25 ms, backward 0.5 ms, 4300 bytes back, 3.5 ms.  The first stage's AllReduce
    ends last: its 2000 bytes of gradients in a server."""
    pcc(tmp / "small.txt", "-d", "1xv100", *TRAIN, "-p", "dapple-place", "-q", "-o", tmp / "one.json")
    plan = json.loads((tmp / "one.json").read_text(encoding="utf-8"))
    nodes = [["Embedding", "LSTM"], ["__getitem__.node4", "Linear"]]
    plan["training"]["stages"] = [{"devices": [f"acc{2 * k}", f"acc{2 * k + 1}"], "ahead": 1, "recompute": False}
                                  for k in range(2)]
    plan["devices"] = [{"name": f"acc{2 * k}", "nodes": [*row, *(f"{n}/backward" for n in row)]}
                       for k, row in enumerate(nodes)]
    (tmp / "two.json").write_text(json.dumps(plan), encoding="utf-8")
    pcc(tmp / "small.txt", "-d", "4xv100", "--group=2:2GB/s,0us", *TRAIN, "-p", f"plan{{from={tmp / 'two.json'}}}",
        "-q", "-o", tmp / "judged.json")
    wanted = 1.75e-3 + 4.3e-6 + 0.25e-3 + 0.5e-3 + 4.3e-6 + 3.5e-3 + 2000 / 2e9
    check(abs(value_of(tmp / "judged.json") - wanted) < 1e-12, f"{value_of(tmp / 'judged.json')} s, wanted {wanted}")


def round_trips(tmp):
    """Plans with stages, of each schedule: the same value and stages from JSON, from an IR with its plan, and again."""
    model = tmp / "small.txt"
    for schedule in ("dapple", "gpipe", "zb-h1", "interleaved", "pipedream"):
        for more in ([], ["--duplex=half", "--recompute=all", "--allreduce=500MB/s", "--allreduce-lane=own",
                          "--workspace=1MiB"]):
            how = ["-d", "4xv100", "--group=2:25GB/s,0us", *TRAIN, f"--schedule={schedule}", "--profiled-batch=8",
                   "--global-batch=64", *more, "-q"]
            a, b, ir, c = (tmp / n for n in ("a.json", "b.json", "a.pir", "c.json"))
            planner = "pipedream-hier-place{straight=true}"
            if schedule == "interleaved":
                how, planner = [*how, "--stages-per-device=2"], "contract{trivial=false},dapple-place"
            pcc(model, *how, "-p", planner, "-o", a)
            pcc(model, *how, "-p", f"plan{{from={a}}}", "-o", b)
            first, second = (json.loads(p.read_text(encoding="utf-8")) for p in (a, b))
            check(len(first["training"]["stages"]) > 1, f"{schedule}: one stage, nothing to see")
            check(all("nodes" in s for s in first["training"]["stages"]) == (schedule == "interleaved"),
                  f"{schedule}: nodes of stages")
            check(first["training"] == second["training"], f"{schedule} {more}: other stages")
            check(value_of(a) == value_of(b), f"{schedule} {more}: {value_of(a)} s, again {value_of(b)} s")
            pcc(model, *how, "-p", f"plan{{from={a}}}", "-o", ir)
            pcc(ir, "-q", "-o", c)
            check(value_of(a) == value_of(c), f"{schedule} {more}: {value_of(a)} s, from textual IR {value_of(c)} s")
            third = json.loads(c.read_text(encoding="utf-8"))
            check(first["training"] == third["training"], f"{schedule} {more}: other stages in textual IR")


def options(tmp):
    model, plan = tmp / "small.txt", ["-d", "4xv100", *TRAIN, "-p", "dapple-place"]
    refused(["agree", "24"], model, *plan, "--profiled-batch=8", "--micro-batch-size=8", "--micro-batches=3",
            "--global-batch=64", code=2)
    refused(["--global-batch=60", "8 samples"], model, *plan, "--profiled-batch=8", "--micro-batch-size=8",
            "--global-batch=60", code=2)
    refused(["--global-batch=64", "7 equal"], model, *plan, "--profiled-batch=8", "--micro-batches=7",
            "--global-batch=64", code=2)
    refused(["--profiled-batch"], model, *plan, "--global-batch=64", code=2)
    refused(["--micro-batches '0'"], model, *plan, "--micro-batches=0", code=2)
    refused(["--schedule 'fast'", "zb-h1"], model, *plan, "--schedule=fast", code=2)
    refused(["--slices 'some'"], model, *plan, "--slices=some", code=2)
    refused(["--warmup 'pc'"], model, *plan, "--warmup=pc", code=2)
    refused(["--workspace 'much'"], model, *plan, "--workspace=much", code=2)
    refused(["--weight-gradient-share '2'"], model, *plan, "--weight-gradient-share=2", code=2)
    # the batch is in the name; micro-batches of half of it take half the time
    named = tmp / "small-pbs-8.txt"
    named.write_text(SMALL, encoding="utf-8")
    for size, count in ((8, 8), (4, 16), (16, 4)):
        pcc(named, "-d", "1xv100", *TRAIN, "--global-batch=64", f"--micro-batch-size={size}", "-q",
            "-p", "dapple-place", "-o", tmp / "p.json")
        found = json.loads((tmp / "p.json").read_text(encoding="utf-8"))
        check(abs(found["objective"]["value_s"] - 8 * 0.012) < 1e-12 and found["training"]["micro_batches"] == count,
              f"size {size}: {found['objective']['value_s']} s, {found['training']['micro_batches']} micro-batches")


def slices(tmp):
    """A stage of 4 devices cannot share micro-batches of 2 samples, unless slices may be any."""
    model, how = tmp / "small.txt", [*TRAIN, "--profiled-batch=8", "--micro-batch-size=2", "--global-batch=64"]
    pcc(model, "-d", "4xv100", *how, "--slices=any", "-q", "-p", "dapple-place", "-o", tmp / "any.json")
    found = json.loads((tmp / "any.json").read_text(encoding="utf-8"))["training"]
    check(len(found["stages"]) == 1 and not found["runnable"], f"{found}")
    refused(["4", "2", "slices"], model, "-d", "4xv100", *how, "-q", "-p", f"plan{{from={tmp / 'any.json'}}}", code=1)
    pcc(model, "-d", "4xv100", *how, "-q", "-p", "dapple-place", "-o", tmp / "whole.json")
    found = json.loads((tmp / "whole.json").read_text(encoding="utf-8"))["training"]
    check(found["runnable"] and all(2 % len(s["devices"]) == 0 for s in found["stages"]), f"{found}")


def memory(tmp):
    """2400 bytes of weights and as many of gradients; forward leaves 12350 bytes, of which the first stage keeps none
    where it runs again."""
    model = tmp / "small.txt"
    for schedule in ("dapple", "gpipe"):
        how = ["-d", "1xv100:17150B", *TRAIN, "-p", "dapple-place", f"--schedule={schedule}", "-q", "-o",
               tmp / "m.json"]
        pcc(model, *how, "--recompute=none")
        how[1] = "1xv100:17149B"
        refused(["dapple-place", "room"], model, *how, "--recompute=none", code=3)
    refused(["dapple-place", "room"], model, "-d", "4xv100:500B", *TRAIN, "-p", "dapple-place", code=3)
    refused(["pipedream-hier-place"], model, "-d", "4xv100:500B", *TRAIN, "-p", "pipedream-hier-place", code=3)
    # many micro-batches at once are what GPipe has no room for, and running forward again makes it
    how = ["-d", "1xv100:60000B", *TRAIN, "-p", "dapple-place", "--micro-batches=8", "-q", "-o", tmp / "m.json"]
    pcc(model, *how, "--schedule=dapple", "--recompute=none")
    refused(["room"], model, *how, "--schedule=gpipe", "--recompute=none", code=3)
    pcc(model, *how, "--schedule=gpipe")
    stages = json.loads((tmp / "m.json").read_text(encoding="utf-8"))["training"]["stages"]
    check(stages[0]["recompute"], "GPipe fits without running forward again")
    # what a layer keeps, where that is said: 1000 bytes rather than the 50 that it makes
    kept = tmp / "kept.txt"
    kept.write_text(SMALL.replace("parameter_size=400.000", "parameter_size=400.000, stored_size=1e3"),
                    encoding="utf-8")
    how = ["-d", "1xv100:18100B", *TRAIN, "-p", "dapple-place", "--recompute=none", "-q", "-o", tmp / "m.json"]
    pcc(kept, *how)
    how[1] = "1xv100:18099B"
    refused(["dapple-place", "room"], kept, *how, code=3)
    check(pcc(kept).stdout.splitlines()[-1] == pcc(model).stdout.splitlines()[-1], "stored_size moves")


# ---- data parallelism -------------------------------------------------------------------------------------------

def many_cuts(tmp):
    """A training graph that can be cut in more ways than PipeDream's program can look at."""
    model, out = tmp / "train.onnx", tmp / "train.json"
    subprocess.run([PCC_GEN, "train", "--layers=8", "-o", model], check=True)
    pcc(model, "-d", "8xv100", "--link=3GB/s,1us", "--objective=iteration-time", "--micro-batches=16", "--slices=any",
        "-p", "pipedream-hier-place", "-q", "-o", out)
    found = json.loads(out.read_text(encoding="utf-8"))["training"]
    check(len(found["stages"]) > 1, f"a training graph of 8 layers: {len(found['stages'])} stages")


def data_parallel(tmp):
    """64 samples on 4 devices, 16 each; 4800 bytes of weights and gradients, 12350 bytes of activations for 8 samples:
    two passes where there is room for these.  The AllReduce moves 3/2 of the gradients over 1 GB/s; beside the last
    backward pass that of the first layer, 800 bytes, alone is left, and across iterations nothing."""
    model, out = tmp / "small.txt", tmp / "d.json"
    for memory, passes in (("29500B", 1), ("29499B", 2), ("17150B", 2), ("17149B", 4)):
        for overlap, left in (("after", 3.6e-6), ("beside", 1.2e-6), ("across", 0)):
            how = ["-d", f"4xv100:{memory}", *TRAIN, "--profiled-batch=8", "--global-batch=64", "--recompute=none",
                   f"--allreduce-overlap={overlap}", "-q", "-p", "data-parallel-place", "-o", out]
            pcc(model, *how)
            plan = json.loads(out.read_text(encoding="utf-8"))
            t, value = plan["training"], plan["objective"]["value_s"]
            what = f"{memory}, {overlap}: {t['micro_batches']} passes, {value} s"
            check(t["micro_batches"] == passes and t["micro_batch_size"] == 64 // passes and t["runnable"], what)
            check(len(t["stages"]) == 1 and len(t["stages"][0]["devices"]) == 4, what)
            check(abs(value - (0.024 + left)) < 1e-12, f"{what}, wanted {0.024 + left}")
    how[1] = "4xv100:6343B"
    refused(["data-parallel-place", "room"], model, *how, code=3)
    how[1] = "4xv100:6344B"
    pcc(model, *how)
    # a size that was said stays
    how[1] = "4xv100:29500B"
    pcc(model, *how, "--micro-batch-size=16")
    check(json.loads(out.read_text(encoding="utf-8"))["training"]["micro_batches"] == 4, "another size than was said")


def formula_errors(tmp):
    """The formula is a lower bound of what has no AllReduce, and exact for one micro-batch on one device."""
    rows = [(2, 3, 4000, 100), (1, 1, 9000, 50), (4, 6, 100, 10), (3, 3, 70, 900), (1, 5, 60000, 4), (2, 2, 10, 10)]
    model = tmp / "six.txt"
    model.write_text("".join(f"n{i} -- l{i} -- " + TIMES.format(*row) + "\n" for i, row in enumerate(rows))
                     + "".join(f"\tn{i} -- n{i + 1}\n" for i in range(5)), encoding="utf-8")
    note = re.compile(r"the formula against (\d+) plans that were run: median error (\S+) %, largest (\S+) %; of (\d+) "
                      r"without AllReduce it is above (\d+)")
    for devices, micro in ((1, 1), (3, 4), (4, 7)):
        r = pcc(model, "-d", f"{devices}xv100", "--objective=iteration-time", "--link=1MB/s,0us", "--duplex=half",
                f"--micro-batches={micro}", "--slices=any", "-p", "dapple-place{errors=true}", "-o", tmp / "e.json")
        found = note.search(r.stderr)
        if not check(found is not None, f"no word of the formula: {r.stderr}"):
            continue
        plans, median, largest, alone, above = map(float, found.groups())
        check(above == 0 < alone <= plans and median <= largest < 50, f"{devices} devices: {found[0]}")
        check(devices > 1 or largest == 0, f"one device: {found[0]}")


# ---- published --------------------------------------------------------------------------------------------------

def without_profiles(tmp):
    sys.path.insert(0, str(SOURCE / "tools/bench"))
    os.environ["PCC"] = PCC
    import dapple_figures
    import dapple_plans
    import dapple_tables
    for part in (dapple_figures.figure_8, dapple_plans.uneven, dapple_tables.efficiency, dapple_tables.table_6,
                 dapple_tables.table_8):
        for line in part(None, tmp):
            check(False, f"pcc-bench pipelines: {line}")


def published():
    """The published figures that pcc-bench pipelines checks; with sanitizers, which take minutes for all, PipeDream's.
    Its other parts, which only compare, take a minute: tools/bench/pcc-bench pipelines."""
    bench = SOURCE / "tools/bench/pcc-bench"
    for part in ("pipedream",) if SANITIZED else ("pipedream", "plans", "tables"):
        r = subprocess.run([sys.executable, bench, "pipelines", extras.shared("profiles"), "--part", part],
                           capture_output=True, text=True, timeout=600, check=False)
        check(r.returncode == 0, f"pcc-bench pipelines, {part}: {r.stdout[-2000:]}{r.stderr[-500:]}")


def main():
    if extras.extra() == "shared":
        published()
        return finish()
    with tempfile.TemporaryDirectory() as tmp:
        tmp = Path(tmp)
        for step in (small_profile, summary, wrong_profiles, one_stage, stage_table, two_stages, round_trips, options,
                     slices, memory, many_cuts, data_parallel, formula_errors, without_profiles):
            step(tmp)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
