#!/usr/bin/env python3
"""Writes the table of devices in ir/cluster/cluster.md: the classes that pcc knows by name.

    device_table.py [--check]

What it writes is what `pcc --list-devices` and `pcc --list-devices=NAME` say; PCC names the program (default: pcc).
--check compares instead of writing: exit 1 if the page has another table.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "ir/cluster/cluster.md"
HEAD = ("| preset | or | peak operations per second | memory | its bandwidth | times by | per operator | "
        "link to the host |\n|---|---|---|---|---|---|---|---|\n")
ORDER = ("f64", "f32", "tf32", "f16", "bf16")
TABLE = re.compile(r"^\| preset \|.*\n(?:\|.*\n)*", re.M)


def pcc(*args):
    """What pcc prints when it is called with these arguments."""
    return subprocess.run([os.environ.get("PCC", "pcc"), *args], check=True, capture_output=True, text=True).stdout


def names():
    """Yields (name, other name, where its times come from) of each class, in order."""
    for line in pcc("--list-devices").splitlines()[1:]:
        m = re.match(r"([\w-]+) .*/s  (\w+)(?:, or ([\w-]+))?$", line)
        if not m:  # the first line behind the classes
            return
        yield m[1], m[3] or "", m[2]


def short(rate):
    """Operations per second, as pcc prints them, in the form of the table: "19.5T" for "19500G"."""
    number, unit = re.fullmatch(r"(\d+)([kMGT]?)", rate).groups()
    value = int(number) * {"": 1, "k": 10 ** 3, "M": 10 ** 6, "G": 10 ** 9, "T": 10 ** 12}[unit]
    scale, letter = (10 ** 12, "T") if value >= 10 ** 12 else (10 ** 9, "G")
    return f"{value / scale:g}{letter}"


def peaks(by_type):
    """The peaks of a class as text, such as "f64 9.7T, f16 and bf16 312T": types of equal rate together, in the order
    of ORDER, then the others."""
    rates = {}
    for kind in sorted(by_type, key=lambda t: ORDER.index(t) if t in ORDER else len(ORDER)):
        rates.setdefault(short(by_type[kind]), []).append(kind)
    return ", ".join(f"{', '.join(types[:-1])}{' and ' if types[1:] else ''}{types[-1]} {rate}"
                     for rate, types in rates.items())


def rows(count=8):
    """The rows of the table as text, a class each. count: number of classes that one call of pcc tells about, as a
    cluster of these classes: at most CLUSTER_CLASSES (ir/cluster/cluster.h)."""
    known = list(names())
    for at in range(0, len(known), count):
        some = known[at:at + count]
        said = json.loads(pcc("--list-devices=" + ",".join(n for n, *_ in some)))["classes"]
        for (name, also, by), k in zip(some, said):
            link = "{bandwidth}, {latency}".format(**k["link"]) if "link" in k else "none"
            host = " (host)" if k.get("host") else ""
            yield (f"| `{name}`{host} | {f'`{also}`' if also else ''} | {peaks(k['peak'])} | {k['memory']} | "
                   f"{k['bandwidth']} | {by} | {k['overhead']} | {link} |\n")


def main():
    old = PAGE.read_text(encoding="utf-8")
    new = TABLE.sub(lambda _: HEAD + "".join(rows()), old, count=1)
    if sys.argv[1:] == ["--check"]:
        return int(new != old)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
