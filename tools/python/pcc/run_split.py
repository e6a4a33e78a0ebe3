#!/usr/bin/env python3
"""Runs the parts of a split folder in ONNX Runtime.

    python3 split/run_split.py [SAMPLE ...] [--samples N] [--output DIR] [--pipeline N] [--state]
                               [--provider DEVICE=PROVIDER[:OPTIONS]] [--threads N] [--folder SPLIT]
    python3 split/run_split.py --verify model.onnx [--tolerance T]

pcc puts this file into every split folder; it needs onnxruntime and numpy only, and is the module pcc.run_split
of the Python package, too. It runs a sample as manifest.json says: it keeps a table of tensors by name, runs the parts
in their order, each in a session of its own, and takes the outputs from the table. Tensors that stay on a device do not
leave its memory (IOBinding); tensors that cross go through the host's memory.

A SAMPLE is a .npz file with an array for each input of the model, or a folder of ONNX test data, or its files
input_0.pb, input_1.pb, ... (these need the package onnx). Without any, samples are random (the sizes that the plan was
made for; floats normal, integers 0 or 1; beyond 256 MiB they repeat). --output DIR keeps the outputs of sample K as
DIR/sampleK.npz.

--provider acc0=cuda:0 says what a device is here; a100=cuda says it of all devices of a class, each with its number
among the GPUs of its maker (for dml among all). Names are ONNX Runtime's, with or without "ExecutionProvider", capitals
or not: cuda, trt (tensorrt), dml, openvino, coreml, qnn, webgpu, cpu. acc1=openvino:device_type=NPU,num_streams=2 gives
the provider options; a value with a comma stands in quotes: device_type="HETERO:GPU,CPU". A device of which nothing is
said is the CPU.

Inputs are made or read before the clock starts. The time of a part is the mean over all samples but the first; it holds
the copying that its session does.

--pipeline N has up to N samples on their way at once, a thread for each device; outputs come in order all the same.
--state feeds back what is kept between samples ("states" of the manifest, such as cached keys and values): a sample
gets these inputs from the sample before, unless it brings them itself; the first sample gets zeros.

The first error ends the run: exit 1, with the part, device and sample that it came from. Exit 2: a wrong option.
Ctrl-C ends it with the figures so far: exit 130.
"""
from __future__ import annotations

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until main() runs, Ctrl-C ends the program without a word

# pylint: disable=wrong-import-position
import argparse
import collections
import contextlib
import ctypes
import heapq
import json
import os
import re
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Union

try:
    import numpy as np
    import onnxruntime as ort
except ImportError as missing:
    if __name__ != "__main__":
        raise
    if isinstance(missing, ModuleNotFoundError):
        print(f"error: {missing.name} is not installed for this Python ({sys.executable}): pip install onnxruntime "
              "numpy", file=sys.stderr)
    else:
        print(f"error: this Python ({sys.executable}) cannot import {'onnxruntime' if 'np' in globals() else 'numpy'}: "
              f"{(str(missing).strip() or 'no reason is given').splitlines()[0]}", file=sys.stderr)
    sys.exit(1)

Sample = Mapping[str, Any]
Outputs = Dict[str, Any]
Provider = Union[str, Tuple[str, int], Tuple[str, Mapping[str, Any]]]  # its name; with a device number; with options
Teller = Callable[[str], None]  # hears which step of the work begins

CPU = "CPUExecutionProvider"
NUMPY_TYPES = {"bool", "object", "float16", "float32", "float64", "complex64", "complex128",
               *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
PIECES_MOST = 64  # of a state
SHOWN = 10  # parts and outputs that are named at the end of a run
INTERRUPTED = 130  # exit code after Ctrl-C
AHEAD = 1 << 28  # bytes of samples that are made before a run begins
MOST_RANDOM = 4096  # random samples of a run without --output; a longer run takes them again
DML, CUDA = "DmlExecutionProvider", "CUDAExecutionProvider"
TF32_SINCE = [1, 18]  # the runtime whose CUDA provider can first be told whether to compute in TF32
# Providers with an option device_id that counts the machine's devices.
NUMBERED = {CUDA, "TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider",
            "ROCMExecutionProvider", "MIGraphXExecutionProvider", DML, "CANNExecutionProvider"}
# Providers that have memory of their own, in which tensors may stay; all others take and give tensors in the host's
# memory.
MEMORY = {CUDA: "cuda", "TensorrtExecutionProvider": "cuda"}
# What runs the nodes that a provider does not take, before the CPU does.
BESIDE = {"TensorrtExecutionProvider": CUDA}
# Types that numpy lacks: they come and go as integers of the same width. Their numbers are ONNX's.
RAW = {"tensor(bfloat16)": (np.uint16, 16), "tensor(float8e4m3fn)": (np.uint8, 17),
       "tensor(float8e4m3fnuz)": (np.uint8, 18), "tensor(float8e5m2)": (np.uint8, 19),
       "tensor(float8e5m2fnuz)": (np.uint8, 20)}


# Characters that a terminal obeys or that do not show where they stand (as utf8_shown() of pcc has them), and halves of
# surrogate pairs.
HIDDEN = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """Returns text from a file as it may be printed: HIDDEN characters as \\xNN or \\uNNNN, so that it is one line."""
    return HIDDEN.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 0x80 else f"\\u{ord(m[0]):04x}", text)


class SplitError(Exception):
    """A folder, an input, or a run that is not as it should be; one line, which may be printed."""

    def __init__(self, text: str):
        super().__init__(printable(text))


class NoRun(SplitError):
    """A model or part that ONNX Runtime does not run on these inputs."""


class BadOption(SplitError):
    """An option of the program that is not as it should be."""


def _bare(text: str) -> str:
    """Returns a message of ONNX Runtime without the place in its sources, such as "/a/b.cc:12 int f(int) ", at its
    beginning."""
    place = re.match(r"/\S+:\d+ ", text)
    depth = 0
    for at in range(place.end(), len(text)) if place else ():
        depth += (text[at] == "(") - (text[at] == ")")
        if text[at] == ")" and not depth and text[at + 1:at + 2] == " ":
            return text[at + 2:]
    return text


def _first_line(error: BaseException) -> str:
    """Returns the first line of an error's text, at most 300 characters; its class if it has no text."""
    return _bare((str(error).strip().splitlines() or [type(error).__name__])[0])[:300]


def _silent(_: str) -> None:
    """Tells nothing."""


def read_manifest(folder: Union[str, Path]) -> Dict[str, Any]:
    """Reads manifest.json of a split folder and checks all that this program uses of it. Raises SplitError."""
    path = Path(folder) / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise SplitError(f"{path}: {e.strerror}: expected the folder of a split") from e
    except (ValueError, RecursionError) as e:
        raise SplitError(f"{path}: no JSON: {e}") from e
    if not isinstance(manifest, dict) or manifest.get("pcc_manifest") != 1 or "values" not in manifest:
        raise SplitError(f"{path}: no manifest of a split, or one of another version: expected \"pcc_manifest\": 1 "
                         "and \"values\"")
    _expect(manifest, MANIFEST, str(path))
    _check_names(manifest, Path(folder))
    return manifest


class _Kind:
    """What a value of the manifest must be: `words` says it, `holds` tests it."""

    def __init__(self, words: str, holds: Callable[[Any], bool]):
        self.words, self.holds = words, holds


def _is_count(v: Any) -> bool:
    return type(v) is int and 0 <= v < 1 << 63


TEXT = _Kind("a text", lambda v: isinstance(v, str))
COUNT = _Kind("a number >= 0", _is_count)
SECONDS = _Kind("seconds or null", lambda v: v is None or type(v) in (int, float) and 0 <= v < 1e300)
TYPE = _Kind("ONNX's word for a type, such as tensor(float), or null", lambda v: v is None or isinstance(v, str) and (
    re.fullmatch(r"((seq|optional)\(|map\([a-z0-9]+,){,3}(sparse_)?tensor\([a-z0-9]+\)+", v) is not None))
