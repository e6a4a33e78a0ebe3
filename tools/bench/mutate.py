#!/usr/bin/env python3
"""Would the tests notice?  Plants small errors into ir, frontends, passes and backends, one at a time, and counts those
that some test fails on.

    tools/bench/mutate.py [--count 300] [--seed 1] [--only REGEX] [--kind WORD] [--sanitize] [--whole]
                          [--skip REGEX] [--jobs 2] [--limit SECONDS] [--list]

--count, --seed   how many errors, and which: each seed draws others, the kinds in turn
--only, --kind    of files that the regular expression finds; of one kind
--sanitize        what survives meets the unit and lit tests in a build with sanitizers, as tools/test.sh has one
--whole           what survives so far meets all tests that reach it, however long they take (hours)
--skip            tests that the regular expression finds are not run
--limit           ends after so many seconds of the clock; the same command goes on where it ended
--list            shows what would be planted, and ends

Kinds: comparison (off by one), sign, swap (two arguments of a call), check (an if that leaves, or half of a && or ||,
dropped), call (dropped), constant (one more or less).

Method: the tree is copied into build/mutate, where each drawn place becomes `(pcc_mutant(7) ? changed : as it was)`:
one build holds all errors, PCC_MUTANT=7 chooses one.  What the compiler refuses (swapped arguments of unlike
types) is drawn again.  Each test runs once without an error, which tells its CPU time and, by a map of bytes that
pcc_mutant marks, the places that it reaches.  An error meets the tests that reach its place, those first that reach
little else, until one fails; no test is begun that would lead beyond 60 s of CPU (--whole: then all others, too).
A test that takes ten times its time has failed.  Tests that fail without an error are left out, and said.

Calls that free memory are not dropped (the asan preset looks for that), and assertions stay as they are.
Exit: 0 if at least 85 % are killed, 1 if not.  Survivors are listed, to be read: a test is missing, or the error is
none.  Then mutate_none.txt beside this file says why; it changes no figure but a second one, which leaves them out.
Needs tree-sitter and tree-sitter-c (tools/requirements.txt)."""
import argparse
import collections
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build/mutate"
TREE, BUILD, SANITIZED = WORK / "tree", WORK / "build", WORK / "sanitized"
HARMLESS = Path(__file__).with_name("mutate_none.txt")
FOLDERS = ("ir/", "frontends/", "passes/", "backends/")
KINDS = ("comparison", "sign", "swap", "check", "call", "constant")
SMALL = {"unit", "lit"}  # labels of the tests that are run with sanitizers, too
BUDGET = 60  # seconds of CPU that one error may take
PLAIN = ("-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1")
SANITIZE = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_EXE_LINKER_FLAGS_DEBUG=-fsanitize=address,undefined",
            "-DCMAKE_C_FLAGS_DEBUG=-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all")
SLOWER = 3  # times, with sanitizers
WANTED = 85  # per cent

# In what is built: which error is chosen, and what was reached.
HEADER = """extern int pcc_mutant_chosen;
extern unsigned char *pcc_mutant_reached;
static inline int pcc_mutant(int k)
{
    if (pcc_mutant_reached)
        pcc_mutant_reached[k] = 1;
    return k == pcc_mutant_chosen;
}
"""
SOURCE = """#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
int pcc_mutant_chosen = -1;
unsigned char *pcc_mutant_reached;
__attribute__((constructor)) static void choose(void)
{
    const char *k = getenv("PCC_MUTANT"), *path = getenv("PCC_MUTANT_REACHED");
    struct stat st;
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (k)
        pcc_mutant_chosen = atoi(k);
    if (fd >= 0 && !fstat(fd, &st)) {
        void *map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        pcc_mutant_reached = map == MAP_FAILED ? NULL : map;
    }
    if (fd >= 0)
        close(fd);
}
"""

# lit hands few variables on.
LIT = """
config.environment.update({k: v for k, v in os.environ.items() if k.startswith("PCC_MUTANT")})
"""

