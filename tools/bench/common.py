"""What the benchmark scripts share: running pcc under measurement, finding inputs, printing tables.

Limits are on CPU seconds (of a program with all that it started), so that what else a machine does is hardly measured;
pcc-bench only tells of them unless PCC_TIMED is set, and PCC_UNTIMED leaves them out of the other scripts, too (the
tests compare values alone: a machine under load is no error).  Programs and material are named by PCC, PCC_GEN and
PCC_SHARED.  --help prints what a script is."""
import functools
import json
import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Without the source ROOT is PREFIX/share/pcc of an installation.
PROGRAMS = ROOT / "build/release" if (ROOT / "CMakeLists.txt").exists() else ROOT.parent.parent / "bin"
PCC = os.environ.get("PCC", str(PROGRAMS / "pcc"))
PCC_GEN = os.environ.get("PCC_GEN", str(PROGRAMS / "pcc-gen"))
SHARED = Path(os.environ.get("PCC_SHARED", ROOT.parent / "shared"))


def cpu_limit(seconds):
    """A limit of CPU time in seconds; infinite if the environment variable PCC_UNTIMED is set."""
    return math.inf if os.environ.get("PCC_UNTIMED") else seconds


def too_slow(what, cpu, seconds):
    """Whether a run that took more CPU seconds than its limit fails: only if PCC_TIMED is set, which says that the
    machine is quiet and as fast as the machine where the limit was measured.  Else prints a line and returns False."""
    if cpu <= seconds:
        return False
    print(f"note: {what}: {cpu:.2f} s of CPU, usually below {seconds:g}")
    return bool(os.environ.get("PCC_TIMED"))


# The kernel counts what a process has before exec() as part of its peak, and that would be this interpreter with all
# its modules.  So a small interpreter starts the command and tells what wait4() says of it.
LAUNCH = """
import os, sys
pid = os.fork()
if not pid:
    os.close(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(pid, 0)
os.write(int(sys.argv[1]), f"{status} {used.ru_utime + used.ru_stime} {used.ru_maxrss}".encode())
"""


def help_or_go():
    """To be called first by a script: prints its help and ends it for --help; ends it if PCC or PCC_GEN is missing."""
    if "--help" in sys.argv[1:] or "-h" in sys.argv[1:]:
        print(sys.modules["__main__"].__doc__)
        sys.exit(0)
    for name, path in (("PCC", PCC), ("PCC_GEN", PCC_GEN)):
        if not shutil.which(path):
            sys.exit(f"{path} is not there: build pcc, or set {name}")


EMPTY = ["--version"]  # arguments with which pcc does nothing but start


@functools.cache
def empty_mib():
    """Peak resident MiB of a pcc that does nothing: the least of three runs."""
    return min(Run([PCC, *EMPTY]).mib for _ in range(3))


class Run:
    """A finished command: exit code, output, wall and CPU seconds, and peak resident MiB (of pcc, less those of an
    empty run, since its libraries take more on some machines)."""

    def __init__(self, args, **kw):
        """Runs a command to its end and measures it. `args`: the words of the command; `kw`: further arguments for
        subprocess.Popen."""
        start = time.monotonic()
        said, say = os.pipe()
        p = subprocess.Popen([sys.executable, "-ISc", LAUNCH, str(say), *map(str, args)], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, pass_fds=[say], **kw)
        os.close(say)
        self.out, _ = p.communicate()
        self.wall = time.monotonic() - start
        with os.fdopen(said) as f:
            status, cpu, kib = f.read().split()
        self.rc = os.waitstatus_to_exitcode(int(status))
        self.cpu, self.mib = float(cpu), int(kib) / 1024
        if str(args[0]) == PCC and args[1:] != EMPTY:
            self.mib = max(0, self.mib - empty_mib())
        self.args = args

    def need(self, rc=0):
        """Ends the program with the command's output if it ended with another code than `rc`. Returns the run
        itself."""
        if self.rc != rc:
            sys.exit(f"{' '.join(map(str, self.args))}\nended with {self.rc}, expected {rc}:\n{self.out}")
        return self


def plan(model, *args, tmp):
    """Plans a model; returns (its plan JSON or None if none fits, the run)."""
    out = Path(tmp) / "plan.json"
    run = Run([PCC, model, *args, "-q", "-o", out])
    if run.rc == 3:  # no plan fits
        return None, run
    run.need()
    return json.loads(out.read_text()), run


def facts_of(ir):
    """Status, time per sample and bound (ms, or None) of the plan in textual IR."""
    said = next(line for line in ir.splitlines() if line.startswith("plan "))
    facts = dict(word.split("=", 1) for word in said.split() if "=" in word)
    bound = in_ms(facts["bound"]) if "bound" in facts else None
    return facts["status"].strip('"'), in_ms(facts["value"]), bound


def in_ms(text):
    """Milliseconds of a time as the textual IR has it: 27.9ms, 1.2s, 12ps."""
    units = {"ps": 1e-9, "ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1000}
    unit = text.lstrip("0123456789.")
    return float(text[:len(text) - len(unit)]) * units[unit]


def need_shared(path):
    """A path of the shared material; the script ends as skipped (77) without it."""
    full = SHARED / path
    if not full.exists():
        print(f"skipped: {full} is not there (set PCC_SHARED)")
        sys.exit(77)
    return full


LATENCY_MEMORY = 4 << 30 # bytes: accelerators of the placement paper's latency inputs have less, of its others more


def workloads_in(folder, names, large, known=None):
    """Paths of the files in the folder that have one of the names.  Ends the program if there are none: as skipped (77)
    without the folder, else as misused (2).  It is also misused if the files are of the other folder with the same
    names, which the memory of their accelerators tells: above LATENCY_MEMORY if large, else not.  known: names of files
    whose memory is looked at (default: all)."""
    folder = Path(folder)
    if not folder.is_dir():
        print(f"skipped: {folder} is not there")
        sys.exit(77)
    paths = [p for p in (folder / f"{name}.json" for name in names) if p.exists()]
    if not paths:
        print(f"error: {folder} has no workloads ({next(iter(names), '*')}.json)")
        sys.exit(2)
    for path in (p for p in paths if p.stem in (known or names)):
        memory = json.loads(path.read_text(encoding="utf-8"))["maxSizePerFPGA"]
        if (memory > LATENCY_MEMORY) != large:
            own, other = ("throughput", "latency") if large else ("latency", "throughput")
            print(f"error: {path.name} in {folder} has accelerators of {memory / 2**20:.0f} MiB: it is of ../{other}; "
                  f"this needs workloads/{own}")
            sys.exit(2)
    return paths


def text_table(text):
    """A table in text, the first line its head, as {first cell: {column: cell}}."""
    head, *rows = [line.split() for line in text.strip().splitlines()]
    return {row[0]: dict(zip(head, row)) for row in rows}


def table(header, rows):
    """Prints a Markdown table with aligned columns."""
    cells = [[str(c) for c in row] for row in [header, *rows]]
    width = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for i, row in enumerate(cells):
        print("| " + " | ".join(c.ljust(w) for c, w in zip(row, width)) + " |")
        if i == 0:
            print("|" + "|".join("-" * (w + 2) for w in width) + "|")


def verdict(ok, text):
    """Prints how it ended and leaves with 0 or 1."""
    print(("ok: " if ok else "FAILED: ") + text)
    sys.exit(0 if ok else 1)
