#!/usr/bin/env python3
"""Do tests notice errors in sharding?

    shard_errors.py [NAME...]

Plants errors in the rules of sharding and in the rewriting, one at a time: a copy of the file with the error is
compiled in build/shard_errors and linked there with all else that build/release has, and tests/program/test_shard.py
runs with the pcc that comes out, on the operators that show the error and all their options, or some of its checks,
until it says what is wrong.  Two seconds for each error.  Prints which errors are noticed, and exits with 1 when one
is not."""
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build/release"
PLACE = ROOT / "build/shard_errors"
# Each: the error in words; operators or checks (lower case) of the test that show it; a text that stands in a file of
# passes/shard; the text that is planted in its place.
ERRORS = [
    ("fused weights are cut in one block", "models", "step = st.run * x->ways;",
     "step = size; st.run = size / x->ways;"),
    ("pieces are joined in another order", "Relu Conv", "in[k] = shard_held(x, v, st, k);",
     "in[k] = shard_held(x, v, st, x->ways - 1 - k);"),
    ("pieces from another cut are joined along the new axis", "models", 'edit_set_int(x->e, n, "axis", from.axis);',
     'edit_set_int(x->e, n, "axis", st.axis);'),
    ("pieces for another cut are mixed up", "models", "vid piece = shard_held(x, v, from, k);",
     "vid piece = shard_held(x, v, from, ways - 1 - k);"),
    ("attributes are not divided", "Conv GroupNormalization", "node_attr_int(x->m, n, c->attr, 0) / x->ways);",
     "node_attr_int(x->m, n, c->attr, 0));"),
    ("lists of attributes are not divided", "Split Slice", "list[j] /= (c->divide >> j & 1) != 0 ? x->ways : 1;",
     "list[j] /= 1;"),
    ("lists in operands are not divided", "Split Slice Expand", "divide ? c->value[j] / x->ways : c->value[j]",
     "divide ? c->value[j] : c->value[j]"),
    ("Softmax along the cut axis", "Softmax", "(flat ? cut >= axis : cut == axis)", "(flat && cut >= axis)"),
    ("Softmax before opset 13 along one axis", "Softmax", "(flat ? cut >= axis : cut == axis)", "cut == axis"),
    ("LayerNormalization over the cut axis", "LayerNormalization", "if (axis < 0 || cut >= axis)", "if (axis < 0)"),
    ("a reduction of the cut axis", "ReduceMax ReduceSum", "bool gone = (axes >> from & 1) != 0;",
     "bool gone = (axes >> from & 1) != 0 && keeps;"),
    ("the bias of a Gemm is cut by rows", "Gemm", "!cut_stack(q, 2, &c, 1 - axis, y.d[axis])",
     "!cut_stack(q, 2, &c, axis, y.d[axis])"),
    ("broadcast axes are counted from the front", "Add Mul",
     "int here = axis - (out.rank - k.rank);\n        if (here < 0 || shard",
     "int here = axis < k.rank ? axis : -1;\n        if (here < 0 || shard"),
    ("MatMul sums over the cut axis", "MatMul", "bool rows = behind == 1 && (q->result",
     "bool rows = behind <= 1 && (q->result"),
    ("Transpose the other way round", "Transpose",
     "int from = n == k.rank ? axis_of(perm[to], k.rank) : k.rank - 1 - to;", "int from = to;"),
    ("Split with sizes of the whole", "Split", ".kind = SHARD_SIZES, .operand = 1, .divide = all}",
     ".kind = SHARD_SIZES, .operand = 1, .divide = 0}"),
    ("Slice at any border", "Slice", "return ends || v % step == 0;", "return ends || v % step == 0 || step > 1;"),
    ("Slice with other steps", "Slice", "|| by[at] != 1))", "|| by[at] == 0))"),
    ("Expand to the size of the whole", "Expand", "c.divide = UINT64_C(1) << entry;\n    if (!shard_same_size",
     "c.divide = 0;\n    if (!shard_same_size"),
    ("Gather: the wrong axis behind the picked one", "Gather",
     "shard_set_in(q, 0, at < axis ? at : at - index.rank + 1);",
     "shard_set_in(q, 0, at < axis ? at : at - index.rank + 2);"),
    ("CumSum along the cut axis", "CumSum", "n = ints_of(q->s->f, node_in(q->s->m, q->n, 1), list, SHAPE_RANK);",
     "*list = 0;"),
    ("TopK, ArgMax: the wrong axis unless given", "TopK ArgMax LpNormalization", "how == SHARD_APART_FIRST ? 0 : -1",
     "how == SHARD_APART_FIRST ? -1 : 0"),
    ("ArgMax without keepdims", "ArgMax ArgMin", "cut - (cut > gone)", "cut"),
    ("lengths stay whole", "ReverseSequence", "shard_set_in(q, 1, 0);\n    shard_set_out(q, 0, cut);",
     "shard_set_out(q, 0, cut);"),
    ("the batch of LSTM's results", "LSTM", '"1---011-:211"', '"1---011-:111"'),
    ("Einsum sums over the cut letter", "Einsum", "int axis = (int)(at - arrow) - 2;",
     "int axis = (int)(at - arrow) - 1;"),
    ("scales stay whole", "QuantizeLinear DequantizeLinear", "if (cut == axis)\n            shard_set_in(q, i, 0);",
     ""),
    ("zero points of columns stay whole", "MatMulInteger MatMulIntegerToFloat",
     "if (behind == (letter == 'r' ? 1 : 0))", "if (behind == 1)"),
    ("packed columns", "MatMulNBits", '.kind = SHARD_ATTR, .attr = "N"', '.kind = SHARD_NOTHING, .attr = "N"'),
    ("a quantised product with transposed matrices", "FusedMatMul", "turn_b ? b.rank - 2 : b.rank - 1", "b.rank - 1"),
    ("groups of a convolution in runs of the result", "Conv", "q->in[0] = (struct shard_state){1, in};",
     "q->in[0] = (struct shard_state){1, out};"),
    ("kernels of ConvTranspose", "ConvTranspose", "r->arg == SHARD_CONV_TURNED ? 1 : 0", "0"),
    ("GroupNormalization with groups in two pieces", "GroupNormalization", "if (groups % ways != 0 || ", "if ("),
    ("Pad of the cut axis", "Pad", "(!entry_is(k, j, 0) || ", "(!entry_is(k, j, 1) && "),
    ("Resize of the cut axis", "Resize Upsample", "return j >= 0 && scale_is_one(q, scales, j);", "return j >= 0;"),
    ("DepthToSpace: the other mode", "DepthToSpace", '"DCR"), "CRD") == 0', '"DCR"), "CRD") != 0'),
    ("masks for all heads", "Attention MultiHeadAttention", "bool one = code == 'm' && (",
     "bool one = code == 'm' && (true || "),
    ("one bias for queries, keys and values", "Attention MultiHeadAttention", "code == 's' ? 3 * h->q : h->q",
     "code == 's' ? h->q : h->q"),
    ("the batch of past keys", "Attention", "code == 'p' ? 1 :", "code == 'p' ? 2 :"),
    ("GatherElements from the whole", "GatherElements", "if (cut != axis)\n        shard_set_in(q, 0, cut);", ""),
    ("Tile as often as for the whole", "Tile", ".divide = UINT64_C(1) << (q->given.axis % SHAPE_RANK)}",
     ".divide = 0}"),
    ("OneHot before the cut axis", "OneHot", "cut + (cut >= axis)", "cut + (cut > axis)"),
    ("ScatterND: updates at the data's axis", "ScatterND", "shard_set_in(q, 2, at + more);",
     "shard_set_in(q, 2, at);"),
    ("GatherND: axes in common stay whole", "GatherND", "if (at < common)\n        shard_set_in(q, 0, at);", ""),
    ("Split: runs of parts alone", "Split",
     "            return false;\n    uint64_t all = n >= 64",
     "            return false;\n        else if (shard_out_shape(q, i, &k))\n"
     "            q->out[i].run = k.d[axis].value / q->s->ways;\n    uint64_t all = n >= 64"),
    ("a bias on every device", "sums", "c->kind == SHARD_FIRST && i > 0", "c->kind == SHARD_FIRST && i > 64"),
    ("what is added to terms is added on every device", "sums",
     "q->change[0] = (struct shard_change){.kind = SHARD_PASS, .operand = q->at};", ""),
    ("Relu of terms", "sums", '    {"Reshape", linear,', '    {"Relu", linear, ANY_TYPE}, {"Reshape", linear,'),
    ("Erf of terms", "sums", '    {"Expand", linear,', '    {"Erf", linear, ANY_TYPE}, {"Expand", linear,'),
    ("ReduceMean without the number of devices", "sums",
     "q->change[0] = (struct shard_change){.kind = SHARD_MEAN};", ""),
    ("terms are added up in another order on the second device", "sums",
     "    return total(x, all_terms(x, v), x->ways, &shape, i,",
     "    vid *t = all_terms(x, v), first = t[0];\n    if (i == 1)\n        t[0] = t[1], t[1] = first;\n"
     "    return total(x, t, x->ways, &shape, i,"),
    ("the last of uneven pieces is as large as the others", "sums",
     "dim_num(smaller(st.run, out->d[st.axis].value - st.run * i));", "dim_num(st.run);"),
    ("sums of floats that are quantised", "quantised", "s->quantised[v] == 0 &&", ""),
    ("sums of floats have no tolerance", "tolerance", "TOLERANCE = 10,", "TOLERANCE = 0,"),
    ("pieces of states in runs of one", "states", "{.axis = st.axis, .run = st.run};", "{.axis = st.axis, .run = 1};"),
    ("pieces of weights are called contiguous", "states", "before * blocks == 1,", "true,"),
    ("random numbers are drawn on each device", "random",
     "(!place_is_pure(s->m, n) && shard_row_of(s->m, n) == NULL) ||", ""),
    ("a Dropout that trains in pieces", "random", "return draws(m, n) ? NULL : &domains", "return &domains"),
]


