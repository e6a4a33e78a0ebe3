"""Lit tests: pipelines on textual IR, checked by FileCheck.  Started by tests/support/run_lit.py, which
passes the programs in the environment; `out` (--param) is where temporary files go.

FileCheck is LLVM's where it is installed (it starts in 2 ms), else that of tools/requirements.txt, in Python (80 ms):
tests keep to what both understand."""
import glob
import os
import shlex
import sys

import lit.formats


def quoted(path):
    return shlex.quote(path.replace("\\", "/"))


config.name = "pcc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".pir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = lit_config.params.get("out", os.path.join(os.getcwd(), "lit"))

root = os.path.dirname(os.path.dirname(config.test_source_root))
candidates = [*sorted(glob.glob("/usr/lib/llvm-*/bin/FileCheck")),
              os.path.join(os.path.dirname(sys.executable), "filecheck")]
filecheck = next((f for f in candidates if os.path.exists(f)), "filecheck")

# Whole words only, and before lit's own %p, %s and %t.
config.substitutions += [
    (r"%pcc\b", quoted(os.environ.get("PCC", "pcc"))),
    (r"%gen\b", quoted(os.environ.get("PCC_GEN", "pcc-gen"))),
    (r"%python\b", quoted(sys.executable)),
    (r"%root\b", quoted(root)),
    (r"(%filecheck|\bFileCheck)\b", quoted(filecheck)),
]
