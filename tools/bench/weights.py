#!/usr/bin/env python3
"""Every model there is, over 2, 3 and 4 devices, with its weights in every place a split can have them, each
split verified in ONNX Runtime: bit-equal, or within the stated tolerance where float16 crosses.

usage: weights.py [--modes=shared,parts,inline,original] [--sets=top,tiny,real] [--most=BYTES] [NAME ...]

A model of fewer than 16 placed nodes is taken as one part.  `original` splits lie beside the source over 3 devices and
hold copies of its files otherwise.  Models of exported/real come without weights: they get random ones of up to --most
bytes (default 700 MB), larger ones zeros in a sparse file if they are named.  A model that ONNX Runtime does not run as
a whole cannot be compared; it is counted.  Splits that fail since a value without a type would have to cross are
counted, too.  Needs SHARED/models; scratch space in TMPDIR."""
import collections
import contextlib
import io
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from common import PCC, ROOT, Run, help_or_go, need_shared, table, verdict

sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True  # tests run this script: its imports leave nothing in the source
import verify_split  # noqa: E402

LEAST = 16  # placed nodes of a model that is worth splitting
LINK = ["--link", "1TB/s,0us"]  # nothing keeps parts together
DIMS = {"gpt2_past": ["--dim", "seq_len=4"],  # its table of positions has 8 rows
        "gpt2_megatron": ["--dim", "seq_len=32,past_seq_len=32"]}  # its mask has 64
SEARCH = [np.array([[1, 2, 3]], np.int32), np.array([10], np.int32), np.array([1], np.int32)]
ONE = np.array([1], np.float32)
# Inputs of models that need others than random ones.
INPUTS = {"tiny_gpt2_beamsearch_layering": SEARCH + [np.array([4], np.int32), np.array([1], np.int32), ONE, ONE],
          "tiny_gpt2_greedysearch_with_init_decoder": SEARCH + [ONE]}  # lengths, beams, penalties
SETS = {"top": "models", "tiny": "models/exported/tiny", "real": "models/exported/real"}
FLOATS = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.FLOAT16: np.float16, onnx.TensorProto.DOUBLE: np.float64}


def tensors(graph):
    """Yields all tensors of a graph and of the graphs in its nodes' attributes."""
    stack = [graph]
    while stack:
        g = stack.pop()
        yield from g.initializer
        for node in g.node:
            for a in node.attribute:
                yield from [a.t] * a.HasField("t") + list(a.tensors)
                stack += [a.g] * a.HasField("g") + list(a.graphs)


def externals(path):
    """Yields (tensor, file, offset, length) for each tensor of the model with external data."""
    for t in tensors(onnx.load(str(path), load_external_data=False).graph):
        if t.data_location == onnx.TensorProto.EXTERNAL:
            e = {x.key: x.value for x in t.external_data}
            yield t, e["location"], int(e.get("offset", 0)), int(e.get("length", 0))


