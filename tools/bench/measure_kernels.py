#!/usr/bin/env python3
"""Measures kernels and whole models on this machine's GPU, in the form that fit_kernels.py and whole_models.py read.

usage: measure_kernels.py DEVICE FOLDER [--seconds N] [--most N] [--seed N] [--type f32|tf32|f16|bf16] [--models]

DEVICE is pcc's name of the class (h100).  FOLDER/kernels.csv gets a row for each kernel of PyTorch that was measured:
matrix products, convolutions (of 1 x 1 and 3 x 3), attention (two products, a factor and a Softmax), elementwise
operations, normalisations and copies, of sizes that are drawn with --seed, up to 10^12 operations each.  A time is the
median of 5, each of as many launches one after the other as take 2 ms, 3 to 200.  f32 is without TF32.  Rows are added
to a file that is there.  --models: instead, to FOLDER/models.csv, whole models of transformers with random weights, at
published sizes, forward and in training.  --seconds: end after that time (120), with the rows so far; --most: after
that many kernels (1000).  Without PyTorch or a GPU: exit 77."""
import argparse
import csv
import math
import random
import statistics
import sys
import time
from pathlib import Path

COLUMNS = ("device", "op", "b", "m_or_width", "n", "k", "us", "measurements")
MODEL_COLUMNS = ("device", "model", "mode", "sequence", "batch", "variant", "whole_ms", "forward_ms", "backward_ms")
MODELS = [("bert_large", "inf", 512, 8), ("bert_large", "inf", 512, 16), ("gpt2_large", "inf", 1024, 4),
          ("gpt2_large", "inf", 1024, 8), ("opt_13", "inf", 2048, 2), ("opt_13", "inf", 2048, 8),
          ("gpt2_large", "train", 1024, 1), ("gpt2_large", "train", 1024, 4)]
MOST_FLOPS, MOST_ELEMENTS = 1e12, 1 << 30  # of a kernel
MEASUREMENTS = 5  # of a kernel, whose median counts


def log_uniform(rng, low, high, step=1):
    """A random multiple of step between low and high; equally likely between any two neighbouring powers of two."""
    return max(low, step * round(2 ** rng.uniform(math.log2(low), math.log2(high)) / step))


def draw(rng, op):
    """A random size (b, m, n, k) of a kernel of this operation, which neither computes nor moves too much."""
    while True:
        b, m, n, k = 1, 0, 0, 0
        if op == "linear":
            m = log_uniform(rng, 64, 65536, 64)
            n, k = (log_uniform(rng, 512, 50272, 32) for _ in range(2))
        elif op == "bmm":
            b, m = log_uniform(rng, 12, 4096), log_uniform(rng, 64, 4096, 64)
            n, k = log_uniform(rng, 64, 4096, 64), log_uniform(rng, 64, 4096, 64)
        elif op == "attention":  # heads, tokens, width
            b, m = log_uniform(rng, 12, 4096), log_uniform(rng, 64, 4096, 64)
            n, k = rng.choice((64, 128)), m
        elif op in ("conv1", "conv3"):  # images, their side, channels in and out
            b, m = log_uniform(rng, 1, 64), rng.choice((7, 14, 28, 56, 112))
            n, k = log_uniform(rng, 32, 1024, 32), log_uniform(rng, 32, 1024, 32)
        else:
            b, m = log_uniform(rng, 1024, 1 << 20, 64), log_uniform(rng, 512, 16384, 64)
        if flops(op, b, m, n, k) <= MOST_FLOPS and elements(op, b, m, n, k) <= MOST_ELEMENTS:
            return b, m, n, k


def flops(op, b, m, n, k):
    """Floating-point operations of a kernel; 0 for those that only move data."""
    return {"linear": 2 * m * n * k, "bmm": 2 * b * m * n * k, "attention": 4 * b * m * n * m,
            "conv1": 2 * b * m * m * n * k, "conv3": 18 * b * m * m * n * k}.get(op, 0)


def elements(op, b, m, n, k):
    """How many elements a kernel reads and writes, intermediate results included; of elementwise operations as if all
    had two operands."""
    if op in ("linear", "bmm"):
        return b * (m * n + n * k + m * k)
    if op == "attention":
        return b * (4 * m * n + 2 * m * m)
    return b * m * m * (n + k) if op.startswith("conv") else 3 * b * m


