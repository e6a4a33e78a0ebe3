"""Figures 8 and 12 to 14 of DAPPLE's paper (arXiv 2007.01045), and what it says of one server; see pcc-bench pipelines.

Speed-ups are iteration times of one device over those of all.  Where the paper has only pictures, its averages and
largest ratios are compared; and what it says in words."""
import json
import re

from common import PCC, Run, table
from dapple_plans import dream, DREAMS
from training import A, CLUSTERS, Case, Rows, in_seconds, near, times_text

WITHOUT, OVERLAPPED = "after", "beside"
ONE_SERVER = ["VGG-19", "BERT-48", "XLNet-36"]
FIGURE_12 = ["VGG-19", "GNMT-16", "BERT-48", "XLNet-36", "AmoebaNet-36"]
SAME_BATCH = 128
PICTURES = "the paper has a picture, and says the largest ratio only"
OVERLAP = "AllReduce beside backward hides what the slower link takes"
ROUND_ROBIN = [(3, 12, 15), (4, 15, 18), (8, 27, 30)] # micro-batches, ms split, ms in turn, worked out by hand
RATIOS = {"A": "1.71", "B": "1.37", "C": "1.79"} # of the hybrid plan to overlapped data parallelism, on average
LARGEST, LARGEST_PIPEDREAM = "2.32", "3.23"
BEST_IS_PARALLEL = [("VGG-19", "A"), ("VGG-19", "B")] # Table V
FIGURE_14 = {"GNMT-16": 2048, "BERT-48": 128, "XLNet-36": 128, "AmoebaNet-36": 256}


def servers(devices):
    """Links of cluster A for a number of devices: one server, or several servers of equal size."""
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
            case.times("dapple-place{errors=true}")
            said = in_seconds(re.search(r"best of several stages takes (\S+)", case.run.out)[1])
            x = case.alone / said
            rows.judge(f"{name}, best of several stages by the formula", "7.87", f"{x:.2f}", near(x, "7.87"))
    case = Case(folder, tmp, "AmoebaNet-36", 8, servers(8))
    rows.fitted("AmoebaNet-36, data parallelism", "refused for memory",
                "refused for memory" if case.parallel(WITHOUT) is None else "fits")
    return rows.show()


def figure_12(folder, tmp):
    """Both sides with the same overlap of AllReduce and computing: that of the paper's best data parallelism."""
    wrong = []
    for batch in (None, SAME_BATCH):
        title = f"Figure 12, {f'batch {batch}' if batch else 'batches of Table V'}: hybrid over data parallelism, " \
            "both overlapped"
        print(f"\n{title}; times faster on 16 devices")
        rows, ratio, judged = [], {k: [] for k in CLUSTERS}, Rows(title, None if batch else "figures 12 to 14")
        for name in FIGURE_12:
            for k, links in CLUSTERS.items():
                case = Case(folder, tmp, name, 16, links, batch)
                three = [case.parallel(how) for how in (WITHOUT, OVERLAPPED, "across")]
                hybrid = case.times("dapple-place", f"--allreduce-overlap={OVERLAPPED}")
                x = hybrid / three[1] if three[1] else None
                rows.append([name, case.args[1][15:], k, *map(times_text, three), times_text(hybrid), case.shape(),
                             times_text(x)])
                if x and (batch or (name, k) not in BEST_IS_PARALLEL):
                    ratio[k].append(x)
                    judged.judge(f"{name}, {k}", "> 1", f"{x:.2f}", x > 1)
        table(["model", "batch", "cluster", "data parallel", "overlapped", "across", "hybrid", "devices of stages",
               "ratio"], rows)
        for k, published in RATIOS.items():
            judged.published(f"{k}, average", published, f"{sum(ratio[k]) / len(ratio[k]):.2f}", "more")
        judged.published("largest", LARGEST, f"{max(max(r) for r in ratio.values()):.2f}", "more")
        wrong += judged.show()
    return wrong