NUMPY = _Kind("a type of numpy or null", lambda v: v is None or isinstance(v, str) and v in NUMPY_TYPES)
SIZES = _Kind("a list of sizes or null", lambda v: v is None or isinstance(v, list) and all(
    d is None or _is_count(d) for d in v))
SHAPE = _Kind("a list of sizes and names, or null", lambda v: v is None or isinstance(v, list) and all(
    _is_count(d) or d is None or isinstance(d, str) for d in v))
POSITIVE = _Kind("a number > 0", lambda v: _is_count(v) and v > 0)
AXIS = _Kind("a number from 0 to 63", lambda v: _is_count(v) and v < 64)
SHARE = _Kind("a number from 0 to 1", lambda v: type(v) in (int, float) and 0 <= v <= 1)
FILE = _Kind("the name of a file in this folder", lambda v: isinstance(v, str) and v not in ("", ".", "..")
             and not set(v) & set("/\\\0"))
# What this program reads of a manifest, for _expect(). A dict stands for an object with these keys; a key with "?" may
# lack, and "*" stands for any key. A list stands for a list of such values.
MANIFEST = {"values": {"*": {"type": TEXT, "onnx_type": TYPE, "numpy_type": NUMPY, "shape": SHAPE}},
            "inputs": [{"name": TEXT, "shape": SHAPE, "sizes?": SIZES}], "outputs": [{"name": TEXT, "from": TEXT}],
            "devices": [{"name": TEXT, "class": TEXT, "index": COUNT}], "model": {"file": FILE},
            "parts": [{"file": FILE, "device": TEXT, "inputs": [TEXT], "outputs": [TEXT], "compute_s?": SECONDS}],
            "states?": [{"in": TEXT, "out": TEXT}], "dims?": {"*": COUNT},
            "sharding?": {"tolerance?": SHARE, "states?": [{"in": TEXT, "out": TEXT, "axis": AXIS, "run": POSITIVE,
                                                            "pieces": [{"in": TEXT, "out": TEXT}]}]},
            "objective?": {"name": TEXT, "value_s?": SECONDS}}


def _brief(value: Any) -> str:
    """Returns a value of JSON as text for an error."""
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else json.dumps(value)[:80]


def _expect(found: Any, kind: Any, where: str) -> None:
    """Raises SplitError unless `found`, which stands at the place `where` ("F: parts[0]"), is of this kind: a _Kind, or
    a part of MANIFEST."""
    if isinstance(kind, _Kind):
        if not kind.holds(found):
            raise SplitError(f"{where}: expected {kind.words}, found {_brief(found)}")
        return
    if not isinstance(found, type(kind)):
        raise SplitError(f"{where}: expected {_brief(kind)}, found {_brief(found)}")
    sep = ": " if where.endswith("manifest.json") else "."
    if isinstance(kind, list):
        for k, v in enumerate(found):
            _expect(v, kind[0], f"{where}[{k}]")
        return
    for key, inner in kind.items():
        name = key.rstrip("?")
        if key == "*":
            for k, v in found.items():
                _expect(v, inner, f"{where}.'{k}'")
        elif name in found:
            _expect(found[name], inner, f"{where}{sep}{name}")
        elif name == key:
            raise SplitError(f"{where}: there is no \"{key}\"")


def _check_pieces(kept: List[Mapping[str, Any]], inputs: Set[str], where: Path) -> None:
    """Raises SplitError unless each state in pieces (a row of `kept`) is an input with 2 to PIECES_MOST pieces, and no
    tensor is listed twice. inputs: of the model; where: the manifest, for errors."""
    ends = collections.Counter(row[side] for s in kept for row in (s, *s["pieces"]) for side in ("in", "out"))
    for s in kept:
        if s["in"] not in inputs:
            raise SplitError(f"{where}: sharding.states: expected an input, found '{s['in']}'")
        if not 2 <= len(s["pieces"]) <= PIECES_MOST:
            raise SplitError(f"{where}: sharding.states: '{s['in']}': expected 2 to {PIECES_MOST} pieces, found "
                             f"{len(s['pieces'])}")
    for name, times in ends.items():
        if times > 1:
            raise SplitError(f"{where}: sharding.states: '{name}' is listed twice")


def _check_names(manifest: Mapping[str, Any], folder: Path) -> None:
    """Raises SplitError unless each tensor is in "values" and is made before it is read, each device is listed, and
    each file lies in the folder, not at the end of a link that leads out of the folder."""
    where, values, devices = folder / "manifest.json", manifest["values"], {d["name"] for d in manifest["devices"]}
    kept = _kept_in_pieces(manifest)
    _check_pieces(kept, {v["name"] for v in manifest["inputs"]}, where)
    made = [v["name"] for v in manifest["inputs"]] + [p["in"] for s in kept for p in s["pieces"]]
    there = set(made)

    def told(key: str, names: Iterable[str], among: Any, why: str) -> None:
        """Raises SplitError unless all names are in `among`; key, why: for its text."""
        for name in names:
            if name not in among:
                raise SplitError(f"{where}: {key}: {why} '{name}'")

    told("inputs", made, values, "expected a tensor of \"values\", found")
    told("sharding.states", (s["out"] for s in kept), values, "expected a tensor of \"values\", found")
    for k, part in enumerate(manifest["parts"]):
        told(f"parts[{k}].device", [part["device"]], devices, "expected a device of \"devices\", found")
        told(f"parts[{k}].inputs", part["inputs"], there, "expected an input or what an earlier part makes, found")
        told(f"parts[{k}].outputs", part["outputs"], values, "expected a tensor of \"values\", found")
        if len({*part["outputs"]} - there) < len(part["outputs"]):
            raise SplitError(f"{where}: parts[{k}].outputs: a tensor is made twice")
        there.update(part["outputs"])
    for s in kept:
        told("sharding.states", (p["out"] for p in s["pieces"]), there, "expected what a part makes, found")
        there.add(s["out"])
    told("outputs", (v["name"] for v in manifest["outputs"]), values, "expected a tensor of \"values\", found")
    told("outputs", (v["name"] for v in manifest["outputs"] if v["from"] != "weights"), there,
         "expected what an input or a part gives, found")
    for s in manifest.get("states", []):
        told("states", [s["in"]], made, "expected an input, found")
        told("states", [s["out"]], there, "expected what a part makes, found")
    for row in [manifest["model"], *manifest["parts"]]:
        try:
            inside = (folder / row["file"]).resolve().parent == folder.resolve()
        except (OSError, RuntimeError, ValueError) as e:
            raise SplitError(f"{where}: file {json.dumps(row['file'])}: {e}") from e
        if not inside:
            raise SplitError(f"{where}: file '{row['file']}' is a link that leads out of the folder")


# ---------------------------------------------------------------- values


def _kept_in_pieces(manifest: Mapping[str, Any]) -> List[Mapping[str, Any]]:
    """Returns the rows of the states of which each device keeps a piece."""
    found: List[Mapping[str, Any]] = manifest.get("sharding", {}).get("states", [])
    return found


