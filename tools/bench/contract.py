#!/usr/bin/env python3
"""What rules of contract cost: quantised models, and those with repeated layers, over three devices of
class npu, planned freely and with each rule.  Exit code 0: contract{qdq=first} costs at most 2 % on
models of more than 1,000 nodes, and no rule but qdq=all and by=layer warns of a large class there."""
import re
import sys

from common import PCC, Run, help_or_go, need_shared, table, verdict

MODELS = ["exported/tiny/bert_qdq.onnx", "exported/real/bert_dynquant.onnx", "exported/real/bert_base_ts.onnx",
          "exported/real/swin_tiny_ts.onnx"]
RULES = ["qdq=none", "qdq=first", "qdq=all", "qdq=none:norm=true", "by=layer", "--keep-blocks"]


def measure(model, rule):
    """Places a model over three devices, with `contract` by this rule (an option of pcc, or one of the pass). Returns
    (the objective in s, number of ideals or "-", number of vertices, largest share of the time, in %, that pcc warns
    that one vertex takes; 0: it does not warn)."""
    option = [rule] if rule.startswith("--") else []
    contract = "contract" if option else f"contract{{{rule}}}"
    run = Run([PCC, model, "-d", "3xnpu", "-p", f"{contract},dp-place{{count-ideals=true}}", *option,
               "--emit", "json", "--print-ir-after=contract"]).need()
    large = [int(n) for n in re.findall(r"take (\d+) % of the time", run.out)]
    value = float(re.search(r'"value_s": ([\d.e-]+)', run.out)[1])
    ideals = re.search(r"(\d+) ideals", run.out)
    vertices = int(re.search(r"# level contract: (\d+) vertices", run.out)[1])
    return value, ideals[1] if ideals else "-", vertices, max(large, default=0)


def main():
    help_or_go()
    rows, worst, quiet = [], 0, True
    for name in MODELS:
        model, free = need_shared(f"models/{name}"), None
        for rule in RULES:
            value, ideals, vertices, large = measure(model, rule)
            free = free or value  # the first rule, qdq=none, keeps nothing together
            worst = max(worst, value / free - 1) if rule == "qdq=first" else worst
            quiet = quiet and (not large or rule in ("qdq=all", "by=layer"))
            rows.append([model.stem, rule, vertices, ideals, f"{value * 1e3:.4f}", f"{100 * (value / free - 1):+.2f}",
                         f"{large} %" if large else "-"])
    table(["model", "rule", "vertices", "ideals", "ms/sample", "% more", "largest class"], rows)
    verdict(worst <= 0.02 and quiet, f"qdq=first costs at most {100 * worst:.2f} %")


if __name__ == "__main__":
    sys.exit(main())
