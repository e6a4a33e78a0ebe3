#!/usr/bin/env python3
"""Standard input and output: `pcc -`, `-o -.svg`, the summary as JSON, missing folders, plans that are implied.

What goes to stdout is what the file would hold, byte for byte; a model at standard input plans as its file does, with
external data in the current folder; the summary's figures are counted again by the onnx package."""
# once: sanitized
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import onnx
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish  # noqa: E402

PCC, GEN = os.path.abspath(os.environ.get("PCC", "pcc")), os.path.abspath(os.environ.get("PCC_GEN", "pcc-gen"))
SIZES = ["--dim", "batch=1,sequence=16"]


def pcc(*args, code=0, stdin=None, cwd=None):
    """stdout as bytes, stderr as text."""
    r = subprocess.run([PCC, *map(str, args)], input=stdin, capture_output=True, timeout=300, check=False, cwd=cwd)
    err = r.stderr.decode("utf-8", "replace")
    check(r.returncode == code, f"{args}: exit {r.returncode}, not {code}: {err[-400:]}")
    return r.stdout, err


def outputs(model, tmp):
    """Every ending of a file, to stdout and to a file."""
    for ending in (".onnx", ".pir", ".csv", ".json", ".levels.csv", ".dot", ".svg", ".gantt.svg", ".trace.json",
                   ".html", ".explorer.json"):
        file = tmp / ("x" + ending)
        pcc(model, *SIZES, "-p", "dp-place", "-q", "-o", file)
        out, err = pcc(model, *SIZES, "-p", "dp-place", "-o", "-" + ending)
        if ending == ".pir":  # files are named as seen from the text
            out = out.replace(f'file 1 "{model}"'.encode(), f'file 1 "{os.path.relpath(model, tmp)}"'.encode())
        check(out and out == file.read_bytes(), f"{ending}: {len(out)} bytes, {file.stat().st_size} in the file")
        file.unlink()
    before = set(Path(tempfile.gettempdir()).glob("pcc.*"))
    out, _ = pcc(model, *SIZES, "-p", "dp-place", "-o", "-.png")
    after = set(Path(tempfile.gettempdir()).glob("pcc.*"))
    check(out[:4] == b"\x89PNG" and after == before, "-.png, or what it leaves")
    out, _ = pcc(model, *SIZES, "-p", "dp-place", "-q", "-o", "./-.json", cwd=tmp)
    check(out == b"" and (tmp / "-.json").exists(), "./-.json is a file")
    _, err = pcc(model, *SIZES, "-p", "dp-place", "-o", "-", code=2)
    check("such as -.json" in err, err)


def inputs(model, tmp):
    whole = pcc(model, *SIZES, "-p", "dp-place", "-q", "-o", "-.json")[0]
    out, _ = pcc("-", *SIZES, "-p", "dp-place", "-q", "-o", "-.json", stdin=model.read_bytes())
    check(json.loads(out)["objective"] == json.loads(whole)["objective"], "a model at standard input plans otherwise")
    text = pcc(model, *SIZES, "-p", "dp-place", "-q", "-o", "-.pir")[0]
    out, _ = pcc("-", "-q", "--emit=json", stdin=text)
    value = json.loads(out)["objective"]["value_s"]
    check(value == json.loads(whole)["objective"]["value_s"], "text at standard input")
    out, _ = pcc("-", *SIZES, "-o", tmp / "s", stdin=model.read_bytes())
    check(b"run it" in out and b"--verify" not in out, "a model that is nowhere can be compared with")
    for data, why in ((b"", "is empty"), (b"\xff" * 40, "stdin")):
        check(why in pcc("-", stdin=data, code=1)[1], f"{data[:4]}")
    folder = os.open(tmp, os.O_RDONLY)
    r = subprocess.run([PCC, "-"], stdin=folder, capture_output=True, text=True, check=False)
    os.close(folder)
    check(r.returncode == 1 and "standard input: cannot be read: " in r.stderr, f"a folder at stdin: {r.stderr}")
    there = tmp / "there"
    there.mkdir()
    big = onnx.load(model)
    onnx.save_model(big, there / "m.onnx", save_as_external_data=True, location="w.data", size_threshold=64)
    raw = (there / "m.onnx").read_bytes()
    pcc("-", *SIZES, "-q", "-o", tmp / "in", stdin=raw, cwd=there)
    check((tmp / "in" / "manifest.json").exists(), "external data in the current folder")
    err = pcc("-", *SIZES, "-q", "-o", tmp / "out", stdin=raw, cwd=tmp, code=1)[1]
    check("w.data" in err, f"external data elsewhere: {err}")


