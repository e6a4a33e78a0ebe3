"""One session of a whole model over two providers, in the Python of build/engines: ONNX Runtime's CPU and OpenVINO's
plugin on the CPU, by the settings of split folders for a GPU and a CPU. Ends with 1 and says where a node is not at the
provider of its device, or an output is not that of a session on the CPU alone.

    two_providers.py FOLDER MODEL.onnx

No GPU is here, so the settings' word for the GPU, "gpu:0", becomes the plugin's name, and "cpu", which both providers'
devices are, that of ONNX Runtime's own."""
import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime as ort
import onnxruntime_ep_openvino as plugin

CPU = "CPUExecutionProvider"
F32 = {"load_config": json.dumps({"CPU": {"INFERENCE_PRECISION_HINT": "f32"}})}
folder = Path(sys.argv[1])
manifest = json.loads((folder / "manifest.json").read_text())
ort.register_execution_provider_library("openvino", plugin.get_library_path())
name = plugin.get_ep_name()
device = next(d for d in ort.get_ep_devices() if d.ep_name == name and d.device.type == ort.OrtHardwareDeviceType.CPU)
inputs = {i["name"]: np.random.default_rng(1).integers(0, 5, i["sizes"]).astype(
    manifest["values"][i["name"]]["numpy_type"]) for i in manifest["inputs"]}
where = {n: CPU if p["device"].startswith("cpu") else name
         for p in manifest["parts"] for n in manifest["nodes"][p["file"]]}


def session(path, setting=None):
    o = ort.SessionOptions()
    o.log_severity_level = 3
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if setting:
        o.add_provider_for_devices([device], F32)
        o.add_session_config_entry(*setting)
    return ort.InferenceSession(str(path), o)


want = session(sys.argv[2]).run(None, inputs)
for key, setting, path in (("ort_layer_assignment", "session.layer_assignment_settings", folder / "model.onnx"),
                           ("ort_name_assignment", "session.name_based_layer_assignment", sys.argv[2])):
    words = {"gpu:0": name, "cpu": CPU}
    text = "; ".join(words[rule.split("(")[0]] + rule[rule.index("("):] for rule in manifest[key].split("; "))
    s = session(path, (setting, text))
    found = {n.name: g.ep_name for g in s.get_provider_graph_assignment_info() for n in g.get_nodes()}
    wrong = [f"{n} at {found.get(n)}, not {p}" for n, p in where.items() if found.get(n) != p]
    if wrong or set(where.values()) != {CPU, name}:
        sys.exit(f"{key}: {len(wrong)} of {len(where)}: {'; '.join(wrong[:5])}")
    for output, a, b in zip(s.get_outputs(), want, s.run(None, inputs)):
        far = np.abs(a - b).max() / np.abs(a).max()
        if far > 1e-5:
            sys.exit(f"{key}: {output.name} differs by {far}")
print(len(where), "nodes at two providers")
