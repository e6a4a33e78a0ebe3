#!/usr/bin/env python3
"""--weights: wherever the weights of a split lie, it computes what the whole model computes.

usage: test_weights.py   (environment: PCC, PCC_GEN, PCC_SOURCE, PCC_SHARED)

1. Odd models, generated ones and some of real exporters in every mode; tools/verify_split.py judges.
2. What is in the files: inline refers to nothing, each part of parts to its own file, original and link to the very
   bytes of the source.
3. Splits beside their source: nothing else is touched; elsewhere copies, or links for who wants them.
4. Failures, models without their weights, and memory that does not grow with the weights.

Exit: 0 pass, 1 fail, 77 skip (no ONNX Runtime, no pcc).
"""
# extras: shared far
import fcntl
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras

import test_split as base
from sanitized import SANITIZED
from test_split import FAST, GEN, PCC, TensorProto, check, external_of, load, manifest_of, np, onnx, run, verify

MODES = ("shared", "parts", "inline", "original", "link")
JUDGED = ("parts", "inline", "original")  # and some links; test_split.py has the same models with shared
CLONING = str(extras.BUILT / "pcc-cloning")  # pcc where files can share blocks
TINY = ("bert_fp16", "cond_dyn", "densenet121_ts", "gpt2_kv_dyn", "gpt2_merged_if", "minigpt_functions_ts",
        "sklearn_rf_pipeline", "train_gpt_grad_dyn")  # of exported/tiny; the benchmark takes all
LINKED = ["--allow-links"]


def split(model, folder, mode, *options, **more):
    return base.split(model, folder, f"--weights={mode}", *base.UNSEEN, *options, **more)


def models(work):
    """(path, its inputs)"""
    if not extras.extra():
        return [(path, None) for path in base.odd_models(work) + base.generated_models(work)]
    return [(path, inputs) for path, inputs in base.shared_models() if path.stem in TINY][::1 + SANITIZED]


def copy_of(path, folder):
    """The model with its files in a folder of its own: links to the source make its files many-named."""
    folder.mkdir()
    shutil.copy(path, folder)
    for t in base_tensors(path):
        where = external_of(t).get("location")
        if where:
            shutil.copy(path.parent / where, folder)
    return folder / path.name


def base_tensors(path):
    stack = [load(path).graph]
    while stack:
        g = stack.pop()
        yield from g.initializer
        yield from (half for s in g.sparse_initializer for half in (s.values, s.indices))
        for node in g.node:
            for a in node.attribute:
                yield from [a.t] * a.HasField("t") + list(a.tensors)
                stack += [a.g] * a.HasField("g") + list(a.graphs)


# ---------------------------------------------------------------- 1. parts and whole, 2. the files


def check_files(model, folder, mode, what):
    """Weights are where the mode says, byte for byte."""
    said = manifest_of(folder)["weights"]
    check(said["mode"] == mode, f"{what}: the manifest says {said}")
    check(mode != "inline" or not said["files"], f"{what}: {said}")
    check(not (folder / "weights.data").exists() or "weights.data" in said["files"], f"{what}: {said}")
    ends = {}
    whole = {t.name: t for t in onnx.load(str(model)).graph.initializer}
    for file in sorted(p for p in folder.glob("*.onnx") if p.name[:4] == "part" or p.name == "model.onnx"):
        for t in load(file).graph.initializer:
            if t.data_location != TensorProto.EXTERNAL:
                check(mode == "inline" or len(t.raw_data) < 1024, f"{what}: {t.name} is inline in {file.name}")
                continue
            e = external_of(t)
            check(mode != "inline" and e["location"] in said["files"], f"{what}: {t.name} lies at {e}")
            check(mode != "parts" or e["location"] == f"{file.stem}.data" or file.name == "model.onnx",
                  f"{what}: {file.name} refers to {e['location']}")
            ends[e["location"]] = max(ends.get(e["location"], 0), int(e["offset"]) + int(e["length"]))
            with open(folder / e["location"], "rb") as f:
                f.seek(int(e["offset"]))
                data = f.read(int(e["length"]))
            check(data == onnx.numpy_helper.to_array(whole[t.name]).tobytes(), f"{what}: the bytes of {t.name} differ")
    for name, end in ends.items() if mode == "parts" and "external" not in str(model) else ():
        check((folder / name).stat().st_size == end, f"{what}: {name} has more than the weights")


