"""What DAPPLE's published program gives when it works an iteration out task by task, for two stages of eight devices on
its cluster A; see pcc-bench pipelines.

Its ranges of layers hold both of their ends: the second stage's first layer counts in the first stage, too, with its
time and its weights.  Forward and backward take half of both each.  The link between the stages is a stage of its own,
which keeps its turn like any other (three stages, 3, 2 and 1 micro-batches ahead); so it is one here, of layers that
take as long as the transfer.  Beside it: pcc's own links, for both directions at a time, and for one, first come first
served."""
import re

from dapple_plans import plain
from training import A, LARGE, Rows, iteration, near, staged

# profile; number of layers of the first stage, in the file's order, with the layer that both stages contain; speed-up
# over one device; the speed-up if the link moves both directions at a time (None: not known)
GIVEN = [("XLNet-36", 24, "14.928956", None), ("BERT-48", 29, "14.281846", None),
         ("AmoebaNet-36", 30, "9.328803", "12.098973")]
LAYER = re.compile(r"(\S+) -- (.*) -- forward_compute_time=([0-9.]+), backward_compute_time=([0-9.]+), "
                   r"activation_size=(.*), parameter_size=([0-9.]+)")


def layers_of(path):
    """Returns a list of (ms forward and backward, bytes of weights) of the layers that are no inputs, in the file's
    order, and a function that gives the bytes that the first n of these layers hand to the others."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [m for m in map(LAYER.match, lines) if m and not m[2].startswith("Input")]
    at = {m[1]: i for i, m in enumerate(found)}
    edges = [[at.get(x.strip()) for x in line.split(" -- ")] for line in lines if line[:1].isspace() and line.strip()]

    def handed(n):
        """Bytes that the first n layers hand to the others."""
        cross = {a for a, b in edges if a is not None and a < n <= b} # None: an input of the model
        return sum(float(x) for a in cross for x in found[a][5].strip("[]").split(";"))
    return [(float(m[3]) + float(m[4]), float(m[6])) for m in found], handed


def chain(path, layers):
    """Writes a profile of a chain of layers to `path`, and returns `path`. `layers`: for each layer (ms of forward and
    backward together, of which each takes half; bytes that the next layer reads; bytes of weights)."""
    path.write_text("".join(
        f"n{i} -- layer{i} -- forward_compute_time={time / 2:.9f}, backward_compute_time={time / 2:.9f}, "
        f"activation_size={handed:.0f}, parameter_size={weights:.0f}\n"
        for i, (time, handed, weights) in enumerate(layers)) + "".join(
        f"\tn{i} -- n{i + 1}\n" for i in range(len(layers) - 1)), encoding="utf-8")
    return path


def recursion(folder, tmp):
    """Compares the times that DAPPLE's own formula gives for its plans of two stages with what is published and with
    what pcc gives. Prints the rows and returns what is wrong, in words."""
    rows = Rows("DAPPLE's own working out of an iteration, 8 + 8 devices, cluster A: times faster")
    for name, n, wanted, both in GIVEN:
        case = plain(folder, tmp, name, 16, A)
        layers, handed = layers_of(folder / case.model.profile)
        size = handed(n - 1)
        # (ms, bytes of weights) of both stages, which share a layer
        first, last = ([sum(x) for x in zip(*stage)] for stage in (layers[:n], layers[n - 1:]))
        linked = chain(tmp / "linked.txt", [(first[0], size, first[1]), (last[0], 0, last[1])])
        link = 8 * 2 * size / 1e9 * 1e3 # ms at 1 GB/s, both directions; a stage of 8 devices takes an eighth
        turns = chain(tmp / "turns.txt", [(first[0], 0, first[1]), (link, 0, 0), (last[0], 0, last[1])])

        def faster(model, ahead, more):
            """How many times faster than one device this chain of layers is, one layer a stage, with 8 devices a stage.
            `ahead`: for each stage, the micro-batches it may run ahead; `more`: further options of pcc."""
            devices, how = f"{8 * len(ahead)}xv100{LARGE}", [*case.args, "--allreduce-lane=own", *more]
            _, plan, _ = iteration(model, devices, how, "dapple-place", tmp / "any.json") # any plan with these layers
            given = staged(plan, [(1, 8)] * len(ahead), ahead, tmp / "given.json")
            return case.alone / iteration(model, devices, how, f"plan{{from={given}}}", tmp / "run.json")[0]
        staged_link = faster(turns, [3, 2, 1], [])
        rows.judge(f"{name}, the link a stage", wanted, f"{staged_link:.6f}", near(staged_link, wanted))
        full = faster(linked, [3, 1], [])
        if both:
            rows.judge(f"{name}, both directions at a time", both, f"{full:.6f}", near(full, both))
        rows.judge(f"{name}, both directions at a time: not slower", f">= {staged_link:.6f}", f"{full:.6f}",
                   full >= staged_link - 1e-9)
        half = faster(linked, [3, 1], ["--duplex=half"])
        rows.judge(f"{name}, one, first come first served: not faster", f"<= {full:.6f}", f"{half:.6f}",
                   half <= full + 1e-9)
    return rows.show()
