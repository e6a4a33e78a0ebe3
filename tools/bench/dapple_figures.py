"""Figures 8 and 12 to 14 of DAPPLE's paper (arXiv 2007.01045), and what it says of one server; see pcc-bench pipelines.

Speed-ups are iteration times of one device over those of all.  Where the paper has only pictures, its averages and
largest ratios are compared; and what it says in words."""
import json
import re

from common import PCC, Run, table
from dapple_plans import dream, DREAMS
from training import A, CLUSTERS, Case, Rows, in_seconds, near, times_text

WITHOUT, OVERLAPPED, ACROSS = "after", "beside", "across" # values of --allreduce-overlap
ONE_SERVER = ["VGG-19", "BERT-48", "XLNet-36"]
FIGURE_12 = ["VGG-19", "GNMT-16", "BERT-48", "XLNet-36", "AmoebaNet-36"]
SAME_BATCH = 128
PICTURES = "the paper has a picture, and says the largest ratio only"
OVERLAP = "AllReduce beside backward hides what the slower link takes"
ROUND_ROBIN = [(3, 12, 15), (4, 15, 18), (8, 27, 30)] # micro-batches, ms split, ms in turn, worked out by hand
RATIOS = {"A": "1.71", "B": "1.37", "C": "1.79"} # averages of hybrid plan / overlapped data parallelism
LARGEST = "2.32" # the largest of these ratios
LARGEST_PIPEDREAM = "3.23" # the largest ratio of figure 13, of DAPPLE's plan to PipeDream's
BEST_IS_PARALLEL = [("VGG-19", "A"), ("VGG-19", "B")] # Table V: no hybrid plan is better, so their ratio says nothing
# the global batches of figure 14
FIGURE_14 = {"GNMT-16": 2048, "BERT-48": 128, "XLNet-36": 128, "AmoebaNet-36": 256}


def servers(devices):
    """Options for the links of cluster A with a number of devices: one server of up to 8, two of equal size for up to
    16, else servers of 8."""
    size = devices if devices <= 8 else devices // 2 if devices <= 16 else 8
    return [f"--group={size}:25GB/s,0us", *A[1:]]


def one_server(folder, tmp):
    """Checks on one server of 8 devices that data parallelism with overlap is at least as fast as DAPPLE's plan, where
    it fits. Prints the rows and returns what is wrong, in words."""
    rows = Rows("one server of 8 devices: data parallelism with overlap is best, but where a device has no room for it")
    for name in ONE_SERVER:
        case = Case(folder, tmp, name, 8, servers(8))
        overlapped, alone = case.parallel(OVERLAPPED), case.parallel(WITHOUT)
        hybrid = case.times("dapple-place")
        rows.judge(name, "overlapped >= hybrid", f"{overlapped:.3f} >= {hybrid:.3f} ({case.shape()})",
                   overlapped >= hybrid - 1e-9)
        if name == "BERT-48":
            rows.judge(f"{name}, without overlap", "7.75", f"{alone:.2f}", near(alone, "7.75"))
            case.times("dapple-place{errors=true}") # which also tells what its formula gives
            said = in_seconds(re.search(r"best of several stages takes (\S+)", case.run.out)[1])
            x = case.alone / said
            rows.judge(f"{name}, best of several stages by the formula", "7.87", f"{x:.2f}", near(x, "7.87"))
    case = Case(folder, tmp, "AmoebaNet-36", 8, servers(8))
    rows.fitted("AmoebaNet-36, data parallelism", "refused for memory",
                "refused for memory" if case.parallel(WITHOUT) is None else "fits")
    return rows.show()


def figure_12(folder, tmp):
    """Compares dapple-place's hybrid plans with data parallelism, on 16 devices of each cluster, with the batches of
    the models and with one batch for all. Both sides overlap AllReduce and computing in the same way: as the paper's
    best data parallelism does. Prints the rows and returns what is wrong, in words."""
    wrong = []
    for batch in (None, SAME_BATCH):
        title = f"Figure 12, {f'batch {batch}' if batch else 'batches of Table V'}: hybrid over data parallelism, " \
            "both overlapped"
        print(f"\n{title}; times faster on 16 devices")
        # the paper's figures are for the batches of Table V
        rows, ratios, judged = [], {k: [] for k in CLUSTERS}, Rows(title, None if batch else "figures 12 to 14")
        for name in FIGURE_12:
            for k, links in CLUSTERS.items():
                case = Case(folder, tmp, name, 16, links, batch)
                alone, overlapped, across = (case.parallel(how) for how in (WITHOUT, OVERLAPPED, ACROSS))
                hybrid = case.times("dapple-place", f"--allreduce-overlap={OVERLAPPED}")
                ratio = hybrid / overlapped if overlapped else None
                rows.append([name, case.batch, k, *map(times_text, (alone, overlapped, across, hybrid)), case.shape(),
                             times_text(ratio)])
                if ratio and (batch or (name, k) not in BEST_IS_PARALLEL):
                    ratios[k].append(ratio)
                    judged.judge(f"{name}, {k}", "> 1", f"{ratio:.2f}", ratio > 1)
        table(["model", "batch", "cluster", "data parallel", "overlapped", "across", "hybrid", "devices of stages",
               "ratio"], rows)
        for k, published in RATIOS.items():
            judged.published(f"{k}, average", published, f"{sum(ratios[k]) / len(ratios[k]):.2f}", "more")
        judged.published("largest", LARGEST, f"{max(max(r) for r in ratios.values()):.2f}", "more")
        wrong += judged.show()
    return wrong


