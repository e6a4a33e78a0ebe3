"""Makes the seeds of the fuzz targets that need more than an editor: small ONNX models, sound ones and
one for each way to be refused, and workloads.

    build/venv/bin/python tests/fuzz/make_seeds.py [FOLDER]

writes corpus/onnx and corpus/workload below FOLDER (default: beside this file).  Files that other means
made are left alone.  Needs the Python package onnx."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from wire import field

import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper

F = TensorProto.FLOAT
node = helper.make_node


def info(name, shape=(2,), elem=F):
    return helper.make_tensor_value_info(name, elem, shape)


def model(nodes, inits=(), inputs=("x",), outputs=("y",), ir=8):
    g = helper.make_graph(nodes, "g", [i if not isinstance(i, str) else info(i) for i in inputs],
                          [info(o) for o in outputs], list(inits))
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", 17)], ir_version=ir)


def graph(data):
    return b"\x08\x08" + field(7, data)


NEG = [node("Neg", ["x"], ["y"], name="n")]


def types():
    """Inputs of every kind of type."""
    kinds = [helper.make_tensor_type_proto(F, ["batch", 2, None]),
             helper.make_sequence_type_proto(helper.make_tensor_type_proto(F, ["n"])),
             helper.make_optional_type_proto(
                 helper.make_sequence_type_proto(helper.make_tensor_type_proto(F, None))),
             helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(F, [])),
             helper.make_sparse_tensor_type_proto(F, [3, 3])]
    inputs = [helper.make_value_info(f"i{k}", t) for k, t in enumerate(kinds)]
    bare = helper.make_value_info("bare", helper.make_tensor_type_proto(F, []))
    bare.ClearField("type")
    empty = helper.make_value_info("empty", helper.make_tensor_type_proto(F, []))
    empty.type.Clear()
    opaque = helper.make_value_info("opaque", helper.make_tensor_type_proto(F, []))
    opaque.type.ParseFromString(field(7, field(1, b"d") + field(2, b"o")))
    return model(NEG, inputs=["x", bare, empty, opaque, *inputs])


def tensors():
    """Typed data of every kind, small; raw data as long as the reader's own markers."""
    kinds = [TensorProto(name="s", dims=[2], data_type=8, string_data=[b"a", b"\xff\0"]),
             TensorProto(name="d", dims=[2], data_type=11, double_data=[1, 2]),
             TensorProto(name="u", dims=[2], data_type=12, uint64_data=[1, 2]),
             TensorProto(name="v", dims=[1], data_type=13, uint64_data=[2**63]),
             TensorProto(name="h", dims=[2], data_type=10, int32_data=[15360, 1]),
             TensorProto(name="i4", dims=[3], data_type=22, int32_data=[0x21, 3]),
             TensorProto(name="q", dims=[2], data_type=14, float_data=[1, 2, 3, 4]),
             TensorProto(name="l", dims=[1], data_type=7, int64_data=[-1]),
             TensorProto(name="new", dims=[1], data_type=99, raw_data=b"1"),
             TensorProto(name="none", dims=[1]),
             TensorProto(name="mark", dims=[17], data_type=2, raw_data=bytes(17)),
             TensorProto(name="part", dims=[4], data_type=F, segment=TensorProto.Segment(begin=0))]
    m = model([node("Add", ["x", "d"], ["y"], name="n")], kinds)
    m.graph.initializer.append(TensorProto(name="s", dims=[1], data_type=8, string_data=[b"b"]))
    t = m.graph.sparse_initializer.add(dims=[9])
    t.values.CopyFrom(numpy_helper.from_array(np.ones(1, np.float32), "sp"))
    t.indices.CopyFrom(numpy_helper.from_array(np.ones(1, np.int64), "spi"))
    return m


def payload(**keys):
    w = TensorProto(name="w", **keys)
    return model([node("Add", ["x", "w"], ["y"], name="n")], [w])


