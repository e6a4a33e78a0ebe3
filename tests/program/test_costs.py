"""Costs from files and classes that do not support every operator: tables in CSV and JSON, read back from
--emit csv, ONNX Runtime's profile, memory, what is unknown, what is refused, and plans that honour it all.  Predictions
from small batch sizes (--profile-at) are in test_profile_at.py.

Needs the Python package onnx (else 77); its extra onnxruntime."""
# extras: ort
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
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


def pcc(*args):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=300)
    if r.returncode < 0 or "Sanitizer" in r.stderr or "runtime error:" in r.stderr:
        complain(f"{args}: exit {r.returncode}: {r.stderr[:600]}")
    return r


def file(name, content):
    path = HERE / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def times(*args, model=MODEL, devices="a100,cpu"):
    """({node: {class: ps or None}}, stderr)"""
    r = pcc(model, "-d", devices, "--emit", "csv", *args)
    if not check(r.returncode == 0, f"{args}: exit {r.returncode}: {r.stderr}"):
        return {}, r.stderr
    rows = csv.DictReader(io.StringIO(r.stdout))
    return {row["name"]: {k[3:]: int(v) if v else None for k, v in row.items() if k.startswith("ps_")}
            for row in rows}, r.stderr


def refused(word, *args, rc=1):
    r = pcc(MODEL, "-d", "a100,cpu", "--emit", "csv", *args)
    check(r.returncode == rc and word in r.stderr and r.stderr.count("error:") == 1,
          f"{args}: exit {r.returncode}, not {rc}: {r.stderr.strip()} (wanted '{word}')")


def make_models():
    """x -> Relu r1 -> MatMul m -> Relu, without a name -> Add 'a,"b"' -> y; and an If around a Relu."""
    f = TensorProto.FLOAT
    nodes = [helper.make_node("Relu", ["x"], ["v1"], "r1"),
             helper.make_node("Constant", [], ["c"], value_float=2.0),
             helper.make_node("MatMul", ["v1", "x"], ["v2"], "m"),
             helper.make_node("Relu", ["v2"], ["v3"]),
             helper.make_node("Add", ["v3", "c"], ["y"], 'a,"b"')]
    x, y = (helper.make_tensor_value_info(n, f, [64, 64]) for n in "xy")
    opset = [helper.make_opsetid("", 17)]
    save(helper.make_model(helper.make_graph(nodes, "g", [x], [y]), ir_version=8, opset_imports=opset), MODEL)
    branch = [helper.make_graph([helper.make_node(op, ["x"], [f"b{op}"], f"in{op}")], op, [],
                                [helper.make_tensor_value_info(f"b{op}", f, [64, 64])])
              for op in ("Relu", "Tanh")]
    test = helper.make_tensor_value_info("t", TensorProto.BOOL, [])
    owner = helper.make_node("If", ["t"], ["y"], "if", then_branch=branch[0], else_branch=branch[1])
    save(helper.make_model(helper.make_graph([owner], "g", [x, test], [y]), ir_version=8,
                           opset_imports=opset), HERE / "if.onnx")


def tables():
    base, _ = times()
    check(set(base) == {"r1", "Constant_1", "m", "Relu_3", 'a,"b"'}, f"names: {list(base)}")
    text = ('name,op,class,time\r\nr1,,a100,12.5us\r\n,Relu,,3us\n\n"a,""b""",Add,cpu,7\nm,,a100,never\n')
    got, err = times(f"--costs={file('t.csv', text)}")
    check(got["r1"] == {"a100": 12500000, "cpu": 3000000}, f"r1: {got['r1']}")
    check(got["Relu_3"] == {"a100": 3000000, "cpu": 3000000}, f"by operator: {got['Relu_3']}")
    check(got['a,"b"'] == {"a100": base['a,"b"']["a100"], "cpu": 7}, f"quoted: {got}")
    check("warning" not in err, err)
    check(got["m"] == {"a100": None, "cpu": base["m"]["cpu"]}, f"never: {got['m']}")
    rows = [{"name": "r1", "class": "a100", "time": 12500000}, {"op": "Relu", "time": "3us"},
            {"name": 'a,"b"', "op": "Add", "ps_cpu": 7}, {"name": "m", "ps_a100": None}]
    check(times(f"--costs={file('t.json', rows)}")[0] == got, "JSON differs from CSV")
    one, _ = times(f"--costs={file('all.csv', 'op,time' + chr(10) + 'Relu,1us')}:cpu")
    check(one["r1"] == {"a100": base["r1"]["a100"], "cpu": 1000000}, f"FILE:CLASS: {one['r1']}")
    two, _ = times(f"--costs={HERE / 't.json'}", f"--costs={file('n.csv', 'name,time' + chr(10) + 'r1,5us')}")
    check(two["r1"] == {"a100": 5000000, "cpu": 5000000}, f"later files win: {two['r1']}")


