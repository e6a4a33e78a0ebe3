#!/usr/bin/env python3
"""Runs the parts of a split folder in OpenVINO, one after another; the devices of the plan are OpenVINO's by --map.

    python3 run_openvino.py --map acc0=GPU.0,acc1=GPU.1

Inputs are the arrays of an .npz file, or zeros in the sizes that were planned for; --out writes the outputs to an .npz
file. The parts compute in f32 where the model does; with --fast OpenVINO may take bfloat16 or float16, where a device
is faster with these. Needs openvino and numpy."""
from __future__ import annotations

import argparse
import json
import sys
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional

import numpy as np
import openvino


class Failed(Exception):
    """An error whose message is one line."""


def read_manifest(folder: Path) -> Dict[str, Any]:
    """Reads manifest.json of the folder, and checks that its files are names in the folder. Raises Failed."""
    path = folder / "manifest.json"
    try:
        manifest: Dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise Failed(f"{path}: {e}") from e
    if not isinstance(manifest, dict) or manifest.get("pcc_manifest") != 1:
        raise Failed(f"{path}: expected a manifest with \"pcc_manifest\": 1")
    try:
        for row in [manifest["model"], *manifest["parts"]]:
            if (folder / row["file"]).resolve().parent != folder.resolve():
                raise Failed(f"{path}: file '{row['file']}' is not in the folder")
    except (KeyError, TypeError, ValueError) as e:
        raise Failed(f"{path}: expected the members of a manifest: {e!r}") from e
    return manifest


def parse_map(texts: List[str], names: List[str]) -> Dict[str, str]:
    """Returns {"acc0": "GPU.0", "acc1": "GPU.1"} for ["acc0=GPU.0,acc1=GPU.1"]. names: of the plan's devices; a device
    that no text names is the CPU. Raises Failed."""
    found = dict.fromkeys(names, "CPU")
    for word in (w for text in texts for w in text.split(",")):
        name, equals, device = word.partition("=")
        if name not in found or not equals or not device:
            raise Failed(f"--map '{word}': expected DEVICE=NAME with a device of the plan ({', '.join(names)}), "
                         "such as acc0=GPU.0")
        found[name] = device
    return found


def cut_states(manifest: Mapping[str, Any], tensors: Dict[str, Any]) -> None:
    """Replaces in the table `tensors` each input of which devices keep pieces (manifest["sharding"]) by its pieces:
    position p of its axis is in piece p div run mod number of pieces. Raises Failed."""
    for state in manifest.get("sharding", {}).get("states", []):
        whole, pieces = tensors.pop(state["in"], None), [p["in"] for p in state["pieces"]]
        if whole is None:
            raise Failed(f"input '{state['in']}' is not given")
        at = np.arange(whole.shape[state["axis"]]) // state["run"] % len(pieces)
        tensors.update((name, np.compress(at == k, whole, state["axis"])) for k, name in enumerate(pieces))


def join_states(manifest: Mapping[str, Any], tensors: Dict[str, Any]) -> None:
    """Adds to the table `tensors` each output of which devices make pieces, joined from these."""
    for state in manifest.get("sharding", {}).get("states", []):
        pieces, axis = [tensors[p["out"]] for p in state["pieces"]], state["axis"]
        joined = np.concatenate(pieces, axis)  # piece by piece; np.take() brings the positions into their order
        each = joined.shape[axis] // len(pieces)  # positions of a piece
        at = np.arange(joined.shape[axis])  # position `at` is in piece `piece`, in its block number `block`
        block, piece, inside = at // state["run"] // len(pieces), at // state["run"] % len(pieces), at % state["run"]
        tensors[state["out"]] = np.take(joined, piece * each + block * state["run"] + inside, axis)


