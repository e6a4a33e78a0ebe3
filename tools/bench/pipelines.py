"""Training pipelines beside what is published and what can be worked out by hand; see pcc-bench.

Times of PipeDream's planner are those that its published program prints with its own profiles.  The rest is DAPPLE's
paper: dapple_plans.py (plans and data parallelism), dapple_recursion.py, dapple_tables.py, dapple_figures.py."""
import re
import tempfile
from pathlib import Path

from common import PCC, Run, table, too_slow
from dapple_figures import FIGURES
from dapple_plans import PLANS, own
from dapple_recursion import recursion
from dapple_tables import TABLES
from pipelines_large import GAPS
from training import in_seconds, near

SLOW, FAST, TWO, SERVERS = (["--link=1GB/s,0us"], ["--link=10GB/s,0us"], ["--link=1GB/s,0us", "--group=4:10GB/s,0us"],
                            ["--link=3GB/s,0us", "--group=8:25GB/s,0us"])
FREE, FIRST, TEST = "compression=0", "states=first", "memory=true"
# profile, devices, links, options of the planner, seconds to the digits printed
PIPEDREAM = [
    ("vgg16", "4xv100", SLOW, "", "0.205520896"), ("vgg16", "8xv100", SLOW, "", "0.103833170"),
    ("vgg16", "16xv100", SLOW, "", "0.056529767"), ("vgg16", "4xv100", SLOW, FREE, "0.175732624"),
    ("vgg16", "8xv100", SLOW, FREE, "0.093513"), ("vgg16", "16xv100", SLOW, FREE, "0.047386"),
    ("vgg16", "4xv100", FAST, "", "0.170179"), ("vgg16", "8xv100", FAST, "", "0.089926460"),
    ("vgg16", "16xv100", FAST, "", "0.043227"), ("vgg16", "4xv100", SLOW, "straight=true", "0.411042"),
    ("vgg16", "8xv100", SLOW, "straight=true", "0.411042"), ("vgg16", "16xv100", TWO, "", "0.069749941"),
    ("vgg16", "16xv100", SERVERS, "", "0.067574054"), ("vgg16", "4xv100:16GB", SLOW, TEST, "0.205521"),
    ("vgg16", "4xv100:8GB", SLOW, TEST, "0.583206382"), ("vgg16", "4xv100:4GB", SLOW, TEST, "0.583206382"),
    ("vgg16", "4xv100:2GB", SLOW, TEST, "0.583206382"), ("vgg16", "8xv100:16GB", FAST, TEST, "0.089926460"),
    ("vgg16", "8xv100:8GB", FAST, TEST, "0.097385357"), ("vgg16", "8xv100:4GB", FAST, TEST, "0.108279445"),
    ("resnet50", "4xv100", SLOW, "", "0.162880924"), ("resnet50", "8xv100", SLOW, "", "0.092012272"),
    ("resnet50", "16xv100", SLOW, "", "0.047801345"), ("resnet50", "4xv100", SLOW, FREE, "0.111497"),
    ("resnet50", "8xv100", SLOW, FREE, "0.056315"), ("resnet50", "16xv100", SLOW, FREE, "0.029212"),
    ("resnet50", "8xv100", SLOW, "straight=true", "0.258149"), ("resnet50", "8xv100:8GB", FAST, TEST, "0.059899856"),
    ("resnet50", "8xv100:4GB", FAST, TEST, "0.059899856"), ("resnet50", "8xv100:16GB", FAST, TEST, "0.056583209"),
    ("resnet50", "16xv100", SERVERS, "", None), ("gnmt", "4xv100", SLOW, FIRST, "0.025868"),
    ("gnmt", "8xv100", SLOW, FIRST, "0.019285"), ("gnmt", "16xv100", SLOW, FIRST, "0.019285"),
    ("gnmt", "4xv100", FAST, FIRST, "0.025868"), ("gnmt", "8xv100", FAST, FIRST, "0.017125"),
    ("gnmt", "16xv100", FAST, FIRST, "0.011081"), ("gnmt", "4xv100", SLOW, f"{FIRST}:{FREE}", "0.025868"),
    ("gnmt", "8xv100", SLOW, f"{FIRST}:{FREE}", "0.019032"),
    ("gnmt", "16xv100", SLOW, f"{FIRST}:{FREE}", "0.018379576"), ("alexnet", "16xv100", SLOW, "", "0.018874368"),
]
# where the model may be cut anywhere: not above the value with the published program's states
ANYWHERE = [("gnmt", "8xv100", SLOW, "", 0.019285), ("gnmt", "16xv100", SLOW, FREE, 0.018379576)]
ROW_CPU = 1 # CPU seconds that a row may take


