#!/usr/bin/env python3
"""Runs the parts of a split folder in ONNX Runtime.

    python3 split/run_split.py [SAMPLE.npz ...] [--samples N] [--output DIR] [--pipeline N] [--state]
                               [--provider DEVICE=PROVIDER[:ID]] [--threads N] [--folder SPLIT]
    python3 split/run_split.py --verify model.onnx [--tolerance T]

pcc puts this file into every split folder; it needs onnxruntime and numpy only, and is the module pcc.run_split
of the Python package, too. It does what manifest.json says: a table of tensors by name, the parts in their order,
each in a session of its own, then the outputs. Tensors that stay on a device do not leave its memory (IOBinding);
those that cross go through the host's.

Samples come from .npz files with an array for each input of the model, or are random (the sizes that the plan was made
for; floats normal, integers 0 or 1). --output DIR keeps the outputs of sample K as DIR/sampleK.npz.

--provider acc0=CUDAExecutionProvider:0 says what a device is here; a100=CUDAExecutionProvider says it of all devices of
a class, each with its number in the class. A device of which nothing is said is the CPU.

--pipeline N has up to N samples on their way at once, a thread for each device; outputs come in order all the same.
--state feeds what is kept between samples ("states" of the manifest, such as cached keys and values) back: a sample
gets those inputs from the one before unless it brings them itself; the first gets zeros.

The first error ends the run: exit 1, with the part, device and sample that it came from.
"""
from __future__ import annotations

import argparse
import collections
import ctypes
import heapq
import itertools
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any, Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

try:
    import numpy as np
    import onnxruntime as ort
except ImportError as missing:
    if __name__ != "__main__":
        raise
    print(f"error: {missing.name} is not installed for this Python ({sys.executable}): pip install onnxruntime numpy",
          file=sys.stderr)
    sys.exit(1)

Sample = Mapping[str, Any]
Outputs = Dict[str, Any]
Provider = Union[str, Tuple[str, int]]

CPU = "CPUExecutionProvider"
SHOWN = 10  # outputs that are named at the end of a run
# Providers that have memory of their own in which tensors may stay; all others take and give the host's.
MEMORY = {"CUDAExecutionProvider": "cuda", "TensorrtExecutionProvider": "cuda"}
# Types that numpy lacks: they come and go as integers of the same width. Their numbers are ONNX's.
RAW = {"tensor(bfloat16)": (np.uint16, 16), "tensor(float8e4m3fn)": (np.uint8, 17),
       "tensor(float8e4m3fnuz)": (np.uint8, 18), "tensor(float8e5m2)": (np.uint8, 19),
       "tensor(float8e5m2fnuz)": (np.uint8, 20)}


class SplitError(Exception):
    """A folder, an input, or a run that is not as it should be; one line."""


class NoRun(SplitError):
    """A model or part that ONNX Runtime does not run on these inputs."""


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def read_manifest(folder: Union[str, Path]) -> Dict[str, Any]:
    """manifest.json of a split folder."""
    path = Path(folder) / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise SplitError(f"{path}: {e.strerror}: expected the folder of a split") from e
    except ValueError as e:
        raise SplitError(f"{path}: no JSON: {e}") from e
    if not isinstance(manifest, dict) or manifest.get("pcc_manifest") != 1 or "values" not in manifest:
        raise SplitError(f"{path}: no manifest of a split, or one of another version: expected \"pcc_manifest\": 1 "
                         "and \"values\"")
    return manifest


# ---------------------------------------------------------------- values


def _is_tensor(row: Mapping[str, Any]) -> bool:
    return str(row["onnx_type"]).startswith("tensor(")


def _can_bind(row: Mapping[str, Any]) -> bool:
    """Not sequences, maps, optional values, nor strings."""
    return _is_tensor(row) and row["numpy_type"] != "object"


