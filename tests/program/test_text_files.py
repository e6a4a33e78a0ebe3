"""Textual IR that refers to files, and texts that are wrong about ONNX.

A text whose weights' file is not there, has another size, ends before the weights, or lies elsewhere is refused
where its bytes are wanted, by name, with exit code 1; planning goes without.  A workload has no operators to write.
Whatever stands in !onnx, the program ends with 0 or 1 and a message, and what it writes onnx can parse.  The text
counts: bytes of !onnx that say otherwise about names, operators, shapes and places of weights change nothing."""
# once: sanitized

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish
from wire import field, varint

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: the Python packages onnx and numpy are not installed")
    sys.exit(77)

PCC = os.environ.get("PCC", "pcc")
W = np.arange(64, dtype=np.float32).reshape(8, 8)


def pcc(*args):
    return subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, errors="replace", timeout=300)


def text_of(where, size=None, off=64):
    """y = MatMul(x, w), w in a file of the text."""
    size = "" if size is None else f" size={size}"
    return f"""pcc 1
opset ai.onnx 20
file 1 "{where}"{size} location="{where}"
graph {{
  in %x : f32[2,8]
  init %w : f32[8,8] = file 1 at {off} len 256
  %y = MatMul(%x, %w) : f32[2,8]
  %z = Relu(%y) : f32[2,8]
  out %z
}}
"""


def check_lengths(folder):
    """Weights of all lengths in a file that the text gives no place in the model: they are written into the model, the
    short ones read, the long ones copied from file to file."""
    source, lengths = np.arange(3000, dtype=np.float32), (1, 2, 4, 5, 16, 1023, 1024, 1025)
    (folder / "short.bin").write_bytes(source.tobytes())
    text = ["pcc 1", "opset ai.onnx 20", 'file 1 "short.bin" size=12000', "graph {", "  in %x : f32[1]"]
    text += [f"  init %w{n} : f32[{n}] = file 1 at {4 * n} len {4 * n}" for n in lengths]
    text += [f"  %y{n} = Add(%x, %w{n}) : f32[{n}]" for n in lengths]
    text += [f"  out %y{n}" for n in lengths]
    (folder / "short.pir").write_text("\n".join([*text, "}"]) + "\n")
    for out, *how in (("short.onnx",), ("short", "-p", "dp-place", "-d", "2xa100", "--weights=inline")):
        r = pcc(folder / "short.pir", "-q", *how, "-o", folder / out)
        found = {}
        for path in [folder / out] if not how else (folder / out).glob("part*.onnx"):
            if r.returncode:
                break
            found |= {i.name: numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer}
        check(r.returncode == 0 and all(np.array_equal(found.get(f"w{n}"), source[n:2 * n]) for n in lengths),
              f"{out}: weights of {lengths} elements: {r.returncode} {r.stderr}")


