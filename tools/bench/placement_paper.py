"""What the placement paper shows beside Table 1: Table 2 and Figure 9 (`pcc-bench throughput --relative`), Table 3,
Figures 8 and 10 (`pcc-bench paper`)."""
import csv
import json
import math
import tempfile
from pathlib import Path

from cells import PLACEMENT, cell
from common import PCC, PCC_GEN, Run, table, text_table, workloads_in

# Table 2: throughput in multiples of the optimum over contiguous splits; "-": there is none
RELATIVE = """
workload                     any  expert local pipedream scotch one
op_bert3_inference           1.27 -      1.15  -         0.78   0.57
op_bert6_inference           1.04 -      0.70  -         0.59   0.38
op_bert12_inference          1.13 -      0.57  -         0.64   0.23
op_resnet50_inference        1.00 -      0.50  -         0.63   0.38
op_bert3_training            1.20 -      0.99  -         0.16   0.53
op_bert6_training            1.02 -      0.77  -         0.56   0.38
op_bert12_training           1.17 -      0.59  -         0.55   0.23
op_resnet50_training         1.00 -      0.48  -         0.67   0.37
layer_bert24_inference       1.00 0.89   1.00  1.00      0.99   0.19
layer_resnet50_inference     1.01 0.77   0.95  0.86      0.98   0.17
layer_inceptionv3_inference  1.00 0.50   0.95  0.85      0.95   0.17
layer_gnmt_inference         1.04 0.71   1.04  1.00      0.94   0.18
layer_bert24_training        1.05 0.85   1.05  1.00      0.99   0.19
layer_resnet50_training      1.03 0.70   0.97  0.94      0.98   0.17
layer_inceptionv3_training   1.04 0.57   1.00  0.96      0.96   0.17
layer_gnmt_training          1.21 0.78   1.17  1.00      1.00   0.21
"""
COLUMNS = ["any", "expert", "local", "pipedream", "scotch", "one"]
RUN_AS = {"any": "auto"} # the planner of a column, if it has another name
# Section 6: the throughput of hand-made splits, % of that of a column, on average over so many layer graphs
HAND_MADE, EXPERTS = {"dp": "71", "any": "68"}, 8
# Table 1: by how many percent splits of any shape have more throughput than contiguous ones
GAIN = {
    "op_bert3_inference": "27", "op_bert6_inference": "4", "op_bert12_inference": "13", "op_resnet50_inference": "0",
    "op_bert3_training": "20", "op_bert6_training": "1", "op_bert12_training": "17", "op_resnet50_training": "0",
    "layer_bert24_inference": "0.4", "layer_resnet50_inference": "1.3", "layer_inceptionv3_inference": "0",
    "layer_gnmt_inference": "4", "layer_bert24_training": "5", "layer_resnet50_training": "3",
    "layer_inceptionv3_training": "5", "layer_gnmt_training": "21"}
# planners whose plans are the paper's: ratios of Table 2 are at most DIGIT apart.  any: not worse; others: chance
EXACT, DIGIT = ("one", "expert", "pipedream"), 0.01
# Section 6: how many times the throughput of a baseline splits of any shape have: most, average
GAINS = {"dp": (None, 1.10), "expert": (2, 1.46), "local": (2.08, 1.29), "pipedream": (1.21, 1.10),
         "scotch": (7.69, 1.50)}
FIGURE_9 = (("a: operators, inference", "op_", "inference"), ("b: operators, training", "op_", "training"),
            ("c: layers, inference", "layer_", "inference"), ("d: layers, training", "layer_", "training"))
BAR = 40 # characters of the DP's throughput
# Table 3 on models of pcc-gen
GENERATED = (("gpt", "--layers=12"), ("resnet",), ("inception",), ("bert", "--layers=12"), ("train", "--layers=4"))
DEVICES = "6xa100"
# Table 3: ms of operators, of layers, gain in percent
TABLE_3 = {"op_bert3_inference": ("27.92", "27.92", "0"), "op_bert6_inference": ("29.58", "29.58", "0"),
           "op_bert12_inference": ("147.48", "159.43", "8"), "op_resnet50_inference": ("124.35", "129.15", "4"),
           "op_bert3_training": ("65.30", "65.30", "0"), "op_bert6_training": ("72.86", "72.86", "0"),
           "op_bert12_training": ("438.00", "465.41", "6"), "op_resnet50_training": ("255.19", "269.63", "6")}
