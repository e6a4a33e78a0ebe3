"""Files for engines: `--for=ENGINE` with `-o FOLDER`, and `pcc split/ --for=ENGINE` on a folder that is there.

1. Triton: the repositories of generated models, contiguous plans and plans of any shape, obey the server's published
   rules (support/triton_repository.py), and a run by their config files alone, through ONNX Runtime, gives the bits of
   the whole model; so it does through a server that only seems to be one. Each rule refuses a repository in which it is
   broken. The extra `tritonclient` parses all with its ModelConfig; `triton` asks the server of PCC_TRITON_URL.
   OpenVINO: scripts and hetero.json are what the manifest says; the extra `openvino` runs them: parts within 1e-5 of
   ONNX Runtime and 1e-6 of OpenVINO's own whole model, the whole model by HETERO, an affinity for each operation.
   genai: the configuration of generated decoders; the extra `genai` decodes 40 tokens as the whole model does, in parts
   of contiguous plans and of any shape.
   ONNX Runtime: the parts by IOBinding.
   web: the extra `node` runs run.mjs with a runtime that only notes what it is asked for; `web` with onnxruntime-web
   and -node, parts against the whole bit by bit; `chromium` the page, from a server of files on this machine.
2. What an engine cannot run is refused by name, before anything is written; so are broken folders.
   Lists of what an engine runs (tools/support.py, --support): of ONNX Runtime, and by the extra `openvino`.
3. Folders: files for engines come to a folder without any other change to it, are made anew, go with an old split,
   and nothing of the user's among them is removed.
Needs onnx, numpy, onnxruntime (else 77)."""

# extras: chromium genai node openvino providers ray triton tritonclient web
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
import onnxruntime as ort
import triton_repository as triton
import triton_server
import web_cases
from engine_splits import ANY, FLAT, MODELS, RESNET, chain, files, manifest, model_of, pcc, plans, samples, \
    split
from google.protobuf import text_format
from onnx import TensorProto, helper


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


def by_binding(folder, optimise):
    """What the parts make in ONNX Runtime with values bound by name, so that none passes through Python."""
    values = {n: ort.OrtValue.ortvalue_from_numpy(a) for n, a in samples(folder)}
    for part in manifest(folder)["parts"]:
        session = triton.session(folder / part["file"], optimise)
        binding = session.io_binding()
        for name in part["inputs"]:
            binding.bind_ortvalue_input(name, values[name])
        for name in part["outputs"]:
            binding.bind_output(name, "cpu")
        session.run_with_iobinding(binding)
        values.update(zip(part["outputs"], binding.get_outputs()))
    return values


def bound(folder, what):
    """With optimisations off the whole model's bits, with them on within 1e-5 of the largest value: fusions end at
    cuts."""
    for optimise in (False, True):
        whole, made = triton.session(folder / "model.onnx", optimise), by_binding(folder, optimise)
        names = [o.name for o in whole.get_outputs()]
        for name, want in zip(names, whole.run(names, dict(samples(folder)))):
            got = made[name].numpy()
            far = np.abs(got - want).max() / np.abs(want).max() if optimise else got.tobytes() != want.tobytes()
            check(got.shape == want.shape and far <= 1e-5, f"{what}: {name}, optimised: {optimise}, differs by {far}")


def repositories(temp):
    """Every model's repository; the folders of the first plans are kept for what follows."""
    for k, (name, generated, first) in enumerate(MODELS):
        subprocess.run([GEN, *generated.split(), "-o", temp / f"{name}.onnx"], check=True)
        more = ["--triton-batch=8"] if name == "resnet" else ["--weights=inline"] if k == 4 else []
        for plan in reversed(plans(first)):
            repository(temp, name, plan, more)


