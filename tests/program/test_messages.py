#!/usr/bin/env python3
"""What is said of inputs that are refused, word by word: the file comes first, then where in it, what stands there,
what was expected, each in its place.

Each case is a model and one thing that is wrong with it, or with what is given beside it; the error is the one line
that is written here, and the exit code.

usage: test_messages.py   (environment: PCC)"""
# once: sanitized
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish
from wire import field, varint

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
AT = ("--profile-at", "1=zero.csv", "--profile-at", "2=zero.csv")
# the first lines of reproducers: a file that is read, one that is written, a quote that is open, an option that is
# none, a second model
FIRST = {"at": "--passes='dp-place' --pin='@x'", "out": "--passes='dp-place' --output='x'",
         "open": "--passes='dp-place", "odd": "--nonsense", "two": "x.pir"}
# what is no model, by its first bytes
FOREIGN = {"zip.pt": b"PK\3\4" + bytes(20), "old.pth": b"\x80\2}q\0", "net.py": b"import torch\n",
           "net.safetensors": bytes([19]) + bytes(7) + b'{"__metadata__":{}}', "net.h5": b"\x89HDF\r\n\x1a\n"}
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
    ('[{"name": "a", "time": true}]', "row 0: \"time\": expected a text such as 12.5us or an integer"),
    ('[{"name": "a", "memory": true}]', "row 0: \"memory\": expected a text such as 4KiB or an integer"),
    ('[{"name": 7, "memory": 1}]', "row 0: \"name\": expected a text"),
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
     "there is no device 'gpu7': expected one of acc0 to acc1 and cpu0"),
    ({**WHOLE, "training": {"schedule": "gpipe", "micro_batches": 1, "micro_batch_size": 0, "profiled_batch": 0,
                           "stages": [{"devices": ["acc0"]}]}},
     "training: expected a list 'devices' and a number 'ahead' >= 1 in every one of 'stages'"),
    ({**WHOLE, "training": {"schedule": "gpipe", "stages": [{}], "micro_batches": 1000001}},
     "training: micro_batches: expected at most 1000000"),
    ({**WHOLE, "training": {"schedule": "gpipe", "stages": [{}], "micro_batches": -1}},
     "training: micro_batches: expected a number from 0 to 4294967295"),
]

# ---- splits of the placement paper for three nodes on two accelerators and a CPU, all of one colour or none


def split(fpgas, cpus):
    return {"fpgas": [{"nodes": n} for n in fpgas], "cpus": [{"nodes": n} for n in cpus]}


SPLITS = [
    (True, split([[0], [1]], []),
     "node 'n2' is not listed, and nodes of its colour are on 'acc0' ('n0') and 'acc1' ('n1'): expected one device"),
    (False, split([[0], [1], [2]], []), "'fpgas' has nodes on more devices than the cluster has"),
    (False, split([[0], [1], []], [[2]]), ""),
    (False, split([[0], [1]], [[2], [2]]), "'cpus' has nodes on more devices than the cluster has"),
    (False, split([[0], [1, 0]], [[2]]), "node 'n0' is on 'acc0' and on 'acc1': expected one device"),
    (False, split([[0], [1]], []), "1 of 3 placed nodes have no device, the first is 'n2'"),
    (False, split([[0], [1, 3]], [[2]]), "there is no node with id 3 in w.json"),
]

# ---- clusters, in front of "classes[0]"

