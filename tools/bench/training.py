"""What the benchmarks of training iterations share: clusters and models as DAPPLE's paper has them, running pcc for an
iteration, plans with stages, rows of what was expected and what was found.

Links are those with which the paper's published program gives its tables; a server's own AllReduce is faster
(ir/cluster/servers.c).  A profile tells only the outputs of a layer, which other layers read, but a layer keeps more
for its backward pass.  MODELS has the bytes that layers keep per sample: by the tests of the published program; for
AmoebaNet-36, the memory in Table II less four copies of the weights."""
import dataclasses
import functools
import json
import re
from pathlib import Path

import cells
from common import PCC, Run, table

UNITS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
LARGE = ":1000000GB" # memory of a device
V100 = ":16GB"
A = ["--group=8:25GB/s,0us", "--link=1GB/s,0us", "--allreduce=3GB/s"]
B = ["--link=1GB/s,0us", "--allreduce=3GB/s"]
C = ["--link=1GB/s,0us", "--allreduce=1GB/s"]
CLUSTERS = {"A": A, "B": B, "C": C}


@dataclasses.dataclass
class Model:
    """optimizer: copies of the weights beside weights and gradients; stored: bytes per sample that forward keeps for
    backward (None: the activations in the profile)."""
    profile: str
    size: int # samples of a micro-batch, and of the measured batch
    batch: int
    optimizer: int
    stored: float | None = None


MODELS = {
    "VGG-19": Model("dapple/vgg-19-pbs-32.txt", 32, 2048, 0),
    "GNMT-16": Model("dapple/gnmt-16-pbs-64.txt", 64, 1024, 1),
    "BERT-48": Model("dapple/bert-48-pbs-2.txt", 2, 64, 1, 2 * 1733171968),
    "XLNet-36": Model("dapple/xlnet-36-pbs-1.txt", 1, 128, 1, 1.5 * 3942774528),
    "AmoebaNet-36": Model("dapple/amoeba-36-pbs-1.txt", 1, 128, 2, 20e9 - 4 * 3731e6),
    "BERT-24": Model("dapple/bert-24-pbs-6.txt", 6, 120, 1, 1733171968),
    "ResNet-50": Model("pipedream/resnet50.txt", 128, 2048, 0, 70e6),
}


class Rows:
    """A table of what was expected and found.  where: the table of DAPPLE's paper to which published() and fitted() add
    cells (cells.py); None: they add none."""

    def __init__(self, title, where=None):
        self.title, self.where, self.rows, self.wrong = title, where, [], []

    def published(self, what, published, got, better=None, why=""):
        """Adds a row for a published figure, which passes if `got` is equal (within 1 %, or to the digits printed) or
        better.  Else the row says that it differs, and `why`; without such a reason it fails.  better: as for
        cells.state_of()."""
        state = cells.state_of(published, got, better)
        if self.where:
            cells.cell(cells.DAPPLE, self.where, what, published, got, better)
        if state != "differing" or not why:
            self.judge(what, published, got, state != "differing")
        else:
            self.rows.append([what, published, got, f"differs: {why}"])

    def fitted(self, what, published, got):
        """Adds a row for a published figure from which a constant of the model was made; it is not checked."""
        if self.where:
            cells.cell(cells.DAPPLE, self.where, what, published, got, state="fitted")
        self.rows.append([what, published, got, "fitted"])

    def cannot(self, what, published, why):
        """Adds a row for a published value that cannot be compared."""
        self.rows.append([what, published, "-", f"cannot be: {why}"])

    def judge(self, what, expected, got, ok):
        """Adds a row that passes or fails."""
        self.rows.append([what, expected, got, "pass" if ok else "FAIL"])
        if not ok:
            self.wrong.append(f"{self.title}: {what}: expected {expected}, got {got}")

    def show(self):
        """Prints the rows. Returns the rows that failed, in words."""
        print(f"\n{self.title}")
        table(["what", "expected", "got", ""], self.rows)
        return self.wrong


def in_seconds(text):
    """A time with its unit, such as "1.5 ms", in s."""
    number, unit = re.fullmatch(r"([0-9.]+) ?([a-z]+)", text).groups()
    return float(number) * UNITS[unit]


def in_bytes(text):
    """A size with its unit, such as "3 GiB", in bytes."""
    number, unit = text.split()
    return float(number) * BYTES[unit]


def near(value, text):
    """Whether value equals the number `text`, which has a point, to its printed digits."""
    return abs(value - float(text)) < 0.51 * 10 ** -len(text.split(".")[1])


@functools.cache
def planned(_, command, out):
    """Runs pcc. Returns the run, and the text of the plan; None if none fits. The first argument is only part of the
    cache's key: the content of all files that the command reads."""
    run = Run([*command, "-o", out])
    if run.rc == 3:
        return run, None
    run.need()
    return run, out.read_text(encoding="utf-8")


def iteration(model, devices, args, passes, out):
    """Plans a model and writes the plan to `out`. Returns (seconds of an iteration, the plan, the run of pcc), without
    a plan (None, None, the run). If several tables ask for the same plan, pcc makes it once."""
    content = Path(model).read_bytes()
    for written in re.findall(r"=([^=:{}]*/[^=:{}]*)", passes): # such as another plan
        content += Path(written).read_bytes()
    run, text = planned(content, (PCC, model, "-d", devices, "--objective=iteration-time", *args, "-p", passes), out)
    if text is None:
        return None, None, run
    out.write_text(text, encoding="utf-8") # also where pcc made the plan for an earlier call
    plan = json.loads(text)
    return plan["objective"]["value_s"], plan, run


