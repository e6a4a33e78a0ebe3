"""The command line keeps its promises: exit codes, one-line errors, limits, Ctrl-C, atomic output,
every output format, options that matter, equal bytes from equal runs.

Each test function gets an empty folder and says what is wrong by check(). Under a sanitizer build
the same runs must be free of reports; only the time limits are longer. Needs the Python package
onnx (else 77)."""
# extras: disk dot setarch
import csv
import fcntl
import io
import json
import os
import pty
import random
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, complain, finish

try:
    import onnx
except ImportError:
    print("skipped: the Python package onnx is not installed")
    sys.exit(77)

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
FULL = Path(shutil.which(PCC) or PCC)
if not FULL.is_file() or not shutil.which(PCC_GEN):
    print("PCC and PCC_GEN must name the programs")
    sys.exit(1)
SANITIZED = b"__asan_init" in FULL.read_bytes()
HANGS = 300  # seconds of the clock after which a run is taken to hang
REPORTS = ("runtime error:", "AddressSanitizer", "LeakSanitizer")
GPT = ["gpt", "--kv", "--layers", "2", "--width", "32", "--heads", "2", "--vocab", "64"]
GPT_NODES = 83
SMALL = ["gpt", "--layers", "1", "--width", "16", "--heads", "2", "--vocab", "16"]
PLAN = ["-p", "fuse,dp-place", "-q"]
QUICK = ["-p", "fuse,dp-place{max-states=99}", "-q"]
SUM = ["--memory-model=sum"]  # figures that follow from the sizes alone


def pcc(*args, **more):
    """A finished run; crashes and sanitizer reports are failures wherever they come up."""
    command = more.pop("before", []) + [PCC, *map(str, args)]
    more.setdefault("stdout", subprocess.PIPE)
    r = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=HANGS, **more)
    if r.returncode < 0 or any(word in r.stderr for word in REPORTS):
        complain(f"{' '.join(command[1:])}: exit {r.returncode}: {r.stderr.strip()[:600]}")
    return r


def succeeds(*args, **more):
    r = pcc(*args, **more)
    if r.returncode != 0:
        complain(f"{' '.join(map(str, args))}: exit {r.returncode}: {r.stderr.strip()[:300]}")
    return r


def fails(code, text, *args, **more):
    """The run ends with `code`, and one line of stderr is an error, which holds `text`."""
    r = pcc(*args, **more)
    lines = r.stderr.splitlines()
    errors = [line for line in lines if line.startswith("pcc: error: ")]
    others = [line for line in lines if not re.match("pcc: (error|warning|note): ", line)]
    if r.returncode != code or len(errors) != 1 or text not in errors[0] or others:
        complain(f"{' '.join(map(str, args))}: exit {r.returncode} instead of {code}, or not "
                     f"one line with '{text}': {r.stderr.strip()[:400]}")
    return r


def generate(path, *options):
    subprocess.run([PCC_GEN, *(options or GPT), "-o", str(path)], check=True)
    return path


