"""What `cmake --install` leaves can be used: programs, library, manual page, completions.

The build tree around PCC is installed into an empty folder. tests/example is built against it through
find_package and, file by file, through pkg-config, in strict C11; the path that its own pass prints must have the
time that the cost table gives its nodes; what the programs around pcc.h plan and write is what pcc plans and writes,
with stderr closed, too. The shared library shows what pcc.h declares and nothing else; every installed header
compiles alone, pcc.h as C++, too. The manual page and the completions name every option of --help=all. Each page,
program and schema that an installed text names is installed; pcc-bench, measure.py and the Python package work from
there. Needs cmake and a build tree (else 77)."""
# extras: groff zsh bash c++
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
import references
from checks import check, finish, wrong
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
EXAMPLE = Path(__file__).resolve().parents[1] / "example"
BUILD = Path(shutil.which(PCC) or PCC).resolve().parent

MODEL = ["gpt", "--layers", "1", "--width", "16", "--heads", "2", "--vocab", "20"]


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
    for name in ("bin/pcc", "bin/pcc-gen", "bin/pcc-profile", "bin/pcc-run", "share/man/man1/pcc.1",
                 "share/man/man1/pcc-profile.1", "share/man/man1/pcc-run.1",
                 "include/pcc.h", "include/pcc/ir/ir.h", "share/bash-completion/completions/pcc-profile",
                 "bin/pcc-verify", "share/man/man1/pcc-verify.1", "share/zsh/site-functions/_pcc-verify",
                 "share/pcc/tools/verify_split.py", "bin/pcc-bench", "share/pcc/manifest.schema.json",
                 "share/pcc/schedule.schema.json", "share/pcc/manifest.md",
                 "share/doc/pcc-onnx/copyright", "share/doc/pcc-onnx/README.md", "share/doc/pcc-onnx/docs/install.md",
                 "share/bash-completion/completions/pcc", "share/zsh/site-functions/_pcc",
                 "share/fish/vendor_completions.d/pcc.fish",
                 f"{lib}/libpcc.a", f"{lib}/libpcc.so", f"{lib}/pkgconfig/pcc.pc", f"{lib}/pkgconfig/pcc-static.pc",
                 f"{lib}/cmake/pcc/pccConfig.cmake"):
        check((prefix / name).is_file(), f"not installed: {name}")
    text = (prefix / lib / "pkgconfig/pcc.pc").read_text()
    check(not re.search(r"(?<![\w}.])/", text), f"pcc.pc names a folder by its whole path: {text}")
    for path in [*(prefix / lib / "pkgconfig").glob("*.pc"), *(prefix / lib / "cmake/pcc").glob("*.cmake")]:
        text = path.read_text()
        for place in (str(BUILD), str(EXAMPLE.parent.parent)):
            check(place not in text, f"{path.name} names the tree that it was built in")


def places(folder, prefix, lib):
    """Beside what debuggers need, nothing names a folder of the machine that built: assertions say ir/base/arena.c.
    Sanitizers keep the names for their reports."""
    if SANITIZED:
        return
    for name in ("bin/pcc", "bin/pcc-gen", "bin/pcc-profile", "bin/pcc-run", "bin/pcc-verify", f"{lib}/libpcc.so"):
        stripped = folder / "stripped"
        run("strip", "-g", "-o", stripped, prefix / name)
        held = stripped.read_bytes()
        for place in (str(BUILD), str(EXAMPLE.parent.parent)):
            at = held.find(place.encode())
            check(at < 0, f"{name} names {held[max(at, 0):at + 100].split(bytes(1))[0]}")


def referred(prefix):
    """What installed texts name is there; it is found out where a page is missing."""
    files = [p.relative_to(prefix).as_posix() for p in prefix.rglob("*") if p.is_file()]
    texts = {f: (prefix / f).read_text(encoding="utf-8") for f in files if f.endswith(".md") or "/man1/" in f}
    texts |= {f: references.strings((prefix / f).read_bytes())
              for f in ("bin/pcc", "bin/pcc-gen", "bin/pcc-profile", "bin/pcc-run", "bin/pcc-verify")}
    lacking = references.missing(texts, files)
    check(len(texts) > 40 and not lacking, f"named in {len(texts)} texts and not installed: {lacking}")
    for name in ("passes/cost/costs.md", "tools/measure.py", "backends/split/manifest.schema.json", "bin/pcc-bench"):
        rest = [f for f in files if not f.endswith(name.rsplit("/", 1)[1])]
        check(references.missing(texts, rest), f"that {name} is not there is not noticed")