COMPARISON = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
SIGN = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
KEPT_CALLS = re.compile(r"assert|static_assert|_Static_assert|va_\w+|free|\w+_free|json_decref")
# Equal with two arguments swapped: sums, counts and sizes, whether things are the same.
SYMMETRIC = re.compile(r"sat_(add|mul)|__builtin_(add|mul)_overflow|poly_mul|(larger|smaller)(_u32|_u64)?|gcd|"
                       r"\w*_?(min|max)|arena_array|calloc|str(n|case)?cmp|memcmp|\w+_(same|equal)")
# Macros that stand where a loop begins; the parser, which does not know them, gets a while of the same length.
LOOP = re.compile(rb"\b(?:for_row|json_\w+_foreach)(?= ?\()")
# No error is planted in such nodes or below them: the compiler wants constants there, or they are types.
CONSTANT_PLACES = {"array_declarator", "subscript_designator", "sizeof_expression", "enum_specifier", "type_descriptor",
                   "struct_specifier", "preproc_def", "preproc_function_def", "preproc_call", "string_literal"}


class Place:
    """A place where an error can be planted: bytes [start, end) of a file."""

    def __init__(self, path, node, kind, after, form="expression"):
        """The place of a node of the syntax tree. after: the text with the error; form: "expression"; "statement",
        which the error drops; "condition", which the error makes false."""
        self.path, self.start, self.end, self.kind = path, node.start_byte, node.end_byte, kind
        self.line, self.before = node.start_point[0] + 1, node.text.decode()
        self.after, self.form = after, form
        self.code = ""  # the line of source in which the place begins, filled in by all_places()

    def wrapped(self, k, inner):
        """The text that replaces the place in the built file: the place as it is, or with error k, as PCC_MUTANT
        chooses. inner: the text of the place, in which further errors may be compiled in."""
        if self.form == "statement":
            return f"{{ if (!pcc_mutant({k})) {inner} }}"
        if self.form == "condition":
            return f"(!pcc_mutant({k}) && {inner})"
        return f"(pcc_mutant({k}) ? ({self.after}) : ({inner}))"

    def texts(self):
        """The text of the place and the text with the error, each in one line, cut after 100 characters."""
        return [" ".join(s.split())[:100].strip() for s in (self.before, self.after)]

    def __str__(self):
        return f"{self.path}:{self.line}: {self.kind}: {'  =>  '.join(self.texts())}"

    def known_as(self):
        """The four texts by which mutate_none.txt names this error: a block of that file."""
        before, after = self.texts()
        return f"{self.path}: {self.kind}", before, f"=> {after}".rstrip(), f"in {self.code}"


def one_line(node):
    """The text of a node, with all blanks and line ends as single spaces."""
    return " ".join(node.text.decode().split())


def leaves(statement):
    """Whether a statement ends by leaving: return, break, continue, goto."""
    if statement.type == "compound_statement":
        inner = [c for c in statement.named_children if c.type != "comment"]
        return bool(inner) and leaves(inner[-1])
    return statement.type in ("return_statement", "break_statement", "continue_statement", "goto_statement")


def binary_places(path, node, rng):
    """Yields the errors to plant at an expression of two operands: the neighbouring comparison, the opposite sign, or
    only one half of a check."""
    left, op, right = (node.child_by_field_name(f) for f in ("left", "operator", "right"))
    if op is None or left is None:
        return
    a, o, b = one_line(left), op.type, one_line(right)
    if o in COMPARISON:
        yield Place(path, node, "comparison", f"{a} {COMPARISON[o]} {b}")
    elif o in SIGN:
        yield Place(path, node, "sign", f"{a} {SIGN[o]} {b}")
    elif o in ("&&", "||"):
        yield Place(path, node, "check", f"!!({rng.choice((a, b))})")  # !!: 0 or 1, as with both halves


def constant_places(path, node, rng, limits):
    """Yields the error to plant at a constant: a limit by name, or a whole number, becomes one more or one less."""
    text = node.text.decode()
    number = re.fullmatch(r"(\d+)([uUlL]*)", text)
    if node.type == "identifier" and text in limits:
        yield Place(path, node, "constant", f"{text} {rng.choice('+-')} 1")
    elif node.type == "number_literal" and number and (text == "0" or text[0] != "0"):  # decimal
        k = int(number[1])
        yield Place(path, node, "constant", f"{k + (1 if k == 0 else rng.choice((-1, 1)))}{number[2]}")