def fill(path, most):
    """Makes all files of external weights of the model at `path`, which is a copy that came without any, each as long
    as the longest must be: random floats, if that has at most `most` bytes; else, and for integers, 0."""
    size = longest(path)
    block = np.random.default_rng(1).standard_normal(1 << 20) * 0.02
    for t, location, at, n in externals(path):
        file = path.parent / location
        file.touch()
        os.truncate(file, size)  # for the first of its tensors: later it has this size
        kind = FLOATS.get(t.data_type)
        if kind and size <= most:
            data = np.memmap(file, kind, "r+", at, n // np.dtype(kind).itemsize)
            for k in range(0, len(data), len(block)):  # the same random floats again and again
                data[k:k + len(block)] = block[:len(data) - k]


def longest(path):
    """The bytes that the longest file of external weights of the model must have; 0 without external weights."""
    return max((at + n for _, _, at, n in externals(path)), default=0)


def fetch(path, folder, most, named):
    """Copies a model and its files of weights to the folder; a model of exported/real, which has no such files, gets
    random ones. named: whether the user named the model; if so, it is taken even with more than `most` bytes of
    weights. Returns (path of the copy, ""), or (None, why it is left out)."""
    copy = folder / path.name
    shutil.copy(path, copy)
    if path.parent.name == "real":
        if longest(path) > most and not named:
            return None, f"{longest(path) / 1e9:.1f} GB of weights"
        fill(copy, most)
    else:
        for location in {location for _, location, _, _ in externals(path)}:
            if (path.parent / location).is_file():
                shutil.copy(path.parent / location, folder / Path(location).name)
    return copy, ""


def inputs_of(path, folder):
    """The folder of inputs to verify splits of a model with: `folder`, to which the values in INPUTS are written, if
    the model has some; else the folder beside the model; None, for random inputs, if there is none."""
    for k, value in enumerate(INPUTS.get(path.stem, [])):
        (folder / f"input_{k}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
    if path.stem in INPUTS:
        return folder
    beside = path.parent / f"{path.stem}.inputs"
    return beside if (beside / "test_data_set_0/input_0.pb").is_file() else None


def split(model, mode, devices, out, name):
    """Splits a model with --weights=`mode`, without any program in PATH, and so without pictures. Returns the run.
    name: the model's in DIMS."""
    return Run([PCC, model, "-d", f"{devices}xa100", *DIMS.get(name, []), *LINK, f"--weights={mode}", "-p",
                "fuse,dp-place", "-q", "-o", out], env={**os.environ, "PATH": "/nonexistent"})


def verify(model, out, inputs):
    """Verifies a split with these inputs (None: random ones). Returns the exit code and the last line that was
    printed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = verify_split.main([str(model), str(out), "--quiet", *(["--inputs", str(inputs)] if inputs else [])])
    return code, said.getvalue().strip().splitlines()[-1]


def loads(model):
    """Whether ONNX Runtime accepts the model at all."""
    try:
        verify_split.open_session(model)
        return True
    except Exception:  # ONNX Runtime has no common class for its errors
        return False


def outcome_of(run, model, out, inputs):
    """What came of a run that was to split a model into the folder `out`: (outcome in a word, manifest, last line of
    output). A split is verified with these inputs. Without one the manifest is None."""
    line = run.out.strip().splitlines()[-1] if run.out.strip() else ""
    if run.rc:
        kind = "untyped" if "its type is not known" in line else "refused" if loads(model) else "cannot run"
        return kind, None, line
    code, text = verify(model, out, inputs)
    outcome = {0: "rounded" if "within rounding" in text else "equal", 3: "cannot run"}.get(code, "WRONG")
    return outcome, json.loads((out / "manifest.json").read_text()), text


def try_one(model, mode, devices, inputs):
    """Splits a model with --weights=`mode`, and verifies the split. Returns (outcome in a word, number of parts, number
    of placed nodes, the last line of output). All that was written is removed."""
    beside = mode == "original" and devices == 3
    before = set(model.parent.iterdir())
    out = model.parent if beside else model.parent / "split"
    try:
        outcome, manifest, text = outcome_of(split(model, mode, devices, out, model.stem), model, out, inputs)
        if not manifest:
            return outcome, 0, 0, text
        return outcome, len(manifest["parts"]), sum(p["nodes"] for p in manifest["parts"]), text
    finally:
        for path in set(model.parent.iterdir()) - before:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def try_model(path, modes, most, named):
    """Tries all modes on a model over 2, 3 and 4 devices, on a model of fewer than LEAST placed nodes as one part.
    Returns the rows of the table; one row if the model is left out. Ends early if ONNX Runtime does not run the
    model."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        inputs = inputs_of(path, Path(folder))
        model, why = fetch(path, Path(folder), most, named)
        if not model:
            return [[path.parent.name, path.stem, "-", "-", "-", "left out", why]]
        _, _, placed, _ = try_one(model, "shared", 2, inputs)  # 0: the split failed, so the rows say why
        for devices in (2, 3, 4) if placed >= LEAST or not placed else (1,):
            for mode in modes:
                outcome, parts, _, text = try_one(model, mode, devices, inputs)
                if devices == 1 and outcome == "equal" and parts > 1:
                    outcome = "WRONG"
                rows.append([path.parent.name, path.stem, devices, mode, parts, outcome,
                             "" if outcome == "equal" else text[-160:]])
                if outcome == "cannot run":  # nor would it over other devices or in another mode
                    return rows
    return rows


def main():
    help_or_go()
    option = dict(a[2:].split("=", 1) for a in sys.argv[1:] if a.startswith("--"))
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    modes = option.get("modes", "shared,parts,inline,original").split(",")
    most = int(option.get("most", 700_000_000))
    paths = [p for s in option.get("sets", "top,tiny,real").split(",")
             for p in sorted(need_shared(SETS[s]).glob("*.onnx")) if not names or p.stem in names]
    rows = []
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork"), max_tasks_per_child=None) as pool:
        for found in pool.map(try_model, paths, *zip(*[(modes, most, bool(names))] * len(paths))):
            rows += found
            for row in found:
                print(" ".join(map(str, row)), flush=True)
    table(["set", "model", "devices", "weights", "parts", "outcome", "remark"], [r for r in rows if r[5] != "equal"])
    counts = collections.Counter((r[3], r[5]) for r in rows)
    table(["weights", "outcome", "splits"], [[*key, n] for key, n in sorted(counts.items())])
    bad = [r for r in rows if r[5] in ("WRONG", "refused")]
    verdict(not bad, f"{len(paths)} models, {len(rows)} splits, {len(bad)} wrong")


if __name__ == "__main__":
    sys.exit(main())
