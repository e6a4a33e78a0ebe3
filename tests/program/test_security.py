"""The promises of SECURITY.md that no other test keeps, one function for each: hostile inputs, names, folders and
limits end in one line and exit code 1, in time, with nothing left behind.  Needs the Python package onnx (else 77)."""
# extras: dot
import csv
import io
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish
from wire import field

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
except ImportError:
    print("skipped: the Python package onnx is not installed")
    sys.exit(77)

PCC = str(Path(shutil.which(os.environ.get("PCC", "pcc")) or os.environ.get("PCC", "pcc")).resolve())
PCC_GEN = str(Path(shutil.which(os.environ.get("PCC_GEN", "pcc-gen")) or "pcc-gen").resolve())
FUNCTIONS = Path(__file__).resolve().parents[1] / "lit/functions.pir"
PCC_KEYED = str(extras.BUILT / "pcc-keyed")  # pcc that is told the key of its hashes
PCC_INTERRUPTED = str(extras.BUILT / "pcc-interrupted")  # Ctrl-C is pressed at a known moment
PCC_SHRINKING = str(extras.BUILT / "pcc-shrinking")
PCC_UNNAMED = str(extras.BUILT / "pcc-unnamed")  # one file does not get its name
SANITIZED = b"__asan_init" in Path(PCC).read_bytes()
REPORTS = ("runtime error:", "AddressSanitizer", "LeakSanitizer")
GPT = ["gpt", "--layers", "1", "--width", "32", "--heads", "2", "--vocab", "64"]


