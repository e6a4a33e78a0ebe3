"""Geometry of pictures and charts, from the coordinates in the SVG: no text overlaps another, leaves its box or lies
on a border, no arrow goes through one, and width and height are within limits.  Planted faults are found.

usage: test_geometry.py [MODEL...]   (environment: PCC, PCC_GEN, PCC_SHARED)"""
# extras: dot shared
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish
from sanitized import SANITIZED

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
SCREEN = 1440 * 900  # px
SMALL = ["--width", "32", "--heads", "2", "--vocab", "64"]
LINK = ["--link", "1TB/s,0us", "-p"]
QUICK = "fuse,dp-place{max-states=1000}"  # whether a better plan is there does not matter here
TWO = ["-d", "2xa100", *LINK, QUICK]
EIGHT = ["-d", "8xa100", *LINK, "fuse,dp-place"]
MODELS = {
    "gpt": (["gpt", "--layers", "12", *SMALL], TWO),
    "gpt-kv": (["gpt", "--kv", "--layers", "12", *SMALL], [*TWO, "--dim", "past_sequence=64"]),
    "resnet": (["resnet", "--width", "8", "--size", "32"], TWO),
    "unet": (["unet", "--width", "8", "--size", "16"], TWO),
    "train": (["train", "--layers", "4"], TWO),
    "moe": (["moe", "--layers", "4", "--no-weights"], TWO),
    "many": (["gpt", "--layers", "12", *SMALL], ["-d", "9xa100", *LINK, "fuse,dp-place"]),
    "train-8": (["train", "--layers", "4"], EIGHT),
    "unet-8": (["unet", "--width", "8", "--size", "16"], EIGHT),
    "moe-8": (["moe", "--layers", "4", "--no-weights"], EIGHT),
    # Kinds of graphs as textual IR: branches of so many nodes, and their names.
    "three": ((1, 3, "n{}"), TWO),
    "deep": ((1, 2000, "n{}"), ["-d", "64xa100", *LINK, "dp-place"]),
    "wide": ((300, 1, "n{}"), ["-d", "30xa100", *LINK, "local-place"]),
    "long": ((9, 3, "/scope" + "long" * 45 + "/n{}"), ["-d", "3xa100", *LINK, "greedy-place"]),
    "foreign": ((9, 3, "/層/漢字の名前🙂ünïcödé/Ячейка{}"), ["-d", "3xa100", *LINK, "local-place"]),
}
MANY = {"deep": 4, "wide": 3}  # screens, on 64 and 30 devices; else two
ROWED = ("gpt", "many", "train", "train-8", "deep", "wide", "long", "foreign")
CHARTED = {"three": [[]], "deep": [[]], "wide": [[]], "foreign": [[]], "train-8": [[]], "long": [], "unet-8": [],
           "moe-8": []}  # how, if not in both ways
REAL = {"swin_tiny_ts": ["-p", "greedy-place"], "unet_sd15like_dyn": TWO, "resnet50_ts": TWO}
for real in [*REAL]:
    REAL[f"{real}-4"] = ["-d", "4xa100", "-p", "open-functions,fuse,auto-place"]

# Of Helvetica, thousandths of the size, from ' ' to '~'.
WIDTHS = [278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556,
          556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667,
          556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556,
          556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722,
          500, 500, 500, 334, 260, 334, 584]
SLACK = 1.0  # px that may overlap: letters seldom fill their height


def numbers(s):
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", s)]


def tag(e):
    return e.tag.split("}")[1]


class Box:
    def __init__(self, x0, y0, x1, y1, what):
        self.x0, self.y0, self.x1, self.y1, self.what = x0, y0, x1, y1, what

    def overlaps(self, o):
        return (min(self.x1, o.x1) - max(self.x0, o.x0) > SLACK and min(self.y1, o.y1) - max(self.y0, o.y0) > SLACK)

    def inside(self, o, slack=SLACK):
        return (self.x0 >= o.x0 - slack and self.x1 <= o.x1 + slack and self.y0 >= o.y0 - slack
                and self.y1 <= o.y1 + slack)

    def holds(self, x, y):
        return self.x0 + SLACK < x < self.x1 - SLACK and self.y0 + SLACK < y < self.y1 - SLACK


def text_box(e, sizes):
    """The box of a text, its letters' bodies without the white above them."""
    size, bold = sizes(e)
    s = "".join(e.itertext())
    wide = sum(WIDTHS[ord(c) - 32] if " " <= c <= "~" else 700 for c in s) * size / 1000 * (1.07 if bold else 1)
    x, y = float(e.get("x")), float(e.get("y"))
    x -= {"middle": wide / 2, "end": wide}.get(sizes.anchor(e), 0)
    return Box(x, y - 0.72 * size, x + wide, y + 0.2 * size, s)


