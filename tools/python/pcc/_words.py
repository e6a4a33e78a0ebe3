"""Messages of the library in Python's words.

The library names its settings as the program's options: "--dim x=4: no dimension has this name", "raise --max-states",
"(-p fuse,dp-place)". In Python these are dim={"x": 4}, max_states and pipeline="fuse,dp-place". An option that is no
setting belongs to the program, which wheels bring: "--help=all" becomes "pcc --help=all". Names and files, in single
quotes, stay. O(length)."""
from __future__ import annotations

import re
from keyword import iskeyword
from typing import Collection

_VALUE = r"[^\s'\"]*[^\s'\",;:.)]"  # up to a blank, without the punctuation behind it
# A text in single quotes; or an option, not behind "pcc ... ": --name, --name=value, --name key=of, perhaps behind
# "pcc "; -W, -Wwarning; -d, -o, -p with a value, in quotes or not.
_OPTION = re.compile(rf"(?<!\w)'[^']*'|(?<!pcc \.\.\. )(?<![\w'\"/-])(?:(?P<pcc>pcc )?--(?P<name>[a-z][a-z0-9-]*)"
                     rf"(?:=(?P<value>{_VALUE})| (?P<key>{_VALUE})=(?P<of>{_VALUE}))?(?![\w-])"
                     rf"|-W(?P<warning>{_VALUE})?|-(?P<letter>[dop])(?![\w-])"
                     rf"(?: (?:'(?P<quoted>[^']*)'|(?P<word>{_VALUE})))?)")
# Of -d, -p and -o: the name, and what a value looks like; another word behind them belongs to the sentence.
_LETTERS = {"d": ("devices", r"detect|\d+x\w+.*"), "p": ("pipeline", r".*(,|-place\b|\{).*"),
            "o": ("out", r".*\.\w+|FILE.*")}


def python_name(option: str) -> str:
    """The keyword for an option: in_flight; for_, since "for" is a word of Python's own."""
    name = option.replace("-", "_")
    return name + "_" if iskeyword(name) else name


def option_name(name: str) -> str:
    """The option for a keyword: the opposite of python_name()."""
    return (name[:-1] if iskeyword(name[:-1]) and name.endswith("_") else name).replace("_", "-")


def _literal(text: str) -> str:
    """The text as Python writes it: numbers and words in capitals, such as N, have no quotes."""
    return text if re.fullmatch(r"-?\d+|[A-Z]+", text) else f'"{text}"'


def _letter(m: "re.Match[str]") -> str:
    """What stands in Python for -d, -o or -p: the keyword (of -o: write()) with the value behind the option, or the
    keyword alone if no value is behind it."""
    name, like = _LETTERS[m["letter"]]
    value = m["quoted"] or (m["word"] if re.fullmatch(like, m["word"] or "") else None)
    if not value:
        return name + m[0][len("-d"):]
    return f'write("{value}")' if name == "out" else f'{name}="{value}"'


def in_python(text: str, settings: Collection[str], repeated: Collection[str]) -> str:
    """The message with settings as keywords. settings: the names of all settings, as options have them; repeated: the
    names of the settings that take several values."""
    def option(m: "re.Match[str]") -> str:
        """What stands in Python for a match of _OPTION."""
        name = m["name"]
        if m["letter"]:  # -d, -p, -o
            return _letter(m)
        if m[0].startswith("'"):  # a name or a file stays
            return m[0]
        if not name:  # -Wname, or -W alone
            return f'warnings="{m["warning"]}"' if m["warning"] else "warnings"
        if name == "list-devices":  # has a function of its own
            return "pcc.devices()"
        if name not in settings:  # an option of the program
            return m[0] if m["pcc"] else f"pcc {m[0]}"
        word = python_name(name)
        if m["value"]:  # --name=value
            return f"{word}={_literal(m['value'])}"
        if m["key"] and name in repeated:  # --dim x=4
            return f'{word}={{"{m["key"]}": {_literal(m["of"])}}}'
        return word + m[0][len("--" + name):]  # --name; the text behind it stays

    return _OPTION.sub(option, text)
