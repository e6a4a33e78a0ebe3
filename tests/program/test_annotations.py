"""IR-11 device configurations: what --annotate=ir11 writes is sound for onnx's checker, for pcc's own
and for ONNX Runtime (equal outputs, the settings string understood); --check-annotations finds every
planted violation and names node and rule. Needs onnx, onnxruntime and numpy (else 77)."""
# once: sanitized
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, complain, finish

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: the Python packages onnx, onnxruntime and numpy are not installed")
    sys.exit(77)

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
SETTINGS = "session.layer_assignment_settings"
FLOAT = TensorProto.FLOAT
RNG = np.random.default_rng(5)
info, node = helper.make_tensor_value_info, helper.make_node


def pcc(*args, code=0):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, errors="replace")
    if r.returncode != code:
        complain(f"{' '.join(map(str, args))}: exit {r.returncode}: {r.stderr.strip()[-400:]}")
    return r


def findings(path, code):
    """The errors and warnings of --check-annotations; its last line counts them."""
    lines = pcc("--check-annotations", path, code=code).stderr.splitlines()
    found = [x for x in lines if re.match("pcc: (error|warning): ", x)]
    errors = sum(x.startswith("pcc: error") for x in found)
    count = re.search(r": (\d+) errors?, (\d+) warnings?$", lines[-1] if lines else "")
    check(count and (int(count[1]), int(count[2])) == (errors, len(found) - errors), f"{path}: {lines}")
    return found


def load(path):
    return onnx.load(str(path), load_external_data=False)


def small(ir=11, opset=17, weights_as_inputs=False):
    """x -> MatMul -> Relu -> Constant + -> y, a node that nothing needs, Shape arithmetic, a body."""
    body = helper.make_graph([node("Mul", ["a", "a"], ["b"], name="inner")], "body", [],
                             [info("b", FLOAT, [8, 8])])
    same = helper.make_graph([node("Neg", ["a"], ["b"], name="other")], "same", [],
                             [info("b", FLOAT, [8, 8])])
    nodes = [node("MatMul", ["x", "w"], ["m"], name="mat"), node("Relu", ["m"], ["a"], name="relu"),
             node("If", ["c"], ["i"], name="if", then_branch=body, else_branch=same),
             node("Add", ["i", "i"], ["d"], name="double"), node("Exp", ["d"], ["e"], name="unused"),
             node("Split", ["d"], ["s0", "s1"], name="split", axis=0),
             node("Concat", ["s1", "s0"], ["y"], name="cat", axis=0)]
    w = numpy_helper.from_array(RNG.standard_normal((8, 8)).astype(np.float32), "w")
    c = numpy_helper.from_array(np.array(True), "c")
    inputs = [info("x", FLOAT, [8, 8])]
    if weights_as_inputs:
        inputs += [info("w", FLOAT, [8, 8]), info("c", TensorProto.BOOL, [])]
    g = helper.make_graph(nodes, "g", inputs, [info("y", FLOAT, [8, 8])], [w, c])
    return helper.make_model(g, ir_version=ir, opset_imports=[helper.make_opsetid("", opset)])


def feeds(model):
    """Random inputs; every symbolic dimension is 3."""
    out = {}
    weights = {t.name for t in model.graph.initializer}
    for v in model.graph.input:
        if v.name in weights:
            continue
        t = v.type.tensor_type
        shape = [d.dim_value or 3 for d in t.shape.dim]
        kind = helper.tensor_dtype_to_np_dtype(t.elem_type)
        whole = np.issubdtype(kind, np.integer)
        out[v.name] = (RNG.integers(0, 9, shape) if whole else RNG.standard_normal(shape)).astype(kind)
    return out


def session(path, settings=None):
    o = onnxruntime.SessionOptions()
    o.log_severity_level = 4
    o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if settings is not None:
        o.add_session_config_entry(SETTINGS, settings)
    return onnxruntime.InferenceSession(str(path), o, providers=["CPUExecutionProvider"])


def run(path, given, settings=None):
    return session(path, settings).run(None, given)


# ---- what pcc writes


