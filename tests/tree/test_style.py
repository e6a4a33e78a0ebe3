"""The tree keeps its own rules: lengths of functions and files, headers that compile alone, one
direction of dependencies, no dangerous functions, no machine paths, a README and a glossary that tell the truth.

Every check runs on the tree and on small trees made here: a good one, which must pass, and one for
each rule with a planted violation, which must be noticed.  Environment: PCC (for what the README
says), PCC_BUILD (a build folder, for the generated header; else that of PCC)."""
import builtins
import functools
import os
import re
import shutil
import stat
import subprocess
import symtable
import sys
import tempfile
from pathlib import Path

ROOT = Path(os.environ.get("PCC_SOURCE") or Path(__file__).resolve().parents[2])
PCC = os.environ.get("PCC", "pcc")
FUNCTION_LINES, FILE_LINES, COLUMNS, WANTED_COLUMNS = 150, 1000, 120, 100
AT_ROOT = {"CMakeLists.txt", "CMakePresets.json", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md",
           "LICENSE", "Dockerfile", "docs", "frontends", "passes", "backends", "ir", "third_party", "tests", "tools",
           "build"}
LAYERS = ("ir", "passes", "frontends", "backends")
# Who may include whom and use whose functions: a folder with its subfolders (or a single file; a header with its .c)
# knows itself and what stands in an earlier row of its layer; the other layers know all of ir.  FOLDER/* are the
# folders in FOLDER, side by side: one for each execution model.
FLOORS = [
    ["ir/base"], ["ir/model"], ["ir/cluster"], ["ir/dag"], ["ir/plan"], ["ir/exec", "ir/text"], ["ir/exec/replicas"],
    ["ir/exec/*"], ["ir"],
    ["passes/passes.h"], ["passes/context.c"], ["passes/functions"], ["passes/shapes"], ["passes/rewrite"],
    ["passes/cost"], ["passes/coarsen"], ["passes/shard"], ["passes/recompute"], ["passes/problem"],
    ["passes/replicas"], ["passes/bounds"],
    ["passes/contiguous"], ["passes/any_shape"], ["passes/latency"], ["passes/integer"],
    ["passes/baselines", "passes/given", "passes/list", "passes/stages"],
    ["passes/portfolio"], ["passes"],
    ["frontends"], ["frontends/onnx", "frontends/profiles"], ["frontends/text"],
    ["backends/backends.h", "backends/label.h", "backends/palette.h", "backends/type_text.h"],
    ["backends/onnx"], ["backends/engines", "backends/picture", "backends/timeline"], ["backends/html"],
    ["backends/split"], ["backends/report"], ["backends"],
    ["tools/lib/exec"], ["tools/lib/exec/*"],
]
FLOOR = {place: row for row, places in enumerate(FLOORS) for place in places}
GENERATED = "onnx.pb-c.h"
PARAMETERS, FIELDS = 6, 30
# Functions with more parameters and structs with more fields, each with its reason; at most so many of them.
MANY_PARAMETERS, MOST_MANY_PARAMETERS = {name: "a function of MPI, which a test stands in for"
                                         for name in ("MPI_Issend", "MPI_Isend", "MPI_Irecv", "MPI_Gather",
                                                      "MPI_Iallreduce")}, 5
MANY_FIELDS, MOST_MANY_FIELDS = {
    "module": "fifteen tables, each an array of its type with count and room, read everywhere by these names",
    "ort_api": "the functions of a foreign library that are used, by its names"}, 2
FORBIDDEN = ("gets", "strcpy", "strcat", "strncat", "sprintf", "vsprintf", "alloca", "tmpnam",
             "mktemp")
GIVEN_NAMES = {*dir(builtins), "__file__", "config", "lit_config"}  # the last two: lit gives them to its lit.cfg.py
TEXT = {".c", ".h", ".py", ".mjs", ".sh", ".txt", ".json", ".md", ".pir", ".test", ".proto", ".cmake", ""}
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wconversion", "-Wstrict-prototypes",
            "-Wundef", "-Wvla"]


class Tree:
    """The text files below a folder; build folders, caches and version control left out."""

    def __init__(self, root):
        self.root = Path(root)
        self.text = {}
        for folder, folders, files in os.walk(self.root):
            at = Path(folder).relative_to(self.root)
            folders[:] = sorted(f for f in folders if f not in (".git", "__pycache__")
                                and not (f == "build" and at == Path(".")))
            for name in sorted(files):
                path = at / name
                if name != ".git" and path.suffix in TEXT and "corpus" not in path.parts:
                    raw = (self.root / path).read_bytes()
                    if b"\0" not in raw:
                        self.text[path.as_posix()] = raw.decode("utf-8", "replace")

    def sources(self, *suffixes):
        wanted = suffixes or (".c", ".h")
        return [(p, t) for p, t in self.text.items() if Path(p).suffix in wanted]