def build():
    """Builds all that the planted files are linked with. Returns {file of passes/shard: words of the command that
    compiles it}, and the words of the command that links pcc."""
    subprocess.run(["cmake", "--build", BUILT, "--target", "pcc", "pcc-gen"], check=True, stdout=subprocess.DEVNULL)
    commands = json.loads((BUILT / "compile_commands.json").read_text())
    compiling = {Path(c["file"]): shlex.split(c["command"]) for c in commands if "/passes/shard/" in c["file"]}
    last = subprocess.run(["ninja", "-C", BUILT, "-t", "commands", "-s", "pcc"], capture_output=True, text=True,
                          check=True).stdout
    linking = [w for w in shlex.split(last) if w not in (":", "&&")]
    return compiling, linking


def planted(path, text, compiling, linking):
    """Builds pcc with this text in place of the file `path` of passes/shard. Returns its path; None: it does not
    build."""
    source, made = PLACE / path.name, PLACE / "planted.o"
    source.write_text(text)
    words = list(compiling[path])
    words[words.index("-o") + 1] = str(made)
    words[words.index("-c") + 1] = str(source)
    words = [w for w in words if w != "-Werror"] + ["-w"]
    link = list(linking)
    at = link.index("-o") + 1
    link[at] = str(PLACE / "pcc")
    link.insert(at + 1, str(made))  # before the library, whose object of the same symbols is then not taken
    for command in (words, link):
        if subprocess.run(command, cwd=BUILT, capture_output=True).returncode:
            return None
    return PLACE / "pcc"


