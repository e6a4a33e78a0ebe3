"""passes/README.md, backends/README.md, tools/lib/exec/README.md and CONTRIBUTING.md work as they say: their passes,
planner, writer, execution model and option are compiled into a pcc of their own (with the tables changed as the pages
tell), and their lit tests pass with that pcc, and fail when the one they are for is broken; the tests of all
planners, of all writers and of all execution models take the new ones in.  The execution model is one folder and one
row; the option is three files: its row, its use, its page, without which the style test complains.

Needs lit, filecheck, cmocka and the build tree around PCC (else 77)."""
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PCC = os.environ.get("PCC", "pcc")
BUILD = Path(shutil.which(PCC) or PCC).resolve().parent
STRICT = "-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wshadow -Wconversion -Wstrict-prototypes".split()
PAGES = ("passes/README.md", "backends/README.md", "tools/lib/exec/README.md")
MODEL = "tools/lib/exec/sequential/"
# the option of CONTRIBUTING.md: its test, and before what the lines of each of its files stand; how it is broken
OPTION = "tests/lit/at_most.pir"
LINES = {"tools/lib/settings.c": '    {OPT_TEXT, "pin"', "tools/lib/plan.c": "    cut_parts(p, r);\n",
         "docs/plans.md": "| how far a plan's order is"}
BROKEN_OPTION = ("> limit", "> limit + 1000000")
# each file of the pages, or all of a folder: its test, how it comes into which table, and how it is broken
EXAMPLES = {
    "passes/coarsen/absorb.c": (
        "tests/lit/absorb.pir", "passes/table.c", "extern const struct pass ", "pass_absorb", "&pass_fuse,",
        ("g->pred.at[v + 1] - at != 1", "g->pred.at[v + 1] == at")),
    "passes/baselines/even_place.c": (
        "tests/lit/even.pir", "passes/table.c", "extern const struct planner ", "planner_even_place",
        "&planner_scotch_place,", ("before += time_of(g, v);", "")),
    "passes/rewrite/quick_gelu.c": (
        "tests/lit/quick_gelu.pir", "passes/table.c", "extern const struct pass ", "pass_quick_gelu",
        "&pass_fold_constants,", ("edit_sweep(e);", "")),
    "backends/report/loads.c": (
        "tests/lit/loads.pir", "backends/writers.c", "extern const struct writer ", "writer_loads",
        "&writer_json,", ("{12, 9, 6}", "{12, 12, 6}")),
    MODEL: (
        "tests/lit/sequential.pir", "tools/lib/exec/kinds.c", "extern const struct exec_kind ", "exec_sequential",
        "NULL,", ("map_get(&b->there, key)", "false")),
}
UNIT, WRITERS = "tests/unit/passes/planner.c", "tests/unit/backends/writers.c"
KINDS = "tests/unit/tools/lib/kinds.c"
ONE_GRAPH = {**os.environ, "PCC_SEED": "2"}  # of those of UNIT


def cache(name):
    found = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)
    return found[1] if found else ""


def solvers(text):
    """The libraries that third_party/solvers.cmake found, as CMakeCache.txt has them, and where the loader finds them:
    PCC_<solver>_<library>, the solver in small letters."""
    files = re.findall(r"^PCC_[a-z]+_\w+:FILEPATH=(/.*)$", text, re.M)
    return [flag for f in files for flag in (f, f"-Wl,-rpath,{Path(f).parent}")]


def c_flags():
    """What this build gives the compiler, its sanitizers among them; not optimised."""
    kind = cache("CMAKE_BUILD_TYPE").upper()
    return [*cache("CMAKE_C_FLAGS").split(), *cache(f"CMAKE_C_FLAGS_{kind}").split(), "-O0"]


def tables():
    """The tables with a line for each example, by name."""
    changed = {}
    for _, table, declares, name, row, _ in EXAMPLES.values():
        text = changed.get(table) or (ROOT / table).read_text()
        text, n = re.subn(re.escape(declares), f"{declares}{name}, ", text)
        text, k = re.subn(re.escape(row), f"&{name}, {row}", text)
        assert n == 1 and k == 1, f"{table} has changed its form"
        changed[table] = text
    return changed


