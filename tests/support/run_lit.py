#!/usr/bin/env python3
"""Runs one lit test for ctest: run_lit.py TEST OUT

lit says what became of a test in a report, not by its exit code: an unsupported test is a success
there.  Here: 0 passed, 1 failed, 77 unsupported or no lit.  OUT is a folder of this test's own, so
that several can run at once.
"""
import json
import sys
from pathlib import Path

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main():
    test, out = sys.argv[1], Path(sys.argv[2])
    try:
        import lit.main
    except ImportError:
        print("skipped: lit is not installed")
        return 77
    out.mkdir(parents=True, exist_ok=True)
    report = out / "report.json"
    report.unlink(missing_ok=True)
    sys.argv[1:] = ["-v", "-j1", "--param", f"out={out}", "--output", str(report), test]
    try:
        lit.main.main()
    except SystemExit:  # the report says what is wrong
        pass
    try:
        codes = {t["code"] for t in json.loads(report.read_text())["tests"]}
    except (OSError, ValueError, KeyError):
        return 1
    if not codes or codes - PASSED - SKIPPED:
        return 1
    if codes <= SKIPPED:
        print("skipped: lit has not what the test REQUIRES")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
