"""Cells of the four papers' tables: what the benchmarks find for each, and the scoreboard of all.

A benchmark calls cell() where it has a figure of its own beside a published one.  A cell is within 1 % (or equal to the
digits that are printed), beaten (better by more than that), differing, or fitted (the published figure is what the
model's constants were made from, so it cannot be missed).  PUBLISHED says how many cells each table has, how many
of them cannot be compared, and why.  The others are not attempted.  See `pcc-bench scoreboard`."""
import csv
from pathlib import Path

from common import table

WITHIN = 0.01
STATES = ("within 1 %", "beaten", "differing", "fitted")
FOUND = {} # (paper, table, cell): [published, here, state]
PLACEMENT, DAPPLE, CELERITAS, BAECHI = ("placement", "DAPPLE", "Celeritas", "Baechi-PyTorch")
GRAPHS = "TensorFlow graphs of Inception_V3, NMT, Transformer and Tensor Holography, and four V100"
# paper, table, number of its cells with a figure, number of those that cannot be compared, why they cannot
PUBLISHED = [
    (PLACEMENT, "Table 1", 208, 0, ""),
    (PLACEMENT, "Table 2", 112, 16, "1.00 of the DP in multiples of the DP"),
    (PLACEMENT, "Table 3", 24, 12, "only BERT-12's public files say which layer a node is in"),
    (PLACEMENT, "Table 4", 68, 6, "Nodes of three are those of training graphs, which latencies are not about; two "
     "experts' memory; BERT-24's expert has 6 accelerators of 5"),
    (PLACEMENT, "section 6", 11, 0, ""),
    (PLACEMENT, "appendix D", 1, 0, ""),
    (PLACEMENT, "appendix E.1", 1, 0, ""),
    (PLACEMENT, "appendix F", 8, 0, ""),
    (DAPPLE, "Table I", 10, 0, ""),
    (DAPPLE, "Table II", 12, 0, ""),
    (DAPPLE, "Table IV", 4, 0, ""),
    (DAPPLE, "Table V", 40, 0, ""),
    (DAPPLE, "Table VI", 20, 0, ""),
    (DAPPLE, "Table VII", 8, 0, ""),
    (DAPPLE, "Table VIII", 16, 0, ""),
    (DAPPLE, "section VI", 11, 0, ""),
    (DAPPLE, "figure 8", 1, 0, ""),
    (DAPPLE, "figures 12 to 14", 16, 6, "samples: 128 and 2048 are no whole number for each of 10 devices"),
    (CELERITAS, "Table 2", 16, 16, GRAPHS),
    (CELERITAS, "Table 3", 32, 32, GRAPHS),
    (CELERITAS, "Table 4", 15, 15, GRAPHS),
    (CELERITAS, "Table 5", 8, 8, GRAPHS),
    (CELERITAS, "figure 6", 7, 7, GRAPHS),
    (BAECHI, "figures 2 and 3", 2, 0, ""),
]


def number(text):
    """The figure in a text such as "1.46", "5.10 x", "23 %"; None: there is none."""
    try:
        return float(str(text).split()[0].rstrip("x%"))
    except (ValueError, IndexError):
        return None


def state_of(published, here, better):
    """The state of a cell, one of STATES (never "fitted").  better: "less" or "more", the direction in which a figure
    is better than the published one; None: only an equal figure will do."""
    a, b = number(published), number(here)
    if a is None or b is None:
        return STATES[0] if str(published) == str(here) else "differing"
    digits = len(str(published).split()[0].rstrip("x%").partition(".")[2])
    # equal to the printed digits: off by half of the last one, and a little for floats
    if abs(b - a) <= max(WITHIN * abs(a), 0.51 * 10 ** -digits):
        return STATES[0]
    return "beaten" if better and (b < a) == (better == "less") else "differing"


def cell(paper, where, what, published, here, better=None, state=None):
    """Keeps a cell in FOUND; a later one of the same name replaces it.  better: as for state_of(); state: given by
    callers that know it ("fitted").  Returns the cell's state."""
    state = state or state_of(published, here, better)
    FOUND[paper, where, what] = [str(published), str(here), state]
    return state


def save(path):
    """Appends the cells of FOUND to a CSV file."""
    with open(path, "a", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows([*key, *value] for key, value in FOUND.items())


def load(path):
    """Reads cells that another benchmark wrote to a CSV file, into FOUND."""
    with open(path, newline="", encoding="utf-8") as f:
        for paper, where, what, *rest in csv.reader(f):
            FOUND[paper, where, what] = rest


def scoreboard():
    """Prints the cells that differ, and the number of cells of each state for every table; returns, in words, where
    these numbers are not those of PUBLISHED."""
    wrong, rows = [], []
    all_of = {}  # paper: its cells, those of each of STATES, those not attempted, those that cannot be
    unknown = {key[:2] for key in FOUND} - {p[:2] for p in PUBLISHED}
    wrong += [f"{paper}, {where}: not a table of the scoreboard" for paper, where in sorted(unknown)]
    for paper, where, cells, cannot, why in PUBLISHED:
        of = [v[2] for k, v in FOUND.items() if k[:2] == (paper, where)]
        count = [of.count(s) for s in STATES]
        rest = cells - cannot - len(of)
        if rest < 0:
            wrong.append(f"{paper}, {where}: {len(of)} found and {cannot} that cannot be of {cells} cells")
        rows.append([paper, where, cells, *count, rest, cannot, why])
        all_of[paper] = [a + b for a, b in zip(all_of.get(paper, [0] * 7), [cells, *count, rest, cannot])]
    print("\ncells that differ")
    table(["paper", "where", "cell", "published", "here"],
          [[*k, *v[:2]] for k, v in sorted(FOUND.items()) if v[2] == "differing"])
    print("\nscoreboard: cells of the papers' tables")
    table(["paper", "where", "cells", *STATES, "not attempted", "cannot be", "it lacks"],
          rows + [[paper, "all", *n, ""] for paper, n in all_of.items()])
    return wrong


def read_or_run(path, run):
    """Prints the scoreboard of a file of cells or, if `path` is a folder, of the cells that run(folder) finds, which
    returns an exit code. Returns the exit code: 77 if the path does not exist."""
    code = 0
    if Path(path).is_dir():
        code = run(Path(path))
    elif Path(path).exists():
        load(path)
    else:
        print(f"skipped: {path} is not there")
        return 77
    wrong = scoreboard()
    for line in wrong:
        print(f"FAILED: {line}")
    return code or (1 if wrong else 0)