def attributes():
    """Attributes of every kind, with and without a type."""
    t = numpy_helper.from_array(np.ones(1, np.float32), "t")
    body = helper.make_graph([node("Neg", ["x"], ["b"])], "body", [], [info("b")])
    s = helper.make_sparse_tensor(t, numpy_helper.from_array(np.zeros(1, np.int64)), [4])
    values = {"f": 0.5, "i": 3, "s": b"a\0b", "t": t, "g": body, "floats": [0.5, 1.5],
              "ints": [1, 2], "strings": [b"a", b"b"], "tensors": [t, t], "graphs": [body, body],
              "sparse_tensor": s, "sparse_tensors": [s], "tp": helper.make_tensor_type_proto(F, [1]),
              "type_protos": [helper.make_tensor_type_proto(F, [1])]}
    typed, untyped = AttributeProto(), AttributeProto()
    made = []
    for key, value in values.items():
        typed = helper.make_attribute(key, value)
        untyped = AttributeProto()
        untyped.CopyFrom(typed)
        untyped.name += "_old"
        untyped.ClearField("type")
        made += [typed, untyped]
    made.append(AttributeProto(name="nothing"))
    n = node("Any", ["x"], ["y"], name="n", domain="d")
    n.attribute.extend(made)
    m = model([n], ir=1)
    m.opset_import.add(domain="d", version=1)
    return m


def external(*pairs, dims=(4,), elem=F):
    t = TensorProto(name="w", dims=dims, data_type=elem, data_location=TensorProto.EXTERNAL)
    for key, value in pairs:
        t.external_data.add(key=key, value=value)
    return model([node("Add", ["x", "w"], ["y"], name="n")], [t])


def two_external():
    m = external(("location", "w.bin"), ("offset", "16"), ("length", "16"), ("checksum", "0"))
    for k, file in enumerate(("w.bin", "gone/w.bin")):
        t = TensorProto(name=f"w{k}", dims=[4], data_type=F, data_location=TensorProto.EXTERNAL)
        t.external_data.add(key="location", value=file)
        m.graph.initializer.append(t)
    return m


def nest(depth):
    g = field(2, b"b")
    for _ in range(depth):
        g = field(1, field(4, b"If") + field(5, field(6, g))) + field(2, b"b")
    return graph(g)


def one_attribute(**keys):
    n = node("If", ["x"], ["y"], name="n")
    n.attribute.add(name="a", **keys)
    return model([n])


