"""pcc in.onnx -o out.onnx is lossless: both files decode to the same messages.

Models: small ones made here, one for each thing that a careless reader or writer loses, and every
.onnx of PCC_SHARED/models.  Decoded messages are compared, not bytes: writers may order fields
differently.  Two models must be refused.  Needs the Python package onnx (else 77).
The same models go through the textual IR in tests/unit/frontends/onnx/read_text.c."""
# extras: shared
# once: sanitized
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras

try:
    import numpy as np
    import onnx
    from google.protobuf.message import DecodeError
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: the Python package onnx is not installed")
    sys.exit(77)

PCC = os.environ.get("PCC", "pcc")
F = TensorProto.FLOAT
# Negative examples, which the checker of onnx refuses, too: what must not be read, and why.
REFUSED = {"icm-31000000518082.onnx": "graph.node[1].doc_string: wrong wire type",
           "test_arbitrary_external_file.onnx": "'evil_weights': external data: location"}
failed = []


def model(nodes, inputs, outputs, inits=(), **more):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(inits),
                              value_info=more.pop("value_info", []))
    opsets = more.pop("opsets", [helper.make_opsetid("", 17)])
    m = helper.make_model(graph, opset_imports=opsets, **more)
    m.ir_version = 10
    return m


def info(name, shape=(2, "n")):
    return helper.make_tensor_value_info(name, F, shape)


def sized_payloads():
    """Payloads around the sizes at which the reader leaves them in the file, in every field."""
    inits = []
    for n in (0, 4, 16, 17, 18, 1023, 1024, 1025, 4095, 4096, 5000, 100000):
        a = np.arange(n, dtype=np.uint8)
        inits.append(numpy_helper.from_array(a, f"raw{n}"))
    for n in (1, 255, 256, 257, 2000):
        inits.append(helper.make_tensor(f"f{n}", F, [n], [i / 7 for i in range(n)]))
        inits.append(helper.make_tensor(f"d{n}", TensorProto.DOUBLE, [n],
                                        [i / 7 for i in range(n)]))
        inits.append(helper.make_tensor(f"i{n}", TensorProto.INT64, [n], range(-n, 0)))
        inits.append(helper.make_tensor(f"h{n}", TensorProto.FLOAT16, [n], [1.5] * n))
        inits.append(helper.make_tensor(f"u{n}", TensorProto.UINT32, [n], range(n)))
        inits.append(helper.make_tensor(f"c{n}", TensorProto.COMPLEX64, [n], [1 + 2j] * n))
        inits.append(helper.make_tensor(f"s{n}", TensorProto.STRING, [n], [b"a\0b"] * n))
    return model([helper.make_node("Relu", ["x"], ["y"])], [info("x")], [info("y")], inits)


def delimited(number, data):
    """A length-delimited field as protobuf writes it."""
    out, n = bytearray([number << 3 | 2]), len(data)
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n]) + data


def joined_payloads():
    """float_data in two pieces, which readers must join; float_data beside raw_data; raw_data
    twice, of which the last wins; a look-alike of the reader's markers.  All as bytes: no library
    writes them."""
    def tensor(name, n, *parts, elem=F):
        head = TensorProto(name=name, data_type=elem, dims=[n])
        return head.SerializeToString() + b"".join(parts)
    m = model([helper.make_node("Relu", ["x"], ["y"])], [info("x")], [info("y")])
    graph = m.graph.SerializeToString()
    floats = [delimited(4, np.arange(i, i + 300, dtype="<f4").tobytes()) for i in (0, 300)]
    raw = [delimited(9, bytes([i]) * 1200) for i in (1, 2)]
    graph += delimited(5, tensor("joined", 600, *floats))
    graph += delimited(5, tensor("both", 300, floats[0], raw[0]))
    graph += delimited(5, tensor("again", 300, *raw))
    graph += delimited(5, tensor("look", 17, delimited(9, bytes(17)), elem=TensorProto.UINT8))
    m.ClearField("graph")
    return m.SerializeToString() + delimited(7, graph)


def bodies():
    inner = helper.make_graph([helper.make_node("Add", ["x", "w"], ["t"]),
                               helper.make_node("Identity", ["late"], ["u"])], "inner", [],
                              [info("t")], [numpy_helper.from_array(np.ones(300, np.float32), "k")])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["t"])], "other", [],
                              [info("t")])
    outer = helper.make_graph([helper.make_node("If", ["c"], ["o"], then_branch=inner,
                                                else_branch=other)], "outer", [], [info("o")])
    flat = helper.make_graph([helper.make_node("Neg", ["x"], ["o"])], "flat", [], [info("o")])
    w = numpy_helper.from_array(np.ones((2, 300), np.float32), "w")
    c = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    return model([helper.make_node("If", ["c"], ["y"], then_branch=outer, else_branch=flat),
                  helper.make_node("Relu", ["x"], ["late"])], [info("x"), c], [info("y")], [w])


