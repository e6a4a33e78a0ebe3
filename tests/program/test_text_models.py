"""ONNX -> textual IR -> ONNX: equal as messages, and by ONNX Runtime where it runs them.

Models: one for each thing that a text could lose, made here; small ones of pcc-gen; those of PCC_SHARED.  Fields may
stand in another order; so may value_info, and nodes that were not in an order in which they can run (the reader
sorts them). The text read and printed again is the same text, and a split of the text is that of the model, file by
file.  What text cannot carry is refused by name."""

# extras: shared
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from sanitized import SANITIZED
from same_results import Runs  # first: it skips the test without ONNX Runtime
import numpy as np
import onnx
from checks import check, finish
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from wire import field
from with_ort import GEN, PCC

ALL = os.environ.get("PCC_ALL") == "1"
F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node, info, opset = helper.make_node, helper.make_tensor_value_info, helper.make_opsetid
LARGEST = 4 << 20  # bytes of a model of PCC_SHARED whose results are compared
# No models: test_roundtrip.py.  Opaque payloads, or weights of training_info, in the model's file.
NO_MODELS = {"icm-31000000518082.onnx", "test_arbitrary_external_file.onnx"}
TWICE_DEFINED = {"gpt2_past.onnx"}  # the reader renames what is lost


def pcc(*args):
    return subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, errors="replace")


def model(nodes, inputs=None, outputs=None, inits=(), ir=10, opsets=None, **more):
    graph = helper.make_graph(nodes, "g", inputs or [info("x", F, [4])], outputs or [info("y", F, [4])], list(inits))
    return helper.make_model(graph, opset_imports=opsets or [opset("", 20)], ir_version=ir, **more)


NEG = [node("Neg", ["x"], ["y"], name="n")]
ONES = numpy_helper.from_array(np.ones(4, np.float32), "w")


# ---- models that are hard to carry ---------------------------------------------------------------------


def said_everywhere():
    """Documentation and metadata wherever ONNX has them; the same, empty."""
    inner = helper.make_graph([node("Abs", ["x"], ["b"])], "inner", [], [info("b", F, [4])])
    fn = helper.make_function("f", "Fn", ["a"], ["c"], [node("Neg", ["a"], ["c"], k=1)], [opset("", 20)], ["k"])
    fn.attribute_proto.append(helper.make_attribute("d", 1.5))
    m = model(
        [
            node("If", ["t"], ["i"], name="if", then_branch=inner, else_branch=inner),
            node("Fn", ["i"], ["y"], domain="f", k=1),
        ],
        inits=[numpy_helper.from_array(np.bool_(True), "t")],
        functions=[fn],
        opsets=[opset("", 20), opset("f", 1)],
    )
    m.graph.value_info.append(info("i", F, [4]))
    m.graph.sparse_initializer.append(
        helper.make_sparse_tensor(
            numpy_helper.from_array(np.ones(1, np.float32), "sp"),
            numpy_helper.from_array(np.ones(1, np.int64), "ix"),
            [9],
        )
    )
    empty = onnx.ModelProto()
    empty.CopyFrom(m)

    def say(message, doc, metadata):
        for name in "doc_string", "metadata_props":
            if name not in message.DESCRIPTOR.fields_by_name:
                continue
            if name == "doc_string":
                message.doc_string = doc
            for key, value in metadata if name == "metadata_props" else ():
                message.metadata_props.add(key=key, value=value)
        for f, value in list(message.ListFields()):
            if f.type == f.TYPE_MESSAGE and f.name != "metadata_props":
                for x in value if f.is_repeated else [value]:
                    say(x, doc, metadata)

    say(m, "about \u00e9 \"this\"\n\t\x01", [("k", "v"), ("k", "again"), ("", "no key"), ("no value", "")])
    say(empty, "", [("", "")])
    return {"said": m, "said_empty": empty}


