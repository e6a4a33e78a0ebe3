"""pcc-verify: errors planted in a split are found, with the first value that differs; so says an independent search.

With the stub engine: usage, bad inputs, Ctrl-C, help.  Extra `ort`: with ONNX Runtime (else 77): the hand-made splits
of test_verify_split.py, whose verdicts must be the same; samples from files, random operators, sequences, models that
are not the source.  Whole models: test_planted.py."""
# extras: ort
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish

PCC = os.environ.get("PCC", "pcc")
GEN = os.environ.get("PCC_GEN") or Path(PCC).parent / "pcc-gen"
VERIFY = os.environ.get("PCC_VERIFY") or Path(PCC).parent / "pcc-verify"
FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
MODEL, SPLIT = HERE / "gpt.onnx", HERE / "split"


def run(*command, env=None):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, env=env)


def says(rc, args, *words, env=None):
    """pcc-verify ends with this exit code, says these words, and has at most one error."""
    r = run(VERIFY, *args, env=env)
    said = r.stdout + r.stderr
    check(r.returncode == rc and all(w in said for w in words) and said.count("error:") <= 1,
          f"{r.args}: exit {r.returncode}, not {rc}, or not {words}: {said}")
    return said


def make():
    run(GEN, "gpt", "--layers", 1, "--width", 16, "--heads", 2, "--vocab", 32, "-o", MODEL)
    r = run(PCC, MODEL, "-d", "2xcpu", "-q", "--dim=sequence=8", "--pictures=none", "-o", SPLIT)
    check(r.returncode == 0 and (SPLIT / "part1.onnx").exists(), r.stderr)


def bad_inputs():
    stub = "--engine=stub"
    says(2, (), "expected a model and the folder")
    says(2, (MODEL, SPLIT, "--samples=0"), "--samples=0")
    says(2, (MODEL, SPLIT, "--dim=batch"), "--dim 'batch'", "NAME=N")
    says(2, (MODEL, SPLIT, "--memory=much"), "--memory 'much'", "2GiB")
    says(2, (MODEL, SPLIT, "--onnxruntime="), "--onnxruntime: expected")
    says(2, (MODEL, SPLIT, "--samlpes=2"), "did you mean '--samples'")
    says(2, (MODEL, SPLIT, "given.npz", "--seed=5"), "--seed has no effect: no sample is random")
    says(2, (MODEL, SPLIT, "given.npz", "--samples=0", "--inputs=none.npz"), "--inputs has no effect: no sample is")
    says(2, (MODEL, SPLIT, "--", "x"), "nothing behind --")
    says(1, (HERE / "none.onnx", SPLIT, stub), "none.onnx: expected a model, a file")
    says(1, (SPLIT, SPLIT, stub), "expected a model, a file")
    says(1, (MODEL, HERE, stub), "manifest.json")
    says(3, (SPLIT / "run_split.py", SPLIT, stub), "run_split.py")
    says(77, (MODEL, SPLIT, f"--onnxruntime={MODEL}"), str(MODEL), "shared library of ONNX Runtime")
    says(1, (MODEL, SPLIT, "--engine=stub:fail=gpt.onnx@0"), "random integers are all 1", "DIFFERENT: output 'logits'")
    says(1, (MODEL, SPLIT, "--engine=stub:fail=part1.onnx@0"), "split/part1.onnx does not run: the stub was")
    broken = HERE / "broken"
    shutil.copytree(SPLIT, broken)
    manifest = json.loads((SPLIT / "manifest.json").read_text())
    for change, words in ((lambda m: m["outputs"][0].pop("from"), ["outputs: expected"]),
                          (lambda m: m["outputs"][0].update({"from": "input"}), ["'logits' is said to come from"]),
                          (lambda m: m["parts"][1].update(outputs=[]), ["'logits' is said to come from part1.onnx"]),
                          (lambda m: (m["parts"][1].update(outputs=[]), m["outputs"][0].update({"from": "weights"})),
                           ["output 'logits' is no weight of model.onnx"]),
                          (lambda m: (m.update(whole={**m, "outputs": [{"name": "none", "from": "part"}]}),
                                      m["parts"][1].update(outputs=[])), ["'logits' is said to come from part1.onnx"]),
                          (lambda m: m["model"].update(file="../gpt.onnx"), ["model: expected \"file\""]),
                          (lambda m: m["inputs"][0]["sizes"].append(1 << 47), ["its \"sizes\" are not those of its"]),
                          (lambda m: m["inputs"][0]["sizes"].__setitem__(0, 1 << 47), ["not those of its \"shape\""]),
                          (lambda m: m["inputs"].pop(), ["input_ids"])):
        changed = json.loads(json.dumps(manifest))
        change(changed)
        (broken / "manifest.json").write_text(json.dumps(changed))
        says(1, (MODEL, broken, stub), *words)