def tree(folder):
    """{name: bytes} of everything under a folder; folders have None."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None
            for p in sorted(Path(folder).rglob("*"))}


def hard_graph(path, chains=3, length=200):
    """Parallel chains between a fork and a join: far too many ideals for an exact search.  Few long
    chains: an ideal has many predecessors, so that the time is spent long before the memory is."""
    rng = random.Random(1)
    lines = ["class acc x4 link=1GB/s,1us", "graph {", "  %s = profile:op() : !xfer=3us !time=1us"]
    ends = []
    for k in range(chains):
        before = "%s"
        for i in range(length):
            name = f"%c{k}_{i}"
            lines.append(f"  {name} = profile:op({before}) : !xfer={rng.randint(1, 9)}us "
                         f"!time={rng.randint(5, 60)}us")
            before = name
        ends.append(before)
    lines += [f"  %t = profile:op({', '.join(ends)}) : !xfer=1us !time=1us", "}", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def plan(*args, **more):
    """The plan of a run as JSON; {} if there is none."""
    r = succeeds(*args, "-q", "--emit", "json", **more)
    return json.loads(r.stdout) if r.returncode == 0 else {}


def value(*args, **more):
    found = plan(*args, **more)
    return found["objective"]["value_s"] if found else -1.0


# ---- exit codes and messages


def usage(d):
    m = generate(d / "m.onnx")
    fails(2, "no model given", "-q")
    bare = pcc()
    shown = re.match(r"pcc: error: no model given .*\nusage: pcc MODEL .*\n\n(  pcc .*\n){3}", bare.stderr)
    if bare.returncode != 2 or not shown:
        complain(f"pcc alone does not show three commands: {bare.stderr}")
    fails(2, "one model at a time", m, m)
    fails(2, "unknown option '--nope'", m, "--nope")
    fails(2, "unknown option '-z'", m, "-z")
    fails(2, "--passes wants", m, "-p")
    fails(2, "--quiet takes no value", m, "--quiet=yes")
    fails(2, "unknown pass 'nope'", m, "-p", "nope")
    fails(2, "no option 'nope'", m, "-p", "fuse{nope=1}")
    fails(2, "--dim 'batch=-1'", m, "--dim", "batch=-1")
    fails(2, "--dim 'batch'", m, "--dim", "batch")
    fails(2, "--time-limit 'soon'", m, "--time-limit", "soon")
    fails(2, "--max-states '0'", m, "--max-states", "0")
    fails(2, "--io 'maybe'", m, "-q", "--io", "maybe")
    fails(2, "--efficiency '2'", m, "-q", "--efficiency", "2")
    fails(2, "--efficiency '0'", m, "-q", "--efficiency", "0")
    fails(2, "--pin 'acc1'", m, "--pin", "acc1")
    fails(2, "--state 'a'", m, "--state", "a")
    fails(2, "--emit 'svg'", m, "--emit", "svg")
    fails(2, "2xnope", m, "-d", "2xnope")
    fails(2, "0xa100", m, "-d", "0xa100")
    fails(2, "link '3'", m, "--link", "3")
    fails(2, "-o '-'", m, "-o", "-")
    fails(2, "-o ''", m, "-o", "")
    fails(2, "there is no such pass", m, "--print-ir-after=nope")
    fails(2, "there is no pass 'nope'", "--help-pass=nope")
    for end in ("jpg", "JPEG", "xyz", "yaml", "SVG", "Json"):
        for out in ("x." + end, "split.v2." + end):
            fails(2, f"writes no .{end}", m, *PLAN, "-o", d / out)
    check(list(tree(d)) == ["m.onnx"], f"left {list(tree(d))}")
    for out in ("split.v2", "jpg", "gpt-3.5", "x.jpg/"):
        succeeds(m, *PLAN, "-o", str(d) + "/" + out)
        check((d / out / "manifest.json").is_file(), f"no split in {out}")


def missing_files(d):
    """A file that is not there, or holds nonsense, is bad input, whatever names it."""
    m, no = generate(d / "m.onnx"), d / "missing"
    (d / "bad").write_text("?\n", encoding="utf-8")
    (d / "bad.json").write_text("?\n", encoding="utf-8")
    for name in (no, d / "bad"):
        text = name.name
        fails(1, text if name == no else "?", m, "-p", f"@{name}")
        fails(1, text if name == no else "?", m, "-p", "dp-place", "--pin", f"@{name}")
        fails(1, text, m, "-p", f"plan{{from={name}}}")
        fails(1, text, m, *PLAN, "--compare", name)
        fails(1, text, m, *PLAN, "--costs", name)
        fails(1, text + ".json", m, *PLAN, "-d", f"{name}.json")
    for end in ("onnx", "pir", "json", "none"):
        fails(1, "missing." + end, f"{no}.{end}")
    fails(1, "missing", m, "-p", f"contract{{blocks={no}}},dp-place")


def unused_options(d):
    """What changes nothing is said, by name, and fails a strict run before anything is written."""
    m, train = generate(d / "m.onnx", *SMALL), d / "t.onnx"
    generate(train, "train", "--layers", "1", "--width", "16", "--heads", "2", "--vocab", "16")
    used = [(m, ["--pin=/h.0=acc1"]), (m, ["--link=1GB/s,1us"]), (m, ["--efficiency=60%"]), (m, ["--io=free"]),
            (m, ["--group=2:nvlink4"]), (m, ["--levels=2:1GB/s,1us"]), (m, ["-p", "cost", "--time-limit", "1s"]),
            (m, ["--schedule=gpipe"]), (m, ["--max-states=9"]),
            (m, [*QUICK, "--schedule=gpipe"]), (m, [*QUICK, "--sync=1GB/s"]),
            (m, [*QUICK, "--replicate", "--sync=1GB/s"]), (train, [*QUICK, "--sync=1GB/s"]),
            (m, [*QUICK, "--pictures=pdf"]), (m, [*QUICK, "--pictures=pdf", "-o", "x.svg"]),
            (m, [*QUICK, "--view=nodes", "-o", "x.json"]), (m, [*QUICK, "--annotate=ir11", "-o", "x.json"])]
    for model, args in used:
        name = next(a.split("=")[0] for a in reversed(args) if a.startswith("--"))
        r = succeeds(model, *args, cwd=d)
        check(f"{name} has no effect" in r.stderr and "[-Wunused-option]" in r.stderr, f"{args}: {r.stderr}")
    strict = ["--pictures=pdf", "-o", "strict.json", "-Werror=unused-option"]
    fails(1, "-Werror: 1 warning", m, *QUICK, *strict, cwd=d)
    check(not (d / "strict.json").exists(), "written in spite of -Werror")
    for model, args in [(train, [*QUICK, "--schedule=gpipe"]), (train, [*QUICK, "--replicate", "--sync=1GB/s"]),
                        (m, [*QUICK, "--pictures=none", "-o", "s"]), (m, [*QUICK, "--view=devices", "--emit", "dot"]),
                        (m, [*QUICK, "--view=nodes", "-o", "x.dot"]),
                        (m, [*QUICK, "--annotate=metadata", "-o", "y.onnx"]),
                        (m, [*QUICK, "--time-limit", "9s", "--overlap=max", "--max-states=99"])]:
        r = succeeds(model, *args, cwd=d)
        check("unused-option" not in r.stderr, f"{args}: {r.stderr}")


def bad_input(d):
    m = generate(d / "m.onnx")
    fails(1, "missing.onnx", d / "missing.onnx")
    fails(1, "is a folder", d)
    (d / "bad.pir").write_text("graph {\n  in %x : f32[2]\n  %y = Relu(%z)\n}\n", encoding="utf-8")
    fails(1, "bad.pir:3:", d / "bad.pir")
    (d / "bad.json").write_text("{", encoding="utf-8")
    fails(1, "bad.json", d / "bad.json")
    fails(1, "no input of that name", m, "-p", "dp-place", "-q", "--state", "nope=logits")
    fails(1, "a planner", m, "-p", "fuse", "-o", d / "split")
    check(sorted(tree(d)) == ["bad.json", "bad.pir", "m.onnx"], f"left {list(tree(d))}")
    few = hard_graph(d / "few.pir", 2, 3)
    for goal in ("makespan", "latency"):  # who names a goal wants a plan
        r = succeeds(few, "--objective", goal, "-q", "--emit", "json")
        check(json.loads(r.stdout)["objective"]["name"] == goal, f"{goal}: {r.stdout[:200]}")
        check(goal in succeeds(few, "--objective", goal).stdout, f"{goal}: no summary of a plan")
    before = m.read_bytes()
    (d / "link.onnx").symlink_to(m)
    for out in (m, d / "link.onnx"):
        fails(2, "that is the model itself", m, *PLAN, "-o", out)
    fails(2, "-o is given 2 times", m, *PLAN, "-o", d / "a.json", "-o", d / "b.json")
    check(m.read_bytes() == before, "the model was overwritten")


def no_plan(d):
    m = generate(d / "m.onnx")
    r = fails(3, "memory", m, *PLAN, *SUM, "-d", "2xa100:100KiB", "-o", d / "split")
    need = re.search(r"need [\d.]+ MiB \((\d+) bytes\)", r.stderr)
    check(list(tree(d)) == ["m.onnx"], f"left {list(tree(d))}")
    if check(need, f"the memory that would do is not named: {r.stderr}"):
        succeeds(m, *PLAN, *SUM, "-d", f"2xa100:{need[1]}B")
        fails(3, "memory", m, *PLAN, *SUM, "-d", f"2xa100:{int(need[1]) - 1}B")


def information(d):
    m = generate(d / "m.onnx")
    check("usage: pcc" in succeeds("--help").stdout, "--help")
    version = succeeds("--version").stdout
    check(version.startswith("pcc "), "--version")
    for library in ("lp_solve", "CBC", "Scotch", "METIS"):
        check(re.search(rf"\b{library} (\d+\.\d+[.\d]*|not built in)(,|$)", version, re.M), f"--version: {library}")
    check("dp-place" in succeeds("--list-passes").stdout, "--list-passes")
    check("max-states" in succeeds("--help-pass=dp-place").stdout, "--help-pass")
    for args in ([], ["-p", ""], ["-p", "infer-shapes"], ["-p", "contract"]):
        out = succeeds(m, *args).stdout
        check("FLOP" in out and "input_ids" in out, f"no summary with {args}: {out[:200]}")
    r = succeeds(m, *PLAN[:2], "--verify-each", "--time-passes", "--print-ir-after-all")
    check("ms  dp-place" in r.stderr and "# after fuse" in r.stderr, "pass tracing")
    check("bound" in r.stdout and "acc1" in r.stdout, f"no table of the plan: {r.stdout}")
    check(succeeds(m, *PLAN).stdout == "", "-q prints")


# ---- limits


def interrupt(d):
    hard, out = hard_graph(d / "hard.pir"), d / "plan.json"
    command = [PCC, str(hard), "-p", "dp-place{max-states=1000000000}", "--print-ir-before=dp-place", "-o", str(out)]
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    p.stderr.readline()  # the search begins after this text
    p.send_signal(signal.SIGINT)
    text, err = p.communicate(timeout=HANGS)
    check(p.returncode == 0, f"exit code {p.returncode}: {err[-300:]}")
    check("interrupted" in text and "bound" in text, f"what is printed: {text}")
    if check(out.exists(), "no plan"):
        goal = json.loads(out.read_text(encoding="utf-8"))["objective"]
        check(goal["status"] == "feasible" and 0 < goal["bound_s"] <= goal["value_s"], f"{goal}")
    check(sorted(tree(d)) == ["hard.pir", "plan.json"], f"left {list(tree(d))}")


def progress(d):
    """On a terminal a long run shows how far it is, and Ctrl-C keeps the plan; not with -q."""
    hard, out = hard_graph(d / "hard.pir"), d / "plan.json"
    command = [PCC, str(hard), "-p", "dp-place{max-states=1000000000}", "-o", str(out)]
    ours, theirs = pty.openpty()
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    seen = ""
    line = re.compile(r"\rdp-place: sea[^,]*, \d+ s, best [\d.]+ \ws(, bound [\d.]+ \ws)?, gap [\d.]+ % "
                      r"\(Ctrl-C keeps the best\)")
    while not line.search(seen) and select.select([ours], [], [], 120)[0]:
        seen += os.read(ours, 4096).decode()
    check(line.search(seen), f"no progress is shown: {seen[-300:]!r}")
    check(all(len(s) < 80 for s in seen.replace("\033[K", "").split("\r")), f"too wide: {seen[-300:]!r}")
    p.send_signal(signal.SIGINT)
    text, _ = p.communicate(timeout=HANGS)
    rest = os.read(ours, 65536).decode()
    check(rest.endswith("\r\033[K"), f"the line stays: {rest[-300:]!r}")
    check(p.returncode == 0 and "interrupted" in text and out.exists(), f"exit {p.returncode}: {text}")
    os.close(ours)
    writing(d)


def on_terminal(columns, *args):
    """What pcc prints on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    p = subprocess.Popen([PCC, *map(str, args)], stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    seen = b""
    try:
        while more := os.read(ours, 65536):
            seen += more
    except OSError:
        pass  # pcc has ended, and all was read
    os.close(ours)
    p.wait(timeout=HANGS)
    return seen.decode().replace("\r\n", "\n")


def widths(d):
    """Tables are as wide as the terminal allows, from 60 to 160 columns, and 80 columns in a file."""
    model = generate(d / "m.onnx")
    args = (model, "--color=never", "-d", "2xa100")
    longest = {columns: max(map(len, on_terminal(columns, *args).splitlines())) for columns in (50, 72, 80, 120, 300)}
    check(72 < longest[80] <= 80 < longest[120] <= 120 < longest[300] <= 160 and longest[72] <= longest[80],
          f"{longest}")
    check(on_terminal(80, *args) == pcc(*args).stdout, "80 columns are not what a file gets")
    after = pcc(*args, "-o", d / "split").stdout.splitlines()[-1]
    size = sum(f.stat().st_size for f in (d / "split").iterdir())
    check(re.fullmatch(rf"wrote {re.escape(str(d))}/split: 2 parts, [\d.]+ KiB, plan.svg", after) and
          abs(float(after.split()[4]) * 1024 - size) <= 1024, f"'{after}' of {size} bytes")


def writing(d):
    """So it does when writing takes long: here a dot that sleeps once and draws nothing. Ctrl-C ends it, nothing of it
    is left, and what was there stays."""
    model, slow = generate(d / "small.onnx", "gpt", "--layers", "1", "--width", "16", "--heads", "2"), d / "bin/dot"
    slow.parent.mkdir()
    nap = f"[ -z \"$FOREVER\" ] || exec /bin/sleep {2 * HANGS}; /bin/sleep 4"
    slow.write_text(f"#!/bin/sh\n[ -e {d}/slept ] || {{ : >{d}/slept; {nap}; }}\nexit 1\n", encoding="utf-8")
    slow.chmod(0o755)
    for quiet in ([], ["-q"]):
        (d / "slept").unlink(missing_ok=True)
        ours, theirs = pty.openpty()
        p = subprocess.Popen([PCC, str(model), "-Wno-picture", "-Wno-guessed-dim", "-o", str(d / "split"), *quiet],
                             stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, "PATH": str(slow.parent)})
        os.close(theirs)
        p.wait(timeout=HANGS)
        seen = ""
        try:
            while more := os.read(ours, 65536):
                seen += more.decode()
        except OSError:
            pass  # nobody has the terminal any more, and all was read
        os.close(ours)
        shown = re.search(r"\rdrawing pictures, \d+ s \(Ctrl-C ends it\)\033\[K.*\r\033\[K$", seen, re.S)
        check(p.returncode == 0 and (not seen if quiet else shown), f"{quiet}: exit {p.returncode}, {seen[-300:]!r}")
    before = tree(d)
    for out in ("split", "x.svg"):
        (d / "slept").unlink(missing_ok=True)
        p = subprocess.Popen([PCC, str(model), "-o", str(d / out), "-Wno-guessed-dim"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "PATH": str(slow.parent), "FOREVER": "1"})
        while p.poll() is None and not (d / "slept").exists():
            time.sleep(0.02)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=HANGS)
        (d / "slept").touch()
        check(p.returncode == 130 and err == "pcc: error: interrupted before all was written: nothing of it is left\n",
              f"{out}: exit {p.returncode}, {err}")
        check(tree(d) == before, f"{out}: left {list(tree(d))}")


