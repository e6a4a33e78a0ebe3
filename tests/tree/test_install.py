"""What `cmake --install` leaves can be used: programs, library, manual page, completions.

The build tree around PCC is installed into an empty folder. tests/example is built against it through
find_package and, with its one file, through pkg-config, in strict C11; the path that its own pass
prints must have the time that the cost table gives its nodes. Every installed header compiles alone. The manual
page and the completions name every option of --help. Needs cmake and a build tree (else 77)."""
# extras: groff zsh bash
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras

PCC = os.environ.get("PCC", "pcc")
EXAMPLE = Path(__file__).resolve().parents[1] / "example"
BUILD = Path(shutil.which(PCC) or PCC).resolve().parent
wrong = []

MODEL = ["gpt", "--layers", "1", "--width", "16", "--heads", "2", "--vocab", "20"]


def check(good, text):
    if not good:
        wrong.append(text)
    return good


def run(*command, good=True, **more):
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600, **more)
    if good:
        check(r.returncode == 0, f"{' '.join(map(str, command))}: exit {r.returncode}: "
                                 f"{(r.stdout + r.stderr)[-1500:]}")
    return r


def cache(name):
    text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{name}:\w+=(.*)$", text, re.M)
    return found[1] if found else ""


def c_flags():
    """What this build gives the compiler, its sanitizers among them."""
    kind = cache("CMAKE_BUILD_TYPE").upper()
    return f"{cache('CMAKE_C_FLAGS')} {cache(f'CMAKE_C_FLAGS_{kind}')}".strip()


def picoseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)([munp]?s)", text).groups()
    return round(float(number) * {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}[unit])


def files_there(prefix, lib):
    for name in ("bin/pcc", "bin/pcc-gen", "share/man/man1/pcc.1", "include/pcc/ir/ir.h",
                 "share/bash-completion/completions/pcc", "share/zsh/site-functions/_pcc",
                 f"{lib}/libpcc.a", f"{lib}/pkgconfig/pcc.pc", f"{lib}/cmake/pcc/pccConfig.cmake"):
        check((prefix / name).is_file(), f"not installed: {name}")
    for path in [prefix / lib / "pkgconfig/pcc.pc", *(prefix / lib / "cmake/pcc").glob("*.cmake")]:
        text = path.read_text()
        for place in (str(BUILD), str(EXAMPLE.parent.parent)):
            check(place not in text, f"{path.name} names the tree that it was built in")


def headers_alone(prefix, compiler, flags):
    include = prefix / "include" / "pcc"
    for header in sorted(include.rglob("*.h")):
        name = header.relative_to(include)
        run(*compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", *flags, "-fsyntax-only", "-xc", "-",
            input=f"#include <{name}>\n#include <{name}>\nextern int x;\n")


def docs(prefix):
    pcc = prefix / "bin" / "pcc"
    options = set(re.findall(r"--([a-z][a-z-]+)", run(pcc, "--help").stdout.split("exit codes")[0]))
    passes = {s.split()[0] for s in run(pcc, "--list-passes").stdout.splitlines()}
    man = (prefix / "share/man/man1/pcc.1").read_text().replace("\\-", "-")
    zsh = (prefix / "share/zsh/site-functions/_pcc").read_text()
    check(len(options) > 20 and len(passes) > 5, f"--help shows {options}, --list-passes {passes}")
    for name in options:
        check(f"--{name}\\fR" in man, f"the manual page does not have --{name}")
        check(f"'*--{name}" in zsh, f"the completion of zsh does not have --{name}")
    for name in passes:
        check(f"\n{name}: " in man, f"the manual page does not have the pass {name}")
    return options, passes