def try_modes(folder, path, inputs, devices):
    """In a process of the pool; what failed."""
    base.FAILED.clear()
    folder.mkdir()
    model, plan = copy_of(path, folder / "model"), folder / "plan.json"
    on = ["-d", f"{devices}xa100", *FAST, "--quiet"]
    r = run(PCC, model, "-p", "dp-place", "-o", plan, *on)
    check(r.returncode == 0, f"{path.stem}: no plan: {r.stderr.strip()[-300:]}")
    for mode, out in [*((mode, folder / "s") for mode in JUDGED), ("original", folder / "model"),
                      *[("link", folder / "s")] * (devices == 2 or "external" in path.stem)]:
        what = f"{path.stem}, {mode}{' beside' * (out != folder / 's')}, over {devices}"
        r = run(PCC, model, "-p", f"plan{{from={plan}:effort=0}}", "-o", out, f"--weights={mode}", *base.UNSEEN, *on)
        if r.returncode == 1 and "its type is not known" in r.stderr:
            continue
        if check(r.returncode == 0, f"{what}: {r.stderr.strip()[-300:]}"):
            verify(model, out, what, inputs)
            if not SANITIZED:  # the bytes are those of other builds
                check_files(path, out, mode, what)
            check(mode == "link" or all(p.stat().st_nlink == 1 for p in folder.glob("*/*")), f"{what}: hard links")
        if mode == "original":  # the next one lies beside the model, or is not to be replaced by links
            shutil.rmtree(folder / "s", ignore_errors=True)
    shutil.rmtree(folder)
    return base.FAILED


def test_equality(work):
    with ProcessPoolExecutor(base.WORKERS, multiprocessing.get_context("fork")) as pool:
        jobs = [pool.submit(try_modes, work / f"s{k}", path, inputs, 2 + k % 3)
                for k, (path, inputs) in enumerate(models(work))]
        for job in jobs:
            base.FAILED.extend(job.result())


def test_alone(work, gpt):
    """A part and its file hold all that it reads; the file of a single part is weights.data; folders are replaced."""
    area = work / "alone"
    area.mkdir()
    for mode, devices in ("parts", 3), ("shared", 3), ("shared", 1), ("parts", 1):
        r = split(gpt, area / f"{mode}{devices}", mode, "-d", f"{devices}xa100", *FAST)
        check(r.returncode == 0, f"alone, {mode} over {devices}: {r.stderr}")
    parts = manifest_of(area / "parts3")["parts"]
    for p in parts:
        host = area / p["device"]
        host.mkdir()
        for name in (p["file"], p["data"]):
            shutil.copy(area / "parts3" / name, host)
        check(onnx.load(str(host / p["file"])) == onnx.load(str(area / "shared3" / p["file"])), f"alone: {p['file']}")
        check((host / p["data"]).stat().st_size == p["data_bytes"], f"alone: {p}")
    check(len(parts) == 3 and not (area / "parts3/weights.data").exists(), f"alone: {names(area / 'parts3')}")
    one, same = names(area / "parts1"), names(area / "shared1")
    check(one - same == {"part0.data"} and same - one == {"weights.data"}, f"one part: {one} and {same}")
    check((area / "parts1/part0.data").read_bytes() == (area / "shared1/weights.data").read_bytes(), "one part: bytes")
    (area / "parts3/part9.data").write_text("mine")
    base.refuse("a foreign data file", area / "parts3", area / "parts3", "holds 'part9.data'", gpt, "--weights=parts")
    (area / "parts3/part9.data").unlink()
    for mode, devices in ("parts", 2), ("shared", 2):
        r = split(gpt, area / "parts3", mode, "-d", f"{devices}xa100", *FAST)
        data = {n for n in names(area / "parts3") if n.endswith(".data")}
        wanted = {"part0.data", "part1.data"} if mode == "parts" else {"weights.data"}
        check(r.returncode == 0 and data == wanted, f"replaced by {mode}: {sorted(data)}: {r.stderr}")


