#!/usr/bin/env python3
"""Do tests notice errors in sharding?

    shard_errors.py [NAME...]

Plants errors in the rules of sharding and in the rewriting, one at a time, in a copy of the tree (build/errors), and
runs tests/program/test_shard.py with the pcc that comes out: first the sample, then, where that passes, all of it
(PCC_ALL=1). Prints by which each error is noticed; exits with 1 when one is not."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "build/errors"
# name, file of passes/shard, what stands there, what is planted in its place
ERRORS = [
    ("fused weights are cut in one block", "write.c", "step = st.run * x->ways;",
     "step = size; st.run = size / x->ways;"),
    ("pieces are joined in another order", "write.c", "in[k] = !blocks ? x->pool[from + k]",
     "in[k] = !blocks ? x->pool[from + x->ways - 1 - k]"),
    ("attributes are not divided", "write.c", "node_attr_int(x->m, n, c->attr, 0) / x->ways);",
     "node_attr_int(x->m, n, c->attr, 0));"),
    ("lists of attributes are not divided", "write.c", "list[j] /= (c->divide >> j & 1) != 0 ? x->ways : 1;",
     "list[j] /= 1;"),
    ("lists in operands are not divided", "write.c", "divide ? c->value[j] / x->ways : c->value[j]",
     "divide ? c->value[j] : c->value[j]"),
    ("Softmax along the cut axis", "rules_compute.c", "(flat ? cut >= axis : cut == axis)", "(flat && cut >= axis)"),
    ("Softmax before opset 13 along one axis", "rules_compute.c", "(flat ? cut >= axis : cut == axis)",
     "cut == axis"),
    ("LayerNormalization over the cut axis", "rules_compute.c", "if (axis < 0 || cut >= axis)", "if (axis < 0)"),
    ("a reduction of the cut axis", "rules_compute.c", "bool gone = (axes >> from & 1) != 0;",
     "bool gone = (axes >> from & 1) != 0 && keeps;"),
    ("the bias of a Gemm is cut by rows", "rules_compute.c", "!cut_stack(q, 2, &c, 1 - axis, y.d[axis])",
     "!cut_stack(q, 2, &c, axis, y.d[axis])"),
    ("broadcast axes are counted from the front", "rules_compute.c", "int here = axis - (out.rank - k.rank);",
     "int here = axis < k.rank ? axis : -1;"),
    ("MatMul sums over the cut axis", "rules_compute.c",
     "return false; /* it is summed over */\n    else if (!cut_stack", "return true;\n    else if (!cut_stack"),
    ("Transpose the other way round", "rules_move.c", "if ((q->result ? to : from) != q->given.axis)",
     "if ((q->result ? from : to) != q->given.axis)"),
    ("Split with sizes of the whole", "rules_move.c", ".kind = SHARD_SIZES, .operand = 1, .divide = all}",
     ".kind = SHARD_SIZES, .operand = 1, .divide = 0}"),
    ("Slice at any border", "rules_move.c", "return v % step == 0;", "return true;"),
    ("Slice with other steps", "rules_move.c", "|| by[at] != 1))", "|| by[at] == 0))"),
    ("Expand to the size of the whole", "rules_move.c",
     "c.divide = UINT64_C(1) << entry;\n    if (!shard_same_size", "c.divide = 0;\n    if (!shard_same_size"),
    ("Gather from pieces of what it picks from", "rules_move.c", "at > axis ? at + index.rank - 1 : -1;",
     "at > axis ? at + index.rank - 1 : at;"),
    ("CumSum along the cut axis", "rules_axes.c",
     "n = ints_of(q->s->f, node_in(q->s->m, q->n, 1), list, SHAPE_RANK);", "*list = 0;"),
    ("TopK, ArgMax: the wrong axis unless given", "rules_axes.c", "how == SHARD_APART_FIRST ? 0 : -1",
     "how == SHARD_APART_FIRST ? -1 : 0"),
    ("ArgMax without keepdims", "rules_axes.c", "cut - (cut > gone)", "cut"),
    ("lengths stay whole", "rules_axes.c", "shard_set_in(q, 1, 0);\n    shard_set_out(q, 0, cut);",
     "shard_set_out(q, 0, cut);"),
    ("the batch of LSTM's results", "rules_axes.c", '"1---011-:211"', '"1---011-:111"'),
    ("Einsum sums over the cut letter", "rules_axes.c", "return false; /* it is summed over */\n    int axis",
     "return true;\n    int axis"),
    ("scales stay whole", "rules_quant.c", "if (cut == axis)\n            shard_set_in(q, i, 0);", ""),
    ("runs of blocks", "rules_quant.c", "q->given.run / (cut == axis ? block : 1)", "q->given.run"),
    ("zero points of columns stay whole", "rules_quant.c", "if (behind == (letter == 'r' ? 1 : 0))",
     "if (behind == 1)"),
    ("packed columns", "rules_quant.c", ".kind = SHARD_ATTR, .attr = \"N\"", ".kind = SHARD_NOTHING, .attr = \"N\""),
    ("a quantised product with transposed matrices", "rules_quant.c", "behind = 1 - behind;", "behind = behind + 0;"),
    ("groups of a convolution in runs of the result", "rules_vision.c", "q->in[0] = (struct shard_state){1, in};",
     "q->in[0] = (struct shard_state){1, out};"),
    ("kernels of ConvTranspose", "rules_vision.c", "r->arg == SHARD_CONV_TURNED ? 1 : 0", "0"),
    ("GroupNormalization with groups in two pieces", "rules_vision.c", "if (groups % ways != 0 || ", "if ("),
    ("Pad of the cut axis", "rules_vision.c", "(!entry_is(k, j, 0) || ", "(!entry_is(k, j, 1) && "),
    ("Resize of the cut axis", "rules_vision.c", "return j >= 0 && scale_is_one(q, scales, j);", "return j >= 0;"),
    ("DepthToSpace: the other mode", "rules_vision.c", '"DCR"), "CRD") == 0', '"DCR"), "CRD") != 0'),
    ("heads of keys as of queries", "rules_attention.c", "code == 'k' ? run * each : run;", "run;"),
    ("masks for all heads", "rules_attention.c", "bool one = code == 'm' && (", "bool one = code == 'm' && (true || "),
    ("one bias for queries, keys and values", "rules_attention.c", "code == 's' ? 3 * h->q : h->q",
     "code == 's' ? h->q : h->q"),
    ("the batch of past keys", "rules_attention.c", "code == 'p' ? 1 :", "code == 'p' ? 2 :"),
    ("GatherElements from the whole", "rules_pick.c", "if (cut != axis)\n        shard_set_in(q, 0, cut);", ""),
    ("Tile as often as for the whole", "rules_pick.c", ".divide = UINT64_C(1) << (q->given.axis % SHAPE_RANK)}",
     ".divide = 0}"),
    ("OneHot before the cut axis", "rules_pick.c", "cut + (cut >= axis)", "cut + (cut > axis)"),
    ("ScatterND: updates at the data's axis", "rules_pick.c", "shard_set_in(q, 2, at + more);",
     "shard_set_in(q, 2, at);"),
    ("GatherND: axes in common stay whole", "rules_pick.c", "if (at < common)\n        shard_set_in(q, 0, at);", ""),
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


def fails(all_):
    """Whether the test fails; all_: all of it."""
    env = os.environ | {"PCC": str(COPY / "build/release/pcc"), "PCC_GEN": str(COPY / "build/release/pcc-gen"),
                        "PCC_SOURCE": str(ROOT), "PCC_ALL": "1" if all_ else "0"}
    return shell(sys.executable, ROOT / "tests/program/test_shard.py", env=env).returncode not in (0, 77)


def main():
    missed = 0
    if not prepare() or fails(False):
        sys.exit("the tree does not build, or fails the test as it is")
    for name, file, old, new in ERRORS:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        path = COPY / "passes/shard" / file
        text = path.read_text()
        if text.count(old) < 1:
            sys.exit(f"{name}: {file} has no '{old}'")
        path.write_text(text.replace(old, new))
        by = ("the compiler" if not build() else "the sample" if fails(False) else "the whole test" if fails(True)
              else "NONE")
        path.write_text(text)
        missed += by in ("NONE", "the compiler")
        print(f"{name}: {by}", flush=True)
    build()
    return 1 if missed else 0


sys.exit(main())
