"""passes/README.md works as it says: its pass is compiled into a pcc of its own (with table.c changed as
the page tells), and its lit test passes with that pcc, and fails when the pass is broken.

Needs lit, filecheck and the build tree around PCC (else 77)."""
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
BREAK = ("g->pred.at[v + 1] - at != 1", "g->pred.at[v + 1] == at")


def cache(name):
    found = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)
    return found[1] if found else ""


def solvers():
    """The libraries that third_party/solvers.cmake found, and where the loader finds them."""
    files = re.findall(r"^PCC_\w+:FILEPATH=(/.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)
    return [flag for f in files for flag in (f, f"-Wl,-rpath,{Path(f).parent}")]


def c_flags():
    """What this build gives the compiler, its sanitizers among them."""
    kind = cache("CMAKE_BUILD_TYPE").upper()
    return [*cache("CMAKE_C_FLAGS").split(), *cache(f"CMAKE_C_FLAGS_{kind}").split()]


def build(folder, blocks, out):
    """A pcc with the page's pass: its objects come before those of the library."""
    table = (ROOT / "passes/table.c").read_text()
    table, n = re.subn(r"extern const struct pass ", "extern const struct pass pass_absorb, ", table)
    table, k = re.subn(r"&pass_fuse,", "&pass_absorb, &pass_fuse,", table)
    assert n == 1 and k == 1, "passes/table.c has changed its form"
    (folder / "table.c").write_text(table)
    (folder / "absorb.c").write_text(blocks["passes/coarsen/absorb.c"])
    libs = subprocess.run(["pkg-config", "--cflags", "--libs", "libprotobuf-c", "jansson", "libcgraph"],
                          capture_output=True, text=True, check=True).stdout.split()
    command = [cache("CMAKE_C_COMPILER"), *c_flags(), *STRICT, f"-I{ROOT}",
               '-DPCC_VERSION="0"', '-DPCC_CGRAPH_VERSION="0"', folder / "absorb.c", folder / "table.c",
               *sorted((ROOT / "tools/pcc").glob("*.c")), BUILD / "libpcc.a",
               *BUILD.glob("**/libpcc_onnx.a"), *libs, *solvers(), "-pthread", "-lm", "-o", out]
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if r.returncode:
        print(shlex.join(str(c) for c in command), r.stderr[-3000:], sep="\n")
    return r.returncode == 0


def lit(test, program, out):
    return subprocess.run([sys.executable, ROOT / "tests/support/run_lit.py", test, out],
                          env={**os.environ, "PCC": str(program)}, capture_output=True, text=True)


def main():
    if not (BUILD / "libpcc.a").is_file():
        print("skipped: PCC is in no build tree")
        return 77
    page = (ROOT / "passes/README.md").read_text()
    blocks = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", page, re.M | re.S))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not build(folder, blocks, folder / "pcc"):
            return 1
        (folder / "lit").mkdir()
        for p in ("lit.cfg.py",):
            shutil.copy(ROOT / "tests/lit" / p, folder / "lit")
        test = folder / "lit" / "absorb.pir"
        test.write_text(blocks["tests/lit/absorb.pir"])
        r = lit(test, folder / "pcc", folder / "out")
        if r.returncode:
            print(r.stdout[-3000:])
            return r.returncode
        assert blocks["passes/coarsen/absorb.c"].count(BREAK[0]) == 1
        blocks["passes/coarsen/absorb.c"] = blocks["passes/coarsen/absorb.c"].replace(*BREAK)
        if not build(folder, blocks, folder / "broken"):
            return 1
        r = lit(test, folder / "broken", folder / "out2")
        if r.returncode != 1:
            print(f"the page's test does not notice a broken pass: {r.returncode}\n{r.stdout}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
