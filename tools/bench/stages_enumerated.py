#!/usr/bin/env python3
"""pipeline-place beside all plans of stages, on small drawn profiles.

usage: stages_enumerated.py [--profiles 100] [--seed 1]

Profiles of 3 to 6 layers on 2 to 4 devices, with fast and slow links, servers of two devices, 1 to 8 micro-batches, and
each schedule but interleaved, with and without tight memory. For each profile every plan is judged that gives each
stage layers in a row and devices in a row, runs forward as far ahead as one of AHEAD says, and runs forward again in no
stage, in the first, or in all where memory is tight. Prints each profile with a fault: pipeline-place takes above 5 per
cent more than the best of these plans, finds none where one fits, says "optimal" above it, or gives a bound above it.
Exit code 1 if the first fault has above one profile in a hundred, or another one any.

PCC (environment): the program (common.py)."""
import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

from common import PCC, Run, help_or_go, plan, verdict

TIMES = "forward_compute_time={}, backward_compute_time={}, activation_size={}, parameter_size={}"
FAR = 0.05 # how much more than the best plan a plan may take
# Forward passes that stage k of n runs before its first backward pass, of m micro-batches.
AHEAD = (lambda k, n, m: min(m, n - k), lambda k, n, m: min(m, 2 * (n - k) - 1), lambda k, n, m: m)
LINKS = ("0.1GB/s,0us", "1GB/s,0us", "10GB/s,5us", "1000GB/s,0us")


class Profile:
    """A drawn profile. layers: of each layer its forward and backward ms, and its bytes of activations and of
    parameters; devices: their number; memory: KB of a device, or None; options: of pcc."""

    def __init__(self, rng):
        """Draws a profile."""
        self.layers = []
        kind = rng.choice(("even", "any", "heavy"))
        for _ in range(rng.randint(3, 6)):
            any_time = rng.choice((0.5, 1, 2, 3)) if kind == "any" else 8 if rng.random() < 0.3 else 0.5
            forward = 1 if kind == "even" else any_time
            activations = rng.choice((1000, 10**5, 10**6, 4 * 10**6))
            self.layers.append((forward, forward * rng.choice((1, 2, 2, 3)), activations,
                                rng.choice((0, 1000, 10**6, 10**7))))
        self.devices, self.micro_batches = rng.randint(2, 4), rng.choice((1, 2, 4, 8))
        self.schedule = rng.choice(("dapple", "dapple", "gpipe", "zb-h1"))
        whole = sum(2 * layer[3] + layer[2] * self.micro_batches for layer in self.layers)
        self.memory = max(1, int(whole * rng.choice((0.3, 0.5, 0.8)) / 1000)) if rng.random() < 0.4 else None
        servers = self.devices == 4 and rng.random() < 0.3
        self.options = ["--objective=iteration-time", f"--link={rng.choice(LINKS)}", "--slices=any",
                        f"--micro-batches={self.micro_batches}", f"--schedule={self.schedule}",
                        *(["--group=2:50GB/s,0us"] if servers else [])]

    def text(self):
        """The profile as a file: a chain of layers."""
        lines = [f"n{i} -- l{i} -- {TIMES.format(*layer)}" for i, layer in enumerate(self.layers)]
        lines += [f"\tn{i} -- n{i + 1}" for i in range(len(self.layers) - 1)]
        return "\n".join([*lines, ""])

    def cluster(self, memory=True):
        """Words for -d. memory: with the memory of devices."""
        return f"{self.devices}xv100" + (f":{self.memory}KB" if memory and self.memory else "")

    def plans(self):
        """All plans, each a list of stages: numbers of layers and of devices, forward passes ahead, whether forward
        runs again."""
        for n in range(1, min(len(self.layers), self.devices) + 1):
            recomputing = {(0,) * n, (1,) * n, (1,) + (0,) * (n - 1)} if self.memory else {(0,) * n}
            rules = AHEAD[2:] if self.schedule == "gpipe" else AHEAD
            aheads = {tuple(rule(k, n, self.micro_batches) for k in range(n)) for rule in rules}
            for layers in compositions(len(self.layers), n):
                for used in range(n, self.devices + 1):
                    for devices in compositions(used, n):
                        for ahead in aheads:
                            for again in recomputing:
                                yield list(zip(layers, devices, ahead, again))