def caught(pid):
    """The signals that a process catches, a bit each."""
    return int(re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())[1], 16)


def interrupted():
    """Ctrl-C ends it; nothing is left in the folder for temporary files."""
    tmp = HERE / "tmp"
    tmp.mkdir()
    p = subprocess.Popen([VERIFY, MODEL, SPLIT, "--engine=stub:delay=5ms", "--samples=100000"], stderr=subprocess.PIPE,
                         text=True, env={**os.environ, "TMPDIR": str(tmp)})
    while p.poll() is None and not caught(p.pid) >> (signal.SIGINT - 1) & 1:
        time.sleep(0.01)
    p.send_signal(signal.SIGINT)
    said = p.communicate(timeout=300)[1]
    check(p.returncode == 130 and "ended by Ctrl-C" in said and not list(tmp.iterdir()), f"{p.returncode} {said}")


def help_texts():
    said = run(VERIFY, "--help").stdout
    options = re.findall(r"(--[a-z-]+)", said)
    check(said.startswith("usage: pcc-verify MODEL SPLIT") and "--as-run" in options, said)
    man = run(VERIFY, "--help-man").stdout.replace("\\-", "-")
    check(all(o in man for o in options) and man.startswith(".TH PCC-VERIFY 1"), "the manual page has all options")
    check("as-run" in run(VERIFY, "--help-completion=fish").stdout, "completions")


# ---- with ONNX Runtime


def written(folder, name="hand"):
    """The whole model and the folder of a hand-made split."""
    root = HERE / name
    folder.write(root)
    return root / "whole.onnx", root


def plants():
    """Each plant of test_verify_split.py that outputs or parts show, and what is the first value that differs."""
    import test_verify_split as hand
    first = "first value that differs: '{}', of node '{}' ({}) in part{}.onnx on acc{}".format
    for plant, words in (
            (hand.swap_equal_shaped_weights, [first("c", "m2", "MatMul", 1, 1), "output 'y' of the parts",
                                              "before it: 3; runs of both sides with values as outputs: 1"]),
            (hand.change_one_bit, [first("a", "m1", "MatMul", 0, 0), "and 1 more outputs"]),
            (escapes, [first("a\\x1b[2J\\x0aequal:", "m\\x0a1", "MatMul", 0, 0)]),
            (hand.other_operator, [first("y", "s", "Add", 1, 1)]),
            (hand.drop_node_everywhere, [first("y", "s", "Add", 1, 1), "it lacks the operand 'd' there"]),
            (lambda f: f.annotated.graph.initializer[0].CopyFrom(hand.weight("w1", 9)),
             ["output 'y' of model.onnx", "first value that differs: 'a', of node 'm1' (MatMul) in model.onnx:"]),
            (hand.annotated_model_differs, ["output 'y' of model.onnx", "node 'r' is Sigmoid in the split and"]),
            (hand.missing_part, ["part7.onnx"]), (hand.integers_instead_of_floats, ["part1.onnx does not run"])):
        folder = hand.Folder()
        plant(folder)
        says(1, (*written(folder), "--samples=9"), *words)
    folder = off(hand.Folder(), hand.drop_node_everywhere)
    renamed(folder.part[1].graph)
    said = says(1, written(folder), "first value that differs: 'y'")
    check("lacks the operand" not in said, f"another node has operands of its own: {said}")
    for make_one, code, text in hand.RANDOM:
        says(code, written(make_one()), text)
    for make_one, code, text in (
            (lambda: hand.cast_crosses(foreign=True), 0, "1 bit-equal, 1 within rounding"),
            (hand.moved_crosses, 0, "1 bit-equal, 1 within rounding"),
            (lambda: off(hand.Folder(half=True), hand.half_weights_off), 1, "'c', of node 'm2'"),
            (lambda: off(hand.cast_crosses(), hand.cast_weights_off), 1, "'y', of node 'y'"),
            (lambda: off(hand.cast_crosses(), hand.exact_weights_off), 1, "'exact', of node 'exact'"),
            (lambda: hand.moved_crosses(chosen=True), 0, "2 outputs of 2 may be off by rounding"),
            (hand.shares_indices, 0, "equal: 3 outputs"),
            (lambda: off(hand.shares_indices(), hand.indexed_weights_off), 1, "'exact', of node 'exact'"),
            (lambda: off(hand.shares_indices(), hand.constant_off), 1, "output 'z' of the parts")):
        says(code, written(make_one()), text)