def check_written(path, model, nodes_of, devices):
    """Each node of the annotated model against the manifest's devices; stages monotone."""
    config = [c for c in model.configuration if c.name == "pcc"]
    if not check(len(config) == 1, f"{path}: {len(config)} configurations"):
        return
    check(list(config[0].device) == devices and config[0].num_devices == len(devices),
          f"{path}: {config[0]}")
    stage = {}
    for n in model.graph.node:
        own = [c for c in n.device_configurations if c.configuration_id == "pcc"]
        if not check(len(own) == 1 and own[0].HasField("pipeline_stage"), f"{path}: {n.name}: {own}"):
            continue
        names = {s.tensor_name for s in own[0].sharding_spec}
        check(names == {x for x in [*n.input, *n.output] if x}, f"{path}: {n.name}: specs {names}")
        used = {tuple(s.device) for s in own[0].sharding_spec}
        check(len(used) == 1 and not any(s.sharded_dim for s in own[0].sharding_spec),
              f"{path}: {n.name}: devices {used}")
        for x in n.input:
            check(stage.get(x, 0) <= own[0].pipeline_stage, f"{path}: {n.name}: the stage falls at {x}")
        stage.update((x, own[0].pipeline_stage) for x in n.output)
        if n.name in nodes_of:
            part, device = nodes_of[n.name]
            check(own[0].pipeline_stage == part and used == {(devices.index(device),)},
                  f"{path}: {n.name}: {own[0]}")


def written(d, source, cluster, name):
    """Annotates one model, as folder and as file, and looks at both in every way."""
    folder, file = d / f"{name}.split", d / f"{name}.annotated.onnx"
    plain = d / f"{name}.plain.onnx"
    pcc(source, "-d", cluster, "-q", "--io", "free", "-p", "fuse,dp-place", "-o", folder, "--annotate=ir11")
    r = pcc(source, "-d", cluster, "--io", "free", "-p", "fuse,dp-place", "-o", file, "--annotate=ir11")
    pcc(source, "-d", cluster, "--io", "free", "-q", "-p", "fuse,dp-place", "-o", plain)
    before = load(source)
    raised = before.ir_version < 11
    check(("IR version 11 instead of" in r.stderr) == raised, f"{name}: the note: {r.stderr}")
    check(load(plain).ir_version == before.ir_version, f"{name}: the IR version is raised without asking")
    manifest = json.loads((folder / "manifest.json").read_text())
    check(manifest["model"]["ir_version"] == max(11, before.ir_version), f"{name}: manifest {manifest['model']}")
    devices = [x["name"] for x in manifest["devices"]]
    nodes_of = {n: (i, p["device"]) for i, p in enumerate(manifest["parts"])
                for n in manifest["nodes"][p["file"]]}
    settings, why = manifest["ort_layer_assignment"], manifest.get("ort_layer_assignment_why")
    used = {p["device"] for p in manifest["parts"]}
    check((f'{SETTINGS}="{settings}"' if settings else "") in r.stdout and (settings or SETTINGS not in r.stdout),
          f"{name}: the terminal does not show {settings}")
    if sum(u.startswith("acc") for u in used) > 1:  # one session cannot tell them apart
        check(settings is None and "acc0 and acc1 are both 'gpu'" in why, f"{name}: {settings}, since {why}")
        settings = "; ".join(f"gpu:{k}(={u})" for k, u in enumerate(sorted(used)))
    else:
        check(why is None and set(re.findall(r"\(=(\w+)\)", settings)) == used, f"{name}: {settings} for {used}")
    named(name, before, manifest)
    given = feeds(before)
    want = run(source, given)
    for path in (folder / "model.onnx", file):
        model = load(path)
        check(model.ir_version == max(11, before.ir_version), f"{path}: IR {model.ir_version}")
        check_written(path.name, model, nodes_of, devices)
        onnx.checker.check_model(str(path))
        check(findings(path, 0) == [], f"{path}: has findings")
        for s in (None, settings, settings.replace("gpu:", "nope:")):
            got = run(path, given, s)
            check(all(a.tobytes() == b.tobytes() for a, b in zip(want, got, strict=True)),
                  f"{path}: outputs differ with settings {s}")
    return file, settings, len(manifest["parts"])


