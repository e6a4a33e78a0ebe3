#!/usr/bin/env python3
"""Two builds of pcc: do they print and write the same, and which is faster?

    tools/bench/commands.py OLD_PCC NEW_PCC [--only REGEX] [--jobs N] [--repeat N] [--expect FILE] [--keep FOLDER]
                            [--list FILE] [--tests FOLDER]

Runs each line of commands.txt with both, in fresh folders of the same name, and compares exit code, stdout, stderr and
every file that is written: kind, whether it can be run, and each byte, but for the seconds that --baselines and
--time-passes print and the time in a .pdf.  Differences are shown, in texts as a short diff; where the bytes of an ONNX
file differ, it is said whether the messages are equal.  At the end stand the CPU seconds of both and their ratio: pcc
with all that it starts.

--only      only lines in which the regular expression is found (the inputs are made in any case)
--jobs      lines that run at a time (default: 1, as times need it)
--repeat    runs of each line, old and new in turn; the shortest of old and of new are its times (default: 1)
--expect    a file of differences that are meant, one a line: REGEX # REASON, or REGEX => CHANGED # REASON.  REGEX is
            searched in "NUMBER COMMAND: PART", where PART is "exit code", "stdout", "stderr" or the name of a file;
            CHANGED must be found in each line of text that was removed or added.  Lines that begin with # are comments
--keep      a new folder, in which the outputs of lines that differ are left: NUMBER/old and NUMBER/new
--list      another list of lines than commands.txt
--tests     the tests folder of another tree, such as that of OLD_PCC, which may not know the textual IR of this one

pcc-gen is that beside each pcc.  PCC_SHARED names the shared material; lines whose part of it is not there are skipped.
Exit: 0, or 1 if something differs that --expect does not name."""
import argparse
import collections
import difflib
import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import ROOT, SHARED, table

LIST = Path(__file__).with_name("commands.txt")
LINKS = ("in", "shared", "tests")  # links in each folder in which a line of commands.txt runs
LIMIT = 100  # CPU seconds of one program of a line
SHOWN_LINES, SHOWN_PARTS, COLUMNS = 16, 5, 160  # most lines of a diff, diffs of a command, columns of a line
ONNX = """import sys, onnx
a, b = (onnx.load(p, load_external_data=False).SerializeToString(deterministic=True) for p in sys.argv[1:])
sys.exit(10 if a == b else 11)"""

# Texts that differ from run to run: the files that have such a text, its regular expression, what replaces it before
# files are compared.  In order: seconds of --baselines, milliseconds of --time-passes, the time at which dot ran.
VARIES = [(r"stdout|.*\.(?:log|out)", rb"(?m)((?:contiguous|scattered) +\d+) +\d+\.\d\d(?=  \S+-place$)", rb"\1 T"),
          (r"stderr|.*\.(?:log|out)", rb"(?m)^ *\d+\.\d\d ms(?=  [a-z-]+$)", b"T ms"),
          (r".*\.pdf", rb"/CreationDate \(.*?\)", b"")]

# A line of commands.txt: its number there, whether it makes an input, the command.
Line = collections.namedtuple("Line", "number makes command")
# A difference between two runs of a line: its part ("stdout", a file, ...), the diff (of a text; else empty), a note.
Difference = collections.namedtuple("Difference", "part diff note")
# A line of --expect.
Expected = collections.namedtuple("Expected", "where changed reason")


def lines_of(path):
    """Yields the commands of the list as Lines, without empty lines and comments. A command behind `in: ` makes input
    files of other commands."""
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if text and not text.startswith("#"):
            makes = text.startswith("in: ")
            yield Line(number, makes, text[len("in: "):] if makes else text)


def expected_of(path):
    """The lines of the file of --expect (None: no lines); ends the script where one has no reason or is no regular
    expression."""
    found = []
    for number, text in enumerate(Path(path).read_text(encoding="utf-8").splitlines() if path else (), 1):
        if not text.strip() or text.startswith("#"):
            continue
        pattern, mark, reason = text.rpartition(" # ")
        where, _, changed = pattern.partition(" => ")
        try:
            found.append(Expected(re.compile(where.strip()), re.compile(changed.strip()), reason.strip()))
        except re.error as e:
            sys.exit(f"{path}:{number}: {e}")
        if not mark or not where.strip() or not reason.strip():
            sys.exit(f"{path}:{number}: expected 'REGEX # REASON' or 'REGEX => CHANGED # REASON'")
    return found


def missing(command, shared):
    """Path of a file of the shared material that the command reads, but that is missing; else None."""
    for path in re.findall(r"\bshared/[^\s'\"{}():;,]+", command):
        if not glob.glob(str(shared / path.removeprefix("shared/"))):
            return path
    return None


