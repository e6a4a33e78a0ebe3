#!/usr/bin/env python3
"""Compiles what a build has compiled once more, by clang, for its warnings alone: no code is made.

usage: clang_check.py BUILD [--jobs N]

BUILD is a folder of cmake that has been built, with compile_commands.json (CMAKE_EXPORT_COMPILE_COMMANDS).  Prints what
clang says; ends with 1 if it refuses a file, and with 77 without clang."""
import argparse
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

GCC_ONLY = ("-fno-semantic-interposition",)  # options that clang does not know


def command_of(entry):
    """The command of clang, as a tuple, that checks the file of an entry of compile_commands.json; entries that compile
    a file in the same way have equal commands."""
    words = shlex.split(entry["command"])[1:]
    at = words.index("-o")
    del words[at:at + 2]
    return ("clang", "-fsyntax-only", *(w for w in words if w not in GCC_ONLY and w != "-c"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    if not shutil.which("clang"):
        print("clang_check: no clang here")
        return 77
    entries = json.loads((args.build / "compile_commands.json").read_text())
    commands = {command_of(e): e["directory"] for e in entries}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        runs = pool.map(lambda c: subprocess.run(c[0], cwd=c[1], capture_output=True, text=True), commands.items())
        bad = [r for r in runs if r.returncode or r.stderr]
    for r in bad:
        print(r.stderr or f"{r.args}: exit {r.returncode}", end="")
    print(f"clang_check: {len(commands)} files, clang says something of {len(bad)}")
    return int(any(r.returncode for r in bad))


if __name__ == "__main__":
    sys.exit(main())