def named(what, model, manifest):
    """The substrings of the other setting hit the nodes of each device and no others."""
    text, why = manifest["ort_name_assignment"], manifest.get("ort_name_assignment_why")
    if not check((text is None) == (why is not None), f"{what}: {text}, since {why}") or text is None:
        return
    hits = {word: rule.split(",") for word, rule in re.findall(r"(\S+)\(([^)]*)\)", text)}
    names = {n.name for n in model.graph.node}
    classes = {d["class"] for d in manifest["devices"]}
    for part in manifest["parts"]:
        kind = "cpu" if part["device"].startswith("cpu") else "npu" if "npu" in classes else "gpu:0"
        for n in manifest["nodes"][part["file"]]:
            got = {word for word, rule in hits.items() if any(s in n for s in rule)}
            check(n in names and got == {kind}, f"{what}: node {n} of {part['device']}: {got} by {text}")


def writing(d):
    gpt, odd, old = d / "gpt.onnx", d / "odd.onnx", d / "old.onnx"
    subprocess.run([PCC_GEN, *"gpt --kv --layers 2 --width 32 --heads 2 --vocab 64".split(), "-o",
                    str(gpt)], check=True)
    onnx.save(small(), str(odd))
    onnx.save(small(ir=3, weights_as_inputs=True), str(old))
    file, _, parts = written(d, gpt, "2xa100,1xcpu", "gpt")
    check(parts >= 3, f"{parts} parts")
    mixed = written(d, gpt, "1xa100,1xcpu", "mixed")[1]
    check(mixed == "gpu:0(=acc0); cpu(=cpu0)", f"one accelerator and the CPU: {mixed}")
    two_kinds(d, gpt)
    first_opset(d)
    check(written(d, odd, "2xa100", "odd")[2] >= 1, "odd: no parts")
    written(d, old, "1xnpu", "old")
    check([v.name for v in load(d / "old.annotated.onnx").graph.input] == ["x"],
          "weights that nobody could override can be overridden now")
    again(d, file, gpt)
    assigned(d, gpt)


def first_opset(d):
    """Before IR 3 a model without imports meant version 1 of the operators, which an annotated one has to say."""
    m = onnx.ModelProto(ir_version=2, graph=helper.make_graph(
        [node("Neg", ["x"], ["y"], name="a"), node("Neg", ["y"], ["z"], name="b")], "g",
        [helper.make_tensor_value_info("x", 1, [4])], [helper.make_tensor_value_info("z", 1, [4])]))
    (d / "first.onnx").write_bytes(m.SerializeToString())
    pcc(d / "first.onnx", "-d", "2xa100", "-q", "-p", "dp-place", "-o", d / "first.out.onnx", "--annotate=ir11")
    got = load(d / "first.out.onnx")
    check(got.ir_version == 11 and [(o.domain, o.version) for o in got.opset_import] == [("", 1)],
          f"IR {got.ir_version}, {got.opset_import}")


def two_kinds(d, gpt):
    """An accelerator and an NPU have providers of their own; copies of a part and two CPUs have not."""
    for cluster, more, want in (("1xa100,1xnpu", ("--pin=wte=acc1", "--pin=lm_head=acc0"), "gpu:0(=acc0); npu(=acc1)"),
                                ("1xxdna2", (), "npu(=acc0)"),
                                ("2xcpu", ("--pin=wte=cpu1", "--pin=lm_head=cpu0"), None),
                                ("2xa100", ("--pin=.=acc1",), "gpu:1(=acc1)"),
                                ("1xa100,1xmi300x", ("--pin=.=acc1",), "gpu:0(=acc1)"),
                                ("2xa100", ("--replicate", "--io=free", "--link=1GB/s,1ms"), None)):
        pcc(gpt, "-d", cluster, *more, "-q", "-p", "dp-place", "-o", d / "kinds")
        manifest = json.loads((d / "kinds/manifest.json").read_text())
        said, why = manifest["ort_layer_assignment"], manifest.get("ort_layer_assignment_why")
        check(said == want and (said is None) == (why is not None), f"{cluster} {more}: {said}, since {why}")
        if "--replicate" in more:
            check(all("replicas" in p for p in manifest["parts"]), f"no copies: {manifest['parts']}")