def repository(temp, name, plan, more):
    folder, away, what = temp / name, temp / "repository", f"{name} {plan}"
    split(temp / f"{name}.onnx", folder, *plan, "--for=triton", *more)
    shutil.copytree(folder / "triton", away)  # it needs nothing else of the folder
    configs, there = triton.read(away), manifest(folder)
    check(len(configs) == 1 + len(there["parts"]) > 1 + (plan in (FLAT, ANY)), f"{what}: {list(configs)}")
    check(not list(triton.complaints(configs, away)), f"{what}: {list(triton.complaints(configs, away))[:3]}")
    check({c.max_batch_size for c in configs.values()} == {8 if "batch" in str(more) else 0}, f"{what}: batches")
    same_bits(folder, away, configs, what)
    bound(folder, what)
    for part in there["parts"]:
        gpus = [g for group in configs[f"{name}_{part['file'][:-5]}"].instance_group for g in group.gpus]
        want = [int(d[3:]) for d in part.get("replicas", [part["device"]])]
        check(gpus == want, f"{what}: {part['file']} on GPUs {gpus}, expected {want}")
    check([e["engine"] for e in there["exports"]] == ["triton"], f"{what}: exports {there['exports']}")
    check(set(there["exports"][0]["files"]) == {f for f in files(folder) if f.startswith("triton/")}, f"{what}: files")
    shutil.rmtree(away)


def through_server(temp):
    """By a server's HTTP interface: loaded, asked and unloaded, the same bits; here the server only seems to be one."""
    folder = temp / MODELS[0][0]
    with triton_server.emulated() as (url, asked):
        got = triton_server.Server(url).run(folder / "triton", dict(samples(folder)))
        whole = triton.session(folder / "model.onnx")
        want = whole.run(list(got), dict(samples(folder)))
        check(len(got) == len(whole.get_outputs()) and all(a.tobytes() == b.tobytes() for a, b in
                                                           zip(want, got.values())), "a server's bits differ")
        parts = [f"{folder.name}_{p['file'][:-5]}" for p in manifest(folder)["parts"]]
        check(asked == [*(f"load {p}" for p in parts), f"load {folder.name}", f"infer {folder.name}",
                        f"unload {folder.name}", *(f"unload {p}" for p in parts)], f"asked {asked}")
        try:
            triton_server.Server(url).infer(folder.name, {})
            check(False, "a model that is not loaded runs")
        except RuntimeError as e:
            check("400" in str(e), f"{e}")


def by_server(temp):
    """The same by the server of PCC_TRITON_URL, which optimises. PCC_TRITON_DEVICES: what it has, such as 2xa100."""
    url = os.environ.get("PCC_TRITON_URL")
    extras.need(url, "no Triton server (PCC_TRITON_URL=http://localhost:8000 names one)")
    devices = os.environ.get("PCC_TRITON_DEVICES", "3xcpu")
    for name, generated, plan in MODELS:
        subprocess.run([GEN, *generated.split(), "-o", temp / f"{name}.onnx"], check=True)
        split(temp / f"{name}.onnx", temp / name, "-d", devices, *plan, "--for=triton")
        got = triton_server.Server(url).run(temp / name / "triton", dict(samples(temp / name)))
        whole = triton.session(temp / name / "model.onnx")
        for output, want in zip(whole.get_outputs(), whole.run(None, dict(samples(temp / name)))):
            far = np.abs(got[output.name] - want).max() / np.abs(want).max()
            check(got[output.name].shape == want.shape and far <= 1e-5, f"{name}: {output.name} differs by {far}")


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
    """An accelerator is the GPU of its number among its maker's, whatever their classes; NPUs do not count."""
    base, folder = temp / MODELS[0][0], temp / "gpus"
    shutil.copytree(base, folder)
    there = manifest(folder)
    there["devices"][:0] = [{"name": "acc6", "class": "mi300x"}, {"name": "acc7", "class": "h100"},
                            {"name": "acc8", "class": "npu"}]
    (folder / "manifest.json").write_text(json.dumps(there))
    pcc(folder, "--for=triton", "-q")
    found = [c.instance_group[0].gpus[0] for c in triton.read(folder / "triton").values() if c.instance_group]
    check(sorted(found) == [1, 2, 3], f"GPUs {found}")
    split(temp / f"{base.name}.onnx", folder, *FLAT, "-d", "1xnpu,2xa100", "--weights=parts")
    kinds = [(d["class"], d.get("gpu")) for d in manifest(folder)["devices"]]
    check(kinds == [("npu", None), ("a100", 0), ("a100", 1)], f"devices {kinds}")
    for engine in ("triton", "genai", "tensorrt"):
        pcc(folder, f"--for={engine}", code=1, said="runs on acc0" + (", an NPU" if engine != "tensorrt" else ": "))
        changed = (folder / "manifest.json").read_text().replace('"class": "npu"', '"class": "mi300x"')
        (folder / "manifest.json").write_text(changed)
        pcc(folder, f"--for={engine}", code=1, said="runs on acc0, of class mi300x: expected GPUs of NVIDIA")
        (folder / "manifest.json").write_text(changed.replace('"class": "mi300x"', '"class": "npu"'))


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
    for _, generated, first in MODELS:
        subprocess.run([GEN, *generated.split(), "-o", temp / "m.onnx"], check=True)
        model = onnx.load(temp / "m.onnx")
        named = model.graph.input[0].name
        for node in model.graph.node:
            node.input[:] = [name if i == named else i for i in node.input]
        model.graph.input[0].name = name
        onnx.save(model, temp / "m.onnx")
        for plan in plans(first):
            split(temp / "m.onnx", temp / "split", "--for=triton", *plan)
            configs = triton.read(temp / "split/triton", message)
            check(configs["m"].input[0].name == name, f"{generated} {plan}: {configs['m'].input[0].name!r}")
            check(len(configs["m"].ensemble_scheduling.step) == len(configs) - 1, f"{generated} {plan}: steps")
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


