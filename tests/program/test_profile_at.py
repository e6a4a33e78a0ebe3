"""Standard Evaluation: times and memory of a batch size that was not measured, from those of smaller ones.

Lines that a table lies on come back exactly; what lies on none is compared with least squares in fractions, worked
out here.  Then what is refused, what is said of bad files, the comparison with a measurement, 300,000 nodes, and the
whole way: small batches, a sequential plan, its measurement, the plan.  Extra `ort`: measured by ONNX Runtime.

Needs the Python package onnx (else 77)."""
# extras: ort
# once: sanitized
import csv
import io
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, complain, finish

try:
    from onnx import TensorProto, helper, save
except ImportError:
    print("skipped: the Python package onnx is not installed")
    sys.exit(77)

PCC = os.environ.get("PCC", "pcc")
FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
MODEL = HERE / "chain.onnx"
NODES = 40
ODD = ['a,b', 'say "so"', "tab\there", "päck", "a:b=c", "'", "%x", "x" * 300]
NAMES = ODD + [f"n{i}" for i in range(len(ODD), NODES)]
UNIT = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def pcc(*args):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=300)
    if r.returncode < 0 or "Sanitizer" in r.stderr or "runtime error:" in r.stderr:
        complain(f"{args}: exit {r.returncode}: {r.stderr[:600]}")
    return r


def file(name, content):
    path = HERE / name
    if isinstance(content, list) and content and isinstance(content[0], tuple):
        with open(path, "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows([("name", "time", "memory"), *content])
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def make_model():
    """A chain of Relu over f32[batch,4]: 16 bytes of results for each sample."""
    nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"], NAMES[i]) for i in range(NODES)]
    ends = [helper.make_tensor_value_info(v, TensorProto.FLOAT, ["batch", 4]) for v in ("v0", f"v{NODES}")]
    save(helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:]), ir_version=8,
                           opset_imports=[helper.make_opsetid("", 17)]), MODEL)


def planned(*args, model=MODEL, devices="a100,cpu"):
    """([ps of each node on each class], [bytes beside weights], stderr)"""
    r = pcc(model, "-d", devices, "--emit", "csv", *args)
    check(r.returncode == 0, f"{args}: exit {r.returncode}: {r.stderr}")
    rows = csv.DictReader(io.StringIO(r.stdout))
    ps = [[int(v) if v else None for k, v in row.items() if k.startswith("ps_")] for row in rows]
    ir = pcc(model, "-d", devices, "-p", "cost", "--emit", "ir", *args).stdout
    own = {int(v): int(n) * UNIT[u] for v, n, u in re.findall(r"(?m)^  %v(\d+) = .* !own=(\d+)([KMGT]?i?B)", ir)}
    return ps, [own.get(i + 1) for i in range(NODES)], r.stderr


def fitted(points, at):
    """(nearest, enough) of least squares at a size: alpha + beta * size from the normal equations."""
    n = len(points)
    x, y = [Fraction(p[0]) for p in points], [Fraction(p[1]) for p in points]
    mean_x, mean_y = sum(x) / n, sum(y) / n
    beta = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)
    value = max(Fraction(0), mean_y + beta * (at - mean_x))
    nearest, up = (2 * value + 1) // 2, -(-value // 1)
    return int(nearest), int(max(up, max(y)) if beta >= 0 else up)


def draw_sizes(rng):
    sizes = [rng.choice([1, 2, 3, 4, 8, rng.randint(1, 1000), rng.randint(1, 2 ** 24)])
             for _ in range(rng.randint(2, 6))]
    return sizes if len(set(sizes)) > 1 else [*sizes, sizes[0] % 100 + 1]


def options(tables, kind="profile-at"):
    return [f"--{kind}={b}={file(f'{kind}{i}.csv', rows)}" for i, (b, rows) in enumerate(tables)]