class Parts:
    """The parts of a folder, compiled. where: {"acc0": "GPU.0"}; devices of the plan that it lacks are the CPU. fast:
    OpenVINO may compute in other types than f32. Raises Failed."""

    def __init__(self, folder: Path, where: Mapping[str, str], fast: bool = False):
        self.manifest = read_manifest(folder)
        for output in self.manifest["outputs"]:
            if output["from"] == "weights":
                raise Failed(f"output '{output['name']}' is a weight of the model, which no part gives")
        core = openvino.Core()
        options = {} if fast else {"INFERENCE_PRECISION_HINT": "f32"}
        self.parts, self.where = [], []  # where: OpenVINO's device of each part
        for part in self.manifest["parts"]:
            device = where.get(part["device"], "CPU")
            self.where.append(device)
            try:
                self.parts.append((part, core.compile_model(str(folder / part["file"]), device, options)))
            except RuntimeError as e:
                raise Failed(f"{part['file']} ({part['device']}) on {device}: {e}") from e

    def zeros(self) -> Dict[str, Any]:
        """Inputs of zeros, of the sizes that the plan was made for. Raises Failed if a size or type is not known."""
        values = self.manifest["values"]
        for i in self.manifest["inputs"]:
            if None in (i["sizes"] or [None] * bool(i["shape"])) or not values[i["name"]]["numpy_type"]:
                raise Failed(f"input '{i['name']}' of {values[i['name']]['onnx_type']} {i['shape']}: give it")
        return {i["name"]: np.zeros(i["sizes"], values[i["name"]]["numpy_type"]) for i in self.manifest["inputs"]}

    def run(self, inputs: Mapping[str, Any]) -> Dict[str, Any]:
        """Runs the parts on a sample, its inputs by name, and returns the model's outputs by name. Raises Failed."""
        tensors = dict(inputs)
        cut_states(self.manifest, tensors)
        for part, compiled in self.parts:
            lacking = [n for n in part["inputs"] if n not in tensors]
            if lacking:
                raise Failed(f"input '{lacking[0]}' is not given")
            made = compiled({n: tensors[n] for n in part["inputs"]}, share_outputs=False)
            tensors.update({n: made[n] for n in part["outputs"]})
        join_states(self.manifest, tensors)
        return {o["name"]: tensors[o["name"]] for o in self.manifest["outputs"]}


def read_inputs(path: str) -> Dict[str, Any]:
    """Reads the arrays of an .npz file, by name. Raises Failed."""
    try:
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (AttributeError, EOFError, TypeError, ValueError, zipfile.BadZipFile) as e:
        raise Failed(f"{path}: no .npz file of arrays: {e}") from e


def write_outputs(path: str, outputs: Mapping[str, Any]) -> None:
    """Writes the outputs to an .npz file."""
    with zipfile.ZipFile(path, "w") as arrays:  # numpy.savez takes no array of the name "file"
        for name, value in outputs.items():
            with arrays.open(f"{name}.npy", "w", force_zip64=True) as f:
                np.lib.format.write_array(f, np.asarray(value), allow_pickle=False)


def main(argv: Optional[List[str]] = None) -> int:
    p = argparse.ArgumentParser(description="Runs the parts of a split folder in OpenVINO.")
    p.add_argument("inputs", nargs="?", help="arrays by name, .npz (default: zeros)")
    p.add_argument("--map", action="append", default=[], metavar="DEVICE=NAME,...",
                   help="OpenVINO's device for one of the plan: acc0=GPU.0 (default: CPU)")
    p.add_argument("--out", metavar="FILE", help="write the outputs there, .npz")
    p.add_argument("--fast", action="store_true", help="in the precision that a device likes best")
    args = p.parse_args(argv)
    folder = Path(__file__).resolve().parent
    try:
        names = [d["name"] for d in read_manifest(folder)["devices"]]
        parts = Parts(folder, parse_map(args.map, names), args.fast)
        outputs = parts.run(read_inputs(args.inputs) if args.inputs else parts.zeros())
        for name, array in outputs.items():
            print(f"{name} {array.dtype} {list(array.shape)}")
        if args.out:
            write_outputs(args.out, outputs)
    except (Failed, OSError, RuntimeError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
