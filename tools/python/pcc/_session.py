"""pcc.Session runs a split folder, or a model that it splits first, with the calls of
onnxruntime.InferenceSession."""
from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _cache
from ._library import VERSION, BadInput, BadUse, PccError, PccWarning, RunError
from ._plan import devices as known_devices
from ._plan import plan
from ._split import Split

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._plan import Devices
    from ._settings import Settings
    from .run_split import Provider

CPU = "CPUExecutionProvider"
Providers = Union[Mapping[str, "Provider"], Sequence[Union[str, Tuple[str, Mapping[str, Any]]]], None]


class NodeArg(NamedTuple):
    """An input or output of the model, as onnxruntime.NodeArg: type is "tensor(float)", shape has a size, a symbol or
    None for each dimension."""
    name: str
    type: str
    shape: List[Union[int, str, None]]


class Session:
    """A model over several devices, called as an onnxruntime.InferenceSession is.

    path_or_bytes: the folder of a split; or a model, which is planned for `devices` (default: "detect", the devices of
    this machine), split into a cache folder (pcc._cache) and found there the next time. sess_options: as for ONNX
    Runtime, for every part. providers: what the devices of the plan are here, as for pcc.Split: {"a100": "cuda"}; or a
    list as ONNX Runtime takes it, whose first entry holds for all accelerators. engine="openvino": the parts run in
    OpenVINO, and providers names its devices: {"acc0": "GPU.0"}. cache: another folder for splits; False: a temporary
    folder. settings: as for pcc.plan().

    Raises PccError. close(), or leaving `with`, ends the sessions of the parts."""

    def __init__(self, path_or_bytes: Any, sess_options: Any = None, providers: Providers = None,
                 provider_options: Optional[Sequence[Mapping[str, Any]]] = None, *,
                 devices: Optional["Devices"] = None, pipeline: Union[str, Sequence[str], None] = None,
                 engine: str = "onnxruntime", cache: Union[str, "os.PathLike[str]", bool, None] = None,
                 **settings: "Unpack[Settings]"):
        self._kept: Optional[_cache.Kept] = None
        self._openvino: Any = None  # the parts in OpenVINO; None: in ONNX Runtime
        if engine not in ("onnxruntime", "openvino"):
            raise BadUse(f"engine '{engine}': expected onnxruntime or openvino")
        is_path = isinstance(path_or_bytes, (str, os.PathLike))
        if is_path and Path(path_or_bytes).is_dir():
            if devices is not None or pipeline is not None or settings:
                raise BadUse(f"{path_or_bytes}: it is split already: devices, pipeline and settings are for a model")
            folder = Path(path_or_bytes)
        else:
            if settings.get("weights") in ("link", "original"):
                raise BadUse(f"weights={settings['weights']!r}: a session keeps its split apart from the model's "
                             "files: expected shared, parts, inline or auto")
            words = {"devices": devices if devices is not None else "detect", "pipeline": pipeline, **settings}
            self._kept = _split(path_or_bytes, words, cache)
            folder = self._kept.folder
        try:
            self._split = Split(folder)
            if engine == "openvino":
                if sess_options is not None or provider_options is not None:
                    raise BadUse("sess_options and provider_options are for ONNX Runtime, not for OpenVINO")
                self._openvino = _open_openvino(self._split, providers)
                return
            self._split.providers = _by_device(self._split.manifest, providers, provider_options)
            self._split.session_options = sess_options
            self._split.runner  # pylint: disable=pointless-statement
        except BaseException:
            self.close()
            raise

    def run(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any], run_options: Any = None) -> Any:
        """Runs one sample and returns a list of the outputs with these names (None or empty: all outputs of the
        model)."""
        known = self._split.output_names
        unknown = [n for n in output_names or [] if n not in known]
        if unknown:
            raise RunError(f"no output '{unknown[0]}' in the model: expected {', '.join(known)}")
        if self._openvino:
            made = _run_openvino(self._openvino, self._split, input_feed)
        else:
            made = self._split.run_with(input_feed, run_options)
        return [made[n] for n in output_names or known]

    def get_inputs(self) -> List[NodeArg]:
        """The inputs of the model."""
        return self._args("inputs")

    def get_outputs(self) -> List[NodeArg]:
        """The outputs of the model."""
        return self._args("outputs")

    def get_providers(self) -> List[str]:
        """The providers of all parts, each once, the CPU last; in OpenVINO the devices of all parts."""
        if self._openvino:
            return list(dict.fromkeys(self._openvino.where))
        found = {p: None for part in self._split.runner.parts for p in part.session.get_providers() if p != CPU}
        return [*found, CPU]

    def _args(self, side: str) -> List[NodeArg]:
        """The model's "inputs" or "outputs"."""
        rows = [(v["name"], self._split.manifest["values"][v["name"]]) for v in self._split.manifest[side]]
        return [NodeArg(name, row["onnx_type"], list(row["shape"] or [])) for name, row in rows]

    @property
    def split(self) -> Split:
        """The split that the session runs."""
        return self._split

    def close(self) -> None:
        """Ends the sessions; a split in the cache stays there."""
        self._openvino = None
        if "_split" in self.__dict__:
            self._split.close()
        if self._kept:
            self._kept.close()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<pcc.Session {self._split.folder}: {len(self._split.parts)} parts>"