class _Cut:
    """An input or output of the model that parts have in pieces: position p of the axis is in piece p // run % (number
    of pieces)."""

    def __init__(self, state: Mapping[str, Any], side: str):
        self.name: str = state[side]
        self.axis: int = state["axis"]
        self.run: int = state["run"]
        self.pieces: List[str] = [p[side] for p in state["pieces"]]

    def cut(self, whole: Any) -> Dict[str, Any]:
        """Returns the pieces of an array, by name. Raises SplitError if it cannot be cut evenly."""
        size = whole.shape[self.axis] if self.axis < whole.ndim else None
        if size is None or size % (self.run * len(self.pieces)):
            raise SplitError(f"input '{self.name}': {len(self.pieces)} devices share its axis {self.axis}: expected a "
                             f"multiple of {self.run * len(self.pieces)} there, found {size}")
        at = np.arange(size) // self.run % len(self.pieces)
        return {name: np.ascontiguousarray(np.compress(at == k, whole, self.axis))
                for k, name in enumerate(self.pieces)}

    def join(self, pieces: List[Any]) -> Any:
        """Returns the array of which these are the pieces, in their order. Raises SplitError if their sizes differ."""
        if self.axis >= pieces[0].ndim or pieces[0].shape[self.axis] % self.run \
                or len({(p.shape, p.dtype) for p in pieces}) > 1:
            raise SplitError(f"output '{self.name}': its pieces have the sizes {[list(p.shape) for p in pieces]}: "
                             f"expected equal ones, with a multiple of {self.run} at axis {self.axis}")
        sizes = [n * len(pieces) if k == self.axis else n for k, n in enumerate(pieces[0].shape)]
        whole = np.empty(sizes, pieces[0].dtype)
        at = np.arange(sizes[self.axis]) // self.run % len(pieces)
        for k, piece in enumerate(pieces):
            whole[(slice(None),) * self.axis + (at == k,)] = piece
        return whole


def _is_tensor(row: Mapping[str, Any]) -> bool:
    return str(row["onnx_type"]).startswith("tensor(")


def _can_bind(row: Mapping[str, Any]) -> bool:
    """Whether ONNX Runtime can bind values of this type: no sequences, maps, optional values or strings."""
    return _is_tensor(row) and row["numpy_type"] != "object"


def _to_array(name: str, value: Any, row: Mapping[str, Any]) -> Any:
    """Converts a value that a user gave for an input to the form that ONNX Runtime takes. row: of "values". Raises
    SplitError if its type or shape is not the input's."""
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
        array = array.view(raw[0])  # the same bits, as integers
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
    """Converts an array to an OrtValue of the row's type."""
    if isinstance(value, ort.OrtValue):
        return value
    raw = RAW.get(row["onnx_type"])
    if raw:
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(value, raw[1])
    return ort.OrtValue.ortvalue_from_numpy(value)


def _to_python(value: Any, row: Mapping[str, Any]) -> Any:
    """Converts a value of ONNX Runtime to the form that a user gets: an array; types that numpy lacks as RAW has
    them."""
    if not isinstance(value, ort.OrtValue):
        return value
    raw = RAW.get(row["onnx_type"])
    if not raw:
        return value.numpy()
    buffer = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return np.frombuffer(buffer, raw[0]).reshape(value.shape()).copy()


def _sizes(entry: Mapping[str, Any], dims: Mapping[str, int]) -> Optional[List[int]]:
    """The sizes that the plan was made for, of an input of the manifest, or of its elements if it is a sequence; None:
    a size is not known. dims: sizes by the names of dimensions, for folders of earlier versions, which lack "sizes"."""
    sizes = entry.get("sizes")
    if sizes is None and entry["shape"] is not None:
        sizes = [d if isinstance(d, int) else dims.get(d) for d in entry["shape"]]
    return None if sizes is None or None in sizes else sizes


# ---------------------------------------------------------------- devices


def parse_providers(words: Iterable[str]) -> Dict[str, Provider]:
    """Returns {"acc0": ("cuda", 1), "acc1": ("openvino", {"device_type": "NPU"})} for ["acc0=cuda:1",
    "acc1=openvino:device_type=NPU"]."""
    found: Dict[str, Provider] = {}
    for word in words:
        device, _, said = word.partition("=")
        name, colon, more = said.partition(":")
        if not device or not name:
            raise BadOption(f"--provider '{word}': expected DEVICE=PROVIDER, DEVICE=PROVIDER:NUMBER or "
                            "DEVICE=PROVIDER:KEY=VALUE,...")
        number = more.isascii() and more.isdecimal()
        if device in found:
            raise BadOption(f"--provider '{word}': '{device}' has a provider already: expected one for each device or "
                            "class")
        found[device] = (name, int(more)) if number else (name, _parse_options(word, more)) if colon else name
    return found


def _parse_options(word: str, text: str) -> Dict[str, str]:
    """Returns the options of a provider in a text such as 'device_type="HETERO:GPU,CPU",num_streams=2'. word: the whole
    value of --provider, for errors."""
    found: Dict[str, str] = {}
    for item in re.split(r',(?=(?:[^"]*"[^"]*")*[^"]*$)', text):  # at commas that are in no quotes
        key, _, value = item.partition("=")
        if not key or not value or key in found or value.count('"') % 2:
            wrong = "is there twice" if key in found else "its quote has no end" if value.count('"') % 2 else \
                "expected KEY=VALUE"
            raise BadOption(f"--provider '{word}': option '{key}': {wrong}")
        found[key] = value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
    return found


def full_name(provider: str) -> str:
    """Returns a provider's name as this ONNX Runtime has it: CUDAExecutionProvider for "cuda"; without such a provider
    the name as it is."""
    short = {"trt": "tensorrt", "directml": "dml"}.get(provider.lower(), provider.lower())
    known: Dict[str, str] = {name.lower(): name for name in ort.get_available_providers()}
    return known.get(short) or known.get(f"{short}executionprovider", provider)


def _places(devices: Sequence[Mapping[str, Any]],
            providers: Mapping[str, Provider]) -> Dict[str, Tuple[str, Dict[str, Any]]]:
    """Returns the provider of each device, and its options."""
    gpus = [d["name"] for d in devices if "gpu" in d]
    return {d["name"]: _place(d, providers, gpus) for d in devices}


def _place(device: Mapping[str, Any], providers: Mapping[str, Provider], gpus: List[str]) -> Tuple[str, Dict[str, Any]]:
    """Returns the provider of a device, and the provider's options. gpus: names of all GPUs, in their order."""
    said = providers.get(device["name"], providers.get(device["class"], CPU))
    name, more = (said, {}) if isinstance(said, str) else said
    name = full_name(name)
    options = dict(more) if isinstance(more, Mapping) else {"device_id": more}
    if name in NUMBERED:  # DirectML counts GPUs of all makers, the others those of one
        number = gpus.index(device["name"]) if name == DML and "gpu" in device else device.get("gpu", device["index"])
        options.setdefault("device_id", number)
    elif not isinstance(more, Mapping):
        options = {}
    if name == CUDA and [int(n) for n in ort.__version__.split(".")[:2]] >= TF32_SINCE:
        options.setdefault("use_tf32", int("precision" in device))  # as planned: f32 unless another is named
    return name, options


def _check_providers(manifest: Mapping[str, Any], providers: Any) -> None:
    """Raises SplitError unless `providers` names devices of the split and providers that ONNX Runtime has."""
    like = 'such as {"acc0": ("cuda", 0)}, {"npu": ("openvino", {"device_type": "NPU"})} or {"a100": "cuda"}'
    if not isinstance(providers, Mapping):
        raise SplitError(f"providers: expected {{device: provider}}, {like}, found {providers!r}")
    known = [*(d["name"] for d in manifest["devices"]), *sorted({d["class"] for d in manifest["devices"]})]
    here = ort.get_available_providers()
    for device, said in providers.items():
        name, more = said if isinstance(said, tuple) and len(said) == 2 else (said, {})
        if not isinstance(name, str) or not (type(more) is int or isinstance(more, Mapping)):
            raise SplitError(f"provider of '{device}': expected its name, (name, number) or (name, options), {like}, "
                             f"found {said!r}")
        if device not in known:
            raise SplitError(f"provider of '{device}': no such device or class: expected one of {', '.join(known)}")
        if full_name(name) not in here:
            raise SplitError(f"provider '{name}' of '{device}': this ONNX Runtime has {', '.join(here)}")
        if isinstance(more, int) and full_name(name) not in {CPU, *NUMBERED}:
            raise SplitError(f"provider '{name}' of '{device}' has no device numbers: say which one by an option of "
                             f"its own, such as device_type=GPU.{more}")


