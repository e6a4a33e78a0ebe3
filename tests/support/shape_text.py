"""What pcc infers, read back from the textual IR: just names and types; and how it
compares with the types of arrays and with shapes that others inferred."""
import functools
import os
import re
import subprocess
import tempfile

PCC = os.environ.get("PCC", "pcc")

# Element types, numbered as in ONNX (TensorProto.DataType).
ELEMS = ("", "f32", "u8", "i8", "u16", "i16", "i32", "i64", "str", "bool", "f16", "f64", "u32", "u64", "c64",
         "c128", "bf16", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "u4", "i4", "f4e2m1", "f8e8m0",
         "u2", "i2")


@functools.cache
def tokens_of(separator):
    return re.compile(rf'"(?:[^"\\]|\\.)*"?|[(\[{{]|[)\]}}]|{re.escape(separator)}', re.S)


def split_top(text, separator):
    """Parts of text between separators that are outside quotes and brackets."""
    parts, depth, start = [], 0, 0
    for m in tokens_of(separator).finditer(text) if separator in text else ():
        token = m[0]
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token == separator and depth == 0:
            parts.append(text[start:m.start()])
            start = m.end()
    return parts + [text[start:]]


def name_of(text):
    text = text.strip()
    if text.startswith('%"'):
        return re.sub(r"\\x(..)", lambda m: chr(int(m[1], 16)),
                      text[2:-1].replace('\\"', '"').replace("\\\\", "\\"))
    return text[1:]


def type_of(text):
    """(element type or None, [dims as text] or None for an unknown rank)."""
    m = re.match(r"\s*(\w*)\[(.*)\]", text)
    if m is None:
        return None, None
    elem = m[1] or None
    if m[2] == "*":
        return elem, None
    return elem, [d.strip() for d in split_top(m[2], ",")] if m[2] else []


def inferred(path, bodies=False):
    """name -> (element type, dims) of the results in the main graph, None if pcc refuses; and stderr.
    bodies: in all graphs, without the names that stand in more than one."""
    out = subprocess.run([PCC, path, "-p", "infer-shapes", "--emit", "ir"],
                         capture_output=True, text=True)
    if out.returncode != 0:
        return None, out.stderr
    types, main, twice = {}, bodies, set()
    for line in out.stdout.split("\n"):
        if line.startswith("graph @"):
            main = bodies or line.startswith("graph @main")
        if not main or not line.startswith(("  %", "  _")) or " = " not in line:
            continue
        results, rest = split_top(line, " = ")[:2]
        names = [name_of(r) for r in split_top(results, ",")]
        parts = split_top(rest, " : ")
        parts = split_top(split_top(parts[1], " name=")[0], ",") if len(parts) > 1 else []
        for name, t in zip(names, parts + [""] * len(names)):
            if name in types:
                twice.add(name)
            types[name] = type_of(t)
    return {k: t for k, t in types.items() if k not in twice}, out.stderr


def prefix_names(graph, prefix):
    """Puts the prefix before every name of a value or node, in bodies, too."""
    for node in graph.node:
        node.name = node.name and prefix + node.name
        node.input[:] = [v and prefix + v for v in node.input]
        node.output[:] = [v and prefix + v for v in node.output]
        for a in node.attribute:
            for g in [a.g, *a.graphs] if a.HasField("g") or a.graphs else ():
                prefix_names(g, prefix)
    for named in [*graph.input, *graph.output, *graph.value_info, *graph.initializer,
                  *(s.values for s in graph.sparse_initializer)]:
        named.name = prefix + named.name


def inferred_together(models):
    """Yields what inferred() gives for each of the models (ModelProtos without functions; all import the same
    opsets), which become one model of unconnected pieces: starting pcc takes longer than inferring.  If pcc
    refuses it, each half of it is tried."""
    whole = type(models[0])()
    whole.CopyFrom(models[0])
    prefix_names(whole.graph, "0.")
    for k, m in enumerate(models[1:], 1):
        piece = type(m.graph)()
        piece.CopyFrom(m.graph)
        prefix_names(piece, f"{k}.")
        whole.graph.MergeFrom(piece)
    with tempfile.NamedTemporaryFile(suffix=".onnx") as f:
        f.write(whole.SerializeToString())
        f.flush()
        types, log = inferred(f.name)
    if types is None and len(models) > 1:
        half = len(models) // 2
        yield from inferred_together(models[:half])
        yield from inferred_together(models[half:])
        return
    of = [{} for _ in models]
    for name, t in (types or {}).items():
        k, _, rest = name.partition(".")
        of[int(k)][rest] = t
    yield from ((None if types is None else t, log) for t in of)


def inferred_all(models, at_once=200):
    """What inferred() gives for each of the models, in their order."""
    groups, found = {}, {}
    for i, m in enumerate(models):
        key = (i,) if m.functions else tuple(sorted((o.domain, o.version) for o in m.opset_import))
        groups.setdefault((m.ir_version, *key), []).append(i)
    for group in groups.values():
        for at in range(0, len(group), at_once):
            part = group[at:at + at_once]
            found.update(zip(part, inferred_together([models[i] for i in part])))
    return [found[i] for i in range(len(models))]


def known_name(name):
    """A name that somebody gave; onnx makes up names for what it does not know."""
    return None if name == "" or name.startswith("unk__") else name


def declared(infos):
    """name -> (element type or None, [number, name or None] or None) of what ValueInfoProtos say."""
    types = {}
    for info in infos:
        if info.type.WhichOneof("value") != "tensor_type":
            continue
        t = info.type.tensor_type
        dims = None
        if t.HasField("shape"):
            dims = [d.dim_value if d.HasField("dim_value") else known_name(d.dim_param) for d in t.shape.dim]
        types[info.name] = (ELEMS[t.elem_type] or None, dims)
    return types


def all_infos(graph):
    """What is said about values of a graph and of its bodies."""
    infos = list(graph.value_info) + list(graph.output)
    for node in graph.node:
        for a in node.attribute:
            for g in [a.g, *a.graphs]:
                infos += all_infos(g)
    return infos


def wrong(got, want):
    """Is something in got (a pair as of type_of) contradicted by want (as of declared)?"""
    if got[0] is not None and want[0] is not None and got[0] != want[0]:
        return True
    if got[1] is None or want[1] is None:
        return False
    return len(got[1]) != len(want[1]) or any(
        isinstance(w, int) and g.isdigit() and int(g) != w for g, w in zip(got[1], want[1]))


def weaker(got, want):
    """Does want say something that got does not?  A name there asks for any name or number here."""
    if got[0] is None and want[0] is not None:
        return True
    if want[1] is None:
        return False
    if got[1] is None:
        return True
    return any((isinstance(w, int) and not g.isdigit()) or (w is not None and g == "?")
               for g, w in zip(got[1], want[1]))


def value_of(text, binding):
    """A dimension in the textual IR as a number; None: it has a name that no input has."""
    for name in sorted(binding, key=len, reverse=True):
        text = text.replace(f"'{name}'", str(binding[name]))
    names = {"Min": min, "Max": max, **binding}
    words = set(re.findall(r"[A-Za-z_][\w.]*", text))
    if "?" in text or "'" in text or not words <= set(names):
        return None
    return eval(text, {"__builtins__": {}}, names)  # digits, known names and + - * // ( ) ,
