#!/usr/bin/env python3
"""Runs splits with a process for each device, by mpirun, and checks what docs/machines.md says.

usage: ranks.py [--few] [--seeds=13-19] [same|samples|ends|sizes|delay ...]      (default: all; --few: a tenth of it)

same      outputs of 2, 3 and 4 ranks are, bit by bit, those of the parts in ONNX Runtime (run_split.py --exact)
samples   10,000 samples through 4 ranks with random delays, 20 seeds: each output is of its own sample, memory stays
          flat, and devices hold what the schedule says
ends      20 ranks that are killed and 20 that are stopped end the run within 5 s, with one message that names them;
          a part that takes 20 s does not
sizes     1 kB, 1 MB and 64 MB from device to device: threads, ranks, and the same messages in a bare program of MPI,
          which has them no more than 1.2 times as fast where each thread of two ranks has a processor; also where MPI
          may not copy from process to process and long messages go in pieces, as in containers; Ray's actors by
          calls and by compiled graphs, with the Python of PCC_RAY (default: that of tools/setup.sh --engines); all but
          Ray before other programs where real-time priority is permitted
delay     two network namespaces 1 ms apart: the same outputs, and the throughput that pcc predicts with the link that
          pcc-profile --links measures there (needs root and /dev/net/tun; else skipped), before other programs where
          real-time priority is permitted: then its times count on any machine
Exit 1 when one does not hold; times only where PCC_TIMED says that the machine is quiet."""
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from common import PCC, PCC_GEN, ROOT, SHARED, help_or_go

sys.path.insert(0, str(ROOT / "tests/support"))
from rank_processes import ranks_of

RUN = Path(PCC).parent / "pcc-run"
STUB = "--engine=stub"
SMALL = ["--layers", 4, "--width", 64, "--heads", 4, "--vocab", 100]
TIMED = bool(os.environ.get("PCC_TIMED"))
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "OMPI_MCA_mpi_yield_when_idle": "1"}
WRONG = []
# --seeds: the first and the last one (or one alone); empty: all
SEEDS = [int(n) for w in sys.argv if w.startswith("--seeds=") for n in w.removeprefix("--seeds=").split("-")]


def check(good, what):
    """Adds `what` to WRONG and prints it unless `good`."""
    if not good:
        WRONG.append(what)
        print(f"WRONG: {what}", flush=True)


def run(*command, **options):
    """Runs a command and returns its output; ends the script if it fails."""
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT, **options)
    if r.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {r.returncode}: {r.stderr[-2000:]}")
    return r.stdout


def ranks(n, *command):
    """Runs a command with `n` ranks. Returns what it printed."""
    return run("mpirun", "-q", "-n", n, *command)


def arrays(folder):
    """{name of the file: {name: (shape, bytes)}} of all arrays in a folder, to compare outputs bit by bit."""
    made = {}
    for path in sorted(folder.iterdir()):
        with np.load(path) as z:
            made[path.name] = {n: (z[n].shape, z[n].tobytes()) for n in z.files}
    return made


# ---- same ---------------------------------------------------------------------------------------

def exports():
    """(name, path, no options) of the first two small exported models of ../shared."""
    tiny = SHARED / "models/exported/tiny"
    return [(m.stem, m, []) for m in sorted(tiny.glob("*.onnx"))[:2]]


def models(tmp):
    """Yields (name, path, options for its dimensions) for generated and exported models."""
    for name, *args in (("gpt_kv", "gpt", "--kv", *SMALL), ("moe", "moe", *SMALL),
                        ("resnet", "resnet", "--depth", 18, "--width", 8, "--size", 32)):
        run(PCC_GEN, *args, "-o", tmp / f"{name}.onnx")
        sizes = ["--dim=batch=1,sequence=2,past_sequence=3"] if name == "gpt_kv" else []
        yield name, tmp / f"{name}.onnx", sizes
    yield from exports()


