"""Plans come back: what pcc writes (plan JSON, split folder, manifest, annotated model, the placement
paper's splits) is read by plan{from} and --compare with the same figures, and cut into the same parts."""
# extras: shared
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
MODELS = {"gpt": ["gpt", "--layers", "4", "--width", "64", "--heads", "2", "--vocab", "200"],
          "kv": ["gpt", "--kv", "--layers", "3", "--width", "32", "--heads", "2", "--vocab", "64"]}


def pcc(*args, code=0):
    r = subprocess.run([PCC, *map(str, args), "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, timeout=300, check=False)
    check(r.returncode == code, f"{' '.join(map(str, args))}: exit {r.returncode}: {r.stderr[:400]}")
    return r


def load(path):
    return json.loads(Path(path).read_text())


def same_split(a, b, what):
    """Equal folders: all but what says who made the plan, and how good that one said it is."""
    names = sorted(p.name for p in a.iterdir())
    check(names == sorted(p.name for p in b.iterdir()), f"{what}: other files")
    for name in names:
        if Path(name).suffix in (".onnx", ".data"):
            check((a / name).read_bytes() == (b / name).read_bytes(), f"{what}: {name} differs")
    x, y = load(a / "manifest.json"), load(b / "manifest.json")
    check(x["objective"]["value_s"] == y["objective"]["value_s"], f"{what}: another value")
    del x["objective"], y["objective"]
    check(x == y, f"{what}: manifests differ")


def rows(text):
    """(time, bottleneck, memory, bytes cut) of the two rows of --compare."""
    found = [re.split(r"\s{2,}", line.strip())[:4] for line in text.splitlines()[1:3]]
    return [tuple(re.sub(r"\s+", " ", c) for c in row) for row in found]


def generated(name, at):
    model, split = at / "m.onnx", at / "split"
    subprocess.run([PCC_GEN, *MODELS[name], "-o", model], check=True, stdout=subprocess.DEVNULL)
    cluster = ["-d", "3xa100"]
    for suffix in (".json", ".onnx"):
        pcc(model, "-p", "fuse,dp-place", *cluster, "-o", at / ("plan" + suffix))
    pcc(model, "-p", "fuse,dp-place", *cluster, "-o", split)
    value = load(at / "plan.json")["objective"]["value_s"]
    for source in ("plan.json", "split", "split/manifest.json", "plan.onnx"):
        again = at / "again"
        pcc(model, "-p", f"plan{{from={at / source}:effort=0}}", *cluster, "-o", again)
        same_split(split, again, f"{name} from {source}")
        pcc(model, "-p", f"plan{{from={at / source}:effort={int(source == 'split')}}}", *cluster, "-o", at / "out.json")
        said = load(at / "out.json")["objective"]
        check(said["value_s"] == value, f"{name} from {source}: another value")
        # a claim of the file counts for nothing, a bound of the judge's own does
        check(said["status"] in ("feasible", "heuristic") or "; bound: " in said["argument"],
              f"{name}: claims too much")
        two = rows(pcc(model, "-p", "fuse,dp-place", *cluster, "--compare", at / source).stdout)
        check(len(two) == 2 and two[0] == two[1], f"{name}: --compare {source} shows {two}")
    pcc(at / "plan.onnx", "-p", "plan{from=self:effort=0}", *cluster, "-o", at / "self.json")
    check(load(at / "self.json")["devices"] == load(at / "plan.json")["devices"],
          f"{name}: annotations give another plan")
    moved = load(at / "plan.json")  # a planted change: one node less
    gone = moved["devices"][0]["nodes"].pop()
    (at / "moved.json").write_text(json.dumps(moved))
    r = pcc(model, "-p", f"plan{{from={at / 'moved.json'}}}", *cluster, code=1)
    check(f"placed nodes have no device, the first is '{gone}'" in r.stderr, f"{name}: {r.stderr}")
    r = pcc(model, "-p", f"plan{{from={at / 'plan.json'}}}", "-d", "1xa100", code=1)
    check("there is no device 'acc1'" in r.stderr, f"{name}: one device: {r.stderr}")


def copies(at):
    """An annotated model says which devices take turns; one that was annotated again says it once, parts of another
    plan do not say it."""
    model, how = at / "gpt.onnx", ["-d", "4xa100", "--dim=batch=1,sequence=16", "--replicate", "-q"]
    subprocess.run([PCC_GEN, "gpt", "--layers", "1", "--width", "16", "--heads", "2", "--vocab", "20", "-o", model],
                   check=True, stdout=subprocess.DEVNULL)
    first, again = at / "first.onnx", at / "again.onnx"
    pcc(model, "-p", "auto-place", *how, "-o", first)
    two = rows(pcc(model, *how, "-p", "auto-place", "--compare", first).stdout)
    check(len(two) == 2 and two[0] == two[1], f"copies: --compare shows {two}")
    pcc(first, "-p", "plan{from=self:effort=0}", *how, "-o", again)
    data = first.read_bytes()
    check(data == again.read_bytes() and data.count(b"pcc.copies.acc0") == 1, "copies are not said once")
    pcc(first, "-p", "shard{ways=2}", "-d2xa100", how[2])  # devices and copies of the file do not count
    pcc(first, "-d1xa100", "--pictures=none", "-q", "-o", at / "parts")
    check(not any(b"pcc.copies" in p.read_bytes() for p in (at / "parts").glob("*.onnx")), "parts say old copies")
    r = pcc(model, "-p", f"plan{{from={first}}}", "-d3xa100", *how[2:], code=1)
    check("'acc0' has 4 copies: expected 1 to 3" in r.stderr, f"copies: {r.stderr}")


def workloads(at):
    for expert in sorted(extras.shared("workloads/experts").glob("*_inference_expert.json")):
        load_ = extras.shared("workloads/throughput") / expert.name.replace("_expert", "")
        pcc(load_, "-p", "dp-place", "-o", at / "w.json")
        pcc(load_, "-p", f"plan{{from={at / 'w.json'}}}", "-o", at / "again.json")
        check(load(at / "w.json") == load(at / "again.json"), f"{load_.name}: another split")
        two = rows(pcc(load_, "-p", "dp-place", "--compare", expert).stdout)
        check(len(two) == 2, f"{expert.name}: {two}")


def main():
    for name in [*MODELS][:1 if SANITIZED else None] if not extras.extra() else ():
        with tempfile.TemporaryDirectory() as folder:
            generated(name, Path(folder))
    if not extras.extra():
        with tempfile.TemporaryDirectory() as folder:
            copies(Path(folder))
    else:
        with tempfile.TemporaryDirectory() as folder:
            workloads(Path(folder))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
