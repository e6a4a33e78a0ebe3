"""Odd models: the summary, the plan's table and the textual IR of models without nodes, with nothing
but constants, with weights listed as inputs, with outputs that are weights or inputs, of unknown,
zero-sized and string types, with bodies in bodies and repeated names. Needs onnx and numpy (else 77)."""
# once: sanitized
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: the Python packages onnx and numpy are not installed")
    sys.exit(77)

PCC = os.environ.get("PCC", "pcc")
FLOAT, BOOL, STRING = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.STRING
info, node = helper.make_tensor_value_info, helper.make_node


def pcc(*args):
    return subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, errors="replace")


def weight(name, shape=(2,)):
    return numpy_helper.from_array(np.ones(shape, np.float32), name)


def model(nodes, ins, outs, weights=(), ir=8):
    graph = helper.make_graph(nodes, "g", ins, outs, initializer=list(weights))
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    m.ir_version = ir
    return m


def vector(name):
    return info(name, FLOAT, [2])


def branch(name, nodes, out):
    return helper.make_graph(nodes, name, [], [vector(out)])


def nested(repeat):
    """z = If(c){ y = Relu(x); If(c){ x + y } else { x } } else { -x }, perhaps with x defined twice."""
    inner = helper.make_graph([node("Add", ["x", "y"], ["r"])], "inner", [], [vector("r")])
    same = branch("same", [], "x")
    outer = branch("outer", [node("Relu", ["x"], ["y"]),
                             node("If", ["c"], ["r"], then_branch=inner, else_branch=same)], "r")
    other = branch("other", [node("Neg", ["x"], ["r"])], "r")
    nodes = [node("Abs", ["i"], ["x"]), node("If", ["c"], ["z"], then_branch=outer, else_branch=other)]
    if repeat:
        nodes.append(node("Exp", ["i"], ["x"]))
    return model(nodes, [vector("i"), info("c", BOOL, [])], [vector("z")])


def many_inputs():
    """IR 3: 20 weights are inputs, too; the one true input stands last."""
    names = [f"w{i}" for i in range(20)]
    return model([node("Sum", names + ["x"], ["z"])], [vector(n) for n in names + ["x"]],
                 [vector("z")], [weight(n) for n in names], ir=3)


