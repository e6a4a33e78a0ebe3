#!/usr/bin/env python3
"""Plans that are not contiguous: several parts on a device, in an order that is legal to run.

usage: test_noncontiguous.py   (environment: PCC, PCC_GEN, PCC_SOURCE)

1. Generated models (a decoder, experts, a U-Net, a training graph) with plans at random: a device for each
   class of nodes, runs, stripes.  ONNX Runtime runs the parts in the order of the manifest, with the bits of the
   whole; the parts of a device are listed with it; what crosses leads from earlier parts to later ones.
2. Contiguous plans leave one part on a device (in training one forward and one backward), two
   interleaved branches as many parts as they need.
3. The check of the order notices parts cut by each device's own levels, whose quotient can be cyclic.

Exit: 0 pass, 1 fail, 77 skip (no ONNX Runtime)."""
import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from sanitized import SANITIZED
from with_ort import FAILED, SOURCE, check  # first: it skips the test without ONNX Runtime
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(SOURCE / "tools/bench"))
from common import PCC, PCC_GEN, Run  # noqa: E402
from noncontiguous import KINDS, LINK, choose, classes, write_plan  # noqa: E402
from weights import verify  # noqa: E402

MODELS = {"gpt": ["gpt", "--layers", 3, "--width", 32, "--heads", 2, "--vocab", 64, "--kv"],
          "moe": ["moe", "--layers", 2, "--width", 32, "--heads", 2, "--kv-heads", 1, "--ffn", 32, "--experts", 4,
                  "--vocab", 64],
          "unet": ["unet", "--layers", 1, "--width", 8, "--size", 16],
          "train": ["train", "--layers", 1, "--width", 16, "--heads", 2, "--vocab", 32]}


def split(model, devices, groups, dev, folder):
    """The manifest of a plan's split."""
    plan = write_plan(folder / "plan.json", groups, dev, devices)
    Run([PCC, model, "-d", f"{devices}xa100", *LINK, "-p", f"plan{{from={plan}:effort=0}}", "-q", "--pictures=none",
         "-o", folder / "split"]).need()
    return json.loads((folder / "split/manifest.json").read_text())


# ---- quotients


def in_order(edges, n):
    """Whether parts 0 ... n - 1 can run in some order."""
    need = {k: {a for a, b in edges if b == k and a != k} for k in range(n)}
    while need:
        free = [k for k in need if not need[k] & need.keys()]
        if not free:
            return False
        for k in free:
            del need[k]
    return True


def reads(model, placed):
    """Placed node -> placed nodes that it reads from, directly or through others; in order."""
    made, found = {}, {}

    def names(node):
        for a in node.attribute:
            for g in [a.g] * a.HasField("g") + list(a.graphs):
                for inner in g.node:
                    yield from names(inner)
        yield from node.input

    for node in onnx.load(str(model)).graph.node:
        sources = set().union(*(made.get(name, set()) for name in names(node)))
        if node.name in placed:
            found[node.name] = sources
            sources = {node.name}
        made.update(dict.fromkeys(node.output, sources))
    return found


def own_levels(found, device):
    """Parts cut wrongly: (device, level), a level more than the nodes of the device that lead here through others."""
    level, above = {}, {}  # above: device -> the level that a node there would have that reads this one
    for v, sources in found.items():
        d = device[v]
        level[v] = max((above[u].get(d, 0) for u in sources), default=0)
        above[v] = {}
        for u in sources:
            for k, lv in above[u].items():
                above[v][k] = max(above[v].get(k, 0), lv + (k != d and k == device[u]))
        above[v][d] = max(above[v].get(d, 0), level[v])
    return {v: (device[v], level[v]) for v in found}


def quotient(found, part):
    ids = {k: i for i, k in enumerate(sorted(set(part.values())))}
    return {(ids[part[u]], ids[part[v]]) for v in found for u in found[v]}, len(ids)