class Dot:
    """What Graphviz writes: sizes and anchors are attributes."""

    def __call__(self, e):
        return float(e.get("font-size")), e.get("font-weight") == "bold"

    def anchor(self, e):
        return e.get("text-anchor")


class Chart:
    """What pcc's charts say in their style sheet."""

    def __call__(self, e):
        c = e.get("class", "")
        return {"t": 18, "m": 9}.get(c, 12), c in ("t", "n", "v")

    def anchor(self, e):
        return "middle" if e.get("class") in ("a", "l", "m", "v") else "start"


class Row:
    """What pcc's rows of boxes say in theirs."""

    def __call__(self, e):
        return 12, False

    def anchor(self, e):
        return "start" if e.get("class") == "s" else "middle"


def outline(e):
    """The box of a shape."""
    if tag(e) == "ellipse":
        x, y, rx, ry = (float(e.get(k)) for k in ("cx", "cy", "rx", "ry"))
        return Box(x - rx, y - ry, x + rx, y + ry, "ellipse")
    if tag(e) == "rect":
        x, y, w, h = (float(e.get(k)) for k in ("x", "y", "width", "height"))
        return Box(x, y, x + w, y + h, "rect")
    v = numbers(e.get("points") or e.get("d"))
    return Box(min(v[::2]), min(v[1::2]), max(v[::2]), max(v[1::2]), tag(e))


def along(d):
    """Points of a path of cubic curves as Graphviz writes it, M x,y C ..."""
    v = numbers(d)
    p = list(zip(v[::2], v[1::2]))
    for i in range(0, len(p) - 3, 3):
        for k in range(33):
            t = k / 32
            w = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3)
            yield tuple(sum(a * q[j] for a, q in zip(w, p[i:i + 4])) for j in (0, 1))


def pairs(boxes):
    """Boxes that overlap, sweeping over x."""
    boxes = sorted(boxes, key=lambda b: b.x0)
    open_ = []
    for b in boxes:
        open_ = [o for o in open_ if o.x1 > b.x0]
        yield from ((o, b) for o in open_ if o.overlaps(b))
        open_.append(b)


def picture_faults(root, most):
    """Of a picture by Graphviz, in words."""
    texts, frames, paths, faults = [], [], [], []
    wide, high = (numbers(root.get(k))[0] for k in ("width", "height"))
    if wide * 4 / 3 * high * 4 / 3 > most * SCREEN or wide * 4 / 3 > most * 1440 or high * 4 / 3 > most * 900:
        faults.append(f"size: {wide:.0f} x {high:.0f} pt are more than {most} screens")
    sheet = next(e for e in root if tag(e) == "g")
    for g in [sheet, *(e for e in sheet.iter() if tag(e) == "g" and e is not sheet)]:
        own = [e for e in g.iter() if g is not sheet] if g is not sheet else \
            [x for e in sheet if tag(e) != "g" or e.get("class") is None for x in e.iter()]
        kind = g.get("class")
        boxes = [text_box(e, Dot()) for e in own if tag(e) == "text"]
        shapes = [outline(e) for e in own if tag(e) in ("polygon", "ellipse", "path", "polyline")]
        if kind == "node":
            texts += boxes
            for b in boxes:
                if shapes and not any(b.inside(s) for s in shapes):
                    faults.append(f"box: '{b.what}' leaves its box")
        elif kind == "cluster":
            texts += boxes
            if shapes:
                frames.append(shapes[0])
        elif kind == "edge":
            texts += boxes
            paths += [e.get("d") for e in own if tag(e) == "path"]
        elif kind == "graph" and g is sheet:
            texts += boxes
            for b in boxes:
                if not b.inside(shapes[0]):
                    faults.append(f"sheet: '{b.what}' leaves the sheet")
    faults += [f"overlap: '{a.what}' and '{b.what}'" for a, b in pairs(texts)]
    for f in frames:
        faults += [f"border: '{t.what}' lies on the border of a frame" for t in texts
                   if t.overlaps(f) and not t.inside(f)]
    for d in paths:
        faults += [f"arrow: one goes through '{t}'" for t in met(list(along(d)), texts)]
    return faults


def met(points, texts):
    """What the texts say that a line of points goes through."""
    found = set()
    for at in range(0, len(points), 33):  # a curve of `along`
        some = points[at:at + 33]
        x, y = zip(*some)
        around = Box(min(x), min(y), max(x), max(y), "curve")
        found.update(t.what for t in texts if t.x0 < around.x1 and around.x0 < t.x1 and t.y0 < around.y1
                     and around.y0 < t.y1 and any(t.holds(*p) for p in some))
    return found