# Figure 10: planner, file, ms published
SHAPES = (("dp-place", "contiguous", "27.92"), ("auto-place{gain=0}", "any", "21.91"))


PUBLISHED = text_table(RELATIVE)


# ---- Table 2, Figure 9, averages ---------------------------------------------------------------------------------


def planners():
    """The planners that a run of `throughput` must include for these tables."""
    return ["dp", *[RUN_AS.get(c, c) for c in COLUMNS]]


def mean(ratios):
    """The geometric mean, as the paper's averages."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def ratios_to(times, column):
    """{workload: how many times the throughput of this column's plan a split of any shape has}; times: {workload:
    {column: ms}}."""
    return {name: t[column] / t["any"] for name, t in times.items() if column in t and "any" in t}


def in_table_2(name, found):
    """Compares a workload with Table 2 and adds its cells. found: {column: ms}. Returns its cells in the printed table
    and what is wrong, in words."""
    cells, wrong = [], []
    for c in COLUMNS:
        said = PUBLISHED.get(name, {}).get(c, "-")
        if c not in found or "dp" not in found:
            cells.append("-")
            continue
        ratio = found["dp"] / found[c]
        if said != "-":
            cell(PLACEMENT, "Table 2", f"{name}, {c}", said, f"{ratio:.4f}", None if c in EXACT else "more")
        cells.append(f"{ratio:.2f}" + ("" if said == "-" else f" ({said})"))
        off = ratio - float(said) if said != "-" else 0
        if (c in EXACT and abs(off) > DIGIT) or (c == "any" and off < -DIGIT):
            wrong.append(f"Table 2, {name}, {c}: {ratio:.3f}, published {said}")
    if "dp" in found:
        cell(PLACEMENT, "Table 2", f"{name}, IP (contiguous)", "1.00", "1.00")
    return cells, wrong


def relative(rows, published):
    """Prints Table 2, Figure 9 and section 6 from rows [workload, planner, ms, ...], and adds their cells; returns what
    is wrong, in words. published: Table 1, {workload: {column: text}}."""
    wrong, lines = [], []
    ours, theirs = {}, {} # {workload: {column: ms}}, found here and by Table 1
    for name, planner, ms, *_ in rows:
        column = next((c for c in ["dp", *COLUMNS] if RUN_AS.get(c, c) == planner), None)
        if column:
            ours.setdefault(name, {})[column] = float(ms)
    for name, found in ours.items():
        text = published.get(name, {})
        theirs[name] = {c: float(text[c]) for c in ["dp", *COLUMNS] if text.get(c, "-") != "-"}
        cells, bad = in_table_2(name, found)
        wrong += bad
        if "any" in found and "dp" in found and name in GAIN:
            gain = f"{100 * (found['dp'] / found['any'] - 1):.1f}"
            cell(PLACEMENT, "Table 1", f"{name}, Gain", GAIN[name], gain, "more")
        lines.append([name, *cells])
    print("\nTable 2: throughput in multiples of the contiguous optimum's; published in brackets")
    table(["workload", *COLUMNS], lines)
    figure_9(ours)
    print("\nSection 6: times the throughput of a baseline that splits of any shape have (published; by Table 1)")
    table(["baseline", "most", "geometric mean"], [gain_row(c, ours, theirs) for c in GAINS])
    return wrong + hand_made(ours)


def hand_made(times):
    """Prints what section 6 has: the throughput of hand-made splits of layers, in percent of the best contiguous and of
    any shape. If all experts' splits are there, adds the cells and returns what is wrong, in words."""
    wrong = []
    for column, published in HAND_MADE.items():
        ratios = [t[column] / t["expert"] for t in times.values() if column in t and "expert" in t]
        if not ratios:
            continue
        got = f"{100 * mean(ratios):.0f}"
        print(f"section 6: hand-made splits of {len(ratios)} layer graphs have {got} % of the throughput of {column}, "
              f"published {published} %")
        if len(ratios) < EXPERTS:
            continue
        if cell(PLACEMENT, "section 6", f"hand-made to {column}, %", published, got) == "differing":
            wrong.append(f"section 6, hand-made to {column}: {got} %, published {published} %")
    return wrong


