"""The packages that cpack makes: tar, deb, rpm; and the image of the Dockerfile.

Each has programs, libraries, header, manual page, completions, schemas, pages and the licence. The deb is named
pcc-onnx, conflicts with Debian's pcc, and depends on the packages of all libraries that it needs; its programs run in a
fresh root with nothing but these. The rpm says the same of itself. The Dockerfile passes its linter and can be built.
Needs cmake and a build tree (else 77); what a package needs beside that may be missing, too."""
# extras: deb root rpm hadolint docker
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish
from sanitized import SANITIZED

ROOT = Path(__file__).resolve().parents[2]
PCC = os.environ.get("PCC", "pcc")
BUILD = Path(shutil.which(PCC) or PCC).resolve().parent
FILES = ["bin/pcc", "bin/pcc-gen", "bin/pcc-profile", "bin/pcc-run", "bin/pcc-bench", "lib/libpcc.so", "lib/libpcc.a",
         "include/pcc.h",
         "share/man/man1/pcc.1", "share/man/man1/pcc-profile.1", "share/man/man1/pcc-run.1",
         "share/bash-completion/completions/pcc", "share/zsh/site-functions/_pcc", "share/pcc/manifest.schema.json",
         "share/pcc/schedule.schema.json", "share/pcc/manifest.md", "share/doc/pcc-onnx/copyright",
         "share/doc/pcc-onnx/LICENSE", "share/doc/pcc-onnx/README.md", "share/doc/pcc-onnx/docs/install.md",
         "share/doc/pcc-onnx/passes/cost/costs.md", "share/pcc/tools/measure.py", "bin/pcc-verify",
         "share/man/man1/pcc-verify.1"]


def run(*command, good=True, **more):
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=900, **more)
    if good:
        check(r.returncode == 0, f"{' '.join(map(str, command))}: exit {r.returncode}: {(r.stdout + r.stderr)[-1500:]}")
    return r.stdout.strip()


def pack(kind, folder):
    """The one file that cpack makes."""
    extras.need(shutil.which("cpack"), "no program cpack")
    said = run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", kind, "-B", folder)
    found = re.findall(r"package: (/.*) generated", said)
    return Path(found[0]) if check(len(found) == 1, f"cpack -G {kind}: {said[-500:]}") else None


def has_files(names, prefix):
    for name in FILES:
        check(any(n.endswith(f"{prefix}/{name}") for n in names), f"the package lacks {name}")
    for name in names:
        check("/build/" not in name and not name.endswith(".o"), f"the package has {name}")


def tar(folder):
    path = pack("TGZ", folder)
    if path:
        check(path.name.startswith("pcc-onnx-"), path.name)
        with tarfile.open(path) as t:
            has_files(t.getnames(), "/usr" if any("/usr/" in n for n in t.getnames()) else "")


# ---------------------------------------------------------------- deb


def field(deb, name):
    return run("dpkg-deb", "-f", deb, name)


def needed(programs):
    """The files of the libraries that programs name themselves."""
    found = set()
    for program in programs:
        wanted = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", program))
        places = dict(re.findall(r"(\S+) => (/\S+)", run("ldd", program)))
        found |= {Path(places[n]).resolve() for n in wanted if n in places}
    return found


def package_of(file):
    for name in (file, str(file).removeprefix("/usr"), f"/usr{file}"):
        said = run("dpkg-query", "-S", name, good=False)
        if said:
            return said.split(":")[0]
    return f"nothing that has {file}"


def depended(text):
    return {re.split(r"[ :(]", d.strip().split("|")[0].strip())[0] for d in text.split(",") if d.strip()}


def deb(folder):
    for program in ("dpkg-deb", "dpkg-shlibdeps"):
        extras.need(shutil.which(program), f"no program {program}")
    path = pack("DEB", folder)
    if not path:
        return None
    listed = [line.split()[5] for line in run("dpkg-deb", "-c", path).splitlines()]
    has_files(listed, "./usr")
    check(field(path, "Package") == "pcc-onnx" and field(path, "Conflicts") == "pcc", "name, or what it conflicts with")
    version = run(PCC, "--version").split()[1]
    check(field(path, "Version") == version, f"version {field(path, 'Version')}, pcc says {version}")
    run("dpkg-deb", "-x", path, folder / "root")
    usr = folder / "root/usr"
    packages = {package_of(f) for f in needed([usr / "bin/pcc", usr / "bin/pcc-gen", usr / "lib/libpcc.so"])}
    depends = depended(field(path, "Depends"))
    check(packages <= depends, f"needs {sorted(packages - depends)} beside {sorted(depends)}")
    return path


