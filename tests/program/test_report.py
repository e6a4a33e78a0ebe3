"""report.html: one page that needs no network, with all parts, devices and crossing tensors in its tables.

1. Every page is well formed, has a Content-Security-Policy with the hashes of its own style sheet and program and
   nothing else, no attribute that runs or loads something, and at most 1 MB beside its data.
2. Its tables and its list of nodes are those of the manifest; figures are those of the program.
3. Names that are markup, control characters, 64 KiB long: they are text.
4. All goals, one device and many, workloads; more parts than a graph can have, whose long tables are folded.
5. Node data for Model Explorer are of the form that it publishes, with the nodes, times and colours of the plan.
6. The extra `chromium` opens pages: all parts and tensors are there, no error, no request; the search finds nodes.
Needs onnx for hostile names (else left out)."""
# extras: chromium
# once: sanitized
import base64
import hashlib
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish

try:
    import onnx
    from onnx import TensorProto, helper
except ImportError:
    onnx = None

try:
    import jsonschema
except ImportError:
    jsonschema = None

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
SOURCE = Path(os.environ.get("PCC_SOURCE") or Path(__file__).resolve().parents[2])
VOID = {"meta", "input", "br", "img", "link"}
HOSTILE = ["</script><img src=x onerror=alert(1)>", "\u202egnp.exe", "bell\x07\x1b[31m", "a&amp;b'\"<b>", "x" * 65536,
           "]]><!-- -->", "\u2028\u2029", "\\u003c", "</style><svg/onload=alert(2)>"]


class Page(html.parser.HTMLParser):
    """What a page holds: its tags, the text of each, the tables by the id of their section."""

    def __init__(self, path):
        super().__init__()
        self.bytes = path.read_bytes()
        self.open, self.wrong, self.text, self.tables, self.policy = [], [], {}, {}, ""
        self.boxes, self.arrows, self.ids, self.section = [], [], set(), None
        self.feed(self.bytes.decode())
        self.close()
        self.nodes = json.loads(self.text.get("script#nodes", "{}") or "{}")

    def handle_starttag(self, tag, attributes):
        at = dict(attributes)
        self.wrong += [f"<{tag} {k}={v!r}>" for k, v in attributes
                       if k.startswith("on") or k in ("style", "srcset", "action", "data", "poster", "ping")
                       or (k in ("src", "href") and not v.startswith("#"))]
        self.wrong += [f"<{tag}>"] * (tag in ("img", "iframe", "object", "embed", "base", "form", "link"))
        self.wrong += [f"id {at.get('id')} twice"] * ("id" in at and at["id"] in self.ids)
        self.ids.add(at.get("id") or f"<{tag}>")
        if at.get("http-equiv") == "Content-Security-Policy":
            self.policy = at["content"]
        if tag == "section":
            self.section = at.get("id")
        if tag == "tr":
            self.tables.setdefault(self.section, []).append([])
        if tag in ("td", "th"):
            self.tables[self.section][-1].append("")
        if "data-box" in at:
            self.boxes.append(at)
        if "data-from" in at:
            self.arrows.append((int(at["data-from"]), int(at["data-to"])))
        if tag not in VOID:
            self.open.append((tag, tag + ("#" + at["id"] if at.get("id") else "")))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.wrong.append(f"</{tag}> in {self.open[-3:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        names = [name for _, name in self.open]
        for name in names[-1:]:
            self.text[name] = self.text.get(name, "") + data
        if names and any(n in ("td", "th") for n, _ in self.open):
            self.tables[self.section][-1][-1] += data

    def rows(self, section):
        """The rows of a table below its headings."""
        return self.tables.get(section, [[]])[1:]


def pcc(*args, code=0):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, timeout=240)
    said = r.stderr.decode("utf-8", "replace")
    check(r.returncode == code and "Sanitizer" not in said, f"{args}: {r.returncode} {said[:400]}")
    return r


