"""Planning and splitting (pcc.plan, pcc.split)."""
from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from ._library import BadInput, BadUse, Diagnostic, Handle, PccError, Progress, path_bytes, text_of, words
from ._split import Picture, Split

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._settings import Settings

Model = Union[str, "os.PathLike[str]", bytes, Any]  # a path, the bytes of a file, or an onnx.ModelProto
Listener = Callable[[Progress], Any]
Devices = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]  # "2xa100", or a list of such


@dataclass(frozen=True)
class Device:
    """A device of a plan. load, compute, transfer: seconds for a sample; memory: bytes that it has, None: without
    limit; used: bytes that the plan needs."""

    name: str
    device_class: str
    load: float
    compute: float
    transfer: float
    memory: Optional[int]
    used: int


@dataclass(frozen=True)
class Node:
    """A node of the model. device, part: where it runs; None: it is copied to each part that needs it."""

    name: str
    op: str
    device: Optional[str]
    part: Optional[int]


@dataclass(frozen=True)
class DeviceClass:
    """A kind of devices. count: how many there are; host: they are CPUs; memory: bytes of each, None: without limit;
    bandwidth: of the memory, in bytes per second; operations: per second of each device, by element type: "f32", "f16",
    "i8"."""

    name: str
    count: int
    host: bool
    memory: Optional[int]
    bandwidth: int
    operations: Dict[str, int]


class _Kept:
    """What pickle keeps of a plan's handle, and puts into its place: messages and texts. All calls raise BadUse."""

    def __init__(self, plan: "Plan"):
        self.diagnostics = list(plan.diagnostics)
        self.texts: Dict[str, str] = {}
        with contextlib.suppress(BadUse):  # the plan is closed
            self.texts = {what: plan.text(what) for what in ("table", "json")}
        self.lock = contextlib.nullcontext()

    def text(self, what: str) -> str:
        return self.texts[what] if what in self.texts else self.call(what)

    def call(self, name: str, *_: Any) -> Any:
        raise BadUse(f"{name.replace('pcc_', '')}: the plan comes from a pickle, which holds no model: plan again")

    def setting(self, name: str, _: str) -> Any:
        return self.call(name)

    def close(self) -> None:
        """Does nothing."""