def lines_come_back():
    rng = random.Random(1)
    for _ in range(12):
        sizes, at = draw_sizes(rng), rng.choice([1, 2, 7, 64, 1000, rng.randint(1, 2 ** 24)])
        time = [(rng.getrandbits(rng.randint(0, 40)), rng.getrandbits(rng.randint(0, 20))) for _ in NAMES]
        size = [(rng.getrandbits(rng.randint(0, 30)), 16 + rng.getrandbits(rng.randint(0, 10))) for _ in NAMES]
        tables = [(b, [(n, t[0] + t[1] * b, s[0] + s[1] * b) for n, t, s in zip(NAMES, time, size)]) for b in sizes]
        ps, own, err = planned(*options(tables), f"--dim=batch={at}")
        check(ps == [[a + b * at] * 2 for a, b in time], f"times, {sizes} -> {at}")
        want = [a + b * max(at, *sizes) for a, b in size]
        check(own == want, f"memory, {sizes} -> {at}")
        check("warning" not in err, err)


def least_squares():
    rng = random.Random(2)
    differ = 0
    for _ in range(12):
        sizes, at = draw_sizes(rng), rng.choice([1, 3, 10, 1000, 2 ** 24])
        tables = []
        for b in sizes:
            rows = [(n, rng.getrandbits(rng.randint(1, 30)), rng.getrandbits(rng.randint(1, 20))) for n in NAMES]
            tables.append((b, [row for row in rows if rng.random() < 0.8]))
        ps, own, _ = planned(*options(tables), f"--dim=batch={at}")
        base, results, _ = planned(f"--dim=batch={at}")
        for i, name in enumerate(NAMES):
            points = [(b, row) for b, rows in tables for row in rows if row[0] == name]
            fits = len({b for b, _ in points}) > 1
            time = fitted([(b, row[1]) for b, row in points], at)[0] if fits else None
            size = fitted([(b, row[2]) for b, row in points], at)[1] if fits else 0
            check(ps[i] == ([time] * 2 if fits else base[i]), f"{name}: {ps[i]}, not {time}: {points} -> {at}")
            check(own[i] == max(size, results[i]), f"{name}: {own[i]} bytes, not {size}: {points} -> {at}")
            differ += fits and len(points) > 2
    check(differ > 100, f"{differ} lines through more than two points")


def twice_and_missing():
    a, b, c = file("a.csv", [("n9", 100, ""), ("n10", 7, "")]), file("b.csv", [("n9", 300, "")]), \
        file("c.csv", [("n9", 400, ""), ("n11", 5, 5)])
    i = NAMES.index("n9")
    base = planned("--dim=batch=5")[0]
    ps, own, err = planned(f"--profile-at=1={a}", f"--profile-at=1={b}", f"--profile-at=3={c}", "--dim=batch=5")
    check(ps[i] == [600, 600], f"two files of one size count as two points: {ps[i]}")
    check(ps[i + 1] == base[i + 1] and ps[i + 2] == base[i + 2] and own[i + 2] == 5 * 16, "measured at one size only")
    check("2 nodes" in err and "'n10'" in err and "[-Wone-size]" in err, err)
    one = planned(f"--profile-at=1={a}:cpu", f"--profile-at=3={c}:cpu", "--dim=batch=5")[0]
    check(one[i] == [base[i][0], 700], f"one class: {one[i]}")
    never = file("never.csv", "name,time\nn9,never\n")
    ps, _, _ = planned(f"--profile-at=1={never}:a100", f"--profile-at=3={c}", f"--profile-at=1={a}", "--dim=batch=5")
    check(ps[i] == [None, 700], f"what cannot run: {ps[i]}")
    over = file("over.csv", "name,op,time,memory\n,Relu,9,\nn9,,8,7777\n")
    ps, own, _ = planned(f"--profile-at=1={a}", f"--profile-at=3={c}", f"--costs={over}", "--dim=batch=5")
    check(ps[i] == [8, 8] and own[i] == 7777 and ps[i + 2] == [9, 9], f"--costs goes before: {ps[i]} {own[i]}")
    op = [file(f"op{k}.csv", f"op,time\nRelu,{k}us\n") for k in (1, 2)]
    ps, _, _ = planned(f"--profile-at=1={op[0]}", f"--profile-at=2={op[1]}", "--dim=batch=5")
    check(ps == [[5000000] * 2] * NODES, "operator types")


