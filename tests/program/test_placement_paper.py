#!/usr/bin/env python3
"""What pcc-bench shows of the placement paper beside Table 1.

usage: test_placement_paper.py

1. Table 2's judge takes what the paper has and complains of throughput that is a tenth off.
2. The paper's Table 2 is that of its Table 1, to a hundredth, but for what two roundings explain.
3. Sums over layers, of a workload by hand; a layer that is left out is noticed.
4. shared: pcc-bench paper: its files are there, the last sums are all times of the workload, added up here, the
pictures have all nodes; pcc-bench throughput --relative on two workloads."""
# extras: shared
import contextlib
import csv
import io
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish

SOURCE = Path(os.environ.get("PCC_SOURCE", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "tools/bench"))
sys.dont_write_bytecode = True
import placement_paper

OFF = 0.02 # both of a ratio are rounded, and it is


def table_1():
    return runpy.run_path(str(SOURCE / "tools/bench/pcc-bench"), run_name="bench")["PUBLISHED"]


def judge():
    published = table_1()
    rows = [[name, placement_paper.RUN_AS.get(c, c), text[c]] for name, text in published.items()
            for c in ("dp", *placement_paper.COLUMNS) if text[c] != "-"]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        check(not placement_paper.relative(rows, published), "Table 2: the published values fail")
    check("1.27 (1.27)" in said.getvalue(), "Table 2: BERT-3 is not 1.27 times as fast")
    mean = re.search(r"\| scotch +\| [^|]*\| (\S+) \(1.5;", said.getvalue())
    check(mean and mean[1] == "1.50", "section 6: the mean of Scotch's is not the published 1.50")
    for planner, factor in (("expert", 1.1), ("expert", 0.9), ("one", 1.1), ("auto", 1.1)):
        spoilt = [[n, p, str(float(ms) * factor) if p == planner else ms] for n, p, ms in rows]
        with contextlib.redirect_stdout(io.StringIO()):
            wrong = placement_paper.relative(spoilt, published)
        check(len(wrong) >= 8, f"Table 2: {planner} times {factor} is not noticed")
    for name, text in placement_paper.PUBLISHED.items():
        for c in placement_paper.COLUMNS:
            one = published[name][c]
            check((one == "-") == (text[c] == "-"), f"{name}, {c}: one table has it, the other not")
            if one != "-" and c != "pipedream":
                ratio = float(published[name]["dp"]) / float(one)
                check(abs(ratio - float(text[c])) < OFF, f"{name}, {c}: Table 1 {ratio}, Table 2 {text[c]}")


def sums():
    nodes = [{"id": i, "name": f"n{i}", "isBackwardNode": i > 2, "fpgaLatency": 1 << i, "colorClass": i % 3}
             for i in range(6)]
    workload = {"nodes": nodes, "edges": [{"sourceId": 2, "destId": 0}, {"sourceId": 0, "destId": 1}]}
    rows = placement_paper.cumulated(workload)
    check(rows == [("n2", 4, 32), ("n0", 5, 40), ("n1", 7, 56)], f"sums over layers: {rows}")
    check(placement_paper.curve(rows).count("<polyline") == 2, "the picture has not two curves")
    check(placement_paper.cumulated(dict(workload, nodes=nodes[1:])) != rows, "a layer that is left out is not noticed")


def bench(*args):
    r = subprocess.run([sys.executable, SOURCE / "tools/bench/pcc-bench", *args], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, check=False)
    check(r.returncode == 0, f"pcc-bench {args[0]}: {r.stdout[-2000:]}")
    return r.stdout


def published(folder, out):
    said = bench("paper", folder, "-o", out)
    check("27.9186" in said and "21.9084" in said, "Figure 10 has other times")
    nodes = json.loads((folder / "layer_resnet50_training.json").read_text(encoding="utf-8"))["nodes"]
    with open(out / "figure8.csv", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    for column, back in (("forward_ms", False), ("backward_ms", True)):
        whole = sum(n["fpgaLatency"] for n in nodes if bool(n["isBackwardNode"]) == back)
        got = [float(r[column]) for r in rows]
        check(abs(got[-1] - whole) < 1e-4 and got == sorted(got), f"figure 8, {column}: {got[-1]}, all layers {whole}")
    check(len(rows) == 177, f"figure 8: {len(rows)} layers")
    for name in ("contiguous", "any"):
        picture = out / f"figure10_{name}.svg"
        if f"figure10_{name}.svg" in said:
            check(picture.read_text(encoding="utf-8").count('class="node"') >= 200, f"{picture.name} lacks nodes")
    said = bench("throughput", folder, "--relative", "--only", "op_bert3_inference", "--planner=dp", "--planner=auto")
    check("1.27 (1.27)" in said, "Table 2: BERT-3 is not 1.27 times as fast")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        if extras.extra() == "shared":
            published(extras.shared("workloads/throughput"), Path(tmp))
        else:
            judge()
            sums()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
