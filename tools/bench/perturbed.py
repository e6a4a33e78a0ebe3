"""Inputs of the placement paper with other times, and latency-place on them (`pcc-bench latency --perturbed N`).

For each input and seed every time, and every cost of a value, is multiplied by a random factor in 0.8..1.25, and the
ids are shuffled.  Where the search of latency-place ends at T, the answer is checked from both sides.  Its plan takes T
by latency.py, which was written apart from pcc, so there is something below T + 1 us; and the search alone, whose
limits rise from the longest path without a plan from annealing, finds just that there.  Below T it finds nothing: it
proves no more than T; and annealing alone, without any search, finds no less."""
import json
import random
from pathlib import Path

from common import PCC, Run, facts_of, table
from latency import latency

COLUMNS = ["workload", "seed", "ms", "bound", "status", "search alone", "annealing, ms", "more %", "cpu s"]


def perturbed(load, seed):
    """A copy of the workload whose times and costs are changed by a fifth at most downwards, a quarter upwards, with
    shuffled ids."""
    rng = random.Random(seed)
    ids = [n["id"] for n in load["nodes"]]
    new = dict(zip(ids, rng.sample(ids, len(ids))))
    # a value has one cost, whoever reads it
    sent = {v: rng.uniform(.8, 1.25) for v in sorted({e["sourceId"] for e in load["edges"]})}
    nodes = [dict(n, id=new[n["id"]], cpuLatency=n["cpuLatency"] * rng.uniform(.8, 1.25),
                  fpgaLatency=n["fpgaLatency"] * rng.uniform(.8, 1.25)) for n in load["nodes"]]
    edges = [dict(e, sourceId=new[e["sourceId"]], destId=new[e["destId"]], cost=e["cost"] * sent[e["sourceId"]])
             for e in load["edges"]]
    rng.shuffle(nodes)
    rng.shuffle(edges)
    return dict(load, nodes=nodes, edges=edges)


class Case:
    """A workload with other times.  path: a file with it; out: a file for plans; wrong: complaints, in words."""

    def __init__(self, path, seed, tmp):
        """Writes the workload in the file `path`, perturbed with this seed, to the folder `tmp`."""
        self.name, self.seed = path.stem, seed
        self.load = perturbed(json.loads(path.read_text()), seed)
        self.path, self.out = Path(tmp) / "other.json", Path(tmp) / "other_split.json"
        self.path.write_text(json.dumps(self.load))
        self.wrong = []

    def plan(self, options):
        """Plans by `latency-place{options}`. Returns status, ms and bound of the plan, and the run; adds to `wrong` if
        latency.py has other ms, or an accelerator's memory does not do."""
        run = Run([PCC, self.path, "-p", f"latency-place{options}", "-q", "--emit", "ir", "-o", self.out]).need()
        split = json.loads(self.out.read_text())
        status, ms, bound = facts_of(run.out)
        other = latency(self.load, [set(d["nodes"]) for d in split["fpgas"]])
        size = {n["id"]: n.get("size", 0) for n in self.load["nodes"]}
        most = max((sum(size[v] for v in d["nodes"]) for d in split["fpgas"]), default=0)
        if abs(ms - other) > 1e-6:
            self.wrong.append(f"{self.name}, seed {self.seed}: {ms} ms, latency.py has {other}")
        if most > self.load["maxSizePerFPGA"]:
            self.wrong.append(f"{self.name}, seed {self.seed}: over memory")
        return status, ms, bound, run

    def row(self):
        """Plans the workload by search and annealing, and by each alone. Returns the cells of its row; claims that
        another run refutes are added to `self.wrong`."""
        status, ms, bound, run = self.plan("")
        _, annealed, _, _ = self.plan("{max-states=0}")
        search_status, searched, search_bound, _ = self.plan("{seed=7:moves=1}")
        where = f"{self.name}, seed {self.seed}"
        if search_status == "optimal" and searched > ms or search_bound > ms:
            self.wrong.append(f"{where}: there is a plan of {ms} ms, the search alone has {searched} ms, "
                              f"bound {search_bound}")
        if status == "optimal" and min(searched, annealed) < ms:
            self.wrong.append(f"{where}: {ms} ms is optimal, the search alone finds {searched} ms, "
                              f"annealing {annealed}")
        return [self.name, self.seed, f"{ms:.6f}", f"{bound:.6f}", status,
                f"{searched:.6f}" if search_status == "optimal" else "not to its end", f"{annealed:.6f}",
                f"{100 * (annealed / ms - 1):.2f}", f"{run.cpu:.2f}"]


def perturbed_rows(paths, seeds, tmp):
    """Prints a row for each input and each of so many seeds as soon as it is known, then all in a table, and how many
    searches ended. Returns the rows and the errors in words."""
    rows, wrong = [], []
    for path in paths:
        for seed in range(1, seeds + 1):
            case = Case(path, seed, tmp)
            rows.append(case.row())
            print("  ".join(map(str, rows[-1])), flush=True)
            wrong += case.wrong
    print()
    table(COLUMNS, rows)
    ended = [r for r in (dict(zip(COLUMNS, row)) for row in rows) if r["status"] == "optimal"]
    print(f"{len(ended)} of {len(rows)} searched to the end; of these the search alone finds "
          f"{sum(r['ms'] == r['search alone'] for r in ended)}, annealing alone "
          f"{sum(r['ms'] == r['annealing, ms'] for r in ended)}")
    return rows, wrong