def test_parts_nested(work):
    """Constants in another file that several parts copy, and weights that none reads."""
    area = work / "nested"
    area.mkdir()
    size, tensors = 512, {n: np.full(512, i + 1, np.float32) for i, n in enumerate(("none", "k", "w"))}
    with open(area / "m.bin", "wb") as f:
        f.writelines(a.tobytes() for a in tensors.values())
    held = {n: outside(onnx.helper.make_tensor(n, TensorProto.FLOAT, [size], a.tobytes(), raw=True), "m.bin")
            for n, a in tensors.items()}
    for i, t in enumerate(held.values()):
        t.external_data.add(key="offset", value=str(i * 4 * size))
        t.external_data.add(key="length", value=str(4 * size))
    node = onnx.helper.make_node
    adds = [node("Add", [f"x{i}", "wk"[i % 2]], [f"x{i + 1}"], name=f"add{i}") for i in range(4)]
    model = base.model_of([node("Constant", [], ["k"], value=held["k"]), *adds], [base.info("x0", [size])],
                          [base.info("x4", [size])], [held["none"], held["w"]])
    onnx.save(model, area / "m.onnx")
    r = split(area / "m.onnx", area / "split", "parts", "-d", "2xa100", "--pin", "add[01]=acc0", "--pin",
              "add[23]=acc1", *FAST)
    if not check(r.returncode == 0, f"nested: {r.stderr}"):
        return
    verify(area / "m.onnx", area / "split", "nested")
    said = manifest_of(area / "split")
    check(said["weights"]["files"] == ["part0.data", "part1.data", "weights.data"], f"nested: {said['weights']}")
    check([p["data_bytes"] for p in said["parts"]] == [4096 + 4 * size] * 2, f"nested: {said['parts']}")
    check((area / "split/weights.data").read_bytes() == tensors["none"].tobytes(), "nested: what no part reads")
    for file in ("part0.onnx", "part1.onnx"):
        found = {external_of(t)["location"] for t in base_tensors(area / "split" / file)}
        check(found == {file.replace("onnx", "data")}, f"nested: {file} refers to {found}")


def test_odd_sizes(work):
    """Weights of a byte more than a page do not overlap."""
    area = work / "page"
    area.mkdir()
    held = [onnx.helper.make_tensor(n, TensorProto.UINT8, [4097], bytes([k + 1]) * 4097, raw=True)
            for k, n in enumerate("abc")]
    adds = [onnx.helper.make_node("Add", [f"x{i}", n], [f"x{i + 1}"], name=f"add{i}") for i, n in enumerate("abc")]
    ends = [onnx.helper.make_tensor_value_info(n, TensorProto.UINT8, [4097]) for n in ("x0", "x3")]
    onnx.save(base.model_of(adds, ends[:1], ends[1:], held), area / "m.onnx")
    for mode in ("shared", "parts"):
        r = split(area / "m.onnx", area / mode, mode, "-d", "2xa100", "--pin", "add[01]=acc0", "--pin", "add2=acc1",
                  *FAST)
        if check(r.returncode == 0, f"pages: {r.stderr}"):
            check_files(area / "m.onnx", area / mode, mode, "pages")


# ---------------------------------------------------------------- 3. beside the source


def names(folder):
    return {p.name for p in folder.iterdir()}


