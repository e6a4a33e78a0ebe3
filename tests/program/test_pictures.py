"""Pictures: what the three views hold, that they stay small, valid and the same, in every format, with
hostile names, without the dot program, and with one that is too slow or fails.

usage: test_pictures.py [NAME...]   (environment: PCC, PCC_GEN)"""
# extras: dot hostile
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish
from sanitized import SANITIZED

try:
    import onnx
    from onnx import TensorProto, helper
except ImportError:
    onnx = None

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
DOT = shutil.which("dot") if extras.extra() else None  # without: what can be said without it
MOST = 150  # boxes in the view of blocks
VIEWS = ("devices", "blocks", "nodes")
QUICK = "fuse,dp-place{max-states=1}"  # its first plan, whether a better one is there or not
SMALL = ["--width", "32", "--heads", "2", "--vocab", "64"]
MODELS = {
    "gpt": ["gpt", "--layers", "24", *SMALL],
    "bert": ["bert", "--layers", "6", *SMALL],
    "train": ["train", "--layers", "5"],
    "inception": ["inception", "--width", "8", "--size", "32", "--classes", "10"],
    "unet": ["unet", "--width", "8", "--size", "16"],
    "ladder": ["ladder", "--nodes", "3000"],
    "star": ["star", "--nodes", "2000"],
    "big": ["train", "--layers", "230", "--no-weights"],
}


def pcc(*args, **more):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, timeout=240, **more)
    r.stderr = r.stderr.decode("utf-8", "replace")
    check(r.returncode >= 0 and "Sanitizer" not in r.stderr, f"{args}: {r.returncode} {r.stderr[:400]}")
    return r


def planned(d, name, devices="3xa100"):
    """A model of the table, planned: textual IR, so that pictures need no planning again."""
    model, plan = d / f"{name}.onnx", d / f"{name}{devices[0]}.pir"
    if not plan.exists():
        subprocess.run([PCC_GEN, *MODELS[name], "-o", model], check=True, capture_output=True)
        r = pcc(model, "-d", devices, "--link", "1TB/s,0us", "-p", QUICK, "-q", "-o", plan)
        check(r.returncode == 0, f"{name}: {r.stderr}")
    return plan


def given(d):
    """Arguments for bert's splits of another plan, which need no planning either."""
    planned(d, "bert")
    plan = d / "bert.json"
    if not plan.exists():
        r = pcc(d / "bert.onnx", "-q", "-p", QUICK, "-o", plan)
        check(r.returncode == 0, f"bert: {r.stderr}")
    return [d / "bert.onnx", "-q", "-p", f"plan{{from={plan}:effort=0}}"]


def dot_of(plan, view):
    r = pcc(plan, "-q", "--view", view, "--emit", "dot")
    check(r.returncode == 0, f"{plan.name} {view}: {r.stderr}")
    return r.stdout.decode("utf-8")


class Graph:
    """Boxes with their labels, colours and frames, and arrows, of DOT as cgraph writes it."""

    def __init__(self, text):
        text = re.sub(r"\\\n", "", text)
        self.label, self.frame, self.arrow = {}, {}, []
        self.frames = re.findall(r"subgraph (cluster_part\d+)", text)
        frame = None
        for m in re.finditer(r'subgraph (\w+) \{|^\t\}|^\s*(\w+)\s+\[((?:"(?:\\.|[^"\\])*"|[^\]"])*)\];'
                             r'|^\s*(\w+) -> (\w+)\s+\[', text, re.M):
            if m[1]:
                frame = frame if m[1].startswith("cluster_column") else m[1]
            elif m[4]:
                self.arrow.append((m[4], m[5]))
            elif m[2] and m[2] not in ("graph", "node", "edge"):
                label = re.search(r'label="((?:\\.|[^"\\])*)"|label=([\w.]+)', m[3])
                self.label[m[2]] = label[1] or label[2] if label else ""
                self.frame[m[2]] = frame
            elif not m[2]:
                frame = None

    def boxes(self, prefix):
        return [b for b in self.label if re.fullmatch(prefix + r"\d+", b)]

    def nodes(self, box):
        m = re.search(r"(\d+) (?:small nodes|nodes, )", self.label[box])
        return int(m[1]) if m else 1

    def has_cycle(self):
        """Among boxes of one frame."""
        succ, into = {}, dict.fromkeys(self.label, 0)
        for a, b in self.arrow:
            if self.frame.get(a) and self.frame.get(a) == self.frame.get(b):
                succ.setdefault(a, []).append(b)
                into[b] += 1
        free = [b for b, n in into.items() if n == 0]
        for a in free:
            for b in succ.get(a, []):
                into[b] -= 1
                if into[b] == 0:
                    free.append(b)
        return len(free) < len(self.label)