def with_lines(blocks):
    """The files of the tree with the option's lines, by name."""
    changed = {}
    for path, before in LINES.items():
        text = (ROOT / path).read_text()
        assert text.count(before) == 1, f"{path} has changed its form"
        changed[path] = text.replace(before, blocks[path] + before)
    return changed


def files(blocks, example):
    """The files of an example, by name."""
    return {path: text for path, text in blocks.items() if path.startswith(example)}


def compiled(folder, source):
    """The object of a source: compiled anew where it, or a header of the examples, is none that was seen before."""
    headers = b"".join(h.read_bytes() for h in sorted((folder / "tree").rglob("*.h")))
    key = hashlib.sha256(b"\0".join((str(source).encode(), source.read_bytes(), headers))).hexdigest()
    out = folder / f"{key}.o"
    if out.exists():
        return out
    libs = pkg_config("--cflags")
    command = [cache("CMAKE_C_COMPILER"), *c_flags(), *STRICT, f"-I{folder}/tree", f"-I{ROOT}",
               '-DPCC_VERSION="0"', '-DPCC_CGRAPH_VERSION="0"', *libs, "-c", source, "-o", out]
    return out if succeeds(command) else None


def pkg_config(what):
    return subprocess.run(["pkg-config", what, "libprotobuf-c", "jansson", "libcgraph", "cmocka"],
                          capture_output=True, text=True, check=True).stdout.split()


def succeeds(command):
    """Whether a command ends with 0; if not, prints it and its errors."""
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if r.returncode:
        print(shlex.join(str(c) for c in command), r.stderr[-3000:], sep="\n")
    return r.returncode == 0


def build(folder, blocks, out, sources):
    """A program with the pages' examples: their objects come before those of the library."""
    own = []
    examples = [pair for example in EXAMPLES for pair in files(blocks, example).items()]
    for path, text in [*tables().items(), *with_lines(blocks).items(), *examples]:
        at = folder / "tree" / path
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(text)
        own += [at] if at.suffix == ".c" else []
    objects = [compiled(folder, source) for source in [*own, *sources]]
    return all(objects) and succeeds(
        [cache("CMAKE_C_COMPILER"), *c_flags(), *objects, BUILD / "libpcc.a", *BUILD.glob("**/libpcc_onnx.a"),
         *pkg_config("--libs"), *solvers((BUILD / "CMakeCache.txt").read_text()), "-pthread", "-lm", "-o", out])


def is_one_folder():
    """Whether the page of the execution model makes nothing outside of its folder but a row of the table and a test."""
    page = (ROOT / PAGES[-1]).read_text()
    test, table, *_ = EXAMPLES[MODEL]
    outside = [p for p in re.findall(r"^```\w+ (\S+)\n", page, re.M) if not p.startswith(MODEL) and p != test]
    old, new = ((ROOT / table).read_text(), tables()[table])
    added = [line for line in new.splitlines() if line not in old.splitlines()]
    rows = [line for line in added if "&exec_sequential" in line]
    if outside or len(rows) != 1 or len(added) != 2 or "&exec_" not in old:
        print(f"the execution model needs more than a folder and a row: {outside} {added}")
        return False
    return True


def option_is_three_files(page):
    """Whether the option of the page is a row, a use and a line for users, beside its test."""
    named = re.findall(r"^```\w+ (\S+)\n", page, re.M)
    if sorted(named) != sorted([*LINES, OPTION]):
        print(f"the option needs other files than {list(LINES)}: {named}")
        return False
    return True


