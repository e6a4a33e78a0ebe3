"""Hostile and broken files: each gets its own one-line error and exit code 1, nothing crashes,
nothing is left behind; and what is written goes where the user said, whatever a model's names or links
in the way say.

What other readers of ONNX got wrong, by CVE, and where it is tried here:
  2022-25882, 2024-27318  '..' and absolute locations, and ways around the check: external_data
  2024-27319              names in error messages: long_names
  2024-5187, 2024-7776    archives that are unpacked: archives
  2025-51480              files overwritten by saving: writing (names, links, folders)
  2026-27489, 2026-34446  symbolic and hard links: external_data, writing_links, writing_folders
  2026-34445              unknown keys, negative and huge numbers: external_data
  2022-33070, 2022-48468  shifts and overflows in varints and lengths: overflows
and without a number: bodies' inputs that are initializers (bodies), nesting, cycles, bombs, NUL bytes
(wire, graphs), products of dimensions (tensors).  Needs the Python package onnx (else 77)."""
# extras: shared
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from sanitized import SANITIZED
from wire import field, varint

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


def run(path, out, *options):
    try:
        r = subprocess.run([PCC, path, "-o", out, *options], capture_output=True, timeout=300)
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


def demand(name, ok, what):
    global count
    count += 1
    if not ok:
        failed.append(name)
        print(f"{name}: {what}")


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
    for n in range(1, len(data), 6 if SANITIZED else 1):
        try_bytes(tmp, "cut", data[:n], "", rc=0 if n in whole else 1)


def mutations(tmp):
    rng = random.Random(1)
    data = small()
    for _ in range(30 if SANITIZED else 200):
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
    body = field(1, field(4, b"Neg") + field(2, b"o")) + field(2, b"b")
    owner = field(4, b"If") + field(5, field(1, b"t") + field(6, body))
    same = b"".join(field(1, owner + field(3, b"n%d" % k)) for k in range(40000))
    try_bytes(tmp, "same names", b"\x08\x08" + field(7, same + g), "", rc=0)  # names are made up
    dims = field(2, field(1, b"\x08\x01" + field(2, field(1, b"\x08\x02") * 32000)))
    ranks = field(11, field(1, b"x") + dims) + field(12, field(1, b"x") + dims)
    try_bytes(tmp, "rank", b"\x08\x08" + field(7, g + ranks), "", rc=0)
    many = field(1, field(1, b"x") * 10**6 + field(2, b"o") + field(4, b"Sum"))
    try_bytes(tmp, "inputs of one node", b"\x08\x08" + field(7, many + field(11, field(1, b"x")) + g), "", rc=0)
    heads, size = [], 4
    for k in range(2 * 10**5):  # a sequence of sequences of ..., written from the inside out
        heads.append(varint((4, 1)[k % 2 == 0] << 3 | 2) + varint(size))
        size += len(heads[-1])
    types = b"".join(reversed(heads)) + field(1, b"\x08\x01")
    try_bytes(tmp, "types", b"\x08\x08" + field(7, g + field(11, field(1, b"x") + field(2, types))),
              "nested more than 100 deep")
    try_bytes(tmp, "nested", nest(33), "", rc=0)  # its innermost graph is 100 deep
    try_bytes(tmp, "too deep", nest(34), "nested more than 100 deep")
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
    for i, v in enumerate(("..", "../", "sub/..", "./../models/w.bin", "sub//..//..//outside/w.bin",
                           "sub/./.././w.bin", ".././outside/w.bin")):
        t(f"bypass{i}", "goes up with '..'", location=v)
        t(f"bypass{i} links", "goes up with '..'", link, location=v)
    for i, v in enumerate(("...", "..w.bin", "%2e%2e/outside/w.bin", "sub/...//w.bin")):
        t(f"no bypass{i}", "", location=v, rc=0)  # names like any other, of files that are not there
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
    for key in ("__class__", "Location", "location ", ""):
        t("unknown " + key, f"unknown key '{key}'", location="w.bin", **{key: "x"})
    m = external(location="w.bin")
    m.graph.initializer[0].external_data.add(key="location", value="w.bin")
    try_model(folder, "repeated", m, "repeated key 'location'")