# name -> (model, lines of the summary)
MODELS = {
    "nothing": (model([], [vector("x")], [vector("x")]),
                ["operators   0 kinds", "input       x : f32[2]", "output      x : f32[2]"]),
    "weight_out": (model([], [], [vector("w")], [weight("w")]), ["output      w : f32[2]"]),
    "constants": (model([node("Constant", [], ["c"], value=weight("v"))], [], [vector("c")]),
                  ["nodes       1", "operators   1 kind: Constant 1", "output      c : f32[2]"]),
    "unknown": (model([node("Foo", ["x"], ["y"], domain="my.own"), node("Relu", ["y"], ["z"])],
                      [info("x", FLOAT, None)], [info("z", FLOAT, None)]),
                ["shapes      0 of 2 results known", "input       x : f32[...]"]),
    "empty": (model([node("MatMul", ["x", "w"], ["z"])], [info("x", FLOAT, [0, 4])],
                    [info("z", FLOAT, [0, 3])], [weight("w", (4, 3))]),
              ["work        0 FLOP per sample", "output      z : f32[0,3]"]),
    "strings": (model([node("Identity", ["s"], ["t"])], [], [info("t", STRING, [2])],
                      [helper.make_tensor("s", STRING, [2], [b"a\0b", b"\xff"])]),
                ["output      t : str[2]"]),
    "weights_in": (many_inputs(), ["input       x : f32[2]", "weights     40 parameters, 160 B"]),
    "nested": (nested(False), ["nodes       2, and 4 in 4 bodies of If, Loop or Scan"]),
    "repeated": (nested(True), ["nodes       3, and 4 in 4 bodies"]),
    "unnamed": (model([node("Relu", ["x"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["x"], ["a"])],
                      [vector("x")], [vector("b")]), ["operators   1 kind: Relu 3"]),
}


def test_summary(name, path, lines):
    r = pcc(path)
    check(r.returncode == 0, f"{name}: summary: exit {r.returncode}: {r.stderr}")
    shown = r.stdout.splitlines()
    for line in lines:
        check(any(s.startswith(line) for s in shown), f"{name}: no line '{line}' in\n{r.stdout}")
    check("more" not in r.stdout, f"{name}: the summary leaves inputs or outputs out:\n{r.stdout}")


def test_text(name, path, folder):
    first, second = folder / "first.pir", folder / "second.pir"
    for source, target in ((path, first), (first, second)):
        r = pcc(source, "-q", "-o", target)
        check(r.returncode == 0, f"{name}: text: exit {r.returncode}: {r.stderr}")
    check(first.read_bytes() == second.read_bytes(), f"{name}: the text does not come back")


def test_plan(name, path, folder):
    r = pcc(path, "-p", "fuse,dp-place", "-d", "2xa100")
    check(r.returncode == 0 and "time per sample" in r.stdout, f"{name}: plan: {r.stdout}{r.stderr}")
    alone = name not in ("unknown", "unnamed", "nested", "repeated")
    check(not alone or r.stdout.startswith("as fast as one a100: "), f"{name}: no gain: {r.stdout}")
    out = folder / "plan.json"
    check(pcc(path, "-q", "-p", "dp-place", "-o", out).returncode == 0, f"{name}: no plan as JSON")
    check(len(json.loads(out.read_text())["devices"]) == 2, f"{name}: not two devices in the plan")


def test_not_utf8(folder):
    """A node whose name JSON cannot hold is an error, never a node left out."""
    m = model([node("Relu", ["x"], ["y"], name="n_bad_")], [vector("x")], [vector("y")])
    path = folder / "m.onnx"
    path.write_bytes(m.SerializeToString().replace(b"n_bad_", b"n\xffbad\xfe"))
    r = pcc(path, "-q", "-p", "dp-place", "-o", folder / "bad.json")
    check(r.returncode == 1 and "UTF-8" in r.stderr, f"not UTF-8: exit {r.returncode}: {r.stderr}")
    check(not (folder / "bad.json").exists(), "not UTF-8: a plan without a node was written")


def test_full_disk(folder):
    """A plan larger than any buffer onto a full disk: one error, the true one."""
    chain = [node("Relu", [f"v{i}"], [f"v{i + 1}"], name=f"relu_{i}") for i in range(2000)]
    path = folder / "chain.onnx"
    path.write_bytes(model(chain, [vector("v0")], [vector("v2000")]).SerializeToString())
    with open("/dev/full", "wb") as full:
        r = subprocess.run([PCC, path, "-q", "-p", "dp-place", "--emit", "json"], stdout=full,
                           stderr=subprocess.PIPE, text=True)
    lines = [s for s in r.stderr.splitlines() if "error" in s]
    check(r.returncode == 1 and len(lines) == 1 and "No space left" in lines[0],
          f"full disk: exit {r.returncode}: {r.stderr}")


def test_workload(folder):
    """Numbers of layers may be of any size; a pipe is no input, and that is said."""
    w = {"maxFPGAs": 1, "maxSizePerFPGA": 100, "maxCPUs": 1, "edges": [],
         "nodes": [{"id": 1, "cpuLatency": 1, "fpgaLatency": 1, "size": 1, "layerId": 4000000000}]}
    (folder / "w.json").write_text(json.dumps(w))
    test_text("workload", folder / "w.json", folder)
    r = subprocess.run([PCC, "/dev/stdin", "-q"], input='graph { in %x : f32[2]\n out %x }' + "\n#" * 999,
                       capture_output=True, text=True)
    check(r.returncode == 1 and "not a regular file" in r.stderr, f"pipe: {r.returncode}: {r.stderr}")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        for name, (m, lines) in MODELS.items():
            path = folder / f"{name}.onnx"
            path.write_bytes(m.SerializeToString())
            test_summary(name, path, lines)
            test_text(name, path, folder)
            test_plan(name, path, folder)
        test_full_disk(folder)
        test_not_utf8(folder)
        test_workload(folder)
    print(f"{len(MODELS)} models")
    return finish()


sys.exit(main())
