"""pcc-profile: what it measures sums to what parts take, and pcc plans with it.

With the stub engine, whose times are known: rows, turns, the sums that pcc sees, bad inputs, Ctrl-C, help.  Extra
`ort`: with ONNX Runtime (else 77): a model and the parts of its split, inputs from a file.  Extra `header`: the slots
of tools/run/ort_api.c are those of a real header, in the folder ONNXRUNTIME_ROOT (else 77)."""
# extras: ort header
import csv
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
GEN = os.environ.get("PCC_GEN") or Path(PCC).parent / "pcc-gen"
PROFILE = os.environ.get("PCC_PROFILE") or Path(PCC).parent / "pcc-profile"
SOURCE = Path(__file__).resolve().parents[2]
FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
MODEL, SPLIT, COSTS = HERE / "gpt.onnx", HERE / "split", HERE / "costs.json"
BARE = {k: v for k, v in os.environ.items() if k not in ("PCC_ONNXRUNTIME", "VIRTUAL_ENV", "LD_LIBRARY_PATH")}


def run(*command, env=None):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, env=env)


def profile(what, *args, engine="stub", **more):
    return run(PROFILE, what, *([f"--engine={engine}"] if engine else []), *args, **more)


def good(r):
    check(r.returncode == 0, f"{r.args}: exit {r.returncode}: {r.stderr}")
    return r


def refused(r, rc, *words):
    errors = r.stderr.count("error:")
    check(r.returncode == rc and errors == 1 and all(w in r.stderr for w in words),
          f"{r.args}: exit {r.returncode}, not {rc}, or not {words}: {r.stderr}")
    made = [p.name for p in HERE.iterdir() if p.name.startswith("none")]
    check(not made, f"{r.args} left {made}")


def sums(table):
    """Of each part, its time and the sum of its nodes' times."""
    left = iter(table["nodes"])
    return [(p["time"], sum(next(left)["time"] for _ in range(p["nodes"]))) for p in table["parts"]]


def computed(*args):
    """What pcc has for each node on a CPU."""
    r = good(run(PCC, *args, "-d", "1xcpu", "-q", "--emit", "csv"))
    return {row["name"]: int(row["ps_cpu"]) for row in csv.DictReader(r.stdout.splitlines())}


def make():
    good(run(GEN, "gpt", "--layers", 2, "--width", 16, "--heads", 2, "--vocab", 32, "-o", MODEL))
    good(run(PCC, MODEL, "-d", "2xcpu", "-q", "--dim=sequence=8", "--pictures=none", "-o", SPLIT))