def slowest(model, devices, links, how):
    """Seconds of the slowest stage by pipedream-hier-place's own measure (0: pcc failed), and CPU seconds.  Its plan
    need not have room as pcc counts memory (exit code 3).  how: options of the planner."""
    steps = "contract{trivial=false},pipedream-hier-place{cut=published" + (":" + how if how else "") + "}"
    run = Run([PCC, model, "-d", devices, "--objective=iteration-time", *links, "-p", steps, "--slices=any"])
    found = re.search(r"slowest of \d+ stages? takes (\S+) of a minibatch", run.out)
    return (in_seconds(found[1]) if found and run.rc in (0, 3) else 0), run.cpu


def pipedream(folder, _):
    """Compares the slowest stage of PipeDream's profiles with what is published. Prints the rows and returns what is
    wrong, in words."""
    rows, wrong = [], []
    for name, devices, links, how, wanted in PIPEDREAM:
        value, cpu = slowest(folder / f"pipedream/{name}.txt", devices, links, how)
        rows.append([name, devices, " ".join(links), how, f"{value:.9f}", wanted or "-", f"{cpu:.2f}"])
        if wanted and not near(value, wanted):
            wrong.append(f"PipeDream, {name} on {devices}, {how}: {value:.9f} s, published {wanted}")
        if too_slow(f"PipeDream, {name} on {devices}", cpu, ROW_CPU):
            wrong.append(f"PipeDream, {name} on {devices}: {cpu:.2f} s of CPU")
    for name, devices, links, how, wanted in ANYWHERE:
        value, cpu = slowest(folder / f"pipedream/{name}.txt", devices, links, how)
        rows.append([name, devices, " ".join(links), "all states " + how, f"{value:.9f}", f"<= {wanted}", f"{cpu:.2f}"])
        if value > wanted + 5e-10:
            wrong.append(f"PipeDream, {name}, all states: {value:.9f} s, with the published ones {wanted}")
    table(["profile", "devices", "links", "options", "s", "published", "cpu s"], rows)
    return wrong


# --part: functions that compare, print what they found, and return what is wrong, in words
PARTS = {"pipedream": (pipedream,), "plans": (*PLANS, recursion), "own": (own,), "tables": TABLES,
         "figures": FIGURES, "gaps": GAPS}


def pipelines(args):
    """The command: compares the pipelines of both papers. Returns the exit code: 77 if the folder is missing, 2 if it
    has no profiles."""
    folder = Path(args.folder)
    if not folder.is_dir():
        print(f"skipped: {folder} is not there")
        return 77
    if not (folder / "pipedream").is_dir() or not (folder / "dapple").is_dir():
        print(f"error: {folder} has no folders pipedream and dapple: this needs ../shared/profiles")
        return 2
    wrong = []
    with tempfile.TemporaryDirectory() as tmp:
        for name, comparisons in PARTS.items():
            if args.part in (None, name):
                for compare in comparisons:
                    wrong += compare(folder, Path(tmp))
    print()
    for line in wrong:
        print(f"FAILED: {line}")
    print(f"{len(wrong)} failed")
    return 1 if wrong else 0