def _logged(work: Callable[[], Any]) -> str:
    """Runs `work`, and returns the first error, or else warning, that ONNX Runtime logs to stderr meanwhile; "": there
    is none. Only this log tells why a provider is left out of a session."""
    ort.set_default_logger_severity(2)
    with tempfile.TemporaryFile() as log:
        stderr = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            work()
        except Exception:  # pylint: disable=broad-except
            pass
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        log.seek(0)
        lines = re.sub(r"\x1b\[[\d;]*m", "", log.read().decode("utf-8", "replace")).splitlines()
    # errors (E), fatal errors (F) and warnings (W), of which warnings come last
    found = [m for m in (re.search(r"\[([EFW]):onnxruntime[^]]*\] (.*)", line) for line in lines) if m]
    return next((_bare(m[2]) for m in sorted(found, key=lambda m: m[1] == "W")), "")[:300]


def _options(threads: int, exact: bool) -> Any:
    """Returns SessionOptions. threads: of the session, 0: as ONNX Runtime likes; exact: without optimisations and with
    one thread, so that results are always the same bits."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    # with memory patterns a process grows after its first sample; buffers kept for later tensors take room meanwhile
    options.enable_mem_pattern = options.enable_mem_reuse = False
    options.intra_op_num_threads = 1 if exact else threads
    if exact:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.inter_op_num_threads = 1
        options.use_deterministic_compute = True
    else:  # several sessions share the processors: none may wait by spinning
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


class Part:
    """A part in its session. entry: its row in the manifest; provider, options: of ONNX Runtime. Raises SplitError."""

    def __init__(self, runner: "Runner", entry: Mapping[str, Any], provider: str, options: Mapping[str, Any]):
        self.file: str = entry["file"]
        self.device: str = entry["device"]
        self.inputs: List[str] = entry["inputs"]
        self.outputs: List[str] = entry["outputs"]
        self.planned: Optional[float] = entry.get("compute_s")
        self.values: Dict[str, Any] = runner.values
        self.provider = provider
        self.bound = all(_can_bind(self.values[n]) for n in self.inputs + self.outputs)
        number = str(options.get("device_id", 0))
        wanted: List[Any] = [(provider, {k: str(v) for k, v in options.items()}) if options else provider]
        if BESIDE.get(provider) in ort.get_available_providers():
            wanted.append((BESIDE[provider], {"device_id": number}))
        self.session = self._open(runner, wanted + [CPU] * (provider != CPU))
        self.memory: Tuple[str, int] = (MEMORY.get(provider, "cpu"), int(number) if number.isdecimal() else 0)
        self.goes: Dict[str, Tuple[str, int]] = {}  # where each output goes; Runner fills it in
        self.runs, self.first_s, self.later_s = 0, 0.0, 0.0  # how often it ran; seconds of the first, of all others

    def _open(self, runner: "Runner", providers: List[Any]) -> Any:
        """Opens the session of the part with these providers. Raises SplitError if it cannot be loaded, or ONNX Runtime
        leaves the first provider out."""
        def session() -> Any:
            options = runner.options or _options(runner.threads, runner.exact)
            return ort.InferenceSession(str(runner.folder / self.file), options, providers=providers, enable_fallback=0)

        where = f"{self.file} ({self.device})" + f" on {self.provider}" * (self.provider != CPU)
        try:
            opened = session()
        except Exception as e:  # ONNX Runtime has no common class for its errors
            raise SplitError(f"{where}: cannot be loaded: {_first_line(e)}") from e
        if opened.get_providers()[0] != self.provider:
            raise SplitError(f"{where}: " + (_logged(session) or "the provider cannot be used here, only "
                                             f"{', '.join(opened.get_providers())}"))
        return opened

    def took(self, seconds: float) -> None:
        """Adds a run of the part to its times: the first run apart, since it takes longer."""
        self.runs += 1
        self.first_s, self.later_s = (self.first_s, self.later_s + seconds) if self.runs > 1 else (seconds, 0.0)

    def takes(self) -> Optional[float]:
        """Returns the seconds of a run: the mean of all but the first, or the only one; None: there was none."""
        return self.later_s / (self.runs - 1) if self.runs > 1 else self.first_s if self.runs else None

    def run(self, table: Mapping[str, Any], options: Any = None) -> Dict[str, Any]:
        """Runs the part on the tensors of the table and returns its outputs. options: ONNX Runtime's RunOptions."""
        if not self.bound:
            feed = {n: _to_python(table[n], self.values[n]) for n in self.inputs}
            return dict(zip(self.outputs, self.session.run(self.outputs, feed, options)))
        binding = self.session.io_binding()
        for name in self.inputs:
            binding.bind_ortvalue_input(name, _to_ort(table[name], self.values[name]))
        for name in self.outputs:
            binding.bind_output(name, *self.goes[name])
        self.session.run_with_iobinding(binding, options)
        return dict(zip(self.outputs, binding.get_outputs()))


# ---------------------------------------------------------------- running