def own_hash(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def read(path, what):
    """The page at path, after what holds of every page is checked."""
    page = Page(path)
    check(not page.wrong and not page.open, f"{what}: {page.wrong[:5]}, open {page.open[:5]}")
    policy = dict(p.strip().split(" ", 1) for p in page.policy.split(";"))
    check(policy == {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'",
                     "style-src": f"'{own_hash(page.text['style'])}'",
                     "script-src": f"'{own_hash(page.text['script'])}'"}, f"{what}: policy {policy}")
    text = page.bytes.decode()
    own = len(page.text["style"]) + len(page.text["script"])
    check(own < 50000, f"{what}: {own} bytes of program and style")
    check(set(re.findall(r"https?://[\w./]+", text)) <= {"http://www.w3.org/2000/svg"}, f"{what}: an address")
    check(text.count("<script") == 1 + ('id="nodes"' in text) and text.count("<style") == 1, f"{what}: scripts")
    check("<" not in page.text.get("script#nodes", ""), f"{what}: markup within the nodes")
    check({"graph", "timeline", "devices", "parts", "transfers", "bound", "sizes"} <= page.ids, f"{what}: {page.ids}")
    check(not re.search("[\x00-\x09\x0b-\x1f\u2028\u202a-\u202e\u2066-\u2069]", text),
          f"{what}: characters that hide or turn text")
    return page


def make(d, name, *args):
    path = d / f"{name}.onnx"
    if not path.exists():
        subprocess.run([PCC_GEN, *args, "-o", path], check=True, capture_output=True)
    return path


def gpt(d):
    return make(d, "gpt", "gpt", "--layers", "4", "--width", "32", "--heads", "2", "--vocab", "64")


def scattered(d):
    """A plan of many parts: attention, the rest of each layer, and what is in no layer on devices of their own."""
    (d / "list").write_text("attn=acc1\n/h=acc2\n.=acc0\n")
    return f"plan{{from={d / 'list'}}}"


def workload(d, name, nodes, devices=2):
    """A chain of layers with times and no tensors."""
    lines = [f"class acc x{devices} link=1GB/s,1us", "graph {", "  %v0 = profile:op() : !xfer=1us !time=10us"]
    lines += [f"  %v{i} = profile:op(%v{i - 1}) : !xfer=1us !time=10us" for i in range(1, nodes)]
    (d / f"{name}.pir").write_text("\n".join([*lines, "}", ""]))
    return d / f"{name}.pir"


FAST = ["-q", "-Wno-guessed-dim", "-d", "3xa100", "--link", "1TB/s,0us", "--part-cost=0"]


def as_the_manifest(d):
    """Tables and nodes are those of the manifest beside it, for contiguous plans and others."""
    for plan in ("dp-place", scattered(d)):
        folder = d / "split"
        pcc(gpt(d), *FAST, "-p", plan, "--pictures=html", "-o", folder)
        page, m = read(folder / "report.html", plan), json.loads((folder / "manifest.json").read_text())
        check(not list(folder.glob("*.svg")), "a picture that was not asked for")
        check([r[:3] for r in page.rows("parts")] == [[p["file"], p["device"], str(p["nodes"])] for p in m["parts"]],
              f"{plan}: parts {page.rows('parts')}")
        check([r[0] for r in page.rows("devices")] == [v["name"] for v in m["devices"]], f"{plan}: devices")
        device = {p["file"]: p["device"] for p in m["parts"]}
        told = {t["name"]: (f"{t['from']} {device[t['from']]}", ", ".join(f"{x} {device[x]}" for x in t["to"]))
                for t in m["tensors"]}
        check({r[0]: (r[3], r[4]) for r in page.rows("transfers")} == told and len(told) > 2, f"{plan}: transfers")
        check({b["file"]: [n[0] for n in b["nodes"]] for b in page.nodes["boxes"]} == m["nodes"], f"{plan}: nodes")
        check([int(b["data-box"]) for b in page.boxes] == list(range(len(m["parts"]))), f"{plan}: boxes")
        files = [p["file"] for p in m["parts"]]
        arrows = {(files.index(t["from"]) + 1, files.index(x) + 1) for t in m["tensors"] for x in t["to"]}
        check(arrows == {a for a in page.arrows if 0 < a[0] and a[1] <= len(files)}, f"{plan}: arrows {page.arrows}")
        for part, box in zip(m["parts"], page.nodes["boxes"]):
            check(sum(n[2] for n in box["nodes"]) == round(part["compute_s"] * 1e12), f"{plan}: time of {part['file']}")
        operator = {n[0]: page.nodes["operators"][n[1]] for b in page.nodes["boxes"] for n in b["nodes"]}
        check(all(o == n.rsplit("/", 1)[1] for n, o in operator.items() if n.endswith(("MatMul", "Softmax", "Mul"))),
              f"{plan}: operators {operator}")
        alone = pcc(gpt(d), *FAST, "-p", plan, "--emit", "html").stdout
        check(alone == page.bytes, f"{plan}: a page alone is another one")
        pcc(gpt(d), *FAST, "-p", plan, "-o", d / "alone.html")
        check(alone == (d / "alone.html").read_bytes(), f"{plan}: other bytes")
        said = pcc(gpt(d), *FAST, "-p", plan, "--explain-bound").stdout.decode()
        proof = said.split(" takes less than ", 1)[1].split(":\n", 1)[1] if " takes less than " in said else "No bound"
        shown = page.text["pre"] + page.text.get("p", "")
        check(proof.strip() in shown, f"{plan}: not why the bound holds, {proof[:200]}")


def colours(d):
    """The style sheet has the colours of backends/palette.c."""
    wanted = re.findall(r'"(#[0-9a-f]{6})"', (SOURCE / "backends/palette.c").read_text().split("fill[PALETTE]")[0])
    sheet = (SOURCE / "backends/html/report.css").read_text()
    light = re.findall(r"--d\d: (#[0-9a-f]{6})", sheet.split("@media")[0])
    check(light == wanted and len(wanted) == 8, f"{light}, palette {wanted}")


def hostile(d):
    """Names are text: nothing of them is a tag, hides, or makes the page large."""
    if not onnx:
        return
    first, nodes, last = "in" + HOSTILE[0], [], "in" + HOSTILE[0]
    for i, name in enumerate(HOSTILE):
        nodes.append(helper.make_node("Relu", [last], [f"t{i}{name}"], name=name))
        last = f"t{i}{name}"
    graph = helper.make_graph(nodes, "g<b>", [helper.make_tensor_value_info(first, TensorProto.FLOAT, ["<i>n", 64])],
                              [helper.make_tensor_value_info(last, TensorProto.FLOAT, None)])
    path = d / "evil<b>&.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    pcc(path, *FAST, "-d", f"{len(HOSTILE)}xa100", "--pictures=html", "-p", "dp-place", "-o", d / "evil")
    page = read(d / "evil/report.html", "hostile")
    names = [n[0] for b in page.nodes["boxes"] for n in b["nodes"]]
    check(len(names) == len(HOSTILE) and names[0] == HOSTILE[0] and names[1] == "\\u202egnp.exe"
          and names[2] == "bell\\x07\\x1b[31m" and names[8] == HOSTILE[8], f"hostile: {names[:4]}")
    check(max(map(len, names)) < 300 and len(page.bytes) < 300000, f"hostile: {len(page.bytes)} bytes")
    check(page.text["h1"] == "evil<b>&.onnx", f"hostile: {page.text['h1']}")
    check(any(r[0] == "t0" + HOSTILE[0] for r in page.rows("transfers")), "hostile: a tensor that crosses")


def empty(d):
    """A model without nodes."""
    if not onnx:
        return
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    onnx.save(helper.make_model(helper.make_graph([], "g", [x], [x])), d / "empty.onnx")
    pcc(d / "empty.onnx", *FAST, "--pictures=html", "-o", d / "empty")
    page = read(d / "empty/report.html", "empty")
    check(len(page.rows("devices")) == 3 and not page.boxes and not page.nodes["boxes"], "empty: rows")


def kinds(d):
    """All goals, one device, many, workloads of layers."""
    train = make(d, "train", "train", "--layers", "2")
    chain = workload(d, "chain", 40, 40)
    for name, args in (("makespan", [gpt(d), "-p", "heft-place", "--objective=makespan"]),
                       ("latency", [gpt(d), "--objective=latency"]),
                       ("iteration", [train, "--objective=iteration-time"]),
                       ("one", [gpt(d), "-d", "1xcpu"]), ("replicated", [gpt(d), "--replicate"]),
                       ("many", [chain, "-p", "dp-place"])):
        pcc(args[0], *(FAST if args[0] != chain else ["-q"]), *args[1:], "-o", d / f"{name}.html")
        page = read(d / f"{name}.html", name)
        parts, devices = page.rows("parts"), page.rows("devices")
        check(len(parts) == len(page.boxes) and len(devices) == {"one": 1, "many": 40}.get(name, 3), f"{name}: rows")
        check("NaN" not in page.bytes.decode(), f"{name}: no number")


def folded(d):
    """More than 2,000 parts: a box for each device, and the tables still have all parts."""
    (d / "turns").write_text("[02468]$=acc0\n.=acc1\n")
    pcc(workload(d, "long", 2100), "-q", "-p", f"plan{{from={d / 'turns'}}}", "-o", d / "long.html")
    text = (d / "long.html").read_text()
    count = {what: text.count(f"<{what}") for what in ('g class="box d', 'tr id="part', "details open")}
    check(list(count.values()) == [2, 2100, 2] and "too many parts" in text, f"long: {count}")
    check(len(re.findall(r'^\["v', text, re.M)) == 2100, "long: nodes")


# GraphNodeData of model_explorer/node_data_builder.py (google-ai-edge/model-explorer), as JSON.
COLOUR = {"type": "string", "pattern": "^#[0-9a-f]{6}$"}
STYLED = {"bgColor": COLOUR, "textColor": COLOUR}
NODE_DATA = {
    "type": "object", "required": ["results"], "additionalProperties": False,
    "properties": {
        "results": {"type": "object", "additionalProperties": {
            "type": "object", "required": ["value"], "additionalProperties": False,
            "properties": {"value": {"type": ["number", "string"]}, **STYLED}}},
        "thresholds": {"type": "array", "items": {"required": ["value", "bgColor"], "properties": STYLED}},
        "gradient": {"type": "array", "items": {"required": ["stop"], "properties": STYLED}}}}


def explored(d):
    """Node data: their form, and the nodes, times and colours of the plan."""
    pcc(gpt(d), *FAST, "-p", scattered(d), "-o", d / "gpt.explorer.json")
    data, m = json.loads((d / "gpt.explorer.json").read_text()), json.loads((d / "split/manifest.json").read_text())
    if jsonschema:
        jsonschema.validate(data, NODE_DATA)
    fills = re.findall(r'"(#[0-9a-f]{6})"', (SOURCE / "backends/palette.c").read_text().split("fill[PALETTE]")[1])
    device = [v["name"] for v in m["devices"]]
    for part in m["parts"]:
        of = [data["results"].get(n, {}) for n in m["nodes"][part["file"]]]
        check({r.get("bgColor") for r in of} == {fills[device.index(part["device"])]}, f"colours of {part['file']}")
        check(round(sum(r["value"] for r in of) * 1e6) == round(part["compute_s"] * 1e12), f"times of {part['file']}")
    more = set(data["results"]) - {n for names in m["nodes"].values() for n in names}
    check(more == set(m["copies"]["nodes"]), f"other nodes: {more}")


def opened(d):
    """In Chromium: no error, no request, all parts and tensors, and the search works."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    extras.need(browser, "no chromium")

    def dump(path, place=""):
        r = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                            f"--user-data-dir={d}/profile", "--dump-dom", path.as_uri() + place],
                           capture_output=True, text=True, timeout=120)
        check(r.returncode == 0 and "CONSOLE" not in r.stderr, f"{path.name}: {r.returncode} {r.stderr[-600:]}")
        (d / "dom.html").write_text(r.stdout)
        return Page(d / "dom.html")

    pcc(gpt(d), *FAST, "-p", scattered(d), "--pictures=html", "-o", d / "seen")
    path, m = d / "seen/report.html", json.loads((d / "seen/manifest.json").read_text())
    page = dump(path)
    check([r[0] for r in page.rows("parts")] == [p["file"] for p in m["parts"]], "chromium: parts")
    check({r[0] for r in page.rows("transfers")} == {t["name"] for t in m["tensors"]}, "chromium: tensors")
    found = dump(path, "#find=softmax").rows("found")
    check([r[1] for r in found] == ["Softmax"] * 4, f"the search finds {found}")
    one = m["nodes"][m["parts"][1]["file"]][0]
    found = dump(path, f"#find={one}")
    check(found.rows("found")[0][0] == one == found.rows("graph")[0][0], f"the panel: {found.rows('graph')[:2]}")
    pcc(workload(d, "wide", 10000), "-q", "-p", "dp-place", "-o", d / "wide.html")  # its time: bench/report_opens.py
    found = dump(d / "wide.html", "#find=v9999").rows("found")
    check([r[0] for r in found] == ["v9999"], f"10,000 nodes: the search finds {found}")
    hostile(d)
    page = dump(d / "evil/report.html", "#find=script")
    check(page.rows("found") and "<img>" not in page.ids, "chromium: a name became markup")


TESTS = [as_the_manifest, colours, explored, hostile, empty, kinds, folded]


def main():
    with tempfile.TemporaryDirectory() as tmp:
        d = Path(tmp)
        for test in [opened] if extras.extra() == "chromium" else TESTS:
            test(d)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