def summary(model, tmp):
    s = json.loads(pcc(model, *SIZES, "--emit=json")[0])
    graph = onnx.load(model).graph
    kinds = Counter(n.op_type for n in graph.node)
    elements = [numpy_helper.to_array(t).size for t in graph.initializer]
    check(s["nodes"] == len(graph.node) and s["operators"] == dict(kinds), f"operators {s['operators']}")
    check(s["parameters"] == sum(elements), f"{s['parameters']} parameters, not {sum(elements)}")
    check([v["name"] for v in s["inputs"]] == [v.name for v in graph.input], f"inputs {s['inputs']}")
    check(s["inputs"][0]["type"] == "i64", f"a type {s['inputs']}")
    check([v["name"] for v in s["outputs"]] == [v.name for v in graph.output], f"outputs {s['outputs']}")
    check(s["flops"] > 0 and s["results_with_shape"] == s["results"] > 0, "figures")
    (tmp / "w.json").write_bytes(b"")
    pcc(model, *SIZES, "-q", "-o", tmp / "w.json")
    check("objective" in json.loads((tmp / "w.json").read_text()), "-o x.json alone is a plan")


def implied(model, tmp):
    """Who names devices, or wants what shows a plan, gets one; a plan that is there is kept."""
    out, _ = pcc(model, *SIZES, "-d", "3xv100")
    check(b"time per sample" in out and b"v100" in out, "-d alone")
    check(b"FLOP per sample" in pcc(model, *SIZES)[0], "nothing alone")
    check("objective" in json.loads(pcc(model, *SIZES, "-d", "3xv100", "--emit=json")[0]), "-d --emit=json")
    check(b"dp-place" not in pcc(model, *SIZES, "-d", "3xv100", "-o", "-.csv")[0], "-d -o x.csv")
    for ending in (".gantt.svg", ".svg", ".trace.json"):
        pcc(model, *SIZES, "-o", tmp / ("y" + ending))
        check((tmp / ("y" + ending)).stat().st_size > 500, ending)
    pcc(model, *SIZES, "-p", "one-place", "-q", "-o", tmp / "one.pir")
    out, _ = pcc(tmp / "one.pir", "-q", "-o", "-.json")
    check(json.loads(out)["planner"] == "one-place", "a plan in the file is replaced")
    pcc(tmp / "one.pir", "-q", "-o", tmp / "one.svg")


def missing(model, tmp):
    for path, what in (("no/such/split", "no"), ("no/x.json", "no"), ("there/not/x.svg", "there/not"),
                       (str(tmp / "gone" / "x.pir"), str(tmp / "gone")), ("no//split/", "no")):
        _, err = pcc(model, *SIZES, "-q", "-o", path, cwd=tmp, code=1)
        check(f"there is no folder {what}: make it first" in err, f"{path}: {err}")
    check(not (tmp / "no").exists(), "a folder was made all the same")


def closed(model, tmp):
    """Without standard input, so that the first file that is opened has its number."""
    plain, _ = pcc(model, *SIZES, "-p", "dp-place", "-q", "--emit", "json")
    for name in (model, tmp / "m.pir"):
        pcc(model, *SIZES, "-q", "-o", tmp / "m.pir")
        r = subprocess.run(["sh", "-c", 'exec "$0" "$@" <&-', PCC, name, *SIZES, "-p", "dp-place", "-q", "--emit",
                            "json"],
                           capture_output=True, check=False)
        check(r.returncode == 0 and json.loads(r.stdout)["devices"] == json.loads(plain)["devices"],
              f"{name} without standard input: exit {r.returncode}: {r.stderr[-300:]}")


with tempfile.TemporaryDirectory() as folder:
    at = Path(folder).resolve()
    gpt = at / "m.onnx"
    subprocess.run([GEN, "gpt", "--layers", "2", "--width", "32", "--heads", "4", "--vocab", "50", "-o", gpt],
                   check=True)
    outputs(gpt, at)
    inputs(gpt, at)
    summary(gpt, at)
    implied(gpt, at)
    missing(gpt, at)
    closed(gpt, at)
sys.exit(finish())