def test_beside(work, gpt):
    model = copy_of(gpt, work / "beside")
    folder = model.parent
    (folder / "notes.txt").write_text("mine")
    (folder / "part").write_text("mine")
    before = base.digest(folder)
    r = split(model, folder, "original", "-d", "4xa100", *FAST)
    check(r.returncode == 0 and model.stat().st_nlink == 1, f"beside: {r.stderr}")
    first = names(folder)
    r = split("gpt_kv.onnx", ".", "original", "-d", "2xa100", *FAST, cwd=folder)
    check(r.returncode == 0, f"beside, again: {r.stderr}")
    parts = [f"part{k}.onnx" for k in range(4)]
    check(set(parts) <= first and set(parts) & names(folder) == set(parts[:2]),
          f"beside: {sorted(names(folder))} after {sorted(first)}")
    now = base.digest(folder)
    check(all(now.get(name) == d for name, d in before.items()), "beside: other files have changed")
    verify(model, folder, "beside, again")

    base.refuse("another mode beside", folder, folder, "holds", model)
    (folder / "part7.onnx").write_text("mine")
    base.refuse("a foreign part beside", folder, folder, "part7.onnx", model, "--weights=original")
    (folder / "part7.onnx").unlink()
    base.refuse("disk full beside", folder, folder, "File too large", model, "--weights=original",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)) or base.signal.signal(
                    base.signal.SIGXFSZ, base.signal.SIG_IGN))
    base.refuse("the whole of a split", folder, folder, "has the name of a file of a split", folder / "model.onnx",
                "--weights=original")
    (folder / "manifest.json").unlink()
    base.refuse("files of a split without a manifest", folder, folder, "no manifest", model, "--weights=original")

    far = work / "far"
    far.mkdir()
    (far / "resnet.onnx").symlink_to(work / "resnet.onnx")
    base.refuse("a symbolic link", far, far, "is a symbolic link", far / "resnet.onnx", "--weights=original")


def test_copies(work, gpt):
    """Elsewhere: the source stays the user's own, and large copies are announced."""
    model = copy_of(gpt, work / "mine")
    data, before = model.with_suffix(".weights"), base.digest(work / "mine")
    size = f"{data.stat().st_size / 1024:.1f} KiB"
    for program in (PCC, CLONING):
        out = work / Path(program).name
        r = run(program, model, "-p", "dp-place", "--weights=original", "-o", out, "-d", "2xa100", *FAST)
        announced = f"copying 1 file of the source into it, {size}" in r.stderr
        shares = program == CLONING or can_clone(work)
        check(r.returncode == 0 and announced != shares, f"copies, {program}: {r.stderr}")
        check(manifest_of(out)["weights"] == {"mode": "original", "files": ["source0.data"]}, f"copies: {program}")
        check((out / "source0.data").read_bytes() == data.read_bytes(), f"copies, {program}: other bytes")
        check(data.stat().st_nlink == 1 and base.digest(model.parent) == before, f"copies, {program}: touched")
        onnx.load(str(model))
        verify(model, out, f"copies, {program}")
        pieces = out.with_name(f"pieces-{out.name}")
        r = run(program, model, "-p", "shard{ways=2:number=1}", "--weights=original", "-o", pieces, "-d", "2xa100",
                *FAST)
        check(r.returncode == 0 and (pieces / "source0.data").exists() == shares, f"pieces, {program}: {r.stderr}")
        check((pieces / "weights.data").stat().st_size < 1.5 * data.stat().st_size, f"pieces, {program}: larger")
        verify(model, pieces, f"pieces, {program}")
    r = run(PCC, model, "-q")
    check(r.returncode == 0, f"copies: the source is refused: {r.stderr}")


def can_clone(folder):
    """Whether files there can share blocks."""
    with open(folder / "a", "wb+") as a, open(folder / "b", "wb+") as b:
        a.write(bytes(8192))
        a.flush()
        try:
            fcntl.ioctl(b.fileno(), 0x40049409, a.fileno())  # FICLONE
            return True
        except OSError:
            return False


