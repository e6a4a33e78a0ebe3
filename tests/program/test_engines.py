"""Files for engines: `--for=ENGINE` with `-o FOLDER`, and `pcc split/ --for=ENGINE` on a folder that is there.

1. Triton: the repositories of generated models, contiguous plans and plans of any shape, obey the server's published
   rules (support/triton_repository.py), and a run by their config files alone, through ONNX Runtime, gives the bits of
   the whole model. Each rule refuses a repository in which it is broken. The extra `tritonclient` parses all with its
   ModelConfig.
   OpenVINO: scripts and hetero.json are what the manifest says; the extra `openvino` runs them: parts within 1e-5 of
   ONNX Runtime and 1e-6 of OpenVINO's own whole model, the whole model by HETERO, an affinity for each operation.
   genai: the configuration of generated decoders; the extra `genai` decodes 40 tokens as the whole model does, in parts
   of contiguous plans and of any shape.
2. What an engine cannot run is refused by name, before anything is written; so are broken folders.
3. Folders: files for engines come to a folder without any other change to it, are made anew, go with an old split,
   and nothing of the user's among them is removed.
Needs onnx, numpy, onnxruntime (else 77)."""

# extras: genai openvino ray tritonclient
import contextlib
import fcntl
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from with_ort import GEN, PCC, SOURCE, check
import checks
import extras
import numpy as np
import onnx
import triton_repository as triton
from google.protobuf import text_format
from onnx import TensorProto, helper

FLAT = ["-p", "dp-place"]
ANY = ["-p", "auto-place{gain=0}"]
MODELS = [("gpt", "gpt --layers 2 --width 16 --heads 2 --vocab 20", FLAT),
          ("gpt_kv", "gpt --kv --layers 2 --width 16 --heads 2 --vocab 20", ANY),
          ("llama_kv", "llama --kv --layers 2 --width 16 --heads 2 --kv-heads 1 --vocab 20", FLAT),
          ("resnet", "resnet --depth 18 --size 32 --width 4 --classes 5", ["--replicate"]),
          ("dense", "dense --layers 6 --width 16", FLAT)]
if os.environ.get("PCC_SANITIZED"):
    MODELS = MODELS[::3]


def pcc(*args, code=0, said=""):
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True)
    check(r.returncode == code and said in r.stderr, f"{args}: exit {r.returncode}, {r.stderr[-400:]!r}, not {said}")
    return r


def split(model, folder, *options, code=0, said=""):
    """Splits over three devices, fast enough links for plans of any shape."""
    return pcc(model, "-q", "-d", "3xa100", "--link", "1TB/s,0us", "--part-cost=0", "--pictures=none",
               "-Wno-guessed-dim", "--dim", "batch=2", "-o", folder, *options, code=code, said=said)


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def samples(folder, seed=3):
    rng = np.random.default_rng(seed)
    said = manifest(folder)
    for i in said["inputs"]:
        kind = said["values"][i["name"]]["numpy_type"]
        yield i["name"], (rng.integers(0, 5, i["sizes"]) if "int" in kind else rng.random(i["sizes"])).astype(kind)


def same_bits(folder, repository, configs, what):
    """The ensemble computes what the whole model computes."""
    inputs = dict(samples(folder))
    got, wrong = triton.run(repository, configs, inputs)
    check(not wrong, f"{what}: models unlike their configs: {wrong[:3]}")
    whole = triton.session(folder / "model.onnx")
    names = [o.name for o in whole.get_outputs()]
    check(list(got) == names, f"{what}: outputs {list(got)}, of the model {names}")
    for name, array in zip(names, whole.run(names, inputs)):
        check(array.tobytes() == got[name].tobytes(), f"{what}: {name} differs from the whole model's")


def repositories(temp):
    """Every model's repository; the folders are kept for what follows."""
    for k, (name, generated, plan) in enumerate(MODELS):
        model, folder, away = temp / f"{name}.onnx", temp / name, temp / "repository"
        subprocess.run([GEN, *generated.split(), "-o", model], check=True)
        batch = ["--triton-batch=8"] if name == "resnet" else []
        split(model, folder, *plan, "--for=triton", *batch, *(["--weights=inline"] if k == 4 else []))
        shutil.copytree(folder / "triton", away)  # it needs nothing else of the folder
        configs = triton.read(away)
        check(len(configs) == 1 + len(manifest(folder)["parts"]), f"{name}: {list(configs)}")
        check(not list(triton.complaints(configs, away)), f"{name}: {list(triton.complaints(configs, away))[:3]}")
        check({c.max_batch_size for c in configs.values()} == {8 if batch else 0}, f"{name}: batches")
        same_bits(folder, away, configs, name)
        for part in manifest(folder)["parts"]:
            gpus = [g for group in configs[f"{name}_{part['file'][:-5]}"].instance_group for g in group.gpus]
            want = [int(d[3:]) for d in part.get("replicas", [part["device"]])]
            check(gpus == want, f"{name}: {part['file']} on GPUs {gpus}, expected {want}")
        listed = manifest(folder)["exports"]
        check([e["engine"] for e in listed] == ["triton"], f"{name}: exports {listed}")
        check(set(listed[0]["files"]) == {f for f in files(folder) if f.startswith("triton/")}, f"{name}: files listed")
        shutil.rmtree(away)


