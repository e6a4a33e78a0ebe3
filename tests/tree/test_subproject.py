"""pcc as a part of another project, and two handles in two threads.

tests/example takes this tree in by add_subdirectory and by FetchContent: pcc::pcc and pcc::static are there, pcc's
tests and programs are not built with it, and nothing of it is installed. It is built once, with ThreadSanitizer, beside
threads.c; its programs run, and threads.c finds that handles in threads of their own share nothing. The objects of the
library have no variables that can be written. Needs cmake (else 77)."""
# extras: threads
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import extras
from checks import check, finish, wrong
from sanitized import SANITIZED

TESTS = Path(__file__).resolve().parent.parent
SOURCE = TESTS.parent
PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
BUILD = Path(shutil.which(PCC) or PCC).resolve().parent
LOCKS = [("dot.c.o", "40")]  # cgraph has variables
SANITIZER = "-O0 -fsanitize=thread"


def run(*command, good=True, **more):
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=1200, **more)
    if good:
        check(r.returncode == 0, f"{' '.join(map(str, command))}: exit {r.returncode}: {(r.stdout + r.stderr)[-3000:]}")
    return r


def cache(name):
    found = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"), re.M)
    return found[1] if found else ""


def configure(way, out, compiler, *more):
    run("cmake", "-G", "Ninja", "-S", TESTS / "example", "-B", out, f"-DPCC_FROM={way}", f"-DPCC_TREE={SOURCE}",
        f"-DCMAKE_C_COMPILER={compiler}", *more)


def no_variables():
    """Sections of the static library that can be written hold nothing, but for what the loader fills in and locks."""
    if SANITIZED:
        return
    sizes = run("size", "-A", BUILD / "libpcc.a").stdout
    check(sizes.count(".text") > 100, f"size prints {sizes[:200]}")
    for member in sizes.split("\n\n"):
        for section, size in re.findall(r"^(\S+)\s+(\d+)\s+\d+$", member, re.M):
            lasts = re.fullmatch(r"\.(data|bss|tdata|tbss)(?!\.rel\.ro).*", section)
            check(not lasts or size == "0" or (member.split()[0], size) in LOCKS,
                  f"{member.split()[0]} has {size} bytes of variables in {section}")


def has_tsan(compiler, folder):
    """Whether programs of that compiler run with ThreadSanitizer."""
    source, program = folder / "tsan.c", folder / "tsan"
    source.write_text("int main(void) { return 0; }\n")
    r = subprocess.run([compiler, "-fsanitize=thread", source, "-o", program], capture_output=True)
    return r.returncode == 0 and subprocess.run([program]).returncode == 0


def threads(folder):
    compiler, more = cache("CMAKE_C_COMPILER"), []
    if shutil.which("clang") and shutil.which("clang++") and has_tsan("clang", folder):  # takes two thirds of the time
        compiler, more = "clang", ["-DCMAKE_CXX_COMPILER=clang++"]
    extras.need(has_tsan(compiler, folder), "no ThreadSanitizer here")
    out, model = folder / "out", folder / "m.onnx"
    configure("subdirectory", out, compiler, "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_FLAGS_DEBUG={SANITIZER}",
              f"-DCMAKE_CXX_FLAGS_DEBUG={SANITIZER}", f"-DPCC_THREADS={TESTS}/tree/threads.c", *more)
    run("cmake", "--build", out, "-j", "2")
    if wrong:
        return
    run(PCC_GEN, "gpt", "--layers", "1", "--width", "16", "--heads", "2", "--vocab", "20", "-o", model)
    results = folder / "results"
    results.mkdir()
    env = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1"}
    run(compiler, f"-I{SOURCE}/tools/lib", TESTS / "tree/threads.c", "-o", folder / "plain", f"-L{BUILD}", "-lpcc",
        f"-Wl,-rpath,{BUILD}", "-pthread")
    for jobs, command in ((5, [out / "threads", model, results]), (8, [folder / "plain", model, results, "children"])):
        r = run(*command, env=env)
        said = [int(n) for n in re.findall(r"^job \d+: (\d+) bytes$", r.stdout, re.M)]
        check(len(said) == jobs and min(said) > 50 and sum(n > 10000 for n in said) >= 3, f"threads prints {r.stdout}")
        check((results / "a" / "manifest.json").is_file() and (results / "b.svg").is_file(), "threads wrote nothing")
    run(out / "split", model, folder / "split", env=env)
    r = run(out / "critical-path", model, env=env)
    check("longest path" in r.stdout, f"critical-path prints {r.stdout}")


def main():
    if not shutil.which("cmake") or not (BUILD / "CMakeCache.txt").is_file():
        print("skipped: no cmake, or PCC is in no build tree")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if extras.extra() == "threads":
            extras.need(not SANITIZED, "ThreadSanitizer goes with no other sanitizer")
            threads(folder)
        else:
            no_variables()
            for way in ("subdirectory", "fetch"):
                configure(way, folder / way, cache("CMAKE_C_COMPILER"))
                ninja = (folder / way / "build.ninja").read_text()
                every = re.search(r"^build all: phony (.*)$", ninja, re.M)[1]
                check("libpcc.so" in ninja and "unit_" not in ninja, f"{way}: {every}")
                check("pcc-gen" not in every.split() and "pcc/pcc-gen" not in every, f"{way}: all makes {every}")
                r = run("cmake", "--install", folder / way, "--prefix", folder / "prefix", good=False)
                check(not (folder / "prefix" / "include").exists(), f"{way}: installs {r.stdout}")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