def refused(word, *args, rc=1, model=MODEL):
    r = pcc(model, "-d", "a100,cpu", "--emit", "csv", *args)
    check(r.returncode == rc and word in r.stderr and r.stderr.count("error:") == 1,
          f"{args}: exit {r.returncode}, not {rc}: {r.stderr.strip()} (wanted '{word}')")


def what_is_refused():
    t = file("t.csv", [("n9", 1, 1)])
    two = (f"--profile-at=1={t}", f"--profile-at=2={t}")
    for bad in ("0", "-1", "x", "", "1.5", "16777217", "9223372036854775808", "99999999999999999999999"):
        refused("expected B=FILE", f"--profile-at={bad}={t}", rc=2)
        refused("expected B=FILE", *two, f"--profile-check={bad}={t}", rc=2)
    refused("expected B=FILE", f"--profile-at={t}", rc=2)
    refused("expected B=FILE", "--profile-at=1=", rc=2)
    refused("two different sizes", f"--profile-at=1={t}", "--dim=batch=4", rc=2)
    refused("two different sizes", f"--profile-at=4={t}", f"--profile-at=4={t}", "--dim=batch=4", rc=2)
    refused("33 files", *(f"--profile-at={i + 1}={t}" for i in range(33)), rc=2)
    refused("without --profile-at", f"--profile-check=1={t}", rc=2)
    refused("say --dim batch=N", *two)
    refused("say --dim batch=N", *two, "--dim=sequence=4")
    refused("1 to 16777216", *two, "--dim=batch=16777217")
    refused("one batch size", *two, "--dim=batch=4", "--dim=batch_size=8")
    refused("no class 'tpu'", *two[:1], f"--profile-at=2={t}:tpu", "--dim=batch=4")
    refused("none.csv", *two, f"--profile-at=3={HERE / 'none.csv'}", "--dim=batch=4")
    refused("bad.csv", *two, f"--profile-check=3={file('bad.csv', 'name,weight' + chr(10))}", "--dim=batch=4")
    far = file("far.csv", [("n9", 2 ** 60, 2 ** 60)])
    r = pcc(MODEL, "-p", "dp-place", "-o", HERE / "x.json", f"--profile-at=1={t}", f"--profile-at=2={far}",
            "--dim=batch=16777216")
    check(r.returncode == 1 and "more than pcc can count" in r.stderr, f"beyond counting: {r.returncode} {r.stderr}")
    load = {"nodes": [{"id": 1, "name": "n9", "supportedOnFpga": 1, "cpuLatency": 2, "fpgaLatency": 1, "size": 10}],
            "edges": [], "maxSizePerFPGA": 100, "maxFPGAs": 1, "maxCPUs": 1}
    r = pcc(file("load.json", load), "-p", "dp-place", "-o", HERE / "x.json", *two, "--dim=batch=4")
    check(r.returncode == 1 and "costs of its own" in r.stderr, f"a workload: {r.returncode} {r.stderr}")
    text = HERE / "costs.pir"
    text.write_text(pcc(MODEL, "-p", "cost", "--emit", "ir", "-d", "a100,cpu", "--dim=batch=2").stdout)
    r = pcc(text, "-p", "cost", "--emit", "csv", *two, "--dim=batch=4")
    check(r.returncode == 1 and "costs of its own" in r.stderr, f"textual IR with costs: {r.returncode} {r.stderr}")
    text.write_text(pcc(MODEL, "--stop-after=infer-shapes", "--emit", "ir").stdout)
    r = pcc(text, "--emit", "csv", *two, "--dim=batch=4")
    check(r.returncode == 0, f"textual IR without costs: {r.stderr}")


def deviations(err):
    return re.findall(r"note: \S+: batch (\d+), (time on [^:]*|memory): (.*)", err)