def _to_array(name: str, value: Any, row: Mapping[str, Any]) -> Any:
    """What a user gave for an input, as ONNX Runtime takes it."""
    if not _is_tensor(row):
        return value
    raw = RAW.get(row["onnx_type"])
    try:
        array = np.asarray(value)
    except ValueError as e:
        raise SplitError(f"input '{name}': expected an array, found {type(value).__name__}: {_first_line(e)}") from e
    if raw:
        if array.dtype.itemsize != np.dtype(raw[0]).itemsize:
            raise SplitError(f"input '{name}': expected {row['onnx_type']} as {np.dtype(raw[0])}, found {array.dtype}")
        array = array.view(raw[0])
    elif row["numpy_type"] == "object":
        array = array.astype(object)
    elif row["numpy_type"] and array.dtype != np.dtype(row["numpy_type"]):
        raise SplitError(f"input '{name}': expected {row['numpy_type']}, found {array.dtype}")
    shape = row["shape"]
    fits = shape is None or (len(shape) == array.ndim and
                             all(not isinstance(d, int) or d == n for d, n in zip(shape, array.shape)))
    if not fits:
        raise SplitError(f"input '{name}': expected shape {shape}, found {list(array.shape)}")
    return np.ascontiguousarray(array).reshape(array.shape)


def _to_ort(value: Any, row: Mapping[str, Any]) -> Any:
    if isinstance(value, ort.OrtValue):
        return value
    raw = RAW.get(row["onnx_type"])
    if raw:
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(value, raw[1])
    return ort.OrtValue.ortvalue_from_numpy(value)


def _to_python(value: Any, row: Mapping[str, Any]) -> Any:
    if not isinstance(value, ort.OrtValue):
        return value
    raw = RAW.get(row["onnx_type"])
    if not raw:
        return value.numpy()
    buffer = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return np.frombuffer(buffer, raw[0]).reshape(value.shape()).copy()


def _sizes(entry: Mapping[str, Any], dims: Mapping[str, int]) -> Optional[List[int]]:
    """The sizes that the plan was made for, of an input of the manifest; None: something is not known. Folders of
    before "sizes" have them by name only."""
    sizes = entry.get("sizes") or [d if isinstance(d, int) else dims.get(d) for d in entry["shape"] or []]
    return None if entry["shape"] is None or None in sizes else sizes


# ---------------------------------------------------------------- devices


def parse_providers(words: Iterable[str]) -> Dict[str, Provider]:
    """["acc0=CUDAExecutionProvider:0"] as {"acc0": ("CUDAExecutionProvider", 0)}."""
    found: Dict[str, Provider] = {}
    for word in words:
        device, _, provider = word.partition("=")
        name, colon, number = provider.partition(":")
        if not device or not name or (colon and not number.isdigit()):
            raise SplitError(f"provider '{word}': expected DEVICE=PROVIDER or DEVICE=PROVIDER:NUMBER")
        found[device] = (name, int(number)) if colon else name
    return found


def _place(device: Mapping[str, Any], providers: Mapping[str, Provider]) -> Tuple[str, Optional[int]]:
    """Provider and number of a device."""
    said = providers.get(device["name"], providers.get(device["class"], CPU))
    if not isinstance(said, str):
        return said[0], said[1]
    return said, None if said == CPU else device["index"]


def providers_wrong(providers: Any) -> Optional[str]:
    """None, or why this does not say what the devices are here."""
    example = 'such as {"acc0": ("CUDAExecutionProvider", 0)} or {"a100": "CUDAExecutionProvider"}'
    if not isinstance(providers, Mapping):
        return f"providers: expected {{device: provider}}, {example}, found {providers!r}"
    for device, said in providers.items():
        pair = isinstance(said, tuple) and list(map(type, said)) == [str, int]
        if not isinstance(said, str) and not pair:
            return f"provider of '{device}': expected its name, or (name, number), {example}, found {said!r}"
    return None


def _check_providers(manifest: Mapping[str, Any], providers: Mapping[str, Provider]) -> None:
    wrong = providers_wrong(providers)
    if wrong:
        raise SplitError(wrong)
    known = [d["name"] for d in manifest["devices"]]
    known += sorted({d["class"] for d in manifest["devices"]})
    for device, said in providers.items():
        name = said if isinstance(said, str) else said[0]
        if device not in known:
            raise SplitError(f"provider of '{device}': no such device or class: expected one of {', '.join(known)}")
        if name not in ort.get_available_providers():
            raise SplitError(f"provider '{name}' of '{device}': this ONNX Runtime has "
                             f"{', '.join(ort.get_available_providers())}")


def _options(threads: int, exact: bool) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1 if exact else threads
    if exact:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.inter_op_num_threads = 1
        options.use_deterministic_compute = True
    else:  # several sessions share the processors: none may wait by spinning
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