def call_places(path, node, rng):
    """Yields the error to plant at a call: two neighbouring arguments change places, unless they are the same, the
    function is symmetric or a macro, or one is a format."""
    name = one_line(node.child_by_field_name("function"))
    args = [c for c in node.child_by_field_name("arguments").named_children if c.type != "comment"]
    pairs = [i for i in range(len(args) - 1) if one_line(args[i]) != one_line(args[i + 1]) and
             not any("%" in one_line(x) and "_literal" in x.type for x in args[i:i + 2])]
    if pairs and not SYMMETRIC.fullmatch(name) and not name.isupper():
        i = rng.choice(pairs)
        texts = [one_line(a) for a in args]
        texts[i], texts[i + 1] = texts[i + 1], texts[i]
        yield Place(path, node, "swap", f"{name}({', '.join(texts)})")


def called(node):
    """The name of the function that a node calls; "" if it is no call."""
    return one_line(node.child_by_field_name("function")) if node.type == "call_expression" else ""


def places_in(path, node, rng, limits):
    """Yields the places for errors in a node of the syntax tree and in the nodes below it."""
    if node.type in CONSTANT_PLACES or node.type == "call_expression" and KEPT_CALLS.fullmatch(called(node)):
        return
    if node.type == "declaration" and any(c.type == "storage_class_specifier" for c in node.children):
        return  # static: the compiler wants constants there, too
    if node.type in ("binary_expression", "assignment_expression"):
        yield from binary_places(path, node, rng)
    elif node.type == "unary_expression" and node.children[0].type == "-":
        yield Place(path, node, "sign", one_line(node.children[1]))
    elif node.type in ("number_literal", "identifier"):
        yield from constant_places(path, node, rng, limits)
    elif node.type == "call_expression":
        yield from call_places(path, node, rng)
    elif node.type == "expression_statement" and node.named_children and called(node.named_children[0]) and \
            not KEPT_CALLS.fullmatch(called(node.named_children[0])):
        yield Place(path, node, "call", "", "statement")
    elif node.type == "if_statement" and not node.child_by_field_name("alternative") and \
            leaves(node.child_by_field_name("consequence")):
        yield Place(path, node.child_by_field_name("condition"), "check", "false", "condition")
    skipped = node.child_by_field_name("value") if node.type == "case_statement" else None  # a constant
    for child in node.children:
        if child != skipped:
            yield from places_in(path, child, rng, limits)


def all_places(only, rng):
    """Finds every place of the sources where an error can be planted, in the order of files and of bytes. only: a
    regular expression that paths must match."""
    try:
        import tree_sitter
        import tree_sitter_c
    except ImportError:
        sys.exit("tree-sitter and tree-sitter-c are not there: build/venv/bin/pip install -r tools/requirements.txt, "
                 "and run this by build/venv/bin/python")
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))
    sys.setrecursionlimit(10000)
    found = []
    for path in tracked():
        if not path.startswith(FOLDERS) or not path.endswith(".c") or not re.search(only, path):
            continue
        text = (ROOT / path).read_bytes()
        before = len(found)
        limits = set(re.findall(r"\b([A-Z][A-Z0-9_]+) = \d+\b", text.decode()))
        stack = [parser.parse(LOOP.sub(lambda m: b"while".ljust(len(m[0])), text)).root_node]
        while stack:  # functions stand at the top of the file or within #if
            node = stack.pop()
            if node.type == "function_definition":
                if not node.has_error:
                    found += places_in(path, node.child_by_field_name("body"), rng, limits)
            elif node.type == "translation_unit" or node.type.startswith("preproc_if"):
                stack += reversed(node.children)
        lines = text.decode().split("\n")
        for p in found[before:]:
            p.code = " ".join(lines[p.line - 1].split())
    return found


def tracked():
    """The files of the tree, new ones included."""
    r = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                       check=True)
    return sorted(p for p in r.stdout.splitlines() if (ROOT / p).is_file() and not (ROOT / p).is_symlink())


