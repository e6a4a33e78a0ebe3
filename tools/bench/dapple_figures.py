"""Figures 12 to 14 of DAPPLE's paper (arXiv 2007.01045), and what it says of one server; see pcc-bench pipelines.

Speed-ups are iteration times of one device over those of all.  Where the paper has only pictures, its averages and
largest ratios are printed beside what is found here; what it says in words is checked."""
import re

from common import table
from training import A, CLUSTERS, Case, Rows, in_seconds, near, times_text

WITHOUT, OVERLAPPED = "after", "beside"
ONE_SERVER = ["VGG-19", "BERT-48", "XLNet-36"]
FIGURE_12 = ["VGG-19", "GNMT-16", "BERT-48", "XLNet-36", "AmoebaNet-36"]
SAME_BATCH = 128
RATIOS = {"A": "1.71", "B": "1.37", "C": "1.79"} # of the hybrid plan to overlapped data parallelism, on average
LARGEST, LARGEST_PIPEDREAM = "2.32", "3.23"
FIGURE_13 = {"VGG-19": 1024, "AmoebaNet-36": 128, "BERT-24": 126, "XLNet-36": 128}
FIGURE_14 = {"GNMT-16": 2048, "BERT-48": 128, "XLNet-36": 128, "AmoebaNet-36": 256}


def servers(devices):
    """Links of cluster A for a number of devices: one server, or several servers of equal size."""
    size = devices if devices <= 8 else devices // 2 if devices <= 16 else 8
    return [f"--group={size}:25GB/s,0us", *A[1:]]


def one_server(folder, tmp):
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
    rows.judge("AmoebaNet-36, data parallelism", "refused for memory", "refused" if case.parallel(WITHOUT) is None
               else "fits", case.parallel(WITHOUT) is None and "room" in case.run.out)
    return rows.show()


def figure_12(folder, tmp):
    wrong = []
    for batch in (None, SAME_BATCH):
        print(f"\nFigure 12: times faster on 16 devices, {'batches of Table V' if not batch else f'batch {batch}'}")
        rows, ratio = [], {k: [] for k in CLUSTERS}
        for name in FIGURE_12:
            for k, links in CLUSTERS.items():
                case = Case(folder, tmp, name, 16, links, batch)
                three = [case.parallel(how) for how in (WITHOUT, OVERLAPPED, "across")]
                hybrid = case.times("dapple-place")
                if three[1]:
                    ratio[k].append(hybrid / three[1])
                rows.append([name, case.args[1][15:], k, *map(times_text, three), times_text(hybrid), case.shape(),
                             f"{hybrid / three[1]:.2f}" if three[1] else "-"])
        table(["model", "batch", "cluster", "data parallel", "overlapped", "across", "hybrid", "devices of stages",
               "ratio"], rows)
        said = Rows(f"Figure 12, {'batches of Table V' if not batch else f'batch {batch}'}: hybrid over overlapped")
        for k, published in RATIOS.items():
            said.said(f"{k}, average", published, f"{sum(ratio[k]) / len(ratio[k]):.2f}")
        said.said("largest", LARGEST, f"{max(max(r) for r in ratio.values()):.2f}")
        wrong += said.show()
    return wrong


def figure_13(folder, tmp):
    """PipeDream's plans (for its own schedule) in synchronous training."""
    print("\nFigure 13: times faster than overlapped data parallelism (AmoebaNet-36: than one device)")
    rows, ratios, judged = [], [], Rows("Figure 13: dapple-place over PipeDream's plan")
    for devices in (16, 32):
        for name, batch in FIGURE_13.items():
            case = Case(folder, tmp, name, devices, servers(devices), batch)
            base = case.parallel(OVERLAPPED) or 1
            dream = case.times("pipedream-hier-place")
            shape = case.shape() if dream else "no room"
            own = case.times("dapple-place")
            ratios += [own / dream] if dream else []
            rows.append([name, batch, f"{devices // 8} x 8", times_text(own / base), case.shape(),
                         times_text(dream and dream / base), shape, times_text(dream and own / dream)])
            if dream:
                judged.judge(f"{name}, {devices // 8} x 8", ">= 1", f"{own / dream:.3f}", own >= dream * (1 - 1e-12))
    table(["model", "batch", "servers", "dapple-place", "devices of stages", "PipeDream's", "devices of stages",
           "ratio"], rows)
    judged.said("largest", LARGEST_PIPEDREAM, f"{max(ratios):.2f}")
    return judged.show()


def figure_14(folder, tmp):
    print("\nFigure 14: times faster on 2 to 16 devices of cluster A; above 8, half of them in each of two servers; a "
          "stage on all devices may share a sample")
    rows, judged = [], Rows("Figure 14")
    for name, batch in FIGURE_14.items():
        found = {}
        for n in range(2, 17, 2):
            case = Case(folder, tmp, name, n, servers(n), batch)
            found[n] = [case.parallel(WITHOUT), case.parallel(OVERLAPPED), case.times("dapple-place")]
            rows.append([name, batch, n, *map(times_text, found[n]), case.shape() if case.plan else "no room"])
        if name == "AmoebaNet-36":
            judged.judge(f"{name} at {batch}", "no data parallelism", "none" if not any(found[n][i] for n in found
                         for i in (0, 1)) else "some", not any(found[n][i] for n in found for i in (0, 1)))
        else:
            judged.judge(f"{name}, data parallelism from 8 to 10 devices", "falls", "{:.2f} to {:.2f}".format(
                found[8][0], found[10][0]), found[10][0] < found[8][0])
            judged.said(f"{name}, overlapped data parallelism from 8 to 10", "falls", "{:.2f} to {:.2f}".format(
                found[8][1], found[10][1]))
        judged.judge(f"{name}, dapple-place from 8 to 10 devices", "does not fall", "{} to {}".format(
            times_text(found[8][2]), times_text(found[10][2])), (found[10][2] or 0) >= (found[8][2] or 0))
    table(["model", "batch", "devices", "data parallel", "overlapped", "dapple-place", "devices of stages"], rows)
    return judged.show()


FIGURES = (one_server, figure_12, figure_13, figure_14)
