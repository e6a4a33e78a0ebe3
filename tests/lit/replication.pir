# What is placed: the two MatMuls and the Shape (with the producer of %h); the constant, and the shape
# arithmetic on the result of Shape, are copies.  The Shape's small result crosses for its bytes only.
# RUN: %pcc %s -p contract --print-ir-after=contract -q 2>&1 | FileCheck %s
# RUN: %pcc %s -p dp-place --emit json -q | FileCheck %s --check-prefix=PLAN
# CHECK: level contract: 3 vertices, 4 nets
# CHECK-NEXT: {first, measure}
# CHECK-NEXT: {back}
# CHECK-NEXT: {second}
# PLAN: "pcc_plan": 1
file 1 "weights" size=256
class acc x2 memory=1MiB link=1GB/s,1us bandwidth=100GB/s peak=[f32:1T]
graph {
  in %x : f32[4,8]
  init %w : f32[8,8] = file 1 at 0 len 256
  init %one : i64[1] = [1]
  %h = MatMul(%x, %w) : f32[4,8] name="first"
  %s = Shape(%h) : i64[2] name="measure"
  %t = Mul(%s, %one) : i64[2] name="copied"
  %r = Reshape(%h, %t) : f32[4,8] name="back"
  %y = MatMul(%r, %w) : f32[4,8] name="second"
  out %y
}