def oddities():
    """Unsorted, unnamed, equally named, repeatedly defined, empty operands, initializers as inputs
    and outputs, sparse tensors, functions, attributes of every kind, metadata, annotations."""
    consts = [helper.make_node("Constant", [], ["k"], value_float=v) for v in (1.0, 2.0)]
    fn = helper.make_function("my.mod", "Twice.1", ["a"], ["b"],
                              [helper.make_node("Add", ["a", "a"], ["b"])],
                              [helper.make_opsetid("", 17)])
    call = helper.make_node("Twice.1", ["x"], ["z"], domain="my.mod", name="n")
    odd = helper.make_node("Odd", ["", "k", ""], ["", "y"], domain="x", name="n", f=1.5, i=-3,
                           s="s", t=numpy_helper.from_array(np.ones(2000, np.float32)),
                           floats=[1.0, 2.0], ints=[1, 2], strings=["a", "b"],
                           tp=helper.make_tensor_type_proto(F, [1]))
    odd.metadata_props.add(key="layer", value="7")
    values = numpy_helper.from_array(np.ones(3, np.float32), "sp")
    indices = numpy_helper.from_array(np.array([1, 4, 6]), "ix")
    w = numpy_helper.from_array(np.ones((2, 3), np.float32), "w")
    m = model([helper.make_node("Neg", ["z"], ["out"]), call, *consts, odd], [info("x"), info("w")],
              [info("out"), info("w"), info("x")], [w], functions=[fn],
              opsets=[helper.make_opsetid("my.mod", 1), helper.make_opsetid("", 17)])
    m.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [8]))
    m.graph.quantization_annotation.add(tensor_name="w").quant_parameter_tensor_names.add(
        key="SCALE_TENSOR", value="k")
    m.metadata_props.add(key="author", value="nobody \u00e9")
    m.doc_string = "two\nlines"
    seq = helper.make_sequence_type_proto(helper.make_tensor_type_proto(F, None))
    m.graph.value_info.append(helper.make_value_info("z", helper.make_optional_type_proto(seq)))
    return m


def future(m):
    """Fields that no schema knows yet, in model, graph, node and tensor."""
    extra = bytes([0xfa, 0x3f, 3]) + b"new"
    m = onnx.ModelProto.FromString(m.SerializeToString())
    for part in (m, m.graph, m.graph.node[0], m.graph.initializer[0]):
        part.MergeFromString(extra)
    return m


def run(path, out):
    r = subprocess.run([PCC, path, "-o", out], capture_output=True, text=True)
    return r.returncode, r.stderr.strip()


def check(path, folder, name):
    out = os.path.join(folder, "out.onnx")
    rc, err = run(path, out)
    if rc != 0:
        failed.append(name)
        print(f"{name}: exit code {rc}: {err}")
        return
    with open(path, "rb") as f, open(out, "rb") as g:
        a, b = f.read(), g.read()
    os.unlink(out)
    if a != b:
        pa, pb = onnx.ModelProto.FromString(a), onnx.ModelProto.FromString(b)
        if pa.SerializeToString(deterministic=True) != pb.SerializeToString(deterministic=True):
            failed.append(name)
            print(f"{name}: differs")
    left = [x for x in os.listdir(folder) if x.startswith(".")]
    if left:
        failed.append(name)
        print(f"{name}: left {left}")


def refuse(path, folder, name, reason):
    out = os.path.join(folder, "out.onnx")
    rc, err = run(path, out)
    if rc != 1 or reason not in err or os.path.exists(out):
        failed.append(name)
        print(f"{name}: exit code {rc}, or '{reason}' is not in: {err}")
    try:
        onnx.checker.check_model(path)
    except (onnx.checker.ValidationError, DecodeError):
        return
    failed.append(name)
    print(f"{name}: the checker takes it")


def shared_models():
    n = 0
    with tempfile.TemporaryDirectory() as tmp:
        for folder, _, files in sorted(os.walk(extras.shared("models"))):
            for f in sorted(files):
                path = os.path.join(folder, f)
                if f in REFUSED:
                    refuse(path, tmp, f, REFUSED[f])
                elif f.endswith(".onnx"):
                    check(path, tmp, f)
                n += f.endswith(".onnx")
    print(f"{n} models, {len(failed)} failed")
    return 1 if failed else 0


def main():
    if extras.extra():
        return shared_models()
    made = {"sized": sized_payloads(), "joined": joined_payloads(), "bodies": bodies(),
            "oddities": oddities()}
    made["future"] = future(made["sized"])
    n = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name, m in made.items():
            path = os.path.join(tmp, name + ".onnx")
            with open(path, "wb") as f:
                f.write(m if isinstance(m, bytes) else m.SerializeToString())
            check(path, tmp, name)
            n += 1
        path = os.path.join(tmp, "sized.onnx")  # over itself
        before = open(path, "rb").read()
        rc, err = run(path, path)
        if rc != 2 or "that is the model itself" not in err or open(path, "rb").read() != before:
            failed.append("over itself")
            print(f"over itself: exit code {rc} {err}, or the file changed")
    print(f"{n} models, {len(failed)} failed")
    return 1 if failed else 0


sys.exit(main())
