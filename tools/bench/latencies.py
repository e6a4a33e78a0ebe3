"""Table 4 and appendix F of the placement paper: latencies of one sample (`pcc-bench latency`)."""
import fnmatch
import json
import tempfile
from pathlib import Path

from cells import PLACEMENT, cell
from common import PCC, Run, facts_of, table, text_table, workloads_in
from latency import latency
from perturbed import perturbed_rows

BEST = "best-effort=true"
# Table 4, ms; "-": the paper has no value.  greedy: as the paper's own program prints it.  "+" and "OOM" are the
# paper's marks of plans that need more memory than there is.  load: the largest load of a device in the plan of the
# max-load DP, ms; wanted: the latency that latency-place must reach, ms.
TABLE = """
workload                     greedy  dp      scotch   expert  ip      load    wanted
op_bert3_inference           416.204 415.90  497.75   -       408.47  189.142 408.4744
op_bert6_inference           494.135 445.48  564.61   -       438.06  189.142 438.0625
op_bert12_inference          867.839 1327.03 1755.41  -       729.56  97.264  729.5646
op_resnet50_inference        839.536 1123.65 857.73   -       672.06  107.778 651.1208
layer_bert24_inference       100.219 108.03  108.03   111.94  100.22  22.035  100.2185
layer_resnet50_inference     4197.06 1443.79 3610.87+ OOM     1191.02 110.014 1156.8813
layer_inceptionv3_inference  2485.24 1621.74 3068.00+ OOM     1318.08 162.82  1203.1704
layer_gnmt_inference         268.500 244.33  636.91+  293.40+ 225.6   44.8965 225.6479
"""
# Latencies of the experts' splits as the paper's own program works them out, ms
EXPERTS = {"layer_bert24_inference": "111.937", "layer_resnet50_inference": "1014.93",
           "layer_inceptionv3_inference": "865.52", "layer_gnmt_inference": "293.40"}
BASELINES = {"greedy": f"greedy-place{{{BEST}}}", "dp": "dp-place",
             "scotch": f"contract{{trivial=false}},scotch-place{{{BEST}}}", "expert": None}
SEARCHES = {"latency": "latency-place", "q = 2": "latency-place{q=2}", "q = 3": "latency-place{q=3}"}
OUT_OF_MEMORY = 3 # times an accelerator's memory, above which the paper gives no latency
# Appendix F: how much lower the integer program's latency is, percent: most, average
GAINS = {"greedy": (72, 23), "dp": (42, 17), "scotch": (67, 40), "expert": (23, 17)}
COLUMNS = ["workload", "planner", "ms", "published", "bound", "gap %", "status", "memory", "cpu s", "MiB", "to 2 %"]
MEMORY = COLUMNS.index("memory") # of a row; empty if the plan keeps within memory and the number of accelerators
# s: time limits that are tried for the first plan within 2 % of the last one
LIMITS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)


PUBLISHED = text_table(TABLE)


def printed_as(value, text):
    """Whether value, with as many digits after the point as text, is text."""
    return f"{value:.{len(text.split('.')[1])}f}" == text


def memory_share(workload, split):
    """Share of its memory that the fullest accelerator needs."""
    size = {n["id"]: n.get("size", 0) for n in workload["nodes"]}
    q = split.get("q", 1) # slots of an accelerator, which "fpgas" lists one after the other
    sets = [[v for slot in split["fpgas"][i:i + q] for v in slot["nodes"]] for i in range(0, len(split["fpgas"]), q)]
    return max(sum(size[v] for v in s) for s in sets) / workload["maxSizePerFPGA"]


def memory_mark(share):
    """What a row says of a plan that needs `share` times the memory of an accelerator: nothing up to 1, "+ SHARE" up to
    OUT_OF_MEMORY, "OOM SHARE" above."""
    return "" if share <= 1 else f"OOM {share:.2f}" if share > OUT_OF_MEMORY else f"+ {share:.2f}"


