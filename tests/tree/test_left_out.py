#!/usr/bin/env python3
"""tools/left_out.sh names the reason of every test that ctest skipped, each reason once, with how many there are.

A project with tests that pass, fail, and skip for reasons with odd characters, run by ctest; then its report."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras

SOURCE = Path(os.environ.get("PCC_SOURCE", Path(__file__).resolve().parents[2]))
TESTS = {"good": "echo skipped: not at all; exit 0", "bad": "echo skipped: no; exit 1",
         "a": "echo first line; echo skipped: no program dot; exit 77", "b": "echo skipped: no program dot; exit 77",
         "c": "echo 'skipped: <none> of \"x\" & y'; echo; exit 77", "d": "exit 77",
         "e": "echo 'an old way to say it'; exit 77"}
WANT = ["2 tests were left out: no program dot", '1 test was left out: <none> of "x" & y',
        "1 test was left out: an old way to say it", "1 test was left out: no reason given"]


def main():
    extras.need(shutil.which("ctest"), "no program ctest")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        lines = []
        for test, script in TESTS.items():
            (work / f"{test}.sh").write_text(script + "\n")
            lines.append(f'add_test({test} sh "{work}/{test}.sh")\n'
                         f"set_tests_properties({test} PROPERTIES SKIP_RETURN_CODE 77)\n")
        (work / "CTestTestfile.cmake").write_text("".join(lines))
        report = work / "report.xml"
        subprocess.run(["ctest", "--test-dir", work, "--output-junit", report], capture_output=True, check=False)
        r = subprocess.run([SOURCE / "tools/left_out.sh", report], capture_output=True, text=True, check=False)
        again = subprocess.run([SOURCE / "tools/left_out.sh", report, report], capture_output=True, text=True,
                               check=False)
    wrong = [f"{r.returncode}: {r.stdout}{r.stderr}"] if sorted(r.stdout.splitlines()) != sorted(WANT) else []
    wrong += [f"first: {r.stdout}"] if r.stdout.splitlines()[:1] != WANT[:1] else []
    wrong += [f"two reports: {again.stdout}"] if "4 tests were left out: no program dot" not in again.stdout else []
    wrong += [f"good and bad: {r.stdout}"] if "not at all" in r.stdout or ": no\n" in r.stdout else []
    print("\n".join(wrong) or "all as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