def chart_faults(root):
    """Of a chart by pcc, in words."""
    wide, high = float(root.get("width")), float(root.get("height"))
    sheet = Box(0, 0, wide, high, "sheet")
    texts = [text_box(e, Chart()) for e in root.iter() if tag(e) == "text"]
    faults = [f"sheet: '{t.what}' leaves the sheet" for t in texts if not t.inside(sheet)]
    faults += [f"overlap: '{a.what}' and '{b.what}'" for a, b in pairs(texts)]
    for g in root.iter():
        named = [e for e in g if tag(e) == "text" and e.get("class") in ("l", "m")]
        bars = [outline(e) for e in g if tag(e) == "rect" and e.get("x")]
        faults += [f"bar: '{t.what}' leaves its bar" for t in (text_box(e, Chart()) for e in named)
                   if bars and not t.inside(bars[0])]
    if wide > 1700 or high > 4000:
        faults.append(f"size: {wide:.0f} x {high:.0f}")
    return faults


def row_faults(root):
    """Of a row of boxes by pcc, in words."""
    sheet = Box(0, 0, float(root.get("width")), float(root.get("height")), "sheet")
    texts = [text_box(e, Row()) for e in root.iter() if tag(e) == "text"]
    faults = [f"sheet: '{t.what}' leaves the sheet" for t in texts if not t.inside(sheet)]
    faults += [f"overlap: '{a.what}' and '{b.what}'" for a, b in pairs(texts)]
    boxes = []
    for g in root:
        own = [text_box(e, Row()) for e in g if tag(e) == "text"]
        boxes += [outline(e) for e in g if tag(e) == "rect"]
        faults += [f"box: '{t.what}' leaves its box" for t in own if not t.inside(boxes[-1])]
        for d in (e.get("d") for e in g if e.get("class") == "l"):
            at, bends = None, []
            for letter, said in re.findall(r"([MVH])([^MVH]+)", d):
                v = numbers(said)
                at = {"M": v, "V": [at and at[0], v[0]], "H": [v[0], at and at[1]]}[letter]
                bends.append(at)
            through = {t.what for (x0, y0), (x1, y1) in zip(bends, bends[1:]) for t in texts
                       if t.overlaps(Box(min(x0, x1) - 2, min(y0, y1) - 2, max(x0, x1) + 2, max(y0, y1) + 2, "line"))}
            faults += [f"arrow: one goes through '{t}'" for t in through]
    return faults + [f"overlap: {a.x0} and {b.x0}" for a, b in pairs(boxes)]


def run(*args, **more):
    r = subprocess.run([*map(str, args)], capture_output=True, text=True, timeout=240, **more)
    check(r.returncode == 0, f"{args[:3]}: {r.returncode} {r.stderr[:400]}")


def branches(path, many, deep, name):
    """So many chains from one node to one node."""
    node = "  %{} = Tanh({}) : f32[64] name=\"{}\" !bytes=64KiB !xfer=1us !time=5us\n"
    ends = [f"%v{b}_{deep - 1}" for b in range(many)]
    path.write_text("graph {\n  in %x : f32[64] !bytes=64KiB !xfer=1us\n" + node.format("a", "%x", name.format("a"))
                    + "".join(node.format(f"v{b}_{i}", f"%v{b}_{i - 1}" if i else "%a", name.format(f"{b}.{i}"))
                              for b in range(many) for i in range(deep))
                    + node.format("y", ", ".join(ends), name.format("y")).replace("Tanh", "Sum")
                    + "  out %y\n}\n", encoding="utf-8")


def planned(d, name):
    """Textual IR with its plan, so that pictures need no planning again."""
    plan, source = d / f"{name}.pir", d / f"{name}.onnx"
    if not plan.exists() and name in REAL:
        source = extras.shared("models/exported/real") / f"{name.removesuffix('-4')}.onnx"
        run(PCC, source, *REAL[name], "-q", "-o", plan)
    elif not plan.exists() and isinstance(MODELS[name][0], tuple):
        source = d / f"{name}-source.pir"
        branches(source, *MODELS[name][0])
        run(PCC, source, *MODELS[name][1], "-q", "-o", plan)
    elif not plan.exists():
        run(PCC_GEN, *MODELS[name][0], "-o", source)
        run(PCC, source, *MODELS[name][1], "-q", "-o", plan)
    return plan


def drawn(d, plan, *how, end=".svg", **more):
    path = d / f"x{end}"
    run(PCC, plan, "-q", *how, "-o", path, **more)
    return ElementTree.parse(path).getroot()


def pictures(d, names):
    for name in names:
        plan = planned(d, name)
        for view in ("devices", "blocks"):
            faults = picture_faults(drawn(d, plan, f"--view={view}"), MANY.get(name, 2))
            check(not faults, f"{name} {view}: {len(faults)}: {'; '.join(faults[:8])}")
            print(f"{name} {view}", flush=True)


def row(d, plan):
    """The devices, where there is no dot program."""
    return drawn(d, plan, "--view=devices", env={"PATH": "/nonexistent"})


