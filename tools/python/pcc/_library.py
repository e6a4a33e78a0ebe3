"""libpcc by ctypes: what pcc.h declares, handles as objects, and errors as exceptions.

The library is loaded when it is first needed. It is looked for in $PCC_LIBRARY (a file), beside this file (a wheel),
in the build folder of the tree that this file is in or the lib folder of an installation, and where the system's loader
looks."""
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import threading
import warnings
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Type

from ._words import in_python, option_name

VERSION = "0.1.0"
SONAME = "libpcc.so." + ".".join(VERSION.split(".")[:2])
LEVELS = ("note", "warning", "error")


@dataclass(frozen=True)
class Diagnostic:
    """A message of pcc: level is "note", "warning" or "error"; name is the name of a warning, else None. The text has
    settings as Python has them."""

    level: str
    name: Optional[str]
    text: str

    def __str__(self) -> str:
        return f"{self.level}: {self.text}" + (f" [-W{self.name}]" if self.name and self.level == "warning" else "")


class PccError(Exception):
    """An error of pcc in one line; `diagnostics` has all messages of the run."""

    def __init__(self, text: str, diagnostics: Tuple[Diagnostic, ...] = ()):
        super().__init__(text)
        self.diagnostics = diagnostics


class BadInput(PccError):
    """A model, or a file that a setting names, is not as it should be."""


class BadUse(PccError):
    """A setting, pass or text that does not exist, a wrong value, or calls in a wrong order."""


class NoPlan(PccError):
    """No plan fits the devices."""


class Unverified(PccError):
    """A check of pcc's own failed: a fault of pcc."""


class OutOfMemory(PccError):
    """Memory ran out."""


class RunError(PccError):
    """A split does not run, or not as the whole model does."""


class PccWarning(UserWarning):
    """A warning of pcc; its text ends with its name, which warnings="no-NAME" switches off."""


STATUS: Dict[int, Type[PccError]] = {1: BadInput, 2: BadUse, 3: NoPlan, 4: Unverified, 5: OutOfMemory}


@dataclass(frozen=True)
class Progress:
    """How far planning is (struct pcc_progress). at: the pass at work ("" while the model is read); phase: what it does
    now; done: the share of the phase that is done, 0 to 1; best, bound: the best time so far and the bound, in seconds,
    or None."""

    at: str
    phase: str
    done: float
    best: Optional[float]
    bound: Optional[float]


class _Progress(ctypes.Structure):
    """struct pcc_progress"""

    _fields_ = [("pass_", ctypes.c_char_p), ("phase", ctypes.c_char_p), ("done", ctypes.c_uint32),
                ("best", ctypes.c_int64), ("bound", ctypes.c_int64)]


_MESSAGE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Progress))


class _Listener(ctypes.Structure):
    """struct pcc_listener"""

    _fields_ = [("user", ctypes.c_void_p), ("message", _MESSAGE), ("progress", _PROGRESS)]


class _Device(ctypes.Structure):
    """struct pcc_device"""

    _fields_ = [("name", ctypes.c_char_p), ("device_class", ctypes.c_char_p), ("load", ctypes.c_int64),
                ("compute", ctypes.c_int64), ("transfer", ctypes.c_int64), ("memory", ctypes.c_int64),
                ("used", ctypes.c_int64)]


class _Node(ctypes.Structure):
    """struct pcc_node"""

    _fields_ = [("name", ctypes.c_char_p), ("op", ctypes.c_char_p), ("device", ctypes.c_int32),
                ("part", ctypes.c_int32)]


class Verdict(ctypes.Structure):
    """struct pcc_verdict"""

    _fields_ = [("planner", ctypes.c_char_p), ("status", ctypes.c_char_p), ("scope", ctypes.c_char_p),
                ("argument", ctypes.c_char_p), ("proof", ctypes.c_char_p),
                ("objective", ctypes.c_char_p), ("value", ctypes.c_int64),
                ("bound", ctypes.c_int64), ("bound_all", ctypes.c_int64), ("nparts", ctypes.c_uint32),
                ("ndevices", ctypes.c_uint32), ("device", ctypes.POINTER(_Device)), ("nnodes", ctypes.c_uint32),
                ("node", ctypes.POINTER(_Node))]


def text_of(raw: Optional[bytes]) -> str:
    """A text of the library as Python has it; "" for NULL."""
    return (raw or b"").decode("utf-8", "replace")


# ---------------------------------------------------------------- loading


def _candidates() -> List[str]:
    """The paths at which the library may be, the best first; SONAME alone, which the system's loader looks for, if
    there is none."""
    here = Path(__file__).resolve().parent
    found = [os.environ.get("PCC_LIBRARY", "")]
    tree = here.parent.parent.parent  # if this is tools/python/pcc: the source tree, or PREFIX/share/pcc
    places = [here / "lib", tree / "build/release", tree / "build/dist"]
    if tree.parent.name == "share":
        places += [*sorted(tree.parent.parent.glob("lib*")), *sorted(tree.parent.parent.glob("lib/*-linux-*"))]
    found += [str(p / SONAME) for p in places if (p / SONAME).exists()]
    return [f for f in found if f] or [SONAME]


