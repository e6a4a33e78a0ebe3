# Devices make their pieces of a constant that several nodes in a row compute from weights, instead of the whole one, but
# not of one behind more than 16 nodes.
# RUN: %pcc %s -q -d 2xa100 --io=free --link=600GB/s,1us -p 'shard{ways=2}' --emit ir | FileCheck %s
# CHECK-DAG: %near_1 = Transpose({{.*}} : f32[1024,2048]
# CHECK-DAG: %near_2 = Transpose({{.*}} : f32[1024,2048]
# RUN: sed 's/MatMul(.*near)/MatMul(%%x, %%far)/' %s > %t.pir
# RUN: %pcc %t.pir -q -d 2xa100 --io=free --link=600GB/s,1us -p 'shard{ways=2}' --emit ir | FileCheck %s --check-prefix=FAR
# FAR: %far = Transpose({{.*}} : f32[1024,4096]
# If rows cannot be cut, devices slice the whole constant, and the product is still cut.
# RUN: sed 's/%%x : f32.4096/%%x : f32[n/' %t.pir > %t.rows.pir
# RUN: %pcc %t.rows.pir -q --dim n=4096 -d 2xa100 --io=free --link=600GB/s,1us -p 'shard{ways=2}' --emit ir | FileCheck %s --check-prefix=ROWS
# ROWS-DAG: Slice(%far
# ROWS-DAG: MatMul({{.*}} : f32[n,2048]
opset ai.onnx 17
graph {
  in %x : f32[4096,1024]
  init %one : f32[1] = [1.0]
  init %sizes : i64[2] = [4096,1024]
  %w = Expand(%one, %sizes)
  %d = Mul(%w, %one)
  %near = Transpose(%d) {perm=[1, 0]}
  %e0 = Expand(%one, %sizes)
  %e1 = Mul(%e0, %one)
  %e2 = Mul(%e1, %one)
  %e3 = Mul(%e2, %one)
  %e4 = Mul(%e3, %one)
  %e5 = Mul(%e4, %one)
  %e6 = Mul(%e5, %one)
  %e7 = Mul(%e6, %one)
  %e8 = Mul(%e7, %one)
  %e9 = Mul(%e8, %one)
  %e10 = Mul(%e9, %one)
  %e11 = Mul(%e10, %one)
  %e12 = Mul(%e11, %one)
  %e13 = Mul(%e12, %one)
  %e14 = Mul(%e13, %one)
  %e15 = Mul(%e14, %one)
  %e16 = Mul(%e15, %one)
  %far = Transpose(%e16) {perm=[1, 0]}
  %y = MatMul(%x, %near)
  %z = Relu(%y)
  out %z
}