def check_places(folder):
    """The table of what may be wrong with a file of weights."""
    inside = folder / "inside"
    inside.mkdir()
    for f in inside / "w.bin", folder / "outside.bin":
        f.write_bytes(bytes(64) + W.tobytes())
    (inside / "link.bin").symlink_to("w.bin")
    (inside / "there").symlink_to(folder)
    os.mkfifo(inside / "fifo.bin")
    (inside / "folder.bin").mkdir()
    # text, what is said, whether --allow-links helps, whether planning goes without the file
    rows = [
        ("w.bin", text_of("w.bin", 320), None, False, True),
        ("another size", text_of("w.bin", 321), "'w.bin' has 320 bytes, the text says 321", False, False),
        ("beyond", text_of("w.bin", 320, 65), "the file has only 320 bytes", False, False),
        ("beyond what is there", text_of("w.bin", None, 65), "'w': bytes 65 + 256 are outside its file", False, False),
        ("far beyond", text_of("w.bin", None, 2**63 - 100), "offset and length overflow", False, False),
        ("farther", text_of("w.bin", None, 2**63), "is out of range", False, False),
        ("not there", text_of("gone.bin", 320), "gone.bin', which is not there", False, True),
        ("no folder", text_of("gone/w.bin", 320), "w.bin', which is not there", False, True),
        ("a link", text_of("link.bin", 320), "link.bin', which is a symbolic link", True, True),
        ("behind a link", text_of("there/outside.bin", 320), "outside.bin', which ", True, True),
        ("above", text_of("../outside.bin", 320), "which lies outside of the folder", True, True),
        ("from the root", text_of(folder / "outside.bin", 320), "which lies outside of the folder", True, True),
        # also behind a file that is missing and that nothing reads
        ("of no size", text_of("w.bin").replace(
            'file 1 "w.bin"', f'file 1 "gone" location="gone"\nfile 2 "{folder}/outside.bin"',
        ).replace("= file 1", "= file 2"),
         "which lies outside of the folder", True, True),
        ("a pipe", text_of("fifo.bin", 320), "fifo.bin", False, False),
        ("a folder", text_of("folder.bin", 320), "folder.bin", False, False),
        ("no name", text_of("", 320), "'w'", False, True),
        ("the text itself", text_of("t.pir"), "'w'", False, False),
    ]
    for name, text, said, links, plans in rows:
        path = inside / "t.pir"
        path.write_text(text)
        r = pcc(path, "-o", inside / "out.onnx")
        check(r.returncode == (1 if said else 0) and (said or "") in r.stderr, f"{name}: {r.returncode}: {r.stderr}")
        check((inside / "out.onnx").exists() == (not said), f"{name}: the model, or none")
        r = pcc(path, "-q", "-p", "dp-place", "-d", "2xa100", "-o", f"{inside}/split/")
        check(
            r.returncode == (1 if said else 0) and not list(inside.glob(".*")),
            f"{name}: split: {r.returncode} {r.stderr}",
        )
        r = pcc(path, "-q", "-p", "dp-place", "-d", "2xa100", "-o", inside / "plan.json")
        check(r.returncode == (0 if plans else 1), f"{name}: plan: {r.returncode}: {r.stderr}")
        (inside / "out.onnx").unlink(missing_ok=True)
        subprocess.run(["rm", "-r", "-f", inside / "split"], check=True)
        if links:
            r = pcc(path, "--allow-links", "-q", "-o", inside / "out.onnx", "-Wno-moved-weights")
            check(r.returncode == 0, f"{name}: with --allow-links: {r.returncode}: {r.stderr}")
            (inside / "out.onnx").unlink(missing_ok=True)


def check_moved(folder):
    """Paths are relative to the text, from wherever it is read; what is written beside it refers to the same bytes."""
    (folder / "w.bin").write_bytes(bytes(64) + W.tobytes())
    (folder / "t.pir").write_text(text_of("w.bin", 320))
    r = subprocess.run(
        [PCC, str(folder / "t.pir"), "-q", "-o", str(folder / "out.onnx")], cwd="/", capture_output=True, text=True
    )
    check(r.returncode == 0, r.stderr)
    m = onnx.load(folder / "out.onnx")
    check(m.graph.initializer[0].raw_data == W.tobytes(), "the weight's bytes")
    r = pcc(folder / "t.pir", "-q", "-o", folder / "w.bin")
    check(
        r.returncode in (1, 2) and (folder / "w.bin").stat().st_size == 320,
        f"over its own weights: {r.returncode} {r.stderr}",
    )


def check_workload(folder):
    (folder / "w.pir").write_text(
        "graph {\n  %a = profile:op() : !xfer=1us !time=1us\n  %b = profile:op(%a) : !xfer=1us !time=1us\n}\n"
    )
    for target in "w.onnx", "w/":
        r = pcc(folder / "w.pir", *(["-p", "dp-place"] if target == "w/" else []), "-o", f"{folder}/{target}")
        check(
            r.returncode == 1 and ("has no operators" in r.stderr or target == "w/") and not (folder / target).exists(),
            f"workload to {target}: {r.returncode}: {r.stderr}",
        )


# ---- !onnx -----------------------------------------------------------------------------------------------


def carried(node="", tensor="", graph="", top="", attribute=""):
    """A text whose node, weight, graph, model and attribute say these bytes."""

    def say(data):
        return f' !onnx="{data.hex()}"' if data != "" else ""

    return f"""pcc 1
about{say(top)}
opset ai.onnx 20
graph @main name="g"{say(graph)} {{
  in %x : f32[2]
  init %w : f32[2] = [1.0, 2.0]{say(tensor)}
  %y = LeakyRelu(%x) {{alpha=0.5 about{say(attribute)}}} : f32[2] name="n"{say(node)}
  %z = Add(%y, %w) : f32[2]
  out %z
}}
"""


def nested(depth, number):
    data = b""
    for _ in range(depth):
        data = field(number, data)
    return data