def check_order(manifest, model, what):
    """The parts against the model's edges; whether cutting by each device's own levels would be wrong here."""
    rank = {p["file"]: k for k, p in enumerate(manifest["parts"])}
    part = {name: rank[file] for file, names in manifest["nodes"].items() for name in names}
    device = {name: manifest["parts"][k]["device"] for name, k in part.items()}
    found = reads(model, part)
    check(found.keys() == part.keys(), f"{what}: nodes of the parts are not those of the model")
    check(all(part[u] <= part[v] for v in found for u in found[v]), f"{what}: a part reads from a later one")
    check(in_order(*quotient(found, part)), f"{what}: a cyclic quotient")
    for t in manifest["tensors"]:
        check(all(rank[t["from"]] < rank[to] for to in t["to"]), f"{what}: {t['name']} leads back")
    for d in manifest["devices"]:
        right = [p["file"] for p in manifest["parts"] if p["device"] == d["name"]]
        check(d["parts"] == right, f"{what}: {d['name']} lists {d['parts']}, its parts are {right}")
    return not in_order(*quotient(found, own_levels(found, device)))


# ---- models


def generated(tmp):
    """How many splits have several parts on a device, how many plans the wrong cut would leave cyclic."""
    several = cyclic = splits = 0
    for name, options in MODELS.items():
        model = tmp / f"{name}.onnx"
        Run([PCC_GEN, *options, "-o", model]).need()
        groups, why = classes(model)
        check(groups, f"{name}: {why}")
        for devices in (3,) if SANITIZED else (3, 4):
            for kind in KINDS:
                what = f"{name} over {devices}, {kind}"
                dev = choose(kind, len(groups), devices, random.Random(what))
                manifest = split(model, devices, groups, dev, tmp)
                code, text = verify(model, tmp / "split", None)
                check(code == 0, f"{what}: {text}")
                cyclic += check_order(manifest, model, what)
                several += len(manifest["parts"]) > len({p["device"] for p in manifest["parts"]})
                splits += 1
            dev = [k * devices // len(groups) for k in range(len(groups))]
            parts = [p["device"] for p in split(model, devices, groups, dev, tmp)["parts"]]
            want = [f"acc{k}" for k in range(devices)]
            if name == "train":  # forward, and back again
                want += want[-2::-1]
            check(parts == want, f"{name}: a contiguous plan over {devices} has parts on {parts}")
    return splits, several, cyclic


def branches(tmp):
    """Chains p and q of one input: the devices of their nodes, the parts they need."""
    for p, q, parts in [("000", "111", 2), ("010", "111", 3), ("01", "10", 3), ("010", "101", 4), ("012", "210", 5)]:
        nodes, names, dev = [], [], []
        for letter, chain in (("p", p), ("q", q)):
            for k, d in enumerate(chain):
                name = f"{letter}{k}"
                nodes.append(helper.make_node("Exp", [f"{letter}{k - 1}" if k else "x"], [name], name=name))
                names.append([name])
                dev.append(int(d))
        outs = [helper.make_tensor_value_info(f"{c}{len(p) - 1}", TensorProto.FLOAT, [4]) for c in "pq"]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])], outs)
        model = tmp / "branches.onnx"
        onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)]), str(model))
        manifest = split(model, 3, names, dev, tmp)
        what = f"branches {p} and {q}"
        check(len(manifest["parts"]) == parts, f"{what}: {len(manifest['parts'])} parts, expected {parts}")
        check(check_order(manifest, model, what) == ((p, q) in [("01", "10"), ("010", "101"), ("012", "210")]),
              f"{what}: whether a cut by own levels is cyclic")
        code, text = verify(model, tmp / "split", None)
        check(code == 0, f"{what}: {text}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        branches(Path(folder))
        splits, several, cyclic = generated(Path(folder))
    check(several > splits / 2, f"only {several} of {splits} plans need several parts on a device")
    check(cyclic > splits / 4, f"only {cyclic} of {splits} plans are cut wrongly by own levels")
    print(f"{splits} splits, {several} with several parts on a device, {cyclic} where own levels would be wrong, "
          f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