def part_costs(temp):
    """Where nothing else is said a part costs what was measured of the engines, the most of them; this is printed."""
    decoder = "gpt --kv --layers 1 --width 16 --heads 2 --vocab 20"
    subprocess.run([GEN, *decoder.split(), "-o", temp / "kv.onnx"], check=True)
    for engines, more, want in (("openvino", (), 65), ("genai,openvino", (), 65), ("genai", (), 15),
                                ("triton,tensorrt", (), 5), ("openvino", ("--part-cost=7us",), 7)):
        r = pcc(temp / "kv.onnx", "-Wno-guessed-dim", "-d", "2xa100", "--no-cut=/attn/", "--pictures=none",
                "-o", temp / "costs", f"--for={engines}", *more)
        there = manifest(temp / "costs")["objective"]["part_cost_s"]
        said = f"{want}us for each part as measured of {engines.split(',')[-1]}"
        text = " ".join((r.stderr + r.stdout).split())
        right = round(there * 1e6, 3) == want and (said in text) == (want > 7)
        check(right, f"{engines} {more}: {there}, {text[-300:]}")


def olive_splits(model, text):
    """The split of each node but Constant by the rules of Olive's SplitModel (olive/passes/onnx/split.py)."""
    names = dict(row.split("=") for row in text.split(";"))
    made = {o: n for n in model.graph.node for o in n.output if o}
    readers = {n.name: [r for r in model.graph.node if set(r.input) & set(n.output)] for n in model.graph.node}
    split = {}
    for n in model.graph.node:
        row = n.name.replace("/", ".").lstrip(".").split(".")
        own = [int(names[key]) for k in range(len(row), 0, -1) if (key := ".".join(row[:k])) in names][:1]
        own = [] if n.op_type in ("QuantizeLinear", "DequantizeLinear") else own
        found = own + [split[made[i].name] for i in n.input if i in made and made[i].name in split]
        if found and n.op_type != "Constant":
            split[n.name] = max(found)
    for n in reversed(model.graph.node):
        if n.name not in split and n.op_type != "Constant":
            split[n.name] = min([split[r.name] for r in readers[n.name] if r.name in split], default=0)
    for n in model.graph.node:
        if n.op_type == "DequantizeLinear":
            split[n.name] = min([split[r.name] for r in readers[n.name]], default=split[n.name])
    return split