def pcc(*args, **more):
    more.setdefault("stdin", subprocess.DEVNULL)
    try:
        r = subprocess.run([*more.pop("before", []), PCC, *map(str, args)], capture_output=True, timeout=300, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(args, "timeout", b"", b"")
    check(r.returncode >= 0 and not any(x in r.stderr.decode(errors="replace") for x in REPORTS),
          f"{args}: exit {r.returncode}: {r.stderr[-600:]}")
    return r


def listing(folder):
    return sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*"))


def refused(text, folder, *args, rc=1, **more):
    """One error line, which holds `text`; nothing new in the folder."""
    before = listing(folder)
    r = pcc(*args, cwd=folder, **more)
    err = r.stderr.decode(errors="replace")
    errors = [x for x in err.splitlines() if x.startswith("pcc: error: ")]
    check(r.returncode == rc and len(errors) == 1 and re.search(text, errors[0]) and listing(folder) == before,
          f"{args}: exit {r.returncode}, expected {rc} and one line with '{text}', nothing left: {err[-400:]!r} "
          f"{set(listing(folder)) - set(before)}")
    return r


def model(folder, name="m.onnx", *options):
    subprocess.run([PCC_GEN, *(options or GPT), "-o", str(folder / name)], check=True)
    return name


# ---- inputs


def inputs_are_regular_files(d):
    """Whatever an option names: a FIFO, a device without end, a folder and a file that is too large are refused."""
    m = model(d)
    os.mkfifo(d / "fifo")
    (d / "folder").mkdir()
    with open(d / "huge", "wb") as f:
        f.truncate(3 << 30)
    cost = ["-p", "cost"]
    uses = (lambda f: [m, "-p", "@" + f], lambda f: [m, *cost, "--pin", "@" + f], lambda f: [m, *cost, "--costs", f],
            lambda f: [m, *cost, "--dim", "batch=8", "--profile-at", "1=" + f, "--profile-at", "2=" + f],
            lambda f: [m, *cost, "-d", f + ".json"], lambda f: [m, "-p", f"contract{{blocks={f}}}"],
            lambda f: [m, "-p", f"contract{{blocks={f}.json}}"],
            lambda f: [m, "-p", f"plan{{from={f}}}"], lambda f: [m, "-p", f"plan{{from={f}.json}}"],
            lambda f: [m, "-p", f"plan{{from={f}.onnx}}"],
            lambda f: [m, "-p", "dp-place", "--compare", f], lambda f: [f], lambda f: [f + ".onnx"],
            lambda f: [f + ".json"], lambda f: [f + ".pir"])
    for kind, word in (("fifo", "is not a regular file"), ("zero", "is not a regular file"),
                       ("folder", ""), ("huge", "is larger than |not an ONNX")):
        target = "/dev/zero" if kind == "zero" else d / kind
        for end in ("", ".json", ".onnx", ".pir"):
            link = d / f"{kind}-link{end}"
            link.symlink_to(target)
        for use in uses:
            refused(word, d, *use(f"{kind}-link"))


def folders_hold_regular_files(d):
    """manifest.json and schedule.json of a folder."""
    m = model(d)
    for kind in ("fifo", "zero"):
        split = d / kind
        pcc(m, "-p", "dp-place", "-o", kind, "--pictures=none", cwd=d)
        for name in ("manifest.json", "schedule.json"):
            there = (split / name).read_bytes()
            (split / name).unlink()
            if kind == "fifo":
                os.mkfifo(split / name)
            else:
                (split / name).symlink_to("/dev/zero")
            refused("is not a regular file", d, kind, "--check-schedule")
            if name == "manifest.json":
                refused("is not a regular file", d, m, "-p", f"plan{{from={kind}}}")
                refused("is not a regular file", d, m, "-p", "dp-place", "--compare", kind)
                refused("no split folder of ours", d, m, "-p", "dp-place", "-o", kind)
            (split / name).unlink()
            (split / name).write_bytes(there)


def standard_input_where_asked(d):
    """-p @- and --pin @- read it, up to the same limit."""
    m = model(d)
    r = pcc(m, "-p", "@-", "--print-pipeline", cwd=d, stdin=None, input=b"cost,\ndp-place\n")
    check(r.returncode == 0 and b",dp-place" in r.stderr, f"@-: {r.returncode} {r.stdout} {r.stderr}")
    r = pcc(m, "-p", "dp-place", "--pin", "@-", cwd=d, stdin=None, input=b"(=acc0\n")
    check(r.returncode == 2 and b"not a regular expression" in r.stderr, f"--pin @-: {r.returncode} {r.stderr}")
    with open("/dev/zero", "rb") as endless:
        refused("is larger than 16 MiB", d, m, "-p", "@-", stdin=endless)
    with open(d / "hole", "wb") as hole:
        hole.truncate(1 << 31)
    with open(d / "hole", "rb") as large:
        refused("is larger than 2 GiB", d, "-", stdin=large)


# ---- expressions


def expressions_stay_cheap(d):
    """Whoever names an expression: what would take the C library all its stack, or all its time, is refused."""
    shutil.copy(FUNCTIONS, d / "f.pir")
    m = model(d)
    for text, why in (("(" * 40000 + ")" * 40000, "50 groups"), ("(a++++)" * 20, "3 repeats"),
                      ("((a{255}){255}){255}", "written out"), ("(", "Unmatched")):
        (d / "blocks").write_text(text + "\n", encoding="utf-8")
        (d / "plan").write_text(text + "=acc0\n", encoding="utf-8")
        if "{" not in text:  # -p has a meaning of its own for braces
            refused(why, d, "f.pir", "-p", f"inline-functions{{only={text}}}")
        refused(why, d, m, "-p", "contract{blocks=blocks}")
        refused(why, d, m, "-p", "plan{from=plan}")
        refused(why, d, m, "-p", "cost,dp-place", "--pin", f"{text}=acc0", rc=2)


# ---- errors and exit codes


def external(folder, *tensors):
    """A model that reshapes by tensors that lie in w.bin, which is not there."""
    info, n = helper.make_tensor_value_info, helper.make_node
    lie = [TensorProto(name=name, dims=[2], data_type=7, data_location=1) for name in tensors]
    for t in lie:
        t.external_data.add(key="location", value="w.bin")
    nodes = [n("Reshape", ["x" if k == 0 else f"y{k - 1}", name], [f"y{k}"]) for k, name in enumerate(tensors)]
    g = helper.make_graph(nodes, "g", [info("x", 1, [4, 6])], [info(f"y{len(lie) - 1}", 1, None)], lie)
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "e.onnx").write_bytes(m.SerializeToString())
    return "e.onnx"


