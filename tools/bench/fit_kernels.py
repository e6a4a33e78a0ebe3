#!/usr/bin/env python3
"""Fits what kernels reach of a GPU's peak and bandwidth (ir/cluster/kernel_rates.c) to measured kernels, and says how
far pcc's times are from them.

usage: fit_kernels.py FOLDER [--check] [--class NAME ...] [--type f32|tf32|f16|bf16]

FOLDER/kernels.csv: device, op (linear, bmm, ln, softmax, or an elementwise operation), b, m_or_width, n, k, us.  linear
and bmm are b products of [m, n] and [n, k] (of linear the second operand is one matrix), f32; the others have b rows of
m_or_width elements.  A device that pcc has no class for is named and left out.  measure_kernels.py measures more, which
is compared with pcc alone: conv1 and conv3 (b images of m_or_width squared, n channels in, k out, filters of 1 x 1 and
3 x 3), attention (b heads of m_or_width tokens of width n) and copy; so are all kernels of other types (--type).

Printed for each class: the rows of the table that are fitted, and for each kind of kernel the median and the 90th
percentile of the relative error of (1) these rows, (2) rows that were fitted to one half of the shapes, on the other
half, (3) pcc itself, which is asked for the times of a model of these kernels.  --check: exit 1 if the C source has
other rows than those fitted, or pcc other times than they give.

The fit is by exhaustion over the few values that the facts may take: the least sum of median and a third of the 90th
percentile over products, which count twice, and batched products.  Burst and what follows it are fitted to the cards
of 70 W together.  Of shares of the peak for linear layers that are nearly as good the largest is taken: kernels that
are measured alone, one after the other, run hotter, and so slower, than between others in a model."""
import argparse
import copy
import csv
import io
import json
import re
import statistics
import tempfile
import zlib
from collections import defaultdict
from pathlib import Path

import numpy
from onnx import TensorProto, helper

from common import PCC, ROOT, Run, table, verdict

