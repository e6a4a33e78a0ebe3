"""Runs splits as Ray's actors and compares with run_split.py, bit by bit: ray_by_folder.py SPLIT ...

One Ray for all, by calls and by compiled graphs. Of the first split actors are killed between samples, five times, one
of a graph, and one for good; --address of a cluster that is not there, and places that are none, are refused. Exit 1
where something differs."""
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import ray
import ray_split
import run_split

SAMPLES, TRIES = 12, 5


def equal(want, got):
    return len(want) == len(got) and all(a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)
                                         for a, b in zip(want, got))


wrong = []
for words, said in ((["--address", "127.0.0.1:1"], 1), (["--map", "accx=a"], 2)):
    if ray_split.main(["--folder", sys.argv[1], *words]) != said:
        wrong.append(f"{words}: not refused")
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={
    "env_vars": {"PYTHONPATH": sys.argv[1]}})
for folder in map(Path, sys.argv[1:]):
    alone = run_split.Runner(folder, exact=True)
    state = bool(alone.states)
    samples = [alone.random_sample(k, state) for k in range(SAMPLES)]
    want = list(alone.stream(samples, state=state))
    actors = ray_split.RayRunner(folder, exact=True, by="graph")
    times = 1 if state else 5  # enough for calls and a graph
    if not equal(want * times, list(actors.stream(samples * times, state=state))):
        wrong.append(f"{folder.name}: other outputs, {actors.said}")
    if str(folder) == sys.argv[1]:
        stream = actors.stream(samples * 3)
        got = [next(stream)]
        os.kill(ray.get(list(actors.actors.values())[-1].pid.remote()), signal.SIGKILL)
        if not equal(want * 3, got + list(stream)) or "graph was lost" not in actors.said:
            wrong.append(f"{folder.name}: other outputs after an actor of a graph was killed, {actors.said}")
    actors.close()
    actors = ray_split.RayRunner(folder, exact=True)
    if not equal(want * times, list(actors.stream(samples * times, state=state))):
        wrong.append(f"{folder.name}: other outputs, {actors.said}")
    print(f"{folder.name}: {actors.said}")
    if str(folder) == sys.argv[1]:
        for k in range(TRIES):  # an actor is started again 3 times; each of them in turn
            stream, each = actors.stream(samples * 3), list(actors.actors.values())
            got = [next(stream)]
            os.kill(ray.get(each[k % len(each)].pid.remote()), signal.SIGKILL)
            if not equal(want * 3, got + list(stream)):
                wrong.append(f"{folder.name}: other outputs after an actor was killed, try {k}")
        stream = actors.stream(samples * 3)
        next(stream)
        ray.kill(each[0], no_restart=True)
        try:
            list(stream)
            wrong.append(f"{folder.name}: goes on without an actor")
        except run_split.SplitError as e:
            if "\n" in str(e) or not str(e):
                wrong.append(f"{folder.name}: says {e!r}")
    actors.close()
print("\n".join(wrong))
sys.exit(bool(wrong))