def errors_fail(d):
    """A line "pcc: error:" and exit code 0 do not go together: what can be done without is a warning, with its name;
    a file that ends too early fails the run."""
    m = external(d, "s", "t", "u")
    for options in ((), ("-p", "dp-place"), ("-p", "infer-shapes", "--emit", "ir"), ("--check-annotations",)):
        r = pcc(m, *options, cwd=d)
        err = r.stderr.decode()
        check(r.returncode == 0 and "pcc: error" not in err, f"{options}: exit {r.returncode}: {err}")
        check(err.count("'s' is wanted for shapes, but its file 'w.bin' is not there") == err.count("missing-values")
              == ("--check-annotations" not in options), f"{options}: {err}")
    refused("-Werror", d, m, "-p", "cost", "-o", "e.csv", "-Werror=missing-values")
    (d / "w.bin").write_bytes(struct.pack("<qq", 3, 8))
    r = pcc(m, "-p", "infer-shapes", "--emit", "ir", cwd=d)
    check(r.returncode == 0 and b"f32[3,8]" in r.stdout and b"missing-values" not in r.stderr, f"{r.stdout} {r.stderr}")


# ---- names and time


def colliding(count):
    """Names of 16 printable characters that all had one hash when it had no key: for each eight bytes h = (h ^ w) * M,
    h ^= h >> 32.  The second half of each undoes its first half; few are printable, so many are tried."""
    rng = np.random.default_rng(3)
    start, factor = np.uint64(0x9e3779b97f4a7c15 ^ 16), np.uint64(0xd6e8feb86659fd93)
    meeting, names = np.uint64(rng.integers(1 << 63)), []
    while len(names) < count:
        first = rng.integers(97, 123, (1 << 20, 8), dtype=np.uint8)
        h = (start ^ first.view("<u8")[:, 0]) * factor
        second = ((h ^ h >> np.uint64(32)) ^ meeting).astype("<u8").view(np.uint8).reshape(-1, 8)
        good = ((second > 32) & (second < 127)).all(axis=1)
        names += [a.tobytes() + b.tobytes() for a, b in zip(first[good], second[good])]
    return names[:count]


