"""pcc splits neural networks over several devices.

    import pcc

    split = pcc.split("model.onnx", "split", devices="2xa100")
    print(split.plan)
    split.verify("model.onnx")
    for outputs in split.stream(samples):
        ...

Models are paths, bytes or onnx.ModelProto. Planning needs nothing but this package; running parts needs onnxruntime
and numpy, which are imported when they are first needed. Errors are exceptions (PccError) with all that was said
(`diagnostics`); warnings are Python's (PccWarning)."""
from ._library import (VERSION as __version__, BadInput, BadUse, Diagnostic, NoPlan, OutOfMemory, PccError, PccWarning,
                       Progress, RunError, Unverified)
from ._plan import Device, DeviceClass, Node, Plan, devices, plan, split
from ._session import NodeArg, Session
from ._split import Picture, Split

__all__ = ["BadInput", "BadUse", "Device", "DeviceClass", "Diagnostic", "NoPlan", "Node", "NodeArg", "OutOfMemory",
           "PccError", "PccWarning", "Picture", "Plan", "Progress", "RunError", "Session", "Split", "Unverified",
           "__version__", "devices", "plan", "split"]