def rows():
    """Pieces: every node once, and a piece's nodes sum to its time, which is 5 us and 0.8 of the stub's nodes."""
    r = good(profile(MODEL, "--dim=sequence=8", "-o", COSTS))
    table = json.loads(COSTS.read_text())
    names = [n["name"] for n in table["nodes"]]
    manifest = json.loads((SPLIT / "manifest.json").read_text())
    check(sorted(names) == sorted(n for part in manifest["nodes"].values() for n in part), "each node has a row")
    check(table["pcc_measured"] == 1 and table["dims"] == {"batch": 1, "sequence": 8} and
          table["runtime"] == "stub 1" and "memory pattern off" in table["settings"] and
          table["source"] == "gpt.onnx", f"{dict(table, nodes=None)}")
    check(len(table["parts"]) == 4 and all(a == b for a, b in sums(table)), f"sums {sums(table)}")
    check(all(p["turns"] == [p["time"]] * 2 for p in table["parts"]), f"turns {table['parts']}")
    many, fine = HERE / "many.json", "--segments=16"
    said = good(profile(MODEL, "--dim=sequence=8", fine, "-o", many)).stderr
    finest = json.loads(many.read_text())
    whole = sum(p["time"] - 5_000_000 for p in table["parts"]) + 5_000_000
    check(len(finest["parts"]) > 8 and abs(sum(n["time"] for n in finest["nodes"]) - whole) <= len(finest["parts"]) and
          "of the whole: scaled" in said, f"many pieces sum to the whole, {whole}: {said}")
    alone = HERE / "alone.csv"
    good(profile(MODEL, "--dim=sequence=8", "--segments=0", "-o", alone))
    found = list(csv.DictReader(alone.read_text().splitlines()))
    nodes = {f["name"]: int(f["time"]) for f in found if not f["name"].startswith("#")}
    facts = [f["name"] for f in found if f["name"].startswith("#")]
    check(facts[:1] + sorted(facts[1:3]) == ["#pcc_measured 1", "#dim batch=1", "#dim sequence=8"] and
          "#optimisations off" in facts, f"{facts}")
    check(all(t % 1_000_000 == 0 and 1 <= t // 1_000_000 <= 100 for t in nodes.values()), "least times of the stub")
    check(sorted(nodes) == sorted(names), "nodes alone: the same nodes")
    at = 0
    for part in table["parts"]:
        own = sum(nodes[n] for n in names[at:at + part["nodes"]])
        at += part["nodes"]
        check(part["time"] == 5_000_000 + own // 5 * 4, f"{part}: its nodes take {own}")
    check("assuming batch=1" in r.stderr and "4 of 4 parts" in r.stderr, r.stderr)


def planned():
    """pcc takes the times as they are, at these sizes and no others; parts of a split are measured themselves."""
    table = json.loads(COSTS.read_text())
    have = computed(MODEL, f"--costs={COSTS}")
    check(all(have[n["name"]] == n["time"] for n in table["nodes"]), "what was measured is what is planned with")
    r = run(PCC, MODEL, "-d", "1xcpu", f"--costs={COSTS}", "--dim=sequence=9", "-q", "--emit", "csv")
    check(r.returncode == 1 and "measured at sequence=8" in r.stderr, r.stderr)
    third = HERE / "three.json"
    good(profile(SPLIT, f"--costs={COSTS}", "-o", third, "-q"))
    scaled = json.loads(third.read_text())
    check(all(a == b for a, b in sums(scaled)), f"rows scaled to parts: {sums(scaled)}")
    before = {n["name"]: n["time"] for n in table["nodes"]}
    own = scaled["nodes"][:scaled["parts"][0]["nodes"]]
    ratio = scaled["parts"][0]["time"] / sum(before[n["name"]] for n in own)
    check(all(abs(n["time"] - ratio * before[n["name"]]) <= 2 for n in own), "each by the same factor")
    check(all(p["start_bytes"] <= p["loaded_bytes"] <= p["sample_bytes"] and p["arena_bytes"] > 0
              for p in scaled["parts"]) and "start_bytes" not in table["parts"][0], f"memory {scaled['parts']}")
    refused(profile(SPLIT, "-o", HERE / "none.json", engine="stub:fail=part1.onnx@0"), 1,
            "part1.onnx, first node '", "alone in a process: the stub was told to fail", "--inputs=FILE.npz")
    second = HERE / "two.json"
    good(profile(SPLIT, "-o", second, "-q"))
    table = json.loads(second.read_text())
    check(len(table["parts"]) == 2 and all(a == b for a, b in sums(table)), f"the split's parts: {sums(table)}")
    held = json.loads((SPLIT / "manifest.json").read_text())["nodes"]
    check([n["name"] for n in table["nodes"]] == [n for names in held.values() for n in names], "rows in their order")
    r = good(profile(MODEL, "-o", COSTS, "--dim=sequence=8", engine="stub:drift=part1.onnx"))
    check("warning: part1.onnx: its turns differ: " in r.stderr and r.stderr.count("differ") == 1, r.stderr)
    turns = json.loads(COSTS.read_text())["parts"][1]
    check(len(turns["turns"]) == 3 and turns["time"] == min(turns["turns"]), f"a third turn: {turns}")


def bad_inputs():
    out = f"-o{HERE / 'none.json'}"
    for args, words in (
            ((), ["expected a model"]), ((MODEL, SPLIT, out), ["one model"]), ((MODEL,), ["-o FILE"]),
            ((MODEL, out, "--dim=sequence"), ["NAME=N"]), ((MODEL, out, "--cores=0,0"), ["comes twice"]),
            ((MODEL, out, "--cores=1000"), ["no processor 1000"]), ((MODEL, out, "--cores=1-"), ["such as 0-3"]),
            ((MODEL, out, "--cores=2-1"), ["such as 0-3"]), ((MODEL, out, "--cores="), ["such as 0-3"]),
            ((MODEL, out, "--steps=0"), ["--steps '0'", "expected"]),
            ((MODEL, out, "--step=3"), ["did you mean '--steps'"]),
            ((MODEL, "-o", "-"), ["expected the name of a file"]), (("-", out), ["expected the name of a file"]),
            ((MODEL, "--rounds=1", "-o", "-", "--", "-d", "2xcpu"), ["expected the name of a file"]),
            ((MODEL, "-o", MODEL), ["it is", "gpt.onnx, which is read"]),
            ((MODEL, "-o", COSTS, f"--inputs={COSTS}"), ["costs.json, which is read"]),
            ((SPLIT, "-o", SPLIT / "manifest.json"), ["manifest.json, which is read"]),
            ((SPLIT, out, "--segments=3"), ["--segments: expected a model"]),
            ((SPLIT, out, f"--costs={COSTS}", "--segments=0"), ["no part is measured"]),
            ((MODEL, out, "--onnxruntime="), ["--onnxruntime: expected"]),
            ((MODEL, out, "--quiet=1"), ["takes no value"]), ((MODEL, "-o"), ["wants FILE"])):
        refused(run(PROFILE, *args), 2, *words)
    refused(profile(HERE / "nothing.onnx", out), 1, "nothing.onnx")
    refused(profile(HERE, out), 1, "manifest.json")
    refused(profile(MODEL, out, engine="stub:slow"), 1, "expected delay=TIME")
    refused(profile(MODEL, out, engine="tf"), 1, "--engine 'tf'", "onnxruntime or stub")
    refused(profile(MODEL, out, engine="stub:fail=part2.onnx@3"), 1, "part2.onnx, first node '/h.", "told to fail",
            "--inputs=FILE.npz")
    refused(profile(MODEL, "-o", HERE / "none" / "x.json"), 1, "none")
    bare = HERE / "bare.onnx"
    good(run(GEN, "gpt", "--layers", 1, "--width", 16, "--heads", 2, "--vocab", 32, "--no-weights", "-o", bare))
    refused(profile(bare, out), 1, "bare.weights")
    broken = HERE / "broken"
    shutil.copytree(SPLIT, broken)
    manifest = json.loads((SPLIT / "manifest.json").read_text())
    for change, word in ((lambda m: m.update(pcc_manifest=2), "pcc_manifest"), (lambda m: m.pop("values"), "values"),
                         (lambda m: m["parts"].reverse(), "before a part makes it"),
                         (lambda m: m["parts"][0].update(file="../gpt.onnx"), "a file of the folder"),
                         (lambda m: m["parts"][0]["outputs"].append("strange"), "strange"),
                         (lambda m: m["inputs"].append(m["inputs"][0]), "'input_ids' is listed twice"),
                         (lambda m: m["inputs"][0].update(sizes=[1] * 65), "at most 64 sizes, found 65"),
                         (lambda m: m.update(parts=[]), "no parts"), (lambda m: m.update(parts=7), "parts")):
        changed = json.loads(json.dumps(manifest))
        change(changed)
        (broken / "manifest.json").write_text(json.dumps(changed))
        refused(profile(broken, out), 1, word)
    shutil.copy(SPLIT / "manifest.json", broken)
    (broken / "part1.onnx").unlink()
    refused(profile(broken, out), 1, "part1.onnx", "does not exist")


def rounds():
    """Plan, measure, plan again: the best split is left, with what was measured; the promise comes nearer."""
    best = HERE / "best"
    small = ("--steps=1", "--discard=0", "--dim=sequence=8", "--rounds=4")
    r = good(profile(MODEL, *small, "--side-by-side", "-o", best, "--", "-d", "2xcpu", "--pictures=none",
                     "--part-cost=0"))
    check(re.search(r"^1 .* kept$", r.stdout, re.M) and "was promised, within 2 %" in r.stderr, r.stdout + r.stderr)
    manifest = json.loads((best / "manifest.json").read_text())
    times = {f: p["time_s"] for f, p in manifest["measured"]["parts"].items()}
    factor = manifest["measured"]["side_by_side"]["factor"]
    said = good(run(Path(PROFILE).with_name("pcc-run"), best, "--engine=stub", "--samples=2")).stdout
    check(f"side by side reached {factor:.3f} of their speed" in said, said)
    check(set(times) == set(manifest["nodes"]) and manifest["measured"]["runtime"] == "stub 1",
          f"{manifest['measured']}")
    check(max(times.values()) < 1.02 * manifest["objective"]["value_s"], f"{times} {manifest['objective']}")
    schema = json.loads((SOURCE / "backends/split/manifest.schema.json").read_text())
    check(set(schema["properties"]["measured"]["required"]) <= set(manifest["measured"]), "the schema's keys")
    r = good(profile(MODEL, *small, "-o", best, "--", "-d", "2xcpu", "--pictures=none",
                     engine="stub:drift=part1.onnx"))
    found = [float(off) for off in re.findall(r"^\d .* ([+-][\d.]+) %  ", r.stdout, re.M)]
    check(len(found) > 1 and r.stdout.count("kept") == 1 and found[0] > 10, r.stdout + r.stderr)
    r = good(profile(MODEL, *small[:-1], "--rounds=1", "-o", best, "--", "-d", "2xcpu", "--pictures=none",
                     "--part-cost=0", engine="stub:drift=part1.onnx"))
    manifest = json.loads((best / "manifest.json").read_text())
    each = {}  # seconds of the parts of each device
    for p in manifest["parts"]:
        each[p["device"]] = each.get(p["device"], 0) + manifest["measured"]["parts"][p["file"]]["time_s"]
    check("%  cpu" in r.stdout and abs(max(each.values()) / manifest["objective"]["value_s"] - 1) < 1e-6,
          f"what is left promises what was measured: {each}, {manifest['objective']}")
    check("/round" not in (best / "manifest.json").read_text(), "no name of a folder that is gone")
    r = profile(MODEL, *small, "-o", best, "--", "-d", "2xcpu", "--pictures=none",
                engine="stub:drift=part1.onnx,fail=part0.onnx@8")
    check(r.returncode == 1 and "told to fail" in r.stderr and "best split so far is left" in r.stderr and
          r.stdout.count("kept") == 1 and (best / "manifest.json").is_file(), f"{r.returncode} {r.stdout} {r.stderr}")
    none = HERE / "none"
    refused(profile(MODEL, *small, "-o", none, "--", "-d", "2xa100:10KiB"), 3, "no plan fits")
    for args, word in ((("-d", "2xcpu", "-o", "x"), "--output behind --"), ((MODEL,), "stands before it"),
                       ((f"--costs={COSTS}",), "the rounds measure"), (("--objective=makespan",), "time per sample"),
                       (("--emit=csv",), "--emit behind --"), (("--strange",), "unknown option")):
        refused(profile(MODEL, *small, "-o", none, "--", *args), 2, word)
    refused(profile(MODEL, *small, "-o", none), 2, "arguments of pcc behind --")
    (HERE / "mine").mkdir()
    (HERE / "mine/letter.txt").write_text("keep me")
    refused(profile(MODEL, *small, "-o", HERE / "mine", "--", "-d", "2xcpu"), 1, "letter.txt")
    check([p.name for p in (HERE / "mine").iterdir()] == ["letter.txt"], "a folder of mine stays as it is")
    refused(profile(MODEL, "-o", none, "--", "-d", "2xcpu"), 2, "without --rounds")
    refused(profile(SPLIT, *small, "-o", none, "--", "-d", "2xcpu"), 2, "expected a model")
    refused(profile(MODEL, "-o", none, f"--costs={COSTS}"), 2, "expected the folder of a split")
    refused(profile(SPLIT, "-o", none, f"--costs={MODEL}"), 1, "gpt.onnx")
    refused(profile(SPLIT, "-o", none, f"--costs={SPLIT / 'manifest.json'}"), 1, "expected a file that pcc-profile")
    foreign = HERE / "foreign.json"
    foreign.write_text('{"pcc_measured": 1, "nodes": [{"name": "x", "time": 1}]}')
    refused(profile(SPLIT, "-o", none, f"--costs={foreign}"), 1, "none of its rows names a node of the split")


def short_of_memory():
    """Parts that cannot be loaded at once take turns, with the same times."""
    large, found = HERE / "large", []
    shutil.copytree(SPLIT, large)
    manifest = json.loads((SPLIT / "manifest.json").read_text())
    for p in manifest["parts"]:
        p["live_peak_bytes"] = 1 << 60
    (large / "manifest.json").write_text(json.dumps(manifest))
    for split in (SPLIT, large):
        good(profile(split, "--steps=2", "--discard=1", "-o", COSTS))
        found.append([(p["file"], p["turns"]) for p in json.loads(COSTS.read_text())["parts"]])
    check(found[0] == found[1] and all(len(turns) == 2 for _, turns in found[0]), f"{found}")


def side_by_side():
    """Copies of the slowest part at once: the file says what that gives, and pcc says so beside its plan."""
    small = ("--steps=1", "--discard=0", "--side-by-side")
    r = good(profile(SPLIT, *small, "-o", COSTS, engine="stub:delay=1ms"))
    side = json.loads(COSTS.read_text())["side_by_side"]
    check(side["copies"] == 2 and side["file"] in ("part0.onnx", "part1.onnx"), f"{side}")
    check(abs(side["factor"] - side["alone_s"] / side["together_s"]) < 0.002, f"{side}")
    check(side["alone_s"] >= 0.001 and side["together_s"] >= 0.001, f"{side}")
    text = f"{side['factor']:.3f} of their speed"
    check(text in r.stderr and "beside 1 more" in r.stderr, r.stderr)
    r = good(run(PCC, MODEL, "-d", "2xcpu", "--dim=sequence=8", f"--costs={COSTS}", "-o", HERE / "none.json"))
    (HERE / "none.json").unlink()
    check(f"2 copies of a part side by side reached {text} alone" in r.stderr, r.stderr)
    table = HERE / "side.csv"
    one = min(os.sched_getaffinity(0))
    good(profile(MODEL, *small, f"--cores={one}", "--threads=1", "--dim=sequence=8", "-o", table))
    check(re.search(r'"#side-by-side 2 copies of part\d.onnx, factor [\d.]+",0,', table.read_text()), table.read_text())
    refused(profile(SPLIT, *small, "-o", HERE / "none.json", engine=f"stub:fail={side['file']}@6"), 1, side["file"],
            " of 2: the stub was told to fail")
    refused(profile(MODEL, *small, "--segments=0", "-o", HERE / "none.json"), 2, "no part is measured")


def links():
    """Between threads and processes: a table, and a cluster file that pcc takes; small blocks where memory is short."""
    file = HERE / "none.json"
    refused(run(PROFILE, "--links", MODEL), 2, "expected no model")
    refused(run(PROFILE, "--links", "--steps=3"), 2, "--steps has no effect with --links")
    if SANITIZED:  # whose memory has no limit
        return
    small = 192 << 20
    r = good(run("prlimit", f"--as={small}", PROFILE, "--links", "-o", file))
    rows_of = re.findall(r"^(\w+) +(\S+B/s),(\S+s) +(\S+) MiB +[\d.]+ %$", r.stdout, re.M)
    check([row[0] for row in rows_of] == ["threads", "processes"], r.stdout)
    check(all(1 <= float(row[3]) < 128 for row in rows_of), r.stdout)
    link = json.loads(file.read_text())["classes"][0]["link"]
    check((link["bandwidth"], link["latency"]) == rows_of[0][1:3], f"{link} {r.stdout}")
    good(run(PCC, MODEL, "-q", "-d", file, "--dim=sequence=8", "--pictures=none"))
    file.unlink()


def fit():
    """A class from times that a known class makes: it is found, and pcc plans with it; nodes that tell nothing are left
    out."""
    out, costs = HERE / "none.json", HERE / "synthetic.json"
    r = good(run(PCC, MODEL, "--dim=sequence=8", "-d", "1xcpu", "-q", "--emit", "csv"))
    nodes = [n for n in csv.DictReader(r.stdout.splitlines()) if int(n["traffic_bytes"])]
    def ps(n):
        return 3_000_000 + max(int(n["flops"]) * 1000, int(n["traffic_bytes"]) * 2000)  # 1G a second, 500MB/s
    table = {"pcc_measured": 1, "dims": {"sequence": 8}, "nodes": [{"name": n["name"], "time": ps(n)} for n in nodes]}
    costs.write_text(json.dumps(table))
    r = good(profile(MODEL, "--fit", f"--costs={costs}", "-o", out, engine=None))
    found = json.loads(out.read_text())["classes"][0]
    check((found["peak"]["f32"], found["bandwidth"], found["overhead"]) == ("1G", "500MB/s", "3us"), f"{found}")
    lines = re.findall(r"^(\w+) +(\d+) +([\d.]+) % +0.0 % +0.0 %$", r.stdout, re.M)
    left = re.search(r"left out: 0 nodes whose time is 0, (\d+) of other types", r.stderr)
    check(left and sum(int(n) for _, n, _ in lines) + int(left[1]) == len(nodes), f"{len(nodes)}: {r.stdout}{r.stderr}")
    check(abs(sum(float(t) for *_, t in lines) - 100) < 2 and "median error 0.0 %" in found["note"], r.stdout)
    r = good(run(PCC, MODEL, "--dim=sequence=8", "-d", out, "-q", "--emit", "csv"))
    times = {n["name"]: int(n["ps_fitted"]) for n in csv.DictReader(r.stdout.splitlines())}
    check(all(times[n["name"]] == ps(n) for n in nodes), "times by the class")
    products = {n["name"] for n in nodes if n["op"] != "MatMul"}
    for change, rc, words in [
            (lambda n: n["time"], 0, []), (lambda n: 0, 1, ["times above 0 for 0 f32 nodes", "expected 3 at least"]),
            (lambda n: n["time"] if n["name"] in products else 0, 0, ["nodes whose time is 0"])]:
        costs.write_text(json.dumps({**table, "nodes": [{**n, "time": change(n)} for n in table["nodes"]]}))
        out.unlink(missing_ok=True)
        r = profile(MODEL, "--fit", f"--costs={costs}", "-o", out, engine=None)
        check(r.returncode == rc and all(w in r.stderr for w in words), f"{rc}: {r.stderr}")
        check(out.exists() == (rc == 0), f"{rc}: {out}")
    out.unlink(missing_ok=True)
    for args, words in [((f"--costs={costs}", "--steps=3", "-o", out), "--steps has no effect with --fit"),
                        (("-o", out), "expected --costs=FILE"), ((f"--costs={costs}", "-o", costs), "another name")]:
        refused(profile(MODEL, "--fit", *args, engine=None), 2, words)
    refused(profile(SPLIT, "--fit", f"--costs={costs}", "-o", out, engine=None), 2, "expected a model")
    refused(profile(MODEL, "--fit", f"--costs={HERE / 'lacks.json'}", "-o", out, engine=None), 1, "lacks.json")


def other_sizes():
    """What is measured at other sizes than planned says so; a part without known nodes is only a part of the split."""
    out, four = HERE / "none.json", "--dim=sequence=4"
    refused(profile(SPLIT, f"--costs={COSTS}", four, "-o", out), 1, "measured at sequence=8", "at sequence=4")
    refused(profile(SPLIT, "-o", out, f"--costs={HERE / 'alone.csv'}"), 1, "expected its JSON form")
    r = good(profile(SPLIT, four, "-o", HERE / "four.json"))
    check(r.stderr.count("planned unknown") == 2, r.stderr)
    held = json.loads((SPLIT / "manifest.json").read_text())["nodes"]
    table = json.loads(COSTS.read_text())
    table["nodes"] = [n for n in table["nodes"] if n["name"] in held["part0.onnx"]]
    some = HERE / "some.json"
    some.write_text(json.dumps(table))
    good(profile(SPLIT, f"--costs={some}", "-o", HERE / "scaled.json"))
    check([n["name"] for n in json.loads((HERE / "scaled.json").read_text())["nodes"]] == held["part0.onnx"],
          "rows of the nodes that are known")


def given_inputs():
    given = HERE / "given.npz"
    for names, shape, words in ((("input_ids",), "(1, 7)", ["[1,8], found [1,7]: --dim sequence=7"]),
                                (("input_ids",), "(56,)", ["[1,8], found [56]"]),
                                (("input_ids",), "(1, 8", ["ends with ')'"]),
                                (("input_ids", "input_ids"), "(1, 8)", ["input_ids: it is in the archive twice"])):
        header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}".encode()
        data = bytes(8 * 8 if "8" in shape else 8 * (7 if "7" in shape else 56))
        with warnings.catch_warnings(), zipfile.ZipFile(given, "w") as z:
            warnings.simplefilter("ignore")  # of zipfile, about names that come twice
            for name in names:
                z.writestr(f"{name}.npy", b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + data)
        refused(profile(SPLIT, "-o", HERE / "none.json", f"--inputs={given}"), 1, *words)


def strange_names():
    """Names of nodes in a table are no facts and no formulas."""
    strange = HERE / "names"
    shutil.copytree(SPLIT, strange)
    manifest = json.loads((SPLIT / "manifest.json").read_text())
    manifest["nodes"]["part0.onnx"][:3] = ["#one", "=two", '#3,"']
    (strange / "manifest.json").write_text(json.dumps(manifest))
    good(profile(strange, "-q", "-o", HERE / "names.csv"))
    rows = [line.rsplit(",", 2)[0] for line in (HERE / "names.csv").read_text().splitlines()]
    check("\\x23one" in rows and "'=two" in rows and '"\\x233,"""' in rows, f"{rows}")


def no_library():
    out = f"-o{HERE / 'none.json'}"
    lone = HERE / "pcc-profile"
    shutil.copy(PROFILE, lone)
    r = run(lone, MODEL, out, env=BARE)
    if "libonnxruntime.so.1 is not where" in r.stderr:  # else the system has one
        refused(r, 1, "not found", "PCC_ONNXRUNTIME is not set", "VIRTUAL_ENV is not set", "pip install onnxruntime",
                "--onnxruntime=FILE")
        refused(run(lone, MODEL, out, env={**BARE, "VIRTUAL_ENV": str(HERE)}), 1, f"VIRTUAL_ENV ({HERE}) has none")
    refused(run(lone, MODEL, out, f"--onnxruntime={MODEL}"), 1, str(MODEL), "shared library of ONNX Runtime")
    refused(run(lone, MODEL, out, env={**BARE, "PCC_ONNXRUNTIME": "/no/such.so"}), 1, "/no/such.so", "PCC_ONNXRUNTIME")
    for name, words in (("libfake-nvml.so", ["no OrtGetApiBase"]), ("libfake-old.so", ["1.15.1", "1.16 or later"])):
        refused(run(lone, MODEL, out, f"--onnxruntime={extras.BUILT / name}"), 1, name, *words)


def interrupted():
    """Ctrl-C: what is complete is written."""
    slow, tmp = HERE / "slow.json", HERE / "tmp"
    tmp.mkdir()
    p = subprocess.Popen([PROFILE, MODEL, "-o", slow, "--engine=stub:delay=1ms", "--dim=sequence=8", "--steps=100000",
                          "--segments=1"], stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp)})
    while not list(tmp.glob("pcc-*/pieces/manifest.json")) and p.poll() is None:
        time.sleep(0.01)
    p.send_signal(signal.SIGINT)
    said = p.communicate(timeout=300)[1]
    check(p.returncode == 130 and "part0.onnx, first node '/wte/Gather': not measured: ended by Ctrl-C" in said,
          f"{p.returncode} {said}")
    check(not slow.exists() and "nothing is complete" in said, said)
    check(not list(tmp.iterdir()), f"temporary files {list(tmp.rglob('*'))}")
    p = subprocess.Popen([PROFILE, MODEL, "-o", HERE / "ended", "--engine=stub:delay=1ms", "--dim=sequence=8",
                          "--steps=100000", "--rounds=1", "--", "-d", "2xcpu"], stderr=subprocess.PIPE, text=True,
                         env={**os.environ, "TMPDIR": str(tmp)})
    while not list(tmp.glob("pcc-*/pieces/manifest.json")) and p.poll() is None:
        time.sleep(0.01)
    p.send_signal(signal.SIGTERM)
    said = p.communicate(timeout=300)[1]
    check(p.returncode == 130 and "ended by Ctrl-C: nothing is complete" in said, f"{p.returncode} {said}")
    check(not list(tmp.iterdir()) and not (HERE / "ended").exists(), f"left files {list(tmp.rglob('*'))}")
    comma = {**os.environ, "TMPDIR": str(HERE / "a,b")}
    refused(profile(MODEL, "-o", slow, env=comma), 1, "TMPDIR", "without ','")