def synchronous(case, made):
    """How many times faster than one device the case `case` is with the stages of the plan of the case `made`, by the
    better one of DAPPLE's policies, each with as many micro-batches ahead as fit into memory; None if not even one
    fits. Changes `ahead` in the plan of `made`."""
    given, stages, found = case.tmp / "sync.json", made.plan["training"]["stages"], []
    for policy in (lambda left: left, lambda left: 2 * left - 1): # A and B: ahead, by the number of stages left
        for most in range(policy(len(stages)), 0, -1):
            for i, stage in enumerate(stages):
                stage["ahead"] = min(policy(len(stages) - i), most)
            given.write_text(json.dumps(made.plan), encoding="utf-8")
            faster = case.times(f"plan{{from={given}}}")
            if faster:
                found.append(faster)
                break
    return max(found, default=None)


def figure_13(folder, tmp):
    """Compares dapple-place's plans on cluster A with PipeDream's plans of Table VII, made for its own schedule and
    links, in synchronous training there. Prints the rows and returns what is wrong, in words."""
    print("\nFigure 13: times faster than overlapped data parallelism (AmoebaNet-36: than one device)")
    rows, ratios = [], []
    judged = Rows("Figure 13: dapple-place over PipeDream's plan of Table VII", "figures 12 to 14")
    for devices in (16, 32):
        for name, (batch, *_) in DREAMS.items():
            made = dream(folder, tmp, name, devices)[0]
            case = Case(folder, tmp, name, devices, servers(devices), batch)
            base = case.parallel(OVERLAPPED) or 1 # one device, where data parallelism does not fit
            theirs = synchronous(case, made)
            their_shape = case.shape() if theirs else "no room"
            own = case.times("dapple-place")
            own_row = [name, batch, f"{devices // 8} x 8", times_text(own / base), case.shape()]
            what = f"{name}, {devices // 8} x 8"
            if theirs:
                rows.append([*own_row, times_text(theirs / base), their_shape, times_text(own / theirs)])
                ratios.append(own / theirs)
                judged.judge(what, ">= 1", f"{own / theirs:.3f}", own >= theirs * (1 - 1e-12))
            else:
                rows.append([*own_row, times_text(None), their_shape, times_text(None)])
                judged.cannot(what, ">= 1", "PipeDream's plan has no room")
    table(["model", "batch", "servers", "dapple-place", "devices of stages", "PipeDream's", "devices of stages",
           "ratio"], rows)
    judged.published("largest ratio to PipeDream's", LARGEST_PIPEDREAM, f"{max(ratios):.2f}", "more", PICTURES)
    return judged.show()


def figure_14(folder, tmp):
    """Makes Figure 14: how many times faster three kinds of plans are on 2 to 16 devices than on one; and compares what
    the paper says of the step from 8 to 10 devices, where a second server begins. Prints the rows and returns what is
    wrong, in words."""
    print("\nFigure 14: times faster on 2 to 16 devices of cluster A, whole samples; above 8, half of them in each of "
          "two servers")
    rows, judged = [], Rows("Figure 14", "figures 12 to 14")
    for name, batch in FIGURE_14.items():
        alone, overlapped, hybrid = {}, {}, {} # number of devices: times faster, None without a plan
        for n in range(2, 17, 2):
            case = Case(folder, tmp, name, n, servers(n), batch, ["--slices=whole"])
            alone[n], overlapped[n] = case.parallel(WITHOUT), case.parallel(OVERLAPPED)
            hybrid[n] = case.times("dapple-place")
            rows.append([name, batch, n, *map(times_text, (alone[n], overlapped[n], hybrid[n])),
                         case.shape() if case.plan else "no room"])
        if name == "AmoebaNet-36":
            fits = any(alone.values()) or any(overlapped.values())
            judged.fitted(f"{name} at {batch}, data parallelism", "none", "some" if fits else "none")
        else:
            for found, how in ((alone, ""), (overlapped, ", overlapped")):
                what = f"{name}, data parallelism{how}, from 8 to 10 devices"
                if found[8] is None or found[10] is None:
                    judged.cannot(what, "falls", f"{batch} samples are no whole number for each of 10 devices")
                else:
                    judged.published(what, "falls", "falls" if found[10] < found[8] else "rises", why=OVERLAP)
            judged.judge(f"{name}, 16 devices, dapple-place over overlapped data parallelism", "> 1",
                         f"{hybrid[16] / overlapped[16]:.2f}", hybrid[16] > overlapped[16])
        judged.published(f"{name}, dapple-place, from 8 to 10 devices", "does not fall",
                         "does not fall" if (hybrid[10] or 0) >= (hybrid[8] or 0) else "falls")
    table(["model", "batch", "devices", "data parallel", "overlapped", "dapple-place", "devices of stages"], rows)
    return judged.show()