def bodies(tmp):
    """Bodies whose inputs are initializers, too, or do not match the node's operands."""
    n = helper.make_node
    c = [numpy_helper.from_array(np.array(True), "c")]
    w = numpy_helper.from_array(np.ones(2, np.float32), "i")

    def body(inputs, outputs, inits=()):
        return helper.make_graph([n("Identity", ["c"], ["k"]), n("Neg", ["i"], ["o"])], "body",
                                 [info(i) for i in inputs], [info(o) for o in outputs], list(inits))
    for name, b in (("more", body("nqirs", "ko")), ("fewer", body("n", "ko", [w])),
                    ("both", body("nqi", "ko", [w])), ("none", body("", "", [w]))):
        m = model([n("Loop", ["", "c", "x"], ["y"], name="loop", body=b)], c)
        try_model(tmp, f"body {name}", m, "", "-p", "dp-place", rc=None)


def overflows(tmp):
    """Numbers that do not fit where a parser might put them."""
    g = field(7, field(2, b"g"))
    most = b"\xff" * 9
    try_bytes(tmp, "shift", b"\x08" + most + b"\x7f" + g, "", rc=None)
    try_bytes(tmp, "shift more", b"\x08" + most + b"\xff\x01" + g, "ir_version: bad varint")
    try_bytes(tmp, "tag shift", b"\xf8" + most + b"\x01" + g, "bad field tag")
    try_bytes(tmp, "length shift", b"\x08\x08\x3a" + most + b"\x01", "bad length")
    try_bytes(tmp, "length 4G", b"\x08\x08" + b"\x3a\xff\xff\xff\xff\x0f" + b"g", "beyond the end")
    for name, number in (("data_type", 2), ("data_location", 14)):
        t = field(8, b"w") + varint(number << 3) + most + b"\x01"
        try_bytes(tmp, name, b"\x08\x08" + field(7, field(5, t)), "", rc=None)


def long_names(tmp):
    """Names that are long, or not for terminals, or look like formats: errors stay one clean line."""
    n = helper.make_node
    for k, name in enumerate(("a" * 2000000, "%s%n%1000000d", "two\nlines\r\n", "\x1b[31mred\x07",
                              "\u202egnp.exe", "'\"\\")):
        for op in ("Neg", name):
            path = os.path.join(tmp, "names.onnx")
            with open(path, "wb") as f:
                f.write(model([n(op, [name], ["y"], name=name)]).SerializeToString())
            expect(tmp, f"name {k}", path, "..." if len(name) > 4096 else "which nothing defines")
            err = run(path, os.path.join(tmp, "out.onnx"))[1]
            demand(f"name {k}", len(err.splitlines()) == 1 and len(err) < 20000 and
                   not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", err),
                   f"not one clean line: {err[:300]!r}")
            os.unlink(path)
    for data in (b"\xff\xfe", b"\xc0\xaf\xc0\xae"):
        raw = model([n("Neg", ["ghost"], ["y"], name="node")]).SerializeToString()
        try_bytes(tmp, "bytes", raw.replace(b"node", data * 2)[:len(raw) - 4 + len(data) * 2], "",
                  rc=None)


def expressions(tmp):
    """Regular expressions that would take the C library much time or memory are refused."""
    m, plan = os.path.join(tmp, "m.onnx"), os.path.join(tmp, "plan.txt")
    with open(m, "wb") as f:
        f.write(small())
    large = "with its repeats written out"
    for text, wrong in (("a" + "+" * 40, "inside each other"),
                        ("x((a|b?)*c+)+{2}", "inside each other"), ("((a{1,255}){1,255}){1,255}", large),
                        ("a" * 3000, large), ("((a{40}){,60})*", large), ("[[:alpha:]]{2000}", large),
                        ("(a|b)*\\1", "refers back"), ("(" * 60 + "a" + ")" * 60, "50 groups"),
                        ("(a", "not a regular"), ("a[", "not a regular"), ("a[[:", "not a regular"),
                        ("a\\", "not a regular"), ("[]{9999}[:alpha:]{9999}+]{2}|\\(\\[{1,3}", ""),
                        ("[^]{9999}]+(a(b(c)?)*){2,30}", ""), ("\\{9999\\}|x{0,1}", "")):
        with open(plan, "w", encoding="utf-8") as f:
            f.write(f"{text}=acc0\n.=acc0\n")
        got, err = run(m, os.path.join(tmp, "split"), "-p", f"plan{{from={plan}}}")
        demand(f"expression {text[:40]}", got == (1 if wrong else 0) and wrong in err,
               f"exit code {got}: {err[-300:]}")
        shutil.rmtree(os.path.join(tmp, "split"), ignore_errors=True)