def future_fields():
    """Fields that no schema knows yet in every message, also in those that stand in fields that are lists."""
    m = onnx.ModelProto()
    m.CopyFrom(said_everywhere()["said"])
    m.configuration.add(name="two", num_devices=2)
    c = m.graph.node[0].device_configurations.add(configuration_id="two", pipeline_stage=1)
    c.sharding_spec.add(tensor_name="i", device=[0]).sharded_dim.add(axis=0).simple_sharding.add(num_shards=1)
    m.graph.quantization_annotation.add(tensor_name="i").quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="t")
    m.ir_version = 11
    extra = bytes([0xFA, 0x3F, 3]) + b"new" + bytes([0xF8, 0x3F, 7]) + field(100, b"")

    def grow(message):
        for f, value in list(message.ListFields()):
            if f.type == f.TYPE_MESSAGE:
                for x in value if f.is_repeated else [value]:
                    grow(x)
        message.MergeFromString(extra)

    grow(m)
    return {"future": m}


def empty_fields():
    """Fields that are there and empty, those that are not there, and values that are the default."""
    n = onnx.NodeProto(op_type="Neg", input=["x"], output=["y"], name="", domain="", overload="", doc_string="")
    m = model([n])
    m.producer_name = m.producer_version = m.domain = m.doc_string = ""
    m.model_version = 0
    m.graph.name = m.graph.doc_string = ""
    m.graph.initializer.append(TensorProto(name="e", dims=[0], data_type=F, raw_data=b"", doc_string=""))
    m.graph.initializer.append(TensorProto(name="e2", dims=[0], data_type=F))
    m.graph.initializer.append(
        TensorProto(name="e3", dims=[1], data_type=F, raw_data=bytes(4), data_location=TensorProto.DEFAULT)
    )
    m.graph.initializer.append(TensorProto(name="s", dims=[2], data_type=8, string_data=[b"", b""]))
    spoken = model(
        [onnx.NodeProto(op_type="Neg", input=["x"], output=["y"], domain="ai.onnx")], opsets=[opset("ai.onnx", 20)]
    )
    bare = model(NEG)
    for key in "name", "doc_string":
        bare.graph.ClearField(key)
    bare.opset_import[0].ClearField("domain")
    zero = AttributeProto(name="zero", type=AttributeProto.INT)  # 0, and not said
    unsaid = model(
        [
            onnx.NodeProto(
                op_type="Odd",
                input=["x", "", ""],
                output=["", "y", ""],
                domain="odd",
                attribute=[
                    zero,
                    AttributeProto(name="f", type=AttributeProto.FLOAT),
                    AttributeProto(name="s", type=AttributeProto.STRING),
                    AttributeProto(name="i", type=AttributeProto.INT, i=0),
                    AttributeProto(name="l", type=AttributeProto.INTS),
                    AttributeProto(name="k", type=AttributeProto.STRINGS),
                    AttributeProto(name="", type=AttributeProto.INT, i=1),
                    AttributeProto(name="d", type=AttributeProto.INT, i=1),
                    AttributeProto(name="d", type=AttributeProto.INT, i=2),
                    AttributeProto(name="tp", type=AttributeProto.TYPE_PROTO, tp=onnx.TypeProto()),
                    AttributeProto(name="tps", type=AttributeProto.TYPE_PROTOS, type_protos=[onnx.TypeProto()]),
                ],
            )
        ],
        opsets=[opset("", 20), opset("odd", 0)],
    )
    none = model(NEG)
    none.graph.input[0].ClearField("type")
    none.graph.output[0].type.Clear()
    none.graph.value_info.append(onnx.ValueInfoProto(name="nobody"))
    none.graph.value_info.append(info("x", F, [4]))
    no_version = model(NEG)
    no_version.ClearField("ir_version")
    no_opset = model([node("A", ["x"], ["y"], domain="a")], opsets=[opset("a", 1)])
    return {
        "empty": m,
        "spoken": spoken,
        "bare": bare,
        "unsaid": unsaid,
        "none": none,
        "no_version": no_version,
        "no_opset": no_opset,
    }