def for_olive(temp):
    """Assignments say the plan by Olive's rules; pcc reads them back as that plan; what they cannot say is refused."""
    for name, _, plan in MODELS:
        folder = temp / name
        pcc(folder, "--for=olive", "-q")
        text = (folder / "split_assignments.txt").read_text().rstrip("\n")
        model, there = onnx.load(folder / "model.onnx", load_external_data=False), manifest(folder)
        split_of, parts = olive_splits(model, text), [there["nodes"][p["file"]] for p in there["parts"]]
        wrong = [n for k, nodes in enumerate(parts) for n in nodes if split_of.get(n) != k]
        check(not wrong, f"{name}: {wrong[:3]} by {text[:200]}")
        for n in model.graph.node:
            del n.metadata_props[:]
        model.metadata_props.add(key="split_assignments", value=text)
        onnx.save(model, folder / "said.onnx")
        back = pcc(folder / "said.onnx", "-q", "-d", f"{len(parts)}xa100", "-p", "plan{from=self}", "-Wno-guessed-dim",
                   "-o", temp / "back.json")
        devices = json.loads((temp / "back.json").read_text())["devices"] if back.returncode == 0 else []
        check([sorted(d["nodes"]) for d in devices] == [sorted(p) for p in parts], f"{name}: read back")
        if len(parts) > 1:
            pcc(folder / "said.onnx", "-q", "-d", "1xa100", "-p", "plan{from=self}", code=1,
                said="a device for each split")
        (folder / "said.onnx").unlink()
    for bad, said in (("h=0;x", "'x': expected NAME=K"), ("h=-1", "'h=-1'"), ("=1", "'=1'"), ("a=1025", "'a=1025'")):
        model = model_of(chain("x", "y"), [("x", [4])], [("y", [4])])
        model.metadata_props.add(key="split_assignments", value=bad)
        onnx.save(model, temp / "odd.onnx")
        pcc(temp / "odd.onnx", "-q", "-p", "plan{from=self}", code=1, said=said)
    for change, said in ((("y/5", "y.2"), "'y/2' and 'y.2' have one name for Olive"), (("y/5", "y=5"), "'y=5' (Exp)"),
                         (("y/5", ""), "no name that could say its part")):
        model = model_of(chain("x", "y"), [("x", [4])], [("y", [4])])
        next(n for n in model.graph.node if n.name == change[0]).name = change[1]
        onnx.save(model, temp / "odd.onnx")
        split(temp / "odd.onnx", temp / "odd", *FLAT, "--for=olive", code=1, said=said)
    quantized = [*chain("x", "y", 2), helper.make_node("QuantizeLinear", ["y", "s"], ["q"], name="q"),
                 helper.make_node("DequantizeLinear", ["q", "s"], ["d"], name="d"),
                 helper.make_node("Exp", ["d"], ["z"], name="z")]
    scale = helper.make_tensor("s", TensorProto.FLOAT, [], [0.5])
    onnx.save(model_of(quantized, [("x", [4])], [("z", [4])], [scale]), temp / "odd.onnx")
    split(temp / "odd.onnx", temp / "odd", *FLAT, "--pin=^[yq]=acc0", "--pin=^[dz]=acc1", "--for=olive")
    listing = temp / "odd/manifest.json"
    for node, here, there, said in (("q", 0, 1, "node 'q' (QuantizeLinear): Olive puts it where"),
                                    ("d", 1, 0, "node 'd' (DequantizeLinear): Olive copies it")):
        moved = json.loads(listing.read_text())
        moved["nodes"][f"part{here}.onnx"].remove(node)
        moved["nodes"][f"part{there}.onnx"].append(node)
        listing.write_text(json.dumps(moved))
        pcc(temp / "odd", "--for=olive", code=1, said=said)
        moved["nodes"][f"part{there}.onnx"].remove(node)
        moved["nodes"][f"part{here}.onnx"].append(node)
        listing.write_text(json.dumps(moved))