def kernel_of(torch, op, shape, dtype):
    """A function that launches the kernel of this operation, on tensors of random numbers that are made here. shape:
    (b, m, n, k)."""
    b, m, n, k = shape

    def tensor(*size):
        """Random numbers on the GPU."""
        return torch.randn(*size, device="cuda", dtype=dtype)
    if op == "linear":
        x, w = tensor(m, n), tensor(n, k)
        return lambda: x @ w
    if op == "bmm":
        x, w = tensor(b, m, n), tensor(b, n, k)
        return lambda: torch.bmm(x, w)
    if op == "attention":
        q, key, v = tensor(b, m, n), tensor(b, n, m), tensor(b, m, n)
        return lambda: torch.bmm(torch.softmax(torch.bmm(q, key) * 0.125, -1), v)
    if op in ("conv1", "conv3"):
        side = int(op[-1])
        x, w = tensor(b, n, m, m), tensor(k, n, side, side)
        return lambda: torch.nn.functional.conv2d(x, w, padding=side // 2)
    x = tensor(b, m)
    if op == "ln":
        w = tensor(m)
        return lambda: torch.nn.functional.layer_norm(x, (m,), w)
    if op in ("add", "mul", "div"):
        y = tensor(b, m)
        return {"add": lambda: x + y, "mul": lambda: x * y, "div": lambda: x / y}[op]
    return {"softmax": lambda: torch.softmax(x, -1), "relu": lambda: torch.relu(x), "tanh": lambda: torch.tanh(x),
            "addu": lambda: x + 1.5, "mulu": lambda: x * 1.5, "copy": x.clone}[op]


def timed(torch, call):
    """Measures a call on the GPU: (median us of a launch, number of measurements)."""
    def of(launches):
        """us of one of so many launches in a row."""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(launches):
            call()
        end.record()
        end.synchronize()
        return 1000 * start.elapsed_time(end) / launches
    of(1)  # the first launch chooses a kernel and loads it
    launches = min(max(3, round(2000 / of(2))), 200)
    of(launches)  # not measured: brings clocks and caches to where they stay
    return statistics.median(of(launches) for _ in range(MEASUREMENTS)), MEASUREMENTS


def kernels(torch, args, until):
    """Measures kernels of random sizes until the time `until`, at most args.most. Yields a row for each; none for a
    kernel whose tensors have no room."""
    # operations are measured in this order, again and again
    ops = ["linear", "bmm"] * 4 + ["conv1", "conv3", "attention"] * 2 + ["ln", "softmax", "copy"] * 2 + \
        ["add", "mul", "div", "addu", "mulu", "relu", "tanh"]
    if args.type != "f32":
        ops = ["linear", "bmm", "conv3", "attention"]
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}.get(args.type, torch.float32)
    rng, i = random.Random(args.seed), 0
    while time.monotonic() < until and i < args.most:
        op = ops[i % len(ops)]
        shape = draw(rng, op)
        i += 1
        try:
            us, n = timed(torch, kernel_of(torch, op, shape, dtype))
        except torch.OutOfMemoryError:
            continue
        finally:
            torch.cuda.empty_cache()
        yield [args.device, op, *(v or "" for v in shape), f"{us:.2f}", n]


def model_of(torch, name):
    """The model of this name (of MODELS; the last branch is opt_13), with random weights."""
    import transformers as t
    if name == "bert_large":
        return t.BertForMaskedLM(t.BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
                                              intermediate_size=4096, attn_implementation="eager"))
    if name == "gpt2_large":
        return t.GPT2LMHeadModel(t.GPT2Config(n_embd=1280, n_layer=36, n_head=20, attn_implementation="eager"))
    return t.OPTForCausalLM(t.OPTConfig(hidden_size=2048, num_hidden_layers=24, num_attention_heads=32, ffn_dim=8192,
                                        word_embed_proj_dim=2048, attn_implementation="eager"))


def models(torch, args, until):
    """Measures the models of MODELS until the time `until`. Yields a row for each; none for a model that has no
    room."""
    last, model = None, None
    for name, mode, sequence, batch in MODELS:
        if time.monotonic() > until:
            return
        if name != last:
            model = None  # makes room before the next model is made
            torch.cuda.empty_cache()
            with torch.device("cuda"):
                model = model_of(torch, name).eval()
            last = name
        ids = torch.randint(0, 30000, (batch, sequence), device="cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        options = {} if name == "bert_large" else {"use_cache": False}  # an encoder has no cache

        def forward():
            """Forward alone, without what backward would need."""
            with torch.no_grad():
                model(ids, **options)

        def step():
            """Forward, backward and update of the weights."""
            model(ids, labels=ids, **options).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        try:
            ms = timed(torch, forward if mode == "inf" else step)[0] / 1000
        except torch.OutOfMemoryError:
            continue
        yield [args.device, name, mode, sequence, batch, "", f"{ms:.3f}", "", ""]


def add(path, columns, rows):
    """Adds rows to a CSV file as they come, and prints their number; a new file begins with the columns' names."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as f:
        out = csv.writer(f)
        if new:
            out.writerow(columns)
        n = 0
        for row in rows:
            out.writerow(row)
            f.flush()
            n += 1
    print(f"{path}: {n} rows added")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--most", type=int, default=1000, help="kernels")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--type", choices=["f32", "tf32", "f16", "bf16"], default="f32")
    parser.add_argument("--models", action="store_true")
    args = parser.parse_args()
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None or not torch.cuda.is_available():
        print("skipped: this needs PyTorch and a GPU")
        return 77
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = args.type == "tf32"
    args.folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + args.seconds
    if args.models:
        add(args.folder / "models.csv", MODEL_COLUMNS, models(torch, args, until))
    else:
        add(args.folder / "kernels.csv", COLUMNS, kernels(torch, args, until))
    return 0


if __name__ == "__main__":
    sys.exit(main())