PALE = "#c3ccd6"
QUOTED = r'"(?:\\.|[^"\\])*"'
# What boxes, arrows, frames and sheets are given; Graphviz takes any other word without complaint.
KNOWN = {"arrowhead", "arrowsize", "color", "compound", "constraint", "fillcolor", "fontcolor", "fontname", "fontsize",
         "group", "height", "id", "key", "label", "labeljust", "labelloc", "labeltooltip", "lhead", "ltail", "margin",
         "minlen", "newrank", "nodesep", "penwidth", "peripheries", "rank", "ranksep", "shape", "style", "tooltip",
         "weight", "width"}


def attributes(text):
    """Every attribute is one that Graphviz knows; every arrow has an id, a tooltip and a colour, and a head unless it
    ends where arrows meet or at its label (that of the outputs is an end).  What leaves a box for another device has
    the box's colour; the id of what stays has the numbers of both boxes."""
    text = re.sub(r"\\\n", "", text)
    wrong = [f"attribute {word}" for word in {*re.findall(r"(\w+)=", re.sub(QUOTED, "1", text))} - KNOWN]
    line = {m[1]: m[2] for m in re.finditer(rf'^\s*(\w+)\s+\[(?:{QUOTED}|[^\]"])*?\bcolor="(#\w+)"', text, re.M)}
    for m in re.finditer(rf"^\s*(\w+) -> (\w+)\s+\[((?:{QUOTED}|[^\]\"])*)\];", text, re.M):
        has = dict(re.findall(rf"(\w+)=({QUOTED}|[^\s,\]]+)", m[3]))
        if has.get("style") == "invis":
            continue
        headless = re.match(r"label_|route_\d+_[1-9]", m[2]) is not None
        if headless != (has.get("arrowhead") == "none") or not {"id", "tooltip", "color"} <= {*has}:
            wrong.append(f"{m[1]} -> {m[2]}: {m[3]}")
        if headless and PALE not in (line.get(m[1], PALE), has["color"][1:-1]) and has["color"] != f'"{line[m[1]]}"':
            wrong.append(f"{m[1]} -> {m[2]}: the colour {has['color']}, {line[m[1]]} at its box")
        ends = re.fullmatch(r"block(\d+) block(\d+)", f"{m[1]} {m[2]}")
        if ends and has["id"] != "edge_{}_{}".format(*(int(n) + 1 for n in ends.groups())):
            wrong.append(f"{m[1]} -> {m[2]}: the id {has['id']}")
    return wrong


