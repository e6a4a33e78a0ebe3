"""README.md and docs/ work as they say: each block of commands is run as written, in a folder of its own per page, with
a small model as model.onnx and a small profile as profile.txt; what a session shows must be what comes out, "..."
standing for anything. The Python of README.md runs the split that its commands made. The chart in README.md is what pcc
draws today.

Blocks marked `no-test` (setting up, building, packing: they need root and network) are left out: `test_docs.py --all`
runs them, and no others, in a fresh clone. The Python needs onnxruntime, else its check is left out and said."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish

ROOT = Path(__file__).resolve().parents[2]
PCC = Path(shutil.which(os.environ.get("PCC", "pcc")) or "pcc").resolve()
ENV = {**os.environ, "PATH": f"{PCC.parent}:{os.environ['PATH']}"}
MODEL = "gpt -o model.onnx --kv --layers 4 --width 64 --heads 4 --vocab 500"
PROFILE = "".join(f"node{k} -- Layer{k} -- forward_compute_time={k}.5, backward_compute_time={2 * k}.0, "
                  f"activation_size={64000000 // k}.0, parameter_size={40000 * k ** 4}.0\n" for k in range(1, 9)) \
    + "".join(f"\tnode{k} -- node{k + 1}\n" for k in range(1, 8))
CHART = "-d 3xa100 --link 300GB/s,2us -p auto-place -q -o demo.gantt.svg"


def shell(command, folder):
    return subprocess.run(["sh", "-ec", command], cwd=folder, env=ENV, capture_output=True, text=True, timeout=300)


def shown(expected, printed):
    """The first expected line that does not come, in its order; "..." in a line or as a line is anything."""
    lines = iter(printed.splitlines())
    for line in (e for e in expected if e != "..."):
        pattern = ".*".join(re.escape(part) for part in line.split("..."))
        if not any(re.fullmatch(pattern, got) for got in lines):
            return line
    return None


def session(text, folder, where):
    """Commands behind "$ ", and below each what it shows."""
    for step in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, *expected = step.rstrip("\n").split("\n")
        r = shell(command, folder)
        check(r.returncode == 0, f"{where}: {command}: exit {r.returncode}: {r.stderr[-300:]}")
        missing = shown(expected, r.stdout)
        check(missing is None, f"{where}: {command} does not show: {missing}")


def blocks(page, tested=True):
    """(kind, text, line) of each fenced block that is to be run, or of those that are not."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for m in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.M | re.S):
        if ("no-test" not in m[2]) == tested:
            yield m[1], m[3], text.count("\n", 0, m.start()) + 1


def run_page(page, model):
    """Runs what a page says; returns how many blocks that were."""
    n = 0
    with tempfile.TemporaryDirectory() as folder:
        r = shell(f"pcc-gen {model}", folder)
        check(r.returncode == 0, f"{page}: pcc-gen {model}: {r.stderr}")
        (Path(folder) / "profile.txt").write_text(PROFILE, encoding="utf-8")
        for kind, text, line in blocks(page):
            where = f"{page}:{line}"
            if kind == "sh":
                for command in text.replace("\\\n", " ").splitlines():
                    r = shell(command, folder)
                    check(r.returncode == 0, f"{where}: {command}: exit {r.returncode}: {r.stderr[-300:]}")
            elif kind == "console":
                session(text, folder, where)
            elif kind == "python":
                run_python(text, folder, where)
            n += kind in ("sh", "console", "python")
    return n


def run_python(text, folder, where, shows="logits (1, 128,"):
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        print(f"{where}: left out, there is no onnxruntime")
        return
    r = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, timeout=300)
    check(r.returncode == 0 and shows in r.stdout, f"{where}: {r.stdout}{r.stderr[-500:]}")


def other_models():
    """The Python of README.md runs a model with several inputs, and one with other types and shapes."""
    text = next(text for kind, text, _ in blocks("README.md") if kind == "python")
    for model, shows in ((MODEL, "present.3.value (1, 4, 256, 16)"),
                                ("resnet -o model.onnx --depth 18 --size 32 --width 8 --classes 10", "output (1, 10)")):
        with tempfile.TemporaryDirectory() as folder:
            r = shell(f"pcc-gen {model} && pcc model.onnx -q -Wno-guessed-dim --pictures=none -o split/", folder)
            check(r.returncode == 0, f"{model}: {r.stderr}")
            run_python(text, folder, f"README.md's Python, {model}", shows)


def chart():
    """docs/demo.gantt.svg is of the session in README.md."""
    with tempfile.TemporaryDirectory() as folder:
        gen = re.search(r"^\$ (pcc-gen .*)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)[1]
        r = shell(f"{gen} && pcc gpt.onnx {CHART}", folder)
        check(r.returncode == 0, f"chart: {r.stderr}")
        same = (Path(folder) / "demo.gantt.svg").read_bytes() == (ROOT / "docs/demo.gantt.svg").read_bytes()
        check(same, f"docs/demo.gantt.svg is not what pcc draws: pcc gpt.onnx {CHART}")


def docker_runs():
    return shutil.which("docker") and subprocess.run(["docker", "info"], capture_output=True).returncode == 0


def fresh():
    """The blocks that are not run otherwise, one after the other in a clone; what they install goes into a folder
    beside it. Without docker its command is left out and said."""
    pages = ["README.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "-q", str(ROOT), "pcc"], cwd=folder, check=True)
        ENV["DESTDIR"] = f"{folder}/installed"
        for page in pages:
            for kind, text, line in blocks(page, tested=False):
                for command in text.splitlines() if kind == "sh" else ():
                    where = f"{page}:{line}: {command}"
                    if command.startswith("docker") and not docker_runs():
                        print(f"{where}: left out, no docker runs here")
                        continue
                    r = subprocess.run(["sh", "-ec", command], cwd=f"{folder}/pcc", env=ENV, capture_output=True,
                                       text=True)
                    print(where, flush=True)
                    check(r.returncode == 0, f"{where}: exit {r.returncode}: {r.stdout[-500:]}{r.stderr[-500:]}")
    return finish()


def planted():
    """What these checks are for is found."""
    check(shown(["a", "...", "c (...)"], "a\nb\nc (d)\n") is None, "shown: a session as it is")
    check(shown(["a", "c"], "c\na\n") == "c", "shown: the order of lines counts")
    check(shown(["a b"], "a  b\n") == "a b", "shown: blanks count")


def main():
    if sys.argv[1:] == ["--all"]:
        return fresh()
    planted()
    small = "gpt -o model.onnx --layers 4 --width 64 --heads 4 --vocab 500"
    pages = {"README.md": small} | {f"docs/{p.name}": MODEL for p in sorted((ROOT / "docs").glob("*.md"))}
    ran = {page: run_page(page, model) for page, model in pages.items()}
    check(ran["README.md"] == 3 and sum(ran.values()) > 10, f"blocks that were run: {ran}")
    other_models()
    chart()
    print(ran)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