class Build:
    """One of the two programs: a folder for PATH that holds it and its pcc-gen."""

    def __init__(self, name, pcc, folder):
        """Makes a folder bin-NAME with links to the build's pcc and pcc-gen, which commands find in PATH. `pcc`: a
        path, or a name to look up in PATH. Ends the program if one of the two is missing."""
        self.name = name
        self.folder = folder / f"bin-{name}"
        self.folder.mkdir()
        pcc = Path(shutil.which(pcc) or pcc).absolute()
        for link, program in (("pcc", pcc), ("pcc-gen", pcc.with_name("pcc-gen"))):
            if not os.access(program, os.X_OK):
                sys.exit(f"{program} is not there: build pcc and pcc-gen")
            (self.folder / link).symlink_to(program)

    def run(self, command, folder, targets):
        """Runs a command in folder/run/files, where LINKS lead to the targets, then moves folder/run, with stdout and
        stderr, to folder/NAME, in place of an earlier run. Returns exit code and CPU seconds."""
        run, files = folder / "run", folder / "run/files"
        shutil.rmtree(folder / self.name, ignore_errors=True)
        files.mkdir(parents=True)
        for link, target in zip(LINKS, targets):
            (files / link).symlink_to(target)
        env = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "LC_ALL": "C"}
        for name in ("NO_COLOR", "COLUMNS"):
            env.pop(name, None)
        with open(run / "stdout", "wb") as out, open(run / "stderr", "wb") as err:
            p = subprocess.Popen(["sh", "-c", f"ulimit -t {LIMIT}; ulimit -c 0; {command}"], cwd=files, env=env,
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)  # else Popen would wait for the process again
        for link in LINKS:
            (files / link).unlink()
        run.rename(folder / self.name)
        return p.returncode, usage.ru_utime + usage.ru_stime


def entries(root):
    """{path below `root`: what it is, in words}: a folder, a link to what, a file that can be run or not."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = Path(folder) / name
            is_file = "file that can be run" if os.access(path, os.X_OK) else "file"
            found[path.relative_to(root).as_posix()] = f"link to {os.readlink(path)}" if path.is_symlink() \
                else "folder" if path.is_dir() else is_file
    return found


def content(part, path):
    """The bytes of a file, in which texts that vary from run to run (VARIES) are replaced."""
    raw = path.read_bytes()
    for where, pattern, instead in VARIES:
        if re.fullmatch(where, part):
            raw = re.sub(pattern, instead, raw)
    return raw


def text_of(raw):
    """The lines of a file's bytes; None if they are no text."""
    try:
        return None if b"\0" in raw else raw.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return None


def equal_messages(old, new):
    """Compares two ONNX files whose bytes differ as messages; returns the result in words."""
    python = ROOT / "build/venv/bin/python"
    r = subprocess.run([python if python.exists() else sys.executable, "-c", ONNX, old, new], capture_output=True)
    return {10: "equal as messages", 11: "differ as messages"}.get(r.returncode, "not read by the onnx package")


def file_difference(part, old, new):
    """The Difference between two files, as far as their content tells; None: there is none."""
    if filecmp.cmp(old, new, shallow=False):
        return None
    raw = content(part, old), content(part, new)
    if raw[0] == raw[1]:
        return None
    if part.endswith(".onnx"):
        return Difference(part, [], equal_messages(old, new))
    a, b = map(text_of, raw)
    if a is not None and b is not None:
        diff = list(difflib.unified_diff(a, b, lineterm="", n=1))[2:]  # without the names of both files
        return Difference(part, diff, "" if diff else "the ends of lines differ")
    return Difference(part, [], f"{len(raw[0])} and {len(raw[1])} bytes")


def differences(old, new, codes):
    """Yields the differences between the folders of two runs and their exit codes, a Difference for each part."""
    if codes[0] != codes[1]:
        yield Difference("exit code", [f"-{codes[0]}", f"+{codes[1]}"], "")
    a, b = entries(old), entries(new)
    for name in sorted(a.keys() | b.keys(), key=lambda n: (n not in ("stdout", "stderr"), n)):
        part = name.removeprefix("files/")
        kinds = a.get(name, "not there"), b.get(name, "not there")
        if kinds[0] != kinds[1]:
            yield Difference(part, [f"-{kinds[0]}", f"+{kinds[1]}"], "")
        elif kinds[0].startswith("file"):
            difference = file_difference(part, old / name, new / name)
            if difference:
                yield difference


