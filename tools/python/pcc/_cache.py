"""Splits that pcc.Session keeps for the next run.

A split lies in ROOT/KEY, where KEY is a hash of all that it depends on: the model's bytes, which files have its weights
and when they changed, devices, settings, and the content of files that the settings name. ROOT is $PCC_CACHE, else pcc
in $XDG_CACHE_HOME or ~/.cache; it must belong to the user alone, since its models are run. Beside KEY lies KEY.lock: a
process that uses a split shares the lock with other users, a process that makes or removes a split holds its lock
alone. So of two processes that want the same split one waits until the other has made it, and a split in use is not
removed. When splits take more than $PCC_CACHE_LIMIT bytes (default: 16 GiB), the splits that were opened longest ago
are removed, with their locks; so a lock counts only if it is still the file at its path. O(bytes of the model's
file)."""
from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import mmap
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

_LIMIT = 16 << 30
# the bytes of an entry {key: "location", value: ...} of external data, up to the value's length
_LOCATION = b"\n\x08location\x12"
_TRIES = 3  # how often fetch() looks for a split that was just made; another process may remove it in between


class NoCache(Exception):
    """The reason why no cache can be used."""


class Kept:
    """A split folder that is not removed as long as this object lives and is not closed."""

    def __init__(self, folder: Path, keeper: Any):
        self.folder = folder
        self._keeper = keeper  # the locked file, or the temporary folder

    def close(self) -> None:
        """Gives up the split: unlocks it, or removes it if it lies in a temporary folder."""
        keeper, self._keeper = self._keeper, None
        if isinstance(keeper, tempfile.TemporaryDirectory):
            keeper.cleanup()
        elif keeper:
            keeper.close()


