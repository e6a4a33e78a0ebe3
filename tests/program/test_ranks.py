"""pcc-run with a process for each device: mpirun, on this machine, more processes than processors.

With the stub engine, whose outputs are hashes of their inputs: outputs are those of one process, by lists, with
states and where devices take turns; memory as planned; a part that fails, a rank that is stopped or killed, Ctrl-C, and
what is refused.  Skipped without mpirun, or where pcc-run was built without MPI."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish
from commands import good, refused

PCC = os.environ.get("PCC", "pcc")
GEN = os.environ.get("PCC_GEN") or Path(PCC).parent / "pcc-gen"
RUN = os.environ.get("PCC_RUN") or Path(PCC).parent / "pcc-run"
FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
STUB = "--engine=stub"
SECONDS = 600 # more than any run takes on a machine that is very busy
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl": "self,vader", "ASAN_OPTIONS":
               os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # MPI's own


def run(*command, ranks=None):
    mpirun = ["mpirun", "-q", "-n", ranks] if ranks else []
    return subprocess.run([str(c) for c in [*mpirun, *command]], capture_output=True, text=True, timeout=SECONDS,
                          env=ENVIRONMENT)


def outputs(split, *args, ranks=None):
    folder = HERE / "out"
    shutil.rmtree(folder, ignore_errors=True)
    good(run(RUN, split, f"--output={folder}", "-q", *args, ranks=ranks))
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def make():
    small = ("--layers", 2, "--width", 16, "--heads", 2, "--vocab", 32)
    good(run(GEN, "gpt", *small, "-o", HERE / "gpt.onnx"))
    good(run(GEN, "gpt", "--kv", *small, "-o", HERE / "kv.onnx"))
    for name, model, *options in (("lists", "gpt", "-d3xcpu", "--dim=batch=1,sequence=32"),
                                  ("many", "gpt", "-d3xcpu", "-panneal-place", "--part-cost=0",
                                   "--dim=batch=1,sequence=32"),
                                  ("turns", "gpt", "-d2xcpu", "--dim=batch=1,sequence=32", "--replicate"),
                                  ("states", "kv", "-d3xcpu", "-panneal-place", "--part-cost=0",
                                   "--dim=batch=1,sequence=2,past_sequence=3")):
        good(run(PCC, HERE / f"{model}.onnx", "-q", "--pictures=none", *options, "-o", HERE / name))


def same():
    """Outputs are those of one process, whoever runs first, and devices hold what was planned."""
    trace = HERE / "run.trace.json"
    for split, ranks, *args in (("lists", 3, "--samples=60"), ("turns", 2, "--samples=20"),
                                ("states", 3, "--samples=9", "--state")):
        want = outputs(HERE / split, STUB, *args)
        got = outputs(HERE / split, f"{STUB}:random=200us", *args, f"-o{trace}", ranks=ranks)
        check(got == want and len(want) == int(args[0][10:]), f"{split}: other outputs than in one process")
        if split == "lists":
            table = json.loads(trace.read_text())
            bars = {(e["name"], e["args"]["sample"]) for e in table["traceEvents"] if e.get("cat") == "measured"}
            check(bars == {(f"part{p}.onnx", k) for p in range(3) for k in range(60)} and
                  [x["device"] for x in table["otherData"]["ranks"]] == ["cpu0", "cpu1", "cpu2"], "bars of all ranks")
            most = {d["name"]: d["most_bytes"] for d in table["otherData"]["devices"]}
            peaks = json.loads((HERE / split / "schedule.json").read_text())["devices"]
            check(most == {d["name"]: d["peak_bytes"] for d in peaks}, f"the peaks of the schedule: {most}")


def failing():
    """Samples before the one that fails come to their end; one message, of the rank that failed."""
    folder = HERE / "failed"
    r = refused(run(RUN, HERE / "lists", f"{STUB}:fail=part1.onnx@5", "--samples=50", f"--output={folder}", "-q",
                    ranks=3), 1, "part1.onnx (cpu1), sample 5: the stub was told to fail")
    check(len(list(folder.iterdir())) == 5 and "5 samples, first after" in r.stdout, r.stdout)


def ranks_of(folder):
    """The processes that run a split, by rank."""
    found = {}
    for p in Path("/proc").iterdir():
        try:
            words = (p / "cmdline").read_bytes().split(b"\0") if p.name.isdigit() else []
            if str(folder).encode() in words and words[0].endswith(b"/pcc-run"):
                values = dict(w.split(b"=", 1) for w in (p / "environ").read_bytes().split(b"\0") if b"=" in w)
                found[int(values.get(b"OMPI_COMM_WORLD_RANK", b"-1"))] = int(p.name)
        except OSError:
            pass
    return found


def begin(split, folder, delay, through=0):
    """A run that does not end by itself, of which sample `through` is through."""
    p = subprocess.Popen([RUN, split, "--processes", f"{STUB}:delay={delay}", "--samples=1000000", "-q",
                          f"--output={folder}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env=ENVIRONMENT)
    while not (folder / f"sample{through}.npz").exists() and p.poll() is None:
        time.sleep(0.02)
    return p


def lost():
    """A rank that is stopped or killed ends all, with one message of who it was and where it stood."""
    runs = [(begin(HERE / split, HERE / f"lost{rank}", "10ms", 40), sent, rank, HERE / split)
            for split, sent, rank in (("lists", signal.SIGSTOP, 1), ("many", signal.SIGKILL, 0))]
    for _, sent, rank, split in runs:
        os.kill(ranks_of(split)[rank], sent)
    for p, _, rank, split in runs:
        _, errors = p.communicate(timeout=SECONDS)
        check(p.returncode not in (0, 130) and errors.count("error:") == 1 and
              f"rank {rank} (cpu{rank} on " in errors and "was stopped or killed" in errors and
              "it stood at: its beg" not in errors and f"; rank {1 - rank} (cpu{1 - rank}): " in errors,
              f"exit {p.returncode}: {errors}")
        check(not ranks_of(split), "processes stay behind")


def interrupted():
    """Ctrl-C: samples on their way are finished; twice: they are not; and a pcc-run that is killed leaves no ranks."""
    twice, killed = begin(HERE / "lists", HERE / "twice", "500ms"), begin(HERE / "states", HERE / "killed", "1ms")
    once = begin(HERE / "turns", HERE / "stopped", "1ms")
    killed.kill()
    for p in (once, twice):
        p.send_signal(signal.SIGINT)
    time.sleep(0.05)
    twice.send_signal(signal.SIGINT)
    said, errors = once.communicate(timeout=SECONDS)
    check(once.returncode == 130 and f"{len(list((HERE / 'stopped').iterdir()))} samples, first" in said,
          f"exit {once.returncode}: {said} {errors}")
    said, errors = twice.communicate(timeout=SECONDS)
    check(twice.returncode == 130 and "error:" not in errors, f"exit {twice.returncode}: {said} {errors}")
    killed.communicate(timeout=SECONDS) # until no rank has its end of the pipes any more
    check(not ranks_of(HERE / "lists") and not ranks_of(HERE / "states"), "processes stay behind")


def early():
    """Ctrl-C while ranks begin."""
    p = subprocess.Popen([RUN, HERE / "turns", "--processes", STUB, "--samples=1000000000", "-q"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    while max(ranks_of(HERE / "turns"), default=-1) < 0 and p.poll() is None:
        time.sleep(0.01)
    p.send_signal(signal.SIGINT)
    _, errors = p.communicate(timeout=SECONDS)
    check(p.returncode == 130 and "signal" not in errors, f"exit {p.returncode}: {errors}")


def folders():
    """Another file at a rank, or none, is named before the first sample."""
    other = HERE / "other"
    shutil.copytree(HERE / "lists", other)
    (other / "part1.onnx").write_bytes((other / "part1.onnx").read_bytes()[:-1])
    mixed = [RUN, HERE / "lists", STUB, "-q", ":", "-n", 2, RUN, other, STUB, "-q"]
    refused(run(*mixed, ranks=1), 1, "rank 1 on ", f"{other}/part1.onnx: its hash is ", ", that of rank 0's file ")
    (other / "part1.onnx").unlink()
    refused(run(*mixed, ranks=1), 1, "rank 1 on ", f"{other}/part1.onnx: it does not exist")
    mixed[mixed.index(other)] = HERE / "lists"
    mixed[1] = HERE / "many"
    refused(run(*mixed, ranks=1), 1, "rank 1 on ", f"{HERE}/lists/manifest.json: its hash is ")
    mixed[1] = HERE / "lists"
    refused(run(*mixed, "--samples=2", f"-o{HERE}/none/run.json", ranks=1), 1, "rank 1 on ",
            "expected the --samples, --in-flight and --state of rank 0")


def usage():
    refused(run(RUN, HERE / "lists", STUB, "-q", ranks=2), 1, "3 devices have parts, and there are 2 ranks",
            "mpirun -n 3")
    needed = subprocess.run(["readelf", "-d", Path(RUN).parent / "pcc-mpi.so"], capture_output=True, text=True).stdout
    check("libc.so" in needed and "libmpi" not in needed, f"packages would need MPI: {needed}")
    refused(run(RUN, HERE / "lists", STUB, "-q", "--stall=1s", ":", "-n", 2, "sleep", 600, ranks=1), 1,
            "rank 0 waits for other ranks to begin, for 1 s")
    refused(run(RUN, HERE / "lists", "--processes", "--order=model"), 2, "--order=model has no effect")
    refused(run(RUN, HERE / "lists", "--processes", "--memory"), 2, "--memory has no effect with several ranks")
    refused(run("env", f"PATH={HERE}", RUN, HERE / "lists", "--processes"), 1, "mpirun", "install openmpi-bin")
    alone = HERE / "alone" / "pcc-run"
    alone.parent.mkdir()
    shutil.copy(RUN, alone)
    refused(run(alone, HERE / "lists", "--processes"), 1, "built without MPI", "libopenmpi-dev")


def main():
    extras.need(shutil.which("mpirun"), "no program mpirun")
    extras.need((Path(RUN).parent / "pcc-mpi.so").exists(), "pcc-run was built without MPI")
    for test in (make, same, failing, lost, interrupted, early, folders, usage):
        test()
    return finish()


sys.exit(main())