def read_back():
    """What --emit csv writes gives the same times again, edited ones included, on other rates."""
    for devices in ("a100,cpu", "a100:40GiB,a100:80GiB"):
        never = file("m.csv", f"name,class,time\nm,{'a100' if 'cpu' in devices else 'none'},never\n")
        r = pcc(MODEL, "-d", devices, "--emit", "csv", f"--costs={never}")
        lines = r.stdout.replace("r1,Relu,4096,32768,16384,", "r1,Relu,4096,32768,16384,4")
        check(lines != r.stdout, "the row to edit")
        again = pcc(MODEL, "-d", devices, "--efficiency", "0.5", "--emit", "csv",
                    f"--costs={file('back.csv', lines)}")
        check(again.stdout == lines, f"read back: {again.stdout}\n{again.stderr}")
    large = file("m.csv", "name,memory\nm,1MiB\n")
    r = pcc(MODEL, "--emit", "csv", f"--costs={large}")
    again = pcc(MODEL, "--emit", "csv", f"--costs={file('back.csv', r.stdout)}")
    check(",memory," in r.stdout and ",16384,1048576," in r.stdout and again.stdout == r.stdout, f"memory: {r.stdout}")


def unknown():
    text = "name,op,class,time\nnone,,,1us\nr1,Add,,1us\n,Conv,,1us\nr1,,tpu,1us\nr1,,,2us\n"
    got, err = times(f"--costs={file('u.csv', text)}")
    check("4 rows" in err and "'none'" in err and err.count("warning") == 1, err)
    check(got["r1"]["cpu"] == 2000000, f"the good row: {got['r1']}")
    got, err = times(f"--costs={file('u.csv', 'name,ps_tpu,ps_cpu' + chr(10) + 'r1,1,2' + chr(10))}")
    check("1 rows" in err and got["r1"]["cpu"] == 2, f"{err} {got['r1']}")


def hostile():
    head = "name,op,class,time\n"
    for name, text, word in [
            ("a", "name,weight,time\nr1,1,1us\n", "unknown key 'weight'"), ("b", "", "unknown key ''"),
            ("c", "name,op\nr1,Relu\n", "expected a header"), ("d", "class,time\ncpu,1us\n", "expected a header"),
            ("e", head + "r1,,,1 apple\n", "time '1 apple'"), ("f", head + "r1,,,-1us\n", "time '-1us'"),
            ("g", head + "r1,,,99999999999999999999\n", "expected a time"), ("h", head + "r1,,,\n", "expected a time"),
            ("i", head + ",,,1us\n", "a name or an op"), ("j", head + "r1,1us\n", "2 fields, expected 4"),
            ("k", head + '"r1,,,1us\n', "quoted field"), ("l", head + '"r1"x,,,1us\n', "quoted field"),
            ("m", "name,name,time\n", "twice"), ("n", "name,time,ps_cpu\nr1,1,2\n", "both time and ps_"),
            ("o", ",".join(["ps_x"] * 65) + "\n", "64 columns"), ("p", head + "r1\0,,,1us\n", "NUL"),
            ("q", "[", "q:1:"), ("r", "{}", "expected a list"), ("s", "[1]", "expected an object"),
            ("t", '[{"name":1,"time":1}]', "expected a text"), ("u", '[{"name":"r1","time":1.5}]', "integer"),
            ("v", '[{"name":"r1","cost":1}]', "unknown key 'cost'"), ("w", '[{"name":"r1"}]', "expected a time"),
            ("x", '[{"name":"r1","time":1,"time":2}]', "duplicate"),
            ("y", '[{"cat":"Node","name":"r1_kernel_time","dur":-1}]', "microseconds"),
            ("z", '[{"cat":"Node","name":"r1_kernel_time","dur":"1"}]', "microseconds")]:
        refused(word, f"--costs={file(name, text)}")
    for unit, most, more in (("time", 1 << 60, (1 << 60) + 1), ("time", "1000000s", "2000000s"),
                             ("memory", 1 << 60, (1 << 60) + 1), ("memory", "1000000TB", "2000000TB")):
        header = f"name,op,class,{unit}\n"
        r = pcc(MODEL, "-d", "a100,cpu", "--emit", "csv", f"--costs={file('most.csv', f'{header}r1,,,{most}')}")
        check("row 2" not in r.stderr, f"{unit} {most}: {r.stderr}")
        refused(f"row 2: {unit}", f"--costs={file('more.csv', f'{header}r1,,,{more}')}")
    refused("none.csv", f"--costs={HERE / 'none.csv'}")
    refused("no class 'tpu'", f"--costs={file('t.csv', head)}:cpu,tpu")


