#!/usr/bin/env python3
"""Whether pcc-run's CUDA devices give what its CPU devices give, and take what was planned (docs/run.md).

usage: cuda_run.py [CASE ...] [--class NAME] [--library FILE] [--samples N] [--pcc PROGRAM] [--dry]

Each case is a generated model and a split of it over devices of that class (h100), all of which are GPU 0 here, and
perhaps a CPU.  It runs twice with the same random inputs: with --provider on the GPU, and on processors.  Printed: the
largest difference of an output, over the largest value of that output; time per sample beside the plan; how much of
the GPU's memory a run takes, and one with four times as many samples.  Exit 1: an output differs by more than a
thousandth of its largest value, or the longer run takes 5 % more memory, unless states grow.
--library: that of onnxruntime-gpu.  --dry: processors both times, to try this script."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import onnx

PCC = Path(__file__).resolve().parents[2] / "build/release/pcc"

# name: (arguments of pcc-gen, devices, arguments of pcc, arguments of pcc-run, samples divided by this); HALVES: the
# first half of the nodes on the first device, the others on the second.
CASES = {
    "whole": ("gpt --layers 12 --width 768 --heads 12 --vocab 5000", "1xCLASS", ["--dim", "sequence=128"], [], 1),
    "two-stages": ("gpt --layers 4 --width 256 --heads 4 --vocab 500", "2xCLASS", ["--dim", "sequence=64", "HALVES"],
                   [], 1),
    "gpu-and-cpu": ("gpt --layers 4 --width 256 --heads 4 --vocab 500", "1xCLASS,1xcpu",
                    ["--dim", "sequence=64", "HALVES"], [], 1),
    "convolutions": ("resnet --depth 50", "2xCLASS", ["HALVES"], [], 4),
    "states": ("llama --layers 4 --width 256 --heads 4 --kv-heads 2 --vocab 500 --kv", "2xCLASS",
               ["--dim", "past_sequence=16", "--dim", "sequence=1", "HALVES"], ["--state"], 4),
    "experts": ("moe --layers 2 --width 256", "2xCLASS", ["HALVES"], [], 4),
    "sizes-at-run-time": ("detector --layers 1", "2xCLASS", ["HALVES"], [], 10),
    "shards": ("gpt --layers 2 --width 2048 --heads 16 --vocab 500", "2xCLASS",
               ["--dim", "sequence=256", "--link", "900GB/s,1us", "--objective=makespan", "-p",
                "shard{ways=2,sums=any,gain=0.000001}"], [], 10),
    "large": ("gpt --layers 24 --width 1024 --heads 16 --vocab 50257", "1xCLASS", ["--dim", "sequence=512"], [], 10),
    "large-tensors": ("dense --layers 4 --width 4096", "2xCLASS", ["--dim", "batch=512", "HALVES"], [], 10),
}


def memory():
    """MiB in use on GPU 0; 0 if nvidia-smi is absent."""
    try:
        r = subprocess.run(["nvidia-smi", "-i", "0", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                           capture_output=True, text=True, timeout=20)
        return int(r.stdout.split()[0])
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return 0


class Watched(threading.Thread):
    """A thread that measures, from its making until ends(), how much more GPU memory is in use at most than at first,
    MiB."""

    def __init__(self):
        """Notes the memory in use and starts the thread."""
        super().__init__(daemon=True)
        self.most, self.over, self.first = 0, threading.Event(), memory()
        self.start()

    def run(self):
        """The thread: every 0.1 s until ends(), raises `most` to the memory that is used beyond that of the start."""
        while not self.over.wait(0.1):
            self.most = max(self.most, memory() - self.first)

    def ends(self):
        """Ends the watch. Returns the most memory that was used beyond that of the start."""
        self.over.set()
        self.join()
        return self.most


def call(command, **more):
    """Runs a command and returns what it printed, stdout before stderr. `more`: further arguments for subprocess.run.
    Raises RuntimeError if the command fails."""
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if r.returncode:
        said = " ".join(str(c) for c in command)
        raise RuntimeError(f"exit {r.returncode}: {said}\n{r.stdout[-500:]}{r.stderr[-1500:]}")
    return r.stdout + r.stderr


def outputs(folder):
    """{(name of the file, name): array} of all samples that a run wrote to a folder."""
    found = {}
    for path in sorted(Path(folder).glob("*.npz")):
        with np.load(path, allow_pickle=False) as z:
            found.update({(path.name, k): z[k] for k in z.files})
    return found


def difference(ours, theirs):
    """Compares two sets of arrays: the largest difference in an array, over the largest value of that array in
    `theirs`; infinite if there are no arrays, if names or shapes differ, or if a number of `ours` is not finite."""
    if not ours or ours.keys() != theirs.keys():
        return float("inf")
    worst = 0.0
    for k, b in theirs.items():
        a = ours[k]
        if a.shape != b.shape or not np.isfinite(np.asarray(a, float)).all():
            return float("inf")
        if b.size:
            a, b = np.asarray(a, float), np.asarray(b, float)
            worst = max(worst, float(abs(a - b).max() / max(abs(b).max(), 1e-30)))
    return worst


def split(args, name, base):
    """Makes the model of a case below `base` and splits it. Returns the folder of the split."""
    gen, devices, options, _, _ = CASES[name]
    model, folder = base / "model.onnx", base / "split"
    call([args.pcc.parent / "pcc-gen", *gen.split(), "-o", model])
    options = list(options)
    if "HALVES" in options:
        names = [n.name for n in onnx.load(model, load_external_data=False).graph.node]
        second = "cpu0" if devices.endswith("xcpu") else "acc1"
        (base / "lines").write_text("".join(
            f"{re.escape(n)}={second if i >= len(names) // 2 else 'acc0'}\n" for i, n in enumerate(names)))
        options[-1:] = ["-p", f"plan{{from={base / 'lines'}}}"]  # HALVES is the last option
    call([args.pcc, model, "-q", "-d", devices.replace("CLASS", args.cls), "--pictures=none", "-Wno-guessed-dim",
          *options, "-o", folder])
    return folder


def case(args, name):
    """Runs a case: makes its split, runs a few samples on the GPU and on CPUs and compares their outputs, then compares
    the GPU's memory in two longer runs. Prints this and the report of the longest run. Returns whether it holds."""
    _, _, _, more, fewer = CASES[name]
    samples = max(args.samples // fewer, 10)
    with tempfile.TemporaryDirectory() as tmp:
        folder = split(args, name, Path(tmp))
        run = [args.pcc.parent / "pcc-run", folder, "--seed=3", *more]
        acc = dict.fromkeys(re.findall(r'"name": *"(acc\d+)"', (folder / "manifest.json").read_text()))  # each once
        gpu = [] if args.dry else [f"--provider={d}=cuda:0" for d in acc]
        if args.library and not args.dry:
            gpu.append(f"--onnxruntime={args.library}")
        kept, taken = [], []  # outputs; MiB of the GPU
        for k, extra in enumerate((gpu, [])):
            out = Path(tmp) / str(k)
            call([*run, *extra, f"--samples={1 if fewer > 4 else 3}", f"--output={out}"])
            kept.append(outputs(out))
        worst = difference(*kept)
        for n in (samples, 4 * samples):
            watched = Watched()
            text = call([*run, *gpu, f"--samples={n}"])
            taken.append(watched.ends())
    good = worst <= 1e-3 and ("--state" in more or taken[1] <= 1.05 * taken[0])
    print(f"{name}: {'ok' if good else 'WRONG'}, differs by {worst:.2e} of the largest value; "
          f"{taken[0]} MiB of the GPU, {taken[1]} with four times as many samples")
    print("\n".join("  " + line for line in text.splitlines() if line.strip()), flush=True)  # time beside the plan
    return good


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cases", nargs="*", metavar="CASE", help="of " + ", ".join(CASES))
    p.add_argument("--class", dest="cls", default="h100")
    p.add_argument("--library", default=os.environ.get("PCC_ONNXRUNTIME"))
    p.add_argument("--samples", type=int, default=1000)
    p.add_argument("--pcc", type=Path, default=PCC)
    p.add_argument("--dry", action="store_true")
    args = p.parse_args()
    bad = [c for c in args.cases if c not in CASES]
    if bad:
        p.error(f"no case '{bad[0]}': one of {', '.join(CASES)}")
    failed = 0
    for name in args.cases or CASES:
        try:
            failed += not case(args, name)
        except RuntimeError as e:
            failed += 1
            print(f"{name}: FAILED: {e}", flush=True)
    print(f"{len(args.cases or CASES)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