def gain_row(column, ours, theirs):
    """A row of how many times the throughput of this column's plans splits of any shape have, at most and on average:
    found (published; found from published times). Adds the cells if all workloads were run."""
    most, average = GAINS[column]
    own, said = (list(ratios_to(t, column).values()) for t in (ours, theirs))
    if not own or not said:
        return [column, "-", "-"]
    for what, text, got in (("most", most, max(own)), ("average", average, mean(own))):
        if text and len(ours) == len(PUBLISHED):
            cell(PLACEMENT, "section 6", f"any shape to {column}, {what}", f"{text:.2f}", f"{got:.2f}", "more")
    return [column, f"{max(own):.2f} ({most or '-'}; {max(said):.2f})",
            f"{mean(own):.2f} ({average}; {mean(said):.2f})"]


def figure_9(times):
    """Prints Figure 9: for each workload, bars as wide as each planner's plan is fast, relative to the contiguous
    optimum."""
    for title, start, kind in FIGURE_9:
        names = [n for n in times if n.startswith(start) and n.endswith(kind) and "dp" in times[n]]
        if names:
            print(f"\nFigure 9 {title}; the contiguous optimum is {BAR} wide")
        for name in names:
            for c, ms in times[name].items():
                ratio = times[name]["dp"] / ms
                print(f"{name:28} {c:9} {'#' * round(BAR * ratio)} {ratio:.2f}")


# ---- Table 3 ------------------------------------------------------------------------------------------------------


def optimum(model, steps, tmp):
    """ms of the best contiguous plan by these passes, and whether that is proven; parts cost nothing, as in the
    paper."""
    out = Path(tmp) / "plan.json"
    Run([PCC, model, "-d", DEVICES, "--part-cost=0", "-p", steps, "-q", "-o", out]).need()
    goal = json.loads(out.read_text(encoding="utf-8"))["objective"]
    return goal["value_s"] * 1e3, goal["status"] == "optimal"


def annotated(folder, out):
    """Compares Table 3 on the paper's own graphs, of which BERT-12's say which layer a node is in, prints the rows and
    adds the cells. `out`: a folder for plans. Returns what is wrong, in words."""
    rows, wrong = [], []
    for name, (fine, coarse, gain) in TABLE_3.items():
        workload = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        got = []
        for steps in ("dp-place", "contract{by=layer},dp-place"):
            Run([PCC, folder / f"{name}.json", "-p", steps, "-q", "-o", out / "split.json"]).need()
            got.append(json.loads((out / "split.json").read_text(encoding="utf-8"))["maxLoad"])
        cell(PLACEMENT, "Table 3", f"{name}, operators", fine, f"{got[0]:.6g}", "less")
        if all("layerId" not in n for n in workload["nodes"]):
            rows.append([name, f"{got[0]:.4f}", fine, "-", coarse, "-", gain, "cannot be: the file has no layers"])
            continue
        found = f"{100 * (got[1] / got[0] - 1):.0f}"
        ok = abs(got[1] - float(coarse)) < 0.01 and found == gain
        cell(PLACEMENT, "Table 3", f"{name}, layers", coarse, f"{got[1]:.6g}", "less")
        cell(PLACEMENT, "Table 3", f"{name}, Gain", gain, found)
        rows.append([name, f"{got[0]:.4f}", fine, f"{got[1]:.4f}", coarse, found, gain, "pass" if ok else "FAIL"])
        if not ok:
            wrong.append(f"Table 3, {name}: layers {got[1]} ms, published {coarse}")
    print("\nTable 3: ms per sample of the best contiguous plan of operators, and of whole layers; the class of a tied "
          "embedding stays out of its layer (contract.md)")
    table(["workload", "operators", "published", "layers", "published", "gain %", "published", ""], rows)
    return wrong


def table_3(folder, out):
    """Compares plans of operators with plans of whole layers, on the paper's graphs and on models of pcc-gen, where the
    former must not be worse: a plan of whole layers is one of operators. Prints the rows and returns what is wrong, in
    words."""
    rows, wrong = [], annotated(folder, out)
    for shape, *more in GENERATED:
        model = out / f"{shape}.onnx"
        Run([PCC_GEN, shape, *more, "-o", model]).need()
        (fine, proven), (coarse, whole) = (optimum(model, s, out) for s in ("dp-place", "contract{by=layer},dp-place"))
        rows.append([" ".join([shape, *more]), f"{fine:.4f}", f"{coarse:.4f}", f"{100 * (coarse / fine - 1):.0f} %",
                     "yes" if proven and whole else "no"])
        if not proven or not whole or fine > coarse * 1.000001:
            wrong.append(f"Table 3, {shape}: operators {fine} ms ({proven}), layers {coarse} ms ({whole})")
    print(f"\nTable 3 on models of pcc-gen, {DEVICES}: ms per sample of the best contiguous plan (published gains: "
          "0 to 8 %)")
    table(["model", "operators", "layers", "gain", "proven"], rows)
    return wrong