def archives(tmp):
    """Archives are no models, and nothing is taken out of them."""
    data, packed = small(), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as z:
        z.writestr("../evil.onnx", data)
    try_bytes(tmp, "zip", packed.getvalue(), "not an ONNX model")
    for mode in ("w", "w:gz"):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode=mode) as z:
            member = tarfile.TarInfo("../evil.onnx")
            member.size = len(data)
            z.addfile(member, io.BytesIO(data))
        try_bytes(tmp, "tar" + mode[1:].replace(":", " "), packed.getvalue(), "")


FAST = ["-p", "dp-place", "--link", "1TB/s,0us"]
SPLIT = re.compile(r"(manifest\.json|schedule\.json|run_split\.py|weights\d*\.data|model\.onnx|part\d+\.onnx|"
                   r"(plan|blocks|nodes)\.(dot|svg|pdf|png))$")


def splittable(names, weight=4096):
    """A chain with weights of that many bytes, its nodes, values and weights named in turn."""
    def name(k):
        return f"{names[k % len(names)]}{k if k >= len(names) else ''}"
    side = int((weight / 4) ** 0.5)
    values = ["x"] + [name(k) for k in range(4)]
    weights = [numpy_helper.from_array(np.full((side, side), k, np.float32), "w" + name(k))
               for k in range(4)]
    nodes = [helper.make_node("MatMul", [values[k], "w" + name(k)], [values[k + 1]], name=name(k))
             for k in range(4)]
    g = helper.make_graph(nodes, names[0], [info("x", (side, side))],
                          [info(values[-1], (side, side))], weights)
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    m.producer_name = m.domain = m.doc_string = names[0]
    m.metadata_props.add(key=names[0], value=names[0])
    return m


def writing_names(area):
    """No name in a model is a name of a file that is written."""
    model_file = area / "in" / "m.onnx"
    for k, names in enumerate((["../evil", "../../evil"], ["/tmp/pcc-evil"], ["a/b/c", "./x"],
                               ["manifest.json", "weights.data", "part0.onnx", "model.onnx"],
                               ["..", ".", "a" * 5000], ["-o", "--help", "~/x", "$(touch evil)"],
                               ["`touch evil`", "|touch evil", "plan.dot", "\n"])):
        model_file.write_bytes(splittable(names).SerializeToString())
        shutil.rmtree(area / "out" / "split", ignore_errors=True)
        before = {p for p in area.rglob("*")}
        got, err = run(model_file, area / "out" / "split", *FAST)
        new = {p for p in area.rglob("*")} - before
        wrong = [p for p in new if p != area / "out" / "split" and
                 (p.parent != area / "out" / "split" or not SPLIT.match(p.name))]
        demand(f"names {k}", got == 0, f"exit code {got}: {err[-300:]}")
        demand(f"names {k}", not wrong and not os.path.exists("/tmp/pcc-evil"), f"wrote {wrong}")
        parts = [p for p in new if p.name.startswith("part")]
        demand(f"names {k}", parts, f"expected parts, got {new}")


def writing_links(area):
    """Links that wait where a file will be written lead nowhere."""
    m, victim, out = area / "in" / "m.onnx", area / "victim", area / "out"
    m.write_bytes(splittable(["n"]).SerializeToString())
    victim.write_bytes(b"precious")

    def intact(name, *expected):
        demand(name, victim.read_bytes() == b"precious", "the target of a link was written")
        for p in expected:
            demand(name, p.is_file() and not p.is_symlink(), f"{p.name} is no file of its own")
    (out / "one.onnx").symlink_to(victim)
    run(m, out / "one.onnx")
    intact("link for a model", out / "one.onnx")
    os.link(victim, out / "two.onnx")
    run(m, out / "two.onnx")
    intact("hard link for a model", out / "two.onnx")
    (out / "plan.json").symlink_to(victim)
    run(m, out / "plan.json", *FAST)
    intact("link for a plan", out / "plan.json")
    # the temporary name is known as soon as the process is: it is taken, and another one found
    plant = 'ln -s "$0" "$1/.pcc-$$-0"; exec "$2" "$3" -o "$1/three.onnx"'
    r = subprocess.run(["sh", "-c", plant, victim, out, PCC, m], capture_output=True, check=False)
    demand("planted link", r.returncode == 0, f"exit code {r.returncode}: {r.stderr[-300:]}")
    intact("planted link", out / "three.onnx")
    demand("planted link", len([p for p in out.iterdir() if p.name.startswith(".pcc-")]) == 1,
           "the temporary file stayed")


