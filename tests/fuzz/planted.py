"""The fuzz targets can fail: each error in planted/*.patch is found by replaying the corpus.

    planted.py CC LIBRARY FLAGS...

A patch names its target and changes one source file.  That file is compiled with the sanitizers and linked, before
LIBRARY (a libpcc.so with sanitizers, whose functions give way to it), with the target.  FLAGS are the compiler's and
linker's (after --link) for both.  Without a patch the replay must pass, with it the seeds or their seeded mutations
must end in a report."""
import os
import re
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DRIVER = ("replay", "fuzz", "wire")
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
            "-fno-omit-frame-pointer"]
# A file of constants is then there twice, in the program and in the library, which is meant.
OPTIONS = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_odr_violation=0"]))
REPORT = re.compile(rf"AddressSanitizer|runtime error|broken promise|Assertion|signal {signal.SIGPROF:d};")  # a hang


class Patch:
    """A unified diff of one file: hunks are found by their text, wherever it has moved to."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        self.name = path.stem
        self.target = re.search(r"^Target: (\w+)$", text, re.M).group(1)
        self.file = re.search(r"^\+\+\+ b/(\S+)$", text, re.M).group(1)
        self.hunks = []
        for hunk in re.split(r"^@@.*@@.*\n", text, flags=re.M)[1:]:
            lines = hunk.splitlines(keepends=True)
            self.hunks.append(tuple("".join(x[1:] for x in lines if x[0] in f" {sign}")
                                    for sign in "-+"))

    def apply(self):
        """The patched source."""
        text = (ROOT / self.file).read_text(encoding="utf-8")
        for old, new in self.hunks:
            if text.count(old) != 1:
                raise SystemExit(f"{self.name}: its text is {text.count(old)} times in {self.file}, "
                                 f"expected once; adapt the patch:\n{old}")
            text = text.replace(old, new)
        return text


class Build:
    def __init__(self, cc, library, flags, folder):
        link = flags.index("--link")
        self.cc = [cc, *SANITIZE, "-std=c11", "-D_GNU_SOURCE", f"-I{ROOT}", *flags[:link]]
        self.libs = [library, *flags[link + 1:]]
        self.folder = folder

    def compile(self, source, name):
        """The object file of a source file."""
        out = self.folder / (name.replace("/", "_") + ".o")
        subprocess.run([*self.cc, "-c", source, "-o", out], check=True)
        return out

    def program(self, name, objects):
        out = self.folder / name
        subprocess.run([*self.cc, *objects, "-o", out, *self.libs], check=True)
        return out


def replay(program, target, cwd, mutations=True):
    """What goes wrong: with the seeds as they are, then with mutations of them."""
    corpus = HERE / "corpus" / target
    for inputs in (sorted(corpus.iterdir()), [corpus])[:1 + mutations]:
        r = subprocess.run([program, *inputs], cwd=cwd, capture_output=True, timeout=600,
                           env={**os.environ, "REPLAY_FIRST": "1", "ASAN_OPTIONS": OPTIONS})
        if r.returncode:
            return r.stderr.decode(errors="replace") or f"exit code {r.returncode}"
    return ""


def try_patch(b, p, source, objects):
    """What is found with the patch."""
    changed = b.folder / f"{p.name}.c"
    changed.write_text(source, encoding="utf-8")
    program = b.program(p.name, [b.compile(changed, p.name), *objects[p.target]])
    return replay(program, p.target, b.folder)


def main():
    patches = [Patch(p) for p in sorted((HERE / "planted").glob("*.patch"))]
    sources = {p: p.apply() for p in patches}
    targets = sorted({p.target for p in patches})
    cc, library, *flags = sys.argv[1:]
    with tempfile.TemporaryDirectory() as tmp:
        b = Build(cc, library, flags, Path(tmp))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            names = [*DRIVER, *(f"fuzz_{t}" for t in targets)]
            made = dict(zip(names, pool.map(lambda n: b.compile(HERE / f"{n}.c", n), names)))
            objects = {t: [*(made[n] for n in DRIVER), made[f"fuzz_{t}"]] for t in targets}
            for t in targets:
                text = replay(b.program(t, objects[t]), t, tmp, mutations=False)
                if text:
                    print(f"{t}: without a planted error the replay fails:\n{text}")
                    return 1
            texts = pool.map(lambda p: try_patch(b, p, sources[p], objects), patches)
        missed = 0
        for p, text in zip(patches, texts):
            line = next((x for x in text.splitlines() if REPORT.search(x)), None)
            print(f"{p.name}: {'found: ' + line if line else 'MISSED ' + text[-2000:]}")
            missed += line is None
    print(f"{len(patches)} planted errors, {missed} missed")
    return 1 if missed or not patches else 0


sys.exit(main())
