"""support/schema_fast.py answers as jsonschema does: for each keyword, and for the schemas of split folders, piece by
piece, with values of every type, drawn objects and drawn lists. Needs jsonschema (else 77)."""
import json
import os
import random
import sys
from pathlib import Path

ROOT = Path(os.environ.get("PCC_SOURCE") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT / "tests/support"))
import schema_fast
from checks import check, finish

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: the Python package jsonschema is not installed")
    sys.exit(77)

VALUES = [None, True, False, 0, 1, -1, 7, 10**30, 0.5, 1.0, float("inf"), "", "x", "..", "a/b", "part0.onnx", "0" * 64,
          "x" * 300, [], [1], [1, 1], ["a", "a"], ["a", "b"], [1, "a", None], {}, {"a": 1}, {"a": "x", "b": 2}]
DRAWN = 6  # objects and lists for each piece of a schema
KEYWORDS = [
    {"type": ["integer", "null"]}, {"type": "number"}, {"type": "integer"}, {"enum": [1, "a", None, False]},
    {"const": 1}, {"const": True}, {"minimum": 1, "maximum": 7}, {"minLength": 1, "maxLength": 2},
    {"pattern": "^[a-x]+$"},
    {"items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
    {"items": {}, "uniqueItems": True, "type": "array"},
    {"prefixItems": [{"const": 1}, {"const": "a"}]}, {"prefixItems": [{"type": "string"}], "items": False},
    {"properties": {"a": {"const": 1}}, "additionalProperties": False}, {"additionalProperties": {"type": "integer"}},
    {"propertyNames": {"enum": ["a"]}}, {"required": ["a"]}, {"dependentRequired": {"a": ["b"]}},
    {"not": {"type": "null"}}, {"allOf": [{"minimum": 1}, {"maximum": 7}]},
    {"anyOf": [{"type": "string"}, {"const": 7}]}, True, False,
    {"oneOf": [{"type": "integer"}, {"minimum": 1}]}, {"if": {"type": "string"}, "then": {"minLength": 2}},
    {"if": {"type": "object"}, "then": {"required": ["b"]}, "else": {"type": "array"}}, {"then": False, "else": False},
    {"$ref": "#/$defs/d", "minimum": 1, "$defs": {"d": {"type": "integer"}}},
]


def pieces(schema):
    """Every schema within a schema."""
    if isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            if key in ("properties", "$defs"):
                for below in value.values():
                    yield from pieces(below)
            elif key not in ("enum", "const", "required", "dependentRequired"):
                for below in value if isinstance(value, list) else [value]:
                    yield from pieces(below)


def drawn(draw, piece, root):
    """An object with some of the piece's properties, or a list: of values that may obey, one level down."""
    def value(schema):
        schema = root["$defs"][schema["$ref"].split("/")[-1]] if "$ref" in schema else schema
        choices = schema.get("enum") or [schema[k] for k in ("const", "minimum") if k in schema] or VALUES
        return draw.choice(choices if draw.random() < 0.8 else VALUES)
    names = {**piece.get("properties", {}), **{n: {} for n in piece.get("required", ())}}
    if names:
        return {n: value(names[n] if isinstance(names[n], dict) else {}) for n in names if draw.random() < 0.9}
    return [value(piece["items"] if isinstance(piece.get("items"), dict) else {}) for _ in range(draw.randrange(4))]


def compare(schema, values):
    known = 0
    fast, slow = schema_fast.Schema(schema), Draft202012Validator(schema)
    for v in values:
        try:
            got = fast.accepts(v)
        except KeyError:  # it does not know
            continue
        known += 1
        check(got == slow.is_valid(v), f"{json.dumps(schema)[:200]}: {str(v)[:100]}: {got}")
    return known


def main():
    draw = random.Random(5)
    known = sum(compare(schema, VALUES) for schema in KEYWORDS)
    check(known >= len(KEYWORDS) * len(VALUES) * 0.9, f"{known} answers about keywords")
    for name in ("manifest", "schedule"):
        root = json.loads((ROOT / f"backends/split/{name}.schema.json").read_text(encoding="utf-8"))
        found = list(pieces(root))
        known = sum(compare({**p, "$defs": root["$defs"]},
                            [*draw.sample(VALUES, 9), *(drawn(draw, p, root) for _ in range(DRAWN))]) for p in found)
        check(known >= len(found) * (9 + DRAWN) * 0.9, f"{known} answers about {len(found)} pieces of {name}")
    for unknown in ({"minProperties": 1}, {"$ref": "other.json"}):
        try:
            check(not schema_fast.Schema(unknown).accepts(1), f"{unknown} is passed over")
            check(False, f"{unknown} is known")
        except KeyError:
            pass
    return finish()


sys.exit(main())