@functools.lru_cache(maxsize=None)  # several checks ask for the same files
def bare(text):
    """C without comments and without what is in quotes, line by line the same."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m[0]) if m[0][0] == "/" else m[0][0] + m[0][-1]
    token = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(token, blank, text, flags=re.S)


@functools.lru_cache(maxsize=None)
def functions(text):
    """(lines, first line, name) of each function: bodies start and end with a brace in column 1, or
    start at the end of a line that has its head in column 1."""
    head, start, found = "", None, []
    for number, line in enumerate(bare(text).split("\n"), 1):
        if start is None and (line == "{" or re.match(r"\w.*\)\s*\{$", line)):
            head += line if line != "{" else ""
            name = re.search(r"(\w+)\s*\(", head)
            start = (number, name[1] if name else "?")
        elif start is not None and line.startswith("}"):
            found.append((number - start[0] + 1, *start))
            head, start = "", None
        elif start is None:
            head = "" if line.endswith((";", "}", ",")) and "(" not in line else head + line
            if line.endswith(";"):
                head = ""
    return found


def closing(text, at):
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i + 1
    return len(text)


def items(text, separators):
    """How many there are between separators that stand in no brackets; blanks are none."""
    n, start, i = 0, 0, 0
    while i < len(text):
        if text[i] in "([{":
            i = closing(text, i)
        elif text[i] in separators:
            n += bool(text[start:i].strip())
            start = i = i + 1
        else:
            i += 1
    return n + bool(text[start:].strip())


def heads(text):
    """(line, name, parameters) of each function that is declared or defined in column 1."""
    plain = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", bare(text), flags=re.M)
    for m in re.finditer(r"^[a-zA-Z_][\w \t*]*?[ *](\w+)\(", plain, re.M):
        inside = plain[m.end():closing(plain, m.end() - 1) - 1]
        yield plain.count("\n", 0, m.start()) + 1, m[1], items(inside, ",")


def members(body):
    """How many names a struct's body declares; those of an inner struct or union without a name are its own."""
    n, i = 0, 0
    while i < len(body):
        end = i
        while end < len(body) and body[end] != ";":
            end = closing(body, end) if body[end] in "([{" else end + 1
        one = body[i:end]
        if one.rstrip().endswith("}"):
            n += members(one[one.index("{") + 1:one.rindex("}")])
        else:
            n += items(one, ",")
        i = end + 1
    return n


def structs(text):
    """(line, name, members) of each struct or union that is defined in column 1."""
    plain = bare(text)
    for m in re.finditer(r"^(?:static |const |typedef )*(?:struct|union)\s*(\w*)\s*\{", plain, re.M):
        body = plain[m.end():closing(plain, m.end() - 1) - 1]
        yield plain.count("\n", 0, m.start()) + 1, m[1], members(body)


# ---- checks: each takes a tree and yields what is wrong


def lengths(tree):
    for path, text in tree.sources():
        n = text.count("\n")
        if n > FILE_LINES:
            yield f"{path}: {n} lines, at most {FILE_LINES}"
        for lines, first, name in functions(text):
            if lines > FUNCTION_LINES:
                yield f"{path}:{first}: {name} has {lines} lines, at most {FUNCTION_LINES}"


def small(tree, find, most, excepted, room, what):
    """Complains of what find() gives that is larger than `most`, unless it is one of a few exceptions."""
    for path, text in tree.sources():
        if path.startswith("third_party/"):
            continue
        for line, name, n in find(text):
            if n > most and name not in excepted:
                yield f"{path}:{line}: {name} has {n} {what}, at most {most}"
    if len(excepted) > room or not all(excepted.values()):
        yield f"{len(excepted)} exceptions to {most} {what}, at most {room}, each with its reason"


def parameters(tree):
    yield from small(tree, heads, PARAMETERS, MANY_PARAMETERS, MOST_MANY_PARAMETERS, "parameters")


def fields(tree):
    yield from small(tree, structs, FIELDS, MANY_FIELDS, MOST_MANY_FIELDS, "fields")


def columns(tree):
    for path, text in tree.sources(".c", ".h", ".py"):
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > COLUMNS:
                yield f"{path}:{number}: {len(line)} columns, at most {COLUMNS}"
            if line != line.rstrip() or "\t" in line:
                yield f"{path}:{number}: a tab or a blank at the end"


def formatted(tree):
    """All of C as clang-format of tools/requirements.txt writes it by .clang-format."""
    beside = Path(sys.executable).parent / "clang-format"
    files = [path for path, _ in tree.sources() if not path.startswith("third_party/")]
    if not beside.exists():
        yield f"{beside} is not there: tools/setup.sh installs it"
        return
    r = subprocess.run([beside, f"--style=file:{ROOT}/.clang-format", "--dry-run", *files], cwd=tree.root,
                       capture_output=True, text=True)
    for path in sorted(set(re.findall(r"^([^\s:]+):\d+:\d+: ", r.stderr, re.M))):
        yield f"{path}: not formatted: build/venv/bin/clang-format -i {path}"


def root_folder(tree):
    for p in sorted(tree.root.iterdir()):
        if p.name not in AT_ROOT and not p.name.startswith("."):
            yield f"{p.name}: does not belong into the root folder"


def dependencies(tree):
    for path, text in tree.sources():
        layer = path.split("/")[0]
        if layer not in (*LAYERS, "tools"):
            continue
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]*)"', text, re.M):
            first = name.split("/")[0]
            if layer == "tools":  # which know all
                good = True
            elif name == GENERATED:
                good = layer == "backends" or layer == "frontends"
            else:
                good = "/" in name and first in ("ir", layer) and (tree.root / name).is_file()
            if not good:
                yield f"{path}: includes \"{name}\"; {layer} knows itself and ir, by full paths"
            elif first == layer and not stands_below(path, name):
                yield f"{path}: includes \"{name}\", which stands above it or beside it (FLOORS)"


