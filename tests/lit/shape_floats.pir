# Floats are followed as sizes while they are integers that f32 holds exactly, up to 2^24, either sign, also
# in sums and products along an axis.
# Those of sparse tensors are not looked at; those of a slice of a file that is not there are not known.
# RUN: %pcc %s -q -p infer-shapes --emit ir 2>&1 | FileCheck %s
# CHECK: tensor 'g' is wanted for shapes, but its file '{{.*}}gone.bin' is not there
# CHECK: %a2 = {{.*}} : f32[16777216]
# CHECK: %c2 = {{.*}} : f32[?]
# CHECK: %d4 = {{.*}} : f32[?]
# CHECK: %e3 = {{.*}} : f32[95]
# CHECK: %p3 = {{.*}} : f32[?]
# CHECK: %h2 = {{.*}} : f32[?]
# CHECK: %s2 = {{.*}} : f32[?]
# CHECK: %g2 = {{.*}} : f32[?]
opset ai.onnx 17
file 1 "gone.bin" location="gone.bin"
graph {
  init %a : f32[1] = [16777216]
  init %c : f32[1] = [33554432]
  init %d : f32[1] = [-33554432]
  init %e : f32[1] = [-5]
  init %h : f32[1] = [2.5]
  init %k : i64[1] = [100]
  %a1 = Cast(%a) {to=7}
  %a2 = ConstantOfShape(%a1)
  %c1 = Cast(%c) {to=7}
  %c2 = ConstantOfShape(%c1)
  %d1 = Cast(%d) {to=7}
  %d2 = Add(%d1, %k)
  %d3 = Neg(%d2)
  %d4 = ConstantOfShape(%d3)
  %e1 = Cast(%e) {to=7}
  %e2 = Add(%e1, %k)
  %e3 = ConstantOfShape(%e2)
  init %p : f32[2] = [4097, 4097]
  %p1 = ReduceProd(%p) {keepdims=1}
  %p2 = Cast(%p1) {to=7}
  %p3 = ConstantOfShape(%p2)
  init %s : f32[1] = {f32[1] [3.0], i64[1] [0]}
  init %g : f32[1] = slice 0 [1:2] of (f32[2] file 1 at 0 len 8)
  %h1 = Cast(%h) {to=7}
  %h2 = ConstantOfShape(%h1)
  %s1 = Cast(%s) {to=7}
  %s2 = ConstantOfShape(%s1)
  %g1 = Cast(%g) {to=7}
  %g2 = ConstantOfShape(%g1)
  out %a2, %c2, %d4, %e3, %h2, %p3, %s2, %g2
}