def documented(blocks, program):
    """Whether the style test wants the option's line on its page, and is content with it."""
    sys.path.insert(0, str(ROOT / "tests/tree"))
    import test_style
    test_style.PCC = str(program)
    tree, complaint = test_style.Tree(ROOT), "docs: no page tells of --at-most"
    without = [line for line in test_style.readme_options(tree) if "at-most" in line]
    tree.text["docs/plans.md"] = with_lines(blocks)["docs/plans.md"]
    whole = [line for line in test_style.readme_options(tree) if "at-most" in line]
    if without != [complaint] or whole:
        print(f"the option's page: {without} without its line, {whole} with it")
    return without == [complaint] and not whole


def lit(test, program, out):
    return subprocess.run([sys.executable, ROOT / "tests/support/run_lit.py", test, out],
                          env={**os.environ, "PCC": str(program)}, capture_output=True, text=True)


def main():
    if not (BUILD / "libpcc.a").is_file():
        print("skipped: PCC is in no build tree")
        return 77
    found = solvers("PCC_SYSTEM_PYTHON:FILEPATH=/usr/bin/python3\nPCC_metis_metis:FILEPATH=/lib/libmetis.so\n")
    if found != ["/lib/libmetis.so", "-Wl,-rpath,/lib"]:
        print(f"libraries in a cache: {found}")
        return 1
    pages = "".join((ROOT / page).read_text() for page in PAGES)
    wrong = re.findall(r".*(?:--build|--test-dir) build\s.*", pages)
    if wrong:
        print("presets build in build/release:", *wrong, sep="\n")
        return 1
    blocks = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", pages, re.M | re.S))
    page = (ROOT / "CONTRIBUTING.md").read_text()
    blocks.update(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", page, re.M | re.S))
    if not is_one_folder() or not option_is_three_files(page):
        return 1
    driver = sorted((ROOT / "tools/pcc").glob("*.c"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lit").mkdir()
        shutil.copy(ROOT / "tests/lit/lit.cfg.py", folder / "lit")
        if not build(folder, blocks, folder / "pcc", driver):
            return 1
        shutil.copy(BUILD / "pcc-gen", folder)
        if not documented(blocks, folder / "pcc"):
            return 1
        examples = {path: (e[0], e[-1]) for path, e in EXAMPLES.items()}
        for path, (test, (old, new)) in {**examples, "tools/lib/plan.c": (OPTION, BROKEN_OPTION)}.items():
            at = folder / "lit" / Path(test).name
            at.write_text(blocks[test])
            r = lit(at, folder / "pcc", folder / "out")
            if r.returncode:
                print(r.stdout[-3000:])
                return r.returncode
            of = [p for p, text in files(blocks, path).items() for _ in range(text.count(old))]
            assert len(of) == 1, f"{path}: {old} in {of}"
            if not build(folder, {**blocks, of[0]: blocks[of[0]].replace(old, new)}, folder / "broken", driver):
                return 1
            r = lit(at, folder / "broken", folder / "out2")
            if r.returncode != 1:
                print(f"the page's test of {path} does not notice that it is broken: {r.returncode}\n{r.stdout}")
                return 1
        for unit in (UNIT, WRITERS, KINDS):
            if not build(folder, blocks, folder / "unit", [ROOT / unit]):
                return 1
            r = subprocess.run([folder / "unit"], env=ONE_GRAPH, capture_output=True, text=True)
            if r.returncode:
                print(f"{unit} with the pages' examples:", r.stdout[-3000:], r.stderr[-3000:], sep="\n")
                return 1
        groups = ("FEATURE_PINS | FEATURE_PART_COST}", "FEATURE_PINS | FEATURE_PART_COST | FEATURE_GROUPS}")
        path = "passes/baselines/even_place.c"
        assert blocks[path].count(groups[0]) == 1
        if not build(folder, {**blocks, path: blocks[path].replace(*groups)}, folder / "unit", [ROOT / UNIT]):
            return 1
        r = subprocess.run([folder / "unit"], env=ONE_GRAPH, capture_output=True, text=True)
        if r.returncode == 0:
            print(f"{UNIT} takes a planner that offers what it does not know: {r.stdout[-3000:]}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