def views(d):
    """Every node is in one box of each view; blocks are few and make no cycle."""
    for name in [n for n in MODELS if not (SANITIZED and n == "big")]:
        plan = planned(d, name)
        text = {v: dot_of(plan, v) for v in VIEWS}
        g = {v: Graph(text[v]) for v in VIEWS}
        for v in VIEWS:
            wrong = attributes(text[v]) if len(text[v]) < 1e6 else []
            check(not wrong, f"{name} {v}: {len(wrong)} wrong: {wrong[:3]}")
        total = [sum(int(re.search(r"(\d+) nodes", g["devices"].label[b])[1])
                     for b in g["devices"].boxes("part")),
                 sum(g["blocks"].nodes(b) for b in g["blocks"].boxes("block")),
                 len(g["nodes"].boxes("node"))]
        check(total[0] > 0 and len(set(total)) == 1, f"{name}: nodes in the views: {total}")
        n = len(g["blocks"].boxes("block"))
        check(0 < n <= MOST, f"{name}: {n} blocks")
        check(not g["blocks"].has_cycle(), f"{name}: blocks in a cycle")
        check(not g["nodes"].has_cycle(), f"{name}: nodes in a cycle")
        check(len(g["blocks"].frames) == len(g["devices"].boxes("part")), f"{name}: frames")
        check(all(g["blocks"].frame[b] for b in g["blocks"].boxes("block")), f"{name}: no frame")
        print(f"{name}: {total[2]} nodes, {n} blocks, {len(g['blocks'].arrow)} arrows", flush=True)


def folds(d):
    """Layers come as one box with their number, also where names say nothing."""
    labels = "\n".join(Graph(dot_of(planned(d, "gpt"), "blocks")).label.values())
    folded = re.findall(r"(\d+) x \{ln_1, attn, ln_2, mlp\}\\n/h\.(\d+) \.\.\. /h\.(\d+)\\n", labels)
    check(folded and all(int(n) == int(b) - int(a) + 1 for n, a, b in folded), f"gpt: {folded}")
    check(sum(int(n) for n, _, _ in folded) >= 24 - 2 * 3, f"gpt: only {folded} folded")
    one = Graph(dot_of(planned(d, "gpt", "1xa100"), "blocks")).label.values()
    check(any(s.startswith("24 x {ln_1, attn, ln_2, mlp}") for s in one), f"gpt on one: {list(one)}")
    if not onnx:
        return
    model = onnx.load(str(d / "gpt.onnx"))
    for i, n in enumerate(model.graph.node):
        n.name = f"n{i}"
    onnx.save(model, str(d / "plain.onnx"))
    r = pcc(d / "plain.onnx", "-d", "1xa100", "-p", "dp-place", "-q", "--emit", "dot")
    labels = Graph(r.stdout.decode()).label.values()
    check(any(s.startswith(("23 x {", "24 x {")) for s in labels), f"gpt without names: {list(labels)}")


def plain_names(d):
    """Names without scopes say nothing of what belongs together: boxes of equally many nodes."""
    rng, ops = random.Random(1), ("Tanh", "Neg", "Abs", "Exp", "Sqrt", "Relu", "Floor", "Ceil")
    nodes = "".join(f"  %v{i} = {rng.choice(ops)}(%x) : f32[4] name=\"v{i}\" !bytes=16B !xfer=1us !time=1us\n"
                    for i in range(3 * MOST))
    flat = d / "flat.pir"
    flat.write_text(f"class a100 x1\ngraph {{\n  in %x : f32[4] !bytes=16B !xfer=1us\n{nodes}  out "
                    + ", ".join(f"%v{i}" for i in range(3 * MOST)) + "\n}\n", encoding="utf-8")
    r = pcc(flat, "-p", "one-place", "-q", "--emit", "dot")
    g = Graph(r.stdout.decode())
    held = [g.nodes(b) for b in g.boxes("block")]
    check(len(held) > 9 and max(held) <= min(held) + 1 and sum(held) == 3 * MOST,
          f"plain names: {r.stderr[:200]} boxes of {held} nodes")


