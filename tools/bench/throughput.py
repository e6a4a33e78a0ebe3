#!/usr/bin/env python3
"""The placement paper's Table 1, inference rows: value, ideals, time and memory of dp-place.

Published: the optimum as the paper's own program prints it, and the number of ideals.
Exit code 0: all equal, each proven within 1 CPU second and 32 MB.  77: the workloads are not there."""
import json
import sys
import tempfile

from common import PCC, Run, help_or_go, need_shared, table, verdict

PUBLISHED = {  # workload: (time per sample as printed, ideals)
    "op_bert3_inference": ("27.9186", 1428),
    "op_bert6_inference": ("29.5795", 1923),
    "op_bert12_inference": ("147.478", 2906),
    "op_resnet50_inference": ("124.349", 241),
    "layer_bert24_inference": ("17.7899", 30),
    "layer_resnet50_inference": ("33.7747", 242),
    "layer_inceptionv3_inference": ("51.5519", 36596),
    "layer_gnmt_inference": ("32.9107", 17914),
}


def main():
    help_or_go()
    folder = need_shared("workloads/throughput")
    rows, ok = [], True
    with tempfile.TemporaryDirectory() as tmp:
        for name, (value, ideals) in PUBLISHED.items():
            out = f"{tmp}/plan.json"
            count = Run([PCC, folder / f"{name}.json", "-p", "dp-place{count-ideals=true}"]).need()
            run = Run([PCC, folder / f"{name}.json", "-p", "dp-place", "-q", "-o", out]).need()
            got = json.load(open(out))["maxLoad"]
            same = f"{got:.6g}" == value
            counted = f"{ideals} ideals" in count.out
            proven = "optimal" in count.out
            fast = run.cpu <= 1 and run.mib <= 32
            ok = ok and same and counted and proven and fast
            rows.append([name, value, f"{got:.6g}", ideals, "yes" if counted else "NO",
                         "yes" if proven else "NO", f"{run.cpu:.3f}", f"{run.mib:.1f}"])
    table(["workload", "published", "pcc", "ideals", "equal", "proven", "CPU s", "MiB"], rows)
    verdict(ok, "8 rows: values and ideal counts as published, each proven within 1 CPU second and 32 MB")


if __name__ == "__main__":
    sys.exit(main())
