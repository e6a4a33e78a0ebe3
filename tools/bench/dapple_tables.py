"""Section II-A and tables I, II, IV, V, VI and VIII of DAPPLE's paper (arXiv 2007.01045), its formula beside what runs;
see pcc-bench pipelines."""
import itertools
import json
import re

from training import (A, CLUSTERS, LARGE, MODELS, V100, Case, Rows, in_seconds, iteration, staged)

GIB = 2**30
# profile: MB that a micro-batch sends from one stage to the next, MB of gradients
TABLE_I = {"GNMT-16": (26, 1100), "BERT-48": (8.8, 2800), "XLNet-36": (4.2, 2100), "AmoebaNet-36": (11.2, 3700),
           "VGG-19": (6, 550)}
GRADIENTS = {"BERT-48": "640M of Table II times 4 B are 2.56 GB", "XLNet-36": "500M of Table II times 4 B are 2.0 GB",
             "GNMT-16": "291M of Table II times 4 B are 1.16 GB"}
BOUNDARY = "of the published profile, where the published program cuts it"
# profile: samples of a micro-batch, millions of parameters, GB of memory
TABLE_II = {"GNMT-16": (64, "291", "3.9"), "BERT-48": (2, "640", "11.4"), "XLNet-36": (1, "500", "12"),
            "ResNet-50": (128, "24.5", "1"), "VGG-19": (32, "137", "5.6"), "AmoebaNet-36": (1, "933", "20")}
WHY_II = {"GNMT-16": "a profile has what layers hand on, not what they keep",
          "VGG-19": "a profile has what layers hand on, not what they keep",
          "BERT-48": "what layers keep is that of the published program's tests",
          "ResNet-50": "what layers keep is that of the published program's tests; the profile is PipeDream's"}
# Speed-up of policy B over policy A on cluster A: published; least and most that count as equal; layers of each stage
# (None: see policies()).
TABLE_IV = {"BERT-48": ("1.0", 0.99, 1.01, (27, 26)), "XLNet-36": ("1.02", 1.00, 1.04, (23, 19)),
            "VGG-19": ("1.1", 1.05, 1.12, None), "GNMT-16": ("1.31", 1.0 + 1e-6, 1.31, (43, 34))}
ENCODERS = "the profile's encoder and decoder layers are 1 : 1.32, the paper's 1 : 1.45"
RATE = "--link=3125MB/s,0us" # 25 Gbit/s
TABLE_V = {("VGG-19", "C"): "0.40", ("GNMT-16", "A"): "0.10", ("GNMT-16", "B"): "0.10", ("GNMT-16", "C"): "3.75",
           ("BERT-48", "A"): "0.06", ("BERT-48", "B"): "0.50", ("BERT-48", "C"): "1.25", ("XLNet-36", "A"): "0.03",
           ("XLNet-36", "B"): "0.03", ("XLNet-36", "C"): "0.67", ("AmoebaNet-36", "A"): "0.18",
           ("AmoebaNet-36", "B"): "0.14", ("AmoebaNet-36", "C"): "0.35"}
LINKS_V = "the paper's ACR asks for links of 1.65 to 1.9 GB/s (A, B) and 0.66 GB/s (C), its program has 1"
# BERT-48 in two stages, micro-batches of 2: (schedule, number of micro-batches): samples per second, GB
TABLE_VI = {("gpipe", 2): (5.10, 12.1), ("dapple", 2): (5.10, 10.6), ("dapple", 8): (7.60, 10.6),
            ("dapple", 16): (8.18, 10.6)}
SEVENTEEN = "measured; rows 2 and 8 say that 16 micro-batches take 17 times a stage's time, and what is beside it"
AGAIN = "measured; run again here is all of forward, 38 % of a micro-batch"
AGAIN_GB = "GPipe's rows say what a micro-batch leaves; in DAPPLE's it is less"
TABLE_VI_AGAIN = {("gpipe", 2): (4.00, 9.9), ("gpipe", 5): (5.53, 13.2), ("dapple", 2): (4.24, 8.5),
                  ("dapple", 8): (6.23, 8.5), ("dapple", 16): (6.77, 8.5)}