def floor(place):
    """The row of a place; None: it has none."""
    return FLOOR.get(place, FLOOR.get(place.rsplit("/", 1)[0] + "/*"))


def place_of(path):
    """The place of FLOORS that a file belongs to; a folder that FLOORS lacks is a place of its own."""
    folder = path.rsplit("/", 1)[0]
    parts = folder.split("/")
    above = ("/".join(parts[:n]) for n in range(len(parts), 1, -1))
    return next((p for p in (path, path[:-1] + "h") if p in FLOOR), None) or next(
        (p for p in above if floor(p) is not None), folder)


def stands_below(path, name):
    """Whether a file may include, and use what is defined in, that one of its own layer."""
    a, b = place_of(path), place_of(name)
    if path.startswith("tools/") and floor(a) is None:
        return True
    return a == b or (floor(a) is not None and floor(b) is not None and floor(b) < floor(a))


def object_of(tree, path, folder):
    """The object file of a source: the build left it beside pcc; in a small tree it is compiled into the folder."""
    if tree.root == ROOT:
        build = Path(os.environ.get("PCC_BUILD") or Path(shutil.which(PCC) or PCC).resolve().parent)
        return build / "CMakeFiles/pcc_objects.dir" / (path + ".o")
    made = Path(folder) / (path.replace("/", "-") + ".o")
    include = [f"-I{at}" for at in (tree.root, generated_folder()) if at]
    subprocess.run(["cc", *include, "-c", tree.root / path, "-o", made], check=True)
    return made


def symbols(tree):
    """Calls that no include shows, since the caller declares the function or a header below both does: each symbol that
    an object file uses is defined in its own folder or in one below."""
    with tempfile.TemporaryDirectory() as folder:
        made = {p: object_of(tree, p, folder) for p, _ in tree.sources(".c") if p.split("/")[0] in LAYERS}
        yield from (f"{p}: has no object file beside pcc: build it" for p, o in made.items() if not o.exists())
        source = {str(o): p for p, o in made.items() if o.exists()}
        said = subprocess.run(["nm", "-A", "-P", "-g", *source], capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^(.*?): (\S+) (\w)", said, re.M)
    defined = {name: source[file] for file, name, kind in lines if kind != "U"}
    for file, name, kind in lines:
        path, at = source[file], defined.get(name)
        if kind == "U" and at and not (
                stands_below(path, at) if at.split("/")[0] == path.split("/")[0] else at.startswith("ir/")):
            yield f"{path}: uses {name} of {at}, which stands above it or beside it (FLOORS)"


def forbidden(tree):
    pattern = re.compile(r"\b(" + "|".join(FORBIDDEN) + r")\s*\(")
    for path, text in tree.sources():
        for number, line in enumerate(bare(text).split("\n"), 1):
            for m in pattern.finditer(line):
                yield f"{path}:{number}: {m[1]}"


def library_calls(tree):
    """What ends the process of a library's caller, or takes memory past arena_guard."""
    ends, takes = "exit|_exit|_Exit|quick_exit|abort", "malloc|calloc|realloc|reallocarray|strdup|strndup|v?asprintf"
    pattern = re.compile(rf"(?<!\w)((?:{ends}|{takes})(?=\s*\()|arena_new\(NULL\)|module_new\(NULL)")
    allowed = {"ir/base/arena.c": {"abort", "calloc"}, "ir/base/child.c": {"_exit"}}
    for path, text in tree.sources(".c"):
        if path.split("/")[0] not in LAYERS:
            continue
        for number, line in enumerate(bare(text).split("\n"), 1):
            for m in pattern.finditer(line):
                if m[1] not in allowed.get(path, ()):
                    yield f"{path}:{number}: {m[1]} in a library"


def one_opener(tree):
    """Inputs are opened in ir/base/infile.c alone; elsewhere are only folders and what is written or created."""
    opens = r"(?<![\w.>])((?:open|openat|open64|openat64|fdopen|creat|fopen|fopen64|freopen|popen|syscall" \
            r"|json_load_file|json_loadf|json_loadfd|mmap)(?=\s*\())"
    for path, text in tree.sources(".c"):
        if path.split("/")[0] not in (*LAYERS, "tools") or path == "ir/base/infile.c":
            continue
        plain = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
        for m in re.finditer(opens, plain):
            call = plain[m.start():closing(plain, m.end())]
            output = r'\bO_(WRONLY|DIRECTORY|TMPFILE)\b|, "wb?"\)$|"/dev/null", O_RDWR|SYS_close|MAP_ANONYMOUS'
            if not re.search(output, call):
                yield f"{path}:{plain.count(chr(10), 0, m.start()) + 1}: {m[1]} of an input: infile.h opens it"


def one_compiler(tree):
    """Regular expressions of users and files are compiled in one guarded place."""
    for path, text in tree.sources():
        if path.split("/")[0] in (*LAYERS, "tools") and path != "passes/functions/patterns.c" \
                and re.search(r"^[ \t]*#[ \t]*include[ \t]*<regex\.h>", text, re.M):
            yield f"{path}: includes regex.h: patterns.h compiles expressions"


def assertions(tree):
    """What is asserted changes nothing: the preset dist leaves it out."""
    changes = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)")
    for path, text in tree.sources():
        for number, line in enumerate(bare(text).split("\n"), 1):
            m = "assert" in line and re.search(r"\bassert\((.*)\);", line)
            if m and changes.search(m[1]):
                yield f"{path}:{number}: an assertion with a side effect"