def write(path, text):
    """Writes a file unless it has this text already, so that the build compiles changed files only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != text:
        path.write_bytes(text)


def rewritten(text, planted):
    """The bytes of a file in which the errors [(number, place)] are compiled in, each chosen at run time."""
    planted = sorted(planted, key=lambda kp: (kp[1].start, -kp[1].end))

    def part(start, end, rest):
        """The bytes [start, end), in which the errors of `rest` that begin there are compiled in, also within each
        other; these are taken out of `rest`."""
        out, at = [], start
        while rest and rest[0][1].start < end:
            k, p = rest.pop(0)
            inner = part(p.start, p.end, rest)
            out += [text[at:p.start], p.wrapped(k, inner.decode()).encode()]
            at = p.end
        return b"".join(out) + text[at:end]

    return part(0, len(text), planted)


def copy_tree(chosen):
    """Makes the tree in build/mutate, with all chosen errors compiled in. chosen: [number] the error; None: there is
    none of this number."""
    by_file = collections.defaultdict(list)
    for k, p in enumerate(chosen):
        if p:
            by_file[p.path].append((k, p))
    for path in tracked():
        text = (ROOT / path).read_bytes()
        text = rewritten(text, by_file[path]) if path in by_file else text
        write(TREE / path, text + (LIT.encode() if path == "tests/lit/lit.cfg.py" else b""))
        (TREE / path).chmod((ROOT / path).stat().st_mode)
    write(TREE / "ir/base/mutant.c", SOURCE.encode())
    write(TREE / "mutant.h", HEADER.encode())
    for link, target in ((TREE / "build/venv", ROOT / "build/venv"), (WORK / "shared", ROOT.parent / "shared")):
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink() and target.exists():
            link.symlink_to(target.resolve())


def configure(where, how):
    """Configures a build of the tree with the errors, in the folder `where`, with the options `how` of CMake."""
    # What presets would warn of, as errors: mixed-up types and formats.
    flags = f"-Werror=incompatible-pointer-types -Werror=int-conversion -Werror=format -include {TREE}/mutant.h"
    subprocess.run(["cmake", "-S", TREE, "-B", where, "-G", "Ninja", "-DBUILD_TESTING=ON", *how,
                    f"-DCMAKE_C_FLAGS={flags}"],
                   check=True, stdout=subprocess.DEVNULL)


def build(where, jobs, *targets):
    """Builds these targets; all without any. Ends the program with the end of the output if this fails."""
    r = subprocess.run(["cmake", "--build", where, "--", f"-j{jobs}", *targets], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    if r.returncode:
        sys.exit(r.stdout[-4000:] + "\nthe tree with the errors was not built")


def made_headers(where):
    """The headers that the build makes: without them the compiler refuses what includes them."""
    r = subprocess.run(["ninja", "-C", where, "-t", "targets", "all"], check=True, capture_output=True, text=True)
    return [p for p in re.findall(r"^(.*\.h): CUSTOM_COMMAND$", r.stdout, re.M) if not os.path.isabs(p)]


def refused(path, command, chosen):
    """Numbers of the errors planted in a file of the tree that the compiler does not take, by its messages; if it fails
    and these name none, all errors of the file. command: compiles the file."""
    r = subprocess.run([*shlex.split(command), "-fsyntax-only"], cwd=BUILD, capture_output=True, text=True)
    if r.returncode == 0:
        return set()
    lines = (TREE / path).read_text().split("\n")
    at = {int(m[1]) for m in re.finditer(r"^[^:\n]*" + re.escape(path) + r":(\d+):\d+: error", r.stderr, re.M)}
    bad = {int(k) for n in at for k in re.findall(r"pcc_mutant\((\d+)\)", lines[n - 1])}  # all errors of these lines
    return bad or {k for k, p in enumerate(chosen) if p and p.path == path}


def draw(places, count, seed, jobs):
    """Chooses errors, kind by kind in turn, which the compiler takes; writes the tree with them. Returns them by
    number; None: no error of the kind was left that the compiler takes."""
    rng = random.Random(seed)
    rng.shuffle(places)
    by_kind = {kind: [p for p in places if p.kind == kind] for kind in KINDS}
    turns = [p for turn in range(max(map(len, by_kind.values()))) for of in by_kind.values() for p in of[turn:turn + 1]]
    chosen, spare = turns[:count], turns[count:]
    fresh = set(range(len(chosen)))  # numbers of errors that the compiler has not seen
    while fresh:
        copy_tree(chosen)
        configure(BUILD, PLAIN)
        build(BUILD, jobs, *made_headers(BUILD))
        commands = {os.path.relpath(c["file"], TREE): c["command"]
                    for c in json.loads((BUILD / "compile_commands.json").read_text()) if "pcc_objects" in c["command"]}
        files = sorted({chosen[k].path for k in fresh if chosen[k]})
        with ThreadPoolExecutor(jobs) as pool:
            bad = set().union(*pool.map(lambda f: refused(f, commands[f], chosen), files))
        for k in bad:
            kind = chosen[k].kind
            chosen[k] = next((p for p in spare if p.kind == kind), None)
            if chosen[k]:
                spare.remove(chosen[k])
        fresh = bad
    return chosen


class Test:
    """A test of ctest's, with what it takes and reaches without an error."""

    def __init__(self, entry, where):
        """A test as `ctest --show-only=json-v1` describes it, of the build in the folder `where`."""
        properties = {p["name"]: p["value"] for p in entry["properties"]}
        self.name, self.command = entry["name"], entry["command"]
        self.label = (properties.get("LABELS") or [""])[0]
        self.environment = dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", []))
        self.folder = properties.get("WORKING_DIRECTORY", str(where))
        self.room = 16 << 30  # bytes of addresses
        self.lock = threading.Lock()  # a test's files are of one run at a time
        self.rc = self.cpu = None
        self.reached = set()
        self.sound = True  # passes without an error; None: not known

    def sanitize(self, plain):
        """Marks this test as one of the build with sanitizers, and takes time and places from `plain`, the same test in
        the plain build, which has been measured.  Returns the test."""
        self.name, self.rc, self.cpu = f"{plain.name}, sanitized", plain.rc, SLOWER * plain.cpu
        self.reached, self.room, self.sound = plain.reached, resource.RLIM_INFINITY, None
        return self

    def run(self, cpu_limit, **environment):
        """Runs the test with these variables in its environment. Returns (exit code, CPU seconds). Beyond cpu_limit
        seconds of CPU, or 60 + 20 * cpu_limit seconds of the clock, the test is killed, and its code is below 0."""
        def limits():
            """Limits the process that is about to become the test."""
            for what, value in ((resource.RLIMIT_CPU, max(1, int(cpu_limit))), (resource.RLIMIT_CORE, 0),
                                (resource.RLIMIT_AS, self.room), (resource.RLIMIT_FSIZE, 4 << 30)):
                resource.setrlimit(what, (value, value))

        tmp = WORK / "tmp" / self.name.replace("/", "-")
        with self.lock:
            shutil.rmtree(tmp, ignore_errors=True)
            tmp.mkdir(parents=True)
            p = subprocess.Popen(self.command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limits,
                                 env={**os.environ, **self.environment, **environment, "TMPDIR": str(tmp)})
            guard = threading.Timer(60 + 20 * cpu_limit, os.killpg, (p.pid, signal.SIGKILL))
            guard.start()
            _, status, usage = os.wait4(p.pid, 0)
            guard.cancel()
            p.returncode = os.waitstatus_to_exitcode(status)  # else Popen would wait for the process again
            shutil.rmtree(tmp, ignore_errors=True)
        return p.returncode, usage.ru_utime + usage.ru_stime

    def measure(self, count):
        """Runs the test without any of the `count` planted errors, to know its time and the places that it reaches,
        unless it has been measured."""
        if self.rc is not None:
            return
        bytemap = WORK / "reached" / self.name.replace("/", "-")
        bytemap.parent.mkdir(exist_ok=True)
        bytemap.write_bytes(bytes(count))
        rc, cpu = self.run(600, PCC_MUTANT_REACHED=str(bytemap))
        self.reached = {k for k, b in enumerate(bytemap.read_bytes()) if b}
        self.rc, self.cpu = rc, cpu

    def fails(self, k):
        """Whether the test fails because of error `k`, and its CPU seconds. A test that takes over 10 times as long as
        without an error, and 2 s, counts as failed. If it fails, and it is not known whether it passes without an
        error, it runs again to find out."""
        limit = 10 * self.cpu + 2
        rc, cpu = self.run(limit, PCC_MUTANT=str(k))
        failed = rc not in (0, 77)  # 77: skipped
        if failed and self.sound is None:
            self.sound = self.run(limit)[0] == 0
        return failed and self.sound, cpu