DAPPLE_KEEPS = 1.5 # micro-batches that a device keeps, on average: the first stage 2, the second one 1
# stages: layers, % busy, billions of parameters, GB of parameters and optimizer
TABLE_VIII = {1: (48, 93, "0.64", "10.2"), 2: (106, 89, "1.4", "21.9"), 4: (215, 89, "2.7", "43.8"),
              8: (428, 87, "5.5", "88.2")}
BUSY = "the paper says neither its number of micro-batches nor what else devices wait for"
LAYERS = "what a device needs beside weights is a constant made of the first row; within 10 %"
SIX = ["VGG-19", "GNMT-16", "BERT-48", "XLNet-36", "AmoebaNet-36", "BERT-24"]
PUBLISHED = "contract{trivial=false},dapple-place{score=published}"


def parameters(folder, name):
    """MB of the parameters in a model's profile."""
    text = (folder / MODELS[name].profile).read_text(encoding="utf-8")
    return sum(float(x) for x in re.findall(r"parameter_size=([0-9.e+]+)", text)) / 1e6


def table_1(folder, tmp):
    """Compares Table I: the size of tensors between stages and of gradients. Prints the rows and returns what is wrong,
    in words."""
    rows = Rows("Table I: MB of a micro-batch at the boundary of stages, and of gradients", "Table I")
    for name, (boundary, gradients) in TABLE_I.items():
        case = Case(folder, tmp, name, 16, A)
        case.times(PUBLISHED, memory=LARGE)
        stages = seconds_of_stages(case.run.out)
        handed = max(s[3] for s in stages[:-1]) * 1e3 # MB at 1 GB/s
        rows.published(f"{name}, boundary ({case.shape()})", f"{boundary}", f"{handed:.1f}", why=BOUNDARY)
        rows.published(f"{name}, gradients", f"{gradients}", f"{parameters(folder, name):.0f}", why=GRADIENTS.get(name))
    return rows.show()


def table_2(folder, tmp):
    """Compares Table II: parameters, and the memory that training takes on one device. Prints the rows and returns what
    is wrong, in words."""
    rows = Rows("Table II: millions of parameters, and GB on one device in training", "Table II")
    for name, (samples, millions, published) in TABLE_II.items():
        rows.published(f"{name}, parameters", millions, f"{parameters(folder, name) / 4:.1f}",
                       why="the profile is PipeDream's" if name == "ResNet-50" else "")
        case = Case(folder, tmp, name, 1, [], samples,
                    ["--slices=any", f"--micro-batch-size={samples}"])
        case.times("data-parallel-place", memory=LARGE)
        what = f"{name}, {samples} samples, {2 + case.model.optimizer} copies of weights"
        got = f"{case.plan['devices'][0]['used_bytes'] / 1e9:.1f}"
        if name == "AmoebaNet-36":
            rows.fitted(what, published, got)
        else:
            rows.published(what, published, got, why=WHY_II.get(name))
    return rows.show()


def policies(folder, tmp, name, layers):
    """The iteration time with policy A (2 micro-batches ahead in the first stage) over that with policy B (3).  layers:
    their numbers in two stages that have equally many devices; such a plan is several pipelines of two devices side by
    side, each with a link of its own, so only one of them is judged.  None: Table VII's plan on all devices
    (VGG-19)."""
    if layers:
        case = Case(folder, tmp, name, 2, [RATE])
        case.times("dapple-place", memory=LARGE)
        one = Case(folder, tmp, name, 1, [])
        one.times("data-parallel-place", memory=LARGE, out="one.json") # all layers on one device, in order
        plan = {**case.plan, "devices": one.plan["devices"]}
    else:
        by_score = Case(folder, tmp, name, 16, A, 1024)
        by_score.times(PUBLISHED, memory=LARGE)
        plan = by_score.plan
        case = Case(folder, tmp, name, 16, [A[0], RATE, A[2]], 1024)
    given, took = case.tmp / "given.json", []
    for ahead in ([2, 1], [3, 1]):
        if layers:
            staged(plan, [(n, 1) for n in layers], ahead, given)
        else:
            for stage, k in zip(plan["training"]["stages"], ahead, strict=True):
                stage["ahead"] = k
            given.write_text(json.dumps(plan), encoding="utf-8")
        case.times(f"plan{{from={given}}}", memory=LARGE)
        took.append(case.seconds)
    return took[0] / took[1]