_CALLS = {
    "pcc_version": (ctypes.c_char_p, []),
    "pcc_new": (ctypes.c_void_p, []),
    "pcc_free": (None, [ctypes.c_void_p]),
    "pcc_listen": (None, [ctypes.c_void_p, ctypes.POINTER(_Listener)]),
    "pcc_error": (ctypes.c_char_p, [ctypes.c_void_p]),
    "pcc_stop": (None, [ctypes.c_void_p]),
    "pcc_set": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]),
    "pcc_open": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
    "pcc_open_memory": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]),
    "pcc_plan": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
    "pcc_verdict": (ctypes.POINTER(Verdict), [ctypes.c_void_p]),
    "pcc_text": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_char_p]),
    "pcc_write": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
    "pcc_recompose": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]),
}
_lock = threading.Lock()  # guards _loaded and _settings
_loaded: List[Any] = []  # the library, once it is loaded
_settings: Dict[str, Dict[str, Any]] = {}  # library_settings()


def library() -> Any:
    """The shared library, loaded once. Raises PccError if it is not there or of another version."""
    with _lock:
        if _loaded:
            return _loaded[0]
        path = _candidates()[0]
        try:
            lib = ctypes.CDLL(path)
            for name, (result, arguments) in _CALLS.items():
                call = getattr(lib, name)
                call.restype, call.argtypes = result, arguments
        except (OSError, AttributeError) as e:
            raise PccError(f"the library {path} cannot be loaded: {e}: set PCC_LIBRARY to the file {SONAME}") from e
        found = text_of(lib.pcc_version())
        if found.split(".")[:2] != VERSION.split(".")[:2]:
            raise PccError(f"the library {path} is pcc {found}, expected {VERSION}: set PCC_LIBRARY to another one")
        _settings.update(_read_settings(lib))
        _loaded.append(lib)
        return lib


def _read_settings(lib: Any) -> Dict[str, Dict[str, Any]]:
    """All settings of the library, by name (library_settings())."""
    p = lib.pcc_new()
    try:
        rows = json.loads(lib.pcc_text(p, b"settings") or b"[]") if p else []
    finally:
        lib.pcc_free(p)
    return {row["name"]: row for row in rows}


def library_settings() -> Dict[str, Dict[str, Any]]:
    """All settings by name, each with "name", "kind", "words", "repeats" and "help" (pcc.h, pcc_text)."""
    library()
    return _settings


def words(text: str) -> str:
    """A message in Python's words."""
    return in_python(text, _settings, [n for n, row in _settings.items() if row["repeats"]])


# ---------------------------------------------------------------- handles


@contextlib.contextmanager
def _interrupts(raised: List[BaseException]) -> Iterator[None]:
    """Context for a call of the library, in which Ctrl-C may be pressed. The exception of its handler would be lost in
    a function that the library calls, so it is appended to `raised`; the next report of progress then tells the planner
    to stop."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # only the main thread may set handlers
        return

    def keep(number: int, frame: Any) -> None:
        """Calls the handler and keeps its exception."""
        try:
            before(number, frame)
        except BaseException as e:  # pylint: disable=broad-except
            raised.append(e)

    signal.signal(signal.SIGINT, keep)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _outside() -> int:
    """The stacklevel with which warnings.warn() in the calling function points at the line outside of this package that
    called it."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        level, frame = level + 1, frame.f_back
    return level