def types():
    """Types of every kind, dimensions spelled in every way, denotations."""
    tensor = helper.make_tensor_type_proto
    kinds = [
        tensor(F, None),
        tensor(F, []),
        tensor(F, ["b", "a + b", "b+a", " 2*b ", "", None, 0, 7, "ceil(b/2)", "\u00e9", "x\ny"]),
        helper.make_sequence_type_proto(tensor(F, ["n"])),
        helper.make_optional_type_proto(tensor(I64, [1])),
        helper.make_map_type_proto(I64, tensor(F, [])),
        helper.make_sparse_tensor_type_proto(F, [3, None]),
        helper.make_optional_type_proto(
            helper.make_sequence_type_proto(helper.make_map_type_proto(8, tensor(F, None)))
        ),
        onnx.TypeProto(),
        onnx.TypeProto(tensor_type=onnx.TypeProto.Tensor()),
        onnx.TypeProto(sequence_type=onnx.TypeProto.Sequence()),
        onnx.TypeProto(map_type=onnx.TypeProto.Map(key_type=7)),
        tensor(27, [2]),
        tensor(99, [2]),
    ]
    opaque = onnx.TypeProto()
    opaque.ParseFromString(field(7, field(1, b"d") + field(2, b"o")))
    kinds.append(opaque)
    told = tensor(F, [1, 3, "w"])
    told.denotation = "IMAGE"
    for dim, word in zip(told.tensor_type.shape.dim, ("DATA_BATCH", "", "DATA_FEATURE")):
        dim.denotation = word
    kinds.append(told)
    seq = helper.make_sequence_type_proto(told)
    seq.denotation = "TENSOR"
    kinds.append(seq)
    inputs = [info("x", F, [4])] + [helper.make_value_info(f"i{k}", t) for k, t in enumerate(kinds)]
    m = model(NEG, inputs)
    for k, t in enumerate(kinds):
        m.graph.node.append(node("Odd", [f"i{k}"], [f"o{k}", f"p{k}"], domain="odd", tp=t, type_protos=[t, t]))
        m.graph.output.append(helper.make_value_info(f"o{k}", t))
        m.graph.value_info.append(helper.make_value_info(f"p{k}", t))
        m.graph.value_info.append(helper.make_value_info(f"i{k}", t))  # once more
    m.opset_import.append(opset("odd", 1))
    return {"types": m}


def payloads():
    """Every element type in its own field and in raw_data; numbers at their limits; not a number."""
    typed = [
        TensorProto(name="f", dims=[4], data_type=1, float_data=[0.1, -0.0, float("inf"), float("nan")]),
        TensorProto(name="d", dims=[2], data_type=11, double_data=[0.1, 5e-324]),
        TensorProto(name="l", dims=[2], data_type=7, int64_data=[-(2**63), 2**63 - 1]),
        TensorProto(name="u64", dims=[1], data_type=13, uint64_data=[2**64 - 1]),
        TensorProto(name="u32", dims=[2], data_type=12, uint64_data=[0, 2**32 - 1]),
        TensorProto(name="c64", dims=[2], data_type=14, float_data=[1, 2, 3, float("nan")]),
        TensorProto(name="c128", dims=[1], data_type=15, double_data=[1, -0.0]),
        TensorProto(name="i32", dims=[2], data_type=6, int32_data=[-(2**31), 2**31 - 1]),
        TensorProto(name="u8", dims=[2], data_type=2, int32_data=[0, 255]),
        TensorProto(name="i8", dims=[2], data_type=3, int32_data=[-128, 127]),
        TensorProto(name="u16", dims=[2], data_type=4, int32_data=[0, 65535]),
        TensorProto(name="i16", dims=[2], data_type=5, int32_data=[-32768, 32767]),
        TensorProto(name="b", dims=[2], data_type=9, int32_data=[0, 1]),
        TensorProto(name="h", dims=[2], data_type=10, int32_data=[15360, 65535]),
        TensorProto(name="bf", dims=[2], data_type=16, int32_data=[0, 65535]),
        *(TensorProto(name=f"f8_{k}", dims=[2], data_type=k, int32_data=[0, 255]) for k in (17, 18, 19, 20, 24)),
        *(TensorProto(name=f"h_{k}", dims=[3], data_type=k, int32_data=[0x21, 0x0F]) for k in (21, 22, 23)),
        *(TensorProto(name=f"q_{k}", dims=[5], data_type=k, int32_data=[0x1B, 0x3]) for k in (25, 26)),
        TensorProto(name="s", dims=[3], data_type=8, string_data=[b"", b"a\0b", b"\xff"]),
    ]
    raw = []
    for t in typed:
        if t.data_type != TensorProto.STRING:
            bits = {
                1: 32,
                2: 8,
                3: 8,
                4: 16,
                5: 16,
                6: 32,
                7: 64,
                9: 8,
                10: 16,
                11: 64,
                12: 32,
                13: 64,
                14: 64,
                15: 128,
                16: 16,
                21: 4,
                22: 4,
                23: 4,
                25: 2,
                26: 2,
            }.get(t.data_type, 8)
            for n in (t.dims[0], 3000):
                size = (n * bits + 7) // 8
                data = bytes(i % 2 if t.data_type == BOOL else i * 7 % 256 for i in range(size))
                raw.append(TensorProto(name=f"raw_{t.name}_{n}", dims=[n], data_type=t.data_type, raw_data=data))
    long = [
        helper.make_tensor("long_f", F, [3000], range(3000)),
        helper.make_tensor("long_l", I64, [3000], range(3000)),
        helper.make_tensor("long_h", 10, [3000], np.ones(3000)),
        helper.make_tensor("long_d", 11, [700], range(700)),
        TensorProto(name="shape", dims=[2, 0, 3], data_type=F),
        TensorProto(name="scalar", data_type=F, raw_data=bytes(4)),
    ]
    constants = [node("Constant", [], [f"c{i}"], value=t) for i, t in enumerate([*typed, *raw, *long])]
    return {
        "typed": model(NEG, inits=typed),
        "raw": model(NEG, inits=raw),
        "long": model(NEG, inits=long),
        "constants": model(NEG + constants),
    }