def limits(d):
    hard = hard_graph(d / "hard.pir")
    goal = plan(hard, "-p", "dp-place{max-states=1000000000}", "--time-limit", "200ms")["objective"]
    check("time limit" in goal["argument"] and goal["status"] == "feasible", f"{goal}")
    check(0 < goal["bound_s"] <= goal["value_s"], f"bound {goal}")
    tiny = plan(hard, "-p", "dp-place", "--time-limit", "1us")
    check(tiny and tiny["objective"]["value_s"] > 0, "no plan within 1us")
    for args in (["-p", "dp-place", "--max-states", "5000"], ["-p", "dp-place{max-states=5000}"]):
        goal = plan(hard_graph(d / "wide.pir", 12, 30), *args)["objective"]
        visited = re.search(r"after (\d+)", goal["argument"])
        check(visited and 100 <= int(visited[1]) <= 10000, f"{args}: {goal}")  # the graph has 13^30


# ---- atomicity


def unchanged(d, before, what):
    after = tree(d)
    check(after == before, f"{what}: left or changed "
          f"{[k for k in set(before) | set(after) if before.get(k) != after.get(k)]}")


def refused_targets(d):
    m = generate(d / "m.onnx")
    (d / "foreign").mkdir()
    (d / "foreign" / "notes.txt").write_text("mine", encoding="utf-8")
    (d / "file").write_text("mine", encoding="utf-8")
    succeeds(m, *PLAN, "-o", d / "mixed")
    (d / "mixed" / "notes.txt").write_text("mine", encoding="utf-8")
    (d / "fake").mkdir()
    (d / "fake" / "manifest.json").write_text('{"name": "mine"}', encoding="utf-8")
    (d / "sub").mkdir()
    for end in ("onnx", "pir", "csv", "json", "dot", "svg", "pdf", "png"):
        (d / ("folder." + end)).mkdir()
        (d / ("folder." + end) / "f").write_text("mine", encoding="utf-8")
    before = tree(d)
    fails(1, "foreign", m, *PLAN, "-o", d / "foreign")
    fails(1, "notes.txt", m, *PLAN, "-o", d / "mixed")
    fails(1, "fake", m, *PLAN, "-o", d / "fake")
    fails(1, "not a folder", m, *PLAN, "-o", d / "file")
    fails(1, "current folder", m, *PLAN, "-o", ".", cwd=d / "sub")
    fails(1, "none/split", m, *PLAN, "-o", d / "none" / "split")
    fails(1, "file/split", m, *PLAN, "-o", d / "file" / "split")
    for end in ("onnx", "pir", "csv", "json", "dot", "svg", "pdf", "png"):
        fails(1, "folder." + end, m, *PLAN, "-o", d / ("folder." + end))
        fails(1, "none/x." + end, m, *PLAN, "-o", d / "none" / ("x." + end))
    unchanged(d, before, "refused targets")