class Part:
    """A part in its session."""

    def __init__(self, runner: "Runner", entry: Mapping[str, Any], provider: str, number: Optional[int]):
        self.file: str = entry["file"]
        self.device: str = entry["device"]
        self.inputs: List[str] = entry["inputs"]
        self.outputs: List[str] = entry["outputs"]
        self.values: Dict[str, Any] = runner.values
        self.memory: Tuple[str, int] = (MEMORY.get(provider, "cpu"), number or 0)
        self.bound = all(_can_bind(self.values[n]) for n in self.inputs + self.outputs)
        wanted: List[Any] = [provider if number is None else (provider, {"device_id": str(number)})]
        try:
            self.session = ort.InferenceSession(str(runner.folder / self.file), _options(runner.threads, runner.exact),
                                                providers=wanted + [CPU] * (provider != CPU))
        except Exception as e:  # ONNX Runtime has no common class for its errors
            raise SplitError(f"{self.file} ({self.device}): cannot be loaded: {_first_line(e)}") from e
        if self.session.get_providers()[0] != provider:
            raise SplitError(f"{self.file} ({self.device}): {provider} cannot be used here, only "
                             f"{', '.join(self.session.get_providers())}")
        self.goes: Dict[str, Tuple[str, int]] = {}  # where each output goes; Runner fills it in

    def run(self, table: Mapping[str, Any]) -> Dict[str, Any]:
        """Runs the part on the tensors of the table and returns its outputs."""
        if not self.bound:
            feed = {n: _to_python(table[n], self.values[n]) for n in self.inputs}
            return dict(zip(self.outputs, self.session.run(self.outputs, feed)))
        binding = self.session.io_binding()
        for name in self.inputs:
            binding.bind_ortvalue_input(name, _to_ort(table[name], self.values[name]))
        for name in self.outputs:
            binding.bind_output(name, *self.goes[name])
        self.session.run_with_iobinding(binding)
        return dict(zip(self.outputs, binding.get_outputs()))


# ---------------------------------------------------------------- running


