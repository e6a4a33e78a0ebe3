"""Execution plans of split folders: whatever pcc writes, pcc FOLDER --check-schedule accepts; each planted error in
the files is refused, with exit 1 and its reason; what the file says can be worked off by a few lines of Python."""
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish
from sanitized import SANITIZED
import onnx.numpy_helper

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
SMALL = ["--width", "32", "--heads", "2", "--vocab", "64"]
FAST = ["--link", "1TB/s,0us", "--pictures=none", "-q"]
QUICK = "fuse,dp-place{max-states=1}"  # its first plan: whether a better one is there does not matter here
MODELS = {
    "gpt": ["gpt", "--layers", "4", *SMALL], "kv": ["gpt", "--kv", "--layers", "3", *SMALL],
    "train": ["train", "--layers", "2", *SMALL], "moe": ["moe", "--layers", "2", "--kv-heads", "2", *SMALL]}
IN_TURN = {"train": "layers.1=acc1\n.=acc0\n"}  # where attention and MLP cannot be apart


def run(*args, code=0):
    r = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=300, check=False)
    check(r.returncode == code, f"{' '.join(map(str, args))}: exit {r.returncode}: {(r.stdout + r.stderr)[:600]}")
    return r


def given(source):
    """Takes the plan of a file or a folder; a bound is not looked for."""
    return f"plan{{from={source}:effort=0}}"


def load(folder, name):
    return json.loads((folder / f"{name}.json").read_text())


# ---- working the lists off


def unrolled(items, n):
    """(instruction, sample) in the order of a list; n 0: each is done once."""
    if not n:
        return [(i, i["sample"]) for i in items]
    out = []
    for phase in sorted({i.get("phase", 0) for i in items}):
        mine = [i for i in items if i.get("phase", 0) == phase]
        offsets = [i["sample"] for i in mine]
        for r in range(-max(offsets), n - min(offsets)):
            out += [(i, r + i["sample"]) for i in mine if 0 <= r + i["sample"] < n]
    return out


def lanes_of(schedule):
    """(kind, device, other): its list; the kinds and names as in the file."""
    lanes = {}
    for d in [*schedule["devices"], {"name": "host", "compute": [], **schedule["host"]}]:
        n = schedule.get("in_flight", 0)
        lanes["compute", d["name"], None] = unrolled(d["compute"], n)
        lanes["send", d["name"], None] = unrolled(d["send"], n)
        for r in d["recv"]:
            lanes["recv", d["name"], r["from"]] = unrolled(r["tensors"], n)
    return lanes


def samples_of(schedule):
    return schedule["in_flight" if schedule["pcc_schedule"] == 1 else "micro_batches"]


def slices_of(manifest):
    """-> share(t, dev, part): the samples of tensor t that dev has as one of the devices of a part; size(t, samples).
    A tensor without samples of its own has the one sample None."""
    training = manifest.get("training", {"micro_batch_size": 1, "profiled_batch": 1})
    tensors = {t["name"]: t for k in ("inputs", "tensors", "outputs") for t in manifest[k]}

    def share(t, dev, part):
        homes = part.get("replicas", [part["device"]])
        if "batch_axis" not in tensors[t]:
            return {None}
        each = training["micro_batch_size"] // len(homes)
        return set(range(homes.index(dev) * each, (homes.index(dev) + 1) * each))

    def size(t, samples):
        whole = tensors[t]["bytes"]
        return whole if samples == {None} else whole * len(samples) // training["profiled_batch"]

    return share, size