def names(temp):
    """Any name of a tensor arrives in the configs."""
    name = 'quote" \'back\\slash \\n\nline\ttab \x7f \u00e9\u4e2d\U0001f600'
    onnx.save(model_of(chain(name, "y"), [(name, [2, 4])], [("y", [2, 4])]), temp / "odd.onnx")
    split(temp / "odd.onnx", temp / "names", *FLAT, "--for=triton")
    read = triton.read(temp / "names/triton")
    check(read["odd"].input[0].name == name and [e.key for e in read["odd"].ensemble_scheduling.step[0].input_map]
          == [name], f"{read['odd'].input[0].name!r}")


# A change of a repository's configs that breaks one rule: of the ensemble e, and the first and second part p, q.
MUTATIONS = [
    lambda e, p, q: setattr(p, "name", "other"),
    lambda e, p, q: setattr(p, "platform", "onnx"),
    lambda e, p, q: setattr(p.input[0], "data_type", 0),
    lambda e, p, q: p.input[0].dims.append(0),
    lambda e, p, q: p.input[0].ClearField("dims"),
    lambda e, p, q: p.ClearField("output"),
    lambda e, p, q: setattr(p.instance_group[0], "count", 0),
    lambda e, p, q: p.instance_group[0].ClearField("gpus"),
    lambda e, p, q: e.instance_group.add(count=1),
    lambda e, p, q: e.ClearField("ensemble_scheduling"),
    lambda e, p, q: setattr(e.ensemble_scheduling.step[0], "model_name", "other"),
    lambda e, p, q: setattr(e, "max_batch_size", 4),
    lambda e, p, q: e.ensemble_scheduling.step[0].input_map.pop(),
    lambda e, p, q: setattr(e.ensemble_scheduling.step[0].output_map[0], "key", "other"),
    lambda e, p, q: e.ensemble_scheduling.step.reverse(),
    lambda e, p, q: e.input[0].dims.append(3),
    lambda e, p, q: e.input.add(name="more", data_type=1, dims=[1]),
    lambda e, p, q: e.output.add(name="more", data_type=1, dims=[1]),
    lambda e, p, q: e.output.pop(),
    lambda e, p, q: setattr(e.ensemble_scheduling.step[1].output_map[0], "value", e.input[0].name),
    lambda e, p, q: p.input.append(p.input[0]),
]


def rules(temp):
    """The checker finds each rule broken: else it would say nothing of what pcc writes."""
    name = MODELS[0][0]
    for k, change in enumerate(MUTATIONS):
        configs = triton.read(temp / name / "triton")
        change(configs[name], configs[f"{name}_part0"], configs[f"{name}_part1"])
        check(list(triton.complaints(configs, temp / name / "triton")), f"mutation {k} is not found")


def model_of(nodes, inputs, outputs, inits=()):
    def info(name, shape, kind=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, kind, shape)
    graph = helper.make_graph(nodes, "g", [info(*i) for i in inputs], [info(*o) for o in outputs], list(inits))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def chain(first, last, n=6):
    names = [first, *(f"{last}.{k}" for k in range(n - 1)), last]
    return [helper.make_node("Exp", [a], [b], name=f"{last}/{k}") for k, (a, b) in enumerate(zip(names, names[1:]))]


