#!/usr/bin/env python3
"""How long a browser takes to open report.html (docs/pictures.md).

usage: report_opens.py [--nodes N] [--runs N] [--limit SECONDS] [--pcc PROGRAM]

A generated GPT of about N nodes (10,000) is planned for four devices; Chromium without a window loads its page, which
runs the page's program, and writes what has come of it (--dump-dom).  Printed: bytes of the page, and the least time of
the runs, with the browser's own start, which an empty page shows.  Exit 1: the page takes more than the limit (3 s)
beside that start, or does not find a node that is asked for."""
import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PCC = Path(__file__).resolve().parents[2] / "build/release/pcc"


def opened(browser, path, folder, place=""):
    """Opens the page in the browser, at `place` ("#..."): the page's text after its program has run, and the seconds
    that the browser took, by the clock and of processors. Ends the script if the browser fails or the page's program
    logs anything. folder: for the browser's files."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                        f"--user-data-dir={folder}/profile", "--dump-dom", path.as_uri() + place],
                       capture_output=True, text=True, timeout=600)
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if r.returncode or "CONSOLE" in r.stderr:
        sys.exit(f"{path.name}: exit {r.returncode}: {r.stderr[-400:]}")
    return r.stdout, took, sum(getattr(after, k) - getattr(before, k) for k in ("ru_utime", "ru_stime"))


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
                        temp / "gpt.html"], check=True)
        (temp / "empty.html").write_text("<!doctype html><title>empty</title>")
        names = re.findall(r'^\["([\w/.]+)"', (temp / "gpt.html").read_text(), re.M)  # a line for each node
        empty = [opened(browser, temp / "empty.html", temp) for _ in range(args.runs)]
        found = [opened(browser, temp / "gpt.html", temp, f"#find={names[-1]}") for _ in range(args.runs)]
        least, start = (min(row[1] for row in rows) for rows in (found, empty))
        cpu, idle = (min(row[2] for row in rows) for rows in (found, empty))
        print(f"{len(names)} nodes, {(temp / 'gpt.html').stat().st_size / 1e6:.2f} MB: {least:.2f} s ({cpu:.2f} s of "
              f"processors), of these the browser's start {start:.2f} s ({idle:.2f} s)")
        shown = found[0][0].count(names[-1])  # once in the page's own data, again where the node is found
        return 0 if least - start <= args.limit and shown > 1 else 1


if __name__ == "__main__":
    sys.exit(main())