def small(d):
    """Boxes below 0.5 % come as "12 small nodes"; of those that are left none follow each other; masks are pale."""
    text = dot_of(planned(d, "gpt", "1xa100"), "blocks")
    g = Graph(text)
    found = [b for b, s in g.label.items() if re.match(r"\d+ small nodes\\n", s)]
    check(len(found) == 1 and g.nodes(found[0]) > 3, f"small nodes: {found}")
    tiny = {b for b, s in g.label.items() if (m := re.search(r"\((0\.\d) %\)", s)) and float(m[1]) < 0.5
            and "weights" not in s}
    check(not any(a in tiny and b in tiny for a, b in g.arrow), f"small boxes side by side: {tiny}")
    check("#f7f9fb" in dot_of(planned(d, "train"), "blocks"), "no pale box: the mask")
    check("#f7f9fb" not in dot_of(planned(d, "ladder"), "blocks"), "a pale box without shapes and masks")


def near(nodes, arrows, start, k):
    """The nodes up to k arrows from one, either way."""
    found = {start}
    for _ in range(k):
        found |= {y for a, b in arrows for x, y in ((a, b), (b, a)) if x in found}
    return found & nodes


def some(d):
    """--part and --around show what they say, and nothing else."""
    plan = planned(d, "bert")
    args = [plan, "-q", "--emit", "dot"]
    whole = Graph(dot_of(plan, "nodes"))
    parts = [Graph(pcc(*args, f"--part={i}").stdout.decode()) for i in range(len(whole.frames))]
    shown = [set(g.boxes("node")) for g in parts]
    check(set().union(*shown) == set(whole.boxes("node")) and sum(map(len, shown)) == len(set().union(*shown)),
          "the parts are not the whole")
    check(all(g.frames == [f] for g, f in zip(parts, whole.frames)), "a part shows other frames")
    inside = [(a, b) for a, b in whole.arrow if whole.frame.get(a) and whole.frame.get(b)]
    name = {b: whole.label[b].split("\\n")[0] for b in whole.boxes("node")}
    start = next(b for b, s in name.items() if re.search("layer.*MatMul", s) and whole.frame[b] == whole.frames[0])
    for k in (0, 1, 3):
        g = Graph(pcc(*args, "--part=0", f"--around={name[start]}:{k}").stdout.decode())
        least = near(shown[0], inside, start, k)
        check(start in g.label and least <= set(g.boxes("node")) <= shown[0], f"--around {k}: {g.boxes('node')}")
        check(k or g.boxes("node") == [start], f"--around 0: {g.boxes('node')}")
    two = set(Graph(pcc(*args, f"--around={name[start]}").stdout.decode()).boxes("node"))
    check(two == set(Graph(pcc(*args, f"--around={name[start]}:2").stdout.decode()).boxes("node")), "--around: not 2")
    for bad, say in (("--part=99", "expected a number below"), ("--part=a", "expected a number below"),
                     ("--around=nobody:2", "'nobody': no placed node")):
        r = pcc(*args, bad)
        check(r.returncode == 1 and say in r.stderr, f"{bad}: {r.stderr}")
    colours = set(re.findall(r'fillcolor="(#\w+)"', dot_of(plan, "nodes")))
    check({"#bfe3c3", "#fbe3a0", "#e2e5ea", "#d5e5f7"} <= colours, f"colours of operators: {colours}")
    r = pcc(plan, "--view=nodes", "-o", d / "all.dot")
    check("--part=N" in r.stderr, f"a large picture does not say how to see less: {r.stderr}")


def same(d):
    for name in ("gpt", "train"):
        for view in VIEWS:
            two = [dot_of(planned(d, name), view) for _ in range(2)]
            check(two[0] == two[1], f"{name} {view}: two runs differ")