class Runner:
    """The sessions of a split folder.

    providers: {"acc0": ("CUDAExecutionProvider", 0), "a100": "CUDAExecutionProvider"}; devices that are not named are
    the CPU. threads: of each session, 0 as ONNX Runtime likes it. exact: optimisations off and one thread, so that the
    bits are those of the whole model run alike. Raises SplitError."""

    def __init__(self, folder: Union[str, Path], providers: Optional[Mapping[str, Provider]] = None, *,
                 threads: int = 0, exact: bool = False):
        self.folder = Path(folder)
        self.threads, self.exact = threads, exact
        self.manifest = read_manifest(folder)
        self.values: Dict[str, Dict[str, Any]] = self.manifest["values"]
        self.input_names: List[str] = [v["name"] for v in self.manifest["inputs"]]
        self.sizes: Dict[str, Optional[List[int]]] = {
            v["name"]: _sizes(v, self.manifest.get("dims", {})) for v in self.manifest["inputs"]}
        self.output_names: List[str] = [v["name"] for v in self.manifest["outputs"]]
        self.states: List[Tuple[str, str]] = [(s["in"], s["out"]) for s in self.manifest.get("states", [])]
        _check_providers(self.manifest, providers or {})
        places = {d["name"]: _place(d, providers or {}) for d in self.manifest["devices"]}
        self.parts = [Part(self, p, *places[p["device"]]) for p in self.manifest["parts"]]
        self.readers: Dict[str, List[int]] = collections.defaultdict(list)  # of a tensor, parts
        for k, part in enumerate(self.parts):
            for name in part.inputs:
                self.readers[name].append(k)
        self._say_where()
        self._constants: Optional[Outputs] = None  # outputs that no part makes

    def _say_where(self) -> None:
        """An output stays in the memory of its device if all its consumers run there."""
        fed_back = {out: self.readers[into] for into, out in self.states}
        for part in self.parts:
            for name in part.outputs:
                readers = self.readers[name] + fed_back.get(name, [])
                stays = readers and all(self.parts[k].memory == part.memory for k in readers)
                kept = name in self.output_names and name not in fed_back
                part.goes[name] = part.memory if stays and not kept else ("cpu", 0)

    # ---- one sample

    def _begin(self, sample: Sample, state: bool) -> Dict[str, Any]:
        """The table of a sample before any part has run. With `state`, inputs that hold state may be missing."""
        if not isinstance(sample, Mapping):
            raise SplitError(f"a sample is a dict of arrays by name ({', '.join(self.input_names)}), "
                             f"found {type(sample).__name__}")
        unknown = [n for n in sample if n not in self.input_names]
        kept = {into for into, _ in self.states} if state else set()
        lacking = [n for n in self.input_names if n not in sample and n not in kept and not self._optional(n)]
        if unknown or lacking:
            wrong = f"no input '{unknown[0]}' in the model" if unknown else f"input '{lacking[0]}' is not given"
            raise SplitError(f"{wrong}: expected {', '.join(self.input_names)}")
        table = {n: _to_array(n, sample[n], self.values[n]) for n in sample}
        table.update({n: None for n in self.input_names if n not in sample and n not in kept})
        return table

    def _optional(self, name: str) -> bool:
        return str(self.values[name]["onnx_type"]).startswith("optional(")

    def _zeros(self, name: str) -> Any:
        row, sizes = self.values[name], self.sizes[name]
        if not _is_tensor(row) or not row["numpy_type"] or sizes is None:
            raise SplitError(f"input '{name}' holds state, of {row['onnx_type']} {row['shape']}: give its first value")
        return np.zeros(sizes, row["numpy_type"])

    def _add_constants(self, table: Dict[str, Any]) -> None:
        """Outputs that are weights which no part holds: the whole model says them."""
        names = [o["name"] for o in self.manifest["outputs"] if o["from"] == "weights"]
        if names and self._constants is None:
            whole = _open_whole(self.folder / self.manifest["model"]["file"])
            feed = {i.name: table[i.name] for i in whole.get_inputs()}
            self._constants = dict(zip(names, whole.run(names, feed)))
        table.update(self._constants or {})

    def _end(self, table: Mapping[str, Any]) -> Outputs:
        return {n: _to_python(table[n], self.values[n]) for n in self.output_names}

    def _run_part(self, part: Part, table: Mapping[str, Any], number: int) -> Dict[str, Any]:
        try:
            return part.run(table)
        except Exception as e:
            raise NoRun(f"{part.file} ({part.device}), sample {number}: {_first_line(e)}") from e

    def _run_all(self, table: Dict[str, Any], number: int) -> None:
        left = {n: len(k) for n, k in self.readers.items()}
        kept = {*self.output_names, *(out for _, out in self.states)}
        for part in self.parts:
            table.update(self._run_part(part, table, number))
            _forget(part, table, left, kept)

    def run(self, sample: Sample) -> Outputs:
        """One sample through all parts: the outputs by name."""
        table = self._begin(sample, False)
        self._add_constants(table)
        self._run_all(table, 0)
        return self._end(table)

    # ---- many

    def stream(self, samples: Iterable[Sample], *, in_flight: int = 0, state: bool = False) -> Iterator[Outputs]:
        """The outputs of each sample, in order.

        in_flight: samples on their way at once, taken from `samples` but not yet given back; 1: no threads;
        0: two for each device. state: feed states back. The first error ends it and is raised; so does leaving it."""
        if isinstance(samples, (Mapping, np.ndarray, str)) or not isinstance(samples, Iterable):
            raise SplitError("expected a list of samples (or what gives one after the other), each a dict of arrays by "
                             f"name, found {type(samples).__name__}" + " alone" * isinstance(samples, Mapping))
        devices = {p.device for p in self.parts}
        in_flight = in_flight or 2 * len(devices)
        if in_flight < 1:
            raise SplitError(f"{in_flight} samples in flight: expected at least 1")
        if in_flight == 1 or len(devices) < 2:
            return self._one_by_one(samples, state)
        return _Pipeline(self, sorted(devices), state).stream(samples, in_flight)

    def _one_by_one(self, samples: Iterable[Sample], state: bool) -> Iterator[Outputs]:
        before: Optional[Dict[str, Any]] = None
        for number, sample in enumerate(samples):
            table = self._begin(sample, state)
            self._add_constants(table)
            for into, out in self.states if state else []:
                if into not in table:
                    table[into] = before[out] if before is not None else self._zeros(into)
            self._run_all(table, number)
            before = {out: table[out] for _, out in self.states} if state else None
            yield self._end(table)

    def random_sample(self, seed: int = 0, state: bool = False, integers: Optional[int] = None) -> Dict[str, Any]:
        """Floats of a normal distribution, integers 0 or 1 (or all of them `integers`), in the sizes that the plan was
        made for. With `state` without the inputs that hold it."""
        rng = np.random.default_rng(seed)
        kept = {into for into, _ in self.states} if state else set()
        return {n: self._random(n, rng, integers) for n in self.input_names if n not in kept}

    def _random(self, name: str, rng: Any, integers: Optional[int]) -> Any:
        kind = str(self.values[name]["onnx_type"])
        if self._optional(name):
            return None
        sizes = self.sizes[name]
        if sizes is None and kind.startswith("tensor("):
            shape = self.values[name]["shape"]
            raise SplitError(f"input '{name}': nothing says how large its shape {shape} is: give it")
        found = _random_value(kind, sizes or [], rng, integers)
        if found is None:
            raise SplitError(f"input '{name}': no random value of {kind}: give a sample")
        return found