def names_cannot_flood(d):
    """Names that were chosen to collide take no longer than others, in CPU time (then: forty times); the least of up to
    five runs each, since other programs slow one down."""
    rng, seconds = random.Random(4), {"random": 1e9, "colliding": float("inf")}
    for kind in 5 * ("random", "colliding"):
        if kind == "random" and seconds["colliding"] < 3 * seconds["random"] + 0.1:
            break
        names = colliding(10000) if kind == "colliding" else [b"%016x" % rng.getrandbits(64) for _ in range(10000)]
        nodes = b"".join(field(1, field(1, b"x") + field(2, name) + field(4, b"Neg")) for name in names)
        graph = nodes + field(2, b"g") + field(11, field(1, b"x"))
        (d / "f.onnx").write_bytes(b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11"))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        r = pcc("f.onnx", "--check-annotations", cwd=d)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds[kind] = min(seconds[kind], after.ru_utime - before.ru_utime)
        check(r.returncode == 0, f"{kind}: {r.stderr}")
    check(seconds["colliding"] < 3 * seconds["random"] + 0.1, f"{seconds}")


def copies_cannot_flood(d):
    """A constant with a copy in each of thousands of parts takes memory in proportion to them, not to their square."""
    parts = 400 if SANITIZED else 4000
    model = helper.make_model(helper.make_graph([], "g", [helper.make_tensor_value_info("v0", TensorProto.FLOAT, [1])],
                                                [helper.make_tensor_value_info(f"v{parts}", TensorProto.FLOAT, [1])]))
    model.graph.node.append(helper.make_node("Constant", [], ["one"], "one", value_float=1.0))
    for k in range(parts):
        model.graph.node.add(op_type="Add", name=f"n{k}", input=[f"v{k}", "one"], output=[f"v{k + 1}"])
    onnx.save(model, str(d / "c.onnx"))
    limit = None if SANITIZED else lambda: resource.setrlimit(resource.RLIMIT_AS, (128 << 20, 128 << 20))
    r = pcc("c.onnx", "-q", "--pin=n[0-9]*[02468]$=acc0", "--pin=n[0-9]*[13579]$=acc1", "--pictures=none",
            "-o", "split", cwd=d, preexec_fn=limit)
    if not check(r.returncode == 0, r.stderr):
        return
    said = onnx.load(str(d / "split/model.onnx")).graph.node[0].metadata_props
    for key, item in (("pcc.part", f"part%0{len(str(parts - 1))}d.onnx"), ("pcc.device", "acc%d")):
        want = ",".join(item % (k if key == "pcc.part" else k % 2) for k in range(parts))
        check([p.value for p in said if p.key == key] == [want], f"{key} of the constant")


def names_are_utf8(d):
    """Each way in: ONNX, textual IR, tables, plans."""
    m = model(d)
    raw = (d / m).read_bytes()
    at = raw.index(b"/embed/")
    for bad in (b"\xff", b"\xc0", b"\xed"):
        (d / "bad.onnx").write_bytes(raw[:at] + bad + raw[at + 1:])
        refused(f"byte {at} of the file is not UTF-8", d, "bad.onnx", "-o", "split")
    text = FUNCTIONS.read_bytes()
    at = text.index(b"name=") + 6
    (d / "bad.pir").write_bytes(text[:at] + b"\xfe" + text[at:])
    refused(f"byte {at} is not UTF-8", d, "bad.pir", "-p", "cost", "-o", "x.csv")
    (d / "bad").write_bytes(b"x=acc0\n\xe9=acc1\n")
    refused("byte 7 is not UTF-8", d, m, "-p", "plan{from=bad}")
    refused("byte 7 is not UTF-8", d, m, "-p", "cost", "--costs", "bad")
    refused("byte 7 is not UTF-8", d, m, "-p", "dp-place", "--pin", "@bad")
    documented = raw + field(6, b"caf\xe9")  # what documentation is written in is nobody's business
    (d / "doc.onnx").write_bytes(documented)
    check(pcc("doc.onnx", "-p", "dp-place", "-o", "split", cwd=d).returncode == 0, "documentation in Latin-1")


def reading_ends_in_time(d):
    """--time-limit reaches reading; tests/unit/passes/stopped.c: all readers and shape inference."""
    model(d, "w.json", "random-layers", "--nodes", "1000")
    before, command = listing(d), ("w.json", "-p", "dp-place{max-states=1000}", "-o", "x.json")
    r = interrupted(d, 1, *command, "--time-limit", "3600s", times=0)
    check(r.returncode == 1 and "time limit reached while the model was read" in r.stderr and listing(d) == before,
          f"exit {r.returncode}: {r.stderr[-300:]}")
    r = interrupted(d, 1, *command, times=0)
    check(r.returncode == 0, f"without a limit: exit {r.returncode}: {r.stderr[-300:]}")


def interrupted(folder, at, *args, times=1):
    """A run whose user presses Ctrl-C when it looks at its clock for the at-th time."""
    return subprocess.run([PCC_INTERRUPTED, *args], cwd=folder, capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PCC_INTERRUPT_AT": str(at), "PCC_INTERRUPTS": str(times)})


def ctrl_c_ends_as_promised(d):
    """While a model is read: one line, exit code 1, nothing written.  While plans are sought: the best so far, whole,
    and it says so.  A second Ctrl-C: exit code 130 at once, nothing written."""
    model(d, "m.onnx", "gpt", "--layers", "3", "--width", "32", "--heads", "2", "--vocab", "64")
    model(d, "w.json", "random-layers", "--nodes", "1000")
    (d / "t.pir").write_text("graph {\n  in %v : f32[4]\n" + "".join(
        f"  %{k} = Neg(%{k - 1 if k else 'v'})\n" for k in range(2500)) + "  out %2499\n}\n")
    for name, passes, out in (("m.onnx", "fuse,dp-place", "x.json"), ("w.json", "dp-place{max-states=20000}", "x.json"),
                              ("t.pir", "fuse,dp-place", "x.json"),
                              ("m.onnx", "anneal-place{starts=1:moves=20000}", "split")):
        before, ends = listing(d), {"read": 0, "said": 0, "whole": 0}
        for at in (1, 3, 10, 100, 1000, 10**9) if SANITIZED else (1, 2, 3, 4, 6, 10, 32, 100, 1000, 10000, 10**9):
            r = interrupted(d, at, name, "-p", passes, "-o", out, "--pictures=none")
            made = [x for x in listing(d) if x not in before]
            if r.returncode == 1:
                check(r.stderr.count("pcc: error:") == 1 and "interrupted while the model was read" in r.stderr and
                      not made, f"{name}, look {at}: {r.stderr[-300:]} {made}")
                ends["read"] += 1
                continue
            check(r.returncode == 0 and "error" not in r.stderr and out in made and not any("tmp" in x for x in made),
                  f"{name}, look {at}: exit {r.returncode} {r.stderr[-300:]} {made}")
            again = pcc(name, "-p", f"plan{{from={out}:effort=0}}", cwd=d)
            check(again.returncode == 0, f"{name}, look {at}: its plan cannot be read: {again.stderr[-300:]}")
            ends["said" if "interrupted" in r.stdout else "whole"] += 1
            subprocess.run(["rm", "-r", str(d / out)], check=True)
        check(ends["read"] and ends["said"] and ends["whole"], f"{name}, {passes}: {ends}")
        for at in (1, 3, 10):
            r = interrupted(d, at, name, "-p", passes, "-o", out, times=2)
            check(r.returncode == 130 and not r.stdout and listing(d) == before, f"{name}, twice: exit {r.returncode}")


def no_weights_without_model(d):
    """If the model or its file of weights does not get its name, neither file is left."""
    model(d)
    pcc("m.onnx", "-d", "2xa100", "-o", "split", "--pictures=none", "-q", cwd=d)
    before = listing(d)
    for name in ("whole.onnx", "whole.onnx.data", "other"):
        r = subprocess.run([PCC_UNNAMED, "split", "-o", "whole.onnx", "-q"], cwd=d, capture_output=True, text=True,
                           env={**os.environ, "PCC_UNNAMED": name})
        made = sorted(set(listing(d)) - set(before))
        if name == "other":
            check(r.returncode == 0 and made == ["whole.onnx", "whole.onnx.data"], f"{r.returncode} {r.stderr} {made}")
        else:
            check(r.returncode == 1 and f"{name}: cannot be written: No space left" in r.stderr and not made,
                  f"without {name}: {r.returncode} {r.stderr} {made}")


def order_is_not_the_hash_s(d):
    """Two keys of the hashes: the same bytes."""
    model(d)
    made = []
    for key in ("0", "1", "ffffffffffffffff", None):
        r = subprocess.run([PCC_KEYED, "m.onnx", "-o", "split", "--pictures=none"], cwd=d, capture_output=True,
                           env={**os.environ, **({"PCC_HASH_KEY": key} if key else {})})
        files = {p.name: p.read_bytes() for p in (d / "split").iterdir()}
        made.append((r.returncode, r.stdout, r.stderr, files))
        shutil.rmtree(d / "split")
    check(made[0][0] == 0 and len(made[0][3]) > 4, f"{made[0][:3]}")
    check(all(x == made[0] for x in made), "the key of the hashes shows in what is written")


# ---- what is printed

EVIL = "\x1b[2J\u009b31m\u202e\n\x07\x7f\u2028"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x80-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def evil_model(path):
    """A chain of operators whose every name, domain and dimension holds what terminals obey; names begin formulas."""
    def value(name):
        return helper.make_tensor_value_info(name, 1, ["batch" + EVIL, 64])
    names = [f"{sign}/h.{k}/{EVIL}{k}" for k, sign in enumerate("=+-@=+-@")]
    weights = [TensorProto(name="w" + x, dims=[64, 64], data_type=1, raw_data=bytes(4 * 64 * 64)) for x in names]
    nodes = [helper.make_node("MatMul" if k % 2 else "Mat" + EVIL, [names[k - 1] if k else "in" + EVIL, "w" + x], [x],
                              name=x, domain="" if k % 2 else "d" + EVIL) for k, x in enumerate(names)]
    g = helper.make_graph(nodes, EVIL, [value("in" + EVIL)], [value(names[-1])], weights,
                          value_info=[value(x) for x in names[:-1]])
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("d" + EVIL, 1)],
                          ir_version=8, producer_name=EVIL)
    path.write_bytes(m.SerializeToString())