def synchronous(case, made):
    """How many times faster than one device a case is with the stages of another case's plan, by the better one of
    DAPPLE's policies, with as many micro-batches ahead as fit into memory; None if not even one fits."""
    given, stages, found = case.tmp / "sync.json", made.plan["training"]["stages"], []
    for policy in (lambda left: left, lambda left: 2 * left - 1):
        for most in range(policy(len(stages)), 0, -1):
            for i, stage in enumerate(stages):
                stage["ahead"] = min(policy(len(stages) - i), most)
            given.write_text(json.dumps(made.plan), encoding="utf-8")
            x = case.times(f"plan{{from={given}}}")
            if x:
                found.append(x)
                break
    return max(found, default=None)


def figure_13(folder, tmp):
    """PipeDream's plans of Table VII, made for its own schedule and links, in synchronous training on cluster A."""
    print("\nFigure 13: times faster than overlapped data parallelism (AmoebaNet-36: than one device)")
    rows, ratios = [], []
    judged = Rows("Figure 13: dapple-place over PipeDream's plan of Table VII", "figures 12 to 14")
    for devices in (16, 32):
        for name, (batch, *_) in DREAMS.items():
            made = dream(folder, tmp, name, devices)[0]
            case = Case(folder, tmp, name, devices, servers(devices), batch)
            base = case.parallel(OVERLAPPED) or 1
            theirs = synchronous(case, made)
            shape = case.shape() if theirs else "no room"
            own = case.times("dapple-place")
            what = f"{name}, {devices // 8} x 8"
            rows.append([name, batch, f"{devices // 8} x 8", times_text(own / base), case.shape(),
                         times_text(theirs and theirs / base), shape, times_text(theirs and own / theirs)])
            if theirs:
                ratios.append(own / theirs)
                judged.judge(what, ">= 1", f"{own / theirs:.3f}", own >= theirs * (1 - 1e-12))
            else:
                judged.cannot(what, ">= 1", "PipeDream's plan has no room")
    table(["model", "batch", "servers", "dapple-place", "devices of stages", "PipeDream's", "devices of stages",
           "ratio"], rows)
    judged.published("largest ratio to PipeDream's", LARGEST_PIPEDREAM, f"{max(ratios):.2f}", "more", PICTURES)
    return judged.show()


def figure_14(folder, tmp):
    """Makes Figure 14: the times that three kinds of plans are faster on 2 to 16 devices than on one. Prints the rows
    and returns what is wrong, in words."""
    print("\nFigure 14: times faster on 2 to 16 devices of cluster A, whole samples; above 8, half of them in each of "
          "two servers")
    rows, judged = [], Rows("Figure 14", "figures 12 to 14")
    for name, batch in FIGURE_14.items():
        found = {}
        for n in range(2, 17, 2):
            case = Case(folder, tmp, name, n, servers(n), batch, ["--slices=whole"])
            found[n] = [case.parallel(WITHOUT), case.parallel(OVERLAPPED), case.times("dapple-place")]
            rows.append([name, batch, n, *map(times_text, found[n]), case.shape() if case.plan else "no room"])
        none, falls = (not any(found[n][i] for n in found for i in (0, 1)), "falls")
        if name == "AmoebaNet-36":
            judged.fitted(f"{name} at {batch}, data parallelism", "none", "none" if none else "some")
        else:
            for i, how in ((0, ""), (1, ", overlapped")):
                ends = [found[n][i] for n in (8, 10)]
                what = f"{name}, data parallelism{how}, from 8 to 10 devices"
                if None in ends:
                    judged.cannot(what, falls, f"{batch} samples are no whole number for each of 10 devices")
                else:
                    judged.published(what, falls, falls if ends[1] < ends[0] else "rises", why=OVERLAP)
            judged.judge(f"{name}, 16 devices, dapple-place over overlapped data parallelism", "> 1",
                         f"{found[16][2] / found[16][1]:.2f}", found[16][2] > found[16][1])
        ends = [found[n][2] or 0 for n in (8, 10)]
        judged.published(f"{name}, dapple-place, from 8 to 10 devices", "does not fall",
                         "does not fall" if ends[1] >= ends[0] else "falls")
    table(["model", "batch", "devices", "data parallel", "overlapped", "dapple-place", "devices of stages"], rows)
    return judged.show()