def compositions(total, n):
    """All ways to write a number as a sum of n positive numbers in a row."""
    if n == 1:
        yield (total,)
        return
    for first in range(1, total - n + 2):
        for rest in compositions(total - first, n - 1):
            yield (first, *rest)


def write_plan(path, form, stages):
    """Writes a plan. form: JSON of another plan of the profile; stages: as Profile.plans() has them."""
    layer = device = 0
    form["training"]["stages"], form["devices"] = [], []
    for layers, devices, ahead, again in stages:
        names = [f"acc{device + i}" for i in range(devices)]
        nodes = [f"l{layer + i}" for i in range(layers)]
        form["training"]["stages"].append({"devices": names, "ahead": ahead, "recompute": bool(again)})
        form["devices"].append({"name": names[0], "nodes": nodes + [f"{name}/backward" for name in nodes]})
        layer, device = layer + layers, device + devices
    path.write_text(json.dumps(form))


def best_plan(profile, model, tmp):
    """The least seconds of all plans that fit (None: none fits), and that plan."""
    # a plan without limit of memory, whose form the others get
    form, _ = plan(model, "-d", profile.cluster(memory=False), *profile.options, "-p", "dapple-place", tmp=tmp)
    best = (None, None)
    given, out = Path(tmp) / "given.json", Path(tmp) / "judged.json"
    for stages in profile.plans():
        write_plan(given, form, stages)
        run = Run([PCC, model, "-d", profile.cluster(), *profile.options, "-p", f"plan{{from={given}:effort=0}}", "-q",
                   "-o", out])
        if run.rc == 3: # it does not fit
            continue
        run.need()
        seconds = json.loads(out.read_text())["objective"]["value_s"]
        if best[0] is None or seconds < best[0]:
            best = seconds, stages
    return best


def complaint(profile, tmp):
    """What is wrong with the plan of a profile, in words ("": nothing), and by what share it is above the best one."""
    model = Path(tmp) / "profile.txt"
    model.write_text(profile.text())
    found, _ = plan(model, "-d", profile.cluster(), *profile.options, "-p", "pipeline-place", tmp=tmp)
    best, stages = best_plan(profile, model, tmp)
    if best is None:
        return "", 0
    if found is None:
        return f"no plan, but {stages} takes {best} s", 0
    said, above = found["objective"], found["objective"]["value_s"] / best - 1
    if said["bound_s"] and said["bound_s"] > best * (1 + 1e-9):
        return f"bound {said['bound_s']} s, but {stages} takes {best} s", above
    if said["status"] == "optimal" and above > 1e-9:
        return f"optimal with {said['value_s']} s, but {stages} takes {best} s", above
    return f"{100 * above:.1f} % above {stages}" if above > FAR else "", above


def main():
    help_or_go()
    ap = argparse.ArgumentParser()
    ap.add_argument("--profiles", type=int, default=100)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    far = wrong = 0
    with tempfile.TemporaryDirectory() as tmp:
        for i in range(args.profiles):
            profile = Profile(random.Random(args.seed * 1000003 + i))
            said, above = complaint(profile, tmp)
            far += bool(said) and above > FAR
            wrong += bool(said) and above <= FAR
            if said:
                print(f"{i}: {profile.cluster()} {' '.join(profile.options)}: {said}\n{profile.text()}", flush=True)
    verdict(not wrong and 100 * far <= args.profiles,
            f"{far} of {args.profiles} plans above {FAR:.0%} more than the best plan of stages, {wrong} wrong claims")


if __name__ == "__main__":
    sys.exit(main())