def harmless(what, data):
    """Text without what a terminal obeys."""
    found = OBEYED.search(data.decode())
    check(not found, f"{what}: {found and data.decode()[max(0, found.start() - 60):found.start() + 20]!r}")


def terminals_obey_nothing(d):
    """Names go through one printer, whatever the output."""
    evil_model(d / "m.onnx")
    (d / "p.txt").write_text("".join(
        f"node{k} -- Layer{EVIL[:6]}{k} -- forward_compute_time=1.0, backward_compute_time=2.0, activation_size=4.0, "
        f"parameter_size=4.0\n" for k in range(1, 5)) + "".join(f"\tnode{k} -- node{k + 1}\n" for k in range(1, 4)),
        encoding="utf-8")
    plan = ["-p", "fuse,dp-place"]
    runs = [["m.onnx"], ["m.onnx", *plan], ["m.onnx", *plan, "--explain-bound"], ["m.onnx", *plan, "--baselines"],
            ["m.onnx", *plan, "--judge=makespan"], ["m.onnx", "-p", "fuse,levels"], ["m.onnx", *plan, "--replay", "3"],
            ["m.onnx", *plan, "--print-ir-after=fuse", "--print-ir-before=dp-place"],
            ["m.onnx", *plan, "--judge=latency"], ["m.onnx", *plan, "--compare", "plan.json"],
            ["m.onnx", *plan, "--order-report=host"], ["m.onnx", "--check-annotations"], ["p.txt"],
            ["m.onnx", "-p", "cost", "--costs", "bad.csv"], ["m.onnx", *plan, "--diag=json", "-o", "split"],
            ["split", "--check-schedule"], ["m.onnx", *plan, "--dim", f"x{EVIL}=3"],
            *(["m.onnx", *plan, "--emit", kind] for kind in ("csv", "json", "ir"))]
    (d / "bad.csv").write_text(f"name,time\n\"{EVIL}\",1us\n", encoding="utf-8")
    check(pcc("m.onnx", *plan, "-o", "plan.json", cwd=d).returncode == 0, "no plan")
    for args in runs:
        r = pcc(*args, cwd=d)
        check(r.returncode in (0, 1) and len(r.stdout) + len(r.stderr) > 20, f"{args}: {r.returncode} {r.stderr}")
        harmless(args, r.stdout)
        harmless(args, r.stderr)


