#!/usr/bin/env python3
"""Writes passes/shapes/type_table.c: what the operators' schemas say about element types.

    type_table.py [--check]

The schemas are those of the Python packages onnx (all versions of its own domains) and onnxruntime (com.microsoft, and
what is left in ai.onnx of old experiments).  Of each only this is kept: which operands and results are of one type, and
which are of a type that never varies.  Versions of an operator share a row if they agree in all operands and results
that both have.  --check compares instead of writing: exit 1 if the file is not what the installed packages give, 77 if
they are not installed.
"""
import sys
from collections import Counter
from pathlib import Path

try:
    import onnx.defs
    from onnxruntime.capi import onnxruntime_pybind11_state as ort
except ImportError as missing:
    print(f"skipped: {missing.name} is not installed")
    sys.exit(77)

TABLE = Path(__file__).resolve().parent.parent / "passes/shapes/type_table.c"
DOMAINS = ["ai.onnx", "ai.onnx.ml", "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc",
           "ai.onnx.preview"]
# Types that never vary, as letters; others are left open.
FIXED = {"tensor(float)": "f", "tensor(float16)": "h", "tensor(double)": "d", "tensor(int8)": "c",
         "tensor(int32)": "i", "tensor(int64)": "l", "tensor(uint8)": "u", "tensor(bool)": "b",
         "tensor(string)": "s", "tensor(float8e4m3fn)": "e"}
VARIABLES = "TUVWXYZABC"
HEAD = """\
/* Shape inference: what the schemas of operators say about element types.  Made by tools/type_table.py from
 * the Python packages onnx and onnxruntime; do not edit (tests/program/test_types.py compares).
 *
 * A row: operator, the first version of its domain that it holds for, and a letter for each operand and,
 * after the colon, for each result (type_table.h says what the letters mean). */
#include "passes/shapes/type_table.h"

// clang-format off: a row on each line
"""


def formals(parameters):
    """For each operand or result: (its type, whether it is a list, whether all of the list have one type)."""
    return [(getattr(p, "type_str", None) or p.typeStr, "variadic" in str(p.option).lower(),
             p.is_homogeneous if hasattr(p, "is_homogeneous") else p.isHomogeneous) for p in parameters]


def letters(schema):
    """The letters of a schema for operands and results, such as ('TT', 'T')."""
    allowed = {t.type_param_str: list(t.allowed_type_strs) for t in schema.type_constraints}
    sides = formals(schema.inputs), formals(schema.outputs)
    uses = Counter()  # of a type: operands and results that have it; a list counts as two if all have one type, else 0
    for kind, many, alike in sides[0] + sides[1]:
        uses[kind] += (2 if alike else 0) if many else 1
    names = {}  # type: its letter

    def letter(kind, many, alike):
        """The letter of an operand or result: of FIXED for a type that never varies, of VARIABLES for a type that
        another one has, too, else "."; with "*" for a list."""
        types = allowed.get(kind, [kind])
        if many and not alike:
            c = "."
        elif len(types) == 1 and types[0] in FIXED:
            c = FIXED[types[0]]
        elif kind not in allowed or uses[kind] < 2:
            c = "."
        else:
            c = names.setdefault(kind, VARIABLES[len(names)])
        return c + ("*" if many else "")
    return tuple("".join(letter(*p) for p in side) for side in sides)


def shared(a, b):
    """The letters, as letters() gives them, that serve for both versions a and b: the longer ones, if the others are
    their beginning on both sides. None: the versions differ."""
    if all(y.startswith(x) for x, y in zip(a, b)):
        return b
    return a if all(x.startswith(y) for x, y in zip(a, b)) else None


def rows():
    """domain -> [(operator, version, letters)], sorted by name (bytewise) and version."""
    found = {}
    schemas = [*ort.get_all_operator_schema(), *onnx.defs.get_all_schemas_with_history()]  # onnx's last: they win
    for s in schemas:
        found.setdefault(s.domain or "ai.onnx", {}).setdefault(s.name, {})[s.since_version] = letters(s)
    table = {}
    for domain in DOMAINS:
        for name, versions in sorted(found[domain].items()):
            made = []  # rows of the operator: (version, letters)
            for since, pair in sorted(versions.items()):
                both = shared(made[-1][1], pair) if made else None
                if both:
                    made[-1] = made[-1][0], both
                else:
                    made.append((since, pair))
            if len(made) > 1 or set("".join(made[0][1])) - set(".*"):  # it says something
                table.setdefault(domain, []).extend((name, since, ":".join(pair)) for since, pair in made)
    return table


def text():
    """The whole text of type_table.c."""
    out = [HEAD]
    table = rows()
    for domain, lines in table.items():
        out.append(f"static const struct type_row {domain.replace('.', '_')}[] = {{")
        out += [f'    {{"{name}", {since}, "{letters}"}},' for name, since, letters in lines]
        out.append("};\n")
    out.append("const struct type_domain type_domain[TYPE_DOMAINS] = {")
    for domain in table:
        name = domain.replace(".", "_")
        out.append(f'    {{"{domain}", {name},\n     sizeof {name} / sizeof *{name}}},')
    return "\n".join(out) + "\n};\n"


def main():
    if "--check" not in sys.argv[1:]:
        TABLE.write_text(text(), encoding="utf-8")
        return 0
    if TABLE.read_text(encoding="utf-8") == text():
        return 0
    print(f"{TABLE} is not what the installed packages give: run {sys.argv[0]}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
