#!/usr/bin/env python3
"""Writes tools/python/pcc/_settings.py anew: what type checkers know of the settings of pcc.plan() and pcc.split().

    build/venv/bin/python tools/python/settings.py

The settings come from the library, whose rows are the only description of an option (CONTRIBUTING.md, "An option"). So
run this program after an option was added or changed; test_python.py says when. With "-" it prints the text instead."""
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from pcc._library import library_settings, words
from pcc._words import python_name

HEAD = '''"""The settings of pcc.plan() and pcc.split(), for type checkers.

Made by tools/python/settings.py of the library's own list: do not edit."""
from __future__ import annotations

import os
from typing import Any, Literal, Mapping, Optional, Sequence, TypedDict, Union

One = Union[str, int, float, "os.PathLike[str]"]  # a value as text, or as Python has it
Many = Union[One, Sequence[One], Mapping[Any, One]]  # several values: a list, or {"a": 1} for "a=1"


class Settings(TypedDict, total=False):
    """The long options of the program, "_" for "-"; None says nothing."""

'''


def type_of(row):
    """The type that a setting has in Python, as text; row: of library_settings()."""
    words = ", ".join(f'"{w}"' for w in row["words"])
    numbers = "".join(f", {w}" for w in row["words"] if w.isdecimal())
    if row["repeats"]:
        return "Many"
    return {"bool": "bool", "int": "Union[int, str]", "choice": f"Literal[{words}{numbers}]",
            "set": f"Union[str, Sequence[Literal[{words}]]]", "text": "One", "bytes": "Union[int, str]",
            "share": "Union[float, str]"}.get(row["kind"], "str")


def text():
    """The whole text of _settings.py: for each setting its help as a comment, and its type."""
    lines = []
    for row in library_settings().values():
        if row["name"] == "devices":  # has a parameter of its own
            continue
        lines += textwrap.wrap(words(row["help"]), 114, initial_indent="    # ", subsequent_indent="    # ")
        line = f"    {python_name(row['name'])}: Optional[{type_of(row)}]"
        lines += textwrap.wrap(line, 118, subsequent_indent=" " * (line.rindex("[") + 1), break_on_hyphens=False)
    return HEAD + "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] == ["-"]:
        print(text(), end="")
    else:
        (HERE / "pcc/_settings.py").write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
