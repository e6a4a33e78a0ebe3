#!/usr/bin/env python3
"""Writes what an engine on this machine can run of a model, for pcc's --support=FILE:CLASS.

    python3 tools/support.py model.onnx --provider CUDAExecutionProvider -o gpu.jsonl
    python3 tools/support.py model.onnx --openvino GPU.0 -o gpu.json
    pcc model.onnx -d 1xarc-a770,1xcpu --support=gpu.json:arc-a770 -o split/

With --provider the package onnxruntime (1.26 or later) assigns nodes to that provider and the CPU: a line of JSON for
each node.  With --openvino the package openvino says which operations the device has: a JSON object from their names
to the device, or to null where it lacks one.  Weights must lie where the model says; nothing is run.
Exit: 0, or 1 with a reason."""
import argparse
import json
import sys


def assigned(model, provider):
    """The lines of text, one for each node, that say to which provider ONNX Runtime assigns it."""
    import onnxruntime

    if provider not in onnxruntime.get_available_providers():
        sys.exit(f"support.py: this onnxruntime has no {provider}, only "
                 + ", ".join(onnxruntime.get_available_providers()))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    providers = list(dict.fromkeys([provider, "CPUExecutionProvider"]))
    session = onnxruntime.InferenceSession(model, options, providers=providers)
    for graph in session.get_provider_graph_assignment_info():
        for node in graph.get_nodes():
            yield json.dumps({"ep": graph.ep_name, "name": node.name, "op_type": node.op_type})


def queried(model, device):
    """One text of JSON: {operation of the model: OpenVINO's device, or null if the device lacks it}."""
    import openvino

    core = openvino.Core()
    whole = core.read_model(model)
    has = core.query_model(whole, device)
    names = dict.fromkeys(operation.get_friendly_name() for operation in whole.get_ops())
    yield json.dumps({name: has.get(name) for name in names}, indent=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("-o", metavar="FILE", help="the file to write (default: standard output)")
    engine = parser.add_mutually_exclusive_group(required=True)
    engine.add_argument("--provider", help="of ONNX Runtime, such as CUDAExecutionProvider")
    engine.add_argument("--openvino", metavar="DEVICE", help="of OpenVINO, such as GPU.0")
    args = parser.parse_args()
    lines = assigned(args.model, args.provider) if args.provider else queried(args.model, args.openvino)
    try:
        text = "".join(line + "\n" for line in lines)
    except ImportError as e:
        sys.exit(f"support.py: {e}: install the engine's package")
    except Exception as e:  # pylint: disable=broad-except  # engines raise types of their own
        sys.exit("support.py: " + " ".join(str(e).split()))
    if args.o:
        with open(args.o, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