def work_off(manifest, schedule):
    """Each list as far as it gets, in turn, until nothing goes on; -> computed (part, device, sample or micro-batch),
    peak bytes by device.  What a device has of a tensor are samples: its slice, as far as it was received."""
    part = {p["file"]: p for p in manifest["parts"]}
    kept = {s["in"] for s in manifest["states"]}
    maker = {t: p for p in manifest["parts"] for t in p["outputs"]}
    all_of = {d: [p for p in manifest["parts"] if d in p.get("replicas", [p["device"]])]
              for d in (d["name"] for d in manifest["devices"])}
    share, size = slices_of(manifest)
    every = set(range(manifest["training"]["micro_batch_size"])) if "training" in manifest else {None}
    axis = {t["name"] for k in ("inputs", "tensors", "outputs") for t in manifest[k] if "batch_axis" in t}
    peak_key = "slice_peak_bytes" if "training" in manifest else "live_peak_bytes"
    lanes, at, there, room, sent, computed = lanes_of(schedule), {}, {}, set(), set(), []
    for t in manifest["inputs"]:
        for s in range(samples_of(schedule)):
            there[t["name"], "host", s] = every if t["name"] in axis else {None}
    summed = {t for p in manifest["parts"] if p.get("pass") == "update" for t in p["inputs"]
              if t in maker and maker[t]["pass"] != "update"}
    added, reduced = {}, set()
    sums = {d: sum(size(t, {None}) for p in all_of[d] if p.get("pass") == "update" for t in p["inputs"] if t in summed)
            for d in all_of}
    use = {d: sum(p["lasting_bytes"] for p in all_of[d]) + sums[d] for d in all_of}
    peak = dict(use)

    def rows_of(i):
        if "rows" not in i:
            return every if i["tensor"] in axis else {None}
        check(i["tensor"] in axis, f"rows of '{i['tensor']}'")
        return set(range(i["rows"][0], sum(i["rows"])))

    slices = {(t, d): share(t, d, p) for d in all_of for p in all_of[d] for t in p["inputs"] + p["outputs"]}

    def reduce_is_due(dev, p):
        full = all(added.get((t, d)) == [*range(samples_of(schedule))]
                   for d in p["replicas"] for t in p["inputs"] if t in summed)
        reduced.update({(dev, p["file"])} if full else ())
        return full

    def step(kind, dev, other, i, s):
        if kind == "send":
            moves = rows_of(i)
            if not moves <= there.get((i["tensor"], dev, s), set()):
                return False
            if i["to"] != "host" and (i["tensor"], i["to"], s) not in room:
                return False
            sent.add((i["tensor"], dev, i["to"], s, min(moves, key=str)))
        elif kind == "recv":
            moves, has = rows_of(i), there.setdefault((i["tensor"], dev, s), set())
            if (i["tensor"], other, dev, s, min(moves, key=str)) not in sent:
                return False
            check(not moves & has, f"{dev} receives {i} twice")
            there[i["tensor"], dev, s] = has | moves
        elif "alloc" in i:
            room.add((i["alloc"], dev, s))
            use[dev] += size(i["alloc"], slices[i["alloc"], dev])
        elif "reduce" in i:
            return reduce_is_due(dev, part[i["reduce"]])
        elif "free" in i or "add" in i:
            t = i.get("free") or i["add"]
            check(("add" in i) == (t in summed), f"{dev}: {i}")
            added.setdefault((t, dev), []).append(s) if "add" in i else None
            if any((t, dev, to, s, first) not in sent for to, first in goes.get((t, dev, s), [])):
                return False
            check(there.pop((t, dev, s)) == slices[t, dev], f"{dev} had other rows of {t}")
            use[dev] -= size(t, slices[t, dev])
        else:
            p = part[i["compute"]]
            once = p.get("pass") == "update"
            if once and any(added.get((t, dev)) != [*range(samples_of(schedule))] for t in p["inputs"] if t in summed):
                return False
            check(not once or len(p.get("replicas", [1])) == 1 or (dev, p["file"]) in reduced, f"{dev} reduces no sums")
            mine = [(t, share(t, dev, p)) for t in p["inputs"] if t not in kept and not (once and t in summed)]
            if any(not rows <= there.get((t, dev, s), set()) for t, rows in mine):
                return False
            held = sum(size(t, rows) for t, rows in mine) + p["lasting_bytes"]
            peak[dev] = max(peak[dev], use[dev] + p[peak_key] - held)
            for t in p["outputs"]:
                there[t, dev, s] = share(t, dev, p)
                use[dev] += size(t, there[t, dev, s])
            computed.append((p["file"], dev, s))
        if dev != "host":
            peak[dev] = max(peak[dev], use[dev])
        return True

    goes = {}  # where a device's tensor goes
    for (kind, dev, other), items in lanes.items():
        for x, s in items if kind == "recv" else []:
            goes.setdefault((x["tensor"], other, s), []).append((dev, min(rows_of(x), key=str)))
    moved = True
    while moved:
        moved = False
        for key, items in lanes.items():
            while at.get(key, 0) < len(items) and step(*key, *items[at.get(key, 0)]):
                at[key] = at.get(key, 0) + 1
                moved = True
    check(all(at.get(k, 0) == len(v) for k, v in lanes.items()), "the lists do not come to their end")
    stays = sum(p["lasting_bytes"] for d in all_of for p in all_of[d]) + sum(sums.values())
    check(sum(use.values()) == stays, "something is never freed")
    lasting = sum(p["lasting_bytes"] for p in manifest["parts"])
    weights = sum(d["weights_bytes"] for d in manifest["devices"])
    check(lasting == weights or (lasting < weights and "training" in manifest), "lasting bytes are not the devices'")
    for t in manifest["outputs"]:
        if t["name"] in maker and t["name"] not in {s["out"] for s in manifest["states"]}:
            once = maker[t["name"]].get("pass") == "update"
            for s in range(0 if t["name"] in summed else samples_of(schedule))[-1 if once else 0:]:
                has = there.get((t["name"], "host", s))
                check(has == (every if t["name"] in axis else {None}), f"the host gets {has} of '{t['name']}'")
    return computed, peak


def accepted(folder, what, *more):
    manifest, schedule = load(folder, "manifest"), load(folder, "schedule")
    r = run(PCC, folder, "--check-schedule")
    n, rounds = samples_of(schedule), schedule["pcc_schedule"] == 1
    holds = f"{n} sample{'s' * (n > 1)} in flight" if rounds else f"an iteration of {n} micro-batch{'es' * (n > 1)}"
    check(f"holds for {holds}" in r.stdout, f"{what}: {r.stdout}")
    for key in more:
        check(key in json.dumps(schedule), f"{what}: no {key}")
    if not SANITIZED:  # the bytes are those of other builds
        does_all(manifest, schedule, what)
    return manifest, schedule


def does_all(manifest, schedule, what):
    computed, peak = work_off(manifest, schedule)
    want = [(p["file"], d, s) for p in manifest["parts"] for d in p.get("replicas", [p["device"]])
            for s in range(samples_of(schedule))[-1 if p.get("pass") == "update" else 0:]]
    check(sorted(computed) == sorted(want), f"{what}: not each part once for each sample")
    check(peak == {d["name"]: d["peak_bytes"] for d in schedule["devices"]}, f"{what}: other peaks: {peak}")