def samples_of(split, n, tmp, state):
    """Writes n files with random inputs of a split, which both programs read. state: inputs that hold state are left
    out. Returns their paths."""
    manifest, rng, files = json.loads((split / "manifest.json").read_text()), np.random.default_rng(1), []
    states = {s["in"] for s in manifest["states"]} if state else set()
    kinds = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32, "bool": np.bool_}
    for k in range(n):
        feed = {}
        for i in manifest["inputs"]:
            if i["name"] in states:
                continue
            size, kind = i["sizes"], kinds[i["type"].split("[")[0]]
            whole = issubclass(kind, np.integer) or kind is np.bool_
            feed[i["name"]] = (rng.integers(0, 2, size) if whole else rng.standard_normal(size)).astype(kind)
        files.append(tmp / f"sample{k}.npz")
        np.savez(files[-1], **feed)
    return files


# Runs the parts in ONNX Runtime for Python, without optimisations, as run_split.py and verify_split.py do.
EXACT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import run_split
runner = run_split.Runner(sys.argv[1], exact=True)
feeds = (dict(run_split.np.load(f)) for f in sys.argv[4:])
for k, made in enumerate(runner.stream(feeds, state=bool(sys.argv[3]))):
    run_split.write_outputs(Path(sys.argv[2]) / f"sample{k}.npz", made)
"""


def same(tmp, few):
    """Compares outputs of ranks with those of ONNX Runtime. `few`: a tenth of the samples."""
    n = 10 if few else 100
    for name, model, sizes in models(tmp):
        state = ["--state"] if name == "gpt_kv" else []
        for devices in (2, 3, 4):
            split, one, other = tmp / "split", tmp / "one", tmp / "other"
            for folder in (split, one, other):
                shutil.rmtree(folder, ignore_errors=True)
            run(PCC, model, "-q", "--pictures=none", f"-d{devices}xcpu", "-panneal-place", "--part-cost=0", *sizes,
                "-o", split)
            used = len({p["device"] for p in json.loads((split / "manifest.json").read_text())["parts"]})
            files = samples_of(split, n, tmp, bool(state))
            ranks(used, RUN, split, *files, "-q", "--optimise=none", f"--output={one}", *state)
            other.mkdir()
            run(sys.executable, "-c", EXACT, split, other, bool(state) or "", *files)
            got, want = arrays(one), arrays(other)
            check(got == want and len(got) == n, f"{name}, {used} ranks: other outputs than run_split.py's")
            print(f"same: {name}: {used} ranks, {n} samples", flush=True)


# ---- samples ------------------------------------------------------------------------------------

def resident(process):
    """Resident KiB of a process, given by its id."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1])


def gpt_of(tmp, devices):
    """Makes a GPT model and splits it over this number of devices. Returns the folder of the split."""
    split = tmp / f"gpt{devices}"
    run(PCC_GEN, "gpt", *SMALL, "-o", tmp / "gpt.onnx")
    run(PCC, tmp / "gpt.onnx", "-q", "--pictures=none", f"-d{devices}xcpu", "-panneal-place", "--part-cost=0",
        "--dim=batch=1,sequence=8", "-o", split)
    return split