def tests(where):
    """All tests of the build folder but fuzz targets and tests/tree, which test the sources, and these are changed."""
    shown = subprocess.run(["ctest", "--test-dir", where, "--show-only=json-v1"], check=True, capture_output=True,
                           text=True)
    return [t for t in (Test(entry, where) for entry in json.loads(shown.stdout)["tests"])
            if t.label != "fuzz" and f"{TREE}/tests/tree/" not in " ".join(t.command)]


def nearest(reaching, in_file):
    """Tests by the share, in tenths, of what they reach that lies in the file, the largest first; of equal shares by
    CPU time, the least first."""
    return sorted(reaching, key=lambda t: (-round(len(t.reached & in_file) / len(t.reached), 1), t.cpu))


def verdict(k, candidates, in_file, budget):
    """Runs tests against planted error `k`, as long as they take no more than `budget` CPU seconds in all. Returns
    "killed ..." and by which test, or "survived ..." and why. in_file: numbers of the errors in its file."""
    spent, left = 0.0, 0
    reaching = [t for t in candidates if t.rc == 0 and k in t.reached]
    for t in nearest(reaching, in_file):
        if spent + t.cpu > budget:
            left += 1
            continue
        failed, cpu = t.fails(k)
        spent += cpu
        if failed:
            return f"killed by {t.name}"
    if not reaching:
        return "survived: no test reaches it"
    return f"survived {len(reaching) - left} tests" + (f", {left} more would take too long" if left else "")