def test_links(work, gpt):
    model = copy_of(gpt, work / "linked")
    r = split(model, work / "l", "link", "-d", "2xa100", *FAST)
    check(r.returncode == 0, f"links: {r.stderr}")
    files = manifest_of(work / "l")["weights"]["files"]
    data = model.with_suffix(".weights")
    check([(work / "l" / f).samefile(data) for f in files] == [True], f"links: {files}")
    base.refuse("a source of two names", work / "l", work / "l", "has several names", model)
    r = split(model, work / "l", "shared", "-d", "2xa100", *FAST, *LINKED)
    check(r.returncode == 0 and data.stat().st_nlink == 1, f"links: a replaced split keeps them: {r.stderr}")


def test_far(work):
    model = base.generated_models(work)[0]
    with extras.another_disk(work) as far:
        base.refuse("another file system", Path(far), Path(far) / "split", "another file system", model,
                    "--weights=link")


# ---------------------------------------------------------------- 4. failures, memory


def test_failures(work, gpt):
    r = split(gpt, work / "x", "inlined")
    check(r.returncode == 2 and "expected shared, parts, inline, original, link or auto" in r.stderr,
          f"--weights=inlined: {r.stderr}")
    r = split(gpt, work / "x.json", "inline")
    check(r.returncode == 2 and "is for a split" in r.stderr, f"no split: {r.stderr}")
    area = work / "area"
    area.mkdir()
    base.refuse("disk full", area, area / "new", "File too large", gpt, "--weights=inline",
                preexec_fn=base.small_files)
    missing = work / "missing.onnx"
    run(GEN, "gpt", "--layers", 2, "--width", 32, "--heads", 2, "--vocab", 64, "--no-weights", "-o", missing)
    for mode in MODES:
        base.refuse(f"missing weights, {mode}", area, area / "new",
                    "--weights=original and -o the model's own folder", missing, f"--weights={mode}")


def test_no_room(work, gpt):
    """Weights of four terabytes, in a sparse file, are refused before any is copied."""
    kind = run("stat", "-f", "-c", "%T", work).stdout.strip()
    if kind not in ("ext2/ext3", "tmpfs"):
        print(f"not tried: too little room ({kind} is not asked)")
        return
    huge = copy_of(gpt, work / "huge")
    whole = onnx.load(huge, load_external_data=False)
    most = max(whole.graph.initializer, key=lambda t: len(t.raw_data))
    most.dims[0] = (1 << 42) // (4 * int(np.prod(most.dims[1:])))
    most.ClearField("raw_data")
    most.data_location = TensorProto.EXTERNAL
    most.external_data.add(key="location", value="most.data")
    (huge.parent / "most.data").touch()
    os.truncate(huge.parent / "most.data", 1 << 42)
    onnx.save(whole, huge)
    for mode, what in (("shared", "weights.data: takes"), ("parts", "the weights of the parts: takes"),
                       ("original", "the source's file")):
        r = split(huge, work / "no_room", mode, "-d", "2xa100:100000TiB")
        check(r.returncode == 1 and what in r.stderr and "its file system has" in r.stderr
              and not (work / "no_room").exists(), f"no room, {mode}: {r.returncode}: {r.stderr}")


def referred(folder):
    """(file, offset, length) of every tensor by name, in each model of a split."""
    return [{t.name: tuple(external_of(t).get(k) for k in ("location", "offset", "length")) for t in base_tensors(p)
             if t.data_location == TensorProto.EXTERNAL} for p in sorted(folder.glob("*.onnx"))]