CLASSES = [
    ({"preset": "h300"}, "classes[0]: \"preset\": unknown class 'h300'; did you mean 'h100'? (see --list-devices)"),
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
    (2, ("m.pir", "--dim", "n=-1"), "--dim 'n=-1': expected NAME=N with N >= 0"),
    (2, ("m.pir", "--io=some"), "--io 'some': expected paid or free"),
    (2, ("m.pir", "--sync=fast"), "--sync 'fast': expected a rate such as 25GB/s"),
    (2, ("m.pir", "--efficiency=2"), "--efficiency '2': expected a share in 0.000001..1"),
    (2, ("m.pir", "--part-cost=2s"), "--part-cost '2s': expected a time in 0s..1s, such as 20us"),
    (2, ("m.pir", "--profile-at=8"), "--profile-at '8': expected B=FILE, B a batch size in 1.."),
    (2, ("m.pir", "--profile-at=8=x.csv", "--profile-at=8=y.csv"),
     "--profile-at: all files are of batch size 8, expected two different sizes at least; a measurement of the size "
     "that is planned goes to --costs"),
    (2, ("m.pir", "--profile-check=8=x.csv"), "--profile-check: there is no prediction to check without --profile-at"),
    (2, (*TRAIN, "--micro-batches=0"), "--micro-batches '0': expected a number from 1 to 1000000"),
    (2, (*TRAIN, "--micro-batch-size=2"),
     "--micro-batch-size needs --profiled-batch, the samples that costs are about"),
    (2, (*TRAIN, "--profiled-batch=1", "--micro-batch-size=2", "--micro-batches=3", "--global-batch=8"),
     "--micro-batch-size=2, --micro-batches=3 and --global-batch=8 do not agree: 3 micro-batches of 2 samples are 6"),
    (2, (*TRAIN, "--profiled-batch=1", "--micro-batch-size=3", "--global-batch=8"),
     "--global-batch=8 is no whole number of micro-batches of 3 samples"),
    (2, (*TRAIN, "--profiled-batch=1", "--micro-batches=3", "--global-batch=8"),
     "--global-batch=8 cannot be divided into 3 equal micro-batches"),
    (2, ("m.pir", "--state", "x"), "--state 'x': expected INPUT=OUTPUT"),
    (2, ("m.pir", "--state", "=b"), "--state '=b': expected INPUT=OUTPUT"),
    (2, ("m.pir", "--max-states=0"), "--max-states '0': expected a number >= 1"),
    (2, ("m.pir", "--time-limit=-5s"), "--time-limit '-5s': expected a time such as 30s"),
    (2, ("m.pir", "--overlap=some"), "--overlap 'some': expected sum, max or duplex"),
    (2, ("m.pir", "--cut=some"), "--cut 'some': expected auto, few or transfers"),
    (2, ("m.pir", "--allreduce=0B/s"), "--allreduce '0B/s': expected a rate such as 3GB/s"),
    (2, ("m.pir", *["--profile-at=8=x.csv"] * 33), "--profile-at: 33 files, expected at most 32"),
    (2, ("m.pir", "--profile-at=16777217=x.csv"),
     "--profile-at '16777217=x.csv': expected B=FILE, B a batch size in 1..16777216"),
    (2, ("w.json", "-d", "a100"), "w.json brings its own devices: -d and --levels do not apply"),
    (1, ("w.json", "--transfer-scale=0"), "--transfer-scale '0': expected a number from 0.000001 to 1000000"),
    (1, ("w.json", "--transfer-scale=1000001"),
     "--transfer-scale '1000001': expected a number from 0.000001 to 1000000"),
    (1, ("m.pir", "--transfer-scale=2"), "m.pir: --transfer-scale is for workloads; for a model give --link"),
    (2, (*TRAIN, "--warmup=0"), "--warmup '0': expected best, pa, pb or a number >= 1"),
    (2, (*TRAIN, "--warmup=4294967296"), "--warmup '4294967296': expected best, pa, pb or a number >= 1"),
    (2, (*TRAIN, "--workspace=-1GiB"), "--workspace '-1GiB': expected a size such as 1GiB"),
    (2, (*TRAIN, "--slices=some"), "--slices 'some': expected whole or any"),
    (2, (*TRAIN, "--micro-batches=1000001"), "--micro-batches '1000001': expected a number from 1 to 1000000"),
    (2, ("m.pir", "--check-annotations", "-p", "cost"),
     "--check-annotations writes nothing: -p, -o and --emit do not apply"),
    (2, ("m.pir", "--check-schedule", "-o", "x"),
     "--check-schedule writes nothing: -p, -o, --emit and --for do not apply"),
    (2, ("m.pir", "--check-schedule", "--in-flight=0"), "--in-flight '0': expected a number of samples"),
    (1, ("m.pir", "--check-annotations"), "m.pir: only ONNX models have device configurations"),
    (2, ("-q",), "no model given (see pcc --help)"),
    (2, ("m.pir", "-o", "a.json", "-o", "b.json"), "-o is given 2 times: expected one output"),
    (2, ("m.pir", "w.json"), "one model at a time: 'm.pir' and 'w.json'"),
    (2, ("m.pir", "--color=blue"), "--color 'blue': expected auto, always or never"),
    (2, ("m.pir", "--replay=0"), "--replay '0': expected a number of samples >= 1"),
    (1, ("m.pir", "--replay=3"), "--replay: there is no plan: give a planner, such as -p auto-place"),
    (1, ("m.pir", "--compare=p.json"),
     "--compare=p.json: there is no plan to compare it with: give a planner, such as -p auto-place"),
    (1, ("m.pir", "--explain-bound"), "--explain-bound: there is no plan: give a planner, such as -p auto-place"),
    (1, ("m.pir", "-p", "ip-place{objective=latency}", "--objective=time-per-sample"),
     "ip-place: objective=latency, and --objective=time-per-sample: leave one out"),
    (1, ("m.pir", "-p", "ip-place{contiguous=chain}", "--objective=latency"),
     "ip-place: contiguous=chain is not for latency, whose subgraphs are contiguous in any case: leave it out"),
    (1, ("m.pir", "-p", "ip-place{q=2}"), "ip-place: q=2 is for objective=latency alone"),
    (1, ("m.pir", "-p", "auto-place{gain=100%}"),
     "auto-place: gain=100%: expected a share such as 5% or 0, below 1"),
    (1, ("m.pir", "-p", "auto-place{gain=.}"), "auto-place: gain=.: expected a share such as 5% or 0, below 1"),
    (1, ("m.pir", "-p", "auto-place{gain=0%%}"), "auto-place: gain=0%%: expected a share such as 5% or 0, below 1"),
    (1, ("m.pir", "-p", "cost", "--costs=zero.csv"), "zero.csv: a NUL byte, expected CSV or JSON text"),
    (1, ("w.json", "-p", "cost", "--costs=memory.csv"),
     "--costs gives the memory of node 'conv', but w.json brings the bytes of its nodes, weights among them: expected "
     "times only"),
    (1, ("w.json", "-p", "cost", *AT), "--profile-at: w.json brings costs of its own, for one batch size: expected a "
     "model without; --costs can replace its times"),
    (1, ("m.pir", "-p", "cost", *AT), "--profile-at: the batch size to plan for is not known: say --dim batch=N, with "
     "the name that the model has for it"),
    (1, ("m.pir", "-p", "cost", *AT, "--dim", "batch=16777217"),
     "--profile-at: --dim batch=16777217: expected a batch size of 1 to 16777216"),
    (1, ("m.pir", "-p", "cost", *AT, "--dim", "batch=2", "--dim", "N=3"),
     "--profile-at: --dim batch=2 and --dim N=3: expected one batch size to plan for"),
    (1, ("odd_name.pir", "-d", "2xa100", "-p", "dp-place", "-o", "x.json"),
     "x.json: the name of node 'n\\xff' is not UTF-8, which JSON cannot hold"),
    (1, ("device.pir", "-p", "plan{from=self}"),
     "device.pir: node 'a' says 'acc7', which is no device: expected one of acc0 to acc1"),
    (2, (*ON, "-p", "dp-place", "-o", "x.gantt.png"), "-o x.gantt.png: charts are written as .gantt.svg"),
    (1, (*ON, "-p", "dp-place", "-o", "x.svg", "--view=nodes", "--around=z"),
     "--around 'z': no placed node has that name or path"),
    (1, (*ON, "-p", "dp-place", "--pin=a=acc0", "--pin=b=acc1", "-o", "x.dot", "--around=b", "--part=0"),
     "--around 'b': the node is in part 1, not in --part=0: leave one out"),
    (1, (*ON, "-p", "dp-place", "--replicate", "--part-cost=0", "--link=25GB/s,0s", "--replay=5"),
     "acc0 has 2 copies: only plans without copies can be replayed"),
    (1, ("m.pir", "-p", "infer-shapes", "-o", "x.csv"), "x.csv: the cost table needs costs: add cost to -p"),
    (2, ("at.pir",), "at.pir: its first line names the file '@x'; expected none"),
    (2, ("out.pir",), "out.pir: its first line has an option that reproducers do not have"),
    (2, ("open.pir",), "open.pir: its first line is no command of a reproducer"),
    (2, ("odd.pir",), "odd.pir: its first line is no command of a reproducer"),
    (2, ("two.pir",), "two.pir: its first line is no command of a reproducer"),
    (1, (*ON, "-p", "fuse,contract,dp-place"), "contract: it must come before fuse and linearize"),
    (1, (*ON, "-p", "dp-place", "--state", "z=b"), "--state z=b: the model has no input of that name"),
    (1, (*ON, "-p", "dp-place", "--state", "x=z"), "--state x=z: the model has no output of that name"),
    (1, ("input.pir", "-d", "2xa100", "-p", "dp-place", "--state", "x=x"),
     "--state x=x: no node makes the output, so it holds no state"),
    (1, (*ON, "-p", "dp-place", "--state", "x=b", "--state", "y=b"), "--state y=b: one of them is in another pair"),
    (1, ("f.pir", "-p", "inline-functions{only=(}"), "inline-functions: only=(: not a regular expression: "),
    (1, ("w.json", "-p", "dp-place", "-o", "m.split"),
     "w.json: it has no operators, only times and sizes: no ONNX model can be made of it"),
    (1, (*ON, "-p", "dp-place", "-o", "gone/x.json"),
     "gone/x.json: cannot create a file beside it: there is no folder gone: make it first"),
    (1, (*ON, "-p", "plan{from=/proc/self/mem}"), "/proc/self/mem: cannot be read: Input/output error"),
    (1, ("gone.onnx",), "gone.onnx: cannot open: No such file or directory"),
    (2, ("m.pir", "-d", "7xnone"),
     "cluster '7xnone': unknown class 'none', expected COUNTxCLASS[:MEMORY] such as 2xa100, "
     "with a class of --list-devices, or a file that ends in .json"),
    (1, (*ON, "-p", "dp-place", "-o", "x.svg", "--part=7"),
     "--part '7': expected a number below 1, the number of parts"),
    (1, (*ON, "-p", "fuse,subdivide,dp-place"), "subdivide: it must come before contract, fuse and linearize"),
    (1, (*ON, "-p", "ip-place{solve=false}"), "ip-place: solve=false: expected write=FILE, too"),
    (1, (*ON, "-p", "ip-place{write=x.txt}"), "write=x.txt: expected a name that ends in .lp or .mps"),
    (1, ("m.pir", "-p", "plan{from=m.pir}"), "m.pir:1: 'graph {': expected REGEX=DEVICE"),
    (2, (*ON, "--link=fast"), "link 'fast': expected a rate above 0 and a time such as 25GB/s,10us, or a name such as "
     "pcie4x16 (see --list-devices)"),
    (2, ("m.pir", "--pin=a=acc7"), "--pin 'a=acc7': there is no device 'acc7': expected one of acc0 to acc1"),
    (2, ("m.pir", "--cut-at=("), "--cut-at '(': not a regular expression: "),
    (2, ("m.pir", "--no-cut=("), "--no-cut '(': not a regular expression: "),
    (2, (*ON, "-p", "dp-place", "--cut-at=a", "--no-cut=[ab]"),
     "--cut-at=a and --no-cut=[ab] contradict each other: between 'a' and 'b'"),
    (2, (*ON, "-p", "dp-place", "--cut-at=a", "--pin=[ab]=acc0"),
     "--cut-at=a and --pin '[ab]=acc0' contradict each other: 'a' and 'b' would be on one device"),
    (2, (*ON, "-p", "dp-place", "--no-cut=[ab]", "--pin=a=acc0", "--pin=b=acc1"),
     "--no-cut=[ab] and --pin 'a=acc0', 'b=acc1' contradict each other: 'a' and 'b' would be on two devices"),
    (1, (*ON, "-p", "anneal-place", "--cut-at=a"),
     "anneal-place knows no cuts by path; dpl-place, dp-place and auto-place do"),
    (3, ("m.pir", "-d", "1xa100", "-p", "dp-place", "--cut-at=a"),
     "no contiguous plan exists: some node cannot run on any device, or pins contradict each other or the order of "
     "the nodes, or --cut-at asks for more cuts than the devices allow"),
    (2, ("m.pir", "--pin=(=acc1"), "--pin '(=acc1': not a regular expression: "),
    (2, (*ON, "--link=25gb/s,10us"), "link '25gb/s,10us': rate '25gb/s', expected one above 0 such as 25GB/s (capitals "
     "count: kB, MB, GB, TB, KiB, MiB, GiB)"),
    (2, (*ON, "--link=25GB/s"), "link '25GB/s': the latency is missing, expected both as in 25GB/s,10us"),
    (2, (*ON, "--link=25GB/s,10"), "link '25GB/s,10': latency '10', expected a time such as 10us"),
    (2, (*ON, "--link=nvlnk4"),
     "link 'nvlnk4': there is none of this name; did you mean 'nvlink4'? (see --list-devices)"),
    (2, ("m.pir", "-d", "2xa100:80"),
     "cluster '2xa100:80': memory '80', expected a size with a unit, such as 80GiB"),
    (2, ("m.pir", "--gpus=4"),
     "unknown option '--gpus=4': devices are named by -d, such as -d 2xa100 (see --list-devices)"),
    (2, ("m.pir", "--dim", "batch", "8"),
     "'8' belongs to no option and is no file: values have no spaces, as in --dim batch=8"),
    (2, ("-d", "2xa100:40", "GB", "m.pir"),
     "'GB' belongs to no option and is no file: values have no spaces, as in --dim batch=8"),
    (2, ("help",), "there is no file 'help' (see --help)"),
    (2, ("m.pir", "-v", "-q"), "-v and -q: leave one out"),
    (1, ("zip.pt",), "zip.pt: it is a zip archive, as torch.save writes it, not an ONNX model: export the model "
     "first, as by torch.onnx.export"),
    (1, ("old.pth",), "old.pth: it is a pickle, as torch.save writes it, not an ONNX model: export the model "
     "first, as by torch.onnx.export"),
    (1, ("net.py",), "net.py: it is a Python program, not an ONNX model: export the model first, as by "
     "torch.onnx.export"),
    (1, ("net.safetensors",), "net.safetensors: it is a file of weights without a graph, not an ONNX model: "
     "export the model first, as by torch.onnx.export"),
    (1, ("net.h5",), "net.h5: it is an HDF5 file, as Keras writes it, not an ONNX model: export the model first, "
     "as by torch.onnx.export"),
    (2, (*ON, "--levels=8"), "levels '8': expected sizes and links of 1 to 4 levels, innermost first, such as "
     "8:25GB/s,0us/2:3GB/s,0us"),
    (2, (*ON, "-p", "dp-place", "-o", "m.pir"), "-o m.pir: that is the model itself; expected another file"),
    (2, (*ON, "--emit=table"),
     "--emit 'table': expected ir, csv, json, sizes, levels, dot, gantt, trace, html or explorer"),
    (2, (*ON, "-p", "dp-place", "--in-flight=0"), "--in-flight '0': expected auto or a number >= 1"),
    (1, (*ON, "-p", "dp-place", "--replay=9223372036854775807"), "a replay of 9223372036854775807 samples through 1 "
     "part is too large: expected a --replay of at most 16777216"),
    (1, (*ON, "-p", "m-etf-place"), "m-etf-place knows no time-per-sample; dpl-place, dp-place, hier-place, ip-place, "
     "anneal-place, auto-place, one-place, greedy-place, local-place, pipedream-place, scotch-place and metis-place "
     "do"),
]