def help_texts():
    said = good(run(PROFILE, "--help")).stdout
    options = re.findall(r"(--[a-z-]+)", said)
    check(said.startswith("usage: pcc-profile MODEL") and "--segments" in options, said)
    man = good(run(PROFILE, "--help-man")).stdout.replace("\\-", "-")
    for shell in ("bash", "zsh", "fish"):
        text = good(run(PROFILE, f"--help-completion={shell}")).stdout
        check("segments" in text and "bash zsh fish" in text, f"{shell}: {text}")
    check(all(o in man for o in options) and man.startswith(".TH PCC-PROFILE 1"), "the manual page has all options")
    check(good(run(PROFILE, "--version")).stdout.startswith("pcc-profile "), "version")


def calls_of_functions():
    """Nodes of a function run under other names: its call gets no row, and the others not its time."""
    from onnx import TensorProto, helper, save
    opset, own = helper.make_opsetid("", 17), helper.make_opsetid("own", 1)
    inside = [helper.make_node("MatMul", [v, v], [w], name=f"to_{w}") for v, w in ("xs", "sy")]
    function = helper.make_function("own", "F", ["x"], ["y"], inside, [opset])
    nodes = [helper.make_node("Relu", ["a"], ["b"], name="first"),
             helper.make_node("F", ["b"], ["c"], domain="own", name="call"),
             helper.make_node("Relu", ["c"], ["d"], name="last")]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [128, 128]) for n in "ad"]
    save(helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:]), functions=[function], ir_version=9,
                           opset_imports=[opset, own]), HERE / "calls.onnx")
    r = good(profile(HERE / "calls.onnx", "--segments=1", "--steps=3", "-o", COSTS, engine=None))
    table = json.loads(COSTS.read_text())
    times = {n["name"]: n["time"] for n in table["nodes"]}
    check(sorted(times) == ["first", "last"] and sum(times.values()) < table["parts"][0]["time"] and
          "warning: part0.onnx: calls of functions run as other nodes" in r.stderr, f"{table} {r.stderr}")


