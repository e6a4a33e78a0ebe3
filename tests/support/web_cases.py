"""Cases of test_engines.py about --for=web: files and refusals, run.mjs in Node, the page in Chromium."""
import functools
import http.server
import json
import resource
import shutil
import subprocess
import threading
import urllib.parse

import extras
import onnx
from engine_splits import FLAT, MODELS, chain, manifest, model_of, pcc, plans, split
from onnx import TensorProto, helper
from with_ort import GEN, SOURCE, check


def for_web(temp):
    """Files and refusals."""
    folder = temp / MODELS[0][0]
    pcc(folder, "--for=web", "-q")
    for name in ("index.html", "run.mjs"):
        check((folder / "web" / name).read_bytes() == (SOURCE / "tools/web" / name).read_bytes(), f"web/{name}")
    four_bits(temp)
    listed = manifest(folder)["exports"][-1]
    check((listed["engine"], listed["files"]) == ("web", ["web/index.html", "web/run.mjs"]), f"exports {listed}")
    model, away, text = temp / f"{folder.name}.onnx", temp / "web", (folder / "manifest.json").read_text()
    half = ("z", [2, 4], TensorProto.BFLOAT16)
    cast = helper.make_node("Cast", ["y"], ["z"], to=TensorProto.BFLOAT16)
    onnx.save(model_of(chain("x", "y") + [cast], [("x", [2, 4])], [half]), temp / "odd.onnx")
    split(temp / "odd.onnx", away, *FLAT, "--for=web", code=1, said="'z' is bf16, for which onnxruntime-web has no")
    split(model, away, *FLAT, "--for=web", "--weights=shared", code=1, said="would fetch 'weights.data'")
    split(model, away, *FLAT, "--for=web", "--weights=inline")
    for change, said in ((lambda m: m["parts"][1].update(live_peak_bytes=1 << 32), "part1.onnx takes 4.000 GiB"),
                         (lambda m: m["parts"][0].update(data_bytes=5 << 30), "part0.onnx takes 5.000 GiB"),
                         (lambda m: m["outputs"][0].update({"from": "weights"}), "that is a weight: no part"),
                         (lambda m: [v.update(type=None) for v in m["values"].values()], "has no known type")):
        there = json.loads(text)
        change(there)
        (folder / "manifest.json").write_text(json.dumps(there))
        pcc(folder, "--for=web", code=1, said=said)
    (folder / "manifest.json").write_text(text)


# A runtime for run.mjs that makes ones and notes on stderr what it is asked for.
NOTING = """
import { basename } from "node:path";
const note = (...words) => console.error(JSON.stringify(words));
export class Tensor { constructor(type, data, dims) { Object.assign(this, { type, data, dims, size: data.length }); } }
export const env = { versions: { web: "0" } };
export const InferenceSession = { create: async (path, options) => {
  const file = basename(path);
  note("create", file, options.externalData.map((e) => [e.path, basename(e.data)]), options.graphOptimizationLevel);
  return { inputNames: NAMES[file] ?? [], release: async () => note("release", file), run: async (feeds, names) => {
    note("run", file, Object.keys(feeds), names);
    return Object.fromEntries(names.map((n) => [n, new Tensor("float32", new Float32Array(8).fill(1), [2, 4])]));
  } };
} };
"""


def node_there():
    found = shutil.which("node")
    said = subprocess.run([found, "--version"], capture_output=True, text=True).stdout if found else ""
    extras.need(said.startswith("v") and int(said[1:].split(".")[0]) >= 18, "no node, version 18 or later")


def run_mjs(folder, *args, code=0, said="", **more):
    r = subprocess.run(["node", folder / "web/run.mjs", *map(str, args)], capture_output=True, text=True, **more)
    check(r.returncode == code and said in r.stderr and (code == 0 or r.stderr.count("\n") == 1),
          f"run.mjs {args}: exit {r.returncode}, {r.stderr[-300:]!r}, not {said}")
    return r


ODD_NAME = '<img src=x onerror="document.title=1"> \x1b[31m __proto__'


def odd_split(temp):
    """A split of a model whose output has an odd name, one tensor the name of what objects have."""
    nodes = chain("x", "__proto__", 3) + chain("__proto__", ODD_NAME, 3)
    onnx.save(model_of(nodes, [("x", [2, 4])], [(ODD_NAME, [2, 4])]), temp / "odd.onnx")
    split(temp / "odd.onnx", temp / "odd", *FLAT, "--for=web")
    return temp / "odd"