# ---- Figure 8 ---------------------------------------------------------------------------------------------------

def tasks(count, split):
    """The tasks of `count` micro-batches as {name: (ms, names of its operands)}, and for each device the list of its
    tasks in order.  Devices 0 and 1 are a stage of 2 ms forward (f0_0: micro-batch, device) and 4 ms backward (b0_0),
    device 2 is a stage of half of that (F0 and B0: micro-batch).  split: both devices of the first stage take half of
    each micro-batch; else whole ones in turn.  Each of them is at most two micro-batches ahead."""
    time, order, share = {}, {d: [] for d in range(3)}, 0.5 if split else 1
    for m in range(count):
        devices = (0, 1) if split else (m % 2,)
        for d in devices:
            time[f"f{m}_{d}"] = 2 * share, []
        time[f"F{m}"] = 1, [f"f{m}_{d}" for d in devices]
        time[f"B{m}"] = 2, [f"F{m}"]
        for d in devices:
            time[f"b{m}_{d}"] = 4 * share, [f"B{m}", f"f{m}_{d}"]
        order[2] += [f"F{m}", f"B{m}"]
    for d in range(2):
        mine = [m for m in range(count) if split or m % 2 == d]
        forward, backward = ([f"{x}{m}_{d}" for m in mine] for x in "fb")
        order[d] = forward[:2]
        for i, b in enumerate(backward):
            order[d] += [b, *forward[i + 2:i + 3]] # the next forward task, if there is one
    return time, order


def ran(tmp, count, split):
    """Writes the model of these tasks and a plan in which each device runs its tasks in their order. Returns the ms
    that one step through the plan takes pcc."""
    time, order = tasks(count, split)
    model, plan = tmp / "tasks.pir", tmp / "tasks.plan"
    model.write_text("class acc x3 link=1000GB/s,0us\ngraph {\n" + "".join(
        f"  %{n} = profile:op({', '.join('%' + x for x in of)}) : !xfer=0ps !time={ms:g}ms\n"
        for n, (ms, of) in sorted(time.items(), key=lambda t: depth(t[0], time))) + "}\n", encoding="utf-8")
    assert sorted(n for d in order.values() for n in d) == sorted(time) # each task is on one device
    plan.write_text(json.dumps({"pcc_plan": 1, "planner": "by hand", "devices": [
        {"name": f"acc{d}", "nodes": nodes} for d, nodes in order.items()]}), encoding="utf-8")
    out = tmp / "tasks.json"
    Run([PCC, model, "--objective=makespan", "--dispatch=plan", "--contention=none", "-p", f"plan{{from={plan}}}", "-q",
         "-o", out]).need()
    return json.loads(out.read_text(encoding="utf-8"))["objective"]["value_s"] * 1e3


def depth(name, time):
    """The number of tasks on the longest path that ends with this task; in this order operands come before tasks that
    read them."""
    return 1 + max((depth(x, time) for x in time[name][1]), default=0)


def figure_8(_, tmp):
    """Compares figure 8: a stage of two devices that split each micro-batch, or take whole ones in turn, before a stage
    of half its time. Prints the rows and returns what is wrong, in words."""
    rows = Rows("Figure 8: a micro-batch split over two devices, and round robin, in a synchronous iteration, ms")
    for count, split, robin in ROUND_ROBIN:
        found = [ran(tmp, count, s) for s in (True, False)]
        rows.judge(f"{count} micro-batches", f"{split} and {robin}", "{:g} and {:g}".format(*found),
                   abs(found[0] - split) + abs(found[1] - robin) < 1e-6)
    said = Rows("Figure 8", "figure 8") # of the last number of micro-batches
    said.published("round robin", "takes longer", "takes longer" if found[1] > found[0] else "does not")
    return rows.show() + said.show()


FIGURES = (one_server, figure_8, figure_12, figure_13, figure_14)