def _random_value(kind: str, sizes: List[int], rng: Any, integers: Optional[int]) -> Any:
    """A value of ONNX Runtime's type: a sequence has two elements, a map two entries; None: there is no way."""
    outer, _, inner = kind[:-1].partition("(")
    if outer == "seq":
        elements = [_random_value(inner, sizes, rng, integers) for _ in range(2)]
        return None if elements[0] is None else elements
    if outer == "map":
        key = inner.partition(",")[0]
        return {("k" + str(k) if key == "string" else k): float(rng.standard_normal()) for k in range(2)}
    if kind in RAW:
        return rng.integers(0, 2, sizes).astype(RAW[kind][0])
    if kind == "tensor(string)":
        return rng.integers(0, 2, sizes).astype(str).astype(object)
    words = {"float": "float32", "double": "float64"}
    try:
        dtype = np.dtype(words.get(inner, inner))
    except TypeError:
        return None
    if dtype.kind in "fc":
        return np.asarray(rng.standard_normal(sizes)).astype(dtype)
    if integers is not None and dtype.kind in "iu":
        return np.full(sizes, integers, dtype)
    return np.asarray(rng.integers(0, 2, sizes)).astype(dtype)


def _forget(part: Part, table: Dict[str, Any], left: Dict[str, int], kept: Iterable[str]) -> None:
    """Removes tensors without further consumers from the table, after a part has run."""
    for name in part.inputs:
        left[name] -= 1
        if not left[name] and name not in kept:
            del table[name]
    for name in part.outputs:
        if not left.get(name) and name not in kept:
            del table[name]


# ---------------------------------------------------------------- a thread for each device


class _Flight:
    """A sample on its way."""

    def __init__(self, runner: Runner, number: int, table: Dict[str, Any]):
        self.number, self.table = number, table
        self.left = {n: len(k) for n, k in runner.readers.items()}
        self.lacks = [len(p.inputs) for p in runner.parts]  # tensors that each part waits for
        self.to_run = len(runner.parts)
        self.heirs: Dict[str, List[str]] = {}  # outputs that the next sample waits for, and as which inputs
        self.next: Optional["_Flight"] = None