def machine_paths(tree):
    """Files of one machine.  Tests may name the usual folder for temporary files."""
    always = re.compile(r"(?<![\w.}/$])/(?:home|root|work|Users)/")
    temporary = re.compile(r"(?<![\w.}/$])/tmp\b")
    for path, text in tree.text.items():
        if path == "tests/tree/" + Path(__file__).name or not (always.search(text) or temporary.search(text)):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if always.search(line) or not path.startswith("tests/") and temporary.search(line):
                yield f"{path}:{number}: a path of one machine"


def opening(tree):
    """Every C file opens with a comment that says what it is for; every header has a guard."""
    for path, text in tree.sources():
        if path.startswith("third_party/"):
            continue
        if not text.startswith("/* ") and not text.startswith("// "):
            yield f"{path}: does not open with a comment"
        if path.endswith(".h") and not re.search(r"^#ifndef (\w+)\n#define \1\n", text, re.M):
            yield f"{path}: no include guard"
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text):
            yield f"{path}: unfinished business"


def silent_skips(tree):
    """Tests that look for the shared inputs by themselves, or skip within a program that passes: what is left
    out would not be counted (extras.py, extras.h)."""
    for path, text in tree.sources(".c", ".py"):
        if not path.startswith("tests/") or path in ("tests/support/extras.py", "tests/tree/" + Path(__file__).name):
            continue
        by_hand = r"environ(?:\.get\(|\[)\"PCC_SHARED" if path.endswith(".py") else r"getenv\(\"PCC_SHARED\"\)"
        if re.search(by_hand, text) and "has_shared()" not in text:
            yield f"{path}: looks for PCC_SHARED by itself"
        if path.endswith(".c") and re.search(r"\bskip\(\)", bare(text)):
            yield f"{path}: skip() passes as a test that was run"


def generated_folder():
    """The folder of the generated header, or None."""
    for build in (os.environ.get("PCC_BUILD"), Path(shutil.which(PCC) or PCC).resolve().parent):
        if build:
            for found in sorted(Path(build).glob("**/" + GENERATED)):
                return found.parent
    return None


