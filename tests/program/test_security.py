"""The promises of SECURITY.md that no other test keeps, one function for each: hostile inputs, names, folders and
limits end in one line and exit code 1, in time, with nothing left behind."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish

PCC = str(Path(shutil.which(os.environ.get("PCC", "pcc")) or os.environ.get("PCC", "pcc")).resolve())
PCC_GEN = str(Path(shutil.which(os.environ.get("PCC_GEN", "pcc-gen")) or "pcc-gen").resolve())
FUNCTIONS = Path(__file__).resolve().parents[1] / "lit/functions.pir"
SANITIZED = b"__asan_init" in Path(PCC).read_bytes()
REPORTS = ("runtime error:", "AddressSanitizer", "LeakSanitizer")
GPT = ["gpt", "--layers", "1", "--width", "32", "--heads", "2", "--vocab", "64"]


def pcc(*args, **more):
    more.setdefault("stdin", subprocess.DEVNULL)
    try:
        r = subprocess.run([*more.pop("before", []), PCC, *map(str, args)], capture_output=True, timeout=60, **more)
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
    check(r.returncode == 1 and b"not a regular expression" in r.stderr, f"--pin @-: {r.returncode} {r.stderr}")
    with open("/dev/zero", "rb") as endless:
        refused("is larger than 16 MiB", d, m, "-p", "@-", stdin=endless)


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
        refused(why, d, m, "-p", "cost,dp-place", "--pin", f"{text}=acc0")


def main():
    for test in (inputs_are_regular_files, folders_hold_regular_files, standard_input_where_asked,
                 expressions_stay_cheap):
        with tempfile.TemporaryDirectory() as folder:
            test(Path(folder))
    return finish()


sys.exit(main())
