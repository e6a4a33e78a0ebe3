"""pcc-run with a process for each device: mpirun, on this machine, more processes than processors.

With the stub engine, whose outputs are hashes of their inputs: outputs are those of one process, by lists, with
states and where devices take turns; memory as planned; a part that fails, a rank that is stopped or killed, Ctrl-C, and
what is refused.  Skipped without mpirun, or where pcc-run was built without MPI.  Extra `ort`: in ONNX Runtime strings
and sequences between ranks, and steps of training, have the bits of one process."""
# extras: ort
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish
from commands import good, refused
from rank_processes import ranks_of

PCC = os.environ.get("PCC", "pcc")
GEN = os.environ.get("PCC_GEN") or Path(PCC).parent / "pcc-gen"
RUN = os.environ.get("PCC_RUN") or Path(PCC).parent / "pcc-run"
FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
ENDS = HERE / "ends" # for tests that end ranks, which they find by the folder
STUB = "--engine=stub"
SECONDS = 600 # more than any run takes on a machine that is very busy
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl": "self,vader", "ASAN_OPTIONS":
               os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:verify_asan_link_order=0"}  # MPI's own; bad_mpi.c


def run(*command, ranks=None):
    mpirun = ["mpirun", "-q", "-n", ranks] if ranks else []
    return subprocess.run([str(c) for c in [*mpirun, *command]], capture_output=True, text=True, timeout=SECONDS,
                          env=ENVIRONMENT)


def outputs(split, *args, ranks=None):
    folder = Path(tempfile.mkdtemp(dir=HERE))
    good(run(RUN, split, f"--output={folder}", "-q", *args, ranks=ranks))
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def make():
    small = ("--layers", 2, "--width", 16, "--heads", 2, "--vocab", 32)
    good(run(GEN, "gpt", *small, "-o", HERE / "gpt.onnx"))
    good(run(GEN, "gpt", "--kv", *small, "-o", HERE / "kv.onnx"))
    for name, model, *options in (("lists", "gpt", "-d3xcpu", "--dim=batch=1,sequence=32"),
                                  ("many", "gpt", "-d3xcpu", "-plocal-place", "--part-cost=0",
                                   "--dim=batch=1,sequence=32"),
                                  ("long", "gpt", "-d2xcpu", "--dim=batch=1,sequence=4000"),  # 256 kB cross
                                  ("turns", "gpt", "-d2xcpu", "--dim=batch=1,sequence=32", "--replicate"),
                                  ("states", "kv", "-d3xcpu", "-plocal-place", "--part-cost=0",
                                   "--dim=batch=1,sequence=2,past_sequence=3")):
        good(run(PCC, HERE / f"{model}.onnx", "-q", "--pictures=none", *options, "-o", HERE / name))
        shutil.copytree(HERE / name, ENDS / name)