def test_missing(work, gpt):
    """A model without its weights: parts beside it refer to them by name, and run when they come."""
    model, data = copy_of(gpt, work / "gone"), Path("gpt_kv.weights")
    whole = referred(model.parent)[0]
    (model.parent / data).rename(work / data)
    out = model.parent
    r = run(PCC, model, "-d", "2xa100", *FAST, "-p", "dp-place", "--weights=original", "-o", out)
    check(r.returncode == 0 and f"1 file of weights is not there: the parts refer to '{data}'" in r.stderr,
          f"missing: {r.stderr}")
    check(manifest_of(out)["weights"] == {"mode": "original", "files": [str(data)]}, "missing: the manifest")
    found = referred(out)
    check(len(found) >= 3 and all(whole.items() >= m.items() for m in found) and whole in found,
          "missing: other references")
    shutil.copy(work / data, out)
    verify(model, out, "missing, then there")
    tiny = onnx.helper.make_tensor("w", TensorProto.FLOAT, [0, 4], b"", raw=True)
    small = onnx.helper.make_tensor("v", TensorProto.FLOAT, [4], np.arange(4, dtype=np.float32).tobytes(), raw=True)
    for name, file, text in (("small", "far.bin", ""), ("own", "part1.onnx", "has the name of a file of a split")):
        nodes = [onnx.helper.make_node("Add", ["x", "v"], ["y"]), onnx.helper.make_node("Shape", ["w"], ["s"])]
        m = base.model_of(nodes, [base.info("x", [4])], [base.info("y", [4]), base.info("s", [2], TensorProto.INT64)],
                          [outside(tiny, file), outside(small, file)])
        (work / name).mkdir()
        onnx.save(m, work / name / f"{name}.onnx")
        r = split(work / name / f"{name}.onnx", work / name, "original", "-d", "1xa100", *FAST)
        check(text in r.stderr if text else r.returncode == 0, f"missing, {name}: {r.stderr}")
        if not text:
            here = [{"w": (file, "0", "0"), "v": (file, "0", "16")}] * 2
            check([m for m in referred(work / name) if m["w"][1]] == here, f"missing, {name}: {referred(work / name)}")


def test_many_files(work):
    """A file for each tensor, more than a process may open by default."""
    area, n = work / "many", 100
    area.mkdir()
    adds, weights = [], []
    for i in range(n):
        adds.append(onnx.helper.make_node("Add", [f"x{i}", f"w{i}"], [f"x{i + 1}"]))
        weight = onnx.helper.make_tensor(f"w{i}", TensorProto.FLOAT, [4], bytes(16), raw=True)
        weights.append(outside(weight, f"{i}.bin"))
        (area / f"{i}.bin").write_bytes(bytes(16))
    onnx.save(base.model_of(adds, [base.info("x0", [4])], [base.info(f"x{n}", [4])], weights), area / "m.onnx")
    few = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (50, 1000))}
    r = split(area / "m.onnx", area / "split", "shared", "-d", "2xa100", *FAST, **few)
    check(r.returncode == 0 and manifest_of(area / "split")["parts"], f"many files: {r.stderr}")
    none = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))}
    base.refuse("too many files", area, area / "new", "Too many open files", area / "m.onnx", **none)


def test_files_inline(work):
    """Weights of several files are copied into parts, each from its own."""
    area = work / "files"
    area.mkdir()
    adds, weights = [], []
    for i in range(4):
        data = np.full(2048, i + 1, np.float32).tobytes()
        adds.append(onnx.helper.make_node("Add", [f"x{i}", f"w{i}"], [f"x{i + 1}"]))
        weights.append(outside(onnx.helper.make_tensor(f"w{i}", TensorProto.FLOAT, [2048], data, raw=True), f"{i}.bin"))
        (area / f"{i}.bin").write_bytes(data)
    onnx.save(base.model_of(adds, [base.info("x0", [2048])], [base.info("x4", [2048])], weights), area / "m.onnx")
    r = split(area / "m.onnx", area / "split", "inline", "-d", "2xa100", *FAST)
    if check(r.returncode == 0, f"weights of four files: {r.stderr}"):
        check_files(area / "m.onnx", area / "split", "inline", "weights of four files")
        parts = [t for p in (area / "split").glob("part*.onnx") for t in load(p).graph.initializer]
        for t in parts:
            check(t.raw_data == np.full(2048, int(t.name[1:]) + 1, np.float32).tobytes(), f"the bytes of {t.name}")
        check({t.name for t in parts} == {"w0", "w1", "w2", "w3"}, "weights of four files: not all are there")