# ---- Figure 8 -----------------------------------------------------------------------------------------------------


def in_order(nodes, edges):
    """The ids of nodes in a topological order, the least one of those that are ready first. Edges to other nodes do not
    count."""
    ids = {n["id"] for n in nodes}
    waits, after = dict.fromkeys(ids, 0), {i: [] for i in ids}
    for e in edges:
        if e["sourceId"] in ids and e["destId"] in ids:
            waits[e["destId"]] += 1
            after[e["sourceId"]].append(e["destId"])
    ready, order = sorted((i for i in ids if not waits[i]), reverse=True), []
    while ready:
        i = ready.pop()
        order.append(i)
        for k in after[i]:
            waits[k] -= 1
            if not waits[k]:
                ready.append(k)
        ready.sort(reverse=True)
    return order


def cumulated(workload):
    """[(layer, forward, backward)]: ms of layers up to this one; a layer is a forward node, with the backward nodes of
    its colour."""
    node = {n["id"]: n for n in workload["nodes"]}
    back = {} # colour: ms of its backward nodes
    for n in workload["nodes"]:
        if n["isBackwardNode"]:
            back[n["colorClass"]] = back.get(n["colorClass"], 0) + n["fpgaLatency"]
    rows, forward, backward = [], 0.0, 0.0
    for i in in_order([n for n in workload["nodes"] if not n["isBackwardNode"]], workload["edges"]):
        forward += node[i]["fpgaLatency"]
        backward += back.pop(node[i]["colorClass"], 0) # at the first forward node of a colour
        rows.append((node[i]["name"], forward, backward))
    return rows


def curve(rows):
    """An SVG of both sums over the layers, in one scale, with the whole of each in words. rows: see cumulated()."""
    wide, high, margin = 640, 360, 40
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" font-family="sans-serif" '
            f'font-size="12"><rect width="{wide}" height="{high}" fill="white"/>']
    most = max(rows[-1][1:])
    for column, colour, name in ((1, "#0036ec", "forward"), (2, "#d02020", "backward")):
        points = " ".join(f"{margin + (wide - 2 * margin) * i / max(len(rows) - 1, 1):.1f},"
                          f"{high - margin - (high - 2 * margin) * r[column] / most:.1f}" for i, r in enumerate(rows))
        text.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        text.append(f'<text x="{margin + 8}" y="{margin + 16 * column}" fill="{colour}">{name}: '
                    f"{rows[-1][column]:.1f} ms</text>")
    text.append(f'<path d="M{margin},{margin} V{high - margin} H{wide - margin}" fill="none" stroke="black"/>'
                f'<text x="{wide // 2}" y="{high - 12}" text-anchor="middle">layers, {len(rows)}</text></svg>\n')
    return "\n".join(text)