def python_programs(prefix):
    """They run where they are installed, by the installed pcc; what needs packages says which."""
    share, env = prefix / "share/pcc/tools", {k: v for k, v in os.environ.items() if k not in ("PCC", "PCC_GEN")}
    said = run(prefix / "bin/pcc-bench", "generated", "--nodes", 300, "--devices", 2, env=env).stdout
    check(said.endswith("10 graphs, 0 failed\n"), f"pcc-bench generated: {said}")
    env["PYTHONPATH"] = str(share / "python")
    for name in ("measure", "verify_split"):
        bare = [sys.executable, "-S", "-m", f"pcc.{name}"]
        r = run(*bare, "--help", env={**env, "PYTHONNOUSERSITE": "1"})
        check(f"{name}.py" in r.stdout and not r.stderr, f"{name} --help: {r.stdout}{r.stderr}")
    said = run(sys.executable, "-c", "import pcc; print(pcc._library.library()._name)", env=env).stdout
    check(said.startswith(str(prefix)), f"the Python package takes {said}")


def symbols(prefix, lib):
    """What a program that links the shared library can see is what pcc.h declares."""
    header = re.sub(r"/\*.*?\*/", "", (prefix / "include/pcc.h").read_text(), flags=re.S)
    declared = set(re.findall(r"^PCC_API [^;]*?\b(\w+)\(", header, re.M))
    shown = {s.split()[-1] for s in run("nm", "-D", "--defined-only", prefix / lib / "libpcc.so").stdout.splitlines()}
    check(len(declared) > 10 and all(s.startswith("pcc_") for s in declared), f"pcc.h declares {sorted(declared)}")
    check(shown == declared, f"libpcc.so shows {sorted(shown - declared)}, not {sorted(declared - shown)}")
    soname = re.search(r"SONAME.*\[(.*)\]", run("readelf", "-d", prefix / lib / "libpcc.so").stdout)
    version = run(prefix / "bin" / "pcc", "--version").stdout.split()[1]
    check(soname and soname[1] == "libpcc.so." + ".".join(version.split(".")[:2]), f"SONAME {soname} of {version}")


def headers_alone(prefix, compiler, flags):
    for language in ("c99", "c11", "c2x"):
        run(*compiler, f"-std={language}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-xc", "-",
            input=f"#include <{prefix}/include/pcc.h>\n" * 2 + "extern int x;\n")
    include = prefix / "include" / "pcc"
    for header in sorted(include.rglob("*.h")):
        name = header.relative_to(include)
        run(*compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", *flags, "-fsyntax-only", "-xc", "-",
            input=f"#include <{name}>\n#include <{name}>\nextern int x;\n")


def packaged(prefix, lib, name):
    """What pkg-config says of a package."""
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / lib / "pkgconfig")}
    flags = re.split(r"(?<!\\) ", run("pkg-config", "--cflags", "--libs", name, env=env).stdout.strip())
    return [f.replace("\\", "") for f in flags if f]


def with_library(prefix, lib):
    return {**os.environ, "LD_LIBRARY_PATH": str(prefix / lib)}


def docs(prefix):
    pcc = prefix / "bin" / "pcc"
    options = set(re.findall(r"--([a-z][a-z-]+)", run(pcc, "--help=all").stdout.split("exit codes")[0]))
    passes = {s.split()[0] for s in run(pcc, "--list-passes").stdout.splitlines() if s[:1].strip()}
    man = (prefix / "share/man/man1/pcc.1").read_text().replace("\\-", "-")
    zsh = (prefix / "share/zsh/site-functions/_pcc").read_text()
    fish = (prefix / "share/fish/vendor_completions.d/pcc.fish").read_text()
    check(len(options) > 20 and len(passes) > 5, f"--help=all shows {options}, --list-passes {passes}")
    for name in options:
        check(f"--{name}\\fR" in man, f"the manual page does not have --{name}")
        check(f"'*--{name}" in zsh, f"the completion of zsh does not have --{name}")
        check(f"complete -c pcc -l {name} " in fish, f"the completion of fish does not have --{name}")
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
                            ("pcc --io = p", {"paid"}), ("pcc --contention = h", {"half"}),
                            ("pcc --objective = i", {"iteration-time"}), ("pcc --judge ma", {"makespan"}),
                            ("pcc -d rtx409", {"rtx4090"}), ("pcc -d 2xa100,3xrtx409", {"2xa100,3xrtx4090"}),
                            ("pcc --devices = det", {"detect"}), ("pcc --list-devices = dapple-b", {"dapple-b"}),
                            ("pcc --help-pass ", passes), ("pcc -p dp-", {"dp-place"})]:
        split = words.split(" ")
        script = f'. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pcc; echo "${{COMPREPLY[@]}}"'
        bash = prefix / "share/bash-completion/completions/pcc"
        got = set(run("bash", "-c", script, bash, *split).stdout.split())
        check(expected <= got and (words == "pcc --" or got == expected),
              f"bash completes '{words}' with {sorted(got)}, wanted {sorted(expected)}")


def same_files(a, b):
    names = {p.name for p in a.iterdir()} | {p.name for p in b.iterdir()}
    both = [n for n in names if (a / n).is_file() and (b / n).is_file()]
    differ = [n for n in sorted(names) if n not in both or (a / n).read_bytes() != (b / n).read_bytes()]
    check(names and not differ, f"{a} and {b} differ in {differ}")