def memory(*args, model=MODEL):
    """({node: bytes beside weights}, stderr)"""
    r = pcc(model, "-d", "a100,cpu", "-p", "cost", "--emit", "ir", *args)
    check(r.returncode == 0, f"{args}: exit {r.returncode}: {r.stderr}")
    found = re.findall(r'%(\S+) = .* !own=(\d+)(B|KiB|MiB)', r.stdout)
    return {n: int(v) << {"B": 0, "KiB": 10, "MiB": 20}[u] for n, v, u in found}, r.stderr


def bytes_of_nodes():
    """Results v1, v2, v3 and y of 16 KiB each."""
    base, _ = memory()
    check(base["v1"] == base["v2"] == base["v3"] == base["y"] == 16384, f"results: {base}")
    text = "name,op,class,time,memory\nr1,,,1us,20000\n,Relu,,,17000\nm,,a100,2us,1MiB\nm,,cpu,1us,20KiB\n" \
           '"a,""b""",,,,100\n'
    got, err = memory(f"--costs={file('m.csv', text)}")
    check(got == base | {"v1": 20000, "v3": 17000, "v2": 1 << 20}, f"at least results, the largest of the rows: {got}")
    check("warning" not in err, err)
    rows = [{"name": "r1", "time": "1us", "memory": 20000}, {"op": "Relu", "memory": "17000B"},
            {"name": "m", "memory": "1MiB", "time": 5}, {"name": "m", "memory": None, "time": 5}]
    check(memory(f"--costs={file('m.json', rows)}")[0] == got, "JSON differs from CSV")
    two, _ = memory(f"--costs={HERE / 'm.json'}", f"--costs={file('n.csv', 'name,memory' + chr(10) + 'm,30000')}")
    check(two == got | {"v2": 30000}, f"later files win: {two}")
    check(times(f"--costs={HERE / 'n.csv'}") == (times()[0], ""), "memory alone leaves the times")
    one, _ = memory(f"--costs={file('c.csv', 'name,class,memory' + chr(10) + 'm,tpu,1MiB')}")
    check(one == base, f"a class that is not there: {one}")
    events = [event("m", 5, "MatMul", 1, "40000"), event("m", 6, "MatMul", 1, "50000"), event("r1", 5)]
    check(memory(f"--costs={file('p.json', events)}")[0] == base | {"v2": 50000}, "ONNX Runtime's output_size")
    head = "name,memory\n"
    for name, text, word in [
            ("a", head + "r1,1 apple\n", "memory '1 apple'"), ("b", head + "r1,-1\n", "memory '-1'"),
            ("c", head + f"r1,{2 ** 61}\n", "below 2^60"), ("d", head + "r1,9999999999999999999999\n", "below 2^60"),
            ("e", head + "r1,never\n", "memory 'never'"), ("f", head + "r1,\n", "a time or memory"),
            ("g", "memory\n1\n", "expected a header"), ("h", "name,memory,memory\n", "twice"),
            ("i", '[{"name":"r1","memory":1.5}]', "such as 4KiB")]:
        refused(word, f"--costs={file(name, text)}")
    huge = file("j", head + f"r1,{2 ** 59}\n")
    r = pcc(MODEL, "-p", "dp-place", "-o", HERE / "x.json", f"--costs={huge}")
    check(r.returncode == 1 and "bytes" in r.stderr, f"sums beyond counting: {r.returncode} {r.stderr}")