class _Pipeline:
    """Each device takes the earliest part of the earliest sample that has all its inputs. One lock for all; what runs
    long runs without it."""

    def __init__(self, runner: Runner, devices: List[str], state: bool):
        self.runner, self.state = runner, state
        self.kept = {*runner.output_names, *(out for _, out in runner.states)}
        self.lock = threading.Lock()
        self.work = {d: threading.Condition(self.lock) for d in devices}
        self.ready: Dict[str, List[Tuple[int, int, Any]]] = {d: [] for d in devices}
        self.finished = threading.Condition(self.lock)
        self.error: Optional[BaseException] = None
        self.stop = False
        self.last: Optional[_Flight] = None

    def stream(self, samples: Iterable[Sample], in_flight: int) -> Iterator[Outputs]:
        flying: Deque[_Flight] = collections.deque()
        threads = [threading.Thread(target=self._serve, args=(d,), daemon=True, name=f"pcc {d}") for d in self.work]
        for t in threads:
            t.start()
        try:
            numbered = enumerate(samples)
            while True:
                while flying and (len(flying) >= in_flight or not flying[0].to_run):
                    yield self._finish(flying.popleft())
                one = next(numbered, None)
                if one is None:
                    break
                flying.append(self._admit(*one))
            while flying:
                yield self._finish(flying.popleft())
        finally:
            with self.lock:
                self._end()
            for t in threads:
                t.join()

    def _end(self) -> None:
        self.stop = True
        for condition in [*self.work.values(), self.finished]:
            condition.notify_all()

    def _admit(self, number: int, sample: Sample) -> _Flight:
        table = self.runner._begin(sample, self.state)
        for name, value in table.items():  # the caller may change its arrays while they are used
            table[name] = value.copy() if isinstance(value, np.ndarray) else value
        self.runner._add_constants(table)
        flight = _Flight(self.runner, number, table)
        with self.lock:
            self._inherit(flight)
            for k, part in enumerate(self.runner.parts):
                if not part.inputs:
                    self._enqueue(flight, k)
            for name in list(table):
                self._arrived(flight, name)
            self.last = flight
        return flight

    def _inherit(self, flight: _Flight) -> None:
        """State from the sample before, as far as it is there."""
        for into, out in self.runner.states if self.state else []:
            if into in flight.table:
                continue
            if self.last is None:
                flight.table[into] = self.runner._zeros(into)
            elif out in self.last.table:
                flight.table[into] = self.last.table[out]
            else:
                self.last.heirs.setdefault(out, []).append(into)
                self.last.next = flight

    def _arrived(self, flight: _Flight, name: str) -> None:
        for k in self.runner.readers.get(name, ()):
            flight.lacks[k] -= 1
            if not flight.lacks[k]:
                self._enqueue(flight, k)

    def _enqueue(self, flight: _Flight, k: int) -> None:
        device = self.runner.parts[k].device
        heapq.heappush(self.ready[device], (flight.number, k, flight))
        self.work[device].notify()

    def _serve(self, device: str) -> None:
        while True:
            with self.lock:
                while not self.ready[device] and not self.stop:
                    self.work[device].wait()
                if self.stop:
                    return
                _, k, flight = heapq.heappop(self.ready[device])
            try:
                made = self.runner._run_part(self.runner.parts[k], flight.table, flight.number)
            except BaseException as e:  # pylint: disable=broad-except
                with self.lock:
                    self.error = self.error or e
                    self._end()
                return
            with self.lock:
                self._made(flight, k, made)

    def _put(self, flight: _Flight, name: str, value: Any) -> None:
        """A tensor is there: for the parts that read it, and for the next sample if it waits for it."""
        todo = [(flight, name, value)]
        while todo:
            at, name, value = todo.pop()
            at.table[name] = value
            self._arrived(at, name)
            for into in at.heirs.pop(name, ()):
                assert at.next is not None
                todo.append((at.next, into, value))

    def _made(self, flight: _Flight, k: int, made: Dict[str, Any]) -> None:
        for name, value in made.items():
            self._put(flight, name, value)
        _forget(self.runner.parts[k], flight.table, flight.left, self.kept)
        flight.to_run -= 1
        if not flight.to_run:
            self.finished.notify()

    def _finish(self, flight: _Flight) -> Outputs:
        with self.lock:
            while flight.to_run and not self.stop:
                self.finished.wait()
            if self.error:
                raise self.error
        return self.runner._end(flight.table)


# ---------------------------------------------------------------- comparing with the whole


def _open_whole(model: Union[str, Path, bytes]) -> Any:
    try:
        return ort.InferenceSession(model if isinstance(model, bytes) else str(model), _options(1, True),
                                    providers=[CPU])
    except Exception as e:
        raise SplitError(f"the whole model cannot be loaded: {_first_line(e)}") from e


def _difference(want: Any, got: Any, tolerance: float) -> Optional[str]:
    """None, or how the values differ."""
    if isinstance(want, dict) and isinstance(got, dict):
        want, got = sorted(want.items()), sorted(got.items())
    if isinstance(want, (list, tuple)):
        if type(want) is not type(got) or len(want) != len(got):
            return "another number of elements"
        return next(filter(None, (_difference(a, b, tolerance) for a, b in zip(want, got))), None)
    a, b = np.asarray(want), np.asarray(got)
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
    if a.dtype == object or a.tobytes() == b.tobytes():
        return None if a.dtype != object or np.array_equal(a, b) else "other strings"
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    off = np.abs(a.astype(wide) - b.astype(wide))
    off = np.where(np.isfinite(off), off, np.where(a == b, 0, np.inf))
    off = np.where(np.isnan(a.astype(wide)) & np.isnan(b.astype(wide)), 0, off)
    most = np.max(np.abs(a.astype(wide)), initial=0, where=np.isfinite(a.astype(wide)))
    if tolerance and float(np.max(off, initial=0)) <= tolerance * float(most):
        return None
    return f"{np.count_nonzero(off)} of {a.size} elements differ, by {np.max(off, initial=0):.3g} at most (the " \
           f"largest is {most:.3g})"


