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
# model, size of its sequence, ways, ms
ROWS = [(GPT13, 1024, 2, 91.9), (GPT13, 1024, 4, 52.2), (GPT13, 1024, 8, 32.8), (GPT2, 128, 2, 3.31),
        (GPT2, 128, 4, 3.18), (GPT2, 128, 8, 3.40), (BERT, 128, 2, 3.06), (BERT, 128, 4, 2.87)]


def main():
    slow = 0
    with tempfile.TemporaryDirectory() as name:
        for k, (model, sequence, ways, most) in enumerate(ROWS):
            path, cluster = Path(name, f"{k}.onnx"), Path(name, "cluster.json")
            shape, *options = model.split()
            subprocess.run([PCC.parent / "pcc-gen", shape, "-o", path, "--no-weights", *options], check=True)
            cluster.write_text(json.dumps({"classes": [{"preset": "a100", "count": ways, "kernels": {}}]}))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            r = subprocess.run([PCC, path, "-d", cluster, "--group", f"{ways}:300GB/s,2us", "--network=direct",
                                "--io=free", "--part-cost=0", "--dim", f"sequence={sequence}",
                                "-p", f"shard{{ways={ways}}}"], capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime - before.ru_utime
            found = re.search(r"\(([\d.]+) (\w+) to ([\d.]+) (\w+) of makespan\)", r.stdout)
            if r.returncode or not found:
                print(f"{model}: {r.stderr}")
                return 1
            one, took = float(found[1]) * UNIT[found[2]], float(found[3]) * UNIT[found[4]]
            good = took <= most and cpu <= SECONDS
            slow += not good
            print(f"{model}, {ways} ways: {one:.4g} ms to {took:.4g} ms, at most {most} ms; {cpu:.2f} s of CPU"
                  + ("" if good else ": TOO LONG"))
    return 1 if slow else 0


sys.exit(main())
