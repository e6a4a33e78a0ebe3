#!/usr/bin/env python3
"""What ONNX Runtime takes for each run of a part, beside its operators: the figure for --part-cost.

usage: part_cost.py [--runs N] [--threads N]

Parts that do nothing (each input goes through one Neg of one element) with 1, 4 and 16 tensors in and out are
run by Python's session.run, and by run_with_iobinding on buffers bound once, as a server does.  Printed: the median
and the least time of a run, and from these what a part costs and each tensor more.  The operators are part of it:
a Neg of one element takes well below a microsecond."""
import argparse
import statistics
import sys
import time

import numpy
import onnxruntime
from onnx import TensorProto, helper


def part(tensors):
    nodes = [helper.make_node("Neg", [f"x{i}"], [f"y{i}"]) for i in range(tensors)]
    info = [helper.make_tensor_value_info(f"{k}{i}", TensorProto.FLOAT, [1]) for k in "xy" for i in range(tensors)]
    graph = helper.make_graph(nodes, "part", info[:tensors], info[tensors:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def timed(call, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(1e6 * (time.perf_counter() - start))
    return statistics.median(times), min(times)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--runs", type=int, default=5000)
    args.add_argument("--threads", type=int, default=1)
    args = args.parse_args()
    print(f"ONNX Runtime {onnxruntime.__version__}, CPU, {args.threads} thread(s), {args.runs} runs; microseconds")
    medians = {}
    for tensors in (1, 4, 16):
        s = session(part(tensors), args.threads)
        feed = {f"x{i}": numpy.ones(1, numpy.float32) for i in range(tensors)}
        bound = s.io_binding()
        for i in range(tensors):
            bound.bind_cpu_input(f"x{i}", feed[f"x{i}"])
            bound.bind_output(f"y{i}")
        for name, call in (("run", lambda: s.run(None, feed)), ("bound", lambda: s.run_with_iobinding(bound))):
            median, least = timed(call, args.runs)
            medians[name, tensors] = median
            print(f"{name:6s} {tensors:3d} tensors in and out: median {median:6.1f}, least {least:6.1f}")
    for name in ("run", "bound"):
        each = (medians[name, 16] - medians[name, 1]) / 15
        print(f"{name}: a part {medians[name, 1] - each:.1f}, each tensor in and out {each:.1f} more")
    print(f"--part-cost {medians['run', 4]:.0f}us for parts of four tensors run from Python, "
          f"{medians['bound', 4]:.0f}us with bound buffers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