def verify(folder: Union[str, Path], model: Union[str, Path, bytes], sample: Optional[Sample] = None, *,
           seed: int = 0, tolerance: float = 0.0) -> int:
    """Runs the whole model and the parts on a sample (None: a random one), on the CPU without optimisations, and
    returns how many outputs are equal, bit by bit or within `tolerance` times the largest absolute value: all, else it
    raises SplitError. Where tensors of float16 cross, ONNX Runtime's CPU rounds them at the cut: give 1e-2."""
    runner = Runner(folder, exact=True)
    whole = _open_whole(model)
    names = [v.name for v in whole.get_outputs()]
    if names != runner.output_names:
        raise SplitError(f"the outputs of the split are {', '.join(runner.output_names)}, "
                         f"the model's {', '.join(names)}")
    # integers 0 or 1 may be no lengths, and 0 no mask: where they do not suit the model, all are 1, then 0
    tries = [sample] if sample is not None else [runner.random_sample(seed, integers=k) for k in (None, 1, 0)]
    sample, found = _first_that_runs(runner, whole, tries)
    got = runner.run(sample)
    for name, want in zip(names, found):
        wrong = _difference(want, got[name], tolerance)
        if wrong:
            half = not tolerance and any("f16" in str(row["type"]) for row in runner.values.values())
            raise SplitError(f"output '{name}' is not the whole model's: {wrong}"
                             + half * "; tensors of 16 bits are rounded where they cross: allow it with tolerance 1e-2 "
                                      "(--tolerance)")
    return len(names)


def _first_that_runs(runner: Runner, whole: Any, samples: List[Sample]) -> Tuple[Sample, List[Any]]:
    """The first sample that the whole model takes, and its outputs; what is wrong with the first of all if there is
    none."""
    wrong: Optional[Exception] = None
    for sample in samples:
        table = runner._begin(sample, False)
        try:
            return sample, _run_whole(runner, whole, table)
        except Exception as e:
            wrong = wrong or e
    assert wrong is not None
    raise NoRun(f"the whole model does not run: {_first_line(wrong)}") from wrong


def _run_whole(runner: Runner, whole: Any, table: Mapping[str, Any]) -> List[Any]:
    names = [v.name for v in whole.get_outputs()]
    if not any(v.type in RAW for v in [*whole.get_inputs(), *whole.get_outputs()]):
        return list(whole.run(names, {n: table[n] for n in runner.input_names}))
    feed = {n: _to_ort(table[n], runner.values[n]) for n in runner.input_names}
    return [_to_python(v, runner.values[n]) for n, v in zip(names, whole.run_with_ort_values(names, feed))]


# ---------------------------------------------------------------- the program