def refused(temp):
    """What Triton cannot run, by name; nothing is written then."""
    size = ["n", 4]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [2], [1, 2])
    reduced = chain("x", "m") + [helper.make_node("ReduceSum", ["m"], ["s"], keepdims=0)]
    seven = helper.make_node("Cast", ["y"], ["z"], to=TensorProto.FLOAT8E5M2)
    cases = [
        (model_of(reduced, [("x", size)], [("s", [])]), [], "tensor 's' is a scalar"),
        (model_of(chain("x", "y") + [seven], [("x", size)], [("z", size, TensorProto.FLOAT8E5M2)]), [],
         "tensor 'z' is f8e5m2"),
        (model_of(chain("x", "y"), [("x", size), ("t", size)], [("y", size)]), [], "'t' is an input of the"),
        (model_of(chain("x", "y"), [("x", size)], [("y", size), ("x", size)]), [], "'x' is an output of the"),
        (model_of([], [("x", size)], [("x", size), ("w", [2])], [weight]), [], "it has no parts"),
        (model_of(chain("x", "y"), [("x", [0, 4])], [("y", [0, 4])]), [], "tensor 'x' has no elements"),
        (model_of(chain("x", "y"), [("x", [3, 4])], [("y", [3, 4])]), ["--triton-batch=4"],
         "tensor 'x' does not begin with a symbolic size"),
        (model_of(chain("x", "y"), [("x", ["n"])], [("y", ["n"])]), ["--triton-batch=4"],
         "tensor 'x' has no dimension but the batch"),
        (model_of(chain("x", "y") + chain("u", "v"), [("x", size), ("u", ["k", 4])], [("y", size), ("v", ["k", 4])]),
         ["--triton-batch=4"], "begins with 'k', others with 'n'"),
    ]
    for k, (model, options, said) in enumerate(cases):
        onnx.save(model, temp / "odd.onnx")
        before = sorted(p.name for p in temp.iterdir())
        split(temp / "odd.onnx", temp / "odd", *FLAT, "--dim", "n=2", "--for=triton", *options, code=1, said=said)
        check(sorted(p.name for p in temp.iterdir()) == before, f"case {k}: something was written")
    model = temp / f"{MODELS[0][0]}.onnx"
    pcc(model, "--for=trtion", "-o", temp / "odd", code=2, said="did you mean 'triton'?")
    pcc(model, "--for=triton", code=2, said="give its folder with -o")
    pcc(temp / MODELS[0][0], "--for=triton", "-p", "cost", code=2, said="-p and --emit do not apply")
    split(model, temp / "odd", "--for=triton", "--weights=shared", code=1, said="the parts share 'weights.data'")
    split(model, temp / "odd", "--triton-batch=4", "-Werror", code=1, said="it is for --for=triton")


def broken(temp):
    """Folders that are not what they should be; the answer names the file, and nothing comes of it."""
    folder, base = temp / "broken", temp / MODELS[0][0]

    def attempt(change, said):
        shutil.copytree(base, folder)
        shutil.rmtree(folder / "triton")
        there = manifest(folder)
        del there["exports"]
        change(there)
        (folder / "manifest.json").write_text(json.dumps(there))
        before = files(folder)
        pcc(folder, "--for=triton", code=1, said=said)
        check(files(folder) == before, f"{said}: the folder changed")
        shutil.rmtree(folder)
    attempt(lambda m: m.update(pcc_manifest=2), 'expected a manifest with "pcc_manifest": 1')
    attempt(lambda m: (folder / "part1.onnx").unlink(), "part1.onnx: there is no such file")
    attempt(lambda m: (folder / "part1.data").unlink(), "part1.data: there is no such file")
    attempt(lambda m: m["parts"][0].update(file="../x"), "expected the name of a file of the folder, found '../x'")
    attempt(lambda m: m["parts"][1]["inputs"].append("nowhere"), "expected a tensor of \"values\", found 'nowhere'")
    attempt(lambda m: m["parts"].reverse(), "read before a part makes it")
    attempt(lambda m: m["parts"][0].update(device="acc9"), "expected a device of \"devices\", found 'acc9'")
    attempt(lambda m: m["inputs"].append(7), "inputs: expected a tensor of \"values\", found 'no text'")
    attempt(lambda m: m["values"].update({n: {"type": None} for n in m["values"]}), "has no known type")
    attempt(lambda m: [v.update(shape=None) for v in m["values"].values()], "has an unknown number of dimensions")
    attempt(lambda m: m["parts"][2].update(inputs=[]), "is made by a part, but no part reads it")
    attempt(lambda m: (m["values"].update(z={"type": "f32", "shape": [1]}), m["parts"].append(
        {"file": "part0.onnx", "device": "acc0", "inputs": [], "outputs": ["z"]})), "part0.onnx has no inputs")
    attempt(lambda m: m["outputs"][0].update({"from": "weights"}), "is an output of the model that no part makes")
    attempt(lambda m: ((folder / "triton").mkdir(), (folder / "triton/mine").touch()), "its manifest does not list")
    pcc(temp, "--for=triton", code=1, said="manifest.json")
    (temp / "bare").mkdir()
    (temp / "bare/manifest.json").write_text("{")
    pcc(temp / "bare", "--for=triton", code=1, said="manifest.json:1:")


