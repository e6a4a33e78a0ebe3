# Guessed sizes are such that the nodes run: each name stands in one demand.
# RUN: %pcc %s -q -Wno-guessed-dim --emit sizes | FileCheck %s
# What is given stays, and the others follow.
# RUN: %pcc %s -q -Wno-guessed-dim --dim past=0 --dim inner=6 --emit sizes | FileCheck %s --check-prefix=GIVEN
# What is given and does not fit stays, too: with -v the node is named.
# RUN: %pcc %s -v -Wno-guessed-dim --dim rows=100 --emit sizes 2>&1 | FileCheck %s --check-prefix=BAD
# Dimensions without a name have the size that --dim gives for '?', others follow, and they are no guesses.
# RUN: printf 'graph {\n in %%%%x : f32[?,?]\n in %%%%y : f32[rows,2]\n %%%%z = MatMul(%%%%x, %%%%y)\n out %%%%z\n}\n' > %t.pir
# RUN: %pcc %t.pir --dim '?=6' --emit sizes 2>&1 | FileCheck %s --check-prefix=SIX
# SIX: pcc: warning: assuming rows=6; set with --dim
# SIX: "sizes": [6, 6]
# SIX: "sizes": [6, 2]
# RUN: %pcc %t.pir --dim '?=0' --emit sizes 2>&1 | FileCheck %s --check-prefix=EMPTY
# EMPTY: "sizes": [0, 0]
graph {
  in %ids : i64[batch,rows]
  # positions 0 .. rows - 1 in a table of 77
  init %zero : i64[] = [0]
  init %one : i64[] = [1]
  init %0 : i64[1] = [0]
  in %positions : f32[77,8]
  %shape = Shape(%ids)
  %count = Gather(%shape, %one)
  %range = Range(%zero, %count, %one)
  %picked = Gather(%positions, %range)
  # CHECK: "rows": 77
  # BAD: note: infer-shapes: no sizes were found with which node 'picked' (Gather) runs, which needs rows <= 77: set them with --dim
  # BAD: "rows": 100
  # inner dimensions of a product, and what is broadcast
  in %a : f32[m,inner]
  in %b : f32[other,columns]
  in %c : f32[same,40]
  %ab = MatMul(%a, %b)
  %abc = Add(%ab, %c)
  # CHECK-SAME: "m": 1, "inner": 128, "other": 128, "columns": 40, "same": 1
  # GIVEN: "inner": 6, {{.*}}"other": 6,
  # a cache: its length and what is new make the total that a mask is about
  in %cache : f32[batch,past,8]
  in %fresh : f32[batch,sequence,8]
  in %mask : f32[batch,total]
  %keys = Concat(%cache, %fresh) {axis=1}
  init %two : i64[1] = [2]
  %score = ReduceSum(%keys, %two) {keepdims=0}
  %masked = Add(%score, %mask)
  # CHECK-SAME: "past": 128, "sequence": 128, "total": 256
  # GIVEN-SAME: "sequence": 128, "total": 128
  # a window that is larger than the usual size
  in %signal : f32[batch,1,samples]
  in %window : f32[4,1,400]
  %wave = Conv(%signal, %window)
  # CHECK-SAME: "samples": 512
  # blocks of 3
  in %image : f32[batch,1,height,width]
  %deep = SpaceToDepth(%image) {blocksize=3}
  # CHECK-SAME: "height": 126, "width": 126
  # the largest 300 of an axis
  in %scores : f32[batch,choices]
  init %300 : i64[1] = [300]
  %best, %which = TopK(%scores, %300)
  # CHECK-SAME: "choices": 512
  # positions less 0 or 5 in a table of 40: the largest are those less 0
  in %more : i64[batch,tokens]
  init %less : i64[2] = [5, 0]
  init %axis : i64[1] = [1]
  in %table : f32[40,8]
  %size = Shape(%more)
  %tokens = Gather(%size, %one)
  %place = Range(%zero, %tokens, %one)
  %column = Unsqueeze(%place, %axis)
  %shifted = Sub(%column, %less)
  %found = Gather(%table, %shifted)
  # CHECK-SAME: "tokens": 40
  # CHECK: {"name": "b", "type": "f32", "shape": ["other", "columns"], "sizes": [128, 40]}
  out %picked, %abc, %masked, %wave, %deep, %best, %found
}