class Handle:
    """A struct pcc of the library. Only one thread at a time makes calls for it; others wait."""

    def __init__(self, progress: Optional[Callable[[Progress], Any]] = None):
        self.lib = library()
        self.p = self.lib.pcc_new()
        if not self.p:
            raise OutOfMemory("out of memory")
        self.diagnostics: List[Diagnostic] = []
        self.lock = threading.RLock()
        self.raised: List[BaseException] = []  # exceptions that functions raised which the library called
        self.given: Dict[str, List[str]] = {}  # values of settings, by the library's names
        self._listener = self._listen(progress)
        self._end = weakref.finalize(self, self.lib.pcc_free, self.p)

    def close(self) -> None:
        """Frees all that the library holds; nothing but `diagnostics` is of use afterwards."""
        with self.lock:
            self._end()
            self.p = None

    def _listen(self, progress: Optional[Callable[[Progress], Any]]) -> Any:
        """Has the library add its messages to self.diagnostics and report its progress to `progress`. Returns the
        struct with both functions, which must live as long as the handle."""
        said, raised, lib, handle = self.diagnostics, self.raised, self.lib, self.p

        def message(_: Any, level: int, name: Optional[bytes], line: Optional[bytes]) -> None:
            """pcc_listener.message"""
            said.append(Diagnostic(LEVELS[level], text_of(name) if name else None, words(text_of(line))))

        def seconds(ps: int) -> Optional[float]:
            """Picoseconds in seconds; None for 0, which stands for no plan or no bound yet."""
            return ps / 1e12 if ps > 0 else None

        def at_work(_: Any, at: Any) -> int:
            """pcc_listener.progress: 1 ends the work, because `progress` says so or a function has raised."""
            try:
                if raised:
                    lib.pcc_stop(handle)  # what is being written ends, too
                    return 1
                if progress is None:
                    return 0
                a = at.contents
                return int(bool(progress(Progress(text_of(a.pass_), text_of(a.phase), a.done / 1000, seconds(a.best),
                                                  seconds(a.bound)))))
            except BaseException as e:  # pylint: disable=broad-except
                raised.append(e)
                lib.pcc_stop(handle)
                return 1

        listener = _Listener(None, _MESSAGE(message), _PROGRESS(at_work))
        self.lib.pcc_listen(self.p, ctypes.byref(listener))
        return listener

    def call(self, name: str, *args: Any) -> Any:
        """Calls the function `name` of pcc.h for this handle and returns its result; its warnings become Python's.
        Raises the exception for its status, if that is no success, or an exception of a function that the library has
        called meanwhile."""
        with self.lock:
            if not self.p:
                raise BadUse(f"{name.replace('pcc_', '')}: the plan is closed")
            before = len(self.diagnostics)
            self.raised.clear()
            with _interrupts(self.raised):
                result = getattr(self.lib, name)(self.p, *args)
            new = self.diagnostics[before:]
            if self.raised:
                raise self.raised.pop()
            failed = _CALLS[name][0] is ctypes.c_int and result != 0
            if failed:
                kind = STATUS.get(result, PccError)
                text = words(text_of(self.lib.pcc_error(self.p)))
                text = text or ("out of memory" if kind is OutOfMemory else name)
                raise kind(text, tuple(self.diagnostics))
        for d in new:
            if d.level == "warning":
                warnings.warn(PccWarning(f"{d.text} [{d.name}]"), stacklevel=_outside())
        return result

    def set(self, name: str, value: Any) -> None:
        """Sets a setting to a value as Python has it: for_ is "for"; True sets a flag, {"a": 1} is "a=1", None and
        False set nothing. A list has all values of a setting that repeats, or the items of a setting that is made of
        items; for any other setting it must have one value."""
        if value is None or value is False:
            return
        row = _settings.get(option_name(name))  # None: the library says that there is no such setting
        if isinstance(value, dict):
            value = [f"{k}={v}" for k, v in value.items()]
        if isinstance(value, (list, tuple)):
            if row and not row["repeats"]:
                value = [_joined(name, row["kind"], value)]
            for one in value:
                self.set(name, one)
            return
        text = _text(value)
        self.call("pcc_set", _raw(option_name(name), "a setting"), _raw(text, f"the setting '{name}'"))
        self.given.setdefault(row["name"] if row else name, []).append(text)

    def text(self, what: str) -> str:
        """A text of pcc_text(): "table", "json", ... Raises BadUse if there is no such text."""
        with self.lock:
            raw = self.call("pcc_text", _raw(what, "a text"))
            if raw is None:
                raise BadUse(words(text_of(self.lib.pcc_error(self.p))), tuple(self.diagnostics))
            return words(text_of(raw)) if what in ("table", "summary") else text_of(raw)

    @contextlib.contextmanager
    def setting(self, name: str, value: str) -> Iterator[None]:
        """Context in which a setting has only this value; at its end the setting gets back the values from before."""
        with self.lock:
            before = self.given.pop(name, [])  # name: as the library has it
            try:
                self.set(name, value)
                yield
            finally:
                self.call("pcc_set", name.encode(), None)
                self.given.pop(name, None)
                for one in before:
                    self.set(name, one)


def _text(value: Any) -> str:
    """A value of a setting as the text that the library takes: "" for True."""
    return "" if value is True else os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _joined(name: str, kind: str, values: Sequence[Any]) -> Any:
    """The value of a setting that does not repeat, made of a list: all items with commas between them, if the setting
    is made of items; else the only item. Raises BadUse."""
    if not values:
        raise BadUse(f"{name}: expected a value, found an empty list")
    if name == "devices" or kind == "set":
        return ",".join(map(_text, values))
    if len(values) > 1:
        raise BadUse(f"{name}: expected one value, found {len(values)}: {values!r}")
    return values[0]


def _raw(text: str, what: str) -> bytes:
    """A text as bytes for the library; what: says in an error what the text is. Raises BadUse."""
    if "\0" in text:
        raise BadUse(f"{what} has a NUL in it: {text!r}")
    return os.fsencode(text)


def path_bytes(path: Any) -> bytes:
    """A path as bytes for the library. Raises BadUse."""
    return _raw(os.fspath(path), "a path")
