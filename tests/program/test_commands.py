#!/usr/bin/env python3
"""tools/bench/commands.py finds what two builds of pcc print or write differently.

A list of a few lines is run with pcc and with a script in its place, which runs pcc and then changes one thing: each
plant below must be found, in the part that is named.  Controls: pcc and itself do not differ; lines without their
input are skipped; a list of no lines is an error.  --expect takes away the differences that it names and no others.  A
program that does its work several times shows in the ratio of times.  Comparing ONNX messages needs the onnx package,
else it is left out.

Exit: 0 pass, 1 fail."""
# once: plain
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish

SOURCE = Path(os.environ.get("PCC_SOURCE", Path(__file__).resolve().parents[2]))
PCC = Path(shutil.which(os.environ.get("PCC", "pcc")) or "pcc").resolve()
GEN = Path(shutil.which(os.environ.get("PCC_GEN") or PCC.with_name("pcc-gen"))).resolve()
LIST = """# a comment
in: pcc-gen dense --layers 2 --width 32 -o dense.onnx

pcc in/dense.onnx -d 2xa100 -p dp-place -q --pictures=none -o split/
pcc in/dense.onnx -d 2xa100 -p dp-place --baselines
pcc in/none.onnx
pcc shared/no/such.onnx
pcc - < shared/no/such.*
if grep -q here tests/word.txt; then pcc; fi
"""
SPLIT, TABLE, NONE, WORD = 4, 5, 6, 9  # the numbers of its lines
RUN = '"$real" "$@"; code=$?; '
END = "; exit $code"
PLANTS = [  # what the script does, the line, the part, what is said of it
    ('"$real" "$@" > out; code=$?; sed "s/one-place/two-place/" out; rm out' + END, TABLE, "stdout", "+.*two-place"),
    ('"$real" "$@" 2> err; code=$?; sed "s/cannot open/no/" err >&2; rm err' + END, NONE, "stderr", "+.*no: No such"),
    (RUN + "[ $code = 1 ] && code=2" + END, NONE, "exit code", "+2"),
    (RUN + "[ -d split ] && echo >> split/manifest.json" + END, SPLIT, "split/manifest.json", "+"),
    (RUN + "[ -d split ] && printf x >> split/weights.data" + END, SPLIT,
     "split/weights.data: [0-9]* and [0-9]* bytes", ""),
    (RUN + "[ $code = 2 ] && code=4" + END, WORD, "exit code", "+4"),
    (RUN + "touch more.txt" + END, NONE, "more.txt", "+file"),
    (RUN + "rm -f split/run_split.py" + END, SPLIT, "split/run_split.py", "+not there"),
    (RUN + "[ -d split ] && chmod +x split/run_split.py" + END, SPLIT, "split/run_split.py", "+file that can be run"),
    (RUN + "[ -d split ] && mkdir split/empty" + END, SPLIT, "split/empty", "+folder"),
    (RUN + "[ -d split ] && mv split/part0.onnx p && ln -s ../p split/part0.onnx" + END, SPLIT, "split/part0.onnx",
     "+link to ../p"),
]
# The IR version once more, at the end: the last one counts.
MESSAGES = [(RUN + f"[ -d split ] && printf '\\010\\0{version}' >> split/part0.onnx" + END, SPLIT,
             f"split/part0.onnx: {said} as messages", "") for version, said in (("12", "equal"), ("13", "differ"))]


def compare(folder, new, *options):
    r = subprocess.run([sys.executable, SOURCE / "tools/bench/commands.py", folder / "old/pcc", new, "--list",
                        folder / "list.txt", "--tests", folder, *options], capture_output=True, text=True)
    check(not r.stderr, f"{options}: {r.stderr}")
    return r


def planted(folder, name, script):
    """A pcc that is a script, with pcc-gen beside it."""
    new = folder / name
    new.mkdir()
    (new / "pcc-gen").symlink_to(GEN)
    (new / "pcc").write_text(f"#!/bin/sh\nreal={PCC}\n{script}\n")
    (new / "pcc").chmod(0o755)
    return new / "pcc"


def found(r, number, part, said):
    """Whether a difference is reported in that part of that line, with a line of a diff."""
    rest = re.search(rf"^{number}: .*\n(?:  .*\n)*?  {part}\n((?:    .*\n)*)", r.stdout, re.M)
    return rest and (not said or re.search("^    " + said.replace("+", r"\+", 1), rest[1], re.M))


def plants(folder, which):
    for k, (script, number, part, said) in enumerate(which):
        r = compare(folder, planted(folder, f"{len(which)}-{k}", script))
        check(r.returncode == 1 and found(r, number, part, said), f"{script}: exit {r.returncode}:\n{r.stdout}")


def expectations(folder):
    new = planted(folder, "expected", PLANTS[0][0])
    reasons = folder / "reasons.txt"
    for text, code, said in (
            ("# comment\n\n--baselines: stdout$ # other words\n", 0, "1 expected: other words"),
            ("stdout$ => (one|two)-place # other words\n", 0, "1 expected: other words"),
            ("stdout$ => one-place # other words\n", 1, "nothing differs as expected: other words"),
            ("stderr$ # other words\n", 1, "nothing differs as expected"),
            (f"^{NONE} # other words\n", 1, "nothing differs as expected"),
            (f"^{TABLE} pcc in/dense # other words\n", 0, "1 expected")):
        reasons.write_text(text)
        r = compare(folder, new, "--expect", reasons)
        check(r.returncode == code and said in r.stdout, f"--expect {text!r}: exit {r.returncode}:\n{r.stdout}")
    for text in ("stdout\n", " # reason\n", "( # reason\n"):
        reasons.write_text(text)
        r = subprocess.run([sys.executable, SOURCE / "tools/bench/commands.py", PCC, PCC, "--expect", reasons],
                           capture_output=True, text=True)
        check(r.returncode == 1 and "reasons.txt:1: " in r.stderr, f"--expect {text!r}: {r.stdout}{r.stderr}")


def controls(folder):
    r = compare(folder, folder / "old/pcc", "--repeat", "2", "--jobs", "2")
    check(r.returncode == 0 and "5 lines, 0 differ, 2 skipped" in r.stdout, r.stdout)
    check(r.stdout.count("skipped, shared/no/such") == 2, r.stdout)
    r = compare(folder, folder / "old/pcc", "--only", "no such line")
    check(r.returncode == 1 and "0 lines" in r.stdout, r.stdout)
    kept = folder / "kept"
    r = compare(folder, planted(folder, "keeping", PLANTS[2][0]), "--keep", kept, "--only", "none")
    check(r.returncode == 1 and (kept / f"{NONE}/old/stderr").read_text() != "", r.stdout)
    check(sorted(p.name for p in kept.glob("[0-9]*")) == [str(NONE)], f"kept: {list(kept.iterdir())}")


def times(folder):
    r = compare(folder, planted(folder, "slow", '"$real" "$@"' + ' > a; "$real" "$@"' * 5), "--only=--baselines$")
    ratio = float(re.search(r"new / old ([\d.]+)$", r.stdout, re.M)[1])
    check(ratio > 2, f"six runs instead of one: {ratio} times as long")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        (folder / "list.txt").write_text(LIST)
        (folder / "word.txt").write_text("here")  # of --tests
        (folder / "old").mkdir()
        (folder / "old/pcc").symlink_to(PCC)
        (folder / "old/pcc-gen").symlink_to(GEN)
        controls(folder)
        plants(folder, PLANTS)
        expectations(folder)
        times(folder)
        try:
            import onnx  # noqa: F401
            plants(folder, MESSAGES)
        except ImportError:
            print("left out: no onnx package")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