def words(d):
    """Copies of a stage, state that is not a weight, arrows that are left out."""
    train, kv = d / "t.onnx", d / "kv.onnx"
    subprocess.run([PCC_GEN, "train", "--layers", "2", "-o", train], check=True, capture_output=True)
    subprocess.run([PCC_GEN, "gpt", "--kv", "--layers", "3", *SMALL, "-o", kv], check=True, capture_output=True)
    args = ["-d", "4xa100", "--link", "1TB/s,0us", "-p", QUICK, "-q", "--emit", "dot"]
    for more, copies in ([], 0), (["--replicate"], 1):
        g = Graph(pcc(train, *args, *more, "--view=devices").stdout.decode())
        turns = [m for x in g.label.values() for m in re.findall(r"^acc(\d) to acc(\d) in turn ", x)]
        check((len(turns) > 0) == copies and all(a < b for a, b in turns), f"copies {more}: {turns}")
    text = pcc(kv, *args, "--dim", "past_sequence=64").stdout.decode()
    sizes = [re.findall(r"(weights|state) [\d.]+ .iB", x) for x in Graph(text).label.values()]
    check(["weights", "state"] in sizes and ["weights"] in sizes, f"weights and state: {sizes}")
    few = d / "few.pir"
    few.write_text("class a100 x1\ngraph {\n  %a = profile:op() : ? !bytes=1B !xfer=1us !time=1us\n"
                   "  %b = profile:op(%a) : ? !bytes=1B !xfer=1us !time=1us\n}\n", encoding="utf-8")
    check("left out: shapes" in text, "hidden arrows are not told")
    text = pcc(few, "-p", "dp-place", "-q", "--emit", "dot").stdout.decode()
    check("left out: shapes" not in text, "none are hidden")


def magic_of(path):
    data = path.read_bytes()
    if path.suffix == ".svg":
        return xml.etree.ElementTree.fromstring(data).tag.endswith("svg")
    return data.startswith({".png": b"\x89PNG\r\n\x1a\n", ".pdf": b"%PDF-"}[path.suffix])


def formats(d):
    made = itertools.product(("bert", "inception")[SANITIZED:], VIEWS, ("svg", "pdf", "png")[SANITIZED:])
    for name, view, end in made:
        path = d / f"x.{end}"
        path.unlink(missing_ok=True)
        r = pcc(planned(d, name), "-q", "--view", view, "-o", path)
        check(r.returncode == 0 and magic_of(path), f"{name} {view} {end}: {r.stderr}")
    r = pcc(planned(d, "big"), "-q", "--view", "nodes", "-o", d / "big.svg")
    check(r.returncode == 0 and "it shows blocks" in r.stderr and magic_of(d / "big.svg"),
          f"all nodes of a big model: {r.stderr}")
    svg = [pcc(planned(d, "gpt"), "-q", "-o", d / f"{i}.svg").returncode for i in range(2)]
    check(svg == [0, 0] and (d / "0.svg").read_bytes() == (d / "1.svg").read_bytes(), "two SVG differ")


def folder(d):
    """--pictures chooses formats; a folder with some is replaced by one with others."""
    split = given(d)
    def names(*more):
        r = pcc(*split, "-o", d / "split", *more)
        check(r.returncode == 0, f"{more}: {r.stderr}")
        return {p.name for p in (d / "split").iterdir() if re.match("(plan|blocks|nodes)[.]", p.name)}
    dots = {"plan.dot", "blocks.dot", "nodes.dot"}
    check(names("--pictures=none") == set(), "--pictures=none")
    check(names("--pictures=dot") == dots, "--pictures=dot")
    if DOT:
        ends = ("svg", "pdf", "png")
        both = {f"{a}.{b}" for a in ("plan", "blocks") for b in ends}
        check(names("--pictures=svg,pdf,png,dot") == dots | both, "--pictures=svg,pdf,png,dot")
        check(all(magic_of(d / "split" / n) for n in both), "formats of a folder")
        check(names("--pictures=png") == {"plan.png", "blocks.png"}, "--pictures=png")
        check(names() == {"plan.svg", "blocks.svg"}, "pictures without an option")
    for bad in ("gif", "svg,", ",svg", "svg,none", ""):
        r = pcc(d / "bert.onnx", "-q", "-p", QUICK, "-o", d / "split", "--pictures", bad)
        check(r.returncode == 2 and "--pictures" in r.stderr, f"--pictures '{bad}': {r.stderr}")
    r = pcc(d / "bert.onnx", "-q", "-p", "dp-place", "--emit", "dot", "--view", "all")
    check(r.returncode == 2 and "--view 'all'" in r.stderr, f"--view all: {r.stderr}")