def compared():
    names = NAMES[8:13]
    low = [(1, [(n, 100, 10) for n in names]), (2, [(n, 200, 20) for n in names])]
    # predicted at 4: 400 and 40
    real = [(names[0], 400, 40), (names[1], 500, 0), (names[2], 320, 41), (names[3], 0, 0), (names[4], 571, ""),
            ("n20", 5, 5)]
    check4 = file("real.csv", real)
    _, _, err = planned(*options(low), "--dim=batch=8", f"--profile-check=4={check4}")
    off = [0, Fraction(100, 500), Fraction(80, 320), Fraction(171, 571)]
    mean = float(sum(off) / 4 * 100)
    check(deviations(err) == [
        ("4", "time on a100, cpu", f"mean deviation {mean:.2f} % of 4 nodes, 25.0 % within 0 %, 50.0 % within 20 %, "
         "100.0 % within 30 %; 1 measured as 0 left out"),
        ("4", "memory", "mean deviation 1.22 % of 2 nodes, 50.0 % within 0 %, 100.0 % within 20 %, "
         "100.0 % within 30 %; 2 measured as 0 left out")], f"{deviations(err)}")
    _, _, err = planned(*options(low), "--dim=batch=8", f"--profile-check=4={check4}:cpu",
                        f"--profile-check=2={file('low.csv', low[1][1])}")
    check([d[:2] for d in deviations(err)] == [("4", "time on cpu"), ("4", "memory"), ("2", "time on a100, cpu"),
                                               ("2", "memory")], f"{deviations(err)}")
    check(all(d[2].startswith("mean deviation 0.00 % of 5 nodes, 100.0 % within 0") for d in deviations(err)[2:]), err)
    _, _, err = planned(*options(low), "--dim=batch=8", f"--profile-check=4={file('o.csv', [('n30', 5, '')])}")
    check(deviations(err) == [("4", "time on a100, cpu", "no nodes to compare")], f"{deviations(err)}")
    huge = file("huge.csv", [(n, 1, 1) for n in names])
    steep = [(1, [(n, 1, 1) for n in names]), (2, [(n, 2 ** 59, 1) for n in names])]
    never = file("o.csv", [("n9", "never", 7)])  # what cannot run deviates from nothing
    _, _, err = planned(*options(low), "--dim=batch=8", f"--profile-check=4={never}")
    check(deviations(err)[0] == ("4", "time on a100, cpu", "no nodes to compare"), f"never: {deviations(err)}")
    _, _, err = planned(*options(low), f"--profile-at=6={never}:a100", "--dim=batch=8",
                        f"--profile-check=4={file('some.csv', [('n9', 5, 7)])}")
    check(deviations(err)[0] == ("4", "time on a100", "no nodes to compare"), f"never: {deviations(err)}")
    r = pcc(MODEL, "--emit", "csv", *options(steep), "--dim=batch=1", f"--profile-check=16777216={huge}")
    check(r.returncode == 0 and len(deviations(r.stderr)) == 2, f"as large as can be: {r.stderr}")


def forms():
    """JSON and ONNX Runtime's profiles, too; the batch by the name of the first dimension."""
    def event(name, us, size):
        return {"cat": "Node", "name": name + "_kernel_time", "dur": us,
                "args": {"op_name": "Relu", "output_size": size}}
    json1 = file("1.json", [{"name": "n9", "time": "10us", "memory": 100}])
    ort2 = file("2.json", [event("n9", 20, "200"), event("n9", 22, "190"), event("n9", 20, "200")])
    ps, own, err = planned(f"--profile-at=1={json1}", f"--profile-at=2={ort2}", "--dim=batch=4")
    i = NAMES.index("n9")
    check(ps[i] == [40000000] * 2 and own[i] == 400, f"{ps[i]} {own[i]}")
    check("1 of 40 nodes, batch 2" in err and "roofline" not in err, err)
    f = TensorProto.FLOAT
    ends = [helper.make_tensor_value_info(v, f, ["rows", 4]) for v in ("v0", "v1")]
    other = HERE / "rows.onnx"
    save(helper.make_model(helper.make_graph([helper.make_node("Relu", ["v0"], ["v1"], "n9")], "g", ends[:1], ends[1:]),
                           ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), other)
    r = pcc(other, "--emit", "csv", "-d", "cpu", f"--profile-at=1={json1}", f"--profile-at=2={ort2}", "--dim=rows=6")
    check(r.returncode == 0 and "n9,Relu,24,192,96,600,60000000" in r.stdout, f"{r.stdout} {r.stderr}")


