"""backends/split/manifest.md documents what manifests have.

Every property of manifest.schema.json stands in the page, and the page has no others; its example obeys the schema. The
keys of real manifests (with states, copies, orders, replicas, training) are all in the schema, and its `$id` ends in
their version. Needs jsonschema (else 77)."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish

try:
    import jsonschema
except ImportError:
    print("skipped: the Python package jsonschema is not installed")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
PCC = os.environ.get("PCC", "pcc")
GEN = os.environ.get("PCC_GEN", "pcc-gen")
PAGE = (ROOT / "backends/split/manifest.md").read_text()
SCHEMA = json.loads((ROOT / "backends/split/manifest.schema.json").read_text())
SPLITS = [
    ("gpt --kv --layers 1 --width 16 --heads 2 --vocab 20", "-d 2xa100"),
    ("gpt --kv --layers 2 --width 16 --heads 2 --vocab 20", "-d 2xa100,1xcpu --objective=makespan --part-cost=1us"),
    ("resnet --depth 18 --size 32 --width 8 --classes 10", "-d 4xa100 --replicate"),
    ("train --layers 2 --width 16 --heads 2 --vocab 20",
     "-d 2xv100 --objective=iteration-time --micro-batches 4 -p pipeline-place"),
]


def properties(schema, found, at=""):
    """Every property that the schema names -> where."""
    for name, inner in schema.get("properties", {}).items():
        found.setdefault(name, set()).add(at)
        properties(inner, found, f"{at}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            properties(schema[key], found, at + "[]")
    return found


def closed(schema):
    """The schema with no keys but those that it names."""
    if isinstance(schema, list):
        return [closed(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    shut = {k: closed(v) if k not in ("if", "then", "allOf") else v for k, v in schema.items()}
    if "properties" in schema and "additionalProperties" not in schema:
        shut["additionalProperties"] = False
    return shut


def page():
    known = properties(SCHEMA, {})
    shown = {w for row in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE, re.M) for w in re.findall(r"`(\w+)`", row)}
    check(len(known) > 60, f"the schema has {len(known)} properties")
    check(set(known) == shown, f"in the schema alone {sorted(set(known) - shown)}, in the page alone "
          f"{sorted(shown - set(known))}")
    example = json.loads(re.search(r"```json\n(.*?)```", PAGE, re.S)[1])
    errors = [e.message for e in jsonschema.Draft202012Validator(closed(SCHEMA)).iter_errors(example)]
    check(not errors, f"the example: {errors[:3]}")
    check(SCHEMA["$id"] == f"urn:pcc:manifest:{SCHEMA['properties']['pcc_manifest']['const']}", SCHEMA["$id"])
    check(f"`{SCHEMA['$id']}`" in PAGE, "the page does not name the schema")


def real(temp):
    seen = set()
    for i, (generated, options) in enumerate(SPLITS):
        subprocess.run([GEN, *generated.split(), "-o", temp / "m.onnx"], check=True)
        r = subprocess.run([PCC, temp / "m.onnx", "-q", "-Wno-guessed-dim", "--pictures=none", "-o", temp / f"s{i}",
                            *options.split()], capture_output=True, text=True)
        if not check(r.returncode == 0, f"{generated}: {r.stderr}"):
            continue
        manifest = json.loads((temp / f"s{i}/manifest.json").read_text())
        seen |= set(manifest)
        errors = [f"{e.json_path}: {e.message}" for e in
                  jsonschema.Draft202012Validator(closed(SCHEMA)).iter_errors(manifest)]
        check(not errors, f"{generated} {options}: {errors[:3]}")
        jsonschema.Draft202012Validator(SCHEMA).validate({**manifest, "more": 1})
    wanted = {"training", "iteration", "replication", "states", "order", "dims", "copies"}
    check(wanted <= seen, f"no manifest has {sorted(wanted - seen)}")


def main():
    page()
    with tempfile.TemporaryDirectory() as temp:
        real(Path(temp))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