def again(d, file, source):
    """A second plan replaces the first one; other configurations stay."""
    m = load(file)
    m.configuration.add(name="mine", num_devices=2)
    m.graph.node[0].device_configurations.add(configuration_id="mine", pipeline_stage=0)
    onnx.save(m, str(d / "second.onnx"))
    r = pcc(d / "second.onnx", "-d", "1xa100", "-p", "dp-place", "-o", d / "third.onnx")
    check("tells of an earlier plan" in r.stderr, f"no warning of the stale plan: {r.stderr}")
    pcc(d / "second.onnx", "-d", "1xa100", "-p", "dp-place", "-o", d / "third.onnx", "--annotate=ir11", "-q")
    third = load(d / "third.onnx")
    check([c.name for c in third.configuration] == ["mine", "pcc"], f"{third.configuration}")
    check(third.configuration[1].num_devices == 1, "the old devices are still there")
    ids = [[c.configuration_id for c in n.device_configurations] for n in third.graph.node]
    check(ids == [["mine", "pcc"]] + [["pcc"]] * (len(ids) - 1), f"configurations {ids[:3]}")
    check(all("no stage, nor have" in x for x in findings(d / "third.onnx", 0)), "third: findings")


def assigned(d, gpt):
    """All on the CPU: ONNX Runtime's own report has the nodes at the provider of the rule. Broken
    strings are refused, so the option is looked at."""
    pcc(gpt, "-d", "1xcpu", "-q", "-p", "dp-place", "-o", d / "cpu.onnx", "--annotate=ir11")
    s = session(d / "cpu.onnx", "cpu(=cpu0)")
    if hasattr(s, "get_provider_graph_assignment_info"):
        report = {n.name: g.ep_name for g in s.get_provider_graph_assignment_info() for n in g.get_nodes()}
        named = {n.name for n in load(d / "cpu.onnx").graph.node if n.op_type != "Constant"}
        check(named <= set(report) and set(report.values()) == {"CPUExecutionProvider"},
              f"the report lacks {sorted(named - set(report))[:3]}")
    named_session(d, gpt)
    version = tuple(map(int, onnxruntime.__version__.split(".")[:2]))
    for broken in ("cpu(=cpu0", "cpu(=cpu0); gpu:0(=cpu0)") if version >= (1, 31) else ():
        try:
            session(d / "cpu.onnx", broken)
            check(False, f"'{broken}' is accepted")
        except Exception as e:  # the binding has no class of its own for it
            check("layering config" in str(e), f"{broken}: {e}")


def named_session(d, gpt):
    """By names, the user's own file: ONNX Runtime has a provider for each rule. Broken strings are refused."""
    if tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 31):
        return
    pcc(gpt, "-d", "1xcpu", "-q", "-p", "dp-place", "-o", d / "cpu", "--pictures=none")
    setting = json.loads((d / "cpu/manifest.json").read_text())["ort_name_assignment"]
    mixed = json.loads((d / "gpt.split/manifest.json").read_text())
    check(mixed["ort_name_assignment"] is None, "two accelerators told apart")
    script = ("import sys, onnxruntime as o; s = o.SessionOptions(); s.log_severity_level = 1\n"
              "s.add_session_config_entry('session.name_based_layer_assignment', sys.argv[2])\n"
              "o.InferenceSession(sys.argv[1], s, providers=['CPUExecutionProvider'])")
    for text, matched in ((setting, "Matched 1 out of 1 rules"), ("gpu:7(/)", "could not be mapped"),
                          ("cpu(=/h.0)", "does not support the '='"), ("cpu(/h.0", "Invalid layering config"),
                          ("cpu(a); gpu:0(a)", "Duplicate")):
        r = subprocess.run([sys.executable, "-c", script, gpt, text], capture_output=True, text=True)
        check(matched in r.stderr and (text != setting or "could not be mapped" not in r.stderr),
              f"'{text}': {r.stderr[-400:]}")