def hostile():
    """Bytes that are no messages, or too much of one."""
    deep = b""
    for _ in range(1000):  # attribute in node in graph in attribute ...
        deep = field(5, field(6, field(1, deep)))
    yield "no wire format", b"\xff\xff\xff"
    yield "a wrong type", varint(3 << 3) + b"\x01"
    yield "cut short", varint(6 << 3 | 2) + b"\x05ab"
    yield "a huge length", varint(6 << 3 | 2) + varint(2**62) + b"x"
    yield "length of all bits", varint(5 << 3 | 2) + b"\xff" * 9 + b"\x01"
    yield "nested", deep
    yield "groups", bytes([0x0B]) * 1000
    yield "nested in unknown fields", nested(1000, 999)
    yield "no UTF-8", field(6, b"\xff\xfe\x00\x80")
    yield "endless varint", b"\x08" + b"\x80" * 100
    yield "many small ones", field(16, b"") * 20000


def check_hostile(folder):
    refused = 0
    for name, data in hostile():
        for place in "node", "tensor", "graph", "top", "attribute":
            (folder / "h.pir").write_text(carried(**{place: data}))
            for target in "h.onnx", "h2.pir":
                r = pcc(folder / "h.pir", "-q", "-o", folder / target)
                check(
                    r.returncode in (0, 1) and (r.returncode == 0 or "error: " in r.stderr),
                    f"{name} in {place} -> {target}: {r.returncode}: {r.stderr[:300]}",
                )
                refused += r.returncode
                if r.returncode == 0 and target == "h.onnx":
                    onnx.load(folder / target)
                (folder / target).unlink(missing_ok=True)
    check(refused > 40, f"{refused} were refused")


def check_contradictions(folder):
    """Messages that say otherwise: the text counts, and what is beside it stays."""
    w = numpy_helper.from_array(np.zeros(9, np.float64), "other")
    w.doc_string = "kept"
    other = helper.make_node("Div", ["a", "b", "c"], ["d", "e"], name="m", domain="far", overload="o", k=1)
    other.doc_string = "kept too"
    graph = helper.make_graph(
        [other],
        "another",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [7, 7])],
        [helper.make_tensor_value_info("nobody", TensorProto.INT8, [])],
        [w],
        value_info=[helper.make_tensor_value_info("y", TensorProto.STRING, ["s"])],
    )
    graph.quantization_annotation.add(tensor_name="y")
    whole = helper.make_model(
        graph, producer_name="somebody", ir_version=3, opset_imports=[helper.make_opsetid("far", 9)]
    )
    attribute = helper.make_attribute("beta", 2.0)
    attribute.doc_string = "and this"
    external = TensorProto(name="w", dims=[2], data_type=1, data_location=TensorProto.EXTERNAL, raw_data=b"12345678")
    external.external_data.add(key="location", value="/etc/hostname")
    plain = carried().replace("\n", "")
    for name, where in (
        ("all", {"node": other, "tensor": w, "graph": graph, "top": whole, "attribute": attribute}),
        ("external", {"tensor": external}),
    ):
        said = {k: m.SerializeToString() for k, m in where.items()}
        (folder / "c.pir").write_text(carried(**said))
        r = pcc(folder / "c.pir", "-q", "-o", folder / "c.onnx")
        if not check(r.returncode == 0, f"{name}: {r.stderr}"):
            continue
        m = onnx.load(folder / "c.onnx")
        g, n, t = m.graph, m.graph.node[0], m.graph.initializer[0]
        check(
            (n.op_type, n.name, n.domain, n.overload, list(n.input), list(n.output))
            == ("LeakyRelu", "n", "", "", ["x"], ["y"]),
            f"{name}: {n}",
        )
        check([(a.name, a.type, a.f) for a in n.attribute] == [("alpha", 1, 0.5)], f"{name}: {n.attribute}")
        check(
            np.array_equal(numpy_helper.to_array(t), np.float32([1, 2])) and t.name == "w" and len(g.initializer) == 1,
            f"{name}: {t}",
        )
        check(
            [i.name for i in g.input] == ["x"]
            and [o.name for o in g.output] == ["z"]
            and len(g.node) == 2
            and g.name == "g",
            f"{name}: {g.name} {[i.name for i in g.input]}",
        )
        check(g.input[0].type.tensor_type.elem_type == 1, f"{name}: the type of x")
        onnx.checker.check_model(m, full_check=True)
        if name == "all":
            check(
                (t.doc_string, n.doc_string, n.attribute[0].doc_string, m.producer_name)
                == ("kept", "kept too", "and this", "somebody"),
                f"what the text is silent about: {m}",
            )
    check("!onnx" not in plain, "the text itself says nothing")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for run in check_lengths, check_places, check_moved, check_workload, check_hostile, check_contradictions:
            folder = Path(tmp) / run.__name__
            folder.mkdir()
            run(folder)
    return finish()


sys.exit(main())
