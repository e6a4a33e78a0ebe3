"""The commands pcc and pcc-gen of a wheel: they hand over to the programs in it."""
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def _become(name: str) -> NoReturn:
    here = Path(__file__).resolve().parent
    built = here.parents[2] / "build/release" / name
    program = here / "bin" / name
    if not program.exists() and built.exists():
        program = built
    try:
        os.execv(program, [name, *sys.argv[1:]])
    except OSError as e:
        print(f"{name}: {program}: {e.strerror}: this package has no program", file=sys.stderr)
        sys.exit(70)


def pcc() -> NoReturn:
    _become("pcc")


def pcc_gen() -> NoReturn:
    _become("pcc-gen")
