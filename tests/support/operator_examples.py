"""The operator examples of the onnx package.  Working them out takes seconds of CPU, most of it in pooling written in
Python, and several tests want them: they are kept in this Python's own environment (build/venv), if it is one, where
the next test reads them.  Tests that run at the same time wait for the first."""
import fcntl
import os
import pickle
import sys
import tempfile
import warnings
from pathlib import Path

import numpy
import onnx


def collected():
    """All of them, worked out now."""
    from onnx.backend.test.case.node import collect_testcases
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return collect_testcases(None)


def examples():
    """A list of the package's TestCase: name, kind, model, data_sets.  Raises what the package does that has none."""
    if sys.prefix == sys.base_prefix or not os.access(sys.prefix, os.W_OK):
        return collected()
    kept = Path(sys.prefix) / f"operator_examples-{onnx.__version__}-{numpy.__version__}.pickle"
    with open(f"{kept}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if kept.exists():
            return pickle.loads(kept.read_bytes())
        found = collected()
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as whole:
            pickle.dump(found, whole, protocol=pickle.HIGHEST_PROTOCOL)
        os.replace(whole.name, kept)
        return found
