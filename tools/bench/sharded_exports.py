#!/usr/bin/env python3
"""Are exported models right when devices share their operators?

    sharded_exports.py FOLDER|MODEL... [--ways 2,4] [--sums none|integers|any] [--draw SEED] [--dim NAME=SIZE]...

Each model (of a folder: all *.onnx in it) is sharded, exactly unless --sums says otherwise, by links that cost next
to nothing, so that as much as can be is cut, and split; where the best choice cuts nothing (exchanges are nodes, too,
which tiny models are not worth), a random one is taken. A model whose file of weights is not there gets a random one,
beside a copy of it, if that has at most --weights bytes. ONNX Runtime runs the original, the sharded whole (model.onnx
of the folder) and, by tools/verify_split.py, the parts, on the inputs beside the model (NAME.inputs/test_data_set_0)
or random ones. The parts must give the bits of the sharded whole (or, where states are in pieces, be as near to the
original as it must be); that must give the bits of the original, or be within 1e-5 of the largest value of an output
(1e-2 for halves), or with sums the manifest's sharding.tolerance, if that is more.
--draw: not the best choice but a random one. --dim: of inputs that are drawn, else 4. Prints a line for each model and
number of ways; exits with 1 when one is wrong, or when more than one in ten of the models that ONNX Runtime runs is
refused."""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from common import PCC
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/support"))
from with_ort import verified  # noqa: E402

warnings.simplefilter("ignore")

# Types of weights that get random values; others, such as wide integers, are 0.
KINDS = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.UINT8: np.uint8, onnx.TensorProto.INT8: np.int8,
         onnx.TensorProto.FLOAT16: np.float16, onnx.TensorProto.DOUBLE: np.float64}


