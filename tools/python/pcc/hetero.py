#!/usr/bin/env python3
"""Runs the whole model of a split folder in one OpenVINO model, whose operations go where the plan has them (HETERO).

    python3 hetero.py --map acc0=GPU.0,acc1=GPU.1

OpenVINO divides a model by the affinity of each operation. No file carries affinities, so they are set here:
hetero.json has the device of each node of the ONNX model. OpenVINO's operations are not those nodes. An operation that
has the name of a node, or makes an output of the model and has its name, takes the device that hetero.json says; all
other operations (parameters, constants, results, and the operations into which OpenVINO divides a node) take the device
of their readers. Needs openvino and numpy."""
from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional

import openvino

from run_openvino import Failed, parse_map, read_manifest


def read_places(folder: Path) -> Dict[str, Dict[str, str]]:
    """hetero.json: devices of the plan by the names of nodes and of the model's outputs."""
    path = folder / "hetero.json"
    try:
        found: Dict[str, Dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
        return {key: found[key] for key in ("nodes", "outputs")}
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise Failed(f"{path}: {e}") from e


def set_affinities(model: Any, places: Mapping[str, Mapping[str, str]], where: Mapping[str, str]) -> Dict[str, int]:
    """Gives every operation of the model the affinity of its device; returns {device: number of operations}. places: as
    read_places() returns them; where: OpenVINO's names for the plan's devices."""
    known: Dict[str, str] = {}  # device by an operation's own name, which is unique
    ordered = model.get_ordered_ops()
    for op in ordered:
        name = op.get_friendly_name()
        device = places["nodes"].get(name, places["outputs"].get(name))
        if device and op.get_type_name() not in ("Constant", "Parameter", "Result"):
            known[op.get_name()] = where[device]
    for op in reversed(ordered):  # from the last operation on, so that the devices of readers are known
        readers = [t.get_node().get_name() for out in op.outputs() for t in out.get_target_inputs()]
        found = next((known[n] for n in readers if n in known), None)
        if op.get_name() not in known and found:
            known[op.get_name()] = found
    first = next(iter(known.values()), next(iter(where.values())))
    counts: Dict[str, int] = {}
    for op in ordered:  # Result operators, and operators that only they read, go to the device of their operands
        above = [i.get_source_output().get_node().get_name() for i in op.inputs()]
        device = known.setdefault(op.get_name(), next((known[n] for n in above if n in known), first))
        op.get_rt_info()["affinity"] = device
        counts[device] = counts.get(device, 0) + 1
    return counts


def compile_whole(folder: Path, where: Mapping[str, str], fast: bool = False) -> Any:
    """Compiles the folder's whole model for the devices, and prints how many operations each has. where: OpenVINO's
    names for the plan's devices; fast: in the precision that a device likes best, else in f32."""
    core = openvino.Core()
    model = core.read_model(str(folder / read_manifest(folder)["model"]["file"]))
    counts = set_affinities(model, read_places(folder), where)
    options = {} if fast else {"INFERENCE_PRECISION_HINT": "f32"}
    print(", ".join(f"{n} operations on {device}" for device, n in counts.items()))
    return core.compile_model(model, "HETERO:" + ",".join(dict.fromkeys(where.values())), options)


def main(argv: Optional[List[str]] = None) -> int:
    p = argparse.ArgumentParser(description="Runs the whole model of a split folder by OpenVINO's HETERO.")
    p.add_argument("--map", action="append", default=[], metavar="DEVICE=NAME,...",
                   help="OpenVINO's device for one of the plan: acc0=GPU.0 (default: CPU)")
    p.add_argument("--fast", action="store_true", help="in the precision that a device likes best")
    args = p.parse_args(argv)
    folder = Path(__file__).resolve().parent
    try:
        names = [d["name"] for d in read_manifest(folder)["devices"]]
        compiled = compile_whole(folder, parse_map(args.map, names), args.fast)
    except (Failed, OSError, RuntimeError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    for output in compiled.outputs:
        print(f"{output.get_any_name()} {output.get_element_type().get_type_name()} {output.get_partial_shape()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