def hostile_model(path):
    """A chain whose names are as bad as names get; X...X is replaced by bytes that are no UTF-8."""
    bad = ['"', "\\", "\\\\", 'a"];evil [label="x', "<b>bold</b>", "<<TABLE></TABLE>>", "a\nb\r\tc", "\\N\\G\\l",
           "&lt;&#1;&#0;&amp", "\x7f\x1b[31m", "{rec|ord}", "/" * 300, "long" * 20000, "ünïcödé 漢字 🙂",
           "\u202egnp.exe", "\ufffe\uffff", "XXXXXXXX", "%s%n%d", "node", "cluster_part0", "]]>", "-->", "}"]
    names = bad + [f"/{b}/layer.{i}/{c}" for i in range(4) for b, c in zip(bad[:12], bad[5:])]
    names = list(dict.fromkeys(names))
    values = [f"v{i}{n}" for i, n in enumerate(names)]
    nodes = [helper.make_node("Tanh", [a], [b], name=n) for n, a, b in
             zip(names, ["input" + bad[3], *values], values)]
    nodes.append(helper.make_node('Op"\\<i>\n', [values[-1]], ["custom"], domain="evil", name="custom"))
    x = helper.make_tensor_value_info("input" + bad[3], TensorProto.FLOAT, [64, 64])
    y = helper.make_tensor_value_info("custom", TensorProto.FLOAT, [64, 64])
    model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]), ir_version=9,
                              opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("evil", 1)])
    path.write_bytes(model.SerializeToString().replace(b"XXXXXXXX", b"\xc2\x85\xe2\x80\xae\xc2\x9b\x7f"))


def hostile(d):
    path = d / 'bad "name" <x> &#2; \\N.onnx'
    hostile_model(path)
    plan = d / "hostile.pir"
    r = pcc(path, "-d", "2xa100", "--link", "1TB/s,0us", "-p", "dp-place", "-q", "-o", plan)
    check(r.returncode == 0, f"hostile: {r.stderr[:300]}")
    for view in VIEWS:
        text = pcc(plan, "-q", "--view", view, "--emit", "dot").stdout
        text.decode("utf-8")
        g = Graph(text.decode("utf-8"))
        check(max(map(len, g.label.values())) < 1000, f"{view}: a label of {max(map(len, g.label.values()))}")
        check("evil" not in g.label and len(text) < 500000, f"{view}: a name broke out of its quotes")
        r = subprocess.run([DOT, "-Tcanon"], input=text, capture_output=True)
        check(r.returncode == 0 and not r.stderr, f"{view}: dot: {r.stderr[:300]}")
        r = pcc(plan, "-q", "--view", view, "-o", d / "x.svg")
        check(r.returncode == 0, f"{view}: {r.stderr}")
        root = xml.etree.ElementTree.parse(d / "x.svg").getroot()
        tags = {e.tag.split("}")[1] for e in root.iter()}
        check(tags <= {"svg", "g", "title", "polygon", "polyline", "path", "text", "ellipse", "a"}, f"{view}: {tags}")
        shown = "\n".join(e.text or "" for e in root.iter())
        check(view != "nodes" or "<b>bold</b>" in shown and "&lt;&#1;" in shown, f"{view}: names changed")
        check("\u202e" not in shown and "\x1b" not in shown, f"{view}: control characters")


def fake_dot(d, body):
    d.mkdir()
    (d / "dot").write_text("#!/bin/sh\n" + body)
    (d / "dot").chmod(0o755)
    return dict(os.environ, PATH=f"{d}:{os.environ['PATH']}")