def many():
    """60,000 nodes and four profiles take little beside reading the model; more than in proportion would be more."""
    nodes, text = 60000, ["graph {", "  in %v0 : f32[batch]"]
    text += [f'  %v{i + 1} = Relu(%v{i}) : f32[batch] name="n{i}"' for i in range(nodes)]
    model = HERE / "many.pir"
    model.write_text("\n".join([*text, f"  out %v{nodes}", "}"]) + "\n")
    def seconds(*args):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        r = pcc(model, "-q", "-p", "cost", "--dim=batch=8", *args)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        check(r.returncode == 0, f"{r.returncode}: {r.stderr[:300]}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    files = []
    for b in (1, 2, 4, 5):
        path = HERE / f"many{b}.csv"
        path.write_text("name,time,memory\n" + "".join(f"n{i},{i * b + 7},{4 * b + i}\n" for i in range(nodes)))
        files.append(f"--profile-at={b}={path}")
    without, with_four = seconds(), seconds(*files)
    print(f"60,000 nodes: {without:.2f} s of CPU without, {with_four:.2f} s with four profiles")
    check(with_four < 5 * without, f"four profiles take {with_four - without:.2f} s of CPU")


def rows_of(table):
    return {r["name"]: r for r in csv.DictReader(table.read_text().splitlines())}


def the_whole_way(measure):
    """Small batches, as few devices as hold the batch of 8, a measurement there, the plan.  measure(what, batch, table)
    writes a table of a model or a split folder."""
    model, dims = HERE / "gpt.onnx", ["--dim=batch=8", "--dim=sequence=8"]
    gen = os.environ.get("PCC_GEN") or Path(PCC).parent / "pcc-gen"
    subprocess.run([gen, "gpt", "--layers", "2", "--width", "32", "--heads", "2", "--vocab", "64", "-o", model],
                   check=True)
    small = []
    for b in (1, 2, 4):
        measure(model, b, HERE / f"b{b}.csv")
        small.append(f"--profile-at={b}={HERE / f'b{b}.csv'}")
    measure(model, 8, HERE / "b8.csv")
    r = pcc(model, "-d", "cpu", "-p", "cost", *dims, *small, f"--profile-check=8={HERE / 'b8.csv'}")
    found = dict(d[1:] for d in deviations(r.stderr))
    check(r.returncode == 0 and "mean deviation 0.00 %" in found["memory"] and "100.0 % within 0 %" in found["memory"],
          f"memory is affine in the batch: {r.returncode} {r.stderr}")
    print(f"time: {found['time on cpu']}")  # timing decides nothing
    r = pcc(model, "-d", "a100", "--emit", "csv", *dims, *small)
    needed = sum(int(row.get("memory", row["result_bytes"])) for row in csv.DictReader(io.StringIO(r.stdout)))
    # the file is little more than its weights
    devices, first = f"4xa100:{6 * (needed + model.stat().st_size) // 10}B", HERE / "sequential"
    r = pcc(model, "-d", devices, "-p", "order-place", "--objective=makespan", "--memory-model=sum", "-o", first, *dims,
            *small)
    check(r.returncode == 0 and "without room" not in r.stdout, f"{r.returncode} {r.stdout[-500:]} {r.stderr}")
    check("times predicted, roughly, from batches of 1, 2, 4" in " ".join((r.stdout + r.stderr).split()),
          f"{r.stdout} {r.stderr}")
    manifest = json.loads((first / "manifest.json").read_text())
    used = [d["name"] for d in manifest["devices"] if d["parts"]]
    check(used == ["acc0", "acc1"], f"as few as hold it: {used}")
    measured = HERE / "measured.csv"
    measure(first, 8, measured)
    held = {n for names in manifest["nodes"].values() for n in names}
    check(held and held <= set(rows_of(measured)), f"not measured: {sorted(held - set(rows_of(measured)))[:5]}")
    r = pcc(model, "-d", devices, "-p", "celeritas-place", "--objective=makespan", "-o", HERE / "last.json", *dims,
            *small, f"--costs={measured}")
    check(r.returncode == 0, r.stderr)
    plan = json.loads((HERE / "last.json").read_text())
    placed = {n for d in plan["devices"] for n in d.get("nodes", [])}
    r = pcc(model, "-d", devices, "--emit", "csv", *dims, *small, f"--costs={measured}")
    now = {row["name"]: int(row["ps_a100"]) for row in csv.DictReader(io.StringIO(r.stdout))}
    want = {n: int(row["time"]) for n, row in rows_of(measured).items()}
    check(placed and all(now[n] == want[n] for n in placed), "the measurement is what is planned with")


def invented(what, batch, table):
    """A measurement out of thin air: a folder's nodes take a little else than those of the model alone."""
    if what.is_dir():
        table.write_text("name,time,memory\n" + "".join(
            f"{n},{int(row['time']) + 11},{row['memory']}\n" for n, row in rows_of(HERE / "b8.csv").items()))
        return
    r = pcc(what, "-d", "cpu", "--emit", "csv", f"--dim=batch={batch}", "--dim=sequence=8")
    rows = csv.DictReader(io.StringIO(r.stdout))
    table.write_text("name,time,memory\n" + "".join(
        f"{row['name']},{(i + 3) * 1000 * batch + 500},{int(row['result_bytes']) + 64}\n"
        for i, row in enumerate(rows)))


def on_paper():
    the_whole_way(invented)


def by_runtime():
    tool = Path(__file__).resolve().parents[2] / "tools/measure.py"
    def measure(what, batch, table):
        r = subprocess.run([sys.executable, "-B", tool, what, f"--dim=batch={batch}", "--dim=sequence=8", "-o", table,
                            "--discard=1", "--steps=3"], capture_output=True, text=True, timeout=300)
        extras.need(r.returncode != 77, r.stdout.strip())
        check(r.returncode == 0, f"{what}: {r.stdout} {r.stderr}")
    the_whole_way(measure)
    model, table = HERE / "gpt.onnx", f"--costs={HERE / 'b8.csv'}"
    r = pcc(model, "-d", "cpu", "-p", "cost", "--emit", "sizes", table)
    check(r.returncode == 0 and '"batch": 8, "sequence": 8' in r.stdout and "guessed" not in r.stderr and
          "sizes at which times were measured" in r.stderr, f"sizes that were measured: {r.stdout} {r.stderr}")
    r = pcc(model, "-d", "cpu", "-p", "cost", "--emit", "sizes", table, "--dim=sequence=128")
    check(r.returncode == 1 and "measured at sequence=8, but --dim says sequence=128" in r.stderr, r.stderr)
    # names that are no words, and names that stand in expressions only, are sizes of a table, too
    ins = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [d]) for n, d in (("x", "seq len"), ("y", "2*past + 1"))]
    outs = [helper.make_tensor_value_info(f"{i.name}1", TensorProto.FLOAT, None) for i in ins]
    nodes = [helper.make_node("Relu", [i.name], [f"{i.name}1"]) for i in ins]
    save(helper.make_model(helper.make_graph(nodes, "odd", ins, outs), ir_version=9,
                           opset_imports=[helper.make_opsetid("", 17)]), HERE / "odd.onnx")
    odd = HERE / "odd.csv"
    r = subprocess.run([sys.executable, "-B", tool, HERE / "odd.onnx", "--dim=seq len=3", "--dim=past=5", "-o", odd,
                        "--discard=0", "--steps=1"], capture_output=True, text=True, timeout=300)
    names = sorted(n for n in rows_of(odd) if n.startswith("#dim"))
    check(r.returncode == 0 and names == ["#dim past=5", "#dim seq len=3"], f"names of sizes: {names} {r.stderr}")


make_model()
for test in (by_runtime,) if extras.extra() else (lines_come_back, least_squares, twice_and_missing, what_is_refused,
                                       compared, forms, many, on_paper):
    try:
        test()
    except (KeyError, OSError, ValueError) as problem:
        complain(f"{test.__name__}: {problem!r}")
FOLDER.cleanup()
sys.exit(finish())