def tables_run_nothing(d):
    """Cells of CSV that a spreadsheet would run, or with control characters, are harmless; pcc reads them again."""
    evil_model(d / "m.onnx")
    for name, passes in (("c.csv", "cost"), ("l.levels.csv", "levels")):
        check(pcc("m.onnx", "-p", passes, "-o", name, cwd=d).returncode == 0, name)
        text = (d / name).read_bytes()
        harmless(name, text)
        rows = list(csv.reader(io.StringIO(text.decode())))
        check(len(rows) == 9 and not any(cell[:1] in ("=", "+", "@") or cell[:2] in ("-/", "--") for row in rows
                                         for cell in row) and rows[1][0].startswith("'=/h.0/"), f"{name}: {rows[1]}")
    names = ["=1+1", "'=x", "@y", "-z", "'plain", "+"]
    text = "graph {\n  in %v : f32[4]\n" + "".join(
        f"  %{k} = Neg(%{'v' if not k else k - 1}) name=\"{x}\"\n" for k, x in enumerate(names)) + "  out %5\n}\n"
    (d / "n.pir").write_text(text, encoding="utf-8")
    check(pcc("n.pir", "-p", "cost", "-o", "n.csv", cwd=d).returncode == 0, "n.csv")
    r = pcc("n.pir", "-p", "cost", "--costs", "n.csv", "--emit", "csv", "-Werror", cwd=d)
    check(r.returncode == 0 and r.stdout == (d / "n.csv").read_bytes(), f"read back: {r.stderr}")