def same():
    """Outputs are those of one process, whoever runs first, and devices hold what was planned."""
    trace = HERE / "run.trace.json"
    for split, ranks, *args in (("lists", 3, "--samples=60"), ("long", 2, "--samples=5"), ("turns", 2, "--samples=20"),
                                ("states", 3, "--samples=9", "--state")):
        want = outputs(HERE / split, STUB, *args)
        mapped = ["--map=cpu0=2", "--map=cpu2=1,cpu1=0"] if split == "states" else []
        got = outputs(HERE / split, f"{STUB}:random=200us", *args, *mapped, f"-o{trace}", ranks=ranks)
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
    runs = [(begin(ENDS / split, ENDS / f"lost{rank}", "10ms", 40), sent, rank, ENDS / split)
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
    twice, killed = begin(ENDS / "lists", ENDS / "twice", "500ms"), begin(ENDS / "states", ENDS / "killed", "1ms")
    once = begin(ENDS / "turns", ENDS / "stopped", "1ms")
    killed.kill()
    for p in (once, twice):
        p.send_signal(signal.SIGINT)
    time.sleep(0.05)
    twice.send_signal(signal.SIGINT)
    said, errors = once.communicate(timeout=SECONDS)
    check(once.returncode == 130 and f"{len(list((ENDS / 'stopped').iterdir()))} samples, first" in said,
          f"exit {once.returncode}: {said} {errors}")
    said, errors = twice.communicate(timeout=SECONDS)
    check(twice.returncode == 130 and "error:" not in errors, f"exit {twice.returncode}: {said} {errors}")
    killed.communicate(timeout=SECONDS) # until no rank has its end of the pipes any more
    check(not ranks_of(ENDS / "lists") and not ranks_of(ENDS / "states"), "processes stay behind")


def early():
    """Ctrl-C while ranks begin; a rank that is stopped then ends the run before --stall."""
    command = [RUN, ENDS / "lists", "--processes", STUB, "--samples=1000000000", "-q", "--stall=600s"]
    stopped = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    while 1 not in ranks_of(ENDS / "lists") and stopped.poll() is None:
        time.sleep(0.005)
    os.kill(ranks_of(ENDS / "lists")[1], signal.SIGSTOP)
    p = subprocess.Popen([RUN, ENDS / "turns", "--processes", STUB, "--samples=1000000000", "-q"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    while max(ranks_of(ENDS / "turns"), default=-1) < 0 and p.poll() is None:
        time.sleep(0.01)
    p.send_signal(signal.SIGINT)
    _, errors = p.communicate(timeout=SECONDS)
    check(p.returncode == 130 and "signal" not in errors, f"exit {p.returncode}: {errors}")
    _, errors = stopped.communicate(timeout=SECONDS)
    check(stopped.returncode == 1 and errors.count("error:") == 1 and "was stopped" in errors and
          not ranks_of(ENDS / "lists"), f"exit {stopped.returncode}: {errors}")


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
            "expected the --samples, --in-flight, --state, --map and --most-bytes of rank 0")


def own_files():
    """A rank needs no parts and weights of other ranks; hashes in the manifest tell whether it has its own."""
    whole, own = HERE / "whole", [HERE / f"own{k}" for k in range(3)]
    good(run(PCC, HERE / "gpt.onnx", "-q", "--pictures=none", "-d3xcpu", "--dim=batch=1,sequence=32", "--weights=parts",
             "--for=mpi", "-o", whole))
    rows = json.loads((whole / "manifest.json").read_text())["parts"]
    for k, folder in enumerate(own):
        shutil.copytree(whole, folder, ignore=shutil.ignore_patterns("part[!%d].*" % k, "weights*", "model*"))
        check(len(list(folder.glob("part*"))) == 2, f"{folder}: {sorted(folder.iterdir())}")
    for row in rows:
        check([row["sha256"], row["data_sha256"]] == [hashlib.sha256((whole / row[k]).read_bytes()).hexdigest()
                                                      for k in ("file", "data")], f"hashes of {row['file']}")
    apart = [RUN, own[0], STUB, "-q", "--samples=3", f"--output={HERE / 'apart'}"]
    for folder in own[1:]:
        apart += [":", "-n", 1, RUN, folder, STUB, "-q", "--samples=3"]
    good(run(*apart, ranks=1))
    want = outputs(whole, STUB, "--samples=3")
    check({p.name: p.read_bytes() for p in (HERE / "apart").iterdir()} == want, "folders of their own")
    for name, key in (("part1.onnx", "sha256"), ("part1.data", "data_sha256")):
        kept = (own[1] / name).read_bytes()
        (own[1] / name).write_bytes(bytes(kept[:-1]) + bytes([kept[-1] ^ 1]))
        refused(run(*apart, ranks=1), 1, "rank 1 on ", f"{own[1]}/{name}: its SHA-256 is ",
                f"that in manifest.json {rows[1][key]}")
        (own[1] / name).write_bytes(kept)
    shared = HERE / "shared_weights"
    good(run(PCC, HERE / "gpt.onnx", "-q", "--pictures=none", "-d3xcpu", "--dim=batch=1,sequence=32", "--for=mpi", "-o",
             shared))
    weights = json.loads((shared / "manifest.json").read_text())["weights"]
    data = (shared / "weights.data").read_bytes()
    check(weights == {"mode": "shared", "files": ["weights.data"], "sha256": [hashlib.sha256(data).hexdigest()]},
          f"{weights}")
    good(run(PCC, shared, "-q", "--for=mpi"))
    check(json.loads((shared / "manifest.json").read_text())["weights"] == weights, "hashes once more")
    (shared / "weights.data").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    refused(run(RUN, shared, STUB, "-q", ranks=3), 1, "rank 0 on ", f"{shared}/weights.data: its SHA-256 is ",
            f"that in manifest.json {weights['sha256'][0]}")
    (own[2] / "part2.data").unlink()
    refused(run(*apart, ranks=1), 1, "rank 2 on ", f"{own[2]}/part2.data: expected a file of ")
    (own[0] / "part0.onnx").unlink()
    refused(run(*apart, ranks=1), 1, "rank 0 on ", f"{own[0]}/part0.onnx: it does not exist")


def bad(fault, rank, ranks, *command):
    """A run over an MPI that is not what it should be (support/bad_mpi.c)."""
    return run("mpirun", "-q", "-n", ranks, "-x", f"LD_PRELOAD={extras.BUILT / 'libbad-mpi.so'}", "-x",
               f"BAD_MPI={fault}", "-x", f"BAD_MPI_RANK={rank}", RUN, *command, STUB, "-q")


def faults():
    """A message that is lost, swapped with another one, or comes twice: found, with the tensor and its sample; hosts
    of another kind are refused, another runtime is told."""
    stands = r"nothing has moved for 5.000 s; .*: cpu[12] (receives|computes) '\S+' of sample \d+"
    other = r"'\S+' came to another rank with other bytes than it was sent with"
    for fault, split, words in (
            ("drop@7", "lists", stands),
            ("swap@7", "lists", rf"{stands}|sample \d+: '\S+': its message has another length|{other}"),
            ("swap@7", "turns", rf"error: rank 0 on \S+: {other}"), # of equal length: nothing stands still
            ("twice@7", "lists", r"rank \d on \S+: sample \d+: '\S+' came from rank 0 \(cpu0\) once more")):
        r = refused(bad(fault, 0, 2 if split == "turns" else 3, HERE / split, "--samples=20", "--stall=5s"), 1)
        check(re.search(words, r.stderr), f"{fault}: {r.stderr}")
    # a word about the last sample that does not leave; the last word of rank 0, which does not come, so that rank 1
    # ends by itself, or does not leave, so that rank 0 ends all
    for fault, rank, way in (("word@19", 1, "of"), ("deaf@0", 1, "to"), ("word@0", 0, "of")):
        r = refused(bad(fault, rank, 2, HERE / "turns", "--samples=20", "--stall=5s"), 1,
                    f"a word {way} rank {rank} (cpu{rank}) is lost: MPI")
        check("nothing has moved" not in r.stderr, f"{fault}: {r.stderr}")
    for fault, *words in (("order", "rank 1 on ", "has another order of bytes than rank 0"),
                          ("version", "rank 1 on ", " is pcc ", ": expected one version")):
        refused(bad(fault, 1, 2, HERE / "turns"), 1, *words)
    r = bad("threads", 1, 2, HERE / "turns") # each rank says so: they have no messages
    check(r.returncode == 1 and "gives threads of level 2, expected MPI_THREAD_MULTIPLE (3)" in r.stderr, r.stderr)
    check(json.loads((HERE / "turns" / "manifest.json").read_text())["schedule"] is None, "turns have no lists")
    said = good(bad("runtime", 1, 2, HERE / "turns")).stderr
    check("warning: rank 1 (cpu1) has stub " in said and "bits may differ" in said, said)


def steps():
    """Steps of training: the bits of one process, where stages follow each other and where devices share a batch."""
    good(run(GEN, "train", "--layers", 2, "--width", 16, "--heads", 2, "--vocab", 40, "-o", HERE / "train.onnx"))
    for name, *options in (("stages", "--micro-batches=4"), ("shared", "-pdata-parallel-place", "--micro-batches=2")):
        good(run(PCC, HERE / "train.onnx", "-q", "--pictures=none", "-d2xa100", "--objective=iteration-time",
                 "--dim=batch=2,sequence=8", *options, "-o", HERE / name))
        saved, said = [], []
        for k, ranks in enumerate((None, 2, 2) if name == "shared" else (None, 2)):
            to = HERE / f"{name}{k}.npz"
            sums = ["--sum=as-made"] if k == 2 else []
            said.append(good(run(RUN, HERE / name, STUB, "-q", "--steps=3", f"--save={to}", *sums, ranks=ranks)).stdout)
            saved.append(to.read_bytes())
        check(len(set(saved)) == 1, f"{name}: other parameters than in one process")
        lines = [[line for line in text.splitlines() if "bytes held" in line] for text in said]
        check(lines[0] == lines[1] and len(lines[0]) == 2, f"{name}: {said}")
    half = HERE / "half.npz"
    good(run(RUN, HERE / "shared", STUB, "-q", "--steps=1", f"--save={half}", "--processes"))
    good(run(RUN, HERE / "shared", STUB, "-q", "--steps=1", f"--load={half}", f"--save={half}", "--seed=1", ranks=2))
    good(run(RUN, HERE / "shared", STUB, "-q", "--steps=1", f"--load={half}", f"--save={half}", "--seed=2"))
    check(half.read_bytes() == (HERE / "shared0.npz").read_bytes(), "3 steps are not 1, 1 and 1")
    r = refused(run(RUN, HERE / "stages", f"{STUB}:fail=part1.onnx@2", "-q", "--steps=3", ranks=2), 1,
                "part1.onnx (acc", "the stub was told to fail")
    check(r.stderr.count("error:") == 1, r.stderr)


def lost_steps():
    """Steps: a message that is lost ends all by --stall, one that comes twice is told; ranks of other options."""
    stages, load = [HERE / "stages", "--steps=2"], f"--load={HERE / 'stages0.npz'}"
    stands = r"nothing has moved for 5.000 s; the lists stand at: rank 0 \(acc0\): .*; rank 1 \(acc1\): "
    for fault, words, *args in (("drop@3", rf"{stands}acc1 (receives|computes) '\S+ \(micro-batch \d\)'"),
                                ("drop@0", rf"{stands}receives parameter '\S+'\n", load),
                                ("swap@2", r"'\S+': its message from rank 0 came with other bytes than it was", load),
                                ("swap@4", r"parameter '\S+': its message from rank 0 has another length than", load),
                                ("twice@2", r"step 1: '\S+' of micro-batch \d came from rank 0 \(acc0\) once more")):
        save = HERE / "lost.npz"
        # long enough for a busy machine: ranks must begin and end in that time, too
        r = refused(bad(fault, 0, 2, *stages, *args, "--stall=5s", f"--save={save}"), 1)
        check(re.search(words, r.stderr) and not save.exists(), f"{fault}: {r.stderr}")
    refused(run(RUN, *stages, STUB, "-q", ":", "-n", 1, RUN, *stages, STUB, "-q", load, ranks=1), 1, "rank 1 on ",
            "expected the --steps, --load, --loss, --sum and --map of rank 0")
    refused(run(RUN, *stages, STUB, "--stall=1s"), 2, "--stall has no effect with --steps in one process")
    save = HERE / "stopped.npz"
    p = subprocess.Popen([RUN, HERE / "stages", "--processes", STUB, "--steps=1000000", "-q", f"--save={save}"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    said, errors = p.communicate(timeout=SECONDS)
    check(p.returncode == 130 and save.exists() and not errors, f"exit {p.returncode}: {errors}")
    file = HERE / "stages" / "manifest.json"
    content = json.loads(file.read_text())
    content["training"]["loss"]["reduction"] = None
    file.write_text(json.dumps(content))
    said = good(run(RUN, *stages, STUB, "--loss=mean", ranks=2)).stderr
    check(said.count("--loss=mean is not confirmed: that takes one process") == 1, said)


# Strings and a sequence go from one device to the other.
TEXTS = """pcc 1
opset ai.onnx 20
graph {
  in %x : f32[4,2]
  %s = Cast(%x) {to = 8} : str[4,2] name="s"
  %q = SplitToSequence(%x) {axis = 0, keepdims = 1} : seq(f32[1,2]) name="q"
  %t = Cast(%s) {to = 1} : f32[4,2] name="t"
  %c = ConcatFromSequence(%q) {axis = 0} : f32[4,2] name="c"
  %z = Add(%t, %c) : f32[4,2] name="z"
  out %z
}
"""


def by_runtime():
    import numpy as np

    (HERE / "texts.pir").write_text(TEXTS)
    (HERE / "rules.txt").write_text("s|q=cpu0\n.=cpu1\n")
    good(run(PCC, HERE / "texts.pir", "-q", "--pictures=none", "-d2xcpu", "-p", f"plan{{from={HERE / 'rules.txt'}}}",
             "-o", HERE / "texts"))
    want = outputs(HERE / "texts", "--samples=4", "--optimise=none")
    check(outputs(HERE / "texts", "--samples=4", "--optimise=none", ranks=2) == want, "strings and sequences")
    refused(run(RUN, HERE / "texts", "-q", "--most-bytes=20", ranks=2), 1, "part0.onnx makes ", "--most-bytes is 20")
    good(run(GEN, "train", "--layers", 2, "--width", 16, "--heads", 2, "--vocab", 40, "-o", HERE / "train.onnx"))
    good(run(PCC, HERE / "train.onnx", "-q", "--pictures=none", "-d2xa100", "--objective=iteration-time",
             "--dim=batch=2,sequence=8", "--micro-batches=4", "-o", HERE / "stages"))
    ids = np.random.default_rng(4).integers(0, 40, (8, 8))
    np.savez(HERE / "batch.npz", input_ids=ids, labels=(ids * 7 + 3) % 40, learning_rate=np.array(0.5, np.float32))
    said = []
    for k, ranks in enumerate((None, 2)):
        r = good(run(RUN, HERE / "stages", HERE / "batch.npz", "-q", "--steps=3", "--optimise=none",
                     f"--save={HERE / f'new{k}.npz'}", ranks=ranks))
        said.append([line.split(", ")[0] for line in r.stdout.splitlines() if line.startswith("step")])
    check(said[0] == said[1] and len(said[0]) == 3, f"losses {said}")
    check((HERE / "new0.npz").read_bytes() == (HERE / "new1.npz").read_bytes(), "other parameters than in one process")
    np.savez(HERE / "batch.npz", input_ids=ids, labels=(ids * 7 + 3) % 40, learning_rate=np.array(np.inf, np.float32))
    step = [RUN, HERE / "stages", HERE / "batch.npz", "-q", "--steps=3", f"--save={HERE / 'none.npz'}"]
    r = refused(run(*step, ranks=2), 1, "micro-batch ", "gradient '", "' of parameter '", "', which part",
                "no finite number")
    check(r.stderr.count("error:") == 1 and not (HERE / "none.npz").exists(), r.stderr)


def links():
    """What messages between two ranks take, as a cluster file."""
    profile, cluster = Path(RUN).parent / "pcc-profile", HERE / "link.json"
    said = good(run(profile, "--links", "-o", cluster, ranks=2)).stdout
    link = json.loads(cluster.read_text())["classes"][0]["link"]
    check(re.search(rf"^ranks +{link['bandwidth']},{link['latency']} ", said, re.M), said)
    good(run(PCC, HERE / "gpt.onnx", "-q", "-d", cluster, "--dim=batch=1,sequence=32", "-o", HERE / "plan.json"))
    refused(run(profile, "--links", ranks=1), 1, "expected mpirun -n 2, found 1 rank")


def usage():
    refused(run(RUN, HERE / "lists", STUB, "-q", ranks=2), 2, "3 devices have parts, and there are 2 ranks",
            "mpirun -n 3")
    for words, *said in (("cpu0=0", "gives ranks to 1 of 2 devices", "lacks cpu1"), ("cpu0=2", "below 2, the number"),
                         ("cpu0=0,cpu0=1", "device 'cpu0' has rank 0 already"), ("cpu0", "expected DEVICE=RANK"),
                         ("cpu0=0,cpu1=0", "rank 0 has device 'cpu0' already"), ("cpu7=0", "no device 'cpu7' has")):
        refused(run(RUN, HERE / "turns", STUB, "-q", f"--map={words}", ranks=2), 2, "--map", *said)
    refused(run(RUN, HERE / "lists", STUB, "--map=cpu0=0"), 2, "--map has no effect with one process")
    refused(run(RUN, HERE / "states", STUB, "-q", "--state", "--samples=5", "--most-bytes=100", ranks=3), 1,
            "sample 0: '", "makes ", " bytes of it, and --most-bytes is 100")
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


def one_by_one(*tests):
    for test in tests:
        test()


def main():
    extras.need(shutil.which("mpirun"), "no program mpirun")
    extras.need((Path(RUN).parent / "pcc-mpi.so").exists(), "pcc-run was built without MPI")
    if extras.extra():
        extras.need(importlib.util.find_spec("onnxruntime"), "no onnxruntime")
        by_runtime()
        return finish()
    make()
    with ThreadPoolExecutor() as side_by_side: # runs mostly wait
        for begun in [side_by_side.submit(one_by_one, *tests) for tests in (
                (lost, interrupted, early), (same, failing, folders, own_files), (faults, links), (steps, lost_steps),
                (usage,))]:
            begun.result()
    return finish()


sys.exit(main())
