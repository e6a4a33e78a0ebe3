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


def state_of(model, *more):
    """By what a model, the files beside it that may be its weights, and what else counts are known again; None: too
    many files to ask, or another process removes one of them."""
    files = sorted(f for f in Path(model).parent.iterdir() if f.suffix not in (".json", ".dot", ".svg") and f.is_file())
    if len(files) > 1000:
        return None
    try:
        stats = [(str(f), s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for f in files for s in [f.lstat()]]
    except FileNotFoundError:
        return None
    return str(model), stats, more


def kept(function, key_of):
    """The function, which gives its last result again where a key says that it is asked the same; key None: never."""
    last = [None, None]

    def ask(*args):
        key = key_of(*args)
        if key is None or key != last[0]:
            last[:] = None, None
            last[:] = key, function(*args)
        return last[1]
    return ask


def keep_whole(v):
    """verify_split runs and judges a whole model once for splits of it that come one after the other."""
    checker_says = v.checker_says
    whole_says = kept(checker_says, state_of)
    v.checker_says = lambda path: (checker_says if path.name.startswith("part") else whole_says)(path)
    random_values = kept(v.random_values, state_of)
    v.random_values = lambda path: (set(random_values(path)[0]), random_values(path)[1])
    v.run_reference = kept(v.run_reference, lambda args, manifest, _: state_of(
        args.model, {k: str(x) for k, x in vars(args).items() if k not in ("split", "whole")}, manifest["inputs"],
        manifest.get("dims"), args.inputs and [(str(f), f.stat().st_mtime_ns) for f in Path(args.inputs).glob("*.pb")])
        if args.quiet else None)


def verified(*args):
    """tools/verify_split.py in this process, which has its libraries loaded already: exit code and text."""
    first = "verify_split" not in sys.modules
    import verify_split  # noqa: E402  (needs more libraries than this page)
    if first:
        verify_split.schema_error = quickly(verify_split.schema_error)
        keep_whole(verify_split)
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