# ---- Figure 8 ---------------------------------------------------------------------------------------------------

def tasks(count, split):
    """(ms, operands) of each task, and the tasks of each device in order: a stage of 2 ms forward and 4 ms backward on
    two devices, and one of half of that on a third.  split: both devices of the first stage take half of each
    micro-batch; else whole ones in turn.  Two micro-batches of the first stage are ahead, for each of its devices."""
    time, order, part = {}, {d: [] for d in range(3)}, 2 if split else 1
    for m in range(count):
        firsts = [(m, d) for d in range(2)] if split else [(m, m % 2)]
        for k in firsts:
            time[f"f{k[0]}_{k[1]}"] = 2 / part, []
        time[f"F{m}"] = 1, [f"f{a}_{d}" for a, d in firsts]
        time[f"B{m}"] = 2, [f"F{m}"]
        for k in firsts:
            time[f"b{k[0]}_{k[1]}"] = 4 / part, [f"B{m}", f"f{k[0]}_{k[1]}"]
        order[2] += [f"F{m}", f"B{m}"]
    for d in range(2):
        mine = [m for m in range(count) if split or m % 2 == d]
        forward, backward = ([f"{x}{m}_{d}" for m in mine] for x in "fb")
        order[d] = forward[:2]
        for i, b in enumerate(backward):
            order[d] += [b, *forward[i + 2:i + 3]]
    return time, order


def ran(tmp, count, split):
    """ms of these tasks, each device in its order, as pcc's replay of one step takes."""
    time, order = tasks(count, split)
    model, plan = tmp / "tasks.pir", tmp / "tasks.plan"
    rank = {n: i for d in order.values() for i, n in enumerate(d)}
    model.write_text("class acc x3 link=1000GB/s,0us\ngraph {\n" + "".join(
        f"  %{n} = profile:op({', '.join('%' + x for x in of)}) : !xfer=0ps !time={ms:g}ms\n"
        for n, (ms, of) in sorted(time.items(), key=lambda t: depth(t[0], time))) + "}\n", encoding="utf-8")
    assert len(rank) == len(time)
    plan.write_text(json.dumps({"pcc_plan": 1, "planner": "by hand", "devices": [
        {"name": f"acc{d}", "nodes": nodes} for d, nodes in order.items()]}), encoding="utf-8")
    out = tmp / "tasks.json"
    Run([PCC, model, "--objective=makespan", "--dispatch=plan", "--contention=none", "-p", f"plan{{from={plan}}}", "-q",
         "-o", out]).need()
    return json.loads(out.read_text(encoding="utf-8"))["objective"]["value_s"] * 1e3


def depth(name, time):
    """Depth of a node of an expression (operands stand before it in the file), at most four."""
    return 1 + max((depth(x, time) for x in time[name][1]), default=0)


def figure_8(_, tmp):
    """A stage of two devices that split each micro-batch, or take whole ones in turn, before one of half its time."""
    rows = Rows("Figure 8: a micro-batch split over two devices, and round robin, in a synchronous iteration, ms")
    for count, split, robin in ROUND_ROBIN:
        found = [ran(tmp, count, s) for s in (True, False)]
        rows.judge(f"{count} micro-batches", f"{split} and {robin}", "{:g} and {:g}".format(*found),
                   abs(found[0] - split) + abs(found[1] - robin) < 1e-6)
    said = Rows("Figure 8", "figure 8")
    said.published("round robin", "takes longer", "takes longer" if found[1] > found[0] else "does not")
    return rows.show() + said.show()


FIGURES = (one_server, figure_8, figure_12, figure_13, figure_14)
