"""How far plans of training pipelines can be from the best: bounds of the six profiles, and of a chain of 10,000
layers on 512 devices; see pipelines.py.  tests/unit/passes/stages/stage_bound.c runs every plan of 12 layers
of that."""
import json

from common import PCC, Run, table, too_slow
from training import CLUSTERS, MODELS, V100

SIX = ["VGG-19", "GNMT-16", "BERT-48", "XLNet-36", "AmoebaNet-36", "BERT-24"]
LAYERS, CUT, WINDOWS = 10_000, 12, 8
CHAIN_CPU = 10 # CPU seconds that planning may take
LINKS = ["--slices=any", "--profiled-batch=1", "--micro-batch-size=1"]


def chain(path, first, n):
    """Writes a profile to `path`, and returns `path`: n layers, from number `first` on, of one endless chain. A layer
    takes 1 to 3 ms forward and 2 to 6 ms backward, sends 1 to 4 MB to the next one and has 0 to 20 MB of parameters."""
    draw, lines = 1, []
    for v in range(first + n):
        figure = []
        for _ in range(4):  # drawn as stage_bound.c draws them
            draw = (1103515245 * draw + 12345) % 2 ** 31
            figure.append(draw >> 16)
        if v >= first:
            lines.append(f"n{v} -- a -- forward_compute_time={1 + figure[0] % 3}, "
                         f"backward_compute_time={2 + figure[1] % 5}, "
                         f"activation_size={10 ** 6 * (1 + figure[2] % 4)}, "
                         f"parameter_size={10 ** 6 * (figure[3] % 21)}\n")
    lines += [f"\tn{v - 1} -- n{v}\n" for v in range(first + 1, first + n)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def plan(model, args, out):
    """Plans an iteration. Returns its seconds, the bound in seconds, the number of devices of each stage, and CPU
    seconds; None if no plan fits."""
    run = Run([PCC, model, "--objective=iteration-time", *args, "-o", out])
    if run.rc == 3:
        return None
    run.need()
    made = json.loads(out.read_text(encoding="utf-8"))
    stages = [len(s["devices"]) for s in made["training"]["stages"]]
    return made["objective"]["value_s"], made["objective"]["bound_s"], stages, run.cpu


def large(_, tmp):
    """Plans 10,000 layers on 64 servers of 8 devices, and windows of 12 of these layers on two servers of two (as
    stage_bound.c does), and compares bounds. Prints the rows and returns what is wrong, in words."""
    print()
    rows, wrong = [], []
    model = chain(tmp / "chain.txt", 0, LAYERS)
    for count in (64, 512, 4096):
        args = ["-d", "512xv100", "--group=8:25GB/s,0us", "--link=10GB/s,0us", *LINKS, f"--micro-batches={count}",
                "-p", "dapple-place"]
        value, bound, stages, cpu = plan(model, args, tmp / "p.json")
        gap = f"{100 * (1 - bound / value):.2f} %"
        rows.append([LAYERS, 512, count, len(stages), f"{value:.3f}", gap, f"{cpu:.2f}"])
        if too_slow(f"{LAYERS} layers, {count} micro-batches", cpu, CHAIN_CPU) or not 0 < bound <= value:
            wrong.append(f"{LAYERS} layers, {count} micro-batches: {value} s, bound {bound} s, {cpu:.2f} s of CPU")
    for i in range(WINDOWS):
        first, count = 1249 * i, (4, 8, 16)[i % 3]
        model = chain(tmp / "chain.txt", first, CUT)
        args = ["-d", "4xv100", "--group=2:25GB/s,0us", "--link=1GB/s,0us", *LINKS, f"--micro-batches={count}",
                "-p", "dapple-place"]
        value, bound, stages, cpu = plan(model, args, tmp / "p.json")
        gap = f"{100 * (1 - bound / value):.2f} %"
        rows.append([CUT, 4, count, len(stages), f"{value:.3f}", gap, f"{cpu:.2f}"])
        if not 0 < bound <= value:
            wrong.append(f"{CUT} layers from {first} on: {value} s, bound {bound} s")
    table(["layers", "devices", "micro-batches", "stages", "s", "gap", "cpu s"], rows)
    return wrong


def gaps(folder, tmp):
    """Plans the six profiles on 16 devices by dapple-place and pipeline-place, and compares bounds. Prints the rows,
    with how far plans can be from the best, and returns what is wrong, in words."""
    print()
    rows, wrong = [], []
    for name in SIX:
        batch = MODELS[name].batch
        for label, args in CLUSTERS.items():
            cells = []
            for planner in ("dapple-place", "pipeline-place"):
                found = plan(folder / MODELS[name].profile,
                             ["-d", "16xv100" + V100, f"--global-batch={batch}", "--slices=any", *args, "-p", planner],
                             tmp / "p.json")
                if found is None:
                    wrong.append(f"{name}, {label}: no plan of {planner}")
                    cells += ["no room", "", ""]
                    continue
                value, bound, _, cpu = found
                cells += [f"{value * 1e3:.1f}", f"{100 * (1 - bound / value):.2f} %", f"{cpu:.2f}"]
                if not 0 < bound <= value:
                    wrong.append(f"{name}, {label}: {value} s, bound {bound} s")
            rows.append([name, batch, label, *cells])
    table(["profile", "batch", "links", "dapple ms", "gap", "cpu s", "pipeline ms", "gap", "cpu s"], rows)
    return wrong


GAPS = (large, gaps)
