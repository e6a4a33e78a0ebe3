# Elements of shape operands: what is followed must be what a runtime computes.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# Max and Min of three operands are not those of the first two.
# CHECK: %max3 = {{.*}} : f32[?,?]
# CHECK: %max2 = {{.*}} : f32[2,3]
# A start before the first element is the first, also backwards.
# CHECK: %back = {{.*}} : f32[1,4]
# Where a Slice backwards to "the last element" ends is not defined.
# CHECK: %far = {{.*}} : f32[?,4]
# fmod takes the sign of the dividend.
# CHECK: %fmod = {{.*}} : f32[?]
# CHECK: %mod = {{.*}} : f32[11]
# Numbers wrap around in narrow types.
# CHECK: %narrow = {{.*}} : f32[?]
# CHECK: %wide = {{.*}} : f32[300]
# Floats are followed while they hold integers; a quotient only if nothing is left over.
# CHECK: %half = {{.*}} : f32[5]
# CHECK: %third = {{.*}} : f32[?]
# CHECK: %clipped = {{.*}} : i64[Min(512, n)]
# CHECK: %large = {{.*}} : f32[?]
# Of all elements of a vector.
# CHECK: %product = {{.*}} : f32[42]
# CHECK: %sum = {{.*}} : f32[12]
# CHECK: %most = {{.*}} : f32[7]
# CHECK: %least = {{.*}} : f32[2]
# Signs of what is not known are followed.
# CHECK: %left = {{.*}} : f32["-n + 512"]
# A scalar's element stays known when it becomes a vector's.
# CHECK: %vector = {{.*}} : f32[3]
pcc 1
ir_version 9
opset ai.onnx 17
graph {
  in %x : f32[5,4]
  in %ids : i64[n]
  in %table : i64[512]
  init %f10 : f32[1] = [10.0]
  init %f2.0 : f32[1] = [2.0]
  init %f3 : f32[1] = [3.0]
  init %f512 : f32[1] = [512.0]
  init %f10m : f32[1] = [10000000.0]
  init %zero : i64[1] = [0]
  init %a : i64[2] = [2, 3]
  init %b : i64[2] = [1, 1]
  init %c : i64[2] = [7, 2]
  init %start : i64[1] = [-100]
  init %end : i64[1] = [-200]
  init %last : i64[1] = [2147483647]
  init %axis : i64[1] = [0]
  init %step : i64[1] = [-1]
  init %minus7 : i64[1] = [-7]
  init %four : i64[1] = [4]
  init %ten : i64[1] = [10]
  init %big : i64[1] = [300]
  %m3 = Max(%a, %b, %c)
  %max3 = ConstantOfShape(%m3)
  %m2 = Max(%a, %b)
  %max2 = ConstantOfShape(%m2)
  %back = Slice(%x, %start, %end, %axis, %step)
  %far = Slice(%x, %start, %last, %axis, %step)
  %f1 = Mod(%minus7, %four) {fmod=1}
  %f2 = Add(%f1, %ten)
  %fmod = ConstantOfShape(%f2)
  %p1 = Mod(%minus7, %four)
  %p2 = Add(%p1, %ten)
  %mod = ConstantOfShape(%p2)
  %n1 = Cast(%big) {to=3}
  %n2 = Cast(%n1) {to=7}
  %narrow = ConstantOfShape(%n2)
  %w1 = Cast(%big) {to=6}
  %wide = ConstantOfShape(%w1)
  %h1 = Div(%f10, %f2.0)
  %h2 = Cast(%h1) {to=7}
  %half = ConstantOfShape(%h2)
  %t1 = Div(%f10, %f3)
  %t2 = Cast(%t1) {to=7}
  %third = ConstantOfShape(%t2)
  %s1 = Shape(%ids)
  %s2 = Cast(%s1) {to=1}
  %s3 = Min(%s2, %f512)
  %s4 = Cast(%s3) {to=7}
  %clipped = Slice(%table, %zero, %s4, %axis)
  %l1 = Mul(%f10m, %f10)
  %l2 = Cast(%l1) {to=7}
  %large = ConstantOfShape(%l2)
  init %three : i64[3] = [3, 2, 7]
  init %minus1 : i64[1] = [-1]
  init %all : i64[1] = [512]
  %o1 = ReduceProd(%three)
  %product = ConstantOfShape(%o1)
  %o2 = ReduceSum(%three)
  %sum = ConstantOfShape(%o2)
  %o3 = ReduceMax(%three)
  %most = ConstantOfShape(%o3)
  %o4 = ReduceMin(%three)
  %least = ConstantOfShape(%o4)
  %g1 = Mul(%s1, %minus1)
  %g2 = Add(%g1, %all)
  %left = ConstantOfShape(%g2)
  init %second : i64[] = [1]
  %u1 = Gather(%a, %second)
  %u2 = Unsqueeze(%u1, %axis)
  %vector = ConstantOfShape(%u2)
  out %back
}
