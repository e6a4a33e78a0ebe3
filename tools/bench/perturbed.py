"""Inputs of the placement paper with other times, and latency-place on them (`pcc-bench latency --perturbed N`).

For each input and seed every time, and every cost of a value, is multiplied by a random factor in 0.8..1.25, and the
ids are shuffled.  Where the search of latency-place ends at T: its plan takes T by latency.py, which was written apart
from pcc (so there is something below T + 1 us); another seed and half of the budget prove no more than T and find T (so
there is nothing below it); and annealing alone, without any search, never finds less."""
import json
import random
from pathlib import Path

from common import PCC, Run, facts_of, table
from latency import latency

COLUMNS = ["workload", "seed", "ms", "bound", "status", "annealing, ms", "more %", "cpu s"]


def perturbed(load, seed):
    """The same graph with other times and costs, and shuffled ids."""
    rng = random.Random(seed)
    ids = [n["id"] for n in load["nodes"]]
    new = dict(zip(ids, rng.sample(ids, len(ids))))
    sent = {v: rng.uniform(.8, 1.25) for v in sorted({e["sourceId"] for e in load["edges"]})}
    nodes = [dict(n, id=new[n["id"]], cpuLatency=n["cpuLatency"] * rng.uniform(.8, 1.25),
                  fpgaLatency=n["fpgaLatency"] * rng.uniform(.8, 1.25)) for n in load["nodes"]]
    edges = [dict(e, sourceId=new[e["sourceId"]], destId=new[e["destId"]], cost=e["cost"] * sent[e["sourceId"]])
             for e in load["edges"]]
    rng.shuffle(nodes)
    rng.shuffle(edges)
    return dict(load, nodes=nodes, edges=edges)


class Case:
    def __init__(self, path, seed, tmp):
        self.name, self.seed = path.stem, seed
        self.load = perturbed(json.loads(path.read_text()), seed)
        self.path, self.out = Path(tmp) / "other.json", Path(tmp) / "other_split.json"
        self.path.write_text(json.dumps(self.load))
        self.wrong = []

    def plan(self, options):
        """What `latency-place{options}` says: status, ms, bound; and the run."""
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
        status, ms, bound, run = self.plan("")
        annealed = self.plan("{max-states=0}")[1]
        where = f"{self.name}, seed {self.seed}"
        if status == "optimal":
            again, least, below, _ = self.plan("{seed=7:max-states=1000000}")
            if below > ms or again == "optimal" and least != ms:
                self.wrong.append(f"{where}: {ms} ms is optimal, seed 7 has {least} ms, bound {below}")
            if annealed < ms - 1e-9:
                self.wrong.append(f"{where}: {ms} ms is optimal, annealing finds {annealed}")
        return [self.name, self.seed, f"{ms:.6f}", f"{bound:.6f}", status, f"{annealed:.6f}",
                f"{100 * (annealed / ms - 1):.2f}", f"{run.cpu:.2f}"]


def perturbed_rows(paths, seeds, tmp):
    """Prints a row for each input and seed as it is made; what is wrong."""
    rows, wrong = [], []
    for path in paths:
        for seed in range(1, seeds + 1):
            case = Case(path, seed, tmp)
            rows.append(case.row())
            print("  ".join(map(str, rows[-1])), flush=True)
            wrong += case.wrong
    print()
    table(COLUMNS, rows)
    agree = sum(r[4] == "optimal" and r[2] == r[5] for r in rows)
    ended = sum(r[4] == "optimal" for r in rows)
    print(f"{ended} of {len(rows)} searched to the end; annealing alone finds {agree} of these")
    return rows, wrong