# ---- files that change


def cut_short(folder, file, *args):
    """Runs with the file cut to half at each call in turn that reads it (with sanitizers: at each third), until none is
    left: exit 0 or 1, one line, and nothing is left behind.  How many runs failed."""
    whole, failures = (folder / file).read_bytes(), 0
    for at in range(1, 1000, 3 if SANITIZED else 1):
        (folder / file).write_bytes(whole)
        before = listing(folder)
        r = subprocess.run([PCC_SHRINKING, *args], cwd=folder, capture_output=True, timeout=300,
                           env={**os.environ, "PCC_SHRINK": str(folder / file), "PCC_SHRINK_AT": str(at)})
        err = r.stderr.decode()
        check(r.returncode in (0, 1) and err.count("pcc: error:") == r.returncode,
              f"{args}, call {at}: exit {r.returncode}: {err[-500:]}")
        check(r.returncode == 0 or listing(folder) == before, f"{args}, call {at}: left {listing(folder)}")
        failures += r.returncode == 1
        shutil.rmtree(folder / "split", ignore_errors=True)
        if (folder / file).stat().st_size == len(whole):
            break
    (folder / file).write_bytes(whole)
    return failures


def files_cut_short(d):
    """A model, or the weights beside it, that another program cuts while pcc reads or copies it: no SIGBUS."""
    m = model(d, "m.onnx", "gpt", "--layers", "1", "--width", "64", "--heads", "2", "--vocab", "256")
    for weights in ("shared", "inline", "original"):
        failures = cut_short(d, m, m, "-p", "dp-place", "-o", "split", "--pictures=none", f"--weights={weights}")
        check(failures >= (1 if SANITIZED else 3), f"{weights}: {failures} runs failed")
    beside = onnx.load(d / m)
    onnx.save(beside, d / "b.onnx", save_as_external_data=True, location="b.data", size_threshold=0)
    for weights in ("shared", "inline", "original"):
        failures = cut_short(d, "b.data", "b.onnx", "-p", "dp-place", "-o", "split", "--pictures=none",
                             f"--weights={weights}")
        check(failures >= 1, f"{weights}, beside: {failures} runs failed")


# ---- programs and limits