def for_tensorrt(temp):
    """A line for each part, with names of any kind; the sizes are those of the run; what is not listed is refused."""
    fake = temp / "bin/trtexec"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\"; printf '\\n'\n")
    fake.chmod(0o755)

    def lines(folder):
        r = subprocess.run(["sh", folder / "trtexec.sh", "--fp16"], capture_output=True, text=True, cwd=temp,
                           env=os.environ | {"PATH": f"{fake.parent}:{os.environ['PATH']}"})
        check(r.returncode == 0, f"{folder}: {r.stderr}")
        return [dict(a.partition("=")[::2] for a in line.split("\0")[:-1]) for line in r.stdout.splitlines()]
    for name, *_ in MODELS:
        folder = temp / name
        pcc(folder, "--for=tensorrt", "-q")
        there = manifest(folder)
        for part, said in zip(there["parts"], lines(folder), strict=True):
            session = triton.session(folder / part["file"])
            open_sizes = {i.name: i.shape for i in session.get_inputs() if any(isinstance(d, str) for d in i.shape)}
            check(said["--onnx"] == part["file"] and said["--device"] == part["device"][3:] and "--fp16" in said,
                  f"{name}: {said}")
            least, most = ({n: [int(d) for d in s.split("x")] for n, _, s in
                            (t.rpartition(":") for t in said.get(k, "").split(",") if t)}
                           for k in ("--minShapes", "--maxShapes"))
            check(said.get("--optShapes") == said.get("--maxShapes") and set(least) == set(most) == set(open_sizes),
                  f"{name}: inputs of {said}")
            for n, shape in open_sizes.items():
                want = [there["dims"].get(d, -1) if isinstance(d, str) else d for d in shape]
                right = [w in (-1, m) and 1 <= l <= m for w, l, m in zip(want, least[n], most[n], strict=True)]
                check(all(right), f"{name}: {n}: {shape} as {least[n]} to {most[n]}")
    odd = "q'uote"
    onnx.save(model_of(chain("it:s,x", "y"), [("it:s,x", ["n", 4])], [("y", ["n", 4])]), temp / "odd.onnx")
    split(temp / "odd.onnx", temp / "odd", *FLAT, "--dim", "n=6", "--for=tensorrt")
    check(lines(temp / "odd")[0]["--minShapes"] == "'it:s,x':1x4", f"{lines(temp / 'odd')}")
    for model, said in (
            (model_of(chain(odd, "y"), [(odd, ["n", 4])], [("y", ["n", 4])]), "no way to write the name of input"),
            (model_of([*chain("x", "y"), helper.make_node("Det", ["y"], ["z"], name="det")], [("x", [4, 4])],
                      [("z", [])]), "node 'det' is Det, which is not in TensorRT 10.15's list"),
            (model_of([*chain("x", "y"), helper.make_node("Cast", ["y"], ["z"], name="cast", to=TensorProto.UINT16)],
                      [("x", [4])], [("z", [4], TensorProto.UINT16)]), "'z' is u16"),
            (model_of([*chain("x", "y"), helper.make_node("Gelu", ["y"], ["z"], name="own", domain="com.microsoft")],
                      [("x", [4])], [("z", [4])]), "node 'own' is com.microsoft.Gelu")):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        onnx.save(model, temp / "odd.onnx")
        split(temp / "odd.onnx", temp / "none", *FLAT, "--for=tensorrt", code=1, said=said)
    check(not (temp / "none").exists(), "a refused split was written")
    pcc(temp / "odd.onnx", "-q", "-d", "1xcpu", "-o", temp / "none", "--for=tensorrt", code=1, said="it runs on cpu0")


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


def support_list(temp, python, *engine):
    """An engine that runs all of a ResNet changes no plan; three nodes that are struck out of its list move alone."""
    subprocess.run([GEN, *RESNET.split(), "-o", temp / "m.onnx"], check=True)
    slow = {"name": "slow", "host": True, "peak": {"f32": "1M"}, "bandwidth": "1MB/s"}
    (temp / "devices.json").write_text(json.dumps({"classes": [{"preset": "a100"}, slow]}))
    tool = [python, SOURCE / "tools/support.py", temp / "m.onnx", *engine, "-o", temp / "list"]
    r = subprocess.run(tool, capture_output=True, text=True)
    check(r.returncode == 0, f"{engine}: {r.stderr}")

    def planned(*options):
        pcc(temp / "m.onnx", "-q", "-Wno-guessed-dim", "-d", temp / "devices.json", "-p", "auto-place{gain=0}",
            "-o", temp / "plan.json", *options)
        return {n: d["name"] for d in json.loads((temp / "plan.json").read_text())["devices"] for n in d["nodes"]}
    free = planned()
    check(planned(f"--support={temp / 'list'}:a100") == free, f"{engine}: a list of all changes the plan")
    three = [n for n in free if n.endswith(("/maxpool/MaxPool", "/layer2.1/relu/Relu", "/layer4.0/conv1/Conv"))]
    text = (temp / "list").read_text()
    kept = [line for line in text.splitlines() if not any(json.dumps(n) in line for n in three)]
    check(len(three) == 3 and len(kept) == len(text.splitlines()) - 3, f"{engine}: lines to strike out")
    (temp / "list").write_text("\n".join(kept) + "\n")
    got = planned(f"--support={temp / 'list'}:a100")
    check(sorted(n for n in got if got[n] != free[n]) == sorted(three), f"{engine}: others than {three} move")


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