def bytes_count():
    """A node that needs a whole device while it runs is planned as such; a workload's bytes stay."""
    r = pcc(MODEL, "-d", "a100:128KiB", "-p", "dp-place", "-o", HERE / "x.json")
    check(r.returncode == 0, r.stderr)
    big = file("big.csv", "name,memory\nm,1MiB\n")
    r = pcc(MODEL, "-d", "a100:128KiB", "-p", "dp-place", "-o", HERE / "x.json", f"--costs={big}")
    check(r.returncode == 3, f"no room: {r.returncode} {r.stderr}")
    load = {"nodes": [{"id": 1, "name": "one", "supportedOnFpga": 1, "cpuLatency": 2, "fpgaLatency": 1, "size": 10}],
            "edges": [], "maxSizePerFPGA": 100, "maxFPGAs": 1, "maxCPUs": 1}
    graph = file("load.json", load)
    r = pcc(graph, "-p", "dp-place", "-o", HERE / "x.json",
            f"--costs={file('w.csv', 'name,memory' + chr(10) + 'one,5')}")
    check(r.returncode == 1 and "'one'" in r.stderr and "times only" in r.stderr, f"{r.returncode} {r.stderr}")
    r = pcc(graph, "-p", "dp-place", "-o", HERE / "x.json", f"--costs={file('w.csv', 'name,time' + chr(10) + 'one,5')}")
    check(r.returncode == 0, r.stderr)


def event(name, us, op=None, index=None, size=None):
    return {"cat": "Node", "ph": "X", "name": name + "_kernel_time", "dur": us, "ts": 1.5,
            "args": {"op_name": op or "Relu", "node_index": str(index or 0)} | ({"output_size": size} if size else {})}


def profile():
    base, _ = times()
    events = [{"cat": "Session", "name": "model_run", "dur": 9}, event("r1", 30), event("r1", 10), event("r1", 11),
              event("m", 0, "MatMul", 1), event("Relu_2", 4, "Relu", 2), event("Relu_2", 7, "Relu", 2),
              event("fused", 5), {**event("m", 50, "MatMul", 1), "name": "m_fence_before"}]
    got, err = times(f"--costs={file('p.json', events)}:cpu")
    check(got["r1"] == {"a100": base["r1"]["a100"], "cpu": 11000000}, f"median: {got['r1']}")
    check(got["m"]["cpu"] == 100000, f"floor: {got['m']}")
    check(got["Relu_3"]["cpu"] == 5500000, f"without a name, by position, the mean of two: {got['Relu_3']}")
    check(got['a,"b"'] == base['a,"b"'], "a node that was not measured")
    check("3 of 5 nodes" in err and "2 (40.0 %)" in err and "1 rows" in err, err)
    check(times(f"--costs={HERE / 'p.json'}")[0]["r1"] == {"a100": 11000000, "cpu": 11000000}, "all classes")


def real_profile():
    try:
        import numpy
        import onnxruntime
    except ImportError:
        extras.need(False, "onnxruntime is not installed")
    o = onnxruntime.SessionOptions()
    o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.enable_profiling, o.profile_file_prefix, o.log_severity_level = True, str(HERE / "run"), 3
    s = onnxruntime.InferenceSession(str(MODEL), o)
    for _ in range(3):
        s.run(None, {"x": numpy.ones((64, 64), "float32")})
    path = s.end_profiling()
    base, (got, err) = times()[0], times(f"--costs={path}")
    check("4 of 5 nodes" in err and "rows" not in err, err)
    check(all(got[n]["cpu"] % 500000 == 0 or got[n]["cpu"] == 100000 for n in got if n != "Constant_1"), f"{got}")
    check(got["Constant_1"] == base["Constant_1"], "constants stay")


