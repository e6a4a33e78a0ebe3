"""A folder that pcc has split a model into (pcc.Split)."""
from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, Optional, Union

from ._library import BadInput, BadUse, Handle, RunError, path_bytes

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._plan import Plan
    from .ray_split import RayRunner
    from .run_split import Outputs, Provider, Runner, Sample


class Picture:
    """An SVG; a notebook shows it."""

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the SVG to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")


def _runner_module() -> Any:
    """pcc.run_split, which alone needs onnxruntime and numpy."""
    try:
        from . import run_split  # pylint: disable=import-outside-toplevel
    except ImportError as e:
        raise RunError(f"{e.name} is not installed for this Python: pip install onnxruntime numpy") from e
    return run_split


@contextlib.contextmanager
def _run_errors() -> Iterator[None]:
    """Context in which errors of run_split become RunError."""
    SplitError = _runner_module().SplitError
    try:
        yield
    except SplitError as e:
        raise RunError(str(e)) from e


class Split:
    """A split folder, and its parts in ONNX Runtime. Running needs onnxruntime and numpy.

    providers: what the devices are here, by device or class: {"acc0": ("cuda", 0)}, {"a100": "cuda"} or {"npu":
    ("openvino", {"device_type": "NPU"})}; names are ONNX Runtime's, with or without "ExecutionProvider". Devices that
    are not named are the CPU. threads: of each session, 0: as ONNX Runtime likes it.

    close(), or leaving `with`, ends the sessions. Copies, also by pickle, have sessions of their own."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"], providers: Optional[Mapping[str, "Provider"]] = None, *,
                 threads: int = 0):
        self.folder = Path(folder)
        if providers is not None and not isinstance(providers, Mapping):
            raise BadUse('providers: expected {device: provider}, such as {"acc0": ("cuda", 0)} or {"a100": "cuda"}, '
                         f"found {providers!r}")
        self.providers = dict(providers or {})
        self.threads = threads
        self.session_options: Any = None  # onnxruntime.SessionOptions for the parts; None: those of run_split
        self.plan: Optional["Plan"] = None
        self.owns_plan = False  # the plan is closed with the split
        self.closed = False
        self.manifest: Dict[str, Any] = _manifest(self.folder)
        self._runner: Optional["Runner"] = None

    @property
    def runner(self) -> "Runner":
        """The sessions; they are opened when they are first needed."""
        if self.closed:
            raise BadUse("the split is closed")
        if self._runner is None:
            with _run_errors():
                self._runner = _runner_module().Runner(self.folder, self.providers, threads=self.threads,
                                                      options=self.session_options)
        return self._runner

    @property
    def parts(self) -> List[Path]:
        """The files of the parts, in an order in which they can run."""
        return [self.folder / p["file"] for p in self.manifest["parts"]]

    @property
    def input_names(self) -> List[str]:
        """The inputs of the model."""
        return [v["name"] for v in self.manifest["inputs"]]

    @property
    def output_names(self) -> List[str]:
        """The outputs of the model."""
        return [v["name"] for v in self.manifest["outputs"]]

    def run(self, inputs: Optional["Sample"] = None, /, **named: Any) -> "Outputs":
        """Runs one sample: arrays by the names of the model's inputs, in a dict, as arguments, or both. Returns the
        outputs by name. Raises RunError."""
        runner = self.runner
        both = {**(inputs or {}), **named} if inputs is None or isinstance(inputs, Mapping) else inputs
        with _run_errors():
            return runner.run(both)

    def run_with(self, inputs: "Sample", run_options: Any = None) -> "Outputs":
        """Runs one sample, with onnxruntime.RunOptions for each part. Returns the outputs by name."""
        runner = self.runner
        with _run_errors():
            return runner.run(inputs, run_options)

    def stream(self, samples: Iterable["Sample"], *, in_flight: int = 0, state: bool = False) -> Iterator["Outputs"]:
        """The outputs of many samples, in their order, with a thread for each device.

        in_flight: how many are on their way at once, at most: 1: no threads; 0: two for each device. state: inputs that
        hold state (manifest["states"]) come from the sample before, unless a sample brings them. The first error ends
        it: RunError, or what `samples` raises."""
        runner = self.runner
        with _run_errors():
            outputs = runner.stream(samples, in_flight=in_flight, state=state)
        return _told(outputs)

    def on_ray(self, address: Optional[str] = None, *, places: Iterable[str] = (), exact: bool = False,
               ship: bool = False, by: str = "measured") -> "RayRunner":
        """The parts as Ray's actors, one for each device, with run() and stream() as here; close() ends them. address:
        of a cluster, "auto" or "HOST:PORT"; None: a Ray of its own on this machine. places: where actors are placed,
        "acc0=node:10.0.0.2" or "acc1=zone=a". exact: no optimisations. ship: the folder's files go to other machines.
        by: "calls" of actors, a compiled "graph", or the faster of both, "measured". Needs ray. Raises RunError."""
        with _run_errors():
            from . import ray_split  # pylint: disable=import-outside-toplevel
            return ray_split.RayRunner(self.folder, address, self.providers, places=places, threads=self.threads,
                                       exact=exact, ship=ship, by=by)

    def random_sample(self, seed: int = 0) -> Dict[str, Any]:
        """Random inputs of the sizes that the plan was made for."""
        runner = self.runner
        with _run_errors():
            return runner.random_sample(seed)

    def verify(self, model: Any, inputs: Optional["Sample"] = None, *, seed: int = 0,
               tolerance: Optional[float] = None) -> int:
        """Runs the whole model (a path, bytes or an onnx.ModelProto) beside the parts, on the CPU without
        optimisations; returns how many outputs are equal, bit by bit: all, else RunError. Where tensors of float16
        cross, ONNX Runtime rounds them: a tolerance, relative to the largest value, allows that. None: what the
        manifest allows where devices add up floats, else 0."""
        whole = model.SerializeToString() if hasattr(model, "SerializeToString") else model
        with _run_errors():
            equal: int = _runner_module().verify(self.folder, whole, inputs, seed=seed, tolerance=tolerance)
        return equal

    def recompose(self, path: Union[str, "os.PathLike[str]"], *, allow_links: bool = False) -> Path:
        """Puts the parts together to one model again, in the file `path`, which ends in .onnx and lies outside of the
        folder; weights of 1 KiB and more in path.data. Returns the path. allow_links: the parts' weights are links
        (weights="link"). Needs the library, not ONNX Runtime. Raises BadInput, BadUse."""
        handle = Handle()
        try:
            handle.set("allow-links", allow_links)
            handle.call("pcc_recompose", path_bytes(self.folder), path_bytes(path))
        finally:
            handle.close()
        return Path(path)

    def show(self, view: str = "plan") -> Picture:
        """The picture of the folder: "plan", its devices; "blocks", what is in them."""
        path = self.folder / f"{view}.svg"
        if not path.is_file():
            there = sorted(p.stem for p in self.folder.glob("*.svg"))
            raise BadUse(f"{path}: no such picture: expected {' or '.join(there) or 'none: Graphviz was not there'}")
        return Picture(path.read_text(encoding="utf-8"))

    def _repr_svg_(self) -> Optional[str]:
        """The picture that a notebook shows, of the devices; None: there is none, and the notebook shows the text."""
        try:
            return self.show().svg
        except (BadUse, OSError):
            return None

    def close(self) -> None:
        """Ends the sessions, and frees the plan if pcc.split() made it for this split; the folder stays."""
        self.closed, self._runner = True, None
        if self.plan and self.owns_plan:
            self.plan.close()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_runner": None, "owns_plan": False, "session_options": None}

    def to_dict(self) -> Dict[str, Any]:
        """The manifest."""
        return dict(self.manifest)

    def __repr__(self) -> str:
        return f"<pcc.Split {self.folder}: {len(self.manifest['parts'])} parts>"


def _told(outputs: Iterator["Outputs"]) -> Iterator["Outputs"]:
    """Passes on the outputs; errors of run_split become RunError."""
    with _run_errors():
        yield from outputs


def _manifest(folder: Path) -> Dict[str, Any]:
    """Reads manifest.json of a split folder, and checks the members that this module uses; needs neither numpy nor ONNX
    Runtime. Raises BadInput."""
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise BadInput(f"{path}: {e.strerror}: expected the folder of a split") from e
    except (ValueError, RecursionError) as e:
        raise BadInput(f"{path}: no JSON: {e}") from e
    if not isinstance(manifest, dict) or manifest.get("pcc_manifest") != 1 or "values" not in manifest:
        raise BadInput(f"{path}: no manifest of a split, or one of another version")
    for key, name in (("parts", "file"), ("inputs", "name"), ("outputs", "name")):
        rows = manifest.get(key)
        if not isinstance(rows, list) or not all(isinstance(r, dict) and isinstance(r.get(name), str) for r in rows):
            raise BadInput(f"{path}: {key}: expected a list of objects with \"{name}\"")
    for row in manifest["parts"]:
        if (folder / row["file"]).resolve().parent != folder.resolve():
            raise BadInput(f"{path}: file {row['file']!a}: expected the name of a file in this folder")
    return manifest