class Kept:
    """The results so far, for the chosen errors, in a file: a run that was ended continues from there.  known: "what",
    the chosen errors in words; "tests", [exit code, CPU seconds, places reached] by name of a test; for each stage
    ("near", "sanitized", "whole") the verdict by number of an error."""

    def __init__(self, chosen):
        """Reads the file, if it is about the same errors; else there are no results."""
        self.path = WORK / "known.json"
        self.lock = threading.Lock()
        what = [str(p) for p in chosen]
        self.known = json.loads(self.path.read_text()) if self.path.exists() else {}
        if self.known.get("what") != what:
            self.known = {"what": what, "tests": {}, "near": {}, "sanitized": {}, "whole": {}}

    def put(self, what, name, value):
        """Adds a result to known[what] and writes the file."""
        with self.lock:
            self.known[what][name] = value
            write(self.path, json.dumps(self.known).encode())

    def measured(self, test, count, until):
        """Measures a test, or takes what an earlier run measured; past the time `until` it stays unmeasured. Prints a
        line if it fails without an error. Returns the test. count: as for Test.measure()."""
        if test.name in self.known["tests"]:
            test.rc, test.cpu, reached = self.known["tests"][test.name]
            test.reached = set(reached)
        elif time.monotonic() < until:
            test.measure(count)
            self.put("tests", test.name, [test.rc, test.cpu, sorted(test.reached)])
        if test.rc not in (0, 77, None):
            print(f"left out, it fails without an error: {test.name}", flush=True)
        return test


def plant(chosen, args, until):
    """Runs the tests against all planted errors, in stages, until the time `until`; returns {number of the error:
    verdict in words}, without the errors for which there was no time."""
    kept = Kept(chosen)
    in_file = collections.defaultdict(set)  # numbers of the errors, by file
    for k, p in enumerate(chosen):
        if p:
            in_file[p.path].add(k)
    everything = [t for t in tests(BUILD) if not re.search(args.skip, t.name)]

    def stage(name, candidates, numbers, budget):
        """Runs tests against the errors with these numbers, each for at most `budget` CPU seconds. Returns {number:
        verdict}, without the errors for which there was no time."""
        def one(k):
            """The verdict on error k: the kept one, or a new one, which is kept and printed."""
            if str(k) not in kept.known[name] and time.monotonic() < until:
                kept.put(name, str(k), verdict(k, candidates, in_file[chosen[k].path], budget))
                print(f"{k}: {kept.known[name][str(k)]}: {chosen[k]}", flush=True)
            return kept.known[name].get(str(k))
        with ThreadPoolExecutor(args.jobs) as pool:
            return {k: v for k, v in zip(numbers, pool.map(one, numbers)) if v}

    def measured(wanted):
        """These tests with their times and the places that they reach."""
        with ThreadPoolExecutor(args.jobs) as pool:
            return list(pool.map(lambda t: kept.measured(t, len(chosen), until), wanted))

    everything = measured(everything)
    said = stage("near", everything, [k for k, p in enumerate(chosen) if p], BUDGET)
    alive = [k for k, v in said.items() if v.startswith("survived")]
    if args.sanitize and alive:
        configure(SANITIZED, SANITIZE)
        build(SANITIZED, args.jobs)
        plain = {t.name: t for t in everything if t.rc == 0 and t.label in SMALL}
        said.update(stage("sanitized", [t.sanitize(plain[t.name]) for t in tests(SANITIZED) if t.name in plain], alive,
                          SLOWER * BUDGET))
        alive = [k for k, v in said.items() if v.startswith("survived")]
    if args.whole and alive:
        said.update(stage("whole", everything, alive, float("inf")))
    return said


