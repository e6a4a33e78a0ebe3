"""Decodes 40 tokens greedily after a prompt of 7, by onnxruntime-genai over the parts of a split folder and by a loop
over its whole model in plain ONNX Runtime, in the Python of build/engines; ends with 1 if one token differs.

    genai_split.py FOLDER"""
import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime as ort
import onnxruntime_genai as og

PROMPT, MORE = 7, 40
folder = Path(sys.argv[1])
config = json.loads((folder / "genai_config.json").read_text())
manifest = json.loads((folder / "manifest.json").read_text())
decoder, devices = config["model"]["decoder"], {p["file"]: p["device"] for p in manifest["parts"]}
for stage in decoder["pipeline"][0].values():  # this machine's only device is the CPU
    number = devices[stage["filename"]].removeprefix("acc")
    if stage["session_options"].pop("provider_options") != [{"cuda": {"device_id": number}}]:
        sys.exit(f"{stage['filename']}: its provider is not the plan's device")
(folder / "genai_config.json").write_text(json.dumps(config))

params = og.GeneratorParams(og.Model(str(folder)))
params.set_search_options(max_length=PROMPT + MORE, do_sample=False)
generator = og.Generator(og.Model(str(folder)), params)
prompt = np.random.default_rng(5).integers(0, config["model"]["vocab_size"] - 1, PROMPT).astype(np.int32)
generator.append_tokens(prompt)
while not generator.is_done():
    generator.generate_next_token()
got = [int(t) for t in generator.get_sequence(0)]

whole = ort.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
names = [o.name for o in whole.get_outputs()]
caches = {s["in"]: s["out"] for s in manifest["states"]}
feed = {n: np.zeros([1, decoder["num_key_value_heads"], 0, decoder["head_size"]], np.float32) for n in caches}
feed["input_ids"], want = prompt.astype(np.int64)[None], [int(t) for t in prompt]
for _ in range(len(got) - PROMPT):
    made = dict(zip(names, whole.run(names, feed)))
    want.append(int(made["logits"][0, -1].argmax()))
    feed = {"input_ids": np.array([[want[-1]]]), **{into: made[out] for into, out in caches.items()}}
last = config["model"]["eos_token_id"]
if got != want or (len(got) < PROMPT + MORE and got[-1] != last):
    sys.exit(f"genai decodes {got[PROMPT:]}, the whole model {want[PROMPT:]}")
print(len(set(want[PROMPT:])), "different tokens of", len(got) - PROMPT)
