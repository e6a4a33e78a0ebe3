#!/usr/bin/env python3
"""Models of pcc-gen: what they claim, they are.

Each shape, small: onnx's checker and strict shape inference pass, ONNX Runtime runs it at two sizes
of its symbolic dimensions, outputs are finite, have the declared shape, and change with every
input; names are unique; equal seeds give equal bytes and other seeds others; split over two
devices it computes the same.  Numbers that only the right model has: cached decoding equals decoding at once,
masked tokens do not matter, an expert that is not chosen does not matter, gradients are those that
finite differences give, the step goes down.

Environment: PCC, PCC_GEN, PCC_SOURCE.  Exit: 0 pass, 1 fail, 77 skip.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish
from sanitized import SANITIZED
from with_ort import GEN, PCC, verified_once  # first: it skips the test without ONNX Runtime
import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

LLAMA = ["--layers", "2", "--width", "32", "--heads", "4", "--kv-heads", "2", "--ffn", "48",
         "--vocab", "64"]
SMALL = {
    "bert": ["bert", "--layers", "2", "--width", "32", "--heads", "4", "--vocab", "64"],
    "llama": ["llama", *LLAMA],
    "llama-kv": ["llama", *LLAMA, "--kv"],
    "llama-mha": ["llama", *LLAMA[:6], "--kv-heads", "4", "--ffn", "48", "--vocab", "64"],
    "moe": ["moe", *LLAMA, "--experts", "5"],
    "moe-kv": ["moe", *LLAMA, "--experts", "3", "--top-k", "3", "--kv"],
    "unet": ["unet", "--width", "16", "--size", "16", "--layers", "1"],
    "unet-flat": ["unet", "--width", "8", "--size", "6", "--levels", "1", "--heads", "2"],
    "dlrm": ["dlrm", "--tables", "5", "--rows", "40", "--width", "8", "--ffn", "16"],
    "dlrm-one": ["dlrm", "--tables", "1", "--rows", "9", "--width", "4", "--layers", "1",
                 "--bag", "1"],
    "train": ["train", "--width", "16", "--heads", "2", "--vocab", "20", "--layers", "2"],
    "train-adam": ["train", "--width", "16", "--heads", "2", "--vocab", "20", "--layers", "1", "--adam"],
    "encoder-decoder": ["encoder-decoder", "--layers", "2", "--width", "32", "--heads", "4", "--vocab",
                        "64"],
    "detector": ["detector", "--classes", "5", "--levels", "3", "--layers", "1", "--width", "8",
                 "--size", "32", "--boxes", "6"],
    "detector-flat": ["detector", "--classes", "1", "--levels", "1", "--layers", "2", "--width", "4",
                      "--size", "8", "--boxes", "3"],
    "gpt": ["gpt", "--layers", "2", "--width", "32", "--heads", "4", "--vocab", "64"],
    "bert-mlm": ["bert", "--layers", "1", "--width", "32", "--heads", "4", "--vocab", "64", "--mlm",
                 "--activation=gelu"],
    "gpt-tanh": ["gpt", "--layers", "1", "--width", "32", "--heads", "4", "--vocab", "64", "--activation=tanh"],
    "gpt-relu": ["gpt", "--layers", "1", "--width", "32", "--heads", "4", "--vocab", "64", "--activation", "relu"],
    "gpt-kv": ["gpt", "--layers", "2", "--width", "32", "--heads", "4", "--vocab", "64", "--kv"],
    "resnet": ["resnet", "--depth", "18", "--width", "8", "--size", "32", "--classes", "10"],
    "inception": ["inception", "--width", "8", "--size", "32", "--blocks", "2", "--classes", "10"],
    "dense": ["dense", "--layers", "6", "--width", "16"],
    "star": ["star", "--nodes", "30"],
    "ladder": ["ladder", "--nodes", "40"],
}
NODES = {"bert-mlm": 30 + 17 + 6, "gpt-tanh": 35 + 12, "gpt-relu": 28 + 12,
         "bert": 34 * 2 + 17, "llama": 58 * 2 + 21, "llama-kv": 60 * 2 + 24,
         "llama-mha": 52 * 2 + 21, "moe": (58 + 50) * 2 + 21, "moe-kv": (60 + 30) * 2 + 24,
         "dlrm": 15 + 18 + 7, "dlrm-one": 3 + 6 + 7, "train": 157 * 2 + 56, "train-adam": 349 + 122,
         "encoder-decoder": 176 * 2 + 46, "detector": (5 + 28) * 3 + 18 * 5 + 54,
         "detector-flat": (10 + 28) * 1 + 18 * 1 + 54, "gpt": 32 * 2 + 12,
         "gpt-kv": 34 * 2 + 15, "dense": 18, "star": 30, "ladder": 40}  # as --help says
WRONG = {
    "bert --width 33 --heads 4": "multiple of",
    "llama --width 32 --heads 4 --kv-heads 3": "kv-heads",
    "llama --width 20 --heads 4": "multiple of twice", "moe --experts 2 --top-k 3": "--top-k",
    "unet --size 18 --levels 3": "halved",
    "detector --size 48 --levels 4": "multiple of 32", "detector --classes 0": "1..",
    "encoder-decoder --width 33 --heads 4": "multiple of", "dlrm --tables 0": "1..", "train --kv": "no option",
    "bert --experts 2": "bert has no option '--experts'; see", "gpt --kv=1": "option takes no value: '--kv=1'; see",
    "gpt --activation=swish": "expected erf, gelu, tanh or relu, not 'swish'; see",
    "gpt --layers=2x": "unexpected text after a number: 'x'; see", "gpt --dtype=f16": "element type is not f32: 'f16'",
    "gpt --layers=1000001": "--layers: '1000001' is not a number in 1..1000000",
    "resnet --blocks 1,2;3": "expected ',' before ';3'; see", "nothing": "unknown shape 'nothing'; see",
    "resnet --blocks 1,1,1,1,1,1,1,1,1": "too many numbers in '1'; see",
    "gpt --external --no-weights": "--external excludes '--no-weights'; see"}


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def generate(name, path, *more):
    r = run(GEN, *SMALL[name], *more, "-o", path)
    if r.returncode != 0:
        print(f"FAILED: pcc-gen {name}: {r.stderr.strip()}")
        sys.exit(1)
    return path


def session(model):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    source = model if isinstance(model, bytes) else str(model)
    return ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def inputs_of(s, sizes, rng):
    """Random inputs; ids below 9 are legal in every model here, masks are all but empty."""
    feed = {}
    for i in s.get_inputs():
        shape = [sizes[d] if isinstance(d, str) else d for d in i.shape]
        if i.type == "tensor(float)":
            feed[i.name] = np.asarray(rng.standard_normal(shape), np.float32)
        else:
            feed[i.name] = rng.integers(0, 2 if "mask" in i.name or "type" in i.name else 9, shape)
    return feed


def sizes_of(batch, sequence, past):
    return {"batch": batch, "sequence": sequence, "past_sequence": past,
            "total_sequence": sequence + past, "decoder_sequence": sequence + 1}


def outputs(s, feed):
    return dict(zip((o.name for o in s.get_outputs()), s.run(None, feed)))


def differs(a, b):
    return any(not np.array_equal(a[k], b[k]) for k in a)


def check_run(name, s, sizes, rng):
    feed = inputs_of(s, sizes, rng)
    first = outputs(s, feed)
    for o in s.get_outputs():
        shape = [sizes[d] if isinstance(d, str) else d for d in o.shape]
        found = list(first[o.name].shape)
        check(found == shape, f"{name}: {o.name} is {found}, not {shape}")
        check(np.isfinite(first[o.name]).all(), f"{name}: {o.name} is not finite")
    for i in s.get_inputs():
        other = dict(feed)
        if i.type == "tensor(float)":
            other[i.name] = np.asarray(feed[i.name] * 1.5 + 0.25, np.float32)
        elif "mask" in i.name or "type" in i.name:
            other[i.name] = 1 - feed[i.name]
        else:
            other[i.name] = (feed[i.name] + 1) % 9
        check(differs(first, outputs(s, other)), f"{name}: no output depends on {i.name}")


def check_claims(name, path):
    model = onnx.load(str(path))
    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    check(model.ir_version == 10 and model.opset_import[0].version == 20, f"{name}: versions")
    names = [n.name for n in model.graph.node]
    check(len(set(names)) == len(names), f"{name}: a node name occurs twice")
    wanted = NODES.get(name, len(names))
    check(len(names) == wanted, f"{name}: {len(names)} nodes, not {wanted}")
    read = {v for n in model.graph.node for v in n.input}
    unread = [t.name for t in model.graph.initializer if t.name not in read]
    check(not unread, f"{name}: nobody reads {unread[:3]}")
    made = read | {o.name for o in model.graph.output}
    idle = [n.name for n in model.graph.node if not made & set(n.output)]
    check(not idle, f"{name}: nobody reads {idle[:3]}")
    s, rng = session(path), np.random.default_rng(5)
    check_run(name, s, sizes_of(2, 5, 3), rng)
    check_run(name, s, sizes_of(3, 7, 4), rng)


def check_model(name, folder):
    path = generate(name, folder / f"{name}.onnx")
    if not SANITIZED:  # the bytes are those of other builds
        check_claims(name, path)
    again = generate(name, folder / "again.onnx").read_bytes()
    check(again == path.read_bytes(), f"{name}: two runs, different bytes")
    if name not in ("star", "ladder"):
        other = generate(name, folder / "other.onnx", "--seed", "2").read_bytes()
        check(other != again, f"{name}: another seed, the same bytes")
    return path


def check_split(name, path, folder):
    out = folder / f"{name}.split"
    r = run(PCC, path, "-d", "2xa100", "--link", "1TB/s,0us", "-p", "fuse,dp-place", "-o", out,
            "--quiet")
    if not check(r.returncode == 0, f"{name}: pcc: {r.stderr.strip()[:300]}"):
        return
    code, said = verified_once(path, out, "--sensitive", "--quiet")
    check(code == 0, f"{name}: split: {said[-300:]}")
    parts = json.loads((out / "manifest.json").read_text())["parts"]
    check(len({p["device"] for p in parts}) == 2, f"{name}: all on one device")


# ---------------------------------------------------------------- numbers


def close(a, b, what, rtol=1e-4, atol=1e-5):
    worst = float(np.abs(a - b).max())
    check(np.allclose(a, b, rtol=rtol, atol=atol), f"{what}: off by {worst}")


def check_cache(kind, folder):
    """Six tokens at once, or four and then two with the cache, or six from an empty cache."""
    s = session(folder / f"{kind}-kv.onnx")
    past = [i for i in s.get_inputs() if i.name.startswith("past")]
    empty = {i.name: np.zeros((2, i.shape[1], 0, i.shape[3]), np.float32) for i in past}
    ids = np.random.default_rng(1).integers(0, 60, (2, 6))
    whole = outputs(s, {"input_ids": ids, **empty})
    start = outputs(s, {"input_ids": ids[:, :4], **empty})
    cached = {i.name: start[i.name.replace("past_key_values", "present")] for i in past}
    rest = outputs(s, {"input_ids": ids[:, 4:], **cached})
    close(rest["logits"], whole["logits"][:, 4:], f"{kind}: decoding with a cache")
    close(start["logits"], whole["logits"][:, :4], f"{kind}: causal")
    other = ids.copy()
    other[:, 0], other[:, 1] = ids[:, 1], ids[:, 0] + 1
    changed = outputs(s, {"input_ids": other, **empty})["logits"][:, -1]
    moved = np.abs(changed - whole["logits"][:, -1]).max()
    check(moved > 1e-7, f"{kind}: first tokens do not matter")
    if kind == "llama":
        same = session(folder / "llama.onnx").run(None, {"input_ids": ids})[0]
        close(same, whole["logits"], "llama: with and without --kv")


def check_order(folder):
    """Rotary embeddings: the same tokens in another order give another result at the end."""
    s, ids = session(folder / "llama.onnx"), np.array([[3, 1, 4, 1, 5]])
    swapped = np.array([[1, 4, 3, 1, 5]])
    a, b = (s.run(None, {"input_ids": i})[0][0, -1] for i in (ids, swapped))
    check(np.abs(a - b).max() > 1e-7, "llama: positions do not matter")


def check_mask(folder):
    s = session(folder / "bert.onnx")
    ids, mask = np.array([[5, 6, 7, 8]]), np.array([[1, 1, 0, 0]])
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": 0 * ids}
    a = outputs(s, feed)["last_hidden_state"][:, :2]
    b = outputs(s, {**feed, "input_ids": np.array([[5, 6, 9, 9]])})["last_hidden_state"][:, :2]
    check(np.array_equal(a, b), "bert: masked tokens matter")
    short = outputs(s, {k: v[:, :2] for k, v in feed.items()})["last_hidden_state"]
    close(a, short, "bert: padding")


def set_weight(model, name, value):
    for t in model.graph.initializer:
        if t.name == name:
            t.CopyFrom(numpy_helper.from_array(value.astype(np.float32), name))


def weight(model, name):
    return next(numpy_helper.to_array(t) for t in model.graph.initializer if t.name == name)


def check_experts(folder):
    """One token: the experts it does not choose may be anything; the chosen weights sum to 1."""
    model = onnx.load(str(folder / "moe.onnx"))
    for value in ("/layers.0/moe/router/TopK_output_1", "/layers.0/moe/router/Div_output_0"):
        model.graph.output.add(name=value)
    feed = {"input_ids": np.array([[7]])}
    first = outputs(session(model.SerializeToString()), feed)
    chosen = set(first["/layers.0/moe/router/TopK_output_1"].ravel().tolist())
    close(first["/layers.0/moe/router/Div_output_0"].sum(-1), np.ones((1, 1)), "moe: weights")
    check(len(chosen) == 2, f"moe: chosen {chosen}")
    for e in range(5):
        twisted = onnx.ModelProto.FromString(model.SerializeToString())
        name = f"layers.0.moe.experts.{e}.down.weight"
        set_weight(twisted, name, weight(model, name) + 1)
        now = outputs(session(twisted.SerializeToString()), feed)
        same = np.array_equal(now["logits"], first["logits"])
        check(same == (e not in chosen), f"moe: expert {e} of chosen {chosen}: same is {same}")


def check_gradients(folder):
    model = onnx.load(str(folder / "train.onnx"))
    rng = np.random.default_rng(2)
    # Weights of the generator are small, so are gradients: larger ones make differences visible.
    for t in list(model.graph.initializer):
        if t.name.endswith(".weight") and len(t.dims) == 2:
            set_weight(model, t.name, weight(model, t.name) * 12)
    s = session(model.SerializeToString())
    feed = {"input_ids": rng.integers(0, 20, (3, 6)), "labels": rng.integers(0, 20, (3, 6)),
            "learning_rate": np.array(0.05, np.float32)}
    out = outputs(s, feed)
    params = [k[:-5] for k in out if k.endswith("_grad")]
    trained = [t.name for t in model.graph.initializer if t.name.endswith((".weight", ".bias"))]
    check(sorted(params) == sorted(trained), "train: not every parameter has a gradient")
    backward = [n.name for n in model.graph.node if n.name.endswith("_grad")]
    check(len(backward) > len(model.graph.node) // 3, "train: few nodes are called *_grad")
    for p in params:
        w, grad = weight(model, p), out[p + "_grad"].astype(np.float64)
        close(out[p + "_update"], (grad * 0.05).astype(np.float32), f"train: update of {p}")
        close(out[p + "_new"], w - out[p + "_update"], f"train: new {p}")
        if p.endswith(".k.bias"):  # adds the same to all scores of a row: no effect
            check(np.abs(grad).max() < 1e-5, f"train: gradient of {p} is not 0")
            continue
        size = float(np.sqrt((grad ** 2).sum()))
        step = grad / size * min(0.004, 0.004 / size)
        losses = []
        for sign in (1, -1):
            moved = onnx.ModelProto.FromString(model.SerializeToString())
            set_weight(moved, p, w + sign * step)
            losses.append(float(session(moved.SerializeToString()).run(["loss"], feed)[0]))
        slope, wanted = (losses[0] - losses[1]) / 2, float((grad * step).sum())
        check(abs(slope - wanted) < 0.03 * wanted + 2e-6,
              f"train: gradient of {p}: differences say {slope:.3g}, the graph {wanted:.3g}")
    for p in params:
        set_weight(model, p, out[p + "_new"])
    after = outputs(session(model.SerializeToString()), feed)["loss"]
    check(after < out["loss"], f"train: the loss went from {out['loss']} to {after}")


def check_adam(folder):
    """The first step of Adam goes by the learning rate against the sign of each gradient, and keeps both moments."""
    model = onnx.load(str(folder / "train-adam.onnx"))
    ids = np.arange(10).reshape(2, 5)
    feed = {"input_ids": ids, "labels": ids + 1, "learning_rate": np.array(0.25, np.float32)}
    out = outputs(session(model.SerializeToString()), feed)
    check(out["step_new"] == 1, f"train-adam: step {out['step_new']}")
    for name in [n for n in out if n.endswith("_grad")]:
        p, grad = name.removesuffix("_grad"), out[name]
        far = np.abs(grad) > 1e-5  # the epsilon of 1e-8 is far below
        off = np.abs(out[p + "_update"] - 0.25 * np.sign(grad))
        check(off[far].max(initial=0) < 1e-3, f"train-adam: update of {p}")
        for name, want in (("m", 0.1 * grad), ("v", 0.001 * grad * grad)):
            off = np.abs(out[f"{p}_{name}_new"] - want).max()
            check(off <= 1e-5 * np.abs(want).max(), f"train-adam: {name} of {p}: {off} off")


def check_numbers(folder):
    for kind in ("llama", "moe", "gpt"):
        check_cache(kind, folder)
    check_order(folder)
    check_mask(folder)
    check_experts(folder)
    check_gradients(folder)
    check_adam(folder)


# ---------------------------------------------------------------- sizes and command line


def check_large(folder):
    """The graph of 70 billion parameters is a small file, and planning sees all its bytes."""
    path = folder / "large.onnx"
    r = run(GEN, "llama", "--layers", "80", "--width", "8192", "--heads", "64", "--kv-heads", "8",
            "--ffn", "28672", "--vocab", "128256", "--kv", "--no-weights", "-o", path)
    check(r.returncode == 0, f"large llama: {r.stderr}")
    check(path.stat().st_size < 4 << 20, f"large llama: {path.stat().st_size} bytes")
    check(not (folder / "large.weights").exists(), "large llama: weights were written")
    model = onnx.load(str(path), load_external_data=False)
    count = sum(int(np.prod(t.dims)) for t in model.graph.initializer)
    check(70.5e9 < count < 70.7e9, f"large llama: {count} parameters")


def check_modes(folder):
    """--external holds the same weights as inline."""
    inline = onnx.load(str(generate("unet", folder / "u.onnx")))
    apart = onnx.load(str(generate("unet", folder / "v.onnx", "--external")))
    for a, b in zip(inline.graph.initializer, apart.graph.initializer):
        check(np.array_equal(numpy_helper.to_array(a), numpy_helper.to_array(b)), f"unet: {a.name}")


def check_standard_output(folder):
    """-o - writes the same bytes to standard output, of models and workloads, and no file."""
    for line in (["dense", "--layers", "2", "--width", "8"], ["random-layers", "--nodes", "20"]):
        run(GEN, *line, "-o", folder / "file")
        written = (folder / "file").read_bytes()
        r = subprocess.run([GEN, *line, "-o", "-"], cwd=folder, capture_output=True)
        check((r.returncode, r.stderr) == (0, b"") and r.stdout == written, f"{line} -o -: other bytes, {r.stderr}")
        with open("/dev/full", "wb") as full:
            r = subprocess.run([GEN, *line, "-o", "-"], stdout=full, stderr=subprocess.PIPE, text=True)
        check(r.returncode == 1 and r.stderr == "pcc-gen: standard output: No space left on device\n", f"{line}: {r}")
    check(not (folder / "-").exists(), "-o - made a file")


def check_file_limit(folder):
    """Beyond the limit on file sizes there is an error and no file is left."""
    to = folder / "large"
    to.mkdir()
    for line in (["dense", "--layers", "2", "--width", "64"], ["random-layers", "--nodes", "200"]):
        r = subprocess.run([GEN, *line, "-o", to / "file"], capture_output=True, text=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        check((r.returncode, r.stderr) == (1, f"pcc-gen: {to}/file: File too large\n"), f"{line}, 4096 bytes: {r}")
    check(not list(to.iterdir()), f"beyond the limit: {list(to.iterdir())} left")


def check_descriptors(folder):
    """Without a free descriptor there is an error and no file is left, be it the first or the second one that lacks."""
    seen = set()
    for most in range(3, 7):
        to = folder / f"few{most}"
        to.mkdir()
        r = subprocess.run(["sh", "-c", f'ulimit -n {most}; exec "$@"', "sh", GEN, "random-layers", "--nodes", "20",
                            "-o", to / "file"], capture_output=True, text=True)
        left = [p.name for p in to.iterdir()]
        good = (r.returncode, r.stderr, left) == (0, "", ["file"])
        refused = r.returncode == 1 and r.stderr == f"pcc-gen: {to}/file: Too many open files\n" and not left
        seen |= {"good"} if good else {"refused"} if refused else set()
        check(good or refused or "shared libraries" in r.stderr, f"{most} descriptors: {r}, {left}")
    check(seen == {"good", "refused"}, f"with few descriptors: {seen}")


def check_usage(folder):
    for line, said in WRONG.items():
        r = run(GEN, *line.split(), "-o", folder / "wrong.onnx")
        check(r.returncode == 2 and said in r.stderr and r.stderr.count("\n") == 1,
              f"{line}: {r.returncode} {r.stderr.strip()}")
    for line, said in {("gpt", "--external", "-o", "-"): "--external needs a file beside which the weights can stand, "
                                                         "here is '-o -'",
                       (): "missing 'SHAPE'", ("gpt",): "missing option '-o FILE'",
                       ("gpt", "-o"): "missing value of '-o'", ("gpt", "-o", ""): "empty file name ''"}.items():
        r = run(GEN, *line)
        check(r.returncode == 2 and r.stderr == f"pcc-gen: {said}; see pcc-gen --help\n", f"{line}: {r.stderr}")
    check(not (folder / "wrong.onnx").exists(), "a refused model was written")
    text = run(GEN, "--help").stdout
    for name in sorted({v[0] for v in SMALL.values()}):
        check(f"\n  {name} " in text, f"--help does not name {name}")
    for option in ("--kv-heads", "--experts", "--top-k", "--ffn", "--levels", "--tables", "--rows"):
        check(option in text, f"--help does not name {option}")


def main():
    start = time.monotonic()
    for program in (PCC, GEN):
        if not Path(program).exists():
            print(f"skipped: {program} does not exist")
            return 77
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        paths = {name: check_model(name, folder) for name in SMALL}
        for name in ("bert", "llama-kv", "moe", "unet", "dlrm", "train", "encoder-decoder", "detector"):
            check_split(name, paths[name], folder)
        if not SANITIZED:
            check_numbers(folder)
        check_large(folder)
        check_modes(folder)
        check_usage(folder)
        check_standard_output(folder)
        check_file_limit(folder)
        check_descriptors(folder)
    print(f"{len(SMALL)} models, {time.monotonic() - start:.1f} s")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
