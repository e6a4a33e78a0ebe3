"""Extras of a test: what needs inputs, programs or rights that may be missing.

A script that has some names them near its beginning in a line "# extras: shared dot".  Each is a test of its own for
ctest, NAME/shared, that runs the script with --extra=shared (CMakeLists.txt); the script without --extra does what can
always be done.  So whatever is left out is counted as skipped, with its reason in the last line."""
import os
import sys
import tempfile
from pathlib import Path

SKIP = 77
# The folder of programs that are built for tests, such as unit_split and pcc-lying.
BUILT = Path(os.environ.get("PCC_BUILT") or Path(__file__).resolve().parents[2] / "build/dev/tests")


def extra():
    """The extra that is asked for, "" for what can always be done."""
    return next((a.removeprefix("--extra=") for a in sys.argv[1:] if a.startswith("--extra=")), "")


def need(there, what):
    """Ends the test as skipped if something is missing; what: "no program dot"."""
    if not there:
        print(f"skipped: {what}")
        sys.exit(SKIP)


def shared(below="."):
    """A file or folder of the shared inputs."""
    folder = Path(os.environ.get("PCC_SHARED") or "no-such-folder")
    need(folder.is_dir(), "no folder ../shared")
    need((folder / below).exists(), f"no {below} in ../shared")
    return folder / below


def another_disk(folder):
    """A temporary folder on another file system than this one."""
    shm = Path("/dev/shm")
    need(shm.is_dir() and shm.stat().st_dev != folder.stat().st_dev, "no second file system (/dev/shm)")
    return tempfile.TemporaryDirectory(dir=shm)
