# What the value of a choice counts, on a chain of nodes whose value is the makespan: not what stays on the devices (a
# state), not the arithmetic of sizes, of which each part has its own copy, and, of a state that cannot be cut, not that what
# one device alone makes and reads is sent to others.
# RUN: %pcc %s --part-cost=0 -p 'shard{ways=2}' 2>/dev/null | FileCheck %s
# RUN: sed 's/,4,/,3,/g; s/1024/1023/g' %s > %t.odd.pir
# RUN: %pcc %t.odd.pir --part-cost=0 -p 'shard{ways=2}' 2>/dev/null | FileCheck %s --check-prefix=ODD
# CHECK: makespan [[SPAN:.* us]]
# CHECK: sharded over 2 devices: 3 nodes in pieces, 6 whole on each, 0 on one; 1 tensor
# CHECK: in lock step [[SPAN]], feasible
# ODD: makespan [[SPAN:.* us]]
# ODD: sharded over 2 devices: 0 nodes in pieces, 1 whole on each, 8 on one; 0 tensors
# ODD: in lock step [[SPAN]], feasible
# CHECK-NOT: is whole, in
cluster network=direct
class acc x2 link=300GB/s,1us peak=[f32:1T] bandwidth=1TB/s overhead=10us
opset ai.onnx 17
graph {
  in %past_key_values.0.key : f32[batch,4,past,1024]
  in %n : f32[batch,4,new,1024]
  %k = Exp(%n)
  %present.0.key = Concat(%past_key_values.0.key, %k) {axis=2} : f32[batch,4,"past + new",1024]
  %r = Relu(%present.0.key)
  %s = Shape(%r)
  %i = Constant() {value=tensor i64[3] [0, 1, 2]}
  %last = Constant() {value=tensor i64[1] [-1]}
  %g = Gather(%s, %i) {axis=0}
  %o = Mul(%g, %g)
  %p = Div(%o, %g)
  %q = Concat(%p, %last) {axis=0}
  %y = Reshape(%r, %q)
  out %present.0.key
  out %y
}
