#!/usr/bin/env python3
"""Plans that no contiguous planner would make, cut into parts, run in ONNX Runtime and compared with the whole
model bit by bit.

usage: noncontiguous.py [--sets=top,tiny,real] [--most=BYTES] [--seeds=N] [--kinds=each,runs,stripes]
                        [--planners=anneal-place,local-place,scotch-place,metis-place] [NAME ...]

For each model over 2, 3 and 4 devices, seeds 1 to N (default 1), a plan of each kind: a random device for
each class of nodes that must stay together (each), one that changes now and then (runs), stretches of
equal length that go round all devices again and again (stripes).  Then the plans of planners that are not
bound to contiguous ones, where this pcc has them; an empty list is none.  Models of exported/real get random
weights of up to --most bytes (default 300 MB) and are left out above.  Needs SHARED/models; scratch space in TMPDIR."""
import collections
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from common import PCC, Run, help_or_go, need_shared, table, verdict
from weights import DIMS, SETS, fetch, inputs_of, outcome_of

PLANNERS = ["anneal-place", "local-place", "scotch-place", "metis-place"]  # these make plans of any form
KINDS = ["each", "runs", "stripes"]
LINK = ["--link", "1TB/s,0us"]
ENV = {**os.environ, "PATH": "/nonexistent"}  # no pictures


def classes(model, options=()):
    """(lists of names of nodes that stay together, in topological order; ""), or (None, the error)."""
    run = Run([PCC, model, *options, "-q", "-p", "contract", "--print-ir-after=contract"])
    if "# level " not in run.out:
        return None, run.out.strip().splitlines()[-1]
    level = run.out[run.out.rindex("# level "):].splitlines()[1:]
    return [row[row.index(" {") + 2:-1].split(", ") for row in level if row.startswith("#   ")], ""


def choose(kind, n, devices, rng):
    """Draws a device for each of n colocation classes: "each": independently; "stripes": in stretches of equal length;
    else in stretches of random lengths."""
    if kind == "each":
        return [rng.randrange(devices) for _ in range(n)]
    if kind == "stripes":
        length = max(1, n // (devices * rng.randint(2, 4)))
        return [k // length % devices for k in range(n)]
    stay = max(2, n // (4 * devices))  # classes after which a device is drawn anew, on average
    dev = [rng.randrange(devices)]
    while len(dev) < n:
        dev.append(dev[-1] if rng.randrange(stay) else rng.randrange(devices))
    return dev


def write_plan(path, groups, dev, devices):
    """Writes plan JSON for plan{from} with the nodes of each group on its device, a number of `dev`. Returns its
    path."""
    lists = [{"name": f"acc{k}", "nodes": [name for group, d in zip(groups, dev) if d == k for name in group]}
             for k in range(devices)]
    path.write_text(json.dumps({"pcc_plan": 1, "devices": lists}))
    return path


def try_plan(model, how, devices, inputs, name):
    """Splits a model by the passes `how`, verifies the split, and removes it. Returns (outcome in a word, number of
    parts, number of devices that have parts, the last line of output). name: the model's in DIMS; inputs: see
    inputs_of()."""
    out = model.parent / "split"
    run = Run([PCC, model, "-d", f"{devices}xa100", *DIMS.get(name, []), *LINK, "-p", how, "-q", "-o", out], env=ENV)
    try:
        outcome, manifest, text = outcome_of(run, model, out, inputs)
        if not manifest:
            return outcome, 0, 0, text
        used = {p["device"] for p in manifest["parts"]}
        listed = {d["name"]: d["parts"] for d in manifest["devices"]}
        right = all(p["file"] in listed[p["device"]] for p in manifest["parts"])
        return outcome if right else "WRONG", len(manifest["parts"]), len(used), text
    finally:
        shutil.rmtree(out, ignore_errors=True)


def plans(model, groups, devices, option):
    """Yields (name, pipeline) of the plans to try: random ones, which are written to a file beside the model, and those
    of planners."""
    for seed in range(1, option["seeds"] + 1):
        for kind in option["kinds"]:
            rng = random.Random(f"{model.stem} {kind} {devices} {seed}")
            path = write_plan(model.parent / "random.json", groups, choose(kind, len(groups), devices, rng), devices)
            yield f"{kind} {seed}", f"plan{{from={path}}}"
    for planner in option["planners"]:
        yield planner, planner


def try_model(path, option):
    """Tries all plans of a model over 2, 3 and 4 devices. Returns the rows of the table; one row "left out" if there is
    nothing to try. Ends early if ONNX Runtime does not run the model."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        inputs = inputs_of(path, Path(folder))
        model, why = fetch(path, Path(folder), option["most"], False)
        groups, why = classes(model, DIMS.get(path.stem, [])) if model else (None, why)
        if not groups:
            return [[path.parent.name, path.stem, "-", "-", 0, 0, "left out", why or "nothing to place"]]
        for devices in (2, 3, 4):
            for kind, how in plans(model, groups, devices, option):
                outcome, parts, used, text = try_plan(model, how, devices, inputs, path.stem)
                rows.append([path.parent.name, path.stem, devices, kind, parts, used, outcome,
                             "" if outcome == "equal" else text[-160:]])
                if outcome == "cannot run":  # nor would it with another plan
                    return rows
    return rows


def main():
    help_or_go()
    option = dict(a[2:].split("=", 1) for a in sys.argv[1:] if a.startswith("--"))
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    option["most"] = int(option.get("most", 300_000_000))
    option["seeds"] = int(option.get("seeds", 1))
    option["kinds"] = [k for k in option.get("kinds", ",".join(KINDS)).split(",") if k]
    known = Run([PCC, "--list-passes"]).need().out.split()
    option["planners"] = [p for p in option.get("planners", ",".join(PLANNERS)).split(",") if p in known]
    paths = [p for s in option.get("sets", "top,tiny,real").split(",")
             for p in sorted(need_shared(SETS[s]).glob("*.onnx")) if not names or p.stem in names]
    rows = []
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork"), max_tasks_per_child=None) as pool:
        for found in pool.map(try_model, paths, [option] * len(paths)):
            rows += found
            for row in found:
                print(" ".join(map(str, row)), flush=True)
    counts = collections.Counter((r[0], r[3].split()[0], r[6]) for r in rows)
    several = sum(r[4] > r[5] for r in rows)
    table(["set", "plans", "outcome", "splits"], [[*key, n] for key, n in sorted(counts.items())])
    bad = [r for r in rows if r[6] in ("WRONG", "refused")]
    table(["set", "model", "devices", "plan", "parts", "used", "outcome", "remark"], bad)
    verdict(not bad, f"{len(paths)} models, {len(rows)} splits, {several} with several parts on a device, "
                     f"{sum(r[4] for r in rows)} parts, {len(bad)} wrong")


if __name__ == "__main__":
    sys.exit(main())