def session(path):
    """A session of ONNX Runtime that computes as the file says: no optimisations, one thread."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def size_of(name, sizes):
    """A size for a name of a dimension, 4 unless `sizes` has it; a sum of names is the sum of theirs. Adds new names to
    `sizes`."""
    return sum(sizes.setdefault(n, 4) for n in str(name).split(" + "))


def external(graph):
    """Yields the tensors of a graph, and of its bodies, that are in files of their own, each with {"location": ...,
    "offset": ..., "length": ...}, texts."""
    for t in graph.initializer:
        if t.data_location == onnx.TensorProto.EXTERNAL:
            yield t, {e.key: e.value for e in t.external_data}
    for n in graph.node:
        for a in n.attribute:
            if a.HasField("g"):
                yield from external(a.g)


def with_weights(model, folder, most):
    """The path of the model or, if files of its weights are missing, of a copy in the folder, with random weights in
    their place. None: there would be more than `most` bytes of them."""
    graph = onnx.load(str(model), load_external_data=False).graph
    held = [(t, where) for t, where in external(graph) if not (model.parent / where["location"]).exists()]
    if not held:
        return model
    if sum(int(where["length"]) for _, where in held) > most:
        return None
    rng = np.random.default_rng(5)
    for t, where in held:
        path, offset, size = folder / where["location"], int(where.get("offset", 0)), int(where["length"])
        with open(path, "r+b" if path.exists() else "wb") as file:
            file.truncate(max(path.stat().st_size, offset + size))
            if t.data_type in KINDS:
                file.seek(offset)
                file.write(random_weights(t, size, rng).tobytes())
    return Path(shutil.copy(model, folder))


def random_weights(t, size, rng):
    """`size` bytes of random values for a tensor of one of KINDS, such that results neither vanish nor overflow."""
    kind = KINDS[t.data_type]
    count = size // np.dtype(kind).itemsize
    if issubclass(kind, np.integer):
        return rng.integers(0, 100, count).astype(kind)
    if len(t.dims) < 2:  # it may be a variance
        return rng.uniform(0.5, 1.5, count).astype(kind)
    summed = np.prod(t.dims[1:]) if len(t.dims) > 2 else t.dims[0]  # products in an element of the result
    return (rng.standard_normal(count, np.float32) / np.sqrt(summed)).astype(kind)


def inputs_of(model, s, dims):
    """{name: value} of a session's inputs: those of the files beside the model, else random ones of the sizes `dims`,
    {name of a dimension: size} (see size_of())."""
    held = sorted(model.with_suffix(".inputs").glob("*/input_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
    if held:
        return {i.name: numpy_helper.to_array(onnx.load_tensor(str(p))) for i, p in zip(s.get_inputs(), held)}
    rng, sizes, fed = np.random.default_rng(1), dict(dims), {}
    types = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}
    for i in s.get_inputs():
        shape = [d if isinstance(d, int) else size_of(d, sizes) for d in i.shape]
        if i.type in types:
            fed[i.name] = rng.standard_normal(shape).astype(types[i.type])
        else:
            kind = {"tensor(bool)": bool, "tensor(int32)": np.int32, "tensor(uint8)": np.uint8}.get(i.type, np.int64)
            fed[i.name] = rng.integers(0, 2, shape).astype(kind)
    return fed


def piece(value, state, ways, k):
    """Piece k of a tensor that the devices keep in pieces. `state`: see joined()."""
    at = np.arange(value.shape[state["axis"]])
    return np.ascontiguousarray(np.take(value, at[at // state["run"] % ways == k], state["axis"]))


def joined(pieces, state):
    """The whole tensor from the devices' pieces. `state`: the axis that is divided, and `run`: how many indices in a
    row each device holds before the next device's begin."""
    ways, axis, run = len(pieces), state["axis"], state["run"]
    size = sum(p.shape[axis] for p in pieces)
    whole = np.empty((*pieces[0].shape[:axis], size, *pieces[0].shape[axis + 1:]), pieces[0].dtype)
    at = np.arange(size)
    for k, p in enumerate(pieces):
        whole[(slice(None),) * axis + (at[at // run % ways == k],)] = p
    return whole


def run_whole(folder, fed, names, manifest):
    """Runs the sharded whole model on whole inputs; returns its outputs in the order of `names`, pieces of states
    joined."""
    states = manifest.get("sharding", {}).get("states", [])
    ways = manifest.get("sharding", {}).get("ways", 1)
    s = session(folder / "model.onnx")
    wanted, fed = {i.name for i in s.get_inputs()}, dict(fed)
    for st in states:
        if st["in"] in fed:
            value = fed.pop(st["in"])
            fed.update({f"{st['in']}@{k}": piece(value, st, ways, k) for k in range(ways)})
    got = dict(zip([o.name for o in s.get_outputs()], s.run(None, {k: v for k, v in fed.items() if k in wanted})))
    for st in states:
        if f"{st['out']}@0" in got:
            got[st["out"]] = joined([got[f"{st['out']}@{k}"] for k in range(ways)], st)
    return [got[n] for n in names]


def difference(a, b):
    """Compares two values: 0 if all bits are the same; of floats the largest difference over the largest value of `a`;
    None: type, shape, integers, or the places of values that are not finite differ."""
    if type(a) is not type(b) or not isinstance(a, np.ndarray):
        return 0 if str(a) == str(b) else None
    if a.shape != b.shape or a.dtype != b.dtype:
        return None
    if a.tobytes() == b.tobytes():
        return 0
    if a.dtype.kind != "f" or not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return None
    a, b = (np.where(np.isfinite(v), v, 0).astype(np.float64) for v in (a, b))
    return float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-30))


def has_half(model, s):
    """Whether inputs, outputs or weights of a model, whose session is s, are 16-bit floats."""
    held = onnx.load(str(model), load_external_data=False).graph.initializer
    return any("float16" in i.type for i in (*s.get_inputs(), *s.get_outputs())) or any(
        t.data_type in (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16) for t in held)


def shard(model, ways, args, sizes, folder):
    """Shards a model by the choice that args.draw asks for, or, if that leaves all nodes whole, by a random one; splits
    it into `folder`. sizes: options for its dimensions. Returns (None, what pcc says of nodes in pieces); or, if pcc
    fails, (kind, text) as judge() does."""
    for draw in (args.draw, 1):
        passes = f"shard{{ways={ways}:sums={args.sums}:draw={draw}}}"
        r = subprocess.run([PCC, model, "-d", f"{ways}xa100", "--link", "100TB/s,0us", "--network=direct",
                            "--part-cost=0", "-p", passes, *sizes, "--pictures", "none", "-o", folder],
                           capture_output=True, text=True)
        if r.returncode:
            why = r.stderr.strip().splitlines() or [""]
            return ("refused", why[-1][:160]) if r.returncode == 1 else ("wrong", f"pcc ends with {r.returncode}")
        found = re.search(r"(\d+) nodes in pieces, \d+ whole on each, \d+ on one", r.stdout.replace("\n  ", " "))
        if draw or (found and int(found[1])):
            break
    return None, f"{found and found[0]}{' (a random choice)' if draw else ''}"


def judge(model, ways, args, folder):
    """Shards a model in so many ways, splits it into `folder`, and compares the outputs of the sharded whole and of the
    parts with the original's. args: sums, draw, dim, as of the program. Returns (kind, text): skipped (ONNX Runtime
    does not run the model), refused (by pcc), wrong, bits (the same), near."""
    try:
        s = session(model)
        fed = inputs_of(model, s, args.dim)
        names = [o.name for o in s.get_outputs()]
        want = s.run(names, fed)
    except Exception as why:
        return "skipped", f"ONNX Runtime does not run it: {str(why).strip()[:90]}"
    names_of_sizes = {str(d) for i in s.get_inputs() for d in i.shape}
    sizes = [f"--dim={n}={k}" for n, k in args.dim.items() if n in names_of_sizes]
    failed, text = shard(model, ways, args, sizes, folder)
    if failed:
        return failed, text
    manifest = json.loads((folder / "manifest.json").read_text())
    try:
        got = run_whole(folder, fed, names, manifest)
    except Exception as why:
        return "wrong", f"the sharded whole does not run: {str(why)[:200]}"
    off = [difference(a, b) for a, b in zip(want, got)]
    # 16-bit floats may differ by more
    most = max(1e-2 if has_half(model, s) else 1e-5, manifest.get("sharding", {}).get("tolerance", 0))
    if None in off or max(off, default=0) > most:
        return "wrong", f"differs: {[(n, d) for n, d in zip(names, off) if d is None or d > most][:3]}"
    exact = max(off, default=0) == 0
    # parts have the bits of the sharded whole; where its states are in pieces only the original has the parts' outputs
    pieces = bool(manifest["sharding"].get("states"))
    inputs = model.with_suffix(".inputs") / "test_data_set_0"
    code, words = verified(model if pieces else folder / "model.onnx", folder, "--quiet",
                           *([f"--tolerance={most}"] if pieces else []),
                           *(["--inputs", inputs] if inputs.is_dir() else []))
    if code not in (0, 3): # 3: ONNX Runtime does not run a part
        return "wrong", f"parts: {words.strip().splitlines()[-1][:200]}"
    return ("bits", text) if exact else ("near", f"{text}; off by {max(off):.1e}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="+", type=Path)
    p.add_argument("--ways", default="2,4")
    p.add_argument("--sums", choices=("none", "integers", "any"), default="none")
    p.add_argument("--draw", type=int, default=0)
    p.add_argument("--weights", type=int, default=1 << 29)
    p.add_argument("--dim", action="append", default=[])
    args = p.parse_args()
    args.dim = {n: int(k) for n, k in (d.split("=") for d in args.dim)}
    models = [m for a in args.models for m in (sorted(a.glob("*.onnx")) if a.is_dir() else [a])]
    count = {}
    for given, ways in ((m, w) for m in models for w in map(int, args.ways.split(","))):
        with tempfile.TemporaryDirectory() as name:
            model = with_weights(given, Path(name), args.weights)
            kind, text = (("skipped", "its weights are too many") if model is None else
                          judge(model, ways, args, Path(name) / "split"))
        count[kind] = count.get(kind, 0) + 1
        print(f"{kind}: {given.name}, {ways} ways: {text}", flush=True)
    print(", ".join(f"{k} {n}" for k, n in sorted(count.items())))
    ran = sum(n for k, n in count.items() if k != "skipped")
    return 1 if count.get("wrong") or count.get("refused", 0) * 10 > ran else 0


if __name__ == "__main__":
    sys.exit(main())