def escapes(f):
    """The value a and its node have names that would clear a terminal and forge a line."""
    for m in (f.whole, f.annotated, f.part[0]):
        m.graph.node[0].name, m.graph.node[0].output[0] = "m\n1", "a\x1b[2J\nequal:"
        m.graph.node[1].input[0] = m.graph.node[0].output[0]
    f.manifest["nodes"]["part0.onnx"] = [n.name for n in f.part[0].graph.node]
    f.part[0].graph.initializer[0].raw_data = b"\1" + f.part[0].graph.initializer[0].raw_data[1:]


def off(folder, plant):
    plant(folder)
    return folder


def others():
    """A model that is not the source: other operator, other nodes, other outputs; and one that computes the same."""
    import test_verify_split as hand
    said = "not the source of the split, 'whole.onnx' by its manifest, or passes have rewritten it: "

    def change(f):
        f.whole.graph.node[1].op_type = "Sigmoid"

    for plant, words in ((change, [said + "node 'r' is Tanh in the split and Sigmoid in the model"]),
                         (lambda f: f.whole.graph.output.pop(), ["whole.onnx: expected 2 outputs", "found 1"]),
                         (lambda f: more_nodes(f.whole.graph), [said + "node 's' (Add) has other operands or results"]),
                         (lambda f: renamed(f.whole.graph), [said + "the split lacks node 'other' (Sub)"]),
                         (lacking, [said + "the model lacks node 'dead' (Neg)"])):
        says(1, written(off(hand.Folder(), plant)), *words)
    says(0, written(off(hand.Folder(), lambda f: twice_negated(f.whole.graph))), "equal: 2 outputs")


def more_nodes(graph):
    """Makes the output y the exponential of what it was."""
    from onnx import helper
    graph.node[-1].output[0] = "before"
    graph.node.append(helper.make_node("Exp", ["before"], ["y"], name="more"))


def renamed(graph):
    graph.node[-1].name, graph.node[-1].op_type = "other", "Sub"


def lacking(f):
    """The folder's model has a node that nothing reads, and the parts have another weight."""
    import test_verify_split as hand
    f.annotated.graph.node.append(hand.node("Neg", "x", "dead"))
    f.part[1].graph.initializer[0].CopyFrom(hand.weight("w2", 9))


def twice_negated(graph):
    from onnx import helper
    graph.node[-1].output[0] = "before"
    graph.node.extend([helper.make_node("Neg", ["before"], ["minus"], name="n1"),
                       helper.make_node("Neg", ["minus"], ["y"], name="n2")])