def root() -> Path:
    """The folder of the cache."""
    named = os.environ.get("PCC_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pcc"


def _limit() -> int:
    """The bytes that all splits together may take."""
    text = os.environ.get("PCC_CACHE_LIMIT", str(_LIMIT))
    if not text.isdecimal():
        raise NoCache(f"PCC_CACHE_LIMIT '{text}': expected a number of bytes")
    return int(text)


# ---------------------------------------------------------------- what a split depends on


@contextlib.contextmanager
def _content(path: Path) -> Iterator[Any]:
    """The bytes of a file, which need not fit into memory."""
    with open(path, "rb") as f:
        if os.fstat(f.fileno()).st_size == 0:
            yield b""
            return
        with mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def _locations(data: Any) -> Iterable[str]:
    """The names of the files that an ONNX model names for its weights, sorted, and perhaps other texts: the model is
    only searched for _LOCATION, not parsed."""
    found = set()
    for m in re.finditer(re.escape(_LOCATION), data):
        n, at, shift = 0, m.end(), 0  # n: length of the name, a varint of 7 bits a byte, the lowest first
        while at < len(data) and shift < 28:
            n |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:  # the last byte of the varint
                break
        found.add(bytes(data[at:at + min(n, 4096)]).decode("utf-8", "replace"))
    return sorted(found)


def _stamp(path: Path) -> str:
    """A text that changes if the path gets another file or the file changes: device number, inode, size and the times
    of the last changes; the file is not read. Copies may keep st_mtime; nothing sets st_ctime back."""
    try:
        st = path.stat()
    except (OSError, ValueError):
        return "none"
    return f"{st.st_dev} {st.st_ino} {st.st_size} {st.st_mtime_ns} {st.st_ctime_ns}"


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value of settings, at any depth: keys, values, elements, and paths as text."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, (str, os.PathLike)):
        yield os.fspath(value)


def _named_files(words: Any) -> Iterator[Path]:
    """The files that settings name: costs="times.csv:cpu", pin="@pins.txt", pipeline="plan{from=plan.json}". Tries all
    that could be a name in a text; a file that is found although no setting means it does no harm."""
    for text in _texts(words):
        for name in {text, text.lstrip("@"), text.rpartition(":")[0], *re.findall(r"=([^,:}]+)", text)}:
            with contextlib.suppress(OSError, ValueError):
                if name and Path(name).is_file():
                    yield Path(name)


def key(model: Union[Path, bytes], words: Mapping[str, Any]) -> str:
    """The key of the split that a model and settings give: a hash of all that the split depends on. model: path of the
    model, or its bytes. Raises OSError."""
    made = hashlib.blake2b(json.dumps(words, sort_keys=True, default=str).encode(), digest_size=20)
    folder = model.parent if isinstance(model, Path) else Path()
    with _content(model) if isinstance(model, Path) else contextlib.nullcontext(model) as data:
        made.update(data)
        for name in _locations(data):
            made.update(f"\0{name}\0{_stamp(folder / name)}".encode())
    for path in sorted(set(_named_files(words))):
        with _content(path) as data:
            made.update(f"\0{path}\0".encode() + hashlib.blake2b(data).digest())
    return made.hexdigest()


# ---------------------------------------------------------------- the folder


def _prepare(folder: Path) -> None:
    """Makes the cache's folder, which others must not be able to change."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        st = folder.stat()
    except OSError as e:
        raise NoCache(f"{folder}: {e.strerror}") from e
    if st.st_uid != os.geteuid():
        raise NoCache(f"{folder}: it belongs to another user")
    if st.st_mode & 0o022:
        raise NoCache(f"{folder}: other users can write to it (chmod go-w)")


def _complete(folder: Path) -> bool:
    """Whether the folder has a manifest, and all files of parts and weights that the manifest lists."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        files = [p["file"] for p in manifest["parts"]] + manifest["weights"]["files"]
        return all((folder / f).is_file() for f in files)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _bytes(folder: Path) -> int:
    """The bytes of all files in a folder and in folders below it."""
    return sum(p.lstat().st_size for p in folder.rglob("*") if p.is_file())


def _opened(path: Path) -> Any:
    """Opens a lock file, which is made if there is none. Raises NoCache."""
    try:
        return open(path, "ab")  # pylint: disable=consider-using-with
    except OSError as e:
        raise NoCache(f"{path}: {e.strerror}") from e


def _locked_alone(file: Any) -> bool:
    """Locks a file, or a folder's descriptor, for this process alone. Returns False, at once, if another process has it
    locked."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(file: Any, path: Path) -> bool:
    """Whether the open file is still the file at that path, which another process may have removed or replaced."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def _drop_unfinished(folder: Path) -> None:
    """Removes unfinished splits of killed processes: folders .KEY.pcc-XXXXXX, which pcc keeps locked while it writes
    them."""
    for left in folder.glob(".*.pcc-??????"):
        with contextlib.suppress(OSError):
            opened = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if _locked_alone(opened):
                    shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(opened)


def _make_room(folder: Path, limit: int) -> None:
    """Removes splits that are not in use, with their locks, until all splits together take at most `limit` bytes: first
    those that were opened longest ago. Also removes locks without a split. folder: of the cache."""
    with contextlib.suppress(OSError):
        splits: List[Tuple[float, Path, int]] = sorted(
            (lock.stat().st_mtime, lock, _bytes(lock.with_suffix(""))) for lock in folder.glob("*.lock"))
        total = sum(size for _, _, size in splits)
        for _, path, size in splits:
            if total <= limit and path.with_suffix("").is_dir():
                continue
            with open(path, "ab") as lock:
                if _locked_alone(lock) and _is_at(lock, path):
                    shutil.rmtree(path.with_suffix(""), ignore_errors=True)
                    path.unlink()
                    total -= size


def fetch(name: str, make: Callable[[Path], None], folder: Optional[Path] = None) -> Kept:
    """The split of that name in the cache, locked against removal; if it is not there, make(FOLDER) writes it. Then
    also makes room for it in the cache. folder: the cache's folder (None: root()). Raises NoCache, and the errors of
    make()."""
    base, limit = folder or root(), _limit()
    _prepare(base)
    path = base / f"{name}.lock"
    lock = _opened(path)
    try:
        for _ in range(_TRIES):  # again if another process removes the split or the lock in between
            if _locked_alone(lock) and _is_at(lock, path) and not _complete(base / name):
                shutil.rmtree(base / name, ignore_errors=True)
                make(base / name)
            fcntl.flock(lock, fcntl.LOCK_SH)  # waits only for a process that makes or removes it
            if not _is_at(lock, path):
                lock.close()
                lock = _opened(path)
            elif _complete(base / name):
                os.utime(path)  # the time at which the split was opened
                _drop_unfinished(base)
                _make_room(base, limit)
                return Kept(base / name, lock)
    except BaseException:
        lock.close()
        raise
    lock.close()
    raise NoCache(f"{base / name}: it lacks files, but another session uses it, or it was removed while it was made")


def temporary(make: Callable[[Path], None]) -> Kept:
    """A split that make(FOLDER) writes into a temporary folder, which is removed when the result is closed."""
    folder = tempfile.TemporaryDirectory(prefix="pcc-")  # pylint: disable=consider-using-with
    try:
        make(Path(folder.name) / "split")
    except BaseException:
        folder.cleanup()
        raise
    return Kept(Path(folder.name) / "split", folder)