class Plan:
    """A plan, as pcc judges it. Times are seconds.

    objective: "time-per-sample", "makespan", "latency" or "iteration-time"; value: the time that it takes, as the
    objective measures it; bound: no plan in `scope` has a smaller value, None: no bound is known; bound_all: no plan of
    any shape has a smaller value; status: "optimal", "feasible", ... among the plans in `scope`; argument: the reason
    in a line; proof: why the bound holds, or None; diagnostics: all messages. str(plan) is the table that the program
    prints.

    A plan does not change: copies are the plan itself. close(), or leaving `with`, frees the model and what the library
    holds of the plan. A plan that comes out of pickle has its figures, nodes, table and JSON; for all other calls it is
    closed."""

    def __init__(self, handle: Handle):
        """Reads the verdict of the library on the plan of a handle. Raises BadUse if it has no plan."""
        self._handle: Union[Handle, _Kept] = handle
        self._nodes: Optional[List[Node]] = None
        with handle.lock:
            pointer = handle.call("pcc_verdict")
            if not pointer:
                raise BadUse("there is no plan: the pipeline has no planner", tuple(handle.diagnostics))
            v = pointer.contents
            self.planner = text_of(v.planner)
            self.status = text_of(v.status)
            self.scope = text_of(v.scope)
            self.argument = words(text_of(v.argument))
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
        """All messages of pcc about this plan."""
        return tuple(self._handle.diagnostics)

    @property
    def gap(self) -> Optional[float]:
        """value over bound, less 1; None without a bound."""
        return None if not self.bound else self.value / self.bound - 1

    @property
    def nodes(self) -> List[Node]:
        """The nodes of the model's graph, in an order in which they can run."""
        with self._handle.lock:
            if self._nodes is None:
                v = self._handle.call("pcc_verdict").contents
                names = [d.name for d in self.devices]
                self._nodes = [Node(text_of(n.name), text_of(n.op), names[n.device] if n.device >= 0 else None,
                                    n.part if n.part >= 0 else None) for n in v.node[:v.nnodes]]
            return list(self._nodes)

    def to_dict(self) -> Dict[str, Any]:
        """The plan as its JSON file has it: pcc reads that again (plan{from=FILE})."""
        found: Dict[str, Any] = json.loads(self._handle.text("json"))
        return found

    def to_columns(self, what: str = "nodes") -> Dict[str, List[Any]]:
        """The table of "nodes" or "devices" as {column: values}, which pandas.DataFrame and others take as it is."""
        if what not in ("nodes", "devices"):
            raise BadUse(f"there is no table '{what}': expected nodes or devices")
        rows: List[Any] = self.nodes if what == "nodes" else self.devices
        kind = Node if what == "nodes" else Device
        return {name: [getattr(r, name) for r in rows] for name in kind.__dataclass_fields__}

    def to_pandas(self, what: str = "nodes") -> Any:
        """The table of to_columns() as a pandas.DataFrame; needs pandas."""
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
        with tempfile.TemporaryDirectory() as folder, self._handle.setting("view", view):
            path = Path(folder) / "plan.svg"
            self.write(path)
            return Picture(path.read_text(encoding="utf-8"))

    def write(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the plan to a file, complete or not at all, in the form that its ending says: .json, .svg, .gantt.svg,
        .trace.json, .csv, .onnx, ...; a path that ends in / is the folder of a split."""
        self._handle.call("pcc_write", path_bytes(path))

    def split(self, out: Union[str, "os.PathLike[str]"]) -> Split:
        """Writes the folder of a split and returns it; its `plan` is this plan."""
        folder = Path(os.fspath(out))
        self.write(os.path.join(os.fspath(folder), ""))
        made = Split(folder)
        made.plan = self
        return made

    def close(self) -> None:
        """Frees the model and the plan; the figures that this object has read stay."""
        self._handle.close()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __copy__(self) -> "Self":
        return self

    def __deepcopy__(self, _: Any) -> "Self":
        return self

    def __getstate__(self) -> Dict[str, Any]:
        """What pickle keeps: all that the object has read, with a _Kept in place of the handle."""
        with contextlib.suppress(BadUse):  # a closed plan has only the nodes that were read before
            self.nodes  # pylint: disable=pointless-statement
        return {**self.__dict__, "_handle": _Kept(self)}

    def _repr_svg_(self) -> Optional[str]:
        """The picture that a notebook shows, as show() gives it; None: there is none, and the notebook shows the
        text."""
        try:
            return self.show().svg
        except PccError:
            return None

    def __str__(self) -> str:
        return self.text("table")

    def __repr__(self) -> str:
        return f"<pcc.Plan {self.planner}: {self.part_count} parts, {self.objective} {self.value:.6g} s, {self.status}>"


def _seconds(ps: int) -> Optional[float]:
    """Seconds of a time in ps; None for a negative one, which is not known."""
    return ps / 1e12 if ps >= 0 else None


def _open(handle: Handle, model: Model, name: Optional[str]) -> None:
    """Opens a model in the handle. name: path that stands for a model which comes as bytes or ModelProto. Raises
    BadInput, BadUse."""
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


def devices(described: Optional[Devices] = None) -> List[DeviceClass]:
    """The classes of devices that pcc knows by name (described None); or the classes in a description as for plan(),
    such as "detect" for the devices of this machine."""
    handle = Handle()
    try:
        handle.set("devices", described)
        return [DeviceClass(c["name"], c["count"], c["host"], c["memory_bytes"], c["bandwidth"], c["operations"])
                for c in json.loads(handle.text("devices"))]
    except BadUse as e:  # pcc_text() does not tell whose fault it is; a file or this machine is no wrong setting
        if str(described).endswith(".json") or described == "detect":
            raise BadInput(str(e), e.diagnostics) from None
        raise
    finally:
        handle.close()


def plan(model: Model, devices: Optional[Devices] = None, *, pipeline: Union[str, Sequence[str], None] = None,
         progress: Optional[Listener] = None, name: Optional[str] = None, **settings: Unpack[Settings]) -> Plan:
    """Plans a model.

    devices: "2xa100:40GiB,1xcpu", ["2xa100:40GiB", "1xcpu"], "detect", or the name of a JSON file; default: two a100.
    pipeline: passes, such as "fuse,dp-place" or a list of them; default: auto-place.
    progress: is called with a Progress many times a second; what it returns, if true, ends planning with the best plan
    so far. Ctrl-C raises KeyboardInterrupt.
    name: of a model that comes as bytes or ModelProto; external data is looked for beside it.
    settings: the long options of the program with _ for -: link="25GB/s,10us", dim={"batch": 8}, costs="times.csv",
    time_limit="30s", keep_blocks=True, pin={"lm_head": "acc1"}, warnings="no-guessed-dim", ... Values of settings that
    repeat are a list or a dict.

    Raises PccError: BadInput, BadUse, NoPlan, ...; warnings of pcc are Python's (PccWarning)."""
    handle = Handle(progress)
    try:
        handle.set("devices", devices)
        for key, value in settings.items():
            handle.set(key, value)
        _open(handle, model, name)
        passes = pipeline if pipeline is None or isinstance(pipeline, str) else ",".join(pipeline)
        handle.call("pcc_plan", None if passes is None else passes.encode())
        return Plan(handle)
    except BaseException:
        handle.close()
        raise


def split(model: Model, out: Union[str, "os.PathLike[str]"], devices: Optional[Devices] = None, *,
          pipeline: Union[str, Sequence[str], None] = None, progress: Optional[Listener] = None,
          name: Optional[str] = None, **settings: Unpack[Settings]) -> Split:
    """Plans a model as plan() does and writes the folder of the split. The result has the plan as its `plan`, and
    closes the plan when it is closed."""
    if not os.fspath(out):
        raise BadUse("out is empty: expected a folder")
    made = plan(model, devices, pipeline=pipeline, progress=progress, name=name, **settings)
    try:
        found = made.split(out)
    except BaseException:
        made.close()
        raise
    found.owns_plan = True
    return found
