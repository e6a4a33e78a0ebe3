"""Hostile and broken files: each gets its own one-line error and exit code 1, nothing crashes,
nothing is left behind.  Needs the Python package onnx (else 77)."""
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: the Python package onnx is not installed")
    sys.exit(77)

PCC = os.environ.get("PCC", "pcc")
F = TensorProto.FLOAT
failed = []
count = 0


def info(name, shape=(2,)):
    return helper.make_tensor_value_info(name, F, shape)


def model(nodes, inits=(), inputs=("x",), outputs=("y",)):
    g = helper.make_graph(nodes, "g", [info(i) for i in inputs], [info(o) for o in outputs],
                          list(inits))
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def small():
    w = numpy_helper.from_array(np.arange(17, dtype=np.uint8), "w")
    return model([helper.make_node("Relu", ["x"], ["t"], name="first"),
                  helper.make_node("Neg", ["t"], ["y"], name="second", alpha=0.5, axes=[1, 2])],
                 [w]).SerializeToString()


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def run(path, out, *options):
    try:
        r = subprocess.run([PCC, path, "-o", out, *options], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "timeout", ""
    return r.returncode, r.stderr.decode(errors="replace")


def expect(folder, name, path, text, *options, rc=1):
    """rc 1: exactly one error line, which names the file and contains text; rc 0: success; None:
    either of them."""
    global count
    count += 1
    out = os.path.join(folder, "out.onnx")
    before = set(os.listdir(folder))
    got, err = run(path, out, *options)
    errors = [x for x in err.splitlines() if "error:" in x]
    bad = None
    if got not in ((0, 1) if rc is None else (rc,)):
        bad = f"exit code {got}, expected {rc}"
    elif got == 1 and (len(errors) != 1 or text not in errors[0]
                       or os.path.basename(path) not in errors[0]):
        bad = f"expected one error line with '{text}'"
    elif got == 1 and set(os.listdir(folder)) != before:
        bad = f"left {set(os.listdir(folder)) - before}"
    if bad:
        failed.append(name)
        print(f"{name}: {bad}; stderr: {err.strip()[-600:]}")
    if os.path.exists(out):
        os.unlink(out)


def try_bytes(folder, name, data, text, *options, rc=1):
    path = os.path.join(folder, name + ".onnx")
    with open(path, "wb") as f:
        f.write(data)
    expect(folder, name, path, text, *options, rc=rc)
    os.unlink(path)


def try_model(folder, name, m, text, *options, rc=1):
    try_bytes(folder, name, m.SerializeToString(), text, *options, rc=rc)


def truncations(tmp):
    """One file cut at every length: only whole fields after the graph can be missed."""
    data, at, ends = small(), 0, {}
    while at < len(data):
        number = data[at] >> 3
        if data[at] & 7 == 0:
            at += 2
        else:
            n, shift, k = 0, 0, at + 1
            while True:
                n |= (data[k] & 127) << shift
                shift, k = shift + 7, k + 1
                if data[k - 1] < 128:
                    break
            at = k + n
        ends[at] = number
    whole = [at for at, number in ends.items() if number >= 7]
    for n in range(1, len(data)):
        try_bytes(tmp, "cut", data[:n], "", rc=0 if n in whole else 1)


def mutations(tmp):
    rng = random.Random(1)
    data = small()
    for _ in range(200):
        b = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            b[rng.randrange(len(b))] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
        try_bytes(tmp, "mutated", bytes(b), "", rc=None)


def nest(depth):
    g = field(2, b"body")
    for _ in range(depth):
        attr = field(1, b"then_branch") + field(6, g) + b"\xa0\x01\x05"
        g = field(1, field(2, b"o") + field(4, b"If") + field(5, attr)) + field(2, b"body")
    return b"\x08\x08" + field(7, g)


def wire(tmp):
    g = field(2, b"g")
    try_bytes(tmp, "group", b"\x08\x08" + field(7, field(1, b"\x0b\x0c")), "groups")
    try_bytes(tmp, "wiretype", b"\x08\x08" + field(7, field(1, b"\x30\x01")),
              "graph.node[0].doc_string: wrong wire type")
    try_bytes(tmp, "beyond", b"\x08\x08" + varint(7 << 3 | 2) + varint(99) + g,
              "offset 2: graph: length 99 goes 96 bytes beyond the end of the file")
    try_bytes(tmp, "inner", b"\x08\x08" + field(7, varint(2 << 3 | 2) + varint(2**40) + b"g"),
              "graph.name: ")
    try_bytes(tmp, "endless", b"\x08" + b"\xff" * 11, "ir_version: bad varint")
    try_bytes(tmp, "zero", b"\x08\x08" + field(7, g) + b"\x02\x00", "impossible field number")
    try_bytes(tmp, "twice", b"\x08\x08" + field(7, g) + field(7, g), "graph: given twice")
    packed = field(1, b"w") + field(4, b"123")
    try_bytes(tmp, "packed", b"\x08\x08" + field(7, field(5, packed)), "not a multiple")
    try_bytes(tmp, "bomb", b"\x08\x08" + field(7, field(1, b"\x2a\x00" * 2000000)), "memory")
    try_bytes(tmp, "deep", nest(3000), "nested more than 100 deep")
    try_bytes(tmp, "nested", nest(30), "", rc=0)
    for what in (b"first", b"Relu"):
        try_bytes(tmp, "nul", small().replace(what, what[:2] + b"\0" + what[3:]), "NUL")


def not_models(tmp):
    try_bytes(tmp, "text", b"hello, world\nthis is no model\n" * 20, "text file, not an ONNX model")
    try_bytes(tmp, "json", b'{"graph": []}', "text file, not an ONNX model")
    try_bytes(tmp, "empty", b"", "is empty")
    try_bytes(tmp, "zeros", bytes(1000), "not an ONNX model")
    try_bytes(tmp, "nograph", b"\x08\x08", "has no graph")
    try_bytes(tmp, "tensor", numpy_helper.from_array(np.ones(9, np.float32)).SerializeToString(),
              "")
    path = os.path.join(tmp, "folder.onnx")
    os.mkdir(path)
    expect(tmp, "folder", path, "is a folder")
    os.rmdir(path)
    path = os.path.join(tmp, "fifo.onnx")
    os.mkfifo(path)
    expect(tmp, "fifo", path, "not a regular file")
    os.unlink(path)
    expect(tmp, "missing", os.path.join(tmp, "missing.onnx"), "cannot open")


def graphs(tmp):
    n = helper.make_node
    try_model(tmp, "cycle", model([n("Add", ["x", "b"], ["a"], name="na"),
                                   n("Neg", ["a"], ["b"], name="nb"),
                                   n("Neg", ["b"], ["y"], name="after")]), "is on a cycle")
    try_model(tmp, "self", model([n("Add", ["x", "y"], ["y"], name="me")]),
              "node 'me' is on a cycle: it reads 'y'")
    try_model(tmp, "undefined", model([n("Add", ["x", "ghost"], ["y"], name="me")]),
              "node 'me' (Add) reads 'ghost'")
    try_model(tmp, "noresult", model([n("Neg", ["x"], ["t"])]), "'y'")
    try_model(tmp, "input", model([n("Neg", ["x"], ["x"]), n("Neg", ["x"], ["y"])]), "'x'")
    try_model(tmp, "inputs", model([n("Neg", ["x"], ["y"])], inputs=("x", "x")), "listed twice")
    try_model(tmp, "nameless", model([n("Neg", ["x"], ["y"])], inputs=("x", "")), "no name")
    body = helper.make_graph([n("Neg", ["late"], ["t"])], "body", [], [info("t")])
    c = [numpy_helper.from_array(np.array(True), "c")]
    cyclic = model([n("If", ["c"], ["y"], name="if", then_branch=body, else_branch=body),
                    n("Neg", ["y"], ["late"], name="user")], c)
    try_model(tmp, "capture", cyclic, "is on a cycle")
    empty = helper.make_node("If", ["c"], ["y"], name="if")
    empty.attribute.add(name="then_branch", type=5)
    try_model(tmp, "nobody", model([empty], c), "has no graph")


def tensors(tmp):
    n = [helper.make_node("Neg", ["x"], ["y"])]

    def one(**k):
        return model(n, [TensorProto(name="w", **k)])
    try_model(tmp, "short", one(dims=[3], data_type=F, raw_data=b"12345678"), "'w' has 8 bytes")
    try_model(tmp, "nodata", one(dims=[3], data_type=F), "expected 12")
    try_model(tmp, "long", one(dims=[], data_type=F, float_data=[1.0] * 500), "expected 4")
    try_model(tmp, "negative", one(dims=[2, -2], data_type=F), "dimension 1 is -2")
    try_model(tmp, "huge", one(dims=[2**40, 2**40], data_type=F), "2^63")
    try_model(tmp, "strings", one(dims=[2], data_type=8, string_data=[b"a"]), "1 strings")
    try_model(tmp, "anonymous", model(n, [TensorProto(dims=[0], data_type=F)]), "no name")


def external(**keys):
    t = TensorProto(name="w", dims=[4], data_type=F, data_location=TensorProto.EXTERNAL)
    for k, v in keys.items():
        t.external_data.add(key=k, value=str(v))
    return model([helper.make_node("Neg", ["x"], ["y"])], [t])


def external_data(tmp):
    out = os.path.join(tmp, "outside")
    folder = os.path.join(tmp, "models")
    os.makedirs(os.path.join(folder, "sub"))
    os.mkdir(out)
    for f in (os.path.join(out, "w.bin"), os.path.join(folder, "w.bin"),
              os.path.join(folder, "sub", "w.bin"), os.path.join(folder, "hard.bin")):
        with open(f, "wb") as g:
            g.write(bytes(64))
    os.link(os.path.join(folder, "hard.bin"), os.path.join(out, "other.bin"))
    os.symlink(os.path.join(out, "w.bin"), os.path.join(folder, "link.bin"))
    os.symlink("w.bin", os.path.join(folder, "near.bin"))
    os.symlink(out, os.path.join(folder, "linked"))
    os.mkfifo(os.path.join(folder, "fifo.bin"))
    link = "--allow-links"

    def t(name, text, *options, rc=1, **keys):
        try_model(folder, name, external(**keys), text, *options, rc=rc)
    t("good", "", location="w.bin", offset=48, length=16, checksum="0", rc=0)
    t("below", "", location="sub/w.bin", offset=0, rc=0)
    t("missing", "", location="none.bin", offset=4096, length=16, rc=0)
    t("up", "goes up with '..'", location="../outside/w.bin")
    t("inside", "goes up with '..'", location="sub/../w.bin")
    t("back", "goes up with '..'", location="sub\\..\\..\\w.bin")
    t("up links", "goes up with '..'", link, location="../outside/w.bin")
    t("absolute", "is absolute", location="/etc/passwd")
    t("absolute links", "is absolute", link, location="/etc/passwd")
    t("drive", "is absolute", location="c:\\w.bin")
    t("nowhere", "is empty", location="")
    t("unstated", "is empty", offset=0)
    for name in ("link", "near", "linked/w", "hard"):
        t(name.replace("/", "-"), "--allow-links", location=name + ".bin")
        t(name.replace("/", "-") + " ok", "", link, location=name + ".bin", rc=0)
    t("directory", "not a regular file", location="sub")
    t("pipe", "not a regular file", location="fifo.bin")
    for key in ("offset", "length"):
        for i, v in enumerate(("-1", "+1", " 1", "1 ", "0x10", "1e3", "", "9223372036854775808",
                               "99999999999999999999999999")):
            t(f"{key}{i}", f"{key} '{v}'", location="w.bin", **{key: v})
    t("behind", "which has 64", location="w.bin", offset=49, length=16)
    t("far", "which has 64", location="w.bin", offset=2**63 - 1, length=16)
    t("far off", "bytes", location="none.bin", offset=2**63 - 1, length=16)
    t("toolong", "expected 16", location="w.bin", length=17)
    t("unknown", "unknown key 'fd'", location="w.bin", fd=0)
    m = external(location="w.bin")
    m.graph.initializer[0].external_data.add(key="location", value="w.bin")
    try_model(folder, "repeated", m, "repeated key 'location'")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        wire(tmp)
        not_models(tmp)
        graphs(tmp)
        tensors(tmp)
        external_data(tmp)
        truncations(tmp)
        mutations(tmp)
        shared = os.path.join(os.environ.get("PCC_SHARED", ""), "models")
        for name, text in (("icm-31000000518082", "offset 88: graph.node[1].doc_string"),
                           ("test_arbitrary_external_file", "goes up with '..'")):
            path = os.path.join(shared, name + ".onnx")
            if os.path.exists(path):
                expect(tmp, name, path, text)
    print(f"{count} files, {len(failed)} failed")
    return 1 if failed else 0


sys.exit(main())
