"""Programs that tests run, and what they must answer."""
import subprocess

from checks import check


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300)


def good(r):
    """Returns r, the result of a program that must have succeeded."""
    check(r.returncode == 0, f"{r.args}: exit {r.returncode}: {r.stderr}")
    return r


def refused(r, rc, *words):
    """Returns r, the result of a program that must have ended with code rc and one error with these words."""
    check(r.returncode == rc and r.stderr.count("error:") == 1 and all(w in r.stderr for w in words),
          f"{r.args}: exit {r.returncode}, not {rc}, or not {words}: {r.stderr}")
    return r
