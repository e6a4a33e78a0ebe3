#!/usr/bin/env python3
"""Are sharded plans as quick as they were found to be?

    sharding.py [PCC]

Models that pcc-gen makes, on a100 at peak rates (no figures of kernels) with inner links of 300GB/s,2us, by
--network=direct, --io=free and parts at no cost: the makespan, the time on one device, and at most how long a
plan may take. Exits with 1 when a plan takes longer, or choosing it more than SECONDS of CPU."""
import json
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PCC = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/pcc")
SECONDS = 2
UNIT = {"ms": 1.0, "us": 1e-3, "s": 1e3}
GPT13 = "gpt --layers 24 --width 2048 --heads 16 --vocab 50304"
GPT2 = "gpt --layers 12 --width 768 --heads 12 --vocab 50257"
BERT = "bert --layers 12 --width 768 --heads 12"
# model, size of its sequence, ways, ms without sums over devices and with them
ROWS = [(GPT13, 1024, 2, 91.9, 89.65), (GPT13, 1024, 4, 52.2, 50.25), (GPT13, 1024, 8, 32.8, 30.66),
        (GPT2, 128, 2, 3.31, 2.9), (GPT2, 128, 4, 3.18, 2.806), (GPT2, 128, 8, 3.40, 3.145),
        (BERT, 128, 2, 3.06, 2.654), (BERT, 128, 4, 2.87, 2.49)]


def plan(path, cluster, row, sums):
    """Prints what a plan takes.  Returns whether it is as quick as it was found to be; None: there is no plan."""
    model, sequence, ways, *most = row
    most = most[sums]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run([PCC, path, "-d", cluster, "--group", f"{ways}:300GB/s,2us", "--network=direct", "--io=free",
                        "--part-cost=0", "--dim", f"sequence={sequence}", "-p",
                        f"shard{{ways={ways}:sums={'any' if sums else 'none'}}}"], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime
    found = re.search(r"\(([\d.]+) (\w+) to ([\d.]+) (\w+) of makespan\)", r.stdout)
    if r.returncode or not found:
        print(f"{model}: {r.stderr}")
        return None
    one, took = float(found[1]) * UNIT[found[2]], float(found[3]) * UNIT[found[4]]
    good = took <= most and cpu <= SECONDS
    print(f"{model}, {ways} ways{', sums' if sums else ''}: {one:.4g} ms to {took:.4g} ms, at most {most} ms; "
          f"{cpu:.2f} s of CPU" + ("" if good else ": TOO LONG"))
    return good


def main():
    found = []
    with tempfile.TemporaryDirectory() as name:
        for row in ROWS:
            path, cluster = Path(name, "model.onnx"), Path(name, "cluster.json")
            shape, *options = row[0].split()
            subprocess.run([PCC.parent / "pcc-gen", shape, "-o", path, "--no-weights", *options], check=True)
            cluster.write_text(json.dumps({"classes": [{"preset": "a100", "count": row[2], "kernels": {}}]}))
            found += [plan(path, cluster, row, sums) for sums in (False, True)]
    return 0 if all(found) else 1


sys.exit(main())
