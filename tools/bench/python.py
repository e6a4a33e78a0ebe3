#!/usr/bin/env python3
"""What the Python package costs: importing it, and streaming samples through parts.

usage: python.py [--samples N]

1. `import pcc` in a fresh interpreter, beside an interpreter that imports nothing: below 0.2 s of CPU (least of five).
2. A chain of tiny operators in six parts on three CPU devices. `Split.stream` on one thread against a loop over the
   same sessions, by turns: what the package takes per sample and part beside that is below 0.2 ms (medians). The same
   with a thread for each device is shown.

Exits with 1 if a claim does not hold. Needs ONNX Runtime, onnx and the shared library."""
import statistics
import sys
import tempfile
import time
from pathlib import Path

import common
from common import ROOT, Run

sys.path.insert(0, str(ROOT / "tools/python"))
IMPORT_S, OVERHEAD_S = 0.2, 0.2e-3
NODES, TURNS = 12, 9


def least_import():
    """CPU seconds of `import pcc` beyond those of Python's own start: the least of five of each."""

    def cpu(code):
        """CPU seconds of a Python that runs this code."""
        path = f"import sys; sys.path.insert(0, {str(ROOT / 'tools/python')!r})"
        return min(Run([sys.executable, "-c", f"{path}; {code}"]).cpu for _ in range(5))

    return max(0, cpu("import pcc") - cpu("pass"))


def chain(path):
    """Writes a model of NODES nodes in a row, for measuring what a node costs."""
    import onnx
    from onnx import TensorProto, helper
    nodes = [helper.make_node("Neg", [f"x{k}"], [f"x{k + 1}"], name=f"n{k:02}") for k in range(NODES)]
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in ("x0", f"x{NODES}")]
    graph = helper.make_graph(nodes, "chain", info[:1], info[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def by_hand(split, samples):
    """Yields the outputs of each sample: runs the parts in a plain loop over sessions, as a user would write it."""
    parts, outputs = split.runner.parts, split.runner.output_names
    for sample in samples:
        table = dict(sample)
        for part in parts:
            table.update(zip(part.outputs, part.session.run(part.outputs, {n: table[n] for n in part.inputs})))
        yield {n: table[n] for n in outputs}


def seconds(outputs, n):
    """Seconds for each of `n` outputs, taken from the iterator."""
    start = time.perf_counter()
    for _ in outputs:
        pass
    return (time.perf_counter() - start) / n


def main():
    common.help_or_go()
    n = int(sys.argv[sys.argv.index("--samples") + 1]) if "--samples" in sys.argv else 2000
    took = least_import()
    print(f"import pcc: {took:.3f} s of CPU beside the interpreter's (limit {IMPORT_S} s)")
    import pcc
    with tempfile.TemporaryDirectory() as name:
        model = Path(name) / "chain.onnx"
        chain(model)
        pins = {f"n{k:02}": f"acc{k // 2 % 3}" for k in range(NODES)}
        split = pcc.split(model, Path(name) / "split", "3xa100", pin=pins, pictures="none")
        parts = len(split.parts)
        samples = [split.random_sample(k) for k in range(n)]
        ways = {"a loop by hand": lambda: by_hand(split, samples),
                "stream, one thread": lambda: split.stream(samples, in_flight=1),
                "stream, a thread for each device": lambda: split.stream(samples)}
        took_by = {way: [] for way in ways}
        for _ in range(TURNS):
            for way, outputs in ways.items():
                took_by[way].append(seconds(outputs(), n))
        median = {way: statistics.median(t) for way, t in took_by.items()}
        for way, t in median.items():
            print(f"{way}: {t * 1e6:.1f} us per sample, {t / parts * 1e6:.1f} us per sample and part ({parts} parts)")
        over = (median["stream, one thread"] - median["a loop by hand"]) / parts
        print(f"stream on one thread takes {over * 1e6:.1f} us per sample and part beside the loop "
              f"(limit {OVERHEAD_S * 1e6:.0f} us)")
    return 0 if took < IMPORT_S and over < OVERHEAD_S else 1


if __name__ == "__main__":
    sys.exit(main())
