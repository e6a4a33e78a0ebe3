# Lists of tensors among the attributes of a function's nodes come along when its calls are opened, each its own.
# RUN: %pcc %s -q -p inline-functions --emit ir | FileCheck %s
# CHECK: %k = my:Op(%x) {tables=[tensor f32[1] [5.0]]}
# CHECK: %y/c = Constant() {value=tensor f32[1] [7.0]}
# CHECK: %y = my:Op(%k, %y/c) {tables=[tensor f32[2] [1.0, 2.0], tensor i64[1] [3]]}
# CHECK: %z/c = Constant() {value=tensor f32[1] [7.0]}
# CHECK: %z = my:Op(%y, %z/c) {tables=[tensor f32[2] [1.0, 2.0], tensor i64[1] [3]]}
opset ai.onnx 17
opset my 1
function my:f {
  opset ai.onnx 17
  opset my 1
  graph {
    in %x
    %c = Constant() {value=tensor f32[1] [7.0]}
    %r = my:Op(%x, %c) {tables=[tensor f32[2] [1.0, 2.0], tensor i64[1] [3]]}
    out %r
  }
}
graph {
  in %x : f32[4]
  init %w : f32[4] = [9.0, 8.0, 7.0, 6.0]
  %k = my:Op(%x) {tables=[tensor f32[1] [5.0]]}
  %y = my:f(%k)
  %z = my:f(%y)
  %q = Add(%z, %w)
  out %q
}