def two_providers(temp):
    """One session of the whole model divides it between two providers as planned, by both settings. ONNX Runtime 1.32.0
    does not load a model in which a provider that takes nodes in groups has neighbours elsewhere."""
    python = SOURCE / "build/engines/bin/python"
    there = python.exists() and subprocess.run([python, "-c", "import onnxruntime_ep_openvino"],
                                               capture_output=True).returncode == 0
    extras.need(there, "no second provider for ONNX Runtime (tools/setup.sh --engines)")
    towers = [n for k in "abc" for n in chain(f"{k}.x", f"{k}/y", 4)]
    ends = [[(f"{k}{end}", [2, 4]) for k in "abc"] for end in (".x", "/y")]
    onnx.save(model_of(towers, *ends), temp / "towers.onnx")
    onnx.save(model_of(chain("x", "y"), [("x", [2, 4])], [("y", [2, 4])]), temp / "joined.onnx")
    for name, first in (("towers", "^b"), ("joined", "/[01]$")):
        split(temp / f"{name}.onnx", temp / "m", *FLAT, "-d", "1xcpu,1xa100", f"--pin={first}=cpu0", "--pin=.=acc0")
        r = subprocess.run([python, SOURCE / "tests/support/two_providers.py", temp / "m", temp / f"{name}.onnx"],
                           capture_output=True, text=True)
        known = name == "joined" and "num_nodes_processed == in_degree.size() was false" in r.stderr
        check(known or r.returncode == 0, f"{name}: {r.stdout}{r.stderr[-300:]}")


def run_by_openvino(temp):
    python = SOURCE / "build/engines/bin/python"
    there = python.exists() and subprocess.run([python, "-c", "import openvino"], capture_output=True).returncode == 0
    extras.need(there, "no OpenVINO (tools/setup.sh --engines)")
    support_list(temp, python, "--openvino", "CPU")
    for name, generated, first in MODELS:
        subprocess.run([GEN, *generated.split(), "-o", temp / "m.onnx"], check=True)
        for plan in plans(first):
            split(temp / "m.onnx", temp / "m", "--for=openvino", *plan)
            as_onnxruntime(python, temp, f"{name} {plan}")
    by_session(python, temp)


def as_onnxruntime(python, temp, what):
    """Parts and whole model in OpenVINO give what ONNX Runtime gives, within 1e-5, and each other's within 1e-6."""
    inputs = dict(samples(temp / "m"))
    np.savez(temp / "in.npz", **inputs)
    r = subprocess.run([python, SOURCE / "tests/support/openvino_split.py", temp / "m", temp / "in.npz",
                        temp / "out.npz"], capture_output=True, text=True)
    if not check(r.returncode == 0, f"{what}: {r.stderr[-300:]}"):
        return
    got, whole = np.load(temp / "out.npz"), triton.session(temp / "m/model.onnx")
    for output, want in zip(whole.get_outputs(), whole.run(None, inputs)):
        parts, hetero, alone = (got[f"{k}:{output.name}"] for k in ("parts", "hetero", "whole"))
        largest = np.abs(want).max()
        near = [np.abs(a - b).max() / largest for a, b in ((parts, want), (parts, alone), (hetero, alone))]
        check(near[0] <= 1e-5 and near[1] <= 1e-6 and near[2] <= 1e-6, f"{what}: {output.name}: {near}")


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
            runs = {"genai": run_by_genai, "openvino": run_by_openvino, "providers": two_providers, "ray": run_by_ray,
                    "triton": by_server, "tritonclient": parsed_by_tritonclient, "node": web_cases.in_node,
                    "web": web_cases.run_by_web, "chromium": web_cases.in_chromium}
            runs[extras.extra()](Path(temp))
            return checks.finish()
        support_list(Path(temp), sys.executable, "--provider", "CPUExecutionProvider")
        for test in (repositories, through_server, names, rules, refused, broken, gpus, folders, for_openvino,
                     for_genai, for_olive, for_tensorrt, part_costs, web_cases.for_web, several_machines):
            test(Path(temp))
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
