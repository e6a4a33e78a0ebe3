# What the first device alone can compute from what it alone has: a drawn matrix. A Shape is where its operand was made, so that
# Transpose is on all devices, which all need the sizes, and not on the first one alone, which would send the matrix before.
# RUN: %pcc %s --part-cost=0 -p 'shard{ways=2}' 2>&1 | FileCheck %s
# CHECK-NOT: error
# CHECK: sharded over 2 devices: 2 nodes in pieces, 5 whole on each, 2 on one
# A value of unknown type cannot be sent, so all devices make it, though its two readers would take it for less.
# RUN: sed '/Shape/d; /Reshape/d; /once/d; s/= Transpose(.*/= Unknown(%%x)/; s/= Exp(.*/= Other(%%t) : f32[2048,2048]/; s/= Softmax(.*/= Third(%%t) : f32[2048,2048]/' %s > %t.pir
# RUN: %pcc %t.pir --part-cost=0 -p 'shard{ways=2}' 2>&1 | FileCheck %s --check-prefix=TYPE
# TYPE-NOT: error
# TYPE: sharded over 2 devices: 2 nodes in pieces, 3 whole on each, 1 on one
cluster network=direct contention=port
class acc x2 link=300GB/s,10us peak=[f32:1T] bandwidth=10TB/s overhead=10us
file 1 "model.onnx" size=33554432
opset ai.onnx 17
graph {
  in %a : f32[2048,2048]
  init %w : f32[2048,2048] = file 1 at 0 len 16777216
  init %v : f32[2048,2048] = file 1 at 16777216 len 16777216
  %x = Bernoulli(%a) : f32[2048,2048]
  %t = Transpose(%x) {perm=[1, 0]}
  %e = Exp(%t)
  %y = MatMul(%e, %v)
  %s = Shape(%t)
  %r = Reshape(%t, %s)
  %p = Softmax(%r) {axis=0}
  %z = MatMul(%p, %w)
  %once = Bernoulli(%t) : f32[2048,2048]
  out %y
  out %z
  out %once
}