def samples():
    """Samples from folders and archives, compressed or not, in other sizes than planned; random ones; what lacks."""
    import numpy
    import test_verify_split as hand
    from onnx import numpy_helper
    model, root = written(hand.Folder())
    given, npz = HERE / "inputs", HERE / "in.npz"
    hand.write_input(given)
    x = numpy.arange(20, dtype=numpy.float32).reshape(5, 4)
    numpy.savez_compressed(npz, x=x)
    says(0, (model, root, given, npz, "--samples=2", "--seed=3", "--dim=batch=7"), "on 4 samples")
    packed = npz.read_bytes()
    at = packed.index(b"PK\1\2")
    npz.write_bytes(packed[:at + 16] + bytes([packed[at + 16] ^ 255]) + packed[at + 17:])  # the checksum
    says(1, (model, root, npz), "in.npz: x: its compressed bytes are broken")
    npz.write_bytes(packed[:at + 24] + b"\xff\xff\xff\x7f" + packed[at + 28:])
    says(1, (model, root, npz), "in.npz: x: its compressed bytes are broken")
    end = packed.index(b"PK\5\6")
    wide = struct.pack("<HHQ", 1, 8, 5 << 30)  # a size of 64 bits
    npz.write_bytes(packed[:at + 24] + b"\xff" * 4 + packed[at + 28:at + 30] + struct.pack("<H", len(wide))
                    + packed[at + 32:end] + wide + packed[end:])
    says(1, (model, root, npz), "in.npz: x: compressed arrays of more than 4 GiB cannot be read")
    npz.write_bytes(packed[:end] + packed[at:end].replace(b"x.npy", b"z.npy") + packed[end:end + 8] + b"\2\0\2\0"
                    + packed[end + 12:])
    says(1, (model, root, npz), "in.npz: z: it overlaps another array")
    numpy.savez(npz, x=x)  # not compressed
    plain = npz.read_bytes()
    at = plain.index(b"PK\1\2")
    npz.write_bytes(plain[:at - 1] + bytes([plain[at - 1] ^ 1]) + plain[at:])
    says(1, (model, root, npz), "in.npz: x: its bytes are broken: they have another checksum")
    end = plain.index(b"PK\5\6")  # the place and the length of the directory in a wide end record
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, end - at, at)
    tail = plain[end:end + 8] + b"\xff" * 12 + plain[end + 20:]
    npz.write_bytes(plain[:end] + record + b"PK\6\7" + struct.pack("<IQI", 0, end, 1) + tail)
    says(0, (model, root, given, npz, "--samples=1", "--dim=batch=7"), "on 3 samples")
    npz.write_bytes(plain[:end] + record[:32] + b"\xff" * 8 + record[40:] + b"PK\6\7" + struct.pack("<IQI", 0, end, 1)
                    + tail)
    says(1, (model, root, npz), "in.npz: its directory is cut off")
    numpy.savez_compressed(npz, x=x, z=x)
    both = npz.read_bytes()
    at = both.rindex(b"PK\1\2")
    npz.write_bytes(both[:at + 16] + bytes([both[at + 16] ^ 255]) + both[at + 17:])
    says(1, (model, root, npz), "in.npz: 'z' is no input of the model")  # which is not unpacked
    numpy.savez(npz, x=x[:3])
    says(0, (model, root, npz, "--samples=1", f"--inputs={npz}"), "equal: 2 outputs", "on 2 samples")
    numpy.savez(npz, z=x)  # types and further arrays: test_profile.py
    says(1, (model, root, npz), "in.npz: input 'x' is missing")
    says(1, (model, root, HERE), "input_0.pb")
    shutil.copy(given / "input_0.pb", given / "input_1.pb")
    says(1, (model, root, given), "input_1.pb: expected no more files: the model has 1 inputs")
    (given / "input_0.pb").write_bytes(b"no tensor")
    says(1, (model, root, given), "input_0.pb: expected a tensor")
    numpy.savez(npz, x=numpy.zeros((3, 5), numpy.float32))
    says(3, (model, root, npz), "cannot run the model: whole.onnx:")
    folder = hand.Folder()
    for m in (folder.whole, folder.annotated, folder.part[0]):
        m.graph.initializer[0].CopyFrom(numpy_helper.from_array(numpy.zeros((4, 4), numpy.float32), "w1"))
    hand.return_input(folder)
    says(0, (*written(folder), "--samples=2"), "no output of the model changes with the samples", "equal: 2 outputs",
         "1 outputs of 3 are inputs: not compared")
    folder = off(hand.Folder(), hand.change_one_bit)
    numpy.savez(npz, x=numpy.zeros((1, 4), numpy.float32))
    says(1, (*written(folder), npz, "--samples=9"), "of the parts, random sample ", "'a', of node 'm1'")