class Comparison:
    """All lines with two builds, in a folder: inputs are below in/, a line's runs below its number."""

    def __init__(self, args, folder):
        """Prepares the folder of inputs, and both builds, for the program's arguments."""
        self.folder, self.args = folder, args
        self.inputs = folder / "in"
        self.inputs.mkdir()
        self.targets = self.inputs, SHARED.resolve(), Path(args.tests).resolve()
        self.builds = [Build("old", args.old, folder), Build("new", args.new, folder)]
        self.only = re.compile(args.only)
        self.differ = {}  # Line: its Differences, of each line that was compared
        self.cpu = {}  # Line: the least CPU seconds of the old and of the new build
        self.skipped = []  # (Line, the path of a file that is missing)

    def wanted(self, line):
        """Whether --only chooses this line."""
        return self.only.search(line.command)

    def compare(self, line):
        """Runs a line with both builds, `repeat` times in turns, and notes what differs and the least CPU time of each.
        What the old build made becomes input of other lines, also where --only leaves the line out of the
        comparison; then only the old build runs, once."""
        folder = self.folder / str(line.number)
        folder.mkdir()
        codes, cpu = [0, 0], [[], []]
        for k in range(self.args.repeat if self.wanted(line) else 1):
            turn = (0, 1) if (line.number + k) % 2 else (1, 0)  # neither build always comes first
            for b in turn if self.wanted(line) else (0,):
                codes[b], seconds = self.builds[b].run(line.command, folder, self.targets)
                cpu[b].append(seconds)
        if self.wanted(line):
            self.cpu[line] = min(cpu[0]), min(cpu[1])
            self.differ[line] = list(differences(folder / "old", folder / "new", codes))
        if line.makes:
            shutil.copytree(folder / "old/files", self.inputs, dirs_exist_ok=True)
        if not (self.differ.get(line) and self.args.keep):
            shutil.rmtree(folder)

    def run(self):
        """Runs all lines whose files are there: first the lines that make inputs, in their order, then the others in
        parallel."""
        usable = []
        for line in lines_of(Path(self.args.list)):
            lacks = missing(line.command, SHARED)
            if lacks and self.wanted(line):
                self.skipped.append((line, lacks))
            elif not lacks:
                usable.append(line)
        for line in usable:
            if line.makes:  # in order: an input may be made of another
                self.compare(line)
        with ThreadPoolExecutor(self.args.jobs) as pool:
            rest = (line for line in usable if not line.makes and self.wanted(line))
            for _ in pool.map(self.compare, rest):
                pass


def shown(difference):
    """Prints a difference, with the first SHOWN_LINES lines of its diff."""
    print(f"  {difference.part}{': ' if difference.note else ''}{difference.note}")
    for line in difference.diff[:SHOWN_LINES]:
        print("    " + (line if len(line) <= COLUMNS else line[:COLUMNS] + "..."))
    if len(difference.diff) > SHOWN_LINES:
        print(f"    ... {len(difference.diff) - SHOWN_LINES} more lines")


def who_expects(line, difference, expected):
    """The first line of --expect whose REGEX finds the command and the part of a difference, and whose CHANGED, if it
    has one, finds each line of the diff that was removed or added; None: there is none."""
    changed = [text[1:] for text in difference.diff if text[:1] in ("-", "+")]
    for e in expected:
        if e.where.search(f"{line.number} {line.command}: {difference.part}") \
                and (not e.changed.pattern or changed and all(e.changed.search(text) for text in changed)):
            return e
    return None


def report(differ, expected):
    """Shows unexpected differences, counts expected ones; returns the number of lines with unexpected ones."""
    wrong, counts = 0, collections.Counter()
    for line in sorted(differ):
        unexpected = []
        for difference in differ[line]:
            e = who_expects(line, difference, expected)
            counts[e] += 1
            unexpected += [] if e else [difference]
        if unexpected:
            wrong += 1
            print(f"\n{line.number}: {line.command}")
            for difference in unexpected[:SHOWN_PARTS]:
                shown(difference)
            if len(unexpected) > SHOWN_PARTS:
                print("  and: " + " ".join(d.part for d in unexpected[SHOWN_PARTS:]))
    for e in expected:
        print(f"{counts[e]} expected: {e.reason}" if counts[e] else f"nothing differs as expected: {e.reason}")
    return wrong


def times(cpu):
    """Prints the five lines whose times differ most, and the sums of all. `cpu`: see Comparison."""
    rows = sorted(cpu.items(), key=lambda item: -abs(item[1][1] - item[1][0]))[:5]
    table(["line", "old, CPU s", "new", "command"],
          [[line.number, f"{old:.3f}", f"{new:.3f}", line.command[:70]] for line, (old, new) in rows])
    old, new = (sum(t[k] for t in cpu.values()) for k in (0, 1))
    print(f"CPU: old {old:.2f} s, new {new:.2f} s, new / old {new / max(old, 1e-9):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD_PCC")
    parser.add_argument("new", metavar="NEW_PCC")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--repeat", type=int, default=1, metavar="N")
    parser.add_argument("--expect", metavar="FILE")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--list", default=LIST, metavar="FILE")
    parser.add_argument("--tests", default=ROOT / "tests", metavar="FOLDER")
    args = parser.parse_args()
    expected = expected_of(args.expect)
    with tempfile.TemporaryDirectory() as tmp:
        if args.keep:
            Path(args.keep).mkdir(parents=True)
        comparison = Comparison(args, Path(args.keep or tmp).resolve())
        comparison.run()
        wrong = report(comparison.differ, expected)
    for line, lacks in comparison.skipped:
        print(f"skipped, {lacks} is not there: {line.number}")
    times(comparison.cpu)
    print(f"{len(comparison.differ)} lines, {wrong} differ, {len(comparison.skipped)} skipped")
    return 1 if wrong or not comparison.differ else 0


if __name__ == "__main__":
    sys.exit(main())