def outside(t, file):
    """The tensor as one whose bytes lie in a file."""
    out = TensorProto(name=t.name, data_type=t.data_type, dims=t.dims, data_location=TensorProto.EXTERNAL)
    out.external_data.add(key="location", value=file)
    return out


def dense(work, width):
    """Twelve layers of zeros, which take no room on the disk."""
    model = work / "dense.onnx"
    r = run(GEN, "dense", "--layers", 12, "--width", width, "--no-weights", "-o", model)
    check(r.returncode == 0, f"pcc-gen: {r.stderr}")
    size = max(int(e["offset"]) + int(e["length"]) for e in map(external_of, base_tensors(model)) if e)
    with open(model.with_suffix(".weights"), "wb") as f:
        f.truncate(size)
    return model, size


def resident(*command):
    """MiB that pcc takes, asked from a small process: a child's peak begins with its parent's size."""
    ask = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL); "
           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    r = run(sys.executable, "-S", "-c", ask, PCC, "-q", *command)
    return int(r.stdout) / 1024 if check(r.returncode == 0, f"{command}: {r.stderr}") else 0


def split_resident(work, mode, model):
    """MiB that a split into work/big takes."""
    shutil.rmtree(work / "big", ignore_errors=True)
    return resident(model, "-d", "2xa100", *FAST, "-p", "dp-place", f"--weights={mode}", "-o", work / "big")


def test_large(work):
    model, size = dense(work, 15000)
    area = work / "area"
    base.refuse("a part too large", area, area / "new", "use --weights=shared", model, "--weights=inline", *FAST)
    check(size > 5 << 30, f"too small: {size}")
    if os.environ.get("PCC_ALL"):  # copies 10 GiB
        mib = split_resident(work, "parts", model)
        most = max(p["data_bytes"] for p in manifest_of(work / "big")["parts"])
        check(mib < 60 and most > 1 << 31, f"parts: {mib:.0f} MiB resident for data of {most >> 20} MiB")
        mib = resident(work / "big", "-o", work / "whole.onnx")
        check(mib < 60, f"put together: {mib:.0f} MiB resident for {size >> 20} MiB of weights")
        (work / "whole.onnx.data").unlink()
    model, size = dense(work, 1500)
    for mode in MODES:
        mib = split_resident(work, mode, model)
        check(mib < 60 and size > 100 << 20, f"{mode}: {mib:.0f} MiB resident for {size >> 20} MiB of weights")
    mib = resident("--allow-links", work / "big", "-o", work / "whole.onnx")
    check(mib < 60 and (work / "whole.onnx.data").stat().st_size >= size, f"put together: {mib:.0f} MiB resident")
    shutil.rmtree(work / "big")


def main():
    if not Path(PCC).is_file():
        print(f"skipped: {PCC} is not there")
        return base.SKIP
    with tempfile.TemporaryDirectory(prefix="pcc-weights-") as name:
        work = Path(name)
        os.chmod(work, 0o755)
        if extras.extra():
            test_far(work) if extras.extra() == "far" else test_equality(work)
            return 1 if base.FAILED else 0
        test_equality(work)  # forks: before any session here
        gpt = work / "gpt_kv.onnx"
        test_alone(work, gpt)
        test_parts_nested(work)
        test_odd_sizes(work)
        test_beside(work, gpt)
        test_copies(work, gpt)
        test_links(work, gpt)
        test_failures(work, gpt)
        test_no_room(work, gpt)
        test_missing(work, gpt)
        test_many_files(work)
        test_files_inline(work)
        test_large(work)
    print(f"{len(base.FAILED)} failed")
    return 1 if base.FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