def _split(model: Any, words: Dict[str, Any], cache: Any) -> _cache.Kept:
    """Splits a model into the cache, or finds its split there; into a temporary folder if cache is False or, after a
    warning, if the cache cannot be used. words: arguments of plan(). Returns the split's folder, which is kept until it
    is closed."""
    source = Path(model) if isinstance(model, (str, os.PathLike)) else model
    data = source.SerializeToString() if hasattr(source, "SerializeToString") else source
    # errors in writing the split, which a temporary folder may avoid; other errors are the model's
    wrote: List[PccError] = []

    def make(folder: Path) -> None:
        """Plans the model and writes its split into the folder."""
        with plan(model, **words) as made:
            try:
                made.split(folder).close()
            except BadInput as e:
                wrote.append(e)
                raise
    if cache is not False:
        try:
            named = {"version": VERSION, **words}
            if words["devices"] == "detect":
                named["detected"] = known_devices("detect")
            place = None if cache is None or cache is True else Path(cache)
            return _cache.fetch(_cache.key(data, named), make, place)
        except (_cache.NoCache, OSError, BadInput) as e:
            if isinstance(e, BadInput) and e not in wrote:  # the model's, which a temporary folder would not help
                raise
            if isinstance(e, OSError) and isinstance(data, Path) and not data.is_file():
                raise BadInput(f"{data}: {e.strerror}: expected a model or the folder of a split") from e
            warnings.warn(PccWarning(f"no split is kept for the next session: {e}"), stacklevel=3)
    return _cache.temporary(make)


def _open_openvino(split: Split, providers: Providers) -> Any:
    """Compiles the parts in OpenVINO. providers: OpenVINO's devices by device or class; all others are the CPU. Returns
    run_openvino.Parts. Raises BadUse, RunError."""
    if providers is not None and not isinstance(providers, Mapping):
        raise BadUse(f'providers: expected OpenVINO\'s devices, such as {{"acc0": "GPU.0"}}, found {providers!r}')
    try:
        from . import run_openvino  # pylint: disable=import-outside-toplevel
    except ImportError as e:
        raise RunError(f"{e.name} is not installed for this Python: pip install openvino numpy") from e
    devices = split.manifest["devices"]
    known = {d["name"] for d in devices} | {d["class"] for d in devices}
    for name in providers or {}:
        if name not in known:
            raise RunError(f"provider of '{name}': no such device or class: expected one of {', '.join(sorted(known))}")
    said = providers or {}
    try:
        return run_openvino.Parts(split.folder,
                                  {d["name"]: str(said.get(d["name"], said.get(d["class"], "CPU"))) for d in devices})
    except run_openvino.Failed as e:
        raise RunError(str(e)) from e


def _run_openvino(parts: Any, split: Split, feed: Mapping[str, Any]) -> Dict[str, Any]:
    """Runs a sample through the parts in OpenVINO and returns the outputs by name. Raises RunError."""
    known = split.input_names
    wrong = next((f"no input '{n}' in the model" for n in feed if n not in known), None) or \
        next((f"input '{n}' is not given" for n in known if n not in feed), None)
    if wrong:
        raise RunError(f"{wrong}: expected {', '.join(known)}")
    try:
        made: Dict[str, Any] = parts.run(feed)
    except RuntimeError as e:
        raise RunError(str(e)) from e
    return made


def _by_device(manifest: Mapping[str, Any], providers: Providers,
               options: Optional[Sequence[Mapping[str, Any]]]) -> Dict[str, Any]:
    """Turns the providers of a session into those of pcc.Split, by device: a dict stays; of a list as ONNX Runtime
    takes it, the first entry becomes the provider of all accelerators. options: provider_options of the session. Raises
    BadUse."""
    if isinstance(providers, Mapping):
        if options:
            raise BadUse('provider_options: say {"a100": ("cuda", {...})} instead')
        return dict(providers)
    if providers is not None and (isinstance(providers, str) or not isinstance(providers, Sequence)):
        raise BadUse(f'providers: expected {{"a100": "cuda"}} or ["CUDAExecutionProvider"], found {providers!r}')
    if not providers:
        return {}
    if options is not None and len(options) != len(providers):
        raise BadUse(f"provider_options: expected {len(providers)}, one for each provider, found {len(options)}")
    first = providers[0]
    name: Any = None
    more: Any = None
    if isinstance(first, str):
        name, more = first, options[0] if options else {}
    elif isinstance(first, (tuple, list)) and len(first) == 2:
        name, more = first
    if not isinstance(name, str) or not isinstance(more, Mapping):
        found = f"{first!r} with {options[0]!r}" if options else repr(first)
        raise BadUse(f'providers: expected names, or pairs ("CUDAExecutionProvider", {{"device_id": 0}}), '
                     f"found {found}")
    accelerators = [d["name"] for d in manifest["devices"] if d["name"].startswith("acc")]
    if "device_id" in more and len(accelerators) > 1:
        raise BadUse(f"providers: one device_id for {len(accelerators)} accelerators: say {{\"acc0\": (\"cuda\", 1), "
                     "\"acc1\": ...}")
    return {} if name == CPU else {d: (name, dict(more)) if more else name for d in accelerators}