def splits(at):
    cluster = ["-d", "3xa100"]
    for name, options in MODELS.items():
        model, folder = at / f"{name}.onnx", at / name
        run(PCC_GEN, *options, "-o", model)
        run(PCC, model, "-p", QUICK, "-o", folder, *cluster, *FAST)
        accepted(folder, name)
        rules = at / "rules.txt"
        rules.write_text(IN_TURN.get(name, "attn=acc0\nmlp|moe|expert=acc1\n.=acc2\n"))
        run(PCC, model, "-p", given(rules), "-o", folder, *cluster, *FAST, "-Wno-unmatched-pattern")
        manifest, schedule = accepted(folder, f"{name} in turn")
        check(len(manifest["parts"]) > 3, f"{name}: {len(manifest['parts'])} parts")
        run(PCC, model, "-p", given(rules), "-o", folder, *cluster, *FAST, "--overlap=duplex",
            "--in-flight=9", "-Wno-unmatched-pattern")
        check(accepted(folder, f"{name} overlapping")[1]["in_flight"] == 9, "--in-flight=9")
    check(len(load(at / "kv", "manifest")["states"]) == 6, "states of the model with a cache")
    run(PCC, at / "train.onnx", "-p", QUICK, "-o", at / "gpipe", *cluster, *FAST, "--efficiency=0.0001",
        "--schedule=gpipe", "--in-flight=5")
    accepted(at / "gpipe", "gpipe", '"phase": 1')


def one_step(at):
    """Plans for one sample alone: one round, whatever the parts."""
    rules = at / "rules.txt"
    rules.write_text("attn=acc0\nmlp=acc1\n.=acc2\n")
    for cut in ("few", "transfers"):
        for name in ("gpt", "kv"):
            run(PCC, at / f"{name}.onnx", "-p", given(rules), "-o", at / "step", "-d", "3xa100", *FAST,
                "--objective=makespan", f"--cut={cut}")
            schedule = accepted(at / "step", f"one step of {name}, {cut}")[1]
            offsets = {i["sample"] for d in schedule["devices"] for i in d["compute"] + d["send"]}
            check(schedule["in_flight"] == 1 and offsets == {0}, f"one step of {name}: {offsets}")


def tight(at):
    """Fewer samples in flight where the memory ends; a note where the wanted number is too much."""
    model, rules, folder = at / "gpt.onnx", at / "rules.txt", at / "tight"
    rules.write_text("lm_head=acc1\n.=acc0\n")

    def split(memory, *more):
        run(PCC, model, "-p", given(rules), "-o", folder, "-d", f"1xa100,1xh100:{memory}", *FAST[:-1],
            "--memory-model=sum", *more)
        return load(folder, "schedule")

    whole = split("80GiB")
    need = whole["devices"][1]["peak_bytes"]
    check(split(f"{need}B") == whole, "just enough memory")
    less = split(f"{need - 1}B")
    accepted(folder, "tight")
    check(1 <= less["in_flight"] < whole["in_flight"], "as many samples in less memory")
    said = run(PCC, model, "-p", given(rules), "-o", folder, "-d", f"1xa100,1xh100:{need - 1}B", *FAST[:-1],
               "--memory-model=sum", "--in-flight=8").stderr
    check("note: schedule.json: acc1 needs" in said, f"no note: {said}")
    fits = int(said.partition("; with --in-flight=")[2].partition(" it does")[0])
    said = run(PCC, folder, "--check-schedule", code=1).stderr
    check("acc1 needs" in said and "for 8 samples in flight" in said, said)
    check(less["in_flight"] <= fits < 8, f"{fits} samples fit")
    for n, fine in ((fits, True), (fits + 1, False)):
        peak = split(f"{need - 1}B", f"--in-flight={n}")["devices"][1]["peak_bytes"]
        check((peak < need) == fine, f"{n} samples: {peak} of {need - 1}")


# ---- planted errors


def moved(items, a, b):
    items.insert(b, items.pop(a))


def find(items, key):
    return next(k for k, i in enumerate(items) if key in i)


def dropped_send(m, s):
    s["devices"][0]["send"].pop()


def dropped_wait(m, s):
    s["devices"][1]["recv"][0]["tensors"].pop()


def dropped_part(m, s):
    c = s["devices"][0]["compute"]
    c.pop(find(c, "compute"))


def part_twice(m, s):
    c = s["devices"][0]["compute"]
    c.append(dict(c[find(c, "compute")]))


def freed_early(m, s):
    c = s["devices"][0]["compute"]
    k = next(k for k, i in enumerate(c) if "free" in i and i["sample"] == c[find(c, "compute")]["sample"])
    moved(c, k, find(c, "compute"))


def short_queue(m, s):
    s["devices"][1]["recv"][0]["queue"] -= 1


def small_peak(m, s):
    s["devices"][0]["peak_bytes"] -= 1


def small_memory(m, s):
    m["devices"][0]["memory_bytes"] = s["devices"][0]["peak_bytes"] - 1


def other_sample(m, s):
    s["devices"][0]["send"][0]["sample"] -= 1