def refused(d):
    onnx.save(small(), str(d / "m.onnx"))
    r = pcc(d / "m.onnx", "--check-annotations", "--dim", "batch=1", "--pin", "x=acc0", "--verify-each", "-v")
    idle = re.findall("--([a-z-]+) has no effect: --check-annotations looks at the model alone", r.stderr)
    check(sorted(idle) == ["pin", "verify-each"], f"options without effect: {idle}")
    (d / "g.pir").write_text("graph {\n}\n")
    for code, text, *args in (
            (2, "--annotate 'ir12': expected metadata or ir11", d / "m.onnx", "--annotate=ir12"),
            (2, "writes nothing", d / "m.onnx", "--check-annotations", "-o", d / "x.onnx"),
            (1, "needs a planner", d / "m.onnx", "--annotate=ir11", "-o", d / "x.onnx"),
            (1, "only ONNX models", d / "g.pir", "--check-annotations"),
            (1, "nope.onnx", d / "nope.onnx", "--check-annotations")):
        r = pcc(*args, code=code)
        check(text in r.stderr, f"{text}: {r.stderr}")


# ---- planted violations


def annotated():
    """A sound model with a sharded MatMul and stages 0, 0, 1, ... by hand."""
    m = small()
    m.configuration.add(name="c", num_devices=4, device=["a", "b", "c", "d"])
    for i, n in enumerate(m.graph.node):
        n.device_configurations.add(configuration_id="c", pipeline_stage=i // 2)
    k = m.graph.node[0].device_configurations[0]
    s = k.sharding_spec.add(tensor_name="w", device=[0, -1])
    s.index_to_device_group_map.add(key=-1, value=[1, 3])
    dim = s.sharded_dim.add(axis=-1)
    dim.simple_sharding.add(num_shards=2)
    inner = m.graph.node[2].attribute[0].g.node[0]
    inner.device_configurations.add(configuration_id="c", pipeline_stage=1).sharding_spec.add(
        tensor_name="a", device=[3])
    f = helper.make_function("own", "F", ["p"], ["q"], [node("Neg", ["p"], ["q"], name="neg")],
                             [helper.make_opsetid("", 17)])
    f.node[0].device_configurations.add(configuration_id="c").sharding_spec.add(tensor_name="q")
    m.functions.append(f)
    m.opset_import.append(helper.make_opsetid("own", 1))
    return m


def config(m, i=0):
    return m.graph.node[i].device_configurations[0]


def spec(m):
    return config(m).sharding_spec[0]


def put(thing, **fields):
    for name, value in fields.items():
        setattr(thing, name, value)


def inner(m):
    return m.graph.node[2].attribute[0].g.node[0].device_configurations[0]


PLANTED = [  # level, text, change
    ("error", "node 'mat' (MatMul): configuration_id 'd' is no configuration of the model",
     lambda m: m.graph.node[0].device_configurations.add(configuration_id="d")),
    ("error", "node 'mat' (MatMul): a device configuration without configuration_id",
     lambda m: m.graph.node[0].device_configurations.add(pipeline_stage=0)),
    ("error", "node 'relu' (Relu), configuration 'c': the node has this configuration twice",
     lambda m: m.graph.node[1].device_configurations.add(configuration_id="c")),
    ("error", "configuration 'c' is there twice", lambda m: m.configuration.add(name="c", num_devices=1)),
    ("error", "configuration 1 has no name", lambda m: m.configuration.add(num_devices=1)),
    ("error", "configuration 'e': num_devices is 0", lambda m: m.configuration.add(name="e")),
    ("error", "configuration 'c': 3 device names for num_devices 4", lambda m: m.configuration[0].device.pop()),
    ("error", "tensor 'w': device 4 is neither one of 0 to 3 nor a key", lambda m: spec(m).device.append(4)),
    ("error", "tensor 'w': device -2 is neither", lambda m: spec(m).device.append(-2)),
    ("error", "tensor 'w': device 7 of group -1, expected 0 to 3",
     lambda m: spec(m).index_to_device_group_map[0].value.append(7)),
    ("error", "node 'mat' (MatMul), configuration 'c': sharding spec for 'a', which is no input",
     lambda m: config(m).sharding_spec.add(tensor_name="a")),
    ("error", "spec for '', which", lambda m: config(m).sharding_spec.add()),
    ("error", "node 'if' (If), configuration 'c': sharding spec for 'a', which is no input",  # captured
     lambda m: config(m, 2).sharding_spec.add(tensor_name="a")),
    ("error", "tensor 'w': axis 2 is not in [-2, 1]", lambda m: put(spec(m).sharded_dim[0], axis=2)),
    ("error", "tensor 'w': axis -3 is not in [-2, 1]", lambda m: put(spec(m).sharded_dim[0], axis=-3)),
    ("error", "tensor 'i': axis 5 is not in [-2, 1]",  # a shape that has to be inferred
     lambda m: config(m, 3).sharding_spec.add(tensor_name="i").sharded_dim.add(axis=5)),
    ("error", "tensor 'w': a sharded_dim has no axis", lambda m: spec(m).sharded_dim[0].ClearField("axis")),
    ("error", "tensor 'w', axis -1: num_shards is 0", lambda m: put(
        spec(m).sharded_dim[0].simple_sharding[0], num_shards=0)),
    ("error", "tensor 'w', axis -1: num_shards is -2", lambda m: put(
        spec(m).sharded_dim[0].simple_sharding[0], num_shards=-2)),
    ("warning", "tensor 'w', axis -1: 8 is not divisible into 3 shards", lambda m: put(
        spec(m).sharded_dim[0].simple_sharding[0], num_shards=3)),
    ("warning", "tensor 'w', axis -1: 9 is not divisible into 2 shards", lambda m: put(
        spec(m).sharded_dim[0].simple_sharding[0], dim_value=9)),
    ("error", "node 'relu' (Relu), configuration 'c': stage -1, but 'm' comes from node 'mat' in stage 0",
     lambda m: put(config(m, 1), pipeline_stage=-1)),
    ("error", "node 'other' (Neg), configuration 'c': stage -5, but 'a' comes from node 'relu'",
     lambda m: put(inner(m), pipeline_stage=-5)),
    ("error", "node 'if' (If), configuration 'c': stage 1, but 'a' comes from node 'relu' in stage 9",
     lambda m: [put(config(m, i), pipeline_stage=9) for i in (1, 3, 4, 5, 6)] + [put(inner(m), pipeline_stage=9)]),
    ("warning", "node 'relu' (Relu), configuration 'c': no stage, nor have 1 others, but 5 have one",
     lambda m: [config(m, i).ClearField("pipeline_stage") for i in (1, 4)]),
    ("error", "node 'other' (Neg), configuration 'c': tensor 'a': device 4",
     lambda m: inner(m).sharding_spec[0].device.append(4)),
    ("error", "node 'neg' (Neg) of function 'F', configuration 'c': tensor 'q': device 11",
     lambda m: m.functions[0].node[0].device_configurations[0].sharding_spec[0].device.append(11)),
]


def planted(d):
    path = d / "planted.onnx"
    onnx.save(annotated(), str(path))
    check(findings(path, 0) == [], "the sound model has findings")
    for level, text, change in PLANTED:
        m = annotated()
        change(m)
        onnx.save(m, str(path))
        found = findings(path, 1 if level == "error" else 0)
        check(len(found) == 1 and f"pcc: {level}: " in found[0] and text in found[0],
              f"'{text}' should be the only finding: {found}")


def many(d):
    """More findings than errors are shown otherwise, and many configurations: none is left out."""
    m = annotated()
    for i in range(300):
        m.configuration.add(name=f"k{i}", num_devices=1)
        for n in m.graph.node[:2]:
            n.device_configurations.add(configuration_id=f"k{i}", pipeline_stage=0 if n.name == "relu" else 1)
    onnx.save(m, str(d / "many.onnx"))
    found = findings(d / "many.onnx", 1)
    check(sum("pcc: error" in x and "stage 0, but 'm'" in x for x in found) == 300, f"{len(found)} findings")


def main():
    for test in (writing, refused, planted, many):
        with tempfile.TemporaryDirectory() as folder:
            test(Path(folder))
    print(f"{len(PLANTED)} planted violations")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
