"""Runs a split folder with files for OpenVINO as its users would, in OpenVINO's own Python (build/engines).

    openvino_split.py FOLDER INPUTS.npz OUTPUTS.npz

Writes the outputs of the parts to "parts:NAME", those of the whole model by HETERO to "hetero:NAME", and of the whole
model alone to "whole:NAME"; ends with 1 and says why where names, affinities or refusals are not as they should be."""
import sys
from pathlib import Path

import numpy as np
import openvino

folder = Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(folder))
import hetero
import run_openvino

F32 = {"INFERENCE_PRECISION_HINT": "f32"}
inputs = dict(np.load(sys.argv[2]))
parts = run_openvino.Parts(folder, {})
for part, compiled in parts.parts:
    names = {n for port in (*compiled.inputs, *compiled.outputs) for n in port.get_names()}
    if not {*part["inputs"], *part["outputs"]} <= names:
        sys.exit(f"{part['file']}: OpenVINO has not all names of the manifest")
found = {f"parts:{n}": a for n, a in parts.run(inputs).items()}

core = openvino.Core()
devices = [d["name"] for d in parts.manifest["devices"]]
places = hetero.read_places(folder)
path = str(folder / parts.manifest["model"]["file"])
model = core.read_model(path)
counts = hetero.set_affinities(model, places, {d: d.upper() for d in devices})
for op in model.get_ops():
    name = op.get_friendly_name()
    wanted = places["nodes"].get(name, places["outputs"].get(name))
    if "affinity" not in op.get_rt_info():
        sys.exit(f"{name}: no affinity")
    if wanted and op.get_type_name() not in ("Constant", "Parameter", "Result") \
            and op.get_rt_info()["affinity"].astype(str) != wanted.upper():
        sys.exit(f"{name}: on {op.get_rt_info()['affinity'].astype(str)}, planned for {wanted}")
if set(counts) != {d.upper() for p in parts.manifest["parts"] for d in [p["device"]]}:
    sys.exit(f"devices {counts}")

cpu = dict.fromkeys(devices, "CPU")
made = hetero.compile_whole(folder, cpu)(inputs)
found.update({f"hetero:{o['name']}": made[o["name"]] for o in parts.manifest["outputs"]})
made = core.compile_model(path, "CPU", F32)(inputs)
found.update({f"whole:{o['name']}": made[o["name"]] for o in parts.manifest["outputs"]})

model = core.read_model(path)
hetero.set_affinities(model, places, cpu)
del next(op for op in model.get_ops() if op.get_type_name() == "MatMul" or op.inputs()).get_rt_info()["affinity"]
try:
    core.compile_model(model, "HETERO:CPU", F32)
    sys.exit("a model of which one operation has no affinity is taken: the check of affinities shows nothing")
except RuntimeError:
    pass
np.savez(sys.argv[3], **found)