class Runner:
    """The sessions of a split folder.

    providers: {"acc0": ("cuda", 0), "acc1": ("openvino", {"device_type": "NPU"}), "a100": "cuda"}; devices that are not
    named are the CPU. threads: of each session, 0 as ONNX Runtime likes it. exact: optimisations off and one thread, so
    that the bits are those of the whole model run alike. options: SessionOptions in place of both. tell: hears which
    part is being opened. Raises SplitError."""

    def __init__(self, folder: Union[str, Path], providers: Optional[Mapping[str, Provider]] = None, *,
                 threads: int = 0, exact: bool = False, options: Any = None, tell: Teller = _silent):
        self.folder = Path(folder)
        self.threads, self.exact, self.options = threads, exact, options
        self.manifest = read_manifest(folder)
        self.values: Dict[str, Dict[str, Any]] = self.manifest["values"]
        self.input_names: List[str] = [v["name"] for v in self.manifest["inputs"]]
        self.sizes: Dict[str, Optional[List[int]]] = {
            v["name"]: _sizes(v, self.manifest.get("dims", {})) for v in self.manifest["inputs"]}
        self.output_names: List[str] = [v["name"] for v in self.manifest["outputs"]]
        self.cuts = {s["in"]: _Cut(s, "in") for s in _kept_in_pieces(self.manifest)}
        self.joins = {s["out"]: _Cut(s, "out") for s in _kept_in_pieces(self.manifest)}
        for cut in self.cuts.values():
            whole = self.sizes.get(cut.name)
            piece = whole and [n // len(cut.pieces) if k == cut.axis else n for k, n in enumerate(whole)]
            self.sizes.update((name, piece) for name in cut.pieces)
        pairs = [(s["in"], s["out"]) for s in self.manifest.get("states", [])]
        self.kept_inputs = {into for into, _ in pairs}  # inputs that hold state, by the names that samples use
        # pairs of the tensors that the parts read and make: of a state in pieces a pair for each piece
        self.states: List[Tuple[str, str]] = [pair for pair in pairs if pair[0] not in self.cuts] + [
            (p["in"], p["out"]) for s in _kept_in_pieces(self.manifest) for p in s["pieces"]]
        _check_providers(self.manifest, providers or {})
        places = _places(self.manifest["devices"], providers or {})
        self.parts: List[Part] = self._open_parts(places, tell)
        # tensor -> numbers of the parts that read it
        self.readers: Dict[str, List[int]] = collections.defaultdict(list)
        for k, part in enumerate(self.parts):
            for name in part.inputs:
                self.readers[name].append(k)
        self._say_where()
        self._constants: Optional[Outputs] = None  # outputs that no part makes

    def _open_parts(self, places: Mapping[str, Tuple[str, Dict[str, Any]]], tell: Teller) -> List[Part]:
        """The sessions of the parts; places: provider and options of each device."""
        parts = []
        for k, p in enumerate(self.manifest["parts"]):
            tell(f"opening {p['file']}, {k + 1} of {len(self.manifest['parts'])}")
            parts.append(Part(self, p, *places[p["device"]]))
        return parts

    def _say_where(self) -> None:
        """Decides where each output of a part goes (part.goes): it stays in the memory of its device if all parts that
        read it run there. Other outputs go to the host, and so do the model's, unless they are fed back as states."""
        fed_back = {out: self.readers[into] for into, out in self.states}
        for part in self.parts:
            for name in part.outputs:
                readers = self.readers[name] + fed_back.get(name, [])
                stays = readers and all(self.parts[k].memory == part.memory for k in readers)
                kept = name in self.output_names and name not in fed_back
                part.goes[name] = part.memory if stays and not kept else ("cpu", 0)

    # ---- one sample

    def _begin(self, sample: Sample, state: bool) -> Dict[str, Any]:
        """The table of a sample before any part has run: its inputs by name, those in pieces cut. With `state`, inputs
        that hold state may be missing."""
        table = self._take(sample, state)
        for name, cut in self.cuts.items():
            if name in table:
                table.update(cut.cut(table.pop(name)))
        return table

    def _take(self, sample: Sample, state: bool) -> Dict[str, Any]:
        """The inputs of a sample as arrays for ONNX Runtime, by the names of the model's inputs; None for optional
        inputs that it lacks. Raises SplitError for unknown and missing inputs."""
        if not isinstance(sample, Mapping):
            raise SplitError(f"a sample is a dict of arrays by name ({', '.join(self.input_names)}), "
                             f"found {type(sample).__name__}")
        unknown = [n for n in sample if n not in self.input_names]
        kept = self.kept_inputs if state else set()
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
        """The value of a state before the first sample: zeros of the planned sizes."""
        row, sizes = self.values[name], self.sizes[name]
        if not _is_tensor(row) or not row["numpy_type"] or sizes is None:
            raise SplitError(f"input '{name}' holds state, of {row['onnx_type']} {row['shape']}: give its first value")
        try:
            return np.zeros(sizes, row["numpy_type"])
        except (ValueError, MemoryError) as e:
            raise SplitError(f"input '{name}' of sizes {sizes}: {_first_line(e)}") from e

    def _add_constants(self, table: Dict[str, Any]) -> None:
        """Adds to the table the outputs of the model that are weights, which no part makes; the whole model is run once
        to get them."""
        names = [o["name"] for o in self.manifest["outputs"] if o["from"] == "weights"]
        if names and self._constants is None:
            whole = _open_whole(self.folder / self.manifest["model"]["file"])
            feed = {i.name: table[i.name] for i in whole.get_inputs()}
            self._constants = dict(zip(names, whole.run(names, feed)))
        table.update(self._constants or {})

    def _end(self, table: Mapping[str, Any]) -> Outputs:
        """The outputs of a sample, by name, from its table, when all parts have run."""
        def one(name: str) -> Any:
            return _to_python(table[name], self.values[name])

        return {n: self.joins[n].join([one(p) for p in self.joins[n].pieces]) if n in self.joins else one(n)
                for n in self.output_names}

    def _run_part(self, part: Part, table: Mapping[str, Any], number: int, options: Any = None) -> Dict[str, Any]:
        """Runs a part of sample `number` on its table, adds the run to the part's times, and returns the outputs.
        Raises NoRun."""
        began = time.perf_counter()
        try:
            made = part.run(table, options)
        except Exception as e:
            raise NoRun(f"{part.file} ({part.device}), sample {number}: {_first_line(e)}") from e
        part.took(time.perf_counter() - began)
        return made

    def _run_all(self, table: Dict[str, Any], number: int, options: Any = None) -> None:
        """Runs all parts of a sample, in their order, on its table: adds what they make, and removes each tensor when
        its last reader has run."""
        left = {n: len(k) for n, k in self.readers.items()}
        kept = {*self.output_names, *(out for _, out in self.states)}
        for part in self.parts:
            table.update(self._run_part(part, table, number, options))
            _forget(part, table, left, kept)

    def run(self, sample: Sample, options: Any = None) -> Outputs:
        """Runs one sample through all parts and returns the outputs by name. options: ONNX Runtime's RunOptions, for
        each part."""
        table = self._begin(sample, False)
        self._add_constants(table)
        self._run_all(table, 0, options)
        return self._end(table)

    # ---- many

    def stream(self, samples: Iterable[Sample], *, in_flight: int = 0, state: bool = False) -> Iterator[Outputs]:
        """The outputs of each sample, in order.

        in_flight: the most samples that are taken from `samples` before the outputs of the first of them are given
        back; 1: no threads; 0: two for each device. state: feed states back. The first error is raised and ends the
        stream; so does leaving the loop over it."""
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
        """stream() without threads: the outputs of each sample, which runs through all parts before the next begins."""
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
        """Random inputs by name, in the sizes that the plan was made for: floats of a normal distribution, integers 0
        or 1 (with `integers`, all integers have that value). With `state`, inputs that hold state are left out."""
        rng = np.random.default_rng(seed)
        kept = self.kept_inputs if state else set()
        return {n: self._random(n, rng, integers) for n in self.input_names if n not in kept}

    def _random(self, name: str, rng: Any, integers: Optional[int]) -> Any:
        """A random value for an input (random_sample()). Raises SplitError if its sizes are not known or too large."""
        kind = str(self.values[name]["onnx_type"])
        if self._optional(name):
            return None
        sizes = self.sizes[name]
        if sizes is None and kind.startswith("tensor("):
            shape = self.values[name]["shape"]
            raise SplitError(f"input '{name}': nothing says how large its shape {shape} is: give it")
        try:
            found = _random_value(kind, sizes or [], rng, integers)
        except (ValueError, MemoryError) as e:
            raise SplitError(f"input '{name}' of sizes {sizes}: {_first_line(e)}") from e
        if found is None:
            raise SplitError(f"input '{name}': no random value of {kind}: give a sample")
        return found


def _random_value(kind: str, sizes: List[int], rng: Any, integers: Optional[int]) -> Any:
    """A random value of the type that ONNX Runtime calls `kind`: a sequence has two elements, a map two entries; None:
    of such a type no value is made. rng: numpy's generator; integers: as for Runner.random_sample()."""
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
    """Removes tensors that no further part reads from the table, after a part has run. left: number of readers of each
    tensor that have not run, which is counted down; kept: tensors that stay."""
    for name in part.inputs:
        left[name] -= 1
        if not left[name] and name not in kept:
            del table[name]
    for name in part.outputs:
        if not left.get(name) and name not in kept:
            del table[name]


# ---------------------------------------------------------------- a thread for each device


class _Flight:
    """A sample on its way. number: of the sample, from 0; table: its tensors by name; left: how many of the parts that
    read a tensor have not run; to_run: how many parts have not run; next: the flight of the next sample, once that has
    begun."""

    def __init__(self, runner: Runner, number: int, table: Dict[str, Any]):
        self.number, self.table = number, table
        self.left = {n: len(k) for n, k in runner.readers.items()}
        self.lacks = [len(p.inputs) for p in runner.parts]  # tensors that each part waits for
        self.to_run = len(runner.parts)
        self.heirs: Dict[str, List[str]] = {}  # output -> inputs of the next sample that wait for it
        self.next: Optional["_Flight"] = None


class _Pipeline:
    """Threads, one for each device: each takes the earliest sample that has all inputs of a part of the device, and of
    that sample the earliest such part. One lock guards all data; it is not held while a part runs."""

    def __init__(self, runner: Runner, devices: List[str], state: bool):
        self.runner, self.state = runner, state
        self.kept = {*runner.output_names, *(out for _, out in runner.states)}
        self.lock = threading.Lock()
        self.work = {d: threading.Condition(self.lock) for d in devices}  # a part of the device has become ready
        self.ready: Dict[str, List[Tuple[int, int, Any]]] = {d: [] for d in devices}  # heaps: sample, part, flight
        self.finished = threading.Condition(self.lock)  # all parts of a sample have run
        self.error: Optional[BaseException] = None  # the first error of a part
        self.stop = False  # the threads are to end
        self.last: Optional[_Flight] = None  # the sample that was begun last

    def stream(self, samples: Iterable[Sample], in_flight: int) -> Iterator[Outputs]:
        """The outputs of each sample, in order, with at most in_flight samples on their way."""
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
        """Makes all threads and all waits end; the caller holds the lock."""
        self.stop = True
        for condition in [*self.work.values(), self.finished]:
            condition.notify_all()

    def _admit(self, number: int, sample: Sample) -> _Flight:
        """Begins a sample: makes its table, and enqueues the parts that need nothing but its inputs."""
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
        """Gives a sample the states that the sample before has made so far, and notes which states it waits for; the
        first sample gets zeros."""
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
        """Counts that a tensor of a sample is there, and enqueues the parts that waited for it last."""
        for k in self.runner.readers.get(name, ()):
            flight.lacks[k] -= 1
            if not flight.lacks[k]:
                self._enqueue(flight, k)

    def _enqueue(self, flight: _Flight, k: int) -> None:
        """Puts part k of a sample, whose inputs are all there, into the queue of its device."""
        device = self.runner.parts[k].device
        heapq.heappush(self.ready[device], (flight.number, k, flight))
        self.work[device].notify()

    def _serve(self, device: str) -> None:
        """The thread of a device: runs its parts as they become ready, until the stream ends."""
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
        """Puts a tensor into the table of its sample, for the parts that read it, and hands it to the next sample if it
        is a state that sample waits for."""
        todo = [(flight, name, value)]
        while todo:
            at, name, value = todo.pop()
            at.table[name] = value
            self._arrived(at, name)
            for into in at.heirs.pop(name, ()):
                assert at.next is not None
                todo.append((at.next, into, value))

    def _made(self, flight: _Flight, k: int, made: Dict[str, Any]) -> None:
        """Notes that part k of a sample has run and made these tensors; wakes the thread that waits for the end of the
        sample."""
        for name, value in made.items():
            self._put(flight, name, value)
        _forget(self.runner.parts[k], flight.table, flight.left, self.kept)
        flight.to_run -= 1
        if not flight.to_run:
            self.finished.notify()

    def _finish(self, flight: _Flight) -> Outputs:
        """Waits until all parts of a sample have run, and returns its outputs. Raises the error of a part."""
        with self.lock:
            while flight.to_run and not self.stop:
                self.finished.wait()
            if self.error:
                raise self.error
        return self.runner._end(flight.table)


# ---------------------------------------------------------------- comparing with the whole


def _open_whole(model: Union[str, Path, bytes]) -> Any:
    """Opens the whole model, a path or its bytes, on the CPU without optimisations. Raises SplitError."""
    try:
        return ort.InferenceSession(model if isinstance(model, bytes) else str(model), _options(1, True),
                                    providers=[CPU])
    except Exception as e:
        raise SplitError(f"the whole model cannot be loaded: {_first_line(e)}") from e


def _numbers(value: Any, kind: str) -> Any:
    """Returns an output of the ONNX type `kind` as numbers that can be compared: bfloat16, which comes as integers of
    16 bits, as float32; all others as they are."""
    return (value.astype(np.uint32) << 16).view(np.float32) if kind == "tensor(bfloat16)" else value


def _difference(want: Any, got: Any, tolerance: float) -> Optional[str]:
    """Returns how two values of an output differ, in words; None: they are equal, bit by bit, or their floats differ by
    at most `tolerance` times the largest float of `want`."""
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
    off = np.where(np.isfinite(off), off, np.where(a == b, 0, np.inf))  # the difference of two infinities is NaN
    off = np.where(np.isnan(a.astype(wide)) & np.isnan(b.astype(wide)), 0, off)  # two NaN count as equal
    most = np.max(np.abs(a.astype(wide)), initial=0, where=np.isfinite(a.astype(wide)))
    if tolerance and a.dtype.kind in "fc" and float(np.max(off, initial=0)) <= tolerance * float(most):
        return None
    return f"{np.count_nonzero(off)} of {a.size} elements differ, by {np.max(off, initial=0):.3g} at most (the " \
           f"largest is {most:.3g})"


def tolerance_of(manifest: Dict[str, Any]) -> float:
    """The tolerance of the manifest: the share of an output's largest value by which it may differ, because devices add
    up floats in another order; 0: none."""
    return float(manifest.get("sharding", {}).get("tolerance", 0.0))


def verify(folder: Union[str, Path], model: Union[str, Path, bytes], sample: Optional[Sample] = None, *,
           seed: int = 0, tolerance: Optional[float] = None, tell: Teller = _silent) -> int:
    """Runs the whole model and the parts on a sample (None: a random one), on the CPU without optimisations, and
    compares all outputs. Returns the number of outputs; raises SplitError unless all are equal, bit by bit or, for
    floats, within `tolerance` times the largest absolute value. tolerance None: what the manifest allows where devices
    add up floats, else 0; where tensors of float16 cross, ONNX Runtime's CPU rounds them at the cut, so that 1e-2 is
    needed. tell: hears which step begins."""
    runner = Runner(folder, exact=True, tell=tell)
    tolerance = tolerance_of(runner.manifest) if tolerance is None else tolerance
    tell("opening the whole model")
    whole = _open_whole(model)
    names = [v.name for v in whole.get_outputs()]
    if names != runner.output_names:
        raise SplitError(f"the outputs of the split are {', '.join(runner.output_names)}, "
                         f"the model's {', '.join(names)}")
    tell("running the whole model")
    # integers 0 or 1 may be no lengths, and 0 no mask: where they do not suit the model, all are 1, then 0
    tries: List[Sample] = [sample] if sample is not None else [
        runner.random_sample(seed, integers=k) for k in (None, 1, 0)]
    sample, found = _first_that_runs(runner, whole, tries)
    tell("running the parts")
    got = runner.run(sample)
    for name, want in zip(names, found):
        kind = runner.values[name]["onnx_type"]
        wrong = _difference(_numbers(want, kind), _numbers(got[name], kind), tolerance)
        if wrong:
            half = not tolerance and any("f16" in str(row["type"]) for row in runner.values.values())
            raise SplitError(f"output '{name}' is not the whole model's: {wrong}"
                             + half * "; where tensors of 16 bits cross, they are rounded: allow a tolerance of 1e-2")
    return len(names)


def _first_that_runs(runner: Runner, whole: Any, samples: List[Sample]) -> Tuple[Sample, List[Any]]:
    """The first of the samples on which the whole model runs, and its outputs. If there is none, raises the error of
    the first sample."""
    wrong: Optional[Exception] = None
    for sample in samples:
        table = runner._take(sample, False)
        try:
            return sample, _run_whole(runner, whole, table)
        except Exception as e:
            wrong = wrong or e
    assert wrong is not None
    raise NoRun(f"the whole model does not run: {_first_line(wrong)}") from wrong


def _run_whole(runner: Runner, whole: Any, table: Mapping[str, Any]) -> List[Any]:
    """Runs the whole model on the inputs in the table and returns its outputs, in its order."""
    names = [v.name for v in whole.get_outputs()]
    if not any(v.type in RAW for v in [*whole.get_inputs(), *whole.get_outputs()]):
        return list(whole.run(names, {n: table[n] for n in runner.input_names}))
    feed = {n: _to_ort(table[n], runner.values[n]) for n in runner.input_names}
    return [_to_python(v, runner.values[n]) for n, v in zip(names, whole.run_with_ort_values(names, feed))]


# ---------------------------------------------------------------- files


def _number(path: Path) -> int:
    """Returns 7 for input_7.pb; -1: the name is not of this form."""
    found = re.fullmatch(r"input_(\d+)\.pb", path.name)
    return int(found[1]) if found else -1


def sample_files(paths: Iterable[Union[str, Path]]) -> List[List[Path]]:
    """Returns the files of each sample: a .npz file, the files input_*.pb of a folder, or .pb files of one folder that
    follow each other."""
    found: List[List[Path]] = []
    for path in map(Path, paths):
        before = found[-1] if found else []
        if path.is_dir():
            found.append(sorted(path.glob("input_*.pb"), key=_number))
            if not found[-1]:
                raise SplitError(f"{path}: expected files input_0.pb, input_1.pb, ... in this folder")
        elif path.suffix == ".pb" and before and before[0].suffix == ".pb" and path not in before \
                and before[0].parent == path.parent:
            before.append(path)
        else:
            found.append([path])
    return found


def _read_pb(path: Path, manifest: Mapping[str, Any]) -> Tuple[str, Any]:
    """Reads a file of ONNX test data. Returns the input that it is for, by the name in it or else by the number in the
    file's name, and the value."""
    try:
        import onnx  # pylint: disable=import-outside-toplevel
    except ImportError as e:
        raise SplitError(f"{path}: onnx, which reads it, is not installed for this Python: pip install onnx") from e
    to, names, k = onnx.numpy_helper, [v["name"] for v in manifest["inputs"]], _number(path)
    kinds = {"seq": (onnx.SequenceProto, to.to_list), "map": (onnx.MapProto, to.to_dict),
             "optional": (onnx.OptionalProto, to.to_optional)}
    raw, told = path.read_bytes(), ""
    # the file may hold a sequence, which is no tensor; protobuf has no common class for its errors
    with contextlib.suppress(Exception):
        told = onnx.TensorProto.FromString(raw).name
    if told not in names and not 0 <= k < len(names):
        raise SplitError(f"{path}: it is for no input of the model: expected input_0.pb to input_{len(names) - 1}.pb")
    name = told if told in names else names[k]
    kind = str(manifest["values"][name]["onnx_type"])
    message, value = kinds.get(kind.split("(")[0], (onnx.TensorProto, to.to_array))
    try:
        return name, value(message.FromString(raw))
    except Exception as e:
        raise SplitError(f"{path}: expected {kind} for input '{name}': {_first_line(e)}") from e


def read_sample(files: Union[str, Path, List[Path]], manifest: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """Returns the arrays of a .npz file, or of the .pb files of one sample for the inputs in the manifest; strings are
    objects."""
    paths = files if isinstance(files, list) else [Path(files)]
    try:
        if manifest and paths[0].suffix == ".pb":
            found = dict(_read_pb(path, manifest) for path in paths)
        else:
            with np.load(paths[0], allow_pickle=False) as arrays:
                found = {n: arrays[n] for n in arrays.files}
    except OSError as e:
        raise SplitError(f"{e.filename or paths[0]}: {e.strerror or _first_line(e)}") from e
    except (ValueError, AttributeError, zipfile.BadZipFile) as e:
        raise SplitError(f"{paths[0]}: no .npz file of arrays: {_first_line(e)}") from e
    return {n: a.astype(object) if isinstance(a, np.ndarray) and a.dtype.kind in "SU" else a for n, a in found.items()}


def write_outputs(path: Path, outputs: Outputs) -> None:
    """Writes the outputs to a .npz file, which appears complete or not at all. Raises SplitError if one is no
    tensor."""
    partly = path.with_name(f".{path.name}.part")
    try:
        with zipfile.ZipFile(partly, "w") as arrays:  # numpy.savez takes no array of the name "file"
            for name, value in outputs.items():
                if not isinstance(value, np.ndarray):
                    raise SplitError(f"output '{name}' is no tensor: a .npz file cannot hold it")
                with arrays.open(f"{name}.npy", "w", force_zip64=True) as f:
                    np.lib.format.write_array(f, value.astype(str) if value.dtype == object else value,
                                              allow_pickle=False)
        os.replace(partly, path)
    finally:
        partly.unlink(missing_ok=True)


# ---------------------------------------------------------------- the program


class _Progress:
    """Shows on stderr what the program is doing: in a line that changes on a terminal, every 30 seconds in a log."""

    FIRST, EACH, LOGGED = 2.0, 0.5, 30.0  # seconds

    def __init__(self) -> None:
        self.text = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True, name="pcc progress")

    def tell(self, text: str) -> None:
        """Sets the text that is shown from now on."""
        self.text = text

    def __enter__(self) -> "_Progress":
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()

    def _show(self) -> None:
        """The thread that shows the text and the seconds so far, until the context ends."""
        began, shown, tty = time.monotonic(), False, sys.stderr is not None and sys.stderr.isatty()
        wait = self.FIRST if tty else self.LOGGED
        with contextlib.suppress(OSError, ValueError, AttributeError):  # of a stderr that is closed, or none
            while not self._over.wait(wait):
                line = printable(f"{self.text} ({time.monotonic() - began:.0f} s)")
                print(f"\r\x1b[K{line[:78]}" if tty else line, end="" if tty else "\n", file=sys.stderr, flush=True)
                shown, wait = tty, self.EACH if tty else self.LOGGED
            if shown:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _Samples:
    """The samples of a run: read from the files, or random; if the run is longer than the list, the list repeats. Up to
    AHEAD bytes of samples are made before the run, so that its times do not contain that work. Files beyond that are
    read when their turn comes (`late`); random samples beyond that are not made, and the list is shorter.  total:
    samples of the run; kinds: samples of the list; made: samples of the list that were made before the run."""

    def __init__(self, args: argparse.Namespace, runner: Runner, tell: Teller):
        self.args, self.runner = args, runner
        self.files = sample_files(args.sample)
        self.total: int = args.samples or max(1, len(self.files))
        kinds = min(self.total, len(self.files) or (self.total if args.output else MOST_RANDOM))
        self.made: List[Dict[str, Any]] = []
        room = AHEAD
        while len(self.made) < kinds and room > 0:
            tell(f"making inputs, {len(self.made)} of {kinds}")
            self.made.append(self._make(len(self.made)))
            room -= sum(getattr(v, "nbytes", 0) for v in self.made[-1].values())
        self.late = bool(self.files) and len(self.made) < kinds
        self.kinds = kinds if self.late else len(self.made)

    def _make(self, k: int) -> Dict[str, Any]:
        """Sample k of the list."""
        if self.files:
            return read_sample(self.files[k], self.runner.manifest)
        return self.runner.random_sample(self.args.seed + k, self.args.state)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        for k in range(self.total):
            i = k % self.kinds
            yield self.made[i] if i < len(self.made) else self._make(i)


class _Clock:
    """The times at which outputs of samples came, in seconds of perf_counter()."""

    def __init__(self) -> None:
        self.n = 0
        self.began = self.first = self.last = time.perf_counter()

    def came(self) -> None:
        """Counts a sample whose outputs have come."""
        self.last = time.perf_counter()
        self.first = self.first if self.n else self.last
        self.n += 1

    def each(self) -> float:
        """Returns the mean seconds from one sample to the next; 0.0 before the second."""
        return (self.last - self.first) / max(1, self.n - 1)

    def __str__(self) -> str:
        each = f", then {_time(self.each())} each" if self.n > 1 else ""
        return f"{self.n} sample{'s' * (self.n > 1)}, first after {_time(self.first - self.began)}{each}"


def _time(seconds: Optional[float]) -> str:
    """Returns a time as text of four digits, "1.234 ms"; "-" for None."""
    if seconds is None:
        return "-"
    unit, size = next((u for u in (("s", 1.0), ("ms", 1e-3)) if seconds >= u[1]), ("us", 1e-6))
    return f"{seconds / size:.4g} {unit}"


def _parts_table(parts: List[Part]) -> List[str]:
    """Returns a row for each part, or for the SHOWN slowest and all others together: device and provider, the time that
    it takes, and the planned one."""
    longest = sorted(parts, key=lambda p: -(p.takes() or 0.0))
    rows = [("part", "on", "", "takes", "planned")]
    rows += [(printable(p.file), printable(p.device), p.provider, _time(p.takes()), _time(p.planned))
             for p in parts if p in longest[:SHOWN]]
    others = longest[SHOWN:]
    if others:
        rows.append((f"{len(others)} more", "", "", _time(sum(p.takes() or 0.0 for p in others)),
                     _time(sum(p.planned or 0.0 for p in others))))
    wide = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [" ".join(c.rjust(w) if k > 2 else c.ljust(w) for k, (c, w) in enumerate(zip(row, wide))) for row in rows]


def _figures(runner: Runner, clock: _Clock, notes: List[str], shapes: List[str]) -> str:
    """Returns the text that ends a run: number of samples and their times, notes, the planned value, the table of the
    parts, and the outputs with their shapes, of which SHOWN are named."""
    goal = runner.manifest.get("objective", {})
    planned = [f"planned {goal['name']}: {_time(goal['value_s'])}"] if goal.get("value_s") else []
    more = [f"... {len(shapes) - SHOWN} more outputs"] if len(shapes) > SHOWN else []
    table = _parts_table(runner.parts) if runner.parts else []
    return "\n".join(map(printable, [str(clock), *notes, *planned, *table, *shapes[:SHOWN], *more]))


def _compare(args: argparse.Namespace, tell: Teller) -> str:
    """Does the work of --verify; returns the text for its success."""
    files = sample_files(args.sample)
    sample = read_sample(files[0], read_manifest(args.folder)) if files else None
    sums = tolerance_of(read_manifest(args.folder)) if args.tolerance is None else 0.0
    n = verify(args.folder, args.verify, sample, seed=args.seed, tolerance=args.tolerance, tell=tell)
    within = sums or args.tolerance
    how = f"within {within:g} of the largest" + (", since devices add up floats" if sums else "") \
        if within else "bit by bit"
    inputs = args.sample[0] if files else f"random inputs, seed {args.seed}"
    return f"equal: {n} outputs, {how}, optimisations off, on {inputs}"


def _run(args: argparse.Namespace, tell: Teller) -> Tuple[str, str]:
    """Runs the samples. Returns the figures ("": no sample came to its end), and the number of samples in words if
    Ctrl-C has ended the run, else ""."""
    runner = Runner(args.folder, parse_providers(args.provider), threads=args.threads, tell=tell)
    if args.state and not runner.states:
        raise SplitError("--state: the model keeps no state that pcc knows of (pcc --state in=out says which)")
    if args.output:
        Path(args.output).mkdir(parents=True, exist_ok=True)
    samples = _Samples(args, runner, tell)
    shapes: List[str] = []
    stopped = ""
    clock = _Clock()
    tell(f"sample 1 of {samples.total}")
    try:
        for outputs in runner.stream(samples, in_flight=args.pipeline, state=args.state):
            clock.came()
            left = (samples.total - clock.n) * clock.each()
            tell(f"{clock.n} of {samples.total} samples, {_time(clock.each())} each, {left:.0f} s left")
            shapes = shapes or [f"output {k} {list(getattr(v, 'shape', []))}" for k, v in outputs.items()]
            if args.output:
                write_outputs(Path(args.output) / f"sample{clock.n - 1}.npz", outputs)
    except KeyboardInterrupt:
        stopped = f"stopped after {clock.n} of {samples.total} samples"
    notes = ["with the reading of files"] * samples.late + ["with the writing of outputs"] * bool(args.output)
    if clock.n < 2:  # there is no time of each sample that the notes could be about
        notes = []
    return _figures(runner, clock, notes, shapes) if clock.n else "", stopped


def _sizes_hint(args: argparse.Namespace) -> str:
    """Notes for the user of a model that does not run on random inputs: their sizes, and how to give others."""
    dims = read_manifest(args.folder).get("dims", {})
    sizes = printable(" ".join(f"{k}={v}" for k, v in dims.items()))
    if args.state:
        return "note: states grow, random inputs do not: give a SAMPLE.npz for each step"
    return f"note: the inputs were random, of the sizes that were planned for{sizes and ': '}{sizes}\n" \
           "note: if the model wants others, give SAMPLE.npz, or plan with pcc --dim NAME=N"


def _parse(argv: Optional[List[str]]) -> argparse.Namespace:
    p = argparse.ArgumentParser(description="Runs the parts of a split folder in ONNX Runtime.")
    p.add_argument("sample", nargs="*", metavar="SAMPLE",
                   help=".npz (arrays by input name), or ONNX test data: a folder, or input_0.pb ... (default: random)")
    p.add_argument("--folder", default=str(Path(__file__).resolve().parent), help="the split (default: this file's)")
    p.add_argument("--samples", type=int, default=0, metavar="N", help="how many (default: as many as files, or 1)")
    p.add_argument("--output", metavar="DIR", help="keep the outputs as DIR/sampleK.npz")
    p.add_argument("--provider", action="append", default=[], metavar="DEVICE=PROVIDER[:OPTIONS]",
                   help="acc0=cuda:0, acc1=openvino:device_type=NPU,..., or of a class: a100=cuda (default: cpu)")
    p.add_argument("--pipeline", type=int, default=1, metavar="N", help="samples on their way at once (default: 1)")
    p.add_argument("--state", action="store_true", help="feed states back from sample to sample")
    p.add_argument("--threads", type=int, default=0, metavar="N", help="of each session (default: ONNX Runtime's)")
    p.add_argument("--seed", type=int, default=0, help="of random inputs")
    p.add_argument("--verify", metavar="MODEL", help="compare the parts with the whole model")
    p.add_argument("--tolerance", type=float, metavar="T",
                   help="of --verify: share of an output's largest value by which its floats may differ (default: what "
                   "the manifest allows where devices add up floats, else 0)")
    args = p.parse_args(argv)
    if args.tolerance is not None and not 0 <= args.tolerance <= 1:
        p.error(f"--tolerance {args.tolerance:g}: expected a number from 0 to 1")
    if args.samples < 0 or args.pipeline < 1 or args.threads < 0:
        p.error("--samples and --threads cannot be negative, --pipeline is at least 1")
    unused = [f"--{k}" for k in ("samples", "output", "provider", "pipeline", "state", "threads")
              if args.verify and getattr(args, k) != p.get_default(k)]
    if unused:
        p.error(f"{unused[0]} has no place beside --verify, which runs one sample on the CPU, without optimisations")
    return args


def main(argv: Optional[List[str]] = None) -> int:
    args = _parse(argv)
    ort.set_default_logger_severity(4)
    try:
        with _Progress() as progress:
            figures, stopped = (_compare(args, progress.tell), "") if args.verify else _run(args, progress.tell)
        if figures:
            print(figures, flush=True)
        if stopped:
            print(stopped, file=sys.stderr)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return INTERRUPTED
    except (SplitError, OSError) as e:
        text = f"{e.filename}: {e.strerror}" if isinstance(e, OSError) and e.filename else str(e)
        print(printable(f"error: {text}"), file=sys.stderr)
        if isinstance(e, NoRun) and not args.sample:
            print(_sizes_hint(args), file=sys.stderr)
        return 2 if isinstance(e, BadOption) else 1
    return INTERRUPTED if stopped else 0


def _run_program() -> None:
    """Runs the program and ends the process, with Ctrl-C and closed pipes as other programs have them."""
    if hasattr(signal, "SIGPIPE"):  # a reader that has enough, as `head`, ends the program
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    listens = signal.getsignal(signal.SIGINT) is signal.SIG_DFL  # if Ctrl-C is ignored (nohup), it stays ignored
    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = main()
    if listens:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)


if __name__ == "__main__":
    _run_program()