def arguments_are_no_options(d):
    """Names that begin with '-' are no options of dot, and dot is none of the current folder."""
    m = model(d)
    for name in ("-vx.svg", "-Tpng.svg", "--help.svg", "-o.pdf"):
        r = pcc(m, "-p", "dp-place", f"--output={name}", cwd=d)
        check(r.returncode == 0 and (d / name).stat().st_size > 200 and b"dot" not in r.stderr, f"{name}: {r.stderr}")
    (d / "dot").write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    (d / "dot").chmod(0o755)
    for path in (".", "", ":", f".:{os.environ['PATH']}"):
        r = pcc(m, "-p", "dp-place", "-o", "split", cwd=d, env={**os.environ, "PATH": path})
        check(r.returncode == 0 and not (d / "ran").exists(), f"PATH={path}: {r.stderr}")
        check(("no dot program" in r.stderr.decode()) == ("/" not in path), f"PATH={path}: {r.stderr}")
        shutil.rmtree(d / "split")


def small_limits(d):
    """A small stack, a small size of files: refused or ended with a line, and nothing is left."""
    m = model(d)

    def limited(what, soft, hard=None):
        return lambda: resource.setrlimit(what, (soft, hard or soft))
    if not SANITIZED:
        refused("the stack is limited to 64 KiB", d, m, "-o", "split",
                preexec_fn=limited(resource.RLIMIT_STACK, 1 << 16))
        r = pcc(m, "-p", "dp-place", "-o", "a", cwd=d, preexec_fn=limited(resource.RLIMIT_STACK, 1 << 16, 1 << 23))
        check(r.returncode == 0, f"a stack that can be raised: {r.stderr}")
        r = pcc(m, "-p", "auto-place", "-o", "b", cwd=d, preexec_fn=limited(resource.RLIMIT_STACK, 1 << 20))
        check(r.returncode == 0, f"a stack of 1 MiB: {r.stderr}")
        (d / "deep.json").write_text("[" * 2000, encoding="utf-8")
        refused("deep.json", d, "deep.json", preexec_fn=limited(resource.RLIMIT_STACK, 1 << 20))
    for size in (0, 100, 1 << 12, 1 << 15):
        for out in ("x.onnx", "x.csv", "x.json", "split"):
            before = listing(d)
            r = pcc(m, "-p", "dp-place", "-o", out, cwd=d, preexec_fn=limited(resource.RLIMIT_FSIZE, size))
            whole = r.returncode == 0 and ((d / out).is_dir() or (d / out).stat().st_size <= size)
            check(whole or (r.returncode == 1 and listing(d) == before),
                  f"{out} of {size} bytes: exit {r.returncode}: {r.stderr} {set(listing(d)) - set(before)}")
            shutil.rmtree(d / out) if (d / out).is_dir() else (d / out).unlink(missing_ok=True)
    few_files(d, m, limited)


def few_files(d, m, limited):
    """With too few open files a split that is there stays as it is; where it cannot be listed, it is named."""
    r = pcc(m, "-p", "dp-place", "-q", "-o", "split", cwd=d)
    before, said = {x.name: x.read_bytes() for x in (d / "split").iterdir()}, set()
    for most in range(3, 12):
        r = pcc(m, "-p", "dp-place", "-q", "--pictures=none", "-o", "split", cwd=d,
                preexec_fn=limited(resource.RLIMIT_NOFILE, most))
        if r.returncode == 0:
            break
        said |= set(r.stderr.decode().splitlines())
        check({x.name: x.read_bytes() for x in (d / "split").iterdir()} == before, f"{most} open files: {r.stderr}")
    check(r.returncode == 0 and "pcc: error: split: cannot be read: Too many open files" in said, f"open files: {said}")
    shutil.rmtree(d / "split")


def main():
    tests = [inputs_are_regular_files, folders_hold_regular_files, standard_input_where_asked, expressions_stay_cheap,
             errors_fail, names_cannot_flood, copies_cannot_flood, names_are_utf8, reading_ends_in_time,
             ctrl_c_ends_as_promised, no_weights_without_model, order_is_not_the_hash_s,
             terminals_obey_nothing, tables_run_nothing, files_cut_short, small_limits]
    if extras.extra() == "dot":
        extras.need(shutil.which("dot"), "no program dot")
        tests = [arguments_are_no_options]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(Path(folder))
    return finish()


sys.exit(main())
