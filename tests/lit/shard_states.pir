# Devices keep pieces of a state; nothing is said of nodes that must stay together, since all have their devices.
# RUN: %pcc %s --io=free --part-cost=0 -p 'shard{ways=2}' 2>&1 | FileCheck %s
# RUN: %pcc %s --io=free --part-cost=0 -q -p 'shard{ways=2}' --emit ir | FileCheck %s --check-prefix=IR
# RUN: not %pcc %s --io=free --part-cost=0 -p dp-place -Werror=large-class -o %t.json 2>&1 | FileCheck %s --check-prefix=PLAIN
# CHECK-NOT: large-class
# CHECK: sharded over 2 devices: 3 nodes in pieces, 0 whole on each, 0 on one; 1
# IR: in %"past_key_values.0.key@0" : f32[batch,2,past,1024]
# IR: out %"present.0.key@1"
# PLAIN: warning: contract: 3 nodes from 'r' to 'present.0.key' must stay together (state pairs)
cluster network=direct
class acc x2 link=300GB/s,1us peak=[f32:1T] bandwidth=200GB/s
opset ai.onnx 17
graph {
  in %past_key_values.0.key : f32[batch,4,past,1024]
  in %n : f32[batch,4,new,1024]
  %r = Relu(%past_key_values.0.key)
  %k = Exp(%past_key_values.0.key)
  %present.0.key = Concat(%k, %n) {axis=2} : f32[batch,4,"past + new",1024]
  out %present.0.key
  out %r
}