def by_pcc_h(folder, prefix, programs, env):
    """Programs around pcc.h alone plan and write what pcc does: programs are ways to the C one and the C++ one."""
    model, want = folder / "m.onnx", folder / "want"
    pcc = [prefix / "bin" / "pcc", model, "-d", "2xa100", "-q", "-Wno-guessed-dim"]
    run(*pcc, "-o", want)
    run(*pcc, "-p", "open-functions,fuse,auto-place", "-o", folder / "want.json")
    run(*pcc, "-p", "dp-place", "-o", folder / "want-dp")
    run(*pcc, "-p", "dp-place", "-o", folder / "want-dp.svg")
    seconds = json.loads((folder / "want.json").read_text())["objective"]["value_s"]
    for i, program in enumerate(programs):
        out = folder / f"got{i}"
        if program.name.startswith("split++"):
            r = run(program, model, out, env=env)
            same_files(folder / "want-dp", out)
            picture = out.with_suffix(".svg").read_bytes()
            check((folder / "want-dp.svg").read_bytes() == picture, f"{program}: its picture")
            check(r.stdout.startswith(f"time-per-sample: {round(seconds * 1e12)} ps\n") and "acc1" in r.stdout,
                  f"{program} prints {r.stdout}")
            r = run(program, folder / "none.onnx", out, good=False, env=env)
            check(r.returncode == 1 and "is empty" in r.stderr, f"{program} without a model: {r.stderr}")
            continue
        for closed in ("", " 2>&-"):
            r = run("sh", "-c", f'exec "$@"{closed}', "sh", program, model, out, env=env)
            same_files(want, out)
            check((folder / "want.json").read_bytes() == out.with_suffix(".json").read_bytes(), f"{program}: its JSON")
            check(f": time-per-sample {seconds * 1e3:.3f} ms, " in r.stdout and "acc1 (a100): " in r.stdout
                  and not r.stderr,
                  f"{program} prints {r.stdout} {r.stderr}")
            r = run("sh", "-c", f'exec "$@"{closed}', "sh", program, model, out, "2xa200", good=False, env=env)
            check(r.returncode == 2 and not r.stdout.startswith("auto") and (closed or "'2xa100'?" in r.stderr),
                  f"{program} with unknown devices: {r.returncode} {r.stderr}")
        r = run(program, folder / "none.onnx", out, good=False, env=env)
        check(r.returncode == 1 and "none.onnx: cannot open" in r.stderr, f"{program} without a model: {r.stderr}")
        r = run(program, model, out, "1xa100:100KiB", good=False, env=env)
        check(r.returncode == 3 and "memory" in r.stderr, f"{program} without memory: {r.returncode} {r.stderr}")


def example(folder, prefix, compiler, flags, env):
    model, out = folder / "m.onnx", folder / "example"
    run(prefix / "bin" / "pcc-gen", *MODEL, "-o", model)
    run("cmake", "-G", cache("CMAKE_GENERATOR"), "-S", EXAMPLE, "-B", out,
        f"-DCMAKE_MAKE_PROGRAM={cache('CMAKE_MAKE_PROGRAM')}", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={compiler[0]}", f"-DCMAKE_C_FLAGS={' '.join(compiler[1:])}",
        f"-DCMAKE_CXX_FLAGS={' '.join(compiler[1:])}")
    run("cmake", "--build", out)
    if wrong:
        return
    by_hand, split = folder / "by-hand", folder / "split-by-hand"
    run(*compiler, "-std=c11", EXAMPLE / "critical_path.c", "-o", by_hand, *flags["pcc-static"])
    run(*compiler, "-std=c11", EXAMPLE / "split.c", "-o", split, *flags["pcc"])
    by_pcc_h(folder, prefix, [p for p in (out / "split", out / "split++", split) if p.exists()], env)
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
        lib = next(prefix.rglob("libpcc.a")).parent.relative_to(prefix) if not wrong else None
        if not wrong and program == "c++":
            split = folder / "split++"
            run(prefix / "bin" / "pcc-gen", *MODEL, "-o", folder / "m.onnx")
            run("c++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *c_flags().split(),
                EXAMPLE / "split.cc", "-o", split, *packaged(prefix, lib, "pcc"))
            by_pcc_h(folder, prefix, [split], with_library(prefix, lib))
        elif not wrong and program:
            read_by(program, prefix, *docs(prefix))
        elif not wrong:
            files_there(prefix, lib)
            places(folder, prefix, lib)
            referred(prefix)
            python_programs(prefix)
            flags = {name: packaged(prefix, lib, name) for name in ("pcc", "pcc-static")}
            compiler = [cache("CMAKE_C_COMPILER"), *c_flags().split()]
            symbols(prefix, lib)
            headers_alone(prefix, compiler, [f for f in flags["pcc-static"] if f.startswith("-I")])
            docs(prefix)
            example(folder, prefix, compiler, flags, with_library(prefix, lib))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
