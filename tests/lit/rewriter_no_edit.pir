# A planner before and after a pass that rewrites, but finds nothing to do here: the second planner has its own levels.
# RUN: %pcc %s -d 2xa100 -p dp-place,drop-identity,dp-place | FileCheck %s
# RUN: %pcc %s -d 2xa100 -p contract,fuse,fold-constants,dp-place | FileCheck %s
# CHECK: optimal
opset ai.onnx 13
graph {
  in %x : f32[64,8192]
  %a = Softmax(%x) name="a"
  %b = Exp(%a) name="b"
  out %b
}