def unknown_tensor(m, s):
    s["devices"][0]["send"][0]["tensor"] = "nobody's"


def too_many(m, s):
    s["in_flight"] = 1 << 30


def no_number(m, s):
    s["in_flight"] = "4"


def huge_sample(m, s):
    s["devices"][0]["send"][0]["sample"] = 1 << 40


def negative_size(m, s):
    m["tensors"][0]["bytes"] = -1


def huge_sizes(m, s):
    for t in m["tensors"] + m["inputs"]:
        t["bytes"] = (1 << 63) - 1
    for p in m["parts"]:
        p["live_peak_bytes"] = (1 << 63) - 1


def other_device(m, s):
    m["parts"][0]["device"] = "acc7"


PLANTED = [
    (dropped_send, "is never sent to"), (dropped_wait, "is never received by"), (dropped_part, "is never computed"),
    (part_twice, "is computed twice"), (freed_early, "frees"), (short_queue, "has room for"),
    (small_peak, "is said to need"), (small_memory, "and has"), (other_sample, "of another sample"),
    (unknown_tensor, "there is no 'nobody's'"), (too_many, "too many"), (no_number, "'in_flight'"),
    (huge_sample, "'sample'"), (negative_size, "'bytes'"), (huge_sizes, "is said to need"),
    (other_device, "none of the devices"),
]


def planted(at):
    folder = at / "planted"
    run(PCC, at / "gpt.onnx", "-p", QUICK, "-o", folder, "-d", "3xa100", *FAST)
    manifest, schedule = load(folder, "manifest"), load(folder, "schedule")
    for plant, reason in PLANTED:
        m, s = copy.deepcopy(manifest), copy.deepcopy(schedule)
        plant(m, s)
        (folder / "manifest.json").write_text(json.dumps(m))
        (folder / "schedule.json").write_text(json.dumps(s))
        said = run(PCC, folder, "--check-schedule", code=1).stderr
        check(reason in said and said.count("\n") == 1, f"{plant.__name__}: {said}")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    for text in ("", "[]", "{", '{"pcc_schedule": 2}', '{"pcc_schedule": 3}', "[" * 5000, "\xff"):
        (folder / "schedule.json").write_text(text, encoding="latin-1")
        run(PCC, folder, "--check-schedule", code=1)
    (folder / "schedule.json").unlink()
    check("schedule.json" in run(PCC, folder, "--check-schedule", code=1).stderr, "no file")
    run(PCC, at, "--check-schedule", code=1)
    run(PCC, folder, "--check-schedule", "-o", "x.json", code=2)
    run(PCC, at / "gpt.onnx", "-p", QUICK, "-o", at / "many", "-d", "3xa100", *FAST)
    said = run(PCC, at / "many", "--check-schedule", "--in-flight=30").stdout
    check("holds for 30 samples in flight" in said, said)
    run(PCC, at / "many", "--check-schedule", "--in-flight=none", code=2)
    shutil.rmtree(at / "many")
    said = run(PCC, at / "gpt.onnx", "-o", at / "many", *FAST, "--in-flight=1048576", code=1).stderr
    check("--in-flight=1048576: 1048576 samples are too many to check" in said, said)
    check(not (at / "many").exists(), "a folder with too many samples in flight")


def in_turns(at):
    """Devices that take turns with a part have no schedule yet, and the manifest says so."""
    run(PCC, at / "gpt.onnx", "-p", QUICK, "-o", at / "turns", "-d", "2xa100", *FAST, "--replicate")
    manifest = load(at / "turns", "manifest")
    check(any("replicas" in p for p in manifest["parts"]) and manifest["replication"] == "turns", "no replicas")
    check(manifest["schedule"] is None and not (at / "turns/schedule.json").exists(), "a schedule of replicas")
    said = run(PCC, at / "turns", "--check-schedule", code=1).stderr
    check("devices take turns with a part" in said, said)


# ---- iterations of training


def order_of(schedule, stage, ahead, count):
    """What a stage does, (pass, micro-batch); zb-h1 makes gradients of weights `stage` backward passes later."""
    if schedule == "gpipe":
        return [("F", m) for m in range(count)] + [("B", m) for m in reversed(range(count))]
    out, lag = [("F", m) for m in range(min(ahead, count))], stage if schedule == "zb-h1" else count
    for m in range(count):
        out += [("B", m)] + ([("W", m - lag)] if m >= lag else []) + ([("F", m + ahead)] if m + ahead < count else [])
    return out + [("W", m) for m in range(max(0, count - lag), count)]


def order_in_turn(place, places, each, count):
    """What a device with `each` stages does, (pass, stage, micro-batch)."""
    def nth(what, n):
        of = n % (places * each) // places
        of = of if what == "F" else each - 1 - of
        return what, of * places + place, n // (places * each) * places + n % places

    total = count * each
    first = total if count == places else min(total, 2 * (places - place - 1) + (each - 1) * places)
    out = [nth("F", n) for n in range(first)]
    for n in range(total):
        out += ([nth("F", first + n)] if first + n < total else []) + [nth("B", n)]
    return out