def charts(d, names):
    for name in names:
        plan = planned(d, name) if CHARTED.get(name, True) or name in ROWED else None
        if name in ROWED:
            faults = row_faults(row(d, plan))
            check(not faults, f"{name} row: {len(faults)}: {'; '.join(faults[:8])}")
        for how in CHARTED.get(name, ([], ["--judge=makespan", "--curves"])):
            faults = chart_faults(drawn(d, plan, *how, end=".gantt.svg"))
            check(not faults, f"{name} chart {how}: {len(faults)}: {'; '.join(faults[:8])}")
            print(f"{name} chart {' '.join(how)}", flush=True)


def node_texts(root, at_least):
    """The texts of a node with so many of them and an outline."""
    for g in root.iter():
        texts = [e for e in g.iter() if tag(e) == "text"]
        if g.get("class") == "node" and len(texts) >= at_least and any(tag(e) in ("path", "polygon") for e in g.iter()):
            return texts
    raise AssertionError("no such node")


def planted(d):
    """Each kind of fault, put into a good picture or chart, is found."""
    def move(e, x, y):
        e.set("x", str(float(e.get("x")) + x))
        e.set("y", str(float(e.get("y")) + y))

    def overlap(root):
        texts = node_texts(root, 2)
        texts[1].set("y", str(float(texts[0].get("y")) + 3))

    def box(root):
        move(node_texts(root, 2)[0], 100, 0)

    def title(root):
        text = next(e for e in root.iter() if tag(e) == "text")
        text.text = text.text * 40

    def border(root):
        frame = next(g for g in root.iter() if g.get("class") == "cluster")
        b = outline(next(e for e in frame.iter() if tag(e) in ("polygon", "path")))
        text = node_texts(root, 2)[0]
        text.set("x", str(b.x0))
        text.set("y", str((b.y0 + b.y1) / 2))

    def arrow(root):
        text = node_texts(root, 2)[0]
        path = next(e for g in root.iter() if g.get("class") == "edge" for e in g.iter() if tag(e) == "path")
        x, y = float(text.get("x")), float(text.get("y")) - 4
        path.set("d", f"M{x},{y - 60}C{x},{y - 20} {x},{y + 20} {x},{y + 60}")

    def size(root):
        root.set("height", "9000pt")

    def bar(root):
        text = next(e for e in root.iter() if tag(e) == "text" and e.get("class") == "l")
        move(text, 1.2 * float(re.search(r"[\d.]+", text.get("x"))[0]), 0)

    def lanes(root):
        names = [e for e in root.iter() if tag(e) == "text" and e.get("class") == "n"]
        names[1].set("y", names[0].get("y"))
        names[1].set("x", names[0].get("x"))

    def label(root):
        text = next(e for e in root if tag(e) == "text" and e.get("class") == "a")
        line = next(e for e in root.iter() if e.get("class") == "l" and "V" not in e.get("d"))
        text.set("y", str(numbers(line.get("d"))[1] + 3))

    def inside(root):
        text = next(e for g in root for e in g if tag(g) == "g" and tag(e) == "text")
        text.text = text.text * 9

    plan = planned(d, "gpt")
    cases = [(lambda r: chart_faults(r), ".gantt.svg", ["--replay=4"], ((bar, "bar"), (lanes, "overlap")))]
    if extras.extra():
        cases.append((lambda r: picture_faults(r, 2), ".svg", ["--view=blocks"],
                      ((overlap, "overlap"), (box, "box"), (title, "sheet"), (border, "border"), (arrow, "arrow"),
                       (size, "size"))))
    cases.append((row_faults, None, [], ((label, "arrow"), (inside, "box"), (title, "sheet"))))
    for faults, end, how, faulty in cases:
        good = ElementTree.tostring(drawn(d, plan, *how, end=end) if end else row(d, plan))
        for plant, kind in faulty:
            root = ElementTree.fromstring(good)
            plant(root)
            found = [f for f in faults(root) if f.startswith(f"{kind}: ")]
            check(found, f"a planted fault of kind '{kind}' is not found: {faults(root)[:3]}")


def main():
    extra, names = extras.extra(), [a for a in sys.argv[1:] if not a.startswith("--extra=")]
    extras.need(not extra or shutil.which("dot"), "no program dot")
    extras.need(not extra or not SANITIZED, "with sanitizers pictures are no others")
    with tempfile.TemporaryDirectory(prefix="pcc-geometry-") as name:
        d = Path(name)
        usual = [name for name in MODELS if not SANITIZED or name != "train-8"]  # of which others are alike
        (pictures if extra else charts)(d, names or (REAL if extra == "shared" else usual))
        if extra != "shared":  # whose pictures are judged as those of the extra dot
            planted(d)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