def support():
    def cluster(*classes):
        return file("c.json", {"classes": list(classes)})
    narrow = {"preset": "a100", "supported": ["MatMul"]}
    got, _ = times(devices=cluster(narrow, {"preset": "cpu"}))
    check(got["r1"]["a100"] is None and got["r1"]["cpu"] and got["m"]["a100"], f"supported: {got}")
    got, _ = times(devices=cluster({"preset": "a100", "unsupported": ["MatMul", "If"]}, {"preset": "cpu"}))
    check(got["r1"]["a100"] and got["m"]["a100"] is None, f"unsupported: {got}")
    plan = HERE / "plan.json"
    r = pcc(MODEL, "-d", cluster(narrow, {"preset": "cpu", "count": 2}), "-p", "dp-place", "--pin", "^m$=acc0",
            "-o", plan)
    check(r.returncode == 0, r.stderr)
    where = {n: d["name"] for d in json.loads(plan.read_text())["devices"] for n in d.get("nodes", [])}
    check([str(where.get(n))[:3] for n in ("m", "r1", "Relu_3")] == ["acc", "cpu", "cpu"], f"plan: {where}")
    r = pcc(MODEL, "-d", cluster(narrow), "-p", "dp-place", "-o", plan)
    check(r.returncode == 3 and "'r1' (Relu)" in r.stderr and "2 others" in r.stderr, f"{r.returncode} {r.stderr}")
    r = pcc(MODEL, "-d", cluster(narrow), "-p", "dp-place", "-o", plan,
            f"--costs={file('t.csv', 'op,time' + chr(10) + 'Relu,1us' + chr(10))}")
    check(r.returncode == 3, f"a table makes no operator run: {r.returncode} {r.stderr}")
    no_tanh = cluster({"preset": "a100", "unsupported": ["Tanh"]}, {"preset": "cpu"})
    inner, _ = times(model=HERE / "if.onnx", devices=no_tanh)
    check(inner["if"]["a100"] is None and inner["if"]["cpu"], f"a body holds it: {inner}")
    inner, _ = times(f"--costs={file('t.csv', 'name,time' + chr(10) + 'inTanh,1ms')}", model=HERE / "if.onnx")
    check(inner["if"]["cpu"] == 10**9, f"times within bodies add up: {inner}")
    for bad, word in [({"supported": []}, "supported"), ({"unsupported": [1]}, "unsupported"),
                      ({"supported": "Relu"}, "list of operator types"),
                      ({"supported": ["A"], "unsupported": ["B"]}, "one of them")]:
        r = pcc(MODEL, "-d", cluster({"preset": "a100", **bad}), "--emit", "csv")
        check(r.returncode == 1 and word in r.stderr, f"{bad}: {r.returncode} {r.stderr}")


def rewritten():
    """Nodes that a pass makes of others take their share of the times in files, as estimates have it."""
    wide = HERE / "wide.onnx"
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 256]) for name in "xy")
    w = helper.make_tensor("w", TensorProto.FLOAT, [256, 256], bytes(4 * 256 * 256), raw=True)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], name="m"), helper.make_node("Relu", ["a"], ["b"], name="r"),
             helper.make_node("Add", ["b", "x"], ["y"], name="s")]
    save(helper.make_model(helper.make_graph(nodes, "wide", [x], [y], [w])), wide)
    known = {"m": 70_000_000, "r": 1_000_000}  # ps; nothing is known of s
    table = file("wide.csv", "name,time,memory\n" + "".join(f"{n},{t}ps,1MiB\n" for n, t in known.items()))
    cut = 0
    for passes in (*(f"shard{{ways=2:draw={seed}}}" for seed in (1, 2, 3)), "split-batch{ways=2},one-place"):
        def emitted(*args, p=passes):
            r = pcc(wide, "-q", "-d", "2xa100", "--dim=n=64", "-p", p, "--emit=csv", *args)
            check(r.returncode == 0 and "unmatched" not in r.stderr, f"{p} {args}: {r.returncode} {r.stderr}")
            return {row["name"]: int(row["ps_a100"]) for row in csv.DictReader(io.StringIO(r.stdout))}
        whole, pieces, told = emitted(p="one-place"), emitted(), emitted("--costs", table)
        check(set(pieces) == set(told) and len(pieces) > len(whole), f"{passes}: {set(pieces)} {set(told)}")
        for name, ps in pieces.items():
            origin = re.split("[@/]", name)[0]
            of = origin in known and name[len(origin):] in ("", "@0", "@1", "/block0", "/block1")
            cut += of and ps != whole[origin]
            want = -(-known[origin] * ps // whole[origin]) if of else ps
            check(told[name] == want, f"{passes}: {name}: {told[name]}, expected {want} ({ps} of {whole})")
    check(cut > 2, f"only {cut} pieces are smaller than their nodes")


make_models()
for test in (real_profile,) if extras.extra() else (tables, read_back, unknown, hostile, bytes_of_nodes, bytes_count,
                                                              profile, support, rewritten):
    try:
        test()
    except (KeyError, OSError, ValueError) as problem:
        complain(f"{test.__name__}: {problem!r}")
FOLDER.cleanup()
sys.exit(finish())