def calls():
    """Functions in functions, with an If, a Shape, constants and an input that nobody needs, called again and again."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    then, other = (helper.make_graph([node(op, ["x"], [f"b{op}"])], op, [], [info(f"b{op}", None)])
                   for op in ("Neg", "Abs"))
    pick = helper.make_function("my", "Pick", ["x", "c", "z"], ["y", "s"], [
        node("If", ["c"], ["t"], then_branch=then, else_branch=other, name="if"), node("Neg", ["z"], ["d"]),
        node("Shape", ["x"], ["s"], name="shape"), node("Reshape", ["t", "s"], ["y"], name="reshape")], opsets)
    slope = node("LeakyRelu", ["y0"], ["y"], name="leaky")
    slope.attribute.add(name="alpha", type=AttributeProto.FLOAT, ref_attr_name="slope")
    twice = helper.make_function("my", "Twice", ["x", "c"], ["y", "k"], [
        node("Pick", ["x", "c", "x"], ["a", "s"], domain="my", name="p"),
        node("Constant", [], ["k"], value_floats=[0.5, 2.0], name="k"), node("Mul", ["a", "k"], ["m"], name="m"),
        node("Pick", ["m", "c"], ["y0"], domain="my", name="q"), slope], opsets, [],
        [helper.make_attribute("slope", 0.25)])
    nodes = [node("Twice", ["x", "c"], ["h0", "k"], domain="my", name="t0"),
             node("Twice", ["h0", "c"], ["h1"], domain="my", name="t1", slope=0.5),
             node("Pick", ["h1", "c", "x"], ["h2", "s"], domain="my"), node("Add", ["h2", "k"], ["y"])]
    g = helper.make_graph(nodes, "g", [info("x"), info("c", (), TensorProto.BOOL)], [info("y")])
    return helper.make_model(g, opset_imports=opsets, functions=[pick, twice], ir_version=8)


def ints(name, *values, shape=None):
    return numpy_helper.from_array(np.array(values, np.int64).reshape(shape or (len(values),)), name)


def moving():
    """Constants that move, from a shape with a symbol, and what reads them."""
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "one"], ["w"]), node("Concat", ["w", "b", "w"], ["c"], axis=0),
             node("Slice", ["c", "one", "three", "zero", "two"], ["e"]), node("Reshape", ["t", "to"], ["r"]),
             node("Transpose", ["r"], ["p"], perm=[1, 0]), node("Split", ["p"], ["l", "m"], axis=0),
             node("Tile", ["l", "twice"], ["k"]), node("Expand", ["m", "wide"], ["f"]), node("Flatten", ["f"], ["g"], axis=0),
             node("Unsqueeze", ["g", "zero"], ["u"]), node("Squeeze", ["u", "zero"], ["q"]),
             node("ConstantOfShape", ["to"], ["o"]), node("ScatterND", ["r", "at", "new"], ["n"]),
             node("Size", ["n"], ["z"]), node("Cast", ["z"], ["v"], to=F), node("Add", ["x", "v"], ["y"])]
    inits = [ints("zero", 0), ints("one", 1), ints("three", 3), ints("two", 2), ints("b", 5, 6), ints("t", *range(8)),
             ints("to", 4, 2), ints("twice", 1, 2), ints("wide", 2, 1, 1), ints("at", 0, 2, shape=(2, 1)),
             ints("new", 1, 2, 3, 4, shape=(2, 2))]
    return model(nodes, inits, inputs=[info("x", ("batch", 2))])


def computing():
    """Arithmetic of constants of several types."""
    binary = ["Add", "Sub", "Mul", "Div", "Mod", "Pow", "Min", "Max", "Equal", "Less", "GreaterOrEqual"]
    nodes = [node(op, ["a", "b"], [f"i{k}"]) for k, op in enumerate(binary)]
    nodes += [node(op, ["f", "g"], [f"f{k}"]) for k, op in enumerate(binary) if op != "Mod"]
    nodes += [node(op, ["f"], [f"s{k}"]) for k, op in enumerate(["Neg", "Abs", "Sqrt", "Floor", "Round", "Reciprocal"])]
    nodes += [node("Cast", ["f"], [f"c{to}"], to=to) for to in (2, 7, 9, 10, 11, 16)]
    nodes += [node(op, ["a"], [f"r{k}"], keepdims=0) for k, op in enumerate(["ReduceSum", "ReduceProd", "ReduceMax"])]
    nodes += [node("Range", ["r0", "r1", "r2"], ["range"]), node("And", ["i8", "i9"], ["both"]),
              node("Where", ["both", "f", "g"], ["which"]), node("Add", ["x", "which"], ["y"])]
    inits = [ints("a", 7, -3, 2), ints("b", 2, 2, 3), numpy_helper.from_array(np.array([1.5, -2, 4], np.float32), "f"),
             numpy_helper.from_array(np.array([2, 0.5, -0.0], np.float32), "g")]
    return model(nodes, inits, inputs=[info("x", (3,))])


def sound():
    order = [node("Add", [f"t{k}", "x"], [f"t{k + 1}"], name=f"n{k}") for k in range(6)]
    order[0].input[0] = "x"
    yield "types", types()
    yield "calls", calls()
    yield "tensors", tensors()
    yield "attributes", attributes()
    nameless = calls()
    nameless.functions[0].node[0].op_type = ""
    yield "nameless_operator", nameless
    yield "moving", moving()
    yield "computing", computing()
    yield "external", two_external()
    yield "large_raw", payload(dims=[256], data_type=F, raw_data=bytes(1024))
    yield "large_floats", payload(dims=[256], data_type=F, float_data=[0.0] * 256)
    yield "large_doubles", payload(dims=[128], data_type=11, double_data=[0.0] * 128)
    m = payload(dims=[256], data_type=F, float_data=[0.0] * 256)
    m.graph.initializer[0].raw_data = bytes(1024)
    yield "large_twice", m
    yield "unsorted", model([order[i] for i in (3, 5, 1, 0, 4, 2)], outputs=("t6",))
    again = [node("Neg", ["x"], ["t"]), node("Abs", ["t"], ["t"]), node("Exp", ["t"], ["y"]),
             node("Neg", ["x"], ["Neg_0"], name="Neg_0")]
    yield "again", model(again, [numpy_helper.from_array(np.ones(2, np.float32), "t")])
    yield "unknown_fields", model(NEG).SerializeToString() + b"\x9d\x3e1234\xa1\x3e12345678\xa8\x3e\x01"
    body = helper.make_graph([node("Neg", ["x"], ["b"])], "body", [], [info("b")])
    yield "twins", model([node("If", ["x"], ["y"], name="n", then_branch=body, else_branch=body)])


def refused_graphs():
    yield "cycle", model([node("Add", ["x", "b"], ["a"], name="p"),
                          node("Neg", ["a"], ["b"], name="q"), node("Neg", ["b"], ["y"])])
    yield "undefined", model([node("Neg", ["ghost"], ["y"], name="n")])
    yield "no_result", model([node("Neg", ["x"], ["t"], name="n")])
    yield "defines_input", model([node("Neg", ["x"], ["x"], name="n")])
    yield "input_twice", model(NEG, inputs=("x", "x"))
    yield "input_nameless", model(NEG, inputs=("x", ""))
    yield "no_body", one_attribute(type=AttributeProto.GRAPH)
    yield "no_tensor", one_attribute(type=AttributeProto.TENSOR)
    yield "bad_tensor", one_attribute(type=AttributeProto.TENSOR,
                                      t=TensorProto(dims=[-1], data_type=F))
    yield "bad_tensors", one_attribute(type=AttributeProto.TENSORS,
                                       tensors=[TensorProto(dims=[3], data_type=F)])
    yield "bad_sparse", one_attribute(type=AttributeProto.SPARSE_TENSOR,
                                      sparse_tensor=helper.make_sparse_tensor(
                                          TensorProto(dims=[1], data_type=F),
                                          TensorProto(dims=[1], data_type=7), [-1]))
    yield "nameless_tensor", model(NEG, [TensorProto(dims=[0], data_type=F)])
    yield "short", payload(dims=[3], data_type=F, raw_data=b"12345678")
    yield "huge", payload(dims=[2**40, 2**40], data_type=F)
    yield "strings", payload(dims=[2], data_type=8, string_data=[b"a"])
    yield "no_graph", b"\x08\x08"


def refused_external():
    where = ("location", "w.bin")
    yield "no_location", external(("offset", "0"))
    yield "absolute", external(("location", "/etc/passwd"))
    yield "up", external(("location", "a/../../w.bin"))
    yield "folder", external(("location", "."))
    yield "offset", external(where, ("offset", "-1"))
    yield "length", external(where, ("length", "17"))
    yield "behind", external(where, ("offset", "9223372036854775807"))
    yield "key", external(where, ("fd", "0"))


def refused_wire():
    deep = field(1, field(5, field(6, field(1, field(5, field(6, field(1, field(5, field(
        6, field(1, field(5, field(6, field(1, b"\x30\x01")))))))))))))
    yield "text", b"hello"
    yield "json", b"\n{}"
    yield "blank", b"  "
    yield "empty", b""
    yield "group", graph(field(1, b"\x0b\x0c"))
    yield "wire_type", graph(field(1, field(5, b"\x08\x01")) + field(1, b"\x30\x01"))
    yield "wire_type_deep", graph(deep)
    yield "wire_seven", graph(b"\x0f")
    yield "beyond", graph(field(12, b"a") + b"\x12\x7f")
    yield "beyond_all", b"\x08\x08\x3a\x7f"
    yield "endless", b"\x08" + b"\xff" * 11
    yield "length_bytes", b"\x08\x08\x3a" + b"\x80" * 6 + b"\0"
    yield "tag_bytes", b"\x08\x08" + b"\xff" * 6
    yield "field_zero", b"\x08\x08\x02\0"
    yield "cut_short", graph(b"\xa5\x06\0") + b"\x0d\0"
    yield "twice", graph(b"") + field(7, b"")
    yield "packed", graph(field(5, field(4, b"123")))
    yield "packed_varint", graph(field(5, field(1, b"\x80")))
    yield "length_number", graph(field(5, field(2, b"1")))
    yield "nul", graph(field(2, b"a\0"))
    yield "many", graph(field(1, b"\x2a\0" * 2000))
    yield "deep", nest(34)


def workload(nodes, edges, **keys):
    return {"maxFPGAs": 2, "maxSizePerFPGA": 100.5, "maxCPUs": 1, "nodes": nodes, "edges": edges,
            **keys}


def wnode(k, **keys):
    return {"id": k, "supportedOnFpga": True, "fpgaLatency": 1, "cpuLatency": 2.5, "size": 3,
            "isBackwardNode": 0, "colorClass": 1, "layerId": k, **keys}


def workloads():
    def edge(a, b, cost=1):
        return {"sourceId": a, "destId": b, "cost": cost}
    two, pair = [wnode(1, name="a"), wnode(2)], [edge(1, 2)]
    names = ["a", *("a.7" + "." * k for k in range(66))]
    taken = [{"id": 1000 + k, "name": name, "supportedOnFpga": True, "fpgaLatency": 1, "cpuLatency": 1,
              "size": 1} for k, name in enumerate(names)]
    yield "same_names", workload([wnode(1, name="a"), wnode(2, name="a")], pair)
    yield "names_taken", workload([*taken, wnode(7, name="a")], [])
    yield "no_nodes", workload({}, [])
    yield "no_edges", workload(two, 1)
    yield "no_cluster", {"nodes": []}
    yield "no_devices", workload(two, pair, maxFPGAs=0, maxCPUs=0)
    yield "devices", workload(two, pair, maxFPGAs=999)
    yield "size", workload([wnode(1, size=-1)], [])
    yield "id", workload([wnode("x")], [])
    yield "same_ids", workload([wnode(1, name="a"), wnode(1)], [])
    yield "bool", workload([wnode(1, supportedOnFpga="x")], [])
    yield "no_object", workload([1], [])
    yield "nameless", workload([wnode(1, name="")], [])
    yield "edge_id", workload(two, [edge(1, "x")])
    yield "edge_nowhere", workload(two, [edge(1, 9)])
    yield "edge_costs", workload([*two, wnode(3)], [edge(1, 2), edge(1, 3, 2)])
    yield "edge_cost", workload(two, [edge(1, 2, -1)])
    yield "cycle", workload(two, [edge(1, 2), edge(2, 1)])
    yield "backward", workload([wnode(1), wnode(2, isBackwardNode=1)], pair)
    yield "to_forward", workload([wnode(1, isBackwardNode=1), wnode(2)], pair)
    yield "list", []


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent) / "corpus"
    for folder in ("onnx", "workload"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for part in (sound, refused_graphs, refused_external, refused_wire):
        prefix = "" if part is sound else "no_"
        for name, m in part():
            data = m if isinstance(m, bytes) else m.SerializeToString(deterministic=True)
            (root / "onnx" / f"{prefix}{name}.onnx").write_bytes(data)
    for name, w in workloads():
        (root / "workload" / f"{name}.json").write_text(json.dumps(w) + "\n", encoding="utf-8")
    (root / "workload" / "no_json.json").write_text('{"nodes": [', encoding="utf-8")


main()
