"""Nothing is lost and nothing is left behind when memory or the disk runs out, or when names lie.

1. Every allocation fails once, alone and with all that follow it: pcc ends with one error line and
   exit code 1, or does without; never by a signal; the folder is as it was, or has the new result.
   The library the same way, called by a program that goes on: it gets one error and loses nothing.
2. A full disk: a limit on file sizes; a small tmpfs.
3. Names in models that look like paths; symbolic links where outputs and temporary files go.

Environment: PCC, PCC_GEN, PCC_BUILT (for part 1), PCC_ALL=1: every allocation, not a
sample.  Needs the Python package onnx (else 77)."""
# extras: memory library metis disk
import ctypes
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish

try:
    from onnx import TensorProto, helper, numpy_helper
    import numpy as np
except ImportError:
    print("skipped: the Python package onnx is not installed")
    sys.exit(77)

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
FAULTS, EVERY = (extras.BUILT / name for name in ("pcc-faults", "pcc-every-allocation"))
ALL = bool(os.environ.get("PCC_ALL"))
RUNS = 200  # per job and way of failing, when not all
LAST = 20  # of them always: when the output is put in its place
DEVICES = ["-d", "2xa100", "--link", "1TB/s,0us", "-p"]
SPLIT = [*DEVICES, "fuse,dp-place"]
PLANNERS = ["auto-place{starts=1}", "ip-place{starts=1:moves=100}"]
FIXED = {"manifest.json", "schedule.json", "weights.data", "model.onnx", "plan.svg", "plan.dot",
         "blocks.svg", "blocks.dot", "nodes.dot", "run_split.py", "report.html"}


def tree(folder):
    """Everything below a folder: name -> content, or where a link leads."""
    found = {}
    for p in sorted(folder.rglob("*")):
        name = str(p.relative_to(folder))
        found[name] = ("-> " + os.readlink(p) if p.is_symlink() else
                       p.read_bytes() if p.is_file() else "folder")
    return found


def run(program, args, cwd, **more):
    """Without the dot program, unless PATH is given."""
    more.setdefault("env", {"PATH": "/nonexistent"})
    return subprocess.run([program, *map(str, args)], cwd=cwd, capture_output=True, text=True,
                          errors="replace", timeout=120, **more)


def errors_of(r):
    return [line for line in r.stderr.splitlines() if ": error:" in line]