class Input:
    """A workload, and the published figures that its rows are compared with.  wrong: complaints, in words."""

    def __init__(self, path, tmp):
        """tmp: a folder for plans."""
        self.name, self.path, self.tmp = path.stem, path, Path(tmp)
        self.workload = json.loads(path.read_text())
        self.published = PUBLISHED[self.name]
        self.wrong = []

    def complain(self, planner, text):
        """Notes what is wrong with the plan of a planner."""
        self.wrong.append(f"{self.name}, {planner}: {text}")

    def check_latency(self, planner, split):
        """Complains if pcc's latency of a split is not that of latency.py, for the setting that latency.py knows:
        subgraphs do not wait for their accelerator, and there is no limit of CPUs."""
        ms = latency(self.workload, [set(d["nodes"]) for d in split["fpgas"]])
        if abs(ms - split["totalLatency"]) > 1e-6:
            self.complain(planner, f"{split['totalLatency']} ms, latency.py has {ms}")

    def row(self, planner, run, split, made=None):
        """A row of the table, the last column empty.  run: the run of pcc that judged the plan; made: the run that made
        it, if that is another one."""
        status, ms, bound = facts_of(run.out)
        made = made or run
        published = self.published.get("ip" if planner in SEARCHES else planner, "-")
        return [self.name, planner, f"{ms:.6g}", "" if published == "-" else published,
                "" if bound is None else f"{bound:.6g}", f"{100 * (ms - bound) / ms:.2f}" if bound and ms else "",
                status, memory_mark(memory_share(self.workload, split)), f"{made.cpu:.2f}", f"{made.mib:.0f}", ""]

    def baseline(self, planner):
        """Makes one of BASELINES' plans, which are for another objective, or takes the expert's, and judges its latency
        as the paper evaluates it. What is wrong is added to `self.wrong`. Returns its row; None, after a note: there is
        no such plan."""
        plan, path, made = self.tmp / "plan.json", self.path, None
        if planner == "expert":
            plan = path.parent.parent / "experts" / f"{self.name}_expert.json"
            if not plan.exists():
                print(f"skipped: {self.name}, expert: {plan.name} is not there")
                return None
            devices = len(json.loads(plan.read_text())["fpgas"])
            if devices > self.workload["maxFPGAs"]: # it is judged in a copy of the workload with so many
                self.check_refused(plan, devices)
                path = self.tmp / path.name
                path.write_text(json.dumps(dict(self.workload, maxFPGAs=devices)))
        else:
            made = Run([PCC, path, "-p", BASELINES[planner], "-q", "-o", plan])
            if "this pcc was built without" in made.out:
                print(f"skipped: {self.name}, {planner}: {made.out.strip().splitlines()[-1]}")
                return None
            made.need()
            load = json.loads(plan.read_text())["maxLoad"]
            if planner == "dp" and not printed_as(load, self.published["load"]):
                self.complain(planner, f"largest load {load} ms, published {self.published['load']}")
        run, split = self.judge(path, f"plan{{from={plan}:{BEST}:effort=0}}", "--pieces=apart")
        self.check_latency(planner, split)
        exact = self.published["greedy"] if planner == "greedy" else EXPERTS[self.name] if planner == "expert" else None
        if exact and not printed_as(split["totalLatency"], exact):
            self.complain(planner, f"{split['totalLatency']} ms, published {exact}")
        row = self.row(planner, run, split, made)
        if path != self.path:
            row[MEMORY] = f"{devices} of {self.workload['maxFPGAs']} accelerators"
        return row

    def check_refused(self, plan, devices):
        """Checks that pcc refuses an expert's split of more accelerators than there are."""
        if Run([PCC, self.path, "--objective=latency", "-p", f"plan{{from={plan}}}", "-q"]).rc != 1:
            self.complain("expert", f"a split of {devices} accelerators is taken")

    def judge(self, path, steps, *more):
        """Plans a workload by these passes. Returns the run, and the split that it wrote."""
        out = self.tmp / "split.json"
        args = [PCC, path, "--objective=latency", "-p", steps, "-q", *more]
        run = Run([*args, "--emit", "ir", "-o", out]).need()
        return run, json.loads(out.read_text())

    def soon(self, planner, ms, cpu):
        """CPU seconds, as text, of the run with the shortest time limit of LIMITS whose plan takes at most 2 % more
        than `ms`, the latency that a run without limit found in `cpu` seconds."""
        for limit in LIMITS:
            if limit >= cpu:
                break
            run = Run([PCC, self.path, "-p", SEARCHES[planner], "-q", "--emit", "ir", "--time-limit", f"{limit}s"])
            if not run.rc and facts_of(run.out)[1] <= ms * 1.02:
                return f"{run.cpu:.2f}"
        return f"{cpu:.2f}"

    def search(self, planner):
        """Runs one of the searches and returns its row. What is wrong is added to `self.wrong`. Prints a line if the
        plan has another latency with any number of CPUs, which latency.py supposes."""
        run, split = self.judge(self.path, SEARCHES[planner])
        row = self.row(planner, run, split)
        row[-1] = self.soon(planner, facts_of(run.out)[1], run.cpu)
        if planner == "latency":
            self.check_latency(planner, split)
            if split["totalLatency"] > float(self.published["wanted"]) * (1 + 1e-6):
                self.complain(planner, f"{split['totalLatency']} ms, wanted {self.published['wanted']}")
        if memory_share(self.workload, split) > 1:
            self.complain(planner, "over memory")
        endless = Run([PCC, self.path, "--objective=latency", "--cpus=unbounded", "-p",
                       f"plan{{from={self.tmp / 'split.json'}:effort=0}}", "-q", "--emit", "ir"]).need()
        if facts_of(endless.out)[1] != facts_of(run.out)[1]:
            print(f"{self.name}, {planner}: {facts_of(endless.out)[1]:.6g} ms with CPUs without end")
        return row


