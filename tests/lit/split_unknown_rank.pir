# Sizes in a tensor of unknown rank: with axes = [1] the matrix 'c' has b, b, 3, 3, not b, 3, b, 3, so 'g' is no size of
# the batch.
# RUN: not %pcc %s -p 'split-batch{ways=2}' -q 2>&1 | FileCheck %s
# CHECK: error: split-batch: node 'c' (Concat): it makes of a size of the batch a number that is not in proportion
opset ai.onnx 17
graph {
  in %x : f32[batch,3]
  in %axes : i64[1]
  %s = Shape(%x)
  %u = Unsqueeze(%s, %axes)
  %c = Concat(%u, %u) {axis=1}
  %four = Constant() {value=tensor i64[1] [4]}
  %r = Reshape(%c, %four)
  %two = Constant() {value=tensor i64[1] [2]}
  %minus = Constant() {value=tensor i64[1] [-1]}
  %g = Gather(%r, %two) {axis=0}
  %t = Concat(%g, %minus) {axis=0}
  %y = Reshape(%x, %t)
  out %y
}