FACTS = ("units", "tile", "prologue", "product", "batched", "stream", "row", "burst", "warm")
EDGES, TILES, PROLOGUES = (32, 64, 128), (64, 128), (0, 8, 16, 24, 32, 48)
SHARES = [s / 100 for s in range(20, 101)]
BURSTS, WARM = (4, 8), (0.83, 0.87, 0.91)  # ms; share of the rate
CONV = 0.72  # what convolutions reach of the share of products, as measure_kernels.py found on an h100
NEARLY = 1.1  # a score that is at most so many times the best is as good
LOW_POWER = ("l4", "t4")  # cards of 70 W, which cannot keep their clocks
ROWS = (512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 6144, 8192, 12288, 16384)
THREE = {"add", "mul", "div", "pow"}  # two operands and a result; other elementwise operations: one and a result
NORMS = ("ln", "softmax")
HEADER = ["class", "kind", "kernels", "fitted", "9 of 10", "other half", "9 of 10", "pcc", "9 of 10"]
KINDS = {"linear": "linear", "bmm": "batched", "ln": "norm", "softmax": "softmax"}  # others: elementwise
COMPARED = ("conv1", "conv3", "attention", "copy")  # fitted to nothing
TYPES = {"f32": TensorProto.FLOAT, "tf32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
OPERATORS = {"ln": "LayerNormalization", "softmax": "Softmax", "add": "Add", "mul": "Mul", "div": "Div", "pow": "Pow"}
SOURCE = ROOT / "ir/cluster/kernel_rates.c"


class Kernels:
    """The kernels of one class.  rows: {op: array with a row of b, m, n, k, us for each kernel} to fit to; compared:
    the same of COMPARED."""

    def __init__(self, rows, figures):
        """rows: of kernels.csv; figures: see figures_of()."""
        self.peak, self.bandwidth = figures["peak"], figures["bandwidth"]
        self.units, self.overhead = figures["units"], figures["overhead"]
        measured = defaultdict(list)
        for r in rows:  # an empty cell is a size that the op does not have
            measured[r["op"]].append([float(r[c] or 1) for c in ("b", "m_or_width", "n", "k", "us")])
        self.rows = {op: numpy.array(v) for op, v in measured.items() if op not in COMPARED}
        self.compared = {op: numpy.array(v) for op, v in measured.items() if op in COMPARED}

    def half(self, which):
        """These kernels with one half (0 or 1) of the shapes in `rows`, drawn by their checksums: the same in each
        run."""
        chosen = copy.copy(self)
        chosen.rows = {}
        for op, x in self.rows.items():
            mine = x[[zlib.crc32(repr((op, *v[:4])).encode()) % 2 == which for v in x.tolist()]]
            if len(mine):
                chosen.rows[op] = mine
        return chosen

    def streams(self):
        """{op: rows} of the kernels whose time is that of their memory traffic, which move each byte once."""
        return {op: x for op, x in self.rows.items() if op not in ("linear", "bmm", *NORMS)}


def product_flops(x, units, least, prologue):
    """Operations of all waves of each product in x, at the speed of tiles of 128 x 128 (passes/cost/kernels.c), with
    the quickest tiles whose edges are at least `least`. units: of the GPU, each with one tile at a time; prologue: of a
    tile, in elements of the sum."""
    b, m, n, k = x[:, :4].T
    best = None
    for r in (e for e in EDGES if e >= least):
        for c in (e for e in EDGES if e >= least):
            waves = numpy.ceil(b * numpy.ceil(m / r) * numpy.ceil(k / c) / units)
            # loading an element takes 8 multiply-adds; 8 / 9: the largest tile counts as its multiply-adds alone
            work = waves * units * 2 * (r * c + 8 * (r + c)) * (n + prologue) * 8 / 9
            best = work if best is None else numpy.minimum(best, work)
    return best


def bytes_of(op, x):
    """Bytes of the operands and the result of each kernel in x, in f32."""
    b, m, n, k = x[:, :4].T
    if op in ("linear", "bmm"):
        return 4 * (b * m * n + (1 if op == "linear" else b) * n * k + b * m * k)
    return 4 * b * m * (3 if op in THREE else 2)


def moved(op, x, row):
    """Bytes that each kernel in x moves: those of operands and result, and of normalisations again the elements that
    rows longer than a cache holds push out of it (passes/cost/kernels.c). row: the elements that a cache holds."""
    if op not in NORMS:
        return bytes_of(op, x)
    kept = row if op == "ln" else max(4 * row, 1024)
    lost = numpy.clip(x[:, 1] / kept - 1, 0, 1)
    again = 0.5 if op == "ln" else 1  # of the bytes, half of which are read: ln reads a row once more, softmax twice
    return bytes_of(op, x) * (1 + lost * again)


def time_of(kernels, op, facts):
    """The us that the formula gives for each measured kernel of an operation. facts: the figures that are fitted."""
    x = kernels.rows[op]
    memory = moved(op, x, facts["row"]) / (kernels.bandwidth * facts["stream"]) * 1e6
    if op not in ("linear", "bmm"):
        return kernels.overhead + memory
    least = 32 if op == "linear" else facts["tile"]
    work = product_flops(x, kernels.units, least, facts["prologue"])
    return kernels.overhead + numpy.maximum(slowed(kernels, op, work, facts), memory)


def slowed(kernels, op, work, facts):
    """us in which each kernel does its `work`, in operations, with the lower clock after the burst."""
    t = work / (kernels.peak * facts["product" if op == "linear" else "batched"]) * 1e6
    burst = facts["burst"] * 1e3
    return t if not burst else numpy.where(t > burst, burst + (t - burst) / facts["warm"], t)


def spread(times, us):
    """(median, 90th percentile) of the relative error of `times`, where `us` were measured."""
    error = numpy.abs(times / us - 1)
    return float(numpy.median(error)), float(numpy.percentile(error, 90))


def score(times, us):
    """How bad predicted times are, where `us` were measured: the smaller, the better."""
    median, most = spread(times, us)
    return median + most / 3


def fit_streams(kernels, facts):
    """Sets the facts "stream", the share of the bandwidth, and "row", of normalisations. Returns False, and sets
    nothing, if no kernel was measured whose time is that of its memory traffic."""
    streams = kernels.streams()
    if not streams:
        return False
    share = numpy.concatenate([bytes_of(op, x) / ((x[:, 4] - kernels.overhead) * kernels.bandwidth) * 1e6
                               for op, x in streams.items()])
    facts["stream"] = round(float(numpy.median(share)), 2)
    facts["row"] = min(ROWS, key=lambda row: sum(score(time_of(kernels, op, {**facts, "row": row}),
                                                       kernels.rows[op][:, 4]) for op in NORMS))
    return True


def fit_share(kernels, op, facts, work):
    """(the best score, share): the share of the peak that has this score for the products of `op`; of linear layers the
    largest that is nearly as good. work: see product_flops()."""
    us, memory = kernels.rows[op][:, 4], bytes_of(op, kernels.rows[op]) / (kernels.bandwidth * facts["stream"]) * 1e6
    key = "product" if op == "linear" else "batched"
    scores = [(score(kernels.overhead + numpy.maximum(slowed(kernels, op, work, {**facts, key: s}), memory), us), s)
              for s in SHARES]
    nearly = NEARLY if op == "linear" else 1
    return min(scores)[0], max(s for at, s in scores if at <= nearly * min(scores)[0])


def fit(kernels, like, burst=0, warm=1):
    """(score, facts) of the best fit to a class.  like: facts for what was not measured; burst, warm: given, not
    fitted."""
    facts = {**like, "units": kernels.units, "burst": burst, "warm": warm}
    fit_streams(kernels, facts)
    best = None
    for prologue in PROLOGUES:
        work = product_flops(kernels.rows["linear"], kernels.units, 32, prologue)
        linear_score, product = fit_share(kernels, "linear", facts, work)
        works = [(product_flops(kernels.rows["bmm"], kernels.units, tile, prologue), tile) for tile in TILES]
        batched_score, batched, tile = min((*fit_share(kernels, "bmm", facts, work), tile) for work, tile in works)
        total = 2 * linear_score + batched_score
        if best is None or total < best[0]:
            best = total, {**facts, "prologue": prologue, "product": product, "batched": batched, "tile": tile}
    return best


def fit_burst(classes, like):
    """(burst in ms, warm) of the cards of LOW_POWER, the same for all; (0, 1), no burst, if none of them was
    measured."""
    low = [k for d, k in classes.items() if d in LOW_POWER]
    if not low:
        return 0, 1
    return min((sum(fit(k, like, b, w)[0] for k in low), b, w) for b in BURSTS for w in WARM)[1:]


def by_kind(kernels, times):
    """{kind of operations: (predicted us, measured us)} of the kernels of a class. times: {op: predicted us}."""
    found = defaultdict(lambda: ([], []))
    for op, x in kernels.rows.items():
        predicted, measured = found[KINDS.get(op, "elementwise")]
        predicted.append(times[op])
        measured.append(x[:, 4])
    return {k: (numpy.concatenate(t), numpy.concatenate(us)) for k, (t, us) in found.items()}


def times_by_fit(kernels, facts):
    """{op: us that the formula gives for each kernel}."""
    return {op: time_of(kernels, op, facts) for op in kernels.rows}


def rate(text, units):
    """A rate such as "312Tflop/s" as a number. `units`: factors of the units."""
    number, unit = re.fullmatch(r"([\d.]+)(\D*)", text).groups()
    return float(number) * units[unit.removesuffix("/s")]


def figures_of(device):
    """The figures that pcc has for a class: name, peak, number of units, bandwidth, us of a launch. None: there is no
    such class, or it has no figures of kernels."""
    run = Run([PCC, f"--list-devices=1x{device}"])
    if run.rc:
        return None
    c = json.loads(run.out)["classes"][0]
    if "kernels" not in c:
        return None
    tera = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    return {"name": c["name"], "types": set(c["peak"]), "peak": rate(c["peak"]["f32"], tera),
            "units": c["kernels"]["units"], "bandwidth": rate(c["bandwidth"], {"MB": 1e6, "GB": 1e9, "TB": 1e12}),
            "overhead": rate(c["overhead"], {"us": 1, "ns": 1e-3})}


class KernelModel:
    """A model of kernels, of which pcc is asked the times.  elem: type of all tensors."""

    def __init__(self, elem):
        self.elem, self.nodes, self.inputs, self.outputs = elem, [], [], []

    def tensor(self, text, shape, to):
        """Adds a tensor of this name to `to`, the model's inputs or outputs. Returns its name."""
        to.append(helper.make_tensor_value_info(text, self.elem, [int(d) for d in shape]))
        return text

    def input(self, text, *shape):
        """Adds an input. Returns its name."""
        return self.tensor(text, shape, self.inputs)

    def node(self, op, operands, at, shape=None, **attributes):
        """Adds a node called `at`, as is its result; with a shape the result is an output. Returns the name."""
        self.nodes.append(helper.make_node(op, operands, [at], name=at, **attributes))
        return self.tensor(at, shape, self.outputs) if shape else at

    def add(self, op, at, b, m, n, k):
        """Adds nodes for one kernel of kind `op`, called `at` or `at`/..., with the sizes of the table of
        measurements."""
        if op in ("linear", "bmm"):
            lead = [] if op == "linear" else [b]
            operands = [self.input(at + "a", *lead, m, n), self.input(at + "b", *lead, n, k)]
            self.node("MatMul", operands, at, [*lead, m, k])
        elif op == "attention":
            scores = self.node("MatMul", [self.input(at + "q", b, m, n), self.input(at + "k", b, n, m)], at + "/scores")
            scaled = self.node("Mul", [scores, self.input(at + "s", 1)], at + "/scaled")
            shares = self.node("Softmax", [scaled], at + "/shares")
            self.node("MatMul", [shares, self.input(at + "v", b, m, n)], at, [b, m, n])
        elif op in ("conv1", "conv3"):
            side = int(op[-1])
            operands = [self.input(at + "x", b, n, m, m), self.input(at + "w", k, n, side, side)]
            self.node("Conv", operands, at, [b, k, m, m], pads=4 * [side // 2])
        elif op == "copy":
            self.node("Concat", [self.input(f"{at}/{j}", b / 2, m) for j in range(2)], at, [b, m], axis=0)
        else:
            operands = [self.input(f"{at}/{j}", b, m) for j in range(2 if op in THREE else 1)]
            if op == "ln":
                operands.append(self.input(at + "/scale", m))
            self.node(OPERATORS.get(op, "Relu"), operands, at, [b, m])

    def times(self, name, folder, options=()):
        """Writes the model to the folder. Returns {node: us} as pcc gives them for a device of class `name`. options:
        of pcc."""
        path = Path(folder) / "kernels.onnx"
        graph = helper.make_graph(self.nodes, "kernels", self.inputs, self.outputs)
        path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
                         .SerializeToString())
        out = Run([PCC, path, "-q", "-d", f"1x{name}:unbounded", "-p", "one-place", "--emit=csv", *options]).need().out
        return {r["name"]: int(r[f"ps_{name}"]) / 1e6 for r in csv.DictReader(io.StringIO(out))}


def times_by_pcc(rows, name, folder, kind="f32"):
    """{op: us of each kernel} as pcc gives them on class `name`, for a model that is made of these kernels and written
    to the folder. kind: of TYPES."""
    model = KernelModel(TYPES[kind])
    for op, x in rows.items():
        for i, (b, m, n, k, _) in enumerate(x.tolist()):
            model.add(op, f"{op}.{i}", b, m, n, k)
    total = defaultdict(float)
    for node, us in model.times(name, folder, ["--precision=tf32"] if kind == "tf32" else []).items():
        total[node.split("/")[0]] += us  # attention has several nodes
    return {op: numpy.array([total[f"{op}.{i}"] for i in range(len(x))]) for op, x in rows.items()}


def row_text(facts):
    """The row of the C table (SOURCE), but for generation and use: shares in millionths, the burst in ps."""
    f = [facts["units"], facts["tile"], facts["prologue"], round(facts["product"] * 1000000),
         round(facts["batched"] * 1000000), round(round(facts["product"] * CONV, 2) * 1000000),
         round(facts["stream"] * 1000000), facts["row"],
         round(facts["burst"] * 10 ** 9), round(facts["warm"] * 1000000)]
    return "{" + ", ".join(map(str, f)) + "}"


def read(folder, wanted, kind):
    """Reads kernels.csv in the folder. Returns {device: Kernels} of the devices that pcc has a class for, and {device:
    its name in pcc}; prints a line for each device without a class and, for the element type `kind` "tf32", without
    TF32, in which pcc then refuses to compute. wanted: names of devices, None for all."""
    rows = defaultdict(list)
    with open(folder / "kernels.csv", encoding="utf-8") as f:
        for r in csv.DictReader(f):
            rows[r["device"]].append(r)
    figures = {d: figures_of(d) for d in sorted(rows) if not wanted or d in wanted}
    for d in (d for d, f in figures.items() if f is None):
        print(f"{d}: pcc has no class of this name: left out")
    figures = {d: f for d, f in figures.items() if f}
    for d in [d for d, f in figures.items() if kind == "tf32" and kind not in f["types"]]:
        print(f"{d}: it has no {kind}: left out")
        del figures[d]
    return {d: Kernels(rows[d], f) for d, f in figures.items()}, {d: f["name"] for d, f in figures.items()}


def unmeasured(classes):
    """The facts for what was not measured on a class: the medians of the other classes, "row" rounded down to one of
    ROWS."""
    found = []
    for kernels in classes.values():
        facts = {"stream": 1, "row": ROWS[0]}
        if fit_streams(kernels, facts):
            found.append(facts)
    if not found:
        return {"stream": 1, "row": ROWS[0]}
    row = statistics.median(f["row"] for f in found)
    return {"stream": round(statistics.median(f["stream"] for f in found), 2), "row": max(r for r in ROWS if r <= row)}


def compared_lines(device, name, rows, folder, kind="f32"):
    """Yields the rows of the table of errors for kernels that nothing is fitted to: errors of pcc's own times."""
    if not rows:
        return
    for op, us in times_by_pcc(rows, name, folder, kind).items():
        yield [device, op, str(len(us)), "", "", "", "", *(f"{100 * e:.1f} %" for e in spread(us, rows[op][:, 4]))]


def fitted_lines(device, kernels, facts, halves, own):
    """Yields the rows of the table of errors, for each kind of operations and for all: errors of the fit (facts), of
    each half of the shapes by the fit to the other half (halves: the facts of both fits), and of pcc's own times
    (own)."""
    fitted = by_kind(kernels, times_by_fit(kernels, facts))
    others = [kernels.half(1 - h) for h in (0, 1)]
    across = [by_kind(other, times_by_fit(other, half_facts)) for other, half_facts in zip(others, halves)]
    for kind in (*KINDS.values(), "elementwise", "all"):
        cells = []
        for groups in ([fitted], across, [by_kind(kernels, own)]):
            pairs = [v for group in groups for k, v in group.items() if kind in (k, "all")]
            if pairs:
                cells += [f"{100 * e:.1f} %" for e in spread(*(numpy.concatenate(v) for v in zip(*pairs)))]
        if cells:
            yield [device, kind, str(sum(len(t) for k, (t, _) in fitted.items() if kind in (k, "all"))), *cells]


def compare_type(classes, names, kind):
    """Prints the errors of pcc's own times for kernels of an element type that nothing is fitted to. classes, names: as
    read() returns them."""
    with tempfile.TemporaryDirectory() as folder:
        table(HEADER, [line for d, k in classes.items()
                       for line in compared_lines(d, names[d], {**k.rows, **k.compared}, folder, kind)])


def contradictions(d, name, kernels, facts, own):
    """Returns in words what differs for device d between pcc and the fit: pcc's row of the table, or its own times of
    kernels. name: of the device in pcc; facts: as fitted; own: {op: us} by pcc."""
    wrong = [f"{d}: {op}: pcc's times are not those of the rows fitted here" for op in own
             if numpy.max(numpy.abs(own[op] / time_of(kernels, op, facts) - 1)) > 0.001]
    if not re.search(f'"{name}",[^{{]*{re.escape(row_text(facts))}', SOURCE.read_text(encoding="utf-8")):
        wrong.append(f"{SOURCE.relative_to(ROOT)} has another row for {name}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--class", dest="classes", action="append", help="these devices only", metavar="NAME")
    parser.add_argument("--type", choices=[*TYPES], default="f32", help="of the tensors (default: f32)")
    args = parser.parse_args()
    classes, names = read(args.folder, args.classes, args.type)
    if args.type != "f32":
        compare_type(classes, names, args.type)
        return
    like, lines, ratios, wrong = unmeasured(classes), [], {}, []
    burst = fit_burst(classes, like)
    for d, kernels in classes.items():
        hot = burst if d in LOW_POWER else (0, 1)
        facts = fit(kernels, like, *hot)[1]
        with tempfile.TemporaryDirectory() as folder:
            own = times_by_pcc(kernels.rows, names[d], folder)
            lines += compared_lines(d, names[d], kernels.compared, folder)
        lines += fitted_lines(d, kernels, facts, [fit(kernels.half(h), like, *hot)[1] for h in (0, 1)], own)
        ratios[d] = float(numpy.median(numpy.concatenate([own[op] / x[:, 4] for op, x in kernels.rows.items()])))
        wrong += contradictions(d, names[d], kernels, facts, own)
        print(f'"{names[d]}" {row_text(facts)}')
    table(HEADER, lines)
    print("pcc's times over measured ones, median: " + ", ".join(f"{d} {r:.3f}" for d, r in ratios.items()))
    if args.check:
        verdict(not wrong, "; ".join(wrong) or "the table is what is fitted, and pcc's times are what it gives")


if __name__ == "__main__":
    main()