def in_node(temp):
    """run.mjs asks for one part at a time, each with its own weights; wrong folders are a line."""
    node_there()
    subprocess.run([GEN, *MODELS[-1][1].split(), "-o", temp / "m.onnx"], check=True)
    split(temp / "m.onnx", temp / "m", *FLAT, "--for=web")
    folder, there = temp / "m", manifest(temp / "m")
    names = {p["file"]: p["inputs"] for p in there["parts"]}
    (temp / "noting.mjs").write_text(NOTING + f"const NAMES = {json.dumps(names)};\n")
    ort = ("--ort", temp / "noting.mjs")
    want = []
    for p in there["parts"]:
        data = [[p["data"], p["data"]]] if "data" in p else []
        want += [["create", p["file"], data, "all"], ["run", p["file"], p["inputs"], p["outputs"]],
                 ["release", p["file"]]]
    heard = run_mjs(folder, *ort).stderr.splitlines()
    check([json.loads(line) for line in heard] == want, f"asked for: {heard}")
    (temp / "in.json").write_text(json.dumps({there["inputs"][0]["name"]: {"dims": [1, 1], "data": ["NaN"]}}))
    run_mjs(folder, *ort, "--inputs", temp / "in.json", "--out", temp / "out.json", said='"run"')
    made = json.loads((temp / "out.json").read_text())[there["outputs"][0]["name"]]
    check(made == {"type": "float32", "dims": [2, 4], "data": [1] * 8}, f"outputs {made}")
    for text, wrong in (("{}", "is not given"), ("[1", "expected JSON"), ("null", 'inputs: expected {"name"'),
                        ('{"valueOf": [1]}', "'valueOf' is no input of the model, whose inputs are")):
        (temp / "in.json").write_text(text)
        run_mjs(folder, *ort, "--inputs", temp / "in.json", code=1, said=wrong)
    (temp / "none").mkdir()
    r = subprocess.run(["node", folder / "web/run.mjs", *ort, "--out", temp / "none/out.json"], capture_output=True,
                       text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)))
    check(r.returncode != 0 and not list((temp / "none").iterdir()), f"--out in 20 bytes: {r.stderr[-200:]}")
    for option in ("--port=3", "--valueOf", "--toString=1"):
        run_mjs(folder, option, code=1, said="expected --ort, --inputs")
    run_mjs(folder, "--ort", temp / "none.mjs", code=1, said="cannot be loaded (npm install onnxruntime-web)")
    first, last = there["parts"][0], there["parts"][-1]
    for change, wrong in ((lambda m: m.update(pcc_manifest=2), 'expected a manifest with "pcc_manifest": 1'),
                          (lambda m: m["parts"][0].update(file="../x"), "the name of a file of the folder"),
                          (lambda m: m["parts"][0].update(data="a/b"), '"data" is no name of a file'),
                          (lambda m: m["parts"].reverse(), "read before a part makes it"),
                          (lambda m: m["parts"][-1].update(outputs=first["outputs"]), "is made twice"),
                          (lambda m: m["outputs"][0].update(name="none\x1b"), "'none\\u001b' is made by no part"),
                          (lambda m: m["values"].clear(), "is undefined, which"),
                          (lambda m: m["inputs"][0].update(sizes=[None, 1]), "its sizes are not known"),
                          (lambda m: m.pop("model"), 'model: expected "file"')):
        wrongly = json.loads(json.dumps(there))
        change(wrongly)
        (folder / "manifest.json").write_text(json.dumps(wrongly))
        run_mjs(folder, *ort, code=1, said=wrong)
    check(last["outputs"] == [o["name"] for o in there["outputs"]], "the model's outputs come from the last part")


def packages():
    folder = SOURCE / "build/engines/node/node_modules"
    extras.need((folder / "onnxruntime-web").is_dir(), "no onnxruntime-web (tools/setup.sh --engines)")
    return folder