def built_alone(tree, path):
    """Whether the build has compiled a header alone: its source includes it before anything else."""
    source = tree.text.get(path[:-1] + "c", "") if tree.root == ROOT else ""
    first = re.search(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]*)[">]', source, re.M)
    return bool(first) and first[1] == path


def headers_alone(tree):
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    folder = generated_folder()
    for path, text in tree.sources(".h"):
        if path.split("/")[0] not in (*LAYERS, "tools") or not compiler:
            continue
        if GENERATED in text and folder is None or built_alone(tree, path):
            continue
        command = [compiler, "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", "-x", "c", *WARNINGS,
                   "-I", str(tree.root), *(["-I", str(folder)] if folder else []), "-"]
        r = subprocess.run(command, input=f'#include "{path}"\n#include "{path}"\nextern int x;\n',
                           capture_output=True, text=True)
        if r.returncode != 0:
            yield f"{path}: does not compile alone: {r.stderr.strip().splitlines()[:2]}"


def says(*command):
    r = subprocess.run(command, capture_output=True, text=True)
    return r.stdout + r.stderr


def user_pages(tree):
    """What users read: README.md and docs/."""
    return [(p, t) for p, t in tree.text.items() if p == "README.md" or p.startswith("docs/") and p.endswith(".md")]


def help_texts(tree):
    """What the programs, and every script that these pages name, say of their options; and of tools that they call."""
    beside = [Path(PCC).with_name(name) for name in ("pcc-gen", "pcc-profile", "pcc-run")]
    texts = [says(PCC, "--help=all"), *(says(p, "--help") for p in beside if p.exists())]
    verify = Path(PCC).with_name("pcc-verify")
    texts.append(says(verify, "--help") if verify.exists() else "")
    texts.append("--preset --build --install --prefix --config --rm --hostfile --map-by --oversubscribe")
    texts.append("--rankfile --extensions --node_data_paths")
    named = {name.rsplit("/", 1)[-1] for _, t in user_pages(tree) for name in re.findall(r"[\w/-]+\.(?:sh|py|mjs)", t)}
    texts += [t for path, t in tree.text.items() if path.startswith("tools/") and path.rsplit("/", 1)[-1] in named]
    return "\n".join(texts)


def readme_options(tree):
    """Options that pages name exist; each option of pcc is on a page."""
    known = set(re.findall(r"(?<![\w-])(--?[a-zA-Z][a-z-]*)", help_texts(tree)))
    named = set()
    for page, text in user_pages(tree):
        quoted = re.findall(r"```(?:sh|console)[^\n]*\n(.*?)^```|`([^`\n]*)`|^    (\S.*)$", text, re.M | re.S)
        code = " ".join(a or b or c for a, b, c in quoted)
        here = set(re.findall(r"(?<![\w-])(--?[a-zA-Z][a-z-]*)", code))
        named |= here
        for name in sorted(n for n in here if n not in known and not n.startswith(("-D", "-W"))):
            yield f"{page}: no program has the option {name}"
    if any(p == "docs/README.md" for p, _ in user_pages(tree)):
        for short, name in re.findall(r"^ +(?:(-\w), )?(--[a-z-]+)", says(PCC, "--help=all"), re.M):
            if not named & {short, name}:
                yield f"docs: no page tells of {name}"


def readme_passes(tree):
    passes = {line.split()[0] for line in says(PCC, "--list-passes").splitlines() if line[:1].strip()}
    for page, text in user_pages(tree):
        named = set(re.findall(r"--(?:help-pass|print-ir-after)=([a-z-]+)", text))
        named |= set(re.findall(r"`([a-z]+-(?:place|shapes))[`{]", text))
        for pipeline in re.findall(r"-p '?([a-z][^\s'`]*)", text):
            for name, options in re.findall(r"([a-z-]+)(?:\{([^}]*)\})?,?", pipeline):
                named.add(name)
                said = says(PCC, "--help-pass=" + name)
                for option in re.findall(r"([a-z-]+)=", options):
                    if not re.search(rf"^  {option} ", said, re.M):
                        yield f"{page}: the pass {name} has no option {option}"
        for name in sorted(named - passes):
            yield f"{page}: there is no pass {name}"


def readme_files(tree):
    """Files and folders that the pages name are there; scripts can be run."""
    for page, text in user_pages(tree):
        for path in sorted(set(re.findall(r"\b(?:ir|passes|frontends|backends|tools|tests|docs)/[\w./-]*\w", text))):
            p = tree.root / path
            if not p.exists():
                yield f"{page}: {path} does not exist"
            elif p.suffix in (".sh", ".py") and not p.stat().st_mode & stat.S_IXUSR:
                yield f"{page}: {path} is not executable"
    for folder, first in re.findall(r"^\| `(\w+)/` \|.*\| ([^|]*) \|$", tree.text["README.md"], re.M):
        for name in re.findall(r"`([\w./-]+)`", first):
            if not (tree.root / folder / name).exists():
                yield f"README.md: {folder}/{name} does not exist"


def readme_short(tree):
    """README.md is read in a minute; in docs/, docs/README.md names each page."""
    lines = tree.text["README.md"].count("\n")
    if lines > 100:
        yield f"README.md: {lines} lines, at most 100"
    index = tree.text.get("docs/README.md", "")
    for page in sorted(p for p, _ in user_pages(tree) if p.startswith("docs/") and p != "docs/README.md"):
        if f"`{page.removeprefix('docs/')}`" not in index:
            yield f"docs/README.md: does not name {page}"


def security(tree):
    """SECURITY.md: the files that it names are there, and each promise names tests and functions in them that are."""
    text = tree.text.get("SECURITY.md", "")
    for path in sorted(set(re.findall(r"`((?:ir|passes|frontends|tools|tests)/[\w./]+)`", text))):
        if not (tree.root / path).exists():
            yield f"SECURITY.md: {path} does not exist"
    for row in re.findall(r"^\| (?!-|promise)(.*) \|$", text, re.M):
        cell = row.split(" | ")[-1]
        if not re.search(r"test_\w+\.py|tests/", cell):
            yield f"SECURITY.md: no test for: {row[:60]}"
        for name, functions in re.findall(r"`(test_\w+\.py)`(?:: ([\w, ]+))?", cell):
            found = [x for path, x in tree.text.items() if path.endswith("/" + name)]
            for function in functions.split(",") if functions else [""]:
                if not found or function and f"\ndef {function.strip()}(" not in found[0]:
                    yield f"SECURITY.md: {name} has no {function.strip() or 'tests'}"


# How the glossary cites a struct, a function, a constant and a pass; and where their names stand.
CITED = [(r"((?:struct|enum) \w+)", r"^((?:struct|enum) \w+) \{"), (r"(\w+)\(\)", r"\b(\w+)\("),
         (r"([A-Z][A-Z_0-9]*)", r"\b([A-Z][A-Z_0-9]*)\b"),
         (r"([a-z]+(?:-[a-z]+)*)", r'(?:\.name = |\{\s*)"([a-z]+(?:-[a-z]+)*)"')]


def is_there(tree, cited, code, known):
    """Whether what the glossary cites exists: a file, `struct x`, `x.field`, `x()`, `CONSTANT` or a pass."""
    if "/" in cited:
        return (tree.root / cited).exists()
    for (form, _), names in zip(CITED, known):
        m = re.fullmatch(form, cited)
        if m:
            return m[1] in names
    owner, _, field = cited.partition(".")
    body = re.search(rf"^struct {re.escape(owner)} {{(.*?)^}}", code, re.M | re.S)
    return body is not None and re.search(rf"\b{re.escape(field)}\b", body[1]) is not None


def glossary(tree):
    """ir/words.md: its words are in alphabetical order, and each code name that it cites is there."""
    text = tree.text.get("ir/words.md", "")
    words = re.findall(r"^\*\*([^*]+)\*\*", text, re.M)
    if not words:
        yield "ir/words.md: no words"
    for before, word in zip(words, words[1:]):
        if before.casefold() >= word.casefold():
            yield f"ir/words.md: '{word}' stands behind '{before}'"
    texts = [t for p, t in tree.sources() if p.split("/")[0] in LAYERS]
    raw, code = "\n".join(texts), "\n".join(bare(t) for t in texts)
    known = [set(re.findall(names, raw if '"' in names else code, re.M)) for _, names in CITED]  # raw has texts
    for cited in sorted(set(re.findall(r"`([^`]+)`", re.sub(r"\s+", " ", text)))):
        if not is_there(tree, cited, code, known):
            yield f"ir/words.md: {cited} does not exist"


def undefined_names(tree):
    """Names of Python programs that nothing defines, such as a module that is not imported: they fail when they run."""
    for path, text in tree.text.items():
        if not path.endswith(".py") or re.search(r"^from \S+ import \*", text, re.M):
            continue
        tables = [symtable.symtable(text, path, "exec")]
        for t in tables:
            tables += t.get_children()
        names = [(t is tables[0], s) for t in tables for s in t.get_symbols()]
        known = {s.get_name() for top, s in names
                 if (top or s.is_declared_global()) and (s.is_local() or s.is_assigned())}
        for name in sorted({s.get_name() for _, s in names if s.is_global() and s.is_referenced()} - known):
            if name not in GIVEN_NAMES:
                yield f"{path}: {name} is not defined"


CHECKS = [lengths, parameters, fields, columns, formatted, root_folder, dependencies, symbols, forbidden, library_calls,
          one_opener, one_compiler, assertions, machine_paths, opening, silent_skips, headers_alone, readme_options,
          readme_passes, readme_files, readme_short, glossary, security, undefined_names]

# ---- self-test

GOOD = {
    "README.md": "    tools/run.sh --quick\n    pcc m.onnx -p 'fuse{range=200},dp-place' -o d\n"
                 "Read `--help-pass=fuse` and `dp-place`.\n| `ir/` | x | `a.h` |\n",
    "tools/run.sh": "#!/bin/sh\n# --quick: less\n",
    "ir/a.h": "/* A. */\n#ifndef A_H\n#define A_H\n\n#include <stdint.h>\n\nint32_t f(int32_t x);\n"
              "\n#endif\n",
    "ir/a.c": '/* A: strcpy() is only named. */\n#include "ir/a.h"\n\nint32_t f(int32_t x)\n{\n'
              '    return x + (int32_t)sizeof "gets(";\n}\n',
    "ir/words.md": "# Words\n\n**apple** `f()`, `ir/a.h`.\n\n**pear** `struct e`, `e.x`, `E_H`.\n",
    "ir/exec/c/c.h": "/* C. */\n#ifndef C_H\n#define C_H\n\n#endif\n",
    "passes/b.c": '/* B. */\n#include "ir/a.h"\n',
    "passes/given/e.c": '/* E. */\n#include "passes/given/e.h"\n\n#include "ir/a.h"\n\nint e(void)\n{\n'
                        '    return (int)f(1);\n}\n',
    "passes/given/e.h": "/* E. */\n#ifndef E_H\n#define E_H\n\nstruct e {\n    int x;\n};\nint e(void);\n\n#endif\n",
    "frontends/c.c": '/* C. */\n#include "ir/a.h"\n#include "onnx.pb-c.h"\n',
    "tools/most.c": "/* Six parameters, 30 fields. */\n"
                    "struct s {\n    struct {\n        int x, y, z;\n    } inner[2];\n"
                    + "".join(f"    int (*f{i})(int a, int b);\n" for i in range(29)) + "};\n"
                    "int g(int (*a)(int, int), int b, int c, int d, int e, int f);\n",
    "tests/program/test_g.py": '"""G."""\n\n\ndef good():\n    pass\n',
    "SECURITY.md": "| promise | how | test |\n|---|---|---|\n| it holds | so | `test_g.py`: good; `tests/unit/a.c` |\n",
    "tests/unit/a.c": '/* Temporary files. */\nstatic const char t[] = "/tmp/x-XXXXXX";\n',
}
LONG = "    x++;\n"
PLANTED = [  # check, file, text to put in, part of the complaint
    (undefined_names, "tests/program/test_g.py", '"""G."""\n\n\ndef bad():\n    return [len(sys.argv) for x in ()]\n',
     "test_g.py: sys is not defined"),
    (lengths, "ir/a.c", GOOD["ir/a.c"].replace("{\n", "{\n" + LONG * 149, 1), "f has 152 lines"),
    (lengths, "passes/b.c", "/* B. */\nstatic int g(int x) {\n" + LONG * 150 + "}\n", "g has 152"),
    (lengths, "passes/b.c", "/* B. */\n" + "\n" * 1000, "1001 lines"),
    (parameters, "backends/d.h", "/* D. */\nint g(int a, int b, int c, int d,\n      int e, int f, int g);\n",
     "d.h:2: g has 7"),
    (parameters, "frontends/c.c", "/* C. */\nvoid g(int a, int b, int c, int d, int e, int f, ...)\n{\n}\n", "g has 7"),
    (parameters, "tests/unit/a.c", "/* A. */\nint g(int a, int b, int c, int d, int e, int f, int g);\n", "g has 7"),
    (parameters, "tools/gen/g.c", "/* G. */\nstatic struct s *g(int (*a)(int, int), int b, int c, int d, int e, int f,"
     "\n                   int i)\n{\n    h(1, 2, 3, 4, 5, 6, 7, 8);\n}\n", "g.c:2: g has 7"),
    (fields, "backends/d.c", "/* D. */\nstruct s {\n    int a[2], " + ", ".join(f"b{i}" for i in range(30))
     + ";\n};\n", "d.c:2: s has 31"),
    (fields, "ir/a.h", GOOD["ir/a.h"].replace("int32_t f(", "struct s {\n    int " + ", ".join(
        f"b{i}" for i in range(31)) + ";\n};\nint32_t f("), "a.h:7: s has 31"),
    (fields, "tools/g.h", "/* G. */\nstruct s {\n    union {\n        int c;\n        int d;\n    };\n" + "".join(
        f"    int (*b{i})(int x, int y);\n" for i in range(29)) + "};\n", "g.h:2: s has 31"),
    (columns, "passes/b.c", "/* " + "b" * 120 + " */\n", "126 columns"),
    (columns, "passes/b.c", "/* B. */ \n", "blank at the end"),
    (formatted, "passes/b.c", "/* B. */\nint  b;\n", "b.c: not formatted"),
    (formatted, "ir/a.h", GOOD["ir/a.h"].replace("f(int32_t x)", "f (int32_t x)"), "a.h: not formatted"),
    (root_folder, "notes.txt", "", "notes.txt"),
    (root_folder, "src/x.c", "/* X. */\n", "src"),
    (dependencies, "ir/a.c", '/* A. */\n#include "passes/b.h"\n', "passes/b.h"),
    (dependencies, "ir/a.c", '/* A. */\n#include "onnx.pb-c.h"\n', "onnx.pb-c.h"),
    (dependencies, "passes/b.c", '/* B. */\n# include "frontends/c.h"\n', "frontends/c.h"),
    (dependencies, "passes/b.c", '/* B. */\n#include "onnx.pb-c.h"\n', "onnx.pb-c.h"),
    (dependencies, "frontends/c.c", '/* C. */\n#include "backends/d.h"\n', "backends/d.h"),
    (dependencies, "backends/d.c", '/* D. */\n#include "passes/b.h"\n', "passes/b.h"),
    (dependencies, "ir/a.c", '/* A. */\n#include "../ir/a.h"\n', "../ir/a.h"),
    (dependencies, "ir/base/b.c", '/* B. */\n#include "ir/a.h"\n', "above it or beside it"),
    (dependencies, "passes/baselines/b.c", '/* B. */\n#include "passes/given/e.h"\n', "above it or beside it"),
    (dependencies, "passes/new/b.c", '/* B. */\n#include "passes/given/e.h"\n', "above it or beside it"),
    *[(dependencies, f"{at}/b/b.c", f'/* B. */\n#include "{at}/c/c.h"\n', "above it or beside it")
      for at in ("ir/exec", "tools/lib/exec")],
    (dependencies, "tools/lib/exec/b.c", '/* B. */\n#include "tools/lib/exec/c/c.h"\n', "above it or beside it"),
    *[(symbols, path, f"/* B. */\nint e(void);\nint g(void);\nint g(void)\n{{\n    return e();\n}}\n",
       f"{path}: uses e of passes/given/e.c")
      for path in ("passes/problem/b.c", "passes/baselines/b.c", "passes/context.c", "ir/base/b.c", "backends/d.c",
                   "frontends/c.c")],
    *[(forbidden, "passes/b.c", f"/* B. */\nvoid g(void) {{ {name} (a, b); }}\n", f"b.c:2: {name}")
      for name in FORBIDDEN],
    *[(library_calls, path, f"/* B. */\nvoid g(void)\n{{\n    {call};\n}}\n", f"{path}:4: {call.split('(')[0]}")
      for path, call in (("passes/b.c", "exit(1)"), ("ir/a.c", "abort()"), ("ir/base/arena.c", "exit(1)"),
                         ("backends/d.c", "malloc(4)"), ("frontends/c.c", "arena_new(NULL)"))],
    *[(one_opener, path, f"/* B. */\nvoid g(void)\n{{\n    {call};\n}}\n", f"{path}:4: {call.split('(')[0]}")
      for path, call in (("passes/b.c", 'fopen(p, "rb")'), ("tools/gen/g.c", "open(p, O_RDONLY)"),
                         ("backends/d.c", "openat(at, p, O_RDWR | O_CLOEXEC)"), ("ir/a.c", "json_load_file(p, 0, &e)"),
                         ("frontends/c.c", "fdopen(fd, \"r\")"), ("ir/base/b.c", "syscall(SYS_openat2, at, p, 0, 0)"),
                         ("backends/d.c", "mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0)"))],
    *[(one_compiler, path, "/* B. */\n#include <regex.h>\n", f"{path}: includes regex.h")
      for path in ("passes/b.c", "passes/functions/patterns.h", "tools/gen/g.c")],
    (assertions, "passes/b.c", "/* B. */\nvoid g(int n)\n{\n    assert(n <= 2 && n-- > 0);\n}\n", "b.c:4"),
    (assertions, "ir/a.c", "/* A. */\nvoid g(int n)\n{\n    assert(n == 2 || (n = 2));\n}\n", "a.c:4"),
    (machine_paths, "tools/run.sh", "#!/bin/sh\n# --quick\ncd /home/me\n", "run.sh:3"),
    (machine_paths, "tools/run.sh", "#!/bin/sh\n# --quick\ncd '/work/main'\n", "run.sh:3"),
    (machine_paths, "passes/b.c", '/* B. */\nconst char *t = "/tmp/x";\n', "b.c:2"),
    (machine_paths, "tests/unit/a.c", '/* T. */\nconst char *t = "/root/x";\n', "tests/unit/a.c:2"),
    (opening, "passes/b.c", '#include "ir/a.h"\n', "b.c: does not open"),
    (opening, "ir/a.h", "/* A. */\nint f(int x);\n", "a.h: no include guard"),
    (opening, "passes/b.c", "/* B. */\n/* TO" "DO: more */\n", "b.c: unfinished"),
    (silent_skips, "tests/program/test_x.py", 'S = os.environ.get("PCC_SHARED", "")\n', "PCC_SHARED by itself"),
    (silent_skips, "tests/unit/a.c", '/* A. */\nconst char *s = getenv("PCC_SHARED");\n', "by itself"),
    (silent_skips, "tests/unit/a.c", "/* A. */\nvoid f(void) { skip(); }\n", "passes as a test"),
    (headers_alone, "ir/a.h", GOOD["ir/a.h"].replace("#include <stdint.h>", ""), "a.h: does not"),
    (readme_options, "README.md", "Say `--nope`.\n", "--nope"),
    (readme_options, "README.md", "    pcc m.onnx -Z\n    pcc m.onnx -z\n", "-z"),
    (readme_passes, "README.md", "    pcc m.onnx -p fuse,nope\n", "no pass nope"),
    (readme_passes, "README.md", "Try `best-place`.\n", "no pass best-place"),
    (readme_passes, "README.md", "    pcc m.onnx -p 'fuse{nope=1}'\n", "no option nope"),
    (glossary, "ir/words.md", "# Words\n", "no words"),
    (glossary, "ir/words.md", "**b** B.\n\n**a** A.\n", "'a' stands behind 'b'"),
    (glossary, "ir/words.md", "**a** A.\n\n**a** A.\n", "'a' stands behind 'a'"),
    *[(glossary, "ir/words.md", f"**a** `{cited}`\n", f"{cited} does not exist")
      for cited in ("struct nope", "enum e", "nope()", "strcpy()", "e.nope", "nope.x", "NOPE", "no-place", "ir/nope.h",
                    "nope", "fuse{x}")],
    (readme_options, "docs/README.md", "```sh\npcc m.onnx --nope\n```\n", "docs/README.md: no program has the option"),
    (readme_options, "docs/README.md", "Say `--devices`.\n", "no page tells of --baselines"),
    (readme_passes, "docs/a.md", "Try `best-place`.\n", "docs/a.md: there is no pass best-place"),
    (readme_files, "docs/a.md", "See `ir/nope.md`.\n", "docs/a.md: ir/nope.md does not exist"),
    (readme_short, "README.md", "\n" * 101, "101 lines"),
    (readme_short, "docs/a.md", "# A\n", "does not name docs/a.md"),
    (security, "SECURITY.md", "See `ir/nope.h`.\n", "ir/nope.h does not exist"),
    (security, "SECURITY.md", "| it holds | by magic | hope |\n", "no test for: it holds"),
    (security, "SECURITY.md", "| it holds | so | `test_nope.py` |\n", "test_nope.py has no tests"),
    (security, "SECURITY.md", "| it holds | so | `test_g.py`: good, nope |\n", "test_g.py has no nope"),
    (readme_files, "README.md", "See `ir/nope.md`.\n", "ir/nope.md does not exist"),
    (readme_files, "README.md", "    tools/plain.py\n", "plain.py is not executable"),
    (readme_files, "README.md", "| `ir/` | x | `nope.h` |\n", "ir/nope.h does not exist"),
]


def make(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if name.endswith("run.sh") else 0o644)
    return Tree(root)


def self_test(checks):
    """Complaints about the checks themselves."""
    with tempfile.TemporaryDirectory() as folder:
        good = make(Path(folder), GOOD)
        for check in checks:
            for line in check(good):
                yield f"self-test: {check.__name__} complains of a good tree: {line}"
    for check, name, text, complaint in PLANTED:
        if check not in checks:
            continue
        with tempfile.TemporaryDirectory() as folder:
            tree = make(Path(folder), {**GOOD, "tools/plain.py": '"""P."""\n', name: text})
            found = list(check(tree))
            if not any(complaint in line for line in found):
                yield f"self-test: {check.__name__} did not notice '{complaint}', only {found}"


def largest(tree):
    files = sorted(((t.count("\n"), p) for p, t in tree.sources()), reverse=True)[:3]
    every = sorted(((n, p, name) for p, t in tree.sources() for n, _, name in functions(t)),
                   reverse=True)
    print("largest files: " + ", ".join(f"{p} {n}" for n, p in files))
    print(f"largest of {len(every)} functions: "
          + ", ".join(f"{name} {n} ({p})" for n, p, name in every[:3]))
    wide = sum(len(line) > WANTED_COLUMNS for _, t in tree.sources(".c", ".h", ".py")
               for line in t.split("\n"))
    print(f"{wide} lines are wider than {WANTED_COLUMNS} columns (none may exceed {COLUMNS})")


def main():
    tree, checks = Tree(ROOT), list(CHECKS)
    if not shutil.which(PCC):
        print("note: PCC does not name the program: neither the README's options nor symbols are checked")
        checks = [c for c in checks if c not in (readme_options, readme_passes, symbols)]
    wrong = [line for check in checks for line in check(tree)]
    wrong += self_test(checks)
    print("\n".join(wrong))
    largest(tree)
    planted = sum(p[0] in checks for p in PLANTED)
    print(f"{len(checks)} checks, {planted} planted violations, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
