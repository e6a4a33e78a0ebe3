#!/usr/bin/env python3
"""How long a browser takes to open report.html (docs/pictures.md).

usage: report_opens.py [--nodes N] [--runs N] [--limit SECONDS] [--pcc PROGRAM]

A generated GPT of about N nodes (10,000) is planned for four devices; Chromium without a window loads its page, which
runs the page's program, and writes what has come of it (--dump-dom).  Printed: bytes of the page, and the least time of
the runs, with the browser's own start, which an empty page shows.  Exit 1: the least is above the limit (3 s), or the
page does not find a node that is asked for."""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PCC = Path(__file__).resolve().parents[2] / "build/release/pcc"


def opened(browser, path, folder, place=""):
    """The page after its program has run, and the seconds that the browser took."""
    start = time.perf_counter()
    r = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                        f"--user-data-dir={folder}/profile", "--dump-dom", path.as_uri() + place],
                       capture_output=True, text=True, timeout=600)
    took = time.perf_counter() - start
    if r.returncode or "CONSOLE" in r.stderr:
        sys.exit(f"{path.name}: exit {r.returncode}: {r.stderr[-400:]}")
    return r.stdout, took


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--nodes", type=int, default=10000)
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--limit", type=float, default=3)
    p.add_argument("--pcc", type=Path, default=PCC)
    args = p.parse_args()
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        sys.exit("no chromium")
    with tempfile.TemporaryDirectory() as name:
        temp = Path(name)
        layers = max(1, args.nodes // 29)  # nodes of a layer of pcc-gen's GPT
        subprocess.run([args.pcc.parent / "pcc-gen", "gpt", "--layers", str(layers), "--width", "64", "--heads", "4",
                        "--no-weights", "-o", temp / "gpt.onnx"], check=True)
        subprocess.run([args.pcc, temp / "gpt.onnx", "-q", "-d", "4xa100", "-Wno-guessed-dim", "-o",
                        temp / "gpt.html", "-o", temp / "gpt.json"], check=True)
        (temp / "empty.html").write_text("<!doctype html><title>empty</title>")
        names = [n for d in json.loads((temp / "gpt.json").read_text())["devices"] for n in d["nodes"]]
        empty = min(opened(browser, temp / "empty.html", temp)[1] for _ in range(args.runs))
        found = [opened(browser, temp / "gpt.html", temp, f"#find={names[-1]}") for _ in range(args.runs)]
        least = min(took for _, took in found)
        print(f"{len(names)} nodes, {(temp / 'gpt.html').stat().st_size / 1e6:.2f} MB: {least:.2f} s, of these the "
              f"browser's start {empty:.2f} s")
        shown = found[0][0].count(names[-1])
        return 0 if least <= args.limit and shown > 1 else 1


if __name__ == "__main__":
    sys.exit(main())
