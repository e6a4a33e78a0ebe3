#!/usr/bin/env python3
"""Runs one lit test for ctest: run_lit.py TEST OUT

By lit's parts that find and run a test, as its LitTestCase does: its main() takes three times as long to start, and
says what became of a test in a report only.  Exit code: 0 passed, 1 failed (with what the test printed), 77 unsupported
or no lit.  OUT is a folder of this test's own, so that several can run at once.
"""
import sys
from pathlib import Path

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def run(test, out):
    """The results of the tests in a file: normally one."""
    import lit.discovery
    import lit.LitConfig
    import lit.worker
    config = lit.LitConfig.LitConfig(
        progname="lit", path=[], diagnostic_level="note", useValgrind=False, valgrindLeakCheck=False, valgrindArgs=[],
        noExecute=False, debug=False, isWindows=False, order="smart", params={"out": str(out)})
    found = lit.discovery.find_tests_for_inputs(config, [test])
    return [] if config.numErrors else [lit.worker._execute(t, config) for t in found]


def main():
    test, out = sys.argv[1], Path(sys.argv[2])
    try:
        import lit  # noqa: F401
    except ImportError:
        print("skipped: lit is not installed")
        return 77
    out.mkdir(parents=True, exist_ok=True)
    results = run(test, out)
    codes = {r.code.name for r in results}
    if not codes or codes - PASSED - SKIPPED:
        print(*sorted(codes), *(r.output for r in results), sep="\n")
        return 1
    if codes <= SKIPPED:
        print("skipped: lit has not what the test REQUIRES")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
