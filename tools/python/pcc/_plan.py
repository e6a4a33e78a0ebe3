"""Planning and splitting (pcc.plan, pcc.split)."""
from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from ._library import BadInput, BadUse, Diagnostic, Handle, PccError, Progress, path_bytes, text_of
from ._split import Picture, Split

Model = Union[str, "os.PathLike[str]", bytes, Any]  # a path, the bytes of a file, or an onnx.ModelProto
Listener = Callable[[Progress], Any]


@dataclass(frozen=True)
class Device:
    """A device of a plan. Times in seconds, for a sample; memory in bytes, None: without limit."""

    name: str
    device_class: str
    load: float
    compute: float
    transfer: float
    memory: Optional[int]
    used: int


@dataclass(frozen=True)
class Node:
    """A node of the model. device and part are None where it runs wherever it is needed."""

    name: str
    op: str
    device: Optional[str]
    part: Optional[int]


class Plan:
    """A plan, as pcc judges it. Times are seconds.

    value: what the objective comes to; objective: "time-per-sample", "makespan", "latency" or "iteration-time"; bound:
    no plan in `scope` has a smaller value, None: nothing is known; bound_all: no plan at all has one; status:
    "optimal", "feasible", ... in that scope; argument: why, in a
    line; proof: why the bound holds, or None. diagnostics: all that was said. str(plan) is the table that the
    program prints."""

    def __init__(self, handle: Handle):
        self._handle = handle
        with handle.lock:
            pointer = handle.call("pcc_verdict")
            if not pointer:
                raise BadUse("there is no plan: the pipeline has no planner", tuple(handle.diagnostics))
            v = pointer.contents
            self.planner = text_of(v.planner)
            self.status = text_of(v.status)
            self.scope = text_of(v.scope)
            self.argument = text_of(v.argument)
            self.proof: Optional[str] = text_of(v.proof) if v.proof else None
            self.objective = text_of(v.objective)
            self.value = v.value / 1e12
            self.bound = _seconds(v.bound)
            self.bound_all = _seconds(v.bound_all)
            self.part_count: int = v.nparts
            self.devices: List[Device] = [
                Device(text_of(d.name), text_of(d.device_class), d.load / 1e12, d.compute / 1e12, d.transfer / 1e12,
                       d.memory if d.memory >= 0 else None, d.used) for d in v.device[:v.ndevices]]

    @property
    def diagnostics(self) -> Tuple[Diagnostic, ...]:
        return tuple(self._handle.diagnostics)

    @property
    def gap(self) -> Optional[float]:
        """value over bound, less 1; None without a bound."""
        return None if not self.bound else self.value / self.bound - 1

    @property
    def nodes(self) -> List[Node]:
        """The nodes of the model's graph, in an order in which they can run."""
        with self._handle.lock:
            v = self._handle.call("pcc_verdict").contents
            names = [d.name for d in self.devices]
            return [Node(text_of(n.name), text_of(n.op), names[n.device] if n.device >= 0 else None,
                         n.part if n.part >= 0 else None) for n in v.node[:v.nnodes]]

    def to_dict(self) -> Dict[str, Any]:
        """The plan as its JSON file has it: pcc reads that again (plan{from=FILE})."""
        found: Dict[str, Any] = json.loads(self._handle.text("json"))
        return found

    def to_columns(self, what: str = "nodes") -> Dict[str, List[Any]]:
        """A table as {column: values}, of "nodes" or "devices"; pandas.DataFrame and others take it as it is."""
        if what not in ("nodes", "devices"):
            raise BadUse(f"there is no table '{what}': expected nodes or devices")
        rows: List[Any] = self.nodes if what == "nodes" else self.devices
        kind = Node if what == "nodes" else Device
        return {name: [getattr(r, name) for r in rows] for name in kind.__dataclass_fields__}

    def to_pandas(self, what: str = "nodes") -> Any:
        """The same as a pandas.DataFrame; needs pandas."""
        import pandas  # pylint: disable=import-outside-toplevel

        return pandas.DataFrame(self.to_columns(what))

    def text(self, what: str = "table") -> str:
        """"table", or what --emit of the program gives: "json", "csv", "ir", "dot", "gantt", "trace"."""
        return self._handle.text(what)

    def show(self, view: str = "gantt") -> Picture:
        """A picture, which a notebook shows: "gantt", a few samples on their way; "devices"; or, where Graphviz's
        dot is installed, "blocks" or "nodes"."""
        if view == "gantt":
            return Picture(self.text("gantt"))
        with tempfile.TemporaryDirectory() as folder, self._handle.lock:
            path = Path(folder) / "plan.svg"
            self._handle.set("view", view)
            self.write(path)
            return Picture(path.read_text(encoding="utf-8"))

    def write(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes what the path says, whole or not at all: .json, .svg, .gantt.svg, .trace.json, .csv, .onnx, ..."""
        self._handle.call("pcc_write", path_bytes(path))

    def split(self, out: Union[str, "os.PathLike[str]"]) -> Split:
        """Writes the folder of a split."""
        folder = Path(os.fspath(out))
        self.write(os.path.join(os.fspath(folder), ""))
        made = Split(folder)
        made.plan = self
        return made

    def close(self) -> None:
        """Frees the model and the plan; what this object has read of them stays."""
        self._handle.close()

    def __str__(self) -> str:
        return self.text("table")

    def __repr__(self) -> str:
        return f"<pcc.Plan {self.planner}: {self.part_count} parts, {self.objective} {self.value:.6g} s, {self.status}>"


def _seconds(ps: int) -> Optional[float]:
    return ps / 1e12 if ps >= 0 else None


def _open(handle: Handle, model: Model, name: Optional[str]) -> None:
    if isinstance(model, (str, os.PathLike)):
        handle.call("pcc_open", path_bytes(model))
        return
    if hasattr(model, "SerializeToString"):
        try:
            model = model.SerializeToString()
        except Exception as e:  # protobuf has no common class for its errors
            raise BadInput(f"the model cannot be made into bytes (2 GiB at most): {e}: save it with external data and "
                           "give its path") from e
    if not isinstance(model, (bytes, bytearray, memoryview)):
        raise BadUse(f"a model is a path, bytes or an onnx.ModelProto, not {type(model).__name__}")
    data = bytes(model)
    handle.call("pcc_open_memory", path_bytes(name or "model.onnx"), data, len(data))


def plan(model: Model, devices: Optional[str] = None, *, pipeline: Optional[str] = None,
         progress: Optional[Listener] = None, name: Optional[str] = None, **settings: Any) -> Plan:
    """Plans a model.

    devices: "2xa100:40GiB,1xcpu", or the name of a JSON file; default: two a100.
    pipeline: passes, such as "fuse,dp-place"; default: auto-place.
    progress: is called with a Progress many times a second; what it returns, if true, ends planning with the best plan
    so far. Ctrl-C raises KeyboardInterrupt.
    name: of a model that comes as bytes or ModelProto; external data is looked for beside it.
    settings: the long options of the program with _ for -: link="25GB/s,10us", dim={"batch": 8}, costs="times.csv",
    time_limit="30s", keep_blocks=True, pin={"lm_head": "acc1"}, warnings="no-guessed-dim", ...

    Raises PccError: BadInput, BadUse, NoPlan, ...; warnings of pcc are Python's (PccWarning)."""
    handle = Handle(progress)
    try:
        handle.set("devices", devices)
        for key, value in settings.items():
            handle.set(key, value)
        _open(handle, model, name)
        handle.call("pcc_plan", None if pipeline is None else pipeline.encode())
        return Plan(handle)
    except BaseException:
        handle.close()
        raise


def split(model: Model, out: Union[str, "os.PathLike[str]"], devices: Optional[str] = None, *,
          pipeline: Optional[str] = None, progress: Optional[Listener] = None, name: Optional[str] = None,
          **settings: Any) -> Split:
    """Plans a model as plan() does and writes the folder of the split; its `plan` is the plan."""
    if not os.fspath(out):
        raise BadUse("out is empty: expected a folder")
    made = plan(model, devices, pipeline=pipeline, progress=progress, name=name, **settings)
    try:
        return made.split(out)
    except PccError:
        made.close()
        raise