def table_4(folder, tmp):
    """Compares Table IV: how much policy B gains over policy A. Prints the rows and returns what is wrong, in words."""
    rows = Rows("Table IV: policy B over policy A on cluster A, 25 Gbit/s between servers", "Table IV")
    for name, (published, least, most, layers) in TABLE_IV.items():
        x = policies(folder, tmp, name, layers)
        rows.published(name, published, f"{x:.3f}", why=ENCODERS if name == "GNMT-16" else "")
        rows.judge(f"{name}, policy B helps as much", f"{least:.2f} to {most:.2f}", f"{x:.3f}", least <= x <= most)
    return rows.show()


def seconds_of_stages(text):
    """(number of devices, s forward, s backward, s to the next stage) of each stage that pcc's output `text` lists."""
    line = re.compile(r"^ +\d+ acc(\d+)(?: to acc(\d+))? +([0-9.]+ \w+) +([0-9.]+ \w+) +([0-9.]+ \w+)", re.M)
    return [(int(last or first) - int(first) + 1, *map(in_seconds, times)) for first, last, *times in
            line.findall(text)]


def table_5(folder, tmp):
    """Compares Table V: the time of transfers over the time of computing. Prints the rows and returns what is wrong, in
    words."""
    rows = Rows("Table V: transfers there and back over computing (ACR)", "Table V")
    for (name, cluster), published in TABLE_V.items():
        case = Case(folder, tmp, name, 16, CLUSTERS[cluster])
        case.times(PUBLISHED, memory=LARGE)
        stages = seconds_of_stages(case.run.out)
        link = sum(s[3] for s in stages[:-1]) / (len(stages) - 1)
        # on one device: n devices share a micro-batch
        work = sum(n * (f + b) for n, f, b, _ in stages) / len(stages)
        rows.published(f"{name}, {cluster}, ACR ({case.shape()})", published, f"{2 * link / work:.2f}", why=LINKS_V)
    return rows.show()


def bert_stages(tmp, each, share, stored):
    """Writes a profile of two stages of BERT-48, each of which takes `each` seconds for a micro-batch, forward and
    backward together; returns its path.  share: forward's share of these; stored: bytes that a micro-batch keeps."""
    path = tmp / "two.txt"
    path.write_text("".join(
        f"n{i} -- stage{i} -- forward_compute_time={each * share * 1e3:.6f}, backward_compute_time="
        f"{each * (1 - share) * 1e3:.6f}, activation_size=0, parameter_size=1280000000, stored_size={stored:.0f}\n"
        for i in range(2)) + "\tn0 -- n1\n", encoding="utf-8")
    return path


class Six:
    """The model behind Table VI: BERT-48 in two stages. Two rows of throughput give the seconds of a stage and the
    seconds beside the iteration; two rows of memory give the bytes that stay and the bytes of a micro-batch."""

    def __init__(self, tmp):
        """tmp: a folder for the profile and plans."""
        self.tmp = tmp
        # seconds of an iteration: m micro-batches take two stages (m + 1) each + beside
        early, late = (2 * m / TABLE_VI["dapple", m][0] for m in (2, 8))
        each = (late - early) / 6
        self.beside = early - 3 * each
        # a device keeps 2 micro-batches with GPipe, and on average DAPPLE_KEEPS with DAPPLE
        stored = (TABLE_VI["gpipe", 2][1] - TABLE_VI["dapple", 2][1]) / (2 - DAPPLE_KEEPS) * GIB
        lasting = TABLE_VI["gpipe", 2][1] * GIB - 2 * stored
        share = 129.2 / 343.8 # of forward, by the profile
        self.profile = bert_stages(tmp, each, share, stored)
        # --workspace: what lasts beside four copies of the weights of a stage
        self.how = ["--optimizer=2", f"--workspace={lasting - 4 * 1.28e9:.0f}B", "--link=1000GB/s,0us",
                    "--profiled-batch=2", "--micro-batch-size=2"]

    def run(self, kind, m, memory, again=False):
        """Plans an iteration of m micro-batches with the schedule `kind`, on devices with this memory. `again`: forward
        runs again before backward. Returns (samples/s, the plan); (None, None) if no plan fits."""
        args = [*self.how, f"--micro-batches={m}", f"--schedule={kind}"]
        # any plan with these stages, of which `given` is made
        _, plan, _ = iteration(self.profile, "2xv100" + LARGE, args, "dapple-place", self.tmp / "any.json")
        ahead = [m, m] if kind == "gpipe" else [min(2, m), 1]
        given = staged(plan, [(1, 1), (1, 1)], ahead, self.tmp / "given.json")
        if again:
            text = given.read_text(encoding="utf-8").replace('"recompute": false', '"recompute": true')
            given.write_text(text, encoding="utf-8")
        seconds, plan, _ = iteration(self.profile, "2xv100" + memory, args, f"plan{{from={given}}}",
                                     self.tmp / "six.json")
        return (2 * m / (seconds + self.beside), plan) if plan else (None, None)


