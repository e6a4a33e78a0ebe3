#!/usr/bin/env python3
"""Do tests notice errors in sharding?

    shard_errors.py [NAME...]

Plants errors in the rules of sharding and in the rewriting, one at a time, in a copy of the tree (build/errors), and
runs tests/program/test_shard.py with the pcc that comes out, on the operators that show it and all their options (no
operators: the usual sample).
Prints which errors are noticed, and exits with 1 when one is not."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "build/errors"
# the error in words, operators that show it, a text in a file of passes/shard, the text that is planted in its place
ERRORS = [
    ("fused weights are cut in one block", "", "step = st.run * x->ways;",
     "step = size; st.run = size / x->ways;"),
    ("pieces are joined in another order", "Relu Conv", "in[k] = shard_held(x, v, st, k);",
     "in[k] = shard_held(x, v, st, x->ways - 1 - k);"),
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
    ("Slice at any border", "Slice", "return v % step == 0;", "return v % step == 0 || step > 1;"),
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
    ("a quantised product with transposed matrices", "FusedMatMul", "behind = 1 - behind;", "behind = behind + 0;"),
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
]


def shell(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)


def prepare():
    """Copies the tree and builds it."""
    COPY.mkdir(parents=True, exist_ok=True)
    files = shell("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).stdout.split("\n")
    for name in filter(None, files):
        to = COPY / name
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.exists() or to.read_bytes() != (ROOT / name).read_bytes():
            shutil.copy(ROOT / name, to)
    r = shell("cmake", "--preset", "release", cwd=COPY)
    return r.returncode == 0 and build()


def build():
    return shell("ninja", "-C", COPY / "build/release", "pcc", "pcc-gen").returncode == 0


def fails(operators):
    """Whether the test of these operators fails."""
    env = os.environ | {"PCC": str(COPY / "build/release/pcc"), "PCC_GEN": str(COPY / "build/release/pcc-gen"),
                        "PCC_SOURCE": str(ROOT), "PCC_OPERATORS": operators}
    return shell(sys.executable, ROOT / "tests/program/test_shard.py", env=env).returncode not in (0, 77)


def main():
    missed = 0
    if not prepare() or fails("Relu"):
        sys.exit("the tree does not build, or fails the test as it is")
    for name, operators, old, new in ERRORS:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        path = next((f for f in (COPY / "passes/shard").glob("*.c") if old in f.read_text()), None)
        if path is None:
            sys.exit(f"{name}: no file has '{old}'")
        text = path.read_text()
        path.write_text(text.replace(old, new))
        said = "does not build" if not build() else "noticed" if fails(operators) else "NOT NOTICED"
        path.write_text(text)
        missed += said != "noticed"
        print(f"{name}: {said}", flush=True)
    return 1 if missed else 0


sys.exit(main())