def pieces():
    """With room for one value at a time it takes as many runs as values, and finds the same."""
    import test_verify_split as hand
    folder = hand.moved_crosses()
    folder.part[1].graph.node[0].op_type = "Sub"  # values before it are off by rounding where not all are outputs
    says(1, (*written(folder), "--memory=1"), "'y', of node 'y'")
    model, root = written(off(hand.Folder(), hand.swap_equal_shaped_weights))
    for memory, runs in (("1", 4), ("192B", 2)):  # values of 48 bytes, on both sides
        says(1, (model, root, f"--memory={memory}"), "'c', of node", "before it: 3", f"as outputs: {runs}")


def as_run():
    import test_verify_split as hand
    folder = off(hand.cast_crosses(), lambda f: hand.cast_weights_off(f, 1.002))
    said = says(0, (*written(folder), "--as-run"), "1 bit-equal, 1 within rounding", "as run: output 'exact': ")
    check(re.search("as run: output 'y': .* elements differ, by at most 0.00", said), said)


def kinds():
    """Outputs that are sequences, maps, strings, or an input."""
    import numpy
    from onnx import TensorProto, helper, numpy_helper, save
    nodes = [helper.make_node("Exp", ["x"], ["e"], name="e"),
             helper.make_node("SequenceConstruct", ["e", "x"], ["seq"], name="seq"),
             helper.make_node("Relu", ["e"], ["r"], name="r"),
             helper.make_node("ArgMax", ["r"], ["k"], name="k", axis=1, keepdims=0),
             helper.make_node("Gather", ["words", "k"], ["word"], name="word"),
             helper.make_node("ZipMap", ["r"], ["map"], name="map", domain="ai.onnx.ml", classlabels_int64s=[4, 5, 6])]
    f32 = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n", 3])
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(
        TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])))
    outputs = [("seq", helper.make_sequence_type_proto(f32)), ("map", maps), ("x", f32),
               ("word", helper.make_tensor_type_proto(TensorProto.STRING, ["n"]))]
    words = numpy_helper.from_array(numpy.array(["one", "two", "three"], dtype=object), "words")
    graph = helper.make_graph(nodes, "g", [helper.make_value_info("x", f32)],
                              [helper.make_value_info(*o) for o in outputs], [words])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    save(helper.make_model(graph, ir_version=8, opset_imports=opsets), HERE / "kinds.onnx")
    folder = HERE / "kinds"
    r = run(PCC, HERE / "kinds.onnx", "-d", "2xcpu", "-q", "--dim=n=2", "--pictures=none", "-o", folder,
            "--pin=e=cpu0", "--pin=r=cpu1")
    check(r.returncode == 0 and (folder / "part1.onnx").exists(), r.stderr)
    says(0, (HERE / "kinds.onnx", folder), "equal: 3 outputs")
    import onnx
    part = next(p for p in folder.glob("part*.onnx") if b"three" in p.read_bytes())
    other = onnx.load(part)
    other.graph.initializer[0].string_data[:] = [b"won", b"too", b"tree"]
    save(other, part)
    says(1, (HERE / "kinds.onnx", folder), "output 'word' of the parts, random sample 0: strings differ", "'word', of")


def by_runtime():
    make()
    extras.need(run(VERIFY, MODEL, SPLIT).returncode != 77, "no ONNX Runtime: pip install onnxruntime")
    plants()
    others()
    samples()
    pieces()
    as_run()
    kinds()


def main():
    if extras.extra() == "ort":
        by_runtime()
        return finish()
    make()
    bad_inputs()
    interrupted()
    help_texts()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