# ---- what is said of a graph besides: the graph, options, the exit code, one of the lines

CLASS = "class acc x2 graph "
COSTS = "profile:op(%x) !time=1us "
CHAIN = CLASS + "{ in %x %n0 = " + COSTS + "".join(
    f"%n{i} = profile:op(%n{i - 1}) !time=1us " for i in range(1, 70)) + "}"
HERE = ("-d", "1xa100")
SAID = [
    ("costs 2 graph { in %x %a = profile:op(%x) !time=[1us,2us] }", (*HERE, "-p", "dp-place"), 1,
     "error: said.pir: it has costs for 2 device classes, the cluster has 1: expected one each"),
    ("graph { in %x : f32[4] %a = Exp(%x) %b = Neg(%a) %c = Exp(%b) out %c }", ("-d", "relu.json", "-p", "cost"), 3,
     "error: no class of the cluster can run node 'a' (Exp), nor 2 others: expected one that supports each"),
    ("graph { in %x : f32[4] %a = Exp(%x) %b = Neg(%a) out %b }", ("-d", "relu.json", "-p", "cost"), 3,
     "error: no class of the cluster can run node 'a' (Exp), nor 1 other: expected one that supports each"),
    ("graph { in %x : f32[4] %a = Exp(%x) out %a }", ("-d", "relu.json", "-p", "cost"), 3,
     "error: no class of the cluster can run node 'a' (Exp): expected one that supports it"),
    ("graph { in %x : f32[1073741824,1073741824] %a = Relu(%x) out %a }", (*HERE, "-p", "cost"), 1,
     "error: the sizes of this model are beyond what can be planned, the largest at node 'a' (Relu): expected times "
     "and bytes whose sums are below 2^61"),
    ("graph { in %x : f32[4] %a = my:Op(%x) %b = Exp(%a) %c = Neg(%x) out %b, %c }", (*HERE, "-p", "cost"), 0,
     "warning: the sizes of 2 of 3 nodes' results (66.6 %) are not known, the first is 'a' (Op): they are "
     "estimated from operands; --dim '?=N' sets dimensions without a name [-Wunknown-size]"),
    ("graph { in %x : f32[4] %a = Exp(%x) out %a }", (*HERE, "-p", "cost", "--dim", "z=3"), 0,
     "warning: --dim z=3: no dimension of the model has this name [-Wunmatched-dim]"),
    ("graph { in %x : f32[4] %a = Exp(%x) %b = Exp(%a) out %b }", (*HERE, "-p", "cost", "--costs=odd.csv"), 0,
     "warning: odd.csv: 2 rows name nodes, operators or classes that are not there, the first is 'z': they have no "
     "effect [-Wunmatched-cost]"),
    ("graph { in %x : f32[4] %a = Exp(%x) %b = Exp(%a) %c = Exp(%b) out %c }",
     (*HERE, "-p", "cost", "--costs=run.json"), 0,
     "note: run.json: measured times for 1 of 3 nodes; 2 (66.6 %) keep the roofline"),
    (CHAIN, ("-p", "one-place", "-o", "x.dot", "--view=nodes"), 0,
     "note: x.dot: 70 nodes, more than a page holds; --part=N shows those of one part, --around=NODE:2 those near one"),
    (CHAIN, ("-p", "one-place", "-o", "x.dot", "--part=0"), 0,
     "note: x.dot: 70 nodes, more than a page holds; --around=NODE:2 shows those near one"),
    (CLASS + "{ in %x %a = " + COSTS + "}", ("-v", "-p", "subdivide,dp-place"), 0,
     "note: subdivide: every node has one transfer cost: nothing to do"),
    (CLASS + "{ in %x %a, %b = profile:op(%x) : ? !xfer=1us, ? !xfer=2us !time=1us %c = profile:op(%a) !time=1us "
     "%d = profile:op(%b) !time=1us }", ("-v", "-p", "subdivide,dp-place"), 0,
     "note: subdivide: 2 vertices for the results of 1 nodes"),
    (CLASS + "{ in %x %a = " + COSTS + "}", ("-p", "dp-place,fuse"), 0,
     "warning: -p: fuse has no effect after dp-place, the last planner [-Wunused-option]"),
    (CLASS + "{ in %x %a = " + COSTS + "}", ("-v", "-p", "fuse,dp-place"), 0, "note: fuse: nothing fused, 1 vertices"),
    ("graph { in %x : f32[4] %a = Exp(%x) out %a }", ("-p", "inline-functions"), 0,
     "note: inline-functions: nothing calls a function of the model"),
]
LAYERED = [
    (("-p", "dapple-place{score=published}", "-d", "17xv100"), 1,
     "error: dapple-place: score=published plans for 2 to 16 devices, as in the paper's tables"),
    (("-p", "dapple-place{score=published:errors=true}", "-d", "2xv100"), 0,
     "warning: dapple-place: errors has no effect with score=published [-Wunused-option]"),
    (("-p", "dapple-place{micro=free:errors=true}", "-d", "2xv100"), 0,
     "warning: dapple-place: errors has no effect with micro=free [-Wunused-option]"),
    (("-p", "dapple-place{score=published}", "-d", "2xv100"), 0,
     "note: dapple-place: the published program's plan 2 of 2 states: 6.02000032ms by its score with (0,1)x2"),
    (("-p", "pipedream-hier-place", "-d", "2xv100"), 0,
     "note: pipedream-hier-place: the slowest of 2 stages takes 3ms of a minibatch, by the planner's own measure; 2 "
     "states"),
    (("-d", "2xv100"), 0,
     "note: pipeline-place: the best with schedule dapple: 3.020 ms, gpipe: 3.020 ms, zb-h1: 3.020 ms, "
     "interleaved: 3.020 ms"),
]