def external(folder):
    """External data with and without offset, length and checksum, in several files and folders, shared, overlapping."""
    (folder / "sub").mkdir(exist_ok=True)
    data = np.arange(4096, dtype=np.float32).tobytes()
    for name in "a.bin", "sub/b.bin", "caf\u00e9 c.bin":
        (folder / name).write_bytes(data)

    def tensor(name, dims, *pairs):
        t = TensorProto(name=name, dims=dims, data_type=F, data_location=TensorProto.EXTERNAL)
        for key, value in pairs:
            t.external_data.add(key=key, value=value)
        return t

    inits = [
        tensor("whole", [4096], ("location", "a.bin")),
        tensor("off", [4], ("location", "a.bin"), ("offset", "16")),
        tensor("len", [4], ("location", "a.bin"), ("length", "16")),
        tensor("both", [4], ("length", "16"), ("offset", "4096"), ("location", "sub/b.bin")),
        tensor("same", [4], ("location", "sub/b.bin"), ("offset", "4096"), ("length", "16")),
        tensor("sum", [4], ("location", "a.bin"), ("offset", "0"), ("length", "16"), ("checksum", "0" * 40)),
        tensor("key", [4], ("location", "caf\u00e9 c.bin"), ("offset", "0016"), ("length", "16"), ("basepath", ".")),
    ]
    inner = helper.make_graph(
        [node("Abs", ["deep"], ["z"])],
        "inner",
        [],
        [info("z", F, [4])],
        [tensor("deep", [4], ("location", "a.bin"), ("offset", "64"), ("length", "16"))],
    )
    nodes = NEG + [
        node("Constant", [], ["k"], value=tensor("", [4], ("location", "a.bin"), ("offset", "64"), ("length", "16"))),
        node("If", ["t"], ["z"], then_branch=inner, else_branch=inner),
    ]
    return {"external": model(nodes, inits=inits + [numpy_helper.from_array(np.bool_(True), "t")])}