def gib_of(plan):
    """GiB that a device holds, on average."""
    return sum(d["used_bytes"] for d in plan["devices"]) / len(plan["devices"]) / GIB


def forward_once(rows, six):
    """Adds the rows of Table VI in which forward runs once. Returns {(schedule, micro-batches): (samples/s, GB)}."""
    found = {}
    for (kind, m), (rate, memory) in TABLE_VI.items():
        got, plan = six.run(kind, m, V100)
        what = f"{kind}, {m} micro-batches"
        add_row = rows.fitted if m == 2 else rows.published
        add_row(f"{what}, GB", f"{memory}", f"{gib_of(plan):.1f}")
        if kind == "dapple" and m in (2, 8):
            rows.fitted(f"{what}, samples/s", f"{rate:.2f}", f"{got:.2f}")
        else:
            rows.published(f"{what}, samples/s", f"{rate:.2f}", f"{got:.2f}", why=SEVENTEEN if m == 16 else "")
        found[kind, m] = got, gib_of(plan)
    refused = six.run("gpipe", 3, V100)[1] is None
    rows.published("gpipe, 3 micro-batches", "out of memory", "out of memory" if refused else
                   f"{gib_of(six.run('gpipe', 3, LARGE)[1]):.1f} GB of {16e9 / GIB:.1f}")
    return found


def forward_again(rows, six):
    """Adds the rows of Table VI in which forward runs again before backward. Two rows of memory give what a device
    holds then. Returns {(schedule, micro-batches): (samples/s, GB)}."""
    found = {}
    # GB that a device holds: `lasting`, and `each` for each micro-batch that it keeps
    each = (TABLE_VI_AGAIN["gpipe", 5][1] - TABLE_VI_AGAIN["gpipe", 2][1]) / 3
    lasting = TABLE_VI_AGAIN["gpipe", 2][1] - 2 * each
    for (kind, m), (rate, memory) in TABLE_VI_AGAIN.items():
        got, _ = six.run(kind, m, LARGE, again=True)
        held = lasting + each * (m if kind == "gpipe" else DAPPLE_KEEPS)
        rows.published(f"{kind}, forward again, {m} micro-batches, samples/s", f"{rate:.2f}", f"{got:.2f}", why=AGAIN)
        what = f"{kind}, forward again, {m} micro-batches, GB"
        if kind == "gpipe":
            rows.fitted(what, f"{memory}", f"{held:.1f}")
        else:
            rows.published(what, f"{memory}", f"{held:.1f}", why=AGAIN_GB)
        found[kind, m] = got, held
    most = lasting + 8 * each
    rows.published("gpipe, forward again, 8 micro-batches", "out of memory",
                   "out of memory" if most > 16e9 / GIB else f"{most:.1f} GB")
    return found


def table_6(_, tmp):
    """Compares Table VI, and what section VI-E says of it. A GB counts as 2^30 bytes, of which a V100 of 16 GB has
    14.9. Prints the rows and returns what is wrong, in words."""
    rows = Rows("Table VI: BERT-48 in two stages, micro-batches of 2; fitted: of what seconds and bytes were made",
                "Table VI")
    six = Six(tmp)
    once, again = forward_once(rows, six), forward_again(rows, six)
    return rows.show() + section_6e(once, again)