# ---- what is written of ONNX models: p.onnx; its weights in w.bin: e.onnx, which is not there: g.onnx; of IR
# version 3, with weights among its inputs: old.onnx

ONTO = ("-d", "2xa100,1xcpu", "-p", "dp-place")
WRITTEN = [
    (0, ("e.onnx", "-o", "sub/x.onnx"),
     "warning: sub/x.onnx: its weights stay in 'w.bin': they are looked for beside the model [-Wmoved-weights]"),
    (1, ("p.onnx", "-o", "x.onnx", "--annotate=ir11"), "error: --annotate=ir11: -o x.onnx needs a planner in -p"),
    (0, ("p.onnx", *ONTO, "--annotate=ir11", "-o", "ir11.onnx"),
     "note: p.onnx: the annotated model has IR version 11 instead of 8, which device configurations need"),
    (0, ("ir11.onnx", *ONTO, "-o", "x.onnx"), "warning: ir11.onnx: its device configuration 'pcc' tells of an earlier "
     "plan and is left as it is; --annotate=ir11 replaces it [-Wstale-annotation]"),
    (0, ("old.onnx", *ONTO, "--annotate=ir11", "-o", "x.onnx"),
     "note: old.onnx: the annotated model has IR version 11 instead of 3, which device configurations need; its "
     "weights are no longer listed as inputs, since callers could override them from version 4 on"),
    (1, ("p.onnx", *ONTO, "-o", "."), "error: .: is the current folder, which cannot be replaced"),
    (1, ("p.onnx", *ONTO, "-o", "full"),
     "error: full: is not empty (it has 'a') and no split folder of ours: give another name"),
    (1, ("p.onnx", *ONTO, "-o", "taken"), "error: taken: is there already and is not a folder"),
    (3, ("p.onnx", "-d", "2xa100:24B", "-p", "dp-place"),
     "error: no contiguous plan fits the memory of the devices: they need 80 B per device (proven): node 'a' needs "
     "48 B, the largest device that may run it has 24 B"),
    (3, ("p.onnx", "-d", "2xa100:24B", "-p", "dp-place", "--memory-model=sum"),
     "note: counted are 16 B of weights and 32 B of all tensors that nodes make, also those that are never alive "
     "together: try more devices, or --memory-model=live, which counts the tensors that are alive together"),
    (1, ("own/model.onnx", *ONTO, "--weights=original", "-o", "own/"),
     "error: own/: the model itself is 'model.onnx' there, the name of a file of a split: rename the model, or give "
     "another folder"),
    (1, ("g.onnx", *ONTO, "-o", "x.split"), "error: g.onnx: weight 'w' needs the file 'gone.bin', which is not there: "
     "put it there, or write parts that refer to it: --weights=original and -o the model's own folder"),
]


