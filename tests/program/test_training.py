#!/usr/bin/env python3
"""ONNX training graphs: forward and backward parts per device, equal to the whole in ONNX Runtime.

usage: test_training.py   (environment: PCC, PCC_GEN, PCC_SOURCE)

1. The graph of pcc-gen train, whose backward nodes say so by name, and the same graph with all names
   taken away, whose loss and updated parameters give the backward pass away: the same numbers of
   forward and backward nodes.
2. Split over 2 and 3 devices: forward parts run first, in the order in which the backward parts run
   last; every parameter's readers, gradient and update are on one device; verify_split.py agrees.
3. The other objectives: the judge agrees with the planner.
4. Without contract{training} the backward pass is not found (the check can fail).

Exit: 0 pass, 1 fail, 77 skip (no ONNX Runtime, no pcc).
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from with_ort import FAILED, GEN, PCC, SKIP, check, verified_once  # first: it skips the test without ONNX Runtime
from sanitized import SANITIZED
import onnx

QUICK = "dp-place{max-states=20000}"  # whether a better plan is there does not matter here


def run(*command):
    """Exit code and what the command says."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def passes_found(text):
    found = re.search(r"a training graph: (\d+) forward and (\d+) backward nodes", text)
    return found and (int(found[1]), int(found[2]))


def without_names(path, to):
    """The model with nodes and inner values numbered; inputs, outputs and weights keep their names."""
    model = onnx.load(path)
    graph = model.graph
    keep = {v.name for v in [*graph.input, *graph.output, *graph.initializer]}
    new = {}
    for i, node in enumerate(graph.node):
        node.name = f"n{i}"
        for name in node.output:
            if name and name not in keep:
                new[name] = f"v{len(new)}"
    for node in graph.node:
        node.input[:] = [new.get(name, name) for name in node.input]
        node.output[:] = [new.get(name, name) for name in node.output]
    del graph.value_info[:]
    onnx.save(model, to)


def device_of(folder):
    """Device of every node, devices of the parts, sides of the parts ('f', 'b', 'fb')."""
    manifest = json.loads((folder / "manifest.json").read_text())
    where, devices, sides = {}, [], []
    for part in manifest["parts"]:
        names = manifest["nodes"][part["file"]]
        back = [bool("_grad" in n or n.startswith("/sgd")) for n in names]
        devices.append(part["device"])
        sides.append("".join(s for s, has in (("f", not all(back)), ("b", any(back))) if has))
        where.update({n: part["device"] for n in names})
    return where, devices, sides


def check_split(model, folder, count):
    code, said = run(PCC, model, "-p", QUICK, "-d", f"{count}xa100", "--link", "1TB/s,0us",
                     "-q", "--dim", "batch=2", "-o", folder)
    check(code == 0, f"{count} devices: {said}")
    if code:
        return
    code, said = verified_once(model, folder)
    check(code == 0, f"{count} devices: {said}")
    where, devices, sides = device_of(folder)
    order = devices[:count]
    check(len(devices) == 2 * count - 1 and devices == order + order[-2::-1],
          f"{count} devices: parts on {devices}")
    # a backward node that needs forward values alone may run early
    check(all("f" in s for s in sides[:count]) and set(sides[count:]) == {"b"},
          f"{count} devices: parts hold {sides}")
    for node in onnx.load(model, load_external_data=False).graph.node:
        update = re.fullmatch(r"/sgd/(.*)/Sub", node.name)
        if not update:
            continue
        readers = [n.name for n in onnx.load(model).graph.node if update[1] in n.input]
        check(len({where[n] for n in readers if n in where}) == 1, f"{update[1]} is read on several devices")


def main():
    if not os.path.exists(PCC) or not os.path.exists(GEN):
        print("skipped: no pcc")
        return SKIP
    with tempfile.TemporaryDirectory() as tmp:
        tmp = Path(tmp)
        model, bare = tmp / "train.onnx", tmp / "bare.onnx"
        run(GEN, "train", "-o", model, "--layers", 3, "--width", 64, "--heads", 2, "--vocab", 200)
        without_names(model, bare)
        named, plain = (passes_found(run(PCC, m, "-p", "contract")[1]) for m in (model, bare))
        check(named and min(named) > 50, f"by name: {named}")
        check(named == plain, f"by name: {named}, by loss and updates: {plain}")
        check(not passes_found(run(PCC, model, "-p", "contract{training=false}")[1]),
              "training=false")
        ways = (["--schedule=gpipe"], ["--overlap=max"], ["--overlap=duplex", "--schedule=gpipe"],
                ["--replicate"], ["--replicate", "--schedule=gpipe"])
        for options in ways[2::2] if SANITIZED else ways:
            code, said = run(PCC, model, "-p", QUICK, "-d", "3xa100", "-q", "--part-cost=0", *options,
                             "-o", tmp / "plan.json")
            check(code == 0, f"{options}: {said}")
        code, said = run(PCC, model, "-p", "dp-place", "-d", "3xa100", "--replicate", "--pin", "lm_head=acc0",
                         "-o", tmp / "plan.json")
        check(code == 1 and "are pinned to devices of class 'a100'" in said, f"--replicate and --pin: {said}")
        for count in (2,) if SANITIZED else (2, 3):
            check_split(model, tmp / f"split{count}", count)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
