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
    ("resnet --depth 18 --size 32 --width 8 --classes 10", "-d 4xa100 --replicate --for=triton"),
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


def whole_one(temp):
    """The example of a whole manifest is what its commands write, up to lists that end in "..."."""
    section = PAGE.partition("\n## A whole one\n")[2]
    commands, text = re.match(r"\n((?:    [^\n]*\n)+).*?```json\n(.*?)```", section, re.S).groups()
    gen, pcc = (line.split() for line in commands.splitlines())
    check((gen[0], pcc[0]) == ("pcc-gen", "pcc"), f"commands of the example: {gen} {pcc}")
    subprocess.run([GEN, *gen[1:]], check=True, cwd=temp)
    subprocess.run([PCC, *pcc[1:], "-q", "--pictures=none"], check=True, cwd=temp)
    found, shown = json.loads((temp / "split/manifest.json").read_text()), json.loads(text)
    for part, names in shown["nodes"].items():
        check(names[-1] == "..." and names[:-1] == found["nodes"][part][:len(names) - 1], f"nodes of {part}")
    found["nodes"] = shown["nodes"]
    different = [k for k in {*found, *shown} if found.get(k) != shown.get(k)]
    check(not different, f"the page's whole manifest differs from what its commands write: {different}")


def memory(temp):
    """What the page says of bytes holds, and its examples are of the third device of README.md's session."""
    gen, run = re.findall(r"^\$ pcc(?:-gen)? (.*)$", (ROOT / "README.md").read_text(), re.M)[:2]
    subprocess.run([GEN, *gen.split()], check=True, cwd=temp)
    subprocess.run([PCC, *run.split(), "-q", "-Wno-guessed-dim", "--pictures=none"], check=True, cwd=temp)
    manifest = json.loads((temp / "split/manifest.json").read_text())
    parts = {p["file"]: p for p in manifest["parts"]}
    for section, row in (("devices", manifest["devices"][2]), ("parts", manifest["parts"][2])):
        rows = re.search(rf"^## `{section}`\n(.*?)^## ", PAGE, re.M | re.S)[1]
        for key, example in re.findall(r"^\| `((?:used|weights|lasting|live_peak)_bytes)` .* `(\d+)` \|$", rows, re.M):
            check(row[key] == int(example), f"{section}: {key} is {row[key]}, the page has {example}")
    for d in manifest["devices"]:
        own = [parts[p] for p in d["parts"]]
        check(d["weights_bytes"] == sum(p["lasting_bytes"] for p in own), f"{d['name']}: what lasts")
        check(d["live_peak_bytes"] <= max(p["live_peak_bytes"] for p in own), f"{d['name']}: most at once")
    listed = {n for names in manifest["nodes"].values() for n in names}
    copies = manifest["copies"]["nodes"]
    check(copies and not listed & set(copies), f"copies {copies} are in nodes, too")
    check(manifest["devices"][2]["weights_bytes"] - manifest["parts"][2]["weights_bytes"] == 5120000, "the embedding")


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
    wanted = {"training", "iteration", "replication", "states", "order", "dims", "copies", "exports"}
    check(wanted <= seen, f"no manifest has {sorted(wanted - seen)}")


def main():
    page()
    with tempfile.TemporaryDirectory() as temp:
        real(Path(temp))
        whole_one(Path(temp))
        memory(Path(temp))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
