#!/usr/bin/env python3
"""Classes of nodes that close a cycle: what plans of any shape make of them, and parts that run.

usage: test_cut_classes.py   (environment: PCC, PCC_SOURCE)

1. State that goes once around a model: reader and producer share a device, what is between need not.  The plan
   has several parts on that device, takes what all assignments take at least, and ONNX Runtime runs the parts with
   the bits of the whole.  Random models with several such pairs, random plans: the same bits.
2. Values of unknown type cannot cross between parts: the nodes of such a cycle stay in one part, which
   is said, whatever plan is given for the others.

Exit: 0 pass, 1 fail, 77 skip (no ONNX Runtime)."""
import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from with_ort import FAILED, SOURCE, check  # first: it skips the test without ONNX Runtime
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(SOURCE / "tools/bench"))
from common import PCC, Run  # noqa: E402
from weights import verify  # noqa: E402

WIDTH = 8
GIVEN = "plan{{from={}:effort=0}}"


def weight(name, rng):
    return numpy_helper.from_array(rng.standard_normal((WIDTH, WIDTH)).astype(numpy.float32) / 4, name)


def info(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, WIDTH])


def save(path, nodes, inputs, outputs, weights, opsets=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), *opsets], ir_version=8)
    onnx.save(model, path)


def costs(path, times):
    path.write_text("name,time\n" + "".join(f"{n},{t}us\n" for n, t in times.items()))
    return path


def around(folder):
    """x + s -> four MatMuls -> Tanh is the new s; the ends take 10 us, the others 20 each."""
    rng = numpy.random.default_rng(1)
    nodes = [helper.make_node("Add", ["x", "s_in"], ["v0"], "first")]
    nodes += [helper.make_node("MatMul", [f"v{i}", f"w{i}"], [f"v{i + 1}"], f"mid{i}") for i in range(4)]
    nodes += [helper.make_node("Tanh", ["v4"], ["s_out"], "last"),
              helper.make_node("Neg", ["v4"], ["y"], "extra")]
    path = folder / "around.onnx"
    save(path, nodes, [info("x"), info("s_in")], [info("s_out"), info("y")], [weight(f"w{i}", rng) for i in range(4)])
    times = {"first": 10, "last": 10, "extra": 20, **{f"mid{i}": 20 for i in range(4)}}
    return path, costs(folder / "around.csv", times)


def same(model, folder):
    code, line = verify(model, folder, None)
    check(code == 0, f"{folder.name}: {line}")