def without_dot(d):
    """The DOT is written, the message says what is missing, nothing of the user's is overwritten; devices are drawn."""
    plan, none = planned(d, "bert"), {"PATH": "/nonexistent"}
    for env in (none, {"PATH": ""}):
        r = pcc(plan, "-q", "-o", d / "a.png", env=env, cwd=d)
        check(r.returncode == 1 and "graphviz" in r.stderr and "a.png: not written" in r.stderr,
              f"no dot: {r.returncode} {r.stderr}")
        check(not (d / "a.png").exists() and (d / "a.dot").read_text() == dot_of(plan, "blocks"),
              "no dot: the DOT is not there")
        (d / "a.dot").unlink(missing_ok=True)
    (d / "b.dot").write_text("mine")
    before = sorted(p.name for p in d.iterdir())
    r = pcc(plan, "-q", "-o", d / "b.svg", env=none)
    check(r.returncode == 1 and (d / "b.dot").read_text() == "mine", "a file beside was overwritten")
    check(sorted(p.name for p in d.iterdir()) == before, "something is left behind")
    check("b.svg: not written; --view=devices needs no dot program" in r.stderr, f"what needs none: {r.stderr}")
    split = [d / "bert.onnx", "-d", "3xa100", "--link", "1TB/s,0us", "-p", QUICK, "-o", d / "split"]
    r = pcc(*split, "--pictures=svg,pdf", "-q", env=none)
    check("no picture of plan but plan.svg: the dot program" in r.stderr and (d / "split/plan.dot").is_file(),
          f"a PDF: {r.stderr}")
    r = pcc(*split, env=none)
    files = {p.name for p in (d / "split").iterdir()}
    check(r.returncode == 0 and "note: no blocks.svg: there is no dot program (package graphviz)" in r.stderr
          and "-Wpicture" not in r.stderr, f"a folder without dot: {r.stderr}")
    check({"plan.svg", "blocks.dot"} <= files and not {"plan.dot", "blocks.svg", "nodes.dot"} & files,
          f"a folder without dot: {files}")
    row_shows(d / "split", pcc(plan, "-q", "-o", d / "row.svg", "--view=devices", env=none), d / "row.svg")


def row_shows(split, r, path):
    """The row of boxes has the parts of the manifest, and from part to part the tensors that cross."""
    check(path.read_bytes() == (split / "plan.svg").read_bytes(), f"two rows: {r.stderr}")
    manifest = json.loads((split / "manifest.json").read_text())
    index = {p["file"]: k + 1 for k, p in enumerate(manifest["parts"])}
    cross = {(index[t["from"]], index[to], t["name"]) for t in manifest["tensors"] for to in t["to"]}
    boxes, shown = set(), set()
    for g in xml.etree.ElementTree.parse(path).getroot():
        ends = re.fullmatch(r"edge_([1-9]\d*)_([1-9]\d*)", g.get("id", ""))
        boxes |= {g.get("id")} if re.fullmatch(r"part\d+|inputs|outputs", g.get("id", "")) else set()
        shown |= {(int(ends[1]), int(ends[2]), t.rsplit(" (", 1)[0]) for t in g[0].text.split(", ")} if ends else set()
    check(boxes == {"inputs", "outputs", *(f"part{k - 1}" for k in index.values())}, f"a row has the boxes {boxes}")
    check(shown == cross and len(cross) > 2, f"a row shows {shown ^ cross} otherwise")