def gpus(temp):
    """An accelerator is the GPU of its number among all GPUs, whatever their classes; NPUs do not count."""
    base, folder = temp / MODELS[0][0], temp / "gpus"
    shutil.copytree(base, folder)
    there = manifest(folder)
    there["devices"][:0] = [{"name": "acc7", "class": "h100"}, {"name": "acc8", "class": "npu"}]
    (folder / "manifest.json").write_text(json.dumps(there))
    pcc(folder, "--for=triton", "-q")
    found = [c.instance_group[0].gpus[0] for c in triton.read(folder / "triton").values() if c.instance_group]
    check(sorted(found) == [1, 2, 3], f"GPUs {found}")
    split(temp / f"{base.name}.onnx", folder, *FLAT, "-d", "1xnpu,2xa100", "--weights=parts")
    kinds = [(d["class"], d.get("gpu")) for d in manifest(folder)["devices"]]
    check(kinds == [("npu", None), ("a100", 0), ("a100", 1)], f"devices {kinds}")
    for engine in ("triton", "genai"):
        pcc(folder, f"--for={engine}", code=1, said="runs on acc0, an NPU")


def folders(temp):
    """A folder that is there: nothing but the files for engines and their list is new; again; and its end."""
    model, folder = temp / f"{MODELS[0][0]}.onnx", temp / "there"
    split(model, folder, "--weights=parts", *FLAT)
    before, text = files(folder), (folder / "manifest.json").read_text()
    said = pcc(folder, "--for=triton").stdout
    after = files(folder)
    check("files for triton" in said, said)
    check(text.rstrip().removesuffix("}").rstrip() in after["manifest.json"].decode(), "the manifest's text changed")
    check({f for f in after if f not in before} == set(manifest(folder)["exports"][0]["files"]), "new files")
    check(all(after[f] == before[f] for f in before if f != "manifest.json"), "files changed")
    split(model, temp / "anew", "--for=triton", *FLAT)
    check(files(temp / "anew") == after, "a folder gets other files than a new one")
    there = manifest(folder)
    there["exports"].insert(0, {"engine": "other", "files": ["other.txt"]})
    there = {"exports": there.pop("exports"), **there}
    (folder / "manifest.json").write_text(json.dumps(there))
    pcc(folder, "--for=triton", "-q")
    again = manifest(folder)
    check([e["engine"] for e in again["exports"]] == ["other", "triton"], "exports of other engines")
    check({k: v for k, v in again.items() if k != "exports"} == {k: v for k, v in there.items() if k != "exports"},
          "the manifest changed")
    pcc(folder, "--check-schedule")
    pcc(folder, "--check-schedule", "--for=triton", code=2, said="and --for do not apply")
    pcc(folder, "--for=none", code=2, said="expected an engine")
    said = pcc(folder, "--for=triton", "-q", "-d", "2xcpu", "--weights=inline", "--pin=a=acc0").stderr
    check(all(f"--{name} has no effect" in said for name in ("devices", "weights", "pin")), said)
    check(not pcc(folder, "--for=triton", "-q", "-Werror", "--color=never").stderr, "a warning of what has an effect")
    check(manifest(folder) == again, "the manifest changed")
    inode = (folder / "manifest.json").stat().st_ino
    pcc(folder, "--for=triton", "-Werror", "--pin=a=acc0", code=1, said="--pin has no effect")
    check((folder / "manifest.json").stat().st_ino == inode, "files came in spite of -Werror")
    held = os.open(folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)  # as another run that adds files
    with subprocess.Popen([PCC, folder, "--for=openvino"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as waiting:
        check("waiting for another" in waiting.stderr.readline(), "a run does not wait for another one")
        (folder / "manifest.json").write_text(json.dumps({**again, "exports": again["exports"][1:]}))
        os.close(held)
    check([e["engine"] for e in manifest(folder)["exports"]] == ["triton", "openvino"], "another run's list is lost")
    (folder / "triton/mine").touch()
    split(model, folder, *FLAT, code=1, said="'triton/mine', which does not belong to the split")
    pcc(folder, "--for=triton", code=1, said="'triton/mine', which its manifest does not list")
    (folder / "triton/mine").unlink()
    split(model, folder, *FLAT)
    check(not (folder / "triton").exists() and "exports" not in manifest(folder), "an old split's files are left")
    beside = temp / "beside"
    beside.mkdir()
    shutil.copyfile(model, beside / "m.onnx")
    (beside / "hetero.json").write_text("mine")
    split(beside / "m.onnx", beside, *FLAT, "--weights=original", "--for=openvino", code=1, said="name of a new file")
    split(beside / "m.onnx", beside, *FLAT, "--weights=original")
    pcc(beside, "--for=openvino", code=1, said="'hetero.json', which its manifest does not list")
    (beside / "hetero.json").rename(beside / "genai_config.json")
    pcc(beside, "--for=openvino", "-q")
    split(beside / "m.onnx", beside, *FLAT, "--weights=original", "--for=openvino")
    check((beside / "genai_config.json").read_text() == "mine", "a file of the user's is gone")
    check(not [p for p in temp.iterdir() if p.name.startswith(".")], "a temporary folder is left")


def model_config():
    """tritonclient's ModelConfig; its other modules are not needed."""
    places = [Path(p) for p in sys.path] + list((SOURCE / "build/engines").glob("lib/python*/site-packages"))
    found = next((f for p in places if (f := p / "tritonclient/grpc/model_config_pb2.py").is_file()), None)
    extras.need(found, "no tritonclient (tools/setup.sh --engines)")
    spec = importlib.util.spec_from_file_location("model_config_pb2", found)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ModelConfig


def parsed_by_tritonclient(temp):
    message, name = model_config(), 'quote" back\\slash\ttab'
    model = onnx.load(temp / "dense.onnx") if (temp / "dense.onnx").exists() else None
    for _, generated, _ in MODELS:
        subprocess.run([GEN, *generated.split(), "-o", temp / "m.onnx"], check=True)
        model = onnx.load(temp / "m.onnx")
        first = model.graph.input[0].name
        for node in model.graph.node:
            node.input[:] = [name if i == first else i for i in node.input]
        model.graph.input[0].name = name
        onnx.save(model, temp / "m.onnx")
        split(temp / "m.onnx", temp / "split", "--for=triton")
        configs = triton.read(temp / "split/triton", message)
        check(configs["m"].input[0].name == name, f"{generated}: {configs['m'].input[0].name!r}")
        check(len(configs["m"].ensemble_scheduling.step) == len(configs) - 1, f"{generated}: steps")
        text_format.MessageToString(configs["m"])


def for_openvino(temp):
    """Files and refusals."""
    folder = temp / MODELS[0][0]
    pcc(folder, "--for=openvino", "-q")
    there, places = manifest(folder), json.loads((folder / "hetero.json").read_text())
    device = {p["file"]: p["device"] for p in there["parts"]}
    check(places["nodes"] == {n: device[p] for p, nodes in there["nodes"].items() for n in nodes}, "devices of nodes")
    check(places["outputs"] == {o["name"]: device[o["from"]] for o in there["outputs"]}, "devices of outputs")
    check([e["engine"] for e in there["exports"]] == ["triton", "openvino"], "exports")
    for name in ("run_openvino.py", "hetero.py"):
        source = SOURCE / "tools/python/pcc" / name
        check((folder / name).read_bytes() == source.read_bytes(), f"{name} is not {source}")
    two = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, ["n", 4])
    model = model_of([*chain("x", "y"), helper.make_node("SequenceConstruct", ["y"], ["s"])], [("x", ["n", 4])], [])
    model.graph.output.append(two)
    onnx.save(model, temp / "odd.onnx")
    split(temp / "odd.onnx", temp / "odd", *FLAT, "--dim", "n=2", "--for=openvino", code=1, said="'s' is seq<f32>")
    odd = helper.make_function("own", "F", ["a"], ["b"], [helper.make_node("Exp", ["a"], ["b"])],
                               [helper.make_opsetid("", 21)])
    model = model_of([*chain("x", "y"), helper.make_node("F", ["y"], ["z"], domain="own")], [("x", [2, 4])],
                     [("z", [2, 4])])
    model.functions.append(odd)
    model.opset_import.append(helper.make_opsetid("own", 1))
    onnx.save(model, temp / "odd.onnx")
    split(temp / "odd.onnx", temp / "odd", *FLAT, "--for=openvino", code=1, said="calls functions of its own")
    check(not (temp / "odd").exists(), "a refused split was written")
    with_openvino_as_here(temp)


class Core:
    """As openvino.Core; models run in ONNX Runtime."""

    def compile_model(self, path, device, options):
        session = triton.session(path)
        names = [o.name for o in session.get_outputs()]
        return lambda inputs, share_outputs: dict(zip(names, session.run(names, inputs)))


def with_openvino_as_here(temp):
    """run_openvino.py without OpenVINO: what it writes, and what it says of wrong files."""
    onnx.save(model_of(chain("x", "file"), [("x", [2, 4])], [("file", [2, 4])]), temp / "odd.onnx")
    split(temp / "odd.onnx", temp / "scripts", *FLAT, "--for=openvino")
    folder, there = temp / "scripts", manifest(temp / "scripts")
    sys.modules["openvino"] = types.SimpleNamespace(Core=Core)
    spec = importlib.util.spec_from_file_location("run_openvino", folder / "run_openvino.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    def says(wrong, *args):
        with contextlib.redirect_stderr(io.StringIO()) as heard, contextlib.redirect_stdout(io.StringIO()):
            code = script.main([str(a) for a in args])
        check((code, wrong in heard.getvalue()) == (bool(wrong), True), f"{args}: {code}, {heard.getvalue()}")
    np.savez(temp / "x.npz", x=np.ones((2, 4), np.float32))
    says("", temp / "x.npz", "--out", temp / "out.npz")
    check(dict(np.load(temp / "out.npz"))["file"][0, 0] > 2, "outputs written")
    (temp / "junk.npz").write_text("junk")
    (temp / "half.npz").write_bytes((temp / "x.npz").read_bytes()[:100])
    np.save(temp / "one.npy", np.ones(1))
    for name in ("junk.npz", "half.npz", "one.npy"):
        says(f"{name}: no .npz file of arrays", temp / name)
    for change, wrong in ((lambda m: m["outputs"][0].update({"from": "weights"}), "'file' is a weight of the model"),
                          (lambda m: m["parts"][0].update(file="../odd.onnx"), "'../odd.onnx' is not in the folder"),
                          (lambda m: m["model"].update(file="../odd.onnx"), "'../odd.onnx' is not in the folder"),
                          (lambda m: m.pop("parts"), "expected the members of a manifest")):
        wrongly = json.loads(json.dumps(there))
        change(wrongly)
        (folder / "manifest.json").write_text(json.dumps(wrongly))
        says(wrong)
        if "weight" in wrong:
            pcc(folder, "--for=openvino", code=1, said="'file' is an output of the model that is a weight")


def several_machines(temp):
    """mpi: hosts share the devices that have parts, in order. ray: the script, as it lies in the source."""
    subprocess.run([GEN, *MODELS[0][1].split(), "-o", temp / "m.onnx"], check=True)
    folder = temp / "several"
    split(temp / "m.onnx", folder, "--for=mpi,ray", "--hosts=a,b")
    check((folder / "hosts").read_text() == "a slots=1\nb slots=2\n", "the hostfile")
    check((folder / "rankfile").read_text() == "rank 0=a slot=0\nrank 1=b slot=0\nrank 2=b slot=1\n", "the rankfile")
    check((folder / "ray_split.py").read_bytes() == (SOURCE / "tools/python/pcc/ray_split.py").read_bytes(), "script")
    pcc(folder, "--for=mpi", "-q")
    check((folder / "hosts").read_text() == "localhost slots=3\n", "the hostfile of one machine")
    pcc(folder, "--for=mpi", "--hosts=a,a", code=1, said="'a' comes twice")
    pcc(folder, "--for=mpi", "--hosts=a,b c", code=1, said="expected names of hosts such as a,b: 'b c' is none")
    pcc(folder, "--for=mpi", "--hosts=a,b,c,d", code=1, said="4 hosts for 3 devices that have parts")
    pcc(folder, "--for=ray", "--hosts=a", said="--hosts has no effect: it is for --for=mpi")
    r = subprocess.run([sys.executable, "-c", "import sys; sys.modules['ray'] = None; sys.argv = ['x', '--folder', "
                        f"{str(folder)!r}]; sys.path.insert(0, {str(folder)!r}); import ray_split; "
                        "sys.exit(ray_split.main())"], capture_output=True, text=True)
    check(r.returncode == 1 and "pip install ray" in r.stderr and r.stderr.count("error:") == 1, f"no Ray: {r.stderr}")
    shutil.rmtree(folder)


def run_by_ray(temp):
    """Actors give the bits of run_split.py, by lists, in turns and with states, also where an actor is killed."""
    python = SOURCE / "build/engines/bin/python"
    there = python.exists() and subprocess.run([python, "-c", "import ray"], capture_output=True).returncode == 0
    extras.need(there, "no Ray (tools/setup.sh --engines)")
    folders = []
    for k in (0, 1, 3):
        subprocess.run([GEN, *MODELS[k][1].split(), "-o", temp / "m.onnx"], check=True)
        sizes = ["--dim=sequence=2,past_sequence=3"] if k == 1 else []  # the first states
        split(temp / "m.onnx", temp / MODELS[k][0], "--for=ray", *MODELS[k][2], *sizes)
        folders.append(temp / MODELS[k][0])
    r = subprocess.run([python, SOURCE / "tests/support/ray_by_folder.py", *folders], capture_output=True, text=True)
    check(r.returncode == 0, f"exit {r.returncode}: {r.stdout} {r.stderr[-600:]}")


def run_by_openvino(temp):
    python = SOURCE / "build/engines/bin/python"
    there = python.exists() and subprocess.run([python, "-c", "import openvino"], capture_output=True).returncode == 0
    extras.need(there, "no OpenVINO (tools/setup.sh --engines)")
    for name, generated, plan in MODELS:
        subprocess.run([GEN, *generated.split(), "-o", temp / "m.onnx"], check=True)
        split(temp / "m.onnx", temp / "m", "--for=openvino", *plan)
        inputs = dict(samples(temp / "m"))
        np.savez(temp / "in.npz", **inputs)
        r = subprocess.run([python, SOURCE / "tests/support/openvino_split.py", temp / "m", temp / "in.npz",
                            temp / "out.npz"], capture_output=True, text=True)
        if not check(r.returncode == 0, f"{name}: {r.stderr[-300:]}"):
            continue
        got = np.load(temp / "out.npz")
        whole = triton.session(temp / "m/model.onnx")
        for output, want in zip(whole.get_outputs(), whole.run(None, inputs)):
            parts, hetero, alone = (got[f"{k}:{output.name}"] for k in ("parts", "hetero", "whole"))
            largest = np.abs(want).max()
            near = [np.abs(a - b).max() / largest for a, b in ((parts, want), (parts, alone), (hetero, alone))]
            check(near[0] <= 1e-5 and near[1] <= 1e-6 and near[2] <= 1e-6, f"{name}: {output.name}: {near}")
        shutil.rmtree(temp / "m")
    by_session(python, temp)


def by_session(python, temp):
    """pcc.Session over OpenVINO."""
    library = Path(PCC).resolve().parent / "libpcc.so"
    if os.environ.get("PCC_SANITIZED") or not library.exists():
        return
    code = """import numpy as np, pcc
with pcc.Session("m.onnx", devices="3xa100", link="1TB/s,0us", pictures="none", engine="openvino", cache="kept",
                 providers={"acc0": "CPU"}) as s:
    first, outputs = s.get_inputs()[0], s.get_outputs()
    made = s.run(None, {first.name: np.zeros([d if isinstance(d, int) else 2 for d in first.shape], np.float32)})
    print(len(s.split.parts), s.get_providers(), [m.shape == (2, *o.shape[1:]) for m, o in zip(made, outputs)])
    try:
        s.run(None, {})
    except pcc.RunError as e:
        print(e)
"""
    subprocess.run([GEN, *MODELS[-1][1].split(), "-o", temp / "m.onnx"], check=True)
    r = subprocess.run([python, "-W", "ignore", "-c", code], cwd=temp, capture_output=True, text=True,
                       env={**os.environ, "PYTHONPATH": str(SOURCE / "tools/python"), "PCC_LIBRARY": str(library)})
    lines = r.stdout.splitlines()
    check(len(lines) == 2 and lines[0] == "3 ['CPU'] [True]" and "is not given" in lines[1],
          f"a session over OpenVINO: {r.stdout} {r.stderr[-300:]}")


INSIDE = "--no-cut=/attn/"  # no cut inside attention
DECODERS = [("gpt --kv --layers 3 --width 32 --heads 2 --vocab 300 --untied", 3, 2, 2),
            ("llama --kv --layers 3 --width 32 --heads 4 --kv-heads 2 --vocab 300", 3, 4, 2)]


def for_genai(temp):
    """Configurations, what is guessed or taken from the user's own, and refusals."""
    model, folder, base = temp / "decoder.onnx", temp / "decoder", temp / "base.json"
    for generated, layers, heads, kv_heads in DECODERS:
        subprocess.run([GEN, *generated.split(), "-o", model], check=True)
        split(model, folder, *FLAT, INSIDE, "--for=genai")
        config, there = json.loads((folder / "genai_config.json").read_text())["model"], manifest(folder)
        decoder, stages = config["decoder"], config["decoder"]["pipeline"][0]
        size = 32 // heads
        known = {"num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": kv_heads,
                 "head_size": size, "hidden_size": 32}
        check({k: decoder[k] for k in known} == known and config["vocab_size"] == 300, f"{generated}: {decoder}")
        check(list(stages) == [p["file"][:-5] for p in there["parts"]] and len(stages) > 2, f"stages {list(stages)}")
        for part, stage in zip(there["parts"], stages.values()):
            same = [stage["filename"], *stage["inputs"]] == [part["file"], *part["inputs"]]
            check(same and stage["outputs"] == part["outputs"], f"stage {part['file']}: {stage}")
        check(decoder["inputs"]["past_value_names"] == "past_key_values.%d.value" and
              decoder["outputs"]["present_key_names"] == "present.%d.key", f"names {decoder['inputs']}")
    said = pcc(folder, "--for=genai", said="guessed: context_length=2048, bos_token_id=299, eos_token_id=299").stdout
    check("1 file for genai" in said, said)
    base.write_text(json.dumps({"model": {"type": "llama", "eos_token_id": [7, 8], "context_length": 99, "decoder": {
        "filename": "model.onnx", "num_attention_heads": 4}}, "search": {"top_k": 5}}))
    pcc(folder, "--for=genai", "--genai-base", base, said="guessed: bos_token_id=299, pad_token_id=299, hidden")
    found = json.loads((folder / "genai_config.json").read_text())
    check(found["model"]["eos_token_id"] == [7, 8] and found["search"]["top_k"] == 5 and
          found["model"]["type"] == "decoder-pipeline" and "filename" not in found["model"]["decoder"], f"{found}")
    for text, wrong in (('{"model": {"eos_token_id": 300}}', "eos_token_id: expected numbers below the vocabulary's"),
                        ("[]", "expected a genai_config.json"), ("{", "base.json:1:"), (None, "base.json: ")):
        base.write_text(text) if text else base.unlink()
        before = files(folder)
        pcc(folder, "--for=genai", "--genai-base", base, code=1, said=wrong)
        check(files(folder) == before, f"{wrong}: the folder changed")
    refused_by_genai(temp, onnx.load(model))


def refused_by_genai(temp, decoder):
    def renamed(old, new):
        model = onnx.ModelProto()
        model.CopyFrom(decoder)
        for value in (*model.graph.input, *model.graph.output):
            value.name = new if value.name == old else value.name
        for node in model.graph.node:
            node.input[:] = [new if n == old else n for n in node.input]
            node.output[:] = [new if n == old else n for n in node.output]
        return model
    odd = temp / "odd.onnx"
    more = ["--state", "cache.1.key=present.1.key"]
    for model, options, said in (
            (renamed("past_key_values.1.key", "cache.1.key"), more, "'cache.1.key' is a state, but not named"),
            *((renamed("past_key_values.1.key", odd_name), ["--state", f"{odd_name}=present.1.key"],
               f"'{odd_name}' is a state, but not named") for odd_name in ("past_key_values.01.key", "past%s.1.key")),
            (renamed("past_key_values.1.key", "past_keys.1.key"), ["--state", "past_keys.1.key=present.1.key"],
             "is a cache named otherwise"),
            (renamed("input_ids", "tokens"), [], "'tokens' is an input that genai does not give")):
        onnx.save(model, odd)
        split(odd, temp / "odd", *FLAT, INSIDE, "--for=genai", *options, code=1, said=said)
    for generated in ("bert --layers 1 --width 16 --heads 2 --vocab 20", MODELS[-1][1]):
        subprocess.run([GEN, *generated.split(), "-o", odd], check=True)
        split(odd, temp / "odd", "--for=genai", code=1, said="the model is no decoder with caches")
    split(odd, temp / "odd", "--genai-base=x", "-Werror", code=1, said="it is for --for=genai")
    folder = temp / "moved"
    shutil.copytree(temp / "decoder", folder)
    there = manifest(folder)
    last = there["parts"][-1]
    for change, said in ((lambda: last["inputs"].append("present.0.key"), "'present.0.key' is a cache that a part"),
                         (lambda: last["inputs"].remove("past_key_values.2.key"), "are in different parts"),
                         (lambda: there["states"].pop(), "layer 2 has not both a cache of keys and one of values")):
        kept = list(last["inputs"])
        change()
        (folder / "manifest.json").write_text(json.dumps(there))
        pcc(folder, "--for=genai", code=1, said=said)
        last["inputs"] = kept


def run_by_genai(temp):
    python = SOURCE / "build/engines/bin/python"
    there = python.exists() and subprocess.run([python, "-c", "import onnxruntime_genai"],
                                               capture_output=True).returncode == 0
    extras.need(there, "no onnxruntime-genai (tools/setup.sh --engines)")
    for generated, *_ in DECODERS:
        subprocess.run([GEN, *generated.split(), "-o", temp / "m.onnx"], check=True)
        for plan in (FLAT, ANY):
            split(temp / "m.onnx", temp / "m", "--for=genai", *plan, INSIDE)
            r = subprocess.run([python, SOURCE / "tests/support/genai_split.py", temp / "m"], capture_output=True,
                               text=True)
            check(r.returncode == 0, f"{generated} {plan}: {r.stdout}{r.stderr[-300:]}")
            shutil.rmtree(temp / "m")


def main():
    with tempfile.TemporaryDirectory() as temp:
        if extras.extra():
            runs = {"genai": run_by_genai, "openvino": run_by_openvino, "ray": run_by_ray,
                    "tritonclient": parsed_by_tritonclient}
            runs[extras.extra()](Path(temp))
            return checks.finish()
        for test in (repositories, names, rules, refused, broken, gpus, folders, for_openvino, for_genai,
                     several_machines):
            test(Path(temp))
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
