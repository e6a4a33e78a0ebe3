# The axis of a DFT may be any but the last: where it is not known, none of their sizes is.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %onesided = DFT({{.*}} : f32[?,?,2]
# CHECK: %padded = DFT({{.*}} : f32[?,?,2]
# CHECK: %same = DFT({{.*}} : f32[3,8,2]
pcc 1
opset ai.onnx 20
graph {
  in %x : f32[3,8,1]
  in %axis : i64[]
  in %n : i64[]
  %onesided = DFT(%x, _, %axis) {onesided=1}
  %padded = DFT(%x, %n, %axis)
  %same = DFT(%x, _, %axis)
  out %onesided
  out %padded
  out %same
}