def bad_dot(d):
    """A dot that fails is quoted; one that is slow gets fewer boxes and simpler lines; one that hangs
    is stopped."""
    plan = planned(d, "bert")
    r = pcc(plan, "-q", "-o", d / "x.svg", env=fake_dot(d / "fails", "echo 'Error: boom' >&2; exit 1\n"))
    check(r.returncode == 1 and "no x.svg: dot failed: Error: boom" in r.stderr, f"dot fails: {r.stderr}")
    (d / "x.dot").unlink(missing_ok=True)
    split = given(d)
    half = fake_dot(d / "half", 'for o; do case "$o" in -o*) echo half >"${o#-o}";; esac; done; exit 1\n')
    before = {p.name for p in d.iterdir()}
    r = pcc(plan, "-q", "-o", d / "x.svg", env=half)
    left = {p.name for p in d.iterdir()} - before
    check(r.returncode == 1 and left == {"x.dot"}, f"half a picture: {r.returncode}, {left}")
    r = pcc(*split, "-o", d / "half split", env=half)
    left = {p.name for p in (d / "half split").iterdir() if p.suffix in (".svg", ".pdf", ".png")}
    check(r.returncode == 0 and left == {"plan.svg"} and "no plan.svg but a row of boxes: dot failed" in r.stderr
          and xml.etree.ElementTree.parse(d / "half split/plan.svg"),
          f"half pictures in a folder: {r.returncode}, {left}")
    chatty = fake_dot(d / "chatty", "yes warning | head -c 300000 >&2; exec sleep 60\n")
    r = pcc(plan, "-q", "-o", d / "z.svg", env=chatty)
    check(r.returncode == 1 and "not lay it out in time" in r.stderr and not (d / "z.svg").exists(),
          f"dot hangs: {r.stderr}")
    if DOT:
        slow = fake_dot(d / "slow", f'case "$*" in *splines=line*) exec {DOT} "$@";; esac; exec sleep 60\n')
        r = pcc(plan, "-q", "-o", d / "y.svg", env=slow)
        check(r.returncode == 0 and "it shows fewer boxes" in r.stderr and magic_of(d / "y.svg"),
              f"dot is slow: {r.stderr}")


# Machado, Oliveira, Fernandes 2009, severity 1.0
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900))}


def linear(colour):
    v = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in v]


def contrast(a, b):
    x, y = sorted(0.2126 * r + 0.7152 * g + 0.0722 * c + 0.05 for r, g, c in (linear(a), linear(b)))
    return y / x


def lab(colour, vision):
    r, g, b = (min(1, max(0, sum(m * c for m, c in zip(row, linear(colour))))) for row in vision)
    def f(t):
        return t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
    x, y, z = (f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505),
               f(0.2126 * r + 0.7152 * g + 0.0722 * b),
               f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def colours(d):
    """Legible, and apart for everybody."""
    text = dot_of(planned(d, "gpt", "9xa100"), "devices")
    pairs = list(dict.fromkeys(re.findall(r'\[color="(#\w{6})",\s*fillcolor="(#\w{6})",\s*id=part', text)))
    check(len(pairs) == 8, f"{len(pairs)} colours")
    for line, fill in pairs:
        check(contrast(line, "#ffffff") >= 3 and contrast("#000000", fill) >= 7, f"contrast of {line} {fill}")
    for name, matrix in VISION.items():
        for (a, _), (b, _) in itertools.combinations(pairs, 2):
            apart = sum((x - y) ** 2 for x, y in zip(lab(a, matrix), lab(b, matrix))) ** 0.5
            check(apart >= 20, f"{name}: {a} and {b} are {apart:.0f} apart")


TESTS = {"": [views, folds, plain_names, small, some, same, words, folder, without_dot, bad_dot, colours],
         "dot": [formats, folder, bad_dot], "hostile": [hostile]}


def main():
    extra, names = extras.extra(), [a for a in sys.argv[1:] if not a.startswith("--extra=")]
    extras.need(not extra or DOT, "no program dot")
    extras.need(extra != "hostile" or onnx, "onnx is not installed")
    with tempfile.TemporaryDirectory(prefix="pcc-pictures-") as name:
        d = Path(name)
        for test in TESTS[extra]:
            if test.__name__ in names or not names:
                test(d)
                print(test.__name__, flush=True)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