def figure_8(folder, out):
    """Makes figure 8, of ResNet50's layers, as figure8.csv and figure8.svg in `out`: forward and backward time grow at
    a similar pace. Prints every eighth of the layers. Returns what is wrong, in words: the sums are not what one
    accelerator takes."""
    path = folder / "layer_resnet50_training.json"
    rows = cumulated(json.loads(path.read_text(encoding="utf-8")))
    with open(out / "figure8.csv", "w", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows([("layer", "forward_ms", "backward_ms"),
                                 *((n, f"{a:.6f}", f"{b:.6f}") for n, a, b in rows)])
    (out / "figure8.svg").write_text(curve(rows), encoding="utf-8")
    forward, backward = rows[-1][1:]
    apart = max(abs(a / forward - b / backward) for _, a, b in rows)
    Run([PCC, path, "-p", "one-place{best-effort=true}", "-q", "-o", out / "one.json"]).need()
    load = json.loads((out / "one.json").read_text(encoding="utf-8"))["maxLoad"]
    print(f"\nFigure 8, ResNet50 training, {len(rows)} layers: forward {forward:.3f} ms, backward {backward:.3f} ms; "
          f"shares of them are at most {100 * apart:.0f} % of the whole apart")
    every = len(rows) // 8
    table(["layers", "forward ms", "backward ms"],
          [[i + 1, f"{rows[i][1]:.2f}", f"{rows[i][2]:.2f}"] for i in range(every - 1, len(rows), every)])
    if abs(forward + backward - load) > 1e-6 * load:
        return [f"Figure 8: {forward + backward} ms of all layers, on one accelerator {load}"]
    return []


# ---- Figure 10 ----------------------------------------------------------------------------------------------------


def figure_10(folder, out):
    """Makes figure 10, BERT-3 inference: the best contiguous plan and the best of any shape, drawn to figure10_*.svg in
    `out`. Prints the rows and returns what is wrong, in words."""
    rows, wrong = [], []
    model = folder / "op_bert3_inference.json"
    for planner, name, published in SHAPES:
        plan, picture = out / f"figure10_{name}.json", out / f"figure10_{name}.svg"
        Run([PCC, model, "-p", planner, "-q", "-o", plan]).need()
        ms = json.loads(plan.read_text(encoding="utf-8"))["maxLoad"]
        drawn = Run([PCC, model, "-p", f"plan{{from={plan}}}", "--view=nodes", "-q", "-o", picture])
        rows.append([name, f"{ms:.4f}", published, picture.name if drawn.rc == 0 else "not drawn"])
        if f"{ms:.2f}" != published:
            wrong.append(f"Figure 10, {name}: {ms} ms, published {published}")
        if drawn.rc != 0 and "built without" not in drawn.out:
            wrong.append(f"Figure 10, {name}: {drawn.out.strip()}")
    print("\nFigure 10, BERT-3 inference")
    table(["shape", "ms", "published", "picture"], rows)
    return wrong


# ---- appendix E.1 -------------------------------------------------------------------------------------------------


def reduction(_, out):
    """Checks appendix E.1: edges of 5, 5 and 2 ms out of one node: subdivided each, a device that has the node alone
    pays for all; tensors of equal cost are one in pcc unless it is told otherwise. Prints the rows, adds the cell, and
    returns what is wrong, in words."""
    node = {"fpgaLatency": 1, "cpuLatency": 1, "size": 2, "supportedOnFpga": True, "isBackwardNode": False}
    path = out / "uneven.json"
    path.write_text(json.dumps({
        "maxFPGAs": 2, "maxCPUs": 0, "maxSizePerFPGA": 6, "nodes": [{**node, "id": i, "size": 6 if i == 0 else 2}
                                                                   for i in range(4)],
        "edges": [{"sourceId": 0, "destId": i + 1, "cost": c} for i, c in enumerate((5, 5, 2))]}), encoding="utf-8")
    rows, wrong = [], []
    for how, wanted in (("shared", 7), ("apart", 12)):
        Run([PCC, path, "-p", "subdivide,dp-place", f"--uneven-edges={how}", "-q", "-o", out / "split.json"]).need()
        loads = json.loads((out / "split.json").read_text(encoding="utf-8"))["fpgas"]
        got = next(d["load"] for d in loads if d["nodes"] == [0]) - node["fpgaLatency"]
        rows.append([how, f"{got:g}", wanted])
        if abs(got - wanted) > 1e-9:
            wrong.append(f"E.1, {how}: {got} ms, wanted {wanted}")
    cell(PLACEMENT, "appendix E.1", "edges of 5, 5 and 2, each subdivided", "12", f"{got:g}") # "apart"
    print("\nE.1: transfers of a node whose edges cost 5, 5 and 2 ms")
    table(["--uneven-edges", "ms", "wanted"], rows)
    return wrong


PARTS = {"table3": table_3, "figure8": figure_8, "figure10": figure_10, "reduction": reduction}


def paper(args):
    """The command: makes the parts of the paper that were asked for. Returns the exit code."""
    folder, wrong = Path(args.folder), []
    workloads_in(folder, TABLE_3, large=True)
    with tempfile.TemporaryDirectory() as tmp:
        out = Path(args.output or tmp)
        out.mkdir(parents=True, exist_ok=True)
        for name, make in PARTS.items():
            wrong += make(folder, out) if args.part in (None, name) else []
    for line in wrong:
        print(f"FAILED: {line}")
    print(f"{len(wrong)} failed")
    return 1 if wrong else 0