def writing_folders(area):
    """A split folder with links and a forged manifest is replaced without following either."""
    m, victim, split = area / "in" / "m.onnx", area / "victim", area / "out" / "split"
    m.write_bytes(splittable(["n"]).SerializeToString())
    victim.write_bytes(b"precious")
    got, err = run(m, split, *FAST)
    demand("split", got == 0, err[-300:])
    for name in ("weights.data", "part0.onnx", "model.onnx"):
        (split / name).unlink(missing_ok=True)
        (split / name).symlink_to(victim)
    got, err = run(m, split, *FAST)
    demand("linked split", got == 0 and not (split / "weights.data").is_symlink(), err[-300:])
    demand("linked split", victim.read_bytes() == b"precious", "the target of a link was written")
    for file in ("../../victim", str(victim), "../victim", "part0.onnx/../../../victim", "mine.txt"):
        forged = json.loads((split / "manifest.json").read_text(encoding="utf-8"))
        forged["parts"][0]["file"] = file
        (split / "manifest.json").write_text(json.dumps(forged), encoding="utf-8")
        if file == "mine.txt":
            (split / file).write_text("mine", encoding="utf-8")
        got, err = run(m, split, *FAST)
        demand(f"forged {file}", got == 1 and "does not belong" in err, err[-300:])
        demand(f"forged {file}", file != "mine.txt" or (split / file).exists(), "a file was removed")
        demand(f"forged {file}", victim.exists() and victim.read_bytes() == b"precious",
               "a file outside of the split was removed or written")
        shutil.rmtree(split, ignore_errors=True)
        run(m, split, *FAST)
    real = area / "out" / "real"
    real.mkdir()
    (real / "mine.txt").write_text("mine", encoding="utf-8")
    shutil.rmtree(split)
    split.symlink_to(real)
    got, err = run(m, split, *FAST)
    demand("linked folder", got == 1 and "is not empty" in err, f"exit code {got}: {err[-300:]}")
    demand("linked folder", [p.name for p in real.iterdir()] == ["mine.txt"], "files changed")


def creating(root):
    """Every file that the sources create is created exclusively, and never through a link."""
    names = [p for d in ("ir", "frontends", "passes", "backends", "tools/pcc")
             for p in (root / d).rglob("*.c")]
    demand("sources", len(names) > 50, f"only {len(names)} sources in {root}")
    for p in names:
        text = p.read_text(encoding="utf-8")
        for call in re.findall(r"\bopen(?:at)?\([^;]*O_CREAT[^;]*;", text):
            demand(p.name, "O_EXCL" in call and "O_NOFOLLOW" in call, f"not created safely: {call}")
        demand(p.name, not re.search(r"\bcreat\(|\bfopen\([^;]*\"[wa]|\btmpnam|\bmktemp", text),
               "a file is opened for writing without O_EXCL and O_NOFOLLOW")


def writing(tmp):
    for k, part in enumerate((writing_names, writing_links, writing_folders)):
        area = Path(tmp) / f"area{k}"
        for d in ("in", "out"):
            (area / d).mkdir(parents=True)
        part(area)
    creating(Path(os.environ.get("PCC_SOURCE", Path(__file__).resolve().parents[2])))


def found(tmp):
    for name, text in (("icm-31000000518082", "offset 88: graph.node[1].doc_string"),
                       ("test_arbitrary_external_file", "goes up with '..'")):
        expect(tmp, name, str(extras.shared(f"models/{name}.onnx")), text)


def made(tmp):
    wire(tmp)
    not_models(tmp)
    graphs(tmp)
    tensors(tmp)
    external_data(tmp)
    bodies(tmp)
    overflows(tmp)
    long_names(tmp)
    expressions(tmp)
    archives(tmp)
    writing(tmp)
    truncations(tmp)
    mutations(tmp)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        found(tmp) if extras.extra() else made(tmp)
    print(f"{count} files, {len(failed)} failed")
    return 1 if failed else 0


sys.exit(main())
