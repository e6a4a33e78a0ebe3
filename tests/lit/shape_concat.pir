# Concat of operands of which some are not known: what the others say of the axes besides counts.  Before opset 4 the
# axis that is not given is 1.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# RUN: sed 's/ai.onnx 20/ai.onnx 3/' %s > %t.pir
# RUN: %pcc %t.pir -q -p infer-shapes --emit ir | FileCheck %s --check-prefix=OLD
# CHECK: %a = Concat(%x, %y) {axis=1} : f32[2,7]
# CHECK: %b = Concat(%u, %y) {axis=-1} : f32[2,?]
# CHECK: %c = Concat(%u, %x, %y) {axis=1} : f32[2,?]
# CHECK: %d = Concat(%x, %u) {axis=0} : f32[?,3]
# CHECK: %e = Concat(%x, %x, %x) {axis=0} : f32[6,3]
# OLD: %f = Concat(%u, %x) : f32[2,?]
# OLD: %g = Concat(%x, %y) : f32[2,7]
opset ai.onnx 20
graph {
  in %x : f32[2,3]
  in %y : f32[2,4]
  %u = my:Thing(%x)
  %a = Concat(%x, %y) {axis=1}
  %b = Concat(%u, %y) {axis=-1}
  %c = Concat(%u, %x, %y) {axis=1}
  %d = Concat(%x, %u) {axis=0}
  %e = Concat(%x, %x, %x) {axis=0}
  %f = Concat(%u, %x)
  %g = Concat(%x, %y)
  out %c
}
