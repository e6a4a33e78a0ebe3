"""What a script finds wrong: check() says so at once, with its place; main() ends with `return finish()`."""
import sys

wrong = []


def complain(text):
    wrong.append(text)
    print(f"FAILED: {text}", flush=True)


def check(good, text):
    if not good:
        caller = sys._getframe(1)
        complain(f"{caller.f_code.co_name}, line {caller.f_lineno}: {text}")
    return good


def finish():
    """The exit code."""
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0