def known_harmless():
    """Planted changes that are no errors, as known_as() gives them."""
    blocks = HARMLESS.read_text(encoding="utf-8").split("\n\n")[1:]  # the first block is the file's head
    return {tuple(line.strip() for line in block.splitlines()[:4]) for block in blocks}


def say_stale(places):
    """Names the blocks of mutate_none.txt whose code is no longer there. places: all places of the sources."""
    there = {(at[0], at[1], at[3]) for at in (p.known_as() for p in places)}
    for path, before, _, code in sorted(known_harmless()):
        if (path, before, code) not in there:
            print(f"mutate_none.txt: stale, to be mended or dropped: {path}: {before}: {code}")


def report(chosen, said):
    """Prints, for each kind of error, how many were planted and found, and then the errors that no test found. Returns
    whether the share found is at least WANTED. said: verdicts by number, as plant() returns them."""
    killed = {k for k, v in said.items() if v.startswith("killed")}
    known = known_harmless()
    none = {k for k in set(said) - killed if chosen[k].known_as() in known}  # are no errors
    print("\n| kind | planted | killed | no error |\n|---|---|---|---|")
    for kind in KINDS:
        of = {k for k in said if chosen[k].kind == kind}
        if of:
            share = 100 * len(of & killed) // len(of)
            print(f"| {kind} | {len(of)} | {len(of & killed)} ({share} %) | {len(of & none)} |")
    for what, which in (("Survivors", set(said) - killed - none), ("No errors, by mutate_none.txt", none)):
        print(f"\n{what}:")
        for k in sorted(which):
            print(f"{k}: {said[k]}: {chosen[k]}")
    share, real = (100 * len(killed) / max(1, n) for n in (len(said), len(said) - len(none)))
    word = "ok" if share >= WANTED else "FAILED"
    print(f"\n{word}: {len(killed)} of {len(said)} killed, {share:.0f} % ({WANTED} % wanted); without what is no error "
          f"{len(killed)} of {len(said) - len(none)}, {real:.0f} %")
    return share >= WANTED


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--count", type=int, default=300)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--only", default="")
    ap.add_argument("--kind", choices=KINDS)
    ap.add_argument("--sanitize", action="store_true")
    ap.add_argument("--whole", action="store_true")
    ap.add_argument("--skip", default="^$")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--limit", type=float, default=float("inf"))
    ap.add_argument("--list", action="store_true")
    args = ap.parse_args()
    until = time.monotonic() + args.limit
    places = [p for p in all_places(args.only, random.Random(args.seed)) if args.kind in (None, p.kind)]
    print(f"{len(places)} places:", ", ".join(f"{sum(p.kind == k for p in places)} {k}" for k in KINDS), flush=True)
    if not places:
        sys.exit("nothing to plant")
    if not args.only and not args.kind:
        say_stale(places)
    chosen = draw(places, args.count, args.seed, args.jobs)
    if args.list:
        print("\n".join(f"{k}: {p}" for k, p in enumerate(chosen) if p))
        return 0
    build(BUILD, args.jobs)
    return 0 if report(chosen, plant(chosen, args, until)) else 1


if __name__ == "__main__":
    sys.exit(main())
