"""What tests with ONNX Runtime share: where things are, a list of what failed.  Without onnx, numpy or ONNX
Runtime an import of this ends the test as skipped (77)."""
import contextlib
import functools
import gc
import io
import json
import os
import sys
import traceback
from pathlib import Path

import schema_fast
from checks import check, wrong as FAILED  # noqa: F401
from sanitized import SANITIZED

SKIP = 77
try:
    import numpy  # noqa: F401
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing.name} is not installed")
    sys.exit(SKIP)

SOURCE = Path(os.environ.get("PCC_SOURCE", Path(__file__).resolve().parents[2]))
PCC = os.environ.get("PCC", str(SOURCE / "build/release/pcc"))
GEN = os.environ.get("PCC_GEN", str(Path(PCC).parent / "pcc-gen"))
sys.path.insert(0, str(SOURCE / "tools"))
sys.dont_write_bytecode = True


@functools.cache
def schema_of(name):
    return schema_fast.Schema(json.loads((SOURCE / f"backends/split/{name}.schema.json").read_text(encoding="utf-8")))


def quickly(schema_error):
    """verify_split.schema_error(), which asks jsonschema only about what schema_fast does not find good."""
    def error(name, text):
        try:
            good = schema_of(name).accepts(json.loads(text))
        except KeyError:  # it does not know
            good = False
        return None if good else schema_error(name, text)
    return error


def verified(*args):
    """tools/verify_split.py in this process, which has its libraries loaded already: exit code and text."""
    first = "verify_split" not in sys.modules
    import verify_split  # noqa: E402  (needs more libraries than this page)
    if first:
        verify_split.schema_error = quickly(verify_split.schema_error)
        gc.freeze()  # its collections then pass over the libraries' objects
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = verify_split.main([str(a) for a in args])
        except SystemExit as end:
            code = end.code
        except Exception:  # an uncaught one: exit code 1, as the program's
            traceback.print_exc()
            code = 1
    return code, said.getvalue().strip()


def verified_once(*args):
    """The same; with sanitizers nothing is run: the parts are those of other builds, which are verified there."""
    return (0, "not run again") if SANITIZED else verified(*args)