def read_by(program, prefix, options, passes):
    """The manual page, or the completions, by the program that they are for."""
    if program == "groff":
        r = run("groff", "-man", "-Tutf8", "-ww", prefix / "share/man/man1/pcc.1")
        return check(not r.stderr, f"groff on the manual page: {r.stderr[:500]}")
    if program == "zsh":
        return run("zsh", "-n", prefix / "share/zsh/site-functions/_pcc")
    for words, expected in [("pcc --", {f"--{n}" for n in options}), ("pcc --io = ", {"paid", "free"}),
                            ("pcc --io = p", {"paid"}), ("pcc --help-pass ", passes),
                            ("pcc -p dp-", {"dp-place"})]:
        split = words.split(" ")
        script = f'. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pcc; echo "${{COMPREPLY[@]}}"'
        bash = prefix / "share/bash-completion/completions/pcc"
        got = set(run("bash", "-c", script, bash, *split).stdout.split())
        check(expected <= got and (words == "pcc --" or got == expected),
              f"bash completes '{words}' with {sorted(got)}, wanted {sorted(expected)}")


def example(folder, prefix, compiler, flags):
    model, out = folder / "m.onnx", folder / "example"
    run(prefix / "bin" / "pcc-gen", *MODEL, "-o", model)
    run("cmake", "-G", cache("CMAKE_GENERATOR"), "-S", EXAMPLE, "-B", out,
        f"-DCMAKE_MAKE_PROGRAM={cache('CMAKE_MAKE_PROGRAM')}", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={compiler[0]}", f"-DCMAKE_C_FLAGS={' '.join(compiler[1:])}")
    run("cmake", "--build", out)
    if wrong:
        return
    by_hand = folder / "by-hand"
    run(*compiler, "-std=c11", EXAMPLE / "critical_path.c", "-o", by_hand, *flags)
    r = run(out / "critical-path", model)
    check(run(by_hand, model, good=False).stdout == r.stdout, "pkg-config's program differs")
    found = re.match(r"longest path: (\d+) of (\d+) nodes, (\S+)\n((?:  .*\n)*)$", r.stdout)
    if not check(found, f"the example prints {r.stdout}"):
        return
    table = run(prefix / "bin" / "pcc", model, "-q", "-p", "cost", "-d", "2xa100", "--emit", "csv")
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(table.stdout)) if "name" in row}
    shown = [s.strip() for s in found[4].splitlines()]
    check(len(shown) == 10 and all(s in rows for s in shown), f"nodes {shown} of {list(rows)[:5]}")
    r = run(out / "critical-path", model, "longest-path{show=1000},dp-place")
    check("plan: " in r.stdout, f"the example with a planner prints {r.stdout}")
    every = re.findall(r"^  (.*)$", r.stdout, re.M)
    check(len(every) == int(found[1]), f"{len(every)} nodes shown, {found[1]} said")
    column = next((k for k in next(iter(rows.values())) if "a100" in k), None)
    if check(column, f"no column of times in {list(next(iter(rows.values())))}"):
        total = sum(int(rows[n][column]) for n in every)
        check(total == picoseconds(found[3]), f"{found[3]} said, the nodes have {total} ps")
    r = run(out / "critical-path", model, "longst-path", good=False)
    check(r.returncode == 1 and "did you mean 'longest-path'?" in r.stderr, r.stderr)


def main():
    if not shutil.which("cmake") or not (BUILD / "cmake_install.cmake").is_file():
        print("skipped: no cmake, or PCC is in no build tree")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prefix = folder / "a prefix"
        program = extras.extra()
        extras.need(not program or shutil.which(program), f"no program {program}")
        run("cmake", "--install", BUILD, "--prefix", prefix)
        if not wrong and program:
            read_by(program, prefix, *docs(prefix))
        elif not wrong:
            lib = next(prefix.rglob("libpcc.a")).parent.relative_to(prefix)
            files_there(prefix, lib)
            env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / lib / "pkgconfig")}
            flags = run("pkg-config", "--cflags", "--libs", "pcc", env=env).stdout
            flags = re.split(r"(?<!\\) ", flags.strip())
            flags = [f.replace("\\", "") for f in flags if f]
            compiler = [cache("CMAKE_C_COMPILER"), *c_flags().split()]
            headers_alone(prefix, compiler, [f for f in flags if f.startswith("-I")])
            docs(prefix)
            example(folder, prefix, compiler, flags)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
