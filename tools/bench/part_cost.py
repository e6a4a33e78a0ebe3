#!/usr/bin/env python3
"""What an engine takes for each run of a part, beside its operators: the figure for --part-cost.

usage: part_cost.py [--engine onnxruntime|openvino|genai] [--runs N] [--threads N] [--pcc PROGRAM]

onnxruntime: parts that do nothing (each input goes through one Neg of one element) with 1, 4 and 16 tensors in and out
are run by Python's session.run, and by run_with_iobinding on buffers bound once, as a server does.
openvino: the same parts by a call of the compiled model, as run_openvino.py does, and by an infer request.
genai: a small decoder of 8 layers, cut into 2 and into 8 parts by PROGRAM (and pcc-gen beside it), decodes 200
tokens; a part takes the difference of the times of a token, over 6.

Printed: the median and the time that a tenth of the runs stays below, and from the medians what a part costs and each
tensor more.  The operators' own time is contained: a Neg of one element takes well below a microsecond.  With
--engine=openvino or genai run it by build/engines/bin/python (tools/setup.sh --engines); docs/engines.md has the
figures that are used."""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

PCC = Path(__file__).resolve().parents[2] / "build/release/pcc"


def timed(call, runs):
    """Calls a function `runs` times. Returns the median time and that below which a tenth lies, in us."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(1e6 * (time.perf_counter() - start))
    return statistics.median(times), statistics.quantiles(times, n=10)[0]


def with_onnxruntime(tensors, args):
    """{way to call it: function that runs once} for a part in ONNX Runtime with this number of inputs and of outputs,
    which does almost nothing."""
    import onnxruntime
    from onnx import TensorProto, helper

    nodes = [helper.make_node("Neg", [f"x{i}"], [f"y{i}"]) for i in range(tensors)]
    info = [helper.make_tensor_value_info(f"{k}{i}", TensorProto.FLOAT, [1]) for k in "xy" for i in range(tensors)]
    graph = helper.make_graph(nodes, "part", info[:tensors], info[tensors:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    s = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = {f"x{i}": numpy.ones(1, numpy.float32) for i in range(tensors)}
    bound = s.io_binding()
    for i in range(tensors):
        bound.bind_cpu_input(f"x{i}", feed[f"x{i}"])
        bound.bind_output(f"y{i}")
    return {"run": lambda: s.run(None, feed), "bound": lambda: s.run_with_iobinding(bound)}


def with_openvino(tensors, args):
    """{way to call it: function that runs once} for a part in OpenVINO with this number of inputs and of outputs, which
    does almost nothing."""
    import openvino
    from openvino import opset13

    inputs = [opset13.parameter([1], numpy.float32, name=f"x{i}") for i in range(tensors)]
    model = openvino.Model([opset13.negative(x) for x in inputs], inputs, "part")
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32",
                                                            "INFERENCE_NUM_THREADS": args.threads})
    feed = [numpy.ones(1, numpy.float32) for _ in range(tensors)]
    request = compiled.create_infer_request()
    return {"run": lambda: compiled(feed), "bound": lambda: request.infer(feed, share_inputs=True)}


def by_tensors(args):
    """Measures parts that do almost nothing, with 1, 4 and 16 tensors, and prints what a call takes, and what of it the
    part and each tensor."""
    module = __import__(args.engine)
    print(f"{args.engine} {module.__version__}, CPU, {args.threads} thread(s), {args.runs} runs; microseconds")
    medians = {}
    for tensors in (1, 4, 16):
        calls = with_onnxruntime(tensors, args) if args.engine == "onnxruntime" else with_openvino(tensors, args)
        for name, call in calls.items():
            median, least = timed(call, args.runs)
            medians[name, tensors] = median
            print(f"{name:6s} {tensors:3d} tensors in and out: median {median:6.1f}, a tenth below {least:6.1f}")
    for name in ("run", "bound"):
        each = (medians[name, 16] - medians[name, 1]) / 15
        print(f"{name}: a part {medians[name, 1] - each:.1f}, each tensor in and out {each:.1f} more")
    print(f"--part-cost {medians['run', 4]:.0f}us for parts of four tensors run from Python, "
          f"{medians['bound', 4]:.0f}us with bound buffers")


def decode(folder, threads):
    """Decodes 200 tokens by the split in a folder, whose configuration is changed to the CPU and this number of
    threads. Returns the median time of a token and the one that a tenth stays below, in microseconds."""
    import onnxruntime_genai

    config = json.loads((folder / "genai_config.json").read_text())
    for stage in config["model"]["decoder"]["pipeline"][0].values():  # this machine's only device is the CPU
        stage["session_options"] = {"intra_op_num_threads": threads}
    (folder / "genai_config.json").write_text(json.dumps(config))
    model = onnxruntime_genai.Model(str(folder))
    params = onnxruntime_genai.GeneratorParams(model)
    params.set_search_options(max_length=220, min_length=220, do_sample=False)
    generator = onnxruntime_genai.Generator(model, params)
    generator.append_tokens(numpy.arange(7, dtype=numpy.int32))
    return timed(generator.generate_next_token, 200)


def by_stages(args):
    """Prints what a further part costs in onnxruntime-genai: the times of a decoder in 2 and in 8 parts, and their
    difference for each part."""
    import onnxruntime_genai

    print(f"onnxruntime-genai {onnxruntime_genai.__version__}, CPU, {args.threads} thread(s); microseconds")
    took = {}  # number of parts: (median, a tenth below) us of a token
    with tempfile.TemporaryDirectory() as temp:
        model = Path(temp) / "m.onnx"
        subprocess.run([args.pcc.with_name("pcc-gen"), *"gpt --kv --layers 8 --width 16 --heads 2 --vocab 20".split(),
                        "-o", model], check=True)
        for parts in (2, 8):
            folder = Path(temp) / str(parts)
            subprocess.run([args.pcc, model, "-q", "-Wno-guessed-dim", "-d", f"{parts}xa100", "--link=1TB/s,0us",
                            "--part-cost=0", "--pictures=none", "-p", "dp-place", "--no-cut=/attn/", "--for=genai",
                            "-o", folder], check=True)
            took[len(list(folder.glob("part*.onnx")))] = decode(folder, args.threads)
    for parts, (median, least) in took.items():
        print(f"{parts} parts: median {median:.1f}, a tenth below {least:.1f} for a token")
    (few, few_took), (many, many_took) = sorted(took.items())
    median, least = ((b - a) / (many - few) for a, b in zip(few_took, many_took))
    print(f"--part-cost {median:.0f}us, {least:.0f}us by a tenth")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=["onnxruntime", "openvino", "genai"], default="onnxruntime")
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pcc", type=Path, default=PCC)
    args = parser.parse_args()
    if args.engine == "genai":
        by_stages(args)
    else:
        by_tensors(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