def measured_table():
    """tools/measure.py writes the file that is asked for, and none beside it."""
    folder = HERE / "tables"
    folder.mkdir()
    (folder / "tab.csv").write_text("keep me")
    command = (sys.executable, SOURCE / "tools/measure.py", SPLIT, "--steps=1", "--discard=0", "-o")
    env = {**os.environ, "PCC_PROFILE": str(PROFILE)}
    r = good(run(*command, folder / "tab", env=env))
    count = sum(len(n) for n in json.loads((SPLIT / "manifest.json").read_text())["nodes"].values())
    check(sorted(p.name for p in folder.iterdir()) == ["tab", "tab.csv"] and f"tab: {count} nodes" in r.stdout and
          (folder / "tab.csv").read_text() == "keep me", f"{list(folder.iterdir())} {r.stdout}")
    refused(run(*command, folder, env=env), 1, "expected the name of a file")


def by_runtime():
    import numpy
    make()
    r = profile(MODEL, "--dim=sequence=8", "-o", COSTS, "-v", engine=None)
    extras.need("ONNX Runtime is not found" not in r.stderr, "no ONNX Runtime: pip install onnxruntime")
    good(r)
    table = json.loads(COSTS.read_text())
    check(all(a == b > 0 for a, b in sums(table)) and len(table["parts"]) == 4, f"{sums(table)}")
    check(table["runtime"].startswith("onnxruntime 1.") and table["runtime"] in r.stderr, r.stderr)
    memory = {n["name"]: n.get("memory") for n in table["nodes"]}
    check(memory["/h.0/attn/qkv/MatMul"] == 8 * 48 * 4, f"bytes of results: {memory}")
    good(profile(SPLIT, "-o", HERE / "next.json", f"--costs={COSTS}", "--steps=1", "--discard=0", engine=None))
    found, planned = json.loads((HERE / "next.json").read_text()), json.loads((SPLIT / "manifest.json").read_text())
    parts, rows_of = found["parts"], {n["name"]: n["memory"] for n in found["nodes"]}
    for p, q in zip(parts, planned["parts"]):  # each node works in what the part took beyond the plan
        beyond = p["sample_bytes"] - p["start_bytes"] - (10 << 20) - q["live_peak_bytes"]
        wrong = [n for n in planned["nodes"][p["file"]] if rows_of[n] != max(memory[n] + beyond, 0)]
        check(not wrong, f"{p['file']}: {beyond} B beyond the plan: {wrong}")
    check([p["file"] for p in parts] == ["part0.onnx", "part1.onnx"], f"{parts}")
    check(all(1 << 20 < p["start_bytes"] < p["loaded_bytes"] <= p["sample_bytes"] and
              p.get("arena_bytes", 1) >= p.get("arena_peak_bytes", 1) > 0 for p in parts), f"memory {parts}")
    out, given = f"-o{HERE / 'none.json'}", HERE / "in.npz"
    small = ("--steps=1", "--discard=0", "--segments=1", "--dim=sequence=8")
    for arrays, words in (({"input_ids": numpy.full((1, 8), 99)}, ["first node", "indices"]),
                          ({"input_ids": numpy.zeros((1, 8), numpy.int32)}, ["expected i64, found i32"]),
                          ({"input_ids": numpy.zeros((1, 8), int), "mask": numpy.zeros(2)}, ["'mask' is no input"])):
        numpy.savez(given, **arrays)
        refused(profile(MODEL, out, *small, f"--inputs={given}", engine=None), 1, *words)
    numpy.savez_compressed(given, input_ids=numpy.zeros((1, 8), int))
    good(profile(MODEL, "-o", COSTS, *small, f"--inputs={given}", engine=None))
    given.write_bytes(given.read_bytes()[:-30])
    refused(profile(MODEL, out, *small, f"--inputs={given}", engine=None), 1, "numpy.savez")
    numpy.savez(given, input_ids=numpy.full((1, 8), 31))
    whole = given.read_bytes()
    draw = random.Random(1)
    for k in range(20):  # bytes of an archive changed, or its end cut off: an error, or other numbers
        text = bytearray(whole)
        for _ in range(3):
            text[draw.randrange(len(text))] = draw.choice((0, 1, 0x7f, 0x80, 0xff))
        broken = HERE / "broken.npz"
        broken.write_bytes(text[:draw.randrange(len(text))] if k % 4 == 0 else text)
        r = profile(MODEL, "-o", COSTS, *small, f"--inputs={broken}")
        check(r.returncode in (0, 1) and r.stderr.count("error:") == r.returncode, f"{k}: {r.returncode} {r.stderr}")
    good(profile(MODEL, "-o", COSTS, *small, f"--inputs={given}", engine=None))
    calls_of_functions()
    measured_table()
    strange = HERE / "strange"
    shutil.copytree(SPLIT, strange)
    (strange / "part1.onnx").write_bytes(b"no model")
    refused(profile(strange, out, engine=None), 1, "part1.onnx, first node")


