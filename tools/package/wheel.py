#!/usr/bin/env python3
"""The two steps of wheel.sh that are its own.

    wheel.py pack BUILD OUT        a wheel of tools/python with the programs and the library of a build folder, stripped
                                   (and what cmake installs in share/)
    wheel.py licenses BUILD WHEEL  adds the licence texts of the libraries that auditwheel has put into it

A wheel is a zip file with a list of its files; pip needs no more than is written here (PyPA's specification of binary
distributions). Licences are what Debian says of the package that a library came from, and the texts that it refers to.
Equal files give an equal wheel."""
import base64
import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "pcc_onnx"
COMMON = Path("/usr/share/common-licenses")
METADATA = """Metadata-Version: 2.1
Name: pcc-onnx
Version: {version}
Summary: Splits neural networks (ONNX) over several devices
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: run
Requires-Dist: onnxruntime; extra == "run"
Requires-Dist: numpy; extra == "run"
Provides-Extra: measure
Requires-Dist: jsonschema; extra == "measure"
Requires-Dist: ml_dtypes; extra == "measure"
Requires-Dist: numpy; extra == "measure"
Requires-Dist: onnx; extra == "measure"
Requires-Dist: onnxruntime; extra == "measure"
Description-Content-Type: text/markdown

{text}"""
WHEEL = "Wheel-Version: 1.0\nGenerator: pcc\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"
ENTRIES = "[console_scripts]\npcc = pcc._program:pcc\npcc-gen = pcc._program:pcc_gen\n" \
    "pcc-profile = pcc._program:pcc_profile\npcc-run = pcc._program:pcc_run\npcc-bench = pcc._program:pcc_bench\n" \
    "pcc-verify = pcc._program:pcc_verify\n"
FIXED = (1980, 1, 1, 0, 0, 0)  # the date of each file in a wheel, so that equal files give an equal wheel


def write_wheel(path, files):
    """Writes a wheel. files: {name: (bytes, whether it may be run)}, with the file WHEEL; RECORD, the list of all files
    with their hashes, is made here and put into `files`."""
    info = next(n for n in files if n.endswith(".dist-info/WHEEL")).rsplit("/", 1)[0]
    files.pop(f"{info}/RECORD", None)
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name][0]).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(files[name][0])])
    rows.writerow([f"{info}/RECORD", "", ""])
    files[f"{info}/RECORD"] = (record.getvalue().encode(), False)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name in sorted(files, key=lambda n: (n.startswith(info), n)):
            entry = zipfile.ZipInfo(name, FIXED)
            entry.external_attr = (0o100755 if files[name][1] else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, files[name][0])


def read_wheel(path):
    """The files of a wheel, as for write_wheel()."""
    with zipfile.ZipFile(path) as z:
        return {i.filename: (z.read(i), bool(i.external_attr >> 16 & 0o100)) for i in z.infolist() if not i.is_dir()}


def stripped(path):
    """The bytes of a program or library without its symbols."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "file"
        subprocess.run(["strip", "-o", copy, path], check=True)
        return copy.read_bytes()


def shared_files(build, info):
    """The files that cmake installs in share/, as for write_wheel(). Files of share/pcc come into the package, where
    its programs look for them; manual pages, completions and pages come into the share/ of the environment. info:
    folder of the wheel's metadata."""
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cmake", "--install", build, "--prefix", folder, "--component", "share"], check=True,
                       stdout=subprocess.DEVNULL)
        share = Path(folder) / "share"
        for path in (p for p in share.rglob("*") if p.is_file()):
            name = path.relative_to(share).as_posix()
            if name.startswith("pcc/"):
                to = f"pcc/share/{name.removeprefix('pcc/')}"
            else:
                to = f"{info.removesuffix('.dist-info')}.data/data/share/{name}"
            files[to] = (path.read_bytes(), os.access(path, os.X_OK))
    return files


