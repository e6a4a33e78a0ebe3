#!/usr/bin/env python3
"""What is said of inputs that are refused, word by word: the file comes first, then where in it, what stands there,
what was expected, each in its place.

Each case is a model and one thing that is wrong with it, or with what is given beside it; the error is the one line
that is written here, and the exit code.

usage: test_messages.py   (environment: PCC)"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish

PCC = os.path.abspath(os.environ.get("PCC", "pcc"))
MODEL = """graph {
  in %x : f32[4]
  in %y : f32[4]
  %a = Add(%x, %y) name="a"
  %b = Tanh(%a) name="b"
  %c = Neg(%a) name="c"
  out %b, %c
}
"""
FUNCTIONS = """function my:f {
  graph {
    in %x
    %r = Relu(%x)
    out %r
  }
}
graph {
  in %x : f32[4]
  %y = my:f(%x)
  out %y
}
"""
ON = ("m.pir", "-d", "2xa100,1xcpu")
TIMES = "forward_compute_time=1, backward_compute_time=2, activation_size=3, parameter_size=4"
LAYERS = f"n1 -- a -- {TIMES}\nn2 -- b -- {TIMES}\n\tn1 -- n2\n"
TRAIN = ("two.txt", "-d", "2xv100", "--objective=iteration-time")
NODE = {"name": "conv", "supportedOnFpga": 1, "isBackwardNode": 0, "size": 1, "cpuLatency": 1, "fpgaLatency": 1}
EDGE = {"sourceId": 0, "destId": 1, "cost": 1}
HEADER = "name, op, class, time, memory, ps_CLASS, flops, traffic_bytes or result_bytes"

# ---- tables of costs: what the file holds, what is said of it

TABLES = [
    ("a,time\n", f"row 1: unknown key 'a', expected {HEADER}"),
    ("name,time,name\n", "row 1: a column comes twice"),
    ("name\n", "row 1: expected a header such as name,op,class,time"),
    ("name,\"time\n", "row 1: a quoted field does not end before a comma or line end"),
    ("name,time\na,\"1us\n", "row 2: a quoted field does not end before a comma or line end"),
    ("name,time\na,1us,2us\n", "row 2: 3 fields, expected 2"),
    ("name,time\na,1u\n", "row 2: time '1u', expected a time such as 12.5us, an integer of picoseconds below 2^60, or "
                          "never"),
    ("name,memory\na,1Q\n", "row 2: memory '1Q', expected a size such as 4KiB, or an integer of bytes below 2^60"),
    ("name,op,time\n,,1us\n", "row 2: expected a name or an op"),
    ("name,time,memory\na,,\n", "row 2: expected a time or memory"),
    ("name,time,ps_acc\na,1us,5\n", "row 2: it has both time and ps_CLASS, expected one of them"),
    ("[1]", "row 0: expected an object with name or op, and time"),
]

# ---- workloads

WORKLOADS = [
    ({"nodes": [{**NODE, "id": 7, "name": "one"}, {**NODE, "id": 7, "name": "two"}], "edges": []},
     "nodes 'one' and 'two' have the same id 7"),
    ({"nodes": [{**NODE, "id": 0}], "edges": [EDGE]}, "edges[0].destId: there is no node of id 1"),
    ({"nodes": [{**NODE, "id": 0}, {**NODE, "id": 1}], "edges": [{**EDGE, "sourceId": 5}]},
     "edges[0].sourceId: there is no node of id 5"),
    ({"nodes": [{**NODE, "id": 0, "name": "late", "isBackwardNode": 1}, {**NODE, "id": 1, "name": "early"}],
      "edges": [EDGE]}, "an edge leads from backward node 'late' to forward node 'early'"),
    ({"nodes": [{**NODE, "id": 0, "cpuLatency": -1}], "edges": []},
     "node 'conv', cpuLatency: expected a number from 0 to 4e+09"),
]

# ---- plans for MODEL

WHOLE = {"pcc_plan": 1, "devices": [{"name": "acc0", "nodes": ["a", "b", "c"]}]}
PLANS = [
    ({**WHOLE, "devices": [{"name": "acc0", "nodes": ["a", "b", "d"]}]}, "there is no node 'd' in m.pir"),
    ({**WHOLE, "devices": [{"name": "acc0", "nodes": ["b"]}]},
     "2 of 3 placed nodes have no device, the first is 'a'"),
    ({**WHOLE, "objective": {"name": "speed"}},
     "objective: name 'speed': expected time-per-sample, makespan, iteration-time or latency"),
    ({**WHOLE, "objective": {"name": 1}},
     "objective: name: expected time-per-sample, makespan, iteration-time or latency"),
    ({**WHOLE, "objective": 1}, "expected an object 'objective'"),
    ({**WHOLE, "devices": [{"name": "gpu7", "nodes": ["a", "b", "c"]}]},
     "there is no device 'gpu7'; the first is 'acc0'"),
    ({**WHOLE, "training": {"schedule": "gpipe", "micro_batches": 1, "micro_batch_size": 0, "profiled_batch": 0,
                           "stages": [{"devices": ["acc0"]}]}},
     "training: expected a list 'devices' and a number 'ahead' >= 1 in every one of 'stages'"),
    ({**WHOLE, "training": {"schedule": "gpipe", "stages": [{}], "micro_batches": -1}},
     "training: micro_batches: expected a number from 0 to 4294967295"),
]

# ---- clusters, in front of "classes[0]"

CLASSES = [
    ({"preset": "h300"}, "classes[0]: \"preset\": unknown class 'h300', expected one of "),
    ({"preset": "a100", "count": 0},
     "classes[0]: \"count\" is 0, expected an integer or a text such as \"2\", above 0"),
    ({"preset": "a100", "memory": "8 GiB"},
     "classes[0]: \"memory\" is \"8 GiB\", expected an integer or a text such as \"80GiB\", above 0"),
    ({"preset": "a100", "peak": {"float": 1}},
     "classes[0]: \"peak\": unknown element type \"float\", expected f32, f16, i8, ..."),
    ({"preset": "a100", "count": 4, "group": 3, "inner_share": 1},
     "classes[0]: \"group\" is 3, expected a divisor of the 4 devices"),
    ({"preset": "a100", "supported": [1]},
     "classes[0]: \"supported\": expected a list of operator types such as [\"Conv\"]"),
]

# ---- options

OPTIONS = [
    (2, ("m.pir", "--dim", "n=0"), "--dim 'n=0': expected NAME=N with N >= 1"),
    (2, ("m.pir", "--io=some"), "--io 'some': expected paid or free"),
    (2, ("m.pir", "--sync=fast"), "--sync 'fast': expected a rate such as 25GB/s"),
    (2, ("m.pir", "--efficiency=2"), "--efficiency '2': expected a share in 0.000001..1"),
    (2, ("m.pir", "--part-cost=2s"), "--part-cost '2s': expected a time in 0s..1s, such as 20us"),
    (2, ("m.pir", "--profile-at=8"), "--profile-at '8': expected B=FILE, B a batch size in 1.."),
    (2, ("m.pir", "--profile-at=8=x.csv", "--profile-at=8=y.csv"),
     "--profile-at: all files are of batch size 8, expected two different sizes at least; a measurement of the size "
     "that is planned goes to --costs"),
    (2, ("m.pir", "--profile-check=8=x.csv"), "--profile-check: there is no prediction to check without --profile-at"),
    (2, (*TRAIN, "--micro-batches=0"), "--micro-batches '0': expected a number from 1 to 4294967295"),
    (2, (*TRAIN, "--micro-batch-size=2"),
     "--micro-batch-size needs --profiled-batch, the samples that costs are about"),
    (2, (*TRAIN, "--profiled-batch=1", "--micro-batch-size=2", "--micro-batches=3", "--global-batch=8"),
     "--micro-batch-size=2, --micro-batches=3 and --global-batch=8 do not agree: 3 micro-batches of 2 samples are 6"),
    (2, (*TRAIN, "--profiled-batch=1", "--micro-batch-size=3", "--global-batch=8"),
     "--global-batch=8 is no whole number of micro-batches of 3 samples"),
    (2, (*TRAIN, "--profiled-batch=1", "--micro-batches=3", "--global-batch=8"),
     "--global-batch=8 cannot be divided into 3 equal micro-batches"),
    (1, (*ON, "-p", "fuse,contract,dp-place"), "contract: it must come before fuse and linearize"),
    (1, (*ON, "-p", "dp-place", "--state", "z=b"), "--state z=b: the model has no input of that name"),
    (1, (*ON, "-p", "dp-place", "--state", "x=z"), "--state x=z: the model has no output of that name"),
    (1, (*ON, "-p", "dp-place", "--state", "x=b", "--state", "y=b"), "--state y=b: one of them is in another pair"),
    (1, ("f.pir", "-p", "inline-functions{only=(}"), "inline-functions: only=(: not a regular expression: "),
    (1, (*ON, "-p", "dp-place", "-o", "m.split"),
     "m.split: a split folder needs a model that was read from ONNX"),
    (1, (*ON, "-p", "dp-place", "-o", "gone/x.json"),
     "gone/x.json: cannot create a file beside it: there is no folder gone (mkdir -p)"),
    (1, (*ON, "-p", "plan{from=/proc/self/mem}"), "/proc/self/mem: cannot be read: Input/output error"),
    (1, ("gone.onnx",), "gone.onnx: cannot open: No such file or directory"),
    (2, ("m.pir", "-d", "7xnone"),
     "cluster '7xnone': unknown class 'none', expected COUNTxCLASS[:MEMORY] with one of "),
]


def error_of(code, *args):
    """The line of the error, without who says so."""
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=100, check=False)
    lines = [line for line in r.stderr.splitlines() if line.startswith("pcc: error: ")]
    check(r.returncode == code and len(lines) == 1, f"{args}: exit {r.returncode}, not {code}: {r.stderr[-300:]}")
    return lines[0].removeprefix("pcc: error: ") if lines else ""


def expect(said, wanted, open_end=False):
    """open_end: more may follow."""
    check(said == wanted or open_end and said.startswith(wanted), f"said:   {said}\n        wanted: {wanted}")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        os.chdir(tmp)
        Path("m.pir").write_text(MODEL, encoding="utf-8")
        Path("f.pir").write_text(FUNCTIONS, encoding="utf-8")
        Path("two.txt").write_text(LAYERS, encoding="utf-8")
        for text, wanted in TABLES:
            Path("t.csv").write_text(text, encoding="utf-8")
            expect(error_of(1, *ON, "--costs=t.csv", "-p", "dp-place"), f"t.csv: {wanted}")
        for text, wanted in WORKLOADS:
            Path("w.json").write_text(json.dumps({"maxSizePerFPGA": 9, "maxFPGAs": 2, "maxCPUs": 1, **text}))
            expect(error_of(1, "w.json"), f"w.json: {wanted}")
        Path("w.json").write_text(json.dumps({"maxSizePerFPGA": 9, "maxFPGAs": 2, "maxCPUs": 1, "edges": [],
                                              "nodes": [{**NODE, "id": 0}]}))
        r = subprocess.run([PCC, "w.json"], capture_output=True, text=True, check=False)
        check(r.returncode == 0, f"a workload of one node: {r.stderr}")
        for text, wanted in PLANS:
            Path("p.json").write_text(json.dumps(text))
            expect(error_of(1, *ON, "-p", "plan{from=p.json}"), f"p.json: {wanted}")
        for text, wanted in CLASSES:
            Path("c.json").write_text(json.dumps({"classes": [text]}))
            expect(error_of(1, "m.pir", "-d", "c.json"), f"c.json: {wanted}", wanted.endswith(" one of "))
        for code, args, wanted in OPTIONS:
            expect(error_of(code, *args), wanted, wanted.endswith((": ", "..", " one of ")))
        os.chdir("/")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