def wrong_slots(slots, header):
    """Functions that a header of ONNX Runtime has in another slot than the table says."""
    tests = "".join(f'    if (offsetof(OrtApi, {name}) != {n} * sizeof(void *)) puts("{name}");\n' for n, name in slots)
    source, program = HERE / "slots.c", HERE / "slots"
    source.write_text(f'#include <stddef.h>\n#include <stdio.h>\n#include "{header}"\n'
                      f'int main(void)\n{{\n{tests}    return 0;\n}}\n')
    good(run("cc", source, "-o", program))
    return good(run(program)).stdout.split()


def slots():
    table = (SOURCE / "tools/run/ort_api.c").read_text()
    rows = [(int(n), name) for n, name in re.findall(r"SLOT\((\d+), (\w+)\)", table)]
    check(len(rows) > 40 and rows == sorted(set(rows)), f"{rows}")
    named = {n: name for n, name in rows}
    made = HERE / "made.h"  # a header with these slots, and one with a slot too much before the last rows
    for more, bad in ((0, []), (1, ["GetKeyValuePairs", "ReleaseKeyValuePairs", "AllocatorGetStats"])):
        fields = [named.get(n, f"other{n}") for n in range(320)]
        fields[200:200] = ["strange"] * more
        made.write_text("typedef struct {" + "".join(f"void *{f};" for f in fields) + "} OrtApi;\n")
        check(wrong_slots(rows, made) == bad, f"{more} more: {wrong_slots(rows, made)}")
    root = os.environ.get("ONNXRUNTIME_ROOT")
    extras.need(root, "no header of ONNX Runtime (ONNXRUNTIME_ROOT)")
    header = next(Path(root).rglob("onnxruntime_c_api.h"), None)
    if check(header, f"no onnxruntime_c_api.h in {root}"):
        check(wrong_slots(rows, header) == [], f"slots: {wrong_slots(rows, header)}")


if extras.extra() == "header":
    slots()
elif extras.extra() == "ort":
    by_runtime()
else:
    make()
    rows()
    planned()
    rounds()
    short_of_memory()
    side_by_side()
    links()
    fit()
    other_sizes()
    given_inputs()
    strange_names()
    bad_inputs()
    no_library()
    interrupted()
    help_texts()
sys.exit(finish())