def version():
    """The version of pcc, as CMakeLists.txt says."""
    return re.search(r"project\(pcc VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def pack(build, out):
    """Writes the wheel into the new folder `out`, with the programs and the library of the folder `build`."""
    said = version()
    package = ROOT / "tools/python"
    files = {}
    for path in sorted((package / "pcc").glob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            files[f"pcc/{path.name}"] = (path.read_bytes(), False)
    soname = "libpcc.so." + ".".join(said.split(".")[:2])
    files[f"pcc/lib/{soname}"] = (stripped(build / soname), True)
    for program in ("pcc", "pcc-gen", "pcc-profile", "pcc-run", "pcc-verify"):
        files[f"pcc/bin/{program}"] = (stripped(build / program), True)
    info = f"{NAME}-{said}.dist-info"
    files.update(shared_files(build, info))
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    text = (package / "README.md").read_text(encoding="utf-8")
    files[f"{info}/METADATA"] = (METADATA.format(version=said, text=text).encode(), False)
    files[f"{info}/WHEEL"] = (WHEEL.format(platform=platform).encode(), False)
    files[f"{info}/entry_points.txt"] = (ENTRIES.encode(), False)
    files[f"{info}/licenses/LICENSE"] = ((ROOT / "LICENSE").read_bytes(), False)
    out.mkdir(parents=True)
    write_wheel(out / f"{NAME}-{said}-py3-none-{platform}.whl", files)


def linked(build):
    """{name without version: file} of every library that the programs and libpcc need, under the name by which it is
    linked and the name of its file."""
    found = {}
    programs = [build / name for name in ("pcc", "pcc-gen", "pcc-profile", "pcc-run", "pcc-verify")]
    for path in [*programs, *build.glob("libpcc.so.*")]:
        r = subprocess.run(["ldd", path], capture_output=True, text=True, check=True)
        for place in re.findall(r"=> (/\S+)", r.stdout):
            for name in (Path(place).name, Path(place).resolve().name):
                found[re.sub(r"\.so.*", "", name)] = Path(place).resolve()
    return found


def package_of(file):
    """The name of Debian's package that has a file; None: there is none. The package's list may have the file under
    /lib, which is a link to /usr/lib today, or the other way round."""
    names = {str(file), re.sub(r"^/usr/lib", "/lib", str(file)), re.sub(r"^/lib", "/usr/lib", str(file))}
    for name in sorted(names):
        r = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if r.returncode == 0:
            return r.stdout.split(":")[0].split(",")[0]
    return None


def license_of(library, file):
    """The licence of a library as Debian has it: its copyright file and the common licences to which that refers. Ends
    the program if none is known."""
    package = package_of(file) if file else None
    path = Path(f"/usr/share/doc/{package}/copyright")
    if not package or not path.is_file():
        sys.exit(f"wheel: no licence is known of {library} ({file}): build where it came in a package of Debian")
    text = path.read_text(encoding="utf-8", errors="replace")
    for name in sorted(set(re.findall(rf"{COMMON}/([\w.-]*\w)", text))):
        if (COMMON / name).is_file():
            text += f"\n\n---- {name}\n\n" + (COMMON / name).read_text(encoding="utf-8", errors="replace")
    return text


def add_licenses(build, wheel):
    """Adds to a wheel the licence of each library that auditwheel has put into it."""
    files = read_wheel(wheel)
    info = next(n for n in files if n.endswith(".dist-info/WHEEL")).rsplit("/", 1)[0]
    known = linked(build)
    for name in [n for n in files if n.startswith(f"{NAME}.libs/")]:
        library = re.sub(r"-[0-9a-f]{8}(?=\.)", "", os.path.basename(name))  # without the hash that auditwheel adds
        stem = re.sub(r"\.so.*", "", library)
        files[f"{info}/licenses/{stem}.txt"] = (license_of(library, known.get(stem)).encode(), False)
    write_wheel(wheel, files)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "licenses"):
        sys.exit(__doc__)
    build, path = Path(sys.argv[2]), Path(sys.argv[3])
    if sys.argv[1] == "pack":
        pack(build, path)
    else:
        add_licenses(build, path)


if __name__ == "__main__":
    main()