# Table 4: nodes; seconds of the integer program (">": it was stopped then); its gap, %; its gain over the best of the
# baselines, %
TABLE_4 = """
workload                     nodes runtime gap  gain
op_bert3_inference           235   180     1    1.8
op_bert6_inference           418   >3600   12.6 1.7
op_bert12_inference          783   >3600   93.8 19.0
op_resnet50_inference        604   >3600   54.0 24.9
layer_bert24_inference       32    14      1    0.0
layer_resnet50_inference     354   >3600   93.1 21.2
layer_inceptionv3_inference  652   >3600   93.5 23.0
layer_gnmt_inference         192   180     1    8.3
"""
CELLS = {"greedy": "Greedy", "dp": "Max-load DP", "scotch": "Scotch", "expert": "Expert", "latency": "IP"}


def table_4(rows):
    """Adds the cells of Table 4, and prints its last column: how much longer the best baseline takes. `rows`: lists
    below COLUMNS."""
    lines, of = [], {(r[0], r[1]): dict(zip(COLUMNS, r)) for r in rows}
    for name, paper in text_table(TABLE_4).items():
        for planner, column in CELLS.items():
            said, r = PUBLISHED[name].get("ip" if planner == "latency" else planner, "-"), of.get((name, planner))
            if r and said not in ("-", "OOM") and not r["memory"].endswith("accelerators"):
                cell(PLACEMENT, "Table 4", f"{name}, {column}", said.rstrip("+"), r["ms"], "less")
        baselines = [of[name, b] for b in BASELINES if (name, b) in of]
        fitting = [float(r["ms"]) for r in baselines if not r["memory"]]
        found = of.get((name, "latency"))
        if not found or not fitting:
            continue
        gain = f"{100 * (min(fitting) / float(found['ms']) - 1):.1f}"
        lines.append([name, gain, paper["gain"]])
        cell(PLACEMENT, "Table 4", f"{name}, Gain", paper["gain"], gain, "more")
        cell(PLACEMENT, "Table 4", f"{name}, MIP Gap", paper["gap"], found["gap %"] or "100", "less")
        cell(PLACEMENT, "Table 4", f"{name}, Runtime", paper["runtime"].lstrip(">"), found["cpu s"], "less")
    print("\nTable 4, Gain: how much longer the best baseline that fits takes, %")
    table(["workload", "here", "published"], lines)


def gains(rows):
    """Prints by how much latencies of latency-place, and the published ones, are below those of each baseline; adds the
    cells of appendix F if all workloads were run. `rows`: lists below COLUMNS."""
    ms = {(r[0], r[1]): float(r[2]) for r in rows} # (workload, planner): latency
    ms |= {(name, "published ip"): float(figures["ip"]) for name, figures in PUBLISHED.items()}
    lines = []
    for planner, (most, average) in GAINS.items():
        names = [r[0] for r in rows if r[1] == planner and not r[MEMORY].startswith("OOM")]
        for ours in (*SEARCHES, "published ip"):
            low = [100 * (1 - ms[name, ours] / ms[name, planner]) for name in names if (name, ours) in ms]
            if low:
                lines.append([planner, ours, len(low), f"{max(low):.0f}", most, f"{sum(low) / len(low):.0f}", average])
            if low and ours == "latency" and len({r[0] for r in rows}) == len(PUBLISHED):
                for what, text, got in (("most", most, max(low)), ("average", average, sum(low) / len(low))):
                    cell(PLACEMENT, "appendix F", f"lower than {planner}'s, {what}, %", text, f"{got:.0f}", "more")
    table(["lower than", "by", "inputs", "most %", "published", "average %", "published"], lines)


def ended(rows, wrong):
    """Prints what failed and how many rows there are. Returns the exit code."""
    for line in wrong:
        print(f"FAILED: {line}")
    print(f"{len(rows)} rows, {len(wrong)} failed")
    return 1 if wrong else 0


def latencies(args):
    """The command: compares every workload's latency with the published one, for each search, and prints the rows.
    Returns the exit code."""
    paths = workloads_in(args.folder, [n for n in PUBLISHED if fnmatch.fnmatch(n, args.only)], large=False)
    searches = list(SEARCHES)[:args.slots]
    rows, wrong = [], []
    with tempfile.TemporaryDirectory() as tmp:
        if args.perturbed:
            return ended(*perturbed_rows(paths, args.perturbed, tmp))
        print("  ".join(COLUMNS))
        for path in paths:
            x = Input(path, tmp)
            nodes = text_table(TABLE_4)[x.name]["nodes"]
            if int(nodes) != 2 * len(x.workload["nodes"]): # the paper counts the training graphs of three
                cell(PLACEMENT, "Table 4", f"{x.name}, Nodes", nodes, len(x.workload["nodes"]))
            mine = []
            for planner in [*BASELINES, *searches]:
                row = x.baseline(planner) if planner in BASELINES else x.search(planner)
                if row:
                    mine.append(row)
                    print("  ".join(c or "-" for c in row), flush=True)
            found = [float(r[2]) for r in mine if r[1] in SEARCHES] # with 1, 2 and 3 slots for an accelerator
            if found != sorted(found, reverse=True):
                x.complain("more slots", f"take longer: {found} ms")
            rows += mine
            wrong += x.wrong
    print()
    table(COLUMNS, rows)
    table_4(rows)
    gains(rows)
    return ended(rows, wrong)
