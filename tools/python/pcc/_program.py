"""The commands pcc, pcc-gen, pcc-profile, pcc-run and pcc-bench of a wheel, and what `python -m` runs: they hand
over to the programs in it."""
from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent
TOOLS = HERE.parent.parent  # if this is tools/python/pcc, in the source tree or in PREFIX/share/pcc of an installation


def _first(*places: Path) -> Path:
    """The first of these paths that exists; the first of all if none does."""
    return next((p for p in places if p.exists()), places[0])


def _place(name: str) -> Path:
    """The path of a compiled program: in the wheel, in the source tree, in the installation, or on the PATH. A program
    on the PATH that is this very command does not count: it would run itself for ever."""
    installed = TOOLS.parent.parent.parent / "bin" / name
    built = TOOLS.parent / "build/release" / name if (TOOLS.parent / "CMakeLists.txt").exists() else installed
    found = shutil.which(name)
    itself = found is not None and os.path.exists(sys.argv[0]) and os.path.samefile(found, sys.argv[0])
    return _first(HERE / "bin" / name, built, *([Path(found)] if found and not itself else []))


def _hand_over(name: str, program: Path, *before: str) -> NoReturn:
    """Runs `program` in place of this process, with the words `before` and then this process's arguments. Exits with 70
    if it cannot be run; name: of the command, for the error."""
    try:
        os.execv(program, [*before, *sys.argv[1:]])
    except OSError as e:
        print(f"{name}: {program}: {e.strerror}: this package has no program", file=sys.stderr)
        sys.exit(70)


def script(name: str) -> NoReturn:
    """Runs a program of tools/ in this Python, with the pcc of this package."""
    path = _first(HERE / "share/tools" / name, TOOLS / name)
    for compiled in ("pcc", "pcc-gen", "pcc-profile", "pcc-run"):
        variable, program = compiled.upper().replace("-", "_"), _place(compiled)
        if program.exists():
            os.environ.setdefault(variable, str(program))
    _hand_over(path.name, Path(sys.executable), sys.executable, str(path))


def pcc() -> NoReturn:
    _hand_over("pcc", _place("pcc"), "pcc")


def pcc_verify() -> NoReturn:
    _hand_over("pcc-verify", _place("pcc-verify"), "pcc-verify")


def pcc_gen() -> NoReturn:
    _hand_over("pcc-gen", _place("pcc-gen"), "pcc-gen")


def pcc_profile() -> NoReturn:
    _hand_over("pcc-profile", _place("pcc-profile"), "pcc-profile")


def pcc_run() -> NoReturn:
    _hand_over("pcc-run", _place("pcc-run"), "pcc-run")


def pcc_bench() -> NoReturn:
    script("bench/pcc-bench")