def section_6e(found, found_again):
    """Compares what section VI-E says of Table VI. `found`, `found_again`: (samples/s, GB) by schedule and number of
    micro-batches, with forward running once and again. Prints the rows and returns what is wrong, in words."""
    said = Rows("section VI-E: DAPPLE's 16 micro-batches to GPipe's 2; what running forward again does", "section VI")
    gpipe_rate, gpipe_memory = found["gpipe", 2]
    rate, memory = found["dapple", 16]
    again_rate, again_memory = found_again["gpipe", 2]
    said.fitted("memory that it saves GPipe with 2, %", "19", f"{100 * (1 - again_memory / gpipe_memory):.0f}")
    said.published("throughput that it costs with 2, %", "20", f"{100 * (1 - again_rate / gpipe_rate):.0f}", why=AGAIN)
    said.published("memory of GPipe's with 16, running again", "0.70",
                   f"{found_again['dapple', 16][1] / gpipe_memory:.2f}", why=AGAIN_GB)
    said.published("throughput of GPipe's", "1.6", f"{rate / gpipe_rate:.2f}")
    said.fitted("memory of GPipe's", "0.88", f"{memory / gpipe_memory:.2f}")
    return said.show()


EMBEDDINGS, ENCODER, POOLER = 127131648, 50384896, 4198400 # bytes of the weights of BERT-48's layers


def bert(tmp, layers):
    """Writes BERT-48's profile with another number of encoder layers, which keep no more than they hand on. Returns its
    path."""
    line = ("{0} -- {0} -- forward_compute_time={1}, backward_compute_time={2}, activation_size={3}, "
            "parameter_size={4}\n")
    names = ["embeddings", *(f"layer_{i}" for i in range(layers)), "pooler"]
    path = tmp / "bert.txt"
    path.write_text("".join([
        line.format(names[0], 0.056, 0, 4325376, EMBEDDINGS),
        *(line.format(n, 2.69, 4.47, 4325376, ENCODER) for n in names[1:-1]),
        line.format(names[-1], 0, 0, 0, POOLER)]) + "".join(f"\t{a} -- {b}\n" for a, b in zip(names, names[1:])),
        encoding="utf-8")
    return path


def table_8(_, tmp):
    """Compares Table VIII: the largest BERT that fits if forward is run again before backward.  The memory that a
    device needs beside weights and activations is what the first row of the table leaves of 16 GB.  Prints the rows and
    returns what is wrong, in words."""
    rows = Rows("Table VIII: encoder layers that fit on devices of 16 GB; fitted: what leaves room beside them",
                "Table VIII")
    how = ["--optimizer=2", "--recompute=all", "--profiled-batch=2", "--micro-batch-size=2", "--micro-batches=32"]

    def planned(layers, stages, beside):
        """The plan of BERT with so many layers and stages, None if it does not fit, and the run of pcc. `beside`: bytes
        that a device needs beside weights and activations."""
        _, plan, run = iteration(bert(tmp, layers), f"{stages}xv100{V100}",
                                 [*how, f"--group={stages}:25GB/s,0us", f"--workspace={beside}B"],
                                 "pipedream-hier-place{straight=true}" if stages > 1 else "dapple-place",
                                 tmp / "eight.json")
        return plan, run
    plan, _ = planned(TABLE_VIII[1][0], 1, 0)
    beside, last_busy = int(16e9) - plan["devices"][0]["used_bytes"], None
    for stages, (published, published_busy, gigas, memory) in TABLE_VIII.items():
        fits, too_many = 1, 2 * published # numbers of layers
        while too_many - fits > 1:
            middle = (fits + too_many) // 2
            if planned(middle, stages, beside)[0]:
                fits = middle
            else:
                too_many = middle
        _, run = planned(fits, stages, beside)
        busy = float(re.search(r"busy ([0-9.]+) %", run.out)[1])
        size = 4 * (EMBEDDINGS + fits * ENCODER + POOLER) / 1e9 # GB of four copies of the weights, 16 bytes a parameter
        for what, text, value in (("layers", f"{published}", f"{fits}"),
                                  ("parameters, billions", gigas, f"{size / 16:.2f}"),
                                  ("GB of parameters", memory, f"{size:.1f}")):
            if stages == 1:
                rows.fitted(f"{stages} stages, {what}", text, value)
            else:
                rows.published(f"{stages} stages, {what}", text, value,
                               why=LAYERS if abs(fits / published - 1) <= 0.1 else "")
        rows.published(f"{stages} stages, busy, %", f"{published_busy}", f"{busy:.0f}", why=BUSY)
        if stages > 1:
            rows.judge(f"{stages} stages, busy with 32 micro-batches", "does not rise",
                       f"{busy} %, before {last_busy} %", busy <= last_busy)
        last_busy = busy
    return rows.show()