def number(n, value):
    return varint(n << 3) + varint(value)


def onnx_model(path, weights=None, ir_version=8, inputs=("x",)):
    """b = Relu(x + w), by hand."""
    def value(name):
        return field(1, name) + field(2, field(1, number(1, 1) + field(2, field(1, number(1, 4)))))

    def node(op, operands, result):
        return b"".join(field(1, x) for x in operands) + field(2, result) + field(3, result) + field(4, op)

    where = field(13, field(1, b"location") + field(2, weights)) + number(14, 1) if weights else field(9, bytes(16))
    graph = (field(1, node(b"Add", (b"x", b"w"), b"a")) + field(1, node(b"Relu", (b"a",), b"b")) + field(2, b"main")
             + field(5, number(1, 4) + number(2, 1) + field(8, b"w") + where)
             + b"".join(field(11, value(x.encode())) for x in inputs) + field(12, value(b"b")))
    Path(path).write_bytes(number(1, ir_version) + field(7, graph) + field(8, field(1, b"") + number(2, 13)))


def check_line(code, args, line):
    """One line of all that is said."""
    r = subprocess.run([PCC, *args], capture_output=True, text=True, timeout=100, check=False)
    check(r.returncode == code and f"pcc: {line}" in r.stderr.splitlines(),
          f"{args}: exit {r.returncode}, not {code}:\n{r.stderr[-600:]}        wanted: {line}")


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
        for one, text, wanted in SPLITS:
            nodes = [{**NODE, "id": i, "name": f"n{i}", **({"colorClass": 5} if one else {})} for i in range(3)]
            Path("w.json").write_text(json.dumps({"maxSizePerFPGA": 9, "maxFPGAs": 2, "maxCPUs": 1, "edges": [],
                                                  "nodes": nodes}))
            Path("p.json").write_text(json.dumps(text))
            args = ("w.json", "-p", "plan{from=p.json}")
            if wanted:
                expect(error_of(1, *args), f"p.json: {wanted}")
            else:
                check(subprocess.run([PCC, *args], capture_output=True, check=False).returncode == 0, f"{text}")
        for text, wanted in CLASSES:
            Path("c.json").write_text(json.dumps({"classes": [text]}))
            expect(error_of(1, "m.pir", "-d", "c.json"), f"c.json: {wanted}", wanted.endswith(" one of "))
        Path("w.json").write_text(json.dumps({"maxSizePerFPGA": 9, "maxFPGAs": 2, "maxCPUs": 1, "edges": [],
                                              "nodes": [{**NODE, "id": 0}]}))
        Path("zero.csv").write_bytes(b"name,time\na,1us\0b,2us\n")
        Path("memory.csv").write_text("name,memory\nconv,1KiB\n", encoding="utf-8")
        Path("odd_name.pir").write_text('graph { in %x : f32[4] %a = Relu(%x) name="n\\xff" out %a }\n',
                                        encoding="utf-8")
        Path("input.pir").write_text("graph { in %x : f32[4] %a = Relu(%x) : f32[4] out %a, %x }\n",
                                     encoding="utf-8")
        Path("device.pir").write_text("class acc x2 graph { in %x %a = profile:op(%x) !time=1us !device=acc7 }\n",
                                      encoding="utf-8")
        for name, line in FIRST.items():
            Path(f"{name}.pir").write_text(f"# RUN: pcc pcc-repro.pir {line}\n{MODEL}", encoding="utf-8")
        for name, head in FOREIGN.items():
            Path(name).write_bytes(head)
        for code, args, wanted in OPTIONS:
            expect(error_of(code, *args), wanted, wanted.endswith((": ", "..", " one of ")))
        Path("relu.json").write_text(json.dumps({"classes": [{"preset": "a100", "supported": ["Relu"]}]}))
        Path("odd.csv").write_text("name,time\na,1us\nz,2us\ny,1us\n", encoding="utf-8")
        Path("run.json").write_text(json.dumps([{"cat": "Node", "name": "a_kernel_time", "dur": 5,
                                                 "args": {"op_name": "Exp"}}]))
        for text, args, code, line in SAID:
            Path("said.pir").write_text(text, encoding="utf-8")
            check_line(code, ("said.pir", *args), line)
        for args, code, line in LAYERED:
            check_line(code, ("two.txt", "--objective=iteration-time", *args), line)
        onnx_model("p.onnx")
        onnx_model("e.onnx", b"w.bin")
        onnx_model("g.onnx", b"gone.bin")
        onnx_model("old.onnx", ir_version=3, inputs=("x", "w"))
        Path("w.bin").write_bytes(bytes(16))
        Path("taken").write_bytes(b"")
        for folder in ("sub", "full"):
            Path(folder).mkdir()
        Path("full/a").write_text("a", encoding="utf-8")
        Path("own").mkdir()
        onnx_model("own/model.onnx", b"w.bin")
        Path("own/w.bin").write_bytes(bytes(16))
        for code, args, line in WRITTEN:
            check_line(code, args, line)
        Path("gone").mkdir()
        onnx_model("gone/g.onnx", b"gone.bin")
        r = subprocess.run([PCC, "gone/g.onnx", *ONTO, "--weights=original", "-o", "gone"], capture_output=True,
                           text=True, check=False)
        check("\nput gone/gone.bin in its place, then run it: python3 gone/run_split.py\n" in r.stdout,
              r.stdout + r.stderr)
        os.chdir("/")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
