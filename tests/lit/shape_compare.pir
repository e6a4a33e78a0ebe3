# Comparisons of elements: two that nobody knows are not equal for that; equal names are equal; sizes are not negative.
# The type of quantized products is that of the result's zero point.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %m1 = {{.*}} : u8[2,4]
# CHECK: %m2 = {{.*}} : i8[2,4]
# CHECK: %m3 = {{.*}} : i32[2,4]
# CHECK: %e4 = {{.*}} : f32[?]
# CHECK: %f4 = {{.*}} : f32[2]
# CHECK: %g4 = {{.*}} : f32[?]
# CHECK: %h4 = {{.*}} : f32[2]
# CHECK: %k4 = {{.*}} : f32[1]
opset ai.onnx 17
graph {
  in %a : u8[2,3]
  in %b : u8[3,4]
  init %sa : f32[] = [0.5]
  init %za : u8[] = [1]
  init %zi : i8[] = [1]
  in %p : i64[1]
  in %q : i64[1]
  in %x : f32[n,m]
  init %one : i64[1] = [1]
  init %minus : i64[1] = [-1]
  %m1 = QLinearMatMul(%a, %sa, %za, %b, %sa, %za, %sa, %za)
  %m2 = QLinearMatMul(%a, %sa, %za, %b, %sa, %za, %sa, %zi)
  %m3 = MatMulInteger(%a, %b)
  %e1 = Equal(%p, %q)
  %e2 = Cast(%e1) {to=7}
  %e3 = Add(%e2, %one)
  %e4 = ConstantOfShape(%e3)
  %s = Shape(%x) {start=0, end=1}
  %t = Shape(%x) {start=0, end=1}
  %u = Shape(%x) {start=1, end=2}
  %f1 = Equal(%s, %t)
  %f2 = Cast(%f1) {to=7}
  %f3 = Add(%f2, %one)
  %f4 = ConstantOfShape(%f3)
  %g1 = Equal(%s, %u)
  %g2 = Cast(%g1) {to=7}
  %g3 = Add(%g2, %one)
  %g4 = ConstantOfShape(%g3)
  %h1 = Greater(%s, %minus)
  %h2 = Cast(%h1) {to=7}
  %h3 = Add(%h2, %one)
  %h4 = ConstantOfShape(%h3)
  %k1 = Less(%s, %t)
  %k2 = Cast(%k1) {to=7}
  %k3 = Add(%k2, %one)
  %k4 = ConstantOfShape(%k3)
  out %m1
}