def attributes():
    """Attributes of every kind, with and without a type (IR 1), references in functions, unknown kinds."""
    t = numpy_helper.from_array(np.ones(2000, np.float32), "t")
    body = helper.make_graph([node("Neg", ["x"], ["b"])], "body", [], [info("b", F, [4])])
    s = helper.make_sparse_tensor(
        numpy_helper.from_array(np.ones(2, np.float32)), numpy_helper.from_array(np.array([0, 3])), [4]
    )
    values = {
        "f": 0.1,
        "i": -(2**63),
        "s": b"a\0b\xff",
        "t": t,
        "g": body,
        "floats": [0.5, float("nan"), -0.0],
        "ints": [1, 2**63 - 1],
        "strings": [b"a", b"", b"\xff\0"],
        "tensors": [t, t],
        "graphs": [body, body],
        "sparse_tensor": s,
        "sparse_tensors": [s, s],
        "tp": helper.make_tensor_type_proto(F, ["n"]),
        "type_protos": [helper.make_tensor_type_proto(F, None)],
    }
    made = []
    for key, value in values.items():
        typed = helper.make_attribute(key, value)
        untyped = AttributeProto()
        untyped.CopyFrom(typed)
        untyped.name += "_old"
        untyped.ClearField("type")
        made += [typed, untyped]
    made.append(AttributeProto(name="nothing"))
    made.append(AttributeProto(name="several", type=AttributeProto.INT, i=1, f=2, s=b"three", ints=[4]))
    n = node("Any", ["x"], ["y"], name="n", domain="d")
    n.attribute.extend(made)
    refs = [AttributeProto(name=f"a{k}", ref_attr_name=f"r{k}", type=k) for k in range(1, 15)]
    fn = helper.make_function(
        "d",
        "Fn",
        ["a", "b"],
        ["c", "e"],
        [
            onnx.NodeProto(op_type="Any", domain="d", input=["a"], output=["c"], attribute=refs),
            node("Identity", ["b"], ["e"]),
        ],
        [opset("d", 1), opset("", 20)],
        [f"r{k}" for k in range(1, 15)],
    )
    fn.value_info.append(info("c", F, [4]))
    over = onnx.FunctionProto()
    over.CopyFrom(fn)
    over.overload = "other"
    over.attribute_proto.append(helper.make_attribute("default", [1, 2]))
    never = helper.make_function("d", "Never", ["a"], ["a"], [], [opset("", 20)])
    call = node("Fn", ["x", "x"], ["p", "q"], domain="d", overload="other")
    return {
        "attributes": model([n], opsets=[opset("", 20), opset("d", 1)]),
        "functions": model(
            NEG + [call, node("Fn", ["x"], ["r"], domain="d")],
            functions=[fn, over, never],
            opsets=[opset("", 20), opset("d", 1)],
        ),
    }


def graphs():
    """Bodies three deep with equal names; inputs that have defaults; outputs that are inputs or weights; all kinds
    of names; what is not sorted; device configurations; IR 3."""
    deep = helper.make_graph([node("Add", ["x", "w"], ["t"])], "d3", [], [info("t", F, [4])], [ONES])
    middle = helper.make_graph(
        [node("If", ["c"], ["t"], then_branch=deep, else_branch=deep)], "d2", [], [info("t", F, [4])]
    )
    outer = helper.make_graph(
        [node("If", ["c"], ["t"], then_branch=middle, else_branch=deep)], "d1", [], [info("t", F, [4])]
    )
    names = ["%", "a b", "a/b:0", "\"quoted\"", "\\", "~1", "_", "x@main", "caf\u00e9", "a\nb", "#", "0", "!lost"]
    chain = [node("Neg", [a], [b], name=a) for a, b in zip(["x", *names], [*names, "y"])]
    conf = model(NEG, ir=11)
    conf.configuration.add(name="two", num_devices=2, device=["a", "b"])
    c = conf.graph.node[0].device_configurations.add(configuration_id="two", pipeline_stage=0)
    c.sharding_spec.add(tensor_name="x", device=[0, 1])
    shuffled = model([node("Abs", ["late"], ["y"]), node("Neg", ["x"], ["late"])])
    default = model(
        NEG,
        [info("x", F, [4]), info("w", F, [4])],
        [info("y", F, [4]), info("w", F, [4]), info("x", F, [4])],
        [ONES],
        ir=3,
    )
    quant = model(NEG, inits=[ONES])
    quant.graph.quantization_annotation.add(tensor_name="y").quant_parameter_tensor_names.add(
        key="SCALE_TENSOR", value="w"
    )
    train = model(NEG, inits=[ONES])
    t = train.training_info.add()
    t.algorithm.CopyFrom(helper.make_graph([node("Neg", ["w"], ["w_new"])], "step", [], [info("w_new", F, [4])]))
    t.update_binding.add(key="w", value="w_new")
    return {
        "deep": model(
            [node("If", ["c"], ["y"], then_branch=outer, else_branch=middle)], [info("x", F, [4]), info("c", BOOL, [])]
        ),
        "names": model(chain),
        "configurations": conf,
        "shuffled": shuffled,
        "default": default,
        "quantized": quant,
        "training": train,
        "nothing": model([], outputs=[info("x", F, [4])]),
    }


