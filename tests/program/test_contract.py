#!/usr/bin/env python3
"""What contract keeps together is in one part, and bits stay equal.

Quantised models: a chain of layers DequantizeLinear -> MatMul -> QuantizeLinear with residual branches
is made here; the folder of shared models has one of a real tool.  Each is split over 2, 3 and 4
devices.  With contract{qdq=first}, the default, every DequantizeLinear with one reader and every
QuantizeLinear is in the part of its operator; with qdq=none some are not, or this test would show
nothing.  Repeated layers: a generated GPT, the same with --keep-blocks; of shared models of PyTorch's exporter, whose
nodes have layers in their metadata only, the layers are counted.

Environment: PCC, PCC_GEN, PCC_SOURCE, PCC_SHARED.  Exit: 0 pass, 1 fail, 77 skip.
"""
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

from with_ort import GEN, PCC, verified_once  # first: it skips the test without ONNX Runtime
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, WIDTH = 10, 16


def quantised(path):
    rng = np.random.default_rng(5)
    nodes, inits = [], [numpy_helper.from_array(np.array(128, np.uint8), "zero")]

    def scale(name, value):
        inits.append(numpy_helper.from_array(np.array(value, np.float32), name))
        return name

    def pair(value):
        s = scale(value + "_s", 0.05)
        nodes.append(helper.make_node("QuantizeLinear", [value, s, "zero"], [value + "_q"], name=value + "/q"))
        nodes.append(helper.make_node("DequantizeLinear", [value + "_q", s, "zero"], [value + "_d"],
                                      name=value + "/dq"))
        return value + "_d"

    value = pair("x")
    for i in range(LAYERS):
        inits.append(numpy_helper.from_array(rng.integers(0, 255, (WIDTH, WIDTH)).astype(np.uint8), f"w{i}"))
        nodes.append(helper.make_node("DequantizeLinear", [f"w{i}", scale(f"w{i}_s", 0.004), "zero"],
                                      [f"w{i}_d"], name=f"w{i}/dq"))
        nodes.append(helper.make_node("MatMul", [value, f"w{i}_d"], [f"m{i}"], name=f"m{i}"))
        inner = pair(f"m{i}")
        if i % 3 == 2:
            nodes.append(helper.make_node("Add", [inner, value], [f"a{i}"], name=f"a{i}"))
            inner = pair(f"a{i}")
        value = inner
    nodes.append(helper.make_node("Relu", [value], ["y"], name="last"))
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4, WIDTH]) for n in "xy"]
    model = helper.make_model(helper.make_graph(nodes, "quantised", info[:1], info[1:], inits), ir_version=9,
                              opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(path))


def torn(model, folder):
    """Quantisation nodes that are in another part than the operator they belong to."""
    manifest = json.loads((folder / "manifest.json").read_text())
    part = {n: p for p, names in manifest["nodes"].items() for n in names}
    nodes = [n for n in onnx.load(str(model), load_external_data=False).graph.node if n.name in part]
    maker = {o: n for n in nodes for o in n.output}
    readers = {}
    for n in nodes:
        for x in n.input:
            readers.setdefault(x, set()).add(n.name)
    found = []
    for n in nodes:
        near = None
        if n.op_type == "QuantizeLinear" and n.input[0] in maker:
            near = maker[n.input[0]].name
        elif n.op_type == "DequantizeLinear" and len(readers.get(n.output[0], ())) == 1:
            near = next(iter(readers[n.output[0]]))
        if near and part[near] != part[n.name]:
            found.append(f"{n.name} / {near}")
    return found


def torn_layers(model, folder):
    """Scopes /h.N/ whose nodes are in several parts."""
    manifest = json.loads((folder / "manifest.json").read_text())
    parts = {}
    for part, names in manifest["nodes"].items():
        for n in names:
            layer = re.match(r"/h\.\d+/", n)
            parts.setdefault(layer and layer[0], set()).add(part)
    check(len(parts) > 6, f"{model.stem}: no layers in {folder.name}")
    return [layer for layer, p in parts.items() if layer and len(p) > 1]


def split(model, folder, devices, rule, *more):
    r = subprocess.run([PCC, model, "-q", "-p", f"contract{{{rule}}},dp-place", "-d", f"{devices}xa100",
                        "--link", "1TB/s,0us", "-o", folder, *more], capture_output=True, text=True, check=False)
    check(r.returncode == 0, f"{model.stem} over {devices}, {rule}: {r.stderr.strip()[-300:]}")
    return r.returncode == 0


def verify(model, folder, inputs):
    more = ["--inputs", str(inputs)] if inputs else []
    code, said = verified_once(model, folder, "--quiet", *more)
    check(code == 0, f"{folder.name}: {said[-300:]}")


def repeated(work):
    model, loose = work / "gpt.onnx", 0
    subprocess.run([GEN, "gpt", "--layers", "6", "--width", "32", "--heads", "2", "--vocab", "64", "-o", model],
                   check=True, stdout=subprocess.DEVNULL)
    for devices in (2, 3, 4):
        for more in ([], ["--keep-blocks"]):
            folder = work / f"gpt-{devices}{''.join(more)}"
            if not split(model, folder, devices, "norm=true", *more):
                continue
            apart = torn_layers(model, folder)
            loose += len(apart) if not more else 0
            check(not more or not apart, f"{folder.name}: torn apart: {apart[:3]}")
            if more:
                verify(model, folder, None)
    check(loose > 0, "gpt: no layer is torn apart without --keep-blocks: the test shows nothing")


def exported():
    for name, kept in (("bert_base_dyn", "11 of 12 layers repeat and stay whole: 11 x 46 nodes"),
                       ("vit_b16_dyn", "12 of 12 layers repeat and stay whole: 12 x 37 nodes"),
                       ("resnet50_dyn", "16 of 16 layers repeat and stay whole: 4 x 8 nodes, 12 x 7 nodes")):
        r = subprocess.run([PCC, extras.shared(f"models/exported/tiny/{name}.onnx"), "-v", "-p", "contract",
                            "--keep-blocks"], capture_output=True, text=True, check=False)
        check(kept in r.stderr, f"{name}: expected '{kept}': {r.stderr.strip()[-300:]}")


def together(work, model, inputs):
    loose = 0
    for devices in (2, 3, 4):
        for rule in ("qdq=first", "qdq=none", "norm=true"):
            folder = work / f"{model.stem}-{devices}-{rule}"
            if not split(model, folder, devices, rule):
                continue
            apart = torn(model, folder)
            loose += len(apart) if rule == "qdq=none" else 0
            check(rule == "qdq=none" or not apart, f"{folder.name}: torn apart: {apart[:3]}")
            if rule != "qdq=none":
                verify(model, folder, inputs)
    check(loose > 0, f"{model.stem}: qdq=none tears nothing apart: the test shows nothing")


def main():
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        if extras.extra():
            real = extras.shared("models/exported/tiny/bert_qdq.onnx")
            exported()
            together(work, real, real.with_suffix(".inputs") / "test_data_set_0")
        else:
            repeated(work)
            quantised(work / "chain.onnx")
            together(work, work / "chain.onnx", None)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