def missing_weights(d):
    m = generate(d / "m.onnx", *GPT, "--no-weights")
    before = tree(d)
    fails(1, "m.weights", m, *PLAN, "-o", d / "split")
    succeeds(m, *PLAN)  # planning needs none
    unchanged(d, before, "missing weights")
    (d / "sub").mkdir()
    r = succeeds(m, "-o", d / "sub" / "out.onnx")  # as it was read: the references stay
    check("m.weights'" in r.stderr, f"no warning: {r.stderr}")


def limited_files():
    """In the child: files beyond 100 kB cannot be written, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))


def file_limit(d):
    m = generate(d / "m.onnx")
    keep = d / "keep"
    succeeds(m, *PLAN, "-o", keep)
    (d / "out.onnx").write_bytes(b"mine")
    before = tree(d)
    fails(1, "", m, *PLAN, "-o", d / "split", preexec_fn=limited_files)
    fails(1, "", m, *PLAN, "-o", keep, preexec_fn=limited_files)
    fails(1, "", m, "-o", d / "out.onnx", preexec_fn=limited_files)
    fails(1, "", m, *PLAN, "-o", d / "out.onnx", preexec_fn=limited_files)
    unchanged(d, before, "a limit on files")


def full_disk(d):
    """A disk of 128 KiB, in a mount namespace of its own."""
    m, small = generate(d / "m.onnx"), d / "small"
    small.mkdir()
    # filled up so far that not even the textual IR fits: it has about 33 kB
    script = (f"mount -t tmpfs -o size=128k none '{small}' || exit 99; cd '{small}'; "
              "head -c 110000 /dev/zero > fill; echo mine > x.pir; "
              f"for o in split x.onnx x.pir; do '{FULL.resolve()}' '{m}' -p dp-place -q -o $o; "
              "echo rc $?; done; ls -A; cat x.pir")
    extras.need(shutil.which("unshare"), "no program unshare")
    r = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True)
    extras.need(r.returncode not in (1, 99) or "rc" in r.stdout, "no small disk can be mounted here")
    check(r.stdout.split() == "rc 1 rc 1 rc 1 fill x.pir mine".split(), f"{r.stdout} {r.stderr}")
    check(r.stderr.count("pcc: error:") == 3, f"{r.stderr}")


def replaced(d):
    m, out = generate(d / "m.onnx"), d / "split"
    out.mkdir()
    succeeds(m, *PLAN, "-o", out, "-d", "4xa100", "--link", "1TB/s,0us")
    four = tree(out)
    check(sum(k.startswith("part") for k in four) == 4, f"4 devices: {list(four)}")
    succeeds(m, *PLAN, "-o", str(out) + "/", "-d", "2xa100", "--link", "1TB/s,0us")
    two = tree(out)
    check(sum(k.startswith("part") for k in two) == 2, f"stale parts: {list(two)}")
    succeeds(m, *PLAN, "-o", d / "other", "-d", "2xa100", "--link", "1TB/s,0us")
    check(tree(d / "other") == two, "a replaced folder differs from a fresh one")
    check(sorted(p.name for p in d.iterdir()) == ["m.onnx", "other", "split"],
          f"left {sorted(p.name for p in d.iterdir())}")


def neighbours(d):
    """Files beside an output whose names look like temporary ones stay."""
    m = generate(d / "m.onnx")
    for name in ("x.svg.dot", "x.svg.tmp", "x.dot.tmp", "x.json.tmp", "x.onnx.tmp", ".split.tmp"):
        (d / name).write_text("mine", encoding="utf-8")
    before = tree(d)
    for name in ("x.svg", "x.dot", "x.json", "x.onnx", "split"):
        succeeds(m, *PLAN, "-o", d / name)
        shutil.rmtree(d / name) if name == "split" else (d / name).unlink(missing_ok=True)
    unchanged(d, before, "files beside the output")


def permissions(d):
    m = generate(d / "m.onnx")
    for name in ("x.pir", "x.onnx", "split"):
        succeeds(m, *PLAN, "-o", d / name, *(["--pictures=dot"] if name == "split" else []),
                 preexec_fn=lambda: os.umask(0o027))
    for name, mode in (("x.pir", 0o640), ("x.onnx", 0o640), ("split", 0o750),
                       ("split/manifest.json", 0o640), ("split/part0.onnx", 0o640),
                       ("split/weights.data", 0o640), ("split/plan.dot", 0o640)):
        found = (d / name).stat().st_mode & 0o777
        check(found == mode, f"{name} has mode {found:o}, the umask wants {mode:o}")


# ---- formats


def lossless(d):
    m = generate(d / "m.onnx")
    succeeds(m, "-o", d / "out.onnx")
    check(onnx.load(m) == onnx.load(d / "out.onnx"), "out.onnx differs without passes")


def annotated(d):
    m = generate(d / "m.onnx")
    succeeds(m, *PLAN, "-o", d / "out.onnx")
    a, b = onnx.load(m), onnx.load(d / "out.onnx")
    onnx.checker.check_model(b, full_check=True)
    layers = [{p.key: p.value for p in n.metadata_props}.get("layer_ann") for n in b.graph.node]
    check({"acc0", "acc1"} == set(layers) - {None}, f"devices {set(layers)}")
    bare = [n.name for n, layer in zip(b.graph.node, layers) if not layer]
    check(len(bare) < len(layers) / 4, f"{len(bare)} nodes without layer_ann, such as {bare[:3]}")
    for n in b.graph.node:
        del n.metadata_props[:]
    check(a == b, "more than the metadata differs")


def textual(d):
    m = generate(d / "m.onnx")
    for args in (["-p", "cost"], PLAN, []):
        succeeds(m, *args, "-q", "-o", d / "a.pir")
        succeeds(d / "a.pir", "-q", "-o", d / "b.pir")
        same = (d / "a.pir").read_bytes() == (d / "b.pir").read_bytes()
        check(same, f"{args}: not a fixed point")
    succeeds(m, *PLAN, "-o", d / "a.pir")
    out = succeeds(m, *PLAN, "--emit", "ir").stdout
    elsewhere = out.replace(f'file 1 "{m}"', 'file 1 "m.onnx"')  # files are named as seen from the text
    check(elsewhere == (d / "a.pir").read_text(encoding="utf-8"), "--emit ir differs from -o a.pir")
    check("\nplan \"dp-place\"" in out, "no plan in it")
    again = plan(d / "a.pir")
    check(again == plan(m, *PLAN), "the plan that was read back differs")


def plan_of_others(d):
    """Plans that come with the text are judged; those that do not hold are not believed."""
    graph = "class acc x2 memory=3MiB link=1GB/s,1us\ngraph {\n" \
            "  %a = profile:op() : !xfer=1us !time=10us !own=2MiB\n" \
            "  %b = profile:op(%a) : !xfer=1us !time=10us !own=2MiB\n}\n"
    for name, text, why in (("good", 'plan "by hand" { a=acc0 b=acc1 }', ""),
                            ("large", 'plan { a=acc0 b=acc0 }', "needs 4.000 MiB"),
                            ("half", 'plan { a=acc0 }', "'b' has no device")):
        path = d / (name + ".pir")
        path.write_text(graph + text + "\n", encoding="utf-8")
        if not why:
            found = plan(path)
            check(found and abs(found["objective"]["value_s"] - 11e-6) < 1e-12, f"{found}")
            continue
        r = fails(1, "give a planner", path, "-q", "--emit", "json")
        check("does not hold" in r.stderr and why in r.stderr, f"{name}: {r.stderr}")
        succeeds(path, "-o", d / "again.pir")


def tables(d):
    m = generate(d / "m.onnx")
    succeeds(m, "-o", d / "x.csv")
    text = (d / "x.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    check(len(rows) == GPT_NODES, f"{len(rows)} rows")
    check(all(int(r["ps_a100"]) >= 0 and int(r["flops"]) >= 0 for r in rows), "not numbers")
    check(len({r["name"] for r in rows}) == len(rows), "names are not unique")
    check(succeeds(m, "--emit", "csv").stdout == text, "--emit csv differs from -o x.csv")
    succeeds(m, *PLAN, "-o", d / "x.json")
    found = json.loads((d / "x.json").read_text(encoding="utf-8"))
    check(found == plan(m, *PLAN), "--emit json differs from -o x.json")
    names = [n for dev in found["devices"] for n in dev["nodes"]]
    check(len(names) == len(set(names)) and set(names) <= {r["name"] for r in rows},
          "the nodes of the plan are not those of the table, once each")


def pictures(d):
    m = generate(d / "m.onnx")
    succeeds(m, *PLAN, "-o", d / "x.dot")
    dot = (d / "x.dot").read_text(encoding="utf-8")
    check(succeeds(m, *PLAN, "--emit", "dot").stdout == dot, "--emit dot differs from -o x.dot")


def laid_out(d):
    extras.need(shutil.which("dot"), "no program dot")
    m = generate(d / "m.onnx")
    dot = succeeds(m, *PLAN, "--emit", "dot").stdout
    r = subprocess.run(["dot", "-Tcanon"], input=dot, capture_output=True, text=True)
    check(r.returncode == 0 and not r.stderr, f"dot: {r.stderr[:200]}")
    succeeds(m, *PLAN, "-o", d / "x.svg")
    succeeds(m, *PLAN, "-o", d / "split")
    for path in (d / "x.svg", d / "split" / "plan.svg", d / "split" / "blocks.svg"):
        text = path.read_text(encoding="utf-8")
        root = xml.etree.ElementTree.fromstring(text)
        check(root.tag.endswith("svg") and "acc0" in text and "acc1" in text, f"{path.name}")


# ---- options


def sizes(d):
    m = generate(d / "m.onnx")
    fixed = ["--dim", "batch=1", "--dim", "sequence=128,past_sequence=128"]
    one, four = value(m, *PLAN, *fixed), value(m, *PLAN, *fixed, "--dim", "batch=4")
    check(0 < one < four, f"--dim batch=4: {one} {four}")
    check(value(m, *PLAN) == one, "the guesses are not 1 and 128")
    r = succeeds(m, *PLAN, *fixed, "-o", d / "split")
    check(r.stderr == "", f"all is said, and still: {r.stderr}")
    dims = json.loads((d / "split" / "manifest.json").read_text(encoding="utf-8")).get("dims")
    check(dims == {"batch": 1, "sequence": 128, "past_sequence": 128}, f"dims {dims}")
    r = succeeds(m, *PLAN)
    want = "pcc: warning: assuming batch=1 sequence=128 past_sequence=128; set with --dim [-Wguessed-dim]\n"
    check(r.stderr == want, f"not one warning: {r.stderr}")
    r = succeeds(m, *PLAN, "--dim", "sequence=7")
    check("assuming batch=1 past_sequence=128; set" in r.stderr, f"what is given is not guessed: {r.stderr}")
    r = succeeds(m, *PLAN, "-Wno-guessed-dim")
    check(r.stderr == "", f"a hidden warning: {r.stderr}")
    fails(1, "-Werror: 1 warning", m, *PLAN, "-Werror=guessed-dim", "-o", d / "x.json")
    check(not (d / "x.json").exists(), "written although a warning fails the run")
    r = succeeds(m, *PLAN, *fixed, "--dim", "nope=3")
    check("nope" in r.stderr, "an unknown dimension is not reported")


def elementwise(path, dims):
    """x -Relu-> -Exp-> y of such dimensions, numbers, names or None."""
    x, y = (onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, dims) for n in "xy")
    nodes = [onnx.helper.make_node("Relu", ["x"], ["a"]), onnx.helper.make_node("Exp", ["a"], ["y"])]
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [x], [y])), path)
    return path


def absurd_sizes(d):
    """Guesses whose products nobody can count become smaller; the price is that of the smaller ones."""
    for names, guess in ((4, 128), (9, 32), (12, 8)):
        dims = [f"d{i}" for i in range(names)]
        m = elementwise(d / f"{names}.onnx", dims)
        r = succeeds(m, "-d", "2xcpu", *PLAN)
        said = "(with 128, sizes are more than pcc can count)" in r.stderr
        check(r.stderr.count("warning") == 1 and f"assuming d0=1 d1={guess} d2={guess} " in r.stderr
              and said == (guess < 128), f"{names} guesses: {r.stderr}")
        given = ",".join(["d0=1"] + [f"{n}={guess}" for n in dims[1:]])
        found = [value(m, "-d", "2xcpu", *PLAN, *more) for more in ((), ("--dim", given))]
        check(0 < found[0] == found[1], f"{names} guesses: {found}")
    large = [4 * 10**7, 4 * 10**8]
    m = elementwise(d / "given.onnx", large)
    r = fails(1, "add up to more than pcc can count", m, "-d", "2xcpu", *PLAN)
    check("guessed" not in r.stderr, f"nothing was guessed: {r.stderr}")
    m = elementwise(d / "both.onnx", ["d0", "d1", *large])
    fails(1, "guessed were d0=1 d1=1: set them with --dim", m, "-d", "2xcpu", *PLAN)
    fails(1, "guessed were d0=1: set them with --dim", m, "-d", "2xcpu", *PLAN, "--dim", "d1=3")
    for dims, said in (([None, 4, None], "'x' as [1,4,128] ["), (["n", None], "n=1, 'x' as [1,128]; set"),
                       ([None] * 9, "'x' as [1,32,32,32,32,32,32,32,32] (with 128,")):
        r = succeeds(elementwise(d / "none.onnx", dims), "-d", "2xcpu", *PLAN)
        check(r.stderr.count("warning") == 1 and f"assuming {said}" in r.stderr, f"{dims}: {r.stderr}")


def seconds(text):
    """'2.237 ms' in seconds."""
    number, unit = text.split()
    return float(number) * {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def close(a, b, share=1e-3):
    return abs(a / b - 1) < share


GAIN = re.compile(r"(\S+)x one (\w+) \((.*) to (.*) per sample\)\nlatency (.*)\n")


def gain(d):
    """The first line of the result against runs of other planners and the replay of one sample."""
    m = generate(d / "m.onnx")
    fixed = ["--dim", "batch=1,sequence=64,past_sequence=64", "--link", "100GB/s,1us", *SUM]
    for cluster, alone, cls in (("3xa100", "1xa100", "a100"), ("2xa100,1xcpu", "1xcpu", "cpu"),
                                ("2xa100,1xcpu:1MiB", "1xa100", "a100"), ("1xa100", "1xa100", "a100")):
        for more in ([], ["--overlap=max"], ["--io=free"]):
            r = succeeds(m, *fixed, "-d", cluster, "-p", "dp-place", "--replay", "1", *more)
            found = GAIN.match(r.stdout)
            line = r.stdout[:60]
            if cluster == alone:
                same = re.match(r"as fast as one a100: (.*) per sample\nlatency ", r.stdout)
                check(same and close(seconds(same[1]), value(m, *fixed, "-d", alone, "-p", "dp-place", *more)), line)
                continue
            if not check(found, f"{cluster}: {line}"):
                continue
            one = value(m, *fixed, "-d", alone, "-p", "dp-place", *more)
            new = value(m, *fixed, "-d", cluster, "-p", "dp-place", *more)
            ends = re.search(r"ends at ([\d.]+)(\ws);", r.stdout)
            right = close(seconds(found[3]), one) and close(seconds(found[4]), new)
            check(found[2] == cls and right and close(float(found[1]), one / new, 6e-3),
                  f"{cluster} {more}: {line}, not {one} to {new}")
            check(close(seconds(found[5]), seconds(f"{ends[1]} {ends[2]}")), f"{cluster} {more}: {line}: {ends[0]}")
    loads = [x["load_s"] for x in plan(m, *fixed, "-d", "3xa100", "-p", "dp-place")["devices"]]
    r = succeeds(m, *fixed, "-d", "3xa100", "-p", "dp-place")
    check(close(seconds(GAIN.match(r.stdout)[5]), sum(loads)),
          f"stages wait for each other: {r.stdout.splitlines()[0]}, loads {loads}")
    r = succeeds(m, *fixed, "-d", "3xa100:1MiB,1xv100:900KiB", "-p", "dp-place")
    check(re.match(r"does not fit one a100 \(needs 1\.\d+ MiB of 1\.000 MiB\): .* per sample\nlatency .*\n", r.stdout),
          f"too large for one: {r.stdout[:200]}")
    (d / "c.json").write_text(json.dumps({"classes": [{"preset": "a100", "unsupported": ["MatMul"]},
                                                      {"preset": "cpu", "supported": ["MatMul"]}]}))
    r = succeeds(m, *fixed[:2], *SUM, "-d", d / "c.json", "-p", "anneal-place")
    check(r.stdout.startswith("no single device runs all of it: "), f"all of it: {r.stdout[:200]}")
    r = succeeds(m, *fixed, "-d", "4xa100", "-p", "dp-place", "--replicate")
    check(GAIN.match(r.stdout), f"copies: {r.stdout[:200]}")


def assumed(d):
    """One line says what nobody said; what is said is not in it."""
    m = generate(d / "m.onnx")
    said = {"-d": "2xa100:80GiB", "--link": "25GB/s,10us", "--efficiency": "1.0",
            "--reserve": "0", "--part-cost": "5us", "--dim": "batch=1,sequence=128,past_sequence=128"}
    words = ["2xa100:80GiB", "links of 25GB/s,10us", "f32 at the rate of measured kernels", "nothing reserved",
             "5us for each part", "batch=1 sequence=128 past_sequence=128"]
    for left_out in ([], list(said), *([option] for option in said)):
        options = [x for o in said if o not in left_out for x in (o, said[o])]
        r = succeeds(m, "-p", "dp-place", *options)
        want = [w for o, w in zip(said, words) if o in left_out]
        sets = [how for o in left_out for how in (["--efficiency", "--precision"] if o == "--efficiency" else [o])]
        line = f"assuming {', '.join(want)}; set with {', '.join(sets)}"
        told = re.sub(r"\n  +", " ", r.stdout).splitlines()  # what was too long for a line is one again
        check(told[2] == line if want else "assuming" not in r.stdout, f"{left_out}: {r.stdout[:300]}")
        r = succeeds(m, "-p", "dp-place", *options, "--emit", "json")
        want = [w for o, w in zip(said, words) if o in left_out and o != "--dim"]  # these are in a warning
        line = f"assuming {', '.join(want)}; set with {', '.join(o for o in sets if o != '--dim')}"
        notes = [n for n in r.stderr.splitlines() if n.startswith("pcc: note: assuming")]
        check(notes == [f"pcc: note: {line}"] * bool(want), f"--emit, {left_out}: {r.stderr}")
        check(r.stderr.count("batch=1") == ("--dim" in left_out), f"sizes once: {r.stderr}")
    r = succeeds(hard_graph(d / "g.pir", chains=2, length=3), "-p", "dp-place")
    check("assuming" not in r.stdout + r.stderr, f"all is in the file: {r.stdout}")


def reserve(d):
    """Planner, judge, plan{from} and --compare leave the reserve; all outputs tell."""
    m = generate(d / "m.onnx")
    fixed = ["--dim", "batch=1,sequence=64,past_sequence=64", "--link", "100GB/s,1us", "-p", "dp-place", *SUM]
    all_of_it = ["-d", "2xa100:1MiB"]
    r = succeeds(m, *fixed, *all_of_it, "-o", d / "full.json")
    used = max(x["used_bytes"] for x in json.loads((d / "full.json").read_text())["devices"])
    less = 1024 * 1024 - used
    check(0 < less < 300 * 1024 and "reserved" not in r.stdout.split("\ndevice", 1)[1], f"{used}: {r.stdout}")
    succeeds(m, *fixed, *all_of_it, f"--reserve={less}")
    r = succeeds(m, *fixed, "-d", "2xa100:2MiB", f"--reserve={less + 1 + (1 << 20)}", "-o", d / "split")
    now = [x["used_bytes"] for x in json.loads((d / "split/manifest.json").read_text())["devices"]]
    check(max(now) < used, f"the reserve is used: {now}")
    for x in json.loads((d / "split/manifest.json").read_text())["devices"]:
        check((x["memory_bytes"], x["reserved_bytes"]) == (2 << 20, less + 1 + (1 << 20)), f"manifest: {x}")
    check(f"of {(used - 1) / 1024:.4g} KiB" in r.stdout and "reserved for the runtime: 1." in r.stdout, r.stdout)
    late = [m, *fixed[:4], *SUM, *all_of_it, f"--reserve={less + 1}"]
    fails(3, "needs", *late, "-p", f"plan{{from={d / 'full.json'}}}")
    r = succeeds(*late, "-p", "dp-place", "--compare", d / "full.json")
    check("without the reserve" in r.stderr, f"--compare: {r.stderr}")
    r = succeeds(*late, "-p", "dp-place", "-q", "--emit", "ir")
    check(f"memory=1MiB reserve={less + 1}B" in r.stdout, "--emit ir: no reserve")
    (d / "again.pir").write_text(r.stdout)
    check(value(d / "again.pir", "-p", "dp-place") == value(*late, "-p", "dp-place"), "the text plans otherwise")
    r = fails(3, "fit", m, *fixed, *all_of_it, "--reserve=90%", before=[])
    for text, words in (("110%", "expected a share such as 10% or a size such as 2GiB"), ("x", "expected a share"),
                        ("1MiB", "leaves nothing of the 1.000 MiB of a device of class 'a100'"),
                        ("-1", "expected a share")):
        fails(2, words, m, *fixed, *all_of_it, f"--reserve={text}")
    r = succeeds(m, *fixed, "-d", "2xa100:unbounded", "--reserve=10%")
    check("--reserve has no effect: no accelerator has a memory" in r.stderr, f"unbounded: {r.stderr}")
    nodes = [{"id": k, "cpuLatency": 9, "fpgaLatency": k, "size": 5} for k in (1, 2)]
    (d / "w.json").write_text(json.dumps({"maxSizePerFPGA": 10, "maxFPGAs": 2, "maxCPUs": 0, "nodes": nodes,
                                          "edges": [{"sourceId": 1, "destId": 2, "cost": 0.1}]}))
    for share, devices in (("0%", 1), ("10%", 2)):
        found = plan(d / "w.json", "-p", "dp-place", "--transfer-scale=100", f"--reserve={share}")["fpgas"]
        check(sum(bool(x["nodes"]) for x in found) == devices, f"a workload, {share}: {found}")
    (d / "c.json").write_text(json.dumps({"maxSizePerFPGA": 10, "maxFPGAs": 0, "maxCPUs": 2, "nodes": nodes,
                                          "edges": []}))
    r = succeeds(d / "c.json", "-p", "one-place")
    check("as fast as one cpu: " in r.stdout, f"a workload without accelerators: {r.stdout}")


def states(d):
    m = generate(d / "m.onnx")
    renamed, pairs = onnx.load(m), []
    names = {}
    for i in range(2):
        for kv in ("key", "value"):
            names[f"past_key_values.{i}.{kv}"] = f"from_{i}_{kv}"
            names[f"present.{i}.{kv}"] = f"to_{i}_{kv}"
            pairs += ["--state", f"from_{i}_{kv}=to_{i}_{kv}"]
    for v in [*renamed.graph.input, *renamed.graph.output]:
        v.name = names.get(v.name, v.name)
    for n in renamed.graph.node:
        for names_of in (n.input, n.output):
            for i, name in enumerate(names_of):
                names_of[i] = names.get(name, name)
    onnx.save(renamed, d / "r.onnx")
    known, unknown, told = value(m, *PLAN), value(d / "r.onnx", *PLAN), \
        value(d / "r.onnx", *PLAN, *pairs)
    check(known == told, f"--state: {told}, recognised by name: {known}")
    check(unknown > told, f"without --state {unknown}, with {told}")


def devices(d):
    m = generate(d / "m.onnx")
    paid, free = value(m, *PLAN), value(m, *PLAN, "--io", "free")
    check(0 < free < paid, f"--io free {free}, paid {paid}")
    check(value(m, *PLAN, "--io", "paid") == paid, "--io paid is not the default")
    check(value(m, *PLAN, "--link", "1GB/s,100us") > paid, "--link does not matter")
    check(value(m, *PLAN, "-d", "2xa100", "--link", "25GB/s,10us") == paid, "not the defaults")
    wide = generate(d / "wide.onnx", "dense", "--layers", "4", "--width", "512")
    whole = value(wide, *PLAN, "--dim", "batch=100000", "--io", "free", "-d", "1xa100")
    half = value(wide, *PLAN, "--dim", "batch=100000", "--io", "free", "-d", "1xa100",
                 "--efficiency", "0.1")
    check(whole * 2 < half < whole * 10.1, f"--efficiency 0.1: {half}, 1: {whole}")
    (d / "c.json").write_text(json.dumps({"devices": []}), encoding="utf-8")
    fails(1, "c.json", m, "-q", *PLAN, "-d", d / "c.json")
    names = [x["name"] for x in plan(m, *PLAN, "-d", "3xa100,1xcpu")["devices"]]
    check(names == ["acc0", "acc1", "acc2", "cpu0"], f"-d 3xa100,1xcpu: {names}")


def pipeline_file(d):
    m = generate(d / "m.onnx")
    (d / "p").write_text("# comment\nfuse{range=50}   # another\n\n, dp-place\n", encoding="utf-8")
    a = succeeds(m, "-q", "-p", f"@{d / 'p'}", "--print-pipeline", "--emit", "json")
    b = succeeds(m, "-q", "-p", "fuse{range=50},dp-place", "--print-pipeline", "--emit", "json")
    check(a.stdout == b.stdout and a.stderr == b.stderr, f"{a.stderr} {b.stderr}")
    check("fuse{range=50},dp-place" in a.stderr, f"--print-pipeline: {a.stderr}")


# ---- the rest


def same_bytes(d, m, what, *before):
    for out, command in (("a", []), ("b", [*before])):
        succeeds(m, *PLAN, "-d", "3xa100", "-o", d / out, before=command)
    a, b = tree(d / "a"), tree(d / "b")
    check(a == b, f"{what}: {[k for k in a if a[k] != b.get(k)]} differ")


def fixed_addresses(d):
    extras.need(shutil.which("setarch") and subprocess.run(["setarch", "-R", "true"]).returncode == 0,
                "addresses of programs cannot be fixed here (setarch -R)")
    same_bytes(d, generate(d / "m.onnx"), "without address randomisation", "setarch", "-R")


def determinism(d):
    m = generate(d / "m.onnx")
    same_bytes(d, m, "again")
    same_bytes(d, m, "elsewhere", "env", "-i", "LC_ALL=C", f"PATH={os.environ['PATH']}")
    hard = hard_graph(d / "hard.pir", 6, 10)
    texts = {succeeds(hard, "-q", "-p", "fuse,dp-place{max-states=20000}", "--emit", "ir").stdout for _ in range(3)}
    check(len(texts) == 1, "textual IR differs between runs")


def closed_stdout(d):
    m = generate(d / "m.onnx", "gpt", "--layers", "40", "--width", "16", "--heads", "2")
    for args in ([], ["-q", "--emit", "ir"], ["-q", "--emit", "csv"], [*PLAN, "--emit", "json"],
                 [*PLAN, "--emit", "dot"]):
        for restore in (True, False):  # SIGPIPE kills; SIGPIPE is ignored
            p = subprocess.Popen([PCC, str(m), *args], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, restore_signals=restore)
            p.stdout.readline()
            p.stdout.close()
            err = p.stderr.read()
            code = p.wait(timeout=300)
            good = code in ((0, -signal.SIGPIPE) if restore else (0, 1))
            check(good and not any(w in err for w in REPORTS), f"{args}: exit {code}: {err[:300]}")
    if Path("/dev/full").exists():
        for args in ([], ["-q", "--emit", "ir"], ["-q", "--emit", "csv"], ["--help"],
                     [*PLAN, "--emit", "json"], [*PLAN, "--emit", "dot"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                fails(1, "stdout", m, *args, stdout=full)


TESTS = [usage, missing_files, unused_options, bad_input, no_plan, information, interrupt, progress, widths, limits,
         refused_targets, missing_weights, file_limit, replaced, neighbours, permissions, lossless,
         annotated, textual, plan_of_others, tables, pictures, sizes, absurd_sizes, gain, assumed, reserve, states,
         devices, pipeline_file, determinism, closed_stdout]


EXTRAS = {"disk": [full_disk], "dot": [laid_out], "setarch": [fixed_addresses]}


def main():
    names = [a for a in sys.argv[1:] if not a.startswith("--extra=")]
    chosen = [t for t in EXTRAS.get(extras.extra(), TESTS) if t.__name__ in names or not names]
    for test in chosen:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Path(folder))
            except Exception as e:  # one broken test must not hide the others
                complain(f"{test.__name__}: {type(e).__name__}: {e}")
    print(f"{len(chosen)} tests")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