def refused():
    """What text cannot carry, and the words in which that is said."""
    train = model(NEG, inits=[ONES])
    t = train.training_info.add()
    large = numpy_helper.from_array(np.ones(3000, np.float32), "inside")
    t.algorithm.CopyFrom(
        helper.make_graph([node("Neg", ["inside"], ["w_new"])], "step", [], [info("w_new", F, [4])], [large])
    )
    number = model(NEG, inits=[TensorProto(name="big", dims=[1], data_type=TensorProto.INT8, int32_data=[300])])
    new = model(NEG, inits=[TensorProto(name="new", dims=[2000], data_type=99, raw_data=bytes(2000))])
    part = model(
        NEG,
        inits=[
            TensorProto(
                name="part",
                dims=[4000],
                data_type=F,
                raw_data=bytes(16000),
                segment=TensorProto.Segment(begin=0, end=1),
            )
        ],
    )
    return {
        "training_weights": (train, "training_info has weights in the model's file"),
        "too_large": (number, "'big' has numbers that are too large for its type i8"),
        "new_type": (new, "'new' is of a kind that pcc does not know"),
        "segment": (part, "'part' is of a kind that pcc does not know"),
    }


# ---- comparing -------------------------------------------------------------------------------------------


def every_graph(m):
    todo = [m.graph]
    while todo:
        g = todo.pop()
        yield g
        todo += [b for n in g.node for a in n.attribute for b in ([a.g] if a.HasField("g") else []) + list(a.graphs)]


def plain(path):
    """The model's messages with value_info by name and nodes by their bytes, to be compared."""
    m = onnx.load(path, load_external_data=False)

    def by_bytes(messages):
        ordered = sorted(messages, key=lambda x: x.SerializeToString(deterministic=True))
        del messages[:]
        messages.extend(ordered)

    for g in reversed(list(every_graph(m))):  # inner ones first
        by_bytes(g.value_info)
        by_bytes(g.node)
    for f in m.functions:
        by_bytes(f.value_info)
        by_bytes(f.node)
    return m


def first_difference(a, b, place=""):
    """Where two messages of one type differ, in words; their unknown fields, if nowhere else."""
    for f in a.DESCRIPTOR.fields:
        x, y = getattr(a, f.name), getattr(b, f.name)
        at = f"{place}.{f.name}"
        if f.is_repeated and len(x) != len(y):
            return f"{at}: {len(x)} and {len(y)}"
        if not f.is_repeated and f.has_presence and a.HasField(f.name) != b.HasField(f.name):
            return f"{at}: only {'the first' if a.HasField(f.name) else 'the second'} has it"
        pairs = zip(x, y) if f.is_repeated else [(x, y)]
        for i, (p, q) in enumerate(pairs):
            if f.type == f.TYPE_MESSAGE and p.SerializeToString(deterministic=True) != q.SerializeToString(
                deterministic=True
            ):
                return first_difference(p, q, f"{at}[{i}]" if f.is_repeated else at)
            if f.type != f.TYPE_MESSAGE and repr(p) != repr(q):
                return f"{at}[{i}]: {str(p)[:60]!r} and {str(q)[:60]!r}"
    return f"{place}: unknown fields"


def same_folder(a, b, what):
    """All files of two splits, whose manifests may name the model and its path otherwise."""
    names = sorted(p.name for p in a.iterdir())
    if not check(names == sorted(p.name for p in b.iterdir()), f"{what}: other files in the split"):
        return
    for name in names:
        if name.endswith(".onnx"):
            x, y = plain(a / name), plain(b / name)
            check(
                x.SerializeToString(deterministic=True) == y.SerializeToString(deterministic=True),
                f"{what}: {name}: {first_difference(x, y)}",
            )
        elif name in ("weights.data", "schedule.json"):
            check((a / name).read_bytes() == (b / name).read_bytes(), f"{what}: {name} differs")