def equal_stages(path, stages, size):
    """Writes a profile of equal layers in a row, of 1 ms forward and 2 ms backward, which hand on `size` bytes."""
    path.write_text("".join(
        f"n{i} -- layer{i} -- forward_compute_time=1, backward_compute_time=2, activation_size={size:.0f}, "
        f"parameter_size=0\n" for i in range(stages)) + "".join(
        f"\tn{i} -- n{i + 1}\n" for i in range(stages - 1)), encoding="utf-8")


def efficiency(_, tmp):
    """Compares the share of time in which devices idle with P / (1 + P), P = (1 + a) (S - 1) / M, a: transfers there
    and back over computing.  Equal stages of 1 ms forward and 2 ms backward; without transfers the formula is exact,
    with them policy B comes close to it and policy A not below it.  Prints the rows and returns what is wrong, in
    words."""
    rows, model = Rows("II-A: idle share of S equal stages with M micro-batches"), tmp / "equal.txt"
    for stages, micro, ratio in itertools.product((2, 4, 8), (8, 32), (0, 0.1, 0.5)):
        equal_stages(model, stages, ratio * 1500000) # bytes that take half of the ratio's 3 ms over 1 GB/s
        ahead = {"gpipe": [micro] * stages, "A": [stages - i for i in range(stages)],
                 "B": [min(2 * (stages - i) - 1, micro) for i in range(stages)]}
        for kind in ("A", "B") if ratio else ("gpipe", "A"):
            how = ["--link=1GB/s,0us", f"--micro-batches={micro}",
                   f"--schedule={'gpipe' if kind == 'gpipe' else 'dapple'}"]
            _, plan, _ = iteration(model, f"{stages}xv100{LARGE}", how, "dapple-place", tmp / "equal.json") # any plan
            given = staged(plan, [(1, 1)] * stages, ahead[kind], tmp / "given.json")
            seconds, _, _ = iteration(model, f"{stages}xv100{LARGE}", how, f"plan{{from={given}}}",
                                      tmp / "equal.json")
            idle, p = 1 - micro * 3e-3 / seconds, (1 + ratio) * (stages - 1) / micro
            wanted = p / (1 + p)
            what = f"S = {stages}, M = {micro}, {kind if kind == 'gpipe' else f'dapple, policy {kind}'}"
            if ratio:
                rows.judge(f"{what}, a = {ratio}", f"{'not below ' if kind == 'A' else ''}{wanted:.3f}", f"{idle:.3f}",
                           idle >= wanted - 1e-9 and (kind == "A" or idle <= wanted + 5e-4))
            else:
                took = 3 * (micro + stages - 1)
                rows.judge(what, f"{wanted:.3f}, {took} ms", f"{idle:.3f}, {seconds * 1e3:g} ms",
                           abs(idle - wanted) < 1e-9 and abs(seconds * 1e3 - took) < 1e-9)
    return rows.show()


def formula(folder, tmp):
    """Checks that no plan that dapple-place runs without AllReduce takes less than formula (2) says; links have both
    directions in turn, as the formula has them, and nothing is run again.  Prints the rows, with the formula's errors
    for all plans, and returns what is wrong, in words."""
    rows = Rows("formula (2) against all plans that dapple-place runs, 16 devices")
    said = re.compile(r"against (\d+) plans that were run: median error (\S+) %, largest (\S+) %; of (\d+) without "
                      r"AllReduce it is above (\d+)")
    for name in SIX:
        for cluster, links in CLUSTERS.items():
            case = Case(folder, tmp, name, 16, links, None, ["--slices=any", "--duplex=half"])
            case.times("dapple-place{errors=true}", memory=LARGE)
            plans, median, largest, alone, above = said.search(case.run.out).groups()
            rows.judge(f"{name}, {cluster}, {plans} plans: above without AllReduce", "0", f"{above} of {alone} (median "
                       f"error {median} %, largest {largest} %)", above == "0")
    return rows.show()


TABLES = (efficiency, table_1, table_2, table_4, table_5, table_6, table_8, formula)