def with_dependencies(names):
    """The installed packages among names, with all that they depend on."""
    found, todo = set(), sorted(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += depended(run("dpkg-query", "-W", "-f", "${Depends}\n", name, good=False).split("\n")[0])
    return sorted(found)


def bring(root, name):
    to = root / name.removeprefix("/")
    if not to.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(name, to)


def fresh_root(folder):
    extras.need(os.geteuid() == 0, "not root: no fresh root can be made")
    path = deb(folder)
    if not path:
        return
    root = folder / "root"
    for link in ("bin", "lib", "lib64", "sbin"):
        (root / "usr" / link).mkdir(exist_ok=True)
        (root / link).symlink_to(f"usr/{link}")
    packages = with_dependencies(depended(field(path, "Depends")))
    for package in packages:
        for name in run("dpkg-query", "-L", package, good=False).splitlines():
            if re.search(r"\.so(\.|$)|/ld-linux", name) and Path(name).is_file():
                bring(root, name)
    for place in re.findall(r"=> (/\S+)", run("ldd", root / "usr/bin/pcc")):
        if package_of(Path(place).resolve()) in packages:  # a name that the package makes when it is installed
            bring(root, place)
    here = ["chroot", root, "/usr/bin/pcc"]
    r = subprocess.run(["chroot", root, "/usr/bin/pcc", "--version"], capture_output=True, text=True)
    extras.need(r.returncode == 0 or "Operation not permitted" not in r.stderr, "chroot is not permitted")
    check(r.stdout.startswith("pcc "), f"in a fresh root: exit {r.returncode} {r.stdout}{r.stderr}")
    (root / "tmp").mkdir()
    run("chroot", root, "/usr/bin/pcc-gen", "gpt", "--layers", 1, "--width", 16, "--heads", 2, "--vocab", 20, "-o",
        "/tmp/m.onnx")
    run(*here, "/tmp/m.onnx", "-q", "-Wno-guessed-dim", "-o", "/tmp/split")
    check((root / "tmp/split/part1.onnx").is_file() and (root / "tmp/split/run_split.py").is_file(), "no split")
    loader = next(root.glob("lib64/ld-linux*"), None) or next(root.rglob("ld-linux*"))
    said = run("chroot", root, f"/{loader.relative_to(root)}", "--list", "/usr/lib/libpcc.so")
    check("not found" not in said, f"libpcc.so: {said}")


# ---------------------------------------------------------------- others


def rpm(folder):
    for program in ("rpmbuild", "rpm"):
        extras.need(shutil.which(program), f"no program {program}")
    path = pack("RPM", folder)
    if path:
        has_files(run("rpm", "-qlp", path).splitlines(), "/usr")
        check(run("rpm", "-qp", "--qf", "%{NAME}", path) == "pcc-onnx", "another name")
        check(run("rpm", "-qp", "--conflicts", path) == "pcc", "what it conflicts with")


def docker(folder):
    extras.need(shutil.which("docker"), "no program docker")
    extras.need(subprocess.run(["docker", "info"], capture_output=True).returncode == 0, "docker does not run here")
    run("docker", "build", "-q", "-t", "pcc-onnx-test", ROOT)
    check(run("docker", "run", "--rm", "pcc-onnx-test", "--version").startswith("pcc "), "the image")
    run("docker", "rmi", "pcc-onnx-test")


def main():
    if not (BUILD / "CPackConfig.cmake").is_file() or SANITIZED:
        print("skipped: PCC is in no build tree, or one with sanitizers")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder, what = Path(name), extras.extra()
        if what == "hadolint":
            extras.need(shutil.which("hadolint"), "no program hadolint")
            run("hadolint", ROOT / "Dockerfile")
        else:
            {"": tar, "deb": deb, "root": fresh_root, "rpm": rpm, "docker": docker}[what](folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