def read_sample(path: Union[str, Path]) -> Dict[str, Any]:
    """The arrays of a .npz file; strings as objects."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {n: arrays[n] for n in arrays.files}
    except (OSError, ValueError, AttributeError) as e:
        raise SplitError(f"{path}: no .npz file of arrays: {_first_line(e)}") from e
    return {n: a.astype(object) if a.dtype.kind in "SU" else a for n, a in found.items()}


def write_outputs(path: Path, outputs: Outputs) -> None:
    arrays = {}
    for name, value in outputs.items():
        if not isinstance(value, np.ndarray):
            raise SplitError(f"output '{name}' is no tensor: a .npz file cannot hold it")
        arrays[name] = value.astype(str) if value.dtype == object else value
    np.savez(path, **arrays)


def _samples(args: argparse.Namespace, runner: Runner) -> Iterator[Dict[str, Any]]:
    """Samples from the files, repeated until there are enough; without files random samples."""
    total = args.samples or max(1, len(args.sample))
    files = itertools.cycle(args.sample)
    for k in range(total):
        yield read_sample(next(files)) if args.sample else runner.random_sample(args.seed + k, args.state)


def _run(args: argparse.Namespace) -> str:
    if args.verify:
        n = verify(args.folder, args.verify, read_sample(args.sample[0]) if args.sample else None, seed=args.seed,
                   tolerance=args.tolerance)
        how = f"within {args.tolerance:g}" if args.tolerance else "bit by bit"
        inputs = args.sample[0] if args.sample else f"random inputs, seed {args.seed}"
        return f"equal: {n} outputs, {how}, optimisations off, on {inputs}"
    runner = Runner(args.folder, parse_providers(args.provider), threads=args.threads)
    if args.state and not runner.states:
        raise SplitError("--state: the model keeps no state that pcc knows of (pcc --state in=out says which)")
    if args.output:
        Path(args.output).mkdir(parents=True, exist_ok=True)
    shapes: List[str] = []
    n = 0
    begin = first = time.perf_counter()
    for outputs in runner.stream(_samples(args, runner), in_flight=args.pipeline, state=args.state):
        first = first if n else time.perf_counter()
        shapes = shapes or [f"output {k} {list(getattr(v, 'shape', []))}" for k, v in outputs.items()]
        if args.output:
            write_outputs(Path(args.output) / f"sample{n}.npz", outputs)
        n += 1
    end = time.perf_counter()
    each = f", {(end - begin) / n * 1e3:.3f} ms each" if n > 1 else ""
    where = sorted({f"{p.device} on {p.session.get_providers()[0]}" for p in runner.parts})
    more = [f"... {len(shapes) - SHOWN} more outputs"] if len(shapes) > SHOWN else []
    return "\n".join([f"{n} sample{'s' * (n > 1)}, first after {(first - begin) * 1e3:.3f} ms{each}", *where,
                      *shapes[:SHOWN], *more])


def _sizes_hint(args: argparse.Namespace) -> str:
    """What to do when a model does not take the random inputs that were made for it."""
    dims = read_manifest(args.folder).get("dims", {})
    sizes = " ".join(f"{k}={v}" for k, v in dims.items())
    if args.state:
        return "note: states grow, random inputs do not: give a SAMPLE.npz for each step"
    return f"note: the inputs were random, of the sizes that were planned for{sizes and ': '}{sizes}\n" \
           "note: if the model wants others, give SAMPLE.npz, or plan with pcc --dim NAME=N"


def main(argv: Optional[List[str]] = None) -> int:
    p = argparse.ArgumentParser(description="Runs the parts of a split folder in ONNX Runtime.")
    p.add_argument("sample", nargs="*", metavar="SAMPLE.npz", help="arrays by input name (default: random)")
    p.add_argument("--folder", default=str(Path(__file__).resolve().parent), help="the split (default: this file's)")
    p.add_argument("--samples", type=int, default=0, metavar="N", help="how many (default: as many as files, or 1)")
    p.add_argument("--output", metavar="DIR", help="keep the outputs as DIR/sampleK.npz")
    p.add_argument("--provider", action="append", default=[], metavar="DEVICE=PROVIDER[:ID]",
                   help="acc0=CUDAExecutionProvider:0, or a class: a100=CUDAExecutionProvider (default: CPU)")
    p.add_argument("--pipeline", type=int, default=1, metavar="N", help="samples on their way at once (default: 1)")
    p.add_argument("--state", action="store_true", help="feed states back from sample to sample")
    p.add_argument("--threads", type=int, default=0, metavar="N", help="of each session (default: ONNX Runtime's)")
    p.add_argument("--seed", type=int, default=0, help="of random inputs")
    p.add_argument("--verify", metavar="MODEL", help="compare the parts with the whole model")
    p.add_argument("--tolerance", type=float, default=0.0, help="of --verify, relative to the largest (default: 0)")
    args = p.parse_args(argv)
    ort.set_default_logger_severity(4)
    if args.samples < 0 or args.pipeline < 1 or args.threads < 0:
        p.error("--samples and --threads cannot be negative, --pipeline is at least 1")
    try:
        print(_run(args))
    except (SplitError, OSError) as e:
        print(f"error: {e}", file=sys.stderr)
        if isinstance(e, NoRun) and not args.sample:
            print(_sizes_hint(args), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