def generate(folder):
    """Three small models: a transformer with a past, a chain of convolutions, bodies and functions."""
    small = ["--layers", "1", "--width", "16", "--heads", "2", "--vocab", "32"]
    subprocess.run([PCC_GEN, "gpt", "--kv", *small, "-o", folder / "gpt.onnx"], check=True,
                   capture_output=True)
    w = numpy_helper.from_array(np.ones((8, 8, 3, 3), np.float32), "w")

    def info(name, *shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    nodes, last = [], "x"
    for i in range(6):
        nodes.append(helper.make_node("Conv", [last, "w"], [f"c{i}"], name=f"conv{i}",
                                      pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"], name=f"relu{i}"))
        last = f"r{i}"
    save(folder / "cnn.onnx", nodes, [info("x", 1, 8, 8, 8)], [info(last, 1, 8, 8, 8)], [w])
    body = helper.make_graph([helper.make_node("Add", ["a", "x"], ["t"], name="in")], "body", [],
                             [info("t", 2)])
    flag = numpy_helper.from_array(np.array(True), "flag")
    call = helper.make_node("Twice", ["b"], ["y"], name="call", domain="my")
    nodes = [helper.make_node("Neg", ["x"], ["a"], name="neg"),
             helper.make_node("If", ["flag"], ["b"], name="if", then_branch=body, else_branch=body),
             call]
    twice = helper.make_function("my", "Twice", ["p"], ["q"],
                                 [helper.make_node("Add", ["p", "p"], ["q"])],
                                 [helper.make_opsetid("", 17)])
    save(folder / "body.onnx", nodes, [info("x", 2)], [info("y", 2)], [flag], [twice])


def save(path, nodes, inputs, outputs, inits=(), functions=(), name="g"):
    g = helper.make_graph(nodes, name, inputs, outputs, list(inits))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    m = helper.make_model(g, opset_imports=opsets, functions=list(functions), ir_version=8)
    path.write_bytes(m.SerializeToString())


# ---------------------------------------------------------------- 1. memory


def fail_once(job, n, base, models):
    """One run of a job in a folder of its own; what is wrong with it, or None."""
    args, before, after = job
    area = Path(tempfile.mkdtemp(dir=base))
    for name, content in before.items():
        (area / name).mkdir() if content == "folder" else (area / name).write_bytes(content)
    r = run(FAULTS, args, area, env={"PATH": "/nonexistent", "PCC_FAIL_ALLOC": n})
    now = tree(area)
    shutil.rmtree(area)
    where = f"{' '.join(map(str, args))}: allocation {n}: exit {r.returncode}"
    if r.returncode == 0 and not errors_of(r):
        if "[-Wpicture]" in r.stderr:  # a picture that cannot be made is a warning
            now, after = ({k: v for k, v in t.items() if not k.startswith("split/plan.")} for t in (now, after))
        return None if now == after else f"{where}: {sorted(now)} differs from a good run's"
    if r.returncode != 1 or len(errors_of(r)) != 1:
        return f"{where}: {r.stderr[-400:]}"
    return None if now == before else f"{where}: left {sorted(now.keys() ^ before.keys())}"


def job(models, base, name, out, planner="dp-place", old=None):
    """Arguments, the folder before, the folder after a good run."""
    quiet = ["-q"] if out != "plan.json" else []  # a table besides: made before the file is in its place
    args = [models / name, *DEVICES, f"fuse,{planner}", *quiet, "-o", out]
    area = Path(tempfile.mkdtemp(dir=base))
    if old:
        run(PCC, [models / old, *SPLIT, "-q", "-o", out], area)
    before = tree(area)
    r = run(FAULTS, args, area, env={"PATH": "/nonexistent", "PCC_FAIL_ALLOC": "0"})
    counted = re.search(r"allocations: (\d+)", r.stderr)
    if not check(r.returncode == 0 and counted, f"{name} {out}: {r.stderr[-400:]}"):
        return None, 0
    return (args, before, tree(area)), int(counted[1])


def memory(tmp, models):
    base = tmp / "memory"
    base.mkdir()
    if extras.extra() == "metis":
        r = run(PCC, [models / "cnn.onnx", *DEVICES, "metis-place", "-q"], base)
        extras.need("was built without" not in r.stderr, "no METIS in this pcc")
        all_fail(base, models, [job(models, base, "cnn.onnx", "plan.csv", "metis-place")])
        return
    jobs = [job(models, base, "gpt.onnx", "split", old="cnn.onnx"),
            job(models, base, "cnn.onnx", "split"), job(models, base, "body.onnx", "split")]
    jobs += [job(models, base, "cnn.onnx", "plan" + suffix)
             for suffix in (".json", ".pir", ".csv", ".dot", ".onnx")]
    all_fail(base, models, jobs + [job(models, base, "cnn.onnx", "plan.csv", planner) for planner in PLANNERS])


def all_fail(base, models, jobs):
    rng = random.Random(4)
    total = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for one, count in jobs:
            if one is None:
                continue
            check(count > 100, f"{one[0]}: only {count} allocations were counted")
            todo = []
            folder = one[0][one[0].index("-o") + 1] == "split"
            for plus, share in (("", 1 if folder else 4), ("+", 4)):
                ns = range(1, count + 1)
                if not ALL and count > RUNS // share:
                    ns = [*rng.sample(ns, RUNS // share), *ns[-LAST:]]
                todo += [f"{n}{plus}" for n in ns]
            total += len(todo)
            bad = [b for b in pool.map(lambda n: fail_once(one, n, base, models), todo) if b]
            for text in bad[:5]:
                check(False, text)
            check(not bad, f"{one[0][0]}: {len(bad)} of {len(todo)} runs are wrong ({count} allocations)")
    print(f"{total} runs with failing allocations", flush=True)


def library(tmp, models):
    """Reading, planning and writing in a program that goes on: what fails leaves nothing and loses nothing."""
    area = tmp / "library"
    area.mkdir()
    r = run(PCC, [models / "cnn.onnx", *SPLIT, "-q", "-o", tmp / "cnn.pir"], area)
    r = r.returncode or run(PCC, [models / "cnn.onnx", *SPLIT, "-q", "-o", tmp / "plan.json"], area).returncode
    check(r == 0, "library: no inputs")
    (tmp / "blocks.json").write_text('[["^conv[0-2]"], ["conv3", "relu3"]]')
    (tmp / "list.txt").write_text("conv[0-2]$=acc0\n.=acc1\n")
    cluster = tmp / "cluster.json"
    cluster.write_text('{"classes": [{"name": "own", "count": 2, "memory": "1GiB", "bandwidth": "1TB/s", "peak": '
                       '{"f32": "1T"}, "link": {"bandwidth": "25GB/s", "latency": "1us"}}]}')
    cnn, gpt, body = (models / f"{name}.onnx" for name in ("cnn", "gpt", "body"))
    jobs = [(body, "2xa100", "dp-place", "plan.json", 1), (cnn, "2xa100", "fuse,dp-place", "split", 8),
            (gpt, "2xa100", "fuse,dp-place", "split", 40),
            (body, "2xa100", "inline-functions{only=T},dp-place", "p.pir", 8),
            (body, "2xa100", "open-functions,fuse,auto-place{starts=1}", "split", 8),
            (cnn, cluster, "ip-place{starts=1:moves=100}", "plan.csv", 8),
            (cnn, "2xa100", f"contract{{blocks={tmp / 'blocks.json'}}},anneal-place{{starts=1:moves=100:chains=2}}",
             "p.trace.json", 16),
            (cnn, "2xa100", f"plan{{from={tmp / 'plan.json'}}}", "p.onnx", 8),
            (tmp / "cnn.pir", "", "hier-place", "p.dot", 16),
            (cnn, "2xa100", f"plan{{from={tmp / 'list.txt'}}}", "p.gantt.svg", 40)]
    for model, devices, passes, out, every in jobs:
        r = run(EVERY, [model, devices, passes, out, 1 if ALL else every], area)
        what = f"library: {model.name} {passes} {out}"
        check(r.returncode == 0, f"{what}: exit {r.returncode} {r.stdout}{r.stderr[-300:]}")
        check(not tree(area), f"library: {passes} {out} left {sorted(tree(area))}")
        print(f"{model.name} {passes} {out}: {r.stdout.splitlines()[-1:]}", flush=True)


# ---------------------------------------------------------------- 2. the disk


def mount(area, size):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.mount(b"tmpfs", os.fsencode(area), b"tmpfs", 0, b"size=%d" % size) == 0


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))


def full_disk(tmp, models):
    """Each output on a disk that has no room for all of it, beside an older one that stays."""
    big = tmp / "big.onnx"
    subprocess.run([PCC_GEN, "gpt", "--layers", "2", "--width", "64", "--heads", "2", "--vocab", "64",
                    "-o", big], check=True, capture_output=True)
    area = tmp / "disk"
    area.mkdir()
    mounted = extras.extra() == "disk"
    if mounted:
        extras.need(mount(area, 100 * 4096), "no small disk can be mounted here")
    more = {} if mounted else {"preexec_fn": small_files}
    try:
        run(PCC, [models / "cnn.onnx", *SPLIT, "-q", "-o", "old"], area)
        (area / "plan.pir").write_text("mine")
        full = tree(area)
        check("old/manifest.json" in full, "disk: there is no older split")
        for fill in (80, 50, 20, 8, 4, 2, 0) if mounted else (0,):
            if mounted:
                free = os.statvfs(area)
                (area / "ballast").write_bytes(bytes(max(0, free.f_bavail - fill) * free.f_bsize))
            before = tree(area)
            for out in ("new", "old", "plan.pir", "new.onnx"):
                r = run(PCC, [big, *SPLIT, "-q", "-o", out], area, **more)
                what = f"disk: {out} with {fill} free blocks"
                if r.returncode == 0 and mounted and fill and "." in out: # it did fit
                    (area / out).write_text("mine") if out in before else (area / out).unlink()
                    continue
                say = errors_of(r)
                check(r.returncode == 1 and len(say) == 1, f"{what}: exit {r.returncode} {r.stderr}")
                names = {out, *FIXED} if "." not in out else {out}
                check(say and (any(n in say[0] for n in names) or re.search(r"part\d+\.onnx", say[0])),
                      f"{what}: {say} names no file")
                check(tree(area) == before, f"{what}: {sorted(tree(area))}")
            if mounted:
                (area / "ballast").unlink()
        check(tree(area) == full, "disk: something was lost")
        if mounted:
            resource_free = run(PCC, [models / "cnn.onnx", *SPLIT, "-q", "-o", "old"], area)
            check(resource_free.returncode == 0, "disk: no way back after it was full")
    finally:
        if mounted:
            ctypes.CDLL(None).umount2(os.fsencode(area), 0)


# ---------------------------------------------------------------- 3. names and links


EVIL = ["../../evil", "/tmp/pcc-evil-name", "a\nb", "..", ".", "", "part0.onnx", "manifest.json",
        "%s%n", "$(touch evil)", "`touch evil`", "|touch evil", "\\..\\evil", "a\tb", "~root", "-o",
        "\u202egnp.exe", "x" * 5000]


def hostile_names(tmp):
    area = tmp / "names"
    area.mkdir()
    for i, evil in enumerate(EVIL):
        path = tmp / f"evil{i}.onnx"

        def info(name):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, [40, 40])
        w = numpy_helper.from_array(np.ones((40, 40), np.float32), evil + "w")
        nodes = [helper.make_node("MatMul", [evil + "x", evil + "w"], [evil + "m"], name=evil),
                 helper.make_node("Relu", [evil + "m"], [evil + "y"], name=evil + "2")]
        save(path, nodes, [info(evil + "x")], [info(evil + "y")], [w], name=evil or "g")
        outside = set(tmp.iterdir())
        r = run(PCC, [path, *SPLIT, "-q", "-o", "split"], area, env=dict(os.environ))
        check(r.returncode == 0, f"names: {evil[:40]!r}: {r.stderr[-300:]}")
        have = {p.name for p in (area / "split").rglob("*")}
        check(all(n in FIXED or re.fullmatch(r"part\d+\.onnx", n) for n in have),
              f"names: {evil[:40]!r} made {sorted(have)}")
        check({p.name for p in area.iterdir()} == {"split"} and set(tmp.iterdir()) == outside
              and not os.path.lexists("/tmp/pcc-evil-name"), f"names: {evil[:40]!r} made a file")
    # a NUL in a name is refused; nothing may be cut off at it
    data = (tmp / "evil2.onnx").read_bytes().replace(b"a\nb2", b"a\0b2")
    (tmp / "nul.onnx").write_bytes(data)
    r = run(PCC, [tmp / "nul.onnx", *SPLIT, "-q", "-o", "nul"], area)
    check(r.returncode == 1 and len(errors_of(r)) == 1 and not (area / "nul").exists(),
          f"names: NUL: exit {r.returncode} {r.stderr}")


def links(tmp, models):
    area, victim = tmp / "links", tmp / "victim"
    area.mkdir()
    victim.mkdir()
    for name in (*FIXED, "part0.onnx", "target.pir"):
        (victim / name).write_text("mine")
    kept = tree(victim)
    cnn = models / "cnn.onnx"

    def safe(what):
        check(tree(victim) == kept, f"links: {what}: the victim has changed")

    # the target of a file output is a link: the link is replaced, not what it leads to
    for target in ("target.pir", "missing.pir"):
        (area / "out.pir").symlink_to(victim / target)
        r = run(PCC, [cnn, "-q", "-o", "out.pir"], area)
        check(r.returncode == 0 and not (area / "out.pir").is_symlink(), f"links: {target}: {r.stderr}")
        safe(target)
        (area / "out.pir").unlink()
    # links where the temporary file goes, by a shell that becomes pcc and so has its process id
    plant = 'for i in 0 1 2; do ln -s "$1" .pcc-$$-$i; done; shift; exec "$@"'
    for target in ("target.pir", "missing.pir"):
        r = subprocess.run(["sh", "-c", plant, "sh", victim / target, PCC, cnn, "-q", "-o", "out.pir"],
                           cwd=area, capture_output=True, text=True)
        check(r.returncode == 0 and (area / "out.pir").is_file(), f"links: temporary: {r.stderr}")
        safe("a temporary name")
        for p in area.iterdir():
            p.unlink()
    # links that look like temporary folders of a killed run, and folders of that name that are none
    (area / ".split.pcc-abcdef").symlink_to(victim)
    (area / ".split.pcc-foreig").mkdir()
    (area / ".split.pcc-foreig/notes").write_text("mine")
    (area / ".split.pcc-linked").mkdir()
    (area / ".split.pcc-linked/part0.onnx").symlink_to(victim / "part0.onnx")
    (area / ".other.pcc-abcdef").mkdir()
    # links inside the split that is replaced
    for turn in range(2):
        r = run(PCC, [cnn, *SPLIT, "-q", "-o", "split"], area)
        check(r.returncode == 0, f"links: split {turn}: {r.stderr}")
        check(not any(p.is_symlink() for p in (area / "split").iterdir()), "links: in the new split")
        safe(f"split {turn}")
        if turn == 0:
            for name in ("model.onnx", "weights.data"):
                (area / "split" / name).unlink()
                (area / "split" / name).symlink_to(victim / name)
    left = {str(p.relative_to(area)) for p in area.rglob(".*")} | {
        str(p.relative_to(area)) for p in area.glob(".*/*")}
    check(left == {".split.pcc-abcdef", ".split.pcc-foreig", ".split.pcc-foreig/notes",
                   ".other.pcc-abcdef"} | {f".split.pcc-abcdef/{n}" for n in kept},
          f"links: left {sorted(left)}")
    # a link as the target of a split: to nothing, to a foreign folder
    (area / "nowhere").symlink_to(area / "missing")
    (area / "foreign").symlink_to(victim)
    (victim / "notes").write_text("mine")
    kept = tree(victim)
    for out in ("nowhere", "foreign"):
        r = run(PCC, [cnn, *SPLIT, "-q", "-o", out], area)
        check(r.returncode == 1 and len(errors_of(r)) == 1, f"links: {out}: {r.returncode} {r.stderr}")
        safe(out)
    check(not (area / "missing").exists(), "links: a folder was made through a link")


def main():
    with tempfile.TemporaryDirectory(prefix="pcc-faults-") as name:
        tmp = Path(name)
        models = tmp / "models"
        models.mkdir()
        generate(models)
        if extras.extra() in ("memory", "metis"):
            extras.need(FAULTS.exists(), "no pcc whose allocations can fail (it needs glibc, and no sanitizer)")
            memory(tmp, models)
        elif extras.extra() == "library":
            extras.need(EVERY.exists(), "no library whose allocations can fail (it needs glibc, and no sanitizer)")
            library(tmp, models)
        else:
            full_disk(tmp, models)
        if not extras.extra():
            hostile_names(tmp)
            links(tmp, models)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
