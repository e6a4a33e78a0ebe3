#!/usr/bin/env python3
"""tests/support/cpu.sh: a test's own output and exit code, its CPU time with that of all its children, and the table.

Two runs that take known shares of the CPU (not of the clock), one of them in a grandchild, a third that is idle."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish, wrong

CPU = Path(os.environ.get("PCC_SOURCE", Path(__file__).resolve().parents[2])) / "tests/support/cpu.sh"
BURN = "import sys, time\nwhile time.process_time() < {}: pass\nprint('done')\nsys.exit({})"


def run(*args, **more):
    return subprocess.run([CPU, *map(str, args)], capture_output=True, text=True, check=False, **more)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "release"
        folder.mkdir()
        env = {**os.environ, "PCC_CPU": str(folder)}
        python, slow = [sys.executable, "-c"], BURN.format(0.8, 0)
        fine = run("unit_a", *python, BURN.format(0.3, 5), env=env)
        check((fine.returncode, fine.stdout) == (5, "done\n"), f"a test's own: {fine}")
        check(run("lit/deep.pir", "sh", "-c", f"sh -c \"$0 -c '$1'\" \"$0\" \"$1\"; true", sys.executable,
                  slow.replace("'", '"'), env=env).returncode == 0, "a grandchild")
        check(run("idle/shared", "sleep", "0.5", env=env).returncode == 0, "idle")
        env.pop("PCC_CPU")
        check(run("unmeasured", *python, "exit(77)", env=env).returncode == 77, "without PCC_CPU")
        (Path(name) / "asan").mkdir() # nothing was run
        table = run("--slowest", 2, folder, Path(name) / "asan").stdout
        found = re.findall(r"^ *([\d.]+) s of CPU: (.*)$", table, re.M)
        check([what for _, what in found] == ["lit/deep.pir, release", "unit_a, release", "all 3 tests, release"],
              f"table: {table}")
        if not wrong:
            deep, own, total = (float(s) for s, _ in found)
            check(0.8 <= deep < 8 and 0.3 <= own < 3 and own + deep - 0.1 <= total < own + deep + 1, table)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
