#!/usr/bin/env python3
"""A folder that may not be written into is noticed before anything is planned, for every kind of -o.

Also root may not write there: the capability to do so regardless is taken from pcc.

Exit: 0 pass, 1 fail, 77 skip (root's rights cannot be taken away here)."""
# once: sanitized
import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import test_early as base

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
LIBC = ctypes.CDLL(None)


def as_anybody():
    """In the child, before it becomes pcc: the rights of files count for root, too."""
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def main():
    with tempfile.TemporaryDirectory(prefix="pcc-unwritable-") as name:
        work = Path(name)
        model, locked = base.generate(work / "m.onnx"), work / "locked"
        locked.mkdir()
        (locked / "old").mkdir()
        for kind in base.FILES:
            (locked / f"old{kind}").write_text("mine")
        locked.chmod(0o555)
        if subprocess.run(["test", "-w", locked], preexec_fn=as_anybody).returncode == 0:
            print("skipped: this user may write into folders that forbid it")
            return 77
        for kind in base.KINDS:
            for name in (kind, f"old{kind}" if kind != "x" else "old"):
                base.refuse(work, "Permission denied", model, locked / name, preexec_fn=as_anybody)
        locked.chmod(0o755)
        split = work / "split"
        base.check(base.pcc(model, split).returncode == 0, "a first split")
        work.chmod(0o555)
        base.refuse(work, "Permission denied", model, split, preexec_fn=as_anybody)
        work.chmod(0o755)
        if os.geteuid() == 0:
            base.check(base.pcc(model, locked / "x").returncode == 0, "root writes where it may")
    return base.finish()


if __name__ == "__main__":
    sys.exit(main())
