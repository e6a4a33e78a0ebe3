#!/usr/bin/env python3
"""Are models that pcc-gen makes right when devices share their operators?

    sharded_generated.py [--ways 2,3,4,8] [--sums none,any] [SHAPE...]

Each is split and run as sharded_exports.py does, by the best choice and by a random one, also with numbers of heads,
widths and vocabularies that few numbers divide, a batch of 3 and one token. Prints a line for each run, and counts;
exits with 1 when one is wrong. Refused are training graphs, and models of which no axis can be cut in so many ways."""
import argparse
import collections
import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

from common import PCC_GEN
from sharded_exports import judge

SMALL = {"batch": 3, "sequence": 5, "decoder_sequence": 4}
TOKEN = {"batch": 1, "sequence": 1, "decoder_sequence": 1}
# Shape and options, sizes of dimensions
MODELS = [
    ("gpt --layers 2 --width 64 --heads 8 --vocab 60", SMALL),
    ("gpt --layers 1 --width 60 --heads 5 --vocab 50257", TOKEN),
    ("gpt --kv --layers 1 --width 48 --heads 6 --vocab 61", SMALL),
    ("gpt --untied --layers 1 --width 65 --heads 5 --vocab 64", TOKEN),
    ("bert --layers 2 --width 64 --heads 8 --vocab 60", SMALL),
    ("bert --layers 1 --width 65 --heads 5 --ffn 67 --vocab 31", TOKEN),
    ("llama --kv --layers 1 --width 256 --heads 8 --kv-heads 4 --ffn 96 --vocab 61", SMALL),
    ("llama --layers 1 --width 120 --heads 6 --kv-heads 3 --ffn 91 --vocab 64", TOKEN),
    ("moe --layers 1 --width 64 --heads 4 --kv-heads 4 --ffn 24 --vocab 60", SMALL),
    ("moe --layers 1 --width 60 --heads 5 --kv-heads 5 --ffn 25 --experts 3 --vocab 61", TOKEN),
    ("encoder-decoder --layers 1 --width 64 --heads 8 --vocab 60", SMALL),
    ("encoder-decoder --layers 1 --width 45 --heads 5 --vocab 61", TOKEN),
    ("dlrm --tables 3 --rows 50 --width 12 --ffn 24", {"batch": 3}),
    ("dlrm --tables 2 --rows 50 --width 7 --ffn 15 --features 5", {"batch": 1}),
    ("resnet --width 8 --blocks 1,1 --size 32", {"batch": 1}),
    ("resnet --width 5 --depth 18 --size 40 --classes 11", {"batch": 3}),
    ("inception --blocks 2 --width 8 --size 32", {"batch": 3}),
    ("inception --blocks 1 --width 5 --size 33", {"batch": 1}),
    ("unet --layers 1 --width 32 --size 16", {"batch": 1}),
    ("detector --layers 1 --width 16 --levels 2 --classes 2 --boxes 10 --size 64", {"batch": 1}),
    ("dense --layers 3 --width 64", {"batch": 3}),
    ("dense --layers 2 --width 63", {"batch": 1}),
    ("star --nodes 20", {}),
    ("ladder --nodes 40", {}),
    ("train --layers 1 --width 32 --heads 2 --vocab 30", SMALL),
]
DRAWS = (0, 2)  # the best choice, and a random one by a seed other than judge()'s own


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("shapes", nargs="*")
    p.add_argument("--ways", default="2,3,4,8")
    p.add_argument("--sums", default="none,any")
    args = p.parse_args()
    all_sums, count = args.sums.split(","), collections.Counter()
    for text, dim in MODELS:
        shape, *options = text.split()
        if args.shapes and shape not in args.shapes:
            continue
        with tempfile.TemporaryDirectory() as name:
            model = Path(name, "model.onnx")
            subprocess.run([PCC_GEN, shape, "-o", model, *options], check=True)
            for sums, ways, draw in itertools.product(all_sums, map(int, args.ways.split(",")), DRAWS):
                kind, said = judge(model, ways, argparse.Namespace(sums=sums, draw=draw, dim=dim),
                                   Path(name, f"{sums}{ways}.{draw}"))
                count[sums, kind] += 1
                print(f"{kind}: {text}, {ways} ways, sums={sums}, draw={draw}: {said}", flush=True)
    for sums in all_sums:
        print(f"sums={sums}:", ", ".join(f"{k} {n}" for (s, k), n in sorted(count.items()) if s == sums))
    return 1 if any(kind == "wrong" for _, kind in count) else 0


if __name__ == "__main__":
    sys.exit(main())