def wrong(pcc, shown):
    """The first thing that the test finds wrong with a pcc, "" if there is none. shown: names of operators or checks
    to test with, as in ERRORS. Ends the program if the test is skipped (77)."""
    checks = [w for w in shown.split() if w.islower()]
    env = os.environ | {"PCC": str(pcc), "PCC_GEN": str(BUILT / "pcc-gen"), "PCC_SOURCE": str(ROOT),
                        "PCC_CHECKS": " ".join(checks), "PCC_OPERATORS": "" if checks else shown}
    test = subprocess.Popen([sys.executable, ROOT / "tests/program/test_shard.py"], env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    last = ""
    for line in test.stdout:
        last = line.strip() or last
        if line.startswith("FAILED"):
            test.kill()
            break
    test.stdout.close()
    if test.wait() == 77:
        sys.exit(last)
    return last if test.returncode else ""


def main():
    PLACE.mkdir(parents=True, exist_ok=True)
    compiling, linking = build()
    missed, good_without = 0, set()  # good_without: operators and checks in which pcc itself passes
    for name, shown, old, new in ERRORS:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        path = next((f for f in compiling if old in f.read_text()), None)
        if path is None:
            sys.exit(f"{name}: no file has '{old}'")
        if shown not in good_without and wrong(BUILT / "pcc", shown):
            sys.exit(f"without an error the test of {shown} fails")
        good_without.add(shown)
        pcc = planted(path, path.read_text().replace(old, new), compiling, linking)
        said = "does not build" if pcc is None else wrong(pcc, shown)
        good = pcc is not None and said
        missed += not good
        print(f"{name}: {'noticed' if good else 'NOT NOTICED'}: {said[:150]}", flush=True)
    print(f"{missed} not noticed")
    return 1 if missed else 0


sys.exit(main())
