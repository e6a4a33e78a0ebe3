# A product along no axes is its operand: its first element is 3, no size of the batch.
# RUN: not %pcc %s -p 'split-batch{ways=2}' -q 2>&1 | FileCheck %s
# CHECK: error: split-batch: node 'p' (ReduceProd): it makes of a size of the batch a number that is not in proportion
# RUN: sed 's/{noop_with_empty_axes=1}//' %s > %t.all.pir
# RUN: %pcc %t.all.pir -p 'split-batch{ways=2}' -q --emit ir 2>&1 | FileCheck %s --check-prefix=ALL
# ALL: ReduceProd(%"c@0") : i64[1]
opset ai.onnx 18
graph {
  in %x : f32[batch,3]
  %s = Shape(%x)
  %zero = Constant() {value=tensor i64[1] [0]}
  %one = Constant() {value=tensor i64[1] [1]}
  %minus = Constant() {value=tensor i64[1] [-1]}
  %b = Gather(%s, %zero) {axis=0}
  %w = Gather(%s, %one) {axis=0}
  %c = Concat(%w, %b) {axis=0}
  %p = ReduceProd(%c) {noop_with_empty_axes=1}
  %g = Gather(%p, %zero) {axis=0}
  %t = Concat(%g, %minus) {axis=0}
  %y = Reshape(%x, %t)
  out %y
}