def check_splits(path, text, folder, what):
    """A split of the text and one of the model, for the same devices: many parts, without a search for few."""
    options = ("-q", "-p", "local-place", "--pictures=none", "-Wno-guessed-dim")
    one, other = pcc(path, *options, "-d", "2xa100", "-o", f"{folder}/a/"), pcc(text, *options, "-o", f"{folder}/b/")
    check(
        one.returncode == other.returncode,
        f"{what}: split of the model {one.returncode}, of the text {other.returncode}: {other.stderr}",
    )
    if one.returncode == 0 and other.returncode == 0:
        same_folder(folder / "a", folder / "b", what)
    for part in "a", "b":
        shutil.rmtree(folder / part, ignore_errors=True)


def check_model(path, runs=None, split=False):
    """Through a text and back, beside the model."""
    text, again, back = path.with_suffix(".pir"), path.with_name("again.pir"), path.with_name("back.onnx")
    what = path.name
    r = pcc(path, "-q", "-o", text)
    if not check(r.returncode == 0, f"{what} -> text: {r.stderr.strip()[:300]}"):
        return
    r = pcc(text, "-q", "-o", again)
    check(
        r.returncode == 0 and text.read_bytes() == again.read_bytes(),
        f"{what}: printed again, it is another text {r.stderr}",
    )
    r = pcc(text, "-q", "-o", back)
    if not check(r.returncode == 0, f"{what} -> text -> ONNX: {r.stderr.strip()[:300]}"):
        return
    if path.name not in TWICE_DEFINED and not SANITIZED:  # the bytes are those of other builds
        a, b = plain(path), plain(back)
        if a.SerializeToString(deterministic=True) != b.SerializeToString(deterministic=True):
            check(False, f"{what}: {first_difference(a, b)}")
    if path.name not in TWICE_DEFINED:
        check(not list(path.parent.glob("back.onnx.data")), f"{what}: weights are copied")
    if runs and not runs.why_not:
        check(not (wrong := runs.difference(back)), f"{what}: {wrong}")
    if split and path.name not in TWICE_DEFINED:
        check_splits(path, text, path.parent, what)
    for p in text, again, back:
        p.unlink(missing_ok=True)


def made_here(folder):
    made = {
        **said_everywhere(),
        **future_fields(),
        **empty_fields(),
        **types(),
        **payloads(),
        **external(folder),
        **attributes(),
        **graphs(),
    }
    for name, m in made.items():
        path = folder / f"{name}.onnx"
        path.write_bytes(m.SerializeToString())
        check_model(path, split=not SANITIZED)
    for name, (m, words) in refused().items():
        path = folder / f"{name}.onnx"
        path.write_bytes(m.SerializeToString())
        r = pcc(path, "-q", "-o", folder / "refused.pir")
        check(
            r.returncode == 1 and words in r.stderr and not (folder / "refused.pir").exists(),
            f"{name}: {r.returncode}: {r.stderr}",
        )
    return len(made)


def generated(folder):
    shapes = {
        "gpt": ["--layers", 2, "--width", 32, "--heads", 2, "--vocab", 64],
        "train": ["--layers", 1, "--width", 16, "--heads", 2],
        "detector": ["--classes", 3, "--width", 8, "--layers", 1],
        "moe": ["--layers", 1, "--width", 32, "--heads", 4],
        "encoder-decoder": ["--layers", 1, "--width", 32, "--heads", 2, "--vocab", 64],
    }
    for shape, options in shapes.items():
        path = folder / f"{shape}.onnx"
        r = subprocess.run([GEN, shape, "-o", path, *map(str, options)], capture_output=True, text=True)
        if check(r.returncode == 0, r.stderr):
            check_model(path, Runs(path) if not SANITIZED else None, split=True)
    return len(shapes)


def shared(folder):
    n = 0
    found = [p for p in sorted(extras.shared("models").rglob("*.onnx")) if p.name not in NO_MODELS]
    for path in found[:: 4 if SANITIZED else 1]:
        for f in path.parent.iterdir():
            if f.suffix in (".bin", ".data") and not (folder / f.name).exists():
                shutil.copy(f, folder / f.name)
        copy = folder / path.name
        shutil.copy(path, copy)
        run = path.stat().st_size < LARGEST and path.parent.name != "real" and not SANITIZED
        check_model(copy, Runs(copy, path.with_suffix(".inputs")) if run else None, split=ALL)
        copy.unlink()
        n += 1
    return n


def main():
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        n = shared(folder) if extras.extra() else made_here(folder) + generated(folder)
    print(f"{n} models")
    return finish()


sys.exit(main())