def four_bits(temp):
    """A split of a model with inputs of 4 bits, 15 elements each; as outputs of parts they are refused."""
    scale = helper.make_tensor("s", TensorProto.FLOAT, [], [0.25])
    nodes = [helper.make_node("DequantizeLinear", ["a", "s"], ["f"], name="f"),
             helper.make_node("DequantizeLinear", ["b", "s"], ["g"], name="g"),
             helper.make_node("Sub", ["f", "g"], ["h"], name="h")]
    inputs = [("a", [3, 5], TensorProto.INT4), ("b", [3, 5], TensorProto.UINT4)]
    onnx.save(model_of([*nodes, *chain("h", "y", 2)], inputs, [("y", [3, 5])], [scale]), temp / "four.onnx")
    split(temp / "four.onnx", temp / "four", *FLAT, "--for=web")
    nodes.append(helper.make_node("QuantizeLinear", ["h", "s"], ["q"], name="q", output_dtype=TensorProto.INT4))
    onnx.save(model_of(nodes, inputs, [("q", [3, 5], TensorProto.INT4)], [scale]), temp / "gives.onnx")
    split(temp / "gives.onnx", temp / "gives", *FLAT, "--for=web", code=1, said="'q' of i4, which onnxruntime-web")
    return temp / "four"


def run_by_web(temp):
    """Parts and whole in the same runtime, bit by bit; weights of another part are seen."""
    node_there()
    folder = packages()
    for name, generated, first in MODELS:
        subprocess.run([GEN, *generated.split(), "-o", temp / "m.onnx"], check=True)
        for plan in plans(first):
            split(temp / "m.onnx", temp / "m", *plan, "--for=web")
            for package in ("onnxruntime-web", "onnxruntime-node")[:2 if name in ("gpt_kv", "dense") else 1]:
                said = run_mjs(temp / "m", "--ort", package, "--compare", cwd=folder.parent).stdout
                check("the parts give the bits of the whole model" in said, f"{name} {plan}, {package}: {said[-200:]}")
    data = sorted((temp / "m").glob("part*.data"))[-1]
    kept = data.read_bytes()
    data.write_bytes(bytes(b ^ 64 if k % 4 == 2 else b for k, b in enumerate(kept)))
    odd = onnx.load(temp / "m/model.onnx", load_external_data=False)
    for t in odd.graph.initializer:  # the whole model keeps its weights
        for e in t.external_data:
            e.value = "kept.data" if e.value == data.name else e.value
    onnx.save(odd, temp / "m/model.onnx")
    (temp / "m/kept.data").write_bytes(kept)
    there = manifest(temp / "m")
    there["weights"]["files"].append("kept.data")
    (temp / "m/manifest.json").write_text(json.dumps(there))
    web = ("--ort", "onnxruntime-web", "--compare")
    run_mjs(temp / "m", *web, cwd=folder.parent, code=1, said="is not the whole model's")
    run_mjs(odd_split(temp), *web, cwd=folder.parent)
    four = run_mjs(four_bits(temp), *web, cwd=folder.parent).stdout
    check("Infinity" not in four and "the parts give the bits" in four, f"4 bits: {four}")


def in_chromium(temp):
    """The page runs a split, from a server of files; names are text there."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    extras.need(browser, "no chromium")
    (temp / "npm").symlink_to(packages())
    subprocess.run([GEN, *MODELS[-1][1].split(), "-o", temp / "m.onnx"], check=True)
    split(temp / "m.onnx", temp / "m", *FLAT, "--for=web")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)
    asked = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=temp))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for folder in (temp / "m", odd_split(temp)):
        asked.clear()
        query = urllib.parse.urlencode({"ort": "/npm/onnxruntime-web/dist/ort.wasm.min.mjs", "run": 1, "compare": 1})
        page = subprocess.run(
            [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom",
             f"--user-data-dir={temp}/profile", "--virtual-time-budget=60000",
             f"http://127.0.0.1:{server.server_port}/{folder.name}/web/index.html?{query}"],
            capture_output=True, text=True, timeout=300).stdout
        check("the parts give the bits of the whole model\ndone" in page, f"{folder.name}: {page[-400:]}")
        check("<img" not in page and "<title>A split" in page, "a name became a part of the page")
        fetched = [path.rsplit("/", 1)[1] for path in asked if f"/{folder.name}/part" in path]
        files_of = [f for p in manifest(folder)["parts"] for f in (p["file"], p.get("data")) if f]
        check(fetched[:len(files_of)] == files_of, f"fetched {fetched}")
    check("&lt;img" in page, "the odd name is not shown")
    server.shutdown()
