#!/usr/bin/env python3
"""Are sharded plans as quick as they were found to be?

    sharding.py [PCC]

Models that pcc-gen makes, on a100 at peak rates (no figures of kernels) with inner links of 300GB/s,2us, by
--network=direct, --io=free and parts at no cost: the makespan, the time on one device, and at most how long a
plan may take. Then large models, of which only the time of choosing counts. Exits with 1 when a plan takes longer,
or choosing it more than its seconds of CPU."""
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
# model, size of its sequence, ways; most ms of a plan without sums over devices, and with them
ROWS = [(GPT13, 1024, 2, 91.9, 89.65), (GPT13, 1024, 4, 52.2, 50.25), (GPT13, 1024, 8, 32.8, 30.66),
        (GPT2, 128, 2, 3.31, 2.9), (GPT2, 128, 4, 3.18, 2.806), (GPT2, 128, 8, 3.40, 3.145),
        (BERT, 128, 2, 3.06, 2.654), (BERT, 128, 4, 2.87, 2.49)]
# model (Llama 8B; one of 100,012 nodes), size of its sequence, ways, most CPU seconds to choose a plan
LARGE = [("llama --layers 32 --width 4096 --heads 32 --kv-heads 8 --vocab 128256", 1024, 2, 2),
         ("gpt --layers 3125 --width 2048 --heads 16 --vocab 50304", 1024, 2, 5)]


def plan(path, cluster, row, sums, most, seconds):
    """Prints what a plan takes, with sums over devices or without.  row: what is printed of the model, the size of its
    sequence, ways.  Returns whether the plan takes at most `most` ms (None: it may take any time) and choosing it at
    most so many seconds of CPU; None: there is no plan."""
    model, sequence, ways = row
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run([PCC, path, "-d", cluster, "--group", f"{ways}:300GB/s,2us", "--network=direct", "--io=free",
                        "--part-cost=0", "--dim", f"sequence={sequence}", "-p",
                        f"shard{{ways={ways}:sums={'any' if sums else 'none'}}}"], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    found = re.search(r"\(([\d.]+) (\w+) to ([\d.]+) (\w+) of makespan\)", r.stdout)
    if r.returncode or not found:
        print(f"{model}: {r.stderr}")
        return None
    one, took = float(found[1]) * UNIT[found[2]], float(found[3]) * UNIT[found[4]]
    good = (most is None or took <= most) and cpu <= seconds
    print(f"{model}, {ways} ways{', sums' if sums else ''}: {one:.4g} ms to {took:.4g} ms"
          f"{'' if most is None else f', at most {most} ms'}; {cpu:.2f} s of CPU, at most {seconds} s"
          + ("" if good else ": TOO LONG"))
    return good


def main():
    found = []
    with tempfile.TemporaryDirectory() as name:
        path, cluster = Path(name, "model.onnx"), Path(name, "cluster.json")
        rows = [(*row, without, with_sums, SECONDS, {}) for *row, without, with_sums in ROWS]
        rows += [(*row, None, None, seconds, {"memory": "1TiB"}) for *row, seconds in LARGE]
        for model, sequence, ways, without, with_sums, seconds, memory in rows:
            shape, *options = model.split()
            subprocess.run([PCC.parent / "pcc-gen", shape, "-o", path, "--no-weights", *options], check=True)
            cluster.write_text(json.dumps({"classes": [{"preset": "a100", "count": ways, "kernels": {}, **memory}]}))
            for sums, most in ((False, without), (True, with_sums)):
                found.append(plan(path, cluster, (model, sequence, ways), sums, most, seconds))
    return 0 if all(found) else 1


sys.exit(main())
