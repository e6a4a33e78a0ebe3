"""What is installed refers to what is installed: pages, manual page and programs against the list of files there."""
import posixpath
import re

# pages, Python programs, schemas with their folder, the benchmark's command
NAME = re.compile(r"(?<![\w./<>{}*$-])((?:\.\./)*[\w-]+(?:/[\w-]+)*\.(?:md|py|schema\.json)|pcc-bench)"
                  r"(?![\w/.*]*[\w*])")
# Only the source has its tests, and programs that change, check or compare it (docs/install.md); splits have
# run_split.py and ray_split.py.
ELSEWHERE = re.compile(
    r"(^|/)(tests/.*|fuzz/.*|"
    r"(test_\w+|ablation|clang_check|commands|mutate|type_table|device_table|settings|run_split|ray_split)\.py)$")


def names_in(text):
    return {posixpath.normpath(n).lstrip("./") for n in NAME.findall(re.sub(r"%\w|\\(?=-)", " ", text))}


def strings(program):
    """The texts in a compiled program."""
    return "\n".join(m.decode() for m in re.findall(rb"[ -~]{6,}", program))


def missing(texts, files):
    """{name: where it is named} of names that no installed file has. texts: where -> text; files: paths as installed.
    A name may begin in any folder: pages say `costs.md` of a page beside them, `passes/cost/costs.md` from the root."""
    known = {"/" + f for f in files}
    ends = {k[i:] for k in known for i, c in enumerate(k) if c == "/"}
    return {n: where for where, text in texts.items() for n in names_in(text)
            if "/" + n not in ends and not ELSEWHERE.search(n)}