def parts_of(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    return manifest, {p["file"]: p["device"] for p in manifest["parts"]}


def test_around(folder):
    model, table = around(folder)
    out = folder / "around"
    run = Run([PCC, model, "-d", "2xa100", "--link", "1TB/s,0us", "--part-cost=0", "--costs", table, "--state",
               "s_in=s_out",
               "--pictures=none", "-o", out]).need()
    manifest, device = parts_of(out)
    goal = manifest["objective"]
    # 120 us in all; with the ends together, 60 on each is the least: 10 + 10 + 2 * 20 against 3 * 20
    check(abs(goal["value_s"] - 60e-6) < 1e-7, f"around: {goal}")
    check(goal["status"] != "optimal" or goal["scope"] == "all", f"around: {goal}")
    check(len(device) >= 3 and len(set(device.values())) == 2, f"around: parts {device}")
    check("not contiguous" in run.out, run.out)
    same(model, out)
    Run([PCC, model, "-d", "2xa100", "--link", "1TB/s,0us", "--part-cost=0", "--costs", table, "--state", "s_in=s_out",
         "-p", "dp-place", "--pictures=none", "-o", folder / "chain"]).need()
    goal = parts_of(folder / "chain")[0]["objective"]
    check(goal["scope"] == "contiguous" and goal["bound_all_s"] <= 60.001e-6, f"chain: {goal}")


def random_states(seed, folder):
    """A chain with skips, state pairs across it, and a plan at random that keeps pairs together."""
    pick = random.Random(seed)
    n, pairs = pick.randint(4, 12), pick.randint(1, 3)
    nodes, inputs, outputs, states, dev = [], [info("x")], [], [], {}
    values = ["x"]
    for i in range(n):
        a, b = values[-1], pick.choice(values)
        nodes.append(helper.make_node(pick.choice(["Add", "Mul", "Sub"]), [a, b], [f"v{i}"], f"n{i}"))
        values.append(f"v{i}")
        dev[f"n{i}"] = pick.randrange(3)
    for k in range(pairs):
        first, last = sorted(pick.sample(range(n), 2))
        inputs.append(info(f"in{k}"))
        outputs.append(info(f"out{k}"))
        nodes[first].input[1] = f"in{k}"
        nodes.append(helper.make_node("Tanh", [f"v{last}"], [f"out{k}"], f"t{k}"))
        states += ["--state", f"in{k}=out{k}"]
        dev[f"t{k}"] = dev[f"n{first}"]
    outputs.append(info(f"v{n - 1}"))
    path = folder / "random.onnx"
    save(path, nodes, inputs, outputs, [])
    plan = folder / "random.plan"
    # two pairs may have one reader: their producers go where it is
    plan.write_text("".join(f"^{name}$=acc{d}\n" for name, d in dev.items()))
    return path, states, plan


def test_random(folder, cases):
    several = 0
    for seed in range(cases):
        model, states, plan = random_states(seed, folder)
        out = folder / f"random{seed}"
        run = Run([PCC, model, "-d", "3xa100", *states, "-p", GIVEN.format(plan), "-q", "--pictures=none", "-o",
                   out])
        if not check(run.rc == 0, f"random {seed}: {run.out}"):
            continue
        device = parts_of(out)[1]
        several += len(device) > len(set(device.values()))
        same(model, out)
    check(several >= cases // 2, f"only {several} of {cases} have several parts on a device")


def test_unknown(folder):
    """foreign -> (Cast -> Neg -> Neg ->) foreign, which reads the first's result of unknown type, too."""
    nodes = [helper.make_node("Abs", ["x"], ["a"], "before"),
             helper.make_node("Foreign", ["a"], ["f"], "foreign", domain="test"),
             helper.make_node("Cast", ["f"], ["c"], "cast", to=TensorProto.FLOAT),
             helper.make_node("Neg", ["c"], ["d"], "neg0"), helper.make_node("Neg", ["d"], ["e"], "neg1"),
             helper.make_node("Foreign", ["f", "e"], ["g"], "join", domain="test"),
             helper.make_node("Cast", ["g"], ["h"], "after", to=TensorProto.FLOAT),
             helper.make_node("Exp", ["h"], ["y"], "last")]
    model = folder / "unknown.onnx"
    save(model, nodes, [info("x")], [info("y")], [], [helper.make_opsetid("test", 1)])
    table = costs(folder / "unknown.csv", {n.name: 20 for n in nodes})
    out = folder / "unknown"
    run = Run([PCC, model, "-d", "2xa100", "--link", "1TB/s,0us", "--part-cost=0", "--costs", table, "-p",
               "auto-place{gain=0}", "--pictures=none", "-o", out]).need()
    manifest = parts_of(out)[0]
    homes = {f: [p for p, names in manifest["nodes"].items() if f in names] for f in
             ("foreign", "cast", "neg0", "neg1", "join", "after")}
    check(len({tuple(v) for v in homes.values()}) == 1, f"unknown: {homes}")
    check("stay in one part" in run.out, run.out)
    check(all(t["type"] == "f32" for t in manifest["tensors"]), f"unknown: {manifest['tensors']}")
    plan = folder / "apart.plan"
    plan.write_text("neg0=acc1\n.=acc0\n")
    run = Run([PCC, model, "-d", "2xa100", "-p", GIVEN.format(plan)])
    check(run.rc == 1 and "must share a device" in run.out, f"apart: {run.rc} {run.out}")
    plan.write_text("before|last=acc1\n.=acc0\n")
    Run([PCC, model, "-d", "2xa100", "-p", GIVEN.format(plan), "-q", "--pictures=none", "-o",
         folder / "ends"]).need()
    check(len(parts_of(folder / "ends")[1]) == 3, "ends: parts")


def test_late(folder):
    """foreign's result of unknown type is read by join, which waits for acc1 and that for acc0: three parts, with
    foreign in the third."""
    nodes = [helper.make_node("Abs", ["x"], ["u"], "first"), helper.make_node("Foreign", ["x"], ["f"], "foreign",
                                                                             domain="test"),
             helper.make_node("Neg", ["u"], ["z"], "other"),
             helper.make_node("Foreign", ["f", "z"], ["g"], "join", domain="test"),
             helper.make_node("Cast", ["g"], ["y"], "last", to=TensorProto.FLOAT)]
    model = folder / "late.onnx"
    save(model, nodes, [info("x")], [info("y")], [], [helper.make_opsetid("test", 1)])
    plan = folder / "late.plan"
    plan.write_text("other=acc1\n.=acc0\n")
    Run([PCC, model, "-d", "2xa100", "-p", GIVEN.format(plan), "-q", "--pictures=none", "-o",
         folder / "late"]).need()
    manifest, device = parts_of(folder / "late")
    check(len(device) == 3, f"late: {device}")
    check([sorted(n) for n in manifest["nodes"].values()] == [["first"], ["other"], ["foreign", "join", "last"]],
          f"late: {manifest['nodes']}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        test_around(folder)
        test_random(folder, 12)
        test_unknown(folder)
        test_late(folder)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