def follows(manifest, schedule):
    """The parts of each device in the order of its stages, all that is said of stages with them."""
    training = manifest["training"]
    stages = training["stages"]
    for k, stage in enumerate(stages):
        mine = [p for p in manifest["parts"] if p["stage"] == k and p["pass"] != "update"]
        last = k + 1 == len(stages)
        check(all(p["device"] == stage["devices"][0] and (p["pass"] == "both") <= last for p in mine),
              f"devices and passes of stage {k}")
        passes = {p["pass"] for p in mine}
        if training["schedule"] == "zb-h1":
            check("weight" in passes and len(mine) == len(passes), f"passes of stage {k}: {passes}")
            passes = passes - {"weight"} | ({"backward"} if k == 0 and not last else set())  # nobody waits for it
        check(passes == {"forward", "backward"} or (last and passes == {"both"}), f"passes of stage {k}: {passes}")
    homes = list(dict.fromkeys(s["devices"][0] for s in stages))
    for k, home in enumerate(homes):
        count = schedule["micro_batches"]
        ran = [(what, k, m) for what, m in order_of(training["schedule"], k, stages[k]["ahead"], count)]
        if training["schedule"] == "interleaved":
            ran = order_in_turn(k, len(homes), len(stages) // len(homes), count)
        own = [p for p in manifest["parts"] if p["device"] == home]
        want = [(p["file"], m) for what, s, m in ran for p in own if p["pass"] != "update"
                if p["stage"] == s and what == {"forward": "F", "weight": "W"}.get(p["pass"], "B")]
        want += [(p["file"], count - 1) for p in own if p["pass"] == "update"]
        lists = next(d["compute"] for d in schedule["devices"] if d["name"] == home)
        found = [(i["compute"], i["sample"]) for i in lists if "compute" in i]
        check(found == want, f"{training['schedule']}: another order on {home}: {found}")


def verified(model, folder):
    if SANITIZED:  # the parts are those of other builds
        return
    root = Path(os.environ.get("PCC_SOURCE", Path(__file__).resolve().parents[2]))
    r = subprocess.run([sys.executable, root / "tools/verify_split.py", model, folder], capture_output=True, text=True,
                       timeout=600, check=False)
    check(r.returncode in (0, 77), f"verify_split: {r.stdout[-300:]} {r.stderr[-300:]}")


def zero_bubble(model, manifest):
    """Of a part for gradients of weights nobody else reads; of all other nodes something outside of these parts, or
    another stage, or the caller reads."""
    graph = onnx.load(model).graph
    stage = {n: p["stage"] for p in manifest["parts"] for n in manifest["nodes"][p["file"]]}
    late = {p["file"] for p in manifest["parts"] if p["pass"] in ("weight", "update")}
    weight = {n for p in late for n in manifest["nodes"][p]}
    update = {p["file"] for p in manifest["parts"] if p["pass"] == "update"}
    waits = [t["name"] for t in manifest["tensors"] if t["from"] in late and not update.issuperset(t["to"])]
    check(not waits, "a part waits for gradients of weights")
    readers = {}
    for n in graph.node:
        for v in n.input:
            readers.setdefault(v, []).append(n.name)
    for n in graph.node:
        if n.name not in stage:
            continue
        read = [r for v in n.output for r in readers.get(v, []) if r in stage]
        wanted = any(r not in weight or stage[r] != stage[n.name] for r in read) or "loss" in n.output
        check(wanted == (n.name not in weight), f"'{n.name}' of stage {stage[n.name]} is in a wrong part")
    check({stage[n] for n in weight if "weight/MatMul_grad" in n} == {0, 1, 2, 3}, "no gradients of weights")


def bars_of(at, model, manifest, how):
    """In the trace of the iteration W takes as long as the parts of that pass and the adding up of the stage's
    gradients; the update, once, as long as its part, what it costs, and one multiplication of each sum; all passes as
    long as the other parts, what two of them cost, and adding up.  Adding moves three tensors' bytes, multiplying two,
    at one rate, each with an operator's overhead: two stages tell both, the others must agree."""
    out = at / "x.trace.json"
    run(PCC, model, *how, "-o", out)
    took = {}
    for e in json.loads(out.read_text())["traceEvents"]:
        if e["ph"] == "X" and e["cat"] in ("forward", "backward", "weight", "update"):
            took.setdefault(e["args"]["stage"], {}).setdefault(e["cat"], set()).add(e["dur"])
    for k, kinds in took.items():
        check(all(len(d) == 1 for d in kinds.values()), f"micro-batches of stage {k} take {kinds}")

    def parts(k, *passes):
        return sum(p["compute_s"] for p in manifest["parts"] if p["stage"] == k and p["pass"] in passes)

    cost, sums = manifest["objective"]["part_cost_s"], {}
    for k, kinds in took.items():
        most = {kind: max(d) / 1e6 for kind, d in kinds.items()}
        own = {g["gradient"] for g in manifest["training"].get("gradients", []) if g["stage"] == k}
        bytes_of = [t["bytes"] for t in manifest["tensors"] if t["name"] in own]
        adds = most["weight"] - parts(k, "weight")
        check(("update" in most) == bool(own) and (own or abs(adds) < 1e-11), f"stage {k}: {most}, {adds} s for sums")
        if own:
            sums[k] = adds, most["update"] - parts(k, "update") - cost, len(bytes_of), sum(bytes_of)
        passes = most["forward"] + most["backward"] + most["weight"]
        rest = passes - adds - parts(k, "forward", "backward", "both", "weight") - 2 * cost
        check(abs(rest) < 1e-11, f"stage {k}: passes take {rest} s besides")
    adds, scales, n, size = sums.get(0, (3, 2, 1, 1))
    rate = (adds - scales) / size  # 3 - 2 tensors
    overhead = (adds - 3 * size * rate) / n
    check(not sums or rate > 0 and overhead > 0 and all(
        abs(a - n * overhead - 3 * b * rate) < n * 1e-11 and abs(s - n * overhead - 2 * b * rate) < n * 1e-11
        for a, s, n, b in sums.values()), f"sums of gradients: {sums}")
    check(sorted(took) == [0, 1, 2, 3], f"stages {sorted(took)} in the trace")


def planned(at, model, schedule):
    """Four devices that had better not exchange gradients: a stage for each, cut where the graph may be."""
    folder, args = at / f"planned-{schedule}", [*TRAINED, f"--schedule={schedule}", "--micro-batches=8"]
    again = schedule == "dapple"  # forward nodes run again before the backward pass
    run(PCC, model, "-p", "dapple-place", "-o", folder, *args, "--allreduce=1MB/s",
        f"--recompute={'all' if again else 'auto'}")
    manifest, lists = accepted(folder, f"planned for {schedule}")
    check(len(manifest["training"]["stages"]) == 4, f"{schedule}: {len(manifest['training']['stages'])} stages")
    follows(manifest, lists)
    if schedule == "zb-h1":
        zero_bubble(model, manifest)
    if again:
        made_again(at, model, folder, args)
    verified(model, folder)


def made_again(at, model, folder, args):
    """In stages that recompute nothing is kept from the forward to the backward part; the parts that read it have the
    nodes that run again, and so has the folder of that plan once more.  What does not fit is neither planned nor
    written, and what is planned for the memory that there is fits: one figure in the plan and in its folder."""
    manifest, lists = load(folder, "manifest"), load(folder, "schedule")
    part = {p["file"]: p for p in manifest["parts"]}
    home = {n: part[f] for f, nodes in manifest["nodes"].items() for n in nodes}
    check(manifest["recomputed"] and all(s["recompute"] for s in manifest["training"]["stages"]), "nothing runs again")
    for copy, of in manifest["recomputed"].items():
        check(home[copy]["pass"] == "backward" and home[of]["pass"] == "forward"
              and home[copy]["stage"] == home[of]["stage"], f"{copy} is in {home[copy]}")
    for t in manifest["tensors"]:
        a = part[t["from"]]
        check(a["pass"] == "backward" or all(part[b]["stage"] > a["stage"] for b in t["to"]), f"{t['name']} is kept")
    used, peak = ({d["name"]: d[key] for d in of["devices"]}
                  for of, key in ((manifest, "used_bytes"), (lists, "peak_bytes")))
    check(all(peak[d] <= used[d] for d in peak), f"promised {used}, counted {peak}")
    tight, plan = [f"4xa100:{max(peak.values()) * 3 // 4}B" if a == args[1] else a for a in args], at / "tight.json"
    for out in (at / "tight", plan)[:2 - SANITIZED]:
        run(PCC, model, "-p", "dapple-place", "-o", out, *tight, "--allreduce=1MB/s", "--recompute=all")
    less = accepted(at / "tight", "planned for less memory")[0]
    there = json.loads(plan.read_text()) if not SANITIZED else less
    check([d["used_bytes"] for d in there["devices"]] == [d["used_bytes"] for d in less["devices"]]
          and less["objective"]["value_s"] > manifest["objective"]["value_s"], "the plan and its folder in less memory")
    run(PCC, model, "-p", given(folder), "-o", at / "once-more", *args)
    more = load(at / "once-more", "manifest")
    check(all(more[k] == manifest[k] for k in ("training", "parts", "nodes", "recomputed")), "the plan of that folder")
    args[1] = f"4xa100:{max(peak.values()) - 1}B"
    said = run(PCC, model, "-p", given(folder), "-o", at / "no-room", *args, code=3).stderr
    check(": acc" in said and " needs " in said and not (at / "no-room").exists(), said)


def reduced(at, model, manifest, how):
    """An AllReduce moves 2 (n - 1) / n of the weights that a stage's nodes read, each once."""
    out, graph = at / "y.trace.json", onnx.load(model).graph
    run(PCC, model, "-p", "dapple-place", *how, "-o", out)
    size = {t.name: onnx.numpy_helper.to_array(t).nbytes for t in graph.initializer}
    reads = {n.name: [v for v in n.input if v in size] for n in graph.node}
    bars = {e["args"]["stage"]: e["dur"] for e in json.loads(out.read_text())["traceEvents"]
            if e["ph"] == "X" and e["cat"] == "allreduce"}
    held, wanted = {}, {}
    for k, stage in enumerate(manifest["training"]["stages"]):
        here, n = held.setdefault(stage["devices"][0], set()), len(stage["devices"])
        mine = {v for p in manifest["parts"] if p["stage"] == k for node in manifest["nodes"][p["file"]]
                for v in reads[node]} - here
        here |= mine
        if n > 1:
            wanted[k] = sum(size[v] for v in mine) * 2 * (n - 1) / n / 1e12 * 1e6
    # a constant of some bytes may be with either stage of a device
    check(wanted and wanted.keys() == bars.keys() and all(abs(bars[k] - us) <= 1e-4 for k, us in wanted.items())
          and abs(sum(bars.values()) - sum(wanted.values())) < 1e-5, f"AllReduces take {bars} us, wanted {wanted}")


def interleaved(at, model):
    """Devices with two stages each: parts of one stage, lists in their order; the folder is a plan with these."""
    one, two, args = at / "turn", at / "turn2", [*TRAINED, SLOW, "--schedule=interleaved", "--micro-batches=8"]
    run(PCC, model, "-p", "dapple-place", "-o", one, *args, "--stages-per-device=2")
    manifest, lists = accepted(one, "interleaved stages")
    stages = manifest["training"]["stages"]
    check(len(stages) > len({s["devices"][0] for s in stages}) > 1, f"stages that share no device: {stages}")
    follows(manifest, lists)
    verified(model, one)
    reduced(at, model, manifest, [*args, "--stages-per-device=2"])
    run(PCC, model, "-p", given(one), "-o", two, *TRAINED, SLOW)  # the folder says how it trains
    again = load(two, "manifest")
    check(again["training"] == manifest["training"] and load(two, "schedule") == lists, "interleaved, from a folder")


# devices that take long for computing beside what they take for each operator, so that several share a stage
SLOW = "--efficiency=0.001"
TRAINED = ["-d", "4xa100", "--objective=iteration-time", "--dim=batch=4", *FAST]


def iterations(at):
    model, rules, folder = at / "train4.onnx", at / "stages.txt", at / "stages"
    run(PCC_GEN, "train", "--layers", "4", *SMALL, "-o", model)
    rules.write_text("layers.1=acc1\nlayers.2=acc2\nlayers.3|ln_f|lm_head|loss=acc3\n.=acc0\n")
    for schedule in ("dapple", "gpipe", "zb-h1", "pipedream"):
        counts = (8, 3, 1) if schedule in ("dapple", "zb-h1") else (8, 1)  # 3: fewer than stages
        for count in counts[-1:] if SANITIZED else counts:
            run(PCC, model, "-p", given(rules), "-o", folder, *TRAINED, f"--schedule={schedule}",
                f"--micro-batches={count}", "-Wno-unmatched-pattern")
            manifest, lists = accepted(folder, f"iteration of {schedule}")
            check(lists["micro_batches"] == manifest["training"]["micro_batches"] == count, "micro-batches")
            check(len(manifest["training"]["stages"]) == 4 and manifest["training"]["schedule"] == schedule, "stages")
            follows(manifest, lists)
            if schedule == "zb-h1":
                zero_bubble(model, manifest)
                bars_of(at, model, manifest, ["-p", given(rules), *TRAINED[:-1], f"--schedule={schedule}",
                                              f"--micro-batches={count}", "-q", "-Wno-unmatched-pattern"])
            it = manifest["iteration"]
            check(it["time_s"] == manifest["objective"]["value_s"] and 0 < it["bubble"] < 1, f"iteration: {it}")
            check(it["peak_bytes"] == max(d["used_bytes"] for d in manifest["devices"]), "the peak")
    for schedule in ("dapple", "zb-h1"):
        planned(at, model, schedule)
    interleaved(at, model)
    again = at / "again"
    run(PCC, model, "-p", given(folder), "-o", again, *TRAINED)
    check(load(again, "manifest")["training"] == load(folder, "manifest")["training"], "stages from a folder")
    run(PCC, model, "-p", "dapple-place", "-o", again, *TRAINED, SLOW, "--micro-batches=2")
    manifest, lists = accepted(again, "replicas")
    follows(manifest, lists)
    check(manifest["replication"] == "slices" and any(len(p.get("replicas", [])) > 1 for p in manifest["parts"]),
          "replicas of a stage")
    unequal(at, model)
    run(PCC, model, "-p", "data-parallel-place", "-o", at / "x", *TRAINED, "--slices=any", "--micro-batch-size=2")
    check("4 devices share micro-batches of 2" in load(at / "x", "manifest")["schedule_why"], "parts of a sample")
    said = run(PCC, model, "-p", "dapple-place", "-o", at / "x", *TRAINED, "--in-flight=2", code=1).stderr
    check("--in-flight=2: an iteration has its micro-batches" in said, said)
    said = run(PCC, again, "--check-schedule", "--in-flight=2", code=1).stderr
    check("it is of one iteration: --in-flight does not apply" in said, said)
    planted_iteration(model, rules, folder)


# stages that share micro-batches of 6 samples among 2, 3 and 1 devices
UNEQUAL = [["acc0", "acc1"], ["acc2", "acc3", "acc4"], ["acc5"]]


def unequal(at, model):
    """Stages on unequal numbers of devices: lists for every device, slices go out and rows are joined.  Micro-batches
    have another size than the costs are about.  Each planted error in the rows is found."""
    plan, folder = at / "unequal.json", at / "unequal"
    rules = at / "unequal.txt"
    rules.write_text("layers.1=acc2\nlayers.2=acc2\nlayers.3|ln_f|lm_head|loss=acc5\n.=acc0\n")
    args = ["-d", "6xa100", *TRAINED[2:3], "--dim=batch=2", *FAST, "--micro-batches=3", "--micro-batch-size=6"]
    run(PCC, model, "-p", given(rules), "-o", plan, *args, "-Wno-unmatched-pattern")
    made = json.loads(plan.read_text())
    made["training"] = {
        "schedule": "dapple", "micro_batches": 3, "micro_batch_size": 6, "profiled_batch": 2, "workspace_bytes": 0,
        "stages": [{"devices": d, "ahead": 3 - k, "recompute": False} for k, d in enumerate(UNEQUAL)]}
    plan.write_text(json.dumps(made))
    run(PCC, model, "-p", given(plan), "-o", folder, *args)
    manifest, schedule = accepted(folder, "unequal stages", '"rows": [4, 2]', '"rows": [3, 1]')
    check([p["slice_samples"] for p in manifest["parts"]] == [6 // len(UNEQUAL[p["stage"]]) for p in manifest["parts"]],
          "samples of slices")
    lists = {d["name"]: [i for i in d["compute"] if "compute" in i] for d in schedule["devices"]}
    for devices in UNEQUAL:
        check(all(lists[d] == lists[devices[0]] for d in devices), f"{devices} differ")
    one = [d["send"] for d in schedule["devices"] if d["name"] == "acc1"][0]
    k = next(k for k, i in enumerate(one) if i["to"] == "acc3" and i.get("rows") == [3, 1])
    plants = [
        (lambda s: s["devices"][1]["send"].pop(k), "is never sent to acc3"),
        (lambda s: s["devices"][1]["send"][k].update(rows=[3, 2]), "no slice of 2 samples from 3 on"),
        (lambda s: s["devices"][1]["send"][k].update(rows=[2, 1]), "comes from acc0"),
        (lambda s: s["devices"][1]["send"][k].pop("rows"), "no slice of 6 samples from 0 on"),
        (lambda s: s["devices"][1]["send"][k].update(rows=[3, -1]), "expected 'rows'"),
        (lambda s: s["devices"][1]["send"][k].update(to="acc4"), "is not wanted on acc4"),
        (lambda s: s["devices"][1]["send"].insert(k, dict(s["devices"][1]["send"][k])), "is sent twice on acc1"),
        (lambda s: next(r for r in s["devices"][3]["recv"] if r["from"] == "acc1").update(queue=0), "has room for 0"),
        (lambda s: s["devices"][4]["compute"].append(s["devices"][0]["compute"][0]), "is not wanted on acc4"),
        (lambda s: s["devices"][1].update(peak_bytes=s["devices"][1]["peak_bytes"] - 1), "is said to need"),
        (lambda s: s["devices"][1].update(compute=[]), "expected each of")]
    for n, (plant, reason) in enumerate(plants):
        s = copy.deepcopy(schedule)
        plant(s)
        (folder / "schedule.json").write_text(json.dumps(s))
        said = run(PCC, folder, "--check-schedule", code=1).stderr
        check(reason in said and said.count("\n") == 1, f"rows, planted {n}: {said}")


def computes(s, device):
    return [i for i in s["devices"][device]["compute"] if "compute" in i]


def swap_batches(m, s):
    a, b = computes(s, 0)[:2]
    a["sample"], b["sample"] = b["sample"], a["sample"]


def backward_first(m, s):
    c = s["devices"][0]["compute"]
    last = next(k for k, i in enumerate(c) if i.get("compute") == computes(s, 0)[-1]["compute"])
    moved(c, last, 0)


def twice(m, s):
    computes(s, 1)[1]["sample"] = 0


def other_batch(m, s):
    s["devices"][1]["send"][0]["sample"] += 1


def no_such_batch(m, s):
    computes(s, 0)[0]["sample"] = 8


def one_more(m, s):
    s["micro_batches"] += 1


def many_more(m, s):
    s["micro_batches"] = 1 << 20


def long_name(m, s):
    """A name of each tensor and micro-batch is made: 1 MiB, a thousand times."""
    s["micro_batches"] = 1000
    m["inputs"].append({"name": "n" * (1 << 20), "bytes": 1})


def planted_iteration(model, rules, folder):
    run(PCC, model, "-p", given(rules), "-o", folder, *TRAINED, "--micro-batches=8",
        "--update=within", "-Wno-unmatched-pattern")
    manifest, schedule = load(folder, "manifest"), load(folder, "schedule")
    for plant, reason in [
            (swap_batches, "before"), (backward_first, "deadlock"), (twice, "is computed twice"),
            (other_batch, "is sent"), (no_such_batch, "micro-batch 8"), (one_more, "expected each of"),
            (many_more, "too many micro-batches"), (long_name, "fewer micro-batches"),
            (dropped_send, "is never sent to"), (dropped_part, "expected each of"),
            (freed_early, "frees"), (small_peak, "is said to need"), (small_memory, "and has"),
            (short_queue, "has room")]:
        m, s = copy.deepcopy(manifest), copy.deepcopy(schedule)
        plant(m, s)
        (folder / "manifest.json").write_text(json.dumps(m))
        (folder / "schedule.json").write_text(json.dumps(s))
        said = run(PCC, folder, "--check-schedule", code=1).stderr
        check(reason in said and said.count("\n") == 1, f"{plant.__name__}: {said}")


with tempfile.TemporaryDirectory() as temp:
    for test in (splits, one_step, tight, planted, in_turns, iterations):
        test(Path(temp))
sys.exit(finish())