def staged(plan, stages, ahead, out):
    """Writes to `out` a plan with the nodes of `plan` in other stages, and returns `out`. `stages`: (number of layers,
    number of devices) of each, in the order of the layers in `plan`; `ahead`: the micro-batches that each may run
    ahead."""
    nodes = [n for d in plan["devices"] for n in d.get("nodes", ())]
    back = {n.removesuffix("/backward"): n for n in nodes if n.endswith("/backward")}
    layers = [n for n in nodes if not n.endswith("/backward")]
    layer, device, own = 0, 0, [] # the first of the next stage; (names of devices, nodes) of the stages so far
    for n, devices in stages:
        names = [f"acc{device + i}" for i in range(devices)]
        mine = layers[layer:layer + n]
        own.append((names, [*mine, *(back[x] for x in reversed(mine))]))
        layer, device = layer + n, device + devices
    told = [{"devices": names, "ahead": k, "recompute": False} for (names, _), k in zip(own, ahead)]
    # the first device of a stage lists the nodes of all its devices
    out.write_text(json.dumps({
        "pcc_plan": 1, "planner": "by hand", "training": {**plan["training"], "stages": told},
        "devices": [{"name": names[0], "nodes": held} for names, held in own]}), encoding="utf-8")
    return out


def with_stored(folder, name, tmp):
    """Writes to `tmp` a profile of the model that also says what its layers keep for the backward pass: the sizes of
    their outputs, scaled to the known sum (Model.stored). Returns its path; if the sum is not known, that of the
    profile itself."""
    model = MODELS[name]
    text = (folder / model.profile).read_text(encoding="utf-8")
    if model.stored is None:
        return folder / model.profile
    size = re.compile(r"activation_size=(\[[^]]*\]|[0-9.e+]+), parameter_size=[0-9.e+]+")

    def handed_on(match):
        """Bytes of a layer's outputs. match: of `size` in the layer's line of the profile."""
        return sum(float(x) for x in match[1].strip("[]").split(";"))
    lines = text.splitlines()
    layers = [line for line in lines if size.search(line) and " -- Input" not in line]
    factor = model.stored * model.size / sum(handed_on(size.search(line)) for line in layers)
    out = tmp / f"{name}.txt"
    out.write_text("\n".join(
        line if " -- Input" in line else size.sub(lambda m: f"{m[0]}, stored_size={handed_on(m) * factor:.0f}", line)
        for line in lines) + "\n", encoding="utf-8")
    return out


def work_of(profile):
    """Seconds that forward and backward of all layers take, for the batch that was measured."""
    time = re.compile(r"(?:forward|backward)_compute_time=([0-9.]+)")
    return sum(float(x) for line in profile.read_text(encoding="utf-8").splitlines() if " -- Input" not in line
               for x in time.findall(line)) / 1e3


class Case:
    """A model on devices: what planners make of it, in times faster than one device.  batch: samples of an iteration;
    file: the profile that is planned; alone: seconds of an iteration on one device; of the last times() or parallel():
    run: the run of pcc; plan, seconds: the plan and the seconds of its iteration (both None if no plan fits)."""

    def __init__(self, folder, tmp, name, devices, links, batch=None, more=("--slices=any",)):
        """folder: folder of the profiles; tmp: a folder for plans; links, more: options of pcc; batch: samples of an
        iteration, None: the model's number."""
        self.model, self.tmp, self.devices = MODELS[name], Path(tmp), devices
        self.batch = batch or self.model.batch
        self.file = with_stored(folder, name, self.tmp)
        self.args = [f"--profiled-batch={self.model.size}", f"--global-batch={self.batch}",
                     f"--optimizer={self.model.optimizer}", "--recompute=none", *links, *more]
        self.alone = work_of(folder / self.model.profile) * self.batch / self.model.size
        self.run = self.plan = self.seconds = None

    def times(self, passes, *args, memory=V100, out="case.json"):
        """How many times faster than one device the plan of these passes is; None if no plan fits. `args`: further
        options of pcc; `memory`: of each device; `out`: a file of `tmp` for the plan."""
        out = self.tmp / out
        self.seconds, self.plan, self.run = iteration(self.file, f"{self.devices}xv100{memory}",
                                                      [*self.args, *args], passes, out)
        return self.alone / self.seconds if self.plan else None

    def parallel(self, overlap, **kw):
        """How many times faster than one device data parallelism is, with this overlap of the gradients' sums; None if
        it does not fit."""
        return self.times("data-parallel-place", f"--allreduce-overlap={overlap}", **kw)

    def shape(self):
        """The numbers of devices of the plan's stages, such as "8:8"; "straight" if each stage has one of several."""
        counts = [len(s["devices"]) for s in self.plan["training"]["stages"]]
        return "straight" if len(counts) == self.devices > 1 else ":".join(map(str, counts))


def times_text(x):
    """The cell for a speed-up, such as "1.50"; "-" for None."""
    return "-" if x is None else f"{x:.2f}"