def samples(tmp, few):
    """Runs samples through 4 ranks with random delays, with several seeds, and compares each output with a run without
    ranks, the bytes of tensors with the schedule's peaks, and the memory of each rank at one time with another."""
    split, n = gpt_of(tmp, 4), 1000 if few else 10000
    peaks = {d["name"]: d["peak_bytes"] for d in json.loads((split / "schedule.json").read_text())["devices"]}
    run(RUN, split, STUB, "-q", f"--samples={n}", f"--output={tmp / 'want'}")
    want = {p.name: p.read_bytes() for p in (tmp / "want").iterdir()}
    worst = 0
    for seed in range(SEEDS[0], SEEDS[-1] + 1) if SEEDS else range(2 if few else 20):
        shutil.rmtree(tmp / "got", ignore_errors=True)
        p = subprocess.Popen(["mpirun", "-q", "-n", "4", RUN, split, f"{STUB}:random=100us,seed={seed}", "-q",
                              f"--samples={n}", f"--output={tmp / 'got'}", f"-o{tmp / 'run.trace.json'}"],
                             env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        held = {}  # KiB of each rank, from a tenth of the samples to the last one
        early, last = tmp / f"got/sample{n // 10}.npz", tmp / f"got/sample{n - 1}.npz"
        while p.poll() is None:
            time.sleep(0.1)
            if not early.exists():
                continue
            now = {}
            for rank, process in ranks_of(split).items():
                try:
                    now[rank] = resident(process)
                except (OSError, TypeError):  # the process has ended
                    pass
            if last.exists():  # so `now` may be from the end of the run, when ranks send their measurements
                continue
            for rank, kib in now.items():
                held.setdefault(rank, []).append(kib)
        check(p.returncode == 0, f"samples, seed {seed}: exit {p.returncode}")
        # of each rank: half the range of its memory, as a share of the middle of that range
        changes = [(max(rows) - min(rows)) / (max(rows) + min(rows)) for rows in held.values()]
        check(len(changes) == 4, f"samples, seed {seed}: memory of {len(changes)} ranks was seen")
        worst = max(worst, *changes)
        got = {p.name: p.read_bytes() for p in (tmp / "got").iterdir()}
        check(got == want, f"samples, seed {seed}: outputs of other samples")
        devices = json.loads((tmp / "run.trace.json").read_text())["otherData"]["devices"]
        most = {d["name"]: d["most_bytes"] for d in devices}
        check(most == peaks, f"samples, seed {seed}: held {most}, planned {peaks}")
        print(f"samples: seed {seed}: {n} in order; memory of ranks flat to {100 * max(changes):.2f} %", flush=True)
    check(worst <= (0.02 if few else 0.01), f"samples: memory of a rank changes by {100 * worst:.2f} %")


# ---- ends ---------------------------------------------------------------------------------------

def ends(tmp, few):
    """Kills or stops ranks, in turn, and checks that the run ends soon, with a message that names the rank; then runs a
    part that takes long, which must not end the run."""
    split, longest, rng = gpt_of(tmp, 3), 0.0, random.Random(1)
    used = len({p["device"] for p in json.loads((split / "manifest.json").read_text())["parts"]})
    for k in range(4 if few else 40):
        sent, rank, out = (signal.SIGKILL, signal.SIGSTOP)[k % 2], rng.randrange(used), tmp / f"end{k}"
        p = subprocess.Popen([RUN, split, "--processes", f"{STUB}:delay=5ms", "--samples=1000000", "-q",
                              f"--output={out}"], env=ENVIRONMENT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                             text=True)
        while not (out / "sample0.npz").exists() and p.poll() is None:
            time.sleep(0.02)
        time.sleep(rng.random())
        os.kill(ranks_of(split)[rank], sent)
        began = time.monotonic()
        _, said = p.communicate()
        took = time.monotonic() - began
        longest = max(longest, took)
        # 130: as if the user had ended the run
        check(p.returncode not in (0, 130) and said.count("error:") == 1 and f"error: rank {rank} " in said and
              not ranks_of(split), f"ends: {sent.name} of rank {rank}: exit {p.returncode}, {said}")
        check(took < 5 or not TIMED, f"ends: {sent.name} of rank {rank}: {took:.1f} s")
        shutil.rmtree(out)
        print(f"ends: {sent.name} of rank {rank}: {took:.1f} s", flush=True)
    long = ranks(used, RUN, split, f"{STUB}:delay={'5s' if few else '20s'}", "-q", "--samples=1")
    check("1 sample" in long, f"ends: a part that takes 20 s: {long}")
    print(f"ends: at most {longest:.1f} s", flush=True)


# ---- sizes --------------------------------------------------------------------------------------

def two_parts(tmp, count):
    """Writes and splits a model whose first part makes a tensor of `count` floats, of which the second part reads one
    float: so the second part waits, and has posted its receive when the first part sends. Returns the folder of the
    split."""
    text, rules = tmp / f"big{count}.pir", tmp / "rules.txt"
    text.write_text(f"""pcc 1
opset ai.onnx 20
graph {{
  in %x : f32[1]
  init %n : i64[1] = [{count}]
  init %zero : i64[1] = [0]
  init %one : i64[1] = [1]
  %wide = Expand(%x, %n) : f32[{count}] name="wide"
  %big = Exp(%wide) : f32[{count}] name="big"
  %z = Slice(%big, %zero, %one) : f32[1] name="z"
  out %z
}}
""")
    rules.write_text("wide|big=cpu0\n.=cpu1\n")
    run(PCC, text, "-q", "--pictures=none", "-d2xcpu", "-p", f"plan{{from={rules}}}", "--for=ray", "-o",
        tmp / f"big{count}")
    return tmp / f"big{count}"


def figures(said):
    """Returns the figures of pcc-run's output: (samples per second; us from the end of a part until its tensor is
    taken; us that a message takes, None without messages)."""
    rate = re.search(r"each: (\S+) a second", said)
    unit = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
    times = [re.search(rf"{word} ([\d.]+) (ns|us|ms|s) ", said) for word in ("taken", "took")]
    return float(rate[1]), *(t and float(t[1]) * unit[t[2]] for t in times)


# Prints samples a second, by calls and by a graph, of splits that run in one Ray; arguments: SPLIT SAMPLES ...
BY_RAY = """
import sys, time
sys.path.insert(0, sys.argv[1])
import ray, ray_split
ray.init(include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": sys.argv[1]}})
for split, n in zip(sys.argv[1::2], map(int, sys.argv[2::2])):
    rates = []
    for by in ("calls", "graph"):
        with ray_split.RayRunner(split, threads=1, by=by) as runner:
            sample = runner.random_sample(0)
            for turn in range(2):  # the first one compiles the graph
                began = time.perf_counter()
                for outputs in runner.stream([sample] * n):
                    pass
                rate = n / (time.perf_counter() - began)
            rates.append(f"{rate:,.0f}/s" if ("graphs" in runner.said) == (by == "graph") else runner.said)
    print("|", " | ".join([split.rpartition("big")[2] + " floats", *rates]), "|", flush=True)
"""


def by_ray(splits):
    """Prints samples a second of ray_split.py, or that Ray is not there; splits: [(folder, number of samples)]."""
    python = os.environ.get("PCC_RAY", ROOT / "build/engines/bin/python")
    if not shutil.which(python) or subprocess.run([python, "-c", "import ray"], capture_output=True).returncode:
        print("Ray: skipped: it is not there (PCC_RAY)")
        return
    print("| tensor | Ray, calls | Ray, a graph |\n|---|---|---|", flush=True)
    print(run(python, "-c", BY_RAY, *(word for split in splits for word in split)), end="")


def sizes(tmp, few):
    """Times tensors of three sizes between threads, between ranks, and in a bare MPI program, and prints a row for
    each; the same with messages in pieces; then the same splits by Ray."""
    bare, splits = tmp / "bare_mpi", []
    print("| bytes | threads | ranks | a message of theirs | of a bare program |\n|---|---|---|---|---|", flush=True)
    subprocess.run(["mpicc", "-O2", ROOT / "tools/bench/bare_mpi.c", "-o", bare], check=True)
    for count, pieces in itertools.product((256, 262144, 16777216), (False, True)):
        ENVIRONMENT["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none" if pieces else "cma"
        split, got = two_parts(tmp, count), {"threads": [], "ranks": [], "bare": []}
        flying = json.loads((split / "schedule.json").read_text())["in_flight"]
        if few:
            turns, n = 1, 20 if count < 1 << 24 else 3
        else:
            turns, n = 5, 200 if count < 1 << 24 else 20
        first_of_all()
        for _ in range(turns):  # in alternation, for a machine that is not quiet
            got["threads"].append(figures(run(RUN, split, "-q", f"--samples={n}")))
            got["ranks"].append(figures(ranks(2, RUN, split, "-q", f"--samples={n}")))
            got["bare"].append(float(ranks(2, bare, 4 * count, n, flying)) / 1000)
        rate = {k: max(r for r, *_ in got[k]) for k in ("threads", "ranks")}
        taken = {k: min(t for _, t, _ in got[k]) for k in ("threads", "ranks")}
        took, bare_took = min(t for *_, t in got["ranks"]), min(got["bare"])  # us of a message
        as_all_others()
        if not pieces:
            splits.append((split, max(n, 30)))
        row = [f"{4 * count:,}{' in pieces' * pieces}", *(f"{rate[k]:,.0f}/s, {taken[k]:,.1f} us" for k in rate),
               f"{took:,.1f} us", f"{bare_took:,.1f} us"]
        print("| " + " | ".join(row) + " |", flush=True)
        check(took <= 1.2 * bare_took or not TIMED or os.cpu_count() < 4,
              f"sizes: {4 * count} bytes{' in pieces' * pieces}: a message {took} us, bare {bare_took} us")
    by_ray(splits)


# ---- delay --------------------------------------------------------------------------------------

# Hands packets from one TUN device to another, each in its own network namespace, 1 ms later.  0x40000000 is
# CLONE_NEWNET, 0x400454ca TUNSETIFF, 0x1001 IFF_TUN | IFF_NO_PI: packets of IP without a head.
RELAY = """
import collections, ctypes, fcntl, os, select, struct, sys, time
set_space = lambda f: ctypes.CDLL(None).setns(f, 0x40000000)
def tun(space, name):
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    set_space(os.open(f"/run/netns/{space}", os.O_RDONLY))
    f = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(f, 0x400454ca, struct.pack("16sH", name.encode(), 0x1001))
    set_space(own)
    os.set_blocking(f, False)
    return f
ends = [tun(sys.argv[1], "pcc0"), tun(sys.argv[2], "pcc0")]
print("ready", flush=True)
late = collections.deque()
while True:
    wait = max(0, late[0][0] - time.monotonic()) if late else None
    for f in select.select(ends, [], [], wait)[0]:
        try:
            for _ in range(64):
                late.append((time.monotonic() + 0.001, ends[1 - ends.index(f)], os.read(f, 1 << 17)))
        except BlockingIOError:
            pass
    while late and late[0][0] <= time.monotonic():
        _, to, packet = late.popleft()
        try:
            os.write(to, packet)
        except OSError:
            pass
"""
# In place of ssh for mpirun: runs a command in the namespace of an address, 10.77.0.2 say, with a host name of its own.
AGENT = """#!/bin/sh
host=$1; shift
exec ip netns exec pcc-${host##*.} unshare -u sh -c "hostname pcc-${host##*.}; $*"
"""


class Namespaces:
    """Two network namespaces, 10.77.0.1 and 10.77.0.2, until the end of a `with`.  mpirun: the words of a command that
    starts a rank in each."""

    def __init__(self, tmp):
        """Makes two network namespaces, a relay between them, and a script by which mpirun starts a rank in the
        second."""
        for k in "12":
            run("ip", "netns", "add", f"pcc-{k}")
        self.relay = subprocess.Popen([sys.executable, "-c", RELAY, "pcc-1", "pcc-2"], stdout=subprocess.PIPE)
        self.relay.stdout.readline()
        for k in "12":
            run("ip", "-n", f"pcc-{k}", "addr", "add", f"10.77.0.{k}/24", "dev", "pcc0")
            run("ip", "-n", f"pcc-{k}", "link", "set", "pcc0", "mtu", 65000, "up")
            run("ip", "-n", f"pcc-{k}", "link", "set", "lo", "up")
        agent = tmp / "agent.sh"
        agent.write_text(AGENT)
        agent.chmod(0o755)
        net = ("--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "pcc0", "--mca", "oob_tcp_if_include", "pcc0")
        self.mpirun = ("ip", "netns", "exec", "pcc-1", "unshare", "-u", "sh", "-c", 'hostname pcc-1; exec "$@"', "sh",
                       "mpirun", "-q", "--mca", "plm_rsh_agent", agent, *net, "--host", "pcc-1,10.77.0.2", "-n", 2)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ends the relay and removes both namespaces."""
        self.relay.kill()
        for k in "12":
            subprocess.run(["ip", "netns", "del", f"pcc-{k}"])


def permitted():
    """Whether namespaces and TUN devices can be made here."""
    tried = subprocess.run("unshare -nu true && test -w /dev/net/tun && ip netns add pcc-try && ip netns del pcc-try",
                           shell=True, capture_output=True)
    return tried.returncode == 0


def first_of_all():
    """Lets this process and its later children run before all others, until as_all_others(). Returns whether that is
    permitted."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(5))
    except PermissionError:
        return False
    return True


def as_all_others():
    """Lets this process run like all others again, after first_of_all()."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def delay(tmp, few):
    """Runs two ranks in two network namespaces 1 ms apart; compares outputs with those of threads, and the throughput
    with the plan. Skipped, with a line, where namespaces cannot be made."""
    if not permitted():
        print("delay: skipped: no network namespaces or TUN devices here")
        return
    decides = first_of_all() or TIMED
    run(PCC_GEN, "gpt", *SMALL, "-o", tmp / "far.onnx")
    with Namespaces(tmp) as far:
        link = tmp / "link.json"
        print(run(*far.mpirun, RUN.parent / "pcc-profile", "--links", "-o", link), flush=True)
        summed, split, planned = tmp / "far", tmp / "overlapped", {}  # planned: s of a sample
        # the same plan as if a device received, ran and sent at the same time, as it does with messages
        again = f"plan{{from={summed}}}"
        for overlap, planner, folder in (("sum", "anneal-place", summed), ("duplex", again, split)):
            run(PCC, tmp / "far.onnx", "-q", "--pictures=none", "-d", link, "-p", planner, "--part-cost=0",
                f"--overlap={overlap}", "--dim=batch=1,sequence=8", "-o", folder)
            planned[overlap] = json.loads((folder / "manifest.json").read_text())["objective"]["value_s"]
        n = 20 if few else 200
        run(RUN, split, STUB, "-q", f"--samples={n}", f"--output={tmp / 'near-out'}")
        run(*far.mpirun, RUN, split, STUB, "-q", f"--samples={n}", f"--output={tmp / 'far-out'}")
        check(arrays(tmp / "near-out") == arrays(tmp / "far-out"), "delay: other outputs")
        rate, taken, _ = figures(run(*far.mpirun, RUN, split, STUB, "-q", f"--samples={2 * n}"))
        print(f"delay: {n} samples, the same outputs; a sample each {1e3 / rate:.2f} ms, planned "
              f"{1e3 * planned['duplex']:.2f} ms (with --overlap=sum {1e3 * planned['sum']:.2f} ms); tensors left "
              f"{taken:.0f} us after they were made", flush=True)
        check(abs(planned["duplex"] * rate - 1) <= 0.1 or not decides, "delay: throughput is not the plan's")
    as_all_others()


def main():
    help_or_go()
    words = [w for w in sys.argv[1:] if w != "--few" and not w.startswith("--seeds=")]
    known = {f.__name__: f for f in (same, samples, ends, sizes, delay)}
    if any(w not in known for w in words):
        sys.exit(__doc__)
    for name in words or known:
        with tempfile.TemporaryDirectory() as tmp:
            known[name](Path(tmp), "--few" in sys.argv)
    print(f"{len(WRONG)} wrong")
    sys.exit(bool(WRONG))


main()
