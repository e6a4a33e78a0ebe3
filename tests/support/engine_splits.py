"""Splits for tests of files for engines (docs/engines.md): the models, pcc on them, and what lies in a folder."""
import json
import os
import subprocess

import extras
import numpy as np
from onnx import TensorProto, helper
from with_ort import PCC, check

FLAT = ["-p", "dp-place"]
# Plans of any shape: where engines run, as users would ask for them; else by fewer moves, in a tenth of the time.
ANY = ["-p", "auto-place{gain=0}" if extras.extra() or os.environ.get("PCC_ALL") else "anneal-place{moves=500}"]
MODELS = [("gpt", "gpt --layers 2 --width 16 --heads 2 --vocab 20", FLAT),
          ("gpt_kv", "gpt --kv --layers 2 --width 16 --heads 2 --vocab 20", ANY),
          ("llama_kv", "llama --kv --layers 2 --width 16 --heads 2 --kv-heads 1 --vocab 20", FLAT),
          ("resnet", "resnet --depth 18 --size 32 --width 4 --classes 5", ["--replicate"]),
          ("dense", "dense --layers 6 --width 16", FLAT)]
RESNET = MODELS[3][1]
if os.environ.get("PCC_SANITIZED"):
    MODELS = MODELS[::3]


def plans(first):
    """The plans that are tried of a model: this one, contiguous ones and plans of any shape."""
    return [first, *(p for p in (FLAT, ANY) if p != first)]


def pcc(*args, code=0, said=""):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True)
    check(r.returncode == code and said in r.stderr, f"{args}: exit {r.returncode}, {r.stderr[-400:]!r}, not {said}")
    return r


def split(model, folder, *options, code=0, said=""):
    """Splits over three devices, fast enough links for plans of any shape."""
    return pcc(model, "-q", "-d", "3xa100", "--link", "1TB/s,0us", "--part-cost=0", "--pictures=none",
               "-Wno-guessed-dim", "--dim", "batch=2", "-o", folder, *options, code=code, said=said)


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def samples(folder, seed=3):
    rng = np.random.default_rng(seed)
    said = manifest(folder)
    for i in said["inputs"]:
        kind = said["values"][i["name"]]["numpy_type"]
        yield i["name"], (rng.integers(0, 5, i["sizes"]) if "int" in kind else rng.random(i["sizes"])).astype(kind)


def model_of(nodes, inputs, outputs, inits=()):
    def info(name, shape, kind=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, kind, shape)
    graph = helper.make_graph(nodes, "g", [info(*i) for i in inputs], [info(*o) for o in outputs], list(inits))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def chain(first, last, n=6):
    names = [first, *(f"{last}.{k}" for k in range(n - 1)), last]
    return [helper.make_node("Exp", [a], [b], name=f"{last}/{k}") for k, (a, b) in enumerate(zip(names, names[1:]))]
